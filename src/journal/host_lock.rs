//! The lock whose holder is the host of a fleet.
//!
//! A flock belongs to an open file and is let go by the system when its holder dies, whatever the reason; that alone
//! says whether a fleet has a host. What is written in the file is for people, and for telling machines apart.
//!
//! What may go here: taking and probing that lock. What may not: locks of agents.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use rustix::event::Timespec;
use serde::{Deserialize, Serialize};

use super::fleet_dir::FleetDir;
use super::typed::to_type;
use super::{machine, private};
use crate::core::FleetId;

/// How often a held lock is tried again: probes hold it for moments, and a dead host's child may until its exec.
const TRIES: u32 = 20;
/// Time between two tries; together 200 ms.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// Most that is read of the file.
const INFO_BYTES: u64 = 4096;

/// The lock of the host, held until dropped.
#[derive(Debug)]
#[must_use]
pub struct HostLock {
    file: File,
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Taken {
    /// A process of this machine hosts the fleet.
    #[error(
        "fleet {fleet} has a host already{}: `{}` opens the screen on it",
        by_process(*pid), to_type(format_args!("attach {fleet}"))
    )]
    Held {
        /// Which fleet.
        fleet: FleetId,
        /// Number of the process, if it could be read.
        pid: Option<u32>,
    },
    /// A process of another machine does.
    #[error("fleet {fleet} lives on host {host}: go on there")]
    Elsewhere {
        /// Which fleet.
        fleet: FleetId,
        /// Name of the machine.
        host: String,
    },
    /// The fleet was deleted.
    #[error("fleet {} is gone: `{}` lists those that are left", .0, to_type("ls"))]
    Gone(FleetId),
    /// The system refused.
    #[error("could not lock {}: {source}", path.display())]
    Refused {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Whether a fleet has a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostState {
    /// It has none.
    None,
    /// It has one on this machine; its process, if that could be read.
    Here(Option<u32>),
    /// It has one on another machine, by name.
    Elsewhere(String),
}

/// What the host writes into the file.
#[derive(Debug, Serialize, Deserialize)]
struct HostInfo {
    pid: u32,
    boot_id: String,
    host_name: String,
}

impl HostLock {
    /// Makes this process the host of a fleet. A lock that is held is tried for 200 ms.
    pub fn take(fleet_dir: &FleetDir) -> Result<Self, Taken> {
        let path = fleet_dir.host_lock();
        let refused = |source| Taken::Refused { path: path.clone(), source };
        let gone = || Taken::Gone(fleet_dir.id().clone());
        let file = match private::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
        {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(gone()),
            result => result.map_err(refused)?,
        };
        if !is_locked_within(&file, File::try_lock).map_err(refused)? {
            return Err(taken(fleet_dir, read_info(&file).as_ref()));
        }
        // The fleet may have been deleted between opening its file and locking it.
        if file.metadata().map_err(refused)?.nlink() == 0 {
            return Err(gone());
        }
        let mut lock = Self { file };
        // The lock holds without its text, so a full disk is no reason not to host the fleet.
        let _ = lock.write_info();
        Ok(lock)
    }

    fn write_info(&mut self) -> io::Result<()> {
        let mut text = serde_json::to_vec(&HostInfo {
            pid: std::process::id(),
            boot_id: machine::boot_id(),
            host_name: machine::host_name(),
        })?;
        text.push(b'\n');
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}

/// Empties the file, so that it names nobody; the lock goes with the file.
impl Drop for HostLock {
    fn drop(&mut self) {
        // Only a courtesy: what counts is the lock.
        let _ = self.file.set_len(0);
    }
}

/// Looks whether a fleet has a host, by a shared probe that never keeps others out for long.
pub fn host_of(fleet_dir: &FleetDir) -> io::Result<HostState> {
    let file = match private::options().read(true).open(fleet_dir.host_lock()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HostState::None),
        result => result?,
    };
    for _ in 0..TRIES {
        match file.try_lock_shared() {
            Ok(()) => return Ok(HostState::None),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        // A host that has just taken the lock has not written its name yet.
        if let Some(info) = read_info(&file) {
            return Ok(info.to_state());
        }
        pause()?;
    }
    Ok(HostState::Here(None))
}

impl HostInfo {
    fn to_state(&self) -> HostState {
        if self.host_name == machine::host_name() {
            HostState::Here(Some(self.pid))
        } else {
            HostState::Elsewhere(self.host_name.clone())
        }
    }
}

fn taken(fleet_dir: &FleetDir, info: Option<&HostInfo>) -> Taken {
    let fleet = fleet_dir.id().clone();
    match info.map(HostInfo::to_state) {
        Some(HostState::Elsewhere(host)) => Taken::Elsewhere { fleet, host },
        Some(HostState::Here(pid)) => Taken::Held { fleet, pid },
        Some(HostState::None) | None => Taken::Held { fleet, pid: None },
    }
}

fn is_locked_within(
    file: &File,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> io::Result<bool> {
    for attempt in 0..=TRIES {
        if attempt > 0 {
            pause()?;
        }
        match lock(file) {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

fn pause() -> io::Result<()> {
    match rustix::event::poll(&mut [], Some(&PAUSE)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn read_info(mut file: &File) -> Option<HostInfo> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(INFO_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn by_process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
