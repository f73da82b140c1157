//! The text of a search line while it is typed: the same keys in every pane that has one.
//!
//! What may go here: what a key or a paste makes of the text. What may not: what is searched.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::words::plain_text::one_line;

/// Most bytes of a search: more is a slip of the clipboard.
const MOST: usize = 256;

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
