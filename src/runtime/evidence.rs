//! Whether the files that an agent says it has changed are there, and newer than its start.
//!
//! What may go here: one look, when it has ended. What may not: what is said of it; lists by git, which are seen already.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::host::Host;
use super::news::News;
use crate::core::{AgentId, Event, Moment, Tails};

/// Most files that are looked at: nobody reads more names, and each look may have to wait for a disk.
const MOST: usize = 50;
/// Longest look, which an end waits for.
const LIMIT: Duration = Duration::from_secs(1);
/// Times of files are this coarse on some systems.
const COARSE: Duration = Duration::from_secs(2);

impl Host {
    /// The output of an agent is read to its end, which is told when it was looked at which of the files that it has told
    /// of bear that out. They can be on a disk that does not answer: the loop does not look at them itself.
    pub(super) fn scanned(&mut self, id: AgentId, tails: Tails) {
        let Some(look) = self.evidence(id) else {
            self.apply(Event::Scanned(id, tails));
            return;
        };
        let (looks, sender) = (self.trees.evidence.clone(), self.sender.clone());
        tokio::spawn(async move {
            let look = looks.look(move || Some(look.unseen()));
            let unseen = tokio::time::timeout(LIMIT, look).await.ok().flatten();
            // The loop has gone: nobody wants to hear more.
            let _ = sender.send(News::Scanned(id, Tails { unseen, ..tails })).await;
        });
    }

    /// Returns what is to be looked at; `None` if the agent has told of no files.
    fn evidence(&self, id: AgentId) -> Option<Evidence> {
        let result = self.fleet.work(id)?.result.as_ref()?;
        let files: Vec<_> = result.files_changed.iter().take(MOST).cloned().collect();
        let started = self.fleet.dispatched_at(id).filter(|_| !files.is_empty())?;
        let folder = self.fleet.options().folder(self.fleet.task(id)?).to_owned();
        Some(Evidence { folder, files, deleted: result.files_deleted.clone(), started })
    }
}

/// The files that an agent says it has changed.
#[derive(Debug)]
struct Evidence {
    folder: PathBuf,
    files: Vec<String>,
    /// Those of them that it says it deleted.
    deleted: Vec<String>,
    started: Moment,
}

impl Evidence {
    /// Looks, and returns the files that do not bear it out.
    fn unseen(&self) -> Vec<String> {
        let is_unseen = |file: &&String| {
            let path = self.folder.join(file);
            let is_deleted = self.deleted.contains(file) && path.symlink_metadata().is_err();
            !is_deleted && !is_newer(&path, self.started)
        };
        self.files.iter().filter(is_unseen).cloned().collect()
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
    fn a_deleted_file_bears_it_out_by_not_being_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("left"), "x").unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let evidence = Evidence {
            folder: folder.path().to_owned(),
            files: names(&["deleted", "missing", "left"]),
            deleted: names(&["deleted", "left"]),
            started: Clock::wall().after(COARSE * 3),
        };
        assert_eq!(evidence.unseen(), ["missing", "left"]);
    }

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
