//! Stories about hosts that go: what a journal brings back, and how a fleet is taken over.

use std::time::Duration;

use super::support::*;
use crate::core::*;

/// Plays a long life: ends of all kinds, a hold, a raise, a retry, a move, an edit, a requeue.
fn long_life() -> Story {
    let tasks = vec![budgeted("one", cents(50)), paid("two"), free("three"), free("four")];
    let (mut story, _) = play(options(2, Some(cents(100))), vec![submit(1, tasks)]);
    story.does(Event::NeverBegan(A1));
    story.wait(Duration::from_secs(7)).does(costs(A1, cents(20)));
    story.ends_costing(A1, cents(110));
    story.does(answer(Q1, Answer::Raise(cents(500))));
    story.does(stop(A2));
    story.does(submit(2, vec![free("five"), free("six")]));
    story.does(command(Command::Move(AgentId(6), Direction::First)));
    story.does(command(Command::Edit(AgentId(5), Box::new(paid("five, again")))));
    story.does(command(Command::Retry(batch(3), vec![A1])));
    story.wait(Duration::from_mins(1)).ends(A2, 143);
    story.does(command(Command::Hold));
    story
}

#[test]
fn a_restored_fleet_says_what_the_old_one_said() {
    let mut old = long_life();
    let mut new = old.restored();
    let (before, after) = (old.snapshot(), new.snapshot());
    assert_eq!((after.queue, after.batches), (before.queue, before.batches));
    assert_eq!(after.header.hold, Some(Hold::Owner));
    assert_eq!(after.header.kpis, before.header.kpis);
    assert_eq!(after.header.cap, Some(cents(500)));
    assert_eq!(after.header.reserved, before.header.reserved);
    for (new, old) in after.rows.iter().zip(&before.rows) {
        let decided = |row: &Row| Row { revision: 0, progress: None, event: None, ..row.clone() };
        assert_eq!(decided(new), decided(old));
    }
}

#[test]
fn a_journal_survives_its_text() {
    let story = long_life();
    let text: Vec<String> =
        story.journal.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    let records = text.iter().map(|line| serde_json::from_str(line).unwrap());
    let mut read = Fleet::restore(FleetId("k3f".to_owned()), records);
    assert_eq!(read.snapshot(story.now), story.restored().snapshot());
}

/// A checkpoint is older than the newest words of an agent that lived on.
#[test]
fn a_host_that_has_not_read_everything_yet_says_so_beside_what_it_knows() {
    let mut fleet = long_life().restored().fleet;
    assert_eq!(fleet.snapshot(Moment(0)).header.unread, 0);
    fleet.set_unread(2);
    assert_eq!(fleet.snapshot(Moment(0)).header.unread, 2);
}

#[test]
fn a_journal_cut_anywhere_gives_a_fleet_that_goes_on() {
    let story = long_life();
    for length in 0..story.journal.len() {
        let records = story.journal.iter().take(length);
        let records = records.map(|(at, record)| (*at, record.as_ref().clone()));
        let mut fleet = Fleet::restore(FleetId("k3f".to_owned()), records);
        let _ = fleet.resume(story.now, options(2, Some(cents(500))));
        let live = fleet.live();
        let _ = fleet.settle_resumed(story.now);
        for id in live {
            let _ = fleet.apply(story.now, Event::TreeGone(id, tree(ProcessEnd::Lost)));
            let _ = fleet.apply(story.now, scanned(id));
        }
        let snapshot = fleet.snapshot(story.now);
        let goes_on = !snapshot.header.idle || snapshot.question.is_some();
        assert!(goes_on || snapshot.header.all_done, "{length}: {snapshot:?}");
    }
}

#[test]
fn what_a_live_agent_had_shown_comes_back_as_far_as_it_was_saved() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![paid("task")])]);
    let read = |cost, offset| {
        let transcript = TranscriptState { bytes: offset + 1, ..TranscriptState::default() };
        let facts = vec![Fact::TotalCost(cost), Fact::Transcript(Box::new(transcript))];
        Event::Facts { id: A1, facts, offset }
    };
    story.wait(Duration::from_secs(6)).does(read(cents(3), 100));
    story.wait(Duration::from_secs(2)).does(read(cents(4), 200));
    let mut restored = story.restored();
    assert_eq!(restored.fleet.live(), [A1]);
    assert_eq!(restored.row(A1).cost, Some(cents(3)));
    let work = restored.fleet.work(A1).unwrap();
    assert_eq!((work.offset, work.transcript.bytes), (100, 101), "one goes with the other");
    restored.does(read(cents(4), 200));
    restored.ends(A1, 0);
    assert_eq!(restored.snapshot().header.spent, cents(4));
}

#[test]
fn an_agent_that_was_being_stopped_keeps_its_reason() {
    let (mut story, _) =
        play(options(1, None), vec![submit(1, vec![free("task")]), Event::Started(A1), stop(A1)]);
    let mut restored = story.restored();
    assert_eq!(restored.row(A1).phase, story.row(A1).phase);
    restored.does(Event::Started(A1));
    restored.ends(A1, 143);
    assert_eq!(restored.end(A1).outcome, Outcome::Cancelled);
}

#[test]
fn taking_over_lets_go_of_whatever_held_the_queue() {
    let tasks = vec![free("one"), free("two")];
    let holds = [command(Command::Hold), interrupt()];
    for hold in holds {
        let (mut story, _) = play(options(1, None), vec![submit(1, tasks.clone())]);
        story.does(hold);
        story.ends(A1, 143);
        let mut new = story.restored();
        let _ = new.fleet.resume(new.now, options(1, None));
        assert_eq!(spawned(&new.fleet.settle_resumed(new.now)), [A2]);
    }
}

#[test]
fn taking_over_with_more_money_goes_on_where_the_cap_had_held() {
    let options = FleetOptions { on_cap: OnCap::Hold, ..options(1, Some(cents(100))) };
    let (mut story, _) = play(options.clone(), vec![submit(1, vec![free("one"), free("two")])]);
    story.ends_costing(A1, cents(100));
    let mut same = story.restored();
    let _ = same.fleet.resume(same.now, options.clone());
    assert_eq!(spawned(&same.fleet.settle_resumed(same.now)), []);
    assert_eq!(same.snapshot().header.hold, Some(Hold::Cap));
    let mut more = story.restored();
    let _ = more.fleet.resume(more.now, FleetOptions { cap: Some(cents(200)), ..options });
    assert_eq!(more.snapshot().header.cap, Some(cents(200)));
    assert_eq!(spawned(&more.fleet.settle_resumed(more.now)), [A2]);
}

#[test]
fn a_deadline_counts_anew_from_the_take_over() {
    let minute = Duration::from_mins(1);
    let options = FleetOptions { deadline: Some(minute), ..options(1, None) };
    let (mut story, _) = play(options.clone(), vec![submit(1, vec![free("one"), free("two")])]);
    story.wait(minute * 60);
    let mut new = story.restored();
    let _ = new.fleet.resume(new.now, options);
    let _ = new.fleet.settle_resumed(new.now);
    assert!(!new.snapshot().header.past_deadline);
    assert_eq!(new.fleet.next_tick(), Some(new.now.after(minute)));
    new.tick_after(minute);
    assert_eq!(new.status(A2), Status::Ended(Outcome::Dropped));
}

#[test]
fn an_open_question_is_still_open_after_a_restore() {
    let (mut story, _) =
        play(options(1, Some(cents(100))), vec![submit(1, vec![free("one"), free("two")])]);
    story.ends_costing(A1, cents(100));
    let asked = story.snapshot().question;
    let mut restored = story.wait(Duration::from_secs(99)).restored();
    assert_eq!(restored.snapshot().question, asked);
    assert_eq!(spawned(&restored.does(answer(Q1, Answer::Raise(cents(200))))), [A2]);
}

#[test]
fn a_cost_of_an_agent_that_is_queued_again_is_not_gone_after_a_restore() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    story.does(costs(A1, cents(3)));
    story.does(command(Command::Hold));
    story.does(Event::NeverBegan(A1));
    assert_eq!(story.snapshot().header.spent, cents(3));
    assert_eq!(story.restored().snapshot().header.spent, cents(3));
}

#[test]
fn a_look_at_a_fleet_starts_nothing_asks_nothing_and_drops_nothing() {
    let options = FleetOptions { on_cap: OnCap::Drop, ..options(1, Some(cents(100))) };
    let (mut story, _) = play(options, vec![submit(1, vec![free("one"), free("two")])]);
    for event in [costs(A1, cents(100)), gone(A1, 0), scanned(A1)] {
        let effects = story.fleet.observe(story.now, event);
        let decides = |effect: &Effect| !matches!(effect, Effect::Record(Record::Ended(A1, ..)));
        assert!(!effects.iter().any(decides), "{effects:?}");
    }
    let statuses = [A1, A2].map(|id| story.status(id));
    assert_eq!(statuses, [Status::Ended(Outcome::Done), Status::Queued]);
    assert_eq!(story.snapshot().question, None);
}

/// Nobody has decided anything yet, so the queue waits until somebody does, also after one more restart.
#[test]
fn a_queue_that_was_found_waiting_waits_for_the_owners_word() {
    let (story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    let mut story = story.restored();
    let since = Moment(7);
    let (now, options) = (Moment(1_000_000), options(1, None));
    drop(story.fleet.resume(now, options));
    let held = story.fleet.hold_back(now, since);
    assert_eq!(held, [Effect::Record(Record::HeldBack(since))]);
    drop(story.fleet.observe(now, Event::NeverBegan(A1)));
    assert_eq!(story.fleet.settle_resumed(now), []);
    let seen = story.snapshot();
    assert_eq!(seen.header.hold, Some(Hold::Back(since)));
    assert!(seen.rows.iter().all(|row| row.phase == Phase::Waits(Waits::Hold)), "{seen:?}");
    let effects = story.does(command(Command::Release));
    assert!(effects.contains(&Effect::Spawn(A1)), "{effects:?}");
    assert_eq!(story.snapshot().header.hold, None);
}

#[test]
fn a_host_that_nobody_told_to_go_on_keeps_held_kinds_holds_and_the_deadline() {
    let minute = Duration::from_mins(1);
    let options = FleetOptions { deadline: Some(minute), ..options(1, None) };
    let (mut story, _) = play(options, vec![submit(1, vec![paid("task"); 5])]);
    for id in [A1, A2, A3] {
        story.fails_with(id, ExitReason::Auth);
    }
    // The slot is free before the output has been read, so one more has started by then.
    story.ends(A4, 0);
    let last = AgentId(5);
    let waits = story.row(last).phase;
    assert!(matches!(waits, Phase::Waits(Waits::Kind(_))), "{waits:?}");
    story.does(command(Command::Hold));
    let mut new = story.restored();
    new.fleet.carry_on(new.now);
    assert_eq!(spawned(&new.fleet.settle_resumed(new.now)), []);
    assert_eq!(new.snapshot().header.hold, Some(Hold::Owner));
    new.fleet.held = false;
    assert_eq!(new.row(last).phase, waits);
    new.tick_after(minute);
    assert!(new.snapshot().header.past_deadline);
}

#[test]
fn an_agent_that_is_adopted_has_been_quiet_for_as_long_as_it_was() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    story.does(Event::Started(A1));
    let started = story.now;
    story.wait(Duration::from_mins(1));
    for (sign, progress) in [(None, started), (Some(Moment(31_000)), Moment(31_000))] {
        let mut new = story.restored();
        new.does(Event::Adopted(A1, sign));
        assert_eq!((new.status(A1), new.row(A1).progress), (Status::Running, Some(progress)));
    }
}

/// Hosts that are killed one after the other, each while it starts what the one before did not come to, are no proof
/// that a task cannot be started.
#[test]
fn a_task_that_no_host_lived_long_enough_to_start_is_queued_again_each_time() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    for _ in 0..5 {
        assert_eq!(story.row(A1).status, Status::Starting);
        drop(story.fleet.observe(story.now, Event::NeverBegan(A1)));
        assert_eq!(story.row(A1).status, Status::Queued);
        assert_eq!(story.does(Event::Tick), [Effect::Spawn(A1)]);
    }
    // A host that lives and sees it twice knows better.
    story.does(Event::NeverBegan(A1));
    assert_eq!(story.row(A1).status, Status::Ended(Outcome::Failed));
}
