//! How a run of claude ended, from its `result` lines.
//!
//! What may go here: why it ended, as its line says. What may not: what it has used.

use serde_json::value::RawValue;

use crate::adapters::causes;
use crate::adapters::closing_word::cut_answer;
use crate::adapters::json::{self, Fields};
use crate::core::{AgentResult, ExitReason};

use super::NAMED;

/// Fields of a `result` line.
pub(super) const FIELDS: [&str; 12] = [
    "subtype",
    "is_error",
    "result",
    "errors",
    "stop_reason",
    "terminal_reason",
    "api_error_status",
    "permission_denials",
    "total_cost_usd",
    "modelUsage",
    "model_usage_since_last_result",
    "session_id",
];

/// How a message begins that is for the program's makers only.
const DIAGNOSTIC: &str = "[ede_diagnostic]";

/// What the run has shown before its `result` line.
pub(super) struct Shown {
    /// Last text of the model.
    pub(super) answer: Option<String>,
    /// Files changed.
    pub(super) files: Vec<String>,
    /// Word of the last error that was reported in the model's name.
    pub(super) error_word: Option<String>,
}

/// Takes the closing word. `is_error` goes before `subtype`, which says success of failures as well.
pub(super) fn take(fields: &mut Fields<'_>, shown: Shown) -> AgentResult {
    let subtype = fields.text("subtype").unwrap_or_default();
    let is_error = fields.flag("is_error");
    let text = fields.text("result");
    let first_error = fields.raw("errors").and_then(|errors| first_text(&errors));
    let stop = fields.text("stop_reason").unwrap_or_default();
    let ending = fields.text("terminal_reason").unwrap_or_default();
    let status = fields.count("api_error_status");
    let has_failed = is_error.unwrap_or(subtype != "success") || stop == "refusal";
    if !has_failed {
        let (answer, is_cut) = text.map(cut_answer).unzip();
        let is_at_limit = stop == "max_tokens";
        return AgentResult {
            completed: Some(true),
            answer,
            reason: Some(if is_at_limit { ExitReason::MaxTokens } else { ExitReason::Completed }),
            files_changed: shown.files,
            truncated: is_at_limit || is_cut == Some(true),
            unparsed: fields.is_flawed(),
            ..AgentResult::default()
        };
    }
    let message =
        text.or(first_error).filter(|message| !message.starts_with(DIAGNOSTIC)).unwrap_or_default();
    let word = shown.error_word.as_deref();
    let reason = by_end(&subtype, &stop, &ending)
        .or_else(|| is_used_up(&message).then_some(ExitReason::Quota))
        .or_else(|| causes::by_message(status, &message))
        .or_else(|| word.and_then(by_word))
        .unwrap_or(ExitReason::Error);
    let message = match reason {
        ExitReason::Signal => "was interrupted before it had finished".to_owned(),
        _ if message.is_empty() => {
            format!("claude ended with {}", [subtype, ending].join(" ").trim())
        }
        _ => message,
    };
    let is_limit = matches!(reason, ExitReason::MaxSteps | ExitReason::Budget);
    AgentResult {
        // What it has said until then may be all that was wanted.
        answer: shown.answer.filter(|_| is_limit),
        files_changed: shown.files,
        unparsed: fields.is_flawed(),
        ..causes::failure(reason, NAMED, &message)
    }
}

/// Returns what the words about the end itself mean.
fn by_end(subtype: &str, stop: &str, ending: &str) -> Option<ExitReason> {
    match (subtype, ending) {
        ("error_max_turns", _) | (_, "max_turns") => Some(ExitReason::MaxSteps),
        ("error_max_budget_usd", _) | (_, "budget_exhausted") => Some(ExitReason::Budget),
        (_, "prompt_too_long") => Some(ExitReason::Context),
        (_, "max_output_tokens") => Some(ExitReason::MaxTokens),
        (_, ending) if ending.starts_with("aborted") => Some(ExitReason::Signal),
        _ if stop == "refusal" => Some(ExitReason::Refused),
        _ => None,
    }
}

/// Says whether what a subscription includes is used up, which comes with the status of a limit of rate: `You've hit
/// your session limit · resets 3pm`.
fn is_used_up(message: &str) -> bool {
    message.starts_with("You've hit your ")
}

/// Returns what the word of an error means that was reported in the model's name.
fn by_word(word: &str) -> Option<ExitReason> {
    Some(match word {
        "authentication_failed" => ExitReason::Auth,
        "rate_limit" => ExitReason::RateLimit,
        "billing_error" => ExitReason::Quota,
        "server_error" | "overloaded" => ExitReason::Server,
        "max_output_tokens" => ExitReason::MaxTokens,
        _ => return None,
    })
}

/// Returns the end of a run that a signal ended and that has told no end: the program catches the signal and leaves
/// with this code.
pub(super) fn by_code(code: i32, files: Vec<String>) -> Option<AgentResult> {
    let signal = match code {
        130 => "SIGINT",
        143 => "SIGTERM",
        _ => return None,
    };
    let message = format!("was ended by {signal} before it had finished");
    let result = causes::failure(ExitReason::Signal, NAMED, &message);
    Some(AgentResult { files_changed: files, ..result })
}

fn first_text(list: &RawValue) -> Option<String> {
    let mut first = None;
    json::for_each_item(list, 1, |item| first = json::text(item));
    first
}
