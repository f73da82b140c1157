//! What this screen and that of another fleet have to do with each other.
//!
//! What may go here: news about other fleets, what is taken over when the screen turns to one. What may not: showing a
//! list of them.

use super::Model;
use crate::tui::keymap::key_name;
use crate::tui::layout::Shares;
use crate::tui::message::{FleetNews, Request};
use crate::tui::theme::Tone;

impl Model {
    /// Takes what came of a question about other fleets.
    pub(super) fn fleets(&mut self, news: FleetNews) -> Vec<Request> {
        if matches!(news, FleetNews::Failed(_)) {
            self.wanted_replay = None;
        }
        match (&mut self.modal, news) {
            (_, FleetNews::Past(past)) => self.begin_replay(*past),
            (Some(modal), news) if modal.is_fleets() => modal.fleets(news),
            (_, FleetNews::Failed(why)) => self.tell(why, Tone::Bad),
            // Whoever asked does not look any more.
            (_, FleetNews::List { .. } | FleetNews::Pair(_)) => {}
        }
        Vec::new()
    }

    /// Says how to get back to the fleet that was shown before, if there was one.
    pub(super) fn tell_way_back(&mut self) {
        if let Some(before) = &self.world.came_from {
            let text =
                format!("{} among the agents goes back to {before}", key_name!(Agents, Back));
            self.flash(text, Tone::Plain);
        }
    }

    /// Another fleet is shown from now on. Returns what its screen takes over of this one: how it is divided, and whether
    /// there is a mouse.
    pub(crate) fn turned_away(&mut self) -> (Shares, bool) {
        self.modal = None;
        // What is read for it comes when another one is shown.
        self.wanted_replay = None;
        // Whatever has the focus from now on, nobody looks at this one.
        self.has_focus = None;
        (self.shares, self.mouse)
    }
}
