//! A search line while it is typed: the same keys and looks in every pane that has one, and in help.
//!
//! What may go here: what a key or a paste makes of the text, drawing it. What may not: what is searched.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use super::cells::put;
use super::theme::{Theme, Tone};
use crate::words::plain_text::{cells, one_line};

/// Most bytes of a search: more is a slip of the clipboard.
const MOST: usize = 256;

/// Cells of the text that stay beside what is said at the end of the line.
const LEAST: u16 = 4;

/// Types a key into the text; says whether there was anything to delete for one that deletes.
pub(super) fn key(text: &mut String, key: KeyEvent) -> bool {
    let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char(character) if is_plain => add(text, character.encode_utf8(&mut [0; 4])),
        KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => text.clear(),
        KeyCode::Backspace => {
            let last = text.grapheme_indices(true).next_back();
            let Some(end) = last.map(|(end, _)| end) else { return false };
            text.truncate(end);
        }
        _ => {}
    }
    true
}

/// Pastes into the text, on one line.
pub(super) fn paste(text: &mut String, pasted: &str) {
    let head: String = pasted.chars().take(MOST).collect();
    add(text, &one_line(&head));
}

fn add(text: &mut String, more: &str) {
    if text.len() + more.len() <= MOST {
        text.push_str(more);
    }
}

/// Draws it over a row, with a hint as long as nothing is typed and with what is found at its end; returns the cell of
/// the caret.
pub(super) fn draw(
    text: &str,
    (hint, found): (&str, &str),
    row: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) -> Option<Position> {
    if row.is_empty() {
        return None;
    }
    put(buffer, (row.x, row.y), &" ".repeat(row.width.into()), row.width, Style::new(), theme);
    let wide = u16::try_from(cells(found)).unwrap_or(u16::MAX);
    let mut left = row.width.saturating_sub(2);
    let beside = left.checked_sub(wide.saturating_add(2)).filter(|beside| *beside >= LEAST);
    if let Some(beside) = beside.filter(|_| wide > 0) {
        let at = (row.right() - wide - 1, row.y);
        put(buffer, at, found, wide, theme.style(Tone::Dim), theme);
        left = beside;
    }
    let x = put(buffer, (row.x, row.y), "/", 1, theme.style(Tone::Key), theme);
    if text.is_empty() {
        put(buffer, (x.saturating_add(1), row.y), hint, left, theme.style(Tone::Dim), theme);
        return Some(Position::new(x.min(row.right() - 1), row.y));
    }
    let text = theme.words.text(text);
    let x = put(buffer, (x, row.y), end_of(&text, left.into()), left, Style::new(), theme);
    Some(Position::new(x.min(row.right() - 1), row.y))
}

/// Returns the end of a text that fits, so that what is being typed is in sight.
pub(super) fn end_of(text: &str, width: usize) -> &str {
    let mut starts = text.grapheme_indices(true).map(|(start, _)| start);
    let fits = |start: &usize| text.get(*start..).is_some_and(|rest| cells(rest) <= width);
    starts.find(fits).and_then(|start| text.get(start..)).unwrap_or_default()
}
