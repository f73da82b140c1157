//! Recorded runs of gemini, with what a person should be told of each.
//!
//! Numbers are those of the scenario that the service played, times the list price of gemini-2.5-pro: 1.25 dollars per
//! million tokens of input, 0.125 from a cache, 10 of output.

use loki_fleet::core::ExitReason::{Auth, Completed, Error, Network, Permission, Server, Signal};
use loki_fleet::core::Outcome::{Done, Failed};
use loki_fleet::core::{Fact, StepState};

use super::Cost::{Estimated, Unknown};
use super::{Expected, check, mangle, recording, recover, replay, row, understand};

/// One shell call and the answer: 1200 + 100 and 1300 fresh, 800 and 2000 cached, 45 + 5 and 12 of output.
const DEFAULT: [u64; 4] = [2600, 2800, 0, 62];
const DEFAULT_COST: super::Cost = Estimated("0.00422");
/// A call and the answer: 1200 and 1300 of input, 45 and 12 of output.
const CALL: [u64; 4] = [2500, 0, 0, 57];
const CALL_COST: super::Cost = Estimated("0.003695");
/// Numbers are told only at the end.
const NOTHING: [u64; 4] = [0; 4];

const TABLE: &[Expected] = &[
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("badtool", Done, Completed, CALL, CALL_COST),
    row("denied", Done, Completed, CALL, CALL_COST),
    row("drop", Failed, Network, NOTHING, Unknown),
    row("err401", Failed, Auth, NOTHING, Unknown),
    // Its stream says nothing of what it tries again.
    row("err429", Failed, Signal, NOTHING, Unknown),
    row("err500", Failed, Signal, NOTHING, Unknown),
    row("err500late", Failed, Signal, NOTHING, Unknown),
    row("err503", Failed, Signal, NOTHING, Unknown),
    row("err529x2", Done, Completed, [500, 0, 0, 9], Estimated("0.000715")),
    row("happy", Done, Completed, DEFAULT, DEFAULT_COST),
    // With -o json it prints one object, of which the answer is read.
    row("json", Done, Completed, NOTHING, Unknown),
    // It was told to end by SIGTERM and ends with 0.
    row("loop", Failed, Error, NOTHING, Unknown),
    // It calls a reply that was cut, or refused, a success like any other.
    row("maxtokens", Done, Completed, [500, 0, 0, 64], Estimated("0.001265")),
    row("nokey", Failed, Auth, NOTHING, Unknown),
    row("r1", Done, Completed, DEFAULT, DEFAULT_COST),
    row("refusal", Done, Completed, [500, 0, 0, 9], Estimated("0.000715")),
    row("refused", Failed, Signal, NOTHING, Unknown),
    row("relaunch-sigkill", Failed, Signal, NOTHING, Unknown),
    // The signal to the outer process does nothing.
    row("relaunch-sigterm", Done, Completed, CALL, CALL_COST),
    // A resumed run counts from zero: 1300 × 1.25 + 2000 × 0.125 + 12 × 10.
    row("resume", Done, Completed, [1300, 2000, 0, 12], Estimated("0.001995")),
    row("resume-bad", Failed, Error, NOTHING, Unknown),
    row("session", Done, Completed, DEFAULT, Estimated("0.00422")),
    row("session-resumed", Done, Completed, [1300, 2000, 0, 12], Estimated("0.001995")),
    row("sigint-group", Failed, Error, NOTHING, Unknown),
    row("sigint-text", Failed, Error, NOTHING, Unknown),
    row("sigint-tool", Failed, Error, NOTHING, Unknown),
    row("sigkill-tool", Failed, Signal, NOTHING, Unknown),
    row("sigterm-group", Failed, Error, NOTHING, Unknown),
    row("sigterm-tool", Failed, Error, NOTHING, Unknown),
    row("stdin-open", Done, Completed, [500, 0, 0, 8], Estimated("0.000705")),
    // The service breaks each stream; it gives up and ends with 0.
    row("streamerr", Failed, Server, NOTHING, Unknown),
    row("untrusted", Failed, Permission, NOTHING, Unknown),
    row("write", Done, Completed, [1900, 0, 0, 75], Estimated("0.003125")),
];

#[test]
fn every_recording_of_gemini_is_told_as_it_was() {
    check("gemini", "gemini", TABLE);
}

#[test]
fn every_line_of_gemini_is_understood() {
    understand("gemini", "gemini");
}

#[test]
fn no_part_of_a_recording_of_gemini_tells_more_than_the_whole() {
    mangle("gemini", "gemini", TABLE);
}

#[test]
fn a_recovery_in_the_middle_of_gemini_changes_nothing() {
    recover("gemini", "gemini");
}

#[test]
fn pieces_of_gemini_are_joined_to_whole_texts() {
    let seen = replay("gemini", &recording("gemini", "happy"));
    let texts = seen.facts.iter().filter_map(|fact| match fact {
        Fact::Text { role, text } if role == "assistant" => Some(text.as_str()),
        _ => None,
    });
    let expected = ["I will run a command.", "Done: the command printed hello."];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

/// It is not offered what would need leave, so it calls what is not there.
#[test]
fn nothing_is_denied_by_gemini_and_a_tool_that_is_not_there_fails() {
    let seen = replay("gemini", &recording("gemini", "denied"));
    assert_eq!((seen.row.denied, seen.row.steps), (0, 1));
    let failed = |fact: &&Fact| matches!(fact, Fact::Step { state: StepState::Error, .. });
    assert_eq!(seen.facts.iter().filter(failed).count(), 1);
}

#[test]
fn the_long_loop_of_gemini_is_counted_step_by_step() {
    let seen = replay("gemini", &recording("gemini", "loop"));
    assert_eq!((seen.row.steps, seen.odd()), (99, 0));
}
