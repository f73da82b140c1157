//! Bytes of a terminal as keys.
//!
//! What may go here: decoding. What may not: reading.

/// A key, as far as one line of input needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character to be typed.
    Character(char),
    /// Enter.
    Enter,
    /// Escape by itself.
    Escape,
    /// The last character goes.
    Backspace,
    /// The whole line goes (Ctrl-U).
    KillLine,
    /// End of input (Ctrl-D, or the terminal has gone).
    EndOfInput,
    /// Something that means nothing here, such as an arrow.
    Other,
}

/// Turns bytes into keys; an escape sequence must come in one piece, a character may come in several.
#[derive(Debug, Default)]
pub struct KeyDecoder {
    /// First bytes of a character whose rest has not come.
    rest: Vec<u8>,
}

impl KeyDecoder {
    /// Returns the keys in these bytes.
    pub fn keys(&mut self, bytes: &[u8]) -> Vec<Key> {
        if bytes.is_empty() {
            return vec![Key::EndOfInput];
        }
        self.rest.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.rest);
        let mut text = String::new();
        for chunk in all.utf8_chunks() {
            text.push_str(chunk.valid());
            let at_end = chunk.invalid().as_ptr_range().end == all.as_ptr_range().end;
            // A character that is cut off by the end of the bytes; longer rests are no character at all.
            if at_end
                && !chunk.invalid().is_empty()
                && chunk.invalid().len() < 4
                && is_begun(chunk.invalid())
            {
                self.rest = chunk.invalid().to_vec();
            }
        }
        decode(&text)
    }
}

/// Says whether the bytes could be the beginning of a character.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn decode(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        keys.push(match character {
            '\r' | '\n' => Key::Enter,
            '\u{8}' | '\u{7F}' => Key::Backspace,
            '\u{15}' => Key::KillLine,
            '\u{4}' => Key::EndOfInput,
            '\u{1B}' => match characters.peek() {
                None => Key::Escape,
                Some('[' | 'O') => {
                    let introducer = characters.next();
                    // SS3 has one more character; CSI goes on to its final one.
                    for next in characters.by_ref() {
                        if introducer == Some('O') || matches!(next, '@'..='~') {
                            break;
                        }
                    }
                    Key::Other
                }
                Some(_) => {
                    // Alt with a key.
                    characters.next();
                    Key::Other
                }
            },
            character if character.is_control() => Key::Other,
            character => Key::Character(character),
        });
    }
    keys
}
