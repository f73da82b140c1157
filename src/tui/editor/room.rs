//! Room for long texts: which of those kept beside drafts are let go, and the draft as a whole put in place of another.
//!
//! What may go here: when there is room, and what makes some. What may not: the table of long texts itself.

use std::collections::HashSet;

use super::{Editor, MOST_DRAFT, TOO_LONG, attachments, clean, load};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;

impl Editor {
    /// Keeps a text beside the draft and returns the character that stands for it, unless it is too much.
    pub(super) fn keep(&mut self, text: String) -> Option<char> {
        self.let_go();
        self.attachments.keep(text, attachments::MOST_BYTES)
    }

    /// Lets the long texts go that neither a draft nor its undo can bring back.
    pub(super) fn let_go(&mut self) {
        let held = self.held();
        self.attachments.retain(&held);
    }

    /// Returns the characters for long texts that drafts have or have had since their undo began.
    fn held(&self) -> HashSet<char> {
        let sent = self.sent.as_ref().map(|sent| &sent.text);
        let aside = [self.aside.as_ref(), sent].into_iter().flatten();
        let texts = aside.chain(self.history.left()).chain([&self.text]);
        texts.flat_map(|text| text.marks().iter().copied()).collect()
    }

    /// Says whether so many more bytes would make the draft longer than can be kept.
    pub(super) fn is_full(&self, more: usize) -> bool {
        self.attachments.bytes() + self.text.bytes() + more > MOST_DRAFT
    }

    /// Replaces the draft (from `$EDITOR`). The draft as it was stays if there is no room, and that is said.
    pub(crate) fn set_draft(&mut self, text: &str, world: &World) -> Vec<Wish> {
        if world.is_read_only || text == self.whole() {
            return Vec::new();
        }
        self.text.go((0, 0), false);
        let end = self.text.end();
        self.text.go(end, true);
        if text.is_empty() {
            if self.text.delete_to(end) {
                self.changed();
            }
            return Vec::new();
        }
        if self.insert(text).is_empty() {
            return Vec::new();
        }
        self.replace(&clean(text))
    }

    /// Replaces the draft with its undo, whose room goes to what was written last.
    fn replace(&mut self, text: &str) -> Vec<Wish> {
        let before = std::mem::take(&mut self.text);
        let held = self.held();
        if self.attachments.bytes_of(&held) + text.len() > MOST_DRAFT {
            self.text = before;
            return vec![Wish::Flash(attachments::FULL.to_owned(), Tone::Warning)];
        }
        self.attachments.retain(&held);
        let Some(loaded) = load(text, &mut self.attachments) else {
            // All characters that can stand for a text have been used.
            self.changed();
            return vec![Wish::Flash(TOO_LONG.to_owned(), Tone::Warning)];
        };
        self.text = loaded;
        self.changed();
        Vec::new()
    }
}
