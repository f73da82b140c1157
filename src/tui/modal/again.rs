//! Running the tasks of a fleet that has ended again: all of them, or those that are not done.
//!
//! What may go here: which tasks that are, and what there is to know before. What may not: where they are queued (whoever
//! composes the program decides that), rules about tasks.

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use crate::core::{CostStatus, NanoUsd, Outcome, Row, Status, Task};
use crate::tui::keymap::{Action, Place};
use crate::tui::message::{FleetNews, Request};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::count;
use crate::words::report_line::exact;
use crate::words::why;

/// Cells that its lines want.
const WIDTH: usize = 66;

/// The question which tasks are run again.
#[derive(Debug, Default)]
pub(crate) struct AgainModal {
    note: Option<(String, Tone)>,
    /// The tasks are on their way.
    is_sent: bool,
    sheet: Sheet,
}

/// Agents whose tasks can be run again, and those whose cannot.
struct Again<'a> {
    can: Vec<&'a Row>,
    cannot: Vec<(&'a Row, String)>,
}

impl<'a> Again<'a> {
    /// An agent that was tried again yields to the one that did.
    fn of(world: &'a World) -> Self {
        let rows = world.snapshot.rows.iter().map(AsRef::as_ref);
        let mut again = Self { can: Vec::new(), cannot: Vec::new() };
        for row in rows.filter(|row: &&Row| row.retried_by.is_none()) {
            match why_not(&row.task) {
                None => again.can.push(row),
                Some(why) => again.cannot.push((row, why)),
            }
        }
        again
    }

    fn not_done(&self) -> Vec<&'a Row> {
        let is_done = |row: &&Row| row.status == Status::Ended(Outcome::Done);
        self.can.iter().copied().filter(|row| !is_done(row)).collect()
    }
}

/// Says why a task cannot be run in another fleet, as a clause.
fn why_not(task: &Task) -> Option<String> {
    if !task.env_stored.is_empty() {
        let names = why::head(&task.env_stored.join(", "));
        return Some(format!("was given {names} with --env, whose value is not kept"));
    }
    let goes_on = task.continues.as_ref()?;
    Some(format!("goes on in the session of {}, which another fleet does not have", goes_on.agent))
}

/// Returns the names of variables that tasks demand and that are not set here, each once.
fn missing(rows: &[&Row], world: &World) -> Vec<String> {
    let mut names: Vec<String> = rows.iter().flat_map(|row| row.task.env_names.clone()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| world.maker.read_variable(name).is_err());
    names
}

/// Returns what agents have cost as far as that is known; empty if none of them costs anything.
fn cost(rows: &[&Row], world: &World) -> String {
    let sum: NanoUsd = rows.iter().filter_map(|row| row.cost).sum();
    let unknown = rows.iter().filter(|row| row.cost_status == CostStatus::Unknown).count();
    match (unknown, sum) {
        (0, NanoUsd::ZERO) => String::new(),
        (0, sum) => format!(", which cost {sum}"),
        (unknown, sum) => {
            format!(", which cost {}{sum} ({unknown} ?)", world.theme.words.at_least())
        }
    }
}

impl AgainModal {
    fn send(&mut self, rows: &[&Row], what: &str) -> Vec<Wish> {
        if self.is_sent {
            return Vec::new();
        }
        if rows.is_empty() {
            self.note = Some((format!("there is nothing to be run again: {what}"), Tone::Warning));
            return Vec::new();
        }
        self.is_sent = true;
        self.note = Some(("looking for the fleet that takes them…".to_owned(), Tone::Dim));
        let tasks = rows.iter().map(|row| Task::clone(&row.task)).collect();
        vec![Wish::Ask(Request::RunAgain(tasks))]
    }
}

impl Content for AgainModal {
    fn place(&self) -> Place {
        Place::Again
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn harmless(&self) -> Option<&'static [Action]> {
        Some(&[Action::Close])
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        let again = Again::of(world);
        match action {
            Action::Close => vec![Wish::Close],
            Action::RunAll => self.send(&again.can, "no task can be"),
            Action::RunFailed => self.send(&again.not_done(), "all that can be is done"),
            _ => Vec::new(),
        }
    }

    fn fleets(&mut self, news: FleetNews) {
        if let FleetNews::Failed(why) = news {
            self.is_sent = false;
            self.note = Some((why, Tone::Bad));
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        let again = Again::of(world);
        let not_done = again.not_done();
        let folder = why::head(&world.folder.to_string_lossy());
        writer.text(
            &format!("The tasks become those of new agents, in the fleet of {folder} that takes tasks, or in a new one."),
            Tone::Plain,
        );
        writer.gap();
        for (name, rows) in [("not done", &not_done), ("all", &again.can)] {
            let text = format!("{}{}", count(rows.len(), "task"), cost(rows, world));
            writer.field(name, &text, Tone::Strong);
        }
        let cap = world.snapshot.header.cap;
        let cap = cap.map_or_else(|| "none".to_owned(), exact);
        let text =
            format!("{cap} for a new fleet, as this one has; one that is there keeps its own");
        writer.field("cap", &text, Tone::Money);
        let names = missing(&again.can, world);
        if !names.is_empty() {
            let text = format!(
                "{} not set here: what demands it waits until it is",
                clean(world, &names.join(", "))
            );
            writer.field("missing", &text, Tone::Warning);
        }
        for (row, why) in &again.cannot {
            writer.field("left out", &format!("{} {why}", row.id), Tone::Warning);
        }
        let mut foot = Writer::new(world.theme, width);
        if let Some((note, tone)) = &self.note {
            foot.text(note, *tone);
        }
        let text = Text {
            title: "run again".to_owned(),
            body: writer.into_lines(),
            foot: foot.into_lines(),
            ..Text::default()
        };
        let failed = format!("the {} not done", not_done.len());
        let all = format!("all {}", again.can.len());
        let renamed = [
            (Action::RunFailed, (!not_done.is_empty()).then_some(failed.as_str())),
            (Action::RunAll, (!again.can.is_empty()).then_some(all.as_str())),
        ];
        self.sheet.lay_out(world, WIDTH, text, Place::Again, &renamed);
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
