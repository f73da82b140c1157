//! What holds for every reader of an event stream, and what their tests share.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::*;
use crate::adapters::text::TEXT_BYTES;
use crate::adapters::{self, Adapter, Closing, Ended, Invocation, LineReader, Place, ReaderStart};
use crate::core::{AgentKind, Retry, Task, Usage};

/// Kinds whose readers are built on this.
const KINDS: [&str; 4] = ["codex", "opencode", "gemini", "copilot"];

pub(in crate::adapters) fn reader(kind: &str) -> Box<dyn LineReader> {
    start(kind, ReaderStart::default())
}

pub(in crate::adapters) fn start(kind: &str, start: ReaderStart) -> Box<dyn LineReader> {
    adapter(kind).reader(start)
}

/// Returns how a run of this model was started.
pub(in crate::adapters) fn with_model(model: Option<&str>) -> ReaderStart {
    let argv = model.into_iter().flat_map(|model| ["-m".to_owned(), model.to_owned()]);
    ReaderStart { argv: argv.collect(), ..ReaderStart::default() }
}

fn adapter(kind: &str) -> &'static dyn Adapter {
    adapters::adapter(&AgentKind(kind.to_owned())).unwrap()
}

pub(in crate::adapters) fn task(kind: &str) -> Task {
    adapters::task(kind, "-do it", Path::new("/project")).unwrap()
}

pub(in crate::adapters) fn invocation(task: &Task) -> Result<Invocation, String> {
    let place = Place {
        task_file: PathBuf::from("/state/agents/1/task"),
        report: PathBuf::from("/s/report.json"),
        mesh: None,
        token: None,
    };
    adapter(&task.kind.0).invocation(task, &place).map_err(|refusal| refusal.0)
}

pub(in crate::adapters) fn facts(reader: &mut dyn LineReader, lines: &[&str]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for line in lines {
        reader.line(line.as_bytes(), &mut facts);
    }
    facts
}

/// Reads lines and then the end.
pub(in crate::adapters) fn run(
    kind: &str,
    lines: &[&str],
    code: Option<i32>,
    err: &str,
) -> Vec<Fact> {
    let mut reader = reader(kind);
    let mut facts = facts(reader.as_mut(), lines);
    reader.ended(Ended { err: err.as_bytes(), report: b"", code }, &mut facts);
    facts
}

pub(in crate::adapters) fn result(facts: &[Fact]) -> AgentResult {
    let results = facts.iter().rev().find_map(|fact| match fact {
        Fact::Result(result) => Some(result.clone()),
        _ => None,
    });
    results.unwrap_or_else(|| panic!("no closing word in {facts:?}"))
}

pub(in crate::adapters) fn retries(facts: &[Fact]) -> Vec<Retry> {
    let retry = |fact: &Fact| match fact {
        Fact::Retry(retry) => Some(retry.clone()),
        _ => None,
    };
    facts.iter().filter_map(retry).collect()
}

/// Returns what a reader learns of a standard error as it is recorded, line by line.
pub(in crate::adapters) fn heard(reader: &mut dyn LineReader, recording: &str) -> Vec<Fact> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(recording);
    let err = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut facts = Vec::new();
    assert!(reader.reads_errors());
    for line in err.split(|byte| *byte == b'\n') {
        reader.error_line(line, &mut facts);
    }
    facts
}

pub(in crate::adapters) fn texts<'a>(facts: &'a [Fact], wanted: &str) -> Vec<&'a str> {
    let text = |fact: &'a Fact| match fact {
        Fact::Text { role, text } if role == wanted => Some(text.as_str()),
        _ => None,
    };
    facts.iter().filter_map(text).collect()
}

/// Returns the steps as `state tool: text`.
pub(in crate::adapters) fn steps(facts: &[Fact]) -> Vec<String> {
    let step = |fact: &Fact| match fact {
        Fact::Step { tool, text, state, .. } => Some(format!("{state:?} {tool}: {text}")),
        _ => None,
    };
    facts.iter().filter_map(step).collect()
}

pub(in crate::adapters) fn usages(facts: &[Fact]) -> Vec<Usage> {
    let usage = |fact: &Fact| match fact {
        Fact::Usage { usage, .. } => Some(usage.clone()),
        Fact::SessionTotal(total) => Some(total.usage.clone()),
        _ => None,
    };
    facts.iter().filter_map(usage).collect()
}

#[test]
fn what_is_no_event_is_counted_and_what_is_unknown_is_passed_over() {
    for kind in KINDS {
        for line in ["{", "{]", "{}", "{\"type\":5}", "{\"type\":null}", "{\"x\":\"\u{fffd}\"}"] {
            assert_eq!(run(kind, &[line], None, ""), [Fact::Unknown], "{kind}: {line}");
        }
        let line = r#"{"type":"news.of.tomorrow","item":[1],"part":7,"data":"x"}"#;
        assert_eq!(run(kind, &[line], None, ""), [], "{kind}");
    }
}

/// A stream that was cut off says so, whatever the exit code: gemini ends with 0 when it is told to end.
#[test]
fn an_output_without_a_last_word_is_never_a_success() {
    for kind in KINDS {
        let told = result(&run(kind, &[], Some(0), ""));
        assert_eq!((told.completed, told.reason), (Some(false), Some(ExitReason::Error)), "{kind}");
        let told =
            result(&run(kind, &[], Some(1), "loading\n\x1b[31merror: no such flag\x1b[0m\nbye\n"));
        assert_eq!(told.error, "error: no such flag", "{kind}");
    }
}

/// A program that was told to print text says its answer so; the beginning of an event is none.
#[test]
fn an_output_without_any_event_is_the_answer() {
    for kind in KINDS {
        let run = |output: &str, lines: &[&str], code: i32| {
            let mut reader = reader(kind);
            let mut facts = facts(reader.as_mut(), lines);
            if reader.reads_closing() {
                let closing = Closing { bytes: output.as_bytes(), is_whole: true };
                assert_eq!(reader.closing(closing, &mut facts), None);
            }
            reader.ended(Ended { err: b"", report: b"", code: Some(code) }, &mut facts);
            result(&facts)
        };
        let told = run("\nHello\nyou.\n", &[], 0);
        assert_eq!((told.completed, told.answer.as_deref()), (None, Some("Hello\nyou.")), "{kind}");
        assert_eq!(run("Hello", &[], 1).completed, Some(false), "{kind}");
        assert_eq!(
            run("{\"type\":\"ini", &["{\"type\":\"ini"], 0).completed,
            Some(false),
            "{kind}"
        );
        assert_eq!(run("Hello", &["{\"type\":\"x\"}"], 0).completed, Some(false), "{kind}");
    }
}

#[test]
fn a_reader_that_has_told_its_result_before_a_recovery_tells_no_other() {
    for kind in KINDS {
        let seen = adapters::Seen { result: true, ..adapters::Seen::default() };
        let mut reader = start(kind, ReaderStart { seen, ..ReaderStart::default() });
        let mut facts = Vec::new();
        reader.ended(Ended { err: b"", report: b"", code: Some(0) }, &mut facts);
        assert_eq!(facts, [], "{kind}");
    }
}

#[test]
fn notes_bring_answer_files_and_failure_over_a_recovery_within_their_bound() {
    let mut told = Told::default();
    assert_eq!(told.notes(), None);
    let mut facts = Vec::new();
    told.say("the answer".to_owned(), &mut facts);
    told.change("a.txt".to_owned());
    told.fail(ExitReason::Auth, "no key");
    let resumed =
        |notes: Option<String>| Told::resume(&ReaderStart { notes, ..ReaderStart::default() });
    let mut again = resumed(told.notes());
    assert_eq!(again, told);
    assert_eq!(resumed(Some("nonsense".to_owned())), Told::default());
    again.say("x".repeat(1 << 20), &mut facts);
    (0..20_000).for_each(|number| again.change(format!("file number {number}")));
    let notes = again.notes().unwrap();
    assert!(notes.len() < 40_000, "{}", notes.len());
    let Fact::Result(result) = resumed(Some(notes)).done(ExitReason::Completed) else {
        panic!("no result");
    };
    assert!(result.truncated && result.files_changed.len() > 100);
}

#[test]
fn pieces_of_a_text_are_joined_and_told_once() {
    let (mut told, mut facts) = (Told::default(), Vec::new());
    for piece in ["  ", "one ", "two", ""] {
        told.add(piece);
    }
    told.begin("c1", "shell", "ls".to_owned(), &mut facts);
    assert_eq!(texts(&facts, "assistant"), ["one two"]);
    assert_eq!(steps(&facts), ["Start shell: ls"]);
    told.add("three");
    told.close(&mut facts);
    told.close(&mut facts);
    assert_eq!(texts(&facts, "assistant"), ["one two", "three"]);
    assert_eq!(told.answer, "three");
}

#[test]
fn a_call_that_is_told_twice_is_one_step() {
    let (mut told, mut facts) = (Told::default(), Vec::new());
    for _ in 0..2 {
        told.begin("c1", "shell", "ls".to_owned(), &mut facts);
        told.begin("c2", "read", "a".to_owned(), &mut facts);
    }
    for _ in 0..2 {
        told.end("c2", "", String::new(), true, &mut facts);
        told.end("c3", "write", "b".to_owned(), false, &mut facts);
    }
    told.begin("c2", "read", "a".to_owned(), &mut facts);
    let expected = ["Start shell: ls", "Start read: a", "Error read: a", "End write: b"];
    assert_eq!(steps(&facts), expected);
    (0..10_000).for_each(|id| told.begin(&id.to_string(), "t", String::new(), &mut facts));
    assert!(told.calls.len() <= CALLS);
}

#[test]
fn a_call_is_shown_by_what_a_person_looks_at() {
    let show = |json: &str| summary(Some(&RawValue::from_string(json.to_owned()).unwrap()));
    assert_eq!(show(r#"{"content":"x","file_path":"/a/b"}"#), "/a/b");
    assert_eq!(show("{\"command\":\"ls\\n\\u001b[31m-l\",\"path\":5}"), "ls -l");
    assert_eq!(show(r#"{"command":" ","path":"a","cmd":7}"#), "a");
    assert_eq!(show(r#""bare""#), "bare");
    assert_eq!(show(r#"{"z":[1,2]}"#), r#"{"z":[1,2]}"#);
    assert_eq!(
        (show("{}"), show("[1]"), summary(None)),
        (String::new(), "[1]".to_owned(), String::new())
    );
    assert_eq!(show(&format!("{{\"z\":\"{}\"}}", "é".repeat(5000))).chars().count(), 201);
}

#[test]
fn the_message_of_a_service_is_taken_out_of_its_wrapping() {
    let table = [
        (r#"{"error":{"code":401,"message":"no key"}}"#, Some(401), "no key"),
        (r#"{"message":"{\"error\":{\"message\":\"deep\"}}"}"#, None, "deep"),
        (r#"{"error":"flat"}"#, None, "flat"),
        (r#"{"other":1}"#, None, r#"{"other":1}"#),
        (" plain ", None, "plain"),
    ];
    for (given, status, message) in table {
        assert_eq!(unwrap_error(given), (status, message.to_owned()), "{given}");
    }
    assert_eq!(reason_of(Some(429), "insufficient_quota"), ExitReason::Quota);
    assert_eq!(reason_of(Some(429), "slow down"), ExitReason::RateLimit);
    assert_eq!(reason_of(Some(400), "prompt is too long"), ExitReason::Context);
    assert_eq!(reason_of(None, "who knows"), ExitReason::Error);
}

#[test]
fn a_long_text_is_cut_for_the_transcript() {
    let mut facts = Vec::new();
    push_text("result", &"ä".repeat(100_000), &mut facts);
    push_text("result", " \n", &mut facts);
    let shown = texts(&facts, "result");
    assert_eq!(shown.len(), 1);
    assert!(shown[0].len() <= TEXT_BYTES + 3 && shown[0].ends_with('…'));
}

#[test]
fn the_name_of_a_model_is_one_short_line() {
    let long = "m".repeat(5_000);
    let names = [("a\u{1b}[2J\u{8}b\nc", "ab c"), (" \u{7}", ""), (long.as_str(), "")];
    for (name, shown) in names {
        let told = model(name);
        let expected = Some(Fact::Model(shown.to_owned())).filter(|_| !shown.is_empty());
        if name.len() > 1_000 {
            let Some(Fact::Model(cut)) = told else { panic!("{told:?}") };
            assert_eq!((cut.chars().count(), cut.ends_with('…')), (201, true));
        } else {
            assert_eq!(told, expected);
        }
    }
    let name = serde_json::Value::from("a\u{1b}[2Jb");
    let lines = [
        ("gemini", format!(r#"{{"type":"init","session_id":"s","model":{name}}}"#)),
        ("copilot", format!(r#"{{"type":"model.call_start","data":{{"model":{name}}}}}"#)),
    ];
    for (kind, line) in lines {
        let mut facts = Vec::new();
        reader(kind).line(line.as_bytes(), &mut facts);
        assert!(facts.contains(&Fact::Model("ab".to_owned())), "{facts:?}");
    }
}
