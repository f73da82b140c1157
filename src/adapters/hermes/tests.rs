//! Tests of the kind `hermes` on what the real program printed and reported.

use std::path::{Path, PathBuf};

use super::*;
use crate::core::{AgentKind, ExitReason};

fn task(text: &str) -> Task {
    Task::new(text, AgentKind("hermes".to_owned()), Hermes.traits(), PathBuf::from("/w"))
}

fn place() -> Place {
    Place {
        task_file: PathBuf::from("/s/task"),
        report: PathBuf::from("/s/report.json"),
        mesh: None,
        token: None,
    }
}

fn argv(task: &Task) -> Vec<String> {
    Hermes.invocation(task, &place()).unwrap().argv
}

#[test]
fn every_option_has_its_argument_or_is_refused() {
    let plain = ["hermes", "--toolsets", "file,todo", "--usage-file", "/s/report.json"];
    assert_eq!(argv(&task("-x")), [&plain[..], &["--oneshot=-x"]].concat());
    let all = Task {
        engine: Some("openrouter".to_owned()),
        model: Some("m".to_owned()),
        allow_shell: true,
        allow_web: true,
        context: Some("first".to_owned()),
        extra: vec!["--safe-mode".to_owned()],
        ..task("x")
    };
    let mut expected = plain;
    expected[2] = "file,todo,terminal,web";
    let rest = ["--provider", "openrouter", "--model", "m", "--safe-mode", "--oneshot=first\n\nx"];
    assert_eq!(argv(&all), [&expected[..], &rest].concat());
    for (refused, flag) in [
        (Task { read_only: true, ..task("x") }, "--read-only"),
        (Task { max_steps: Some(3), ..task("x") }, "--max-steps"),
        (Task { tier: Some("t".to_owned()), ..task("x") }, "--tier"),
    ] {
        let told = Hermes.invocation(&refused, &place()).unwrap_err().to_string();
        assert!(told.contains(flag), "{told}");
    }
    assert!(Hermes.invocation(&task(&"x".repeat(200_000)), &place()).is_err());
}

/// Reads a recording; `code` is the exit code that it ended with.
fn read(case: &str, code: Option<i32>) -> Vec<Fact> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/hermes");
    let out = std::fs::read(folder.join(format!("{case}.stdout.txt"))).unwrap();
    let report = std::fs::read(folder.join(format!("{case}.report.json"))).unwrap();
    let mut reader = Hermes.reader(ReaderStart::default());
    let mut facts = Vec::new();
    reader.closing(Closing { bytes: &out, is_whole: true }, &mut facts);
    reader.ended(Ended { err: b"", report: &report, code }, &mut facts);
    facts
}

fn result(facts: &[Fact]) -> &AgentResult {
    match facts.last() {
        Some(Fact::Result(result)) => result,
        other => panic!("{other:?}"),
    }
}

fn usage(facts: &[Fact]) -> Option<&Usage> {
    facts.iter().find_map(|fact| match fact {
        Fact::Usage { usage, .. } => Some(usage),
        _ => None,
    })
}

/// The tokens are those that the model service was told to answer: see the scenarios of the recordings.
#[test]
fn a_run_that_went_well_has_its_answer_and_its_tokens() {
    let table = [
        // Two replies: 1200 + 100 written to a cache, which it counts as input, and 1300; 800 and 2000 from a cache.
        ("default", "Done: the command printed hello.", [2600, 2800, 0, 62]),
        ("write", "The file out.txt is written.", [1900, 0, 0, 75]),
        ("text", "Just an answer, no tool.", [500, 0, 0, 8]),
    ];
    for (case, answer, tokens) in table {
        let facts = read(case, Some(0));
        let told = result(&facts);
        assert_eq!((told.completed, told.answer.as_deref()), (Some(true), Some(answer)), "{case}");
        let usage = usage(&facts).unwrap();
        let counted = [usage.input, usage.cache_read, usage.cache_write, usage.output];
        assert_eq!(counted, tokens, "{case}");
        assert!(facts.iter().any(|fact| matches!(fact, Fact::Session(_))), "{case}");
    }
}

#[test]
fn a_cost_that_it_calls_unknown_is_worked_out_or_stays_unknown_and_is_never_zero() {
    let unknown = read("default", Some(0));
    assert_eq!((usage(&unknown).unwrap().cost, usage(&unknown).unwrap().estimate), (None, None));
    // 500 and 8 tokens at 3 and 15 dollars for a million.
    let known = read("text", Some(0));
    let estimate = usage(&known).unwrap().estimate;
    assert_eq!(estimate, Some("0.00162".parse().unwrap()));
}

#[test]
fn a_failure_is_told_by_the_report_and_not_by_the_exit_code() {
    let table = [
        ("err401", ExitReason::Auth),
        ("err429", ExitReason::RateLimit),
        ("err500", ExitReason::Server),
        ("err400", ExitReason::Context),
        ("refusal", ExitReason::Refused),
        ("refused", ExitReason::Network),
        ("interrupt", ExitReason::Error),
        ("maxtokens", ExitReason::Error),
    ];
    for (case, reason) in table {
        let facts = read(case, Some(0));
        let told = result(&facts);
        assert_eq!((told.completed, told.reason), (Some(false), Some(reason)), "{case}");
        assert!(!told.error.is_empty(), "{case}");
        assert_eq!(told.truncated, case == "maxtokens", "{case}");
        assert_eq!(usage(&facts), None, "{case}: it reports no tokens of a run that failed");
    }
}

#[test]
fn without_a_report_the_last_error_is_the_reason() {
    let told = |err: &[u8], code| {
        let mut facts = Vec::new();
        let mut reader = Hermes.reader(ReaderStart::default());
        reader.ended(Ended { err, report: b"", code }, &mut facts);
        facts
    };
    let facts = told(b"hermes -z: agent failed: No LLM provider configured.\n", Some(1));
    assert_eq!(result(&facts).reason, Some(ExitReason::Auth));
    assert!(result(&facts).error.starts_with("hermes was not let in: run hermes setup"));
    assert_eq!(told(b"", Some(1)), []);
    assert_eq!(told(b"a warning\n", None), []);
    // A report that was cut off in the middle is none.
    let mut facts = Vec::new();
    let mut reader = Hermes.reader(ReaderStart::default());
    reader.ended(Ended { err: b"killed\n", report: b"{\"model\": \"m", code: Some(3) }, &mut facts);
    assert_eq!(result(&facts).error, "killed");
}
