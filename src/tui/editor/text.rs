//! The text of a draft: what is typed, where the caret is, what undo takes back.
//!
//! What may go here: edits and moves in terms of text. What may not: rows of the screen, keys, what the text is for.
//! The text area of the library keeps lines, caret, selection and single edits; moves by grapheme and undo by word,
//! which it has not, are here.

use super::attachments::is_mark;
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes of text that are edited at most; the text area counts columns in 16 bits, and every key looks at all of it.
pub(super) const MOST_BYTES: usize = 64 * 1024 - 1;
/// Single edits that can be undone: hours of typing.
const MOST_EDITS: usize = 10_000;

/// A line and a column in characters, from zero.
pub(super) type Place = (usize, usize);

/// What an edit was, for undo: words are taken back whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stroke {
    /// A character of a word.
    Letter,
    /// White space after it.
    Blank,
    /// Something was deleted.
    Delete,
    /// Anything that stands for itself: a paste, a line break.
    Whole,
}

/// The text of a draft.
#[derive(Debug)]
pub(super) struct Text {
    area: TextArea<'static>,
    /// How many single edits undo takes back each time, the newest last.
    done: Vec<usize>,
    undone: Vec<usize>,
    /// The edit before, if nothing else happened since.
    last: Option<Stroke>,
    /// Characters for texts that are kept elsewhere, which it has or undo may bring back.
    marks: Vec<char>,
}

impl Default for Text {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_max_histories(MOST_EDITS);
        Self { area, done: Vec::new(), undone: Vec::new(), last: None, marks: Vec::new() }
    }
}

impl Text {
    /// Makes a text that undo does not take back, with the caret at its end. It has at most [`MOST_BYTES`].
    pub(super) fn new(text: &str) -> Self {
        let mut area = TextArea::from(text.split('\n'));
        area.set_max_histories(MOST_EDITS);
        let marks = text.chars().filter(|character| is_mark(*character)).collect();
        let mut text = Self { area, marks, ..Self::default() };
        text.go(text.end(), false);
        text
    }

    /// Returns the lines; there is at least one.
    pub(super) fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// Returns how many bytes the lines have, line breaks included.
    pub(super) fn bytes(&self) -> usize {
        self.lines().iter().map(|line| line.len() + 1).sum::<usize>().saturating_sub(1)
    }

    /// Says whether nothing is there, not even a blank.
    pub(super) fn is_empty(&self) -> bool {
        self.lines().iter().all(String::is_empty) && self.lines().len() <= 1
    }

    /// Says whether nothing but white space is there.
    pub(super) fn is_blank(&self) -> bool {
        self.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Returns where the caret is.
    pub(super) fn caret(&self) -> Place {
        let cursor = self.area.cursor();
        (cursor.0, cursor.1)
    }

    /// Returns the selected places, the first one before the second.
    pub(super) fn selected(&self) -> Option<(Place, Place)> {
        self.area.selection_range().filter(|(start, end)| start != end)
    }

    /// Returns the characters for texts that are kept elsewhere which it has had since its undo began.
    pub(super) fn marks(&self) -> &[char] {
        &self.marks
    }

    fn line(&self, number: usize) -> &str {
        self.lines().get(number).map_or("", String::as_str)
    }

    /// Moves the caret; `selects` keeps everything between selected.
    pub(super) fn go(&mut self, place: Place, selects: bool) {
        self.last = None;
        if !selects {
            self.area.cancel_selection();
        } else if !self.area.is_selecting() {
            self.area.start_selection();
        }
        self.jump(place);
    }

    fn jump(&mut self, (line, column): Place) {
        let narrow = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(narrow(line), narrow(column)));
    }

    /// Returns the place one grapheme before the caret.
    pub(super) fn before(&self) -> Option<Place> {
        let (line, column) = self.caret();
        if column > 0 {
            return Some((line, boundary_before(self.line(line), column)));
        }
        let above = line.checked_sub(1)?;
        Some((above, self.line(above).chars().count()))
    }

    /// Returns the place one grapheme after the caret.
    pub(super) fn after(&self) -> Option<Place> {
        let (line, column) = self.caret();
        match boundary_after(self.line(line), column) {
            Some(column) => Some((line, column)),
            None => (line + 1 < self.lines().len()).then_some((line + 1, 0)),
        }
    }

    /// Returns the place of the word's beginning before the caret.
    pub(super) fn word_before(&mut self) -> Place {
        self.word(CursorMove::WordBack, boundary_at)
    }

    /// Returns the place of the next word's beginning.
    pub(super) fn word_after(&mut self) -> Place {
        self.word(CursorMove::WordForward, |line, column| {
            if boundary_at(line, column) == column {
                return column;
            }
            boundary_after(line, column).unwrap_or(column)
        })
    }

    /// Looks where the text area would go; it does not know graphemes, so `snap` moves it to the end of one.
    fn word(&mut self, way: CursorMove, snap: fn(&str, usize) -> usize) -> Place {
        let (caret, selected) = (self.caret(), self.area.selection_range());
        self.area.cancel_selection();
        self.area.move_cursor(way);
        let (line, column) = self.caret();
        let place = (line, snap(self.line(line), column));
        if let Some((start, end)) = selected {
            self.jump(if caret == start { end } else { start });
            self.area.start_selection();
        }
        self.jump(caret);
        place
    }

    /// Returns the place of the end of the caret's line.
    pub(super) fn line_end(&self) -> Place {
        let (line, _) = self.caret();
        (line, self.line(line).chars().count())
    }

    /// Returns the place after everything.
    pub(super) fn end(&self) -> Place {
        let line = self.lines().len().saturating_sub(1);
        (line, self.line(line).chars().count())
    }

    /// Types a character in place of what is selected. Says whether it had room.
    pub(super) fn type_character(&mut self, character: char) -> bool {
        if self.bytes() + character.len_utf8() > MOST_BYTES {
            return false;
        }
        let stroke = if character.is_whitespace() { Stroke::Blank } else { Stroke::Letter };
        let edits = self.take_selected();
        self.area.insert_char(character);
        self.record(edits + 1, if edits > 0 { Stroke::Whole } else { stroke });
        true
    }

    /// Inserts a text in place of what is selected. Says whether it had room.
    pub(super) fn insert(&mut self, text: &str) -> bool {
        if self.bytes() + text.len() > MOST_BYTES {
            return false;
        }
        self.marks.extend(text.chars().filter(|character| is_mark(*character)));
        let edits = self.take_selected();
        let inserted = self.area.insert_str(text);
        self.record(edits + usize::from(inserted), Stroke::Whole);
        true
    }

    /// Deletes what is selected, or else the grapheme before the caret.
    pub(super) fn delete_before(&mut self) -> bool {
        match self.before() {
            Some(from) => self.delete_to(from),
            None => self.delete_selected(),
        }
    }

    /// Deletes what is selected, or else the grapheme after the caret.
    pub(super) fn delete_after(&mut self) -> bool {
        match self.after() {
            Some(to) => self.delete_to(to),
            None => self.delete_selected(),
        }
    }

    /// Deletes what is selected, or else the word before the caret.
    pub(super) fn delete_word(&mut self) -> bool {
        let from = self.word_before();
        self.delete_to(from)
    }

    /// Deletes what is selected, or else everything between the caret and a place.
    pub(super) fn delete_to(&mut self, place: Place) -> bool {
        if self.selected().is_none() {
            self.area.cancel_selection();
            self.area.start_selection();
            self.jump(place);
        }
        self.delete_selected()
    }

    fn delete_selected(&mut self) -> bool {
        let edits = self.take_selected();
        self.record(edits, Stroke::Delete);
        edits > 0
    }

    /// Deletes what is selected and returns how many edits that was.
    fn take_selected(&mut self) -> usize {
        let was_selected = self.selected().is_some();
        // With nothing to delete beside the selection this is the one call that keeps what was cut before.
        let deleted = was_selected && self.area.delete_str(0);
        self.area.cancel_selection();
        usize::from(deleted)
    }

    fn record(&mut self, edits: usize, stroke: Stroke) {
        if edits == 0 {
            return;
        }
        self.undone.clear();
        let joins = match (self.last, stroke) {
            (Some(Stroke::Letter), Stroke::Letter | Stroke::Blank)
            | (Some(Stroke::Blank), Stroke::Blank)
            | (Some(Stroke::Delete), Stroke::Delete) => true,
            (_, Stroke::Letter | Stroke::Blank | Stroke::Delete | Stroke::Whole) => false,
        };
        match self.done.last_mut() {
            Some(last) if joins => *last += edits,
            _ => self.done.push(edits),
        }
        self.last = Some(stroke);
    }

    /// Takes the newest word, deletion or paste back.
    pub(super) fn undo(&mut self) -> bool {
        let Some(edits) = self.done.pop() else { return false };
        // The oldest edits may have been forgotten; what is left of their group is undone.
        let undone = (0..edits).take_while(|_| self.area.undo()).count();
        if undone > 0 {
            self.undone.push(undone);
        }
        self.last = None;
        undone > 0
    }

    /// Does again what undo took back.
    pub(super) fn redo(&mut self) -> bool {
        let Some(edits) = self.undone.pop() else { return false };
        let done = (0..edits).take_while(|_| self.area.redo()).count();
        if done > 0 {
            self.done.push(done);
        }
        self.last = None;
        done > 0
    }
}

/// Returns the columns, in characters, at which the graphemes of a line begin, and its end.
pub(super) fn boundaries(line: &str) -> impl Iterator<Item = usize> {
    let mut column = 0;
    std::iter::once(0).chain(line.graphemes(true).map(move |grapheme| {
        column += grapheme.chars().count();
        column
    }))
}

fn boundary_before(line: &str, column: usize) -> usize {
    boundaries(line).take_while(|boundary| *boundary < column).last().unwrap_or(0)
}

fn boundary_at(line: &str, column: usize) -> usize {
    boundaries(line).take_while(|boundary| *boundary <= column).last().unwrap_or(0)
}

fn boundary_after(line: &str, column: usize) -> Option<usize> {
    boundaries(line).find(|boundary| *boundary > column)
}
