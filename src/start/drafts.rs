//! Where a screen keeps its draft: two screens of one folder must not write over each other's.
//!
//! What may go here: choosing the file. What may not: reading and writing it, which the screen does.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::journal;

/// Screens of one folder that keep their drafts; a draft beside so many open ones is not kept.
const MOST: u32 = 9;

/// A file for a draft that no other screen has as long as this lives.
#[derive(Debug)]
pub(super) struct DraftPlace {
    path: PathBuf,
    /// Its lock is let go when this is closed. `None` where the file system knows none.
    lock: Option<File>,
}

impl Drop for DraftPlace {
    /// Removes what nobody needs: a lock that guards no draft.
    fn drop(&mut self) {
        if self.lock.is_some() && !self.path.exists() {
            let _ = std::fs::remove_file(self.path.with_extension("lock"));
        }
    }
}

impl DraftPlace {
    /// Takes a file for drafts of tasks for a folder: one with a draft that was left, if there is any.
    pub(super) fn take(drafts: &Path, folder: &Path) -> Option<Self> {
        // A lock is only made where there is a draft to take, or for the one place that is kept.
        let (left, free): (Vec<u32>, Vec<u32>) =
            (1..=MOST).partition(|number| path_of(drafts, folder, *number).exists());
        let taken = |number| Self::take_one(drafts, folder, number);
        left.into_iter().find_map(taken).or_else(|| free.into_iter().find_map(taken))
    }

    fn take_one(drafts: &Path, folder: &Path, number: u32) -> Option<Self> {
        let path = path_of(drafts, folder, number);
        match lock(&path.with_extension("lock")) {
            Ok(None) => None,
            Ok(lock) => Some(Self { path, lock }),
            Err(_) => Some(Self { path, lock: None }),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Takes a lock; `None` while another screen has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    // A file that was removed by whoever let it go in between guards nothing: there is another one of its name by then.
    for _ in 0..MOST {
        let file = journal::open_to_append(path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path)? => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// Says whether an open file is the one that has this path now.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match path.symlink_metadata() {
        Ok(now) => Ok((now.dev(), now.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the file of a folder's draft with this number.
fn path_of(drafts: &Path, folder: &Path, number: u32) -> PathBuf {
    let hash = hash(folder);
    let name = if number == 1 { format!("{hash:016x}") } else { format!("{hash:016x}-{number}") };
    drafts.join(format!("{name}.txt"))
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

    #[test]
    fn a_start_makes_one_lock_and_leaves_none_without_a_draft() {
        let drafts = tempfile::tempdir().unwrap();
        let take = || DraftPlace::take(drafts.path(), Path::new("/a"));
        let files = || std::fs::read_dir(drafts.path()).unwrap().count();
        let one = take();
        assert_eq!(files(), 1);
        let other = take();
        assert_eq!(files(), 2);
        drop(other);
        assert_eq!(files(), 1);
        std::fs::write(one.as_ref().unwrap().path(), "left").unwrap();
        drop(one);
        assert_eq!(files(), 2, "the draft and its lock");
        let again = take().unwrap();
        std::fs::remove_file(again.path()).unwrap();
        drop(again);
        assert_eq!(files(), 0);
    }

    #[test]
    fn a_lock_that_was_removed_while_it_was_waited_for_guards_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let old = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&old, &path).unwrap());
        let new = lock(&path).unwrap().unwrap();
        assert!(is_at(&new, &path).unwrap() && !is_at(&old, &path).unwrap());
    }
}
