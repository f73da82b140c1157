//! What is said, and with which exit code the process ends, once the screen has gone.

use rustix::process::Signal;

use crate::cli::exit_code::DONE;
use crate::core::Snapshot;
use crate::journal::to_type;
use crate::tui::Left;
use crate::words::plain_text::count;
use crate::words::style::Style;

/// What a signal's number is added to.
const BY_SIGNAL: i32 = 128;

/// Returns the exit code of a screen that was left like this.
pub(super) fn exit_code(left: Left) -> u8 {
    let by = |signal: i32| u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX);
    match left {
        Left::Detached | Left::StoppedAll => DONE,
        Left::Signal(signal) => by(signal),
        Left::TerminalGone => by(Signal::HUP.as_raw()),
    }
}

/// Returns what is left of the fleet in one line, with the command that goes on; nothing if it never had an agent.
pub(super) fn last_line(left: Left, snapshot: &Snapshot, style: Style) -> Option<String> {
    if snapshot.rows.is_empty() {
        return None;
    }
    let id = &snapshot.header.fleet;
    let kpis = &snapshot.header.kpis;
    let counts = |of: &[(u32, &str)]| {
        let some = of.iter().filter(|(number, _)| *number > 0);
        some.map(|(number, what)| format!("{number} {what}")).collect::<Vec<_>>().join(", ")
    };
    let (what, command) = if left == Left::StoppedAll && kpis.queued > 0 {
        (format!("{} not started", kpis.queued), "resume")
    } else if left == Left::StoppedAll {
        ("all stopped".to_owned(), "results")
    } else if kpis.running + kpis.queued > 0 {
        (counts(&[(kpis.running, "running"), (kpis.queued, "queued")]), "attach")
    } else if kpis.failed == 0 {
        (format!("{} done", count(snapshot.rows.len(), "agent")), "results")
    } else {
        (counts(&[(kpis.done, "done"), (kpis.failed, "not done")]), "results")
    };
    let command = to_type(format_args!("{command} {id}"));
    Some(style.text(&format!("{id}: {what}{}{command}", style.dot())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{Kpis, Outcome};

    fn said(left: Left, kpis: Kpis) -> Option<String> {
        let mut last = snapshot(1, vec![end(row(1), Outcome::Done, "")]);
        last.header.kpis = kpis;
        last_line(left, &last, Style { unicode: true, ..Style::PLAIN })
    }

    #[test]
    fn the_exit_code_tells_a_signal_from_a_person() {
        let code = |number| exit_code(Left::Signal(number));
        assert_eq!([code(1), code(2), code(15)], [129, 130, 143]);
        assert_eq!(exit_code(Left::TerminalGone), 129);
        assert_eq!([Left::Detached, Left::StoppedAll].map(exit_code), [0, 0]);
    }

    #[test]
    fn one_line_says_what_is_left_and_how_to_go_on() {
        let live = Kpis { running: 3, queued: 12, done: 4, ..Kpis::default() };
        let line = |left, kpis| said(left, kpis).unwrap();
        assert_eq!(line(Left::Detached, live), "k3f: 3 running, 12 queued · fleet attach k3f");
        let queued = Kpis { queued: 1, ..Kpis::default() };
        assert_eq!(line(Left::Signal(15), queued), "k3f: 1 queued · fleet attach k3f");
        assert_eq!(line(Left::StoppedAll, live), "k3f: 12 not started · fleet resume k3f");
        let ended = Kpis { done: 4, failed: 1, ..Kpis::default() };
        assert_eq!(line(Left::StoppedAll, ended), "k3f: all stopped · fleet results k3f");
        assert_eq!(line(Left::Detached, ended), "k3f: 4 done, 1 not done · fleet results k3f");
        let done = Kpis { done: 1, ..Kpis::default() };
        assert_eq!(line(Left::Detached, done), "k3f: 1 agent done · fleet results k3f");
    }

    #[test]
    fn of_a_fleet_without_agents_nothing_is_said() {
        assert_eq!(last_line(Left::Detached, &snapshot(1, Vec::new()), Style::PLAIN), None);
    }
}
