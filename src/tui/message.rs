//! What happens to the screen, and what it wants done.
//!
//! What may go here: the closed list of both. What may not: deciding, doing.

use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseEvent};

use super::handover::Handed;
use super::layout::Shares;
use super::others::{FleetList, PastFleet};
use super::session::{Dispatched, Left, Link, Made};
use crate::core::{AgentId, Command, FleetId, Header, Notice, Reply, Snapshot, Submission, Task};
use crate::runtime::{Given, Gone};
use crate::tail::view;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Message {
    /// A key was pressed or repeated.
    Key(KeyEvent),
    /// Text was pasted, with line feeds only.
    Paste(String),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal's window got or lost the focus.
    Focus(bool),
    /// The terminal has this size now: columns, rows.
    Resize(u16, u16),
    /// The connection to the host changed.
    Link(Link),
    /// The fleet changed.
    Snapshot(Arc<Snapshot>),
    /// The host answered, or went before it did.
    Replied(Asked, Result<Reply, Gone>),
    /// What is visible of the followed file changed.
    Page(Arc<view::Page>),
    /// What is known of an agent from its folder.
    Details(AgentId, Box<Facts>),
    /// Drafts that earlier screens dispatched, the oldest first, or why they could not be read.
    History(Result<Vec<Dispatched>, String>),
    /// Something that was wanted is done or could not be; what to say about it, and whether it went well.
    Told(String, bool),
    /// A file is ready for a program that was asked for.
    Handed(Box<Handed>),
    /// What came out of `$EDITOR`.
    Draft(String),
    /// Something about other fleets that was asked for.
    Fleets(FleetNews),
    /// Tasks to be queued as those of the command line are.
    Bring(Box<Made>),
    /// A moment that the model asked for has come.
    Wake,
}

/// What comes of a question about other fleets.
#[derive(Debug)]
pub(super) enum FleetNews {
    /// The list, as far as it is; of all folders if that is said.
    List {
        /// It is the one of all folders.
        everywhere: bool,
        /// The list.
        list: FleetList,
    },
    /// Two fleets to be compared.
    Pair(Box<(PastFleet, PastFleet)>),
    /// The fleet that is shown, as its journal tells it.
    Past(Box<PastFleet>),
    /// It could not be done; why, in one sentence.
    Failed(String),
}

/// What a command was sent for: decides what is said when its reply comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// Tasks typed in the editor, so many.
    Dispatch(usize),
    /// Tasks given on the command line.
    First(usize),
    /// A change of a queued task.
    Edit(AgentId),
    /// Stop of so many.
    Stop(usize),
    /// Kill of so many.
    Kill(usize),
    /// Removal of so many from the queue.
    Remove(usize),
    /// Retry of so many.
    Retry(usize),
    /// A message to an agent.
    Tell(AgentId),
    /// Hold or release of the queue.
    Hold,
    /// See [`Asked::Hold`].
    Release,
    /// Hold of so many queued agents by themselves.
    HoldAgents(usize),
    /// See [`Asked::HoldAgents`].
    ReleaseAgents(usize),
    /// A move in the queue.
    Move,
    /// The cap, by hand.
    Cap,
    /// The cap question.
    Answer,
    /// Stop of everything before the screen leaves.
    StopAll,
}

/// What the files in an agent's folder tell beside the snapshot.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Process id of the shim.
    pub shim_pid: Option<i32>,
    /// Process id of the agent.
    pub agent_pid: Option<i32>,
    /// CPU time in milliseconds, once it has ended.
    pub cpu_ms: Option<u64>,
    /// Largest resident size of a process in KiB, once it has ended.
    pub max_rss_kb: Option<u64>,
    /// Sizes of `out` and `err` in bytes.
    pub sizes: (u64, u64),
    /// There is a human-readable account of what it did.
    pub has_account: bool,
}

/// What the screen wants done. The loop does it and never blocks the screen for it.
#[derive(Debug)]
pub(super) enum Request {
    /// Send a command to the host.
    Send(Command, Asked),
    /// Queue tasks, with what their agents get beside them.
    Submit(Submission, Given, Asked),
    /// Put text on the clipboard; the second text says what it is.
    Copy(String, String),
    /// Open a file in the pager.
    ShowFile(PathBuf),
    /// Open a file in the editor of the person's choice.
    EditFile(PathBuf),
    /// Open text in the editor of the person's choice and take the result as a draft.
    EditDraft(String),
    /// Give the terminal to a program with a file until it ends.
    HandOver(Box<Handed>),
    /// Stop this program until `fg`.
    Suspend,
    /// Draw everything anew, whatever somebody else has written over it.
    Redraw,
    /// Switch mouse reports on or off.
    SetMouse(bool),
    /// Keep the draft; empty means that there is none.
    SaveDraft(String),
    /// Keep the sizes of panes.
    SaveSizes(Shares),
    /// Keep a submitted draft in the history.
    AddHistory(Dispatched),
    /// Something for the reader of the followed file.
    Tail(view::Request),
    /// Read what an agent's folder tells.
    ReadFacts(AgentId),
    /// Ring.
    Bell,
    /// Let the terminal show a notification of this notice.
    Notify(Box<Header>, Notice),
    /// Read which fleets there are: of all folders, or of this one.
    ListFleets {
        /// Of all folders.
        everywhere: bool,
    },
    /// Show another fleet.
    OpenFleet(FleetId),
    /// Read two fleets to be compared.
    CompareFleets(FleetId, FleetId),
    /// Read how the fleet that is shown came to what it is.
    ReadPast,
    /// Queue tasks of the fleet that is shown, which has ended, in the one that takes tasks in its folder, and show that.
    RunAgain(Vec<Task>),
    /// Show the fleet again that was shown before.
    GoBack,
    /// End.
    Leave(Left),
}
