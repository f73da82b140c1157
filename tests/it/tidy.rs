//! Rules about the source that no compiler keeps: arrows between layers, file heads, sizes, words that must not occur.
//!
//! What may go here: reading the repository's own text. What may not: running anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use loki_fleet::tui::KEYMAP;

/// Lines that a file may have without its tests.
const MOST_LINES: usize = 400;

/// What each layer may name of the others. A layer that is not listed may name everything below `main`.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("adapters", &["core"]),
    ("demo", &["adapters", "core"]),
    ("journal", &["adapters", "core"]),
    ("tail", &["adapters", "core"]),
    ("supervise", &["adapters", "core"]),
    ("runtime", &["supervise", "tail", "journal", "adapters", "core"]),
    ("words", &["runtime", "core"]),
    ("tui", &["words", "runtime", "supervise", "tail", "journal", "adapters", "core"]),
    ("cli", &["words", "runtime", "supervise", "tail", "journal", "adapters", "core"]),
    ("control", &["runtime", "supervise", "tail", "journal", "adapters", "core"]),
];

/// Beginnings of paths that `core` must not name: the outside world.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::process",
    "std::thread",
    "std::net",
    "std::os",
    "std::env",
    "std::io",
    "std::sync::mpsc",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
    "rustix",
    "nix",
    "signal_hook",
    "tempfile",
    "notify",
    "fastrand",
];

/// Crates that only `tui` may name.
const TERMINAL: &[&str] = &["ratatui", "crossterm", "tui_textarea"];

struct Source {
    path: PathBuf,
    /// From the repository's root, for messages.
    name: String,
    text: String,
}

impl Source {
    /// Top-level module that the file belongs to; empty for `lib.rs` and `main.rs`.
    fn module(&self) -> &str {
        let Some(inside) = self.name.strip_prefix("src/") else { return "" };
        match inside.split_once('/') {
            Some((module, _)) => module,
            None => {
                inside.trim_end_matches(".rs").trim_start_matches("lib").trim_start_matches("main")
            }
        }
    }

    /// The file without what only tests see.
    fn without_tests(&self) -> &str {
        if self.name.ends_with("/tests.rs") || self.name.contains("/tests/") {
            return "";
        }
        let at = [concat!("#[cfg(", "test)]\nmod "), concat!("#[cfg(", "all(test")];
        let cut = at.iter().filter_map(|mark| self.text.find(mark)).min();
        let Some((before, tests)) = cut.map(|cut| self.text.split_at(cut)) else {
            return &self.text;
        };
        // Only a module with its body here ends the file; `mod tests;` is a line like any other.
        if tests.lines().nth(1).is_some_and(|line| line.ends_with('{')) {
            before
        } else {
            &self.text
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in folders {
        collect(&root().join(folder), &mut found);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty(), "no sources below {folders:?}");
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            // A crate of its own with its own build folder, such as the fuzz targets.
            if path.file_name().is_none_or(|name| name != "target") {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            found.push(Source { text: fs::read_to_string(&path).unwrap(), path, name });
        }
    }
}

/// One piece of Rust: a name, or any other character.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Sign(char),
}

/// Cuts Rust source into tokens, without comments, strings and character literals.
fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        let character = at(index);
        if character == '/' && at(index + 1) == '/' {
            while index < characters.len() && at(index) != '\n' {
                index += 1;
            }
        } else if character == '/' && at(index + 1) == '*' {
            while index < characters.len() && !(at(index) == '*' && at(index + 1) == '/') {
                index += 1;
            }
            index += 2;
        } else if character == '"' {
            index += 1;
            while index < characters.len() && at(index) != '"' {
                index += if at(index) == '\\' { 2 } else { 1 };
            }
            index += 1;
        } else if matches!(character, 'r' | 'b')
            && let Some(after) = raw_string_end(&characters, index)
        {
            index = after;
        } else if character == '\'' {
            // A lifetime has no closing quote after one character.
            index += if at(index + 1) == '\\' {
                let mut end = index + 3;
                while end < characters.len() && at(end) != '\'' {
                    end += 1;
                }
                end + 1 - index
            } else if at(index + 2) == '\'' {
                3
            } else {
                1
            };
        } else if character == '_' || character.is_alphabetic() {
            let start = index;
            while at(index) == '_' || at(index).is_alphanumeric() {
                index += 1;
            }
            found.push(Token::Name(characters[start..index].iter().collect()));
        } else {
            if !character.is_whitespace() {
                found.push(Token::Sign(character));
            }
            index += 1;
        }
    }
    found
}

/// Where a raw string that begins here ends; `None` if none begins here.
fn raw_string_end(characters: &[char], start: usize) -> Option<usize> {
    let mut index = start;
    if characters.get(index) == Some(&'b') {
        index += 1;
    }
    if characters.get(index) != Some(&'r') {
        return None;
    }
    index += 1;
    let hashes = characters[index..].iter().take_while(|character| **character == '#').count();
    index += hashes;
    if characters.get(index) != Some(&'"') {
        return None;
    }
    index += 1;
    while index < characters.len() {
        let closes = characters[index] == '"'
            && characters[index + 1..].iter().take_while(|character| **character == '#').count()
                >= hashes;
        index += 1;
        if closes {
            return Some(index + hashes);
        }
    }
    Some(index)
}

/// All paths that the source names, trees of `use` written out: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let mut found = BTreeSet::new();
    let mut index = 0;
    while index < tokens.len() {
        if matches!(tokens[index], Token::Name(_)) {
            index = path(&tokens, index, "", &mut found);
        } else {
            index += 1;
        }
    }
    found
}

/// Reads one path from `index` on and returns where it ends.
fn path(tokens: &[Token], mut index: usize, prefix: &str, found: &mut BTreeSet<String>) -> usize {
    let mut name = prefix.to_owned();
    let separates =
        |index: usize| tokens[index..].starts_with(&[Token::Sign(':'), Token::Sign(':')]);
    while let Some(Token::Name(part)) = tokens.get(index) {
        name = if name.is_empty() { part.clone() } else { format!("{name}::{part}") };
        index += 1;
        if !separates(index.min(tokens.len())) {
            break;
        }
        index += 2;
    }
    if tokens.get(index) == Some(&Token::Sign('{'))
        && !name.is_empty()
        && index >= 2
        && separates(index - 2)
    {
        index += 1;
        while index < tokens.len() && tokens[index] != Token::Sign('}') {
            index = match tokens[index] {
                Token::Name(_) => path(tokens, index, &name, found),
                Token::Sign(_) => index + 1,
            };
        }
        return index + 1;
    }
    found.insert(name);
    index
}

fn begins_with(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Names of the top-level modules, as the folders and files of `src` tell them.
fn modules() -> BTreeSet<String> {
    sources(&["src"])
        .iter()
        .map(|source| source.module().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Layer that a path from within the crate leads to.
fn layer_of(path: &str, modules: &BTreeSet<String>) -> Option<String> {
    let mut parts = path.split("::");
    let first = parts.next()?;
    if first != "crate" && first != "loki_fleet" {
        return None;
    }
    let second = parts.next()?;
    // The crate's root gives this one name of its own to what a layer has.
    let layer = if second == "shim_main" { "supervise" } else { second };
    modules.contains(layer).then(|| layer.to_owned())
}

#[track_caller]
fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn layers_name_only_layers_below_them() {
    let modules = modules();
    let mut wrong = Vec::new();
    for source in sources(&["src"]) {
        let Some((layer, allowed)) = ARROWS.iter().find(|(layer, _)| *layer == source.module())
        else {
            continue;
        };
        for path in paths(source.without_tests()) {
            let Some(named) = layer_of(&path, &modules) else { continue };
            if named != *layer && !allowed.contains(&named.as_str()) {
                wrong.push(format!("{}: {path} ({layer} may name {allowed:?})", source.name));
            }
        }
    }
    assert_none(&wrong, "an arrow points up");
}

#[test]
fn the_core_names_nothing_of_the_outside_world() {
    let mut wrong = Vec::new();
    for source in sources(&["src/core"]) {
        for path in paths(source.without_tests()) {
            if OUTSIDE.iter().any(|outside| begins_with(&path, outside)) {
                wrong.push(format!("{}: {path}", source.name));
            }
        }
    }
    assert_none(&wrong, "the core decides, it does not do");
}

#[test]
fn only_the_screen_names_terminal_crates() {
    let mut wrong = Vec::new();
    for source in sources(&["src"]) {
        if source.module() == "tui" {
            continue;
        }
        for path in paths(&source.text) {
            if TERMINAL.iter().any(|terminal| begins_with(&path, terminal)) {
                wrong.push(format!("{}: {path}", source.name));
            }
        }
    }
    assert_none(&wrong, "a terminal crate outside of tui");
}

#[test]
fn every_file_begins_with_its_purpose() {
    let mut wrong = Vec::new();
    for source in sources(&["src", "tests"]) {
        let first = source.text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") || first.len() < 12 {
            wrong.push(format!("{}: {first:?}", source.name));
        }
    }
    assert_none(&wrong, "a file begins with `//!` and its purpose");
}

#[test]
fn no_file_is_long_without_its_tests() {
    let mut wrong = Vec::new();
    for source in sources(&["src"]) {
        let lines = source.without_tests().lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines", source.name));
        }
    }
    assert_none(&wrong, "a file has more than 400 lines without its tests");
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    // In two halves, so that this file does not contain them.
    let words = [
        concat!("#[", "allow"),
        concat!("#![", "allow"),
        concat!("todo", "!("),
        concat!("unimple", "mented!("),
        concat!("#[", "ignore]"),
    ];
    let mut wrong = Vec::new();
    for source in sources(&["src", "tests"]) {
        for (number, line) in source.text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                wrong.push(format!("{}:{}: {}", source.path.display(), number + 1, line.trim()));
            }
        }
    }
    assert_none(&wrong, "lint exceptions are `#[expect(…, reason = …)]`, and nothing is put off");
}

#[test]
fn texts_of_the_screen_take_names_of_keys_from_the_keymap() {
    // A name of one character could be any word.
    let keys: BTreeSet<&str> =
        KEYMAP.iter().map(|binding| binding.shown).filter(|name| name.len() > 1).collect();
    let mut wrong = Vec::new();
    for source in sources(&["src/tui"]).iter().filter(|it| it.name != "src/tui/keymap.rs") {
        for line in source.without_tests().lines().filter(|it| !it.trim_start().starts_with("//")) {
            let texts = line.split('"').skip(1).step_by(2);
            let mut words = texts.flat_map(|text| text.split([' ', ',', ':', ';', '(', ')']));
            if words.any(|word| keys.contains(word)) {
                wrong.push(format!("{}: {}", source.name, line.trim()));
            }
        }
    }
    assert_none(&wrong, "a key is named by `key_name!`, so that a text cannot tell of another one");
}

#[test]
fn the_readme_has_a_line_for_every_module_and_no_other() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, chapter) =
        readme.split_once("## ARCHITECTURE").expect("the README has an ARCHITECTURE section");
    let listed: BTreeSet<String> = chapter
        .lines()
        .filter_map(|line| line.strip_prefix("- `src/"))
        .filter_map(|line| line.split_once('`'))
        .map(|(module, _)| module.trim_end_matches('/').trim_end_matches(".rs").to_owned())
        .filter(|module| module != "main" && module != "lib")
        .collect();
    assert_eq!(listed, modules(), "lines of the README on the left, modules on the right");
}

#[test]
fn the_readme_names_the_command_that_the_continuous_check_runs() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let run = fs::read_to_string(root().join(".ci/run")).unwrap();
    let last = run.lines().rfind(|line| !line.trim().is_empty()).unwrap();
    assert_eq!(last, "tests/all");
    assert!(readme.lines().any(|line| line.trim() == last), "the README does not name {last:?}");
}

#[test]
fn cited_conformance_rows_exist() {
    let mut wrong = Vec::new();
    for source in sources(&["src", "tests"]) {
        for (at, sign) in source.text.match_indices("C-") {
            let (before, rest) = source.text.split_at(at);
            let digits: String =
                rest.chars().skip(sign.len()).take_while(char::is_ascii_digit).collect();
            let before = before.chars().next_back();
            if digits.is_empty() || before.is_some_and(char::is_alphanumeric) {
                continue;
            }
            if !digits.parse().is_ok_and(|row: u32| (1..=154).contains(&row)) {
                wrong.push(format!("{}: C-{digits}", source.name));
            }
        }
    }
    assert_none(&wrong, "no such conformance row");
}

#[test]
fn paths_are_read_out_of_trees_and_not_out_of_comments() {
    let text = r##"
        //! See [`crate::runtime`].
        use crate::{core::{AgentId, Task as T}, tail::scan};
        /* crate::cli */
        fn f<'a>(x: &'a str) { let _ = ("crate::tui", r#"crate::tui"#, 'c', '\''); std::fs::read(x); }
    "##;
    let paths = paths(text);
    for wanted in
        ["crate::core::AgentId", "crate::core::Task", "crate::tail::scan", "std::fs::read"]
    {
        assert!(paths.contains(wanted), "{wanted} is not in {paths:?}");
    }
    for absent in ["crate::runtime", "crate::cli", "crate::tui"] {
        assert!(!paths.iter().any(|path| path.starts_with(absent)), "{absent} is in {paths:?}");
    }
}
