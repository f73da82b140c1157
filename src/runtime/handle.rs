//! What a door holds of a fleet: a bounded sender of commands and the newest snapshot.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use crate::core::{Command, Reply, Snapshot};

/// Commands on their way to the loop. A door waits for each reply, so this many doors can ask at once.
const COMMANDS: usize = 64;

/// A command and where its reply goes.
pub(crate) type Asked = (Command, oneshot::Sender<Reply>);

/// The host of the fleet has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the fleet's host has gone")]
pub struct Gone;

/// A door's end: sends commands, sees snapshots.
#[derive(Debug, Clone)]
pub struct FleetHandle {
    commands: mpsc::Sender<Asked>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
}

/// The host's end.
#[derive(Debug)]
pub struct HostEnd {
    pub(crate) commands: mpsc::Receiver<Asked>,
    pub(crate) snapshots: watch::Sender<Arc<Snapshot>>,
}

/// Makes both ends, with the first snapshot in place.
pub fn channel(first: Snapshot) -> (FleetHandle, HostEnd) {
    let (command_sender, command_receiver) = mpsc::channel(COMMANDS);
    let (snapshot_sender, snapshot_receiver) = watch::channel(Arc::new(first));
    (
        FleetHandle { commands: command_sender, snapshots: snapshot_receiver },
        HostEnd { commands: command_receiver, snapshots: snapshot_sender },
    )
}

impl FleetHandle {
    /// Sends a command and waits for its reply, which comes once what was decided is safe on disk.
    pub async fn send(&self, command: Command) -> Result<Reply, Gone> {
        let (sender, receiver) = oneshot::channel();
        self.commands.send((command, sender)).await.map_err(|_| Gone)?;
        receiver.await.map_err(|_| Gone)
    }

    /// Returns the newest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Waits until there is a snapshot that this handle has not returned from here yet.
    pub async fn changed(&mut self) -> Result<Arc<Snapshot>, Gone> {
        self.snapshots.changed().await.map_err(|_| Gone)?;
        Ok(Arc::clone(&self.snapshots.borrow_and_update()))
    }
}
