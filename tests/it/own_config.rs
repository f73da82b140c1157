//! The owner's config file, with stand-ins for real agent programs.
//!
//! What may go here: what the file does to fleets. What may not: its syntax, which the unit tests have.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use crate::harness::{GENEROUS, World, wait_until};

/// Prints what codex prints for one answer of 1000 tokens of input, 200 of them cached, and 50 of output.
const ANSWERS: &str = r#"#!/bin/sh
cat > /dev/null
echo "$*" >> ran
until [ -e go ]; do sleep 0.05; done
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"hello"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":200,"output_tokens":50}}'
"#;

/// A world in which these programs are found before all others.
fn world(programs: &[(&str, &str)]) -> World {
    let mut world = World::new();
    let folder = world.file("bin");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in programs {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", &format!("{}:{path}", folder.display()));
    world
}

fn configure(world: &World, text: &str) {
    let path = config(world);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn config(world: &World) -> std::path::PathBuf {
    world.work().parent().unwrap().join("config/loki-fleet/config.toml")
}

const OWN: &str = r#"
[kinds.mine]
adapter = "codex"
command = ["mytool", "--first"]
options = ["--loud"]

[prices.some-model]
input = 1
cache_read = "0.10"
output = 10
"#;

/// What one answer costs by that table: 800 × $1 + 200 × $0.10 + 50 × $10, for a million each.
const COST: &str = "0.00132";

#[test]
fn a_kind_and_prices_of_the_owners_own_outlive_the_config_and_the_host() {
    let world = world(&[("mytool", ANSWERS)]);
    configure(&world, OWN);
    let args = ["run", "--json", "-j", "1", "--agent", "mine", "--model", "some-model", "a", "b"];
    let mut live = world.start(&args);
    let ran = world.wait_lines("ran", 1);
    assert!(ran[0].starts_with("--first exec --json ") && ran[0].contains(" --loud "), "{ran:?}");
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
    drop(live);
    // Dearer now, and without the kind.
    configure(&world, "[prices.some-model]\ninput = 1000\noutput = 1000\n");
    std::fs::write(world.file("go"), "").unwrap();
    let ran = world.fleet(&["resume", "--json", &world.only_fleet()]).expect_code(0);
    assert_eq!(ran.column("agent"), ["mine", "mine"]);
    assert_eq!(ran.column("answer"), ["hello", "hello"], "its output is read as codex's");
    assert_eq!(ran.column("cost_usd"), [COST, COST]);
    assert_eq!(ran.column("cost_status"), ["estimated", "estimated"]);
    assert_eq!(world.lines("ran").len(), 2);
    let again = world.fleet(&["results", "--json"]).expect_code(0);
    assert_eq!(again.column("cost_usd"), [COST, COST], "looked at by a process without that table");
    world.assert_nothing_runs();
}

#[test]
fn a_fleet_with_more_prices_than_fit_into_one_word_of_a_command_line_goes_on_behind() {
    let world = World::new();
    let price = |number| format!("[prices.a-model-of-many-{number:04}]\ninput = 1\noutput = 10\n");
    let prices = (0..4_000).map(price).collect::<Vec<_>>().concat();
    configure(&world, &prices);
    let run = world.start(&[
        "run",
        "--agent",
        "sh",
        "-j",
        "1",
        "echo ran >> ran; exec sleep 600",
        "echo b > b",
    ]);
    world.wait_lines("ran", 1);
    run.signal(Signal::INT);
    run.end().expect_code(130);
    world.fleet(&["release"]).expect_code(0);
    world.fleet(&["wait"]);
    assert!(world.file("b").exists());
    world.end_fleets();
}

#[test]
fn the_first_found_of_the_configured_order_is_taken_and_said() {
    let world =
        world(&[("codex", ANSWERS), ("claude", "#!/bin/sh\nexit 3\n"), ("mytool", ANSWERS)]);
    std::fs::write(world.file("go"), "").unwrap();
    configure(
        &world,
        "order = [\"gone\", \"codex\", \"claude\"]\n[kinds.gone]\nadapter = \"codex\"\ncommand = \"no-such-tool\"\n",
    );
    let ran = world.fleet(&["run", "a"]).expect_code(0);
    let said = "agent codex: the first found on PATH (--agent chooses another)";
    assert!(ran.stdout.starts_with(said), "{ran:#?}");
    configure(&world, &format!("agent = \"mine\"\ncap = 3\nmax_parallel = 7\n{OWN}"));
    let ran = world.fleet(&["run", "a"]).expect_code(0);
    assert!(ran.stdout.starts_with("agent mine: as the config file says"), "{ran:#?}");
    assert!(ran.stdout.contains("7 at once") && ran.stdout.contains("cap $3.00"), "{ran:#?}");
    let ran = world.fleet(&["run", "--cap", "4", "-j", "2", "a"]).expect_code(0);
    assert!(ran.stdout.contains("2 at once") && ran.stdout.contains("cap $4.00"), "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn a_mistake_in_the_config_is_told_with_its_place_and_nothing_begins() {
    let world = world(&[]);
    configure(&world, "cap = 3\n  oder = [\"codex\"]\n");
    for args in [&["run", "--agent", "sh", "true"][..], &["doctor"]] {
        let ran = world.fleet(args).expect_code(2);
        let place = format!("fleet: {}, line 2, column 3: ", config(&world).display());
        assert_eq!(
            ran.stderr,
            format!("{place}unknown key oder (did you mean order?)\n"),
            "{args:?}"
        );
        assert_eq!(ran.stdout, "");
    }
    assert!(world.fleets().is_empty());
    world.assert_nothing_runs();
}

#[test]
fn a_cost_that_will_not_be_told_is_said_before_the_start() {
    let world = world(&[("copilot", "#!/bin/sh\nexit 1\n")]);
    let args = ["run", "--agent", "copilot", "--model", "gpt-9", "--cap", "2", "a", "b"];
    let ran = world.fleet(&args).expect_code(1);
    let mut lines = ran.stdout.lines();
    let said = lines.next().unwrap();
    assert!(
        said.starts_with("copilot does not say what it costs, and the price of its"),
        "{ran:#?}"
    );
    assert!(said.ends_with(": counts as $0.50 each against the cap"), "{ran:#?}");
    assert!(lines.next().unwrap().starts_with("fleet "), "{ran:#?}");
    world.assert_nothing_runs();
}
