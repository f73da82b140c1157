//! Puts the program together: what this process is, which door it opens, on which fleet, with which host.
//!
//! What may go here: composition of the layers below, which is why this may name all of them. What may not: rules of the
//! fleet, parsing, drawing, the wire.

use std::process::ExitCode;

use crate::cli::arguments::{Action, Arguments};
use crate::cli::{self, Failure};
use crate::demo::replay_main;

mod asking;
mod connect;
#[cfg(feature = "tui")]
mod demo;
mod dispatch;
mod doctor;
#[cfg(feature = "tui")]
mod drafts;
#[cfg(feature = "tui")]
mod farewell;
mod host;
mod join;
mod kept_options;
#[cfg(feature = "tui")]
mod link;
mod logs;
#[cfg(feature = "tui")]
mod other_fleets;
#[cfg(feature = "tui")]
mod screen;
mod seen;
mod serving;
#[cfg(feature = "tui")]
mod task_maker;
mod wait;

pub use connect::{Connector, StartError};
pub use join::{JoinError, Joined, find_or_make};

/// Runs this process as what its arguments say: a host, a recorded agent, the screen, or another command.
pub fn main() -> ExitCode {
    let open = |arguments: &Arguments, argv| match &arguments.action {
        Some(Action::Dispatch(wanted)) => dispatch::run(wanted, &arguments.global, argv),
        Some(Action::Doctor) => doctor::run(&arguments.global),
        Some(Action::Logs(wanted)) => logs::run(wanted, &arguments.global),
        Some(Action::Results(wanted)) => seen::results(wanted, &arguments.global),
        Some(Action::Show(wanted)) => seen::show(wanted, &arguments.global),
        Some(Action::Wait(wanted)) => wait::run(wanted, &arguments.global),
        _ => open(arguments, argv),
    };
    let door = || cli::main(open, serving::serve_beside, asking::ask, asking::reach);
    host::host_main().or_else(replay_main).unwrap_or_else(door)
}

#[cfg(feature = "tui")]
fn open(arguments: &Arguments, argv: Vec<String>) -> Result<u8, Failure> {
    match &arguments.action {
        Some(Action::Demo(wanted)) => demo::open(wanted),
        _ => screen::open(arguments, argv),
    }
}

#[cfg(not(feature = "tui"))]
fn open(_arguments: &Arguments, _argv: Vec<String>) -> Result<u8, Failure> {
    Err(Failure::input("this fleet was built without its screen: fleet run runs tasks without one"))
}
