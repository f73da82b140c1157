//! Files that agents say they changed, over a whole fleet.
//!
//! What may go here: the sorted union with who changed what. What may not: looking at the files.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::core::{AgentId, FilesFrom, Row, Snapshot, folder};
use crate::words::plain_text::one_line;

/// Files that are named of those that were not seen.
const UNSEEN: usize = 10;

/// A file that at least one agent says it changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// Its path as an agent gave it; whole where two folders have one of that name. Not cleaned.
    pub name: String,
    /// Who changed it, in the order of their numbers.
    pub agents: Vec<AgentId>,
}

/// Returns the changed files of all agents, sorted by name, each once. Paths are compared below the folder of their
/// agent, so that one name below two folders is two files.
pub fn changed_files(snapshot: &Snapshot) -> Vec<ChangedFile> {
    let mut files: BTreeMap<PathBuf, (&str, Vec<AgentId>)> = BTreeMap::new();
    for row in &snapshot.rows {
        for file in &row.files_changed {
            let (_, agents) = files
                .entry(whole(row, file, snapshot))
                .or_insert_with(|| (file.as_str(), Vec::new()));
            if !agents.contains(&row.id) {
                agents.push(row.id);
            }
        }
    }
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in files.values() {
        *times.entry(name).or_default() += 1;
    }
    let is_doubled = |name: &str| times.get(name).is_some_and(|times| *times > 1);
    let mut shown: Vec<ChangedFile> = files
        .iter()
        .map(|(path, (name, agents))| {
            let whole = || path.to_string_lossy().into_owned();
            let name = if is_doubled(name) { whole() } else { (*name).to_owned() };
            ChangedFile { name, agents: agents.clone() }
        })
        .collect();
    shown.sort();
    shown
}

/// Returns the changed files of an agent as it gave them, not cleaned, each with the other agents that changed it, in the
/// order of their numbers. Paths are compared as in [`changed_files`]. One pass over the fleet; whole paths are only made
/// of files of the same name.
pub fn also_changed<'a>(row: &'a Row, snapshot: &Snapshot) -> Vec<(&'a str, Vec<AgentId>)> {
    let whole = |row: &Row, file: &str| whole(row, file, snapshot);
    let mut others: BTreeMap<PathBuf, Vec<AgentId>> =
        row.files_changed.iter().map(|file| (whole(row, file), Vec::new())).collect();
    let names: HashSet<Option<&OsStr>> =
        row.files_changed.iter().map(|file| name_of(file)).collect();
    for other in snapshot.rows.iter().filter(|other| other.id != row.id) {
        for file in &other.files_changed {
            if names.contains(&name_of(file))
                && let Some(agents) = others.get_mut(&whole(other, file))
                && agents.last() != Some(&other.id)
            {
                agents.push(other.id);
            }
        }
    }
    let of = |file: &str| others.get(&whole(row, file)).cloned().unwrap_or_default();
    row.files_changed.iter().map(|file| (file.as_str(), of(file))).collect()
}

/// Returns the whole path of a file that an agent has changed.
fn whole(row: &Row, file: &str, snapshot: &Snapshot) -> PathBuf {
    normal(&folder(snapshot.header.mesh.as_deref(), &row.task).join(file))
}

/// Returns the last part of a path; a path that ends in `..` has none, like every other such path.
fn name_of(file: &str) -> Option<&OsStr> {
    Path::new(file).file_name()
}

/// Says how the list of an agent's changed files came about where the agent has not told it.
pub fn source(row: &Row) -> Option<&'static str> {
    match row.files_from {
        _ if row.files_changed.is_empty() => None,
        FilesFrom::Told => None,
        FilesFrom::Git => Some("by git: changed in its folder while it ran"),
        FilesFrom::GitShared => {
            Some("by git: changed in its folder while it and other agents ran there")
        }
    }
}

/// What was seen on disk of the files that an agent says it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// All that were looked at are there and newer than the agent.
    Seen,
    /// These are not; cleaned.
    Unseen(String),
}

impl Evidence {
    /// Returns what was seen of an agent's changed files; `None` if nobody has looked, or if the list was made by looking.
    pub fn of(row: &Row) -> Option<Self> {
        let has_told = row.files_from == FilesFrom::Told && !row.files_changed.is_empty();
        let unseen = row.end.as_ref().filter(|_| has_told)?.tails.unseen.as_ref()?;
        if unseen.is_empty() {
            return Some(Self::Seen);
        }
        let mut names: Vec<String> =
            unseen.iter().take(UNSEEN).map(|name| one_line(name)).collect();
        let more = unseen.len() - names.len();
        if more > 0 {
            names.push(format!("+{more} more"));
        }
        Some(Self::Unseen(format!("not there, or older than the agent: {}", names.join(" "))))
    }
}

/// Returns the path without `.` and `..` parts, as far as its text says.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
