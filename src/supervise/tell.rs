//! Tells a running agent more: one line into the FIFO that its shim keeps open.
//!
//! What may go here: writing one message whole or not at all. What may not: what a message looks like to a program.

use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;

use super::dir::{AgentDir, open_guarded};

/// A message was not given to its agent, and no part of it was.
#[derive(Debug, thiserror::Error)]
pub enum TellError {
    /// It cannot be written in one piece.
    #[error(
        "the message takes {bytes} bytes and an agent that runs can be told {most} at once: say it shorter, or write it \
         into a file and name that file"
    )]
    TooLong {
        /// What it takes, with all that its form adds.
        bytes: usize,
        /// What there is room for.
        most: usize,
    },
    /// Earlier ones fill the FIFO.
    #[error("it has not yet read what it was told before: try again later")]
    Full,
    /// There is no FIFO: the task itself is still being read, or nothing more is taken.
    #[error(
        "it takes no message at this moment: it still reads its task, or has said its last word"
    )]
    Closed,
    /// The system refused.
    #[error("its standard input could not be written to: {0}")]
    Refused(#[from] io::Error),
}

/// Gives a running agent one line, or some that belong together, to which the end of the last line is added. Never waits.
pub fn tell(dir: &AgentDir, lines: &str) -> Result<(), TellError> {
    let bytes = lines.len() + 1;
    // More than that may be written in parts, between which another message could come.
    if bytes > PIPE_BUF {
        return Err(TellError::TooLong { bytes, most: PIPE_BUF });
    }
    let mut fifo = match open_guarded(&dir.stdin(), OFlags::WRONLY) {
        Ok(fifo) => fifo,
        Err(error) if is_closed(&error) => return Err(TellError::Closed),
        Err(error) => return Err(error.into()),
    };
    if !fifo.metadata()?.file_type().is_fifo() {
        return Err(TellError::Closed);
    }
    let whole = format!("{lines}\n");
    match fifo.write(whole.as_bytes()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(TellError::Full),
        Err(error) if is_closed(&error) => Err(TellError::Closed),
        Err(error) => Err(error.into()),
    }
}

/// Says whether an error means that there is nothing to write to, or nobody who reads it.
fn is_closed(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOENT | Errno::NXIO | Errno::PIPE | Errno::LOOP))
}
