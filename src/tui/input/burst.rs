//! Tells a paste from typing on terminals that do not mark pastes.
//!
//! What may go here: what a row of keys that came at once is. What may not: reading, clocks; the reader says when keys
//! came at once. Whatever comes with such a paste never acts as keys: its Enter dispatches nothing, its letters stop no agent.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};

use super::Input;
use super::decode::clean;

/// Keys at once of which a hand may be the source: a fast typist beside a slow connection.
const FEW: usize = 5;
/// Keys at once that no hand sends, whether there is a line feed among them or not.
const MANY: usize = 24;
/// Different keys among [`MANY`] from which on they are text; a key that is held down is always the same one.
const DIFFERENT: usize = 8;
/// Most keys that are kept before they are given on as a part of a paste.
const MOST_KEYS: usize = 256 * 1024;
/// Turns of the wheel that one batch can hold. More are a wheel that spins freely, and would only be late.
const MOST_TURNS: usize = 12;

/// Keys of text that came at once and may be a paste.
#[derive(Debug, Default)]
pub(crate) struct Burst {
    keys: Vec<KeyEvent>,
    /// A part of this burst has been given on as a paste already, so the rest is one too.
    is_paste: bool,
    /// The terminal marks pastes: then keys are typed, however many come at once over a slow connection.
    has_marks: bool,
}

impl Burst {
    /// Begins on a terminal that is known to mark pastes, or not known to.
    pub(crate) fn new(has_marks: bool) -> Self {
        Self { has_marks, ..Self::default() }
    }

    /// Takes the events of one read and returns those that are what they seem. Keys that may be part of a paste are
    /// kept until [`Burst::flush`].
    pub(crate) fn sift(&mut self, events: Vec<Input>) -> Vec<Input> {
        let mut sifted = Vec::with_capacity(events.len());
        for event in events {
            match event {
                Input::Key(key) if is_text(key) && !self.has_marks => {
                    self.keys.push(key);
                    if self.keys.len() >= MOST_KEYS {
                        self.give(&mut sifted);
                        self.is_paste = true;
                    }
                }
                other => {
                    self.flush(&mut sifted);
                    self.has_marks |= matches!(other, Input::Paste { .. });
                    push_merged(&mut sifted, other);
                }
            }
        }
        if !self.waits() {
            self.flush(&mut sifted);
        }
        sifted
    }

    /// Says whether keys are kept because more may come at once.
    pub(crate) fn waits(&self) -> bool {
        self.is_paste || self.keys.len() > FEW
    }

    /// Gives what was kept: nothing came at once after it.
    pub(crate) fn flush(&mut self, into: &mut Vec<Input>) {
        self.give(into);
        self.is_paste = false;
    }

    fn give(&mut self, into: &mut Vec<Input>) {
        let keys = std::mem::take(&mut self.keys);
        if keys.is_empty() {
            return;
        }
        if self.is_paste || is_pasted(&keys) {
            let text: String = keys.iter().filter_map(|key| text_of(*key)).collect();
            into.push(Input::Paste { text: clean(&text), dropped: 0 });
        } else {
            into.extend(keys.into_iter().map(Input::Key));
        }
    }
}

/// Adds an event. Drags to the same place's neighbours are one drag to the last of them, and a wheel is bounded.
fn push_merged(events: &mut Vec<Input>, event: Input) {
    if let Input::Mouse(mouse) = &event {
        match mouse.kind {
            MouseEventKind::Drag(_) => {
                if let Some(Input::Mouse(last)) = events.last_mut()
                    && last.kind == mouse.kind
                {
                    *last = *mouse;
                    return;
                }
            }
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
                let turns = events.iter().rev().take_while(|one| is_turn(one, *mouse)).count();
                if turns >= MOST_TURNS {
                    return;
                }
            }
            _ => {}
        }
    }
    events.push(event);
}

fn is_turn(event: &Input, like: MouseEvent) -> bool {
    matches!(event, Input::Mouse(mouse) if mouse.kind == like.kind)
}

/// The character that a key types; `None` for a key that types none.
fn text_of(key: KeyEvent) -> Option<char> {
    match (key.code, key.modifiers) {
        (KeyCode::Char(one), KeyModifiers::NONE | KeyModifiers::SHIFT) => Some(one),
        (KeyCode::Enter, KeyModifiers::NONE) | (KeyCode::Char('j'), KeyModifiers::CONTROL) => {
            Some('\n')
        }
        (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
        _ => None,
    }
}

fn is_text(key: KeyEvent) -> bool {
    text_of(key).is_some()
}

/// Says whether keys that came at once are a paste.
fn is_pasted(keys: &[KeyEvent]) -> bool {
    let mut different: Vec<char> = Vec::new();
    let mut has_line_feed = false;
    for one in keys.iter().filter_map(|key| text_of(*key)) {
        if one == '\n' {
            has_line_feed = true;
        } else if different.len() < DIFFERENT && !different.contains(&one) {
            different.push(one);
        }
    }
    // One key and Enter is a key that is held down, then Enter.
    let is_lines = has_line_feed && keys.len() > FEW && different.len() > 1;
    is_lines || (keys.len() >= MANY && different.len() >= DIFFERENT)
}

#[cfg(test)]
mod tests;
