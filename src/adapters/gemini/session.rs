//! What gemini records of a session: `.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`, with the tokens of each message.
//!
//! What may go here: where those files are and what their lines mean. What may not: the events of its output.

use std::sync::Arc;

use memchr::memmem;

use crate::adapters::json::Fields;
use crate::adapters::session_files::{Record, Spent, moment, safe_id};
use crate::adapters::{Part, Prices, ReaderStart, SessionFiles, SessionHome, Sessions};
use crate::core::{Fact, Usage};

/// Where its sessions are.
pub(super) const HOME: SessionHome = SessionHome { variable: "GEMINI_CLI_HOME", default: "" };
/// What a line has in it that is looked at.
const MARK: &[u8] = b"\"tokens\"";

/// The record of one session.
pub(super) struct Session {
    sessions: Sessions,
    prices: Arc<Prices>,
    spent: Spent,
}

impl Record for Session {
    fn files(&self, session: &str) -> Option<SessionFiles> {
        /// Characters of an id that are in the file's name.
        const SHORT: usize = 8;
        let session = safe_id(session)?;
        let short: String = session.chars().take(SHORT).collect();
        let named = |name: &str| Part::Named(name.to_owned());
        let file = Part::Like("session-", format!("-{short}.jsonl"));
        Some(SessionFiles {
            folder: self.sessions.folder.clone(),
            ways: vec![vec![named(".gemini"), named("tmp"), Part::Any, named("chats"), file]],
            says: Some(session.to_owned()),
        })
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
        let mut fields = Fields::parse(line, &["id", "timestamp", "type", "tokens", "model"])?;
        if fields.text("type")? != "gemini" {
            return None;
        }
        let at = moment(&mut fields, "timestamp")?;
        let wanted = ["input", "output", "cached", "total"];
        let mut tokens = fields.inner("tokens", &wanted)?;
        let (prompt, output) = (tokens.count("input")?, tokens.count("output")?);
        let cache_read = tokens.count("cached").unwrap_or_default();
        // As in the output, thinking is in the total alone.
        let with_thinking = tokens.count("total").unwrap_or_default().saturating_sub(prompt);
        let input = prompt.checked_sub(cache_read)?;
        if tokens.is_flawed() {
            return None;
        }
        let output = output.max(with_thinking);
        let usage = Usage { input, cache_read, output, ..Usage::default() };
        let price = |model: String| self.prices.estimate(Some("google"), &model, &usage);
        let estimate = fields.text("model").and_then(price);
        self.spent.response(&fields.text("id")?, at, Usage { estimate, ..usage });
        Some(())
    }
}
