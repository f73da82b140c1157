//! Whether the files that an agent says it has changed are there, and newer than its start.
//!
//! What may go here: one look, when it has ended. What may not: what is said of it; lists by git, which are seen already.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use super::host::Host;
use crate::core::{AgentId, Moment, Tails};

/// Most files that are looked at: nobody reads more names, and each look may have to wait for a disk.
const MOST: usize = 50;
/// Times of files are this coarse on some systems.
const COARSE: Duration = Duration::from_secs(2);

impl Host {
    /// Notes in what was seen last of an agent which of the files that it has told of bear that out.
    pub(super) fn with_evidence(&self, id: AgentId, tails: Tails) -> Tails {
        let told = self.fleet.work(id).and_then(|work| work.result.as_ref());
        let files = told.map(|result| result.files_changed.as_slice()).unwrap_or_default();
        let known = self.fleet.task(id).zip(self.fleet.dispatched_at(id));
        let Some((task, started)) = known.filter(|_| !files.is_empty()) else { return tails };
        let is_unseen = |file: &&String| !is_newer(&task.root.join(file), started);
        let unseen = files.iter().take(MOST).filter(is_unseen).cloned().collect();
        Tails { unseen: Some(unseen), ..tails }
    }
}

/// Says whether something is there that was written, or came there, after a moment. That time cannot be set by hand.
fn is_newer(path: &Path, moment: Moment) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let changed = Moment::default().after(Duration::from_secs(seconds).saturating_add(COARSE));
    changed >= moment
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Clock;

    #[test]
    fn what_is_missing_or_older_is_not_newer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let before = Clock::wall();
        assert!(!is_newer(&file, before), "it is not there");
        std::fs::write(&file, "x").unwrap();
        assert!(is_newer(&file, before));
        assert!(!is_newer(&file, Clock::wall().after(COARSE * 3)));
        // What is moved into its place is new there, whatever its age.
        let old = std::time::SystemTime::UNIX_EPOCH;
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        std::fs::rename(&file, folder.path().join("moved")).unwrap();
        assert!(is_newer(&folder.path().join("moved"), before));
    }
}
