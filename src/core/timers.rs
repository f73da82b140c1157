//! What happens because time passes: idle timeouts, the deadline, stalled agents, checkpoints.

use std::time::Duration;

use super::agent::{AgentState, Stall, StopReason};
use super::event::Effect;
use super::fleet::{Agent, Fleet};
use super::id::AgentId;
use super::lifecycle::CHECKPOINT;
use super::moment::Moment;
use super::outcome::{ExitReason, Outcome};
use super::record::Record;

impl Fleet {
    /// Returns when [`super::Event::Tick`] is needed next, if nothing else happens before.
    pub fn next_tick(&self) -> Option<Moment> {
        let deadline = self.deadline().filter(|_| self.deadline_matters());
        let agents = self.agents.iter().filter(|agent| agent.may_run()).flat_map(|agent| {
            let stale = match agent.stalled {
                // It was marked before that was to be done about it.
                Some(since) => self.options.stale_stop.then_some(since),
                None => agent.progress.map(|progress| progress.after(self.stale_limit(agent))),
            };
            let idle = agent.task.idle_timeout.zip(agent.progress);
            let unsaved = agent.unsaved_work.then(|| agent.checkpoint.after(CHECKPOINT));
            [
                stale.filter(|_| matches!(agent.state, AgentState::Running)),
                unsaved.filter(|_| matches!(agent.state, AgentState::Running)),
                idle.map(|(limit, progress)| progress.after(limit))
                    .filter(|_| matches!(agent.state, AgentState::Running)),
                agent
                    .signs
                    .changes(self.now, self.event_limit(agent))
                    .filter(|_| matches!(agent.state, AgentState::Running)),
            ]
        });
        agents.flatten().chain(deadline).chain(self.next_notice()).min()
    }

    pub(super) fn tick(&mut self, effects: &mut Vec<Effect>) {
        if self.deadline().is_some_and(|end| self.now >= end) && self.deadline_matters() {
            self.pass_deadline(effects);
        }
        let running: Vec<_> = self
            .agents
            .iter()
            .filter(|agent| matches!(agent.state, AgentState::Running))
            .map(|agent| agent.id)
            .collect();
        for id in running {
            self.checkpoint(id, effects);
            self.mark(id);
            let Some(agent) = self.agent(id) else { continue };
            let quiet = self.now.since(agent.progress.unwrap_or(self.now));
            if agent.task.idle_timeout.is_some_and(|limit| quiet >= limit) {
                let limit = agent.task.idle_timeout.unwrap_or_default();
                self.stop_one(id, &StopReason::Idle(limit), effects);
                continue;
            }
            let limit = self.stale_limit(agent);
            if agent.stalled.is_none() && quiet >= limit {
                let now = self.now;
                if let Some(agent) = self.agent_mut(id) {
                    agent.touch().stalled = Some(now);
                }
                self.notice_mark(id);
            }
            self.stop_stalled(id, quiet, limit, effects);
        }
    }

    /// Asks an agent that is marked as stalled to end, if that is to be done with such.
    fn stop_stalled(
        &mut self,
        id: AgentId,
        quiet: Duration,
        limit: Duration,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.agent(id).filter(|agent| agent.stalled.is_some()) else { return };
        if self.options.stale_stop {
            let tool = agent.tool().map(|open| open.tool.clone());
            let stall = Stall { quiet, limit, tool, grace: self.options.stale_grace };
            self.stop_one(id, &StopReason::NoProgress(Box::new(stall)), effects);
        }
    }

    /// Returns when the grace of a live agent is over that was told to stop; `None` if it was not, or has ended.
    pub fn grace_ends(&self, id: AgentId) -> Option<Moment> {
        match &self.agent(id)?.state {
            AgentState::Stopping { reason: StopReason::NoProgress(stall), asked } => {
                Some(asked.after(stall.grace))
            }
            AgentState::Stopping { asked, .. } => Some(asked.after(self.options.grace)),
            AgentState::Queued
            | AgentState::Starting
            | AgentState::Running
            | AgentState::Ending { .. }
            | AgentState::Reading { .. }
            | AgentState::Ended(_) => None,
        }
    }

    /// Says whether an agent was asked to end and has the long grace of one that had stalled.
    pub fn is_asked_patiently(&self, id: AgentId) -> bool {
        let state = self.agent(id).map(|agent| &agent.state);
        matches!(state, Some(AgentState::Stopping { reason: StopReason::NoProgress(_), .. }))
    }

    fn pass_deadline(&mut self, effects: &mut Vec<Effect>) {
        self.record(Record::Deadline, effects);
        for id in self.queue.clone() {
            let why = "not started: the fleet's deadline has passed";
            self.end_unstarted(id, Outcome::Dropped, Some(ExitReason::Timeout), why, effects);
        }
        self.stop_live(&StopReason::Deadline, effects);
    }

    /// Says whether the deadline would change anything: something is queued or runs. After an interrupt everything is
    /// stopping already, and what is queued is kept for a resume.
    fn deadline_matters(&self) -> bool {
        let would_change =
            |agent: &Agent| agent.may_run() || matches!(agent.state, AgentState::Queued);
        !self.past_deadline && self.interrupted.is_none() && self.agents.iter().any(would_change)
    }

    fn deadline(&self) -> Option<Moment> {
        Some(self.deadline_base?.after(self.options.deadline?))
    }

    /// An agent that runs does nothing, and its last line looks like a question; `None`: it works again.
    pub(super) fn seems_to_wait(&mut self, id: AgentId, prompt: Option<String>) {
        if let Some(agent) = self.agent_mut(id)
            && matches!(agent.state, AgentState::Running)
        {
            agent.signs.waits = prompt;
            self.mark(id);
        }
    }

    /// Marks the agent as its signs say, or takes the mark away.
    pub(super) fn mark(&mut self, id: AgentId) {
        let Some(agent) = self.agent(id) else { return };
        let doubt = agent.signs.doubt(self.now, self.event_limit(agent));
        if agent.signs.mark != doubt
            && let Some(agent) = self.agent_mut(id)
        {
            agent.touch().signs.mark = doubt;
        }
        self.notice_mark(id);
    }

    /// Returns how long this agent may go without an event; `None` for one whose output need not have any.
    fn event_limit(&self, agent: &Agent) -> Option<Duration> {
        agent.task.traits.prompt.then(|| self.stale_limit(agent))
    }

    /// Returns how long this agent may go without progress before it is marked.
    fn stale_limit(&self, agent: &Agent) -> Duration {
        if agent.tool().is_some() { self.options.stale_tool } else { self.options.stale }
    }
}

impl Agent {
    /// Takes note of a sign of progress.
    pub(super) fn note_progress(&mut self, now: Moment) {
        self.progress = Some(now);
        (self.stalled, self.signs.waits) = (None, None);
    }

    /// Says whether it is marked as making no progress, or was told to stop for that.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.is_some() || matches!(self.stop_reason(), Some(StopReason::NoProgress(_)))
    }
}
