//! `fleet wait`: follows a fleet until it, or some of its agents, have ended, whatever becomes of its host.
//!
//! What may go here: the order of things: look, connect, follow, look again. What may not: what is waited for and how it
//! is told (`cli`), how a host is got (`connect`).

use std::io::{self, IsTerminal};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::connect::Connector;
use super::seen::see;
use crate::cli::arguments::{GlobalArguments, WaitArguments};
use crate::cli::exit_code::DEADLINE;
use crate::cli::progress::{Display, terminal_width, watch_until};
use crate::cli::prompt::{AnswerSource, TerminalInput};
use crate::cli::{
    Failure, Joined, is_answerable, never_inside_of_agents, print, selectors, state_dir, style,
};
use crate::core::Snapshot;
use crate::journal::{FleetDir, FleetStanding, StateDir};
use crate::runtime::summary::summary_json_of;
use crate::runtime::{FleetHandle, Gone, Inspection, depth, inspect, is_own_mark, new_loop};
use crate::supervise::Launcher;

/// A host that goes sooner than this after it was reached may have a reason that does not pass.
const QUICK: Duration = Duration::from_secs(5);
/// After so many such hosts in a row no other one is started.
const MOST_QUICK: u32 = 3;
/// Time until the next try after one that failed for a reason that passes, and how many such tries there are in a row: a
/// minute in all.
const REST: Duration = Duration::from_millis(500);
const MOST_TRIES: u32 = 120;

/// After a host has shown nothing for so long it may hang, and the files of its fleet are read as well, less and less often
/// while they say nothing either: a fleet in which nothing runs is silent, too.
const SILENT: Duration = Duration::from_secs(5);
const MOST_SILENT: Duration = Duration::from_mins(1);
/// Tries to reach a host that lives and does not answer between two looks at the files.
const TRIES_PER_LOOK: u32 = 10;

/// How waiting ended.
enum Ended {
    /// With what was waited for.
    Over(Box<Snapshot>),
    /// The time that was given is over.
    Late(Box<Snapshot>),
    /// This process was told to go: 128 and the number of the signal.
    Signal(u8),
}

/// Waits; returns the exit code.
pub(super) fn run(arguments: &WaitArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let state = state_dir(global)?;
    let (argument, selectors) = selectors::divide(&arguments.words).map_err(Failure::input)?;
    let seen = see(&state, global, argument)?;
    let joined = Joined::new(&selectors, &seen.snapshot).map_err(Failure::input)?;
    refuse_own(&joined, &seen)?;
    let asks = is_answerable(global.json);
    let dir = seen.dir.clone();
    let is_terminal = io::stderr().is_terminal();
    let style = style(is_terminal);
    let ended = if is_over_at_once(&joined, &seen.snapshot, seen.has_host, asks) {
        Ended::Over(Box::new(seen.snapshot))
    } else {
        if !seen.has_host {
            never_inside_of_agents(depth(), "wait on a fleet without a host")?;
        }
        let mut stderr = io::stderr();
        let width = || terminal_width(io::stderr());
        let mut display = Display::new(&mut stderr, style, &width);
        display.set_beside();
        display.skip(&seen.snapshot);
        let looped = new_loop().map_err(|error| Failure::no_fleet(error.to_string()))?;
        let mut answers = asks.then(TerminalInput::from_stdin).flatten();
        let answers = answers.as_mut().map(|input| -> &mut dyn AnswerSource { input });
        let waiting =
            Waiting { state: &state, dir: &dir, joined: &joined, asks: answers.is_some() };
        let ended = looped.block_on(waiting.until(arguments.timeout, &mut display, answers));
        display.erase();
        ended?
    };
    let (snapshot, code) = match &ended {
        Ended::Signal(code) => return Ok(*code),
        Ended::Late(snapshot) => (snapshot, DEADLINE),
        Ended::Over(snapshot) => (snapshot, joined.exit_code(snapshot)),
    };
    let mut stderr = io::stderr();
    let width = || terminal_width(io::stderr());
    let mut display = Display::new(&mut stderr, style, &width);
    display.say(&joined.lines(snapshot, style));
    if let (Ended::Late(_), Some(timeout)) = (&ended, arguments.timeout) {
        let timeout = crate::words::time_text::duration(timeout);
        display.say(&[format!("the time of this wait is over ({timeout}); the agents go on")]);
    }
    if global.json {
        let standing = FleetStanding::of_hosted(snapshot);
        let agents = joined.agents(snapshot);
        print(&summary_json_of(snapshot, standing, dir.path(), agents.as_deref()), true)?;
    }
    Ok(code)
}

/// Says whether there is nothing to wait for by what was seen first, which may come from files: they tell what has ended, but
/// whether what is left goes on by itself is for a host to say, if there is one. It may be about to ask, or to drop it.
fn is_over_at_once(joined: &Joined, seen: &Snapshot, has_host: bool, asks: bool) -> bool {
    joined.has_ended(seen) || (!has_host && joined.is_over(seen, asks))
}

/// Refuses an agent that would wait for its own end.
fn refuse_own(joined: &Joined, seen: &Inspection) -> Result<(), Failure> {
    let live = seen.snapshot.rows.iter().filter(|row| !row.status.is_ended());
    let agents = joined.agents(&seen.snapshot);
    let is_meant = |id| agents.as_ref().is_none_or(|agents| agents.contains(&id));
    match live.map(|row| row.id).find(|id| is_meant(*id) && is_own_mark(&seen.dir, *id)) {
        Some(id) => Err(Failure::input(format!(
            "this runs inside agent {id}, which would wait for its own end: name other agents"
        ))),
        None => Ok(()),
    }
}

/// One wait.
struct Waiting<'a> {
    state: &'a StateDir,
    dir: &'a FleetDir,
    joined: &'a Joined,
    /// The cap question is asked here.
    asks: bool,
}

impl Waiting<'_> {
    /// Waits until it is over, the time is, or a signal comes.
    async fn until(
        &self,
        most: Option<Duration>,
        display: &mut Display<'_>,
        answers: Option<&mut dyn AnswerSource>,
    ) -> Result<Ended, Failure> {
        let deadline = most.map(|most| Instant::now() + most);
        let listen = |kind| signal(kind).map_err(|error| Failure::no_fleet(error.to_string()));
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        let mut last = None;
        let ended = {
            let follow = self.follow(display, answers, &mut last);
            tokio::select! {
                over = follow => return over.map(|snapshot| Ended::Over(Box::new(snapshot))),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => None,
                _ = interrupt.recv() => Some(130),
                _ = terminate.recv() => Some(143),
            }
        };
        match (ended, last) {
            (Some(code), _) => Ok(Ended::Signal(code)),
            (None, Some(handle)) => {
                let handle: FleetHandle = handle;
                Ok(Ended::Late(Box::new((*handle.snapshot()).clone())))
            }
            (None, None) => self.look().await.map(|seen| Ended::Late(Box::new(seen))),
        }
    }

    /// Follows what hosts show, one after the other, until it is over. `last` is the newest connection.
    async fn follow(
        &self,
        display: &mut Display<'_>,
        mut answers: Option<&mut dyn AnswerSource>,
        last: &mut Option<FleetHandle>,
    ) -> Result<Snapshot, Failure> {
        let launcher =
            Launcher::this_executable().map_err(|error| Failure::no_fleet(error.to_string()))?;
        let connector = Connector::new(self.state, self.dir.clone(), launcher).in_passing();
        let is_over = |snapshot: &Snapshot| self.joined.is_over(snapshot, self.asks);
        let (mut quick, mut tries) = (0, 0);
        loop {
            let connected = match connector.connect(|_| ()).await {
                Ok(connected) => connected,
                Err(error) if error.is_passing() && tries < MOST_TRIES => {
                    tries += 1;
                    if tries.is_multiple_of(TRIES_PER_LOOK)
                        && let Some(seen) = self.look().await.ok().filter(is_over)
                    {
                        return Ok(seen);
                    }
                    sleep(REST).await;
                    continue;
                }
                Err(error) => return Err(Failure::no_fleet(error.to_string())),
            };
            let reached = Instant::now();
            *last = Some(connected.handle.clone());
            #[expect(clippy::option_as_ref_deref, reason = "that would borrow it for too long")]
            let answers =
                answers.as_mut().map(|answers| -> &mut dyn AnswerSource { &mut **answers });
            let seen = tokio::select! {
                seen = watch_until(connected.handle.clone(), display, answers, &is_over) => seen,
                seen = self.over_by_files(connected.handle.clone(), &is_over) => return Ok(seen),
            };
            if is_over(&seen) {
                return Ok((*seen).clone());
            }
            // The host has gone: its files say what it may not have shown any more.
            let seen = self.look().await?;
            if is_over(&seen) {
                return Ok(seen);
            }
            tries = 0;
            quick = if reached.elapsed() < QUICK { quick + 1 } else { 0 };
            if quick >= MOST_QUICK {
                let id = self.dir.id();
                return Err(Failure::no_fleet(format!(
                    "the host of fleet {id} has gone {quick} times in a row: {} may say why",
                    self.dir.host_log().display()
                )));
            }
        }
    }

    /// Reads the files of the fleet when its host has shown nothing for long; returns what they say once it is over.
    async fn over_by_files(
        &self,
        mut handle: FleetHandle,
        is_over: &impl Fn(&Snapshot) -> bool,
    ) -> Snapshot {
        let mut patience = SILENT;
        loop {
            match timeout(patience, handle.changed()).await {
                Ok(Ok(_)) => patience = SILENT,
                // It has gone, which whoever watches it hears as well.
                Ok(Err(Gone)) => return std::future::pending().await,
                Err(_) => match self.look().await {
                    Ok(seen) if is_over(&seen) => return seen,
                    Ok(_) | Err(_) => patience = MOST_SILENT.min(patience * 2),
                },
            }
        }
    }

    /// Reads the files of the fleet, away from the loop.
    async fn look(&self) -> Result<Snapshot, Failure> {
        let dir = self.dir.clone();
        let looked = tokio::task::spawn_blocking(move || inspect(&dir)).await;
        let looked = looked.map_err(|error| Failure::no_fleet(error.to_string()))?;
        looked.map(|seen| seen.snapshot).map_err(|error| Failure::no_fleet(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{Outcome, Phase, Status, Waits};

    #[test]
    fn that_a_queue_does_not_go_on_is_taken_from_files_only_where_there_is_no_host() {
        let mut queued = row(2);
        (queued.status, queued.phase) = (Status::Queued, Phase::Waits(Waits::Cap));
        let mut seen = snapshot(1, vec![end(row(1), Outcome::Done, ""), queued]);
        seen.header.idle = true;
        let all = Joined::new(&[], &seen).unwrap();
        assert!(!is_over_at_once(&all, &seen, true, false), "the host may be about to ask");
        assert!(is_over_at_once(&all, &seen, false, false));
        let first = Joined::new(&selectors::divide(&["1".to_owned()]).unwrap().1, &seen).unwrap();
        assert!(is_over_at_once(&first, &seen, true, false), "it has ended whatever a host does");
    }
}
