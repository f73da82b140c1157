//! `fleet wait` with the real binary: it joins a fleet, or some of its agents, whatever becomes of the host.

use rustix::process::Signal;

use crate::harness::{GENEROUS, Pid, Terminal, World, wait_until};

/// Says that it runs, waits for the word.
const WAITS: &str = "echo ran >> ran; until [ -e go ]; do sleep 0.02; done";
/// Costs two dollars.
const COSTS: &str = r#"echo '{"fleet":"cost","total_usd":2}'"#;

fn go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

fn dispatch(world: &World, more: &[&str]) {
    world.fleet(&[&["dispatch", "--agent", "sh"], more].concat()).expect_code(0);
}

#[track_caller]
fn host(world: &World) -> Pid {
    let listed = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let pid = listed[0]["host_pid"].as_u64().unwrap_or_else(|| panic!("no host: {listed:#}"));
    Pid(u32::try_from(pid).unwrap())
}

#[track_caller]
fn kill_host(world: &World) {
    let host = host(world);
    host.signal(Signal::KILL);
    host.wait_gone("the host");
}

/// Waits until a wait has told its first line, so that it follows.
#[track_caller]
fn until_it_follows(live: &crate::harness::Live<'_>) {
    wait_until("it follows", GENEROUS, || {
        let said = live.stderr();
        if said.contains("agent") { Ok(()) } else { Err(said) }
    });
}

#[test]
fn a_live_fleet_is_joined_and_the_code_is_that_of_a_run() {
    let world = World::new();
    dispatch(&world, &[WAITS, "sh -c 'until [ -e go ]; do sleep 0.02; done; exit 3'", "true"]);
    world.wait_lines("ran", 1);
    let live = world.start(&["wait"]);
    let other = world.start(&["wait", "--json"]);
    until_it_follows(&live);
    go(&world);
    let ran = live.end().expect_code(1);
    assert_eq!(ran.stdout, "", "what is told goes to stderr");
    // C-117 as far as this door has to do with it: the failure is told when it is known.
    assert!(ran.stderr.contains("2/3]") && ran.stderr.contains("exit code 3"), "{ran:#?}");
    ran.assert_no_escapes();
    let json = other.end().expect_code(1);
    assert_eq!(json.column("status"), ["done", "failed", "done"]);
    assert_eq!(json.json()["state"], "ended");
    // Again, and then when it has no host any more.
    world.fleet(&["wait"]).expect_code(1);
    let host = host(&world);
    host.signal(Signal::TERM);
    host.wait_gone("the host");
    world.fleet(&["wait"]).expect_code(1);
    assert_eq!(world.fleet(&["ls", "--json"]).json()[0]["state"], "ended", "no host was started");
    world.end_fleets();
}

#[test]
fn some_agents_are_joined_by_number_batch_or_handle() {
    let world = World::new();
    dispatch(&world, &["-j", "4", "exit 3"]);
    world.fleet(&["wait"]).expect_code(1);
    dispatch(&world, &[WAITS]);
    let handle = world.fleet(&["dispatch", "--json", "--agent", "sh", "true"]).json();
    let id = handle["delegation_id"].as_str().unwrap();
    world.fleet(&["wait", id]).expect_code(0);
    let json = world.fleet(&["wait", "--json", "set:3"]).expect_code(0).json();
    assert_eq!(json["agents"].as_array().unwrap().len(), 1);
    assert_eq!(json["agents"][0]["id"], 3);
    world.fleet(&["wait", "1"]).expect_code(1);
    world.fleet(&["wait", "9"]).expect_code(2);
    world.fleet(&["wait", "deleg_00000000"]).expect_code(2);
    world.fleet(&["wait", "nowhere"]).expect_code(4);
    world.wait_lines("ran", 1);
    let live = world.start(&["wait", "2-3"]);
    until_it_follows(&live);
    go(&world);
    live.end().expect_code(0);
    world.end_fleets();
}

#[test]
fn a_wait_outlives_its_host_and_starts_the_next_one() {
    let world = World::new();
    dispatch(&world, &["-j", "1", WAITS, "echo two >> ran"]);
    world.wait_lines("ran", 1);
    let live = world.start(&["wait"]);
    until_it_follows(&live);
    kill_host(&world);
    go(&world);
    live.end().expect_code(0);
    assert_eq!(world.lines("ran"), ["ran", "two"]);
    world.end_fleets();
}

#[test]
fn a_hostless_fleet_gets_a_host_from_whoever_joins_it() {
    let world = World::new();
    dispatch(&world, &["-j", "1", WAITS, "echo two >> ran"]);
    world.wait_lines("ran", 1);
    kill_host(&world);
    let live = world.start(&["wait"]);
    until_it_follows(&live);
    go(&world);
    live.end().expect_code(0);
    assert_eq!(world.lines("ran"), ["ran", "two"]);
    world.end_fleets();
}

#[test]
fn a_run_of_another_terminal_is_joined() {
    let world = World::new();
    let run = world.start(&["run", "--agent", "sh", WAITS, "exit 4"]);
    world.wait_lines("ran", 1);
    let live = world.start(&["wait"]);
    until_it_follows(&live);
    go(&world);
    run.end().expect_code(1);
    live.end().expect_code(1);
    world.assert_nothing_runs();
}

#[test]
fn a_queue_at_its_cap_is_not_waited_for_and_what_raises_it_is_told() {
    let world = World::new();
    dispatch(&world, &["-j", "1", "--cap", "1", COSTS, "echo two >> ran"]);
    let waited = world.fleet(&["wait"]).expect_code(3);
    let told = "1 task held at the cap of $1.00: `fleet cap USD --fleet ";
    assert!(waited.stderr.contains(told), "{waited:#?}");
    world.fleet(&["wait", "1"]).expect_code(0);
    world.fleet(&["wait", "2"]).expect_code(3);
    let host = host(&world);
    host.signal(Signal::TERM);
    host.wait_gone("the host");
    let waited = world.fleet(&["wait"]).expect_code(3);
    assert!(waited.stderr.contains(told), "{waited:#?}");
    assert!(world.lines("ran").is_empty());
    world.end_fleets();
}

/// Asked, and nobody is there to answer.
#[test]
fn an_open_question_ends_a_wait_without_a_terminal() {
    let world = World::new();
    dispatch(&world, &["-j", "1", "--cap", "1", "--on-cap", "ask", COSTS, "echo two >> ran"]);
    let waited = world.fleet(&["wait"]).expect_code(3);
    assert!(waited.stderr.contains("held at the cap of $1.00"), "{waited:#?}");
    world.end_fleets();
}

#[test]
fn on_a_terminal_a_wait_asks_the_question_and_goes_on_with_the_answer() {
    let world = World::new();
    dispatch(&world, &["-j", "1", "--cap", "1", "--on-cap", "ask", COSTS, "echo two >> ran"]);
    let mut terminal = Terminal::start(&world, &["wait"], 24, 120);
    terminal.wait_for("cap");
    terminal.wait_for("[$3.00]");
    terminal.send("\r");
    assert_eq!(terminal.end(), 0);
    terminal.wait_given_back();
    assert_eq!(world.lines("ran"), ["two"]);
    world.end_fleets();
}

#[test]
fn the_time_of_a_wait_is_its_own_and_ends_no_agent() {
    let world = World::new();
    dispatch(&world, &[WAITS]);
    world.wait_lines("ran", 1);
    let late = world.fleet(&["wait", "--timeout", "100ms", "--json"]).expect_code(124);
    assert!(late.stderr.contains("the agents go on"), "{late:#?}");
    assert_eq!(late.column("status"), ["running"]);
    let live = world.start(&["wait"]);
    until_it_follows(&live);
    live.signal(Signal::INT);
    live.end().expect_code(130);
    go(&world);
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

#[test]
fn an_agent_does_not_wait_for_its_own_end() {
    let world = World::new();
    let fleet = env!("CARGO_BIN_EXE_fleet");
    let own =
        format!("'{fleet}' wait 2>> said; echo $? >> codes; '{fleet}' wait 2; echo $? >> codes");
    dispatch(&world, &["-j", "2", &own, "true"]);
    world.fleet(&["wait"]).expect_code(0);
    assert_eq!(world.lines("codes"), ["2", "0"]);
    assert!(world.read("said").contains("would wait for its own end"), "{}", world.read("said"));
    world.end_fleets();
}

#[test]
fn there_is_nothing_to_wait_for_without_a_fleet() {
    let world = World::new();
    world.fleet(&["wait"]).expect_code(4);
    assert!(world.fleets().is_empty());
}
