//! Nasty lines, and properties that hold for every line.

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::{Color16, Emphasis, Line, Span, Style};

fn plain(raw: &[u8]) -> String {
    Line::from_raw(raw).plain()
}

fn shown(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

#[test]
fn colours_are_kept_as_styles_and_never_as_text() {
    let line = Line::from_raw(
        b"\x1b[1;31mred\x1b[0m plain \x1b[48;5;21mblue\x1b[m \x1b[38:2::0:255:0mgreen",
    );
    let spans = line.spans(0..line.cells.len(), 80);
    let texts: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
    assert_eq!(texts, ["red", " plain ", "blue", " ", "green"]);
    assert_eq!(spans[0].style.foreground, Color16::new(1));
    assert!(spans[0].style.is_bold);
    assert_eq!(spans[1].style, Style::default());
    assert_eq!(spans[2].style.background, Color16::new(12));
    assert_eq!(spans[4].style.foreground, Color16::new(10));
}

#[test]
fn every_other_control_sequence_is_swallowed_and_its_text_kept() {
    let cases: &[(&[u8], &str)] = &[
        (b"a\x1b[2J\x1b[10;10Hb", "ab"),
        (b"a\x07\x0b\x0cb\x7fc", "abc"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ after", "link after"),
        (b"\x1bPq#0;2;0;0;0#0~~@@vv\x1b\\image", "image"),
        (b"a\x1b(Bb\x1b=c\x1b7d", "abcd"),
        (b"\x1b[?1049h\x1b[>4;2mfull", "full"),
        (b"\x1b[3", ""),
        (b"cut \x1b]52;c;never ends", "cut 52;c;never ends"),
        (b"cut \x1bPnever ends", "cut "),
        (b"a\xc2\x9bb\x9bc", "ab\u{FFFD}c"),
        (b"\xff\xfe ok \xf0\x9f", "\u{FFFD}\u{FFFD} ok \u{FFFD}"),
        ("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e".as_bytes(), "abcde"),
        (b"a\0b", "ab"),
        (b"\x1b[38;5mx\x1b[38;2;1mz", "xz"),
        (b"line\r\n", "line"),
    ];
    for (raw, expected) in cases {
        assert_eq!(plain(raw), *expected, "{:?}", String::from_utf8_lossy(raw));
    }
}

#[test]
fn what_was_left_out_is_told_by_a_mark() {
    let mut raw = vec![0; 4096];
    raw.extend_from_slice(b"after");
    let line = Line::from_raw(&raw);
    let spans = line.spans(0..line.cells.len(), 80);
    assert_eq!(shown(&spans), "[4096 zero bytes]after");
    assert_eq!(spans[0].emphasis, Emphasis::Mark);
    let line = Line::from_raw(b"x\x1bPq~~~~");
    assert_eq!(shown(&line.spans(0..line.cells.len(), 80)), "x[control data left out]");
}

#[test]
fn a_carriage_return_writes_over_what_was_there() {
    assert_eq!(plain(b" 10%\r 50%\r100%"), "100%");
    assert_eq!(plain(b"long progress\r\x1b[Kdone"), "done");
    assert_eq!(plain(b"\x1b[2Kx\r\x1b[2Ky"), "y");
    assert_eq!(plain(b"abc\x08\x08X"), "aXc");
    assert_eq!(plain("\u{4E2D}\u{6587}\rx".as_bytes()), "x \u{6587}");
    assert_eq!(plain("abc\r\u{4E2D}".as_bytes()), "\u{4E2D}c");
    assert_eq!(plain("a\u{4E2D}b\r12".as_bytes()), "12 b");
}

#[test]
fn tabs_reach_the_next_of_every_eight_columns() {
    assert_eq!(plain(b"a\tb"), "a       b");
    assert_eq!(plain(b"\t\tx"), "                x");
    assert_eq!(Line::from_raw(&vec![b'\t'; 60_000]).width(), 65_536 + 60_000 - 8_192);
}

#[test]
fn widths_are_those_of_graphemes() {
    let cases = [
        ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 2),
        ("e\u{301}\u{302}", 1),
        ("\u{4E2D}\u{6587}", 4),
        ("\u{301}", 0),
        ("\u{1F1E9}\u{1F1EA}", 2),
    ];
    for (text, width) in cases {
        assert_eq!(Line::from_raw(text.as_bytes()).width(), width, "{text:?}");
    }
    // Marks without end are cut, so that no cell holds a tower.
    let tower = format!("a{}", "\u{301}".repeat(10_000));
    assert!(plain(tower.as_bytes()).len() <= 64);
}

#[test]
fn a_line_wraps_after_words_and_cuts_only_words_that_do_not_fit() {
    let rows = |text: &str, width| -> Vec<String> {
        let line = Line::from_raw(text.as_bytes());
        line.wrap(width).into_iter().map(|cells| shown(&line.spans(cells, width))).collect()
    };
    assert_eq!(rows("one two three", 8), ["one two ", "three"]);
    assert_eq!(rows("one two three", 7), ["one two", "three"]);
    assert_eq!(rows("abcdefghij kl", 4), ["abcd", "efgh", "ij ", "kl"]);
    assert_eq!(rows("", 4), [""]);
    assert_eq!(rows("\u{4E2D}\u{6587}", 3), ["\u{4E2D}", "\u{6587}"]);
    assert_eq!(rows("\u{4E2D}a", 1), ["?", "a"]);
    assert_eq!(rows("    indented", 8), ["    inde", "nted"]);
}

#[test]
fn an_opening_shows_blanks_for_halves_of_wide_graphemes() {
    let line = Line::from_raw("a\u{4E2D}\u{6587}b".as_bytes());
    assert_eq!(shown(&line.slice(0, 4)), "a\u{4E2D} ");
    assert_eq!(shown(&line.slice(2, 3)), " \u{6587}");
    assert_eq!(shown(&line.slice(9, 3)), "");
}

#[test]
fn hits_are_emphasised_in_what_is_shown_and_one_of_them_as_the_current_one() {
    let mut line = Line::from_raw(b"an \x1b[31mer\x1b[0mror and an error");
    let find = |text: &[u8], from: usize| {
        let at = text.get(from..)?.windows(5).position(|window| window == b"error")?;
        Some(from + at..from + at + 5)
    };
    line.emphasise(find, Some(24));
    let spans = line.spans(0..line.cells.len(), 80);
    let hits: Vec<(&str, Emphasis)> =
        spans.iter().map(|span| (span.text.as_str(), span.emphasis)).collect();
    assert_eq!(
        hits,
        [
            ("an ", Emphasis::None),
            ("er", Emphasis::Hit),
            ("ror", Emphasis::Hit),
            (" and an ", Emphasis::None),
            ("error", Emphasis::CurrentHit)
        ]
    );
}

/// Bytes in which controls, sequences and odd characters are frequent.
fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        "[ -~]{0,12}".prop_map(String::into_bytes),
        "\\PC{0,6}".prop_map(String::into_bytes),
        proptest::sample::select(vec![
            &b"\x1b["[..],
            b"\x1b]8;;u\x07",
            b"\x1b[31m",
            b"\x1bP",
            b"\r",
            b"\x08",
            b"\t",
            b"\x1b[K",
            b"\x1b[1K",
            b"\xe4\xb8",
            b"\xe4\xb8\xad",
            b"\xe2\x80\xae",
            b"\xcc\x81",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_control_character_comes_out_and_widths_add_up(raw in nasty(), width in 1_usize..40, column in 0_usize..40) {
        let line = Line::from_raw(&raw);
        let all = line.spans(0..line.cells.len(), usize::MAX);
        let text = shown(&all);
        let is_unsafe = |character: char| character.is_control() || ('\u{202A}'..='\u{202E}').contains(&character);
        prop_assert!(!text.chars().any(is_unsafe));
        let widths: usize = line.cells.iter().map(|cell| UnicodeWidthStr::width(line.text_of(cell))).sum();
        prop_assert_eq!(widths, line.width());
        for cells in line.wrap(width) {
            let row: usize = line.cells[cells].iter().map(|cell| if usize::from(cell.width) > width { 1 } else { usize::from(cell.width) }).sum();
            prop_assert!(row <= width);
        }
        let seen = line.slice(column, width);
        let cells: usize = seen.iter().flat_map(|span| unicode_segmentation::UnicodeSegmentation::graphemes(span.text.as_str(), true)).map(UnicodeWidthStr::width).sum();
        prop_assert!(cells <= width, "{} cells of {}", cells, width);
    }

    #[test]
    fn wrapping_loses_nothing_but_the_blank_at_which_a_row_ends(raw in nasty(), width in 2_usize..40) {
        let line = Line::from_raw(&raw);
        let mut at = 0;
        for cells in line.wrap(width) {
            prop_assert!(cells.start == at || (cells.start == at + 1 && line.text_of(&line.cells[at]) == " "));
            at = cells.end;
        }
        prop_assert!(at == line.cells.len() || (at + 1 == line.cells.len() && line.text_of(&line.cells[at]) == " "));
    }

    #[test]
    fn printable_text_survives_between_any_colours(words in proptest::collection::vec("[!-~]{1,8}", 1..20), codes in proptest::collection::vec(0_u16..110, 20)) {
        let mut raw = String::new();
        for (word, code) in words.iter().zip(&codes) {
            raw.push_str("\x1b[");
            raw.push_str(&code.to_string());
            raw.push('m');
            raw.push_str(word);
        }
        prop_assert_eq!(plain(raw.as_bytes()), words.concat());
    }
}
