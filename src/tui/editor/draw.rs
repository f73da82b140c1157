//! How the editor looks.
//!
//! What may go here: rows, title, what stands in an empty draft. What may not: changes of the draft.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use unicode_segmentation::UnicodeSegmentation;

use super::check::{options_of, shown_line};
use super::text::Text;
use super::wrap::{Row, width_of};
use super::{Editor, Mode};
use crate::core::NanoUsd;
use crate::tui::frame::{self, inside};
use crate::tui::keymap::key_name;
use crate::tui::layout::Focus;
use crate::tui::theme::Tone;
use crate::tui::world::{Connection, World};
use crate::words::plain_text::{cells, count, cut_cells, one_line, wrapped};

/// Cells before the text: the mark of a line.
pub(super) const GUTTER: u16 = 2;
/// Cells after the text: the caret stands there at the end of a full row.
const EDGE: u16 = 1;
/// Why nothing can be typed into a fleet that has ended.
const READ_ONLY: &str = "this fleet has ended: R among the agents runs its tasks again";
/// Most rows that say what is wrong.
const PROBLEM_ROWS: usize = 3;
/// Most rows that say what to do.
const HINT_ROWS: usize = 12;

impl Editor {
    /// Works out rows, counts and remarks for a width inside the border.
    pub(crate) fn prepare(&mut self, width: u16, world: &World) {
        let width = usize::from(width.saturating_sub(GUTTER + EDGE)).max(1);
        self.look(world);
        let shown = match &self.sent {
            Some(sent) if self.text.is_empty() => &sent.text,
            _ => &self.text,
        };
        self.view.wrapped.update(shown.lines(), width, &self.attachments);
        let is_fresh = self.text.is_empty() && self.sent.is_none() && self.mode == Mode::New;
        let hint = match (world.is_read_only, is_fresh) {
            (true, _) => vec![READ_ONLY.to_owned()],
            (false, true) => self.hint(world),
            (false, false) => Vec::new(),
        };
        self.view.hint = fold(&hint, width, HINT_ROWS);
        let problem = self.problem();
        self.view.problem = fold(&problem, width, PROBLEM_ROWS);
    }

    /// Counts and checks the draft, and looks which kinds there are.
    fn look(&mut self, world: &World) {
        if self.kinds.is_empty() {
            self.kinds = world.maker.kinds();
        }
        let row = match self.mode {
            Mode::Change(id) => world.row(id),
            Mode::New => None,
        };
        let of_row = row.map(|row| options_of(&row.task));
        let options = of_row.as_ref().unwrap_or(&world.options);
        let (text, attachments) = (&self.text, &self.attachments);
        self.check.run(&*world.maker, options, world.now, || {
            (!text.is_blank()).then(|| attachments.expand(text.lines()))
        });
    }

    /// Returns the draft that is seen: the one on its way until another is typed.
    fn shown(&self) -> &Text {
        match &self.sent {
            Some(sent) if self.text.is_empty() => &sent.text,
            _ => &self.text,
        }
    }

    /// Brings the part that is seen in line with the text and the place that it has.
    pub(crate) fn refresh(&mut self, world: &World) {
        let inside = inside(world.panes.editor);
        let height = usize::from(inside.height);
        let below = self.view.problem.len().min(height.saturating_sub(1));
        self.view.height = height - below;
        let most = self.view.wrapped.height().saturating_sub(self.view.height);
        self.view.top = self.view.top.min(most);
        if self.view.follows {
            let (row, _) = self.view.wrapped.locate(self.shown().caret(), &self.attachments);
            let first = (row + 1).saturating_sub(self.view.height);
            self.view.top = self.view.top.clamp(first.min(row), row);
        }
    }

    /// Draws it; returns the cell of the caret.
    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer, world: &World) -> Option<Position> {
        let theme = world.theme;
        let mut block = frame::border(world.focus == Focus::Editor, theme)
            .title_top(self.title(area.width, world));
        let height = self.view.wrapped.height();
        if height > self.view.height && area.width > 20 {
            let last = (self.view.top + self.view.height).min(height);
            let text = format!(" {last}/{height} ");
            let line = Line::styled(text, theme.style(Tone::Dim)).right_aligned();
            block = block.title_bottom(line);
        }
        block.render(area, buffer);
        let inside = inside(area);
        if inside.is_empty() {
            return None;
        }
        if !world.is_read_only {
            self.draw_text(inside, buffer, world);
        }
        for (number, row) in (0..).zip(self.view.hint.iter().take(usize::from(inside.height))) {
            write(inside, number, row, Tone::Dim, buffer, world);
        }
        // Right under the text, which may not fill its rows.
        let room = usize::from(inside.height).saturating_sub(self.view.height);
        let below = (height - self.view.top.min(height)).min(self.view.height);
        let first = u16::try_from(below).unwrap_or(inside.height);
        for (number, row) in (first..).zip(self.view.problem.iter().take(room)) {
            write(inside, number, row, Tone::Bad, buffer, world);
        }
        if self.is_waiting() || world.is_read_only { None } else { self.caret(inside) }
    }

    fn caret(&self, inside: Rect) -> Option<Position> {
        let (row, cell) = self.at();
        let row = row.checked_sub(self.view.top).filter(|row| *row < self.view.height)?;
        let x = inside.x + GUTTER + u16::try_from(cell).ok()?;
        let y = inside.y + u16::try_from(row).ok()?;
        Some(Position::new(x.min(inside.right().checked_sub(1)?), y))
    }

    fn draw_text(&self, inside: Rect, buffer: &mut Buffer, world: &World) {
        let shown = self.shown();
        let wrong: Vec<usize> = self
            .check
            .problems
            .iter()
            .filter_map(|problem| problem.line)
            .map(|line| shown_line(shown.lines(), &self.attachments, line))
            .collect();
        let rows = self.view.wrapped.rows(self.view.top).take(self.view.height);
        for (y, row) in (inside.y..).zip(rows) {
            let is_wrong = wrong.contains(&row.line);
            let (mark, tone) = match (is_wrong, row.is_first) {
                (true, true) => ("!", Tone::Bad),
                (false, true) if row.line == 0 => (prompt(world), Tone::Focus),
                _ => (" ", Tone::Plain),
            };
            let style = world.theme.style(tone);
            buffer.set_stringn(inside.x, y, mark, usize::from(inside.width), style);
            let line = shown.lines().get(row.line).map_or("", |line| line.trim());
            let separates = self.check.count > 1 && matches!(line, "---" | ";;");
            let tone = if self.is_waiting() || separates { Tone::Dim } else { Tone::Plain };
            self.draw_row(inside, y, row, tone, buffer, world);
        }
    }

    fn draw_row(
        &self,
        inside: Rect,
        y: u16,
        row: Row<'_>,
        tone: Tone,
        buffer: &mut Buffer,
        world: &World,
    ) {
        let mut x = inside.x.saturating_add(GUTTER);
        let mut column = row.column;
        let selected = self.shown().selected();
        for grapheme in row.text.graphemes(true) {
            let room = usize::from(inside.right().saturating_sub(x));
            let is_selected = selected.is_some_and(|(start, end)| {
                start <= (row.line, column) && (row.line, column) < end
            });
            let (text, tone) = self.cell_text(grapheme, room, tone, world);
            if cells(&text) > room {
                break;
            }
            let mut style = world.theme.style(tone);
            if is_selected {
                style = style.patch(world.theme.style(Tone::Selected));
            }
            (x, _) = buffer.set_stringn(x, y, &text, room, style);
            column += grapheme.chars().count();
        }
    }

    /// Returns what is shown for a grapheme.
    fn cell_text(&self, grapheme: &str, room: usize, tone: Tone, world: &World) -> (String, Tone) {
        let first = grapheme.chars().next().unwrap_or(' ');
        if let Some(label) = self.attachments.label(first) {
            let tone = if tone == Tone::Dim { tone } else { Tone::Key };
            return (cut_cells(label, room), tone);
        }
        let width = width_of(grapheme, room, &self.attachments);
        if grapheme == "\t" {
            return (" ".repeat(width), tone);
        }
        if width == 0 || first.is_control() {
            return (String::new(), tone);
        }
        if !world.theme.words.unicode && !grapheme.is_ascii() {
            return ("?".repeat(width), tone);
        }
        (grapheme.to_owned(), tone)
    }

    /// Returns what Enter will do.
    fn title(&self, width: u16, world: &World) -> Line<'static> {
        let most = usize::from(width.saturating_sub(4));
        let (head, rest) = self.title_words(world);
        let dot = world.theme.words.dot();
        let mut text = String::new();
        for part in rest {
            let longer = format!("{text}{dot}{part}");
            if cells(&head) + cells(&longer) > most {
                break;
            }
            text = longer;
        }
        let tone = if world.focus == Focus::Editor { Tone::Focus } else { Tone::Plain };
        let head = cut_cells(&head, most);
        let strong = world.theme.style(tone).patch(world.theme.style(Tone::Strong));
        Line::from(vec![
            Span::raw(" "),
            Span::styled(world.theme.words.text(&head), strong),
            Span::styled(world.theme.words.text(&text), world.theme.style(tone)),
            Span::raw(" "),
        ])
    }

    fn title_words(&self, world: &World) -> (String, Vec<String>) {
        if world.is_read_only {
            return ("task editor".to_owned(), vec!["read only".to_owned()]);
        }
        if let Some(sent) = &self.sent {
            let what = match sent.mode {
                Mode::New => format!("sending {}", count(sent.count, "task")),
                Mode::Change(id) => format!("saving {id}"),
            };
            return (what, Vec::new());
        }
        if let Mode::Change(id) = self.mode {
            let (save, leave) = (key_name!(Editor, Dispatch), key_name!(Editor, ToAgents));
            let ways = [format!("{save} saves"), format!("{leave} gives up")];
            return (format!("changing {id}"), ways.into());
        }
        let head = match self.check.count {
            0 => "new task".to_owned(),
            many => count(many, "task"),
        };
        (head, self.conditions(world))
    }

    /// Returns under which conditions tasks are dispatched, the most important first.
    fn conditions(&self, world: &World) -> Vec<String> {
        let options = &world.options;
        let header = &world.snapshot.header;
        let is_up = world.connection == Connection::Up;
        let kind = self.kinds.iter().find(|kind| kind.name == options.kind);
        let mut parts = Vec::new();
        parts.push(match (options.kind.as_str(), kind) {
            ("", _) => "no agent program".to_owned(),
            (name, Some(kind)) if !kind.is_installed => {
                format!("{} (not installed)", one_line(name))
            }
            (name, _) => one_line(name),
        });
        parts.extend(options.model.as_deref().map(one_line));
        match header.cap {
            Some(cap) if is_up => parts.push(format!("cap ${}", cap.to_exact())),
            None if is_up && kind.is_some_and(|kind| kind.pays) => parts.push("no cap".to_owned()),
            _ => {}
        }
        // Before the cap, which it says something of, yields where there is no room for both.
        let counts_as = kind.and_then(|kind| kind.counts_as);
        let counted = |amount: NanoUsd| {
            format!(
                "cost not told: counts as ${} each",
                options.budget.unwrap_or(amount).to_exact()
            )
        };
        parts.extend(counts_as.map(counted));
        let budget = options.budget.filter(|_| counts_as.is_none());
        parts.extend(budget.map(|budget| format!("${} each", budget.to_exact())));
        match header.max_parallel {
            Some(most) if is_up => parts.push(format!("{most} at once")),
            _ => {}
        }
        let flags = [
            (options.read_only, "read only"),
            (options.allow_shell, "shell"),
            (options.allow_web, "web"),
        ];
        parts
            .extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
        parts
    }

    /// Returns what is wrong, and where.
    fn problem(&self) -> Vec<String> {
        let problems = &self.check.problems;
        let Some(first) = problems.first() else { return Vec::new() };
        let sentence = one_line(&first.sentence);
        let is_long = self.text.lines().len() > 1 || problems.len() > 1;
        let place = match first.line {
            Some(line) if is_long => format!("line {line}: "),
            _ => String::new(),
        };
        let more = match problems.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        vec![format!("{place}{sentence}{more}")]
    }
}

/// Breaks texts into rows of a width, at most so many.
fn fold(texts: &[String], width: usize, most: usize) -> Vec<String> {
    let mut rows: Vec<String> = texts.iter().flat_map(|text| wrapped(text, width)).collect();
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.last_mut() {
            *last = cut_cells(&format!("{last} …"), width);
        }
    }
    rows
}

/// Writes a remark into a row, in line with the text.
fn write(inside: Rect, row: u16, text: &str, tone: Tone, buffer: &mut Buffer, world: &World) {
    let room = usize::from(inside.width.saturating_sub(GUTTER));
    let y = inside.y.saturating_add(row);
    if room == 0 || y >= inside.bottom() {
        return;
    }
    let text = world.theme.words.text(&cut_cells(text, room));
    buffer.set_stringn(inside.x + GUTTER, y, text, room, world.theme.style(tone));
}

fn prompt(world: &World) -> &'static str {
    if world.theme.words.unicode { "›" } else { ">" }
}
