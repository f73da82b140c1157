//! The fleet itself: its data, and the one way in.
//!
//! `apply` decides; decisions become [`Record`]s, and only folding a record changes what the journal must rebuild.
//! So a replayed journal and the fleet that wrote it are the same by construction.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::agent::{AgentState, StopReason};
use super::batch::Batch;
use super::doubt::Signs;
use super::early::EarlyMessage;
use super::event::{Effect, Event};
use super::id::{AgentId, BatchId, FleetId, QuestionId};
use super::moment::Moment;
use super::money::NanoUsd;
use super::noticing::{MarkNotice, Noticing};
use super::options::FleetOptions;
use super::outcome::{End, ExitReason};
use super::record::{Record, Work};
use super::snapshot::Row;
use super::task::{AgentKind, Talk, Task};

/// Queue, agents, caps and all rules about them.
#[derive(Debug, Clone)]
pub struct Fleet {
    pub(super) id: FleetId,
    pub(super) now: Moment,
    pub(super) options: FleetOptions,
    /// Agent `n` is at place `n - 1`.
    pub(super) agents: Vec<Agent>,
    pub(super) queue: Vec<AgentId>,
    pub(super) batches: Vec<Batch>,
    pub(super) kinds: BTreeMap<AgentKind, KindLedger>,
    pub(super) env_missing: BTreeMap<BatchId, Vec<String>>,
    pub(super) cap: Option<NanoUsd>,
    pub(super) cap_question: CapQuestion,
    pub(super) held: bool,
    /// Nobody has held it: it was found waiting, since then, and waits for the owner's word.
    pub(super) held_back: Option<Moment>,
    pub(super) not_saved: Option<String>,
    pub(super) interrupted: Option<String>,
    pub(super) past_deadline: bool,
    pub(super) dropped_by_cap: bool,
    pub(super) closed: bool,
    pub(super) noticing: Noticing,
    pub(super) notice_trouble: Option<String>,
    pub(super) mesh_keys: u64,
    pub(super) first_start: Option<Moment>,
    pub(super) last_end: Option<Moment>,
    /// Start of the time that the deadline counts.
    pub(super) deadline_base: Option<Moment>,
    pub(super) revision: u64,
    /// What can be said to agents of each kind: known from the program, not from the journal.
    pub(super) talks: BTreeMap<AgentKind, Talk>,
    /// Messages for agents that are just starting, in the order in which they came.
    pub(super) early: Vec<EarlyMessage>,
    /// What is heard now happened while no host of this fleet lived.
    pub(super) observing: bool,
    /// Live agents whose output from before this host is not read yet.
    pub(super) unread: u32,
}

/// One attempt at one task.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) id: AgentId,
    /// Place in `Fleet::batches`, and place within that batch from 1.
    pub(super) batch: usize,
    pub(super) index: u32,
    pub(super) task: Arc<Task>,
    pub(super) state: AgentState,
    /// Its owner holds it in the queue.
    pub(super) held: bool,
    pub(super) work: Work,
    pub(super) started: Option<Moment>,
    pub(super) progress: Option<Moment>,
    /// When it was marked as making no progress.
    pub(super) stalled: Option<Moment>,
    pub(super) signs: Signs,
    pub(super) mark_notice: MarkNotice,
    pub(super) behind: u64,
    /// How often its shim never began.
    pub(super) requeued: u32,
    pub(super) checkpoint: Moment,
    pub(super) unsaved_work: bool,
    /// Messages that it was told while it ran, oldest first.
    pub(super) told: Vec<String>,
    /// How often its turn was told to end.
    pub(super) interrupts: u64,
    /// How many of those an earlier host decided on: nobody knows whether the agent ever heard of the last of them.
    pub(super) doubtful_interrupts: u64,
    pub(super) retry_of: Option<AgentId>,
    pub(super) retried_by: Option<AgentId>,
    /// The row as last shown; `None` when something changed since.
    pub(super) row: Option<Arc<Row>>,
}

/// What the fleet has learned of one agent kind.
#[derive(Debug, Default, Clone)]
pub(super) struct KindLedger {
    /// Ended agents with a known cost, and the sum of it.
    pub(super) known: u64,
    pub(super) sum: NanoUsd,
    /// Some agent of the kind has reported a cost.
    pub(super) reported: bool,
    /// Last cause that can hold a kind, and how many ends in a row had it.
    pub(super) streak: Option<(ExitReason, u32)>,
    pub(super) held: Option<String>,
}

/// The cap question and what became of earlier ones.
#[derive(Debug, Default, Clone)]
pub(super) struct CapQuestion {
    pub(super) open: Option<(QuestionId, Moment)>,
    pub(super) asked: u32,
    /// How each was answered, in words; only the newest are kept.
    pub(super) answers: BTreeMap<QuestionId, String>,
    /// The answer was to keep holding, and the cap has not changed since.
    pub(super) holding: bool,
    /// The one raise of `--on-cap raise=X` has been used.
    pub(super) raised: bool,
}

impl Fleet {
    /// Makes an empty fleet, and the record that says so.
    pub fn new(id: FleetId, options: FleetOptions, now: Moment) -> (Self, Vec<Effect>) {
        let mut fleet = Self::bare(id, now);
        let mut effects = Vec::new();
        fleet.record(Record::Created(options), &mut effects);
        (fleet, effects)
    }

    /// Rebuilds a fleet from its journal. No effect is wanted: what was decided has been done or will be looked up.
    pub fn restore(id: FleetId, records: impl IntoIterator<Item = (Moment, Record)>) -> Self {
        let mut fleet = Self::bare(id, Moment::default());
        for (at, record) in records {
            fleet.now = fleet.now.max(at);
            fleet.fold(&record);
        }
        fleet
    }

    fn bare(id: FleetId, now: Moment) -> Self {
        Self {
            id,
            now,
            options: FleetOptions::default(),
            agents: Vec::new(),
            queue: Vec::new(),
            batches: Vec::new(),
            kinds: BTreeMap::new(),
            env_missing: BTreeMap::new(),
            cap: None,
            cap_question: CapQuestion::default(),
            held: false,
            held_back: None,
            not_saved: None,
            interrupted: None,
            past_deadline: false,
            dropped_by_cap: false,
            closed: false,
            noticing: Noticing::default(),
            notice_trouble: None,
            mesh_keys: 0,
            first_start: None,
            last_end: None,
            deadline_base: None,
            revision: 0,
            talks: BTreeMap::new(),
            early: Vec::new(),
            observing: false,
            unread: 0,
        }
    }

    /// Takes one event and returns what has to be done, in order. An event that makes no sense changes nothing.
    #[must_use]
    pub fn apply(&mut self, now: Moment, event: Event) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = Vec::new();
        // Frequent, and nothing can start because of them.
        let is_quiet = matches!(
            event,
            Event::Started(_)
                | Event::Adopted(..)
                | Event::Exited(..)
                | Event::Progress(_)
                | Event::SeemsToWait(..)
                | Event::Behind(..)
        );
        let reply = self.take(event, &mut effects);
        self.release_early(&mut effects);
        if !is_quiet {
            self.settle(&mut effects);
            self.settle_notices(&mut effects);
        }
        effects.extend(reply);
        effects
    }

    /// Takes one event as [`Fleet::apply`] does, but starts nothing and asks nothing because of it: for a look at a
    /// fleet without a host, and for a host that has not yet looked at every agent it takes over.
    #[must_use]
    pub fn observe(&mut self, now: Moment, event: Event) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = Vec::new();
        self.observing = true;
        let reply = self.take(event, &mut effects);
        self.release_early(&mut effects);
        self.observing = false;
        effects.extend(reply);
        effects
    }

    /// Takes one event without settling; returns the reply if it was a command.
    fn take(&mut self, event: Event, effects: &mut Vec<Effect>) -> Option<Effect> {
        match event {
            Event::Command { ticket, command } => {
                let reply = self.command(ticket, command, effects)?;
                return Some(Effect::Reply(ticket, reply));
            }
            Event::Started(id) => self.started(id),
            Event::Adopted(id, sign) => self.adopted(id, sign, effects),
            Event::Exited(id, left_behind) => self.exited(id, left_behind),
            Event::Progress(id) => self.progressed(id),
            Event::SeemsToWait(id, prompt) => self.seems_to_wait(id, prompt),
            Event::Behind(id, bytes) => self.behind(id, bytes),
            Event::MeshKeys(keys) => self.mesh_keys = keys,
            Event::Facts { id, facts, offset } => self.facts(id, facts, offset, effects),
            Event::NeverBegan(id) => self.never_began(id, effects),
            Event::TreeGone(id, tree) => self.tree_gone(id, tree),
            Event::Changed(id, changed) => self.changed(id, changed),
            Event::Scanned(id, tails) => self.scanned(id, tails, effects),
            Event::Told { id, ticket, what, outcome } => {
                return Some(self.told(id, ticket, what, outcome, effects));
            }
            Event::EnvMissing(batch, names) => self.env_missing(batch, names),
            Event::SaveFailed(why) => self.save_failed(Some(why)),
            Event::Saved => self.save_failed(None),
            Event::NoticeTrouble(why) => self.notice_trouble = why,
            Event::Tick => self.tick(effects),
        }
        None
    }

    /// Returns the options in force.
    pub const fn options(&self) -> &FleetOptions {
        &self.options
    }

    /// Returns the task of an agent.
    pub fn task(&self, id: AgentId) -> Option<&Arc<Task>> {
        self.agent(id).map(|agent| &agent.task)
    }

    /// Returns the agents that the journal calls live: dispatched, and no end recorded.
    pub fn live(&self) -> Vec<AgentId> {
        self.agents.iter().filter(|agent| agent.is_live()).map(|agent| agent.id).collect()
    }

    /// Returns the queued agents in the order in which they would start.
    pub fn queue(&self) -> &[AgentId] {
        &self.queue
    }

    /// Returns the batches in order.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Returns when something last happened to it.
    pub const fn newest(&self) -> Moment {
        self.now
    }

    /// Returns the agent whose task this one tries again.
    pub fn retry_of(&self, id: AgentId) -> Option<AgentId> {
        self.agent(id)?.retry_of
    }

    /// Returns the batch of an agent and its place within it, from 1.
    pub fn batch_of(&self, id: AgentId) -> Option<(&Batch, u32)> {
        let agent = self.agent(id)?;
        self.batches.get(agent.batch).map(|batch| (batch, agent.index))
    }

    /// Returns when an agent was dispatched last, if it was.
    pub fn dispatched_at(&self, id: AgentId) -> Option<Moment> {
        self.agent(id)?.started
    }

    /// Returns when an agent last gave a sign of progress.
    pub fn progress(&self, id: AgentId) -> Option<Moment> {
        self.agent(id)?.progress
    }

    /// Returns what an agent has shown of its work.
    pub fn work(&self, id: AgentId) -> Option<&Work> {
        self.agent(id).map(|agent| &agent.work)
    }

    /// Returns the exit code of an agent whose tree is gone and whose output is still being read; `None` if a signal
    /// ended it.
    pub fn exit_code(&self, id: AgentId) -> Option<i32> {
        match &self.agent(id)?.state {
            AgentState::Reading { tree, .. } => tree.code(),
            _ => None,
        }
    }

    /// Returns the cap in force.
    pub const fn cap(&self) -> Option<NanoUsd> {
        self.cap
    }

    pub(super) fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.get(usize::try_from(id.0).ok()?.checked_sub(1)?)
    }

    pub(super) fn agent_mut(&mut self, id: AgentId) -> Option<&mut Agent> {
        self.agents.get_mut(usize::try_from(id.0).ok()?.checked_sub(1)?)
    }

    /// Makes a decision: it is folded into the fleet and goes to the journal.
    pub(super) fn record(&mut self, record: Record, effects: &mut Vec<Effect>) {
        self.fold(&record);
        effects.push(Effect::Record(record));
    }
}

impl Agent {
    /// Says whether it was dispatched and has not ended; its reservation counts.
    pub(super) const fn is_live(&self) -> bool {
        match self.state {
            AgentState::Starting
            | AgentState::Running
            | AgentState::Stopping { .. }
            | AgentState::Ending { .. }
            | AgentState::Reading { .. } => true,
            AgentState::Queued | AgentState::Ended(_) => false,
        }
    }

    /// Says whether it takes a slot: some process of its tree may be alive.
    pub(super) const fn has_slot(&self) -> bool {
        self.is_live() && !matches!(self.state, AgentState::Reading { .. })
    }

    /// Says whether its own process may be alive.
    pub(super) const fn may_run(&self) -> bool {
        matches!(
            self.state,
            AgentState::Starting | AgentState::Running | AgentState::Stopping { .. }
        )
    }

    pub(super) const fn end(&self) -> Option<&End> {
        match &self.state {
            AgentState::Ended(end) => Some(end),
            AgentState::Queued
            | AgentState::Starting
            | AgentState::Running
            | AgentState::Stopping { .. }
            | AgentState::Ending { .. }
            | AgentState::Reading { .. } => None,
        }
    }

    /// Returns why it was told to stop, if it was.
    pub(super) const fn stop_reason(&self) -> Option<&StopReason> {
        match &self.state {
            AgentState::Stopping { reason, .. } => Some(reason),
            AgentState::Ending { reason, .. } | AgentState::Reading { reason, .. } => {
                reason.as_ref()
            }
            AgentState::Queued
            | AgentState::Starting
            | AgentState::Running
            | AgentState::Ended(_) => None,
        }
    }

    /// Returns the state to change, and forgets the row as last shown.
    pub(super) fn touch(&mut self) -> &mut Self {
        self.row = None;
        self
    }
}
