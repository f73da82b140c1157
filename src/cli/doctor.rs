//! What `fleet doctor` found, in words and as JSON.
//!
//! What may go here: what is said of it, and whether a kind can be used. What may not: looking (`start`).

use std::path::PathBuf;

use serde_json::{Value, json};

use super::act::Failure;
use super::exit_code::{DONE, NOT_DONE};
use super::run::{style, write_whole};
use crate::words::plain_text::{cells, count, one_line};
use crate::words::style::{Meaning, Style};

/// Everything that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Agent programs in the order in which they are offered.
    pub kinds: Vec<KindReport>,
    /// The kind that is taken when none is named.
    pub chosen: Option<String>,
    /// The config file, and whether there is one.
    pub config: Option<(PathBuf, bool)>,
    /// The project's file, if there is one; `Err` is a whole sentence that says why it is not read.
    pub project: Option<Result<PathBuf, String>>,
    /// The program that is told of notices, if there is one.
    pub notices: Option<NoticeReport>,
    /// The state folder; `Err` is a whole sentence.
    pub state: Result<StateReport, String>,
    /// Where sockets are made; `Err` is a whole sentence.
    pub sockets: Result<PathBuf, String>,
}

/// What was seen of the program that is told of notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeReport {
    /// The program, as it was looked for, and its arguments.
    pub argv: Vec<String>,
    /// Where it was found.
    pub found: Option<PathBuf>,
}

/// What was seen of one agent program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindReport {
    /// The kind.
    pub name: String,
    /// Its program, as it was looked for.
    pub program: String,
    /// Where it was found.
    pub found: Option<PathBuf>,
    /// Its version, or why it has told none; `None` if it cannot be asked.
    pub version: Result<Option<String>, String>,
    /// Versions that were tested; empty for a program of the owner's own.
    pub tested: Vec<String>,
    /// How it gets in.
    pub access: Access,
    /// How to install it, if that is known.
    pub install: Option<String>,
}

/// How an agent program gets in where its model is, as far as that can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// This variable is set.
    Variable(String),
    /// Somebody has logged in, as this file shows.
    File(PathBuf),
    /// Nothing is known to be needed.
    Free,
    /// Nothing was seen; what to do, as the end of a sentence. There may be a login where it cannot be seen.
    Unseen(String),
    /// This variable is needed and not set.
    Missing(String),
}

/// What was seen of the state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateReport {
    /// Its path.
    pub path: PathBuf,
    /// Fleets in it.
    pub fleets: usize,
    /// Those of them that have a host now.
    pub hosted: usize,
    /// Bytes on the disk.
    pub bytes: u64,
}

impl KindReport {
    /// Says whether agents of this kind can be expected to work: the program runs, and a key or a login was seen. On macOS
    /// a login can be in the keychain, where it is not seen.
    pub fn is_usable(&self) -> bool {
        let gets_in = match &self.access {
            Access::Variable(_) | Access::File(_) | Access::Free => true,
            Access::Unseen(_) => cfg!(target_os = "macos"),
            Access::Missing(_) => false,
        };
        self.found.is_some() && self.version.is_ok() && gets_in
    }

    /// Says whether its version is one that was tested; `None` if nobody knows.
    fn is_tested(&self) -> Option<bool> {
        let version = self.version.as_ref().ok()?.as_ref().filter(|_| !self.tested.is_empty())?;
        Some(self.tested.contains(version))
    }

    /// Returns what is missing and how to get it, as a clause.
    fn missing(&self) -> Option<String> {
        if self.found.is_none() {
            return Some(match &self.install {
                Some(install) => install.clone(),
                None => format!(
                    "{} is not on PATH: correct its command in the config file",
                    self.program
                ),
            });
        }
        if let Err(why) = &self.version {
            return Some(format!("asked for its version, {why}"));
        }
        match &self.access {
            Access::Unseen(advice) => Some(format!("no key or login seen: {advice}")),
            Access::Missing(name) => Some(format!("{name} is not set: set it")),
            Access::Variable(_) | Access::File(_) | Access::Free => None,
        }
    }
}

impl Report {
    /// Returns the exit code: whether any kind can be used, and a fleet be kept.
    fn exit_code(&self) -> u8 {
        let is_usable = self.state.is_ok() && self.kinds.iter().any(KindReport::is_usable);
        if is_usable { DONE } else { NOT_DONE }
    }

    /// Prints the report; returns the exit code.
    pub(crate) fn show(&self, is_json: bool, is_terminal: bool) -> Result<u8, Failure> {
        let text = if is_json { self.json() } else { self.lines(style(is_terminal)).join("\n") };
        match write_whole(&text) {
            Err(error) if is_json => {
                Err(Failure::input(format!("could not write the report to stdout: {error}")))
            }
            // Whoever read this may have gone.
            Ok(()) | Err(_) => Ok(self.exit_code()),
        }
    }

    /// Returns the report as JSON, version 1. Values of variables and contents of files are never in it.
    pub fn json(&self) -> String {
        let kinds: Vec<Value> = self.kinds.iter().map(kind_json).collect();
        let report = json!({
            "version": 1,
            "usable": self.exit_code() == DONE,
            "agent": self.chosen,
            "kinds": kinds,
            "config": self.config.as_ref().map(|(path, is_there)| json!({
                "path": path.to_string_lossy(), "found": is_there,
            })),
            "project": self.project.as_ref().map(|project| json!({
                "path": project.as_ref().ok().map(|path| path.to_string_lossy()),
                "problem": project.as_ref().err(),
            })),
            "notices": self.notices.as_ref().map(|notices| json!({
                "command": notices.argv,
                "path": notices.found.as_ref().map(|path| path.to_string_lossy()),
            })),
            "state": {
                "path": self.state.as_ref().ok().map(|state| state.path.to_string_lossy()),
                "fleets": self.state.as_ref().ok().map(|state| state.fleets),
                "hosted": self.state.as_ref().ok().map(|state| state.hosted),
                "bytes": self.state.as_ref().ok().map(|state| state.bytes),
                "problem": self.state.as_ref().err(),
            },
            "sockets": {
                "path": self.sockets.as_ref().ok().map(|path| path.to_string_lossy()),
                "problem": self.sockets.as_ref().err(),
            },
        });
        report.to_string()
    }

    /// Returns the report as lines for people.
    pub fn lines(&self, style: Style) -> Vec<String> {
        let mut lines = vec!["agent programs".to_owned()];
        let rows: Vec<[String; 3]> = self.kinds.iter().map(|kind| columns(kind, style)).collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|text| cells(text));
            cells.max().unwrap_or(0)
        };
        let (name_width, version_width) = (width(0), width(1));
        for (kind, [name, version, rest]) in self.kinds.iter().zip(&rows) {
            let sign = match (kind.is_usable(), kind.found.is_some()) {
                (true, _) => Sign::Good,
                (false, true) => Sign::Warning,
                (false, false) => Sign::Absent,
            };
            let name = padded(name, name_width);
            let version = padded(version, version_width);
            lines.push(format!(
                "{} {}",
                sign.shown(style),
                format!("{name}  {version}  {rest}").trim_end()
            ));
        }
        lines.push(match &self.chosen {
            Some(kind) => format!("  without --agent: {}", one_line(kind)),
            None => "  without --agent: none, since no program was found".to_owned(),
        });
        lines.push("fleet".to_owned());
        lines.extend(self.places(style));
        lines
    }

    /// Returns the lines about files and folders.
    fn places(&self, style: Style) -> Vec<String> {
        let path = |path: &PathBuf| style.text(&one_line(&path.to_string_lossy()));
        let line = |sign: Sign, name: &str, rest: &str| {
            format!("{} {name:<8} {}", sign.shown(style), style.text(rest))
        };
        let config = match &self.config {
            Some((file, true)) => line(Sign::Good, "config", &path(file)),
            Some((file, false)) => line(Sign::Absent, "config", &format!("none ({})", path(file))),
            None => line(Sign::Warning, "config", "no home folder to look in: set HOME"),
        };
        let project = self.project.as_ref().map(|project| match project {
            Ok(file) => line(Sign::Good, "project", &format!("{}, trusted", path(file))),
            Err(sentence) => line(Sign::Warning, "project", &one_line(sentence)),
        });
        let notices = self.notices.as_ref().map(|notices| {
            let Some(file) = &notices.found else {
                let program = notices.argv.first().map(|word| one_line(word)).unwrap_or_default();
                let why = "is not found: correct command in [notices] of the config file";
                return line(Sign::Warning, "notices", &format!("{program} {why}"));
            };
            line(Sign::Good, "notices", &format!("told to {}", path(file)))
        });
        let state = match &self.state {
            Ok(state) => {
                let mut parts = vec![path(&state.path), count(state.fleets, "fleet")];
                if state.hosted > 0 {
                    parts.push(format!("{} with a host", state.hosted));
                }
                parts.push(size(state.bytes));
                line(Sign::Good, "state", &parts.join(style.dot()))
            }
            Err(sentence) => line(Sign::Bad, "state", &one_line(sentence)),
        };
        let sockets = match &self.sockets {
            Ok(folder) => line(Sign::Good, "sockets", &path(folder)),
            Err(sentence) => line(Sign::Bad, "sockets", &one_line(sentence)),
        };
        [Some(config), project, notices, Some(state), Some(sockets)].into_iter().flatten().collect()
    }
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Good,
    Warning,
    Bad,
    Absent,
}

impl Sign {
    fn shown(self, style: Style) -> String {
        let (unicode, ascii, meaning) = match self {
            Self::Good => ("✓", "+", Meaning::Good),
            Self::Warning => ("!", "!", Meaning::Warning),
            Self::Bad => ("✗", "x", Meaning::Bad),
            Self::Absent => ("–", "-", Meaning::Dim),
        };
        style.paint(meaning, if style.unicode { unicode } else { ascii })
    }
}

/// Returns name, version and the rest of a kind's line, without anything that could move a column.
fn columns(kind: &KindReport, style: Style) -> [String; 3] {
    let name = style.text(&one_line(&kind.name));
    let version = match (&kind.found, &kind.version, kind.is_tested()) {
        (None, ..) => "not found".to_owned(),
        (Some(_), Ok(None), _) => "found".to_owned(),
        (Some(_), Ok(Some(version)), Some(true)) => format!("{version} (tested)"),
        (Some(_), Ok(Some(version)), Some(false)) => {
            format!("{version} (tested is {})", kind.tested.join(", "))
        }
        (Some(_), Ok(Some(version)), None) => version.clone(),
        (Some(_), Err(_), _) => "no version".to_owned(),
    };
    let access = match &kind.access {
        Access::Variable(name) => Some(format!("{name} is set")),
        Access::File(path) => Some(format!("login in {}", path.display())),
        Access::Free | Access::Unseen(_) | Access::Missing(_) => None,
    };
    let place = kind.found.as_ref().map(|path| path.display().to_string());
    let parts: Vec<String> = match kind.missing() {
        Some(missing) => std::iter::once(missing).chain(place).collect(),
        None => access.into_iter().chain(place).collect(),
    };
    let rest = one_line(&parts.join(style.dot()));
    [name, style.text(&one_line(&version)), style.text(&rest)]
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(cells(text))))
}

fn kind_json(kind: &KindReport) -> Value {
    let access = match &kind.access {
        Access::Variable(name) => json!({"variable": name}),
        Access::File(path) => json!({"file": path.to_string_lossy()}),
        Access::Free | Access::Unseen(_) | Access::Missing(_) => Value::Null,
    };
    json!({
        "kind": kind.name,
        "program": kind.program,
        "path": kind.found.as_ref().map(|path| path.to_string_lossy()),
        "version": kind.version.as_ref().ok().and_then(Option::as_ref),
        "tested": kind.is_tested(),
        "tested_versions": kind.tested,
        "access": access,
        "usable": kind.is_usable(),
        "missing": kind.missing(),
        "install": kind.install,
    })
}

/// Returns a size in the largest unit of which there is one.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000)];
    let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} B"), |(name, unit)| format!("{} {name}", bytes / unit))
}

/// Finds a version in what a program says when it is asked for it: the first word like `1.2` or `v1.2.3-rc.1`.
pub(crate) fn version_in(answer: &str) -> Option<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+-._".contains(character);
    answer.split(|character: char| !is_part(character)).find_map(|word| {
        let word = word.strip_prefix('v').unwrap_or(word).trim_end_matches(['.', '-', '+', '_']);
        let (major, rest) = word.split_once('.')?;
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let minor = rest.split(['.', '-', '+']).next().unwrap_or_default();
        (is_number(major) && is_number(minor)).then(|| word.to_owned())
    })
}

#[cfg(test)]
mod tests;
