//! Holds of single agents with the real binary: a fleet that lives, one whose host was killed, one that has come to its
//! end but for them.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{GENEROUS, Live, World, wait_until};

/// A task that says that it runs and waits for a file.
const WAITS: &str = "echo first >> ran; until [ -e go ]; do sleep 0.02; done";

/// Starts a fleet of one agent at a time, whose first one runs until there is a file `go`; the others say their number.
fn running(world: &World) -> Live<'_> {
    let tasks: Vec<String> = (2..=5).map(|number| format!("echo {number} >> ran")).collect();
    let mut args = vec!["run", "--json", "--agent", "sh", "-j", "1", WAITS];
    args.extend(tasks.iter().map(String::as_str));
    let live = world.start(&args);
    world.wait_lines("ran", 1);
    live
}

fn let_go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

fn held(agents: &Value) -> Vec<u64> {
    let agents = agents["agents"].as_array().unwrap();
    let are = agents.iter().filter(|agent| agent["held"] == json!(true));
    are.map(|agent| agent["id"].as_u64().unwrap()).collect()
}

#[test]
fn held_agents_are_passed_over_and_a_run_ends_without_them() {
    let world = World::new();
    let live = running(&world);
    let id = world.only_fleet();
    let said = world.fleet(&["hold", "2", "4-5"]).expect_code(0).stdout;
    assert_eq!(
        said,
        format!(
            "#2, #4, #5 are held in fleet {id}: `fleet release 2,4-5 --fleet {id}` lets them start\n"
        )
    );
    let json = world.fleet(&["release", "5", "1", "--json"]).expect_code(0).json();
    assert_eq!((&json["status"], &json["agents"]), (&json!("released"), &json!([5])));
    assert_eq!(json["left_out"], json!([{ "agent": 1, "why": "has started" }]));
    let again = world.fleet(&["release", "5"]).expect_code(0).stdout;
    assert!(again.starts_with("#5 is not held in fleet"), "{again}");
    let refused = world.fleet(&["hold", "1"]).expect_code(2);
    assert!(refused.stderr.contains("#1 has started"), "{refused:?}");
    let shown = world.fleet(&["show"]).expect_code(0).stdout;
    assert_eq!(shown.matches("queued · waits: held").count(), 2, "{shown}");
    assert_eq!(held(&world.fleet(&["show", "--json"]).expect_code(0).json()), [2, 4]);
    let_go(&world);
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["done", "queued", "done", "queued", "done"], "{ran:#?}");
    assert_eq!(held(&ran.json()), [2, 4]);
    assert_eq!(world.lines("ran"), ["first", "3", "5"]);
    // The fleet has no host and is not over.
    let stuck = format!("2 tasks held: `fleet release 2,4 --fleet {id}` lets them start");
    let waited = world.fleet(&["wait"]).expect_code(1);
    assert!(waited.stderr.contains(&stuck), "{waited:?}");
    // What is released starts behind, and what is not is left.
    let said = world.fleet(&["release", "4"]).expect_code(0).stdout;
    assert!(said.starts_with(&format!("#4 is released in fleet {id}")), "{said}");
    world.wait_lines("ran", 4);
    let resumed = world.fleet(&["wait", "4"]).expect_code(0);
    assert!(!resumed.stderr.contains("#2"), "{resumed:?}");
    world.fleet(&["release", "all"]).expect_code(0);
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.lines("ran"), ["first", "3", "5", "4", "2"]);
    world.end_fleets();
}

#[test]
fn a_hold_outlives_the_host_and_is_decided_without_one() {
    let world = World::new();
    let mut live = running(&world);
    world.fleet(&["hold", "2"]).expect_code(0);
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    drop(live);
    world.fleet(&["hold", "3"]).expect_code(0);
    assert_eq!(held(&world.fleet(&["results", "--json"]).json()), [2, 3]);
    assert_eq!(world.lines("ran"), ["first"], "nothing was started");
    let_go(&world);
    let ran = world.fleet(&["resume", &world.only_fleet()]).expect_code(1);
    assert_eq!(world.lines("ran"), ["first", "4", "5"]);
    assert!(ran.stdout.contains("2 tasks held: `fleet release 2-3"), "{ran:?}");
    // Whatever else is let go, these were held by themselves.
    world.fleet(&["release"]).expect_code(0);
    world.fleet(&["wait"]).expect_code(1);
    assert_eq!(world.lines("ran").len(), 3);
    world.fleet(&["stop", "all"]).expect_code(0);
    let results = world.fleet(&["results", "--json"]);
    let statuses = results.column("status");
    assert_eq!(statuses, ["done", "cancelled", "cancelled", "done", "done"], "{results:#?}");
    world.end_fleets();
}

/// It has not failed at anything, and at the cap it is no work that is left because of it.
#[test]
fn the_cap_does_not_end_what_is_held() {
    let world = World::new();
    let costs = r#"until [ -e go ]; do sleep 0.02; done; echo '{"fleet":"cost","total_usd":2}'"#;
    let tasks = [WAITS, costs, "echo 3 >> ran", "echo 4 >> ran"];
    let mut args =
        vec!["run", "--json", "--agent", "sh", "-j", "2", "--cap", "1", "--on-cap", "drop"];
    args.extend(tasks);
    let live = world.start(&args);
    world.wait_lines("ran", 1);
    world.fleet(&["hold", "4"]).expect_code(0);
    let_go(&world);
    let ran = live.end();
    let statuses = ran.column("status");
    // The third may have started before what the second has spent was read.
    assert!(["done", "dropped"].contains(&statuses[2].as_str()), "{statuses:?}");
    assert_eq!((statuses[0].as_str(), statuses[3].as_str()), ("done", "queued"), "{statuses:?}");
}
