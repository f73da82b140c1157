//! What a search has found so far, and which hit to go to next.
//!
//! What may go here: hits as data. What may not: threads, reading.

/// Hits whose places are kept: 80 KB. Later ones are counted only, and found again by reading.
const MOST_HITS: usize = 10_000;
/// Where to look for the next hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tail::view) enum Way {
    /// The first one at or after the place, else the last one before it.
    Nearest,
    /// The first one at or after the place, from the beginning on if there is none.
    Forwards,
    /// The last one before the place, from the end on if there is none.
    Backwards,
}

/// The answer to one such question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tail::view) struct Target {
    /// Number of the question.
    pub(in crate::tail::view) number: u64,
    /// Where the hit begins; `None`: the text has none.
    pub(in crate::tail::view) offset: Option<u64>,
}

/// What is known so far.
#[derive(Debug, Default)]
pub(in crate::tail::view) struct Found {
    /// Number of the search.
    pub(in crate::tail::view) search: u64,
    /// The first hits, in order. Bounded by [`MOST_HITS`].
    pub(super) hits: Vec<u64>,
    /// How many hits were counted.
    pub(in crate::tail::view) total: u64,
    /// Whether the whole text was counted.
    pub(in crate::tail::view) is_done: bool,
    /// The newest answer.
    pub(in crate::tail::view) target: Option<Target>,
    /// Why the file could not be read.
    pub(in crate::tail::view) error: Option<String>,
}

impl Found {
    /// Returns which hit begins at an offset, counted from 1; `None` for one whose place is not kept.
    pub(in crate::tail::view) fn rank(&self, offset: u64) -> Option<u64> {
        self.hits.binary_search(&offset).ok().map(|at| at as u64 + 1)
    }

    pub(super) fn keep(&mut self, hit: u64) {
        self.total += 1;
        if self.hits.len() < MOST_HITS {
            self.hits.push(hit);
        }
    }

    /// Takes back what was counted from an offset on, which is going to be counted again.
    pub(super) fn take_back(&mut self, from: u64, count: u64) {
        self.total = self.total.saturating_sub(count);
        self.hits.retain(|hit| *hit < from);
    }

    /// Says whether the places of all hits are known.
    pub(super) fn is_whole(&self) -> bool {
        self.is_done && self.total == self.hits.len() as u64
    }
}
