//! Batches: the tasks of one submission.

use serde::{Deserialize, Serialize};

use super::id::{AgentId, BatchId};
use super::moment::Moment;

/// How a batch as a whole stands (upstream B4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStatus {
    /// Some agent has not ended.
    Running,
    /// All ended and at least one is done, or there was none.
    Completed,
    /// All ended and none is done.
    Error,
}

/// The tasks of one submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Name, equal to that of its manifest.
    pub id: BatchId,
    /// Number within the fleet, from 1: the tag is `set 1`.
    pub number: u32,
    /// Agents in the order of the tasks.
    pub agents: Vec<AgentId>,
    /// Who submitted it.
    pub origin: Option<String>,
    /// Mark of the agent inside of which it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// When it was queued.
    pub queued: Moment,
}

impl Batch {
    /// Returns the tag that each line about the batch carries.
    pub fn tag(&self) -> String {
        format!("set {}", self.number)
    }
}
