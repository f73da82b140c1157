//! Which files an agent has changed, by git, where its own output may not tell: the work tree of its folder before its
//! start against the one after its end.
//!
//! What may go here: for whom that is done, when, and whose changes cannot be told apart. What may not: how git is run,
//! what its answers mean.
//!
//! All of it happens beside the loop and has a time limit: no start waits for it, and no end waits long. So an agent can
//! be faster than the first look: what it has written by then is known by the time of each file, what it has committed by
//! then is not. The programs that this is for take seconds before they ask their models anything.

mod git;
mod status;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::host::Host;
use super::looks::Looks;
use super::news::News;
use crate::adapters;
use crate::core::{AgentId, ChangedFiles, Event, TreeEnd};

use git::WorkTree;
use status::Status;

/// How many are asked at once: more would only wait for the same disk.
const AT_ONCE: u32 = 4;
/// Longest look before the start. It goes on while the agent begins its work.
const FIRST: Duration = Duration::from_secs(10);
/// Longest look after the end, which waits for it.
const LAST: Duration = Duration::from_secs(2);

/// Longest wait for looks when the host ends.
const ENDING: Duration = Duration::from_secs(1);

/// The agents whose work trees were looked at before their start.
#[derive(Debug)]
pub(super) struct WorkTrees {
    begun: HashMap<AgentId, Begun>,
    looks: Looks,
    /// Looks at files that agents have told of.
    pub(super) evidence: Looks,
}

impl Default for WorkTrees {
    fn default() -> Self {
        Self { begun: HashMap::new(), looks: Looks::new(AT_ONCE), evidence: Looks::new(AT_ONCE) }
    }
}

/// The looks at the work tree of an agent. Whichever goes on is given up once this is dropped: when it has taken too long,
/// the agent never began, the host has ended.
#[derive(Debug)]
struct Begun {
    /// The first look, which may still go on, until the agent has ended.
    before: Option<JoinHandle<Option<Before>>>,
    /// An end does not wait for it beyond this: not at all, that is, unless the agent was quick.
    until: Instant,
    /// Agents that ran when it began, and that have begun since.
    others: BTreeSet<AgentId>,
    wanted: Arc<()>,
}

/// Folders of other agents.
#[derive(Debug)]
struct Others {
    /// Of those that ran while this one did.
    during: Vec<PathBuf>,
    /// Of those as well that began when it was gone and may have been at work before its work tree was looked at.
    until_look: Vec<PathBuf>,
}

/// A work tree before the start of an agent.
#[derive(Debug)]
struct Before {
    tree: WorkTree,
    since: (i64, i64),
    status: Status,
}

impl Host {
    /// Begins to look at the work tree of an agent that is about to start.
    pub(super) fn look_before(&mut self, id: AgentId) {
        for begun in self.trees.begun.values_mut() {
            begun.others.insert(id);
        }
        let Some(task) = self.fleet.task(id) else { return };
        let is_asked = adapters::adapter_of(task).is_some_and(|adapter| adapter.edits_unseen(task));
        if !is_asked {
            return;
        }
        let root = self.fleet.options().folder(task).to_owned();
        let since = status::now();
        let wanted = Arc::new(());
        let asked = Arc::downgrade(&wanted);
        let looks = self.trees.looks.clone();
        let look = async move { looks.look(move || Before::look(&root, since, &asked)).await };
        let (before, until) = (Some(tokio::spawn(look)), Instant::now() + LAST);
        let others = self.shims.keys().copied().filter(|other| *other != id).collect();
        self.trees.begun.insert(id, Begun { before, until, others, wanted });
    }

    /// The tree of an agent is gone: its output is read to its end, after its work tree was looked at once more.
    pub(super) fn tree_gone(&mut self, id: AgentId, tree: TreeEnd) {
        let code = tree.code();
        let begun = self.trees.begun.get_mut(&id);
        let Some((before, until, asked)) = begun.and_then(|begun| {
            Some((begun.before.take()?, begun.until, Arc::downgrade(&begun.wanted)))
        }) else {
            self.scan.finish(id, code);
            self.apply(Event::TreeGone(id, tree));
            return;
        };
        let gone = status::latest();
        let during = self.others(id);
        // One that takes its place may be at work before the last look.
        self.apply(Event::TreeGone(id, tree));
        let others = Others { during, until_look: self.others(id) };
        let (looks, sender) = (self.trees.looks.clone(), self.sender.clone());
        tokio::spawn(async move {
            let look = async {
                let before = timeout_at(until, before).await.ok()?.ok().flatten()?;
                looks.look(move || before.compare(gone, &others, &asked)).await
            };
            let changed = timeout(LAST, look).await.ok().flatten();
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
        self.forget_before(id);
        if let Some(changed) = changed {
            self.apply(Event::Changed(id, changed));
        }
        self.scan.finish(id, code);
    }

    /// Gives up the looks for an agent that nobody wants to know of any more.
    pub(super) fn forget_before(&mut self, id: AgentId) {
        self.trees.begun.remove(&id);
    }

    /// Gives up all looks, and waits until git has been ended with them, but not for a disk that does not answer.
    pub(super) async fn end_looks(&mut self) {
        self.trees.begun.clear();
        // What is not over by then is at least not waited for.
        let _ = timeout(ENDING, self.trees.looks.all_over(AT_ONCE)).await;
    }

    /// Returns the folders of the agents that have run since this one began and may have changed files. What counts is the
    /// order in which they began and ended here: times of several clocks do not tell it.
    fn others(&self, id: AgentId) -> Vec<PathBuf> {
        let options = self.fleet.options();
        let others = self.trees.begun.get(&id).into_iter().flat_map(|begun| &begun.others);
        let tasks = others.filter_map(|other| self.fleet.task(*other));
        let writing = tasks.filter(|task| !task.read_only);
        let folders: BTreeSet<_> = writing.map(|task| options.folder(task)).collect();
        folders.into_iter().map(Path::to_owned).collect()
    }
}

impl Before {
    fn look(root: &Path, since: (i64, i64), wanted: &Weak<()>) -> Option<Self> {
        let tree = WorkTree::of(root)?;
        let status = look(&tree, FIRST, wanted)?;
        Some(Self { tree, since, status })
    }

    /// Returns what has changed since, until the agent was `gone`; `None` if that cannot be known.
    fn compare(
        &self,
        gone: (i64, i64),
        others: &Others,
        wanted: &Weak<()>,
    ) -> Option<ChangedFiles> {
        let tree = &self.tree;
        let after = look(tree, LAST, wanted)?;
        let committed = self.committed(&after, wanted)?;
        let top = &tree.top;
        let changed = status::changed(&self.status, self.since, &after, &committed, top);
        let (changed, has_time) = status::until(changed, gone, top);
        // When a file was deleted or a commit was made is not known.
        let is_certain = has_time && committed.is_empty();
        let others = if is_certain { &others.during } else { &others.until_look };
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
    fn committed(&self, after: &Status, wanted: &Weak<()>) -> Option<Vec<PathBuf>> {
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
        ];
        status::names(&self.tree.ask(&arguments, LAST, wanted)?)
    }
}

/// Asks what of a work tree differs from its commit, submodules left out.
fn look(tree: &WorkTree, limit: Duration, wanted: &Weak<()>) -> Option<Status> {
    let arguments = [
        "status",
        "--porcelain=v2",
        "--branch",
        "--no-ahead-behind",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
    ];
    status::read(&tree.ask(&arguments, limit, wanted)?, &tree.top)
}
