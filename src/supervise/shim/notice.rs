//! The process that runs a program which is told of a notice: it hands over the text, and ends the whole tree when its
//! time is up. Like the shim it outlives the host, so that nothing of such a program ever does so unwatched.
//!
//! What may go here: one such run. What may not: agents, records on disk.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use super::super::stages::{Policy, StageAction, StageEvent, Stages};
use super::signals::Signals;
use super::start;
use super::tree::Tree;
use super::watchdog::signal_name;
use crate::core::Leftovers;

/// Time between asking a program to end and killing it.
const GRACE: Duration = Duration::from_secs(2);
/// Longest wait while processes are left that cannot be waited for.
const UNSEEN_POLL: Duration = Duration::from_millis(100);
/// Longest text that is handed over, in bytes; a notice has some kilobytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// A mark that no agent has: nothing but what descends from the program is ended with it.
const NO_MARK: &str = "notice";

/// Runs the program and says on standard output what became of it. Arguments: its time in milliseconds, the length of the
/// text on standard input, its folder, then its command line.
pub(super) fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    start::isolate();
    let told = match begin(args) {
        Ok(mut run) => {
            run.watch();
            run.to_words()
        }
        Err(why) => why,
    };
    let mut stdout = io::stdout();
    // The host may have gone.
    let _ = writeln!(stdout, "{told}").and_then(|()| stdout.flush());
    ExitCode::SUCCESS
}

/// One run.
struct Run {
    clock: Instant,
    limit: Duration,
    is_late: bool,
    signals: Signals,
    stages: Stages,
    tree: Tree,
    /// Standard input of the program, and what it has still to read.
    input: Option<ChildStdin>,
    text: Vec<u8>,
    written: usize,
    status: Option<WaitStatus>,
}

/// Starts the program. An error is a clause for people.
fn begin(mut args: impl Iterator<Item = OsString>) -> Result<Run, String> {
    let mut number = || args.next()?.into_string().ok()?.parse::<u64>().ok();
    let (Some(limit), Some(length)) = (number(), number()) else {
        return Err("it was told no time".to_owned());
    };
    let folder = args.next().map(PathBuf::from).unwrap_or_default();
    let Some(program) = args.next() else { return Err("it names no program".to_owned()) };
    let signals =
        Signals::install().map_err(|error| format!("no signals could be caught: {error}"))?;
    let mut text = Vec::new();
    let read = io::stdin().take(MOST_BYTES).read_to_end(&mut text);
    if read.is_err() || text.len() as u64 != length {
        // Half a text is none: the host has died in the middle of it.
        return Err("the notice did not come whole".to_owned());
    }
    let mut command = Command::new(&program);
    command.args(args).process_group(0);
    command.current_dir(if folder.is_dir() { folder.as_path() } else { Path::new("/") });
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let refused = |error: io::Error| format!("it could not be started: {error}");
    let mut child = command.spawn().map_err(refused)?;
    let input = child.stdin.take();
    if let Some(input) = &input {
        // A program that does not read must not keep this process waiting.
        rustix::io::ioctl_fionbio(input, true).map_err(|errno| refused(errno.into()))?;
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.expect("the system gives processes positive numbers");
    let policy =
        Policy { asks_with_term: true, grace: GRACE, long_grace: GRACE, leftovers: Leftovers::End };
    Ok(Run {
        clock: start_clock(),
        limit: Duration::from_millis(limit),
        is_late: false,
        signals,
        stages: Stages::new(policy),
        tree: Tree::new(pid, NO_MARK.to_owned()),
        input,
        text,
        written: 0,
        status: None,
    })
}

impl Run {
    /// Waits until nothing of the tree is left. What the program leaves behind when it ends has the rest of its time.
    fn watch(&mut self) {
        loop {
            self.wait();
            let asked = self.signals.take_stops();
            let _ = self.signals.take_close();
            let _ = self.signals.take_patient();
            self.feed();
            let reaped = self.reap();
            let now = self.clock.elapsed();
            let events: Vec<StageEvent> = reaped
                .into_iter()
                .chain(std::iter::repeat_n(StageEvent::Asked, asked))
                .chain(self.due(now))
                .collect();
            for event in events {
                for action in self.stages.apply(event, now) {
                    if action == StageAction::Finish {
                        return;
                    }
                    self.perform(action);
                }
            }
        }
    }

    fn wait(&self) {
        let now = self.clock.elapsed();
        let unseen = (self.tree.is_leader_gone() && self.tree.has_unseen())
            .then(|| now.saturating_add(UNSEEN_POLL));
        let limit = Some(self.limit).filter(|_| !self.is_late);
        let deadline = [self.stages.deadline(), limit, unseen].into_iter().flatten().min();
        let timeout = deadline
            .map(|deadline| deadline.saturating_sub(now))
            .and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut fds: Vec<PollFd<'_>> = self
            .signals
            .fds()
            .into_iter()
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        if let Some(input) = &self.input {
            fds.push(PollFd::new(input, PollFlags::OUT));
        }
        // Whatever it returns, an interrupted call included, everything is looked at.
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Writes as much of the text as there is room for, never waiting.
    fn feed(&mut self) {
        while let Some(input) = &mut self.input {
            let rest = self.text.get(self.written..).unwrap_or_default();
            match input.write(rest) {
                Ok(count) => {
                    self.written += count;
                    if self.written >= self.text.len() {
                        self.input = None;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // It does not want to read it, which is its own affair.
                Err(_) => self.input = None,
            }
        }
    }

    fn due(&mut self, now: Duration) -> Vec<StageEvent> {
        let mut events = Vec::new();
        if !self.is_late && now >= self.limit {
            self.is_late = true;
            let is_gone = self.tree.is_leader_gone();
            events.push(if is_gone { StageEvent::LeaderEnded } else { StageEvent::TimedOut });
        }
        if self.stages.deadline().is_some_and(|at| at <= now) {
            events.push(StageEvent::Timer);
        }
        events
    }

    /// Reaps whoever has ended. That there is nobody left to wait for proves that the tree is empty.
    fn reap(&mut self) -> Option<StageEvent> {
        let mut has_ended = false;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.tree.leader() && self.status.is_none() {
                        has_ended = true;
                        self.status = Some(status);
                        self.input = None;
                        self.tree.note_leader_gone();
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) if !self.tree.has_unseen() => return Some(StageEvent::TreeEmpty),
                // What is left is only ended when it is late, or somebody has said so.
                Ok(None) | Err(_) => {
                    let is_ending = self.stages.deadline().is_some();
                    return (has_ended && is_ending).then_some(StageEvent::LeaderEnded);
                }
            }
        }
    }

    fn perform(&mut self, action: StageAction) {
        match action {
            StageAction::AskGroup if self.tree.is_leader_gone() => self.tree.term_rest(),
            StageAction::AskGroup | StageAction::TermGroup => {
                self.tree.signal_group(Signal::TERM);
            }
            StageAction::TermRest => self.tree.term_rest(),
            StageAction::KillTree { freeze } => self.tree.kill(freeze),
            // There is no mark to look for, and the caller leaves the loop.
            StageAction::Sweep | StageAction::Finish => {}
        }
    }

    fn to_words(&self) -> String {
        let Some(status) = self.status else { return "it could not be waited for".to_owned() };
        if self.is_late && self.stages.escalated() {
            let limit = self.limit.as_secs_f64();
            return format!("it was not done within {limit} s and had to be killed");
        }
        if self.is_late && status.exit_status() != Some(0) {
            return format!("it was not done within {} s and was ended", self.limit.as_secs_f64());
        }
        match (status.exit_status(), status.terminating_signal()) {
            (Some(0), _) => "ok".to_owned(),
            (Some(code), _) => format!("it ended with exit code {code}"),
            (None, Some(signal)) => format!("it was ended by {}", signal_name(signal)),
            (None, None) => "it ended, and nobody knows how".to_owned(),
        }
    }
}

/// Starts the clock by which the time of the program is measured; it stands still while the machine sleeps.
#[expect(clippy::disallowed_methods, reason = "the time limit holds also with no host alive")]
fn start_clock() -> Instant {
    Instant::now()
}
