//! `fleet show` and the blocks of `fleet results` with the real binary, against live, held, hostless and ended fleets.

use loki_fleet::core::FleetOptions;
use loki_fleet::journal::StateDir;
use loki_fleet::start::find_or_make;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{GENEROUS, Pid, World, wait_until};

/// Says that it runs, waits for the word.
const WAITS: &str = "echo ran >> ran; until [ -e go ]; do sleep 0.02; done; echo answer of one";
/// Costs two dollars.
const COSTS: &str = r#"echo '{"fleet":"cost","total_usd":2}'"#;

fn go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

fn dispatch(world: &World, more: &[&str]) {
    world.fleet(&[&["dispatch", "--agent", "sh"], more].concat()).expect_code(0);
}

#[track_caller]
fn end_host(world: &World, how: Signal) {
    let listed = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let pids = listed.as_array().unwrap().iter().find_map(|fleet| fleet["host_pid"].as_u64());
    let host = Pid(u32::try_from(pids.unwrap_or_else(|| panic!("no host: {listed:#}"))).unwrap());
    host.signal(how);
    host.wait_gone("the host");
}

#[track_caller]
fn shown(world: &World) -> Value {
    world.fleet(&["show", "--json"]).expect_code(0).json()
}

fn statuses(shown: &Value) -> Vec<&str> {
    let agents = shown["agents"].as_array().unwrap();
    agents.iter().map(|agent| agent["status"].as_str().unwrap()).collect()
}

/// C-127.
#[test]
fn a_live_a_hostless_and_an_ended_fleet_are_shown_as_they_stand() {
    let world = World::new();
    let state = StateDir::open(Some(&world.state())).unwrap();
    let options = FleetOptions::default();
    let empty = find_or_make(&state, &world.work(), options, Vec::new(), true).unwrap().dir;
    let empty = world.fleet(&["show", &empty.id().0, "--json"]).expect_code(0).json();
    assert_eq!((&empty["count"], &empty["note"]), (&0.into(), &"no agents yet".into()));

    dispatch(&world, &["--new", "-j", "1", "--name", "night", WAITS, "true"]);
    world.wait_lines("ran", 1);
    let live = shown(&world);
    assert_eq!(
        (&live["state"], &live["has_host"], &live["name"]),
        (&"live".into(), &true.into(), &"night".into())
    );
    assert_eq!(statuses(&live), ["running", "queued"]);
    assert_eq!(live["agents"][1]["why"], "queued · waits: slot");
    let agent = &live["agents"][0];
    assert_eq!((&agent["id"], &agent["task"]), (&1.into(), &WAITS.into()));
    assert_eq!(agent["accepts_steer"], false);
    assert!(agent["running_seconds"].as_f64().is_some() && agent["log"].is_string(), "{agent:#}");
    let people = world.fleet(&["show"]).expect_code(0);
    assert!(people.stdout.contains("host: process ") && people.stdout.contains("waits: slot"));
    people.assert_no_escapes();

    end_host(&world, Signal::KILL);
    let hostless = shown(&world);
    assert_eq!((&hostless["state"], &hostless["host_pid"]), (&"hostless".into(), &Value::Null));
    assert_eq!(statuses(&hostless), ["running", "queued"]);
    let people = world.fleet(&["show"]).expect_code(0).stdout;
    assert!(people.contains("nobody watches it (`fleet attach "), "{people}");

    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    end_host(&world, Signal::TERM);
    let ended = shown(&world);
    assert_eq!((&ended["state"], statuses(&ended)), (&"ended".into(), vec!["done", "done"]));
    let one = world.fleet(&["show", "1"]).expect_code(0).stdout;
    for part in ["#1 · set 1 · 1/2 · sh · done", "  Task: echo ran", "  Log: /"] {
        assert!(one.contains(part), "{part:?} in {one}");
    }
    world.fleet(&["show", "9"]).expect_code(2);
    world.fleet(&["show", "nowhere"]).expect_code(4);
    world.end_fleets();
}

#[test]
fn a_held_fleet_says_why_and_what_lets_it_go_on() {
    let world = World::new();
    dispatch(&world, &["-j", "1", "--cap", "1", COSTS, "true"]);
    world.fleet(&["wait"]).expect_code(3);
    let check = |what: &str| {
        let held = shown(&world);
        assert_eq!((&held["state"], &held["hold"]), (&"held".into(), &"cap".into()), "{what}");
        let people = world.fleet(&["show"]).expect_code(0).stdout;
        assert!(
            people.contains("1 task held at the cap of $1.00: `fleet cap USD --fleet "),
            "{people}"
        );
    };
    check("with a host");
    end_host(&world, Signal::TERM);
    check("without one");
    world.end_fleets();
}

#[test]
fn a_fleet_whose_host_hangs_is_shown_all_the_same() {
    let world = World::new();
    dispatch(&world, &[WAITS]);
    world.wait_lines("ran", 1);
    let pid = world.fleet(&["ls", "--json"]).json()[0]["host_pid"].as_u64().unwrap();
    let host = Pid(u32::try_from(pid).unwrap());
    host.signal(Signal::STOP);
    assert_eq!(statuses(&shown(&world)), ["running"]);
    host.signal(Signal::CONT);
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

#[test]
fn a_batch_is_one_block_whole_compact_and_for_machines() {
    let world = World::new();
    let long = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; \
                printf '{\"completed\":true,\"answer\":\"%s\",\"steps\":1}' \"$(seq -s, 3000)\"";
    dispatch(&world, &["--origin", "nightly", long, "echo got so far; exit 3"]);
    dispatch(&world, &["exit 7", "exit 7"]);
    world.fleet(&["wait"]).expect_code(1);
    let ended = wait_until("all have ended", GENEROUS, || {
        let seen = shown(&world);
        if seen["kpis"]["done"] == 1 { Ok(seen) } else { Err(format!("{seen:#}")) }
    });
    assert_eq!(statuses(&ended), ["done", "failed", "failed", "failed"]);

    let whole = world.fleet(&["results"]).expect_code(0).stdout;
    let (first, second) = whole.split_once("\n\n=== set 2 · deleg_").unwrap();
    for part in [
        "=== set 1 · deleg_",
        "Origin: nightly",
        "characters left out; all of it: /",
        "Partial output:",
        "got so far",
    ] {
        assert!(first.contains(part), "{part:?} in {first}");
    }
    assert!(second.contains("All 2 tasks failed for one reason: exit code 7"), "{second}");
    assert_eq!(second.matches("exit code 7").count(), 1, "{second}");

    let lines = world.fleet(&["results", "--compact"]).expect_code(0).stdout;
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(lines.contains("✗ [set 2 · 2/2] exit 7 (0s) — exit code 7"), "{lines}");
    assert_eq!(world.fleet(&["results", "set:2", "--compact"]).stdout.lines().count(), 2);

    let blocks = world.fleet(&["results", "--compact", "--json"]).expect_code(0).json();
    assert_eq!(blocks["batches"].as_array().unwrap().len(), 2);
    let (one, two) = (&blocks["batches"][0], &blocks["batches"][1]);
    assert_eq!((&one["status"], &one["origin"]), (&"completed".into(), &"nightly".into()));
    assert_eq!((&two["status"], &two["cause"]), (&"error".into(), &"exit code 7".into()));
    let task = &one["tasks"][0];
    assert_eq!(task["answer_cut"], true);
    assert!(task["answer"].as_str().unwrap().chars().count() < 4_300, "{task:#}");
    let full = std::fs::read_to_string(task["out"].as_str().unwrap()).unwrap();
    assert!(full.contains("1499,1500,1501"), "the whole of it is where it says");
    assert_eq!(
        (&one["tasks"][1]["partial"], &one["tasks"][1]["answer"]),
        (&true.into(), &"got so far".into())
    );

    let id = two["id"].as_str().unwrap();
    let summary = world.fleet(&["results", id, "--json"]).expect_code(0).json();
    assert_eq!(summary["agents"].as_array().unwrap().len(), 2);
    let fleet = world.only_fleet();
    let named = world.fleet(&["results", &fleet, "set:2", "--json"]).expect_code(0).json();
    assert_eq!(named["agents"], summary["agents"]);
    world.end_fleets();
}

/// What its agents did and cost is not nothing because nobody can read it, and prune deletes nothing of it.
#[test]
fn a_fleet_whose_journal_has_lost_its_agents_is_damaged_and_not_ended() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "echo a", "exit 3"]).expect_code(1);
    let fleet = world.fleets().remove(0);
    let journal = fleet.join("journal.jsonl");
    let whole = std::fs::read_to_string(&journal).unwrap();
    let first = whole.lines().next().unwrap();
    for left in [String::new(), format!("{first}\n")] {
        std::fs::write(&journal, left).unwrap();
        let listed = world.fleet(&["ls"]);
        assert!(listed.stderr.contains("journal.jsonl is damaged"), "{listed:#?}");
        assert!(!listed.stdout.contains("$0.0000"), "{listed:#?}");
        let shown = world.fleet(&["show", "--fleet", &world.only_fleet()]).expect_code(4);
        assert!(shown.stderr.contains("knows nothing of agent"), "{shown:#?}");
        world.fleet(&["prune", "--older-than", "0s"]);
        assert!(fleet.is_dir());
    }
    std::fs::write(&journal, whole).unwrap();
    world.fleet(&["show", "--fleet", &world.only_fleet()]).expect_code(0);
}
