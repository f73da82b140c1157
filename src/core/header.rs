//! Numbers of a fleet as a whole.
//!
//! What may go here: what doors make of them alike. What may not: how they are counted.

use std::time::Duration;

use super::id::FleetId;
use super::moment::Moment;
use super::money::NanoUsd;
use super::snapshot::{Header, Kpis};

impl Header {
    /// Returns the time from the first start to now, or to the last end while nothing runs; `None` before the first
    /// start. Every door shows this one, so that it stands still on all of them while a queue is held.
    pub fn elapsed(&self, now: Moment) -> Option<Duration> {
        let start = self.first_start?;
        let end = if self.kpis.running > 0 { now } else { self.last_end.unwrap_or(start) };
        Some(end.since(start))
    }

    /// Returns the numbers of a fleet without agents.
    pub fn empty(fleet: FleetId) -> Self {
        Self {
            fleet,
            name: None,
            kpis: Kpis::default(),
            outcomes: Vec::new(),
            spent: NanoUsd::ZERO,
            cost_unknown: 0,
            unread: 0,
            reserved: NanoUsd::ZERO,
            cap: None,
            without_budget: 0,
            max_parallel: None,
            mesh: None,
            hold: None,
            kinds_held: Vec::new(),
            closed: false,
            interrupted: None,
            past_deadline: false,
            left_by_cap: false,
            first_start: None,
            last_end: None,
            idle: true,
            all_done: true,
            notices: Vec::new(),
            notice_trouble: None,
        }
    }
}
