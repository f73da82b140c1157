//! Recorded runs of qwen, with what a person should be told of each.
//!
//! Numbers are those of the scenario that the service played. What is written to a cache is told as fresh input. After
//! most turns it makes one request more, which no line shows, and which the totals of the session have. It tells no
//! cost, and nobody knows a price of the model.

use loki_fleet::core::ExitReason::{
    Auth, Completed, Context, Error, MaxSteps, Network, Server, Signal, Timeout,
};
use loki_fleet::core::Fact;
use loki_fleet::core::Outcome::{Done, Failed};

use super::Cost::Unknown;
use super::{Expected, Seen, check, mangle, recording, recordings, recover, replay, row};

/// One shell call and the answer: 1200 + 100 and 1300 fresh, 800 and 2000 cached, 45 + 5 and 12 of output.
const DEFAULT: [u64; 4] = [2600, 2800, 0, 62];
const NOTHING: [u64; 4] = [0; 4];
const ONE_CALL: [u64; 4] = [1200, 0, 0, 45];

const TABLE: &[Expected] = &[
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("badtool", Done, Completed, [2500, 0, 0, 57], Unknown),
    row("drop", Failed, Network, NOTHING, Unknown),
    row("err400", Failed, Context, NOTHING, Unknown),
    row("err401", Failed, Auth, NOTHING, Unknown),
    // Still waiting when the recording was ended.
    row("err429", Failed, Signal, NOTHING, Unknown),
    row("err500", Failed, Server, NOTHING, Unknown),
    // The answer and one request more.
    row("err529x2", Done, Completed, [1000, 0, 0, 18], Unknown),
    // The default scenario, its answer again, and one request more.
    row("followup", Done, Completed, [5200, 6800, 0, 86], Unknown),
    row("happy", Done, Completed, DEFAULT, Unknown),
    row("max-turns", Failed, MaxSteps, [40_000, 0, 0, 2000], Unknown),
    // 21 turns fit into its time.
    row("max-wall", Failed, Timeout, [420_000, 0, 0, 21_000], Unknown),
    // Ten requests; that the answers were cut off is not told.
    row("maxtokens", Done, Completed, [5000, 0, 0, 640], Unknown),
    row("nokey", Failed, Auth, NOTHING, Unknown),
    row("partial", Done, Completed, DEFAULT, Unknown),
    row("r1", Done, Completed, DEFAULT, Unknown),
    row("refused", Failed, Network, NOTHING, Unknown),
    row("resume-bad", Failed, Error, NOTHING, Unknown),
    row("sigint-group", Failed, Signal, ONE_CALL, Unknown),
    row("sigint-text", Failed, Signal, NOTHING, Unknown),
    row("sigint-tool", Failed, Signal, ONE_CALL, Unknown),
    row("sigkill-tool", Failed, Signal, ONE_CALL, Unknown),
    row("sigterm-group", Failed, Signal, ONE_CALL, Unknown),
    row("sigterm-tool", Failed, Signal, ONE_CALL, Unknown),
    row("stdin-open", Done, Completed, [1000, 0, 0, 16], Unknown),
    row("streamerr", Failed, Signal, NOTHING, Unknown),
    row("write", Done, Completed, [1900, 0, 0, 75], Unknown),
];

const OLDER: &[Expected] = &[row("happy", Done, Completed, DEFAULT, Unknown)];

fn seen(case: &str) -> Seen {
    replay("qwen", &recording("qwen", case))
}

#[test]
fn every_recording_of_qwen_is_told_as_its_scenario_went() {
    check("qwen", "qwen", TABLE);
    check("qwen", "qwen-0.15.10", OLDER);
}

#[test]
fn parts_of_qwens_recordings_are_never_told_as_more_than_the_whole() {
    mangle("qwen", "qwen", TABLE);
    mangle("qwen", "qwen-0.15.10", OLDER);
}

#[test]
fn a_reader_of_qwen_goes_on_from_its_notes_as_if_it_had_read_all() {
    recover("qwen", "qwen");
    recover("qwen", "qwen-0.15.10");
}

#[test]
fn no_line_of_qwen_is_taken_for_one_that_is_not_understood() {
    for program in ["qwen", "qwen-0.15.10"] {
        for recording in recordings(program) {
            let seen = replay("qwen", &recording);
            assert_eq!((seen.row.anomalies, seen.row.unparsed), (0, false), "{}", recording.case);
        }
    }
}

/// It leaves with a code of its own and no result then.
#[test]
fn limits_of_qwen_are_told_by_its_code_and_its_standard_error() {
    assert_eq!(
        seen("max-turns").error(),
        "used up its turns: retry with a higher --max-steps, or split the task (Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.)"
    );
    assert_eq!(
        seen("max-wall").error(),
        "ran out of its own time (Run aborted: wall-clock budget of 8s exceeded (--max-wall-time).)"
    );
}

#[test]
fn the_complaint_of_qwen_is_found_before_its_page_of_help() {
    assert_eq!(seen("badflag").error(), "Unknown arguments: such-flag, suchFlag");
}

#[test]
fn a_message_of_qwen_that_only_reports_an_error_is_no_answer() {
    let seen = seen("err500");
    let is_said = |fact: &Fact| matches!(fact, Fact::Text { role, .. } if role == "assistant");
    assert!(!seen.facts.iter().any(is_said), "{:?}", seen.facts);
    assert_eq!(
        seen.error(),
        "the service of qwen failed: retry later ([API Error: 500 mock: internal server error])"
    );
}

#[test]
fn waits_of_qwen_are_retries_with_their_count() {
    let retries: Vec<_> = seen("err429")
        .facts
        .into_iter()
        .filter_map(|fact| if let Fact::Retry(retry) = fact { Some(retry) } else { None })
        .map(|retry| (retry.attempt, retry.most))
        .collect();
    assert_eq!(retries, [(Some(1), Some(10)), (None, None), (Some(2), Some(10))]);
}

#[test]
fn a_file_that_qwen_wrote_is_told() {
    let seen = seen("write");
    assert_eq!(seen.row.files_changed, ["/home/user/project/out.txt"]);
    assert_eq!(seen.row.steps, 1);
}
