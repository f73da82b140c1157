//! The lines of a text as they are shown, each interpreted once for everything that is asked of it.
//!
//! What may go here: which words a line is shown in, interpreted lines that are kept. What may not: rows, searching.

use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use super::pieces::Pieces;
use super::text::Line;
use crate::adapters::{Words, in_words};
use crate::tail::follow::file::Source;

/// Lines that are kept: several screens of them.
const MOST_LINES: usize = 512;
/// Raw bytes of the lines that are kept, which take some thirty times that when interpreted: as much as of one screen
/// of the longest pieces that are read.
const MOST_BYTES: u64 = 256 * 1024;
/// Stands before a piece that is the rest of a line.
const REST_MARK: &str = "[line goes on] ";

/// A text, with its newest lines interpreted.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) pieces: Pieces,
    /// By where the piece begins, with where it ended. Bounded by [`MOST_LINES`] and [`MOST_BYTES`].
    kept: HashMap<u64, (u64, Rc<Line>)>,
    kept_bytes: u64,
}

impl Lines {
    pub(super) fn new(source: Source) -> Self {
        Self { pieces: Pieces::new(source), kept: HashMap::new(), kept_bytes: 0 }
    }

    /// Forgets what was read, since the text is another one.
    pub(super) fn forget(&mut self) {
        self.pieces.forget();
        self.forget_lines();
    }

    /// Returns the piece that begins at an offset, ready to be shown.
    pub(super) fn line(&mut self, start: u64) -> io::Result<Rc<Line>> {
        let end = self.pieces.end_of(start)?;
        if let Some((known_end, line)) = self.kept.get(&start) {
            if *known_end == end {
                return Ok(Rc::clone(line));
            }
            self.kept_bytes -= known_end - start;
            self.kept.remove(&start);
        }
        let line = Rc::new(self.interpret(start, end)?);
        let bytes = end - start;
        if self.kept.len() >= MOST_LINES || self.kept_bytes.saturating_add(bytes) > MOST_BYTES {
            self.forget_lines();
        }
        self.kept_bytes += bytes;
        self.kept.insert(start, (end, Rc::clone(&line)));
        Ok(line)
    }

    fn interpret(&mut self, start: u64, end: u64) -> io::Result<Line> {
        let raw = self.pieces.bytes(start..end)?;
        if self.pieces.is_rest(start)? {
            let mut line = Line::from_raw(&raw);
            line.put_mark_first(REST_MARK);
            return Ok(line);
        }
        let is_whole = raw.ends_with(b"\n") || end == self.pieces.size();
        let words = is_whole.then(|| in_words(&raw)).flatten();
        Ok(words.map_or_else(|| Line::from_raw(&raw), |words| line_of(&words, raw.len())))
    }

    fn forget_lines(&mut self) {
        self.kept.clear();
        self.kept_bytes = 0;
    }
}

/// Makes the line that stands for so many bytes of the line protocol. It is dim unless its agent speaks to people:
/// nobody wants to read JSON there, and the file itself has it.
fn line_of(words: &Words, raw_bytes: usize) -> Line {
    let mut line = Line::from_raw(words.text.as_bytes());
    line.keep_within(raw_bytes);
    if !words.is_speech {
        line.dim();
    }
    line
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use super::{Lines, MOST_BYTES, MOST_LINES, Source};

    fn lines(text: &str) -> Lines {
        Lines::new(Source::Text(Arc::from(text)))
    }

    #[test]
    fn a_line_is_interpreted_once_and_again_for_another_text() {
        let mut lines = lines("one\ntwo\n");
        let first = lines.line(0).unwrap();
        assert!(Rc::ptr_eq(&first, &lines.line(0).unwrap()));
        assert_eq!(lines.line(4).unwrap().plain(), "two");
        lines.forget();
        assert!(!Rc::ptr_eq(&first, &lines.line(0).unwrap()));
    }

    #[test]
    fn a_line_that_has_grown_is_interpreted_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, "one").unwrap();
        let file = crate::tail::follow::file::FollowedFile::new(path.clone());
        let mut lines = Lines::new(Source::File(file));
        lines.pieces.source_mut().look(true).unwrap();
        assert_eq!(lines.line(0).unwrap().plain(), "one");
        std::fs::write(&path, "one and more").unwrap();
        lines.pieces.source_mut().look(true).unwrap();
        assert_eq!(lines.line(0).unwrap().plain(), "one and more");
    }

    /// C-95, of an output that is looked at.
    #[test]
    fn few_lines_are_kept_however_many_or_long_they_are() {
        let mut short = lines(&"x\n".repeat(3 * MOST_LINES));
        for start in 0..3 * MOST_LINES as u64 {
            short.line(2 * start).unwrap();
            assert!(short.kept.len() <= MOST_LINES);
        }
        let mut long = lines(&format!("{}\n", "x".repeat(30_000)).repeat(40));
        for start in 0..40 {
            long.line(30_001 * start).unwrap();
            assert!(long.kept_bytes <= MOST_BYTES);
        }
        assert_eq!(long.kept_bytes, long.kept.values().map(|_| 30_001).sum::<u64>());
    }

    #[test]
    fn only_a_whole_line_is_shown_in_words() {
        let cost = r#"{"fleet":"cost","total_usd":1}"#;
        let blanks = " ".repeat(80_000);
        let mut lines = lines(&format!("{cost}\n{cost}{blanks}and more\n{cost}"));
        let words = "[cost] $1.00 in all";
        assert_eq!(lines.line(0).unwrap().plain(), words);
        let second = cost.len() as u64 + 1;
        assert!(lines.line(second).unwrap().plain().starts_with(cost), "it goes on");
        let last = lines.pieces.size() - cost.len() as u64;
        assert_eq!(lines.line(last).unwrap().plain(), words, "nothing follows");
    }
}
