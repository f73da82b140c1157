//! `fleet cap`: sets the cap, which answers the question when it is reached.
//!
//! What may go here: which of the two it is, what is refused before anybody is asked, the words of the answer. What may
//! not: deciding about money, which the core does.

use super::act::{Failure, fleet_to, never_inside_of_agents, state_dir};
use super::arguments::{CapArguments, GlobalArguments};
use super::exit_code::DONE;
use super::hosts::{Decided, Reach, decided, standing, what_waits};
use super::look::print;
use crate::core::{Answer, Command, NanoUsd, Reply, Snapshot};
use crate::journal::{Purpose, to_type};
use crate::runtime::depth;
use crate::runtime::roster::number;
use crate::words::plain_text::one_line;
use crate::words::report_line::exact;

/// Sets the cap of a fleet, whether it has a host or not.
pub(super) fn cap(
    arguments: &CapArguments,
    global: &GlobalArguments,
    reach: Reach,
) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "cap")?;
    let state = state_dir(global)?;
    let dir = fleet_to(&state, global.fleet.as_deref(), Purpose::Act)?.dir;
    let cap = arguments.cap.0;
    let mut was = None;
    let decided = decided(&state, &dir, reach, &mut |before| {
        was = before.header.cap;
        command(cap, before).map(Some).map_err(Failure::input)
    })?;
    let said = said(cap, was, &decided).map_err(Failure::input)?;
    if global.json {
        print(&json(cap, was, &decided).to_string(), true)?;
    } else {
        print(&said, false)?;
    }
    Ok(DONE)
}

/// Returns what is asked: an answer while the question is open, so that the first of two answers wins. An error says why
/// the cap would let nothing start.
fn command(cap: Option<NanoUsd>, before: &Snapshot) -> Result<Command, String> {
    let Some(cap) = cap else { return Ok(Command::SetCap(None)) };
    let committed = committed(before);
    if cap <= committed {
        return Err(format!(
            "{} would let nothing start: {} is spent or set aside for what has ended; give more than that (`{}` lets \
             nothing start)",
            exact(cap),
            exact(committed),
            to_type(format_args!("hold {}", before.header.fleet))
        ));
    }
    Ok(match &before.question {
        Some(question) => Command::Answer(question.id, Answer::Raise(cap)),
        None => Command::SetCap(Some(cap)),
    })
}

/// Returns what counts against the cap whatever happens next, as far as that is known: the core has the last word.
pub(super) fn committed(snapshot: &Snapshot) -> NanoUsd {
    let header = &snapshot.header;
    match &snapshot.question {
        Some(question) => question.committed,
        // What is reserved then is for ended agents of unknown cost.
        None if header.kpis.running == 0 => header.spent + header.reserved,
        None => header.spent,
    }
}

/// Returns what came of it, for people; an error is the refusal.
fn said(cap: Option<NanoUsd>, was: Option<NanoUsd>, decided: &Decided) -> Result<String, String> {
    let after = &decided.after;
    let id = &after.header.fleet;
    match &decided.reply {
        Some(Reply::Refused(refusal)) => return Err(one_line(&refusal.0)),
        Some(Reply::AlreadyAnswered(how)) => {
            return Err(format!(
                "somebody was faster with the cap question of fleet {id}: {} (say it again to change that)",
                one_line(how)
            ));
        }
        Some(
            Reply::Done(_)
            | Reply::Queued(..)
            | Reply::Told(_)
            | Reply::TurnInterrupted(_)
            | Reply::AlreadyEnded(_),
        )
        | None => {}
    }
    let before = match was {
        Some(was) if Some(was) != cap => format!(", after {}", exact(was)),
        _ => String::new(),
    };
    let now = match cap {
        Some(cap) => format!("the cap of fleet {id} is {} now{before}", exact(cap)),
        None => format!("fleet {id} has no cap now{before}"),
    };
    let waits = what_waits(after, decided.is_hosted).map(|waits| format!("; {waits}"));
    Ok(now + &waits.unwrap_or_default())
}

/// Returns the same for machines.
fn json(cap: Option<NanoUsd>, was: Option<NanoUsd>, decided: &Decided) -> serde_json::Value {
    let header = &decided.after.header;
    serde_json::json!({
        "fleet": header.fleet, "state": standing(decided), "cap_usd": cap.map(number),
        "cap_usd_before": was.map(number), "spent_usd": number(header.spent),
        "queued": header.kpis.queued, "running": header.kpis.running,
        "waits": what_waits(&decided.after, decided.is_hosted),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::core::testing::{row, snapshot};
    use crate::core::{Hold, Moment, Question, QuestionId, Refusal};

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    fn spent(text: &str) -> Snapshot {
        let mut snapshot = snapshot(1, vec![row(1)]);
        snapshot.header.spent = usd(text);
        snapshot.header.kpis.running = 1;
        snapshot
    }

    fn asked(text: &str) -> Snapshot {
        let question = Question {
            id: QuestionId(3),
            asked: Moment(1),
            cap: usd("1"),
            committed: usd(text),
            default: usd("2"),
            queued: 1,
            queue_estimate: None,
        };
        Snapshot { question: Some(question), ..spent("0.10") }
    }

    #[test]
    fn an_open_question_is_answered_and_what_lets_nothing_start_is_refused() {
        assert_eq!(command(None, &spent("4")), Ok(Command::SetCap(None)));
        assert_eq!(command(Some(usd("5")), &spent("4")), Ok(Command::SetCap(Some(usd("5")))));
        let raise = Answer::Raise(usd("5"));
        assert_eq!(command(Some(usd("5")), &asked("4")), Ok(Command::Answer(QuestionId(3), raise)));
        let why = command(Some(usd("4")), &spent("4")).unwrap_err();
        assert!(why.contains("$4.00") && why.contains("fleet hold"), "{why}");
        assert!(command(Some(usd("4")), &asked("4.5")).unwrap_err().contains("$4.50"));
        assert!(command(Some(NanoUsd::ZERO), &spent("0")).is_err());
        let mut unknown = spent("1");
        unknown.header.kpis.running = 0;
        unknown.header.reserved = usd("0.5");
        assert!(command(Some(usd("1.5")), &unknown).is_err());
        assert!(command(Some(usd("1.51")), &unknown).is_ok());
    }

    #[test]
    fn what_came_of_it_is_said_with_what_still_holds_the_queue() {
        let of = |reply: Reply, change: fn(&mut Snapshot)| {
            let mut after = spent("0.10");
            after.header.kpis.queued = 2;
            change(&mut after);
            let after = Arc::new(after);
            let decided = Decided { reply: Some(reply), after, host: None, is_hosted: true };
            said(Some(usd("5")), Some(usd("1")), &decided)
        };
        let plain = of(Reply::Done(0), |_| ()).unwrap();
        assert!(plain.ends_with("is $5.00 now, after $1.00"), "{plain}");
        let held = of(Reply::Done(0), |after| after.header.hold = Some(Hold::Owner)).unwrap();
        assert!(held.contains("2 tasks waiting") && held.contains("fleet release"), "{held}");
        let late = of(Reply::AlreadyAnswered("raised to $2.00".into()), |_| ()).unwrap_err();
        assert!(late.contains("raised to $2.00"), "{late}");
        let refused = of(Reply::Refused(Refusal("no\u{1b}[2J".into())), |_| ()).unwrap_err();
        assert!(!refused.contains('\u{1b}'));
    }
}
