//! Each program is asked to end while its model's command runs for longer than it may: it has no result then, whatever it
//! says of having been asked.
//!
//! What may go here: agents without progress. What may not: ends that the owner asks for; copilot and opencode, which go on
//! with their work as often as they end, and are done then.

use super::{CLAUDE, CODEX, GEMINI, HERMES, Kind, PATIENCE, QWEN, Stage, task};

#[track_caller]
fn check(kind: Kind) {
    let seconds = format!("48.{:09}", fastrand::u32(..1_000_000_000));
    let Some(stage) = Stage::set(&[kind.name], &["--var", &format!("seconds={seconds}")]) else {
        return;
    };
    let task = task("slowtool-marked");
    let options: Vec<String> =
        kind.options.iter().map(|(name, value)| format!("--{name}={value}")).collect();
    let mut args = vec!["run", "--json", "--agent", kind.name, "--allow-shell", "--grace", "2s"];
    args.extend(["--stale", "15s", "--stale-tool", "3s", "--stale-stop", "--stale-grace", "5m"]);
    args.extend(options.iter().map(String::as_str));
    args.push(&task);
    let ran = stage.world.start(&args).end_within(PATIENCE).expect_code(1);
    stage.world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["stalled"], "{ran:#?}");
    let error = &ran.column("error")[0];
    let end = "grace 5m); it ended when it was asked to, without a result";
    assert!(error.starts_with("no progress for ") && error.ends_with(end), "{ran:#?}");
}

/// Its closing word only tells that it was interrupted.
#[test]
fn claude_that_makes_no_progress_is_asked_to_end_and_has_stalled() {
    check(CLAUDE);
}

#[test]
fn codex_that_makes_no_progress_is_asked_to_end_and_has_stalled() {
    check(CODEX);
}

#[test]
fn gemini_that_makes_no_progress_is_asked_to_end_and_has_stalled() {
    check(GEMINI);
}

#[test]
fn qwen_that_makes_no_progress_is_asked_to_end_and_has_stalled() {
    check(QWEN);
}

#[test]
fn hermes_that_makes_no_progress_is_asked_to_end_and_has_stalled() {
    check(HERMES);
}
