//! A project's `.fleet.toml`: what it sets once it is trusted, and that nothing of it is read before.

use std::os::unix::fs::symlink;

use crate::harness::{Ran, World};

/// Runs a task that tells the cap; the file of the project is what sets one.
fn run(world: &World, args: &[&str]) -> Ran {
    world.fleet(&[&["run", "--agent", "sh", "--json"], args, &["echo a"]].concat()).expect_code(0)
}

#[track_caller]
fn cap(ran: &Ran) -> Option<f64> {
    ran.json()["cap_usd"].as_f64()
}

fn write(world: &World, text: &str) {
    std::fs::write(world.file(".fleet.toml"), text).unwrap();
}

fn refused(world: &World, args: &[&str]) -> String {
    world.fleet(args).expect_code(2).stderr
}

/// Options go before the environment, that before the project's file, that before the owner's.
#[test]
fn a_trusted_file_is_read_until_it_changes_and_each_layer_goes_before_the_next() {
    let mut world = World::new();
    let own = world.work().parent().unwrap().join("config/loki-fleet");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("config.toml"), "cap = 1\n").unwrap();
    write(&world, "cap = 2\n");
    let untrusted = run(&world, &[]);
    assert_eq!(cap(&untrusted), Some(1.0));
    assert!(
        untrusted.stderr.contains(".fleet.toml is not read before it is trusted: `fleet trust`")
    );
    let unseen = world.fleet(&["trust"]).expect_code(2);
    assert!(unseen.stderr.contains("cap = 2") && unseen.stderr.contains("fleet trust --yes"));
    assert_eq!(cap(&run(&world, &[])), Some(1.0));
    let trusted = world.fleet(&["trust", "--yes"]).expect_code(0).stdout;
    assert!(
        trusted.contains("cap = 2") && trusted.contains("is trusted as it is now"),
        "{trusted}"
    );
    let read = run(&world, &[]);
    assert_eq!((cap(&read), read.stderr.contains(".fleet.toml")), (Some(2.0), false));
    assert!(world.fleet(&["trust"]).expect_code(0).stdout.contains("is trusted already"));
    world.set("FLEET_CAP", "3");
    assert_eq!(cap(&run(&world, &[])), Some(3.0));
    assert_eq!(cap(&run(&world, &["--cap", "4"])), Some(4.0));
    world.set("FLEET_CAP", "much");
    assert!(refused(&world, &["run", "--agent", "sh", "true"]).contains("FLEET_CAP 'much'"));
    world.set("FLEET_CAP", "");
    write(&world, "cap = 9\n");
    let changed = run(&world, &[]);
    assert_eq!(cap(&changed), Some(1.0));
    assert!(changed.stderr.contains("has changed since it was trusted, and is not read"));
    let json = world.fleet(&["trust", "--yes", "--json"]).expect_code(0).json();
    assert_eq!(json["status"], "trusted");
    assert_eq!(cap(&run(&world, &[])), Some(9.0));
    world.fleet(&["trust", "--remove"]).expect_code(0);
    assert_eq!(cap(&run(&world, &[])), Some(1.0));
}

#[test]
fn a_program_that_a_project_brings_is_shown_before_it_can_run() {
    let world = World::new();
    let tool = "[kinds.mine]\nadapter = \"command\"\ncommand = [\"./tool\", \"{task}\"]\n";
    write(&world, tool);
    let untrusted = world.fleet(&["run", "--agent", "mine", "x"]).expect_code(2);
    assert!(untrusted.stderr.contains("is not read before it is trusted"), "{untrusted:#?}");
    let shown = world.fleet(&["trust", "--yes"]).expect_code(0).stdout;
    assert!(
        shown.contains("lets these programs run")
            && shown.contains("--agent mine: ./tool '{task}'")
    );
    let json = world.fleet(&["trust", "--json"]).expect_code(0).json();
    assert_eq!(json["runs"][0], "--agent mine: ./tool '{task}'");
    let tool = world.file("tool");
    std::fs::write(&tool, "#!/bin/sh\necho \"$1\" > made\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.fleet(&["run", "--agent", "mine", "x"]).expect_code(0);
    assert_eq!(world.lines("made"), ["x"]);
}

#[test]
fn what_is_not_the_owners_own_short_text_is_neither_trusted_nor_read() {
    let world = World::new();
    let path = world.file(".fleet.toml");
    let unread = |why: &str| {
        let trusted = refused(&world, &["trust", "--yes"]);
        assert!(trusted.contains(why) && trusted.contains("was not trusted"), "{trusted}");
        let ran = run(&world, &[]);
        assert_eq!(cap(&ran), None, "{ran:#?}");
        assert!(ran.stderr.contains(why) && ran.stderr.contains("it is not read"), "{ran:#?}");
    };
    write(&world, "cap = 2\n");
    world.fleet(&["trust", "--yes"]).expect_code(0);
    // The very text that was trusted, by another way.
    std::fs::rename(&path, world.file("elsewhere.toml")).unwrap();
    symlink("elsewhere.toml", &path).unwrap();
    unread("is a symbolic link");
    std::fs::remove_file(&path).unwrap();
    assert!(world.command("mkfifo").arg(&path).status().unwrap().success());
    unread("is not a regular file");
    std::fs::remove_file(&path).unwrap();
    write(&world, &format!("cap = 2\n{}", "#\n".repeat(40_000)));
    unread("is longer than 64 KiB");
    std::fs::write(&path, b"cap = 2 # \xff\n").unwrap();
    unread("is no UTF-8 text");
    write(&world, "cap = 2\n");
    // Only root can give a file away.
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        unread("belongs to another user");
    }
}

#[test]
fn a_file_with_a_mistake_or_with_prices_is_not_trusted_and_agents_trust_none() {
    let world = World::new();
    assert!(refused(&world, &["trust"]).contains("there is no "));
    write(&world, "cap = \"much\"\n");
    let mistake = refused(&world, &["trust", "--yes"]);
    assert!(
        mistake.contains("line 1, column 7") && mistake.contains("was not trusted"),
        "{mistake}"
    );
    write(&world, "[prices.m]\ninput = 0\noutput = 0\n");
    let prices = refused(&world, &["trust", "--yes"]);
    assert!(prices.contains("prices are the owner's to say"), "{prices}");
    for text in [
        "agent = \"sh\"\n",
        "order = [\"claude\", \"sh\"]\n",
        "agent = \"mine\"\n[kinds.mine]\nadapter = \"sh\"\n",
    ] {
        write(&world, text);
        let shell = refused(&world, &["trust", "--yes"]);
        assert!(
            shell.contains("as shell commands") && shell.contains("was not trusted"),
            "{text}: {shell}"
        );
    }
    write(&world, "cap = 2\n");
    let mut inside = world.fleet_command(&["trust", "--yes"]);
    inside.env("FLEET_AGENT", "k3f/1").env("FLEET_DEPTH", "1");
    let inside = world.start_command(inside).end().expect_code(2);
    assert!(inside.stderr.contains("fleet trust is refused"), "{inside:#?}");
    assert_eq!(cap(&run(&world, &[])), None);
}
