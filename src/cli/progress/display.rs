//! Writes lines above a status line that stays at the bottom.
//!
//! What may go here: escape codes for one line, and what happens when writing fails. What may not: time.

use std::io::Write;

use crate::adapters::redact;
use crate::core::{Header, Moment, Notice, Snapshot};
use crate::words::notice_line::{Alerts, BELL, HeardUpTo, notification};
use crate::words::plain_text::cells;
use crate::words::report_line::Reporter;
use crate::words::status_line::status_line;
use crate::words::style::Style;

/// To the first column, and away with what is behind the cursor.
const ERASE: &str = "\r\u{1b}[K";

/// One output with a status line at its bottom, if it is a terminal.
pub struct Display<'a> {
    out: &'a mut (dyn Write + Send),
    style: Style,
    width: &'a (dyn Fn() -> usize + Sync),
    reporter: Reporter,
    /// Status line that stands on the terminal now; empty if none does.
    shown: String,
    /// Width of the terminal when it was written.
    shown_width: usize,
    /// Writing has failed: nothing is written any more.
    silent: bool,
    alerts: Alerts,
    in_tmux: bool,
    heard: HeardUpTo,
}

impl<'a> Display<'a> {
    /// Makes a display; `width` returns the cells of a terminal's line whenever it is asked.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        style: Style,
        width: &'a (dyn Fn() -> usize + Sync),
    ) -> Self {
        Self {
            out,
            style,
            width,
            reporter: Reporter::new(jiff::tz::TimeZone::system()),
            shown: String::new(),
            shown_width: 0,
            silent: false,
            alerts: Alerts::default(),
            in_tmux: false,
            heard: HeardUpTo::default(),
        }
    }

    /// Lets the terminal ring and show notifications from now on.
    pub fn set_alerts(&mut self, alerts: Alerts, in_tmux: bool) {
        (self.alerts, self.in_tmux) = (alerts, in_tmux);
    }

    /// Returns how lines look here.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Says whether there is a status line to be kept up to date.
    pub fn is_redrawn(&self) -> bool {
        self.style.terminal && !self.silent
    }

    /// Returns the cells that the bottom line may take. The last column stays free: a terminal may wrap when it is
    /// written.
    pub fn width(&self) -> usize {
        (self.width)().saturating_sub(1)
    }

    /// Shows a fleet whose host is another process; see [`Reporter::set_beside`].
    pub fn set_beside(&mut self) {
        self.reporter.set_beside();
    }

    /// Takes what this snapshot has as told already: a fleet that goes on does not tell its old ends again.
    pub fn skip(&mut self, snapshot: &Snapshot) {
        self.reporter.skip(snapshot);
        self.heard.join(&snapshot.header);
    }

    /// Writes the lines that are due; the status line stays as it was, below them.
    pub fn report(&mut self, snapshot: &Snapshot) {
        let lines = self.reporter.lines(snapshot, self.style);
        self.say(&lines);
        self.alert(&snapshot.header);
    }

    /// Rings, once for all that is new, and lets notifications be shown, if this is a terminal.
    fn alert(&mut self, header: &Header) {
        let mut bytes = Vec::new();
        let mut rings = false;
        for notice in self.heard.news(header).filter(|notice| self.alerts.is_for(notice)) {
            rings |= self.alerts.bell;
            if self.alerts.notification {
                let clean = Notice { text: redact(&notice.text).into_owned(), ..notice.clone() };
                bytes.extend(notification(header, &clean, self.in_tmux));
            }
        }
        if rings {
            bytes.extend_from_slice(BELL);
        }
        if self.style.terminal && !bytes.is_empty() {
            self.write(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Writes lines above the status line.
    pub fn say(&mut self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let mut text = String::new();
        if !self.shown.is_empty() {
            text.push_str(&self.erasing());
        }
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.shown);
        self.shown_width = (self.width)();
        self.write(&text);
    }

    /// Brings the status line up to date.
    pub fn draw(&mut self, snapshot: &Snapshot, now: Moment) {
        let line = status_line(snapshot, now, self.style, self.width());
        self.draw_text(&line);
    }

    /// Puts a text of one line in the place of the status line.
    pub fn draw_text(&mut self, line: &str) {
        if !self.style.terminal || (line == self.shown && self.shown_width == (self.width)()) {
            return;
        }
        let text = format!("{}{line}", self.erasing());
        line.clone_into(&mut self.shown);
        self.shown_width = (self.width)();
        self.write(&text);
    }

    /// Takes the status line away.
    pub fn erase(&mut self) {
        if !self.shown.is_empty() {
            let text = self.erasing();
            self.shown.clear();
            self.write(&text);
        }
    }

    /// Returns what erases the status line, also one that wraps since the terminal became narrower.
    fn erasing(&self) -> String {
        let width = (self.width)().max(1);
        let more_rows = cells(&self.shown).saturating_sub(1) / width;
        let mut text = String::new();
        for _ in 0..more_rows {
            text.push_str(ERASE);
            text.push_str("\u{1b}[A");
        }
        text.push_str(ERASE);
        text
    }

    /// Writes a text at once; the first failure silences this output for good, since whoever read it has gone.
    fn write(&mut self, text: &str) {
        if self.silent {
            return;
        }
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.silent = written.is_err();
    }
}

/// Returns the cells of a line of the terminal behind a descriptor, 80 if it does not say.
pub fn terminal_width(output: impl std::os::fd::AsFd) -> usize {
    const USUAL: usize = 80;
    match rustix::termios::tcgetwinsize(output) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => USUAL,
    }
}
