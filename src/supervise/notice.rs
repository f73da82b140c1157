//! Runs a program that is told of a notice: through a process of Fleet's own, which ends all of it in time, whatever
//! becomes of the host meanwhile.
//!
//! What may go here: the host's side of one such run. What may not: that process (`shim`), when and of what somebody is
//! told.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::launch::{self, Launcher};
use super::shim::NOTICE_WORD;

/// Bytes of the answer that are read: it is one clause.
const MOST_BYTES: u64 = 4096;

/// One program to be told.
#[derive(Debug, Clone, Copy)]
pub struct NoticeRun<'a> {
    /// Program and arguments; no shell reads them.
    pub argv: &'a [String],
    /// Most time for it and all that it starts.
    pub limit: Duration,
    /// Folder in which it runs; `/` if there is no such folder.
    pub folder: &'a Path,
    /// What it reads from its standard input.
    pub text: &'a str,
}

/// Runs a program and waits for its end, and for that of everything that it has started. It has this process's environment
/// without the mark of the agent that this process may be in, a process group of its own, and no output. An error is a
/// clause for people: it could not be started, has failed, or was not done in time and was ended.
pub fn run_notice(launcher: &Launcher, run: NoticeRun<'_>) -> Result<(), String> {
    let refused = |error| format!("no process could be started for it: {error}");
    let mut command = launcher.to_other_command("fleet: notice");
    command.arg(NOTICE_WORD).arg(run.limit.as_millis().to_string());
    command.arg(run.text.len().to_string()).arg(run.folder).args(run.argv);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = launch::spawn_own(&mut command).map_err(refused)?;
    if let Some(mut stdin) = child.stdin.take() {
        // That process reads all of it before anything else. One that has died says so below.
        let _ = stdin.write_all(run.text.as_bytes());
    }
    let mut told = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(MOST_BYTES).read_to_string(&mut told);
    }
    launch::reap(child);
    match told.trim() {
        "ok" => Ok(()),
        "" => Err("the process that was to run it has died".to_owned()),
        why => Err(why.to_owned()),
    }
}
