//! The shim's one loop: waits for its agent's tree, its timers and its signals, and writes down the end.
//!
//! What may go here: turning what happens into stage events, and stage actions into calls. What may not: the stages.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, WaitStatus, wait};

use super::super::dir::AgentDir;
use super::super::record::{ExitRecord, RECORD_VERSION, Started, StartedFile};
use super::super::spec::{Spec, StdinFrom};
use super::super::stages::{Policy, StageAction, StageEvent, Stages};
use super::inlet::Inlet;
use super::orphan::OrphanWatch;
use super::signals::Signals;
use super::start::{self, Files};
use super::tree::Tree;
use super::{HOPELESS, exec, refusal};

/// Longest wait while processes are left that cannot be waited for.
const UNSEEN_POLL: Duration = Duration::from_millis(100);

/// How the agent itself ended.
#[derive(Debug, Clone, Copy)]
struct LeaderEnd {
    status: WaitStatus,
    at_ms: u64,
    run_time: Duration,
}

/// One shim at work.
struct Watchdog<'shim> {
    dir: &'shim AgentDir,
    spec: &'shim Spec,
    clock: Instant,
    signals: Signals,
    stages: Stages,
    tree: Tree,
    /// The agent's standard input, if messages can be written to it.
    inlet: Option<Inlet<'shim>>,
    started: Started,
    /// `started.json`; gone once it says that the agent runs.
    running: Option<StartedFile>,
    /// The second exec's report, while the agent is being started.
    report: Option<PipeReader>,
    reported: Vec<u8>,
    refused: Option<String>,
    timeout_at: Option<Duration>,
    orphan: Option<OrphanWatch>,
    end: Option<LeaderEnd>,
}

/// Runs the shim of the agent in `dir` until nothing of its tree is left.
pub(super) fn run(dir: &AgentDir) -> ExitCode {
    start::isolate();
    let Ok(signals) = Signals::install() else { return ExitCode::from(HOPELESS) };
    // Without its files a shim begins nothing: an agent without a record would be lost.
    let Ok(files) = start::make_files(dir) else { return ExitCode::from(HOPELESS) };
    let Files { exit, running, started } = files;
    let record = match start::read_spec(dir) {
        Ok(spec) => match begin(dir, &spec) {
            Ok((agent, inlet)) => watch(dir, &spec, signals, agent, inlet, running, started),
            Err(why) => refuse(dir, &running, &started, &why),
        },
        Err(why) => refuse(dir, &running, &started, &why),
    };
    match exit.commit_exit(&record, &dir.exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(HOPELESS),
    }
}

/// Starts the agent, with its standard input before it. An error is a clause for people.
fn begin<'shim>(
    dir: &'shim AgentDir,
    spec: &Spec,
) -> Result<(start::Agent, Option<Inlet<'shim>>), String> {
    let inlet = (spec.stdin == StdinFrom::Messages).then(|| Inlet::make(dir)).transpose()?;
    match start::spawn(dir, spec) {
        Ok(agent) => Ok((agent, inlet)),
        Err(why) => {
            if let Some(mut inlet) = inlet {
                inlet.end();
            }
            Err(why)
        }
    }
}

fn watch(
    dir: &AgentDir,
    spec: &Spec,
    signals: Signals,
    agent: start::Agent,
    inlet: Option<Inlet<'_>>,
    running: StartedFile,
    started: Started,
) -> ExitRecord {
    let clock = start_clock();
    let policy = Policy {
        asks_with_term: spec.ask_signal() == Signal::TERM,
        grace: spec.grace,
        long_grace: spec.stale_grace.unwrap_or(spec.grace),
        leftovers: spec.leftovers,
    };
    let orphan = spec.orphan.clone();
    let mut watchdog = Watchdog {
        dir,
        spec,
        clock,
        signals,
        stages: Stages::new(policy),
        tree: Tree::new(agent.pid, spec.mark.clone()),
        inlet,
        started,
        running: Some(running),
        report: agent.report,
        reported: Vec::new(),
        refused: None,
        timeout_at: spec.timeout,
        orphan: orphan.map(|(limit, lock)| OrphanWatch::new(limit, lock, Duration::ZERO)),
        end: None,
    };
    if watchdog.report.is_none() {
        watchdog.note_started();
    }
    watchdog.watch();
    watchdog.to_record()
}

impl Watchdog<'_> {
    fn watch(&mut self) {
        loop {
            self.wait();
            let patiently = self.signals.take_patient();
            let asked = self.signals.take_stops();
            self.read_report();
            self.serve_inlet();
            let reaped = self.reap();
            let now = self.clock.elapsed();
            let events = reaped
                .into_iter()
                .chain(patiently.then_some(StageEvent::AskedPatiently))
                .chain(std::iter::repeat_n(StageEvent::Asked, asked))
                .chain(self.due(now));
            for event in events.collect::<Vec<_>>() {
                for action in self.stages.apply(event, now) {
                    if action == StageAction::Finish {
                        return;
                    }
                    self.perform(action);
                }
            }
        }
    }

    /// Sleeps until a signal comes, the agent's start is decided, or something is due.
    fn wait(&self) {
        let unseen = (self.tree.is_leader_gone() && self.tree.has_unseen())
            .then(|| self.clock.elapsed().saturating_add(UNSEEN_POLL));
        let timeout_at = self.timeout_at.filter(|_| !self.tree.is_leader_gone());
        let orphan_at = self.orphan.as_ref().and_then(OrphanWatch::deadline);
        let deadline =
            [self.stages.deadline(), timeout_at, orphan_at, unseen].into_iter().flatten().min();
        let timeout = deadline
            .map(|deadline| deadline.saturating_sub(self.clock.elapsed()))
            .and_then(|timeout| Timespec::try_from(timeout).ok());
        let [stop, child, close, patient] = self.signals.fds();
        let mut fds = vec![
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::from_borrowed_fd(child, PollFlags::IN),
            PollFd::from_borrowed_fd(close, PollFlags::IN),
            PollFd::from_borrowed_fd(patient, PollFlags::IN),
        ];
        if let Some(report) = &self.report {
            fds.push(PollFd::new(report, PollFlags::IN));
        }
        if let Some(fifo) = self.inlet.as_ref().and_then(Inlet::waits) {
            fds.push(PollFd::new(fifo, PollFlags::OUT));
        }
        // Whatever it returns, an interrupted call included, everything is looked at.
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Writes what is left of the first message, and closes the agent's standard input if that was asked for.
    fn serve_inlet(&mut self) {
        let is_asked = self.signals.take_close();
        let Some(inlet) = &mut self.inlet else { return };
        if is_asked {
            inlet.close();
        } else {
            inlet.feed();
        }
    }

    /// Returns what the clock says is due.
    fn due(&mut self, now: Duration) -> Vec<StageEvent> {
        let mut events = Vec::new();
        if self.timeout_at.is_some_and(|at| at <= now) {
            self.timeout_at = None;
            if !self.tree.is_leader_gone() {
                events.push(StageEvent::TimedOut);
            }
        }
        if self.orphan.as_mut().is_some_and(|orphan| orphan.is_orphaned(now)) {
            events.push(StageEvent::Orphaned);
        }
        if self.stages.deadline().is_some_and(|at| at <= now) {
            events.push(StageEvent::Timer);
        }
        events
    }

    /// Reaps whoever has ended. That there is nobody left to wait for proves that the tree is empty.
    fn reap(&mut self) -> Option<StageEvent> {
        let mut leader_ended = false;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.tree.leader() && self.end.is_none() {
                        leader_ended = true;
                        self.note_end(status);
                    }
                }
                Ok(None) => return leader_ended.then_some(StageEvent::LeaderEnded),
                Err(Errno::INTR) => {}
                Err(_) if self.tree.has_unseen() => return Some(StageEvent::LeaderEnded),
                Err(_) => return Some(StageEvent::TreeEmpty),
            }
        }
    }

    fn note_end(&mut self, status: WaitStatus) {
        let run_time = self.clock.elapsed();
        self.end = Some(LeaderEnd { status, at_ms: now_ms(), run_time });
        self.tree.note_leader_gone();
        if let Some(inlet) = &mut self.inlet {
            inlet.end();
        }
        // Its end of the pipe is closed now: an agent that ends at once has been started all the same.
        self.read_report();
    }

    fn read_report(&mut self) {
        let Some(report) = &mut self.report else { return };
        let mut buffer = [0; 64];
        loop {
            match report.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.reported.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
        self.report = None;
        match exec::parse_report(&self.reported) {
            None => self.note_started(),
            Some((step, error)) => {
                let stored = self.dir.stored_env().unwrap_or_default();
                let path = start::agent_path(self.spec, &stored);
                let why = refusal::sentence(step, &error, self.spec, path.as_deref());
                if let Some(running) = self.running.take() {
                    tell_refused(self.dir, &running, &self.started, &why);
                }
                self.refused = Some(why);
            }
        }
    }

    /// The agent runs: says so in its folder, then to the host.
    fn note_started(&mut self) {
        self.started.agent_pid = Some(self.tree.leader().as_raw_pid());
        if let Some(inlet) = &mut self.inlet {
            inlet.agent_runs();
        }
        // What is stored has been handed over. A failure leaves values for the host to delete with the agent.
        let _ = self.dir.forget_env();
        if let Some(running) = self.running.take() {
            // The file's space is there already; should it fail all the same, the first one stands.
            let _ = running.rewrite(&self.started);
        }
        let mut stdout = io::stdout();
        // The host can have gone.
        let _ = stdout.write_all(b"1").and_then(|()| stdout.flush());
        close_stdout();
    }

    fn perform(&mut self, action: StageAction) {
        match action {
            StageAction::AskGroup => {
                if self.tree.is_leader_gone() {
                    self.tree.term_rest();
                } else {
                    self.tree.signal_group(self.spec.ask_signal());
                }
            }
            StageAction::TermGroup => self.tree.signal_group(Signal::TERM),
            StageAction::TermRest => self.tree.term_rest(),
            StageAction::KillTree { freeze } => self.tree.kill(freeze),
            StageAction::Sweep => self.tree.sweep_outside(),
            // The caller leaves the loop.
            StageAction::Finish => {}
        }
    }

    fn to_record(&self) -> ExitRecord {
        let fallback = ExitRecord::not_started(
            self.refused.as_deref().unwrap_or("its process could not be waited for"),
            self.end.map_or_else(now_ms, |end| end.at_ms),
        );
        let Some(end) = self.end.filter(|_| self.refused.is_none()) else { return fallback };
        let swept = self.tree.to_swept_names();
        let (cpu_ms, max_rss_kb) = usage();
        ExitRecord {
            version: RECORD_VERSION,
            ended_ms: end.at_ms,
            code: end.status.exit_status(),
            signal: end.status.terminating_signal().map(signal_name),
            error: None,
            stopped_by: self.stages.stopped_by(),
            run_ms: to_ms(end.run_time),
            cpu_ms,
            max_rss_kb,
            swept_count: u32::try_from(swept.len()).unwrap_or(u32::MAX),
            swept,
            escalated: self.stages.escalated(),
        }
    }
}

/// Says that nothing was started, in both records.
fn refuse(dir: &AgentDir, running: &StartedFile, started: &Started, why: &str) -> ExitRecord {
    tell_refused(dir, running, started, why);
    ExitRecord::not_started(why, now_ms())
}

fn tell_refused(dir: &AgentDir, running: &StartedFile, started: &Started, why: &str) {
    let told = Started { error: Some(why.to_owned()), ..started.clone() };
    // The end says the same once more.
    let _ = running.rewrite(&told);
    let _ = dir.forget_env();
    close_stdout();
}

/// Closes the pipe to the host, so that it sees the end of it while the shim goes on.
fn close_stdout() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        let _: Result<(), _> = rustix::stdio::dup2_stdout::<&File>(&null);
    }
}

/// Returns CPU time in milliseconds and the largest resident size in KiB of everything that was reaped.
fn usage() -> (u64, u64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return (0, 0) };
    let cpu_ms = (usage.user_time() + usage.system_time()).num_milliseconds();
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    (u64::try_from(cpu_ms).unwrap_or(0), u64::try_from(usage.max_rss()).unwrap_or(0) / unit)
}

pub(super) fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal)
        .map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Starts the clock by which run time, grace and timeout are measured; it stands still while the machine sleeps.
#[expect(clippy::disallowed_methods, reason = "the shim has the timeout, also with no host alive")]
fn start_clock() -> Instant {
    Instant::now()
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, to_ms)
}

fn to_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
