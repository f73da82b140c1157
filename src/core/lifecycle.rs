//! From queued to ended: what each event does to an agent.

use super::agent::{AgentState, StopReason};
use super::event::{Effect, Tails, TreeEnd, Urgency};
use super::fact::{Fact, StepState};
use super::fleet::{Agent, Fleet};
use super::id::{AgentId, BatchId};
use super::judge;
use super::ledger::Tokens;
use super::moment::Moment;
use super::outcome::{End, ExitReason, Outcome};
use super::record::{OpenTool, Record, Work};

/// What is said of a task that the owner took back before it ran.
pub(super) const CANCELLED: &str = "cancelled before it started";
/// Tools that can be open at once; the oldest is taken as ended when there are more.
const OPEN_TOOLS: usize = 64;
/// Text of a tool call that is kept for the row.
const TOOL_TEXT_CHARS: usize = 200;
/// Ends in a row for one cause after which a kind is held.
const STREAK: u32 = 3;
/// Least time between two checkpoints of an agent, in seconds (what a recovery has to read again).
pub(super) const CHECKPOINT: std::time::Duration = std::time::Duration::from_secs(5);

impl Fleet {
    pub(super) fn started(&mut self, id: AgentId) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(id)
            && matches!(agent.state, AgentState::Starting)
        {
            let agent = agent.touch();
            agent.state = AgentState::Running;
            agent.progress = Some(now);
        }
    }

    /// An earlier host's agent runs. That this host has come is no sign of its.
    pub(super) fn adopted(&mut self, id: AgentId, sign: Option<Moment>, effects: &mut Vec<Effect>) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(id)
            && agent.has_slot()
        {
            let agent = agent.touch();
            if matches!(agent.state, AgentState::Starting) {
                agent.state = AgentState::Running;
            }
            agent.signs.adopt(now);
            // The host before may have gone before it could tell it, so that it may be interrupted again.
            agent.doubtful_interrupts = agent.interrupts;
            agent.progress = agent.progress.max(agent.started).max(sign).map(|sign| sign.min(now));
        }
        // The host before may have gone before it could.
        self.close_when_done(id, effects);
    }

    /// The shim was started and never began. It is queued again once, or as often as a host has died meanwhile, which is
    /// no fault of the shim's; while Fleet ends, it is interrupted.
    pub(super) fn never_began(&mut self, id: AgentId, effects: &mut Vec<Effect>) {
        let Some(agent) = self.agent(id) else { return };
        let may_again = agent.requeued == 0 || self.observing;
        match agent.state.clone() {
            AgentState::Starting if may_again && self.interrupted.is_none() => {
                // Nothing can have been reported; what was all the same must not be gone after a restart.
                self.save_work(id, effects);
                self.record(Record::Requeued(id), effects);
            }
            AgentState::Starting if self.interrupted.is_none() => {
                let why = "its shim began twice and could not make its files: make room on the disk of the state folder";
                self.end_unstarted(id, Outcome::Failed, Some(ExitReason::Spawn), why, effects);
            }
            AgentState::Starting => {
                let why = "interrupted before it started";
                self.end_unstarted(id, Outcome::Interrupted, None, why, effects);
            }
            AgentState::Stopping { reason, .. } => {
                let (outcome, _, why) = judge::by_stop(&reason);
                let why = match reason {
                    StopReason::Owner => CANCELLED.to_owned(),
                    _ => why,
                };
                self.end_unstarted(id, outcome, None, &why, effects);
            }
            AgentState::Queued
            | AgentState::Running
            | AgentState::Ending { .. }
            | AgentState::Reading { .. }
            | AgentState::Ended(_) => {}
        }
    }

    pub(super) fn exited(&mut self, id: AgentId, left_behind: u32) {
        if let Some(agent) = self.agent_mut(id)
            && (agent.may_run() || matches!(agent.state, AgentState::Ending { .. }))
        {
            let reason = agent.stop_reason().cloned();
            agent.touch().state = AgentState::Ending { left_behind, reason };
        }
    }

    pub(super) fn tree_gone(&mut self, id: AgentId, tree: TreeEnd) {
        if let Some(agent) = self.agent_mut(id)
            && agent.has_slot()
        {
            // One that had ended by itself before it was asked to was not stopped, whichever word came first.
            let asked = match agent.state {
                AgentState::Stopping { asked, .. } => Some(asked),
                _ => None,
            };
            let was_over =
                asked.is_some_and(|asked| tree.at < asked) && !tree.signalled && !tree.timed_out;
            let reason = agent.stop_reason().filter(|_| !was_over).cloned();
            agent.touch().state = AgentState::Reading { tree: Box::new(tree), reason };
        }
    }

    pub(super) fn behind(&mut self, id: AgentId, bytes: u64) {
        if let Some(agent) = self.agent_mut(id)
            && agent.is_live()
        {
            agent.touch().behind = bytes;
        }
    }

    pub(super) fn progressed(&mut self, id: AgentId) {
        let now = self.now;
        if let Some(agent) = self.agent_mut(id)
            && agent.has_slot()
        {
            agent.touch().note_progress(now);
            self.mark(id);
        }
    }

    pub(super) fn facts(
        &mut self,
        id: AgentId,
        facts: Vec<Fact>,
        offset: u64,
        effects: &mut Vec<Effect>,
    ) {
        let (now, observing) = (self.now, self.observing);
        let Some(agent) = self.agent_mut(id).filter(|agent| agent.is_live()) else { return };
        let agent = agent.touch();
        agent.work.offset = agent.work.offset.max(offset);
        agent.unsaved_work = true;
        let before = agent.work.ledger.clone();
        let has_spoken = facts.iter().any(|fact| matches!(fact, Fact::Result(_)));
        // These are told again whenever somebody begins to read.
        let is_old = |fact: &Fact| matches!(fact, Fact::RunTotal(_) | Fact::Model(_));
        let has_output = facts.is_empty() || !facts.iter().all(is_old);
        for fact in facts {
            agent.signs.hear(&fact, &agent.work, now);
            if let Fact::Result(result) = &fact {
                agent.end_turn(result, now);
            }
            learn(&mut agent.work, fact, now);
        }
        let spent = agent.work.ledger != before;
        // What was written while no host lived says when by its time, which is known already.
        if (has_output || spent) && !observing {
            agent.note_progress(now);
        }
        if has_spoken {
            self.close_when_done(id, effects);
        }
        self.note_reporting(id);
        self.mark(id);
        self.checkpoint(id, effects);
        if spent {
            self.enforce_budget(id, effects);
        }
    }

    pub(super) fn checkpoint(&mut self, id: AgentId, effects: &mut Vec<Effect>) {
        let now = self.now;
        let is_due = |agent: &Agent| agent.is_live() && now.since(agent.checkpoint) >= CHECKPOINT;
        if self.agent(id).is_some_and(is_due) {
            self.save_work(id, effects);
        }
    }

    fn save_work(&mut self, id: AgentId, effects: &mut Vec<Effect>) {
        if let Some(agent) = self.agent(id).filter(|agent| agent.unsaved_work) {
            let work = Box::new(agent.work.clone());
            self.record(Record::Checkpoint(id, work), effects);
        }
    }

    /// The output has been read to its end: the agent is judged, and its end recorded once.
    pub(super) fn scanned(&mut self, id: AgentId, tails: Tails, effects: &mut Vec<Effect>) {
        let Some(agent) = self.agent(id) else { return };
        let AgentState::Reading { tree, reason } = &agent.state else { return };
        let mut end =
            judge::judge(reason.as_ref(), tree, agent.work.result.as_ref(), &tails, &agent.task);
        if end.outcome == Outcome::Timeout && end.error.is_empty() {
            end.error = judge::timeout_words(agent.task.timeout);
        }
        end.tails = tails;
        let work = Box::new(agent.work.clone());
        let kind = agent.task.kind.clone();
        self.record(Record::Ended(id, Box::new(end), work), effects);
        self.hold_kind(&kind, effects);
    }

    fn hold_kind(&mut self, kind: &super::task::AgentKind, effects: &mut Vec<Effect>) {
        let Some(ledger) = self.kinds.get(kind) else { return };
        let Some((reason, count)) = ledger.streak else { return };
        if count >= STREAK && ledger.held.is_none() {
            let cause = format!("{count} agents in a row ended with {}", reason.as_str());
            self.record(Record::KindHeld(kind.0.clone(), cause), effects);
        }
    }

    pub(super) fn env_missing(&mut self, batch: BatchId, names: Vec<String>) {
        if names.is_empty() {
            self.env_missing.remove(&batch);
        } else {
            self.env_missing.insert(batch, names);
        }
    }

    /// Tells one live agent to stop. The second time its owner says so it is killed, whatever the reason of the first; the
    /// long grace of one that has stalled is cut short before that, by any other reason. Says whether there was anything
    /// to stop.
    pub(super) fn stop_one(
        &mut self,
        id: AgentId,
        reason: &StopReason,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(agent) = self.agent(id) else { return false };
        match &agent.state {
            AgentState::Starting | AgentState::Running => {
                self.record(Record::Stopped(id, reason.clone()), effects);
                let is_patient = matches!(reason, StopReason::NoProgress(_));
                let urgency = if is_patient { Urgency::AskPatiently } else { Urgency::Ask };
                effects.push(Effect::Stop(id, urgency));
                true
            }
            AgentState::Stopping { reason: StopReason::NoProgress(_), .. } => {
                if !matches!(reason, StopReason::NoProgress(_)) {
                    self.record(Record::Stopped(id, reason.clone()), effects);
                    effects.push(Effect::Stop(id, Urgency::Ask));
                }
                true
            }
            AgentState::Stopping { .. } | AgentState::Ending { .. } => {
                if *reason == StopReason::Owner {
                    effects.push(Effect::Stop(id, Urgency::Kill));
                }
                true
            }
            AgentState::Queued | AgentState::Reading { .. } | AgentState::Ended(_) => false,
        }
    }

    /// Tells all live agents to stop, together.
    pub(super) fn stop_live(&mut self, reason: &StopReason, effects: &mut Vec<Effect>) -> u32 {
        let ids: Vec<_> =
            self.agents.iter().filter(|agent| agent.may_run()).map(|agent| agent.id).collect();
        let mut stopped = 0;
        for id in ids {
            stopped += u32::from(self.stop_one(id, reason, effects));
        }
        stopped
    }

    /// Ends an agent of which no process ever ran.
    pub(super) fn end_unstarted(
        &mut self,
        id: AgentId,
        outcome: Outcome,
        reason: Option<ExitReason>,
        error: &str,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.agent(id).filter(|agent| agent.end().is_none()) else { return };
        let work = Box::new(agent.work.clone());
        let end = End {
            outcome,
            reason,
            error: error.to_owned(),
            truncated: false,
            at: self.now,
            process: None,
            run_time: None,
            swept: Vec::new(),
            escalated: false,
            tails: Tails::default(),
        };
        self.record(Record::Ended(id, Box::new(end), work), effects);
        effects.push(Effect::Forget(id));
    }
}

/// Takes one fact into what is known of an agent's work.
fn learn(work: &mut Work, fact: Fact, now: Moment) {
    let goes_on = matches!(
        fact,
        Fact::Step { .. }
            | Fact::Usage { .. }
            | Fact::Text { .. }
            | Fact::Piece { .. }
            | Fact::Result(_)
    );
    if goes_on {
        work.retry = None;
    }
    if matches!(fact, Fact::Step { .. } | Fact::Usage { .. } | Fact::Piece { .. }) {
        work.idle_since = None;
    }
    match fact {
        Fact::Step { id, tool, text, state } => {
            let text = text.chars().take(TOOL_TEXT_CHARS).collect();
            step(work, OpenTool { id, tool, text, since: now }, state);
        }
        Fact::Usage { id, usage } => work.ledger.add(id.as_deref(), &usage),
        Fact::TotalCost(total) => work.ledger.total_cost(total),
        Fact::UnreadableCost => work.ledger.unreadable_cost(),
        Fact::TotalTokens(usage) => work.ledger.total_tokens(Tokens::from(&usage)),
        Fact::Smoke { ok: Some(true), .. } => {
            work.smokes_green = work.smokes_green.saturating_add(1);
        }
        Fact::Smoke { ok: Some(false), .. } => {
            work.smokes_red = work.smokes_red.saturating_add(1);
        }
        Fact::Text { .. } | Fact::Piece { .. } | Fact::Smoke { ok: None, .. } => {}
        Fact::Transcript(state) => work.transcript = *state,
        Fact::SessionTotal(total) => work.ledger.session_total(&total.usage),
        Fact::RunTotal(total) => work.ledger.run_total(&total),
        Fact::Model(model) => work.model = Some(model),
        Fact::Retry(retry) => {
            let since = work.retry.take().map_or(now, |(_, since)| since);
            work.retry = Some((retry, since));
        }
        Fact::Denied { .. } => work.denied = work.denied.saturating_add(1),
        Fact::Notes(notes) => work.notes = Some(notes),
        Fact::Heard => {
            work.heard = work.heard.saturating_add(1);
            work.idle_since = None;
            // What it has said of an earlier turn is not its last word.
            work.result = None;
        }
        Fact::Session(session) => work.session = Some(session),
        Fact::Result(result) => work.result = Some(result),
        Fact::Unknown => work.unknown = work.unknown.saturating_add(1),
        Fact::Skipped => work.skipped = work.skipped.saturating_add(1),
    }
}

/// Counts each tool call once: at its start, or at its end if no start was seen.
fn step(work: &mut Work, call: OpenTool, state: StepState) {
    let open = OpenTool::place(&work.open_tools, call.id.as_deref(), &call.tool);
    match (state, open) {
        // Told once more: a program that names its calls means the same one.
        (StepState::Start, Some(place)) if call.id.is_some() => {
            if let Some(open) = work.open_tools.get_mut(place) {
                *open = OpenTool { since: open.since, ..call };
            }
        }
        (StepState::Start, _) => {
            work.steps = work.steps.saturating_add(1);
            if work.open_tools.len() >= OPEN_TOOLS {
                work.open_tools.remove(0);
            }
            work.open_tools.push(call);
        }
        (StepState::End | StepState::Error, Some(place)) => {
            work.open_tools.remove(place);
        }
        (StepState::End | StepState::Error, None) => work.steps = work.steps.saturating_add(1),
    }
}

impl Agent {
    /// Returns the tool that the agent is in, the one begun last.
    pub(super) fn tool(&self) -> Option<&OpenTool> {
        self.work.open_tools.last()
    }
}
