//! Does what the model asks for.
//!
//! What may go here: handing each request to who does it, without waiting. What may not: deciding.

use std::io;

use super::files::{Job, Opened};
use super::fleets;
use super::{Running, variable};
use crate::adapters::redact;
use crate::core::{Command, FleetId, Notice, Refusal, Reply, Submission};
use crate::runtime::Given;
use crate::tui::clipboard::{self, Way};
use crate::tui::message::{Asked, Message, Request};
use crate::words::notice_line::{BELL, notification};

/// Commands that wait for their answers. A host that does not answer that many will not answer one more.
const MOST_ASKED: usize = 256;

impl Running {
    /// Does one thing, or lets it be done. What there is to say about it at once is returned.
    pub(super) async fn perform(&mut self, request: Request) -> Option<Message> {
        match request {
            Request::Send(command, asked) => self.send(command, asked),
            Request::Submit(submission, given, asked) => self.submit(submission, given, asked),
            Request::Copy(text, what) => self.copy(text, what),
            Request::ShowFile(path) => self.file(Job::Look(path, Opened::Pager)),
            Request::EditFile(path) => self.file(Job::Look(path, Opened::Editor)),
            Request::EditDraft(text) => self.file(Job::CopyDraft(text)),
            Request::HandOver(handed) => self.hand_over(*handed).await,
            Request::Suspend => {
                self.suspend().await;
                None
            }
            Request::Redraw => self.said(crate::tui::terminal::Screen::redraw),
            Request::SetMouse(on) => self.said(|screen| screen.set_mouse(on)),
            Request::SaveDraft(text) => self.file(Job::SaveDraft(text)),
            Request::SaveSizes(shares) => self.file(Job::SaveSizes(shares)),
            Request::AddHistory(text) => self.file(Job::AddHistory(text)),
            Request::ReadFacts(id) => self.file(Job::ReadFacts(id)),
            Request::Tail(asked) => {
                self.seat.tail.ask(asked);
                None
            }
            Request::Bell => self.said(|screen| screen.say(BELL).map(drop)),
            Request::Notify(header, notice) => {
                let text = redact(&notice.text).into_owned();
                let is_tmux = Way::detect(&variable) == Way::Tmux;
                let bytes = notification(&header, &Notice { text, ..notice }, is_tmux);
                self.said(|screen| screen.say(&bytes).map(drop))
            }
            Request::ListFleets { everywhere } => {
                let folder = (!everywhere).then(|| self.seat.model.world.folder.clone());
                self.ask_fleets(fleets::Job::List(folder))
            }
            Request::OpenFleet(id) => self.ask_fleets(fleets::Job::Open(id)),
            Request::CompareFleets(one, other) => self.ask_fleets(fleets::Job::Compare(one, other)),
            Request::ReadPast => self.ask_fleets(fleets::Job::Read(self.shown())),
            Request::RunAgain(tasks) => self.ask_fleets(fleets::Job::Again(self.shown(), tasks)),
            Request::GoBack => {
                self.go_back();
                None
            }
            Request::Leave(left) => {
                self.left.get_or_insert(left);
                None
            }
        }
    }

    /// Returns which fleet is shown.
    fn shown(&self) -> FleetId {
        self.seat.model.world.dir.id().clone()
    }

    fn send(&mut self, command: Command, asked: Asked) -> Option<Message> {
        self.ask(asked, |handle| async move { handle.send(command).await })
    }

    fn submit(&mut self, submission: Submission, given: Given, asked: Asked) -> Option<Message> {
        // Agents get the environment of the terminal in which their task was typed.
        let given = given.or_own_environment();
        self.ask(asked, |handle| async move { handle.submit(submission, given).await })
    }

    fn ask<F>(
        &mut self,
        asked: Asked,
        send: impl FnOnce(crate::runtime::FleetHandle) -> F,
    ) -> Option<Message>
    where
        F: Future<Output = Result<Reply, crate::runtime::Gone>> + Send + 'static,
    {
        while self.seat.asked.try_join_next().is_some() {}
        let Some(handle) = self.seat.handle.clone() else {
            return Some(Message::Replied(asked, Err(crate::runtime::Gone)));
        };
        if self.seat.asked.len() >= MOST_ASKED {
            // An answer in any case: whoever asked waits for one.
            let refusal = Refusal("the host does not answer: nothing was sent to it".to_owned());
            return Some(Message::Replied(asked, Ok(Reply::Refused(refusal))));
        }
        let (reply, sender) = (send(handle), self.seat.sender.clone());
        self.seat.asked.spawn(async move {
            // The screen has ended: then nobody waits for the reply.
            let _ = sender.send(Message::Replied(asked, reply.await)).await;
        });
        None
    }

    fn copy(&mut self, text: String, what: String) -> Option<Message> {
        if let Err(error) = clipboard::check(&text) {
            return Some(Message::Told(error.to_string(), false));
        }
        match Way::detect(&variable) {
            Way::Terminal => {
                let said =
                    clipboard::sequence(&text).and_then(|sequence| self.screen.say(&sequence));
                Some(match said {
                    Ok(true) => {
                        Message::Told(format!("{what} given to the terminal's clipboard"), true)
                    }
                    Ok(false) => Message::Told("the terminal does not answer".to_owned(), false),
                    Err(error) => Message::Told(format!("could not copy: {error}"), false),
                })
            }
            Way::Tmux => {
                let sender = self.seat.sender.clone();
                // A thread of its own, since the end of the program must not wait for tmux.
                let thread = std::thread::Builder::new().name("clipboard".to_owned());
                let copying = thread.spawn(move || {
                    let message = match clipboard::copy_through_tmux(&text) {
                        Ok(()) => Message::Told(format!("{what} copied"), true),
                        Err(error) => Message::Told(error.to_string(), false),
                    };
                    // The screen has ended: then nobody needs to know.
                    let _ = sender.blocking_send(message);
                });
                let error = copying.err()?;
                Some(Message::Told(format!("could not copy: {error}"), false))
            }
        }
    }

    fn file(&self, job: Job) -> Option<Message> {
        let error = self.seat.files.ask(job).err()?;
        Some(Message::Told(format!("could not use the screen's files: {error}"), false))
    }

    fn said(
        &mut self,
        say: impl FnOnce(&mut crate::tui::terminal::Screen) -> io::Result<()>,
    ) -> Option<Message> {
        let error = say(&mut self.screen).err()?;
        Some(Message::Told(format!("could not reach the terminal: {error}"), false))
    }
}
