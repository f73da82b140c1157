//! The options of what is typed: which program, where, how much.
//!
//! What may go here: keys and lines of that box. What may not: rules about tasks; the task maker has them.

mod fields;
mod words;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::{Line, Span};

use self::fields::{Field, variables};
use super::Content;
use super::entry::Entry;
use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use crate::tui::keymap::{Action, Place};
use crate::tui::session::{KindInfo, TaskOptions};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{cells, cut_cells, fit, one_line};

/// Cells that its lines want.
const WIDTH: usize = 66;
/// Cells of the mark and the name before a value.
const NAMES: usize = 15;

/// Kind of tasks that bring their own command line.
const COMMAND: &str = "command";

/// The box.
#[derive(Debug)]
pub(crate) struct OptionsModal {
    /// The options as they were, with switches and the kind as they are now.
    options: TaskOptions,
    entries: Vec<(Field, Entry)>,
    kinds: Vec<KindInfo>,
    selected: usize,
    /// Enter was refused: what is wrong is shown also in the selected field.
    is_refused: bool,
    sheet: Sheet,
}

impl OptionsModal {
    pub(super) fn new(world: &World) -> Self {
        let options = world.options.clone();
        let typed = Field::ALL.into_iter().filter(|field| field.is_typed());
        let entries = typed.map(|field| (field, field.entry(&options))).collect();
        let kinds = world.maker.kinds();
        let mut modal = Self {
            options,
            entries,
            kinds,
            selected: 0,
            is_refused: false,
            sheet: Sheet::default(),
        };
        modal.lay_out(world);
        modal
    }

    fn field(&self) -> Field {
        Field::ALL.get(self.selected).copied().unwrap_or(Field::Kind)
    }

    fn entry(&mut self) -> Option<&mut Entry> {
        let selected = self.field();
        self.entries.iter_mut().find(|(field, _)| *field == selected).map(|(_, entry)| entry)
    }

    /// Reads all fields; what is wrong comes with its field.
    fn read(&self, world: &World) -> Result<TaskOptions, Vec<(Field, String)>> {
        let mut options = self.options.clone();
        let mut wrong = Vec::new();
        for (field, entry) in &self.entries {
            if let Err(why) = field.read(entry.text(), &world.folder, &*world.maker, &mut options) {
                wrong.push((*field, why));
            }
        }
        if options.kind == COMMAND && !options.extra.is_empty() {
            let why = "a command has its arguments in its own line: leave this empty".to_owned();
            wrong.push((Field::Arguments, why));
        }
        if wrong.is_empty() { Ok(options) } else { Err(wrong) }
    }

    fn accept(&mut self, world: &World) -> Vec<Wish> {
        match self.read(world) {
            Ok(options) => vec![Wish::Options(Box::new(options)), Wish::Close],
            Err(wrong) => {
                self.is_refused = true;
                let first = wrong.first().map(|(field, _)| *field);
                let at = Field::ALL.iter().position(|field| Some(*field) == first);
                self.selected = at.unwrap_or(self.selected);
                Vec::new()
            }
        }
    }

    fn select(&mut self, by: isize) {
        let count = Field::ALL.len();
        self.selected = (self.selected + count).saturating_add_signed(by) % count;
        self.is_refused = false;
    }

    /// Changes what is chosen, or moves the caret.
    fn change(&mut self, is_right: bool) {
        let field = self.field();
        if let Some(switch) = field.switch(&mut self.options) {
            *switch = !*switch;
        } else if field == Field::Kind {
            self.choose(is_right);
        } else if let Some(entry) = self.entry() {
            if is_right { entry.right() } else { entry.left() }
        }
    }

    fn choose(&mut self, is_right: bool) {
        let count = self.kinds.len();
        let at = self.kinds.iter().position(|kind| kind.name == self.options.kind);
        let to = match at {
            Some(at) if is_right => (at + 1) % count,
            Some(at) => (at + count - 1) % count,
            None => 0,
        };
        if let Some(kind) = self.kinds.get(to) {
            self.options.kind.clone_from(&kind.name);
        }
    }

    fn lay_out(&mut self, world: &World) {
        let width = sheet::text_width(world, WIDTH);
        let wrong = self.read(world).err().unwrap_or_default();
        let mut body = Vec::new();
        let mut caret = None;
        let mut at = 0;
        for (number, field) in Field::ALL.into_iter().enumerate() {
            let is_selected = number == self.selected;
            if is_selected {
                at = body.len();
            }
            let (line, cell) = self.line(field, is_selected, width, world);
            body.push(line);
            if is_selected {
                caret = cell;
            }
            let why = wrong.iter().find(|(other, _)| *other == field);
            if let Some((_, why)) = why.filter(|_| !is_selected || self.is_refused) {
                let mut writer = Writer::new(world.theme, width);
                let indent = if width < 3 * NAMES { 2 } else { NAMES };
                writer.indented(&format!("! {why}"), Tone::Bad, indent);
                body.extend(writer.into_lines());
            }
        }
        let mut foot = Writer::new(world.theme, width);
        foot.text(self.field().help(), Tone::Dim);
        let text = Text {
            title: "kind and options".to_owned(),
            body,
            foot: foot.into_lines(),
            ..Text::default()
        };
        self.sheet.lay_out(world, WIDTH, text, Place::Options, &[]);
        self.sheet.show(at, caret);
    }

    /// Returns the line of a field, and the cell of the caret if its value is typed.
    fn line(
        &self,
        field: Field,
        is_selected: bool,
        width: usize,
        world: &World,
    ) -> (Line<'static>, Option<usize>) {
        let theme = world.theme;
        let names = NAMES.min(width / 2);
        let mark = if is_selected { theme.cursor() } else { " " };
        let name = fit(&format!("{mark} {}", field.name()), names);
        let tone = if is_selected { Tone::Focus } else { Tone::Dim };
        let room = width.saturating_sub(names);
        let mut spans = vec![Span::styled(name, theme.style(tone))];
        let mut caret = None;
        let (value, tone) = match self.entries.iter().find(|(other, _)| *other == field) {
            Some((_, entry)) if is_selected => {
                let (text, cell) = entry.shown(room);
                caret = Some(names + cell);
                if text.is_empty() { (empty(field), Tone::Dim) } else { (text, Tone::Strong) }
            }
            Some((_, entry)) if entry.text().trim().is_empty() => (empty(field), Tone::Dim),
            Some((Field::Variables, entry)) => (self.masked(entry, world), Tone::Plain),
            Some((_, entry)) => (one_line(&entry.text().replace('\n', " / ")), Tone::Plain),
            None => self.chosen(field, is_selected, world),
        };
        let value = cut_cells(&theme.words.text(&value), room);
        debug_assert!(cells(&value) <= room, "a value is cut to its room");
        spans.push(Span::styled(value, theme.style(tone)));
        (Line::from(spans), caret)
    }

    /// Returns variables without their values, which are secrets more often than not: they are shown where they are
    /// typed only.
    fn masked(&self, entry: &Entry, world: &World) -> String {
        let mut options = self.options.clone();
        match Field::Variables.read(entry.text(), &world.folder, &*world.maker, &mut options) {
            Ok(()) => one_line(&variables(&options, |_| "…")),
            Err(_) => "…".to_owned(),
        }
    }

    /// Returns the value of a field that is chosen.
    fn chosen(&self, field: Field, is_selected: bool, world: &World) -> (String, Tone) {
        let strong = if is_selected { Tone::Strong } else { Tone::Plain };
        let mut options = self.options.clone();
        if let Some(switch) = field.switch(&mut options) {
            let (on, off) = field.states();
            return (if *switch { on } else { off }.to_owned(), strong);
        }
        let kind = self.kinds.iter().find(|kind| kind.name == options.kind);
        let name = match options.kind.as_str() {
            "" => "none".to_owned(),
            name => clean(world, name),
        };
        let shown = if is_selected { format!("< {name} >") } else { name };
        match kind {
            Some(kind) if !kind.is_installed => {
                (format!("{shown}  not installed: not found on PATH"), Tone::Warning)
            }
            Some(kind) if !kind.is_prompt => (format!("{shown}  each task is a command"), strong),
            Some(kind) if kind.pays => (format!("{shown}  may cost money"), strong),
            _ => (shown, strong),
        }
    }
}

fn empty(field: Field) -> String {
    format!("({})", field.default())
}

impl Content for OptionsModal {
    fn place(&self) -> Place {
        Place::Options
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        match action {
            Action::NextField => self.select(1),
            Action::PreviousField => self.select(-1),
            Action::Left => self.change(false),
            Action::Right => self.change(true),
            Action::Accept => return self.accept(world),
            Action::Close => return vec![Wish::Close],
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        self.is_refused = false;
        match self.entry() {
            Some(entry) => {
                entry.key(key);
            }
            None if key.code == KeyCode::Char(' ') => self.change(true),
            None => {}
        }
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        self.is_refused = false;
        let has_lines = self.field() == Field::Context;
        if let Some(entry) = self.entry() {
            entry.insert(&if has_lines { text.to_owned() } else { one_line(text) });
        }
        Vec::new()
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        self.lay_out(world);
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
