//! The standard input of an agent that takes messages while it runs: a FIFO that the shim keeps open for writing, so
//! that no end of it comes when a host goes.
//!
//! What may go here: making the FIFO, writing the first message, when its end comes. What may not: later messages, which
//! a host writes by itself.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rustix::fs::OFlags;

use super::super::dir::{AgentDir, Found, open_guarded, read_guarded, remove_if_there};

/// One FIFO. Hosts find it under its name only while messages can be written that nothing of the first one comes into.
#[derive(Debug)]
pub(super) struct Inlet<'shim> {
    dir: &'shim AgentDir,
    /// Ours until the end is to come.
    writer: Option<File>,
    /// Held until the agent has opened its own: a FIFO without a reader takes nothing.
    reader: Option<File>,
    first: Vec<u8>,
    /// Bytes of the first message that are written.
    written: usize,
    is_open: bool,
    /// Nothing more is to come than the rest of the first message.
    is_closing: bool,
}

impl<'shim> Inlet<'shim> {
    /// Makes the FIFO, which the agent opens as [`AgentDir::inlet`]. An error is a clause for people.
    pub(super) fn make(dir: &'shim AgentDir) -> Result<Self, String> {
        let failed = |error: io::Error| {
            format!("the pipe for messages in {} could not be made: {error}", dir.path().display())
        };
        let first = match read_guarded(&dir.first()) {
            Ok(Found::Bytes(first)) => first,
            Ok(Found::Nothing | Found::Foreign) => {
                return Err(format!("its first message {} is no file", dir.first().display()));
            }
            Err(error) => return Err(failed(error)),
        };
        let path = dir.inlet();
        remove_if_there(&path).map_err(failed)?;
        mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(|errno| failed(errno.into()))?;
        let open = |flags: OFlags| open_guarded(Path::new(&path), flags).map_err(failed);
        // In this order neither waits for the other.
        let reader = open(OFlags::RDONLY)?;
        let writer = open(OFlags::WRONLY)?;
        let (is_open, is_closing) = (false, false);
        let mut inlet = Self {
            dir,
            writer: Some(writer),
            reader: Some(reader),
            first,
            written: 0,
            is_open,
            is_closing,
        };
        inlet.feed();
        Ok(inlet)
    }

    /// Returns what becomes writable when more of the first message can be written; `None` if all of it is.
    pub(super) fn waits(&self) -> Option<&File> {
        self.writer.as_ref().filter(|_| self.written < self.first.len())
    }

    /// Writes as much of the first message as there is room for, never waiting.
    pub(super) fn feed(&mut self) {
        while let Some(writer) = &mut self.writer {
            let rest = self.first.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                self.settle();
                return;
            }
            match writer.write(rest) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Nobody reads it any more.
                Err(_) => self.end(),
            }
        }
    }

    /// The agent has its own end: hosts may write now.
    pub(super) fn agent_runs(&mut self) {
        self.reader = None;
        self.feed();
    }

    /// Lets the end come once everything is written.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        self.feed();
    }

    /// Takes the FIFO away: nobody is to write to it any more.
    pub(super) fn end(&mut self) {
        // One that stays is found without a reader.
        let path = if self.is_open { self.dir.stdin() } else { self.dir.inlet() };
        let _ = remove_if_there(&path);
        (self.writer, self.reader) = (None, None);
        self.first = Vec::new();
        self.written = 0;
    }

    fn settle(&mut self) {
        self.first = Vec::new();
        self.written = 0;
        if self.reader.is_some() {
            return;
        }
        if self.is_closing {
            self.end();
        } else if !self.is_open {
            // A host that does not find it tells nothing.
            self.is_open = std::fs::rename(self.dir.inlet(), self.dir.stdin()).is_ok();
        }
    }
}
