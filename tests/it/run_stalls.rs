//! Agents that are stopped because they make no progress: asked, a grace of their own, and whose word counts then.

use std::time::Duration;

use loki_fleet::core::FleetOptions;
use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, World, wait_until};

/// Does this when it is asked to end, and until then nothing once it has said that it is up.
fn asked(what: &str) -> String {
    format!("trap '{what}' TERM; echo up >> ups; echo up; while :; do sleep 0.05; done")
}

/// Starts tasks that are asked to end soon, and have this grace then.
fn start<'a>(world: &'a World, grace: &str, tasks: &[&str]) -> Live<'a> {
    let mut args = vec!["run", "--json", "-j", "8", "--stale", "2s", "--stale-tool", "2s"];
    args.extend(["--stale-stop", "--stale-grace", grace, "--grace", "1s", "--agent", "sh"]);
    args.extend(tasks);
    let live = world.start(&args);
    world.wait_lines("ups", tasks.len());
    live
}

#[track_caller]
fn kill(mut live: Live<'_>) {
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
}

/// C-102: 120 s is what it gets unless somebody says otherwise, as here.
#[test]
fn a_stalled_agent_is_asked_once_and_its_own_end_counts_until_its_grace_is_over() {
    assert_eq!(FleetOptions::default().stale_grace, Duration::from_mins(2));
    let world = World::new();
    // Longer than the usual grace.
    let done = asked("sleep 3; echo answer; exit 0");
    let failed = asked("echo broken >&2; exit 3");
    let stubborn = asked("echo asked >> asked");
    let step = r#"{"fleet":"step","tool":"bash","text":"make","state":"start"}"#;
    let in_tool = format!("echo '{step}'; {stubborn}");
    let obedient = "echo up >> ups; exec sleep 1000";
    let live = start(&world, "20s", &[&done, &failed, &stubborn, &in_tool, obedient]);
    let mut seen = None;
    wait_until("the stubborn ones are stopping", GENEROUS, || {
        let shown = world.fleet(&["show", "--json", "3"]);
        let agent = shown.json()["agents"][0].clone();
        if agent["status"] == "stopping" {
            seen = Some(agent["why"].as_str().unwrap_or_default().to_owned());
            return Ok(());
        }
        Err(shown.stdout)
    });
    let seen = seen.unwrap();
    assert!(seen.starts_with("stopping: stalled, asked "), "{seen}");
    let shown = world.fleet(&["show", "3"]).expect_code(0).stdout;
    let why = "asked to end";
    assert!(
        shown.contains(why) && shown.contains("(limit 2s, between tools, grace 20s)"),
        "{shown}"
    );
    let ran = live.end().expect_code(1);
    world.assert_no_agent_runs_now();
    let statuses = ran.column("status");
    assert_eq!(statuses, ["done", "failed", "stalled", "stalled", "stalled"], "{ran:#?}");
    assert_eq!(ran.column("exit_code")[..2], ["0", "3"], "{ran:#?}");
    let errors = ran.column("error");
    assert_eq!(errors[..2], ["", "broken"]);
    let ends = [
        "(limit 2s, between tools, grace 20s); it had to be killed",
        "(limit 2s, in bash, grace 20s); it had to be killed",
        "(limit 2s, between tools, grace 20s); it ended when it was asked to, without a result",
    ];
    for (error, end) in errors[2..].iter().zip(ends) {
        assert!(error.starts_with("no progress for ") && error.ends_with(end), "{error}");
    }
    assert_eq!(world.lines("asked").len(), 2, "each of the two was asked once");
    world.assert_nothing_runs();
}

#[test]
fn the_grace_of_a_stalled_agent_goes_on_without_a_host() {
    let world = World::new();
    let done = asked("echo asked >> asked; sleep 3; until [ -e go ]; do sleep 0.05; done; exit 0");
    let stubborn = asked("echo asked >> asked");
    let live = start(&world, "20s", &[&done, &stubborn]);
    world.wait_lines("asked", 2);
    kill(live);
    std::fs::write(world.file("go"), "").unwrap();
    world.assert_nothing_runs();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(1);
    assert_eq!(ran.column("status"), ["done", "stalled"], "{ran:#?}");
    assert!(ran.column("error")[1].ends_with("grace 20s); it had to be killed"), "{ran:#?}");
    assert_eq!(world.lines("asked").len(), 2);
}

/// A word more would cut it short, or kill it.
#[test]
fn another_host_leaves_a_stalled_agent_its_grace() {
    let world = World::new();
    let task = asked("echo asked >> asked; sleep 3; until [ -e go ]; do sleep 0.05; done; exit 0");
    let live = start(&world, "10m", &[&task]);
    world.wait_lines("asked", 1);
    kill(live);
    let resumed = world.start(&["resume", "--json", &world.only_fleet()]);
    wait_until("the second host has adopted it", GENEROUS, || {
        if resumed.stderr().is_empty() { Err("silence".to_owned()) } else { Ok(()) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = resumed.end().expect_code(0);
    assert_eq!(ran.column("status"), ["done"], "{ran:#?}");
    assert_eq!(world.lines("asked").len(), 1);
}

#[test]
fn a_stop_cuts_the_grace_of_a_stalled_agent_short_with_and_without_a_host() {
    for has_host in [true, false] {
        let world = World::new();
        let task = asked("echo asked >> asked");
        let live = start(&world, "10m", &[&task]);
        world.wait_lines("asked", 1);
        let mut live = Some(live);
        if !has_host {
            live.take().map(kill);
        }
        world.fleet(&["stop", "1"]).expect_code(0);
        world.wait_lines("asked", 2);
        if let Some(live) = live {
            live.end().expect_code(1);
        }
        world.assert_nothing_runs();
        let results = world.fleet(&["results", "--json"]);
        assert_eq!(results.column("status"), ["cancelled"], "{results:#?}");
        assert_eq!(world.lines("asked").len(), 2, "asked, and asked once more, then killed");
    }
}
