//! The other fleets that a screen can list and open.
//!
//! What may go here: reading them, in the order in which the screen shows them, and putting together what the screen on one
//! begins with. What may not: hosts, drawing.

use std::path::Path;
use std::sync::Arc;

use super::drafts::DraftPlace;
use super::join::{Joined, find_or_make};
use super::screen::{Fleet, Opening, make_mesh};
use crate::cli::{Failure, never_inside_of_agents, outside_of_agents};
use crate::core::{FleetId, Record, Snapshot, Task};
use crate::journal::{self, FleetDir, FleetFile, FleetStanding, HostState, StateDir, host_of};
use crate::runtime::{Clock, depth, inspect, recorded};
use crate::tui::{FleetList, ListedFleet, Made, OtherFleets, PastFleet, Session};

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
            match look(&dir, &file) {
                Ok((fleet, _)) => list.fleets.push(fleet),
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

    fn read(&self, id: &FleetId) -> Result<PastFleet, String> {
        let dir = find(&self.0.state, id)?;
        let file = dir.read_file().map_err(|error| error.to_string())?;
        let mut records = journal::read(&dir.journal()).map_err(|error| error.to_string())?;
        // There are many, and nobody asks what an agent had shown at an earlier moment.
        records.retain(|(_, record)| !matches!(record, Record::Checkpoint(..)));
        let (listed, snapshot) = look(&dir, &file)?;
        Ok(PastFleet { listed, snapshot, records })
    }

    fn again(&self, of: &FleetId, tasks: Vec<Task>) -> Result<Session, String> {
        self.queue_again(of, tasks).map_err(|failure| failure.sentence)
    }
}

impl FleetsHere {
    fn queue_again(&self, of: &FleetId, tasks: Vec<Task>) -> Result<Session, Failure> {
        let state = &self.0.state;
        let dir = find(state, of).map_err(Failure::input)?;
        let seen = inspect(&dir).map_err(|error| Failure::input(error.to_string()))?;
        outside_of_agents(depth(), seen.options.max_depth)?;
        let made = Made { tasks, ..Made::default() };
        if let Some(why) = self.0.missing(&made) {
            return Err(Failure::input(why));
        }
        make_mesh(&seen.options)?;
        let root = seen.file.root;
        let Joined { dir, is_new, seen } =
            find_or_make(state, &root, seen.options, Vec::new(), false)
                .map_err(|error| Failure::input(error.to_string()))?;
        let seen = if is_new { None } else { seen.or_else(|| inspect(&dir).ok()) };
        let session = Fleet::hosted(state, dir, seen.as_ref())?.session(&self.0, made)?;
        Ok(self.with_draft(session, &root))
    }

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
fn look(dir: &FleetDir, file: &FleetFile) -> Result<(ListedFleet, Snapshot), String> {
    let host = host_of(dir).map_err(|error| error.to_string())?;
    let hosted = |snapshot: &Snapshot, elsewhere| ListedFleet {
        id: dir.id().clone(),
        folder: file.root.clone(),
        // As it counts for whoever lists fleets: with a host it can go on, whatever has ended of it.
        standing: if snapshot.header.hold.is_some() {
            FleetStanding::Held
        } else {
            FleetStanding::Live
        },
        elsewhere,
        created: file.created,
        at: Clock::wall().max(snapshot.at),
        header: snapshot.header.clone(),
    };
    let elsewhere = match host {
        HostState::Here(_) => None,
        HostState::Elsewhere(name) => Some(name),
        HostState::None => {
            let seen = inspect(dir).map_err(|error| error.to_string())?;
            let standing = seen.standing;
            return Ok((ListedFleet { standing, ..hosted(&seen.snapshot, None) }, seen.snapshot));
        }
    };
    if let Ok(snapshot) = recorded(dir) {
        return Ok((hosted(&snapshot, elsewhere), snapshot));
    }
    // Its host is about to begin it.
    let seen = inspect(dir).map_err(|error| error.to_string())?;
    Ok((hosted(&seen.snapshot, elsewhere), seen.snapshot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::RunArguments;
    use crate::cli::config::Config;
    use crate::core::testing::task;
    use crate::core::{AgentId, BatchId, FleetOptions, Moment};
    use crate::journal::{Draft, Journal};

    fn fleets() -> (tempfile::TempDir, FleetsHere) {
        let temp = tempfile::tempdir().unwrap();
        let opening = Opening {
            state: StateDir::open(Some(&temp.path().join("state"))).unwrap(),
            given: RunArguments::default(),
            config: Config::default(),
            context: None,
            folder: temp.path().to_owned(),
        };
        (temp, FleetsHere(Arc::new(opening)))
    }

    /// Makes a fleet of a folder, made at this moment, with one task that waits.
    fn make(fleets: &FleetsHere, root: &Path, at: u64) -> FleetDir {
        let draft = Draft {
            root: root.to_owned(),
            options: FleetOptions::default(),
            argv: Vec::new(),
            is_closed: false,
        };
        let dir = fleets.0.state.new_fleet(Moment(at), draft).unwrap();
        let journal = Journal::create(&dir.journal()).unwrap();
        let queued = Record::Queued {
            batch: BatchId::from_bits(1),
            origin: None,
            inside: None,
            first: AgentId(1),
            tasks: vec![task("true")],
        };
        let created = Record::Created(FleetOptions::default());
        let _ = journal.append(Moment(at), vec![created, queued]);
        drop(journal);
        dir
    }

    /// The last list that is told, and how often one was.
    fn list(fleets: &FleetsHere, folder: Option<&Path>) -> (FleetList, usize) {
        let (mut last, mut told) = (FleetList::default(), 0);
        let mut say = |list| {
            (last, told) = (list, told + 1);
            true
        };
        fleets.list(folder, &mut say).unwrap();
        (last, told)
    }

    #[test]
    fn fleets_of_the_folder_come_newest_first_one_by_one_and_damaged_ones_with_the_reason() {
        let (temp, fleets) = fleets();
        let here = temp.path().join("here");
        let old = make(&fleets, &here, 1_800_000_000_000);
        let damaged = make(&fleets, &here, 1_800_000_100_000);
        let new = make(&fleets, &here, 1_800_000_200_000);
        make(&fleets, &temp.path().join("there"), 1_800_000_300_000);
        std::fs::write(damaged.journal(), "no journal\n").unwrap();
        let (listed, told) = list(&fleets, Some(&here));
        let ids: Vec<_> = listed.fleets.iter().map(|fleet| &fleet.id).collect();
        assert_eq!(ids, [new.id(), old.id()]);
        assert_eq!((listed.left, listed.older, told), (0, 0, 4));
        let [(id, why)] = listed.unreadable.as_slice() else { panic!("{listed:?}") };
        assert!(id == damaged.id() && why.contains("is damaged at line 1"), "{why}");
        assert_eq!(listed.fleets[0].standing, FleetStanding::Held, "its task waits");
        assert_eq!(list(&fleets, None).0.fleets.len(), 3);
    }

    #[test]
    fn the_list_has_a_bound_and_ends_as_soon_as_nobody_wants_it() {
        let (temp, fleets) = fleets();
        for number in 0..u64::try_from(MOST).unwrap() + 3 {
            make(&fleets, temp.path(), 1_800_000_000_000 + number * 10_000);
        }
        let (listed, _) = list(&fleets, None);
        assert_eq!((listed.fleets.len(), listed.older), (MOST, 3));
        let mut told = 0;
        let mut say = |_| {
            told += 1;
            told < 3
        };
        fleets.list(None, &mut say).unwrap();
        assert_eq!(told, 3);
    }

    #[test]
    fn a_fleet_is_read_without_what_its_agents_had_shown_and_a_removed_one_is_gone() {
        let (temp, fleets) = fleets();
        let dir = make(&fleets, temp.path(), 1_800_000_000_000);
        let past = fleets.read(dir.id()).unwrap();
        assert_eq!((past.records.len(), past.snapshot.rows.len()), (2, 1));
        std::fs::remove_dir_all(dir.path()).unwrap();
        let why = fleets.read(dir.id()).unwrap_err();
        assert!(why.contains("is gone"), "{why}");
        assert!(fleets.open(dir.id()).is_err() && fleets.again(dir.id(), Vec::new()).is_err());
    }
}
