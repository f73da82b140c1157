//! Each program calls a tool and answers: outcome, answer, steps, tokens and cost are what the scenario makes of them.
//!
//! What may go here: runs that end well. What may not: other ends.

use super::{CLAUDE, CODEX, COPILOT, Cost, GEMINI, HERMES, Kind, OPENCODE, QWEN, Stage, tokens};

/// Runs the scenario of one command and an answer. It answers twice: with 1,200 tokens of input, 800 more from a cache,
/// 100 written to it, 45 of output and 5 of thinking; then with 1,300, 2,000, 0, 12 and 0.
#[track_caller]
fn check(kind: Kind, steps: u64, expected: [u64; 4], cost: &Cost) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    let ran = stage.run(kind, "default").expect_code(0);
    let summary = ran.json();
    let agent = &summary["agents"][0];
    assert_eq!(agent["status"], "done", "{ran:#?}");
    assert_eq!(agent["exit_reason"], "completed", "{ran:#?}");
    assert_eq!(agent["answer"], "Done: the command printed hello.", "{ran:#?}");
    assert_eq!(agent["steps"], steps, "{ran:#?}");
    assert_eq!(agent["error"], "");
    let row = stage.row(1);
    let requests = stage.service.requests();
    assert_eq!(tokens(&row), expected, "{row:#?}\n{requests:#?}");
    assert_eq!(&Cost::of(&row), cost, "{row:#?}\n{requests:#?}");
    assert_eq!(agent["tokens"], expected.iter().sum::<u64>());
    assert_eq!(agent["cost_usd"].is_null(), *cost == Cost::Unknown);
    assert_eq!(row.anomalies, 0, "all that it prints is understood");
    assert!(!row.unparsed);
    stage.world.assert_no_agent_runs_now();
    stage.world.assert_nothing_runs();
}

/// $2 and $10 per million tokens in and out, $0.10 and $2.50 for the cache.
#[test]
fn claude_runs_a_command_and_answers() {
    check(CLAUDE, 1, [2_500, 2_800, 100, 62], &Cost::reported("0.00615"));
}

/// Its service does not say what it writes to a cache. $5 and $30 per million in and out, $0.50 from the cache.
#[test]
fn codex_runs_a_command_and_answers() {
    check(CODEX, 1, [2_600, 2_800, 0, 62], &Cost::estimated("0.01626"));
}

/// Its settings say $3 and $15 per million in and out, $0.30 from the cache.
#[test]
fn opencode_runs_a_command_and_answers() {
    check(OPENCODE, 1, [2_600, 2_800, 0, 62], &Cost::reported("0.00957"));
}

/// $1.25 and $10 per million in and out, $0.125 from the cache.
#[test]
fn gemini_runs_a_command_and_answers() {
    check(GEMINI, 1, [2_600, 2_800, 0, 62], &Cost::estimated("0.00422"));
}

#[test]
fn qwen_runs_a_command_and_answers() {
    check(QWEN, 1, [2_600, 2_800, 0, 62], &Cost::Unknown);
}

/// It tells no steps. $3 and $15 per million in and out, $0.30 from the cache.
#[test]
fn hermes_runs_a_command_and_answers() {
    check(HERMES, 0, [2_600, 2_800, 0, 62], &Cost::estimated("0.00957"));
}

/// Its record of the session tells the tokens; its model has no price.
#[test]
fn copilot_runs_a_command_and_answers() {
    check(COPILOT, 1, [2_600, 2_800, 0, 62], &Cost::Unknown);
}
