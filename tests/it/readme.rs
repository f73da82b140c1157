//! What the README says of the screen, against the program.
//!
//! What may go here: comparing texts. What may not: running anything.
//!
//! After a change of the keymap, `FLEET_WRITE_README=1 cargo test --test it readme` writes the table anew.

use std::fmt::Write as _;
use std::path::Path;

use loki_fleet::tui::{KEYMAP, Place};

/// Lines between which the table of keys stands.
const BEGIN: &str = "<!-- keys: made from the keymap -->";
const END: &str = "<!-- end of keys -->";

/// The table of keys as the keymap has them, one row for each place.
fn keys() -> String {
    let mut table = "| where | keys |\n|---|---|\n".to_owned();
    for place in Place::ALL {
        let keys: Vec<String> = KEYMAP
            .iter()
            .filter(|binding| binding.place == place && !binding.label.is_empty())
            .map(|binding| format!("`{}` {}", binding.shown, binding.label))
            .collect();
        if !keys.is_empty() {
            writeln!(table, "| {} | {} |", place.title(), keys.join(" · ")).unwrap();
        }
    }
    table
}

#[test]
fn the_readme_has_the_keys_of_the_keymap() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the README has a table of keys");
    let (table, after) = rest.split_once(END).expect("the table of keys has an end");
    let keys = keys();
    if std::env::var_os("FLEET_WRITE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}\n\n{keys}\n{END}{after}")).unwrap();
        return;
    }
    assert_eq!(table.trim(), keys.trim(), "write it anew as the head of this file says");
}

#[test]
fn the_readme_opens_with_a_picture_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let picture = readme.lines().find(|line| line.starts_with("![")).expect("a picture");
    let (_, path) = picture.rsplit_once('(').expect("its path");
    let path = root.join(path.trim_end_matches(')'));
    let svg = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("<title>"), "a picture says in words what it shows");
}
