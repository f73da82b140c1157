//! Steering fleets from outside with the real binary: cap, hold, release, retry and `resume -d`, whether a fleet is live,
//! held, hostless or has ended.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{GENEROUS, Live, World, wait_until};

/// A task that says that it runs and waits for a file.
const WAITS: &str = "echo ran >> ran; until [ -e go ]; do sleep 0.02; done";

/// Starts a fleet of one agent at a time, whose first one runs until there is a file `go`.
fn running<'w>(world: &'w World, tasks: &[&str]) -> Live<'w> {
    let live = world.start(&[&["run", "--agent", "sh", "-j", "1", WAITS], tasks].concat());
    world.wait_lines("ran", 1);
    live
}

/// The same without its host: the agent lives on.
fn hostless(world: &World, tasks: &[&str]) {
    let live = running(world, tasks);
    live.signal(Signal::KILL);
}

/// The same interrupted: nothing runs, and what was queued waits.
fn held(world: &World, tasks: &[&str]) {
    let live = running(world, tasks);
    live.signal(Signal::INT);
    live.end().expect_code(130);
}

fn let_go(world: &World) {
    std::fs::write(world.file("go"), "").unwrap();
}

fn said(world: &World, args: &[&str]) -> String {
    world.fleet(args).expect_code(0).stdout
}

fn refused(world: &World, args: &[&str], code: i32) -> String {
    let ran = world.fleet(args).expect_code(code);
    assert_eq!(ran.stdout, "", "{ran:#?}");
    ran.stderr
}

fn results(world: &World) -> Value {
    world.fleet(&["results", "--json"]).expect_code(0).json()
}

/// Waits until nothing of the only fleet runs or waits; returns the states of its agents.
#[track_caller]
fn ended(world: &World) -> Vec<String> {
    // Files can tell of an end that the host has not heard of yet, and it is the host that is asked what is next.
    world.fleet(&["wait"]);
    wait_until("all agents have ended", GENEROUS, || {
        let results = results(world);
        let kpis = &results["kpis"];
        if (&kpis["running"], &kpis["queued"]) != (&json!(0), &json!(0)) {
            return Err(format!("{results:#}"));
        }
        let agents = results["agents"].as_array().unwrap();
        Ok(agents.iter().map(|agent| agent["status"].as_str().unwrap().to_owned()).collect())
    })
}

#[test]
fn a_live_fleet_is_held_released_and_given_another_cap() {
    let world = World::new();
    let live = running(&world, &["echo b"]);
    let id = world.only_fleet();
    let held = said(&world, &["hold"]);
    assert_eq!(
        held,
        format!(
            "fleet {id} is held: 1 task waiting, 1 agent goes on; `fleet release {id}` lets the queue go on\n"
        )
    );
    assert!(said(&world, &["hold"]).contains("was held already"));
    let json = world.fleet(&["hold", "--json"]).expect_code(0).json();
    assert_eq!((&json["state"], &json["queued"]), (&json!("held"), &json!(1)));
    let cap = said(&world, &["cap", "5"]);
    assert!(cap.contains("is $5.00 now") && cap.contains(&format!("fleet release {id}")), "{cap}");
    let cap = world.fleet(&["cap", "7.50", "--json", "--fleet", &id]).expect_code(0).json();
    assert_eq!((&cap["cap_usd"], &cap["cap_usd_before"]), (&json!(7.5), &json!(5.0)));
    assert!(said(&world, &["cap", "none"]).contains("has no cap now, after $7.50"));
    let nothing = refused(&world, &["cap", "0"], 2);
    assert!(nothing.contains("would let nothing start") && nothing.contains("fleet hold"));
    assert!(refused(&world, &["cap", "much"], 2).contains("'much'"));
    assert!(said(&world, &["release"]).contains("goes on: 1 running, 1 queued"));
    assert!(said(&world, &["release", &id]).contains("nothing held"));
    let has_host = refused(&world, &["resume", "-d"], 4);
    assert!(has_host.contains("has a host already") && has_host.contains("fleet release"));
    let_go(&world);
    live.end().expect_code(0);
}

#[test]
fn a_held_fleet_goes_on_behind_with_the_cap_that_it_was_given() {
    let world = World::new();
    held(&world, &["echo b > b"]);
    let cap = said(&world, &["cap", "5"]);
    assert!(cap.contains("1 task waiting: `fleet release"), "{cap}");
    assert!(said(&world, &["hold"]).contains("is held: 1 task waiting"));
    assert!(!world.file("b").exists());
    assert_eq!(world.fleet(&["ls", "--json"]).json()[0]["state"], "held");
    // Returns at once, and what it started has none of its pipes.
    let resumed =
        world.fleet(&["resume", "-d", "--json", "--on-cap", "drop"]).expect_code(0).json();
    assert_eq!((&resumed["status"], &resumed["state"]), (&json!("resumed"), &json!("live")));
    assert!(resumed["host_pid"].is_u64(), "{resumed}");
    assert_eq!(ended(&world), ["interrupted", "done"]);
    assert_eq!(results(&world)["cap_usd"], 5.0);
    world.end_fleets();
    let over = said(&world, &["resume", "-d", &world.only_fleet()]);
    assert!(over.contains("has ended") && over.contains("fleet retry failed"), "{over}");
}

#[test]
fn decisions_about_a_hostless_fleet_last_and_start_nothing_until_it_is_released() {
    let world = World::new();
    hostless(&world, &["echo b > b"]);
    let id = world.only_fleet();
    let no_host = format!("queued: nobody hosts the fleet, so nothing starts: `fleet resume {id}");
    let queued = said(&world, &["show", "2"]);
    assert!(queued.contains(&no_host), "{queued}");
    let cap = said(&world, &["cap", "5"]);
    assert!(cap.contains(&format!("no host watches this fleet: `fleet resume {id} -d` goes on")));
    assert!(refused(&world, &["cap", "0"], 2).contains("would let nothing start"));
    assert!(said(&world, &["hold"]).contains("is held: 1 task waiting, 1 agent goes on"));
    let json = world.fleet(&["hold", "--json"]).expect_code(0).json();
    assert_eq!((&json["state"], &json["host_pid"]), (&json!("hostless"), &Value::Null));
    assert_eq!(world.fleet(&["ls", "--json"]).json()[0]["state"], "hostless");
    assert_eq!(results(&world)["cap_usd"], 5.0);
    assert!(!world.file("b").exists());
    let released = said(&world, &["release"]);
    assert!(released.contains("goes on behind (host process ") && released.contains("1 queued"));
    let_go(&world);
    assert_eq!(ended(&world), ["done", "done"]);
    world.end_fleets();
}

#[test]
fn what_is_queued_is_never_next_where_nobody_hosts_the_fleet() {
    let world = World::new();
    hostless(&world, &["echo b > b"]);
    let_go(&world);
    wait_until("the agent has ended", GENEROUS, || {
        let shown = said(&world, &["show", "1"]);
        if shown.contains("State: done") { Ok(()) } else { Err(shown) }
    });
    let id = world.only_fleet();
    let no_host = format!("queued: nobody hosts the fleet, so nothing starts: `fleet resume {id}");
    let queued = said(&world, &["show", "2"]);
    assert!(queued.contains(&no_host), "{queued}");
    world.fleet(&["resume", "-d"]).expect_code(0);
    assert_eq!(ended(&world), ["done", "done"]);
    world.end_fleets();
}

#[test]
fn a_resumed_fleet_refuses_a_cap_that_lets_nothing_start_and_stays_as_it_was() {
    let world = World::new();
    held(&world, &["echo b > b"]);
    let refusal = refused(&world, &["resume", "-d", "--cap", "0"], 2);
    assert!(refusal.contains("--cap: $0.00 would let nothing start"), "{refusal}");
    assert_eq!(world.fleet(&["ls", "--json"]).json()[0]["state"], "held");
    world.assert_nothing_runs();
}

#[test]
fn an_ended_fleet_has_nothing_to_hold_and_its_failed_tasks_are_tried_again_once() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "echo a", "exit 3", "test -e go"]).expect_code(1);
    let id = world.only_fleet();
    for args in [&["hold"][..], &["release"], &["cap", "5"], &["resume", "-d"]] {
        let ended = refused(&world, args, 4);
        assert!(ended.contains("has ended") && ended.contains("fleet ls"), "{ended}");
    }
    assert!(said(&world, &["hold", &id]).contains("has ended: nothing is left to hold"));
    assert!(said(&world, &["release", &id]).contains("has ended: nothing is left to go on with"));
    assert!(said(&world, &["cap", "5", "--fleet", &id]).contains("is $5.00 now"));
    world.assert_nothing_runs();
    let_go(&world);
    let held = world.fleet(&["retry", "failed", "--json"]).expect_code(0).json();
    assert_eq!((&held["retry_of"], &held["agents"]), (&json!([2, 3]), &json!([4, 5])));
    assert!(held["delegation_id"].as_str().unwrap().starts_with("deleg_"), "{held}");
    assert_eq!(ended(&world), ["done", "failed", "failed", "failed", "done"]);
    // What failed again is tried again, and what was tried is not.
    assert_eq!(said(&world, &["retry", "failed"]), "#4 is tried again as #6\n");
    ended(&world);
    assert!(refused(&world, &["retry", "2"], 2).contains("#2 is already tried again as #4"));
    let all = world.fleet(&["retry", "all", "--json"]).expect_code(0).json();
    assert_eq!((&all["retry_of"], &all["agents"]), (&json!([1, 5, 6]), &json!([7, 8, 9])));
    let left: Vec<_> = all["left_out"].as_array().unwrap().iter().map(|it| &it["agent"]).collect();
    assert_eq!(left, [2, 3, 4]);
    ended(&world);
    world.end_fleets();
}

/// C-132.
#[test]
fn tasks_that_were_stopped_timed_out_or_failed_are_run_again_by_new_agents() {
    let world = World::new();
    let tasks = r#"
        {"task": "exit 3"}
        {"task": "[ -e again ] || sleep 60", "timeout": "2s"}
        {"task": "[ -e again ] || { echo ran > ran; sleep 60; }"}
    "#;
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let live = world.start(&["run", "--agent", "sh", "-j", "3", "-f", "tasks.jsonl"]);
    world.wait_lines("ran", 1);
    world.fleet(&["stop", "3"]).expect_code(0);
    live.end().expect_code(1);
    assert_eq!(ended(&world), ["failed", "timeout", "cancelled"]);
    std::fs::write(world.file("again"), "").unwrap();
    assert_eq!(said(&world, &["retry", "failed"]), "#1 to #3 are tried again as #4 to #6\n");
    assert_eq!(ended(&world)[3..], ["failed", "done", "done"]);
    let agents = results(&world)["agents"].clone();
    assert_eq!((&agents[1]["retried_by"], &agents[4]["retry_of"]), (&json!(5), &json!(2)));
    world.end_fleets();
}

#[test]
fn what_cannot_be_tried_again_is_refused_with_the_reason() {
    let world = World::new();
    let live = running(&world, &[]);
    assert!(refused(&world, &["retry", "1"], 2).contains("#1 has not ended"));
    assert!(refused(&world, &["retry"], 2).contains("all"));
    assert!(refused(&world, &["retry", "9"], 2).contains("no agent #9"));
    assert!(refused(&world, &["retry", "set:4"], 2).contains("no batch 4"));
    assert!(said(&world, &["retry", "failed"]).contains("nothing of fleet"));
    let all = world.fleet(&["retry", "all", "--json"]).expect_code(0).json();
    assert_eq!((&all["status"], &all["left_out"][0]["agent"]), (&json!("nothing"), &json!(1)));
    let_go(&world);
    live.end().expect_code(0);
    let other = World::new();
    other.fleet(&["run", "--agent", "sh", "--env", "K=secret", "exit 3"]).expect_code(1);
    let kept = refused(&other, &["retry", "1"], 2);
    assert!(kept.contains("--env (K)") && !kept.contains("secret"), "{kept}");
    other.end_fleets();
}

#[test]
fn two_who_try_the_same_again_do_not_double_it() {
    let world = World::new();
    let live = world.start(&["run", "--agent", "sh", "-j", "2", WAITS, "exit 3", "exit 4"]);
    world.wait_lines("ran", 1);
    world.fleet(&["wait", "2-3"]).expect_code(1);
    let both = [world.start(&["retry", "2-3"]), world.start(&["retry", "2-3"])];
    let mut codes: Vec<_> = both.into_iter().map(|one| one.end().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)]);
    assert_eq!(results(&world)["kpis"]["total"], 5);
    let_go(&world);
    live.end().expect_code(1);
}

#[test]
fn the_cap_holds_what_is_tried_again_until_it_is_raised() {
    let world = World::new();
    let paid = r#"echo '{"fleet":"cost","total_usd":0.42}'; exit 3"#;
    world.fleet(&["run", "--agent", "sh", "--cap", "0.40", paid]).expect_code(1);
    let tried = said(&world, &["retry", "1"]);
    assert!(tried.starts_with("#1 is tried again as #2; 1 task waiting: the cap of $0.40 holds"));
    let raise = format!("fleet cap USD --fleet {}", world.only_fleet());
    assert!(tried.contains(&raise), "{tried}");
    let release = refused(&world, &["release"], 2);
    assert!(release.contains("the cap of $0.40 holds the queue") && release.contains(&raise));
    assert!(refused(&world, &["cap", "0.41"], 2).contains("$0.42 is spent"));
    assert!(said(&world, &["cap", "2"]).contains("is $2.00 now, after $0.40"));
    assert_eq!(ended(&world), ["failed", "failed"]);
    world.end_fleets();
}

#[test]
fn an_open_cap_question_is_answered_by_another_cap() {
    let world = World::new();
    let paid = r#"echo '{"fleet":"cost","total_usd":0.42}'; until [ -e go ]; do sleep 0.02; done"#;
    held(&world, &[paid, "echo b", "echo c"]);
    world.fleet(&["resume", "-d", "--on-cap", "ask", "--cap", "0.40"]).expect_code(0);
    let asked = wait_until("the cap question is open", GENEROUS, || {
        let hold = world.fleet(&["cap", "0.41"]);
        if hold.code == Some(2) { Ok(hold.stderr) } else { Err(format!("{hold:#?}")) }
    });
    assert!(asked.contains("would let nothing start: $0.42 is spent"), "{asked}");
    let raised = world.fleet(&["cap", "3", "--json"]).expect_code(0).json();
    assert_eq!((&raised["cap_usd"], &raised["waits"]), (&json!(3.0), &Value::Null));
    let_go(&world);
    assert_eq!(ended(&world), ["interrupted", "done", "done", "done"]);
    world.end_fleets();
}

#[test]
fn agents_may_not_steer_fleets() {
    let world = World::new();
    for args in
        [&["cap", "5"][..], &["hold"], &["release"], &["retry", "failed"], &["resume", "-d"]]
    {
        let mut command = world.fleet_command(args);
        command.env("FLEET_AGENT", "k3f/1").env("FLEET_DEPTH", "1");
        let ran = world.start_command(command).end().expect_code(2);
        let sentence = format!("inside agent k3f/1 of a fleet, where fleet {}", args[0]);
        assert!(ran.stderr.contains(&sentence), "{ran:#?}");
    }
}

#[test]
fn only_ended_fleets_are_pruned_and_what_stays_is_told() {
    let world = World::new();
    world.fleet(&["run", "--agent", "sh", "--name", "first", "echo a"]).expect_code(0);
    let first = world.only_fleet();
    let usual = said(&world, &["prune"]);
    assert!(usual.contains("nothing to delete: 1 fleet ended in the last 7 days"), "{usual}");
    held(&world, &["echo b"]);
    std::fs::remove_file(world.file("ran")).unwrap();
    let live = world.start(&["run", "--agent", "sh", WAITS]);
    world.wait_lines("ran", 1);
    let dry = world.fleet(&["prune", "--older-than", "0s", "--dry-run", "--json"]).expect_code(0);
    let dry = dry.json();
    assert_eq!((&dry["dry_run"], &dry["deleted"][0]["id"]), (&json!(true), &json!(first)));
    assert!(dry["bytes"].as_u64() > Some(0), "{dry}");
    assert_eq!(world.fleets().len(), 3);
    let pruned = said(&world, &["prune", "--older-than", "0s"]);
    assert!(pruned.contains(&format!("deleted {first}: ended ")), "{pruned}");
    assert!(pruned.contains(", 1 agent, ") && pruned.contains(", first\n"), "{pruned}");
    assert!(pruned.contains("held, 1 queued: `fleet resume "), "{pruned}");
    assert!(pruned.contains("live, has a host: 1 running, 0 queued"), "{pruned}");
    assert!(pruned.contains("deleted 1 fleet, "), "{pruned}");
    assert_eq!(world.fleets().len(), 2);
    live.signal(Signal::KILL);
    drop(live);
    let hostless = said(&world, &["prune", "--older-than", "0s"]);
    assert!(hostless.contains("hostless, 1 running, not watched: `fleet resume "), "{hostless}");
    assert!(hostless.contains("nothing to delete: no fleet has ended"), "{hostless}");
    assert!(refused(&world, &["prune", "--older-than", "-3d"], 2).contains("--older-than"));
    let_go(&world);
    world.assert_nothing_runs();
}

/// What bash completes where these words stand, the last of them being typed.
fn completed(world: &World, words: &[&str]) -> Vec<String> {
    let script = r#"
        eval "$(fleet completions bash)"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
        _clap_complete_fleet fleet "${COMP_WORDS[COMP_CWORD]}" ""
        printf '%s\n' "${COMPREPLY[@]}""#;
    let mut command = world.command("bash");
    command.args(["-c", script, "bash"]).args(words);
    let ran = world.start_command(command).end().expect_code(0);
    assert_eq!(ran.stderr, "");
    ran.stdout.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_shell_completes_subcommands_fleets_agents_and_kinds() {
    let mut world = World::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_fleet")).parent().unwrap();
    world.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    world.fleet(&["run", "--agent", "sh", "true", "exit 3"]).expect_code(1);
    let id = world.only_fleet();
    assert_eq!(completed(&world, &["fleet", "rel"]), ["release"]);
    let begun: String = id.chars().take(3).collect();
    assert_eq!(completed(&world, &["fleet", "hold", &begun]).join(" "), id);
    assert_eq!(completed(&world, &["fleet", "ls", "--fleet", ""]).join(" "), id);
    let agents = completed(&world, &["fleet", "retry", "--fleet", &id, ""]);
    for word in ["all", "failed", "set:1", "1", "2"] {
        assert!(agents.iter().any(|offered| offered == word), "{word} is not in {agents:?}");
    }
    assert!(completed(&world, &["fleet", "run", "--agent", "cod"]).contains(&"codex".to_owned()));
    let unknown = world.fleet(&["completions", "csh"]).expect_code(2);
    assert!(unknown.stderr.contains("csh"), "{unknown:#?}");
}

/// Only a look at the fleet, such as `fleet show`, finds the agent lost and ends what it has left.
#[test]
fn what_a_lost_agent_left_outlives_a_completion() {
    let mut world = World::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_fleet")).parent().unwrap();
    world.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    // The program goes with its shim, and what it has put into a session of its own does not.
    let task = "setsid sh -c 'until [ -e go ]; do sleep 0.02; done; echo lives > lives; exec sleep 600' & \
                echo ran >> ran; wait";
    let live = world.start(&["run", "--agent", "sh", task]);
    world.wait_lines("ran", 1);
    live.signal(Signal::KILL);
    live.end();
    let shim = world.shim(1);
    shim.signal(Signal::KILL);
    shim.wait_gone("the shim");
    for words in
        [&["fleet", "retry", ""][..], &["fleet", "logs", "--fleet", &world.only_fleet(), ""]]
    {
        let agents = completed(&world, words);
        assert!(agents.contains(&"1".to_owned()), "{agents:?}");
    }
    let_go(&world);
    world.wait_lines("lives", 1);
    let shown = said(&world, &["show"]);
    assert!(shown.contains("lost"), "{shown}");
}

#[test]
fn manual_pages_are_printed_and_written() {
    let world = World::new();
    let page = said(&world, &["man", "retry"]);
    assert!(page.contains(".TH") && page.contains("fleet retry failed"), "{page}");
    assert!(refused(&world, &["man", "rety"], 2).contains("retry"));
    let folder = world.file("pages");
    let written = said(&world, &["man", "--dir", folder.to_str().unwrap()]);
    assert!(written.contains("pages written"), "{written}");
    assert!(folder.join("fleet.1").exists() && folder.join("fleet-cap.1").exists());
}

#[test]
fn a_fleet_that_lives_on_another_machine_is_left_to_its_host_there() {
    let world = World::new();
    held(&world, &["echo b > b"]);
    let id = world.only_fleet();
    let path = world.state().join("fleets").join(&id).join("host.lock");
    std::fs::write(&path, r#"{"pid":1,"boot_id":"b","host_name":"far-away"}"#).unwrap();
    let lock = std::fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    for args in [&["cap", "5"][..], &["hold"], &["release"], &["retry", "all"], &["resume", "-d"]] {
        let there = refused(&world, args, 4);
        assert!(there.contains("lives on host far-away: go on there"), "{args:?}: {there}");
    }
    let kept = said(&world, &["prune", "--older-than", "0s"]);
    assert!(kept.contains("far-away"), "{kept}");
    drop(lock);
    assert_eq!(world.fleet(&["ls", "--json"]).json()[0]["state"], "held");
    assert!(!world.file("b").exists());
}

#[test]
fn what_was_interrupted_is_tried_again_and_what_waited_still_does() {
    let world = World::new();
    held(&world, &["echo b > b"]);
    let_go(&world);
    let tried = said(&world, &["retry", "failed"]);
    let waiting = "#1 is tried again as #3; 2 tasks waiting: `fleet release ";
    assert!(tried.starts_with(waiting), "{tried}");
    assert!(!world.file("b").exists());
    assert!(said(&world, &["release"]).contains("goes on"));
    assert_eq!(ended(&world), ["interrupted", "done", "done"]);
    world.end_fleets();
    // Where nothing waited, nothing is held.
    let other = World::new();
    held(&other, &[]);
    let_go(&other);
    assert_eq!(said(&other, &["retry", "failed"]), "#1 is tried again as #2\n");
    assert_eq!(ended(&other), ["interrupted", "done"]);
    other.end_fleets();
}

/// Thirty tasks, every fifth of which fails the first time, all of which cost more than the first cap allows.
const SCRIPT: &str = r#"
for n in $(seq 30); do echo "echo '{\"fleet\":\"cost\",\"total_usd\":0.05}'; [ -e once$n ] || [ $((n % 5)) != 0 ] || { touch once$n; exit 3; }"; done > tasks.txt
fleet dispatch --agent sh -j 4 --cap 1 -f tasks.txt > handle
fleet wait > waited; code=$?
while [ $code = 3 ]; do echo asked >> asked; fleet cap 100 >> raised; fleet wait > waited; code=$?; done
echo "first $code"
fleet retry failed
fleet wait > waited; echo "second $?"
fleet results --compact
"#;

#[test]
fn a_short_script_feeds_a_fleet_raises_its_cap_and_retries_what_failed_once() {
    let mut world = World::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_fleet")).parent().unwrap();
    world.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let mut command = world.command("sh");
    command.args(["-c", SCRIPT]);
    let ran = world.start_command(command).end().expect_code(0);
    let said = &ran.stdout;
    assert!(
        said.starts_with("first 1\n#5, #10, #15, #20, #25, #30 are tried again as #31 to #36"),
        "{said}"
    );
    assert!(said.contains("\nsecond 0\n"), "{said}");
    assert_eq!(world.lines("asked").len(), 1, "{ran:#?}");
    let results = results(&world);
    let kpis = &results["kpis"];
    assert_eq!((&kpis["done"], &kpis["failed"]), (&json!(30), &json!(6)));
    assert_eq!((&results["spent_usd"], &results["cap_usd"]), (&json!(1.8), &json!(100.0)));
    world.end_fleets();
}
