//! Looking keys up in the table.
//!
//! What may go here: what a key does in a place, how the key for something is called. What may not: the table itself.

use crossterm::event::{KeyCode, KeyEvent};

use super::{Action, Binding, KEYMAP, Place, SHIFT};

/// Returns how the first key is called that does something in a place; `None` if the table has none.
pub(crate) const fn name_of(place: Place, action: Action) -> Option<&'static str> {
    let mut rest = KEYMAP;
    while let [binding, others @ ..] = rest {
        // Nothing but numbers can be compared in a constant.
        if binding.place as u8 == place as u8 && binding.action as u8 == action as u8 {
            return Some(binding.shown);
        }
        rest = others;
    }
    None
}

/// Gives the name of a key for a sentence, by its place and its action. A key that the table does not have is an error
/// when the program is built.
macro_rules! key_name {
    ($place:ident, $action:ident) => {
        const {
            let (place, action) =
                ($crate::tui::keymap::Place::$place, $crate::tui::keymap::Action::$action);
            $crate::tui::keymap::name_of(place, action).expect("the table of keys has it")
        }
    };
}
pub(crate) use key_name;

/// Returns what a key does in a place, if anything. A screen is drawn anew whatever stands over it.
pub(in crate::tui) fn action(place: Place, pressed: KeyEvent) -> Option<Action> {
    let find = |place: Place| {
        let mut there = KEYMAP.iter().filter(|binding| binding.place == place);
        there.find(|binding| binding.is(pressed)).map(|binding| binding.action)
    };
    let redraw = || find(Place::Everywhere).filter(|action| *action == Action::Redraw);
    find(place).or_else(|| place.shared().and_then(find)).or_else(redraw)
}

/// Returns what the footer shows for a place, most important first.
pub(in crate::tui) fn footer(place: Place) -> Vec<&'static Binding> {
    let is_here = |other: Place| other == place || Some(other) == place.shared();
    let mut shown: Vec<&Binding> =
        KEYMAP.iter().filter(|binding| binding.footer > 0 && is_here(binding.place)).collect();
    shown.sort_by_key(|binding| binding.footer);
    shown
}

impl Binding {
    /// Says whether this is the key that was pressed. Terminals tell a capital letter with or without Shift.
    pub(super) fn is(&self, pressed: KeyEvent) -> bool {
        let modifiers = match pressed.code {
            KeyCode::Char(_) => pressed.modifiers.difference(SHIFT),
            _ => pressed.modifiers,
        };
        self.code == pressed.code && self.modifiers == modifiers
    }

    /// Returns the key as an event, for a click on its name.
    pub fn event(&self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }
}
