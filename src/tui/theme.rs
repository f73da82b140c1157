//! How the screen looks: styles by meaning, glyphs, borders.
//!
//! What may go here: the table of them. What may not: words, layout. Colours are the terminal's own 16, repeat what a
//! glyph or a word says already, and are absent under `NO_COLOR`; there is neither white nor black text, since nobody
//! knows the background.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::core::{Outcome, Status};
use crate::words::style::Style as Words;

/// What a style means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Ordinary text.
    Plain,
    /// Beside the point.
    Dim,
    /// Worth being seen first: titles, keys.
    Strong,
    /// Done.
    Good,
    /// Failed.
    Bad,
    /// Stopped, held, near a limit, or otherwise worth a look.
    Warning,
    /// Runs.
    Live,
    /// Money.
    Money,
    /// The border and title of the pane that has the focus.
    Focus,
    /// A key that works now.
    Key,
    /// A hit of a search.
    Hit,
    /// The selected row.
    Selected,
    /// The selected row of a pane without the focus.
    SelectedElsewhere,
}

impl Tone {
    /// Returns what a state means.
    pub(super) fn of(status: Status) -> Self {
        match status {
            Status::Queued => Self::Dim,
            Status::Starting | Status::Running => Self::Live,
            Status::Ended(Outcome::Done) => Self::Good,
            Status::Ended(Outcome::Failed | Outcome::Lost) => Self::Bad,
            Status::Stopping | Status::Ending | Status::Ended(_) => Self::Warning,
        }
    }
}

/// How things look on this terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    /// Glyphs, and whether there are colours and more than ASCII.
    pub words: Words,
}

impl Theme {
    /// Works out the theme; `variable` reads the environment.
    pub(super) fn detect(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        Self { words: Words::detect(true, variable) }
    }

    /// Returns the style of a meaning.
    pub(super) fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        let (colour, modifier) = match tone {
            Tone::Plain => return plain,
            Tone::Dim => (None, Modifier::DIM),
            Tone::Strong => (None, Modifier::BOLD),
            Tone::Good => (Some(Color::Green), Modifier::empty()),
            Tone::Bad => (Some(Color::Red), Modifier::BOLD),
            Tone::Warning => (Some(Color::Yellow), Modifier::empty()),
            Tone::Live | Tone::Focus => (Some(Color::Cyan), Modifier::empty()),
            Tone::Money => (Some(Color::Magenta), Modifier::empty()),
            Tone::Key => (Some(Color::Cyan), Modifier::BOLD),
            Tone::Hit => (Some(Color::Yellow), Modifier::REVERSED),
            Tone::Selected => (None, Modifier::REVERSED),
            Tone::SelectedElsewhere => (None, Modifier::BOLD.union(Modifier::UNDERLINED)),
        };
        let style = plain.add_modifier(modifier);
        match colour {
            Some(colour) if self.words.colour => style.fg(colour),
            _ => style,
        }
    }

    /// Returns the style of a state.
    pub(super) fn status(self, status: Status) -> Style {
        self.style(Tone::of(status))
    }

    /// Returns the lines of a border. The pane with the focus has double ones, so that it is seen without colours.
    pub(super) fn border(self, has_focus: bool) -> border::Set<'static> {
        const ASCII: border::Set<'static> = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        const ASCII_FOCUS: border::Set<'static> =
            border::Set { horizontal_top: "=", horizontal_bottom: "=", ..ASCII };
        match (self.words.unicode, has_focus) {
            (true, true) => border::DOUBLE,
            (true, false) => border::PLAIN,
            (false, true) => ASCII_FOCUS,
            (false, false) => ASCII,
        }
    }

    /// Returns the sign before a selected row.
    pub(super) fn cursor(self) -> &'static str {
        if self.words.unicode { "▌" } else { ">" }
    }

    /// Returns a bar of `cells` cells of which `part` of `whole` is filled.
    pub(super) fn gauge(self, part: u64, whole: u64, cells: usize) -> String {
        let (full, empty) = if self.words.unicode { ("█", "░") } else { ("#", ".") };
        let wide = u128::try_from(cells).unwrap_or_default();
        let filled = if whole == 0 { wide } else { u128::from(part) * wide / u128::from(whole) };
        let filled = usize::try_from(filled).unwrap_or(cells).min(cells);
        format!("{}{}", full.repeat(filled), empty.repeat(cells - filled))
    }
}
