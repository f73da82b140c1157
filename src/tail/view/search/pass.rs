//! One pass over a text in pieces of bounded size, in either direction.
//!
//! What may go here: reading and matching. What may not: threads, which hits are kept.
//!
//! A line is matched as it is shown: a line of the line protocol in its words, one with escape sequences without them,
//! all others as they are.

use std::io;
use std::ops::Range;

use memchr::memmem;

use super::super::pieces::is_one_piece;
use super::needle::Matcher;
use crate::adapters::{PROTOCOL_MARK, in_words};
use crate::tail::follow::file::Source;

/// Bytes of one read: large enough for the disk, small enough that a newer search waits for a millisecond only.
pub(super) const PIECE_BYTES: usize = 1 << 20;
/// Bytes of a line without end that are read again with what follows, so that no hit is cut. Longer hits may be.
const OVERLAP_BYTES: usize = 64 * 1024;

/// Buffers of a pass, kept from step to step.
#[derive(Debug, Default)]
pub(super) struct Reader {
    buffer: Vec<u8>,
    stripped: Stripped,
}

/// What one step has covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Offset up to which hits are told.
    pub(super) end: u64,
    /// Where the last line begins that has no newline yet; the same as `end` if there is none.
    pub(super) last_line: u64,
}

impl Reader {
    /// Tells the hits that begin at `from` or within about one piece after it; `None` if `from` is the end.
    pub(super) fn forwards(
        &mut self,
        source: &Source,
        matcher: &Matcher,
        from: u64,
        size: u64,
        hit: &mut dyn FnMut(u64),
    ) -> io::Result<Option<Step>> {
        let filled = self.read(source, from, size)?;
        if filled == 0 {
            return Ok(None);
        }
        let text = self.buffer.get(..filled).unwrap_or_default();
        let is_last = from + filled as u64 >= size;
        let after_newline = memchr::memrchr(b'\n', text).map(|at| at + 1);
        let end = if is_last {
            filled
        } else {
            after_newline.unwrap_or_else(|| filled.saturating_sub(OVERLAP_BYTES).max(1))
        };
        // A match ends with its line, so what follows the last newline need not be seen.
        let seen = if after_newline.is_some() && !is_last { end } else { filled };
        let text = text.get(..seen).unwrap_or_default();
        hits(text, from, matcher, &mut self.stripped, &mut |at| {
            if at < end {
                hit(from + at as u64);
            }
        });
        let last_line = if is_last { after_newline.unwrap_or(0) } else { end };
        Ok(Some(Step { end: from + end as u64, last_line: from + last_line as u64 }))
    }

    /// Returns the last hit in about one piece before `before`, and how far back the step went.
    pub(super) fn backwards(
        &mut self,
        source: &Source,
        matcher: &Matcher,
        before: u64,
        size: u64,
    ) -> io::Result<(Option<u64>, u64)> {
        let start = before.saturating_sub(PIECE_BYTES as u64 / 2);
        // What begins before the place may end after it.
        let filled = self.read(source, start, size.min(before + OVERLAP_BYTES as u64))?;
        let text = self.buffer.get(..filled).unwrap_or_default();
        let before_in_text = usize::try_from(before - start).unwrap_or(usize::MAX);
        let newline = memchr::memchr(b'\n', text.get(..before_in_text).unwrap_or(text));
        // Lines are whole, but for one that is longer than a piece.
        let first = if start == 0 { 0 } else { newline.map_or(0, |at| at + 1) };
        let first = if first >= before_in_text { 0 } else { first };
        let mut last = None;
        let place = start + first as u64;
        let lines = text.get(first..).unwrap_or_default();
        hits(lines, place, matcher, &mut self.stripped, &mut |at| {
            if first + at < before_in_text {
                last = Some(place + at as u64);
            }
        });
        Ok((last, place))
    }

    /// Returns where the line begins that holds the byte at `offset`, or a place within it if it is very long.
    pub(super) fn line_start(&mut self, source: &Source, offset: u64) -> io::Result<u64> {
        let start = offset.saturating_sub(OVERLAP_BYTES as u64);
        let filled = self.read(source, start, offset)?;
        let text = self.buffer.get(..filled).unwrap_or_default();
        Ok(memchr::memrchr(b'\n', text).map_or(start, |at| start + at as u64 + 1))
    }

    fn read(&mut self, source: &Source, from: u64, size: u64) -> io::Result<usize> {
        self.buffer.resize(PIECE_BYTES, 0);
        let most =
            usize::try_from(size.saturating_sub(from)).unwrap_or(usize::MAX).min(PIECE_BYTES);
        source.read_at(self.buffer.get_mut(..most).unwrap_or_default(), from)
    }
}

/// Tells where in the text matches begin, in order and none twice. The text stands at `place` in its file.
fn hits(
    text: &[u8],
    place: u64,
    matcher: &Matcher,
    stripped: &mut Stripped,
    hit: &mut dyn FnMut(usize),
) {
    let plain = |range: Range<usize>, hit: &mut dyn FnMut(usize)| {
        let part = text.get(range.clone()).unwrap_or_default();
        each(part, matcher, &mut |at| hit(range.start + at));
    };
    let line_start = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)
    };
    let mut escapes = memchr::memchr_iter(0x1B, text).peekable();
    let marks = memmem::find_iter(text, PROTOCOL_MARK);
    let mut marks = marks.filter(|mark| line_start(*mark) == *mark).peekable();
    let mut at = 0;
    loop {
        while escapes.next_if(|escape| *escape < at).is_some() {}
        while marks.next_if(|mark| *mark < at).is_some() {}
        let found = escapes.peek().copied().into_iter().chain(marks.peek().copied()).min();
        let Some(found) = found else { break };
        let start = line_start(found).max(at);
        let after = text.get(found..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(text.len(), |newline| found + newline + 1);
        plain(at..start, hit);
        let line = text.get(start..end).unwrap_or_default();
        let is_whole = is_one_piece(place + start as u64..place + end as u64);
        let words = is_whole.then(|| in_words(line)).flatten();
        match words {
            Some(words) => stripped.strip(words.text.as_bytes()),
            None => stripped.strip(line),
        }
        // Words can be longer than their line; what is past its end is one hit on its last byte.
        let last = line.len().saturating_sub(1);
        let mut before = None;
        each(&stripped.text, matcher, &mut |found| {
            let found = stripped.raw(found).min(last);
            if before.replace(found) != Some(found) {
                hit(start + found);
            }
        });
        at = end;
    }
    plain(at..text.len(), hit);
}

fn each(text: &[u8], matcher: &Matcher, hit: &mut dyn FnMut(usize)) {
    let mut from = 0;
    while let Some(found) = matcher.find(text, from) {
        hit(found.start);
        from = found.end;
    }
}

/// A line without its escape sequences, and where its parts were.
#[derive(Debug, Default)]
struct Stripped {
    text: Vec<u8>,
    /// Beginnings of kept parts: in the stripped and in the raw line.
    parts: Vec<(usize, usize)>,
}

impl Stripped {
    fn strip(&mut self, raw: &[u8]) {
        self.text.clear();
        self.parts.clear();
        let mut at = 0;
        while at < raw.len() {
            let rest = raw.get(at..).unwrap_or_default();
            let length = memchr::memchr(0x1B, rest).unwrap_or(rest.len());
            if length > 0 {
                self.parts.push((self.text.len(), at));
                self.text.extend_from_slice(rest.get(..length).unwrap_or_default());
            }
            at += length;
            at += sequence_length(raw.get(at..).unwrap_or_default());
        }
    }

    fn raw(&self, at: usize) -> usize {
        let part = self.parts.partition_point(|(own, _)| *own <= at).saturating_sub(1);
        self.parts.get(part).map_or(at, |(own, raw)| raw + (at - own))
    }
}

/// Bytes of the escape sequence at the beginning of `text`; zero if there is none.
fn sequence_length(text: &[u8]) -> usize {
    let rest = text.get(2..).unwrap_or_default();
    match (text.first(), text.get(1)) {
        (Some(0x1B), Some(b'[')) => {
            let last = rest.iter().position(|byte| !matches!(byte, 0x20..=0x3F));
            2 + last.map_or(rest.len(), |last| last + 1)
        }
        (Some(0x1B), Some(b']')) => {
            // Without an end only the introducer goes, as on the screen.
            match rest.iter().position(|byte| matches!(byte, 0x07 | 0x1B)) {
                Some(end) if rest.get(end) == Some(&0x07) => 2 + end + 1,
                Some(end) => 2 + end,
                None => 2,
            }
        }
        (Some(0x1B), Some(b'P' | b'X' | b'^' | b'_')) => {
            2 + memchr::memchr(0x1B, rest).unwrap_or(rest.len())
        }
        (Some(0x1B), Some(0x20..=0x2F)) => {
            let last = rest.iter().position(|byte| !matches!(byte, 0x20..=0x2F));
            2 + last.map_or(rest.len(), |last| last + 1)
        }
        (Some(0x1B), Some(_)) => 2,
        (Some(0x1B), None) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Matcher, PIECE_BYTES, Reader, Source, Stripped};

    fn all(text: &str, needle: &str) -> Vec<u64> {
        let source = Source::Text(Arc::from(text));
        let matcher = Matcher::new(needle).unwrap();
        let (mut reader, mut found, mut at) = (Reader::default(), Vec::new(), 0);
        let size = text.len() as u64;
        while let Some(step) =
            reader.forwards(&source, &matcher, at, size, &mut |hit| found.push(hit)).unwrap()
        {
            assert!(step.end > at);
            at = step.end;
        }
        assert_eq!(at, size);
        let (mut backwards, mut before, mut limit) = (Vec::new(), size, size);
        while limit > 0 {
            let (hit, start) = reader.backwards(&source, &matcher, before, size).unwrap();
            (before, limit) = hit.map_or((start, start), |hit| (hit, hit));
            backwards.extend(hit);
        }
        backwards.reverse();
        assert_eq!(found, backwards);
        found
    }

    #[test]
    fn hits_are_found_in_both_directions_and_across_pieces() {
        assert_eq!(all("one two\none", "one"), [0, 8]);
        let mut text = "x".repeat(PIECE_BYTES - 2);
        text.push_str("needle");
        text.push_str(&"y".repeat(2 * PIECE_BYTES));
        text.push_str("\nneedle\n");
        let expected = [PIECE_BYTES as u64 - 2, 3 * PIECE_BYTES as u64 + 5];
        assert_eq!(all(&text, "needle"), expected);
        let lines = "some line with nothing\n".repeat(100_000);
        assert_eq!(all(&format!("{lines}needle\n{lines}needle"), "needle").len(), 2);
    }

    #[test]
    fn lines_with_colours_are_matched_as_they_are_shown() {
        let text =
            "plain error\n\x1b[1mer\x1b[31mror\x1b[0m and error\n\x1b]8;;http://error\x07link\n";
        assert_eq!(all(text, "error"), [6, 16, 35]);
        assert_eq!(all(text, "[31m"), [0_u64; 0]);
    }

    #[test]
    fn lines_of_the_line_protocol_are_matched_in_the_words_that_are_shown() {
        let step =
            r#"{"fleet":"step","tool":"bash","text":"ls \u00e4 \u001b[31mbash","state":"end"}"#;
        let text = format!("bash\n{step}\nbash {step}\n");
        let line = 5;
        assert_eq!(all(&text, "bash")[..3], [0, line + 1, line + 7 + "ls \u{E4} ".len() as u64]);
        let second = line + step.len() as u64 + 1;
        assert_eq!(all(&text, "tool"), [second + 5 + 17], "only where JSON is shown");
        assert_eq!(all(&text, "done").len(), 1);
        let cut = format!("{{\"fleet\":\"cost\",\"total_usd\":1}}{}\n", " ".repeat(70_000));
        assert_eq!(
            all(&cut, "total_usd").len(),
            1,
            "a line that is shown in parts is shown as it is"
        );
    }

    #[test]
    fn words_that_are_longer_than_their_line_have_no_hit_in_the_next_one() {
        let usage = r#"{"fleet":"usage","cost_usd":1e9}"#;
        let text = format!("{usage}\n{usage}\n");
        assert_eq!(crate::adapters::in_words(usage.as_bytes()).unwrap().text.len(), 42);
        let length = usage.len() as u64 + 1;
        assert_eq!(all(&text, "usage"), [1, length + 1]);
        assert_eq!(all(&text, "00.00"), [length - 1, 2 * length - 1]);
    }

    #[test]
    fn stripping_keeps_text_and_knows_where_it_was() {
        let mut stripped = Stripped::default();
        stripped.strip(b"\x1b[1;31mred\x1b[0m \x1b]8;;u\x1b\\link\x1b(B\x1bM.");
        assert_eq!(stripped.text, b"red link.");
        assert_eq!(stripped.raw(0), 7);
        assert_eq!(stripped.raw(4), 23);
    }
}
