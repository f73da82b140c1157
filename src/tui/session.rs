//! What the screen is given when it starts, and what it says when it has ended.
//!
//! What may go here: data that crosses from the composition of the program to the screen. What may not: finding fleets,
//! starting hosts, reading task files; whoever composes the program does that.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::layout::Shares;
use super::others::OtherFleets;
use crate::core::{FleetId, Moment, NanoUsd, Task};
use crate::journal::FleetDir;
use crate::runtime::FleetHandle;
use crate::words::notice_line::Alerts;

/// How the screen stands with its host. Whoever connects keeps it up to date for as long as the screen lives.
#[derive(Debug, Clone)]
pub enum Link {
    /// Not connected; what is waited for, for people: `starting the host`.
    Waiting(String),
    /// Connected.
    Up {
        /// The door to the fleet.
        handle: FleetHandle,
        /// When the last screen left, if none was there until now.
        away_since: Option<Moment>,
    },
    /// It will not come; why, in one sentence.
    Failed(String),
}

/// An agent kind as the screen offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInfo {
    /// Name, as `--agent` takes it.
    pub name: String,
    /// Its program was found.
    pub is_installed: bool,
    /// Its tasks are prompts, not commands.
    pub is_prompt: bool,
    /// Each of its runs may cost money.
    pub pays: bool,
    /// What each of its agents is counted with, if none ever says what it has cost.
    pub counts_as: Option<NanoUsd>,
}

/// Options of the tasks that are typed, as the command line and the options modal give them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TaskOptions {
    /// Agent kind; empty if none was found.
    pub kind: String,
    /// Explicit command line with `{task}` in it, for the kind `command`.
    pub command: Option<Vec<String>>,
    /// Arguments passed on to the kind's program.
    pub extra: Vec<String>,
    /// Engine name.
    pub engine: Option<String>,
    /// Tier name.
    pub tier: Option<String>,
    /// Model name.
    pub model: Option<String>,
    /// Most turns or steps.
    pub max_steps: Option<u32>,
    /// The agent may not write.
    pub read_only: bool,
    /// The agent may run commands.
    pub allow_shell: bool,
    /// The agent may use the web.
    pub allow_web: bool,
    /// Folder the agents work in, absolute.
    pub root: PathBuf,
    /// Variables to demand (no value) or to give.
    pub env: Vec<(String, Option<String>)>,
    /// Most one agent may cost.
    pub budget: Option<NanoUsd>,
    /// Most time of one agent.
    pub timeout: Option<Duration>,
    /// Most time of one agent without progress.
    pub idle_timeout: Option<Duration>,
    /// Processes that agents leave behind stay.
    pub keep_leftovers: bool,
    /// Text shared by the batch, put before each prompt.
    pub context: Option<String>,
}

/// What is wrong with a part of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the draft, from 1; `None` if it is about the whole.
    pub line: Option<usize>,
    /// One sentence: what, and what to do.
    pub sentence: String,
}

/// What a draft comes to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Made {
    /// Checked tasks in order.
    pub tasks: Vec<Task>,
    /// Values of variables for each task; shorter than the tasks if the last ones have none.
    pub values: Vec<BTreeMap<String, String>>,
    /// What is wrong. A draft with problems is not dispatched.
    pub problems: Vec<Problem>,
}

/// Turns what is typed into checked tasks. Implemented above the screen, over the same rules as the command line's.
pub trait TaskMaker: Send {
    /// Returns the kinds to choose from, in the order in which they are offered.
    fn kinds(&self) -> Vec<KindInfo>;
    /// Returns how many tasks a draft is, without checking them: cheap enough for every key.
    fn count(&self, draft: &str, options: &TaskOptions) -> usize;
    /// Splits and checks a draft.
    fn make(&self, draft: &str, options: &TaskOptions) -> Made;
    /// Reads `NAME` or `NAME=VALUE`, a variable to demand or to give; the error is a clause about it.
    fn read_variable(&self, word: &str) -> Result<(String, Option<String>), String> {
        Ok(match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.to_owned(), None),
        })
    }
    /// Says in one sentence which program tasks need that are about to be dispatched from here and is not installed.
    /// Tasks that wait already are not asked about, since they have the environment that they were dispatched with.
    fn missing(&self, _made: &Made) -> Option<String> {
        None
    }
}

/// What the screen is given.
pub struct Session {
    /// How it stands with its host.
    pub link: watch::Receiver<Link>,
    /// The fleet's folder, in which agents' files are.
    pub dir: FleetDir,
    /// The folder that the fleet belongs to, for the title.
    pub folder: PathBuf,
    /// Makes tasks of what is typed.
    pub maker: Box<dyn TaskMaker>,
    /// Options of what is typed, to begin with.
    pub options: TaskOptions,
    /// Tasks given on the command line, to be queued once there is a host.
    pub first: Option<Made>,
    /// The fleet has ended and is only looked at.
    pub is_read_only: bool,
    /// It is the demonstration.
    pub is_demo: bool,
    /// What is to be said at the start: a sentence about what is not as somebody may think.
    pub remark: Option<String>,
    /// Where the draft is kept between two screens.
    pub draft: Option<PathBuf>,
    /// Where submitted drafts are kept.
    pub history: Option<PathBuf>,
    /// Where the sizes of panes are kept.
    pub sizes: Option<PathBuf>,
    /// Mouse reports are wanted.
    pub mouse: bool,
    /// What the terminal does when there is a notice and its window may not have the focus.
    pub alerts: Alerts,
    /// The other fleets that there are; `None` where there are none to be looked at.
    pub others: Option<Arc<dyn OtherFleets>>,
    /// The fleet that was shown before, to which the screen can go back.
    pub came_from: Option<FleetId>,
    /// What has to live as long as the fleet is shown.
    pub keep: Option<Box<dyn Any + Send>>,
}

/// A draft that was dispatched.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatched {
    /// All of it.
    pub text: String,
    /// Agent kind that was chosen; empty if that is not known.
    #[serde(default)]
    pub kind: String,
    /// Folder of the fleet that it went to; empty if that is not known.
    #[serde(default)]
    pub folder: String,
}

/// What was kept of earlier screens and is there from the first frame on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The draft.
    pub draft: String,
    /// Sizes of panes.
    pub shares: Shares,
}

/// The end of the screen.
#[derive(Debug)]
pub struct Departure {
    /// How it was left.
    pub left: Left,
    /// How it stood with the hosts of the fleets that it had open: first the one that was shown last, then the one to which
    /// it could have gone back.
    pub links: Vec<watch::Receiver<Link>>,
}

/// How the screen was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Agents go on without it, or there are none.
    Detached,
    /// Everything was stopped, and the end of the last process was seen.
    StoppedAll,
    /// A signal of this number ended it; agents go on.
    Signal(i32),
    /// The terminal went away; agents go on.
    TerminalGone,
}
