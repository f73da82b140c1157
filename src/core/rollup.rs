//! Builds snapshots: rows, header and numbers from one state, so that they always agree.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::agent::AgentState;
use super::batch::{Batch, BatchStatus};
use super::cap::Money;
use super::changed::files_of;
use super::fleet::{Agent, Fleet};
use super::gates::Gates;
use super::judge;
use super::ledger::{CostStatus, Tokens};
use super::moment::Moment;
use super::money::NanoUsd;
use super::outcome::Outcome;
use super::snapshot::{BatchView, Header, Kpis, Phase, Row, Snapshot, Status, Waits};

impl Fleet {
    /// Returns a copy for doors. Rows that did not change since the last call are shared with it.
    pub fn snapshot(&mut self, now: Moment) -> Snapshot {
        self.now = self.now.max(now);
        self.revision += 1;
        let gates = self.gates();
        let mut rows = Vec::with_capacity(self.agents.len());
        for place in 0..self.agents.len() {
            if let Some(row) = self.row(place, &gates) {
                rows.push(row);
            }
        }
        let money = self.money();
        let batches: Vec<_> = self.batches.iter().map(|batch| self.batch_view(batch)).collect();
        Snapshot {
            revision: self.revision,
            at: self.now,
            header: self.header(&rows, &money),
            question: self.question(&money),
            queue: self.queue.clone(),
            rows,
            batches,
        }
    }

    /// Returns the row of one agent, made anew only if something changed.
    fn row(&mut self, place: usize, gates: &Gates) -> Option<Arc<Row>> {
        let agent = self.agents.get(place)?;
        let phase = match &agent.row {
            Some(row) if !matches!(agent.state, AgentState::Queued) => {
                return Some(Arc::clone(row));
            }
            Some(row) => {
                let phase = self.phase(agent, gates);
                if row.phase == phase {
                    return Some(Arc::clone(row));
                }
                phase
            }
            None => self.phase(agent, gates),
        };
        let row = Arc::new(self.build_row(agent, phase));
        self.agents.get_mut(place)?.row = Some(Arc::clone(&row));
        Some(row)
    }

    fn build_row(&self, agent: &Agent, phase: Phase) -> Row {
        let work = &agent.work;
        let batch = self.batches.get(agent.batch);
        let result = work.result.as_ref();
        let (files_changed, files_from) = files_of(work);
        // What was reported counts even if it is claimed later that no process ran.
        let ran = agent.ran() || work.ledger.is_told();
        Row {
            revision: self.revision,
            id: agent.id,
            batch: batch
                .map_or_else(|| super::id::BatchId(String::new()), |batch| batch.id.clone()),
            tag: batch.map(Batch::tag).unwrap_or_default(),
            index: agent.index,
            of: batch.map_or(1, |batch| count(batch.agents.len())),
            task: Arc::clone(&agent.task),
            status: status(agent),
            phase,
            held: agent.held && matches!(agent.state, AgentState::Queued),
            stalled: agent.is_stalled() && agent.may_run(),
            doubt: agent.signs.mark.clone().filter(|_| agent.may_run()),
            started: agent.started,
            ran: ran_for(agent),
            progress: agent.progress,
            event: agent.signs.event.filter(|_| agent.may_run()),
            steps: work.steps,
            tokens: work.ledger.tokens(),
            cost: if ran { work.ledger.cost() } else { Some(NanoUsd::ZERO) },
            cost_status: if ran { work.ledger.status() } else { CostStatus::None },
            validated: match (work.smokes_red, work.smokes_green) {
                (0, 0) => None,
                (red, _) => Some(red == 0),
            },
            answer: result.and_then(|result| result.answer.clone()).unwrap_or_default(),
            files_changed,
            files_from,
            session: work.session.clone(),
            model: work.model.clone(),
            denied: work.denied,
            told: u64::try_from(agent.told.len()).unwrap_or(u64::MAX),
            unheard: agent.unheard().to_vec(),
            unparsed: result.is_some_and(|result| result.unparsed),
            anomalies: work.unknown + work.skipped + u64::from(work.ledger.anomalies()),
            transcript_trouble: work.transcript.trouble.clone(),
            end: agent.end().map(|end| Box::new(end.clone())),
            retry_of: agent.retry_of,
            retried_by: agent.retried_by,
        }
    }

    fn phase(&self, agent: &Agent, gates: &Gates) -> Phase {
        match &agent.state {
            AgentState::Queued => Phase::Waits(self.waits(agent, gates)),
            AgentState::Starting | AgentState::Running => working(agent),
            AgentState::Stopping { reason, asked } => {
                Phase::Stopping(judge::by_stop(reason).2, *asked)
            }
            AgentState::Ending { left_behind, .. } => Phase::LeftBehind(*left_behind),
            AgentState::Reading { .. } => Phase::Reading(agent.behind),
            AgentState::Ended(_) => Phase::Over,
        }
    }

    fn header(&self, rows: &[Arc<Row>], money: &Money) -> Header {
        let mut outcomes: BTreeMap<Outcome, u32> = BTreeMap::new();
        for row in rows {
            if let Status::Ended(outcome) = row.status {
                *outcomes.entry(outcome).or_default() += 1;
            }
        }
        let live = rows.iter().any(|row| row.status.is_live());
        // What waits for the disk starts once that works again, unless the fleet is to end.
        let startable = rows.iter().any(|row| match row.phase {
            Phase::Waits(Waits::Next) => true,
            Phase::Waits(Waits::NotSaved) => self.interrupted.is_none(),
            _ => false,
        });
        Header {
            fleet: self.id.clone(),
            name: self.options.name.clone(),
            kpis: self.kpis(rows),
            outcomes: outcomes.into_iter().collect(),
            spent: money.spent,
            cost_unknown: count(
                rows.iter().filter(|row| row.cost_status == CostStatus::Unknown).count(),
            ),
            unread: self.unread,
            reserved: money.reserved + money.unknown,
            cap: self.cap,
            without_budget: count(
                rows.iter()
                    .filter(|row| !row.status.is_ended() && row.task.budget.is_none())
                    .filter(|row| row.task.traits.pays || row.cost_status != CostStatus::None)
                    .count(),
            ),
            max_parallel: self.options.max_parallel,
            mesh: self.options.mesh.clone(),
            hold: self.hold(),
            kinds_held: self
                .kinds
                .iter()
                .filter_map(|(kind, ledger)| Some((kind.0.clone(), ledger.held.clone()?)))
                .collect(),
            closed: self.closed,
            interrupted: self.interrupted.clone(),
            past_deadline: self.past_deadline,
            left_by_cap: self.dropped_by_cap
                || (self.has_loose()
                    && (self.cap_question.holding || money.cap_reached().is_some())),
            first_start: self.first_start,
            last_end: self.last_end,
            idle: !live && !startable,
            all_done: !live && self.queue.is_empty(),
            notices: self.noticing.recent.iter().cloned().collect(),
            notice_trouble: self.notice_trouble.clone(),
        }
    }

    fn kpis(&self, rows: &[Arc<Row>]) -> Kpis {
        let having =
            |test: &dyn Fn(&Row) -> bool| count(rows.iter().filter(|row| test(row)).count());
        Kpis {
            total: count(rows.len()),
            running: having(&|row| row.status.is_live()),
            done: having(&|row| row.status == Status::Ended(Outcome::Done)),
            failed: having(&|row| {
                row.status.is_ended() && row.status != Status::Ended(Outcome::Done)
            }),
            queued: having(&|row| row.status == Status::Queued),
            validated: having(&|row| row.validated == Some(true)),
            mesh: self.mesh_keys,
            steps: rows.iter().map(|row| row.steps).fold(0, u64::saturating_add),
            tokens: rows.iter().map(|row| Tokens::total(row.tokens)).fold(0, u64::saturating_add),
            cost: rows.iter().filter_map(|row| row.cost).sum(),
            elapsed: rows.iter().map(|row| row.elapsed(self.now)).max().unwrap_or_default(),
        }
    }

    fn batch_view(&self, batch: &Batch) -> BatchView {
        let ends = || batch.agents.iter().filter_map(|id| self.agent(*id)).map(Agent::end);
        let status = if ends().any(|end| end.is_none()) {
            BatchStatus::Running
        } else if batch.agents.is_empty()
            || ends().flatten().any(|end| end.outcome == Outcome::Done)
        {
            BatchStatus::Completed
        } else {
            BatchStatus::Error
        };
        BatchView { batch: batch.clone(), status }
    }
}

/// Returns what an agent does that runs.
fn working(agent: &Agent) -> Phase {
    if let Some((retry, since)) = &agent.work.retry {
        return Phase::Retries(retry.clone(), *since);
    }
    if let Some(open) = agent.tool() {
        return Phase::InTool {
            tool: open.tool.clone(),
            text: open.text.clone(),
            since: open.since,
        };
    }
    agent.idle_since().map_or(Phase::Works, Phase::Interrupted)
}

/// Returns how long an agent ran whose output is still being read.
fn ran_for(agent: &Agent) -> Option<Duration> {
    let AgentState::Reading { tree, .. } = &agent.state else { return None };
    Some(tree.run_time.unwrap_or_else(|| tree.at.since(agent.started.unwrap_or(tree.at))))
}

fn status(agent: &Agent) -> Status {
    match &agent.state {
        AgentState::Queued => Status::Queued,
        AgentState::Starting => Status::Starting,
        AgentState::Running => Status::Running,
        AgentState::Stopping { .. } => Status::Stopping,
        AgentState::Ending { .. } | AgentState::Reading { .. } => Status::Ending,
        AgentState::Ended(end) => Status::Ended(end.outcome),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
