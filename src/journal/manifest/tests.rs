//! Tests of the manifest.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::core::{
    AgentKind, Batch, BatchStatus, CostStatus, End, ExitReason, Header, KindTraits, Kpis, NanoUsd,
    Outcome, Phase, Status, Tails, Task, Tokens,
};

fn task(text: &str) -> Task {
    let traits = KindTraits { prompt: true, pays: true, must_answer: true };
    Task {
        context: Some("the key is API_KEY=abc; be kind".to_owned()),
        ..Task::new(text, AgentKind("ygg".to_owned()), traits, PathBuf::from("/project"))
    }
}

fn ended(outcome: Outcome, reason: ExitReason, at: u64) -> End {
    End {
        outcome,
        reason: Some(reason),
        error: String::new(),
        truncated: false,
        at: Moment(at),
        process: None,
        run_time: None,
        swept: Vec::new(),
        escalated: false,
        tails: Tails::default(),
    }
}

fn row(id: u32, batch: &Batch, index: u32, text: &str, end: Option<End>) -> Arc<Row> {
    Arc::new(Row {
        revision: 1,
        id: AgentId(id),
        batch: batch.id.clone(),
        tag: batch.tag(),
        index,
        of: u32::try_from(batch.agents.len()).unwrap(),
        task: Arc::new(task(text)),
        status: end.as_ref().map_or(Status::Running, |end| Status::Ended(end.outcome)),
        phase: Phase::Works,
        held: false,
        stalled: false,
        doubt: None,
        started: None,
        ran: None,
        progress: None,
        event: None,
        steps: 0,
        tokens: Tokens::default(),
        cost: None,
        cost_status: CostStatus::Unknown,
        validated: None,
        answer: String::new(),
        files_changed: Vec::new(),
        files_from: crate::core::FilesFrom::Told,
        session: None,
        model: None,
        denied: 0,
        told: 0,
        unheard: Vec::new(),
        unparsed: false,
        anomalies: 0,
        transcript_trouble: None,
        end: end.map(Box::new),
        retry_of: None,
        retried_by: None,
    })
}

fn header() -> Header {
    Header {
        fleet: FleetId("a0000000".to_owned()),
        name: None,
        kpis: Kpis::default(),
        outcomes: Vec::new(),
        spent: NanoUsd::ZERO,
        cost_unknown: 0,
        unread: 0,
        reserved: NanoUsd::ZERO,
        cap: None,
        without_budget: 0,
        max_parallel: None,
        mesh: None,
        hold: None,
        kinds_held: Vec::new(),
        closed: false,
        interrupted: None,
        past_deadline: false,
        left_by_cap: false,
        first_start: None,
        last_end: None,
        idle: false,
        all_done: false,
        notices: Vec::new(),
        notice_trouble: None,
    }
}

/// A fleet with two batches: agents 1 and 3, agent 2.
fn snapshot(ends: [Option<End>; 3], text: &str) -> Snapshot {
    let batch = |bits, number, agents: &[u32]| Batch {
        id: BatchId::from_bits(bits),
        number,
        agents: agents.iter().copied().map(AgentId).collect(),
        origin: Some("shell".to_owned()),
        inside: None,
        queued: Moment(1_767_225_600_000),
    };
    let (one, two) = (batch(0xA1, 1, &[1, 3]), batch(0xB2, 2, &[2]));
    let [first, second, third] = ends;
    Snapshot {
        revision: 1,
        at: Moment(0),
        header: header(),
        rows: vec![
            row(1, &one, 1, text, first),
            row(2, &two, 1, "two", second),
            row(3, &one, 2, "three", third),
        ],
        queue: Vec::new(),
        batches: [one, two].map(|batch| BatchView { batch, status: BatchStatus::Running }).to_vec(),
        question: None,
    }
}

fn write_all(snapshot: &Snapshot, fleet_dir: &FleetDir) {
    for view in &snapshot.batches {
        Manifest::of(snapshot, view, fleet_dir).write(fleet_dir).unwrap();
    }
}

fn read(fleet_dir: &FleetDir, name: &str) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(fleet_dir.batches().join(name)).unwrap()).unwrap()
}

/// C-88
#[test]
fn each_batch_has_one_manifest_whose_statuses_are_those_at_the_end() {
    let folder = TempDir::new().unwrap();
    let fleet_dir = FleetDir::new(folder.path().to_owned(), FleetId("a0000000".to_owned()));
    let log = |name: &str| folder.path().join("agents").join(name).join("out");
    write_all(&snapshot([None, None, None], "one"), &fleet_dir);
    assert_eq!(fs::read_dir(fleet_dir.batches()).unwrap().count(), 2);
    let file = read(&fleet_dir, "deleg_000000a1.json");
    assert_eq!(
        file,
        serde_json::json!({
            "version": 1, "id": "deleg_000000a1", "fleet": "a0000000", "batch": "set 1", "origin": "shell",
            "context": "the key is API_KEY=[redacted]; be kind", "started": "2026-01-01T00:00:00Z", "task_count": 2,
            "tasks": [
                {"index": 1, "agent": 1, "goal": "one", "log": log("0001"), "status": "running", "exit_reason": null},
                {"index": 2, "agent": 3, "goal": "three", "log": log("0003"), "status": "running", "exit_reason": null},
            ],
            "completed": null,
        })
    );
    let done = |at: u64| Some(ended(Outcome::Done, ExitReason::Completed, 1_767_225_600_000 + at));
    let failed = Some(ended(Outcome::Failed, ExitReason::Auth, 1_767_225_600_000 + 90_500));
    write_all(&snapshot([failed.clone(), None, None], "one"), &fleet_dir);
    assert_eq!(read(&fleet_dir, "deleg_000000a1.json")["completed"], serde_json::Value::Null);
    write_all(&snapshot([failed, None, done(60_000)], "one"), &fleet_dir);
    assert_eq!(fs::read_dir(fleet_dir.batches()).unwrap().count(), 2);
    let file = read(&fleet_dir, "deleg_000000a1.json");
    assert_eq!(file["completed"], "2026-01-01T00:01:30.5Z");
    assert_eq!(
        (&file["tasks"][0]["status"], &file["tasks"][0]["exit_reason"]),
        (&"failed".into(), &"auth".into())
    );
    assert_eq!(
        (&file["tasks"][1]["status"], &file["tasks"][1]["exit_reason"]),
        (&"done".into(), &"completed".into())
    );
    assert_eq!(read(&fleet_dir, "deleg_000000b2.json")["tasks"][0]["status"], "running");
    let mode =
        fs::metadata(fleet_dir.batches().join("deleg_000000a1.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_manifest_holds_no_secret_and_a_long_goal_is_cut() {
    let folder = TempDir::new().unwrap();
    let fleet_dir = FleetDir::new(folder.path().to_owned(), FleetId("a0000000".to_owned()));
    // A secret that the cut would have gone through.
    let text = format!("{} PASSWORD=hunter2-{} tail", "é".repeat(485), "q".repeat(30));
    write_all(&snapshot([None, None, None], &text), &fleet_dir);
    let file = fs::read_to_string(fleet_dir.batches().join("deleg_000000a1.json")).unwrap();
    assert!(!file.contains("hunter2") && !file.contains("qq") && !file.contains("abc"), "{file}");
    let file = read(&fleet_dir, "deleg_000000a1.json");
    let goal = file["tasks"][0]["goal"].as_str().unwrap();
    assert_eq!(goal, format!("{} PASSWORD=[reda…(+10 chars)", "é".repeat(485)));
}
