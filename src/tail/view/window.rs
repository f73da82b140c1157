//! What is visible of a text: the place of the top row, how far it moves, whether it follows the end.
//!
//! What may go here: places, rows of a given width and height. What may not: threads, waiting, who asks.
//!
//! A place is a byte offset, so growth never moves what is read; within a wrapped line it is a cell of it, so a new
//! width does not either.

use std::io;
use std::ops::Range;
use std::rc::Rc;

use super::lines::Lines;
use super::search::Matcher;
use super::text::{Line, Span};

/// Rows that one request moves at most: a screen of any size, and some milliseconds of work.
const MOST_ROWS: usize = 2_000;

/// How rows are made of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Cells of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Whether a line takes as many rows as it needs; if not, a part of each is seen, see [`Move::Columns`].
    pub wraps: bool,
}

/// A way to move what is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// So many rows, down if positive. Up stops following; reaching the end follows.
    Rows(i32),
    /// So many screens, of which one row stays.
    Pages(i32),
    /// To the first byte.
    Start,
    /// To the end, which is followed from then on.
    End,
    /// So many columns to the right, where lines do not wrap.
    Columns(i32),
}

/// One row of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it shows; together never wider than asked for.
    pub spans: Vec<Span>,
    /// Offset in the text of the line, or part of a long line, that it shows.
    pub offset: u64,
    /// Whether the row is the first of its line.
    pub is_first: bool,
}

/// Place of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    /// Where the piece begins.
    piece: u64,
    /// First cell of the row.
    cell: usize,
}

/// What is emphasised.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Highlight<'m> {
    pub(super) matcher: Option<&'m Matcher>,
    /// Offset of the hit that the search stands on.
    pub(super) current: Option<u64>,
}

/// What is visible.
#[derive(Debug, Default)]
pub(super) struct Visible {
    pub(super) rows: Vec<Row>,
    /// Offset after the last piece of which a row is visible.
    pub(super) end: u64,
    /// Whether the last row of the text is visible.
    pub(super) at_end: bool,
}

/// A window over a text.
#[derive(Debug)]
pub(super) struct Window {
    layout: Layout,
    top: Place,
    column: usize,
    follows: bool,
    /// The size of the text for which the top is where it belongs; `None` if something else has changed since.
    settled_at: Option<u64>,
}

impl Window {
    /// A window at the end of a text, which it follows, or at its beginning.
    pub(super) fn new(layout: Layout, follows: bool) -> Self {
        Self { layout, top: Place::default(), column: 0, follows, settled_at: None }
    }

    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    pub(super) fn top(&self) -> u64 {
        self.top.piece
    }

    pub(super) fn column(&self) -> usize {
        self.column
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
        self.settled_at = None;
        if layout.wraps {
            self.column = 0;
        }
    }

    /// Begins anew, since the text is another one. Following goes on.
    pub(super) fn restart(&mut self) {
        self.top = Place::default();
        self.settled_at = None;
    }

    /// Moves what is visible.
    pub(super) fn go(&mut self, lines: &mut Lines, way: Move) -> io::Result<()> {
        self.settled_at = None;
        match way {
            Move::Rows(rows) => self.go_rows(lines, i64::from(rows)),
            Move::Pages(pages) => {
                let screen = self.layout.height.saturating_sub(1).max(1);
                let screen = i64::try_from(screen).unwrap_or(1);
                self.go_rows(lines, i64::from(pages).saturating_mul(screen))
            }
            Move::Start => {
                self.top = Place::default();
                self.follows = self.top_of_end(lines)? == self.top;
                Ok(())
            }
            Move::End => {
                self.follows = true;
                Ok(())
            }
            Move::Columns(columns) => {
                if !self.layout.wraps {
                    let columns = isize::try_from(columns).unwrap_or(0);
                    self.column = self.column.saturating_add_signed(columns);
                }
                Ok(())
            }
        }
    }

    fn go_rows(&mut self, lines: &mut Lines, rows: i64) -> io::Result<()> {
        let most = usize::try_from(rows.unsigned_abs()).unwrap_or(MOST_ROWS).min(MOST_ROWS);
        let last = self.top_of_end(lines)?;
        let mut top = if self.follows { last } else { self.aligned(lines, self.top)? };
        if rows < 0 {
            let before = self.rows_before(lines, top, most)?;
            self.follows &= before.is_empty();
            top = before.first().copied().unwrap_or(top);
        } else {
            let after = self.rows_after(lines, top, most)?;
            top = after.into_iter().take_while(|row| *row <= last).last().unwrap_or(top);
            self.follows |= top >= last;
        }
        self.top = top;
        Ok(())
    }

    /// Makes the byte at an offset visible, a third from the top if it was not, and stops following.
    pub(super) fn show(&mut self, lines: &mut Lines, offset: u64) -> io::Result<()> {
        let piece = lines.pieces.start_of(offset)?;
        let line = lines.line(piece)?;
        let (cell, column) = line.find_raw(offset.saturating_sub(piece));
        self.settle(lines)?;
        let cells = self.rows_of(&line);
        let row = cells.iter().rposition(|row| row.start <= cell).unwrap_or(0);
        let place = Place { piece, cell: cells.get(row).map_or(0, |row| row.start) };
        self.follows = false;
        if place < self.top || !self.is_within(lines, place)? {
            let before = self.rows_before(lines, place, self.layout.height / 3)?;
            self.top = before.first().copied().unwrap_or(place);
        }
        if !self.layout.wraps {
            let width = self.layout.width.max(1);
            if column < self.column || column >= self.column + width {
                self.column = if column < width { 0 } else { column - width / 3 };
            }
        }
        Ok(())
    }

    /// Says whether a place at or below the top is on the screen.
    fn is_within(&self, lines: &mut Lines, place: Place) -> io::Result<bool> {
        let below = self.layout.height.saturating_sub(1);
        Ok(place == self.top || self.rows_after(lines, self.top, below)?.contains(&place))
    }

    /// Puts the top where it belongs now: to a row of the present layout, or so that the end shows if it is followed.
    pub(super) fn settle(&mut self, lines: &mut Lines) -> io::Result<()> {
        let size = lines.pieces.size();
        if self.settled_at != Some(size) {
            self.top =
                if self.follows { self.top_of_end(lines)? } else { self.aligned(lines, self.top)? };
            self.settled_at = Some(size);
        }
        Ok(())
    }

    /// Returns what is visible now. A window that follows moves to the end first.
    pub(super) fn visible(
        &mut self,
        lines: &mut Lines,
        highlight: Highlight<'_>,
    ) -> io::Result<Visible> {
        self.settle(lines)?;
        let size = lines.pieces.size();
        let mut visible = Visible { rows: Vec::new(), end: self.top.piece, at_end: size == 0 };
        let mut at = self.top;
        while visible.rows.len() < self.layout.height && at.piece < size {
            let mut line = lines.line(at.piece)?;
            let layout = self.rows_of(&line);
            if let Some(matcher) = highlight.matcher {
                let current = highlight.current.filter(|offset| *offset >= at.piece);
                let end = lines.pieces.end_of(at.piece)?;
                let current = current.filter(|offset| *offset < end);
                Rc::make_mut(&mut line).emphasise(
                    |text, from| matcher.find(text, from),
                    current.map(|offset| offset - at.piece),
                );
            }
            let first = layout.iter().rposition(|row| row.start <= at.cell).unwrap_or(0);
            let mut shown = first;
            for cells in layout.iter().skip(first) {
                if visible.rows.len() >= self.layout.height {
                    break;
                }
                let spans = self.spans(&line, cells.clone());
                visible.rows.push(Row { spans, offset: at.piece, is_first: shown == 0 });
                shown += 1;
            }
            visible.end = lines.pieces.end_of(at.piece)?;
            visible.at_end = visible.end >= size && shown >= layout.len();
            at = Place { piece: visible.end, cell: 0 };
        }
        Ok(visible)
    }

    fn spans(&self, line: &Line, cells: Range<usize>) -> Vec<Span> {
        if self.layout.wraps {
            line.spans(cells, self.layout.width)
        } else {
            line.slice(self.column, self.layout.width)
        }
    }

    /// Returns which cells of a piece each of its rows shows; without wrapping it has one row, whatever it shows.
    fn rows_of(&self, line: &Line) -> Vec<Range<usize>> {
        if self.layout.wraps {
            line.wrap(self.layout.width)
        } else {
            vec![Range { start: 0, end: 0 }]
        }
    }

    /// Returns the row that a place is on under the present layout.
    fn aligned(&self, lines: &mut Lines, place: Place) -> io::Result<Place> {
        let piece =
            lines.pieces.start_of(place.piece.min(lines.pieces.size().saturating_sub(1)))?;
        let cell = if piece == place.piece && place.cell > 0 {
            let layout = self.rows_of(&*lines.line(piece)?);
            layout.iter().rfind(|row| row.start <= place.cell).map_or(0, |row| row.start)
        } else {
            0
        };
        Ok(Place { piece, cell })
    }

    /// Returns up to `most` rows after a place, in order.
    fn rows_after(&self, lines: &mut Lines, place: Place, most: usize) -> io::Result<Vec<Place>> {
        let mut rows = Vec::new();
        let mut piece = place.piece;
        while rows.len() < most && piece < lines.pieces.size() {
            let layout = self.rows_of(&*lines.line(piece)?);
            let places = layout.iter().map(|row| Place { piece, cell: row.start });
            let after = places.filter(|row| *row > place);
            rows.extend(after.take(most - rows.len()));
            piece = lines.pieces.end_of(piece)?;
        }
        Ok(rows)
    }

    /// Returns up to `most` rows before a place, in order.
    fn rows_before(&self, lines: &mut Lines, place: Place, most: usize) -> io::Result<Vec<Place>> {
        let mut rows = Vec::new();
        let mut at = place;
        while rows.len() < most {
            if at.cell == 0 {
                if at.piece == 0 {
                    break;
                }
                at = Place { piece: lines.pieces.start_before(at.piece)?, cell: usize::MAX };
            }
            let layout = self.rows_of(&*lines.line(at.piece)?);
            let before = layout.iter().rev().filter(|row| row.start < at.cell);
            for row in before.take(most - rows.len()) {
                rows.push(Place { piece: at.piece, cell: row.start });
            }
            at.cell = 0;
        }
        rows.reverse();
        Ok(rows)
    }

    /// Returns the top row when the last row of the text is the last one on the screen.
    fn top_of_end(&self, lines: &mut Lines) -> io::Result<Place> {
        let end = Place { piece: lines.pieces.size(), cell: 0 };
        let rows = self.rows_before(lines, end, self.layout.height.max(1))?;
        Ok(rows.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
