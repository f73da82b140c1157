//! The line at the bottom of a terminal while a fleet runs.
//!
//! What may go here: its words, from one snapshot. What may not: writing it.

use crate::core::{CostStatus, Header, Moment, Outcome, Row, Snapshot};
use crate::words::plain_text::{count, cut_cells};
use crate::words::report_line::exact;
use crate::words::style::Style;
use crate::words::time_text;
use crate::words::why::spoken;

/// Returns the line, never wider than `width` cells. Running, queued and done come first, since a narrow terminal cuts
/// at the end.
pub fn status_line(snapshot: &Snapshot, now: Moment, style: Style, width: usize) -> String {
    let header = &snapshot.header;
    let kpis = &header.kpis;
    let mut parts = Vec::new();
    let mut add = |number: u32, word: &str| {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    };
    add(kpis.running, "running");
    add(kpis.queued, if header.hold.is_some() { "held" } else { "queued" });
    parts.push(format!("{} done", kpis.done));
    for (outcome, number) in header.outcomes.iter().filter(|(outcome, _)| *outcome != Outcome::Done)
    {
        parts.push(format!("{number} {}", spoken(outcome.as_str())));
    }
    let stalled = snapshot.rows.iter().filter(|row| row.stalled && row.status.is_live()).count();
    if stalled > 0 {
        parts.push(format!("{stalled} stalled?"));
    }
    let doubtful = snapshot.rows.iter().filter(|row| row.is_marked() && !row.stalled).count();
    if doubtful > 0 {
        parts.push(format!("{doubtful} stuck?"));
    }
    parts.push(money(header, style));
    parts.extend(header.elapsed(now).map(time_text::duration));
    let remaining = usize::try_from(kpis.running.saturating_add(kpis.queued)).unwrap_or(usize::MAX);
    if remaining > 0 {
        parts.push(format!("{} remaining", count(remaining, "task")));
    }
    cut_cells(&style.text(&parts.join(style.dot())), width)
}

/// Returns what is spent, as far as it is known: `$0.4200 / $5.00`, `≥ $0.4200 (3 ?)`.
pub fn money(header: &Header, style: Style) -> String {
    let cap = header.cap.map(|cap| format!(" / {}", exact(cap))).unwrap_or_default();
    let unknown = match header.cost_unknown {
        0 => String::new(),
        agents => format!(" ({agents} ?)"),
    };
    let least = if header.cost_unknown + header.unread > 0 { style.at_least() } else { "" };
    format!("{least}{}{cap}{unknown}", header.spent)
}

/// Returns what an agent has cost as far as that is known, with a sign if it is estimated: `$0.4200`, `≈$0.4200`. `None` if
/// it costs nothing or nobody knows.
pub fn known_cost(row: &Row, style: Style) -> Option<String> {
    match (row.cost_status, row.cost?) {
        (CostStatus::None | CostStatus::Unknown, _) => None,
        (CostStatus::Estimated, cost) => Some(format!("{}{cost}", style.about())),
        (CostStatus::Reported, cost) => Some(cost.to_string()),
    }
}

/// Returns the same for a cell of a table: `?` if nobody knows, `-` if it costs nothing.
pub fn cost_cell(row: &Row, style: Style) -> String {
    let unknown = || if row.cost_status == CostStatus::None { "-" } else { "?" }.to_owned();
    known_cost(row, style).unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{NanoUsd, Status};
    use crate::words::plain_text::cells;

    const WIDE: Style = Style { terminal: true, colour: false, unicode: true };

    fn mixed() -> Snapshot {
        let mut queued = row(3);
        queued.status = Status::Queued;
        let rows = vec![
            row(1),
            row(2),
            queued,
            end(row(4), Outcome::Done, ""),
            end(row(5), Outcome::Failed, "x"),
            end(row(6), Outcome::Timeout, "x"),
            end(row(7), Outcome::OverBudget, "x"),
        ];
        let mut mixed = snapshot(4, rows);
        mixed.header.spent = NanoUsd::from_nanos(420_000_000);
        mixed
    }

    #[test]
    fn it_counts_what_runs_waits_and_ended_each_by_its_own_word() {
        assert_eq!(
            status_line(&mixed(), Moment(66_000), WIDE, 200),
            "2 running · 1 queued · 1 done · 1 failed · 1 timeout · 1 over budget · $0.4200 · 1m 5s · 3 tasks remaining"
        );
    }

    /// C-70: without a cap the line shows the cost alone. C-71: an unknown cost is not zero.
    #[test]
    fn the_cap_is_shown_if_there_is_one_and_an_unknown_cost_is_said_to_be_unknown() {
        let mut mixed = mixed();
        assert_eq!(money(&mixed.header, WIDE), "$0.4200");
        mixed.header.cap = Some(NanoUsd::from_dollars(5));
        assert_eq!(money(&mixed.header, WIDE), "$0.4200 / $5.00");
        mixed.header.cost_unknown = 3;
        assert_eq!(money(&mixed.header, WIDE), "≥ $0.4200 / $5.00 (3 ?)");
        // A host that has just come has not read what it cost meanwhile.
        mixed.header.cost_unknown = 0;
        mixed.header.unread = 1;
        assert_eq!(money(&mixed.header, WIDE), "≥ $0.4200 / $5.00");
        mixed.header.unread = 0;
        mixed.header.cost_unknown = 3;
        mixed.header.spent = NanoUsd::ZERO;
        mixed.header.cap = None;
        assert_eq!(money(&mixed.header, Style::PLAIN), ">= $0.0000 (3 ?)");
    }

    #[test]
    fn a_cost_that_is_estimated_has_a_sign() {
        let mut agent = row(1);
        agent.cost = Some(NanoUsd::from_dollars(2));
        for (status, shown) in [
            (CostStatus::Reported, Some("$2.0000")),
            (CostStatus::Estimated, Some("≈$2.0000")),
            (CostStatus::Unknown, None),
            (CostStatus::None, None),
        ] {
            agent.cost_status = status;
            assert_eq!(known_cost(&agent, WIDE).as_deref(), shown);
            let other = if status == CostStatus::None { "-" } else { "?" };
            assert_eq!(cost_cell(&agent, WIDE), shown.unwrap_or(other));
        }
        agent.cost_status = CostStatus::Estimated;
        assert_eq!(known_cost(&agent, Style::PLAIN).as_deref(), Some("~$2.0000"));
    }

    /// C-111.
    #[test]
    fn what_remains_is_singular_at_one_and_not_said_at_none() {
        let line = |rows| status_line(&snapshot(1, rows), Moment(1_000), WIDE, 200);
        assert!(line(vec![row(1), row(2)]).ends_with(" · 2 tasks remaining"));
        assert!(line(vec![row(1)]).ends_with(" · 1 task remaining"));
        assert!(!line(vec![end(row(1), Outcome::Done, "")]).contains("remaining"));
    }

    #[test]
    fn it_is_never_wider_than_the_terminal() {
        for width in 0..120 {
            for style in [WIDE, Style::PLAIN] {
                let line = status_line(&mixed(), Moment(66_000), style, width);
                assert!(cells(&line) <= width, "{width}: {line:?}");
            }
        }
    }

    /// C-75: time since the first start, which stops at the last end.
    #[test]
    fn the_time_is_that_of_the_whole_fleet() {
        let running = status_line(&snapshot(1, vec![row(1)]), Moment(3_601_000), WIDE, 200);
        assert!(running.contains(" · 1h · "), "{running}");
        let over = status_line(
            &snapshot(1, vec![end(row(1), Outcome::Done, "")]),
            Moment(3_601_000),
            WIDE,
            200,
        );
        assert!(over.ends_with(" · 12s"), "{over}");
    }
}
