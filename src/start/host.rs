//! The process that hosts a fleet in the background: what `fleet host ID` runs, which only Fleet itself starts.
//!
//! It says on its standard output, with one byte, that it listens; troubles go to its standard error, the fleet's
//! `host.log`. What may go here: this process from start to end. What may not: clients (`control`), the loop
//! (`runtime`).

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::join::is_unused;
use crate::cli::arguments::LimitArguments;
use crate::cli::notice_source;
use crate::cli::plan::options_behind;
use crate::control::{Listener, Stay, serve};
use crate::core::{Command, FleetId};
use crate::journal::{FleetDir, HostLock, StateDir, Taken, delete};
use crate::runtime::{
    Clock, FleetHandle, Host, HostError, HostThread, Setup, StartError, depth, new_loop,
};
use crate::supervise::{self, Launcher};
use crate::words::plain_text::one_line;
use crate::words::time_text::timestamp;

/// First argument of a host.
pub(super) const HOST_WORD: &str = "host";
/// Before the limits that it lays over the options in force, as JSON: it goes on, whatever held the queue.
pub(super) const GO_ON_WORD: &str = "--go-on";
/// How long a host stays after there was last something to do, or somebody there.
const LINGER: Duration = Duration::from_secs(30);
/// Screens count time for themselves, so a sign of life every three seconds is enough for them, and lets both sleep.
const LOOKS_PER_SIGN: u32 = 3;
/// Time beyond their grace in which agents of a fleet that goes with its watcher have to end, and again once killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a host is told.
#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    fleet: FleetId,
    state_dir: PathBuf,
    stay: Stay,
    /// The queue goes on, with these laid over the options in force; `None`: what waits for its owner's word still does.
    go_on: Option<Box<LimitArguments>>,
}

/// Runs the host if this process was started as one; `None` otherwise. Must come before anything is opened and any
/// thread is started.
pub(super) fn host_main() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != OsStr::new(HOST_WORD) {
        return None;
    }
    let ended = parse(words).and_then(|arguments| run(&arguments));
    Some(ended.map_or_else(
        |why| {
            log(&why);
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    ))
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
    let usage =
        || "this is how Fleet starts a fleet's host by itself; people use `fleet`".to_owned();
    let text = |word: Option<OsString>| word.and_then(|word| word.into_string().ok());
    let fleet = FleetId(text(words.next()).ok_or_else(usage)?);
    let mut state_dir = None;
    let mut stay = Stay { linger: LINGER, is_ephemeral: false };
    let mut go_on = None;
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--state-dir") => state_dir = words.next().map(PathBuf::from),
            Some(GO_ON_WORD) => {
                let limits = text(words.next()).and_then(|text| serde_json::from_str(&text).ok());
                go_on = Some(limits.ok_or_else(usage)?);
            }
            Some("--ephemeral") => stay.is_ephemeral = true,
            Some("--linger-ms") => {
                let millis = text(words.next()).and_then(|text| text.parse().ok());
                stay.linger = Duration::from_millis(millis.ok_or_else(usage)?);
            }
            _ => return Err(usage()),
        }
    }
    Ok(Arguments { fleet, state_dir: state_dir.ok_or_else(usage)?, stay, go_on })
}

fn run(arguments: &Arguments) -> Result<(), String> {
    supervise::detach();
    set_name();
    let state = StateDir::open(Some(&arguments.state_dir)).map_err(|error| error.to_string())?;
    let dir = state.fleet(&arguments.fleet);
    // Tasks name their folders in full, and no folder is to be kept in use by a host.
    std::env::set_current_dir("/").map_err(|error| format!("could not go to /: {error}"))?;
    // This process starts nothing but shims.
    supervise::adopt_orphans();
    let launcher = Launcher::this_executable().map_err(|error| error.to_string())?;
    let depth = depth();
    // Nobody wants to hear of a demonstration elsewhere.
    let notices = notice_source(depth).filter(|_| !arguments.stay.is_ephemeral);
    let setup = Setup { launcher, depth, looks_per_sign: LOOKS_PER_SIGN, notices };
    let (hosted, go_on) = (dir.clone(), arguments.go_on.clone());
    let made = move || match go_on {
        // Under the fleet's lock: until then anybody may have changed them.
        Some(limits) => Host::recover(hosted, |before| options_behind(&limits, before), &setup),
        None => Host::open(hosted, &setup),
    };
    let thread = match HostThread::start(made) {
        // Another host was faster, and serves whoever started this one.
        Err(StartError::Host(HostError::Taken(Taken::Held { .. }))) => return Ok(()),
        started => started.map_err(|error| error.to_string())?,
    };
    let looped = new_loop().map_err(|error| format!("could not make a loop: {error}"))?;
    let handle = thread.handle.clone();
    let logged = RefCell::default();
    let end = looped.block_on(host(&dir, handle, arguments.stay, &logged));
    let has_agents = !thread.handle.snapshot().rows.is_empty();
    // With it go the connections, and the handles that they hold.
    drop(looped);
    let finished = thread.end();
    if let Some(why) = finished.notice_trouble.filter(|why| Some(why) != logged.borrow().as_ref()) {
        log(&format!("a notice was not told: {}", one_line(&why)));
    }
    if !finished.is_whole {
        return Err("the fleet's loop failed; its agents go on".to_owned());
    }
    if let Some(name) = end? {
        log(&format!("told to go by {name}; agents go on, and the next host takes them over"));
    }
    if arguments.stay.is_ephemeral {
        remove_all(&state, &dir);
    } else if !has_agents {
        remove_if_unused(&state, &dir);
    }
    Ok(())
}

/// Hosts until the end: first the socket goes, then the caller lets go of the fleet. Returns the signal that was the
/// reason, if one was.
async fn host(
    dir: &FleetDir,
    mut handle: FleetHandle,
    stay: Stay,
    logged: &RefCell<Option<String>>,
) -> Result<Option<&'static str>, String> {
    let listen = |kind: SignalKind| signal(kind).map_err(|error| format!("no signals: {error}"));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    // Heard and not heeded: a host has no terminal that could hang up.
    let _hang_up = listen(SignalKind::hangup())?;
    let listener = Listener::bind(dir).map_err(|error| error.to_string())?;
    tell_ready();
    let troubles = handle.clone();
    let end = tokio::select! {
        () = log_troubles(troubles, logged) => None,
        () = serve(&listener, handle.clone(), stay) => None,
        _ = terminate.recv() => Some("SIGTERM"),
        _ = interrupt.recv() => Some("SIGINT"),
    };
    if stay.is_ephemeral {
        let grace = dir.read_file().map_or(PATIENCE, |file| file.options.grace);
        stop_everything(&mut handle, grace).await;
    }
    drop(listener);
    Ok(end)
}

/// Writes down why a notice was not told, whenever that is another reason than before. Never ends.
async fn log_troubles(mut handle: FleetHandle, logged: &RefCell<Option<String>>) {
    while let Ok(snapshot) = handle.changed().await {
        let trouble = &snapshot.header.notice_trouble;
        if *trouble != *logged.borrow() {
            if let Some(why) = trouble {
                log(&format!("a notice was not told: {}", one_line(why)));
            }
            logged.borrow_mut().clone_from(trouble);
        }
    }
    std::future::pending::<()>().await;
}

/// Ends all agents: asked first, killed when their grace is over.
async fn stop_everything(handle: &mut FleetHandle, grace: Duration) {
    for (command, time) in
        [(Command::Stop(None), grace.saturating_add(PATIENCE)), (Command::Kill(None), PATIENCE)]
    {
        let ended = async {
            // A reply waits for the disk, and what was asked is done without it.
            let _ = timeout(PATIENCE, handle.send(command)).await;
            while !handle.snapshot().header.all_done && handle.changed().await.is_ok() {}
        };
        if timeout(time, ended).await.is_ok() {
            return;
        }
    }
    log("some agents could not be ended");
}

/// Gives this process a name in lists of processes: it was started as `/proc/self/exe`.
fn set_name() {
    // A name that is not given is missed by people only.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"fleet-host");
}

/// Says that clients can come, and lets go of the pipe on which that is said.
fn tell_ready() {
    let mut stdout = io::stdout();
    // Whoever started this host may have left.
    let _ = stdout.write_all(b".").and_then(|()| stdout.flush());
    if let Ok(null) = fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Deletes a fleet that never had an agent, unless somebody is about to use it.
fn remove_if_unused(state: &StateDir, dir: &FleetDir) {
    // What stays is an empty fleet that is pruned later.
    let Ok(_making) = state.lock_making() else { return };
    let Ok(_lock) = HostLock::take(dir) else { return };
    if is_unused(dir) {
        let _ = delete(state, dir);
    }
}

/// Deletes a fleet that was only there to be watched, and the state folder if it was made for that fleet alone.
fn remove_all(state: &StateDir, dir: &FleetDir) {
    let is_alone = state.list().is_ok_and(|ids| ids.iter().all(|id| id == dir.id()));
    let path = if is_alone { state.path() } else { dir.path() };
    if let Err(error) = fs::remove_dir_all(path) {
        log(&format!("could not delete {}: {error}", path.display()));
    }
}

/// Writes a line to the host's log, which is its standard error.
fn log(line: &str) {
    // There is nobody else to tell.
    let _ = writeln!(io::stderr(), "{} {line}", timestamp(Clock::wall()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::Parallel;

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn a_host_is_told_its_fleet_and_how_long_to_stay() {
        let arguments = parsed(&["k3f", "--state-dir", "/s"]).unwrap();
        let stay = Stay { linger: LINGER, is_ephemeral: false };
        let fleet = FleetId("k3f".to_owned());
        let state_dir = PathBuf::from("/s");
        assert_eq!(arguments, Arguments { fleet, state_dir, stay, go_on: None });
        let limits = LimitArguments { max_parallel: Some(Parallel(None)), ..Default::default() };
        let text = serde_json::to_string(&limits).unwrap();
        let arguments = parsed(&["k3f", "--state-dir", "/s", GO_ON_WORD, &text]).unwrap();
        assert_eq!(arguments.go_on.as_deref(), Some(&limits));
        let words = ["k3f", "--linger-ms", "7", "--ephemeral", "--state-dir", "/s"];
        let stay = Stay { linger: Duration::from_millis(7), is_ephemeral: true };
        assert_eq!(parsed(&words).unwrap().stay, stay);
        for wrong in [
            &[] as &[&str],
            &["k3f"],
            &["k3f", "--state-dir"],
            &["k3f", "--x"],
            &["k3f", GO_ON_WORD, "{"],
        ] {
            assert!(parsed(wrong).unwrap_err().contains("people use `fleet`"), "{wrong:?}");
        }
    }
}
