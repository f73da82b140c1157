//! Reads claude's stream of JSON lines.
//!
//! What may go here: which line means which fact. What may not: how a run ended and what it used in all.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::adapters::causes;
use crate::adapters::json::{self, Fields};
use crate::adapters::messages::{CallNotes, Calls, From};
use crate::adapters::text::{NAME_CHARS, last_line, one_line};
use crate::adapters::{Closing, Ended, LineReader, Prices, ReaderStart};
use crate::core::{Fact, Retry, Usage};

use super::ending::{self, Shown};
use super::totals::{self, Totals};
use super::{EDITING, NAMED};

/// Model of a message that no model has written.
const NO_MODEL: &str = "<synthetic>";
/// Answers that are streamed at once: one per sub-agent. The oldest is given up when there are more.
const STREAMS: usize = 16;

/// Fields of all lines but `result`.
const FIELDS: [&str; 16] = [
    "type",
    "subtype",
    "session_id",
    "model",
    "message",
    "event",
    "parent_tool_use_id",
    "error",
    "is_api_error_message",
    "attempt",
    "max_retries",
    "error_status",
    "tool_name",
    "tool_use_id",
    "isSynthetic",
    "isReplay",
];

/// The reading of one run.
#[derive(Debug)]
pub(super) struct Reader {
    prices: Arc<Prices>,
    calls: Calls,
    known: Known,
    error_word: Option<String>,
    has_result: bool,
}

/// What is remembered from line to line, and noted for a recovery.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    session: Option<String>,
    model: Option<String>,
    streams: Vec<Stream>,
    /// What the session had used before this run.
    base: Option<Totals>,
    /// It has taken up its task, which is its first message.
    has_task: bool,
}

/// An answer that is being streamed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stream {
    /// The call whose sub-agent answers.
    parent: Option<String>,
    id: String,
    model: String,
    usage: Usage,
}

/// What is noted.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Notes {
    known: Known,
    calls: CallNotes,
}

impl Reader {
    pub(super) fn new(start: ReaderStart) -> Self {
        let notes = start.notes.and_then(|notes| serde_json::from_str::<Notes>(&notes).ok());
        let notes = notes.unwrap_or_default();
        Self {
            prices: start.prices,
            calls: Calls::new(EDITING, notes.calls),
            known: notes.known,
            error_word: None,
            has_result: start.seen.result,
        }
    }

    fn system(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        match fields.text("subtype").as_deref() {
            // It comes again with each turn.
            Some("init") => {
                let session = fields.text("session_id").map(|id| one_line(&id, NAME_CHARS));
                if session.is_some() && session != self.known.session {
                    facts.extend(session.clone().map(Fact::Session));
                    self.known.session = session;
                }
                if let Some(model) = fields.text("model") {
                    self.model(&model, facts);
                }
            }
            Some("api_retry") => facts.push(Fact::Retry(retry(fields))),
            Some("permission_denied") => {
                let tool = fields.text("tool_name").unwrap_or_default();
                let id = fields.text("tool_use_id");
                self.calls.deny(id.as_deref(), &tool, String::new(), facts);
            }
            _ => {}
        }
    }

    fn model(&mut self, model: &str, facts: &mut Vec<Fact>) {
        let model = one_line(model, NAME_CHARS);
        if model != NO_MODEL && !model.is_empty() && self.known.model.as_ref() != Some(&model) {
            facts.push(Fact::Model(model.clone()));
            self.known.model = Some(model);
        }
    }

    fn assistant(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let wanted = ["id", "model", "content", "usage"];
        let Some(mut message) = fields.inner("message", &wanted) else { return };
        let is_main = fields.raw("parent_tool_use_id").is_none();
        let word = fields.text("error");
        let is_error = word.is_some() || fields.flag("is_api_error_message") == Some(true);
        let model = message.text("model").unwrap_or_default();
        let is_synthetic = model == NO_MODEL;
        self.error_word = word;
        let id = message.text("id").map(|id| one_line(&id, NAME_CHARS));
        let usage = message.raw("usage").map(|usage| usage_of(&usage));
        if let (Some(id), Some(usage), false) = (id, usage, is_synthetic) {
            if is_main {
                self.model(&model, facts);
            }
            // The stream of the same answer may know better.
            let stream = self.known.streams.iter().find(|stream| stream.id == id);
            let usage = stream.map_or(usage, |stream| stream.usage.clone());
            facts.extend(self.priced(&id, &model, &usage));
        }
        let from = if is_error || is_synthetic { From::Program } else { From::Model };
        if let Some(content) = message.raw("content") {
            self.calls.message(&content, from, facts);
        }
    }

    fn user(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let is_replay = fields.flag("isReplay") == Some(true);
        if is_replay && std::mem::replace(&mut self.known.has_task, true) {
            // Another turn begins, or the same goes on: what it said before is not its last word.
            self.has_result = false;
            facts.push(Fact::Heard);
        }
        let message = fields.inner("message", &["content"]);
        if let Some(content) = message.and_then(|mut message| message.raw("content")) {
            self.calls.message(&content, From::User, facts);
        }
    }

    /// Takes an event of the model service itself, which alone tells the output of an answer before the run is over.
    fn event(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let wanted = ["type", "message", "usage"];
        let Some(mut event) = fields.inner("event", &wanted) else { return };
        let kind = event.text("type").unwrap_or_default();
        if !matches!(kind.as_str(), "message_start" | "message_delta" | "message_stop") {
            return;
        }
        let parent = fields.text("parent_tool_use_id").map(|id| one_line(&id, NAME_CHARS));
        if kind == "message_stop" {
            self.known.streams.retain(|stream| stream.parent != parent);
        } else if kind == "message_start" {
            self.known.streams.retain(|stream| stream.parent != parent);
            let Some(stream) = event.raw("message").and_then(|it| Stream::of(&it, parent)) else {
                return;
            };
            if self.known.streams.len() >= STREAMS {
                self.known.streams.remove(0);
            }
            // Not yet told: a stream that breaks here is asked for once more, and may not be in the totals.
            self.known.streams.push(stream);
        } else if let Some(usage) = event.raw("usage") {
            let open = self.known.streams.iter_mut().find(|stream| stream.parent == parent);
            let grown = open.and_then(|stream| {
                stream.usage = grown(&stream.usage, &usage)?;
                Some(stream.clone())
            });
            let Some(Stream { id, model, usage, .. }) = grown else { return };
            facts.extend(self.priced(&id, &model, &usage));
        }
    }

    /// Makes the fact of an answer's usage.
    fn priced(&self, id: &str, model: &str, usage: &Usage) -> Option<Fact> {
        let is_nothing = *usage == Usage::default();
        let estimate = self.prices.estimate(Some("anthropic"), model, usage);
        let usage = Usage { estimate, ..usage.clone() };
        (!is_nothing).then(|| Fact::Usage { id: Some(id.to_owned()), usage })
    }

    fn result(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        let Some(mut fields) = Fields::parse(line, &ending::FIELDS) else { return };
        let was_told = fields.has("total_cost_usd") && !fields.is_null("total_cost_usd");
        let cost = fields.float_money("total_cost_usd");
        if was_told && cost.is_none() {
            facts.push(Fact::UnreadableCost);
        }
        let table = fields.raw("modelUsage");
        let since_last = fields.raw("model_usage_since_last_result");
        let base = &mut self.known.base;
        totals::take(table.as_deref(), since_last.as_deref(), cost, base, facts);
        if let Some(list) = fields.raw("permission_denials") {
            self.calls.deny_all(&list, facts);
        }
        let shown = Shown {
            answer: self.calls.answer(),
            files: self.calls.files(),
            error_word: self.error_word.take(),
        };
        facts.push(Fact::Result(ending::take(&mut fields, shown)));
        self.has_result = true;
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
            Some("stream_event") => self.event(&mut fields, facts),
            Some("assistant") => self.assistant(&mut fields, facts),
            Some("user") => self.user(&mut fields, facts),
            Some("system") => self.system(&mut fields, facts),
            Some("result") => self.result(line, facts),
            // There are dozens of others, and more with each version.
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
        if !self.has_result {
            // Answers that were cut off have cost at least this.
            let streams = self.known.streams.iter();
            facts
                .extend(streams.filter_map(|open| self.priced(&open.id, &open.model, &open.usage)));
        }
        let Some(code) = end.code.filter(|code| *code != 0 && !self.has_result) else { return };
        let result = ending::by_code(code, self.calls.files()).or_else(|| {
            // Some ends, such as that of an unknown option, are told on the standard error alone.
            let message = last_line(end.err, |_| true)?;
            let reason = causes::by_message(None, &message)?;
            Some(causes::failure(reason, NAMED, &message))
        });
        facts.extend(result.map(Fact::Result));
    }

    fn notes(&self) -> Option<String> {
        let notes = Notes { known: self.known.clone(), calls: self.calls.notes() };
        serde_json::to_string(&notes).ok()
    }

    fn is_text(&self, line: &[u8]) -> bool {
        !line.starts_with(b"{")
    }
}

impl Stream {
    fn of(message: &RawValue, parent: Option<String>) -> Option<Self> {
        let wanted = ["id", "model", "usage"];
        let mut message = Fields::of(message, &wanted)?;
        let usage = message.raw("usage").map(|usage| usage_of(&usage)).unwrap_or_default();
        let model = one_line(&message.text("model").unwrap_or_default(), NAME_CHARS);
        Some(Self { parent, id: one_line(&message.text("id")?, NAME_CHARS), model, usage })
    }
}

/// Reads the counts of one answer: fresh input, read from a cache, written to it, output.
fn counts_of(usage: &RawValue) -> [Option<u64>; 4] {
    let wanted =
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
    let fields = Fields::of(usage, &wanted);
    fields.map_or([None; 4], |mut fields| wanted.map(|name| fields.count(name)))
}

/// Reads the usage of one answer; its input is what was not cached.
fn usage_of(usage: &RawValue) -> Usage {
    let [input, cache_read, cache_write, output] = counts_of(usage).map(Option::unwrap_or_default);
    Usage { input, cache_read, cache_write, output, ..Usage::default() }
}

/// Returns the usage of an answer after more of it has come; `None` if a count has fallen, which is then the usage of
/// another answer. What is not told stays.
fn grown(before: &Usage, after: &RawValue) -> Option<Usage> {
    let [input, cache_read, cache_write, output] = counts_of(after);
    let grow = |before: u64, after: Option<u64>| {
        Some(after.unwrap_or(before)).filter(|after| *after >= before)
    };
    Some(Usage {
        input: grow(before.input, input)?,
        cache_read: grow(before.cache_read, cache_read)?,
        cache_write: grow(before.cache_write, cache_write)?,
        output: grow(before.output, output)?,
        ..Usage::default()
    })
}

/// Reads an attempt that has failed. Without a status there was no answer at all.
fn retry(fields: &mut Fields<'_>) -> Retry {
    /// Characters of a cause.
    const CAUSE_CHARS: usize = 60;
    let number = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let status = fields
        .raw("error_status")
        .map(|status| json::text(&status).unwrap_or_else(|| status.get().to_owned()));
    let word =
        fields.text("error").filter(|word| word != "unknown").map(|word| word.replace('_', " "));
    let cause = match (status, word) {
        (Some(status), Some(word)) => format!("{status} {word}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "connection failed".to_owned(),
    };
    Retry {
        attempt: number(fields.count("attempt")),
        most: number(fields.count("max_retries")),
        cause: one_line(&cause, CAUSE_CHARS),
    }
}
