//! Short remarks, where they are shown, and what is asked of the host only if there is one.

use super::Model;
use super::remarks::only_looked_at;
use crate::core::Command;
use crate::tui::flash::Flash;
use crate::tui::keymap::key_name;
use crate::tui::layout::Focus;
use crate::tui::message::{Asked, Request};
use crate::tui::modal::Modal;
use crate::tui::theme::Tone;
use crate::tui::world::Connection;
use crate::words::plain_text::cells;

impl Model {
    pub(super) fn focus(&mut self, focus: Focus) {
        self.world.focus = focus;
    }

    pub(super) fn flash(&mut self, text: String, tone: Tone) {
        self.flash = Some(Flash::new(text, tone, self.world.now));
    }

    /// Says what became of something: in the footer, or over the screen if it went wrong and the footer would cut it.
    /// Whoever types is not interrupted.
    pub(super) fn tell(&mut self, text: String, tone: Tone) {
        let room = usize::from(self.world.panes.footer.width.saturating_sub(2));
        let is_typing = self.modal.is_some() || self.place().takes_text();
        if tone == Tone::Bad && !is_typing && cells(&text) > room {
            self.modal = Some(Modal::message("not done", text, Some(self.world.now)));
        } else {
            self.flash(text, tone);
        }
    }

    /// Asks the host, if it can be asked.
    pub(super) fn send(&mut self, command: Command, asked: Asked) -> Option<Request> {
        if self.world.can_ask() {
            return Some(Request::Send(command, asked));
        }
        self.flash(self.why_not(), Tone::Warning);
        None
    }

    pub(super) fn why_not(&self) -> String {
        match &self.world.connection {
            Connection::Up if self.replaying.is_some() => {
                format!("this is a replay: {} among the agents ends it", key_name!(Agents, Back))
            }
            Connection::Up => only_looked_at(),
            Connection::Waiting(what) => format!("not yet: {what}"),
            Connection::Failed(why) => format!("not possible: {why}"),
        }
    }
}
