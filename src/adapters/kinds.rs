//! What is known of agent programs beside their language: `assets/kinds.toml`, the one table of them.
//!
//! What may go here: the table's shape and looking things up in it. What may not: looking at this computer, options.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// One agent program. The head of the table says what each field means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownKind {
    /// The kind, and the adapter that drives it.
    pub name: String,
    /// What must be on PATH.
    pub program: String,
    /// How to install it, as a command line.
    pub install: String,
    /// Versions that were tested, the newest first.
    pub tested: Vec<String>,
    /// What its output says of cost.
    pub cost: Tells,
    /// It tells that only when it has ended, and keeps to no budget by itself.
    #[serde(default)]
    pub late: bool,
    /// Whose price list counts for its tokens, where that is one.
    #[serde(default)]
    pub provider: Option<String>,
    /// Variables of which any one lets it in.
    pub keys: Vec<String>,
    /// Files that it writes when somebody logs in.
    pub logins: Vec<Login>,
    /// A model on this computer does as well, so that no key is needed.
    #[serde(default)]
    pub local: bool,
    /// How to get in, as the end of a sentence.
    pub log_in: String,
    /// Its name as a Python package, where the program itself does not tell its version.
    #[serde(default)]
    pub package: Option<String>,
    /// Variables that keep it from updating and reporting itself while it is asked for its version.
    #[serde(default)]
    pub quiet: BTreeMap<String, String>,
}

/// What an output says of cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tells {
    /// Dollars.
    Dollars,
    /// Tokens, from which dollars follow where the model's price is known.
    Tokens,
    /// Nothing at all.
    Nothing,
}

/// Where a login can be seen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Variable that names the folder.
    pub variable: String,
    /// The folder without that variable, from the home folder on.
    pub default: String,
    /// The file, from that folder on.
    pub file: String,
    /// What a line of the file has that tells of a login, with something behind it; `None` if the file itself does.
    #[serde(default)]
    pub contains: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: Vec<KnownKind>,
}

static KINDS: LazyLock<Vec<KnownKind>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../../assets/kinds.toml"))
        .expect("the table is part of the program, and a test reads it");
    table.kind
});

/// Returns the agent programs that Fleet drives, in the order in which they are tried.
pub fn known_programs() -> &'static [KnownKind] {
    &KINDS
}

/// Returns what is known of a kind's program; `None` for kinds that are no agent program, such as `sh`.
pub fn known_program(kind: &str) -> Option<&'static KnownKind> {
    KINDS.iter().find(|known| known.name == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::{adapter, known_kinds};
    use crate::core::AgentKind;

    #[test]
    fn every_program_of_the_table_has_its_adapter_and_the_other_way_round() {
        let names: Vec<&str> = known_programs().iter().map(|known| known.name.as_str()).collect();
        let agents: Vec<&str> =
            known_kinds().filter(|kind| !matches!(*kind, "sh" | "command")).collect();
        assert_eq!(names, agents, "both in the order in which they are tried");
        for known in known_programs() {
            let adapter = adapter(&AgentKind(known.name.clone())).unwrap();
            assert_eq!(adapter.program(), Some(known.program.as_str()));
            assert!(adapter.traits().pays && adapter.traits().prompt, "{}", known.name);
        }
    }

    #[test]
    fn what_the_table_says_of_a_program_is_usable() {
        for known in known_programs() {
            let is_version = |text: &String| {
                text.split('.').count() == 3
                    && text.split('.').all(|part| part.parse::<u32>().is_ok())
            };
            assert!(!known.tested.is_empty() && known.tested.iter().all(is_version), "{known:?}");
            let is_name = |name: &String| {
                !name.is_empty()
                    && name.bytes().all(|byte| {
                        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
                    })
            };
            let folders = known.logins.iter().map(|login| &login.variable);
            let names = known.keys.iter().chain(known.quiet.keys()).chain(folders);
            assert!(names.into_iter().all(is_name), "{known:?}");
            let is_inside =
                |path: &String| !path.starts_with('/') && path.split('/').all(|part| part != "..");
            for login in &known.logins {
                assert!(is_inside(&login.file) && is_inside(&login.default), "{login:?}");
                assert!(!login.file.is_empty());
            }
            assert!(known.install.starts_with("npm ") || known.install.starts_with("pip "));
            assert!(!known.log_in.is_empty());
        }
        assert_eq!(known_program("claude").unwrap().program, "claude");
        assert_eq!(known_program("sh"), None);
    }
}
