//! `spec.json`: everything a shim has to know of its agent, but no secret.
//!
//! What may go here: the format. What may not: values of variables that the owner gave with `--env`; those wait in
//! `env.json` and are deleted once the agent has started. Of all variables only the folder is noted in which the agent's
//! program records its sessions, which one of them may name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::adapters::Sessions;
use crate::core::Leftovers;

/// Version of the format. A shim refuses a later one: it is the same binary as its host, so that cannot happen by itself.
pub(super) const SPEC_VERSION: u32 = 1;

/// Name of the variable that marks everything an agent starts, as `<fleet>.<place>/<number>`.
pub const MARK_VARIABLE: &str = "FLEET_AGENT";

/// Where an agent reads its standard input from.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StdinFrom {
    /// Nowhere: it reads the end at once.
    #[default]
    Null,
    /// A file, usually its prompt.
    File(PathBuf),
    /// A FIFO that the shim makes and keeps open until it is asked to close it; it begins with the
    /// [first message](crate::supervise::AgentDir::first).
    Messages,
}

/// What a shim has to start, and how to end it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Version of the format.
    pub version: u32,
    /// Version of the program that wrote it.
    #[serde(default)]
    pub program_version: String,
    /// `<fleet>.<place>/<number>`, found again in the environment of everything the agent starts.
    pub mark: String,
    /// Number of the agent, for the shim's name in process lists.
    pub id: u32,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Folder it works in, absolute.
    pub root: PathBuf,
    /// Its standard input.
    #[serde(default)]
    pub stdin: StdinFrom,
    /// Variables that are no secret, put over what the shim inherited.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Names of inherited variables that the agent must not see.
    #[serde(default)]
    pub env_remove: Vec<String>,
    /// Name of the signal that the kind likes best for being asked to end, such as `SIGINT`; any other text is SIGTERM.
    #[serde(default)]
    pub ask: String,
    /// Time from asking to killing.
    pub grace: Duration,
    /// The same for an agent that is asked because it makes no progress; none where the shim knows of no such thing.
    #[serde(default)]
    pub stale_grace: Option<Duration>,
    /// Most time it may run.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// What happens to what it leaves behind.
    #[serde(default)]
    pub leftovers: Leftovers,
    /// Stop it after so long without a host; the path is the host's lock file.
    #[serde(default)]
    pub orphan: Option<(Duration, PathBuf)>,
    /// Soft limit of open files to give back to the agent.
    #[serde(default)]
    pub nofile: Option<u64>,
    /// Where its program records its sessions, for whoever reads them.
    #[serde(default)]
    pub sessions: Option<Sessions>,
}

impl Spec {
    /// Builds the spec of a command with everything else at its simplest: SIGTERM, 5 s grace, no limits.
    pub fn new(mark: impl Into<String>, id: u32, argv: Vec<String>, root: PathBuf) -> Self {
        Self {
            version: SPEC_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            mark: mark.into(),
            id,
            argv,
            root,
            stdin: StdinFrom::Null,
            env: BTreeMap::new(),
            env_remove: Vec::new(),
            ask: "SIGTERM".to_owned(),
            grace: Duration::from_secs(5),
            stale_grace: None,
            timeout: None,
            leftovers: Leftovers::End,
            orphan: None,
            nofile: None,
            sessions: None,
        }
    }

    /// Returns the signal that asks this agent to end.
    pub(super) fn ask_signal(&self) -> Signal {
        match self.ask.as_str() {
            "SIGINT" => Signal::INT,
            "SIGHUP" => Signal::HUP,
            "SIGQUIT" => Signal::QUIT,
            "SIGUSR1" => Signal::USR1,
            "SIGUSR2" => Signal::USR2,
            _ => Signal::TERM,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_survives_the_disk_and_old_ones_are_read() {
        let spec = Spec::new("k3f/7", 7, vec!["true".to_owned()], PathBuf::from("/"));
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
        let old = r#"{"version":1,"mark":"k3f/7","id":7,"argv":["true"],"root":"/",
            "grace":{"secs":5,"nanos":0}}"#;
        assert_eq!(serde_json::from_str::<Spec>(old).unwrap().ask_signal(), Signal::TERM);
    }
}
