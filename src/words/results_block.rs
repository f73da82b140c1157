//! What the agents answered, for a program with little room: one block a batch as JSON, long answers without their middle.
//!
//! What may go here: its shape, from one snapshot. What may not: the summary with everything (`runtime::summary`).

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;

use super::results::{Around, Shortened, common_cause, output, shortened, status_word};
use super::time_text::timestamp;
use crate::core::{AgentId, BatchView, CostStatus, ExitReason, Outcome, Row, Snapshot, Status};
use crate::runtime::roster::{number, rounded};
use crate::runtime::summary::AgentFiles;

/// Version of this shape.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Blocks<'a> {
    version: u32,
    fleet: &'a str,
    state: &'static str,
    batches: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    id: &'a str,
    tag: String,
    status: &'static str,
    origin: Option<&'a str>,
    context: Option<&'a str>,
    dispatched: String,
    age_seconds: f64,
    /// From the dispatch to the last end; null while an agent has not ended.
    duration_seconds: Option<f64>,
    /// Why all of them failed, if all did for one reason.
    cause: Option<String>,
    tasks: Vec<TaskBlock<'a>>,
}

#[derive(Serialize)]
struct TaskBlock<'a> {
    index: u32,
    of: u32,
    agent: AgentId,
    task: &'a str,
    status: &'static str,
    exit_reason: Option<&'static str>,
    elapsed: f64,
    steps: u64,
    cost_usd: Option<Box<RawValue>>,
    cost_status: CostStatus,
    /// The answer, or what there is of one.
    answer: String,
    /// Its middle is left out; all of it is in `out`.
    answer_cut: bool,
    /// It is what an agent that is not done came to.
    partial: bool,
    /// A limit of its model cut it off.
    truncated: bool,
    error: &'a str,
    validated: Option<bool>,
    files_changed: &'a [String],
    undelivered: &'a [String],
    retried_by: Option<AgentId>,
    out: String,
    log: String,
}

/// Returns the blocks as one line of JSON; `state` is the word of how the fleet stands.
#[expect(clippy::missing_panics_doc, reason = "it cannot fail, as the expect says")]
pub fn blocks_json(snapshot: &Snapshot, state: &'static str, around: &Around<'_>) -> String {
    let blocks = Blocks {
        version: VERSION,
        fleet: &snapshot.header.fleet.0,
        state,
        batches: snapshot
            .batches
            .iter()
            .filter_map(|view| {
                let rows = around.rows_of(view, snapshot);
                (around.only.is_none() || !rows.is_empty())
                    .then(|| block(view, &rows, snapshot, around))
            })
            .collect(),
    };
    serde_json::to_string(&blocks).expect("every key is a text, so that nothing can fail")
}

fn block<'a>(
    view: &'a BatchView,
    rows: &[&'a Row],
    snapshot: &Snapshot,
    around: &Around<'_>,
) -> Block<'a> {
    let queued = view.batch.queued;
    let ends: Option<Vec<_>> = rows.iter().map(|row| row.end.as_ref().map(|end| end.at)).collect();
    let last = ends.and_then(|ends| ends.into_iter().max());
    Block {
        id: &view.batch.id.0,
        tag: view.batch.tag(),
        status: status_word(view.status),
        origin: view.batch.origin.as_deref(),
        context: rows.first().and_then(|row| row.task.context.as_deref()),
        dispatched: timestamp(queued),
        age_seconds: rounded(around.now.since(queued), 100.0),
        duration_seconds: last.map(|last| rounded(last.since(queued), 100.0)),
        cause: common_cause(rows),
        tasks: rows.iter().map(|row| task(row, snapshot, around.fleet_dir)).collect(),
    }
}

fn task<'a>(row: &'a Row, snapshot: &Snapshot, fleet_dir: &Path) -> TaskBlock<'a> {
    let files = AgentFiles::of(fleet_dir, row.id);
    let end = row.end.as_deref();
    let output = output(row);
    let Shortened { text, is_cut } = shortened(output.as_deref().unwrap_or_default(), &files.out);
    TaskBlock {
        index: row.index,
        of: row.of,
        agent: row.id,
        task: &row.task.text,
        status: row.status.as_str(),
        exit_reason: end.and_then(|end| end.reason).map(ExitReason::as_str),
        elapsed: rounded(row.elapsed(snapshot.at), 100.0),
        steps: row.steps,
        cost_usd: row.cost.map(number),
        cost_status: row.cost_status,
        answer: text,
        answer_cut: is_cut,
        partial: output.is_some() && row.status != Status::Ended(Outcome::Done),
        truncated: end.is_some_and(|end| end.truncated),
        error: end.map_or("", |end| end.error.as_str()),
        validated: row.validated,
        files_changed: &row.files_changed,
        undelivered: end.map_or(&[], |_| row.unheard.as_slice()),
        retried_by: row.retried_by,
        out: files.out.to_string_lossy().into_owned(),
        log: files.log().to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use serde_json::{Value, json};

    use super::*;
    use crate::core::Moment;
    use crate::core::testing::{end, row, snapshot};

    fn blocks(snapshot: &Snapshot) -> Value {
        let around = Around {
            fleet_dir: Path::new("/f"),
            now: Moment(60_500),
            zone: &TimeZone::UTC,
            only: None,
        };
        serde_json::from_str(&blocks_json(snapshot, "ended", &around)).unwrap()
    }

    #[test]
    fn a_block_tells_its_batch_and_its_tasks_in_order_and_cuts_long_answers() {
        let mut done = end(row(1), Outcome::Done, "");
        done.answer =
            (0..2_000).map(|number| format!("line {number:04}\n")).collect::<Vec<_>>().concat();
        let mut failed = end(row(2), Outcome::Failed, "exit code 3");
        failed.end.as_mut().unwrap().tails.out_line = Some("got so far".into());
        let mut now = snapshot(1, vec![failed, done]);
        now.batches[0].batch.origin = Some("nightly".into());
        let mut seen = blocks(&now);
        let answer = seen["batches"][0]["tasks"][0]["answer"].take();
        let answer = answer.as_str().unwrap();
        assert!(answer.len() < 4_200 && answer.starts_with("line 0000\n"), "{answer}");
        assert!(
            answer.ends_with("line 1999") && answer.contains("/f/agents/0001/out]"),
            "{answer}"
        );
        let task = |agent: u32, more: Value| {
            let mut task = json!({
                "index": agent, "of": 3, "agent": agent, "task": format!("goal {agent}"), "exit_reason": null,
                "elapsed": 12.0, "steps": 0, "cost_usd": 0.0, "cost_status": "none", "truncated": false,
                "validated": null, "files_changed": [], "undelivered": [], "retried_by": null,
                "out": format!("/f/agents/000{agent}/out"), "log": format!("/f/agents/000{agent}/out")
            });
            task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            task
        };
        let expected = json!({
            "version": 1, "fleet": "k3f", "state": "ended",
            "batches": [{
                "id": "deleg_00000001", "tag": "set 1", "status": "running", "origin": "nightly", "context": null,
                "dispatched": "1970-01-01T00:00:00.5Z", "age_seconds": 60.0, "duration_seconds": 12.5, "cause": null,
                "tasks": [
                    task(1, json!({"status": "done", "answer": null, "answer_cut": true, "partial": false, "error": ""})),
                    task(2, json!({"status": "failed", "answer": "got so far", "answer_cut": false, "partial": true,
                                   "error": "exit code 3"}))
                ]
            }]
        });
        assert_eq!(seen, expected, "{seen:#}");
    }

    #[test]
    fn one_cause_for_all_is_told_with_the_batch() {
        let both =
            vec![end(row(1), Outcome::Failed, "bad key"), end(row(2), Outcome::Failed, "bad key")];
        assert_eq!(blocks(&snapshot(1, both))["batches"][0]["cause"], "bad key");
        let running = blocks(&snapshot(1, vec![row(1)]));
        assert_eq!(running["batches"][0]["duration_seconds"], Value::Null);
    }
}
