//! A fleet as it stood at earlier moments, folded from the decisions in its journal.
//!
//! What may go here: which moments there are, and what is known of one. What may not: a clock, who looks.

use std::sync::Arc;

use super::fleet::Fleet;
use super::id::FleetId;
use super::ledger::{CostStatus, Tokens};
use super::moment::Moment;
use super::money::NanoUsd;
use super::record::Record;
use super::snapshot::{Phase, Row, Snapshot, Status};

/// The decisions of a fleet with the moments at which they fell.
///
/// What an agent had shown at a moment is in no journal: of one that ran then, tokens, steps and cost are not known.
#[derive(Debug)]
pub struct Replay {
    records: Vec<(Moment, Record)>,
    fleet: Fleet,
    /// How many of the records are folded into the fleet.
    folded: usize,
}

impl Replay {
    /// Takes what a journal tells, in order; `None` if nothing was ever queued. Checkpoints are not needed.
    pub fn new(id: FleetId, mut records: Vec<(Moment, Record)>) -> Option<Self> {
        records.retain(|(_, record)| !matches!(record, Record::Checkpoint(..)));
        let is_queued = |(_, record): &(Moment, Record)| matches!(record, Record::Queued { .. });
        records.iter().any(is_queued).then(|| Self {
            records,
            fleet: Fleet::restore(id, []),
            folded: 0,
        })
    }

    /// Returns the moments at which something changed that is seen in a row, in order, each once: the first is when
    /// something was queued first.
    pub fn changes(&self) -> Vec<Moment> {
        let is_seen = |record: &Record| {
            matches!(
                record,
                Record::Queued { .. }
                    | Record::Dispatched(_)
                    | Record::Requeued(_)
                    | Record::Stopped(..)
                    | Record::Ended(..)
            )
        };
        let seen = self.records.iter().filter(|(_, record)| is_seen(record));
        let mut moments: Vec<Moment> = seen.map(|(at, _)| *at).collect();
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Returns the fleet as it stood at a moment. Going on is cheap; going back begins anew.
    pub fn at(&mut self, moment: Moment) -> Snapshot {
        if moment < self.fleet.now {
            // Rows of before must not be taken for those of now.
            let revision = self.fleet.revision;
            self.fleet = Fleet::restore(self.fleet.id.clone(), []);
            self.fleet.revision = revision;
            self.folded = 0;
        }
        while let Some((at, record)) = self.records.get(self.folded)
            && *at <= moment
        {
            self.fleet.now = self.fleet.now.max(*at);
            self.fleet.fold(record);
            self.folded += 1;
        }
        let mut snapshot = self.fleet.snapshot(moment);
        let mut is_live = false;
        for row in snapshot.rows.iter_mut().filter(|row| row.status.is_live()) {
            *row = Arc::new(as_known(row));
            is_live = true;
        }
        let header = &mut snapshot.header;
        if is_live {
            (header.kpis.steps, header.kpis.tokens) = (0, 0);
        }
        let is_unknown = |row: &&Arc<Row>| row.cost_status == CostStatus::Unknown;
        let unknown = snapshot.rows.iter().filter(is_unknown).count();
        header.cost_unknown = u32::try_from(unknown).unwrap_or(u32::MAX);
        header.reserved = NanoUsd::ZERO;
        // Nobody can answer it any more.
        snapshot.question = None;
        snapshot
    }
}

/// Returns the row of an agent that ran then, without what nobody knows of that moment.
fn as_known(row: &Row) -> Row {
    let is_starting = row.status == Status::Starting;
    Row {
        status: if is_starting { Status::Running } else { row.status },
        phase: if is_starting { Phase::Works } else { row.phase.clone() },
        progress: None,
        event: None,
        steps: 0,
        tokens: Tokens::default(),
        cost: None,
        cost_status: CostStatus::Unknown,
        ..row.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::task;
    use crate::core::{AgentId, BatchId, End, FleetOptions, Outcome, Tails, Work};

    fn end(at: u64, outcome: Outcome) -> Box<End> {
        Box::new(End {
            outcome,
            reason: None,
            error: String::new(),
            truncated: false,
            at: Moment(at),
            process: Some(crate::core::ProcessEnd::Code(0)),
            run_time: None,
            swept: Vec::new(),
            escalated: false,
            tails: Tails::default(),
        })
    }

    /// Two tasks are queued at 10, start at 20 and 30, and end at 40 and 50.
    fn replay() -> Replay {
        let (one, two) = (AgentId(1), AgentId(2));
        let work = || Box::new(Work { steps: 7, ..Work::default() });
        let queued = Record::Queued {
            batch: BatchId::from_bits(1),
            origin: None,
            inside: None,
            first: one,
            tasks: vec![task("a"), task("b")],
        };
        let records = vec![
            (1, Record::Created(FleetOptions::default())),
            (10, queued),
            (20, Record::Dispatched(one)),
            (25, Record::Checkpoint(one, work())),
            (30, Record::Dispatched(two)),
            (40, Record::Ended(one, end(40, Outcome::Done), work())),
            (50, Record::Ended(two, end(50, Outcome::Failed), work())),
        ];
        let records = records.into_iter().map(|(at, record)| (Moment(at), record)).collect();
        Replay::new(FleetId("k3f".to_owned()), records).unwrap()
    }

    fn states(replay: &mut Replay, at: u64) -> Vec<&'static str> {
        let snapshot = replay.at(Moment(at));
        assert_eq!(snapshot.at, Moment(at));
        let live = snapshot.rows.iter().filter(|row| row.status.is_live()).count();
        assert_eq!(usize::try_from(snapshot.header.kpis.running).unwrap(), live);
        snapshot.rows.iter().map(|row| row.status.as_str()).collect()
    }

    #[test]
    fn states_are_those_of_the_moment_whichever_way_it_is_reached() {
        let expected: [(u64, &[&str]); 7] = [
            (9, &[]),
            (10, &["queued", "queued"]),
            (20, &["running", "queued"]),
            (39, &["running", "running"]),
            (40, &["done", "running"]),
            (50, &["done", "failed"]),
            (90, &["done", "failed"]),
        ];
        let mut replay = replay();
        for (at, states_then) in expected.iter().chain(expected.iter().rev()) {
            assert_eq!(states(&mut replay, *at), *states_then, "at {at}");
        }
        assert_eq!(replay.changes(), [10, 20, 30, 40, 50].map(Moment));
    }

    #[test]
    fn of_an_agent_that_ran_then_nothing_is_told_that_nobody_knows() {
        let mut replay = replay();
        let then = replay.at(Moment(39));
        let row = &then.rows[0];
        assert_eq!((row.steps, row.cost, row.progress), (0, None, None));
        assert_eq!((then.header.cost_unknown, then.header.kpis.steps), (2, 0));
        let later = replay.at(Moment(50));
        assert_eq!((later.rows[0].steps, later.header.kpis.steps), (7, 14));
        assert_eq!(later.header.cost_unknown, 0);
    }

    #[test]
    fn rows_of_an_earlier_look_are_never_taken_for_those_of_a_later_one() {
        let mut replay = replay();
        let late = replay.at(Moment(50));
        let early = replay.at(Moment(39));
        assert!(early.revision > late.revision);
        assert!(early.rows[0].revision > late.rows[0].revision);
    }

    #[test]
    fn a_fleet_in_which_nothing_was_queued_cannot_be_replayed() {
        let records = vec![(Moment(1), Record::Created(FleetOptions::default()))];
        assert!(Replay::new(FleetId("k3f".to_owned()), records).is_none());
    }
}
