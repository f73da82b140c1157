//! The command line: a door to a fleet.
//!
//! What may go here: parsing of arguments and task files, texts for people and JSON for machines, all of them functions
//! of arguments or of one snapshot. What may not: rules of the fleet, processes, the fleet's files.

use std::process::ExitCode;

mod act;
pub mod arguments;
pub mod exit_code;
pub mod fleet_list;

mod door;
mod known_kinds;
mod look;
pub mod nearest;
pub mod plan;
pub mod progress;
pub mod prompt;
mod run;
pub mod selectors;
pub mod sources;

pub mod table;
pub mod validate;

use std::io::Write;

use arguments::{Action, Arguments, Stop};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let argv = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let code = match arguments::parse(words) {
        Ok(arguments) => act(&arguments, argv).unwrap_or_else(|failure| {
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

fn act(arguments: &Arguments, argv: Vec<String>) -> Result<u8, act::Failure> {
    let global = &arguments.global;
    match &arguments.action {
        Some(Action::Run(run)) => run::run(run, global, argv),
        Some(Action::Resume(resume)) => run::resume(resume, global),
        Some(Action::Ls) => look::list(global),
        Some(Action::Stop(stop)) => look::stop(stop, global),
        Some(Action::Results(results)) => look::show_results(results, global),
        // Parsing has refused this: without a subcommand there is only help.
        None => Ok(exit_code::USAGE),
    }
}
