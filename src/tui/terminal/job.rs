//! Job control: whose the terminal is, and stopping.
//!
//! What may go here: process groups and the terminal they share. What may not: modes of the terminal.

use rustix::io::Errno;
use rustix::process::{Signal, getpgid, getpgrp, getppid, getsid, kill_current_process_group};
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
        Ok(group) if group == getpgrp() => Ground::Foreground,
        Ok(_) => Ground::Background,
        Err(Errno::NOTTY | Errno::OPNOTSUPP) if isatty(stdin()) => Ground::Foreground,
        Err(_) => Ground::Gone,
    }
}

/// Says whether somebody watches this job and can continue it. Nobody does where a terminal was opened for this program
/// alone; a stop there would be for ever.
pub(crate) fn can_be_continued() -> bool {
    let parent = getppid();
    // A script around us is in the same group, and has somebody who watches it.
    let is_in_our_group = getpgid(parent).is_ok_and(|group| group == getpgrp());
    let is_in_our_session = match (getsid(parent), getsid(None)) {
        (Ok(theirs), Ok(ours)) => theirs == ours,
        _ => false,
    };
    parent.is_some() && (is_in_our_group || is_in_our_session)
}

/// Tells the whole job to stop, so that a script around it stops too. Agents are in groups of their own and go on.
pub(crate) fn stop_group() {
    // STOP cannot be refused, caught, or discarded because nobody watches the job.
    let _ = kill_current_process_group(Signal::STOP);
}
