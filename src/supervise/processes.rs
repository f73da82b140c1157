//! Finds the processes of a tree in `/proc` and signals exactly those. Linux only.
//!
//! What may go here: reading `/proc`, signals through pidfds. What may not: stages, records, anything that knows why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal, waitid,
};

use super::launch;
use super::spec::MARK_VARIABLE;

/// This process adopts what its shims leave behind when they are killed.
static ADOPTS_ORPHANS: AtomicBool = AtomicBool::new(false);

/// Rounds that a sweep makes at most; only a tree that hangs in the kernel needs more than a few.
const SWEEP_ROUNDS: u32 = 64;

/// Rounds of a sweep after which everything is frozen before it is killed.
const ROUNDS_BEFORE_FREEZING: u32 = 3;

/// Time that one killed process gets to disappear before a sweep looks again.
const DEATH_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Time that an exec may take before a sweep looks a last time.
const EXEC_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// A process as it was seen; its start time tells it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    /// Its number.
    pub(super) pid: i32,
    parent: i32,
    start: u64,
    ticks: u64,
    is_dead: bool,
    name: String,
}

impl Process {
    /// Returns what tells it from every other process of this boot.
    pub(super) const fn key(&self) -> (i32, u64) {
        (self.pid, self.start)
    }

    /// Returns the processor time that it has used, in hundredths of a second.
    #[expect(clippy::unnecessary_wraps, reason = "not every system tells it")]
    pub(super) const fn cpu_ticks(&self) -> Option<u64> {
        Some(self.ticks)
    }

    /// Returns its name for people, such as `sleep[1234]`.
    pub(super) fn to_label(&self) -> String {
        format!("{}[{}]", self.name, self.pid)
    }
}

/// Returns every live process that descends from `root`, without `root`.
pub(super) fn tree_of(root: i32) -> Vec<Process> {
    descendants(root, all())
}

/// Returns every live process that carries `FLEET_AGENT=<mark>` in its environment, except this one.
pub(super) fn marked(mark: &str) -> Vec<Process> {
    let me = getpid().as_raw_pid();
    let entry = format!("{MARK_VARIABLE}={mark}");
    pids()
        .filter(|pid| *pid != me && carries(*pid, entry.as_bytes()))
        .filter_map(look)
        .filter(|process| !process.is_dead)
        .collect()
}

/// Signals the process if it is still the one that was seen; says whether it was.
pub(super) fn signal(process: &Process, signal: Signal) -> bool {
    open(process).is_some_and(|pidfd| pidfd_send_signal(pidfd, signal).is_ok())
}

/// Returns the parent of a live process.
pub(super) fn parent_of(pid: i32) -> Option<i32> {
    look(pid).filter(|process| !process.is_dead).map(|process| process.parent)
}

/// Makes this process the one to which those come whose shim was killed, so that [`sweep`] finds them even if they have
/// cleared their environment. For a program that starts nothing but shims: all its other children are taken for orphans.
pub fn adopt_orphans() {
    // Any number that is not zero switches it on; a refusal only costs that.
    if rustix::process::set_child_subreaper(Some(getpid())).is_ok() {
        ADOPTS_ORPHANS.store(true, Ordering::Relaxed);
    }
}

/// Ends, by SIGKILL, every process that carries `mark` (`<fleet>.<place>/<number>`), until none is found; never this process.
///
/// Blocks until what was killed has gone, milliseconds as a rule. Returns the names, such as `sleep[1234]`.
pub fn sweep(mark: &str) -> Vec<String> {
    sweep_until_empty(mark, Orphans::Spare)
}

/// Does as [`sweep`], and after [`adopt_orphans`] ends all orphans as well: those of the shim that was just killed, for a
/// caller that keeps no others.
pub fn sweep_with_orphans(mark: &str) -> Vec<String> {
    let adopts = ADOPTS_ORPHANS.load(Ordering::Relaxed);
    sweep_until_empty(mark, if adopts { Orphans::End } else { Orphans::Spare })
}

/// What a sweep does with processes that this one has adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orphans {
    End,
    Spare,
}

fn sweep_until_empty(mark: &str, orphans: Orphans) -> Vec<String> {
    let mut swept = BTreeMap::new();
    let mut empty_rounds = 0;
    for round in 0..SWEEP_ROUNDS {
        let mut found = marked(mark);
        let strays = if orphans == Orphans::End { find_orphans() } else { Vec::new() };
        let is_stray = |process: &Process| strays.iter().any(|stray| stray.key() == process.key());
        found.extend(strays.iter().filter(|stray| !stray.is_dead).cloned());
        // A process that forked while the list was read can be missing from it: one empty list is no proof.
        empty_rounds = if found.is_empty() { empty_rounds + 1 } else { 0 };
        if empty_rounds == 2 {
            break;
        }
        if found.is_empty() {
            // Nor has a process an environment in the middle of its exec.
            let _ = poll(&mut [], Some(&EXEC_WAIT));
            continue;
        }
        if round >= ROUNDS_BEFORE_FREEZING {
            for process in &found {
                signal(process, Signal::STOP);
            }
        }
        let entry = format!("{MARK_VARIABLE}={mark}");
        let killed: Vec<OwnedFd> = found
            .iter()
            .filter_map(|process| {
                let pidfd = open(process)
                    .filter(|_| is_stray(process) || carries(process.pid, entry.as_bytes()))?;
                pidfd_send_signal(&pidfd, Signal::KILL).ok()?;
                swept.insert(process.key(), process.to_label());
                Some(pidfd)
            })
            .collect();
        for pidfd in &killed {
            // An error or a timeout only means that the next round looks again.
            let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&DEATH_WAIT));
        }
        strays.iter().for_each(reap);
    }
    swept.into_values().collect()
}

/// Returns the children of this process that it has not started, the dead ones included, and all that descends from
/// them.
fn find_orphans() -> Vec<Process> {
    let me = getpid().as_raw_pid();
    // Nothing is started meanwhile, so that every shim is known as one.
    launch::with_own_children(|own| {
        let all = all();
        let roots: Vec<i32> = all
            .iter()
            .filter(|process| process.parent == me && !own.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        let mut found = BTreeMap::new();
        for root in roots {
            let below = descendants(root, all.clone());
            let itself = all.iter().filter(|process| process.pid == root).cloned();
            found.extend(itself.chain(below).map(|process| (process.key(), process)));
        }
        found.into_values().collect()
    })
}

/// Takes the record of a dead child from the system; of others it has none.
fn reap(process: &Process) {
    if let Some(pid) = Pid::from_raw(process.pid) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let _ = waitid(WaitId::Pid(pid), options);
    }
}

/// Opens the process first and compares second, so that the descriptor cannot be another one's.
fn open(process: &Process) -> Option<OwnedFd> {
    let pidfd = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
    look(process.pid).filter(|now| now.start == process.start).map(|_| pidfd)
}

fn pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
}

fn all() -> Vec<Process> {
    pids().filter_map(look).collect()
}

fn look(pid: i32) -> Option<Process> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn carries(pid: i32, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|have| have == entry))
}

/// Reads one line of `/proc/<pid>/stat`; the name stands in brackets and may itself hold any byte.
fn parse_stat(line: &[u8]) -> Option<Process> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The times in user and in kernel mode are fields 14 and 15 of the line; the parent, which is behind us, was the fourth.
    let user: u64 = fields.nth(9)?.parse().ok()?;
    let kernel = fields.next()?.parse().ok()?;
    // The start time is field 22.
    let start = fields.nth(6)?.parse().ok()?;
    let ticks = user.saturating_add(kernel);
    Some(Process { pid, parent, start, ticks, is_dead: matches!(state, "Z" | "X" | "x"), name })
}

fn descendants(root: i32, all: Vec<Process>) -> Vec<Process> {
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
    all.into_iter().filter(|process| !process.is_dead && inside.contains(&process.pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let mut line = b"4242 (a) S 1 (b\xff) R 17 4242".to_vec();
        line.extend_from_slice(b" 0 0 -1 0 0 0 0 0 31 11 0 0 20 0 1 0 987654 0 0\n");
        let process = parse_stat(&line).unwrap();
        assert_eq!((process.pid, process.parent, process.start), (4242, 17, 987_654));
        assert_eq!(process.cpu_ticks(), Some(42));
        assert_eq!(process.to_label(), "a) S 1 (b\u{fffd}[4242]");
        assert_eq!(parse_stat(b"4242 (torn"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn this_process_reads_itself() {
        let me = getpid().as_raw_pid();
        let parent = rustix::process::getppid().map(Pid::as_raw_pid);
        assert_eq!(parent_of(me), parent);
    }

    #[test]
    fn descendants_go_all_the_way_down_and_leave_out_the_dead_and_the_others() {
        let process = |pid, parent, is_dead| Process {
            pid,
            parent,
            start: 0,
            ticks: 0,
            is_dead,
            name: "x".to_owned(),
        };
        let all = vec![
            process(1, 0, false),
            process(10, 1, false),
            process(11, 10, false),
            process(12, 11, false),
            process(13, 10, true),
            process(20, 1, false),
            process(9, 12, false),
        ];
        let found: Vec<i32> = descendants(10, all).iter().map(|process| process.pid).collect();
        assert_eq!(found, [11, 12, 9]);
    }

    #[test]
    fn a_process_that_is_no_longer_the_one_seen_is_not_signalled() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let seen = look(pid).unwrap();
        let other = Process { start: seen.start + 1, ..seen.clone() };
        assert!(!signal(&other, Signal::KILL));
        assert!(signal(&seen, Signal::KILL));
        child.wait().unwrap();
        assert!(!signal(&seen, Signal::KILL));
    }
}
