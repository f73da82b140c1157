//! Starts shims, in a thread of its own: a slow disk must not make the loop deaf.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use super::clock::Clock;
use super::given::Own;
use super::news::News;
use crate::adapters::{self, Input, Invocation, Place, SessionHome, Sessions};
use crate::core::{AgentId, Task};
use crate::journal::FleetDir;
use crate::supervise::{self, AgentDir, LaunchError, Launched, Launcher, Spec, StdinFrom};
use crate::tail::transcript;

/// Orders that can wait. The core never has more agents than this, so sending one never blocks.
const ORDERS: usize = 10_000;

/// How often a start is tried for which the system is short of something, and how long between two times: a minute in all.
const TRIES: u32 = 120;
const PAUSE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// One agent to start.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) id: AgentId,
    pub(super) dir: AgentDir,
    pub(super) task: Arc<Task>,
    /// Token that lines of the line protocol must carry.
    pub(super) token: Option<String>,
    /// First lines of its transcript.
    pub(super) header: String,
    /// What the submitter gave it.
    pub(super) given: Own,
}

/// What all agents of a fleet have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(super) launcher: Launcher,
    /// Of which each mark names the fleet and the place.
    pub(super) fleet: FleetDir,
    /// How deep the agents are nested.
    pub(super) depth: u32,
    pub(super) mesh: Option<PathBuf>,
    pub(super) grace: Duration,
    pub(super) stale_grace: Duration,
    pub(super) orphan: Option<(Duration, PathBuf)>,
    /// Soft limit of open files to give back to agents.
    pub(super) nofile: Option<u64>,
}

/// The thread's end for the loop; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct LaunchThread {
    orders: SyncSender<Order>,
}

impl LaunchThread {
    pub(super) fn start(common: Common, news: Sender<News>) -> io::Result<Self> {
        let (orders, inbox) = sync_channel(ORDERS);
        thread::Builder::new()
            .name("launch".to_owned())
            .spawn(move || run(&common, &inbox, &news))?;
        Ok(Self { orders })
    }

    /// Starts an agent; what became of it comes as news.
    pub(super) fn order(&self, order: Order) -> Result<(), Order> {
        self.orders.try_send(order).map_err(|error| match error {
            std::sync::mpsc::TrySendError::Full(order)
            | std::sync::mpsc::TrySendError::Disconnected(order) => order,
        })
    }
}

fn run(common: &Common, inbox: &Receiver<Order>, news: &Sender<News>) {
    while let Ok(order) = inbox.recv() {
        if news.is_closed() {
            // The host has gone: another one may start what is still waiting here.
            return;
        }
        let told = launch_in_time(common, &order, news);
        if news.blocking_send(told).is_err() {
            return;
        }
    }
}

/// Starts an agent, waiting a while for what the system is short of: other agents give it back when they end. Those that
/// come after it would have to wait for the same.
fn launch_in_time(common: &Common, order: &Order, news: &Sender<News>) -> News {
    let id = order.id;
    let mut tries = 1;
    while !order.dir.has_owner_stop() {
        match launch(common, order) {
            Err(refused) if refused.passes && tries < TRIES && !news.is_closed() => {
                tries += 1;
                // Nothing is polled, so this ends by its time-out only.
                let _ = rustix::event::poll(&mut [], Some(&PAUSE));
            }
            launched => return News::Launched(id, launched.map_err(|refused| refused.why)),
        }
    }
    News::Withdrawn(id)
}

/// Why an agent was not started.
struct Refused {
    why: String,
    /// The system is short of something, so that it may be started later.
    passes: bool,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, passes: false }
    }
}

fn launch(common: &Common, order: &Order) -> Result<Launched, Refused> {
    let dir = &order.dir;
    let refused = |what: &str, error: io::Error| Refused {
        why: format!("could not {what}: {error}"),
        passes: is_want(&error),
    };
    let place = Place {
        task_file: dir.task(),
        report: dir.report(),
        mesh: common.mesh.clone(),
        token: order.token.clone(),
    };
    let adapter = adapters::adapter_of(&order.task)
        .ok_or_else(|| format!("the agent kind {} is not known to this Fleet", order.task.kind))?;
    if order.task.continues.is_some() && !adapter.resumes() {
        return Err(format!("agents of kind {} cannot go on in a session", order.task.kind).into());
    }
    let invocation =
        adapters::invocation(&order.task, &place).map_err(|refusal| refusal.to_string())?;
    supervise::prepare(dir).map_err(|error| refused("make the agent's folder", error))?;
    // Whoever wants to follow it must find it. If it cannot be made, its writer says so; the agent runs all the same.
    let _ = transcript::begin(&dir.transcript(), &order.header);
    dir.write(&dir.task(), invocation.task_text.as_bytes())
        .map_err(|error| refused("write the task's file", error))?;
    if invocation.input == Input::Messages {
        let first = adapter.message(&invocation.task_text).unwrap_or_default();
        dir.write(&dir.first(), format!("{first}\n").as_bytes())
            .map_err(|error| refused("write the first message", error))?;
    }
    store_values(order)?;
    let mut spec = spec(common, order, invocation);
    spec.sessions = adapter.session_home().and_then(|home| sessions(home, order, &spec));
    let environment = order.given.environment.as_deref();
    supervise::launch(&common.launcher, dir, &spec, environment).map_err(|error| {
        let passes = match &error {
            LaunchError::Spawn { source, .. } | LaunchError::Write { source, .. } => {
                is_want(source)
            }
            LaunchError::NoShim | LaunchError::AlreadyBegan { .. } => false,
        };
        Refused { why: error.to_string(), passes }
    })
}

/// Says whether the system is short of descriptors, processes or memory. Of a full disk an agent is told at once.
fn is_want(error: &io::Error) -> bool {
    let no_descriptor = io::Error::from(rustix::io::Errno::MFILE);
    // What makes temporary files keeps the kind of the system's error and not its number.
    let is_unnumbered = error.raw_os_error().is_none() && error.kind() == no_descriptor.kind();
    let is_full = error.kind() == io::ErrorKind::StorageFull;
    let is_refused = error.kind() == io::ErrorKind::WouldBlock;
    is_unnumbered || is_refused || (supervise::is_shortage(error) && !is_full)
}

/// Puts the values of `--env K=V` where the shim takes them. An agent that would have to do without is not started.
fn store_values(order: &Order) -> Result<(), String> {
    let (dir, values) = (&order.dir, &order.given.values);
    let names = &order.task.env_stored;
    let stored = if !values.is_empty() {
        dir.write_env(values)
            .map_err(|error| format!("could not store the values of --env: {error}"))?;
        Cow::Borrowed(values)
    } else if names.is_empty() {
        return Ok(());
    } else {
        Cow::Owned(dir.stored_env()?)
    };
    match names.iter().find(|name| !stored.contains_key(*name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "the value of --env {name} is not known any more, since another host was given it: queue the task again with \
             it"
        )),
    }
}

/// Returns where the agent's program will record its sessions, by the variables that the agent will have.
fn sessions(home: SessionHome, order: &Order, spec: &Spec) -> Option<Sessions> {
    let stored = order.dir.stored_env().unwrap_or_default();
    let inherited = |name: &str| match &order.given.environment {
        Some(environment) => environment.get(OsStr::new(name)).cloned(),
        None => std::env::var_os(name),
    };
    let variable = |name: &str| {
        let given = stored.get(name).or_else(|| spec.env.get(name)).map(OsString::from);
        let is_removed = spec.env_remove.iter().any(|removed| removed == name);
        given.or_else(|| inherited(name).filter(|_| !is_removed))
    };
    // What is no UTF-8 could not be written down.
    let folder = home.folder(&spec.root, variable).filter(|folder| folder.to_str().is_some())?;
    Some(Sessions { folder, since: Clock::wall() })
}

/// Returns how deep an agent is nested: a submitter that is an agent may be nested deeper than this host.
fn depth(common: &Common, given: &Own) -> u32 {
    let told = |name: &str| given.environment.as_ref()?.get(OsStr::new(name))?.to_str();
    if told("FLEET_AGENT").is_none() {
        return common.depth;
    }
    let submitter: u32 = told("FLEET_DEPTH").and_then(|depth| depth.parse().ok()).unwrap_or(1);
    common.depth.max(submitter.saturating_add(1))
}

/// Builds what the shim has to know.
fn spec(common: &Common, order: &Order, invocation: Invocation) -> Spec {
    let Invocation { argv, env, env_remove, root, input, ask_signal, .. } = invocation;
    let mut spec = Spec::new(super::mark(&common.fleet, order.id), order.id.0, argv, root);
    spec.env = env;
    // What an outer fleet said to the agent that this host may be is not meant for agents of this one.
    spec.env_remove = ["FLEET_TASK", "FLEET_TOKEN"].map(str::to_owned).into();
    spec.env_remove.extend(env_remove);
    spec.stdin = match input {
        Input::Null => StdinFrom::Null,
        Input::Task => StdinFrom::File(order.dir.task()),
        Input::Messages => StdinFrom::Messages,
    };
    spec.env.insert("FLEET_DEPTH".to_owned(), depth(common, &order.given).to_string());
    ask_signal.clone_into(&mut spec.ask);
    spec.grace = common.grace;
    spec.stale_grace = Some(common.stale_grace);
    spec.timeout = order.task.timeout;
    spec.leftovers = order.task.leftovers;
    spec.orphan.clone_from(&common.orphan);
    spec.nofile = common.nofile;
    spec
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::core::FleetId;

    #[test]
    fn nothing_is_started_for_a_host_that_has_gone() {
        let temp = tempfile::tempdir().unwrap();
        let task = adapters::task("sh", "true", Path::new("/")).unwrap();
        let common = Common {
            launcher: Launcher::new("/nonexistent/fleet", Vec::new()),
            fleet: FleetDir::new(temp.path().to_owned(), FleetId("k3f".to_owned())),
            depth: 1,
            mesh: None,
            grace: Duration::ZERO,
            stale_grace: Duration::ZERO,
            orphan: None,
            nofile: None,
        };
        let dir = AgentDir::new(temp.path().join("0001"));
        let (orders, inbox) = sync_channel(1);
        orders
            .send(Order {
                id: AgentId(1),
                dir: dir.clone(),
                task: Arc::new(task),
                token: None,
                header: String::new(),
                given: Own::default(),
            })
            .unwrap();
        let (news, host) = tokio::sync::mpsc::channel(1);
        drop(host);
        run(&common, &inbox, &news);
        assert!(!dir.path().exists(), "the agent's folder was made");
    }
}
