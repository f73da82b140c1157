//! The numbers of the fleet, on top: who runs, what it costs, what needs its owner.
//!
//! What may go here: their words and which of them yield on a narrow terminal. What may not: counting anything that the
//! snapshot counts, so that header and table always agree.

mod pace;
mod replay;
mod share;

use std::collections::HashMap;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use pace::{in_cents, pace, until_cap};

use share::Share;

use super::cells::{Part, fitting, needed, put_parts};
use super::keymap::key_name;
use super::theme::Tone;
use super::world::{Connection, World};
use crate::core::{Outcome, Status};
use crate::words::plain_text::{cells, count, cut_cells, one_line, thousands};
use crate::words::status_line::money;
use crate::words::time_text::{self, duration};
use crate::words::why;

/// Cells of the gauge.
const GAUGE: usize = 10;
/// Below this many columns counts are a glyph and a number.
const WORDY: u16 = 60;
/// Most cells of a text from outside, such as a name or a cause.
const NAME: usize = 32;
/// Least cells of a hold: enough to say that nothing is saved.
const HOLD: usize = 19;
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
    let alarms = alarms(world, width);
    if area.height == 1 {
        let parts = with_money(world, width, |money| {
            let beside = |alarms: &[Part], money: &[Part]| {
                let taken = needed(alarms, DOT) + needed(&lasting(money), DOT) + 2 * DOT;
                width.saturating_sub(taken)
            };
            let wordy = if area.width < WORDY { 0 } else { beside(&alarms, &money) };
            let compact = beside(&lasting(&alarms), &money_parts(world, Told::Least));
            let mut parts = alarms.clone();
            parts.extend(counts(world, wordy, compact));
            parts.extend(money);
            parts.extend(name(world));
            parts
        });
        put_parts(buffer, row, &parts, theme);
        return;
    }
    let alarms = fitting(alarms, width, DOT);
    let taken = needed(&alarms, DOT);
    let room = if taken == 0 { width } else { width.saturating_sub(taken + DOT) };
    let mut parts = name(world);
    parts.extend(counts(world, room, room));
    parts.extend(beside_counts(world));
    for part in &mut parts {
        // Only an alarm never yields when there is one.
        part.rank = part.rank.max(u8::from(taken > 0));
    }
    put_parts(buffer, row, &fitting(parts, room, DOT), theme);
    let shift = u16::try_from(width.saturating_sub(taken)).unwrap_or_default();
    let right = Rect { x: row.x + shift, width: row.width - shift, ..row };
    put_parts(buffer, right, &alarms, theme);
    let parts = with_money(world, width, |mut parts| {
        parts.extend(beside_money(world));
        parts
    });
    let below = Rect { y: row.y + 1, ..row };
    put_parts(buffer, below, &parts, theme);
}

/// Returns the parts that do not yield to counts.
fn lasting(parts: &[Part]) -> Vec<Part> {
    parts.iter().filter(|part| part.rank <= 1).cloned().collect()
}

/// What must be seen on a row of so many cells: it never yields, or last.
fn alarms(world: &World, width: usize) -> Vec<Part> {
    let header = &world.snapshot.header;
    let mut parts = Vec::new();
    match &world.connection {
        Connection::Up => {
            if world.snapshot.question.is_some() {
                let cap = key_name!(Everywhere, Cap);
                let text = if width < usize::from(WORDY) {
                    format!("{cap}: cap hit")
                } else {
                    format!("cap reached · {cap} answers")
                };
                parts.push(Part::new(0, Tone::Hit, text));
            }
        }
        Connection::Waiting(what) => parts.push(Part::new(0, Tone::Warning, cut(what))),
        Connection::Failed(why) => parts.push(Part::new(0, Tone::Bad, cut(why))),
    }
    parts.extend(replay::part(world, width));
    if world.connection != Connection::Up && has_been_seen(world) {
        parts.push(Part::new(0, Tone::Warning, format!("as of {}", as_of(world))));
    }
    if header.unread > 0 && world.connection == Connection::Up {
        let text = if width < usize::from(WORDY) {
            "reading on".to_owned()
        } else {
            let agents = count(usize::try_from(header.unread).unwrap_or(usize::MAX), "agent");
            format!("reading what {agents} wrote meanwhile")
        };
        parts.push(Part::new(0, Tone::Warning, text));
    }
    // A fleet that is only looked at has ended: nothing of it waits to go on.
    if let Some(hold) = header.hold.as_ref().filter(|_| !world.is_read_only) {
        // The cause of a hold can be long; the counts are to be seen beside it.
        let most = (width / 2).clamp(HOLD, 2 * NAME);
        parts.push(Part::new(1, Tone::Warning, cut_cells(&why::held(hold, &world.zone), most)));
    }
    let needy = world.snapshot.rows.iter().filter(|row| why::needs_owner(row)).count();
    if needy > 0 {
        let verb = if needy == 1 { "needs" } else { "need" };
        parts.push(Part::new(2, Tone::Warning, format!("{needy} {verb} you")));
    }
    if let Some(why) = &header.notice_trouble {
        // Its program comes first, and the counts are to be seen beside it.
        let why = cut_cells(&one_line(why), NAME);
        parts.push(Part::new(4, Tone::Warning, format!("notices fail: {why}")));
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
        // The last end of another moment is not the end of the fleet.
        let last_end = header.last_end.filter(|_| world.replay.is_none());
        let ended = last_end.map(|end| time_text::age(world.now.since(end)));
        let ended = ended.map_or_else(|| "ended".to_owned(), |age| format!("ended {age} ago"));
        parts.push(Part::new(3, Tone::Warning, ended));
    }
    parts.push(Part::new(7, Tone::Dim, last_name(&world.folder)));
    parts
}

/// Returns the last part of a path with a slash.
fn last_name(path: &Path) -> String {
    path.file_name().map(|name| format!("{}/", cut(&name.to_string_lossy()))).unwrap_or_default()
}

/// How counts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// In words.
    Wordy,
    /// A glyph and a number each.
    Compact,
    /// The same, and all that ended otherwise than well in one number.
    Least,
}

/// Counts by state: in words if all of them fit into so many cells, else compact within so many, else as short as can be,
/// so that nobody is left out.
fn counts(world: &World, wordy: usize, compact: usize) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    [(Counted::Wordy, wordy), (Counted::Compact, compact)]
        .into_iter()
        .find_map(|(how, room)| Some(counts_as(world, how)).filter(|it| needed(it, DOT) <= room))
        .unwrap_or_else(|| counts_as(world, Counted::Least))
}

/// Counts by state. Zero is not worth a word, except for what is done.
fn counts_as(world: &World, how: Counted) -> Vec<Part> {
    let kpis = &world.snapshot.header.kpis;
    let mut parts = Vec::new();
    let mut add = |number: u32, status: Status, word: String| {
        if number > 0 || status == Status::Ended(Outcome::Done) {
            let text = match how {
                Counted::Wordy => format!("{} {word}", thousands(number.into())),
                Counted::Compact | Counted::Least => {
                    format!("{}{number}", world.theme.words.glyph(status))
                }
            };
            let tone = Tone::of(status);
            let rank = match tone {
                Tone::Dim => 2,
                Tone::Warning => 3,
                _ => 1,
            };
            parts.push(Part::new(rank, tone, text));
        }
    };
    add(kpis.running, Status::Running, "running".to_owned());
    add(kpis.queued, Status::Queued, "queued".to_owned());
    add(kpis.done, Status::Ended(Outcome::Done), "done".to_owned());
    if how == Counted::Least {
        add(kpis.failed, Status::Ended(Outcome::Failed), String::new());
    }
    for (outcome, number) in &world.snapshot.header.outcomes {
        if *outcome != Outcome::Done && how != Counted::Least {
            let status = Status::Ended(*outcome);
            add(*number, status, why::word(status));
        }
    }
    if how != Counted::Wordy {
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

/// How much is said of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// All, with a gauge.
    Fully,
    /// What is spent of what, and a share that warns.
    Shortly,
    /// What is spent, and a share if it warns.
    Least,
}

/// Returns the parts of a row that fit into it, with as much of money as there is room for: a warning is never left to
/// the colour alone.
fn with_money(world: &World, width: usize, row: impl Fn(Vec<Part>) -> Vec<Part>) -> Vec<Part> {
    let needed = |parts: &[Part]| {
        parts.iter().filter(|part| part.rank <= 1 && !part.text.is_empty()).count()
    };
    for told in [Told::Fully, Told::Shortly] {
        let parts = row(money_parts(world, told));
        let all = needed(&parts);
        let fitting = fitting(parts, width, DOT);
        if needed(&fitting) == all {
            return fitting;
        }
    }
    fitting(row(money_parts(world, Told::Least)), width, DOT)
}

fn is_near_cap(world: &World) -> bool {
    Share::of(&world.snapshot.header).is_some_and(Share::is_near)
}

/// What is spent, of what, and how long that lasts.
fn money_parts(world: &World, told: Told) -> Vec<Part> {
    if !has_been_seen(world) {
        return Vec::new();
    }
    let header = &world.snapshot.header;
    let (Some(cap), Some(share)) = (header.cap, Share::of(header)) else {
        return vec![Part::new(1, Tone::Money, money(header, world.theme.words))];
    };
    let (tone, words) = share.told();
    let forecast = Part::new(3, tone, forecast(world).unwrap_or_default());
    let spent = money(header, world.theme.words);
    match told {
        Told::Fully => {
            let gauge = world.theme.gauge(header.spent.as_nanos(), cap.as_nanos(), GAUGE);
            let rank = if share.is_near() { 1 } else { 4 };
            let gauge = Part::new(rank, tone, format!("{gauge} {words}"));
            vec![Part::new(1, tone, spent), gauge, forecast]
        }
        Told::Shortly => {
            vec![Part::new(1, tone, format!("{spent} {}", share.sign())), forecast]
        }
        Told::Least => {
            // An open question says it in words, and numbers that are not live are not what must be seen.
            let is_asked = world.snapshot.question.is_some();
            let is_told = is_asked || world.connection != Connection::Up;
            let is_partly_known = header.cost_unknown + header.unread > 0;
            let least = if is_partly_known { world.theme.words.at_least() } else { "" };
            let sign = if share.is_near() && !is_asked {
                format!(" {}", share.sign())
            } else {
                String::new()
            };
            let rank = u8::from(is_told || !share.is_near());
            vec![Part::new(rank, tone, format!("{least}{}{sign}", header.spent))]
        }
    }
}

/// Returns when the cap is reached at the pace of the last minutes. Nothing is forecast for a fleet that does nothing;
/// beside a warning it is said that nothing is known yet.
fn forecast(world: &World) -> Option<String> {
    let snapshot = &world.snapshot;
    let header = &snapshot.header;
    let is_open = header.cap.is_some_and(|cap| cap > header.spent);
    if world.connection != Connection::Up || header.kpis.running == 0 || !is_open {
        return None;
    }
    match pace(snapshot) {
        Some(pace) => {
            Some(format!("cap in {} at {}/min", until_cap(snapshot, pace)?, in_cents(pace)))
        }
        None => is_near_cap(world).then(|| "pace not known yet".to_owned()),
    }
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
        (kpis.steps, if kpis.steps == 1 { "step" } else { "steps" }, 7),
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
