//! `fleet retry`: gives the tasks of ended agents to new ones.
//!
//! What may go here: which agents are meant, and the words of the answer. What may not: what can be tried again, which
//! the core says.

use super::act::{Failure, fleet_to, never_inside_of_agents, state_dir};
use super::arguments::{GlobalArguments, LimitArguments, RetryArguments};
use super::exit_code::DONE;
use super::hosts::{Answered, Choose, Reach, Start, is_over, seen, what_waits};
use super::look::print;
use super::selectors::{self, Selector};
use crate::core::{AgentId, BatchId, Command, Outcome, Reply, Row, Snapshot, Status};
use crate::journal::{FleetDir, Purpose, StateDir, to_type};
use crate::runtime::{Inspection, depth};
use crate::supervise::{self, AgentDir, Life};
use crate::words::agent_numbers::agent_numbers;
use crate::words::plain_text::{count, one_line};

/// Agents that are named one by one in an answer; of more only the number is told.
const NAMED: usize = 12;
/// How often a host is looked at that has not heard of an end yet, and how long between two times: two seconds in all.
const LOOKS: u32 = 40;
const PAUSE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// What becomes of a queue at the cap, if its owner said so.
const DROPPED: Status = Status::Ended(Outcome::Dropped);

/// Tries agents again.
pub(super) fn retry(
    arguments: &RetryArguments,
    global: &GlobalArguments,
    reach: Reach,
) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "retry")?;
    let selectors = selectors::parse(&arguments.selectors).map_err(Failure::input)?;
    let state = state_dir(global)?;
    let dir = fleet_to(&state, global.fleet.as_deref(), Purpose::Read)?.dir;
    // One name for all tries, so that none of them doubles what another did.
    let batch = BatchId::from_bits(fastrand::u32(..));
    let mut meant = Meant::default();
    let mut choose = |before: &Snapshot| {
        // A host took it and went before it could say so.
        let is_known = before.batches.iter().any(|view| view.batch.id == batch);
        if is_known {
            return Ok(Some(Command::Retry(batch.clone(), meant.ids.clone())));
        }
        meant = to_try(&selectors, before).map_err(Failure::input)?;
        let command = Command::Retry(batch.clone(), meant.ids.clone());
        Ok((!meant.ids.is_empty()).then_some(command))
    };
    wait_for_ends(&state, &dir, &selectors, reach)?;
    let mut answered = reach(&state, &dir, Start::Never, &mut choose)?;
    if answered.is_none() {
        let before = seen(&dir)?;
        // Nobody needs a host to hear that nothing is to be tried.
        answered = match choose(&before.snapshot)? {
            Some(_) => with_host(&state, &dir, &before, reach, &mut choose)?,
            None => Some(Answered { reply: None, after: before.snapshot.into(), host: None }),
        };
    }
    let gone = || Failure::no_fleet(format!("fleet {} has no host", dir.id()));
    let answered = answered.ok_or_else(gone)?;
    let new = match &answered.reply {
        Some(Reply::Queued(_, new)) => new.clone(),
        Some(Reply::Refused(refusal)) => return Err(Failure::input(one_line(&refusal.0))),
        Some(
            Reply::Done(_)
            | Reply::Told(_)
            | Reply::TurnInterrupted(_)
            | Reply::AlreadyEnded(_)
            | Reply::AlreadyAnswered(_),
        )
        | None => Vec::new(),
    };
    if global.json {
        print(&json(&batch, &meant, &new, &answered).to_string(), true)?;
    } else {
        print(&said(&meant, &new, &answered.after), false)?;
    }
    Ok(DONE)
}

/// Waits a moment for a host that has not heard yet of ends that files tell already: `fleet wait` can be over by them, and
/// what it waited for must not be missing from what has failed. An agent that was named is looked at as it is.
fn wait_for_ends(
    state: &StateDir,
    dir: &FleetDir,
    selectors: &[Selector],
    reach: Reach,
) -> Result<(), Failure> {
    if selectors.iter().all(|selector| matches!(selector, Selector::Agents(_))) {
        return Ok(());
    }
    for _ in 0..LOOKS {
        let mut is_behind = false;
        reach(state, dir, Start::Never, &mut |before| {
            is_behind = before.rows.iter().any(|row| {
                let agent = AgentDir::new(dir.agent(row.id));
                row.status.is_live() && matches!(supervise::life(&agent), Ok(Life::Ended(_)))
            });
            Ok(None)
        })?;
        if !is_behind {
            break;
        }
        // Nothing is polled, so this ends by its time-out only.
        let _ = rustix::event::poll(&mut [], Some(&PAUSE));
    }
    Ok(())
}

/// Asks a host that is started for it.
fn with_host(
    state: &StateDir,
    dir: &FleetDir,
    before: &Inspection,
    reach: Reach,
    choose: Choose<'_>,
) -> Result<Option<Answered>, Failure> {
    if is_over(&before.snapshot) {
        // What ended it, such as a signal or its deadline, is not to end what is tried again.
        return reach(state, dir, Start::GoingOn(&LimitArguments::default()), choose);
    }
    reach(state, dir, Start::AsItWas, choose)
}

/// Which agents are tried again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Meant {
    /// Those.
    ids: Vec<AgentId>,
    /// Those that were meant by a word for many and cannot be, each with the reason.
    left_out: Vec<(AgentId, String)>,
}

/// Returns which agents are tried again. One that was named is, or the core refuses it; of those that were meant by a
/// word for many, what cannot be tried again is left out. That nothing has failed is no mistake.
fn to_try(selectors: &[Selector], before: &Snapshot) -> Result<Meant, String> {
    let mut meant = Meant::default();
    for selector in selectors {
        if *selector == Selector::Failed && !has_failed(before) {
            continue;
        }
        let is_named = matches!(selector, Selector::Agents(_));
        for id in selectors::select(std::slice::from_ref(selector), before)? {
            let row = before.rows.iter().find(|row| row.id == id);
            match row.filter(|_| !is_named).and_then(|row| why_not(row)) {
                Some(why) => meant.left_out.push((id, why)),
                None => meant.ids.push(id),
            }
        }
    }
    meant.ids.sort_unstable();
    meant.ids.dedup();
    let ids = &meant.ids;
    meant.left_out.retain(|(id, _)| !ids.contains(id));
    meant.left_out.sort();
    meant.left_out.dedup();
    Ok(meant)
}

fn has_failed(before: &Snapshot) -> bool {
    selectors::select(&[Selector::Failed], before).is_ok()
}

/// Says why an agent cannot be tried again, as a clause.
fn why_not(row: &Row) -> Option<String> {
    if let Some(by) = row.retried_by {
        return Some(format!("is tried again as {by} already"));
    }
    if !row.status.is_ended() {
        return Some("has not ended".to_owned());
    }
    let names = row.task.env_stored.join(", ");
    (!names.is_empty()).then(|| {
        format!("was given {} with --env, which is not kept: submit it again", one_line(&names))
    })
}

/// Returns what came of it, for people.
fn said(meant: &Meant, new: &[AgentId], after: &Snapshot) -> String {
    let mut parts = vec![tried(meant, new, after)];
    parts.extend(meant.left_out.iter().take(NAMED).map(|(id, why)| format!("{id} {why}")));
    if let Some(more) = meant.left_out.len().checked_sub(NAMED).filter(|more| *more > 0) {
        parts.push(format!("and {more} more left out"));
    }
    let is_over =
        |new: &&AgentId| after.rows.iter().any(|row| row.id == **new && row.status == DROPPED);
    let dropped = new.iter().filter(is_over).count();
    if dropped > 0 {
        parts.push(format!(
            "the cap dropped {dropped} of them at once: `{}` raises it, then try those again",
            to_type(format_args!("cap USD --fleet {}", after.header.fleet))
        ));
    }
    if !new.is_empty() {
        parts.extend(what_waits(after, true));
    }
    parts.join("; ")
}

fn tried(meant: &Meant, new: &[AgentId], after: &Snapshot) -> String {
    if !new.is_empty() {
        let verb = if new.len() == 1 { "is" } else { "are" };
        return format!(
            "{} {verb} tried again as {}",
            agent_numbers(&meant.ids),
            agent_numbers(new)
        );
    }
    let earlier = match after.rows.iter().filter(|row| row.retried_by.is_some()).count() {
        0 => String::new(),
        number => format!(" ({} tried again before)", count(number, "agent")),
    };
    format!("nothing of fleet {} is to be tried again{earlier}", after.header.fleet)
}

/// Returns the same for machines.
fn json(batch: &BatchId, meant: &Meant, new: &[AgentId], answered: &Answered) -> serde_json::Value {
    let left_out: Vec<_> = meant
        .left_out
        .iter()
        .map(|(id, why)| serde_json::json!({ "agent": id, "why": why }))
        .collect();
    let of: &[AgentId] = if new.is_empty() { &[] } else { &meant.ids };
    serde_json::json!({
        "fleet": answered.after.header.fleet,
        "status": if new.is_empty() { "nothing" } else { "queued" },
        "delegation_id": (!new.is_empty()).then_some(batch),
        "agents": new, "retry_of": of, "left_out": left_out, "host_pid": answered.host,
        "waits": what_waits(&answered.after, answered.host.is_some()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};

    fn fleet() -> Snapshot {
        let mut retried = end(row(3), Outcome::Failed, "x");
        retried.retried_by = Some(AgentId(5));
        let rows = vec![
            end(row(1), Outcome::Done, ""),
            end(row(2), Outcome::Timeout, "x"),
            retried,
            row(4),
            row(5),
        ];
        snapshot(1, rows)
    }

    fn tried(words: &[&str], before: &Snapshot) -> Result<Meant, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        to_try(&selectors::parse(&words).unwrap(), before)
    }

    fn ids(words: &[&str]) -> Vec<u32> {
        tried(words, &fleet()).unwrap().ids.into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn words_for_many_leave_out_what_cannot_be_tried_and_numbers_do_not() {
        assert_eq!(ids(&["failed"]), [2]);
        assert_eq!(ids(&["all"]), [1, 2]);
        assert_eq!(ids(&["3", "4", "failed"]), [2, 3, 4]);
        let all = tried(&["all"], &fleet()).unwrap();
        let left: Vec<u32> = all.left_out.iter().map(|(id, _)| id.0).collect();
        assert_eq!(left, [3, 4, 5]);
        assert!(all.left_out[0].1.contains("#5"), "{all:?}");
        assert!(tried(&["9"], &fleet()).unwrap_err().contains("no agent #9"));
    }

    #[test]
    fn that_nothing_has_failed_is_no_mistake() {
        let fine = snapshot(1, vec![end(row(1), Outcome::Done, "")]);
        assert_eq!(tried(&["failed"], &fine), Ok(Meant::default()));
        let said = said(&Meant::default(), &[], &fine);
        assert!(said.starts_with("nothing of fleet"), "{said}");
    }

    #[test]
    fn what_is_tried_again_is_named() {
        let meant = tried(&["all"], &fleet()).unwrap();
        let said = said(&meant, &[AgentId(6), AgentId(7)], &fleet());
        assert!(said.starts_with("#1, #2 are tried again as #6, #7; #3 is tried"), "{said}");
    }
}
