//! Options of a whole fleet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::money::NanoUsd;
use super::price::Price;
use super::task::Task;

/// What happens when the cap is reached with tasks queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCap {
    /// A question is asked and stays open until a door answers it.
    Ask,
    /// The queue is dropped.
    Drop,
    /// The queue is held.
    Hold,
    /// The cap is raised to this once; then the queue is dropped.
    Raise(NanoUsd),
}

/// Options of a fleet, as given when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetOptions {
    /// Name for people.
    pub name: Option<String>,
    /// Most live agents at once; `None` is unlimited, zero is read as one.
    pub max_parallel: Option<u32>,
    /// Most live agents with a local engine; zero is read as one.
    pub max_local: u32,
    /// Most the fleet may spend.
    pub cap: Option<NanoUsd>,
    /// Running agents are stopped as well when live spend passes the cap.
    pub cap_hard: bool,
    /// What to do at the cap.
    pub on_cap: OnCap,
    /// What an agent of unknown cost is assumed to cost.
    pub assume_cost: NanoUsd,
    /// Shared workspace of the agents, absolute.
    pub mesh: Option<PathBuf>,
    /// Most time from the first start to the end of the fleet.
    pub deadline: Option<Duration>,
    /// Time between asking an agent to end and killing it.
    pub grace: Duration,
    /// Time without progress after which an agent is marked `stalled?`.
    pub stale: Duration,
    /// The same, while the agent is inside a tool.
    pub stale_tool: Duration,
    /// Stalled agents are stopped.
    pub stale_stop: bool,
    /// Time between asking an agent to end because it has stalled and killing it.
    #[serde(default = "stale_grace")]
    pub stale_grace: Duration,
    /// A shim stops its agent after this long without a host.
    pub orphan_limit: Option<Duration>,
    /// Lines of the line protocol need a token.
    pub strict_protocol: bool,
    /// How many fleets may be nested.
    pub max_depth: u32,
    /// Prices of the owner's own, by the model's name; they go before public ones for as long as the fleet exists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

impl FleetOptions {
    /// Returns the folder in which the agent of a task works: the shared one, if there is one.
    pub fn folder<'a>(&'a self, task: &'a Task) -> &'a Path {
        folder(self.mesh.as_deref(), task)
    }
}

/// Returns what upstream gives a stalled agent to end by itself (B1).
const fn stale_grace() -> Duration {
    Duration::from_mins(2)
}

/// Returns the folder in which the agent of a task works; `mesh` is the fleet's shared one, if there is one.
pub fn folder<'a>(mesh: Option<&'a Path>, task: &'a Task) -> &'a Path {
    mesh.unwrap_or(&task.root)
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            name: None,
            max_parallel: Some(4),
            max_local: 1,
            cap: None,
            cap_hard: false,
            on_cap: OnCap::Ask,
            assume_cost: NanoUsd::from_nanos(500_000_000),
            mesh: None,
            deadline: None,
            grace: Duration::from_secs(5),
            stale: Duration::from_secs(450),
            stale_tool: Duration::from_mins(20),
            stale_stop: false,
            stale_grace: stale_grace(),
            orphan_limit: None,
            strict_protocol: false,
            max_depth: 1,
            prices: BTreeMap::new(),
        }
    }
}
