//! The traps of copilot's stream, each on the lines that it prints.

use super::*;
use crate::adapters::event_stream::tests::{
    facts, invocation, result, retries, run, start, steps, task, texts, usages,
};

const DONE: &str =
    r#"{"type":"result","sessionId":"s-1","exitCode":0,"usage":{"premiumRequests":1}}"#;
const FAILED: &str = r#"{"type":"result","sessionId":"s-1","exitCode":1,"usage":{}}"#;

fn event(kind: &str, data: &str) -> String {
    format!(r#"{{"ephemeral":true,"data":{{{data}}},"type":"{kind}"}}"#)
}

fn said(text: &str) -> String {
    event("assistant.message", &format!(r#""content":"{text}","model":"m","toolRequests":[]"#))
}

/// Its stream has no tokens, and credits are no dollars.
#[test]
fn neither_tokens_nor_a_cost_are_made_up() {
    let told = run("copilot", &[&said("Well."), DONE], Some(0), "");
    assert_eq!(usages(&told), []);
    assert!(!told.iter().any(|fact| matches!(fact, Fact::TotalCost(_) | Fact::TotalTokens(_))));
    assert_eq!(result(&told).answer.as_deref(), Some("Well."));
}

/// The stream tells the session only at its end, so it is chosen before.
#[test]
fn the_session_is_known_from_the_first_line_on() {
    let argv = ["copilot", "--session-id", "s-0"].map(str::to_owned).into();
    let mut reader = start("copilot", ReaderStart { argv, ..ReaderStart::default() });
    let told = facts(reader.as_mut(), &[&said("Hm"), &said("Hm"), DONE]);
    let sessions = told.iter().filter_map(|fact| match fact {
        Fact::Session(id) => Some(id.as_str()),
        _ => None,
    });
    assert_eq!(sessions.collect::<Vec<_>>(), ["s-0", "s-1"]);
}

#[test]
fn a_failed_call_of_the_model_is_an_attempt_and_the_work_goes_on_after_it() {
    let lines = [
        event(
            "model.call_failure",
            r#""statusCode":401,"retryAttempt":0,"errorMessage":"{\"message\":\"no key\"}""#,
        ),
        event(
            "model.call_failure",
            r#""retryAttempt":1,"errorMessage":"\"Failed: for url (http://h): Connection refused (os error 111)\"""#,
        ),
        event("model.call_failure", r#""retryAttempt":99999999999"#),
        said("Well."),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("copilot", &[lines.as_slice(), &[DONE]].concat(), Some(0), "");
    let seen: Vec<_> =
        retries(&told).into_iter().map(|retry| (retry.attempt, retry.cause)).collect();
    let expected = [
        (Some(1), "401".to_owned()),
        (Some(2), "Connection refused (os error 111)".to_owned()),
        (None, String::new()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(result(&told).completed, Some(true));
}

#[test]
fn an_error_of_the_session_is_the_reason_whatever_the_exit_code() {
    let table = [
        (
            r#""errorType":"authentication","message":"who are you","statusCode":401"#,
            ExitReason::Auth,
        ),
        (
            r#""errorType":"query","message":"The provider rejected the prompt as too long, but x""#,
            ExitReason::Context,
        ),
        (
            r#""errorType":"query","message":"Could not connect to local model provider at http://h""#,
            ExitReason::Network,
        ),
        (r#""errorType":"query","message":"it broke","statusCode":500"#, ExitReason::Server),
        (r#""errorType":"quota","message":"no more""#, ExitReason::Quota),
        (r#""message":"it broke""#, ExitReason::Error),
    ];
    for (data, reason) in table {
        for end in [FAILED, DONE] {
            let told = run("copilot", &[&event("session.error", data), end], Some(0), "");
            let word = result(&told);
            assert_eq!((word.completed, word.reason), (Some(false), Some(reason)), "{data}");
            assert_eq!(texts(&told, "error").len(), 1);
        }
    }
}

#[test]
fn calls_are_steps_and_a_denied_one_is_denied_although_the_run_ends_well() {
    let begin = |id: &str, tool: &str| {
        let data =
            format!(r#""toolCallId":"{id}","toolName":"{tool}","arguments":{{"path":"/p/{id}"}}"#);
        event("tool.execution_start", &data)
    };
    let end = |id: &str, rest: &str| {
        event("tool.execution_complete", &format!(r#""toolCallId":"{id}",{rest}"#))
    };
    let lines = [
        begin("1", "create"),
        end("1", r#""success":false,"error":{"message":"Permission denied","code":"denied"}"#),
        begin("2", "bash"),
        event("tool.execution_partial_result", r#""toolCallId":"2","partialOutput":"x""#),
        end("2", r#""success":true,"shellExecution":{"exitCode":3},"result":{"content":"x\n"}"#),
        begin("3", "create"),
        end(
            "3",
            r#""success":true,"fileEdits":[{"path":"/p/3","kind":"create"}],"result":{"content":"ok"}"#,
        ),
        said("Well."),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told = run("copilot", &[lines.as_slice(), lines.as_slice(), &[DONE]].concat(), Some(0), "");
    let expected = [
        "Start create: /p/1",
        "Error create: /p/1",
        "Start bash: /p/2",
        "Error bash: /p/2",
        "Start create: /p/3",
        "End create: /p/3",
    ];
    assert_eq!(steps(&told), expected);
    let denied = Fact::Denied { tool: "create".to_owned(), text: "/p/1".to_owned() };
    assert_eq!(
        told.iter().filter(|fact| matches!(fact, Fact::Denied { .. })).collect::<Vec<_>>(),
        [&denied]
    );
    assert_eq!(result(&told).files_changed, ["/p/3"]);
    assert_eq!(result(&told).completed, Some(true));
    assert_eq!(texts(&told, "result"), ["x\n", "ok"]);
}

#[test]
fn what_a_sub_agent_says_is_not_the_answer() {
    let inner = event("assistant.message", r#""content":"Inner.","parentToolCallId":"c""#);
    let told = run("copilot", &[&said("Outer."), &inner, DONE], Some(0), "");
    assert_eq!(result(&told).answer.as_deref(), Some("Outer."));
    assert_eq!(texts(&told, "assistant"), ["Outer.", "Inner."]);
}

#[test]
fn options_become_its_permissions_and_every_agent_has_a_session_of_its_own() {
    let mut task = task("copilot");
    let line = |task: &Task| invocation(task).map(|told| told.argv.join(" "));
    let plain = invocation(&task).unwrap();
    assert_eq!(
        (plain.input, plain.env_remove),
        (Input::Task, ["OLDPWD", "COPILOT_ALLOW_ALL"].map(str::to_owned).to_vec())
    );
    assert_eq!(plain.env["COPILOT_AUTO_UPDATE"], "false");
    assert!(line(&task).unwrap().contains("--allow-tool=write --deny-tool=shell --session-id "));
    let ids = ["/a/1/task", "/a/2/task"].map(|path| session_id(Path::new(path)));
    assert!(ids[0] != ids[1] && ids[0].len() == 36, "{ids:?}");
    (task.allow_shell, task.allow_web, task.model) = (true, true, Some("m".to_owned()));
    assert!(line(&task).unwrap().contains("--allow-tool=shell --allow-all-urls --model m"));
    task.extra = vec!["--resume=x".to_owned()];
    assert!(!line(&task).unwrap().contains(SESSION));
    task.read_only = true;
    assert!(line(&task).unwrap_err().contains("leave out --read-only or --allow-shell"));
    task.allow_shell = false;
    assert!(line(&task).unwrap().contains("--deny-tool=write --deny-tool=shell"));
    task.extra = vec!["--output-format=text".to_owned()];
    assert!(line(&task).unwrap_err().contains("--output-format"));
    task.max_steps = Some(1);
    assert!(line(&task).unwrap_err().contains("--max-steps"));
}
