//! The cap from the outside: what starts, what is dropped, what is kept, and what the totals say.

use rustix::process::Signal;

use crate::harness::{Ran, World};

/// A task that says it ran and that it cost one dollar.
fn costs_one(number: u32) -> String {
    format!("echo {number} >> ran; echo '{{\"fleet\":\"cost\",\"total_usd\":1.0}}'")
}

#[track_caller]
fn run_five(world: &World, options: &[&str]) -> Ran {
    let tasks: Vec<String> = (1..=5).map(costs_one).collect();
    let mut args = vec!["run", "--json", "--agent", "sh"];
    args.extend_from_slice(options);
    args.extend(tasks.iter().map(String::as_str));
    world.fleet(&args)
}

#[track_caller]
fn assert_ran(world: &World, numbers: &[&str]) {
    let mut lines = world.lines("ran");
    lines.sort();
    assert_eq!(lines, numbers);
}

/// C-67.
#[test]
fn at_the_cap_the_queue_is_dropped_with_the_reason() {
    let world = World::new();
    let ran = run_five(&world, &["-j", "1", "--cap", "2", "--on-cap", "drop"]).expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "dropped", "dropped", "dropped"], "{ran:#?}");
    assert_eq!(ran.column("cost_status")[..2], ["reported", "reported"]);
    for error in &ran.column("error")[2..] {
        assert!(error.contains("cap"), "no reason: {ran:#?}");
    }
    let summary = ran.json();
    assert_eq!(summary["spent_usd"].as_f64(), Some(2.0));
    assert_eq!(summary["cap_usd"].as_f64(), Some(2.0));
    assert_eq!(summary["cost_unknown"], 0);
    assert_ran(&world, &["1", "2"]);
}

#[test]
fn without_a_terminal_the_queue_is_dropped_unless_something_else_was_said() {
    let world = World::new();
    let ran = run_five(&world, &["-j", "1", "--cap", "1"]).expect_code(3);
    assert_eq!(
        ran.column("status"),
        ["done", "dropped", "dropped", "dropped", "dropped"],
        "{ran:#?}"
    );
}

#[test]
fn a_held_queue_is_kept_and_resume_runs_the_rest_exactly_once() {
    let world = World::new();
    let ran = run_five(&world, &["-j", "1", "--cap", "2", "--on-cap", "hold"]).expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "queued", "queued", "queued"], "{ran:#?}");
    assert_ran(&world, &["1", "2"]);
    world.assert_nothing_runs();

    let fleet = world.only_fleet();
    let resumed = world.fleet(&["resume", &fleet, "--cap", "20", "--json"]).expect_code(0);
    assert_eq!(resumed.column("status"), ["done"; 5], "{resumed:#?}");
    assert_eq!(resumed.json()["fleet"].as_str(), Some(fleet.as_str()));
    assert_eq!(resumed.json()["spent_usd"].as_f64(), Some(5.0), "what was spent before counts");
    assert_eq!(resumed.json()["cap_usd"].as_f64(), Some(20.0));
    assert_ran(&world, &["1", "2", "3", "4", "5"]);
}

#[test]
fn resuming_with_a_cap_that_lets_nothing_start_is_refused() {
    let world = World::new();
    run_five(&world, &["-j", "1", "--cap", "2", "--on-cap", "hold"]).expect_code(3);
    for cap in ["0", "1.50"] {
        let refused = world.fleet(&["resume", &world.only_fleet(), "--cap", cap]).expect_code(2);
        assert!(refused.stderr.contains("$2.00 is spent"), "{refused:#?}");
    }
    assert_ran(&world, &["1", "2"]);
    world.fleet(&["resume", &world.only_fleet(), "--cap", "20"]).expect_code(0);
}

#[test]
fn what_is_set_aside_for_unknown_costs_is_named_when_it_reaches_the_cap() {
    let world = World::new();
    let unknown = "echo '{\"fleet\":\"usage\",\"input_tokens\":5,\"output_tokens\":5}'";
    let args =
        ["run", "--json", "-j", "1", "--cap", "1", "--assume-cost", "0.6", "--on-cap", "drop"];
    let ran = world.fleet(&[&args[..], &["--agent", "sh", unknown, unknown, unknown]].concat());
    let ran = ran.expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "dropped"], "{ran:#?}");
    assert!(ran.column("error")[2].contains("$1.20 set aside"), "{ran:#?}");
    assert_eq!(ran.json()["cost_unknown"], 2);
}

#[test]
fn resuming_with_the_same_cap_starts_nothing() {
    let world = World::new();
    run_five(&world, &["-j", "1", "--cap", "2", "--on-cap", "hold"]).expect_code(3);
    let resumed =
        world.fleet(&["resume", &world.only_fleet(), "--on-cap", "hold", "--json"]).expect_code(3);
    assert_eq!(
        resumed.column("status"),
        ["done", "done", "queued", "queued", "queued"],
        "{resumed:#?}"
    );
    assert_ran(&world, &["1", "2"]);
}

#[test]
fn a_raise_counts_once_and_then_the_queue_is_dropped() {
    let world = World::new();
    let ran = run_five(&world, &["-j", "1", "--cap", "2", "--on-cap", "raise=4"]).expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "done", "done", "dropped"], "{ran:#?}");
    assert_eq!(ran.json()["cap_usd"].as_f64(), Some(4.0));
}

#[test]
fn a_cap_of_zero_starts_nothing() {
    let world = World::new();
    let dropped = run_five(&world, &["--cap", "0", "--on-cap", "drop"]).expect_code(3);
    assert_eq!(dropped.column("status"), ["dropped"; 5], "{dropped:#?}");
    let held = run_five(&world, &["--cap", "0", "--on-cap", "hold"]).expect_code(3);
    assert_eq!(held.column("status"), ["queued"; 5], "{held:#?}");
    assert_ran(&world, &[]);
}

#[test]
fn a_cap_that_is_enough_is_no_matter() {
    let world = World::new();
    let ran = run_five(&world, &["-j", "5", "--cap", "5", "--budget", "1"]).expect_code(0);
    assert_eq!(ran.json()["spent_usd"].as_f64(), Some(5.0));
}

/// Eight slots are free, but three budgets of a dollar are all that the cap allows.
#[test]
fn what_runs_reserves_its_budget() {
    let world = World::new();
    let options = ["-j", "8", "--cap", "3", "--budget", "1", "--on-cap", "drop"];
    let ran = run_five(&world, &options).expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "done", "dropped", "dropped"], "{ran:#?}");
    assert_eq!(ran.json()["spent_usd"].as_f64(), Some(3.0));
}

/// C-60.
#[test]
fn what_is_spent_is_the_exact_sum_of_what_all_agents_cost() {
    let world = World::new();
    let cost = |amount: &str, code: u32| {
        format!("echo '{{\"fleet\":\"cost\",\"total_usd\":{amount}}}'; exit {code}")
    };
    let tasks = [cost("0.1", 0), cost("0.2", 1), cost("0.000000001", 0)];
    let mut args = vec!["run", "--json", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    let ran = world.fleet(&args).expect_code(1);
    // A sum of floats would be 0.30000000100000004.
    assert!(ran.stdout.replace(' ', "").contains("\"spent_usd\":0.300000001,"), "{}", ran.stdout);
    assert_eq!(ran.column("cost_usd"), ["0.1", "0.2", "1e-9"], "{ran:#?}");
}

#[test]
fn an_agent_past_its_budget_is_stopped() {
    let world = World::new();
    let dear = "echo '{\"fleet\":\"cost\",\"total_usd\":2.5}'; sleep 1000";
    let ran = world
        .fleet(&["run", "--json", "--budget", "1", "--agent", "sh", dear, "echo x"])
        .expect_code(1);
    assert_eq!(ran.column("status"), ["over_budget", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_reason")[0], "budget");
    assert_eq!(
        ran.json()["spent_usd"].as_f64(),
        Some(2.5),
        "what was spent past the budget counts"
    );
    world.assert_nothing_runs();
}

#[test]
fn a_hard_cap_stops_what_runs() {
    let world = World::new();
    let dear = "echo '{\"fleet\":\"cost\",\"total_usd\":2.5}'; sleep 1000";
    let options = ["--cap", "2", "--cap-hard", "--on-cap", "drop"];
    let ran = world.fleet(
        &[&["run", "--json", "-j", "1", "--agent", "sh", dear, "echo x"][..], &options].concat(),
    );
    let ran = ran.expect_code(3);
    assert_eq!(ran.column("status"), ["over_budget", "dropped"], "{ran:#?}");
    world.assert_nothing_runs();
}

/// A later, lower total is an anomaly and takes nothing back.
#[test]
fn totals_never_fall_and_survive_a_resume() {
    let world = World::new();
    let falls = "echo '{\"fleet\":\"cost\",\"total_usd\":1.5}'; echo '{\"fleet\":\"cost\",\"total_usd\":0.25}'; echo 1 >> ran";
    let live = world.start(&[
        "run",
        "--json",
        "-j",
        "1",
        "--agent",
        "sh",
        falls,
        "echo 2 >> ran; sleep 1000",
    ]);
    world.wait_lines("ran", 2);
    live.signal(Signal::INT);
    let ran = live.end().expect_code(130);
    assert_eq!(ran.json()["spent_usd"].as_f64(), Some(1.5), "{ran:#?}");
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(results.json()["spent_usd"].as_f64(), Some(1.5), "{results:#?}");
}
