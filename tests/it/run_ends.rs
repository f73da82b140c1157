//! Ends that are not the agent's own: times that are up, what it leaves behind, signals to Fleet.

use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, Pid, World, wait_until};

/// Ignores whatever can be ignored, and so does what it starts in a session of its own.
const STUBBORN: &str = "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >> pids; \
                        while :; do sleep 0.1; done' & echo $$ >> pids; while :; do sleep 0.1; done";

/// C-49. C-51, for timeouts.
#[test]
fn a_stubborn_agent_is_killed_with_all_that_it_started_when_its_time_is_up() {
    let world = World::new();
    let ran = world
        .fleet(&[
            "run",
            "--json",
            "--timeout",
            "2s",
            "--grace",
            "1s",
            "--agent",
            "sh",
            STUBBORN,
            "echo fine",
        ])
        .expect_code(1);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["timeout", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_reason")[0], "timeout");
    let pids = world.lines("pids");
    assert_eq!(pids.len(), 2, "both ran");
    for pid in pids {
        assert!(!Pid(pid.parse().unwrap()).lives(), "{pid} lives");
    }
    world.assert_nothing_runs();
    world.assert_no_temporary_files();
}

#[test]
fn what_an_agent_leaves_behind_is_ended_and_counted() {
    let world = World::new();
    let task = "sleep 1000 & setsid sleep 1000 & echo bye";
    let ran = world.fleet(&["run", "--json", "--agent", "sh", task]).expect_code(0);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["done"], "{ran:#?}");
    assert_eq!(ran.column("swept"), ["2"], "{ran:#?}");
    assert_eq!(ran.column("exit_code"), ["0"], "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn what_an_agent_leaves_behind_stays_when_the_owner_says_so() {
    let world = World::new();
    let task = "setsid sleep 1000 & echo $! > kept; echo bye";
    let ran = world
        .fleet(&["run", "--json", "--leftovers", "keep", "--agent", "sh", task])
        .expect_code(0);
    assert_eq!(ran.column("status"), ["done"], "{ran:#?}");
    assert_eq!(ran.column("swept"), ["0"], "{ran:#?}");
    let kept = Pid(world.read("kept").trim().parse().unwrap());
    assert!(kept.lives(), "{kept:?} was ended");
    kept.signal(Signal::KILL);
}

/// C-55: one agent has a limit, its neighbour none, and only the first one is ended by it.
#[test]
fn a_timeout_is_the_agents_own() {
    let world = World::new();
    let limited = serde_json::json!({"task": "sleep 1000", "agent": "sh", "timeout": "1s"});
    let free = serde_json::json!({"task": "until [ -e go ]; do sleep 0.05; done", "agent": "sh"});
    std::fs::write(world.file("tasks.jsonl"), format!("{limited}\n{free}\n")).unwrap();
    let live = world.start(&["run", "--json", "-j", "2", "-f", "tasks.jsonl"]);
    wait_until("the first agent's time is up", GENEROUS, || {
        let results = world.fleet(&["results", "--json"]);
        let statuses = if results.code == Some(0) { results.column("status") } else { Vec::new() };
        if statuses == ["timeout", "running"] { Ok(()) } else { Err(format!("{results:?}")) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["timeout", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_reason"), ["timeout", "completed"], "{ran:#?}");
}

/// C-53, C-54: who runs when the deadline passes is `timeout`, who has ended stays, who waits is `dropped`.
#[test]
fn a_deadline_ends_what_runs_and_drops_what_waits() {
    let world = World::new();
    let args = [
        "run",
        "--json",
        "-j",
        "1",
        "--deadline",
        "3s",
        "--agent",
        "sh",
        "echo quick",
        "sleep 1000",
        "echo x",
    ];
    let ran = world.fleet(&args).expect_code(124);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["done", "timeout", "dropped"], "{ran:#?}");
    let summary = ran.json();
    assert_eq!(summary["state"], "ended");
    assert_eq!(summary["kpis"]["running"], 0);
    assert_eq!(summary["kpis"]["queued"], 0);
    assert!(!ran.column("error")[2].is_empty(), "no reason for the drop: {ran:#?}");
}

/// C-56: the first writes for longer than the limit and is left alone; the second is silent.
#[test]
fn only_silence_counts_for_the_idle_limit() {
    let world = World::new();
    let talks = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo $i; sleep 0.25; done";
    let args =
        ["run", "--json", "-j", "2", "--idle-timeout", "3s", "--agent", "sh", talks, "sleep 1000"];
    let ran = world.fleet(&args).expect_code(1);
    assert_eq!(ran.column("status"), ["done", "timeout"], "{ran:#?}");
    assert_eq!(ran.column("exit_reason")[1], "timeout");
    world.assert_nothing_runs();
}

/// Says that it runs, says that it was asked, and ends then.
fn polite(number: u32) -> String {
    format!(
        "trap 'echo {number} >> asked; exit 9' TERM INT HUP; echo {number} >> ran; while :; do sleep 0.05; done"
    )
}

/// Starts four tasks in two slots and returns when two run.
fn start_four<'w>(world: &'w World, task: &dyn Fn(u32) -> String, more: &[&str]) -> Live<'w> {
    let tasks: Vec<String> = (1..=4).map(task).collect();
    let mut args = vec!["run", "--json", "-j", "2", "--agent", "sh"];
    args.extend_from_slice(more);
    args.extend(tasks.iter().map(String::as_str));
    let live = world.start(&args);
    world.wait_lines("ran", 2);
    live
}

#[track_caller]
fn interrupted_by(signal: Signal, code: i32) {
    let world = World::new();
    let live = start_four(&world, &polite, &[]);
    live.signal(signal);
    let ran = live.end().expect_code(code);
    world.assert_no_agent_runs_now();
    assert_eq!(
        ran.column("status"),
        ["interrupted", "interrupted", "queued", "queued"],
        "{ran:#?}"
    );
    assert_eq!(world.lines("ran").len(), 2, "a queued task was started");
    assert_eq!(world.lines("asked").len(), 2, "agents are asked before they are killed");
    assert!(ran.stderr.contains("fleet resume"), "nobody says how to go on: {ran:#?}");
    world.assert_nothing_runs();
    world.assert_no_temporary_files();
}

#[test]
fn an_interrupt_ends_what_runs_and_keeps_what_waits() {
    interrupted_by(Signal::INT, 130);
}

/// C-51, and so do the next one and those of other ends.
#[test]
fn a_terminate_ends_what_runs_and_keeps_what_waits() {
    interrupted_by(Signal::TERM, 143);
}

#[test]
fn a_hangup_ends_what_runs_and_keeps_what_waits() {
    interrupted_by(Signal::HUP, 129);
}

#[test]
fn what_an_interrupt_kept_is_run_by_resume_and_only_once() {
    let world = World::new();
    let live =
        start_four(&world, &|number| format!("echo {number} >> ran; [ -e go ] || sleep 1000"), &[]);
    live.signal(Signal::INT);
    live.end().expect_code(130);
    std::fs::write(world.file("go"), "").unwrap();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(1);
    assert_eq!(ran.column("status"), ["interrupted", "interrupted", "done", "done"], "{ran:#?}");
    let mut lines = world.lines("ran");
    lines.sort();
    assert_eq!(lines, ["1", "2", "3", "4"]);
}

#[test]
fn a_second_interrupt_kills_without_waiting_for_the_grace() {
    let world = World::new();
    let task = |number| {
        format!(
            "trap 'echo {number} >> asked' TERM INT HUP; echo {number} >> ran; while :; do sleep 0.05; done"
        )
    };
    let live = start_four(&world, &task, &["--grace", "1h"]);
    live.signal(Signal::INT);
    world.wait_lines("asked", 2);
    live.signal(Signal::INT);
    let ran = live.end().expect_code(130);
    world.assert_no_agent_runs_now();
    assert_eq!(
        ran.column("status"),
        ["interrupted", "interrupted", "queued", "queued"],
        "{ran:#?}"
    );
    assert_eq!(ran.column("signal")[..2], ["SIGKILL", "SIGKILL"], "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn a_hangup_that_was_ignored_at_the_start_stays_ignored() {
    let world = World::new();
    let mut command = world.command("sh");
    let script = "trap '' HUP; exec \"$0\" run --json --agent sh \"$1\"";
    let task = "grep SigIgn /proc/self/status > ignored; echo 1 >> ran; until [ -e go ]; do sleep 0.02; done";
    command.args(["-c", script, env!("CARGO_BIN_EXE_fleet"), task]);
    let live = world.start_command(command);
    world.wait_lines("ran", 1);
    live.signal(Signal::HUP);
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(0);
    assert_eq!(ran.column("status"), ["done"]);
    // The agent itself begins with what a program may expect: no signal is ignored but the two that the C library keeps
    // for its threads.
    let ignored = world.read("ignored");
    let mask = u64::from_str_radix(ignored.split_whitespace().last().unwrap(), 16).unwrap();
    assert_eq!(mask & 0x7fff_ffff, 0, "{ignored}");
}

/// All are asked at once: four agents that take their whole grace together take it once.
#[test]
fn agents_are_stopped_together() {
    let world = World::new();
    let task = |number| {
        format!(
            "trap 'echo {number} >> asked' TERM INT HUP; echo {number} >> ran; \
             while [ $(cat asked 2>/dev/null | wc -l) -lt 4 ]; do sleep 0.05; done; exit 0"
        )
    };
    let tasks: Vec<String> = (1..=4).map(task).collect();
    let mut args = vec!["run", "--json", "-j", "4", "--grace", "1h", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    let live = world.start(&args);
    world.wait_lines("ran", 4);
    // Each agent ends only when all four were asked, so asking one after the other would never end.
    live.signal(Signal::TERM);
    let ran = live.end().expect_code(143);
    assert_eq!(ran.column("status"), ["interrupted"; 4], "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn the_end_of_an_agent_is_seen_while_its_children_hold_its_output() {
    let world = World::new();
    let holds = "sh -c 'trap \"echo t >> told; exit\" TERM; echo 1 >> ran; while :; do sleep 0.05; done' & \
                 until [ -e ran ]; do sleep 0.02; done; exit 4";
    let ran = world.fleet(&["run", "--json", "--agent", "sh", holds]).expect_code(1);
    assert_eq!(ran.column("exit_code"), ["4"], "{ran:#?}");
    // The shell, and the sleep that it may be in.
    assert!(["1", "2"].contains(&ran.column("swept")[0].as_str()), "{ran:#?}");
    wait_until("it was asked before it was killed", GENEROUS, || {
        if world.read("told").is_empty() { Err("nothing".to_owned()) } else { Ok(()) }
    });
    world.assert_nothing_runs();
}

/// A limit on the size of files stands in for a disk without room for the journal.
#[test]
fn a_run_whose_tasks_cannot_be_saved_says_so_starts_nothing_and_heeds_a_signal() {
    let world = World::new();
    std::fs::write(
        world.file("tasks.txt"),
        format!("echo ran >> ran # {}\n", "x".repeat(6000)).repeat(2),
    )
    .unwrap();
    let mut command = world.command("sh");
    let script = "ulimit -f 4; trap '' XFSZ; exec \"$0\" run -j 1 --agent sh -f tasks.txt >&2";
    command.args(["-c", script, env!("CARGO_BIN_EXE_fleet")]);
    let live = world.start_command(command);
    wait_until("the trouble is told", GENEROUS, || {
        let said = live.stderr();
        if said.contains("not saved, nothing starts") { Ok(()) } else { Err(said) }
    });
    live.signal(Signal::TERM);
    let ran = live.end().expect_code(143);
    assert!(ran.stderr.contains("1 not started, and perhaps not saved"), "{ran:#?}");
    assert!(!world.file("ran").exists());
    world.assert_nothing_runs();
}

#[test]
fn a_shim_that_somebody_has_frozen_still_hears_that_it_must_stop() {
    let world = World::new();
    let live = world.start(&["run", "--json", "--agent", "sh", "echo 1 >> ran; exec sleep 1000"]);
    world.wait_lines("ran", 1);
    world.shim(1).signal(Signal::STOP);
    live.signal(Signal::INT);
    let ran = live.end().expect_code(130);
    assert_eq!(ran.column("status"), ["interrupted"], "{ran:#?}");
    world.assert_nothing_runs();
}
