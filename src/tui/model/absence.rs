//! What ended while nobody watched.
//!
//! What may go here: telling that apart from what ends in somebody's presence. What may not: sentences (`remarks`), when
//! the last screen left (`control::presence`).

use crate::core::{Moment, Snapshot};

/// The time between the last screen and this one.
///
/// A host may hear of an end, and read what was written before it, after the screen has come: such an agent ended in
/// the absence as well.
#[derive(Debug)]
pub(super) struct Absence {
    since: Moment,
    until: Moment,
    /// How many ends were told already.
    told: usize,
}

impl Absence {
    pub(super) fn new(since: Moment, until: Moment) -> Self {
        Self { since, until, told: 0 }
    }

    /// Returns how many agents ended in it, if that has not been told.
    pub(super) fn news(&mut self, snapshot: &Snapshot) -> Option<usize> {
        let ends = snapshot.rows.iter().filter_map(|row| row.end.as_ref());
        let ended = ends.filter(|end| self.since < end.at && end.at <= self.until).count();
        let is_news = ended > self.told;
        self.told = self.told.max(ended);
        is_news.then_some(ended)
    }
}
