//! Tests of qwen's command line, and of lines that no recording has.

use std::path::PathBuf;

use super::*;
use crate::adapters::Ended;
use crate::adapters::event_stream::tests::heard;
use crate::core::{AgentKind, ExitReason, Fact, SessionTotal};

fn task(text: &str) -> Task {
    Task::new(text, AgentKind("qwen".to_owned()), Qwen.traits(), PathBuf::from("/w"))
}

fn invoke(task: &Task) -> Result<Invocation, Refusal> {
    let place = Place {
        task_file: PathBuf::from("/s/task"),
        report: PathBuf::from("/s/report.json"),
        mesh: None,
        token: None,
    };
    Qwen.invocation(task, &place)
}

/// Returns the arguments after those that are always there.
#[track_caller]
fn arguments(task: &Task) -> Vec<String> {
    let argv = invoke(task).unwrap().argv;
    assert_eq!(argv[..3], ["qwen", "-o", "stream-json"]);
    argv[3..].to_vec()
}

#[test]
fn a_task_of_qwen_comes_by_standard_input() {
    let invocation = invoke(&task("-v")).unwrap();
    assert_eq!((invocation.input, invocation.task_text.as_str()), (Input::Task, "-v"));
    assert_eq!(invocation.env.get("QWEN_USAGE_STATISTICS_ENABLED").unwrap(), "false");
    assert_eq!(invocation.env.get("QWEN_TELEMETRY_ENABLED").unwrap(), "false");
    assert_eq!(invocation.ask_signal, "SIGTERM");
}

#[test]
fn what_a_task_may_do_is_qwens_own_mode_and_tools() {
    assert_eq!(arguments(&task("t")), ["--approval-mode", "auto-edit"]);
    let all = Task { allow_shell: true, allow_web: true, ..task("t") };
    assert_eq!(arguments(&all)[2..], ["--allowed-tools=run_shell_command,web_fetch"]);
    let read = Task { read_only: true, ..task("t") };
    let without = "--exclude-tools=run_shell_command,write_file,edit,replace,notebook_edit";
    assert_eq!(arguments(&read), ["--approval-mode", "plan", without]);
    let both = Task { allow_shell: true, ..read };
    assert!(invoke(&both).unwrap_err().to_string().contains("--read-only or --allow-shell"));
}

/// It has no limit of cost; the budget is watched from outside.
#[test]
fn what_qwen_can_be_told_is_handed_over() {
    let given = Task {
        model: Some("qwen3-coder".to_owned()),
        max_steps: Some(7),
        budget: Some("0.25".parse().unwrap()),
        extra: vec!["--auth-type".to_owned(), "openai".to_owned()],
        ..task("t")
    };
    let expected = ["--model", "qwen3-coder", "--max-session-turns", "7", "--auth-type", "openai"];
    assert_eq!(arguments(&given)[2..], expected);
    for extra in ["-o", "--output-format=json", "--input-format"] {
        let given = Task { extra: vec![extra.to_owned()], ..task("t") };
        assert!(invoke(&given).unwrap_err().to_string().contains(extra.split('=').next().unwrap()));
    }
    let tier = Task { tier: Some("fast".to_owned()), ..task("t") };
    assert!(invoke(&tier).unwrap_err().to_string().contains("--model"));
}

#[test]
fn the_input_that_qwen_tells_has_the_cache_in_it() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"x","usage":{"input_tokens":5400,"cache_read_input_tokens":2800,"output_tokens":62}}"#;
    let mut facts = Vec::new();
    Qwen.reader(ReaderStart::default()).line(line.as_bytes(), &mut facts);
    let Some(Fact::SessionTotal(SessionTotal { usage })) = facts.first() else {
        panic!("{facts:?}");
    };
    assert_eq!((usage.input, usage.cache_read, usage.output), (2600, 2800, 62));
}

#[test]
fn a_limit_of_tool_calls_is_one_of_steps() {
    let table = [
        (
            55,
            "Run aborted: tool-call budget of 3 exceeded (--max-tool-calls).",
            ExitReason::MaxSteps,
        ),
        (55, "Run aborted: wall-clock budget of 8s exceeded.", ExitReason::Timeout),
        (53, "", ExitReason::MaxSteps),
        (1, "Invalid API key", ExitReason::Auth),
    ];
    for (code, err, expected) in table {
        let mut facts = Vec::new();
        let end = Ended { err: err.as_bytes(), report: b"", code: Some(code) };
        Qwen.reader(ReaderStart::default()).ended(end, &mut facts);
        let [Fact::Result(result)] = facts.as_slice() else { panic!("{facts:?}") };
        assert_eq!(result.reason, Some(expected), "{err}");
    }
}

#[test]
fn why_a_try_failed_is_told_on_its_standard_error_alone() {
    let mut reader = Qwen.reader(ReaderStart::default());
    let retry = br#"{"type":"system","subtype":"retry","data":{"attempt":1,"maxRetries":10}}"#;
    let mut causes = Vec::new();
    let mut hear = |reader: &mut dyn LineReader| {
        let mut facts = Vec::new();
        reader.line(retry, &mut facts);
        let [Fact::Retry(retry)] = facts.as_slice() else { panic!("{facts:?}") };
        assert_eq!((retry.attempt, retry.most), (Some(1), Some(10)));
        causes.push(retry.cause.clone());
    };
    hear(reader.as_mut());
    assert_eq!(heard(reader.as_mut(), "qwen/err429.stderr.txt"), []);
    hear(reader.as_mut());
    let message = br#"{"type":"assistant","message":{"id":"m","content":[]}}"#;
    reader.line(message, &mut Vec::new());
    hear(reader.as_mut());
    assert_eq!(causes, ["request failed", "429", "request failed"]);
}
