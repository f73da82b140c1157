//! Runs a fleet's host in a thread with a loop of its own, so that a door that blocks, on a terminal that does not read
//! for one, can never keep agents waiting.
//!
//! What may go here: that thread. What may not: doors.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::handle::FleetHandle;
use super::host::Host;
use super::start::HostError;

/// A host that runs in its own thread until its last handle is dropped.
#[derive(Debug)]
pub struct HostThread {
    /// The door to it.
    pub handle: FleetHandle,
    thread: JoinHandle<Option<String>>,
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The fleet cannot be hosted.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The system refused the thread or its loop.
    #[error("could not start the fleet's loop: {0}")]
    Loop(#[from] io::Error),
}

impl HostThread {
    /// Starts a host; `make` is called inside the loop that will run it.
    pub fn start(
        make: impl FnOnce() -> Result<(Host, FleetHandle), HostError> + Send + 'static,
    ) -> Result<Self, StartError> {
        let (sender, receiver) = sync_channel(1);
        let thread = thread::Builder::new().name("host".to_owned()).spawn(move || {
            let begun = Instant::now();
            let started = new_loop().map_err(StartError::Loop).and_then(|looped| {
                let (host, handle) = looped.block_on(async { make() })?;
                Ok((looped, Host { begun, ..host }, handle))
            });
            match started {
                Ok((looped, host, handle)) => {
                    if sender.send(Ok(handle)).is_ok() {
                        return looped.block_on(host.run());
                    }
                }
                // The caller waits for exactly this message.
                Err(error) => drop(sender.send(Err(error))),
            }
            None
        })?;
        let gone = || StartError::Loop(io::Error::other("its thread ended before it began"));
        let handle = receiver.recv().map_err(|_| gone())??;
        Ok(Self { handle, thread })
    }

    /// Lets go of the host and waits until everything it decided is on disk. Says whether it came to its end: a panic
    /// there was reported by the panic hook, and what it decided until then is in the journal.
    pub fn finish(self) -> bool {
        self.end().is_whole
    }

    /// Does as [`HostThread::finish`], and tells what no door has seen.
    pub(crate) fn end(self) -> Finished {
        drop(self.handle);
        match self.thread.join() {
            Ok(notice_trouble) => Finished { is_whole: true, notice_trouble },
            Err(_) => Finished { is_whole: false, notice_trouble: None },
        }
    }
}

/// How a host ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    /// It came to its end.
    pub(crate) is_whole: bool,
    /// Why the owner's program was not told of the last notices, a clause.
    pub(crate) notice_trouble: Option<String>,
}

/// Makes a loop for one thread.
pub fn new_loop() -> io::Result<Runtime> {
    /// Threads for looks at all processes, which would only be in each other's way if there were more.
    const LOOKERS: usize = 2;
    Builder::new_current_thread().enable_all().max_blocking_threads(LOOKERS).build()
}
