//! Notices: what a person who looks elsewhere should hear of.
//!
//! What may go here: what a notice is, and its words. What may not: when there is one (`noticing`), how people hear of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::AgentId;
use super::moment::Moment;

/// Agents that a notice names. Nobody reads more in a moment; the others are counted.
pub(super) const MOST_AGENTS: usize = 32;

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The journal cannot be written.
    NotSaved,
    /// The cap is reached with work queued.
    Cap,
    /// Four fifths of the cap are spent.
    NearCap,
    /// An agent kind is held for one cause.
    Held,
    /// Agents are marked: they do not get on.
    Stalled,
    /// Agents have failed, whatever their outcome is called.
    Failed,
    /// The last agent has ended, and nothing is queued.
    Done,
}

impl NoticeKind {
    /// Every kind, in the order in which those of one moment are told: the end of all is the last word.
    pub const ALL: [Self; 7] = [
        Self::NotSaved,
        Self::Cap,
        Self::NearCap,
        Self::Held,
        Self::Stalled,
        Self::Failed,
        Self::Done,
    ];

    /// Returns the word that settings, JSON and disk use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSaved => "not_saved",
            Self::Cap => "cap",
            Self::NearCap => "near_cap",
            Self::Held => "held",
            Self::Stalled => "stalled",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }

    /// Finds a kind by its word; any other text is `None`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Something that people should hear of, told once. Several things of one kind that happen together are one notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Grows from one notice of a fleet to the next.
    pub number: u64,
    /// What it is about.
    pub kind: NoticeKind,
    /// When it was told.
    pub at: Moment,
    /// Agents that it is about, a few dozen at most.
    #[serde(default)]
    pub agents: Vec<AgentId>,
    /// How many more there are.
    #[serde(default)]
    pub more: u32,
    /// For people: one line, unless an agent's own words in it have more. They are as the agent wrote them, so they
    /// have to be cleaned before they are shown.
    pub text: String,
}

/// Returns agents as people read them: `#1, #2, #3, #4, #5 and 7 more`.
pub(super) fn listed(agents: &[AgentId], more: u32) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = agents.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = agents.len().saturating_sub(NAMED);
    let rest = u32::try_from(rest).unwrap_or(u32::MAX).saturating_add(more);
    let named = named.join(", ");
    if rest == 0 { named } else { format!("{named} and {rest} more") }
}

/// Returns the first words of a text, on one line.
pub(super) fn head(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().nth(most).is_none() {
        return line.to_owned();
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
