//! The traps of gemini's stream, each on the lines that it prints.

use super::*;
use crate::adapters::event_stream::tests::{
    heard, invocation, reader, result, retries, run, start, steps, task, texts, usages,
};

const DONE: &str = r#"{"type":"result","status":"success","stats":{"total_tokens":5462,"input_tokens":5400,"output_tokens":57,"cached":2800,"input":2600,"models":{"gemini-2.5-pro":{"total_tokens":5462,"input_tokens":5400,"output_tokens":57,"cached":2800,"input":2600}}}}"#;

fn piece(text: &str) -> String {
    format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
}

fn called(id: &str, tool: &str) -> String {
    format!(
        r#"{{"type":"tool_use","tool_name":"{tool}","tool_id":"{id}","parameters":{{"file_path":"/p/{id}","content":"x"}}}}"#
    )
}

fn returned(id: &str, status: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_id":"{id}","status":"{status}","output":"o"}}"#)
}

#[test]
fn pieces_are_joined_to_texts_and_the_last_text_is_the_answer() {
    let lines = [
        piece("I will"),
        piece(" look."),
        called("a", "read_file"),
        returned("a", "success"),
        piece("Do"),
        piece("ne."),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("gemini", &[lines.as_slice(), &[DONE]].concat(), Some(0), "");
    assert_eq!(texts(&told, "assistant"), ["I will look.", "Done."]);
    assert_eq!(result(&told).answer.as_deref(), Some("Done."));
    assert_eq!(steps(&told), ["Start read_file: /p/a", "End read_file: /p/a"]);
}

/// 5462 in all are 5400 of input, 57 of output and 5 of thinking. 2600 × 1.25 + 2800 × 0.125 + 62 × 10 dollars per
/// million.
#[test]
fn thinking_is_what_the_total_has_more_and_the_cost_is_worked_out() {
    let told = run("gemini", &[DONE, DONE], Some(0), "");
    let usage = Usage { input: 2600, cache_read: 2800, output: 62, ..Usage::default() };
    let estimate = Some("0.00422".parse().unwrap());
    assert_eq!(usages(&told)[0], Usage { estimate, ..usage });
    let ids = told.iter().filter_map(|fact| match fact {
        Fact::Usage { id, .. } => id.as_deref(),
        _ => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["result gemini-2.5-pro"; 2], "the same twice counts once");
}

#[test]
fn every_model_has_its_own_price_and_parts_that_do_not_add_up_are_not_taken() {
    let numbers = |input: u64| {
        format!(
            r#"{{"total_tokens":{0},"input_tokens":{input},"output_tokens":10,"cached":0}}"#,
            input + 10
        )
    };
    let result = |whole: u64| {
        format!(
            r#"{{"type":"result","status":"success","stats":{{"total_tokens":{0},"input_tokens":{whole},"output_tokens":20,"cached":0,"models":{{"gemini-2.5-pro":{1},"gemini-2.5-flash":{2}}}}}}}"#,
            whole + 20,
            numbers(1000),
            numbers(500)
        )
    };
    let told = usages(&run("gemini", &[&result(1500)], Some(0), ""));
    let seen: Vec<_> =
        told.iter().map(|usage| (usage.input, usage.output, usage.estimate.is_some())).collect();
    assert_eq!(seen, [(1000, 10, true), (500, 10, true)]);
    let told = usages(&run("gemini", &[&result(1600)], Some(0), ""));
    let seen: Vec<_> =
        told.iter().map(|usage| (usage.input, usage.output, usage.estimate)).collect();
    assert_eq!(seen, [(1600, 20, None)]);
}

#[test]
fn numbers_that_cannot_be_are_no_numbers() {
    for stats in [
        r#"{"input_tokens":5,"output_tokens":1,"cached":9}"#,
        r#"{"input_tokens":-5,"output_tokens":1}"#,
        r#"{"input_tokens":5}"#,
        "[]",
    ] {
        let told = run(
            "gemini",
            &[&format!(r#"{{"type":"result","status":"success","stats":{stats}}}"#)],
            Some(0),
            "",
        );
        assert_eq!(usages(&told), [], "{stats}");
        assert!(told.contains(&Fact::Unknown) && result(&told).completed == Some(true));
    }
}

/// It ends with 0 on SIGTERM, and also after an error of its service.
#[test]
fn an_exit_code_of_0_is_no_success_by_itself() {
    let told = run("gemini", &[&piece("A long")], Some(0), "Warning: Basic terminal\n");
    let word = result(&told);
    assert_eq!((word.completed, word.reason), (Some(false), Some(ExitReason::Error)));
    assert_eq!(texts(&told, "assistant"), ["A long"]);
    let error = r#"{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}"#;
    let failed = r#"{"type":"result","status":"error","stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0}}"#;
    let told = run("gemini", &[error, failed], Some(0), "");
    assert_eq!(result(&told).completed, Some(false));
    assert!(result(&told).error.contains("without a finish reason"));
    assert_eq!(usages(&told), [], "zeros of a failed run are no numbers");
}

#[test]
fn an_exit_code_is_a_status_of_which_eight_bits_are_left() {
    let table = [
        (145, "", ExitReason::Auth),
        (173, "", ExitReason::RateLimit),
        (244, "", ExitReason::Server),
        (144, "prompt is too long", ExitReason::Context),
        (
            41,
            "YOLO mode is enabled.\nWhen using Gemini API, you must specify the key.",
            ExitReason::Auth,
        ),
        (42, "Error resuming session: No previous sessions found.", ExitReason::Error),
        (53, "", ExitReason::MaxSteps),
        (55, "not a trusted directory", ExitReason::Permission),
        (137, "", ExitReason::Error),
    ];
    for (code, err, reason) in table {
        assert_eq!(result(&run("gemini", &[], Some(code), err)).reason, Some(reason), "{code}");
    }
    let told = run(
        "gemini",
        &[],
        Some(41),
        "YOLO mode is enabled.\nYou must specify the key.\nWarning: x\n",
    );
    assert!(result(&told).error.contains("(You must specify the key.)"), "{told:?}");
}

#[test]
fn the_last_event_says_why_it_failed() {
    let failed = |kind: &str, text: &str| {
        format!(
            r#"{{"type":"result","status":"error","error":{{"type":"{kind}","message":"{text}"}}}}"#
        )
    };
    let table = [
        (
            "unknown",
            r#"[API Error: {\"error\":{\"code\":401,\"message\":\"no key\"}}]"#,
            ExitReason::Auth,
        ),
        (
            "unknown",
            r#"[API Error: {\"error\":{\"code\":429,\"message\":\"exceeded your current quota\"}}]"#,
            ExitReason::Quota,
        ),
        ("unknown", "[API Error: terminated]", ExitReason::Network),
        ("FatalTurnLimitedError", "Reached max session turns", ExitReason::MaxSteps),
        ("FatalAuthenticationError", "who are you", ExitReason::Auth),
        ("", "it broke", ExitReason::Error),
    ];
    for (kind, text, reason) in table {
        let told = run("gemini", &[&failed(kind, text)], Some(1), "at stack (trace)");
        assert_eq!(result(&told).reason, Some(reason), "{text}");
        assert!(!result(&told).error.contains('{'), "{}", result(&told).error);
    }
}

#[test]
fn a_detected_loop_is_a_warning_and_the_success_after_it_was_cut_short() {
    let warning =
        r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}"#;
    let told = run("gemini", &[&piece("Again."), warning, DONE], Some(0), "");
    let word = result(&told);
    assert_eq!((word.completed, word.reason), (Some(true), Some(ExitReason::MaxSteps)));
    assert_eq!(texts(&told, "system"), ["Loop detected, stopping execution"]);
    assert!(!told.iter().any(|fact| matches!(fact, Fact::Retry(_))));
}

/// The model is not offered what would need leave, so it calls tools that are not there: nothing is denied.
#[test]
fn a_tool_that_is_not_offered_is_a_failed_step_and_nothing_denied() {
    let told = run("gemini", &[&called("a", "Bash"), &returned("a", "error"), DONE], Some(0), "");
    assert_eq!(steps(&told), ["Start Bash: /p/a", "Error Bash: /p/a"]);
    assert!(!told.iter().any(|fact| matches!(fact, Fact::Denied { .. })));
    // One that is offered and would have to be confirmed is.
    let refused = r#"{"type":"tool_result","tool_id":"a","status":"error","output":"Tool execution for \"Shell\" requires user confirmation, which is not supported in non-interactive mode."}"#;
    let told =
        run("gemini", &[&called("a", "run_shell_command"), refused, refused, DONE], Some(0), "");
    let denied = Fact::Denied { tool: "run_shell_command".to_owned(), text: "/p/a".to_owned() };
    assert_eq!(told.iter().filter(|fact| **fact == denied).count(), 1);
}

#[test]
fn files_are_changed_by_editing_calls_that_ended_well() {
    let lines = [
        called("a", "write_file"),
        called("b", "replace"),
        called("c", "read_file"),
        returned("a", "success"),
        returned("b", "error"),
        returned("c", "success"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("gemini", &[lines.as_slice(), &[DONE]].concat(), Some(0), "");
    assert_eq!(result(&told).files_changed, ["/p/a"]);
}

#[test]
fn an_answer_in_pieces_outlives_a_recovery() {
    let mut before = start("gemini", ReaderStart::default());
    let mut facts = Vec::new();
    before.line(piece("Half and ").as_bytes(), &mut facts);
    let notes = before.notes();
    let mut after = start("gemini", ReaderStart { notes, ..ReaderStart::default() });
    after.line(piece("half.").as_bytes(), &mut facts);
    after.line(DONE.as_bytes(), &mut facts);
    assert_eq!(result(&facts).answer.as_deref(), Some("Half and half."));
}

#[test]
fn options_become_its_approval_mode_and_allowed_tools() {
    let mut task = task("gemini");
    let line = |task: &Task| invocation(task).map(|told| told.argv.join(" "));
    let plain = invocation(&task).unwrap();
    assert_eq!(plain.input, Input::Task);
    assert_eq!(plain.env["GEMINI_CLI_NO_RELAUNCH"], "true");
    assert_eq!(
        line(&task).unwrap(),
        "gemini -o stream-json --skip-trust --approval-mode auto_edit"
    );
    (task.allow_shell, task.allow_web, task.model) = (true, true, Some("m".to_owned()));
    let allowed = "--allowed-tools run_shell_command --allowed-tools web_fetch --allowed-tools google_web_search -m m";
    assert!(line(&task).unwrap().ends_with(allowed), "{}", line(&task).unwrap());
    task.read_only = true;
    assert!(line(&task).unwrap_err().contains("leave out --read-only or --allow-shell"));
    task.allow_shell = false;
    assert!(line(&task).unwrap().contains("--approval-mode plan"));
    task.max_steps = Some(2);
    assert!(line(&task).unwrap_err().contains("maxSessionTurns"));
}

#[test]
fn tries_that_fail_are_told_on_its_standard_error_alone() {
    let recordings = [
        ("err429", "429", 8),
        ("err500", "500", 9),
        ("err503", "503", 9),
        ("refused", "connection failed", 6),
        ("err529x2", "529", 2),
        ("happy", "", 0),
    ];
    for (name, cause, count) in recordings {
        let path = format!("gemini/{name}.stderr.txt");
        let told = retries(&heard(reader("gemini").as_mut(), &path));
        let attempts: Vec<_> = told.iter().map(|retry| retry.attempt).collect();
        assert_eq!(attempts, (1..=count).map(Some).collect::<Vec<_>>(), "{name}");
        assert!(told.iter().all(|retry| retry.cause == cause && retry.most.is_none()), "{told:?}");
    }
}

#[test]
fn every_way_in_which_it_says_that_it_tries_again_is_understood() {
    let table = [
        (
            "Attempt 3 failed with 429 error (no Retry-After header). Retrying with backoff...",
            Some((3, "429")),
        ),
        ("Attempt 1 failed with 5xx error. Retrying with backoff...", Some((1, "5xx error"))),
        (
            "Attempt 2 failed: You have hit a limit. Retrying after 5000ms...",
            Some((2, "You have hit a limit")),
        ),
        ("Attempt 2 failed", None),
        ("Attempt two failed. Retrying with backoff... Error: x", None),
        ("> Attempt 2 failed with status 429. Retrying with backoff...", None),
        ("", None),
    ];
    for (line, expected) in table {
        let told = retry(line.as_bytes()).map(|retry| (retry.attempt.unwrap(), retry.cause));
        assert_eq!(told, expected.map(|(attempt, cause)| (attempt, cause.to_owned())), "{line}");
    }
    assert!(retry(b"Attempt 2 failed with status \xff. Retrying").is_none());
}
