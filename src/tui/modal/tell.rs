//! What is told to an agent: now, while it runs, or to a new one that goes on in its session.
//!
//! What may go here: its words, and what an answer leads to. What may not: who can be told (`core` decides that when it
//! is sent).

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};

use super::Content;
use super::entry::Entry;
use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use crate::adapters::talk;
use crate::core::{AgentId, BatchId, Command, Phase, Reply, Row, Status};
use crate::runtime::Gone;
use crate::tui::keymap::{Action, Place, key_name};
use crate::tui::message::{Asked, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{cut_cells, one_line};
use crate::words::why;

/// Cells that its lines want.
const WIDTH: usize = 66;
/// Most bytes that are typed or pasted: as much as a fleet takes.
const MESSAGE_BYTES: usize = 1 << 20;

/// The box.
#[derive(Debug)]
pub(crate) struct TellModal {
    id: AgentId,
    entry: Entry,
    note: Option<(String, Tone)>,
    /// The message is on its way.
    is_sent: bool,
    sheet: Sheet,
}

impl TellModal {
    pub(super) fn new(id: AgentId, world: &World) -> Self {
        let entry = Entry::new(String::new(), MESSAGE_BYTES);
        let mut modal = Self { id, entry, note: None, is_sent: false, sheet: Sheet::default() };
        modal.lay_out(world);
        modal
    }

    fn accept(&mut self, world: &World) -> Vec<Wish> {
        let text = self.entry.text().trim().to_owned();
        if text.is_empty() {
            self.note = Some(("type what it is to know".to_owned(), Tone::Bad));
            return Vec::new();
        }
        self.send(Command::Steer(self.id, text, BatchId::from_bits(fastrand::u32(..))), world)
    }

    /// Ends the turn of the agent, which goes on with the message if one is typed.
    fn interrupt(&mut self, world: &World) -> Vec<Wish> {
        let text = Some(self.entry.text().trim().to_owned()).filter(|text| !text.is_empty());
        self.send(Command::InterruptTurn(self.id, text), world)
    }

    fn send(&mut self, command: Command, world: &World) -> Vec<Wish> {
        if !world.can_ask() {
            let why = format!("nobody can be asked now; {} closes this", key_name!(Tell, Close));
            self.note = Some((why, Tone::Bad));
            return Vec::new();
        }
        self.is_sent = true;
        self.note = Some(("telling it...".to_owned(), Tone::Dim));
        vec![Wish::Ask(Request::Send(command, Asked::Tell(self.id)))]
    }

    fn lay_out(&mut self, world: &World) {
        let width = sheet::text_width(world, WIDTH);
        let mut body = Writer::new(world.theme, width);
        body.connection(world);
        if let Some(row) = world.row(self.id) {
            let head = format!("{}: {}", row.id, why::head(&row.task.text));
            body.text(&clean(world, &head), Tone::Strong);
            body.gap();
            body.text(&clean(world, &what_happens(row)), Tone::Plain);
        }
        // Most of a small screen belongs to what is typed into it; on a large one that is no end of room.
        let most = usize::from(world.panes.screen.height / 5).max(1);
        let (rows, caret) = self.entry.shown_in_rows(width, most);
        let typed = rows.into_iter().map(|row| {
            let shown = cut_cells(&world.theme.words.text(&row), width);
            Line::from(Span::styled(shown, world.theme.style(Tone::Strong)))
        });
        let mut foot = Writer::new(world.theme, width);
        if let Some((note, tone)) = &self.note {
            foot.text(note, *tone);
        }
        let lines: Vec<Line<'static>> = typed.chain(foot.into_lines()).collect();
        let text = Text {
            title: format!("tell {}", self.id),
            body: body.into_lines(),
            foot: lines,
            caret: Some(caret),
            is_tall: false,
        };
        let hidden = [(Action::InterruptTurn, None)];
        let can_interrupt = world.row(self.id).is_some_and(|row| has_turn(row));
        let hidden: &[_] = if can_interrupt { &[] } else { &hidden };
        self.sheet.lay_out(world, WIDTH, text, Place::Tell, hidden);
    }
}

/// Says what comes of a message now, before it is sent.
fn what_happens(row: &Row) -> String {
    let kind = why::head(&row.task.kind.0);
    if row.status.is_ended() {
        return format!(
            "It has ended: a new {kind} agent goes on in its session, with the same options. It waits in the queue as any \
             task does."
        );
    }
    let waits = why::unheard(row).map(|unheard| format!(" {unheard}")).unwrap_or_default();
    if matches!(row.phase, Phase::Interrupted(_)) {
        return "Its turn was interrupted, and it waits: it goes on with what it is told."
            .to_owned();
    }
    let interrupt = if has_turn(row) {
        format!(
            " {} ends that turn first, with a message or without.",
            key_name!(Tell, InterruptTurn)
        )
    } else {
        String::new()
    };
    format!("It is told now and takes that up within its current turn.{interrupt}{waits}")
}

/// Says whether there is a turn that an interrupt can end.
fn has_turn(row: &Row) -> bool {
    let is_idle = matches!(row.phase, Phase::Interrupted(_));
    row.status == Status::Running && !is_idle && talk(&row.task).interrupts
}

impl Content for TellModal {
    fn place(&self) -> Place {
        Place::Tell
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
            Action::InterruptTurn => return self.interrupt(world),
            Action::NewLine => self.entry.insert("\n"),
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        if !self.is_sent && self.entry.key(key) {
            self.note = None;
        }
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        if !self.is_sent {
            self.note = None;
            self.entry.insert(text);
        }
        Vec::new()
    }

    fn replied(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Vec<Wish> {
        if *asked != Asked::Tell(self.id) || !std::mem::take(&mut self.is_sent) {
            return Vec::new();
        }
        let why = match reply {
            Ok(Reply::Refused(refusal)) => one_line(&refusal.0),
            Ok(_) => return vec![Wish::Close],
            Err(gone) => format!("not told, as far as is known: {gone}"),
        };
        self.note = Some((why, Tone::Bad));
        Vec::new()
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        self.lay_out(world);
        Vec::new()
    }
}
