//! What `fleet run` and `fleet resume` are as doors of their fleet: what they send from the first snapshot to the last.
//!
//! What may go here: the submission, signals. What may not: words, the host's thread.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::core::{Command, Reply, Snapshot, Submission};
use crate::runtime::FleetHandle;

/// Queues the tasks of a fleet that takes no others. One that was interrupted between the two may not be closed yet.
pub(super) async fn submit(
    handle: &FleetHandle,
    submission: Option<Submission>,
) -> Result<(), String> {
    for command in submission.map(Command::Submit).into_iter().chain([Command::Close]) {
        match handle.send(command).await {
            Ok(Reply::Refused(refusal)) => return Err(refusal.0),
            Ok(_) => {}
            Err(gone) => return Err(gone.to_string()),
        }
    }
    Ok(())
}

/// The signals that end a run.
pub(super) struct Signals {
    all: Vec<(&'static str, Signal)>,
}

impl Signals {
    /// Begins to listen. A hang-up that was ignored at the start stays so, as `nohup` wants it.
    pub(super) fn listen() -> io::Result<Self> {
        let mut all = vec![
            ("SIGINT", signal(SignalKind::interrupt())?),
            ("SIGTERM", signal(SignalKind::terminate())?),
        ];
        if !is_hangup_ignored() {
            all.push(("SIGHUP", signal(SignalKind::hangup())?));
        }
        Ok(Self { all })
    }

    async fn next(&mut self) -> &'static str {
        let waits = self.all.iter_mut().map(|(name, signal)| {
            let name = *name;
            Box::pin(async move {
                signal.recv().await;
                name
            })
        });
        first_of(waits.collect()).await
    }

    /// Tells the fleet of each signal, for as long as it is polled.
    pub(super) async fn pass_on(mut self, handle: &FleetHandle) {
        loop {
            let name = self.next().await;
            // The reply waits for the disk, and a second signal must not.
            let told = handle.send(Command::Interrupt(name.to_owned()));
            tokio::pin!(told);
            tokio::select! {
                _ = &mut told => {}
                second = self.next() => {
                    let second = handle.send(Command::Interrupt(second.to_owned()));
                    let _ = tokio::join!(told, second);
                }
            }
        }
    }
}

/// Returns what the first of some futures returns.
async fn first_of<F: Future + Unpin>(mut futures: Vec<F>) -> F::Output {
    std::future::poll_fn(|context| {
        for future in &mut futures {
            if let std::task::Poll::Ready(output) = std::pin::Pin::new(future).poll(context) {
                return std::task::Poll::Ready(output);
            }
        }
        std::task::Poll::Pending
    })
    .await
}

/// Says whether hang-ups are ignored in this process: bit 0 of `SigIgn` in `/proc/self/status`. Where there is no such
/// file they count as not ignored.
fn is_hangup_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        })
        .is_some_and(|mask| mask & 1 == 1)
}

/// Runs a door beside the signals, and returns the last snapshot that the door saw.
pub(super) async fn beside_signals(
    handle: &FleetHandle,
    signals: Signals,
    door: impl Future<Output = Result<Arc<Snapshot>, String>>,
) -> Result<Arc<Snapshot>, String> {
    tokio::select! {
        last = door => last,
        () = signals.pass_on(handle) => Ok(handle.snapshot()),
    }
}
