//! The signals that concern a screen.
//!
//! What may go here: which they are, what each asks for, and stopping, which ends with one. What may not: doing what the
//! others ask for.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::tui::terminal::{Ground, ground, stop_group};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// End, because of the signal of this number. Agents go on.
    End(i32),
    /// Stop until `fg`.
    Stop,
    /// Somebody has stopped us, and we go on now.
    GoOn,
    /// The terminal has another size.
    Measure,
}

/// Where the signals arrive.
#[derive(Debug)]
pub(super) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    /// Nobody has a reason to send these; a screen that they end by default would leave the terminal as it is.
    others: [Signal; 3],
    stop: Signal,
    go_on: Signal,
    size: Signal,
}

impl Signals {
    /// Begins to catch them.
    pub(super) fn catch() -> io::Result<Self> {
        // No library names these two for this purpose; they are the system's.
        let raw = |one: rustix::process::Signal| SignalKind::from_raw(one.as_raw());
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            others: [
                signal(SignalKind::user_defined1())?,
                signal(SignalKind::user_defined2())?,
                signal(SignalKind::alarm())?,
            ],
            stop: signal(raw(rustix::process::Signal::TSTP))?,
            go_on: signal(raw(rustix::process::Signal::CONT))?,
            size: signal(SignalKind::window_change())?,
        })
    }

    /// Waits for the next one; what ends us comes first.
    pub(super) async fn next(&mut self) -> Asks {
        let end = |kind: SignalKind| Asks::End(kind.as_raw_value());
        let [first, second, alarm] = &mut self.others;
        tokio::select! {
            biased;
            _ = self.hangup.recv() => end(SignalKind::hangup()),
            _ = self.terminate.recv() => end(SignalKind::terminate()),
            _ = self.interrupt.recv() => end(SignalKind::interrupt()),
            _ = self.quit.recv() => end(SignalKind::quit()),
            _ = first.recv() => end(SignalKind::user_defined1()),
            _ = second.recv() => end(SignalKind::user_defined2()),
            _ = alarm.recv() => end(SignalKind::alarm()),
            _ = self.stop.recv() => Asks::Stop,
            _ = self.go_on.recv() => Asks::GoOn,
            _ = self.size.recv() => Asks::Measure,
        }
    }

    /// Stops the job until it is continued.
    ///
    /// The system may let this thread run on for a moment after it was told to stop. The signal that continues us is
    /// therefore waited for: what is looked up before it came would be of the time before the stop.
    pub(super) async fn stop(&mut self) {
        // One that has come before is not the one that will continue us.
        let _ = tokio::time::timeout(Duration::ZERO, self.go_on.recv()).await;
        stop_group();
        let _ = self.go_on.recv().await;
    }

    /// Stops the job until it is in the foreground. A full-screen program that is continued in the background has
    /// nothing to do there: it stops again, as the system itself would make it stop at its first touch of the terminal.
    pub(super) async fn until_foreground(&mut self) {
        while ground() == Ground::Background {
            self.stop().await;
        }
    }
}
