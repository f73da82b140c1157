//! What is said of the fleet as a whole and of the connection to it.
//!
//! What may go here: sentences. What may not: when they are said, what is said of a key or an answer.

use crate::core::Snapshot;
use crate::tui::keymap::key_name;
use crate::words::plain_text::count;

/// What is said to whoever wants something of a fleet without a host.
pub(super) fn only_looked_at() -> String {
    format!("this fleet has ended: {} runs its tasks again", key_name!(Agents, RunAgain))
}

/// Returns what is said when nothing of a fleet lives or waits any more.
pub(super) fn all_ended(agents: usize) -> String {
    let results = key_name!(Agents, Results);
    match agents {
        1 => format!("the agent has ended: {results} shows results"),
        more => format!("all {} ended: {results} shows results", count(more, "agent")),
    }
}

/// Returns what is said of agents that ended while no screen was there.
pub(super) fn ended_meanwhile(agents: usize) -> String {
    format!("{agents} ended while you were away")
}

/// Returns what is said of a connection that has come back.
pub(super) fn linked_again(is_same_host: bool, snapshot: &Snapshot) -> &'static str {
    match (is_same_host, snapshot.header.kpis.running > 0) {
        (true, _) => "the connection was lost and is back: the host has watched all the time",
        (false, true) => "the host had gone: another one watches now, agents went on",
        (false, false) => "the host had gone: another one watches now",
    }
}
