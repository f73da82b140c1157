//! An amount of money that is being typed.
//!
//! What may go here: the line, what it reads as, why it is refused. What may not: what the amount is for.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::writer::NAMES;
use crate::core::NanoUsd;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{cells, cut_cells, fit, one_line};
use crate::words::report_line::exact;

/// Most characters; no amount is longer.
const LONGEST: usize = 24;

/// The line.
#[derive(Debug)]
pub(super) struct Amount {
    characters: Vec<char>,
    caret: usize,
    /// What stands there was proposed; the first character that is typed replaces it.
    is_proposal: bool,
}

impl Amount {
    /// Begins with a proposal, or empty.
    pub(super) fn new(proposal: Option<NanoUsd>) -> Self {
        let mut amount = Self { characters: Vec::new(), caret: 0, is_proposal: true };
        if let Some(proposal) = proposal {
            amount.propose(proposal);
        }
        amount
    }

    /// Puts an amount into the line as if it had been proposed.
    pub(super) fn propose(&mut self, proposal: NanoUsd) {
        self.characters = proposal.to_exact().chars().collect();
        self.caret = self.characters.len();
        self.is_proposal = true;
    }

    /// Says whether nobody has typed anything yet.
    pub(super) fn is_proposal(&self) -> bool {
        self.is_proposal
    }

    /// Says whether there is nothing in the line.
    pub(super) fn is_empty(&self) -> bool {
        self.text().trim().is_empty()
    }

    fn text(&self) -> String {
        self.characters.iter().collect()
    }

    /// Reads the line; the error is a sentence.
    pub(super) fn read(&self) -> Result<NanoUsd, String> {
        let text = self.text();
        if self.is_empty() {
            return Err("type an amount of dollars, like 2 or 1.50".to_owned());
        }
        text.parse().map_err(|error| format!("'{}' {error}", one_line(&text)))
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
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => self.clear(),
            KeyCode::Char(character) if !is_command => self.insert(character),
            KeyCode::Backspace | KeyCode::Delete if self.is_proposal => self.clear(),
            KeyCode::Backspace if self.caret > 0 => {
                self.caret -= 1;
                self.characters.remove(self.caret);
            }
            KeyCode::Delete if self.caret < self.characters.len() => {
                self.characters.remove(self.caret);
            }
            KeyCode::Left => self.caret = self.caret.saturating_sub(1),
            KeyCode::Right => self.caret = (self.caret + 1).min(self.characters.len()),
            KeyCode::Home => self.caret = 0,
            KeyCode::End => self.caret = self.characters.len(),
            _ => return,
        }
        self.is_proposal = false;
    }

    /// Takes pasted text.
    pub(super) fn paste(&mut self, text: &str) {
        for character in one_line(text).chars().take(LONGEST) {
            self.insert(character);
        }
    }

    fn clear(&mut self) {
        self.characters.clear();
        self.caret = 0;
        self.is_proposal = false;
    }

    fn insert(&mut self, character: char) {
        if self.is_proposal {
            self.clear();
        }
        if self.characters.len() < LONGEST && !character.is_control() {
            self.characters.insert(self.caret, character);
            self.caret += 1;
        }
    }

    /// Returns the line with a name before it, and the column of the caret.
    pub(super) fn line(&self, name: &str, world: &World, width: usize) -> (Line<'static>, usize) {
        let text = world.theme.words.text(&one_line(&self.text()));
        let sign = if text.starts_with('$') { "" } else { "$" };
        let head = format!("{}{sign}", fit(name, NAMES.min(width / 2)));
        let shown = cut_cells(&text, width.saturating_sub(cells(&head) + 1));
        let before: String = self.characters.iter().take(self.caret).collect();
        let caret = cells(&head) + cells(&world.theme.words.text(&one_line(&before)));
        let mut style = world.theme.style(Tone::Strong);
        style = style.add_modifier(if self.is_proposal {
            Modifier::REVERSED
        } else {
            Modifier::UNDERLINED
        });
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
        assert_eq!(amount.text(), "15.00");
        press(&mut amount, KeyCode::Backspace);
        press(&mut amount, KeyCode::Delete);
        assert_eq!(amount.text(), ".00");
        amount.paste("7\u{1b}[31m\n");
        assert_eq!(amount.text(), "7.00");
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
        assert_eq!(amount.text().len(), LONGEST);
    }
}
