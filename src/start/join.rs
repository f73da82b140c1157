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
use crate::runtime::{Clock, inspect};

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

/// Returns the fleet of a folder that takes more tasks: one with a host, or one in which agents live or tasks wait,
/// whatever became of its host. If there is none, or it is to be a `new` one, makes one with these options. However many
/// ask at once, one is made. The fleet has a host, or needs one: see [`super::Connector::connect`].
pub fn find_or_make(
    state: &StateDir,
    folder: &Path,
    options: FleetOptions,
    argv: Vec<String>,
    new: bool,
) -> Result<FleetDir, JoinError> {
    let refused = |source| JoinError::Refused { path: state.path().to_owned(), source };
    let root = folder_of(folder);
    let _making = state.lock_making().map_err(refused)?;
    let now = Clock::start(Moment::default()).now();
    if !new {
        let mut live = Vec::new();
        for id in state.list().map_err(refused)? {
            live.extend(joinable(state, &id, &root, now));
        }
        if live.len() > 1 {
            for listed in &mut live {
                listed.is_busy = is_busy(&state.fleet(&listed.id));
            }
        }
        if let Some(listed) = join(&live, &root)? {
            return Ok(state.fleet(&listed.id));
        }
    }
    state.new_fleet(now, Draft { root, options, argv, is_closed: false }).map_err(refused)
}

/// Describes a fleet if tasks can be given to its host, or to the one that it is about to get. One that cannot be read
/// is found by its id only.
fn joinable(state: &StateDir, id: &FleetId, root: &Path, now: Moment) -> Option<Listed> {
    let dir = state.fleet(id);
    let file = dir.read_file().ok()?;
    if file.root != root || file.is_closed {
        return None;
    }
    let is_live = match host_of(&dir).ok()? {
        // Without a socket it has just begun, or goes, and the next one comes to whoever waits; but a fleet that was
        // never used goes with its host.
        HostState::Here(_) => file.socket.is_some() || is_young(&file, now) || !is_unused(&dir),
        HostState::None => (is_young(&file, now) && is_unused(&dir)) || is_busy(&dir),
        HostState::Elsewhere(_) => false,
    };
    is_live.then(|| Listed {
        id: id.clone(),
        folder: file.root,
        standing: FleetStanding::Live,
        created: file.created,
        is_open: true,
        // Read only where it decides: that takes time with a great fleet.
        is_busy: false,
    })
}

/// Says whether agents live or tasks wait in a fleet.
fn is_busy(dir: &FleetDir) -> bool {
    inspect(dir).is_ok_and(|seen| !seen.snapshot.header.all_done)
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
        find_or_make(state, folder, FleetOptions::default(), Vec::new(), new).unwrap()
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
        let first = find(&state, temp.path(), false);
        let _host = HostLock::take(&first).unwrap();
        let other = tempfile::tempdir().unwrap();
        assert_ne!(find(&state, other.path(), false).id(), first.id());
        assert_eq!(find(&state, temp.path(), false).id(), first.id());
        assert_ne!(find(&state, temp.path(), true).id(), first.id());
    }

    /// A fleet of long ago with one task in its queue.
    fn with_queue(state: &StateDir, folder: &Path) -> FleetDir {
        let dir = find(state, folder, true);
        let journal = journal::Journal::create(&dir.journal()).unwrap();
        let task = crate::core::testing::task("true");
        let batch = crate::core::BatchId::from_bits(1);
        let first = crate::core::AgentId(1);
        let queued = Record::Queued { batch, origin: None, first, tasks: vec![task] };
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
