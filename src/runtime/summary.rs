//! JSON for machines: the summary of a fleet.
//!
//! What may go here: its shape, from one snapshot. What may not: texts for people.
//! Money is written with its exact digits and never passes through a float.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::RawValue;

use super::roster::{KpiSummary, error, number, rounded};
use crate::adapters::talk;
use crate::core::{AgentId, CostStatus, FilesFrom, ProcessEnd, Row, Snapshot, Status};
use crate::journal::FleetStanding;
use crate::supervise::AgentDir;

/// Version of the summary's shape.
const VERSION: u32 = 1;

/// Files of one agent that its owner may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFiles {
    /// What it wrote to stdout.
    pub out: PathBuf,
    /// What it wrote to stderr.
    pub err: PathBuf,
    /// The account for people.
    pub transcript: PathBuf,
}

impl AgentFiles {
    /// Returns the files of an agent of the fleet in that folder.
    pub fn of(fleet_dir: &Path, id: AgentId) -> Self {
        let dir = AgentDir::new(fleet_dir.join("agents").join(id.to_dir_name()));
        Self { out: dir.out(), err: dir.err(), transcript: dir.transcript() }
    }

    /// Returns the file to read first: the account for people, or what the agent wrote where there is no account.
    pub fn log(&self) -> &Path {
        if self.transcript.is_file() { &self.transcript } else { &self.out }
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    version: u32,
    fleet: &'a str,
    goal: Option<&'a str>,
    state: FleetStanding,
    batches: Vec<BatchSummary<'a>>,
    kpis: KpiSummary,
    completed: u32,
    failed: u32,
    total_duration_seconds: f64,
    spent_usd: Box<RawValue>,
    cap_usd: Option<Box<RawValue>>,
    cost_unknown: u32,
    files_changed: Vec<&'a str>,
    agents: Vec<AgentSummary<'a>>,
}

#[derive(Serialize)]
struct BatchSummary<'a> {
    id: &'a str,
    tag: String,
    status: crate::core::BatchStatus,
    agents: &'a [AgentId],
}

/// One agent of a summary.
#[derive(Serialize)]
pub(crate) struct AgentSummary<'a> {
    id: AgentId,
    task: &'a str,
    agent: &'a str,
    status: &'static str,
    exit_reason: Option<&'static str>,
    elapsed: f64,
    steps: u64,
    answer: &'a str,
    files_changed: &'a [String],
    /// Where that list comes from.
    files_from: Option<FilesFrom>,
    error: &'a str,
    tokens: u64,
    cost_usd: Option<Box<RawValue>>,
    cost_status: CostStatus,
    validated: Option<bool>,
    exit_code: Option<i32>,
    signal: Option<&'a str>,
    swept: usize,
    batch: &'a str,
    session: Option<&'a str>,
    retry_of: Option<AgentId>,
    retried_by: Option<AgentId>,
    continues: Option<AgentId>,
    undelivered: &'a [String],
    /// It is queued, and its owner holds it.
    held: bool,
    /// It can be told more now.
    accepts_steer: bool,
    out: String,
    err: String,
    transcript: Option<String>,
}

/// Returns the summary (DESIGN §9, version 1) as one line of JSON. `state` is [`FleetStanding::of_hosted`] where a host is.
pub fn summary_json(snapshot: &Snapshot, state: FleetStanding, fleet_dir: &Path) -> String {
    summary_json_of(snapshot, state, fleet_dir, None)
}

/// Returns the same with some agents only, and the batches that they are of; the numbers are those of the whole fleet.
#[expect(clippy::missing_panics_doc, reason = "it cannot fail, as the expect says")]
pub fn summary_json_of(
    snapshot: &Snapshot,
    state: FleetStanding,
    fleet_dir: &Path,
    only: Option<&[AgentId]>,
) -> String {
    let is_meant = |id: &AgentId| only.is_none_or(|only| only.contains(id));
    let header = &snapshot.header;
    let duration = header.elapsed(snapshot.at).unwrap_or_default();
    let summary = Summary {
        version: VERSION,
        fleet: &header.fleet.0,
        goal: None,
        state,
        batches: snapshot
            .batches
            .iter()
            .filter(|view| only.is_none() || view.batch.agents.iter().any(is_meant))
            .map(|view| BatchSummary {
                id: &view.batch.id.0,
                tag: view.batch.tag(),
                status: view.status,
                agents: &view.batch.agents,
            })
            .collect(),
        kpis: (&header.kpis).into(),
        completed: header.kpis.done,
        failed: header.kpis.failed,
        total_duration_seconds: rounded(duration, 100.0),
        spent_usd: number(header.spent),
        cap_usd: header.cap.map(number),
        cost_unknown: header.cost_unknown,
        files_changed: files_changed(snapshot),
        agents: snapshot
            .rows
            .iter()
            .filter(|row| is_meant(&row.id))
            .map(|row| agent(row, snapshot, fleet_dir))
            .collect(),
    };
    serde_json::to_string(&summary).expect("every key is a text, so that nothing can fail")
}

/// Returns the changed files of all agents, sorted, each once.
pub fn files_changed(snapshot: &Snapshot) -> Vec<&str> {
    let mut files: Vec<&str> =
        snapshot.rows.iter().flat_map(|row| row.files_changed.iter().map(String::as_str)).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns what a summary tells of one agent.
pub(crate) fn agent<'a>(row: &'a Row, snapshot: &Snapshot, fleet_dir: &Path) -> AgentSummary<'a> {
    let files = AgentFiles::of(fleet_dir, row.id);
    let end = row.end.as_deref();
    let (exit_code, signal) = match end.and_then(|end| end.process.as_ref()) {
        Some(ProcessEnd::Code(code)) => (Some(*code), None),
        Some(ProcessEnd::Signal(name)) => (None, Some(name.as_str())),
        Some(ProcessEnd::NotStarted(_) | ProcessEnd::Lost) | None => (None, None),
    };
    AgentSummary {
        id: row.id,
        task: &row.task.text,
        agent: &row.task.kind.0,
        status: row.status.as_str(),
        exit_reason: end.and_then(|end| end.reason).map(crate::core::ExitReason::as_str),
        elapsed: rounded(row.elapsed(snapshot.at), 100.0),
        steps: row.steps,
        answer: &row.answer,
        files_changed: &row.files_changed,
        files_from: (!row.files_changed.is_empty()).then_some(row.files_from),
        error: error(row),
        tokens: row.tokens.total(),
        cost_usd: row.cost.map(number),
        cost_status: row.cost_status,
        validated: row.validated,
        exit_code,
        signal,
        swept: end.map_or(0, |end| end.swept.len()),
        batch: &row.tag,
        session: row.session.as_deref(),
        retry_of: row.retry_of,
        retried_by: row.retried_by,
        continues: row.task.continues.as_ref().map(|from| from.agent),
        held: row.held,
        accepts_steer: row.status == Status::Running && talk(&row.task).messages,
        undelivered: row.end.as_ref().map_or(&[], |_| row.unheard.as_slice()),
        out: files.out.to_string_lossy().into_owned(),
        err: files.err.to_string_lossy().into_owned(),
        transcript: files
            .transcript
            .is_file()
            .then(|| files.transcript.to_string_lossy().into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::core::NanoUsd;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{ExitReason, Moment, Outcome, Tokens};

    fn two() -> Snapshot {
        let mut one = end(row(1), Outcome::Done, "");
        one.steps = 3;
        one.answer = "did it".into();
        one.files_changed = vec!["b.py".into(), "a.py".into()];
        one.tokens = Tokens { input: 400, output: 80, ..Tokens::default() };
        one.cost = Some(NanoUsd::from_nanos(62_500_000));
        one.cost_status = CostStatus::Reported;
        one.validated = Some(true);
        let record = one.end.as_mut().unwrap();
        record.reason = Some(ExitReason::Completed);
        record.run_time = Some(Duration::from_millis(8_126));
        let mut two = end(row(2), Outcome::Failed, "killed by signal SIGSEGV");
        two.files_changed = vec!["a.py".into()];
        two.cost = None;
        two.cost_status = CostStatus::Unknown;
        let record = two.end.as_mut().unwrap();
        record.process = Some(ProcessEnd::Signal("SIGSEGV".into()));
        record.reason = Some(ExitReason::Signal);
        record.swept = vec!["sleep".into()];
        let mut both = snapshot(7, vec![one, two]);
        both.header.kpis.elapsed = Duration::from_millis(8_126);
        both.header.kpis.cost = both.header.spent;
        both.header.cap = Some(NanoUsd::from_dollars(1));
        both.header.cost_unknown = 1;
        both.header.last_end = Some(Moment(10_204));
        both
    }

    fn parsed(snapshot: &Snapshot) -> Value {
        serde_json::from_str(&summary_json(
            snapshot,
            FleetStanding::of_hosted(snapshot),
            Path::new("/f"),
        ))
        .unwrap()
    }

    /// C-82: upstream's goal, agents, completed and failed are in it.
    #[test]
    fn the_summary_has_exactly_the_shape_of_version_one() {
        let mut expected = json!({
            "version": 1, "fleet": "k3f", "goal": null, "state": "ended",
            "batches": [{"id": "deleg_00000001", "tag": "set 1", "status": "running", "agents": [1, 2]}],
            "kpis": {"total": 2, "running": 0, "done": 1, "failed": 1, "queued": 0, "validated": 0, "mesh": 0,
                     "steps": 0, "tokens": 0, "cost": 0.0625, "elapsed": 8.1},
            "completed": 1, "failed": 1, "total_duration_seconds": 9.2, "spent_usd": 0.0625, "cap_usd": 1.0,
            "cost_unknown": 1, "files_changed": ["a.py", "b.py"],
            "agents": [
                {"id": 1, "task": "goal 1", "agent": "sh", "status": "done", "exit_reason": "completed",
                 "elapsed": 8.13, "steps": 3, "answer": "did it", "files_changed": ["b.py", "a.py"], "error": "",
                 "tokens": 480, "cost_usd": 0.0625, "cost_status": "reported", "validated": true, "exit_code": 0,
                 "signal": null, "swept": 0, "batch": "set 1", "session": null, "retry_of": null, "retried_by": null,
                 "out": "/f/agents/0001/out", "err": "/f/agents/0001/err",
                 "transcript": null},
                {"id": 2, "task": "goal 2", "agent": "sh", "status": "failed", "exit_reason": "signal",
                 "elapsed": 12.0, "steps": 0, "answer": "", "files_changed": ["a.py"],
                 "error": "killed by signal SIGSEGV", "tokens": 0, "cost_usd": null, "cost_status": "unknown",
                 "validated": null, "exit_code": null, "signal": "SIGSEGV", "swept": 1, "batch": "set 1",
                 "session": null, "retry_of": null, "retried_by": null, "out": "/f/agents/0002/out",
                 "err": "/f/agents/0002/err", "transcript": null}
            ]
        });
        for agent in expected["agents"].as_array_mut().unwrap() {
            agent["continues"] = Value::Null;
            agent["files_from"] = json!("told");
            agent["undelivered"] = json!([]);
            agent["held"] = json!(false);
            agent["accepts_steer"] = json!(false);
        }
        let seen = parsed(&two());
        assert_eq!(seen, expected, "{}", serde_json::to_string_pretty(&seen).unwrap());
    }

    #[test]
    fn a_transcript_is_named_only_if_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = AgentFiles::of(folder.path(), AgentId(1));
        assert_eq!(files.log(), files.out);
        std::fs::create_dir_all(files.transcript.parent().unwrap()).unwrap();
        std::fs::write(&files.transcript, "").unwrap();
        assert_eq!(files.log(), files.transcript);
    }

    #[test]
    fn keys_stand_in_the_order_of_the_specification() {
        let text = summary_json(&two(), FleetStanding::Ended, Path::new("/f"));
        assert!(
            text.starts_with(
                r#"{"version":1,"fleet":"k3f","goal":null,"state":"ended","batches":[{"id":"#
            ),
            "{text}"
        );
        assert!(!text.contains('\n'));
    }

    #[test]
    fn some_agents_are_told_alone_and_the_numbers_stay_those_of_the_fleet() {
        let (now, ended) = (two(), FleetStanding::Ended);
        let of = |only| -> Value {
            serde_json::from_str(&summary_json_of(&now, ended, Path::new("/f"), Some(only)))
                .unwrap()
        };
        let one = of(&[AgentId(2)]);
        assert_eq!(one["agents"].as_array().unwrap().len(), 1);
        assert_eq!((&one["agents"][0]["id"], &one["kpis"]["total"]), (&json!(2), &json!(2)));
        assert_eq!(one["batches"][0]["tag"], "set 1");
        assert_eq!(of(&[])["batches"], json!([]));
    }

    /// C-60: all nine decimals are there, though a float could not keep them in a sum.
    #[test]
    fn money_has_its_exact_digits() {
        let mut now = two();
        now.header.spent = NanoUsd::from_nanos(12_345_678_901_234_567);
        let text = summary_json(&now, FleetStanding::Ended, Path::new("/f"));
        assert!(text.contains(r#""spent_usd":12345678.901234567,"#), "{text}");
    }

    #[test]
    fn what_has_not_ended_has_no_end() {
        let mut queued = row(1);
        queued.status = Status::Queued;
        queued.started = None;
        let now = parsed(&snapshot(1, vec![queued]));
        let agent = &now["agents"][0];
        assert_eq!(
            (&agent["status"], &agent["error"], &agent["elapsed"]),
            (&json!("queued"), &json!(""), &json!(0.0))
        );
        assert_eq!((&now["state"], &now["cap_usd"]), (&json!("live"), &json!(null)));
        assert_eq!((&agent["exit_code"], &agent["exit_reason"]), (&json!(null), &json!(null)));
    }

    /// C-76: upstream's eight fields, elapsed with two decimals. C-74: `failed` sums whatever is not done.
    #[test]
    fn the_roster_has_upstreams_rows_and_numbers() {
        let mut now = two();
        now.header.kpis.failed = 3;
        let view = crate::runtime::roster::roster(&now);
        let mut keys: Vec<&String> = view["agents"][0].as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            ["answer", "elapsed", "error", "files_changed", "id", "status", "steps", "task"]
        );
        assert_eq!(view["agents"][0]["elapsed"], json!(8.13));
        assert_eq!(view["kpis"].as_object().unwrap().len(), 11);
        assert_eq!(view["kpis"]["failed"], json!(3));
        assert_eq!(view.as_object().unwrap().len(), 2);
    }
}
