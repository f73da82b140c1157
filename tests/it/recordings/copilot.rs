//! Recorded runs of copilot, with what a person should be told of each. Its stream has neither tokens nor a cost:
//! those are in its record of the session.

use loki_fleet::core::ExitReason::{Auth, Completed, Context, Error, Network, Signal};
use loki_fleet::core::Fact;
use loki_fleet::core::Outcome::{Done, Failed};

use super::Cost::Unknown;
use super::{Expected, check, mangle, recording, recover, replay, row, understand};

const NOTHING: [u64; 4] = [0; 4];

const TABLE: &[Expected] = &[
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("denied", Done, Completed, NOTHING, Unknown),
    row("err400", Failed, Context, NOTHING, Unknown),
    row("err401", Failed, Auth, NOTHING, Unknown),
    row("happy", Done, Completed, NOTHING, Unknown),
    row("refused", Failed, Network, NOTHING, Unknown),
    row("resume-bad", Failed, Error, NOTHING, Unknown),
    row("session", Done, Completed, NOTHING, Unknown),
    row("session-resumed", Done, Completed, NOTHING, Unknown),
    row("sigint-tool", Failed, Signal, NOTHING, Unknown),
    row("sigkill-tool", Failed, Signal, NOTHING, Unknown),
    row("sigterm-tool", Failed, Signal, NOTHING, Unknown),
    row("stdin-open", Done, Completed, NOTHING, Unknown),
    // Without --output-format json it prints text.
    row("text", Done, Completed, NOTHING, Unknown),
];

#[test]
fn every_recording_of_copilot_is_told_as_it_was() {
    check("copilot", "copilot", TABLE);
}

#[test]
fn every_line_of_copilot_is_understood() {
    understand("copilot", "copilot");
}

#[test]
fn no_part_of_a_recording_of_copilot_tells_more_than_the_whole() {
    mangle("copilot", "copilot", TABLE);
}

#[test]
fn a_recovery_in_the_middle_of_copilot_changes_nothing() {
    recover("copilot", "copilot");
}

#[test]
fn copilot_counts_its_attempts_with_their_cause() {
    for (case, attempts, cause) in
        [("err401", 3, "401"), ("refused", 6, "Connection refused (os error 111) [ECONNREFUSED]")]
    {
        let seen = replay("copilot", &recording("copilot", case));
        let retries = seen.facts.iter().filter_map(|fact| match fact {
            Fact::Retry(retry) => Some((retry.attempt.unwrap(), retry.cause.as_str())),
            _ => None,
        });
        let expected: Vec<_> = (1..=attempts).map(|attempt| (attempt, cause)).collect();
        assert_eq!(retries.collect::<Vec<_>>(), expected, "{case}");
    }
}

#[test]
fn a_denied_call_of_copilot_is_counted_although_it_ends_well() {
    let seen = replay("copilot", &recording("copilot", "denied"));
    assert_eq!((seen.row.denied, seen.row.steps), (1, 1));
    let seen = replay("copilot", &recording("copilot", "happy"));
    assert_eq!((seen.row.denied, seen.row.steps), (0, 1));
    let session = "0f0e0d0c-0b0a-4908-8706-050403020111".to_owned();
    assert_eq!(seen.facts.first(), Some(&Fact::Session(session)));
}
