//! What is shown of an event: texts for the transcript, and what a call does on one line.
//!
//! What may go here: choosing and cutting of what a person sees. What may not: what an event means.

use serde_json::value::RawValue;

use crate::core::Fact;

use super::json::{self, Fields};
use super::text::{NAME_CHARS, STEP_CHARS, TEXT_BYTES, cut, one_line};

/// Most bytes of a call's input that are looked at, where none of its fields says what it does.
const INPUT_BYTES: usize = 2000;

/// Fields of a call's input by which a person knows what it does; the first that is there and not blank is shown.
const TELLING: [&str; 16] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "absolute_path",
    "path",
    "dir_path",
    "url",
    "query",
    "pattern",
    "description",
    "prompt",
    "skill",
    "name",
    "id",
];

/// Adds a text for the transcript, unless it is blank.
pub(super) fn push_text(role: &str, text: &str, facts: &mut Vec<Fact>) {
    if text.trim().is_empty() {
        return;
    }
    let end = text.floor_char_boundary(TEXT_BYTES + 4);
    let (text, _) = cut(text.get(..end).unwrap_or_default().to_owned(), TEXT_BYTES);
    facts.push(Fact::Text { role: role.to_owned(), text });
}

/// Returns the id of a session, if it is one.
pub(super) fn session(id: Option<String>) -> Option<Fact> {
    id.map(|id| one_line(&id, NAME_CHARS)).filter(|id| !id.is_empty()).map(Fact::Session)
}

/// Returns the model that answers, if the name is one.
pub(super) fn model(name: &str) -> Option<Fact> {
    Some(one_line(name, NAME_CHARS)).filter(|name| !name.is_empty()).map(Fact::Model)
}

/// Returns what a call does, on one line: the field of its input that a person would look at, else the input as it is.
pub(super) fn summary(input: Option<&RawValue>) -> String {
    let Some(input) = input else { return String::new() };
    if let Some(text) = json::text(input) {
        return one_line(&text, STEP_CHARS);
    }
    let telling = Fields::of(input, &TELLING).and_then(|mut fields| {
        TELLING.iter().find_map(|name| fields.text(name).filter(|text| !text.trim().is_empty()))
    });
    if let Some(telling) = telling {
        return one_line(&telling, STEP_CHARS);
    }
    let raw = input.get();
    let end = raw.floor_char_boundary(INPUT_BYTES);
    let shown = raw.get(..end).unwrap_or_default();
    if matches!(shown, "{}" | "null") { String::new() } else { one_line(shown, STEP_CHARS) }
}

/// Returns a text, or the JSON of what is none.
pub(super) fn text_of(raw: &RawValue) -> String {
    json::text(raw).unwrap_or_else(|| raw.get().to_owned())
}
