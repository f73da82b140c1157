//! Tests of what is a paste and what is typed.

use crossterm::event::MouseButton;

use super::super::decode::Decoder;
use super::*;

/// What comes of bytes that came in these reads at once.
fn at_once(reads: &[&str]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut burst = Burst::default();
    let mut events = Vec::new();
    for read in reads {
        let mut decoded = Vec::new();
        decoder.feed(read.as_bytes(), &mut decoded);
        events.extend(burst.sift(decoded));
    }
    burst.flush(&mut events);
    events
}

fn pasted(text: &str) -> Vec<Input> {
    vec![Input::Paste { text: text.to_owned(), dropped: 0 }]
}

fn are_keys(events: &[Input]) -> bool {
    events.iter().all(|event| matches!(event, Input::Key(_)))
}

#[test]
fn lines_that_came_at_once_are_a_paste_and_their_enter_is_no_key() {
    assert_eq!(at_once(&["rm -rf x\r"]), pasted("rm -rf x\n"));
    assert_eq!(at_once(&["one\rtwo\n\tthree"]), pasted("one\ntwo\n\tthree"));
    assert_eq!(at_once(&["first half, ", "second\r", "q"]), pasted("first half, second\nq"));
}

#[test]
fn a_text_that_no_hand_types_at_once_is_a_paste_without_lines_too() {
    assert_eq!(
        at_once(&["fix the flaky test in src/lib.rs"]),
        pasted("fix the flaky test in src/lib.rs")
    );
}

#[test]
fn keys_that_are_held_down_or_typed_ahead_are_no_paste() {
    let arrows = "\x1b[B".repeat(400);
    let held = "j".repeat(400);
    let enters = "\r".repeat(40);
    let down_then_enter = format!("{held}\r");
    for typed in [
        &arrows,
        &held,
        &enters,
        &down_then_enter,
        "yes\r",
        "a\r",
        "hello wor",
        "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\r",
    ] {
        let events = at_once(&[typed]);
        assert!(!events.is_empty() && are_keys(&events), "{typed:?}: {events:?}");
    }
}

#[test]
fn a_few_keys_are_given_at_once_and_many_only_when_nothing_follows() {
    let mut burst = Burst::default();
    let key = |code| Input::Key(KeyEvent::new(code, KeyModifiers::NONE));
    assert_eq!(burst.sift(vec![key(KeyCode::Char('q'))]), [key(KeyCode::Char('q'))]);
    assert!(!burst.waits());
    assert_eq!(burst.sift(vec![key(KeyCode::Char('q')); 6]), []);
    assert!(burst.waits());
    let mut events = Vec::new();
    burst.flush(&mut events);
    assert_eq!(events, vec![key(KeyCode::Char('q')); 6]);
    assert!(!burst.waits());
}

#[test]
fn the_end_of_a_paste_that_was_given_in_parts_is_no_key() {
    let long = "abcdefgh\r".repeat(MOST_KEYS / 9);
    let rest = MOST_KEYS - long.chars().count();
    let events = at_once(&[&long, &"z".repeat(rest), "x\r"]);
    let texts: Vec<_> = events
        .iter()
        .map(|event| match event {
            Input::Paste { text, .. } => text.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, [MOST_KEYS, 2]);
}

#[test]
fn a_drag_is_its_last_place_and_a_free_wheel_is_bounded() {
    let drags = "\x1b[<32;1;1M\x1b[<32;2;1M\x1b[<32;9;9M";
    let [Input::Mouse(mouse)] = at_once(&[drags])[..] else { panic!("not one event") };
    assert_eq!(
        (mouse.kind, mouse.column, mouse.row),
        (MouseEventKind::Drag(MouseButton::Left), 8, 8)
    );
    let turns = "\x1b[<65;1;1M".repeat(500);
    assert_eq!(at_once(&[&turns]).len(), MOST_TURNS);
    assert_eq!(at_once(&["\x1b[<65;1;1M\x1b[<65;1;1M"]).len(), 2);
}

#[test]
fn on_a_terminal_that_marks_pastes_keys_are_typed_however_many_come_at_once() {
    let typed = "fix the flaky test in src/lib.rs\r";
    let mut decoder = Decoder::default();
    let mut burst = Burst::new(true);
    let mut read = |burst: &mut Burst, text: &str| {
        let mut decoded = Vec::new();
        decoder.feed(text.as_bytes(), &mut decoded);
        burst.sift(decoded)
    };
    let events = read(&mut burst, typed);
    assert_eq!(events.len(), typed.len());
    assert!(are_keys(&events), "{events:?}");
    assert!(!burst.waits());
    // One that is not known to is, once it has marked one.
    let mut burst = Burst::new(false);
    assert_eq!(read(&mut burst, typed), []);
    burst.flush(&mut Vec::new());
    let marked = read(&mut burst, "\x1b[200~one\rtwo\x1b[201~");
    assert!(matches!(marked[..], [Input::Paste { .. }]), "{marked:?}");
    assert!(are_keys(&read(&mut burst, typed)));
}
