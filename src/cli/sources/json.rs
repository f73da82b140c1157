//! JSON lists and JSON lines.
//!
//! What may go here: their syntax, with lines. What may not: meanings of keys.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{self, Field, Value};
use super::{Entry, InputError};
use crate::cli::nearest::hint;

/// Lists and tables inside a task deeper than this are no value of any key.
const DEEPEST: u32 = 3;

/// Returns the tasks of a JSON text: a list, an object with `tasks`, or a single task.
pub(super) fn entries(file: &str, text: &str) -> Result<Vec<Entry>, InputError> {
    let source = Source::new(file, text);
    let root: &RawValue = serde_json::from_str(text).map_err(|error| source.syntax(&error, 1))?;
    let list = match first_byte(root) {
        Some(b'[') => root,
        Some(b'{') => {
            let object = source.object(root)?;
            match object.iter().find(|(key, _)| key == "tasks") {
                None => return Ok(vec![source.entry(root)?]),
                Some(&(_, list)) => {
                    if let Some((other, raw)) = object.iter().find(|(key, _)| key != "tasks") {
                        let what =
                            format!("unknown key {other} beside tasks{}", hint(other, &["tasks"]));
                        return Err(InputError::at(file, source.line(raw), what));
                    }
                    list
                }
            }
        }
        _ => {
            return Err(InputError::at(
                file,
                source.line(root),
                "is neither a list of tasks nor an object",
            ));
        }
    };
    if first_byte(list) != Some(b'[') {
        return Err(InputError::at(
            file,
            source.line(list),
            "tasks is no list (write [\"first task\", …])",
        ));
    }
    source.list(list)?.into_iter().map(|raw| source.entry(raw)).collect()
}

/// Returns the tasks of a text with one JSON value a line.
pub(super) fn line_entries(file: &str, text: &str) -> Result<Vec<Entry>, InputError> {
    let source = Source::new(file, text);
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let raw: &RawValue =
            serde_json::from_str(line).map_err(|error| source.syntax(&error, number))?;
        entries.push(source.entry(raw)?);
    }
    Ok(entries)
}

/// A text with its lines.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
    newlines: Vec<usize>,
}

impl<'a> Source<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, newlines: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// Returns the line on which a part of the text begins.
    fn line(&self, part: &RawValue) -> usize {
        // `part` borrows from `text`, so the distance of their addresses is the place in it.
        let place = part.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        self.newlines.partition_point(|newline| *newline < place) + 1
    }

    /// Turns a parser's error about a text that begins on line `first` into ours.
    fn syntax(&self, error: &serde_json::Error, first: usize) -> InputError {
        let line = first + error.line().saturating_sub(1);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let column = error.column();
        InputError::at(self.file, line, format!("is no JSON: {message} (column {column})"))
    }

    fn parse<T: Deserialize<'a>>(&self, raw: &'a RawValue) -> Result<T, InputError> {
        serde_json::from_str(raw.get()).map_err(|error| self.syntax(&error, self.line(raw)))
    }

    fn list(&self, raw: &'a RawValue) -> Result<Vec<&'a RawValue>, InputError> {
        self.parse(raw)
    }

    fn object(&self, raw: &'a RawValue) -> Result<Vec<(Cow<'a, str>, &'a RawValue)>, InputError> {
        self.parse::<Members<'a>>(raw).map(|members| members.0)
    }

    fn entry(&self, raw: &'a RawValue) -> Result<Entry, InputError> {
        fields::entry(self.file, self.line(raw), self.value(raw, 0)?)
    }

    fn value(&self, raw: &'a RawValue, depth: u32) -> Result<Value, InputError> {
        Ok(match first_byte(raw) {
            Some(b'[' | b'{') if depth >= DEEPEST => Value::Other("too deeply nested"),
            Some(b'[') => {
                let items = self.list(raw)?;
                Value::List(
                    items
                        .into_iter()
                        .map(|item| self.value(item, depth + 1))
                        .collect::<Result<_, _>>()?,
                )
            }
            Some(b'{') => {
                let members = self.object(raw)?;
                let field = |(key, raw): (Cow<'a, str>, &'a RawValue)| {
                    Ok(Field {
                        key: key.into_owned(),
                        line: self.line(raw),
                        value: self.value(raw, depth + 1)?,
                    })
                };
                Value::Table(members.into_iter().map(field).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::Text(self.parse(raw)?),
            Some(b't') => Value::Flag(true),
            Some(b'f') => Value::Flag(false),
            Some(b'n') => Value::Null,
            _ => Value::Number(raw.get().to_owned()),
        })
    }
}

fn first_byte(raw: &RawValue) -> Option<u8> {
    raw.get().bytes().next()
}

/// Members of an object in order, doubled keys included.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk;
        impl<'de> Visitor<'de> for Walk {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((Cow::Owned(key), value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Walk).map(Members)
    }
}
