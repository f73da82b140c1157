//! The complete and orderly reading of every agent's output, on one thread.
//!
//! What may go here: one agent's scanner, with the record that its program keeps of the session, the worker that shares its time among them. What may not: the screen's
//! view of a file, the meaning of a line.

mod errors;
pub(in crate::tail) mod files;
mod lines;
mod scanner;
mod session;
mod sizes;
mod worker;

pub(crate) use files::read_end;
pub use scanner::{Look, Scanner};
pub use worker::{Follow, News, ScanWorker};

#[cfg(test)]
mod tests;
