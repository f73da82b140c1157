//! Learns of the ends of shims and agents, and asks shims to stop. Own and adopted ones are one code path.
//!
//! What may go here: pidfds in the reactor, the rule by which a shim may be signalled. What may not: reading how an
//! agent ended.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::dir::{AgentDir, Found, read_guarded};
use super::life::{Begun, Lock, begun, boot_id, is_elsewhere, probe};
use super::record::Started;
use super::spec::Spec;
use crate::core::Urgency;

/// Time between two looks at the lock where there is no pidfd.
const POLL: Duration = Duration::from_secs(1);

/// Time between two looks at a lock whose holder has gone, and how often to look: the time of an exec on a machine that
/// has much to do.
const RELEASE_PAUSE: Duration = Duration::from_millis(1);
const RELEASE_LOOKS: u32 = 5_000;

/// What became of a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// The shim has been signalled.
    Sent,
    /// The shim has gone; there is nothing to signal.
    Gone,
}

/// A living shim.
#[derive(Debug)]
pub struct Watch {
    dir: AgentDir,
    /// `None` where there are no pidfds, or the shim has not said who it is.
    pidfd: Option<OwnedFd>,
    /// The descriptor was opened while the shim was our child, so it is the shim whatever became of the files.
    is_child: bool,
}

/// A running agent, which is not our child.
#[derive(Debug)]
pub struct AgentWatch {
    pidfd: OwnedFd,
}

impl Watch {
    /// Watches a child that has not been reaped, so that its number cannot be another's.
    pub(super) fn child(dir: AgentDir, pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pidfd = pid.and_then(|pid| open_pidfd(pid).ok());
        Self { dir, is_child: pidfd.is_some(), pidfd }
    }

    /// Watches an agent of which nothing can be found out at this moment; whether its shim lives, [`Watch::gone`] sees
    /// as soon as it can.
    pub fn later(dir: &AgentDir) -> Self {
        Self { dir: dir.clone(), pidfd: None, is_child: false }
    }

    /// Returns once the shim has gone and its lock is free. While this process is short of something, such as
    /// descriptors, it looks again and again: a shim that cannot be looked at has not gone. Must run inside a tokio
    /// runtime with I/O and time; one caller at a time per watch.
    pub async fn gone(&self) -> io::Result<()> {
        loop {
            match self.is_gone().await {
                Err(error) if is_shortage(&error) => tokio::time::sleep(POLL).await,
                other => return other,
            }
        }
    }

    async fn is_gone(&self) -> io::Result<()> {
        if let Some(pidfd) = &self.pidfd {
            readable(pidfd).await?;
            return self.released().await;
        }
        while probe(&self.dir.alive())? == Lock::Held {
            if let Some(pidfd) = find_shim(&self.dir)? {
                readable(&pidfd).await?;
                return self.released().await;
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// A process that the host forked at the very moment it held the lock has a copy of it until its exec, which can be
    /// later than the shim's end.
    async fn released(&self) -> io::Result<()> {
        for _ in 0..RELEASE_LOOKS {
            if probe(&self.dir.alive())? == Lock::Free {
                break;
            }
            tokio::time::sleep(RELEASE_PAUSE).await;
        }
        Ok(())
    }

    /// Asks the shim to stop its agent, in stages or at once. The signal reaches the shim or nobody.
    pub fn stop(&self, urgency: Urgency) -> io::Result<Delivery> {
        // Two signals at once must be two different ones, or the system makes them one. The last one wakes a shim that
        // somebody has stopped.
        self.signal(match urgency {
            // Of a shim that does not know this signal it would be the end.
            Urgency::AskPatiently if knows_patience(&self.dir) => &[Signal::USR2, Signal::CONT],
            Urgency::Ask | Urgency::AskPatiently => &[Signal::TERM, Signal::CONT],
            Urgency::Kill => &[Signal::TERM, Signal::QUIT, Signal::CONT],
        })
    }

    /// Asks the shim to close the standard input of an agent that takes messages, so that it ends when it has done what
    /// it was told. Nothing happens to any other agent, nor the second time.
    pub fn close_input(&self) -> io::Result<Delivery> {
        self.signal(&[Signal::USR1])
    }

    fn signal(&self, signals: &[Signal]) -> io::Result<Delivery> {
        let found;
        let pidfd = if let Some(pidfd) = &self.pidfd {
            Some(pidfd)
        } else {
            found = find_shim(&self.dir)?;
            found.as_ref()
        };
        // The descriptor is open: if the lock is held now, the shim lives and the descriptor is the shim.
        if !self.is_child && probe(&self.dir.alive())? == Lock::Free {
            return Ok(Delivery::Gone);
        }
        for signal in signals {
            match send(&self.dir, pidfd, *signal) {
                Err(rustix::io::Errno::SRCH) => return Ok(Delivery::Gone),
                other => other?,
            }
        }
        Ok(Delivery::Sent)
    }
}

impl AgentWatch {
    /// Returns once the agent itself has ended. Must run inside a tokio runtime with I/O; one caller at a time.
    pub async fn ended(&self) -> io::Result<()> {
        readable(&self.pidfd).await
    }
}

/// Watches the shim of an agent that somebody else has started; `None` if no shim lives, or it lives elsewhere.
pub fn adopt(dir: &AgentDir) -> io::Result<Option<Watch>> {
    if let Begun::Yes(started) = begun(dir)?
        && is_elsewhere(&started)
    {
        return Ok(None);
    }
    // Opened before the probe: a process that has only inherited the shim's number comes with a free lock.
    let pidfd = find_shim(dir)?;
    Ok(match probe(&dir.alive())? {
        Lock::Held => Some(Watch { dir: dir.clone(), pidfd, is_child: false }),
        Lock::Free => None,
    })
}

/// Watches the agent itself, for the time between its end and its tree's; `None` if it has ended or cannot be told
/// from another process.
#[cfg(target_os = "linux")]
pub fn agent_watch(dir: &AgentDir) -> io::Result<Option<AgentWatch>> {
    let Begun::Yes(Started { agent_pid: Some(agent), shim_pid, .. }) = begun(dir)? else {
        return Ok(None);
    };
    let pidfd = Pid::from_raw(agent).and_then(|pid| open_pidfd(pid).ok());
    Ok(pidfd
        .filter(|_| super::processes::parent_of(agent) == Some(shim_pid))
        .map(|pidfd| AgentWatch { pidfd }))
}

/// There are no pidfds here: `None`.
#[cfg(not(target_os = "linux"))]
pub fn agent_watch(_dir: &AgentDir) -> io::Result<Option<AgentWatch>> {
    Ok(None)
}

/// Counts the live processes of the tree besides the agent itself. Reads all of `/proc` once.
pub fn left_behind(dir: &AgentDir) -> io::Result<u32> {
    let Begun::Yes(Started { agent_pid, shim_pid, .. }) = begun(dir)? else { return Ok(0) };
    let tree = super::processes::tree_of(shim_pid);
    // A shim's number that now belongs to another process comes with a free lock.
    if probe(&dir.alive())? == Lock::Free {
        return Ok(0);
    }
    let left = tree.iter().filter(|process| Some(process.pid) != agent_pid).count();
    Ok(u32::try_from(left).unwrap_or(u32::MAX))
}

/// Waits for the byte by which a shim says that its agent runs; `false` if it will never come. Takes the read end that
/// [`launch`](super::launch) returned. Must run inside a tokio runtime with I/O.
pub async fn has_started(started: OwnedFd) -> io::Result<bool> {
    let pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(started)?;
    let mut byte = [0];
    loop {
        pipe.readable().await?;
        match pipe.try_read(&mut byte) {
            Ok(count) => return Ok(count > 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Says whether an error is this process's or the machine's want of something, which says nothing about what was to be
/// looked at and passes.
pub fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR | Errno::NOSPC))
}

async fn readable(pidfd: &OwnedFd) -> io::Result<()> {
    let watched = register(pidfd)?;
    let _ready = watched.readable().await?;
    Ok(())
}

#[expect(
    deprecated,
    reason = "its successor is unsafe; what is lent here stays open and the same while it is registered"
)]
fn register(pidfd: &OwnedFd) -> io::Result<AsyncFd<Borrowed<'_>>> {
    AsyncFd::with_interest(Borrowed(pidfd), Interest::READABLE)
}

/// Lends a descriptor to the reactor without giving it away.
struct Borrowed<'fd>(&'fd OwnedFd);

impl AsRawFd for Borrowed<'_> {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

/// Says whether the shim of an agent can be asked patiently: one of an earlier version was not told of a long grace.
pub fn knows_patience(dir: &AgentDir) -> bool {
    let Ok(Found::Bytes(json)) = read_guarded(&dir.spec()) else { return false };
    serde_json::from_slice::<Spec>(&json).is_ok_and(|spec| spec.stale_grace.is_some())
}

/// Opens the process that says it is the shim. Whether it is, the lock must tell afterwards.
fn find_shim(dir: &AgentDir) -> io::Result<Option<OwnedFd>> {
    let Begun::Yes(started) = begun(dir)? else { return Ok(None) };
    if started.boot_id != boot_id() {
        return Ok(None);
    }
    Ok(Pid::from_raw(started.shim_pid).and_then(|pid| open_pidfd(pid).ok()))
}

#[cfg(target_os = "linux")]
fn open_pidfd(pid: Pid) -> rustix::io::Result<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
}

#[cfg(not(target_os = "linux"))]
fn open_pidfd(_pid: Pid) -> rustix::io::Result<OwnedFd> {
    Err(rustix::io::Errno::NOSYS)
}

#[cfg(target_os = "linux")]
fn send(_dir: &AgentDir, pidfd: Option<&OwnedFd>, signal: Signal) -> rustix::io::Result<()> {
    // Without a descriptor the shim has not yet said who it is; the caller asks again.
    let pidfd = pidfd.ok_or(rustix::io::Errno::AGAIN)?;
    rustix::process::pidfd_send_signal(pidfd.as_fd(), signal)
}

/// Signals by number: the lock was held a moment ago, which is as much as can be known without pidfds.
#[cfg(not(target_os = "linux"))]
fn send(dir: &AgentDir, _pidfd: Option<&OwnedFd>, signal: Signal) -> rustix::io::Result<()> {
    let Ok(Begun::Yes(started)) = begun(dir) else { return Err(rustix::io::Errno::AGAIN) };
    let pid = Pid::from_raw(started.shim_pid).ok_or(rustix::io::Errno::SRCH)?;
    rustix::process::kill_process(pid, signal)
}
