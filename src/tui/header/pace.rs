//! How fast money has been spent lately, worked out of one snapshot, so that every screen says the same.
//!
//! What may go here: that number and how it is written. What may not: a clock, memory of earlier snapshots.

use std::time::Duration;

use crate::core::{Moment, NanoUsd, Row, Snapshot};
use crate::words::report_line::exact;

/// Spend further back than this says little about the next minutes.
const WINDOW: Duration = Duration::from_mins(5);
/// Least time that spending is spread over: what was spent at the very first moment would be without bounds else.
const LEAST: Duration = Duration::from_secs(2);

/// Returns what was spent in a minute, over the last minutes in which anything ran: what an agent cost is spread evenly
/// over its run. `None` while nothing is spent.
pub(crate) fn pace(snapshot: &Snapshot) -> Option<NanoUsd> {
    let header = &snapshot.header;
    let first = header.first_start?;
    let until = first.after(header.elapsed(snapshot.at)?);
    let from = first.max(Moment(until.0.saturating_sub(millis(WINDOW).try_into().ok()?)));
    let time = until.since(from).max(LEAST);
    let spent: u128 = snapshot.rows.iter().map(|row| spent_within(row, from, until)).sum();
    let nanos = u64::try_from(spent * 60_000 / millis(time)).ok()?;
    (nanos > 0).then(|| NanoUsd::from_nanos(nanos))
}

/// Returns how long the cap lasts at a pace, in words. `None` without a cap, and if it is reached.
pub(crate) fn until_cap(snapshot: &Snapshot, pace: NanoUsd) -> Option<String> {
    let header = &snapshot.header;
    let left = header.cap?.saturating_sub(header.spent);
    let minutes = left.as_nanos().div_ceil(pace.as_nanos().max(1));
    let words =
        if minutes < 120 { format!("~{minutes} min") } else { format!("~{} h", minutes / 60) };
    (left > NanoUsd::ZERO).then_some(words)
}

/// Returns an amount that is only roughly known, in full cents.
pub(crate) fn in_cents(amount: NanoUsd) -> String {
    exact(amount.round_up_to_cent_plus(NanoUsd::ZERO))
}

/// Returns the share of an agent's cost that falls between two moments, in billionths of a dollar.
fn spent_within(row: &Row, from: Moment, until: Moment) -> u128 {
    let (Some(cost), Some(began)) = (row.cost, row.started) else { return 0 };
    let ended = row.end.as_ref().map_or(until, |end| end.at);
    let run = ended.since(began);
    let shared = ended.min(until).since(began.max(from));
    let cost = u128::from(cost.as_nanos());
    // What took no time was spent at one moment.
    let is_within = (from..=until).contains(&began);
    let all = if is_within { cost } else { 0 };
    (cost * millis(shared)).checked_div(millis(run)).unwrap_or(all)
}

fn millis(time: Duration) -> u128 {
    time.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Outcome;
    use crate::core::testing::{end, row, snapshot};

    fn dollars(cents: u64) -> NanoUsd {
        NanoUsd::from_nanos(cents * 10_000_000)
    }

    /// A row that ran between these seconds and cost so many cents.
    fn ran(id: u32, from: u64, to: u64, cents: u64) -> Row {
        let mut ran = end(row(id), Outcome::Done, "");
        ran.started = Some(Moment(from * 1000));
        ran.cost = Some(dollars(cents));
        ran.end.as_mut().unwrap().at = Moment(to * 1000);
        ran
    }

    fn at(second: u64, first: u64, rows: Vec<Row>) -> Snapshot {
        let mut all = snapshot(1, rows);
        all.at = Moment(second * 1000);
        all.header.first_start = Some(Moment(first * 1000));
        all.header.last_end =
            all.rows.iter().filter_map(|row| row.end.as_ref().map(|end| end.at)).max();
        all
    }

    #[test]
    fn the_pace_is_that_of_the_last_minutes() {
        let mut live = row(2);
        live.started = Some(Moment(600_000));
        live.cost = Some(dollars(0));
        // A cent a second for ten minutes, then nothing for four.
        let rows = || vec![ran(1, 0, 600, 600), live.clone()];
        assert_eq!(pace(&at(600, 0, rows())), Some(dollars(60)));
        assert_eq!(pace(&at(840, 0, rows())), Some(dollars(12)));
        assert_eq!(pace(&at(1_000, 0, rows())), None);
    }

    #[test]
    fn it_stands_still_while_nothing_runs() {
        let rows = || vec![ran(1, 0, 60, 65)];
        assert_eq!(pace(&at(60, 0, rows())), Some(dollars(65)));
        assert_eq!(pace(&at(600, 0, rows())), Some(dollars(65)));
    }

    #[test]
    fn a_pace_is_told_as_soon_as_something_is_spent() {
        let mut live = row(1);
        live.started = Some(Moment(0));
        live.cost = Some(dollars(5));
        assert_eq!(pace(&at(0, 0, vec![live.clone()])), Some(dollars(150)));
        assert_eq!(pace(&at(1, 0, vec![live.clone()])), Some(dollars(150)));
        assert_eq!(pace(&at(2, 0, vec![live.clone()])), Some(dollars(150)));
        assert_eq!(pace(&at(10, 0, vec![live.clone()])), Some(dollars(30)));
        live.cost = None;
        assert_eq!(pace(&at(10, 0, vec![live])), None);
        let mut never = at(10, 0, Vec::new());
        never.header.first_start = None;
        assert_eq!(pace(&never), None);
    }
}
