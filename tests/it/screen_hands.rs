//! The screen under a person's hands: what the mouse and pastes do to agents that really run.
//!
//! What may go here: the real binary in a terminal that sends what terminals send. What may not: how their bytes are told
//! apart, and keys.

use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;

use vt100::MouseProtocolMode;

use crate::harness::{GENEROUS, Terminal, World, wait_until};

const ROWS: u16 = 30;
const COLUMNS: u16 = 110;
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// A screen with these tasks, once it says this.
#[track_caller]
fn open(world: &World, tasks: &[&str], until: &str) -> Terminal {
    let words: Vec<&str> =
        ["--agent", "sh", "-j", "4"].into_iter().chain(tasks.iter().copied()).collect();
    let terminal = Terminal::start(world, &words, ROWS, COLUMNS);
    terminal.wait_for(until);
    // Before its first frame with agents there is nothing to point at.
    terminal.wait_for("new task");
    terminal
}

/// The cell of this text as reports of the mouse name it, from one on.
#[track_caller]
fn place(terminal: &Terminal, text: &str) -> (usize, usize) {
    wait_until(&format!("{text:?} has a place"), GENEROUS, || {
        let screen = terminal.screen();
        let found = screen.lines().enumerate().find_map(|(row, line)| {
            let (before, _) = line.split_once(text)?;
            Some((before.chars().count() + 1, row + 1))
        });
        found.ok_or_else(|| format!("\n{screen}"))
    })
}

/// Reports a button: pressed, moved or released, or a turn of the wheel. Like any terminal it reports nothing to a program
/// that has not asked for it.
fn report(terminal: &Terminal, button: u8, (column, row): (usize, usize), end: char) {
    if terminal.look(vt100::Screen::mouse_protocol_mode) == MouseProtocolMode::None {
        return;
    }
    terminal.send(&format!("\x1b[<{button};{column};{row}{end}"));
}

/// Presses and releases the left button on this text.
#[track_caller]
fn click(terminal: &Terminal, text: &str) {
    let place = place(terminal, text);
    report(terminal, 0, place, 'M');
    report(terminal, 0, place, 'm');
}

#[track_caller]
fn wait_gone(terminal: &Terminal, text: &str) {
    wait_until(&format!("the screen no longer shows {text:?}"), GENEROUS, || {
        let screen = terminal.screen();
        if screen.contains(text) { Err(format!("\n{screen}")) } else { Ok(()) }
    });
}

/// Waits until the table has this agent selected.
#[track_caller]
fn wait_selected(terminal: &Terminal, id: &str) {
    wait_until(&format!("{id} is selected"), GENEROUS, || {
        let screen = terminal.screen();
        let line = screen.lines().find(|line| line.contains('▌'));
        if line.is_some_and(|line| line.contains(id)) { Ok(()) } else { Err(format!("\n{screen}")) }
    });
}

#[track_caller]
fn statuses(world: &World) -> Vec<String> {
    world.fleet(&["results", "--json"]).column("status")
}

#[test]
fn a_click_selects_an_agent_and_gives_its_pane_the_keys() {
    let world = World::new();
    let tasks = ["echo out of one; sleep 1000", "echo out of two; sleep 1000"];
    let terminal = open(&world, &tasks, "2 running");
    terminal.wait_for("╔ new task");
    click(&terminal, "echo out of two");
    wait_selected(&terminal, "#2");
    terminal.wait_for("╔═ agents");
    terminal.wait_for("│out of two");
    click(&terminal, "echo out of one");
    wait_selected(&terminal, "#1");
    terminal.wait_for("│out of one");
    click(&terminal, "│out of one");
    terminal.wait_for("╔═ #1 out");
    click(&terminal, "type a command for sh");
    terminal.wait_for("╔ new task");
    assert_eq!(statuses(&world), ["running"; 2]);
    drop(terminal);
    world.end_fleets();
}

#[test]
fn the_wheel_scrolls_the_output_under_it_whatever_has_the_keys() {
    let world = World::new();
    let terminal = open(&world, &["seq 200; sleep 1000"], "1 running");
    terminal.wait_for("│200");
    terminal.wait_for(" · follow ─");
    let place = place(&terminal, "│199");
    report(&terminal, 64, place, 'M');
    wait_gone(&terminal, " · follow ─");
    wait_gone(&terminal, "│200");
    terminal.wait_for("│197");
    assert!(terminal.screen().contains("╔ new task"), "{}", terminal.screen());
    report(&terminal, 65, place, 'M');
    terminal.wait_for("│200");
    drop(terminal);
    world.end_fleets();
}

/// Clicks on the name of a key until one of these is seen. A remark that comes just then covers the names for a moment, and
/// a click does nothing to it.
#[track_caller]
fn click_key(terminal: &Terminal, name: &str, effects: &[&str]) {
    let is_seen = || effects.iter().any(|effect| terminal.screen().contains(effect));
    let has_name = || terminal.screen().contains(name);
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        wait_until(what, GENEROUS, || {
            if is_so() { Ok(()) } else { Err(format!("\n{}", terminal.screen())) }
        });
    };
    while !is_seen() {
        wait("the key is named or was pressed", &|| is_seen() || has_name());
        if !is_seen() {
            click(terminal, name);
            wait("the key was pressed or a remark covers it", &|| is_seen() || !has_name());
        }
    }
}

#[test]
fn a_click_on_the_name_of_a_key_presses_it() {
    let world = World::new();
    let terminal = open(&world, &["sleep 1000"], "1 running");
    click_key(&terminal, "Esc agents", &["╔═ agents"]);
    click_key(&terminal, "p hold or release", &["held"]);
    click_key(&terminal, "F1 help", &["later in the queue"]);
    terminal.send("\x1b");
    wait_gone(&terminal, "later in the queue");
    click_key(&terminal, "x stop", &["stopping", "cancelled"]);
    terminal.wait_for("1 cancelled");
    assert_eq!(statuses(&world), ["cancelled"]);
    drop(terminal);
    world.end_fleets();
}

#[test]
fn dragging_the_border_of_an_output_moves_it_and_the_next_screen_has_it_there() {
    let world = World::new();
    let terminal = open(&world, &["seq 200; sleep 1000"], "1 running");
    terminal.wait_for("│200");
    let title = "#1 out";
    let (_, before) = place(&terminal, title);
    for row in [before + 3, before - 4] {
        let (_, from) = place(&terminal, title);
        report(&terminal, 0, (40, from), 'M');
        report(&terminal, 32, (40, row), 'M');
        report(&terminal, 0, (40, row), 'm');
        wait_until("the border has moved", GENEROUS, || {
            let (screen, (_, seen)) = (terminal.screen(), place(&terminal, title));
            // The table ends above it, and the output, which the press gave the keys, fills the rest.
            let lines: Vec<&str> = screen.lines().collect();
            let is_between = lines[row - 2].starts_with('└') && lines[row - 1].starts_with('╔');
            let is_output = |line: &&&str| {
                line.strip_prefix('║')
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            };
            let rows = lines.iter().filter(is_output).count();
            if seen == row && is_between && rows == usize::from(ROWS) - row - 2 {
                Ok(())
            } else {
                Err(format!("{seen} and not {row}, {rows} rows\n{screen}"))
            }
        });
    }
    drop(terminal);
    let again = Terminal::start(&world, &["attach"], ROWS, COLUMNS);
    again.wait_for("│200");
    assert_eq!(place(&again, title).1, before - 4, "{}", again.screen());
    drop(again);
    world.end_fleets();
}

#[test]
fn reports_of_the_mouse_are_switched_off_and_on_again() {
    let world = World::new();
    let mut terminal = open(&world, &["sleep 1000"], "1 running");
    let count = |text: &str| terminal.written().matches(text).count();
    assert_eq!((count(MOUSE_ON), count(MOUSE_OFF)), (1, 0));
    terminal.send("\x1b");
    terminal.wait_for("╔═ agents");
    terminal.send("M");
    terminal.wait_for("mouse off");
    terminal.wait_written(MOUSE_OFF, 1);
    assert_eq!((count(MOUSE_ON), count(MOUSE_OFF)), (1, 1));
    // A click is the terminal's own now, so that a person can select text.
    click(&terminal, "type a command for sh");
    terminal.send("?");
    terminal.wait_for("later in the queue");
    terminal.send("\x1b");
    wait_gone(&terminal, "later in the queue");
    assert!(terminal.screen().contains("╔═ agents"), "{}", terminal.screen());
    terminal.send("M");
    terminal.wait_for("mouse on");
    terminal.wait_written(MOUSE_ON, 2);
    assert_eq!((count(MOUSE_ON), count(MOUSE_OFF)), (2, 1));
    click(&terminal, "type a command for sh");
    terminal.wait_for("╔ new task");
    terminal.send("\x03");
    terminal.wait_for("leave running");
    terminal.send("l");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    world.end_fleets();
}

/// Sends a paste as a terminal that marks pastes does: with carriage returns between lines.
fn paste(terminal: &Terminal, text: &str) {
    terminal.send(&format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r")));
}

/// Types behind a paste and sees that; whatever the paste was taken for has happened by then.
#[track_caller]
fn type_behind(terminal: &Terminal, text: &str) {
    terminal.send(text);
    terminal.wait_for(text);
}

#[test]
fn a_paste_of_several_lines_is_one_task_once_enter_is_pressed() {
    let world = World::new();
    let terminal = open(&world, &["sleep 1000"], "1 running");
    paste(&terminal, "echo one >> said\n\necho two >> said\n");
    terminal.wait_for("echo two >> said");
    type_behind(&terminal, "echo three >> said");
    assert_eq!(statuses(&world), ["running"]);
    assert!(!world.file("said").exists());
    terminal.send("\r");
    terminal.wait_for("1 done");
    assert_eq!(world.lines("said"), ["one", "two", "three"]);
    assert_eq!(statuses(&world), ["running", "done"]);
    drop(terminal);
    world.end_fleets();
}

/// A prompt has separators, which no shell command is cut at.
#[test]
fn a_paste_with_separators_is_several_prompts_and_one_command() {
    const PASTED: &str = "cat > one <<X\nfirst\n---\nX\n---\necho third\n";
    let mut world = World::new();
    let programs = world.file("bin");
    std::fs::create_dir(&programs).unwrap();
    let ygg = programs.join("ygg");
    std::fs::write(&ygg, "#!/bin/sh\nprintf %s \"$3\" > \"got${FLEET_AGENT##*/}\"\n").unwrap();
    std::fs::set_permissions(&ygg, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", &format!("{}:{path}", programs.display()));
    let words = ["--agent", "ygg", "--cap", "9", "-j", "1"];
    let terminal = Terminal::start(&world, &words, ROWS, COLUMNS);
    terminal.wait_for("0 done");
    paste(&terminal, PASTED);
    terminal.wait_for("╔ 3 tasks");
    type_behind(&terminal, "behind");
    assert!(world.fleet(&["results", "--json"]).column("status").is_empty());
    terminal.send("\r");
    // Without an answer each of them has failed.
    terminal.wait_for("3 failed");
    for (number, text) in [(1, "cat > one <<X\nfirst"), (2, "X"), (3, "echo third\nbehind")] {
        assert_eq!(world.read(&format!("got{number}")), text);
    }
    drop(terminal);
    world.end_fleets();

    let world = World::new();
    let terminal = open(&world, &[], "0 done");
    paste(&terminal, PASTED);
    terminal.wait_for("╔ 1 task ");
    type_behind(&terminal, "# behind");
    terminal.send("\r");
    terminal.wait_for("1 done");
    assert_eq!(world.read("one"), "first\n---\n");
    drop(terminal);
    world.end_fleets();
}

#[test]
fn a_paste_over_the_table_presses_none_of_its_keys() {
    let world = World::new();
    let terminal = open(&world, &["sleep 1000"], "1 running");
    let shim = world.shim(1);
    terminal.send("\x1b");
    terminal.wait_for("╔═ agents");
    // Each of these stops, holds, retries, quits or dispatches as a key.
    paste(&terminal, "xxXpMrq\nyqd\x03\x1b\n");
    terminal.wait_for("xxXpMrq");
    terminal.wait_for("╔ 1 task");
    type_behind(&terminal, "behind it");
    assert!(terminal.is_taken(), "{}", terminal.screen());
    assert!(!terminal.written().contains(MOUSE_OFF));
    assert!(!terminal.screen().contains("held"), "{}", terminal.screen());
    assert_eq!(statuses(&world), ["running"]);
    assert!(shim.lives());
    drop(terminal);
    world.end_fleets();
}

#[test]
fn a_pasted_mebibyte_reaches_its_agent_whole() {
    let world = World::new();
    for (number, from_table) in [(1, false), (2, true)] {
        let terminal = open(&world, &[], "new task");
        terminal.wait_for(&format!("{} done", number - 1));
        if from_table {
            terminal.send("\x1b");
            terminal.wait_for("╔═ agents");
        }
        let copy = format!("copy{number}");
        let mut text = format!("cat \"$FLEET_TASK_FILE\" > {copy}; exit 0\n");
        for line in 0.. {
            let _ = writeln!(text, "# line {line}\t日本 e\u{301} 👩‍👩‍👧  \"$(xXq)\" \\");
            if text.len() > 1024 * 1024 {
                break;
            }
        }
        text.push_str("# end");
        paste(&terminal, &text);
        terminal.wait_for("[pasted: ");
        type_behind(&terminal, " behind");
        assert!(!world.file(&copy).exists(), "it was dispatched by itself");
        terminal.send("\r");
        terminal.wait_for(&format!("{number} done"));
        let (got, sent) = (world.read(&copy), format!("{text} behind"));
        let first = got.bytes().zip(sent.bytes()).position(|(got, sent)| got != sent);
        assert!(got == sent, "{} of {} bytes, other at {first:?}", got.len(), sent.len());
        assert_eq!(statuses(&world), vec!["done"; number]);
    }
    world.end_fleets();
}
