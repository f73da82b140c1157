//! Turns the bytes that a terminal sends into keys, pastes, mouse and focus.
//!
//! What may go here: the state between two reads (a sequence or a paste that is not whole yet). What may not: reading,
//! clocks, what keys mean. Any bytes at all are taken; what is not understood is swallowed whole, never typed.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use memchr::memmem;

use super::Input;
use super::sequence::{Taken, character, take};

/// What begins a marked paste ends it with this.
const PASTE_END: &[u8] = b"\x1b[201~";
/// Most bytes of one paste. A longer one is a mistake of the person or a file that belongs into a file; it is cut.
pub(crate) const MOST_PASTE: usize = 16 * 1024 * 1024;
/// Most bytes of one sequence that is not whole. Answers to questions that a terminal was asked are shorter.
const MOST_SEQUENCE: usize = 16 * 1024;

/// Bytes so far that are not an event yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    held: Vec<u8>,
    /// A marked paste whose end has not come, and how many of its bytes cannot be the beginning of that end.
    paste: Option<Paste>,
}

#[derive(Debug, Default)]
struct Paste {
    bytes: Vec<u8>,
    searched: usize,
    dropped: u64,
}

/// What the decoder waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nothing: all that came has been given.
    Nothing,
    /// The rest of a sequence, which follows at once if there is one.
    Sequence,
    /// The rest of a marked paste.
    Paste,
}

impl Decoder {
    /// Takes bytes and adds the events that are whole now.
    pub(crate) fn feed(&mut self, bytes: &[u8], into: &mut Vec<Input>) {
        self.held.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_slice();
        while !rest.is_empty() {
            if self.paste.is_some() {
                rest = self.feed_paste(rest, into);
                continue;
            }
            match take(rest) {
                Taken::Event(event, used) => {
                    into.push(event);
                    rest = rest.get(used..).unwrap_or_default();
                }
                Taken::Nothing(used) => rest = rest.get(used.max(1)..).unwrap_or_default(),
                Taken::PasteBegins(used) => {
                    self.paste = Some(Paste::default());
                    rest = rest.get(used..).unwrap_or_default();
                }
                Taken::NotWhole if rest.len() > MOST_SEQUENCE => rest = &[],
                Taken::NotWhole => break,
            }
        }
        self.held = rest.to_vec();
    }

    /// Takes bytes of a paste and returns what comes after it.
    fn feed_paste<'b>(&mut self, bytes: &'b [u8], into: &mut Vec<Input>) -> &'b [u8] {
        let Some(paste) = &mut self.paste else { return bytes };
        let before = paste.bytes.len();
        paste.bytes.extend_from_slice(bytes);
        let unsearched = paste.bytes.get(paste.searched..).unwrap_or_default();
        if let Some(at) = memmem::find(unsearched, PASTE_END) {
            let end = paste.searched + at;
            let used = (end + PASTE_END.len()).saturating_sub(before);
            paste.bytes.truncate(end);
            into.extend(self.paste.take().map(Paste::into_event));
            return bytes.get(used..).unwrap_or_default();
        }
        // The end may be cut between two reads, so that its beginning is kept at the end even when the rest is dropped.
        paste.searched = paste.bytes.len().saturating_sub(PASTE_END.len() - 1);
        if paste.searched > MOST_PASTE {
            let over = paste.searched - MOST_PASTE;
            paste.bytes.drain(MOST_PASTE..paste.searched);
            paste.dropped = paste.dropped.saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
            paste.searched = MOST_PASTE;
        }
        &[]
    }

    /// Says what more may come.
    pub(crate) fn waits(&self) -> Waits {
        match (&self.paste, self.held.is_empty()) {
            (Some(_), _) => Waits::Paste,
            (None, false) => Waits::Sequence,
            (None, true) => Waits::Nothing,
        }
    }

    /// Stops to wait: what was held is what it is now. A lone escape is the key, and a paste without an end has ended.
    pub(crate) fn give_up(&mut self, into: &mut Vec<Input>) {
        into.extend(self.paste.take().map(Paste::into_event));
        let held = std::mem::take(&mut self.held);
        match held.as_slice() {
            [0x1b] => into.push(Input::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))),
            [0x1b, one] => {
                let key = character(char::from(*one));
                let modifiers = key.modifiers | KeyModifiers::ALT;
                into.push(Input::Key(KeyEvent::new(key.code, modifiers)));
            }
            _ => {}
        }
    }
}

impl Paste {
    fn into_event(self) -> Input {
        Input::Paste { text: clean(&String::from_utf8_lossy(&self.bytes)), dropped: self.dropped }
    }
}

/// Gives pasted text the line feeds that it has in a file, and takes out control characters, which nobody means.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(one) = characters.next() {
        match one {
            '\r' => {
                characters.next_if_eq(&'\n');
                cleaned.push('\n');
            }
            '\n' | '\t' => cleaned.push(one),
            one if one.is_control() => {}
            one => cleaned.push(one),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests;
