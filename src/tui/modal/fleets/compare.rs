//! Two fleets side by side: how their agents ended, what they cost, how long they took, and each task that both had.
//!
//! What may go here: pairing tasks, differences, lines. What may not: where the fleets come from.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use ratatui::text::Line;

use super::Pair;
use crate::core::{CostStatus, NanoUsd, Outcome, Row, Snapshot, Status};
use crate::tui::modal::writer::Writer;
use crate::tui::others::PastFleet;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{count, fit, thousands};
use crate::words::status_line::known_cost;
use crate::words::time_text::{self, tenths};
use crate::words::why;

/// Cells of the names before the numbers.
const NAMES: usize = 10;
/// Text of so many cells has a column for differences; a narrower one has them below each pair.
const WITH_DIFFERENCES: usize = 62;
/// What stands where something is not known, or cannot be compared.
const UNKNOWN: &str = "?";

/// The lines of two fleets.
pub(super) fn lines(pair: &Pair, width: usize, world: &World) -> Vec<Line<'static>> {
    let mut table = Table::new(width, world);
    let ids = [&pair.0, &pair.1].map(|fleet| fleet.listed.id.to_string());
    table.head(&ids);
    about(&mut table, pair, world);
    counts(&mut table, pair);
    numbers(&mut table, pair, world);
    tasks(&mut table, pair, world);
    table.writer.into_lines()
}

/// Rows of a name, what each fleet has of it, and the difference.
struct Table {
    writer: Writer,
    column: usize,
    has_differences: bool,
}

impl Table {
    fn new(width: usize, world: &World) -> Self {
        let has_differences = width >= WITH_DIFFERENCES;
        let columns = if has_differences { 3 } else { 2 };
        let column = width.saturating_sub(NAMES) / columns;
        Self { writer: Writer::new(world.theme, width), column, has_differences }
    }

    fn head(&mut self, ids: &[String; 2]) {
        self.columns("", ids, "difference", [Tone::Strong; 2]);
    }

    fn row(&mut self, name: &str, values: &[String; 2], difference: &str) {
        self.columns(name, values, difference, [Tone::Plain; 2]);
    }

    fn columns(&mut self, name: &str, values: &[String; 2], difference: &str, tones: [Tone; 2]) {
        let cell = |text: &str| {
            let text = fit(text, self.column.saturating_sub(1));
            format!("{text} ")
        };
        let [first, second] = [cell(&values[0]), cell(&values[1])];
        let name = fit(name, NAMES);
        let mut pieces = vec![
            (name.as_str(), Tone::Dim),
            (first.as_str(), tones[0]),
            (second.as_str(), tones[1]),
        ];
        if self.has_differences {
            pieces.push((difference, Tone::Dim));
        }
        self.writer.line(&pieces);
    }
}

fn about(table: &mut Table, pair: &Pair, world: &World) {
    let of = |make: &dyn Fn(&PastFleet) -> String| [make(&pair.0), make(&pair.1)];
    let name = |fleet: &PastFleet| fleet.listed.header.name.as_deref().map(why::head);
    if name(&pair.0).or(name(&pair.1)).is_some() {
        table.row("name", &of(&|fleet| name(fleet).unwrap_or_default()), "");
    }
    let ago = |fleet: &PastFleet| {
        format!("{} ago", time_text::age(world.now.since(fleet.listed.created)))
    };
    table.row("made", &of(&ago), "");
    table.row("state", &of(&|fleet| fleet.listed.standing.as_str().to_owned()), "");
}

/// How many agents there are, and how many of them ended how.
fn counts(table: &mut Table, pair: &Pair) {
    let number = |name: &str, values: [u64; 2], table: &mut Table| {
        let [first, second] = values;
        table.row(name, &values.map(thousands), &signed(first, second, thousands));
    };
    let kpis = [pair.0.snapshot.header.kpis, pair.1.snapshot.header.kpis];
    number("agents", kpis.map(|it| it.total.into()), table);
    let mut outcomes: BTreeMap<Outcome, [u64; 2]> = BTreeMap::from([(Outcome::Done, [0, 0])]);
    for (place, fleet) in [&pair.0, &pair.1].into_iter().enumerate() {
        for (outcome, number) in &fleet.snapshot.header.outcomes {
            if let Some(of_fleet) = outcomes.entry(*outcome).or_default().get_mut(place) {
                *of_fleet = (*number).into();
            }
        }
    }
    for (outcome, values) in outcomes {
        number(&why::word(Status::Ended(outcome)), values, table);
    }
    for (name, values) in [
        ("running", kpis.map(|it| u64::from(it.running))),
        ("queued", kpis.map(|it| u64::from(it.queued))),
    ] {
        if values != [0, 0] {
            number(name, values, table);
        }
    }
}

fn numbers(table: &mut Table, pair: &Pair, world: &World) {
    let headers = [&pair.0.snapshot.header, &pair.1.snapshot.header];
    let unknown = headers.map(|header| header.cost_unknown);
    let untold = headers.map(|header| header.cost_unknown.saturating_add(header.unread));
    let spent = headers.map(|header| header.spent);
    let least = |place: usize| {
        let is_least = untold.get(place).is_some_and(|number| *number > 0);
        let sign = if is_least { world.theme.words.at_least() } else { "" };
        format!("{sign}{}", spent.get(place).copied().unwrap_or_default())
    };
    let difference = if untold == [0, 0] {
        money_difference(Some(spent[0]), Some(spent[1]))
    } else {
        UNKNOWN.to_owned()
    };
    table.row("cost", &[least(0), least(1)], &difference);
    if unknown != [0, 0] {
        table.row("unknown", &unknown.map(|number| format!("of {number}")), "");
    }
    let kpis = headers.map(|header| header.kpis);
    for (name, values) in [("tokens", kpis.map(|it| it.tokens)), ("steps", kpis.map(|it| it.steps))]
    {
        table.row(name, &values.map(thousands), &signed(values[0], values[1], thousands));
    }
    let took = [pair.0.listed.took(), pair.1.listed.took()];
    let words = took.map(|took| took.map(tenths).unwrap_or_default());
    table.row("took", &words, &time_difference(took[0], took[1]));
}

/// Each task that both fleets had, then what only one of them had.
fn tasks(table: &mut Table, pair: &Pair, world: &World) {
    let Paired { both, first, second } = Paired::of(&pair.0.snapshot, &pair.1.snapshot);
    table.writer.blank();
    let head = match both.len() {
        0 => "No task is in both of them.".to_owned(),
        number => format!("{} in both", count(number, "task")),
    };
    table.writer.text(&head, Tone::Focus);
    for (one, other) in both {
        table.writer.line(&[(&why::head(&one.task.text), Tone::Strong)]);
        let difference = difference(one, other, pair);
        let tones = [Tone::of(one.status), Tone::of(other.status)];
        let ended = [ended(one, &pair.0, world), ended(other, &pair.1, world)];
        let costs = [cost(one, world), cost(other, world)];
        if table.has_differences {
            let told = |place: usize| {
                let parts = [ended.get(place), costs.get(place)];
                parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
            };
            table.columns("", &[told(0), told(1)], &difference, tones);
            continue;
        }
        table.columns("", &ended, "", tones);
        if costs.iter().any(|cost| !cost.is_empty()) {
            table.columns("", &costs, "", [Tone::Money; 2]);
        }
        table.writer.line(&[(&fit("", NAMES), Tone::Dim), (&difference, Tone::Dim)]);
    }
    for (rows, fleet) in [(first, &pair.0), (second, &pair.1)] {
        if rows.is_empty() {
            continue;
        }
        table.writer.blank();
        let head = format!("{} only in {}", count(rows.len(), "task"), fleet.listed.id);
        table.writer.text(&head, Tone::Focus);
        for row in rows {
            let words = format!("{} {} ", ended(row, fleet, world), cost(row, world));
            let tone = Tone::of(row.status);
            table.writer.line(&[(&words, tone), (&why::head(&row.task.text), Tone::Plain)]);
        }
    }
}

/// `✓ 12s`.
fn ended(row: &Row, fleet: &PastFleet, world: &World) -> String {
    let took = elapsed(row, &fleet.snapshot).map(tenths).unwrap_or_default();
    format!("{} {took}", world.theme.words.glyph(row.status))
}

/// `$0.4200`; nothing for an agent that costs nothing.
fn cost(row: &Row, world: &World) -> String {
    let unknown = if row.cost_status == CostStatus::None { "" } else { UNKNOWN };
    known_cost(row, world.theme.words).unwrap_or_else(|| unknown.to_owned())
}

fn elapsed(row: &Row, snapshot: &Snapshot) -> Option<Duration> {
    row.started.map(|_| row.elapsed(snapshot.at))
}

fn difference(one: &Row, other: &Row, pair: &Pair) -> String {
    let took = time_difference(elapsed(one, &pair.0.snapshot), elapsed(other, &pair.1.snapshot));
    let is_free = |row: &Row| row.cost_status == CostStatus::None;
    if is_free(one) && is_free(other) {
        return took;
    }
    let known = |row: &Row| row.cost.filter(|_| row.cost_status != CostStatus::Unknown);
    format!("{took} {}", money_difference(known(one), known(other)))
}

/// Returns by how much the second number differs from the first: `+3`, `-12s`, `=`.
fn signed(first: u64, second: u64, words: impl Fn(u64) -> String) -> String {
    match first.cmp(&second) {
        std::cmp::Ordering::Less => format!("+{}", words(second - first)),
        std::cmp::Ordering::Equal => "=".to_owned(),
        std::cmp::Ordering::Greater => format!("-{}", words(first - second)),
    }
}

fn money_difference(first: Option<NanoUsd>, second: Option<NanoUsd>) -> String {
    let (Some(first), Some(second)) = (first, second) else { return UNKNOWN.to_owned() };
    signed(first.as_nanos(), second.as_nanos(), |nanos| NanoUsd::from_nanos(nanos).to_string())
}

fn time_difference(first: Option<Duration>, second: Option<Duration>) -> String {
    let (Some(first), Some(second)) = (first, second) else { return UNKNOWN.to_owned() };
    // In tenths, as both are told.
    let of = |span: Duration| u64::try_from(span.as_millis() / 100).unwrap_or(u64::MAX);
    signed(of(first), of(second), |number| {
        tenths(Duration::from_millis(number.saturating_mul(100)))
    })
}

/// Agents of two fleets by their tasks. An agent that was tried again yields to the one that did.
#[derive(Debug, Default)]
struct Paired<'a> {
    both: Vec<(&'a Row, &'a Row)>,
    first: Vec<&'a Row>,
    second: Vec<&'a Row>,
}

impl<'a> Paired<'a> {
    /// Pairs agents whose tasks have the same text, in their order where a text occurs more than once.
    fn of(first: &'a Snapshot, second: &'a Snapshot) -> Self {
        let last = |snapshot: &'a Snapshot| {
            snapshot.rows.iter().map(AsRef::as_ref).filter(|row: &&Row| row.retried_by.is_none())
        };
        let mut others: HashMap<&str, VecDeque<&Row>> = HashMap::new();
        for row in last(second) {
            others.entry(row.task.text.trim()).or_default().push_back(row);
        }
        let mut paired = Self::default();
        for row in last(first) {
            match others.get_mut(row.task.text.trim()).and_then(VecDeque::pop_front) {
                Some(other) => paired.both.push((row, other)),
                None => paired.first.push(row),
            }
        }
        paired.second = others.into_values().flatten().collect();
        paired.second.sort_by_key(|row| row.id);
        paired
    }
}

#[cfg(test)]
mod tests;
