//! How an agent ended.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::{ProcessEnd, Tails};
use super::moment::Moment;

/// How an agent ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was asked to, as far as can be told.
    Done,
    /// It could not start, failed, or says so itself.
    Failed,
    /// Its time, its idle time or the fleet's deadline was up.
    Timeout,
    /// The owner stopped it or took it out of the queue.
    Cancelled,
    /// Fleet was interrupted, or its shim got a signal that nobody decided.
    Interrupted,
    /// No progress past the threshold and the grace.
    Stalled,
    /// Stopped because it went past its budget, by Fleet or by its own program.
    OverBudget,
    /// Its shim died without a record.
    Lost,
    /// Never started: the queue was dropped.
    Dropped,
}

impl Outcome {
    /// Returns the word that screens, JSON and disk use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Stalled => "stalled",
            Self::OverBudget => "over_budget",
            Self::Lost => "lost",
            Self::Dropped => "dropped",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the field's words and say all there is")]
pub enum ExitReason {
    Completed,
    MaxSteps,
    MaxTokens,
    Budget,
    Auth,
    RateLimit,
    Quota,
    Network,
    Server,
    Context,
    Refused,
    Permission,
    NoOutput,
    Spawn,
    Signal,
    Timeout,
    Error,
}

impl ExitReason {
    /// Every reason, for look-ups by name.
    pub const ALL: [Self; 17] = [
        Self::Completed,
        Self::MaxSteps,
        Self::MaxTokens,
        Self::Budget,
        Self::Auth,
        Self::RateLimit,
        Self::Quota,
        Self::Network,
        Self::Server,
        Self::Context,
        Self::Refused,
        Self::Permission,
        Self::NoOutput,
        Self::Spawn,
        Self::Signal,
        Self::Timeout,
        Self::Error,
    ];

    /// Returns the word that JSON and disk use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxSteps => "max_steps",
            Self::MaxTokens => "max_tokens",
            Self::Budget => "budget",
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Network => "network",
            Self::Server => "server",
            Self::Context => "context",
            Self::Refused => "refused",
            Self::Permission => "permission",
            Self::NoOutput => "no_output",
            Self::Spawn => "spawn",
            Self::Signal => "signal",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }

    /// Finds a reason by its word; any other text is `None`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// The end of one agent, recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// In one word.
    pub outcome: Outcome,
    /// Why; `None` for agents that never started.
    pub reason: Option<ExitReason>,
    /// One line for people, empty when done.
    pub error: String,
    /// The answer was cut off by a limit.
    pub truncated: bool,
    /// When.
    pub at: Moment,
    /// How its process ended; `None` if none ever ran.
    pub process: Option<ProcessEnd>,
    /// How long it ran.
    pub run_time: Option<Duration>,
    /// Names of processes that were ended after it.
    pub swept: Vec<String>,
    /// It had to be killed after its grace.
    pub escalated: bool,
    /// What the reader saw last.
    pub tails: Tails,
}
