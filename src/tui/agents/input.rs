//! What keys and the mouse do to the table.
//!
//! What may go here: changes of its state, and which agents a key is about. What may not: what is asked of the fleet for
//! them (`decide`), keeping the view in line (the table itself).

use crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::columns::{Column, Columns};
use super::decide::{self, Decision};
use super::draw::Parts;
use super::holds;
use super::order::{Line, Sort};
use super::{Agents, Cursor, Stand};
use crate::core::{AgentId, BatchStatus, Direction, Row};
use crate::tui::keymap::{Action, key_name};
use crate::tui::message::Request;
use crate::tui::modal::Modal;
use crate::tui::search_line;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::why;

/// Lines that one step of the wheel moves.
const WHEEL: usize = 3;

impl Agents {
    /// Does what a key means.
    pub(crate) fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        let again = self.stopped.take();
        let page = usize::from(Parts::of(world.panes.agents).list.height).saturating_sub(1).max(1);
        match action {
            Action::Down => self.move_by(1, true, world),
            Action::Up => self.move_by(1, false, world),
            Action::PageDown => self.move_by(page, true, world),
            Action::PageUp => self.move_by(page, false, world),
            Action::First => self.move_by(usize::MAX, false, world),
            Action::Last => self.move_by(usize::MAX, true, world),
            Action::Sort => return self.sort_by(self.settings.sort.next()),
            Action::Filter => return self.filter_next(world),
            Action::Search => self.typing = Some(self.settings.search.clone()),
            Action::Accept => self.typing = None,
            Action::Close => self.settings.search = self.typing.take().unwrap_or_default(),
            Action::Back => return self.back(world),
            Action::Fold => return self.fold(world),
            Action::Gantt => {
                self.is_gantt = !self.is_gantt;
                let turns = key_name!(Agents, Gantt);
                return told(if self.is_gantt {
                    format!("bars over time: {turns} shows the table again")
                } else {
                    "the table again".to_owned()
                });
            }
            Action::Mark => return self.mark(world),
            Action::NextNeedy => return self.next_needy(world),
            Action::Stop => return self.stop(again, world),
            Action::StopMany => return decide::stop_many(&self.many(world), world).wishes(),
            Action::Retry => return decide::retry(&self.targets(), world).wishes(),
            Action::Hold => {
                let marked: Vec<AgentId> = self.marks.keys().copied().collect();
                return holds::hold(&marked, world).wishes();
            }
            Action::MoveDown => return self.of_selected(world, decide::moved(Direction::Down)),
            Action::MoveUp => return self.of_selected(world, decide::moved(Direction::Up)),
            Action::EditQueued => return self.of_selected(world, decide::edit),
            Action::Message => return self.of_selected(world, decide::message),
            Action::ShowFile => return self.of_selected(world, decide::show_file),
            Action::EditFile => return self.of_selected(world, decide::edit_file),
            Action::CopyPath => return self.of_selected(world, decide::copy_path),
            Action::Details => {
                let modal = self.selected().and_then(|id| Modal::details(id, world));
                return modal.map_or_else(none_selected, |modal| vec![Wish::Open(Box::new(modal))]);
            }
            _ => {}
        }
        Vec::new()
    }

    fn sort_by(&mut self, sort: Sort) -> Vec<Wish> {
        self.settings.sort = sort;
        told(format!("sorted {}", sort.name()))
    }

    fn filter_next(&mut self, world: &World) -> Vec<Wish> {
        self.settings.filter = self.settings.filter.next();
        // How many that leaves is said at once.
        self.refresh(world);
        let (filter, all) = (self.settings.filter, world.snapshot.rows.len());
        told(if self.settings.narrows() {
            format!("shows {}: {} of {all}", filter.name(), self.order.hits)
        } else {
            format!("shows all {all}")
        })
    }

    /// Stops what the key is about. Pressed again it is about the same agent, even if another one has taken its place
    /// since; and a mark on another row than the selected one is no silent target.
    fn stop(&mut self, again: Option<AgentId>, world: &World) -> Vec<Wish> {
        let targets = self.targets();
        let [target] = targets[..] else { return decide::stop(&targets, world).wishes() };
        if let Some(before) = again.filter(|before| *before != target) {
            let stop = key_name!(Agents, Stop);
            let text =
                format!("{before} was told to stop and is not here now: {stop} stops {target}");
            return vec![Wish::Flash(text, Tone::Warning)];
        }
        if self.selected() != Some(target) {
            return decide::stop_marked(target, world).wishes();
        }
        self.stopped = Some(target);
        decide::stop(&targets, world).wishes()
    }

    /// Types a key into the search line.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        let _ = search_line::key(&mut self.settings.search, key);
    }

    /// Pastes into the search line.
    pub(crate) fn paste(&mut self, text: &str) {
        search_line::paste(&mut self.settings.search, text);
    }

    /// Takes a mouse event within its area.
    pub(crate) fn mouse(&mut self, event: MouseEvent, area: Rect, world: &World) -> Vec<Wish> {
        self.stopped = None;
        let parts = Parts::of(area);
        let position = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollDown => self.wheel(true, usize::from(parts.list.height)),
            MouseEventKind::ScrollUp => self.wheel(false, usize::from(parts.list.height)),
            MouseEventKind::Down(MouseButton::Left)
                if parts.head.contains(position) && !self.is_gantt =>
            {
                let columns = Columns::of(usize::from(parts.head.width), &world.snapshot);
                let column = columns.at(usize::from(position.x - parts.head.x));
                if let Some(sort) = column.and_then(Column::sort) {
                    return self.sort_by(sort);
                }
            }
            MouseEventKind::Down(MouseButton::Left) if parts.list.contains(position) => {
                let line = self.offset + usize::from(position.y - parts.list.y);
                return self.click(line, world);
            }
            _ => {}
        }
        Vec::new()
    }

    fn wheel(&mut self, is_down: bool, height: usize) {
        let most = self.order.lines.len().saturating_sub(height);
        self.offset = if is_down {
            self.offset.saturating_add(WHEEL).min(most)
        } else {
            self.offset.saturating_sub(WHEEL)
        };
        self.is_adrift = true;
    }

    fn click(&mut self, line: usize, world: &World) -> Vec<Wish> {
        match self.order.lines.get(line) {
            Some(Line::Batch { place, .. }) => self.toggle_fold(*place, world),
            Some(Line::Agent(_)) => {
                self.at = Some(line);
                self.cursor = self.cursor_of(line, world);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Ends what was begun last: search, marks, zoom.
    fn back(&mut self, world: &World) -> Vec<Wish> {
        if !self.settings.search.is_empty() {
            self.settings.search.clear();
        } else if !self.marks.is_empty() {
            self.marks.clear();
        } else if world.is_zoomed() {
            return vec![Wish::Zoom];
        } else if world.came_from.is_some() {
            return vec![Wish::Ask(Request::GoBack)];
        } else {
            return told("there is no search, mark or zoom to end".to_owned());
        }
        Vec::new()
    }

    fn fold(&mut self, world: &World) -> Vec<Wish> {
        let id = match &self.cursor {
            Some(Cursor::Batch(id)) => Some(id.clone()),
            Some(Cursor::Agent(id)) => world.row(*id).map(|row| row.batch.clone()),
            None => None,
        };
        let place =
            world.snapshot.batches.iter().position(|view| Some(&view.batch.id) == id.as_ref());
        place.map_or_else(none_selected, |place| self.toggle_fold(place, world))
    }

    fn toggle_fold(&mut self, place: usize, world: &World) -> Vec<Wish> {
        let Some(view) = world.snapshot.batches.get(place) else { return Vec::new() };
        let tag = view.batch.tag();
        let is_grouped = self.order.lines.iter().any(|line| matches!(line, Line::Batch { .. }));
        let refusal = if !is_grouped {
            Some(format!(
                "sets are shown when there are several and the table is sorted by number ({})",
                key_name!(Agents, Sort)
            ))
        } else if view.status == BatchStatus::Running {
            Some(format!("{tag} has not ended: only ended sets fold"))
        } else if self.settings.narrows() {
            Some("sets do not fold while a filter or a search is on".to_owned())
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return vec![Wish::Flash(refusal, Tone::Warning)];
        }
        let id = view.batch.id.clone();
        self.is_adrift = false;
        if self.settings.folded.remove(&id) {
            // The first of its agents, when the fold itself was selected.
            if self.cursor == Some(Cursor::Batch(id)) {
                self.cursor = view.batch.agents.first().copied().map(Cursor::Agent);
            }
            return told(format!("{tag} unfolded"));
        }
        let is_inside =
            self.selected().and_then(|agent| world.row(agent)).is_some_and(|row| row.batch == id);
        if is_inside {
            self.cursor = Some(Cursor::Batch(id.clone()));
        }
        self.settings.folded.insert(id);
        told(format!("{tag} folded"))
    }

    fn mark(&mut self, world: &World) -> Vec<Wish> {
        let Some(row) = self.selected().and_then(|id| world.row(id)) else {
            return none_selected();
        };
        if self.marks.remove(&row.id).is_none() {
            self.marks.insert(row.id, Stand::of(row));
        }
        self.move_by(1, true, world);
        told(match self.marks.len() {
            0 => "nothing is marked any more".to_owned(),
            number => format!("{number} marked"),
        })
    }

    /// Goes to the next agent that needs its owner; past the last one to the cap question, if it is open.
    fn next_needy(&mut self, world: &World) -> Vec<Wish> {
        let from = self.selected().unwrap_or(AgentId(0));
        let needy = || world.snapshot.rows.iter().filter(|row| why::needs_owner(row));
        let after = needy().find(|row| row.id > from).map(|row| row.id);
        if after.is_none() && world.snapshot.question.is_some() {
            return vec![Wish::Open(Box::new(Modal::cap(world, None)))];
        }
        match after.or_else(|| needy().next().map(|row| row.id)) {
            Some(id) => {
                self.select(id, world);
                let row = world.row(id).map(|row| why::state(row, world.clock(), None, false));
                let text = format!("{id} {}", row.unwrap_or_default());
                vec![Wish::Flash(text, Tone::Warning)]
            }
            None => vec![Wish::Flash("nothing needs you".to_owned(), Tone::Good)],
        }
    }

    /// What a key is about: the marked agents, else the selected one.
    pub(super) fn targets(&self) -> Vec<AgentId> {
        if self.marks.is_empty() {
            self.selected().into_iter().collect()
        } else {
            self.marks.keys().copied().collect()
        }
    }

    /// The marked agents, else all that are shown.
    fn many(&self, world: &World) -> Vec<AgentId> {
        if !self.marks.is_empty() {
            return self.targets();
        }
        let shown = self.order.lines.iter().filter_map(|line| match line {
            Line::Agent(place) => world.snapshot.rows.get(*place).map(|row| row.id),
            Line::Batch { .. } => None,
        });
        shown.collect()
    }

    fn of_selected(
        &self,
        world: &World,
        decision: impl FnOnce(&Row, &World) -> Decision,
    ) -> Vec<Wish> {
        let decision = match self.selected().and_then(|id| world.row(id)) {
            Some(row) => decision(row, world),
            None => return none_selected(),
        };
        decision.wishes()
    }
}

fn none_selected() -> Vec<Wish> {
    Decision::no("no agent is selected").wishes()
}

/// Says what a key has changed.
fn told(text: String) -> Vec<Wish> {
    vec![Wish::Flash(text, Tone::Plain)]
}
