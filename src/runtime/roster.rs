//! The roster that a fleet's agents share, `mesh.json`, and the numbers that it has in common with the summary.
//!
//! What may go here: its shape, from one snapshot. What may not: writing it (`paper`). Money is written with its exact
//! digits and never passes through a float.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::{AgentId, Kpis, NanoUsd, Row, Snapshot};

/// Returns the roster that a fleet's agents share, `mesh.json`: upstream's rows under `agents`, its numbers under
/// `kpis`.
pub(crate) fn roster(snapshot: &Snapshot) -> serde_json::Value {
    let rows: Vec<RosterRow<'_>> = snapshot
        .rows
        .iter()
        .map(|row| RosterRow {
            id: row.id,
            task: &row.task.text,
            status: row.status.as_str(),
            elapsed: rounded(row.elapsed(snapshot.at), 100.0),
            steps: row.steps,
            answer: &row.answer,
            files_changed: &row.files_changed,
            error: error(row),
        })
        .collect();
    serde_json::json!({ "agents": rows, "kpis": KpiSummary::from(&snapshot.header.kpis) })
}

/// Upstream's eleven numbers (upstream A7).
#[derive(Serialize)]
pub(crate) struct KpiSummary {
    total: u32,
    running: u32,
    done: u32,
    failed: u32,
    queued: u32,
    validated: u32,
    mesh: u64,
    steps: u64,
    tokens: u64,
    cost: Box<RawValue>,
    elapsed: f64,
}

/// Upstream's eight fields (upstream A7).
#[derive(Serialize)]
struct RosterRow<'a> {
    id: AgentId,
    task: &'a str,
    status: &'static str,
    elapsed: f64,
    steps: u64,
    answer: &'a str,
    files_changed: &'a [String],
    error: &'a str,
}

/// Returns the error text of a row, empty while it has not ended.
pub(crate) fn error(row: &Row) -> &str {
    row.end.as_ref().map_or("", |end| end.error.as_str())
}

impl From<&Kpis> for KpiSummary {
    fn from(kpis: &Kpis) -> Self {
        Self {
            total: kpis.total,
            running: kpis.running,
            done: kpis.done,
            failed: kpis.failed,
            queued: kpis.queued,
            validated: kpis.validated,
            mesh: kpis.mesh,
            steps: kpis.steps,
            tokens: kpis.tokens,
            cost: number(kpis.cost),
            elapsed: rounded(kpis.elapsed, 10.0),
        }
    }
}

/// Returns an amount as a JSON number with all its digits.
pub(crate) fn number(amount: NanoUsd) -> Box<RawValue> {
    RawValue::from_string(amount.to_exact()).expect("digits, a point and digits are a JSON number")
}

/// Returns a span in seconds with as many decimals as `parts` has zeros.
pub(crate) fn rounded(span: std::time::Duration, parts: f64) -> f64 {
    (span.as_secs_f64() * parts).round() / parts
}
