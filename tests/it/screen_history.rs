//! Earlier fleets on the screen: listed, opened, replayed, compared, run again, and left.
//!
//! What may go here: the real binary in a terminal, with fleets that have ended. What may not: what single lines look like.

use crate::harness::{Terminal, World};

const ROWS: u16 = 30;
const COLUMNS: u16 = 110;
const F3: &str = "\x1bOR";

/// A folder with two fleets that have ended: `first` with two tasks, one of which failed, and `second` with one.
fn world() -> World {
    let world = World::new();
    world
        .fleet(&["run", "--agent", "sh", "--name", "first", "echo good", "echo bad; exit 3"])
        .expect_code(1);
    world.fleet(&["run", "--agent", "sh", "--name", "second", "echo good"]).expect_code(0);
    world
}

/// Opens the screen on a new fleet and waits until it is connected.
fn open(world: &World) -> Terminal {
    let screen = Terminal::start(world, &["--agent", "sh"], ROWS, COLUMNS);
    screen.wait_for("0 done");
    screen.wait_for("press Enter");
    screen
}

/// Opens the list and goes to the fleet of this name by searching for it.
fn choose(screen: &Terminal, name: &str) {
    screen.send(F3);
    screen.wait_for("fleets of this folder");
    screen.wait_for(name);
    screen.send("/");
    screen.wait_for("/  3 fleets");
    screen.send(name);
    screen.wait_for(&format!("/{name}  1 fleet"));
    screen.send("\r");
    screen.wait_for("Enter open");
    screen.send("\r");
}

#[test]
fn an_earlier_fleet_is_opened_from_the_list_and_esc_comes_back_with_the_draft_as_it_was() {
    let world = world();
    let mut screen = open(&world);
    screen.send("half a task");
    screen.wait_for("half a task");
    choose(&screen, "first");
    screen.wait_for("ended");
    screen.wait_for("failed: bad");
    assert!(!screen.screen().contains("half a task"), "{}", screen.screen());
    screen.send("\x1b");
    screen.wait_for("half a task");
    screen.wait_for("0 done");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn the_agents_of_an_earlier_fleet_are_shown_as_bars_and_replayed() {
    let world = world();
    let mut screen = open(&world);
    choose(&screen, "first");
    screen.wait_for("failed: bad");
    screen.send("b");
    screen.wait_for("█");
    screen.send("b");
    screen.wait_for("state");
    screen.send("[");
    screen.wait_for("replay ");
    screen.wait_for("1 running");
    screen.send("\x1b");
    screen.wait_for("this is the fleet as it is");
    screen.send("t");
    screen.wait_for("the end of the replay");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn two_earlier_fleets_are_compared() {
    let world = world();
    let mut screen = open(&world);
    screen.send(F3);
    screen.wait_for("first");
    screen.send("G");
    screen.wait_for("▌");
    screen.send(" ");
    screen.wait_for("1 marked");
    screen.send("k");
    screen.send("=");
    screen.wait_for("1 task in both");
    screen.wait_for("1 task only in");
    screen.wait_for("echo bad; exit 3");
    screen.send("\x1b");
    screen.wait_for("1 marked");
    screen.send("\x1b");
    screen.wait_for("press Enter");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn what_failed_in_an_earlier_fleet_is_run_again_in_the_one_that_takes_tasks() {
    let world = world();
    let mut screen = open(&world);
    choose(&screen, "first");
    screen.wait_for("failed: bad");
    screen.send("p");
    screen.wait_for("this fleet has ended: R runs its tasks again");
    screen.send("R");
    screen.wait_for("the 1 not done");
    screen.send("f");
    // The fleet that the screen began with lives and takes tasks: it is shown again.
    screen.wait_for("the agent has ended");
    screen.wait_for("1 failed");
    let fleets = world.fleet(&["ls", "--json"]).expect_code(0).json();
    assert_eq!(fleets.as_array().unwrap().len(), 3, "{fleets}");
    assert_eq!(fleets[0]["kpis"]["failed"], 1, "{fleets}");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn a_fleet_that_is_opened_by_its_name_runs_its_tasks_again_in_a_new_fleet() {
    let world = world();
    let fleets = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let first = fleets[1]["id"].as_str().unwrap();
    let mut screen = Terminal::start(&world, &["attach", first], ROWS, COLUMNS);
    screen.wait_for("failed: bad");
    screen.send("R");
    screen.wait_for("all 2");
    screen.send("a");
    screen.wait_for("all 2 agents ended");
    let fleets = world.fleet(&["ls", "--json"]).expect_code(0).json();
    assert_eq!(fleets.as_array().unwrap().len(), 3, "{fleets}");
    assert_eq!((&fleets[0]["kpis"]["failed"], &fleets[0]["kpis"]["done"]), (&1.into(), &1.into()));
    assert_eq!(fleets[0]["name"], "first", "it is made like the one before");
    // Back to the one that the screen began with.
    screen.send("\x1b");
    screen.wait_for("╔═ agents 2");
    screen.send("\x1b");
    screen.wait_for("first · ended ");
    screen.send("q");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn the_fleet_behind_the_one_that_is_looked_at_says_when_its_agents_have_ended() {
    let world = world();
    let task = "until [ -e go ]; do sleep 0.05; done";
    let mut screen = Terminal::start(&world, &["--agent", "sh", task], ROWS, COLUMNS);
    screen.wait_for("1 running");
    choose(&screen, "first");
    screen.wait_for("first · ended");
    std::fs::write(world.file("go"), "").unwrap();
    screen.wait_for("all its agents have ended (Esc goes back to it)");
    screen.send("\x1b");
    screen.wait_for("until [ -e go ]");
    screen.wait_for("1 done");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

/// C-144.
#[test]
fn each_of_the_last_ten_runs_can_be_replayed_and_two_of_them_compared_without_a_change_to_them() {
    let world = World::new();
    for number in 0..10 {
        let task = format!("echo run {number}");
        world.fleet(&["run", "--agent", "sh", "--name", &format!("run{number}"), &task]);
    }
    let before = world.fleet(&["ls", "--json"]).expect_code(0).json();
    let journals = || -> Vec<String> {
        let journal = |fleet: &std::path::PathBuf| fleet.join("journal.jsonl");
        let read = |fleet| std::fs::read_to_string(journal(fleet)).unwrap();
        world.fleets().iter().map(read).collect()
    };
    let untouched = journals();
    let newest = before[0]["id"].as_str().unwrap();
    let mut screen = Terminal::start(&world, &["attach", newest], 40, COLUMNS);
    screen.wait_for("run9 · ended");
    for number in (0..9).rev() {
        screen.send(F3);
        for listed in 0..10 {
            screen.wait_for(&format!("s run{listed}"));
        }
        // They are listed newest first.
        screen.send(&"j".repeat(9 - number));
        screen.send("\r");
        screen.wait_for(&format!("run{number} · ended"));
        screen.send("[");
        screen.wait_for("replay 0s of 0s");
        screen.wait_for("1 running");
    }
    screen.send(F3);
    screen.wait_for("s run0");
    screen.send(" G=");
    screen.wait_for("two fleets compared");
    screen.wait_for("1 task only in");
    screen.send("\x1b");
    screen.wait_for("compare them");
    screen.send("\x03");
    screen.wait_for("run0 · ended");
    screen.send("q");
    screen.wait_given_back();
    assert_eq!(screen.end(), 0);
    let after = world.fleet(&["ls", "--json"]).expect_code(0).json();
    assert_eq!((after, journals()), (before, untouched), "they were only looked at");
    world.assert_nothing_runs();
}
