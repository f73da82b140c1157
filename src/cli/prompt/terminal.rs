//! Reads keys from the terminal, only while a question is open.
//!
//! What may go here: modes of the terminal, the reading thread. What may not: what keys mean.
//! Nothing that was typed before the question opened reaches it, nothing is read after it closed, and the end of the
//! process never waits for the reading thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::unistd::getpgrp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, isatty, tcflush,
    tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio::sync::mpsc;

/// Pieces of input on their way to the prompt. A person types one at a time; a paste waits in the terminal.
const PIECES: usize = 8;
/// Bytes of one piece.
const PIECE: usize = 256;
/// How long the rest of an escape sequence may take after its first byte; a key pressed by hand never follows so soon.
const SEQUENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Between two looks at whether Fleet is in the foreground again.
const BACKGROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// Where answers can come from.
pub trait AnswerSource: Send {
    /// Begins to listen, for one question.
    fn open(&mut self) -> Opening;
}

/// Whether a question can be asked now.
#[derive(Debug)]
pub enum Opening {
    /// It can; this gives the keys.
    Ready(OpenInput),
    /// Not while Fleet runs in the background of its terminal; later, maybe.
    Background,
    /// There is no terminal any more.
    Unavailable,
}

/// Input that is open; dropping it stops listening and gives the terminal back as it was.
#[derive(Debug)]
pub struct OpenInput {
    /// Bytes as they come; an empty piece is the end of input.
    pub pieces: mpsc::Receiver<Vec<u8>>,
    /// Kept for what dropping it does: the terminal's modes return, then the thread ends.
    _listening: Option<Listening>,
}

impl OpenInput {
    /// Makes an input of pieces that come from elsewhere than a terminal.
    pub fn of(pieces: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { pieces, _listening: None }
    }
}

#[derive(Debug)]
struct Listening {
    _modes: Modes,
    /// Its closing wakes the thread.
    _stop: OwnedFd,
}

/// A terminal on which a person can answer.
#[derive(Debug)]
pub struct TerminalInput {
    terminal: OwnedFd,
}

impl TerminalInput {
    /// Takes standard input, if it is a terminal.
    pub fn from_stdin() -> Option<Self> {
        Self::new(io::stdin().as_fd().try_clone_to_owned().ok()?)
    }

    /// Takes a descriptor, if it is a terminal.
    pub fn new(terminal: OwnedFd) -> Option<Self> {
        isatty(&terminal).then_some(Self { terminal })
    }
}

impl AnswerSource for TerminalInput {
    fn open(&mut self) -> Opening {
        match in_foreground(self.terminal.as_fd()) {
            Some(true) => listen(&self.terminal).map_or(Opening::Unavailable, Opening::Ready),
            Some(false) => Opening::Background,
            None => Opening::Unavailable,
        }
    }
}

/// Says whether this process may read the terminal without being stopped for it; `None` if it has gone. A terminal
/// that controls no process of ours can always be read.
fn in_foreground(terminal: BorrowedFd<'_>) -> Option<bool> {
    match tcgetpgrp(terminal) {
        // Not with rustix, which takes a group outside of our process namespace, numbered 0, for impossible.
        Ok(group) => Some(group.as_raw_pid() == getpgrp().as_raw()),
        Err(rustix::io::Errno::NOTTY | rustix::io::Errno::OPNOTSUPP) if isatty(terminal) => {
            Some(true)
        }
        Err(_) => None,
    }
}

fn listen(terminal: &OwnedFd) -> io::Result<OpenInput> {
    let modes = Modes::enter(terminal.try_clone()?)?;
    let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let input = terminal.try_clone()?;
    let (sender, pieces) = mpsc::channel(PIECES);
    std::thread::Builder::new()
        .name("answers".to_owned())
        .spawn(move || read_all(input.as_fd(), stopped.as_fd(), &sender))?;
    Ok(OpenInput { pieces, _listening: Some(Listening { _modes: modes, _stop: stop }) })
}

/// Sends what is typed until the other end of `stopped` closes or nobody listens any more.
fn read_all(terminal: BorrowedFd<'_>, stopped: BorrowedFd<'_>, pieces: &mpsc::Sender<Vec<u8>>) {
    loop {
        if in_foreground(terminal) == Some(false) {
            // Reading would stop the whole process.
            if is_ready(&[stopped], Some(&BACKGROUND)) != [false] {
                return;
            }
            continue;
        }
        match is_ready(&[stopped, terminal], None).as_slice() {
            [false, true] => {}
            [false, false] => continue,
            _ => return,
        }
        let Some(mut piece) = read_piece(terminal) else {
            // The end of input, or a terminal that has gone.
            let _ = pieces.blocking_send(Vec::new());
            return;
        };
        if piece.last() == Some(&0x1B)
            && is_ready(&[terminal], Some(&SEQUENCE)) == [true]
            && let Some(mut rest) = read_piece(terminal)
        {
            piece.append(&mut rest);
        }
        if pieces.blocking_send(piece).is_err() {
            return;
        }
    }
}

/// Says which descriptors can be read or have ended; an empty answer means that it cannot be told.
fn is_ready(descriptors: &[BorrowedFd<'_>], timeout: Option<&Timespec>) -> Vec<bool> {
    let mut polled: Vec<PollFd<'_>> = descriptors
        .iter()
        .map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN))
        .collect();
    match poll(&mut polled, timeout) {
        Ok(_) => polled.iter().map(|one| !one.revents().is_empty()).collect(),
        Err(rustix::io::Errno::INTR) => vec![false; descriptors.len()],
        Err(_) => Vec::new(),
    }
}

fn read_piece(terminal: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut piece = vec![0; PIECE];
    let read =
        rustix::io::retry_on_intr(|| rustix::io::read(terminal, piece.as_mut_slice())).ok()?;
    piece.truncate(read);
    (read > 0).then_some(piece)
}

/// A terminal that gives every key at once and shows none; the drop gives back what it was.
#[derive(Debug)]
struct Modes {
    terminal: OwnedFd,
    before: Termios,
}

impl Modes {
    fn enter(terminal: OwnedFd) -> io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        let mut keys = before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &keys)?;
        let modes = Self { terminal, before };
        // What was typed before anybody could see the question is no answer to it.
        tcflush(&modes.terminal, QueueSelector::IFlush)?;
        Ok(modes)
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        // In the background this would stop the process, and the shell has set its own modes already.
        if in_foreground(self.terminal.as_fd()) == Some(true) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        }
    }
}
