//! Stops agents from outside: by files and signals, with or without a host.
//!
//! A stop that does not go through a host's loop is written beside the agent first, then its shim is signalled, so that
//! an end with that file is known as the owner's decision. Where no host lives, this process is the host for a moment:
//! it journals the decision itself, acts, and lets go.

use std::io;

use super::inspect::Inspection;
use super::start::{HostError, take_over};
use crate::core::{AgentId, Command, Effect, Event, Fleet, Status, Ticket, Urgency};
use crate::journal::{self, FleetDir, Taken};
use crate::supervise::{self, AgentDir, Life};

/// How often a shim that has only just begun is asked who it is, and how long between two times: 200 ms in all.
const TRIES: u32 = 20;
const PAUSE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// What became of a stop.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Live agents that were told to end.
    pub asked: Vec<AgentId>,
    /// Queued tasks that will not start.
    pub cancelled: Vec<AgentId>,
    /// Agents that had ended before.
    pub ended: Vec<AgentId>,
}

/// Why agents could not be stopped.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// The fleet could not be taken over.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Live agents were told to end all the same, since a disk that takes nothing must not keep them running; what is
    /// queued stays queued.
    #[error(
        "told {asked} running to end, but could not write that down, so nothing queued was cancelled: {why}"
    )]
    NotWritten {
        /// How many were told.
        asked: usize,
        /// What the system says.
        why: String,
    },
}

/// Stops the chosen agents of a fleet, all together. Returns when all have been told, not when they have ended.
pub fn stop(inspection: &Inspection, ids: &[AgentId]) -> Result<Stopped, StopError> {
    let dir = &inspection.dir;
    let mut stopped = Stopped::default();
    for row in inspection.snapshot.rows.iter().filter(|row| ids.contains(&row.id)) {
        match row.status {
            Status::Queued => stopped.cancelled.push(row.id),
            Status::Ended(_) => stopped.ended.push(row.id),
            Status::Starting | Status::Running | Status::Stopping | Status::Ending => {
                stopped.asked.push(row.id);
            }
        }
    }
    if stopped.asked.is_empty() && stopped.cancelled.is_empty() {
        return Ok(stopped);
    }
    // Written for both doors: a host that lives reads it, and one that comes later knows whose decision it was. What is
    // queued comes first, so that no freed slot starts one of them.
    let written = write_down(dir, &mut stopped);
    if let Err(error @ StopError::Host(_)) = written {
        return Err(error);
    }
    signal_all(dir, &stopped.asked);
    written.map(|()| stopped)
}

/// Writes the decision down, where this process is the host for a moment into the journal as well.
fn write_down(dir: &FleetDir, stopped: &mut Stopped) -> Result<(), StopError> {
    let asked = stopped.asked.len();
    let not_written = |why: String| StopError::NotWritten { asked, why };
    for id in stopped.cancelled.iter().chain(&stopped.asked) {
        let agent = AgentDir::new(dir.agent(*id));
        supervise::prepare(&agent)
            .and_then(|()| supervise::write_stop(&agent))
            .map_err(|error| not_written(error.to_string()))?;
    }
    match without_host(dir, stopped) {
        Err(StopError::Host(HostError::Taken(Taken::Held { .. }))) => {
            dir.nudge().map_err(|error| not_written(error.to_string()))?;
            note_dispatched(dir, stopped)
        }
        Err(StopError::Host(error @ HostError::Taken(_))) => Err(error.into()),
        Err(StopError::Host(error)) => Err(not_written(error.to_string())),
        other => other,
    }
}

/// Finds those that the host has dispatched since they were seen in the queue. One whose start is decided after this
/// look is not started: its `stop` file is there already.
fn note_dispatched(dir: &FleetDir, stopped: &mut Stopped) -> Result<(), StopError> {
    if stopped.cancelled.is_empty() {
        return Ok(());
    }
    let records = journal::read(&dir.journal()).map_err(HostError::from)?;
    let live = Fleet::restore(dir.id().clone(), records).live();
    let dispatched = stopped.cancelled.extract_if(.., |id| live.contains(id));
    stopped.asked.extend(dispatched);
    Ok(())
}

/// Journals the decision if the fleet has no host.
fn without_host(dir: &FleetDir, stopped: &Stopped) -> Result<(), StopError> {
    let (_lock, journal, mut fleet, clock) = take_over(dir)?;
    for id in fleet.live() {
        let agent = AgentDir::new(dir.agent(id));
        if let Ok(Life::Lives { .. }) = supervise::life(&agent) {
            drop(fleet.observe(clock.now(), Event::Started(id)));
        }
    }
    // Held first: taking over to stop must not start anything.
    let mut records = Vec::new();
    let ids = stopped.cancelled.iter().chain(&stopped.asked).copied().collect();
    let commands = [Command::Hold, Command::Stop(Some(ids))];
    for command in commands {
        let effects = fleet.apply(clock.now(), Event::Command { ticket: Ticket(0), command });
        for effect in effects {
            match effect {
                Effect::Record(record) => records.push(record),
                Effect::Forget(id) => {
                    let _ = AgentDir::new(dir.agent(id)).forget_env();
                }
                Effect::Spawn(_)
                | Effect::Stop(..)
                | Effect::Tell(..)
                | Effect::CloseInput(_)
                | Effect::Reply(..)
                | Effect::Notify(_) => {}
            }
        }
    }
    let sequence = journal.append(clock.now(), records);
    let asked = stopped.asked.len();
    journal.wait(sequence).map_err(|why| StopError::NotWritten { asked, why: why.to_string() })
}

/// Tells shims to end their agents, all together. One that has gone meanwhile needs to hear nothing; one that is just
/// being started can be told as soon as it has said who it is.
fn signal_all(dir: &FleetDir, ids: &[AgentId]) {
    let mut left: Vec<AgentDir> = ids.iter().map(|id| AgentDir::new(dir.agent(*id))).collect();
    for _ in 0..TRIES {
        left.retain(is_untold);
        if left.is_empty() {
            return;
        }
        pause();
    }
}

/// Tells a shim to end its agent; says whether it must be told later.
fn is_untold(agent: &AgentDir) -> bool {
    match supervise::adopt(agent) {
        Ok(Some(watch)) => {
            watch.stop(Urgency::Ask).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        }
        Ok(None) => matches!(supervise::life(agent), Ok(Life::NeverBegan)),
        Err(_) => false,
    }
}

/// Waits for [`PAUSE`].
fn pause() {
    // Nothing is polled, so this ends by its time-out only.
    let _ = rustix::event::poll(&mut [], Some(&PAUSE));
}
