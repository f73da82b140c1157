//! The lines that `fleet run` prints once each: start, batches, ends, remarks.
//!
//! What may go here: which line is due, and its words. What may not: writing it, redrawing.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use crate::core::{
    AgentId, BatchId, Doubt, Header, Hold, Moment, NanoUsd, Outcome, Phase, Row, Snapshot, Status,
    Waits,
};
use crate::runtime::to_type;
use crate::words::plain_text::{count, cut_graphemes, headline, one_line};
use crate::words::style::{Meaning, Style};
use crate::words::time_text;
use crate::words::why::spoken;

/// Graphemes of a task in the line about its end (upstream B5).
const GOAL: usize = 40;
/// Graphemes of a reason in the line about an end (upstream B5).
const REASON: usize = 120;

/// Remembers what has been said about a fleet.
#[derive(Debug)]
pub struct Reporter {
    zone: TimeZone,
    started: bool,
    batches: HashSet<BatchId>,
    ended: HashSet<AgentId>,
    said: HashSet<String>,
    hold: Option<Hold>,
    interrupted: bool,
    /// The fleet's host is another process, which goes on beside whoever reads this.
    is_beside: bool,
}

impl Reporter {
    /// Begins with nothing said; moments are told as in `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            zone,
            started: false,
            batches: HashSet::new(),
            ended: HashSet::new(),
            said: HashSet::new(),
            hold: None,
            interrupted: false,
            is_beside: false,
        }
    }

    /// Tells a fleet whose host is another process: what is told to be typed goes to that one.
    pub fn set_beside(&mut self) {
        self.is_beside = true;
    }

    /// Returns the lines that this snapshot makes due. Each end is told exactly once, however many lie between two
    /// snapshots.
    pub fn lines(&mut self, snapshot: &Snapshot, style: Style) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.started && !snapshot.rows.is_empty() {
            self.started = true;
            lines.push(start_line(snapshot, style));
        }
        for view in &snapshot.batches {
            if self.batches.insert(view.batch.id.clone()) && view.batch.agents.len() > 1 {
                lines.push(format!(
                    "[{}] {}",
                    view.batch.tag(),
                    count(view.batch.agents.len(), "task")
                ));
            }
        }
        let mut ends: Vec<&Row> = Vec::new();
        for row in &snapshot.rows {
            if row.status.is_ended() && self.ended.insert(row.id) {
                ends.push(row);
            }
            self.marks(row, &mut lines);
        }
        ends.sort_by_key(|row| (row.end.as_ref().map(|end| end.at), row.id));
        lines.extend(ends.into_iter().map(|row| end_line(row, style)));
        self.remarks(snapshot, style, &mut lines);
        lines
    }

    /// Takes the ends, batches and marks of this snapshot as told.
    pub fn skip(&mut self, snapshot: &Snapshot) {
        self.batches.extend(snapshot.batches.iter().map(|view| view.batch.id.clone()));
        self.ended
            .extend(snapshot.rows.iter().filter(|row| row.status.is_ended()).map(|row| row.id));
    }

    fn once(&mut self, line: String, lines: &mut Vec<String>) {
        if self.said.insert(line.clone()) {
            lines.push(line);
        }
    }

    fn marks(&mut self, row: &Row, lines: &mut Vec<String>) {
        if let Phase::Waits(Waits::Env(names)) = &row.phase {
            self.once(format!("{} needs {} (set it and resume)", row.tag, names.join(", ")), lines);
        }
        if row.stalled && row.status.is_live() {
            let goal = goal(row);
            self.once(format!("{} stalled? no progress for long: {goal}", row.id), lines);
        }
        if let Some(doubt) = row.doubt.as_ref().filter(|_| row.is_marked()) {
            self.doubt(row, doubt, lines);
        }
        if let Some(why) = &row.transcript_trouble {
            let why = cut_graphemes(&one_line(why), REASON);
            self.once(format!("{}: its transcript is not complete: {why}", row.id), lines);
        }
    }

    /// Tells a mark, once for each agent and sort: why it fails may be told in other words each time.
    fn doubt(&mut self, row: &Row, doubt: &Doubt, lines: &mut Vec<String>) {
        let (mark, why) = match doubt {
            Doubt::Failing { cause, .. } => {
                ("runaway?", format!("it tries again and again: {}", headline(cause, REASON)))
            }
            Doubt::Repeating { tool, .. } => {
                ("runaway?", format!("{} fails again and again", headline(tool, REASON)))
            }
            Doubt::NoEvent => ("stuck?", "it writes, but no event".to_owned()),
            Doubt::WaitsForInput { prompt } => {
                ("waits for input?", format!("\"{}\"", headline(prompt, REASON)))
            }
        };
        if self.said.insert(format!("{} {mark}", row.id)) {
            lines.push(format!("{} {mark} {why}: {}", row.id, goal(row)));
        }
    }

    fn remarks(&mut self, snapshot: &Snapshot, style: Style, lines: &mut Vec<String>) {
        let header = &snapshot.header;
        if let Some(cap) = header.cap {
            // Four fifths without a float: 5 × spent ≥ 4 × cap.
            let near = u128::from(header.spent.as_nanos()) * 5 >= u128::from(cap.as_nanos()) * 4;
            if near && header.spent < cap {
                let cap = exact(cap);
                self.once(format!("80% of the cap {cap} is spent"), lines);
            }
        }
        for (kind, cause) in &header.kinds_held {
            let cause = headline(cause, REASON);
            self.once(format!("{kind} is held: {cause}"), lines);
        }
        if let Some(why) = &header.notice_trouble {
            self.once(format!("a notice was not told: {}", headline(why, REASON)), lines);
        }
        // What is held by itself waits for no cap, and goes on with no queue.
        let loose = snapshot.queue.len().saturating_sub(snapshot.held_agents().len());
        // A hold of an empty queue is not worth a word, unless nothing can be saved.
        let is_told = |hold: &Hold| match hold {
            Hold::NotSaved(_) => true,
            Hold::Cap => loose > 0,
            Hold::Owner | Hold::Back(_) | Hold::Interrupted(_) => header.kpis.queued > 0,
        };
        let hold = header.hold.clone().filter(is_told);
        if self.hold != hold {
            let line = match &hold {
                Some(hold) if self.is_beside => {
                    Some(hold_line_beside(hold, header, loose, &self.zone))
                }
                Some(hold) => Some(hold_line(hold, header, loose, &self.zone)),
                None => (loose > 0).then(|| "the queue goes on".to_owned()),
            };
            lines.extend(line.map(|line| style.paint(Meaning::Warning, &style.text(&line))));
            self.hold = hold;
        }
        if let Some(signal) = header.interrupted.as_ref().filter(|_| !self.interrupted) {
            self.interrupted = true;
            let running = snapshot.rows.iter().filter(|row| row.status.is_live()).count();
            if running > 0 {
                lines.push(format!(
                    "{signal}: asking {} to end (again kills)",
                    count(running, "agent")
                ));
            }
        }
    }
}

/// Returns an amount with all its digits: `$5.00`.
pub(crate) fn exact(amount: NanoUsd) -> String {
    format!("${}", amount.to_exact())
}

/// Returns the line that says what begins.
fn start_line(snapshot: &Snapshot, style: Style) -> String {
    let header = &snapshot.header;
    let waiting: Vec<&Row> =
        snapshot.rows.iter().map(AsRef::as_ref).filter(|row| !row.status.is_ended()).collect();
    let mut kinds: Vec<&str> = Vec::new();
    for row in &snapshot.rows {
        if !kinds.contains(&row.task.kind.0.as_str()) {
            kinds.push(&row.task.kind.0);
        }
    }
    let mut parts = vec![format!("fleet {}", header.fleet)];
    parts.extend(header.name.as_deref().map(one_line));
    let all = count(snapshot.rows.len(), "agent");
    parts.push(if waiting.len() < snapshot.rows.len() {
        format!("{} of {all} left", waiting.len())
    } else {
        all
    });
    parts.push(kinds.join(", "));
    parts.push(match header.max_parallel {
        Some(most) => format!("{most} at once"),
        None => "all at once".to_owned(),
    });
    if let Some(cap) = header.cap {
        parts.push(format!("cap {}", exact(cap)));
        let open = waiting.iter().filter(|row| row.task.budget.is_none()).count();
        if open > 0 {
            let have = if open == 1 { "has" } else { "have" };
            parts.push(format!("may overshoot: {} {have} no budget", count(open, "agent")));
        }
    }
    style.text(&parts.join(style.dot()))
}

/// Returns the line about the end of an agent.
pub fn end_line(row: &Row, style: Style) -> String {
    let dot = style.dot();
    let place = if row.of > 1 {
        format!("[{}{dot}{}/{}]", row.tag, row.index, row.of)
    } else {
        format!("[{}]", row.tag)
    };
    // An ended row knows its own time, so the moment given does not matter.
    let took = row.elapsed(Moment::default());
    let goal = goal(row);
    let tail =
        end_reason(row).map(|reason| format!("{}{reason}", style.dash())).unwrap_or_default();
    let text = style.text(&format!("{goal} ({}){tail}", time_text::duration(took)));
    format!("{} {} {text}", style.painted_glyph(row.status), style.text(&place))
}

/// Returns what is said after the goal: the reason of a failure, the word of any other end that is not `done`.
fn end_reason(row: &Row) -> Option<String> {
    let Status::Ended(outcome) = row.status else { return None };
    let error = row.end.as_ref().map(|end| one_line(&end.error)).unwrap_or_default();
    let error = cut_graphemes(&error, REASON);
    match outcome {
        Outcome::Done => row
            .end
            .as_ref()
            .filter(|end| end.truncated)
            .map(|_| "the answer was cut off".to_owned()),
        Outcome::Failed | Outcome::Timeout if !error.is_empty() => Some(error),
        Outcome::Failed | Outcome::Timeout | Outcome::Cancelled | Outcome::Interrupted => {
            Some(outcome.as_str().to_owned())
        }
        Outcome::Stalled | Outcome::OverBudget | Outcome::Lost | Outcome::Dropped => {
            let word = spoken(outcome.as_str());
            Some(if error.is_empty() { word } else { format!("{word}: {error}") })
        }
    }
}

/// Returns the task on one line, cut.
pub(crate) fn goal(row: &Row) -> String {
    headline(&row.task.text, GOAL)
}

/// Returns the same as [`hold_line`] with the command that lets the host go on, which is there already.
fn hold_line_beside(hold: &Hold, header: &Header, loose: usize, zone: &TimeZone) -> String {
    let queued = count(usize::try_from(header.kpis.queued).unwrap_or(usize::MAX), "task");
    let goes_on = |words: &str| to_type(format_args!("{words} --fleet {}", header.fleet));
    match hold {
        Hold::Owner => format!("held: {queued} queued ({} goes on)", goes_on("release")),
        Hold::Back(since) => format!(
            "held: {queued} queued since {} ({} goes on)",
            time_text::local(*since, zone),
            goes_on("release")
        ),
        Hold::Cap => {
            let loose = count(loose, "task");
            format!("held at the cap: {loose} queued ({} goes on)", goes_on("cap USD"))
        }
        Hold::Interrupted(_) | Hold::NotSaved(_) => hold_line(hold, header, loose, zone),
    }
}

fn hold_line(hold: &Hold, header: &Header, loose: usize, zone: &TimeZone) -> String {
    let queued = count(usize::try_from(header.kpis.queued).unwrap_or(usize::MAX), "task");
    match hold {
        Hold::Owner => format!("held: {queued} queued until it is released"),
        Hold::Back(since) => format!(
            "held: {queued} queued since {} ({} goes on)",
            time_text::local(*since, zone),
            to_type(format_args!("resume {}", header.fleet))
        ),
        Hold::Cap => format!(
            "held at the cap: {} queued ({} goes on)",
            count(loose, "task"),
            to_type(format_args!("resume {} --cap USD", header.fleet))
        ),
        Hold::Interrupted(signal) => {
            let command = to_type(format_args!("resume {}", header.fleet));
            format!("held ({signal}): {queued} not started ({command})")
        }
        Hold::NotSaved(why) => {
            format!("not saved, nothing starts: {}", headline(why, REASON))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{self, end, row, snapshot};

    const WIDE: Style = Style { terminal: false, colour: false, unicode: true };

    fn at_revision(mut row: Row, revision: u64) -> Row {
        row.revision = revision;
        row
    }

    fn ended(id: u32, outcome: Outcome, error: &str) -> Row {
        end(row(id), outcome, error)
    }

    /// C-109.
    #[test]
    fn an_end_is_a_line_with_glyph_place_goal_and_time_and_a_reason_only_if_it_failed() {
        let mut one = ended(3, Outcome::Failed, &"word ".repeat(60));
        one.index = 3;
        one.of = 12;
        one.task = testing::task(&"long goal ".repeat(10));
        let line = end_line(&one, WIDE);
        let (head, reason) = line.split_once(" — ").unwrap();
        assert_eq!(head, "✗ [set 1 · 3/12] long goal long goal long goal long goal… (12s)");
        assert!(reason.chars().count() <= 120 && reason.ends_with('…'), "{reason}");
        assert_eq!(
            end_line(&ended(1, Outcome::Done, "warning on stderr"), WIDE),
            "✓ [set 1 · 1/3] goal 1 (12s)"
        );
        assert_eq!(
            end_line(&ended(1, Outcome::Timeout, "ran 12s"), WIDE),
            "⏱ [set 1 · 1/3] goal 1 (12s) — ran 12s"
        );
        assert_eq!(
            end_line(&ended(1, Outcome::Cancelled, "x"), WIDE),
            "⊘ [set 1 · 1/3] goal 1 (12s) — cancelled"
        );
        let mut lone = ended(1, Outcome::Done, "");
        lone.of = 1;
        assert_eq!(end_line(&lone, Style::PLAIN), "+ [set 1] goal 1 (12s)");
    }

    #[test]
    fn a_task_full_of_control_characters_is_one_clean_line() {
        let mut one = ended(1, Outcome::Failed, "bad\u{1b}[2J\nthing\u{202e}");
        one.task = testing::task("a\u{1b}]0;t\u{7}\nb");
        assert_eq!(end_line(&one, WIDE), "✗ [set 1 · 1/3] a b (12s) — bad thing");
    }

    #[test]
    fn each_end_is_told_once_in_the_order_of_ends_even_when_snapshots_coalesce() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        let first = snapshot(1, vec![row(1), row(2), row(3)]);
        assert_eq!(reporter.lines(&first, WIDE).len(), 2);
        let mut late = ended(1, Outcome::Done, "");
        late.end.as_mut().unwrap().at = Moment(99_000);
        let rows = vec![at_revision(late, 5), at_revision(ended(2, Outcome::Done, ""), 4), row(3)];
        let lines = reporter.lines(&snapshot(5, rows.clone()), WIDE);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("goal 2") && lines[1].contains("goal 1"), "{lines:?}");
        assert_eq!(reporter.lines(&snapshot(6, rows), WIDE), [""; 0]);
    }

    /// C-108.
    #[test]
    fn a_batch_has_a_header_once_and_a_single_task_none() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        let three = snapshot(1, vec![row(1), row(2), row(3)]);
        assert_eq!(reporter.lines(&three, WIDE)[1], "[set 1] 3 tasks");
        assert!(!reporter.lines(&three, WIDE).iter().any(|line| line.contains("tasks")));
        let lines = Reporter::new(TimeZone::UTC).lines(&snapshot(1, vec![row(1)]), WIDE);
        assert_eq!(lines, ["fleet k3f · 1 agent · sh · 4 at once"]);
    }

    #[test]
    fn the_start_line_says_how_many_at_once_and_that_a_cap_may_be_overshot() {
        let mut first = snapshot(1, vec![row(1), row(2)]);
        first.header.cap = Some(NanoUsd::from_dollars(5));
        let line = Reporter::new(TimeZone::UTC).lines(&first, WIDE).remove(0);
        assert_eq!(
            line,
            "fleet k3f · 2 agents · sh · 4 at once · cap $5.00 · may overshoot: 2 agents have no budget"
        );
        first.header.max_parallel = None;
        let line = Reporter::new(TimeZone::UTC).lines(&first, Style::PLAIN).remove(0);
        assert!(line.is_ascii() && line.contains("all at once"), "{line}");
    }

    #[test]
    fn a_fleet_that_goes_on_does_not_tell_its_old_ends_again() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        let before = snapshot(1, vec![ended(1, Outcome::Done, ""), row(2), row(3)]);
        reporter.skip(&before);
        assert_eq!(
            reporter.lines(&before, WIDE),
            ["fleet k3f · 2 of 3 agents left · sh · 4 at once"]
        );
        let after =
            snapshot(2, vec![ended(1, Outcome::Done, ""), ended(2, Outcome::Done, ""), row(3)]);
        assert_eq!(reporter.lines(&after, WIDE), ["✓ [set 1 · 2/3] goal 2 (12s)"]);
    }

    #[test]
    fn remarks_are_made_once_each() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        let mut now = snapshot(1, vec![row(1)]);
        reporter.lines(&now, WIDE);
        now.header.cap = Some(NanoUsd::from_dollars(5));
        now.header.spent = NanoUsd::from_dollars(4);
        now.header.hold = Some(Hold::Cap);
        now.header.kpis.queued = 1;
        now.queue = vec![AgentId(2)];
        now.header.kinds_held = vec![("ygg".into(), "bad key".into())];
        now.header.interrupted = Some("SIGINT".into());
        let lines = reporter.lines(&now, WIDE);
        assert_eq!(
            lines,
            [
                "80% of the cap $5.00 is spent",
                "ygg is held: bad key",
                "held at the cap: 1 task queued (fleet resume k3f --cap USD goes on)",
                "SIGINT: asking 1 agent to end (again kills)",
            ]
        );
        assert_eq!(reporter.lines(&now, WIDE), [""; 0]);
        now.header.hold = None;
        assert_eq!(reporter.lines(&now, WIDE), ["the queue goes on"]);
        now.header.hold = Some(Hold::Interrupted("SIGINT".into()));
        now.header.kpis.queued = 0;
        now.queue.clear();
        assert_eq!(reporter.lines(&now, WIDE), [""; 0], "nothing is queued, so nothing is held");
    }

    #[test]
    fn beside_its_host_what_is_told_to_be_typed_goes_to_that_host() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        reporter.set_beside();
        let mut now = snapshot(1, vec![row(1)]);
        reporter.lines(&now, WIDE);
        now.header.kpis.queued = 1;
        now.queue = vec![AgentId(2)];
        for (hold, line) in [
            (Hold::Cap, "held at the cap: 1 task queued (fleet cap USD --fleet k3f goes on)"),
            (Hold::Owner, "held: 1 task queued (fleet release --fleet k3f goes on)"),
            (
                Hold::Interrupted("SIGINT".into()),
                "held (SIGINT): 1 task not started (fleet resume k3f)",
            ),
        ] {
            now.header.hold = Some(hold);
            assert_eq!(reporter.lines(&now, WIDE), [line]);
        }
    }

    #[test]
    fn what_is_held_by_itself_is_not_counted_at_the_cap() {
        let held = |id| {
            let mut row = row(id);
            (row.status, row.held) = (Status::Queued, true);
            row
        };
        let mut reporter = Reporter::new(TimeZone::UTC);
        let mut now = snapshot(1, vec![row(1), held(2), row(3)]);
        reporter.lines(&now, WIDE);
        now.header.hold = Some(Hold::Cap);
        now.header.kpis.queued = 1;
        now.queue = vec![AgentId(2)];
        assert_eq!(reporter.lines(&now, WIDE), [""; 0], "nothing waits for the cap");
        now.header.kpis.queued = 2;
        now.queue.push(AgentId(3));
        let told = "held at the cap: 1 task queued (fleet resume k3f --cap USD goes on)";
        assert_eq!(reporter.lines(&now, WIDE), [told]);
        now.header.hold = None;
        now.queue = vec![AgentId(2)];
        assert_eq!(reporter.lines(&now, WIDE), [""; 0], "nothing goes on");
    }

    /// C-110: two batches whose ends are mixed; every line says which task of which batch it is about. C-107: their
    /// tags count from 1.
    #[test]
    fn ends_of_two_batches_are_told_apart() {
        let mut reporter = Reporter::new(TimeZone::UTC);
        let rows: Vec<Row> = (1..=12)
            .map(|id| {
                let mut one = ended(id, Outcome::Done, "");
                if id > 3 {
                    one.batch = BatchId::from_bits(2);
                    one.tag = "set 2".into();
                    one.index = id - 3;
                    one.of = 9;
                }
                one.end.as_mut().unwrap().at = Moment(u64::from(id * 7 % 13) * 1000);
                one
            })
            .collect();
        let lines = reporter.lines(&snapshot(1, rows), WIDE);
        assert_eq!(lines.len(), 1 + 2 + 12);
        assert_eq!(lines[1..3], ["[set 1] 3 tasks", "[set 2] 9 tasks"]);
        for (tag, of) in [("set 1", 3), ("set 2", 9)] {
            for index in 1..=of {
                let place = format!("[{tag} · {index}/{of}]");
                assert_eq!(
                    lines.iter().filter(|line| line.contains(&place)).count(),
                    1,
                    "{place} in {lines:?}"
                );
            }
        }
    }
}
