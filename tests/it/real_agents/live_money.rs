//! Programs that print their numbers at the end or never: what they have spent is known and limited while they run, from
//! what they record of their sessions.
//!
//! What may go here: money of agents that run. What may not: what an agent has cost that has ended by itself.

use rustix::process::Signal;

use loki_fleet::core::{Phase, Snapshot};

use super::{CODEX, COPILOT, Cost, GEMINI, Kind, PATIENCE, Stage, task, tokens};
use crate::harness::wait_until;

/// The same with a model whose price is known.
const PRICED_COPILOT: Kind = Kind { name: "copilot", options: &[("model", "gpt-5.5")] };

/// Tokens of the one response that there is: 1,300 fresh ones, 800 from a cache, 50 of output.
const FIRST: [u64; 4] = [1_300, 800, 0, 50];

fn shows_first(snapshot: &Snapshot) -> bool {
    snapshot.rows.first().is_some_and(|row| {
        let is_running =
            matches!(row.phase, Phase::Works | Phase::InTool { .. } | Phase::Retries(..));
        is_running && tokens(row) == FIRST
    })
}

/// The second response never comes, so what is seen is seen while the agent runs.
#[track_caller]
fn check(kind: Kind, cost: &Cost) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    let live = stage.start(kind, "hang-second");
    let seen = stage.wait_shown("the first response is counted", shows_first);
    assert_eq!(&Cost::of(&seen.rows[0]), cost, "{seen:#?}");
    stage.world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end_within(PATIENCE).expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled"], "{ran:#?}");
    let row = stage.row(1);
    assert_eq!((tokens(&row), &Cost::of(&row), row.anomalies), (FIRST, cost, 0), "{row:#?}");
    stage.world.assert_nothing_runs();
}

#[test]
fn what_codex_has_spent_is_known_while_it_runs() {
    check(CODEX, &Cost::estimated("0.0084"));
}

#[test]
fn what_gemini_has_spent_is_known_while_it_runs() {
    check(GEMINI, &Cost::estimated("0.002225"));
}

#[test]
fn what_copilot_has_spent_is_known_while_it_runs() {
    check(PRICED_COPILOT, &Cost::estimated("0.0084"));
    check(COPILOT, &Cost::Unknown);
}

/// It would go on for ever, with 100,000 tokens of input and 1,000 of output each time.
#[track_caller]
fn check_budget(kind: Kind, each: f64) {
    let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
    let (model, task) = (format!("--model={}", kind.options[0].1), task("dear-endless"));
    let options = ["run", "--json", "--agent", kind.name, "--allow-shell", "--budget", "0.40"];
    let live = stage.world.start(&[&options[..], &[&model, &task]].concat());
    let ran = live.end_within(PATIENCE).expect_code(1);
    assert_eq!(ran.column("status"), ["over_budget"], "{ran:#?}");
    let row = stage.row(1);
    let [input, 0, 0, output] = tokens(&row) else { panic!("{row:#?}") };
    assert!(input >= 100_000 && input % 100_000 == 0 && output == input / 100, "{row:#?}");
    let spent: f64 = row.cost.unwrap().to_exact().parse().unwrap();
    let responses = f64::from(u32::try_from(output / 1_000).unwrap());
    assert!(spent > 0.4 && (spent - responses * each).abs() < 1e-9, "{row:#?}");
    stage.world.assert_no_agent_runs_now();
    stage.world.assert_nothing_runs();
}

#[test]
fn codex_is_stopped_when_its_budget_is_spent() {
    check_budget(CODEX, 0.53);
}

#[test]
fn gemini_is_stopped_when_its_budget_is_spent() {
    check_budget(GEMINI, 0.135);
}

#[test]
fn copilot_is_stopped_when_its_budget_is_spent() {
    check_budget(PRICED_COPILOT, 0.53);
}

/// Another host counts what the one before has counted, and no more.
#[test]
fn what_codex_has_spent_is_the_same_after_its_host_was_killed() {
    let Some(stage) = Stage::set(&[CODEX.name], &[]) else { return };
    let mut live = stage.start(CODEX, "hang-second");
    stage.wait_shown("the first response is counted", shows_first);
    live.signal(Signal::KILL);
    wait_until("the host is gone", PATIENCE, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    let resumed = stage.world.start(&["resume", "--json", &stage.world.only_fleet()]);
    stage.wait_shown("the first response is counted again", shows_first);
    stage.world.fleet(&["stop", "all"]).expect_code(0);
    resumed.end_within(PATIENCE).expect_code(1);
    let row = stage.row(1);
    let cost = Cost::estimated("0.0084");
    assert_eq!((tokens(&row), Cost::of(&row), row.anomalies), (FIRST, cost, 0), "{row:#?}");
    stage.world.assert_nothing_runs();
}
