//! Telling an agent more: while it runs, within its turn or in place of it, or after its end by a new agent that goes on
//! in its session.
//!
//! What may go here: who can be told, what is recorded of it, and what can be done instead. What may not: how a message
//! looks to a program, writing it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::agent::AgentState;
use super::command::{Refusal, Reply};
use super::commands::Source;
use super::early::EarlyMessage;
use super::event::{Effect, Steering};
use super::fact::AgentResult;
use super::fleet::{Agent, Fleet};
use super::id::{AgentId, BatchId, Ticket};
use super::ledger::Ledger;
use super::moment::Moment;
use super::outcome::ExitReason;
use super::record::Record;
use super::task::{AgentKind, Continues, Talk, Task};

/// Messages to one agent that can wait until it takes them up, so that no journal and no row grows without end.
const UNHEARD: usize = 64;
/// Messages that one agent is told at most: each is kept with it.
const TOLD: usize = 1_000;
/// Most bytes of a message, those for a follow-up included, which is a task.
const MESSAGE_BYTES: usize = 1 << 20;
/// Most bytes of the name of a session.
const SESSION_BYTES: usize = 200;

impl Fleet {
    /// Tells the fleet what can be said to agents of each kind; nothing to those of kinds that are not there.
    pub fn set_talks(&mut self, talks: BTreeMap<AgentKind, Talk>) {
        self.talks = talks;
    }

    /// Returns the agent in whose session this one goes on.
    pub fn goes_on_from(&self, id: AgentId) -> Option<AgentId> {
        Some(self.agent(id)?.task.continues.as_ref()?.agent)
    }

    /// Returns what can be said to the agent of a task. A command line that was given word for word is not known.
    fn talk(&self, task: &Task) -> Talk {
        let known = self.talks.get(task.driven_as()).filter(|_| task.command.is_none());
        known.copied().unwrap_or_default()
    }

    /// Tells an agent more. `None`: the answer comes once it is known whether it was told.
    pub(super) fn steer(
        &mut self,
        ticket: Ticket,
        id: AgentId,
        text: String,
        batch: BatchId,
        effects: &mut Vec<Effect>,
    ) -> Option<Reply> {
        let Some(agent) = self.agent(id) else {
            return refused(format!("there is no agent {id} in this fleet"));
        };
        if let Some(why) = no_message(&text) {
            return refused(why);
        }
        if agent.end().is_some() {
            return Some(self.follow_up(id, text, batch, effects));
        }
        if let Some(why) = why_not_now(agent, || self.why_not_told(agent)) {
            return refused(why);
        }
        if matches!(agent.state, AgentState::Starting) {
            // Nothing of it is recorded before it can be told: it would count as told after the end of this host.
            self.early.push(EarlyMessage { ticket, id, text, batch });
            return None;
        }
        self.record(Record::Told(id, text.clone()), effects);
        effects.push(Effect::Tell(id, ticket, Steering::Message(text)));
        None
    }

    /// Ends the turn of an agent and keeps the agent. `None`: the answer comes once it is known whether it was told.
    pub(super) fn interrupt_turn(
        &mut self,
        ticket: Ticket,
        id: AgentId,
        text: Option<String>,
        effects: &mut Vec<Effect>,
    ) -> Option<Reply> {
        let Some(agent) = self.agent(id) else {
            return refused(format!("there is no agent {id} in this fleet"));
        };
        if let Some(why) = text.as_deref().and_then(no_message) {
            return refused(why);
        }
        if agent.end().is_some() {
            return refused(format!(
                "{id} has ended, so that there is nothing to interrupt: a message alone goes on in its session, where its kind can"
            ));
        }
        let why = why_not_now(agent, || self.why_not_interrupted(agent, text.is_some()));
        let is_starting = matches!(agent.state, AgentState::Starting);
        let no_turn = || {
            is_starting
                .then(|| format!("{id} is just starting and has no turn: interrupt it in a moment"))
        };
        if let Some(why) = why.or_else(no_turn) {
            return refused(why);
        }
        let has_no_turn = agent.work.idle_since.is_some();
        let what = match text {
            Some(text) if has_no_turn => {
                self.record(Record::Told(id, text.clone()), effects);
                Steering::Message(text)
            }
            text => {
                self.record(Record::TurnInterrupted(id, text.clone()), effects);
                Steering::Interrupt(text)
            }
        };
        effects.push(Effect::Tell(id, ticket, what));
        None
    }

    /// Returns why the turn of a running agent cannot be ended, and what can be done instead.
    fn why_not_interrupted(&self, agent: &Agent, has_text: bool) -> Option<String> {
        let (id, kind, talk) = (agent.id, &agent.task.kind, self.talk(&agent.task));
        if !talk.interrupts {
            let instead = match (talk.messages, talk.resumes) {
                (true, _) => "tell it without an interrupt, or stop it",
                (false, true) => "stop it, and what it is told then goes on in its session",
                (false, false) => "stop it and submit its task again with what it should know",
            };
            return Some(format!("the turn of {kind} cannot be interrupted: {instead}"));
        }
        if !has_text && agent.work.idle_since.is_some() {
            return Some(format!("the turn of {id} is interrupted: tell it what to go on with"));
        }
        if agent.interrupts > agent.work.interrupts.max(agent.doubtful_interrupts) {
            return Some(format!("the turn of {id} is already being interrupted"));
        }
        self.why_not_told(agent)
    }

    /// Returns why a running agent cannot be told anything, and what can be done instead.
    fn why_not_told(&self, agent: &Agent) -> Option<String> {
        let (id, kind, talk) = (agent.id, &agent.task.kind, self.talk(&agent.task));
        if !talk.messages {
            let instead = if talk.resumes {
                "send it when the agent has ended, which goes on in its session; or stop it first"
            } else {
                "stop it and submit its task again with what it should know"
            };
            return Some(format!("{kind} takes no messages while it runs: {instead}"));
        }
        if agent.is_over() {
            return Some(format!(
                "{id} has given its answer and is about to end: send it when it has, which goes on in its session"
            ));
        }
        let early = self.early_for(id);
        if agent.told.len() + early >= TOLD {
            return Some(format!(
                "{id} has been told {TOLD} messages: send this one when it has ended"
            ));
        }
        if agent.unheard().len() + early >= UNHEARD {
            return Some(format!(
                "{id} has not taken up {UNHEARD} earlier messages: wait until it has"
            ));
        }
        None
    }

    /// Lets an agent that takes messages end once it has said its last word. What it was told before, it still takes up.
    pub(super) fn close_when_done(&self, id: AgentId, effects: &mut Vec<Effect>) {
        let is_done = |agent: &&Agent| agent.may_run() && agent.is_over();
        if let Some(agent) = self.agent(id).filter(is_done)
            && self.talk(&agent.task).messages
        {
            effects.push(Effect::CloseInput(id));
        }
    }

    /// An agent was told something, or why it was not.
    pub(super) fn told(
        &mut self,
        id: AgentId,
        ticket: Ticket,
        what: Steering,
        outcome: Result<(), String>,
        effects: &mut Vec<Effect>,
    ) -> Effect {
        let reply = match (outcome, what) {
            (Ok(()), Steering::Message(_)) => Reply::Told(id),
            (Ok(()), Steering::Interrupt(_)) => Reply::TurnInterrupted(id),
            (Err(why), what) => {
                self.record(
                    match what {
                        Steering::Message(text) => Record::NotTold(id, text),
                        Steering::Interrupt(text) => Record::TurnNotInterrupted(id, text),
                    },
                    effects,
                );
                Reply::Refused(Refusal(format!("{id} was not told: {why}")))
            }
        };
        Effect::Reply(ticket, reply)
    }

    pub(super) fn fold_told(&mut self, id: AgentId, text: Option<&String>) {
        if let Some(agent) = self.agent_mut(id) {
            agent.touch().told.extend(text.cloned());
        }
    }

    pub(super) fn fold_not_told(&mut self, id: AgentId, text: Option<&String>) {
        if let Some(agent) = self.agent_mut(id)
            && let Some(place) = agent.told.iter().rposition(|told| Some(told) == text)
        {
            agent.touch().told.remove(place);
        }
    }

    /// Queues a new agent that goes on in an ended one's session.
    fn follow_up(
        &mut self,
        id: AgentId,
        text: String,
        batch: BatchId,
        effects: &mut Vec<Effect>,
    ) -> Reply {
        if let Some(known) = self.batches.iter().find(|known| known.id == batch) {
            return Reply::Queued(batch, known.agents.clone());
        }
        if let Some(refusal) = self.refuse_when_ending() {
            return Reply::Refused(refusal);
        }
        match self.follow_up_task(id, text) {
            Ok(task) => {
                // Whoever may tell an agent may tell the one that goes on for it.
                let before = self.agent(id).and_then(|agent| self.batches.get(agent.batch));
                let inside = before.and_then(|batch| batch.inside.clone());
                let from = Source { origin: None, inside };
                self.queue_tasks(batch, from, vec![Arc::new(task)], effects)
            }
            Err(why) => Reply::Refused(Refusal(why)),
        }
    }

    fn follow_up_task(&self, id: AgentId, text: String) -> Result<Task, String> {
        let agent =
            self.agent(id).ok_or_else(|| format!("there is no agent {id} in this fleet"))?;
        let task = &agent.task;
        if !self.talk(task).resumes {
            return Err(match &task.command {
                Some(_) => format!(
                    "{id} has ended, and how its command line goes on in a session is not known: submit a new task"
                ),
                None => format!(
                    "{id} has ended, and {} cannot go on in a session: retry it, or submit a new task",
                    task.kind
                ),
            });
        }
        let Some(session) = agent.work.session.as_deref().filter(|id| is_session(id)) else {
            return Err(format!(
                "{id} has ended before it named a session that could be gone on with: retry it, or submit a new task"
            ));
        };
        if let Some(other) =
            self.agents.iter().find(|other| other.end().is_none() && other.is_in(session))
        {
            let other = other.id;
            return Err(format!(
                "{other} goes on in the session of {id} and has not ended: tell {other} instead"
            ));
        }
        if !task.env_stored.is_empty() {
            let names = task.env_stored.join(", ");
            return Err(format!(
                "the values given to {id} with --env ({names}) are not kept; submit a new task"
            ));
        }
        let continues = Some(Continues { agent: id, session: session.to_owned() });
        // What the batch has in common is in the session already.
        Ok(Task { text, context: None, continues, ..task.as_ref().clone() })
    }

    /// Makes the ledger that an agent begins with: in a session that had earlier runs, what those have spent is not its.
    pub(super) fn first_ledger(&self, task: &Task) -> Ledger {
        let session = task.continues.as_ref().map(|continues| continues.session.as_str());
        let newest = session.and_then(|session| {
            self.agents.iter().rev().find(|agent| agent.end().is_some() && agent.is_in(session))
        });
        let new = Ledger::new(task.traits.pays);
        newest.map_or(new, |agent| agent.work.ledger.continued())
    }
}

impl Agent {
    /// Says whether it works or has worked in a session.
    fn is_in(&self, session: &str) -> bool {
        let begun_in = self.task.continues.as_ref().map(|continues| continues.session.as_str());
        self.work.session.as_deref().or(begun_in) == Some(session)
    }

    /// Takes the closing word of a turn: that of one which was interrupted as it was asked to is none of the agent, which
    /// then does nothing.
    pub(super) fn end_turn(&mut self, result: &AgentResult, now: Moment) {
        let was_asked = self.interrupts > self.work.interrupts;
        let is_cut = result.completed == Some(false) && result.reason == Some(ExitReason::Signal);
        self.work.interrupts = self.interrupts;
        self.work.idle_since = (was_asked && is_cut).then_some(now);
        if self.work.idle_since.is_some() {
            self.work.open_tools.clear();
        }
    }

    /// Says whether it has said its last word, as far as is known.
    const fn is_over(&self) -> bool {
        self.work.result.is_some() && self.work.idle_since.is_none()
    }

    /// Returns since when it does nothing because its turn was interrupted and it was told nothing since.
    pub(super) fn idle_since(&self) -> Option<Moment> {
        self.work.idle_since.filter(|_| self.unheard().is_empty())
    }

    /// Returns the messages that it was told and that it is not known to have taken up, oldest first.
    pub(super) fn unheard(&self) -> &[String] {
        let heard = usize::try_from(self.work.heard).unwrap_or(usize::MAX);
        self.told.get(heard..).unwrap_or_default()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is what a command with a later answer returns")]
const fn refused(why: String) -> Option<Reply> {
    Some(Reply::Refused(Refusal(why)))
}

/// Returns why a text is no message.
fn no_message(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("the message is blank: say what the agent is to know".to_owned());
    }
    (text.len() > MESSAGE_BYTES).then(|| {
        format!(
            "the message has {} KB and a fleet takes {}: write it into a file and name that file",
            text.len() / 1000,
            MESSAGE_BYTES / 1000
        )
    })
}

/// Returns why an agent that has not ended cannot be told something; `why_not` says whether it could be if it ran.
fn why_not_now(agent: &Agent, why_not: impl FnOnce() -> Option<String>) -> Option<String> {
    let id = agent.id;
    match &agent.state {
        // Until it runs a message waits for it.
        AgentState::Running | AgentState::Starting => why_not(),
        AgentState::Ended(_) => None,
        AgentState::Queued => Some(format!("{id} has not started: edit its task instead")),
        AgentState::Stopping { .. } | AgentState::Ending { .. } => Some(format!(
            "{id} is ending: when it has ended, a message goes on in its session, where its kind can"
        )),
        AgentState::Reading { .. } => {
            Some(format!("{id} has ended and its output is still being read: tell it in a moment"))
        }
    }
}

/// Says whether a name that a program gave its session is one that can be given back to it: a word, and no option.
fn is_session(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    begins && name.len() <= SESSION_BYTES && name.bytes().all(is_plain)
}
