//! The rows of the screen that the lines of a draft take.
//!
//! What may go here: where lines are broken, and which cell is which character. What may not: drawing, editing.

use unicode_segmentation::UnicodeSegmentation;

use ratatui::buffer::CellWidth;

use super::attachments::Attachments;
use super::text::Place;
use crate::words::plain_text::cells;

/// Cells of a tab.
const TAB: usize = 4;

/// A part of a line that stands in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Characters of the line before it, and before its end.
    columns: (usize, usize),
    /// The same in bytes.
    bytes: (usize, usize),
}

#[derive(Debug)]
struct Line {
    text: String,
    pieces: Vec<Piece>,
}

/// A row of the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// Number of its line, from zero.
    pub(super) line: usize,
    /// Column at which it begins.
    pub(super) column: usize,
    /// What stands in it.
    pub(super) text: &'a str,
    /// It is the first row of its line.
    pub(super) is_first: bool,
}

/// All rows of a draft at a width.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    width: usize,
    lines: Vec<Line>,
}

impl Wrapped {
    /// Brings the rows in line with the text; only lines that changed are looked at.
    pub(super) fn update(&mut self, text: &[String], width: usize, attachments: &Attachments) {
        let width = width.max(1);
        if width != self.width {
            self.width = width;
            self.lines.clear();
        }
        let is_same = |(old, new): &(&Line, &String)| old.text == **new;
        let head = self.lines.iter().zip(text).take_while(is_same).count();
        let rest = self.lines.len().min(text.len()) - head;
        let tail =
            self.lines.iter().rev().zip(text.iter().rev()).take(rest).take_while(is_same).count();
        let changed = text.get(head..text.len() - tail).unwrap_or_default();
        let fresh = changed
            .iter()
            .map(|line| Line { text: line.clone(), pieces: pieces(line, width, attachments) });
        self.lines.splice(head..self.lines.len() - tail, fresh.collect::<Vec<_>>());
    }

    /// Returns how many rows there are.
    pub(super) fn height(&self) -> usize {
        self.lines.iter().map(|line| line.pieces.len()).sum()
    }

    /// Returns the rows from one on.
    pub(super) fn rows(&self, from: usize) -> impl Iterator<Item = Row<'_>> {
        self.lines
            .iter()
            .enumerate()
            .flat_map(|(number, line)| line.pieces.iter().map(move |piece| (number, line, piece)))
            .skip(from)
            .map(|(number, line, piece)| Row {
                line: number,
                column: piece.columns.0,
                text: line.text.get(piece.bytes.0..piece.bytes.1).unwrap_or_default(),
                is_first: piece.columns.0 == 0,
            })
    }

    /// Returns the row and the cell of a place in the text.
    pub(super) fn locate(
        &self,
        (line, column): Place,
        attachments: &Attachments,
    ) -> (usize, usize) {
        let above = self.lines.iter().take(line).map(|line| line.pieces.len()).sum::<usize>();
        let Some(here) = self.lines.get(line) else { return (above, 0) };
        // The end of one row is the beginning of the next; only the last one has an end of its own.
        let inside = here.pieces.iter().take_while(|piece| piece.columns.0 <= column).count();
        let index = inside.saturating_sub(1);
        let Some(piece) = here.pieces.get(index) else { return (above, 0) };
        let text = here.text.get(piece.bytes.0..piece.bytes.1).unwrap_or_default();
        let mut left = column.saturating_sub(piece.columns.0);
        let mut cell = 0;
        for grapheme in text.graphemes(true) {
            let characters = grapheme.chars().count();
            if left < characters {
                break;
            }
            left -= characters;
            cell += width_of(grapheme, self.width, attachments);
        }
        // A blank may hang over the edge, in the cell that is kept for the caret.
        (above + index, cell.min(self.width))
    }

    /// Returns the place in the text that is nearest to a cell of a row.
    pub(super) fn place(&self, row: usize, cell: usize, attachments: &Attachments) -> Place {
        let row = row.min(self.height().saturating_sub(1));
        let Some(found) = self.rows(row).next() else { return (0, 0) };
        let is_last = self.rows(row + 1).next().is_none_or(|next| next.is_first);
        let (mut column, mut at, mut previous) = (found.column, 0, found.column);
        for grapheme in found.text.graphemes(true) {
            let width = width_of(grapheme, self.width, attachments);
            if at + width > cell {
                return (found.line, column);
            }
            at += width;
            previous = column;
            column += grapheme.chars().count();
        }
        (found.line, if is_last { column } else { previous })
    }
}

/// Returns the cells that a grapheme takes in rows of a width.
pub(super) fn width_of(grapheme: &str, width: usize, attachments: &Attachments) -> usize {
    let first = grapheme.chars().next().unwrap_or(' ');
    match attachments.label(first) {
        Some(label) => cells(label).min(width),
        None if grapheme == "\t" => TAB.min(width),
        None if first.is_control() => 0,
        None => usize::from(grapheme.cell_width()),
    }
}

/// Breaks a line after white space where it can, within a word where it must. One blank may hang over the edge.
fn pieces(line: &str, width: usize, attachments: &Attachments) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = ((0, 0), (0, 0));
    let mut taken = 0;
    // Where the last word began, with the cells before it.
    let mut word: Option<((usize, usize), usize)> = None;
    let mut was_blank = false;
    for grapheme in line.graphemes(true) {
        let is_blank = grapheme == " ";
        let cells = width_of(grapheme, width, attachments);
        if was_blank && !is_blank {
            word = Some((at, taken));
        }
        let hangs = is_blank && !was_blank && taken <= width;
        if taken + cells > width && at != start && !hangs {
            let (end, kept) = word.take().unwrap_or((at, taken));
            pieces.push(Piece { columns: (start.0, end.0), bytes: (start.1, end.1) });
            start = end;
            taken -= kept;
            if taken + cells > width && at != start {
                // The word itself does not fit either.
                pieces.push(Piece { columns: (start.0, at.0), bytes: (start.1, at.1) });
                start = at;
                taken = 0;
            }
        }
        taken += cells;
        was_blank = is_blank;
        at = (at.0 + grapheme.chars().count(), at.1 + grapheme.len());
    }
    pieces.push(Piece { columns: (start.0, at.0), bytes: (start.1, at.1) });
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let mut wrapped = Wrapped::default();
        wrapped.update(&lines, width, &Attachments::default());
        wrapped.rows(0).map(|row| row.text.to_owned()).collect()
    }

    #[test]
    fn lines_break_after_blanks_and_within_words_that_are_too_long() {
        assert_eq!(rows("fix the tests", 20), ["fix the tests"]);
        assert_eq!(rows("fix the tests", 8), ["fix the ", "tests"]);
        assert_eq!(rows("fix the tests", 7), ["fix the ", "tests"]);
        assert_eq!(rows("fix abcdefgh", 5), ["fix ", "abcde", "fgh"]);
        assert_eq!(rows("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(rows("ab    cd", 3), ["ab ", "   ", "cd"]);
    }

    #[test]
    fn wide_graphemes_are_never_cut() {
        assert_eq!(rows("日本語", 5), ["日本", "語"]);
        assert_eq!(rows("日", 1), ["日"]);
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(rows(&family.repeat(3), 4), [family.repeat(2), family.to_owned()]);
    }

    #[test]
    fn places_and_cells_lead_back_to_each_other_at_every_width() {
        let lines: Vec<String> = ["fix 日本 e\u{301}a\u{301} tests", "", "a\tb  and more of it"]
            .map(str::to_owned)
            .into();
        let attachments = Attachments::default();
        for width in 2..30 {
            let mut wrapped = Wrapped::default();
            wrapped.update(&lines, width, &attachments);
            for (number, line) in lines.iter().enumerate() {
                for column in super::super::text::boundaries(line) {
                    let (row, cell) = wrapped.locate((number, column), &attachments);
                    assert!(cell <= width);
                    let back = wrapped.place(row, cell, &attachments);
                    assert_eq!(back, (number, column), "width {width}, row {row}, cell {cell}");
                }
            }
        }
    }

    #[test]
    fn a_changed_line_leaves_the_others_as_they_are() {
        let attachments = Attachments::default();
        let mut lines: Vec<String> = (0..9).map(|number| format!("line {number} of it")).collect();
        let mut wrapped = Wrapped::default();
        wrapped.update(&lines, 6, &attachments);
        lines[4] = "other".to_owned();
        lines.remove(7);
        lines.insert(2, String::new());
        wrapped.update(&lines, 6, &attachments);
        let mut fresh = Wrapped::default();
        fresh.update(&lines, 6, &attachments);
        let text = |wrapped: &Wrapped| {
            wrapped.rows(0).map(|row| (row.line, row.text.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(text(&wrapped), text(&fresh));
    }
}
