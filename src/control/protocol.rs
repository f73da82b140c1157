//! What crosses the socket: one JSON object a line, a greeting with a version first from each side.
//!
//! A line holds one message under its name; a reader takes what it knows and ignores the rest, so that a later program
//! of the same protocol version may say more. What may go here: the types and their versions. What may not: reading
//! and writing (`line`), what a message leads to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::core::{AgentId, BatchView, FleetId, Header, Moment, Question, Reply, Row};
use crate::runtime::{Given, own_mark};

/// Version of the protocol. A change that an older reader would misunderstand needs a new one.
pub(super) const PROTOCOL: u32 = 1;

/// Longest line that a client may send, in bytes: a draft of 16 MiB in which every second character is escaped, and an
/// environment. Only programs of the host's own user get so far.
pub(super) const CLIENT_LINE_BYTES: usize = 36 * 1024 * 1024;
/// Longest line that a client takes, in bytes. A line of more than one row is far shorter; one row may have an answer of
/// 8 MiB and a task of as much.
pub(super) const SERVER_LINE_BYTES: usize = 64 * 1024 * 1024;
/// Longest greeting, in bytes.
pub(super) const GREETING_BYTES: usize = 64 * 1024;

/// First line of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Version of the protocol.
    pub(super) fleet_control: u32,
    /// Version of the program.
    pub(super) version: String,
    /// It is a command that comes and goes: nobody watches the fleet because of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) in_passing: bool,
    /// Mark of the agent that the client runs inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inside: Option<String>,
}

/// First line of a server: exactly one of `welcome` and `refused` is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// Version of the protocol.
    pub(super) fleet_control: u32,
    /// Version of the program.
    pub(super) version: String,
    /// The client may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) welcome: Option<Hosting>,
    /// Why it may not, a whole sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hosting {
    pub(super) fleet: FleetId,
    pub(super) host_pid: u32,
    #[serde(default)]
    pub(super) away_since: Option<Moment>,
}

/// What a host says of itself when a client comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// Its process.
    pub host_pid: u32,
    /// When its last client left; `None` if it never had one, or has one now.
    pub away_since: Option<Moment>,
}

/// A client and a host do not speak the same version of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this fleet's host speaks protocol {host_protocol} (Fleet {host_version}), this is Fleet {client_version} with \
     protocol {client_protocol}: use that version, or wait until its agents have ended"
)]
pub struct VersionGap {
    /// What the host speaks.
    pub host_protocol: u32,
    /// Version of its program.
    pub host_version: String,
    /// What the client speaks.
    pub client_protocol: u32,
    /// Version of its program.
    pub client_version: String,
}

/// Any later line of a client.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ClientLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ask: Option<Ask>,
}

/// A client wants something.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ask {
    /// Joins the reply; the client chooses it.
    pub(super) id: u64,
    /// A [`crate::core::Command`]. One that the host does not know is refused and no reason to part.
    pub(super) command: Box<RawValue>,
    /// What comes with a submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) given: Option<Given>,
    /// Contexts of the tasks of a submission, which are left out of these: as a rule all have the same long one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) contexts: Vec<String>,
    /// For each task its place among the contexts; shorter than the tasks if the last ones have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) context_of: Vec<Option<usize>>,
}

/// Any later line of a server, as it is read.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ServerLine {
    #[serde(default)]
    pub(super) reply: Option<Answered>,
    #[serde(default)]
    pub(super) change: Option<Change>,
    #[serde(default)]
    pub(super) dropped: Option<String>,
}

/// Any later line of a server, as it is written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Say<'a> {
    /// An answer.
    Reply(&'a Answered),
    /// A part of a snapshot.
    Change(Part<'a>),
    /// The connection ends for this reason, a whole sentence.
    Dropped(&'a str),
}

/// The answer to one ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) id: u64,
    pub(super) reply: Reply,
}

/// What is new since the last snapshot that the client has: one line, or the part of it that fits into one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Change {
    /// More lines of the same snapshot follow; it counts when the last one is there.
    #[serde(default)]
    pub(super) more: bool,
    /// Rows that are new or changed.
    #[serde(default)]
    pub(super) rows: Vec<Arc<Row>>,
    /// Those of `rows` whose task is the one that the client has; what is in the row then means nothing.
    #[serde(default)]
    pub(super) same_task: Vec<AgentId>,
    /// All the rest, with the last line.
    #[serde(default)]
    pub(super) rest: Option<Rest>,
}

/// What is not rows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Rest {
    pub(super) revision: u64,
    pub(super) at: Moment,
    pub(super) header: Header,
    /// The queue, if it changed.
    #[serde(default)]
    pub(super) queue: Option<Vec<AgentId>>,
    /// Batches that are new or changed.
    #[serde(default)]
    pub(super) batches: Vec<BatchView>,
    #[serde(default)]
    pub(super) question: Option<Question>,
}

/// A [`Change`] as it is written.
#[derive(Debug, Serialize)]
pub(super) struct Part<'a> {
    #[serde(skip_serializing_if = "is_false")]
    pub(super) more: bool,
    pub(super) rows: Vec<Arc<Row>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) same_task: Vec<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<RestPart<'a>>,
}

/// A [`Rest`] as it is written.
#[derive(Debug, Serialize)]
pub(super) struct RestPart<'a> {
    pub(super) revision: u64,
    pub(super) at: Moment,
    pub(super) header: &'a Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) queue: Option<&'a [AgentId]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) batches: Vec<&'a BatchView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<&'a Question>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Hello {
    /// Returns what this program says.
    pub(super) fn own() -> Self {
        Self {
            fleet_control: PROTOCOL,
            version: own_version(),
            in_passing: false,
            inside: own_mark(),
        }
    }

    /// Returns why a host of this program cannot talk to that client.
    pub(super) fn gap(&self) -> Option<VersionGap> {
        (self.fleet_control != PROTOCOL).then(|| VersionGap {
            host_protocol: PROTOCOL,
            host_version: own_version(),
            client_protocol: self.fleet_control,
            client_version: self.version.clone(),
        })
    }
}

impl Greeting {
    /// Returns a greeting that lets the client go on.
    pub(super) fn welcome(hosting: Hosting) -> Self {
        Self {
            fleet_control: PROTOCOL,
            version: own_version(),
            welcome: Some(hosting),
            refused: None,
        }
    }

    /// Returns a greeting that does not.
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self {
            fleet_control: PROTOCOL,
            version: own_version(),
            welcome: None,
            refused: Some(why.into()),
        }
    }

    /// Returns why this program cannot talk to that host.
    pub(super) fn gap(&self) -> Option<VersionGap> {
        (self.fleet_control != PROTOCOL).then(|| VersionGap {
            host_protocol: self.fleet_control,
            host_version: self.version.clone(),
            client_protocol: PROTOCOL,
            client_version: own_version(),
        })
    }
}

fn own_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns what is wrong with a client's line that is too long.
pub(super) fn too_long() -> String {
    const MIB: usize = 1024 * 1024;
    let most = CLIENT_LINE_BYTES / MIB;
    format!(
        "more than {most} MiB at once are too much for this fleet's host: queue fewer tasks at once"
    )
}
