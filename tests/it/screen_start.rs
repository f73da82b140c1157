//! The screen from the command line to the last line: which fleet it opens, what becomes of that when a screen or a host
//! dies, what is refused.
//!
//! What may go here: the real binary in a terminal, with real hosts. What may not: what panes look like.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use loki_fleet::journal::StateDir;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{GENEROUS, Pid, Terminal, World, wait_until};

const ROWS: u16 = 30;
const COLUMNS: u16 = 110;

fn open(world: &World, args: &[&str]) -> Terminal {
    Terminal::start(world, args, ROWS, COLUMNS)
}

/// Opens the screen and waits until it is connected: before that, nothing is dispatched.
fn open_ready(world: &World, args: &[&str]) -> Terminal {
    let screen = open(world, args);
    screen.wait_for("0 done");
    screen.wait_for("press Enter");
    screen
}

/// Types a draft and dispatches it. Both at once would be taken for a paste, in which Enter is a new line.
fn dispatch(terminal: &Terminal, text: &str) {
    terminal.send(text);
    terminal.wait_for(text);
    terminal.send("\r");
}

fn fleets(world: &World) -> Value {
    world.fleet(&["ls", "--json"]).expect_code(0).json()
}

/// The host of the only fleet.
fn host(world: &World) -> Pid {
    wait_until("the fleet has a host", GENEROUS, || {
        let fleets = fleets(world);
        let pid = fleets[0]["host_pid"].as_u64().ok_or_else(|| fleets.to_string())?;
        Ok(Pid(u32::try_from(pid).unwrap()))
    })
}

fn agent(world: &World, id: usize) -> Value {
    let results = world.fleet(&["results", "--json"]).expect_code(0).json();
    results["agents"][id - 1].clone()
}

#[test]
fn an_empty_folder_is_told_what_to_do_and_leaves_nothing_to_say() {
    let world = World::new();
    let mut screen = open_ready(&world, &["--agent", "sh"]);
    screen.wait_for("no agents yet");
    let host = host(&world);
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    assert!(!screen.written().contains("fleet attach"), "{}", screen.written());
    host.signal(Signal::TERM);
    world.assert_nothing_runs();
}

/// On standard error it would stand under the screen.
#[test]
fn a_projects_file_that_is_not_trusted_is_said_on_the_screen_to_be_left_out() {
    let world = World::new();
    std::fs::write(world.file(".fleet.toml"), "cap = 1\n").unwrap();
    let mut screen = open(&world, &["--agent", "sh"]);
    screen.wait_for(".fleet.toml is not read before it is trusted: `fleet trust` shows");
    let host = host(&world);
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    host.signal(Signal::TERM);
    world.assert_nothing_runs();
}

#[test]
fn a_typed_task_is_run_and_its_end_is_seen() {
    let world = World::new();
    let mut screen = open_ready(&world, &["--agent", "sh"]);
    dispatch(&screen, "echo hello > said; exit 3");
    screen.wait_for("exit code 3");
    assert_eq!(world.read("said"), "hello\n");
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    let id = world.only_fleet();
    screen.wait_written(&format!("{id}: 1 not done · fleet results {id}"), 1);
    world.end_fleets();
}

/// C-6: it reads all the time, of its input and of whatever terminal it can find, and gets nothing of what is typed.
#[test]
fn an_agent_that_reads_its_input_takes_no_key_from_the_screen() {
    let world = World::new();
    let task = "while :; do cat >> got && echo end >> ends; cat < /dev/tty >> got; sleep 0.02; done 2> /dev/null";
    let screen = open(&world, &["--agent", "sh", task]);
    screen.wait_for("1 running");
    world.wait_lines("ends", 1);
    for typed in ["echo every", " key of", " this line", " is here > said"] {
        screen.send(typed);
        screen.wait_for(typed.trim());
    }
    screen.send("\r");
    assert_eq!(world.wait_lines("said", 1), ["every key of this line is here"]);
    let ends = world.lines("ends").len();
    world.wait_lines("ends", ends + 2);
    assert_eq!(world.read("got"), "");
    drop(screen);
    world.end_fleets();
}

/// C-98 and C-141: steps, tokens and cost are told in the row and in the header while the agents run.
#[test]
fn the_numbers_of_agents_that_stream_them_are_live() {
    let world = World::new();
    let task = |cost: &str| {
        format!(
            r#"echo '{{"fleet":"step","tool":"bash","text":"make","state":"start"}}
{{"fleet":"step","tool":"bash","state":"end"}}
{{"fleet":"usage","id":"m1","input_tokens":4100,"output_tokens":21}}
{{"fleet":"cost","total_usd":{cost}}}'; until [ -e more ]; do sleep 0.05; done
echo '{{"fleet":"cost","total_usd":0.75}}'; until [ -e go ]; do sleep 0.05; done"#
        )
    };
    let (one, two) = (task("0.42"), task("0.08"));
    let screen = Terminal::start(&world, &["--agent", "sh", "-j", "2", &one, &two], 40, 150);
    screen.wait_for("2 running");
    screen.send("\x1b");
    screen.wait_for("i new task");
    screen.send("z");
    // There is room for the last column once the table is alone.
    screen.wait_for("changed");
    let row = |id: &str, parts: [&str; 3]| {
        wait_until(&format!("{id} shows {parts:?} while it runs"), GENEROUS, || {
            let screen = screen.screen();
            let id = format!("{id} ●");
            let row = screen.lines().find(|line| line.contains(&id)).unwrap_or_default();
            let has_all = parts.iter().all(|part| row.contains(part));
            if has_all && row.contains("running") { Ok(()) } else { Err(format!("\n{screen}")) }
        });
    };
    let header = |total: &str| {
        wait_until(&format!("the header shows {total}"), GENEROUS, || {
            let screen = screen.screen();
            let header = screen.lines().take(2).any(|line| line.contains(total));
            if header && screen.contains("2 running") { Ok(()) } else { Err(format!("\n{screen}")) }
        });
    };
    row("#1", ["$0.4200", "4,121", " 1 "]);
    row("#2", ["$0.0800", "4,121", " 1 "]);
    header("$0.5000");
    std::fs::write(world.file("more"), "").unwrap();
    row("#1", ["$0.7500", "4,121", " 1 "]);
    row("#2", ["$0.7500", "4,121", " 1 "]);
    header("$1.5000");
    std::fs::write(world.file("go"), "").unwrap();
    screen.wait_for("2 done");
    drop(screen);
    world.end_fleets();
}

/// C-58: nobody waits for a wedged agent, and what was not finished is recorded as interrupted. C-51, for leaving.
#[test]
fn stopping_everything_asks_first_and_comes_back_at_once_whatever_is_wedged() {
    let world = World::new();
    let wedged = "trap '' TERM INT HUP; echo 1 >> ran; while :; do sleep 0.05; done";
    let args = ["--agent", "sh", "-j", "2", "--grace", "1h", wedged, wedged];
    let mut screen = open(&world, &args);
    screen.wait_for("2 running");
    world.wait_lines("ran", 2);
    screen.send("\x03");
    screen.wait_for("stop all and quit");
    assert_eq!(agent(&world, 1)["status"], "running", "it asks first");
    screen.send("s");
    screen.wait_for("stopping 2 agents");
    // The screen is there for other things although both go on.
    screen.send("\x1b");
    wait_until("the box is gone and the agents go on", GENEROUS, || {
        let screen = screen.screen();
        let is_gone = !screen.contains("kill at once") && screen.contains("stopping: asked");
        if is_gone { Ok(()) } else { Err(format!("\n{screen}")) }
    });
    screen.send("\x03");
    screen.wait_for("stop all and quit");
    screen.send("s");
    assert_eq!(screen.end(), 0, "{}", screen.screen());
    for id in [1, 2] {
        let agent = agent(&world, id);
        assert_eq!(
            (&agent["status"], &agent["signal"]),
            (&"interrupted".into(), &"SIGKILL".into())
        );
    }
    world.end_fleets();
    world.assert_no_temporary_files();
}

/// C-124: of a fleet whose owner died one agent left no record and the other lives; its neighbour's owner lives.
#[test]
fn the_next_screen_adopts_what_lives_and_shows_what_was_lost_with_its_last_lines() {
    let world = World::new();
    let lost = "for line in 1 2 3 4; do echo last line $line; done; echo 1 >> ran; exec sleep 1000";
    let lives = "echo 2 >> ran; until [ -e go ]; do sleep 0.05; done";
    let mut dead = world.start(&["run", "--agent", "sh", "-j", "2", lost, lives]);
    world.wait_lines("ran", 2);
    let shims = [world.shim(1), world.shim(2)];
    let id = world.only_fleet();
    let neighbour = world.start(&[
        "run",
        "--json",
        "--agent",
        "sh",
        "echo 3 >> ran; until [ -e go ]; do sleep 0.05; done",
    ]);
    world.wait_lines("ran", 3);
    dead.signal(Signal::KILL);
    wait_until("the owner is dead", GENEROUS, || {
        if dead.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    shims[0].signal(Signal::KILL);
    shims[0].wait_gone("the first shim");
    let screen = open(&world, &["attach", &id]);
    screen.wait_for("lost: its shim died");
    for line in 1..=4 {
        screen.wait_for(&format!("last line {line}"));
    }
    screen.wait_for("1 running");
    assert!(shims[1].lives(), "it is adopted as it is");
    let state = |fleet: &Value, field: &str| fleet[field].as_str().unwrap_or_default().to_owned();
    let listed = fleets(&world);
    let other = listed.as_array().unwrap().iter().find(|fleet| state(fleet, "id") != id).unwrap();
    assert_eq!(other["host_pid"].as_u64(), Some(u64::from(neighbour.pid().0)), "{listed:#}");
    assert_eq!((state(other, "state"), &other["kpis"]["running"]), ("live".into(), &1.into()));
    std::fs::write(world.file("go"), "").unwrap();
    screen.wait_for("1 done");
    let ended = neighbour.end().expect_code(0);
    assert_eq!(ended.column("status"), ["done"]);
    assert_eq!(world.lines("ran").len(), 3, "nothing ran twice");
    drop(screen);
    world.end_fleets();
}

#[test]
fn tasks_of_the_command_line_are_queued_with_the_options_given() {
    let world = World::new();
    std::fs::write(world.file("tasks.txt"), "echo two\n").unwrap();
    let args = ["echo one", "--agent", "sh", "-f", "tasks.txt", "-j", "1", "--name", "night"];
    let mut screen = open(&world, &args);
    screen.wait_for("echo two");
    screen.wait_for("2 done");
    screen.wait_for("night");
    let texts = [agent(&world, 1), agent(&world, 2)].map(|agent| agent["task"].clone());
    assert_eq!(texts, ["echo one", "echo two"]);
    screen.send("\x03");
    assert_eq!(screen.end(), 0);
    world.end_fleets();
}

#[test]
fn two_screens_of_a_folder_show_one_fleet() {
    let world = World::new();
    let one = open_ready(&world, &["--agent", "sh"]);
    let other = open_ready(&world, &["--agent", "sh"]);
    dispatch(&one, "echo from the one");
    other.wait_for("echo from the one");
    other.wait_for("1 done");
    dispatch(&other, "echo from the other");
    one.wait_for("echo from the other");
    one.wait_for("2 done");
    world.only_fleet();
    drop((one, other));
    world.end_fleets();
}

/// Nobody has to say again what the fleet is for, and no agent program has to be installed for that.
#[test]
fn who_comes_back_types_for_the_kind_of_the_newest_task() {
    let world = World::new();
    let one = open(&world, &["--agent", "sh", "echo one"]);
    one.wait_for("1 done");
    for (place, arguments) in [&[][..], &["attach"][..]].into_iter().enumerate() {
        let other = open(&world, arguments);
        other.wait_for("type a command for sh");
        dispatch(&other, &format!("echo again {place}"));
        other.wait_for(&format!("{} done", place + 2));
    }
    drop(one);
    world.end_fleets();
}

#[test]
fn who_comes_back_types_for_the_command_of_the_newest_task() {
    let world = World::new();
    let one = open(&world, &["one", "--", "sh", "-c", "echo {task} > said"]);
    one.wait_for("1 done");
    let other = open(&world, &[]);
    other.wait_for("type a task for sh");
    dispatch(&other, "two");
    other.wait_for("2 done");
    assert_eq!(world.read("said"), "two\n");
    drop((one, other));
    world.end_fleets();
}

#[test]
fn two_answers_to_the_cap_question_are_one() {
    let world = World::new();
    let pays = r#"echo '{"fleet":"cost","total_usd":1}'"#;
    let one = open(&world, &["--agent", "sh", "--cap", "1", "-j", "1", pays, pays]);
    one.wait_for("1 queued");
    let other = open(&world, &["attach"]);
    for screen in [&one, &other] {
        screen.wait_for("1 queued");
        // From the editor, where the question takes no keys.
        screen.send("\x1b");
        screen.wait_for("drop the queue");
    }
    // A question that opened by itself does not listen at once, so both are answered until they hear it.
    wait_until("both screens show one answer", GENEROUS, || {
        let asking = |screen: &&Terminal| screen.screen().contains("drop the queue");
        let asking: Vec<&Terminal> = [&one, &other].into_iter().filter(asking).collect();
        for screen in &asking {
            screen.send("d");
        }
        let is_dropped = |screen: &Terminal| screen.screen().contains("1 dropped");
        if asking.is_empty() && is_dropped(&one) && is_dropped(&other) {
            Ok(())
        } else {
            Err(format!("{}\n{}", one.screen(), other.screen()))
        }
    });
    let header = fleets(&world)[0].clone();
    assert_eq!(header["kpis"]["queued"], 0, "{header}");
    assert_eq!(agent(&world, 2)["status"], "dropped");
    drop((one, other));
    world.end_fleets();
}

#[test]
fn agents_outlive_a_killed_screen_and_attach_finds_them() {
    let world = World::new();
    let screen = open(&world, &["--agent", "sh", "sleep 1000"]);
    screen.wait_for("1 running");
    let shim = world.shim(1);
    screen.pid().signal(Signal::KILL);
    screen.pid().wait_gone("the screen");
    let mut again = open(&world, &["attach"]);
    again.wait_for("1 running");
    again.wait_for("sleep 1000");
    assert!(shim.lives());
    again.pid().signal(Signal::TERM);
    assert_eq!(again.end(), 143);
    let id = world.only_fleet();
    again.wait_written(&format!("{id}: 1 running · fleet attach {id}"), 1);
    assert!(shim.lives());
    world.end_fleets();
}

#[test]
fn who_comes_back_is_told_what_ended_meanwhile() {
    let world = World::new();
    let waits = "until test -e go; do sleep 0.05; done";
    let mut screen = open(&world, &["--agent", "sh", "-j", "2", waits, "sleep 1000"]);
    screen.wait_for("2 running");
    screen.send("\x03");
    screen.wait_for("leave running");
    screen.send("l");
    assert_eq!(screen.end(), 0);
    // What ends before the host has heard that nobody is there any more ends in somebody's presence.
    let left = world.fleets()[0].join("left");
    wait_until("the host has noted that nobody is there", GENEROUS, || {
        if left.exists() { Ok(()) } else { Err(left.display().to_string()) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    wait_until("the first agent has ended", GENEROUS, || {
        let agent = agent(&world, 1);
        if agent["status"] == "done" { Ok(()) } else { Err(agent.to_string()) }
    });
    let again = open(&world, &["attach"]);
    again.wait_for("1 ended while you were away");
    drop(again);
    world.end_fleets();
}

#[test]
fn a_screen_says_that_its_host_has_gone_and_gets_another_one() {
    let world = World::new();
    let screen = open(&world, &["--agent", "sh", "sleep 1000"]);
    screen.wait_for("1 running");
    let (shim, first) = (world.shim(1), host(&world));
    first.signal(Signal::KILL);
    first.wait_gone("the host");
    screen.wait_for("the host had gone");
    let second = host(&world);
    assert_ne!(second, first);
    assert!(shim.lives());
    // It can still be told something.
    dispatch(&screen, "echo again > said");
    assert_eq!(world.wait_lines("said", 1), ["again"]);
    screen.wait_for("1 running");
    drop(screen);
    world.end_fleets();
}

/// What keeps a screen out may pass: it comes in as soon as it can.
#[test]
fn a_screen_for_which_there_is_no_room_gets_in_when_there_is() {
    let world = World::new();
    let first = open_ready(&world, &["--agent", "sh"]);
    let dir = StateDir::open(Some(&world.state())).unwrap().find(&world.only_fleet()).unwrap();
    let socket = dir.read_file().unwrap().socket.unwrap();
    let mut clients = Vec::new();
    for _ in 1..64 {
        let mut client = UnixStream::connect(&socket).unwrap();
        client.write_all(b"{\"fleet_control\":1,\"version\":\"0\"}\n").unwrap();
        clients.push(client);
    }
    let late = open(&world, &["--agent", "sh"]);
    late.wait_for("64 clients already");
    drop(clients);
    late.wait_for("0 done");
    dispatch(&late, "echo in > said");
    assert_eq!(world.wait_lines("said", 1), ["in"]);
    drop((first, late));
    world.end_fleets();
}

#[test]
fn a_fleet_whose_host_was_told_to_go_is_found_again_by_a_plain_start() {
    let world = World::new();
    let mut screen = open(&world, &["--agent", "sh", "sleep 1000"]);
    screen.wait_for("1 running");
    let (shim, host) = (world.shim(1), host(&world));
    screen.pid().signal(Signal::HUP);
    screen.end();
    host.signal(Signal::TERM);
    host.wait_gone("the host");
    let again = open(&world, &["--agent", "sh"]);
    again.wait_for("1 running");
    again.wait_for("sleep 1000");
    world.only_fleet();
    assert!(shim.lives());
    drop(again);
    world.end_fleets();
}

#[test]
fn a_host_that_is_paused_is_not_taken_for_one_that_works() {
    let world = World::new();
    let screen = open(&world, &["--agent", "sh", "sleep 1000"]);
    screen.wait_for("1 running");
    let host = host(&world);
    host.signal(Signal::STOP);
    screen.wait_for("the host has not answered for");
    screen.wait_for("as of");
    host.signal(Signal::CONT);
    wait_until("the host is heard again", GENEROUS, || {
        let screen = screen.screen();
        if screen.contains("has not answered") { Err(screen) } else { Ok(()) }
    });
    dispatch(&screen, "echo still > here");
    assert_eq!(world.wait_lines("here", 1), ["still"]);
    drop(screen);
    world.end_fleets();
}

#[test]
fn a_fleet_that_has_ended_is_only_looked_at() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "echo over"]).expect_code(0);
    let mut screen = open(&world, &["attach"]);
    screen.wait_for("echo over");
    screen.send("r");
    screen.wait_for("this fleet has ended: R runs its tasks again");
    assert_eq!(fleets(&world)[0]["host_pid"], Value::Null);
    screen.send("q");
    assert_eq!(screen.end(), 0);
    let id = world.only_fleet();
    let mut refused = open(&world, &["--agent", "sh", "--fleet", &id, "echo more"]);
    assert_eq!(refused.end(), 2);
    refused.wait_written("has ended and takes no more tasks", 1);
    world.assert_nothing_runs();
}

#[test]
fn a_held_fleet_goes_on_only_when_it_is_told() {
    let world = World::new();
    let live = world.start(&["run", "--agent", "sh", "-j", "1", "sleep 1000", "echo next"]);
    world.shim(1);
    live.signal(Signal::INT);
    live.end();
    let screen = open(&world, &["attach"]);
    screen.wait_for("echo next");
    screen.wait_for("held");
    host(&world);
    assert_eq!(agent(&world, 2)["status"], "queued");
    screen.send("\x1b");
    screen.wait_for("p hold or release");
    screen.send("p");
    screen.wait_for("1 done");
    drop(screen);
    world.end_fleets();
}

#[test]
fn a_run_in_the_foreground_is_looked_at_and_goes_on_without_the_screen() {
    let world = World::new();
    let live = world.start(&["run", "--agent", "sh", "sleep 1000"]);
    let shim = world.shim(1);
    let mut screen = open(&world, &["attach"]);
    screen.wait_for("1 running");
    screen.wait_for("sleep 1000");
    screen.pid().signal(Signal::HUP);
    assert_eq!(screen.end(), 129);
    assert!(shim.lives());
    live.signal(Signal::INT);
    live.end().expect_code(130);
    world.assert_nothing_runs();
}

#[test]
fn without_a_terminal_one_sentence_names_what_works_there() {
    let world = World::new();
    for words in [&[][..], &["fix the tests"], &["attach"], &["--agent", "sh", "true"]] {
        let ran = world.fleet(words).expect_code(2);
        assert_eq!(ran.stdout, "");
        assert!(
            ran.stderr.contains("fleet run") && ran.stderr.lines().count() == 1,
            "{}",
            ran.stderr
        );
    }
    assert!(world.fleets().is_empty());
}

#[test]
fn tasks_for_a_program_that_is_not_installed_make_no_fleet_and_a_draft_for_it_stays() {
    let mut world = World::new();
    world.set("PATH", "/nowhere");
    for (words, part) in [
        (&["--agent", "ygg", "fix it"][..], "\"ygg\" was not found on PATH: install it (pip"),
        (&["fix it", "--", "no-such-tool", "{task}"], "\"no-such-tool\" was not found on PATH"),
    ] {
        let mut refused = open(&world, words);
        assert_eq!(refused.end(), 2);
        refused.wait_written(part, 1);
    }
    assert!(world.fleets().is_empty());
    let screen = open(&world, &["--agent", "ygg"]);
    screen.wait_for("ygg was not found on this computer");
    screen.wait_for("0 done");
    dispatch(&screen, "fix it");
    screen.wait_for("\"ygg\" was not found on PATH: install it");
    screen.wait_for("› fix it");
    drop(screen);
    world.end_fleets();
}

#[test]
fn a_misspelt_subcommand_makes_no_fleet() {
    let world = World::new();
    for (words, part) in [
        (&["rnu", "echo hello"][..], "did you mean fleet run?"),
        (&["atach"], "did you mean fleet attach?"),
        (&["log", "7"], "no subcommand log"),
    ] {
        let mut refused = open(&world, words);
        assert_eq!(refused.end(), 2);
        refused.wait_written(part, 1);
    }
    assert!(world.fleets().is_empty());
}

#[test]
fn options_that_a_living_fleet_does_not_have_are_refused_and_new_begins_another() {
    let world = World::new();
    let first = open_ready(&world, &["--agent", "sh", "--cap", "5"]);
    for args in [&["--cap", "7"][..], &["-j", "99"], &["--name", "x"]] {
        let mut refused = open(&world, args);
        assert_eq!(refused.end(), 2, "{}", refused.screen());
        refused.wait_written("keeps its options", 1);
    }
    let same = open_ready(&world, &["--agent", "sh", "--cap", "5"]);
    assert_eq!(world.fleets().len(), 1);
    let new = open_ready(&world, &["--agent", "sh", "--new", "--cap", "7"]);
    assert_eq!(world.fleets().len(), 2);
    drop((first, same, new));
    world.end_fleets();
}

/// Options are not asked for again because they are those that the fleet was made with: its cap is another one now.
#[test]
fn a_cap_that_a_living_fleet_no_longer_has_is_refused_and_the_one_that_it_has_is_not() {
    let world = World::new();
    let first = open_ready(&world, &["--agent", "sh", "--cap", "5"]);
    // Out of the editor, and to the cap.
    first.send("\x1b");
    first.wait_for("i new task");
    first.send("c");
    first.wait_for("this is the cap now");
    first.send("\x15");
    first.send("7");
    first.wait_for("Enter sets the cap to $7");
    first.send("\r");
    first.wait_for("/ $7.00");
    let mut refused = open(&world, &["--agent", "sh", "--cap", "5"]);
    assert_eq!(refused.end(), 2, "{}", refused.screen());
    refused.wait_written("keeps its options", 1);
    let id = world.only_fleet();
    let mut refused = open(&world, &["--fleet", &id, "--agent", "sh", "--cap", "5"]);
    assert_eq!(refused.end(), 2, "{}", refused.screen());
    refused.wait_written("keeps its options", 1);
    let same = open_ready(&world, &["--agent", "sh", "--cap", "7"]);
    assert_eq!(world.fleets().len(), 1);
    drop((first, same));
    world.end_fleets();
}

#[test]
fn a_draft_outlives_a_killed_screen_and_is_private() {
    let world = World::new();
    let screen = open_ready(&world, &["--agent", "sh"]);
    screen.send("echo half a tho");
    let drafts = world.state().join("drafts");
    let kept = wait_until("the draft is kept", GENEROUS, || {
        let entries = std::fs::read_dir(&drafts).map_err(|error| error.to_string())?;
        // A file that is being replaced has its new text under another name first.
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|end| end == "txt");
        let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_whole).collect();
        match paths.as_slice() {
            [one] if std::fs::read_to_string(one).unwrap() == "echo half a tho" => Ok(one.clone()),
            other => Err(format!("{other:?}")),
        }
    });
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&kept), mode(&drafts)), (0o600, 0o700));
    screen.pid().signal(Signal::KILL);
    screen.pid().wait_gone("the screen");
    let again = open(&world, &["--agent", "sh"]);
    again.wait_for("echo half a tho");
    again.send("ught\x08\x7f");
    again.wait_for("echo half a thoug");
    drop(again);
    world.end_fleets();
}

#[test]
fn a_draft_that_cannot_be_read_is_told_and_not_written_over() {
    let world = World::new();
    let mut screen = open_ready(&world, &["--agent", "sh"]);
    screen.send("echo one");
    screen.wait_for("› echo one");
    screen.send("\x03");
    assert_eq!(screen.end(), 0, "{}", screen.screen());
    let drafts = std::fs::read_dir(world.state().join("drafts")).unwrap();
    let is_text = |path: &PathBuf| path.extension().is_some_and(|end| end == "txt");
    let draft = drafts.flatten().map(|entry| entry.path()).find(is_text).expect("it was kept");
    let elsewhere = world.state().join("elsewhere");
    std::fs::rename(&draft, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &draft).unwrap();
    let mut again = open(&world, &["--agent", "sh"]);
    again.wait_for("could not read the draft of the last time, so it stays");
    again.send("echo two");
    again.wait_for("› echo two");
    again.send("\x03");
    assert_eq!(again.end(), 0, "{}", again.screen());
    assert!(draft.is_symlink());
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "echo one");
    world.end_fleets();
}

#[test]
fn what_was_dispatched_is_in_the_history_of_the_next_screen() {
    let world = World::new();
    let screen = open_ready(&world, &["--agent", "sh"]);
    dispatch(&screen, "echo first");
    screen.wait_for("1 done");
    let history = world.state().join("history.jsonl");
    wait_until("the draft is history", GENEROUS, || {
        let text = std::fs::read_to_string(&history).map_err(|error| error.to_string())?;
        let entry: Value = serde_json::from_str(&text).map_err(|_| text.clone())?;
        let said = (entry["text"].as_str(), entry["kind"].as_str());
        if said == (Some("echo first"), Some("sh")) { Ok(()) } else { Err(text) }
    });
    let mode = std::fs::metadata(&history).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    drop(screen);
    let next = open(&world, &["--agent", "sh"]);
    next.wait_for("1 done");
    wait_until("the draft is recalled", GENEROUS, || {
        // It is read after the first frame: until then there is none.
        next.send("\x10");
        let shown = next.screen();
        if shown.contains("› echo first") { Ok(()) } else { Err(shown) }
    });
    drop(next);
    world.end_fleets();
}

#[test]
fn a_terminal_that_understands_no_sequences_gets_none() {
    for name in ["dumb", ""] {
        let mut world = World::new();
        world.set("TERM", name);
        let mut terminal = open(&world, &["--agent", "sh"]);
        terminal.wait_for("shows no screen: set TERM");
        assert_eq!(terminal.end(), 2, "{}", terminal.screen());
        world.end_fleets();
    }
}
