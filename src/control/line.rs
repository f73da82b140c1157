//! Lines over a socket, both ways, each with a bound. Every wait here can be given up at any moment without loss.
//!
//! What may go here: bytes to lines and back. What may not: what is in a line.

use std::io;

use super::socket::Socket;
use serde::Serialize;

/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// A buffer that has grown beyond this is given back once it is empty.
const KEPT_BYTES: usize = 256 * 1024;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A line without its end.
    Line(Vec<u8>),
    /// The other side has closed. What it had begun to write counts as not written.
    Closed,
    /// The line is longer than it may be.
    TooLong,
}

/// Cuts what comes into lines.
#[derive(Debug)]
pub(super) struct LineReader {
    /// What was read and not returned; never more than a line and a piece.
    buffer: Vec<u8>,
    /// So much of it has no end of a line.
    searched: usize,
    piece: Vec<u8>,
}

/// What is being written.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    bytes: Vec<u8>,
    written: usize,
}

impl LineReader {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), searched: 0, piece: vec![0; PIECE_BYTES] }
    }

    /// Waits for the next line of at most `most` bytes.
    pub(super) async fn next(&mut self, socket: &Socket, most: usize) -> io::Result<Next> {
        loop {
            // Somebody who always has one more line must not keep others from their turn.
            tokio::task::consume_budget().await;
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(place) = memchr::memchr(b'\n', unsearched) {
                let end = self.searched + place;
                if end > most {
                    return Ok(Next::TooLong);
                }
                let rest = self.buffer.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.truncate(end);
                self.searched = 0;
                return Ok(Next::Line(line));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > most {
                return Ok(Next::TooLong);
            }
            let count = socket.read_some(&mut self.piece).await?;
            if count == 0 {
                return Ok(Next::Closed);
            }
            self.buffer.extend_from_slice(self.piece.get(..count).unwrap_or_default());
        }
    }
}

impl LineWriter {
    /// Says whether all that was given has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.written >= self.bytes.len()
    }

    /// Adds a line; its end is added to it.
    pub(super) fn push_line(&mut self, line: &[u8]) {
        self.make_room();
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }

    /// Adds a message as a line. Only small ones may be added before the writer is empty.
    pub(super) fn push(&mut self, message: &impl Serialize) {
        self.make_room();
        // Everything that is written here has texts for keys, which is all that can fail.
        if serde_json::to_writer(&mut self.bytes, message).is_ok() {
            self.bytes.push(b'\n');
        }
    }

    fn make_room(&mut self) {
        if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
            self.written = 0;
        }
    }

    /// Waits until some of it has been written.
    pub(super) async fn write_some(&mut self, socket: &Socket) -> io::Result<()> {
        self.written +=
            socket.write_some(self.bytes.get(self.written..).unwrap_or_default()).await?;
        Ok(())
    }

    /// Waits until all of it has been written.
    pub(super) async fn write_all(&mut self, socket: &Socket) -> io::Result<()> {
        while !self.is_empty() {
            self.write_some(socket).await?;
        }
        Ok(())
    }
}
