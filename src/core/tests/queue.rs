//! Stories about the queue: slots, the local engine, order, holds.

use super::support::*;
use crate::core::*;

fn four() -> Vec<Task> {
    ["one", "two", "three", "four"].map(free).to_vec()
}

#[test]
fn numbers_follow_the_order_of_the_queue_and_are_never_reused() {
    let (mut story, effects) = play(options(1, None), vec![submit(1, four())]);
    assert_eq!(spawned(&effects), [A1]);
    assert_eq!(story.asks(submit(2, vec![free("five")])), {
        Reply::Queued(batch(2), vec![AgentId(5)])
    });
    story.does(command(Command::Remove(AgentId(5))));
    assert_eq!(story.asks(submit(3, vec![free("six")])), {
        Reply::Queued(batch(3), vec![AgentId(6)])
    });
    assert_eq!(story.row(A2).task.text, "two");
}

/// C-15
#[test]
fn never_more_than_max_parallel_run_and_all_end_done() {
    let (mut story, effects) = play(options(2, None), vec![submit(1, four())]);
    assert_eq!(effects, [Effect::Spawn(A1), Effect::Spawn(A2)]);
    assert_eq!((story.snapshot().header.kpis.running, story.snapshot().header.kpis.queued), (2, 2));
    assert_eq!(story.ends(A1, 0), [Effect::Spawn(A3)]);
    assert_eq!(story.ends(A2, 0), [Effect::Spawn(A4)]);
    assert_eq!(story.ends(A3, 0), []);
    assert_eq!(story.ends(A4, 0), []);
    let header = story.snapshot().header;
    assert_eq!((header.kpis.done, header.kpis.queued, header.all_done), (4, 0, true));
}

/// C-18
#[test]
fn one_local_engine_runs_and_a_remote_task_overtakes_a_blocked_local_one() {
    let tasks = vec![
        engine("ollama"),
        engine("transformers"),
        engine("openvino"),
        engine("openai"),
        engine("auto"),
        free("none"),
    ];
    let (mut story, effects) = play(options(9, None), vec![submit(1, tasks)]);
    assert_eq!(spawned(&effects), [A1, A4, AgentId(5), AgentId(6)]);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Local));
    assert_eq!(spawned(&story.ends(A1, 0)), [A2]);
    assert_eq!(spawned(&story.ends(A2, 1)), [A3]);
}

/// C-19: whoever looks at such an agent's details is told.
#[test]
fn a_max_local_of_zero_is_read_as_one_and_the_engine_auto_is_not_local() {
    let options = FleetOptions { max_local: 0, ..options(9, None) };
    let tasks = ["ollama", "ollama", "auto", "auto"].map(engine).to_vec();
    let (_, effects) = play(options, vec![submit(1, tasks)]);
    assert_eq!(spawned(&effects), [A1, A3, A4]);
}

#[test]
fn without_a_limit_everything_starts_at_once() {
    let options = FleetOptions { max_parallel: None, ..options(1, None) };
    let (_, effects) = play(options, vec![submit(1, four())]);
    assert_eq!(spawned(&effects).len(), 4);
}

/// C-20
#[test]
fn a_submission_spawns_only_what_starts_now() {
    let (_, effects) = play(options(3, None), vec![submit(1, four())]);
    assert_eq!(spawned(&effects), [A1, A2, A3]);
}

/// C-21
#[test]
fn queued_tasks_are_rows_in_order_that_can_be_moved_and_removed() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    assert_eq!(story.status(A4), Status::Queued);
    assert_eq!(story.asks(command(Command::Move(A4, Direction::First))), Reply::Done(1));
    assert_eq!(story.snapshot().queue, [A4, A2, A3]);
    story.does(command(Command::Move(A4, Direction::Down)));
    story.does(command(Command::Move(A2, Direction::Last)));
    assert_eq!(story.snapshot().queue, [A4, A3, A2]);
    story.does(command(Command::Move(A3, Direction::Up)));
    assert_eq!(story.snapshot().queue, [A3, A4, A2]);
    assert_eq!(story.does(command(Command::Remove(A3))), [Effect::Forget(A3)]);
    assert_eq!(story.status(A3), Status::Ended(Outcome::Cancelled));
    assert_eq!(story.ends(A1, 0), [Effect::Spawn(A4)]);
}

#[test]
fn a_task_that_has_started_or_ended_is_neither_moved_nor_edited_nor_removed() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    let attempts = [
        Command::Move(A1, Direction::First),
        Command::Edit(A1, Box::new(free("other"))),
        Command::Remove(A1),
    ];
    for attempt in attempts.clone() {
        let refusal = Reply::Refused(Refusal("#1 has already started".to_owned()));
        assert_eq!(story.asks(command(attempt)), refusal);
    }
    story.ends(A1, 0);
    for attempt in attempts {
        let refusal = Reply::Refused(Refusal("#1 has already ended".to_owned()));
        assert_eq!(story.asks(command(attempt)), refusal);
    }
}

/// C-22
#[test]
fn too_many_tasks_are_refused_with_both_numbers() {
    let mut story = Story::new(options(1, None));
    story.does(submit(1, vec![free("one")]));
    let many = vec![free("more"); 10_000];
    let Reply::Refused(Refusal(why)) = story.asks(submit(2, many)) else { panic!("accepted") };
    assert!(why.contains("10000") && why.contains(" 1"), "{why}");
    assert_eq!(story.snapshot().rows.len(), 1);
}

/// C-23
#[test]
fn of_two_submissions_for_one_slot_exactly_one_starts() {
    let (mut story, effects) =
        play(options(1, None), vec![submit(1, vec![free("one")]), submit(2, vec![free("two")])]);
    assert_eq!(effects, [Effect::Spawn(A1)]);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Slot));
}

#[test]
fn a_repeated_submission_is_acknowledged_and_not_queued_again() {
    let mut story = Story::new(options(1, None));
    let first = story.asks(submit(1, four()));
    assert_eq!(story.asks(submit(1, four())), first);
    assert_eq!(story.snapshot().rows.len(), 4);
}

/// C-24
#[test]
fn a_slot_freed_by_any_end_starts_the_next() {
    let seven = vec![free("task"); 7];
    let (mut story, _) = play(options(1, None), vec![submit(1, seven)]);
    assert_eq!(spawned(&story.ends(A1, 0)), [A2]);
    assert_eq!(spawned(&story.ends(A2, 1)), [A3]);
    let timed_out = TreeEnd { timed_out: true, ..tree(ProcessEnd::Code(143)) };
    assert_eq!(spawned(&story.does(Event::TreeGone(A3, timed_out))), [A4]);
    story.does(scanned(A3));
    assert_eq!(story.status(A3), Status::Ended(Outcome::Timeout));
    assert_eq!(story.does(stop(A4)), [Effect::Stop(A4, Urgency::Ask)]);
    assert_eq!(spawned(&story.does(gone(A4, 143))), [AgentId(5)]);
    let lost = Event::TreeGone(AgentId(5), tree(ProcessEnd::Lost));
    assert_eq!(spawned(&story.does(lost)), [AgentId(6)]);
    let [tree, read] = Event::not_started(AgentId(6), "no such program".to_owned(), story.now);
    assert_eq!(spawned(&story.does(tree)), [AgentId(7)]);
    story.does(read);
    assert_eq!(story.status(AgentId(6)), Status::Ended(Outcome::Failed));
}

/// C-25
#[test]
fn agents_that_have_ended_never_count_against_a_limit() {
    let tasks = vec![engine("ollama"); 30];
    let (mut story, _) = play(options(1, None), vec![submit(1, tasks)]);
    for id in 1..30 {
        assert_eq!(spawned(&story.ends(AgentId(id), 0)), [AgentId(id + 1)]);
    }
}

/// C-14
#[test]
fn a_held_queue_starts_nothing_while_live_agents_go_on() {
    let (mut story, _) = play(options(2, None), vec![submit(1, four())]);
    assert_eq!(story.does(command(Command::Hold)), []);
    assert_eq!(story.ends(A1, 0), []);
    assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Hold));
    assert_eq!(story.snapshot().header.hold, Some(Hold::Owner));
    assert_eq!(story.status(A2), Status::Starting);
    assert_eq!(story.ends(A2, 0), []);
    let header = story.snapshot().header;
    assert!(header.idle && !header.all_done);
    assert_eq!(spawned(&story.does(command(Command::Release))), [A3, A4]);
}

#[test]
fn a_shim_that_never_began_is_queued_again_once_and_first() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    assert_eq!(story.does(Event::NeverBegan(A1)), [Effect::Spawn(A1)]);
    assert_eq!(story.does(Event::NeverBegan(A1)), [Effect::Forget(A1), Effect::Spawn(A2)]);
    let end = story.end(A1);
    assert_eq!((end.outcome, end.reason), (Outcome::Failed, Some(ExitReason::Spawn)));
}

#[test]
fn a_shim_that_never_began_waits_at_the_head_of_a_held_queue() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    story.does(command(Command::Hold));
    assert_eq!(story.does(Event::NeverBegan(A1)), []);
    assert_eq!(story.snapshot().queue, [A1, A2, A3, A4]);
    assert_eq!((story.row(A1).started, story.row(A1).progress), (None, None));
    assert_eq!(story.does(command(Command::Release)), [Effect::Spawn(A1)]);
}

#[test]
fn a_batch_without_its_variables_waits_and_lets_others_pass() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    story.does(submit(2, vec![free("five")]));
    story.does(Event::EnvMissing(batch(1), vec!["OPENAI_API_KEY".to_owned()]));
    assert_eq!(spawned(&story.ends(A1, 0)), [AgentId(5)]);
    let waits = Waits::Env(vec!["OPENAI_API_KEY".to_owned()]);
    assert_eq!(story.row(A2).phase, Phase::Waits(waits));
    story.ends(AgentId(5), 0);
    assert_eq!(spawned(&story.does(Event::EnvMissing(batch(1), Vec::new()))), [A2]);
}

#[test]
fn a_journal_that_cannot_be_written_holds_the_queue_and_stops_nothing() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    assert_eq!(story.does(Event::SaveFailed("no space left".to_owned())), []);
    assert_eq!(story.ends(A1, 0), []);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::NotSaved));
    assert_eq!(story.does(Event::Saved), [Effect::Spawn(A2)]);
}

#[test]
fn three_bad_keys_in_a_row_hold_the_kind_and_no_other() {
    let mut tasks = vec![paid("task"); 7];
    tasks.push(free("other kind"));
    let (mut story, _) = play(options(1, None), vec![submit(1, tasks)]);
    story.fails_with(A1, ExitReason::Auth);
    story.ends(A2, 0);
    story.fails_with(A3, ExitReason::Auth);
    assert_eq!(spawned(&story.fails_with(A4, ExitReason::Auth)), [AgentId(5)], "a done between");
    let cause = "3 agents in a row ended with auth";
    // The slot is free before the output has been read, so one more has started by then.
    let effects = story.fails_with(AgentId(5), ExitReason::Auth);
    assert_eq!(effects, [Effect::Spawn(AgentId(6))]);
    assert_eq!(story.row(AgentId(7)).phase, Phase::Waits(Waits::Kind(cause.to_owned())));
    assert_eq!(story.ends(AgentId(6), 0), [Effect::Spawn(AgentId(8))]);
    assert_eq!(story.ends(AgentId(8), 0), []);
    assert!(story.snapshot().header.idle);
    assert_eq!(story.does(command(Command::Release)), [Effect::Spawn(AgentId(7))]);
}

#[test]
fn a_closed_or_ending_fleet_takes_no_more_tasks() {
    let (mut story, _) = play(options(1, None), vec![command(Command::Close)]);
    assert!(matches!(story.asks(submit(1, four())), Reply::Refused(_)));
    let (mut story, _) = play(options(1, None), vec![interrupt()]);
    assert!(matches!(story.asks(submit(1, four())), Reply::Refused(_)));
    assert!(story.snapshot().rows.is_empty());
}

#[test]
fn an_agent_is_tried_again_once_as_a_new_agent_that_names_it() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    story.ends(A1, 1);
    let retry = |number| command(Command::Retry(batch(number), vec![A1]));
    assert_eq!(story.asks(retry(2)), Reply::Queued(batch(2), vec![A2]));
    assert_eq!(story.asks(retry(2)), Reply::Queued(batch(2), vec![A2]));
    assert!(matches!(story.asks(retry(3)), Reply::Refused(_)));
    assert_eq!((story.row(A1).retried_by, story.row(A2).retry_of), (Some(A2), Some(A1)));
}

#[test]
fn a_dearer_task_is_not_overtaken_and_the_one_behind_it_says_that_it_waits() {
    let tasks = vec![
        budgeted("runs", cents(50)),
        budgeted("dear", cents(80)),
        budgeted("cheap", cents(10)),
    ];
    let (mut story, effects) = play(options(3, Some(cents(100))), vec![submit(1, tasks)]);
    assert_eq!(spawned(&effects), [A1]);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Reserved));
    assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Reserved));
}

#[test]
fn an_agent_named_twice_is_tried_again_once() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    story.ends(A1, 1);
    let retry = command(Command::Retry(batch(2), vec![A1, A1]));
    assert_eq!(story.asks(retry), Reply::Queued(batch(2), vec![A2]));
    assert_eq!(story.snapshot().rows.len(), 2);
}

#[test]
fn an_edited_task_counts_money_as_its_new_kind_does() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    story.does(command(Command::Edit(A2, Box::new(paid("two, by a model")))));
    story.ends(A1, 0);
    story.ends(A2, 0);
    assert_eq!((story.row(A2).cost, story.row(A2).cost_status), (None, CostStatus::Unknown));
}

#[test]
fn an_ending_fleet_tries_nothing_again() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    story.ends(A1, 1);
    story.does(interrupt());
    assert!(matches!(story.asks(command(Command::Retry(batch(2), vec![A1]))), Reply::Refused(_)));
    assert_eq!(story.snapshot().rows.len(), 1);
}
