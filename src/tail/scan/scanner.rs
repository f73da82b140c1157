//! Reads one agent's output: each line once, in order, in turns of bounded size.
//!
//! What may go here: which file is read when, and what its end tells. What may not: threads, clocks, what a line means.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::errors::Errors;
use super::files;
use super::lines::{Lines, Whole};
use super::session::Session;
use crate::adapters::{Closing, Ended, LineReader, last_line};
use crate::core::{Fact, Tails};

/// How far back the closing object is looked for, in bytes.
const CLOSING_BYTES: u64 = 8 << 20;
/// How far back the last line is looked for where no closing object is, in bytes.
const LAST_LINE_BYTES: u64 = 256 * 1024;
/// Most bytes of a report; a longer one is not whole, and so not understood.
const REPORT_BYTES: u64 = 1 << 20;
/// A turn ends early with so many facts, so that a flood of tiny lines cannot fill the memory.
const FACTS_PER_TURN: usize = 4096;

/// What a look at the sizes of an agent's files has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// One of them has changed its size since the last look.
    pub has_changed: bool,
    /// Bytes of `out` and of the record of the session that are not yet read.
    pub left: u64,
    /// There is something to read, in `out` or in `err`.
    pub is_due: bool,
}

/// The reading of one agent's output. Reads only when told to, and never more than it is told.
pub struct Scanner {
    out: PathBuf,
    err: PathBuf,
    reader: Box<dyn LineReader>,
    lines: Lines,
    out_size: u64,
    err_size: u64,
    errors: Errors,
    unreadable: Option<String>,
    /// What some programs write at their end.
    report: Option<PathBuf>,
    /// What the reader has noted last.
    notes: Option<String>,
    /// The program's own record, once the reader knows where that is.
    session: Option<Session>,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("out", &self.out)
            .field("at", &self.lines.at())
            .finish_non_exhaustive()
    }
}

impl Scanner {
    /// Makes a scanner that goes on at `offset`, which [`Scanner::offset`] has given before; 0 for a new agent.
    pub fn new(out: PathBuf, err: PathBuf, offset: u64, reader: Box<dyn LineReader>) -> Self {
        Self {
            out,
            err,
            reader,
            lines: Lines::new(offset),
            out_size: offset,
            err_size: 0,
            errors: Errors::default(),
            unreadable: None,
            report: None,
            notes: None,
            session: None,
        }
    }

    /// Names the file in which the agent's program may leave a report of its end.
    #[must_use]
    pub fn with_report(mut self, report: PathBuf) -> Self {
        self.report = Some(report);
        self
    }

    /// Returns how many bytes of `out` are accounted for by the facts so far: all before the unfinished line.
    pub const fn offset(&self) -> u64 {
        self.lines.ended()
    }

    /// Takes the sizes of both files and of the record of the session. An `out` that has become shorter is read again from
    /// its start.
    pub fn look(&mut self) -> Look {
        let out_size = self.size(Which::Out);
        let err_size = self.size(Which::Err);
        let has_output = (out_size, err_size) != (self.out_size, self.err_size);
        (self.out_size, self.err_size) = (out_size, err_size);
        if out_size < self.lines.at() {
            self.lines.go_to(0);
        }
        if !self.reader.reads_lines() {
            self.lines.go_to(out_size);
        }
        self.errors.look(err_size);
        self.find_session();
        let session = self.session.as_mut().is_some_and(|session| session.look(has_output));
        let left = self.left();
        let has_errors = self.reader.reads_errors() && self.errors.is_due();
        Look { has_changed: has_output || session, left, is_due: left > 0 || has_errors }
    }

    /// Looks for the last time: the agent has ended.
    pub fn look_last(&mut self) -> Look {
        if let Some(session) = &mut self.session {
            session.hurry();
        }
        self.look()
    }

    /// Takes what is there as written before anybody looked: it changes no size any more, and `err` is read from its end on.
    pub fn adopt(&mut self) -> Look {
        let look = self.look();
        self.errors.skip();
        Look { is_due: look.left > 0, ..look }
    }

    /// Begins with the record of the session when its place has become known.
    fn find_session(&mut self) {
        if self.session.is_none() {
            self.session = self.reader.session_files().map(Session::new);
        }
    }

    /// Reads on, of the output and of the record of the session at most `budget` bytes each, and not beyond the sizes
    /// of the last look. Returns how many bytes are left.
    pub fn turn(&mut self, budget: u64, buffer: &mut [u8], facts: &mut Vec<Fact>) -> u64 {
        // First, since what `out` tells of a time after that takes back what failed before.
        if self.reader.reads_errors() && self.errors.is_due() {
            let read = self.errors.read(&self.err, &mut *self.reader, facts);
            if let Err(error) = read {
                self.note(Which::Err, &error);
                self.errors.skip();
            }
        }
        if self.out_left() > 0 {
            let read = self.read(budget, buffer, facts);
            self.note_down(facts);
            if let Err(error) = read {
                self.note(Which::Out, &error);
                // What cannot be read now is not tried again until the file has grown.
                self.lines.go_to(self.out_size);
            }
            if self.session.is_none() {
                self.find_session();
                let _ = self.session.as_mut().is_some_and(|session| session.look(true));
            }
        }
        if let Some(session) = &mut self.session {
            session.turn(budget, buffer, self.reader.as_mut(), facts);
        }
        self.left()
    }

    /// Takes the last line, the closing object and what the end itself tells, once everything is read; `code` is the
    /// agent's exit code, if it has one. Returns what was seen last.
    pub fn finish(&mut self, code: Option<i32>, facts: &mut Vec<Fact>) -> Tails {
        self.lines.end(|line| take(self.reader.as_mut(), line, facts));
        self.lines.shrink();
        if let Some(session) = &mut self.session {
            session.finish(self.reader.as_mut(), facts);
        }
        let out_line = self.close_out(facts).unwrap_or_else(|error| {
            self.note(Which::Out, &error);
            None
        });
        let err = match files::read_end(&self.err, self.err_size, LAST_LINE_BYTES) {
            Ok(end) => end,
            Err(error) => {
                self.note(Which::Err, &error);
                Vec::new()
            }
        };
        let report = self.read_report();
        self.reader.ended(Ended { err: &err, report: &report, code }, facts);
        let err_line = last_line(&err, |_| true);
        Tails {
            out_line,
            err_line,
            out_bytes: self.out_size,
            err_bytes: self.err_size,
            unreadable: self.unreadable.clone(),
            diagnostic: None,
            unseen: None,
        }
    }

    /// Returns what the program has reported at its end; of one that is there and cannot be read that is noted.
    fn read_report(&mut self) -> Vec<u8> {
        let Some(report) = &self.report else { return Vec::new() };
        let read = files::size(report).and_then(|size| match size {
            0 => Ok(Vec::new()),
            size => files::read_end(report, size, REPORT_BYTES),
        });
        read.unwrap_or_else(|error| {
            self.unreadable = Some(format!("could not read {}: {error}", report.display()));
            Vec::new()
        })
    }

    /// Tells what the reader has noted, if that is new.
    fn note_down(&mut self, facts: &mut Vec<Fact>) {
        let notes = self.reader.notes();
        if notes != self.notes {
            facts.extend(notes.clone().map(Fact::Notes));
            self.notes = notes;
        }
    }

    fn left(&self) -> u64 {
        self.out_left().saturating_add(self.session.as_ref().map_or(0, Session::left))
    }

    const fn out_left(&self) -> u64 {
        self.out_size.saturating_sub(self.lines.at())
    }

    fn size(&mut self, which: Which) -> u64 {
        match files::size(self.path(which)) {
            Ok(size) => size,
            Err(error) => {
                self.note(which, &error);
                match which {
                    Which::Out => self.out_size,
                    Which::Err => self.err_size,
                }
            }
        }
    }

    fn path(&self, which: Which) -> &Path {
        match which {
            Which::Out => &self.out,
            Which::Err => &self.err,
        }
    }

    fn note(&mut self, which: Which, error: &io::Error) {
        let path = self.path(which).display();
        self.unreadable = Some(format!("could not read {path}: {error}"));
    }

    fn read(&mut self, budget: u64, buffer: &mut [u8], facts: &mut Vec<Fact>) -> io::Result<()> {
        let file = files::open(&self.out)?;
        let stop = self.out_size.min(self.lines.at().saturating_add(budget));
        while self.lines.at() < stop && facts.len() < FACTS_PER_TURN {
            let at = self.lines.at();
            let wanted = usize::try_from(stop - at).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..wanted).unwrap_or_default();
            let filled = files::read_at(&file, part, at)?;
            let part = part.get(..filled).unwrap_or_default();
            self.lines.feed(part, |line| take(self.reader.as_mut(), line, facts));
            if filled < wanted {
                // It has become shorter since the look; the next one tells.
                self.out_size = self.lines.at();
                break;
            }
        }
        Ok(())
    }

    /// Looks at the end of `out`: for the closing object, and for the last line that is for people.
    fn close_out(&mut self, facts: &mut Vec<Fact>) -> io::Result<Option<String>> {
        if self.out_size == 0 {
            return Ok(None);
        }
        let reads_closing = self.reader.reads_closing();
        let most = if reads_closing { CLOSING_BYTES } else { LAST_LINE_BYTES };
        let end = files::read_end(&self.out, self.out_size, most)?;
        let is_whole = self.out_size <= most;
        // The window may begin inside a line.
        let first_line =
            if is_whole { Some(0) } else { memchr(b'\n', &end).map(|place| place + 1) };
        let lines = first_line.and_then(|first| end.get(first..)).unwrap_or_default();
        let object_end = if reads_closing {
            self.reader.closing(Closing { bytes: lines, is_whole }, facts)
        } else {
            None
        };
        // Lines before the closing object are a banner and no last word.
        let said =
            object_end.map_or(lines, |object_end| lines.get(object_end..).unwrap_or_default());
        let line = last_line(said, |line| self.reader.is_text(line));
        Ok(line.or_else(|| last_line(&end, |_| true).filter(|_| lines.is_empty())))
    }
}

/// Takes a line of the output.
fn take(reader: &mut dyn LineReader, line: Whole<'_>, facts: &mut Vec<Fact>) {
    match line {
        Whole::Structured(line) => reader.line(line, facts),
        Whole::TooLong => facts.push(Fact::Skipped),
    }
}

/// One of the two output files.
#[derive(Debug, Clone, Copy)]
enum Which {
    Out,
    Err,
}
