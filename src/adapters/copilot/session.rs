//! What copilot records of a session: `session-state/ID/events.jsonl`, with the tokens of each call of a model. Its output
//! tells none.
//!
//! What may go here: where that file is and what its lines mean. What may not: the events of its output.

use std::sync::Arc;

use memchr::memmem;

use crate::adapters::json::Fields;
use crate::adapters::session_files::{Record, Spent, moment, safe_id};
use crate::adapters::{Part, Prices, ReaderStart, SessionFiles, SessionHome, Sessions};
use crate::core::{Fact, Usage};

/// Where its sessions are.
pub(super) const HOME: SessionHome = SessionHome { variable: "COPILOT_HOME", default: ".copilot" };
/// What a line has in it that is looked at.
const MARK: &[u8] = b"\"session.usage_record\"";

/// The record of one session.
pub(super) struct Session {
    sessions: Sessions,
    prices: Arc<Prices>,
    spent: Spent,
}

impl Record for Session {
    fn files(&self, session: &str) -> Option<SessionFiles> {
        let way = ["session-state", safe_id(session)?, "events.jsonl"];
        let way = way.map(|name| Part::Named(name.to_owned())).to_vec();
        Some(SessionFiles { folder: self.sessions.folder.clone(), ways: vec![way], says: None })
    }

    fn line(&mut self, line: &[u8]) {
        if memmem::find(line, MARK).is_some() {
            let _ = self.read(line);
        }
    }

    fn tell(&mut self, facts: &mut Vec<Fact>) {
        self.spent.tell(facts);
    }
}

impl Session {
    /// Begins to read what is recorded; `None` where nobody knows where that is.
    pub(super) fn new(start: &ReaderStart) -> Option<Self> {
        let sessions = start.sessions.clone()?;
        let spent = Spent::new(sessions.since);
        Some(Self { sessions, prices: Arc::clone(&start.prices), spent })
    }

    fn read(&mut self, line: &[u8]) -> Option<()> {
        let mut fields = Fields::parse(line, &["type", "id", "timestamp", "data"])?;
        if fields.text("type")? != "session.usage_record" {
            return None;
        }
        let at = moment(&mut fields, "timestamp")?;
        let mut data = fields.inner("data", &["usage"])?;
        let wanted =
            ["model", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
        let mut told = data.inner("usage", &wanted)?;
        // Cached input is a part of the input, thinking a part of the output.
        let (prompt, output) = (told.count("inputTokens")?, told.count("outputTokens")?);
        let cache_read = told.count("cacheReadTokens").unwrap_or_default();
        let cache_write = told.count("cacheWriteTokens").unwrap_or_default();
        let input = prompt.checked_sub(cache_read)?.checked_sub(cache_write)?;
        if told.is_flawed() {
            return None;
        }
        let usage = Usage { input, cache_read, cache_write, output, ..Usage::default() };
        let price = |model: String| self.prices.estimate(None, &model, &usage);
        let estimate = told.text("model").and_then(price);
        self.spent.response(&fields.text("id")?, at, Usage { estimate, ..usage });
        Some(())
    }
}
