//! The line protocol: JSON lines that begin with `{"fleet":`, by which any program becomes a first-class agent.
//!
//! What may go here: the kinds of lines and their fields. What may not: the rules of money and states, which are the
//! core's. Only programs started by `sh` or an explicit command are read this way.

mod in_words;

use memchr::memchr;

use crate::core::{Fact, StepState, Usage};

use super::closing_word;
use super::json::{self, Fields};
use super::text::{NAME_CHARS, STEP_CHARS, TEXT_BYTES, TOOL_CHARS, cut, one_line};
use super::transcript_object::{self, Strictness};
use super::{Closing, LineReader, ReaderStart, Seen};

pub use in_words::{Words, in_words};

/// How each line of the protocol begins.
pub(crate) const MARK: &[u8] = b"{\"fleet\":";

/// Reads the output of a program that may speak the line protocol, or print a transcript in upstream's shape at its
/// end.
#[derive(Debug)]
pub struct ProtocolReader {
    token: Option<String>,
    seen: Seen,
}

/// What became of one line.
struct Line {
    fact: Option<Fact>,
    /// Something in it was not understood.
    is_odd: bool,
}

impl ProtocolReader {
    /// Makes a reader.
    pub fn new(start: ReaderStart) -> Self {
        Self { token: start.token, seen: start.seen }
    }

    fn read(&self, line: &[u8]) -> Option<Line> {
        let kind = kind_of(line)?;
        let own = fields_of(kind)?;
        let wanted: Vec<_> = ["fleet", "token"].into_iter().chain(own.iter().copied()).collect();
        let mut fields = Fields::parse(line, &wanted)?;
        if let Some(token) = &self.token
            && fields.text("token").as_ref() != Some(token)
        {
            return None;
        }
        // A second key of that name could make another line of it.
        if fields.text("fleet")? != kind {
            return None;
        }
        let fact = read_fact(kind, &mut fields);
        let is_odd = fact.is_none() || fields.is_flawed() || fields.has_unknown();
        Some(Line { fact, is_odd })
    }
}

/// Returns the kind of a line, before anything else of it is read.
fn kind_of(line: &[u8]) -> Option<&str> {
    let text = line.strip_prefix(MARK)?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr(b'"', text)?;
    str::from_utf8(text.get(..end)?).ok()
}

/// Returns the fields that lines of a kind may have; `None` for a kind that is not known.
fn fields_of(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "step" => &["tool", "text", "state"],
        "usage" => &[
            "id",
            "model",
            "input_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "output_tokens",
            "cost_usd",
        ],
        "cost" => &["total_usd"],
        "text" => &["role", "text", "piece"],
        "smoke" => &["ok", "text"],
        "session" => &["id"],
        "result" => &closing_word::FIELDS,
        _ => return None,
    })
}

/// Reads the fields of a line; `None` if what the line is about is missing.
fn read_fact(kind: &str, fields: &mut Fields<'_>) -> Option<Fact> {
    match kind {
        "step" => Some(read_step(fields)),
        "usage" => read_usage(fields),
        "cost" => read_cost(fields),
        "text" => read_text(fields),
        "smoke" => Some(read_smoke(fields)),
        "session" => fields.text("id").map(|id| Fact::Session(one_line(&id, NAME_CHARS))),
        "result" => Some(Fact::Result(closing_word::take(fields))),
        _ => None,
    }
}

impl LineReader for ProtocolReader {
    fn reads_lines(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        if !line.starts_with(MARK) {
            return;
        }
        let line = self.read(line).unwrap_or(Line { fact: None, is_odd: true });
        match &line.fact {
            Some(Fact::Step { .. }) => self.seen.steps = true,
            Some(Fact::Smoke { .. }) => self.seen.smokes = true,
            Some(Fact::Result(_)) => self.seen.result = true,
            Some(
                Fact::Usage { .. }
                | Fact::TotalCost(_)
                | Fact::UnreadableCost
                | Fact::TotalTokens(_)
                | Fact::SessionTotal(_)
                | Fact::RunTotal(_)
                | Fact::Model(_)
                | Fact::Retry(_)
                | Fact::Denied { .. }
                | Fact::Notes(_)
                | Fact::Text { .. }
                | Fact::Heard
                | Fact::Piece { .. }
                | Fact::Transcript(_)
                | Fact::Session(_)
                | Fact::Unknown
                | Fact::Skipped,
            )
            | None => {}
        }
        facts.extend(line.fact);
        if line.is_odd {
            facts.push(Fact::Unknown);
        }
    }

    fn reads_closing(&self) -> bool {
        !self.seen.result
    }

    fn closing(&mut self, closing: Closing<'_>, facts: &mut Vec<Fact>) -> Option<usize> {
        if self.seen.result {
            return None;
        }
        let strictness = Strictness::Other(self.token.as_deref());
        let found = transcript_object::find(closing, strictness)?;
        found.transcript.push_facts(self.seen, facts);
        self.seen.result = true;
        Some(found.end)
    }

    fn is_text(&self, line: &[u8]) -> bool {
        !line.starts_with(MARK)
    }
}

fn read_step(fields: &mut Fields<'_>) -> Fact {
    let state = match fields.text("state").as_deref() {
        Some("start") => StepState::Start,
        // Without a state the line tells of a whole step.
        Some("end") | None => StepState::End,
        Some("error") => StepState::Error,
        // Never taken for something that still runs.
        Some(_) => {
            fields.flaw();
            StepState::Error
        }
    };
    Fact::Step {
        id: None,
        tool: one_line(&fields.text("tool").unwrap_or_default(), TOOL_CHARS),
        text: one_line(&fields.text("text").unwrap_or_default(), STEP_CHARS),
        state,
    }
}

/// A total that is there and is no amount must not leave the agent at zero.
fn read_cost(fields: &mut Fields<'_>) -> Option<Fact> {
    let was_told = fields.has("total_usd");
    let total = fields.money("total_usd").map(Fact::TotalCost);
    total.or_else(|| was_told.then_some(Fact::UnreadableCost))
}

fn read_usage(fields: &mut Fields<'_>) -> Option<Fact> {
    let tokens = [
        fields.count("input_tokens"),
        fields.count("cache_read_tokens"),
        fields.count("cache_write_tokens"),
        fields.count("output_tokens"),
    ];
    let was_told = fields.has("cost_usd") && !fields.is_null("cost_usd");
    let cost = fields.money("cost_usd");
    if cost.is_none() && tokens.iter().all(Option::is_none) {
        return was_told.then_some(Fact::UnreadableCost);
    }
    let [input, cache_read, cache_write, output] = tokens.map(Option::unwrap_or_default);
    Some(Fact::Usage {
        id: read_id(fields),
        usage: Usage { input, cache_read, cache_write, output, cost, estimate: None },
    })
}

/// Returns the message id. A number is one too: a response whose id got lost would be counted twice.
fn read_id(fields: &mut Fields<'_>) -> Option<String> {
    let raw = fields.raw("id")?;
    let is_number = raw.get().starts_with(|char: char| char == '-' || char.is_ascii_digit());
    let id = json::text(&raw).or_else(|| is_number.then(|| raw.get().to_owned()));
    if id.is_none() {
        fields.flaw();
    }
    id.map(|id| one_line(&id, NAME_CHARS))
}

fn read_text(fields: &mut Fields<'_>) -> Option<Fact> {
    let role = fields.text("role").unwrap_or_default();
    let role = one_line(&role, NAME_CHARS);
    let (text, _) = cut(fields.text("text")?, TEXT_BYTES);
    Some(match fields.flag("piece") {
        Some(true) => Fact::Piece { role, text },
        Some(false) | None => Fact::Text { role, text },
    })
}

fn read_smoke(fields: &mut Fields<'_>) -> Fact {
    let text = one_line(&fields.text("text").unwrap_or_default(), STEP_CHARS);
    Fact::Smoke { ok: fields.flag("ok"), text }
}

#[cfg(test)]
mod tests;
