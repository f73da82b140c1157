//! Reads one agent's output: each line once, in order, in turns of bounded size.
//!
//! What may go here: where in a file the reading is, what is kept of an unfinished line. What may not: threads, clocks,
//! what a line means.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::files;
use crate::adapters::{Closing, Ended, LineReader, last_line};
use crate::core::{Fact, Tails};

/// Longest line that is looked at, in bytes: structured lines with a whole file in them are shorter, and so much is
/// kept of an unfinished one.
const LINE_BYTES: u64 = 1 << 20;
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
    /// Bytes of `out` that are to be read before the next look.
    pub left: u64,
}

/// What is known of the line that the reading is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of it is read.
    Fresh,
    /// It begins with `{`; its bytes are held.
    Structured,
    /// It begins with something else.
    Text,
    /// It is too long to be held.
    TooLong,
}

/// The reading of one agent's output. Reads only when told to, and never more than it is told.
pub struct Scanner {
    out: PathBuf,
    err: PathBuf,
    reader: Box<dyn LineReader>,
    /// Where the next read begins.
    at: u64,
    /// Where the line begins that the reading is in.
    line_start: u64,
    line: Line,
    held: Vec<u8>,
    out_size: u64,
    err_size: u64,
    /// Where reading stops until the next look: at the size of the last one, or before.
    stop: u64,
    unreadable: Option<String>,
    /// What some programs write at their end.
    report: Option<PathBuf>,
    /// What the reader has noted last.
    notes: Option<String>,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("out", &self.out)
            .field("at", &self.at)
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
            at: offset,
            line_start: offset,
            line: Line::Fresh,
            held: Vec::new(),
            out_size: offset,
            err_size: 0,
            stop: offset,
            unreadable: None,
            report: None,
            notes: None,
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
        self.line_start
    }

    /// Takes the sizes of both files. An `out` that has become shorter is read again from its start.
    pub fn look(&mut self) -> Look {
        self.look_for(u64::MAX)
    }

    /// Looks, and has no more than so many bytes of `out` read before the next look.
    pub fn look_for(&mut self, most: u64) -> Look {
        let out_size = self.size(Which::Out);
        let err_size = self.size(Which::Err);
        let has_changed = (out_size, err_size) != (self.out_size, self.err_size);
        (self.out_size, self.err_size) = (out_size, err_size);
        if out_size < self.at {
            self.go_to(0);
        }
        if !self.reader.reads_lines() {
            self.go_to(out_size);
        }
        self.stop = self.at.saturating_add(most).min(out_size);
        Look { has_changed, left: self.left() }
    }

    /// Reads on, at most `budget` bytes and not beyond what the last look allows. Returns how many bytes are left.
    pub fn turn(&mut self, budget: u64, buffer: &mut [u8], facts: &mut Vec<Fact>) -> u64 {
        if self.left() == 0 {
            return 0;
        }
        let read = self.read(budget, buffer, facts);
        self.note_down(facts);
        match read {
            Ok(()) => self.left(),
            Err(error) => {
                self.note(Which::Out, &error);
                // What cannot be read now is not tried again until the file has grown.
                self.go_to(self.out_size);
                0
            }
        }
    }

    /// Takes the last line, the closing object and what the end itself tells, once everything is read; `code` is the
    /// agent's exit code, if it has one. Returns what was seen last.
    pub fn finish(&mut self, code: Option<i32>, facts: &mut Vec<Fact>) -> Tails {
        if self.line != Line::Fresh {
            self.end_line(facts);
        }
        self.held = Vec::new();
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

    const fn left(&self) -> u64 {
        self.stop.saturating_sub(self.at)
    }

    fn go_to(&mut self, offset: u64) {
        (self.at, self.line_start, self.line) = (offset, offset, Line::Fresh);
        self.held.clear();
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
        let stop = self.stop.min(self.at.saturating_add(budget));
        while self.at < stop && facts.len() < FACTS_PER_TURN {
            let wanted = usize::try_from(stop - self.at).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..wanted).unwrap_or_default();
            let filled = files::read_at(&file, part, self.at)?;
            self.feed(part.get(..filled).unwrap_or_default(), facts);
            if filled < wanted {
                // It has become shorter since the look; the next one tells.
                (self.out_size, self.stop) = (self.at, self.at);
                break;
            }
        }
        Ok(())
    }

    /// Takes the bytes that follow those before.
    fn feed(&mut self, mut rest: &[u8], facts: &mut Vec<Fact>) {
        while let Some(first) = rest.first() {
            if self.line == Line::Fresh && *first == 0 {
                // The hole that a writer leaves which goes on at its old place in a file that was cut.
                let nuls = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
                self.at += nuls as u64;
                self.line_start = self.at;
                rest = rest.get(nuls..).unwrap_or_default();
                continue;
            }
            let end = memchr(b'\n', rest);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            self.at += line.len() as u64;
            match end {
                Some(_) if self.line == Line::Fresh => self.take_whole(line, facts),
                Some(_) => {
                    self.extend(line);
                    self.end_line(facts);
                }
                None => {
                    self.extend(line);
                    return;
                }
            }
            self.at += 1;
            self.line_start = self.at;
            rest = rest.get(line.len() + 1..).unwrap_or_default();
        }
    }

    /// Takes a line that lies whole in the buffer, without a copy.
    fn take_whole(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        if line.len() as u64 > LINE_BYTES {
            facts.push(Fact::Skipped);
        } else if line.first() == Some(&b'{') {
            self.reader.line(line, facts);
        }
    }

    /// Adds a part to an unfinished line.
    fn extend(&mut self, part: &[u8]) {
        if self.line == Line::Fresh {
            self.line = match part.first() {
                Some(b'{') => Line::Structured,
                Some(_) => Line::Text,
                None => Line::Fresh,
            };
        }
        if self.at - self.line_start > LINE_BYTES {
            self.line = Line::TooLong;
            self.held = Vec::new();
        }
        if self.line == Line::Structured {
            self.held.extend_from_slice(part);
        }
    }

    /// The line that the reading is in ends here.
    fn end_line(&mut self, facts: &mut Vec<Fact>) {
        match self.line {
            Line::Structured => self.reader.line(&self.held, facts),
            Line::TooLong => facts.push(Fact::Skipped),
            Line::Text | Line::Fresh => {}
        }
        self.go_to(self.at);
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

/// One of the two output files.
#[derive(Debug, Clone, Copy)]
enum Which {
    Out,
    Err,
}
