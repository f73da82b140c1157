//! Looks up what became of the agents that a journal calls live: adopts, reads ends, calls lost what is lost.

use std::io;

use tokio::time::Instant;

use crate::core::{AgentId, Event, Moment, ProcessEnd, TreeEnd, Urgency};
use crate::supervise::{self, AgentDir, Life, Watch};

use super::halt::Shim;
use super::host::Host;
use super::news::Gone;

impl Host {
    /// Takes over every agent that the journal calls live, then lets the queue go on: as soon as all that those which live
    /// have written meanwhile is read, since they may have spent what the cap allows.
    ///
    /// Shims do not wait for the disk. So after a restart of the machine an agent without files may have run all the same,
    /// and must not run again: it is lost.
    pub(super) fn recover_agents(&mut self, restarted: bool) {
        self.recovering = true;
        for id in self.fleet.live() {
            self.recover_one(id, restarted);
        }
        self.recover_environment();
        self.tell_unread();
        self.settle_recovered();
    }

    /// What an adopted agent had written is read, or it has ended and nothing more is.
    pub(super) fn caught_up(&mut self, id: AgentId) {
        if self.unread.remove(&id) {
            self.tell_unread();
            self.settle_recovered();
        }
    }

    /// Lets doors see that more may be spent than is known.
    fn tell_unread(&mut self) {
        self.fleet.set_unread(u32::try_from(self.unread.len()).unwrap_or(u32::MAX));
        self.stale = true;
    }

    fn settle_recovered(&mut self) {
        if !self.recovering || !self.unread.is_empty() {
            return;
        }
        self.recovering = false;
        self.fleet.open_notices();
        let effects = self.fleet.settle_resumed(self.clock.now());
        self.stale = true;
        self.perform(effects);
    }

    fn recover_one(&mut self, id: AgentId, restarted: bool) {
        let dir = self.agent_dir(id);
        self.shims.insert(id, Shim::default());
        self.follow(id, true);
        let owner_stop = dir.has_owner_stop();
        match find(&dir) {
            Ok(Found::Lives(watch)) => {
                self.stop_again(id);
                if self.scan.follows(id) {
                    self.unread.insert(id);
                }
                self.apply(Event::Adopted(id, last_sign(&dir)));
                self.attend(id, std::sync::Arc::new(watch), None);
            }
            Ok(Found::Gone(Life::NeverBegan)) if restarted => {
                self.found_gone(id, Ok(Life::Lost), owner_stop);
            }
            Ok(Found::Gone(life)) => self.found_gone(id, Ok(life), owner_stop),
            Err(error) => self.found_gone(id, Err(error.to_string()), owner_stop),
        }
    }

    /// Sees to it that an agent ends that was told to, although nobody knows whether its shim ever heard of it. To a shim
    /// that did, a second word means to kill at once, so it comes only when the time of the first is over.
    fn stop_again(&mut self, id: AgentId) {
        let Some(end) = self.fleet.grace_ends(id) else { return };
        // A shim that has heard of a long grace does not mind to hear it again, and times that by itself.
        let is_patient =
            self.fleet.is_asked_patiently(id) && supervise::knows_patience(&self.agent_dir(id));
        let due = self.clock.until(end);
        let shim = self.shims.entry(id).or_default();
        if is_patient {
            shim.stop = Some(Urgency::AskPatiently);
            return;
        }
        shim.stop = Some(Urgency::Ask);
        shim.not_before = Some(Instant::now() + due);
    }

    fn found_gone(&mut self, id: AgentId, life: Result<Life, String>, owner_stop: bool) {
        let swept = match life {
            Ok(Life::Lost) | Err(_) => supervise::sweep(&super::mark(&self.dir, id)),
            Ok(_) => Vec::new(),
        };
        self.gone(id, Gone { life, swept, owner_stop });
    }

    /// Holds batches that demand variables which this host's environment does not have.
    fn recover_environment(&mut self) {
        let mut missing = Vec::new();
        for batch in self.fleet.batches() {
            let mut names: Vec<String> = batch
                .agents
                .iter()
                .filter(|id| self.fleet.queue().contains(id))
                .filter_map(|id| self.fleet.task(*id))
                .flat_map(|task| task.env_names.clone())
                .filter(|name| std::env::var_os(name).is_none())
                .collect();
            names.sort();
            names.dedup();
            if !names.is_empty() {
                missing.push((batch.id.clone(), names));
            }
        }
        for (batch, names) in missing {
            self.apply(Event::EnvMissing(batch, names));
        }
    }
}

/// Returns when an agent wrote last.
pub(super) fn last_sign(dir: &AgentDir) -> Option<Moment> {
    let written = |path| {
        let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
        let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Moment::default().after(since))
    };
    written(dir.out()).max(written(dir.err()))
}

/// What is found of an agent that the journal calls live.
enum Found {
    Lives(Watch),
    Gone(Life),
}

/// Looks an agent up. One that cannot be looked at for want of descriptors or memory is not lost: it may live.
fn find(dir: &AgentDir) -> io::Result<Found> {
    let found = supervise::adopt(dir).and_then(|watch| match watch {
        Some(watch) => Ok(Found::Lives(watch)),
        None => supervise::life(dir).map(Found::Gone),
    });
    match found {
        Err(error) if supervise::is_shortage(&error) => Ok(Found::Lives(Watch::later(dir))),
        found => found,
    }
}

/// Makes the end of an agent whose shim left no record.
pub(super) fn lost(at: Moment, swept: Vec<String>, owner_stop: bool) -> TreeEnd {
    TreeEnd {
        end: ProcessEnd::Lost,
        timed_out: false,
        signalled: false,
        orphaned: false,
        owner_stop,
        at,
        run_time: None,
        swept,
        escalated: false,
    }
}
