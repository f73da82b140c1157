//! Agents that wait for input that they cannot get. Only where it can be told what a tree of processes does.
#![cfg(target_os = "linux")]

use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, World, wait_until};

/// Waits until agents are said to wait for input, each with its question.
#[track_caller]
fn wait_for_marks(live: &Live<'_>, marks: &[&str]) {
    wait_until("the marks", GENEROUS, || {
        let said = live.stderr();
        let is_said = marks.iter().all(|mark| said.lines().any(|line| line.contains(mark)));
        if is_said { Ok(()) } else { Err(said) }
    });
}

#[test]
fn an_agent_that_asks_and_does_nothing_is_marked_and_one_that_works_or_asks_nothing_is_not() {
    let world = World::new();
    // Those that must not be marked are silent for longer than those that must.
    let works = "printf 'Password: '; while :; do :; done";
    let told = "printf 'Password: \\n'; echo Name? >&2; exec sleep 1000";
    let asks = "sleep 3; printf 'Password: '; sleep 1000";
    let asks_aside = "sleep 3; echo one; printf 'Go on? [y/N]' >&2; exec sleep 1000";
    let args = ["run", "--json", "-j", "4", "--agent", "sh", works, told, asks, asks_aside];
    let mut live = world.start(&args);
    let marks = ["#3 waits for input? \"Password:\"", "#4 waits for input? \"Go on? [y/N]\""];
    wait_for_marks(&live, &marks);
    let check_others = |live: &Live<'_>| {
        let said = live.stderr();
        for id in ["#1", "#2"] {
            assert!(!said.contains(&format!("{id} waits for input?")), "{said}");
        }
    };
    check_others(&live);
    // It stands in the output, so that another host finds it out as well.
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    let live = world.start(&["resume", "--json", &world.only_fleet()]);
    wait_for_marks(&live, &marks);
    check_others(&live);
    world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled"; 4], "a mark stops nobody: {ran:#?}");
    world.assert_nothing_runs();
}
