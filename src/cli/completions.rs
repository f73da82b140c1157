//! What a shell completes: words of the command line, and what they can mean right now, fleets, agents and kinds.
//!
//! What may go here: the script for a shell, and the answers when it asks. What may not: the definition of subcommands.
//!
//! The script asks this very program for each completion, by a variable of its own, so what it offers is what this version
//! of Fleet takes. An answer is never an error: where there is nothing to offer, there is none.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};

use clap::{Arg, Command, CommandFactory as _, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;

use super::act::{Failure, ids, likely_fleet, no_fleet, state_dir};
use super::arguments::{Arguments, CompletionsArguments, GlobalArguments};
use super::config::Config;
use super::exit_code::DONE;
use super::look::print;
use crate::core::{Row, Snapshot, Status};
use crate::runtime::recorded;
use crate::words::plain_text::{cut_cells, headline, one_line};

/// Variable by which the script asks; its value is the shell.
const VARIABLE: &str = "FLEET_COMPLETE";
/// Most agents that are offered: nobody chooses from more.
const MOST_AGENTS: usize = 500;
/// Cells of what is said beside a word.
const WIDTH: usize = 60;

/// Prints the script for a shell.
pub(super) fn completions(arguments: &CompletionsArguments) -> Result<u8, Failure> {
    let mut script = Vec::new();
    let written = Shells::builtins()
        .completer(&arguments.shell)
        .map(|shell| shell.write_registration(VARIABLE, "fleet", "fleet", "fleet", &mut script));
    let text = match written {
        Some(Ok(())) => String::from_utf8_lossy(&script).into_owned(),
        Some(Err(error)) => return Err(Failure::input(error.to_string())),
        None => return Err(Failure::input("there are no completions for that shell")),
    };
    print(text.trim_end(), false)?;
    Ok(DONE)
}

/// Returns the names of the shells that there are scripts for.
pub(super) fn shells() -> Vec<&'static str> {
    Shells::builtins().names().collect()
}

/// Answers a shell that asks for completions; `None` if this is no such call.
pub(super) fn answer(words: &[OsString]) -> Option<u8> {
    let shell = std::env::var(VARIABLE).ok()?;
    let [_, dashes, asked @ ..] = words else { return None };
    if dashes != "--" {
        return None;
    }
    let shells = Shells::builtins();
    let folder = std::env::current_dir().ok();
    let mut text = Vec::new();
    let answered = shells.completer(&shell).map(|shell| {
        shell.write_complete(&mut command(), asked.to_vec(), folder.as_deref(), &mut text)
    });
    if let Some(Ok(())) = answered {
        // A shell that has gone needs no answer.
        let _ = io::stdout().write_all(&text);
    }
    Some(DONE)
}

/// Returns the command line with what its values can be right now.
fn command() -> Command {
    let with_values = |command: Command| command.mut_args(with_values);
    with_values(Arguments::command()).mut_subcommands(with_values)
}

fn with_values(arg: Arg) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let completer = |candidates: fn(&str) -> Vec<CompletionCandidate>| {
        ArgValueCompleter::new(move |word: &OsStr| {
            word.to_str().map(candidates).unwrap_or_default()
        })
    };
    match (arg.get_id().as_str(), name.as_deref()) {
        ("fleet", _) | (_, Some("FLEET")) => arg.add(completer(fleets)),
        (_, Some("SEL" | "AGENT")) => arg.add(completer(agents)),
        (_, Some("FLEET|SEL")) => arg.add(completer(agents_or_fleets)),
        (_, Some("KIND")) => arg.add(completer(kinds)),
        (_, Some("DIR")) => arg.value_hint(ValueHint::DirPath),
        (_, Some("FILE")) => arg.value_hint(ValueHint::FilePath),
        _ => arg,
    }
}

fn candidate(word: &str, said: &str) -> CompletionCandidate {
    let said = cut_cells(&one_line(said), WIDTH);
    CompletionCandidate::new(word).help(Some(said.into()))
}

fn fleets(begun: &str) -> Vec<CompletionCandidate> {
    let Ok(state) = state_dir(&told()) else { return Vec::new() };
    let begun = begun.to_ascii_lowercase();
    let mut found = ids(&state).unwrap_or_default();
    found.retain(|id| id.0.starts_with(&begun));
    let of = |id: &crate::core::FleetId| {
        let file = state.fleet(id).read_file().ok();
        let said = file.map(|file| file.name.unwrap_or_else(|| file.root.display().to_string()));
        candidate(&id.0, &said.unwrap_or_default())
    };
    // The newest first.
    found.iter().rev().map(of).collect()
}

fn agents(begun: &str) -> Vec<CompletionCandidate> {
    let seen = || -> Result<Snapshot, Failure> {
        let told = told();
        let state = state_dir(&told)?;
        // A key that is pressed by the way must neither wait for long reading nor end what lost agents have left.
        let dir = likely_fleet(&state, told.fleet.as_deref())?;
        recorded(&dir).map_err(no_fleet)
    };
    seen().map(|snapshot| selectors(&snapshot, begun)).unwrap_or_default()
}

/// Returns what selects agents and, once something is typed, ids of fleets.
fn agents_or_fleets(begun: &str) -> Vec<CompletionCandidate> {
    let mut found = agents(begun);
    if !begun.is_empty() {
        found.extend(fleets(begun));
    }
    found
}

/// Returns what selects agents of a fleet and begins so.
fn selectors(snapshot: &Snapshot, begun: &str) -> Vec<CompletionCandidate> {
    let mut all: Vec<(String, String)> = vec![
        ("all".to_owned(), format!("all {}", snapshot.rows.len())),
        ("failed".to_owned(), "those that ended and are not done".to_owned()),
    ];
    all.extend(snapshot.batches.iter().map(|view| {
        (format!("set:{}", view.batch.number), format!("a batch of {}", view.batch.agents.len()))
    }));
    // Of what is not recorded as ended nobody has looked whether it lives.
    let said = |row: &Row| match row.status {
        Status::Ended(_) => {
            format!("{}: {}", row.status.as_str(), headline(&row.task.text, WIDTH))
        }
        _ => headline(&row.task.text, WIDTH),
    };
    all.extend(snapshot.rows.iter().map(|row| (row.id.0.to_string(), said(row))));
    all.retain(|(word, _)| word.starts_with(begun));
    all.truncate(MOST_AGENTS);
    all.iter().map(|(word, said)| candidate(word, said)).collect()
}

fn kinds(begun: &str) -> Vec<CompletionCandidate> {
    let config = Config::path().and_then(|path| Config::read(&path).ok()).unwrap_or_default();
    let names = config.names();
    names.iter().filter(|name| name.starts_with(begun)).map(CompletionCandidate::new).collect()
}

/// Returns what the command line that is being completed says of fleets so far.
fn told() -> GlobalArguments {
    told_by(std::env::args_os())
}

fn told_by(words: impl Iterator<Item = OsString>) -> GlobalArguments {
    let mut told = GlobalArguments::default();
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    for (place, word) in words.iter().enumerate() {
        let value = |option: &str| {
            let joined = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
            let next = || words.get(place + 1).filter(|_| word == option).cloned();
            joined.map(str::to_owned).or_else(next).filter(|value| !value.is_empty())
        };
        if let Some(fleet) = value("--fleet") {
            told.fleet = Some(fleet);
        }
        if let Some(folder) = value("--state-dir") {
            told.state_dir = Some(folder.into());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Outcome;
    use crate::core::testing::{end, row, snapshot};

    #[test]
    fn selectors_that_begin_so_are_offered_with_what_they_mean() {
        let mut evil = row(12);
        std::sync::Arc::make_mut(&mut evil.task).text = "say\u{1b}[2J it".to_owned();
        let fleet = snapshot(1, vec![end(row(1), Outcome::Done, ""), row(2), evil]);
        let of = |begun: &str| -> Vec<String> {
            let found = selectors(&fleet, begun);
            found.iter().map(|it| it.get_value().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(of("1"), ["1", "12"]);
        assert_eq!(of("f"), ["failed"]);
        let said = selectors(&fleet, "12")[0].get_help().unwrap().to_string();
        assert!(said.contains("say") && !said.contains('\u{1b}'), "{said:?}");
    }

    #[test]
    fn the_fleet_of_the_command_line_is_the_one_whose_agents_are_offered() {
        let words = ["fleet", "--", "fleet", "--state-dir=/s", "retry", "--fleet", "k3f", ""];
        let told = told_by(words.iter().map(OsString::from));
        assert_eq!((told.fleet.as_deref(), told.state_dir), (Some("k3f"), Some("/s".into())));
    }

    #[test]
    fn every_value_of_a_known_name_can_be_completed() {
        let command = command();
        let retry = command.find_subcommand("retry").unwrap();
        let selectors = retry.get_arguments().find(|arg| arg.get_id() == "selectors").unwrap();
        assert!(selectors.get::<ArgValueCompleter>().is_some());
    }
}
