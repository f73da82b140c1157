//! `fleet dispatch`: hands tasks to the host of this folder's fleet, which is made and started if there is none, and
//! returns when they are safe.
//!
//! What may go here: from arguments to the answer of a host. What may not: which fleet that is (`join`), how a host is
//! got (`connect`), the words of the handle (`cli`).

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::connect::{Connector, StartError};
use super::join::find_or_make;
use super::kept_options::refuse_other_options;
use crate::cli::arguments::{DispatchArguments, GlobalArguments};
use crate::cli::config::Config;
use crate::cli::exit_code::DONE;
use crate::cli::{
    Failure, Handle, background_plan, current_folder, fleet_to, outside_of_agents, print, prune,
    state_dir, style,
};
use crate::core::{AgentId, BatchId, FleetOptions, Hold, Reply, Snapshot, Submission};
use crate::journal::{FleetDir, FleetStanding, Purpose, StateDir, to_type};
use crate::runtime::{FleetHandle, Given, Gone, depth, new_loop, own_mark};
use crate::supervise::Launcher;

/// How long a host may take to say that the tasks are safe: longer than a disk under load takes.
const ANSWER: Duration = Duration::from_secs(30);
/// How long hosts that go, or have no room, are tried again.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time until the next try after one that failed for a reason that passes.
const PAUSE: Duration = Duration::from_millis(50);

/// Queues tasks; returns the exit code.
pub(super) fn run(
    arguments: &DispatchArguments,
    global: &GlobalArguments,
    argv: Vec<String>,
) -> Result<u8, Failure> {
    let given = &arguments.run;
    if arguments.new && global.fleet.is_some() {
        let why = "--new begins another fleet, and --fleet names one: give one of them";
        return Err(Failure::input(why));
    }
    let folder = current_folder()?;
    let config = Config::load()?;
    let mut plan = background_plan(&config.under(given), &config, folder.clone())?;
    plan.options.prices = config.prices;
    outside_of_agents(depth(), plan.options.max_depth)?;
    let state = state_dir(global)?;
    let (mut tasks, mut values) = (Vec::new(), Vec::new());
    for planned in plan.tasks {
        tasks.push(planned.task);
        let with_value = |(name, value): (String, Option<String>)| Some((name, value?));
        values.push(planned.env.into_iter().filter_map(with_value).collect::<BTreeMap<_, _>>());
    }
    let goal = match &global.fleet {
        Some(which) => Goal::Named(named(&state, which)?),
        None => Goal::Folder { argv, is_new: arguments.new },
    };
    let order = Order {
        state: &state,
        folder: &folder,
        given,
        options: plan.options,
        goal,
        submission: Submission {
            id: BatchId::from_bits(fastrand::u32(..)),
            tasks,
            origin: plan.origin,
            inside: own_mark(),
        },
        brings: Given { environment: None, values }.or_own_environment(),
    };
    if let Some(mesh) = &order.options.mesh {
        std::fs::create_dir_all(mesh)
            .map_err(|error| Failure::input(format!("--mesh {}: {error}", mesh.display())))?;
    }
    let looped =
        new_loop().map_err(|error| Failure::no_fleet(format!("could not make a loop: {error}")))?;
    let launcher =
        Launcher::this_executable().map_err(|error| Failure::no_fleet(error.to_string()))?;
    let queued = looped.block_on(order.deliver(&launcher, PATIENCE))?;
    tell(&queued, &plan.notes, global.json)?;
    // Nobody waits for it: what it does not come to is deleted next time.
    drop(prune(state));
    Ok(DONE)
}

/// Prints the handle.
fn tell(queued: &Queued, notes: &[String], json: bool) -> Result<(), Failure> {
    let Queued { dir, batch, agents, snapshot } = queued;
    let handle = Handle { snapshot, fleet_dir: dir.path(), batch, agents, notes };
    if json {
        print(&handle.json(), true)
    } else {
        print(&handle.lines(style(io::stdout().is_terminal())).join("\n"), false)
    }
}

/// Returns a fleet that was named, if it can take more tasks.
fn named(state: &StateDir, which: &str) -> Result<FleetDir, Failure> {
    let seen = fleet_to(state, Some(which), Purpose::Act)?.inspection()?;
    let id = seen.dir.id();
    let refused = |why: &str| {
        Err(Failure::input(format!(
            "fleet {id} {why} and takes no more tasks: leave --fleet out to join or begin another one"
        )))
    };
    if seen.snapshot.header.closed || seen.file.is_closed {
        return refused("was started by fleet run");
    }
    if seen.standing == FleetStanding::Ended && !seen.has_host {
        return refused("has ended");
    }
    Ok(seen.dir)
}

/// Where tasks are to go.
enum Goal {
    /// To this fleet.
    Named(FleetDir),
    /// To the one of the folder, which is made if there is none, or if it is to be a new one.
    Folder { argv: Vec<String>, is_new: bool },
}

/// Tasks on their way.
struct Order<'a> {
    state: &'a StateDir,
    folder: &'a std::path::Path,
    given: &'a crate::cli::arguments::RunArguments,
    /// What a new fleet is made with.
    options: FleetOptions,
    goal: Goal,
    submission: Submission,
    brings: Given,
}

/// Tasks that are safe.
struct Queued {
    dir: FleetDir,
    batch: BatchId,
    agents: Vec<AgentId>,
    snapshot: Arc<Snapshot>,
}

impl Order<'_> {
    /// Hands the tasks over. A host that goes before it has answered may have queued them or not, so they are sent again,
    /// under the same name of their batch, to the next host of the same fleet. Hosts that go, or have no room, are tried
    /// again for so long.
    async fn deliver(&self, launcher: &Launcher, patience: Duration) -> Result<Queued, Failure> {
        let until = Instant::now() + patience;
        // The fleet that was found, whatever its host does: who is to begin another one must not begin one with each try.
        let mut found: Option<(FleetDir, bool)> = None;
        // It may have the tasks.
        let mut is_sent = false;
        loop {
            let (dir, is_new) = match found.take() {
                Some(found) => found,
                None => self.find()?,
            };
            found = Some((dir.clone(), is_new));
            let connector = Connector::new(self.state, dir.clone(), launcher.clone()).in_passing();
            let connected = match connector.connect(|_| ()).await {
                Ok(connected) => connected,
                // With its folder everything is gone that it may have been sent. It was never used.
                Err(StartError::Gone(_))
                    if Instant::now() < until && matches!(self.goal, Goal::Folder { .. }) =>
                {
                    (found, is_sent) = (None, false);
                    continue;
                }
                Err(error) if error.is_passing() && Instant::now() < until => {
                    sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return Err(self.lost(&dir, is_sent, &error.to_string())),
            };
            if !is_sent && !is_new {
                self.check_options(&dir, &connected.handle.snapshot())?;
            }
            match self.ask(&connected.handle).await? {
                Ok(Reply::Queued(batch, agents)) => {
                    let snapshot = connected.handle.snapshot();
                    return Ok(Queued { dir, batch, agents, snapshot });
                }
                Ok(reply) => return Err(self.refusal(&reply)),
                Err(Gone) => {
                    let why = connected.farewell.borrow().clone();
                    if why.is_some() || Instant::now() >= until {
                        let why = why.unwrap_or_else(|| "its hosts go again and again".to_owned());
                        return Err(self.lost(&dir, true, &why));
                    }
                    is_sent = true;
                }
            }
        }
    }

    fn find(&self) -> Result<(FleetDir, bool), Failure> {
        match &self.goal {
            Goal::Named(dir) => Ok((dir.clone(), false)),
            Goal::Folder { argv, is_new } => {
                let (options, argv) = (self.options.clone(), argv.clone());
                let joined = find_or_make(self.state, self.folder, options, argv, *is_new)
                    .map_err(|error| Failure::input(error.to_string()))?;
                Ok((joined.dir, joined.is_new))
            }
        }
    }

    fn check_options(&self, dir: &FleetDir, now: &Snapshot) -> Result<(), Failure> {
        let file = dir.read_file().map_err(|error| Failure::no_fleet(error.to_string()))?;
        let has = FleetOptions { cap: now.header.cap, ..file.options };
        refuse_other_options(self.given, &self.options, &has, dir.id())
    }

    async fn ask(&self, handle: &FleetHandle) -> Result<Result<Reply, Gone>, Failure> {
        let asked = handle.submit(self.submission.clone(), self.brings.clone());
        let Ok(reply) = timeout(ANSWER, asked).await else {
            let snapshot = handle.snapshot();
            let fleet = &snapshot.header.fleet;
            let why = match &snapshot.header.hold {
                Some(Hold::NotSaved(why)) => format!("nothing can be saved: {why}"),
                _ => format!("its host says nothing for {} seconds", ANSWER.as_secs()),
            };
            return Err(Failure::no_fleet(format!(
                "the tasks may not be queued in fleet {fleet} ({why}): {} tells",
                to_type(format_args!("show --fleet {fleet}"))
            )));
        };
        Ok(reply)
    }

    fn refusal(&self, reply: &Reply) -> Failure {
        let why = match reply {
            Reply::Refused(refusal) => crate::words::plain_text::one_line(&refusal.0),
            Reply::Queued(..)
            | Reply::Done(_)
            | Reply::Told(_)
            | Reply::TurnInterrupted(_)
            | Reply::AlreadyEnded(_)
            | Reply::AlreadyAnswered(_) => "the host gave no answer to that".to_owned(),
        };
        let advice = match self.goal {
            Goal::Folder { .. } => " (--new begins another fleet)",
            Goal::Named(_) => "",
        };
        Failure::input(format!("nothing was queued: {why}{advice}"))
    }

    /// Says that there is no host, and whether the tasks may be queued all the same.
    fn lost(&self, dir: &FleetDir, may_be_queued: bool, why: &str) -> Failure {
        let id = dir.id();
        if may_be_queued {
            let shows = to_type(format_args!("show {} --fleet {id}", self.submission.id));
            Failure::no_fleet(format!("the tasks may or may not be queued ({shows} tells): {why}"))
        } else {
            Failure::no_fleet(format!("nothing was queued: {why}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::RunArguments;
    use crate::core::testing::task;

    #[tokio::test(start_paused = true)]
    async fn however_often_a_host_is_tried_one_new_fleet_is_made() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
        let order = Order {
            state: &state,
            folder: temp.path(),
            given: &RunArguments::default(),
            options: FleetOptions::default(),
            goal: Goal::Folder { argv: Vec::new(), is_new: true },
            submission: Submission {
                id: BatchId::from_bits(1),
                tasks: vec![(*task("true")).clone()],
                origin: None,
                inside: None,
            },
            brings: Given { environment: None, values: Vec::new() },
        };
        // The system refuses to start it, for a reason that may pass.
        std::fs::write(temp.path().join("file"), "").unwrap();
        let launcher = Launcher::new(temp.path().join("file/program"), Vec::new());
        let failure = order.deliver(&launcher, PATIENCE).await.err().unwrap();
        assert!(failure.sentence.starts_with("nothing was queued: could not start"), "{failure:?}");
        assert_eq!(state.list().unwrap().len(), 1);
    }
}
