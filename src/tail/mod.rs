//! Reads what agents write, in two ways that are not one: [`scan`] reads all of it in order for the core, a view reads
//! the part that is on the screen.
//!
//! What the first one learns is written down for people in [`transcript`].
//!
//! What may go here: reading of output files. What may not: what a line means (the adapters know), rules (the core's).

pub mod follow;
mod prompt;
pub mod scan;
pub mod transcript;
#[cfg(feature = "tui")]
pub mod view;

pub(crate) use prompt::prompt;
