//! The output of the selected agent: which of its texts is shown, and what a key or the mouse does to the view of it.
//!
//! What may go here: state of the pane, requests to the reader of files. What may not: reading, drawing, words of empty
//! texts.

mod draw;
mod text;

use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use self::draw::Parts;
use self::text::{Content, Text};
use super::keymap::{Action, Place, key_name};
use super::layout::Focus;
use super::message::Request;
use super::search_line;
use super::theme::Tone;
use super::wish::Wish;
use super::world::World;
use crate::core::{AgentId, Snapshot};
use crate::tail::view::{self, Layout, Move};

/// Rows that one step of the wheel moves.
const WHEEL: i32 = 3;
/// Columns that one key moves lines that do not wrap.
const SIDE: i32 = 8;

/// What the reader was asked for last.
#[derive(Debug, Clone)]
struct Opened {
    id: AgentId,
    text: Text,
    /// What is shown of the snapshot; `None` for a file.
    content: Option<Arc<str>>,
    has_ended: bool,
    /// The snapshot in which it was last seen to be so.
    snapshot: Arc<Snapshot>,
}

/// The output of the selected agent.
#[derive(Debug, Default)]
pub(crate) struct TailPane {
    id: Option<AgentId>,
    /// The text that was turned to; `None`: what is best looked at first, for each agent.
    chosen: Option<Text>,
    /// Number of the newest opening; pages with another one are of something else.
    number: u64,
    opened: Option<Opened>,
    page: Arc<view::Page>,
    layout: Option<Layout>,
    is_hidden: bool,
    is_unwrapped: bool,
    /// The reader has been given something to search for.
    is_searching: bool,
    /// The search line while it is typed.
    typing: Option<String>,
    /// The copy that was put on the clipboard last.
    copied: u64,
}

impl TailPane {
    /// Where its keys are looked up: in the output, or in its search line.
    pub(crate) fn place(&self) -> Place {
        if self.typing.is_some() { Place::Prompt } else { Place::Tail }
    }

    /// Shows this agent from now on.
    pub(crate) fn show(&mut self, id: Option<AgentId>) {
        self.id = id;
    }

    /// What is visible of the file changed.
    pub(crate) fn page(&mut self, page: Arc<view::Page>) {
        if page.number == self.number {
            self.page = page;
        }
    }

    /// Does what a key means.
    pub(crate) fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        let half = i32::from(Parts::of(world.panes.tail, &self.page).rows.height / 2).max(1);
        match action {
            Action::Down => go(Move::Rows(1)),
            Action::Up => go(Move::Rows(-1)),
            Action::PageDown => go(Move::Pages(1)),
            Action::PageUp => go(Move::Pages(-1)),
            Action::HalfPageDown => go(Move::Rows(half)),
            Action::HalfPageUp => go(Move::Rows(-half)),
            Action::First => go(Move::Start),
            Action::Follow => go(Move::End),
            Action::Left | Action::Right if !self.is_unwrapped => {
                let text = format!("lines are wrapped: {} shows them whole", key_name!(Tail, Wrap));
                vec![Wish::Flash(text, Tone::Plain)]
            }
            Action::Left => go(Move::Columns(-SIDE)),
            Action::Right => go(Move::Columns(SIDE)),
            Action::NextText if self.id.is_none() => {
                vec![Wish::Flash("no agent is selected".to_owned(), Tone::Plain)]
            }
            Action::NextText => self.turn_to(self.text(world).next()),
            Action::Wrap => {
                self.is_unwrapped = !self.is_unwrapped;
                let (left, right) = (key_name!(Tail, Left), key_name!(Tail, Right));
                let text = if self.is_unwrapped {
                    format!("lines cut: {left}, {right} move")
                } else {
                    "lines wrapped".to_owned()
                };
                vec![Wish::Flash(text, Tone::Plain)]
            }
            Action::Search => {
                self.typing = Some(String::new());
                Vec::new()
            }
            Action::Accept => self.search(),
            Action::Close => {
                self.typing = None;
                Vec::new()
            }
            Action::NextHit => self.go_to_hit(view::Request::NextHit),
            Action::PreviousHit => self.go_to_hit(view::Request::PreviousHit),
            Action::CopyLine => self.copy_line(),
            Action::CopyPath => self.of_file(world, |path| {
                let text = path.to_string_lossy().into_owned();
                Wish::Ask(Request::Copy(text, "path".to_owned()))
            }),
            Action::ShowFile => {
                self.of_file(world, |path| Wish::Ask(Request::ShowFile(path.to_owned())))
            }
            Action::EditFile => {
                self.of_file(world, |path| Wish::Ask(Request::EditFile(path.to_owned())))
            }
            Action::Back => self.back(world),
            _ => Vec::new(),
        }
    }

    fn turn_to(&mut self, text: Text) -> Vec<Wish> {
        self.chosen = Some(text);
        Vec::new()
    }

    /// Returns the text that is shown.
    fn text(&self, world: &World) -> Text {
        let row = || self.id.and_then(|id| world.row(id));
        self.chosen.unwrap_or_else(|| row().map_or(Text::Out, |row| Text::first(&row.task)))
    }

    /// Ends the search line: an empty one ends the search.
    fn search(&mut self) -> Vec<Wish> {
        let needle = self.typing.take().filter(|needle| !needle.is_empty());
        self.is_searching = needle.is_some();
        let request = needle.map_or(view::Request::ClearSearch, view::Request::Search);
        vec![ask(request)]
    }

    fn go_to_hit(&mut self, request: view::Request) -> Vec<Wish> {
        if self.is_searching {
            return vec![ask(request)];
        }
        let text = format!("nothing is searched for: {} searches", key_name!(Tail, Search));
        vec![Wish::Flash(text, Tone::Plain)]
    }

    fn copy_line(&mut self) -> Vec<Wish> {
        if self.rows().is_empty() {
            return vec![Wish::Flash("there is no line to copy".to_owned(), Tone::Plain)];
        }
        vec![ask(view::Request::Copy)]
    }

    /// Does something with the path of the shown file, if a file is shown.
    fn of_file(&self, world: &World, wish: impl FnOnce(&std::path::Path) -> Wish) -> Vec<Wish> {
        let row = self.id.and_then(|id| world.row(id));
        let text = self.text(world);
        let refusal = match row.map(|row| (row, text.content(row, world))) {
            None => "no agent is selected".to_owned(),
            Some((_, Content::Text(_))) => {
                let (turn, copy) = (key_name!(Tail, NextText), key_name!(Tail, CopyLine));
                format!("{} is in no file: {turn} turns to one, {copy} copies a line", text.name())
            }
            Some((row, Content::File(_))) if row.started.is_none() => {
                format!("{} has not run: there is no file", row.id)
            }
            Some((_, Content::File(path))) => return vec![wish(&path)],
        };
        vec![Wish::Flash(refusal, Tone::Plain)]
    }

    fn back(&mut self, world: &World) -> Vec<Wish> {
        if std::mem::take(&mut self.is_searching) {
            vec![ask(view::Request::ClearSearch)]
        } else if world.is_zoomed() {
            vec![Wish::Zoom]
        } else {
            vec![Wish::Focus(Focus::Agents)]
        }
    }

    /// Types a key into the search line; one that finds nothing to delete ends it.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        if self.typing.as_mut().is_some_and(|typing| !search_line::key(typing, key)) {
            self.typing = None;
        }
    }

    /// Pastes into the search line.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(typing) = &mut self.typing {
            search_line::paste(typing, text);
        }
    }

    /// Takes a mouse event within its area.
    pub(crate) fn mouse(&mut self, event: MouseEvent, area: Rect, world: &World) -> Vec<Wish> {
        match event.kind {
            MouseEventKind::ScrollDown => go(Move::Rows(WHEEL)),
            MouseEventKind::ScrollUp => go(Move::Rows(-WHEEL)),
            MouseEventKind::ScrollRight if self.is_unwrapped => go(Move::Columns(SIDE)),
            MouseEventKind::ScrollLeft if self.is_unwrapped => go(Move::Columns(-SIDE)),
            MouseEventKind::Down(MouseButton::Left) => {
                let position = Position::new(event.column, event.row);
                let text = draw::tab_at(area, position, self.text(world), self.id, world);
                text.map(|text| self.turn_to(text)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The fleet or the size changed, or a page came.
    pub(crate) fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let mut wishes = Vec::new();
        self.take_copy(&mut wishes);
        let area = world.panes.tail;
        if area.is_empty() != self.is_hidden {
            self.is_hidden = area.is_empty();
            wishes.push(ask(view::Request::Hide(self.is_hidden)));
        }
        if !self.is_hidden {
            let rows = Parts::of(area, &self.page).rows;
            let layout = Layout {
                width: usize::from(rows.width).max(1),
                height: usize::from(rows.height).max(1),
                wraps: !self.is_unwrapped,
            };
            if self.layout != Some(layout) {
                self.layout = Some(layout);
                wishes.push(ask(view::Request::Layout(layout)));
            }
        }
        self.open(world, &mut wishes);
        wishes
    }

    /// Puts a copied line on the clipboard.
    fn take_copy(&mut self, wishes: &mut Vec<Wish>) {
        let Some(copied) = &self.page.copied else { return };
        if copied.number == self.copied {
            return;
        }
        self.copied = copied.number;
        wishes.push(if copied.text.trim().is_empty() {
            Wish::Flash("that line is empty: nothing copied".to_owned(), Tone::Plain)
        } else {
            Wish::Ask(Request::Copy(copied.text.clone(), "line".to_owned()))
        });
    }

    /// Asks the reader for what is to be shown, if that is something else than it shows.
    fn open(&mut self, world: &World, wishes: &mut Vec<Wish>) {
        let Some(row) = self.id.and_then(|id| world.row(id)) else {
            if self.opened.take().is_some() {
                self.page = Arc::default();
                self.number += 1;
                wishes.push(ask(view::Request::Close));
            }
            return;
        };
        let has_ended = row.status.is_ended();
        let text = self.text(world);
        let same = self.opened.as_mut().filter(|opened| (opened.id, opened.text) == (row.id, text));
        if let Some(opened) = same {
            // A text of the snapshot is only looked at again with another snapshot, and not at every key.
            let is_same = Arc::ptr_eq(&opened.snapshot, &world.snapshot)
                || opened.content.as_deref().is_none_or(|shown| text.is_still(shown, row, world));
            if is_same {
                opened.snapshot = Arc::clone(&world.snapshot);
                if has_ended && !opened.has_ended {
                    opened.has_ended = true;
                    wishes.push(ask(view::Request::Ended(self.number)));
                }
                return;
            }
        }
        self.number += 1;
        // What was copied of the text before is known already.
        self.page = Arc::default();
        let (what, content) = match text.content(row, world) {
            Content::File(path) => (view::What::File(path), None),
            Content::Text(content) => {
                let content: Arc<str> = Arc::from(content);
                (view::What::Text(Arc::clone(&content)), Some(content))
            }
        };
        let snapshot = Arc::clone(&world.snapshot);
        self.opened = Some(Opened { id: row.id, text, content, has_ended, snapshot });
        wishes.push(ask(view::Request::Open { number: self.number, what, has_ended }));
    }

    /// Draws it; returns the cell of the caret of the search line.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer, world: &World) -> Option<Position> {
        draw::pane(self, area, buffer, world)
    }

    fn rows(&self) -> &[view::Row] {
        &self.page.rows
    }
}

fn ask(request: view::Request) -> Wish {
    Wish::Ask(Request::Tail(request))
}

fn go(way: Move) -> Vec<Wish> {
    vec![ask(view::Request::Move(way))]
}

#[cfg(test)]
mod tests;
