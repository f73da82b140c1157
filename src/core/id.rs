//! Names of the things in a fleet. Each is a type of its own and none is ever reused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number of an agent, given when its task is queued and kept to the end; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentId(pub u32);

impl AgentId {
    /// Returns the name of the agent's folder under `agents/`: four digits, more when needed.
    pub fn to_dir_name(self) -> String {
        format!("{:04}", self.0)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Short, sortable and typeable name of a fleet: a letter, then letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FleetId(pub String);

impl fmt::Display for FleetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of one submission, `deleg_` and eight hexadecimal digits; also the name of its manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BatchId(pub String);

impl BatchId {
    /// Builds the id from 32 random bits.
    pub fn from_bits(bits: u32) -> Self {
        Self(format!("deleg_{bits:08x}"))
    }
}

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Number of a cap question; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u32);

/// Joins a command to its reply. Given by the runtime; the core only hands it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u64);

impl FromStr for AgentId {
    type Err = std::num::ParseIntError;

    /// Reads `7` or `#7`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('#').unwrap_or(text).parse().map(Self)
    }
}
