//! Who watches a fleet, and since when nobody did.
//!
//! What may go here: that, for all connections of one server. What may not: connections themselves (`server`), for how
//! long the host stays (`serve`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::core::Moment;
use crate::journal::FleetDir;
use crate::runtime::Clock;

/// The clients of a fleet that have been welcomed. Connections that only knock do not count, nor do commands that come and
/// go.
#[derive(Debug, Clone)]
pub(super) struct Presence {
    dir: FleetDir,
    clock: Clock,
    watch: Arc<Mutex<Watch>>,
}

#[derive(Debug)]
struct Watch {
    clients: usize,
    /// When the last one left.
    left: Option<Moment>,
}

/// One client that is there, for as long as this is kept.
#[derive(Debug)]
pub(super) struct Seat(Presence);

impl Presence {
    /// Begins with nobody there, and with what the last host of the fleet has written down.
    pub(super) fn new(dir: FleetDir, clock: Clock) -> Self {
        let left = dir.left_at();
        Self { dir, clock, watch: Arc::new(Mutex::new(Watch { clients: 0, left })) }
    }

    /// Returns since when nobody has been there; `None` if somebody is, or nobody ever was.
    pub(super) fn away_since(&self) -> Option<Moment> {
        let watch = self.lock();
        watch.left.filter(|_| watch.clients == 0)
    }

    /// Takes note of a client that has been told since when nobody was there.
    pub(super) fn enter(&self) -> Seat {
        let mut watch = self.lock();
        watch.clients += 1;
        if watch.clients == 1 {
            self.dir.forget_left();
        }
        Seat(self.clone())
    }

    /// Writes down that nobody is there any more, unless somebody is. A connection that goes with its host is none that
    /// left.
    pub(super) fn note_left(&self) {
        let watch = self.lock();
        if let Some(left) = watch.left.filter(|_| watch.clients == 0) {
            // Without it a screen that comes when this host has gone does not hear what has ended meanwhile.
            let _ = self.dir.note_left(left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        // A number and a moment are whole at any time.
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Self(presence) = self;
        let now = presence.clock.now();
        let mut watch = presence.lock();
        watch.clients = watch.clients.saturating_sub(1);
        watch.left = Some(now);
    }
}
