//! One line of text that is typed in a modal, edited by grapheme.
//!
//! What may go here: edits, and the part that fits. What may not: what the text means.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use crate::words::plain_text::{cells, cut_cells, lines};

/// The line. Line breaks of a pasted text stay in it and are shown as a sign.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    text: String,
    /// Bytes before the caret.
    caret: usize,
    /// Bytes that it can have.
    most: usize,
}

impl Entry {
    /// Makes a line of at most `most` bytes with the caret at its end.
    pub(super) fn new(text: String, most: usize) -> Self {
        let caret = text.len();
        Self { text, caret, most }
    }

    /// Returns the text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn before(&self) -> &str {
        self.text.get(..self.caret).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.caret..).unwrap_or_default()
    }

    /// Deletes all of it.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.caret = 0;
    }

    /// Takes a key that has no other meaning; says whether it has one here.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        let is_command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => self.clear(),
            KeyCode::Char(character) if !is_command => self.insert(&character.to_string()),
            KeyCode::Backspace => {
                let rest = self.after().to_owned();
                self.left();
                self.text.truncate(self.caret);
                self.text.push_str(&rest);
            }
            KeyCode::Delete => {
                let length = self.after().graphemes(true).next().map_or(0, str::len);
                self.text.replace_range(self.caret..self.caret + length, "");
            }
            KeyCode::Left => self.left(),
            KeyCode::Right => self.right(),
            KeyCode::Home => self.caret = 0,
            KeyCode::End => self.caret = self.text.len(),
            _ => return false,
        }
        true
    }

    /// Inserts a text, without what steers terminals.
    pub(super) fn insert(&mut self, text: &str) {
        let text = lines(text);
        if self.text.len() + text.len() <= self.most {
            self.text.insert_str(self.caret, &text);
            self.caret += text.len();
        }
    }

    /// Moves the caret one grapheme to the left.
    pub(super) fn left(&mut self) {
        let length = self.before().graphemes(true).next_back().map_or(0, str::len);
        self.caret -= length;
    }

    /// Moves the caret one grapheme to the right.
    pub(super) fn right(&mut self) {
        self.caret += self.after().graphemes(true).next().map_or(0, str::len);
    }

    /// Returns the part around the caret that fits into `width` cells, and the cell of the caret in it.
    pub(super) fn shown(&self, width: usize) -> (String, usize) {
        let shown = |text: &str| lines(text).replace('\n', " / ");
        let mut before = shown(self.before());
        // One cell stays free for the caret.
        let room = width.saturating_sub(1);
        if cells(&before) > room {
            let mut kept = String::new();
            for grapheme in before.graphemes(true).rev() {
                if cells(&kept) + cells(grapheme) + 1 > room {
                    break;
                }
                kept.insert_str(0, grapheme);
            }
            before = format!("…{kept}");
        }
        let caret = cells(&before).min(room);
        let rest = cut_cells(&shown(self.after()), width.saturating_sub(caret));
        (format!("{before}{rest}"), caret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(entry: &mut Entry, code: KeyCode) {
        entry.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn graphemes_are_typed_passed_and_deleted_whole() {
        let mut entry = Entry::new("a".to_owned(), 99);
        entry.insert("👨‍👩‍👧e\u{301}\u{1b}[31m");
        entry.left();
        press(&mut entry, KeyCode::Backspace);
        assert_eq!(entry.text(), "ae\u{301}");
        press(&mut entry, KeyCode::Delete);
        press(&mut entry, KeyCode::Delete);
        assert_eq!(entry.text(), "a");
        press(&mut entry, KeyCode::Home);
        press(&mut entry, KeyCode::Backspace);
        press(&mut entry, KeyCode::Char('b'));
        entry.right();
        press(&mut entry, KeyCode::Char('c'));
        assert_eq!(entry.text(), "bac");
    }

    #[test]
    fn the_part_around_the_caret_is_shown_and_fits() {
        let entry = Entry::new("/a/very/long/日本語/path".to_owned(), 99);
        for width in 1..40 {
            let (text, caret) = entry.shown(width);
            assert!(cells(&text) <= width && caret < width, "{width}: {text}");
        }
        assert_eq!(entry.shown(9), ("…語/path".to_owned(), 8));
        assert_eq!(Entry::new("a\nb".to_owned(), 99).shown(9), ("a / b".to_owned(), 5));
        let (text, _) = Entry::new("A=\u{1b}]0;title\u{7}".to_owned(), 99).shown(30);
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}
