//! Asks a program something that it answers at once, such as its version, and leaves nothing of it behind.
//!
//! What may go here: one short run. What may not: agents, what an answer means.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Bytes of an answer that are kept: a version is in the first lines.
const MOST_BYTES: usize = 16 * 1024;
/// How often it is looked whether a program that has said everything has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// Why a program has told nothing.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The system would not start it.
    #[error("it could not be started: {0}")]
    Refused(#[from] io::Error),
    /// It was still silent when its time was up.
    #[error("it did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// It has ended without a word.
    #[error("it ended without an answer")]
    Silent,
}

/// Returns what a program prints on its standard output, the first 16 KiB of it, within a limit of time. It reads the end of
/// input at once, has these variables beside ours, and is a process group of its own, which is killed at the end.
pub fn answer(
    program: &Path,
    arguments: &[&str],
    variables: &BTreeMap<String, String>,
    limit: Duration,
) -> Result<String, Unanswered> {
    let mut command = Command::new(program);
    command.args(arguments).envs(variables).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[expect(clippy::disallowed_methods, reason = "a program that hangs is given up after a time")]
    let until = Instant::now().checked_add(limit);
    let mut child = command.spawn()?;
    let told = read(&mut child, until).inspect_err(|_| end(&mut child))?;
    // What it has said counts, even if it does not end then.
    while !has_ended(&child) && !left(until).is_zero() {
        let _ = poll(&mut [], Some(&timespec(PAUSE)));
    }
    let is_late = left(until).is_zero();
    end(&mut child);
    match told.trim() {
        "" if is_late => Err(Unanswered::Late(limit)),
        "" => Err(Unanswered::Silent),
        _ => Ok(told),
    }
}

/// Reads until the end, the limit of time or that of bytes.
fn read(child: &mut Child, until: Option<Instant>) -> Result<String, Unanswered> {
    let mut bytes = Vec::new();
    let Some(stdout) = child.stdout.as_mut() else { return Ok(String::new()) };
    let mut buffer = [0; 4096];
    while bytes.len() < MOST_BYTES {
        let time = left(until);
        let mut polled = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(time))) {
            Ok(0) => break,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(Unanswered::Refused(error.into())),
        }
        match stdout.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Says whether a program has ended, without waiting for it: its number stays its own.
fn has_ended(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let Some(pid) = pid(child) else { return true };
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Ends what is left of the group, and the program. As long as nobody has waited for that, its number is no other group's.
fn end(child: &mut Child) {
    if let Some(group) = pid(child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[expect(clippy::disallowed_methods, reason = "a program that hangs is given up after a time")]
fn left(until: Option<Instant>) -> Duration {
    until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
}

fn timespec(time: Duration) -> Timespec {
    Timespec::try_from(time).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any machine takes for it, so that a test that waits for it has failed.
    const LONG: Duration = Duration::from_mins(2);

    fn ask(script: &str, limit: Duration) -> Result<String, Unanswered> {
        let quiet = BTreeMap::from([("QUIET".to_owned(), "yes".to_owned())]);
        answer(Path::new("/bin/sh"), &["-c", script], &quiet, limit)
    }

    #[test]
    fn an_answer_is_what_stands_on_standard_output() {
        let told = ask("cat; echo noise >&2; echo \"tool 1.2.3 $QUIET\"; exit 3", LONG).unwrap();
        assert_eq!(told, "tool 1.2.3 yes\n");
        assert!(matches!(ask("exit 0", LONG), Err(Unanswered::Silent)));
        let refused = answer(Path::new("/nonexistent"), &[], &BTreeMap::new(), LONG);
        assert!(matches!(refused, Err(Unanswered::Refused(_))), "{refused:?}");
        let flood = ask("while :; do echo 0123456789012345678901234567890123456789; done", SHORT);
        assert!(flood.unwrap().len() < 2 * MOST_BYTES);
    }

    /// As long as a program that hangs is waited for here.
    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn a_program_that_hangs_is_given_up_and_nothing_of_it_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", pid.display());
        // It may take a while until the script has come that far.
        let late = ask(&script, Duration::from_secs(3));
        assert!(matches!(late, Err(Unanswered::Late(_))), "{late:?}");
        let sleeper: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let sleeper = Pid::from_raw(sleeper).unwrap();
        // It is killed, and gone once whoever inherited it has looked.
        while rustix::process::test_kill_process(sleeper).is_ok() {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", sleeper.as_raw_nonzero()));
            if state.is_ok_and(|state| state.contains(") Z ")) {
                break;
            }
            let _ = poll(&mut [], Some(&timespec(PAUSE)));
        }
        let told = ask("echo 1.2.3; exec sleep 1000", SHORT).unwrap();
        assert_eq!(told, "1.2.3\n", "what it has said counts");
    }
}
