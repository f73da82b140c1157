//! What a shim does once, in order, before it watches: cut itself loose, make its files, start the agent.
//!
//! What may go here: the steps up to the agent's start. What may not: reaping and signals.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit, setsid};

use super::super::dir::{AgentDir, Found, read_guarded};
use super::super::life::{boot_id, host_name};
use super::super::record::{Prepared, RECORD_VERSION, Started, StartedFile};
use super::super::spec::{MARK_VARIABLE, SPEC_VERSION, Spec};
use super::refusal;

/// Where a process finds its open descriptors.
const DESCRIPTORS: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };

/// The files that a shim makes before it starts anything.
#[derive(Debug)]
pub(super) struct Files {
    /// Becomes `exit.json`.
    pub(super) exit: Prepared,
    /// `started.json`, which will say more.
    pub(super) running: StartedFile,
    /// What it says now.
    pub(super) started: Started,
}

/// An agent that is being started.
#[derive(Debug)]
pub(super) struct Agent {
    /// Its process.
    pub(super) pid: Pid,
    /// Says what failed, or closes without a word; `None` if the agent is known to run.
    pub(super) report: Option<PipeReader>,
}

/// Leaves the session of whoever started the shim, adopts all descendants, and closes what was inherited.
pub(super) fn isolate() {
    detach();
    #[cfg(target_os = "linux")]
    // Any number that is not zero switches it on; refusal would only cost the sweep of escaped descendants.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Leaves the session of whoever started this process, and closes what was inherited above the standard streams.
pub(super) fn detach() {
    // Fails only if this process leads a group already, in which case no terminal's signals reach it either.
    let _ = setsid();
    close_inherited();
}

/// Makes the files and writes the first `started.json`.
pub(super) fn make_files(dir: &AgentDir) -> io::Result<Files> {
    let exit = Prepared::new(dir.path())?;
    let started = Started {
        version: RECORD_VERSION,
        shim_pid: rustix::process::getpid().as_raw_pid(),
        boot_id: boot_id(),
        host: host_name(),
        agent_pid: None,
        error: None,
    };
    let running = Prepared::new(dir.path())?.commit_started(&started, &dir.started())?;
    Ok(Files { exit, running, started })
}

/// Reads what to start.
pub(super) fn read_spec(dir: &AgentDir) -> Result<Spec, String> {
    let unreadable = |why: String| format!("{} cannot be read: {why}", dir.spec().display());
    let json = match read_guarded(&dir.spec()) {
        Ok(Found::Bytes(json)) => json,
        Ok(Found::Nothing) => return Err(unreadable("there is none".to_owned())),
        Ok(Found::Foreign) => return Err(unreadable("it is no file".to_owned())),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let spec: Spec =
        serde_json::from_slice(&json).map_err(|error| unreadable(error.to_string()))?;
    if spec.version > SPEC_VERSION {
        return Err(unreadable("a later version of this program wrote it".to_owned()));
    }
    Ok(spec)
}

/// Starts the agent. An error is a clause for people.
pub(super) fn spawn(dir: &AgentDir, spec: &Spec) -> Result<Agent, String> {
    let stored = dir.stored_env()?;
    let out = open_output(dir, &dir.out())?;
    let err = open_output(dir, &dir.err())?;
    restore_nofile(spec);
    let path = agent_path(spec, &stored);
    let refused = |error: &io::Error| {
        refusal::sentence(super::exec::Step::Program, error, spec, path.as_deref())
    };
    let (mut command, report) = prepare_command(dir, spec)?;
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    command.envs(&spec.env).envs(&stored).env(MARK_VARIABLE, &spec.mark);
    command.stdout(Stdio::from(out)).stderr(Stdio::from(err));
    let child = command.spawn().map_err(|error| refused(&error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.expect("the system gives processes positive numbers");
    Ok(Agent { pid, report })
}

/// Returns the `PATH` in which the agent's program is looked for.
pub(super) fn agent_path(spec: &Spec, stored: &BTreeMap<String, String>) -> Option<OsString> {
    let given = stored.get("PATH").or_else(|| spec.env.get("PATH")).map(OsString::from);
    let is_removed = spec.env_remove.iter().any(|name| name == "PATH");
    given.or_else(|| std::env::var_os("PATH").filter(|_| !is_removed))
}

/// Builds the second exec, which reports on its standard input.
#[cfg(target_os = "linux")]
fn prepare_command(dir: &AgentDir, spec: &Spec) -> Result<(Command, Option<PipeReader>), String> {
    let failed = |error: io::Error| format!("no pipe to the agent could be made: {error}");
    let (reader, writer) = io::pipe().map_err(failed)?;
    rustix::io::ioctl_fionbio(&reader, true).map_err(|errno| failed(errno.into()))?;
    let mut command = super::exec::command(dir, spec).map_err(failed)?;
    command.stdin(Stdio::from(writer));
    Ok((command, Some(reader)))
}

/// Builds the agent's own command: there is no death signal to ask for here.
#[cfg(not(target_os = "linux"))]
fn prepare_command(dir: &AgentDir, spec: &Spec) -> Result<(Command, Option<PipeReader>), String> {
    use std::os::unix::process::CommandExt as _;

    use super::super::spec::StdinFrom;
    use super::exec::Step;

    let folder = std::fs::metadata(&spec.root).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    folder.map_err(|error| refusal::sentence(Step::Folder, &error, spec, None))?;
    let mut command = Command::new(spec.argv.first().map_or("", String::as_str));
    command.args(spec.argv.iter().skip(1)).current_dir(&spec.root).process_group(0);
    let open = |path: &std::path::Path| {
        File::open(path).map_err(|error| refusal::sentence(Step::Stdin, &error, spec, None))
    };
    command.stdin(match &spec.stdin {
        StdinFrom::Null => Stdio::null(),
        StdinFrom::File(path) => open(path)?.into(),
        StdinFrom::Messages => open(&dir.inlet())?.into(),
    });
    Ok((command, None))
}

fn open_output(dir: &AgentDir, path: &std::path::Path) -> Result<File, String> {
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map(File::from).map_err(|errno| {
        format!("the output files in {} could not be made: {errno}", dir.path().display())
    })
}

/// Gives the agent the limit that the host had before it raised its own.
fn restore_nofile(spec: &Spec) {
    if let Some(soft) = spec.nofile {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let current = Some(maximum.map_or(soft, |maximum| soft.min(maximum)));
        // A limit that stays higher than it was harms no agent.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

fn close_inherited() {
    // The list is complete, and its own descriptor closed, before anything else is.
    let inherited: Vec<i32> = std::fs::read_dir(DESCRIPTORS)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in inherited {
        // The list's own descriptor is in the list and closed already.
        let _ = nix::unistd::close(descriptor);
    }
}
