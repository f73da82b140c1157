//! Each program that can goes on in the session of an agent that has ended: it knows what was said there, and only what
//! is new counts.
//!
//! What may go here: follow-ups of agents that have ended. What may not: messages to agents that run.

use super::{
    CLAUDE, CODEX, COPILOT, Cost, GEMINI, HERMES, Kind, OPENCODE, PATIENCE, QWEN, Stage, tokens,
};
use crate::harness::wait_until;

/// Runs a command and an answer, and then says one thing more. The stand-in answers by the history that it is sent: the
/// first answer again, and not the command, shows that the session is the same.
#[track_caller]
fn check(kind: Kind, expected: [u64; 4], cost: &Cost) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    stage.run(kind, "default").expect_code(0);
    let before = stage.row(1);
    let told = stage.world.fleet(&["steer", "1", "And now?"]).expect_code(0);
    let ended = |status: &str| !matches!(status, "queued" | "starting" | "running" | "ending");
    let ran = wait_until("the follow-up has ended", PATIENCE, || {
        let ran = stage.world.fleet(&["results", "--json"]);
        let status = ran.column("status");
        if status.len() == 2 && ended(&status[1]) { Ok(ran) } else { Err(format!("{ran:#?}")) }
    });
    let agent = &ran.json()["agents"][1];
    assert_eq!((&agent["status"], &agent["continues"]), (&"done".into(), &1.into()), "{ran:#?}");
    assert_eq!(agent["answer"], "Done: the command printed hello.", "{told:#?}");
    assert_eq!(agent["steps"], 0, "the command is not run again: {ran:#?}");
    stage.world.end_fleets();
    let row = stage.row(2);
    let requests = stage.service.requests();
    assert_eq!(tokens(&row), expected, "{before:#?}\n{row:#?}\n{requests:#?}");
    assert_eq!(&Cost::of(&row), cost, "{before:#?}\n{row:#?}");
    stage.world.assert_nothing_runs();
}

#[test]
fn claude_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(CLAUDE, [1_300, 2_000, 0, 12], &Cost::reported("0.00292"));
}

#[test]
fn codex_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(CODEX, [1_300, 2_000, 0, 12], &Cost::estimated("0.00786"));
}

#[test]
fn opencode_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(OPENCODE, [1_300, 2_000, 0, 12], &Cost::reported("0.00468"));
}

#[test]
fn gemini_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(GEMINI, [1_300, 2_000, 0, 12], &Cost::estimated("0.001995"));
}

/// It asks its model once more than it shows, for what is worth remembering of a longer session, and counts that.
#[test]
fn qwen_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(QWEN, [2_600, 4_000, 0, 24], &Cost::Unknown);
}

#[test]
fn copilot_goes_on_in_the_session_of_an_agent_that_has_ended() {
    check(COPILOT, [1_300, 2_000, 0, 12], &Cost::Unknown);
}

#[test]
fn hermes_cannot_and_says_so() {
    let Some(stage) = Stage::set(&[HERMES.name], &[]) else { return };
    stage.run(HERMES, "default").expect_code(0);
    let told = stage.world.fleet(&["steer", "1", "And now?"]).expect_code(2);
    assert!(told.stderr.contains("hermes cannot go on in a session: retry it"), "{told:#?}");
    stage.world.end_fleets();
    stage.world.assert_nothing_runs();
}
