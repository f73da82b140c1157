//! Drafts that were dispatched before, and the unsent one while they are looked at.
//!
//! What may go here: which draft is before and after which. What may not: keeping them on disk.
//! There is one history for all folders and kinds, as shells have it, so that nothing is out of reach; but what was
//! dispatched from this folder to this kind comes first, since a command is no prompt and paths differ.

use std::collections::{HashMap, HashSet};

use super::text::Text;
use crate::tui::session::Dispatched;

/// Drafts kept: more than anybody goes back.
const MOST: usize = 500;
/// Bytes of all of them, of which one large paste can be most.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Where somebody types: the folder of the fleet and the kind that is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) folder: &'a str,
    pub(super) kind: &'a str,
}

/// Drafts in the order in which they were dispatched.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The oldest first.
    entries: Vec<Dispatched>,
    /// Places of entries in the order in which they are gone through, the last one first; made when that begins.
    order: Vec<usize>,
    /// Place in the order of the entry that is looked at; the one after the last is the unsent draft.
    at: usize,
    /// Texts as they were left, with their undo, by place among the entries, `None` for the unsent draft: nothing that
    /// was typed is lost by looking around.
    left: HashMap<Option<usize>, Text>,
    /// Those of earlier screens are still being read.
    is_awaited: bool,
}

impl History {
    /// Makes a history without drafts; those of earlier screens may still come.
    pub(super) fn new(is_awaited: bool) -> Self {
        Self { is_awaited, ..Self::default() }
    }

    /// Takes the drafts of earlier screens, the oldest first.
    pub(super) fn take_earlier(&mut self, mut earlier: Vec<Dispatched>) {
        self.is_awaited = false;
        earlier.drain(..earlier.len() - fitting(&earlier, &self.entries));
        let by = earlier.len();
        earlier.append(&mut self.entries);
        self.entries = earlier;
        for place in &mut self.order {
            *place += by;
        }
        let left = std::mem::take(&mut self.left);
        self.left = left.into_iter().map(|(place, text)| (place.map(|it| it + by), text)).collect();
    }

    /// Says whether drafts of earlier screens are still being read.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// Says whether no draft was left behind for another one.
    pub(super) fn is_untouched(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the dispatched draft that is looked at.
    pub(super) fn entry(&self) -> Option<&str> {
        let place = self.order.get(self.at)?;
        self.entries.get(*place).map(|entry| entry.text.as_str())
    }

    /// Returns the unsent draft while another is looked at.
    pub(super) fn unsent(&self) -> Option<&Text> {
        self.left.get(&None)
    }

    /// Returns the texts that were left behind for others.
    pub(super) fn left(&self) -> impl Iterator<Item = &Text> {
        self.left.values()
    }

    /// Says whether there is a draft before or after the one that is seen.
    pub(super) fn has(&self, is_back: bool) -> bool {
        match (self.is_at_end(), is_back) {
            (true, true) => !self.entries.is_empty(),
            (true, false) => false,
            (false, true) => self.at > 0,
            (false, false) => true,
        }
    }

    fn is_at_end(&self) -> bool {
        self.at == self.order.len()
    }

    /// Goes to the draft before or after; `text` is the one that is seen, and is replaced by that. `load` makes a text of
    /// an entry. Says whether there was one.
    pub(super) fn go(
        &mut self,
        is_back: bool,
        here: Here<'_>,
        text: &mut Text,
        load: impl FnOnce(&str) -> Option<Text>,
    ) -> bool {
        if self.is_at_end() && is_back {
            self.order = self.ordered(here);
            self.at = self.order.len();
        }
        let to = if is_back { self.at.checked_sub(1) } else { self.at.checked_add(1) };
        let Some(to) = to.filter(|to| *to <= self.order.len()) else { return false };
        let place = self.order.get(to).copied();
        let loaded = match (self.left.remove(&place), place.and_then(|it| self.entries.get(it))) {
            (Some(text), _) => Some(text),
            (None, Some(entry)) => load(&entry.text),
            (None, None) => Some(Text::default()),
        };
        let Some(loaded) = loaded else { return false };
        let before = self.order.get(self.at).copied();
        self.left.insert(before, std::mem::replace(text, loaded));
        self.at = to;
        true
    }

    /// Returns the places of the entries, those that are offered first at the end: of this kind before others, among
    /// those of this folder before others, and each text once.
    fn ordered(&self, here: Here<'_>) -> Vec<usize> {
        let nearness = |place: &usize| {
            let entry = self.entries.get(*place);
            entry.map(|entry| (entry.kind == here.kind, entry.folder == here.folder))
        };
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        // The sort is stable: among equally near ones the newest stays last.
        order.sort_by_key(nearness);
        let mut seen = HashSet::new();
        let text = |place: usize| self.entries.get(place).map(|entry| entry.text.as_str());
        let is_new: Vec<bool> = order.iter().rev().map(|place| seen.insert(text(*place))).collect();
        order.into_iter().zip(is_new.into_iter().rev()).filter(|it| it.1).map(|it| it.0).collect()
    }

    /// Adds a dispatched draft and goes to the end; returns the unsent draft that was left behind for another one.
    pub(super) fn push(&mut self, draft: Dispatched) -> Option<Text> {
        let unsent = self.left.remove(&None);
        self.left.clear();
        self.order.clear();
        self.at = 0;
        if self.entries.last() != Some(&draft) {
            self.entries.push(draft);
            let kept = fitting(&self.entries, &[]).max(1);
            self.entries.drain(..self.entries.len() - kept);
        }
        unsent
    }
}

/// Returns how many of the newest entries have room beside others.
fn fitting(entries: &[Dispatched], others: &[Dispatched]) -> usize {
    let mut bytes: usize = others.iter().map(|entry| entry.text.len()).sum();
    let fits = |entry: &&Dispatched| {
        bytes = bytes.saturating_add(entry.text.len());
        bytes <= MOST_BYTES
    };
    let most = MOST.saturating_sub(others.len());
    entries.iter().rev().take(most).take_while(fits).count()
}
