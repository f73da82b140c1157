//! Writing to the terminal, which may take as long as it likes.
//!
//! What may go here: the writing thread, and writing with a deadline. What may not: what is written.
//! A terminal that does not read (paused, or behind a connection that stalls) keeps this thread waiting and nobody else.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// Held while bytes go out, so that nothing is written into the middle of them.
static WRITING: Mutex<()> = Mutex::new(());

/// Counts the times that the terminal was given back. A frame of an earlier time is not written any more: it would be
/// on the shell's screen.
static TIMES: AtomicU64 = AtomicU64::new(0);

/// How long a byte waits until the terminal can take it before a last word to it is given up.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Between two looks at whether the thread has finished its frame.
const LOOK: Duration = Duration::from_millis(5);
/// Looks before a last word is said in the middle of a frame.
const LOOKS: usize = 60;

/// A frame of so many bytes, such as a second that has passed, is written here and now as far as there is room: no thread
/// has to be woken for it.
const SMALL: usize = 128;

/// The writing thread. It has one frame at a time: while it writes, nothing is drawn.
#[derive(Debug)]
pub(crate) struct Output {
    terminal: BorrowedFd<'static>,
    frames: SyncSender<(u64, Vec<u8>)>,
    written: mpsc::Receiver<io::Result<()>>,
    is_busy: bool,
}

impl Output {
    /// Starts the thread, which ends when this is dropped.
    pub(crate) fn start(terminal: BorrowedFd<'static>) -> io::Result<Self> {
        let (frames, receiver) = sync_channel::<(u64, Vec<u8>)>(1);
        let (sender, written) = mpsc::channel(1);
        std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            for (time, frame) in receiver {
                let result = {
                    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
                    let is_past = time != TIMES.load(Ordering::SeqCst);
                    if is_past { Ok(()) } else { write_all(terminal, &frame) }
                };
                if sender.blocking_send(result).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { terminal, frames, written, is_busy: false })
    }

    /// Says whether a frame is being written.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Writes a small frame, or what there is room for, and gives the rest to the thread, which must not be busy.
    pub(crate) fn send(&mut self, mut frame: Vec<u8>) -> io::Result<()> {
        if frame.len() <= SMALL {
            let written = write_while_room(self.terminal, &frame)?;
            frame.drain(..written);
            if frame.is_empty() {
                return Ok(());
            }
        }
        let frame = (TIMES.load(Ordering::SeqCst), frame);
        self.frames.try_send(frame).map_err(|_| io::Error::other("the writing thread has gone"))?;
        self.is_busy = true;
        Ok(())
    }

    /// Waits until the frame is written; for ever if there is none. An error means that the terminal has gone.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        if !self.is_busy {
            return std::future::pending().await;
        }
        let result = self.written.recv().await;
        self.is_busy = false;
        result.unwrap_or_else(|| Err(io::Error::other("the writing thread has gone")))
    }
}

/// Writes byte by byte for as long as there is room for one, which never waits; returns how many went out.
fn write_while_room(terminal: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _writing = match WRITING.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Ok(0),
    };
    for (written, byte) in bytes.iter().enumerate() {
        match wait_for_room(terminal, Some(&NOW)) {
            Ok(()) => write_all(terminal, std::slice::from_ref(byte))?,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(written),
            Err(error) => return Err(error),
        }
    }
    Ok(bytes.len())
}

/// Writes all of it, however long that takes.
pub(crate) fn write_all(terminal: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(terminal, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Somebody who shares the terminal has made it so.
            Err(Errno::AGAIN) => wait_for_room(terminal, None)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes a last word to a terminal that may not read: byte by byte, each when there is room for it, and never into
/// the middle of a frame if that can be helped. Frames that wait are not written any more. What does not go out in a fraction of a second does not go out.
pub(crate) fn write_last(terminal: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    TIMES.fetch_add(1, Ordering::SeqCst);
    let _writing = between_frames();
    for byte in bytes {
        wait_for_room(terminal, Some(&PATIENCE))?;
        write_all(terminal, std::slice::from_ref(byte))?;
    }
    Ok(())
}

fn between_frames() -> Option<MutexGuard<'static, ()>> {
    for _ in 0..LOOKS {
        match WRITING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            // A panic hook cannot await; that a park can end early does no harm.
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOOK),
        }
    }
    None
}

fn wait_for_room(terminal: BorrowedFd<'_>, patience: Option<&Timespec>) -> io::Result<()> {
    let mut polled = [PollFd::from_borrowed_fd(terminal, PollFlags::OUT)];
    match poll(&mut polled, patience) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) => {
            let [room] = polled.map(|one| one.revents());
            let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
            if room.intersects(gone) { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        }
        Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_small_frame_is_written_as_far_as_there_is_room_and_never_waits() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(write_while_room(writer.as_fd(), b"12:00:01").unwrap(), 8);
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        while rustix::io::write(&writer, &[b'x'; 4096]).is_ok() {}
        rustix::io::ioctl_fionbio(&writer, false).unwrap();
        assert_eq!(write_while_room(writer.as_fd(), b"12:00:02").unwrap(), 0);
        drop(reader);
        assert!(write_while_room(writer.as_fd(), b"12:00:03").is_err(), "nobody is there");
    }
}
