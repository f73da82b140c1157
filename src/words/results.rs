//! What the agents answered: one block a batch, for people.
//!
//! What may go here: its lines, from one snapshot. What may not: reading files; it names them.

use std::path::Path;

use jiff::tz::TimeZone;

use crate::core::{AgentId, BatchStatus, BatchView, Moment, Outcome, Row, Snapshot, Status};
use crate::runtime::summary::AgentFiles;
use crate::words::changed_files::{Evidence, source};
use crate::words::plain_text::{count, headline, lines as clean_lines, one_line, steps, thousands};
use crate::words::report_line::end_line;
use crate::words::style::{Meaning, Style};
use crate::words::time_text;
use crate::words::why::{self, word};

/// Characters of an answer that are shown whole; a longer one loses its middle.
const ANSWER: usize = 4_000;
/// Graphemes of a task in the head of its part.
const GOAL: usize = 100;
/// Graphemes of an error.
const ERROR: usize = 300;

/// What surrounds the results.
#[derive(Debug, Clone)]
pub struct Around<'a> {
    /// Folder of the fleet, whose files are named.
    pub fleet_dir: &'a Path,
    /// The moment of now.
    pub now: Moment,
    /// Where the reader's clock hangs.
    pub zone: &'a TimeZone,
    /// The agents that are meant; `None` if all are. A batch of which none is meant is left out.
    pub only: Option<&'a [AgentId]>,
}

impl Around<'_> {
    /// Returns the rows of a batch that are meant, in the order of its tasks.
    pub(super) fn rows_of<'a>(&self, view: &'a BatchView, snapshot: &'a Snapshot) -> Vec<&'a Row> {
        let mut rows = rows_of(view, snapshot);
        rows.retain(|row| self.only.is_none_or(|only| only.contains(&row.id)));
        rows
    }
}

/// Returns the results of all batches.
pub fn results(snapshot: &Snapshot, around: &Around<'_>, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for view in &snapshot.batches {
        let rows = around.rows_of(view, snapshot);
        if rows.is_empty() && around.only.is_some() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(batch(view, &rows, snapshot, around, style));
    }
    if lines.is_empty() {
        lines.push("no tasks yet".to_owned());
    }
    lines
}

/// Returns the same in one line a task: those that ended as they were told when they did, others with their state.
pub fn compact(snapshot: &Snapshot, around: &Around<'_>, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for view in &snapshot.batches {
        for row in around.rows_of(view, snapshot) {
            lines.push(if row.status.is_ended() {
                end_line(row, style)
            } else {
                let goal = crate::words::report_line::goal(row);
                style.text(&format!(
                    "{} [{}] {goal} ({})",
                    style.glyph(row.status),
                    row.tag,
                    row.status.as_str()
                ))
            });
        }
    }
    if lines.is_empty() {
        lines.push("no tasks yet".to_owned());
    }
    lines
}

/// Returns the rows of a batch in the order of its tasks.
pub(crate) fn rows_of<'a>(view: &'a BatchView, snapshot: &'a Snapshot) -> Vec<&'a Row> {
    let agents = view.batch.agents.iter();
    let mut rows: Vec<&Row> =
        agents.filter_map(|id| snapshot.row(*id)).map(AsRef::as_ref).collect();
    rows.sort_by_key(|row| (row.index, row.id));
    rows
}

/// Returns how a batch stands in one word for people: one of which nothing runs is not running.
pub(crate) fn standing_word(view: &BatchView, snapshot: &Snapshot) -> &'static str {
    let is_live = |row: &&Row| row.status.is_live();
    if view.status == BatchStatus::Running && !rows_of(view, snapshot).iter().any(is_live) {
        return "queued";
    }
    status_word(view.status)
}

/// Returns how a batch stands in one word, as machines know it.
pub(crate) fn status_word(status: BatchStatus) -> &'static str {
    match status {
        BatchStatus::Running => "running",
        BatchStatus::Completed => "completed",
        BatchStatus::Error => "error",
    }
}

fn batch(
    view: &BatchView,
    rows: &[&Row],
    snapshot: &Snapshot,
    around: &Around<'_>,
    style: Style,
) -> Vec<String> {
    let dot = style.dot();
    let status = standing_word(view, snapshot);
    let all = view.batch.agents.len();
    let tasks = count(all, "task");
    let tasks = if rows.len() < all { format!("{} of {tasks}", rows.len()) } else { tasks };
    let title =
        format!("=== {}{dot}{}{dot}{tasks}{dot}{status} ===", view.batch.tag(), view.batch.id);
    let queued = view.batch.queued;
    let age = time_text::age(around.now.since(queued));
    let mut lines = vec![
        style.text(&title),
        format!("Dispatched: {} ({age} ago)", time_text::local(queued, around.zone)),
    ];
    if let Some(origin) = &view.batch.origin {
        lines.push(style.text(&format!("Origin: {}", headline(origin, GOAL))));
    }
    if let Some(context) = rows.first().and_then(|row| row.task.context.as_deref()) {
        lines.push(style.text(&format!("Context: {}", headline(context, ERROR))));
    }
    let common = common_cause(rows);
    if let Some(cause) = &common {
        let notice = style
            .text(&format!("All {} failed for one reason: {cause}", count(rows.len(), "task")));
        lines.push(style.paint(Meaning::Bad, &notice));
    }
    for row in rows {
        lines.push(String::new());
        lines.extend(task(row, snapshot, around, style, common.is_some()));
    }
    lines
}

/// Returns the reason for which all tasks of a batch failed, if it is the same one.
pub(crate) fn common_cause(rows: &[&Row]) -> Option<String> {
    let (first, others) = rows.split_first()?;
    let error = error(first)?;
    let same =
        !others.is_empty() && others.iter().all(|row| self::error(row).as_deref() == Some(&error));
    same.then_some(error)
}

/// Returns why an agent is not done, cut, on one line.
pub(crate) fn error(row: &Row) -> Option<String> {
    let end = row.end.as_ref().filter(|end| end.outcome != Outcome::Done)?;
    Some(headline(&end.error, ERROR)).filter(|error| !error.is_empty())
}

fn task(
    row: &Row,
    snapshot: &Snapshot,
    around: &Around<'_>,
    style: Style,
    cause_told: bool,
) -> Vec<String> {
    let truncated = row.end.as_ref().is_some_and(|end| end.truncated);
    let icon = if truncated {
        style.paint(Meaning::Warning, style.warning())
    } else {
        style.painted_glyph(row.status)
    };
    let facts = facts(row, snapshot, truncated);
    let head = headline(&row.task.text, GOAL);
    let mut lines = vec![format!(
        "{icon} {}",
        style.text(&format!("{} {}/{}: {head}  ({})", row.id, row.index, row.of, facts.join(", ")))
    )];
    let files = AgentFiles::of(around.fleet_dir, row.id);
    let done = row.status == Status::Ended(Outcome::Done);
    match output(row) {
        Some(text) => {
            if !done {
                lines.push("  Partial output:".to_owned());
            }
            lines.extend(
                shortened(&clean_lines(&text), &files.out)
                    .text
                    .lines()
                    .map(|line| style.text(&format!("  {line}"))),
            );
        }
        None if row.status.is_ended() => lines.push("  (no output)".to_owned()),
        None => {}
    }
    if let Some(error) = error(row).filter(|_| !cause_told) {
        lines.push(style.text(&format!("  Error: {error}")));
    }
    if let Some(path) = row.end.as_ref().and_then(|end| end.tails.diagnostic.as_ref()) {
        lines.push(style.text(&format!("  Diagnostic: {}", one_line(path))));
    }
    if let Some(unheard) = why::unheard(row).filter(|_| row.status.is_ended()) {
        lines.push(style.paint(Meaning::Warning, &style.text(&format!("  Told: {unheard}"))));
    }
    if !row.files_changed.is_empty() {
        let files: Vec<String> = row.files_changed.iter().map(|file| one_line(file)).collect();
        let evidence = Evidence::of(row);
        let seen = (evidence == Some(Evidence::Seen)).then_some("seen on disk");
        let note = source(row).or(seen).map(|note| format!(" ({note})")).unwrap_or_default();
        lines.push(style.text(&format!("  Files: {}{note}", files.join(" "))));
        if let Some(Evidence::Unseen(which)) = evidence {
            let text = style.text(&format!("  {} {which}", style.warning()));
            lines.push(style.paint(Meaning::Warning, &text));
        }
    }
    if row.started.is_some() {
        lines.push(style.text(&format!("  Log: {}", one_line(&files.log().to_string_lossy()))));
    }
    lines
}

/// Returns how it stands in a few words.
fn facts(row: &Row, snapshot: &Snapshot, truncated: bool) -> Vec<String> {
    let mut facts = vec![word(row.status), time_text::duration(row.elapsed(snapshot.at))];
    if row.steps > 0 {
        facts.push(steps(row.steps));
    }
    if truncated {
        facts.push("TRUNCATED".to_owned());
    }
    match row.validated {
        Some(true) => facts.push("tested".to_owned()),
        Some(false) => facts.push("tests failed".to_owned()),
        None => {}
    }
    facts
}

/// A text that may have lost its middle.
pub(super) struct Shortened {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// Returns a long answer as its first three quarters and its last one, cut between lines where there are any; where
/// the whole of it is stands between them.
pub(super) fn shortened(text: &str, whole: &Path) -> Shortened {
    let text = text.trim_end();
    let length = text.chars().count();
    if length <= ANSWER {
        return Shortened { text: text.to_owned(), is_cut: false };
    }
    let place =
        |number: usize| text.char_indices().nth(number).map_or(text.len(), |(place, _)| place);
    let (head, _) = text.split_at_checked(place(ANSWER / 4 * 3)).unwrap_or((text, ""));
    let (_, tail) = text.split_at_checked(place(length - ANSWER / 4)).unwrap_or(("", text));
    // A line border within the last or first fifth of a part; a single endless line is cut where it must be.
    let head = head
        .rfind('\n')
        .filter(|border| *border > head.len() / 5 * 4)
        .and_then(|border| head.get(..border))
        .unwrap_or(head);
    let tail = tail
        .find('\n')
        .filter(|border| *border < tail.len() / 5)
        .and_then(|border| tail.get(border + 1..))
        .unwrap_or(tail);
    let left_out = length - head.chars().count() - tail.chars().count();
    let left_out = thousands(u64::try_from(left_out).unwrap_or(u64::MAX));
    let text = format!(
        "{head}\n[… {left_out} characters left out; all of it: {}]\n{tail}",
        one_line(&whole.to_string_lossy())
    );
    Shortened { text, is_cut: true }
}

/// Returns what is shown of what an agent has come to: its answer, or the last it said where there is none.
pub(super) fn output(row: &Row) -> Option<String> {
    if row.answer.trim().is_empty() {
        row.end.as_ref().and_then(|end| end.tails.out_line.clone())
    } else {
        Some(row.answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{Phase, Waits};

    const WIDE: Style = Style { terminal: false, colour: false, unicode: true };

    fn shown(snapshot: &Snapshot) -> Vec<String> {
        let around = Around {
            fleet_dir: Path::new("/f"),
            now: Moment(500 + 18 * 60_000),
            zone: &TimeZone::UTC,
            only: None,
        };
        results(snapshot, &around, WIDE)
    }

    fn answered(id: u32, answer: &str) -> Row {
        let mut row = end(row(id), Outcome::Done, "");
        row.answer = answer.into();
        row
    }

    #[test]
    fn a_batch_of_which_nothing_runs_is_not_said_to_run() {
        let mut queued = row(2);
        (queued.status, queued.phase) = (Status::Queued, Phase::Waits(Waits::Host));
        let head = |rows: Vec<Row>| shown(&snapshot(1, rows)).remove(0);
        let waits = head(vec![answered(1, "one"), queued.clone()]);
        assert_eq!(waits, "=== set 1 · deleg_00000001 · 2 tasks · queued ===");
        let runs = head(vec![row(1), queued]);
        assert_eq!(runs, "=== set 1 · deleg_00000001 · 2 tasks · running ===");
    }

    /// C-114; C-112: the tasks stand in their order whatever the order of their ends.
    #[test]
    fn a_batch_is_one_block_with_its_tasks_in_order() {
        let mut cut = answered(2, "half an ans");
        cut.end.as_mut().unwrap().truncated = true;
        cut.end.as_mut().unwrap().at = Moment(9);
        let mut failed = end(row(3), Outcome::Failed, "exit code 3\nand more");
        failed.end.as_mut().unwrap().tails.out_line = Some("got so far".into());
        let mut done = answered(1, "line one\nline two");
        done.steps = 1_200;
        done.files_changed = vec!["a.py".into()];
        assert_eq!(
            shown(&snapshot(1, vec![failed, done, cut])),
            [
                "=== set 1 · deleg_00000001 · 3 tasks · completed ===",
                "Dispatched: 1970-01-01 00:00:00 (18m ago)",
                "",
                "✓ #1 1/3: goal 1  (done, 12s, 1,200 steps)",
                "  line one",
                "  line two",
                "  Files: a.py",
                "  Log: /f/agents/0001/out",
                "",
                "⚠ #2 2/3: goal 2  (done, 12s, TRUNCATED)",
                "  half an ans",
                "  Log: /f/agents/0002/out",
                "",
                "✗ #3 3/3: goal 3  (failed, 12s)",
                "  Partial output:",
                "  got so far",
                "  Error: exit code 3 and more",
                "  Log: /f/agents/0003/out",
            ]
        );
    }

    #[test]
    fn of_the_agents_that_are_meant_a_batch_tells_how_many_there_are_and_who_sent_them() {
        let mut other = answered(2, "two");
        other.batch = crate::core::BatchId::from_bits(2);
        other.tag = "set 2".into();
        let mut now = snapshot(1, vec![answered(1, "one"), answered(3, "three"), other]);
        now.batches[0].batch.origin = Some("nightly\u{1b}[2J".into());
        let around = Around {
            fleet_dir: Path::new("/f"),
            now: Moment(500),
            zone: &TimeZone::UTC,
            only: Some(&[AgentId(3)]),
        };
        let lines = results(&now, &around, WIDE);
        assert_eq!(lines[0], "=== set 1 · deleg_00000001 · 1 of 2 tasks · completed ===");
        assert_eq!(lines[2], "Origin: nightly");
        assert!(!lines.iter().any(|line| line.contains("set 2") || line == "  one"), "{lines:?}");
        assert_eq!(compact(&now, &around, WIDE).len(), 1);
    }

    /// C-119: what an agent says of itself stands beside what its own checks and the disk say.
    #[test]
    fn an_answer_stands_beside_its_checks_and_the_files_that_were_seen() {
        let mut row = answered(1, "all done");
        row.files_changed = vec!["a.py".into(), "b\u{1b}[2J.py".into()];
        row.validated = Some(false);
        let mut with = |unseen: Option<Vec<String>>| {
            row.end.as_mut().unwrap().tails.unseen = unseen;
            shown(&snapshot(1, vec![row.clone()])).join("\n")
        };
        let unknown = with(None);
        assert!(unknown.contains("(done, 12s, tests failed)\n  all done\n"), "{unknown}");
        assert!(unknown.contains("  Files: a.py b.py\n"), "nobody has looked: {unknown}");
        let seen = with(Some(Vec::new()));
        assert!(seen.contains("  Files: a.py b.py (seen on disk)\n"), "{seen}");
        let unseen = with(Some(vec!["b\u{1b}[2J.py".into()]));
        let told = "  Files: a.py b.py\n  ⚠ not there, or older than the agent: b.py\n";
        assert!(unseen.contains(told), "{unseen}");
    }

    /// C-116.
    #[test]
    fn one_cause_for_all_is_told_once_above_the_tasks() {
        let rows = |last: &str| {
            vec![end(row(1), Outcome::Failed, "bad key"), end(row(2), Outcome::Failed, last)]
        };
        let same = shown(&snapshot(1, rows("bad key"))).join("\n");
        assert!(same.contains("All 2 tasks failed for one reason: bad key"), "{same}");
        assert_eq!(same.matches("bad key").count(), 1);
        let differ = shown(&snapshot(1, rows("no network"))).join("\n");
        assert!(!differ.contains("one reason") && differ.contains("Error: bad key"), "{differ}");
        let alone = shown(&snapshot(1, vec![end(row(1), Outcome::Failed, "bad key")])).join("\n");
        assert!(!alone.contains("one reason"), "{alone}");
    }

    /// C-118.
    #[test]
    fn a_long_answer_loses_its_middle_on_line_borders_and_the_whole_is_named() {
        let answer: String =
            (0..2_000).map(|number| format!("line {number:04}\n")).collect::<Vec<_>>().concat();
        let text = shown(&snapshot(1, vec![answered(1, &answer)])).join("\n");
        assert!(text.contains("  line 0000\n") && text.contains("  line 1999\n"), "{text}");
        assert!(text.contains("characters left out; all of it: /f/agents/0001/out]"), "{text}");
        let kept: Vec<&str> = text.lines().filter(|line| line.starts_with("  line ")).collect();
        assert!(kept.iter().all(|line| line.len() == "  line 0000".len()), "{kept:?}");
        let (head, tail) = text.split_once("[…").unwrap();
        let count = |part: &str| part.matches("  line ").count();
        assert!(
            (295..=300).contains(&count(head)) && (95..=100).contains(&count(tail)),
            "{} {}",
            count(head),
            count(tail)
        );
        let endless = shown(&snapshot(1, vec![answered(1, &"日".repeat(9_000))])).join("\n");
        assert!(endless.contains("5,000 characters left out"), "{endless}");
    }

    #[test]
    fn an_answer_cannot_steer_the_terminal() {
        let text = shown(&snapshot(1, vec![answered(1, "a\u{1b}[2Jb\u{202e}\r\nc")])).join("\n");
        assert!(text.contains("  ab\n  c\n"), "{text:?}");
    }

    /// C-115.
    #[test]
    fn the_compact_form_has_one_line_a_task() {
        let mut queued = row(2);
        queued.status = Status::Queued;
        let now = snapshot(1, vec![end(row(1), Outcome::Failed, "x"), queued]);
        let around =
            Around { fleet_dir: Path::new("/"), now: Moment(0), zone: &TimeZone::UTC, only: None };
        assert_eq!(
            compact(&now, &around, WIDE),
            ["✗ [set 1 · 1/3] goal 1 (12s) — x", "○ [set 1] goal 2 (queued)"]
        );
        let nothing = snapshot(1, Vec::new());
        assert_eq!(results(&nothing, &around, WIDE), ["no tasks yet"]);
        assert_eq!(compact(&nothing, &around, WIDE), ["no tasks yet"]);
    }
}
