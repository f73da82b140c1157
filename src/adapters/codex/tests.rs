//! The traps of codex's stream, each on the lines that it prints.

use super::*;
use crate::adapters::event_stream::tests::{
    facts, invocation, reader, result, retries, run, start, steps, task, texts, usages, with_model,
};
use crate::core::NanoUsd;

const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":5400,"cached_input_tokens":2800,"cache_write_input_tokens":0,"output_tokens":62,"reasoning_output_tokens":5}}"#;

fn message(id: u32, text: &str) -> String {
    format!(
        r#"{{"type":"item.completed","item":{{"id":"item_{id}","type":"agent_message","text":"{text}"}}}}"#
    )
}

/// Cached input is a part of the input, thinking a part of the output, and the total is the thread's.
#[test]
fn the_totals_are_those_of_the_thread_in_four_numbers() {
    let told = facts(reader("codex").as_mut(), &[DONE]);
    let usage = Usage { input: 2600, cache_read: 2800, output: 62, ..Usage::default() };
    assert!(told.contains(&Fact::SessionTotal(SessionTotal { usage })), "{told:?}");
}

/// 2600 × 5 + 2800 × 0.50 + 62 × 30 dollars per million.
#[test]
fn the_cost_is_worked_out_for_the_model_that_was_asked_for_and_unknown_without() {
    let model = |model: Option<&str>| {
        let mut reader = start("codex", with_model(model));
        let told = facts(reader.as_mut(), &[r#"{"thread_id":"t","type":"thread.started"}"#, DONE]);
        let has_model = told.iter().any(|fact| matches!(fact, Fact::Model(_)));
        assert_eq!(has_model, model.is_some());
        usages(&told)[0].estimate.map(NanoUsd::to_exact)
    };
    assert_eq!(model(Some("gpt-5.5")).as_deref(), Some("0.01626"));
    assert_eq!((model(Some("mock-model")), model(None)), (None, None));
}

#[test]
fn numbers_that_cannot_be_are_no_numbers() {
    for usage in [
        r#"{"input_tokens":5,"cached_input_tokens":9,"output_tokens":1}"#,
        r#"{"input_tokens":"5","output_tokens":1}"#,
        r#"{"input_tokens":5}"#,
        r#"{"input_tokens":5,"cached_input_tokens":-1,"output_tokens":1}"#,
    ] {
        let told =
            run("codex", &[&format!(r#"{{"type":"turn.completed","usage":{usage}}}"#)], None, "");
        assert_eq!(usages(&told), [], "{usage}");
        assert!(told.contains(&Fact::Unknown));
    }
}

#[test]
fn an_error_event_is_mostly_an_attempt_that_is_made_again() {
    let error = |text: &str| format!(r#"{{"type":"error","message":"Reconnecting... {text}"}}"#);
    let lines = [
        error("2/5 (unexpected status 401 Unauthorized: mock: invalid x-api-key, url: http://h)"),
        error("waiting for network (Connection failed: error sending request)"),
        error("3/5 (stream disconnected before completion: mock: overloaded (in the stream))"),
        error("4/5"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told =
        run("codex", &[lines.as_slice(), &[&message(1, "Well."), DONE]].concat(), Some(0), "");
    let seen: Vec<_> =
        retries(&told).into_iter().map(|retry| (retry.attempt, retry.most, retry.cause)).collect();
    let expected = [
        (Some(2), Some(5), "401".to_owned()),
        (None, None, "Connection failed: error sending request".to_owned()),
        (Some(3), Some(5), "mock: overloaded (in the stream)".to_owned()),
        (Some(4), Some(5), String::new()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        (result(&told).completed, result(&told).answer.as_deref()),
        (Some(true), Some("Well."))
    );
}

/// One that never reaches its service is stopped by somebody; why it did not get on is known all the same.
#[test]
fn a_run_that_ends_while_it_reconnects_says_why() {
    let line = r#"{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}"#;
    assert_eq!(result(&run("codex", &[line], None, "")).reason, Some(ExitReason::Network));
}

#[test]
fn a_failed_turn_has_its_reason_and_the_message_of_the_service() {
    let table = [
        ("unexpected status 401 Unauthorized: no, url: http://h", ExitReason::Auth),
        ("exceeded retry limit, last status: 429 Too Many Requests", ExitReason::RateLimit),
        ("unexpected status 529 <unknown status code>: mock: overloaded", ExitReason::Server),
        (
            "We’re currently experiencing high demand, which may cause temporary errors.",
            ExitReason::Server,
        ),
        (r#"{\"error\": {\"message\": \"mock: prompt is too long\"}}"#, ExitReason::Context),
        ("Incomplete response returned, reason: max_output_tokens", ExitReason::MaxTokens),
        ("Incomplete response returned, reason: content_filter", ExitReason::Refused),
        ("Missing environment variable: `MOCK_KEY`.", ExitReason::Auth),
        ("You've hit your usage limit.", ExitReason::Quota),
        (
            "stream disconnected before completion: error decoding response body",
            ExitReason::Network,
        ),
        ("stream disconnected before completion: mock: overloaded", ExitReason::Server),
        ("it broke", ExitReason::Error),
    ];
    for (text, reason) in table {
        let error = format!(r#"{{"type":"error","message":"{text}"}}"#);
        let failed = format!(r#"{{"type":"turn.failed","error":{{"message":"{text}"}}}}"#);
        let told = run("codex", &[&message(1, "So far."), &error, &failed], Some(1), "");
        let word = result(&told);
        assert_eq!((word.completed, word.reason), (Some(false), Some(reason)), "{text}");
        assert_eq!(texts(&told, "error").len(), 1, "{text}: told twice");
        assert!(!word.error.contains('{'), "{}", word.error);
        let answer = (reason == ExitReason::MaxTokens).then_some("So far.");
        assert_eq!((word.answer.as_deref(), word.truncated), (answer, answer.is_some()));
    }
}

#[test]
fn an_item_of_type_error_can_be_a_mere_warning() {
    let warning = r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}"#;
    let told = run("codex", &[warning, &message(1, "Well."), DONE], Some(0), "");
    assert_eq!(result(&told).completed, Some(true));
    assert_eq!(texts(&told, "system"), ["Model metadata not found."]);
}

#[test]
fn a_text_that_comes_again_after_a_reconnect_is_shown_once() {
    let retry = r#"{"type":"error","message":"Reconnecting... 1/5 (x)"}"#;
    let tool =
        r#"{"type":"item.completed","item":{"id":"item_9","type":"web_search","query":"q"}}"#;
    let (one, two, again) = (message(1, "One."), message(2, "Two."), message(3, "One."));
    let told = run("codex", &[&one, retry, &again, &two, DONE], Some(0), "");
    assert_eq!(texts(&told, "assistant"), ["One.", "Two."]);
    // Without one it is said twice, and after a tool call it is another text.
    let told = run("codex", &[&one, &again, retry, tool, &again, DONE], Some(0), "");
    assert_eq!(texts(&told, "assistant"), ["One.", "One.", "One."]);
}

#[test]
fn commands_changes_and_calls_are_steps_and_a_declined_one_is_denied() {
    let item = |state: &str, item: &str| format!(r#"{{"item":{{{item}}},"type":"item.{state}"}}"#);
    let lines = [
        item(
            "started",
            r#""id":"1","type":"command_execution","command":"/bin/bash -lc 'echo hi'","exit_code":null,"status":"in_progress""#,
        ),
        item(
            "completed",
            r#""id":"1","type":"command_execution","command":"/bin/bash -lc 'echo hi'","aggregated_output":"hi\n","exit_code":3,"status":"failed""#,
        ),
        item(
            "started",
            r#""id":"2","type":"file_change","changes":[{"path":"/p/a","kind":"add"},{"path":"/p/b","kind":"update"}],"status":"in_progress""#,
        ),
        item(
            "completed",
            r#""id":"2","type":"file_change","changes":[{"path":"/p/a","kind":"add"},{"path":"/p/b","kind":"update"},{"path":"/p/d","kind":"delete"}],"status":"completed""#,
        ),
        item(
            "completed",
            r#""id":"3","type":"file_change","changes":[{"path":"/p/c","kind":"add"}],"status":"failed""#,
        ),
        item(
            "completed",
            r#""id":"4","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"query":"q"},"status":"completed","error":null"#,
        ),
        item(
            "completed",
            r#""id":"5","type":"command_execution","command":["rm","x"],"status":"declined""#,
        ),
        item("completed", r#""id":"6","type":"todo_list","items":[]"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("codex", &[lines.as_slice(), &[DONE]].concat(), Some(0), "");
    let expected = [
        "Start command_execution: echo hi",
        "Error command_execution: echo hi",
        "Start file_change: /p/a /p/b",
        "End file_change: /p/a /p/b",
        "Error file_change: /p/c",
        "End s.t: q",
        "Error command_execution: [\"rm\",\"x\"]",
    ];
    assert_eq!(steps(&told), expected);
    assert_eq!(texts(&told, "result"), ["hi\n"]);
    assert_eq!(result(&told).files_changed, ["/p/a", "/p/b", "/p/d"]);
    assert_eq!(result(&told).files_deleted, ["/p/d"]);
    assert_eq!(told.iter().filter(|fact| matches!(fact, Fact::Denied { .. })).count(), 1);
}

#[test]
fn options_become_flags_of_its_sandbox_and_the_task_comes_by_standard_input() {
    let mut task = task("codex");
    task.extra = vec!["--oss".to_owned()];
    let plain = invocation(&task).unwrap();
    assert_eq!(plain.input, Input::Task);
    assert_eq!(plain.task_text, "-do it");
    let line = plain.argv.join(" ");
    assert!(
        line.starts_with("codex exec --json --skip-git-repo-check -s workspace-write "),
        "{line}"
    );
    assert!(line.ends_with(" --oss -"), "{line}");
    for off in ["web_search=\"disabled\"", "network_access=false", "analytics.enabled=false"] {
        assert!(line.contains(off), "{line}");
    }
    (task.model, task.allow_web, task.allow_shell) = (Some("gpt-5.5".to_owned()), true, true);
    let line = invocation(&task).unwrap().argv.join(" ");
    for on in ["-s workspace-write", "web_search=\"live\"", "network_access=true", "-m gpt-5.5"] {
        assert!(line.contains(on), "{line}");
    }
    task.read_only = true;
    assert!(invocation(&task).unwrap().argv.join(" ").contains("-s read-only"));
    task.max_steps = Some(3);
    assert!(
        invocation(&task).unwrap_err().starts_with("agents of kind codex have no --max-steps: ")
    );
}
