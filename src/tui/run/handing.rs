//! Handing the terminal to somebody else and taking it back: suspension, a pager, an editor.
//!
//! What may go here: the order in which the reading thread, the terminal and we stop and go on. What may not: which
//! program, what its file is.

use std::io;
use std::process::ExitStatus;

use tokio::sync::oneshot;

use super::files::{Job, read_edited};
use super::signals::Asks;
use super::{Message, Running, variable};
use crate::tui::handover::{Handed, HandedFile};
use crate::tui::input::Reader;
use crate::tui::session::Left;
use crate::tui::terminal::{Ground, can_be_continued, ground, has_paste_marks, input, leave};

impl Running {
    /// Stops the job until `fg`. Agents go on. Where nobody could continue it nothing happens but a remark.
    pub(super) async fn suspend(&mut self) {
        if !can_be_continued() {
            let text = "no shell to go back to: this terminal was opened for fleet alone";
            self.seat.later.push_back(Message::Told(text.to_owned(), false));
            return;
        }
        // Joined: from here on nobody reads the shell's keys.
        self.reader = None;
        leave();
        self.signals.stop().await;
        self.take_back().await;
    }

    /// Goes on after somebody else has stopped us: the terminal may be in any state.
    pub(super) async fn go_on(&mut self) {
        self.reader = None;
        self.signals.until_foreground().await;
        leave();
        self.take_back().await;
    }

    /// Takes the terminal again and draws everything. If it has gone, the screen ends.
    async fn take_back(&mut self) {
        self.signals.until_foreground().await;
        let taken = if ground() == Ground::Gone {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            self.screen.enter_again()
        };
        let reader = taken.and_then(|()| Reader::start(input()?, has_paste_marks(&variable)));
        let Ok(reader) = reader else {
            self.left = Some(Left::TerminalGone);
            return;
        };
        self.reader = Some(reader);
        let (columns, rows) = super::pair(crate::tui::terminal::size());
        self.size = (columns, rows);
        // Also when it is the same: this draws everything.
        self.seat.later.push_back(Message::Resize(columns, rows));
    }

    /// Hands the terminal to a program on a file until it has ended. Returns what there is to say.
    pub(super) async fn hand_over(&mut self, handed: Handed) -> Option<Message> {
        let Handed { program, file } = handed;
        self.reader = None;
        leave();
        let end = program.start(file.path()).map(|mut child| {
            let (sender, end) = oneshot::channel();
            let draft = match &file {
                HandedFile::Kept(_) => None,
                HandedFile::Draft(file, _) => Some(file.path().to_owned()),
            };
            let thread = std::thread::Builder::new().name("handover".to_owned());
            let waiting = thread.spawn(move || {
                let status = child.wait();
                // Nobody waits any more when a signal has ended us.
                let _ = sender.send((status, draft.map(|path| read_edited(&path))));
            });
            (end, waiting)
        });
        let ended = match end {
            Ok((end, Ok(_))) => {
                let Some((status, edited)) = self.until_ended(end).await else {
                    self.keep_handed(file);
                    return None;
                };
                program.judge(status).map(|()| edited)
            }
            Ok((_, Err(error))) => program.judge(Err(error)).map(|()| None),
            Err(error) => Err(error),
        };
        self.take_back().await;
        match ended {
            Ok(None) => None,
            Ok(Some(Ok(text))) => Some(Message::Draft(text)),
            Ok(Some(Err(error))) => Some(Message::Told(untaken(file, &error), false)),
            Err(error) => Some(Message::Told(error.to_string(), false)),
        }
    }

    /// A signal ends us while an editor has the draft: what it has written so far is kept.
    fn keep_handed(&mut self, file: HandedFile) {
        if let HandedFile::Draft(file, text) = file
            && text == self.seat.model.editor.draft()
        {
            // It is the newer one.
            let _ = self.seat.model.unkept_draft();
            // The screen ends; there is nobody left to be told.
            let _ = self.seat.files.ask(Job::SaveEdited(file, text));
        }
    }

    /// Waits for the end of the program that has the terminal, and what is to be known then; `None` if a signal ends us
    /// first.
    async fn until_ended(&mut self, mut end: oneshot::Receiver<Ended>) -> Option<Ended> {
        loop {
            let asks = tokio::select! {
                biased;
                ended = &mut end => {
                    let gone = || (Err(io::Error::other("nobody waited for it")), None);
                    return Some(ended.unwrap_or_else(|_| gone()));
                }
                asks = self.signals.next() => asks,
            };
            match asks {
                // What is typed there reaches us too, and is not meant for us.
                Asks::End(number) if is_typed(number) => {}
                Asks::End(number) => {
                    self.left = Some(Left::Signal(number));
                    return None;
                }
                // It has stopped itself and with it the job, of which we are the part that catches the signal.
                Asks::Stop if can_be_continued() => self.signals.stop().await,
                Asks::Stop | Asks::GoOn | Asks::Measure => {}
            }
        }
    }
}

/// How a program ended, and the draft if it had one.
type Ended = (io::Result<ExitStatus>, Option<io::Result<String>>);

/// Says whether a signal is one that a key sends to all of the foreground.
fn is_typed(number: i32) -> bool {
    use rustix::process::Signal;
    number == Signal::INT.as_raw() || number == Signal::QUIT.as_raw()
}

/// Says why what an editor made of the draft was not taken, and keeps the file, since nobody has it else.
fn untaken(file: HandedFile, error: &io::Error) -> String {
    let kept = match file {
        HandedFile::Kept(_) => None,
        HandedFile::Draft(file, _) => file.keep().ok(),
    };
    let kept = kept.map(|(_, path)| format!("; it is kept in {}", path.display()));
    format!("could not take the edited draft: {error}{}", kept.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_draft_that_is_not_taken_is_kept_and_where_is_said() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_owned();
        std::fs::write(&path, "edited").unwrap();
        let why = io::Error::other("it is too long");
        let said = untaken(HandedFile::Draft(file, String::new()), &why);
        let kept = path.display();
        let expected =
            format!("could not take the edited draft: it is too long; it is kept in {kept}");
        assert_eq!(said, expected);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "edited");
        std::fs::remove_file(path).unwrap();
    }
}
