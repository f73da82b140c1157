//! How commands that are no doors of their own decide something: with the fleet's host, or where none lives by writing
//! the decision down.
//!
//! What may go here: which of the two, and what is left to say about a queue that stays where it is. What may not: the
//! connection (`start`), words about single commands.

use std::sync::Arc;

use super::Failure;
use super::act::{Meant, no_fleet};
use super::arguments::LimitArguments;
use super::hold_agents::release_command;
use crate::core::{Command, FleetId, Hold, Phase, Reply, Row, Snapshot, Waits};
use crate::journal::{FleetDir, FleetStanding, StateDir, to_type};
use crate::runtime::{DecideError, Inspection, decide};
use crate::words::plain_text::{count, one_line};
use crate::words::report_line::exact;

/// How often a fleet that gets and loses hosts all the time is tried to decide something about.
const TRIES: u32 = 5;

/// What is done for a fleet without a host.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// Nothing: nobody is asked.
    Never,
    /// A host is started that only watches: what waits for its owner's word still does.
    AsItWas,
    /// A host is started with which the queue goes on, with these laid over the options that are in force by then.
    GoingOn(&'a LimitArguments),
}

/// Chooses what is asked once the fleet has been seen; `None` asks nothing.
pub type Choose<'a> = &'a mut dyn FnMut(&Snapshot) -> Result<Option<Command>, Failure>;

/// What a host answered.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Its reply, if it was asked something.
    pub reply: Option<Reply>,
    /// The fleet after that.
    pub after: Arc<Snapshot>,
    /// Process of the host, if it is known.
    pub host: Option<u32>,
}

/// Connects to the host of a fleet and asks it what is chosen; `None` if it has none and is not to get one. Where a host
/// goes before it has answered it is chosen again for the next one, so that must not do a thing twice.
pub type Reach =
    fn(&StateDir, &FleetDir, Start<'_>, Choose<'_>) -> Result<Option<Answered>, Failure>;

/// What was decided about a fleet, and how it stands after that.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    /// The core's reply, if something was to be decided.
    pub(super) reply: Option<Reply>,
    /// The fleet after that.
    pub(super) after: Arc<Snapshot>,
    /// Process of its host, as far as it has one here.
    pub(super) host: Option<u32>,
    /// It has a host.
    pub(super) is_hosted: bool,
}

/// Decides something about a fleet: its host does, or where it has none this process, which starts nothing.
pub(super) fn decided(
    state: &StateDir,
    dir: &FleetDir,
    reach: Reach,
    choose: Choose<'_>,
) -> Result<Decided, Failure> {
    for _ in 0..TRIES {
        if let Some(Answered { reply, after, host }) = reach(state, dir, Start::Never, choose)? {
            return Ok(Decided { reply, after, host, is_hosted: true });
        }
        let before = seen(dir)?;
        let Some(command) = choose(&before.snapshot)? else {
            let after = Arc::new(before.snapshot);
            return Ok(Decided { reply: None, after, host: None, is_hosted: false });
        };
        match decide(dir, command) {
            Ok(reply) => {
                let after = Arc::new(seen(dir)?.snapshot);
                return Ok(Decided { reply: Some(reply), after, host: None, is_hosted: false });
            }
            Err(DecideError::Hosted) => {}
            Err(error) => return Err(no_fleet(error)),
        }
    }
    Err(Failure::no_fleet(format!(
        "the host of fleet {} goes as soon as it comes: `{}` shows why",
        dir.id(),
        to_type(format_args!("resume {}", dir.id()))
    )))
}

/// Looks at a fleet without a host, and refuses one that lives on another machine.
pub(super) fn seen(dir: &FleetDir) -> Result<Inspection, Failure> {
    let seen = Meant::new(dir.clone()).inspection()?;
    match &seen.elsewhere {
        Some(host) => Err(Failure::no_fleet(format!(
            "fleet {} lives on host {}: go on there",
            dir.id(),
            one_line(host)
        ))),
        None => Ok(seen),
    }
}

/// Says whether nothing of a fleet runs or waits.
pub(super) fn is_over(snapshot: &Snapshot) -> bool {
    snapshot.header.all_done
}

/// Returns how a fleet stands, for machines.
pub(super) fn standing(decided: &Decided) -> FleetStanding {
    let header = &decided.after.header;
    match (decided.is_hosted, header.kpis.running > 0, header.kpis.queued > 0) {
        (true, ..) if header.hold.is_some() => FleetStanding::Held,
        (true, ..) => FleetStanding::Live,
        (false, true, _) => FleetStanding::Hostless,
        (false, false, true) => FleetStanding::Held,
        (false, false, false) => FleetStanding::Ended,
    }
}

/// Says what keeps the queue of a fleet where it is, and what to type about that, as a clause; `None` if nothing does.
pub(super) fn what_waits(after: &Snapshot, is_hosted: bool) -> Option<String> {
    let header = &after.header;
    if header.kpis.queued == 0 {
        return None;
    }
    let id = &header.fleet;
    let queued = count(usize::try_from(header.kpis.queued).unwrap_or(usize::MAX), "task");
    let cap = header.cap.map(exact).unwrap_or_default();
    let raise = to_type(format_args!("cap USD --fleet {id}"));
    Some(match &header.hold {
        Some(Hold::NotSaved(why)) => {
            format!("{queued} waiting: the journal cannot be written ({})", one_line(why))
        }
        Some(Hold::Cap) => {
            format!("{queued} waiting: the cap of {cap} holds the queue, and `{raise}` raises it")
        }
        Some(Hold::Owner | Hold::Back(_) | Hold::Interrupted(_)) => {
            format!("{queued} waiting: `{}` lets the held queue go on", release(id))
        }
        None if after.question.is_some() => {
            format!("{queued} waiting: the cap of {cap} is reached, and `{raise}` raises it")
        }
        None if !is_hosted => format!(
            "{queued} waiting, and no host watches this fleet: `{}` goes on",
            to_type(format_args!("resume {id} -d"))
        ),
        None => return held_alone(after).or_else(|| after.rows.iter().find_map(|row| needs(row))),
    })
}

/// Says that all that is queued is held by itself and what to type about that, as a clause, if that is so.
pub(super) fn held_alone(after: &Snapshot) -> Option<String> {
    let mut held = after.held_agents();
    if held.is_empty() || held.len() < after.queue.len() {
        return None;
    }
    held.sort_unstable();
    let (tasks, it) = (count(held.len(), "task"), if held.len() == 1 { "it" } else { "them" });
    let release = release_command(&held, &after.header.fleet);
    Some(format!("{tasks} held: `{release}` lets {it} start"))
}

/// Says what a task waits for that its host has not, if that is so.
fn needs(row: &Row) -> Option<String> {
    let Phase::Waits(Waits::Env(names)) = &row.phase else { return None };
    let names = one_line(&names.join(", "));
    Some(format!("{} waits: it needs {names} (set it and resume)", row.id))
}

fn release(id: &FleetId) -> String {
    to_type(format_args!("release {id}"))
}
