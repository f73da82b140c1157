//! The folder of one fleet: names of what is in it, `fleet.json`, and the small files beside it.
//!
//! What may go here: paths and formats of a fleet's own files. What may not: files of agents except `env.json`, which
//! is written before an agent has a shim; the journal's lines; the state folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::private;
use crate::core::{AgentId, BatchId, FleetId, FleetOptions, Moment};

/// The folder of one fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetDir {
    path: PathBuf,
    id: FleetId,
}

/// What `fleet.json` holds: what can be told of a fleet without reading its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetFile {
    /// Version of this format.
    pub version: u32,
    /// Version of the Fleet that wrote it.
    pub fleet_version: String,
    /// Id, equal to the folder's name.
    pub id: FleetId,
    /// Name for people.
    pub name: Option<String>,
    /// The folder that the fleet belongs to; see [`folder_of`].
    pub root: PathBuf,
    /// When it was made.
    pub created: Moment,
    /// Name of the machine that hosted it last.
    pub host_name: String,
    /// Start of that machine; see [`super::boot_id`].
    pub boot_id: String,
    /// Options as given when it was made; the journal knows the newest.
    pub options: FleetOptions,
    /// The command line that made it, without values of `--env`.
    pub argv: Vec<String>,
    /// It takes no more tasks than it was made with.
    pub is_closed: bool,
    /// Where its host listens; `None` if it has none that takes clients.
    pub socket: Option<PathBuf>,
}

/// Why `fleet.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FleetFileError {
    /// It could not be read.
    #[error("could not read {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not there.
    #[error("{} is missing: restore it from a copy, or move its folder away", path.display())]
    Missing {
        /// Which file.
        path: PathBuf,
    },
    /// It has a version that this Fleet does not know.
    #[error("{} was written by a newer Fleet (version {version}): use that one", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is not what was written.
    #[error("{} is damaged ({source}): restore it from a copy, or move its folder away", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// What a file of any version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl FleetFile {
    /// Version that this Fleet writes, and the newest that it reads.
    pub const VERSION: u32 = 1;
}

impl FleetDir {
    /// Names the folder of a fleet; nothing is made or looked at.
    pub fn new(path: PathBuf, id: FleetId) -> Self {
        Self { path, id }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the fleet's id.
    pub fn id(&self) -> &FleetId {
        &self.id
    }

    /// Returns the file with what can be told without the journal.
    pub fn fleet_file(&self) -> PathBuf {
        self.path.join("fleet.json")
    }

    /// Returns the file with all decisions.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Returns the file whose lock the host holds.
    pub fn host_lock(&self) -> PathBuf {
        self.path.join("host.lock")
    }

    /// Writes down when the last screen left, for the one that comes next.
    pub fn note_left(&self, at: Moment) -> io::Result<()> {
        private::replace(&self.left(), at.0.to_string().as_bytes())
    }

    /// Returns when the last screen left; `None` if one is there, never was, or the file cannot be read.
    pub fn left_at(&self) -> Option<Moment> {
        private::read_text(&self.left()).ok()?.trim().parse().ok().map(Moment)
    }

    /// Takes note that a screen is there.
    pub fn forget_left(&self) {
        // What stays tells the next screen of more than it needs to hear, and of nothing that is not so.
        let _ = fs::remove_file(self.left());
    }

    fn left(&self) -> PathBuf {
        self.path.join("left")
    }

    /// Returns the file that a host in the background writes its troubles to.
    pub fn host_log(&self) -> PathBuf {
        self.path.join("host.log")
    }

    /// Returns the folder of the manifests.
    pub fn batches(&self) -> PathBuf {
        self.path.join("batches")
    }

    /// Returns the manifest of one batch.
    pub fn manifest(&self, batch: &BatchId) -> PathBuf {
        self.batches().join(format!("{}.json", batch.0))
    }

    /// Returns the folder of the agents' folders.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Returns the folder of one agent.
    pub fn agent(&self, agent: AgentId) -> PathBuf {
        self.agents().join(agent.to_dir_name())
    }

    /// Says whether a fleet is here, be it damaged, and not a folder whose making was cut off.
    pub(super) fn was_made(&self) -> bool {
        let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
        let has_agents =
            || fs::read_dir(self.agents()).is_ok_and(|mut agents| agents.next().is_some());
        is_there(self.fleet_file()) || is_there(self.journal()) || has_agents()
    }

    /// Reads `fleet.json`.
    pub fn read_file(&self) -> Result<FleetFile, FleetFileError> {
        let path = self.fleet_file();
        let text = private::read_text(&path).map_err(|source| match source.kind() {
            // Without its folder the fleet was deleted, and nothing is damaged.
            io::ErrorKind::NotFound if self.path.is_dir() => {
                FleetFileError::Missing { path: path.clone() }
            }
            _ => FleetFileError::Read { path: path.clone(), source },
        })?;
        let damaged = |source| FleetFileError::Damaged { path: path.clone(), source };
        let Version { version } = serde_json::from_str(&text).map_err(damaged)?;
        if version > FleetFile::VERSION {
            return Err(FleetFileError::Newer { path, version });
        }
        serde_json::from_str(&text).map_err(damaged)
    }

    /// Replaces `fleet.json` as a whole.
    pub fn write_file(&self, file: &FleetFile) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(file)?;
        text.push(b'\n');
        private::replace(&self.fleet_file(), &text)
    }

    /// Stores the values of an agent's `--env K=V`, readable by the owner alone, until the agent has started.
    pub fn store_env(&self, agent: AgentId, values: &BTreeMap<String, String>) -> io::Result<()> {
        private::make_dir(&self.agents())?;
        private::make_dir(&self.agent(agent))?;
        private::replace(&self.env_file(agent), &serde_json::to_vec(values)?)
    }

    /// Does the same without waiting for the disk: after a power loss they may be gone.
    pub(crate) fn store_env_soon(
        &self,
        agent: AgentId,
        values: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        private::make_dir(&self.agent(agent))?;
        private::replace_soon(&self.env_file(agent), &serde_json::to_vec(values)?)
    }

    /// Reads those values; none are stored if there is no file.
    pub fn stored_env(&self, agent: AgentId) -> io::Result<BTreeMap<String, String>> {
        match private::read_text(&self.env_file(agent)) {
            Ok(text) => Ok(serde_json::from_str(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(error),
        }
    }

    /// Deletes those values; that there are none is no error.
    pub fn forget_env(&self, agent: AgentId) -> io::Result<()> {
        match fs::remove_file(self.env_file(agent)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn env_file(&self, agent: AgentId) -> PathBuf {
        self.agent(agent).join("env.json")
    }

    /// Tells the host that `stop` files were written past it.
    pub fn nudge(&self) -> io::Result<()> {
        // One byte more each time, since two nudges can fall into one tick of the file system's clock.
        private::open_to_append(&self.nudge_file())?.write_all(b".")
    }

    /// Returns a number that is another one after each nudge.
    pub fn nudge_stamp(&self) -> u64 {
        fs::symlink_metadata(self.nudge_file()).map_or(0, |metadata| metadata.len())
    }

    fn nudge_file(&self) -> PathBuf {
        self.path.join("nudge")
    }
}

/// Returns the folder that a fleet made in `current` belongs to: the nearest repository upwards, else
/// `current` itself. Links are resolved, so that one folder has one name.
pub fn folder_of(current: &Path) -> PathBuf {
    let current = fs::canonicalize(current).unwrap_or_else(|_| current.to_owned());
    let root = current.ancestors().find(|folder| is_repository(folder));
    root.unwrap_or(&current).to_owned()
}

/// Says whether a git repository or a worktree begins here. Some sandboxes put an empty `.git` for a while where there is
/// none, so that no command can make one.
fn is_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

/// Takes the values out of `--env K=V` and `--env=K=V` before a command line is stored; the names stay. What follows
/// `--` is another program's.
pub fn hide_env_values(mut argv: Vec<String>) -> Vec<String> {
    let mut is_value = false;
    for argument in argv.iter_mut().take_while(|argument| *argument != "--") {
        let start = if std::mem::take(&mut is_value) {
            Some(0)
        } else if argument == "--env" {
            is_value = true;
            None
        } else {
            argument.starts_with("--env=").then_some("--env=".len())
        };
        let name_end = start.and_then(|start| {
            argument.bytes().skip(start).position(|byte| byte == b'=').map(|place| start + place)
        });
        if let Some(end) = name_end {
            argument.truncate(end);
        }
    }
    argv
}

#[cfg(test)]
mod tests;
