//! The manifest of a batch: what was asked, where each task's log is, how it stands.
//!
//! It is for people and programs that look from outside; Fleet itself never reads it back. It is made from a snapshot
//! and replaced as a whole, so that it can be written as often as wanted.
//!
//! What may go here: its fields. What may not: decisions.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use super::fleet_dir::FleetDir;
use super::private;

use crate::adapters::redact;
use crate::core::{AgentId, BatchId, BatchView, FleetId, Moment, Row, Snapshot};

/// Most of a goal that is told, in characters as people count them (upstream's number).
const GOAL: usize = 500;
/// Most of the shared context that is told; as much as fits a screen.
const CONTEXT: usize = 2_000;

/// What `batches/deleg_<8 hex>.json` holds. Secrets are taken out of all text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this format: 1.
    pub version: u32,
    /// Name of the batch, equal to the file's.
    pub id: BatchId,
    /// Fleet of the batch.
    pub fleet: FleetId,
    /// Its tag within the fleet, such as `set 2`.
    pub batch: String,
    /// Who submitted it.
    pub origin: Option<String>,
    /// Text that all its tasks share.
    pub context: Option<String>,
    /// When it was queued; a date and time in UTC.
    pub started: String,
    /// How many tasks it has.
    pub task_count: usize,
    /// Its tasks in order.
    pub tasks: Vec<ManifestTask>,
    /// When the last of its agents ended; `None` while one has not.
    pub completed: Option<String>,
}

/// One task of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestTask {
    /// Place within the batch, from 1.
    pub index: u32,
    /// Agent, as in its folder's name.
    pub agent: AgentId,
    /// The task's text.
    pub goal: String,
    /// File to follow, made before the agent starts.
    pub log: PathBuf,
    /// Status in one word.
    pub status: String,
    /// Why it ended, in one word.
    pub exit_reason: Option<String>,
}

impl Manifest {
    /// Makes the manifest of a batch as it stands in a snapshot.
    pub fn of(snapshot: &Snapshot, view: &BatchView, fleet_dir: &FleetDir) -> Self {
        let batch = &view.batch;
        let agents = batch.agents.iter();
        let rows: Vec<&Row> =
            agents.filter_map(|agent| snapshot.row(*agent)).map(AsRef::as_ref).collect();
        let ends: Option<Vec<Moment>> =
            rows.iter().map(|row| row.end.as_ref().map(|end| end.at)).collect();
        let context = rows.first().and_then(|row| row.task.context.as_deref());
        Self {
            version: 1,
            id: batch.id.clone(),
            fleet: snapshot.header.fleet.clone(),
            batch: batch.tag(),
            origin: batch.origin.as_deref().map(|origin| redact(origin).into_owned()),
            context: context.map(|text| clean(text, CONTEXT)),
            started: to_text(batch.queued),
            task_count: batch.agents.len(),
            completed: ends.map(|ends| to_text(ends.into_iter().max().unwrap_or(batch.queued))),
            tasks: rows.into_iter().map(|row| ManifestTask::of(row, fleet_dir)).collect(),
        }
    }

    /// Writes it in the place of an earlier one. Only one that stays as it is waits for the disk.
    pub fn write(&self, fleet_dir: &FleetDir) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        private::make_dir(&fleet_dir.batches())?;
        let path = fleet_dir.manifest(&self.id);
        if self.completed.is_some() {
            private::replace(&path, &text)
        } else {
            private::replace_soon(&path, &text)
        }
    }
}

impl ManifestTask {
    fn of(row: &Row, fleet_dir: &FleetDir) -> Self {
        let reason = row.end.as_ref().and_then(|end| end.reason);
        let agent = fleet_dir.agent(row.id);
        // The account for people, or what the agent wrote where there is no account.
        let log = Some(agent.join("transcript.log")).filter(|account| account.is_file());
        Self {
            index: row.index,
            agent: row.id,
            goal: clean(&row.task.text, GOAL),
            log: log.unwrap_or_else(|| agent.join("out")),
            status: row.status.as_str().to_owned(),
            exit_reason: reason.map(|reason| reason.as_str().to_owned()),
        }
    }
}

/// Takes secrets out first, so that the cut leaves no half of one.
fn clean(text: &str, most: usize) -> String {
    let text = redact(text);
    let Some((cut, _)) = text.grapheme_indices(true).nth(most) else { return text.into_owned() };
    let (head, rest) = text.split_at(cut);
    format!("{head}…(+{} chars)", rest.graphemes(true).count())
}

fn to_text(moment: Moment) -> String {
    i64::try_from(moment.0)
        .ok()
        .and_then(|millis| Timestamp::from_millisecond(millis).ok())
        .unwrap_or(Timestamp::MAX)
        .to_string()
}

#[cfg(test)]
mod tests;
