//! Fleet: hands many independent tasks to background process agents and drives them to done.
//!
//! Arrows point down: `start → tui, cli, control → words → runtime → supervise, tail, journal → adapters → core`. A
//! library user calls [`shim_main`] first in `main`, so that its own executable can serve as the shim that owns an agent.

#[cfg(not(unix))]
compile_error!("fleet runs on Linux and macOS; Windows is not supported");

pub mod adapters;
pub mod cli;
pub mod control;
pub mod core;
pub mod demo;
pub mod journal;
pub mod runtime;
pub mod start;
pub mod supervise;
pub mod tail;
#[cfg(feature = "tui")]
pub mod tui;
pub mod words;

pub use supervise::shim_main;
