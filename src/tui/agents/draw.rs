//! Draws the table.
//!
//! What may go here: where its parts are, and their styles. What may not: changing anything.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget as _;

use super::columns::{Column, Columns, SIGNS, cell};
use super::order::{Filter, Line};
use super::{Agents, Cursor, gantt};
use crate::core::{AgentId, NanoUsd, Row};
use crate::tui::cells::{Part, fitting, put, put_parts};
use crate::tui::frame::{self, inside};
use crate::tui::keymap::key_name;
use crate::tui::layout::{Arrangement, Focus};
use crate::tui::search_line;
use crate::tui::theme::Tone;
use crate::tui::world::{Connection, World};
use crate::words::plain_text::{cells, count};
use crate::words::why;

/// Rows inside the border from which on columns have heads.
const WITH_HEAD: u16 = 4;
/// Rows inside the border from which on the whole reason has one row, and two.
const WITH_REASON: (u16, u16) = (5, 11);

/// Where the parts of the table are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// Heads of the columns; empty on a low terminal.
    pub(super) head: Rect,
    /// The lines.
    pub(super) list: Rect,
    /// The whole reason of the selected one; empty on a low terminal.
    pub(super) reason: Rect,
    /// The search line, over the last row of what is inside the border.
    pub(super) prompt: Rect,
}

impl Parts {
    /// Divides an area.
    pub(super) fn of(area: Rect) -> Self {
        let inner = inside(area);
        let head = u16::from(inner.height >= WITH_HEAD);
        let reason =
            u16::from(inner.height >= WITH_REASON.0) + u16::from(inner.height >= WITH_REASON.1);
        let below = inner.height - reason;
        Self {
            head: Rect { height: head, ..inner },
            list: Rect { y: inner.y + head, height: below - head, ..inner },
            reason: Rect { y: inner.y + below, height: reason, ..inner },
            prompt: Rect {
                y: inner.bottom().saturating_sub(1),
                height: inner.height.min(1),
                ..inner
            },
        }
    }
}

/// Draws the table; returns the cell of the caret of the search line.
pub(super) fn table(
    agents: &Agents,
    area: Rect,
    buffer: &mut Buffer,
    world: &World,
) -> Option<Position> {
    let theme = world.theme;
    frame::border(world.focus == Focus::Agents, theme).render(area, buffer);
    title(agents, area, buffer, world);
    let parts = Parts::of(area);
    if parts.list.is_empty() {
        return None;
    }
    if agents.order.lines.is_empty() {
        empty(agents, parts, buffer, world);
    } else {
        if agents.is_gantt {
            gantt::draw(agents, parts, buffer, world);
        } else {
            let columns = Columns::of(usize::from(parts.list.width), &world.snapshot);
            head(agents, parts.head, buffer, world, &columns);
            lines(agents, parts.list, buffer, world, &columns);
        }
        reason(agents, parts.reason, buffer, world);
        place(agents, area, parts.list, buffer, world);
    }
    agents.typing.as_ref()?;
    let found = format!("{} of {}", agents.order.hits, world.snapshot.rows.len());
    search_line::draw(&agents.settings.search, ("", &found), parts.prompt, buffer, theme)
}

/// Name, how many, and everything that decides what is seen.
fn title(agents: &Agents, area: Rect, buffer: &mut Buffer, world: &World) {
    let settings = &agents.settings;
    let all = world.snapshot.rows.len();
    let tone = if world.focus == Focus::Agents { Tone::Focus } else { Tone::Strong };
    let number = if settings.narrows() {
        format!("{} of {all}", agents.order.hits)
    } else {
        all.to_string()
    };
    let mut parts = vec![Part::new(0, tone, format!("agents {number}"))];
    if settings.filter != Filter::All {
        parts.push(Part::new(1, Tone::Warning, settings.filter.name()));
    }
    if !settings.search.is_empty() && agents.typing.is_none() {
        parts.push(Part::new(1, Tone::Warning, format!("/{}", why::head(&settings.search))));
    }
    if !agents.marks.is_empty() {
        parts.push(Part::new(1, Tone::Strong, format!("{} marked", agents.marks.len())));
    }
    if all > 1 {
        parts.push(Part::new(2, Tone::Dim, settings.sort.name()));
    }
    frame::title(area, parts, buffer, world.theme);
}

/// Where the view stands, on the border, when not all lines are in view.
fn place(agents: &Agents, area: Rect, list: Rect, buffer: &mut Buffer, world: &World) {
    let lines = agents.order.lines.len();
    let height = usize::from(list.height);
    if lines <= height {
        return;
    }
    let last = (agents.offset + height).min(lines);
    let text = format!(" {} to {last} of {lines} ", agents.offset + 1);
    let wide = u16::try_from(cells(&text)).unwrap_or(u16::MAX);
    if wide + 4 > area.width {
        return;
    }
    let at = (area.right() - wide - 2, area.bottom() - 1);
    put(buffer, at, &text, wide, world.theme.style(Tone::Dim), world.theme);
}

fn head(agents: &Agents, row: Rect, buffer: &mut Buffer, world: &World, columns: &Columns) {
    if row.is_empty() {
        return;
    }
    let theme = world.theme;
    for (column, from, wide) in &columns.0 {
        let is_sorted = column.sort() == Some(agents.settings.sort) && *column != Column::Glyph;
        let tone = if is_sorted { Tone::Strong } else { Tone::Dim };
        let name = column.head();
        put_cell(buffer, row, (*column, *from, *wide), name, theme.style(tone), world);
    }
}

/// Writes into one column of a row; numbers end at its end.
fn put_cell(
    buffer: &mut Buffer,
    row: Rect,
    (column, from, wide): (Column, usize, usize),
    text: &str,
    style: Style,
    world: &World,
) {
    let shift = if column.is_number() { wide.saturating_sub(cells(text)) } else { 0 };
    let from = u16::try_from(from + shift).unwrap_or(u16::MAX);
    let width = u16::try_from(wide).unwrap_or(u16::MAX);
    let left = row.width.saturating_sub(from).min(width);
    if left > 0 {
        put(buffer, (row.x + from, row.y), text, left, style, world.theme);
    }
}

fn lines(agents: &Agents, list: Rect, buffer: &mut Buffer, world: &World, columns: &Columns) {
    let visible = agents.order.lines.iter().skip(agents.offset);
    for (line, y) in visible.zip(list.y..list.bottom()) {
        let row = Rect { y, height: 1, ..list };
        match line {
            Line::Agent(place) => {
                if let Some(agent) = world.snapshot.rows.get(*place) {
                    agent_line(agents, agent, row, buffer, world, columns);
                }
            }
            Line::Batch { place, is_folded } => {
                batch_line(agents, (*place, *is_folded), row, buffer, world);
            }
        }
    }
}

fn agent_line(
    agents: &Agents,
    agent: &Row,
    row: Rect,
    buffer: &mut Buffer,
    world: &World,
    columns: &Columns,
) {
    let theme = world.theme;
    let is_selected = agents.selected() == Some(agent.id);
    let is_reversed = is_selected && world.focus == Focus::Agents;
    let now = world.clock();
    let queue_place = agents.order.queue.get(&agent.id).copied();
    for (column, from, wide) in &columns.0 {
        let text = cell(*column, agent, now, queue_place, columns, theme.words);
        // Colours beneath a reversed row would be a patchwork.
        let style = if is_reversed { Style::new() } else { cell_style(*column, agent, world) };
        put_cell(buffer, row, (*column, *from, *wide), &text, style, world);
    }
    signs(agents, is_selected, Some(agent.id), row, buffer, world);
}

fn cell_style(column: Column, agent: &Row, world: &World) -> Style {
    let theme = world.theme;
    let status = theme.status(agent.status);
    match column {
        Column::Glyph | Column::State if agent.is_marked() => theme.style(Tone::Warning),
        Column::Glyph | Column::State => status,
        Column::Task => Style::new(),
        Column::Badge if agent.validated == Some(true) => theme.style(Tone::Good),
        Column::Badge if agent.validated == Some(false) => theme.style(Tone::Bad),
        Column::Cost if agent.cost.is_none_or(|cost| cost > NanoUsd::ZERO) => {
            theme.style(Tone::Money)
        }
        Column::Id
        | Column::Kind
        | Column::Steps
        | Column::Tokens
        | Column::Cost
        | Column::Quiet
        | Column::Elapsed
        | Column::Badge
        | Column::Files => theme.style(Tone::Dim),
    }
}

/// The sign before the selected line, the mark, and the style of a selected line.
pub(super) fn signs(
    agents: &Agents,
    is_selected: bool,
    id: Option<AgentId>,
    row: Rect,
    buffer: &mut Buffer,
    world: &World,
) {
    let theme = world.theme;
    if id.is_some_and(|id| agents.marks.contains_key(&id)) && row.width > 1 {
        let mark = if theme.words.unicode { "◆" } else { "=" };
        put(buffer, (row.x + 1, row.y), mark, 1, theme.style(Tone::Strong), theme);
    }
    if is_selected {
        let has_focus = world.focus == Focus::Agents;
        let tone = if has_focus { Tone::Selected } else { Tone::SelectedElsewhere };
        buffer.set_style(row, theme.style(tone));
        put(buffer, (row.x, row.y), theme.cursor(), 1, theme.style(Tone::Focus), theme);
    }
}

/// `▾ set 2 · 3 of 5 ended · $0.4200 · origin`.
pub(super) fn batch_line(
    agents: &Agents,
    (place, is_folded): (usize, bool),
    row: Rect,
    buffer: &mut Buffer,
    world: &World,
) {
    let theme = world.theme;
    let Some(view) = world.snapshot.batches.get(place) else { return };
    let rows: Vec<&Row> =
        view.batch.agents.iter().filter_map(|id| world.row(*id)).map(AsRef::as_ref).collect();
    let ended = rows.iter().filter(|row| row.status.is_ended()).count();
    let cost: NanoUsd = rows.iter().filter_map(|row| row.cost).sum();
    let unknown = rows.iter().filter(|row| row.cost.is_none()).count();
    let needy = rows.iter().filter(|row| why::needs_owner(row)).count();
    let all = rows.len();
    let number = if ended == all { count(all, "agent") } else { format!("{ended} of {all} ended") };
    let sign = match (theme.words.unicode, is_folded) {
        // Only a set that has ended folds.
        (_, false) if ended < all => " ",
        (true, true) => "▸",
        (true, false) => "▾",
        (false, true) => "+",
        (false, false) => "v",
    };
    let mut parts = vec![
        Part::new(0, Tone::Strong, format!("{sign} {}", view.batch.tag())),
        Part::new(1, Tone::Dim, number),
    ];
    if needy > 0 {
        let verb = if needy == 1 { "needs" } else { "need" };
        parts.push(Part::new(1, Tone::Warning, format!("{needy} {verb} you")));
    }
    if cost > NanoUsd::ZERO || unknown > 0 {
        let text = if unknown > 0 {
            format!("{}{cost} ({unknown} ?)", theme.words.at_least())
        } else {
            cost.to_string()
        };
        parts.push(Part::new(2, Tone::Money, text));
    }
    let origin = view.batch.origin.as_deref().map(why::head).unwrap_or_default();
    parts.push(Part::new(3, Tone::Dim, origin));
    let from = u16::try_from(SIGNS).unwrap_or_default().min(row.width);
    let inside = Rect { x: row.x + from, width: row.width - from, ..row };
    put_parts(buffer, inside, &fitting(parts, usize::from(inside.width), 3), theme);
    let is_selected = agents.cursor == Some(Cursor::Batch(view.batch.id.clone()));
    signs(agents, is_selected, None, row, buffer, world);
}

/// The whole reason of the selected agent, below the lines.
fn reason(agents: &Agents, area: Rect, buffer: &mut Buffer, world: &World) {
    let Some(agent) = agents.selected().and_then(|id| world.row(id)) else { return };
    if area.is_empty() {
        return;
    }
    let place = agents.order.queue.get(&agent.id).copied();
    let header = &world.snapshot.header;
    let sentence = why::sentence(agent, header, world.clock(), place, &world.zone);
    frame::sentence(&format!("{} {sentence}", agent.id), area, buffer, world.theme);
}

/// A sentence where there is nothing to show.
fn empty(agents: &Agents, parts: Parts, buffer: &mut Buffer, world: &World) {
    let settings = &agents.settings;
    let text = if settings.narrows() && !world.snapshot.rows.is_empty() {
        let filter = match settings.filter {
            Filter::All => String::new(),
            filter => format!(
                " with the filter \"{}\" ({} for another)",
                filter.name(),
                key_name!(Agents, Filter)
            ),
        };
        let search = if settings.search.is_empty() {
            String::new()
        } else {
            format!(
                " with /{} ({} ends the search)",
                why::head(&settings.search),
                key_name!(Agents, Back)
            )
        };
        format!("no agent to show{filter}{search}")
    } else {
        match &world.connection {
            Connection::Waiting(what) => format!("{}…", why::head(what)),
            Connection::Failed(why) => why::head(why),
            Connection::Up if world.panes.arrangement == Arrangement::Single => {
                format!(
                    "no agents yet: press {}, type a task, press {}{}",
                    key_name!(Agents, ToEditor),
                    key_name!(Editor, Dispatch),
                    others(world)
                )
            }
            Connection::Up => format!(
                "no agents yet: type a task above and press {}{}",
                key_name!(Editor, Dispatch),
                others(world)
            ),
        }
    };
    frame::sentence(&text, parts.list, buffer, world.theme);
}

/// Says how to get to other fleets, where there are any to be looked at.
fn others(world: &World) -> String {
    let fleets = key_name!(Everywhere, Fleets);
    if world.has_others { format!("; {fleets} shows earlier fleets") } else { String::new() }
}
