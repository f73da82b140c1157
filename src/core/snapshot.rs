//! A read-only copy of a fleet for doors: header, table and JSON come from one of these.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::batch::{Batch, BatchStatus};
use super::changed::FilesFrom;
use super::doubt::Doubt;
use super::fact::Retry;
use super::id::{AgentId, BatchId, FleetId, QuestionId};
use super::ledger::{CostStatus, Tokens};
use super::moment::Moment;
use super::money::NanoUsd;
use super::notice::Notice;
use super::outcome::{End, Outcome};
use super::task::Task;

/// State of an agent in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for a slot.
    Queued,
    /// Dispatched.
    Starting,
    /// Runs.
    Running,
    /// Told to end.
    Stopping,
    /// Has ended; its tree or the reading of its output has not.
    Ending,
    /// Over.
    Ended(Outcome),
}

impl Status {
    /// Returns the word that screens and JSON use: `running`, `done`, `over_budget`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Ending => "ending",
            Self::Ended(outcome) => outcome.as_str(),
        }
    }

    /// Says whether the agent has a slot or is still being read.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Stopping | Self::Ending)
    }

    /// Says whether the agent is over.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// Why a queued task does not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waits {
    /// It is next.
    Next,
    /// All slots are taken.
    Slot,
    /// The local engine is busy.
    Local,
    /// The owner holds the queue.
    Hold,
    /// The cap is reached.
    Cap,
    /// What runs may use up the cap.
    Reserved,
    /// The owner holds this one.
    Held,
    /// Its kind is held for this cause.
    Kind(String),
    /// Its batch needs these variables.
    Env(Vec<String>),
    /// The journal cannot be written.
    NotSaved,
    /// Fleet is ending.
    Ending,
    /// Nobody hosts the fleet; only who looks at it from outside finds that.
    Host,
}

/// What an agent does right now; with `now` it gives the why of the row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits.
    Waits(Waits),
    /// Between tools, or no tool is known.
    Works,
    /// Inside a tool since then.
    InTool {
        /// Its name.
        tool: String,
        /// What it does.
        text: String,
        /// Since when.
        since: Moment,
    },
    /// Tries something again since then that has failed.
    Retries(Retry, Moment),
    /// Its turn was interrupted then; it does nothing until it is told something.
    Interrupted(Moment),
    /// Told to end at that moment, for that reason (words for people).
    Stopping(String, Moment),
    /// Has ended; so many processes have not.
    LeftBehind(u32),
    /// Has ended; so many bytes of output are still to be read.
    Reading(u64),
    /// Over.
    Over,
}

/// One agent as a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Snapshot in which this row last changed.
    pub revision: u64,
    /// Number.
    pub id: AgentId,
    /// Batch, by name and by tag (`set 1`).
    pub batch: BatchId,
    /// Tag of the batch.
    pub tag: String,
    /// Place within the batch, from 1.
    pub index: u32,
    /// Size of the batch.
    pub of: u32,
    /// The task.
    pub task: Arc<Task>,
    /// State in one word.
    pub status: Status,
    /// What it does.
    pub phase: Phase,
    /// It is queued and its owner holds it, whatever else it waits for.
    #[serde(default)]
    pub held: bool,
    /// Marked as making no progress.
    pub stalled: bool,
    /// Why it is marked beside that.
    #[serde(default)]
    pub doubt: Option<Doubt>,
    /// When it was dispatched last.
    pub started: Option<Moment>,
    /// How long it ran, if it runs no more while its output is still being read.
    #[serde(default)]
    pub ran: Option<Duration>,
    /// Last sign of progress.
    pub progress: Option<Moment>,
    /// Last event that this host has understood of its output.
    #[serde(default)]
    pub event: Option<Moment>,
    /// Tool calls.
    pub steps: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// Known cost; `None` is unknown.
    pub cost: Option<NanoUsd>,
    /// Where the cost comes from.
    pub cost_status: CostStatus,
    /// All checkpoints green; `None` if there were none.
    pub validated: Option<bool>,
    /// Final answer.
    pub answer: String,
    /// Files the agent says it changed, with paths as the agent gave them; else those that changed meanwhile.
    pub files_changed: Vec<String>,
    /// Where that list comes from.
    #[serde(default)]
    pub files_from: FilesFrom,
    /// Session of the agent's program.
    pub session: Option<String>,
    /// The model that answers, as the agent's program names it.
    #[serde(default)]
    pub model: Option<String>,
    /// Calls that were not permitted.
    #[serde(default)]
    pub denied: u64,
    /// Messages that it was told while it ran.
    #[serde(default)]
    pub told: u64,
    /// Those of them, oldest first, that it has not taken up, as far as is known; none will be once it has ended.
    #[serde(default)]
    pub unheard: Vec<String>,
    /// Some of the output was not understood.
    pub unparsed: bool,
    /// Lines that were not understood, or too long to be looked at.
    pub anomalies: u64,
    /// Why its transcript does not tell all that it could, a clause; `None` if it does.
    #[serde(default)]
    pub transcript_trouble: Option<String>,
    /// How it ended.
    pub end: Option<Box<End>>,
    /// The agent whose task this one tries again.
    pub retry_of: Option<AgentId>,
    /// The agent that tries this task again.
    pub retried_by: Option<AgentId>,
}

impl Row {
    /// Returns how long the agent has run, zero before its start.
    pub fn elapsed(&self, now: Moment) -> Duration {
        match (&self.end, self.started) {
            (Some(end), Some(started)) => end.run_time.unwrap_or_else(|| end.at.since(started)),
            (None, Some(started)) => self.ran.unwrap_or_else(|| now.since(started)),
            (_, None) => Duration::ZERO,
        }
    }
}

/// Why the whole queue is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The owner said so.
    Owner,
    /// Nobody said so: it has waited since then without a host, and goes on when the owner says so.
    Back(Moment),
    /// The cap is reached and the answer was to keep holding.
    Cap,
    /// Fleet was interrupted; the signal's name.
    Interrupted(String),
    /// The journal cannot be written; why.
    NotSaved(String),
}

/// The open cap question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Which.
    pub id: QuestionId,
    /// When it was opened.
    pub asked: Moment,
    /// The cap that is reached.
    pub cap: NanoUsd,
    /// What is spent, and what ended agents of unknown cost are counted with.
    pub committed: NanoUsd,
    /// Cap that is proposed.
    pub default: NanoUsd,
    /// How many tasks are queued that are not held by themselves.
    pub queued: u32,
    /// What those would cost at the average so far; `None` without an average.
    pub queue_estimate: Option<NanoUsd>,
}

/// Upstream's eleven numbers (upstream A7).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are upstream's and say all there is")]
pub struct Kpis {
    pub total: u32,
    pub running: u32,
    pub done: u32,
    /// Every ended agent that is not done.
    pub failed: u32,
    pub queued: u32,
    pub validated: u32,
    /// Keys of the mesh store.
    pub mesh: u64,
    pub steps: u64,
    pub tokens: u64,
    pub cost: NanoUsd,
    /// Longest run of an agent so far; those that run count up to the snapshot's moment.
    pub elapsed: Duration,
}

/// One batch with its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchView {
    /// The batch.
    pub batch: Batch,
    /// How it stands.
    pub status: BatchStatus,
}

/// Numbers of the fleet as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Which fleet.
    pub fleet: FleetId,
    /// Its name for people.
    pub name: Option<String>,
    /// Upstream's numbers.
    pub kpis: Kpis,
    /// Ended agents by outcome; only those that occur.
    pub outcomes: Vec<(Outcome, u32)>,
    /// What is known to be spent: the sum over all rows.
    pub spent: NanoUsd,
    /// Agents whose cost is unknown.
    pub cost_unknown: u32,
    /// Live agents of which this host has not read yet what they wrote before it was there: more may be spent.
    #[serde(default)]
    pub unread: u32,
    /// What running agents, and ended ones of unknown cost, reserve.
    pub reserved: NanoUsd,
    /// The cap.
    pub cap: Option<NanoUsd>,
    /// Live agents that have no budget.
    pub without_budget: u32,
    /// Most agents at once.
    pub max_parallel: Option<u32>,
    /// Shared workspace.
    pub mesh: Option<PathBuf>,
    /// Why the queue is held.
    pub hold: Option<Hold>,
    /// Held kinds with the cause.
    pub kinds_held: Vec<(String, String)>,
    /// No more tasks will come.
    pub closed: bool,
    /// Signal by which Fleet was told to end.
    pub interrupted: Option<String>,
    /// The deadline has passed.
    pub past_deadline: bool,
    /// Work was dropped or left because of the cap.
    pub left_by_cap: bool,
    /// When the first agent was dispatched.
    pub first_start: Option<Moment>,
    /// When the last end was recorded.
    pub last_end: Option<Moment>,
    /// Nothing runs, and nothing queued can start without a decision from outside.
    pub idle: bool,
    /// Nothing runs and nothing is queued.
    pub all_done: bool,
    /// The newest notices, the newest last.
    #[serde(default)]
    pub notices: Vec<Notice>,
    /// Why the owner's command did not take the last notice, a clause; `None` if it did, or there is none.
    #[serde(default)]
    pub notice_trouble: Option<String>,
}

impl Snapshot {
    /// Returns the snapshot of a fleet without agents: what a door has before it has seen the fleet.
    pub fn empty(fleet: FleetId, at: Moment) -> Self {
        Self {
            revision: 0,
            at,
            header: Header::empty(fleet),
            rows: Vec::new(),
            queue: Vec::new(),
            batches: Vec::new(),
            question: None,
        }
    }
}

/// A copy of the fleet at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Grows with each change.
    pub revision: u64,
    /// When it was taken.
    pub at: Moment,
    /// The whole.
    pub header: Header,
    /// Rows in the order of their numbers.
    pub rows: Vec<Arc<Row>>,
    /// Queued agents in the order in which they would start.
    pub queue: Vec<AgentId>,
    /// Batches in order.
    pub batches: Vec<BatchView>,
    /// The open cap question.
    pub question: Option<Question>,
}

impl Snapshot {
    /// Returns the row of an agent.
    pub fn row(&self, id: AgentId) -> Option<&Arc<Row>> {
        // Numbers are given in order, so the row is at its place; were one missing, it would be before that.
        let place = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        self.rows.get(place)
    }

    /// Returns the queued agents that their owner holds by themselves, in the order of the queue.
    pub fn held_agents(&self) -> Vec<AgentId> {
        let is_held = |id: &&AgentId| self.row(**id).is_some_and(|row| row.held);
        self.queue.iter().filter(is_held).copied().collect()
    }
}
