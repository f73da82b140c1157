//! What can happen to a fleet, and what it wants done.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::changed::ChangedFiles;
use super::command::{Command, Reply};
use super::fact::Fact;
use super::id::{AgentId, BatchId, Ticket};
use super::moment::Moment;
use super::notice::Notice;
use super::record::Record;

/// How an agent's own process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// Exit with a code.
    Code(i32),
    /// Ended by a signal, by name (`SIGSEGV`).
    Signal(String),
    /// It could not be started; a whole clause that says why.
    NotStarted(String),
    /// Its shim died without a record.
    Lost,
}

/// Everything that is known once an agent's whole tree is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEnd {
    /// How the agent itself ended.
    pub end: ProcessEnd,
    /// The shim's own timeout stopped it.
    pub timed_out: bool,
    /// The shim was signalled and stopped it.
    pub signalled: bool,
    /// The shim stopped it because there was no host for too long.
    pub orphaned: bool,
    /// A `stop` file lay beside it: the owner's decision, made past the host.
    pub owner_stop: bool,
    /// When the agent itself ended.
    pub at: Moment,
    /// How long it ran, by the shim's clock.
    pub run_time: Option<Duration>,
    /// Names of the processes that had to be ended after it.
    pub swept: Vec<String>,
    /// It had to be killed after its grace.
    pub escalated: bool,
}

impl TreeEnd {
    /// Returns the agent's exit code, if it ended with one.
    pub const fn code(&self) -> Option<i32> {
        match self.end {
            ProcessEnd::Code(code) => Some(code),
            ProcessEnd::Signal(_) | ProcessEnd::NotStarted(_) | ProcessEnd::Lost => None,
        }
    }
}

/// What the reader saw last, for agents that end without a structured word.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tails {
    /// Last line of `out` that is not blank.
    pub out_line: Option<String>,
    /// Last line of `err` that is not blank.
    pub err_line: Option<String>,
    /// Bytes in `out`.
    pub out_bytes: u64,
    /// Bytes in `err`.
    pub err_bytes: u64,
    /// Output that could not be read; why.
    pub unreadable: Option<String>,
    /// File with what is known of an agent that ended badly without a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<String>,
    /// Files that the agent has told of as changed and that were not there, or not newer than its start, when it had
    /// ended; `None` if nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Vec<String>>,
}

/// What a running agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steering {
    /// A message, which it takes up within its turn.
    Message(String),
    /// The end of its turn, and what it is to go on with.
    Interrupt(Option<String>),
}

/// Something that happened. Events that make no sense in a state change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A door wants something.
    Command {
        /// Joins the reply.
        ticket: Ticket,
        /// What it wants.
        command: Command,
    },
    /// The shim says that the agent runs.
    Started(AgentId),
    /// The agent of an earlier host runs; when it last gave a sign, as far as can be seen.
    Adopted(AgentId, Option<Moment>),
    /// The shim never began: no process ran.
    NeverBegan(AgentId),
    /// The agent itself has ended; so many of its processes have not.
    Exited(AgentId, u32),
    /// Nothing of the agent's tree is left.
    TreeGone(AgentId, TreeEnd),
    /// The output was read up to `offset` and this was learned.
    Facts {
        /// Whose.
        id: AgentId,
        /// What, in order.
        facts: Vec<Fact>,
        /// Bytes of `out` that are accounted for.
        offset: u64,
    },
    /// `out` or `err` has grown, or another sign of life was seen.
    Progress(AgentId),
    /// An agent has been silent for a while, uses no processor, and its last line looks like this question; `None`: that is
    /// over, though it is still silent.
    SeemsToWait(AgentId, Option<String>),
    /// So many bytes of an ended agent's output are still to be read.
    Behind(AgentId, u64),
    /// The folder of an agent whose tree is gone was looked at, and this has changed there meanwhile.
    Changed(AgentId, ChangedFiles),
    /// The output of an ended agent has been read to its end.
    Scanned(AgentId, Tails),
    /// The mesh store has so many keys.
    MeshKeys(u64),
    /// An agent was told something, or why it was not: the answer to this ticket.
    Told {
        /// Whom.
        id: AgentId,
        /// Of the command.
        ticket: Ticket,
        /// What it was told.
        what: Steering,
        /// Why it was not.
        outcome: Result<(), String>,
    },
    /// Names that a batch demands are missing in this environment; empty: none are any more.
    EnvMissing(BatchId, Vec<String>),
    /// The journal could not be written; why. The queue is held until it can.
    SaveFailed(String),
    /// The journal is whole again.
    Saved,
    /// The command that people have notices told to did not take one, why; `None`: it has taken one.
    NoticeTrouble(Option<String>),
    /// Time has passed.
    Tick,
}

impl Event {
    /// Makes the two events of an agent whose shim could not be started.
    pub fn not_started(id: AgentId, why: String, at: Moment) -> [Self; 2] {
        let tree = TreeEnd {
            end: ProcessEnd::NotStarted(why),
            timed_out: false,
            signalled: false,
            orphaned: false,
            owner_stop: false,
            at,
            run_time: None,
            swept: Vec::new(),
            escalated: false,
        };
        [Self::TreeGone(id, tree), Self::Scanned(id, Tails::default())]
    }
}

/// How hard a tree is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// In stages: ask, grace, kill. During a long grace it is asked once more, and the usual one begins.
    Ask,
    /// The same with the long grace of agents without progress; of one that was asked before nothing changes.
    AskPatiently,
    /// At once.
    Kill,
}

/// Something the runtime has to do. `Spawn`, `Tell`, `Notify` and `Reply` wait until the records before them are safe on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Append to the journal.
    Record(Record),
    /// Start the agent.
    Spawn(AgentId),
    /// Tell the agent's tree to end.
    Stop(AgentId, Urgency),
    /// Give this to the running agent; [`Event::Told`] says what came of it.
    Tell(AgentId, Ticket, Steering),
    /// The agent has said its last word: close its standard input, if it is one that takes messages.
    CloseInput(AgentId),
    /// Answer a command.
    Reply(Ticket, Reply),
    /// Delete what is stored for an agent that will not start any more (`env.json`).
    Forget(AgentId),
    /// Tell people, once what says that they were told is safe on disk.
    Notify(Notice),
}
