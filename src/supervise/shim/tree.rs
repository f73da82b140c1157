//! The agent's process tree: who is in it, and signals to all of it.
//!
//! What may go here: carrying out what the stages decide. What may not: deciding.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{Pid, Signal, getpid, kill_process_group};

use super::super::processes::{Process, marked, signal, sweep, tree_of};

/// Lists that are made at most while a tree is frozen; each stops what the one before has missed.
const FREEZE_LISTS: u32 = 8;

/// One agent's tree.
#[derive(Debug)]
pub(super) struct Tree {
    leader: Pid,
    leader_gone: bool,
    mark: String,
    swept: BTreeMap<(i32, u64), String>,
    swept_outside: Vec<String>,
}

impl Tree {
    /// Names the tree below `leader`.
    pub(super) const fn new(leader: Pid, mark: String) -> Self {
        Self { leader, leader_gone: false, mark, swept: BTreeMap::new(), swept_outside: Vec::new() }
    }

    /// Returns the agent itself.
    pub(super) const fn leader(&self) -> Pid {
        self.leader
    }

    /// Remembers that the agent has been reaped: from now on its number can be another's.
    pub(super) fn note_leader_gone(&mut self) {
        self.leader_gone = true;
    }

    /// Says whether the agent has been reaped.
    pub(super) const fn is_leader_gone(&self) -> bool {
        self.leader_gone
    }

    /// Says whether processes of the agent's group are left that cannot be waited for. Never on Linux, where the shim
    /// is the parent of all that have lost theirs.
    pub(super) fn has_unseen(&self) -> bool {
        cfg!(not(target_os = "linux"))
            && rustix::process::test_kill_process_group(self.leader).is_ok()
    }

    /// Sends a signal to the agent's group, and wakes it if it was suspended.
    pub(super) fn signal_group(&self, with: Signal) {
        if self.is_group_ours() {
            // The group can have ended at this very moment.
            let _ = kill_process_group(self.leader, with);
            let _ = kill_process_group(self.leader, Signal::CONT);
        }
    }

    /// Asks everything that the agent has left behind to end.
    pub(super) fn term_rest(&mut self) {
        let rest = members();
        self.signal_group(Signal::TERM);
        for process in &rest {
            signal(process, Signal::TERM);
            signal(process, Signal::CONT);
        }
        self.note_swept(&rest);
    }

    /// Kills everything that descends from the agent or carries its mark, as far as it is there now.
    pub(super) fn kill(&mut self, freeze: bool) {
        if freeze {
            Self::freeze();
        }
        let mut victims = members();
        victims.extend(marked(&self.mark));
        self.note_swept(&victims);
        if self.is_group_ours() {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        for process in &victims {
            signal(process, Signal::KILL);
        }
    }

    /// Ends what carries the mark although it does not descend from the agent.
    pub(super) fn sweep_outside(&mut self) {
        self.swept_outside.extend(sweep(&self.mark));
    }

    /// Returns the names of all that had to be ended besides the agent.
    pub(super) fn to_swept_names(&self) -> Vec<String> {
        self.swept.values().chain(&self.swept_outside).cloned().collect()
    }

    fn freeze() {
        let mut frozen = BTreeSet::new();
        for _ in 0..FREEZE_LISTS {
            let fresh: Vec<Process> =
                members().into_iter().filter(|process| frozen.insert(process.key())).collect();
            if fresh.is_empty() {
                return;
            }
            for process in &fresh {
                signal(process, Signal::STOP);
            }
        }
    }

    fn note_swept(&mut self, processes: &[Process]) {
        for process in processes {
            if self.leader_gone || process.pid != self.leader.as_raw_pid() {
                self.swept.entry(process.key()).or_insert_with(|| process.to_label());
            }
        }
    }

    /// The group's number is safe while the agent has not been reaped or, elsewhere, while the group is not empty.
    fn is_group_ours(&self) -> bool {
        !self.leader_gone || self.has_unseen()
    }
}

/// Returns the tree as it is now: the shim has no children but those.
fn members() -> Vec<Process> {
    tree_of(getpid().as_raw_pid())
}
