//! How a command goes into a line and comes out of it: the context that all tasks of a submission share goes along once.
//!
//! What may go here: that. What may not: reading and writing lines, what a command leads to.

use std::collections::HashMap;

use serde_json::value::to_raw_value;

use super::protocol::{Ask, too_long};
use crate::core::{Command, Refusal, Task};
use crate::runtime::Given;

/// Most that the contexts of one submission may come to once each task has its own again, in bytes: 1,000 tasks with a
/// quarter of a megabyte each. A short line could ask for any amount of memory otherwise.
const CONTEXT_BYTES: usize = 256 * 1024 * 1024;

/// Makes the message that asks for something. `None` if the command cannot be written, which does not happen.
pub(super) fn pack(id: u64, mut command: Command, given: Given) -> Option<Ask> {
    let (contexts, context_of) = take_contexts(tasks_of(&mut command));
    let given = (given != Given::default()).then_some(given);
    Some(Ask { id, command: to_raw_value(&command).ok()?, given, contexts, context_of })
}

/// Returns what is asked for, or why it cannot be done.
pub(super) fn unpack(ask: Ask) -> Result<(Command, Given), Refusal> {
    let unknown = || {
        let text = "this fleet's host does not know that command: use a host of a newer version";
        Refusal(text.to_owned())
    };
    let mut command: Command = serde_json::from_str(ask.command.get()).map_err(|_| unknown())?;
    let mut bytes = 0;
    for (task, place) in tasks_of(&mut command).iter_mut().zip(ask.context_of) {
        let Some(place) = place else { continue };
        let context = ask.contexts.get(place).ok_or_else(unknown)?;
        bytes += context.len();
        if bytes > CONTEXT_BYTES {
            return Err(Refusal(too_long()));
        }
        task.context = Some(context.clone());
    }
    Ok((command, ask.given.unwrap_or_default()))
}

/// Takes the contexts out of tasks; returns the different ones, and which of them each task has.
fn take_contexts(tasks: &mut [Task]) -> (Vec<String>, Vec<Option<usize>>) {
    let mut places = HashMap::new();
    let mut context_of = Vec::new();
    for task in tasks {
        context_of.push(task.context.take().map(|context| {
            let next = places.len();
            *places.entry(context).or_insert(next)
        }));
    }
    while context_of.pop_if(|place| place.is_none()).is_some() {}
    let mut contexts = vec![String::new(); places.len()];
    for (context, place) in places {
        if let Some(slot) = contexts.get_mut(place) {
            *slot = context;
        }
    }
    (contexts, context_of)
}

fn tasks_of(command: &mut Command) -> &mut [Task] {
    match command {
        Command::Submit(submission) => &mut submission.tasks,
        Command::Edit(_, task) => std::slice::from_mut(task),
        Command::Stop(_)
        | Command::Kill(_)
        | Command::Remove(_)
        | Command::Move(..)
        | Command::Retry(..)
        | Command::Steer(..)
        | Command::InterruptTurn(..)
        | Command::Hold
        | Command::Release
        | Command::HoldAgents(_)
        | Command::ReleaseAgents(_)
        | Command::SetCap(_)
        | Command::Answer(..)
        | Command::Interrupt(_)
        | Command::Close => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::task;
    use crate::core::{AgentId, BatchId, Submission};

    fn with(context: Option<&str>) -> Task {
        Task { context: context.map(str::to_owned), ..task("true").as_ref().clone() }
    }

    fn submission(contexts: &[Option<&str>]) -> Command {
        let tasks = contexts.iter().copied().map(with).collect();
        Command::Submit(Submission { id: BatchId::from_bits(1), tasks, origin: None, inside: None })
    }

    #[test]
    fn what_is_packed_comes_out_as_it_was_and_a_shared_context_goes_along_once() {
        let long = "x".repeat(10_000);
        for contexts in [
            &[][..],
            &[None, None],
            &[Some(long.as_str()), Some("other"), None, Some(&long)],
            &[None, Some(&long), None],
        ] {
            let command = submission(contexts);
            let ask = pack(7, command.clone(), Given::default()).unwrap();
            let line = serde_json::to_string(&ask).unwrap();
            let has_long = contexts.contains(&Some(long.as_str()));
            assert_eq!(line.matches(&long).count(), usize::from(has_long), "{}", line.len());
            let read = serde_json::from_str(&line).unwrap();
            assert_eq!(unpack(read), Ok((command, Given::default())));
        }
        let edit = Command::Edit(AgentId(1), Box::new(with(Some("other"))));
        let ask = pack(8, edit.clone(), Given::default()).unwrap();
        assert_eq!(unpack(ask), Ok((edit, Given::default())));
    }

    #[test]
    fn a_short_line_cannot_ask_for_any_amount_of_memory() {
        let long = "x".repeat(CONTEXT_BYTES / 100);
        let ask = pack(1, submission(&[Some(long.as_str()); 101]), Given::default()).unwrap();
        assert!(unpack(ask).unwrap_err().0.contains("too much"));
        let mut ask = pack(1, submission(&[Some("x")]), Given::default()).unwrap();
        ask.contexts.clear();
        assert!(unpack(ask).is_err(), "it names a context that is not there");
    }
}
