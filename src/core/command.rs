//! What a door can ask of a fleet, and the answers. All of it crosses the socket as JSON.

use serde::{Deserialize, Serialize};

use super::id::{AgentId, BatchId, QuestionId};
use super::money::NanoUsd;
use super::task::Task;

/// Where a queued task is moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// One place nearer to its start.
    Up,
    /// One place further.
    Down,
    /// Next.
    First,
    /// Last.
    Last,
}

/// Tasks that come together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Name of the batch; a repeated one is not queued again.
    pub id: BatchId,
    /// Tasks in order.
    pub tasks: Vec<Task>,
    /// Who or what submitted it.
    pub origin: Option<String>,
    /// Mark of the agent inside of which it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
}

/// Answer to the cap question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Raise the cap to this absolute amount.
    Raise(NanoUsd),
    /// Drop what is queued; running agents go on.
    Drop,
    /// Keep holding: nothing starts until the cap is changed.
    Hold,
    /// Drop what is queued and stop what runs.
    Stop,
}

/// What a door asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Queue tasks.
    Submit(Submission),
    /// Stop live agents and cancel queued ones; all of them if `None`.
    Stop(Option<Vec<AgentId>>),
    /// Kill live agents at once.
    Kill(Option<Vec<AgentId>>),
    /// Take a task out of the queue.
    Remove(AgentId),
    /// Move a queued task.
    Move(AgentId, Direction),
    /// Replace a queued task.
    Edit(AgentId, Box<Task>),
    /// Queue the tasks of ended agents again as a batch of this name, each as a new agent.
    Retry(BatchId, Vec<AgentId>),
    /// Tell an agent more: now if it runs and its kind takes messages; after its end as a task of a batch of this name,
    /// whose agent goes on in its session.
    Steer(AgentId, String, BatchId),
    /// End the turn of an agent that runs, and keep the agent: it goes on with this message, or waits for one.
    InterruptTurn(AgentId, Option<String>),
    /// Let nothing leave the queue.
    Hold,
    /// Let the queue go on, kinds that are held included.
    Release,
    /// Let these queued agents not leave the queue; others go on.
    HoldAgents(Vec<AgentId>),
    /// Let these queued agents leave the queue again.
    ReleaseAgents(Vec<AgentId>),
    /// Change the cap; `None` takes it away.
    SetCap(Option<NanoUsd>),
    /// Answer the cap question.
    Answer(QuestionId, Answer),
    /// Fleet is told to end by a signal: stop dispatching, ask everything to end. A second one kills.
    Interrupt(String),
    /// No more tasks will come.
    Close,
}

/// Why something was refused. Shown to people as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Refusal(pub String);

/// What the fleet answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Queued under these numbers.
    Queued(BatchId, Vec<AgentId>),
    /// Done, for so many agents.
    Done(u32),
    /// The agent was told: it takes the message up within its current turn.
    Told(AgentId),
    /// The agent's turn is told to end: it goes on with the message that it was told with it, or waits for one.
    TurnInterrupted(AgentId),
    /// Nothing had to be done: those named have already ended.
    AlreadyEnded(Vec<AgentId>),
    /// The question had been answered before; how.
    AlreadyAnswered(String),
    /// Not done.
    Refused(Refusal),
}
