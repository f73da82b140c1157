//! The kind `demo`: an agent that was recorded, as `fleet demo` plays it.
//!
//! What may go here: how such a task becomes a command line. What may not: the recordings, and how they are played.
//! The kind is not offered: outside of the demo there is nothing that it could play.

use crate::core::{KindTraits, Task};

use super::invocation::{self, Place};
use super::{Adapter, FirstText, Invocation, LineReader, ProtocolReader, ReaderStart, Refusal};

/// The kind.
pub(super) struct Demo;

impl Adapter for Demo {
    fn kind(&self) -> &'static str {
        "demo"
    }

    /// It stands for an agent that takes prompts. It costs nothing, and what it says it has cost is recorded as well.
    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: false, must_answer: false }
    }

    /// Lines of the protocol are shown in words there.
    fn first_text(&self) -> FirstText {
        FirstText::Out
    }

    fn program(&self) -> Option<&'static str> {
        None
    }

    /// Takes every option and heeds none: what is played is played as it was recorded.
    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        let Some(command) = task.command.clone().filter(|command| !command.is_empty()) else {
            return Err(Refusal::new(
                "agents of kind demo are recordings: run fleet demo, or name another kind with --agent",
            ));
        };
        invocation::assemble(task, place, invocation::prompt(task), command)
    }

    /// What is played changes nothing.
    fn edits_unseen(&self, _task: &Task) -> bool {
        false
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(ProtocolReader::new(start))
    }
}
