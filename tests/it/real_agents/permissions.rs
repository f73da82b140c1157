//! What each program may do is what its task says: it writes in its folder, unless the task is read-only, and it runs
//! commands only if that is allowed.
//!
//! What may go here: permissions as the file system shows them. What may not: how a program tells that it was refused.

use serde_json::json;

use super::{CLAUDE, CODEX, COPILOT, GEMINI, HERMES, Kind, OPENCODE, PATIENCE, QWEN, Stage, task};

/// One line of a task file: a task in a folder of its own, with one more option.
fn line(kind: Kind, root: &str, scenario: &str, option: &str) -> String {
    let mut line = json!({"task": task(scenario), "agent": kind.name, "root": root});
    for (name, value) in kind.options {
        line[name] = json!(value);
    }
    if !option.is_empty() {
        line[option] = json!(true);
    }
    format!("{line}\n")
}

/// Whether a program can be kept from something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Can {
    Yes,
    No,
}

/// `read_only`: it has a way to be kept from writing. `no_commands`: it has one to be kept from running commands.
#[track_caller]
fn check(kind: Kind, read_only: Can, no_commands: Can) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    let mut tasks = line(kind, "writes", "write", "");
    tasks.push_str(&line(kind, "runs", "shellrun", "allow_shell"));
    // It does nothing but edit, in the agent's own folder: what else might be let through there would be this.
    tasks.push_str(&line(kind, "runs-not", "shellwrite", ""));
    if read_only == Can::Yes {
        tasks.push_str(&line(kind, "reads", "write", "read_only"));
    }
    for root in ["writes", "runs", "runs-not", "reads"] {
        std::fs::create_dir(stage.world.file(root)).unwrap();
    }
    std::fs::write(stage.world.file("tasks.jsonl"), tasks).unwrap();
    // One after another: two of opencode that start at one moment in a new home folder stand in each other's way.
    let ran = stage.world.start(&["run", "--json", "-j", "1", "-f", "tasks.jsonl"]);
    let ran = ran.end_within(PATIENCE);
    let agents = &ran.json()["agents"];
    assert_eq!(stage.world.read("writes/out.txt"), "written by the mock\n", "{ran:#?}");
    assert_eq!(stage.world.read("runs/out.txt"), "data\n", "{ran:#?}");
    let has_run = stage.world.file("runs-not/out.txt").exists();
    assert_eq!(has_run, no_commands == Can::No, "{ran:#?}");
    assert!(!stage.world.file("reads/out.txt").exists(), "{ran:#?}");
    assert_eq!(agents[0]["status"], "done", "{ran:#?}");
    assert_eq!(agents[1]["status"], "done", "{ran:#?}");
    stage.world.assert_nothing_runs();
}

#[test]
fn claude_may_do_what_its_task_says() {
    check(CLAUDE, Can::Yes, Can::Yes);
}

/// Its commands always run, inside its sandbox.
#[test]
fn codex_may_do_what_its_task_says() {
    check(CODEX, Can::Yes, Can::No);
}

#[test]
fn opencode_may_do_what_its_task_says() {
    check(OPENCODE, Can::Yes, Can::Yes);
}

#[test]
fn gemini_may_do_what_its_task_says() {
    check(GEMINI, Can::Yes, Can::Yes);
}

#[test]
fn qwen_may_do_what_its_task_says() {
    check(QWEN, Can::Yes, Can::Yes);
}

#[test]
fn copilot_may_do_what_its_task_says() {
    check(COPILOT, Can::Yes, Can::Yes);
}

#[test]
fn hermes_may_do_what_its_task_says() {
    check(HERMES, Can::No, Can::Yes);
}
