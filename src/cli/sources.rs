//! Reads tasks from files and standard input.
//!
//! What may go here: what a task file may look like, and what is wrong with one, by file and line. What may not:
//! options of the command line, rules about what makes a good task (`validate`).

mod draft;
mod fields;
mod json;
mod text;
mod toml_file;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::core::NanoUsd;
use crate::words::plain_text::one_line;

pub use draft::draft_entries;

/// Most bytes of one source. Tasks are prompts, not data; a file of this size is the wrong file.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Where a task was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// As an argument, counted from 1.
    Argument(usize),
    /// In a file or standard input.
    Line {
        /// Name of the file as it was given; `stdin` for standard input.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// In a draft that somebody types.
    Draft {
        /// Counted from 1.
        number: usize,
        /// Line of the draft on which it begins, from 1.
        line: usize,
    },
}

impl Place {
    /// Returns the line, where there is one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Argument(_) => None,
            Self::Line { line, .. } | Self::Draft { line, .. } => Some(*line),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(number) | Self::Draft { number, .. } => write!(f, "task {number}"),
            Self::Line { file, line } => write!(f, "{file}:{line}"),
        }
    }
}

/// One task as a source has it; what is `None` comes from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are the keys of a task file and are explained with the options"
)]
pub struct Entry {
    pub place: Place,
    /// The task's text; `None` where only `cmd` is given.
    pub task: Option<String>,
    pub agent: Option<String>,
    pub engine: Option<String>,
    pub tier: Option<String>,
    pub model: Option<String>,
    pub max_steps: Option<u32>,
    pub read_only: Option<bool>,
    pub allow_shell: Option<bool>,
    pub allow_web: Option<bool>,
    pub root: Option<PathBuf>,
    /// Name and value; without a value the submitter's is forwarded.
    pub env: Vec<(String, Option<String>)>,
    pub budget_usd: Option<NanoUsd>,
    pub timeout: Option<Duration>,
    pub idle_timeout: Option<Duration>,
    pub cmd: Option<Vec<String>>,
    pub context: Option<String>,
}

impl Entry {
    /// Makes an entry without options; `task` is `None` while it is not known.
    pub fn new(place: Place, task: Option<String>) -> Self {
        Self {
            place,
            task,
            agent: None,
            engine: None,
            tier: None,
            model: None,
            max_steps: None,
            read_only: None,
            allow_shell: None,
            allow_web: None,
            root: None,
            env: Vec::new(),
            budget_usd: None,
            timeout: None,
            idle_timeout: None,
            cmd: None,
            context: None,
        }
    }
}

/// What is wrong with a source: one sentence that names the file, the line where there is one, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct InputError {
    /// File, or file and line.
    pub place: String,
    /// Line, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong, as a clause.
    pub what: String,
}

impl InputError {
    fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { place: format!("{file}:{line}"), line: Some(line), what: what.into() }
    }

    fn of(file: &str, what: impl Into<String>) -> Self {
        Self { place: file.to_owned(), line: None, what: what.into() }
    }
}

/// Shape of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines, or blocks between lines `---`.
    Text,
    /// A list of strings and objects, or an object with such a list.
    Json,
    /// One string or object a line.
    JsonLines,
    /// Tables `[[task]]` or a list `tasks`.
    Toml,
}

/// Reads all files in order; `-` is standard input, read from `stdin`.
pub fn read_all(files: &[PathBuf], stdin: &mut dyn Read) -> Result<Vec<Entry>, InputError> {
    let mut entries = Vec::new();
    let mut stdin = Some(stdin);
    for path in files {
        let (name, bytes) = if path.as_os_str() == "-" {
            let stdin = stdin.take().ok_or_else(|| {
                InputError::of("stdin", "can be read only once (-f - is given twice)")
            })?;
            ("stdin".to_owned(), read_bytes(stdin, "stdin")?)
        } else {
            let name = one_line(&path.to_string_lossy());
            let bytes = read_file(path, &name)?;
            (name, bytes)
        };
        let text = decode(&name, bytes)?;
        let format = format_by_name(path).unwrap_or_else(|| sniff(&text));
        entries.append(&mut read_text(&name, format, &text)?);
    }
    Ok(entries)
}

/// Reads a text that is no list of tasks; `given` is the path as the owner wrote it.
pub(crate) fn read_context(path: &Path, given: &Path) -> Result<String, InputError> {
    let name = one_line(&given.to_string_lossy());
    decode(&name, read_file(path, &name)?)
}

/// Reads the tasks in a text that is already in memory.
pub fn read_text(name: &str, format: Format, text: &str) -> Result<Vec<Entry>, InputError> {
    match format {
        Format::Text => Ok(text::entries(name, text)),
        Format::Json => json::entries(name, text),
        Format::JsonLines => json::line_entries(name, text),
        Format::Toml => toml_file::entries(name, text),
    }
}

/// Guesses the shape of a text: JSON only where it begins like a list or an object of JSON, so that a line such as
/// `[urgent] fix it` or `{task} first` stays a task.
pub fn sniff(text: &str) -> Format {
    let mut characters = text.trim_start().chars();
    let first = characters.next();
    let second = characters.find(|character| !character.is_whitespace());
    match (first, second) {
        (Some('['), Some('{' | '"' | ']' | '[')) => Format::Json,
        (Some('{'), Some('"' | '}')) => {
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let many = lines.clone().nth(1).is_some();
            if many && lines.all(|line| line.trim_start().starts_with(['{', '"'])) {
                Format::JsonLines
            } else {
                Format::Json
            }
        }
        _ => Format::Text,
    }
}

fn format_by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "txt" | "text" | "md" => Some(Format::Text),
        "json" => Some(Format::Json),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        "toml" => Some(Format::Toml),
        _ => None,
    }
}

fn read_file(path: &Path, name: &str) -> Result<Vec<u8>, InputError> {
    let refused = |error: &io::Error| InputError::of(name, reading_failed(error));
    let mut file = File::open(path).map_err(|error| refused(&error))?;
    let metadata = file.metadata().map_err(|error| refused(&error))?;
    if metadata.is_dir() {
        return Err(InputError::of(name, "is a folder, not a file of tasks (name a file in it)"));
    }
    read_bytes(&mut file, name)
}

fn read_bytes(source: &mut dyn Read, name: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    source
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| InputError::of(name, reading_failed(&error)))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(InputError::of(
            name,
            "is larger than 64 MiB, which cannot be a file of tasks (split it)",
        ));
    }
    Ok(bytes)
}

/// Says why reading failed and what to do, as a clause.
fn reading_failed(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file (check the name)".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "may not be read by you (check its permissions)".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns the bytes as text without a byte order mark; refuses what is not UTF-8 or has NUL bytes.
fn decode(name: &str, bytes: Vec<u8>) -> Result<String, InputError> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(InputError::of(name, "is UTF-16 (save it as UTF-8)"));
    }
    let line_of = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() + 1;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = line_of(error.as_bytes().get(..good).unwrap_or_default());
        InputError::at(name, line, "is not UTF-8 text (save the file as UTF-8)")
    })?;
    if let Some(nul) = memchr::memchr(0, text.as_bytes()) {
        let line = line_of(text.as_bytes().get(..nul).unwrap_or_default());
        return Err(InputError::at(
            name,
            line,
            "has a NUL byte, which no task can have (is it a text file?)",
        ));
    }
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests;
