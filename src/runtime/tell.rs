//! Tells running agents more, and lets those end that have said their last word.
//!
//! What may go here: passing messages and the end of them on. What may not: who may be told what, the FIFO itself.

use super::halt::Shim;
use super::host::Host;
use crate::adapters::{self, Adapter};
use crate::core::{AgentId, Event, Steering, Ticket};
use crate::supervise;

impl Host {
    /// Writes for an agent what it is told, in the form that its program takes. The fleet keeps what is for one that is
    /// just starting until it runs.
    pub(super) fn tell(&mut self, id: AgentId, ticket: Ticket, what: Steering) {
        let adapter = self.fleet.task(id).and_then(|task| adapters::adapter_of(task));
        let outcome = match adapter.and_then(|adapter| lines(adapter, &what)) {
            Some(lines) => {
                supervise::tell(&self.agent_dir(id), &lines).map_err(|error| error.to_string())
            }
            None => Err("its kind takes no messages".to_owned()),
        };
        self.apply(Event::Told { id, ticket, what, outcome });
    }

    pub(super) fn close_input(&mut self, id: AgentId) {
        if let Some(shim) = self.shims.get_mut(&id) {
            shim.close_input = true;
            shim.send_close();
        }
    }
}

/// Returns what a program reads when its agent is told this: an interrupt and what follows it are given at once, so that
/// nothing else can come between them.
fn lines(adapter: &dyn Adapter, what: &Steering) -> Option<String> {
    match what {
        Steering::Message(text) => adapter.message(text),
        Steering::Interrupt(None) => adapter.interrupt(),
        Steering::Interrupt(Some(text)) => {
            Some(format!("{}\n{}", adapter.interrupt()?, adapter.message(text)?))
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
