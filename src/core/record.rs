//! Decisions, as the journal keeps them. Folding them in order rebuilds a fleet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::agent::StopReason;
use super::changed::ChangedFiles;
use super::command::Answer;
use super::fact::{AgentResult, Retry};
use super::id::{AgentId, BatchId, QuestionId};
use super::ledger::Ledger;
use super::moment::Moment;
use super::money::NanoUsd;
use super::notice::Notice;
use super::options::FleetOptions;
use super::outcome::End;
use super::task::Task;

/// What an agent has shown of its work; saved with each checkpoint and whole with the end.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Tokens and money.
    pub ledger: Ledger,
    /// Tool calls so far.
    pub steps: u64,
    /// Tools that the agent is in, oldest first.
    pub open_tools: Vec<OpenTool>,
    /// Checkpoints that were green.
    pub smokes_green: u32,
    /// Checkpoints that were red.
    pub smokes_red: u32,
    /// Session of the agent's program.
    pub session: Option<String>,
    /// The model that answers.
    #[serde(default)]
    pub model: Option<String>,
    /// What is tried again, and since when it has been.
    #[serde(default)]
    pub retry: Option<(Retry, Moment)>,
    /// Calls that were not permitted.
    #[serde(default)]
    pub denied: u64,
    /// What the reader of the output needs to go on.
    #[serde(default)]
    pub notes: Option<String>,
    /// Messages that it has taken up.
    #[serde(default)]
    pub heard: u64,
    /// Interrupts of its turns that have had their effect.
    #[serde(default)]
    pub interrupts: u64,
    /// Its turn was interrupted then, and it does nothing until it is told something.
    #[serde(default)]
    pub idle_since: Option<Moment>,
    /// How far the account of the work is.
    #[serde(default)]
    pub transcript: TranscriptState,
    /// Files that changed in its folder meanwhile, if that was looked at.
    #[serde(default)]
    pub changed: Option<ChangedFiles>,
    /// Closing word of the agent.
    pub result: Option<AgentResult>,
    /// Lines that claimed to be structured and were not understood.
    pub unknown: u64,
    /// Lines too long to be looked at.
    pub skipped: u64,
    /// Bytes of `out` that are accounted for.
    pub offset: u64,
}

/// How far the account of an agent's work, its `transcript.log`, is; belongs to the offset beside it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptState {
    /// Bytes of the file that tell what was learned so far; 0 before its header.
    pub bytes: u64,
    /// Text that came in pieces and is no line yet.
    #[serde(default)]
    pub pending: Option<PendingText>,
    /// A private key was begun by a text and has not ended.
    #[serde(default)]
    pub is_in_key: bool,
    /// It has reached its bound, and says so.
    #[serde(default)]
    pub is_full: bool,
    /// Why nothing is written any more, a clause; `None` while it can be.
    #[serde(default)]
    pub trouble: Option<String>,
}

/// The beginning of a text that comes in pieces.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingText {
    /// Who says it.
    pub role: String,
    /// As much of it as a line could show.
    pub text: String,
    /// Characters after that.
    pub left_out: u64,
}

/// A tool call that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTool {
    /// Id of the call, if the program tells one.
    #[serde(default)]
    pub id: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// What it does, one line.
    pub text: String,
    /// When it was seen to begin.
    pub since: Moment,
}

impl OpenTool {
    /// Returns the call that an end belongs to: by its id, or where it has none by the tool's name.
    pub(super) fn find<'a>(open: &'a [Self], id: Option<&str>, tool: &str) -> Option<&'a Self> {
        Self::place(open, id, tool).and_then(|place| open.get(place))
    }

    /// Returns the place of that call; the one begun last where there are several.
    pub(super) fn place(open: &[Self], id: Option<&str>, tool: &str) -> Option<usize> {
        match id {
            Some(_) => open.iter().rposition(|open| open.id.as_deref() == id),
            None => open.iter().rposition(|open| open.tool == tool),
        }
    }
}

/// One decision. New kinds may be added; the meaning of one never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The fleet was made with these options.
    Created(FleetOptions),
    /// Options changed when the fleet was resumed.
    Options(FleetOptions),
    /// Tasks were queued, numbered from `first` on.
    Queued {
        /// Batch.
        batch: BatchId,
        /// Who submitted it.
        origin: Option<String>,
        /// Mark of the agent inside of which it was submitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inside: Option<String>,
        /// Number of the first task's agent.
        first: AgentId,
        /// Tasks in order.
        tasks: Vec<Arc<Task>>,
    },
    /// An ended agent's task was queued again as a new agent.
    Retried {
        /// The ended one.
        of: AgentId,
        /// The new one.
        id: AgentId,
    },
    /// The agent took a slot.
    Dispatched(AgentId),
    /// Its shim never began, so it is queued again.
    Requeued(AgentId),
    /// The agent was told to stop.
    Stopped(AgentId, StopReason),
    /// The agent is told this message.
    Told(AgentId, String),
    /// The agent was not told this message after all.
    NotTold(AgentId, String),
    /// The agent's turn is told to end, and to go on with this message.
    TurnInterrupted(AgentId, Option<String>),
    /// The agent's turn was not told to end after all, nor was it told this message.
    TurnNotInterrupted(AgentId, Option<String>),
    /// What the agent had shown so far.
    Checkpoint(AgentId, Box<Work>),
    /// The agent ended.
    Ended(AgentId, Box<End>, Box<Work>),
    /// The cap was changed.
    Cap(Option<NanoUsd>),
    /// The cap question was opened.
    Asked(QuestionId),
    /// The cap question was answered.
    Answered(QuestionId, Answer),
    /// The cap question was closed without an answer: nothing is queued any more.
    Withdrawn(QuestionId),
    /// Nothing leaves the queue.
    Held,
    /// Nothing leaves the queue until the owner says so: it has waited since then without a host.
    HeldBack(Moment),
    /// The queue goes on.
    Released,
    /// These agents do not leave the queue.
    AgentsHeld(Vec<AgentId>),
    /// These agents leave the queue again when it is their turn.
    AgentsReleased(Vec<AgentId>),
    /// Nothing of this kind leaves the queue, for this cause.
    KindHeld(String, String),
    /// The queue has this order.
    Order(Vec<AgentId>),
    /// A queued task was replaced.
    Edited(AgentId, Arc<Task>),
    /// Fleet was told to end; the signal's name.
    Interrupted(String),
    /// The deadline has passed.
    Deadline,
    /// A host took the fleet over after another one had gone.
    Resumed,
    /// No more tasks will come.
    Closed,
    /// People were told this.
    Noticed(Notice),
}
