//! Long pastes: kept beside the text of a draft, in which one character stands for each of them.
//!
//! What may go here: the table of them, and what they are called. What may not: where they stand in the text.
//! Every key lays out the text again, so a pasted mebibyte must not be part of it; and nobody wants to scroll past one.

use std::collections::HashSet;

use crate::words::plain_text::{count, thousands};

/// A paste of more bytes than this is kept beside the text: some screens full, still laid out well within a frame.
const LARGE_BYTES: usize = 32 * 1024;
/// A paste of more lines than this is kept beside the text, for the same reason.
const LARGE_LINES: usize = 2_000;
/// Bytes of all of them together: what a person can mean to paste; each is kept until no draft and no undo can bring it
/// back.
pub(super) const MOST_BYTES: usize = 64 * 1024 * 1024;
/// First of the characters that stand for them: the last plane for private use, which no font and no keyboard uses.
const FIRST: u32 = 0x10_0000;
/// How many such characters there are.
const MARKS: usize = 0xFFFE;

/// Why a paste is not taken.
pub(super) const FULL: &str =
    "too much has been pasted into drafts: dispatch or delete some of it first";

/// Long pastes of all drafts of this screen.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    /// Marks are not used again, so that an old one never stands for a new text.
    forgotten: usize,
    /// `None`: let go.
    kept: Vec<Option<Kept>>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    text: String,
    /// Line breaks in it.
    breaks: usize,
    /// What is shown for it; counted once, since it is drawn in every frame.
    label: String,
}

impl Attachments {
    /// Says whether a text is better kept beside the draft: it is long, or it has a character that would be taken for
    /// a mark.
    pub(super) fn is_due(text: &str) -> bool {
        text.len() > LARGE_BYTES
            || text.bytes().filter(|byte| *byte == b'\n').count() > LARGE_LINES
            || text.chars().any(is_mark)
    }

    /// Keeps a text and returns the character that stands for it, unless all of them would be more than `most` bytes.
    pub(super) fn keep(&mut self, text: String, most: usize) -> Option<char> {
        let index = self.forgotten + self.kept.len();
        if self.bytes + text.len() > most || index >= MARKS {
            return None;
        }
        let mark = char::from_u32(FIRST + u32::try_from(index).ok()?)?;
        self.bytes += text.len();
        let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
        let lines = match u64::try_from(breaks + 1) {
            Ok(lines) if lines > 999 => format!("{} lines", thousands(lines)),
            _ => count(breaks + 1, "line"),
        };
        let label = format!("[pasted: {lines}, {}]", size(text.len()));
        self.kept.push(Some(Kept { text, breaks, label }));
        Some(mark)
    }

    /// Forgets all of them. No text may have a mark any more.
    pub(super) fn forget(&mut self) {
        self.forgotten += self.kept.len();
        self.kept.clear();
        self.bytes = 0;
    }

    /// Returns how many bytes all of them have.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many bytes those have that these characters stand for.
    pub(super) fn bytes_of(&self, marks: &HashSet<char>) -> usize {
        marks.iter().filter_map(|mark| self.text(*mark)).map(str::len).sum()
    }

    /// Lets all of them go but for those that these characters stand for.
    pub(super) fn retain(&mut self, marks: &HashSet<char>) {
        for (index, kept) in (self.forgotten..).zip(&mut self.kept) {
            let mark = u32::try_from(index).ok().and_then(|index| char::from_u32(FIRST + index));
            if mark.is_none_or(|mark| !marks.contains(&mark)) {
                self.bytes -= kept.take().map_or(0, |kept| kept.text.len());
            }
        }
    }

    fn get(&self, mark: char) -> Option<&Kept> {
        let index = usize::try_from(u32::from(mark).checked_sub(FIRST)?).ok()?;
        self.kept.get(index.checked_sub(self.forgotten)?)?.as_ref()
    }

    /// Returns the text that a character stands for, if it is a mark.
    pub(super) fn text(&self, mark: char) -> Option<&str> {
        self.get(mark).map(|kept| kept.text.as_str())
    }

    /// Returns what is shown for a mark: `[pasted: 31,250 lines, 1.0 MB]`.
    pub(super) fn label(&self, mark: char) -> Option<&str> {
        self.get(mark).map(|kept| kept.label.as_str())
    }

    /// Returns the text with what its marks stand for.
    pub(super) fn expand(&self, lines: &[String]) -> String {
        let mut whole = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                whole.push('\n');
            }
            self.expand_line(line, &mut whole);
        }
        whole
    }

    fn expand_line(&self, line: &str, whole: &mut String) {
        if !line.chars().any(is_mark) {
            whole.push_str(line);
            return;
        }
        for character in line.chars() {
            match self.text(character) {
                Some(text) => whole.push_str(text),
                None => whole.push(character),
            }
        }
    }

    /// Returns how many lines a line is with what its marks stand for.
    pub(super) fn lines_in(&self, line: &str) -> usize {
        1 + line.chars().filter_map(|mark| self.get(mark)).map(|kept| kept.breaks).sum::<usize>()
    }
}

/// Says whether a character may stand for a paste.
pub(super) fn is_mark(character: char) -> bool {
    u32::from(character) >= FIRST
}

/// Returns a number of bytes for people: `812 bytes`, `4.1 KB`, `1.0 MB`.
fn size(bytes: usize) -> String {
    let tenths = |unit: usize| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..1_000_000 => format!("{} KB", tenths(1_000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_for_its_text_and_never_for_a_later_one() {
        let mut attachments = Attachments::default();
        let mark = attachments.keep("one\ntwo".to_owned(), MOST_BYTES).unwrap();
        assert_eq!(attachments.label(mark).unwrap(), "[pasted: 2 lines, 7 bytes]");
        let lines = [format!("a {mark} b"), "c".to_owned()];
        assert_eq!(attachments.expand(&lines), "a one\ntwo b\nc");
        assert_eq!(lines.each_ref().map(|line| attachments.lines_in(line)), [2, 1]);
        attachments.forget();
        let later = attachments.keep("later".to_owned(), MOST_BYTES).unwrap();
        assert_eq!((attachments.text(mark), attachments.text(later)), (None, Some("later")));
    }

    #[test]
    fn long_texts_and_those_with_a_character_like_a_mark_are_kept_beside_the_draft() {
        assert!(!Attachments::is_due("a line\n"));
        assert!(Attachments::is_due(&"x".repeat(LARGE_BYTES + 1)));
        assert!(Attachments::is_due(&"\n".repeat(LARGE_LINES + 1)));
        assert!(Attachments::is_due("\u{100000}"));
    }

    #[test]
    fn more_than_a_person_can_mean_is_not_kept() {
        let mut attachments = Attachments::default();
        assert!(attachments.keep("x".repeat(MOST_BYTES), MOST_BYTES).is_some());
        assert_eq!(attachments.keep("x".to_owned(), MOST_BYTES), None);
    }

    #[test]
    fn one_that_is_let_go_makes_room_and_the_others_stay() {
        let mut attachments = Attachments::default();
        let one = attachments.keep("one".to_owned(), 6).unwrap();
        let two = attachments.keep("two".to_owned(), 6).unwrap();
        assert_eq!(attachments.keep("three".to_owned(), 8), None);
        attachments.retain(&HashSet::from([two]));
        let three = attachments.keep("three".to_owned(), 8).unwrap();
        let texts = [one, two, three].map(|mark| attachments.text(mark));
        assert_eq!(texts, [None, Some("two"), Some("three")]);
        assert_eq!(attachments.bytes(), 8);
    }

    #[test]
    fn sizes_are_told_in_units_of_people() {
        assert_eq!(
            [812, 1_000, 32_768, 999_999].map(size),
            ["812 bytes", "1.0 KB", "32.7 KB", "999.9 KB"]
        );
        assert_eq!(size(1_048_576), "1.0 MB");
    }
}
