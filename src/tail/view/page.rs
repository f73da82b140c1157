//! What goes into a tail view and what comes out of it.
//!
//! What may go here: requests and pages, as data. What may not: how they are made.

use std::path::PathBuf;
use std::sync::Arc;

use super::window::{Layout, Move, Row};

/// What is to be viewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A file, which may not be there yet.
    File(PathBuf),
    /// A text in memory.
    Text(Arc<str>),
}

/// What a screen asks of a [`TailView`](super::TailView).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Views something else from now on: a file at its end, a text at its beginning. The search stays.
    Open {
        /// Chosen by the caller; pages that show this carry it, so that an older page is not taken for it.
        number: u64,
        /// What to view.
        what: What,
        /// Whether nobody writes any more: it is looked at once.
        has_ended: bool,
    },
    /// Nobody writes to what is viewed under this number any more: it is looked at once more, then left alone.
    Ended(u64),
    /// Views nothing. The search stays for what is opened next.
    Close,
    /// Nobody sees the view, or somebody sees it again: while nobody does, nothing is looked at and told.
    Hide(bool),
    /// Rows are made in another way.
    Layout(Layout),
    /// Moves what is visible.
    Move(Move),
    /// Searches the whole text and goes to the nearest hit. Replaces an older search.
    Search(String),
    /// Goes to the next hit, around the end.
    NextHit,
    /// Goes to the hit before, around the beginning.
    PreviousHit,
    /// Searches nothing any more.
    ClearSearch,
    /// Puts one line into [`Page::copied`]: the one of the current hit if it is visible, else the newest one if the
    /// end is followed, else the top one.
    Copy,
}

/// Lines that came since following stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewLines {
    /// How many were counted.
    pub count: u64,
    /// Whether there are more that are not counted yet.
    pub has_more: bool,
}

/// How a search stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchState {
    /// What was asked for.
    pub needle: String,
    /// Hits counted so far.
    pub total: u64,
    /// Whether all are counted.
    pub is_done: bool,
    /// Whether a hit to go to is being looked for.
    pub is_seeking: bool,
    /// Whether the view stands on a hit.
    pub has_current: bool,
    /// Which hit that is, counted from 1; `None` without one, or past those whose places are kept.
    pub rank: Option<u64>,
    /// Why there is no search: one sentence.
    pub problem: Option<String>,
}

/// A line that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Grows by one with every copy.
    pub number: u64,
    /// The whole line as it is shown, without colours.
    pub text: String,
}

/// All that a screen shows of one text at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The number of the request that opened it; zero before the first one and after a close.
    pub number: u64,
    /// Grows when the text is another one than before: cut, written over, replaced.
    pub generation: u32,
    /// Rows, at most as many as the layout has.
    pub rows: Vec<Row>,
    /// Offset of the first line that is visible.
    pub top: u64,
    /// First column that is visible, where lines do not wrap.
    pub column: usize,
    /// Whether lines wrap.
    pub wraps: bool,
    /// Size of the text in bytes; `None`: there is no such file.
    pub size: Option<u64>,
    /// Whether the last row is visible.
    pub is_at_end: bool,
    /// Whether the end is kept in view.
    pub follows: bool,
    /// What came since following stopped.
    pub new_lines: NewLines,
    /// How much of the text lies above the end of what is visible, 0 to 100.
    pub percent: u8,
    /// The search, if there is one.
    pub search: Option<SearchState>,
    /// The newest copied line.
    pub copied: Option<Copied>,
    /// What the owner should know: that the file was cut or replaced, cannot be read or is not watched.
    pub note: Option<String>,
}
