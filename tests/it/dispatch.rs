//! `fleet dispatch` with the real binary: tasks are handed over behind the scenes, safe when the handle is printed.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{GENEROUS, Pid, Ran, World, wait_until};

/// Says that it runs, waits for the word.
const WAITS: &str = "echo ran >> ran; until [ -e go ]; do sleep 0.02; done";

fn go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

#[track_caller]
fn host(world: &World) -> Pid {
    let listed = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let pid = listed[0]["host_pid"].as_u64().unwrap_or_else(|| panic!("no host: {listed:#}"));
    Pid(u32::try_from(pid).unwrap())
}

#[track_caller]
fn statuses(world: &World) -> Vec<String> {
    world.fleet(&["results", "--json"]).expect_code(0).column("status")
}

/// C-121.
#[test]
fn the_handle_comes_at_once_and_names_the_batch_its_manifest_and_its_agents() {
    let world = World::new();
    let ran = world.fleet(&["dispatch", "--json", "--agent", "sh", "-j", "1", WAITS, "echo two"]);
    let handle = ran.expect_code(0).json();
    let id = handle["delegation_id"].as_str().unwrap();
    let digits = id.strip_prefix("deleg_").unwrap();
    assert!(digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!((&handle["status"], &handle["mode"]), (&"dispatched".into(), &"background".into()));
    assert_eq!(handle["subagent_ids"], serde_json::json!([1, 2]));
    assert_eq!((&handle["count"], &handle["batch"]), (&2.into(), &"set 1".into()));
    assert_eq!(handle["goals"], serde_json::json!([WAITS, "echo two"]));
    let fleet = world.only_fleet();
    assert_eq!(handle["fleet"], *fleet);
    let manifest = world.state().join(format!("fleets/{fleet}/batches/{id}.json"));
    wait_until("its manifest is there", GENEROUS, || {
        manifest.exists().then_some(()).ok_or_else(|| format!("{}", manifest.display()))
    });
    world.wait_lines("ran", 1);
    let first = handle["live_transcripts"][0].as_str().unwrap();
    assert_eq!(first, world.agent_folder(1).join("out").to_str().unwrap());
    assert!(std::path::Path::new(first).exists());
    go(&world);
    world.fleet(&["wait", id]).expect_code(0);
    assert_eq!(statuses(&world), ["done", "done"]);
    world.end_fleets();
}

/// C-122.
#[test]
fn at_capacity_tasks_are_queued_in_sight_and_neither_run_here_nor_dropped() {
    let world = World::new();
    world.fleet(&["dispatch", "--agent", "sh", "-j", "1", WAITS]).expect_code(0);
    world.wait_lines("ran", 1);
    for number in 2..=4 {
        let task = format!("echo {number} >> ran");
        let said = world.fleet(&["dispatch", "--agent", "sh", &task]).expect_code(0).stdout;
        assert!(said.contains("1 queued, waits: slot"), "{said}");
        assert!(said.contains(&format!("as set {number}")), "{said}");
    }
    assert_eq!(world.lines("ran").len(), 1, "nothing overtook");
    assert_eq!(statuses(&world), ["running", "queued", "queued", "queued"]);
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.lines("ran")[1..], ["2", "3", "4"]);
    world.end_fleets();
}

/// Nothing of the pipe that a shell reads is held by the host or by agents.
#[test]
fn a_command_substitution_returns_while_the_agents_run() {
    let world = World::new();
    let script = format!(
        "handle=$(\"$1\" dispatch --json --agent sh '{WAITS}' 3>&1) || exit 9; echo \"$handle\"; echo returned >&2"
    );
    let mut command = world.command("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_fleet")]);
    let ran = world.start_command(command).end().expect_code(0);
    assert_eq!(ran.json()["count"], 1);
    assert_eq!(ran.stderr, "returned\n");
    world.wait_lines("ran", 1);
    assert_eq!(statuses(&world), ["running"]);
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

#[test]
fn five_at_one_instant_make_one_fleet_with_five_batches() {
    let world = World::new();
    let tasks: Vec<String> = (1..=5).map(|number| format!("echo {number} >> ran")).collect();
    let live: Vec<_> = tasks
        .iter()
        .map(|task| world.start(&["dispatch", "--json", "--agent", "sh", task]))
        .collect();
    let handles: Vec<Value> =
        live.into_iter().map(|live| live.end().expect_code(0).json()).collect();
    let fleet = world.only_fleet();
    let mut batches: Vec<&str> = Vec::new();
    for handle in &handles {
        assert_eq!(handle["fleet"], *fleet);
        batches.push(handle["batch"].as_str().unwrap());
    }
    batches.sort_unstable();
    assert_eq!(batches, ["set 1", "set 2", "set 3", "set 4", "set 5"]);
    world.fleet(&["wait"]).expect_code(0);
    let mut ran = world.lines("ran");
    ran.sort();
    assert_eq!(ran, ["1", "2", "3", "4", "5"]);
    world.end_fleets();
}

/// Hosts are ended as often as it takes a task to get through; each task runs once.
#[test]
fn tasks_that_meet_a_host_that_goes_are_neither_lost_nor_run_twice() {
    let world = World::new();
    // As long as this one runs the fleet is joined.
    world.fleet(&["dispatch", "--agent", "sh", "-j", "3", WAITS]).expect_code(0);
    for number in 1..=8_u32 {
        let task = format!("echo {number} >> ran");
        let live = world.start(&["dispatch", "--json", "--agent", "sh", &task]);
        // It meets a host that is told to go, or is killed, just now.
        let listed = world.fleet(&["ls", "--json"]).expect_code(0).json();
        if let Some(pid) = listed[0]["host_pid"].as_u64() {
            let how = if number % 2 == 0 { Signal::TERM } else { Signal::KILL };
            Pid(u32::try_from(pid).unwrap()).signal(how);
        }
        assert_eq!(live.end().expect_code(0).json()["count"], 1);
    }
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    let mut ran = world.lines("ran");
    ran.sort();
    assert_eq!(ran, ["1", "2", "3", "4", "5", "6", "7", "8", "ran"]);
    assert_eq!(world.fleets().len(), 1);
    world.end_fleets();
}

#[test]
fn tasks_join_a_hostless_fleet_with_work_and_begin_another_one_beside_an_ended_one() {
    let world = World::new();
    world.fleet(&["dispatch", "--agent", "sh", "-j", "2", WAITS]).expect_code(0);
    world.wait_lines("ran", 1);
    let old = host(&world);
    old.signal(Signal::KILL);
    old.wait_gone("the host");
    let handle =
        world.fleet(&["dispatch", "--json", "--agent", "sh", "true"]).expect_code(0).json();
    assert_eq!((&handle["batch"], world.fleets().len()), (&"set 2".into(), 1));
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    let host = host(&world);
    host.signal(Signal::TERM);
    host.wait_gone("the host");
    let handle =
        world.fleet(&["dispatch", "--json", "--agent", "sh", "true"]).expect_code(0).json();
    assert_eq!((&handle["batch"], world.fleets().len()), (&"set 1".into(), 2));
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

/// What an agent has spent while no host lived counts before the next task may start.
#[test]
fn nothing_starts_beyond_the_cap_after_a_host_has_died() {
    let world = World::new();
    let pays = r#"echo ran >> ran; until [ -e go ]; do sleep 0.02; done
        echo '{"fleet":"cost","total_usd":1.42}'; echo paid >> paid; sleep 1000"#;
    world.fleet(&["dispatch", "--agent", "sh", "--cap", "1", "-j", "3", pays]).expect_code(0);
    world.wait_lines("ran", 1);
    let old = host(&world);
    old.signal(Signal::KILL);
    old.wait_gone("the host");
    go(&world);
    world.wait_lines("paid", 1);
    world.fleet(&["dispatch", "--agent", "sh", "echo more >> more"]).expect_code(0);
    wait_until("the next host has read what was spent", GENEROUS, || {
        let listed = world.fleet(&["ls", "--json"]).expect_code(0).json();
        let is_read = listed[0]["spent_usd"] == 1.42 && listed[0]["host_pid"].is_u64();
        if is_read { Ok(()) } else { Err(listed.to_string()) }
    });
    assert_eq!(statuses(&world), ["running", "queued"]);
    assert!(!world.file("more").exists());
    world.end_fleets();
}

#[test]
fn another_fleet_is_begun_where_it_is_asked_for_and_a_named_one_is_joined() {
    let world = World::new();
    let dispatch = |more: &[&str]| -> Ran {
        world.fleet(&[&["dispatch", "--json", "--agent", "sh", WAITS], more].concat())
    };
    let first = dispatch(&[]).expect_code(0).json()["fleet"].as_str().unwrap().to_owned();
    let second = dispatch(&["--new", "--name", "other"]).expect_code(0).json();
    assert_ne!(second["fleet"], *first);
    let ambiguous = dispatch(&[]).expect_code(2);
    assert!(ambiguous.stderr.contains("--fleet ID") && ambiguous.stderr.contains("--new"));
    let named = dispatch(&["--fleet", &first]).expect_code(0).json();
    assert_eq!((&named["fleet"], &named["batch"]), (&first.as_str().into(), &"set 2".into()));
    dispatch(&["--new", "--fleet", &first]).expect_code(2);
    let options = dispatch(&["--fleet", &first, "--cap", "3"]).expect_code(2);
    assert!(options.stderr.contains("keeps its options"), "{options:#?}");
    dispatch(&["--fleet", "nowhere"]).expect_code(4);
    go(&world);
    world.end_fleets();
}

#[test]
fn a_fleet_of_a_run_takes_no_more_tasks() {
    let world = World::new();
    let live = world.start(&["run", "--agent", "sh", WAITS]);
    world.wait_lines("ran", 1);
    let run = world.only_fleet();
    let refused =
        world.fleet(&["dispatch", "--agent", "sh", "true", "--fleet", &run]).expect_code(2);
    assert!(refused.stderr.contains("was started by fleet run"), "{refused:#?}");
    let other = world.fleet(&["dispatch", "--json", "--agent", "sh", "true"]).expect_code(0).json();
    assert_ne!(other["fleet"], *run);
    go(&world);
    live.end().expect_code(0);
    world.end_fleets();
}

/// C-130 as far as `dispatch` has to do with it.
#[test]
fn an_agent_does_not_dispatch_deeper_than_it_may() {
    let world = World::new();
    let inside = |more: &[&str]| {
        let mut command =
            world.fleet_command(&[&["dispatch", "--agent", "sh", "true"], more].concat());
        command.env("FLEET_AGENT", "k3f/1").env("FLEET_DEPTH", "1");
        world.start_command(command).end()
    };
    let refused = inside(&[]).expect_code(2);
    assert!(refused.stderr.contains("--max-depth"), "{refused:#?}");
    inside(&["--max-depth", "2"]).expect_code(0);
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

/// C-130 as far as one fleet has to do with it: its host is not nested, and tasks of its own agents are.
#[test]
fn what_an_agent_dispatches_into_its_own_fleet_is_nested_deeper_than_it() {
    let world = World::new();
    let fleet = env!("CARGO_BIN_EXE_fleet");
    let inner = "echo $FLEET_DEPTH >> depths; \"$FLEET\" dispatch --max-depth 2 --agent sh true; echo $? >> codes";
    std::fs::write(world.file("inner.txt"), inner).unwrap();
    let outer =
        "FLEET=\"$1\"; export FLEET; \"$FLEET\" dispatch --max-depth 2 --agent sh -f inner.txt";
    let outer = format!("echo $FLEET_DEPTH >> depths; set -- '{fleet}'; {outer}");
    world.fleet(&["dispatch", "--max-depth", "2", "--agent", "sh", &outer]).expect_code(0);
    world.wait_lines("codes", 1);
    assert_eq!(
        (world.lines("depths"), world.lines("codes")),
        (vec!["1".into(), "2".into()], vec!["2".into()])
    );
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.fleets().len(), 1);
    world.end_fleets();
}

#[test]
fn an_agent_stops_what_it_has_dispatched_itself_and_nothing_else() {
    let world = World::new();
    let fleet = env!("CARGO_BIN_EXE_fleet");
    let sleeps = "until [ -e go ]; do sleep 0.02; done";
    // Number 1 is a stranger, 2 the agent, 3 what it adds.
    let inside = format!(
        "'{fleet}' dispatch --max-depth 2 --agent sh '{sleeps}' && \
         {{ '{fleet}' stop 3 && echo stopped >> codes; '{fleet}' stop 1 2>> refused; echo $? >> codes; \
         '{fleet}' stop all 2>> refused; echo $? >> codes; '{fleet}' cap 5 2>> refused; echo $? >> codes; }}"
    );
    let dispatched = ["dispatch", "--max-depth", "2", "--agent", "sh", sleeps, &inside];
    world.fleet(&dispatched).expect_code(0);
    let codes = world.wait_lines("codes", 4);
    assert_eq!(codes, ["stopped", "2", "2", "2"], "{}", world.read("refused"));
    let refused = world.read("refused");
    assert!(refused.contains("/2, which may stop only agents whose tasks it has added itself"));
    go(&world);
    world.fleet(&["wait"]);
    assert_eq!(statuses(&world), ["done", "done", "cancelled"]);
    // What it has added belongs to it alone: from another agent of the fleet nothing of it can be stopped.
    let mut command = world.fleet_command(&["steer", "3", "more"]);
    command.env("FLEET_AGENT", "k3f/9").env("FLEET_DEPTH", "1");
    let other = world.start_command(command).end().expect_code(2);
    assert!(other.stderr.contains("inside agent k3f/9, which may steer only"), "{other:#?}");
    world.end_fleets();
}

#[test]
fn what_is_given_by_the_environment_reaches_the_agents_and_no_file() {
    let mut world = World::new();
    world.set("OF_SHELL", "orange-staple");
    let task = "until [ -e go ]; do sleep 0.02; done; echo $OF_SHELL $GIVEN >> said";
    let env = ["--env", "GIVEN=purple-pencil", "--env", "OF_SHELL"];
    let tasks = ["dispatch", "--agent", "sh", "-j", "1", task, task];
    world.fleet(&[&tasks[..], &env[..]].concat()).expect_code(0);
    wait_until("the first one runs", GENEROUS, || match statuses(&world).first() {
        Some(status) if status == "running" => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let stored = world.agent_folder(2).join("env.json");
    let holding = world.state_files_with("purple-pencil");
    assert_eq!(holding, std::slice::from_ref(&stored), "while its agent waits");
    let mode = std::fs::metadata(&stored).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(world.state_files_with("orange-staple").is_empty());
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.lines("said"), ["orange-staple purple-pencil"; 2]);
    assert!(world.state_files_with("purple-pencil").is_empty());
    assert!(world.state_files_with("orange-staple").is_empty());
    world.end_fleets();
}

#[test]
fn files_and_stdin_are_read_and_context_and_origin_are_in_the_manifest() {
    let world = World::new();
    std::fs::write(world.file("tasks.txt"), "true\n\necho of file\n").unwrap();
    let mut command = world.command("sh");
    let script = "printf 'echo of stdin\\n' | \"$1\" dispatch --json --agent sh -f tasks.txt -f - --origin nightly";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_fleet")]);
    let handle = world.start_command(command).end().expect_code(0).json();
    assert_eq!(handle["goals"], serde_json::json!(["true", "echo of file", "echo of stdin"]));
    let id = handle["delegation_id"].as_str().unwrap();
    world.fleet(&["wait"]).expect_code(0);
    let manifest = world.state().join(format!("fleets/{}/batches/{id}.json", world.only_fleet()));
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    assert_eq!((&manifest["origin"], &manifest["task_count"]), (&"nightly".into(), &3.into()));
    world.fleet(&["dispatch", "--agent", "sh"]).expect_code(2);
    world.fleet(&["dispatch", "--agent", "nobody", "x"]).expect_code(2);
    assert_eq!(world.fleets().len(), 1, "nothing is made for what cannot be queued");
    world.end_fleets();
}

#[test]
fn a_held_queue_takes_tasks_and_says_what_lets_them_start() {
    let world = World::new();
    let metered = r#"echo '{"fleet":"cost","total_usd":2}'"#;
    world.fleet(&["dispatch", "--agent", "sh", "--cap", "1", metered]).expect_code(0);
    world.fleet(&["wait"]).expect_code(0);
    let said = world.fleet(&["dispatch", "--agent", "sh", "echo x >> ran"]).expect_code(0).stdout;
    assert!(said.contains("1 queued, waits: cap (`fleet cap USD --fleet "), "{said}");
    let waited = world.fleet(&["wait"]).expect_code(3);
    assert!(waited.stderr.contains("held at the cap of $1.00: `fleet cap USD"), "{waited:#?}");
    assert!(world.lines("ran").is_empty());
    world.end_fleets();
}

/// The stand-in for a program that costs money says nothing of it.
#[test]
fn a_program_that_costs_money_and_has_no_cap_is_queued_and_the_handle_says_so() {
    let mut world = World::new();
    let bin = world.file("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("claude");
    std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", &format!("{}:{path}", bin.display()));
    let handle = world.fleet(&["dispatch", "--json", "--agent", "claude", "fix it"]);
    let handle = handle.expect_code(0).json();
    assert!(handle["note"].as_str().unwrap().contains("no cap"), "{handle:#}");
    world.fleet(&["wait", "--timeout", "1m"]).expect_code(1);
    world.end_fleets();
}

#[test]
fn a_crowd_of_dispatches_is_served() {
    const CROWD: usize = 24;
    let world = World::new();
    let live: Vec<_> = (0..CROWD)
        .map(|_| world.start(&["dispatch", "--json", "--agent", "sh", "echo x >> ran"]))
        .collect();
    for live in live {
        live.end_within(GENEROUS + Duration::from_mins(1)).expect_code(0);
    }
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.lines("ran").len(), CROWD);
    assert_eq!(world.fleets().len(), 1);
    world.end_fleets();
}
