//! Turns one raw line of an output file into text that a terminal may be shown.
//!
//! What may go here: cells of a line, where it is wrapped, styled spans. What may not: files, terminal crates.
//!
//! Nothing of what comes out of here is a control character, and the width of everything is known. Colours are shown,
//! a carriage return and a backspace move back as on a terminal (progress bars), every other control is swallowed.

mod colour;
mod interpret;
mod style_codes;

use std::ops::Range;

pub use colour::Color16;

/// Bytes of one line that are interpreted: more than a person reads, and a millisecond of work.
pub const MOST_BYTES: usize = 64 * 1024;

/// How a piece of text looks. All of it is what the agent asked for, in the terminal's own 16 colours.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Colour of the text; `None` is the terminal's own.
    pub foreground: Option<Color16>,
    /// Colour behind the text; `None` is the terminal's own.
    pub background: Option<Color16>,
    /// Bold.
    pub is_bold: bool,
    /// Dim.
    pub is_dim: bool,
    /// Italic.
    pub is_italic: bool,
    /// Underlined, in any way.
    pub is_underlined: bool,
    /// Foreground and background exchanged.
    pub is_reversed: bool,
}

/// Why a piece of text stands out, apart from what its agent wanted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// It does not.
    #[default]
    None,
    /// The search has found it.
    Hit,
    /// The search stands on it.
    CurrentHit,
    /// It is not in the file: Fleet says that something was left out.
    Mark,
}

/// Neighbouring cells that look the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Text without any control character.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Why it stands out.
    pub emphasis: Emphasis,
}

/// One grapheme of a line.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Where its text is in the line's arena.
    start: u32,
    end: u32,
    /// Offset of its first byte from the beginning of the raw line.
    raw: u32,
    /// Cells of a terminal that it takes; zero only for the rest of a wide one while the line is interpreted.
    width: u16,
    style: Style,
    emphasis: Emphasis,
}

/// A line that is ready to be shown.
#[derive(Debug, Default, Clone)]
pub struct Line {
    /// Texts of all cells, in the order in which they were written.
    arena: String,
    cells: Vec<Cell>,
}

impl Line {
    /// Interprets a raw line, its newline with it or not. Bytes past [`MOST_BYTES`] are not looked at.
    pub fn from_raw(raw: &[u8]) -> Self {
        interpret::line(raw.get(..MOST_BYTES).unwrap_or(raw))
    }

    /// Puts a text of Fleet's own in front, after which it says that the line goes on from before.
    pub fn put_mark_first(&mut self, mark: &str) {
        let cells = mark.chars().filter(|character| !character.is_control()).map(|character| {
            let start = index(self.arena.len());
            self.arena.push(character);
            let end = index(self.arena.len());
            Cell { start, end, raw: 0, width: 1, style: Style::default(), emphasis: Emphasis::Mark }
        });
        let cells: Vec<Cell> = cells.collect();
        self.cells.splice(0..0, cells);
    }

    /// Makes all of it dim.
    pub fn dim(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.style.is_dim = true);
    }

    /// Lets the line stand for so many raw bytes, which it does not come from: no cell is past the last of them.
    pub fn keep_within(&mut self, bytes: usize) {
        let last = index(bytes.saturating_sub(1));
        self.cells.iter_mut().for_each(|cell| cell.raw = cell.raw.min(last));
    }

    /// Returns the text as it is shown, without marks.
    pub fn plain(&self) -> String {
        let own = self.cells.iter().filter(|cell| cell.emphasis != Emphasis::Mark);
        own.map(|cell| self.text_of(cell)).collect()
    }

    /// Returns how many cells of a terminal the whole line takes.
    pub fn width(&self) -> usize {
        self.cells.iter().map(|cell| usize::from(cell.width)).sum()
    }

    /// Emphasises what `find` finds in the shown text from a byte on; the match that begins nearest to the raw offset
    /// `current`, if one is given, as the one that the search stands on.
    pub fn emphasise(
        &mut self,
        find: impl Fn(&[u8], usize) -> Option<Range<usize>>,
        current: Option<u64>,
    ) {
        let mut text = String::with_capacity(self.arena.len());
        let mut starts = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            starts.push(text.len());
            if cell.emphasis == Emphasis::Mark {
                // No needle has this, so a mark is never found and never bridges two texts.
                text.push('\0');
            } else {
                text.push_str(self.text_of(cell));
            }
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut from = 0;
        while let Some(hit) = find(text.as_bytes(), from) {
            from = hit.end.max(hit.start + 1);
            let first = starts.partition_point(|start| *start <= hit.start).saturating_sub(1);
            let after = starts.partition_point(|start| *start < hit.end);
            found.push(first..after.max(first));
        }
        let distance = |hit: &Range<usize>| {
            let raw = self.cells.get(hit.start).map_or(0, |cell| u64::from(cell.raw));
            current.map_or(0, |current| raw.abs_diff(current))
        };
        let nearest = current.and_then(|_| found.iter().map(distance).min());
        let stands_on =
            nearest.and_then(|least| found.iter().position(|hit| distance(hit) == least));
        for (number, hit) in found.into_iter().enumerate() {
            let emphasis =
                if stands_on == Some(number) { Emphasis::CurrentHit } else { Emphasis::Hit };
            for cell in self.cells.get_mut(hit).unwrap_or_default() {
                if cell.emphasis != Emphasis::Mark {
                    cell.emphasis = emphasis;
                }
            }
        }
    }

    /// Returns which cells each row shows when the line is wrapped at a width; at least one row. Rows end after a
    /// word where one fits; a single blank at which a row ends is not shown.
    pub fn wrap(&self, width: usize) -> Vec<Range<usize>> {
        let width = width.max(1);
        let mut rows = Vec::new();
        let (mut start, mut taken, mut after_blank) = (0, 0_usize, None);
        let mut at = 0;
        while let Some(cell) = self.cells.get(at) {
            // What is wider than the whole row is drawn as one cell.
            let cells = usize::from(cell.width);
            let cells = if cells > width { 1 } else { cells };
            let is_blank = self.text_of(cell) == " ";
            if taken + cells > width {
                if is_blank {
                    rows.push(start..at);
                    (start, taken, after_blank) = (at + 1, 0, None);
                    at += 1;
                    continue;
                }
                let end = after_blank.unwrap_or(at);
                rows.push(start..end);
                (start, at, taken, after_blank) = (end, end, 0, None);
                continue;
            }
            taken += cells;
            at += 1;
            // A row of blanks alone is no place to break: what is indented far stays on its row.
            if is_blank && self.has_text(start..at) {
                after_blank = Some(at);
            }
        }
        if start < self.cells.len() || rows.is_empty() {
            rows.push(start..self.cells.len());
        }
        rows
    }

    fn has_text(&self, cells: Range<usize>) -> bool {
        // Looks at few cells: the first that is no blank ends it, and indentation is short.
        self.cells.get(cells).unwrap_or_default().iter().any(|cell| self.text_of(cell) != " ")
    }

    /// Returns the spans of some cells, none of them wider than `width`.
    pub fn spans(&self, cells: Range<usize>, width: usize) -> Vec<Span> {
        let mut spans = Vec::new();
        for cell in self.cells.get(cells).unwrap_or_default() {
            let text = if usize::from(cell.width) > width { "?" } else { self.text_of(cell) };
            push(&mut spans, text, cell.style, cell.emphasis);
        }
        spans
    }

    /// Returns the spans that are seen through an opening of `width` cells from `column` on. Of a wide grapheme that
    /// the edge cuts, blanks are shown.
    pub fn slice(&self, column: usize, width: usize) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut at = 0_usize;
        let end = column.saturating_add(width);
        for cell in &self.cells {
            let (start, after) = (at, at + usize::from(cell.width));
            at = after;
            if after <= column {
                continue;
            }
            if start >= end {
                break;
            }
            if start >= column && after <= end {
                push(&mut spans, self.text_of(cell), cell.style, cell.emphasis);
            } else {
                for _ in start.max(column)..after.min(end) {
                    push(&mut spans, " ", cell.style, cell.emphasis);
                }
            }
        }
        spans
    }

    /// Returns the cell and the column at which the byte at a raw offset is shown, or the nearest before it.
    pub fn find_raw(&self, raw: u64) -> (usize, usize) {
        let mut found = (0, 0);
        let mut column = 0;
        let mut best = 0;
        for (number, cell) in self.cells.iter().enumerate() {
            let own = u64::from(cell.raw);
            if own <= raw && own >= best && cell.emphasis != Emphasis::Mark {
                (found, best) = ((number, column), own);
            }
            column += usize::from(cell.width);
        }
        found
    }

    fn text_of(&self, cell: &Cell) -> &str {
        self.arena.get(cell.start as usize..cell.end as usize).unwrap_or_default()
    }
}

fn push(spans: &mut Vec<Span>, text: &str, style: Style, emphasis: Emphasis) {
    match spans.last_mut() {
        Some(last) if last.style == style && last.emphasis == emphasis => last.text.push_str(text),
        Some(_) | None => spans.push(Span { text: text.to_owned(), style, emphasis }),
    }
}

/// An offset within a line, which is bounded far below what fits.
fn index(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
