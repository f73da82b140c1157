//! How long ended fleets are kept, and how one is deleted.
//!
//! What may go here: that. What may not: how to see that a fleet has ended, which takes its journal and the core.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
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

/// Chooses which ended fleets go: those that ended more than seven days ago, and those beyond the newest fifty.
pub fn select(ended: &[Prunable], now: Moment) -> Vec<FleetId> {
    let mut newest_first: Vec<&Prunable> = ended.iter().collect();
    newest_first
        .sort_by_key(|fleet| (std::cmp::Reverse(fleet.ended), std::cmp::Reverse(&fleet.id)));
    let is_old =
        |place: usize, fleet: &Prunable| place >= KEEP_NEWEST || now.since(fleet.ended) > KEEP_FOR;
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
    finish_earlier(state_dir, now, &mut pruned)?;
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
    for id in select(&ended, now) {
        let fleet_dir = state_dir.fleet(&id);
        // Somebody may have gone on with it meanwhile.
        let Ok(lock) = HostLock::take(&fleet_dir) else { continue };
        if !ended.iter().any(|fleet| fleet.id == id && Some(fleet.ended) == end_of(&fleet_dir)) {
            continue;
        }
        match delete(state_dir, &fleet_dir) {
            Ok(()) => pruned.deleted.push(id),
            Err(error) => pruned.failed.push((id.0, error)),
        }
        drop(lock);
    }
    Ok(pruned)
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

/// Removes what a deletion left when it was cut off, and old folders of fleets whose making was.
fn finish_earlier(state_dir: &StateDir, now: Moment, pruned: &mut Pruned) -> io::Result<()> {
    for entry in fs::read_dir(state_dir.fleets())? {
        let entry = entry?;
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let is_unmade = || {
            let has = |file: &str| path.join(file).symlink_metadata().is_ok();
            !has("fleet.json") && !has("journal.jsonl") && now.since(changed(&path)) > KEEP_FOR
        };
        if (name.strip_prefix(DELETING).is_some_and(is_id) || (is_id(&name) && is_unmade()))
            && let Err(error) = fs::remove_dir_all(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            pruned.failed.push((name, error));
        }
    }
    Ok(())
}

/// Returns when a file or folder was last changed; never, if that cannot be told, so that nothing goes.
fn changed(path: &Path) -> Moment {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(Moment(u64::MAX), |since| Moment(0).after(since))
}

#[cfg(test)]
mod tests;
