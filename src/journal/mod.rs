//! What a fleet leaves on disk about its decisions: state folder, fleet folders, locks, the journal.
//!
//! What may go here: files that Fleet itself writes, their names, formats and versions, and which of them stays how
//! long. What may not: rules of the fleet (they are in `core`), processes, output of agents.

mod crc;
mod fleet_dir;
mod host_lock;
mod machine;
mod manifest;
mod mesh;
mod pick;
mod private;
mod reader;
mod retention;
mod state_dir;
mod typed;
mod writer;

pub use fleet_dir::{FleetDir, FleetFile, FleetFileError, folder_of, hide_env_values};
pub use host_lock::{HostLock, HostState, Taken, host_of};
pub use machine::{boot_id, host_name};
pub use manifest::{Manifest, ManifestTask};
pub use mesh::Mesh;
pub use pick::{FleetStanding, Listed, PickError, Purpose, join, pick};
pub use private::{make_dir, open_to_append, read_text, replace};
pub use reader::{JournalError, VERSION, read};
pub use retention::{
    KEEP_FOR, KEEP_NEWEST, Keep, Prunable, Pruned, delete, delete_ended, finish_earlier, prune,
    select, size_of,
};
pub use state_dir::{Draft, FindError, MakingLock, StateDir, StateDirError};
pub use typed::{quoted, tell_state_dir, to_type};
pub use writer::{Journal, Saved, Sequence};
