//! Reads the files in which an agent's program records its session. They are its own, so whatever is wrong with them is no
//! trouble: then what its output tells is all there is.
//!
//! What may go here: finding these files, how far each is read. What may not: what a line means, a clock.

use std::cmp::Reverse;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::files;
use super::lines::{Lines, Whole};
use crate::adapters::{LineReader, Part, SessionFiles};
use crate::core::Fact;

/// Files of one session that are read, the largest: a program that makes one more for each run leaves those nearly empty.
const FILES: usize = 16;
/// Entries of folders that one search looks at: some hundred projects, or days with some thousand sessions.
const ENTRIES: usize = 10_000;
/// Looks at which a file that is not there yet is searched for each time, and how many pass between two searches later.
const SOON: u32 = 20;
const SELDOM: u32 = 16;
/// Most looks between two searches for a file that does not come: each search in vain after the first looks doubles them.
const MOST_SELDOM: u32 = 256;
/// Entries that one look may cost on average: a search that has looked at more is paid with looks at which none is made,
/// so that many agents whose programs keep thousands of sessions take no more than a part of the one thread that reads.
const ENTRIES_PER_LOOK: usize = 200;
/// What is read of a file when it is found, at most, counted from its end: earlier runs of a long session do not matter,
/// and a second of reading is enough for any single one.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes at the beginning of a file that say whose it is; the lines seen there have some hundred.
const HEAD_BYTES: u64 = 4096;

/// The record of one session.
pub(super) struct Session {
    files: SessionFiles,
    found: Vec<Followed>,
    looks: u32,
    /// Look from which on the next search may be made.
    next: u32,
    /// Looks between the last search in vain and the next one.
    pause: u32,
}

/// One file of it.
struct Followed {
    path: PathBuf,
    /// Device and inode: another file may take its place.
    identity: (u64, u64),
    size: u64,
    lines: Lines,
}

impl Session {
    /// Begins with nothing found.
    pub(super) const fn new(files: SessionFiles) -> Self {
        Self { files, found: Vec::new(), looks: 0, next: 0, pause: 1 }
    }

    /// Lets the next look search for a file that is still missing, whatever the last searches came to: none comes after it.
    pub(super) fn hurry(&mut self) {
        if self.found.is_empty() {
            (self.next, self.looks) = (0, 0);
        }
    }

    /// Looks for files and at their sizes; `is_likely`: the program has just done something. Returns whether there is more
    /// than at the last look.
    pub(super) fn look(&mut self, is_likely: bool) -> bool {
        let is_missing = self.found.is_empty() && (is_likely || self.looks < SOON);
        if self.looks >= self.next && (is_missing || self.looks.is_multiple_of(SELDOM)) {
            let looked_at = self.search();
            if self.found.is_empty() && self.looks >= SOON {
                self.pause = MOST_SELDOM.min(self.pause.saturating_mul(2));
            }
            let cost = u32::try_from(looked_at / ENTRIES_PER_LOOK).unwrap_or(u32::MAX);
            let pause = if self.found.is_empty() { self.pause } else { SELDOM };
            self.next = self.looks.saturating_add(pause.max(cost));
        }
        self.looks = self.looks.saturating_add(1);
        let mut has_grown = false;
        for followed in &mut self.found {
            has_grown |= followed.look();
        }
        has_grown
    }

    /// Returns how many bytes are not yet read.
    pub(super) fn left(&self) -> u64 {
        self.found.iter().map(Followed::left).fold(0, u64::saturating_add)
    }

    /// Reads on, at most `budget` bytes, and tells what the lines come to when nothing is left.
    pub(super) fn turn(
        &mut self,
        budget: u64,
        buffer: &mut [u8],
        reader: &mut dyn LineReader,
        facts: &mut Vec<Fact>,
    ) {
        let mut left = budget;
        for followed in &mut self.found {
            left = left.saturating_sub(followed.turn(left, buffer, reader));
        }
        if self.left() == 0 {
            reader.session_read(facts);
        }
    }

    /// Takes last lines that have no end, and tells what all of them come to.
    pub(super) fn finish(&mut self, reader: &mut dyn LineReader, facts: &mut Vec<Fact>) {
        for followed in &mut self.found {
            followed.lines.end(|line| take(reader, line));
            followed.lines.shrink();
        }
        reader.session_read(facts);
    }

    /// Searches; returns how many entries of folders were looked at.
    fn search(&mut self) -> usize {
        let mut search = Search { left: ENTRIES, found: Vec::new() };
        for way in &self.files.ways {
            search.walk(&self.files.folder, way);
        }
        search.found.sort_by_key(|(_, metadata)| Reverse(metadata.len()));
        for (path, metadata) in search.found {
            let is_known = self.found.iter().any(|followed| followed.path == path);
            if self.found.len() < FILES && !is_known && is_of(&path, self.files.says.as_deref()) {
                self.found.push(Followed::new(path, &metadata));
            }
        }
        ENTRIES - search.left
    }
}

impl Followed {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        let mut followed = Self { path, identity: (0, 0), size: 0, lines: Lines::new(0) };
        followed.begin(metadata);
        followed
    }

    fn begin(&mut self, metadata: &Metadata) {
        self.identity = identity(metadata);
        self.lines = match metadata.len().checked_sub(MOST_BYTES) {
            Some(before) if before > 0 => Lines::after(before),
            Some(_) | None => Lines::new(0),
        };
        self.size = self.lines.at();
    }

    /// Takes the size. A file that is another one now, or that was cut, is read again from its start.
    fn look(&mut self) -> bool {
        let mut before = self.size;
        match self.path.symlink_metadata() {
            Ok(metadata) if metadata.is_file() => {
                if identity(&metadata) != self.identity || metadata.len() < self.lines.at() {
                    self.begin(&metadata);
                    before = self.size;
                }
                self.size = metadata.len();
            }
            Ok(_) | Err(_) => self.size = self.lines.at(),
        }
        self.size > before
    }

    const fn left(&self) -> u64 {
        self.size.saturating_sub(self.lines.at())
    }

    /// Returns how many bytes were read.
    fn turn(&mut self, budget: u64, buffer: &mut [u8], reader: &mut dyn LineReader) -> u64 {
        let begin = self.lines.at();
        if self.left() > 0 && budget > 0 && self.read(budget, buffer, reader).is_err() {
            // Not tried again until it has grown.
            self.lines.go_to(self.size);
        }
        self.lines.at().saturating_sub(begin)
    }

    fn read(
        &mut self,
        budget: u64,
        buffer: &mut [u8],
        reader: &mut dyn LineReader,
    ) -> io::Result<()> {
        let file = self.open()?;
        let stop = self.size.min(self.lines.at().saturating_add(budget));
        while self.lines.at() < stop {
            let at = self.lines.at();
            let wanted = usize::try_from(stop - at).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..wanted).unwrap_or_default();
            let filled = files::read_at(&file, part, at)?;
            let part = part.get(..filled).unwrap_or_default();
            self.lines.feed(part, |line| take(reader, line));
            if filled < wanted {
                // It has become shorter since the look; the next one tells.
                self.size = self.lines.at();
                break;
            }
        }
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        let file = files::open(&self.path)?;
        let is_same = identity(&file.metadata()?) == self.identity;
        if is_same { Ok(file) } else { Err(io::Error::other("another file is there now")) }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Takes a line of the record; one that is too long has no numbers that anybody waits for.
fn take(reader: &mut dyn LineReader, line: Whole<'_>) {
    if let Whole::Structured(line) = line {
        reader.session_line(line);
    }
}

/// Says whether the beginning of a file says what it should.
fn is_of(path: &Path, says: Option<&str>) -> bool {
    let Some(says) = says else { return true };
    let mut head = vec![0; usize::try_from(HEAD_BYTES).unwrap_or_default()];
    let read = files::open(path).and_then(|file| files::read_at(&file, &mut head, 0));
    let filled = read.unwrap_or_default();
    head.get(..filled).is_some_and(|head| memmem::find(head, says.as_bytes()).is_some())
}

/// A search for files.
struct Search {
    /// Entries that may still be looked at.
    left: usize,
    found: Vec<(PathBuf, Metadata)>,
}

impl Search {
    fn walk(&mut self, folder: &Path, way: &[Part]) {
        let Some((part, rest)) = way.split_first() else { return };
        if let Part::Named(name) = part {
            self.enter(&folder.join(name), rest);
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Ok(entry) = entry else { return };
            let name = entry.file_name();
            let fits = match part {
                Part::Like(begin, end) => {
                    let name = name.as_encoded_bytes();
                    name.starts_with(begin.as_bytes()) && name.ends_with(end.as_bytes())
                }
                Part::Any | Part::Named(_) => true,
            };
            if fits {
                self.enter(&entry.path(), rest);
            }
        }
    }

    fn enter(&mut self, path: &Path, rest: &[Part]) {
        if !rest.is_empty() {
            self.walk(path, rest);
        } else if let Ok(metadata) = path.symlink_metadata()
            && metadata.is_file()
        {
            self.found.push((path.to_owned(), metadata));
        }
    }
}

#[cfg(test)]
mod tests;
