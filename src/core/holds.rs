//! Holds of single agents: they stay in the queue and are passed over until their owner releases them.
//!
//! What may go here: who is held, and who of the queue is not. What may not: holds of the whole queue or of a kind.

use super::agent::AgentState;
use super::command::{Refusal, Reply};
use super::event::Effect;
use super::fleet::{Agent, Fleet};
use super::id::AgentId;
use super::record::Record;

impl Fleet {
    /// Holds those of these agents that are queued, and says how many that are; refused with the reason if none is.
    pub(super) fn hold_agents(&mut self, ids: &[AgentId], effects: &mut Vec<Effect>) -> Reply {
        let queued = match self.queued_of(ids) {
            Ok(queued) => queued,
            Err(refusal) => return Reply::Refused(refusal),
        };
        let new = self.those(&queued, |agent| !agent.held);
        if !new.is_empty() {
            self.record(Record::AgentsHeld(new), effects);
        }
        done(&queued)
    }

    /// Releases those of these agents that are held, and says how many that are; refused with the reason if none is even
    /// queued.
    pub(super) fn release_agents(&mut self, ids: &[AgentId], effects: &mut Vec<Effect>) -> Reply {
        let queued = match self.queued_of(ids) {
            Ok(queued) => queued,
            Err(refusal) => return Reply::Refused(refusal),
        };
        let held = self.those(&queued, |agent| agent.held);
        if !held.is_empty() {
            self.record(Record::AgentsReleased(held.clone()), effects);
        }
        done(&held)
    }

    pub(super) fn fold_held(&mut self, ids: &[AgentId], held: bool) {
        for id in ids {
            if let Some(agent) = self.agent_mut(*id)
                && matches!(agent.state, AgentState::Queued)
            {
                agent.touch().held = held;
            }
        }
    }

    /// Returns the queued agents that are not held by themselves, in the order in which they would start.
    pub(super) fn loose(&self) -> impl Iterator<Item = &Agent> {
        self.queue.iter().filter_map(|id| self.agent(*id)).filter(|agent| !agent.held)
    }

    /// Says whether there are any.
    pub(super) fn has_loose(&self) -> bool {
        self.loose().next().is_some()
    }

    fn queued_of(&self, ids: &[AgentId]) -> Result<Vec<AgentId>, Refusal> {
        let mut refused = None;
        let mut queued = Vec::new();
        for id in ids {
            match self.refuse_unless_queued(*id) {
                None => queued.push(*id),
                Some(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if queued.is_empty() => Err(refusal),
            Some(_) | None => Ok(queued),
        }
    }

    fn those(&self, ids: &[AgentId], are: impl Fn(&Agent) -> bool) -> Vec<AgentId> {
        ids.iter().copied().filter(|id| self.agent(*id).is_some_and(&are)).collect()
    }
}

fn done(ids: &[AgentId]) -> Reply {
    Reply::Done(u32::try_from(ids.len()).unwrap_or(u32::MAX))
}
