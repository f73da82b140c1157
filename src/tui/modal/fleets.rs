//! The list of fleets: which there are, how they stand, what they cost; one is opened, two are compared.
//!
//! What may go here: its state, and what a key does to it. What may not: reading fleets, how a line looks (`lines`), how
//! two compare (`compare`).

mod compare;
mod lines;

use crossterm::event::KeyEvent;
use ratatui::text::Line;

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use crate::core::FleetId;
use crate::tui::keymap::{Action, Place, key_name};
use crate::tui::message::{FleetNews, Request};
use crate::tui::others::{FleetList, ListedFleet, PastFleet};
use crate::tui::search_line::{self, end_of};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{cells, count};

/// Cells that its lines want.
const WIDTH: usize = 104;
/// Cells beside a search that its line needs for the rest.
const BESIDE: usize = 20;

/// The list.
#[derive(Debug, Default)]
pub(crate) struct FleetsModal {
    /// Those of all folders are shown.
    everywhere: bool,
    /// `None` until the first one was read.
    list: Option<FleetList>,
    cursor: Option<FleetId>,
    /// Two at most, in the order in which they were marked.
    marks: Vec<FleetId>,
    search: String,
    /// While the search line is open: what was searched for before.
    typing: Option<String>,
    /// Two that are shown side by side, over the list.
    pair: Option<Box<Pair>>,
    note: Option<(String, Tone)>,
    sheet: Sheet,
}

/// Two fleets.
type Pair = (PastFleet, PastFleet);

impl FleetsModal {
    /// Returns the fleets that the search leaves.
    fn shown(&self) -> Vec<&ListedFleet> {
        let wanted = self.search.trim().to_lowercase();
        let fleets = self.list.iter().flat_map(|list| &list.fleets);
        fleets.filter(|fleet| wanted.is_empty() || lines::is_hit(fleet, &wanted)).collect()
    }

    /// Returns the place of the cursor among those that are shown.
    fn at(&self, shown: &[&ListedFleet]) -> Option<usize> {
        let found = shown.iter().position(|fleet| Some(&fleet.id) == self.cursor.as_ref());
        found.or_else(|| (!shown.is_empty()).then_some(0))
    }

    /// Moves the cursor to a place, or as near to it as there is one.
    fn go_to(&mut self, to: impl FnOnce(usize) -> usize) {
        let shown = self.shown();
        let last = shown.len().saturating_sub(1);
        let cursor = self.at(&shown).map(|at| to(at).min(last));
        self.cursor = cursor.and_then(|at| shown.get(at)).map(|fleet| fleet.id.clone());
    }

    fn selected(&self) -> Option<&ListedFleet> {
        let shown = self.shown();
        self.at(&shown).and_then(|at| shown.get(at).copied())
    }

    fn open(&mut self, world: &World) -> Vec<Wish> {
        let Some(id) = self.selected().map(|fleet| fleet.id.clone()) else {
            return self.say("no fleet is selected");
        };
        if id == *world.dir.id() {
            return vec![Wish::Close];
        }
        self.note = Some((format!("opening {id}…"), Tone::Dim));
        vec![Wish::Ask(Request::OpenFleet(id))]
    }

    fn say(&mut self, text: &str) -> Vec<Wish> {
        self.note = Some((text.to_owned(), Tone::Warning));
        Vec::new()
    }

    fn mark(&mut self) -> Vec<Wish> {
        let Some(id) = self.selected().map(|fleet| fleet.id.clone()) else {
            return self.say("no fleet is selected");
        };
        if let Some(place) = self.marks.iter().position(|mark| *mark == id) {
            self.marks.remove(place);
        } else if self.marks.len() < 2 {
            self.marks.push(id);
            self.go_to(|at| at + 1);
        } else {
            let mark = key_name!(Fleets, Mark);
            return self.say(&format!("two are marked: {mark} on one of them takes its mark back"));
        }
        Vec::new()
    }

    /// Compares the two that are marked, or the marked one with the selected one.
    fn compare(&mut self) -> Vec<Wish> {
        let selected = self.selected().map(|fleet| fleet.id.clone());
        let (one, other) = match (self.marks.as_slice(), selected) {
            ([one, other], _) => (one.clone(), other.clone()),
            ([one], Some(other)) if *one != other => (one.clone(), other),
            _ => {
                let mark = key_name!(Fleets, Mark);
                return self.say(&format!("{mark} marks the two that are to be compared"));
            }
        };
        self.note = Some((format!("reading {one} and {other}…"), Tone::Dim));
        vec![Wish::Ask(Request::CompareFleets(one, other))]
    }

    /// Does what a key means while two are compared.
    fn act_on_pair(&mut self, action: Action) -> Vec<Wish> {
        match action {
            Action::Close => {
                self.pair = None;
                self.sheet.rewind();
                Vec::new()
            }
            Action::CopyLine => {
                let text = self.sheet.to_plain_text();
                vec![Wish::Ask(Request::Copy(text, "the comparison".to_owned()))]
            }
            _ => Vec::new(),
        }
    }

    fn lay_out_pair(&mut self, world: &World) {
        let Some(pair) = &self.pair else { return };
        let width = sheet::text_width(world, WIDTH);
        let text = Text {
            title: "two fleets compared".to_owned(),
            body: compare::lines(pair, width, world),
            is_tall: true,
            ..Text::default()
        };
        let copy = [(Action::CopyLine, Some("copy all")), (Action::Close, Some("list"))];
        self.sheet.lay_out(world, WIDTH, text, Place::Text, &copy);
    }

    fn turn(&mut self) -> Vec<Wish> {
        self.everywhere = !self.everywhere;
        self.list = None;
        self.marks.clear();
        vec![Wish::Ask(Request::ListFleets { everywhere: self.everywhere })]
    }

    fn body(&self, shown: &[&ListedFleet], width: usize, world: &World) -> Vec<Line<'static>> {
        let mut writer = Writer::new(world.theme, width);
        match &self.list {
            None => writer.text("reading…", Tone::Dim),
            Some(list) if shown.is_empty() && list.left == 0 => {
                let text = if !list.fleets.is_empty() {
                    "No fleet has that in it.".to_owned()
                } else if self.everywhere {
                    "No fleets yet.".to_owned()
                } else {
                    format!(
                        "No fleets of this folder: {} shows those of all folders.",
                        key_name!(Fleets, AllFolders)
                    )
                };
                writer.text(&text, Tone::Dim);
            }
            Some(_) => {}
        }
        let mut body = writer.into_lines();
        let columns = lines::Columns::of(width, shown, self.everywhere, world);
        let at = self.at(shown);
        for (place, fleet) in shown.iter().enumerate() {
            let is_marked = self.marks.contains(&fleet.id);
            let is_selected = at == Some(place);
            body.push(columns.line(fleet, (is_selected, is_marked), world));
        }
        let mut writer = Writer::new(world.theme, width);
        for (id, why) in self.list.iter().flat_map(|list| &list.unreadable) {
            writer.text(&format!("{id}: {why}"), Tone::Bad);
        }
        body.extend(writer.into_lines());
        body
    }

    /// The line below the list; returns also the column of the caret.
    fn foot(
        &self,
        shown: usize,
        width: usize,
        world: &World,
    ) -> (Vec<Line<'static>>, Option<usize>) {
        let mut writer = Writer::new(world.theme, width);
        if self.typing.is_some() {
            let search = world.theme.words.text(&self.search);
            let search = end_of(&search, width.saturating_sub(BESIDE).max(1));
            let found = format!("  {}", count(shown, "fleet"));
            writer.line(&[("/", Tone::Key), (search, Tone::Hit), (&found, Tone::Dim)]);
            return (writer.into_lines(), Some(1 + cells(search)));
        }
        if let Some((note, tone)) = &self.note {
            writer.text(note, *tone);
            return (writer.into_lines(), None);
        }
        let Some(list) = &self.list else { return (Vec::new(), None) };
        let mut parts = Vec::new();
        if !self.search.is_empty() {
            parts.push(format!("{shown} of {} with /{}", list.fleets.len(), self.search));
        }
        if list.left > 0 {
            parts.push(format!("reading… {} left", list.left));
        }
        if list.older > 0 {
            parts.push(format!("{} older not listed", list.older));
        }
        if !self.marks.is_empty() {
            parts.push(format!("{} marked", self.marks.len()));
        }
        if !parts.is_empty() {
            writer.line(&[(&parts.join(world.theme.words.dot()), Tone::Dim)]);
        }
        (writer.into_lines(), None)
    }
}

impl Content for FleetsModal {
    fn place(&self) -> Place {
        match (&self.pair, &self.typing) {
            (Some(_), _) => Place::Text,
            (None, Some(_)) => Place::Prompt,
            (None, None) => Place::Fleets,
        }
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn has_cursor(&self) -> bool {
        self.pair.is_none()
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        let page = self.sheet.rows_in_view().max(2) - 1;
        if self.pair.is_some() {
            return self.act_on_pair(action);
        }
        if self.typing.is_some() {
            match action {
                Action::Close => self.search = self.typing.take().unwrap_or_default(),
                _ => self.typing = None,
            }
            return Vec::new();
        }
        self.note = None;
        match action {
            Action::Close if !self.search.is_empty() => self.search.clear(),
            Action::Close => return vec![Wish::Close],
            Action::Accept => return self.open(world),
            Action::Down => self.go_to(|at| at + 1),
            Action::Up => self.go_to(|at| at.saturating_sub(1)),
            Action::PageDown => self.go_to(|at| at + page),
            Action::PageUp => self.go_to(|at| at.saturating_sub(page)),
            Action::First => self.go_to(|_| 0),
            Action::Last => self.go_to(|_| usize::MAX),
            Action::Mark => return self.mark(),
            Action::Compare => return self.compare(),
            Action::Search => self.typing = Some(self.search.clone()),
            Action::AllFolders => return self.turn(),
            _ => {}
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, _world: &World) -> Vec<Wish> {
        let _ = search_line::key(&mut self.search, key);
        Vec::new()
    }

    fn paste(&mut self, text: &str, _world: &World) -> Vec<Wish> {
        if self.typing.is_some() {
            search_line::paste(&mut self.search, text);
        }
        Vec::new()
    }

    fn fleets(&mut self, news: FleetNews) {
        match news {
            FleetNews::List { everywhere, list } if everywhere == self.everywhere => {
                let is_first = self.list.is_none();
                self.list = Some(list);
                if is_first {
                    self.sheet.rewind();
                }
            }
            FleetNews::Pair(pair) => {
                (self.pair, self.note) = (Some(pair), None);
                self.sheet.rewind();
            }
            FleetNews::List { .. } | FleetNews::Past(_) => {}
            FleetNews::Failed(why) => self.note = Some((why, Tone::Bad)),
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        if self.pair.is_some() {
            self.lay_out_pair(world);
            return Vec::new();
        }
        let width = sheet::text_width(world, WIDTH);
        let shown = self.shown();
        let at = self.at(&shown).unwrap_or_default();
        let (body, hits) = (self.body(&shown, width, world), shown.len());
        let (foot, caret) = self.foot(hits, width, world);
        let folders = if self.everywhere { "all folders" } else { "this folder" };
        let mut title = format!("fleets of {folders}");
        // Their lines come last, which may be out of view. To which folder they belong nobody knows.
        let damaged = self.list.as_ref().map_or(0, |list| list.unreadable.len());
        if damaged > 0 {
            title = format!("{title}; {damaged} unreadable");
        }
        let text =
            Text { title, body, foot, is_tall: true, caret: caret.map(|column| (0, column)) };
        let other = if self.everywhere { "this folder" } else { "all folders" };
        let renamed = [(Action::AllFolders, Some(other))];
        self.sheet.lay_out(world, WIDTH, text, self.place(), &renamed);
        self.sheet.show(at, None);
        if let Some(column) = caret {
            self.sheet.put_caret(column);
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
