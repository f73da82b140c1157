//! What `fleet wait` waits for: when it is over, and what came of it.
//!
//! What may go here: rules about one snapshot, and their words. What may not: waiting.

use std::collections::BTreeSet;

use super::exit_code::{DONE, exit_code, exit_code_of};
use super::hosts::held_alone;
use super::selectors::{self, Selector};
use crate::core::{AgentId, Hold, Phase, Snapshot, Waits};
use crate::journal::to_type;
use crate::words::plain_text::{count, headline};
use crate::words::status_line::status_line;
use crate::words::style::Style;
use crate::words::why;

/// Graphemes of a cause.
const CAUSE: usize = 120;

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Everything in the fleet, also what comes meanwhile.
    All,
    /// These agents, and those that try their tasks again.
    Some(Vec<AgentId>),
}

impl Joined {
    /// Finds what selectors mean; none at all mean everything.
    pub(crate) fn new(selectors: &[Selector], snapshot: &Snapshot) -> Result<Self, String> {
        if selectors.is_empty() {
            return Ok(Self::All);
        }
        selectors::select(selectors, snapshot).map(Self::Some)
    }

    /// Returns the agents, with those that try their tasks again; `None` if all are meant.
    pub(crate) fn agents(&self, snapshot: &Snapshot) -> Option<Vec<AgentId>> {
        let Self::Some(ids) = self else { return None };
        let mut all: BTreeSet<AgentId> = ids.iter().copied().collect();
        // A retry has a greater number than what it tries again, so that one pass finds the last of them.
        for row in &snapshot.rows {
            if let Some(again) = row.retried_by.filter(|_| all.contains(&row.id)) {
                all.insert(again);
            }
        }
        Some(all.into_iter().collect())
    }

    /// Says whether there is nothing more to wait for: all have ended, or what has not needs a decision from outside.
    /// With `is_asking` an open cap question is being asked here, and its answer is waited for.
    pub(crate) fn is_over(&self, snapshot: &Snapshot, is_asking: bool) -> bool {
        let has_ended = match self.agents(snapshot) {
            None => snapshot.header.all_done,
            Some(ids) => ids.iter().all(|id| has_ended(snapshot, *id)),
        };
        has_ended || (snapshot.header.idle && !(is_asking && snapshot.question.is_some()))
    }

    /// Says whether everything has ended.
    pub(crate) fn has_ended(&self, snapshot: &Snapshot) -> bool {
        match self.agents(snapshot) {
            None => snapshot.header.all_done,
            Some(ids) => ids.iter().all(|id| has_ended(snapshot, *id)),
        }
    }

    /// Returns the exit code, the same that `fleet run` would have.
    pub(crate) fn exit_code(&self, snapshot: &Snapshot) -> u8 {
        match self.agents(snapshot) {
            None if snapshot.rows.is_empty() => DONE,
            None => exit_code(snapshot),
            Some(ids) => exit_code_of(snapshot, &ids),
        }
    }

    /// Returns what came of it: the numbers of the fleet, and what lets it go on if it does not by itself.
    pub(crate) fn lines(&self, snapshot: &Snapshot, style: Style) -> Vec<String> {
        let mut lines = vec![status_line(snapshot, snapshot.at, style, usize::MAX)];
        if !self.has_ended(snapshot) && snapshot.header.idle {
            lines.push(style.text(&stuck(snapshot)));
        }
        lines
    }
}

fn has_ended(snapshot: &Snapshot, id: AgentId) -> bool {
    snapshot.row(id).is_none_or(|row| row.status.is_ended())
}

/// Says why nothing goes on, and which command lets it.
pub(super) fn stuck(snapshot: &Snapshot) -> String {
    let header = &snapshot.header;
    let fleet = &header.fleet;
    let queued = count(usize::try_from(header.kpis.queued).unwrap_or(usize::MAX), "task");
    let goes_on = |words: &str| to_type(format_args!("{words} --fleet {fleet}"));
    match &header.hold {
        Some(Hold::Interrupted(signal)) => format!(
            "{queued} not started, interrupted by {signal}: `{}` goes on",
            to_type(format_args!("resume {fleet}"))
        ),
        Some(Hold::NotSaved(why)) => {
            format!("{queued} not started, nothing can be saved: {}", headline(why, CAUSE))
        }
        Some(Hold::Owner | Hold::Back(_)) => {
            format!("{queued} held: `{}` lets them start", goes_on("release"))
        }
        Some(Hold::Cap) | None if let Some(held) = held_alone(snapshot) => held,
        Some(Hold::Cap) | None if snapshot.question.is_some() || header.left_by_cap => {
            let cap = header.cap.map(|cap| format!(" of ${}", cap.to_exact())).unwrap_or_default();
            let held = snapshot.held_agents().len();
            let others = count(snapshot.queue.len().saturating_sub(held), "task");
            let rest = match held {
                0 => String::new(),
                1 => "; 1 more held by itself".to_owned(),
                several => format!("; {several} more held by themselves"),
            };
            format!("{others} held at the cap{cap}: `{}` goes on{rest}", goes_on("cap USD"))
        }
        Some(Hold::Cap) | None => {
            let mut rows = snapshot.queue.iter().filter_map(|id| snapshot.row(*id));
            let first = rows.find(|row| !row.held);
            let waits = first.and_then(|row| why::reason(row, snapshot.at, None));
            let waits = waits.map(|waits| format!(" ({waits})")).unwrap_or_default();
            let needs = first.is_some_and(|row| matches!(row.phase, Phase::Waits(Waits::Env(_))));
            if needs {
                let resume = to_type(format_args!("resume {fleet}"));
                return format!("{queued} cannot start{waits}: set that, and `{resume}` goes on");
            }
            format!("{queued} cannot start{waits}: `{}` tries again", goes_on("release"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{Moment, NanoUsd, Outcome, Question, QuestionId, Row, Status};

    fn queued(id: u32) -> Row {
        let mut queued = row(id);
        queued.status = Status::Queued;
        queued
    }

    fn failed_and_tried_again() -> Vec<Row> {
        let mut failed = end(row(1), Outcome::Failed, "x");
        failed.retried_by = Some(AgentId(3));
        vec![failed, row(2), row(3)]
    }

    #[test]
    fn who_waits_for_a_task_waits_for_its_next_try_as_well() {
        let joined = Joined::Some(vec![AgentId(1)]);
        let mut rows = failed_and_tried_again();
        assert!(!joined.is_over(&snapshot(1, rows.clone()), false));
        rows[2] = end(row(3), Outcome::Done, "");
        let now = snapshot(2, rows);
        assert!(joined.is_over(&now, false), "agent 2 is not waited for");
        assert_eq!((joined.exit_code(&now), Joined::All.is_over(&now, false)), (0, false));
    }

    #[test]
    fn a_queue_that_needs_a_decision_is_not_waited_for_and_its_way_on_is_told() {
        let mut now = snapshot(1, vec![end(row(1), Outcome::Done, ""), queued(2)]);
        assert!(!Joined::All.is_over(&now, false), "it is about to start");
        now.header.idle = true;
        for (hold, left_by_cap, code, told) in [
            (
                Some(Hold::Owner),
                false,
                1,
                "1 task held: `fleet release --fleet k3f` lets them start",
            ),
            (
                Some(Hold::Cap),
                true,
                3,
                "1 task held at the cap of $2.00: `fleet cap USD --fleet k3f` goes on",
            ),
            (None, false, 1, "1 task cannot start: `fleet release --fleet k3f` tries again"),
        ] {
            now.header.hold = hold;
            now.header.left_by_cap = left_by_cap;
            now.header.cap = left_by_cap.then_some(NanoUsd::from_dollars(2));
            assert!(Joined::All.is_over(&now, false));
            assert_eq!(Joined::All.exit_code(&now), code);
            assert_eq!(Joined::All.lines(&now, Style::PLAIN)[1], told);
        }
    }

    #[test]
    fn what_is_held_by_itself_is_not_said_to_be_held_at_the_cap() {
        let mut held = queued(2);
        held.held = true;
        let mut now = snapshot(1, vec![end(row(1), Outcome::Done, ""), held.clone(), queued(3)]);
        (now.header.left_by_cap, now.header.cap) = (true, Some(NanoUsd::from_dollars(2)));
        now.queue = vec![AgentId(2), AgentId(3)];
        assert_eq!(
            stuck(&now),
            "1 task held at the cap of $2.00: `fleet cap USD --fleet k3f` goes on; 1 more held by itself"
        );
        // The others were dropped, or the cap was raised since.
        now.queue = vec![AgentId(2)];
        for hold in [None, Some(Hold::Cap)] {
            now.header.hold = hold;
            assert_eq!(stuck(&now), "1 task held: `fleet release 2 --fleet k3f` lets it start");
        }
    }

    #[test]
    fn an_open_question_is_waited_for_only_by_whom_it_is_asked() {
        let mut now = snapshot(1, vec![queued(1)]);
        now.header.idle = true;
        now.header.left_by_cap = true;
        now.question = Some(Question {
            id: QuestionId(1),
            asked: Moment(1),
            cap: NanoUsd::from_dollars(1),
            committed: NanoUsd::from_dollars(1),
            default: NanoUsd::from_dollars(2),
            queued: 1,
            queue_estimate: None,
        });
        assert!(Joined::All.is_over(&now, false) && !Joined::All.is_over(&now, true));
        assert_eq!(Joined::All.exit_code(&now), 3);
    }

    #[test]
    fn nothing_at_all_is_over_and_done() {
        let now = snapshot(1, Vec::new());
        assert!(Joined::All.is_over(&now, false));
        assert_eq!(
            (Joined::All.exit_code(&now), Joined::All.lines(&now, Style::PLAIN).len()),
            (0, 1)
        );
    }
}
