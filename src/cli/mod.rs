//! The command line: a door to a fleet.
//!
//! What may go here: parsing of arguments and task files, texts for people and JSON for machines, all of them functions
//! of arguments or of one snapshot. What may not: rules of the fleet, processes, the fleet's files.

use std::any::Any;
use std::process::ExitCode;

use crate::core::{Command, Hold, Reply};
use crate::journal::{FleetDir, StateDir};
use crate::runtime::FleetHandle;

mod act;
pub mod arguments;
mod cap;
mod completions;
pub mod config;
pub mod doctor;
pub mod exit_code;
pub mod fleet_list;

mod door;
mod handle;
mod hold_agents;
mod hosts;
mod joined;
mod known_kinds;
mod look;
mod man;
pub mod nearest;
pub mod plan;
pub mod progress;
pub mod prompt;
mod prune;
mod queue;
mod retry;
mod run;
pub mod selectors;
mod show;
pub mod sources;
mod steer;

pub mod table;
mod trust;
pub mod validate;

use std::io::Write;

use arguments::{Action, Arguments, Stop};

pub use act::Failure;
pub(crate) use act::{
    fleet_to, never_inside_of_agents, outside_of_agents, state_dir, without_fleet,
};
pub(crate) use handle::Handle;
pub use hosts::{Answered, Choose, Reach, Start};
pub(crate) use joined::Joined;
pub(crate) use look::{print, show_fleet, show_results};
pub(crate) use run::{background_plan, current_folder, is_answerable, notice_source, prune, style};

/// Lets other doors into a fleet that this process hosts, until what it returns is dropped.
pub type Serve = fn(&FleetDir, FleetHandle) -> Box<dyn Any>;

/// Sends a command to the host of a fleet, which is started if there is none; returns the reply, and why the queue is
/// held, if it is.
pub type Ask = fn(&StateDir, &FleetDir, Command) -> Result<(Reply, Option<Hold>), Failure>;

/// Runs the command line of this process. `open` is called for what more than this door takes part in: the screen, which
/// is a door of its own, when there is no subcommand, for `fleet attach` and for `fleet demo`; `fleet doctor`; and
/// commands that go on beside a host, such as `fleet dispatch` and `fleet wait`. It gets the arguments and the words of
/// the command line. `serve` lets others into the fleets of `fleet run` and `fleet resume`; `ask` and `reach` are how
/// other commands reach a host.
pub fn main(
    open: impl FnOnce(&Arguments, Vec<String>) -> Result<u8, Failure>,
    serve: Serve,
    ask: Ask,
    reach: Reach,
) -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    if let Some(code) = completions::answer(&words) {
        return ExitCode::from(code);
    }
    let argv = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let code = match arguments::parse(words) {
        Ok(arguments) => act(&arguments, argv, open, serve, ask, reach).unwrap_or_else(|failure| {
            // There is nobody else to tell.
            let _ = writeln!(std::io::stderr(), "fleet: {}", failure.sentence);
            failure.code
        }),
        Err(Stop::Asked(text)) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            exit_code::DONE
        }
        Err(Stop::Usage(text)) => {
            let _ = writeln!(std::io::stderr(), "fleet: {text}");
            exit_code::USAGE
        }
    };
    ExitCode::from(code)
}

fn act(
    arguments: &Arguments,
    argv: Vec<String>,
    open: impl FnOnce(&Arguments, Vec<String>) -> Result<u8, Failure>,
    serve: Serve,
    ask: Ask,
    reach: Reach,
) -> Result<u8, Failure> {
    let global = &arguments.global;
    match &arguments.action {
        None
        | Some(
            Action::Attach(_)
            | Action::Demo(_)
            | Action::Dispatch(_)
            | Action::Doctor
            | Action::Logs(_)
            | Action::Results(_)
            | Action::Show(_)
            | Action::Wait(_),
        ) => open(arguments, argv),
        Some(Action::Run(run)) => run::run(run, global, argv, serve),
        Some(Action::Resume(resume)) => run::resume(resume, global, serve, reach),
        Some(Action::Ls) => look::list(global),
        Some(Action::Stop(stop)) => look::stop(stop, global),
        Some(Action::Steer(arguments)) => steer::steer(arguments, global, ask),
        Some(Action::Cap(arguments)) => cap::cap(arguments, global, reach),
        Some(Action::Hold(arguments)) => queue::hold(arguments, global, reach),
        Some(Action::Release(arguments)) => queue::release(arguments, global, reach),
        Some(Action::Retry(arguments)) => retry::retry(arguments, global, reach),
        Some(Action::Prune(arguments)) => prune::prune(arguments, global),
        Some(Action::Trust(arguments)) => trust::trust(arguments, global),
        Some(Action::Completions(arguments)) => completions::completions(arguments),
        Some(Action::Man(arguments)) => man::man(arguments),
    }
}
