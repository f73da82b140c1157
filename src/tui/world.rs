//! What every pane and modal may look at: the fleet, the moment, the screen's division, the look.
//!
//! What may go here: data that the model keeps for all of them. What may not: state of one pane.

use std::path::PathBuf;
use std::sync::Arc;

use super::layout::{Arrangement, Focus, Panes};
use super::session::{TaskMaker, TaskOptions};
use super::theme::Theme;
use crate::core::{AgentId, FleetId, Moment, Row, Snapshot};
use crate::journal::FleetDir;
use crate::supervise::AgentDir;

/// How the screen stands with its host, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Connection {
    /// What is waited for.
    Waiting(String),
    /// The snapshot is the host's newest.
    Up,
    /// Why there is none and will be none.
    Failed(String),
}

/// Which moment of a fleet's run is shown once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplayStand {
    /// That moment.
    pub(crate) at: Moment,
    /// The first moment that there is, and the last one.
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    /// How many times as fast as it was it plays.
    pub(crate) speed: u32,
    /// It plays, and does not stand.
    pub(crate) plays: bool,
}

/// What surrounds panes and modals.
pub(crate) struct World {
    /// The newest snapshot; an empty one until there is a connection.
    pub(crate) snapshot: Arc<Snapshot>,
    /// Whether that is the truth of now.
    pub(crate) connection: Connection,
    /// Now.
    pub(crate) now: Moment,
    /// How things look.
    pub(crate) theme: Theme,
    /// Where everything is.
    pub(crate) panes: Panes,
    /// The pane with the focus.
    pub(crate) focus: Focus,
    /// The fleet's folder.
    pub(crate) dir: FleetDir,
    /// The folder that the fleet belongs to.
    pub(crate) folder: PathBuf,
    /// Makes tasks of text.
    pub(crate) maker: Box<dyn TaskMaker>,
    /// Options of what is typed.
    pub(crate) options: TaskOptions,
    /// The fleet has ended and is only looked at.
    pub(crate) is_read_only: bool,
    /// It is the demonstration.
    pub(crate) is_demo: bool,
    /// The snapshot is not that of now.
    pub(crate) replay: Option<ReplayStand>,
    /// There are other fleets that can be looked at.
    pub(crate) has_others: bool,
    /// The fleet that was shown before.
    pub(crate) came_from: Option<FleetId>,
    /// Where clocks of people hang.
    pub(crate) zone: jiff::tz::TimeZone,
}

impl World {
    /// Returns the row of an agent.
    pub(crate) fn row(&self, id: AgentId) -> Option<&Arc<Row>> {
        self.snapshot.row(id)
    }

    /// Returns the folder with what an agent leaves.
    pub(crate) fn agent_dir(&self, id: AgentId) -> AgentDir {
        AgentDir::new(self.dir.agent(id))
    }

    /// Returns the moment that the numbers on the screen are true for: now while there is a host, else that of the last
    /// snapshot, so that no time goes on growing for what is not seen.
    pub(crate) fn clock(&self) -> Moment {
        let is_now = self.connection == Connection::Up && self.replay.is_none();
        if is_now { self.now } else { self.snapshot.at }
    }

    /// Says whether one pane has been given the whole screen. A small screen has one at a time as well, but then the
    /// header has one row.
    pub(crate) fn is_zoomed(&self) -> bool {
        self.panes.arrangement == Arrangement::Single && self.panes.header.height > 1
    }

    /// Says whether the fleet can be asked for something now.
    pub(crate) fn can_ask(&self) -> bool {
        self.connection == Connection::Up && !self.is_read_only && self.replay.is_none()
    }
}
