//! Which lines the table has, in which order.
//!
//! What may go here: sort, filter, search, groups, worked out from one snapshot. What may not: where lines are on the
//! screen, what is selected.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use crate::core::{
    AgentId, BatchId, BatchStatus, BatchView, Moment, Outcome, Row, Snapshot, Status,
};
use crate::words::why;

/// Characters of a task that search looks at: enough for what a person remembers of it, little enough for each key.
const SEARCHED: usize = 400;

/// What the rows are sorted by.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// By set and number, queued ones as they would start.
    #[default]
    Number,
    /// What went wrong first, what is done last.
    Status,
    /// The dearest first.
    Cost,
    /// Most tokens first.
    Tokens,
    /// Longest without a sign of life first.
    Quiet,
    /// Longest run first.
    Elapsed,
}

impl Sort {
    /// Returns the one after this.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Number => Self::Status,
            Self::Status => Self::Cost,
            Self::Cost => Self::Tokens,
            Self::Tokens => Self::Quiet,
            Self::Quiet => Self::Elapsed,
            Self::Elapsed => Self::Number,
        }
    }

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "by number",
            Self::Status => "by status",
            Self::Cost => "by cost",
            Self::Tokens => "by tokens",
            Self::Quiet => "by quiet",
            Self::Elapsed => "by time",
        }
    }
}

/// Which rows are shown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Every one.
    #[default]
    All,
    /// What has not ended: queued ones as well.
    Running,
    /// What waits for its owner.
    NeedsYou,
    /// What ended, and not as it should have.
    Failed,
    /// What is done.
    Done,
    /// What waits for a slot.
    Queued,
}

impl Filter {
    /// Returns the one after this.
    pub(super) fn next(self) -> Self {
        match self {
            Self::All => Self::Running,
            Self::Running => Self::NeedsYou,
            Self::NeedsYou => Self::Failed,
            Self::Failed => Self::Done,
            Self::Done => Self::Queued,
            Self::Queued => Self::All,
        }
    }

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Running => "running and queued",
            Self::NeedsYou => "needs you",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Queued => "queued",
        }
    }

    fn takes(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Running => !row.status.is_ended(),
            Self::NeedsYou => why::needs_owner(row),
            Self::Failed => match row.status {
                Status::Ended(outcome) => match outcome {
                    Outcome::Failed
                    | Outcome::Timeout
                    | Outcome::Interrupted
                    | Outcome::Stalled
                    | Outcome::OverBudget
                    | Outcome::Lost => true,
                    Outcome::Done | Outcome::Cancelled | Outcome::Dropped => false,
                },
                Status::Queued
                | Status::Starting
                | Status::Running
                | Status::Stopping
                | Status::Ending => false,
            },
            Self::Done => row.status == Status::Ended(Outcome::Done),
            Self::Queued => row.status == Status::Queued,
        }
    }
}

/// What the person has chosen.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    /// What rows are sorted by.
    pub(super) sort: Sort,
    /// Which are shown.
    pub(super) filter: Filter,
    /// What they must have in them; empty: anything.
    pub(super) search: String,
    /// Sets that are shown as one line.
    pub(super) folded: BTreeSet<BatchId>,
}

impl Settings {
    /// Says whether rows are left out.
    pub(super) fn narrows(&self) -> bool {
        self.filter != Filter::All || !self.search.is_empty()
    }
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// The head of a set, by its place among the sets.
    Batch {
        /// Place of the set.
        place: usize,
        /// Its agents are not shown.
        is_folded: bool,
    },
    /// An agent, by its place among the rows.
    Agent(usize),
}

/// The lines.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// From the top.
    pub(super) lines: Vec<Line>,
    /// Agents that filter and search leave.
    pub(super) hits: usize,
    /// Places in the queue, from 1.
    pub(super) queue: HashMap<AgentId, usize>,
}

impl Order {
    /// Works the lines out.
    pub(super) fn of(snapshot: &Snapshot, settings: &Settings, now: Moment) -> Self {
        let queue: HashMap<AgentId, usize> = snapshot.queue.iter().copied().zip(1..).collect();
        let needle = Needle::new(&settings.search);
        let is_hit = |row: &Row| settings.filter.takes(row) && needle.is_in(row);
        let mut order = Self { queue, ..Self::default() };
        if settings.sort == Sort::Number && snapshot.batches.len() > 1 {
            order.grouped(snapshot, settings, &is_hit);
        } else {
            let mut hits: Vec<usize> = snapshot
                .rows
                .iter()
                .enumerate()
                .filter(|(_, row)| is_hit(row))
                .map(|(place, _)| place)
                .collect();
            order.sort(&mut hits, snapshot, settings.sort, now);
            order.hits = hits.len();
            order.lines = hits.into_iter().map(Line::Agent).collect();
        }
        order
    }

    fn grouped(&mut self, snapshot: &Snapshot, settings: &Settings, is_hit: &dyn Fn(&Row) -> bool) {
        let mut is_headed = false;
        for (place, view) in snapshot.batches.iter().enumerate() {
            let mut hits: Vec<usize> = view
                .batch
                .agents
                .iter()
                .filter_map(|id| snapshot.rows.binary_search_by_key(id, |row| row.id).ok())
                .filter(|place| snapshot.rows.get(*place).is_some_and(|row| is_hit(row)))
                .collect();
            if hits.is_empty() {
                continue;
            }
            self.hits += hits.len();
            // What is looked for is not hidden in a fold.
            let is_folded = !settings.narrows() && is_folded(view, settings);
            // A task that came alone needs no line above its own, unless it would seem to belong to the set before it.
            is_headed |= is_folded || view.batch.agents.len() > 1;
            if is_headed {
                self.lines.push(Line::Batch { place, is_folded });
            }
            if !is_folded {
                self.sort(&mut hits, snapshot, Sort::Number, Moment(0));
                self.lines.extend(hits.into_iter().map(Line::Agent));
            }
        }
    }

    fn sort(&self, places: &mut [usize], snapshot: &Snapshot, sort: Sort, now: Moment) {
        let row = |place: &usize| snapshot.rows.get(*place);
        // Each key is worked out once: some look into the queue.
        match sort {
            Sort::Number => places.sort_by_cached_key(|place| {
                row(place).map(|row| match self.queue.get(&row.id) {
                    Some(queued) => (true, *queued),
                    None => (false, *place),
                })
            }),
            Sort::Status => places.sort_by_cached_key(|place| row(place).map(|row| rank(row))),
            Sort::Cost => places.sort_by_cached_key(|place| {
                Reverse(row(place).map(|row| row.cost.unwrap_or_default()))
            }),
            Sort::Tokens => {
                places
                    .sort_by_cached_key(|place| Reverse(row(place).map(|row| row.tokens.total())));
            }
            Sort::Quiet => places
                .sort_by_cached_key(|place| Reverse(row(place).map(|row| why::quiet(row, now)))),
            Sort::Elapsed => {
                places.sort_by_cached_key(|place| Reverse(row(place).map(|row| row.elapsed(now))));
            }
        }
    }
}

/// Says whether a set is shown as one line. One that has not ended never is, since that would hide what happens in it.
pub(super) fn is_folded(view: &BatchView, settings: &Settings) -> bool {
    view.status != BatchStatus::Running && settings.folded.contains(&view.batch.id)
}

/// Returns the place of a state when sorted by it (upstream B12).
fn rank(row: &Row) -> u8 {
    match row.status {
        Status::Ended(outcome) => match outcome {
            Outcome::Failed | Outcome::Lost | Outcome::Stalled | Outcome::OverBudget => 0,
            Outcome::Interrupted | Outcome::Timeout => 1,
            Outcome::Cancelled | Outcome::Dropped => 5,
            Outcome::Done => 6,
        },
        Status::Starting | Status::Running | Status::Stopping | Status::Ending => {
            if row.is_marked() { 2 } else { 3 }
        }
        Status::Queued => 4,
    }
}

/// What is searched for. A capital letter in it makes capitals count.
struct Needle {
    text: String,
    minds_case: bool,
}

impl Needle {
    fn new(text: &str) -> Self {
        let minds_case = text.chars().any(char::is_uppercase);
        Self { text: text.to_owned(), minds_case }
    }

    fn is_in(&self, row: &Row) -> bool {
        if self.text.is_empty() {
            return true;
        }
        let is_in = |text: &str| {
            if self.minds_case {
                text.contains(&self.text)
            } else {
                text.to_lowercase().contains(&self.text)
            }
        };
        let end = row.task.text.char_indices().nth(SEARCHED).map(|(end, _)| end);
        let task = end.and_then(|end| row.task.text.get(..end)).unwrap_or(&row.task.text);
        is_in(task)
            || is_in(&row.task.kind.0)
            || is_in(&row.id.to_string())
            || is_in(&row.tag)
            || is_in(&why::word(row.status))
            || row.end.as_ref().is_some_and(|end| is_in(&end.error))
    }
}
