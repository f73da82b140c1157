//! What codex records of a session: `sessions/YEAR/MONTH/DAY/rollout-TIME-THREAD.jsonl`, with the tokens of each response.
//!
//! What may go here: where that file is and what its lines mean. What may not: the events of its output.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use memchr::memmem;
use serde_json::value::RawValue;

use crate::adapters::event_stream::model as model_told;
use crate::adapters::json::Fields;
use crate::adapters::session_files::{Record, Spent, moment, safe_id};
use crate::adapters::{Part, Prices, ReaderStart, SessionFiles, SessionHome, Sessions};
use crate::core::{Fact, Usage};

/// Where its sessions are.
pub(super) const HOME: SessionHome = SessionHome { variable: "CODEX_HOME", default: ".codex" };
/// What a line has in it that is looked at.
const MARKS: [&[u8]; 3] = [b"\"token_usage_record\"", b"\"token_count\"", b"\"turn_context\""];

/// The record of one session.
pub(super) struct Session {
    sessions: Sessions,
    prices: Arc<Prices>,
    spent: Spent,
    /// The model that answers.
    model: Option<String>,
    /// The one that was told, by whoever it was.
    told_model: Option<String>,
    /// Responses are told one by one, by their ids, and running totals say nothing more.
    has_responses: bool,
}

impl Record for Session {
    fn files(&self, thread: &str) -> Option<SessionFiles> {
        let thread = safe_id(thread)?;
        let begun = begun(thread)?;
        let days = [begun.checked_sub(1.day()), Ok(begun), begun.checked_add(1.day())];
        let way = |day: Date| {
            let parts = ["sessions".to_owned(), format!("{:04}", day.year())];
            let parts =
                parts.into_iter().chain([day.month(), day.day()].map(|it| format!("{it:02}")));
            let file = Part::Like("rollout-", format!("-{thread}.jsonl"));
            parts.map(Part::Named).chain([file]).collect()
        };
        let ways = days.into_iter().flatten().map(way).collect();
        Some(SessionFiles { folder: self.sessions.folder.clone(), ways, says: None })
    }

    fn line(&mut self, line: &[u8]) {
        // Most lines are long and have no numbers.
        if MARKS.iter().any(|mark| memmem::find(line, mark).is_some()) {
            let _ = self.read(line);
        }
    }

    fn tell(&mut self, facts: &mut Vec<Fact>) {
        if self.told_model != self.model {
            self.told_model.clone_from(&self.model);
            facts.extend(self.model.as_deref().and_then(model_told));
        }
        self.spent.tell(facts);
    }
}

impl Session {
    /// Begins to read what is recorded; `None` where nobody knows where that is. `model` is what the reader of the output
    /// tells.
    pub(super) fn new(start: &ReaderStart, model: Option<String>) -> Option<Self> {
        let sessions = start.sessions.clone()?;
        let spent = Spent::new(sessions.since);
        let prices = Arc::clone(&start.prices);
        let told_model = model.clone();
        Some(Self { sessions, prices, spent, model, told_model, has_responses: false })
    }

    fn read(&mut self, line: &[u8]) -> Option<()> {
        let mut fields = Fields::parse(line, &["timestamp", "type", "payload"])?;
        let at = moment(&mut fields, "timestamp");
        let wanted = ["type", "response_id", "usage", "info", "model"];
        let mut payload = fields.inner("payload", &wanted)?;
        match fields.text("type")?.as_str() {
            "turn_context" => self.model = Some(payload.text("model")?),
            "token_usage_record" => {
                let usage = self.priced(usage(&payload.raw("usage")?)?);
                self.has_responses |= at? >= self.sessions.since;
                self.spent.response(&payload.text("response_id")?, at?, usage);
            }
            "event_msg" if payload.text("type")? == "token_count" => {
                let mut info = payload.inner("info", &["total_token_usage", "last_token_usage"])?;
                let total = usage(&info.raw("total_token_usage")?)?;
                let last = self.priced(usage(&info.raw("last_token_usage")?)?);
                if !self.has_responses {
                    // The same total may be told again, and is the same response.
                    let id =
                        format!("{} {}", total.input.checked_add(total.cache_read)?, total.output);
                    self.spent.response(&id, at?, last);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn priced(&self, mut usage: Usage) -> Usage {
        let price = |model: &str| self.prices.estimate(Some("openai"), model, &usage);
        usage.estimate = self.model.as_deref().and_then(price);
        usage
    }
}

/// Reads one set of numbers. Cached input is a part of the input, thinking a part of the output.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let wanted =
        ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"];
    let mut fields = Fields::of(raw, &wanted)?;
    let input = fields.count("input_tokens")?;
    let output = fields.count("output_tokens")?;
    let cache_read = fields.count("cached_input_tokens").unwrap_or_default();
    let cache_write = fields.count("cache_write_input_tokens").unwrap_or_default();
    let input = input.checked_sub(cache_read)?.checked_sub(cache_write)?;
    let usage = Usage { input, cache_read, cache_write, output, ..Usage::default() };
    (!fields.is_flawed()).then_some(usage)
}

/// Returns the day, in UTC, on which a thread began: its id is a UUID of version 7, whose first 48 bits are milliseconds.
fn begun(thread: &str) -> Option<Date> {
    let mut parts = thread.split('-');
    let (high, low, rest) = (parts.next()?, parts.next()?, parts.next()?);
    if (high.len(), low.len()) != (8, 4) || !rest.starts_with('7') {
        return None;
    }
    let time = i64::from_str_radix(&format!("{high}{low}"), 16).ok()?;
    Some(TimeZone::UTC.to_datetime(Timestamp::from_millisecond(time).ok()?).date())
}
