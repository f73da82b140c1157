//! The kind `sh`: the task is a shell command.
//!
//! What may go here: how the shell is called. What may not: how the output is read, which is the line protocol's.

use crate::core::{KindTraits, Task};

use super::invocation::{self, Choice, Place, guarded, is_short, refuse_unknown, utf8};
use super::{Adapter, Invocation, LineReader, ProtocolReader, ReaderStart, Refusal, command};

/// The kind.
pub(super) struct Sh;

impl Adapter for Sh {
    fn kind(&self) -> &'static str {
        "sh"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: false, pays: false, must_answer: false }
    }

    fn program(&self) -> Option<&'static str> {
        Some("sh")
    }

    /// Extra arguments become the command's `$1`, `$2` and so on. The engine only says which local slot it takes.
    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        refuse_unknown(task, &[Choice::Engine], "write what you want into the command itself")?;
        let text = task.text.clone();
        let mut argv = vec!["sh".to_owned()];
        if is_short(&text) {
            argv.extend(["-c".to_owned(), guarded(&text, &['-', '+'])]);
            if !task.extra.is_empty() {
                argv.push("sh".to_owned());
            }
        } else {
            argv.push(utf8(&place.task_file)?.to_owned());
        }
        argv.extend(task.extra.iter().cloned());
        invocation::assemble(task, place, text, argv)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(ProtocolReader::new(start))
    }
}
