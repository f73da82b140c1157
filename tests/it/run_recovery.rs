//! Kill -9, of the host, of a shim, of both: agents keep their true ends, and nothing runs twice.

use std::collections::BTreeMap;

use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, Pid, World, wait_until};

/// Says that it runs, waits for the word, ends with its own code.
fn waits(number: u32, code: u32) -> String {
    format!(
        "echo {number} >> ran; until [ -e go ]; do sleep 0.05; done; echo out {number}; exit {code}"
    )
}

/// Starts five such tasks in two slots; the second ends with 7.
fn start_five(world: &World) -> Live<'_> {
    let tasks: Vec<String> =
        (1..=5).map(|number| waits(number, if number == 2 { 7 } else { 0 })).collect();
    let mut args = vec!["run", "--json", "-j", "2", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    let live = world.start(&args);
    world.wait_lines("ran", 2);
    live
}

#[track_caller]
fn assert_each_ran_once(world: &World, count: usize) {
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for line in world.lines("ran") {
        *times.entry(line).or_default() += 1;
    }
    assert!(times.len() == count && times.values().all(|times| *times == 1), "{times:?}");
}

#[track_caller]
fn kill(mut live: Live<'_>) {
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
}

#[test]
fn running_agents_are_adopted_and_the_queue_goes_on() {
    let world = World::new();
    kill(start_five(&world));
    let agents = || world.processes().iter().filter(|process| process.mark.is_some()).count();
    assert!(agents() >= 2, "agents died with their host: {:?}", world.processes());
    let resumed = world.start(&["resume", "--json", &world.only_fleet()]);
    // The slots are taken by the two that were adopted, so the third must not start before one of them ends.
    wait_until("the fleet has a host", GENEROUS, || {
        let fleets = world.fleet(&["ls", "--json"]).json();
        if fleets[0]["state"] == "live" { Ok(()) } else { Err(fleets.to_string()) }
    });
    assert_eq!(world.lines("ran").len(), 2, "an adopted agent does not hold its slot");
    std::fs::write(world.file("go"), "").unwrap();
    let ran = resumed.end().expect_code(1);
    assert_eq!(ran.column("status"), ["done", "failed", "done", "done", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_code"), ["0", "7", "0", "0", "0"], "{ran:#?}");
    for (path, number) in ran.column("out").iter().zip(1..) {
        assert_eq!(std::fs::read_to_string(path).unwrap(), format!("out {number}\n"));
    }
    assert_each_ran_once(&world, 5);
    world.assert_nothing_runs();
}

#[test]
fn agents_that_ended_without_a_host_are_reported_as_they_ended() {
    let world = World::new();
    kill(start_five(&world));
    std::fs::write(world.file("go"), "").unwrap();
    world.assert_nothing_runs();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(1);
    assert_eq!(ran.column("status"), ["done", "failed", "done", "done", "done"], "{ran:#?}");
    assert_eq!(ran.column("exit_code"), ["0", "7", "0", "0", "0"], "{ran:#?}");
    assert_each_ran_once(&world, 5);
}

/// C-123: with the host, so that it never hears of the end, and once it has, everything dies but one agent that goes on.
#[test]
fn an_end_is_kept_from_its_first_moment_and_only_what_had_not_ended_is_lost() {
    let ends = r#"echo 1 >> ran; until [ -e go ]; do sleep 0.02; done
        echo '{"fleet":"step","tool":"bash","text":"make","state":"end"}'
        echo '{"fleet":"usage","id":"m1","input_tokens":900,"output_tokens":80,"cost_usd":0.0042}'
        echo '{"fleet":"result","completed":false,"answer":"half of it","error":"no more","files_changed":["a.py"]}'
        exit 3"#;
    let hangs = "echo 2 >> ran; sleep 1000";
    let goes_on = "echo 3 >> ran; until [ -e on ]; do sleep 0.02; done";
    for is_told in [false, true] {
        let world = World::new();
        let live =
            world.start(&["run", "--json", "-j", "3", "--agent", "sh", ends, hangs, goes_on]);
        world.wait_lines("ran", 3);
        let fleet = world.only_fleet();
        let other = world.shim(2);
        let folder = world.agent_folder(1);
        let journal = folder.join("../../journal.jsonl");
        std::fs::write(world.file("go"), "").unwrap();
        wait_until("the first has ended", GENEROUS, || {
            let has_ended = if is_told {
                std::fs::read_to_string(&journal).unwrap().contains(r#""ended":[1,"#)
            } else {
                folder.join("exit.json").exists()
            };
            if has_ended { Ok(()) } else { Err("runs".to_owned()) }
        });
        kill(live);
        other.signal(Signal::KILL);
        other.wait_gone("the second one's shim");
        let first = |results: &serde_json::Value| results["agents"][0].clone();
        let seen = world.fleet(&["results", "--json"]);
        let kept = first(&seen.json());
        let numbers = ["status", "exit_code", "answer", "error", "steps", "tokens", "cost_usd"];
        let told: Vec<String> = numbers.iter().map(|key| kept[*key].to_string()).collect();
        let expected =
            [r#""failed""#, "3", r#""half of it""#, r#""no more""#, "1", "980", "0.0042"];
        assert_eq!(told, expected, "{kept:#}");
        assert_eq!(kept["files_changed"], serde_json::json!(["a.py"]));
        std::fs::write(world.file("on"), "").unwrap();
        let ran = world.fleet(&["resume", "--json", &fleet]).expect_code(1);
        assert_eq!(ran.column("status"), ["failed", "lost", "done"], "{ran:#?}");
        assert_eq!(first(&ran.json()), kept, "the same as before");
        let out = std::fs::read_to_string(kept["out"].as_str().unwrap()).unwrap();
        assert_eq!(out.lines().count(), 3, "{out}");
        assert_each_ran_once(&world, 3);
        world.assert_nothing_runs();
    }
}

/// The host is killed again and again at whatever moment it happens to be in.
#[test]
fn however_often_the_host_is_killed_each_task_runs_once() {
    let world = World::new();
    // The last ones wait for the word, so that there is something left to resume after each kill.
    let task = |number: u32| {
        let wait = if number > 20 { "until [ -e go ]; do sleep 0.05; done; " } else { "" };
        format!("echo {number} >> ran; {wait}exit {}", number % 3)
    };
    let tasks: Vec<String> = (1..=24).map(task).collect();
    let mut args = vec!["run", "--json", "-j", "3", "--agent", "sh"];
    args.extend(tasks.iter().map(String::as_str));
    let mut live = world.start(&args);
    for count in [1, 4, 8, 13, 17] {
        world.wait_lines("ran", count);
        kill(live);
        live = world.start(&["resume", "--json", &world.only_fleet()]);
    }
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    let codes: Vec<String> = (1..=24).map(|number| (number % 3).to_string()).collect();
    assert_eq!(ran.column("exit_code"), codes, "{ran:#?}");
    assert_each_ran_once(&world, 24);
    world.assert_nothing_runs();
}

/// Has a child in its group and a grandchild in a session of its own.
const FAMILY: &str = "sleep 1000 & setsid sh -c 'sleep 1000 & wait' & echo up >> ran; wait";

#[test]
fn a_killed_shim_is_a_lost_agent_of_which_nothing_stays() {
    let world = World::new();
    let live = world.start(&["run", "--json", "-j", "2", "--agent", "sh", FAMILY, "echo fine"]);
    world.wait_lines("ran", 1);
    world.shim(1).signal(Signal::KILL);
    let ran = live.end().expect_code(1);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["lost", "done"], "{ran:#?}");
    assert!(!ran.column("error")[0].is_empty(), "no reason: {ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn an_agent_lost_while_no_host_watched_is_found_and_ended_by_resume() {
    let world = World::new();
    let live = world.start(&["run", "--json", "-j", "1", "--agent", "sh", FAMILY, "echo 2 >> ran"]);
    world.wait_lines("ran", 1);
    let shim = world.shim(1);
    kill(live);
    shim.signal(Signal::KILL);
    shim.wait_gone("the shim");
    assert!(!world.processes().is_empty(), "there is nothing to be found");
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(1);
    world.assert_no_agent_runs_now();
    assert_eq!(ran.column("status"), ["lost", "done"], "{ran:#?}");
    assert_eq!(world.lines("ran"), ["up", "2"]);
    world.assert_nothing_runs();
}

#[test]
fn a_timeout_holds_while_no_host_lives() {
    let world = World::new();
    let task = "echo up >> ran; sleep 1000";
    kill({
        let live = world.start(&["run", "--json", "--timeout", "3s", "--agent", "sh", task]);
        world.wait_lines("ran", 1);
        live
    });
    world.assert_nothing_runs();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(1);
    assert_eq!(ran.column("status"), ["timeout"], "{ran:#?}");
}

/// The shim was asked before its host came back, and a second word would kill what is still cleaning up.
#[test]
fn an_agent_that_is_ending_keeps_its_grace_when_a_host_comes_back() {
    let world = World::new();
    let task = "trap 'until [ -e go ]; do sleep 0.05; done; echo clean >> ran; exit 0' TERM; echo up >> ran; \
                while :; do sleep 0.05; done";
    let live = world.start(&["run", "--json", "--grace", "10m", "--agent", "sh", task]);
    world.wait_lines("ran", 1);
    kill(live);
    world.fleet(&["stop", "all"]).expect_code(0);
    let resumed = world.start(&["resume", "--json", &world.only_fleet()]);
    wait_until("the second host has adopted it", GENEROUS, || {
        if resumed.stderr().is_empty() { Err("silence".to_owned()) } else { Ok(()) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = resumed.end().expect_code(1);
    assert_eq!(world.lines("ran"), ["up", "clean"], "{ran:#?}");
    assert_eq!(ran.column("status"), ["cancelled"], "{ran:#?}");
}

/// With fewer descriptors than agents a host cannot look at all of them. What it cannot look at is not lost, and must not
/// be ended as lost agents are.
#[test]
fn a_host_that_is_short_of_descriptors_ends_no_agent() {
    const COUNT: usize = 40;
    let world = World::new();
    let task = "echo up >> ran; until [ -e go ]; do sleep 0.1; done";
    let mut args = vec!["run", "--json", "-j", "40", "--agent", "sh"];
    args.extend([task; COUNT]);
    let live = world.start(&args);
    world.wait_lines("ran", COUNT);
    kill(live);
    let fleet = world.only_fleet();
    // Where exactly it runs short depends on what it has opened before.
    for limit in (24..64).step_by(4) {
        let mut command = world.command("sh");
        let line = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_fleet"), "resume", "--json", &fleet]);
        let mut short = world.start_command(command);
        // It may give up, for want of descriptors for its signals.
        wait_until("the second host has looked", GENEROUS, || {
            if short.has_ended() || !short.stderr().is_empty() {
                Ok(())
            } else {
                Err("silence".to_owned())
            }
        });
        kill(short);
    }
    std::fs::write(world.file("go"), "").unwrap();
    let ran = world.fleet(&["resume", "--json", &fleet]).expect_code(0);
    assert_eq!(ran.column("status"), ["done"; COUNT], "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn an_agent_whose_files_are_deleted_while_it_runs_is_lost_and_runs_once() {
    let world = World::new();
    let task = "echo up >> ran; until [ -e go ]; do sleep 0.02; done";
    let live = world.start(&["run", "--json", "-j", "1", "--agent", "sh", task, "echo fine"]);
    world.wait_lines("ran", 1);
    let folder = world.agent_folder(1);
    wait_until("the host knows that it runs", GENEROUS, || {
        let results = world.fleet(&["results", "--json"]);
        if results.column("status")[0] == "running" { Ok(()) } else { Err(format!("{results:?}")) }
    });
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["lost", "done"], "{ran:#?}");
    assert_eq!(world.lines("ran").len(), 1);
    world.assert_nothing_runs();
}

#[test]
fn an_agent_whose_files_are_deleted_can_still_be_ended() {
    let world = World::new();
    let live = world.start(&["run", "--json", "--agent", "sh", "echo up >> ran; sleep 1000"]);
    world.wait_lines("ran", 1);
    wait_until("the shim has told its host", GENEROUS, || {
        let results = world.fleet(&["results", "--json"]);
        if results.column("status")[0] == "running" { Ok(()) } else { Err(format!("{results:?}")) }
    });
    std::fs::remove_dir_all(world.agent_folder(1)).unwrap();
    live.signal(Signal::TERM);
    let ran = live.end().expect_code(143);
    assert_eq!(ran.column("status"), ["lost"], "{ran:#?}");
    world.assert_nothing_runs();
}

/// Neither carries a mark any more, and one of them has left the session as well.
const STRAYS: &str = "for how in '' setsid; do env -i $how /bin/sh -c 'echo $$ >> strays; exec /bin/sleep 300' & done; wait";

/// The strays of a killed shim, which they find no trace of in any environment.
fn strays(world: &World) -> Vec<Pid> {
    world.wait_lines("strays", 2).iter().map(|pid| Pid(pid.trim().parse().unwrap())).collect()
}

#[test]
fn what_a_killed_shim_leaves_is_ended_even_without_a_mark() {
    let world = World::new();
    let other = "echo other >> ran; until [ -e go ]; do sleep 0.02; done";
    let live = world.start(&["run", "--json", "-j", "2", "--agent", "sh", STRAYS, other]);
    let strays = strays(&world);
    world.wait_lines("ran", 1);
    world.shim(1).signal(Signal::KILL);
    for stray in strays {
        stray.wait_gone("a stray of a killed shim");
    }
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["lost", "done"], "the other agent is left alone: {ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn what_another_agent_was_allowed_to_keep_is_not_taken_for_a_stray() {
    let world = World::new();
    let keeps = "env -i /bin/sh -c 'echo $$ >> kept; exec /bin/sleep 300' & until [ -e kept ]; do sleep 0.02; done";
    let tasks = format!(
        "{}\n{}\n",
        serde_json::json!({"task": keeps, "agent": "sh"}),
        serde_json::json!({"task": "echo up >> ran; sleep 300", "agent": "sh"}),
    );
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let args = ["run", "--json", "-j", "2", "--leftovers", "keep", "-f", "tasks.jsonl"];
    let live = world.start(&args);
    let kept = Pid(world.wait_lines("kept", 1)[0].trim().parse().unwrap());
    world.wait_lines("ran", 1);
    world.shim(2).signal(Signal::KILL);
    let ran = live.end().expect_code(1);
    let lives = kept.lives();
    kept.signal(Signal::KILL);
    assert!(lives, "{ran:#?}");
    assert_eq!(ran.column("status"), ["done", "lost"], "{ran:#?}");
}
