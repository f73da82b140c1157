//! When the viewed file is looked at again, and whether its folder is watched meanwhile.
//!
//! What may go here: the rule, with time as an argument. What may not: clocks, watchers, files.

use std::time::{Duration, Instant};

/// Shortest time between two pages: 60 of them a second.
pub(in crate::tail) const FRAME: Duration = Duration::from_micros(16_667);
/// Between two looks at a file that has grown lately. File events are late or absent on some systems.
const BUSY: Duration =
    if cfg!(target_os = "linux") { Duration::from_millis(250) } else { Duration::from_millis(100) };
/// How long a file counts as one that has grown lately.
const LATELY: Duration = Duration::from_secs(5);
/// Between two looks at a file that is silent, and between two looks at what its path names.
pub(in crate::tail) const SILENT: Duration = Duration::from_secs(1);
/// Between two looks while events of the neighbours are too many to be listened to.
const MUTED: Duration = Duration::from_millis(100);
/// So many frames in a row in which the file grew make a flood: half a second.
const FLOOD_FRAMES: u32 = 30;
/// Without growth for so long, a flood is over.
const CALM: Duration = Duration::from_millis(500);
/// Events of the folder within [`SILENT`] that are too many: being watched then costs the writer more than it gives.
const MOST_EVENTS: u64 = 500;
/// How long the folder is not watched after too many events; doubled each time up to [`LONGEST_MUTE`].
const FIRST_MUTE: Duration = Duration::from_secs(5);
const LONGEST_MUTE: Duration = Duration::from_mins(1);

/// The rhythm of looks at one file.
#[derive(Debug)]
pub(in crate::tail) struct Rhythm {
    last_growth: Option<Instant>,
    growing_frames: u32,
    floods: bool,
    events_since: (Instant, u64),
    muted_until: Option<Instant>,
    next_mute: Duration,
}

impl Rhythm {
    pub(in crate::tail) fn new(now: Instant) -> Self {
        Self {
            last_growth: None,
            growing_frames: 0,
            floods: false,
            events_since: (now, 0),
            muted_until: None,
            next_mute: FIRST_MUTE,
        }
    }

    /// A look has shown whether the file had grown; `events` is how many events there were in all.
    pub(in crate::tail) fn looked(&mut self, now: Instant, has_grown: bool, events: u64) {
        let since = |then: Instant| now.saturating_duration_since(then);
        if has_grown {
            let is_next_frame = self.last_growth.is_some_and(|last| since(last) < FRAME * 5 / 4);
            self.growing_frames = if is_next_frame { self.growing_frames + 1 } else { 1 };
            self.floods |= self.growing_frames >= FLOOD_FRAMES;
            self.last_growth = Some(now);
        } else if self.last_growth.is_none_or(|last| since(last) >= CALM) {
            self.floods = false;
            self.growing_frames = 0;
        }
        if self.muted_until.is_some_and(|until| now >= until) {
            self.muted_until = None;
            self.events_since = (now, events);
        }
        let (start, count) = self.events_since;
        if events.saturating_sub(count) > MOST_EVENTS && since(start) <= SILENT * 2 {
            self.muted_until = Some(now + self.next_mute);
            self.next_mute = (self.next_mute * 2).min(LONGEST_MUTE);
            self.events_since = (now, events);
        } else if since(start) >= SILENT {
            self.events_since = (now, events);
        }
    }

    /// Says whether the folder should be watched now.
    pub(in crate::tail) fn wants_watch(&self) -> bool {
        !self.floods && self.muted_until.is_none()
    }

    /// Returns the time between the last look and the next one.
    pub(in crate::tail) fn wait(&self, now: Instant) -> Duration {
        if self.floods {
            FRAME
        } else if self.muted_until.is_some() {
            MUTED
        } else if self.last_growth.is_some_and(|last| now.saturating_duration_since(last) < LATELY)
        {
            BUSY
        } else {
            SILENT
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a point in time to count from; nothing waits")]
mod tests {
    use std::time::{Duration, Instant};

    use super::{BUSY, FRAME, MUTED, Rhythm, SILENT};

    #[test]
    fn a_file_that_grew_lately_is_looked_at_more_often() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(start);
        assert_eq!(rhythm.wait(start), SILENT);
        rhythm.looked(start, true, 0);
        assert_eq!(rhythm.wait(start + Duration::from_secs(4)), BUSY);
        assert_eq!(rhythm.wait(start + Duration::from_secs(6)), SILENT);
        assert!(rhythm.wants_watch());
    }

    #[test]
    fn a_flood_is_looked_at_every_frame_without_a_watch_until_it_calms_down() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(start);
        for frame in 0..40 {
            rhythm.looked(start + FRAME * frame, true, 0);
        }
        assert!(!rhythm.wants_watch());
        assert_eq!(rhythm.wait(start + FRAME * 40), FRAME);
        rhythm.looked(start + FRAME * 41, false, 0);
        assert!(!rhythm.wants_watch(), "one quiet frame is no calm");
        rhythm.looked(start + FRAME * 80, false, 0);
        assert!(rhythm.wants_watch());
    }

    #[test]
    fn a_writer_that_is_slower_than_frames_stays_watched() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(start);
        for line in 0..200 {
            rhythm.looked(start + Duration::from_millis(25) * line, true, 0);
            assert!(rhythm.wants_watch());
        }
    }

    #[test]
    fn too_many_events_of_the_neighbours_mute_the_watch_for_longer_each_time() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(start);
        rhythm.looked(start + SILENT, false, 10_000);
        assert!(!rhythm.wants_watch());
        assert_eq!(rhythm.wait(start + SILENT), MUTED);
        let again = start + Duration::from_secs(7);
        rhythm.looked(again, false, 10_000);
        assert!(rhythm.wants_watch(), "events from before do not count");
        rhythm.looked(again + SILENT, false, 20_000);
        assert!(!rhythm.wants_watch());
        rhythm.looked(again + Duration::from_secs(8), false, 20_000);
        assert!(!rhythm.wants_watch());
        rhythm.looked(again + Duration::from_secs(12), false, 20_000);
        assert!(rhythm.wants_watch());
    }
}
