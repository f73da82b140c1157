//! A yes or no about something that cannot be undone, or that is much.
//!
//! What may go here: the question and what is granted on yes. What may not: counting what it is about.

use super::Content;
use super::sheet::{self, DEAF, Sheet, Text};
use super::writer::Writer;
use crate::core::Moment;
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
    deaf_until: Option<Moment>,
    sheet: Sheet,
}

impl ConfirmModal {
    pub(super) fn new(question: String, yes: Vec<Wish>, uninvited: Option<Moment>) -> Self {
        let deaf_until = uninvited.map(|since| since.after(DEAF));
        Self { question, yes, deaf_until, sheet: Sheet::default() }
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

    fn deaf_until(&self) -> Option<Moment> {
        self.deaf_until
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
        if self.deaf_until.is_some_and(|until| until <= world.now) {
            self.deaf_until = None;
        }
        let mut writer = Writer::new(world.theme, sheet::text_width(world, WIDTH));
        writer.connection(world);
        writer.text(&self.question, Tone::Strong);
        let text = Text { title: "sure?".to_owned(), body: writer.into_lines(), ..Text::default() };
        self.sheet.lay_out(world, WIDTH, text, Place::Confirm, &[]);
        Vec::new()
    }
}
