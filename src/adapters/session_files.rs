//! Files in which a program records its sessions, for the numbers that its output tells late or not at all.
//!
//! What may go here: how such a file is found, and what its responses come to. What may not: opening one, the lines of
//! one program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::json::Fields;
use crate::core::{Fact, Moment, Usage};

/// Most responses of one session that are told apart: more than any session has, at a hundred bytes each. What comes after
/// them is told by the output alone.
const RESPONSES: usize = 65_536;
/// Longest id of a response or a session, in bytes; the ones seen have 24 to 36.
const ID_BYTES: usize = 100;

/// Where a program keeps its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHome {
    /// Variable that names the folder.
    pub variable: &'static str,
    /// The folder without that variable, from the home folder on.
    pub default: &'static str,
}

impl SessionHome {
    /// Returns the folder for an agent that works in `root` and has these variables; `None` if they name none.
    pub fn folder(
        self,
        root: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let named = |name| variable(name).filter(|value| !value.is_empty());
        let folder = named(self.variable).map(PathBuf::from);
        let folder = folder.or_else(|| Some(Path::new(&named("HOME")?).join(self.default)));
        folder.map(|folder| root.join(folder))
    }
}

/// Where and since when the sessions of one agent are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// The folder that [`SessionHome::folder`] has returned.
    pub folder: PathBuf,
    /// When the agent was started, by the clock of its machine: what is older was spent by earlier runs.
    pub since: Moment,
}

/// The files that record one session. There may be several, and they need not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    /// Folder that all of them are in.
    pub folder: PathBuf,
    /// Where in it each may be; the last part is the file.
    pub ways: Vec<Vec<Part>>,
    /// What the beginning of such a file has in it, where its name alone does not tell whose it is.
    pub says: Option<String>,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// This name.
    Named(String),
    /// Any name.
    Any,
    /// A name that begins and ends so.
    Like(&'static str, String),
}

/// What the lines of one session's record mean.
pub(super) trait Record: Send {
    /// Returns where the record of a session is; `None` for a name that no session has.
    fn files(&self, session: &str) -> Option<SessionFiles>;

    /// Takes one line.
    fn line(&mut self, line: &[u8]);

    /// Tells what they come to.
    fn tell(&mut self, facts: &mut Vec<Fact>);
}

/// The record of the session that a reader reads beside its stream.
pub(super) struct Recording {
    /// The session, once it is known.
    pub session: Option<String>,
    record: Option<Box<dyn Record>>,
}

impl Recording {
    /// Begins with what is known of the session; without a `record` nothing is read.
    pub(super) fn new(session: Option<String>, record: Option<impl Record + 'static>) -> Self {
        let record = record.map(|record| Box::new(record) as Box<dyn Record>);
        Self { session, record }
    }

    pub(super) fn is_read(&self) -> bool {
        self.record.is_some()
    }

    pub(super) fn files(&self) -> Option<SessionFiles> {
        self.record.as_ref()?.files(self.session.as_deref()?)
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        if let Some(record) = &mut self.record {
            record.line(line);
        }
    }

    pub(super) fn tell(&mut self, facts: &mut Vec<Fact>) {
        if let Some(record) = &mut self.record {
            record.tell(facts);
        }
    }
}

/// Returns an id that may stand in the name of a file: an agent prints it, and could print anything.
pub(super) fn safe_id(id: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_safe = (8..=ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain);
    is_safe.then_some(id)
}

/// Returns the time that stands in a field of a record.
pub(super) fn moment(fields: &mut Fields<'_>, key: &str) -> Option<Moment> {
    let time: jiff::Timestamp = fields.text(key)?.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().map(Moment)
}

/// What one run has spent by the record of its session: each response once, and none of earlier runs.
#[derive(Debug, Default)]
pub(super) struct Spent {
    since: Moment,
    /// The responses by their ids; `None` for those of earlier runs, which may be recorded again.
    responses: BTreeMap<String, Option<Usage>>,
    sum: Usage,
    is_new: bool,
}

impl Spent {
    /// Begins with nothing; what is older than `since` does not count.
    pub(super) fn new(since: Moment) -> Self {
        Self { since, ..Self::default() }
    }

    /// Takes one response, which may be one that is known already: then the larger numbers count.
    pub(super) fn response(&mut self, id: &str, at: Moment, usage: Usage) {
        if id.is_empty() || id.len() > ID_BYTES {
            return;
        }
        let is_past = at < self.since;
        if let Some(known) = self.responses.get_mut(id) {
            let Some(known) = known.as_mut().filter(|_| !is_past) else { return };
            let kept = most(known, &usage);
            if kept != *known {
                self.sum = plus(&minus(&self.sum, known), &kept);
                self.is_new = true;
                *known = kept;
            }
        } else if self.responses.len() < RESPONSES {
            if !is_past {
                self.sum = plus(&self.sum, &usage);
                self.is_new = true;
            }
            self.responses.insert(id.to_owned(), (!is_past).then_some(usage));
        }
    }

    /// Tells what all of them come to, if that is more than was told last.
    pub(super) fn tell(&mut self, facts: &mut Vec<Fact>) {
        if std::mem::take(&mut self.is_new) {
            facts.push(Fact::RunTotal(self.sum.clone()));
        }
    }
}

fn most(one: &Usage, two: &Usage) -> Usage {
    Usage {
        input: one.input.max(two.input),
        cache_read: one.cache_read.max(two.cache_read),
        cache_write: one.cache_write.max(two.cache_write),
        output: one.output.max(two.output),
        cost: None,
        estimate: one.estimate.max(two.estimate),
    }
}

fn plus(one: &Usage, two: &Usage) -> Usage {
    let estimate = match (one.estimate, two.estimate) {
        (Some(one), Some(two)) => Some(one + two),
        (one, two) => one.or(two),
    };
    Usage {
        input: one.input.saturating_add(two.input),
        cache_read: one.cache_read.saturating_add(two.cache_read),
        cache_write: one.cache_write.saturating_add(two.cache_write),
        output: one.output.saturating_add(two.output),
        cost: None,
        estimate,
    }
}

fn minus(sum: &Usage, part: &Usage) -> Usage {
    Usage {
        input: sum.input.saturating_sub(part.input),
        cache_read: sum.cache_read.saturating_sub(part.cache_read),
        cache_write: sum.cache_write.saturating_sub(part.cache_write),
        output: sum.output.saturating_sub(part.output),
        cost: None,
        estimate: sum.estimate.map(|sum| sum.saturating_sub(part.estimate.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests;
