//! States of one agent.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::TreeEnd;
use super::moment::Moment;
use super::money::NanoUsd;
use super::outcome::End;

/// Why a live agent is being stopped. Decides the outcome, whatever the exit code says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The owner said so.
    Owner,
    /// Fleet itself was told to end; the signal's name, such as `SIGINT`.
    Interrupted(String),
    /// No progress for longer than its idle timeout.
    Idle(Duration),
    /// The fleet's deadline.
    Deadline,
    /// Past its own budget.
    Budget(NanoUsd),
    /// Past the fleet's cap, with `--cap-hard`.
    CapHard(NanoUsd),
    /// The cap question was answered with *stop everything*.
    CapStop,
    /// Stalled, as earlier versions decided it; the time without progress.
    Stalled(Duration),
    /// No progress for too long. It has a long grace, and if it ends by itself within that, its own word counts.
    NoProgress(Box<Stall>),
}

/// How an agent that is stopped for it made no progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// The time without progress when it was asked to end.
    pub quiet: Duration,
    /// How long it could have gone without.
    pub limit: Duration,
    /// The tool that it was in; `None` between tools.
    pub tool: Option<String>,
    /// What it gets to end by itself before it is killed.
    pub grace: Duration,
}

/// Where an agent stands. Each state carries exactly its own data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// Waits for a slot.
    Queued,
    /// Dispatched; its shim has not yet said that it runs.
    Starting,
    /// Runs.
    Running,
    /// Told to end; the reason decides the outcome.
    Stopping {
        /// Why.
        reason: StopReason,
        /// When it was first asked.
        asked: Moment,
    },
    /// The agent has ended, processes that it started have not.
    Ending {
        /// How many are left.
        left_behind: u32,
        /// Why it was stopped, if it was.
        reason: Option<StopReason>,
    },
    /// The whole tree is gone and the slot is free; the output is still being read.
    Reading {
        /// How the tree ended.
        tree: Box<TreeEnd>,
        /// Why it was stopped, if it was.
        reason: Option<StopReason>,
    },
    /// Over, recorded, never changed again.
    Ended(Box<End>),
}
