//! Programs whose service fails try again: their rows say so and why, as a mark where they never pause.
//!
//! What may go here: what is shown while a program tries again. What may not: how it ends after that.

use loki_fleet::core::{Doubt, Phase, Row, Snapshot};
use loki_fleet::words::why;

use super::{GEMINI, Kind, OPENCODE, PATIENCE, QWEN, Stage};

fn first(snapshot: &Snapshot) -> Option<&Row> {
    snapshot.rows.first().map(AsRef::as_ref)
}

/// The model's service answers with errors, or not at all; the row tells this cause after so many tries.
#[track_caller]
fn check(kind: Kind, scenario: &str, tries: u32, cause: &str) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    let live = stage.start(kind, scenario);
    let snapshot = stage.wait_shown("the agent tries again", |snapshot| {
        matches!(first(snapshot).map(|row| &row.phase), Some(Phase::Retries(retry, _))
            if retry.cause == cause && retry.attempt >= Some(tries))
    });
    let row = first(&snapshot).unwrap();
    let words = why::state(row, snapshot.at, None, false);
    assert!(words.contains(&format!(": {cause}, ")), "{words}");
    assert!(!row.is_marked() && !why::needs_owner(row), "it waits between its tries: {row:#?}");
    stage.world.fleet(&["stop", "all"]).expect_code(0);
    live.end_within(PATIENCE).expect_code(1);
    stage.world.assert_nothing_runs();
}

#[test]
fn gemini_that_tries_again_says_why() {
    check(GEMINI, "err500", 2, "500");
}

#[test]
fn opencode_that_tries_again_says_why() {
    check(OPENCODE, "err500", 2, "mock: internal server error");
}

#[test]
fn qwen_that_tries_again_says_why() {
    check(QWEN, "err429", 1, "429");
}

/// Told that its text is too long, opencode shortens it and asks again, for ever and at once.
#[test]
fn opencode_that_goes_round_in_a_circle_is_marked_and_goes_on() {
    // What it has made of its text names no scenario any more.
    let Some(stage) = Stage::set(&[OPENCODE.name], &["--scenario", "err400"]) else { return };
    let mut live = stage.start(OPENCODE, "err400");
    let snapshot = stage.wait_shown("the agent is marked", |snapshot| {
        first(snapshot).is_some_and(|row| matches!(row.doubt, Some(Doubt::Failing { .. })))
    });
    let row = first(&snapshot).unwrap();
    assert!(why::needs_owner(row), "{row:#?}");
    let words = why::state(row, snapshot.at, None, false);
    assert!(words.starts_with("running · runaway? ") && words.contains(" retries in "), "{words}");
    assert!(words.ends_with(": mock: prompt is too long"), "{words}");
    // Not more than were made.
    let Some(Doubt::Failing { times, .. }) = row.doubt else { unreachable!() };
    let made = stage.service.requests().iter().filter(|request| request["side"] == false).count();
    assert!(times as usize <= made, "{times} of {made}");
    assert!(!live.has_ended(), "a mark stops nobody");
    stage.world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end_within(PATIENCE).expect_code(1);
    assert!(ran.stderr.contains("#1 runaway? it tries again and again"), "{ran:#?}");
    stage.world.assert_nothing_runs();
}
