//! What one client has still to be told, line by line, so that a slow one costs no more than two snapshots.
//!
//! What may go here: the difference between two snapshots, cut into lines. What may not: sending.

use std::sync::Arc;

use super::protocol::{Part, RestPart};
use crate::core::{AgentId, BatchView, Row, Snapshot, Task};

/// Text of rows in one line, about, in bytes: little enough that replies do not wait behind it.
const LINE_BYTES: usize = 128 * 1024;
/// What a row takes beside its texts, about, in bytes.
const ROW_BYTES: usize = 1_000;

/// Where one client stands.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// What it has, as a whole.
    sent: Option<Arc<Snapshot>>,
    /// What it is being told, and how many rows of that were looked at.
    target: Option<(Arc<Snapshot>, usize)>,
}

impl Feed {
    /// Begins with a snapshot; the one before has been told to its end.
    pub(super) fn begin(&mut self, snapshot: Arc<Snapshot>) {
        self.target = Some((snapshot, 0));
    }

    /// Says whether the client has this snapshot or a later one, as a whole.
    pub(super) fn has_told(&self, revision: u64) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.revision >= revision)
    }

    /// Hands the next line to `write`; says whether there was one.
    pub(super) fn next(&mut self, write: impl FnOnce(Part<'_>)) -> bool {
        let Some((target, place)) = &mut self.target else { return false };
        let old = self.sent.as_deref();
        let mut part = Part { more: true, rows: Vec::new(), same_task: Vec::new(), rest: None };
        let mut bytes = 0;
        while let Some(row) = target.rows.get(*place) {
            let known = old.and_then(|old| old.rows.get(*place));
            *place += 1;
            if known.is_some_and(|known| Arc::ptr_eq(known, row)) {
                continue;
            }
            let row = without_known_task(row, known, &mut part.same_task);
            bytes += ROW_BYTES + row.task.text.len() + row.answer.len();
            part.rows.push(row);
            if bytes > LINE_BYTES {
                break;
            }
        }
        let target = Arc::clone(target);
        if *place >= target.rows.len() {
            part.more = false;
            part.rest = Some(rest(old, &target));
        }
        let is_last = !part.more;
        write(part);
        if is_last {
            self.sent = Some(target);
            self.target = None;
        }
        true
    }
}

/// Leaves out the task of a row if the client has it: it is most of the row, and never changes while an agent runs.
fn without_known_task(
    row: &Arc<Row>,
    known: Option<&Arc<Row>>,
    same_task: &mut Vec<AgentId>,
) -> Arc<Row> {
    if !known.is_some_and(|known| Arc::ptr_eq(&known.task, &row.task)) {
        return Arc::clone(row);
    }
    same_task.push(row.id);
    let task = &row.task;
    let stub = Task::new("", task.kind.clone(), task.traits, std::path::PathBuf::new());
    Arc::new(Row { task: Arc::new(stub), ..row.as_ref().clone() })
}

fn rest<'a>(old: Option<&Snapshot>, new: &'a Snapshot) -> RestPart<'a> {
    let is_new = |(place, view): &(usize, &BatchView)| {
        old.and_then(|old| old.batches.get(*place)) != Some(*view)
    };
    RestPart {
        revision: new.revision,
        at: new.at,
        header: &new.header,
        queue: Some(new.queue.as_slice()).filter(|queue| old.is_none_or(|old| old.queue != *queue)),
        batches: new.batches.iter().enumerate().filter(is_new).map(|(_, view)| view).collect(),
        question: new.question.as_ref(),
    }
}
