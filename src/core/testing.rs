//! Rows and snapshots for tests of what is made of them. Only compiled for tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{
    AgentId, AgentKind, Batch, BatchId, BatchStatus, BatchView, CostStatus, End, FleetId, Header,
    KindTraits, Kpis, Moment, NanoUsd, Outcome, Phase, ProcessEnd, Row, Snapshot, Status, Tails,
    Task, Tokens,
};

pub(crate) fn task(text: &str) -> Arc<Task> {
    let traits = KindTraits { prompt: false, pays: false, must_answer: false };
    Arc::new(Task::new(text, AgentKind("sh".into()), traits, PathBuf::from("/repo")))
}

/// A row that runs, third of a batch of three at most.
pub(crate) fn row(id: u32) -> Row {
    Row {
        revision: 1,
        id: AgentId(id),
        batch: BatchId::from_bits(1),
        tag: "set 1".into(),
        index: id,
        of: 3,
        task: task(&format!("goal {id}")),
        status: Status::Running,
        phase: Phase::Works,
        held: false,
        stalled: false,
        doubt: None,
        started: Some(Moment(1_000)),
        ran: None,
        progress: Some(Moment(1_000)),
        event: None,
        steps: 0,
        tokens: Tokens::default(),
        cost: Some(NanoUsd::ZERO),
        cost_status: CostStatus::None,
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
        end: None,
        retry_of: None,
        retried_by: None,
    }
}

/// The row, ended after 12 seconds.
pub(crate) fn end(mut row: Row, outcome: Outcome, error: &str) -> Row {
    row.status = Status::Ended(outcome);
    row.phase = Phase::Over;
    row.end = Some(Box::new(End {
        outcome,
        reason: None,
        error: error.to_owned(),
        truncated: false,
        at: Moment(13_000),
        process: Some(ProcessEnd::Code(i32::from(outcome != Outcome::Done))),
        run_time: Some(Duration::from_secs(12)),
        swept: Vec::new(),
        escalated: false,
        tails: Tails::default(),
    }));
    row
}

/// A snapshot of these rows, in the order of their numbers, with totals that agree with them.
pub(crate) fn snapshot(revision: u64, mut rows: Vec<Row>) -> Snapshot {
    let number = |test: &dyn Fn(Status) -> bool| {
        u32::try_from(rows.iter().filter(|row| test(row.status)).count()).unwrap()
    };
    let ended = number(&Status::is_ended);
    let done = number(&|status| status == Status::Ended(Outcome::Done));
    let queued = number(&|status| status == Status::Queued);
    let running = number(&Status::is_live);
    let mut outcomes: Vec<(Outcome, u32)> = Vec::new();
    for row in &rows {
        if let Status::Ended(outcome) = row.status {
            match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, count)) => *count += 1,
                None => outcomes.push((outcome, 1)),
            }
        }
    }
    outcomes.sort_unstable();
    let mut batches: Vec<BatchView> = Vec::new();
    for row in &rows {
        match batches.iter_mut().find(|view| view.batch.id == row.batch) {
            Some(view) => view.batch.agents.push(row.id),
            None => batches.push(BatchView {
                batch: Batch {
                    id: row.batch.clone(),
                    number: row.tag.trim_start_matches("set ").parse().unwrap(),
                    agents: vec![row.id],
                    origin: None,
                    inside: None,
                    queued: Moment(500),
                },
                status: if ended == row.of { BatchStatus::Completed } else { BatchStatus::Running },
            }),
        }
    }
    let queue = rows.iter().filter(|row| row.status == Status::Queued).map(|row| row.id).collect();
    rows.sort_by_key(|row| row.id);
    let all_done = running == 0 && queued == 0;
    Snapshot {
        revision,
        at: Moment(21_000),
        header: Header {
            fleet: FleetId("k3f".into()),
            name: None,
            kpis: Kpis {
                total: u32::try_from(rows.len()).unwrap(),
                running,
                done,
                failed: ended - done,
                queued,
                ..Kpis::default()
            },
            outcomes,
            spent: rows.iter().filter_map(|row| row.cost).sum(),
            cost_unknown: 0,
            unread: 0,
            reserved: NanoUsd::ZERO,
            cap: None,
            without_budget: 0,
            max_parallel: Some(4),
            mesh: None,
            hold: None,
            kinds_held: Vec::new(),
            closed: true,
            interrupted: None,
            past_deadline: false,
            left_by_cap: false,
            first_start: Some(Moment(1_000)),
            last_end: (ended > 0).then_some(Moment(13_000)),
            idle: all_done,
            all_done,
            notices: Vec::new(),
            notice_trouble: None,
        },
        queue,
        rows: rows.into_iter().map(Arc::new).collect(),
        batches,
        question: None,
    }
}
