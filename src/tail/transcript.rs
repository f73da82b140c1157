//! The account of an agent's work for people, `transcript.log`: a header, a line for each thing that happened, a line
//! about its end. Made for `tail -f`.
//!
//! What may go here: the shape of the file, and writing it. What may not: how an agent's output is read (the adapters
//! know), how an agent is judged.
//!
//! The file tells of facts and of nothing else. What an agent prints for people is in its `out` already and is not
//! copied, so that a flood of text costs nothing here.

mod frame;
mod lines;
mod log;

pub use frame::{Header, end_line, now};
pub use log::{Start, Transcript, begin, conclude};

#[cfg(test)]
mod tests;
