//! The question for a cap before the first task of a kind that costs money.
//!
//! What may go here: its words and what an answer leads to. What may not: when it is asked.

use crossterm::event::KeyEvent;

use super::Content;
use super::amount::Amount;
use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use crate::core::{Command, NanoUsd, Reply};
use crate::runtime::Gone;
use crate::tui::keymap::{Action, Place, key_name};
use crate::tui::message::{Asked, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::one_line;

/// Cells that its lines want.
const WIDTH: usize = 62;
/// What is proposed: enough for a first try of most kinds, little enough not to hurt.
const PROPOSAL: NanoUsd = NanoUsd::from_dollars(5);

/// The question.
#[derive(Debug)]
pub(crate) struct FirstCapModal {
    /// The kind that costs money.
    kind: String,
    amount: Amount,
    note: Option<(String, Tone)>,
    /// The cap is on its way. The draft follows only when it is set, so that no task can start before it.
    is_sent: bool,
    sheet: Sheet,
}

impl FirstCapModal {
    pub(super) fn new(kind: &str, world: &World) -> Self {
        let mut modal = Self {
            kind: kind.to_owned(),
            amount: Amount::new(Some(PROPOSAL)),
            note: None,
            is_sent: false,
            sheet: Sheet::default(),
        };
        modal.lay_out(world);
        modal
    }

    fn accept(&mut self, world: &World) -> Vec<Wish> {
        let refused = match self.amount.read_above(world.snapshot.header.spent) {
            Ok(_) if !world.can_ask() => {
                format!("nobody can be asked now; {} closes this", key_name!(FirstCap, Close))
            }
            Ok(cap) => {
                self.is_sent = true;
                self.note = Some(("saving...".to_owned(), Tone::Dim));
                return vec![Wish::Ask(Request::Send(Command::SetCap(Some(cap)), Asked::Cap))];
            }
            Err(why) => why,
        };
        self.note = Some((refused, Tone::Bad));
        Vec::new()
    }

    fn change(&mut self, more: u64) {
        let now = self.amount.read().unwrap_or(PROPOSAL);
        self.amount.propose(now + NanoUsd::from_dollars(more));
        self.note = None;
    }

    fn lay_out(&mut self, world: &World) {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        let kind = clean(world, &self.kind);
        writer.connection(world);
        writer.text(&format!("{kind} costs money and this fleet has no cap."), Tone::Strong);
        let kinds = world.maker.kinds();
        let counts_as = kinds.iter().find(|known| known.name == self.kind);
        if let Some(amount) = counts_as.and_then(|known| known.counts_as) {
            let amount = amount.to_exact();
            writer.text(
                &format!(
                    "It does not say what it costs: each agent counts as ${amount} against a cap."
                ),
                Tone::Warning,
            );
        }
        writer.gap();
        writer.text(
            "With a cap nothing more starts once that much is spent, and you are asked whether to go on. Without one \
             every task starts, whatever it comes to.",
            Tone::Plain,
        );
        let (line, caret) = self.amount.line("cap", world, width);
        let mut foot = Writer::new(world.theme, width);
        if let Some((note, tone)) = &self.note {
            foot.text(note, *tone);
        }
        let mut lines = vec![line];
        lines.extend(foot.into_lines());
        let text = Text {
            title: "a cap first?".to_owned(),
            body: writer.into_lines(),
            foot: lines,
            caret: Some((0, caret)),
            is_tall: false,
        };
        self.sheet.lay_out(world, WIDTH, text, self.place(), &[]);
    }
}

impl Content for FirstCapModal {
    fn place(&self) -> Place {
        Place::FirstCap
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn harmless(&self) -> Option<&'static [Action]> {
        Some(&[Action::Close])
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        match action {
            Action::Close => return vec![Wish::Close],
            _ if self.is_sent => {}
            Action::Accept => return self.accept(world),
            Action::No => return vec![Wish::Close, Wish::Dispatch],
            Action::Raise1 => self.change(1),
            Action::Raise5 => self.change(5),
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        if !self.is_sent {
            self.note = None;
            self.amount.key(key);
        }
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        if !self.is_sent {
            self.note = None;
            self.amount.paste(text);
        }
        Vec::new()
    }

    fn replied(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Vec<Wish> {
        if *asked != Asked::Cap || !std::mem::take(&mut self.is_sent) {
            return Vec::new();
        }
        let why = match reply {
            Ok(Reply::Refused(refusal)) => one_line(&refusal.0),
            Ok(_) => return vec![Wish::Close, Wish::Dispatch],
            Err(gone) => format!("not done, as far as is known: {gone}"),
        };
        self.note = Some((why, Tone::Bad));
        Vec::new()
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        self.lay_out(world);
        Vec::new()
    }
}
