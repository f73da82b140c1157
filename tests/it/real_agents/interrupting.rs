//! The turn of a real program is interrupted while its model's command runs: the command ends, the program does not.
//!
//! What may go here: interrupts of programs that know them. What may not: ends that the owner asks for.

use loki_fleet::core::{Phase, Snapshot};

use super::{CLAUDE, Cost, PATIENCE, Stage, tokens};
use crate::harness::{Live, processes_running, wait_until};

/// Seconds that a command sleeps, which no other command on this machine does.
fn seconds() -> String {
    format!("53.{:09}", fastrand::u32(..1_000_000_000))
}

/// Starts an agent and waits until the command of its model runs.
#[track_caller]
fn in_command<'a>(stage: &'a Stage, sleeper: &str) -> Live<'a> {
    let live = stage.start(CLAUDE, "slowtool-marked");
    stage.wait_shown("the agent is in a tool", |snapshot: &Snapshot| {
        let phase = snapshot.rows.first().map(|row| &row.phase);
        matches!(phase, Some(Phase::InTool { text, .. }) if text.contains(sleeper))
    });
    wait_until("the command runs", PATIENCE, || {
        if processes_running(sleeper).is_empty() { Err("it does not".to_owned()) } else { Ok(()) }
    });
    live
}

/// What both turns cost counts: 1,200 tokens in and 45 out, then 500 in and 8 out, at $2 and $10 per million.
#[track_caller]
fn assert_both_turns(stage: &Stage) {
    let row = stage.row(1);
    assert_eq!(tokens(&row), [1_700, 0, 0, 53], "{row:#?}");
    assert_eq!(Cost::of(&row), Cost::reported("0.00393"), "{row:#?}");
    stage.world.assert_nothing_runs();
}

#[test]
fn claude_is_interrupted_with_a_message_and_goes_on_with_that_alone() {
    let seconds = seconds();
    let marked = format!("seconds={seconds}");
    let Some(stage) = Stage::set(&[CLAUDE.name], &["--var", &marked]) else { return };
    let sleeper = format!("sleep {seconds}");
    let live = in_command(&stage, &sleeper);
    let text = "Do otherwise. [[scenario:text]]";
    let told = stage.world.fleet(&["steer", "--interrupt", "1", text]).expect_code(0);
    assert_eq!(told.stdout, "#1 is interrupted and told: it goes on with that\n");
    let ran = live.end_within(PATIENCE).expect_code(0);
    let agent = &ran.json()["agents"][0];
    assert_eq!(
        (&agent["status"], &agent["answer"]),
        (&"done".into(), &"Just an answer, no tool.".into()),
        "{ran:#?}"
    );
    assert_eq!(agent["undelivered"], serde_json::json!([]), "{ran:#?}");
    assert!(processes_running(&sleeper).is_empty());
    assert_both_turns(&stage);
}

#[test]
fn claude_that_is_interrupted_without_a_message_waits_for_one() {
    let seconds = seconds();
    let marked = format!("seconds={seconds}");
    let Some(stage) = Stage::set(&[CLAUDE.name], &["--var", &marked]) else { return };
    let sleeper = format!("sleep {seconds}");
    let live = in_command(&stage, &sleeper);
    let cut = stage.world.fleet(&["steer", "--interrupt", "1"]).expect_code(0);
    assert!(cut.stdout.starts_with("#1 is interrupted: it waits"), "{cut:#?}");
    let waits = |snapshot: &Snapshot| {
        matches!(snapshot.rows.first().map(|row| &row.phase), Some(Phase::Interrupted(_)))
    };
    stage.wait_shown("the agent waits for a message", waits);
    wait_until("the command has ended", PATIENCE, || {
        let left = processes_running(&sleeper);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    let again = stage.world.fleet(&["steer", "--interrupt", "1"]).expect_code(2);
    assert!(again.stderr.contains("tell it what to go on with"), "{again:#?}");
    stage.world.fleet(&["steer", "1", "Do otherwise. [[scenario:text]]"]).expect_code(0);
    let ran = live.end_within(PATIENCE).expect_code(0);
    let agent = &ran.json()["agents"][0];
    assert_eq!(
        (&agent["status"], &agent["answer"]),
        (&"done".into(), &"Just an answer, no tool.".into()),
        "{ran:#?}"
    );
    assert_both_turns(&stage);
}
