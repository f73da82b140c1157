//! What a pane or a modal wants when something happened to it.
//!
//! What may go here: the closed list. What may not: granting it, which the model does.

use super::layout::Focus;
use super::message::Request;
use super::modal::Modal;
use super::theme::Tone;
use crate::core::AgentId;

/// What a pane or a modal wants.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Something that leaves the screen.
    Ask(Request),
    /// A modal over the screen.
    Open(Box<Modal>),
    /// The end of the modal that wishes it.
    Close,
    /// The focus on a pane.
    Focus(Focus),
    /// A short remark in the footer.
    Flash(String, Tone),
    /// A queued task into the editor.
    EditQueued(AgentId),
    /// The focused pane for itself, or all again.
    Zoom,
    /// New options for what is typed.
    Options(Box<super::session::TaskOptions>),
    /// The draft as it is, dispatched: its count was confirmed or its cap was given.
    Dispatch,
    /// The screen ends once everything has been stopped, verified.
    StopAllAndLeave,
    /// The screen stays even when everything has stopped.
    Stay,
}
