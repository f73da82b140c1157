//! `fleet logs` with the real binary: what an agent has written, and what it writes until it has ended.

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{GENEROUS, Live, Pid, Terminal, World, wait_until};

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
fn until_shown(live: &Live<'_>, text: &str) {
    wait_until(&format!("{text:?} is shown"), GENEROUS, || {
        let shown = live.stdout();
        if shown.contains(text) { Ok(()) } else { Err(shown) }
    });
}

const TALKS: &str = "echo one; echo trouble >&2; until [ -e go ]; do sleep 0.02; done; echo two";

#[test]
fn what_was_written_is_printed_as_it_is() {
    let world = World::new();
    dispatch(&world, &["printf 'a\\033[31mb\\r\\377c'; printf 'err' >&2; exit 3", "true"]);
    world.fleet(&["wait"]).expect_code(1);
    let mut command = world.command("sh");
    command.args(["-c", "\"$1\" logs 1 > raw", "sh", env!("CARGO_BIN_EXE_fleet")]);
    world.start_command(command).end().expect_code(0);
    assert_eq!(std::fs::read(world.file("raw")).unwrap(), b"a\x1b[31mb\r\xffc");
    assert_eq!(world.fleet(&["logs", "1", "--err"]).expect_code(0).stdout, "err");
    let account = world.fleet(&["logs", "#1", "--transcript"]).expect_code(0).stdout;
    assert!(account.contains("status=failed"), "{account}");
    assert_eq!(world.fleet(&["logs", "1", "-f", "--err"]).expect_code(0).stdout, "err");
    assert_eq!(world.fleet(&["logs", "2"]).expect_code(0).stdout, "");
    world.fleet(&["logs", "9"]).expect_code(2);
    world.fleet(&["logs", "1-2"]).expect_code(2);
    let line = world.fleet(&["logs", "1", "--json"]).expect_code(0).json();
    assert_eq!(line, json!({ "agent": 1, "file": "out", "line": "a\u{1b}[31mb\r\u{fffd}c" }));
    assert_eq!(world.fleet(&["logs", "2", "--json"]).expect_code(0).stdout, "");
    let out = world.state().join("fleets").join(world.only_fleet()).join("agents/0001/out");
    std::fs::remove_file(&out).unwrap();
    let gone = world.fleet(&["logs", "1"]).expect_code(4);
    let told = format!("{} is gone or is no file", out.display());
    assert!(gone.stderr.contains(&told), "{gone:#?}");
    world.end_fleets();
}

#[test]
fn an_agent_is_followed_until_it_has_ended_by_two_at_once() {
    let world = World::new();
    dispatch(&world, &[TALKS]);
    let (out, err) =
        (world.start(&["logs", "1", "-f"]), world.start(&["logs", "1", "-f", "--err"]));
    let json = world.start(&["logs", "1", "-f", "--json"]);
    until_shown(&json, "{\"agent\":1,\"file\":\"out\",\"line\":\"one\"}\n");
    until_shown(&out, "one\n");
    until_shown(&err, "trouble\n");
    assert_eq!(world.fleet(&["logs", "1"]).expect_code(0).stdout, "one\n");
    go(&world);
    assert_eq!(out.end().expect_code(0).stdout, "one\ntwo\n");
    assert_eq!(err.end().expect_code(0).stdout, "trouble\n");
    assert_eq!(json.end().expect_code(0).stdout.lines().count(), 2);
    world.end_fleets();
}

#[test]
fn an_agent_that_waits_for_its_turn_is_waited_for() {
    let world = World::new();
    dispatch(&world, &["-j", "1", TALKS, "echo three", "echo never"]);
    let second = world.start(&["logs", "2", "-f"]);
    let third = world.start(&["logs", "3", "-f"]);
    let nothing = world.fleet(&["logs", "2"]).expect_code(0);
    assert!(
        nothing.stdout.is_empty() && nothing.stderr.contains("has not started"),
        "{nothing:#?}"
    );
    world.fleet(&["stop", "3"]).expect_code(0);
    assert_eq!(third.end().expect_code(0).stdout, "", "it was cancelled");
    go(&world);
    assert_eq!(second.end().expect_code(0).stdout, "three\n");
    let never = world.fleet(&["logs", "3"]).expect_code(0);
    assert!(never.stderr.contains("never started"), "{never:#?}");
    world.end_fleets();
}

#[test]
fn following_goes_on_without_a_host_and_ends_with_the_agent() {
    let world = World::new();
    dispatch(&world, &["-j", "1", TALKS, "echo three"]);
    let live = world.start(&["logs", "1", "-f"]);
    until_shown(&live, "one\n");
    let host = host(&world);
    host.signal(Signal::KILL);
    host.wait_gone("the host");
    let second = world.start(&["logs", "1", "-f"]);
    until_shown(&second, "one\n");
    let queued = world.fleet(&["logs", "2", "-f"]).expect_code(0);
    assert!(queued.stderr.contains("has no host"), "{queued:#?}");
    go(&world);
    assert_eq!(live.end().expect_code(0).stdout, "one\ntwo\n");
    assert_eq!(second.end().expect_code(0).stdout, "one\ntwo\n");
    // Nobody wrote down the end of its account, and nobody waits for that.
    world.fleet(&["logs", "1", "-f", "--transcript"]).expect_code(0);
    world.fleet(&["wait"]).expect_code(0);
    world.end_fleets();
}

#[test]
fn a_host_that_hangs_keeps_nobody_who_follows_or_waits_beyond_the_end() {
    let world = World::new();
    dispatch(&world, &[TALKS]);
    let (out, account) =
        (world.start(&["logs", "1", "-f"]), world.start(&["logs", "1", "-f", "--transcript"]));
    let wait = world.start(&["wait"]);
    until_shown(&out, "one\n");
    until_shown(&account, "one");
    wait_until("the wait shows something", GENEROUS, || {
        let shown = wait.stderr();
        if shown.is_empty() { Err("nothing yet".to_owned()) } else { Ok(()) }
    });
    let host = host(&world);
    host.signal(Signal::STOP);
    go(&world);
    assert_eq!(out.end().expect_code(0).stdout, "one\ntwo\n");
    let account = account.end().expect_code(0);
    assert!(account.stderr.contains("the end of this account is missing"), "{account:#?}");
    wait.end().expect_code(0);
    host.signal(Signal::CONT);
    world.end_fleets();
}

#[test]
fn who_reads_no_more_ends_the_following_and_a_flood_comes_whole() {
    let world = World::new();
    dispatch(
        &world,
        &["i=0; while [ $i -lt 20000 ]; do echo line $i of a flood; i=$((i+1)); done"],
    );
    let live = world.start(&["logs", "1", "-f"]);
    let mut head = world.command("sh");
    head.args(["-c", "\"$1\" logs 1 -f | head -n 1", "sh", env!("CARGO_BIN_EXE_fleet")]);
    let head = world.start_command(head).end().expect_code(0);
    assert_eq!(head.stdout, "line 0 of a flood\n");
    let whole = live.end().expect_code(0).stdout;
    assert_eq!(whole.lines().count(), 20_000);
    assert!(whole.ends_with("line 19999 of a flood\n"));
    world.end_fleets();
}

#[test]
fn on_a_terminal_nothing_of_the_agent_steers_it() {
    let world = World::new();
    dispatch(&world, &["printf 'safe \\033]0;title\\007\\033[2Jtext\\n'"]);
    world.fleet(&["wait"]).expect_code(0);
    let mut terminal = Terminal::start(&world, &["logs", "1", "-f"], 24, 80);
    assert_eq!(terminal.end(), 0);
    terminal.wait_for("safe text");
    assert!(!terminal.written().contains('\u{1b}'), "{:?}", terminal.written());
    world.end_fleets();
}
