//! Makes what an agent writes fit for a terminal while it comes in.
//!
//! What may go here: a stream of bytes to text, with a bound on what is kept of it. What may not: reading, writing, colours.

use super::plain_text::lines;

/// Bytes of one line that wait for its end; a longer line is shown in pieces.
const LINE_BYTES: usize = 64 * 1024;
/// Bytes at the end of a piece in which the beginning of an escape sequence is looked for.
const SEQUENCE_BYTES: usize = 64;
/// To the first column, and away with what stands there.
const ERASE: &str = "\r\u{1b}[K";

/// What is known of the line that comes in. Control sequences of the agent's are gone; a carriage return, as progress bars
/// use it, lets the line begin anew.
#[derive(Debug, Default)]
pub struct Stream {
    line: Vec<u8>,
    /// Some of the line is shown already.
    is_open: bool,
    /// What comes next takes the place of what is shown of the line.
    returns: bool,
}

impl Stream {
    /// Takes bytes; returns the text of the lines that are whole now.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        let mut shown = String::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some((b'\n', piece)) = piece.split_last() {
                self.line.extend_from_slice(piece);
                let line = std::mem::take(&mut self.line);
                self.show(&line, &mut shown);
                shown.push('\n');
                (self.is_open, self.returns) = (false, false);
            } else {
                self.line.extend_from_slice(piece);
                if self.line.len() > LINE_BYTES {
                    shown.push_str(&self.pause());
                }
            }
        }
        shown
    }

    /// Returns the text of a line that has no end yet: nothing more may come for long.
    pub fn pause(&mut self) -> String {
        let mut shown = String::new();
        let whole = self.line.len() - self.unfinished();
        let rest = self.line.split_off(whole);
        let line = std::mem::replace(&mut self.line, rest);
        if !line.is_empty() {
            self.show(&line, &mut shown);
        }
        shown
    }

    /// Returns what is left at the end of the stream, with an end of its line.
    pub fn finish(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let mut shown = String::new();
        if !line.is_empty() {
            self.show(&line, &mut shown);
        }
        if self.is_open {
            shown.push('\n');
        }
        *self = Self::default();
        shown
    }

    fn show(&mut self, line: &[u8], shown: &mut String) {
        let (line, returns) = match line.split_last() {
            Some((b'\r', line)) => (line, true),
            Some(_) | None => (line, false),
        };
        let begins = line.iter().rposition(|byte| *byte == b'\r');
        let kept = begins.and_then(|place| line.get(place + 1..)).unwrap_or(line);
        if (self.returns || begins.is_some()) && self.is_open && !kept.is_empty() {
            shown.push_str(ERASE);
        }
        shown.push_str(&lines(&String::from_utf8_lossy(kept)));
        self.is_open |= !kept.is_empty();
        self.returns = returns || (self.returns && kept.is_empty());
    }

    /// Returns how many bytes at the end of the line belong to a character or a control sequence that is not whole.
    fn unfinished(&self) -> usize {
        let character = match std::str::from_utf8(&self.line) {
            Err(error) if error.error_len().is_none() => self.line.len() - error.valid_up_to(),
            Ok(_) | Err(_) => 0,
        };
        let start = self.line.len().saturating_sub(SEQUENCE_BYTES);
        let end = self.line.get(start..).unwrap_or_default();
        let sequence = end.iter().rposition(|byte| *byte == 0x1b).map_or(0, |place| {
            let rest = end.get(place + 1..).unwrap_or_default();
            let is_open = match rest.split_first() {
                None => true,
                Some((b'[', rest)) => rest.iter().all(|byte| (0x20..=0x3f).contains(byte)),
                Some(_) => false,
            };
            if is_open { end.len() - place } else { 0 }
        });
        character.max(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_without_what_steers_a_terminal() {
        let mut stream = Stream::default();
        assert_eq!(stream.take(b"one \x1b[31mred\x1b[0m\r\ntw"), "one red\n");
        assert_eq!(stream.take(b"o\x1b]0;title\x07\n\n"), "two\n\n");
        assert_eq!(stream.finish(), "");
    }

    #[test]
    fn what_has_no_end_yet_is_shown_when_nothing_more_comes_and_goes_on() {
        let mut stream = Stream::default();
        assert_eq!(stream.take(b"Password: "), "");
        assert_eq!(stream.pause(), "Password: ");
        assert_eq!(stream.pause(), "");
        assert_eq!(stream.take(b"thanks\n"), "thanks\n");
        assert_eq!(stream.take(b"no end"), "");
        assert_eq!(stream.finish(), "no end\n");
    }

    #[test]
    fn a_progress_bar_takes_its_own_place() {
        let mut stream = Stream::default();
        assert_eq!(stream.take(b"10%\r"), "");
        assert_eq!(stream.pause(), "10%");
        assert_eq!(stream.take(b"20%\r30%\r"), "");
        assert_eq!(stream.pause(), "\r\u{1b}[K30%");
        assert_eq!(stream.take(b"done\n"), "\r\u{1b}[Kdone\n");
        assert_eq!(stream.take(b"1\r2\r3\n"), "3\n", "only the last of what came at once");
    }

    #[test]
    fn neither_a_character_nor_a_sequence_is_torn() {
        let mut stream = Stream::default();
        stream.take("é".as_bytes().split_at(1).0);
        assert_eq!(stream.pause(), "");
        assert_eq!(stream.take("é\n".as_bytes().split_at(1).1), "é\n");
        stream.take(b"a\x1b[3");
        assert_eq!(stream.pause(), "a");
        assert_eq!(stream.take(b"1mb\n"), "b\n");
        assert_eq!(stream.take(b"\xff\n"), "\u{fffd}\n");
    }

    #[test]
    fn an_endless_line_is_shown_in_pieces() {
        let mut stream = Stream::default();
        let mut shown = 0;
        for _ in 0..100 {
            shown += stream.take(&[b'x'; 4096]).len();
            assert!(stream.line.len() <= LINE_BYTES + 4096);
        }
        assert_eq!(shown + stream.finish().len(), 100 * 4096 + 1);
    }
}
