//! Job control: whose the terminal is, and stopping.
//!
//! What may go here: process groups and the terminal they share. What may not: modes of the terminal.

use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio::stdin;
use rustix::termios::{isatty, tcgetpgrp};

/// Whose the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// Ours.
    Foreground,
    /// Another job's; touching it would stop us, or spoil what is shown there.
    Background,
    /// Nobody's: it has gone.
    Gone,
}

/// Says whose the terminal is. One that controls no process of ours can always be used.
pub(crate) fn ground() -> Ground {
    match tcgetpgrp(stdin()) {
        Ok(group) if group.as_raw_pid() == getpgrp().as_raw() => Ground::Foreground,
        Ok(_) => Ground::Background,
        Err(Errno::NOTTY | Errno::OPNOTSUPP) if isatty(stdin()) => Ground::Foreground,
        Err(_) => Ground::Gone,
    }
}

/// Says whether somebody watches this job and can continue it. Nobody does where a terminal was opened for this program
/// alone; a stop there would be for ever.
pub(crate) fn can_be_continued() -> bool {
    let parent = getppid();
    // A parent, a group or a session outside of our process namespace has the number 0 (`pid_namespaces(7)`), as in a
    // container's first shell: 0 is no answer, and two of them are not the same one.
    let is_same = |theirs: nix::Result<Pid>, ours: nix::Result<Pid>| {
        theirs == ours && theirs.is_ok_and(|id| id.as_raw() > 0)
    };
    // A script around us is in the same group, and has somebody who watches it.
    let is_in_our_group = is_same(getpgid(Some(parent)), Ok(getpgrp()));
    // Not so where the script is the first process of the session: whoever started that one cannot continue its group.
    let leads_session = getsid(None) == Ok(getpgrp());
    let is_watched = is_in_our_group || is_same(getsid(Some(parent)), getsid(None));
    parent.as_raw() > 0 && !leads_session && is_watched
}

/// Tells the whole job to stop, so that a script around it stops too. Agents are in groups of their own and go on.
pub(crate) fn stop_group() {
    // STOP cannot be refused, caught, or discarded because nobody watches the job.
    let _ = kill_current_process_group(Signal::STOP);
}
