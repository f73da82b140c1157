//! When the loop wakes by itself, with as few wake-ups as the loop's own timer needs for it.
//!
//! What may go here: moments. What may not: what is done at them.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Spans shorter than this are kept to the millisecond: somebody waits for them.
const LONG: Duration = Duration::from_millis(500);
/// The loop's timer sorts what is due later than this at multiples of it, and wakes for that: what is due at such a
/// moment itself takes one wake-up instead of two.
const SLOT: u128 = 64;

/// Counts as the loop's timer counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    /// When it began, or a little before.
    begun: Instant,
}

impl Timer {
    /// Begins; right after the loop was made. Later the moments are as true, and cost more wake-ups.
    pub(super) fn begin() -> Self {
        let now = Instant::now();
        // The timer counts whole milliseconds and rounds up, so that this is where its own zero is.
        Self { begun: now.checked_sub(Duration::from_millis(1)).unwrap_or(now) }
    }

    /// Returns the moment after so long; after a long time it may be some hundredths of a second later.
    pub(super) fn after(self, span: Duration) -> Instant {
        let now = Instant::now();
        if span < LONG {
            return now + span;
        }
        let slots = (now.duration_since(self.begun) + span).as_millis().div_ceil(SLOT) * SLOT;
        self.begun + Duration::from_millis(u64::try_from(slots).unwrap_or(u64::MAX))
    }
}

/// Waits until a moment; not at all for none.
pub(super) async fn due(moment: Option<Instant>) -> Option<()> {
    sleep_until(moment?).await;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_spans_end_where_the_timer_sorts_and_never_early() {
        let timer = Timer::begin();
        for millis in [500, 999, 1000, 1024, 60_000] {
            let span = Duration::from_millis(millis);
            let before = Instant::now();
            let due = timer.after(span);
            let after = Instant::now();
            assert_eq!(due.duration_since(timer.begun).as_millis() % SLOT, 0, "{millis}");
            assert!(due >= before + span - Duration::from_millis(1), "{millis}");
            assert!(due <= after + span + Duration::from_millis(64), "{millis}");
        }
    }
}
