//! What every pane has: a border, a title on it, a sentence where there is nothing to show.
//!
//! What may go here: the frame that panes share. What may not: what a pane says, boxes over the panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Block;

use super::cells::{Part, fitting, put, put_parts};
use super::theme::{Theme, Tone};
use crate::words::plain_text::wrapped_to;

/// Cells of a border.
pub(super) const BORDER: u16 = 1;
/// Cells of the border that stay to be seen on each side of a title.
const BESIDE: u16 = 2;
/// Cells of the dot between two parts of a title.
const DOT: usize = 3;

/// Returns what is inside of a border.
pub(super) fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(BORDER),
        y: area.y.saturating_add(BORDER),
        width: area.width.saturating_sub(2 * BORDER),
        height: area.height.saturating_sub(2 * BORDER),
    }
}

/// Returns the border of a pane or a box.
pub(super) fn border(has_focus: bool, theme: Theme) -> Block<'static> {
    let tone = if has_focus { Tone::Focus } else { Tone::Dim };
    Block::bordered().border_set(theme.border(has_focus)).border_style(theme.style(tone))
}

/// Writes a title on the upper border: the parts that fit, with a blank before and after them.
pub(super) fn title(area: Rect, parts: Vec<Part>, buffer: &mut Buffer, theme: Theme) {
    let Some(width) = area.width.checked_sub(2 * BESIDE).filter(|width| *width > 2) else { return };
    let room = width - 2;
    let parts = fitting(parts, usize::from(room), DOT);
    let x = put(buffer, (area.x + BESIDE, area.y), " ", 1, Style::new(), theme);
    let row = Rect { x, width: room, height: 1, ..area };
    let x = put_parts(buffer, row, &parts, theme);
    put(buffer, (x, area.y), " ", 1, Style::new(), theme);
}

/// Writes a sentence beside the point into an area, wrapped, with a cell free on each side.
pub(super) fn sentence(text: &str, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let width = area.width.saturating_sub(2);
    let text = theme.words.text(text);
    let lines = wrapped_to(&text, usize::from(width), usize::from(area.height));
    for (line, y) in lines.iter().zip(area.y..) {
        put(buffer, (area.x + 1, y), line, width, theme.style(Tone::Dim), theme);
    }
}
