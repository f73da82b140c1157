//! A yes or no about something that cannot be undone, or that is much.
//!
//! What may go here: the question and what is granted on yes. What may not: counting what it is about.

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use crate::tui::keymap::{Action, Place};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;

/// Cells that its lines want.
const WIDTH: usize = 54;

/// A yes or no.
#[derive(Debug)]
pub(crate) struct ConfirmModal {
    question: String,
    yes: Vec<Wish>,
    sheet: Sheet,
}

impl ConfirmModal {
    pub(super) fn new(question: String, yes: Vec<Wish>) -> Self {
        Self { question, yes, sheet: Sheet::default() }
    }
}

impl Content for ConfirmModal {
    fn place(&self) -> Place {
        Place::Confirm
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn harmless(&self) -> Option<&'static [Action]> {
        Some(&[Action::No])
    }

    fn act(&mut self, action: Action, _world: &World) -> Vec<Wish> {
        match action {
            Action::Yes => {
                // It goes first: what is wished may open another one.
                let mut wishes = vec![Wish::Close];
                wishes.append(&mut self.yes);
                wishes
            }
            Action::No => vec![Wish::Close],
            _ => Vec::new(),
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let mut writer = Writer::new(world.theme, sheet::text_width(world, WIDTH));
        writer.connection(world);
        writer.text(&self.question, Tone::Strong);
        let text = Text { title: "sure?".to_owned(), body: writer.into_lines(), ..Text::default() };
        self.sheet.lay_out(world, WIDTH, text, Place::Confirm, &[]);
        Vec::new()
    }
}
