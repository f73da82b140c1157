//! What a door holds of a fleet: a bounded sender of commands and the newest snapshot.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};

use crate::core::{Command, Reply, Snapshot, Submission};

/// Commands on their way to the loop. A door waits for each reply, so this many doors can ask at once.
const COMMANDS: usize = 64;

/// What a submitter gives its agents beside their tasks. The host keeps it in memory; it is never in the journal.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Environment that the agents get instead of the host's own; `None`: the host's. Variables that are not UTF-8 are
    /// left out.
    #[serde(default)]
    pub environment: Option<BTreeMap<String, String>>,
    /// Values of `--env K=V` per task, in the order of the tasks; it may be shorter. They wait in the agent's
    /// `env.json` until it has started.
    #[serde(default)]
    pub values: Vec<BTreeMap<String, String>>,
}

impl Given {
    /// Adds the environment of this process, without variables that are not UTF-8, unless there is one already.
    #[must_use]
    pub fn or_own_environment(mut self) -> Self {
        let own = || {
            std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect()
        };
        self.environment.get_or_insert_with(own);
        self
    }
}

/// Shows how much there is and never what: values are secrets.
impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given")
            .field("environment", &self.environment.as_ref().map(BTreeMap::len))
            .field("values", &self.values.len())
            .finish()
    }
}

/// A command, what comes with it, and where its reply goes.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) command: Command,
    pub(crate) given: Given,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// The host of the fleet has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the fleet's host has gone")]
pub struct Gone;

/// A door's end: sends commands, sees snapshots.
#[derive(Debug, Clone)]
pub struct FleetHandle {
    commands: mpsc::Sender<Asked>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    host: Option<u32>,
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
        FleetHandle { commands: command_sender, snapshots: snapshot_receiver, host: None },
        HostEnd { commands: command_receiver, snapshots: snapshot_sender },
    )
}

impl FleetHandle {
    /// Names the process behind this handle.
    #[must_use]
    pub(crate) fn hosted_by(self, process: u32) -> Self {
        Self { host: Some(process), ..self }
    }

    /// Returns the process that hosts the fleet, if that is known to be another one than this.
    pub fn host(&self) -> Option<u32> {
        self.host
    }

    /// Sends a command and waits for its reply, which comes once what was decided is safe on disk. What tries a task again
    /// or goes on with it brings the environment of this process: the one that the task had may have gone with its host.
    pub async fn send(&self, command: Command) -> Result<Reply, Gone> {
        let given = match command {
            Command::Retry(..) | Command::Steer(..) => Given::default().or_own_environment(),
            _ => Given::default(),
        };
        self.ask(command, given).await
    }

    /// Queues tasks together with what must not be in the journal. The reply comes once the tasks are safe on disk; of
    /// what is given only the values are, until their agents have started.
    pub async fn submit(&self, submission: Submission, given: Given) -> Result<Reply, Gone> {
        self.ask(Command::Submit(submission), given).await
    }

    /// Sends any command with what comes with it; only a submission, a retry and what goes on in a session make use of that.
    pub(crate) async fn ask(&self, command: Command, given: Given) -> Result<Reply, Gone> {
        let (reply, receiver) = oneshot::channel();
        self.commands.send(Asked { command, given, reply }).await.map_err(|_| Gone)?;
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
