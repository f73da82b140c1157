//! Where a screen keeps its draft: two screens of one folder must not write over each other's.
//!
//! What may go here: choosing the file. What may not: reading and writing it, which the screen does.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::journal;

/// Screens of one folder that keep their drafts; a draft beside so many open ones is not kept.
const MOST: u32 = 9;

/// A file for a draft that no other screen has as long as this lives.
#[derive(Debug)]
pub(super) struct DraftPlace {
    path: PathBuf,
    /// Its lock is let go when this is closed. `None` where the file system knows none.
    _lock: Option<File>,
}

impl DraftPlace {
    /// Takes a file for drafts of tasks for a folder: one with a draft that was left, if there is any.
    pub(super) fn take(drafts: &Path, folder: &Path) -> Option<Self> {
        let mut free = None;
        for number in 1..=MOST {
            let Some(place) = Self::take_one(drafts, folder, number) else { continue };
            if place.path.exists() {
                return Some(place);
            }
            free.get_or_insert(place);
        }
        free
    }

    fn take_one(drafts: &Path, folder: &Path, number: u32) -> Option<Self> {
        let hash = hash(folder);
        let name =
            if number == 1 { format!("{hash:016x}") } else { format!("{hash:016x}-{number}") };
        let path = drafts.join(format!("{name}.txt"));
        let lock = || -> io::Result<Option<File>> {
            let file = journal::open_to_append(&drafts.join(format!("{name}.lock")))?;
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        match lock() {
            Ok(None) => None,
            Ok(lock) => Some(Self { path, _lock: lock }),
            Err(_) => Some(Self { path, _lock: None }),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Names a folder's draft (FNV-1a): a hash of the library's may be another one in the next version of this program.
fn hash(folder: &Path) -> u64 {
    let bytes = folder.as_os_str().as_bytes().iter();
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(place: Option<&DraftPlace>) -> String {
        let place = place.expect("there is room for one more");
        place.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    #[test]
    fn each_screen_of_a_folder_has_a_file_of_its_own() {
        let drafts = tempfile::tempdir().unwrap();
        let take = |folder: &str| DraftPlace::take(drafts.path(), Path::new(folder));
        let places: Vec<_> = (0..MOST).map(|_| take("/a")).collect();
        let mut names: Vec<String> = places.iter().map(|place| name(place.as_ref())).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), places.len());
        assert!(take("/a").is_none(), "there are enough");
        assert!(take("/b").is_some());
    }

    #[test]
    fn a_draft_that_was_left_is_found_by_the_next_screen_whichever_it_was() {
        let drafts = tempfile::tempdir().unwrap();
        let take = || DraftPlace::take(drafts.path(), Path::new("/a"));
        let (one, other) = (take(), take());
        std::fs::write(other.as_ref().unwrap().path(), "left").unwrap();
        let left = name(other.as_ref());
        assert_ne!(name(take().as_ref()), left, "it is in use");
        drop((one, other));
        assert_eq!(name(take().as_ref()), left);
    }
}
