//! The part of one output file that is on the screen, however large the file is.
//!
//! What may go here: following a file, the window over it, its lines as styled text, search. What may not: terminal
//! crates, what a line means to an agent kind.
//!
//! [`TailView`] is all that a screen needs: requests go in and never wait, the newest [`Page`] comes out.

mod lines;
mod mailbox;
mod page;
mod pieces;
mod search;
pub mod text;
mod window;
mod worker;

pub use page::{Copied, NewLines, Page, Request, SearchState, What};
pub use window::{Layout, Move, Row};
pub use worker::TailView;
