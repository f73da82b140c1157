//! The one clock of a host: wall time at its start, moved on by the monotonic clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::core::Moment;

/// Hands out moments that never go back, whatever is done to the system's clock meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Moment,
    start: Instant,
}

impl Clock {
    /// Starts a clock that is not behind `newest`, the last moment in a journal.
    #[expect(clippy::disallowed_methods, reason = "this is the place where time is read")]
    pub fn start(newest: Moment) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: Moment::default().after(wall).max(newest), start: Instant::now() }
    }

    /// Returns what the system's clock says, for whoever asks once; it may go back.
    pub fn wall() -> Moment {
        Self::start(Moment::default()).now()
    }

    /// Returns the time now.
    pub fn now(&self) -> Moment {
        self.wall.after(self.start.elapsed())
    }

    /// Returns how long it is until `moment`; zero if it is past.
    pub fn until(&self, moment: Moment) -> Duration {
        moment.since(self.now())
    }
}
