//! The one async loop: merges commands, ends, facts and timers into events and performs effects.
//!
//! What may go here: threads, timers, order. What may not: rules about agents or money (they are in `core`), anything
//! that talks to a person.

mod account;
mod attend;
mod clock;
mod decide;
mod diagnosis;
mod dispatch;
mod effects;
mod evidence;
mod given;
mod halt;
mod handle;
mod host;
mod host_thread;
mod inspect;
mod launch;
mod local;
mod looks;
mod news;
mod notice_json;
mod notices;
mod output;
mod paper;
mod recover;
pub(crate) mod roster;
mod silences;
mod start;
mod stop;
pub mod summary;
mod tell;
mod work_tree;

use crate::core::AgentId;
use crate::journal::FleetDir;

pub(crate) use crate::journal::to_type;
pub use clock::Clock;
pub use decide::{DecideError, decide};
pub(crate) use handle::Asked;
pub use handle::{FleetHandle, Given, Gone, HostEnd, channel};
pub use host::Host;
pub use host_thread::{HostThread, StartError, new_loop};
pub use inspect::{InspectError, Inspection, foresee, inspect, recorded};
pub use local::{LocalFleet, LocalFleetError};
pub use notices::{MOST_NOTICE_TIME, NoticeCommand, NoticeSource};
pub use start::{HostError, Setup, depth};
pub use stop::{StopError, Stopped, stop};

/// Returns the mark that everything an agent starts carries in its environment: `<fleet>.<place>/<number>`. What carries
/// it is ended with its agent, so it must be nobody else's: two state folders can have fleets of one name.
fn mark(dir: &FleetDir, id: AgentId) -> String {
    let path = dir.path().canonicalize().unwrap_or_else(|_| dir.path().to_owned());
    format!("{}.{:016x}/{}", dir.id(), hash(path.as_os_str().as_encoded_bytes()), id.0)
}

/// Returns the mark of the agent that this process runs inside of.
pub fn own_mark() -> Option<String> {
    std::env::var("FLEET_AGENT").ok()
}

/// Says whether this process runs inside that agent.
pub(crate) fn is_own_mark(dir: &FleetDir, id: AgentId) -> bool {
    std::env::var("FLEET_AGENT").is_ok_and(|own| own == mark(dir, id))
}

/// Returns the FNV-1a hash of some bytes (FNV-1a), the same in each version of Fleet.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::FleetId;

    /// Ids have their time and a little chance in them, so that two folders have the same one now and then; an agent of
    /// one of them must not be swept away with one of the other.
    #[test]
    fn fleets_of_one_name_in_two_folders_have_different_marks() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let of = |folder: &tempfile::TempDir| {
            let path = folder.path().join("k3f");
            std::fs::create_dir_all(&path).unwrap();
            mark(&FleetDir::new(path, FleetId("k3f".to_owned())), AgentId(7))
        };
        assert_ne!(of(&one), of(&two));
        assert_eq!(of(&one), of(&one));
        assert!(of(&one).starts_with("k3f.") && of(&one).ends_with("/7"), "{}", of(&one));
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8, "the test vector of its authors");
    }
}
