//! The output of an agent on the real screen: followed, scrolled, searched and copied from.
//!
//! What may go here: the real binary in a terminal with one agent. What may not: what the pane looks like at each size.

use rustix::process::Signal;

use crate::harness::{Pid, Terminal, World};

const ROWS: u16 = 30;
const COLUMNS: u16 = 110;

/// Prints two hundred lines, and one more when the test lets it.
const TASK: &str =
    "seq -f 'line %g' 200; until [ -e go ]; do sleep 0.02; done; echo 'the very end'";

#[test]
fn the_output_of_an_agent_is_followed_scrolled_searched_and_copied_from() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &["--agent", "sh", TASK], ROWS, COLUMNS);
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

/// Prints colours as a program does that is told to, and everything that could steer the terminal.
const HOSTILE: &str = r#"[ -n "$FORCE_COLOR" ] && printf '\033[1;31mred\033[0m \033[38;5;46mgreen\033[0m\n'
printf 'title\033]0;owned\007 clear\033[2J home\033[H mode\033[?1049l\033[?25h\n'
printf 'link\033]8;;http://x\033\\here\033]8;;\033\\ bell\007 c1\302\2332J dcs\033Pq#0\033\\ back\b\b\n'
printf 'clip\033]52;c;b3duZWQ=\007 right\342\200\256left\n'
printf '\033]0;owned\007the reason\n' >&2; exit 3"#;

/// C-96: colours are drawn in our own way, and of all other sequences nothing is written, wherever the text is shown.
#[test]
fn nothing_that_an_agent_prints_reaches_the_terminal_raw() {
    let mut world = World::new();
    world.set("FORCE_COLOR", "1");
    std::fs::write(world.file("hostile.sh"), HOSTILE).unwrap();
    let task = "sh hostile.sh";
    let mut screen = Terminal::start(&world, &["--agent", "sh", task], ROWS, COLUMNS);
    for text in ["red green", "title clear home mode", "linkhere bell", "clip right", "the reason"]
    {
        screen.wait_for(text);
    }
    let coloured = screen.look(|screen| {
        let (rows, columns) = (ROWS, COLUMNS);
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| screen.cell(row, column)).any(|cell| {
            cell.contents() == "r" && cell.bold() && cell.fgcolor() == vt100::Color::Idx(1)
        })
    });
    assert!(coloured, "the colour is not shown: {}", screen.screen());
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    // The screen's own bell, for an agent that has failed, comes between two frames.
    let written = screen.written().replace("\x1b[?2026l\u{7}", "");
    for raw in ["owned", "\u{7}", "\u{9b}", "]8;;", "\x1bP", "b3duZWQ", "\u{202e}", "\u{8}"] {
        assert!(!written.contains(raw), "{raw:?} was written: {written:?}");
    }
    world.end_fleets();
    let shown = world.fleet(&["results"]).expect_code(0);
    assert!(shown.stdout.contains("the reason"), "{shown:#?}");
    shown.assert_no_escapes();
    assert!(
        !shown.stdout.chars().any(|letter| letter.is_control() && letter != '\n'),
        "{shown:#?}"
    );
}
