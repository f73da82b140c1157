//! Reads the closing word of an agent from the fields of an object: the same in the line protocol and in a transcript.
//!
//! What may go here: how single fields become an [`AgentResult`]. What may not: where the object was found.

use serde_json::value::RawValue;

use crate::core::{AgentResult, ExitReason};

use super::json::{self, Fields};
use super::text::{self, ANSWER_BYTES, LINE_CHARS, last_error_line, one_line};

/// Fields that a closing word may have.
pub(super) const FIELDS: [&str; 6] =
    ["completed", "answer", "files_changed", "error", "failed", "reason"];

/// Most changed files that are kept per agent, so that a hostile list cannot fill the memory.
pub(super) const FILES: usize = 10_000;

/// How an answer begins when the turns are used up (upstream A9).
const STOPPED_BY_STEPS: &str = "stopped: reached max_steps";
/// How an answer begins when the budget is used up (upstream A9).
const STOPPED_BY_BUDGET: &str = "stopped: cost budget reached";

/// Takes the closing word out of the fields of an object.
pub(super) fn take(fields: &mut Fields<'_>) -> AgentResult {
    let mut completed = fields.flag("completed");
    let (answer, is_cut) = match fields.text("answer") {
        Some(answer) => {
            let (answer, is_cut) = cut_answer(answer);
            (Some(answer), is_cut)
        }
        None => (None, false),
    };
    let error = take_error(fields);
    let has_failed = fields.flag("failed") == Some(true) || !error.is_empty();
    if has_failed {
        completed = Some(false);
    }
    let stopped = answer.as_deref().filter(|_| completed != Some(true)).and_then(stopped_by);
    let reason = stopped.or_else(|| match fields.text("reason") {
        // An unknown word is an error of an agent that does not say it completed, never a state of its own.
        Some(word) => {
            ExitReason::from_word(&word).or((completed != Some(true)).then_some(ExitReason::Error))
        }
        None => match completed {
            Some(true) => Some(ExitReason::Completed),
            Some(false) => Some(ExitReason::Error),
            None => None,
        },
    });
    AgentResult {
        completed,
        answer,
        error,
        reason,
        files_changed: take_files(fields),
        files_deleted: Vec::new(),
        truncated: is_cut
            || matches!(
                reason,
                Some(ExitReason::MaxSteps | ExitReason::MaxTokens | ExitReason::Budget)
            ),
        unparsed: fields.is_flawed(),
    }
}

/// Cuts an answer to what is kept of it, and says whether it was cut.
pub(super) fn cut_answer(answer: String) -> (String, bool) {
    text::cut(answer, ANSWER_BYTES)
}

fn stopped_by(answer: &str) -> Option<ExitReason> {
    if answer.starts_with(STOPPED_BY_STEPS) {
        Some(ExitReason::MaxSteps)
    } else if answer.starts_with(STOPPED_BY_BUDGET) {
        Some(ExitReason::Budget)
    } else {
        None
    }
}

/// Returns the error on one line, empty if there is none. Something that is no text is still an error.
fn take_error(fields: &mut Fields<'_>) -> String {
    let Some(raw) = fields.raw("error") else { return String::new() };
    if let Some(error) = json::text(&raw) {
        return last_error_line(&error);
    }
    fields.flaw();
    let is_nothing = ["false", "0", "{}", "[]"].contains(&raw.get());
    if is_nothing { String::new() } else { message_of(&raw) }
}

/// Returns the `message` of an error that is an object, else its JSON.
fn message_of(raw: &RawValue) -> String {
    let message = Fields::of(raw, &["message"])
        .and_then(|mut fields| fields.text("message"))
        .map(|message| last_error_line(&message))
        .filter(|message| !message.is_empty());
    message.unwrap_or_else(|| one_line(raw.get(), LINE_CHARS))
}

fn take_files(fields: &mut Fields<'_>) -> Vec<String> {
    let mut files = Vec::new();
    let Some(raw) = fields.raw("files_changed") else { return files };
    let mut are_texts = true;
    let is_whole = json::for_each_item(&raw, FILES, |item| match json::text(item) {
        Some(file) => files.push(file),
        None => are_texts = false,
    });
    if is_whole != Some(true) || !are_texts {
        fields.flaw();
    }
    files
}
