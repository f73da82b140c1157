//! A world of its own for one test: folders, a clean environment, the real binary, and nothing left when it is dropped.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::{GENEROUS, Pid, Process, processes_with, wait_until};

/// Variable that everything a test starts inherits, so that it can be found wherever it went.
const WORLD: &str = "FLEET_TEST_WORLD";

/// Folders and environment of one test.
#[derive(Debug)]
pub(crate) struct World {
    folder: TempDir,
    runs: AtomicU32,
    variables: Vec<(String, String)>,
    /// How long what still runs when the test is over may take to end.
    patience: Duration,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("fleet-test-").tempdir().unwrap();
        for name in ["home", "state", "config", "run", "work", "outputs", "temp"] {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        Self { folder, runs: AtomicU32::new(0), variables: Vec::new(), patience: GENEROUS }
    }

    /// Sets a variable for everything that is started from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Folder in which the binary is started.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Home folder of everything in this world.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Path of a file in the folder in which the binary is started.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// The state folder, as the binary finds it by itself.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state/loki-fleet")
    }

    /// Text of a file in the work folder; empty if it is not there yet.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Lines of a file in the work folder.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        self.read(name).lines().map(str::to_owned).collect()
    }

    /// Waits until a file in the work folder has at least so many lines.
    #[track_caller]
    pub(crate) fn wait_lines(&self, name: &str, count: usize) -> Vec<String> {
        wait_until(&format!("{name} has {count} lines"), GENEROUS, || {
            let lines = self.lines(name);
            if lines.len() >= count {
                Ok(lines)
            } else {
                Err(format!("{lines:?}, processes {:?}", self.processes()))
            }
        })
    }

    /// Environment of everything in this world: nothing of the tester's own but PATH.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let at = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        let mut all = vec![
            (WORLD.to_owned(), at("")),
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("HOME".to_owned(), at("home")),
            ("XDG_STATE_HOME".to_owned(), at("state")),
            ("XDG_CONFIG_HOME".to_owned(), at("config")),
            ("XDG_RUNTIME_DIR".to_owned(), at("run")),
            ("TMPDIR".to_owned(), at("temp")),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
        ];
        for (name, value) in &self.variables {
            all.retain(|(known, _)| known != name);
            all.push((name.clone(), value.clone()));
        }
        all
    }

    /// A command with this program in this world's environment and work folder, its stdin empty.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.variables()).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// A command that runs the binary under test.
    pub(crate) fn fleet_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_fleet"));
        command.args(args);
        command
    }

    /// Runs the binary to its end.
    #[track_caller]
    pub(crate) fn fleet(&self, args: &[&str]) -> Ran {
        self.start(args).end()
    }

    /// Starts the binary and returns at once.
    #[track_caller]
    pub(crate) fn start(&self, args: &[&str]) -> Live<'_> {
        self.start_command(self.fleet_command(args))
    }

    /// Starts a command of this world with its output going to files.
    #[track_caller]
    pub(crate) fn start_command(&self, mut command: Command) -> Live<'_> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let outputs = self.folder.path().join("outputs");
        let (stdout, stderr) =
            (outputs.join(format!("{run}.out")), outputs.join(format!("{run}.err")));
        command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
        let said = format!("{command:?}");
        let child =
            command.spawn().unwrap_or_else(|error| panic!("could not start {said}: {error}"));
        Live { child, world: self, stdout, stderr, ended: None }
    }

    /// Folders of the fleets in this world, in the order of their names.
    pub(crate) fn fleets(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.state().join("fleets")) else { return Vec::new() };
        let mut found: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        found.sort();
        found
    }

    /// Id of the only fleet in this world, once there is one.
    #[track_caller]
    pub(crate) fn only_fleet(&self) -> String {
        wait_until("there is one fleet", GENEROUS, || match self.fleets().as_slice() {
            [one] => Ok(one.file_name().unwrap().to_str().unwrap().to_owned()),
            other => Err(format!("{other:?}")),
        })
    }

    /// Folder of one agent of the only fleet.
    pub(crate) fn agent_folder(&self, id: u32) -> PathBuf {
        self.state().join(format!("fleets/{}/agents/{id:04}", self.only_fleet()))
    }

    /// Process id of the shim of one agent, as `started.json` tells it.
    #[track_caller]
    pub(crate) fn shim(&self, id: u32) -> Pid {
        let path = self.agent_folder(id).join("started.json");
        wait_until(&format!("{} names a shim", path.display()), GENEROUS, || {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let value: Value =
                serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
            let pid = value.get("shim_pid").and_then(Value::as_u64).ok_or(text)?;
            Ok(Pid(u32::try_from(pid).unwrap()))
        })
    }

    /// Everything that runs and was started in this world.
    pub(crate) fn processes(&self) -> Vec<Process> {
        processes_with(WORLD, self.folder.path().join("").to_str().unwrap())
    }

    /// Waits until nothing of this world runs any more.
    #[track_caller]
    pub(crate) fn assert_nothing_runs(&self) {
        self.wait_for_ends(GENEROUS);
    }

    #[track_caller]
    fn wait_for_ends(&self, patience: Duration) {
        wait_until("nothing is left running", patience, || {
            let left = self.processes();
            if left.is_empty() { Ok(()) } else { Err(format!("{left:#?}")) }
        });
    }

    /// Ends everything. A process that is born while we look is found in the next round.
    fn kill_all(&self) {
        for _ in 0..50 {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            for process in left {
                process.pid.signal(Signal::KILL);
            }
        }
    }

    /// Lets nothing have time to end by itself once the test is over.
    pub(crate) fn set_impatient(&mut self) {
        self.patience = Duration::ZERO;
    }

    /// Ends every agent and every host of this world, and waits until nothing runs any more.
    #[track_caller]
    pub(crate) fn end_fleets(&self) {
        let fleets = self.fleet(&["ls", "--json"]).expect_code(0).json();
        for fleet in fleets.as_array().unwrap() {
            if fleet["kpis"]["running"].as_u64() > Some(0) {
                let id = fleet["id"].as_str().unwrap();
                self.fleet(&["stop", "all", "--fleet", id]).expect_code(0);
            }
            if let Some(pid) = fleet["host_pid"].as_u64() {
                Pid(u32::try_from(pid).unwrap()).signal(Signal::TERM);
            }
        }
        self.assert_nothing_runs();
    }

    /// Fails if anything that an agent started still runs, at this very moment.
    #[track_caller]
    pub(crate) fn assert_no_agent_runs_now(&self) {
        let left: Vec<Process> =
            self.processes().into_iter().filter(|process| process.mark.is_some()).collect();
        assert!(left.is_empty(), "left behind: {left:#?}");
    }

    /// Fails if a temporary file is left: what is made beside the file that it replaces has a name with a dot before it.
    #[track_caller]
    pub(crate) fn assert_no_temporary_files(&self) {
        let mut left = Vec::new();
        entries(self.folder.path(), &mut left);
        let temp = self.folder.path().join("temp");
        left.retain(|path| {
            let name = path.file_name().unwrap_or_default();
            (path.starts_with(&temp) && *path != temp) || name.as_encoded_bytes().starts_with(b".")
        });
        assert!(left.is_empty(), "temporary files are left: {left:#?}");
    }

    /// Files below the state folder that contain these bytes.
    pub(crate) fn state_files_with(&self, needle: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        search(&self.state(), needle.as_bytes(), &mut found);
        found
    }
}

/// Gathers everything below a folder.
fn entries(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            entries(&entry.path(), found);
        }
        found.push(entry.path());
    }
}

fn search(folder: &Path, needle: &[u8], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&path, needle, found);
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
        {
            found.push(path);
        }
    }
}

impl Drop for World {
    /// Fails a test that leaves anything running, and ends that in every case.
    fn drop(&mut self) {
        let looked = if std::thread::panicking() {
            Ok(())
        } else {
            std::panic::catch_unwind(AssertUnwindSafe(|| self.wait_for_ends(self.patience)))
        };
        self.kill_all();
        if let Err(failure) = looked {
            std::panic::resume_unwind(failure);
        }
    }
}

/// The binary, running.
#[derive(Debug)]
pub(crate) struct Live<'w> {
    child: Child,
    world: &'w World,
    stdout: PathBuf,
    stderr: PathBuf,
    ended: Option<ExitStatus>,
}

impl Live<'_> {
    pub(crate) fn pid(&self) -> Pid {
        Pid(self.child.id())
    }

    /// Sends a signal to the binary itself.
    pub(crate) fn signal(&self, signal: Signal) {
        self.pid().signal(signal);
    }

    /// What it has written to stdout so far.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.stdout).unwrap()).into_owned()
    }

    /// What it has written to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.stderr).unwrap()).into_owned()
    }

    /// Says whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().unwrap();
        }
        self.ended.is_some()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(self) -> Ran {
        self.end_within(GENEROUS)
    }

    /// Waits for its end, which may take so long.
    #[track_caller]
    pub(crate) fn end_within(mut self, deadline: Duration) -> Ran {
        wait_until("the binary ends", deadline, || {
            if self.has_ended() {
                return Ok(());
            }
            let stdout = std::fs::read(&self.stdout).unwrap();
            Err(format!(
                "stdout {:?}\nstderr {}\nprocesses {:#?}",
                String::from_utf8_lossy(&stdout),
                self.stderr(),
                self.world.processes()
            ))
        });
        let status = self.ended.expect("it has just ended");
        Ran {
            code: status.code(),
            signal: status.signal(),
            stdout: String::from_utf8(std::fs::read(&self.stdout).unwrap())
                .expect("stdout is UTF-8"),
            stderr: self.stderr(),
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if !self.has_ended() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The binary, after its end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Fails unless it ended with this code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!((self.code, self.signal), (Some(code), None), "{self:#?}");
        self
    }

    /// The JSON on stdout, which must be whole and alone there.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON: {error}: {self:#?}"))
    }

    /// One field of every agent of the summary on stdout, as text; `null` for a null.
    #[track_caller]
    pub(crate) fn column(&self, field: &str) -> Vec<String> {
        let summary = self.json();
        let agents =
            summary["agents"].as_array().unwrap_or_else(|| panic!("no agents in {summary:#}"));
        agents
            .iter()
            .map(|agent| match agent.get(field) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => panic!("no {field} in {agent:#}"),
            })
            .collect()
    }

    /// Fails unless neither stream has an escape sequence.
    #[track_caller]
    pub(crate) fn assert_no_escapes(&self) {
        assert!(!self.stdout.contains('\x1b'), "{self:#?}");
        assert!(!self.stderr.contains('\x1b'), "{self:#?}");
    }
}
