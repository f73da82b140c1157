//! Tests of command lines and of the table of kinds.

use std::path::PathBuf;

use super::*;
use crate::core::{AgentId, Continues, NanoUsd};

fn task(kind: &str, text: &str) -> Task {
    let kind = AgentKind(kind.to_owned());
    let traits = adapter(&kind).unwrap().traits();
    Task::new(text, kind, traits, PathBuf::from("/w"))
}

fn place() -> Place {
    Place {
        task_file: PathBuf::from("/s/task"),
        report: PathBuf::from("/s/report.json"),
        mesh: None,
        token: None,
    }
}

fn invoke(task: &Task, place: &Place) -> Result<Invocation, Refusal> {
    adapter(&task.kind).unwrap().invocation(task, place)
}

#[track_caller]
fn argv(task: &Task) -> Vec<String> {
    invoke(task, &place()).unwrap().argv
}

#[track_caller]
fn refusal(task: &Task) -> String {
    invoke(task, &place()).unwrap_err().to_string()
}

fn command(arguments: &[&str], text: &str) -> Task {
    let command = Some(arguments.iter().map(|argument| (*argument).to_owned()).collect());
    Task { command, ..task("command", text) }
}

/// C-1: the order and content of upstream's command line, for all options; those that are unset do not appear.
#[test]
fn upstreams_command_line_is_built_word_for_word() {
    let short = do_command("python3", "-x", &DoOptions::default());
    let start = ["python3", "-m", "yggdrasil.loki.cli", "do", "-x"];
    assert_eq!(short, [&start[..], &["--root", ".", "--json", "--max-steps", "8"]].concat());
    let all = DoOptions {
        root: "/w",
        max_steps: 3,
        engine: Some("ollama"),
        tier: Some("deep"),
        budget: Some("0.25".parse().unwrap()),
        read_only: true,
        allow_shell: true,
        allow_web: true,
    };
    let tail = [
        "--root",
        "/w",
        "--json",
        "--max-steps",
        "3",
        "--engine",
        "ollama",
        "--tier",
        "deep",
        "--budget",
        "0.25",
        "--read-only",
        "--allow-shell",
        "--allow-web",
    ];
    assert_eq!(do_command("python3", "fix it", &all), [&start[..4], &["fix it"], &tail].concat());
    let chosen = Task {
        max_steps: Some(3),
        engine: Some("ollama".to_owned()),
        tier: Some("deep".to_owned()),
        budget: all.budget,
        read_only: true,
        allow_shell: true,
        allow_web: true,
        extra: vec!["--verbose".to_owned()],
        ..task("ygg", "fix it")
    };
    assert_eq!(
        argv(&chosen),
        [&["ygg", "loki", "do", "fix it"], &tail[..], &["--verbose"]].concat()
    );
    let unset = ["ygg", "loki", "do", "fix it", "--root", "/w", "--json", "--max-steps", "8"];
    assert_eq!(argv(&task("ygg", "fix it")), unset);
}

/// C-2: eight steps are ygg's default and no other kind's; a mesh replaces the root; a budget is a plain decimal.
#[test]
fn ygg_has_a_default_of_eight_steps_a_mesh_for_root_and_a_plain_budget() {
    let placed = Place { mesh: Some(PathBuf::from("/mesh")), ..place() };
    let cheap = Task { budget: Some("0.25".parse().unwrap()), ..task("ygg", "t") };
    let invocation = invoke(&cheap, &placed).unwrap();
    let expected = [
        "ygg",
        "loki",
        "do",
        "t",
        "--root",
        "/mesh",
        "--json",
        "--max-steps",
        "8",
        "--budget",
        "0.25",
    ];
    assert_eq!(invocation.argv, expected);
    assert_eq!(invocation.root, PathBuf::from("/mesh"));
    for (amount, text) in [("2", "2.0"), ("1.5", "1.5"), ("0.000001", "0.000001"), ("10", "10.0")] {
        let options =
            DoOptions { budget: Some(amount.parse::<NanoUsd>().unwrap()), ..DoOptions::default() };
        assert_eq!(do_command("p", "t", &options).last().unwrap(), text);
    }
    assert!(!argv(&task("sh", "t")).contains(&"8".to_owned()));
    assert!(!argv(&command(&["x", "{task}"], "t")).contains(&"8".to_owned()));
}

/// C-3: a task that begins with `-` is a task and never an option.
#[test]
fn a_task_that_begins_with_a_dash_is_guarded() {
    assert_eq!(argv(&task("ygg", "-x"))[3], " -x");
    assert_eq!(argv(&task("ygg", "--fix the bug"))[3], " --fix the bug");
    assert_eq!(argv(&task("sh", "-x")), ["sh", "-c", " -x"]);
    assert_eq!(argv(&task("sh", "+x")), ["sh", "-c", " +x"]);
    let context = Task { context: Some("-c".to_owned()), ..task("ygg", "t") };
    assert_eq!(argv(&context)[3], " -c\n\nt");
}

#[test]
fn the_context_stands_before_the_prompt() {
    let with = |kind: Task| Task { context: Some("be brief\n".to_owned()), ..kind };
    assert_eq!(argv(&with(task("ygg", "t")))[3], "be brief\n\nt");
    let invocation = invoke(&with(command(&["x", "-p={task}"], "t")), &place()).unwrap();
    assert_eq!(invocation.argv, ["x", "-p=be brief\n\nt"]);
    assert_eq!(invocation.task_text, "be brief\n\nt");
    assert!(refusal(&with(task("sh", "t"))).contains("--context"));
}

#[test]
fn the_mesh_store_is_named_unless_the_task_names_one() {
    let placed = Place { mesh: Some(PathBuf::from("/mesh")), ..place() };
    for kind in ["ygg", "sh"] {
        let store = invoke(&task(kind, "t"), &placed).unwrap().env.remove("LOKI_MESH");
        assert_eq!(store.as_deref(), Some("/mesh/mesh-kv.json"));
        assert_eq!(invoke(&task(kind, "t"), &place()).unwrap().env.get("LOKI_MESH"), None);
        let own = Task { env_stored: vec!["LOKI_MESH".to_owned()], ..task(kind, "t") };
        assert_eq!(invoke(&own, &placed).unwrap().env.get("LOKI_MESH"), None);
        let own = Task { env_names: vec!["LOKI_MESH".to_owned()], ..task(kind, "t") };
        assert_eq!(invoke(&own, &placed).unwrap().env.get("LOKI_MESH"), None);
    }
}

#[test]
fn a_task_travels_in_its_file_and_in_a_variable_only_when_it_is_short() {
    for kind in ["ygg", "sh"] {
        let env = invoke(&task(kind, "-t"), &place()).unwrap().env;
        assert_eq!(env.get("FLEET_TASK").unwrap(), "-t");
        assert_eq!(env.get("FLEET_TASK_FILE").unwrap(), "/s/task");
        assert_eq!(env.get("FLEET_TOKEN"), None);
    }
    let long = "x".repeat(TASK_IN_ARGV_BYTES + 1);
    let just = "x".repeat(TASK_IN_ARGV_BYTES);
    let invocation =
        invoke(&Task { extra: vec!["a".to_owned()], ..task("sh", &long) }, &place()).unwrap();
    assert_eq!(invocation.argv, ["sh", "/s/task", "a"]);
    assert_eq!(invocation.env.get("FLEET_TASK"), None);
    assert_eq!(invocation.task_text, long);
    assert_eq!(argv(&task("sh", &just)).len(), 3);
    assert!(refusal(&task("ygg", &long)).contains("name that file in the task"));
    assert!(refusal(&command(&["x", "a{task}"], &long)).contains("FLEET_TASK_FILE"));
    let invocation = invoke(&command(&["x"], &long), &place()).unwrap();
    assert_eq!((invocation.argv, invocation.env.get("FLEET_TASK")), (vec!["x".to_owned()], None));
    // Short enough by itself, and too long for one argument.
    assert!(refusal(&command(&["x", "{task} {task}"], &just)).contains("FLEET_TASK_FILE"));
}

#[test]
fn extra_arguments_come_last() {
    let with = |kind: Task| Task { extra: vec!["a b".to_owned(), "-c".to_owned()], ..kind };
    assert_eq!(argv(&with(task("sh", "echo $1"))), ["sh", "-c", "echo $1", "sh", "a b", "-c"]);
    assert_eq!(argv(&with(command(&["x", "{task}"], "t"))), ["x", "t", "a b", "-c"]);
}

#[test]
fn a_command_gets_the_task_in_every_argument_that_asks_for_it() {
    let given = command(&["x", "--say={task}!", "{task}", "{tasks}", "$(y)"], "a 'b' {task}");
    assert_eq!(argv(&given), ["x", "--say=a 'b' {task}!", "a 'b' {task}", "{tasks}", "$(y)"]);
    assert_eq!(argv(&command(&["x", "y"], "t")), ["x", "y"]);
    assert!(refusal(&command(&[], "t")).contains("-- mytool {task}"));
    assert!(refusal(&command(&[" "], "t")).contains("-- mytool {task}"));
    assert!(refusal(&Task { command: None, ..command(&[], "t") }).contains("-- mytool {task}"));
}

#[test]
fn an_explicit_command_replaces_what_any_kind_would_run() {
    for kind in ["claude", "qwen", "ygg", "sh"] {
        let given = Task {
            command: Some(vec!["stand-in".to_owned(), "{task}".to_owned()]),
            ..task(kind, "t")
        };
        assert_eq!(argv(&given), ["stand-in", "t"]);
    }
}

#[test]
fn a_nul_is_refused_by_every_kind() {
    for given in
        [task("ygg", "a\0b"), task("sh", "a\0b"), command(&["x"], "a\0b"), command(&["x\0"], "t")]
    {
        assert!(refusal(&given).contains("NUL"));
    }
    let extra = Task { extra: vec!["\0".to_owned()], ..task("sh", "t") };
    assert!(refusal(&extra).contains("NUL"));
}

#[test]
fn options_that_a_kind_does_not_know_are_refused_by_name() {
    type Choose = fn(&mut Task);
    let chosen: [(&str, Choose); 6] = [
        ("--tier", |task| task.tier = Some("fast".to_owned())),
        ("--model", |task| task.model = Some("m".to_owned())),
        ("--max-steps", |task| task.max_steps = Some(3)),
        ("--read-only", |task| task.read_only = true),
        ("--allow-shell", |task| task.allow_shell = true),
        ("--allow-web", |task| task.allow_web = true),
    ];
    for (flag, choose) in chosen {
        for mut given in [task("sh", "t"), command(&["x"], "t")] {
            choose(&mut given);
            assert!(refusal(&given).contains(flag), "{flag}");
        }
        let mut given = task("ygg", "t");
        choose(&mut given);
        assert_eq!(invoke(&given, &place()).is_err(), flag == "--model");
    }
    let model = Task { model: Some("m".to_owned()), ..task("ygg", "t") };
    assert!(refusal(&model).contains("--engine and --tier"));
    for given in [task("sh", "t"), command(&["x"], "t")] {
        assert!(invoke(&Task { engine: Some("ollama".to_owned()), ..given }, &place()).is_ok());
    }
}

#[test]
fn the_last_value_of_an_option_counts_however_it_is_written() {
    let option = |argv: &[&str]| {
        let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
        let start = ReaderStart { argv, ..ReaderStart::default() };
        start.option(&["-m", "--model"]).map(str::to_owned)
    };
    assert_eq!(option(&["x", "-m", "a", "--model=b=c", "y"]).as_deref(), Some("b=c"));
    assert_eq!(option(&["--model", "a", "-m"]).as_deref(), Some("a"));
    assert_eq!((option(&["-m"]), option(&["--modelx=1", "m"]), option(&[])), (None, None, None));
}

#[test]
fn kinds_are_found_by_name_and_misspelt_ones_by_likeness() {
    let known: Vec<_> = known_kinds().collect();
    assert!(known.ends_with(&["ygg", "sh", "command"]), "those that are never meant come last");
    assert!(adapter(&AgentKind("nosuch".to_owned())).is_none());
    assert_eq!(nearest("yg"), Some("ygg"));
    assert_eq!(nearest("comand"), Some("command"));
    assert_eq!(nearest("cluade"), Some("claude"));
    assert_eq!(nearest("SH"), Some("sh"));
    assert_eq!(nearest("zzz"), None);
    for kind in known_kinds() {
        let adapter = adapter(&AgentKind(kind.to_owned())).unwrap();
        assert_eq!(adapter.traits().pays, !["sh", "command"].contains(&kind));
        assert_eq!(adapter.program().is_none(), kind == "command");
    }
}

/// Whoever writes `--agent demo` is told what it is; the demo's own tasks bring their command line.
#[test]
fn recorded_agents_are_known_and_not_offered() {
    let kind = AgentKind("demo".to_owned());
    assert!(adapter(&kind).is_some() && known_kinds().all(|known| known != "demo"));
    assert!(refusal(&task("demo", "t")).contains("fleet demo"));
    let empty = Task { command: Some(Vec::new()), ..task("demo", "t") };
    assert!(refusal(&empty).contains("fleet demo"));
    let recorded = Task {
        command: Some(["fleet", "replay", "{task}"].map(str::to_owned).into()),
        model: Some("m".to_owned()),
        context: Some("c".to_owned()),
        max_steps: Some(1),
        ..task("demo", "t")
    };
    let invocation = invoke(&recorded, &place()).unwrap();
    assert_eq!(invocation.argv, ["fleet", "replay", "{task}"]);
    assert_eq!(invocation.env.get("FLEET_TASK").unwrap(), "c\n\nt");
}

#[test]
fn the_token_of_a_strict_fleet_is_given_to_the_agent() {
    let strict = Place { token: Some("s3".to_owned()), ..place() };
    assert_eq!(invoke(&task("sh", "t"), &strict).unwrap().env.get("FLEET_TOKEN").unwrap(), "s3");
}

#[test]
fn what_can_be_said_beyond_a_task_is_known_of_every_kind_and_of_no_other_command_line() {
    let talks = talks();
    let named = |is: &dyn Fn(&Talk) -> bool| -> Vec<&str> {
        known_kinds().filter(|kind| is(&talks[&AgentKind((*kind).to_owned())])).collect()
    };
    assert_eq!(named(&|talk| talk.messages), ["claude"]);
    assert_eq!(named(&|talk| talk.interrupts), ["claude"]);
    let going_on = ["claude", "codex", "opencode", "gemini", "qwen", "copilot"];
    assert_eq!(named(&|talk| talk.resumes), going_on);
    let given = Task { command: Some(vec!["claude".to_owned()]), ..task("claude", "t") };
    assert_eq!((talk(&given), talk(&task("claude", "t")).messages), (Talk::default(), true));
}

#[test]
fn a_follow_up_has_the_session_and_everything_else_that_its_first_agent_had() {
    let session = "11a2b3c4-0000-4000-8000-000000000000";
    for kind in ["claude", "codex", "opencode", "gemini", "qwen", "copilot"] {
        let first = Task { read_only: true, model: Some("m".to_owned()), ..task(kind, "t") };
        let continues = Continues { agent: AgentId(7), session: session.to_owned() };
        let after = Task { continues: Some(continues), ..first.clone() };
        let (before, after) =
            (invoke(&first, &place()).unwrap(), invoke(&after, &place()).unwrap());
        assert_eq!(
            after.argv.iter().filter(|argument| *argument == session).count(),
            1,
            "{after:?}"
        );
        assert_eq!((before.env, before.env_remove), (after.env, after.env_remove), "{kind}");
        // Codex has no option for its sandbox there, copilot none for the id of a new session.
        let is_its_own = |argument: &&String| {
            !["-s", "read-only", "--session-id"].contains(&argument.as_str())
                && argument.matches('-').count() != session.matches('-').count()
        };
        for argument in before.argv.iter().filter(is_its_own) {
            assert!(after.argv.contains(argument), "{kind} has lost {argument}: {:?}", after.argv);
        }
        if kind == "codex" {
            assert!(after.argv.starts_with(&["codex", "exec", "resume"].map(str::to_owned)));
            assert!(
                after.argv.contains(&"sandbox_mode=\"read-only\"".to_owned()),
                "{:?}",
                after.argv
            );
        }
    }
}

/// What programs with a model print is for programs, unless their adapter says that it is not.
#[test]
fn the_account_is_shown_first_of_what_is_printed_for_programs() {
    let first = |kind: &str| first_text(&task(kind, "t"));
    let (account, out): (Vec<&str>, Vec<&str>) =
        known_kinds().partition(|kind| first(kind) == FirstText::Transcript);
    assert_eq!(account, ["claude", "codex", "opencode", "gemini", "qwen", "copilot"]);
    assert_eq!(out, ["hermes", "ygg", "sh", "command"]);
    assert_eq!(first("demo"), FirstText::Out);
}
