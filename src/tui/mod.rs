//! The screen: a door to a fleet for a person at a terminal.
//!
//! What may go here: keys, panes, modals, drawing, the terminal itself. What may not: rules of the fleet, and anything
//! that blocks on the way from a key to the screen. The model takes what happened and returns what is to be done;
//! drawing is a function of the model; only the loop does anything.

mod agents;
mod cells;
mod clipboard;
mod draw;
mod editor;
mod flash;
mod footer;
mod frame;
mod handover;
mod header;
mod input;
mod keymap;
mod layout;
mod message;
mod modal;
mod model;
mod others;
mod run;
mod search_line;
mod session;
mod tail_pane;
mod terminal;
#[cfg(test)]
mod testing;
mod theme;
mod wish;
mod world;

pub use keymap::{Action, Binding, KEYMAP, Place};
pub use others::{FleetList, ListedFleet, OtherFleets, PastFleet};
pub use run::{ScreenError, run};
pub use session::{
    Departure, Dispatched, Kept, KindInfo, Left, Link, Made, Problem, Session, TaskMaker,
    TaskOptions,
};
pub use terminal::{TerminalError, check as check_terminal};
