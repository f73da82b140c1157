//! The traps of opencode's stream, each on the lines that it prints.

use super::*;
use crate::adapters::event_stream::tests::{
    heard, invocation, reader, result, retries, run, start, steps, task, texts, usages, with_model,
};

const STOP: &str = r#"{"type":"step_finish","sessionID":"s","part":{"id":"p9","reason":"stop","tokens":{"total":3312,"input":1300,"output":12,"reasoning":0,"cache":{"write":0,"read":2000}},"cost":0.00468}}"#;
const DENIED: &str = r#"{"type":"tool_use","part":{"tool":"write","callID":"c1","state":{"status":"error","input":{"filePath":"/p/out.txt"},"error":"The user rejected permission to use this specific tool call."}}}"#;
const REJECTING_LINE: &str =
    "\u{1b}[93m\u{1b}[1m! \u{1b}[0mpermission requested: edit (out.txt); auto-rejecting\n";

fn said(text: &str) -> String {
    format!(r#"{{"type":"text","sessionID":"s","part":{{"text":"{text}"}}}}"#)
}

fn finish(reason: &str, tokens: &str, cost: &str) -> String {
    format!(
        r#"{{"type":"step_finish","part":{{"id":"p{reason}","reason":"{reason}","tokens":{tokens},"cost":{cost}}}}}"#
    )
}

fn error(name: &str, data: &str) -> String {
    format!(r#"{{"type":"error","sessionID":"s","error":{{"name":"{name}","data":{data}}}}}"#)
}

/// There is no last event: a step that stops is the end if nothing comes after it.
#[test]
fn a_step_that_stops_is_the_end_unless_more_comes() {
    let tool = r#"{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a\n","metadata":{"exit":0}}}}"#;
    let calls = finish("tool-calls", r#"{"input":1,"output":1,"cache":{}}"#, "0.1");
    let told = run("opencode", &[&said("First."), &calls, &said("Last."), STOP], Some(0), "");
    assert_eq!(
        (result(&told).completed, result(&told).answer.as_deref()),
        (Some(true), Some("Last."))
    );
    let told = run("opencode", &[&said("First."), STOP, tool], Some(0), "");
    assert_eq!(result(&told).completed, Some(false), "it went on and did not come to an end");
    let told = run("opencode", &[&said("First."), STOP], None, "");
    assert_eq!(
        result(&told).completed,
        Some(true),
        "what it said is known although it was stopped"
    );
}

#[test]
fn tokens_are_those_of_the_step_with_thinking_and_the_cost_is_exact() {
    let tokens =
        r#"{"total":2150,"input":1300,"output":45,"reasoning":5,"cache":{"write":7,"read":800}}"#;
    let told =
        run("opencode", &[&finish("tool-calls", tokens, "0.00489"), STOP, STOP], Some(0), "");
    let cost = Some("0.00489".parse().unwrap());
    let usage = Usage {
        input: 1300,
        cache_read: 800,
        cache_write: 7,
        output: 50,
        cost,
        ..Usage::default()
    };
    assert_eq!(usages(&told)[0], usage);
    let ids = told.iter().filter_map(|fact| match fact {
        Fact::Usage { id, .. } => id.as_deref(),
        _ => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["ptool-calls", "p9", "p9"]);
}

/// A model without a price costs 0 in the stream, which is not the same as nothing.
#[test]
fn a_cost_of_zero_for_tokens_is_unknown_or_estimated_and_none_for_no_tokens_is_nothing_told() {
    let tokens = r#"{"input":1000,"output":100,"cache":{"read":0,"write":0}}"#;
    let none = r#"{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}"#;
    let one = |model: Option<&str>, tokens: &str| {
        let start_with = with_model(model);
        let mut facts = Vec::new();
        start("opencode", start_with).line(finish("stop", tokens, "0").as_bytes(), &mut facts);
        usages(&facts).into_iter().next()
    };
    let unpriced = one(None, tokens).unwrap();
    assert_eq!((unpriced.cost, unpriced.estimate), (None, None));
    let unknown = one(Some("mock/mock-model"), tokens).unwrap();
    assert_eq!((unknown.cost, unknown.estimate), (None, None));
    let priced = one(Some("openai/gpt-5.5"), tokens).unwrap();
    // 1000 × 5 + 100 × 30 dollars per million.
    assert_eq!((priced.cost, priced.estimate), (None, Some("0.008".parse().unwrap())));
    assert_eq!(one(Some("openai/gpt-5.5"), none), None);
}

#[test]
fn numbers_that_cannot_be_are_no_numbers() {
    for tokens in [
        r#"{"input":-1,"output":1,"cache":{}}"#,
        r#"{"input":1,"output":"1","cache":{}}"#,
        r#"{"input":1,"output":1,"cache":{"read":1.5}}"#,
        r#"{"input":1,"output":1}"#,
        "[]",
    ] {
        let told = run("opencode", &[&finish("stop", tokens, "1")], None, "");
        assert_eq!(usages(&told), [], "{tokens}");
        assert!(told.contains(&Fact::Unknown));
    }
}

#[test]
fn an_error_event_is_an_attempt_and_the_end_only_if_nothing_follows() {
    let table = [
        (
            "APIError",
            r#"{"message":"mock: invalid x-api-key","statusCode":401}"#,
            ExitReason::Auth,
            "401",
        ),
        ("APIError", r#"{"message":"slow down","statusCode":429}"#, ExitReason::RateLimit, "429"),
        (
            "APIError",
            r#"{"message":"Cannot connect to API: Unable to connect."}"#,
            ExitReason::Network,
            "connection failed",
        ),
        ("ContextOverflowError", r#"{"message":"too much"}"#, ExitReason::Context, "too much"),
        ("ContentFilterError", r#"{"message":"no"}"#, ExitReason::Refused, "no"),
        (
            "UnknownError",
            r#"{"message":"Unexpected server error. Check server logs for details."}"#,
            ExitReason::Error,
            "Unexpected server error. Check server logs for details.",
        ),
        ("NewError", "5", ExitReason::Error, "NewError"),
    ];
    for (name, data, reason, cause) in table {
        let told = run("opencode", &[&error(name, data)], Some(1), "");
        assert_eq!(result(&told).reason, Some(reason), "{name} {data}");
        assert_eq!(retries(&told)[0].cause, cause, "{name} {data}");
        let told = run("opencode", &[&error(name, data), &said("Well."), STOP], Some(0), "");
        assert_eq!(result(&told).completed, Some(true), "{name} {data}");
    }
}

/// It compacts what is too long and fails again, without end and twice a second.
#[test]
fn a_circle_of_failures_is_counted_and_what_it_says_in_between_is_no_answer() {
    let overflow = error("ContextOverflowError", r#"{"message":"prompt is too long"}"#);
    let on = r#"{"type":"text","part":{"text":"Continue.","synthetic":true}}"#;
    let circle = [overflow.as_str(), &said("Summary"), STOP, on];
    let lines: Vec<&str> = circle.iter().copied().cycle().take(400).collect();
    let told = run("opencode", &lines, Some(0), "");
    let counts: Vec<_> = retries(&told).iter().map(|retry| retry.attempt).collect();
    assert_eq!((counts.len(), counts.last()), (100, Some(&Some(100))));
    assert_eq!(result(&told).completed, Some(false));
    assert_eq!(texts(&told, "system").len(), 100);
}

/// It ends with 0 although it could not do what it was asked.
#[test]
fn a_rejected_call_is_denied_and_the_run_that_stops_after_it_is_not_done() {
    let calls = finish("tool-calls", r#"{"input":1,"output":1,"cache":{}}"#, "0.1");
    let lines = [&said("I will."), DENIED, DENIED, &calls];
    for (lines, denied) in [(&lines[..], 1), (&lines[..1], 1)] {
        let told = run("opencode", lines, Some(0), REJECTING_LINE);
        let word = result(&told);
        assert_eq!((word.completed, word.reason), (Some(false), Some(ExitReason::Permission)));
        assert!(!word.error.contains('\u{1b}'), "{}", word.error);
        let refused = told.iter().filter(|fact| matches!(fact, Fact::Denied { .. }));
        assert_eq!(refused.count(), denied, "{lines:?}");
    }
    let told = run("opencode", &lines[..1], Some(0), REJECTING_LINE);
    let denied = Fact::Denied { tool: "edit".to_owned(), text: "out.txt".to_owned() };
    assert!(told.contains(&denied), "{told:?}");
    // A call that a rule forbids is denied as well, and the work goes on.
    let rule = DENIED.replace("The user rejected permission", "The user has specified a rule");
    let told = run("opencode", &[&rule, &said("Without."), STOP], Some(0), "");
    assert_eq!(result(&told).completed, Some(true));
    assert!(told.iter().any(|fact| matches!(fact, Fact::Denied { .. })));
}

#[test]
fn a_failing_command_is_a_completed_call_with_an_exit_code() {
    let call = |id: &str, tool: &str, exit: &str| {
        format!(
            r#"{{"type":"tool_use","part":{{"tool":"{tool}","callID":"{id}","state":{{"status":"completed","input":{{"command":"x","filePath":"/p/{id}"}},"output":"o","metadata":{{"exit":{exit}}}}}}}}}"#
        )
    };
    let lines = [
        call("1", "bash", "3"),
        call("2", "bash", "0"),
        call("3", "invalid", "null"),
        call("4", "write", "null"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("opencode", &[lines.as_slice(), &[STOP]].concat(), Some(0), "");
    assert_eq!(steps(&told), ["Error bash: x", "End bash: x", "Error invalid: x", "End write: x"]);
    assert_eq!(result(&told).files_changed, ["/p/4"]);
}

#[test]
fn a_reply_that_was_cut_is_done_with_that_limit_and_a_filtered_one_is_refused() {
    let tokens = r#"{"input":1,"output":1,"cache":{}}"#;
    let word = |reason: &str| {
        result(&run("opencode", &[&said("Cut"), &finish(reason, tokens, "0.1")], Some(0), ""))
    };
    let cut = word("length");
    assert_eq!(
        (cut.completed, cut.reason, cut.truncated),
        (Some(true), Some(ExitReason::MaxTokens), true)
    );
    let refused = word("content-filter");
    assert_eq!((refused.completed, refused.reason), (Some(false), Some(ExitReason::Refused)));
}

/// The host went between the circle's failure and its end: the earlier closing word does not count.
#[test]
fn a_failure_after_a_closing_word_outlives_a_recovery() {
    let mut before = start("opencode", ReaderStart::default());
    let mut facts = Vec::new();
    for line in [
        said("Summary"),
        STOP.to_owned(),
        error("ContextOverflowError", r#"{"message":"too long"}"#),
    ] {
        before.line(line.as_bytes(), &mut facts);
    }
    let seen = crate::adapters::Seen { result: true, ..crate::adapters::Seen::default() };
    let notes = before.notes();
    let mut after = start("opencode", ReaderStart { seen, notes, ..ReaderStart::default() });
    let mut facts = Vec::new();
    after.ended(Ended { err: b"", report: b"", code: Some(0) }, &mut facts);
    assert_eq!(result(&facts).reason, Some(ExitReason::Context));
}

#[test]
fn options_become_permissions_of_its_settings() {
    let mut task = task("opencode");
    let permission =
        |task: &Task| invocation(task).map(|told| told.env["OPENCODE_PERMISSION"].clone());
    let plain = invocation(&task).unwrap();
    assert_eq!(
        plain.argv,
        ["opencode", "run", "--format", "json", "--thinking", "--print-logs", "--log-level=ERROR"]
    );
    assert_eq!(plain.input, Input::Task);
    assert_eq!(plain.env["OPENCODE_DISABLE_AUTOUPDATE"], "1");
    let cautious = r#"{"edit":"allow","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny"}"#;
    assert_eq!(permission(&task).unwrap(), cautious);
    (task.allow_shell, task.allow_web) = (true, true);
    assert!(!permission(&task).unwrap().contains("deny"));
    task.read_only = true;
    assert!(permission(&task).unwrap_err().contains("leave out --read-only or --allow-shell"));
    task.allow_shell = false;
    assert!(
        permission(&task)
            .unwrap()
            .starts_with(r#"{"edit":"deny","bash":"deny","webfetch":"allow""#)
    );
    task.max_steps = Some(3);
    assert!(permission(&task).unwrap_err().contains("--max-steps"));
}

#[test]
fn tries_that_fail_are_told_in_its_log_and_count_once() {
    let mut reader = reader("opencode");
    let told = retries(&heard(reader.as_mut(), "opencode/err500.stderr.txt"));
    let attempts: Vec<_> = told.iter().map(|retry| retry.attempt).collect();
    assert_eq!(attempts, (1..=6).map(Some).collect::<Vec<_>>());
    assert!(told.iter().all(|retry| retry.cause == "mock: internal server error"), "{told:?}");
    // The event says of the last of them that it is given up.
    let event = error("APIError", r#"{"message":"mock: internal server error","statusCode":500}"#);
    let mut facts = Vec::new();
    reader.line(event.as_bytes(), &mut facts);
    assert_eq!(retries(&facts), []);
    assert_eq!(texts(&facts, "error"), ["mock: internal server error"]);
}

#[test]
fn a_failed_helper_request_is_no_failed_try_and_a_connection_that_failed_is_called_so() {
    let line = |small: &str, error: &str| {
        format!(
            "timestamp=2026-11-29T23:29:48Z level=ERROR run=2 message=\"stream error\" providerID=mock small={small} agent=build error.error=\"{error}\""
        )
    };
    let refused = "AI_APICallError: Cannot connect to API: Unable to connect. Is it up?";
    assert_eq!(logged_failure(line("true", refused).as_bytes()), None);
    let told = logged_failure(line("false", refused).as_bytes());
    assert_eq!(told.as_deref(), Some("connection failed"));
    for other in ["message=\"stream error\" error.error=\"x\"", "timestamp=1 message=init", ""] {
        assert_eq!(logged_failure(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn lines_of_its_log_are_none_of_its_last_words() {
    let log = "timestamp=2026 level=ERROR message=\"stream error\" error.error=\"x\"\n";
    let told = run("opencode", &[], Some(1), &format!("{log}Session not found\n{log}"));
    assert!(result(&told).error.contains("Session not found"), "{told:?}");
    let mut chatty = task("opencode");
    chatty.extra = vec!["--print-logs".to_owned()];
    let argv = invocation(&chatty).unwrap().argv;
    assert!(!argv.contains(&"--log-level=ERROR".to_owned()), "{argv:?}");
}
