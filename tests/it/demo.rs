//! Recorded agents: what plays one, and a whole fleet of them.
//!
//! What may go here: the real binary playing recordings. What may not: when the cap is reached, which is tested beside
//! the recordings on a clock of its own.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use loki_fleet::core::{Answer, CostStatus, FleetOptions, NanoUsd, Outcome, Row, Status};
use loki_fleet::demo::{Player, Recording, What};
use loki_fleet::journal::StateDir;
use loki_fleet::runtime::LocalFleet;
use loki_fleet::supervise::Launcher;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::harness::{GENEROUS, World, wait_until};

const BINARY: &str = env!("CARGO_BIN_EXE_fleet");

/// What a recording has for stdout, or for stderr.
fn recorded(recording: Recording, is_err: bool) -> String {
    let entries = recording.entries().unwrap().into_iter();
    let texts = entries.filter_map(|entry| match entry.what {
        What::Out(text) => Some(text).filter(|_| !is_err),
        What::Err(text) => Some(text).filter(|_| is_err),
        What::Exit(_) | What::Killed(_) => None,
    });
    texts.collect()
}

#[test]
fn a_recording_is_printed_byte_for_byte_and_ends_as_it_was_recorded() {
    for recording in Recording::ALL {
        let output = Command::new(BINARY)
            .args(["replay", recording.name, "--speed", "10000"])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), recorded(recording, false));
        assert_eq!(String::from_utf8_lossy(&output.stderr), recorded(recording, true));
        let end = recording.entries().unwrap().pop().unwrap().what;
        let wanted = match end {
            What::Exit(code) => (Some(code.into()), None),
            What::Killed(signal) => (None, Some(signal.as_raw())),
            What::Out(_) | What::Err(_) => panic!("{}: {end:?}", recording.name),
        };
        assert_eq!((output.status.code(), output.status.signal()), wanted, "{}", recording.name);
    }
}

/// The recording is silent for twenty seconds at this speed when the signal comes.
#[test]
fn a_recording_waits_as_long_as_the_agent_did_and_is_ended_by_a_signal_at_once() {
    let world = World::new();
    let live = world.start(&["replay", "slow-import", "--speed", "2"]);
    wait_until("it waits for the lock", GENEROUS, || {
        let err = live.stderr();
        if err.contains("waiting for the lock") { Ok(()) } else { Err(err) }
    });
    live.signal(Signal::TERM);
    let ran = live.end();
    assert_eq!((ran.code, ran.signal), (None, Some(Signal::TERM.as_raw())), "{ran:#?}");
    assert!(ran.stdout.contains("rows   2000") && !ran.stdout.contains("lock released"));
}

#[test]
fn a_recording_that_is_not_there_is_refused_with_those_that_are() {
    let world = World::new();
    let ran = world.fleet(&["replay", "nosuch"]).expect_code(2);
    assert!(ran.stderr.contains("changelog, flaky-test, metrics"), "{ran:#?}");
    assert_eq!(ran.stderr.lines().count(), 1);
}

/// Whoever asks for the kind by name learns how to see it.
#[test]
fn recorded_agents_cannot_be_run_outside_of_the_demo() {
    let world = World::new();
    let ran = world.fleet(&["run", "--agent", "demo", "x"]).expect_code(2);
    assert!(ran.stderr.contains("run fleet demo"), "{ran:#?}");
    let help = world.fleet(&["run", "--agent", "nosuch", "x"]).expect_code(2);
    assert!(!help.stderr.contains("demo"), "it is offered: {help:#?}");
}

const fn cents(cents: u64) -> NanoUsd {
    NanoUsd::from_nanos(cents * 10_000_000)
}

#[test]
fn the_demos_agents_end_as_they_are_meant_to_once_there_is_money_for_them() {
    let temp = TempDir::new().unwrap();
    let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
    let player = Player::with_program(BINARY, temp.path()).at_speed(30.0);
    // So low that it is reached with tasks queued however late costs are read at this speed.
    let options = FleetOptions { cap: Some(cents(30)), ..player.options() };
    let launcher = Launcher::new(BINARY, Vec::new());
    let mut fleet = LocalFleet::create(&state, options, launcher).unwrap();
    let mut tasks = player.tasks().unwrap();
    tasks.push(player.typed("task 3").unwrap());
    tasks.push(player.typed("task 4").unwrap());
    tasks.push(player.typed("task 5").unwrap());
    fleet.spawn_all(tasks).unwrap();
    let mut asked = 0;
    let last = fleet.monitor(
        |snapshot| assert!(snapshot.header.kpis.running <= 3),
        |question| {
            asked += 1;
            assert!(question.queued > 0);
            Answer::Raise(question.default)
        },
    );
    let last = last.unwrap();
    assert!(asked > 0 && last.header.all_done);
    let done = Status::Ended(Outcome::Done);
    let failed = Status::Ended(Outcome::Failed);
    let table = [
        (done, Some(cents(41)), 6, Some(true)),
        (done, Some(cents(6)), 2, None),
        (done, Some(cents(18)), 3, None),
        (failed, Some(cents(22)), 4, None),
        (done, Some(cents(62)), 7, Some(true)),
        (done, Some(cents(93)), 10, None),
        (done, Some(cents(19)), 4, Some(true)),
        (done, Some(cents(18)), 4, Some(false)),
    ];
    let shown = |row: &Row| (row.status, row.cost, row.steps, row.validated);
    let seen: Vec<_> = last.rows.iter().map(|row| shown(row)).collect();
    assert_eq!(seen[..8], table, "{:#?}", last.rows);
    assert!(last.rows.iter().all(|row| row.cost_status == CostStatus::Reported));
    assert!(last.rows.iter().all(|row| row.anomalies == 0 && !row.unparsed));
    assert!(last.rows[3].end.as_ref().unwrap().error.starts_with("cannot upgrade: the crate"));
    let shared = |row: &Row| row.files_changed.iter().any(|file| file == "src/session.rs");
    let both: Vec<u32> = last.rows.iter().filter(|row| shared(row)).map(|row| row.id.0).collect();
    assert_eq!(both, [1, 5], "two agents change one file");
    let typed: Vec<_> = last.rows[8..].iter().map(|row| row.status).collect();
    assert!(typed.contains(&done) && typed.contains(&failed), "{typed:?}");
    let crashed = last.rows.iter().rfind(|row| row.status == failed).unwrap();
    let why = &crashed.end.as_ref().unwrap().error;
    assert!(why.starts_with("killed by signal SIGKILL: this recording ends as if"), "{why}");
    assert!(fleet.finish());
}
