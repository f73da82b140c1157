//! The cap question, and the cap by hand.
//!
//! What may go here: what is shown, what a key answers, which amounts are refused in place. What may not: deciding
//! about money, which the core does.

mod told;

use crossterm::event::KeyEvent;

use self::told::{
    how_answered, number, reserved_by, write_agents, write_by_hand, write_forecast, write_money,
    write_next, write_queue, write_rate,
};
use super::amount::Amount;
use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use super::{Content, Modal};
use crate::core::{AgentId, Answer, Command, Header, Hold, NanoUsd, Question, Reply};
use crate::runtime::Gone;
use crate::tui::keymap::{Action, Place, key_name};
use crate::tui::message::{Asked, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{count, one_line};
use crate::words::report_line::exact;

/// Cells that its lines want.
const WIDTH: usize = 66;

/// The cap question, or the cap by hand.
#[derive(Debug)]
pub(crate) struct CapModal {
    /// The question as it stood last; none: the cap by hand.
    question: Option<Question>,
    amount: Amount,
    note: Option<(String, Tone)>,
    /// It asks something else than before.
    asks_anew: bool,
    /// Stop everything was pressed once.
    is_armed: bool,
    /// An answer is on its way; what is said once it has been taken.
    sent: Option<String>,
    sheet: Sheet,
}

impl CapModal {
    pub(super) fn new(world: &World) -> Self {
        let snapshot = &world.snapshot;
        let question = snapshot.question.clone();
        let proposal = question.as_ref().map(|it| it.default).or(snapshot.header.cap);
        let mut modal = Self {
            question,
            amount: Amount::new(proposal),
            note: None,
            asks_anew: false,
            is_armed: false,
            sent: None,
            sheet: Sheet::default(),
        };
        modal.lay_out(world);
        modal
    }

    fn refuse(&mut self, why: String) -> Vec<Wish> {
        self.note = Some((why, Tone::Bad));
        Vec::new()
    }

    /// Enter: the amount in the line, if it can be one.
    fn accept(&mut self, was_armed: bool, world: &World) -> Vec<Wish> {
        let header = &world.snapshot.header;
        let Some(question) = &self.question else {
            if self.amount.is_empty() {
                return match header.cap {
                    None => vec![Wish::Close],
                    Some(_) if was_armed => {
                        self.send(Command::SetCap(None), "the cap is gone", world)
                    }
                    Some(_) => {
                        self.arm(key_name!(CapByHand, Accept), "nothing limits what is spent then")
                    }
                };
            }
            return match self.amount.read_above(header.spent) {
                Err(why) => self.refuse(why),
                Ok(cap) => {
                    let said = format!("the cap is {} now", exact(cap));
                    self.send(Command::SetCap(Some(cap)), &said, world)
                }
            };
        };
        let id = question.id;
        match self.amount.read_above(question.committed) {
            Err(why) => self.refuse(why),
            Ok(cap) => {
                let said = format!("the cap is raised to {}", exact(cap));
                self.send(Command::Answer(id, Answer::Raise(cap)), &said, world)
            }
        }
    }

    /// Answers the question without an amount.
    fn answer(&mut self, answer: Answer, said: &str, world: &World) -> Vec<Wish> {
        match &self.question {
            Some(question) => self.send(Command::Answer(question.id, answer), said, world),
            None => Vec::new(),
        }
    }

    /// Sends a command and waits for the host's word on it: a refusal is shown here.
    fn send(&mut self, command: Command, said: &str, world: &World) -> Vec<Wish> {
        if self.sent.is_some() {
            return Vec::new();
        }
        if !world.can_ask() {
            return self
                .refuse(format!("nobody can be asked now; {} closes this", key_name!(Cap, Close)));
        }
        let asked = if matches!(command, Command::Answer(..)) { Asked::Answer } else { Asked::Cap };
        self.sent = Some(said.to_owned());
        self.note = Some(("saving...".to_owned(), Tone::Dim));
        vec![Wish::Ask(Request::Send(command, asked))]
    }

    fn stop_everything(&mut self, was_armed: bool, world: &World) -> Vec<Wish> {
        if self.question.is_none() {
            return Vec::new();
        }
        if was_armed {
            return self.answer(Answer::Stop, "stopping everything", world);
        }
        let kpis = &world.snapshot.header.kpis;
        let running = count(number(kpis.running), "agent");
        let queued = count(number(kpis.queued), "queued task");
        self.arm(
            key_name!(Cap, StopEverything),
            &format!("{running} will be ended and {queued} dropped"),
        )
    }

    /// Has a key pressed twice in a row before it does what cannot be taken back.
    fn arm(&mut self, key: &str, what: &str) -> Vec<Wish> {
        self.is_armed = true;
        self.note = Some((format!("press {key} again: {what}"), Tone::Warning));
        Vec::new()
    }

    /// Answers with the end of the queue: at once, or twice in a row where the key may have been meant for the amount.
    fn drop_queue(&mut self, was_armed: bool, world: &World) -> Vec<Wish> {
        if self.amount.is_proposal() || was_armed {
            return self.answer(Answer::Drop, "the queue is dropped", world);
        }
        let queued = count(loose(world).len(), "queued task");
        self.arm(key_name!(Cap, DropQueue), &format!("{queued} will not run"))
    }

    /// Drops what has been held since the question was answered with that.
    fn drop_held(&mut self, was_armed: bool, world: &World) -> Vec<Wish> {
        if !is_held_at_cap(world) {
            let why = "no queue is held at the cap";
            return vec![Wish::Flash(why.to_owned(), Tone::Warning)];
        }
        let queue = loose(world);
        let queued = count(queue.len(), "queued task");
        if was_armed {
            let command = Command::Stop(Some(queue));
            return self.send(command, "the queue is dropped", world);
        }
        self.arm(key_name!(CapByHand, DropQueue), &format!("{queued} will not run"))
    }

    /// Puts another amount into the line: `change` takes what stands there, or what is proposed.
    fn change(&mut self, world: &World, change: impl FnOnce(NanoUsd) -> NanoUsd) {
        let header = &world.snapshot.header;
        let proposal = self.question.as_ref().map(|it| it.default).or(header.cap);
        let now = self.amount.read().ok().or(proposal).unwrap_or_default();
        self.amount.propose(change(now));
        self.note = None;
    }

    /// Twice the cap, and again twice that until something may start.
    fn double(&mut self, world: &World) {
        let header = &world.snapshot.header;
        let Some(cap) = header.cap.filter(|cap| *cap > NanoUsd::ZERO) else {
            let none = "there is no cap to double: type an amount";
            self.note = Some((none.to_owned(), Tone::Warning));
            return;
        };
        let least = self.least(header);
        let mut raised = cap + cap;
        // An amount has so many bits, and stays at the largest one.
        for _ in 0..u64::BITS {
            if raised <= least {
                raised += raised;
            }
        }
        self.change(world, |_| raised);
    }

    /// Returns what a cap has to be above.
    fn least(&self, header: &Header) -> NanoUsd {
        self.question.as_ref().map_or(header.spent, |question| question.committed)
    }

    /// Takes the question as it stands now; an amount that nobody typed and that is not enough any more is proposed anew.
    fn follow(&mut self, world: &World) -> Vec<Wish> {
        let snapshot = &world.snapshot;
        match (&self.question, &snapshot.question) {
            (Some(shown), Some(open)) if shown.id == open.id => {
                let is_short = self.amount.read().is_ok_and(|amount| amount <= open.committed);
                if self.amount.is_proposal() && is_short && self.sent.is_none() {
                    self.amount.propose(open.default);
                    self.note = Some((
                        "more has been spent meanwhile, so the amount is a new one".to_owned(),
                        Tone::Warning,
                    ));
                    self.asks_anew = true;
                }
                self.question = Some(open.clone());
            }
            (Some(shown), _) => {
                let how = how_answered(snapshot, shown);
                return vec![Wish::Close, Wish::Flash(how, Tone::Warning)];
            }
            (None, Some(open)) => {
                // The cap was reached while it was being changed by hand.
                self.is_armed = false;
                if self.amount.is_proposal() {
                    self.amount.propose(open.default);
                }
                self.question = Some(open.clone());
                self.asks_anew = true;
            }
            (None, None) => {}
        }
        Vec::new()
    }

    fn lay_out(&mut self, world: &World) {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        let header = &world.snapshot.header;
        writer.connection(world);
        write_money(&mut writer, world, self.question.as_ref());
        if let Some(question) = &self.question {
            write_queue(&mut writer, world, question);
            write_rate(&mut writer, world);
            write_next(&mut writer, world);
        } else {
            write_rate(&mut writer, world);
            write_forecast(&mut writer, world);
            write_agents(&mut writer, &world.snapshot);
            if is_held_at_cap(world) {
                write_next(&mut writer, world);
            }
            write_by_hand(&mut writer, header);
        }
        let name = if self.question.is_some() { "raise to" } else { "cap" };
        let (line, caret) = self.amount.line(name, world, width);
        let mut foot = Writer::new(world.theme, width);
        if let Some((note, tone)) = &self.note {
            foot.text(note, *tone);
        } else if self.question.is_none() {
            foot.text(&told::hint(&self.amount, header), Tone::Dim);
        } else if let Some(text) = self.amount.read().ok().and_then(|cap| reserved_by(header, cap))
        {
            foot.text(&text, Tone::Warning);
        }
        let mut lines = vec![line];
        lines.extend(foot.into_lines());
        let title = match &self.question {
            Some(question) => format!("the cap of {} is reached", exact(question.cap)),
            None => "cap".to_owned(),
        };
        let text = Text {
            title,
            body: writer.into_lines(),
            foot: lines,
            caret: Some((0, caret)),
            is_tall: false,
        };
        let hidden = [(Action::DropQueue, None)];
        let hidden: &[_] =
            if self.question.is_some() || is_held_at_cap(world) { &[] } else { &hidden };
        self.sheet.lay_out(world, WIDTH, text, self.place(), hidden);
    }
}

/// Says whether the answer to the question was to keep holding what waits.
/// Returns what is queued but for those that are held by themselves, about which nothing is asked.
fn loose(world: &World) -> Vec<AgentId> {
    let is_held = |id: &AgentId| world.row(*id).is_some_and(|row| row.held);
    world.snapshot.queue.iter().copied().filter(|id| !is_held(id)).collect()
}

fn is_held_at_cap(world: &World) -> bool {
    world.snapshot.header.hold == Some(Hold::Cap) && !world.snapshot.queue.is_empty()
}

impl Content for CapModal {
    fn place(&self) -> Place {
        if self.question.is_some() { Place::Cap } else { Place::CapByHand }
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn harmless(&self) -> Option<&'static [Action]> {
        Some(if self.question.is_some() { &[Action::QuitQuestion] } else { &[Action::Close] })
    }

    fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.asks_anew)
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        let was_armed = std::mem::take(&mut self.is_armed);
        if self.sent.is_some() {
            // The answer is on its way and cannot be taken back; without a host it may never be heard of.
            return if action == Action::Close { vec![Wish::Close] } else { Vec::new() };
        }
        match action {
            Action::Accept => return self.accept(was_armed, world),
            Action::Raise1 => self.change(world, |now| now + NanoUsd::from_dollars(1)),
            Action::Raise5 => self.change(world, |now| now + NanoUsd::from_dollars(5)),
            Action::RaiseDouble => self.double(world),
            Action::DropQueue if self.question.is_none() => {
                return self.drop_held(was_armed, world);
            }
            Action::DropQueue => return self.drop_queue(was_armed, world),
            Action::QuitQuestion => {
                return vec![Wish::Close, Wish::Open(Box::new(Modal::quit(world)))];
            }
            Action::StopEverything => return self.stop_everything(was_armed, world),
            Action::Close if self.question.is_none() || !world.can_ask() => {
                return vec![Wish::Close];
            }
            Action::Close => {
                let cap = key_name!(Everywhere, Cap);
                let said = format!("the queue stays held: {cap} changes the cap");
                return self.answer(Answer::Hold, &said, world);
            }
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        self.is_armed = false;
        if self.sent.is_none() {
            self.note = None;
            self.amount.key(key);
        }
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        self.is_armed = false;
        if self.sent.is_none() {
            self.note = None;
            self.amount.paste(text);
        }
        Vec::new()
    }

    fn replied(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Vec<Wish> {
        if !matches!(asked, Asked::Answer | Asked::Cap) {
            return Vec::new();
        }
        let Some(said) = self.sent.take() else { return Vec::new() };
        match reply {
            Ok(Reply::Refused(refusal)) => self.refuse(one_line(&refusal.0)),
            Ok(Reply::AlreadyAnswered(_)) => vec![Wish::Close],
            Ok(_) => vec![Wish::Close, Wish::Flash(said, Tone::Good)],
            Err(gone) => self.refuse(format!("not done, as far as is known: {gone}")),
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        // What becomes of an answer that was sent is told by its reply.
        if self.sent.is_none() {
            let wishes = self.follow(world);
            if !wishes.is_empty() {
                return wishes;
            }
        }
        self.lay_out(world);
        Vec::new()
    }
}
