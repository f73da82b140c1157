//! The exit code of a run.
//!
//! What may go here: the order in which causes count. What may not: printing.

use crate::core::{AgentId, Outcome, Snapshot, Status};

/// All done.
pub const DONE: u8 = 0;
/// Some agent is not done, or a task never started.
pub const NOT_DONE: u8 = 1;
/// Usage or input, before any agent started.
pub const USAGE: u8 = 2;
/// Work was left because of the cap.
pub const CAP: u8 = 3;
/// No such fleet, or no host.
pub const NO_FLEET: u8 = 4;
/// The deadline has passed.
pub const DEADLINE: u8 = 124;

/// Returns the exit code of a fleet that is over, or that waits for a decision from outside.
pub fn exit_code(snapshot: &Snapshot) -> u8 {
    let header = &snapshot.header;
    if let Some(signal) = &header.interrupted {
        return by_signal(signal);
    }
    if header.past_deadline {
        return DEADLINE;
    }
    if header.left_by_cap {
        return CAP;
    }
    let open = snapshot
        .rows
        .iter()
        .any(|row| row.status != Status::Ended(Outcome::Done) && row.retried_by.is_none());
    if open { NOT_DONE } else { DONE }
}

/// Returns the exit code of some agents of such a fleet, with those that tried their tasks again.
pub fn exit_code_of(snapshot: &Snapshot, agents: &[AgentId]) -> u8 {
    let header = &snapshot.header;
    let open: Vec<Status> = agents
        .iter()
        .filter_map(|id| snapshot.row(*id))
        .filter(|row| row.status != Status::Ended(Outcome::Done) && row.retried_by.is_none())
        .map(|row| row.status)
        .collect();
    if open.is_empty() {
        return DONE;
    }
    if let Some(signal) = &header.interrupted {
        return by_signal(signal);
    }
    if header.past_deadline {
        return DEADLINE;
    }
    let is_left =
        |status: &Status| matches!(status, Status::Queued | Status::Ended(Outcome::Dropped));
    if header.left_by_cap && open.iter().any(is_left) { CAP } else { NOT_DONE }
}

/// Returns 128 and the number of the signal that ended Fleet; a name that is none of its own counts as SIGTERM.
fn by_signal(name: &str) -> u8 {
    match name {
        "SIGHUP" => 129,
        "SIGINT" => 130,
        _ => 143,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};

    fn with(change: impl FnOnce(&mut Snapshot)) -> u8 {
        let mut at_end = snapshot(9, vec![end(row(1), Outcome::Done, "")]);
        change(&mut at_end);
        exit_code(&at_end)
    }

    fn of(outcome: Outcome) -> u8 {
        exit_code(&snapshot(9, vec![end(row(1), Outcome::Done, ""), end(row(2), outcome, "x")]))
    }

    #[test]
    fn the_first_cause_that_applies_decides() {
        let left = |at_end: &mut Snapshot| at_end.header.left_by_cap = true;
        let late = |at_end: &mut Snapshot| {
            left(at_end);
            at_end.header.past_deadline = true;
        };
        assert_eq!(with(|_| ()), 0);
        assert_eq!(with(left), 3);
        assert_eq!(with(late), 124);
        for (signal, code) in [("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143)] {
            let interrupted = |at_end: &mut Snapshot| {
                late(at_end);
                at_end.header.interrupted = Some(signal.into());
            };
            assert_eq!(with(interrupted), code, "{signal}");
        }
    }

    /// C-83.
    #[test]
    fn an_agent_that_is_not_done_makes_it_non_zero() {
        use Outcome as O;
        assert_eq!(of(O::Done), 0);
        for outcome in [
            O::Failed,
            O::Timeout,
            O::Cancelled,
            O::Interrupted,
            O::Stalled,
            O::OverBudget,
            O::Lost,
            O::Dropped,
        ] {
            assert_eq!(of(outcome), 1, "{outcome}");
        }
    }

    #[test]
    fn a_task_that_was_tried_again_counts_by_its_new_agent() {
        let mut failed = end(row(1), Outcome::Failed, "x");
        failed.retried_by = Some(AgentId(2));
        assert_eq!(
            exit_code(&snapshot(9, vec![failed.clone(), end(row(2), Outcome::Done, "")])),
            0
        );
        assert_eq!(exit_code(&snapshot(9, vec![failed, end(row(2), Outcome::Failed, "y")])), 1);
    }

    #[test]
    fn of_some_agents_only_these_decide() {
        let mut queued = row(3);
        queued.status = Status::Queued;
        let rows = vec![end(row(1), Outcome::Done, ""), end(row(2), Outcome::Failed, "x"), queued];
        let mut now = snapshot(9, rows);
        let code = |now: &Snapshot, id| exit_code_of(now, &[AgentId(id)]);
        assert_eq!([1, 2, 3].map(|id| code(&now, id)), [0, 1, 1]);
        now.header.left_by_cap = true;
        assert_eq!([1, 2, 3].map(|id| code(&now, id)), [0, 1, 3]);
        now.header.interrupted = Some("SIGINT".into());
        assert_eq!([1, 2, 3].map(|id| code(&now, id)), [0, 130, 130]);
    }

    #[test]
    fn a_task_that_is_still_queued_is_not_done() {
        let mut queued = row(2);
        queued.status = Status::Queued;
        assert_eq!(exit_code(&snapshot(9, vec![end(row(1), Outcome::Done, ""), queued])), 1);
        assert_eq!(exit_code(&snapshot(9, Vec::new())), 0);
    }
}
