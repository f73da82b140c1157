//! Which files an agent has changed, by git, where its own output may not tell: the work tree of its folder before its
//! start against the one after its end.
//!
//! What may go here: for whom that is done, when, and whose changes cannot be told apart. What may not: how git is run,
//! what its answers mean.
//!
//! All of it happens beside the loop and has a time limit: no start waits for it, and no end waits long. So an agent can
//! be faster than the first look: what it has written by then is known by the time of each file, what it has committed or
//! removed by then is not. The programs that this is for take seconds before they ask their models anything.

mod git;
mod status;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::host::Host;
use super::news::News;
use crate::adapters;
use crate::core::{AgentId, ChangedFiles, Event, Moment, Row, TreeEnd};

use git::WorkTree;
use status::Status;

/// How many are asked at once: more would only wait for the same disk.
const AT_ONCE: usize = 4;
/// Longest look before the start. It goes on while the agent begins its work.
const FIRST: Duration = Duration::from_secs(10);
/// Longest look after the end, which waits for it.
const LAST: Duration = Duration::from_secs(2);

/// The agents whose work trees were looked at before their start.
#[derive(Debug)]
pub(super) struct WorkTrees {
    begun: HashMap<AgentId, Begun>,
    turns: Arc<Semaphore>,
}

impl Default for WorkTrees {
    fn default() -> Self {
        Self { begun: HashMap::new(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// The first look at a work tree, which may still go on.
#[derive(Debug)]
struct Begun {
    before: JoinHandle<Option<Before>>,
    is_given_up: Arc<AtomicBool>,
}

/// A work tree before the start of an agent.
#[derive(Debug)]
struct Before {
    tree: WorkTree,
    since: (i64, i64),
    settings: Vec<status::Stamp>,
    status: Status,
}

impl Host {
    /// Begins to look at the work tree of an agent that is about to start.
    pub(super) fn look_before(&mut self, id: AgentId) {
        let Some(task) = self.fleet.task(id) else { return };
        let is_asked = adapters::adapter_of(task).is_some_and(|adapter| adapter.edits_unseen(task));
        if !is_asked {
            return;
        }
        let root = self.fleet.options().mesh.clone().unwrap_or_else(|| task.root.clone());
        let since = status::begin();
        let turns = Arc::clone(&self.trees.turns);
        let is_given_up = Arc::new(AtomicBool::new(false));
        let given_up = Arc::clone(&is_given_up);
        let look = async move {
            let _turn = turns.acquire_owned().await.ok()?;
            let look = move || Before::look(&root, since, &given_up);
            tokio::task::spawn_blocking(look).await.ok().flatten()
        };
        self.trees.begun.insert(id, Begun { before: tokio::spawn(look), is_given_up });
    }

    /// The tree of an agent is gone: its output is read to its end, after its work tree was looked at once more.
    pub(super) fn tree_gone(&mut self, id: AgentId, tree: TreeEnd) {
        let code = tree.code();
        let Some(Begun { before, is_given_up }) = self.trees.begun.remove(&id) else {
            self.scan.finish(id, code);
            self.apply(Event::TreeGone(id, tree));
            return;
        };
        // Before the next one has its slot.
        let others = self.others(id);
        let until = status::now();
        self.apply(Event::TreeGone(id, tree));
        let (turns, sender) = (Arc::clone(&self.trees.turns), self.sender.clone());
        tokio::spawn(async move {
            let given_up = Arc::clone(&is_given_up);
            let look = async move {
                let before = before.await.ok().flatten()?;
                let _turn = turns.acquire_owned().await.ok()?;
                let look = move || before.compare(&others, until, &given_up);
                tokio::task::spawn_blocking(look).await.ok().flatten()
            };
            let changed = tokio::time::timeout(LAST, look).await.ok().flatten();
            is_given_up.store(true, Ordering::Relaxed);
            // The loop has gone: nobody wants to hear more.
            let _ = sender.send(News::Changed(id, code, changed)).await;
        });
    }

    /// The last look at the work tree of an agent is over.
    pub(super) fn changed(
        &mut self,
        id: AgentId,
        code: Option<i32>,
        changed: Option<ChangedFiles>,
    ) {
        if let Some(changed) = changed {
            self.apply(Event::Changed(id, changed));
        }
        self.scan.finish(id, code);
    }

    /// Returns the folders of all agents of this fleet that ran while this one did and may have changed files.
    fn others(&mut self, id: AgentId) -> Vec<PathBuf> {
        self.show(true);
        let Some(began) = self.fleet.dispatched_at(id) else { return Vec::new() };
        let mesh = self.fleet.options().mesh.as_ref();
        let snapshot = self.end.snapshots.borrow();
        let others = snapshot.rows.iter().filter(|row| row.id != id && ran_since(row, began));
        let folders = others.map(|row| mesh.unwrap_or(&row.task.root).clone());
        let mut folders: Vec<_> = folders.collect();
        folders.sort();
        folders.dedup();
        folders
    }
}

/// Says whether an agent that may write has run since then.
fn ran_since(row: &Row, began: Moment) -> bool {
    let Some(started) = row.started.filter(|_| !row.task.read_only) else { return false };
    // Its output may still be read when the next one has its slot.
    let over = row.ran.map(|ran| started.after(ran));
    let ended = row.end.as_ref().map(|end| end.at).or(over);
    ended.is_none_or(|ended| ended >= began)
}

impl Before {
    fn look(root: &Path, since: (i64, i64), is_given_up: &AtomicBool) -> Option<Self> {
        let tree = WorkTree::of(root)?;
        let settings = tree.settings();
        let is_new = |(seconds, nanos, _): &(i64, i64, u64)| (*seconds, *nanos) >= since;
        if settings.iter().flatten().any(is_new) {
            // The agent may have been faster.
            return None;
        }
        let status = look(&tree, FIRST, is_given_up)?;
        Some(Self { tree, since, settings, status })
    }

    /// Returns what has changed since; `None` if that cannot be known.
    fn compare(
        &self,
        others: &[PathBuf],
        until: (i64, i64),
        is_given_up: &AtomicBool,
    ) -> Option<ChangedFiles> {
        let tree = &self.tree;
        if tree.settings() != self.settings {
            return None;
        }
        let after = look(tree, LAST, is_given_up)?;
        let committed = self.committed(&after, is_given_up)?;
        let top = &tree.top;
        let changed = status::changed(&self.status, (self.since, until), &after, &committed, top);
        let below = |path: &PathBuf| {
            let whole = top.join(path);
            let path = whole.strip_prefix(&tree.root).unwrap_or(&whole);
            path.to_string_lossy().into_owned()
        };
        let is_here = |folder: &PathBuf| {
            WorkTree::of(folder).is_some_and(|other| {
                other.top == *top
                    && (other.root.starts_with(&tree.root) || tree.root.starts_with(&other.root))
            })
        };
        Some(ChangedFiles {
            files: changed.iter().map(below).collect(),
            is_shared: others.iter().any(is_here),
        })
    }

    /// Returns what differs between the commit before and the one after.
    fn committed(&self, after: &Status, is_given_up: &AtomicBool) -> Option<Vec<PathBuf>> {
        let (Some(before), Some(after)) = (&self.status.head, &after.head) else {
            return Some(Vec::new());
        };
        if before == after {
            return Some(Vec::new());
        }
        let arguments = [
            "diff",
            "--name-only",
            "-z",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--ignore-submodules=all",
            before,
            after,
            "--",
            ".",
        ];
        status::names(&self.tree.ask(&arguments, LAST, is_given_up)?)
    }
}

/// Asks what of a work tree differs from its commit, submodules left out.
fn look(tree: &WorkTree, limit: Duration, is_given_up: &AtomicBool) -> Option<Status> {
    let arguments = [
        "status",
        "--porcelain=v2",
        "--branch",
        "--no-ahead-behind",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--",
        ".",
    ];
    status::read(&tree.ask(&arguments, limit, is_given_up)?, &tree.top)
}
