//! What is written down about an agent that ended badly without a word, for whoever has to find out why.
//!
//! What may go here: that text. What may not: values of variables, the verdict itself (`core` has it).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;

use super::host::Host;

use crate::adapters::{one_line, redact};
use crate::core::{AgentId, Tails};
use crate::supervise::{AgentDir, read_spec};
use crate::tail::scan::read_end;

/// Most bytes of the error output that its last lines are taken from.
const ERROR_BYTES: u64 = 64 * 1024;
/// Last lines that are told.
const LINES: usize = 20;
/// Most characters of a line: a task can be in a command.
const CHARS: usize = 2_000;

impl Host {
    /// Writes down what is known of an agent that ends badly and has printed nothing, and names the file in what was seen
    /// last of it. Any other agent's is returned as it is.
    pub(super) fn diagnosed(&self, id: AgentId, tails: Tails) -> Tails {
        if !self.fleet.ends_without_a_word(id, &tails) {
            return tails;
        }
        let dir = self.agent_dir(id);
        let path = dir.diagnostic();
        match dir.write(&path, self.diagnosis(id, &dir, &tails).as_bytes()) {
            Ok(()) => Tails { diagnostic: Some(path.to_string_lossy().into_owned()), ..tails },
            // It ends for its own reason all the same.
            Err(_) => tails,
        }
    }

    fn diagnosis(&self, id: AgentId, dir: &AgentDir, tails: &Tails) -> String {
        let clean = |text: &str| one_line(&redact(text), CHARS);
        let mut text = format!("{id} ended without having written anything to its output.\n\n");
        let mut names: BTreeSet<OsString> = match self.given.environment_of(id) {
            Some(given) => given.keys().cloned().collect(),
            None => std::env::vars_os().map(|(name, _)| name).collect(),
        };
        if let Some(spec) = read_spec(dir) {
            let argv: Vec<String> = spec.argv.iter().map(|argument| clean(argument)).collect();
            tell(&mut text, "command", &argv.join(" "));
            tell(&mut text, "folder", &clean(&spec.root.to_string_lossy()));
            names.extend(spec.env.into_keys().map(OsString::from));
            names.retain(|name| spec.env_remove.iter().all(|removed| name != removed.as_str()));
        }
        if let Some(task) = self.fleet.task(id) {
            names.extend(task.env_names.iter().chain(&task.env_stored).map(OsString::from));
        }
        let names: Vec<String> = names.iter().map(|name| clean(&name.to_string_lossy())).collect();
        tell(&mut text, "variables", &names.join(" "));
        tell(&mut text, "out", &format!("{} bytes", tails.out_bytes));
        tell(&mut text, "err", &format!("{} bytes", tails.err_bytes));
        let err = read_end(&dir.err(), tails.err_bytes, ERROR_BYTES).unwrap_or_default();
        let err = String::from_utf8_lossy(&err);
        let lines: Vec<&str> = err.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        tell(&mut text, "last lines", if last.is_empty() { "none" } else { "" });
        for line in last {
            tell(&mut text, "", &clean(line));
        }
        text
    }
}

fn tell(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name:<11} {value}");
}
