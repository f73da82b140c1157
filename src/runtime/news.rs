//! What threads and watchers tell the loop.

use super::notices::Told;
use super::silences::Glance;
use crate::core::{AgentId, ChangedFiles, Moment, Tails};
use crate::supervise::{Launched, Life};
use crate::tail::scan;

/// News on their way to the loop. Whoever sends more waits; the loop itself never sends any.
pub(super) const NEWS: usize = 1024;

/// What a shim that has gone leaves to know.
#[derive(Debug)]
pub(super) struct Gone {
    /// What its folder says.
    pub(super) life: Result<Life, String>,
    /// What carried its mark and was ended, if it left no record.
    pub(super) swept: Vec<String>,
    /// The owner's `stop` file lies there.
    pub(super) owner_stop: bool,
}

/// Something that the loop turns into an event.
#[derive(Debug)]
pub(super) enum News {
    /// The shim was started, or why it could not be.
    Launched(AgentId, Result<Launched, String>),
    /// It was not started, since a `stop` file lay there.
    Withdrawn(AgentId),
    /// The shim says that the agent runs.
    Started(AgentId),
    /// The agent itself has ended, so many processes of its tree have not.
    Exited(AgentId, u32),
    /// The shim has gone.
    Gone(AgentId, Gone),
    /// The work tree of an agent that ended with this code was looked at; what has changed there, if that is known.
    Changed(AgentId, Option<i32>, Option<ChangedFiles>),
    /// Agents that had been silent since then were looked at; what each may be waiting for, `None` if nobody could look.
    Glanced(Vec<(AgentId, Moment)>, Option<Vec<Option<Glance>>>),
    /// The output of an agent was read to its end, and it was looked at what bears out its last word.
    Scanned(AgentId, Tails),
    /// The owner's program was told of a notice, or not.
    NoticeTold(Told),
    /// From the reader of outputs.
    Output(scan::News),
}
