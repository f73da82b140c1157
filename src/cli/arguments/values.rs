//! Values of options, read once at the edge.
//!
//! What may go here: text to typed value, with a clause that says what is wrong. What may not: definitions of options.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::{Leftovers, NanoUsd, OnCap};
use crate::words::time_text;

/// Word for no most at all.
const UNLIMITED: &str = "unlimited";

/// Value of `-j`: `None` is unlimited. It is written as it is typed, since JSON could not tell that from no value at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Parallel(pub Option<u32>);

impl From<Parallel> for String {
    fn from(parallel: Parallel) -> Self {
        parallel.0.map_or_else(|| UNLIMITED.to_owned(), |number| number.to_string())
    }
}

impl TryFrom<String> for Parallel {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parallel(&text)
    }
}

/// Value of `--env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvWord {
    /// Name of the variable.
    pub name: String,
    /// Its value, or `None` to forward the submitter's.
    pub value: Option<String>,
}

/// Value of `--context`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextText {
    /// The text itself.
    Text(String),
    /// A file that has it.
    File(PathBuf),
}

/// Value of `fleet cap`: `None` takes the cap away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapWord(pub Option<NanoUsd>);

/// Variables that Fleet itself sets for each agent; anybody else who sets them breaks how agents are found again.
const OWN_VARIABLES: [&str; 5] =
    ["FLEET_AGENT", "FLEET_DEPTH", "FLEET_TASK", "FLEET_TASK_FILE", "FLEET_TOKEN"];

pub(crate) fn parallel(text: &str) -> Result<Parallel, String> {
    if text == UNLIMITED {
        return Ok(Parallel(None));
    }
    match text.parse::<u32>() {
        Ok(0) => Err("would never start anything (at least 1, or unlimited)".to_owned()),
        Ok(number) => Ok(Parallel(Some(number))),
        Err(_) => Err("is no number of agents (1 or more, or unlimited)".to_owned()),
    }
}

/// Reads a whole number from `least` on.
pub(super) fn number_from(least: u32, text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if number >= least => Ok(number),
        Ok(_) => Err(format!("is too small (at least {least})")),
        Err(_) => Err(format!("is no whole number (at least {least})")),
    }
}

/// Reads how many times as fast something is played.
pub(super) fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.1..=100.0).contains(speed));
    speed.ok_or_else(|| "is no speed (a number from 0.1 to 100)".to_owned())
}

pub(crate) fn at_least_zero(text: &str) -> Result<u32, String> {
    number_from(0, text)
}

pub(super) fn at_least_one(text: &str) -> Result<u32, String> {
    number_from(1, text)
}

pub(crate) fn money(text: &str) -> Result<NanoUsd, String> {
    text.parse().map_err(|error: crate::core::MoneyError| error.to_string())
}

pub(super) fn cap_word(text: &str) -> Result<CapWord, String> {
    if text == "none" {
        return Ok(CapWord(None));
    }
    money(text).map(|cap| CapWord(Some(cap)))
}

pub(crate) fn span(text: &str) -> Result<Duration, String> {
    time_text::parse(text)
}

/// Reads how long ago something was: a span, which may be zero or in days.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    /// Hours of a day, also of one in which clocks are set: nobody deletes by the hour.
    const DAY: u64 = 24;
    let days = text.trim().strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_hours(DAY * u64::from(days))),
        None if ["0", "0s"].contains(&text.trim()) => Ok(Duration::ZERO),
        None => span(text),
    }
}

pub(super) fn on_cap(text: &str) -> Result<OnCap, String> {
    match text {
        "ask" => Ok(OnCap::Ask),
        "drop" => Ok(OnCap::Drop),
        "hold" => Ok(OnCap::Hold),
        _ => match text.strip_prefix("raise=") {
            Some(amount) => money(amount).map(OnCap::Raise),
            None => Err("is not known (ask, drop, hold or raise=USD)".to_owned()),
        },
    }
}

pub(super) fn leftovers(text: &str) -> Result<Leftovers, String> {
    match text {
        "end" => Ok(Leftovers::End),
        "keep" => Ok(Leftovers::Keep),
        _ => Err("is not known (end or keep)".to_owned()),
    }
}

/// Reads `NAME` or `NAME=VALUE`.
pub(crate) fn env_word(text: &str) -> Result<EnvWord, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    check_env(name, value.as_deref())?;
    Ok(EnvWord { name: name.to_owned(), value })
}

/// Says what is wrong with a variable for an agent, as a clause.
pub(crate) fn check_env(name: &str, value: Option<&str>) -> Result<(), String> {
    if name.is_empty() {
        return Err("has no name (write NAME or NAME=VALUE)".to_owned());
    }
    if name.contains(['=', '\0', ' ', '\n']) || value.is_some_and(|value| value.contains('\0')) {
        return Err("has a character that a variable cannot have".to_owned());
    }
    if OWN_VARIABLES.contains(&name) {
        return Err("is set by fleet itself (choose another name)".to_owned());
    }
    Ok(())
}

pub(super) fn context(text: &str) -> Result<ContextText, String> {
    match text.strip_prefix('@') {
        Some("") => Err("names no file (write @FILE, or the text itself)".to_owned()),
        Some(path) => Ok(ContextText::File(PathBuf::from(path))),
        None => Ok(ContextText::Text(text.to_owned())),
    }
}
