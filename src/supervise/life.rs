//! Says whether an agent lives, from its folder alone.
//!
//! What may go here: the order in which the facts are read. What may not: signals, waiting.

use std::io;
use std::path::Path;

use rustix::fs::OFlags;

use super::dir::{AgentDir, Found, open_guarded, read_guarded};
use super::record::{ExitRecord, Started};

/// What an agent's folder says of its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// The shim lives.
    Lives {
        /// Its process id, once it has said so.
        shim_pid: Option<i32>,
    },
    /// No process of this agent ever ran: it may be queued again.
    NeverBegan,
    /// The shim wrote down how the agent ended.
    Ended(Box<ExitRecord>),
    /// The shim died without a record. What carries the agent's mark must be swept.
    Lost,
    /// The shim lives on another machine, which shares the folder. It is not signalled from here.
    Elsewhere {
        /// Name of that machine.
        host: String,
    },
}

/// How often `started.json` is looked at before it is called unreadable.
const LOOKS: u32 = 3;

/// Whether a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// By somebody else, exclusively.
    Held,
    /// By nobody, or there is no such file.
    Free,
}

/// `started.json`, as far as it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Begun {
    /// The shim has not begun.
    No,
    /// The shim has begun, but what it wrote cannot be read.
    Unreadable,
    /// The shim has begun and says this.
    Yes(Started),
}

/// Reads whether an agent lives: the lock first, the record of its end second, so that a shim that ends in between is
/// seen as ended.
pub fn life(dir: &AgentDir) -> io::Result<Life> {
    let lock = probe(&dir.alive())?;
    if lock == Lock::Held {
        return Ok(match begun(dir)? {
            Begun::Yes(started) if is_elsewhere(&started) => Life::Elsewhere { host: started.host },
            Begun::Yes(started) => Life::Lives { shim_pid: Some(started.shim_pid) },
            Begun::No | Begun::Unreadable => Life::Lives { shim_pid: None },
        });
    }
    without_lock(dir)
}

/// Reads how an agent stands whose lock was free a moment ago.
fn without_lock(dir: &AgentDir) -> io::Result<Life> {
    if let Some(record) = exit_record(dir)? {
        return Ok(Life::Ended(Box::new(record)));
    }
    let begun = begun(dir)?;
    // It may have been started between the look at the lock and this one. A lock that is free now is free for ever: the
    // shim, which has begun, is gone, and what it wrote is there.
    if begun != Begun::No {
        if probe(&dir.alive())? == Lock::Held {
            return Ok(Life::Lives { shim_pid: None });
        }
        if let Some(record) = exit_record(dir)? {
            return Ok(Life::Ended(Box::new(record)));
        }
    }
    Ok(match begun {
        Begun::No => Life::NeverBegan,
        // The shim died between saying that nothing could be started and writing it down as an end.
        Begun::Yes(Started { error: Some(error), .. }) => {
            Life::Ended(Box::new(ExitRecord::not_started(&error, started_ms(dir))))
        }
        Begun::Yes(_) | Begun::Unreadable => Life::Lost,
    })
}

/// Reads `exit.json`; an empty, torn or foreign one counts as absent.
pub fn exit_record(dir: &AgentDir) -> io::Result<Option<ExitRecord>> {
    Ok(match read_guarded(&dir.exit())? {
        Found::Bytes(json) => serde_json::from_slice(&json).ok(),
        Found::Nothing | Found::Foreign => None,
    })
}

/// Reads `started.json`; `None` if the shim has not begun or what it wrote cannot be read.
pub fn started(dir: &AgentDir) -> io::Result<Option<Started>> {
    Ok(match begun(dir)? {
        Begun::Yes(started) => Some(started),
        Begun::No | Begun::Unreadable => None,
    })
}

pub(super) fn begun(dir: &AgentDir) -> io::Result<Begun> {
    // The shim writes over it once: what is half of both is whole at the next look.
    for _ in 0..LOOKS {
        match read_guarded(&dir.started())? {
            Found::Nothing => return Ok(Begun::No),
            Found::Foreign => return Ok(Begun::Unreadable),
            Found::Bytes(json) => {
                if let Ok(started) = serde_json::from_slice(&json) {
                    return Ok(Begun::Yes(started));
                }
            }
        }
    }
    Ok(Begun::Unreadable)
}

/// Says whether somebody holds the lock, by taking it shared for a moment.
pub(super) fn probe(path: &Path) -> io::Result<Lock> {
    let file = match open_guarded(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Free),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Lock::Free),
        Err(std::fs::TryLockError::WouldBlock) => Ok(Lock::Held),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Says whether the shim runs on another machine.
pub(super) fn is_elsewhere(started: &Started) -> bool {
    !started.host.is_empty() && started.host != host_name()
}

/// Returns the name of this machine.
pub(super) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns what tells this boot of the machine from others; empty where the system does not say.
pub(super) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

fn started_ms(dir: &AgentDir) -> u64 {
    std::fs::symlink_metadata(dir.started())
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::super::record::RECORD_VERSION;
    use super::*;
    use crate::core::ProcessEnd;

    struct Folder {
        _temp: tempfile::TempDir,
        dir: AgentDir,
    }

    fn folder() -> Folder {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path());
        Folder { _temp: temp, dir }
    }

    fn write_started(dir: &AgentDir, host: &str, error: Option<&str>) {
        let started = Started {
            version: RECORD_VERSION,
            shim_pid: 4711,
            boot_id: boot_id(),
            host: host.to_owned(),
            agent_pid: None,
            error: error.map(str::to_owned),
        };
        dir.write(&dir.started(), &serde_json::to_vec(&started).unwrap()).unwrap();
    }

    fn hold(dir: &AgentDir) -> File {
        let file = File::create(dir.alive()).unwrap();
        file.lock().unwrap();
        file
    }

    #[test]
    fn an_empty_folder_never_began() {
        let folder = folder();
        assert_eq!(life(&folder.dir).unwrap(), Life::NeverBegan);
        drop(hold(&folder.dir));
        assert_eq!(life(&folder.dir).unwrap(), Life::NeverBegan);
    }

    #[test]
    fn a_held_lock_lives_whatever_else_is_there() {
        let folder = folder();
        let lock = hold(&folder.dir);
        assert_eq!(life(&folder.dir).unwrap(), Life::Lives { shim_pid: None });
        write_started(&folder.dir, &host_name(), None);
        folder.dir.write(&folder.dir.exit(), br#"{"version":1,"ended_ms":1,"code":0}"#).unwrap();
        assert_eq!(life(&folder.dir).unwrap(), Life::Lives { shim_pid: Some(4711) });
        drop(lock);
        assert!(matches!(life(&folder.dir).unwrap(), Life::Ended(_)));
    }

    #[test]
    fn a_lock_held_on_another_machine_is_elsewhere() {
        let folder = folder();
        let _lock = hold(&folder.dir);
        write_started(&folder.dir, "another-machine", None);
        let host = "another-machine".to_owned();
        assert_eq!(life(&folder.dir).unwrap(), Life::Elsewhere { host });
    }

    #[test]
    fn begun_and_gone_without_a_whole_record_is_lost() {
        let folder = folder();
        write_started(&folder.dir, &host_name(), None);
        assert_eq!(life(&folder.dir).unwrap(), Life::Lost);
        for torn in ["", "        \n", r#"{"version":1,"ended_ms":12,"co"#] {
            folder.dir.write(&folder.dir.exit(), torn.as_bytes()).unwrap();
            assert_eq!(life(&folder.dir).unwrap(), Life::Lost, "{torn:?}");
        }
        folder.dir.write(&folder.dir.started(), b"{").unwrap();
        assert_eq!(life(&folder.dir).unwrap(), Life::Lost);
    }

    #[test]
    fn an_agent_that_began_after_the_look_at_its_lock_is_not_lost() {
        let folder = folder();
        let lock = hold(&folder.dir);
        write_started(&folder.dir, &host_name(), None);
        assert_eq!(without_lock(&folder.dir).unwrap(), Life::Lives { shim_pid: None });
        drop(lock);
        assert_eq!(without_lock(&folder.dir).unwrap(), Life::Lost);
    }

    #[test]
    fn a_planted_link_is_no_end() {
        let folder = folder();
        write_started(&folder.dir, &host_name(), None);
        let real = folder.dir.path().join("real");
        std::fs::write(&real, r#"{"version":1,"ended_ms":1,"code":0}"#).unwrap();
        std::os::unix::fs::symlink(real, folder.dir.exit()).unwrap();
        assert_eq!(life(&folder.dir).unwrap(), Life::Lost);
    }

    #[test]
    fn a_shim_that_could_not_start_its_agent_says_why_even_if_it_dies_at_once() {
        let folder = folder();
        write_started(&folder.dir, &host_name(), Some("no such program"));
        let Life::Ended(record) = life(&folder.dir).unwrap() else { panic!("not ended") };
        let why = ProcessEnd::NotStarted("no such program".to_owned());
        assert_eq!(record.to_process_end(), why);
        assert!(record.ended_ms > 0);
    }
}
