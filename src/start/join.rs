//! Finds the fleet that new tasks of a folder go to, or makes it.
//!
//! What may go here: that, under the lock that makes it one fleet for many who come at once. What may not: hosts.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::core::{FleetId, FleetOptions, Moment, Record};
use crate::journal::{
    self, Draft, FleetDir, FleetFile, FleetStanding, HostState, Listed, PickError, StateDir,
    folder_of, host_of, join,
};
use crate::runtime::{Clock, Inspection, inspect};

/// A fleet without a host is about to get one if it is younger than this: whoever made it starts that at once.
const YOUNG: Duration = Duration::from_secs(5);

/// Why there is no fleet to join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Several could be meant.
    #[error("{0}, or begin another one with --new")]
    Pick(#[from] PickError),
    /// The system refused.
    #[error("could not make a fleet in {}: {source}", path.display())]
    Refused {
        /// The state folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The fleet that new tasks go to.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Its folder.
    pub dir: FleetDir,
    /// It was made just now, with the options that were given.
    pub is_new: bool,
    /// What was seen of it, where it had to be looked at to be found.
    pub seen: Option<Inspection>,
}

/// Returns the fleet of a folder that takes more tasks: one with a host, or one in which agents live or tasks wait,
/// whatever became of its host. If there is none, or it is to be a `new` one, makes one with these options. However many
/// ask at once, one is made. The fleet has a host, or needs one: see [`super::Connector::connect`].
pub fn find_or_make(
    state: &StateDir,
    folder: &Path,
    options: FleetOptions,
    argv: Vec<String>,
    new: bool,
) -> Result<Joined, JoinError> {
    let refused = |source| JoinError::Refused { path: state.path().to_owned(), source };
    let root = folder_of(folder);
    let _making = state.lock_making().map_err(refused)?;
    let now = Clock::wall();
    if !new {
        let mut found = Vec::new();
        for id in state.list().map_err(refused)? {
            found.extend(joinable(state, &id, &root, now));
        }
        if found.len() > 1 {
            for (listed, seen) in &mut found {
                // Only here it decides, and it takes time with a great fleet.
                *seen = seen.take().or_else(|| inspect(&state.fleet(&listed.id)).ok());
                listed.is_busy = seen.as_ref().is_some_and(has_work);
            }
        }
        let live: Vec<Listed> = found.iter().map(|(listed, _)| listed.clone()).collect();
        if let Some(joined) = join(&live, &root)? {
            let seen = found.into_iter().find(|(listed, _)| listed.id == joined.id);
            let seen = seen.and_then(|(_, seen)| seen);
            return Ok(Joined { dir: state.fleet(&joined.id), is_new: false, seen });
        }
    }
    let draft = Draft { root, options, argv, is_closed: false };
    let dir = state.new_fleet(now, draft).map_err(refused)?;
    Ok(Joined { dir, is_new: true, seen: None })
}

/// Describes a fleet if tasks can be given to its host, or to the one that it is about to get, with what was seen of it if
/// it had to be looked at. One that cannot be read is found by its id only.
fn joinable(
    state: &StateDir,
    id: &FleetId,
    root: &Path,
    now: Moment,
) -> Option<(Listed, Option<Inspection>)> {
    let dir = state.fleet(id);
    let file = dir.read_file().ok()?;
    if file.root != root || file.is_closed {
        return None;
    }
    let seen = match host_of(&dir).ok()? {
        // Without a socket it has just begun, or goes, and the next one comes to whoever waits; but a fleet that was
        // never used goes with its host.
        HostState::Here(_) => {
            let is_live = file.socket.is_some() || is_young(&file, now) || !is_unused(&dir);
            is_live.then_some(None)?
        }
        HostState::None if is_young(&file, now) && is_unused(&dir) => None,
        HostState::None => Some(inspect(&dir).ok().filter(has_work)?),
        HostState::Elsewhere(_) => return None,
    };
    let listed = Listed {
        id: id.clone(),
        folder: file.root,
        standing: FleetStanding::Live,
        created: file.created,
        is_open: true,
        is_busy: false,
    };
    Some((listed, seen))
}

/// Says whether agents live or tasks wait in a fleet.
fn has_work(seen: &Inspection) -> bool {
    !seen.snapshot.header.all_done
}

fn is_young(file: &FleetFile, now: Moment) -> bool {
    now.since(file.created) < YOUNG
}

/// Says whether a fleet never had an agent.
pub(super) fn is_unused(dir: &FleetDir) -> bool {
    if dir.journal().symlink_metadata().is_err() {
        return true;
    }
    let records = journal::read(&dir.journal());
    records.is_ok_and(|records| {
        !records.iter().any(|(_, record)| matches!(record, Record::Queued { .. }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::HostLock;

    fn state() -> (tempfile::TempDir, StateDir) {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
        (temp, state)
    }

    fn find(state: &StateDir, folder: &Path, new: bool) -> FleetDir {
        find_or_make(state, folder, FleetOptions::default(), Vec::new(), new).unwrap().dir
    }

    #[test]
    fn many_who_come_at_once_make_one_fleet() {
        let (temp, state) = state();
        let found: Vec<FleetDir> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..5).map(|_| scope.spawn(|| find(&state, temp.path(), false))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|dir| dir.id() == found[0].id()), "{found:?}");
        assert_eq!(state.list().unwrap().len(), 1);
    }

    #[test]
    fn another_folder_and_a_wish_for_a_new_one_make_another() {
        let (temp, state) = state();
        let options = FleetOptions::default();
        let made = find_or_make(&state, temp.path(), options.clone(), Vec::new(), false).unwrap();
        let first = made.dir;
        let _host = HostLock::take(&first).unwrap();
        let other = tempfile::tempdir().unwrap();
        assert_ne!(find(&state, other.path(), false).id(), first.id());
        let found = find_or_make(&state, temp.path(), options, Vec::new(), false).unwrap();
        assert_eq!(found.dir.id(), first.id());
        assert_eq!((made.is_new, found.is_new), (true, false));
        assert_ne!(find(&state, temp.path(), true).id(), first.id());
    }

    /// A fleet of long ago with one task in its queue.
    fn with_queue(state: &StateDir, folder: &Path) -> FleetDir {
        let dir = find(state, folder, true);
        let journal = journal::Journal::create(&dir.journal()).unwrap();
        let task = crate::core::testing::task("true");
        let batch = crate::core::BatchId::from_bits(1);
        let first = crate::core::AgentId(1);
        let queued = Record::Queued { batch, origin: None, inside: None, first, tasks: vec![task] };
        let options = Record::Options(FleetOptions::default());
        let _ = journal.append(Moment(1), vec![options, queued]);
        drop(journal);
        let file = dir.read_file().unwrap();
        dir.write_file(&FleetFile { created: Moment(1), ..file }).unwrap();
        dir
    }

    #[test]
    fn a_fleet_with_work_is_joined_whatever_became_of_its_host() {
        let (temp, state) = state();
        let first = with_queue(&state, temp.path());
        assert_eq!(find(&state, temp.path(), false).id(), first.id(), "its host went in peace");
        let file = first.read_file().unwrap();
        let crashed = FleetFile { socket: Some(temp.path().join("socket")), ..file.clone() };
        first.write_file(&crashed).unwrap();
        assert_eq!(find(&state, temp.path(), false).id(), first.id(), "its host crashed");
        first.write_file(&file).unwrap();
        let lock = HostLock::take(&first).unwrap();
        assert_eq!(
            find(&state, temp.path(), false).id(),
            first.id(),
            "its host does not listen yet"
        );
        drop(lock);
        first.write_file(&FleetFile { is_closed: true, ..file }).unwrap();
        assert_ne!(find(&state, temp.path(), false).id(), first.id(), "it takes no more tasks");
    }

    #[test]
    fn of_several_with_work_none_is_guessed_and_new_begins_another() {
        let (temp, state) = state();
        let (one, other) = (with_queue(&state, temp.path()), with_queue(&state, temp.path()));
        let options = FleetOptions::default();
        let error = find_or_make(&state, temp.path(), options, Vec::new(), false).unwrap_err();
        let sentence = error.to_string();
        for part in [one.id().to_string(), other.id().to_string(), "--new".to_owned()] {
            assert!(sentence.contains(&part), "{sentence}");
        }
        let new = find(&state, temp.path(), true);
        assert!(![one.id(), other.id()].contains(&new.id()));
    }

    #[test]
    fn a_fleet_that_was_left_long_ago_is_not_joined() {
        let (temp, state) = state();
        let first = find(&state, temp.path(), false);
        let file = first.read_file().unwrap();
        first.write_file(&FleetFile { created: Moment(1), ..file }).unwrap();
        assert_ne!(find(&state, temp.path(), false).id(), first.id());
    }
}
