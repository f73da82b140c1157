//! Processes as a test sees them: who carries a variable, who lives, and waiting for a change.
//!
//! What may go here: reading `/proc`, signals by process id, waiting. What may not: anything about fleets.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process, test_kill_process};

/// Number of a process. It is only ever one that the test itself found or started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pid(pub(crate) u32);

impl Pid {
    fn raw(self) -> rustix::process::Pid {
        let number = i32::try_from(self.0).expect("process ids fit into an i32");
        rustix::process::Pid::from_raw(number).expect("process ids are not zero")
    }

    /// Sends a signal; a process that is gone is no error.
    pub(crate) fn signal(self, signal: Signal) {
        let _ = kill_process(self.raw(), signal);
    }

    /// Says whether there is such a process that is more than a zombie.
    pub(crate) fn lives(self) -> bool {
        test_kill_process(self.raw()).is_ok() && !self.is_zombie()
    }

    /// Waits until the process is gone.
    #[track_caller]
    pub(crate) fn wait_gone(self, what: &str) {
        wait_until(&format!("{what} ({self:?}) is gone"), super::GENEROUS, || {
            if self.lives() { Err(format!("{self:?} lives")) } else { Ok(()) }
        });
    }

    fn is_zombie(self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.0)
    }
}

/// A process that carries a variable that the test looked for.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// Its command line.
    pub(crate) command: String,
    /// Its `FLEET_AGENT`, which shims and hosts do not have.
    pub(crate) mark: Option<String>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = self.mark.as_deref().unwrap_or("no agent's");
        write!(f, "{:?} ({mark}): {}", self.pid, self.command)
    }
}

impl Process {
    fn read(pid: u32) -> Option<(Self, Vec<String>)> {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let variables: Vec<String> = parts(&environ);
        let mark =
            variables.iter().find_map(|one| one.strip_prefix("FLEET_AGENT=")).map(str::to_owned);
        let command =
            parts(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).join(" ");
        Some((Self { pid: Pid(pid), command, mark }, variables))
    }
}

fn parts(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .split('\0')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the processes whose environment at their start had this variable with a value that begins like this.
///
/// Where there is no `/proc` there is nothing to be found, so tests that count on it are for Linux only.
pub(crate) fn processes_with(variable: &str, prefix: &str) -> Vec<Process> {
    let wanted = format!("{variable}={prefix}");
    processes_that(|_, variables| variables.iter().any(|one| one.starts_with(&wanted)))
}

/// Returns the processes, whoever started them and in whatever environment, that have this text in their command line.
pub(crate) fn processes_running(text: &str) -> Vec<Process> {
    processes_that(|process, _| process.command.contains(text))
}

fn processes_that(is_wanted: impl Fn(&Process, &[String]) -> bool) -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Some((process, variables)) = Process::read(pid) else { continue };
        if is_wanted(&process, &variables) {
            found.push(process);
        }
    }
    found.sort_by_key(|process| process.pid);
    found
}

/// Waits until `look` returns `Ok`, and fails with what it saw last when that takes longer than `deadline`.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place where tests wait; it ends as soon as it can"
)]
pub(crate) fn wait_until<T>(
    what: &str,
    deadline: Duration,
    mut look: impl FnMut() -> Result<T, String>,
) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(value) => return value,
            Err(seen) if start.elapsed() > deadline => {
                panic!("waited {deadline:?} until {what}, but saw: {seen}")
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
