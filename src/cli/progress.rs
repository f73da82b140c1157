//! Shows a running fleet on one output, line by line: the door of `fleet run` without a screen.
//!
//! What may go here: when something is written, keeping a status line at the bottom, and asking the cap question there.
//! What may not: what the lines say (`report_line`, `status_line`, `prompt`).

mod display;
mod question;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

pub use display::{Display, terminal_width};
use question::Asking;

use crate::cli::prompt::AnswerSource;
use crate::core::{Moment, Snapshot};
use crate::runtime::FleetHandle;

/// Between two drawings of the status line when nothing else is written: fast enough to look live, slow enough for a
/// terminal at the other end of a bad line.
const REDRAW: Duration = Duration::from_millis(100);

/// Says whether nothing more will happen by itself: no more tasks come, nothing runs, and what is queued needs a
/// decision that nobody is being asked for.
pub fn is_over(snapshot: &Snapshot) -> bool {
    let header = &snapshot.header;
    (header.closed || header.interrupted.is_some())
        && (header.all_done || header.idle)
        && snapshot.question.is_none()
}

/// Shows the fleet until it is over or its host has gone, and returns the last snapshot. The cap question is left to
/// other doors. What is said of [`watch_and_ask`] about writing holds here as well.
pub async fn watch(handle: FleetHandle, display: &mut Display<'_>) -> Arc<Snapshot> {
    watch_and_ask(handle, display, None).await
}

/// Shows the fleet until it is over or its host has gone, and returns the last snapshot. With `answers` the cap question
/// is asked there; where it cannot be, the queue is held.
///
/// Writing may block, on a terminal that is stopped or a pipe that nobody reads: run this on another thread than the
/// host's loop, so that agents are never kept waiting.
pub async fn watch_and_ask(
    handle: FleetHandle,
    display: &mut Display<'_>,
    answers: Option<&mut dyn AnswerSource>,
) -> Arc<Snapshot> {
    watch_until(handle, display, answers, &is_over).await
}

/// Does the same until `is_over` says so, or the host has gone.
pub async fn watch_until(
    mut handle: FleetHandle,
    display: &mut Display<'_>,
    answers: Option<&mut dyn AnswerSource>,
    is_over: &(dyn Fn(&Snapshot) -> bool + Sync),
) -> Arc<Snapshot> {
    let mut clock = Clock::new(handle.snapshot());
    let mut asking = Asking::new(handle.clone(), answers);
    let mut second = interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(MissedTickBehavior::Delay);
    display.report(&clock.snapshot);
    asking.look(&clock.snapshot, display);
    asking.draw(&clock, display);
    let mut drawn = Instant::now();
    let mut stale = false;
    while !is_over(&clock.snapshot) {
        let counts = display.is_redrawn() && clock.snapshot.header.kpis.running > 0;
        tokio::select! {
            changed = handle.changed() => {
                let gone = changed.is_err();
                clock = Clock::new(changed.unwrap_or_else(|_| handle.snapshot()));
                display.report(&clock.snapshot);
                asking.look(&clock.snapshot, display);
                if gone {
                    break;
                }
                stale = true;
            }
            _ = second.tick(), if counts || asking.is_postponed() => {
                asking.look(&clock.snapshot, display);
                stale = true;
            }
            () = sleep_until(drawn + REDRAW), if stale => {
                asking.draw(&clock, display);
                drawn = Instant::now();
                stale = false;
            }
            () = asking.turn(display) => {
                // The next question may have come while an answer was on its way.
                asking.look(&clock.snapshot, display);
                // A key is shown at once.
                asking.draw(&clock, display);
            }
        }
    }
    drop(asking);
    display.erase();
    clock.snapshot
}

/// A snapshot and when it came, from which the moment of now follows.
struct Clock {
    snapshot: Arc<Snapshot>,
    came: Instant,
}

impl Clock {
    fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, came: Instant::now() }
    }

    fn now(&self) -> Moment {
        self.snapshot.at.after(self.came.elapsed())
    }
}

#[cfg(test)]
mod tests;
