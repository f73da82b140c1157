//! Moving over texts in memory and in files.

use std::sync::Arc;

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::{Highlight, Layout, Lines, Move, Window};
use crate::tail::follow::file::Source;

const SMALL: Layout = Layout { width: 10, height: 3, wraps: true };

fn numbered(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("line {number}\n")).collect();
    lines.concat()
}

fn lines(text: &str) -> Lines {
    Lines::new(Source::Text(Arc::from(text)))
}

fn shown(window: &mut Window, lines: &mut Lines) -> Vec<String> {
    let visible = window.visible(lines, Highlight::default()).unwrap();
    visible
        .rows
        .iter()
        .map(|row| row.spans.iter().map(|span| span.text.as_str()).collect())
        .collect()
}

#[test]
fn a_window_opens_at_the_end_and_reaches_every_row_up_to_the_first_byte() {
    let mut lines = lines(&numbered(9));
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut lines), ["line 7", "line 8", "line 9"]);
    window.go(&mut lines, Move::Rows(-1)).unwrap();
    assert!(!window.follows(), "one row up stops following");
    assert_eq!(shown(&mut window, &mut lines), ["line 6", "line 7", "line 8"]);
    window.go(&mut lines, Move::Pages(-1)).unwrap();
    assert_eq!(shown(&mut window, &mut lines), ["line 4", "line 5", "line 6"]);
    window.go(&mut lines, Move::Start).unwrap();
    assert_eq!(shown(&mut window, &mut lines), ["line 1", "line 2", "line 3"]);
    window.go(&mut lines, Move::Rows(-5)).unwrap();
    assert_eq!(window.top(), 0);
    window.go(&mut lines, Move::Rows(100)).unwrap();
    assert!(window.follows(), "the bottom is reached");
    assert_eq!(shown(&mut window, &mut lines), ["line 7", "line 8", "line 9"]);
}

#[test]
fn lines_of_the_line_protocol_are_shown_in_words() {
    let step = r#"{"fleet":"step","tool":"bash","text":"ls","state":"start"}"#;
    let text = r#"{"fleet":"text","role":"assistant","text":"\u001b[31mhi"}"#;
    let mut lines = lines(&format!("{step}\n{text}\nplain\n"));
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut lines), ["[bash] ls", "hi", "plain"]);
    let visible = window.visible(&mut lines, Highlight::default()).unwrap();
    let dim = |row: usize| visible.rows[row].spans[0].style.is_dim;
    assert_eq!([dim(0), dim(1), dim(2)], [true, false, false]);
}

#[test]
fn a_text_that_fits_is_always_followed() {
    let mut lines = lines("one\ntwo");
    let mut window = Window::new(SMALL, true);
    window.go(&mut lines, Move::Rows(-1)).unwrap();
    window.go(&mut lines, Move::Start).unwrap();
    assert!(window.follows());
    assert_eq!(shown(&mut window, &mut lines), ["one", "two"]);
}

#[test]
fn wrapped_rows_are_moved_over_one_by_one_and_kept_in_view_by_a_new_width() {
    let mut lines = lines("aaaa bbbb cccc dddd eeee\nlast\n");
    let mut window = Window::new(SMALL, true);
    assert_eq!(shown(&mut window, &mut lines), ["cccc dddd ", "eeee", "last"]);
    window.go(&mut lines, Move::Rows(-1)).unwrap();
    assert_eq!(shown(&mut window, &mut lines), ["aaaa bbbb ", "cccc dddd ", "eeee"]);
    window.go(&mut lines, Move::Rows(1)).unwrap();
    window.go(&mut lines, Move::Rows(-1)).unwrap();
    window.set_layout(Layout { width: 5, ..SMALL });
    assert_eq!(shown(&mut window, &mut lines), ["aaaa ", "bbbb ", "cccc "]);
}

#[test]
fn many_rows_at_once_go_as_far_as_the_same_rows_one_by_one() {
    let long = "aaaa bbbb cccc dddd ".repeat(20);
    let mut lines = lines(&format!("one\n{long}\ntwo\n{long}\nthree\n"));
    for rows in [1, 2, 7, 41, 42, 43, 60, 1000] {
        let mut at_once = Window::new(SMALL, false);
        at_once.go(&mut lines, Move::Rows(rows)).unwrap();
        let mut one_by_one = Window::new(SMALL, false);
        for _ in 0..rows {
            one_by_one.go(&mut lines, Move::Rows(1)).unwrap();
        }
        assert_eq!(shown(&mut at_once, &mut lines), shown(&mut one_by_one, &mut lines));
        assert_eq!(at_once.follows(), rows > 80, "after {rows} rows");
    }
}

#[test]
fn a_hit_further_down_a_wrapped_line_is_brought_into_view_only_if_it_is_not() {
    let text = "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj\nlast\n".repeat(2);
    let mut lines = lines(&text);
    let mut window = Window::new(SMALL, false);
    window.show(&mut lines, text.find("ffff").unwrap() as u64).unwrap();
    let rows = ["aaaa bbbb ", "cccc dddd ", "eeee ffff "];
    assert_eq!(shown(&mut window, &mut lines), rows, "it is on the last row");
    window.show(&mut lines, text.find("gggg").unwrap() as u64).unwrap();
    assert_eq!(shown(&mut window, &mut lines)[1], "gggg hhhh ", "a third from the top");
}

#[test]
fn unwrapped_lines_are_seen_through_an_opening() {
    let mut lines = lines("0123456789abcdefgh\n01\n");
    let mut window = Window::new(Layout { wraps: false, ..SMALL }, true);
    assert_eq!(shown(&mut window, &mut lines), ["0123456789", "01"]);
    window.go(&mut lines, Move::Columns(8)).unwrap();
    assert_eq!(shown(&mut window, &mut lines), ["89abcdefgh", ""]);
    window.go(&mut lines, Move::Columns(-100)).unwrap();
    assert_eq!(window.column(), 0);
}

#[test]
fn a_hit_is_brought_into_view_and_following_stops() {
    let text = numbered(100);
    let mut lines = lines(&text);
    let mut window = Window::new(Layout { height: 6, ..SMALL }, true);
    let hit = text.find("line 50\n").unwrap() as u64;
    window.show(&mut lines, hit).unwrap();
    assert!(!window.follows());
    let rows = shown(&mut window, &mut lines);
    assert_eq!(rows.first().map(String::as_str), Some("line 48"));
    // A hit that is visible already does not move anything.
    window.show(&mut lines, hit + 8).unwrap();
    assert_eq!(shown(&mut window, &mut lines), rows);
}

#[test]
fn a_line_of_fifty_megabytes_is_read_a_screen_at_a_time_to_its_beginning() {
    let text = format!("first\n{}\n", "abcdefghi ".repeat(5_000_000));
    let mut lines = lines(&text);
    let mut window = Window::new(Layout { width: 80, height: 24, wraps: true }, true);
    assert_eq!(shown(&mut window, &mut lines).len(), 24);
    window.go(&mut lines, Move::Pages(-3)).unwrap();
    assert_eq!(shown(&mut window, &mut lines).len(), 24);
    window.go(&mut lines, Move::Start).unwrap();
    assert_eq!(shown(&mut window, &mut lines)[0], "first");
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
        let mut lines = lines(&text);
        let tall = Layout { width, height: 1000, wraps };
        let all = shown(&mut Window::new(tall, false), &mut lines);
        let mut window = Window::new(Layout { height, ..tall }, false);
        window.go(&mut lines, Move::Start).unwrap();
        let mut seen = shown(&mut window, &mut lines);
        for _ in height..all.len() {
            window.go(&mut lines, Move::Rows(1)).unwrap();
            seen.push(shown(&mut window, &mut lines).last().unwrap().clone());
        }
        prop_assert!(seen.iter().all(|row| row.width() <= width));
        prop_assert_eq!(&seen, &all);
        prop_assert!(window.follows());
        let mut back = shown(&mut window, &mut lines);
        back.reverse();
        for _ in height..all.len() {
            window.go(&mut lines, Move::Rows(-1)).unwrap();
            back.push(shown(&mut window, &mut lines).first().unwrap().clone());
        }
        back.reverse();
        prop_assert_eq!(&back, &all);
    }
}
