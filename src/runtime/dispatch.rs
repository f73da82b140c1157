//! Has a dispatched agent started, and waits for it.
//!
//! What may go here: the way from a decision to a shim that is waited for. What may not: the decision, the end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::attend::{Own, attend};
use super::host::Host;
use super::launch::Order;
use crate::core::{AgentId, Event, Leftovers};
use crate::supervise::{Launched, Watch};

impl Host {
    pub(super) fn spawn(&mut self, id: AgentId) {
        let stopped = self.shims.get(&id).is_some_and(|shim| shim.stop.is_some());
        let order = (!stopped).then(|| self.order(id)).flatten();
        match order.map(|order| self.launcher.order(order)) {
            Some(Ok(())) => {}
            Some(Err(_)) | None => self.never_began(id),
        }
    }

    fn order(&mut self, id: AgentId) -> Option<Order> {
        let task = Arc::clone(self.fleet.task(id)?);
        let token =
            self.fleet.options().strict_protocol.then(|| format!("{:016x}", fastrand::u64(..)));
        self.look_before(id);
        let header = self.transcript_header(id);
        let given = self.given.take(id);
        Some(Order { id, dir: self.agent_dir(id), task, token, header, given })
    }

    pub(super) fn never_began(&mut self, id: AgentId) {
        self.shims.remove(&id);
        self.forget_before(id);
        self.apply(Event::NeverBegan(id));
    }

    pub(super) fn launched(&mut self, id: AgentId, launched: Launched) {
        let Launched { child, watch, started } = launched;
        let watch = Arc::new(watch);
        self.follow(id, false);
        self.attend(id, watch, Some(Own { child, started }));
    }

    /// Waits for a shim that is there, and sends on what it was told meanwhile.
    pub(super) fn attend(&mut self, id: AgentId, watch: Arc<Watch>, own: Option<Own>) {
        let shim = self.shims.entry(id).or_default();
        shim.watch = Some(Arc::clone(&watch));
        shim.send_stop();
        shim.send_close();
        if self.fleet.task(id).is_some_and(|task| task.leftovers == Leftovers::Keep) {
            self.keeps.store(true, Ordering::Relaxed);
        }
        let mark = super::mark(&self.dir, id);
        let task = attend(
            id,
            self.agent_dir(id),
            mark,
            Arc::clone(&self.keeps),
            watch,
            own,
            self.sender.clone(),
        );
        tokio::spawn(task);
    }
}
