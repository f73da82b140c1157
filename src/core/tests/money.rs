//! Stories about money: the cap and its question, reservations, budgets.

use super::support::*;
use crate::core::*;

/// Plays a fleet with one slot whose first agent spends 1.20 of a cap of 1.00.
fn reached(options: FleetOptions) -> (Story, Vec<Effect>) {
    let tasks = ["one", "two", "three"].map(free).to_vec();
    let (mut story, _) =
        play(FleetOptions { cap: Some(cents(100)), ..options }, vec![submit(1, tasks)]);
    let effects = story.ends_costing(A1, cents(120));
    (story, effects)
}

fn asking() -> Story {
    reached(options(1, None)).0
}

fn on_cap(on_cap: OnCap) -> FleetOptions {
    FleetOptions { on_cap, ..options(1, None) }
}

/// C-60
#[test]
fn spent_is_the_exact_sum_of_all_agents_failed_ones_included() {
    let (mut story, _) = play(options(3, None), vec![submit(1, vec![free("task"); 3])]);
    story.ends_costing(A1, NanoUsd::from_nanos(1));
    story.does(costs(A2, NanoUsd::from_nanos(100_000_000)));
    story.ends(A2, 1);
    story.does(costs(A3, NanoUsd::from_nanos(200_000_000)));
    let spent = story.snapshot().header.spent;
    assert_eq!(spent.to_exact(), "0.300000001");
}

/// C-61
#[test]
fn a_reached_cap_stops_starting_and_lets_live_agents_go_on_unless_it_is_hard() {
    for cap_hard in [false, true] {
        let options = FleetOptions { cap_hard, ..options(2, Some(cents(100))) };
        let (mut story, _) = play(options, vec![submit(1, vec![free("task"); 3])]);
        let stopped: Vec<_> = story
            .does(costs(A1, cents(101)))
            .into_iter()
            .filter(|effect| matches!(effect, Effect::Stop(..)))
            .collect();
        let hard = [A1, A2].map(|id| Effect::Stop(id, Urgency::Ask));
        assert_eq!(stopped, if cap_hard { hard.to_vec() } else { Vec::new() });
        assert_eq!(spawned(&story.ends(A2, 0)), []);
        assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Cap));
        let outcome = if cap_hard { Outcome::OverBudget } else { Outcome::Done };
        assert_eq!(story.status(A2), Status::Ended(outcome));
    }
}

/// C-62
#[test]
fn a_reached_cap_asks_once_and_a_new_cap_goes_on_while_a_drop_lets_runners_finish() {
    let options = options(2, Some(cents(100)));
    let (mut story, _) = play(options, vec![submit(1, vec![free("task"); 4])]);
    story.ends_costing(A1, cents(100));
    let asked = story.journal.iter().filter(|(_, record)| matches!(**record, Record::Asked(_)));
    assert_eq!(asked.count(), 1);
    story.tick_after(std::time::Duration::from_mins(1));
    story.does(costs(A2, cents(1)));
    let snapshot = story.snapshot();
    let question = snapshot.question.expect("it is open");
    assert_eq!((question.id, question.queued, question.committed), (Q1, 2, cents(101)));
    // What runs may need 0.99 more, and the next one 1.00.
    assert_eq!((question.cap, question.default), (cents(100), cents(300)));
    assert_eq!(snapshot.header.kpis.cost, cents(101));
    let raise = answer(Q1, Answer::Raise(cents(300)));
    assert_eq!(story.clone().does(raise), [Effect::Spawn(A3)]);
    let drop = answer(Q1, Answer::Drop);
    assert_eq!(story.does(drop), [Effect::Forget(A3), Effect::Forget(A4)]);
    assert_eq!(story.status(A2), Status::Starting);
    story.ends(A2, 0);
    assert_eq!(story.status(A2), Status::Ended(Outcome::Done));
    assert!(story.snapshot().header.all_done && story.snapshot().header.left_by_cap);
}

/// C-63
#[test]
fn a_reached_cap_with_an_empty_queue_asks_nothing() {
    let (mut story, _) = play(options(1, Some(cents(100))), vec![submit(1, vec![free("one")])]);
    assert_eq!(story.ends_costing(A1, cents(500)), []);
    assert_eq!(story.snapshot().question, None);
    assert!(!story.snapshot().header.left_by_cap);
}

/// C-67
#[test]
fn dropped_tasks_stay_as_rows_with_the_reason() {
    let (mut story, _) = reached(on_cap(OnCap::Drop));
    for id in [A2, A3] {
        let end = story.end(id);
        assert_eq!((end.outcome, end.reason), (Outcome::Dropped, Some(ExitReason::Budget)));
        assert_eq!(end.error, "not started: the cap of $1.00 was reached");
    }
    assert_eq!(story.snapshot().rows.len(), 3);
}

/// C-68
#[test]
fn live_agents_reserve_their_budget_else_their_kinds_mean_else_what_is_assumed() {
    let cap = |cents_| options(9, Some(cents(cents_)));
    let (mut story, effects) =
        play(cap(100), vec![submit(1, vec![budgeted("task", cents(40)); 3])]);
    assert_eq!(spawned(&effects), [A1, A2], "three times 0.40 would pass 1.00");
    story.does(costs(A1, cents(15)));
    assert_eq!(story.snapshot().header.reserved, cents(65));
    assert_eq!(spawned(&story.ends_costing(A1, cents(20))), [A3]);

    let (mut story, effects) = play(cap(100), vec![submit(1, vec![paid("task"); 9])]);
    assert_eq!(spawned(&effects), [A1, A2], "0.50 each is assumed");
    let effects = story.ends_costing(A1, cents(10));
    assert_eq!(spawned(&effects).len(), 7, "0.10 each is the mean now");
    assert_eq!(story.snapshot().header.reserved, cents(80));
}

/// C-69
#[test]
fn a_cap_of_zero_asks_before_the_first_agent() {
    let (mut story, effects) = play(options(1, Some(cents(0))), vec![submit(1, vec![free("one")])]);
    assert_eq!(effects, []);
    assert_eq!(story.snapshot().question.map(|question| question.id), Some(Q1));
    assert_eq!(story.status(A1), Status::Queued);
    assert_eq!(story.does(answer(Q1, Answer::Raise(cents(1)))), [Effect::Spawn(A1)]);
}

#[test]
fn without_a_cap_nothing_is_ever_asked() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![paid("task"); 5])]);
    for id in 1..5 {
        let effects = story.ends_costing(AgentId(id), NanoUsd::from_dollars(1_000_000));
        assert_eq!(effects, [Effect::Spawn(AgentId(id + 1))]);
    }
    let snapshot = story.snapshot();
    assert_eq!((snapshot.header.cap, snapshot.question), (None, None));
}

#[test]
fn while_only_reservations_hold_the_queue_nothing_is_asked() {
    let (mut story, _) = play(options(9, Some(cents(100))), vec![submit(1, vec![paid("task"); 3])]);
    assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Reserved));
    assert_eq!(story.snapshot().question, None);
}

#[test]
fn with_nothing_live_one_agent_may_start_below_the_cap_whatever_it_reserves() {
    let tasks = vec![budgeted("dear", NanoUsd::from_dollars(9)), free("two")];
    let (mut story, effects) = play(options(9, Some(cents(100))), vec![submit(1, tasks)]);
    assert_eq!(spawned(&effects), [A1]);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Reserved));
}

#[test]
fn a_raise_that_would_let_nothing_start_is_refused_and_changes_nothing() {
    let mut story = asking();
    for cap in [0, 100, 119, 120] {
        let Reply::Refused(Refusal(why)) = story.asks(answer(Q1, Answer::Raise(cents(cap)))) else {
            panic!("{cap} was taken");
        };
        assert!(why.contains("1.20"), "{why}");
    }
    assert!(matches!(story.asks(set_cap(Some(cents(120)))), Reply::Refused(_)));
    let snapshot = story.snapshot();
    assert_eq!(snapshot.header.cap, Some(cents(100)));
    assert_eq!(snapshot.question.map(|question| question.id), Some(Q1));
    assert_eq!(story.does(answer(Q1, Answer::Raise(cents(121)))), { [Effect::Spawn(A2)] });
}

#[test]
fn the_first_answer_wins_and_a_second_is_told_how() {
    let mut story = asking();
    assert_eq!(story.asks(answer(Q1, Answer::Raise(cents(1200)))), Reply::Done(0));
    let told = Reply::AlreadyAnswered("raised to $12.00".to_owned());
    assert_eq!(story.asks(answer(Q1, Answer::Drop)), told);
    assert_eq!(story.status(A3), Status::Queued);
    assert!(matches!(story.asks(answer(Q2, Answer::Drop)), Reply::Refused(_)));
}

#[test]
fn taking_the_cap_away_closes_the_question_and_goes_on() {
    let mut story = asking();
    assert_eq!(story.does(set_cap(None)), [Effect::Spawn(A2)]);
    assert_eq!(story.snapshot().question, None);
    assert_eq!(story.snapshot().header.cap, None);
}

#[test]
fn setting_a_cap_answers_the_open_question() {
    let mut story = asking();
    let effects = story.apply(set_cap(Some(cents(900))));
    assert!(effects.contains(&Effect::Record(Record::Answered(Q1, Answer::Raise(cents(900))))));
    assert_eq!(spawned(&effects), [A2]);
}

#[test]
fn a_cap_below_what_is_spent_holds_the_queue_and_asks() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    story.does(costs(A1, cents(50)));
    assert_eq!(story.asks(set_cap(Some(cents(20)))), Reply::Done(0));
    assert_eq!(story.snapshot().question.map(|question| question.id), Some(Q1));
    assert_eq!(spawned(&story.ends(A1, 0)), []);
}

#[test]
fn keeping_to_hold_waits_for_another_cap_and_asks_nothing_more() {
    let mut story = asking();
    assert_eq!(story.does(answer(Q1, Answer::Hold)), []);
    assert_eq!(story.snapshot().header.hold, Some(Hold::Cap));
    assert!(story.snapshot().header.idle && story.snapshot().header.left_by_cap);
    assert_eq!(story.does(command(Command::Release)), []);
    assert_eq!(story.does(submit(2, vec![free("four")])), []);
    assert_eq!(spawned(&story.does(set_cap(Some(cents(150))))), [A2]);
    assert_eq!(story.snapshot().header.hold, None);
}

#[test]
fn stopping_everything_drops_the_queue_and_asks_live_agents_to_end() {
    let (mut story, _) =
        play(options(1, Some(cents(100))), vec![submit(1, vec![free("one"), free("two")])]);
    story.does(costs(A1, cents(100)));
    let stop = answer(Q1, Answer::Stop);
    assert_eq!(story.asks(stop), Reply::Done(2));
    assert_eq!(story.status(A2), Status::Ended(Outcome::Dropped));
    assert_eq!(story.ends(A1, 143), []);
    let end = story.end(A1);
    assert_eq!((end.outcome, end.reason), (Outcome::Cancelled, Some(ExitReason::Budget)));
}

#[test]
fn an_owners_hold_and_an_open_question_do_not_get_in_each_others_way() {
    let mut story = asking();
    story.does(command(Command::Hold));
    assert_eq!(spawned(&story.does(answer(Q1, Answer::Raise(cents(300))))), []);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Hold));
    assert_eq!(spawned(&story.does(command(Command::Release))), [A2]);
    let mut story = asking();
    story.does(command(Command::Hold));
    assert_eq!(story.does(command(Command::Release)), []);
    assert_eq!(story.snapshot().question.map(|question| question.id), Some(Q1));
}

#[test]
fn on_cap_hold_answers_by_itself_and_keeps_the_queue() {
    let (mut story, effects) = reached(on_cap(OnCap::Hold));
    assert_eq!(effects, []);
    let snapshot = story.snapshot();
    assert_eq!((snapshot.question, snapshot.queue), (None, vec![A2, A3]));
    assert!(snapshot.header.idle && snapshot.header.left_by_cap);
}

#[test]
fn on_cap_raise_raises_once_and_then_drops() {
    let (mut story, effects) = reached(on_cap(OnCap::Raise(cents(200))));
    assert_eq!(spawned(&effects), [A2]);
    assert_eq!(story.snapshot().header.cap, Some(cents(200)));
    story.ends_costing(A2, cents(80));
    assert_eq!(story.status(A3), Status::Ended(Outcome::Dropped));
    let (mut story, _) = reached(on_cap(OnCap::Raise(cents(110))));
    assert_eq!(story.status(A2), Status::Ended(Outcome::Dropped), "1.10 lets nothing start");
}

#[test]
fn an_agent_that_ended_with_an_unknown_cost_keeps_its_reservation() {
    let (mut story, _) = play(options(1, Some(cents(100))), vec![submit(1, vec![paid("task"); 4])]);
    assert_eq!(spawned(&story.ends(A1, 0)), [A2]);
    assert_eq!(story.snapshot().header.reserved, cents(100));
    assert_eq!(spawned(&story.ends(A2, 0)), [], "twice 0.50 of unknown cost are all of it");
    let snapshot = story.snapshot();
    assert_eq!((snapshot.header.spent, snapshot.header.cost_unknown), (cents(0), 2));
    assert_eq!(snapshot.question.map(|question| question.committed), Some(cents(100)));
    let why = "$1.00 would let nothing start: $1.00 is spent or may have been; give more than that";
    let refusal = Reply::Refused(Refusal(why.to_owned()));
    assert_eq!(story.asks(answer(Q1, Answer::Raise(cents(100)))), refusal);
}

#[test]
fn an_agent_past_its_budget_is_stopped_and_called_so() {
    let task = budgeted("task", cents(10));
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![task])]);
    assert_eq!(story.does(costs(A1, cents(10))), []);
    assert_eq!(story.does(costs(A1, cents(11))), [Effect::Stop(A1, Urgency::Ask)]);
    story.ends(A1, 0);
    let end = story.end(A1);
    assert_eq!((end.outcome, end.reason), (Outcome::OverBudget, Some(ExitReason::Budget)));
    assert_eq!(end.error, "went past its budget of $0.10");
}

#[test]
fn four_fifths_of_the_cap_are_told_once() {
    let (mut story, _) = play(options(1, Some(cents(100))), vec![submit(1, vec![free("one")])]);
    story.fleet.open_notices();
    assert_eq!(story.does(costs(A1, cents(79))), []);
    let told = story.does(costs(A1, cents(80)));
    assert!(
        matches!(told.as_slice(), [Effect::Notify(it)] if it.kind == NoticeKind::NearCap),
        "{told:?}"
    );
    assert_eq!(story.does(costs(A1, cents(90))), []);
}

#[test]
fn the_question_estimates_what_the_queue_would_cost() {
    let mut story = asking();
    let question = story.snapshot().question.expect("it is open");
    assert_eq!(question.queue_estimate, Some(cents(240)));
    assert_eq!(question.default, cents(220));
}

/// What it records beside its output is as good as what it prints.
#[test]
fn an_agent_past_its_budget_by_its_own_record_is_stopped() {
    let task = budgeted("task", cents(10));
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![task]), Event::Started(A1)]);
    let total = |amount| {
        let usage = Usage { input: 1, estimate: Some(cents(amount)), ..Usage::default() };
        facts(A1, vec![Fact::RunTotal(usage)])
    };
    assert_eq!(story.does(total(9)), []);
    assert_eq!(story.row(A1).cost, Some(cents(9)));
    let effects = story.does(total(11));
    assert!(effects.contains(&Effect::Stop(A1, Urgency::Ask)), "{effects:?}");
    assert_eq!(story.does(total(11)), []);
}

/// No queued task can cost more than its budget, whatever those before it cost on average.
#[test]
fn the_queue_is_never_estimated_above_the_sum_of_its_budgets() {
    let dear = |text| Task { budget: Some(cents(25)), ..free(text) };
    let tasks = vec![free("one"), dear("two"), dear("three"), free("four")];
    let (mut story, _) = play(options(1, Some(cents(100))), vec![submit(1, tasks)]);
    story.ends_costing(A1, cents(120));
    let question = story.snapshot().question.expect("it is open");
    assert_eq!(question.queue_estimate, Some(cents(25 + 25 + 120)));
}

#[test]
fn a_hard_cap_that_is_set_below_what_is_spent_stops_live_agents_at_once() {
    let options = FleetOptions { cap_hard: true, ..options(1, None) };
    let (mut story, _) = play(options, vec![submit(1, vec![free("one")])]);
    story.does(costs(A1, cents(50)));
    let effects = story.does(set_cap(Some(cents(20))));
    assert!(effects.contains(&Effect::Stop(A1, Urgency::Ask)), "{effects:?}");
}

#[test]
fn a_kind_that_reports_while_it_runs_makes_its_siblings_reserve() {
    let (mut story, _) = play(options(2, Some(cents(100))), vec![submit(1, vec![free("task"); 3])]);
    assert_eq!(story.snapshot().header.reserved, cents(0));
    story.does(costs(A1, cents(60)));
    assert_eq!(story.snapshot().header.reserved, cents(50), "0.50 is assumed of the other");
    story.wait(std::time::Duration::from_secs(5)).does(costs(A1, cents(61)));
    assert_eq!(story.restored().snapshot().header.reserved, cents(50));
}

#[test]
fn a_withdrawn_question_is_not_told_to_be_answered() {
    let mut story = asking();
    story.does(answer(Q1, Answer::Raise(cents(200))));
    story.ends_costing(A2, cents(100));
    story.does(command(Command::Remove(A3)));
    assert_eq!(story.snapshot().question, None);
    assert!(matches!(story.asks(answer(QuestionId(0), Answer::Drop)), Reply::Refused(_)));
    assert!(matches!(story.asks(answer(Q2, Answer::Drop)), Reply::Refused(_)));
}

#[test]
fn each_question_keeps_its_own_answer() {
    let mut story = asking();
    story.does(answer(Q1, Answer::Raise(cents(200))));
    story.ends_costing(A2, cents(100));
    assert_eq!(story.snapshot().question.map(|question| question.id), Some(Q2));
    assert_eq!(story.asks(answer(Q2, Answer::Drop)), Reply::Done(1));
    let first = Reply::AlreadyAnswered("raised to $2.00".to_owned());
    assert_eq!(story.asks(answer(Q1, Answer::Drop)), first);
    let second = Reply::AlreadyAnswered("the queue was dropped".to_owned());
    assert_eq!(story.asks(answer(Q2, Answer::Drop)), second);
    let mut restored = story.restored();
    assert_eq!(restored.asks(answer(Q1, Answer::Drop)), first);
}

#[test]
fn the_proposed_cap_lets_the_next_task_start_beside_those_that_run() {
    let tasks = vec![
        free("dear"),
        budgeted("runs on", cents(300)),
        budgeted("waits", cents(250)),
        budgeted("waits too", cents(250)),
    ];
    let (mut story, _) = play(options(2, Some(cents(350))), vec![submit(1, tasks)]);
    let effects = story.ends_costing(A1, cents(360));
    assert_eq!(spawned(&effects), []);
    let question = story.snapshot().question.expect("the cap is reached");
    assert_eq!(question.default, cents(360 + 300 + 250), "more than a dollar is needed");
    let effects = story.does(answer(question.id, Answer::Raise(question.default)));
    assert_eq!(spawned(&effects), [A3]);
}
