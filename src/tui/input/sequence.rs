//! One key, mouse report or other event out of the bytes of a terminal.
//!
//! What may go here: the tables of sequences (those of xterm, and of the kitty keyboard protocol). What may not: state.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::Input;

/// Bytes of one sequence after which it is not believed to be one.
const MOST_PARAMETERS: usize = 64;

/// What the first bytes are.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken {
    /// An event, of so many bytes.
    Event(Input, usize),
    /// So many bytes that mean nothing here.
    Nothing(usize),
    /// The mark that a paste begins, of so many bytes.
    PasteBegins(usize),
    /// More bytes are needed to tell.
    NotWhole,
}

fn key(code: KeyCode, modifiers: KeyModifiers, used: usize) -> Taken {
    Taken::Event(Input::Key(KeyEvent::new(code, modifiers)), used)
}

/// Takes the first event.
pub(crate) fn take(bytes: &[u8]) -> Taken {
    match bytes {
        [] | [0x1b] => Taken::NotWhole,
        [0x1b, b'[', rest @ ..] => control_sequence(rest),
        [0x1b, b'O', rest @ ..] => single_shift(rest),
        [0x1b, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => string(rest),
        [0x1b, 0x1b, ..] => key(KeyCode::Esc, KeyModifiers::NONE, 1),
        [0x1b, rest @ ..] => match plain(rest) {
            Taken::Event(Input::Key(event), used) => {
                key(event.code, event.modifiers | KeyModifiers::ALT, used + 1)
            }
            Taken::NotWhole => Taken::NotWhole,
            _ => Taken::Nothing(2),
        },
        _ => plain(bytes),
    }
}

/// A key that is not an escape sequence.
fn plain(bytes: &[u8]) -> Taken {
    let Some(first) = bytes.first() else { return Taken::NotWhole };
    let length = match first {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Taken::Nothing(1),
    };
    let whole = bytes.get(..length);
    match std::str::from_utf8(whole.unwrap_or(bytes)) {
        Ok(text) if whole.is_some() => match text.chars().next() {
            Some(one) => Taken::Event(Input::Key(character(one)), length),
            None => Taken::Nothing(1),
        },
        // Not an error so far, only cut.
        Err(error) if whole.is_none() && error.error_len().is_none() => Taken::NotWhole,
        _ => Taken::Nothing(1),
    }
}

/// The key that sends this character.
pub(crate) fn character(one: char) -> KeyEvent {
    let control = |letter: u8| (KeyCode::Char(char::from(letter)), KeyModifiers::CONTROL);
    let (code, modifiers) = match one {
        '\r' => (KeyCode::Enter, KeyModifiers::NONE),
        '\t' => (KeyCode::Tab, KeyModifiers::NONE),
        '\x7f' => (KeyCode::Backspace, KeyModifiers::NONE),
        '\x1b' => (KeyCode::Esc, KeyModifiers::NONE),
        '\0' => control(b' '),
        '\x01'..='\x1a' => control(u8::try_from(one).unwrap_or(1) - 1 + b'a'),
        '\x1c'..='\x1f' => control(u8::try_from(one).unwrap_or(0x1c) - 0x1c + b'4'),
        one if one.is_uppercase() => (KeyCode::Char(one), KeyModifiers::SHIFT),
        one => (KeyCode::Char(one), KeyModifiers::NONE),
    };
    KeyEvent::new(code, modifiers)
}

/// After `ESC O`: cursor and function keys of terminals in application mode.
fn single_shift(rest: &[u8]) -> Taken {
    let Some(last) = rest.first() else { return Taken::NotWhole };
    match letter_key(*last) {
        Some(code) => key(code, KeyModifiers::NONE, 3),
        None if *last == b'M' => key(KeyCode::Enter, KeyModifiers::NONE, 3),
        // Alt and a capital O, then whatever this is.
        None => key(KeyCode::Char('O'), KeyModifiers::ALT | KeyModifiers::SHIFT, 2),
    }
}

/// After `ESC ]` and its like: an answer that nobody waits for, up to its end.
fn string(rest: &[u8]) -> Taken {
    const BEFORE: usize = 2;
    for (at, byte) in rest.iter().enumerate() {
        match (byte, rest.get(at + 1)) {
            (0x07, _) => return Taken::Nothing(BEFORE + at + 1),
            (0x1b, Some(b'\\')) => return Taken::Nothing(BEFORE + at + 2),
            (0x1b, Some(_)) => return Taken::Nothing(BEFORE + at),
            _ => {}
        }
    }
    Taken::NotWhole
}

/// After `ESC [`.
fn control_sequence(rest: &[u8]) -> Taken {
    const BEFORE: usize = 2;
    // The mouse as terminals reported it long ago: three bytes follow. It was not asked for.
    if let [b'M', after @ ..] = rest {
        return if after.len() < 3 { Taken::NotWhole } else { Taken::Nothing(BEFORE + 4) };
    }
    // The linux console's F1 to F5.
    if let [b'[', after @ ..] = rest {
        return match after.first() {
            None => Taken::NotWhole,
            Some(letter @ b'A'..=b'E') => key(KeyCode::F(letter - b'A' + 1), KeyModifiers::NONE, 4),
            Some(_) => Taken::Nothing(4),
        };
    }
    let end = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte));
    let Some((end, last)) = end.and_then(|end| Some((end, *rest.get(end)?))) else {
        return if rest.len() > MOST_PARAMETERS {
            Taken::Nothing(BEFORE + rest.len())
        } else {
            Taken::NotWhole
        };
    };
    if !(0x40..=0x7e).contains(&last) {
        // Something else begins within it: the sequence is broken, what begins is not.
        return Taken::Nothing(BEFORE + end);
    }
    let used = BEFORE + end + 1;
    let parameters = rest.get(..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(parameters) = parameters else { return Taken::Nothing(used) };
    if last == b'~' && parameters == "200" {
        return Taken::PasteBegins(used);
    }
    let event = match (parameters.strip_prefix('<'), last) {
        (Some(report), b'M' | b'm') => mouse(report, last == b'M').map(Input::Mouse),
        (None, b'I') if parameters.is_empty() => Some(Input::Focus(true)),
        (None, b'O') if parameters.is_empty() => Some(Input::Focus(false)),
        (None, _) => sequence_key(parameters, last).map(Input::Key),
        (Some(_), _) => None,
    };
    event.map_or(Taken::Nothing(used), |event| Taken::Event(event, used))
}

/// Numbers of one parameter: the number itself, then what follows it after colons.
fn numbers(parameter: Option<&str>) -> impl Iterator<Item = u32> + '_ {
    parameter.unwrap_or_default().split(':').map(|part| part.parse().unwrap_or(0))
}

fn sequence_key(parameters: &str, last: u8) -> Option<KeyEvent> {
    let mut parts = parameters.split(';');
    let first = numbers(parts.next()).next().unwrap_or(0);
    let mut held = numbers(parts.next());
    let modifiers = held_down(held.next().unwrap_or(0));
    // A key that was let go.
    if held.next() == Some(3) {
        return None;
    }
    let (code, modifiers) = match last {
        b'Z' => (KeyCode::BackTab, modifiers | KeyModifiers::SHIFT),
        b'~' if first == 27 => code_key(numbers(parts.next()).next()?, modifiers)?,
        b'~' => (numbered_key(first)?, modifiers),
        b'u' => code_key(first, modifiers)?,
        // With other numbers than 1 this is an answer, such as the cursor's place.
        letter if first <= 1 => (letter_key(letter)?, modifiers),
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

/// Modifiers as they are sent: one more than the sum of their bits.
fn held_down(sent: u32) -> KeyModifiers {
    let bits = sent.saturating_sub(1);
    let table = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    table.iter().filter(|(bit, _)| bits & bit != 0).fold(KeyModifiers::NONE, |all, one| all | one.1)
}

fn letter_key(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        _ => return None,
    })
}

fn numbered_key(number: u32) -> Option<KeyCode> {
    let function = |number: u32| u8::try_from(number).ok().map(KeyCode::F);
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(number - 10)?,
        17..=21 => function(number - 11)?,
        23..=26 => function(number - 12)?,
        28..=29 => function(number - 13)?,
        31..=34 => function(number - 14)?,
        _ => return None,
    })
}

/// A key by its code point (the kitty keyboard protocol, and xterm's way to tell modified keys apart).
fn code_key(code: u32, modifiers: KeyModifiers) -> Option<(KeyCode, KeyModifiers)> {
    const KEYPAD: [KeyCode; 18] = [
        KeyCode::Char('.'),
        KeyCode::Char('/'),
        KeyCode::Char('*'),
        KeyCode::Char('-'),
        KeyCode::Char('+'),
        KeyCode::Enter,
        KeyCode::Char('='),
        KeyCode::Char(','),
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Insert,
        KeyCode::Delete,
    ];
    let shift = modifiers.contains(KeyModifiers::SHIFT);
    let code = match code {
        9 if shift => KeyCode::BackTab,
        9 => KeyCode::Tab,
        13 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 => KeyCode::Backspace,
        57_399..=57_408 => KeyCode::Char(char::from_digit(code - 57_399, 10)?),
        57_409..=57_426 => *KEYPAD.get(usize::try_from(code - 57_409).ok()?)?,
        // Keys that type nothing: locks, media, modifiers by themselves.
        57_344..=63_743 | 0..=31 => return None,
        code => {
            let one = char::from_u32(code)?;
            KeyCode::Char(if shift { one.to_ascii_uppercase() } else { one })
        }
    };
    Some((code, modifiers))
}

fn mouse(report: &str, is_pressed: bool) -> Option<MouseEvent> {
    let mut parts = report.split(';').map(str::parse::<u16>);
    let (Some(Ok(bits)), Some(Ok(column)), Some(Ok(row)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let button = match bits & 0b11 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let kind = match (bits & 0b1110_0000, bits & 0b11, button) {
        (0, _, Some(button)) if is_pressed => MouseEventKind::Down(button),
        (0, _, Some(button)) => MouseEventKind::Up(button),
        (0b0010_0000, _, Some(button)) => MouseEventKind::Drag(button),
        (0b0100_0000, 0, _) => MouseEventKind::ScrollUp,
        (0b0100_0000, 1, _) => MouseEventKind::ScrollDown,
        (0b0100_0000, 2, _) => MouseEventKind::ScrollLeft,
        (0b0100_0000, 3, _) => MouseEventKind::ScrollRight,
        // A move without a button, or a button that no one has.
        _ => return None,
    };
    let held = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let modifiers = held
        .iter()
        .filter(|(bit, _)| bits & bit != 0)
        .fold(KeyModifiers::NONE, |all, one| all | one.1);
    // Places are counted from 1 on the wire.
    Some(MouseEvent { kind, column: column.checked_sub(1)?, row: row.checked_sub(1)?, modifiers })
}
