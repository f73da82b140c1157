//! Stories of agents that run and do not get on.

use std::time::Duration;

use super::support::*;
use crate::core::*;

const SECOND: Duration = Duration::from_secs(1);

fn retry(cause: &str) -> Fact {
    Fact::Retry(Retry { attempt: None, most: None, cause: cause.to_owned() })
}

fn said() -> Fact {
    Fact::Text { role: "assistant".to_owned(), text: "once more".to_owned() }
}

fn call(text: &str, state: StepState) -> Fact {
    let id = (state == StepState::Start).then(|| text.to_owned());
    Fact::Step {
        id: id.or(Some(text.to_owned())),
        tool: "bash".to_owned(),
        text: text.to_owned(),
        state,
    }
}

fn running(task: Task) -> Story {
    play(options(1, None), vec![submit(1, vec![task]), Event::Started(A1)]).0
}

fn doubt(story: &mut Story) -> Option<Doubt> {
    story.row(A1).doubt
}

/// Lets the agent fail twice a second, and go on with words of its own each time; returns what the fleet wanted done.
fn circle(story: &mut Story, seconds: u32) -> Vec<Effect> {
    let mut effects = Vec::new();
    for _ in 0..seconds {
        story.wait(SECOND);
        effects.extend(story.does(facts(A1, vec![retry("400"), said(), retry("400"), said()])));
    }
    effects
}

#[test]
fn a_question_that_nobody_can_answer_is_marked_until_something_is_written() {
    let asks = || Event::SeemsToWait(A1, Some("Password: ".to_owned()));
    let waits = Some(Doubt::WaitsForInput { prompt: "Password: ".to_owned() });
    let mut story = running(free("task"));
    story.does(asks());
    // It works again, without a word.
    story.does(Event::SeemsToWait(A1, None));
    assert_eq!(doubt(&mut story), None);
    let signs = [
        Event::Progress(A1),
        facts(A1, Vec::new()),
        facts(A1, vec![said()]),
        facts(A1, vec![call("ls", StepState::Start)]),
    ];
    for sign in signs {
        let mut story = running(free("task"));
        assert_eq!(story.does(asks()), [], "nothing is done about it");
        assert_eq!(doubt(&mut story), waits);
        assert!(story.row(A1).is_marked());
        // As long as it is silent it stays so, whatever else is said of it, and it is never stopped.
        story.tick_after(SECOND * 450);
        let row = story.row(A1);
        assert_eq!((row.doubt, row.stalled, row.status), (waits.clone(), true, Status::Running));
        story.does(sign);
        assert_eq!((doubt(&mut story), story.row(A1).stalled), (None, false));
    }
    // It goes before other marks, which come back when it goes.
    let mut story = running(paid("task"));
    circle(&mut story, 20);
    story.does(asks());
    assert_eq!(doubt(&mut story), waits);
    story.does(Event::Progress(A1));
    assert!(matches!(doubt(&mut story), Some(Doubt::Failing { .. })));
    // Of one that does not run it says nothing.
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")]), asks()]);
    story.does(Event::Started(A1));
    assert_eq!(doubt(&mut story), None);
    story.ends(A1, 0);
    story.does(asks());
    assert_eq!(doubt(&mut story), None);
}

#[test]
fn quick_failures_are_a_runaway_which_is_marked_and_never_stopped() {
    let mut story = running(paid("task"));
    assert_eq!(circle(&mut story, 3), []);
    assert_eq!(doubt(&mut story), None, "six may be a coincidence");
    assert_eq!(circle(&mut story, 17), []);
    let over = SECOND * 19;
    let expected = Doubt::Failing { times: 40, over, cause: "400".to_owned() };
    assert_eq!(doubt(&mut story), Some(expected));
    assert!(story.row(A1).is_marked() && !story.row(A1).stalled);
    assert_eq!(circle(&mut story, 3600), []);
    assert_eq!(story.status(A1), Status::Running);
}

#[test]
fn a_runaway_is_none_any_more_after_a_tool_call_that_succeeded_or_a_pause() {
    let mut story = running(paid("task"));
    circle(&mut story, 20);
    story.does(facts(A1, vec![call("ls", StepState::Start)]));
    assert!(doubt(&mut story).is_some(), "it may fail as well");
    story.does(facts(A1, vec![call("ls", StepState::End)]));
    assert_eq!(doubt(&mut story), None);

    circle(&mut story, 20);
    let next = story.fleet.next_tick().expect("the mark ends by itself");
    assert_eq!(next.since(story.now), SECOND * 20);
    story.tick_after(SECOND * 19);
    assert!(doubt(&mut story).is_some());
    story.tick_after(SECOND);
    assert_eq!(doubt(&mut story), None);
    let next = story.fleet.next_tick().expect("it may stall");
    assert!(next > story.now, "and no tick is due at once, for ever");
}

/// As claude does when its service refuses the connection.
#[test]
fn tries_that_are_further_and_further_apart_are_no_runaway() {
    let mut story = running(paid("task"));
    let start = story.now;
    for millis in [4800, 5400, 6700, 8900, 13_900, 22_400, 39_100, 75_800, 109_400, 142_700] {
        story.now = start.after(Duration::from_millis(millis));
        story.does(facts(A1, vec![retry("connection failed")]));
        assert_eq!(doubt(&mut story), None, "at {millis} ms");
    }
}

#[test]
fn what_has_piled_up_until_it_is_read_is_no_runaway() {
    let mut story = running(paid("task"));
    story.does(facts(A1, vec![retry("429"); 100]));
    assert_eq!(doubt(&mut story), None);
    // A host that comes later finds all of it, in several pieces.
    story.does(Event::Adopted(A1, None));
    for _ in 0..8 {
        story.wait(SECOND / 8).does(facts(A1, vec![retry("429"); 10]));
    }
    for _ in 0..4 {
        story.wait(SECOND).does(facts(A1, vec![retry("429")]));
        assert_eq!(doubt(&mut story), None);
    }
}

#[test]
fn one_call_that_fails_ten_times_in_a_row_is_a_runaway() {
    let mut story = running(paid("task"));
    let fail = |text: &str, story: &mut Story| {
        story.wait(SECOND * 30);
        story.does(facts(A1, vec![call(text, StepState::Start)]));
        // The end of a call need not say again what it does.
        let end = Fact::Step {
            id: Some(text.to_owned()),
            tool: String::new(),
            text: String::new(),
            state: StepState::Error,
        };
        assert_eq!(story.does(facts(A1, vec![said(), end])), []);
    };
    for _ in 0..9 {
        fail("make", &mut story);
    }
    assert_eq!(doubt(&mut story), None);
    fail("make -k", &mut story);
    for _ in 0..9 {
        fail("make", &mut story);
        assert_eq!(doubt(&mut story), None, "something else was tried between");
    }
    fail("make", &mut story);
    let (tool, text) = ("bash".to_owned(), "make".to_owned());
    assert_eq!(doubt(&mut story), Some(Doubt::Repeating { times: 10, tool, text }));
    story.does(facts(A1, vec![call("vi", StepState::End)]));
    assert_eq!(doubt(&mut story), None);
}

#[test]
fn an_agent_that_writes_and_tells_no_event_is_marked_until_it_does() {
    let mut story = running(paid("task"));
    story.does(facts(A1, vec![said()]));
    for _ in 0..449 {
        story.wait(SECOND);
        assert_eq!(story.does(Event::Progress(A1)), []);
        assert_eq!(story.does(Event::Tick), []);
    }
    assert_eq!(doubt(&mut story), None);
    let due = story.fleet.next_tick().expect("a tick is due");
    assert_eq!(due.since(story.now), SECOND);
    assert_eq!(story.tick_after(SECOND), []);
    assert_eq!(doubt(&mut story), Some(Doubt::NoEvent));
    assert!(!story.row(A1).stalled, "it makes progress, as far as can be seen");
    story.does(facts(A1, vec![Fact::Notes("n".to_owned())]));
    assert_eq!(doubt(&mut story), Some(Doubt::NoEvent), "what a reader notes is no event");
    story.does(facts(A1, vec![said()]));
    assert_eq!(doubt(&mut story), None);

    // A command may print lines of the protocol now and then, and must not.
    let mut story = running(free("task"));
    story.does(facts(A1, vec![said()]));
    for _ in 0..500 {
        story.wait(SECOND).does(Event::Progress(A1));
        story.does(Event::Tick);
    }
    assert_eq!(doubt(&mut story), None);
}

#[test]
fn an_agent_that_has_ended_is_not_marked() {
    let mut story = running(paid("task"));
    circle(&mut story, 20);
    story.does(stop(A1));
    assert!(doubt(&mut story).is_some(), "it is still there");
    story.does(gone(A1, 143));
    assert_eq!(doubt(&mut story), None);
    story.does(scanned(A1));
    assert!(doubt(&mut story).is_none() && !story.row(A1).is_marked());
}
