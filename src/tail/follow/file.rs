//! Follows one output file: what is at its path, how large it is, whether it is still the same text.
//!
//! What may go here: the open descriptor and what `fstat` says about it. What may not: lines, what is on the screen.
//!
//! The descriptor stays open from look to look, since opening is an event of its own to whoever watches the folder.
//! No content is kept but a fingerprint of the bytes before the known end.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tail::scan::files;

/// Bytes before the known end that are compared at every change: enough that other text is not taken for the same.
const FINGERPRINT_BYTES: u64 = 64;

/// Where the shown text comes from.
#[derive(Debug)]
pub(in crate::tail) enum Source {
    /// A file that may grow.
    File(FollowedFile),
    /// A text in memory, which does not change.
    Text(Arc<str>),
}

/// What a look has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tail) enum Change {
    /// Nothing happened.
    None,
    /// There is more text than before.
    Grown,
    /// The text is another one; it was cut, written over or replaced.
    Restarted(Restart),
}

/// Why a text is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tail) enum Restart {
    /// There was no file before.
    Appeared,
    /// The file is shorter than it was, or other text stands where the known text was.
    Truncated,
    /// Another file is at the path.
    Replaced,
}

impl Source {
    /// Looks whether anything changed. With `at_path` also whether the path still names the open file.
    pub(in crate::tail) fn look(&mut self, at_path: bool) -> io::Result<Change> {
        match self {
            Self::File(file) => file.look(at_path),
            Self::Text(_) => Ok(Change::None),
        }
    }

    /// Returns the known size in bytes; `None` when there is nothing at the path.
    pub(in crate::tail) fn size(&self) -> Option<u64> {
        match self {
            Self::File(file) => file.opened.as_ref().map(|opened| opened.size),
            Self::Text(text) => Some(text.len() as u64),
        }
    }

    /// Reads into the buffer from `offset` on, until it is full or the text ends; returns how many bytes that were.
    pub(in crate::tail) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => match &file.opened {
                Some(opened) => files::read_at(&opened.file, buffer, offset),
                None => Ok(0),
            },
            Self::Text(text) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = text.as_bytes().get(start..).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                for (slot, byte) in buffer.iter_mut().zip(rest) {
                    *slot = *byte;
                }
                Ok(count)
            }
        }
    }

    /// Returns a reader of the same text for another thread; `None` when there is nothing to read.
    pub(in crate::tail) fn share(&self) -> io::Result<Option<Self>> {
        match self {
            Self::File(file) => file.share().map(|file| file.map(Self::File)),
            Self::Text(text) => Ok(Some(Self::Text(Arc::clone(text)))),
        }
    }
}

/// A file by its path, open if it is there.
#[derive(Debug)]
pub(in crate::tail) struct FollowedFile {
    path: PathBuf,
    opened: Option<Opened>,
}

#[derive(Debug)]
struct Opened {
    file: File,
    /// Device and number, which tell files apart that had one name after the other.
    identity: (u64, u64),
    size: u64,
    modified: (i64, i64),
    /// The last bytes before `size`.
    fingerprint: Vec<u8>,
}

impl FollowedFile {
    /// Follows what is or will be at a path; nothing is opened before the first look.
    pub(in crate::tail) fn new(path: PathBuf) -> Self {
        Self { path, opened: None }
    }

    pub(in crate::tail) fn path(&self) -> &Path {
        &self.path
    }

    fn look(&mut self, at_path: bool) -> io::Result<Change> {
        let Some(opened) = &mut self.opened else {
            return match open(&self.path)? {
                Some(opened) => {
                    self.opened = Some(opened);
                    Ok(Change::Restarted(Restart::Appeared))
                }
                None => Ok(Change::None),
            };
        };
        let change = opened.look()?;
        if at_path && names_another(&self.path, opened.identity)? {
            // A missing file is no other one: it may be in the middle of a replacement, and what is open can be read.
            if let Some(other) = open(&self.path)? {
                self.opened = Some(other);
                return Ok(Change::Restarted(Restart::Replaced));
            }
        }
        Ok(change)
    }

    fn share(&self) -> io::Result<Option<Self>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let opened = Opened {
            file: opened.file.try_clone()?,
            identity: opened.identity,
            size: opened.size,
            modified: opened.modified,
            fingerprint: opened.fingerprint.clone(),
        };
        Ok(Some(Self { path: self.path.clone(), opened: Some(opened) }))
    }
}

impl Opened {
    fn look(&mut self) -> io::Result<Change> {
        let metadata = self.file.metadata()?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let size = metadata.len();
        if size == self.size && modified == self.modified {
            return Ok(Change::None);
        }
        self.modified = modified;
        let is_same = size >= self.size && fingerprint(&self.file, self.size)? == self.fingerprint;
        let change = match (is_same, size == self.size) {
            (true, true) => return Ok(Change::None),
            (true, false) => Change::Grown,
            (false, _) => Change::Restarted(Restart::Truncated),
        };
        self.size = size;
        self.fingerprint = fingerprint(&self.file, size)?;
        Ok(change)
    }
}

/// Opens what is at a path; `None` when there is nothing.
fn open(path: &Path) -> io::Result<Option<Opened>> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let size = metadata.len();
    let fingerprint = fingerprint(&file, size)?;
    Ok(Some(Opened {
        file,
        identity: (metadata.dev(), metadata.ino()),
        size,
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        fingerprint,
    }))
}

fn names_another(path: &Path, identity: (u64, u64)) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok((metadata.dev(), metadata.ino()) != identity),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn fingerprint(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let length = end.min(FINGERPRINT_BYTES);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let filled = files::read_at(file, &mut bytes, end - length)?;
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use super::{Change, FollowedFile, Restart, Source};

    fn append(path: &std::path::Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn growth_truncation_and_replacement_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut source = Source::File(FollowedFile::new(path.clone()));
        assert_eq!(source.look(true).unwrap(), Change::None);
        assert_eq!(source.size(), None, "there is no file yet");

        append(&path, "one\n");
        assert_eq!(source.look(true).unwrap(), Change::Restarted(Restart::Appeared));
        assert_eq!(source.look(true).unwrap(), Change::None);
        append(&path, "two\n");
        assert_eq!(source.look(true).unwrap(), Change::Grown);
        assert_eq!(source.size(), Some(8));

        fs::write(&path, "new").unwrap();
        assert_eq!(source.look(false).unwrap(), Change::Restarted(Restart::Truncated));
        // Cut and grown past the old size between two looks.
        fs::write(&path, "other text that is longer\n").unwrap();
        assert_eq!(source.look(false).unwrap(), Change::Restarted(Restart::Truncated));

        let next = folder.path().join("next");
        append(&next, "replaced\n");
        fs::rename(&next, &path).unwrap();
        assert_eq!(source.look(false).unwrap(), Change::None, "the open file is what it was");
        assert_eq!(source.look(true).unwrap(), Change::Restarted(Restart::Replaced));
        assert_eq!(source.size(), Some(9));

        fs::remove_file(&path).unwrap();
        assert_eq!(source.look(true).unwrap(), Change::None, "what is open can still be read");
        let mut bytes = [0; 16];
        assert_eq!(source.read_at(&mut bytes, 0).unwrap(), 9);
    }

    #[test]
    fn a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let mut source = Source::File(FollowedFile::new(path));
        source.look(true).unwrap_err();
        assert_eq!(source.size(), None);
    }
}
