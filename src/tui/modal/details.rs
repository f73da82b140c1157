//! Everything known of one agent.
//!
//! What may go here: what is shown in which order, and when its files are asked for. What may not: reading them.

mod sections;

use super::sheet::{self, Sheet, Text};
use super::writer::Writer;
use super::{APART, Content};
use crate::core::{AgentId, Moment, Status};
use crate::tui::keymap::{Action, Place};
use crate::tui::message::{Facts, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::why;

/// Cells that its lines want.
const WIDTH: usize = 96;
/// How often the folder of an agent that runs is looked at while its details are open: sizes grow.
const LOOK: std::time::Duration = std::time::Duration::from_secs(2);

/// Everything known of one agent.
#[derive(Debug)]
pub(crate) struct DetailsModal {
    id: AgentId,
    facts: Facts,
    /// Grows with each answer about its folder.
    looks: u64,
    /// When its folder was asked for last, and how the agent stood.
    asked: Option<(Moment, Status)>,
    /// What the lines were made of; they are made anew only for something else, since a task can be long.
    shown: Option<Seen>,
    /// When they were laid out last.
    laid_out: Moment,
    sheet: Sheet,
}

/// What decides about the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    row: Option<u64>,
    /// Places of the queue that the fleet has, for one that waits in it.
    queue: u64,
    /// What other agents changed, for one that names them.
    others: u64,
    second: u64,
    size: (u16, u16),
    looks: u64,
    connection: crate::tui::world::Connection,
}

impl DetailsModal {
    pub(super) fn new(id: AgentId) -> Self {
        Self {
            id,
            facts: Facts::default(),
            looks: 0,
            asked: None,
            shown: None,
            laid_out: Moment::default(),
            sheet: Sheet::default(),
        }
    }

    /// Asks for what its folder tells: at first, when its state changes, and now and then while it runs.
    fn look(&mut self, world: &World) -> Option<Wish> {
        let status = world.row(self.id)?.status;
        let is_due = match self.asked {
            None => true,
            Some((at, before)) => {
                status != before || (status.is_live() && world.now.since(at) >= LOOK)
            }
        };
        if !is_due {
            return None;
        }
        self.asked = Some((world.now, status));
        Some(Wish::Ask(Request::ReadFacts(self.id)))
    }

    fn seen(&self, world: &World) -> Seen {
        let row = world.row(self.id);
        let is_live = row.is_some_and(|row| !row.status.is_ended());
        let is_queued = row.is_some_and(|row| row.status == Status::Queued);
        let names_others = row.is_some_and(|row| !row.files_changed.is_empty());
        let fleet = |counts: bool| if counts { world.snapshot.revision } else { 0 };
        let screen = world.panes.screen;
        Seen {
            row: row.map(|row| row.revision),
            queue: fleet(is_queued),
            others: fleet(names_others),
            second: if is_live { world.now.0 / 1000 } else { 0 },
            size: (screen.width, screen.height),
            looks: self.looks,
            connection: world.connection.clone(),
        }
    }

    /// Says whether the lines can stay as they are for now.
    fn is_good(&self, seen: &Seen, world: &World) -> bool {
        let Some(shown) = &self.shown else { return false };
        // While agents run a snapshot comes every second, so what is put off is never left out.
        let is_early =
            world.snapshot.header.kpis.running > 0 && world.now.since(self.laid_out) < APART;
        let others = if is_early { seen.others } else { shown.others };
        *seen == Seen { others, ..shown.clone() }
    }
}

impl Content for DetailsModal {
    fn place(&self) -> Place {
        Place::Text
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        match action {
            Action::Close => vec![Wish::Close],
            Action::CopyLine => {
                let path = world.agent_dir(self.id).out();
                let text = path.to_string_lossy().into_owned();
                vec![Wish::Ask(Request::Copy(text, format!("the path of {}'s output", self.id)))]
            }
            _ => Vec::new(),
        }
    }

    fn facts(&mut self, id: AgentId, facts: &Facts) {
        if id == self.id {
            self.facts = facts.clone();
            self.looks += 1;
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let wishes = self.look(world).into_iter().collect();
        let seen = self.seen(world);
        if self.is_good(&seen, world) {
            return wishes;
        }
        self.shown = Some(seen);
        self.laid_out = world.now;
        let mut writer = Writer::new(world.theme, sheet::text_width(world, WIDTH));
        writer.connection(world);
        let title = if let Some(row) = world.row(self.id) {
            sections::write(&mut writer, row, &self.facts, world);
            format!("{}{}{}", self.id, world.theme.words.dot(), why::word(row.status))
        } else {
            let text = format!("{} is not in this fleet (any more).", self.id);
            writer.text(&text, Tone::Warning);
            self.id.to_string()
        };
        let text = Text { title, body: writer.into_lines(), is_tall: true, ..Text::default() };
        let copy = [(Action::CopyLine, Some("copy path"))];
        self.sheet.lay_out(world, WIDTH, text, Place::Text, &copy);
        wishes
    }
}
