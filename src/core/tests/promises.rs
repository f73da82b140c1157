//! The promises of a fleet, checked after each event of a story, whatever the story is.
//!
//! What may go here: promises that hold always. What may not: expectations about one story.

use std::collections::BTreeMap;

use super::support::Story;
use crate::core::*;

/// What has been seen so far, to compare the next moment with.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    spawns: BTreeMap<AgentId, u32>,
    requeues: BTreeMap<AgentId, u32>,
    ends: BTreeMap<AgentId, Box<End>>,
    asked: Vec<QuestionId>,
    spent: NanoUsd,
    interrupted: bool,
}

impl Watch {
    /// Applies one event, checks every promise, and returns the effects.
    #[track_caller]
    pub(super) fn step(&mut self, story: &mut Story, event: Event) -> Vec<Effect> {
        let effects = story.apply(event);
        let snapshot = story.snapshot();
        self.count(&effects);
        check_slots(&snapshot);
        self.check_ends(&snapshot);
        self.check_money(story, &snapshot, &effects);
        check_question(&snapshot);
        check_numbers(&snapshot);
        check_next_tick(story);
        check_nothing_waits_for_ever(&snapshot);
        check_replay(story, &snapshot);
        effects
    }

    /// Each task is spawned once, once more if its shim never began, and never after an interrupt.
    #[track_caller]
    fn count(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Spawn(id) => {
                    assert!(!self.interrupted, "{id} is spawned after an interrupt");
                    *self.spawns.entry(*id).or_default() += 1;
                    let most = 1 + self.requeues.get(id).copied().unwrap_or_default();
                    assert!(self.spawns[id] <= most.min(2), "{id} is spawned too often");
                }
                Effect::Record(Record::Requeued(id)) => {
                    *self.requeues.entry(*id).or_default() += 1;
                }
                Effect::Record(Record::Interrupted(_)) => self.interrupted = true,
                Effect::Record(Record::Resumed) => self.interrupted = false,
                Effect::Record(Record::Asked(id)) => {
                    assert!(!self.asked.contains(id), "{id:?} is asked twice");
                    self.asked.push(*id);
                }
                Effect::Record(Record::Ended(id, ..)) => {
                    assert!(!self.ends.contains_key(id), "{id} ends twice");
                }
                Effect::Record(_)
                | Effect::Stop(..)
                | Effect::Tell(..)
                | Effect::CloseInput(_)
                | Effect::Reply(..)
                | Effect::Forget(_)
                | Effect::Notify(_) => {}
            }
        }
    }

    #[track_caller]
    fn check_ends(&mut self, snapshot: &Snapshot) {
        for row in &snapshot.rows {
            match (&row.end, self.ends.get(&row.id)) {
                (Some(end), Some(before)) => assert_eq!(end, before, "{} ended again", row.id),
                (Some(end), None) => {
                    self.ends.insert(row.id, end.clone());
                }
                (None, Some(before)) => panic!("{} had ended: {before:?}", row.id),
                (None, None) => {}
            }
        }
    }

    #[track_caller]
    fn check_money(&mut self, story: &Story, snapshot: &Snapshot, effects: &[Effect]) {
        let header = &snapshot.header;
        assert!(header.spent >= self.spent, "spend fell from {} to {}", self.spent, header.spent);
        self.spent = header.spent;
        let costs: NanoUsd = snapshot.rows.iter().filter_map(|row| row.cost).sum();
        assert_eq!(costs, header.spent, "the rows add up to the header");
        assert_eq!(costs, header.kpis.cost, "the rows add up to the numbers");
        let spawns = effects.iter().any(|effect| matches!(effect, Effect::Spawn(_)));
        if let (true, Some(cap)) = (spawns, header.cap) {
            let money = story.fleet.money();
            assert!(money.committed() < cap, "dispatched at {money:?}");
            let live = snapshot.rows.iter().filter(|row| row.status.is_live()).count();
            assert!(
                live == 1 || money.committed() + money.reserved <= cap,
                "dispatched past the cap at {money:?}"
            );
        }
    }
}

/// Never more slots are taken than there are; one is free when the tree is gone.
#[track_caller]
fn check_slots(snapshot: &Snapshot) {
    let taken = snapshot
        .rows
        .iter()
        .filter(|row| row.status.is_live() && !matches!(row.phase, Phase::Reading(_)))
        .count();
    let slots = snapshot.header.max_parallel.map_or(usize::MAX, |most| most.max(1) as usize);
    assert!(taken <= slots, "{taken} agents in {slots} slots");
}

/// A question is open only while something is queued and the cap is reached.
#[track_caller]
fn check_question(snapshot: &Snapshot) {
    if let Some(question) = &snapshot.question {
        let held = snapshot.held_agents().len();
        assert!(snapshot.queue.len() > held, "a question is open for nothing that could start");
        assert!(question.committed >= question.cap, "a question is open below the cap");
        assert_eq!(Some(question.cap), snapshot.header.cap);
        assert!(snapshot.header.interrupted.is_none(), "a question is open while Fleet ends");
    }
}

/// Header, table and queue come from one state.
#[track_caller]
fn check_numbers(snapshot: &Snapshot) {
    let header = &snapshot.header;
    let having = |test: &dyn Fn(&Row) -> bool| {
        u32::try_from(snapshot.rows.iter().filter(|row| test(row)).count()).unwrap()
    };
    let kpis = &header.kpis;
    assert_eq!(kpis.total, having(&|_| true));
    assert_eq!(kpis.queued, having(&|row| row.status == Status::Queued));
    assert_eq!(kpis.running, having(&|row| row.status.is_live()));
    assert_eq!(kpis.total, kpis.queued + kpis.running + kpis.done + kpis.failed);
    let ended: u32 = header.outcomes.iter().map(|(_, count)| count).sum();
    assert_eq!(kpis.done + kpis.failed, ended);
    for (outcome, count) in &header.outcomes {
        assert_eq!(*count, having(&|row| row.status == Status::Ended(*outcome)));
    }
    let mut queue = snapshot.queue.clone();
    queue.sort();
    let rows: Vec<_> =
        snapshot.rows.iter().filter(|row| row.status == Status::Queued).map(|row| row.id).collect();
    assert_eq!(queue, rows, "the queue is what the rows say");
    assert_eq!(header.all_done, kpis.running == 0 && kpis.queued == 0);
}

/// A tick at the moment that was asked for does not ask for the same moment again: the loop would never rest.
#[track_caller]
fn check_next_tick(story: &Story) {
    let Some(next) = story.fleet.next_tick() else { return };
    let mut copy = story.clone();
    copy.now = copy.now.max(next);
    let _ = copy.apply(Event::Tick);
    if let Some(again) = copy.fleet.next_tick() {
        assert!(again > copy.now, "asked for {again:?} again after a tick at {:?}", copy.now);
    }
}

/// With nothing live, whatever is queued says what it waits for, and it is something that a person can change.
#[track_caller]
fn check_nothing_waits_for_ever(snapshot: &Snapshot) {
    if snapshot.header.kpis.running > 0 {
        return;
    }
    for row in snapshot.rows.iter().filter(|row| row.status == Status::Queued) {
        let Phase::Waits(waits) = &row.phase else { panic!("{:?} is queued", row.phase) };
        let header = &snapshot.header;
        let has_reason = match waits {
            Waits::Next | Waits::Slot | Waits::Local | Waits::Reserved | Waits::Host => false,
            Waits::Cap => snapshot.question.is_some() || header.hold == Some(Hold::Cap),
            Waits::Hold => matches!(header.hold, Some(Hold::Owner)),
            Waits::NotSaved => matches!(header.hold, Some(Hold::NotSaved(_))),
            Waits::Ending => header.interrupted.is_some(),
            Waits::Held => row.held,
            Waits::Kind(_) => !header.kinds_held.is_empty(),
            Waits::Env(names) => !names.is_empty(),
        };
        assert!(has_reason, "{} waits for ever: {waits:?} {:?}", row.id, header.hold);
    }
}

/// The journal so far gives the same fleet; live agents may differ in what their output has shown since.
#[track_caller]
fn check_replay(story: &mut Story, snapshot: &Snapshot) {
    let replayed = story.replayed.snapshot(story.now);
    assert_eq!(replayed.queue, snapshot.queue);
    assert_eq!(replayed.question.as_ref().map(|q| (q.id, q.asked)), {
        snapshot.question.as_ref().map(|q| (q.id, q.asked))
    });
    assert_eq!(replayed.batches, snapshot.batches);
    assert_eq!(replayed.header.cap, snapshot.header.cap);
    assert_eq!(replayed.header.kinds_held, snapshot.header.kinds_held);
    assert_eq!(replayed.header.interrupted, snapshot.header.interrupted);
    assert_eq!(replayed.header.past_deadline, snapshot.header.past_deadline);
    assert_eq!(replayed.header.closed, snapshot.header.closed);
    assert_eq!(replayed.header.first_start, snapshot.header.first_start);
    let is_saved = !matches!(snapshot.header.hold, Some(Hold::NotSaved(_)));
    if is_saved {
        assert_eq!(replayed.header.hold, snapshot.header.hold);
    }
    if is_saved && snapshot.header.kpis.running == 0 && story.fleet.env_missing.is_empty() {
        assert_eq!(replayed.header, snapshot.header, "with nothing live all is in the journal");
        assert_eq!(replayed.question, snapshot.question);
    }
    for (new, old) in replayed.rows.iter().zip(&snapshot.rows) {
        assert_eq!(new.end, old.end);
        assert_eq!((&new.task, &new.batch, new.index), (&old.task, &old.batch, old.index));
        assert_eq!((new.retry_of, new.retried_by), (old.retry_of, old.retried_by));
        assert_eq!(new.started, old.started);
        assert_eq!(new.status.is_live(), old.status.is_live());
        assert_eq!(new.status == Status::Queued, old.status == Status::Queued);
        assert_eq!(new.held, old.held);
        assert!(!new.held || new.status == Status::Queued, "only what is queued is held");
        if old.status == Status::Stopping {
            assert_eq!((new.status, &new.phase), (old.status, &old.phase));
        }
        if old.status.is_ended() {
            assert_eq!((new.cost, new.steps, new.tokens), (old.cost, old.steps, old.tokens));
        }
    }
}
