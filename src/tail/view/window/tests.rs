//! Moving over texts in memory and in files.

use std::sync::Arc;

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::super::file::Source;
use super::{Highlight, Layout, Move, Pieces, Window};

const SMALL: Layout = Layout { width: 10, height: 3, wraps: true };

fn numbered(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("line {number}\n")).collect();
    lines.concat()
}

fn pieces(text: &str) -> Pieces {
    Pieces::new(Source::Text(Arc::from(text)))
}

fn shown(window: &mut Window, pieces: &mut Pieces) -> Vec<String> {
    let visible = window.visible(pieces, Highlight::default()).unwrap();
    visible
        .rows
        .iter()
        .map(|row| row.spans.iter().map(|span| span.text.as_str()).collect())
        .collect()
}

#[test]
fn a_window_opens_at_the_end_and_reaches_every_row_up_to_the_first_byte() {
    let mut pieces = pieces(&numbered(9));
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut pieces), ["line 7", "line 8", "line 9"]);
    window.go(&mut pieces, Move::Rows(-1)).unwrap();
    assert!(!window.follows(), "one row up stops following");
    assert_eq!(shown(&mut window, &mut pieces), ["line 6", "line 7", "line 8"]);
    window.go(&mut pieces, Move::Pages(-1)).unwrap();
    assert_eq!(shown(&mut window, &mut pieces), ["line 4", "line 5", "line 6"]);
    window.go(&mut pieces, Move::Start).unwrap();
    assert_eq!(shown(&mut window, &mut pieces), ["line 1", "line 2", "line 3"]);
    window.go(&mut pieces, Move::Rows(-5)).unwrap();
    assert_eq!(window.top(), 0);
    window.go(&mut pieces, Move::Rows(100)).unwrap();
    assert!(window.follows(), "the bottom is reached");
    assert_eq!(shown(&mut window, &mut pieces), ["line 7", "line 8", "line 9"]);
}

#[test]
fn lines_of_the_line_protocol_are_shown_in_words() {
    let step = r#"{"fleet":"step","tool":"bash","text":"ls","state":"start"}"#;
    let text = r#"{"fleet":"text","role":"assistant","text":"\u001b[31mhi"}"#;
    let mut pieces = pieces(&format!("{step}\n{text}\nplain\n"));
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut pieces), ["[bash] ls", "hi", "plain"]);
    let visible = window.visible(&mut pieces, Highlight::default()).unwrap();
    let dim = |row: usize| visible.rows[row].spans[0].style.is_dim;
    assert_eq!([dim(0), dim(1), dim(2)], [true, false, false]);
}

#[test]
fn a_text_that_fits_is_always_followed() {
    let mut pieces = pieces("one\ntwo");
    let mut window = Window::new(SMALL, true);
    window.go(&mut pieces, Move::Rows(-1)).unwrap();
    window.go(&mut pieces, Move::Start).unwrap();
    assert!(window.follows());
    assert_eq!(shown(&mut window, &mut pieces), ["one", "two"]);
}

#[test]
fn wrapped_rows_are_moved_over_one_by_one_and_kept_in_view_by_a_new_width() {
    let mut pieces = pieces("aaaa bbbb cccc dddd eeee\nlast\n");
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut pieces), ["cccc dddd ", "eeee", "last"]);
    window.go(&mut pieces, Move::Rows(-1)).unwrap();
    assert_eq!(shown(&mut window, &mut pieces), ["aaaa bbbb ", "cccc dddd ", "eeee"]);
    window.go(&mut pieces, Move::Rows(1)).unwrap();
    window.go(&mut pieces, Move::Rows(-1)).unwrap();
    window.set_layout(Layout { width: 5, ..SMALL });
    assert_eq!(shown(&mut window, &mut pieces), ["aaaa ", "bbbb ", "cccc "]);
}

#[test]
fn unwrapped_lines_are_seen_through_an_opening() {
    let mut pieces = pieces("0123456789abcdefgh\n01\n");
    let mut window = Window::new(Layout { wraps: false, ..SMALL }, true);
    assert_eq!(shown(&mut window, &mut pieces), ["0123456789", "01"]);
    window.go(&mut pieces, Move::Columns(8)).unwrap();
    assert_eq!(shown(&mut window, &mut pieces), ["89abcdefgh", ""]);
    window.go(&mut pieces, Move::Columns(-100)).unwrap();
    assert_eq!(window.column(), 0);
}

#[test]
fn a_hit_is_brought_into_view_and_following_stops() {
    let text = numbered(100);
    let mut pieces = pieces(&text);
    let mut window = Window::new(Layout { height: 6, ..SMALL }, true);
    let hit = text.find("line 50\n").unwrap() as u64;
    window.show(&mut pieces, hit).unwrap();
    assert!(!window.follows());
    let rows = shown(&mut window, &mut pieces);
    assert_eq!(rows.first().map(String::as_str), Some("line 48"));
    // A hit that is visible already does not move anything.
    window.show(&mut pieces, hit + 8).unwrap();
    assert_eq!(shown(&mut window, &mut pieces), rows);
}

#[test]
fn a_line_of_fifty_megabytes_is_read_a_screen_at_a_time_to_its_beginning() {
    let text = format!("first\n{}\n", "abcdefghi ".repeat(5_000_000));
    let mut pieces = pieces(&text);
    let mut window = Window::new(Layout { width: 80, height: 24, wraps: true }, true);
    assert_eq!(shown(&mut window, &mut pieces).len(), 24);
    window.go(&mut pieces, Move::Pages(-3)).unwrap();
    assert_eq!(shown(&mut window, &mut pieces).len(), 24);
    window.go(&mut pieces, Move::Start).unwrap();
    assert_eq!(shown(&mut window, &mut pieces)[0], "first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_row_is_wider_than_asked_and_moving_down_shows_every_row_once(
        text in "([a-z \u{4E2D}\u{E4}]{0,30}\n){0,12}[a-z]{0,5}",
        width in 1_usize..20,
        height in 1_usize..6,
        wraps in any::<bool>(),
    ) {
        let mut pieces = pieces(&text);
        let tall = Layout { width, height: 1000, wraps };
        let all = shown(&mut Window::new(tall, false), &mut pieces);
        let mut window = Window::new(Layout { height, ..tall }, false);
        window.go(&mut pieces, Move::Start).unwrap();
        let mut seen = shown(&mut window, &mut pieces);
        for _ in height..all.len() {
            window.go(&mut pieces, Move::Rows(1)).unwrap();
            seen.push(shown(&mut window, &mut pieces).last().unwrap().clone());
        }
        prop_assert!(seen.iter().all(|row| row.width() <= width));
        prop_assert_eq!(&seen, &all);
        prop_assert!(window.follows());
        let mut back = shown(&mut window, &mut pieces);
        back.reverse();
        for _ in height..all.len() {
            window.go(&mut pieces, Move::Rows(-1)).unwrap();
            back.push(shown(&mut window, &mut pieces).first().unwrap().clone());
        }
        back.reverse();
        prop_assert_eq!(&back, &all);
    }
}
