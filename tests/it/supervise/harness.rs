//! One agent in a folder of its own, which takes everything that it started with it when the test ends.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use loki_fleet::core::{ProcessEnd, TreeEnd, Urgency};
use loki_fleet::supervise::{
    AgentDir, Delivery, ExitRecord, LaunchError, Launched, Launcher, Life, Spec, has_started,
    launch, life, prepare, sweep,
};
use tempfile::TempDir;

/// Within this time everything happens that is going to; only a broken shim needs longer.
const PATIENCE: Duration = Duration::from_mins(1);

static NEXT: AtomicU32 = AtomicU32::new(1);

/// One agent: what it is to run, where, and, once launched, its shim.
pub(super) struct Agent {
    pub(super) temp: TempDir,
    pub(super) dir: AgentDir,
    pub(super) spec: Spec,
    pub(super) launcher: Launcher,
    pub(super) environment: Option<BTreeMap<OsString, OsString>>,
    pub(super) launched: Option<Launched>,
}

/// Returns the shim's program.
pub(super) fn fleet() -> &'static str {
    env!("CARGO_BIN_EXE_fleet")
}

impl Agent {
    /// Prepares an agent that runs `argv` in an empty folder.
    pub(super) fn new(argv: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path().join("agents/0007"));
        prepare(&dir).unwrap();
        let root = temp.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let mark = format!("t{}x{}/7", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
        let spec = Spec::new(mark, 7, argv, root);
        let launcher = Launcher::new(fleet(), Vec::new());
        Self { temp, dir, spec, launcher, environment: None, launched: None }
    }

    /// Prepares an agent that runs a shell script.
    pub(super) fn sh(script: &str) -> Self {
        Self::new(&["sh", "-c", script])
    }

    /// Starts the shim through a shell that first runs `preamble`.
    pub(super) fn behind(mut self, preamble: &str) -> Self {
        let script = format!("{preamble}; exec \"$0\" \"$@\"");
        let args = vec!["-c".into(), script.into(), fleet().into()];
        self.launcher = Launcher::new("/bin/sh", args);
        self
    }

    pub(super) fn try_launch(&mut self) -> Result<(), LaunchError> {
        let environment = self.environment.as_ref();
        self.launched = Some(launch(&self.launcher, &self.dir, &self.spec, environment)?);
        Ok(())
    }

    pub(super) fn launch(mut self) -> Self {
        self.try_launch().unwrap();
        self
    }

    /// Launches and waits until the shim says that the agent runs.
    pub(super) async fn start(self) -> Self {
        let agent = self.launch();
        let started = agent.launched.as_ref().unwrap().started.try_clone().unwrap();
        let has_started = within(has_started(started)).await.unwrap();
        assert!(has_started, "the agent did not start: {:?}", life(&agent.dir));
        agent
    }

    /// Starts, and waits until the agent has printed a line `ready`.
    pub(super) async fn ready(self) -> Self {
        let agent = self.start().await;
        until(|| agent.out().lines().any(|line| line == "ready").then_some(())).await;
        agent
    }

    /// Waits until the shim has gone, and reaps it.
    pub(super) async fn shim_gone(&mut self) -> ExitStatus {
        let launched = self.launched.as_mut().unwrap();
        within(launched.watch.gone()).await.unwrap();
        launched.child.wait().unwrap()
    }

    /// Waits for the end and returns the record.
    pub(super) async fn end(&mut self) -> ExitRecord {
        self.shim_gone().await;
        match life(&self.dir).unwrap() {
            Life::Ended(record) => *record,
            other => panic!("not ended but {other:?}"),
        }
    }

    pub(super) async fn tree_end(&mut self) -> TreeEnd {
        self.end().await.to_tree_end(self.dir.has_owner_stop())
    }

    /// Launches an agent that cannot start, and returns why.
    pub(super) async fn refusal(self) -> String {
        let mut agent = self.launch();
        let started = agent.launched.as_ref().unwrap().started.try_clone().unwrap();
        assert!(!within(has_started(started)).await.unwrap(), "the agent has started");
        let ProcessEnd::NotStarted(why) = agent.tree_end().await.end else { panic!("it ran") };
        why
    }

    pub(super) fn stop(&self, urgency: Urgency) {
        let delivery = self.launched.as_ref().unwrap().watch.stop(urgency).unwrap();
        assert_eq!(delivery, Delivery::Sent);
    }

    pub(super) fn shim_pid(&self) -> i32 {
        i32::try_from(self.launched.as_ref().unwrap().child.id()).unwrap()
    }

    pub(super) fn out(&self) -> String {
        std::fs::read_to_string(self.dir.out()).unwrap_or_default()
    }

    /// Returns the command lines of all live processes that carry the agent's mark.
    pub(super) fn marked(&self) -> Vec<String> {
        let entry = format!("FLEET_AGENT={}", self.spec.mark);
        processes()
            .filter(|path| {
                std::fs::read(path.join("environ")).is_ok_and(|environ| {
                    environ.split(|byte| *byte == 0).any(|have| have == entry.as_bytes())
                })
            })
            .map(|path| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default())
            .collect()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(launched) = &mut self.launched {
            let _ = launched.child.kill();
            let _ = launched.child.wait();
        }
        sweep(&self.spec.mark);
    }
}

/// Waits for something that is going to happen.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it did not happen in time")
}

/// Waits until `look` finds something.
#[track_caller]
pub(super) fn until<T>(mut look: impl FnMut() -> Option<T>) -> impl Future<Output = T> {
    within(async move {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
}

fn processes() -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        path.file_name()?.to_str()?.parse::<u32>().ok().map(|_| path)
    })
}
