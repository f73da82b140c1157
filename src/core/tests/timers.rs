//! Stories about time: deadline, idle timeout, agents without progress, checkpoints.

use std::time::Duration;

use super::support::*;
use crate::core::*;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);

fn with_deadline(minutes: u32) -> FleetOptions {
    FleetOptions { deadline: Some(MINUTE * minutes), ..options(1, None) }
}

/// Plays one agent that has just begun to run.
fn running(options: FleetOptions, task: Task) -> Story {
    play(options, vec![submit(1, vec![task]), Event::Started(A1)]).0
}

/// Lets time pass up to the moments that the fleet asks for, and ticks, until one does more than to write down what is
/// known.
#[track_caller]
fn next_tick(story: &mut Story) -> (Duration, Vec<Effect>) {
    let begin = story.now;
    for _ in 0..2 {
        let next = story.fleet.next_tick().expect("a tick is needed");
        let effects = story.tick_after(next.since(story.now));
        if !effects.is_empty() {
            return (story.now.since(begin), effects);
        }
    }
    panic!("two ticks in a row did nothing");
}

/// Lets time pass up to the moments that the fleet asks for, and ticks, until an agent is marked.
#[track_caller]
fn mark_after(story: &mut Story, id: AgentId) -> Duration {
    let begin = story.now;
    for _ in 0..2 {
        let next = story.fleet.next_tick().expect("a tick is needed");
        assert_eq!(story.tick_after(next.since(story.now)), []);
        if story.row(id).stalled {
            return story.now.since(begin);
        }
    }
    panic!("it is not marked after two ticks");
}

#[test]
fn what_an_agent_told_before_it_fell_silent_is_written_down_soon() {
    let mut story = running(options(1, None), free("task"));
    story.wait(SECOND).does(costs(A1, cents(142)));
    assert_eq!(story.restored().row(A1).cost, Some(cents(0)), "not yet");
    let next = story.fleet.next_tick().expect("a tick is needed");
    assert!(next.since(story.now) <= SECOND * 5);
    let span = next.since(story.now);
    story.tick_after(span);
    assert_eq!(story.restored().row(A1).cost, Some(cents(142)));
    let next = story.fleet.next_tick().expect("it may become stale");
    assert!(next.since(story.now) > SECOND * 400, "once is enough");
}

#[test]
fn a_fleet_past_its_deadline_takes_no_more_tasks() {
    let (mut story, _) = play(with_deadline(10), vec![submit(1, vec![free("one"), free("two")])]);
    story.tick_after(MINUTE * 10);
    assert!(matches!(story.asks(submit(2, vec![free("late")])), Reply::Refused(_)));
    let retry = command(Command::Retry(batch(3), vec![A2]));
    assert!(matches!(story.asks(retry), Reply::Refused(_)));
    assert_eq!(story.snapshot().rows.len(), 2);
}

/// C-53, C-54
#[test]
fn the_deadline_stops_survivors_drops_the_queue_and_leaves_ends_alone() {
    let tasks = ["one", "two", "three"].map(free).to_vec();
    let (mut story, _) = play(with_deadline(10), vec![submit(1, tasks)]);
    story.ends(A1, 0);
    story.does(Event::Started(A2));
    assert!(mark_after(&mut story, A2) <= MINUTE * 10, "450 s come first");
    let (_, effects) = next_tick(&mut story);
    assert_eq!(effects, [Effect::Forget(A3), Effect::Stop(A2, Urgency::Ask)]);
    story.does(gone(A2, 143));
    story.does(scanned(A2));
    let statuses = [A1, A2, A3].map(|id| story.status(id));
    let outcomes = [Outcome::Done, Outcome::Timeout, Outcome::Dropped];
    assert_eq!(statuses, outcomes.map(Status::Ended));
    assert!(!story.end(A3).error.is_empty());
    let header = story.snapshot().header;
    assert!(header.all_done && header.past_deadline);
}

#[test]
fn the_deadline_counts_from_the_first_start_and_asks_for_its_tick() {
    let mut story = Story::new(with_deadline(10));
    story.wait(MINUTE * 60);
    story.does(command(Command::Hold));
    story.does(submit(1, vec![free("one")]));
    assert_eq!(story.fleet.next_tick(), None);
    story.does(command(Command::Release));
    assert_eq!(story.fleet.next_tick(), Some(story.now.after(MINUTE * 10)));
}

#[test]
fn an_agent_whose_shim_never_began_is_not_queued_again_after_the_deadline() {
    let (mut story, _) = play(with_deadline(10), vec![submit(1, vec![free("one")])]);
    story.tick_after(MINUTE * 10);
    assert_eq!(story.does(Event::NeverBegan(A1)), [Effect::Forget(A1)]);
    assert_eq!(story.status(A1), Status::Ended(Outcome::Timeout));
}

/// C-56
#[test]
fn an_idle_timeout_stops_silence_and_never_an_agent_that_keeps_writing() {
    let task = Task { idle_timeout: Some(MINUTE), ..free("task") };
    let mut story = running(options(1, None), task);
    for _ in 0..100 {
        assert_eq!(story.tick_after(SECOND * 59), []);
        assert_eq!(story.does(Event::Progress(A1)), []);
    }
    let (span, effects) = next_tick(&mut story);
    assert_eq!((span, effects), (MINUTE, vec![Effect::Stop(A1, Urgency::Ask)]));
    assert_eq!(story.fleet.next_tick(), None);
    story.ends(A1, 143);
    let end = story.end(A1);
    assert_eq!((end.outcome, end.reason), (Outcome::Timeout, Some(ExitReason::Timeout)));
    assert_eq!(end.error, "no progress for 1m (its idle timeout)");
}

/// C-101
#[test]
fn an_agent_is_stale_after_450_s_or_1200_s_inside_a_tool() {
    let mut story = running(options(1, None), free("task"));
    assert_eq!(mark_after(&mut story, A1), SECOND * 450);
    let mut story = running(options(1, None), free("task"));
    story.does(tool(A1, StepState::Start));
    assert_eq!(mark_after(&mut story, A1), SECOND * 1200);
    let own = FleetOptions { stale: SECOND * 5, stale_tool: SECOND * 9, ..options(1, None) };
    let mut story = running(own.clone(), free("task"));
    assert_eq!(mark_after(&mut story, A1), SECOND * 5);
    let mut story = running(own, free("task"));
    story.does(tool(A1, StepState::Start));
    assert_eq!(mark_after(&mut story, A1), SECOND * 9);
}

/// C-103
#[test]
fn any_progress_resets_the_mark_and_queue_time_does_not_count() {
    let tasks = vec![free("one"), free("two")];
    let (mut story, _) = play(options(1, None), vec![submit(1, tasks), Event::Started(A1)]);
    let signs = [
        Event::Progress(A1),
        tool(A1, StepState::Start),
        tool(A1, StepState::End),
        facts(A1, Vec::new()),
    ];
    for sign in signs {
        story.tick_after(SECOND * 1200);
        assert!(story.row(A1).stalled);
        story.does(sign);
        let row = story.row(A1);
        assert!(!row.stalled);
        assert_eq!(row.progress, Some(story.now), "since then it is quiet");
    }
    story.ends(A1, 0);
    story.does(Event::Started(A2));
    assert_eq!(story.tick_after(SECOND * 449), []);
    assert!(!story.row(A2).stalled);
    assert_eq!(story.tick_after(SECOND), []);
    assert!(story.row(A2).stalled);
}

/// Whoever begins to read tells them once more, as a host does that takes over.
#[test]
fn totals_that_are_told_again_are_no_progress_and_new_ones_are() {
    let mut story = running(options(1, None), paid("task"));
    let total = |input| facts(A1, vec![Fact::RunTotal(Usage { input, ..Usage::default() })]);
    story.does(total(500));
    story.tick_after(SECOND * 450);
    assert!(story.row(A1).stalled);
    story.does(total(500));
    story.does(total(400));
    assert!(story.row(A1).stalled);
    story.does(total(501));
    assert!(!story.row(A1).stalled);
}

/// C-106
#[test]
fn a_stale_agent_is_marked_and_told_once_and_stopped_only_if_that_is_switched_on() {
    let mut story = running(options(1, None), free("task"));
    story.fleet.open_notices();
    story.tick_after(SECOND * 450);
    assert!(story.row(A1).stalled);
    let (_, told) = next_tick(&mut story);
    assert!(
        matches!(told.as_slice(), [Effect::Notify(it)] if it.kind == NoticeKind::Stalled),
        "{told:?}"
    );
    assert_eq!(story.fleet.next_tick(), None);
    assert_eq!(story.tick_after(MINUTE * 600), []);
    assert_eq!(story.status(A1), Status::Running);

    let stop = FleetOptions { stale_stop: true, ..options(1, None) };
    let mut story = running(stop, free("task"));
    let asked = vec![Effect::Stop(A1, Urgency::AskPatiently)];
    assert_eq!(next_tick(&mut story), (SECOND * 450, asked));
    assert_eq!(story.fleet.next_tick(), None, "the rest is the shim's");
}

#[test]
fn work_is_saved_at_most_every_five_seconds_and_whole_with_the_end() {
    let mut story = running(options(1, None), free("task"));
    let checkpoints = |story: &Story| {
        let is = |record: &Record| matches!(record, Record::Checkpoint(..));
        story.journal.iter().filter(|(_, record)| is(record)).count()
    };
    for _ in 0..40 {
        story.wait(SECOND / 2).does(costs(A1, cents(1)));
    }
    assert_eq!(checkpoints(&story), 4);
    story.does(costs(A1, cents(7)));
    story.ends(A1, 0);
    assert_eq!(story.restored().row(A1).cost, Some(cents(7)));
    story.tick_after(MINUTE);
    assert_eq!(checkpoints(&story), 4);
}

#[test]
fn an_absurd_clock_or_limit_overflows_nothing() {
    let options = FleetOptions {
        stale: Duration::MAX,
        deadline: Some(Duration::MAX),
        stale_stop: true,
        ..options(1, None)
    };
    let mut story = running(options, free("task"));
    assert_eq!(story.fleet.next_tick(), Some(Moment(u64::MAX)));
    story.now = Moment(u64::MAX);
    story.does(Event::Tick);
    let _ = story.snapshot();
}

#[test]
fn a_deadline_that_passes_after_everything_has_ended_is_none() {
    let (mut story, _) = play(with_deadline(10), vec![submit(1, vec![free("one")])]);
    story.ends(A1, 0);
    assert_eq!(story.fleet.next_tick(), None);
    assert_eq!(story.tick_after(MINUTE * 30), []);
    assert!(!story.snapshot().header.past_deadline, "nothing was cut short");
}

#[test]
fn a_deadline_that_passes_while_fleet_is_interrupted_leaves_the_queue_to_a_resume() {
    let (mut story, _) =
        play(with_deadline(10), vec![submit(1, vec![free("one"), free("two")]), interrupt()]);
    assert_eq!(story.tick_after(MINUTE * 30), []);
    assert_eq!(story.status(A2), Status::Queued);
    assert!(!story.snapshot().header.past_deadline);
    assert_eq!(story.fleet.next_tick(), None);
}

#[test]
fn a_deadline_that_passes_while_only_output_is_read_cuts_nothing_short() {
    for last in [Event::Exited(A1, 2), gone(A1, 0)] {
        let (mut story, _) = play(with_deadline(10), vec![submit(1, vec![free("one")])]);
        story.does(last);
        assert_eq!(story.fleet.next_tick(), None);
        assert_eq!(story.tick_after(MINUTE * 30), []);
        story.ends(A1, 0);
        assert!(!story.snapshot().header.past_deadline);
        assert_eq!(story.status(A1), Status::Ended(Outcome::Done));
    }
}
