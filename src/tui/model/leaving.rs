//! The end of the screen, and the drafts that outlive it.
//!
//! What may go here: when the draft is kept and when the screen ends. What may not: the question before that.

use std::time::Duration;

use super::Model;
use crate::tui::message::Request;
use crate::tui::session::{Dispatched, Left};
use crate::tui::theme::Tone;
use crate::tui::world::Connection;

/// How long after a change the draft is kept: who goes on typing has it kept once in this time.
const DRAFT_REST: Duration = Duration::from_secs(1);

impl Model {
    /// Takes the drafts that earlier screens dispatched.
    pub(super) fn history(&mut self, read: Result<Vec<Dispatched>, String>) -> Vec<Request> {
        match read {
            Ok(earlier) => self.editor.take_history(earlier),
            Err(why) => {
                self.editor.take_history(Vec::new());
                self.tell(format!("could not read the history: {why}"), Tone::Bad);
            }
        }
        Vec::new()
    }

    pub(super) fn keep_draft(&mut self, requests: &mut Vec<Request>) {
        let revision = self.editor.revision();
        if revision == self.kept {
            self.keep_at = None;
            return;
        }
        match self.keep_at {
            Some(at) if at <= self.world.now => {
                self.keep_at = None;
                requests.extend(self.unkept_draft().map(Request::SaveDraft));
            }
            Some(_) => {}
            None => self.keep_at = Some(self.world.now.after(DRAFT_REST)),
        }
    }

    /// Ends the screen once everything that was to be stopped is seen to have ended.
    pub(super) fn leave_when_stopped(&mut self, requests: &mut Vec<Request>) {
        let snapshot = &self.world.snapshot;
        // Before the host has taken the interruption, what is queued may still start; a host that has taken over from it
        // knows of none, and holds the queue.
        let is_known = self.world.connection == Connection::Up
            && (snapshot.header.interrupted.is_some() || snapshot.header.idle);
        if self.is_leaving && is_known && snapshot.rows.iter().all(|row| !row.status.is_live()) {
            self.leave(Left::StoppedAll, requests);
        }
    }

    /// Returns the draft, if it is another one than was kept last.
    pub(crate) fn unkept_draft(&mut self) -> Option<String> {
        let revision = self.editor.revision();
        (std::mem::replace(&mut self.kept, revision) != revision).then(|| self.editor.draft())
    }

    pub(super) fn leave(&mut self, left: Left, requests: &mut Vec<Request>) {
        requests.extend(self.unkept_draft().map(Request::SaveDraft));
        requests.push(Request::Leave(left));
    }
}
