//! `fleet hold`, `fleet release` and `fleet resume -d`: whether tasks leave the queue.
//!
//! What may go here: what there is to be done, and the words of the answer. What may not: what holds a queue (`core`).

use super::act::{Failure, fleet_to, never_inside_of_agents, state_dir};
use super::arguments::{
    GlobalArguments, HoldArguments, LimitArguments, ReleaseArguments, which_fleet,
};
use super::cap::committed;
use super::exit_code::DONE;
use super::hold_agents;
use super::hosts::{Answered, Decided, Reach, Start, decided, is_over, seen, standing, what_waits};
use super::look::print;
use super::plan::options_behind;
use super::selectors;
use crate::core::{Command, Hold, Reply, Snapshot};
use crate::journal::{FleetDir, HostState, Purpose, StateDir, host_of, to_type};
use crate::runtime::{Inspection, depth};
use crate::words::plain_text::{count, one_line};
use crate::words::report_line::exact;

/// Lets nothing leave the queue.
pub(super) fn hold(
    arguments: &HoldArguments,
    global: &GlobalArguments,
    reach: Reach,
) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "hold")?;
    let state = state_dir(global)?;
    let (argument, selectors) = selectors::divide(&arguments.words).map_err(Failure::input)?;
    let which = which_fleet(global, argument).map_err(Failure::input)?;
    let dir = fleet_to(&state, which, Purpose::Act)?.dir;
    if !selectors.is_empty() {
        return hold_agents::hold(&state, &dir, &selectors, reach, global.json);
    }
    let has_host = has_host(&dir)?;
    let decided = decided(&state, &dir, reach, &mut |before| {
        let is_held = before.header.hold == Some(Hold::Owner);
        // An ended fleet that has a host still may be given tasks.
        let is_needless = is_held || (is_over(before) && !has_host);
        Ok((!is_needless).then_some(Command::Hold))
    })?;
    refused(&decided)?;
    let id = dir.id();
    let header = &decided.after.header;
    let has_ended = is_over(&decided.after) && !decided.is_hosted;
    if global.json {
        return print_json(if has_ended { "ended" } else { "held" }, &decided);
    }
    if has_ended {
        print(&format!("fleet {id} has ended: nothing is left to hold"), false)?;
        return Ok(DONE);
    }
    let was = if decided.reply.is_none() { "was held already" } else { "is held" };
    let running = match header.kpis.running {
        0 => String::new(),
        number => format!(", {} on", goes(number)),
    };
    let queued = many(header.kpis.queued, "task");
    let release = to_type(format_args!("release {id}"));
    let said =
        format!("fleet {id} {was}: {queued} waiting{running}; `{release}` lets the queue go on");
    print(&said, false)?;
    Ok(DONE)
}

/// Lets the queue go on; a fleet without a host gets one.
pub(super) fn release(
    arguments: &ReleaseArguments,
    global: &GlobalArguments,
    reach: Reach,
) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "release")?;
    let state = state_dir(global)?;
    let (argument, selectors) = selectors::divide(&arguments.words).map_err(Failure::input)?;
    let which = which_fleet(global, argument).map_err(Failure::input)?;
    let dir = fleet_to(&state, which, Purpose::Act)?.dir;
    if !selectors.is_empty() {
        return hold_agents::release(&state, &dir, &selectors, reach, global.json);
    }
    let mut was_held = false;
    let answered = reach(&state, &dir, Start::Never, &mut |before| {
        let command = release_command(before)?;
        was_held = command.is_some();
        Ok(command)
    })?;
    let Some(Answered { reply, after, host }) = answered else {
        let before = seen(&dir)?;
        return go_on(&state, &dir, &before, &LimitArguments::default(), reach, global.json);
    };
    let decided = Decided { reply, after, host, is_hosted: true };
    refused(&decided)?;
    if global.json {
        return print_json(if was_held { "released" } else { "nothing" }, &decided);
    }
    let id = dir.id();
    let said = match (was_held, what_waits(&decided.after, true)) {
        (_, Some(waits)) => format!("fleet {id} still has {waits}"),
        (true, None) => format!("fleet {id} goes on: {}", counts(&decided.after)),
        (false, None) => format!("nothing held fleet {id}: {}", counts(&decided.after)),
    };
    print(&said, false)?;
    Ok(DONE)
}

/// Returns what releases a queue; `None` if nothing holds it. What cannot be released is an error that says what does it.
fn release_command(before: &Snapshot) -> Result<Option<Command>, Failure> {
    let header = &before.header;
    let has_kinds = !header.kinds_held.is_empty();
    match &header.hold {
        Some(Hold::Owner | Hold::Back(_) | Hold::Interrupted(_)) => Ok(Some(Command::Release)),
        Some(Hold::Cap | Hold::NotSaved(_)) | None if has_kinds => Ok(Some(Command::Release)),
        Some(Hold::Cap) => Err(Failure::input(format!(
            "the cap of {} holds the queue of fleet {}: `{}` raises it",
            header.cap.map(exact).unwrap_or_default(),
            header.fleet,
            to_type(format_args!("cap USD --fleet {}", header.fleet))
        ))),
        Some(Hold::NotSaved(why)) => Err(Failure::input(format!(
            "the journal of fleet {} cannot be written, and its queue goes on when it can: {}",
            header.fleet,
            one_line(why)
        ))),
        None => Ok(None),
    }
}

/// Goes on with a fleet behind: `fleet resume -d`.
pub(super) fn resume_behind(
    state: &StateDir,
    dir: &FleetDir,
    limits: &LimitArguments,
    reach: Reach,
    is_json: bool,
) -> Result<u8, Failure> {
    if let HostState::Here(pid) = host_state(dir)? {
        let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        return Err(Failure::no_fleet(format!(
            "fleet {} has a host already{process}: `{}` lets its queue go on, `{}` changes its cap",
            dir.id(),
            to_type(format_args!("release {}", dir.id())),
            to_type(format_args!("cap USD --fleet {}", dir.id()))
        )));
    }
    let before = seen(dir)?;
    options_behind(limits, &before.options).map_err(Failure::input)?;
    let committed = committed(&before.snapshot);
    if let Some(cap) = limits.cap.filter(|cap| *cap <= committed)
        && !before.snapshot.queue.is_empty()
    {
        return Err(Failure::input(format!(
            "--cap: {} would let nothing start: {} is spent or set aside; give more than that",
            exact(cap),
            exact(committed)
        )));
    }
    go_on(state, dir, &before, limits, reach, is_json)
}

/// Starts a host with which the queue goes on, unless there is nothing to go on with.
fn go_on(
    state: &StateDir,
    dir: &FleetDir,
    before: &Inspection,
    limits: &LimitArguments,
    reach: Reach,
    is_json: bool,
) -> Result<u8, Failure> {
    let id = dir.id();
    if is_over(&before.snapshot) {
        let retry = to_type(format_args!("retry failed --fleet {id}"));
        let said = format!(
            "fleet {id} has ended: nothing is left to go on with (`{retry}` tries again what failed)"
        );
        if is_json {
            let after = before.snapshot.clone().into();
            let decided = Decided { reply: None, after, host: None, is_hosted: false };
            return print_json("ended", &decided);
        }
        print(&said, false)?;
        return Ok(DONE);
    }
    let start = Start::GoingOn(limits);
    let held = |hold: &Option<Hold>| {
        matches!(hold, Some(Hold::Owner | Hold::Back(_) | Hold::Interrupted(_)))
    };
    let answered = reach(state, dir, start, &mut |snapshot| {
        // Whoever was faster with a host heard nothing of the limits, and may have left the queue as it was.
        if limits.cap.is_some_and(|cap| snapshot.header.cap != Some(cap)) {
            return Err(other_cap(snapshot));
        }
        Ok(held(&snapshot.header.hold).then_some(Command::Release))
    })?;
    let Some(Answered { reply, after, host }) = answered else {
        return Err(Failure::no_fleet(format!("fleet {id} has no host")));
    };
    let decided = Decided { reply, after, host, is_hosted: true };
    refused(&decided)?;
    if is_json {
        return print_json("resumed", &decided);
    }
    let process = host.map(|pid| format!(" (host process {pid})")).unwrap_or_default();
    let waits = what_waits(&decided.after, true).map(|waits| format!("; {waits}"));
    let said = format!(
        "fleet {id} goes on behind{process}: {}{}; `{}` shows it",
        counts(&decided.after),
        waits.unwrap_or_default(),
        to_type(format_args!("attach {id}"))
    );
    print(&said, false)?;
    Ok(DONE)
}

/// Says that somebody else was faster with the cap of a fleet that was to go on with another one.
fn other_cap(now: &Snapshot) -> Failure {
    let header = &now.header;
    let cap =
        header.cap.map_or_else(|| "no cap".to_owned(), |cap| format!("a cap of {}", exact(cap)));
    Failure::no_fleet(format!(
        "somebody else was faster: fleet {} has a host and {cap}, and --cap was not heard (`{}` changes it)",
        header.fleet,
        to_type(format_args!("cap USD --fleet {}", header.fleet))
    ))
}

/// Says whether a fleet has a host.
fn has_host(dir: &FleetDir) -> Result<bool, Failure> {
    Ok(host_state(dir)? != HostState::None)
}

fn host_state(dir: &FleetDir) -> Result<HostState, Failure> {
    host_of(dir).map_err(|error| {
        Failure::no_fleet(format!("could not look for the host of fleet {}: {error}", dir.id()))
    })
}

pub(super) fn refused(decided: &Decided) -> Result<(), Failure> {
    match &decided.reply {
        Some(Reply::Refused(refusal)) => Err(Failure::input(one_line(&refusal.0))),
        Some(
            Reply::Done(_)
            | Reply::Queued(..)
            | Reply::Told(_)
            | Reply::TurnInterrupted(_)
            | Reply::AlreadyEnded(_)
            | Reply::AlreadyAnswered(_),
        )
        | None => Ok(()),
    }
}

fn print_json(status: &str, decided: &Decided) -> Result<u8, Failure> {
    print(&json(status, decided).to_string(), true)?;
    Ok(DONE)
}

/// Returns how a fleet stands after a decision about its queue, for machines.
pub(super) fn json(status: &str, decided: &Decided) -> serde_json::Value {
    let header = &decided.after.header;
    serde_json::json!({
        "fleet": header.fleet, "status": status, "state": standing(decided), "host_pid": decided.host,
        "queued": header.kpis.queued, "running": header.kpis.running,
        "waits": what_waits(&decided.after, decided.is_hosted),
    })
}

fn counts(snapshot: &Snapshot) -> String {
    let kpis = &snapshot.header.kpis;
    format!("{} running, {} queued", kpis.running, kpis.queued)
}

fn many(number: u32, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

fn goes(number: u32) -> String {
    let agents = many(number, "agent");
    if number == 1 { format!("{agents} goes") } else { format!("{agents} go") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Moment;
    use crate::core::testing::{row, snapshot};

    #[test]
    fn what_holds_a_queue_is_let_go_or_told() {
        let of = |hold: Option<Hold>, kinds: &[(&str, &str)]| {
            let mut before = snapshot(1, vec![row(1)]);
            before.header.hold = hold;
            before.header.kinds_held =
                kinds.iter().map(|(kind, why)| ((*kind).to_owned(), (*why).to_owned())).collect();
            release_command(&before).map_err(|failure| failure.sentence)
        };
        assert_eq!(of(None, &[]), Ok(None));
        assert_eq!(of(None, &[("claude", "bad key")]), Ok(Some(Command::Release)));
        for hold in [Hold::Owner, Hold::Back(Moment(1)), Hold::Interrupted("SIGINT".into())] {
            assert_eq!(of(Some(hold), &[]), Ok(Some(Command::Release)));
        }
        assert!(of(Some(Hold::Cap), &[]).unwrap_err().contains("fleet cap USD"));
        assert!(of(Some(Hold::NotSaved("disk".into())), &[]).unwrap_err().contains("disk"));
    }
}
