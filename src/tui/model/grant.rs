//! Grants what panes and modals wish.

use super::Model;
use crate::core::{BatchId, Command, Submission};
use crate::runtime::Given;
use crate::tui::keymap::key_name;
use crate::tui::layout::Focus;
use crate::tui::message::{Asked, Request};
use crate::tui::session::Made;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;

impl Model {
    pub(super) fn grant(&mut self, wishes: Vec<Wish>, requests: &mut Vec<Request>) {
        for wish in wishes {
            match wish {
                Wish::Ask(request) => self.ask(request, requests),
                Wish::Open(modal) => self.modal = Some(*modal),
                Wish::Close => self.modal = None,
                Wish::Focus(focus) => self.focus(focus),
                Wish::Flash(text, tone) => self.flash(text, tone),
                Wish::EditQueued(id) => match self.editor.edit_queued(id, &self.world) {
                    Ok(()) => self.focus(Focus::Editor),
                    Err(why) => self.flash(why, Tone::Warning),
                },
                Wish::Zoom => self.zoom(),
                Wish::Options(options) => self.world.options = *options,
                Wish::Dispatch => {
                    let wishes = self.editor.dispatch(&self.world);
                    self.grant(wishes, requests);
                }
                Wish::Stay => {
                    self.is_leaving = false;
                    let release = key_name!(Agents, Hold);
                    let text = format!(
                        "the fleet stays stopped and takes no tasks: {release} among the agents lets it go on"
                    );
                    self.flash(text, Tone::Warning);
                }
                Wish::StopAllAndLeave => {
                    let command = Command::Interrupt("quit".to_owned());
                    if let Some(request) = self.send(command, Asked::StopAll) {
                        self.is_leaving = true;
                        requests.push(request);
                    }
                }
            }
        }
    }

    /// Passes a request on; one for the host only if there is one.
    fn ask(&mut self, request: Request, requests: &mut Vec<Request>) {
        match request {
            Request::Leave(left) => self.leave(left, requests),
            Request::Send(..) | Request::Submit(..) if !self.world.can_ask() => {
                if matches!(request, Request::Submit(..)) {
                    self.editor.refused(&self.world);
                }
                self.flash(self.why_not(), Tone::Warning);
            }
            request => {
                self.sends(&request);
                requests.push(request);
            }
        }
    }
}

/// Makes the request that queues tasks as a batch of their own, with the environment of this process.
pub(crate) fn submission(made: Made, asked: Asked) -> Request {
    let submission = Submission {
        id: BatchId::from_bits(fastrand::u32(..)),
        tasks: made.tasks,
        origin: None,
        inside: None,
    };
    Request::Submit(submission, Given { environment: None, values: made.values }, asked)
}
