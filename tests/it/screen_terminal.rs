//! The terminal under a screen: given back in every case, survives other programs, other sizes and its own end.
//!
//! Most tests start this very test binary in a terminal, as a program with nothing but the screen in it
//! ([`screen_program`]), so that it can be made to fail in ways that `fleet` cannot.

use std::path::PathBuf;

use loki_fleet::core::{FleetId, Moment, Snapshot};
use loki_fleet::journal::FleetDir;
use loki_fleet::runtime;
use loki_fleet::tui::{self, KindInfo, Left, Link, Made, Session, TaskMaker, TaskOptions};
use loki_fleet::words::notice_line::Alerts;
use rustix::process::Signal;
use tokio::sync::watch;

use crate::harness::{GENEROUS, Live, Pid, Terminal, World, wait_until};

/// Says that this process is the program in the terminal, and what it does.
const ROLE: &str = "FLEET_TEST_ROLE";
/// Written after every frame.
const FRAME: &str = "\x1b[?2026l";

/// Makes nothing, and panics where a draft tells it to.
struct Maker;

impl TaskMaker for Maker {
    fn kinds(&self) -> Vec<KindInfo> {
        Vec::new()
    }

    fn count(&self, draft: &str, _options: &TaskOptions) -> usize {
        assert!(!draft.contains("boom"), "the draft says boom");
        1
    }

    fn make(&self, draft: &str, options: &TaskOptions) -> Made {
        self.count(draft, options);
        Made::default()
    }
}

/// Starts a terminal that a signal can take away, with this in it: a program and its arguments, separated by newlines.
const HELD: &str = "FLEET_TEST_HELD";

/// Not a test by itself: what the tests start in a terminal.
#[test]
fn screen_program() {
    match std::env::var(ROLE).as_deref() {
        Ok("agents") => run(true, None),
        Ok("editor") => run(false, None),
        Ok("panic beside") => run(true, Some(thread_that_panics)),
        Ok("holder") => hold(),
        _ => {}
    }
}

/// Runs a screen and ends this process as `fleet` would.
#[expect(clippy::exit, reason = "the test's own end would hide the code")]
fn run(is_read_only: bool, beside: Option<fn()>) -> ! {
    std::fs::write("screen.pid", std::process::id().to_string()).unwrap();
    let id: FleetId = serde_json::from_str("\"z7q\"").unwrap();
    let looped = runtime::new_loop().unwrap();
    let (handle, _host) = runtime::channel(Snapshot::empty(id.clone(), Moment(0)));
    let (_link, link) = watch::channel(Link::Up { handle, away_since: None });
    let session = Session {
        link,
        dir: FleetDir::new(PathBuf::from("fleet"), id),
        folder: PathBuf::from("/z7q"),
        maker: Box::new(Maker),
        options: TaskOptions::default(),
        first: None,
        is_read_only,
        is_demo: false,
        draft: std::env::current_dir().ok().map(|folder| folder.join("draft")),
        history: None,
        remark: None,
        sizes: None,
        mouse: true,
        alerts: Alerts::default(),
        others: None,
        came_from: None,
        keep: None,
    };
    if let Some(beside) = beside {
        std::thread::spawn(beside);
    }
    let left = looped.block_on(tui::run(session)).unwrap().left;
    std::fs::write("left", format!("{left:?}")).unwrap();
    std::process::exit(match left {
        Left::Signal(number) => 128 + number,
        Left::TerminalGone => 129,
        Left::Detached | Left::StoppedAll => 0,
    });
}

fn thread_that_panics() {
    wait_until("it is to panic", GENEROUS, || {
        if std::path::Path::new("panic").exists() { Ok(()) } else { Err(String::new()) }
    });
    panic!("something beside the screen");
}

/// Holds a terminal with a screen in it until it is killed, and with it the terminal.
fn hold() {
    let folder = std::env::current_dir().unwrap();
    let mut world = World::new();
    // Everything of the outer world but what makes this process a holder.
    for (name, value) in std::env::vars().filter(|(name, _)| name != ROLE && name != HELD) {
        world.set(&name, &value);
    }
    let command = format!("cd '{}'; {}", folder.display(), std::env::var(HELD).unwrap());
    let terminal = Terminal::start_program(&world, "sh", &["-c", &command], 24, 80);
    terminal.wait_written(FRAME, 1);
    std::fs::write("held", "").unwrap();
    wait_until("this is killed", GENEROUS, || Err::<(), _>(String::new()));
}

/// Starts a screen in a terminal and waits for its first frame.
fn start(world: &mut World, role: &str, rows: u16, columns: u16) -> Terminal {
    world.set(ROLE, role);
    let args = ["--exact", "screen_terminal::screen_program", "--nocapture"];
    let program = std::env::current_exe().unwrap();
    let terminal = Terminal::start_program(world, program, &args, rows, columns);
    terminal.wait_written(FRAME, 1);
    terminal
}

/// The process that a screen runs in.
#[track_caller]
fn screen_pid(world: &World) -> Pid {
    wait_until("the screen tells its process", GENEROUS, || {
        let text = world.read("screen.pid");
        text.parse().map(Pid).map_err(|_| format!("{text:?}"))
    })
}

/// An interactive shell in a terminal that has started a screen.
fn start_in_shell(world: &mut World) -> Terminal {
    world.set(ROLE, "agents");
    world.set("PS1", "ready> ");
    let program = std::env::current_exe().unwrap();
    let terminal =
        Terminal::start_program(world, "bash", &["--norc", "--noprofile", "-bi"], 24, 80);
    terminal.wait_for("ready> ");
    terminal.send(&format!(
        "'{}' --exact screen_terminal::screen_program --nocapture\r",
        program.display()
    ));
    wait_taken(&terminal, true);
    terminal.wait_written(FRAME, 1);
    terminal
}

#[track_caller]
fn wait_taken(terminal: &Terminal, is_taken: bool) {
    wait_until(&format!("that the screen has the terminal is {is_taken}"), GENEROUS, || {
        if terminal.is_taken() == is_taken {
            Ok(())
        } else {
            Err(format!("\n{}", terminal.screen()))
        }
    });
}

/// Asks the shell for the modes that it gives to programs.
#[track_caller]
fn assert_shell_has_terminal(terminal: &Terminal, mark: &str) {
    terminal.send(&format!(
        "stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e -icanon | sed s/^/{mark}:/\r"
    ));
    terminal.wait_for(&format!("{mark}:icanon"));
}

#[test]
fn leaving_gives_the_terminal_back() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "agents", 24, 80);
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    assert_eq!(world.read("left"), "Detached");
}

#[test]
fn signals_end_the_screen_with_their_own_codes_and_give_the_terminal_back() {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::USR1, 138),
        (Signal::USR2, 140),
        (Signal::ALARM, 142),
    ] {
        let mut world = World::new();
        let mut terminal = start(&mut world, "agents", 24, 80);
        terminal.pid().signal(signal);
        assert_eq!(terminal.end(), code, "{}", terminal.screen());
        terminal.wait_given_back();
    }
}

#[test]
fn a_terminal_that_does_not_read_keeps_nobody_from_ending_the_screen() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "agents", 24, 80);
    terminal.set_reading(false);
    // Frames that cannot be written.
    for _ in 0..20 {
        terminal.send("M");
    }
    terminal.pid().signal(Signal::TERM);
    assert_eq!(terminal.end(), 143);
    terminal.set_reading(true);
}

#[test]
fn a_terminal_that_reads_again_shows_what_is_true_then() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "agents", 24, 80);
    terminal.set_reading(false);
    terminal.send("M");
    terminal.resize(30, 100);
    terminal.set_reading(true);
    terminal.wait_for("mouse off");
    terminal.send("q");
    assert_eq!(terminal.end(), 0);
    terminal.wait_given_back();
}

/// C-51, for a panic: that of the screen, which owns no agents. What a host leaves goes on and is adopted.
#[test]
fn a_panic_of_the_screen_gives_the_terminal_back_before_it_is_printed() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "editor", 24, 80);
    terminal.send("boom");
    assert_eq!(terminal.end(), 101, "{}", terminal.screen());
    terminal.wait_given_back();
    // On the screen that was left for, so that a person can read it.
    terminal.wait_for("the draft says boom");
    world.assert_nothing_runs();
    world.assert_no_temporary_files();
}

/// Writes a program that says that it has a file, survives an interrupt, notes the modes of the terminal and the line
/// that is typed then, and ends with what is given. Returns a command that starts it.
fn write_program(world: &World, name: &str, end: &str) -> String {
    let text = format!(
        "trap 'echo {name} was interrupted' INT\n\
         stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e -icanon > {name}.modes\n\
         echo \"{name} has $1\"; line=\n\
         until [ -n \"$line\" ]; do read line; done\n\
         echo \"$line\" > {name}.line\n{end}\n"
    );
    let path = world.file(name);
    std::fs::write(&path, text).unwrap();
    format!("sh '{}'", path.display())
}

/// Types what a program of [`write_program`] waits for. Each key would do something to the screen as well.
#[track_caller]
fn type_into_program(world: &World, terminal: &Terminal, name: &str) {
    terminal.wait_for(&format!("{name} has "));
    assert!(!terminal.is_taken(), "{}", terminal.screen());
    terminal.send("\x1a\x03");
    terminal.wait_for(&format!("{name} was interrupted"));
    terminal.send("jqX\r");
    wait_taken(terminal, true);
    assert_eq!(world.read(&format!("{name}.line")), "jqX\n");
    assert_eq!(world.read(&format!("{name}.modes")), "icanon\n");
}

#[test]
fn a_pager_gets_the_whole_terminal_and_its_end_gives_it_back() {
    let mut world = World::new();
    let pager = write_program(&world, "pager", "exit 3");
    world.set("PAGER", &pager);
    let mut terminal = Terminal::start(&world, &["--agent", "sh", "echo seen"], 24, 80);
    terminal.wait_for("1 done");
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    terminal.send("o");
    type_into_program(&world, &terminal, "pager");
    terminal.wait_for("sh ended with exit code 3");
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    world.end_fleets();
}

#[test]
fn an_editor_gets_the_draft_and_what_it_leaves_is_the_draft() {
    let mut world = World::new();
    let editor =
        write_program(&world, "editor", "cat \"$1\" > before; echo 'much better' > \"$1\"");
    world.set("EDITOR", &editor);
    let mut terminal = Terminal::start(&world, &["--agent", "sh"], 24, 80);
    terminal.wait_for("new task");
    terminal.send("good");
    terminal.wait_for("good");
    terminal.send("\x18");
    type_into_program(&world, &terminal, "editor");
    terminal.wait_for("much better");
    assert_eq!(world.read("before"), "good");
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    world.end_fleets();
}

#[test]
fn keys_of_a_paste_without_marks_reach_neither_the_table_nor_the_host() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["--agent", "sh", "echo seen"], 24, 80);
    terminal.wait_for("1 done");
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    // Quits, stops and dispatches if it is taken for keys.
    terminal.send("qXxecho one\recho two\r");
    terminal.wait_for("echo two");
    assert!(terminal.screen().contains("qXxecho one"), "{}", terminal.screen());
    assert!(terminal.is_taken());
    terminal.wait_for("1 done");
    terminal.send("\x03");
    terminal.send("\x03");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    let results = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(results.column("status"), ["done"], "something was dispatched");
    world.end_fleets();
}

#[test]
fn a_panic_beside_the_screen_is_told_there_and_printed_after_it() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "panic beside", 24, 80);
    std::fs::write(world.file("panic"), "").unwrap();
    terminal.wait_for("a part of fleet has failed");
    assert!(terminal.is_taken());
    assert!(!terminal.written().contains("something beside the screen"), "{}", terminal.screen());
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    terminal.wait_for("something beside the screen");
}

/// Starts a command in a terminal that goes away when what is returned is killed.
fn start_held<'w>(world: &'w World, held: &str) -> Live<'w> {
    let mut command = world.command(std::env::current_exe().unwrap());
    command.args(["--exact", "screen_terminal::screen_program", "--nocapture"]);
    command.env(ROLE, "holder").env(HELD, held);
    let holder = world.start_command(command);
    wait_until("the screen is up", GENEROUS, || {
        if world.file("held").exists() { Ok(()) } else { Err(holder.stderr()) }
    });
    holder
}

#[test]
fn a_terminal_that_goes_away_ends_the_screen_and_no_agent() {
    let world = World::new();
    let fleet = env!("CARGO_BIN_EXE_fleet");
    let task = "echo $$ > agent.pid; sleep 1000";
    let held = format!("echo $$ > screen.pid; exec '{fleet}' --agent sh '{task}'");
    let holder = start_held(&world, &held);
    world.wait_lines("agent.pid", 1);
    let agent = Pid(world.read("agent.pid").trim().parse().unwrap());
    let screen = Pid(world.wait_lines("screen.pid", 1)[0].parse().unwrap());
    holder.signal(Signal::KILL);
    screen.wait_gone("the screen without a terminal");
    assert!(agent.lives(), "the agent ended with the terminal");
    drop(holder);
    world.end_fleets();
    assert!(!agent.lives(), "the stopped agent");
}

#[test]
fn a_terminal_that_goes_away_is_noticed_whatever_tells_it_first() {
    let world = World::new();
    let program = std::env::current_exe().unwrap();
    let held = format!(
        "{ROLE}=agents exec '{}' --exact screen_terminal::screen_program --nocapture",
        program.display()
    );
    let holder = start_held(&world, &held);
    let screen = screen_pid(&world);
    assert!(screen.lives());
    holder.signal(Signal::KILL);
    screen.wait_gone("the screen without a terminal");
    wait_until("it says how it ended", GENEROUS, || match world.read("left").as_str() {
        "TerminalGone" | "Signal(1)" => Ok(()),
        other => Err(other.to_owned()),
    });
    drop(holder);
    world.assert_nothing_runs();
}

/// C-135.
#[test]
fn a_storm_of_sizes_ends_with_the_frame_of_the_last_one() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "agents", 24, 80);
    for round in 0_u16..200 {
        terminal.resize(5 + round % 60, 20 + (round * 7) % 200);
    }
    terminal.resize(30, 100);
    let mut other_world = World::new();
    let mut fresh = start(&mut other_world, "agents", 30, 100);
    wait_until("the frame is that of a new screen", GENEROUS, || {
        let (seen, wanted) = (terminal.screen(), fresh.screen());
        if seen == wanted { Ok(()) } else { Err(format!("\n{seen}\nand not\n{wanted}")) }
    });
    for one in [&mut terminal, &mut fresh] {
        one.send("q");
        assert_eq!(one.end(), 0, "{}", one.screen());
        one.wait_given_back();
    }
}

/// What is on a screen, without the times that go on: words, each with one space before it.
fn without_times(screen: &str) -> String {
    let is_time = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let line = |line: &str| -> String {
        let is_unit = |word: &str| word.ends_with(['s', 'm', 'h']);
        let words = line.split_whitespace().filter(|word| !(is_time(word) && is_unit(word)));
        words.collect::<Vec<_>>().join(" ")
    };
    screen.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Fails unless the table has each of these tasks in one row, and no other row.
#[track_caller]
fn assert_rows(terminal: &Terminal, tasks: &[&str]) {
    let screen = terminal.screen();
    let rows: Vec<&str> =
        screen.lines().filter(|line| line.contains(" sh ") && line.contains('#')).collect();
    assert_eq!(rows.len(), tasks.len(), "{screen}");
    for (row, task) in rows.iter().zip(tasks) {
        assert!(row.contains(task), "{task}\n{screen}");
    }
}

#[test]
fn a_storm_of_sizes_over_agents_ends_with_the_frame_of_the_last_one() {
    let world = World::new();
    let tasks = ["seq 300; sleep 1000", "sleep 1001", "sleep 1002"];
    let [first, second, third] = tasks;
    let words = ["--agent", "sh", "-j", "3", first, second, third];
    let terminal = Terminal::start(&world, &words, 24, 80);
    terminal.wait_for("3 running");
    let shims = [1, 2, 3].map(|id| world.shim(id));
    for round in 0_u16..200 {
        terminal.resize(5 + round % 60, 20 + (round * 7) % 200);
    }
    terminal.resize(30, 100);
    let fresh = Terminal::start(&world, &["attach"], 30, 100);
    wait_until("the frame is that of a new screen", GENEROUS, || {
        let (seen, wanted) = (without_times(&terminal.screen()), without_times(&fresh.screen()));
        if seen == wanted && seen.contains("3 running") && seen.contains("│300") {
            Ok(())
        } else {
            Err(format!("\n{seen}\nand not\n{wanted}"))
        }
    });
    assert_rows(&terminal, &tasks);
    assert!(shims.iter().all(|shim| shim.lives()), "{:#?}", world.processes());
    assert_eq!(world.fleet(&["results", "--json"]).column("status"), ["running"; 3]);
    drop((terminal, fresh));
    world.end_fleets();
}

#[test]
fn control_z_and_fg_change_nothing_for_the_agents_in_the_table() {
    let mut world = World::new();
    world.set("PS1", "ready> ");
    let mut terminal =
        Terminal::start_program(&world, "bash", &["--norc", "--noprofile", "-bi"], 24, 80);
    terminal.wait_for("ready> ");
    let fleet = env!("CARGO_BIN_EXE_fleet");
    terminal.send(&format!("'{fleet}' --agent sh -j 3 'sleep 1000' 'sleep 1001'\r"));
    wait_taken(&terminal, true);
    terminal.wait_for("2 running");
    let shims = [1, 2].map(|id| world.shim(id));
    // In the editor the key is undo.
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    for round in ["first", "second"] {
        terminal.send("\x1a");
        wait_taken(&terminal, false);
        terminal.wait_for("Stopped");
        assert_shell_has_terminal(&terminal, round);
        assert!(shims.iter().all(|shim| shim.lives()), "{:#?}", world.processes());
        // What it was given before it went on is that of another size.
        terminal.resize(if round == "first" { 30 } else { 24 }, 100);
        terminal.send("fg\r");
        wait_taken(&terminal, true);
        terminal.wait_for("2 running");
        terminal.wait_for("sleep 1001");
        assert_rows(&terminal, &["sleep 1000", "sleep 1001"]);
    }
    terminal.send("i");
    terminal.wait_for("Enter dispatch");
    terminal.send("echo again > said");
    terminal.wait_for("echo again > said");
    terminal.send("\r");
    terminal.wait_for("1 done");
    assert_rows(&terminal, &["sleep 1000", "sleep 1001", "echo again"]);
    assert!(shims.iter().all(|shim| shim.lives()), "{:#?}", world.processes());
    let results = world.fleet(&["results", "--json"]);
    assert_eq!(results.column("status"), ["running", "running", "done"]);
    terminal.send("\x03");
    terminal.wait_for("leave running");
    terminal.send("l");
    wait_taken(&terminal, false);
    terminal.wait_for("fleet attach");
    terminal.send("exit\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    world.end_fleets();
}

#[test]
fn control_z_gives_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let mut world = World::new();
    let mut terminal = start_in_shell(&mut world);
    for round in ["first", "second"] {
        terminal.send("\x1a");
        wait_taken(&terminal, false);
        terminal.wait_for("Stopped");
        assert_shell_has_terminal(&terminal, round);
        terminal.send("fg\r");
        wait_taken(&terminal, true);
    }
    end_in_shell(&world, &mut terminal);
}

#[test]
fn control_z_does_nothing_where_nobody_could_continue() {
    let mut world = World::new();
    let mut terminal = start(&mut world, "agents", 24, 80);
    terminal.send("\x1a");
    terminal.pid().signal(Signal::TSTP);
    terminal.wait_for("no shell to go back to");
    assert!(terminal.is_taken());
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
}

/// Ctrl-Z in the fleet that this command starts is answered, and the agent and the screen go on; then both are left.
#[track_caller]
fn assert_control_z_is_refused(world: &World, program: &str, args: &[&str]) {
    let mut terminal = Terminal::start_program(world, program, args, 24, 80);
    terminal.wait_for("1 running");
    // In the editor the key is undo.
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    let agents = || world.processes().into_iter().filter(|one| one.mark.is_some()).count();
    // It is said to run once its shim has seen it begin, which is before it is another program.
    let before = wait_until("the agent runs", GENEROUS, || match agents() {
        0 => Err(format!("{:#?}", world.processes())),
        running => Ok(running),
    });
    terminal.send("\x1a");
    terminal.wait_for("no shell to go back to");
    assert!(terminal.is_taken(), "{}", terminal.screen());
    assert!(terminal.screen().contains("1 running"), "{}", terminal.screen());
    assert_eq!(agents(), before, "{:#?}", world.processes());
    terminal.send("\x03");
    terminal.wait_for("leave running");
    terminal.send("l");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
}

/// A script that is a terminal's first process has nobody behind it who could continue both.
#[test]
fn control_z_does_nothing_in_a_script_that_nobody_watches() {
    let world = World::new();
    let script = "\"$0\" --agent sh 'sleep 1000'; exit $?";
    assert_control_z_is_refused(&world, "sh", &["-c", script, env!("CARGO_BIN_EXE_fleet")]);
    world.end_fleets();
}

/// As in a container: parent, group and session are outside of what the process can see. With its first process the
/// system ends everything in it.
#[expect(clippy::print_stdout, reason = "a test that did not run has to say so")]
#[cfg(target_os = "linux")]
#[test]
fn control_z_does_nothing_in_the_first_process_of_a_namespace() {
    let apart = ["-Urpf", "--mount-proc"];
    let probe = World::new();
    let tried = probe.command("unshare").args(apart).arg("true").output();
    if !tried.as_ref().is_ok_and(|output| output.status.success()) {
        println!("skipped, because there is no process namespace to be had: {tried:?}");
        return;
    }
    for script in ["exec \"$0\" --agent sh 'sleep 1000'", "\"$0\" --agent sh 'sleep 1000'; exit $?"]
    {
        let world = World::new();
        let command = ["sh", "-c", script, env!("CARGO_BIN_EXE_fleet")];
        assert_control_z_is_refused(&world, "unshare", &[&apart[..], &command].concat());
        world.assert_nothing_runs();
    }
}

#[test]
fn a_stop_from_elsewhere_is_like_control_z() {
    for signal in [Signal::TSTP, Signal::STOP] {
        let mut world = World::new();
        let mut terminal = start_in_shell(&mut world);
        screen_pid(&world).signal(signal);
        terminal.wait_for("Stopped");
        terminal.send("fg\r");
        // Taken again, with all of it drawn anew.
        terminal.wait_written("\x1b[?1049h", 2);
        wait_taken(&terminal, true);
        end_in_shell(&world, &mut terminal);
    }
}

#[test]
fn in_the_background_the_terminal_is_left_alone() {
    let mut world = World::new();
    let mut terminal = start_in_shell(&mut world);
    terminal.send("\x1a");
    wait_taken(&terminal, false);
    terminal.wait_for("Stopped");
    let before = terminal.written().matches("\x1b[?1049h").count();
    terminal.send("bg\r");
    // The screen has nothing to do there, and stops again. The shell has to know before it can continue it.
    terminal.wait_written("Stopped", 2);
    assert_shell_has_terminal(&terminal, "background");
    assert_eq!(terminal.written().matches("\x1b[?1049h").count(), before);
    terminal.send("fg\r");
    wait_taken(&terminal, true);
    end_in_shell(&world, &mut terminal);
}

/// Leaves a screen that was started in a shell, and the shell.
#[track_caller]
fn end_in_shell(world: &World, terminal: &mut Terminal) {
    terminal.send("q");
    wait_taken(terminal, false);
    screen_pid(world).wait_gone("the screen");
    terminal.send("exit\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.wait_given_back();
    world.assert_nothing_runs();
}

/// What somebody else has written: on an alternate screen that was left on, and later over ours.
#[test]
fn what_others_have_written_is_gone_at_the_start_and_after_ctrl_l() {
    let mut world = World::new();
    world.set(ROLE, "agents");
    let program = std::env::current_exe().unwrap();
    // Ends by itself, also when the test fails.
    let smear =
        "for i in $(seq 600); do [ -e smear ] && break; sleep 0.1; done; printf '\\033[9;9HSMEAR'";
    let command = format!(
        "({smear}) & exec '{}' --exact screen_terminal::screen_program --nocapture",
        program.display()
    );
    let mut terminal = Terminal::start_program(&world, "sh", &["-c", &command], 24, 80);
    terminal.wait_written(FRAME, 1);
    // Emulators clear when the alternate screen is entered, terminals that are in it already do not.
    let written = terminal.written();
    assert!(written.contains("\x1b[?1049h\x1b[2J"), "{written:?}");
    std::fs::write(world.file("smear"), "").unwrap();
    terminal.wait_for("SMEAR");
    terminal.send("\x0c");
    wait_until("the screen is drawn anew", GENEROUS, || {
        let screen = terminal.screen();
        if screen.contains("SMEAR") { Err(screen) } else { Ok(()) }
    });
    terminal.send("q");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
}

/// An agent can put anything in the place of its output: opening it must keep no key waiting.
#[test]
fn a_pipe_in_the_place_of_an_output_is_not_opened() {
    let mut world = World::new();
    let pager = write_program(&world, "pager", "exit 3");
    world.set("PAGER", &pager);
    world.set("EDITOR", &pager);
    let mut terminal = Terminal::start(&world, &["--agent", "sh", "echo seen"], 24, 80);
    terminal.wait_for("1 done");
    terminal.send("\x1b");
    terminal.wait_for("i new task");
    let out = world.agent_folder(1).join("out");
    std::fs::remove_file(&out).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &out, rustix::fs::Mode::RWXU).unwrap();
    terminal.send("o");
    terminal.wait_for("no regular file");
    terminal.pid().signal(Signal::TERM);
    assert_eq!(terminal.end(), 143, "{}", terminal.screen());
    world.end_fleets();
}

#[test]
fn a_signal_while_an_editor_has_the_draft_keeps_what_was_written_there() {
    let mut world = World::new();
    // Ends by itself, also when the test fails.
    let script = "echo 'better' > \"$1\"; : > written; for i in $(seq 600); do [ -e go ] && break; sleep 0.1; done";
    let path = world.file("editor");
    std::fs::write(&path, script).unwrap();
    world.set("EDITOR", &format!("sh {}", path.display()));
    let mut terminal = start(&mut world, "editor", 24, 80);
    terminal.send("good");
    terminal.wait_for("good");
    terminal.send("\x18");
    wait_until("the editor has written", GENEROUS, || {
        if world.file("written").exists() { Ok(()) } else { Err(terminal.screen()) }
    });
    screen_pid(&world).signal(Signal::TERM);
    assert_eq!(terminal.end(), 143, "{}", terminal.screen());
    assert_eq!(world.read("draft"), "better");
    std::fs::write(world.file("go"), "").unwrap();
    world.assert_nothing_runs();
}
