//! Reads one agent's standard error while it runs, for the programs that tell there what their events do not.
//!
//! What may go here: where in that file the reading is. What may not: what a line means. All of it is read again at the end
//! by whoever wants its last words, so that nothing is lost by what is passed over here.

use std::io;
use std::path::Path;

use memchr::memrchr;

use super::files;
use crate::adapters::LineReader;
use crate::core::Fact;

/// Most bytes that are read at once. What was written before them is passed over: only the newest try matters, and a
/// program that floods its standard error must not slow the reading of its output.
const ERROR_BYTES: u64 = 64 * 1024;

/// The reading of one standard error.
#[derive(Debug, Default)]
pub(super) struct Errors {
    /// Where the line begins that is not read yet.
    at: u64,
    size: u64,
    /// It did not end when it was read last: nothing new can be told before the file has grown.
    waits: bool,
}

impl Errors {
    /// Takes the size of the file. One that has become shorter is read from its start.
    pub(super) fn look(&mut self, size: u64) {
        self.waits &= size == self.size;
        self.size = size;
        if size < self.at {
            self.at = 0;
        }
    }

    /// Passes over what is there.
    pub(super) const fn skip(&mut self) {
        self.at = self.size;
    }

    /// Says whether there is something to read.
    pub(super) const fn is_due(&self) -> bool {
        self.size > self.at && !self.waits
    }

    /// Reads the lines that have ended since the last time.
    pub(super) fn read(
        &mut self,
        path: &Path,
        reader: &mut dyn LineReader,
        facts: &mut Vec<Fact>,
    ) -> io::Result<()> {
        self.waits = true;
        let start = self.at.max(self.size.saturating_sub(ERROR_BYTES));
        let new = files::read_end(path, self.size, self.size - start)?;
        let is_whole = start == self.at;
        let Some(end) = memrchr(b'\n', &new) else {
            if !is_whole {
                // The line is too long to be one of those that are looked for.
                self.skip();
            }
            return Ok(());
        };
        let lines = new.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        // Without what was before it, the first line is a part of one.
        for line in lines.skip(usize::from(!is_whole)) {
            reader.error_line(line, facts);
        }
        self.at = start + end as u64 + 1;
        Ok(())
    }
}
