//! The control socket: a door to a fleet from another process.
//!
//! The host serves it, a client connects to it and holds an ordinary [`crate::runtime::FleetHandle`], so that a door
//! cannot tell whether its fleet is in the same process. Versioned JSON lines both ways.
//!
//! What may go here: the lines, the server, the client, where the socket is. What may not: starting hosts (`start`),
//! rules of the fleet, words for a terminal.

mod address;
mod client;
mod feed;
mod line;
mod listener;
mod packing;
mod presence;
mod protocol;
mod rebuild;
mod serve;
mod server;
mod socket;
mod understood;

pub use address::{socket_folder, try_socket};
pub use client::{ConnectError, Connected, connect, connect_in_passing};
pub use listener::{ListenError, Listener};
pub use protocol::Welcome;
pub use serve::{Stay, serve};
#[doc(hidden)]
pub use understood::understand;

#[cfg(test)]
mod tests;
