//! TOML: tables `[[task]]`, or a list `tasks`.
//!
//! What may go here: the syntax, with lines. What may not: meanings of keys.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::{self, Field, Value};
use super::{Entry, InputError};
use crate::cli::nearest::hint;
use crate::words::plain_text::one_line;

/// Keys at the top of the file.
const TOP: [&str; 2] = ["task", "tasks"];

/// Returns the tasks of a TOML text in the order in which they stand.
pub(super) fn entries(file: &str, text: &str) -> Result<Vec<Entry>, InputError> {
    let source = Source { file, newlines: memchr::memchr_iter(b'\n', text.as_bytes()).collect() };
    let document = DeTable::parse(text).map_err(|error| source.syntax(&error))?;
    let mut entries = Vec::new();
    for (key, value) in document.get_ref() {
        let name: &str = key.get_ref();
        if !TOP.contains(&name) {
            let what = format!(
                "unknown key {}{} (tasks begin with [[task]])",
                one_line(name),
                hint(name, &TOP)
            );
            return Err(InputError::at(file, source.line(key.span().start), what));
        }
        match value.get_ref() {
            DeValue::Array(items) => {
                for item in items {
                    entries.push(source.entry(item)?);
                }
            }
            DeValue::Table(_) | DeValue::String(_) if name == "task" => {
                entries.push(source.entry(value)?);
            }
            _ => {
                let what = format!(
                    "{name} is no list of tasks (write tasks = [\"first task\"] or [[task]])"
                );
                return Err(InputError::at(file, source.line(key.span().start), what));
            }
        }
    }
    entries.sort_by_key(|entry| entry.place.line());
    Ok(entries)
}

struct Source<'a> {
    file: &'a str,
    newlines: Vec<usize>,
}

impl Source<'_> {
    fn line(&self, place: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < place) + 1
    }

    fn syntax(&self, error: &toml::de::Error) -> InputError {
        let place = error.span().map_or(0, |span| span.start);
        let line = self.line(place);
        let begin = line
            .checked_sub(2)
            .and_then(|before| self.newlines.get(before))
            .map_or(0, |newline| newline + 1);
        let column = place.saturating_sub(begin) + 1;
        InputError::at(
            self.file,
            line,
            format!("is no TOML: {} (column {column})", one_line(error.message())),
        )
    }

    fn entry(&self, value: &Spanned<DeValue<'_>>) -> Result<Entry, InputError> {
        fields::entry(self.file, self.line(value.span().start), self.value(value))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) if number.radix() == 10 => {
                Value::Number(number.as_str().to_owned())
            }
            DeValue::Integer(_) => Value::Other("a number that is not decimal"),
            DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| self.value(item)).collect())
            }
            DeValue::Table(table) => {
                let mut fields: Vec<Field> = table
                    .iter()
                    .map(|(key, value)| Field {
                        key: key.get_ref().clone().into_owned(),
                        line: self.line(key.span().start),
                        value: self.value(value),
                    })
                    .collect();
                fields.sort_by_key(|field| field.line);
                Value::Table(fields)
            }
        }
    }
}
