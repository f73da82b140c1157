//! Every subcommand beside a fleet that is live, held, hostless, ended, or not there: what it answers, in text and in JSON.
//!
//! What may go here: that each has an answer, and its exit code. What may not: what the answers say (the tests of each).

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Live, Ran, World};

/// How a fleet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    Held,
    Hostless,
    Ended,
    NotThere,
}

/// Subcommands, each with its exit codes beside a fleet that is live, held, hostless, ended and not there.
const TABLE: &[(&[&str], [i32; 5])] = &[
    (&["ls"], [0, 0, 0, 0, 0]),
    (&["show"], [0, 0, 0, 0, 4]),
    (&["show", "1"], [0, 0, 0, 0, 4]),
    (&["results"], [0, 0, 0, 0, 4]),
    (&["results", "--compact"], [0, 0, 0, 0, 4]),
    (&["logs", "1"], [0, 0, 0, 0, 4]),
    (&["wait", "--timeout", "10ms"], [124, 130, 124, 0, 4]),
    (&["hold"], [0, 0, 0, 4, 4]),
    (&["release"], [0, 0, 0, 4, 4]),
    (&["cap", "9"], [0, 0, 0, 4, 4]),
    (&["stop", "1"], [0, 0, 0, 0, 4]),
    (&["stop", "all"], [0, 0, 0, 0, 4]),
    (&["stop"], [2, 2, 2, 2, 2]),
    (&["stop", "99"], [2, 2, 2, 2, 4]),
    (&["steer", "1", "more"], [2, 2, 2, 2, 4]),
    (&["steer", "99", "more"], [2, 2, 2, 2, 4]),
    (&["retry", "failed"], [0, 0, 0, 0, 4]),
    (&["retry", "99"], [2, 2, 2, 2, 4]),
    (&["resume", "-d"], [4, 0, 0, 4, 4]),
    (&["dispatch", "--agent", "sh", "true"], [0, 0, 0, 0, 0]),
    (&["attach"], [2, 2, 2, 2, 2]),
    (&["prune"], [0, 0, 0, 0, 0]),
    (&["trust"], [2, 2, 2, 2, 2]),
    (&["completions", "bash"], [0, 0, 0, 0, 0]),
    (&["man"], [0, 0, 0, 0, 0]),
    (&["doctor"], [1, 1, 1, 1, 1]),
];

/// Makes a fleet of two tasks, of which the first has begun, in a state.
fn fleet(world: &World, state: State) -> Option<Live<'_>> {
    let waits = "echo out; echo ran >> ran; until [ -e go ]; do sleep 0.02; done";
    let start = || {
        let live = world.start(&["run", "--agent", "sh", "-j", "1", waits, "echo b"]);
        world.wait_lines("ran", 1);
        live
    };
    match state {
        State::Live => return Some(start()),
        State::Held => {
            let live = start();
            live.signal(Signal::INT);
            live.end().expect_code(130);
        }
        State::Hostless => start().signal(Signal::KILL),
        State::Ended => {
            drop(world.fleet(&["run", "--agent", "sh", "echo out", "true"]).expect_code(0));
        }
        State::NotThere => {}
    }
    None
}

/// Returns what is wrong with an answer. What goes wrong is one sentence for people, and nothing for machines.
fn fault(args: &[&str], ran: &Ran, code: i32) -> Option<&'static str> {
    let text = args.first().is_some_and(|name| matches!(*name, "completions" | "man"));
    let lines = ran.stderr.lines().filter(|line| line.starts_with("fleet: ")).count();
    if (ran.code, ran.signal) != (Some(code), None) {
        Some("ended otherwise")
    } else if format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}') {
        Some("has escape sequences")
    } else if matches!(code, 2 | 4) {
        (!ran.stdout.is_empty() || lines != 1).then_some("is not one sentence on stderr")
    } else if args.contains(&"--json") && !text {
        serde_json::from_str::<Value>(&ran.stdout).err().map(|_| "is no JSON")
    } else {
        (ran.stdout.is_empty() && ran.stderr.is_empty()).then_some("says nothing")
    }
}

/// Each runs beside a fleet of its own, since it may change it.
#[track_caller]
fn every_subcommand_beside(state: State) {
    let mut wrong = Vec::new();
    for (args, codes) in TABLE {
        for is_json in [false, true] {
            let world = World::new();
            let live = fleet(&world, state);
            let mut args = args.to_vec();
            if is_json {
                args.push("--json");
            }
            let ran = world.fleet(&args);
            let code = codes[state as usize];
            if let Some(fault) = fault(&args, &ran, code) {
                wrong.push(format!("{args:?} {state:?} {fault} (expected {code}): {ran:#?}"));
            }
            std::fs::write(world.file("go"), "").unwrap();
            drop(live.map(Live::end));
            world.end_fleets();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_subcommand_has_an_answer_beside_a_live_fleet() {
    every_subcommand_beside(State::Live);
}

#[test]
fn every_subcommand_has_an_answer_beside_a_held_fleet() {
    every_subcommand_beside(State::Held);
}

#[test]
fn every_subcommand_has_an_answer_beside_a_hostless_fleet() {
    every_subcommand_beside(State::Hostless);
}

#[test]
fn every_subcommand_has_an_answer_beside_an_ended_fleet() {
    every_subcommand_beside(State::Ended);
}

#[test]
fn every_subcommand_has_an_answer_without_a_fleet() {
    every_subcommand_beside(State::NotThere);
}

/// One that is added is added here as well.
#[test]
fn the_table_has_every_subcommand_that_the_help_names() {
    let help = World::new().fleet(&["--help"]).expect_code(0).stdout;
    let named = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let named: Vec<&str> = named
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(named.len() > 15, "{help}");
    // They have fleets of their own, with the screen or without.
    let own = ["run", "demo"];
    for name in named.iter().filter(|name| !own.contains(name)) {
        assert!(TABLE.iter().any(|(args, _)| args.first() == Some(name)), "{name}");
    }
}
