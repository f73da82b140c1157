//! Tests of the decoder: keys, mouse, cut sequences, pastes, any bytes at all.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;

use super::*;

fn decode(bytes: &[u8]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    decoder.feed(bytes, &mut events);
    decoder.give_up(&mut events);
    events
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

fn paste(text: &str) -> Input {
    Input::Paste { text: text.to_owned(), dropped: 0 }
}

#[test]
fn keys_are_what_terminals_send_for_them() {
    use KeyCode::{
        BackTab, Backspace, Char, Delete, Down, End, Enter, Esc, F, Home, PageUp, Tab, Up,
    };
    const NONE: KeyModifiers = KeyModifiers::NONE;
    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
    let table: &[(&[u8], KeyCode, KeyModifiers)] = &[
        (b"a", Char('a'), NONE),
        (b"A", Char('A'), SHIFT),
        ("é".as_bytes(), Char('é'), NONE),
        ("👍".as_bytes(), Char('👍'), NONE),
        (b"\r", Enter, NONE),
        (b"\n", Char('j'), CONTROL),
        (b"\t", Tab, NONE),
        (b"\x7f", Backspace, NONE),
        (b"\x08", Char('h'), CONTROL),
        (b"\x03", Char('c'), CONTROL),
        (b"\x1a", Char('z'), CONTROL),
        (b"\0", Char(' '), CONTROL),
        (b"\x1f", Char('7'), CONTROL),
        (b"\x1b", Esc, NONE),
        (b"\x1ba", Char('a'), ALT),
        (b"\x1b\r", Enter, ALT),
        (b"\x1b[", Char('['), ALT),
        (b"\x1bO", Char('O'), ALT.union(SHIFT)),
        (b"\x1b[A", Up, NONE),
        (b"\x1bOB", Down, NONE),
        (b"\x1b[1;5A", Up, CONTROL),
        (b"\x1b[1;6F", End, CONTROL.union(SHIFT)),
        (b"\x1b[Z", BackTab, SHIFT),
        (b"\x1b[3~", Delete, NONE),
        (b"\x1b[5;3~", PageUp, ALT),
        (b"\x1bOP", F(1), NONE),
        (b"\x1b[[A", F(1), NONE),
        (b"\x1b[11~", F(1), NONE),
        (b"\x1b[1;2S", F(4), SHIFT),
        (b"\x1bOS", F(4), NONE),
        (b"\x1b[15~", F(5), NONE),
        (b"\x1b[24~", F(12), NONE),
        (b"\x1b[7~", Home, NONE),
        (b"\x1b[13;2u", Enter, SHIFT),
        (b"\x1b[27;2;13~", Enter, SHIFT),
        (b"\x1b[27u", Esc, NONE),
        (b"\x1b[122;5u", Char('z'), CONTROL),
        (b"\x1b[120;4u", Char('X'), ALT.union(SHIFT)),
        (b"\x1b[97:65;5:1u", Char('a'), CONTROL),
        (b"\x1b[57414u", Enter, NONE),
    ];
    for (bytes, code, modifiers) in table {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(decode(bytes), [key(*code, *modifiers)], "{shown:?}");
    }
}

#[test]
fn what_is_no_key_types_nothing() {
    let table: &[&[u8]] = &[
        b"\x1b[?62;22c",
        b"\x1b[?1u",
        b"\x1b[12;40R",
        b"\x1b]11;rgb:0000/0000/0000\x07",
        b"\x1b]11;rgb:0000/0000/0000\x1b\\",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b[97;5:3u",
        b"\x1b[57441;2u",
        b"\x1b[99~",
        b"\x1b[M !!",
        b"\x1b[<35;10;10M",
        b"\x1b[<0;0;1M",
        b"\xff\xfe\xc0\x80",
        b"\xe2\x82",
        b"\x1b[1;2",
    ];
    for bytes in table {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(decode(bytes), [], "{shown:?}");
        let mut followed = bytes.to_vec();
        // What is not whole eats what follows it, as it must.
        if !matches!(*bytes, b"\xe2\x82" | b"\x1b[1;2") {
            followed.push(b'x');
            assert_eq!(
                decode(&followed),
                [key(KeyCode::Char('x'), KeyModifiers::NONE)],
                "{shown:?}"
            );
        }
    }
}

#[test]
fn a_broken_sequence_does_not_hide_what_begins_within_it() {
    let up = key(KeyCode::Up, KeyModifiers::NONE);
    assert_eq!(decode(b"\x1b[1;\x1b[A"), std::slice::from_ref(&up));
    assert_eq!(decode(b"\x1b]11;x\x1b[A"), std::slice::from_ref(&up));
    assert_eq!(decode(b"\x1b\x1b[A"), [key(KeyCode::Esc, KeyModifiers::NONE), up]);
}

#[test]
fn the_mouse_is_counted_from_the_corner() {
    let at = |kind, modifiers| Input::Mouse(MouseEvent { kind, column: 9, row: 19, modifiers });
    let none = KeyModifiers::NONE;
    let left = MouseButton::Left;
    let table: &[(&[u8], Input)] = &[
        (b"\x1b[<0;10;20M", at(MouseEventKind::Down(left), none)),
        (b"\x1b[<0;10;20m", at(MouseEventKind::Up(left), none)),
        (b"\x1b[<2;10;20M", at(MouseEventKind::Down(MouseButton::Right), none)),
        (b"\x1b[<32;10;20M", at(MouseEventKind::Drag(left), none)),
        (b"\x1b[<64;10;20M", at(MouseEventKind::ScrollUp, none)),
        (b"\x1b[<65;10;20M", at(MouseEventKind::ScrollDown, none)),
        (b"\x1b[<81;10;20M", at(MouseEventKind::ScrollDown, KeyModifiers::CONTROL)),
    ];
    for (bytes, event) in table {
        assert_eq!(
            decode(bytes),
            std::slice::from_ref(event),
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
    assert_eq!(decode(b"\x1b[I\x1b[O"), [Input::Focus(true), Input::Focus(false)]);
}

#[test]
fn a_marked_paste_is_one_text_without_control_characters() {
    assert_eq!(
        decode(b"\x1b[200~a\rb\r\nc\n\x1b[31md\x07\te\x1b[201~"),
        [paste("a\nb\nc\n[31md\te")]
    );
    assert_eq!(decode(b"\x1b[200~\x1b[201~"), [paste("")]);
    let around = decode(b"x\x1b[200~y\x1b[201~z");
    let typed = |one| key(KeyCode::Char(one), KeyModifiers::NONE);
    assert_eq!(around, [typed('x'), paste("y"), typed('z')]);
}

#[test]
fn a_paste_whose_end_never_comes_ends_by_itself_and_loses_nothing() {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    decoder.feed(b"\x1b[200~half\x1b[20", &mut events);
    assert_eq!((decoder.waits(), events.len()), (Waits::Paste, 0));
    decoder.give_up(&mut events);
    decoder.feed(b"q", &mut events);
    assert_eq!(events, [paste("half[20"), key(KeyCode::Char('q'), KeyModifiers::NONE)]);
}

#[test]
fn a_paste_that_is_too_long_is_cut_and_what_is_cut_is_counted() {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    decoder.feed(b"\x1b[200~", &mut events);
    let piece = vec![b'a'; 64 * 1024];
    let pieces = MOST_PASTE / piece.len() + 3;
    for _ in 0..pieces {
        decoder.feed(&piece, &mut events);
    }
    decoder.feed(b"\x1b[201~q", &mut events);
    let [Input::Paste { text, dropped }, Input::Key(_)] = events.as_slice() else {
        panic!("{} events", events.len());
    };
    let all = u64::try_from(pieces * piece.len()).unwrap();
    assert_eq!(u64::try_from(text.len()).unwrap() + dropped, all);
    assert!(*dropped > 0 && text.len() >= MOST_PASTE, "{dropped} of {}", text.len());
}

#[test]
fn a_string_without_an_end_is_not_kept_for_ever() {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    decoder.feed(b"\x1b]52;c;", &mut events);
    for _ in 0..64 {
        decoder.feed(&[b'a'; MOST_SEQUENCE / 16], &mut events);
    }
    decoder.give_up(&mut events);
    decoder.feed(b"q", &mut events);
    assert_eq!(events.last(), Some(&key(KeyCode::Char('q'), KeyModifiers::NONE)));
}

/// Bytes of which some look like sequences.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        Just(b"\x1b[".to_vec()),
        Just(b"\x1b[200~".to_vec()),
        Just(b"\x1b[201~".to_vec()),
        Just(b"\x1b[<0;1;1M".to_vec()),
        Just(b"\x1b]0;".to_vec()),
        Just("é👍".as_bytes().to_vec()),
        "[0-9;:<?]{0,8}[~uMmA-Z]".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn where_reads_are_cut_changes_nothing(bytes in bytes(), cut in 1_usize..9) {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in bytes.chunks(cut) {
            decoder.feed(piece, &mut events);
        }
        decoder.give_up(&mut events);
        prop_assert_eq!(events, decode(&bytes));
    }
}
