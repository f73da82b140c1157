//! Tests of the cap question.

use std::fs::OpenOptions;
use std::io::{Read, Write};

use portable_pty::{MasterPty, PtySize, native_pty_system};
use rustix::termios::{LocalModes, tcgetattr};

use super::*;
use crate::core::testing::{row, snapshot};
use crate::core::{Moment, MoneyError, Refusal};

fn question() -> Question {
    Question {
        id: QuestionId(1),
        asked: Moment(2_000),
        cap: NanoUsd::from_dollars(5),
        committed: NanoUsd::from_nanos(5_012_300_000),
        default: NanoUsd::from_nanos(6_020_000_000),
        queued: 7,
        queue_estimate: Some(NanoUsd::from_dollars(2)),
    }
}

/// Types a text and Enter.
fn answer(text: &str) -> Pressed {
    let mut prompt = Prompt::new(&question());
    let mut last = Pressed::Typed;
    for key in KeyDecoder::default().keys(format!("{text}\n").as_bytes()) {
        last = prompt.press(key);
    }
    last
}

/// C-65.
#[test]
fn amounts_are_absolute_enter_takes_the_default_and_letters_drop_stop_and_hold() {
    let raise = |nanos| Pressed::Answer(Answer::Raise(NanoUsd::from_nanos(nanos)));
    assert_eq!(answer(""), raise(6_020_000_000));
    assert_eq!(answer("$2"), raise(2_000_000_000));
    assert_eq!(answer("2"), raise(2_000_000_000));
    assert_eq!(answer(" 1.50 "), raise(1_500_000_000));
    assert_eq!(answer("12\u{7f}"), raise(1_000_000_000));
    assert_eq!(answer("99\u{15}3"), raise(3_000_000_000));
    assert_eq!(answer("4\u{1b}[A"), raise(4_000_000_000));
    assert_eq!(answer("d"), Pressed::Answer(Answer::Drop));
    assert_eq!(answer("H"), Pressed::Answer(Answer::Hold));
    assert_eq!(answer("stop"), Pressed::Answer(Answer::Stop));
    let mut prompt = Prompt::new(&question());
    assert_eq!(prompt.press(Key::Escape), Pressed::Answer(Answer::Hold));
    assert_eq!(prompt.press(Key::EndOfInput), Pressed::Answer(Answer::Hold));
}

#[test]
fn what_is_no_amount_is_refused_with_the_reason_and_typing_goes_on() {
    let refused = |text: &str, error: MoneyError| {
        assert_eq!(
            answer(text),
            Pressed::Refused(format!("'{text}' {error}; or answer d, h or s"))
        );
    };
    refused("abc", MoneyError::NotANumber);
    refused("-3", MoneyError::Negative);
    refused("1e99", MoneyError::TooLarge);
    let mut prompt = Prompt::new(&question());
    for key in KeyDecoder::default().keys(b"abc\n7\n") {
        if let Pressed::Answer(answer) = prompt.press(key) {
            assert_eq!(answer, Answer::Raise(NanoUsd::from_dollars(7)));
            return;
        }
    }
    panic!("never answered");
}

#[test]
fn enter_means_the_amount_that_stands_on_the_screen_and_not_a_newer_one() {
    let mut prompt = Prompt::new(&question());
    let mut newer = question();
    newer.default = NanoUsd::from_dollars(9);
    assert_eq!(
        prompt.clone().press(Key::Enter),
        Pressed::Answer(Answer::Raise(question().default))
    );
    assert!(prompt.bottom_line(&newer, Style::PLAIN, 80).contains("$9.00"));
    assert_eq!(prompt.press(Key::Enter), Pressed::Answer(Answer::Raise(NanoUsd::from_dollars(9))));
}

#[test]
fn the_opening_shows_spent_reserved_cap_queue_and_estimate() {
    let mut now = snapshot(1, vec![row(1)]);
    now.header.spent = NanoUsd::from_nanos(5_002_300_000);
    now.header.reserved = NanoUsd::from_nanos(500_000_000);
    let lines = Prompt::opening(&now, &question(), Style::PLAIN);
    assert_eq!(
        lines,
        [
            "cap reached: $5.0023 of $5.00 spent, counted as $5.0123 with what is unknown, $0.5000 reserved, 0 done, \
             1 running, 7 tasks queued (about $2.0000 at the average so far)",
            "Enter raises it to $6.02 - an amount such as 12.50 raises it to that - d drops the queue - h keeps \
             holding - s stops everything"
        ]
    );
}

#[test]
fn the_typed_line_stays_in_sight_on_a_narrow_terminal() {
    let mut prompt = Prompt::new(&question());
    for key in KeyDecoder::default().keys("12.5\u{1b}[2J日".as_bytes()) {
        prompt.press(key);
    }
    let wide = prompt.bottom_line(&question(), Style { unicode: true, ..Style::PLAIN }, 80);
    assert_eq!(wide, "new cap [$6.02], d, h or s: 12.5日");
    for width in 0..60 {
        let line = prompt.bottom_line(&question(), Style::PLAIN, width);
        assert!(crate::words::plain_text::cells(&line) <= width, "{width}: {line}");
        assert!(width < 6 || line.contains("12.5"), "{width}: {line}");
    }
}

#[test]
fn a_reply_is_told_and_only_a_refusal_keeps_the_question_open() {
    let raise = Answer::Raise(NanoUsd::from_dollars(12));
    assert_eq!(after_reply(raise, &Reply::Done(1)), ("raised to $12.00".into(), true));
    let refused = Reply::Refused(Refusal("$1.00 is not above the $5.01 that are spent".into()));
    assert_eq!(
        after_reply(raise, &refused),
        ("$1.00 is not above the $5.01 that are spent".into(), false)
    );
    let already = Reply::AlreadyAnswered("raised to $12.00".into());
    assert_eq!(
        after_reply(Answer::Drop, &already),
        ("already answered: raised to $12.00".into(), true)
    );
}

#[test]
fn bytes_in_pieces_are_keys() {
    let mut decoder = KeyDecoder::default();
    assert_eq!(decoder.keys(&[0xE6, 0x97]), []);
    assert_eq!(decoder.keys(&[0xA5, b'x']), [Key::Character('日'), Key::Character('x')]);
    assert_eq!(decoder.keys(&[0xFF, b'y']), [Key::Character('y')]);
    assert_eq!(decoder.keys(b"\x1b"), [Key::Escape]);
    assert_eq!(
        decoder.keys(b"\x1bOP\x1b[1;5Cz\x1bq"),
        [Key::Other, Key::Other, Key::Character('z'), Key::Other]
    );
    assert_eq!(decoder.keys(b""), [Key::EndOfInput]);
    assert_eq!(decoder.keys(b"\x04\x01"), [Key::EndOfInput, Key::Other]);
}

/// A pseudo-terminal: a person at one end, the input at the other.
struct Person {
    master: Box<dyn MasterPty + Send>,
    typing: Box<dyn Write + Send>,
    terminal: OwnedTerminal,
}

type OwnedTerminal = std::fs::File;

impl Person {
    fn new() -> Self {
        let pair = native_pty_system()
            .openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 })
            .unwrap();
        let name = pair.master.tty_name().unwrap();
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap(),
        );
        let terminal = options.open(name).unwrap();
        let typing = pair.master.take_writer().unwrap();
        Self { master: pair.master, typing, terminal }
    }

    fn types(&mut self, bytes: &[u8]) {
        self.typing.write_all(bytes).unwrap();
        self.typing.flush().unwrap();
    }

    fn input(&self) -> TerminalInput {
        TerminalInput::new(self.terminal.try_clone().unwrap().into()).unwrap()
    }

    fn modes(&self) -> LocalModes {
        tcgetattr(&self.terminal).unwrap().local_modes
    }

    /// Waits until the terminal has input that nobody has read.
    fn wait_for_input(&self) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
        let ready = poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(ready, 1, "nothing arrived");
    }
}

fn open(input: &mut TerminalInput) -> OpenInput {
    match input.open() {
        Opening::Ready(open) => open,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_typed_before_the_question_opened_does_not_answer_it() {
    let mut person = Person::new();
    person.types(b"999\n");
    person.wait_for_input();
    let mut input = person.input();
    let mut open = open(&mut input);
    person.types(b"7");
    assert_eq!(open.pieces.blocking_recv().unwrap(), b"7");
}

#[test]
fn keys_are_not_echoed_while_a_question_is_open_and_the_terminal_is_given_back() {
    let person = Person::new();
    let before = person.modes();
    assert!(before.contains(LocalModes::ICANON | LocalModes::ECHO));
    let mut input = person.input();
    let open = open(&mut input);
    assert!(!person.modes().intersects(LocalModes::ICANON | LocalModes::ECHO));
    assert!(person.modes().contains(LocalModes::ISIG), "Ctrl-C still interrupts");
    drop(open);
    assert_eq!(person.modes(), before);
}

#[test]
fn nothing_is_read_after_the_question_closed() {
    let mut person = Person::new();
    let mut input = person.input();
    let mut first = open(&mut input);
    person.types(b"1");
    assert_eq!(first.pieces.blocking_recv().unwrap(), b"1");
    drop(first);
    person.types(b"ls\n");
    person.wait_for_input();
    let mut line = [0; 8];
    let read = (&person.terminal).read(&mut line).unwrap();
    assert_eq!(&line[..read], b"ls\n");
}

#[test]
fn an_escape_sequence_comes_in_one_piece_even_if_its_bytes_do_not() {
    let mut person = Person::new();
    let mut input = person.input();
    let mut open = open(&mut input);
    person.types(b"\x1b[A");
    let mut seen = open.pieces.blocking_recv().unwrap();
    while seen.len() < 3 {
        seen.extend(open.pieces.blocking_recv().unwrap());
    }
    assert_eq!(KeyDecoder::default().keys(&seen), [Key::Other]);
}

#[test]
fn a_terminal_that_goes_away_is_the_end_of_input() {
    let person = Person::new();
    let mut input = person.input();
    let mut open = open(&mut input);
    let Person { master, typing, terminal: _terminal } = person;
    drop(typing);
    drop(master);
    loop {
        // The pty's writer types an end of file as it goes.
        match open.pieces.blocking_recv().unwrap().as_slice() {
            [] => break,
            bytes => assert_eq!(KeyDecoder::default().keys(bytes).last(), Some(&Key::EndOfInput)),
        }
    }
}
