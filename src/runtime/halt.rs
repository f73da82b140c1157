//! Stops agents of a host's own: what runs is told, what has not begun is taken back.
//!
//! What may go here: passing a stop on. What may not: deciding that something is to end, stops from outside (`stop`).

use std::sync::Arc;

use super::host::Host;
use tokio::time::Instant;

use crate::core::{AgentId, Effect, Urgency};
use crate::supervise::Watch;

/// What the host holds of one dispatched agent.
#[derive(Debug, Default)]
pub(super) struct Shim {
    /// Set once the shim is there.
    pub(super) watch: Option<Arc<Watch>>,
    /// How hard it is to be told to end, until it has been told.
    pub(super) stop: Option<Urgency>,
    /// It is not told before this.
    pub(super) not_before: Option<Instant>,
    /// Its agent's standard input is to be closed, until it has been asked to.
    pub(super) close_input: bool,
}

impl Host {
    pub(super) fn stop(&mut self, id: AgentId, urgency: Urgency) {
        let Some(shim) = self.shims.get_mut(&id) else { return };
        // It may have been told in earnest since.
        if urgency == Urgency::AskPatiently && shim.stop.is_some() {
            return;
        }
        shim.stop = Some(urgency);
        shim.not_before = None;
        shim.send_stop();
        self.withdraw_stopped();
    }

    /// Takes back what was to start, waits for a disk that takes nothing, and is to end: a stop never waits.
    pub(super) fn withdraw_stopped(&mut self) {
        if !self.paper.in_trouble {
            return;
        }
        let is_stopped = |id: &AgentId| self.shims.get(id).is_some_and(|shim| shim.stop.is_some());
        let withdrawn: Vec<AgentId> = self
            .waiting
            .iter()
            .filter_map(|(_, effect)| match effect {
                Effect::Spawn(id) if is_stopped(id) => Some(*id),
                _ => None,
            })
            .collect();
        self.waiting
            .retain(|(_, effect)| !matches!(effect, Effect::Spawn(id) if withdrawn.contains(id)));
        for id in withdrawn {
            self.never_began(id);
        }
    }
}

impl Shim {
    /// Passes on how hard the tree is told to end. A shim that has not yet said who it is will be told later; one that
    /// has gone needs to hear nothing.
    pub(super) fn send_stop(&mut self) {
        if let (Some(urgency), Some(watch)) = (self.stop, &self.watch)
            && self.not_before.is_none_or(|moment| moment <= Instant::now())
            && watch.stop(urgency).is_ok()
        {
            self.stop = None;
        }
    }
}
