//! Messages for agents that are just starting: they wait until these run.
//!
//! What may go here: keeping them in order, and what becomes of them when their agents no longer start. What may not: who
//! can be told what (`steer`). They are not recorded before they can be told: a host that goes meanwhile takes them with
//! it, and whoever asked has got no answer.

use std::mem::take;

use super::agent::AgentState;
use super::event::Effect;
use super::fleet::Fleet;
use super::id::{AgentId, BatchId, Ticket};

/// A message that waits, and where the answer goes.
#[derive(Debug, Clone)]
pub(super) struct EarlyMessage {
    pub(super) ticket: Ticket,
    pub(super) id: AgentId,
    pub(super) text: String,
    /// Batch of the agent that goes on in the session, should this one have ended.
    pub(super) batch: BatchId,
}

impl Fleet {
    /// Returns how many messages wait until this agent runs. They count as told for the bounds of what it can be told.
    pub(super) fn early_for(&self, id: AgentId) -> usize {
        self.early.iter().filter(|early| early.id == id).count()
    }

    /// Tells agents that were starting what has waited for them, in order and before anything newer; whoever asked for
    /// one that does not run learns why it is not told.
    pub(super) fn release_early(&mut self, effects: &mut Vec<Effect>) {
        if self.early.is_empty() {
            return;
        }
        let (wait, due) = take(&mut self.early).into_iter().partition(|early| {
            self.agent(early.id).is_some_and(|agent| matches!(agent.state, AgentState::Starting))
        });
        self.early = wait;
        for EarlyMessage { ticket, id, text, batch } in due {
            let reply = self.steer(ticket, id, text, batch, effects);
            effects.extend(reply.map(|reply| Effect::Reply(ticket, reply)));
        }
    }
}
