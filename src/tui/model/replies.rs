//! What is said when the host answers.

use super::Model;
use super::pending::Answered;
use crate::core::{Answer, Command, Reply};
use crate::runtime::Gone;
use crate::tui::keymap::key_name;
use crate::tui::message::{Asked, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::words::agent_numbers::agent_numbers;
use crate::words::plain_text::{count, one_line};

impl Model {
    pub(super) fn replied(&mut self, asked: &Asked, reply: Result<Reply, Gone>) -> Vec<Request> {
        let mut requests = Vec::new();
        let was_taken = matches!(reply, Ok(Reply::Queued(..) | Reply::Done(_)));
        match (self.answered(asked, &reply), asked) {
            (Answered::Lost(again), _) => {
                let text = if again.is_some() {
                    "the host went before it answered: the tasks are sent again"
                } else {
                    "the host went before it answered: the tasks are sent again to the next one"
                };
                self.tell(text.to_owned(), Tone::Warning);
                requests.extend(again);
                return requests;
            }
            (_, Asked::Dispatch(_) | Asked::Edit(_)) if was_taken => {
                let wishes = self.editor.accepted(&self.world);
                self.grant(wishes, &mut requests);
            }
            (Answered::Tasks(tasks), _) if !was_taken => {
                let (why, _) = words(asked, reply.clone());
                self.give_back(tasks, Some(why));
            }
            (_, Asked::Dispatch(_) | Asked::Edit(_)) => self.editor.refused(&self.world),
            _ => {}
        }
        if *asked == Asked::StopAll && !was_taken {
            self.is_leaving = false;
        }
        let of_modal =
            self.modal.as_mut().map(|modal| modal.replied(asked, &reply)).unwrap_or_default();
        // Of one agent the remark that was made at the key names it, which the number of those stopped does not.
        let is_named =
            matches!(asked, Asked::Stop(1) | Asked::Kill(1) | Asked::Remove(1) | Asked::Move)
                && matches!(reply, Ok(Reply::Done(1)));
        // That all have ended is more than that they were told to, and says that as well.
        let is_past = matches!(reply, Ok(Reply::Done(_))) && self.shows_end();
        if !is_named && !is_past {
            let (text, tone) = words(asked, reply);
            self.tell(text, tone);
        }
        // A modal knows better what was asked for, so its remark comes last.
        let is_told = |wish: &Wish| !(is_past && matches!(wish, Wish::Flash(..)));
        self.grant(of_modal.into_iter().filter(is_told).collect(), &mut requests);
        requests
    }

    /// Says whether the remark is still there that all agents have ended.
    fn shows_end(&self) -> bool {
        let shown = self.flash.as_ref().map(|flash| &flash.text);
        shown.is_some() && shown == self.end_remark.as_ref()
    }
}

/// Returns what a command that ends agents asks for, in words. `None` for any other command.
pub(super) fn ending(command: &Command, asked: &Asked) -> Option<String> {
    let ids = match command {
        Command::Stop(ids) | Command::Kill(ids) => ids.as_deref().unwrap_or_default(),
        Command::Remove(id) => std::slice::from_ref(id),
        Command::Interrupt(_) | Command::Answer(_, Answer::Stop) => {
            return Some("stopping everything".to_owned());
        }
        _ => return None,
    };
    let verb = match asked {
        Asked::Kill(_) => "killing",
        Asked::Remove(_) => "removing",
        _ => "stopping",
    };
    match ids {
        [] => None,
        [one] => Some(format!("{verb} {one}")),
        more => Some(format!("{verb} {}", count(more.len(), "agent"))),
    }
}

/// Returns the remark about a reply.
fn words(asked: &Asked, reply: Result<Reply, Gone>) -> (String, Tone) {
    match reply {
        Ok(Reply::Queued(_, ids)) => match asked {
            Asked::Retry(_) => (format!("tried again as {}", agent_numbers(&ids)), Tone::Good),
            Asked::Tell(id) => {
                (format!("{} goes on in the session of {id}", agent_numbers(&ids)), Tone::Good)
            }
            _ => (format!("queued {}", agent_numbers(&ids)), Tone::Good),
        },
        Ok(Reply::Told(id)) => (format!("{id} is told"), Tone::Good),
        Ok(Reply::TurnInterrupted(id)) => (format!("the turn of {id} is interrupted"), Tone::Good),
        Ok(Reply::Done(number)) => (done(asked, number), Tone::Plain),
        Ok(Reply::AlreadyEnded(ids)) => {
            (format!("{} had already ended", agent_numbers(&ids)), Tone::Plain)
        }
        Ok(Reply::AlreadyAnswered(how)) => (format!("already answered: {how}"), Tone::Warning),
        Ok(Reply::Refused(refusal)) => (one_line(&refusal.0), Tone::Bad),
        Err(gone) => {
            (format!("not done, as far as is known: {gone}; look again when it is back"), Tone::Bad)
        }
    }
}

fn done(asked: &Asked, number: u32) -> String {
    let agents = |number: u32| count(usize::try_from(number).unwrap_or(usize::MAX), "agent");
    match asked {
        Asked::Dispatch(_) | Asked::First(_) => format!("queued {number}"),
        Asked::Edit(id) => format!("{id} changed"),
        Asked::Stop(_) if number == 0 => "nothing to stop".to_owned(),
        Asked::Stop(_) => {
            format!("stopping {}: {} again kills", agents(number), key_name!(Agents, Stop))
        }
        Asked::StopAll => format!("stopping {}", agents(number)),
        Asked::Kill(_) => format!("killing {}", agents(number)),
        Asked::Remove(_) => format!("{} removed from the queue", agents(number)),
        Asked::Retry(_) => format!("tried again: {number}"),
        Asked::Tell(id) => format!("{id} is told"),
        Asked::Hold => format!("queue held: nothing starts until {}", key_name!(Agents, Hold)),
        Asked::Release => "queue released".to_owned(),
        Asked::HoldAgents(_) => format!("{} held: the others go on", agents(number)),
        Asked::ReleaseAgents(_) => format!("{} released", agents(number)),
        Asked::Move => "moved".to_owned(),
        Asked::Cap => "cap changed".to_owned(),
        Asked::Answer => "answered".to_owned(),
    }
}
