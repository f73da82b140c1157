//! Agents of the offered kinds from the outside, with stand-ins for their programs that print a recorded run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::harness::World;

/// Makes a program that keeps what it was given, prints a recording and ends well.
fn stand_in(world: &mut World, program: &str) {
    let folder = world.file("bin");
    fs::create_dir_all(&folder).unwrap();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(program)
        .join("happy.stdout.jsonl");
    let work = world.work();
    let script = format!(
        "#!/bin/sh\ncat > '{0}/{program}.input'\nprintf '%s\\n' \"$@\" > '{0}/{program}.words'\nenv > '{0}/{program}.env'\ncat '{1}'\n",
        work.display(),
        recording.display()
    );
    let file = folder.join(program);
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    world.set("PATH", &format!("{}:/usr/bin:/bin", folder.display()));
}

/// Runs one agent whose text begins with a sign that a program would take for an option.
fn run(world: &World, program: &str, options: &[&str]) -> Value {
    fs::write(world.file("tasks.json"), r#"[{"task": "-say \"hello\"\nand more"}]"#).unwrap();
    let file = world.file("tasks.json");
    let mut words = vec!["run", "--json", "--agent", program, "-f", file.to_str().unwrap()];
    words.extend_from_slice(options);
    let ran = world.fleet(&words).expect_code(0);
    assert_eq!(world.read(&format!("{program}.input")), "-say \"hello\"\nand more", "{ran:#?}");
    ran.json()["agents"][0].clone()
}

#[test]
fn an_agent_of_codex_is_priced_by_the_model_of_its_command_line() {
    let mut world = World::new();
    stand_in(&mut world, "codex");
    let agent = run(&world, "codex", &["--model", "gpt-5.5"]);
    // 2600 × 5 + 2800 × 0.50 + 62 × 30 dollars per million.
    assert_eq!(
        (agent["cost_status"].as_str(), agent["cost_usd"].as_f64()),
        (Some("estimated"), Some(0.016_26)),
        "{agent:#}"
    );
    assert_eq!((agent["tokens"].as_u64(), agent["steps"].as_u64()), (Some(5462), Some(1)));
    assert_eq!(agent["answer"], "Done: the command printed hello.");
    assert_eq!(agent["session"], "01a22740-16a4-78d1-8d53-857a9704bff9");
    let agent = run(&world, "codex", &[]);
    assert_eq!(
        (agent["cost_status"].as_str(), agent["cost_usd"].is_null()),
        (Some("unknown"), true)
    );
    assert!(world.lines("codex.words").contains(&"workspace-write".to_owned()));
}

#[test]
fn an_agent_of_opencode_tells_its_own_cost_and_has_its_permissions_in_its_environment() {
    let mut world = World::new();
    stand_in(&mut world, "opencode");
    let agent = run(&world, "opencode", &["--allow-shell"]);
    assert_eq!(
        (agent["cost_status"].as_str(), agent["cost_usd"].as_f64()),
        (Some("reported"), Some(0.009_57)),
        "{agent:#}"
    );
    let environment = world.read("opencode.env");
    assert!(
        environment
            .contains(r#"OPENCODE_PERMISSION={"edit":"allow","bash":"allow","webfetch":"deny""#),
        "{environment}"
    );
    assert!(environment.contains("OPENCODE_DISABLE_AUTOUPDATE=1\n"));
}

#[test]
fn an_agent_of_gemini_is_one_process_and_priced_by_the_model_that_it_names() {
    let mut world = World::new();
    stand_in(&mut world, "gemini");
    let agent = run(&world, "gemini", &[]);
    assert_eq!(
        (agent["cost_status"].as_str(), agent["cost_usd"].as_f64()),
        (Some("estimated"), Some(0.004_22)),
        "{agent:#}"
    );
    assert!(world.read("gemini.env").contains("GEMINI_CLI_NO_RELAUNCH=true\n"));
}

/// What it costs nobody knows, and its session is known although its stream tells it only at the end.
#[test]
fn an_agent_of_copilot_has_no_tokens_and_a_session_that_was_chosen() {
    let mut world = World::new();
    world.set("COPILOT_ALLOW_ALL", "true");
    stand_in(&mut world, "copilot");
    let agent = run(&world, "copilot", &[]);
    assert_eq!(
        (agent["cost_status"].as_str(), agent["cost_usd"].is_null()),
        (Some("unknown"), true),
        "{agent:#}"
    );
    assert_eq!((agent["tokens"].as_u64(), agent["steps"].as_u64()), (Some(0), Some(1)));
    let words = world.lines("copilot.words");
    let place = words.iter().position(|word| word == "--session-id").unwrap();
    assert_eq!(words[place + 1].len(), 36, "{words:?}");
    assert!(words.contains(&"--deny-tool=shell".to_owned()));
    assert!(!world.read("copilot.env").contains("COPILOT_ALLOW_ALL"));
}
