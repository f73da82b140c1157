//! What is said of tasks whose cost nobody will know, before they start.
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
        let Some(clause) = (kinds.untold)(task) else { continue };
        let consequence = match (options.cap, task.budget) {
            (None, None) => "its cost stays unknown".to_owned(),
            (None, Some(_)) => "its budget cannot be kept".to_owned(),
            (Some(_), budget) => counts_as(budget.unwrap_or(options.assume_cost)),
        };
        let remark = format!("{} {clause}: {consequence}", one_line(&task.kind.0));
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

fn counts_as(amount: NanoUsd) -> String {
    format!("counts as ${} each against the cap", amount.to_exact())
}
