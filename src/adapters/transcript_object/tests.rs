//! Tests of transcripts, most of them on recorded output.

use super::*;
use crate::adapters::{LineReader, TranscriptReader, last_line};
use crate::core::ExitReason;

fn closing(text: &str) -> Closing<'_> {
    Closing { bytes: text.as_bytes(), is_whole: true }
}

fn own(text: &str) -> Option<Transcript> {
    find(closing(text), Strictness::Own).map(|found| found.transcript)
}

fn other(text: &str) -> Option<Transcript> {
    find(closing(text), Strictness::Other(None)).map(|found| found.transcript)
}

#[track_caller]
fn result(text: &str) -> AgentResult {
    own(text).unwrap().result
}

fn smokes(transcript: &Transcript) -> Vec<Option<bool>> {
    transcript.steps.iter().filter_map(|step| step.smoke.as_ref()).map(|smoke| smoke.ok).collect()
}

const SUCCESS: &str = include_str!("../../../tests/fixtures/ygg/success.txt");
const COLOUR: &str = include_str!("../../../tests/fixtures/ygg/color.txt");
const MAX_STEPS: &str = include_str!("../../../tests/fixtures/ygg/max_steps.txt");
const RED_SMOKE: &str = include_str!("../../../tests/fixtures/ygg/red_smoke.txt");
const BUDGET: &str = include_str!("../../../tests/fixtures/ygg/budget.txt");
const NO_ENGINE: &str = include_str!("../../../tests/fixtures/ygg/no_engine.txt");
const UNKNOWN_ENGINE: &str = include_str!("../../../tests/fixtures/ygg/unknown_engine.txt");

/// C-30: the object behind the banner of the real program is found and parsed, whatever follows it.
#[test]
fn the_output_of_the_real_program_is_read() {
    let windows = SUCCESS.replace('\n', "\r\n");
    let longer = format!("{SUCCESS}bye {{\n");
    for text in [SUCCESS, COLOUR, &windows, &longer] {
        for transcript in [own(text).unwrap(), other(text).unwrap()] {
            let tools: Vec<_> = transcript.steps.iter().map(|step| step.tool.as_str()).collect();
            assert_eq!(tools, ["list_dir", "write_file", "smoke"]);
            assert_eq!(transcript.steps[1].text, "Write the program.");
            assert_eq!(smokes(&transcript), [Some(true)]);
            let tokens = transcript.tokens.unwrap();
            assert_eq!((tokens.input, tokens.output), (400, 80));
            assert_eq!(transcript.cost, Some(NanoUsd::ZERO));
            let answer =
                "Wrote hello.py: it returns {'greeting': 'hello }{'} and passes its check.";
            assert_eq!(
                transcript.result,
                AgentResult {
                    completed: Some(true),
                    answer: Some(answer.to_owned()),
                    reason: Some(ExitReason::Completed),
                    files_changed: vec!["hello.py".to_owned()],
                    ..AgentResult::default()
                }
            );
        }
    }
}

/// C-39: a stop by turns or by budget is told apart from a crash, and marked.
#[test]
fn a_stop_by_a_limit_is_no_crash() {
    let stopped = result(MAX_STEPS);
    assert_eq!((stopped.reason, stopped.truncated), (Some(ExitReason::MaxSteps), true));
    assert_eq!(stopped.completed, Some(false));
    let transcript = own(BUDGET).unwrap();
    assert_eq!(transcript.cost, Some(NanoUsd::from_nanos(810_000)));
    assert_eq!(
        (transcript.result.reason, transcript.result.truncated),
        (Some(ExitReason::Budget), true)
    );
    let crashed = result(r#"{"completed": false, "answer": "no"}"#);
    assert_eq!((crashed.reason, crashed.truncated), (Some(ExitReason::Error), false));
    let done = result(r#"{"completed": true, "answer": "stopped: reached max_steps"}"#);
    assert_eq!((done.reason, done.truncated), (Some(ExitReason::Completed), false));
}

#[test]
fn a_run_without_an_object_leaves_its_last_line() {
    for (text, word) in
        [(NO_ENGINE, "no reasoning engine available"), (UNKNOWN_ENGINE, "unknown engine 'nosuch'")]
    {
        assert_eq!((own(text), other(text)), (None, None));
        assert!(last_line(text.as_bytes(), |_| true).unwrap().contains(word));
    }
}

/// Numbers are whole or missing at every cut, and the object counts only when it is complete.
#[test]
fn a_recording_that_is_cut_anywhere_tells_nothing_wrong() {
    for text in [SUCCESS, COLOUR, MAX_STEPS, RED_SMOKE, BUDGET] {
        let bytes = text.as_bytes();
        let whole = own(text);
        for cut in 0..bytes.len() {
            let closing = Closing { bytes: &bytes[..cut], is_whole: true };
            let found = find(closing, Strictness::Own).map(|found| found.transcript);
            let is_whole = cut + 1 == bytes.len();
            assert_eq!(found, if is_whole { own(text) } else { None }, "{cut}");
            let found = find(closing, Strictness::Other(None));
            assert_eq!(found.is_some(), is_whole, "{cut}");
            if cut > 0 && bytes[cut - 1] != b'\n' {
                continue;
            }
            // A window that begins with a later line sees the object only if it sees all of it.
            let closing = Closing { bytes: &bytes[cut..], is_whole: false };
            if let Some(found) = find(closing, Strictness::Own) {
                assert_eq!(Some(found.transcript), whole);
            }
        }
    }
}

#[test]
fn an_object_inside_one_that_begins_before_the_window_is_no_transcript() {
    let bytes =
        b" \"args\": {\"completed\": true, \"answer\": \"inner\"}, \"observation\": \"\"}\n";
    for (is_whole, is_found) in [(true, true), (false, false)] {
        let found = find(Closing { bytes, is_whole }, Strictness::Other(None));
        assert_eq!(found.is_some(), is_found);
    }
}

/// C-31: the last object that looks like a transcript wins.
#[test]
fn the_last_of_several_transcripts_wins() {
    let text = concat!(
        "{\"completed\": false, \"answer\": \"first\"}\n",
        "{\"completed\": true, \"answer\": \"} second {\"}\n",
        "{\"level\": \"info\", \"message\": \"not one {\"}\n{ and text\n",
    );
    for transcript in [own(text), other(text)] {
        assert_eq!(transcript.unwrap().result.answer.as_deref(), Some("} second {"));
    }
    assert!(other("note: {\"completed\": true, \"answer\": \"x\"}").is_some());
}

/// C-38: a failed flag or an error that is not blank wins over the text.
#[test]
fn an_error_in_the_result_wins() {
    let blank = result(r#"{"completed": true, "answer": "fine", "error": " \n", "failed": false}"#);
    assert_eq!((blank.completed, blank.error.as_str()), (Some(true), ""));
    let error = result(r#"{"completed": true, "answer": "fine", "error": "\nboom\nmore"}"#);
    assert_eq!((error.completed, error.error.as_str()), (Some(false), "boom"));
    let failed = result(r#"{"answer": "fine", "completed": true, "failed": true}"#);
    assert_eq!((failed.completed, failed.reason), (Some(false), Some(ExitReason::Error)));
    let odd =
        result(r#"{"completed": true, "answer": "", "error": {"code": 5, "message": "no key"}}"#);
    assert_eq!((odd.completed, odd.error.as_str(), odd.unparsed), (Some(false), "no key", true));
}

/// C-45: a checkpoint is green only if its observation starts with `exit=0`.
#[test]
fn a_checkpoint_is_green_only_if_it_starts_so() {
    assert_eq!(smokes(&own(RED_SMOKE).unwrap()), [Some(false), Some(true)]);
    assert_eq!(smoke_colour("exit=0"), Some(true));
    assert_eq!(smoke_colour("exit=0\nstdout:\nx"), Some(true));
    assert_eq!(smoke_colour("exit=1\nstdout: exit=0"), Some(false));
    assert_eq!(smoke_colour("exit=01"), Some(false));
    assert_eq!(smoke_colour(""), Some(false));
    assert_eq!(smoke_colour("(nothing to smoke-test: no tests and no .py files)"), None);
}

#[test]
fn every_item_of_the_steps_counts_and_only_objects_are_checkpoints() {
    let text = r#"{"completed": true, "steps": [1, null, "smoke", ["smoke"], {}, {"tool": 5}, {"tool": "smoke", "observation": 7}]}"#;
    let transcript = own(text).unwrap();
    assert_eq!(transcript.steps.len(), 7);
    assert_eq!(smokes(&transcript), [Some(false)]);
}

/// C-32, with the next one: what is missing counts as nothing, and the row has the flag.
#[test]
fn wrong_types_and_absurd_numbers_are_missing_and_flagged() {
    for (part, steps) in [
        ("\"usage\": null", 0),
        ("\"steps\": null", 0),
        ("\"steps\": {\"a\": 1}", 0),
        ("\"steps\": [1], \"usage\": [2]", 1),
        (
            "\"usage\": {\"input_tokens\": -4, \"output_tokens\": \"7\", \"total_tokens\": 1e300, \"cost_usd\": -0.5}",
            0,
        ),
        ("\"usage\": {\"total_tokens\": 18446744073709551616, \"cost_usd\": \"1\"}", 0),
        ("\"usage\": {\"cost_usd\": NaN}", 0),
        ("\"answer\": 5", 0),
        ("\"answer\": \"a\", \"files_changed\": \"b\"", 0),
        ("\"answer\": \"a\", \"files_changed\": [1]", 0),
    ] {
        let transcript = own(&format!("{{\"completed\": true, {part}}}")).unwrap();
        assert_eq!(transcript.steps.len(), steps, "{part}");
        assert_eq!((transcript.tokens, transcript.cost), (None, None), "{part}");
        assert!(transcript.result.unparsed, "{part}");
        assert_eq!(transcript.result.completed, Some(true));
    }
    assert!(result("{\"completed\": \"yes\", \"answer\": \"a\"}").unparsed);
    assert!(!result("{\"completed\": true, \"answer\": \"a\"}").unparsed);
}

/// C-32.
#[test]
fn json_that_is_no_object_is_flagged_for_a_program_that_should_print_one() {
    for (text, is_flagged) in [
        ("[{\"completed\": true, \"answer\": \"x\"}]\n", true),
        ("5\n", true),
        ("\"x\"", true),
        ("x", false),
        ("", false),
    ] {
        let mut facts = Vec::new();
        let mut reader = TranscriptReader::new(false);
        assert_eq!(reader.closing(closing(text), &mut facts), None);
        let flagged = Fact::Result(AgentResult { unparsed: true, ..AgentResult::default() });
        assert_eq!(facts, if is_flagged { vec![flagged] } else { vec![] }, "{text}");
    }
}

#[test]
fn a_total_is_what_the_numbers_add_up_to() {
    let tokens = |usage: &str| {
        let usage =
            own(&format!("{{\"completed\": true, \"usage\": {usage}}}")).unwrap().tokens.unwrap();
        (usage.input, usage.output)
    };
    assert_eq!(tokens(r#"{"total_tokens": 1500}"#), (1500, 0));
    assert_eq!(tokens(r#"{"input_tokens": 5, "output_tokens": 7}"#), (5, 7));
    assert_eq!(tokens(r#"{"input_tokens": 5, "output_tokens": 7, "total_tokens": 20}"#), (13, 7));
    assert_eq!(tokens(r#"{"output_tokens": 7, "total_tokens": 4}"#), (0, 4));
}

#[test]
fn facts_come_in_the_order_of_the_work() {
    let mut facts = Vec::new();
    own(SUCCESS).unwrap().push_facts(Seen::default(), &mut facts);
    let kinds: Vec<_> = facts
        .iter()
        .map(|fact| format!("{fact:?}").split(['(', ' ']).next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(kinds, ["Step", "Step", "Step", "Smoke", "TotalTokens", "TotalCost", "Result"]);
}

#[test]
fn an_answer_without_end_is_cut_and_marked() {
    let result =
        result(&format!("{{\"completed\": true, \"answer\": \"{}\"}}", "x".repeat(1 << 20)));
    assert!(result.truncated && result.answer.unwrap().len() < 300_000);
}
