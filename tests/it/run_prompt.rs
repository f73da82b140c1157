//! The cap question on a terminal, answered in each way that it offers.

use crate::harness::{Terminal, World};

/// What the question says and nothing else does.
const QUESTION: &str = "cap reached: ";

/// Starts three tasks of a dollar each, one at a time.
fn start(world: &World, cap: &str) -> Terminal {
    let task = |number: u32| {
        format!("echo {number} >> ran; echo '{{\"fleet\":\"cost\",\"total_usd\":1.0}}'")
    };
    let tasks: Vec<String> = (1..=3).map(task).collect();
    let mut args = vec!["run", "-j", "1", "--cap", cap, "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    Terminal::start(world, &args, 24, 120)
}

/// Statuses of all agents after the end.
#[track_caller]
fn statuses(world: &World) -> Vec<String> {
    world.assert_nothing_runs();
    world.fleet(&["results", "--json"]).expect_code(0).column("status")
}

#[test]
fn an_amount_is_the_new_cap() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    assert_eq!(world.lines("ran"), ["1"]);
    terminal.send("$5\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["done", "done", "done"]);
}

#[test]
fn enter_is_one_dollar_more_than_was_spent_and_the_next_question_comes_then() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    terminal.wait_for("2.00");
    terminal.send("\r");
    terminal.wait_written(QUESTION, 2);
    assert_eq!(world.lines("ran"), ["1", "2"]);
    terminal.send("3.50\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(results.json()["cap_usd"].as_f64(), Some(3.5));
    assert_eq!(results.json()["spent_usd"].as_f64(), Some(3.0));
}

#[test]
fn d_drops_the_queue() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    terminal.send("d\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["done", "dropped", "dropped"]);
}

#[test]
fn h_keeps_the_queue() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    terminal.send("h\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    terminal.wait_written("fleet resume", 1);
    assert_eq!(statuses(&world), ["done", "queued", "queued"]);
}

#[test]
fn s_stops_what_runs_too() {
    let world = World::new();
    let dear =
        "until [ -e ran ]; do sleep 0.02; done; echo '{\"fleet\":\"cost\",\"total_usd\":1.0}'";
    let runs = "echo up >> ran; sleep 1000";
    let mut terminal = Terminal::start(
        &world,
        &["run", "-j", "2", "--cap", "1", "--agent", "sh", runs, dear, "echo x"],
        24,
        120,
    );
    terminal.wait_written(QUESTION, 1);
    terminal.send("s\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["cancelled", "done", "dropped"]);
}

/// C-64.
#[test]
fn an_amount_that_lets_nothing_start_and_what_is_no_amount_are_refused() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    let (too_low, no_amount) = ("would let nothing start", "or answer d, h or s");
    let table =
        [("0.50", too_low, 1), ("1", too_low, 2), ("much", no_amount, 1), ("-3", no_amount, 2)];
    for (wrong, reason, times) in table {
        terminal.send(&format!("{wrong}\r"));
        terminal.wait_written(reason, times);
        assert_eq!(world.lines("ran"), ["1"], "{wrong:?} was taken: {}", terminal.screen());
    }
    assert_eq!(
        terminal.written().matches(QUESTION).count(),
        1,
        "it is asked again: {}",
        terminal.written()
    );
    terminal.send("d\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["done", "dropped", "dropped"]);
}

/// C-69.
#[test]
fn a_cap_of_zero_asks_before_the_first_agent() {
    let world = World::new();
    let mut terminal = start(&world, "0");
    terminal.wait_written(QUESTION, 1);
    assert!(world.lines("ran").is_empty());
    terminal.send("10\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["done", "done", "done"]);
}

/// C-63.
#[test]
fn nothing_is_asked_when_nothing_waits() {
    let world = World::new();
    let dear = "echo '{\"fleet\":\"cost\",\"total_usd\":1.0}'";
    let mut terminal =
        Terminal::start(&world, &["run", "--cap", "1", "--agent", "sh", dear], 24, 120);
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert!(!terminal.written().contains(QUESTION), "{}", terminal.written());
}

#[test]
fn control_c_at_the_question_interrupts_and_keeps_the_queue() {
    let world = World::new();
    let mut terminal = start(&world, "1");
    terminal.wait_written(QUESTION, 1);
    terminal.send("\x03");
    assert_eq!(terminal.end(), 130, "{}", terminal.screen());
    assert_eq!(statuses(&world), ["done", "queued", "queued"]);
}
