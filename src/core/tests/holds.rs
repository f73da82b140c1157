//! Stories of agents that are held by themselves.

use super::support::*;
use crate::core::*;

fn hold(ids: &[AgentId]) -> Event {
    command(Command::HoldAgents(ids.to_vec()))
}

fn release(ids: &[AgentId]) -> Event {
    command(Command::ReleaseAgents(ids.to_vec()))
}

fn four() -> Vec<Task> {
    ["one", "two", "three", "four"].map(free).to_vec()
}

#[test]
fn a_held_agent_is_passed_over_until_it_is_released_and_keeps_its_place() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    assert_eq!(story.asks(hold(&[A2, A3, A2])), Reply::Done(2));
    let row = story.row(A2);
    assert_eq!(
        (row.status, row.held, row.phase),
        (Status::Queued, true, Phase::Waits(Waits::Held))
    );
    assert_eq!(story.snapshot().held_agents(), [A2, A3]);
    assert_eq!(story.snapshot().header.hold, None);
    assert_eq!(spawned(&story.ends(A1, 0)), [A4]);
    assert_eq!(story.asks(release(&[A3])), Reply::Done(1));
    let row = story.row(A3);
    assert_eq!((row.held, row.phase), (false, Phase::Waits(Waits::Slot)));
    assert_eq!(spawned(&story.ends(A4, 0)), [A3]);
    assert_eq!(story.ends(A3, 0), []);
    let header = story.snapshot().header;
    assert!(header.idle && !header.all_done && !header.left_by_cap, "{header:?}");
    assert_eq!(header.kpis.queued, 1);
    assert_eq!(spawned(&story.does(release(&[A2]))), [A2]);
    assert!(!story.row(A2).held);
}

#[test]
fn only_what_is_queued_is_held_and_what_is_said_of_others_is_why_not() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four())]);
    let refused = |story: &mut Story, event: Event| match story.asks(event) {
        Reply::Refused(Refusal(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&mut story, hold(&[A1])), "#1 has already started");
    assert!(refused(&mut story, hold(&[AgentId(9)])).contains("no agent #9"));
    assert_eq!(story.asks(hold(&[A1, A2])), Reply::Done(1), "the one that is queued");
    let told = story.journal.len();
    assert_eq!(story.asks(hold(&[A2])), Reply::Done(1));
    assert_eq!(story.asks(release(&[A3])), Reply::Done(0), "it was not held");
    assert_eq!(story.journal.len(), told, "nothing new is decided");
    story.ends(A1, 0);
    assert_eq!(refused(&mut story, release(&[A1])), "#1 has already ended");
}

#[test]
fn a_hold_of_one_is_not_that_of_the_queue() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four()), hold(&[A2])]);
    story.does(command(Command::Hold));
    story.ends(A1, 0);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Hold));
    assert!(story.row(A2).held);
    assert_eq!(spawned(&story.does(command(Command::Release))), [A3]);
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Held));
    // What runs out of slots first is no matter of a held one.
    assert_eq!(story.does(command(Command::Move(A2, Direction::First))), []);
    assert_eq!(spawned(&story.ends(A3, 0)), [A4]);
}

#[test]
fn a_held_agent_is_moved_edited_stopped_and_dropped_as_any_other() {
    let deadline = Some(std::time::Duration::from_mins(10));
    let own = FleetOptions { deadline, ..options(1, None) };
    let (mut story, _) = play(own, vec![submit(1, four()), hold(&[A2, A3, A4])]);
    story.does(command(Command::Move(A4, Direction::First)));
    story.does(command(Command::Edit(A4, Box::new(free("edited")))));
    assert_eq!(story.snapshot().queue, [A4, A2, A3]);
    let row = story.row(A4);
    assert_eq!((row.task.text.as_str(), row.held), ("edited", true));
    assert!(matches!(story.asks(command(Command::Retry(batch(2), vec![A4]))), Reply::Refused(_)));
    story.does(stop(A2));
    let row = story.row(A2);
    assert_eq!((row.status, row.held), (Status::Ended(Outcome::Cancelled), false));
    story.wait(std::time::Duration::from_mins(11)).does(Event::Tick);
    assert_eq!(story.status(A4), Status::Ended(Outcome::Dropped));
}

#[test]
fn another_host_still_holds_them_whatever_else_it_lets_go() {
    let (mut story, _) = play(options(1, None), vec![submit(1, four()), hold(&[A2, A3])]);
    story.does(release(&[A3]));
    story.does(interrupt());
    story.ends(A1, 143);
    let mut new = story.restored();
    assert!(new.row(A2).held && !new.row(A3).held);
    let _ = new.fleet.resume(new.now, options(2, None));
    assert_eq!(spawned(&new.fleet.settle_resumed(new.now)), [A3, A4]);
    assert_eq!(new.row(A2).phase, Phase::Waits(Waits::Held));
}

#[test]
fn the_cap_asks_nothing_about_what_is_held() {
    let (mut story, _) = play(options(1, Some(cents(100))), vec![submit(1, four()), hold(&[A2])]);
    // Only what could start is counted, and it goes when nothing could any more.
    story.ends_costing(A1, cents(100));
    assert_eq!(story.snapshot().question.map(|question| question.queued), Some(2));
    assert_eq!(story.row(A2).phase, Phase::Waits(Waits::Held));
    story.does(hold(&[A3, A4]));
    let snapshot = story.snapshot();
    assert_eq!(snapshot.question, None);
    assert!(!snapshot.header.left_by_cap, "it is the owner who keeps them");
    story.does(release(&[A4]));
    let question = story.snapshot().question.expect("it would start if there were money");
    assert_eq!((question.id, question.queued), (Q2, 1));
    // What is dropped is what was asked about.
    assert_eq!(story.asks(answer(Q2, Answer::Drop)), Reply::Done(1));
    assert_eq!(story.status(A4), Status::Ended(Outcome::Dropped));
    assert_eq!(story.snapshot().queue, [A2, A3]);
    story.does(release(&[A2]));
    let open = story.snapshot().question.expect("once more").id;
    story.does(answer(open, Answer::Stop));
    let statuses = [A2, A3].map(|id| story.status(id));
    assert_eq!(statuses, [Status::Ended(Outcome::Dropped); 2], "everything is everything");
}

#[test]
fn a_dear_task_that_is_held_stands_in_nobodys_way() {
    let tasks =
        vec![budgeted("one", cents(50)), budgeted("dear", cents(90)), budgeted("cheap", cents(20))];
    let (mut story, effects) = play(options(3, Some(cents(100))), vec![submit(1, tasks)]);
    assert_eq!(spawned(&effects), [A1]);
    assert_eq!(story.row(A3).phase, Phase::Waits(Waits::Reserved));
    assert_eq!(spawned(&story.does(hold(&[A2]))), [A3]);
}
