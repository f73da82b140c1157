//! Programs that record their sessions in files, with a stand-in for one: what is read of that, where, and by which host.
//!
//! What may go here: records of sessions from the outside. What may not: what the real programs write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, World, wait_until};

/// Names its thread and records a response, a second one when `go` is there, and ends well when `end` is. While `chat` is
/// there it goes on to print.
const CODEX: &str = r#"#!/bin/sh
thread=01a229a5-a1a4-7f60-aabc-f02dd092d9bf
folder=${CODEX_HOME:-$HOME/.codex}/sessions/2026/11/29
record() {
    echo "{\"timestamp\":\"$1\",\"type\":\"token_usage_record\",\"payload\":{\"response_id\":\"$2\",\"usage\":{\"input_tokens\":$3,\"output_tokens\":0}}}" >> "$folder/rollout-2026-11-29T23-30-50-$thread.jsonl"
}
cat > /dev/null
mkdir -p "$folder"
echo "{\"type\":\"thread.started\",\"thread_id\":\"$thread\"}"
record 2001-01-01T00:00:00Z old 7
record 2999-01-01T00:00:00Z one 100000
until [ -e go ]; do
    [ -e chat ] && echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hm."}}'
    sleep 0.05
done
record 2999-01-01T00:00:00Z two 50000
until [ -e end ]; do sleep 0.05; done
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Well."}}'
echo '{"type":"turn.completed"}'
"#;

/// A world with the stand-in.
fn world() -> World {
    let mut world = World::new();
    let program = world.file("bin/codex");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, CODEX).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    world.set("PATH", &path);
    world
}

fn start<'a>(world: &'a World, options: &[&str]) -> Live<'a> {
    let args = ["run", "--json", "--agent", "codex", "--model", "gpt-5.5"];
    world.start(&[&args[..], options, &["Read it."]].concat())
}

fn put(world: &World, name: &str) {
    fs::write(world.file(name), "").unwrap();
}

#[track_caller]
fn wait_tokens(world: &World, tokens: u64) {
    wait_until(&format!("{tokens} tokens are counted"), GENEROUS, || {
        let ran = world.fleet(&["results", "--json"]);
        let agent = match ran.code {
            Some(0 | 1) => ran.json()["agents"][0].clone(),
            _ => return Err(format!("{ran:#?}")),
        };
        let is_so = agent["tokens"] == tokens && agent["status"] == "running";
        if is_so { Ok(()) } else { Err(agent.to_string()) }
    });
}

#[track_caller]
fn kill(mut live: Live<'_>) {
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
}

fn has_record(folder: &Path) -> bool {
    folder.join("sessions/2026/11/29").is_dir()
}

/// Its home folder, the variable that it inherits, and the one that it is given.
#[test]
fn the_record_is_read_where_the_variables_of_the_agent_say() {
    for place in ["home", "inherited", "given"] {
        let mut world = world();
        let folder = world.file(place);
        let value = folder.to_str().unwrap().to_owned();
        let given = format!("CODEX_HOME={value}");
        match place {
            "home" => world.set("HOME", &value),
            "inherited" => world.set("CODEX_HOME", &value),
            _ => world.set("CODEX_HOME", world.file("not-here").to_str().unwrap()),
        }
        let options = ["--env", given.as_str()];
        let live = start(&world, if place == "given" { &options } else { &[] });
        wait_tokens(&world, 100_000);
        let is_home = place == "home";
        assert!(has_record(&if is_home { folder.join(".codex") } else { folder }), "{place}");
        put(&world, "go");
        wait_tokens(&world, 150_000);
        put(&world, "end");
        let ran = live.end();
        assert_eq!(ran.column("tokens"), ["150000"], "{ran:#?}");
        assert_eq!(ran.column("status"), ["done"], "{ran:#?}");
        assert_eq!(ran.column("cost_status"), ["estimated"], "{ran:#?}");
        // $5 per million, each response being a short one.
        assert_eq!(ran.json()["agents"][0]["cost_usd"].as_f64(), Some(0.75), "{ran:#?}");
        world.assert_nothing_runs();
    }
}

#[test]
fn an_agent_past_its_budget_by_its_record_is_stopped_although_it_prints_nothing() {
    let world = world();
    let live = start(&world, &["--budget", "0.60"]);
    wait_tokens(&world, 100_000);
    put(&world, "go");
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["over_budget"], "{ran:#?}");
    assert_eq!(ran.column("tokens"), ["150000"], "{ran:#?}");
    world.assert_nothing_runs();
}

/// The next host, which has another home folder, finds the record where the agent keeps it, although it does not read again
/// what the agent has printed first: a checkpoint is behind that.
#[test]
fn another_host_counts_the_record_from_its_start_and_each_response_once() {
    let world = world();
    let live = start(&world, &[]);
    wait_tokens(&world, 100_000);
    put(&world, "chat");
    wait_until("a checkpoint is written", GENEROUS, || {
        let files = world.state_files_with("\"checkpoint\"");
        if files.is_empty() { Err(format!("{files:?}")) } else { Ok(()) }
    });
    kill(live);
    put(&world, "go");
    let mut command = world.fleet_command(&["resume", "--json", &world.only_fleet()]);
    command.env("HOME", world.file("elsewhere"));
    let live = world.start_command(command);
    wait_tokens(&world, 150_000);
    put(&world, "end");
    let ran = live.end().expect_code(0);
    assert_eq!(ran.column("tokens"), ["150000"], "{ran:#?}");
    assert_eq!(ran.json()["agents"][0]["cost_usd"].as_f64(), Some(0.75), "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn what_was_recorded_while_no_host_lived_is_counted() {
    let world = world();
    let live = start(&world, &[]);
    wait_tokens(&world, 100_000);
    kill(live);
    put(&world, "go");
    put(&world, "end");
    world.assert_nothing_runs();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(0);
    assert_eq!(ran.column("status"), ["done"], "{ran:#?}");
    assert_eq!(ran.column("tokens"), ["150000"], "{ran:#?}");
    assert_eq!(ran.json()["agents"][0]["cost_usd"].as_f64(), Some(0.75), "{ran:#?}");
}
