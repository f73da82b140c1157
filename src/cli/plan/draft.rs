//! Tasks of a draft that somebody types, checked with the rules and sentences of the command line.
//!
//! What may go here: what is wrong with a draft, by line. What may not: how a draft looks on a screen.

use super::task::{Defaults, Refusal};
use super::{Kinds, PlannedTask, Surroundings};
use crate::cli::arguments::TaskArguments;
use crate::cli::sources::draft_entries;
use crate::core::AgentKind;

/// Most problems that are told of one draft: more than anybody reads, and a list of thousands may have one each.
const MOST_PROBLEMS: usize = 100;

/// What counts for each task of a draft.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Template {
    /// Options as `--agent` and the others give them; `--context` is not looked at.
    pub options: TaskArguments,
    /// Words after `--`: arguments for the kind's program, or the command line of the kind `command`.
    pub after: Vec<String>,
    /// Text put before every task.
    pub context: Option<String>,
}

/// What is wrong with a part of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftProblem {
    /// Line of the draft on which the part begins, from 1; `None` if it is about the whole.
    pub line: Option<usize>,
    /// One sentence: which task, what, and what to do.
    pub sentence: String,
}

/// What a draft comes to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Drafted {
    /// Tasks that nothing is wrong with.
    pub tasks: Vec<PlannedTask>,
    /// What is wrong with the others, the first hundred of it.
    pub problems: Vec<DraftProblem>,
}

impl Template {
    /// Says whether tasks of this template are prompts, which separators cut; what has no known kind is one.
    fn is_prompt(&self, kinds: &Kinds<'_>) -> bool {
        let Some(agent) = &self.options.agent else { return self.after.is_empty() };
        (kinds.traits)(&AgentKind(agent.clone())).is_none_or(|traits| traits.prompt)
    }
}

/// Cuts a draft into tasks and checks each.
pub fn drafted(
    draft: &str,
    template: &Template,
    kinds: &Kinds<'_>,
    around: &Surroundings<'_>,
) -> Drafted {
    let entries = match draft_entries(draft, template.is_prompt(kinds)) {
        Ok(entries) => entries,
        Err(error) => {
            let sentence = format!("the list of tasks {}", error.what);
            let problems = vec![DraftProblem { line: error.line, sentence }];
            return Drafted { tasks: Vec::new(), problems };
        }
    };
    let defaults = Defaults::new(
        &template.options,
        template.after.clone(),
        template.context.clone(),
        around,
        kinds,
    );
    let mut drafted = Drafted::default();
    let mut notes = Vec::new();
    for entry in entries {
        let place = entry.place.clone();
        match defaults.task(entry, &mut notes) {
            Ok(task) => drafted.tasks.push(task),
            Err(refusal) => {
                let is_whole = matches!(refusal, Refusal::Whole(_));
                let line = if is_whole { None } else { place.line() };
                drafted.problems.push(DraftProblem { line, sentence: refusal.sentence(&place) });
                if is_whole || drafted.problems.len() == MOST_PROBLEMS {
                    break;
                }
            }
        }
    }
    drafted
}
