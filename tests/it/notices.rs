//! Notices: the owner's program is told of them, the terminal rings, and none is told twice.
//!
//! What may go here: what a person hears of a fleet. What may not: when there is a notice, which the stories of the core
//! have.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

#[cfg(feature = "tui")]
use crate::harness::Terminal;
use crate::harness::{GENEROUS, Pid, World, wait_until};

/// What a task does that is to end when the test says so.
const WAITS: &str = "until [ -e go ]; do sleep 0.05; done";

fn configure(world: &World, text: &str) {
    let folder = world.work().parent().unwrap().join("config/loki-fleet");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// Writes a program; returns its path.
fn program(world: &World, script: &str) -> PathBuf {
    let file = world.file("tell");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

/// Lets what is told be written to a file, and more be done by a script.
fn tell(world: &World, script: &str, more: &str) {
    let told = world.file("told");
    let file = program(world, &format!("{script}\ncat >> {}", told.display()));
    configure(world, &format!("[notices]\ncommand = [\"{}\", \"loud\"]\n{more}\n", file.display()));
}

fn told(world: &World) -> Vec<Value> {
    world.lines("told").iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(notices: &[Value]) -> Vec<&str> {
    notices.iter().map(|notice| notice["kind"].as_str().unwrap()).collect()
}

/// Waits until a notice of this kind was told; returns all.
#[track_caller]
fn wait_told(world: &World, kind: &str) -> Vec<Value> {
    wait_until(&format!("{kind} is told"), GENEROUS, || {
        // A line may be there in part only.
        let whole = world.read("told").ends_with('\n');
        let notices = if whole { told(world) } else { Vec::new() };
        if kinds(&notices).contains(&kind) { Ok(notices) } else { Err(format!("{notices:#?}")) }
    })
}

fn host(world: &World) -> Pid {
    let fleets = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let pid = fleets.as_array().unwrap().iter().find_map(|fleet| fleet["host_pid"].as_u64());
    Pid(u32::try_from(pid.expect("one has a host")).unwrap())
}

fn go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

#[test]
fn forty_failures_at_once_are_a_few_notices_and_the_end_of_all_is_one() {
    let world = World::new();
    tell(&world, "pwd >> where; echo \"$1 $FLEET_AGENT.\" >> how", "");
    let task = format!("{WAITS}; echo no room >&2; exit 3");
    let tasks = vec![task.as_str(); 40];
    let mut args = vec!["dispatch", "--agent", "sh", "-j", "40", "--name", "night"];
    args.extend(&tasks);
    world.fleet(&args).expect_code(0);
    wait_until("all run", GENEROUS, || {
        let fleets = world.fleet(&["ls", "--json"]).json();
        if fleets[0]["kpis"]["running"] == 40 { Ok(()) } else { Err(fleets.to_string()) }
    });
    go(&world);
    let notices = wait_told(&world, "done");
    let of_kinds = kinds(&notices);
    assert_eq!(of_kinds.last(), Some(&"done"), "{of_kinds:?}");
    let failed: Vec<&Value> = notices.iter().filter(|it| it["kind"] == "failed").collect();
    assert_eq!(failed.len() + 1, notices.len(), "{of_kinds:?}");
    assert!(failed.len() <= 4, "{of_kinds:?}");
    let count = |notice: &Value| {
        notice["agents"].as_array().unwrap().len() as u64 + notice["more_agents"].as_u64().unwrap()
    };
    assert_eq!(failed.iter().map(|notice| count(notice)).sum::<u64>(), 40, "each is told once");
    let agent = &failed[0]["agents"][0];
    assert_eq!((&agent["status"], &agent["agent"]), (&"failed".into(), &"sh".into()));
    assert_eq!(agent["reason"], "no room");
    assert!(failed[0]["text"].as_str().unwrap().contains("no room"), "{failed:?}");
    let end = notices.last().unwrap();
    assert_eq!((&end["version"], &end["name"]), (&1.into(), &"night".into()));
    assert_eq!((&end["kpis"]["failed"], &end["kpis"]["running"]), (&40.into(), &0.into()));
    assert!(end["text"].as_str().unwrap().starts_with("all 40 agents have ended, 40 not done"));
    assert_eq!(end["fleet"].as_str().unwrap(), world.only_fleet());
    let folder = world.work().canonicalize().unwrap();
    assert!(world.lines("where").iter().all(|line| *line == folder.display().to_string()));
    assert!(world.lines("how").iter().all(|line| line == "loud ."), "{:?}", world.lines("how"));
    world.end_fleets();
}

#[test]
fn the_cap_of_a_fleet_behind_the_scenes_is_told_once_and_so_is_its_end() {
    let world = World::new();
    tell(&world, "", "on = [\"cap\", \"done\"]");
    let costs = "echo '{\"fleet\":\"cost\",\"total_usd\":2.5}'";
    world
        .fleet(&["dispatch", "--agent", "sh", "-j", "1", "--cap", "2", costs, costs])
        .expect_code(0);
    let notices = wait_told(&world, "cap");
    assert_eq!(kinds(&notices), ["cap"]);
    let text = notices[0]["text"].as_str().unwrap();
    assert_eq!(text, "the cap of $2.00 is reached ($2.50 spent), 1 task waits for a higher one");
    assert_eq!(notices[0]["spent_usd"].to_string(), "2.5");
    world.fleet(&["cap", "10"]).expect_code(0);
    assert_eq!(kinds(&wait_told(&world, "done")), ["cap", "done"]);
    world.end_fleets();
}

#[test]
fn the_next_host_tells_what_happened_without_one_and_nothing_again() {
    let world = World::new();
    tell(&world, "", "");
    let last = "until [ -e end ]; do sleep 0.05; done";
    let args =
        ["dispatch", "--agent", "sh", "-j", "9", "exit 3", &format!("{WAITS}; exit 4"), last];
    world.fleet(&args).expect_code(0);
    let before = wait_told(&world, "failed");
    assert_eq!(before[0]["agents"][0]["id"], 1);
    let shim = world.shim(2);
    let host = host(&world);
    host.signal(Signal::KILL);
    host.wait_gone("the host");
    go(&world);
    shim.wait_gone("the shim of the second agent");
    world.fleet(&["resume", "-d"]).expect_code(0);
    std::fs::write(world.file("end"), "").unwrap();
    let notices = wait_told(&world, "done");
    assert_eq!(kinds(&notices), ["failed", "failed", "done"], "{notices:#?}");
    assert_eq!(notices[1]["agents"].as_array().unwrap().len(), 1, "{notices:#?}");
    assert_eq!(notices[1]["agents"][0]["id"], 2);
    let numbers: Vec<u64> = notices.iter().filter_map(|it| it["notice"].as_u64()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    world.end_fleets();
    // All has ended and was told: the next host has nothing to add.
    world.fleet(&["retry", "1"]).expect_code(0);
    world.fleet(&["wait"]).expect_code(1);
    world.end_fleets();
    assert_eq!(told(&world).len(), 5, "{:#?}", told(&world));
}

#[test]
fn a_run_in_the_foreground_ends_when_everything_was_told() {
    let world = World::new();
    tell(&world, "sleep 0.3", "");
    let ran = world.fleet(&["run", "--agent", "sh", "--json", "true", "exit 3"]).expect_code(1);
    ran.json();
    assert_eq!(ran.stderr.matches("notice").count(), 0, "{ran:#?}");
    let notices = told(&world);
    assert_eq!(kinds(&notices), ["failed", "done"]);
    assert_eq!(notices[1]["text"], "all 2 agents have ended, 1 not done: #2");
    world.assert_nothing_runs();
    // What waits for more of its kind is told as well when a run ends without its queue.
    std::fs::remove_file(world.file("told")).unwrap();
    let costs = "echo '{\"fleet\":\"cost\",\"total_usd\":2}'; exit 3";
    let args = ["run", "--agent", "sh", "-j", "1", "--cap", "1", "--on-cap", "hold", costs, "true"];
    world.fleet(&args).expect_code(3);
    let mut kinds = kinds(&told(&world)).iter().map(ToString::to_string).collect::<Vec<_>>();
    kinds.sort();
    assert_eq!(kinds, ["cap", "failed"]);
    world.assert_nothing_runs();
}

#[test]
fn a_program_that_hangs_or_fails_is_ended_and_said_and_stops_nothing() {
    let world = World::new();
    let file = program(&world, "trap '' TERM; sleep 1000 & sleep 1000; sleep 1000");
    let command = |program: &str, limit: &str| {
        format!("[notices]\ncommand = [\"{program}\"]\ntime_limit = \"{limit}\"\n")
    };
    configure(&world, &command(file.to_str().unwrap(), "500ms"));
    let ran = world.fleet(&["run", "--agent", "sh", "true"]).expect_code(0);
    let why = "it was not done within 0.5 s";
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("a notice was not told: ") && said.contains(why), "{said}");
    world.assert_nothing_runs();
    for (program, why) in [
        ("no-such-program-here", "it could not be started: No such file or directory"),
        ("false", "it ended with exit code 1"),
    ] {
        configure(&world, &command(program, "10s"));
        let ran = world.fleet(&["run", "--agent", "sh", "true"]).expect_code(0);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(&format!("told: {program}: {why}")), "{said}");
        world.fleet(&["dispatch", "--new", "--agent", "sh", "true"]).expect_code(0);
        let host = host(&world);
        let log = wait_until("the host's log says so", GENEROUS, || {
            let logs = world.fleets().into_iter();
            let logs = logs.filter_map(|it| std::fs::read_to_string(it.join("host.log")).ok());
            let all = logs.collect::<String>();
            if all.contains(why) { Ok(all) } else { Err(all) }
        });
        assert_eq!(log.matches(why).count(), 1, "{log}");
        assert!(log.contains("a notice was not told: "), "{log}");
        host.signal(Signal::TERM);
        host.wait_gone("the host");
        world.assert_nothing_runs();
    }
    configure(&world, "[notices]\ncomand = \"x\"\n");
    world.fleet(&["run", "--agent", "sh", "true"]).expect_code(2);
}

/// The text is longer than a pipe holds.
#[test]
fn a_program_that_does_not_read_is_no_trouble() {
    let world = World::new();
    let file = program(&world, "echo told >> runs; sleep 0.3");
    configure(&world, &format!("[notices]\ncommand = \"{}\"\non = \"failed\"\n", file.display()));
    let long = "長".repeat(600);
    let task = format!("# {long}\necho {long} >&2; exit 3");
    let mut args = vec!["run", "--agent", "sh", "-j", "40"];
    args.extend(std::iter::repeat_n(task.as_str(), 36));
    let ran = world.fleet(&args).expect_code(1);
    assert!(!world.lines("runs").is_empty());
    assert!(!ran.stderr.contains("notice"), "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn what_is_told_when_its_host_is_killed_ends_in_its_time_all_the_same() {
    let world = World::new();
    let file = program(&world, "echo $$ >> runs; sleep 1000 & setsid sleep 1000 & wait");
    let text = format!("[notices]\ncommand = \"{}\"\ntime_limit = \"3s\"\n", file.display());
    configure(&world, &text);
    world.fleet(&["dispatch", "--agent", "sh", "true"]).expect_code(0);
    world.wait_lines("runs", 1);
    let host = host(&world);
    host.signal(Signal::KILL);
    host.wait_gone("the host");
    world.assert_nothing_runs();
    assert_eq!(world.lines("runs").len(), 1);
}

#[test]
fn nobody_is_told_of_a_fleet_inside_of_an_agent() {
    let world = World::new();
    tell(&world, "", "");
    let fleet = env!("CARGO_BIN_EXE_fleet");
    let inner = format!("'{fleet}' run --max-depth 2 --agent sh 'exit 3'; echo $? > code");
    world.fleet(&["run", "--agent", "sh", &inner]).expect_code(0);
    assert_eq!(world.read("code"), "1\n");
    assert_eq!(kinds(&told(&world)), ["done"], "{:#?}", told(&world));
    world.assert_nothing_runs();
}

#[cfg(feature = "tui")]
const BELL: &str = "\x07";

#[cfg(feature = "tui")]
#[test]
fn the_terminal_of_a_screen_rings_and_notifies_whoever_looks_elsewhere() {
    let mut world = World::new();
    configure(&world, "[notices]\nosc9 = true\n");
    let name = "night\u{7}\u{1b}]0;title\u{7}ly";
    let args = ["--agent", "sh", "--name", name, &format!("{WAITS}; exit 3")];
    let first = Terminal::start(&world, &args, 24, 80);
    first.wait_for("1 running");
    let screens = [first, Terminal::start(&world, &["attach"], 24, 80)];
    for screen in &screens {
        screen.wait_for("1 running");
        assert!(!screen.written().contains(BELL), "{:?}", screen.written());
    }
    go(&world);
    for screen in &screens {
        screen.wait_written("\x1b]9;fleet nightly: the agent has ended, and is not done\x07", 1);
        screen.wait_written("\x1b]9;fleet nightly: #1 failed: exit code 3", 1);
        screen.wait_written(BELL, 3);
    }
    drop(screens);
    world.end_fleets();
    world.set("TMUX", "/nowhere,1,0");
    let screen = Terminal::start(&world, &["--new", "--agent", "sh", "sleep 0.1"], 24, 80);
    screen.wait_written("\x1bPtmux;\x1b\x1b]9;fleet ", 1);
    drop(screen);
    world.end_fleets();
}

#[cfg(feature = "tui")]
#[test]
fn who_looks_at_the_screen_hears_nothing() {
    let world = World::new();
    configure(&world, "[notices]\nosc9 = true\n");
    let screen = Terminal::start(&world, &["--agent", "sh", WAITS], 24, 80);
    screen.wait_for("1 running");
    screen.send("\x1b[I");
    screen.send("\x1b");
    // The key was taken, so the focus before it was as well.
    screen.wait_for("new task");
    go(&world);
    screen.wait_for("1 done");
    assert!(!screen.written().contains(BELL) && !screen.written().contains("\x1b]9;"));
    drop(screen);
    world.end_fleets();
}

#[cfg(feature = "tui")]
#[test]
fn a_run_on_a_terminal_rings_only_where_it_was_asked_to() {
    let world = World::new();
    for (text, bells) in [("", 0), ("[notices]\nbell = true\non = \"done\"\n", 1)] {
        configure(&world, text);
        let mut run = Terminal::start(&world, &["run", "--agent", "sh", "true", "exit 3"], 24, 80);
        assert_eq!(run.end(), 1);
        run.wait_written("exit code 3", 1);
        assert_eq!(run.written().matches(BELL).count(), bells, "{:?}", run.written());
    }
    world.assert_nothing_runs();
}
