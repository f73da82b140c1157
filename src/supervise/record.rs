//! What a shim writes down of its agent: that it began (`started.json`) and how it ended (`exit.json`).
//!
//! What may go here: the formats, their limits and how they fit into files that were made beforehand. What may not:
//! deciding whether an agent lives.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::core::{Moment, ProcessEnd, TreeEnd};

/// Version of both formats. Readers ignore keys they do not know.
pub(super) const RECORD_VERSION: u32 = 1;

/// Size of a record's file. It is filled beforehand, so that a full disk cannot make an end look like a loss.
const RECORD_BYTES: usize = 1024;

/// Longest error text kept in a record, in bytes; with its escapes it still fits.
const ERROR_BYTES: usize = 400;

/// Most names that are made up for processes whose real names did not fit.
const UNNAMED_LIMIT: u32 = 1000;

/// `started.json`: who the shim is, then who the agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Version of the format.
    pub version: u32,
    /// Process id of the shim.
    pub shim_pid: i32,
    /// Which boot of the machine; empty where there is no such thing.
    #[serde(default)]
    pub boot_id: String,
    /// Name of the machine.
    #[serde(default)]
    pub host: String,
    /// Process id of the agent, once it runs.
    #[serde(default)]
    pub agent_pid: Option<i32>,
    /// Why the agent could not be started.
    #[serde(default)]
    pub error: Option<String>,
}

/// What stopped an agent that did not end by itself.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// Nothing: it ended by itself.
    #[default]
    None,
    /// Its own time was up.
    Timeout,
    /// The shim was signalled.
    Signal,
    /// There was no host for too long.
    Orphaned,
}

/// `exit.json`: how an agent ended, written once, when nothing of its tree is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// Version of the format.
    pub version: u32,
    /// When the agent itself ended, in milliseconds since 1970.
    pub ended_ms: u64,
    /// Its exit code.
    #[serde(default)]
    pub code: Option<i32>,
    /// Name of the signal that ended it.
    #[serde(default)]
    pub signal: Option<String>,
    /// Why it could not be started.
    #[serde(default)]
    pub error: Option<String>,
    /// What stopped it.
    #[serde(default)]
    pub stopped_by: StoppedBy,
    /// How long it ran, in milliseconds of the shim's clock.
    #[serde(default)]
    pub run_ms: u64,
    /// CPU time of the tree, in milliseconds.
    #[serde(default)]
    pub cpu_ms: u64,
    /// Largest resident size of one process of the tree, in KiB.
    #[serde(default)]
    pub max_rss_kb: u64,
    /// How many processes had to be ended after it.
    #[serde(default)]
    pub swept_count: u32,
    /// Their names, as many as fit.
    #[serde(default)]
    pub swept: Vec<String>,
    /// It had to be killed after its grace.
    #[serde(default)]
    pub escalated: bool,
}

impl ExitRecord {
    /// Builds the record of an agent that could not be started.
    pub(super) fn not_started(error: &str, ended_ms: u64) -> Self {
        Self {
            version: RECORD_VERSION,
            ended_ms,
            code: None,
            signal: None,
            error: Some(cut(error, ERROR_BYTES)),
            stopped_by: StoppedBy::None,
            run_ms: 0,
            cpu_ms: 0,
            max_rss_kb: 0,
            swept_count: 0,
            swept: Vec::new(),
            escalated: false,
        }
    }

    /// Says how the agent itself ended.
    pub fn to_process_end(&self) -> ProcessEnd {
        match (&self.error, &self.signal, self.code) {
            (Some(error), _, _) => ProcessEnd::NotStarted(error.clone()),
            (None, Some(signal), _) => ProcessEnd::Signal(signal.clone()),
            (None, None, Some(code)) => ProcessEnd::Code(code),
            (None, None, None) => ProcessEnd::Lost,
        }
    }

    /// Tells the core; `owner_stop` says whether a `stop` file lay beside the agent.
    pub fn to_tree_end(&self, owner_stop: bool) -> TreeEnd {
        let mut swept = self.swept.clone();
        let missing = self.swept_count.min(UNNAMED_LIMIT);
        while u32::try_from(swept.len()).is_ok_and(|named| named < missing) {
            swept.push("unnamed".to_owned());
        }
        TreeEnd {
            end: self.to_process_end(),
            timed_out: self.stopped_by == StoppedBy::Timeout,
            signalled: self.stopped_by == StoppedBy::Signal,
            orphaned: self.stopped_by == StoppedBy::Orphaned,
            owner_stop,
            at: Moment(self.ended_ms),
            run_time: self.error.is_none().then(|| Duration::from_millis(self.run_ms)),
            swept,
            escalated: self.escalated,
        }
    }

    /// Writes the record as JSON that fits its file: names are left out from the end until it does.
    fn to_fitting_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut record = self.clone();
        loop {
            let json = serde_json::to_vec(&record)?;
            if json.len() < RECORD_BYTES || record.swept.pop().is_none() {
                return Ok(json);
            }
        }
    }
}

/// A record's file, made and filled before it is needed.
#[derive(Debug)]
pub(super) struct Prepared {
    file: NamedTempFile,
}

impl Prepared {
    /// Makes the file in `folder` and takes its space on the disk.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(".record-").tempfile_in(folder)?;
        file.as_file().write_all_at(&[b' '; RECORD_BYTES], 0)?;
        Ok(Self { file })
    }

    /// Writes `started` into the file and puts it into place.
    pub(super) fn commit_started(self, started: &Started, path: &Path) -> io::Result<StartedFile> {
        Ok(StartedFile { file: self.commit(started.to_json()?, path)? })
    }

    /// Writes `record` into the file and puts it into place.
    pub(super) fn commit_exit(self, record: &ExitRecord, path: &Path) -> io::Result<()> {
        self.commit(record.to_fitting_json()?, path).map(drop)
    }

    fn commit(self, json: Vec<u8>, path: &Path) -> io::Result<File> {
        overwrite(self.file.as_file(), json)?;
        self.file.persist(path).map_err(|failed| failed.error)
    }
}

/// `started.json` in its place. It is written over once, by one call: a second file that replaces it would leave a
/// deleted one for every agent, which makes the next ones slow to create on ext4.
#[derive(Debug)]
pub(super) struct StartedFile {
    file: File,
}

impl StartedFile {
    /// Says more than before.
    pub(super) fn rewrite(&self, started: &Started) -> io::Result<()> {
        overwrite(&self.file, started.to_json()?)
    }
}

impl Started {
    fn to_json(&self) -> io::Result<Vec<u8>> {
        let error = self.error.as_deref().map(|error| cut(error, ERROR_BYTES));
        Ok(serde_json::to_vec(&Self { error, ..self.clone() })?)
    }
}

/// Writes a record over the space that was taken for it.
fn overwrite(file: &File, mut json: Vec<u8>) -> io::Result<()> {
    if json.len() < RECORD_BYTES {
        json.resize(RECORD_BYTES - 1, b' ');
        json.push(b'\n');
    }
    file.write_all_at(&json, 0)
}

/// Cuts `text` at a character boundary at or below `bytes`.
fn cut(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ExitRecord {
        ExitRecord { error: None, code: Some(7), run_ms: 12, ..ExitRecord::not_started("", 99) }
    }

    #[test]
    fn a_record_is_written_over_the_space_it_took_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exit.json");
        Prepared::new(folder.path()).unwrap().commit_exit(&record(), &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), RECORD_BYTES);
        assert_eq!(serde_json::from_slice::<ExitRecord>(&bytes).unwrap(), record());
    }

    #[test]
    fn names_that_do_not_fit_are_cut_and_still_counted() {
        let names: Vec<String> = (0..300).map(|pid| format!("a\"b\\c\u{1}[{pid}]")).collect();
        let long = ExitRecord { swept: names, swept_count: 300, ..record() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exit.json");
        Prepared::new(folder.path()).unwrap().commit_exit(&long, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), RECORD_BYTES);
        let back: ExitRecord = serde_json::from_slice(&bytes).unwrap();
        assert!(!back.swept.is_empty() && back.swept.len() < 300, "{}", back.swept.len());
        assert_eq!(back.to_tree_end(false).swept.len(), 300);
    }

    #[test]
    fn a_long_error_fits_even_when_all_of_it_must_be_escaped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("started.json");
        let started = Started {
            version: RECORD_VERSION,
            shim_pid: i32::MAX,
            boot_id: "b".repeat(36),
            host: "h".repeat(64),
            agent_pid: None,
            error: Some("\"ä".repeat(5000)),
        };
        Prepared::new(folder.path()).unwrap().commit_started(&started, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), RECORD_BYTES);
        assert!(serde_json::from_slice::<Started>(&bytes).is_ok());
    }

    #[test]
    fn keys_of_a_later_version_are_ignored_and_missing_ones_have_a_meaning() {
        let json = r#"{"version":2,"ended_ms":5,"signal":"SIGSEGV","weather":"fine"}"#;
        let record: ExitRecord = serde_json::from_str(json).unwrap();
        assert_eq!(record.to_process_end(), ProcessEnd::Signal("SIGSEGV".to_owned()));
        assert_eq!(record.stopped_by, StoppedBy::None);
    }
}
