//! The shim's signals, as bytes in pipes.
//!
//! What may go here: which signals the shim takes. What may not: what they mean.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::low_level::pipe;

/// Signals that ask the shim to stop its agent. All are handled, so that the agent begins with their defaults even if
/// whoever started the shim ignored them.
const STOP_SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// Signal that asks the shim to close its agent's standard input; the others say nothing about that.
const CLOSE_SIGNAL: i32 = SIGUSR1;

/// Signal that asks the shim to stop its agent with a long grace.
const PATIENT_SIGNAL: i32 = SIGUSR2;

/// The pipes. A signal that comes while one of its kind waits to be read is still counted, unless the system itself
/// has made the two one.
#[derive(Debug)]
pub(super) struct Signals {
    stop: UnixStream,
    child: UnixStream,
    close: UnixStream,
    patient: UnixStream,
}

impl Signals {
    /// Installs the handlers.
    pub(super) fn install() -> io::Result<Self> {
        let (stop, stop_writer) = UnixStream::pair()?;
        let (child, child_writer) = UnixStream::pair()?;
        for signal in STOP_SIGNALS {
            pipe::register(signal, stop_writer.try_clone()?)?;
        }
        let (close, close_writer) = UnixStream::pair()?;
        let (patient, patient_writer) = UnixStream::pair()?;
        pipe::register(PATIENT_SIGNAL, patient_writer)?;
        pipe::register(SIGCHLD, child_writer)?;
        pipe::register(CLOSE_SIGNAL, close_writer)?;
        stop.set_nonblocking(true)?;
        child.set_nonblocking(true)?;
        close.set_nonblocking(true)?;
        patient.set_nonblocking(true)?;
        Ok(Self { stop, child, close, patient })
    }

    /// Returns what becomes readable when a signal has come.
    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 4] {
        [self.stop.as_fd(), self.child.as_fd(), self.close.as_fd(), self.patient.as_fd()]
    }

    /// Says whether the shim was asked to close its agent's standard input.
    pub(super) fn take_close(&mut self) -> bool {
        drain(&mut self.close) > 0
    }

    /// Says whether the shim was asked to stop its agent with a long grace.
    pub(super) fn take_patient(&mut self) -> bool {
        drain(&mut self.patient) > 0
    }

    /// Empties both of their pipes and returns how often the shim was asked to stop. Comes before looking at children, so that
    /// none is missed.
    pub(super) fn take_stops(&mut self) -> usize {
        drain(&mut self.child);
        drain(&mut self.stop)
    }
}

fn drain(pipe: &mut UnixStream) -> usize {
    let mut buffer = [0; 64];
    let mut total: usize = 0;
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return total,
            Ok(count) => total = total.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Empty.
            Err(_) => return total,
        }
    }
}
