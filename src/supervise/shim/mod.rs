//! The shim: the process that owns one agent's tree, from before it starts until nothing of it is left.
//!
//! What may go here: what runs in the shim's own process. What may not: anything that needs a runtime, a thread or the
//! command line; its start is on the way of every agent.

mod exec;
mod inlet;
mod notice;
mod orphan;
mod refusal;
mod signals;
mod start;
mod tree;
mod watchdog;

use std::ffi::OsStr;
use std::process::ExitCode;

/// First argument of a shim.
pub(super) const SHIM_WORD: &str = "shim";

/// First argument of the process that becomes the agent.
const EXEC_WORD: &str = "agent-exec";

/// First argument of the process that runs a program which is told of a notice.
pub(super) const NOTICE_WORD: &str = "notice-run";

/// Exit code of a shim that could not even write down why.
const HOPELESS: u8 = 70;

/// Leaves the session of whoever started this process and closes what was inherited above the standard streams. Must
/// come before anything is opened and any thread is started.
pub fn detach() {
    start::detach();
}

/// Runs the shim if this process was started as one; `None` otherwise. Must come first in `main`: nothing may have been
/// opened, and no thread started.
pub fn shim_main() -> Option<ExitCode> {
    super::launch::note_asked();
    let mut args = std::env::args_os().skip(1);
    let word = args.next()?;
    if word == OsStr::new(SHIM_WORD) {
        let dir = args.next()?;
        return Some(watchdog::run(&super::AgentDir::new(dir)));
    }
    if word == OsStr::new(NOTICE_WORD) {
        return Some(notice::run(args));
    }
    (word == OsStr::new(EXEC_WORD)).then(|| exec::run(args))
}
