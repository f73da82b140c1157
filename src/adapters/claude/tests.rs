//! Tests of claude's command line, and of lines that no recording has.

use std::path::PathBuf;

use super::*;
use crate::core::{AgentId, AgentKind, Continues, ExitReason, Fact, Usage};

fn task(text: &str) -> Task {
    Task::new(text, AgentKind("claude".to_owned()), Claude.traits(), PathBuf::from("/w"))
}

fn invoke(task: &Task) -> Result<Invocation, Refusal> {
    let place = Place {
        task_file: PathBuf::from("/s/task"),
        report: PathBuf::from("/s/report.json"),
        mesh: None,
        token: None,
    };
    Claude.invocation(task, &place)
}

/// Returns the arguments after those that are always there.
#[track_caller]
fn arguments(task: &Task) -> Vec<String> {
    let argv = invoke(task).unwrap().argv;
    let always = [
        "claude",
        "-p",
        "--verbose",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--replay-user-messages",
        "--include-partial-messages",
    ];
    assert_eq!(argv[..always.len()], always);
    argv[always.len()..].to_vec()
}

fn facts(lines: &[&str]) -> Vec<Fact> {
    let mut reader = Claude.reader(ReaderStart::default());
    let mut facts = Vec::new();
    for line in lines {
        reader.line(line.as_bytes(), &mut facts);
    }
    facts
}

#[test]
fn a_task_comes_by_standard_input_whatever_it_begins_with_and_however_long_it_is() {
    let long = format!("--help {}", "x".repeat(300_000));
    let invocation = invoke(&task(&long)).unwrap();
    assert_eq!((invocation.input, invocation.task_text.as_str()), (Input::Messages, long.as_str()));
    assert!(!invocation.argv.iter().any(|argument| argument.contains("--help")));
    assert_eq!(invocation.env.get("DISABLE_TELEMETRY").unwrap(), "1");
    assert_eq!(invocation.env.get("DISABLE_AUTOUPDATER").unwrap(), "1");
    assert_eq!(invocation.env.get("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC").unwrap(), "1");
    assert_eq!((invocation.ask_signal, invocation.root), ("SIGINT", PathBuf::from("/w")));
    let context = Task { context: Some("be brief".to_owned()), ..task("t") };
    assert_eq!(invoke(&context).unwrap().task_text, "be brief\n\nt");
}

#[test]
fn a_message_is_one_line_whatever_is_in_it_and_is_heard_when_it_is_taken_up() {
    let text = "two\nlines, \"quoted\" \u{1b}[31m";
    let line = Claude.message(text).unwrap();
    assert!(!line.contains('\n') && !line.contains('\u{1b}'), "{line}");
    let read: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&read["type"], &read["message"]["role"]), (&"user".into(), &"user".into()));
    assert_eq!(read["message"]["content"], text);
    let replay = |text: &str| {
        format!(
            r#"{{"type":"user","isReplay":true,"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let heard = |facts: &[Fact]| facts.iter().filter(|fact| **fact == Fact::Heard).count();
    // The first one is its task.
    assert_eq!(heard(&facts(&[&replay("task")])), 0);
    let mut reader = Claude.reader(ReaderStart::default());
    let mut before = Vec::new();
    reader.line(replay("task").as_bytes(), &mut before);
    let notes = reader.notes();
    let mut reader = Claude.reader(ReaderStart { notes, ..ReaderStart::default() });
    let mut after = Vec::new();
    reader.line(replay("more").as_bytes(), &mut after);
    assert_eq!((heard(&before), heard(&after)), (0, 1));
}

#[test]
fn a_follow_up_goes_on_in_the_session_with_the_same_permissions() {
    let session = "11a2b3c4-0000-4000-8000-000000000000".to_owned();
    let continues = Some(Continues { agent: AgentId(7), session: session.clone() });
    let first = Task { read_only: true, ..task("t") };
    let after = Task { continues, ..first.clone() };
    let expected = [arguments(&first), vec!["--resume".to_owned(), session]].concat();
    assert_eq!(arguments(&after), expected);
    assert!(Claude.resumes());
}

#[test]
fn what_a_task_may_do_is_claudes_own_permissions() {
    let edits = ["--permission-mode", "acceptEdits"];
    // Its mode for edits lets commands through that do nothing but edit: so no command at all is to be had.
    let [mode, value] = edits;
    assert_eq!(arguments(&task("t")), [mode, value, "--disallowedTools=Bash"]);
    let some = Task { extra: vec!["--allowedTools=Bash(git *)".to_owned()], ..task("t") };
    assert_eq!(arguments(&some), [mode, value, "--allowedTools=Bash(git *)"], "the owner chose");
    let all = Task { allow_shell: true, allow_web: true, ..task("t") };
    let tools = "--allowedTools=Bash,WebFetch,WebSearch";
    assert_eq!(arguments(&all), [mode, value, tools]);
    let read = Task { read_only: true, ..task("t") };
    assert_eq!(arguments(&read), ["--tools=Read,Glob,Grep", "--strict-mcp-config"]);
    let look_up = Task { allow_web: true, ..read.clone() };
    let tools = "--tools=Read,Glob,Grep,WebFetch,WebSearch";
    let allowed = "--allowedTools=WebFetch,WebSearch";
    assert_eq!(arguments(&look_up), [tools, "--strict-mcp-config", allowed]);
    let both = Task { allow_shell: true, ..read };
    assert!(invoke(&both).unwrap_err().to_string().contains("--read-only or --allow-shell"));
}

#[test]
fn only_options_for_tools_choose_which_commands_may_run() {
    let is_shut = |words: &[&str]| {
        let extra = words.iter().map(|word| (*word).to_owned()).collect();
        arguments(&Task { extra, ..task("t") }).contains(&"--disallowedTools=Bash".to_owned())
    };
    for choice in [
        &["--allowedTools=Bash(git *)"][..],
        &["--allowed-tools", "Read", "Bash(git log:*)"],
        &["--allowedTools", "Read(a, b) Bash"],
        &["--tools=Read,Bash"],
        &["--verbose", "--tools", "Bash"],
    ] {
        assert!(!is_shut(choice), "{choice:?}");
    }
    for other in [
        &["--append-system-prompt", "Do not use Bash"][..],
        &["--append-system-prompt=Bash"],
        &["--add-dir", "Bash"],
        &["--allowedTools", "Read", "--append-system-prompt", "Bash"],
        &["--allowedTools=Read", "Bash"],
        &["--allowedTools=BashOutput,Read(Bash)"],
        &["--allowedTools=Read(a, Bash)"],
        &["--disallowedTools=Bash(rm *)"],
    ] {
        assert!(is_shut(other), "{other:?}");
    }
}

#[test]
fn limits_and_the_model_are_handed_over_and_what_is_passed_on_comes_last() {
    let given = Task {
        model: Some("sonnet".to_owned()),
        max_steps: Some(7),
        budget: Some("0.25".parse().unwrap()),
        extra: vec!["--add-dir".to_owned(), "/x".to_owned()],
        ..task("t")
    };
    let expected =
        ["--model", "sonnet", "--max-turns", "7", "--max-budget-usd", "0.25", "--add-dir", "/x"];
    assert_eq!(arguments(&given)[3..], expected);
}

#[test]
fn what_claude_cannot_be_told_is_refused_with_what_to_do_instead() {
    let engine = Task { engine: Some("ollama".to_owned()), ..task("t") };
    let refusal = invoke(&engine).unwrap_err().to_string();
    assert_eq!(refusal, "agents of kind claude have no --engine: choose with --model what answers");
    for argument in ["--output-format=text", "--input-format"] {
        let given = Task { extra: vec![argument.to_owned()], ..task("t") };
        let refusal = invoke(&given).unwrap_err().to_string();
        assert!(refusal.ends_with("itself: leave it out"), "{refusal}");
    }
}

#[test]
fn a_total_that_cannot_be_read_is_unknown_and_never_zero() {
    for total in ["\"1\"", "-1", "1e300", "[]"] {
        let line = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":{total}}}"#
        );
        let facts = facts(&[&line]);
        assert_eq!(facts[0], Fact::UnreadableCost, "{total}");
        assert!(!facts.iter().any(|fact| matches!(fact, Fact::TotalCost(_))), "{total}");
    }
}

#[test]
fn a_table_of_usage_with_an_absurd_number_is_no_total() {
    let table = r#"{"m":{"inputTokens":-5,"outputTokens":"many","costUSD":1}}"#;
    let line = format!(r#"{{"type":"result","is_error":false,"result":"x","modelUsage":{table}}}"#);
    let facts = facts(&[&line]);
    assert!(matches!(facts.as_slice(), [Fact::Result(_)]), "{facts:?}");
}

/// Ends that no recording has.
#[test]
fn every_end_has_its_reason() {
    let table = [
        (
            r#""api_error_status":429,"result":"You've hit your session limit · resets 3pm""#,
            "quota",
        ),
        (r#""api_error_status":429,"result":"too fast""#, "rate_limit"),
        (r#""api_error_status":400,"result":"Credit balance is too low""#, "quota"),
        (r#""api_error_status":403,"result":"no""#, "auth"),
        (r#""terminal_reason":"prompt_too_long","result":"x""#, "context"),
        (r#""stop_reason":"refusal","result":"x","is_error":false"#, "refused"),
        (
            r#""subtype":"error_max_turns","errors":["Reached maximum number of turns (2)"]"#,
            "max_steps",
        ),
        (r#""errors":["it broke"]"#, "error"),
    ];
    for (fields, expected) in table {
        let line = format!(r#"{{"type":"result","subtype":"success","is_error":true,{fields}}}"#);
        let facts = facts(&[&line]);
        let [Fact::Result(result)] = facts.as_slice() else { panic!("{facts:?}") };
        let reason = result.reason.map(ExitReason::as_str);
        assert_eq!((reason, result.completed), (Some(expected), Some(false)), "{fields}");
        assert!(!result.error.is_empty(), "{fields}");
    }
    let cut = r#"{"type":"result","is_error":false,"result":"half","stop_reason":"max_tokens"}"#;
    let facts = facts(&[cut]);
    let [Fact::Result(result)] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!((result.completed, result.truncated), (Some(true), true));
}

/// Sub-agents answer at the same time as the agent, and only the beginning of an answer has its id.
#[test]
fn parts_of_answers_that_come_at_once_are_told_apart_by_their_callers() {
    let start = |parent: &str, id: &str| {
        format!(
            r#"{{"type":"stream_event","parent_tool_use_id":{parent},"event":{{"type":"message_start","message":{{"id":"{id}","model":"nobody-knows","usage":{{"input_tokens":10,"output_tokens":1}}}}}}}}"#
        )
    };
    let delta = |parent: &str, output: u64| {
        format!(
            r#"{{"type":"stream_event","parent_tool_use_id":{parent},"event":{{"type":"message_delta","usage":{{"output_tokens":{output}}}}}}}"#
        )
    };
    let lines = [
        start("null", "a"),
        start("\"call\"", "b"),
        // Only now it is an answer.
        delta("null", 70),
        delta("\"call\"", 30),
        delta("\"other\"", 99),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let told: Vec<_> = facts(&lines)
        .into_iter()
        .map(|fact| match fact {
            Fact::Usage { id, usage: Usage { input, output, .. } } => (id.unwrap(), input, output),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [("a", 10, 70), ("b", 10, 30)];
    assert_eq!(told, expected.map(|(id, input, output)| (id.to_owned(), input, output)));
}

#[test]
fn lines_that_are_not_what_they_should_be_are_counted_and_nothing_else() {
    for line in ["{", "{\"type\":5}", "{}", "{\"type\":\"assistant\"", "{\"a\":1}x"] {
        assert_eq!(facts(&[line]), [Fact::Unknown], "{line}");
    }
    let hollow = [
        r#"{"type":"assistant"}"#,
        r#"{"type":"assistant","message":[]}"#,
        r#"{"type":"assistant","message":{"id":7,"content":{"a":1},"usage":"much"}}"#,
        r#"{"type":"user","message":{"content":[5,null,{"type":"tool_use"}]}}"#,
        r#"{"type":"stream_event","event":null}"#,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{}}}"#,
        r#"{"type":"system","subtype":"never_seen"}"#,
        r#"{"type":"rate_limit_event"}"#,
    ];
    assert_eq!(facts(&hollow), []);
}

/// What an agent says reaches a terminal in other places too; an id or a name is one line there.
#[test]
fn names_and_ids_with_control_characters_are_cleaned() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s\u001b[2J1","model":"m\n2"}"#;
    let facts = facts(&[init]);
    assert_eq!(facts, [Fact::Session("s1".to_owned()), Fact::Model("m 2".to_owned())]);
}

#[test]
fn lists_that_a_program_writes_are_bounded() {
    let calls: Vec<String> = (0..5000)
        .map(|number| {
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{number}","name":"Write","input":{{"file_path":"{}{number}"}}}}]}}}}"#,
                "x".repeat(100)
            )
        })
        .collect();
    let mut reader = Claude.reader(ReaderStart::default());
    let mut facts = Vec::new();
    for line in &calls {
        reader.line(line.as_bytes(), &mut facts);
    }
    assert_eq!(facts.len(), 5000);
    assert!(reader.notes().unwrap().len() < 20_000);
    let blocks = vec![r#"{"type":"text","text":"x"}"#; 20_000].join(",");
    let line = format!(r#"{{"type":"assistant","message":{{"content":[{blocks}]}}}}"#);
    facts.clear();
    reader.line(line.as_bytes(), &mut facts);
    assert_eq!(facts.len(), 1000);
}
