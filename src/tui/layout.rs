//! Where everything is: panes for a size of the terminal.
//!
//! What may go here: arithmetic on rectangles. What may not: drawing, what is in a pane.

use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};

/// Narrowest and lowest terminal that shows panes; a smaller one shows a sentence.
pub(super) const LEAST: (u16, u16) = (24, 6);
/// From here on panes stand below each other; a smaller terminal shows one at a time.
const STACKED: (u16, u16) = (60, 18);
/// From here on the tail stands beside the table.
const WIDE: (u16, u16) = (170, 24);
/// Fewest rows of a pane with its border.
const LEAST_ROWS: u16 = 4;
/// Fewest columns of a pane that stands beside another.
const LEAST_COLUMNS: u16 = 40;

/// A pane that can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Focus {
    /// Where tasks are typed.
    Editor,
    /// The table.
    Agents,
    /// The output of the selected agent.
    Tail,
}

impl Focus {
    /// Returns the pane after this one.
    #[must_use]
    pub(super) fn next(self) -> Self {
        match self {
            Self::Editor => Self::Agents,
            Self::Agents => Self::Tail,
            Self::Tail => Self::Editor,
        }
    }

    /// Returns the pane before this one.
    #[must_use]
    pub(super) fn previous(self) -> Self {
        self.next().next()
    }
}

/// How the person has divided the screen. Shares are in thousandths, so that they outlive a resize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// Rows of the table of those that the table and the tail below it share.
    pub agents_rows: u16,
    /// Columns of the table of those that the table and the tail beside it share.
    pub agents_columns: u16,
    /// Rows of the editor beyond those that its text needs.
    pub editor_rows: u16,
}

impl Default for Shares {
    fn default() -> Self {
        Self { agents_rows: 550, agents_columns: 560, editor_rows: 0 }
    }
}

/// How panes are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// The terminal is too small for anything but a sentence.
    TooSmall,
    /// One pane at a time, named in the header.
    Single,
    /// Below each other.
    Stacked,
    /// The tail beside the table.
    Wide,
}

/// What a border between two panes divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Divider {
    /// Editor above, table below.
    EditorAgents,
    /// Table above, tail below.
    AgentsTailRows,
    /// Table left, tail right.
    AgentsTailColumns,
}

/// Where everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Panes {
    /// How panes are arranged.
    pub arrangement: Arrangement,
    /// The whole terminal.
    pub screen: Rect,
    /// Numbers of the fleet.
    pub header: Rect,
    /// Where tasks are typed; empty if it is not shown.
    pub editor: Rect,
    /// The table; empty if it is not shown.
    pub agents: Rect,
    /// The output; empty if it is not shown.
    pub tail: Rect,
    /// Keys that work now, or what just happened.
    pub footer: Rect,
}

/// What decides where everything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The pane with the focus.
    pub focus: Focus,
    /// It has the screen for itself.
    pub is_zoomed: bool,
    /// Rows that the text in the editor needs, without its border.
    pub editor_rows: u16,
    /// How the person has divided the screen.
    pub shares: Shares,
}

/// Divides the terminal.
pub(crate) fn panes(wanted: Wanted) -> Panes {
    let (columns, rows) = wanted.size;
    let screen = Rect::new(0, 0, columns, rows);
    let nothing = Rect::new(0, 0, 0, 0);
    let mut panes = Panes {
        arrangement: Arrangement::TooSmall,
        screen,
        header: nothing,
        editor: nothing,
        agents: nothing,
        tail: nothing,
        footer: nothing,
    };
    if columns < LEAST.0 || rows < LEAST.1 {
        return panes;
    }
    let is_small = columns < STACKED.0 || rows < STACKED.1;
    let header_rows = if is_small { 1 } else { 2 };
    panes.header = Rect { height: header_rows, ..screen };
    panes.footer = Rect { y: rows - 1, height: 1, ..screen };
    let body = Rect { y: header_rows, height: rows - header_rows - 1, ..screen };
    if is_small || wanted.is_zoomed {
        panes.arrangement = Arrangement::Single;
        match wanted.focus {
            Focus::Editor => panes.editor = body,
            Focus::Agents => panes.agents = body,
            Focus::Tail => panes.tail = body,
        }
        return panes;
    }
    let most = (body.height / 2).max(3).min(body.height - 2 * LEAST_ROWS);
    let editor_rows = wanted
        .editor_rows
        .saturating_add(wanted.shares.editor_rows)
        .saturating_add(2)
        .clamp(3, most.max(3));
    panes.editor = Rect { height: editor_rows, ..body };
    let rest = Rect { y: body.y + editor_rows, height: body.height - editor_rows, ..body };
    if columns >= WIDE.0 && rows >= WIDE.1 {
        panes.arrangement = Arrangement::Wide;
        let left = part(rest.width, wanted.shares.agents_columns, LEAST_COLUMNS);
        panes.agents = Rect { width: left, ..rest };
        panes.tail = Rect { x: left, width: rest.width - left, ..rest };
    } else {
        panes.arrangement = Arrangement::Stacked;
        let top = part(rest.height, wanted.shares.agents_rows, LEAST_ROWS);
        panes.agents = Rect { height: top, ..rest };
        panes.tail = Rect { y: rest.y + top, height: rest.height - top, ..rest };
    }
    panes
}

/// Returns `share` thousandths of `whole`, leaving both sides at least `least`.
fn part(whole: u16, share: u16, least: u16) -> u16 {
    let part = u32::from(whole) * u32::from(share) / 1000;
    let most = whole.saturating_sub(least).max(least.min(whole));
    u16::try_from(part).unwrap_or(whole).clamp(least.min(whole), most)
}

impl Panes {
    /// Returns the place of a pane.
    pub(super) fn of(&self, focus: Focus) -> Rect {
        match focus {
            Focus::Editor => self.editor,
            Focus::Agents => self.agents,
            Focus::Tail => self.tail,
        }
    }

    /// Returns the pane at a cell.
    pub(super) fn at(&self, position: Position) -> Option<Focus> {
        [Focus::Editor, Focus::Agents, Focus::Tail]
            .into_iter()
            .find(|focus| self.of(*focus).contains(position))
    }

    /// Returns the border at a cell that can be dragged. The title of a pane belongs to it.
    pub(super) fn divider_at(&self, position: Position) -> Option<Divider> {
        match self.arrangement {
            Arrangement::TooSmall | Arrangement::Single => None,
            Arrangement::Stacked if position.y == self.tail.y => Some(Divider::AgentsTailRows),
            Arrangement::Wide
                if position.y >= self.agents.y
                    && position.y < self.agents.bottom()
                    && (position.x == self.tail.x || position.x + 1 == self.tail.x) =>
            {
                Some(Divider::AgentsTailColumns)
            }
            Arrangement::Stacked | Arrangement::Wide => {
                (position.y == self.agents.y).then_some(Divider::EditorAgents)
            }
        }
    }

    /// Returns the shares after a border was dragged to a cell.
    pub(super) fn dragged(
        &self,
        divider: Divider,
        to: Position,
        before: Shares,
        text: u16,
    ) -> Shares {
        let thousandths = |part: u16, whole: u16| {
            let share = u32::from(part) * 1000 / u32::from(whole.max(1));
            u16::try_from(share.min(1000)).unwrap_or(1000)
        };
        match divider {
            Divider::EditorAgents => {
                let rows = to.y.saturating_sub(self.editor.y).saturating_sub(2);
                Shares { editor_rows: rows.saturating_sub(text), ..before }
            }
            Divider::AgentsTailRows => {
                let whole = self.agents.height + self.tail.height;
                let rows = to.y.saturating_sub(self.agents.y);
                // Half a row more, so that rounding down gives this row back.
                let share = thousandths(rows.saturating_mul(2) + 1, whole.saturating_mul(2));
                Shares { agents_rows: share, ..before }
            }
            Divider::AgentsTailColumns => {
                let whole = self.agents.width + self.tail.width;
                let columns = to.x.saturating_sub(self.agents.x);
                let share = thousandths(columns.saturating_mul(2) + 1, whole.saturating_mul(2));
                Shares { agents_columns: share, ..before }
            }
        }
    }
}

#[cfg(test)]
mod tests;
