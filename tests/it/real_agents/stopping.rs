//! Each program is stopped while its model's command runs: nothing is left of either.
//!
//! What may go here: ends that the owner asks for. What may not: ends of their own.

use loki_fleet::core::{Phase, Snapshot};

use super::{
    CLAUDE, CODEX, COPILOT, Cost, GEMINI, HERMES, Kind, OPENCODE, PATIENCE, QWEN, Stage, tokens,
};
use crate::harness::{processes_running, wait_until};

/// What a program tells of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    /// That they begin.
    Start,
    /// Nothing before their end.
    End,
}

/// Seconds that a command sleeps, which no other command on this machine does.
fn seconds() -> String {
    format!("47.{:09}", fastrand::u32(..1_000_000_000))
}

#[track_caller]
fn check(kind: Kind, tells: Tells) -> Option<Stage> {
    let seconds = seconds();
    let stage = Stage::set(&[kind.name], &["--var", &format!("seconds={seconds}")])?;
    let mut live = stage.start(kind, "slowtool-marked");
    let sleeper = format!("sleep {seconds}");
    if tells == Tells::Start {
        let in_tool = |snapshot: &Snapshot| {
            let phase = snapshot.rows.first().map(|row| &row.phase);
            matches!(phase, Some(Phase::InTool { text, .. }) if text.contains(&sleeper))
        };
        stage.wait_shown("the agent is in a tool", in_tool);
    }
    wait_until("the command runs", PATIENCE, || {
        assert!(!live.has_ended(), "{:#?} {:#?}", stage.row(1), stage.service.requests());
        let seen = || format!("{:?}", stage.world.processes());
        if processes_running(&sleeper).is_empty() { Err(seen()) } else { Ok(()) }
    });
    stage.world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end_within(PATIENCE).expect_code(1);
    // At this very moment: nothing that carries the mark of an agent, and the command not even without it.
    stage.world.assert_no_agent_runs_now();
    let left = processes_running(&sleeper);
    assert!(left.is_empty(), "{left:#?}");
    let requests = stage.service.requests();
    let spending =
        requests.iter().filter(|request| request["step"] == 1 && request["side"] == false);
    assert_eq!(spending.count(), 0, "its model was asked once more: {requests:#?}");
    assert_eq!(ran.column("status"), ["cancelled"], "{ran:#?}");
    assert_eq!(ran.column("steps"), [if tells == Tells::Start { "1" } else { "0" }], "{ran:#?}");
    stage.world.assert_nothing_runs();
    Some(stage)
}

/// It is asked with SIGINT first, so that its totals come: 1,200 tokens in and 45 out, at $2 and $10 per million.
#[test]
fn claude_that_is_stopped_in_a_tool_tells_its_totals_and_leaves_nothing() {
    let Some(stage) = check(CLAUDE, Tells::Start) else { return };
    let row = stage.row(1);
    assert_eq!(tokens(&row), [1_200, 0, 0, 45], "{row:#?}");
    assert_eq!(Cost::of(&row), Cost::reported("0.00285"), "{row:#?}");
}

#[test]
fn codex_that_is_stopped_in_a_tool_leaves_nothing() {
    check(CODEX, Tells::Start);
}

#[test]
fn opencode_that_is_stopped_in_a_tool_leaves_nothing() {
    check(OPENCODE, Tells::End);
}

#[test]
fn gemini_that_is_stopped_in_a_tool_leaves_nothing() {
    check(GEMINI, Tells::Start);
}

#[test]
fn qwen_that_is_stopped_in_a_tool_leaves_nothing() {
    check(QWEN, Tells::Start);
}

#[test]
fn hermes_that_is_stopped_in_a_tool_leaves_nothing() {
    check(HERMES, Tells::End);
}

#[test]
fn copilot_that_is_stopped_in_a_tool_leaves_nothing() {
    check(COPILOT, Tells::Start);
}
