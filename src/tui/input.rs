//! What a person does at the terminal: a thread that reads it, and what it read.
//!
//! What may go here: reading, waiting for the rest of what was cut, noticing that the terminal has gone. What may not:
//! what keys mean. The thread only ever reads when there is something to read, so that it can be stopped at any time
//! and verifiably reads nothing while another program has the terminal; and it ends when the terminal does, because a
//! terminal that has gone is ready to be read for ever.

mod burst;
mod decode;
mod sequence;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::JoinHandle;

use crossterm::event::{KeyEvent, MouseEvent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use self::burst::Burst;
use self::decode::{Decoder, Waits};

/// Batches on their way to the loop. It takes all of them before it draws; what does not fit waits in the terminal.
const BATCHES: usize = 16;
/// Bytes of one read; a terminal hands out about half of it at once.
const READ: usize = 8 * 1024;
/// How long the rest of a sequence may take after its beginning. A slow connection cuts sequences; a person who presses
/// Escape waits this long for it to be Escape.
const SEQUENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
/// How long the rest of a marked paste may take. After it the keyboard would be dead for a mark that got lost.
const PASTE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// How long after the keys before it a key came at once with them.
const BURST: Timespec = Timespec { tv_sec: 0, tv_nsec: 6_000_000 };

/// One thing that a person did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    /// A key was pressed or is held down.
    Key(KeyEvent),
    /// Text was pasted.
    Paste {
        /// The text, with line feeds only and without control characters.
        text: String,
        /// Bytes that were cut off because it was too long.
        dropped: u64,
    },
    /// A button, a drag or the wheel.
    Mouse(MouseEvent),
    /// The window got or lost the focus.
    Focus(bool),
}

/// What the reader has to say.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    /// What came at once, never nothing.
    Inputs(Vec<Input>),
    /// The terminal has gone. Nothing follows.
    Gone,
}

/// The thread that reads the terminal. It does so until this is dropped, and no longer.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Taken before the thread is waited for, so that it cannot wait for us.
    news: Option<mpsc::Receiver<News>>,
    /// Its closing wakes the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts to read `terminal`, which must be in raw mode; it is known to mark pastes, or not known to.
    pub(crate) fn start(terminal: OwnedFd, has_marks: bool) -> io::Result<Self> {
        let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (sender, news) = mpsc::channel(BATCHES);
        let thread = std::thread::Builder::new().name("input".to_owned()).spawn(move || {
            read_all(terminal.as_fd(), stopped.as_fd(), &sender, Burst::new(has_marks));
        })?;
        Ok(Self { news: Some(news), stop: Some(stop), thread: Some(thread) })
    }

    /// Waits for the next news. A reader that has ended says that the terminal has gone.
    pub(crate) async fn next(&mut self) -> News {
        match &mut self.news {
            Some(news) => news.recv().await.unwrap_or(News::Gone),
            None => News::Gone,
        }
    }

    /// Returns news that are there already.
    pub(crate) fn ready(&mut self) -> Option<News> {
        self.news.as_mut()?.try_recv().ok()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.news.take());
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// What a wait came to.
enum Ready {
    Input,
    Nothing,
    Stopped,
    Gone,
}

fn read_all(
    terminal: BorrowedFd<'_>,
    stopped: BorrowedFd<'_>,
    news: &mpsc::Sender<News>,
    mut burst: Burst,
) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; READ];
    loop {
        let patience = match (decoder.waits(), burst.waits()) {
            (Waits::Paste, _) => Some(PASTE),
            (_, true) => Some(BURST),
            (Waits::Sequence, false) => Some(SEQUENCE),
            (Waits::Nothing, false) => None,
        };
        let mut inputs = Vec::new();
        match wait(terminal, stopped, patience.as_ref()) {
            Ready::Input => {
                let bytes = match rustix::io::read(terminal, buffer.as_mut_slice()) {
                    Ok(count) if count > 0 => buffer.get(..count).unwrap_or_default(),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                    Ok(_) | Err(_) => return tell_gone(news),
                };
                let mut decoded = Vec::new();
                decoder.feed(bytes, &mut decoded);
                inputs = burst.sift(decoded);
            }
            Ready::Nothing => {
                let was_burst = burst.waits();
                burst.flush(&mut inputs);
                // A burst has less patience than a sequence, which gets its own time next.
                if !was_burst {
                    decoder.give_up(&mut inputs);
                }
            }
            Ready::Stopped => return,
            Ready::Gone => return tell_gone(news),
        }
        if !inputs.is_empty() && news.blocking_send(News::Inputs(inputs)).is_err() {
            return;
        }
    }
}

fn tell_gone(news: &mpsc::Sender<News>) {
    // Nobody listens any more: then nobody needs to know.
    let _ = news.blocking_send(News::Gone);
}

fn wait(terminal: BorrowedFd<'_>, stopped: BorrowedFd<'_>, patience: Option<&Timespec>) -> Ready {
    let mut polled = [
        PollFd::from_borrowed_fd(stopped, PollFlags::IN),
        PollFd::from_borrowed_fd(terminal, PollFlags::IN),
    ];
    loop {
        match poll(&mut polled, patience) {
            Ok(0) => return Ready::Nothing,
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Ready::Gone,
        }
    }
    let [stop, input] = polled.map(|one| one.revents());
    if !stop.is_empty() {
        Ready::Stopped
    } else if input.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        Ready::Gone
    } else if input.contains(PollFlags::IN) {
        Ready::Input
    } else {
        Ready::Nothing
    }
}

#[cfg(test)]
mod tests;
