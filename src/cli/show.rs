//! `fleet show`: how a fleet stands, an agent a line, or all that is known of some agents.
//!
//! What may go here: its lines and its JSON, from what was seen of a fleet. What may not: looking at it, reading outputs.

use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::value::RawValue;

use super::fleet_list::{FleetEntry, list};
use super::joined::stuck;
use crate::adapters::talk;
use crate::core::{AgentId, CostStatus, Hold, Row, Snapshot, Status};
use crate::journal::{FleetStanding, to_type};
use crate::runtime::Inspection;
use crate::runtime::roster::{KpiSummary, number, rounded};
use crate::runtime::summary::{AgentFiles, AgentSummary, agent};
use crate::words::plain_text::{
    cut_graphemes, fit, headline, lines as clean_lines, one_line, steps, thousands,
};
use crate::words::status_line::known_cost;
use crate::words::style::{Meaning, Style};
use crate::words::time_text;
use crate::words::why;

/// Version of the JSON's shape.
const VERSION: u32 = 1;
/// Graphemes of a task in the line of its agent, and where all is told of it.
const GOAL: usize = 60;
const TASK: usize = 2_000;
/// Graphemes of an answer of which `fleet results` shows more.
const ANSWER: usize = 500;
/// Said where there is nothing to list.
const NO_AGENTS: &str = "no agents yet";

#[derive(Serialize)]
struct Shown<'a> {
    version: u32,
    fleet: &'a str,
    name: Option<&'a str>,
    root: String,
    state: FleetStanding,
    has_host: bool,
    host_pid: Option<u32>,
    created: String,
    hold: Option<&'static str>,
    question: Option<Asked>,
    kpis: KpiSummary,
    spent_usd: Box<RawValue>,
    cost_unknown: u32,
    cap_usd: Option<Box<RawValue>>,
    agents: Vec<ShownAgent<'a>>,
    count: usize,
    note: Option<&'static str>,
}

#[derive(Serialize)]
struct Asked {
    id: u64,
    cap_usd: Box<RawValue>,
    default_usd: Box<RawValue>,
    queued: u32,
}

#[derive(Serialize)]
struct ShownAgent<'a> {
    #[serde(flatten)]
    summary: AgentSummary<'a>,
    /// Its state with the reason, for people.
    why: String,
    running_seconds: f64,
    /// File to read first.
    log: String,
}

/// Returns all of it as one line of JSON; of `only` these agents if some were named.
pub(crate) fn show_json(seen: &Inspection, only: Option<&[AgentId]>) -> String {
    let (snapshot, header) = (&seen.snapshot, &seen.snapshot.header);
    let agents: Vec<ShownAgent<'_>> =
        rows(snapshot, only).map(|row| shown_agent(row, seen)).collect();
    let shown = Shown {
        version: VERSION,
        fleet: &header.fleet.0,
        name: header.name.as_deref(),
        root: seen.file.root.to_string_lossy().into_owned(),
        state: seen.standing,
        has_host: seen.has_host,
        host_pid: seen.host_pid,
        created: time_text::timestamp(seen.file.created),
        hold: header.hold.as_ref().map(|hold| match hold {
            Hold::Owner => "owner",
            Hold::Back(_) => "back",
            Hold::Cap => "cap",
            Hold::Interrupted(_) => "interrupted",
            Hold::NotSaved(_) => "not_saved",
        }),
        question: snapshot.question.as_ref().map(|question| Asked {
            id: u64::from(question.id.0),
            cap_usd: number(question.cap),
            default_usd: number(question.default),
            queued: question.queued,
        }),
        kpis: (&header.kpis).into(),
        spent_usd: number(header.spent),
        cost_unknown: header.cost_unknown,
        cap_usd: header.cap.map(number),
        count: agents.len(),
        note: agents.is_empty().then_some(NO_AGENTS),
        agents,
    };
    serde_json::to_string(&shown).expect("every key is a text, so that nothing can fail")
}

fn shown_agent<'a>(row: &'a Row, seen: &'a Inspection) -> ShownAgent<'a> {
    let snapshot = &seen.snapshot;
    ShownAgent {
        summary: agent(row, snapshot, seen.dir.path()),
        why: why::state(row, snapshot.at, place(row, snapshot), false),
        running_seconds: rounded(row.elapsed(snapshot.at), 100.0),
        log: AgentFiles::of(seen.dir.path(), row.id).log().to_string_lossy().into_owned(),
    }
}

/// Returns the fleet as lines for people: how it stands, then its agents.
pub(crate) fn fleet_lines(seen: &Inspection, entry: FleetEntry, style: Style) -> Vec<String> {
    let snapshot = &seen.snapshot;
    let mut lines = list(&[entry], snapshot.at, style, usize::MAX);
    lines.extend(host_line(seen).map(|line| style.text(&line)));
    let is_stuck = snapshot.header.kpis.queued > 0 && snapshot.header.idle;
    if is_stuck || snapshot.question.is_some() {
        lines.push(style.paint(Meaning::Warning, &style.text(&stuck(snapshot))));
    }
    if snapshot.rows.is_empty() {
        lines.push(NO_AGENTS.to_owned());
    }
    lines.extend(snapshot.rows.iter().map(|row| line(row, snapshot, style)));
    lines
}

/// Says which process watches the fleet, or that none does and what changes that.
fn host_line(seen: &Inspection) -> Option<String> {
    if let Some(pid) = seen.host_pid {
        return Some(format!("host: process {pid}"));
    }
    let id = seen.dir.id();
    let attach = to_type(format_args!("attach {id}"));
    match seen.standing {
        FleetStanding::Hostless => Some(format!("no host: nobody watches it (`{attach}` does)")),
        FleetStanding::Held if !seen.has_host => Some(format!(
            "no host: nothing starts (`{}` or `{attach}` goes on)",
            to_type(format_args!("resume {id}"))
        )),
        FleetStanding::Live | FleetStanding::Held | FleetStanding::Ended => None,
    }
}

fn line(row: &Row, snapshot: &Snapshot, style: Style) -> String {
    let state = why::state(row, snapshot.at, place(row, snapshot), true);
    let took = row.started.map(|_| time_text::duration(row.elapsed(snapshot.at)));
    let mut facts: Vec<String> = took.into_iter().collect();
    if accepts(row) {
        facts.push("takes messages".to_owned());
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let goal = headline(&row.task.text, GOAL);
    let text = format!(
        "{} [{}] {goal}: {}{facts}",
        fit(&row.id.to_string(), 4),
        row.tag,
        one_line(&state)
    );
    format!("{} {}", style.painted_glyph(row.status), style.text(&text))
}

/// Returns all that is known of some agents, a block each.
pub(crate) fn agent_lines(
    seen: &Inspection,
    only: &[AgentId],
    zone: &TimeZone,
    style: Style,
) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows(&seen.snapshot, Some(only)) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(block(row, seen, zone, style));
    }
    lines
}

fn block(row: &Row, seen: &Inspection, zone: &TimeZone, style: Style) -> Vec<String> {
    let (snapshot, dot) = (&seen.snapshot, style.dot());
    let mut kind = one_line(&row.task.kind.0);
    if let Some(model) = &row.model {
        kind = format!("{kind} ({})", one_line(model));
    }
    let head = format!(
        "{}{dot}{}{dot}{}/{}{dot}{kind}{dot}{}",
        row.id,
        row.tag,
        row.index,
        row.of,
        why::word(row.status)
    );
    let mut lines = vec![format!("{} {}", style.painted_glyph(row.status), style.text(&head))];
    let mut add = |name: &str, text: &str| lines.push(style.text(&format!("  {name}: {text}")));
    let why = why::sentence(row, &snapshot.header, snapshot.at, place(row, snapshot), zone);
    add("State", &one_line(&why));
    let task = clean_lines(&cut_graphemes(&row.task.text, TASK));
    add("Task", &task.trim_end().replace('\n', "\n        "));
    add("Folder", &one_line(&row.task.root.to_string_lossy()));
    if let Some(started) = row.started {
        let took = time_text::duration(row.elapsed(snapshot.at));
        let ago = time_text::age(snapshot.at.since(started));
        add("Started", &format!("{} ({ago} ago), ran {took}", time_text::local(started, zone)));
    }
    add("Work", &work(row, dot, style));
    if let Some(session) = &row.session {
        add("Session", &one_line(session));
    }
    if accepts(row) {
        let steer = format!("steer {} TEXT --fleet {}", row.id.0, seen.dir.id());
        add("Messages", &format!("it takes some now: `{}`", to_type(steer)));
    }
    if !row.answer.trim().is_empty() {
        add("Answer", &headline(&row.answer, ANSWER));
    }
    if !row.files_changed.is_empty() {
        let files: Vec<String> = row.files_changed.iter().map(|file| one_line(file)).collect();
        add("Files", &files.join(" "));
    }
    if row.started.is_some() {
        let files = AgentFiles::of(seen.dir.path(), row.id);
        add("Log", &one_line(&files.log().to_string_lossy()));
        add("Output", &one_line(&files.out.to_string_lossy()));
        add("Errors", &one_line(&files.err.to_string_lossy()));
    }
    lines
}

/// Returns what it has done and what that costs.
fn work(row: &Row, dot: &str, style: Style) -> String {
    // Nothing told is not nothing done.
    let mut parts = Vec::new();
    if row.steps > 0 {
        parts.push(steps(row.steps));
    }
    if row.tokens.total() > 0 {
        parts.push(format!("{} tok", thousands(row.tokens.total())));
    }
    let budget =
        row.task.budget.map(|budget| format!(" of ${}", budget.to_exact())).unwrap_or_default();
    match known_cost(row, style) {
        Some(cost) => parts.push(format!("{cost}{budget}")),
        None if row.cost_status == CostStatus::None => {}
        None => parts.push(format!("cost unknown{budget}")),
    }
    match row.validated {
        Some(true) => parts.push("tested".to_owned()),
        Some(false) => parts.push("tests failed".to_owned()),
        None => {}
    }
    parts.join(dot)
}

fn accepts(row: &Row) -> bool {
    row.status == Status::Running && talk(&row.task).messages
}

fn place(row: &Row, snapshot: &Snapshot) -> Option<usize> {
    snapshot.queue.iter().position(|id| *id == row.id).map(|place| place + 1)
}

fn rows<'a>(snapshot: &'a Snapshot, only: Option<&'a [AgentId]>) -> impl Iterator<Item = &'a Row> {
    let is_meant = move |row: &&Row| only.is_none_or(|only| only.contains(&row.id));
    snapshot.rows.iter().map(AsRef::as_ref).filter(is_meant)
}
