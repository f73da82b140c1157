//! Tells running agents more, and lets those end that have said their last word.
//!
//! What may go here: passing messages and the end of them on. What may not: who may be told what, the FIFO itself.

use super::host::{Host, Shim};
use crate::adapters;
use crate::core::{AgentId, Event, Ticket};
use crate::supervise;

impl Host {
    /// Writes a message for an agent, in the form that its program takes.
    pub(super) fn tell(&mut self, id: AgentId, ticket: Ticket, text: String) {
        let kind = self.fleet.task(id).map(|task| task.kind.clone());
        let line =
            kind.as_ref().and_then(adapters::adapter).and_then(|adapter| adapter.message(&text));
        let outcome = match line {
            Some(line) => {
                supervise::tell(&self.agent_dir(id), &line).map_err(|error| error.to_string())
            }
            None => Err("its kind takes no messages".to_owned()),
        };
        self.apply(Event::Told { id, ticket, text, outcome });
    }

    pub(super) fn close_input(&mut self, id: AgentId) {
        if let Some(shim) = self.shims.get_mut(&id) {
            shim.close_input = true;
            shim.send_close();
        }
    }
}

impl Shim {
    /// Asks for the end of the agent's standard input. A shim that has not yet said who it is will be asked later; one
    /// that has gone needs to hear nothing.
    pub(super) fn send_close(&mut self) {
        if let (true, Some(watch)) = (self.close_input, &self.watch)
            && watch.close_input().is_ok()
        {
            self.close_input = false;
        }
    }
}
