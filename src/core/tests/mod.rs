//! Stories about the core: events in, effects out, no runtime.
//!
//! What may go here: tests through [`Fleet`](super::Fleet)'s public way in, by theme. What may not: clocks, files,
//! processes.

mod doubts;
mod ends;
mod every_short_story;
mod holds;
mod money;
mod money_properties;
mod notices;
mod promises;
mod queue;
mod restore;
mod rollup;
mod round_trips;
mod stalls;
mod steer;
mod stopping;
mod support;
mod timers;
