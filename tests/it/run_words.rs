//! What an agent prints decides what is said of it: results, reasons and checkpoints, end to end.

use crate::harness::World;

/// A command that prints these lines and ends with this code.
fn prints(lines: &str, code: u8) -> String {
    format!("cat <<'END'\n{lines}\nEND\nexit {code}")
}

#[track_caller]
fn run(world: &World, tasks: &[String], code: i32) -> crate::harness::Ran {
    let mut args = vec!["run", "--json", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    world.fleet(&args).expect_code(code)
}

/// C-26.
#[test]
fn a_completed_transcript_is_done_with_all_that_it_tells() {
    let world = World::new();
    let transcript = r#"{"completed": true, "answer": "did it", "files_changed": ["b.py", "a.py"],
        "steps": [{"tool": "find"}, {"tool": "edit_file"}, "placeholder"],
        "usage": {"input_tokens": 400, "output_tokens": 80, "total_tokens": 480, "cost_usd": 0.012345}}"#;
    let ran = run(&world, &[prints(transcript, 0)], 0);
    let summary = ran.json();
    let agent = &summary["agents"][0];
    assert_eq!(agent["status"], "done");
    assert_eq!(agent["exit_reason"], "completed");
    assert_eq!(agent["answer"], "did it");
    assert_eq!(agent["files_changed"], serde_json::json!(["b.py", "a.py"]));
    assert_eq!(agent["steps"], 3);
    assert_eq!(agent["tokens"], 480);
    assert_eq!(agent["cost_usd"], 0.012_345);
    assert_eq!(agent["cost_status"], "reported");
    assert_eq!(summary["spent_usd"], 0.012_345);
    assert_eq!(summary["kpis"]["steps"], 3);
}

/// C-35. Standard error is empty in all of them; the last one is a recording of the real program without an engine.
#[test]
fn without_a_word_on_standard_error_the_reason_comes_from_elsewhere() {
    let world = World::new();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ygg/no_engine.txt");
    let tasks = [
        prints(r#"{"completed": false, "answer": "stopped half way"}"#, 0),
        prints("first line\nlast line\n\n", 4),
        "exit 5".to_owned(),
        "kill -KILL $$".to_owned(),
        format!("cat '{recorded}'; exit 1"),
    ];
    let ran = run(&world, &tasks, 1);
    assert_eq!(ran.column("status"), ["failed"; 5], "{ran:#?}");
    let errors = ran.column("error");
    assert_eq!(errors[0], "stopped half way");
    assert_eq!(errors[1], "last line");
    assert_eq!(errors[2], "exit code 5");
    assert_eq!(errors[3], "killed by signal SIGKILL");
    assert!(errors[4].contains("no reasoning engine available"), "{errors:?}");
}

/// C-44.
#[test]
fn validated_means_that_every_checkpoint_was_green() {
    let world = World::new();
    let smoke =
        |observation: &str| format!(r#"{{"tool": "smoke", "observation": "{observation}"}}"#);
    let (green, red) = (smoke("exit=0"), smoke("exit=1"));
    let steps = [
        format!("{green}, {green}"),
        format!("{green}, {red}"),
        format!("{red}, {green}"),
        r#"{"tool": "find", "observation": "exit=0"}"#.to_owned(),
        format!(r#""exit=1", 7, null, ["smoke"], {green}"#),
    ];
    let tasks: Vec<String> = steps
        .iter()
        .map(|steps| {
            prints(&format!(r#"{{"completed": true, "answer": "x", "steps": [{steps}]}}"#), 0)
        })
        .collect();
    let ran = run(&world, &tasks, 0);
    assert_eq!(ran.column("validated"), ["true", "false", "false", "null", "true"], "{ran:#?}");
    assert_eq!(ran.json()["kpis"]["validated"], 2);
}

/// C-4. The second task ends last.
#[test]
fn numbers_are_given_in_the_order_of_the_queue_and_a_command_of_its_own_comes_first() {
    let world = World::new();
    let tasks = r#"
        {"task": "exit 1", "cmd": ["echo", "own command for {task}"]}
        {"task": "sleep 0.2; echo second"}
        {"task": "echo third"}
    "#;
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let args = ["run", "--json", "-j", "3", "--agent", "sh", "-f", "tasks.jsonl"];
    let ran = world.fleet(&args).expect_code(0);
    assert_eq!(ran.column("id"), ["1", "2", "3"]);
    let outputs: Vec<String> =
        ran.column("out").iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(outputs, ["own command for exit 1\n", "second\n", "third\n"]);
}

/// C-105: only of an agent that printed nothing and did not end well; its file tells names of variables and no values.
#[test]
fn an_agent_that_ends_without_a_word_leaves_what_is_known_of_it() {
    let world = World::new();
    let script = "for number in 1 2 3; do echo \"trouble $number\" >&2; done; exit 3";
    let secret = "--env=DEPLOY_PLACE=moon-base-7";
    let tasks = ["exit 4", script, "echo said; exit 5", "true"];
    let args = [&["run", "--json", secret, "--agent", "sh"][..], &tasks[..]].concat();
    let ran = world.fleet(&args).expect_code(1);
    assert_eq!(ran.column("status"), ["failed", "failed", "failed", "done"], "{ran:#?}");
    assert_eq!(ran.column("error"), ["exit code 4", "trouble 3", "said", ""], "{ran:#?}");
    let path = |id| world.agent_folder(id).join("diagnostic.txt");
    let text = |id| std::fs::read_to_string(path(id)).unwrap();
    let work = world.work().canonicalize().unwrap();
    for (id, sizes) in [(1, "err         0 bytes"), (2, "err         30 bytes")] {
        let text = text(id);
        for part in ["command     sh", "out         0 bytes", sizes, work.to_str().unwrap()] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
        let variables = text.lines().find(|line| line.starts_with("variables")).unwrap();
        for name in ["DEPLOY_PLACE", "FLEET_DEPTH", "PATH"] {
            assert!(variables.split(' ').any(|word| word == name), "no {name} in {variables}");
        }
        assert!(!text.contains("moon-base-7"), "a value is told: {text}");
    }
    assert!(text(1).contains("last lines  none\n"), "{}", text(1));
    assert!(
        text(2).ends_with(" trouble 1\n            trouble 2\n            trouble 3\n"),
        "{}",
        text(2)
    );
    assert!(!path(3).exists() && !path(4).exists());
    let shown = world.fleet(&["results"]).expect_code(0).stdout;
    for id in [1, 2] {
        assert!(shown.contains(&format!("Diagnostic: {}\n", path(id).display())), "{shown}");
    }
}

/// C-119, end to end: one file was written, the other one never was.
#[test]
fn files_that_an_agent_says_it_changed_are_looked_for_on_disk() {
    let world = World::new();
    let transcript = |files: &str| {
        let object = format!(
            "{{\"completed\": true, \"answer\": \"did it\", \"files_changed\": [{files}]}}"
        );
        format!("echo new > a.py\n{}", prints(&object, 0))
    };
    let tasks = [transcript("\"a.py\", \"b.py\""), transcript("\"a.py\"")];
    run(&world, &tasks, 0);
    let shown = world.fleet(&["results"]).expect_code(0).stdout;
    assert!(shown.contains("  Files: a.py b.py\n"), "{shown}");
    assert!(shown.contains(" not there, or older than the agent: b.py\n"), "{shown}");
    assert!(shown.contains("  Files: a.py (seen on disk)\n"), "{shown}");
}
