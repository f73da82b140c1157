//! Real shims with real process trees.
//!
//! What may go here: what can only be seen with the binary. What may not: the stages themselves, which are tested
//! where they are decided.

mod facts;
mod harness;
mod messages;
mod starting;
mod stopping;
