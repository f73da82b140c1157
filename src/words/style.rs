//! How lines look: glyphs and colours by meaning.
//!
//! What may go here: the table of both. What may not: what a line says.
//! Colours come from the terminal's own 16 and repeat what a glyph or a word says already.

use crate::core::{Outcome, Status};

/// How lines look on one output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// A terminal that can redraw a line in place.
    pub terminal: bool,
    /// Colours may be used.
    pub colour: bool,
    /// More than ASCII may be used.
    pub unicode: bool,
}

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Done.
    Good,
    /// Failed.
    Bad,
    /// Stopped, dropped, held, or otherwise worth a look.
    Warning,
    /// Beside the point.
    Dim,
}

impl Style {
    /// Neither colours nor redrawing nor anything but ASCII.
    pub const PLAIN: Self = Self { terminal: false, colour: false, unicode: false };

    /// Works out the style of an output; `variable` reads the environment.
    pub fn detect(terminal: bool, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let smart = terminal && set("TERM").is_some_and(|term| term != "dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(set)
            .unwrap_or_default()
            .to_lowercase();
        Self {
            terminal: smart,
            colour: smart && set("NO_COLOR").is_none(),
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
        }
    }

    /// Returns the cells that a line may take where a terminal has `width`: only a terminal has an edge.
    pub fn edge(self, width: usize) -> usize {
        if self.terminal { width } else { usize::MAX }
    }

    fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Returns the glyph of a state; no two states that a person must tell apart share one.
    pub fn glyph(self, status: Status) -> &'static str {
        match status {
            Status::Queued => self.pick("○", "o"),
            Status::Starting | Status::Running => self.pick("●", "*"),
            Status::Stopping | Status::Ending => self.pick("◐", "%"),
            Status::Ended(outcome) => match outcome {
                Outcome::Done => self.pick("✓", "+"),
                Outcome::Failed => self.pick("✗", "x"),
                Outcome::Timeout => self.pick("⏱", "T"),
                Outcome::Cancelled => self.pick("⊘", "-"),
                Outcome::Interrupted => self.pick("■", "!"),
                Outcome::Stalled => self.pick("⋯", "~"),
                Outcome::OverBudget => "$",
                Outcome::Lost => "?",
                Outcome::Dropped => self.pick("↓", "v"),
            },
        }
    }

    /// Returns what stands between parts of a line.
    pub fn dot(self) -> &'static str {
        self.pick(" · ", " - ")
    }

    /// Returns what stands before a reason.
    pub fn dash(self) -> &'static str {
        self.pick(" — ", " - ")
    }

    /// Returns the sign for "about".
    pub fn about(self) -> &'static str {
        self.pick("≈", "~")
    }

    /// Returns the sign for "at least".
    pub fn at_least(self) -> &'static str {
        self.pick("≥ ", ">= ")
    }

    /// Returns the sign for a cut or an answer that was cut off.
    pub fn warning(self) -> &'static str {
        self.pick("⚠", "!")
    }

    /// Returns the text without anything but ASCII where nothing else can be shown.
    pub fn text(self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let mut plain = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '…' => plain.push_str("..."),
                '·' | '—' | '–' => plain.push('-'),
                '↵' => plain.push('/'),
                ' '..='~' | '\n' => plain.push(character),
                _ => plain.push('?'),
            }
        }
        plain
    }

    /// Returns the text in the colour of its meaning, or as it is.
    pub fn paint(self, meaning: Meaning, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match meaning {
            Meaning::Good => 32,
            Meaning::Bad => 31,
            Meaning::Warning => 33,
            Meaning::Dim => 2,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Returns the glyph of a state in its colour.
    pub fn painted_glyph(self, status: Status) -> String {
        let glyph = self.glyph(status);
        match status {
            Status::Ended(Outcome::Done) => self.paint(Meaning::Good, glyph),
            Status::Ended(Outcome::Failed | Outcome::Lost) => self.paint(Meaning::Bad, glyph),
            Status::Ended(_) => self.paint(Meaning::Warning, glyph),
            Status::Queued
            | Status::Starting
            | Status::Running
            | Status::Stopping
            | Status::Ending => glyph.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [Status; 14] = [
        Status::Queued,
        Status::Starting,
        Status::Running,
        Status::Stopping,
        Status::Ending,
        Status::Ended(Outcome::Done),
        Status::Ended(Outcome::Failed),
        Status::Ended(Outcome::Timeout),
        Status::Ended(Outcome::Cancelled),
        Status::Ended(Outcome::Interrupted),
        Status::Ended(Outcome::Stalled),
        Status::Ended(Outcome::OverBudget),
        Status::Ended(Outcome::Lost),
        Status::Ended(Outcome::Dropped),
    ];

    fn detect(terminal: bool, variables: &[(&str, &str)]) -> Style {
        Style::detect(terminal, &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    /// C-136.
    #[test]
    fn states_are_told_apart_without_colour_in_both_alphabets() {
        for style in [Style::PLAIN, Style { unicode: true, ..Style::PLAIN }] {
            let mut glyphs: Vec<&str> = EVERY.iter().map(|status| style.glyph(*status)).collect();
            glyphs.sort_unstable();
            glyphs.dedup();
            // Starting is shown as running, ending as stopping.
            assert_eq!(glyphs.len(), EVERY.len() - 2, "{glyphs:?}");
        }
        assert!(EVERY.iter().all(|status| Style::PLAIN.glyph(*status).is_ascii()));
    }

    #[test]
    fn every_glyph_takes_one_cell_so_that_columns_stand_below_each_other() {
        for style in [Style::PLAIN, Style { unicode: true, ..Style::PLAIN }] {
            for status in EVERY {
                let glyph = style.glyph(status);
                assert_eq!(crate::words::plain_text::cells(glyph), 1, "{glyph}");
            }
        }
    }

    #[test]
    fn the_environment_decides_about_colour_and_alphabet() {
        let utf8 = ("LANG", "de_DE.UTF-8");
        let all = Style { terminal: true, colour: true, unicode: true };
        assert_eq!(detect(true, &[utf8, ("TERM", "xterm")]), all);
        assert_eq!(
            detect(true, &[utf8, ("TERM", "xterm"), ("NO_COLOR", "1")]),
            Style { colour: false, ..all }
        );
        assert_eq!(detect(true, &[utf8, ("TERM", "xterm"), ("NO_COLOR", "")]), all);
        assert_eq!(
            detect(true, &[utf8, ("TERM", "xterm"), ("LC_ALL", "C")]),
            Style { unicode: false, ..all }
        );
        assert_eq!(
            detect(true, &[utf8, ("TERM", "dumb")]),
            Style { unicode: true, ..Style::PLAIN }
        );
        assert_eq!(detect(false, &[("TERM", "xterm")]), Style::PLAIN);
    }

    #[test]
    fn plain_text_has_nothing_but_ascii() {
        assert_eq!(Style::PLAIN.text("caf\u{e9} · a…"), "caf? - a...");
        assert_eq!(Style::PLAIN.paint(Meaning::Bad, "x"), "x");
    }
}
