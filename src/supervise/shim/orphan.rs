//! Notices that no host has lived for a while.
//!
//! What may go here: looking at the host's lock. What may not: stopping anything.

use std::path::PathBuf;
use std::time::Duration;

use super::super::life::{Lock, probe};

/// Shortest time between two looks, so that a small limit does not become a busy loop.
const SHORTEST_LOOK: Duration = Duration::from_millis(100);

/// Longest time between two looks, so that a host that comes back is noticed well within any sensible limit.
const LONGEST_LOOK: Duration = Duration::from_secs(10);

/// Counts the time without a host.
#[derive(Debug)]
pub(super) struct OrphanWatch {
    limit: Duration,
    lock: PathBuf,
    without_since: Option<Duration>,
    next_look: Duration,
    is_over: bool,
}

impl OrphanWatch {
    /// Begins at `now` with a host that lives.
    pub(super) fn new(limit: Duration, lock: PathBuf, now: Duration) -> Self {
        let mut watch = Self { limit, lock, without_since: None, next_look: now, is_over: false };
        watch.next_look = now.saturating_add(watch.pause());
        watch
    }

    /// Returns when it wants to look next.
    pub(super) fn deadline(&self) -> Option<Duration> {
        (!self.is_over).then_some(self.next_look)
    }

    /// Looks if it is time; says, once, that the limit has been passed.
    pub(super) fn is_orphaned(&mut self, now: Duration) -> bool {
        if self.is_over || now < self.next_look {
            return false;
        }
        self.next_look = now.saturating_add(self.pause());
        // A lock that cannot be looked at is no proof that nobody holds it.
        if !matches!(probe(&self.lock), Ok(Lock::Free)) {
            self.without_since = None;
            return false;
        }
        let since = *self.without_since.get_or_insert(now);
        self.is_over = now.saturating_sub(since) >= self.limit;
        self.is_over
    }

    fn pause(&self) -> Duration {
        (self.limit / 4).clamp(SHORTEST_LOOK, LONGEST_LOOK)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn only_an_unbroken_time_without_a_host_counts() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("host.lock");
        let host = File::create(&path).unwrap();
        host.lock().unwrap();
        let mut watch = OrphanWatch::new(4 * SECOND, path, SECOND);
        assert_eq!(watch.deadline(), Some(2 * SECOND));
        assert!(!watch.is_orphaned(60 * SECOND));
        host.unlock().unwrap();
        assert!(!watch.is_orphaned(61 * SECOND));
        assert!(!watch.is_orphaned(64 * SECOND));
        host.lock().unwrap();
        assert!(!watch.is_orphaned(66 * SECOND));
        host.unlock().unwrap();
        assert!(!watch.is_orphaned(67 * SECOND));
        assert!(watch.is_orphaned(71 * SECOND));
        assert_eq!(watch.deadline(), None);
        assert!(!watch.is_orphaned(80 * SECOND));
    }
}
