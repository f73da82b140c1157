//! Recorded agents: what `fleet demo` queues, and the program that plays a recording as if it were an agent.
//!
//! What may go here: recordings, how they are played, the demo's options and tasks. What may not: making or hosting a
//! fleet, a terminal. Nothing here needs a key, the network, or a file of its own: the recordings are in the program.

mod recording;
mod replay;
mod tasks;

pub use recording::{Entry, Recording, RecordingError, What};
pub use replay::replay_main;
pub use tasks::{KIND, Player};

#[cfg(test)]
mod tests;
