//! What stands over the screen and has all keys while it does.
//!
//! What may go here: which modals there are, and passing to them what happens. What may not: what one of them says.

mod again;
mod amount;
mod cap;
mod confirm;
mod details;
mod entry;
mod first_cap;
mod fleets;
mod help;
mod message;
mod options;
mod quit;
mod results;
mod sheet;
mod tell;
#[cfg(test)]
mod tests;
mod writer;

use std::time::Duration;

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

use self::again::AgainModal;
use self::cap::CapModal;
use self::confirm::ConfirmModal;
use self::details::DetailsModal;
use self::first_cap::FirstCapModal;
use self::fleets::FleetsModal;
use self::help::HelpModal;
use self::message::MessageModal;
use self::options::OptionsModal;
use self::quit::QuitModal;
use self::results::ResultsModal;
use self::sheet::{DEAF, Sheet};
use self::tell::TellModal;
use super::keymap::{Action, Place};
use super::message::{Asked, Facts, FleetNews};
use super::wish::Wish;
use super::world::World;
use crate::core::{AgentId, Moment, Reply};
use crate::runtime::Gone;

/// Time between two layouts of what is about all rows, while agents run: they change many times a second.
const APART: Duration = Duration::from_millis(250);

/// Rows that one turn of the wheel scrolls.
const WHEEL: isize = 3;

/// What every modal is to the rest of the screen. Whatever has no meaning in it is swallowed.
trait Content {
    /// Where its keys are looked up.
    fn place(&self) -> Place;
    /// Its box.
    fn sheet(&self) -> &Sheet;
    /// Its box, to be scrolled.
    fn sheet_mut(&mut self) -> &mut Sheet;
    /// Does what a key means, but for scrolling.
    fn act(&mut self, action: Action, world: &World) -> Vec<Wish>;
    /// The fleet, the moment or the size changed: writes its box anew.
    fn refresh(&mut self, world: &World) -> Vec<Wish>;
    /// What is heard of keys that came with the one that opened it, before anybody could see it: everything, unless it
    /// is a question whose answers cannot be taken back.
    fn harmless(&self) -> Option<&'static [Action]> {
        None
    }
    /// Says whether keys that scroll move a cursor of its own.
    fn has_cursor(&self) -> bool {
        false
    }
    /// Something about other fleets has come.
    fn fleets(&mut self, _news: FleetNews) {}
    /// Says whether it asks something else by itself since this was called last.
    fn take_change(&mut self) -> bool {
        false
    }
    /// Types a key.
    fn key(&mut self, _key: KeyEvent, _world: &World) -> Vec<Wish> {
        Vec::new()
    }
    /// Pastes.
    fn paste(&mut self, _text: &str, _world: &World) -> Vec<Wish> {
        Vec::new()
    }
    /// Facts of an agent have come.
    fn facts(&mut self, _id: AgentId, _facts: &Facts) {}
    /// The host answered, or went before it did.
    fn replied(&mut self, _asked: &Asked, _reply: &Result<Reply, Gone>) -> Vec<Wish> {
        Vec::new()
    }
}

/// A modal, and whether it listens.
#[derive(Debug)]
pub(crate) struct Modal {
    kind: Kind,
    /// Until when it ignores keys, since nobody asked for it or for what it asks now.
    deaf_until: Option<Moment>,
    /// A frame with it has been drawn.
    is_seen: bool,
}

/// Which modal it is.
#[derive(Debug)]
enum Kind {
    /// The cap question, or the cap by hand.
    Cap(Box<CapModal>),
    /// A cap before the first task that costs money.
    FirstCap(Box<FirstCapModal>),
    /// What happens to agents when the screen is left.
    Quit(Box<QuitModal>),
    /// A yes or no.
    Confirm(Box<ConfirmModal>),
    /// A long text.
    Message(Box<MessageModal>),
    /// Help.
    Help(Box<HelpModal>),
    /// Everything known of an agent.
    Details(Box<DetailsModal>),
    /// What came of everything.
    Results(Box<ResultsModal>),
    /// Options of what is typed.
    Options(Box<OptionsModal>),
    /// What is told to an agent.
    Tell(Box<TellModal>),
    /// The list of fleets.
    Fleets(Box<FleetsModal>),
    /// Which tasks of an ended fleet are run again.
    Again(Box<AgainModal>),
}

impl Modal {
    fn new(kind: Kind, uninvited: Option<Moment>) -> Self {
        let deaf_until = uninvited.map(|since| since.after(DEAF));
        Self { kind, deaf_until, is_seen: false }
    }
    /// The cap question, or the cap by hand; opened by itself if `uninvited` says when.
    pub(crate) fn cap(world: &World, uninvited: Option<Moment>) -> Self {
        Self::new(Kind::Cap(Box::new(CapModal::new(world))), uninvited)
    }
    /// The question for a cap before the first task of a kind that costs money. Its answer dispatches the tasks. It
    /// opened by itself if `uninvited` says when.
    pub(crate) fn first_cap(kind: &str, world: &World, uninvited: Option<Moment>) -> Self {
        Self::new(Kind::FirstCap(Box::new(FirstCapModal::new(kind, world))), uninvited)
    }
    /// What happens to agents when the screen is left.
    pub(crate) fn quit(world: &World) -> Self {
        Self::new(Kind::Quit(Box::new(QuitModal::new(world))), None)
    }
    /// A yes or no; these wishes are granted on yes. It opened by itself if `uninvited` says when.
    pub(crate) fn confirm(question: String, yes: Vec<Wish>, uninvited: Option<Moment>) -> Self {
        Self::new(Kind::Confirm(Box::new(ConfirmModal::new(question, yes))), uninvited)
    }
    /// A text that is too long for the footer; opened by itself if `uninvited` says when.
    pub(crate) fn message(title: &str, text: String, uninvited: Option<Moment>) -> Self {
        Self::new(Kind::Message(Box::new(MessageModal::new(title, text))), uninvited)
    }
    /// Help for a place.
    pub(crate) fn help(place: Place) -> Self {
        Self::new(Kind::Help(Box::new(HelpModal::new(place))), None)
    }
    /// Everything known of an agent.
    pub(crate) fn details(id: AgentId, world: &World) -> Option<Self> {
        world.row(id)?;
        Some(Self::new(Kind::Details(Box::new(DetailsModal::new(id))), None))
    }
    /// Options of what is typed.
    pub(crate) fn options(world: &World) -> Self {
        Self::new(Kind::Options(Box::new(OptionsModal::new(world))), None)
    }
    /// What is told to an agent.
    pub(crate) fn tell(id: AgentId, world: &World) -> Self {
        Self::new(Kind::Tell(Box::new(TellModal::new(id, world))), None)
    }
    /// Results by set.
    pub(crate) fn results() -> Self {
        Self::new(Kind::Results(Box::default()), None)
    }

    /// Which tasks of an ended fleet are run again.
    pub(crate) fn again() -> Self {
        Self::new(Kind::Again(Box::default()), None)
    }
    /// The list of fleets.
    pub(crate) fn fleet_list() -> Self {
        Self::new(Kind::Fleets(Box::default()), None)
    }

    fn content(&self) -> &dyn Content {
        match &self.kind {
            Kind::Cap(modal) => modal.as_ref(),
            Kind::FirstCap(modal) => modal.as_ref(),
            Kind::Quit(modal) => modal.as_ref(),
            Kind::Confirm(modal) => modal.as_ref(),
            Kind::Message(modal) => modal.as_ref(),
            Kind::Help(modal) => modal.as_ref(),
            Kind::Details(modal) => modal.as_ref(),
            Kind::Results(modal) => modal.as_ref(),
            Kind::Options(modal) => modal.as_ref(),
            Kind::Tell(modal) => modal.as_ref(),
            Kind::Fleets(modal) => modal.as_ref(),
            Kind::Again(modal) => modal.as_ref(),
        }
    }

    fn content_mut(&mut self) -> &mut dyn Content {
        match &mut self.kind {
            Kind::Cap(modal) => modal.as_mut(),
            Kind::FirstCap(modal) => modal.as_mut(),
            Kind::Quit(modal) => modal.as_mut(),
            Kind::Confirm(modal) => modal.as_mut(),
            Kind::Message(modal) => modal.as_mut(),
            Kind::Help(modal) => modal.as_mut(),
            Kind::Details(modal) => modal.as_mut(),
            Kind::Results(modal) => modal.as_mut(),
            Kind::Options(modal) => modal.as_mut(),
            Kind::Tell(modal) => modal.as_mut(),
            Kind::Fleets(modal) => modal.as_mut(),
            Kind::Again(modal) => modal.as_mut(),
        }
    }

    /// Where its keys are looked up.
    pub(crate) fn place(&self) -> Place {
        self.content().place()
    }

    /// Says whether it is about the cap.
    pub(crate) fn is_cap(&self) -> bool {
        matches!(self.kind, Kind::Cap(_))
    }

    /// Says whether it is about other fleets.
    pub(crate) fn is_fleets(&self) -> bool {
        matches!(self.kind, Kind::Fleets(_) | Kind::Again(_))
    }

    /// Until when it ignores keys, and shows that it does.
    pub(crate) fn deaf_until(&self) -> Option<Moment> {
        self.deaf_until
    }

    /// A frame with it has been drawn: keys that come from now on can be meant for it.
    pub(crate) fn drawn(&mut self) {
        self.is_seen = true;
    }

    /// Says whether it takes what was typed or clicked now.
    fn listens(&self, world: &World) -> bool {
        self.deaf_until.is_none_or(|until| until <= world.now)
    }

    /// Says whether it takes text that was typed or pasted now. What was meant for another place is no answer.
    fn takes_text(&self, world: &World) -> bool {
        self.listens(world) && (self.is_seen || self.content().harmless().is_none())
    }

    /// Does what a key means.
    pub(crate) fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        if !self.listens(world) {
            return Vec::new();
        }
        let is_seen = self.is_seen;
        let content = self.content_mut();
        let moves_cursor = content.has_cursor();
        let page = isize::try_from(content.sheet().rows_in_view().max(2) - 1).unwrap_or(1);
        let by = match action {
            action if moves_cursor => return content.act(action, world),
            Action::Down => 1,
            Action::Up => -1,
            Action::PageDown => page,
            Action::PageUp => -page,
            Action::First => isize::MIN,
            Action::Last => isize::MAX,
            action => {
                let harmless = content.harmless();
                let is_heard = is_seen || harmless.is_none_or(|those| those.contains(&action));
                return if is_heard { content.act(action, world) } else { Vec::new() };
            }
        };
        content.sheet_mut().scroll(by);
        Vec::new()
    }

    /// Types a key.
    pub(crate) fn key(&mut self, key: KeyEvent, world: &World) -> Vec<Wish> {
        if !self.takes_text(world) {
            return Vec::new();
        }
        self.content_mut().key(key, world)
    }

    /// Pastes.
    pub(crate) fn paste(&mut self, text: &str, world: &World) -> Vec<Wish> {
        if !self.takes_text(world) {
            return Vec::new();
        }
        self.content_mut().paste(text, world)
    }

    /// Takes a mouse event.
    pub(crate) fn mouse(&mut self, event: MouseEvent, world: &World) -> Vec<Wish> {
        if !self.listens(world) {
            return Vec::new();
        }
        let content = self.content_mut();
        match event.kind {
            MouseEventKind::ScrollDown if content.has_cursor() => {
                return content.act(Action::Down, world);
            }
            MouseEventKind::ScrollUp if content.has_cursor() => {
                return content.act(Action::Up, world);
            }
            MouseEventKind::ScrollDown => content.sheet_mut().scroll(WHEEL),
            MouseEventKind::ScrollUp => content.sheet_mut().scroll(-WHEEL),
            MouseEventKind::Down(MouseButton::Left) => {
                let position = Position::new(event.column, event.row);
                if let Some(action) = content.sheet().action_at(position) {
                    return self.act(action, world);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Facts of an agent have come.
    pub(crate) fn facts(&mut self, id: AgentId, facts: &Facts) {
        self.content_mut().facts(id, facts);
    }

    /// Something about other fleets has come.
    pub(crate) fn fleets(&mut self, news: FleetNews) {
        self.content_mut().fleets(news);
    }

    /// The host answered, or went before it did.
    pub(crate) fn replied(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Vec<Wish> {
        self.content_mut().replied(asked, reply)
    }

    /// The fleet changed.
    pub(crate) fn refresh(&mut self, world: &World) -> Vec<Wish> {
        if self.listens(world) {
            self.deaf_until = None;
        }
        let wishes = self.content_mut().refresh(world);
        if self.content_mut().take_change() {
            self.deaf_until = Some(world.now.after(DEAF));
        }
        wishes
    }

    /// Draws it over everything; returns the cell of the caret.
    pub(crate) fn draw(&self, buffer: &mut Buffer, world: &World) -> Option<Position> {
        let content = self.content();
        content.sheet().draw(buffer, world, self.deaf_until)
    }
}
