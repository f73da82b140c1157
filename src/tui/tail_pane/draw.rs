//! Draws the output of an agent.
//!
//! What may go here: where the parts are, words of the title, styles of the text. What may not: changing anything.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::Widget as _;

use super::TailPane;
use super::text::{self, Text};
use crate::core::{AgentId, Row};
use crate::tail::view::text::{Color16, Emphasis, Span, Style as TextStyle};
use crate::tail::view::{Page, SearchState};
use crate::tui::cells::{Part, put};
use crate::tui::frame::{self, inside, sentence};
use crate::tui::layout::Focus;
use crate::tui::search_line;
use crate::tui::theme::{Theme, Tone};
use crate::tui::world::World;
use crate::words::plain_text::{cells, one_line, thousands};
use crate::words::time_text::age;
use crate::words::why;

/// Silence of a running agent that is worth a word: shorter ones are ordinary.
const QUIET: std::time::Duration = std::time::Duration::from_secs(10);

/// What is said where nothing has been typed to search for.
const HINT: &str = "text, or a regular expression between / and /";

/// Where the parts are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    /// The text.
    pub(super) rows: Rect,
    /// A remark of the reader; empty without one.
    pub(super) note: Rect,
    /// The search line, over the last row of what is inside the border.
    pub(super) prompt: Rect,
}

impl Parts {
    /// Divides an area.
    pub(super) fn of(area: Rect, page: &Page) -> Self {
        let inner = inside(area);
        let note = u16::from(page.note.is_some() && inner.height > 1);
        let below = inner.height - note;
        let last = inner.bottom().saturating_sub(1);
        Self {
            rows: Rect { height: below, ..inner },
            note: Rect { y: inner.y + below, height: note, ..inner },
            prompt: Rect { y: last, height: inner.height.min(1), ..inner },
        }
    }
}

/// Draws the pane; returns the cell of the caret of the search line.
pub(super) fn pane(
    pane: &TailPane,
    area: Rect,
    buffer: &mut Buffer,
    world: &World,
) -> Option<Position> {
    let theme = world.theme;
    frame::border(world.focus == Focus::Tail, theme).render(area, buffer);
    let row = pane.id.and_then(|id| world.row(id));
    title(pane, row.map(AsRef::as_ref), area, buffer, world);
    for tab in tabs(area, pane.text(world), pane.id, world) {
        let tone = if tab.is_shown { Tone::Strong } else { Tone::Dim };
        put(buffer, (tab.area.x, tab.area.y), &tab.name, tab.area.width, theme.style(tone), theme);
    }
    let parts = Parts::of(area, &pane.page);
    if parts.rows.is_empty() {
        return None;
    }
    let is_known = pane.page.number == pane.number && pane.number > 0;
    // What could not be read may be there and may be full: the note says why nothing is shown.
    let is_unread = pane.page.size.is_none() && pane.page.note.is_some();
    match row {
        Some(row) if is_known && !is_unread && pane.page.size.unwrap_or(0) == 0 => {
            let text = pane.text(world).empty(row, pane.page.size.is_some(), world);
            sentence(&text, parts.rows, buffer, theme);
        }
        Some(_) => rows(&pane.page, parts.rows, buffer, theme),
        None if world.snapshot.rows.is_empty() => {
            sentence("what an agent prints will be here", parts.rows, buffer, theme);
        }
        None => sentence("select an agent to see what it prints", parts.rows, buffer, theme),
    }
    if let Some(note) = &pane.page.note {
        let at = (parts.note.x.saturating_add(1), parts.note.y);
        let width = parts.note.width.saturating_sub(2);
        if !parts.note.is_empty() {
            put(buffer, at, &one_line(note), width, theme.style(Tone::Warning), theme);
        }
    }
    let typing = pane.typing.as_ref()?;
    search_line::draw(typing, (HINT, ""), parts.prompt, buffer, theme)
}

/// What is shown, how large it is, whether it is followed, how the search stands, how long the agent has been silent.
fn title(pane: &TailPane, row: Option<&Row>, area: Rect, buffer: &mut Buffer, world: &World) {
    let theme = world.theme;
    let tone = if world.focus == Focus::Tail { Tone::Focus } else { Tone::Strong };
    let Some(row) = row else {
        frame::title(area, vec![Part::new(0, tone, "output")], buffer, theme);
        return;
    };
    let page = &pane.page;
    let mut parts = vec![Part::new(0, tone, format!("{} {}", row.id, pane.text(world).name()))];
    if let Some(size) = page.size.filter(|size| *size > 0) {
        parts.push(if why::is_large(size) {
            let mark = theme.words.warning();
            Part::new(1, Tone::Warning, format!("{mark} large: {}", why::size(size)))
        } else {
            Part::new(5, Tone::Dim, why::size(size))
        });
        parts.extend(place(page));
    }
    if let Some(search) = &page.search {
        let (tone, text) = hits(search);
        parts.push(Part::new(1, tone, text));
        parts.push(Part::new(4, Tone::Dim, format!("/{}", why::head(&search.needle))));
    }
    if let Some(quiet) = why::quiet(row, world.clock()).filter(|quiet| *quiet >= QUIET) {
        let tone = if row.is_marked() { Tone::Warning } else { Tone::Dim };
        parts.push(Part::new(3, tone, format!("quiet for {}", age(quiet))));
    }
    if pane.is_unwrapped {
        let from = page.column;
        let text =
            if from > 0 { format!("from column {}", from + 1) } else { "cut lines".to_owned() };
        parts.push(Part::new(6, Tone::Dim, text));
    }
    frame::title(area, parts, buffer, theme);
}

/// Where in the text the view stands.
fn place(page: &Page) -> Option<Part> {
    if page.follows {
        return Some(Part::new(2, Tone::Live, "follow"));
    }
    let new = page.new_lines;
    if new.count > 0 || new.has_more {
        let text = match (new.count, new.has_more) {
            (1, false) => "1 new line".to_owned(),
            (number, false) => format!("{} new lines", thousands(number)),
            (0, true) => "new lines".to_owned(),
            (number, true) => format!("over {} new lines", thousands(number)),
        };
        return Some(Part::new(2, Tone::Warning, text));
    }
    let is_whole = page.top == 0 && page.is_at_end;
    (!is_whole).then(|| Part::new(2, Tone::Plain, format!("{}%", page.percent)))
}

fn hits(search: &SearchState) -> (Tone, String) {
    if let Some(problem) = &search.problem {
        return (Tone::Warning, one_line(problem));
    }
    let total = thousands(search.total);
    let more = if search.is_done { "" } else { "+" };
    match (search.rank, search.total) {
        (Some(rank), _) => (Tone::Strong, format!("hit {} of {total}{more}", thousands(rank))),
        (None, 0) if search.is_done => (Tone::Warning, "no hits".to_owned()),
        (None, 0) => (Tone::Dim, "searching…".to_owned()),
        (None, 1) if search.is_done => (Tone::Strong, "1 hit".to_owned()),
        (None, _) => (Tone::Strong, format!("{total}{more} hits")),
    }
}

/// The name of a text on the lower border.
struct Tab {
    text: Text,
    name: String,
    area: Rect,
    is_shown: bool,
}

/// Returns the names of all texts where they fit; the shown one stands in brackets, so that no colour is needed.
fn tabs(area: Rect, shown: Text, id: Option<AgentId>, world: &World) -> Vec<Tab> {
    let row = id.and_then(|id| world.row(id));
    let mut tabs = Vec::new();
    if area.height < 3 || row.is_none() {
        return tabs;
    }
    let mut x = area.x.saturating_add(2);
    for text in Text::ALL {
        let name = text::tab(text, row.map(AsRef::as_ref));
        let is_shown = text == shown;
        let name = if is_shown { format!("[{name}]") } else { format!(" {name} ") };
        let width = u16::try_from(cells(&name)).unwrap_or(u16::MAX);
        if x.saturating_add(width).saturating_add(1) >= area.right() {
            break;
        }
        let place = Rect { x, y: area.bottom() - 1, width, height: 1 };
        tabs.push(Tab { text, name, area: place, is_shown });
        x += width;
    }
    tabs
}

/// Returns the text whose name is at a cell.
pub(super) fn tab_at(
    area: Rect,
    position: Position,
    shown: Text,
    id: Option<AgentId>,
    world: &World,
) -> Option<Text> {
    let tabs = tabs(area, shown, id, world);
    tabs.into_iter().find(|tab| tab.area.contains(position)).map(|tab| tab.text)
}

fn rows(page: &Page, area: Rect, buffer: &mut Buffer, theme: Theme) {
    for (row, y) in page.rows.iter().zip(area.y..area.bottom()) {
        let mut x = area.x;
        for span in &row.spans {
            let left = usize::from(area.right().saturating_sub(x));
            if left == 0 {
                break;
            }
            let text = theme.words.text(&span.text);
            x = buffer.set_stringn(x, y, text, left, style(span, theme)).0;
        }
    }
}

fn style(span: &Span, theme: Theme) -> Style {
    match span.emphasis {
        Emphasis::None => of_agent(span.style, theme),
        Emphasis::Hit => theme.style(Tone::Hit),
        Emphasis::CurrentHit => {
            theme.style(Tone::Hit).add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
        Emphasis::Mark => theme.style(Tone::Dim),
    }
}

/// What the agent asked for, in the terminal's own colours. Black and white text without a background of its own is
/// ordinary text, since nobody knows what it would stand on.
fn of_agent(style: TextStyle, theme: Theme) -> Style {
    let mut modifiers = Modifier::empty();
    for (is_on, modifier) in [
        (style.is_bold, Modifier::BOLD),
        (style.is_dim, Modifier::DIM),
        (style.is_italic, Modifier::ITALIC),
        (style.is_underlined, Modifier::UNDERLINED),
        (style.is_reversed, Modifier::REVERSED),
    ] {
        modifiers.set(modifier, is_on);
    }
    let mut drawn = Style::new();
    if theme.words.colour {
        match (style.foreground.map(Color16::number), style.background) {
            (Some(0 | 7 | 15), None) | (None, _) => {}
            (Some(8), None) => modifiers |= Modifier::DIM,
            (Some(number), _) => drawn = drawn.fg(Color::Indexed(number)),
        }
        if let Some(background) = style.background {
            drawn = drawn.bg(Color::Indexed(background.number()));
        }
    }
    drawn.add_modifier(modifiers)
}
