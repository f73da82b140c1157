//! A text that is typed in a modal, edited by grapheme.
//!
//! What may go here: edits, and the part that fits, in one row or in several. What may not: what the text means.

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

    /// Returns the rows around the caret, at most `most` of them in `width` cells each, with the row and the cell of the
    /// caret. Rows that are left out leave an ellipsis where they were;
    /// a line that was ended by its writer has a sign there.
    pub(super) fn shown_in_rows(&self, width: usize, most: usize) -> (Vec<String>, (usize, usize)) {
        // One cell stays free for the caret.
        let room = width.saturating_sub(1).max(1);
        let mut rows = wrapped(self.before(), room, 0);
        let caret = cells(rows.last().map_or("", String::as_str)).min(room);
        let row = rows.len() - 1;
        let mut rest = wrapped(self.after(), room, caret).into_iter();
        let first = rest.next().unwrap_or_default();
        if let Some(last) = rows.last_mut() {
            last.push_str(&first);
        }
        rows.extend(rest);
        let top = (row + 1).saturating_sub(most.max(1));
        let is_cut = rows.len() - top > most.max(1);
        let mut shown: Vec<String> = rows.into_iter().skip(top).take(most.max(1)).collect();
        let mut column = caret;
        if let Some(line) = shown.first_mut().filter(|_| top > 0) {
            *line = format!("…{}", line.graphemes(true).skip(1).collect::<String>());
            column = if row == top { column.max(1) } else { column };
        }
        if let Some(line) = shown.last_mut().filter(|_| is_cut) {
            *line = format!("{}…", cut_cells(line, room.saturating_sub(1)).trim_end_matches('…'));
        }
        (shown, (row - top, column))
    }
}

/// Returns the rows that a text takes in `width` cells if its first row has `taken` of them behind it: at least one.
fn wrapped(text: &str, width: usize, taken: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut column = taken;
    for grapheme in lines(text).graphemes(true) {
        let wide = if grapheme == "\n" { 0 } else { cells(grapheme) };
        if grapheme == "\n" {
            // Also an empty line is to be seen; the cell for it is the one that stays free.
            rows.last_mut().expect("there is always a row").push('↵');
        }
        if grapheme == "\n" || column + wide > width {
            rows.push(String::new());
            column = 0;
        }
        if grapheme != "\n" {
            rows.last_mut().expect("there is always a row").push_str(grapheme);
            column += wide;
        }
    }
    rows
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
    fn a_text_of_several_lines_is_shown_in_rows_around_the_caret() {
        let mut entry = Entry::new("first line\nsecond".to_owned(), 99);
        let rows = |entry: &Entry, most| {
            let (rows, caret) = entry.shown_in_rows(8, most);
            (rows.join("|"), caret)
        };
        assert_eq!(rows(&entry, 9), ("first l|ine↵|second".to_owned(), (2, 6)));
        assert_eq!(rows(&entry, 2), ("…ne↵|second".to_owned(), (1, 6)));
        press(&mut entry, KeyCode::Home);
        assert_eq!(rows(&entry, 9), ("first l|ine↵|second".to_owned(), (0, 0)));
        assert_eq!(rows(&entry, 2), ("first l|ine↵…".to_owned(), (0, 0)));
        for _ in 0..8 {
            entry.right();
        }
        assert_eq!(rows(&entry, 9), ("first l|ine↵|second".to_owned(), (1, 1)));
        assert_eq!(rows(&Entry::new("a\n".to_owned(), 9), 9), ("a↵|".to_owned(), (1, 0)));
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
        for width in 1..40 {
            for most in 1..4 {
                let (rows, (row, column)) = entry.shown_in_rows(width, most);
                assert!(rows.len() <= most && row < rows.len(), "{width} {most}: {rows:?} {row}");
                assert!(column < width.max(2), "{width} {most}: {column}");
                let is_wide = |it: &String| cells(it) > width.max(2);
                assert!(!rows.iter().any(is_wide), "{width} {most}: {rows:?}");
            }
        }
        let (text, _) = Entry::new("A=\u{1b}]0;title\u{7}".to_owned(), 99).shown(30);
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}
