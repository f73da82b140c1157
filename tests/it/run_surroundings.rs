//! What an agent gets besides its task: variables, secrets, the mesh, and the depth beyond which nothing starts.

use serde_json::Value;

use crate::harness::{GENEROUS, World, wait_until};

/// C-8, C-10.
#[test]
fn an_agent_has_the_callers_variables_its_own_and_those_of_the_mesh() {
    let mut world = World::new();
    world.set("FROM_CALLER", "caller");
    std::fs::create_dir(world.file("shared")).unwrap();
    let shared = world.file("shared").canonicalize().unwrap();
    let show = |file: &str| {
        format!("echo \\\"$FROM_CALLER $GIVEN $LOKI_MESH\\\" > {}/{file}", world.work().display())
    };
    let tasks = format!(
        "{{\"task\": \"{}\", \"agent\": \"sh\"}}\n{{\"task\": \"{}\", \"agent\": \"sh\", \"env\": {{\"GIVEN\": \
         \"own\", \"LOKI_MESH\": \"elsewhere\"}}}}\n",
        show("one"),
        show("two")
    );
    std::fs::write(world.file("tasks.jsonl"), tasks).unwrap();
    let run = ["run", "--json", "--env", "GIVEN=all", "-f", "tasks.jsonl"];
    world.fleet(&[&run[..], &["--mesh", "shared"]].concat()).expect_code(0);
    assert_eq!(
        world.read("one").trim(),
        format!("caller all {}", shared.join("mesh-kv.json").display())
    );
    assert_eq!(world.read("two").trim(), "caller own elsewhere");
    world.fleet(&run).expect_code(0);
    assert_eq!(world.read("one").trim(), "caller all", "no mesh, so no LOKI_MESH");
}

/// The value is looked for in every file of the state folder, while its task waits and when all is over.
#[test]
fn a_given_value_waits_in_one_file_and_is_nowhere_after_the_run() {
    let world = World::new();
    let secret = "correct-horse-battery-staple";
    let given = format!("SECRET={secret}");
    let first = "echo up >> ran; until [ -e go ]; do sleep 0.02; done; printf %s \"$SECRET\" | wc -c >> lengths";
    let other = "printf %s \"$SECRET\" | wc -c >> lengths";
    let live =
        world.start(&["run", "--json", "-j", "1", "--agent", "sh", "--env", &given, first, other]);
    world.wait_lines("ran", 1);
    wait_until("only the queued task's private file has the value", GENEROUS, || {
        let files = world.state_files_with(secret);
        let waiting = [world.agent_folder(2).join("env.json")];
        if files == waiting { Ok(()) } else { Err(format!("{files:?}")) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
    let length = secret.len().to_string();
    assert_eq!(
        world.lines("lengths").iter().map(|line| line.trim()).collect::<Vec<_>>(),
        [&length, &length]
    );
    assert_eq!(world.state_files_with(secret), [] as [std::path::PathBuf; 0]);
    assert_eq!(world.state_files_with("SECRET=").len(), 0, "the pair itself");
}

#[test]
fn a_value_whose_task_is_dropped_is_nowhere_either() {
    let world = World::new();
    let secret = "correct-horse-battery-staple";
    let given = format!("SECRET={secret}");
    let cap = ["--cap", "0", "--on-cap", "drop"];
    world
        .fleet(&[&["run", "--json", "--agent", "sh", "--env", &given, "echo x"][..], &cap].concat())
        .expect_code(3);
    assert_eq!(world.state_files_with(secret), [] as [std::path::PathBuf; 0]);
}

/// Nothing of an environment is on disk, so what was queued gets that of the command that goes on with it, and waits where
/// a variable that it demands is missing there.
#[test]
fn a_task_that_another_host_takes_over_waits_for_the_variable_that_it_demands() {
    let mut world = World::new();
    world.set("DEMANDED", "correct-horse");
    world.set("OTHER", "first");
    let task = "echo \"$DEMANDED $OTHER\" > seen";
    let demand =
        ["run", "--cap", "0", "--on-cap", "hold", "--env", "DEMANDED", "--agent", "sh", task];
    world.fleet(&demand).expect_code(3);
    assert_eq!(world.state_files_with("correct-horse"), [] as [std::path::PathBuf; 0]);

    let mut bare = world.fleet_command(&["resume", "--cap", "1"]);
    bare.env_remove("DEMANDED");
    let held = world.start_command(bare).end().expect_code(1);
    let told = format!("{}{}", held.stdout, held.stderr);
    assert!(told.contains("needs DEMANDED (set it and resume)"), "{held:#?}");
    assert!(!world.file("seen").exists());

    world.set("DEMANDED", "battery");
    world.set("OTHER", "second");
    world.fleet(&["resume"]).expect_code(0);
    assert_eq!(world.read("seen").trim(), "battery second");
}

/// What a task had goes with its host, so that a new try gets what it demands from whoever asks for it, and waits if that
/// one has none of it either.
#[test]
fn a_task_that_is_tried_again_after_its_host_gets_what_it_demands_or_waits_for_it() {
    let mut world = World::new();
    world.set("DEMANDED", "correct-horse");
    world.set("OTHER", "first");
    let task = |name: &str| format!("test -e {name} && echo \"$DEMANDED $OTHER\" > {name}.seen");
    let (one, two) = (task("one"), task("two"));
    let demand = ["run", "--env", "DEMANDED", "--agent", "sh", &one, &two];
    world.fleet(&demand).expect_code(1);
    for name in ["one", "two"] {
        std::fs::write(world.file(name), "").unwrap();
    }

    let mut bare = world.fleet_command(&["retry", "1"]);
    bare.env_remove("DEMANDED");
    let told = world.start_command(bare).end().expect_code(0).stdout;
    assert!(told.contains("#1 is tried again as #3") && told.contains("DEMANDED"), "{told}");

    // The host that this one has started has no such variable.
    world.set("DEMANDED", "battery");
    world.set("OTHER", "second");
    world.fleet(&["retry", "2"]).expect_code(0);
    world.fleet(&["wait", "4"]).expect_code(0);
    assert_eq!(world.read("two.seen").trim(), "battery first");
    assert!(!world.file("one.seen").exists());
    assert_eq!(world.state_files_with("battery"), [] as [std::path::PathBuf; 0]);
    world.end_fleets();
}

/// A long task is not in `FLEET_TASK`; what stands there must not be another agent's.
#[test]
fn a_fleet_inside_an_agent_does_not_hand_on_the_outer_agents_task() {
    let mut world = World::new();
    world.set("FLEET_TASK", "outer");
    world.set("FLEET_TOKEN", "outer");
    let task = format!("echo \"[$FLEET_TASK$FLEET_TOKEN]\" > seen # {}", "x".repeat(101_000));
    world.fleet(&["run", "--json", "--agent", "sh", &task]).expect_code(0);
    assert_eq!(world.read("seen").trim(), "[]");
}

/// C-130.
#[test]
fn a_fleet_inside_an_agent_starts_nothing_beyond_the_depth() {
    let mut world = World::new();
    world.set("FLEET", env!("CARGO_BIN_EXE_fleet"));
    let inner = "$FLEET run --agent sh 'touch inner'";
    let outer = world.fleet(&["run", "--json", "--agent", "sh", inner]).expect_code(1);
    assert_eq!(outer.column("exit_code"), ["2"], "{outer:#?}");
    let said = std::fs::read_to_string(&outer.column("err")[0]).unwrap();
    assert!(said.contains("--max-depth"), "the knob is not named: {said:?}");
    assert!(!world.file("inner").exists());

    let deeper = "$FLEET run --max-depth 2 --agent sh 'echo $FLEET_DEPTH > inner'";
    world.fleet(&["run", "--json", "--agent", "sh", deeper]).expect_code(0);
    assert_eq!(world.read("inner").trim(), "2");
    world.assert_nothing_runs();
}

/// C-77: the roster is rewritten at each start and each end, and the keys of the store are counted.
#[test]
fn the_roster_of_the_mesh_follows_starts_and_ends() {
    let world = World::new();
    std::fs::create_dir(world.file("shared")).unwrap();
    let roster = || -> Result<Value, String> {
        let text = std::fs::read_to_string(world.file("shared/mesh.json"))
            .map_err(|error| error.to_string())?;
        // It is replaced in one piece, so half a file is a defect and not a reason to look again.
        Ok(serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("half a roster, {error}: {text}")))
    };
    let column = |value: &Value, field: &str| -> Vec<String> {
        let agents = value["agents"].as_array().cloned().unwrap_or_default();
        agents.iter().map(|agent| agent[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    let publish = "echo '{\"schema\": \"id\", \"owner\": [1, 2]}' > \"$LOKI_MESH\"";
    let wait = format!("until [ -e {} ]; do sleep 0.02; done", world.file("go").display());
    let live = world
        .start(&["run", "--json", "-j", "1", "--mesh", "shared", "--agent", "sh", publish, &wait]);
    wait_until("the roster shows the first as done and the second as running", GENEROUS, || {
        let roster = roster()?;
        if column(&roster, "status") == ["done", "running"] {
            Ok(())
        } else {
            Err(roster.to_string())
        }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(0);
    let roster = roster().unwrap();
    assert_eq!(column(&roster, "status"), ["done", "done"]);
    assert_eq!(roster["kpis"]["total"], 2);
    assert_eq!(roster["kpis"]["mesh"], 2);
    assert_eq!(ran.json()["kpis"]["mesh"], 2, "{ran:#?}");
}

/// C-78: it is replaced as well when an agent's time is up and when one is cancelled, and nobody who reads it all the
/// time sees half of it.
#[test]
fn the_roster_of_the_mesh_follows_ends_that_are_not_the_agents_own() {
    let world = World::new();
    std::fs::create_dir(world.file("shared")).unwrap();
    let task = |task: &str, timeout: Option<&str>| serde_json::json!({"task": task, "agent": "sh", "timeout": timeout.unwrap_or("1h")});
    let waits = format!("until [ -e {} ]; do sleep 0.02; done", world.file("go").display());
    let tasks = [task("sleep 1000", Some("1s")), task("sleep 1000", None), task(&waits, None)];
    let tasks: Vec<String> = tasks.iter().map(Value::to_string).collect();
    std::fs::write(world.file("tasks.jsonl"), tasks.join("\n")).unwrap();
    let live = world.start(&["run", "--json", "-j", "3", "--mesh", "shared", "-f", "tasks.jsonl"]);
    let shows = |expected: [&str; 3]| {
        wait_until(&format!("the roster shows {expected:?}"), GENEROUS, || {
            let text = std::fs::read_to_string(world.file("shared/mesh.json"))
                .map_err(|error| error.to_string())?;
            let roster: Value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("half a roster, {error}: {text}"));
            let agents = roster["agents"].as_array().cloned().unwrap_or_default();
            let statuses: Vec<&str> =
                agents.iter().filter_map(|agent| agent["status"].as_str()).collect();
            if statuses == expected { Ok(()) } else { Err(text) }
        });
    };
    shows(["timeout", "running", "running"]);
    world.fleet(&["stop", "2"]).expect_code(0);
    shows(["timeout", "cancelled", "running"]);
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(1);
    shows(["timeout", "cancelled", "done"]);
    world.assert_no_temporary_files();
}

/// C-126.
#[test]
fn everything_that_is_kept_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    // What the shell would let others see is not asked.
    let mut command = world.command("sh");
    let script =
        "umask 000; exec \"$0\" run --json --env SECRET=x --agent sh 'echo out; echo err >&2'";
    command.args(["-c", script, env!("CARGO_BIN_EXE_fleet")]);
    world.start_command(command).end().expect_code(0);
    let mut folders = vec![world.state()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode =
            |path: &std::path::Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
    assert!(files >= 10, "only {files} files were found");
}

/// C-87, C-89. The time of a fleet's end is what its journal says, and the file's age decides whether that is read at all.
#[test]
fn ended_fleets_go_seven_days_after_their_end_and_younger_ones_stay() {
    let world = World::new();
    let [old, young] = ["true", "echo young"].map(|task| {
        world.fleet(&["run", "--json", "--agent", "sh", task]).expect_code(0).json()["fleet"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    age(&world.state().join("fleets").join(&old), 8 * 24 * 60 * 60);
    age(&world.state().join("fleets").join(&young), 6 * 24 * 60 * 60);
    let third = world.fleet(&["run", "--json", "--agent", "sh", "true"]).expect_code(0).json();
    let left: Vec<_> = world
        .fleets()
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut expected = vec![young.clone(), third["fleet"].as_str().unwrap().to_owned()];
    expected.sort();
    assert_eq!(left, expected);
    let kept = world.state().join("fleets").join(&young).join("agents/0001/out");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "young\n");
}

/// Makes a fleet look as if everything in it had happened so many seconds earlier.
fn age(folder: &std::path::Path, seconds: u64) {
    use loki_fleet::core::Moment;
    let journal = folder.join("journal.jsonl");
    let records = loki_fleet::journal::read(&journal).unwrap();
    std::fs::remove_file(&journal).unwrap();
    let written = loki_fleet::journal::Journal::create(&journal).unwrap();
    for (at, record) in records {
        written.append(Moment(at.0 - seconds * 1000), vec![record]);
    }
    written.close().unwrap();
    let file = std::fs::File::options().append(true).open(&journal).unwrap();
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    file.set_modified(then).unwrap();
}

/// No option would allow it, so none is named.
#[test]
fn an_agent_is_told_that_it_may_not_stop_or_resume_fleets() {
    let mut world = World::new();
    world.fleet(&["run", "--agent", "sh", "true"]).expect_code(0);
    world.set("FLEET_AGENT", "k3f/1");
    world.set("FLEET_DEPTH", "1");
    for (args, refusal) in [
        (&["stop", "all"][..], "may stop only agents whose tasks it has added itself"),
        (&["resume"], "fleet resume is refused: run it outside of agents"),
    ] {
        let ran = world.fleet(args).expect_code(2);
        assert!(ran.stderr.contains(refusal), "{ran:#?}");
        assert!(!ran.stderr.contains("--max-depth"), "{ran:#?}");
    }
}

/// Some programs believe `PWD` and would work where the submitter is.
#[test]
fn an_agent_is_told_the_folder_that_it_works_in_and_no_other() {
    let world = World::new();
    std::fs::create_dir(world.file("other")).unwrap();
    let other = world.file("other").canonicalize().unwrap();
    let mut command = world.fleet_command(&[
        "run", "--json", "--root", "other", "PWD", "OLDPWD", "--", "printenv", "{task}",
    ]);
    command.env("PWD", world.file("")).env("OLDPWD", world.file(""));
    let ran = world.start_command(command).end();
    let agents = ran.json()["agents"].clone();
    let told = std::fs::read_to_string(agents[0]["out"].as_str().unwrap()).unwrap();
    assert_eq!(told.trim_end(), other.to_str().unwrap(), "{agents:#}");
    assert_eq!((&agents[1]["status"], &agents[1]["exit_code"]), (&"failed".into(), &1.into()));
}
