//! Each program has a key that its service does not take: the agent has failed, for that reason, with a sentence.
//!
//! What may go here: keys that fail. What may not: other failures, which recordings have.

use super::{CLAUDE, CODEX, COPILOT, Cost, GEMINI, HERMES, Kind, OPENCODE, QWEN, Stage, YGG};

/// `most`: how often the program may ask its model, helper requests included.
#[track_caller]
fn check(kind: Kind, most: usize) {
    let Some(stage) = Stage::set(&[kind.name], &["--key", "another-key"]) else { return };
    let ran = stage.run(kind, "text").expect_code(1);
    let summary = ran.json();
    let agent = &summary["agents"][0];
    assert_eq!(agent["status"], "failed", "{ran:#?}");
    assert_eq!(agent["exit_reason"], "auth", "{ran:#?}");
    assert_eq!(agent["tokens"], 0, "{ran:#?}");
    let error = agent["error"].as_str().unwrap();
    let start = format!("{} was not let in: ", kind.name);
    assert!(error.starts_with(&start), "it says what to do: {error}");
    assert!(!error.contains(char::is_control) && !error.contains(['{', '}']), "{error}");
    let row = stage.row(1);
    assert!([Cost::Unknown, Cost::reported("0.")].contains(&Cost::of(&row)), "{row:#?}");
    let refused = stage.service.requests();
    let refused = refused.iter().filter(|request| request["outcome"] == "401 wrong key").count();
    assert!((1..=most).contains(&refused), "asked {refused} times");
    stage.world.assert_nothing_runs();
}

#[test]
fn claude_with_a_key_that_fails_says_so() {
    check(CLAUDE, 2);
}

#[test]
fn codex_with_a_key_that_fails_says_so() {
    check(CODEX, 6);
}

#[test]
fn opencode_with_a_key_that_fails_says_so() {
    check(OPENCODE, 2);
}

#[test]
fn gemini_with_a_key_that_fails_says_so() {
    check(GEMINI, 4);
}

#[test]
fn qwen_with_a_key_that_fails_says_so() {
    check(QWEN, 4);
}

#[test]
fn hermes_with_a_key_that_fails_says_so() {
    check(HERMES, 6);
}

#[test]
fn copilot_with_a_key_that_fails_says_so() {
    check(COPILOT, 6);
}

#[test]
fn ygg_with_a_key_that_fails_says_so() {
    check(YGG, 6);
}
