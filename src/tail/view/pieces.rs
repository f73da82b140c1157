//! Where the lines of a text begin and end, found from any place in it with a bounded amount of reading.
//!
//! What may go here: cached blocks, ends of lines. What may not: what lines look like, what is on the screen.
//!
//! A text is shown in **pieces**. A piece is a line, or a part of a line that is too long: at a multiple of
//! [`BLOCK_BYTES`] a piece ends if there is no newline in the whole block before it. So where a piece begins can be
//! told from one block, in both directions alike, and no piece is longer than two blocks.

use std::io;
use std::ops::Range;

use crate::tail::follow::file::Source;

/// Bytes of one block: two of them are one read, and all that is interpreted of one line.
pub(super) const BLOCK_BYTES: u64 = 32 * 1024;
/// Blocks that are kept, 4 MiB: more than any screen needs at once.
const MOST_BLOCKS: usize = 128;
/// Bytes of the longest UTF-8 character after its first.
const MOST_REST_BYTES: usize = 3;

/// A text with its newest known size, read block by block.
#[derive(Debug)]
pub(super) struct Pieces {
    source: Source,
    /// Most recently used last. Bounded by [`MOST_BLOCKS`].
    blocks: Vec<(u64, Vec<u8>)>,
}

impl Pieces {
    pub(super) fn new(source: Source) -> Self {
        Self { source, blocks: Vec::new() }
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    pub(super) fn size(&self) -> u64 {
        self.source.size().unwrap_or(0)
    }

    /// Forgets what was read, since the text is another one.
    pub(super) fn forget(&mut self) {
        self.blocks.clear();
    }

    /// Returns where the piece that begins at `start` ends: after its newline, at a cut, or where the text ends.
    pub(super) fn end_of(&mut self, start: u64) -> io::Result<u64> {
        let size = self.size();
        let mut number = start / BLOCK_BYTES;
        let mut from = offset_in_block(start);
        loop {
            let block_start = number * BLOCK_BYTES;
            if block_start >= size {
                return Ok(size);
            }
            let block = self.block(number)?;
            let found = memchr::memchr(b'\n', block.get(from..).unwrap_or_default());
            if let Some(at) = found {
                return Ok((block_start + (from + at) as u64 + 1).min(size));
            }
            let boundary = block_start + BLOCK_BYTES;
            if boundary >= size {
                return Ok(size);
            }
            if let Some(cut) = self.cut_at(boundary)?
                && cut > start
            {
                return Ok(cut);
            }
            number += 1;
            from = 0;
        }
    }

    /// Returns where the piece begins that the byte before `end` belongs to; 0 for 0.
    pub(super) fn start_before(&mut self, end: u64) -> io::Result<u64> {
        let end = end.min(self.size());
        let Some(last) = end.checked_sub(1) else { return Ok(0) };
        let number = last / BLOCK_BYTES;
        // A cut lies a little before its boundary if a character stands across it.
        let next = (number + 1) * BLOCK_BYTES;
        if next - last <= MOST_REST_BYTES as u64
            && next < self.size()
            && let Some(cut) = self.cut_at(next)?
            && cut <= last
        {
            return Ok(cut);
        }
        let mut before = offset_in_block(last);
        let mut number = number;
        loop {
            let block_start = number * BLOCK_BYTES;
            let block = self.block(number)?;
            let found = memchr::memrchr(b'\n', block.get(..before).unwrap_or(block));
            if let Some(at) = found {
                return Ok(block_start + at as u64 + 1);
            }
            if block_start == 0 {
                return Ok(0);
            }
            if let Some(cut) = self.cut_at(block_start)? {
                return Ok(cut);
            }
            number -= 1;
            before = usize::MAX;
        }
    }

    /// Returns where the piece begins that holds the byte at `offset`.
    pub(super) fn start_of(&mut self, offset: u64) -> io::Result<u64> {
        self.start_before(offset.saturating_add(1))
    }

    /// Says whether the piece that begins at `start` is the rest of a line.
    pub(super) fn is_rest(&mut self, start: u64) -> io::Result<bool> {
        let Some(before) = start.checked_sub(1) else { return Ok(false) };
        let block = self.block(before / BLOCK_BYTES)?;
        Ok(block.get(offset_in_block(before)) != Some(&b'\n'))
    }

    /// Returns the bytes of a piece.
    pub(super) fn bytes(&mut self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let from = offset_in_block(at);
            let block = self.block(at / BLOCK_BYTES)?;
            let wanted = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let part = block.get(from..).unwrap_or_default();
            let part = part.get(..wanted).unwrap_or(part);
            if part.is_empty() {
                // The file was cut since its size was taken; the next look will tell.
                break;
            }
            bytes.extend_from_slice(part);
            at += part.len() as u64;
        }
        Ok(bytes)
    }

    /// Counts the newlines in a part of the text, reading past the cache.
    pub(super) fn newlines(&self, range: Range<u64>) -> io::Result<u64> {
        let mut buffer = vec![0; 256 * 1024];
        let (mut at, mut count) = (range.start, 0);
        while at < range.end {
            let wanted = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..wanted).unwrap_or_default();
            let filled = self.source.read_at(part, at)?;
            if filled == 0 {
                break;
            }
            let filled_part = part.get(..filled).unwrap_or_default();
            count += memchr::memchr_iter(b'\n', filled_part).count() as u64;
            at += filled as u64;
        }
        Ok(count)
    }

    /// Returns where a long line is cut at a boundary of blocks, so that no character is; `None` if it is not cut.
    fn cut_at(&mut self, boundary: u64) -> io::Result<Option<u64>> {
        let is_rest = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
        let number = boundary / BLOCK_BYTES;
        let before = self.block(number.saturating_sub(1))?;
        if memchr::memchr(b'\n', before).is_some() {
            return Ok(None);
        }
        let last: Vec<u8> = before.iter().rev().take(MOST_REST_BYTES).copied().collect();
        let first = self.block(number)?.first().copied();
        if !first.is_some_and(is_rest) {
            return Ok(Some(boundary));
        }
        let back = last.iter().position(|byte| !is_rest(*byte));
        match back {
            Some(back) if last.get(back).is_some_and(|byte| *byte >= 0b1100_0000) => {
                Ok(Some(boundary - 1 - back as u64))
            }
            Some(_) | None => Ok(Some(boundary)),
        }
    }

    /// Returns a block, read anew if the text has grown into it. Shorter than expected only if the file was cut.
    fn block(&mut self, number: u64) -> io::Result<&[u8]> {
        let size = self.size();
        let length = |number: u64| {
            usize::try_from(size.saturating_sub(number * BLOCK_BYTES).min(BLOCK_BYTES)).unwrap_or(0)
        };
        let known = self.blocks.iter().position(|(own, _)| *own == number);
        match known {
            Some(at)
                if self.blocks.get(at).is_some_and(|(_, bytes)| bytes.len() >= length(number)) =>
            {
                if at + 1 < self.blocks.len() {
                    let block = self.blocks.remove(at);
                    self.blocks.push(block);
                }
            }
            Some(_) | None => {
                // The block before comes with the same read: screens grow upwards from the end of a file.
                let with_before = number > 0
                    && known.is_none()
                    && self.blocks.iter().all(|(own, _)| *own != number - 1);
                let first = if with_before { number - 1 } else { number };
                let mut bytes =
                    vec![0; length(first) + if with_before { length(number) } else { 0 }];
                let filled = self.source.read_at(&mut bytes, first * BLOCK_BYTES)?;
                bytes.truncate(filled);
                if with_before {
                    let own = bytes.split_off(length(first).min(bytes.len()));
                    self.keep(first, bytes);
                    self.keep(number, own);
                } else {
                    self.keep(number, bytes);
                }
            }
        }
        Ok(self.blocks.last().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default())
    }

    fn keep(&mut self, number: u64, bytes: Vec<u8>) {
        self.blocks.retain(|(own, _)| *own != number);
        if self.blocks.len() >= MOST_BLOCKS {
            self.blocks.remove(0);
        }
        self.blocks.push((number, bytes));
    }
}

/// Says whether a whole line is one piece, its newline with it. Nothing is read, since only its place decides that.
pub(super) fn is_one_piece(line: Range<u64>) -> bool {
    // The first boundary with a whole block of the line before it.
    line.start.next_multiple_of(BLOCK_BYTES) + BLOCK_BYTES >= line.end
}

fn offset_in_block(offset: u64) -> usize {
    usize::try_from(offset % BLOCK_BYTES).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{BLOCK_BYTES, Pieces, Source, is_one_piece};

    fn pieces(text: &str) -> Pieces {
        Pieces::new(Source::Text(Arc::from(text)))
    }

    fn starts_forwards(pieces: &mut Pieces) -> Vec<u64> {
        let (mut at, mut starts) = (0, Vec::new());
        while at < pieces.size() {
            starts.push(at);
            let end = pieces.end_of(at).unwrap();
            assert!(end > at, "a piece at {at} is empty");
            assert!(end - at <= 2 * BLOCK_BYTES, "a piece at {at} has {} bytes", end - at);
            at = end;
        }
        starts
    }

    fn starts_backwards(pieces: &mut Pieces) -> Vec<u64> {
        let (mut at, mut starts) = (pieces.size(), Vec::new());
        while at > 0 {
            at = pieces.start_before(at).unwrap();
            starts.push(at);
        }
        starts.reverse();
        starts
    }

    #[test]
    fn lines_are_pieces_and_long_lines_are_cut_between_characters() {
        let mut short = pieces("one\n\ntwo\nthree");
        assert_eq!(starts_forwards(&mut short), [0, 4, 5, 9]);
        let long = format!("a\n{}\nb\n", "\u{4E2D}".repeat(100_000));
        let mut pieces = pieces(&long);
        let starts = starts_forwards(&mut pieces);
        assert!(starts.len() > 8, "{starts:?}");
        assert!(starts.iter().all(|start| long.is_char_boundary(usize::try_from(*start).unwrap())));
        assert!(pieces.is_rest(starts[2]).unwrap());
        assert!(!pieces.is_rest(starts[1]).unwrap());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_are_the_same_from_both_directions(
            lines in proptest::collection::vec((0_usize..90_000, proptest::sample::select(vec!["a", "\u{E4}", "\u{4E2D}", "\u{1F468}"])), 1..8),
            ends in any::<bool>(),
        ) {
            let mut text: String = lines.iter().map(|(length, fill)| fill.repeat(length / fill.len())).collect::<Vec<_>>().join("\n");
            if ends {
                text.push('\n');
            }
            let mut pieces = pieces(&text);
            let forwards = starts_forwards(&mut pieces);
            prop_assert_eq!(&forwards, &starts_backwards(&mut pieces));
            let mut line = 0;
            for text in text.split_inclusive('\n') {
                let range = line..line + text.len() as u64;
                let count = forwards.iter().filter(|start| range.contains(start)).count();
                prop_assert_eq!(is_one_piece(range.clone()), count == 1, "{:?} has {}", range, count);
                line = range.end;
            }
            for (number, start) in forwards.iter().enumerate() {
                let end = forwards.get(number + 1).copied().unwrap_or(pieces.size());
                for offset in [*start, u64::midpoint(*start, end), end - 1] {
                    prop_assert_eq!(pieces.start_of(offset).unwrap(), *start);
                }
                prop_assert_eq!(pieces.bytes(*start..end).unwrap(), &text.as_bytes()[usize::try_from(*start).unwrap()..usize::try_from(end).unwrap()]);
            }
        }
    }
}
