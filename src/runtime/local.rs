//! A fleet for programs: made, driven and watched by plain calls, with no loop of the caller's own.
//!
//! What may go here: upstream's operations, each a few lines on top of a host and a handle. What may not: rules about
//! agents or money, words for a terminal.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::handle::Gone;
use super::host::Host;
use super::host_thread::{HostThread, StartError, new_loop};
use super::start::{HostError, Setup, depth};
use super::summary::summary_json;
use crate::core::{
    AgentId, Answer, BatchId, Command, FleetOptions, Kpis, Question, Reply, Snapshot, Submission,
    Task,
};
use crate::journal::{Draft, FleetDir, FleetStanding, Mesh, StateDir, folder_of};
use crate::supervise::Launcher;

/// A fleet that this process hosts, in a thread of its own.
///
/// Dropping it, or [`LocalFleet::finish`], lets go of the fleet and not of its agents: those that run go on, and
/// `fleet resume` takes them over.
///
/// ```standalone_crate
/// use std::error::Error;
/// use std::process::ExitCode;
///
/// use loki_fleet::adapters::task;
/// use loki_fleet::core::{Answer, FleetOptions, NanoUsd};
/// use loki_fleet::journal::StateDir;
/// use loki_fleet::runtime::LocalFleet;
/// use loki_fleet::supervise::Launcher;
///
/// fn main() -> ExitCode {
///     // First of all: this executable is also the shim that owns each agent.
///     if let Some(code) = loki_fleet::shim_main() {
///         return code;
///     }
///     drive().expect("two agents run, the third needs a higher cap");
///     ExitCode::SUCCESS
/// }
///
/// fn drive() -> Result<(), Box<dyn Error>> {
///     let folder = tempfile::tempdir()?;
///     let state = StateDir::open(Some(&folder.path().join("state")))?;
///     let options = FleetOptions {
///         max_parallel: Some(1),
///         cap: Some(NanoUsd::from_dollars(2)),
///         ..FleetOptions::default()
///     };
///     let mut fleet = LocalFleet::create(&state, options, Launcher::this_executable()?)?;
///
///     // Each agent says that it has cost a dollar.
///     let costs = r#"echo '{"fleet":"cost","total_usd":1}'"#;
///     let paid = task("sh", costs, folder.path())?;
///     fleet.spawn_all(vec![paid.clone(), paid.clone()])?;
///     fleet.spawn(paid)?;
///
///     let mut asked = 0;
///     let last = fleet.monitor(
///         |snapshot| assert!(snapshot.header.kpis.running <= 1),
///         |question| {
///             asked += 1;
///             Answer::Raise(question.committed + NanoUsd::from_dollars(5))
///         },
///     )?;
///     assert!(last.header.all_done);
///     assert_eq!(asked, 1);
///     assert_eq!((fleet.kpis().done, fleet.kpis().cost), (3, NanoUsd::from_dollars(3)));
///     assert!(fleet.summary().contains(r#""completed":3"#));
///     assert!(fleet.finish());
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct LocalFleet {
    dir: FleetDir,
    thread: HostThread,
    /// Waits for replies and snapshots; nothing runs on it in between.
    looped: Runtime,
}

/// Why a fleet could not be told something, or watched to its end.
#[derive(Debug, thiserror::Error)]
pub enum LocalFleetError {
    /// Its host has ended.
    #[error(transparent)]
    Gone(#[from] Gone),
    /// The fleet refused, with a sentence.
    #[error("{}", .0.0)]
    Refused(crate::core::Refusal),
}

impl LocalFleet {
    /// Makes a fleet in a state folder and hosts it. It belongs to the folder that this process is in. The cap question
    /// is asked by [`LocalFleet::monitor`] if [`FleetOptions::on_cap`] is to ask, which is the default.
    pub fn create(
        state: &StateDir,
        options: FleetOptions,
        launcher: Launcher,
    ) -> Result<Self, StartError> {
        let refused = |source| HostError::Refused { path: state.path().to_owned(), source };
        let draft = Draft {
            root: folder_of(&std::env::current_dir()?),
            options: options.clone(),
            argv: Vec::new(),
            is_closed: false,
        };
        let now = super::Clock::wall();
        let dir = state.new_fleet(now, draft).map_err(refused)?;
        let hosted = dir.clone();
        let setup = Setup { launcher, depth: depth(), looks_per_sign: 1, notices: None };
        let thread = HostThread::start(move || Host::create(hosted, options, &setup))?;
        Ok(Self { dir, thread, looped: new_loop()? })
    }

    /// Queues one task; it starts as soon as slots and money allow. Returns once that is safe on disk.
    #[expect(clippy::missing_panics_doc, reason = "it cannot fail, as the expect says")]
    pub fn spawn(&self, task: Task) -> Result<AgentId, LocalFleetError> {
        let agents = self.spawn_all(vec![task])?;
        Ok(agents.into_iter().next().expect("one task was queued, and each has an agent"))
    }

    /// Queues tasks as one batch and returns their agents in the order of the tasks.
    pub fn spawn_all(&self, tasks: Vec<Task>) -> Result<Vec<AgentId>, LocalFleetError> {
        let id = BatchId::from_bits(fastrand::u32(..));
        match self.send(Command::Submit(Submission { id, tasks, origin: None, inside: None }))? {
            Reply::Queued(_, agents) => Ok(agents),
            Reply::Done(_)
            | Reply::Told(_)
            | Reply::TurnInterrupted(_)
            | Reply::AlreadyEnded(_)
            | Reply::AlreadyAnswered(_) => Ok(Vec::new()),
            Reply::Refused(refusal) => Err(LocalFleetError::Refused(refusal)),
        }
    }

    /// Returns the fleet as it is now. Never waits.
    pub fn poll(&self) -> Arc<Snapshot> {
        self.thread.handle.snapshot()
    }

    /// Watches the fleet until nothing runs and nothing can start, and returns the last snapshot.
    ///
    /// `on_update` sees every change, at most sixty a second, and the last one. `on_cap` answers each cap question once;
    /// a raise that the fleet refuses, since it would let nothing start, ends the watch with that sentence.
    pub fn monitor(
        &mut self,
        mut on_update: impl FnMut(&Snapshot),
        mut on_cap: impl FnMut(&Question) -> Answer,
    ) -> Result<Arc<Snapshot>, LocalFleetError> {
        loop {
            let snapshot = self.poll();
            on_update(&snapshot);
            if let Some(question) = &snapshot.question {
                let answer = Command::Answer(question.id, on_cap(question));
                if let Reply::Refused(refusal) = self.send(answer)? {
                    return Err(LocalFleetError::Refused(refusal));
                }
                continue;
            }
            if snapshot.header.all_done || snapshot.header.idle {
                return Ok(snapshot);
            }
            self.looped.block_on(self.thread.handle.changed())?;
        }
    }

    /// Returns the fleet's numbers.
    pub fn kpis(&self) -> Kpis {
        self.poll().header.kpis
    }

    /// Returns the summary as `fleet run --json` prints it.
    pub fn summary(&self) -> String {
        let snapshot = self.poll();
        summary_json(&snapshot, FleetStanding::of_hosted(&snapshot), self.dir.path())
    }

    /// Returns how many keys the agents' shared store has at this moment; zero without a mesh.
    pub fn mesh_keys(&self) -> u64 {
        self.poll().header.mesh.clone().map_or(0, |mesh| Mesh::new(mesh).count_keys())
    }

    /// Sends any command and waits for its reply, which comes once what was decided is safe on disk.
    pub fn send(&self, command: Command) -> Result<Reply, Gone> {
        self.looped.block_on(self.thread.handle.send(command))
    }

    /// Returns the fleet's folder.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Lets go of the fleet and waits until everything that was decided is on disk; says whether it came to that.
    pub fn finish(self) -> bool {
        self.thread.finish()
    }
}
