//! The keys of a task in a file, whatever the format of the file.
//!
//! What may go here: keys, their types, what is wrong with a value. What may not: syntax of a format.

use std::path::PathBuf;
use std::time::Duration;

use super::{Entry, InputError, Place};
use crate::cli::arguments::check_env;
use crate::cli::nearest::hint;
use crate::core::NanoUsd;
use crate::words::plain_text::{cut_graphemes, one_line};
use crate::words::time_text;

/// Every key that a task can have.
const KEYS: [&str; 17] = [
    "task",
    "goal",
    "agent",
    "engine",
    "tier",
    "model",
    "max_steps",
    "read_only",
    "allow_shell",
    "allow_web",
    "root",
    "env",
    "budget_usd",
    "timeout",
    "idle_timeout",
    "cmd",
    "context",
];

/// A value of a file. Numbers keep their text, so that money is never a float.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Table(Vec<Field>),
    /// Something that no key takes, by name: `a date`.
    Other(&'static str),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table of keys",
            Self::Other(name) => name,
        }
    }
}

/// A key with its value and the line on which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Value,
}

/// Makes a task of one element of a list: a text, or a table of keys.
pub(super) fn entry(file: &str, line: usize, value: Value) -> Result<Entry, InputError> {
    let place = Place::Line { file: file.to_owned(), line };
    match value {
        Value::Text(text) => Ok(Entry::new(place, Some(text))),
        Value::Table(fields) => {
            let mut entry = Entry::new(place, None);
            let mut seen: Vec<&str> = Vec::with_capacity(fields.len());
            for field in &fields {
                if seen.contains(&field.key.as_str()) {
                    return Err(InputError::at(
                        file,
                        field.line,
                        format!("the key {} occurs twice", field.key),
                    ));
                }
                seen.push(&field.key);
                set(&mut entry, field).map_err(|what| InputError::at(file, field.line, what))?;
            }
            let both = seen.contains(&"task") && seen.contains(&"goal");
            if both {
                return Err(InputError::at(
                    file,
                    line,
                    "has both task and goal, which mean the same: keep one",
                ));
            }
            if entry.task.is_none() && entry.cmd.is_none() {
                return Err(InputError::at(file, line, "has no task (add the key task)"));
            }
            Ok(entry)
        }
        other => Err(InputError::at(
            file,
            line,
            format!("is {} where a task is expected (a text, or keys such as task)", other.kind()),
        )),
    }
}

/// Sets one key; the error is a clause about it.
fn set(entry: &mut Entry, field: &Field) -> Result<(), String> {
    let key = one_line(&field.key);
    if matches!(field.value, Value::Null) && KEYS.contains(&key.as_str()) {
        return Ok(());
    }
    let named = |what: String| format!("{key}: {what}");
    let value = &field.value;
    match key.as_str() {
        "task" | "goal" => entry.task = Some(text(value).map_err(named)?),
        "agent" => entry.agent = Some(text(value).map_err(named)?),
        "engine" => entry.engine = Some(text(value).map_err(named)?),
        "tier" => entry.tier = Some(text(value).map_err(named)?),
        "model" => entry.model = Some(text(value).map_err(named)?),
        "context" => entry.context = Some(text(value).map_err(named)?),
        "root" => entry.root = Some(PathBuf::from(text(value).map_err(named)?)),
        "max_steps" => entry.max_steps = Some(steps(value).map_err(named)?),
        "read_only" => entry.read_only = Some(flag(value).map_err(named)?),
        "allow_shell" => entry.allow_shell = Some(flag(value).map_err(named)?),
        "allow_web" => entry.allow_web = Some(flag(value).map_err(named)?),
        "budget_usd" => entry.budget_usd = Some(money(value).map_err(named)?),
        "timeout" => entry.timeout = Some(span(value).map_err(named)?),
        "idle_timeout" => entry.idle_timeout = Some(span(value).map_err(named)?),
        "env" => entry.env = environment(value).map_err(named)?,
        "cmd" => entry.cmd = Some(words(value).map_err(named)?),
        _ => return Err(format!("unknown key {}{}", cut_graphemes(&key, 40), hint(&key, &KEYS))),
    }
    Ok(())
}

fn expected(value: &Value, what: &str) -> String {
    format!("is {} where {what} is expected", value.kind())
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(expected(other, "a text")),
    }
}

fn flag(value: &Value) -> Result<bool, String> {
    match value {
        Value::Flag(flag) => Ok(*flag),
        other => Err(expected(other, "true or false")),
    }
}

fn steps(value: &Value) -> Result<u32, String> {
    match value {
        Value::Number(number) => match number.parse::<u32>() {
            Ok(0) => Err("0 is too small (at least 1)".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err(format!("{number} is no whole number (at least 1)")),
        },
        other => Err(expected(other, "a whole number")),
    }
}

fn money(value: &Value) -> Result<NanoUsd, String> {
    match value {
        Value::Number(text) | Value::Text(text) => text
            .parse()
            .map_err(|error| format!("'{}' {error}", cut_graphemes(&one_line(text), 40))),
        other => Err(expected(other, "an amount of dollars")),
    }
}

fn span(value: &Value) -> Result<Duration, String> {
    match value {
        Value::Number(text) | Value::Text(text) => time_text::parse(text)
            .map_err(|clause| format!("'{}' {clause}", cut_graphemes(&one_line(text), 40))),
        other => Err(expected(other, "a span of time such as \"30s\"")),
    }
}

/// Reads `{NAME = "value"}`, where null forwards, or a list of `NAME` and `NAME=value`, or one of those.
fn environment(value: &Value) -> Result<Vec<(String, Option<String>)>, String> {
    let word = |value: &Value| match value {
        Value::Text(text) => {
            let word = crate::cli::arguments::env_word(text)
                .map_err(|clause| format!("'{}' {clause}", cut_graphemes(&one_line(text), 40)))?;
            Ok((word.name, word.value))
        }
        other => Err(expected(other, "NAME or NAME=value")),
    };
    match value {
        Value::Table(fields) => fields
            .iter()
            .map(|field| {
                let value = match &field.value {
                    Value::Null => None,
                    Value::Text(text) | Value::Number(text) => Some(text.clone()),
                    Value::Flag(flag) => Some(flag.to_string()),
                    other => {
                        return Err(format!(
                            "{} {}",
                            one_line(&field.key),
                            expected(other, "a text")
                        ));
                    }
                };
                check_env(&field.key, value.as_deref())
                    .map_err(|clause| format!("'{}' {clause}", one_line(&field.key)))?;
                Ok((field.key.clone(), value))
            })
            .collect(),
        Value::List(items) => items.iter().map(word).collect(),
        single => Ok(vec![word(single)?]),
    }
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    const LIKE: &str = "a list of words such as [\"make\", \"{task}\"]";
    let Value::List(items) = value else { return Err(expected(value, LIKE)) };
    let words = items
        .iter()
        .map(|item| match item {
            Value::Text(text) => Ok(text.clone()),
            other => Err(format!("has {} where a word is expected", other.kind())),
        })
        .collect::<Result<Vec<_>, _>>()?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(format!("names no program (write {LIKE})")),
    }
}
