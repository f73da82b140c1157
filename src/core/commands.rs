//! What doors ask, checked and turned into decisions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agent::{AgentState, StopReason};
use super::command::{Command, Direction, Refusal, Reply, Submission};
use super::event::{Effect, Urgency};
use super::fleet::Fleet;
use super::id::{AgentId, BatchId, Ticket};
use super::lifecycle::CANCELLED;
use super::outcome::{ExitReason, Outcome};
use super::record::Record;
use super::task::Task;

/// Most agents of one fleet. Every row is in each snapshot, so there has to be a number; ten times what Fleet is built for.
const MOST_AGENTS: usize = 10_000;

/// Where tasks come from.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Who or what submitted them.
    pub(super) origin: Option<String>,
    /// Mark of the agent inside of which that was done.
    pub(super) inside: Option<String>,
}

impl Fleet {
    /// Does what a door asks; `None` if the answer comes later.
    pub(super) fn command(
        &mut self,
        ticket: Ticket,
        command: Command,
        effects: &mut Vec<Effect>,
    ) -> Option<Reply> {
        Some(match command {
            Command::Steer(id, text, batch) => {
                return self.steer(ticket, id, text, batch, effects);
            }
            Command::InterruptTurn(id, text) => {
                return self.interrupt_turn(ticket, id, text, effects);
            }
            Command::Submit(submission) => self.submit(submission, effects),
            Command::Stop(ids) => self.stop_many(ids, effects),
            Command::Kill(ids) => self.kill_many(ids, effects),
            Command::Remove(id) => self.remove(id, effects),
            Command::Move(id, direction) => self.move_queued(id, direction, effects),
            Command::Edit(id, task) => self.edit(id, *task, effects),
            Command::Retry(batch, ids) => self.retry(batch, &once_each(ids), effects),
            Command::Hold => {
                if !self.held {
                    self.record(Record::Held, effects);
                }
                Reply::Done(0)
            }
            Command::Release => self.release(effects),
            Command::HoldAgents(ids) => self.hold_agents(&once_each(ids), effects),
            Command::ReleaseAgents(ids) => self.release_agents(&once_each(ids), effects),
            Command::SetCap(cap) => self.set_cap(cap, effects),
            Command::Answer(id, answer) => self.answer(id, answer, effects),
            Command::Interrupt(signal) => self.interrupt(signal, effects),
            Command::Close => {
                if !self.closed {
                    self.record(Record::Closed, effects);
                }
                Reply::Done(0)
            }
        })
    }

    /// Lets the queue go on; after an interrupt only once everything that was to end has ended.
    fn release(&mut self, effects: &mut Vec<Effect>) -> Reply {
        if self.interrupted.is_none() {
            self.record(Record::Released, effects);
            return Reply::Done(0);
        }
        if self.agents.iter().any(super::fleet::Agent::is_live) {
            return refuse(
                "agents are still being stopped: release the queue when they have ended",
            );
        }
        self.record(Record::Resumed, effects);
        Reply::Done(0)
    }

    fn submit(&mut self, submission: Submission, effects: &mut Vec<Effect>) -> Reply {
        let Submission { id, tasks, origin, inside } = submission;
        if let Some(batch) = self.batches.iter().find(|batch| batch.id == id) {
            return Reply::Queued(id, batch.agents.clone());
        }
        if self.closed {
            return refuse("this fleet takes no more tasks: it was started by `fleet run`");
        }
        if let Some(refusal) = self.refuse_when_ending() {
            return Reply::Refused(refusal);
        }
        let from = Source { origin, inside };
        self.queue_tasks(id, from, tasks.into_iter().map(Arc::new).collect(), effects)
    }

    /// Returns why nothing can be queued any more: it would wait for ever.
    pub(super) fn refuse_when_ending(&self) -> Option<Refusal> {
        let why = match &self.interrupted {
            Some(signal) => format!("the fleet is ending ({signal}) and takes no more tasks"),
            None if self.past_deadline => {
                "the fleet's deadline has passed, so it takes no more tasks".to_owned()
            }
            None => return None,
        };
        Some(Refusal(why))
    }

    pub(super) fn queue_tasks(
        &mut self,
        batch: BatchId,
        from: Source,
        tasks: Vec<Arc<Task>>,
        effects: &mut Vec<Effect>,
    ) -> Reply {
        let have = self.agents.len();
        if have + tasks.len() > MOST_AGENTS {
            return refuse(&format!(
                "{} tasks are too many: a fleet takes {MOST_AGENTS} and has {have}",
                tasks.len()
            ));
        }
        let first = AgentId(u32::try_from(have).unwrap_or(u32::MAX).saturating_add(1));
        let Source { origin, inside } = from;
        let queued = Record::Queued { batch: batch.clone(), origin, inside, first, tasks };
        self.record(queued, effects);
        let agents = self.batches.last().map(|batch| batch.agents.clone()).unwrap_or_default();
        Reply::Queued(batch, agents)
    }

    fn stop_many(&mut self, ids: Option<Vec<AgentId>>, effects: &mut Vec<Effect>) -> Reply {
        let ids = match self.chosen(ids) {
            Ok(ids) => ids,
            Err(refusal) => return Reply::Refused(refusal),
        };
        // What is queued goes first, so that no freed slot starts one of them.
        let (queued, others): (Vec<_>, Vec<_>) =
            ids.into_iter().partition(|id| self.is_queued(*id));
        let mut done = u32::try_from(queued.len()).unwrap_or(u32::MAX);
        let mut ended = Vec::new();
        for id in queued {
            self.end_unstarted(id, Outcome::Cancelled, None, CANCELLED, effects);
        }
        for id in others {
            if self.stop_one(id, &StopReason::Owner, effects) {
                done += 1;
            } else {
                ended.push(id);
            }
        }
        if done == 0 && !ended.is_empty() { Reply::AlreadyEnded(ended) } else { Reply::Done(done) }
    }

    fn kill_many(&mut self, ids: Option<Vec<AgentId>>, effects: &mut Vec<Effect>) -> Reply {
        let reply = self.stop_many(ids.clone(), effects);
        for id in self.chosen(ids).unwrap_or_default() {
            if self.agent(id).is_some_and(super::fleet::Agent::has_slot) {
                effects.push(Effect::Stop(id, Urgency::Kill));
            }
        }
        reply
    }

    fn remove(&mut self, id: AgentId, effects: &mut Vec<Effect>) -> Reply {
        if let Some(refusal) = self.refuse_unless_queued(id) {
            return Reply::Refused(refusal);
        }
        self.end_unstarted(id, Outcome::Cancelled, None, "removed from the queue", effects);
        Reply::Done(1)
    }

    fn move_queued(
        &mut self,
        id: AgentId,
        direction: Direction,
        effects: &mut Vec<Effect>,
    ) -> Reply {
        if let Some(refusal) = self.refuse_unless_queued(id) {
            return Reply::Refused(refusal);
        }
        let mut order = self.queue.clone();
        let last = order.len().saturating_sub(1);
        let from = order.iter().position(|other| *other == id).unwrap_or_default();
        let to = match direction {
            Direction::Up => from.saturating_sub(1),
            Direction::Down => (from + 1).min(last),
            Direction::First => 0,
            Direction::Last => last,
        };
        if from != to {
            let id = order.remove(from);
            order.insert(to, id);
            self.record(Record::Order(order), effects);
        }
        Reply::Done(1)
    }

    fn edit(&mut self, id: AgentId, task: Task, effects: &mut Vec<Effect>) -> Reply {
        if let Some(refusal) = self.refuse_unless_queued(id) {
            return Reply::Refused(refusal);
        }
        let continues = self.agent(id).and_then(|agent| agent.task.continues.clone());
        let is_same_kind = self.agent(id).is_some_and(|agent| agent.task.kind == task.kind);
        if continues.is_some() && (!is_same_kind || task.command.is_some()) {
            return refuse(&format!("{id} goes on in a session, which only its own kind can"));
        }
        let task = Task { continues, ..task };
        self.record(Record::Edited(id, Arc::new(task)), effects);
        Reply::Done(1)
    }

    fn retry(&mut self, batch: BatchId, ids: &[AgentId], effects: &mut Vec<Effect>) -> Reply {
        if let Some(known) = self.batches.iter().find(|known| known.id == batch) {
            return Reply::Queued(batch, known.agents.clone());
        }
        if let Some(refusal) = self.refuse_when_ending() {
            return Reply::Refused(refusal);
        }
        let mut tasks = Vec::with_capacity(ids.len());
        for id in ids {
            match self.retriable(*id) {
                Ok(task) => tasks.push(task),
                Err(why) => return refuse(&why),
            }
        }
        let reply = self.queue_tasks(batch, Source::default(), tasks, effects);
        if let Reply::Queued(_, new) = &reply {
            for (of, id) in ids.iter().zip(new.clone()) {
                self.record(Record::Retried { of: *of, id }, effects);
            }
        }
        reply
    }

    fn retriable(&self, id: AgentId) -> Result<Arc<Task>, String> {
        let agent = self.agent(id).ok_or_else(|| unknown(id))?;
        if agent.end().is_none() {
            return Err(format!("{id} has not ended, so there is nothing to try again"));
        }
        if let Some(by) = agent.retried_by {
            return Err(format!("{id} is already tried again as {by}"));
        }
        if !agent.task.env_stored.is_empty() {
            let names = agent.task.env_stored.join(", ");
            return Err(format!(
                "the values given to {id} with --env ({names}) are not kept; submit it again"
            ));
        }
        Ok(Arc::clone(&agent.task))
    }

    /// First: nothing leaves the queue and everything is asked to end. Again: everything is killed.
    fn interrupt(&mut self, signal: String, effects: &mut Vec<Effect>) -> Reply {
        if self.interrupted.is_some() {
            let mut killed = 0;
            for agent in self.agents.iter().filter(|agent| agent.has_slot()) {
                effects.push(Effect::Stop(agent.id, Urgency::Kill));
                killed += 1;
            }
            return Reply::Done(killed);
        }
        self.record(Record::Interrupted(signal.clone()), effects);
        Reply::Done(self.stop_live(&StopReason::Interrupted(signal), effects))
    }

    /// Ends these queued agents with *dropped*, because of the cap; returns how many they are.
    pub(super) fn drop_queued(&mut self, ids: &[AgentId], effects: &mut Vec<Effect>) -> u32 {
        let why = self.cap_words();
        for id in ids {
            self.end_unstarted(*id, Outcome::Dropped, Some(ExitReason::Budget), &why, effects);
        }
        u32::try_from(ids.len()).unwrap_or(u32::MAX)
    }

    fn chosen(&self, ids: Option<Vec<AgentId>>) -> Result<Vec<AgentId>, Refusal> {
        let Some(ids) = ids else {
            let open = |agent: &&super::fleet::Agent| agent.end().is_none();
            return Ok(self.agents.iter().filter(open).map(|agent| agent.id).collect());
        };
        match ids.iter().find(|id| self.agent(**id).is_none()) {
            Some(id) => Err(Refusal(unknown(*id))),
            None => Ok(once_each(ids)),
        }
    }

    fn is_queued(&self, id: AgentId) -> bool {
        self.agent(id).is_some_and(|agent| matches!(agent.state, AgentState::Queued))
    }

    pub(super) fn refuse_unless_queued(&self, id: AgentId) -> Option<Refusal> {
        match self.agent(id) {
            None => Some(Refusal(unknown(id))),
            Some(agent) if agent.is_live() => Some(Refusal(format!("{id} has already started"))),
            Some(agent) if agent.end().is_some() => {
                Some(Refusal(format!("{id} has already ended")))
            }
            Some(_) => None,
        }
    }
}

/// Returns the numbers in their order without repetitions: a second stop kills, and a second retry is another agent.
fn once_each(ids: Vec<AgentId>) -> Vec<AgentId> {
    let mut seen = BTreeSet::new();
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

fn refuse(why: &str) -> Reply {
    Reply::Refused(Refusal(why.to_owned()))
}

fn unknown(id: AgentId) -> String {
    format!("there is no agent {id} in this fleet")
}
