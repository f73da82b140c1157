//! Folds decisions into the fleet. The same code runs when a decision is made and when a journal is replayed.

use std::sync::Arc;

use super::agent::{AgentState, StopReason};
use super::batch::Batch;
use super::command::Answer;
use super::commands::Source;
use super::doubt::Signs;
use super::event::ProcessEnd;
use super::fleet::{Agent, CapQuestion, Fleet};
use super::id::{AgentId, BatchId, QuestionId};
use super::ledger::Ledger;
use super::money::NanoUsd;
use super::noticing::MarkNotice;
use super::outcome::{End, ExitReason, Outcome};
use super::record::{Record, Work};
use super::task::Task;

/// Answers to cap questions that are kept: a second answer comes within seconds of the first.
const ANSWERS: usize = 16;

impl Fleet {
    pub(super) fn fold(&mut self, record: &Record) {
        match record {
            Record::Created(options) => {
                self.options = options.clone();
                self.cap = options.cap;
            }
            Record::Options(options) => self.options = options.clone(),
            Record::Queued { batch, origin, inside, first, tasks } => {
                let source = Source { origin: origin.clone(), inside: inside.clone() };
                self.fold_queued(batch, source, *first, tasks);
            }
            Record::Retried { of, id } => self.fold_retried(*of, *id),
            Record::Dispatched(id) => self.fold_dispatched(*id),
            Record::Requeued(id) => self.fold_requeued(*id),
            Record::Stopped(id, reason) => self.fold_stopped(*id, reason),
            Record::Told(id, text) => self.fold_told(*id, Some(text)),
            Record::NotTold(id, text) => self.fold_not_told(*id, Some(text)),
            Record::TurnInterrupted(id, text) => {
                self.fold_told(*id, text.as_ref());
                if let Some(agent) = self.agent_mut(*id) {
                    agent.interrupts = agent.interrupts.saturating_add(1);
                }
            }
            Record::TurnNotInterrupted(id, text) => {
                self.fold_not_told(*id, text.as_ref());
                if let Some(agent) = self.agent_mut(*id) {
                    agent.interrupts = agent.interrupts.saturating_sub(1);
                }
            }
            Record::Checkpoint(id, work) => self.fold_checkpoint(*id, work),
            Record::Ended(id, end, work) => self.fold_ended(*id, end, work),
            Record::Cap(cap) => self.fold_cap(*cap),
            Record::Asked(id) => {
                self.cap_question.open = Some((*id, self.now));
                self.cap_question.asked = self.cap_question.asked.max(id.0);
                self.notice_question(*id);
            }
            Record::Answered(id, answer) => self.fold_answered(*id, *answer),
            Record::Withdrawn(_) => self.cap_question.open = None,
            Record::Held => {
                self.held = true;
                self.held_back = None;
            }
            Record::HeldBack(since) => self.held_back = Some(*since),
            Record::Released => self.fold_released(),
            Record::AgentsHeld(ids) => self.fold_held(ids, true),
            Record::AgentsReleased(ids) => self.fold_held(ids, false),
            Record::KindHeld(name, cause) => {
                let kind = self.kinds.entry(super::task::AgentKind(name.clone())).or_default();
                kind.held = Some(cause.clone());
                self.notice_held_kind(name, cause);
            }
            Record::Order(order) => {
                let rank = |id: &AgentId| order.iter().position(|other| other == id);
                self.queue.sort_by_key(|id| rank(id).unwrap_or(usize::MAX));
            }
            Record::Edited(id, task) => self.fold_edited(*id, task),
            Record::Interrupted(signal) => {
                self.interrupted = Some(signal.clone());
                self.cap_question.open = None;
            }
            Record::Deadline => {
                self.past_deadline = true;
                self.cap_question.open = None;
            }
            Record::Resumed => self.fold_resumed(),
            Record::Closed => self.closed = true,
            Record::Noticed(notice) => self.fold_noticed(notice),
        }
    }

    fn fold_released(&mut self) {
        self.held = false;
        self.held_back = None;
        self.notice_release();
        for kind in self.kinds.values_mut() {
            kind.held = None;
            kind.streak = None;
        }
    }

    fn fold_edited(&mut self, id: AgentId, task: &Arc<Task>) {
        let Some(agent) = self.agent_mut(id) else { return };
        let agent = agent.touch();
        // Whether its cost can be unknown is the new kind's to say; what was reported is never taken back.
        if agent.work.ledger == Ledger::new(agent.task.traits.pays) {
            agent.work.ledger = Ledger::new(task.traits.pays);
        }
        agent.task = Arc::clone(task);
    }

    fn fold_queued(&mut self, id: &BatchId, source: Source, first: AgentId, tasks: &[Arc<Task>]) {
        let place = self.batches.len();
        let mut ids = Vec::with_capacity(tasks.len());
        for (index, task) in (1_u32..).zip(tasks) {
            let id = AgentId(first.0.saturating_add(index).saturating_sub(1));
            let ledger = self.first_ledger(task);
            self.agents.push(Agent {
                id,
                batch: place,
                index,
                work: Work { ledger, ..Work::default() },
                task: Arc::clone(task),
                state: AgentState::Queued,
                held: false,
                started: None,
                progress: None,
                stalled: None,
                signs: Signs::default(),
                mark_notice: MarkNotice::default(),
                behind: 0,
                requeued: 0,
                checkpoint: self.now,
                unsaved_work: false,
                told: Vec::new(),
                interrupts: 0,
                doubtful_interrupts: 0,
                retry_of: None,
                retried_by: None,
                row: None,
            });
            ids.push(id);
        }
        self.queue.extend(&ids);
        self.batches.push(Batch {
            id: id.clone(),
            number: u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1),
            agents: ids,
            origin: source.origin,
            inside: source.inside,
            queued: self.now,
        });
    }

    fn fold_retried(&mut self, of: AgentId, id: AgentId) {
        if let Some(agent) = self.agent_mut(of) {
            agent.touch().retried_by = Some(id);
        }
        if let Some(agent) = self.agent_mut(id) {
            agent.touch().retry_of = Some(of);
        }
    }

    fn fold_dispatched(&mut self, id: AgentId) {
        let now = self.now;
        self.queue.retain(|other| *other != id);
        self.first_start.get_or_insert(now);
        self.deadline_base.get_or_insert(now);
        if let Some(agent) = self.agent_mut(id) {
            let agent = agent.touch();
            agent.held = false;
            agent.state = AgentState::Starting;
            agent.started = Some(now);
            agent.progress = Some(now);
            agent.checkpoint = now;
        }
    }

    fn fold_requeued(&mut self, id: AgentId) {
        if let Some(agent) = self.agent_mut(id) {
            let agent = agent.touch();
            agent.state = AgentState::Queued;
            agent.started = None;
            agent.progress = None;
            agent.requeued += 1;
            self.queue.insert(0, id);
        }
    }

    fn fold_stopped(&mut self, id: AgentId, reason: &StopReason) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(id)
            && matches!(
                agent.state,
                AgentState::Starting
                    | AgentState::Running
                    | AgentState::Stopping { reason: StopReason::NoProgress(_), .. }
            )
        {
            agent.touch().state = AgentState::Stopping { reason: reason.clone(), asked: now };
        }
    }

    fn fold_checkpoint(&mut self, id: AgentId, work: &Work) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(id) {
            let agent = agent.touch();
            agent.work = work.clone();
            agent.checkpoint = now;
            agent.unsaved_work = false;
        }
        self.note_reporting(id);
    }

    /// Takes note that agents of this one's kind report what they cost, so that they reserve from now on.
    pub(super) fn note_reporting(&mut self, id: AgentId) {
        if let Some(agent) = self.agent(id)
            && agent.work.ledger.is_told()
        {
            let kind = agent.task.kind.clone();
            self.kinds.entry(kind).or_default().reported = true;
        }
    }

    fn fold_ended(&mut self, id: AgentId, end: &End, work: &Work) {
        let now = self.now;
        self.queue.retain(|other| *other != id);
        let Some(agent) = self.agent_mut(id) else { return };
        let agent = agent.touch();
        agent.work = work.clone();
        agent.held = false;
        agent.state = AgentState::Ended(Box::new(end.clone()));
        let ran = agent.ran();
        let (kind, cost, is_told) =
            (agent.task.kind.clone(), agent.work.ledger.cost(), agent.work.ledger.is_told());
        self.last_end = Some(now);
        self.notice_end(id, end);
        if !ran {
            return;
        }
        let kind = self.kinds.entry(kind).or_default();
        kind.reported |= is_told;
        if let Some(cost) = cost {
            kind.known += 1;
            kind.sum += cost;
        }
        kind.streak = match (end.outcome, end.reason, kind.streak) {
            (
                Outcome::Failed,
                Some(
                    reason @ (ExitReason::Auth
                    | ExitReason::Quota
                    | ExitReason::Network
                    | ExitReason::RateLimit),
                ),
                streak,
            ) => match streak {
                Some((same, count)) if same == reason => Some((same, count + 1)),
                _ => Some((reason, 1)),
            },
            _ => None,
        };
    }

    fn fold_cap(&mut self, cap: Option<NanoUsd>) {
        self.cap = cap;
        self.cap_question.holding = false;
        self.notice_new_cap();
    }

    fn fold_answered(&mut self, id: QuestionId, answer: Answer) {
        self.cap_question.open = self.cap_question.open.filter(|(open, _)| *open != id);
        let how = match answer {
            Answer::Raise(cap) => format!("raised to ${}", cap.to_exact()),
            Answer::Drop => "the queue was dropped".to_owned(),
            Answer::Hold => "the queue is held".to_owned(),
            Answer::Stop => "everything was stopped".to_owned(),
        };
        self.cap_question.answers.insert(id, how);
        if self.cap_question.answers.len() > ANSWERS {
            self.cap_question.answers.pop_first();
        }
        match answer {
            Answer::Raise(_) => self.cap_question.raised = true,
            Answer::Drop => self.dropped_by_cap |= self.has_loose(),
            Answer::Stop => self.dropped_by_cap |= !self.queue.is_empty(),
            Answer::Hold => self.cap_question.holding = true,
        }
    }

    fn fold_resumed(&mut self) {
        self.fold_released();
        self.interrupted = None;
        self.past_deadline = false;
        self.deadline_base = Some(self.now);
        self.cap_question = CapQuestion {
            asked: self.cap_question.asked,
            answers: std::mem::take(&mut self.cap_question.answers),
            ..CapQuestion::default()
        };
        // What an earlier host could not start is no proof that this one cannot.
        for agent in &mut self.agents {
            agent.requeued = 0;
        }
    }
}

impl Agent {
    /// Says whether a process of it ever ran, so that it may have cost something.
    pub(super) fn ran(&self) -> bool {
        self.started.is_some()
            && !matches!(
                self.end().map(|end| &end.process),
                Some(Some(ProcessEnd::NotStarted(_)) | None)
            )
    }
}
