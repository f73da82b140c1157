//! Splits what is read into lines, and hands on those that a reader can understand.
//!
//! What may go here: where a line begins and ends, what is kept of an unfinished one. What may not: files, what a line
//! means.

use memchr::memchr;

/// Longest line that is looked at, in bytes: structured lines with a whole file in them are shorter, and so much is
/// kept of an unfinished one.
const LINE_BYTES: u64 = 1 << 20;

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

/// A line that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole<'a> {
    /// It begins with `{`.
    Structured(&'a [u8]),
    /// It was too long to be held.
    TooLong,
}

/// The lines of one file, in order.
#[derive(Debug)]
pub(super) struct Lines {
    /// Where the next read begins.
    at: u64,
    /// Where the line begins that the reading is in.
    line_start: u64,
    line: Line,
    held: Vec<u8>,
}

impl Lines {
    /// Begins at `offset`, where a line begins.
    pub(super) const fn new(offset: u64) -> Self {
        Self { at: offset, line_start: offset, line: Line::Fresh, held: Vec::new() }
    }

    /// Begins at `offset` with the line after the one that lies there.
    pub(super) const fn after(offset: u64) -> Self {
        Self { at: offset, line_start: offset, line: Line::Text, held: Vec::new() }
    }

    /// Where the next read begins.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of all lines that have ended.
    pub(super) const fn ended(&self) -> u64 {
        self.line_start
    }

    /// Goes on at `offset`, where a line begins.
    pub(super) fn go_to(&mut self, offset: u64) {
        (self.at, self.line_start, self.line) = (offset, offset, Line::Fresh);
        self.held.clear();
    }

    /// Takes the bytes that follow those before.
    pub(super) fn feed(&mut self, mut rest: &[u8], mut each: impl FnMut(Whole<'_>)) {
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
                // It lies whole in the buffer and is not copied.
                Some(_) if self.line == Line::Fresh => {
                    if line.len() as u64 > LINE_BYTES {
                        each(Whole::TooLong);
                    } else if line.first() == Some(&b'{') {
                        each(Whole::Structured(line));
                    }
                }
                Some(_) => {
                    self.extend(line);
                    self.end(&mut each);
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

    /// The line that the reading is in ends here.
    pub(super) fn end(&mut self, mut each: impl FnMut(Whole<'_>)) {
        match self.line {
            Line::Structured => each(Whole::Structured(&self.held)),
            Line::TooLong => each(Whole::TooLong),
            Line::Text | Line::Fresh => {}
        }
        self.go_to(self.at);
    }

    /// Lets go of the memory of an unfinished line.
    pub(super) fn shrink(&mut self) {
        self.held = Vec::new();
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
}
