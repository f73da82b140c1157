//! The columns of the table: which there are at a width, and what a row has in each.
//!
//! What may go here: widths, and texts of cells. What may not: where the table is, styles of rows.

use super::order::Sort;
use crate::core::{Moment, Row, Snapshot};
use crate::words::plain_text::{cells, thousands};
use crate::words::report_line::exact;
use crate::words::status_line::cost_cell;
use crate::words::style::Style;
use crate::words::time_text::{age, duration, tenths};
use crate::words::why;

/// A column, in the order from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Number.
    Id,
    /// State as a glyph.
    Glyph,
    /// The task.
    Task,
    /// Agent kind.
    Kind,
    /// State with its reason.
    State,
    /// Tool calls.
    Steps,
    /// Tokens.
    Tokens,
    /// Cost, and the budget if any agent has one.
    Cost,
    /// Time since the last sign of life.
    Quiet,
    /// Time that it has run.
    Elapsed,
    /// Own tests.
    Badge,
    /// Changed files.
    Files,
}

const ALL: [Column; 12] = [
    Column::Id,
    Column::Glyph,
    Column::Task,
    Column::Kind,
    Column::State,
    Column::Steps,
    Column::Tokens,
    Column::Cost,
    Column::Quiet,
    Column::Elapsed,
    Column::Badge,
    Column::Files,
];

/// In this order columns yield when the table is narrow: first what is said elsewhere too (files and tests in the line
/// below the table, tokens by the cost), last the money. Number, glyph, task and state never do.
pub(super) const YIELDS: [Column; 8] = [
    Column::Files,
    Column::Badge,
    Column::Tokens,
    Column::Kind,
    Column::Steps,
    Column::Quiet,
    Column::Elapsed,
    Column::Cost,
];

/// Fewest cells of a task and of a state beside which another column may stand.
const LEAST: (usize, usize) = (20, 24);
/// Most cells of a state: the longest outcome that has a reason and 40 graphemes of that (upstream A10), the rest of
/// which is below the table.
const MOST_STATE: usize = "interrupted: ".len() + 40;
/// Cells of the sign before the selected row and of the mark.
pub(super) const SIGNS: usize = 2;

impl Column {
    /// Returns its head.
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::Id => "#",
            Self::Glyph => "",
            Self::Task => "task",
            Self::Kind => "kind",
            Self::State => "state",
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Quiet => "quiet",
            Self::Elapsed => "time",
            Self::Badge => "tests",
            Self::Files => "changed",
        }
    }

    /// Says whether it has numbers, whose ends stand below each other.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Id | Self::Steps | Self::Tokens | Self::Cost | Self::Quiet | Self::Elapsed
        )
    }

    /// Returns the order that a click on its head gives.
    pub(super) fn sort(self) -> Option<Sort> {
        match self {
            Self::Id => Some(Sort::Number),
            Self::Glyph | Self::State => Some(Sort::Status),
            Self::Tokens => Some(Sort::Tokens),
            Self::Cost => Some(Sort::Cost),
            Self::Quiet => Some(Sort::Quiet),
            Self::Elapsed => Some(Sort::Elapsed),
            Self::Task | Self::Kind | Self::Steps | Self::Badge | Self::Files => None,
        }
    }
}

/// The columns that there are: where each begins, from the left edge of the table, and how wide it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns(pub(super) Vec<(Column, usize, usize)>);

impl Columns {
    /// Divides a width.
    pub(super) fn of(width: usize, snapshot: &Snapshot) -> Self {
        let mut shown = ALL.to_vec();
        let fixed = Widths::of(snapshot);
        let room = |shown: &[Column]| {
            let taken: usize = shown.iter().map(|column| fixed.column(*column) + 1).sum();
            (width + 1).saturating_sub(SIGNS + taken)
        };
        for column in YIELDS {
            if room(&shown) >= LEAST.0 + LEAST.1 {
                break;
            }
            shown.retain(|other| *other != column);
        }
        let room = room(&shown);
        let state = (room / 2).min(MOST_STATE);
        let task = room - state;
        let mut x = SIGNS;
        let mut columns = Vec::new();
        for column in shown {
            let wide = match column {
                Column::Task => task,
                Column::State => state,
                _ => fixed.column(column),
            };
            columns.push((column, x, wide));
            x += wide + 1;
        }
        Self(columns)
    }

    /// Says whether there is such a column.
    pub(super) fn has(&self, column: Column) -> bool {
        self.0.iter().any(|(other, ..)| *other == column)
    }

    /// Returns the column at a distance from the left edge.
    pub(super) fn at(&self, x: usize) -> Option<Column> {
        self.0
            .iter()
            .find(|(_, from, wide)| (*from..from + wide).contains(&x))
            .map(|(column, ..)| *column)
    }
}

/// Widths of the columns that do not share what is left.
struct Widths {
    id: usize,
    kind: usize,
    cost: usize,
}

impl Widths {
    fn of(snapshot: &Snapshot) -> Self {
        let last = snapshot.rows.last().map(|row| row.id.to_string().len());
        let kinds = snapshot.rows.iter().map(|row| row.task.kind.0.len()).max();
        let budget = snapshot.rows.iter().filter_map(|row| row.task.budget).max();
        Self {
            id: last.unwrap_or_default().max(3),
            kind: kinds.unwrap_or_default().clamp(4, 9),
            cost: 8 + budget.map_or(0, |budget| (exact(budget).len() + 1).min(8)),
        }
    }

    fn column(&self, column: Column) -> usize {
        match column {
            Column::Id => self.id,
            Column::Glyph => 1,
            Column::Task | Column::State => 0,
            Column::Kind => self.kind,
            Column::Steps | Column::Quiet => 5,
            Column::Tokens => 6,
            Column::Cost => self.cost,
            Column::Elapsed | Column::Badge => 8,
            Column::Files => 22,
        }
    }
}

/// Returns what a row has in a column; clean text, not yet cut.
pub(super) fn cell(
    column: Column,
    row: &Row,
    now: Moment,
    place: Option<usize>,
    columns: &Columns,
    style: Style,
) -> String {
    match column {
        Column::Id => row.id.to_string(),
        Column::Glyph => style.glyph(row.status).to_owned(),
        Column::Task => why::head(&row.task.text),
        Column::Kind => why::head(&row.task.kind.0),
        Column::State => state(row, now, place, columns),
        Column::Steps if row.steps == 0 => String::new(),
        Column::Steps => thousands(row.steps),
        Column::Tokens if row.tokens.total() == 0 => String::new(),
        Column::Tokens => tokens(row.tokens.total()),
        Column::Cost => cost(row, style),
        Column::Quiet => why::quiet(row, now).map(age).unwrap_or_default(),
        Column::Elapsed => elapsed(row, now),
        Column::Badge => badge(row, style).to_owned(),
        Column::Files => why::files(row),
    }
}

/// The state with its reason; where that is too long, what the agent is in the middle of is worth more than the word
/// that the glyph says as well.
fn state(row: &Row, now: Moment, place: Option<usize>, columns: &Columns) -> String {
    let names_files = !columns.has(Column::Files);
    let whole = why::state(row, now, place, names_files);
    let room = columns.0.iter().find(|(column, ..)| *column == Column::State);
    let room = room.map_or(0, |(_, _, wide)| *wide);
    if cells(&whole) <= room {
        return whole;
    }
    why::reason(row, now, place).unwrap_or(whole)
}

/// Returns tokens in at most five cells: `9,999`, `12.3k`, `1.2M`.
fn tokens(number: u64) -> String {
    match number {
        0..10_000 => thousands(number),
        10_000..100_000 => format!("{}.{}k", number / 1000, number / 100 % 10),
        100_000..1_000_000 => format!("{}k", number / 1000),
        _ if number < 100_000_000 => format!("{}.{}M", number / 1_000_000, number / 100_000 % 10),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// Returns the cost of an agent, and its budget: `$0.4200/$1.00`, `?` for an unknown one, `-` for one that costs nothing.
fn cost(row: &Row, style: Style) -> String {
    let spent = cost_cell(row, style);
    match row.task.budget {
        Some(budget) => format!("{spent}/{}", exact(budget)),
        None => spent,
    }
}

/// Returns how long an agent has run: in whole seconds while it does, in tenths once it has ended.
pub(super) fn elapsed(row: &Row, now: Moment) -> String {
    let span = row.elapsed(now);
    if row.started.is_none() {
        return String::new();
    }
    if row.end.is_none() { duration(span) } else { tenths(span) }
}

/// Returns what is known of the agent's own tests; nothing for one that has not ended or never ran.
fn badge(row: &Row, style: Style) -> &'static str {
    let has_run = row.status.is_ended() && row.started.is_some();
    match (has_run, row.validated, style.unicode) {
        (false, _, _) => "",
        (true, None, _) => "untested",
        (true, Some(true), true) => "✓test",
        (true, Some(true), false) => "+test",
        (true, Some(false), true) => "✗test",
        (true, Some(false), false) => "xtest",
    }
}
