//! Moves of the caret in terms of rows and cells.
//!
//! What may go here: where the caret goes. What may not: edits.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use super::draw::GUTTER;
use super::text::Place;
use super::{Editor, Mode};
use crate::tui::frame::BORDER;
use crate::tui::wish::Wish;
use crate::tui::world::World;

/// Rows that one step of the wheel scrolls.
const WHEEL: usize = 3;

impl Editor {
    /// Moves the caret.
    pub(super) fn go(&mut self, place: Place, selects: bool) {
        self.text.go(place, selects);
        self.view.follows = true;
        self.view.goal = None;
    }

    /// Moves up a row; above the first one are earlier drafts.
    pub(super) fn up(&mut self, selects: bool, world: &World) -> Vec<Wish> {
        let (row, _) = self.at();
        if row > 0 {
            self.rows_down(-1, selects);
        } else if selects || self.mode != Mode::New || !self.history.has(true) {
            self.go((0, 0), selects);
        } else {
            return self.recall(true, world);
        }
        Vec::new()
    }

    /// Moves down a row; below the last one are later drafts.
    pub(super) fn down(&mut self, selects: bool, world: &World) -> Vec<Wish> {
        let (row, _) = self.at();
        if row + 1 < self.view.wrapped.height() {
            self.rows_down(1, selects);
        } else if selects || self.mode != Mode::New || !self.history.has(false) {
            self.go(self.text.end(), selects);
        } else {
            return self.recall(false, world);
        }
        Vec::new()
    }

    /// Returns the row and the cell of the caret.
    pub(super) fn at(&self) -> (usize, usize) {
        self.view.wrapped.locate(self.text.caret(), &self.attachments)
    }

    /// Moves down so many rows, in the column from which such moves began.
    pub(super) fn rows_down(&mut self, rows: isize, selects: bool) {
        let (row, cell) = self.at();
        let goal = self.view.goal.unwrap_or(cell);
        let last = self.view.wrapped.height().saturating_sub(1);
        let to = row.saturating_add_signed(rows).min(last);
        let place = self.view.wrapped.place(to, goal, &self.attachments);
        self.go(place, selects);
        self.view.goal = Some(goal);
    }

    /// Takes a mouse event within its area.
    pub(crate) fn mouse(&mut self, event: MouseEvent, area: Rect, world: &World) -> Vec<Wish> {
        if world.is_read_only || self.is_waiting() {
            return Vec::new();
        }
        let last = self.view.wrapped.height().saturating_sub(self.view.height);
        match event.kind {
            MouseEventKind::ScrollUp => {
                self.view.top = self.view.top.saturating_sub(WHEEL);
                self.view.follows = false;
            }
            MouseEventKind::ScrollDown => {
                self.view.top = (self.view.top + WHEEL).min(last);
                self.view.follows = false;
            }
            MouseEventKind::Down(MouseButton::Left) => {
                let selects = event.modifiers.contains(KeyModifiers::SHIFT);
                self.point(event, area, selects);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.point(event, area, true),
            _ => {}
        }
        Vec::new()
    }

    /// Moves the caret to the cell that was pointed at, if it is one of the text's.
    fn point(&mut self, event: MouseEvent, area: Rect, selects: bool) {
        let above = event.row.checked_sub(area.y + BORDER).map(usize::from);
        let Some(row) = above.filter(|row| *row < self.view.height) else { return };
        let cell = usize::from(event.column.saturating_sub(area.x + BORDER + GUTTER));
        let place = self.view.wrapped.place(self.view.top + row, cell, &self.attachments);
        self.go(place, selects);
    }
}
