//! A text that is too long for the footer.
//!
//! What may go here: showing and copying it. What may not: what it says.

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use crate::tui::keymap::{Action, Place};
use crate::tui::message::Request;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;

/// Cells that its lines want.
const WIDTH: usize = 72;

/// A long text.
#[derive(Debug)]
pub(crate) struct MessageModal {
    title: String,
    text: String,
    sheet: Sheet,
}

impl MessageModal {
    pub(super) fn new(title: &str, text: String) -> Self {
        Self { title: title.to_owned(), text, sheet: Sheet::default() }
    }
}

impl Content for MessageModal {
    fn place(&self) -> Place {
        Place::Text
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn act(&mut self, action: Action, _world: &World) -> Vec<Wish> {
        match action {
            Action::Close => vec![Wish::Close],
            Action::CopyLine => {
                vec![Wish::Ask(Request::Copy(self.text.clone(), "the message".to_owned()))]
            }
            _ => Vec::new(),
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let mut writer = Writer::new(world.theme, sheet::text_width(world, WIDTH));
        writer.text(&self.text, Tone::Plain);
        let text = Text {
            title: crate::words::plain_text::one_line(&self.title),
            body: writer.into_lines(),
            ..Text::default()
        };
        self.sheet.lay_out(world, WIDTH, text, Place::Text, &[]);
        Vec::new()
    }
}
