//! Writing into the cells of the screen: clean text within a width, parts of a line that yield to more important ones.
//!
//! What may go here: what several panes share of that. What may not: what a pane says.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::theme::{Theme, Tone};
use crate::words::plain_text::{cells, cut_cells};

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Clean text.
    pub(super) text: String,
    /// What it means.
    pub(super) tone: Tone,
    /// The higher, the sooner it yields when the line is too narrow; zero never does.
    pub(super) rank: u8,
}

impl Part {
    /// Makes a part.
    pub(super) fn new(rank: u8, tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone, rank }
    }
}

/// Writes clean text into at most `width` cells of a row; cut text ends with an ellipsis. Returns the next free column.
pub(super) fn put(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    text: &str,
    width: u16,
    style: Style,
    theme: Theme,
) -> u16 {
    let area = buffer.area;
    if y < area.top() || y >= area.bottom() || x < area.left() || x >= area.right() {
        return x;
    }
    let width = usize::from(width.min(area.right() - x));
    let text = theme.words.text(&cut_cells(text, width));
    buffer.set_stringn(x, y, text, width, style).0
}

/// Returns the parts that fit into `width` cells with `between` cells from one to the next: those of the highest rank
/// go first, of equal ones the last.
pub(super) fn fitting(mut parts: Vec<Part>, width: usize, between: usize) -> Vec<Part> {
    parts.retain(|part| !part.text.is_empty());
    while needed(&parts, between) > width {
        let last = parts.iter().enumerate().rev().max_by_key(|(place, part)| (part.rank, *place));
        match last {
            Some((place, part)) if part.rank > 0 => {
                parts.remove(place);
            }
            _ => break,
        }
    }
    parts
}

/// Returns how many cells parts take with `between` cells from one to the next.
pub(super) fn needed(parts: &[Part], between: usize) -> usize {
    let texts: usize = parts.iter().map(|part| cells(&part.text)).sum();
    texts + between * parts.len().saturating_sub(1)
}

/// Writes parts that have been made to fit, with a dot between each two. Returns the next free column.
pub(super) fn put_parts(buffer: &mut Buffer, row: Rect, parts: &[Part], theme: Theme) -> u16 {
    let mut x = row.x;
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            let dot = theme.words.dot();
            x = put(
                buffer,
                (x, row.y),
                dot,
                row.right().saturating_sub(x),
                theme.style(Tone::Dim),
                theme,
            );
        }
        let left = row.right().saturating_sub(x);
        x = put(buffer, (x, row.y), &part.text, left, theme.style(part.tone), theme);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn the_least_important_parts_yield_first_and_the_order_stays() {
        let parts = || {
            vec![
                Part::new(3, Tone::Plain, "name"),
                Part::new(0, Tone::Plain, "alarm"),
                Part::new(2, Tone::Plain, "one"),
                Part::new(2, Tone::Plain, "two"),
            ]
        };
        assert_eq!(texts(&fitting(parts(), 24, 3)), ["name", "alarm", "one", "two"]);
        assert_eq!(texts(&fitting(parts(), 23, 3)), ["alarm", "one", "two"]);
        assert_eq!(texts(&fitting(parts(), 16, 3)), ["alarm", "one"]);
        assert_eq!(texts(&fitting(parts(), 2, 3)), ["alarm"]);
        assert!(fitting(vec![Part::new(1, Tone::Plain, "")], 5, 3).is_empty());
    }
}
