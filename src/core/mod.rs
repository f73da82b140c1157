//! All rules of a fleet, and nothing else: queue, gates, money, states, the cap question, rollups.
//!
//! What may go here: pure functions and data. What may not: a clock, a file, a channel, a process, a terminal.
//! Every time is an argument; [`Fleet::apply`] takes an [`Event`] and returns [`Effect`]s.

mod agent;
mod batch;
mod cap;
mod changed;
mod command;
mod commands;
mod doubt;
mod early;
mod event;
mod fact;
mod fleet;
mod fold;
mod gates;
mod guard;
mod header;
mod holds;
mod id;
mod judge;
mod ledger;
mod lifecycle;
mod moment;
mod money;
mod notice;
mod notice_words;
mod noticing;
mod options;
mod outcome;
mod price;
mod record;
mod replay;
mod rollup;
mod snapshot;
mod steer;
mod takeover;
mod task;
mod timers;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use agent::{AgentState, Stall, StopReason};
pub use batch::{Batch, BatchStatus};
pub use changed::{ChangedFiles, FilesFrom};
pub use command::{Answer, Command, Direction, Refusal, Reply, Submission};
pub use doubt::Doubt;
pub use event::{Effect, Event, ProcessEnd, Steering, Tails, TreeEnd, Urgency};
pub use fact::{AgentResult, Fact, Retry, SessionTotal, StepState, Usage};
pub use fleet::Fleet;
pub use guard::{refuse_inside, short_mark};
pub use id::{AgentId, BatchId, FleetId, QuestionId, Ticket};
pub use ledger::{CostStatus, Ledger, Tokens};
pub use moment::Moment;
pub use money::{MoneyError, NanoUsd};
pub use notice::{Notice, NoticeKind};
pub use options::{FleetOptions, OnCap, folder};
pub use outcome::{End, ExitReason, Outcome};
pub use price::Price;
pub use record::{OpenTool, PendingText, Record, TranscriptState, Work};
pub use replay::Replay;
pub use snapshot::{BatchView, Header, Hold, Kpis, Phase, Question, Row, Snapshot, Status, Waits};
pub use task::{AgentKind, Continues, KindTraits, Leftovers, OwnKind, Talk, Task};
