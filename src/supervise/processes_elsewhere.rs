//! Finds the processes of a tree where there is no `/proc`: through `ps`, without start times and without marks.
//!
//! What may go here: the same functions as on Linux, as good as the system allows. A process that has left both its
//! parent and its group is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A process as it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    /// Its number.
    pub(super) pid: i32,
    parent: i32,
    name: String,
}

impl Process {
    /// Returns what tells it from the others in one list.
    pub(super) const fn key(&self) -> (i32, u64) {
        (self.pid, 0)
    }

    /// The processor time that it has used is not told here.
    #[expect(clippy::unused_self, reason = "where there is a /proc, it is told")]
    pub(super) const fn cpu_ticks(&self) -> Option<u64> {
        None
    }

    /// Returns its name for people, such as `sleep[1234]`.
    pub(super) fn to_label(&self) -> String {
        format!("{}[{}]", self.name, self.pid)
    }
}

/// Returns every live process that descends from `root`, without `root` and without `ps` itself.
pub(super) fn tree_of(root: i32) -> Vec<Process> {
    let command = Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,stat=,ucomm="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = command else { return Vec::new() };
    let all: Vec<Process> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect();
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in &all {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut inside = BTreeSet::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if *child != root && inside.insert(*child) {
                open.push(*child);
            }
        }
    }
    all.into_iter()
        .filter(|process| inside.contains(&process.pid) && process.name != "ps")
        .collect()
}

/// Environments cannot be read here: finds nothing.
pub(super) fn marked(_mark: &str) -> Vec<Process> {
    Vec::new()
}

/// Signals the process with that number; says whether there was one.
pub(super) fn signal(process: &Process, signal: Signal) -> bool {
    Pid::from_raw(process.pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Escaped processes cannot be found here: ends nothing.
pub fn sweep(mark: &str) -> Vec<String> {
    marked(mark).iter().map(Process::to_label).collect()
}

/// Orphans go to the first process of the system here: does as [`sweep`].
pub fn sweep_with_orphans(mark: &str) -> Vec<String> {
    sweep(mark)
}

/// There is nothing to switch on here.
pub fn adopt_orphans() {}

fn parse(line: &str) -> Option<Process> {
    let mut fields = line.split_whitespace();
    let pid = fields.next()?.parse().ok()?;
    let parent = fields.next()?.parse().ok()?;
    if fields.next()?.starts_with('Z') {
        return None;
    }
    Some(Process { pid, parent, name: fields.collect::<Vec<_>>().join(" ") })
}
