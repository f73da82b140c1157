//! Help: every key with what it does, from the one table, with a search that works while it is typed.
//!
//! What may go here: order, search and words around the table. What may not: keys of its own.

use crossterm::event::KeyEvent;

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use crate::tui::keymap::{Action, Binding, KEYMAP, Place};
use crate::tui::search_line::{self, end_of};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{cells, count, fit, wrapped};

/// Cells that its lines want.
const WIDTH: usize = 70;
/// Cells of the column of keys.
const KEYS: usize = 24;
/// Cells beside the search that its line needs for the rest.
const BESIDE: usize = 20;

/// Help.
#[derive(Debug)]
pub(crate) struct HelpModal {
    /// Where it was asked for; told first.
    place: Place,
    search: String,
    sheet: Sheet,
}

/// What one action has to say in a place.
struct Entry {
    action: Action,
    keys: String,
    label: &'static str,
}

impl HelpModal {
    pub(super) fn new(place: Place) -> Self {
        Self { place, search: String::new(), sheet: Sheet::default() }
    }

    /// Returns the places in the order in which they are told: where it was asked for, what works in all panes, the rest.
    fn places(&self) -> Vec<Place> {
        let mut places = vec![self.place, Place::Everywhere];
        places.extend(Place::ALL);
        let mut seen = Vec::new();
        places.retain(|place| {
            let is_new = !seen.contains(place);
            seen.push(*place);
            is_new
        });
        places
    }
}

impl Content for HelpModal {
    fn place(&self) -> Place {
        Place::Help
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn act(&mut self, action: Action, _world: &World) -> Vec<Wish> {
        if action == Action::Close { vec![Wish::Close] } else { Vec::new() }
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        let _ = search_line::key(&mut self.search, key);
        self.sheet.rewind();
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        search_line::paste(&mut self.search, text);
        self.sheet.rewind();
        Vec::new()
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        let keys = KEYS.min(width / 2);
        let mut found = 0;
        let wanted = self.search.trim().to_lowercase();
        for place in self.places() {
            let hits: Vec<Entry> =
                entries(place).into_iter().filter(|entry| entry.is_hit(place, &wanted)).collect();
            if hits.is_empty() {
                continue;
            }
            found += hits.len();
            writer.gap();
            writer.line(&[(place.title(), Tone::Strong)]);
            for entry in hits {
                write_entry(&mut writer, &entry, keys, width);
            }
        }
        if found == 0 {
            writer.text("No key does that. Backspace takes the search back.", Tone::Warning);
        }
        let search = world.theme.words.text(&self.search);
        let search = end_of(&search, width.saturating_sub(BESIDE).max(1));
        let mut foot = Writer::new(world.theme, width);
        let hint = if search.is_empty() {
            ("type to search".to_owned(), Tone::Dim)
        } else {
            (format!("  {}", count(found, "key")), Tone::Dim)
        };
        foot.line(&[("search ", Tone::Dim), (search, Tone::Hit), (&hint.0, hint.1)]);
        let text = Text {
            title: "help".to_owned(),
            is_tall: true,
            body: writer.into_lines(),
            foot: foot.into_lines(),
            caret: Some((0, cells("search ") + cells(search))),
        };
        self.sheet.lay_out(world, WIDTH, text, Place::Help, &[]);
        Vec::new()
    }
}

impl Entry {
    fn is_hit(&self, place: Place, wanted: &str) -> bool {
        let all = format!("{} {} {}", self.keys, self.label, place.title()).to_lowercase();
        wanted.split_whitespace().all(|word| all.contains(word))
    }
}

fn write_entry(writer: &mut Writer, entry: &Entry, keys: usize, width: usize) {
    let pieces = wrapped(entry.label, width.saturating_sub(keys + 3).max(1));
    for (number, piece) in pieces.iter().enumerate() {
        let shown = if number == 0 { entry.keys.as_str() } else { "" };
        writer.line(&[
            ("  ", Tone::Plain),
            (&fit(shown, keys), Tone::Key),
            (" ", Tone::Plain),
            (piece, Tone::Plain),
        ]);
    }
}

/// Returns what the keys of a place do, in the order of the table; keys for one action stand together.
fn entries(place: Place) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for binding in KEYMAP.iter().filter(|binding| binding.place == place) {
        match entries.iter_mut().find(|entry| entry.action == binding.action) {
            Some(entry) => entry.add(binding),
            None => entries.push(Entry {
                action: binding.action,
                keys: binding.shown.to_owned(),
                label: binding.label,
            }),
        }
    }
    entries
}

impl Entry {
    fn add(&mut self, binding: &Binding) {
        if !self.keys.split(", ").any(|key| key == binding.shown) {
            self.keys = format!("{}, {}", self.keys, binding.shown);
        }
        if self.label.is_empty() {
            self.label = binding.label;
        }
    }
}
