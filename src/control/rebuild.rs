//! Puts snapshots together again out of changes. Rows that did not change are shared with the snapshot before.
//!
//! What may go here: that. What may not: reading lines.

use std::sync::Arc;

use super::protocol::{Change, Rest};
use crate::core::{AgentId, BatchView, Row, Snapshot};

/// What a client knows of the fleet.
#[derive(Debug, Default)]
pub(super) struct Rebuild {
    rows: Vec<Arc<Row>>,
    queue: Vec<AgentId>,
    batches: Vec<BatchView>,
}

/// A change does not follow on what was told before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a change from the host does not follow on the ones before")]
pub(super) struct Gap;

impl Rebuild {
    /// Takes a change; returns the snapshot if that is whole now.
    pub(super) fn take(&mut self, change: Change) -> Result<Option<Snapshot>, Gap> {
        for mut row in change.rows {
            let place = place(row.id.0)?;
            if change.same_task.contains(&row.id) {
                let known = self.rows.get(place).ok_or(Gap)?;
                Arc::make_mut(&mut row).task = Arc::clone(&known.task);
            }
            put(&mut self.rows, place, row)?;
        }
        let Some(rest) = change.rest.filter(|_| !change.more) else { return Ok(None) };
        let Rest { revision, at, header, queue, batches, question } = rest;
        for view in batches {
            put(&mut self.batches, place(view.batch.number)?, view)?;
        }
        if let Some(queue) = queue {
            self.queue = queue;
        }
        Ok(Some(Snapshot {
            revision,
            at,
            header,
            rows: self.rows.clone(),
            queue: self.queue.clone(),
            batches: self.batches.clone(),
            question,
        }))
    }
}

/// Numbers begin with 1 and have no gaps.
fn place(number: u32) -> Result<usize, Gap> {
    usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).ok_or(Gap)
}

/// Puts a thing in its place, at most one after the last.
fn put<T>(things: &mut Vec<T>, place: usize, thing: T) -> Result<(), Gap> {
    if place == things.len() {
        things.push(thing);
    } else {
        *things.get_mut(place).ok_or(Gap)? = thing;
    }
    Ok(())
}
