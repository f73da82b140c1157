//! Tasks that the command line brought, or an earlier fleet: they go the way of a draft, with the same questions before they are sent.
//!
//! What may go here: when they may go, and that they are never lost. What may not: the questions, which drafts have too.

use super::dispatch::Source;
use super::{Editor, Mode};
use crate::core::Moment;
use crate::tui::message::Asked;
use crate::tui::model::submission;
use crate::tui::session::Made;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{count, one_line};

/// Tasks of the command line that no host has.
#[derive(Debug)]
pub(super) struct Brought {
    made: Made,
    /// They have not been offered to the host or the person yet.
    is_new: bool,
    /// Why the host did not take them.
    why: Option<String>,
}

impl Editor {
    /// Takes tasks of the command line, or those of an earlier fleet, to be sent as soon as there is a host.
    pub(crate) fn bring(&mut self, made: Made, runs_again: bool) {
        self.runs_again = runs_again;
        self.brought = Some(Brought { made, is_new: true, why: None });
    }

    /// Takes them back: they were not queued, and why.
    pub(crate) fn bring_back(&mut self, made: Made, why: Option<String>) {
        self.brought = Some(Brought { made, is_new: false, why });
    }

    /// Says whether tasks of the command line are to be sent now. A question about them waits until nobody types and
    /// nothing else is asked.
    pub(crate) fn has_new(&self, is_busy: bool, is_typing: bool, world: &World) -> bool {
        let Some(brought) = self.brought.as_ref().filter(|brought| brought.is_new) else {
            return false;
        };
        let has_typed = self.revision > 0 && !self.text.is_blank();
        let must_wait = is_busy || (is_typing && has_typed);
        !must_wait || self.needed(&brought.made, None, world).is_none()
    }

    /// Sends them, or asks what has to be asked first.
    pub(crate) fn offer(&mut self, world: &World) -> Vec<Wish> {
        self.asked = None;
        self.source = Source::CommandLine;
        self.send_brought(Some(world.now), world)
    }

    /// Says whether Enter is about them: nothing is typed.
    pub(super) fn is_about_brought(&self) -> bool {
        self.brought.is_some() && self.mode == Mode::New && self.text.is_blank()
    }

    /// Sends them unless there is a question; it comes by itself if `uninvited` says when.
    pub(super) fn send_brought(&mut self, uninvited: Option<Moment>, world: &World) -> Vec<Wish> {
        let Some(mut brought) = self.brought.take() else { return Vec::new() };
        if !world.can_ask() {
            brought.is_new = true;
            self.brought = Some(brought);
            let text = format!("the tasks of the {} go as soon as there is a host", self.bringer());
            return vec![Wish::Flash(text, Tone::Plain)];
        }
        brought.is_new = false;
        if let Some(question) = self.needed(&brought.made, self.asked, world) {
            let wishes = self.question(question, &brought.made, uninvited, world);
            self.brought = Some(brought);
            return wishes;
        }
        self.asked = None;
        self.source = Source::Draft;
        let number = brought.made.tasks.len();
        vec![Wish::Ask(submission(brought.made, Asked::First(number)))]
    }

    fn bringer(&self) -> &'static str {
        if self.runs_again { "earlier fleet" } else { "command line" }
    }

    /// Returns what an empty draft says about them.
    pub(super) fn hint_of_brought(&self, enter: &str) -> Option<Vec<String>> {
        let brought = self.brought.as_ref().filter(|brought| !brought.is_new)?;
        let number = brought.made.tasks.len();
        let tasks = format!("{} of the {}", count(number, "task"), self.bringer());
        let (waits, them) = if number == 1 { ("waits", "it") } else { ("wait", "them") };
        Some(match &brought.why {
            Some(why) => vec![
                format!("{tasks} not queued: {}", one_line(why)),
                format!("{enter} tries again"),
            ],
            None => vec![format!(
                "{tasks} {waits}: {enter} dispatches {them}; what is typed goes by itself"
            )],
        })
    }
}
