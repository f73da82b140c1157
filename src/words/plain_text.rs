//! Makes text that came from outside fit for one line of a terminal.
//!
//! What may go here: cleaning and cutting of text. What may not: colours, layout.
//! Nothing from an agent, a task or a file reaches a terminal without having been through here.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Ends a text that was cut.
const ELLIPSIS: &str = "…";
/// Characters that are looked at for a grapheme: some have many, and what steers a terminal is not shown.
const GRAPHEME: usize = 16;

/// Says whether a character may steer a terminal or reorder what is shown around it.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}'
            | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}')
}

/// Returns the text on one line: escape sequences and bidi overrides are gone, every run of white space is one blank.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(1024));
    let mut blank = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1B}' || character == '\u{9B}' {
            skip_escape(character, &mut characters);
        } else if character.is_whitespace() {
            blank = !line.is_empty();
        } else if !is_unsafe(character) {
            if blank {
                line.push(' ');
                blank = false;
            }
            line.push(character);
        }
    }
    line
}

/// Returns the text with its lines kept: escape sequences, other control characters and bidi overrides are gone.
pub fn lines(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1B}' | '\u{9B}' => skip_escape(character, &mut characters),
            '\n' => kept.push('\n'),
            '\t' => kept.push_str("    "),
            character if is_unsafe(character) => {}
            character => kept.push(character),
        }
    }
    kept
}

/// Takes the rest of an escape sequence out of the text; what is no sequence stays.
fn skip_escape(first: char, characters: &mut std::str::Chars<'_>) {
    let mut rest = characters.clone();
    let kind = if first == '\u{9B}' { Some('[') } else { rest.next() };
    match kind {
        Some('[') => {
            // Parameters, then one final character from @ to ~.
            for character in rest.by_ref() {
                if matches!(character, '@'..='~') || !matches!(character, ' '..='?') {
                    break;
                }
            }
            *characters = rest;
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            // A string that ends with BEL or ESC \; without an end only the introducer goes, so that no text is lost.
            let after_introducer = rest.clone();
            let mut previous = ' ';
            for character in rest.by_ref() {
                if character == '\u{7}' || (previous == '\u{1B}' && character == '\\') {
                    *characters = rest;
                    return;
                }
                previous = character;
            }
            *characters = after_introducer;
        }
        Some(character) if character.is_ascii_graphic() => *characters = rest,
        Some(_) | None => {}
    }
}

/// Returns the beginning of a text from outside on one line of at most `most` graphemes. Only as much as can be shown is
/// looked at: a task may have megabytes.
pub fn headline(text: &str, most: usize) -> String {
    let head: String = text.chars().take(most.saturating_mul(GRAPHEME)).collect();
    cut_graphemes(&one_line(&head), most)
}

/// Returns at most `most` graphemes of a text; one that was cut ends with an ellipsis, which counts.
pub fn cut_graphemes(text: &str, most: usize) -> String {
    let mut graphemes = text.grapheme_indices(true);
    let Some((last, _)) = graphemes.nth(most.saturating_sub(1)) else { return text.to_owned() };
    if graphemes.next().is_none() && most > 0 {
        return text.to_owned();
    }
    let kept = text.get(..last).unwrap_or_default().trim_end();
    if most == 0 { String::new() } else { format!("{kept}{ELLIPSIS}") }
}

/// Returns how many cells of a terminal a text takes.
pub fn cells(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Returns a text that takes at most `most` cells; one that was cut ends with an ellipsis.
pub fn cut_cells(text: &str, most: usize) -> String {
    if cells(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut taken = 0;
    for grapheme in text.graphemes(true) {
        let width = cells(grapheme);
        // One cell stays free for the ellipsis.
        if taken + width + 1 > most {
            break;
        }
        kept.push_str(grapheme);
        taken += width;
    }
    if most > 0 {
        kept.push_str(ELLIPSIS);
    }
    kept
}

/// Returns the text cut or filled up with blanks to exactly `width` cells.
pub fn fit(text: &str, width: usize) -> String {
    let mut fitted = cut_cells(text, width);
    let taken = cells(&fitted);
    fitted.extend(std::iter::repeat_n(' ', width.saturating_sub(taken)));
    fitted
}

/// Returns clean text of one line in pieces of at most `width` cells: cut between words where it can be, else between
/// graphemes. A grapheme that is wider than that becomes a question mark.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    if width == 0 {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut taken = 0;
    // Where the last blank of the piece ends, in bytes and in cells.
    let mut blank: Option<(usize, usize)> = None;
    for grapheme in line.graphemes(true) {
        let mut grapheme = grapheme;
        let mut wide = cells(grapheme);
        if wide > width {
            (grapheme, wide) = ("?", 1);
        }
        if taken + wide > width {
            if grapheme == " " {
                pieces.push(std::mem::take(&mut piece));
                (taken, blank) = (0, None);
                continue;
            }
            let rest = match blank.take() {
                Some((bytes, _)) => piece.split_off(bytes),
                None => String::new(),
            };
            pieces.push(std::mem::replace(&mut piece, rest).trim_end().to_owned());
            taken = cells(&piece);
        }
        piece.push_str(grapheme);
        taken += wide;
        // Blanks at the head of a line are its indent and no place to cut.
        if grapheme == " " && !piece.trim().is_empty() {
            blank = Some((piece.len(), taken));
        }
    }
    if !piece.is_empty() || pieces.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Returns clean text of one line in at most `most` pieces as [`wrapped`] makes them; the last of a text that has more
/// is cut with an ellipsis.
pub fn wrapped_to(line: &str, width: usize, most: usize) -> Vec<String> {
    let mut pieces = wrapped(line, width);
    if pieces.len() > most {
        let rest = pieces.split_off(most.saturating_sub(1)).join(" ");
        if most > 0 {
            pieces.push(cut_cells(&rest, width));
        }
    }
    pieces
}

/// Returns a count with its noun: `1 task`, `3 tasks`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a count of steps: `1 step`, `1,234 steps`.
pub fn steps(number: u64) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} step{plural}", thousands(number))
}

/// Returns a number with a comma after every third digit: `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        assert_eq!(one_line("\u{1b}[31mred\u{1b}[0m\r\n\tnext"), "red next");
        assert_eq!(one_line("\u{1b}]0;title\u{7}text"), "text");
        assert_eq!(one_line("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\"), "link");
        assert_eq!(one_line("a\u{9b}2Jb\u{202e}c\u{0}\u{8}"), "abc");
        assert_eq!(one_line("kept \u{1b}]0;never ended"), "kept 0;never ended");
        assert_eq!(one_line("\u{1b}"), "");
        assert_eq!(lines("a\u{1b}[2K\nb\tc\r\n"), "a\nb    c\n");
    }

    #[test]
    fn texts_are_cut_between_graphemes_and_by_cells() {
        assert_eq!(cut_graphemes("abcdef", 6), "abcdef");
        assert_eq!(cut_graphemes("abcdefg", 6), "abcde…");
        assert_eq!(cut_graphemes("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut_graphemes("ab", 0), "");
        assert_eq!(headline("\u{1b}[1mfix\n  the\tbug", 8), "fix the…");
        assert_eq!(headline(&"ab ".repeat(1 << 20), 5), "ab a…");
        assert_eq!(cut_cells("日本語テキスト", 7), "日本語…");
        assert_eq!(cut_cells("日本語", 6), "日本語");
        assert_eq!(cut_cells("日本", 3), "日…");
        assert_eq!(cut_cells("ab", 0), "");
        assert_eq!(fit("日本", 3), "日…");
        assert_eq!(fit("日本語", 4), "日… ");
    }

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(
            ["1", "999", "1,000", "12,345,678"].map(str::to_owned),
            [1, 999, 1000, 12_345_678].map(thousands)
        );
        assert_eq!((count(1, "task"), count(0, "task")), ("1 task".into(), "0 tasks".into()));
    }

    #[test]
    fn lines_are_cut_between_words_or_else_between_graphemes() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one twothree", 6), ["one", "twothr", "ee"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("日本", 1), ["?", "?"]);
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("x", 0), [""; 0]);
    }

    #[test]
    fn no_piece_is_ever_wider_than_it_may_be_and_no_word_is_lost() {
        let text = "  a wide 日本語 text with 👩‍👩‍👧 and averyveryverylongword   at the end";
        for width in 2..70 {
            let pieces = wrapped(text, width);
            assert!(pieces.iter().all(|piece| cells(piece) <= width), "{width}: {pieces:?}");
            let kept: String = pieces.concat().split_whitespace().collect();
            let all: String = text.split_whitespace().collect();
            assert_eq!(kept, all, "{width}");
        }
    }

    #[test]
    fn text_that_is_too_long_is_cut_in_its_last_line() {
        assert_eq!(wrapped_to("the quick brown fox", 9, 5), ["the quick", "brown fox"]);
        assert_eq!(wrapped_to("the quick brown fox", 9, 1), ["the quic…"]);
        assert_eq!(wrapped_to("a quick brown fox", 9, 1), ["a quick …"]);
        assert_eq!(wrapped_to("abcdefghij", 4, 2), ["abcd", "efg…"]);
        assert_eq!(wrapped_to("日本語 テキスト", 5, 5), ["日本", "語", "テキ", "スト"]);
        assert_eq!(wrapped_to("", 4, 2), [""]);
        assert_eq!(wrapped_to("abc", 0, 2), [""; 0]);
        assert_eq!(wrapped_to("abc", 4, 0), [""; 0]);
        let text = "in bash: 日本語 👩‍👩‍👧‍👦 e\u{301}e\u{301} a-very-long-word/without/a/place/to/break · and more";
        for width in 2..40 {
            for most in 1..6 {
                let pieces = wrapped_to(text, width, most);
                assert!(pieces.len() <= most, "{width} {most}: {pieces:?}");
                assert!(pieces.iter().all(|piece| cells(piece) <= width), "{width}: {pieces:?}");
            }
        }
    }
}
