//! A short remark in the footer: what became of the last key.
//!
//! What may go here: the remark and how long it stays. What may not: its words.

use std::time::Duration;

use super::theme::Tone;
use crate::core::Moment;

/// How long a remark stays: long enough to be read once.
const STAYS: Duration = Duration::from_secs(4);

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flash {
    /// The words, one line.
    pub(crate) text: String,
    /// What they mean.
    pub(crate) tone: Tone,
    /// When it goes.
    pub(crate) until: Moment,
}

impl Flash {
    /// Makes a remark that begins now.
    pub(crate) fn new(text: String, tone: Tone, now: Moment) -> Self {
        Self { text, tone, until: now.after(STAYS) }
    }
}
