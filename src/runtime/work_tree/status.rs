//! What git says of a work tree: reading it, and what has changed between two times.
//!
//! What may go here: text and stamps. What may not: running git.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Most paths of one status. In a folder with more, nobody reads the list of those that one agent changed.
const PATHS: usize = 5_000;
/// Time of the last change and size of a file; `None` if there is none.
pub(super) type Stamp = Option<(i64, i64, u64)>;

/// Returns the time that a file would be given which changes now, in seconds and nanoseconds. On Linux files have a clock
/// that is a few milliseconds behind.
#[cfg(target_os = "linux")]
pub(super) fn now() -> (i64, i64) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    (now.tv_sec, now.tv_nsec)
}

/// Returns the time that a file would be given which changes now, in seconds and nanoseconds.
#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> (i64, i64) {
    latest()
}

/// Returns the latest time that a file can have been given until now, in seconds and nanoseconds: some systems use the
/// precise clock as well.
pub(super) fn latest() -> (i64, i64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), i64::from(now.subsec_nanos()))
}

/// Looks at a file. A link is looked at itself.
pub(super) fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.mtime(), metadata.mtime_nsec(), metadata.size()))
}

/// A work tree at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    /// The commit that is checked out; `None` before the first one.
    pub(super) head: Option<String>,
    /// Paths below the top of the work tree that differ from it, and how those files look.
    pub(super) paths: BTreeMap<PathBuf, Stamp>,
}

/// Reads the output of `git status --porcelain=v2 --branch -z`, and looks at the files that it names. `None` if it is not
/// whole, has too much in it, or is not understood.
pub(super) fn read(bytes: &[u8], top: &Path) -> Option<Status> {
    let mut status = Status { head: None, paths: BTreeMap::new() };
    if !bytes.is_empty() && bytes.last() != Some(&0) {
        return None;
    }
    let mut fields = bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    while let Some(field) = fields.next() {
        // Blanks before the path, by the sort of the entry.
        let blanks = match field.first()? {
            b'#' => {
                if let Some(head) = field.strip_prefix(b"# branch.oid ") {
                    status.head = commit(head);
                }
                continue;
            }
            b'?' | b'!' => 1,
            b'1' => 8,
            b'2' => 9,
            b'u' => 10,
            _ => return None,
        };
        let path = field.splitn(blanks + 1, |byte| *byte == b' ').nth(blanks)?;
        let mut take = |path: &[u8]| {
            let path = PathBuf::from(OsStr::from_bytes(path));
            let seen = stamp(&top.join(&path));
            status.paths.insert(path, seen);
        };
        take(path);
        if field.first() == Some(&b'2') {
            // The path that it had before comes after it.
            take(fields.next()?);
        }
        if status.paths.len() > PATHS {
            return None;
        }
    }
    Some(status)
}

/// Returns the name of a commit; git says `(initial)` where there is none.
fn commit(text: &[u8]) -> Option<String> {
    let is_name = text.len() >= 40 && text.iter().all(u8::is_ascii_hexdigit);
    is_name.then(|| String::from_utf8_lossy(text).into_owned())
}

/// Reads the output of `git diff --name-only -z`.
pub(super) fn names(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty()).take(PATHS + 1);
    let names: Vec<_> = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    (names.len() <= PATHS).then_some(names)
}

/// Returns the paths that changed from `before`, which was looked at from `since` on, to `after`, of which `committed`
/// differ between their commits. What was changed before and looks as it did then has not changed.
pub(super) fn changed(
    before: &Status,
    since: (i64, i64),
    after: &Status,
    committed: &[PathBuf],
    top: &Path,
) -> Vec<PathBuf> {
    let mut all: Vec<&PathBuf> =
        before.paths.keys().chain(after.paths.keys()).chain(committed).collect();
    all.sort();
    all.dedup();
    let has_changed = |path: &&PathBuf| match before.paths.get(*path) {
        None => true,
        Some(seen) => {
            // An agent can be faster than the first look.
            let is_new = seen.is_some_and(|(seconds, nanos, _)| (seconds, nanos) >= since);
            is_new || stamp(&top.join(path)) != *seen
        }
    };
    all.into_iter().filter(has_changed).cloned().collect()
}

/// Returns those of the paths that have not changed since then, and whether all of them tell when they did: what is not
/// there does not.
pub(super) fn until(paths: Vec<PathBuf>, then: (i64, i64), top: &Path) -> (Vec<PathBuf>, bool) {
    let times = paths.into_iter().map(|path| (stamp(&top.join(&path)), path));
    let is_older = |(seen, _): &(Stamp, PathBuf)| {
        seen.is_none_or(|(seconds, nanos, _)| (seconds, nanos) <= then)
    };
    let times: Vec<_> = times.filter(is_older).collect();
    let has_time = times.iter().all(|(seen, _)| seen.is_some());
    let paths = times.into_iter().map(|(_, path)| path).collect();
    (paths, has_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(status: &Status) -> Vec<&str> {
        status.paths.keys().map(|path| path.to_str().unwrap()).collect()
    }

    #[test]
    fn every_sort_of_entry_gives_its_paths_with_blanks_and_line_breaks() {
        let text = b"# branch.oid 0123456789012345678901234567890123456789\0# branch.head main\0\
            1 .M N... 100644 100644 100644 aaaa bbbb a file\0\
            2 R. N... 100644 100644 100644 aaaa bbbb R100 new name\0old name\0\
            u UU N... 100644 100644 100644 100644 a b c both\0? not\nknown\0! left out\0";
        let status = read(text, Path::new("/nonexistent")).unwrap();
        assert_eq!(status.head.as_deref(), Some("0123456789012345678901234567890123456789"));
        let expected = ["a file", "both", "left out", "new name", "not\nknown", "old name"];
        assert_eq!(paths(&status), expected);
    }

    #[test]
    fn what_is_cut_off_or_unknown_gives_no_list() {
        let whole = b"# branch.oid (initial)\0? a\0";
        let status = read(whole, Path::new("/nonexistent")).unwrap();
        assert_eq!((status.head.as_deref(), paths(&status)), (None, vec!["a"]));
        for length in 1..whole.len() {
            let cut = read(&whole[..length], Path::new("/nonexistent"));
            assert_eq!(cut.is_some(), whole[length - 1] == 0, "{length}");
        }
        assert_eq!(read(b"7 what\0", Path::new("/nonexistent")), None);
        assert_eq!(read(b"1 .M N...\0", Path::new("/nonexistent")), None);
        let many: Vec<u8> =
            (0..=PATHS).flat_map(|number| format!("? {number}\0").into_bytes()).collect();
        assert_eq!(read(&many, Path::new("/nonexistent")), None);
        assert_eq!(names(b"a\0b c\0"), Some(vec!["a".into(), "b c".into()]));
    }

    #[test]
    fn only_what_looks_different_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        for name in ["same", "edited", "removed", "early"] {
            std::fs::write(top.join(name), name).unwrap();
            if name != "early" {
                let file = std::fs::File::open(top.join(name)).unwrap();
                file.set_modified(long_ago).unwrap();
            }
        }
        let status = |names: &[&str]| {
            let text = format!("? {}\0", names.join("\0? "));
            read(text.as_bytes(), top).unwrap()
        };
        let since = (now().0 - 60, 0);
        let before = status(&["same", "edited", "removed", "early"]);
        std::fs::write(top.join("edited"), "longer than it was").unwrap();
        std::fs::remove_file(top.join("removed")).unwrap();
        std::fs::write(top.join("new"), "new").unwrap();
        let after = status(&["edited", "early", "new"]);
        let committed = ["same".into(), "committed".into()];
        let changed = changed(&before, since, &after, &committed, top);
        let expected = ["committed", "early", "edited", "new", "removed"];
        assert_eq!(changed, expected.map(PathBuf::from));
        // By then only those had: of what is not there the time is not known.
        let expected = ["committed", "removed"].map(PathBuf::from);
        assert_eq!(until(changed, (now().0 - 60, 0), top), (expected.to_vec(), false));
        let new = || vec![PathBuf::from("new")];
        assert_eq!(until(new(), (now().0 + 60, 0), top), (new(), true));
    }
}
