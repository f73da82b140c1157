//! The handle of tasks that were queued behind the scenes: what `fleet dispatch` prints.
//!
//! What may go here: its shape for machines and its words for people, from one snapshot. What may not: queueing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::adapters::{FirstText, first_text};
use crate::core::{AgentId, BatchId, Hold, Row, Snapshot, Status};
use crate::journal::to_type;
use crate::runtime::summary::AgentFiles;
use crate::words::agent_numbers::agent_numbers;
use crate::words::plain_text::{count, cut_graphemes};
use crate::words::style::Style;
use crate::words::why;

/// Graphemes of a task that are told back (upstream's number, B7).
const GOAL: usize = 500;

/// What is known of tasks that a host has just queued.
#[derive(Debug)]
pub(crate) struct Handle<'a> {
    /// A snapshot in which they are.
    pub(crate) snapshot: &'a Snapshot,
    /// Folder of the fleet.
    pub(crate) fleet_dir: &'a Path,
    /// Name of the batch.
    pub(crate) batch: &'a BatchId,
    /// Their agents, in the order of the tasks.
    pub(crate) agents: &'a [AgentId],
    /// What was decided without being asked.
    pub(crate) notes: &'a [String],
}

#[derive(Serialize)]
struct Json<'a> {
    status: &'static str,
    mode: &'static str,
    count: usize,
    delegation_id: &'a BatchId,
    fleet: &'a str,
    batch: String,
    subagent_ids: &'a [AgentId],
    goals: Vec<String>,
    live_transcripts: Vec<PathBuf>,
    note: String,
    control_hint: String,
    live_transcripts_hint: String,
}

impl Handle<'_> {
    /// Returns the handle as one line of JSON (DESIGN §9).
    pub(crate) fn json(&self) -> String {
        let json = Json {
            status: "dispatched",
            mode: "background",
            count: self.agents.len(),
            delegation_id: self.batch,
            fleet: &self.snapshot.header.fleet.0,
            batch: self.tag(),
            subagent_ids: self.agents,
            goals: self.rows().map(|row| cut_graphemes(&row.task.text, GOAL)).collect(),
            live_transcripts: self.rows().map(|row| self.log(row)).collect(),
            note: self.note(Style { unicode: true, ..Style::PLAIN }),
            control_hint: self.control_hint(),
            live_transcripts_hint: self.logs_hint(),
        };
        serde_json::to_string(&json).expect("every key is a text, so that nothing can fail")
    }

    /// Returns the handle for people: what was queued where and how it stands, then what can be typed next.
    pub(crate) fn lines(&self, style: Style) -> Vec<String> {
        let fleet = &self.snapshot.header.fleet;
        let tasks = count(self.agents.len(), "task");
        let first = format!(
            "{tasks} dispatched to fleet {fleet} as {} ({}, {}): {}",
            self.tag(),
            agent_numbers(self.agents),
            self.batch,
            self.note(style)
        );
        let next = format!(
            "`{}` joins, `{}` follows the first, `{}` shows the answers",
            to_type(format_args!("wait {} --fleet {fleet}", self.batch)),
            to_type(format_args!("logs {} -f --fleet {fleet}", self.first())),
            to_type(format_args!("results {fleet} {}", self.batch)),
        );
        vec![style.text(&first), style.text(&next)]
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.agents.iter().filter_map(|id| self.snapshot.row(*id)).map(AsRef::as_ref)
    }

    fn tag(&self) -> String {
        let batches = self.snapshot.batches.iter();
        let view = batches.rev().find(|view| view.batch.id == *self.batch);
        view.map(|view| view.batch.tag()).unwrap_or_default()
    }

    fn first(&self) -> u32 {
        self.agents.first().map_or(0, |id| id.0)
    }

    /// Returns the file that tells most of an agent, whether it is there yet or not.
    fn log(&self, row: &Row) -> PathBuf {
        let files = AgentFiles::of(self.fleet_dir, row.id);
        match first_text(&row.task) {
            FirstText::Out => files.out,
            FirstText::Transcript => files.transcript,
        }
    }

    /// Says how the tasks stand right now, and what is to be known of their money.
    fn note(&self, style: Style) -> String {
        let mut parts = Vec::new();
        let ended = self.rows().filter(|row| row.status.is_ended()).count();
        let started = self.rows().filter(|row| row.status.is_live()).count();
        let queued = self.rows().filter(|row| row.status == Status::Queued).count();
        if started > 0 {
            parts.push(format!("{started} started"));
        }
        if ended > 0 {
            parts.push(format!("{ended} ended"));
        }
        if queued > 0 {
            parts.push(self.queued(queued));
        }
        let pays = self.rows().any(|row| row.task.traits.pays && row.task.budget.is_none());
        if self.snapshot.header.cap.is_none() && pays {
            parts.push("no cap".to_owned());
        }
        parts.extend(self.notes.iter().cloned());
        parts.join(style.dot())
    }

    /// Says that tasks wait, for what, and what lets a held queue go on.
    fn queued(&self, number: usize) -> String {
        let fleet = &self.snapshot.header.fleet;
        let next = match &self.snapshot.header.hold {
            Some(Hold::Owner | Hold::Back(_)) => Some(format!("release --fleet {fleet}")),
            Some(Hold::Cap) => Some(format!("cap USD --fleet {fleet}")),
            Some(Hold::Interrupted(_) | Hold::NotSaved(_)) | None => None,
        };
        let first = self.rows().find(|row| row.status == Status::Queued);
        let waits = first.and_then(|row| why::reason(row, self.snapshot.at, None));
        let waits = waits.map(|waits| format!(", {waits}")).unwrap_or_default();
        let next = next.map(|next| format!(" (`{}` lets them start)", to_type(next)));
        format!("{number} queued{waits}{}", next.unwrap_or_default())
    }

    fn control_hint(&self) -> String {
        let fleet = &self.snapshot.header.fleet;
        let first = self.first();
        format!(
            "`{}` shows them, `{}` joins them, `{}` and `{}` act on one",
            to_type(format_args!("show {} --fleet {fleet}", self.batch)),
            to_type(format_args!("wait {} --fleet {fleet}", self.batch)),
            to_type(format_args!("stop {first} --fleet {fleet}")),
            to_type(format_args!("steer {first} TEXT --fleet {fleet}")),
        )
    }

    fn logs_hint(&self) -> String {
        let fleet = &self.snapshot.header.fleet;
        format!(
            "`{}` follows one until it has ended; the files appear when the agents start (tail -F waits for them)",
            to_type(format_args!("logs {} -f --fleet {fleet}", self.first()))
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::core::testing::{row, snapshot};
    use crate::core::{NanoUsd, Phase, Task, Waits};

    fn dispatched() -> Snapshot {
        let mut queued = row(2);
        queued.status = Status::Queued;
        queued.phase = Phase::Waits(Waits::Slot);
        snapshot(4, vec![row(1), queued])
    }

    fn handle<'a>(snapshot: &'a Snapshot, batch: &'a BatchId, agents: &'a [AgentId]) -> Handle<'a> {
        Handle { snapshot, fleet_dir: Path::new("/f"), batch, agents, notes: &[] }
    }

    #[test]
    fn machines_get_exactly_the_specified_keys() {
        let (snapshot, batch, agents) =
            (dispatched(), BatchId::from_bits(1), [AgentId(1), AgentId(2)]);
        let text = handle(&snapshot, &batch, &agents).json();
        assert!(text.starts_with(r#"{"status":"dispatched","mode":"background","count":2,"#));
        let mut seen: Value = serde_json::from_str(&text).unwrap();
        for hint in ["control_hint", "live_transcripts_hint"] {
            let hint = seen.as_object_mut().unwrap().remove(hint).unwrap();
            assert!(hint.as_str().unwrap().contains("--fleet k3f"), "{hint}");
        }
        let expected = json!({
            "status": "dispatched", "mode": "background", "count": 2, "delegation_id": "deleg_00000001",
            "fleet": "k3f", "batch": "set 1", "subagent_ids": [1, 2], "goals": ["goal 1", "goal 2"],
            "live_transcripts": ["/f/agents/0001/out", "/f/agents/0002/out"],
            "note": "1 started · 1 queued, waits: slot"
        });
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn people_are_told_where_the_tasks_are_and_what_can_be_typed_next() {
        let (snapshot, batch, agents) =
            (dispatched(), BatchId::from_bits(1), [AgentId(1), AgentId(2)]);
        assert_eq!(
            handle(&snapshot, &batch, &agents).lines(Style { unicode: true, ..Style::PLAIN }),
            [
                "2 tasks dispatched to fleet k3f as set 1 (#1, #2, deleg_00000001): 1 started · 1 queued, waits: slot",
                "`fleet wait deleg_00000001 --fleet k3f` joins, `fleet logs 1 -f --fleet k3f` follows the first, `fleet \
                 results k3f deleg_00000001` shows the answers",
            ]
        );
    }

    #[test]
    fn tasks_that_cost_money_without_a_cap_say_so_and_a_held_queue_says_what_releases_it() {
        let mut paying = row(1);
        let traits = crate::core::KindTraits { pays: true, ..paying.task.traits };
        paying.task = std::sync::Arc::new(Task { traits, ..(*paying.task).clone() });
        paying.status = Status::Queued;
        paying.phase = Phase::Waits(Waits::Hold);
        let mut now = snapshot(1, vec![paying]);
        now.header.hold = Some(Hold::Owner);
        let (batch, agents) = (BatchId::from_bits(1), [AgentId(1)]);
        let note = |now: &Snapshot| handle(now, &batch, &agents).note(Style::PLAIN);
        let said = note(&now);
        assert!(said.contains("(`fleet release --fleet k3f` lets them start)"), "{said}");
        assert!(said.ends_with(" - no cap"), "{said}");
        now.header.cap = Some(NanoUsd::from_dollars(1));
        assert!(!note(&now).contains("no cap"), "{}", note(&now));
    }
}
