//! Files that an agent has changed: those that it has told of, else those that changed in its folder meanwhile.
//!
//! What may go here: which list counts. What may not: looking at folders.

use serde::{Deserialize, Serialize};

use super::agent::AgentState;
use super::fleet::{Agent, Fleet};
use super::id::AgentId;
use super::record::Work;

/// Files that changed in the folder of an agent while it ran, by git.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFiles {
    /// Their paths, below that folder.
    pub files: Vec<String>,
    /// Other agents ran there meanwhile: whose changes these are cannot be told.
    pub is_shared: bool,
}

/// Where a list of changed files comes from.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesFrom {
    /// The agent has told it.
    #[default]
    Told,
    /// They changed in its folder while it ran, by git.
    Git,
    /// The same, and other agents ran there meanwhile.
    GitShared,
}

impl Fleet {
    /// It was looked at what has changed in the folder of an agent whose tree is gone.
    pub(super) fn changed(&mut self, id: AgentId, changed: ChangedFiles) {
        let is_over = |agent: &&mut Agent| matches!(agent.state, AgentState::Reading { .. });
        if let Some(agent) = self.agent_mut(id).filter(is_over) {
            let agent = agent.touch();
            agent.work.changed = Some(changed);
            agent.unsaved_work = true;
        }
    }
}

/// Returns the files that an agent has changed, and where that list comes from. What it has told goes first.
pub(super) fn files_of(work: &Work) -> (Vec<String>, FilesFrom) {
    let told = work.result.as_ref().map(|result| &result.files_changed);
    match (told.filter(|files| !files.is_empty()), &work.changed) {
        (Some(files), _) => (files.clone(), FilesFrom::Told),
        (None, Some(changed)) => {
            let from = if changed.is_shared { FilesFrom::GitShared } else { FilesFrom::Git };
            (changed.files.clone(), from)
        }
        (None, None) => (Vec::new(), FilesFrom::Told),
    }
}
