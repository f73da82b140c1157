//! `fleet doctor`, with stand-ins for real agent programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::harness::World;

/// A world in which these programs are found, and no others.
fn world(programs: &[(&str, &str)]) -> World {
    let mut world = World::new();
    let folder = world.file("bin");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in programs {
        write_program(&folder.join(name), text);
    }
    world.set("PATH", folder.to_str().unwrap());
    world
}

fn write_program(file: &Path, text: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn home(world: &World) -> std::path::PathBuf {
    world.work().parent().unwrap().join("home")
}

#[test]
fn programs_are_told_with_version_and_login_and_one_that_works_is_enough() {
    let claude = "[ \"$1\" = --version ] && [ \"$DISABLE_AUTOUPDATER\" = 1 ] && echo '2.1.332 (Claude Code)'";
    let codex = "echo 'codex-cli 9.9.9'";
    let mut world = world(&[("claude", claude), ("codex", codex), ("gemini", "exit 1")]);
    let ran = world.fleet(&["doctor"]).expect_code(1);
    ran.assert_no_escapes();
    assert!(ran.stdout.contains("claude    2.1.332 (tested)"), "{ran:#?}");
    assert!(ran.stdout.contains("no key or login seen: run claude and type /login"), "{ran:#?}");
    assert!(ran.stdout.contains("codex     9.9.9 (tested is 0.171.0)"), "{ran:#?}");
    assert!(ran.stdout.contains("asked for its version, it ended without an answer"), "{ran:#?}");
    assert!(ran.stdout.contains("npm install -g opencode-ai"), "{ran:#?}");
    assert!(ran.stdout.contains("without --agent: claude"), "{ran:#?}");

    world.set("ANTHROPIC_API_KEY", "sk-secret-value");
    let login = home(&world).join(".codex/auth.json");
    std::fs::create_dir_all(login.parent().unwrap()).unwrap();
    std::fs::write(&login, "{\"token\":\"secret-login\"}").unwrap();
    let ran = world.fleet(&["doctor", "--json"]).expect_code(0);
    let report = ran.json();
    let kinds = &report["kinds"];
    assert_eq!((&kinds[0]["kind"], &kinds[1]["kind"]), (&json!("claude"), &json!("codex")));
    assert_eq!(kinds[0]["access"], json!({"variable": "ANTHROPIC_API_KEY"}));
    assert_eq!((&kinds[0]["tested"], &kinds[1]["tested"]), (&json!(true), &json!(false)));
    assert_eq!(kinds[1]["access"], json!({"file": login}));
    assert_eq!(kinds[2]["path"], json!(null), "opencode");
    assert_eq!(report["sockets"]["problem"], json!(null));
    assert_eq!(report["state"]["path"], json!(world.state()));
    assert!(!ran.stdout.contains("secret"), "{ran:#?}");
    world.assert_nothing_runs();
}

#[test]
fn a_kind_of_the_owners_own_and_a_login_among_other_things_are_seen() {
    let world = world(&[("mytool", "echo \"$1 1.2.3\""), ("copilot", "echo 1.0.102")]);
    let folder = world.work().parent().unwrap().join("config/loki-fleet");
    std::fs::create_dir_all(&folder).unwrap();
    let config = "[kinds.mine]\nadapter = \"codex\"\ncommand = [\"mytool\", \"--first\"]\nenv = [\"HOME\"]\n\
                  [kinds.other]\nadapter = \"command\"\ncommand = [\"mytool\", \"{task}\"]\n";
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let settings = home(&world).join(".copilot/config.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "{\n  \"banner\": \"never\"\n}\n").unwrap();
    let find = |name: &str| {
        let report = world.fleet(&["doctor", "--json"]).json();
        let kinds = report["kinds"].as_array().unwrap().clone();
        kinds.into_iter().find(|kind| kind["kind"] == name).unwrap()
    };
    let mine = find("mine");
    assert_eq!((&mine["version"], &mine["usable"]), (&json!("1.2.3"), &json!(true)));
    assert_eq!(mine["access"], json!({"variable": "HOME"}));
    let other = find("other");
    assert_eq!((&other["version"], &other["usable"]), (&json!(null), &json!(true)));
    assert_eq!(find("copilot")["access"], json!(null), "settings alone are no login");
    std::fs::write(&settings, "{\n  \"loggedInUsers\": [{}]\n}\n").unwrap();
    assert_eq!(find("copilot")["access"], json!({"file": settings}));
    world.assert_nothing_runs();
}

/// Asked for its version it shows how it is used: what it is stands in what its installer left.
#[test]
fn ygg_is_told_with_the_version_that_was_installed_and_needs_no_key() {
    let help = "[ \"$1\" = --version ] && [ \"$YGG_LOKI_AUTO_INSTALL\" = 0 ] && echo 'usage: ygg [-h] {loki} ...'";
    let world = world(&[("ygg", help)]);
    let ygg = |world: &World| {
        let ran = world.fleet(&["doctor", "--json"]).expect_code(0);
        let report = ran.json();
        assert_eq!(report["agent"], "ygg", "{ran:#?}");
        let kinds = report["kinds"].as_array().unwrap().clone();
        kinds.into_iter().find(|kind| kind["kind"] == "ygg").unwrap()
    };
    let unknown = ygg(&world);
    assert_eq!((&unknown["version"], &unknown["usable"]), (&json!(null), &json!(true)));
    let packages = world.file("lib/python3.11/site-packages");
    for other in ["yggdrasil-9.9.9.dist-info", "ygg_tools-8.8.8.dist-info", "ygg"] {
        std::fs::create_dir_all(packages.join(other)).unwrap();
    }
    assert_eq!(ygg(&world)["version"], json!(null), "those are other packages");
    std::fs::create_dir(packages.join("ygg-0.8.81.dist-info")).unwrap();
    let known = ygg(&world);
    assert_eq!((&known["version"], &known["tested"]), (&json!("0.8.81"), &json!(true)));
    let told = world.fleet(&["doctor"]).expect_code(0);
    assert!(told.stdout.contains("ygg       0.8.81 (tested)"), "{told:#?}");
    // A link to it is the program that it leads to.
    std::fs::remove_dir(packages.join("ygg-0.8.81.dist-info")).unwrap();
    std::fs::create_dir(packages.join("ygg-0.9.0.dist-info")).unwrap();
    let elsewhere = world.home().join("bin");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(world.file("bin/ygg"), elsewhere.join("ygg")).unwrap();
    let mut linked = world;
    linked.set("PATH", elsewhere.to_str().unwrap());
    let told = linked.fleet(&["doctor"]).expect_code(0);
    assert!(told.stdout.contains("ygg       0.9.0 (tested is 0.8.81)"), "{told:#?}");
    linked.set("OPENAI_API_KEY", "sk-secret-value");
    assert_eq!(ygg(&linked)["access"], json!({"variable": "OPENAI_API_KEY"}));
    write_program(&linked.file("bin/ygg"), "exit 1");
    let broken = linked.fleet(&["doctor"]).expect_code(1);
    assert!(broken.stdout.contains("it ended without an answer"), "{broken:#?}");
    linked.assert_nothing_runs();
}

#[test]
fn a_state_folder_that_cannot_be_used_is_told_beside_the_rest() {
    let mut world = world(&[("claude", "echo 2.1.332")]);
    world.set("ANTHROPIC_API_KEY", "k");
    std::fs::write(world.state(), "").unwrap();
    let ran = world.fleet(&["doctor"]).expect_code(1);
    assert!(ran.stdout.contains("is not a folder: move that away"), "{ran:#?}");
    assert!(ran.stdout.contains("claude    2.1.332 (tested)"), "{ran:#?}");
    let refused = world.fleet(&["doctor", "--fleet", "abc"]).expect_code(2);
    assert!(
        refused.stderr.contains("--fleet: fleet doctor looks at this computer"),
        "{refused:#?}"
    );
    world.assert_nothing_runs();
}
