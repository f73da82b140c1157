//! A folder in which one measurement runs its fleets, and from which nothing lives on: not even after a panic.
//!
//! What may go here: making and clearing places, finding what runs in one. What may not: measurements.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How often what is left is asked to end, ten times a second, before it is killed.
const ASKED: u32 = 100;
/// How long agents may take to run, all of them.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder for the state of fleets and all else. Dropping it ends what was started in it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: super::folder() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a list of tasks, one a line; returns its path.
    pub(crate) fn list(&self, tasks: &[String]) -> String {
        let path = self.path().join("tasks.txt");
        std::fs::write(&path, tasks.join("\n") + "\n").expect("the list of tasks can be written");
        path.to_string_lossy().into_owned()
    }

    /// Processes that were started here: hosts, screens, shims and agents have the folder in their environment.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = self.path().as_os_str().as_encoded_bytes();
        let own = std::process::id();
        std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != own)
            .filter(|pid| {
                std::fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|bytes| memchr::memmem::find(&bytes, mark).is_some())
            })
            .collect()
    }

    /// The binary under measurement, as somebody would call it here.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleet"));
        at_home(&mut command, self.path());
        command.args(words);
        command
    }

    /// The host of the only fleet that lives here.
    pub(crate) fn host(&self) -> Option<u32> {
        self.processes().into_iter().find(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.get(1) == Some(&b"host".as_slice())
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.processes().is_empty() {
            let _ = self.command(&["stop", "all"]).output();
        }
        for turn in 0..=ASKED {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
            for pid in left {
                signal(pid, if turn == ASKED { "-KILL" } else { "-TERM" });
            }
        }
    }
}

/// Gives a command the folder as its own and as the place of all state.
pub(crate) fn at_home(command: &mut Command, folder: &Path) {
    command.current_dir(folder).env_remove("FLEET_AGENT").env_remove("FLEET_DEPTH");
    for name in HOMES {
        command.env(name, folder);
    }
}

/// Variables by which a program finds its own files.
pub(crate) const HOMES: [&str; 4] =
    ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"];

/// Sends a signal, by its name, to a process that was found in a place.
pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").arg(name).arg(pid.to_string()).output();
}

/// CPU time of a process in hundredths of a second.
pub(crate) fn ticks(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = text.rsplit_once(')') else { return 0 };
    let number = |index: usize| -> u64 {
        rest.split_whitespace().nth(index).and_then(|word| word.parse().ok()).unwrap_or_default()
    };
    number(11) + number(12)
}

/// Waits until so many agents of the only fleet run.
pub(crate) fn wait_until_all_run(place: &Place, agents: usize) {
    let start = Instant::now();
    let running = format!("\"running\":{agents},");
    loop {
        let listed = place.command(&["ls", "--json"]).output().expect("fleet ls can be run");
        if String::from_utf8_lossy(&listed.stdout).contains(&running) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "the agents did not all run within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
