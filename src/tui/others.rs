//! The other fleets that there are: what the screen asks about them, and what it is told.
//!
//! What may go here: data that crosses from the composition of the program to the screen, and the trait behind which it
//! comes about. What may not: reading folders, drawing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::session::Session;
use crate::core::{FleetId, Header, Moment, Record, Snapshot, Task};
use crate::journal::FleetStanding;

/// A fleet as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFleet {
    /// Which.
    pub id: FleetId,
    /// The folder that it belongs to.
    pub folder: PathBuf,
    /// How it stands.
    pub standing: FleetStanding,
    /// Machine on which its host lives, if that is another one.
    pub elsewhere: Option<String>,
    /// When it was made.
    pub created: Moment,
    /// Its numbers.
    pub header: Header,
    /// The moment for which they are true.
    pub at: Moment,
}

impl ListedFleet {
    /// Returns the time from its first start to its end, or to now while something runs; `None` if nothing ever ran.
    pub fn took(&self) -> Option<Duration> {
        self.header.elapsed(self.at)
    }
}

/// The fleets that there are, as far as they have been read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FleetList {
    /// Those that could be read, newest first.
    pub fleets: Vec<ListedFleet>,
    /// Those that could not, each with the reason.
    pub unreadable: Vec<(FleetId, String)>,
    /// How many are still to be read.
    pub left: usize,
    /// How many are older and not read at all.
    pub older: usize,
}

/// A fleet as it is and as it came to that.
#[derive(Debug, Clone)]
pub struct PastFleet {
    /// How it is listed.
    pub listed: ListedFleet,
    /// All of it as it is now.
    pub snapshot: Snapshot,
    /// What its journal tells, in order, without what agents had shown so far.
    pub records: Vec<(Moment, Record)>,
}

/// Reads and opens fleets. Implemented above the screen; called in threads beside it, so that it may wait for a disk.
pub trait OtherFleets: Send + Sync {
    /// Reads the newest fleets: those of a folder, or of all folders without one. `say` is told after each one how far the
    /// list is, the last time with nothing left, and ends it by `false`. The error is one sentence.
    fn list(
        &self,
        folder: Option<&Path>,
        say: &mut dyn FnMut(FleetList) -> bool,
    ) -> Result<(), String>;
    /// Makes what a screen on a fleet begins with: one that has ended is looked at, any other one has a host or gets one.
    /// The error is one sentence.
    fn open(&self, id: &FleetId) -> Result<Session, String>;
    /// Reads all of a fleet. The error is one sentence.
    fn read(&self, id: &FleetId) -> Result<PastFleet, String>;
    /// Makes what a screen begins with on the fleet that takes tasks in the folder of another one, which is made like that
    /// one if there is none, with these tasks to be queued. The error is one sentence.
    fn again(&self, of: &FleetId, tasks: Vec<Task>) -> Result<Session, String>;
}
