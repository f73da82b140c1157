//! How much processor time an agent's processes have used.
//!
//! What may go here: adding it up, comparing two looks. What may not: what it means that they use none.

use std::collections::BTreeMap;
use std::time::Duration;

use super::dir::AgentDir;
use super::life::{Begun, Lock, begun, probe};
use super::processes::tree_of;
use super::record::Started;

/// One unit of processor time in `/proc`, on every machine that Linux is used on today.
const TICK: Duration = Duration::from_millis(10);

/// Part of the time between two looks that an idle tree may use: programs that wait for a key look at a clock meanwhile.
const IDLE_PART: u32 = 100;

/// What the live processes of a tree had used at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuUse(BTreeMap<(i32, u64), u64>);

impl CpuUse {
    /// Makes one of processes, each with its number, its start and what it has used.
    #[cfg(test)]
    pub(crate) fn of(uses: impl IntoIterator<Item = ((i32, u64), u64)>) -> Self {
        Self(uses.into_iter().collect())
    }

    /// Says whether the tree has been idle since an earlier look, `span` ago: the same processes, and next to nothing used.
    pub fn is_idle_since(&self, earlier: &Self, span: Duration) -> bool {
        let sum = |uses: &Self| uses.0.values().fold(0, |sum: u64, used| sum.saturating_add(*used));
        let used = sum(self).saturating_sub(sum(earlier));
        let most = span.as_millis() / TICK.as_millis() / u128::from(IDLE_PART);
        self.0.keys().eq(earlier.0.keys()) && u128::from(used) <= most
    }
}

/// Looks at an agent's tree; `None` if it has none, or the system does not tell. Reads all of `/proc` once.
pub fn cpu_use(dir: &AgentDir) -> Option<CpuUse> {
    let Ok(Begun::Yes(Started { shim_pid, .. })) = begun(dir) else { return None };
    let uses = tree_of(shim_pid)
        .iter()
        .map(|process| Some((process.key(), process.cpu_ticks()?)))
        .collect::<Option<BTreeMap<_, _>>>()?;
    // A shim's number that now belongs to another process comes with a free lock.
    let is_shim = matches!(probe(&dir.alive()), Ok(Lock::Held));
    (is_shim && !uses.is_empty()).then_some(CpuUse(uses))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_secs(5);

    fn uses(of: &[(i32, u64, u64)]) -> CpuUse {
        CpuUse::of(of.iter().map(|(pid, start, used)| ((*pid, *start), *used)))
    }

    #[test]
    fn only_the_same_processes_that_use_next_to_nothing_are_idle() {
        let before = uses(&[(7, 1, 100), (8, 2, 50)]);
        assert!(before.is_idle_since(&before, SPAN));
        assert!(uses(&[(7, 1, 102), (8, 2, 53)]).is_idle_since(&before, SPAN));
        assert!(!uses(&[(7, 1, 103), (8, 2, 53)]).is_idle_since(&before, SPAN));
        assert!(!uses(&[(7, 1, 101), (8, 2, 50)]).is_idle_since(&before, Duration::ZERO));
        for other in [
            uses(&[(7, 1, 100)]),
            uses(&[(7, 1, 100), (8, 2, 50), (9, 3, 0)]),
            uses(&[(7, 1, 100), (8, 3, 50)]),
        ] {
            assert!(!other.is_idle_since(&before, SPAN), "{other:?}");
        }
    }
}
