//! Values of the config file with their places, and what is wrong with them.
//!
//! What may go here: types of TOML and the sentences about them. What may not: single keys.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::nearest::hint;
use crate::words::plain_text::{cut_graphemes, one_line};

/// Longest value that an error repeats, in graphemes.
const SHOWN: usize = 40;

/// A value with its place.
pub(super) type Item<'a> = Spanned<DeValue<'a>>;
/// A key with its place.
pub(super) type Key<'a> = Spanned<Cow<'a, str>>;

/// The text that values are from.
pub(super) struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) const fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }

    /// Returns a sentence about a place, in bytes from the beginning.
    fn sentence(&self, place: usize, what: &str) -> String {
        let before = self.text.get(..place).unwrap_or(self.text);
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}, line {line}, column {column}: {what}", self.name)
    }

    pub(super) fn at(&self, item: &Item<'_>, what: &str) -> String {
        self.sentence(item.span().start, what)
    }

    pub(super) fn at_key(&self, key: &Key<'_>, what: &str) -> String {
        self.sentence(key.span().start, what)
    }

    pub(super) fn syntax(&self, error: &toml::de::Error) -> String {
        let place = error.span().map_or(0, |span| span.start);
        self.sentence(place, &format!("is no TOML: {}", one_line(error.message())))
    }

    pub(super) fn unknown(&self, key: &Key<'_>, known: &[&str]) -> String {
        let name: &str = key.get_ref();
        let shown = cut_graphemes(&one_line(name), SHOWN);
        self.at_key(key, &format!("unknown key {shown}{}", hint(name, known)))
    }

    /// Returns a sentence about a value of another type than the one that is expected.
    pub(super) fn unlike(&self, item: &Item<'_>, key: &str, expected: &str) -> String {
        let kind = match item.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table of keys",
        };
        self.at(item, &format!("{key} is {kind} where {expected} is expected"))
    }

    /// Returns a sentence about a value that is none for its key; `clause` says why.
    pub(super) fn wrong_value(
        &self,
        item: &Item<'_>,
        key: &str,
        value: &str,
        clause: &str,
    ) -> String {
        let shown = cut_graphemes(&one_line(value), SHOWN);
        self.at(item, &format!("{key} '{shown}' {clause}"))
    }

    pub(super) fn text(&self, key: &str, item: &Item<'_>) -> Result<String, String> {
        match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.unlike(item, key, "a text")),
        }
    }

    /// Returns a text, a number as it is written, so that money is never a float, or `true` or `false`.
    pub(super) fn scalar(&self, key: &str, item: &Item<'_>) -> Result<String, String> {
        match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => Err(self.unlike(item, key, "a text or a decimal number")),
        }
    }

    /// Returns a list of texts, none of which has a NUL byte; a text alone is a list of one.
    pub(super) fn words(&self, key: &str, item: &Item<'_>) -> Result<Vec<String>, String> {
        let word = |item: &Item<'_>| {
            let text = self.text(key, item)?;
            if text.contains('\0') {
                return Err(
                    self.at(item, &format!("{key} has a NUL byte, which no argument can have"))
                );
            }
            Ok(text)
        };
        match item.get_ref() {
            DeValue::Array(items) => items.iter().map(word).collect(),
            DeValue::String(_) => Ok(vec![word(item)?]),
            _ => Err(self.unlike(item, key, "a list of texts")),
        }
    }

    pub(super) fn table<'t, 'i>(
        &self,
        key: &str,
        item: &'t Item<'i>,
    ) -> Result<&'t DeTable<'i>, String> {
        match item.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.unlike(item, key, "a table of keys")),
        }
    }
}
