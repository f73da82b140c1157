//! Which pane or modal a key or a paste goes to.
//!
//! What may go here: the way of a key, and what works in every pane. What may not: what one pane does with it.

use crossterm::event::KeyEvent;

use super::Model;
use super::remarks::only_looked_at;
use crate::tui::keymap::{self, Action, Place, key_name};
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
        if self.modal.is_some() {
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
            Some(action) if self.everywhere(action, &mut requests) => {}
            _ if self.world.focus == Focus::Editor && self.world.is_read_only => {
                self.flash(only_looked_at(), Tone::Warning);
            }
            Some(action) => {
                let wishes = match self.world.focus {
                    Focus::Editor => self.editor.act(action, key, &self.world),
                    Focus::Agents => self.agents.act(action, &self.world),
                    Focus::Tail => self.tail.act(action, &self.world),
                };
                self.grant(wishes, &mut requests);
            }
            None if place.takes_text() => match self.world.focus {
                Focus::Editor => {
                    let wishes = self.editor.key(key, &self.world);
                    self.grant(wishes, &mut requests);
                }
                Focus::Agents => self.agents.key(key),
                Focus::Tail => self.tail.key(key),
            },
            None => {}
        }
        requests
    }

    /// Does what an action means that is none of a single pane; says whether it is one.
    fn everywhere(&mut self, action: Action, requests: &mut Vec<Request>) -> bool {
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
            Action::Earlier
            | Action::Later
            | Action::PreviousChange
            | Action::NextChange
            | Action::Play
            | Action::Speed => self.replay(action, requests),
            Action::Back if self.world.focus == Focus::Agents && self.replaying.is_some() => {
                return self.end_replay(requests);
            }
            Action::RunAgain if self.world.is_read_only => {
                // What is run again, and what that has cost, is as the fleet has ended, not as it was at some moment.
                self.end_replay(requests);
                self.modal = Some(Modal::again());
            }
            Action::RunAgain => {
                let retry = key_name!(Agents, Retry);
                let text = format!("this fleet has not been left: {retry} tries an agent again");
                self.flash(text, Tone::Warning);
            }
            Action::Fleets if self.world.has_others => {
                self.modal = Some(Modal::fleet_list());
                requests.push(Request::ListFleets { everywhere: false });
            }
            Action::Fleets => {
                self.flash("the demonstration knows no other fleets".to_owned(), Tone::Warning);
            }
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
            _ => return false,
        }
        true
    }

    /// Gives the focused pane the screen, or all panes again.
    pub(super) fn zoom(&mut self) {
        self.is_zoomed = !self.is_zoomed;
        let alone = match self.world.focus {
            Focus::Editor => "editor",
            Focus::Agents => "agents",
            Focus::Tail => "output",
        };
        let text = if self.is_zoomed {
            format!("{alone} alone: {} again shows all", key_name!(Agents, Zoom))
        } else {
            "all panes again".to_owned()
        };
        self.flash(text, Tone::Plain);
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
            self.wishes_of_modal(|modal, world| modal.paste(text, world))
        } else {
            match (self.world.focus, place) {
                (Focus::Agents, Place::Prompt) => {
                    self.agents.paste(text);
                    Vec::new()
                }
                (Focus::Tail, Place::Prompt) => {
                    self.tail.paste(text);
                    Vec::new()
                }
                _ if self.world.is_read_only => {
                    vec![Wish::Flash(only_looked_at(), Tone::Warning)]
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
