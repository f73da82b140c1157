//! Kinds of the owner's own: `[kinds.NAME]`.
//!
//! What may go here: their keys. What may not: how tasks are made of them (`plan`).

use std::collections::BTreeMap;

use super::source::{Item, Key, Source};
use crate::adapters::{COMMAND, known_kinds};
use crate::cli::arguments::check_env;
use crate::cli::nearest::hint;
use crate::cli::plan::ConfiguredKind;
use crate::core::{AgentKind, OwnKind};
use crate::words::plain_text::one_line;

/// Keys of a kind.
const KEYS: [&str; 5] = ["adapter", "command", "program", "options", "env"];

pub(super) fn kinds(
    source: &Source<'_>,
    item: &Item<'_>,
) -> Result<BTreeMap<String, ConfiguredKind>, String> {
    let mut kinds = BTreeMap::new();
    for (name, item) in source.table("kinds", item)? {
        check_name(source, name)?;
        kinds.insert(name.get_ref().to_string(), kind(source, name, item)?);
    }
    Ok(kinds)
}

fn check_name(source: &Source<'_>, key: &Key<'_>) -> Result<(), String> {
    let name: &str = key.get_ref();
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(source.at_key(key, "the name of a kind is made of letters, digits, -, _ and ."));
    }
    if [COMMAND, "demo"].contains(&name) {
        let taken =
            format!("{name} is a kind of Fleet's own that stays as it is: choose another name");
        return Err(source.at_key(key, &taken));
    }
    Ok(())
}

fn kind(source: &Source<'_>, name: &Key<'_>, item: &Item<'_>) -> Result<ConfiguredKind, String> {
    let own_name: &str = name.get_ref();
    let known: Vec<&str> = known_kinds().collect();
    let mut adapter = known.iter().find(|kind| **kind == own_name).map(|kind| (*kind).to_owned());
    let mut own =
        OwnKind { adapter: AgentKind(String::new()), program: Vec::new(), options: Vec::new() };
    let mut env = Vec::new();
    for (key, item) in source.table(own_name, item)? {
        match key.get_ref().as_ref() {
            "adapter" => {
                let named = source.text("adapter", item)?;
                if !known.contains(&named.as_str()) {
                    let hint = hint(&named, &known);
                    return Err(
                        source.at(item, &format!("there is no adapter {}{hint}", one_line(&named)))
                    );
                }
                adapter = Some(named);
            }
            "command" | "program" if own.program.is_empty() => {
                own.program = source.words("command", item)?;
                if own.program.first().is_none_or(|program| program.trim().is_empty()) {
                    return Err(source.at(item, "command names no program"));
                }
            }
            "command" | "program" => {
                return Err(source.at_key(key, "command and program mean the same: keep one"));
            }
            "options" => own.options = source.words("options", item)?,
            "env" => {
                env = source.words("env", item)?;
                for name in &env {
                    check_env(name, None)
                        .map_err(|clause| source.wrong_value(item, "env", name, &clause))?;
                }
            }
            _ => return Err(source.unknown(key, &KEYS)),
        }
    }
    let Some(adapter) = adapter else {
        let missing = format!(
            "the kind {own_name} has no adapter: write adapter = \"claude\" or another known kind, or \"{COMMAND}\" for a \
             command line with {{task}} in it"
        );
        return Err(source.at_key(name, &missing));
    };
    if adapter == COMMAND && own.program.is_empty() {
        let missing = format!(
            "the kind {own_name} has no command: write command = [\"mytool\", \"{{task}}\"]"
        );
        return Err(source.at_key(name, &missing));
    }
    own.adapter = AgentKind(adapter);
    Ok(ConfiguredKind { own, env })
}
