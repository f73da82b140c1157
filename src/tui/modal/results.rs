//! What came of everything: by set, with answers, errors, changed files and totals.
//!
//! What may go here: what is shown in which order. What may not: how a single agent did it, which its details tell.

use std::collections::HashMap;

use ratatui::text::Line;

use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use super::{APART, Content};
use crate::core::{AgentId, BatchView, CostStatus, Moment, NanoUsd, Outcome, Row, Status};
use crate::tui::keymap::{Action, Place, key_name};
use crate::tui::message::Request;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::{Connection, World};
use crate::words::changed_files::{Evidence, changed_files, source};
use crate::words::plain_text::{count, headline, steps, thousands};
use crate::words::results::{common_cause, error, rows_of, standing_word};
use crate::words::status_line::{known_cost, money};
use crate::words::{time_text, why};

/// Cells that its lines want.
const WIDTH: usize = 108;
/// Graphemes of a task.
const GOAL: usize = 90;
/// Lines of an answer; its agent's details have all of it.
const ANSWER: usize = 6;
/// Characters of an answer that are looked at for those lines.
const LOOKED_AT: usize = 2_000;

/// What answers are worth.
const NOTE: &str = "Answers and changed files are what agents say of themselves; tested: the checks that they ran \
                    are green.";

/// What came of everything.
#[derive(Debug, Default)]
pub(crate) struct ResultsModal {
    /// Lines about agents that have ended: an ended row seldom changes.
    kept: HashMap<AgentId, (Look, Vec<Line<'static>>)>,
    shown: Option<Seen>,
    /// When it was laid out last.
    laid_out: Moment,
    sheet: Sheet,
}

/// What decides about the lines of an agent: its revision, the width, and whether its cause was told above it.
type Look = (u64, usize, bool);

/// What decides about the lines.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    fleet: u64,
    minute: u64,
    size: (u16, u16),
    connection: Connection,
}

impl ResultsModal {
    fn write(&mut self, world: &World) -> Vec<Line<'static>> {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        writer.connection(world);
        write_totals(&mut writer, world);
        let snapshot = &world.snapshot;
        let mut lines = writer.into_lines();
        for view in &snapshot.batches {
            let rows = rows_of(view, snapshot);
            let mut writer = Writer::new(world.theme, width);
            writer.blank();
            write_head(&mut writer, view, &rows, world);
            let common = common_cause(&rows);
            if let Some(cause) = &common {
                let all = count(rows.len(), "task");
                writer.text(&format!("All {all} failed for one reason: {cause}"), Tone::Bad);
            }
            lines.extend(writer.into_lines());
            for row in rows {
                lines.extend(self.agent(row, common.is_some(), width, world));
            }
        }
        let mut writer = Writer::new(world.theme, width);
        write_changed(&mut writer, world);
        if snapshot.rows.iter().any(|row| !row.answer.is_empty()) {
            writer.blank();
            writer.text(NOTE, Tone::Dim);
        }
        lines.extend(writer.into_lines());
        lines
    }

    fn agent(
        &mut self,
        row: &Row,
        cause_told: bool,
        width: usize,
        world: &World,
    ) -> Vec<Line<'static>> {
        let look = (row.revision, width, cause_told);
        if let Some((kept, lines)) = self.kept.get(&row.id)
            && *kept == look
        {
            return lines.clone();
        }
        let mut writer = Writer::new(world.theme, width);
        write_agent(&mut writer, row, cause_told, world);
        let lines = writer.into_lines();
        if row.status.is_ended() {
            self.kept.insert(row.id, (look, lines.clone()));
        }
        lines
    }
}

impl Content for ResultsModal {
    fn place(&self) -> Place {
        Place::Text
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn act(&mut self, action: Action, _world: &World) -> Vec<Wish> {
        match action {
            Action::Close => vec![Wish::Close],
            Action::CopyLine => {
                vec![Wish::Ask(Request::Copy(self.sheet.to_plain_text(), "the results".to_owned()))]
            }
            _ => Vec::new(),
        }
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        let screen = world.panes.screen;
        let seen = Seen {
            fleet: world.snapshot.revision,
            minute: world.clock().0 / 60_000,
            size: (screen.width, screen.height),
            connection: world.connection.clone(),
        };
        // While agents run a snapshot comes every second, so what is put off is never left out.
        let is_early = self.shown.as_ref().is_some_and(|shown| {
            shown.size == seen.size
                && shown.connection == seen.connection
                && world.snapshot.header.kpis.running > 0
                && world.now.since(self.laid_out) < APART
        });
        if is_early || self.shown.as_ref() == Some(&seen) {
            return Vec::new();
        }
        self.shown = Some(seen);
        self.laid_out = world.now;
        let body = self.write(world);
        let name = world.snapshot.header.name.as_deref().unwrap_or(&world.snapshot.header.fleet.0);
        let title = format!("results{}{}", world.theme.words.dot(), clean(world, name));
        let text = Text { title, body, is_tall: true, ..Text::default() };
        let copy = [(Action::CopyLine, Some("copy all"))];
        self.sheet.lay_out(world, WIDTH, text, Place::Text, &copy);
        Vec::new()
    }
}

fn write_totals(writer: &mut Writer, world: &World) {
    let snapshot = &world.snapshot;
    let header = &snapshot.header;
    let kpis = &header.kpis;
    if snapshot.rows.is_empty() {
        writer.text("No tasks yet, so there is nothing to show.", Tone::Dim);
        return;
    }
    let mut parts = Vec::new();
    for (number, word) in [(kpis.running, "running"), (kpis.queued, "queued")] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    parts.extend(
        header
            .outcomes
            .iter()
            .map(|(outcome, number)| format!("{number} {}", why::word(Status::Ended(*outcome)))),
    );
    let all = count(snapshot.rows.len(), "agent");
    writer.field(&all, &parts.join(" · "), Tone::Strong);
    writer.field("spent", &money(header, world.theme.words), Tone::Money);
    if let Some(took) = header.elapsed(snapshot.at) {
        writer.field("took", &time_text::duration(took), Tone::Plain);
    }
    let mut work = vec![steps(kpis.steps)];
    work.push(format!("{} tokens", thousands(kpis.tokens)));
    if kpis.validated > 0 {
        work.push(format!("{} tested by themselves", kpis.validated));
    }
    writer.field("work", &work.join(" · "), Tone::Plain);
}

fn write_head(writer: &mut Writer, view: &BatchView, rows: &[&Row], world: &World) {
    let mut parts = vec![
        view.batch.tag(),
        count(rows.len(), "task"),
        standing_word(view, &world.snapshot).to_owned(),
        format!("{} ago", time_text::age(world.clock().since(view.batch.queued))),
    ];
    let cost: NanoUsd = rows.iter().filter_map(|row| row.cost).sum();
    let unknown = rows.iter().filter(|row| row.cost.is_none()).count();
    if cost > NanoUsd::ZERO || unknown > 0 {
        let least = if unknown > 0 { world.theme.words.at_least() } else { "" };
        parts.push(format!("{least}{cost}"));
    }
    parts.extend(view.batch.origin.as_deref().map(|origin| clean(world, origin)));
    writer.text(&parts.join(" · "), Tone::Focus);
}

fn write_agent(writer: &mut Writer, row: &Row, cause_told: bool, world: &World) {
    let words = world.theme.words;
    let truncated = row.end.as_ref().is_some_and(|end| end.truncated);
    let goal = headline(&row.task.text, GOAL);
    let is_cut_off = truncated && row.status == Status::Ended(Outcome::Done);
    let tone = if is_cut_off { Tone::Warning } else { Tone::of(row.status) };
    let glyph = if truncated { words.warning() } else { words.glyph(row.status) };
    let head = format!("{glyph} {} ", row.id);
    writer.line(&[(&head, tone), (&goal, Tone::Strong)]);
    writer.indented(&facts(row, truncated, world).join(" · "), Tone::Dim, 2);
    if let Some(error) = error(row).filter(|_| !cause_told) {
        writer.indented(&error, Tone::Bad, 2);
    }
    let partial = row.end.as_ref().and_then(|end| end.tails.out_line.as_deref());
    let answer =
        if row.answer.trim().is_empty() { partial.unwrap_or_default() } else { &row.answer };
    if row.status.is_ended() {
        let head: String = answer.trim_end().chars().take(LOOKED_AT).collect();
        let left = writer.some_lines(&head, Tone::Plain, 2, ANSWER);
        if left || head.len() < answer.trim_end().len() {
            let details = key_name!(Agents, Details);
            let more = format!("[there is more: {details} on its row shows all of it]");
            writer.indented(&more, Tone::Dim, 2);
        }
    }
    if !row.files_changed.is_empty() {
        let names: Vec<String> = row.files_changed.iter().map(|name| why::head(name)).collect();
        let evidence = Evidence::of(row);
        let seen = (evidence == Some(Evidence::Seen)).then_some("seen on disk");
        let note = source(row).or(seen).map(|note| format!(" ({note})")).unwrap_or_default();
        writer.indented(&format!("changed {}{note}", names.join(" ")), Tone::Plain, 2);
        if let Some(Evidence::Unseen(which)) = evidence {
            writer.indented(&format!("{} {which}", words.warning()), Tone::Warning, 2);
        }
    }
}

fn facts(row: &Row, truncated: bool, world: &World) -> Vec<String> {
    let mut facts = vec![why::word(row.status)];
    if row.started.is_some() {
        facts.push(time_text::duration(row.elapsed(world.clock())));
    }
    if row.steps > 0 {
        facts.push(steps(row.steps));
    }
    match known_cost(row, world.theme.words) {
        None if row.cost_status != CostStatus::None => facts.push("cost unknown".to_owned()),
        Some(cost) if row.cost > Some(NanoUsd::ZERO) => facts.push(cost),
        None | Some(_) => {}
    }
    if truncated {
        facts.push("cut off by a limit".to_owned());
    }
    match row.validated {
        Some(true) => facts.push("tested".to_owned()),
        Some(false) => facts.push("tests failed".to_owned()),
        None => {}
    }
    facts.extend(row.retried_by.map(|id| format!("tried again as {id}")));
    facts
}

fn write_changed(writer: &mut Writer, world: &World) {
    let files = changed_files(&world.snapshot);
    if files.is_empty() {
        return;
    }
    writer.blank();
    writer.text(&format!("{} changed", count(files.len(), "file")), Tone::Focus);
    for file in files {
        let names: Vec<String> = file.agents.iter().map(ToString::to_string).collect();
        let name = why::head(&file.name);
        if names.len() > 1 {
            let mark = world.theme.words.warning();
            let by = format!("{mark} changed by {} agents: {}", names.len(), names.join(" "));
            writer.indented(&format!("{name}  {by}"), Tone::Warning, 2);
        } else {
            writer.indented(&format!("{name}  {}", names.join(" ")), Tone::Plain, 2);
        }
    }
}
