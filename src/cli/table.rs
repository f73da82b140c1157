//! The table at the end of a run.
//!
//! What may go here: its columns and its footer, from one snapshot. What may not: writing it.

use crate::core::{CostStatus, Outcome, Row, Snapshot, Status};
use crate::words::changed_files::{ChangedFile, changed_files};
use crate::words::plain_text::{
    count, cut_cells, cut_graphemes, fit, headline, one_line, steps, thousands,
};
use crate::words::status_line::{cost_cell, money};
use crate::words::style::{Meaning, Style};
use crate::words::time_text;
use crate::words::why::{spoken, word};

/// Cells of the task's column (upstream A10: 40 and a blank).
const TASK: usize = 40;
/// Graphemes of a reason (upstream A10).
const REASON: usize = 40;
/// Changed files that a row names (upstream A10).
const FILES: usize = 3;
/// Longest table that shows agents which are done; a longer one would push what went wrong off the screen.
const FULL: usize = 40;
/// Files that are listed below the table.
const UNION: usize = 50;

/// Returns the lines of the table, its footer and the changed files. `width` is that of the terminal.
pub fn table(snapshot: &Snapshot, style: Style, width: usize) -> Vec<String> {
    let width = style.edge(width);
    let columns = Columns::of(snapshot, width);
    let all = snapshot.rows.len() <= FULL;
    let is_shown = |row: &Row| all || row.status != Status::Ended(Outcome::Done);
    let mut lines: Vec<String> = snapshot
        .rows
        .iter()
        .filter(|row| is_shown(row))
        .map(|row| table_row(row, snapshot, style, &columns))
        .collect();
    let hidden = snapshot.rows.len() - lines.len();
    if hidden > 0 {
        lines.push(
            style.paint(Meaning::Dim, &format!("({} not listed: done)", count(hidden, "agent"))),
        );
    }
    lines.push(cut_cells(&style.text(&footer(snapshot, style)), width));
    lines.extend(file_lines(snapshot, style));
    lines
}

/// Which columns there are, and how wide.
struct Columns {
    width: usize,
    task: usize,
    badge: bool,
    cost: bool,
}

impl Columns {
    /// Cells of the columns that are always there, the glyph and all blanks included.
    const FIXED: usize = 30;
    const BADGE: usize = 8;
    const COST: usize = 10;
    /// Fewest cells of a task, and of what is said at the end of a row, before they are cut.
    const LEAST_TASK: usize = 12;
    const TAIL: usize = 28;

    /// Leaves out the columns that would say nothing, and lets the task yield to the reason on a narrow terminal.
    fn of(snapshot: &Snapshot, width: usize) -> Self {
        let badge = snapshot.rows.iter().any(|row| row.validated.is_some());
        let cost = snapshot.rows.iter().any(|row| row.cost_status != CostStatus::None);
        let more = |is_there: bool, cells: usize| if is_there { cells + 1 } else { 0 };
        let others = Self::FIXED + Self::TAIL + more(badge, Self::BADGE) + more(cost, Self::COST);
        let task = width.saturating_sub(others).clamp(Self::LEAST_TASK, TASK);
        Self { width, task, badge, cost }
    }
}

fn table_row(row: &Row, snapshot: &Snapshot, style: Style, columns: &Columns) -> String {
    let elapsed = row.elapsed(snapshot.at);
    let task = style.text(&cut_cells(&headline(&row.task.text, TASK), columns.task));
    let mut cells =
        vec![fit(&row.id.to_string(), 5), fit(&task, columns.task), fit(&word(row.status), 11)];
    if columns.badge {
        cells.push(fit(&style.text(badge(row, style)), Columns::BADGE));
    }
    cells.push(fit(&format!("{:.1}s", elapsed.as_secs_f64()), 8));
    if columns.cost {
        cells.push(fit(&cost_cell(row, style), Columns::COST));
    }
    cells.push(style.text(&tail(row)));
    let text = cells.join(" ");
    // The glyph and a blank stand before it.
    let room = columns.width.saturating_sub(2);
    format!("{} {}", style.painted_glyph(row.status), cut_cells(text.trim_end(), room))
}

/// Returns what is known of the agent's own checkpoints; nothing while it has not ended.
fn badge(row: &Row, style: Style) -> &'static str {
    match (row.status.is_ended(), row.validated, style.unicode) {
        (false, _, _) => "",
        (true, None, _) => "untested",
        (true, Some(true), true) => "✓test",
        (true, Some(true), false) => "+test",
        (true, Some(false), true) => "✗test",
        (true, Some(false), false) => "xtest",
    }
}

/// Returns the first changed files of an agent that is done, else the reason.
fn tail(row: &Row) -> String {
    let told = files_or_reason(row);
    let swept = row.end.as_ref().map(|end| end.swept.as_slice()).unwrap_or_default();
    if swept.is_empty() {
        return told;
    }
    let names: Vec<String> = swept.iter().take(FILES).map(|name| one_line(name)).collect();
    let left = format!("{} left behind, ended: {}", swept.len(), names.join(" "));
    if told.is_empty() { left } else { format!("{told} ({left})") }
}

fn files_or_reason(row: &Row) -> String {
    if row.status == Status::Ended(Outcome::Done) {
        let mut names: Vec<String> =
            row.files_changed.iter().take(FILES).map(|file| one_line(file)).collect();
        let more = row.files_changed.len() - names.len();
        if more > 0 {
            names.push(format!("+{more} more"));
        }
        return names.join(" ");
    }
    let error = row.end.as_ref().map(|end| one_line(&end.error)).unwrap_or_default();
    cut_graphemes(&error, REASON)
}

/// Returns the numbers of the whole: how many ended how, steps, tokens, money, time.
pub fn footer(snapshot: &Snapshot, style: Style) -> String {
    let header = &snapshot.header;
    let kpis = &header.kpis;
    let mut parts = vec![format!("{} done", kpis.done)];
    for (outcome, number) in header.outcomes.iter().filter(|(outcome, _)| *outcome != Outcome::Done)
    {
        parts.push(format!("{number} {}", spoken(outcome.as_str())));
    }
    for (number, word) in [
        (u64::from(kpis.running), "running"),
        (u64::from(kpis.queued), "queued"),
        (u64::from(kpis.validated), "tested"),
        (kpis.mesh, "shared"),
    ] {
        if number > 0 {
            parts.push(format!("{} {word}", thousands(number)));
        }
    }
    parts.push(steps(kpis.steps));
    parts.push(format!("{} tok", thousands(kpis.tokens)));
    parts.push(money(header, style));
    parts.extend(header.elapsed(snapshot.at).map(time_text::duration));
    parts.join(style.dot())
}

/// Returns the sorted union of the changed files, a line each; one that several agents changed is flagged.
fn file_lines(snapshot: &Snapshot, style: Style) -> Vec<String> {
    let shown = changed_files(snapshot);
    // What needs a look is never among those that are left out.
    let conflicts = shown.iter().filter(|file| file.agents.len() > 1).count();
    let mut room = UNION.saturating_sub(conflicts);
    let mut left_out = 0_usize;
    let mut lines = Vec::new();
    for ChangedFile { name, agents } in &shown {
        let name = style.text(&one_line(name));
        if agents.len() > 1 {
            let names: Vec<String> = agents.iter().map(ToString::to_string).collect();
            let flag = format!(
                "{} changed by {} agents: {}",
                style.warning(),
                agents.len(),
                names.join(" ")
            );
            lines.push(format!("  {name}  {}", style.paint(Meaning::Warning, &flag)));
        } else if room > 0 {
            room -= 1;
            lines.push(format!("  {name}"));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        lines.push(format!("  (+{left_out} more)"));
    }
    if !lines.is_empty() {
        lines.insert(0, format!("{} changed:", count(shown.len(), "file")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::NanoUsd;
    use crate::core::testing::{self, end, row, snapshot};
    use crate::words::plain_text::cells;

    const WIDE: Style = Style { terminal: false, colour: false, unicode: true };

    fn changed(id: u32, files: &[&str]) -> Row {
        let mut row = end(row(id), Outcome::Done, "");
        row.files_changed = files.iter().map(|file| (*file).to_owned()).collect();
        row
    }

    /// C-131, for the count.
    #[test]
    fn what_an_agent_left_behind_is_counted_and_named() {
        let mut one = end(row(1), Outcome::Done, "");
        one.end.as_mut().unwrap().swept = vec!["sleep[12]".to_owned(), "a\u{7}b[13]".to_owned()];
        let mut two = end(row(2), Outcome::Failed, "exit code 3");
        two.end.as_mut().unwrap().swept = vec!["sleep[14]".to_owned()];
        let lines = table(&snapshot(1, vec![one, two]), Style::PLAIN, 200);
        assert!(lines[0].ends_with("2 left behind, ended: sleep[12] ab[13]"), "{lines:#?}");
        assert!(lines[1].ends_with("exit code 3 (1 left behind, ended: sleep[14])"), "{lines:#?}");
    }

    #[test]
    fn a_row_shows_state_badge_time_cost_and_files_or_reason() {
        let mut one = changed(1, &["a", "b", "c", "d"]);
        one.validated = Some(true);
        one.cost = Some(NanoUsd::from_nanos(4_200_000));
        one.cost_status = CostStatus::Reported;
        let mut two = end(row(2), Outcome::Timeout, "its 12s were up");
        two.cost_status = CostStatus::Unknown;
        two.cost = None;
        two.task = testing::task("日本語のとても長い仕事の名前はここで必ず切られます");
        let lines = table(&snapshot(1, vec![one, two]), WIDE, 200);
        assert_eq!(
            lines[0],
            "✓ #1    goal 1                                   done        ✓test    12.0s    $0.0042    a b c +1 more"
        );
        assert_eq!(
            lines[1],
            "⏱ #2    日本語のとても長い仕事の名前はここで必…  timeout     untested 12.0s    ?          its 12s were up"
        );
    }

    #[test]
    fn columns_that_say_nothing_are_left_out_and_a_narrow_terminal_still_shows_the_reason() {
        let mut one = end(row(1), Outcome::Failed, "exit code 3: no such file");
        one.task = testing::task(&"a very long task ".repeat(9));
        let lines = table(&snapshot(1, vec![one]), Style { terminal: true, ..WIDE }, 80);
        assert_eq!(
            lines[0],
            "✗ #1    a very long task a ve… failed      12.0s    exit code 3: no such file"
        );
    }

    #[test]
    fn no_line_of_the_table_is_wider_than_the_terminal() {
        let mut one = end(row(1), Outcome::Failed, &"reason ".repeat(50));
        one.task = testing::task(&"日本 ".repeat(50));
        let now = snapshot(1, vec![one]);
        for width in 2..150 {
            for line in table(&now, Style { terminal: true, ..WIDE }, width) {
                assert!(cells(&line) <= width, "{width}: {line}");
            }
        }
    }

    /// C-134.
    #[test]
    fn the_footer_hides_zeros_except_done_and_groups_thousands() {
        let mut now = snapshot(
            1,
            vec![end(row(1), Outcome::Failed, "x"), end(row(2), Outcome::Timeout, "x")],
        );
        now.header.kpis.steps = 1_234;
        now.header.kpis.tokens = 12_345_678;
        now.header.spent = NanoUsd::from_nanos(123_456_789);
        assert_eq!(
            footer(&now, WIDE),
            "0 done · 1 failed · 1 timeout · 1,234 steps · 12,345,678 tok · $0.1235 · 12s"
        );
        now.header.cap = Some(NanoUsd::from_dollars(5));
        now.header.kpis.validated = 1;
        now.header.kpis.mesh = 2;
        now.header.kpis.running = 3;
        now.header.kpis.queued = 4;
        assert_eq!(
            footer(&now, WIDE),
            "0 done · 1 failed · 1 timeout · 3 running · 4 queued · 1 tested · 2 shared · 1,234 steps · 12,345,678 tok · \
             $0.1235 / $5.00 · 20s"
        );
    }

    /// C-80 and C-81.
    #[test]
    fn changed_files_are_listed_once_each_and_flagged_if_two_agents_changed_them() {
        let mut elsewhere = changed(3, &["b.py"]);
        let mut task = (*testing::task("x")).clone();
        task.root = "/other".into();
        elsewhere.task = task.into();
        let now = snapshot(
            1,
            vec![changed(1, &["b.py", "a.py", "a.py"]), changed(2, &["./a.py"]), elsewhere],
        );
        assert_eq!(
            file_lines(&now, WIDE),
            [
                "3 files changed:",
                "  /other/b.py",
                "  /repo/b.py",
                "  a.py  ⚠ changed by 2 agents: #1 #2"
            ]
        );
        // In one shared folder they are the same file.
        let mut shared = now;
        shared.header.mesh = Some("/mesh".into());
        let expected = ["2 files changed:", "  a.py  ⚠ changed by 2 agents: #1 #2"];
        let lines = file_lines(&shared, WIDE);
        assert_eq!(lines[..2], expected);
        assert_eq!(lines[2], "  b.py  ⚠ changed by 2 agents: #1 #3");
        assert_eq!(file_lines(&snapshot(1, vec![row(1)]), WIDE), [""; 0]);
    }

    #[test]
    fn a_long_table_lists_what_is_not_done_and_counts_the_rest() {
        let mut rows: Vec<Row> = (1..=100).map(|id| end(row(id), Outcome::Done, "")).collect();
        rows.push(end(row(101), Outcome::Failed, "x"));
        let lines = table(&snapshot(1, rows), WIDE, 200);
        assert!(lines[0].contains("#101"), "{lines:?}");
        assert_eq!(lines[1], "(100 agents not listed: done)");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn many_files_are_cut_but_conflicts_never_are() {
        let names: Vec<String> = (0..80).map(|number| format!("f{number:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lines = file_lines(&snapshot(1, vec![changed(1, &names), changed(2, &["f079"])]), WIDE);
        assert!(lines.iter().any(|line| line.contains("f079  ⚠")), "{lines:?}");
        assert_eq!(lines.last().unwrap(), "  (+30 more)");
    }

    #[test]
    fn plain_style_has_nothing_but_ascii() {
        let mut one = changed(1, &["ä"]);
        one.validated = Some(false);
        for line in table(
            &snapshot(1, vec![one, end(row(2), Outcome::Dropped, "cap — reached")]),
            Style::PLAIN,
            200,
        ) {
            assert!(line.is_ascii(), "{line}");
        }
    }
}
