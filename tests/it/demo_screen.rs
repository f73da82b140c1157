//! `fleet demo` in a real terminal, from its start to the end of the last thing that it has left.
//!
//! What may go here: what a newcomer sees and does. What may not: single panes and modals, which have frames of their own.

use std::path::PathBuf;

use rustix::process::Signal;

use crate::harness::{GENEROUS, Pid, Terminal, World, wait_until};

/// A world in which temporary folders can be found, and a demo in it.
fn start(rows: u16, columns: u16, speed: &str) -> (World, Terminal) {
    let mut world = World::new();
    let folder = world.work().to_str().unwrap().to_owned();
    world.set("TMPDIR", &folder);
    let terminal = Terminal::start(&world, &["demo", "--speed", speed], rows, columns);
    (world, terminal)
}

/// Folders of demos.
fn folders(world: &World) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(world.work()).unwrap().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("fleet-demo-"))
        .collect()
}

/// Waits until recordings play, and returns the host's process.
fn wait_for_agents(world: &World, terminal: &Terminal) -> Pid {
    wait_until("recordings play", GENEROUS, || {
        let processes = world.processes();
        let is = |word: &str| {
            processes.iter().find(|process| format!("{process:?}").contains(word)).map(|it| it.pid)
        };
        match (is(" replay "), is(" host ")) {
            (Some(_), Some(host)) => Ok(host),
            _ => Err(format!("{processes:#?}\n{}", terminal.screen())),
        }
    })
}

/// Fails unless nothing of the demo is left.
#[track_caller]
fn assert_nothing_left(world: &World) {
    world.assert_nothing_runs();
    wait_until("the folder is deleted", GENEROUS, || {
        let left = folders(world);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    assert!(!world.state().exists(), "the demo has used the state folder");
}

#[test]
fn leaving_the_demo_ends_everything_and_leaves_nothing_on_disk() {
    let (world, mut terminal) = start(24, 80, "1");
    wait_for_agents(&world, &terminal);
    assert_eq!(folders(&world).len(), 1);
    terminal.send("\x03");
    terminal.send("\x03");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert!(folders(&world).is_empty(), "the program has ended before its folder was gone");
    assert_nothing_left(&world);
    terminal.wait_written("the demo is over", 1);
}

#[test]
fn nothing_is_left_of_a_demo_whose_screen_is_killed() {
    let (world, terminal) = start(24, 80, "1");
    wait_for_agents(&world, &terminal);
    terminal.pid().signal(Signal::KILL);
    assert_nothing_left(&world);
}

/// Another host takes over for as long as the screen is there.
#[test]
fn nothing_is_left_of_a_demo_whose_host_is_killed() {
    let (world, mut terminal) = start(24, 80, "1");
    let host = wait_for_agents(&world, &terminal);
    host.signal(Signal::KILL);
    host.wait_gone("the host");
    let other = wait_for_agents(&world, &terminal);
    assert_ne!(host, other);
    terminal.send("\x03");
    terminal.send("\x03");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert!(folders(&world).is_empty(), "the program has ended before its folder was gone");
    assert_nothing_left(&world);
}

/// Plays until the cap question can be answered, with the focus on the table.
fn play_to_the_question(rows: u16, columns: u16) -> (World, Terminal) {
    let (world, terminal) = start(rows, columns, "4");
    terminal.wait_for("Fix the flaky");
    terminal.send("\x1b");
    terminal.wait_for("the cap of $2.00 is reached");
    // What the keys do is only said once they do it.
    terminal.wait_for("drop the queue");
    (world, terminal)
}

/// Leaves a demo in which nothing happens any more, which is not asked about.
#[track_caller]
fn leave(world: &World, terminal: &mut Terminal) {
    terminal.send("\x03");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_nothing_left(world);
}

/// Leaves a demo whose stalled agent still runs. On a busy machine it may have ended, and then nothing is asked.
#[track_caller]
fn leave_early(world: &World, terminal: &mut Terminal) {
    terminal.send("q");
    let is_asked = wait_until("the demo asks or ends", GENEROUS, || {
        let is_asked = terminal.screen().contains("Leaving ends the demonstration");
        let is_over = terminal.written().contains("the demo is over");
        if is_asked || is_over { Ok(is_asked) } else { Err(terminal.screen()) }
    });
    if is_asked {
        terminal.send("l");
    }
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_nothing_left(world);
}

/// The failure has its reason in the line under the table, once it is selected.
#[track_caller]
fn raise_and_see_the_end(rows: u16, columns: u16) {
    let (world, mut terminal) = play_to_the_question(rows, columns);
    terminal.send("\r");
    terminal.wait_for("all 8 agents ended");
    terminal.wait_for("7 done");
    terminal.wait_for("1 failed");
    terminal.send("gjjj");
    terminal.wait_for("cannot upgrade: the crate sqlx-pool-stats");
    leave(&world, &mut terminal);
}

#[test]
fn with_a_dollar_more_the_demo_runs_to_its_end() {
    raise_and_see_the_end(24, 80);
}

#[test]
fn with_a_dollar_more_the_demo_runs_to_its_end_on_a_large_terminal() {
    raise_and_see_the_end(40, 120);
}

#[test]
fn without_another_dollar_the_rest_of_the_demo_is_dropped() {
    let (world, mut terminal) = play_to_the_question(24, 80);
    terminal.send("d");
    terminal.wait_for("dropped");
    leave_early(&world, &mut terminal);
}

#[test]
fn the_rest_of_the_demo_can_be_kept_waiting() {
    let (world, mut terminal) = play_to_the_question(40, 120);
    terminal.send("\x1b");
    terminal.wait_for("held at the cap");
    terminal.wait_for("2 queued");
    leave_early(&world, &mut terminal);
}

#[test]
fn everything_in_the_demo_can_be_stopped_at_the_cap() {
    let (world, mut terminal) = play_to_the_question(24, 80);
    // It wants the key twice, and a question whose amount has just grown does not listen for a moment.
    wait_until("the question is answered", GENEROUS, || {
        let screen = terminal.screen();
        if screen.contains("drop the queue") {
            terminal.send("s");
            return Err(screen);
        }
        Ok(())
    });
    // Before the screen has heard of the end, leaving is asked about.
    terminal.wait_for("all 8 agents ended");
    terminal.wait_for("cancelled");
    wait_until("no agent runs", GENEROUS, || {
        let left: Vec<_> = world.processes().into_iter().filter(|it| it.mark.is_some()).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:#?}\n{}", terminal.screen())) }
    });
    leave(&world, &mut terminal);
}

/// What is typed while the cap is reached stays what is typed; it plays a recording that says what it is.
#[test]
fn somebody_who_types_is_not_asked_but_told() {
    let (world, mut terminal) = start(24, 80, "4");
    terminal.wait_for("Fix the flaky");
    terminal.send("what is the meaning");
    terminal.wait_for("F4 answers");
    terminal.send(" of it all");
    terminal.wait_for("what is the meaning of it all");
    assert!(!terminal.screen().contains("drop the queue"), "{}", terminal.screen());
    terminal.send("\r");
    terminal.wait_for("queued #9");
    terminal.send("\x1bOS");
    terminal.wait_for("drop the queue");
    terminal.send("f");
    terminal.send("\r");
    terminal.wait_for("all 9 agents ended");
    leave(&world, &mut terminal);
}

#[test]
fn the_demo_is_for_terminals() {
    let world = World::new();
    let ran = world.fleet(&["demo"]).expect_code(2);
    assert!(ran.stderr.contains("needs a terminal"), "{ran:#?}");
    let ran = world.fleet(&["demo", "--speed", "0"]).expect_code(2);
    assert!(ran.stderr.contains("is no speed"), "{ran:#?}");
    assert!(world.processes().is_empty());
}
