//! Recorded runs of codex, with what a person should be told of each.
//!
//! Numbers are those of the scenario that the service played. What is written to a cache counts as fresh input in the
//! service's dialect. Nearly all runs were of a model without a list price.

use loki_fleet::core::ExitReason::{
    Auth, Completed, Context, Error, MaxTokens, Network, RateLimit, Server, Signal,
};
use loki_fleet::core::Fact;
use loki_fleet::core::Outcome::{Done, Failed};

use super::Cost::{Estimated, Unknown};
use super::{Expected, check, mangle, recording, recover, replay, row, understand};

/// One shell call and the answer: 1200 + 100 and 1300 fresh, 800 and 2000 cached, 45 + 5 and 12 of output.
const DEFAULT: [u64; 4] = [2600, 2800, 0, 62];
/// A call that writes and the answer: 1200 and 1300 of input, 45 and 12 of output.
const CALL: [u64; 4] = [2500, 0, 0, 57];
const WRITE: [u64; 4] = [1900, 0, 0, 75];
/// Tokens are told only when a turn has come to its end.
const NOTHING: [u64; 4] = [0; 4];

const TABLE: &[Expected] = &[
    row("badflag", Failed, Error, NOTHING, Unknown),
    row("badtool", Done, Completed, CALL, Unknown),
    row("default-perms", Done, Completed, CALL, Unknown),
    row("drop", Failed, Network, NOTHING, Unknown),
    row("err400", Failed, Context, NOTHING, Unknown),
    row("err401", Failed, Auth, NOTHING, Unknown),
    row("err429", Failed, RateLimit, NOTHING, Unknown),
    row("err500", Failed, Server, NOTHING, Unknown),
    row("err500-noretry", Failed, Server, NOTHING, Unknown),
    row("err529", Failed, Server, NOTHING, Unknown),
    row("hang", Failed, Signal, NOTHING, Unknown),
    row("hang-idle", Failed, Signal, NOTHING, Unknown),
    row("happy", Done, Completed, DEFAULT, Unknown),
    // 2600 × 5 + 2800 × 0.50 + 62 × 30 dollars per million.
    row("happy-55", Done, Completed, DEFAULT, Estimated("0.01626")),
    row("happy-codemode", Done, Completed, DEFAULT, Unknown),
    row("huge", Done, Completed, [10_200, 0, 0, 57], Unknown),
    // The scenario answers with 500 and 64 tokens, of which a failed turn says nothing.
    row("maxtokens", Failed, MaxTokens, NOTHING, Unknown),
    // 1000, 1100 and 1200 fresh, 1000 and 2000 cached, 80 + 20, 40 and 20 of output.
    row("multi", Done, Completed, [3300, 3000, 0, 160], Unknown),
    row("nogit", Failed, Error, NOTHING, Unknown),
    row("nokey", Failed, Auth, NOTHING, Unknown),
    row("r1", Done, Completed, DEFAULT, Unknown),
    row("readonly-codemode", Done, Completed, CALL, Unknown),
    row("refused", Failed, Signal, NOTHING, Unknown),
    row("refused-noretry", Failed, Signal, NOTHING, Unknown),
    // By themselves the runs of a session are as much as the whole session: one answer more each time.
    row("resume", Done, Completed, [3900, 4800, 0, 74], Unknown),
    row("resume-bad", Failed, Error, NOTHING, Unknown),
    row("resume-last", Done, Completed, [6500, 8800, 0, 98], Unknown),
    row("resume2", Done, Completed, [5200, 6800, 0, 86], Unknown),
    row("sandbox-first", Done, Completed, CALL, Unknown),
    row("sandbox-resume", Done, Completed, [5000, 0, 0, 114], Unknown),
    row("sandbox-resume-set", Done, Completed, [7500, 0, 0, 171], Unknown),
    // It catches SIGINT and ends with 1 and without a word.
    row("session", Done, Completed, DEFAULT, Estimated("0.01626")),
    // It goes on with another model, which first asks for a summary: 50 and 3 tokens more.
    row("session-resumed", Done, Completed, [5250, 5600, 0, 127], Unknown),
    row("sigint-text", Failed, Error, NOTHING, Unknown),
    row("sigint-tool", Failed, Error, NOTHING, Unknown),
    row("sigkill-group-yolo", Failed, Signal, NOTHING, Unknown),
    row("sigkill-tool", Failed, Signal, NOTHING, Unknown),
    row("sigterm-group", Failed, Signal, NOTHING, Unknown),
    row("sigterm-text", Failed, Signal, NOTHING, Unknown),
    row("sigterm-tool", Failed, Signal, NOTHING, Unknown),
    row("sigterm-yolo", Failed, Signal, NOTHING, Unknown),
    row("stdin-open", Failed, Signal, NOTHING, Unknown),
    row("stdin-prompt", Done, Completed, [500, 0, 0, 8], Unknown),
    row("streamerr", Failed, Server, NOTHING, Unknown),
    // Without --json it prints its answer and nothing else.
    row("text", Done, Completed, NOTHING, Unknown),
    row("write", Done, Completed, WRITE, Unknown),
    row("write-codemode", Done, Completed, WRITE, Unknown),
    row("ws-write", Done, Completed, CALL, Unknown),
    row("ws-write-outside", Done, Completed, CALL, Unknown),
    row("yolo", Done, Completed, CALL, Unknown),
];

#[test]
fn every_recording_of_codex_is_told_as_it_was() {
    check("codex", "codex", TABLE);
}

#[test]
fn every_line_of_codex_is_understood() {
    understand("codex", "codex");
}

#[test]
fn no_part_of_a_recording_of_codex_tells_more_than_the_whole() {
    mangle("codex", "codex", TABLE);
}

#[test]
fn a_recovery_in_the_middle_of_codex_changes_nothing() {
    recover("codex", "codex");
}

/// Every run of a session tells the session's total; what it adds is one answer: 1300 fresh, 2000 cached, 12 of output.
#[test]
fn the_totals_of_codex_are_those_of_its_thread() {
    let total = |case: &str| {
        let seen = replay("codex", &recording("codex", case));
        let totals = seen.facts.iter().filter_map(|fact| match fact {
            Fact::SessionTotal(total) => Some(&total.usage),
            _ => None,
        });
        let totals: Vec<_> =
            totals.map(|usage| [usage.input, usage.cache_read, usage.output]).collect();
        assert_eq!(totals.len(), 1, "{case}");
        totals[0]
    };
    let runs = ["r1", "resume", "resume2", "resume-last"].map(total);
    for pair in runs.windows(2) {
        let added: Vec<_> =
            pair[1].iter().zip(pair[0]).map(|(after, before)| after - before).collect();
        assert_eq!(added, [1300, 2000, 12]);
    }
}

#[test]
fn codex_counts_its_attempts_and_never_gives_up_without_a_network() {
    for (case, attempts, cause) in [
        ("err401", 5, "401"),
        ("err429", 5, "429"),
        ("refused", 8, "Connection failed: error sending request"),
        ("err500-noretry", 0, ""),
    ] {
        let seen = replay("codex", &recording("codex", case));
        let retries = seen.facts.iter().filter_map(|fact| match fact {
            Fact::Retry(retry) => Some(retry.cause.as_str()),
            _ => None,
        });
        let retries: Vec<_> = retries.collect();
        assert_eq!(
            (retries.len(), retries.iter().all(|told| *told == cause)),
            (attempts, true),
            "{case}: {retries:?}"
        );
    }
}

#[test]
fn a_long_line_of_codex_is_one_step_with_its_output_cut() {
    let seen = replay("codex", &recording("codex", "huge"));
    assert_eq!((seen.row.steps, seen.odd()), (1, 0));
    let results = seen.facts.iter().filter_map(|fact| match fact {
        Fact::Text { role, text } if role == "result" => Some(text.len()),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert!(results.len() == 1 && results[0] > 60_000 && results[0] < 66_000, "{results:?}");
}

/// A command that the sandbox stops leaves no event, so that nothing can be counted as denied.
#[test]
fn what_the_sandbox_of_codex_stops_leaves_no_step() {
    for (case, steps) in
        [("default-perms", 0), ("ws-write-outside", 0), ("sandbox-resume", 0), ("ws-write", 1)]
    {
        let seen = replay("codex", &recording("codex", case));
        assert_eq!(seen.row.steps, steps, "{case}");
    }
}

#[test]
fn codex_tells_the_files_that_it_changed_by_itself() {
    for case in ["write", "write-codemode"] {
        let seen = replay("codex", &recording("codex", case));
        let result = seen.facts.iter().find_map(|fact| match fact {
            Fact::Result(result) => Some(result.files_changed.clone()),
            _ => None,
        });
        assert_eq!(result, Some(vec!["/home/user/project/out.txt".to_owned()]), "{case}");
    }
}
