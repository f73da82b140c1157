//! Lines of a modal, written to its width.
//!
//! What may go here: cleaning, wrapping and styling of texts. What may not: what they say, where they stand.

use ratatui::text::{Line, Span};

use crate::tui::theme::{Theme, Tone};
use crate::tui::world::{Connection, World};
use crate::words::plain_text::{cells, cut_cells, lines as clean_lines, one_line, wrapped};

/// Cells of the column of names before values.
pub(super) const NAMES: usize = 11;
/// Narrowest text that has such a column; a narrower one has the name above the value.
const LEAST_WITH_NAMES: usize = 24;

/// Writes lines of a width.
#[derive(Debug)]
pub(super) struct Writer {
    theme: Theme,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Writer {
    /// Begins with no line.
    pub(super) fn new(theme: Theme, width: usize) -> Self {
        Self { theme, width, lines: Vec::new() }
    }

    /// Returns how wide lines may be.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the cells of the column of names; none where a name stands above its value.
    fn names(&self) -> usize {
        if self.width < LEAST_WITH_NAMES { 1 } else { NAMES }
    }

    /// Returns what was written.
    pub(super) fn into_lines(self) -> Vec<Line<'static>> {
        self.lines
    }

    /// Says what the numbers are worth if the host cannot be heard.
    pub(super) fn connection(&mut self, world: &World) {
        match &world.connection {
            Connection::Up => {}
            Connection::Waiting(what) => {
                self.text(&format!("not live, as last seen: {what}"), Tone::Warning);
            }
            Connection::Failed(why) => {
                self.text(&format!("not live, as last seen: {why}"), Tone::Bad);
            }
        }
    }

    /// Writes a text of any number of lines, wrapped.
    pub(super) fn text(&mut self, text: &str, tone: Tone) {
        self.indented(text, tone, 0);
    }

    /// Writes a text with blanks before each line.
    pub(super) fn indented(&mut self, text: &str, tone: Tone, indent: usize) {
        // A margin that would leave nothing is none.
        let indent = if indent * 3 > self.width { 0 } else { indent };
        let margin = " ".repeat(indent);
        for line in self.wrapped(text, self.width - indent) {
            let span = Span::styled(line, self.theme.style(tone));
            self.lines.push(Line::from(vec![Span::raw(margin.clone()), span]));
        }
    }

    /// Writes the first lines of a text; says whether there are more.
    pub(super) fn some_lines(
        &mut self,
        text: &str,
        tone: Tone,
        indent: usize,
        most: usize,
    ) -> bool {
        let before = self.lines.len();
        if !text.is_empty() {
            self.indented(text, tone, indent);
        }
        let is_more = self.lines.len() - before > most;
        self.lines.truncate(before + most);
        is_more
    }

    /// Writes a name and its value, wrapped beside it; nothing without a value.
    pub(super) fn field(&mut self, name: &str, value: &str, tone: Tone) {
        if value.trim().is_empty() {
            return;
        }
        let style = self.theme.style(Tone::Dim);
        if self.width < LEAST_WITH_NAMES {
            self.lines.push(Line::styled(cut(self.theme, name, self.width), style));
            self.indented(value, tone, 1);
            return;
        }
        for (number, line) in self.wrapped(value, self.width - NAMES).into_iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            let head = crate::words::plain_text::fit(name, NAMES);
            self.lines.push(Line::from(vec![
                Span::styled(head, style),
                Span::styled(line, self.theme.style(tone)),
            ]));
        }
    }

    /// Writes a name and its value on one line, cut at the end.
    pub(super) fn field_line(&mut self, name: &str, value: &str, tone: Tone) {
        let name = crate::words::plain_text::fit(name, self.names());
        self.line(&[(&name, Tone::Dim), (value, tone)]);
    }

    /// Writes pieces of different tones on one line, cut at the end.
    pub(super) fn line(&mut self, pieces: &[(&str, Tone)]) {
        let mut left = self.width;
        let mut spans = Vec::new();
        for (text, tone) in pieces {
            let text = cut(self.theme, text, left);
            left -= cells(&text).min(left);
            spans.push(Span::styled(text, self.theme.style(*tone)));
        }
        self.lines.push(Line::from(spans));
    }

    /// Leaves a line free.
    pub(super) fn blank(&mut self) {
        self.lines.push(Line::default());
    }

    /// Leaves a line free, unless the one before is.
    pub(super) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.blank();
        }
    }

    fn wrapped(&self, text: &str, width: usize) -> Vec<String> {
        let text = self.theme.words.text(&clean_lines(text));
        text.trim_end().lines().flat_map(|line| wrapped(line, width)).collect()
    }
}

/// Returns a text that takes at most `most` cells in the alphabet of this terminal; one that was cut says so.
pub(super) fn cut(theme: Theme, text: &str, most: usize) -> String {
    let text = theme.words.text(text);
    if theme.words.unicode || cells(&text) <= most {
        return cut_cells(&text, most);
    }
    // It has nothing but ASCII, a cell each.
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    if most == 0 { kept } else { format!("{kept}~") }
}

/// Returns a text from outside as one line in the alphabet of this terminal.
pub(super) fn clean(world: &World, text: &str) -> String {
    world.theme.words.text(&one_line(text))
}
