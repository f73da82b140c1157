//! Tests of the reading thread on a pseudo-terminal of their own.

use std::io::Write;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::*;

/// Longer than anything here takes.
const GENEROUS: Duration = Duration::from_mins(1);

/// The two ends of a terminal in raw mode: the person's, the program's.
fn terminal() -> (Box<dyn portable_pty::MasterPty + Send>, OwnedFd) {
    let pair = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap();
    let slave = std::fs::File::options().read(true).write(true).open(name).unwrap();
    drop(pair.slave);
    let mut modes = tcgetattr(&slave).unwrap();
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    (pair.master, slave.into())
}

fn in_loop<T>(future: impl Future<Output = T>) -> T {
    let looped = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    looped.block_on(async { tokio::time::timeout(GENEROUS, future).await.unwrap() })
}

fn key(one: char) -> Input {
    Input::Key(KeyEvent::new(KeyCode::Char(one), KeyModifiers::NONE))
}

#[test]
fn keys_reach_the_loop_and_an_escape_is_one_when_nothing_follows() {
    let (master, slave) = terminal();
    let mut writer = master.take_writer().unwrap();
    in_loop(async {
        let mut reader = Reader::start(slave, false).unwrap();
        writer.write_all(b"j").unwrap();
        assert_eq!(reader.next().await, News::Inputs(vec![key('j')]));
        writer.write_all(b"\x1b").unwrap();
        let escape = Input::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        assert_eq!(reader.next().await, News::Inputs(vec![escape]));
    });
}

#[test]
fn a_terminal_that_goes_away_ends_the_thread() {
    let (master, slave) = terminal();
    in_loop(async {
        let mut reader = Reader::start(slave, false).unwrap();
        drop(master);
        assert_eq!(reader.next().await, News::Gone);
        assert_eq!(reader.next().await, News::Gone);
        // That the thread can be joined is that it does not spin.
        drop(reader);
    });
}

#[test]
fn a_reader_that_was_stopped_reads_nothing_of_what_comes_after() {
    let (master, slave) = terminal();
    let mut writer = master.take_writer().unwrap();
    let next = slave.try_clone().unwrap();
    in_loop(async {
        drop(Reader::start(slave, false).unwrap());
        writer.write_all(b"for the editor\r").unwrap();
        let mut buffer = [0; 64];
        let read = rustix::io::read(&next, &mut buffer).unwrap();
        assert_eq!(&buffer[..read], b"for the editor\r");
    });
}

#[test]
fn a_reader_whose_news_nobody_takes_can_be_stopped() {
    let (master, slave) = terminal();
    let mut writer = master.take_writer().unwrap();
    let look = slave.try_clone().unwrap();
    in_loop(async {
        let mut reader = Reader::start(slave, false).unwrap();
        let taken = reader.news.take().unwrap();
        for _ in 0..BATCHES * 4 {
            writer.write_all(b"\x1b[A").unwrap();
            // Each is taken by itself, so that each is news.
            while rustix::io::ioctl_fionread(&look).unwrap() > 0 && taken.len() < BATCHES {
                tokio::task::yield_now().await;
            }
        }
        reader.news = Some(taken);
        drop(reader);
    });
}

#[test]
fn a_marked_paste_of_a_mebibyte_is_one_text() {
    let (master, slave) = terminal();
    let mut writer = master.take_writer().unwrap();
    let text = "a line of some length to paste\n".repeat(1024 * 1024 / 31);
    let sent = format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r"));
    in_loop(async {
        let mut reader = Reader::start(slave, false).unwrap();
        // The writer is given back: its drop would type an end of file.
        let typing = std::thread::spawn(move || writer.write_all(sent.as_bytes()).map(|()| writer));
        let News::Inputs(inputs) = reader.next().await else { panic!("the terminal is there") };
        let [Input::Paste { text: pasted, dropped: 0 }] = inputs.as_slice() else {
            panic!("{} inputs", inputs.len());
        };
        let same = pasted.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
        assert_eq!((pasted.len(), same), (text.len(), text.len()));
        drop(typing.join().unwrap().unwrap());
        drop(master);
    });
}
