//! An amount of money that is being typed.
//!
//! What may go here: the line, what it reads as, why it is refused. What may not: what the amount is for.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::entry::Entry;
use super::writer::NAMES;
use crate::core::NanoUsd;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{cells, cut_cells, fit, one_line};
use crate::words::report_line::exact;

/// Most bytes; no amount is longer.
const LONGEST: usize = 24;

/// The line.
#[derive(Debug)]
pub(super) struct Amount {
    entry: Entry,
    /// What stands there was proposed; the first character that is typed replaces it.
    is_proposal: bool,
}

impl Amount {
    /// Begins with a proposal, or empty.
    pub(super) fn new(proposal: Option<NanoUsd>) -> Self {
        let text = proposal.map(NanoUsd::to_exact).unwrap_or_default();
        Self { entry: Entry::new(text, LONGEST), is_proposal: true }
    }

    /// Puts an amount into the line as if it had been proposed.
    pub(super) fn propose(&mut self, proposal: NanoUsd) {
        *self = Self::new(Some(proposal));
    }

    /// Says whether nobody has typed anything yet.
    pub(super) fn is_proposal(&self) -> bool {
        self.is_proposal
    }

    /// Says whether there is nothing in the line.
    pub(super) fn is_empty(&self) -> bool {
        self.entry.text().trim().is_empty()
    }

    /// Reads the line; the error is a sentence.
    pub(super) fn read(&self) -> Result<NanoUsd, String> {
        let text = self.entry.text();
        if self.is_empty() {
            return Err("type an amount of dollars, like 2 or 1.50".to_owned());
        }
        text.parse().map_err(|error| format!("'{}' {error}", one_line(text)))
    }

    /// Reads an amount that has to be more than what is spent already.
    pub(super) fn read_above(&self, spent: NanoUsd) -> Result<NanoUsd, String> {
        let amount = self.read()?;
        if amount <= spent {
            return Err(format!(
                "{} would let nothing start: {} is spent; give more than that",
                exact(amount),
                exact(spent)
            ));
        }
        Ok(amount)
    }

    /// Takes a key that has no other meaning.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let is_command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let replaces = match key.code {
            KeyCode::Char(_) => !is_command,
            KeyCode::Backspace | KeyCode::Delete => true,
            _ => false,
        };
        if replaces && self.is_proposal {
            self.entry.clear();
        }
        if self.entry.key(key) {
            self.is_proposal = false;
        }
    }

    /// Takes pasted text.
    pub(super) fn paste(&mut self, text: &str) {
        let text: String = one_line(text).chars().take(LONGEST).collect();
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_proposal) {
            self.entry.clear();
        }
        self.entry.insert(&text);
    }

    /// Returns the line with a name before it, and the column of the caret.
    pub(super) fn line(&self, name: &str, world: &World, width: usize) -> (Line<'static>, usize) {
        let sign = if self.entry.text().starts_with('$') { "" } else { "$" };
        let head = format!("{}{sign}", fit(name, NAMES.min(width / 2)));
        let room = width.saturating_sub(cells(&head));
        let (text, caret) = self.entry.shown(room);
        let shown = cut_cells(&world.theme.words.text(&text), room);
        let mut style = world.theme.style(Tone::Strong);
        style = style.add_modifier(if self.is_proposal {
            Modifier::REVERSED
        } else {
            Modifier::UNDERLINED
        });
        let caret = cells(&head) + caret;
        let line = Line::from(vec![Span::raw(head), Span::styled(shown, style)]);
        (line, caret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(amount: &mut Amount, text: &str) {
        for character in text.chars() {
            amount.key(KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE));
        }
    }

    fn press(amount: &mut Amount, code: KeyCode) {
        amount.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn typing_replaces_a_proposal_and_arrows_keep_it() {
        let mut amount = Amount::new(Some(NanoUsd::from_dollars(5)));
        assert_eq!(amount.read(), Ok(NanoUsd::from_dollars(5)));
        typed(&mut amount, "$2");
        assert_eq!(amount.read(), Ok(NanoUsd::from_dollars(2)));
        amount.propose(NanoUsd::from_dollars(5));
        press(&mut amount, KeyCode::Home);
        typed(&mut amount, "1");
        assert_eq!(amount.entry.text(), "15.00");
        press(&mut amount, KeyCode::Backspace);
        press(&mut amount, KeyCode::Delete);
        assert_eq!(amount.entry.text(), ".00");
        amount.paste("7\u{1b}[31m\n");
        assert_eq!(amount.entry.text(), "7.00");
    }

    #[test]
    fn what_is_no_amount_or_too_little_is_refused_with_the_reason() {
        let mut amount = Amount::new(None);
        assert!(amount.read().unwrap_err().starts_with("type an amount"));
        typed(&mut amount, "ten");
        assert!(amount.read().unwrap_err().starts_with("'ten' is not an amount"));
        amount.propose(NanoUsd::from_dollars(2));
        assert_eq!(
            amount.read_above(NanoUsd::from_dollars(2)).unwrap_err(),
            "$2.00 would let nothing start: $2.00 is spent; give more than that"
        );
        typed(&mut amount, &"9".repeat(80));
        assert_eq!(amount.entry.text().len(), LONGEST);
    }
}
