//! Recorded runs of opencode, with what a person should be told of each.
//!
//! Numbers are those of the scenario that the service played, times the prices of its settings: 3 dollars per million
//! tokens of input, 0.30 from a cache, 15 of output. What is written to a cache counts as fresh in the service's dialect.

use loki_fleet::core::ExitReason::{
    Auth, Completed, Error, MaxTokens, Network, Permission, RateLimit, Server, Signal,
};
use loki_fleet::core::Fact;
use loki_fleet::core::Outcome::{Done, Failed};

use super::Cost::{Told, Unknown};
use super::{Expected, check, mangle, recording, recover, replay, row, understand};

/// One shell call and the answer: 1200 + 100 and 1300 fresh, 800 and 2000 cached, 45 + 5 and 12 of output.
const DEFAULT: [u64; 4] = [2600, 2800, 0, 62];
const DEFAULT_COST: super::Cost = Told("0.00957");
/// The answer of that scenario alone: steps of a resumed session count from zero again.
const ANSWER: [u64; 4] = [1300, 2000, 0, 12];
const ANSWER_COST: super::Cost = Told("0.00468");
const WRITE: [u64; 4] = [1900, 0, 0, 75];
const WRITE_COST: super::Cost = Told("0.006825");
const NOTHING: [u64; 4] = [0; 4];

const TABLE: &[Expected] = &[
    row("auto", Done, Completed, WRITE, WRITE_COST),
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("badmodel", Failed, Error, NOTHING, Unknown),
    row("badtool", Done, Completed, [2500, 0, 0, 57], Told("0.008355")),
    row("continue", Done, Completed, ANSWER, ANSWER_COST),
    // It ends with 0 after the call that it was not permitted: 900 and 60 tokens.
    row("denied", Failed, Permission, [900, 0, 0, 60], Told("0.0036")),
    row("deny", Done, Completed, WRITE, WRITE_COST),
    row("drop", Failed, Signal, NOTHING, Unknown),
    // Eight summaries of 50 and 3 tokens between its failures, until it was killed.
    row("err400", Failed, Signal, [400, 0, 0, 24], Told("0.00156")),
    row("err401", Failed, Auth, NOTHING, Unknown),
    row("err429", Failed, RateLimit, NOTHING, Unknown),
    row("err500", Failed, Server, NOTHING, Unknown),
    row("err500late", Failed, Signal, [1200, 0, 0, 45], Told("0.004275")),
    row("fork", Done, Completed, ANSWER, ANSWER_COST),
    row("happy", Done, Completed, DEFAULT, DEFAULT_COST),
    row("maxtokens", Done, MaxTokens, [500, 0, 0, 64], Told("0.00246")),
    // 1000, 1100 and 1200 fresh, 1000 and 2000 cached, 80 + 20, 40 and 20 of output.
    row("multi", Done, Completed, [3300, 3000, 0, 160], Told("0.0132")),
    row("nogit", Done, Completed, DEFAULT, DEFAULT_COST),
    row("nomodel", Failed, Signal, NOTHING, Unknown),
    row("r1", Done, Completed, DEFAULT, DEFAULT_COST),
    row("refused", Failed, Network, NOTHING, Unknown),
    row("resume", Done, Completed, ANSWER, ANSWER_COST),
    row("resume-bad", Failed, Error, NOTHING, Unknown),
    row("sigint-text", Failed, Signal, NOTHING, Unknown),
    row("sigint-tool", Failed, Signal, NOTHING, Unknown),
    row("sigkill-tool", Failed, Signal, NOTHING, Unknown),
    row("sigterm-group", Failed, Signal, NOTHING, Unknown),
    row("sigterm-tool", Failed, Signal, NOTHING, Unknown),
    row("stdin-open", Failed, Signal, NOTHING, Unknown),
    row("streamerr", Failed, Signal, NOTHING, Unknown),
    // Without --format json it prints its answer and nothing else.
    row("text", Done, Completed, NOTHING, Unknown),
    row("write", Done, Completed, WRITE, WRITE_COST),
];

#[test]
fn every_recording_of_opencode_is_told_as_it_was() {
    check("opencode", "opencode", TABLE);
}

#[test]
fn every_line_of_opencode_is_understood() {
    understand("opencode", "opencode");
}

#[test]
fn no_part_of_a_recording_of_opencode_tells_more_than_the_whole() {
    mangle("opencode", "opencode", TABLE);
}

#[test]
fn a_recovery_in_the_middle_of_opencode_changes_nothing() {
    recover("opencode", "opencode");
}

/// Told that the prompt is too long, it makes it shorter and fails again, without end.
#[test]
fn the_circle_of_opencode_is_counted_with_its_cause() {
    let seen = replay("opencode", &recording("opencode", "err400"));
    let retries = seen.facts.iter().filter_map(|fact| match fact {
        Fact::Retry(retry) => Some((retry.attempt, retry.cause.as_str())),
        _ => None,
    });
    let retries: Vec<_> = retries.collect();
    let expected: Vec<_> =
        (1..=8).map(|attempt| (Some(attempt), "mock: prompt is too long")).collect();
    assert_eq!(retries, expected);
}

#[test]
fn a_call_that_opencode_rejects_by_itself_is_denied_once() {
    let denied = |case: &str| {
        let seen = replay("opencode", &recording("opencode", case));
        let denied = seen.facts.iter().filter_map(|fact| match fact {
            Fact::Denied { tool, text } => Some((tool.clone(), text.clone())),
            _ => None,
        });
        denied.collect::<Vec<_>>()
    };
    let expected = ("write".to_owned(), "/home/user/project/out.txt".to_owned());
    assert_eq!(denied("denied"), [expected]);
    // A tool that is switched off is not there at all.
    assert_eq!(denied("deny"), []);
}

#[test]
fn a_failing_command_of_opencode_is_a_failed_step() {
    let seen = replay("opencode", &recording("opencode", "multi"));
    assert_eq!(seen.row.steps, 3);
    let failed = seen.facts.iter().filter(|fact| {
        matches!(fact, Fact::Step { state: loki_fleet::core::StepState::Error, .. })
    });
    assert_eq!(failed.count(), 1);
}
