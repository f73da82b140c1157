//! What other commands see of a run, and do to it, from another process of the same folder.

use loki_fleet::core::{AgentId, FleetId, Status};
use loki_fleet::journal::FleetDir;
use loki_fleet::runtime;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{GENEROUS, Live, World, wait_until};

fn start_four(world: &World) -> Live<'_> {
    let task = |number| format!("echo {number} >> ran; until [ -e go ]; do sleep 0.05; done");
    let tasks: Vec<String> = (1..=4).map(task).collect();
    let mut args = vec!["run", "--json", "-j", "2", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    let live = world.start(&args);
    world.wait_lines("ran", 2);
    live
}

#[track_caller]
fn only_listed(world: &World) -> Value {
    let list = world.fleet(&["ls", "--json"]).expect_code(0).json();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list:#}");
    list[0].clone()
}

/// C-52: what waits is cancelled too, so nothing starts when a slot is free. C-51, for cancelling.
#[test]
fn stop_all_ends_a_run_of_another_process() {
    let world = World::new();
    let live = start_four(&world);
    world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end().expect_code(1);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["cancelled"; 4], "{ran:#?}");
    assert_eq!(world.lines("ran").len(), 2, "a queued task was started");
    world.assert_nothing_runs();
    world.assert_no_temporary_files();
}

/// Ignores that it is asked to end, and says so.
fn stubborn(number: u32) -> String {
    format!(
        "trap 'echo {number} >> asked' TERM; echo $$ >> pids; echo {number} >> ran; while :; do sleep 0.05; done"
    )
}

/// C-47: it is asked with SIGTERM, and killed when its grace is over; the stages say when that is.
#[test]
fn a_stubborn_agent_is_asked_then_killed_and_cancelled_and_its_neighbour_goes_on() {
    let world = World::new();
    let other = "echo 2 >> ran; until [ -e go ]; do sleep 0.05; done";
    let live = world.start(&["run", "--json", "-j", "2", "--agent", "sh", &stubborn(1), other]);
    world.wait_lines("ran", 2);
    world.fleet(&["stop", "1"]).expect_code(0);
    world.wait_lines("asked", 1);
    wait_until("the first agent has ended", GENEROUS, || {
        let results = world.fleet(&["results", "--json"]);
        let statuses = results.column("status");
        if statuses == ["cancelled", "running"] { Ok(()) } else { Err(format!("{statuses:?}")) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled", "done"], "{ran:#?}");
    assert_eq!(ran.column("signal"), ["SIGKILL", "null"], "{ran:#?}");
    assert_eq!(world.lines("asked"), ["1"], "it was asked once");
    world.assert_nothing_runs();
}

/// C-48: each of them sees all of them alive when it is asked, which none would of those that were killed before.
#[test]
fn stubborn_agents_have_their_grace_together_and_how_they_ended_is_known() {
    let world = World::new();
    let task = "trap 'for pid in $(cat pids); do kill -0 $pid && echo $pid; done | wc -l >> asked' TERM; \
                echo $$ >> pids; echo 1 >> ran; while :; do sleep 0.05; done";
    let live = world.start(&["run", "--json", "-j", "4", "--agent", "sh", task, task, task, task]);
    world.wait_lines("ran", 4);
    world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled"; 4], "{ran:#?}");
    assert_eq!(ran.column("signal"), ["SIGKILL"; 4], "{ran:#?}");
    let seen: Vec<String> =
        world.lines("asked").iter().map(|number| number.trim().to_owned()).collect();
    assert_eq!(seen, ["4"; 4]);
    world.assert_nothing_runs();
}

#[test]
fn stop_ends_one_agent_and_no_other() {
    let world = World::new();
    let live = start_four(&world);
    world.fleet(&["stop", "1"]).expect_code(0);
    world.wait_lines("ran", 3);
    let again = world.fleet(&["stop", "1"]).expect_code(0);
    assert!(format!("{}{}", again.stdout, again.stderr).contains("ended"), "{again:#?}");
    world.fleet(&["stop", "99"]).expect_code(2);
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled", "done", "done", "done"], "{ran:#?}");
}

#[test]
fn stop_needs_to_be_told_what() {
    let world = World::new();
    let live = start_four(&world);
    let ran = world.fleet(&["stop"]).expect_code(2);
    assert!(ran.stderr.contains("all"), "{ran:#?}");
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
}

#[test]
fn a_fleet_is_listed_as_it_stands_live_hostless_and_ended() {
    let world = World::new();
    let mut live = start_four(&world);
    let listed = only_listed(&world);
    assert_eq!(listed["id"].as_str(), Some(world.only_fleet().as_str()));
    assert_eq!(listed["state"], "live");
    assert_eq!(listed["host_pid"].as_u64(), Some(u64::from(live.pid().0)));
    assert_eq!(listed["root"].as_str(), world.work().canonicalize().unwrap().to_str());
    assert_eq!(listed["kpis"]["running"], 2);
    assert_eq!(listed["kpis"]["queued"], 2);
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(
        results.column("status"),
        ["running", "running", "queued", "queued"],
        "{results:#?}"
    );

    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    let listed = only_listed(&world);
    assert_eq!(listed["state"], "hostless");
    assert_eq!(listed["host_pid"], Value::Null);
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(
        results.column("status"),
        ["running", "running", "queued", "queued"],
        "{results:#?}"
    );
    let people = world.fleet(&["ls"]).expect_code(0);
    assert!(people.stdout.contains("hostless"), "{people:#?}");
    people.assert_no_escapes();

    std::fs::write(world.file("go"), "").unwrap();
    let ran = world.fleet(&["resume", "--json"]).expect_code(0);
    assert_eq!(only_listed(&world)["state"], "ended");
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(
        results.json()["agents"],
        ran.json()["agents"],
        "an ended fleet tells the same as its run did"
    );
    world.assert_nothing_runs();
}

#[test]
fn stop_all_ends_what_runs_without_a_host() {
    let world = World::new();
    let mut live = start_four(&world);
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    world.fleet(&["stop", "all"]).expect_code(0);
    world.assert_nothing_runs();
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(results.column("status"), ["cancelled"; 4], "{results:#?}");
    assert_eq!(world.lines("ran").len(), 2);
}

/// Without the folder that was given, what is typed would not find the fleet.
#[test]
fn commands_that_are_told_name_the_state_folder_that_was_given() {
    let world = World::new();
    let state = world.file("own state").to_str().unwrap().to_owned();
    let given = format!("--state-dir '{state}'");
    let with_state = |args: &[&str]| world.fleet(&[&["--state-dir", &state], args].concat());
    let empty = with_state(&["ls"]).expect_code(0);
    assert!(empty.stdout.contains(&format!("fleet run 'a task' {given}")), "{empty:#?}");
    let tasks = ["run", "--cap", "0", "--on-cap", "hold", "--agent", "sh", "echo x"];
    let held = with_state(&tasks).expect_code(3);
    let told =
        held.stdout.lines().find(|line| line.contains("not started: fleet resume ")).unwrap();
    assert!(told.ends_with(&format!("--cap USD {given}")), "{held:#?}");
    let unknown = with_state(&["results", "zzz"]).expect_code(4);
    assert!(unknown.stderr.contains(&format!("`fleet ls {given}` lists them")), "{unknown:#?}");
    let usual = world.fleet(&["results", "zzz"]).expect_code(4);
    assert!(usual.stderr.contains("`fleet ls` lists them"), "{usual:#?}");
}

#[test]
fn nothing_is_cut_where_there_is_no_terminal() {
    let world = World::new();
    let name = "a long name of a fleet ".repeat(8);
    let name = name.trim();
    world.fleet(&["run", "--name", name, "--agent", "sh", "true"]).expect_code(0);
    let listed = world.fleet(&["ls"]).expect_code(0);
    assert!(listed.stdout.contains(name), "{listed:#?}");
    let folder = world.work();
    assert!(listed.stdout.trim_end().ends_with(folder.to_str().unwrap()), "{listed:#?}");
}

#[test]
fn a_fleet_with_work_left_is_listed_as_held() {
    let world = World::new();
    let tasks = ["--cap", "0", "--on-cap", "hold", "--agent", "sh", "echo x"];
    world.fleet(&[&["run"], &tasks[..]].concat()).expect_code(3);
    assert_eq!(only_listed(&world)["state"], "held");
}

#[test]
fn fleets_are_named_by_what_begins_their_id() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "echo one"]).expect_code(0);
    let id = world.only_fleet();
    let short = id.get(..3).unwrap();
    let results = world.fleet(&["results", short, "--json"]).expect_code(0);
    assert_eq!(results.json()["fleet"].as_str(), Some(id.as_str()));
    let results = world.fleet(&["results", "--json", "--fleet", &id]).expect_code(0);
    assert_eq!(results.column("task"), ["echo one"]);
}

#[test]
fn a_running_fleet_is_not_resumed_twice() {
    let world = World::new();
    let live = start_four(&world);
    let second = world.fleet(&["resume", &world.only_fleet()]);
    assert!(matches!(second.code, Some(2 | 4)), "{second:#?}");
    assert!(!second.stderr.is_empty(), "{second:#?}");
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
    assert_eq!(world.lines("ran").len(), 4);
}

/// Files are for their owner only, folders too.
#[test]
fn what_is_kept_on_disk_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let mut command = world.command("sh");
    command.args([
        "-c",
        "umask 000; exec \"$0\" run --agent sh 'echo one'",
        env!("CARGO_BIN_EXE_fleet"),
    ]);
    world.start_command(command).end().expect_code(0);
    let mut folders = vec![world.state()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(
            std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            folder.display()
        );
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 5, "{seen} files");
}

/// Whoever stops a queued task has seen the queue a moment before.
#[test]
fn a_task_that_starts_while_it_is_being_stopped_is_stopped() {
    let world = World::new();
    let task =
        |number| format!("echo {number} >> ran; until [ -e go{number} ]; do sleep 0.05; done");
    let live = world.start(&["run", "--json", "-j", "1", "--agent", "sh", &task(1), &task(2)]);
    world.wait_lines("ran", 1);
    let id = world.only_fleet();
    let dir = FleetDir::new(world.state().join("fleets").join(&id), FleetId(id));
    let seen = runtime::inspect(&dir).unwrap();
    assert_eq!(seen.snapshot.rows[1].status, Status::Queued);
    std::fs::write(world.file("go1"), "").unwrap();
    world.wait_lines("ran", 2);
    let stopped = runtime::stop(&seen, &[AgentId(2)]).unwrap();
    assert_eq!((stopped.asked, stopped.cancelled), (vec![AgentId(2)], Vec::new()));
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["done", "cancelled"], "{ran:#?}");
}

/// Only Linux has such a file.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_told() {
    let world = World::new();
    for args in [&["run", "--agent", "sh", "true"][..], &["ls"], &["results"]] {
        let mut command = world.command("sh");
        command.args(["-c", "exec \"$0\" \"$@\" > /dev/full", env!("CARGO_BIN_EXE_fleet")]);
        command.args(args);
        let ran = world.start_command(command).end().expect_code(2);
        assert!(ran.stderr.contains("could not write"), "{ran:#?}");
    }
}

/// What fills the disk must be stoppable on the full disk. A limit on the size of files stands for one.
#[test]
fn an_agent_is_stopped_although_nothing_can_be_written_down() {
    let world = World::new();
    let live = world.start(&["run", "--json", "--agent", "sh", "echo 1 >> ran; exec sleep 1000"]);
    world.wait_lines("ran", 1);
    let mut command = world.command("sh");
    let limited = "(trap '' XFSZ; ulimit -f 0; exec \"$0\" stop all 2>&1) | cat; exit 0";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_fleet")]);
    let said = world.start_command(command).end().stdout;
    assert!(said.contains("told 1 running to end, but could not write that down"), "{said}");
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["interrupted"], "nobody knows whose word it was: {ran:#?}");
}

#[test]
fn a_fleet_that_cannot_be_read_is_neither_resumed_nor_taken_for_none() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "true"]).expect_code(0);
    let file = world.fleets()[0].join("fleet.json");
    std::fs::write(&file, "{\"version\":99}").unwrap();
    let ran = world.fleet(&["ls"]);
    assert!(ran.stderr.contains("newer Fleet"), "{ran:#?}");
    assert!(!ran.stdout.contains("no fleets yet"), "{ran:#?}");
    let ran = world.fleet(&["resume", &world.only_fleet()]).expect_code(4);
    assert!(ran.stderr.contains("newer Fleet"), "{ran:#?}");
}

/// C-50. Whatever it told and wrote before it was stopped is kept.
#[test]
fn a_stopped_agent_keeps_what_it_had_shown() {
    let world = World::new();
    let task = "echo '{\"fleet\":\"cost\",\"total_usd\":0.5}'; echo '{\"fleet\":\"step\",\"tool\":\"bash\",\"state\":\"start\"}'; \
                echo half a line of text; echo trouble >&2; echo 1 >> ran; exec sleep 1000";
    let live = world.start(&["run", "--json", "--agent", "sh", task]);
    world.wait_lines("ran", 1);
    world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end().expect_code(1);
    let agent = &ran.json()["agents"][0];
    assert_eq!(agent["status"], "cancelled", "{ran:#?}");
    assert_eq!((&agent["cost_usd"], &agent["steps"]), (&0.5.into(), &1.into()), "{ran:#?}");
    let out = std::fs::read_to_string(agent["out"].as_str().unwrap()).unwrap();
    assert!(out.ends_with("half a line of text\n"), "{out}");
    assert_eq!(std::fs::read_to_string(agent["err"].as_str().unwrap()).unwrap(), "trouble\n");
    world.assert_nothing_runs();
}

/// C-128. The queue is held at the cap and no slot is free, and still one agent can be stopped.
#[test]
fn stop_works_at_the_cap_and_says_what_it_does_not_know() {
    let world = World::new();
    let spends = "echo '{\"fleet\":\"cost\",\"total_usd\":1.0}'; echo 1 >> ran; exec sleep 1000";
    let args = ["run", "--json", "-j", "1", "--cap", "1", "--on-cap", "hold", "--agent", "sh"];
    let live = world.start(&[&args[..], &[spends, "echo never"]].concat());
    world.wait_lines("ran", 1);
    let unknown = world.fleet(&["stop", "99"]).expect_code(2);
    assert_eq!(unknown.stderr.lines().count(), 1, "{unknown:#?}");
    assert!(unknown.stderr.contains("99"), "{unknown:#?}");
    world.fleet(&["stop", "1"]).expect_code(0);
    let ran = live.end().expect_code(3);
    assert_eq!(ran.column("status"), ["cancelled", "queued"], "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn a_task_that_was_stopped_in_the_queue_is_cancelled_for_whoever_looks_next() {
    let world = World::new();
    let live = start_four(&world);
    world.fleet(&["stop", "4"]).expect_code(0);
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(
        results.column("status"),
        ["running", "running", "queued", "cancelled"],
        "{results:#?}"
    );
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["done", "done", "done", "cancelled"], "{ran:#?}");
    assert_eq!(ran.column("error")[3], "cancelled before it started");
    assert_eq!(ran.column("exit_reason")[3], "null");
}
