//! Decides one thing about a fleet that has no host: its cap, or that its queue is held.
//!
//! This process is the host for a moment: it writes the decision down and lets go. What may go here: decisions that need
//! nothing to be done. What may not: whatever starts or ends an agent (`stop`, a real host).

use super::start::{HostError, lives_elsewhere, take_over, waits_since};
use crate::core::{Command, Effect, Event, Hold, Reply, Ticket};
use crate::journal::{self, FleetDir, Taken};

/// Why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The fleet has got a host meanwhile: that is the one to ask.
    #[error("the fleet has got a host meanwhile")]
    Hosted,
    /// It could not be taken over.
    #[error(transparent)]
    Host(HostError),
    /// The decision could not be written down, so it was not taken.
    #[error("could not write that down, so nothing has changed: {0}")]
    NotWritten(String),
}

impl From<HostError> for DecideError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Taken(Taken::Held { .. }) => Self::Hosted,
            error => Self::Host(error),
        }
    }
}

/// Takes a decision about a fleet without a host; returns the core's reply once the decision is safe on disk. Nothing
/// starts because of it, then or when the next host comes: a queue that waited for its owner's word still does.
pub fn decide(dir: &FleetDir, command: Command) -> Result<Reply, DecideError> {
    let (_lock, journal, mut fleet, clock) = take_over(dir)?;
    if let Some(host) = lives_elsewhere(dir, &fleet) {
        let fleet = dir.id().clone();
        return Err(HostError::from(Taken::Elsewhere { fleet, host }).into());
    }
    let file = dir.read_file().map_err(HostError::from)?;
    let restarted = file.boot_id != journal::boot_id();
    let now = clock.now();
    let mut effects = Vec::new();
    // The next host goes by the time of the newest record, which this is going to be.
    if !matches!(fleet.hold(), Some(Hold::Interrupted(_)))
        && let Some(since) = waits_since(dir, &fleet, now, restarted)
    {
        effects.extend(fleet.hold_back(now, since));
    }
    effects.extend(fleet.observe(now, Event::Command { ticket: Ticket(0), command }));
    let mut records = Vec::new();
    let mut reply = Reply::Done(0);
    for effect in effects {
        match effect {
            Effect::Record(record) => records.push(record),
            Effect::Reply(_, of_core) => reply = of_core,
            Effect::Spawn(_)
            | Effect::Stop(..)
            | Effect::Tell(..)
            | Effect::CloseInput(_)
            | Effect::Forget(_)
            | Effect::Notify(_) => {}
        }
    }
    let sequence = journal.append(now, records);
    journal.wait(sequence).map_err(|why| DecideError::NotWritten(why.to_string()))?;
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{AgentId, BatchId, Fleet, FleetOptions, Moment, NanoUsd, Record};
    use crate::journal::{Draft, Journal, StateDir};

    /// A fleet of long ago with one task in its queue.
    fn old(temp: &std::path::Path) -> FleetDir {
        let state = StateDir::open(Some(&temp.join("state"))).unwrap();
        let options = FleetOptions::default();
        let draft = Draft { root: temp.into(), options, argv: Vec::new(), is_closed: false };
        let dir = state.new_fleet(Moment(1), draft).unwrap();
        let journal = Journal::create(&dir.journal()).unwrap();
        let queued = Record::Queued {
            batch: BatchId::from_bits(1),
            origin: None,
            inside: None,
            first: AgentId(1),
            tasks: vec![crate::core::testing::task("true")],
        };
        let made = Record::Created(FleetOptions::default());
        let sequence = journal.append(Moment(1), vec![made, queued]);
        journal.wait(sequence).unwrap();
        dir
    }

    fn now(dir: &FleetDir) -> Fleet {
        Fleet::restore(dir.id().clone(), journal::read(&dir.journal()).unwrap())
    }

    #[test]
    fn a_decision_is_on_disk_and_a_queue_of_long_ago_still_waits_for_its_owner() {
        let temp = tempfile::tempdir().unwrap();
        let dir = old(temp.path());
        let cap = Some(NanoUsd::from_dollars(3));
        assert_eq!(decide(&dir, Command::SetCap(cap)).unwrap(), Reply::Done(0));
        let fleet = now(&dir);
        assert_eq!(fleet.cap(), cap);
        assert_eq!(fleet.hold(), Some(Hold::Back(Moment(1))), "it would start with the next host");
        assert_eq!(fleet.queue(), [AgentId(1)]);
        decide(&dir, Command::Hold).unwrap();
        assert_eq!(now(&dir).hold(), Some(Hold::Owner));
    }

    #[test]
    fn a_fleet_with_a_host_is_left_to_it() {
        let temp = tempfile::tempdir().unwrap();
        let dir = old(temp.path());
        let _lock = journal::HostLock::take(&dir).unwrap();
        assert!(matches!(decide(&dir, Command::Hold), Err(DecideError::Hosted)));
    }
}
