//! The kind `command`: an explicit command line, `-- PROGRAM … {task}`.
//!
//! What may go here: how the task is put into it. What may not: how the output is read, which is the line protocol's.

use crate::core::{KindTraits, Task};

use super::invocation::{self, Choice, Place, is_short, refuse_unknown};
use super::{Adapter, Invocation, LineReader, ProtocolReader, ReaderStart, Refusal};

/// Stands for the task in every argument.
const TASK: &str = "{task}";

/// The kind.
pub(super) struct Command;

impl Adapter for Command {
    fn kind(&self) -> &'static str {
        super::COMMAND
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: false, pays: false, must_answer: false }
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        explicit(task.command.as_deref().unwrap_or_default(), task, place)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(ProtocolReader::new(start))
    }
}

/// Builds the invocation of a command line that was given word for word, for a task of any kind. The text replaces
/// `{task}` in every argument; without any it is only in `FLEET_TASK` and in the file that `FLEET_TASK_FILE` names.
pub(super) fn explicit(
    command: &[String],
    task: &Task,
    place: &Place,
) -> Result<Invocation, Refusal> {
    let known = [Choice::Engine, Choice::Context];
    refuse_unknown(task, &known, "write what you want into the command line after --")?;
    if command.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(Refusal::new(
            "there is no command line: write it after --, such as -- mytool {task}",
        ));
    }
    let text = invocation::prompt(task);
    if !is_short(&text) && command.iter().any(|argument| argument.contains(TASK)) {
        return Err(Refusal::new(format!(
            "the task has {} KB and {TASK} takes at most {}: let the command read the file that FLEET_TASK_FILE names",
            text.len() / 1000,
            invocation::TASK_IN_ARGV_BYTES / 1000
        )));
    }
    let mut argv: Vec<String> =
        command.iter().map(|argument| argument.replace(TASK, &text)).collect();
    argv.extend(task.extra.iter().cloned());
    invocation::assemble(task, place, text, argv)
}
