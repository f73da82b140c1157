//! The output of an agent on the real screen: followed, scrolled, searched and copied from.
//!
//! What may go here: the real binary in a terminal with one agent. What may not: what the pane looks like at each size.

use rustix::process::Signal;

use crate::harness::{Pid, Terminal, World};

/// Prints two hundred lines, and one more when the test lets it.
const TASK: &str =
    "seq -f 'line %g' 200; until [ -e go ]; do sleep 0.02; done; echo 'the very end'";

#[test]
fn the_output_of_an_agent_is_followed_scrolled_searched_and_copied_from() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &["--agent", "sh", TASK], 30, 110);
    screen.wait_for("line 200");
    screen.wait_for("#1 out");
    screen.send("\x1b");
    screen.wait_for("i new task");
    screen.send("\r");
    screen.wait_for("╔═ #1 out");
    screen.send("g");
    screen.wait_for("║line 1 ");
    std::fs::write(world.file("go"), "").unwrap();
    screen.wait_for("1 new line");
    screen.send("/");
    screen.wait_for("give up");
    screen.send("line 77");
    screen.wait_for("/line 77");
    screen.send("\r");
    screen.wait_for("hit 1 of 1");
    screen.wait_for("║line 77 ");
    screen.send("y");
    // `line 77`, as clipboards take it.
    screen.wait_written("\x1b]52;c;bGluZSA3Nw==", 1);
    screen.send("G");
    screen.wait_for("║the very end");
    screen.wait_for("· follow ·");
    screen.wait_for("1 done");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    let fleets = world.fleet(&["ls", "--json"]).expect_code(0).json();
    if let Some(pid) = fleets[0]["host_pid"].as_u64() {
        Pid(u32::try_from(pid).unwrap()).signal(Signal::TERM);
    }
    world.assert_nothing_runs();
}
