//! Telling agents more with the real binary: a stand-in for `claude` reads messages and speaks its stream.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{GENEROUS, World, wait_until};

/// Takes every line for a message but those that interrupt its turn, and answers from the second of them on (`WANT`); each further one waits for a file
/// `go` if there is a file `slow`. With `DEAF` it reads its task alone.
const CLAUDE: &str = r#"#!/bin/sh
echo "$*" >> args
printf '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}\n'
answer() {
    printf '{"type":"result","subtype":"success","is_error":false,"result":"answer %s","session_id":"s-1","total_cost_usd":0.01}\n' "$1"
}
n=0
while read -r line; do
    case $line in
        *control_request*)
            printf '{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","session_id":"s-1","total_cost_usd":0.005}\n'
            printf '%s\n' "$line" >> cut
            continue;;
    esac
    n=$((n + 1))
    printf '%s\n' "$line" >> heard
    printf '{"type":"user","isReplay":true,"message":{"role":"user","content":"message %s"}}\n' $n
    if [ -n "$DEAF" ]; then until [ -e go ]; do sleep 0.02; done; answer $n; exit 0; fi
    if [ $n -ge "${WANT:-1}" ]; then answer $n; fi
    if [ -e slow ]; then until [ -e go ]; do sleep 0.02; done; fi
done
echo ended >> heard
"#;

fn world(want: u32) -> World {
    let mut world = World::new();
    let bin = world.file("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("claude");
    std::fs::write(&program, CLAUDE).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", &format!("{}:{path}", bin.display()));
    world.set("WANT", &want.to_string());
    world
}

/// Waits until everything in the only fleet has ended, and returns its agents.
#[track_caller]
fn ended(world: &World) -> Vec<Value> {
    wait_until("all agents have ended", GENEROUS, || {
        let results = world.fleet(&["results", "--json"]).json();
        match results["kpis"]["running"].as_u64().zip(results["kpis"]["queued"].as_u64()) {
            Some((0, 0)) => Ok(results["agents"].as_array().unwrap().clone()),
            other => Err(format!("{other:?} {results:#}")),
        }
    })
}

/// The words of the messages that the stand-in has read.
fn heard(world: &World) -> Vec<String> {
    let content = |line: &String| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(message["message"]["content"].as_str()?.to_owned())
    };
    world.lines("heard").iter().filter_map(content).collect()
}

#[test]
fn an_agent_is_told_more_while_it_runs_and_ends_when_it_has_answered() {
    let world = world(2);
    let live = world.start(&["run", "--json", "--agent", "claude", "the \"task\"\nof two lines"]);
    world.wait_lines("heard", 1);
    let running = world.fleet(&["results", "--json"]).expect_code(0).json();
    assert_eq!(running["agents"][0]["accepts_steer"], true);
    let told = world.fleet(&["steer", "1", "also", "this"]).expect_code(0);
    assert_eq!(told.stdout, "#1 is told: it takes that up in its current turn\n");
    let ran = live.end().expect_code(0);
    let agent = &ran.json()["agents"][0];
    assert_eq!((&agent["status"], &agent["answer"]), (&"done".into(), &"answer 2".into()));
    assert_eq!(agent["undelivered"], Value::Array(Vec::new()));
    assert_eq!(heard(&world), ["the \"task\"\nof two lines", "also this"]);
    assert_eq!(world.lines("heard").last().map(String::as_str), Some("ended"));
    assert!(!world.agent_folder(1).join("stdin").exists());
}

#[test]
fn what_was_told_survives_the_host_and_the_next_one_lets_the_agent_end() {
    let world = world(3);
    std::fs::write(world.file("slow"), "").unwrap();
    let live = world.start(&["run", "--json", "--agent", "claude", "count the lines"]);
    world.wait_lines("heard", 1);
    world.fleet(&["steer", "1", "before"]).expect_code(0);
    live.signal(Signal::KILL);
    drop(live);
    // This starts another host.
    let told = world.fleet(&["steer", "1", "--json", "after"]).expect_code(0).json();
    assert_eq!((&told["status"], &told["agent"]), (&"told".into(), &1.into()));
    std::fs::write(world.file("go"), "").unwrap();
    let agents = ended(&world);
    assert_eq!((&agents[0]["status"], &agents[0]["answer"]), (&"done".into(), &"answer 3".into()));
    assert_eq!(heard(&world), ["count the lines", "before", "after"]);
    world.end_fleets();
}

#[test]
fn an_agent_that_had_answered_when_its_host_died_ends_with_the_next_one() {
    let world = world(1);
    std::fs::write(world.file("slow"), "").unwrap();
    let live = world.start(&["run", "--agent", "claude", "count the lines"]);
    world.wait_lines("heard", 1);
    live.signal(Signal::STOP);
    std::fs::write(world.file("go"), "").unwrap();
    live.signal(Signal::KILL);
    drop(live);
    let ran = world.fleet(&["resume", "--json"]).expect_code(0);
    assert_eq!(ran.json()["agents"][0]["answer"], "answer 1");
    world.assert_nothing_runs();
}

#[test]
fn an_ended_agent_is_gone_on_with_in_its_session_with_its_options() {
    let world = world(1);
    world.fleet(&["run", "--agent", "claude", "--read-only", "count the lines"]).expect_code(0);
    let said = world.fleet(&["steer", "1", "and", "tests"]).expect_code(0);
    assert_eq!(said.stdout, "#1 has ended: #2 goes on in its session\n");
    let agents = ended(&world);
    assert_eq!((&agents[1]["status"], &agents[1]["continues"]), (&"done".into(), &1.into()));
    let args = world.lines("args");
    assert!(args[1].contains("--resume s-1"), "{args:?}");
    assert_eq!(args[1].replace(" --resume s-1", ""), args[0]);
    assert_eq!(heard(&world), ["count the lines", "and tests"]);
    world.end_fleets();
}

/// The interrupt comes before the message, in one piece; the turn that it ends is not the end of the agent.
#[test]
fn a_turn_is_interrupted_and_the_agent_goes_on_with_what_it_is_told() {
    let world = world(2);
    let live = world.start(&["run", "--json", "--agent", "claude", "count the lines"]);
    world.wait_lines("heard", 1);
    let blank = world.fleet(&["steer", "--interrupt", "1", " "]).expect_code(2);
    assert!(blank.stderr.contains("blank"), "{blank:#?}");
    let said = world.fleet(&["steer", "--interrupt", "1", "the", "words"]).expect_code(0);
    assert_eq!(said.stdout, "#1 is interrupted and told: it goes on with that\n");
    let ran = live.end().expect_code(0);
    let agent = &ran.json()["agents"][0];
    assert_eq!((&agent["status"], &agent["answer"]), (&"done".into(), &"answer 2".into()));
    assert_eq!((world.lines("cut").len(), heard(&world)[1].as_str()), (1, "the words"));
    let late = world.fleet(&["steer", "--interrupt", "1"]).expect_code(2);
    assert!(late.stderr.contains("nothing to interrupt"), "{late:#?}");
    world.end_fleets();
}

/// It waits for a message, also for another host's, and can be stopped as any agent can.
#[test]
fn an_interrupted_agent_waits_and_can_be_told_by_another_host_or_stopped() {
    let world = world(2);
    let live =
        world.start(&["run", "--json", "-j", "2", "--agent", "claude", "count the lines", "other"]);
    world.wait_lines("heard", 2);
    for agent in ["1", "2"] {
        let said = world.fleet(&["steer", "--interrupt", "--json", agent]).expect_code(0).json();
        assert_eq!(said["status"], "interrupted");
    }
    world.wait_lines("cut", 2);
    live.signal(Signal::KILL);
    drop(live);
    world.fleet(&["steer", "1", "go on"]).expect_code(0);
    world.fleet(&["stop", "2"]).expect_code(0);
    let agents = ended(&world);
    assert_eq!((&agents[0]["status"], &agents[0]["answer"]), (&"done".into(), &"answer 2".into()));
    assert_eq!(agents[1]["status"], "cancelled");
    world.end_fleets();
}

#[test]
fn what_an_agent_never_took_up_is_told_with_its_result() {
    let mut world = world(1);
    world.set("DEAF", "1");
    let live = world.start(&["run", "--json", "--agent", "claude", "count the lines"]);
    world.wait_lines("heard", 1);
    world.fleet(&["steer", "1", "never heard"]).expect_code(0);
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(0);
    assert_eq!(ran.json()["agents"][0]["undelivered"], serde_json::json!(["never heard"]));
    let results = world.fleet(&["results"]).expect_code(0);
    let told = "1 message was not delivered: never heard";
    assert!(results.stdout.contains(told), "{}", results.stdout);
}

#[test]
fn what_cannot_be_told_is_refused_with_the_reason_and_changes_nothing() {
    let world = world(2);
    let live = world.start(&["run", "--json", "-j", "2", "--agent", "claude", "count the lines"]);
    world.wait_lines("heard", 1);
    let refused = |args: &[&str]| world.fleet(args).expect_code(2).stderr;
    assert!(refused(&["steer", "1", " "]).contains("blank"));
    assert!(refused(&["steer", "1", &"x".repeat(5_000)]).contains("say it shorter"));
    assert!(refused(&["steer", "9", "hello"]).contains("no agent #9"));
    let mut inside = world.fleet_command(&["steer", "1", "hello"]);
    inside.env("FLEET_AGENT", "k3f/1").env("FLEET_DEPTH", "1");
    let inside = world.start_command(inside).end().expect_code(2);
    assert!(inside.stderr.contains("inside agent k3f/1"), "{inside:#?}");
    world.fleet(&["steer", "1", "now"]).expect_code(0);
    let ran = live.end().expect_code(0);
    assert_eq!(heard(&world), ["count the lines", "now"]);
    assert_eq!(ran.json()["agents"][0]["undelivered"], Value::Array(Vec::new()));
}

#[test]
fn a_kind_that_takes_no_messages_says_what_can_be_done_instead() {
    let world = world(1);
    let live = world.start(&[
        "run",
        "--agent",
        "sh",
        "echo ran > ran; until [ -e go ]; do sleep 0.02; done",
    ]);
    world.wait_lines("ran", 1);
    let refused = world.fleet(&["steer", "1", "hello"]).expect_code(2);
    assert!(refused.stderr.contains("sh takes no messages while it runs: stop it"), "{refused:#?}");
    let refused = world.fleet(&["steer", "--interrupt", "1"]).expect_code(2);
    assert!(refused.stderr.contains("sh cannot be interrupted: stop it"), "{refused:#?}");
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
    let refused = world.fleet(&["steer", "1", "hello"]).expect_code(2);
    assert!(refused.stderr.contains("cannot go on in a session: retry it"), "{refused:#?}");
    world.end_fleets();
}
