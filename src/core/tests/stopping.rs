//! Stories about stopping: one, all, twice, at every stage of an agent's life.

use std::time::Duration;

use super::support::*;
use crate::core::*;

fn three_with(slots: u32) -> Story {
    play(options(slots, None), vec![submit(1, ["one", "two", "three"].map(free).to_vec())]).0
}

#[test]
fn an_agent_named_twice_in_one_stop_is_asked_and_not_killed() {
    let (mut story, _) = play(options(2, None), vec![submit(1, vec![free("one"), free("two")])]);
    let twice = command(Command::Stop(Some(vec![A1, A1])));
    assert_eq!(story.does(twice.clone()), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.does(twice), [Effect::Stop(A1, Urgency::Kill)]);
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    let queued = command(Command::Stop(Some(vec![A2, A2])));
    assert_eq!(story.asks(queued), Reply::Done(1));
}

#[test]
fn a_stopped_agent_frees_its_slot_only_when_its_tree_is_gone() {
    let mut story = three_with(1);
    story.does(Event::Started(A1));
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.status(A1), Status::Stopping);
    assert_eq!(story.does(Event::Exited(A1, 2)), []);
    assert_eq!(story.row(A1).phase, Phase::LeftBehind(2));
    assert_eq!(story.does(gone(A1, 143)), [Effect::Spawn(A2)]);
    assert_eq!(story.status(A1), Status::Ending);
    assert_eq!(story.does(scanned(A1)), []);
    let end = story.end(A1);
    assert_eq!((end.outcome, end.error.as_str()), (Outcome::Cancelled, "stopped by the owner"));
}

/// C-52
#[test]
fn stopping_all_empties_the_queue_so_that_nothing_starts_afterwards() {
    let mut story = three_with(2);
    let effects = story.does(stop_all());
    let ask = |id| Effect::Stop(id, Urgency::Ask);
    assert_eq!(effects, [Effect::Forget(A3), ask(A1), ask(A2)]);
    assert_eq!(story.ends(A1, 143), []);
    assert_eq!(story.does(Event::NeverBegan(A2)), [Effect::Forget(A2)]);
    for id in [A1, A2, A3] {
        assert_eq!(story.status(id), Status::Ended(Outcome::Cancelled));
    }
    assert!(story.snapshot().header.all_done);
}

/// C-57
#[test]
fn stopping_an_agent_that_has_just_ended_is_harmless_and_says_so() {
    let mut story = three_with(3);
    story.does(gone(A1, 0));
    assert_eq!(story.asks(stop(A1)), Reply::AlreadyEnded(vec![A1]));
    story.does(scanned(A1));
    assert_eq!(story.asks(stop(A1)), Reply::AlreadyEnded(vec![A1]));
    assert_eq!(story.status(A1), Status::Ended(Outcome::Done));
    let both = command(Command::Stop(Some(vec![A1, A2])));
    assert_eq!(story.asks(both), Reply::Done(1));
}

#[test]
fn an_unknown_agent_is_refused_and_then_nobody_is_stopped() {
    let mut story = three_with(3);
    let ids = Some(vec![A1, AgentId(9)]);
    for attempt in [Command::Stop(ids.clone()), Command::Kill(ids)] {
        let effects = story.apply(command(attempt));
        let refusal = Refusal("there is no agent #9 in this fleet".to_owned());
        assert_eq!(effects, [Effect::Reply(Ticket(0), Reply::Refused(refusal))]);
    }
    assert_eq!(story.asks(stop(AgentId(0))), {
        Reply::Refused(Refusal("there is no agent #0 in this fleet".to_owned()))
    });
}

#[test]
fn a_second_stop_kills_whatever_the_first_reason_was() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![budgeted("task", cents(10))])]);
    assert_eq!(story.does(costs(A1, cents(11))), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.does(costs(A1, cents(12))), []);
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Kill)]);
    story.ends(A1, 137);
    assert_eq!(story.end(A1).outcome, Outcome::OverBudget);
}

#[test]
fn killing_asks_nobody_first() {
    let mut story = three_with(2);
    story.does(Event::Started(A1));
    let effects = story.does(command(Command::Kill(None)));
    let kills = |id| effects.contains(&Effect::Stop(id, Urgency::Kill));
    assert!(kills(A1) && kills(A2), "{effects:?}");
    assert!(effects.contains(&Effect::Forget(A3)));
    assert_eq!(story.asks(command(Command::Kill(Some(vec![A3])))), {
        Reply::AlreadyEnded(vec![A3])
    });
}

#[test]
fn what_an_agent_has_left_behind_can_be_killed_and_its_own_end_stays() {
    let mut story = three_with(1);
    story.does(Event::Started(A1));
    story.does(Event::Exited(A1, 1));
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Kill)]);
    story.does(gone(A1, 0));
    story.does(scanned(A1));
    assert_eq!(story.status(A1), Status::Ended(Outcome::Done));
}

#[test]
fn an_interrupt_asks_everyone_together_keeps_the_queue_and_a_second_one_kills() {
    let mut story = three_with(2);
    story.does(Event::Started(A1));
    let stops = |urgency| [Effect::Stop(A1, urgency), Effect::Stop(A2, urgency)];
    assert_eq!(story.does(interrupt()), stops(Urgency::Ask));
    assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Ending));
    assert_eq!(story.does(interrupt()), stops(Urgency::Kill));
    assert_eq!(story.ends(A1, 130), []);
    assert_eq!(story.does(interrupt()), [Effect::Stop(A2, Urgency::Kill)]);
    assert!(matches!(story.asks(command(Command::Release)), Reply::Refused(_)), "A2 lives");
    assert_eq!(story.does(Event::NeverBegan(A2)), [Effect::Forget(A2)]);
    let interrupted = Status::Ended(Outcome::Interrupted);
    assert_eq!([A1, A2, A3].map(|id| story.status(id)), {
        [interrupted, interrupted, Status::Queued]
    });
    assert_eq!(story.end(A1).error, "fleet was ended by SIGINT");
    let header = story.snapshot().header;
    assert!(header.idle && !header.all_done);
    assert_eq!(header.hold, Some(Hold::Interrupted("SIGINT".to_owned())));
}

#[test]
fn a_fleet_whose_agents_were_all_ended_by_an_interrupt_goes_on_when_it_is_released() {
    let mut story = three_with(1);
    story.does(interrupt());
    story.ends(A1, 130);
    assert_eq!(story.does(command(Command::Release)), [Effect::Spawn(A2)]);
    assert_eq!(story.snapshot().header.hold, None);
    assert!(matches!(story.asks(submit(2, vec![free("four")])), Reply::Queued(..)));
}

#[test]
fn an_interrupt_does_not_change_why_an_agent_was_stopped_before() {
    let mut story = three_with(2);
    story.does(stop(A1));
    assert_eq!(story.does(interrupt()), [Effect::Stop(A2, Urgency::Ask)]);
    story.ends(A1, 143);
    story.ends(A2, 0);
    assert_eq!(story.end(A1).outcome, Outcome::Cancelled);
    assert_eq!(story.end(A2).outcome, Outcome::Interrupted);
}

#[test]
fn an_agent_that_is_still_starting_can_be_stopped_and_a_late_start_changes_nothing() {
    let mut story = three_with(1);
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.does(Event::Started(A1)), []);
    assert_eq!(story.status(A1), Status::Stopping);
    assert_eq!(story.does(Event::NeverBegan(A1)), [Effect::Forget(A1), Effect::Spawn(A2)]);
    assert_eq!(story.status(A1), Status::Ended(Outcome::Cancelled));
}

#[test]
fn a_stopped_agent_keeps_what_it_had_shown() {
    let mut story = three_with(1);
    story.does(costs(A1, cents(4)));
    story.does(tool(A1, StepState::End));
    story.does(stop(A1));
    story.does(costs(A1, cents(6)));
    story.ends(A1, 143);
    let row = story.row(A1);
    assert_eq!((row.cost, row.steps), (Some(cents(6)), 1));
    assert_eq!(story.snapshot().header.spent, cents(6));
}

/// C-57: also when the stop is heard of before the end.
#[test]
fn an_agent_that_had_ended_by_itself_before_it_was_asked_to_was_not_stopped() {
    let mut story = three_with(1);
    story.does(Event::Started(A1));
    let at = story.now;
    story.wait(Duration::from_millis(5));
    story.does(stop(A1));
    let early = TreeEnd { at, ..tree(ProcessEnd::Code(0)) };
    story.does(Event::TreeGone(A1, early));
    story.does(scanned(A1));
    assert_eq!(story.status(A1), Status::Ended(Outcome::Done));
    story.does(Event::Started(A2));
    let at = story.now;
    story.wait(Duration::from_millis(5));
    story.does(stop(A2));
    let asked = TreeEnd { at, signalled: true, ..tree(ProcessEnd::Code(0)) };
    story.does(Event::TreeGone(A2, asked));
    story.does(scanned(A2));
    assert_eq!(story.status(A2), Status::Ended(Outcome::Cancelled), "it was told to");
}
