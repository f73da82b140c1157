//! Earlier fleets on the screen: listed, opened, and left again.
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
    screen.wait_for("0 fleets");
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
    screen.wait_for("exit code 3");
    assert!(!screen.screen().contains("half a task"), "{}", screen.screen());
    screen.send("\x1b");
    screen.wait_for("half a task");
    screen.wait_for("0 done");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}
