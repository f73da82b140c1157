//! Tells a misspelt subcommand from a task.
//!
//! What may go here: what the first word of a command line may be. What may not: the definition of subcommands.

use std::ffi::OsString;

use clap::CommandFactory;

use super::{Arguments, ScreenArguments};
use crate::words::plain_text::{cut_graphemes, one_line};

/// Words that somebody can expect to be subcommands of such a program and that are none: never tasks.
const EXPECTED: [&str; 10] =
    ["add", "cancel", "clean", "help", "kill", "list", "log", "mcp", "start", "status"];

/// Refuses a first word that was meant as a subcommand. A task would cost money before anybody sees the mistake.
pub(super) fn check(words: &[OsString], screen: &ScreenArguments) -> Result<(), String> {
    let Some(word) = screen.run.tasks.first().filter(|word| is_first(words, word)) else {
        return Ok(());
    };
    if word.is_empty()
        || !word.chars().all(|character| character.is_ascii_alphanumeric() || character == '-')
    {
        return Ok(());
    }
    let names = subcommands();
    let near = misspelt(word, &names);
    let alone = ScreenArguments::default();
    let is_alone = screen.run.tasks.len() == 1
        && screen.run.after.is_empty()
        && (&screen.run.task, &screen.run.files) == (&alone.run.task, &alone.run.files);
    let is_expected = EXPECTED.contains(&word.as_str());
    if near.is_none() && !is_expected && !is_alone {
        return Ok(());
    }
    let shown = cut_graphemes(&one_line(word), 40);
    let known = match near {
        Some(near) if !is_expected => format!("did you mean fleet {near}?"),
        _ => format!("there are {};", names.join(", ")),
    };
    Err(format!(
        "no subcommand {shown} ({known} a task of one word goes behind an option: fleet --agent KIND {shown})"
    ))
}

/// Returns the name that a word is at most a slip or two of the fingers away from: letters too many, too few, other ones,
/// or two in the wrong order. How alike two names are otherwise does not count, since most words are tasks.
fn misspelt<'names>(word: &str, names: &'names [String]) -> Option<&'names str> {
    /// Words shorter than this are turned into each other too easily for a second slip.
    const SHORT: usize = 5;
    let slips = |name: &&String| strsim::osa_distance(&word.to_ascii_lowercase(), name);
    let most = if word.len() < SHORT { 1 } else { 2 };
    let near = names.iter().min_by_key(slips)?;
    (slips(&near) <= most).then_some(near)
}

/// Says whether a word stands before everything but options that stand before subcommands too.
fn is_first(words: &[OsString], word: &str) -> bool {
    let mut rest = words.iter().skip(1);
    while let Some(next) = rest.next() {
        match next.to_str() {
            Some("--json") => {}
            Some("--state-dir" | "--fleet") => drop(rest.next()),
            Some(option)
                if option.starts_with("--state-dir=") || option.starts_with("--fleet=") => {}
            other => return other == Some(word),
        }
    }
    false
}

/// Returns the names of the subcommands that help shows.
pub(super) fn subcommands() -> Vec<String> {
    let command = Arguments::command();
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    shown.map(|one| one.get_name().to_owned()).collect()
}
