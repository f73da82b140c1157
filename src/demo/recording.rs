//! Recordings: what an agent printed, with the times between, and how it ended.
//!
//! What may go here: the format and the list of those that the program carries. What may not: playing one.
//!
//! A recording is JSON lines. Each has `after_ms`, the time since the line before it, and one of `out` and `err` (a
//! line of that stream, without its end), `part` (text on `out` that no line end follows, for progress bars), and on the
//! last line `exit` (a code) or `signal` (a name such as `SIGKILL`).

use std::time::Duration;

use rustix::process::Signal;
use serde::Deserialize;

/// A recording that the program carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Name, as `fleet replay` takes it.
    pub name: &'static str,
    text: &'static str,
}

/// One thing that happens in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// How long after the entry before it.
    pub after: Duration,
    /// What.
    pub what: What,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Text on stdout, with its line end if it has one.
    Out(String),
    /// A line on stderr, with its end.
    Err(String),
    /// The agent ends with this code.
    Exit(u8),
    /// The agent is killed by this signal.
    Killed(Signal),
}

/// A recording cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the recording {name}: {problem}")]
pub struct RecordingError {
    /// Which.
    pub name: &'static str,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// One line as it is written. Exactly one of the optional fields is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    after_ms: u64,
    out: Option<String>,
    part: Option<String>,
    err: Option<String>,
    exit: Option<u8>,
    signal: Option<String>,
}

/// Makes a recording of a file in the assets.
macro_rules! recording {
    ($name:literal) => {
        Recording {
            name: $name,
            text: include_str!(concat!("../../assets/demo/", $name, ".jsonl")),
        }
    };
}

impl Recording {
    /// Every recording.
    pub const ALL: [Self; 11] = [
        recording!("changelog"),
        recording!("flaky-test"),
        recording!("metrics"),
        recording!("permissions"),
        recording!("rate-limit"),
        recording!("slow-import"),
        recording!("translate"),
        recording!("typed-answer"),
        recording!("typed-crash"),
        recording!("typed-edit"),
        recording!("upgrade"),
    ];

    /// Finds a recording by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|recording| recording.name == name)
    }

    /// Reads all of it. The last entry is its end, and no other is.
    pub fn entries(self) -> Result<Vec<Entry>, RecordingError> {
        let lines = self.text.lines().count();
        let wrong = |line, problem| RecordingError { name: self.name, line, problem };
        let mut entries = Vec::new();
        for (number, text) in (1..).zip(self.text.lines()) {
            let entry = read(text).map_err(|problem| wrong(number, problem))?;
            let is_end = matches!(entry.what, What::Exit(_) | What::Killed(_));
            if is_end != (number == lines) {
                let problem = if is_end { "something comes after the end" } else { "no end" };
                return Err(wrong(number, problem.to_owned()));
            }
            entries.push(entry);
        }
        if entries.is_empty() { Err(wrong(1, "it is empty".to_owned())) } else { Ok(entries) }
    }
}

fn read(text: &str) -> Result<Entry, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let what = match line {
        Line { out: Some(text), part: None, err: None, exit: None, signal: None, .. } => {
            What::Out(text + "\n")
        }
        Line { out: None, part: Some(text), err: None, exit: None, signal: None, .. } => {
            What::Out(text)
        }
        Line { out: None, part: None, err: Some(text), exit: None, signal: None, .. } => {
            What::Err(text + "\n")
        }
        Line { out: None, part: None, err: None, exit: Some(code), signal: None, .. } => {
            What::Exit(code)
        }
        Line { out: None, part: None, err: None, exit: None, signal: Some(name), .. } => {
            What::Killed(signal(&name).ok_or_else(|| format!("{name} kills no recorded agent"))?)
        }
        _ => return Err("it has not exactly one of out, part, err, exit and signal".to_owned()),
    };
    Ok(Entry { after: Duration::from_millis(line.after_ms), what })
}

/// Returns a signal that ends a program which does nothing about it.
fn signal(name: &str) -> Option<Signal> {
    Some(match name {
        "SIGKILL" => Signal::KILL,
        "SIGTERM" => Signal::TERM,
        "SIGSEGV" => Signal::SEGV,
        "SIGABRT" => Signal::ABORT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &'static str) -> String {
        Recording { name: "x", text }.entries().unwrap_err().to_string()
    }

    #[test]
    fn every_recording_can_be_read_and_is_found_by_its_name() {
        for recording in Recording::ALL {
            let entries = recording.entries().unwrap();
            assert!(entries.len() > 5, "{}", recording.name);
            assert_eq!(Recording::find(recording.name), Some(recording));
        }
        assert_eq!(Recording::find("no such"), None);
    }

    #[test]
    fn a_flawed_recording_is_refused_with_its_line() {
        let exit = "{\"after_ms\":1,\"exit\":0}";
        assert!(problem("").contains("line 1 of the recording x: it is empty"));
        assert!(
            problem("{\"after_ms\":1,\"out\":\"a\"}").contains("line 1 of the recording x: no end")
        );
        assert!(
            problem("{\"after_ms\":1,\"exit\":0}\n{\"after_ms\":1,\"exit\":0}")
                .contains("line 1 of the recording x: something comes after the end")
        );
        assert!(problem("{\"after_ms\":1}").contains("exactly one"));
        assert!(problem("{\"after_ms\":1,\"out\":\"a\",\"err\":\"a\"}").contains("exactly one"));
        assert!(problem("{\"after_ms\":1,\"signal\":\"SIGCHLD\"}").contains("SIGCHLD"));
        assert!(problem("{\"after_ms\":1,\"exit\":0,\"x\":1}").contains("unknown field"));
        let fine = Recording { name: "x", text: exit }.entries();
        assert_eq!(fine.unwrap(), [Entry { after: Duration::from_millis(1), what: What::Exit(0) }]);
    }
}
