//! The numbers of the fleet, on top: who runs, what it costs, what needs its owner.
//!
//! What may go here: their words and which of them yield on a narrow terminal. What may not: counting anything that the
//! snapshot counts, so that header and table always agree.

mod pace;

use std::collections::HashMap;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use pace::{in_cents, pace};

use super::cells::{Part, fitting, needed, put_parts};
use super::theme::Tone;
use super::world::{Connection, World};
use crate::core::{NanoUsd, Outcome, Status};
use crate::words::plain_text::{cells, cut_cells, one_line, thousands};
use crate::words::status_line::money;
use crate::words::time_text::{self, duration};
use crate::words::why;

/// Cells of the gauge.
const GAUGE: usize = 10;
/// Below this many columns counts are a glyph and a number.
const WORDY: u16 = 60;
/// Most cells of a text from outside, such as a name or a cause.
const NAME: usize = 32;
/// Between two parts: a dot with its blanks.
const DOT: usize = 3;

/// Draws them: one row on a small terminal, else two.
pub(crate) fn draw(area: Rect, buffer: &mut Buffer, world: &World) {
    if area.width < 3 || area.height == 0 {
        return;
    }
    let theme = world.theme;
    let row = Rect { x: area.x + 1, width: area.width - 2, height: 1, ..area };
    let width = usize::from(row.width);
    let alarms = alarms(world);
    if area.height == 1 {
        let money = money_parts(world);
        let spent = money.first().map_or(0, |part| cells(&part.text) + DOT);
        let room = width.saturating_sub(needed(&alarms, DOT) + spent + DOT);
        let mut parts = alarms;
        parts.extend(counts(world, if area.width < WORDY { 0 } else { room }));
        parts.extend(money);
        parts.extend(name(world));
        put_parts(buffer, row, &fitting(parts, width, DOT), theme);
        return;
    }
    let alarms = fitting(alarms, width, DOT);
    let taken = needed(&alarms, DOT);
    let room = if taken == 0 { width } else { width.saturating_sub(taken + DOT) };
    let mut parts = name(world);
    parts.extend(counts(world, room));
    parts.extend(beside_counts(world));
    for part in &mut parts {
        // Only an alarm never yields when there is one.
        part.rank = part.rank.max(u8::from(taken > 0));
    }
    put_parts(buffer, row, &fitting(parts, room, DOT), theme);
    let shift = u16::try_from(width.saturating_sub(taken)).unwrap_or_default();
    let right = Rect { x: row.x + shift, width: row.width - shift, ..row };
    put_parts(buffer, right, &alarms, theme);
    let mut parts = money_parts(world);
    parts.extend(beside_money(world));
    let below = Rect { y: row.y + 1, ..row };
    put_parts(buffer, below, &fitting(parts, width, DOT), theme);
}

/// What must be seen: it never yields, or last.
fn alarms(world: &World) -> Vec<Part> {
    let header = &world.snapshot.header;
    let mut parts = Vec::new();
    match &world.connection {
        Connection::Up => {
            if world.snapshot.question.is_some() {
                parts.push(Part::new(0, Tone::Hit, "cap reached · F4 answers"));
            }
        }
        Connection::Waiting(what) => parts.push(Part::new(0, Tone::Warning, cut(what))),
        Connection::Failed(why) => parts.push(Part::new(0, Tone::Bad, cut(why))),
    }
    if world.connection != Connection::Up && has_been_seen(world) {
        parts.push(Part::new(0, Tone::Warning, format!("as of {}", as_of(world))));
    }
    // A fleet that is only looked at has ended: nothing of it waits to go on.
    if let Some(hold) = header.hold.as_ref().filter(|_| !world.is_read_only) {
        parts.push(Part::new(1, Tone::Warning, cut_cells(&why::held(hold), 2 * NAME)));
    }
    let needy = world.snapshot.rows.iter().filter(|row| why::needs_owner(row)).count();
    if needy > 0 {
        let verb = if needy == 1 { "needs" } else { "need" };
        parts.push(Part::new(2, Tone::Warning, format!("{needy} {verb} you")));
    }
    for (kind, cause) in &header.kinds_held {
        parts.push(Part::new(3, Tone::Warning, format!("{} held: {}", cut(kind), cut(cause))));
    }
    parts
}

/// Says whether there is anything to show: a fleet that was never seen has no numbers.
fn has_been_seen(world: &World) -> bool {
    world.connection == Connection::Up || !world.snapshot.rows.is_empty()
}

/// Returns when the numbers were true: the time, with the day if it was another one.
fn as_of(world: &World) -> String {
    let then = time_text::local(world.snapshot.at, &world.zone);
    let now = time_text::local(world.now, &world.zone);
    match (then.split_once(' '), now.split_once(' ')) {
        (Some((day, time)), Some((today, _))) if day == today => time.to_owned(),
        _ => then,
    }
}

fn name(world: &World) -> Vec<Part> {
    let header = &world.snapshot.header;
    let name = header.name.as_ref().map_or_else(|| header.fleet.to_string(), |name| cut(name));
    let mut parts = vec![Part::new(4, Tone::Strong, cut(&name))];
    if world.is_demo {
        parts.push(Part::new(3, Tone::Warning, "demo"));
    }
    if world.is_read_only {
        parts.push(Part::new(3, Tone::Warning, "read-only"));
    }
    parts.push(Part::new(7, Tone::Dim, last_name(&world.folder)));
    parts
}

/// Returns the last part of a path with a slash.
fn last_name(path: &Path) -> String {
    path.file_name().map(|name| format!("{}/", cut(&name.to_string_lossy()))).unwrap_or_default()
}

/// Counts by state within so many cells: in words if all of them fit, else a glyph and a number each, so that none is
/// left out.
fn counts(world: &World, room: usize) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    let wordy = counts_as(world, false);
    if needed(&wordy, DOT) <= room { wordy } else { counts_as(world, true) }
}

/// Counts by state. Zero is not worth a word, except for what is done.
fn counts_as(world: &World, is_compact: bool) -> Vec<Part> {
    let kpis = &world.snapshot.header.kpis;
    let mut parts = Vec::new();
    let mut add = |rank, tone, number: u32, status: Status, word: String| {
        if number > 0 || status == Status::Ended(Outcome::Done) {
            let text = if is_compact {
                format!("{}{number}", world.theme.words.glyph(status))
            } else {
                format!("{} {word}", thousands(number.into()))
            };
            parts.push(Part::new(rank, tone, text));
        }
    };
    let failed = [Outcome::Failed, Outcome::Lost];
    add(1, Tone::Live, kpis.running, Status::Running, "running".to_owned());
    add(2, Tone::Dim, kpis.queued, Status::Queued, "queued".to_owned());
    add(1, Tone::Good, kpis.done, Status::Ended(Outcome::Done), "done".to_owned());
    for (outcome, number) in &world.snapshot.header.outcomes {
        if *outcome != Outcome::Done {
            let is_bad = failed.contains(outcome);
            let (rank, tone) = if is_bad { (1, Tone::Bad) } else { (3, Tone::Warning) };
            let status = Status::Ended(*outcome);
            add(rank, tone, *number, status, why::word(status));
        }
    }
    if is_compact {
        // Glyphs and numbers need no dots between them.
        let texts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
        return vec![Part::new(1, Tone::Plain, texts.join(" "))];
    }
    parts
}

fn beside_counts(world: &World) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    let most = world.snapshot.header.max_parallel;
    let text = most.map_or_else(|| "all at once".to_owned(), |most| format!("max {most} at once"));
    vec![Part::new(6, Tone::Dim, text)]
}

/// What is spent, of what, and how long that lasts.
fn money_parts(world: &World) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    let header = &world.snapshot.header;
    let Some(cap) = header.cap else {
        return vec![Part::new(1, Tone::Money, money(header, world.theme.words))];
    };
    let (spent, whole) = (u128::from(header.spent.as_nanos()), u128::from(cap.as_nanos()));
    let percent = (spent * 100).checked_div(whole).unwrap_or(100);
    // The warning comes at four fifths.
    let (tone, share) = match percent {
        0..80 => (Tone::Money, format!("{percent}%")),
        80..100 => (Tone::Warning, format!("{percent}% of the cap")),
        _ => (Tone::Bad, "cap reached".to_owned()),
    };
    let gauge = world.theme.gauge(header.spent.as_nanos(), cap.as_nanos(), GAUGE);
    vec![
        Part::new(1, tone, money(header, world.theme.words)),
        Part::new(if percent < 80 { 4 } else { 3 }, tone, format!("{gauge} {share}")),
        Part::new(3, tone, forecast(world).unwrap_or_default()),
    ]
}

/// Returns when the cap is reached at the pace of the last minutes. Nothing is forecast for a fleet that does nothing.
fn forecast(world: &World) -> Option<String> {
    let header = &world.snapshot.header;
    let cap =
        header.cap.filter(|_| world.connection == Connection::Up && header.kpis.running > 0)?;
    let left = Some(cap.saturating_sub(header.spent)).filter(|left| *left > NanoUsd::ZERO)?;
    let pace = pace(&world.snapshot)?;
    let minutes = left.as_nanos().div_ceil(pace.as_nanos().max(1));
    let left = if minutes < 120 { format!("{minutes} min") } else { format!("{} h", minutes / 60) };
    Some(format!("cap in ~{left} at {}/min", in_cents(pace)))
}

fn beside_money(world: &World) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    let header = &world.snapshot.header;
    let kpis = &header.kpis;
    let mut parts = Vec::new();
    if header.cap.is_some() && header.reserved.as_nanos() > 0 {
        parts.push(Part::new(5, Tone::Dim, format!("{} reserved", header.reserved)));
    }
    if header.cap.is_some() && header.without_budget > 0 && kpis.running > 0 {
        let (agents, have) =
            if header.without_budget == 1 { ("agent", "has") } else { ("agents", "have") };
        let text = format!("may overshoot: {} {agents} {have} no budget", header.without_budget);
        parts.push(Part::new(4, Tone::Warning, text));
    }
    let elapsed = header.elapsed(world.clock()).map(duration);
    parts.extend(elapsed.map(|time| Part::new(3, Tone::Plain, time)));
    for (number, word, rank) in [
        (kpis.tokens, "tok", 6),
        (kpis.steps, "steps", 7),
        (u64::from(kpis.validated), "tested", 8),
        (kpis.mesh, "shared keys", 8),
    ] {
        if number > 0 {
            parts.push(Part::new(rank, Tone::Dim, format!("{} {word}", thousands(number))));
        }
    }
    parts.extend(sharers(world).map(|text| Part::new(4, Tone::Warning, text)));
    parts
}

/// Names the folder in which most agents may write at once, if it is more than one.
fn sharers(world: &World) -> Option<String> {
    let mut roots: HashMap<&Path, usize> = HashMap::new();
    let writes =
        |row: &&std::sync::Arc<crate::core::Row>| row.status.is_live() && !row.task.read_only;
    for row in world.snapshot.rows.iter().filter(writes) {
        *roots.entry(&row.task.root).or_default() += 1;
    }
    let (root, number) = roots.into_iter().max_by_key(|(root, number)| (*number, *root))?;
    (number > 1).then(|| format!("{number} agents share {}", last_name(root)))
}

/// Returns a text from outside on one line, cut to what a header has room for.
fn cut(text: &str) -> String {
    let text = one_line(&text.chars().take(16 * NAME).collect::<String>());
    if cells(&text) > 2 * NAME { cut_cells(&text, 2 * NAME) } else { text }
}

#[cfg(test)]
mod tests;
