//! Recorded runs of claude, with what a person should be told of each.
//!
//! Numbers are those of the scenario that the service played, times the list price of the model: for claude-sonnet-4-5
//! 3 dollars per million tokens of input, 0.30 from a cache, 3.75 into one, 15 of output.

use std::fs;

use loki_fleet::core::ExitReason::{
    Auth, Budget, Completed, Context, Error, MaxSteps, MaxTokens, Network, NoOutput, RateLimit,
    Refused, Server, Signal,
};
use loki_fleet::core::Outcome::{Done, Failed, OverBudget};
use loki_fleet::core::{Fact, ProcessEnd, StepState};

use super::Cost::{Estimated, Told, Unknown};
use super::{
    Expected, Seen, check, mangle, recording, recordings, recover, replay, replay_lines, row,
};

/// One shell call and the answer: 1200 and 1300 fresh, 800 and 2000 cached, 100 written, 45 + 5 and 12 of output.
const DEFAULT: [u64; 4] = [2500, 2800, 100, 62];
/// The answer of that scenario alone, as a resumed session gives it.
const DEFAULT_ANSWER: [u64; 4] = [1300, 2000, 0, 12];
const WRITE: [u64; 4] = [1900, 0, 0, 75];
const NOTHING: [u64; 4] = [0; 4];
/// A run that was killed in its first tool. Without partial messages the only output known of the answer is the one
/// token with which its stream began; the scenario's 45 come with them.
const KILLED: [u64; 4] = [1200, 0, 0, 1];

const TABLE: &[Expected] = &[
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("badmodel", Failed, Error, NOTHING, Told("0.00")),
    row("badtool", Done, Completed, [2500, 0, 0, 57], Told("0.008355")),
    row("cap-text", OverBudget, Budget, [500, 0, 0, 8], Told("0.00162")),
    row("continue", Done, Completed, DEFAULT_ANSWER, Told("0.00468")),
    row("denied", Done, Completed, WRITE, Told("0.006825")),
    // The scenario cuts each stream after its beginning; how much of that is billed only the program's own total says.
    row("drop", Done, Completed, [600, 0, 0, 24], Told("0.00216")),
    row("empty-prompt", Failed, Error, NOTHING, Unknown),
    row("err400", Failed, Context, NOTHING, Told("0.00")),
    row("err401", Failed, Auth, NOTHING, Told("0.00")),
    row("err429", Failed, RateLimit, NOTHING, Told("0.00")),
    row("err500", Failed, Server, NOTHING, Told("0.00")),
    row("err500late", Failed, Server, [1200, 0, 0, 45], Told("0.004275")),
    row("err529", Failed, Server, NOTHING, Told("0.00")),
    row("err529x2", Done, Completed, [500, 0, 0, 9], Told("0.001635")),
    row("followup", Done, Completed, [3800, 4800, 100, 74], Told("0.014325")),
    row("hang", Failed, Signal, NOTHING, Unknown),
    row("happy", Done, Completed, DEFAULT, Told("0.009645")),
    row("happy-json", Done, Completed, DEFAULT, Told("0.009645")),
    row("happy-partial", Done, Completed, DEFAULT, Told("0.009645")),
    // Plain text is no stream: nothing is known of it.
    row("happy-text", Failed, NoOutput, NOTHING, Unknown),
    row("huge", Done, Completed, [10_200, 0, 0, 57], Told("0.031455")),
    row("interrupt", Done, Completed, [2500, 0, 0, 57], Told("0.008355")),
    row("max-budget", OverBudget, Budget, [60_000, 0, 0, 3000], Told("0.225")),
    row("max-turns", Failed, MaxSteps, [40_000, 0, 0, 2000], Told("0.15")),
    row("model-mock-model", Done, Completed, [500, 0, 0, 8], Unknown),
    // claude-sonnet-5-5: 2 and 10 dollars.
    row("model-sonnet", Done, Completed, [500, 0, 0, 8], Told("0.00108")),
    row("multi", Done, Completed, [3300, 3000, 0, 160], Told("0.0132")),
    row("no-verbose", Failed, Error, NOTHING, Unknown),
    row("nokey", Failed, Auth, NOTHING, Told("0.00")),
    row("partial-bgtask", Done, Completed, [3900, 0, 0, 70], Told("0.01275")),
    // Two requests at the usage of a scenario that gives none, of which the first was cut off.
    row("partial-drop", Done, Completed, [200, 0, 0, 11], Told("0.000765")),
    row("partial-first", Done, Completed, DEFAULT, Told("0.009645")),
    // Four attempts to go on.
    row("partial-maxtokens", Failed, MaxTokens, [2000, 0, 0, 256], Told("0.00984")),
    row("partial-refusal", Failed, Refused, [1000, 0, 0, 18], Told("0.00327")),
    row("partial-resumed", Done, Completed, DEFAULT_ANSWER, Told("0.00468")),
    // The program counts what came of the text until it was interrupted.
    row("partial-sigint-text", Failed, Signal, [1200, 0, 0, 3], Told("0.003645")),
    row("partial-sigterm-text", Failed, Signal, KILLED, Estimated("0.003615")),
    row("partial-sigterm-tool", Failed, Signal, [1200, 0, 0, 45], Estimated("0.004275")),
    // The stream that broke is not in the program's total.
    row("partial-streamerr", Done, Completed, [100, 0, 0, 10], Told("0.00045")),
    row("partial-subagent", Done, Completed, [5000, 2800, 100, 119], Told("0.018")),
    // It asks once more after a refusal.
    row("refusal", Failed, Refused, [1000, 0, 0, 18], Told("0.00327")),
    row("refused", Failed, Network, NOTHING, Told("0.00")),
    row("resume", Done, Completed, DEFAULT_ANSWER, Told("0.00468")),
    row("resume-bad", Failed, Error, NOTHING, Told("0.00")),
    row("resume-cap-loop", OverBudget, Budget, [40_000, 0, 0, 2000], Told("0.15")),
    row("resume-othercwd", Done, Completed, DEFAULT_ANSWER, Told("0.00468")),
    row("retries0", Failed, Server, NOTHING, Told("0.00")),
    row("sid", Done, Completed, DEFAULT, Told("0.009645")),
    row("sid-again", Failed, Error, NOTHING, Unknown),
    row("sigint-tool", Failed, Signal, [1200, 0, 0, 45], Told("0.004275")),
    row("sigkill-group", Failed, Signal, KILLED, Estimated("0.003615")),
    row("sigkill-tool", Failed, Signal, KILLED, Estimated("0.003615")),
    row("sigterm-group", Failed, Signal, KILLED, Estimated("0.003615")),
    row("sigterm-text", Failed, Signal, NOTHING, Unknown),
    row("sigterm-tool", Failed, Signal, KILLED, Estimated("0.003615")),
    row("skip-perms-root", Failed, Error, NOTHING, Unknown),
    row("skip-perms-root-sandbox", Done, Completed, WRITE, Told("0.006825")),
    row("stdin-bad", Failed, Error, NOTHING, Unknown),
    row("stdin-one", Done, Completed, [500, 0, 0, 8], Told("0.00162")),
    row("stdin-open", Done, Completed, [500, 0, 0, 8], Told("0.00162")),
    // 1200 + 1300 of its own, and the default scenario by the sub-agent.
    row("subagent", Done, Completed, [5000, 2800, 100, 119], Told("0.018")),
    row("write-allowed", Done, Completed, WRITE, Told("0.006825")),
];

const OLDER: &[Expected] = &[
    row("denied", Done, Completed, WRITE, Told("0.006825")),
    row("err401", Failed, Auth, NOTHING, Told("0.00")),
    row("err529", Failed, Server, NOTHING, Told("0.00")),
    row("happy", Done, Completed, DEFAULT, Told("0.009645")),
    row("happy-partial", Done, Completed, DEFAULT, Told("0.009645")),
    row("max-budget", OverBudget, Budget, [60_000, 0, 0, 3000], Told("0.225")),
    row("max-turns", Failed, MaxSteps, [40_000, 0, 0, 2000], Told("0.15")),
    row("resume-othercwd", Failed, Error, NOTHING, Told("0.00")),
    row("sid", Done, Completed, DEFAULT, Told("0.009645")),
    row("sigterm-tool", Failed, Signal, KILLED, Estimated("0.003615")),
];

fn seen(case: &str) -> Seen {
    replay("claude", &recording("claude", case))
}

/// Reads a recording without the lines that have `mark` in them.
fn seen_without(case: &str, mark: &str) -> Seen {
    let recording = recording("claude", case);
    let text = fs::read_to_string(&recording.out).unwrap();
    let lines: Vec<&[u8]> =
        text.lines().filter(|line| !line.contains(mark)).map(str::as_bytes).collect();
    assert!(lines.len() < text.lines().count(), "{mark} is in no line");
    replay_lines("claude", &lines, b"", &recording.end)
}

#[test]
fn every_recording_of_claude_is_told_as_its_scenario_went() {
    check("claude", "claude", TABLE);
    check("claude", "claude-2.1.197", OLDER);
}

#[test]
fn parts_of_claudes_recordings_are_never_told_as_more_than_the_whole() {
    mangle("claude", "claude", TABLE);
    mangle("claude", "claude-2.1.197", OLDER);
}

#[test]
fn a_reader_of_claude_goes_on_from_its_notes_as_if_it_had_read_all() {
    recover("claude", "claude");
    recover("claude", "claude-2.1.197");
}

#[test]
fn no_line_of_claude_is_taken_for_one_that_is_not_understood() {
    for program in ["claude", "claude-2.1.197"] {
        for recording in recordings(program) {
            let seen = replay("claude", &recording);
            let is_odd = |fact: &Fact| matches!(fact, Fact::Unknown | Fact::Skipped);
            assert!(!seen.facts.iter().any(is_odd), "{program} {}", recording.case);
            assert_eq!((seen.row.anomalies, seen.row.unparsed), (0, false), "{}", recording.case);
        }
    }
}

/// Each block of an answer is a line of its own, with the usage of the whole answer.
#[test]
fn an_answer_of_several_lines_counts_once() {
    let seen = seen_without("happy", r#""type":"result""#);
    assert_eq!(seen.tokens(), [2500, 2800, 100, 2]);
}

#[test]
fn with_partial_messages_the_output_and_the_cost_are_true_before_the_end() {
    let seen = seen_without("happy-partial", r#""type":"result""#);
    assert_eq!((seen.tokens(), seen.cost().as_str()), (DEFAULT, "Estimated(\"0.009645\")"));
}

/// C-72: nested spend is counted once.
#[test]
fn the_usage_of_sub_agents_comes_with_the_totals_per_model() {
    let before = seen_without("subagent", r#""type":"result""#).tokens();
    assert!(before[0] < 5000, "{before:?}");
    assert_eq!(seen("subagent").tokens()[0], 5000);
}

#[test]
fn success_with_is_error_is_a_failure_that_says_what_to_do() {
    let seen = seen("err401");
    assert_eq!(seen.row.answer, "");
    assert_eq!(
        seen.error(),
        "claude was not let in: run claude and log in, or set ANTHROPIC_API_KEY (Invalid API key · Fix external API key)"
    );
}

/// The text that reports the error is written in the model's name.
#[test]
fn a_message_that_only_reports_an_error_is_no_answer() {
    let said: Vec<String> = seen("nokey")
        .facts
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::Text { role, text } => Some(format!("{role}: {text}")),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["error: Not logged in · Please run /login"]);
}

/// It leaves with 0 after SIGINT.
#[test]
fn an_exit_code_of_zero_after_an_interrupt_is_no_success() {
    for case in ["sigint-tool", "partial-sigint-text"] {
        let seen = seen(case);
        assert_eq!(recording("claude", case).end, ProcessEnd::Code(0));
        assert_eq!(seen.error(), "was interrupted before it had finished", "{case}");
    }
}

/// A command that it had left in the background begins a turn of its own.
#[test]
fn a_run_goes_on_after_its_first_result() {
    let seen = seen("partial-bgtask");
    assert_eq!(seen.row.answer, "The background command ended.");
}

/// The totals of the second run have those of the first in them.
#[test]
fn a_resumed_run_counts_only_what_is_new() {
    let session = |case| seen(case).row.session.unwrap();
    assert_eq!(session("partial-first"), session("partial-resumed"));
    assert_eq!(seen("partial-resumed").tokens(), DEFAULT_ANSWER);
}

#[test]
fn a_stream_that_broke_and_is_asked_for_again_is_no_answer_of_its_own() {
    let seen = seen_without("partial-streamerr", r#""type":"result""#);
    assert_eq!(seen.tokens(), [100, 0, 0, 10]);
}

#[test]
fn of_several_results_the_last_one_counts() {
    let seen = seen("interrupt");
    let results = seen.facts.iter().filter(|fact| matches!(fact, Fact::Result(_))).count();
    assert_eq!((results, seen.row.answer.as_str()), (2, "The long command ended."));
}

#[test]
fn retries_are_told_with_their_cause_and_their_count() {
    let retries = |case: &str| -> Vec<_> {
        let retry = |fact| if let Fact::Retry(retry) = fact { Some(retry) } else { None };
        seen(case).facts.into_iter().filter_map(retry).collect()
    };
    let told = retries("err401");
    assert_eq!(told.len(), 10);
    assert_eq!((told[3].attempt, told[3].most), (Some(4), Some(10)));
    assert_eq!(told[3].cause, "401 authentication failed");
    assert_eq!(retries("refused")[0].cause, "connection failed");
}

/// The newer version tells a refused call when it happens and again at the end, the older one at the end only.
#[test]
fn a_refused_call_is_told_once_and_changes_no_file() {
    for program in ["claude", "claude-2.1.197"] {
        let seen = replay("claude", &recording(program, "denied"));
        assert_eq!((seen.row.denied, seen.row.files_changed.len()), (1, 0), "{program}");
        let denied = seen.facts.iter().find_map(|fact| match fact {
            Fact::Denied { tool, text } => Some((tool.as_str(), text.as_str())),
            _ => None,
        });
        assert_eq!(denied, Some(("Write", "/home/user/project/out.txt")), "{program}");
    }
    assert_eq!(seen("write-allowed").row.files_changed, ["/home/user/project/out.txt"]);
}

/// Two calls at once, of which the second ends first; then one that fails.
#[test]
fn results_of_tools_find_their_calls_by_id() {
    let seen = seen("multi");
    assert_eq!(seen.row.steps, 3);
    let ends: Vec<_> = seen
        .facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Step { text, state, .. } if *state != StepState::Start => {
                Some((text.as_str(), *state))
            }
            _ => None,
        })
        .collect();
    let expected = [
        ("echo two", StepState::End),
        ("echo one", StepState::End),
        ("echo oops >&2; exit 3", StepState::Error),
    ];
    assert_eq!(ends, expected);
}

#[test]
fn the_model_and_the_session_are_told_once_though_each_turn_begins_with_them() {
    let seen = seen("followup");
    let told = |wanted: fn(&Fact) -> bool| seen.facts.iter().filter(|fact| wanted(fact)).count();
    assert_eq!(told(|fact| matches!(fact, Fact::Session(_))), 1);
    assert_eq!(told(|fact| matches!(fact, Fact::Model(_))), 1);
    assert_eq!(seen.row.model.as_deref(), Some("claude-sonnet-4-5"));
    assert!(seen.row.session.unwrap().starts_with("a1939fda"));
}

#[test]
fn keys_in_another_order_and_unknown_ones_change_nothing() {
    let recording = recording("claude", "happy");
    let text = fs::read_to_string(&recording.out).unwrap();
    let turned: Vec<String> = text
        .lines()
        .map(|line| {
            let object: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(line).unwrap();
            let fields: Vec<String> = object
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{value}", serde_json::json!(key)))
                .collect();
            format!("{{\"new\":[{{}}],{}}}", fields.join(","))
        })
        .chain(["{\"type\":\"brand_new\",\"message\":5}".to_owned()])
        .collect();
    let lines: Vec<&[u8]> = turned.iter().map(String::as_bytes).collect();
    let seen = replay_lines("claude", &lines, b"", &recording.end);
    assert_eq!((seen.outcome(), seen.tokens()), (Done, DEFAULT));
    assert_eq!((seen.cost().as_str(), seen.row.anomalies), ("Told(\"0.009645\")", 0));
}
