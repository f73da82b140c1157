//! The agents as bars over one common span of time: when each waited, ran and ended.
//!
//! What may go here: which cells a bar takes, the axis, drawing both. What may not: which lines there are and which are in
//! view, which is the same as in the table.

use std::collections::HashMap;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Agents;
use super::columns::elapsed;
use super::draw::{Parts, batch_line, signs};
use super::order::Line;
use crate::core::{BatchId, Moment, Outcome, Row, Status};
use crate::tui::cells::put;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::cells;
use crate::words::style::Style as Words;
use crate::words::time_text::duration;
use crate::words::why;

/// Cells of the sign before the selected row and of the mark.
const SIGNS: u16 = 2;
/// Fewest and most cells of a task.
const TASK: (u16, u16) = (8, 34);
/// Cells of a time at the end of a line, and the width from which on there is one.
const TIME: (u16, u16) = (7, 60);
/// Fewest cells from one label of the axis to the next.
const APART: usize = 9;
/// Steps of the axis, in seconds: those that people count in.
const STEPS: [u64; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200,
    86_400, 172_800, 604_800, 2_592_000,
];

/// The time that all bars are drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Moment,
    pub(super) to: Moment,
}

/// Cells of one bar, from the left edge of the span; the first cell of each part and the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bar {
    /// The time in the queue.
    pub(super) queued: (usize, usize),
    /// The time from its start on.
    pub(super) ran: (usize, usize),
}

impl Span {
    /// Returns the span from the first moment in a queue to the last end, or to now if anything has not ended.
    fn of<'a>(rows: impl Iterator<Item = (&'a Row, Moment)>, now: Moment) -> Option<Self> {
        let ends = rows.map(|(row, queued)| (queued, end_of(row, queued, now)));
        let span = ends.reduce(|(from, to), (queued, end)| (from.min(queued), to.max(end)));
        span.map(|(from, to)| Self { from, to })
    }

    fn length(self) -> u128 {
        self.to.since(self.from).as_millis().max(1)
    }

    /// Returns the cell of a moment, of so many.
    fn cell(self, moment: Moment, width: usize) -> usize {
        let wide = u128::try_from(width).unwrap_or(u128::MAX);
        let cell = moment.since(self.from).as_millis() * wide / self.length();
        usize::try_from(cell).unwrap_or(usize::MAX).min(width.saturating_sub(1))
    }

    /// Returns the first cell after a moment.
    fn cell_after(self, moment: Moment, width: usize) -> usize {
        let wide = u128::try_from(width).unwrap_or(u128::MAX);
        let cell = (moment.since(self.from).as_millis() * wide).div_ceil(self.length());
        usize::try_from(cell).unwrap_or(usize::MAX).min(width)
    }

    /// Returns the cells of an agent's bar, of so many: one at least, whatever the agent has come to. A bar without an end
    /// ends now.
    pub(super) fn bar(self, row: &Row, queued: Moment, now: Moment, width: usize) -> Bar {
        let end = end_of(row, queued, now);
        let begins = self.cell(queued, width);
        let least = |from: usize| self.cell_after(end, width).max(from + 1).min(width);
        if let Some(started) = row.started {
            let from = self.cell(started, width);
            return Bar { queued: (begins.min(from), from), ran: (from, least(from)) };
        }
        let to = least(begins);
        Bar { queued: (begins, to), ran: (to, to) }
    }

    /// Returns the labels of the axis with the cells at which they begin: round times, each where it is, and at the right
    /// edge the whole time, which goes before a round one that is in its way.
    pub(super) fn axis(self, width: usize) -> Vec<(usize, String)> {
        let wide = u128::try_from(width).unwrap_or(u128::MAX);
        let apart = u128::try_from(APART).unwrap_or(u128::MAX);
        let step = STEPS
            .into_iter()
            .map(Duration::from_secs)
            .find(|step| step.as_millis() * wide / self.length() >= apart)
            .unwrap_or(Duration::MAX);
        let mut labels = vec![(0, duration(Duration::ZERO))];
        for number in 1..u32::try_from(width).unwrap_or(u32::MAX) {
            let after = step.saturating_mul(number);
            let moment = self.from.after(after);
            let at = self.cell(moment, width);
            let label = duration(after);
            if moment > self.to || at + cells(&label) > width {
                break;
            }
            labels.push((at, label));
        }
        let whole = duration(self.to.since(self.from));
        let at = width.checked_sub(cells(&whole)).filter(|at| *at > 2);
        if let Some(at) = at.filter(|_| self.length() >= 1000) {
            labels.retain(|(from, label)| *from == 0 || from + cells(label) < at);
            labels.push((at, whole));
        }
        labels
    }
}

/// Returns when an agent's time is over, as far as it is known now.
fn end_of(row: &Row, queued: Moment, now: Moment) -> Moment {
    match (row.started, &row.end) {
        (Some(started), _) => started.after(row.elapsed(now)),
        (None, Some(end)) => end.at.max(queued),
        (None, None) => now.max(queued),
    }
}

/// Where the parts of a line are, from the left edge of the list.
struct Columns {
    id: u16,
    task: (u16, u16),
    bar: (u16, u16),
    /// Zero cells where there is no room for it.
    time: (u16, u16),
}

impl Columns {
    fn of(width: u16, id: u16) -> Self {
        let time = if width >= TIME.1 { TIME.0 } else { 0 };
        let task_at = SIGNS + id + 3;
        let left = width.saturating_sub(task_at);
        let task = (width / 3).clamp(TASK.0, TASK.1).min(left);
        let bar_at = task_at + task + 1;
        let beside = if time > 0 { time + 1 } else { 0 };
        let bar = width.saturating_sub(bar_at + beside);
        Self { id, task: (task_at, task), bar: (bar_at, bar), time: (width - time, time) }
    }
}

/// When each batch was queued.
type Queued<'a> = HashMap<&'a BatchId, Moment>;

/// Draws the axis and the lines in view.
pub(super) fn draw(agents: &Agents, parts: Parts, buffer: &mut Buffer, world: &World) {
    let snapshot = &world.snapshot;
    let queued: Queued<'_> =
        snapshot.batches.iter().map(|view| (&view.batch.id, view.batch.queued)).collect();
    let rows = agents.order.lines.iter().filter_map(|line| match line {
        Line::Agent(place) => snapshot.rows.get(*place),
        Line::Batch { .. } => None,
    });
    let now = world.clock();
    let Some(span) = Span::of(rows.map(|row| (row.as_ref(), queued_at(row, &queued))), now) else {
        // Nothing but folded sets.
        return lines(agents, parts.list, buffer, world, |_, _| ());
    };
    // While a run is replayed bars grow within all of its time.
    let span = world.replay.map_or(span, |replay| Span {
        from: span.from.min(replay.from),
        to: span.to.max(replay.to),
    });
    let id = snapshot.rows.last().map_or(3, |row| cells(&row.id.to_string()).max(3));
    let columns = Columns::of(parts.list.width, u16::try_from(id).unwrap_or(3));
    axis(span, parts.head, buffer, world, &columns);
    lines(agents, parts.list, buffer, world, |row, (agent, buffer)| {
        let is_selected = agents.selected() == Some(agent.id);
        let is_reversed = is_selected && world.focus == crate::tui::layout::Focus::Agents;
        let queued = queued_at(agent, &queued);
        agent_line((agent, queued), span, row, buffer, (world, &columns, is_reversed));
        signs(agents, is_selected, Some(agent.id), row, buffer, world);
    });
}

fn queued_at(row: &Row, queued: &Queued<'_>) -> Moment {
    queued.get(&row.batch).copied().or(row.started).unwrap_or_default()
}

fn lines(
    agents: &Agents,
    list: Rect,
    buffer: &mut Buffer,
    world: &World,
    mut draw: impl FnMut(Rect, (&Row, &mut Buffer)),
) {
    let visible = agents.order.lines.iter().skip(agents.offset);
    for (line, y) in visible.zip(list.y..list.bottom()) {
        let row = Rect { y, height: 1, ..list };
        match line {
            Line::Agent(place) => {
                if let Some(agent) = world.snapshot.rows.get(*place) {
                    draw(row, (agent, buffer));
                }
            }
            Line::Batch { place, is_folded } => {
                batch_line(agents, (*place, *is_folded), row, buffer, world);
            }
        }
    }
}

fn axis(span: Span, head: Rect, buffer: &mut Buffer, world: &World, columns: &Columns) {
    if head.is_empty() {
        return;
    }
    let theme = world.theme;
    let dim = theme.style(Tone::Dim);
    put(buffer, (head.x + columns.task.0, head.y), "task", columns.task.1, dim, theme);
    for (at, label) in span.axis(columns.bar.1.into()) {
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        let x = head.x.saturating_add(columns.bar.0).saturating_add(at);
        put(buffer, (x, head.y), &label, columns.bar.1.saturating_sub(at), dim, theme);
    }
    if columns.time.1 > 0 {
        let x = head.x + columns.time.0 + columns.time.1.saturating_sub(4);
        put(buffer, (x, head.y), "time", 4, dim, theme);
    }
}

fn agent_line(
    (agent, queued): (&Row, Moment),
    span: Span,
    row: Rect,
    buffer: &mut Buffer,
    (world, columns, is_reversed): (&World, &Columns, bool),
) {
    let theme = world.theme;
    let now = world.clock();
    // Colours beneath a reversed row would be a patchwork.
    let style = |style: Style| if is_reversed { Style::new() } else { style };
    let status =
        if agent.is_marked() { theme.style(Tone::Warning) } else { theme.status(agent.status) };
    let mut write = |at: u16, text: &str, width: u16, style: Style| {
        let left = row.width.saturating_sub(at).min(width);
        put(buffer, (row.x + at, row.y), text, left, style, theme);
    };
    let id = agent.id.to_string();
    let shift = columns.id.saturating_sub(u16::try_from(cells(&id)).unwrap_or(u16::MAX));
    write(SIGNS + shift, &id, columns.id, style(theme.style(Tone::Dim)));
    write(SIGNS + columns.id + 1, theme.words.glyph(agent.status), 1, style(status));
    write(columns.task.0, &why::head(&agent.task.text), columns.task.1, style(Style::new()));
    let bar = span.bar(agent, queued, now, columns.bar.1.into());
    let fills = [
        (bar.queued, waiting(theme.words), theme.style(Tone::Dim)),
        (bar.ran, filled(agent.status, theme.words), status),
    ];
    for ((from, to), fill, look) in fills {
        let text = fill.repeat(to.saturating_sub(from));
        let at = columns.bar.0.saturating_add(u16::try_from(from).unwrap_or(u16::MAX));
        write(at, &text, columns.bar.1, style(look));
    }
    if columns.time.1 > 0 {
        let text = elapsed(agent, now);
        let shift = columns.time.1.saturating_sub(u16::try_from(cells(&text)).unwrap_or(u16::MAX));
        write(columns.time.0 + shift, &text, columns.time.1, style(theme.style(Tone::Dim)));
    }
}

/// What the time in the queue is drawn with.
fn waiting(words: Words) -> &'static str {
    if words.unicode { "·" } else { "." }
}

/// What the time from the start on is drawn with: it tells what is done, what runs and what is neither without colours.
fn filled(status: Status, words: Words) -> &'static str {
    match (status, words.unicode) {
        (Status::Ended(Outcome::Done), true) => "█",
        (Status::Ended(Outcome::Done), false) => "=",
        (Status::Ended(_), true) => "▒",
        (Status::Ended(_), false) => "x",
        (_, true) => "▓",
        (_, false) => ">",
    }
}

#[cfg(test)]
mod tests;
