//! A text that is too long for the footer.
//!
//! What may go here: showing and copying it. What may not: what it says.

use super::Content;
use super::sheet::{self, DEAF, Sheet, Text};
use super::writer::Writer;
use crate::core::Moment;
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
    deaf_until: Option<Moment>,
    sheet: Sheet,
}

impl MessageModal {
    pub(super) fn new(title: &str, text: String, uninvited: Option<Moment>) -> Self {
        let deaf_until = uninvited.map(|since| since.after(DEAF));
        Self { title: title.to_owned(), text, deaf_until, sheet: Sheet::default() }
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

    fn deaf_until(&self) -> Option<Moment> {
        self.deaf_until
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
        if self.deaf_until.is_some_and(|until| until <= world.now) {
            self.deaf_until = None;
        }
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
