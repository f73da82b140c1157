//! Tasks that were sent and not answered: a host that goes before it answers may have queued them or not, so they are
//! sent again, under the same name of their batch, to the host that comes after it. A name that is known there is not
//! queued a second time.
//!
//! What may go here: that. What may not: other commands, which are safe to give up.

use super::Model;
use crate::core::{Reply, Submission};
use crate::runtime::{Given, Gone};
use crate::tui::layout::Focus;
use crate::tui::message::{Asked, Request};
use crate::tui::session::Made;
use crate::tui::theme::Tone;

/// Tasks on their way.
#[derive(Debug)]
pub(super) struct Pending {
    submission: Submission,
    given: Given,
    asked: Asked,
    /// The connection they were sent over, counted from the first one.
    connection: u64,
    /// The host went before it answered.
    is_lost: bool,
}

impl Pending {
    fn request(&self) -> Request {
        Request::Submit(self.submission.clone(), self.given.clone(), self.asked.clone())
    }

    /// Returns them as they were before they were sent.
    pub(super) fn into_made(self) -> Made {
        Made { tasks: self.submission.tasks, values: self.given.values, problems: Vec::new() }
    }
}

/// What an answer is to the tasks that are on their way.
#[derive(Debug)]
pub(super) enum Answered {
    /// None: they have to be sent again, now or to the next host.
    Lost(Option<Request>),
    /// The answer to these.
    Tasks(Pending),
    /// The answer to something else.
    Other,
}

impl Model {
    /// Sends what the command line brought as soon as there is a host, or asks about it as soon as nobody types.
    pub(super) fn offer_brought(&mut self, requests: &mut Vec<Request>) {
        let may_send = !self.is_leaving && self.world.can_ask();
        let is_typing = self.world.focus == Focus::Editor;
        if may_send && self.editor.has_new(self.modal.is_some(), is_typing, &self.world) {
            let wishes = self.editor.offer(&self.world);
            self.grant(wishes, requests);
        }
    }

    /// Takes note of tasks that are about to be sent: those of the command line, or a draft, of which there is one at a
    /// time.
    pub(super) fn sends(&mut self, request: &Request) {
        if let Request::Submit(submission, given, asked) = request {
            let (submission, given, asked) = (submission.clone(), given.clone(), asked.clone());
            let connection = self.connections;
            self.pending.push(Pending { submission, given, asked, connection, is_lost: false });
        }
    }

    /// Takes note of an answer.
    pub(super) fn answered(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Answered {
        let Some(place) =
            self.pending.iter().position(|pending| !pending.is_lost && pending.asked == *asked)
        else {
            return Answered::Other;
        };
        if let (Err(Gone), Some(pending)) = (reply, self.pending.get_mut(place)) {
            // A connection that is newer than the one they were lost with was told of already: nothing else would have
            // them sent again. If that one has gone as well, which may be known here before it is told, another comes.
            if pending.connection < self.connections {
                pending.connection = self.connections;
                return Answered::Lost(Some(pending.request()));
            }
            pending.is_lost = true;
            return Answered::Lost(None);
        }
        Answered::Tasks(self.pending.remove(place))
    }

    /// Sends again what no host has answered.
    pub(super) fn send_lost(&mut self) -> Vec<Request> {
        let lost = self.pending.iter_mut().filter(|pending| pending.is_lost);
        lost.map(|pending| {
            pending.is_lost = false;
            pending.connection = self.connections;
            pending.request()
        })
        .collect()
    }

    /// Gives tasks back for which no host will come.
    pub(super) fn give_up_lost(&mut self) {
        let why = "the tasks that were sent last may not be queued";
        let (lost, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|pending| pending.is_lost);
        self.pending = pending;
        let lost: Vec<Pending> = lost;
        if lost.is_empty() {
            return;
        }
        for pending in lost {
            self.give_back(pending, Some(why.to_owned()));
        }
        self.flash(why.to_owned(), Tone::Bad);
    }

    /// Gives tasks back that were not taken, to where they came from.
    pub(super) fn give_back(&mut self, pending: Pending, why: Option<String>) {
        if matches!(pending.asked, Asked::First(_)) {
            self.editor.bring_back(pending.into_made(), why);
        } else {
            self.editor.refused(&self.world);
        }
    }
}
