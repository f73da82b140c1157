//! Which pane or modal a key or a paste goes to.
//!
//! What may go here: the way of a key, and what works in every pane. What may not: what one pane does with it.

use crossterm::event::KeyEvent;

use super::{Model, ONLY_LOOKED_AT};
use crate::tui::keymap::{self, Action, Place};
use crate::tui::layout::Focus;
use crate::tui::message::Request;
use crate::tui::modal::Modal;
use crate::tui::session::Left;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;

impl Model {
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Request> {
        let mut requests = Vec::new();
        let place = self.place();
        let action = keymap::action(place, key);
        if action == Some(Action::Redraw) {
            return vec![Request::Redraw];
        }
        if let Some(modal) = &self.modal {
            if modal.deaf_until().is_some_and(|until| self.world.now < until) {
                return requests;
            }
            let wishes = self.wishes_of_modal(|modal, world| match action {
                Some(action) => modal.act(action, world),
                None if place.takes_text() => modal.key(key, world),
                None => Vec::new(),
            });
            self.grant(wishes, &mut requests);
            return requests;
        }
        self.flash = None;
        self.ending = None;
        match action {
            Some(action) if self.is_everywhere(action) => {
                self.everywhere(action, &mut requests);
            }
            _ if self.world.focus == Focus::Editor && self.world.is_read_only => {
                self.flash(ONLY_LOOKED_AT.to_owned(), Tone::Warning);
            }
            Some(action) => {
                let wishes = match self.world.focus {
                    Focus::Editor => self.editor.act(action, key, &self.world),
                    Focus::Agents => self.agents.act(action, &self.world),
                    Focus::Tail => self.tail.act(action, &self.world),
                };
                self.grant(wishes, &mut requests);
            }
            None if place.takes_text() => {
                let wishes = match self.world.focus {
                    Focus::Editor => self.editor.key(key, &self.world),
                    Focus::Agents => self.agents.key(key, &self.world),
                    Focus::Tail => self.tail.key(key, &self.world),
                };
                self.grant(wishes, &mut requests);
            }
            None => {}
        }
        requests
    }

    /// Says whether the model itself does what an action means.
    fn is_everywhere(&self, action: Action) -> bool {
        match action {
            Action::NextPane
            | Action::PreviousPane
            | Action::Help
            | Action::Cap
            | Action::Options
            | Action::QuitQuestion
            | Action::Suspend
            | Action::ToggleMouse
            | Action::ToAgents
            | Action::ToTail
            | Action::ToEditor
            | Action::Results
            | Action::Zoom => self.place() != Place::Prompt,
            _ => false,
        }
    }

    fn everywhere(&mut self, action: Action, requests: &mut Vec<Request>) {
        match action {
            Action::NextPane => self.focus(self.world.focus.next()),
            Action::PreviousPane => self.focus(self.world.focus.previous()),
            Action::ToAgents => {
                if self.world.focus == Focus::Editor {
                    self.editor.give_up();
                }
                self.focus(Focus::Agents);
            }
            Action::ToTail => self.focus(Focus::Tail),
            Action::ToEditor => self.focus(Focus::Editor),
            Action::Zoom => self.zoom(),
            Action::Help => self.modal = Some(Modal::help(self.place())),
            Action::Options => self.modal = Some(Modal::options(&self.world)),
            Action::Results => self.modal = Some(Modal::results()),
            Action::Cap => {
                self.seen_question = self.world.snapshot.question.as_ref().map(|it| it.id);
                self.modal = Some(Modal::cap(&self.world, None));
            }
            Action::QuitQuestion => self.quit(requests),
            Action::Suspend => requests.push(Request::Suspend),
            Action::ToggleMouse => {
                self.mouse = !self.mouse;
                requests.push(Request::SetMouse(self.mouse));
                let text = if self.mouse {
                    "mouse on: click, wheel and drag work here"
                } else {
                    "mouse off: the terminal selects text again"
                };
                self.flash(text.to_owned(), Tone::Plain);
            }
            _ => {}
        }
    }

    /// Gives the focused pane the screen, or all panes again.
    pub(super) fn zoom(&mut self) {
        self.is_zoomed = !self.is_zoomed;
        let text = match (self.is_zoomed, self.world.focus) {
            (false, _) => "all panes again",
            (true, Focus::Editor) => "editor alone: z again shows all",
            (true, Focus::Agents) => "agents alone: z again shows all",
            (true, Focus::Tail) => "output alone: z again shows all",
        };
        self.flash(text.to_owned(), Tone::Plain);
    }

    /// Asks what becomes of agents, if there are any that live or wait.
    fn quit(&mut self, requests: &mut Vec<Request>) {
        let snapshot = &self.world.snapshot;
        let is_free = self.world.is_read_only || snapshot.header.all_done;
        self.modal = if is_free { None } else { Some(Modal::quit(&self.world)) };
        if self.modal.is_none() {
            self.leave(Left::Detached, requests);
        }
    }

    /// Text from a paste goes where text is typed, never to a key of the table.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Request> {
        let mut requests = Vec::new();
        let place = self.place();
        let wishes: Vec<Wish> = if self.modal.is_some() {
            self.wishes_of_modal(|modal, world| match modal.deaf_until() {
                Some(until) if world.now < until => Vec::new(),
                _ => modal.paste(text, world),
            })
        } else {
            match (self.world.focus, place) {
                (Focus::Agents, Place::Prompt) => self.agents.paste(text, &self.world),
                (Focus::Tail, Place::Prompt) => self.tail.paste(text, &self.world),
                _ if self.world.is_read_only => {
                    vec![Wish::Flash(ONLY_LOOKED_AT.to_owned(), Tone::Warning)]
                }
                (Focus::Editor, _) => self.editor.paste(text, &self.world),
                (Focus::Agents | Focus::Tail, _) => {
                    self.focus(Focus::Editor);
                    self.editor.paste(text, &self.world)
                }
            }
        };
        self.grant(wishes, &mut requests);
        requests
    }
}
