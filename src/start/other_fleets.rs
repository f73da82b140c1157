//! The other fleets that a screen can list and open.
//!
//! What may go here: reading them, in the order in which the screen shows them, and putting together what the screen on one
//! begins with. What may not: hosts, drawing.

use std::path::Path;
use std::sync::Arc;

use super::drafts::DraftPlace;
use super::screen::{Fleet, Opening};
use crate::cli::never_inside_of_agents;
use crate::core::{FleetId, Snapshot};
use crate::journal::{FleetDir, FleetFile, FleetStanding, HostState, StateDir, host_of};
use crate::runtime::{Clock, depth, inspect, recorded};
use crate::tui::{FleetList, ListedFleet, Made, OtherFleets, Session};

/// Most fleets that are listed: as many as are kept once they have ended, and some that live beside them.
const MOST: usize = 64;

/// The fleets of the state folder.
pub(super) struct FleetsHere(pub(super) Arc<Opening>);

impl OtherFleets for FleetsHere {
    fn list(
        &self,
        folder: Option<&Path>,
        say: &mut dyn FnMut(FleetList) -> bool,
    ) -> Result<(), String> {
        let state = &self.0.state;
        let ids = state.list().map_err(|error| {
            let path = state.fleets();
            format!("could not list the fleets in {}: {error}", path.display())
        })?;
        let (mut list, mut found) = (FleetList::default(), Vec::new());
        // Ids sort by the time at which they were made.
        for id in ids.into_iter().rev() {
            let dir = state.fleet(&id);
            match dir.read_file() {
                Ok(file) if folder.is_some_and(|folder| file.root != folder) => {}
                Ok(file) => found.push((dir, file)),
                Err(error) => list.unreadable.push((id, error.to_string())),
            }
        }
        found.sort_by_key(|(_, file)| std::cmp::Reverse(file.created));
        list.older = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        list.left = found.len();
        for (dir, file) in found {
            if !say(list.clone()) {
                return Ok(());
            }
            list.left -= 1;
            match look(&dir, file) {
                Ok(fleet) => list.fleets.push(fleet),
                Err(why) => list.unreadable.push((dir.id().clone(), why)),
            }
        }
        say(list);
        Ok(())
    }

    fn open(&self, id: &FleetId) -> Result<Session, String> {
        never_inside_of_agents(depth(), "attach").map_err(|failure| failure.sentence)?;
        let state = &self.0.state;
        let dir = find(state, id)?;
        let seen = inspect(&dir).map_err(|error| error.to_string())?;
        let folder = seen.file.root.clone();
        let fleet = Fleet::attach(state, seen).map_err(|failure| failure.sentence)?;
        let session = fleet.session(&self.0, Made::default());
        session.map(|session| self.with_draft(session, &folder)).map_err(|failure| failure.sentence)
    }
}

impl FleetsHere {
    /// Gives a screen that takes tasks a place for its draft.
    fn with_draft(&self, mut session: Session, folder: &Path) -> Session {
        if !session.is_read_only {
            let place = DraftPlace::take(&self.0.state.path().join("drafts"), folder);
            session.draft = place.as_ref().map(|place| place.path().to_owned());
            session.keep = Some(Box::new((session.keep.take(), place)));
        }
        session
    }
}

fn find(state: &StateDir, id: &FleetId) -> Result<FleetDir, String> {
    let dir = state.fleet(id);
    if dir.path().is_dir() { Ok(dir) } else { Err(format!("fleet {id} is gone: it was removed")) }
}

/// Looks at one fleet. One with a host is as its journal tells it: all that its agents write may take long to read.
fn look(dir: &FleetDir, file: FleetFile) -> Result<ListedFleet, String> {
    let host = host_of(dir).map_err(|error| error.to_string())?;
    let hosted = |snapshot: Snapshot, elsewhere| ListedFleet {
        id: dir.id().clone(),
        folder: file.root.clone(),
        standing: FleetStanding::of_hosted(&snapshot),
        elsewhere,
        created: file.created,
        at: Clock::wall().max(snapshot.at),
        header: snapshot.header,
    };
    let elsewhere = match host {
        HostState::Here(_) => None,
        HostState::Elsewhere(name) => Some(name),
        HostState::None => {
            let seen = inspect(dir).map_err(|error| error.to_string())?;
            let standing = seen.standing;
            return Ok(ListedFleet { standing, ..hosted(seen.snapshot, None) });
        }
    };
    match recorded(dir) {
        Ok(snapshot) => Ok(hosted(snapshot, elsewhere)),
        // Its host is about to begin it.
        Err(_) => {
            let seen = inspect(dir).map_err(|error| error.to_string())?;
            Ok(hosted(seen.snapshot, elsewhere))
        }
    }
}
