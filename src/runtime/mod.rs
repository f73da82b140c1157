//! The one async loop: merges commands, ends, facts and timers into events and performs effects.
//!
//! What may go here: threads, timers, order. What may not: rules about agents or money (they are in `core`), anything
//! that talks to a person.

mod account;
mod attend;
mod clock;
mod dispatch;
mod given;
mod halt;
mod handle;
mod host;
mod host_thread;
mod inspect;
mod launch;
mod local;
mod news;
mod output;
mod paper;
mod recover;
pub(crate) mod roster;
mod start;
mod stop;
pub mod summary;

use crate::core::{AgentId, FleetId};

pub(crate) use crate::journal::to_type;
pub use clock::Clock;
pub(crate) use handle::Asked;
pub use handle::{FleetHandle, Given, Gone, HostEnd, channel};
pub use host::Host;
pub use host_thread::{HostThread, StartError, new_loop};
pub use inspect::{InspectError, Inspection, inspect};
pub use local::{LocalFleet, LocalFleetError};
pub use start::{HostError, Setup, depth};
pub use stop::{StopError, Stopped, stop};

/// Returns the mark that everything an agent starts carries in its environment.
fn mark(fleet: &FleetId, id: AgentId) -> String {
    format!("{fleet}/{}", id.0)
}
