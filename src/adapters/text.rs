//! Text from agents made fit for one line of a screen.
//!
//! What may go here: pure cleaning and cutting of text. What may not: knowledge of any agent kind.

/// Most characters of a one-line text such as an error or the last line of an output: several lines of a wide
/// terminal, and small enough to be kept for every agent.
pub(crate) const LINE_CHARS: usize = 400;

/// Most characters of an id, a name or a role.
pub(super) const NAME_CHARS: usize = 200;

/// Most characters of what a step does: one line of a table.
pub(super) const STEP_CHARS: usize = 200;

/// Most characters of a tool's name where only the name is shown.
pub(super) const TOOL_CHARS: usize = 60;

/// Most of one text for the transcript, in bytes.
pub(super) const TEXT_BYTES: usize = 64 * 1024;

/// Most of an answer that is kept, in bytes. All of it stays in the agent's output file; a hundred agents with answers
/// of this size still fit into memory.
pub(super) const ANSWER_BYTES: usize = 256 * 1024;

/// Stands at the place where a text was cut.
const CUT: char = '…';

/// Where inside an escape sequence the cleaning is.
enum Escape {
    /// Not in one.
    Outside,
    /// After ESC.
    Begun,
    /// In a control sequence (`ESC [`), until its final byte.
    Control,
    /// In a string (`ESC ]`, `ESC P`, …), until BEL or `ESC \`.
    Text,
    /// In a string, after the ESC that may end it.
    TextEnd,
}

/// Returns the text on one line: without escape sequences and control characters, blanks joined, at most
/// `most_chars` characters and then `…`.
pub fn one_line(text: &str, most_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0_usize;
    let mut is_blank_due = false;
    let mut escape = Escape::Outside;
    for char in text.chars() {
        let shown;
        (escape, shown) = step(escape, char);
        if !shown {
            continue;
        }
        if char.is_whitespace() || char.is_control() {
            is_blank_due |= chars > 0 && char.is_whitespace();
            continue;
        }
        if chars + usize::from(is_blank_due) >= most_chars {
            line.push(CUT);
            break;
        }
        if is_blank_due {
            line.push(' ');
            chars += 1;
            is_blank_due = false;
        }
        line.push(char);
        chars += 1;
    }
    line
}

/// Moves on by one character; says whether that character is text.
fn step(escape: Escape, char: char) -> (Escape, bool) {
    const ESC: char = '\u{1b}';
    const BEL: char = '\u{7}';
    let next = match (escape, char) {
        (Escape::Text | Escape::TextEnd, ESC) => Escape::TextEnd,
        // Intermediate bytes such as those of `ESC ( B`.
        (_, ESC) | (Escape::Begun, ' '..='/') => Escape::Begun,
        (Escape::Outside, '\u{9b}') | (Escape::Begun, '[') | (Escape::Control, ' '..='?') => {
            Escape::Control
        }
        (Escape::Begun, ']' | 'P' | 'X' | '^' | '_') => Escape::Text,
        (Escape::Begun, '0'..='~')
        | (Escape::Control, '@'..='~')
        | (Escape::TextEnd, '\\')
        | (Escape::Text | Escape::TextEnd, BEL | '\n') => Escape::Outside,
        (Escape::Text | Escape::TextEnd, _) => Escape::Text,
        // Text, also after a sequence that is none or was cut.
        (Escape::Outside | Escape::Begun | Escape::Control, char) => {
            return (Escape::Outside, !is_direction_mark(char));
        }
    };
    (next, false)
}

/// Says whether the character only turns the direction of writing, which would let a text look like another one.
const fn is_direction_mark(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Reduces an error text to one line: the last line of a traceback, else the first line that is not blank; at most
/// 400 characters and then `…`. Blank text gives an empty line.
pub fn last_error_line(text: &str) -> String {
    let line = |line: &str| Some(one_line(line, LINE_CHARS)).filter(|line| !line.is_empty());
    let traceback = text.rsplit_once("Traceback (most recent call last)").and_then(|(_, after)| {
        let mut own = after.lines().skip(1).filter(|line| !line.starts_with([' ', '\t']));
        own.find_map(line).or_else(|| after.lines().rev().find_map(line))
    });
    traceback.or_else(|| text.lines().find_map(line)).unwrap_or_default()
}

/// Returns the last line that is not blank, where `\r` counts as an end of line too (progress bars), for people.
/// Lines for which `is_text` says no are passed over.
pub(crate) fn last_line(text: &[u8], is_text: impl Fn(&[u8]) -> bool) -> Option<String> {
    let lines = text.rsplit(|byte| *byte == b'\n').filter(|line| is_text(line));
    lines.flat_map(|line| line.rsplit(|byte| *byte == b'\r')).find_map(|line| {
        // Only so much of a line can be shown, and a line can be megabytes.
        let shown = line.get(..LINE_CHARS * 16).unwrap_or(line);
        Some(one_line(&String::from_utf8_lossy(shown), LINE_CHARS)).filter(|line| !line.is_empty())
    })
}

/// Returns the text if it has at most `most_bytes` bytes, else its beginning with `…`, and whether it was cut.
pub(crate) fn cut(mut text: String, most_bytes: usize) -> (String, bool) {
    if text.len() <= most_bytes {
        return (text, false);
    }
    text.truncate(text.floor_char_boundary(most_bytes));
    text.push(CUT);
    (text, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_and_controls_never_reach_a_line() {
        assert_eq!(one_line("\u{1b}[1;31m✗\u{1b}[0m no\u{7}\tengine\r\n", 80), "✗ no engine");
        assert_eq!(one_line("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}b", 80), "alinkb");
        assert_eq!(one_line("\u{1b}Pbody\u{1b}\\x\u{1b}(By\u{9b}2Jz", 80), "xyz");
        assert_eq!(one_line("safe\u{202e}txt", 80), "safetxt");
        assert_eq!(one_line("  \u{1b}[0m \n", 80), "");
    }

    #[test]
    fn a_long_line_is_cut_with_a_sign() {
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcdef…");
        assert_eq!(one_line("abc def", 4), "abc…");
        assert_eq!(cut("äöü".to_owned(), 3), ("ä…".to_owned(), true));
        assert_eq!(cut("äöü".to_owned(), 6), ("äöü".to_owned(), false));
    }

    /// C-43: an error text is reduced to the last line of its traceback, else to its first line that is not blank.
    #[test]
    fn an_error_text_becomes_one_line() {
        let traceback = "start\nTraceback (most recent call last):\n  File \"a.py\", line 1\n    x\nKeyError: 'a'\n\nlater";
        assert_eq!(last_error_line(traceback), "KeyError: 'a'");
        let chained = "Traceback (most recent call last):\n  a\nKeyError: 1\n\nDuring …\n\nTraceback (most recent call last):\n  b\nValueError: 2\n";
        assert_eq!(last_error_line(chained), "ValueError: 2");
        assert_eq!(last_error_line("\n  \n  first \nsecond"), "first");
        assert_eq!(
            last_error_line("Traceback (most recent call last):\n  only frames"),
            "only frames"
        );
        assert_eq!(last_error_line(" \n"), "");
        let long = last_error_line(&"x".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with("x…")), (401, true));
    }

    #[test]
    fn the_last_line_is_the_last_that_shows_something() {
        let last = |text: &[u8]| last_line(text, |line| !line.starts_with(b"{"));
        assert_eq!(last(b"one\ntwo\n\n \n").as_deref(), Some("two"));
        assert_eq!(last(b"10%\r20%\r").as_deref(), Some("20%"));
        assert_eq!(last(b"text\r\n{\"fleet\":1}\n\x1b[0m").as_deref(), Some("text"));
        assert_eq!(last(b"\xff\xfe!").as_deref(), Some("\u{fffd}\u{fffd}!"));
        assert_eq!(last(b"\n\n"), None);
    }

    proptest! {
        #[test]
        fn a_line_never_holds_a_control_character(text in any::<String>(), most in 0_usize..50) {
            let line = one_line(&text, most);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(line.chars().count() <= most + 1);
        }
    }
}
