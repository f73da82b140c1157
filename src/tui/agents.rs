//! The table of agents: which is selected, which are marked, what is shown and where the view stands.
//!
//! What may go here: state of the table, and keeping it in line with the fleet and the size. What may not: what a key does
//! (`input`), what is asked of the fleet (`decide`), drawing.

mod columns;
mod decide;
mod draw;
mod gantt;
mod holds;
mod input;
mod order;

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use self::draw::Parts;
use self::order::{Line, Order, Settings};
use super::keymap::Place;
use super::world::World;
use crate::core::{AgentId, BatchId, Row, Snapshot};

/// What is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cursor {
    Agent(AgentId),
    /// A folded set.
    Batch(BatchId),
}

/// How an agent stood when it was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stand {
    has_ended: bool,
    was_retried: bool,
}

impl Stand {
    fn of(row: &Row) -> Self {
        Self { has_ended: row.status.is_ended(), was_retried: row.retried_by.is_some() }
    }
}

/// What the lines were worked out from.
#[derive(Debug, Clone)]
struct Basis {
    snapshot: Arc<Snapshot>,
    settings: Settings,
    /// The second, for an order that changes with time.
    second: u64,
}

/// The table of agents.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    cursor: Option<Cursor>,
    settings: Settings,
    /// While the search line is open: what was searched for before.
    typing: Option<String>,
    marks: BTreeMap<AgentId, Stand>,
    /// The agent that the key before this one stopped.
    stopped: Option<AgentId>,
    order: Order,
    basis: Option<Basis>,
    /// Place of the selected line among the lines.
    at: Option<usize>,
    /// First line in view.
    offset: usize,
    /// Bars over time are shown in place of columns.
    is_gantt: bool,
    /// The wheel has moved the view away from the selection.
    is_adrift: bool,
}

impl Agents {
    /// Where its keys are looked up: in the table, or in its search line.
    pub(crate) fn place(&self) -> Place {
        if self.typing.is_some() { Place::Prompt } else { Place::Agents }
    }

    /// The selected agent; `None` without agents and on a folded set.
    pub(crate) fn selected(&self) -> Option<AgentId> {
        match self.cursor {
            Some(Cursor::Agent(id)) => Some(id),
            Some(Cursor::Batch(_)) | None => None,
        }
    }

    /// The fleet or the size changed: selection stays on the agent, and on its row of the screen if that can be.
    pub(crate) fn refresh(&mut self, world: &World) {
        let height = usize::from(Parts::of(world.panes.agents).list.height);
        let before = self.order.lines.len();
        let was_at_end = before > height && self.offset + height >= before;
        let row_of_screen = self.at.and_then(|at| at.checked_sub(self.offset));
        let has_changed = self.bring_up_to_date(world);
        if has_changed {
            self.find_cursor(world);
        }
        if height == 0 {
            return;
        }
        let most = self.order.lines.len().saturating_sub(height);
        if has_changed && !self.is_adrift {
            if was_at_end && self.order.lines.len() > before {
                self.offset = most;
            } else if let (Some(at), Some(row)) = (self.at, row_of_screen) {
                self.offset = at.saturating_sub(row);
            }
        }
        if !self.is_adrift {
            self.show_cursor(height);
        }
        self.offset = self.offset.min(most);
    }

    /// Works the lines out again if anything that they depend on has changed.
    fn bring_up_to_date(&mut self, world: &World) -> bool {
        let by_time = matches!(self.settings.sort, order::Sort::Elapsed);
        let second = if by_time { world.clock().0 / 1000 } else { 0 };
        let is_new = self.basis.as_ref().is_none_or(|basis| {
            !Arc::ptr_eq(&basis.snapshot, &world.snapshot)
                || basis.settings != self.settings
                || basis.second != second
        });
        if is_new {
            let snapshot = Arc::clone(&world.snapshot);
            self.marks
                .retain(|id, stand| world.row(*id).is_some_and(|row| Stand::of(row) == *stand));
            self.order = Order::of(&snapshot, &self.settings, world.clock());
            self.basis = Some(Basis { snapshot, settings: self.settings.clone(), second });
        }
        is_new
    }

    /// Finds the selected line; if it is not there any more, the line in its place is selected.
    fn find_cursor(&mut self, world: &World) {
        let found = self.cursor.as_ref().and_then(|cursor| self.line_of(cursor, world));
        if found.is_some() {
            self.at = found;
            return;
        }
        let near = self.at.unwrap_or_default();
        let lines = self.order.lines.len();
        self.at =
            (near..lines).chain((0..near.min(lines)).rev()).find(|line| self.can_stand(*line));
        self.cursor = self.at.and_then(|at| self.cursor_of(at, world));
    }

    fn line_of(&self, cursor: &Cursor, world: &World) -> Option<usize> {
        let snapshot = &world.snapshot;
        self.order.lines.iter().position(|line| match (line, cursor) {
            (Line::Agent(place), Cursor::Agent(id)) => {
                snapshot.rows.get(*place).is_some_and(|row| row.id == *id)
            }
            (Line::Batch { place, is_folded: true }, Cursor::Batch(id)) => {
                snapshot.batches.get(*place).is_some_and(|view| view.batch.id == *id)
            }
            (Line::Agent(_) | Line::Batch { .. }, _) => false,
        })
    }

    fn cursor_of(&self, line: usize, world: &World) -> Option<Cursor> {
        match self.order.lines.get(line)? {
            Line::Agent(place) => world.snapshot.rows.get(*place).map(|row| Cursor::Agent(row.id)),
            Line::Batch { place, .. } => {
                world.snapshot.batches.get(*place).map(|view| Cursor::Batch(view.batch.id.clone()))
            }
        }
    }

    /// Says whether a line can be selected: the head of a set only if it stands for its agents.
    fn can_stand(&self, line: usize) -> bool {
        matches!(
            self.order.lines.get(line),
            Some(Line::Agent(_) | Line::Batch { is_folded: true, .. })
        )
    }

    /// Moves the selection by so many lines, at most to the last one in that direction.
    fn move_by(&mut self, lines: usize, is_down: bool, world: &World) {
        let Some(at) = self.at else { return };
        let last = self.order.lines.len().saturating_sub(1);
        let aim =
            if is_down { at.saturating_add(lines).min(last) } else { at.saturating_sub(lines) };
        let mut onward: Box<dyn Iterator<Item = usize>> = if is_down {
            Box::new((aim..=last).chain((at..aim).rev()))
        } else {
            Box::new((0..=aim).rev().chain(aim..at))
        };
        let found = onward.find(|line| self.can_stand(*line));
        if let Some(found) = found {
            self.at = Some(found);
            self.cursor = self.cursor_of(found, world);
        }
        self.is_adrift = false;
    }

    /// Moves the view until the selected line is in it, with the head of its set if that is the line above.
    fn show_cursor(&mut self, height: usize) {
        let Some(at) = self.at else { return };
        let above = at.checked_sub(1).filter(|above| {
            height > 1 && matches!(self.order.lines.get(*above), Some(Line::Batch { .. }))
        });
        let top = above.unwrap_or(at);
        if top < self.offset {
            self.offset = top;
        }
        if at >= self.offset + height {
            self.offset = at + 1 - height;
        }
    }

    /// Selects an agent and shows it.
    pub(crate) fn select(&mut self, id: AgentId, world: &World) {
        let Some(row) = world.row(id) else { return };
        self.settings.folded.remove(&row.batch);
        self.bring_up_to_date(world);
        let cursor = Cursor::Agent(id);
        if self.line_of(&cursor, world).is_none() {
            self.settings.filter = order::Filter::All;
            self.settings.search.clear();
        }
        self.cursor = Some(cursor);
        self.is_adrift = false;
        self.basis = None;
        self.refresh(world);
    }

    /// Draws it; returns the cell of the caret of the search line.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer, world: &World) -> Option<Position> {
        draw::table(self, area, buffer, world)
    }
}

#[cfg(test)]
pub(super) mod tests;
