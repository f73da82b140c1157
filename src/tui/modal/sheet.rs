//! The box of a modal: where it stands, its frame, its scrolled text, the names of its keys.
//!
//! What may go here: geometry and drawing that all modals share. What may not: what one of them says.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::writer::cut;
use crate::core::Moment;
use crate::tui::frame;
use crate::tui::keymap::{self, Action, Place};
use crate::tui::theme::{Theme, Tone};
use crate::tui::world::World;
use crate::words::plain_text::cells;

/// A room up to this size is filled, since a box in it would have no space left for its text.
const SMALL: (u16, u16) = (48, 13);
/// Cells between the names of two keys.
const BETWEEN: usize = 2;
/// Rows of text that names of keys leave free, however many there are.
const LEAST_BODY: usize = 2;

/// Rows from which on a free one stands above the names of keys, even if text is out of sight for it.
const ROOMY: usize = 12;

/// How long a modal that nobody asked for ignores keys: long enough to stop typing.
pub(super) const DEAF: Duration = Duration::from_millis(500);

/// What a box is to show.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// The title in the frame.
    pub(super) title: String,
    /// Lines that scroll.
    pub(super) body: Vec<Line<'static>>,
    /// Lines below them that do not.
    pub(super) foot: Vec<Line<'static>>,
    /// The box is as high as it can be, so that it does not jump when its text changes.
    pub(super) is_tall: bool,
    /// Cell of the caret: line of the foot, column.
    pub(super) caret: Option<(usize, usize)>,
}

/// The name of a key in the box.
#[derive(Debug)]
struct KeyName {
    action: Action,
    shown: &'static str,
    label: String,
}

/// The box of a modal as it was laid out last.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    text: Text,
    /// Names of keys, in rows with the column at which each begins.
    keys: Vec<Vec<(usize, KeyName)>>,
    area: Rect,
    offset: usize,
    /// Cell of a caret in the text that scrolls: line of the body, column.
    caret_in_body: Option<(usize, usize)>,
}

/// Names of keys that differ from the table's: what the key does, and its name or none if it is not shown.
pub(super) type Renamed<'a> = &'a [(Action, Option<&'a str>)];

/// Rows inside of the frame.
#[derive(Debug, Clone, Copy)]
struct Rows {
    body: usize,
    gap: usize,
    foot: usize,
    keys: usize,
}

/// Returns what modals may cover: all but the footer, which says what became of the last key.
fn room(world: &World) -> Rect {
    let screen = world.panes.screen;
    Rect { height: screen.height.saturating_sub(world.panes.footer.height), ..screen }
}

fn is_small(room: Rect) -> bool {
    room.width <= SMALL.0 || room.height <= SMALL.1
}

fn outer_width(world: &World, wanted: usize) -> u16 {
    let room = room(world);
    if is_small(room) {
        return room.width;
    }
    let wanted = u16::try_from(wanted).unwrap_or(u16::MAX).saturating_add(4);
    wanted.min(room.width.saturating_sub(2))
}

/// Returns the cells between the frame and the text on one side.
fn padding(outer: u16) -> u16 {
    u16::from(outer > 30)
}

/// Returns how wide the lines of a box that wants `wanted` cells can be here.
pub(super) fn text_width(world: &World, wanted: usize) -> usize {
    let outer = outer_width(world, wanted);
    usize::from(outer.saturating_sub(2 + 2 * padding(outer)))
}

impl Sheet {
    /// Lays the box out anew; `renamed` gives keys other names than the table's, or leaves them out.
    pub(super) fn lay_out(
        &mut self,
        world: &World,
        wanted: usize,
        text: Text,
        place: Place,
        renamed: Renamed<'_>,
    ) {
        self.text = text;
        self.caret_in_body = None;
        self.keys = key_rows(place, text_width(world, wanted), world.theme, renamed);
        let room = room(world);
        let width = outer_width(world, wanted);
        let parts = [self.text.body.len(), self.text.foot.len(), self.keys.len()];
        let gaps = parts.iter().filter(|rows| **rows > 0).count().saturating_sub(1);
        let rows = u16::try_from(parts.iter().sum::<usize>() + gaps + 2).unwrap_or(u16::MAX);
        // A row of the screen stays in sight above and below.
        let most = room.height.saturating_sub(2);
        let height = match (is_small(room), self.text.is_tall) {
            (true, _) => room.height,
            (false, true) => most,
            (false, false) => rows.min(most),
        };
        self.area = Rect {
            x: room.x + (room.width - width) / 2,
            y: room.y + (room.height - height) / 2,
            width,
            height,
        };
        self.scroll(0);
    }

    /// Scrolls by so many rows, as far as there is text.
    pub(super) fn scroll(&mut self, by: isize) {
        let most = self.text.body.len().saturating_sub(self.rows_in_view());
        self.offset = self.offset.saturating_add_signed(by).min(most);
    }

    /// Returns what scrolls as text.
    pub(super) fn to_plain_text(&self) -> String {
        let lines: Vec<String> =
            self.text.body.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        lines.join("\n")
    }

    /// Scrolls as far as it takes to show a line of the text, in which the caret may be; for after each laying out.
    pub(super) fn show(&mut self, line: usize, caret: Option<usize>) {
        self.caret_in_body = caret.map(|column| (line, column));
        let first = (line + 1).saturating_sub(self.rows_in_view());
        self.offset = self.offset.clamp(first.min(line), line);
        self.scroll(0);
    }

    /// Puts the caret into the first line below the text that scrolls; for after each laying out.
    pub(super) fn put_caret(&mut self, column: usize) {
        self.caret_in_body = None;
        self.text.caret = Some((0, column));
    }

    /// Shows the text from its beginning.
    pub(super) fn rewind(&mut self) {
        self.offset = 0;
    }

    /// Returns how many rows of text are in sight.
    pub(super) fn rows_in_view(&self) -> usize {
        self.rows().body
    }

    fn inner(&self) -> Rect {
        let padding = padding(self.area.width);
        Rect {
            x: self.area.x + 1 + padding,
            y: self.area.y + 1,
            width: self.area.width.saturating_sub(2 + 2 * padding),
            height: self.area.height.saturating_sub(2),
        }
    }

    fn rows(&self) -> Rows {
        let height = usize::from(self.inner().height);
        let foot = self.text.foot.len().min(height);
        let left = height - foot;
        let most_keys = left.saturating_sub(LEAST_BODY.min(self.text.body.len())).max(1);
        let keys = self.keys.len().min(most_keys).min(left);
        let left = left - keys;
        let gaps = usize::from(foot > 0) + usize::from(keys > 0);
        let has_room = left >= self.text.body.len() + gaps || left >= ROOMY;
        let gap = usize::from(has_room && gaps > 0);
        Rows { body: left - gap * gaps, gap, foot, keys }
    }

    fn foot_top(&self) -> u16 {
        let rows = self.rows();
        self.inner().y + to_cells(rows.body + if rows.foot > 0 { rows.gap } else { 0 })
    }

    fn keys_top(&self) -> u16 {
        let rows = self.rows();
        self.inner().bottom() - to_cells(rows.keys)
    }

    /// Returns what the key does whose name is at a cell.
    pub(super) fn action_at(&self, position: Position) -> Option<Action> {
        let inner = self.inner();
        if !inner.contains(position) || position.y < self.keys_top() {
            return None;
        }
        let row = self.keys.get(usize::from(position.y - self.keys_top()))?;
        let column = usize::from(position.x - inner.x);
        row.iter()
            .find(|(at, name)| (*at..*at + name.width()).contains(&column))
            .map(|(_, name)| name.action)
    }

    /// Draws the box; returns the cell of the caret.
    pub(super) fn draw(
        &self,
        buffer: &mut Buffer,
        world: &World,
        deaf_until: Option<Moment>,
    ) -> Option<Position> {
        if self.area.is_empty() || self.area.intersection(buffer.area) != self.area {
            return None;
        }
        self.draw_frame(buffer, world.theme);
        let inner = self.inner();
        let rows = self.rows();
        let visible = self.text.body.iter().skip(self.offset).take(rows.body);
        for (y, line) in (inner.y..).zip(visible) {
            buffer.set_line(inner.x, y, line, inner.width);
        }
        let foot_top = self.foot_top();
        for (y, line) in (foot_top..).zip(self.text.foot.iter().take(rows.foot)) {
            buffer.set_line(inner.x, y, line, inner.width);
        }
        match deaf_until.filter(|until| *until > world.now) {
            Some(until) => self.draw_deaf(buffer, world, until),
            None => self.draw_keys(buffer, world.theme),
        }
        if let Some((line, column)) = self.caret_in_body {
            let row = line.checked_sub(self.offset).filter(|row| *row < rows.body)?;
            let column = to_cells(column).min(inner.width.saturating_sub(1));
            return Some(Position::new(inner.x + column, inner.y + to_cells(row)));
        }
        let (line, column) = self.text.caret.filter(|(line, _)| *line < rows.foot)?;
        let column = to_cells(column).min(inner.width.saturating_sub(1));
        Some(Position::new(inner.x + column, foot_top + to_cells(line)))
    }

    fn draw_frame(&self, buffer: &mut Buffer, theme: Theme) {
        // A wide grapheme that is cut by the left edge would stand over the frame.
        if let Some(x) = self.area.x.checked_sub(1) {
            for y in self.area.top()..self.area.bottom() {
                if let Some(cell) = buffer.cell_mut((x, y)).filter(|it| cells(it.symbol()) > 1) {
                    cell.set_symbol(" ");
                }
            }
        }
        Clear.render(self.area, buffer);
        let room = usize::from(self.area.width.saturating_sub(4));
        let title = format!(" {} ", cut(theme, &self.text.title, room));
        let mut block =
            frame::border(true, theme).title(Line::styled(title, theme.style(Tone::Strong)));
        if let Some(more) = self.more() {
            let more = format!(" {} ", cut(theme, &more, room));
            let line = Line::styled(more, theme.style(Tone::Warning)).right_aligned();
            block = block.title_bottom(line);
        }
        block.render(self.area, buffer);
    }

    /// Says what is out of sight.
    fn more(&self) -> Option<String> {
        let below = self.text.body.len().saturating_sub(self.offset + self.rows_in_view());
        match (self.offset, below) {
            (0, 0) => None,
            (0, below) => Some(format!("{below} more below")),
            (above, 0) => Some(format!("{above} more above")),
            (above, below) => Some(format!("{above} more above, {below} below")),
        }
    }

    fn draw_deaf(&self, buffer: &mut Buffer, world: &World, until: Moment) {
        let tenths = until.since(world.now).as_millis().div_ceil(100);
        let text = format!("keys work in {}.{} s", tenths / 10, tenths % 10);
        let inner = self.inner();
        let text = cut(world.theme, &text, usize::from(inner.width));
        buffer.set_line(
            inner.x,
            self.keys_top(),
            &Line::styled(text, world.theme.style(Tone::Warning)),
            inner.width,
        );
    }

    fn draw_keys(&self, buffer: &mut Buffer, theme: Theme) {
        let inner = self.inner();
        let shown = self.rows().keys;
        let is_cut = shown < self.keys.len();
        for (number, row) in self.keys.iter().take(shown).enumerate() {
            let y = self.keys_top() + to_cells(number);
            for (column, name) in row {
                let spans = vec![
                    Span::styled(name.shown, theme.style(Tone::Key)),
                    Span::raw(format!(" {}", name.label)),
                ];
                let x = inner.x + to_cells(*column);
                buffer.set_line(x, y, &Line::from(spans), inner.right().saturating_sub(x));
            }
            if is_cut && number + 1 == shown && inner.width > 0 {
                let mark = if theme.words.unicode { "…" } else { "~" };
                buffer.set_string(inner.right() - 1, y, mark, theme.style(Tone::Warning));
            }
        }
    }
}

impl KeyName {
    fn width(&self) -> usize {
        cells(self.shown) + 1 + cells(&self.label)
    }
}

/// Returns the names of the keys of a place, as many in a row as fit.
fn key_rows(
    place: Place,
    width: usize,
    theme: Theme,
    renamed: Renamed<'_>,
) -> Vec<Vec<(usize, KeyName)>> {
    let mut rows: Vec<Vec<(usize, KeyName)>> = Vec::new();
    let mut column = 0;
    for binding in keymap::footer(place) {
        let other = renamed.iter().find(|(action, _)| *action == binding.action);
        let Some(label) = other.map_or(Some(binding.label), |(_, label)| *label) else {
            continue;
        };
        let room = width.saturating_sub(cells(binding.shown) + 1);
        let label = cut(theme, label, room);
        let name = KeyName { action: binding.action, shown: binding.shown, label };
        let wide = name.width();
        match rows.last_mut() {
            Some(row) if column + BETWEEN + wide <= width => {
                row.push((column + BETWEEN, name));
                column += BETWEEN + wide;
            }
            _ => {
                rows.push(vec![(0, name)]);
                column = wide;
            }
        }
    }
    rows
}

fn to_cells(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
