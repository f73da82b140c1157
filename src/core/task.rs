//! What the owner asks for: one task with its options, already checked.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::AgentId;
use super::money::NanoUsd;

/// Name of a program that Fleet can drive, such as `ygg` or `sh`; `command` for an explicit command line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentKind(pub String);

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the core has to know of an agent kind. Filled in by the kind's adapter when the task is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindTraits {
    /// The task is a prompt for a model, not a command.
    pub prompt: bool,
    /// Each run may cost money even if the agent never says so; such a cost is `unknown` until it is reported.
    pub pays: bool,
    /// An end without any answer is a failure (`no_output`).
    pub must_answer: bool,
}

/// What can be said to agents of a kind beyond their tasks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Talk {
    /// They take messages while they run.
    pub messages: bool,
    /// Their turn can be interrupted, after which they wait for a message.
    pub interrupts: bool,
    /// A new agent can go on in the session of one that has ended.
    pub resumes: bool,
}

/// What a follow-up goes on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continues {
    /// The agent that the follow-up was sent to.
    pub agent: AgentId,
    /// Its session, as its program names it: letters, digits, `-`, `_`, `.` and `:`.
    pub session: String,
}

/// What happens to processes that an agent leaves behind when it ends by itself.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// They are ended, counted and named.
    #[default]
    End,
    /// They stay.
    Keep,
}

/// A kind of the owner's own, as a task of it carries it along: it works where the owner's table is not at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKind {
    /// Kind whose adapter builds the command line and reads the output.
    pub adapter: AgentKind,
    /// Program and first arguments in place of the adapter's program; empty: that one.
    pub program: Vec<String>,
    /// Arguments for the program, before those that are passed on.
    pub options: Vec<String>,
}

/// One task: prompt or command, folder, agent kind and options. Values of `--env K=V` are never in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Prompt or shell command, as given.
    pub text: String,
    /// Which program runs it.
    pub kind: AgentKind,
    /// What the core must know of that kind.
    pub traits: KindTraits,
    /// What the kind is, if it is one of the owner's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnKind>>,
    /// Explicit command line with `{task}` in it, instead of what the adapter would build.
    pub command: Option<Vec<String>>,
    /// Arguments passed on to the kind's program.
    pub extra: Vec<String>,
    /// Engine name as the kind knows it (`ollama`, …).
    pub engine: Option<String>,
    /// Tier name as the kind knows it.
    pub tier: Option<String>,
    /// Model name as the kind knows it.
    pub model: Option<String>,
    /// Most turns or steps; unset: the program's own limit.
    pub max_steps: Option<u32>,
    /// The agent may not write.
    pub read_only: bool,
    /// The agent may run commands.
    pub allow_shell: bool,
    /// The agent may use the web.
    pub allow_web: bool,
    /// Folder the agent works in, absolute.
    pub root: PathBuf,
    /// Names of variables that the submitter demands (`--env K`).
    pub env_names: Vec<String>,
    /// Names of variables whose values wait in `env.json` (`--env K=V`).
    pub env_stored: Vec<String>,
    /// Most this agent may cost.
    pub budget: Option<NanoUsd>,
    /// Most time it may run.
    pub timeout: Option<Duration>,
    /// Most time it may go without progress.
    pub idle_timeout: Option<Duration>,
    /// What happens to what it leaves behind.
    pub leftovers: Leftovers,
    /// Text shared by the batch, put before the prompt.
    pub context: Option<String>,
    /// The task is a message to an agent that has ended: this one goes on in its session.
    #[serde(default)]
    pub continues: Option<Continues>,
}

impl Task {
    /// Makes a task with every option at its simplest: no limits, nothing allowed, what is left behind is ended.
    pub fn new(
        text: impl Into<String>,
        kind: AgentKind,
        traits: KindTraits,
        root: PathBuf,
    ) -> Self {
        Self {
            text: text.into(),
            kind,
            traits,
            own: None,
            command: None,
            extra: Vec::new(),
            engine: None,
            tier: None,
            model: None,
            max_steps: None,
            read_only: false,
            allow_shell: false,
            allow_web: false,
            root,
            env_names: Vec::new(),
            env_stored: Vec::new(),
            budget: None,
            timeout: None,
            idle_timeout: None,
            leftovers: Leftovers::End,
            context: None,
            continues: None,
        }
    }

    /// Returns the kind whose adapter drives the task: its own, or the one that a kind of the owner's own names.
    pub fn driven_as(&self) -> &AgentKind {
        self.own.as_ref().map_or(&self.kind, |own| &own.adapter)
    }

    /// Says whether the task needs the one local accelerator (upstream A1: only the name given counts).
    pub fn is_local(&self) -> bool {
        matches!(self.engine.as_deref(), Some("ollama" | "transformers" | "openvino"))
    }
}
