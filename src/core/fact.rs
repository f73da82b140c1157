//! What an adapter learns from an agent's output.

use serde::{Deserialize, Serialize};

use super::money::NanoUsd;
use super::outcome::ExitReason;
use super::record::TranscriptState;

/// State of one tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// The tool has begun: the agent is in it until its end.
    Start,
    /// The tool has ended well. Without a start before it, this is a whole step.
    End,
    /// The tool has failed. Without a start before it, this is a whole step.
    Error,
}

/// Tokens and cost of one response of a model.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that was not cached.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
    /// Cost, if the agent told it.
    pub cost: Option<NanoUsd>,
    /// Cost worked out from the tokens and a table of prices; `None` for a model without a known price.
    #[serde(default)]
    pub estimate: Option<NanoUsd>,
}

/// Tokens and cost of a whole session, earlier runs of it included.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTotal {
    /// Tokens; `cost` and `estimate` are of the same tokens.
    pub usage: Usage,
}

/// An attempt that failed and is made again.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Which attempt failed, from 1.
    pub attempt: Option<u32>,
    /// How many are made before the program gives up.
    pub most: Option<u32>,
    /// Why, in a word or a few: `401`, `connection refused`.
    pub cause: String,
}

/// The closing word of an agent about its own task.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentResult {
    /// What the agent says of its success; `None` if it says nothing.
    pub completed: Option<bool>,
    /// Final answer; `None` if there is no such field, which is not the same as a blank one.
    pub answer: Option<String>,
    /// Error text; blank is none.
    pub error: String,
    /// Why it ended, if told.
    pub reason: Option<ExitReason>,
    /// Files it says it changed.
    pub files_changed: Vec<String>,
    /// Those of them that it says it deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_deleted: Vec<String>,
    /// The answer was cut off by a limit.
    pub truncated: bool,
    /// Some part had a wrong type or an absurd number and counts as missing.
    pub unparsed: bool,
}

/// One thing learned from the output. Order matters; each is applied once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// A tool call begins or ends.
    Step {
        /// Id of the call, by which its end finds its start; without one they meet by the tool's name.
        id: Option<String>,
        /// Name of the tool.
        tool: String,
        /// What it does, one line.
        text: String,
        /// Begin or end.
        state: StepState,
    },
    /// One response; the same id replaces the earlier numbers, no id always adds.
    Usage {
        /// Message id.
        id: Option<String>,
        /// Numbers.
        usage: Usage,
    },
    /// A running total of cost, instead of what usage lines add up to.
    TotalCost(NanoUsd),
    /// A cost was told that cannot be read or counted, so what the agent costs is not known.
    UnreadableCost,
    /// A total of tokens, instead of what usage lines add up to.
    TotalTokens(Usage),
    /// Totals of a session that may have had earlier runs: only what is new counts for this agent.
    SessionTotal(SessionTotal),
    /// Totals of this run alone, from what its program records beside its output: they raise what the output has told so
    /// far, and never lower it.
    RunTotal(Usage),
    /// The model that answers from here on.
    Model(String),
    /// The program tries again; anything else that is learned of its work says that it goes on.
    Retry(Retry),
    /// A call was not permitted.
    Denied {
        /// Name of the tool.
        tool: String,
        /// What it wanted to do, one line.
        text: String,
    },
    /// What the reader needs to go on here after a recovery, in words of its own; the last one counts.
    Notes(String),
    /// Text for the transcript.
    Text {
        /// Who says it.
        role: String,
        /// The text.
        text: String,
    },
    /// A piece of a text: pieces in a row of one role are one text, which ends with the next fact of another kind.
    Piece {
        /// Who says it.
        role: String,
        /// The piece.
        text: String,
    },
    /// How far the transcript is that tells the facts before this one; the last one counts.
    Transcript(Box<TranscriptState>),
    /// A checkpoint that the agent ran on its own work.
    Smoke {
        /// Green; `None` when the check says that there was nothing to check.
        ok: Option<bool>,
        /// What was checked.
        text: String,
    },
    /// The agent takes up a message that it was told while it runs.
    Heard,
    /// What a later resume of the session needs.
    Session(String),
    /// The closing word; the last one counts.
    Result(AgentResult),
    /// A line that claimed to be structured and was not understood; counted.
    Unknown,
    /// A line too long to be looked at; counted.
    Skipped,
}
