//! Files that a host keeps for others to read: manifests of batches, the roster of the mesh; and the nudge it looks at.
//!
//! None of them is needed to go on with the fleet, so a write that fails is tried again with the next change and stops
//! nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::roster::roster;
use crate::core::{BatchId, BatchStatus, Record, Snapshot};
use crate::journal::{FleetDir, Manifest, Mesh};

/// What was last written, so that nothing is written twice.
#[derive(Debug)]
pub(super) struct Paper {
    dir: FleetDir,
    mesh: Option<Mesh>,
    /// The journal could not be written when this was last set.
    pub(super) in_trouble: bool,
    /// Batches whose manifest is behind, with the status it has on disk.
    batches: BTreeMap<BatchId, Written>,
    roster_is_stale: bool,
    mesh_keys: u64,
    nudge: u64,
}

#[derive(Debug, Default)]
struct Written {
    status: Option<BatchStatus>,
    is_stale: bool,
}

impl Paper {
    pub(super) fn new(dir: FleetDir, mesh: Option<PathBuf>) -> Self {
        let nudge = dir.nudge_stamp();
        Self {
            dir,
            mesh: mesh.map(Mesh::new),
            in_trouble: false,
            batches: BTreeMap::new(),
            roster_is_stale: true,
            mesh_keys: 0,
            nudge,
        }
    }

    /// Takes note of a decision that changes what is on paper.
    pub(super) fn note(&mut self, record: &Record) {
        let changes = matches!(
            record,
            Record::Queued { .. } | Record::Dispatched(_) | Record::Requeued(_) | Record::Ended(..)
        );
        if changes {
            self.roster_is_stale = true;
            for written in self.batches.values_mut() {
                written.is_stale = true;
            }
        }
    }

    /// Lets the roster be written again: an agent runs now.
    pub(super) fn outdate_roster(&mut self) {
        self.roster_is_stale = true;
    }

    /// Writes the roster whenever an agent started or ended, and a manifest when its batch is new or over.
    pub(super) fn write(&mut self, snapshot: &Snapshot) {
        if let Some(mesh) = self.mesh.as_ref().filter(|_| self.roster_is_stale) {
            self.roster_is_stale = mesh.write_roster(&roster(snapshot)).is_err();
        }
        self.write_manifests(snapshot, false);
    }

    /// Writes every manifest that is behind, running batches included.
    pub(super) fn write_manifests(&mut self, snapshot: &Snapshot, all: bool) {
        for view in &snapshot.batches {
            let written = self.batches.entry(view.batch.id.clone()).or_default();
            let is_due = written.status != Some(view.status) || (all && written.is_stale);
            if is_due && Manifest::of(snapshot, view, &self.dir).write(&self.dir).is_ok() {
                *written = Written { status: Some(view.status), is_stale: false };
            }
        }
    }

    /// Returns the number of keys in the mesh store if it has changed.
    pub(super) fn mesh_keys(&mut self) -> Option<u64> {
        let keys = self.mesh.as_mut()?.count_keys();
        (keys != self.mesh_keys).then(|| {
            self.mesh_keys = keys;
            self.roster_is_stale = true;
            keys
        })
    }

    /// Says whether somebody has written `stop` files since this was last asked.
    pub(super) fn was_nudged(&mut self) -> bool {
        let stamp = self.dir.nudge_stamp();
        std::mem::replace(&mut self.nudge, stamp) != stamp
    }
}
