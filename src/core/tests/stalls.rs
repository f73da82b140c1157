//! Stories of agents that are stopped because they make no progress: asked, a long grace, and whose word counts then.

use std::time::Duration;

use super::support::*;
use crate::core::*;

const SECOND: Duration = Duration::from_secs(1);

fn stopping() -> FleetOptions {
    FleetOptions { stale_stop: true, ..options(1, None) }
}

/// Plays an agent that was asked to end because it made no progress.
fn asked(task: Task) -> Story {
    let (mut story, _) =
        play(stopping(), vec![submit(1, vec![task, free("next")]), Event::Started(A1)]);
    let effects = story.tick_after(SECOND * 450);
    assert_eq!(effects.last(), Some(&Effect::Stop(A1, Urgency::AskPatiently)));
    story
}

/// Ends an agent whose shim was signalled.
fn ends(story: &mut Story, end: ProcessEnd, is_killed: bool) -> End {
    story.wait(SECOND * 60);
    let tree = TreeEnd { signalled: true, escalated: is_killed, ..tree(end) };
    story.does(Event::TreeGone(A1, tree));
    story.does(scanned(A1));
    story.end(A1)
}

fn signal(name: &str) -> ProcessEnd {
    ProcessEnd::Signal(name.to_owned())
}

fn tells(story: &mut Story, completed: bool, reason: ExitReason) {
    let (answer, error) = if completed { (Some("42".to_owned()), "") } else { (None, "could not") };
    let result = AgentResult {
        completed: Some(completed),
        answer,
        error: error.to_owned(),
        reason: Some(reason),
        ..AgentResult::default()
    };
    story.does(facts(A1, vec![Fact::Result(result)]));
}

#[test]
fn a_stalled_agent_says_so_while_it_stops_and_keeps_its_slot() {
    let mut story = asked(free("task"));
    let row = story.row(A1);
    assert_eq!((row.status, row.stalled), (Status::Stopping, true));
    let why = "no progress for 7m 30s (limit 7m 30s, between tools, grace 2m)";
    assert_eq!(row.phase, Phase::Stopping(why.to_owned(), story.now));
    assert_eq!(story.status(A2), Status::Queued);
    // What it writes now is no reason not to end, and it is not asked again.
    story.does(Event::Progress(A1));
    assert!(story.row(A1).stalled);
    assert_eq!(story.tick_after(SECOND * 900), []);
    assert_eq!(story.status(A1), Status::Stopping);
}

#[test]
fn one_that_ends_by_itself_within_its_grace_is_what_its_result_says() {
    let mut story = asked(free("command"));
    assert_eq!(ends(&mut story, ProcessEnd::Code(0), false).outcome, Outcome::Done);
    assert_eq!(story.status(A2), Status::Starting);
    let mut story = asked(free("command"));
    let end = ends(&mut story, ProcessEnd::Code(3), false);
    assert_eq!((end.outcome, end.error.as_str()), (Outcome::Failed, "exit code 3"));
    let mut story = asked(free("command"));
    let end = ends(&mut story, signal("SIGSEGV"), false);
    assert_eq!((end.outcome, end.error.as_str()), (Outcome::Failed, "killed by signal SIGSEGV"));
    // Prompts have results of their own, whatever ends the program after that.
    for end in [ProcessEnd::Code(0), ProcessEnd::Code(143), signal("SIGTERM"), signal("SIGINT")] {
        let mut story = asked(paid("prompt"));
        tells(&mut story, true, ExitReason::Completed);
        assert_eq!(ends(&mut story, end, false).outcome, Outcome::Done);
        let row = story.row(A1);
        assert_eq!((row.answer.as_str(), row.stalled), ("42", false));
    }
    for end in [ProcessEnd::Code(1), ProcessEnd::Code(130), signal("SIGINT")] {
        let mut story = asked(paid("prompt"));
        tells(&mut story, false, ExitReason::Auth);
        let end = ends(&mut story, end, false);
        assert_eq!((end.outcome, end.error.as_str()), (Outcome::Failed, "could not"));
    }
}

#[test]
fn one_that_ends_of_the_request_or_is_killed_has_stalled() {
    let words = "no progress for 7m 30s (limit 7m 30s, between tools, grace 2m); ";
    let check = |story: &mut Story, end: ProcessEnd, is_killed: bool, how: &str| {
        let end = ends(story, end, is_killed);
        assert_eq!(end.outcome, Outcome::Stalled, "{end:?}");
        assert_eq!((end.reason, end.escalated), (Some(ExitReason::Timeout), is_killed));
        assert_eq!(end.error, format!("{words}{how}"));
    };
    let unheard = "it ended when it was asked to, without a result";
    for end in [signal("SIGTERM"), signal("SIGINT"), ProcessEnd::Code(143), ProcessEnd::Code(130)] {
        check(&mut asked(free("command")), end.clone(), false, unheard);
        check(&mut asked(paid("prompt")), end.clone(), false, unheard);
        // A closing word that only tells of the request.
        let mut story = asked(paid("prompt"));
        tells(&mut story, false, ExitReason::Signal);
        check(&mut story, end.clone(), false, unheard);
        let mut story = asked(paid("prompt"));
        tells(&mut story, false, ExitReason::Error);
        check(&mut story, end, false, unheard);
    }
    let mut story = asked(paid("prompt"));
    tells(&mut story, false, ExitReason::Error);
    check(&mut story, ProcessEnd::Code(0), false, unheard);
    // What it left behind had to be killed, and not the agent.
    check(&mut asked(paid("prompt")), ProcessEnd::Code(0), true, unheard);
    check(&mut asked(free("command")), signal("SIGTERM"), true, unheard);
    let mut story = asked(paid("prompt"));
    tells(&mut story, false, ExitReason::Signal);
    check(&mut story, ProcessEnd::Code(0), false, unheard);
    // A program of a model that ends without a word has no result, whatever its code.
    for code in [0, 1] {
        check(&mut asked(paid("prompt")), ProcessEnd::Code(code), false, unheard);
    }
    let killed = "it had to be killed";
    check(&mut asked(free("command")), signal("SIGKILL"), true, killed);
    let mut story = asked(paid("prompt"));
    tells(&mut story, true, ExitReason::Completed);
    check(&mut story, signal("SIGKILL"), true, killed);
}

#[test]
fn the_reason_names_the_tool_that_it_was_in_and_its_limit() {
    let own = FleetOptions { stale_tool: SECOND * 90, stale_grace: SECOND * 7, ..stopping() };
    let (mut story, _) = play(own, vec![submit(1, vec![free("task")]), Event::Started(A1)]);
    story.does(tool(A1, StepState::Start));
    story.tick_after(SECOND * 92);
    let end = ends(&mut story, signal("SIGKILL"), true);
    let words = "no progress for 1m 32s (limit 1m 30s, in bash, grace 7s); it had to be killed";
    assert_eq!(end.error, words);
}

#[test]
fn whoever_stops_it_meanwhile_cuts_the_grace_short_and_gives_the_reason() {
    let mut story = asked(free("task"));
    story.wait(SECOND);
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.fleet.grace_ends(A1), Some(story.now.after(SECOND * 5)));
    assert_eq!(story.does(stop(A1)), [Effect::Stop(A1, Urgency::Kill)]);
    let end = ends(&mut story, ProcessEnd::Code(0), false);
    assert_eq!((end.outcome, end.error.as_str()), (Outcome::Cancelled, "stopped by the owner"));
    // So does the end of the fleet, once.
    let mut story = asked(free("task"));
    assert_eq!(story.does(interrupt()), [Effect::Stop(A1, Urgency::Ask)]);
    assert_eq!(story.tick_after(SECOND), []);
    let end = ends(&mut story, ProcessEnd::Code(0), false);
    assert_eq!(end.outcome, Outcome::Interrupted);
    // Decided past the host, beside which the file lies.
    let mut story = asked(free("task"));
    let tree = TreeEnd { owner_stop: true, signalled: true, ..tree(ProcessEnd::Code(0)) };
    story.does(Event::TreeGone(A1, tree));
    story.does(scanned(A1));
    assert_eq!(story.status(A1), Status::Ended(Outcome::Cancelled));
}

#[test]
fn another_host_keeps_the_deadline_of_the_grace_and_its_rules() {
    let mut story = asked(free("task"));
    let end = story.now.after(SECOND * 120);
    assert_eq!(story.fleet.grace_ends(A1), Some(end));
    story.wait(SECOND * 50);
    let mut restored = story.restored();
    assert_eq!(restored.fleet.grace_ends(A1), Some(end));
    assert_eq!(restored.does(Event::Adopted(A1, None)), []);
    let row = restored.row(A1);
    assert_eq!((row.status, row.stalled), (Status::Stopping, true));
    assert_eq!(ends(&mut restored, ProcessEnd::Code(0), false).outcome, Outcome::Done);
    story.does(stop(A1));
    let mut restored = story.restored();
    assert_eq!(restored.fleet.grace_ends(A1), Some(story.now.after(SECOND * 5)));
    assert_eq!(ends(&mut restored, ProcessEnd::Code(0), false).outcome, Outcome::Cancelled);
}

#[test]
fn one_that_was_marked_before_stalled_agents_were_stopped_is_asked_when_they_are() {
    let (mut story, _) =
        play(options(1, None), vec![submit(1, vec![free("task")]), Event::Started(A1)]);
    story.tick_after(SECOND * 450);
    assert_eq!(story.fleet.next_tick(), None);
    story.fleet.options.stale_stop = true;
    assert!(story.fleet.next_tick().is_some_and(|tick| tick <= story.now));
    assert_eq!(story.tick_after(SECOND), [Effect::Stop(A1, Urgency::AskPatiently)]);
    // Whatever it has done before that has saved it.
    let (mut story, _) =
        play(options(1, None), vec![submit(1, vec![free("task")]), Event::Started(A1)]);
    story.tick_after(SECOND * 450);
    story.does(Event::Progress(A1));
    story.fleet.options.stale_stop = true;
    assert_eq!(story.tick_after(SECOND), []);
    assert_eq!(story.status(A1), Status::Running);
}
