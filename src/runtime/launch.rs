//! Starts shims, in a thread of its own: a slow disk must not make the loop deaf.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use super::news::News;
use crate::adapters::{self, Invocation, Place};
use crate::core::{AgentId, FleetId, Task};
use crate::supervise::{self, AgentDir, Launched, Launcher, Spec};

/// Orders that can wait. The core never has more agents than this, so sending one never blocks.
const ORDERS: usize = 10_000;

/// One agent to start.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) id: AgentId,
    pub(super) dir: AgentDir,
    pub(super) task: Arc<Task>,
    /// Token that lines of the line protocol must carry.
    pub(super) token: Option<String>,
}

/// What all agents of a fleet have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(super) launcher: Launcher,
    /// First part of each mark.
    pub(super) fleet: FleetId,
    /// How deep the agents are nested.
    pub(super) depth: u32,
    pub(super) mesh: Option<PathBuf>,
    pub(super) grace: Duration,
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
        let id = order.id;
        let told = if order.dir.has_owner_stop() {
            News::Withdrawn(id)
        } else {
            News::Launched(id, launch(common, &order))
        };
        if news.blocking_send(told).is_err() {
            return;
        }
    }
}

fn launch(common: &Common, order: &Order) -> Result<Launched, String> {
    let dir = &order.dir;
    let refused = |what: &str, error: io::Error| format!("could not {what}: {error}");
    let place =
        Place { task_file: dir.task(), mesh: common.mesh.clone(), token: order.token.clone() };
    let adapter = adapters::adapter(&order.task.kind)
        .ok_or_else(|| format!("the agent kind {} is not known to this Fleet", order.task.kind))?;
    let invocation =
        adapter.invocation(&order.task, &place).map_err(|refusal| refusal.to_string())?;
    supervise::prepare(dir).map_err(|error| refused("make the agent's folder", error))?;
    dir.write(&dir.task(), invocation.task_text.as_bytes())
        .map_err(|error| refused("write the task's file", error))?;
    let spec = spec(common, order, invocation);
    supervise::launch(&common.launcher, dir, &spec, None).map_err(|error| error.to_string())
}

/// Builds what the shim has to know.
fn spec(common: &Common, order: &Order, invocation: Invocation) -> Spec {
    let Invocation { argv, env, root, ask_signal, .. } = invocation;
    let mut spec = Spec::new(super::mark(&common.fleet, order.id), order.id.0, argv, root);
    spec.env = env;
    // What an outer fleet said to the agent that this host may be is not meant for agents of this one.
    spec.env_remove = ["FLEET_TASK", "FLEET_TOKEN"].map(str::to_owned).into();
    spec.env.insert("FLEET_DEPTH".to_owned(), common.depth.to_string());
    ask_signal.clone_into(&mut spec.ask);
    spec.grace = common.grace;
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

    #[test]
    fn nothing_is_started_for_a_host_that_has_gone() {
        let temp = tempfile::tempdir().unwrap();
        let task = adapters::task("sh", "true", Path::new("/")).unwrap();
        let common = Common {
            launcher: Launcher::new("/nonexistent/fleet", Vec::new()),
            fleet: FleetId("k3f".to_owned()),
            depth: 1,
            mesh: None,
            grace: Duration::ZERO,
            orphan: None,
            nofile: None,
        };
        let dir = AgentDir::new(temp.path().join("0001"));
        let (orders, inbox) = sync_channel(1);
        orders
            .send(Order { id: AgentId(1), dir: dir.clone(), task: Arc::new(task), token: None })
            .unwrap();
        let (news, host) = tokio::sync::mpsc::channel(1);
        drop(host);
        run(&common, &inbox, &news);
        assert!(!dir.path().exists(), "the agent's folder was made");
    }
}
