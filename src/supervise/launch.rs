//! Starts shims.
//!
//! What may go here: what the host does for an agent up to the moment its shim runs. What may not: what the shim does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::dir::{AgentDir, open_guarded, remove_if_there};
use super::shim::SHIM_WORD;
use super::spec::{MARK_VARIABLE, Spec};
use super::watch::Watch;

/// Soft limit of open files that a host takes, if the system lets it: four descriptors for each of 1,000 agents, and
/// much room. More would only make programs slow that close everything up to their limit.
const NOFILE: u64 = 65_536;

/// Set once this process has asked whether it is a shim, so that it can serve as one.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Held while a shim is spawned: another spawn at that moment would inherit the locked descriptor until its exec, and
/// so keep the lock for a moment longer than the shim lives.
///
/// It holds the shims that are children of this process, from before they run until they have been [reaped](reap).
static SPAWNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// How to start a shim: a program and its first arguments. `shim AGENT_DIR` is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    args: Vec<OsString>,
}

/// A shim could not be started. Nothing is left behind and the agent never began.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// This executable would not know what to do as a shim.
    #[error(
        "this program cannot start agents: call `loki_fleet::shim_main()` first in its `main`, or name a `fleet` program \
         to launch them with"
    )]
    NoShim,
    /// The folder holds an earlier start.
    #[error("{} has been started before: an agent is started once, retry makes a new one", dir.display())]
    AlreadyBegan {
        /// The agent's folder.
        dir: PathBuf,
    },
    /// A file could not be written.
    #[error("could not write {}: {source}; make room or correct its permissions, then retry", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system refused to start the process.
    #[error("could not start a process for the agent with {}: {source}{}", program.display(), advice(source))]
    Spawn {
        /// What was to be started.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A shim that has been started.
#[derive(Debug)]
pub struct Launched {
    /// The child, to be reaped once `watch` says that it has gone.
    pub child: Child,
    /// Tells when it has gone.
    pub watch: Watch,
    /// Read end of a pipe: one byte when the agent runs, the end without a byte if it never will.
    pub started: OwnedFd,
}

impl Launcher {
    /// Names a program that is, or hands its arguments on to, `fleet`.
    pub fn new(program: impl Into<PathBuf>, args: Vec<OsString>) -> Self {
        Self { program: program.into(), args }
    }

    /// Uses this executable, which must have called [`shim_main`](crate::shim_main).
    pub fn this_executable() -> Result<Self, LaunchError> {
        if !ASKED.load(Ordering::Relaxed) {
            return Err(LaunchError::NoShim);
        }
        let program = own_executable()
            .map_err(|source| LaunchError::Spawn { program: PathBuf::from("fleet"), source })?;
        Ok(Self::new(program, Vec::new()))
    }

    /// Returns a command that starts this program for something else than a shim, under a name by which people find it
    /// among other processes, and without the mark of the agent that this process may be in.
    pub fn to_other_command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(name).args(&self.args).env_remove(MARK_VARIABLE).env_remove("FLEET_DEPTH");
        command
    }

    fn to_command(&self, dir: &AgentDir, spec: &Spec) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(format!("fleet: agent {}", spec.id));
        command.args(&self.args).arg(SHIM_WORD).arg(dir.path());
        command
    }
}

/// Starts the shim of an agent whose folder is [prepared](super::prepare).
///
/// `environment` is everything the agent inherits, without what its spec adds; `None` is this process's own. The lock
/// on `alive` is held from before the shim exists until it has gone. Blocks for as long as a spawn takes.
pub fn launch(
    launcher: &Launcher,
    dir: &AgentDir,
    spec: &Spec,
    environment: Option<&BTreeMap<OsString, OsString>>,
) -> Result<Launched, LaunchError> {
    let path = std::path::absolute(dir.path())
        .map_err(|source| LaunchError::Write { path: dir.path().to_owned(), source })?;
    let dir = AgentDir::new(path);
    // Before the lock, which a living shim would not give, and again with it, when nothing can begin any more.
    refuse_if_begun(&dir)?;
    let mut own = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    let alive = take_alive(&dir)?;
    refuse_if_begun(&dir)?;
    let launched = start(launcher, &dir, spec, environment, alive).inspect_err(|_| {
        // The error that is reported matters more than one of cleaning up after it.
        let _ = remove_if_there(&dir.spec());
        let _ = remove_if_there(&dir.alive());
    })?;
    own.extend(i32::try_from(launched.child.id()));
    Ok(launched)
}

/// Starts a process of Fleet's own that is no shim, as a child that is no orphan. It has to be [reaped](reap) as well.
pub(super) fn spawn_own(command: &mut Command) -> io::Result<Child> {
    let mut own = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    own.extend(i32::try_from(child.id()));
    Ok(child)
}

/// Takes the record of a dead shim from the system.
pub fn reap(mut child: Child) {
    // It is dead, or about to be.
    let _ = child.wait();
    let mut own = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(pid) = i32::try_from(child.id()) {
        own.remove(&pid);
    }
}

/// Calls `look` with the shims that are children of this process, while no other is started.
#[cfg(target_os = "linux")]
pub(super) fn with_own_children<T>(look: impl FnOnce(&BTreeSet<i32>) -> T) -> T {
    look(&SPAWNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Raises this process's soft limit of open files; returns the old one, for [`Spec::nofile`], if it was raised.
pub fn raise_nofile() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(NOFILE, |maximum| maximum.min(NOFILE));
    let old = limit.current.filter(|current| *current < wanted)?;
    // macOS refuses more than its own constant even below the hard limit.
    [wanted, 10_240]
        .into_iter()
        .filter(|value| *value > old)
        .find(|value| {
            let new = Rlimit { current: Some(*value), maximum: limit.maximum };
            setrlimit(Resource::Nofile, new).is_ok()
        })
        .map(|_| old)
}

/// Remembers that this process can serve as a shim.
pub(super) fn note_asked() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Returns how this program starts itself again: the running file, even if another now has its name.
pub(super) fn own_executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

fn take_alive(dir: &AgentDir) -> Result<File, LaunchError> {
    let failed = |source| LaunchError::Write { path: dir.alive(), source };
    let alive = open_guarded(&dir.alive(), OFlags::RDWR | OFlags::CREATE).map_err(failed)?;
    // Waits: somebody may be probing it at this moment.
    alive.lock().map_err(failed)?;
    Ok(alive)
}

fn start(
    launcher: &Launcher,
    dir: &AgentDir,
    spec: &Spec,
    environment: Option<&BTreeMap<OsString, OsString>>,
    alive: File,
) -> Result<Launched, LaunchError> {
    let write_failed = |source| LaunchError::Write { path: dir.spec(), source };
    let json = serde_json::to_vec(spec).map_err(|error| write_failed(error.into()))?;
    dir.write(&dir.spec(), &json).map_err(write_failed)?;

    let mut command = launcher.to_command(dir, spec);
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    command.env_remove(MARK_VARIABLE);
    command.stdin(Stdio::from(alive)).stdout(Stdio::piped()).stderr(Stdio::null());
    let spawn_failed = |source| LaunchError::Spawn { program: launcher.program.clone(), source };
    let mut child = command.spawn().map_err(spawn_failed)?;
    // Dropping the command closes our copy of the locked descriptor: now only the shim holds it.
    drop(command);
    let started = child.stdout.take().expect("the standard output was asked to be a pipe");
    let watch = Watch::child(dir.clone(), child.id());
    Ok(Launched { child, watch, started: started.into() })
}

fn refuse_if_begun(dir: &AgentDir) -> Result<(), LaunchError> {
    let exists = |path: PathBuf| std::fs::symlink_metadata(path).is_ok();
    if exists(dir.started()) || exists(dir.exit()) {
        return Err(LaunchError::AlreadyBegan { dir: dir.path().to_owned() });
    }
    Ok(())
}

/// What helps against a refusal, as the rest of a sentence.
pub(super) fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::WouldBlock => "; too many processes run for this user",
        io::ErrorKind::OutOfMemory => "; the machine is out of memory",
        io::ErrorKind::NotFound => "; install it or correct its name",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_that_fails_leaves_nothing_half_done() {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path());
        let spec = Spec::new("t/1", 1, vec!["true".to_owned()], PathBuf::from("/"));
        let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
        let error = launch(&launcher, &dir, &spec, None).unwrap_err();
        assert!(matches!(error, LaunchError::Spawn { .. }), "{error:?}");
        assert!(error.to_string().contains("/nonexistent/fleet"), "{error}");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_agent_is_never_started_twice() {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path());
        let spec = Spec::new("t/1", 1, vec!["true".to_owned()], PathBuf::from("/"));
        dir.write(&dir.started(), b"{}").unwrap();
        let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
        let error = launch(&launcher, &dir, &spec, None).unwrap_err();
        assert!(matches!(error, LaunchError::AlreadyBegan { .. }), "{error:?}");
    }

    #[test]
    fn what_is_started_beside_agents_does_not_carry_their_mark() {
        let command = Launcher::new("fleet", vec!["first".into()]).to_other_command("fleet");
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        assert_eq!(removed.len(), 2, "{command:?}");
        assert!(removed.iter().any(|(name, _)| *name == MARK_VARIABLE), "{command:?}");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["first"]);
    }

    #[test]
    fn a_program_that_never_asked_whether_it_is_a_shim_may_not_be_one() {
        // No test calls `shim_main`, so that this process cannot serve as a shim.
        let error = Launcher::this_executable().unwrap_err();
        assert!(error.to_string().contains("shim_main"), "{error}");
    }
}
