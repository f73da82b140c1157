//! `fleet run` from the outside: statuses, order, parallelism, large tasks and outputs, what it prints.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{GENEROUS, World, wait_until};

/// C-37, C-83: the summary names the signal, and the exit code is not zero when an agent is not done.
#[test]
fn three_commands_end_as_they_did() {
    let world = World::new();
    let ran = world
        .fleet(&["run", "--json", "--agent", "sh", "echo a", "exit 3", "kill -SEGV $$"])
        .expect_code(1);
    assert_eq!(ran.column("id"), ["1", "2", "3"], "{ran:#?}");
    assert_eq!(ran.column("status"), ["done", "failed", "failed"], "{ran:#?}");
    assert_eq!(ran.column("exit_code"), ["0", "3", "null"], "{ran:#?}");
    assert_eq!(ran.column("signal"), ["null", "null", "SIGSEGV"], "{ran:#?}");
    let errors = ran.column("error");
    assert_eq!(errors[0], "");
    assert!(errors[1].contains("exit code 3"), "{errors:?}");
    assert!(errors[2].contains("SIGSEGV"), "{errors:?}");
    world.assert_nothing_runs();
}

/// What the system is short of is given back by agents that end.
#[test]
fn agents_for_which_there_are_no_descriptors_left_wait_and_do_not_fail() {
    let world = World::new();
    let mut command = world.command("sh");
    command.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fleet")]);
    command.args(["run", "--json", "--agent", "sh", "-j", "30"]).args(["sleep 1"; 30]);
    let ran = world.start_command(command).end().expect_code(0);
    assert_eq!(ran.column("status"), ["done"; 30], "{ran:#?}");
    world.assert_nothing_runs();
}

/// C-76, C-82: the summary has every field that the design names, upstream's among them, without a terminal.
#[test]
fn the_summary_has_every_field() {
    let world = World::new();
    let ran = world.fleet(&["run", "--json", "--agent", "sh", "sleep 0.1; echo a"]).expect_code(0);
    let summary = ran.json();
    let fields =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let has = |value: &Value, wanted: &[&str]| {
        let known = fields(value);
        for name in wanted {
            assert!(known.iter().any(|field| field == name), "no {name} in {value:#}");
        }
    };
    has(
        &summary,
        &["version", "fleet", "goal", "state", "batches", "kpis", "completed", "failed", "agents"],
    );
    has(
        &summary,
        &["total_duration_seconds", "spent_usd", "cap_usd", "cost_unknown", "files_changed"],
    );
    has(&summary["batches"][0], &["id", "tag", "status", "agents"]);
    has(
        &summary["kpis"],
        &["total", "running", "done", "failed", "queued", "validated", "mesh", "steps"],
    );
    has(&summary["kpis"], &["tokens", "cost", "elapsed"]);
    let agent = &summary["agents"][0];
    has(
        agent,
        &[
            "id",
            "task",
            "agent",
            "status",
            "exit_reason",
            "elapsed",
            "steps",
            "answer",
            "files_changed",
        ],
    );
    has(
        agent,
        &[
            "error",
            "tokens",
            "cost_usd",
            "cost_status",
            "validated",
            "exit_code",
            "signal",
            "swept",
        ],
    );
    has(agent, &["batch", "session", "retry_of", "retried_by", "out", "err", "transcript"]);
    assert_eq!(summary["version"], 1);
    assert_eq!(summary["state"], "ended");
    assert_eq!(summary["completed"], 1);
    assert_eq!(summary["failed"], 0);
    assert_eq!(summary["cap_usd"], Value::Null);
    assert_eq!(agent["task"], "sleep 0.1; echo a");
    assert_eq!(agent["agent"], "sh");
    assert_eq!(agent["cost_status"], "none");
    assert_eq!(agent["validated"], Value::Null);
    let elapsed = agent["elapsed"].as_f64().unwrap();
    let hundredths = elapsed * 100.0;
    assert!(
        elapsed >= 0.1 && (hundredths - hundredths.round()).abs() < 1e-6,
        "elapsed has two decimals: {elapsed}"
    );
    assert_eq!(std::fs::read_to_string(agent["out"].as_str().unwrap()).unwrap(), "a\n");
    assert_eq!(std::fs::read_to_string(agent["err"].as_str().unwrap()).unwrap(), "");
}

/// C-84.
#[test]
fn nothing_but_text_is_printed_where_there_is_no_terminal() {
    let mut world = World::new();
    // A terminal that can do everything is promised, and still there is none.
    world.set("TERM", "xterm-256color");
    world.set("COLORTERM", "truecolor");
    let tasks = ["--agent", "sh", "printf '\\033[31mred\\033[0m\\n'; exit 2", "echo fine"];
    let people = world.fleet(&[&["run"], &tasks[..]].concat()).expect_code(1);
    people.assert_no_escapes();
    assert!(
        people.stdout.contains("(0s) — red") || people.stdout.contains("(0s) - red"),
        "{people:#?}"
    );
    let machines = world.fleet(&[&["run", "--json"], &tasks[..]].concat()).expect_code(1);
    machines.assert_no_escapes();
    assert_eq!(machines.column("status"), ["failed", "done"]);
    assert!(!machines.stderr.is_empty(), "progress goes to stderr under --json");
}

/// Tasks 1 to 8 wait for each other, so eight slots are really used; each task counts who runs beside it.
#[test]
fn fifty_tasks_never_run_more_than_eight_at_once() {
    let world = World::new();
    std::fs::create_dir(world.file("live")).unwrap();
    let mut args = vec![
        "run".to_owned(),
        "--json".into(),
        "--agent".into(),
        "sh".into(),
        "-j".into(),
        "8".into(),
    ];
    for number in 1..=50 {
        let wait = if number <= 8 {
            "until [ -e full ]; do [ \"$(ls live | wc -l)\" -ge 8 ] && touch full; sleep 0.02; done; "
        } else {
            ""
        };
        args.push(format!(
            "mkdir live/{number}; ls live | wc -l >> seen; {wait}echo {number} >> ran; ls live | wc -l >> seen; \
             rmdir live/{number}"
        ));
    }
    let ran = world.fleet(&args.iter().map(String::as_str).collect::<Vec<_>>()).expect_code(0);
    let ids: Vec<String> = (1..=50).map(|number| number.to_string()).collect();
    assert_eq!(ran.column("id"), ids);
    for (task, id) in ran.column("task").iter().zip(&ids) {
        assert!(task.starts_with(&format!("mkdir live/{id};")), "agent {id} has task {task}");
    }
    let mut done = world.lines("ran");
    done.sort_by_key(|line| line.parse::<u32>().unwrap());
    assert_eq!(done, ids);
    let most = world.lines("seen").iter().map(|line| line.trim().parse::<u32>().unwrap()).max();
    assert_eq!(most, Some(8), "{:?}", world.lines("seen"));
    world.assert_nothing_runs();
}

/// C-9. An exit code of 127 is the command's own and no failed start.
#[test]
fn a_missing_program_fails_its_own_agent_only() {
    let world = World::new();
    let tasks = r#"
        {"task": "first", "cmd": ["./no-such-program", "{task}"]}
        {"task": "echo fine", "agent": "sh"}
        {"task": "exit 127", "agent": "sh"}
    "#;
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let ran = world.fleet(&["run", "--json", "-f", "tasks.jsonl"]).expect_code(1);
    assert_eq!(ran.column("status"), ["failed", "done", "failed"], "{ran:#?}");
    let (errors, reasons) = (ran.column("error"), ran.column("exit_reason"));
    assert!(errors[0].contains("no-such-program"), "{errors:?}");
    assert!(errors[0].contains("not found"), "{errors:?}");
    assert_eq!(reasons[0], "spawn");
    assert_ne!(reasons[2], "spawn");
    assert_eq!(ran.column("exit_code"), ["null", "0", "127"]);
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn a_folder_that_is_gone_when_its_task_starts_fails_that_agent_only() {
    let world = World::new();
    std::fs::create_dir(world.file("gone")).unwrap();
    let tasks = r#"
        {"task": "rmdir gone", "agent": "sh"}
        {"task": "echo never", "agent": "sh", "root": "gone"}
        {"task": "echo fine", "agent": "sh"}
    "#;
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let ran = world.fleet(&["run", "--json", "-j", "1", "-f", "tasks.jsonl"]).expect_code(1);
    assert_eq!(ran.column("status"), ["done", "failed", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_reason")[1], "spawn");
    assert!(ran.column("error")[1].contains("gone"), "{ran:#?}");
}

/// C-5, and C-85: each agent has a file for each of its two outputs.
#[test]
fn five_megabytes_on_both_streams_block_nobody() {
    let world = World::new();
    let flood = "yes out | head -c 5000000; yes err | head -c 5000000 >&2; echo sent >> ran";
    let ran = world
        .fleet(&["run", "--json", "-j", "3", "--agent", "sh", flood, flood, "echo x"])
        .expect_code(0);
    for (id, stream) in [(0, "out"), (0, "err"), (1, "out"), (1, "err")] {
        let path = &ran.column(stream)[id];
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.len(), 5_000_000, "{path}");
        assert!(text.lines().all(|line| stream.starts_with(line)), "{path} has another output too");
    }
    let paths: Vec<String> = ["out", "err"].iter().flat_map(|name| ran.column(name)).collect();
    let distinct: std::collections::HashSet<&String> = paths.iter().collect();
    assert_eq!((paths.len(), distinct.len()), (6, 6), "{paths:?}");
    assert_eq!(world.lines("ran"), ["sent", "sent"]);
}

/// C-95: the host keeps little of an output however large it is, finds the object at its end, and leaves the file alone.
#[cfg(target_os = "linux")]
#[test]
fn an_output_of_any_size_is_kept_whole_and_costs_no_memory() {
    const SIZE: u64 = 200_000_000;
    let world = World::new();
    let end = r#"{"completed": true, "answer": "found", "usage": {"total_tokens": 7}}"#;
    let flood = format!("yes 'some text' | head -c {SIZE}; echo; echo '{end}'");
    let waits = "until [ -e go ]; do sleep 0.05; done";
    let live = world.start(&["run", "--json", "-j", "2", "--agent", "sh", &flood, waits]);
    let done = wait_until("the flood has been read", 3 * GENEROUS, || {
        let results = world.fleet(&["results", "--json"]);
        let is_done = results.code == Some(0) && results.column("status") == ["done", "running"];
        if is_done { Ok(results) } else { Err(format!("{results:?}")) }
    });
    assert_eq!(
        (&done.column("answer")[0], &done.column("tokens")[0]),
        (&"found".into(), &"7".into())
    );
    let status = std::fs::read_to_string(format!("/proc/{}/status", live.pid().0)).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak * 1024 < SIZE / 3, "{peak} kB at most");
    let size = std::fs::metadata(&done.column("out")[0]).unwrap().len();
    assert_eq!(size, SIZE + 2 + u64::try_from(end.len()).unwrap());
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
}

/// One argument of a program holds 128 KiB, so such a task needs another way to the shell.
#[test]
fn a_task_of_a_mebibyte_reaches_the_shell_whole() {
    let world = World::new();
    let text = "x".repeat(1 << 20);
    let task =
        serde_json::json!({"task": format!("printf %s '{text}' | wc -c > counted"), "agent": "sh"});
    std::fs::write(world.file("tasks.jsonl"), task.to_string()).unwrap();
    world.fleet(&["run", "--json", "-f", "tasks.jsonl"]).expect_code(0);
    assert_eq!(world.read("counted").trim(), (1 << 20).to_string());
}

#[test]
fn tasks_from_stdin_and_from_arguments_go_together() {
    let world = World::new();
    let args = ["run", "--json", "-j", "1", "--agent", "sh", "echo argument >> ran", "-f", "-"];
    let mut command = world.fleet_command(&args);
    command.stdin(Stdio::piped());
    // The pipe is filled and closed by a process of its own, so that the command can be started as any other.
    let path = world.file("tasks");
    std::fs::write(&path, "echo one >> ran\necho two >> ran\n").unwrap();
    command.stdin(File::open(&path).unwrap());
    let ran = world.start_command(command).end().expect_code(0);
    assert_eq!(ran.column("status").len(), 3, "{ran:#?}");
    let mut lines = world.lines("ran");
    lines.sort();
    assert_eq!(lines, ["argument", "one", "two"]);
}

#[test]
fn an_agent_has_no_input_and_no_descriptor_of_ours() {
    let world = World::new();
    let task = "cat; readlink /proc/self/fd/0 > input; ls /proc/self/fd | wc -l > descriptors; \
                sh -c 'ps -o pgid= -p $$ 2>/dev/null || cut -d\" \" -f5 /proc/$$/stat' > group; echo $$ > own";
    let mut command = world.fleet_command(&["run", "--json", "--agent", "sh", task]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"for fleet, not for an agent\n").unwrap();
    command.stdin(reader);
    let ran = world.start_command(command).end().expect_code(0);
    drop(writer);
    assert_eq!(
        std::fs::read_to_string(&ran.column("out")[0]).unwrap(),
        "",
        "the agent read something"
    );
    assert_eq!(world.read("input").trim(), "/dev/null");
    // 0, 1, 2 and the one with which `ls` reads the folder.
    assert_eq!(world.read("descriptors").trim(), "4");
    assert_eq!(
        world.read("group").trim(),
        world.read("own").trim(),
        "the agent leads its own group"
    );
}

/// A closed stdout costs the reader its text, and nobody else anything.
#[test]
fn a_closed_stdout_ends_no_agent() {
    let world = World::new();
    let tasks = ["until [ -e go ]; do sleep 0.02; done; echo 1 >> ran", "echo 2 >> ran"];
    let mut live = {
        // The shell's pipe has no reader any more when the binary prints.
        let mut command = world.command("sh");
        let script = format!(
            "{{ '{}' run -j 1 --agent sh \"$@\"; echo $? > code; }} | true",
            env!("CARGO_BIN_EXE_fleet")
        );
        command.args(["-c", &script, "sh", tasks[0], tasks[1]]);
        world.start_command(command)
    };
    wait_until("the first agent runs", GENEROUS, || {
        let marks = world.processes();
        if marks.iter().any(|process| process.mark.is_some()) {
            Ok(())
        } else {
            Err(format!("{marks:?}"))
        }
    });
    std::fs::write(world.file("go"), "").unwrap();
    wait_until("it ends", GENEROUS, || if live.has_ended() { Ok(()) } else { Err(live.stderr()) });
    assert_eq!(world.lines("ran"), ["1", "2"]);
    assert_eq!(world.read("code").trim(), "0");
    assert!(!live.stderr().contains("panicked"), "{}", live.stderr());
    world.assert_nothing_runs();
}

/// C-17, and whatever else is wrong before anything starts: exit code 2, one sentence on stderr, nothing made.
#[test]
fn what_is_wrong_is_refused_before_anything_starts() {
    let world = World::new();
    std::fs::write(
        world.file("unknown.jsonl"),
        "{\"task\": \"x\", \"agent\": \"sh\", \"budgt_usd\": 1}\n",
    )
    .unwrap();
    std::fs::write(world.file("broken.json"), "[{\"task\": \"x\"").unwrap();
    std::fs::write(world.file("broken.toml"), "[[task]]\ntask = \n").unwrap();
    std::fs::write(world.file("empty.txt"), "\n\n").unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["run", "--agent", "no-such-kind", "x"], "no-such-kind"),
        (&["run", "--agent", "sh"], "task"),
        (&["run", "--agent", "sh", "-j", "0", "echo x"], "--max-parallel"),
        (&["run", "--agent", "sh", "-j", "-1", "echo x"], "-1"),
        (&["run", "--agent", "sh", "--max-parallel", "many", "echo x"], "many"),
        (&["run", "--agent", "sh", "--cap", "much", "echo x"], "much"),
        (&["run", "--agent", "sh", "--cap", "-1", "echo x"], "-1"),
        (&["run", "--agent", "sh", "--timeout", "soon", "echo x"], "soon"),
        (&["run", "--agent", "sh", "--on-cap", "perhaps", "echo x"], "perhaps"),
        (&["run", "--agent", "sh", "--on-cap", "raise=2", "echo x"], "--cap"),
        (&["run", "--agent", "sh", "--root", "no-such-folder", "echo x"], "no-such-folder"),
        (&["run", "--agent", "sh", "--env", "=x", "echo x"], "--env"),
        (&["run", "--agent", "sh", "--no-such-option", "echo x"], "--no-such-option"),
        (&["run", "--agent", "sh", "-f", "no-such-file.txt"], "no-such-file.txt"),
        (&["run", "--agent", "sh", "-f", "empty.txt"], "empty.txt"),
        (&["run", "-f", "unknown.jsonl"], "budget_usd"),
        (&["run", "--agent", "sh", "-f", "broken.json"], "broken.json"),
        (&["run", "--agent", "sh", "-f", "broken.toml"], "broken.toml"),
        (&["no-such-subcommand"], "no-such-subcommand"),
        (&["stop"], "all"),
    ];
    for (args, word) in table {
        let ran = world.fleet(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:#?}");
        assert!(ran.stderr.contains(word), "{args:?} does not say {word:?}: {ran:#?}");
        assert_eq!(ran.stdout, "", "{args:?}");
        ran.assert_no_escapes();
    }
    assert_eq!(world.fleets(), [] as [std::path::PathBuf; 0], "a refused command made a fleet");
    for args in [["resume", "k3fzz"], ["results", "k3fzz"]] {
        let ran = world.fleet(&args).expect_code(4);
        assert!(ran.stderr.contains("k3fzz"), "{ran:#?}");
    }
}
