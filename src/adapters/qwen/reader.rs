//! Reads qwen's stream of JSON lines.
//!
//! What may go here: which line means which fact, and how a run ended. What may not: blocks of messages, which are
//! claude's as well.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::adapters::causes;
use crate::adapters::closing_word::cut_answer;
use crate::adapters::event_stream::cause_of;
use crate::adapters::json::Fields;
use crate::adapters::messages::{CallNotes, Calls, From};
use crate::adapters::text::{NAME_CHARS, one_line};
use crate::adapters::{Closing, Ended, LineReader, Prices, ReaderStart};
use crate::core::{AgentResult, ExitReason, Fact, Retry, SessionTotal, Usage};

use super::{EDITING, NAMED};

/// How a message begins that reports an error in the model's name.
const ERROR_MARK: &str = "\"[API Error";
/// Exit code when its turns are used up; it tells no result then.
const TURNS_CODE: i32 = 53;
/// Exit code when another limit of its own is reached; it tells no result then.
const LIMIT_CODE: i32 = 55;

/// Fields of all lines.
const FIELDS: [&str; 11] = [
    "type",
    "subtype",
    "session_id",
    "model",
    "message",
    "data",
    "is_error",
    "result",
    "usage",
    "error",
    "permission_denials",
];

/// The reading of one run.
#[derive(Debug)]
pub(super) struct Reader {
    prices: Arc<Prices>,
    calls: Calls,
    session: Option<String>,
    model: Option<String>,
    has_result: bool,
    /// Why a try has failed, which its standard error alone tells.
    cause: Option<String>,
}

/// What is noted for a recovery.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Notes {
    session: Option<String>,
    model: Option<String>,
    calls: CallNotes,
}

impl Reader {
    pub(super) fn new(start: ReaderStart) -> Self {
        let notes = start.notes.and_then(|notes| serde_json::from_str::<Notes>(&notes).ok());
        let notes = notes.unwrap_or_default();
        Self {
            prices: start.prices,
            calls: Calls::new(EDITING, notes.calls),
            session: notes.session,
            model: notes.model,
            has_result: start.seen.result,
            cause: None,
        }
    }

    fn system(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        match fields.text("subtype").as_deref() {
            // It comes again with each turn.
            Some("init") => {
                let session = fields.text("session_id").map(|id| one_line(&id, NAME_CHARS));
                if session.is_some() && session != self.session {
                    facts.extend(session.clone().map(Fact::Session));
                    self.session = session;
                }
                let model = fields.text("model").map(|model| one_line(&model, NAME_CHARS));
                if model.is_some() && model != self.model {
                    facts.extend(model.clone().map(Fact::Model));
                    self.model = model;
                }
            }
            Some("retry") => {
                let retry = retry(fields, self.cause.as_deref());
                facts.push(Fact::Retry(retry));
            }
            _ => {}
        }
    }

    /// Takes one block of a reply. Each has an id of its own, and only the last has the usage of all of them.
    fn assistant(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let wanted = ["id", "model", "content", "usage"];
        let Some(mut message) = fields.inner("message", &wanted) else { return };
        let usage = message.raw("usage").map(|usage| usage_of(&usage)).unwrap_or_default();
        let is_counted = usage != Usage::default();
        let id = message.text("id").map(|id| one_line(&id, NAME_CHARS));
        if is_counted && id.is_some() {
            let model = message.text("model").unwrap_or_default();
            let estimate = self.prices.estimate(None, &model, &usage);
            facts.push(Fact::Usage { id, usage: Usage { estimate, ..usage } });
        }
        if let Some(content) = message.raw("content") {
            let is_error = !is_counted && content.get().contains(ERROR_MARK);
            let from = if is_error { From::Program } else { From::Model };
            self.calls.message(&content, from, facts);
        }
    }

    fn user(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let content =
            fields.inner("message", &["content"]).and_then(|mut message| message.raw("content"));
        if let Some(content) = content {
            self.calls.message(&content, From::User, facts);
        }
    }

    fn result(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        if let Some(usage) = fields.raw("usage").map(|usage| usage_of(&usage))
            && usage != Usage::default()
        {
            // Of the whole session, and with requests that no line shows.
            facts.push(Fact::SessionTotal(SessionTotal { usage }));
        }
        if let Some(list) = fields.raw("permission_denials") {
            self.calls.deny_all(&list, facts);
        }
        let subtype = fields.text("subtype").unwrap_or_default();
        let has_failed = fields.flag("is_error").unwrap_or(subtype != "success");
        let result = if has_failed {
            let message = fields.raw("error").map(|error| message_of(&error));
            let message = message.or_else(|| fields.text("result")).unwrap_or_default();
            let reason = if subtype == "error_max_turns" {
                ExitReason::MaxSteps
            } else {
                causes::by_message(None, &message).unwrap_or(ExitReason::Error)
            };
            let message =
                if message.is_empty() { format!("qwen ended with {subtype}") } else { message };
            causes::failure(reason, NAMED, &message)
        } else {
            let (answer, is_cut) = fields.text("result").map(cut_answer).unzip();
            AgentResult {
                completed: Some(true),
                answer,
                reason: Some(ExitReason::Completed),
                truncated: is_cut == Some(true),
                ..AgentResult::default()
            }
        };
        self.has_result = true;
        facts.push(Fact::Result(AgentResult {
            files_changed: self.calls.files(),
            unparsed: fields.is_flawed(),
            ..result
        }));
    }
}

impl LineReader for Reader {
    fn reads_lines(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        let Some(mut fields) = Fields::parse(line, &FIELDS) else {
            facts.push(Fact::Unknown);
            return;
        };
        match fields.text("type").as_deref() {
            Some("assistant") => {
                self.cause = None;
                self.assistant(&mut fields, facts);
            }
            Some("user") => self.user(&mut fields, facts),
            Some("system") => self.system(&mut fields, facts),
            Some("result") => self.result(&mut fields, facts),
            // Parts of what comes whole as well, and more with each version.
            Some(_) => {}
            None => facts.push(Fact::Unknown),
        }
    }

    fn reads_closing(&self) -> bool {
        false
    }

    fn closing(&mut self, _closing: Closing<'_>, _facts: &mut Vec<Fact>) -> Option<usize> {
        None
    }

    fn ended(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        let Some(code) = end.code.filter(|code| *code != 0 && !self.has_result) else { return };
        let message = telling_line(&String::from_utf8_lossy(end.err));
        let reason = match code {
            TURNS_CODE => ExitReason::MaxSteps,
            LIMIT_CODE if message.contains("tool") && !message.contains("wall") => {
                ExitReason::MaxSteps
            }
            LIMIT_CODE => ExitReason::Timeout,
            _ => causes::by_message(None, &message).unwrap_or(ExitReason::Error),
        };
        if message.is_empty() && reason == ExitReason::Error {
            return;
        }
        let is_limit = matches!(code, TURNS_CODE | LIMIT_CODE);
        facts.push(Fact::Result(AgentResult {
            answer: self.calls.answer().filter(|_| is_limit),
            files_changed: self.calls.files(),
            ..causes::failure(reason, NAMED, &message)
        }));
    }

    fn notes(&self) -> Option<String> {
        let notes = Notes {
            session: self.session.clone(),
            model: self.model.clone(),
            calls: self.calls.notes(),
        };
        serde_json::to_string(&notes).ok()
    }

    fn is_text(&self, line: &[u8]) -> bool {
        !line.starts_with(b"{")
    }

    fn reads_errors(&self) -> bool {
        true
    }

    fn error_line(&mut self, line: &[u8], _: &mut Vec<Fact>) {
        if let Some(cause) = retry_cause(line) {
            self.cause = Some(cause);
        }
    }
}

/// Returns the line of a standard error that says why: the complaint before a page of help, else the last one.
fn telling_line(err: &str) -> String {
    let complaint = err.lines().find(|line| line.starts_with("Unknown argument"));
    let last = || err.lines().rev().find(|line| !line.trim().is_empty());
    complaint.or_else(last).unwrap_or_default().trim().to_owned()
}

/// Reads usage. The input that is told includes what came from a cache; what was written to one is not told apart.
fn usage_of(usage: &RawValue) -> Usage {
    let wanted = ["input_tokens", "cache_read_input_tokens", "output_tokens"];
    let Some(mut fields) = Fields::of(usage, &wanted) else {
        return Usage::default();
    };
    let [input, cache_read, output] = wanted.map(|name| fields.count(name).unwrap_or_default());
    let cache_read = cache_read.min(input);
    Usage { input: input - cache_read, cache_read, output, ..Usage::default() }
}

/// Reads why it tries again: `Retrying in 60s (attempt 1/10): [API Error: 429 mock: rate limited]`.
fn retry_cause(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let (_, told) = line.strip_prefix("Retrying in ")?.split_once("): ")?;
    let told = told.trim().trim_start_matches('[').trim_end_matches(']');
    let message = told.trim_start_matches("API Error: ");
    let status = message.split(' ').next().filter(|word| word.len() == 3);
    Some(cause_of(status.and_then(|word| word.parse().ok()), message))
}

/// Reads an attempt that has failed.
fn retry(fields: &mut Fields<'_>, cause: Option<&str>) -> Retry {
    let wanted = ["attempt", "maxRetries"];
    let data = fields.inner("data", &wanted);
    let [attempt, most] = data.map_or([None; 2], |mut data| {
        wanted.map(|name| data.count(name).and_then(|number| u32::try_from(number).ok()))
    });
    Retry { attempt, most, cause: cause.unwrap_or("request failed").to_owned() }
}

/// Returns the message of an error.
fn message_of(error: &RawValue) -> String {
    let message = Fields::of(error, &["message"]).and_then(|mut error| error.text("message"));
    message.unwrap_or_else(|| error.get().to_owned())
}
