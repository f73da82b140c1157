//! How long ended fleets are kept, and how one is deleted.
//!
//! What may go here: that. What may not: how to see that a fleet has ended, which takes its journal and the core.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::host_lock::{HostLock, HostState, host_of};
use super::state_dir::{StateDir, is_id};
use super::{FleetDir, private};
use crate::core::{FleetId, Moment};

/// How long an ended fleet is kept: upstream's seven days.
pub const KEEP_FOR: Duration = Duration::from_hours(7 * 24);
/// How many ended fleets are kept: upstream's fifty, the newest by their end.
pub const KEEP_NEWEST: usize = 50;
/// What the name of a fleet's folder begins with while it is being deleted.
const DELETING: &str = ".deleting-";

/// An ended fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prunable {
    /// Which.
    pub id: FleetId,
    /// When its last agent ended; when it was made if it never had one.
    pub ended: Moment,
}

/// What was done about old fleets.
#[derive(Debug, Default)]
pub struct Pruned {
    /// Fleets that are gone.
    pub deleted: Vec<FleetId>,
    /// Fleets, or their remains, that could not be deleted, with the reason.
    pub failed: Vec<(String, io::Error)>,
}

/// Which ended fleets are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Those that ended at most so long ago,
    pub time: Duration,
    /// and of them the newest so many.
    pub newest: usize,
}

impl Keep {
    /// What is kept if nobody says otherwise.
    pub const USUAL: Self = Self { time: KEEP_FOR, newest: KEEP_NEWEST };
}

/// Chooses which ended fleets go, the newest of them first.
pub fn select(ended: &[Prunable], now: Moment, keep: Keep) -> Vec<FleetId> {
    let mut newest_first: Vec<&Prunable> = ended.iter().collect();
    newest_first
        .sort_by_key(|fleet| (std::cmp::Reverse(fleet.ended), std::cmp::Reverse(&fleet.id)));
    let is_old =
        |place: usize, fleet: &Prunable| place >= keep.newest || now.since(fleet.ended) > keep.time;
    newest_first
        .into_iter()
        .enumerate()
        .filter(|(place, fleet)| is_old(*place, fleet))
        .map(|(_, fleet)| fleet.id.clone())
        .collect()
}

/// Deletes old ended fleets, and what an earlier deletion left half done.
///
/// `end_of` says when a fleet ended, `None` if it has not or if that cannot be told. It reads a journal, so it is asked
/// only of fleets that may be old, and once more under the host's lock before anything is deleted.
pub fn prune(
    state_dir: &StateDir,
    now: Moment,
    end_of: impl Fn(&FleetDir) -> Option<Moment>,
) -> io::Result<Pruned> {
    let mut pruned = Pruned::default();
    pruned.failed.extend(finish_earlier(state_dir, now)?);
    let listed = state_dir.list()?;
    let is_crowded = listed.len() > KEEP_NEWEST;
    let ended: Vec<Prunable> = listed
        .into_iter()
        .filter_map(|id| {
            let fleet_dir = state_dir.fleet(&id);
            let may_be_old = is_crowded || now.since(changed(&fleet_dir.journal())) > KEEP_FOR;
            if !may_be_old || !matches!(host_of(&fleet_dir), Ok(HostState::None)) {
                return None;
            }
            Some(Prunable { id, ended: end_of(&fleet_dir)? })
        })
        .collect();
    for id in select(&ended, now, Keep::USUAL) {
        let Some(fleet) = ended.iter().find(|fleet| fleet.id == id) else { continue };
        match delete_ended(state_dir, fleet, &end_of) {
            Ok(true) => pruned.deleted.push(id),
            Ok(false) => {}
            Err(error) => pruned.failed.push((id.0, error)),
        }
    }
    Ok(pruned)
}

/// Deletes a fleet if it is still the ended one that was seen: somebody may have gone on with it meanwhile. Says whether
/// it did.
pub fn delete_ended(
    state_dir: &StateDir,
    fleet: &Prunable,
    end_of: impl Fn(&FleetDir) -> Option<Moment>,
) -> io::Result<bool> {
    let fleet_dir = state_dir.fleet(&fleet.id);
    let Ok(_lock) = HostLock::take(&fleet_dir) else { return Ok(false) };
    if end_of(&fleet_dir) != Some(fleet.ended) {
        return Ok(false);
    }
    delete(state_dir, &fleet_dir).map(|()| true)
}

/// Deletes a fleet whose lock the caller holds: it is out of sight at once, and gone as a whole or later.
pub fn delete(state_dir: &StateDir, fleet_dir: &FleetDir) -> io::Result<()> {
    let aside = state_dir.fleets().join(format!("{DELETING}{}", fleet_dir.id()));
    let socket = fleet_dir.read_file().ok().and_then(|file| file.socket);
    fs::rename(fleet_dir.path(), &aside)?;
    if let Some(socket) = socket.filter(|path| is_socket(path)) {
        // A host that was killed left it. Another fleet's it is not: it has this one's name.
        let _ = fs::remove_file(socket);
    }
    private::sync_dir(&state_dir.fleets())?;
    fs::remove_dir_all(aside)
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

/// Removes what a deletion left when it was cut off, and old folders of fleets whose making was. Returns what could not be
/// removed, with the reason.
pub fn finish_earlier(state_dir: &StateDir, now: Moment) -> io::Result<Vec<(String, io::Error)>> {
    let mut failed = Vec::new();
    for entry in fs::read_dir(state_dir.fleets())? {
        let entry = entry?;
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let is_unmade = || {
            let dir = FleetDir::new(path.clone(), FleetId(name.clone()));
            !dir.was_made() && now.since(changed(&path)) > KEEP_FOR
        };
        if (name.strip_prefix(DELETING).is_some_and(is_id) || (is_id(&name) && is_unmade()))
            && let Err(error) = fs::remove_dir_all(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            failed.push((name, error));
        }
    }
    Ok(failed)
}

/// Returns what a folder and everything in it takes on the disk, in bytes. Links are not followed.
pub fn size_of(folder: &Path) -> u64 {
    /// Bytes of one block that the system counts.
    const BLOCK: u64 = 512;
    let mut bytes = 0_u64;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(found.blocks().saturating_mul(BLOCK));
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes
}

/// Returns when a file or folder was last changed; never, if that cannot be told, so that nothing goes.
fn changed(path: &Path) -> Moment {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(Moment(u64::MAX), |since| Moment(0).after(since))
}

#[cfg(test)]
mod tests;
