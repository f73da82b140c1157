//! Notices on a terminal: whether it rings, and what it is asked to show.
//!
//! What may go here: the bytes of that, from a notice. What may not: writing them, when there is a notice.

use crate::core::{Header, Notice, NoticeKind};
use crate::words::plain_text::headline;

/// Rings.
pub const BELL: &[u8] = b"\x07";
/// Longest text of a notification, in graphemes: desktops show two lines or so.
const SHOWN: usize = 160;

/// What is done with a terminal when there is a notice.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Alerts {
    /// It rings.
    pub bell: bool,
    /// It is asked to show a notification of its desktop.
    pub notification: bool,
    /// Of these only.
    pub on: Vec<NoticeKind>,
}

impl Alerts {
    /// Says whether anything is done for a notice.
    pub fn is_for(&self, notice: &Notice) -> bool {
        (self.bell || self.notification) && self.on.contains(&notice.kind)
    }
}

/// The newest notice that a door has passed on. What was there before the door is not news to whoever opens it.
#[derive(Debug, Default, Clone, Copy)]
pub struct HeardUpTo(u64);

impl HeardUpTo {
    /// A door has come to a fleet: what stands there is not news.
    pub fn join(&mut self, header: &Header) {
        self.0 = newest(header);
    }

    /// A door has come to the next host of its fleet. Numbers can have gone back a little, where an earlier host could
    /// write nothing down.
    pub fn join_again(&mut self, header: &Header) {
        self.0 = self.0.min(newest(header));
    }

    /// Returns the notices that are new, oldest first.
    pub fn news<'a>(&mut self, header: &'a Header) -> impl Iterator<Item = &'a Notice> + use<'a> {
        let before = self.0;
        self.0 = before.max(newest(header));
        header.notices.iter().filter(move |notice| notice.number > before)
    }
}

fn newest(header: &Header) -> u64 {
    header.notices.last().map_or(0, |notice| notice.number)
}

/// Returns what makes a terminal show a notification (OSC 9). Through tmux it has to be passed on, which its owner has to
/// allow; terminals that know nothing of it ignore it.
pub fn notification(header: &Header, notice: &Notice, in_tmux: bool) -> Vec<u8> {
    let name = header.name.as_deref().unwrap_or(&header.fleet.0);
    // Nothing of the text can end the sequence, or begin another one: no control character is left in it. A digit at its
    // head would be a command of some terminals.
    let text = format!("fleet {}: {}", headline(name, 40), headline(&notice.text, SHOWN));
    let plain = format!("\x1b]9;{text}\x07");
    if in_tmux {
        format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")).into_bytes()
    } else {
        plain.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{row, snapshot};
    use crate::core::{Moment, NoticeKind};

    fn notice(number: u64, text: &str) -> Notice {
        let (kind, agents) = (NoticeKind::Failed, Vec::new());
        Notice { number, kind, at: Moment(0), agents, more: 0, text: text.to_owned() }
    }

    fn header(notices: &[Notice]) -> Header {
        Header { notices: notices.to_vec(), ..snapshot(1, vec![row(1)]).header }
    }

    #[test]
    fn nothing_in_a_notice_can_end_the_sequence_that_it_is_shown_with() {
        let hostile = "#1 failed:\u{7}\u{1b}]0;title\u{7}a\u{9c}\u{202e}b\n\u{1b}[2Jc";
        let header = Header { name: Some("x\u{1b}\\y".to_owned()), ..header(&[]) };
        let bytes = notification(&header, &notice(1, hostile), false);
        assert_eq!(String::from_utf8(bytes).unwrap(), "\x1b]9;fleet xy: #1 failed:ab c\x07");
        let long = notification(&header, &notice(1, &"長い ".repeat(1000)), false);
        assert!(long.len() < 800, "{}", long.len());
        let passed = notification(&header, &notice(1, "a"), true);
        assert_eq!(passed, b"\x1bPtmux;\x1b\x1b]9;fleet xy: a\x07\x1b\\");
    }

    #[test]
    fn what_was_there_before_is_not_news_and_each_notice_is_news_once() {
        let mut heard = HeardUpTo::default();
        heard.join(&header(&[notice(1, "a"), notice(2, "b")]));
        let mut numbers = |all: &[Notice]| -> Vec<u64> {
            heard.news(&header(all)).map(|notice| notice.number).collect()
        };
        assert!(numbers(&[notice(1, "a"), notice(2, "b")]).is_empty());
        assert_eq!(numbers(&[notice(2, "b"), notice(3, "c"), notice(4, "d")]), [3, 4]);
        assert!(numbers(&[notice(3, "c"), notice(4, "d")]).is_empty());
        heard.join_again(&header(&[notice(3, "c")]));
        assert_eq!(heard.news(&header(&[notice(4, "other")])).count(), 1);
        heard.join_again(&header(&[notice(4, "other"), notice(5, "e")]));
        let next = header(&[notice(5, "e"), notice(6, "f")]);
        assert_eq!(heard.news(&next).count(), 2, "told while nobody was connected");
    }

    #[test]
    fn only_what_is_chosen_is_told() {
        let alerts = Alerts { bell: true, notification: false, on: vec![NoticeKind::Done] };
        assert!(!alerts.is_for(&notice(1, "a")));
        let done = Notice { kind: NoticeKind::Done, ..notice(1, "a") };
        assert!(alerts.is_for(&done));
        assert!(!Alerts { bell: false, ..alerts }.is_for(&done));
    }
}
