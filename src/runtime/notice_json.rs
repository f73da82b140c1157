//! What a program that is told of a notice reads: one line of JSON.
//!
//! What may go here: its shape, from one notice and the snapshot that goes with it. What may not: running programs.
//! Secrets are taken out of all text, as in the accounts of agents; money never passes through a float.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::roster::{KpiSummary, error, number};
use crate::adapters::{one_line, redact};
use crate::core::{AgentId, CostStatus, Moment, Notice, NoticeKind, Row, Snapshot};

/// Version of the shape.
const VERSION: u32 = 1;
/// Longest text of a notice, a task or an error, in characters: as much as anybody shows at once.
const CHARS: usize = 500;

#[derive(Serialize)]
struct Told<'a> {
    version: u32,
    fleet: &'a str,
    name: Option<String>,
    root: String,
    notice: u64,
    kind: NoticeKind,
    at: String,
    text: String,
    agents: Vec<ToldAgent<'a>>,
    more_agents: u32,
    kpis: KpiSummary,
    spent_usd: Box<RawValue>,
    cap_usd: Option<Box<RawValue>>,
    cost_unknown: u32,
    left_out: u64,
}

#[derive(Serialize)]
struct ToldAgent<'a> {
    id: AgentId,
    task: String,
    agent: &'a str,
    status: &'static str,
    exit_reason: Option<&'static str>,
    reason: String,
    cost_usd: Option<Box<RawValue>>,
    cost_status: CostStatus,
}

/// Returns the line. `left_out` is how many notices before this one were never told, since too many came at once.
pub(super) fn notice_json(
    notice: &Notice,
    snapshot: &Snapshot,
    root: &Path,
    left_out: u64,
) -> String {
    let header = &snapshot.header;
    let rows = notice.agents.iter().filter_map(|id| snapshot.row(*id));
    let told = Told {
        version: VERSION,
        fleet: &header.fleet.0,
        name: header.name.as_deref().map(clean),
        root: root.to_string_lossy().into_owned(),
        notice: notice.number,
        kind: notice.kind,
        at: timestamp(notice.at),
        text: clean(&notice.text),
        agents: rows.map(|row| agent(row)).collect(),
        more_agents: notice.more,
        kpis: (&header.kpis).into(),
        spent_usd: number(header.spent),
        cap_usd: header.cap.map(number),
        cost_unknown: header.cost_unknown,
        left_out,
    };
    let mut line =
        serde_json::to_string(&told).expect("every key is a text, so that nothing can fail");
    line.push('\n');
    line
}

fn agent(row: &Row) -> ToldAgent<'_> {
    let end = row.end.as_deref();
    ToldAgent {
        id: row.id,
        task: clean(&row.task.text),
        agent: &row.task.kind.0,
        status: row.status.as_str(),
        exit_reason: end.and_then(|end| end.reason).map(crate::core::ExitReason::as_str),
        reason: clean(error(row)),
        cost_usd: row.cost.map(number),
        cost_status: row.cost_status,
    }
}

fn clean(text: &str) -> String {
    let head = text.get(..text.floor_char_boundary(8 * CHARS)).unwrap_or_default();
    one_line(&redact(head), CHARS)
}

/// Returns a moment as a date and time in UTC.
fn timestamp(moment: Moment) -> String {
    let millis = i64::try_from(moment.0).ok();
    let time = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Outcome;
    use crate::core::testing::{end, row, snapshot, task};

    #[test]
    fn a_notice_tells_who_it_is_about_and_how_the_fleet_stands_without_secrets() {
        let key = "sk-abcdefghijklmnopqrstuvwx";
        let failed = Row {
            task: task(&format!("use {key}\nand \u{1b}[2J\"quotes\"")),
            ..end(row(3), Outcome::Failed, &format!("401 for {key}"))
        };
        let snapshot = snapshot(1, vec![row(1), row(2), failed]);
        let notice = Notice {
            number: 7,
            kind: NoticeKind::Failed,
            at: Moment(1_700_000_000_000),
            agents: vec![AgentId(3), AgentId(99)],
            more: 2,
            text: format!("4 failed; #3: 401 for {key}"),
        };
        let line = notice_json(&notice, &snapshot, Path::new("/work"), 5);
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1, "{line}");
        assert!(!line.contains(key) && !line.contains("\\u001b"), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["version"], 1);
        assert_eq!((&read["kind"], &read["notice"]), (&"failed".into(), &7.into()));
        assert_eq!(read["at"], "2023-11-14T22:13:20Z");
        assert_eq!(read["text"], "4 failed; #3: 401 for [redacted]");
        assert_eq!(
            read["agents"].as_array().unwrap().len(),
            1,
            "one that is not there is left out"
        );
        assert_eq!(read["agents"][0]["id"], 3);
        assert_eq!(read["agents"][0]["status"], "failed");
        assert_eq!(read["agents"][0]["reason"], "401 for [redacted]");
        assert_eq!((&read["more_agents"], &read["left_out"]), (&2.into(), &5.into()));
        assert_eq!(read["kpis"]["total"], 3);
        assert_eq!(read["cap_usd"], serde_json::Value::Null);
        assert_eq!(read["root"], "/work");
    }
}
