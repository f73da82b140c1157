//! The file: begun before its agent starts, written once a turn, cut after a recovery to what is known of it.
//!
//! What may go here: writing. What may not: what is written.
//!
//! Nothing here may hold an agent up. A transcript that cannot be written ends with the reason, which its row tells;
//! its agent is read on as if it were written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::lines::{Lines, line};
use crate::core::{Fact, OpenTool, TranscriptState};

/// Most bytes of a file. The account of a long day's work has some 10,000 lines of 200 bytes, a quarter of it; an agent
/// that tells without end must not fill the disk with a second copy of its output.
const MOST_BYTES: u64 = 8 << 20;

/// What a transcript begins, or goes on, with.
#[derive(Debug, Default)]
pub struct Start {
    /// The file.
    pub path: PathBuf,
    /// Its first lines.
    pub header: String,
    /// How far it was when it was last heard of; nothing for a new agent.
    pub state: TranscriptState,
    /// Tool calls that were open then.
    pub open_tools: Vec<OpenTool>,
    /// The model that was told then.
    pub model: Option<String>,
}

/// The account of one agent while its output is being read.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    pub(super) state: TranscriptState,
    lines: Lines,
    /// Most bytes of the file.
    pub(super) most: u64,
    /// What was told last.
    told: TranscriptState,
}

/// Makes the file with its header, before the agent starts. What is there under its name and is no regular file stays,
/// and is an error.
pub fn begin(path: &Path, header: &str) -> io::Result<()> {
    let file = open(path, true)?;
    file.set_len(0)?;
    file.write_all_at(header.as_bytes(), 0)
}

/// Writes the last line of an agent that is over. `bytes` is what belongs to the file before it; 0 if nobody ever said,
/// and then all of it does. Makes no file: an agent that never was to start has none.
pub fn conclude(path: &Path, bytes: u64, line: &str) -> io::Result<()> {
    let file = match open(path, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let end = if bytes == 0 { file.metadata()?.len() } else { bytes };
    write(&file, line.as_bytes(), end)
}

impl Transcript {
    /// Opens the file where it is to go on: whatever was written after that will be told again, and is cut off.
    pub fn open(start: Start) -> Self {
        Self::with_most(start, MOST_BYTES)
    }

    pub(super) fn with_most(start: Start, most: u64) -> Self {
        let Start { path, header, state, open_tools, model } = start;
        let lines = Lines::go_on(&state, open_tools, model);
        let told = state.clone();
        let mut transcript = Self { path, state, lines, most, told };
        if transcript.state.trouble.is_none() {
            match transcript.place(&header) {
                Ok(bytes) => transcript.state.bytes = bytes,
                Err(error) => transcript.fail(&error),
            }
        }
        transcript
    }

    /// Tells facts in one write. `at` is the time of day, asked for only if there is something to tell.
    pub fn take(&mut self, facts: &[Fact], at: impl FnOnce() -> String) {
        if facts.is_empty() || !self.is_open() {
            return;
        }
        let at = at();
        let mut text = String::new();
        for fact in facts {
            self.lines.tell(fact, &at, &mut text);
            if self.is_filled_by(&mut text, &at) {
                break;
            }
        }
        self.append(&text);
    }

    /// Tells what is left of a text that came in pieces: nothing comes any more.
    pub fn end(&mut self, at: impl FnOnce() -> String) {
        if self.lines.pending.is_none() || !self.is_open() {
            return;
        }
        let (at, mut text) = (at(), String::new());
        self.lines.flush(&at, &mut text);
        self.is_filled_by(&mut text, &at);
        self.append(&text);
    }

    /// Returns how far it is, if that has changed since this was last asked.
    pub fn news(&mut self) -> Option<Fact> {
        if self.state == self.told {
            return None;
        }
        self.told = self.state.clone();
        Some(Fact::Transcript(Box::new(self.state.clone())))
    }

    /// Says whether it cannot be written and nobody was told.
    pub fn has_new_trouble(&self) -> bool {
        self.state.trouble != self.told.trouble
    }

    fn is_open(&self) -> bool {
        self.state.trouble.is_none() && !self.state.is_full
    }

    /// Cuts the file to what is known of it, and returns its length.
    fn place(&self, header: &str) -> io::Result<u64> {
        let file = open(&self.path, true)?;
        let (length, known) = (file.metadata()?.len(), self.state.bytes);
        if known > 0 && length > 0 {
            // Of what somebody took away nothing can be brought back; what comes is told all the same.
            let kept = known.min(length);
            if kept < length {
                file.set_len(kept)?;
            }
            return Ok(kept);
        }
        let first = header.len() as u64;
        let mut begun = vec![0; header.len()];
        let is_begun = length >= first
            && file.read_exact_at(&mut begun, 0).is_ok()
            && begun == header.as_bytes();
        if !is_begun {
            file.set_len(0)?;
            write(&file, header.as_bytes(), 0)?;
        } else if first < length {
            file.set_len(first)?;
        }
        Ok(first)
    }

    /// Says whether the bound is reached; then only whole lines are left of the text, and the one that says so.
    fn is_filled_by(&mut self, text: &mut String, at: &str) -> bool {
        let room = self.most.saturating_sub(self.state.bytes);
        if text.len() as u64 <= room {
            return false;
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let head = text.as_bytes().get(..room).unwrap_or_default();
        text.truncate(memchr::memrchr(b'\n', head).map_or(0, |end| end + 1));
        let words = "this account is full: what comes is told in out, and how it ended below";
        line(at, "fleet", words, 0, usize::MAX, text);
        self.state.is_full = true;
        self.lines.pending = None;
        true
    }

    fn append(&mut self, text: &str) {
        if !text.is_empty() {
            let written = open(&self.path, false)
                .and_then(|file| write(&file, text.as_bytes(), self.state.bytes));
            match written {
                Ok(()) => self.state.bytes += text.len() as u64,
                Err(error) => self.fail(&error),
            }
        }
        self.state.pending.clone_from(&self.lines.pending);
        self.state.is_in_key = self.lines.is_in_key;
    }

    fn fail(&mut self, error: &io::Error) {
        self.lines.pending = None;
        self.state.pending = None;
        self.state.trouble = Some(format!("could not write {}: {error}", self.path.display()));
    }
}

/// Opens a regular file, never through a link, never waiting for the other end of a pipe.
fn open(path: &Path, makes: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(makes)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}

/// Writes all of the text at the end of what belongs to the file, or nothing of it.
fn write(file: &File, text: &[u8], end: u64) -> io::Result<()> {
    file.write_all_at(text, end).inspect_err(|_| {
        // The error that is reported matters more than one of cleaning up after it.
        let _ = file.set_len(end);
    })
}
