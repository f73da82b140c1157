//! A terminal's screen as an SVG picture, and the one that the README opens with.
//!
//! What may go here: drawing cells, and the little play that leads to the picture. What may not: assertions about the
//! screen, which have tests of their own.
//!
//! `assets/picture.sh` makes the picture anew.

mod svg;

use crate::harness::{Terminal, World};

/// Where the picture is to be written; without it only is tried that it can be made.
const PICTURE: &str = "FLEET_PICTURE";
/// What is to be seen, for those who cannot see it.
const TITLE: &str = "The screen of Fleet while its demo runs: header, task editor, table of agents, output of an agent";

#[test]
fn the_demo_becomes_a_picture() {
    let mut world = World::new();
    let folder = world.work().to_str().unwrap().to_owned();
    world.set("TMPDIR", &folder);
    let picture = std::env::var_os(PICTURE);
    // Nothing is told of the output between two looks a second apart, so only the real speed shows what is waited for.
    let (speed, scene) =
        if picture.is_some() { ("1", "bash: cargo test login") } else { ("4", "failed") };
    let mut terminal = Terminal::start(&world, &["demo", "--speed", speed], 36, 112);
    terminal.wait_for("Fix the flaky");
    // To the table, and to the agent whose tests run when others have ended, failed and fallen silent.
    terminal.send("\x1b");
    terminal.wait_for("x stop");
    terminal.send("gjjjj");
    terminal.wait_for(scene);
    let svg = terminal.look(|screen| svg::draw(screen, TITLE));
    assert!(svg.matches("<text ").count() > 100, "{}", terminal.screen());
    assert!(svg.contains("Upgrade sqlx"), "{}", terminal.screen());
    if let Some(path) = picture {
        std::fs::write(path, svg).unwrap();
    }
    terminal.send("\x03");
    terminal.send("\x03");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    world.assert_nothing_runs();
}
