//! What is said of tasks whose cost nobody will know, or only late, before they start.
//!
//! What may go here: those remarks. What may not: which kinds are meant, which is asked of [`Kinds`].

use super::{Kinds, PlannedTask};
use crate::core::{FleetOptions, NanoUsd};
use crate::words::plain_text::one_line;

/// Returns one remark for each kind, and reason, of which there is a task.
pub(super) fn remarks(
    tasks: &[PlannedTask],
    options: &FleetOptions,
    kinds: &Kinds<'_>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    for PlannedTask { task, .. } in tasks {
        let mut say = |what: String| {
            let remark = format!("{} {what}", one_line(&task.kind.0));
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        };
        if (kinds.late)(task) {
            let limit = task.budget.map(|_| "its budget").or(options.cap.map(|_| "the cap"));
            if let Some(limit) = limit {
                say(format!(
                    "says what it cost only when it has ended: {limit} cannot stop it before"
                ));
            }
        }
        let Some(clause) = (kinds.untold)(task) else { continue };
        let consequence = match (options.cap, task.budget) {
            (None, None) => "its cost stays unknown".to_owned(),
            (None, Some(_)) => "its budget cannot be kept".to_owned(),
            (Some(_), budget) => counts_as(budget.unwrap_or(options.assume_cost)),
        };
        say(format!("{clause}: {consequence}"));
    }
    remarks
}

fn counts_as(amount: NanoUsd) -> String {
    format!("counts as ${} each against the cap", amount.to_exact())
}
