//! Gets a client to its fleet's host, which is started if there is none.
//!
//! What may go here: finding, starting and waiting for a host. What may not: the wire (`control`), what a host does.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::host::{GO_ON_WORD, HOST_WORD};
use crate::cli::arguments::LimitArguments;
use crate::control::{ConnectError, Connected, connect, connect_in_passing};
use crate::core::FleetId;
use crate::journal::{FleetDir, HostState, StateDir, host_of, open_to_append, read_text, to_type};
use crate::supervise::{Launcher, has_started};

/// How long a host that was started here is given to listen, also on a machine under load.
const START: Duration = Duration::from_secs(30);
/// How long a host that somebody else has started is given.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two tries to connect to a host that somebody else has just started.
const PAUSE: Duration = Duration::from_millis(20);
/// How often a host is started for one connection: another one may go just as we come.
const STARTS: u32 = 5;
/// A host's log that is longer is begun anew with its next host, in bytes.
const LOG_BYTES: u64 = 1024 * 1024;

/// Why there is no connection to a fleet's host.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The host lives and does not take this client.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It lives on another machine.
    #[error("fleet {fleet} lives on host {host}: go on there")]
    Elsewhere {
        /// Which fleet.
        fleet: FleetId,
        /// Name of the machine.
        host: String,
    },
    /// It lives and does not listen.
    #[error(
        "the host of fleet {fleet}{} takes no clients yet: it still reads what was, or cannot listen; try again in a \
         moment, and `{}` shows the fleet meanwhile",
        pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(),
        to_type(format_args!("results {fleet}"))
    )]
    Closed {
        /// Which fleet.
        fleet: FleetId,
        /// Process of its host, if known.
        pid: Option<u32>,
    },
    /// The fleet was deleted.
    #[error("fleet {} is gone: `{}` lists those that are left", .0, to_type("ls"))]
    Gone(FleetId),
    /// A host was started and went.
    #[error("the host of fleet {fleet} could not start: {why}")]
    Failed {
        /// Which fleet.
        fleet: FleetId,
        /// What it wrote last.
        why: String,
    },
    /// No host could be started, or its lock not be looked at.
    #[error("could not start a host for fleet {fleet}: {source}")]
    Refused {
        /// Which fleet.
        fleet: FleetId,
        /// What the system says.
        source: io::Error,
    },
}

impl StartError {
    /// Says whether another try may succeed later, without anybody doing anything about this fleet.
    pub fn is_passing(&self) -> bool {
        match self {
            // It hangs, is full, or the system has run out of something.
            Self::Connect(
                ConnectError::Nobody(_)
                | ConnectError::Closed(_)
                | ConnectError::Silent(_)
                | ConnectError::Refused(_)
                | ConnectError::System { .. },
            )
            | Self::Closed { .. } => true,
            Self::Refused { source, .. } => {
                let kind = source.kind();
                kind != io::ErrorKind::NotFound && kind != io::ErrorKind::PermissionDenied
            }
            Self::Connect(ConnectError::Version(_) | ConnectError::Strange { .. })
            | Self::Elsewhere { .. }
            | Self::Gone(_)
            | Self::Failed { .. } => false,
        }
    }
}

/// Connects to one fleet, starting its host if need be.
#[derive(Debug, Clone)]
pub struct Connector {
    state: StateDir,
    dir: FleetDir,
    launcher: Launcher,
    options: Vec<OsString>,
    in_passing: bool,
}

impl Connector {
    /// Names the fleet, and the program that hosts are started with.
    pub fn new(state: &StateDir, dir: FleetDir, launcher: Launcher) -> Self {
        Self { state: state.clone(), dir, launcher, options: Vec::new(), in_passing: false }
    }

    /// Lets a host that is started stay for this long after there was something to do, instead of the usual time.
    #[must_use]
    pub fn lingering(mut self, time: Duration) -> Self {
        self.options.extend(["--linger-ms".into(), time.as_millis().to_string().into()]);
        self
    }

    /// Lets a host that is started live only as long as somebody is connected. With its end everything is stopped, and
    /// the state folder, if it has no other fleet, is deleted.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        self.options.push("--ephemeral".into());
        self
    }

    /// Connects for a command that comes and goes: what has ended while no screen was there is still told to the next one.
    #[must_use]
    pub fn in_passing(self) -> Self {
        Self { in_passing: true, ..self }
    }

    /// Lets a host that is started go on with the queue, whatever held it, with these laid over the options that it finds:
    /// what somebody else changes until it has the fleet's lock stays.
    pub fn going_on(mut self, limits: &LimitArguments) -> io::Result<Self> {
        let text = serde_json::to_string(limits)?;
        self.options.extend([GO_ON_WORD.into(), text.into()]);
        Ok(self)
    }

    /// Connects to the host that there is; `None` if there is none. `say` is as in [`Connector::connect`].
    pub async fn connect_if_hosted(
        &self,
        say: impl Fn(String),
    ) -> Result<Option<Connected>, StartError> {
        self.connect_with(0, say).await
    }

    /// Connects. `say` is told what is waited for, in words for people, whenever that takes more than a moment.
    pub async fn connect(&self, say: impl Fn(String)) -> Result<Connected, StartError> {
        let connected = self.connect_with(STARTS, say).await?;
        connected.ok_or_else(|| StartError::Failed {
            fleet: self.dir.id().clone(),
            why: "it went again and again before it answered".to_owned(),
        })
    }

    /// Connects, starting hosts as often as is said; `None` once there is none and none is started any more.
    async fn connect_with(
        &self,
        most_starts: u32,
        say: impl Fn(String),
    ) -> Result<Option<Connected>, StartError> {
        let fleet = || self.dir.id().clone();
        let deadline = Instant::now() + PATIENCE;
        let (mut starts, mut has_said) = (0, false);
        loop {
            let connected = if self.in_passing {
                connect_in_passing(&self.dir).await
            } else {
                connect(&self.dir).await
            };
            match connected {
                Err(error) if error.is_passing() => {}
                result => return Ok(Some(result?)),
            }
            match self.host().await? {
                HostState::Elsewhere(host) => {
                    return Err(StartError::Elsewhere { fleet: fleet(), host });
                }
                HostState::None if starts < most_starts => {
                    starts += 1;
                    say("starting the fleet's host".to_owned());
                    self.start().await?;
                }
                HostState::None => return Ok(None),
                HostState::Here(pid) if Instant::now() >= deadline => {
                    return Err(StartError::Closed { fleet: fleet(), pid });
                }
                HostState::Here(pid) => {
                    if !std::mem::replace(&mut has_said, true) {
                        let process = pid.map(|pid| format!(" (process {pid})"));
                        say(format!("waiting for the fleet's host{}", process.unwrap_or_default()));
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Looks for a host, away from the loop: a probe may wait.
    async fn host(&self) -> Result<HostState, StartError> {
        if !self.dir.path().is_dir() {
            return Err(StartError::Gone(self.dir.id().clone()));
        }
        let dir = self.dir.clone();
        let looked = tokio::task::spawn_blocking(move || host_of(&dir)).await;
        looked.map_err(io::Error::from).flatten().map_err(|source| self.refused(source))
    }

    /// Starts a host and waits until it listens, or has gone because another one was faster.
    async fn start(&self) -> Result<(), StartError> {
        let (log, before) = self.open_log().map_err(|source| self.refused(source))?;
        let mut child = self.spawn(log).map_err(|source| self.refused(source))?;
        let ready = child.stdout.take().expect("the standard output was asked to be a pipe");
        // It outlives this process as a rule, and must not stay as a zombie if it does not.
        let reaper = thread::Builder::new().name("host-reaper".to_owned());
        reaper.spawn(move || child.wait()).map_err(|source| self.refused(source))?;
        match timeout(START, has_started(ready.into())).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => match self.last_words(before) {
                Some(why) => Err(StartError::Failed { fleet: self.dir.id().clone(), why }),
                None => Ok(()),
            },
            Ok(Err(source)) => Err(self.refused(source)),
            Err(_) => {
                let why = format!("it did not listen within {} seconds", START.as_secs());
                Err(StartError::Failed { fleet: self.dir.id().clone(), why })
            }
        }
    }

    fn spawn(&self, log: File) -> io::Result<Child> {
        let mut command = self.launcher.to_other_command(&format!("fleet: host {}", self.dir.id()));
        command.arg(HOST_WORD).arg(&self.dir.id().0).arg("--state-dir").arg(self.state.path());
        command.args(&self.options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::from(log));
        command.spawn()
    }

    /// Opens the host's log and tells how much is in it.
    fn open_log(&self) -> io::Result<(File, u64)> {
        let log = open_to_append(&self.dir.host_log())?;
        let mut length = log.metadata()?.len();
        if length > LOG_BYTES {
            log.set_len(0)?;
            length = 0;
        }
        Ok((log, length))
    }

    /// Returns the last line that came into the log after its first `before` bytes.
    fn last_words(&self, before: u64) -> Option<String> {
        let text = read_text(&self.dir.host_log()).ok()?;
        let new = text.get(usize::try_from(before).ok()?..)?;
        let last = new.lines().rfind(|line| !line.trim().is_empty())?;
        // Without the time that stands before it.
        let words =
            last.split_once(' ').filter(|(time, _)| time.parse::<jiff::Timestamp>().is_ok());
        Some(words.map_or(last, |(_, words)| words).to_owned())
    }

    fn refused(&self, source: io::Error) -> StartError {
        let fleet = self.dir.id().clone();
        // Its last host may have deleted it meanwhile, since it never had an agent.
        if self.dir.path().is_dir() {
            StartError::Refused { fleet, source }
        } else {
            StartError::Gone(fleet)
        }
    }
}
