//! Drafts that were dispatched before, and the unsent one while they are looked at.
//!
//! What may go here: which draft is before and after which. What may not: keeping them on disk.

use std::collections::HashMap;

use super::text::Text;

/// Drafts kept: more than anybody goes back.
const MOST: usize = 500;
/// Bytes of all of them, of which one large paste can be most.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Drafts in the order in which they were dispatched.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<String>,
    /// The entry that is looked at; the one after the last is the unsent draft.
    at: usize,
    /// Texts as they were left, with their undo: nothing that was typed is lost by looking around.
    left: HashMap<usize, Text>,
}

impl History {
    /// Makes a history, the oldest draft first.
    pub(super) fn new(entries: Vec<String>) -> Self {
        let mut history = Self { entries, ..Self::default() };
        history.trim();
        history
    }

    /// Says whether no draft was left behind for another one.
    pub(super) fn is_untouched(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the dispatched draft that is looked at.
    pub(super) fn entry(&self) -> Option<&str> {
        self.entries.get(self.at).map(String::as_str)
    }

    /// Returns the unsent draft while another is looked at.
    pub(super) fn unsent(&self) -> Option<&Text> {
        self.left.get(&self.entries.len())
    }

    /// Says whether there is a draft before or after the one that is seen.
    pub(super) fn has(&self, is_back: bool) -> bool {
        if is_back { self.at > 0 } else { self.at < self.entries.len() }
    }

    /// Goes to the draft before or after; `text` is the one that is seen, and is replaced by that. `load` makes a text of
    /// an entry. Says whether there was one.
    pub(super) fn go(
        &mut self,
        is_back: bool,
        text: &mut Text,
        load: impl FnOnce(&str) -> Option<Text>,
    ) -> bool {
        let to = if is_back { self.at.checked_sub(1) } else { self.at.checked_add(1) };
        let Some(to) = to.filter(|to| *to <= self.entries.len()) else { return false };
        let known = self.left.remove(&to);
        let loaded = match (known, self.entries.get(to)) {
            (Some(text), _) => Some(text),
            (None, Some(entry)) => load(entry),
            (None, None) => Some(Text::default()),
        };
        let Some(loaded) = loaded else { return false };
        self.left.insert(self.at, std::mem::replace(text, loaded));
        self.at = to;
        true
    }

    /// Adds a dispatched draft and goes to the end; returns the unsent draft that was left behind for another one.
    pub(super) fn push(&mut self, draft: String) -> Option<Text> {
        let unsent = self.left.remove(&self.entries.len());
        self.left.clear();
        if self.entries.last() != Some(&draft) {
            self.entries.push(draft);
            self.trim();
        }
        self.at = self.entries.len();
        unsent
    }

    fn trim(&mut self) {
        let mut bytes = 0;
        let fits = |entry: &&String| {
            bytes += entry.len();
            bytes <= MOST_BYTES
        };
        let kept = self.entries.iter().rev().take(MOST).take_while(fits).count();
        self.entries.drain(..self.entries.len() - kept.max(1).min(self.entries.len()));
        self.at = self.entries.len();
    }
}
