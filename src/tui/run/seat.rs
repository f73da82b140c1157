//! What the loop has of one fleet: its model, the way to its host, the readers of its files.
//!
//! What may go here: making and ending that as a whole, so that the screen can turn to another fleet and back. What may
//! not: the terminal, which all fleets share, and what happens when.

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::files::{Files, Job, Places, read_draft, read_sizes};
use crate::core::Moment;
use crate::runtime::FleetHandle;
use crate::tail::view::{self, Page, TailView};
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::others::OtherFleets;
use crate::tui::session::{Kept, Link, Session};
use crate::tui::theme::Theme;

/// Messages of what was asked for that wait for the loop. Who has one more waits until there is room.
const MESSAGES: usize = 64;

/// What a model begins with beside its session.
pub(super) struct Around {
    pub(super) theme: Theme,
    pub(super) zone: jiff::tz::TimeZone,
    pub(super) now: Moment,
    pub(super) size: (u16, u16),
}

/// One fleet on the screen.
pub(super) struct Seat {
    pub(super) model: Model,
    pub(super) link: watch::Receiver<Link>,
    pub(super) is_linked: bool,
    pub(super) handle: Option<FleetHandle>,
    pub(super) tail: TailView,
    pub(super) pages: watch::Receiver<Arc<Page>>,
    pub(super) files: Files,
    pub(super) sender: mpsc::Sender<Message>,
    pub(super) messages: mpsc::Receiver<Message>,
    /// Commands that were sent and not answered.
    pub(super) asked: JoinSet<()>,
    /// What came of requests and the model does not know yet; a few at most.
    pub(super) later: VecDeque<Message>,
    pub(super) others: Option<Arc<dyn OtherFleets>>,
    /// What has to live as long.
    _keep: Option<Box<dyn Any + Send>>,
}

/// What was kept of earlier screens of the fleet's folder, or why the draft could not be read.
pub(super) type Read = (io::Result<String>, Kept);

/// Reads what was kept of earlier screens.
pub(super) fn read_kept(session: &Session) -> Read {
    let draft = read_draft(session.draft.as_deref());
    let shares = read_sizes(session.sizes.as_deref());
    (draft, Kept { draft: String::new(), shares })
}

impl Seat {
    /// Begins with a fleet.
    pub(super) fn take(
        mut session: Session,
        (draft, kept): Read,
        around: Around,
    ) -> io::Result<Self> {
        let mut places = Places {
            draft: session.draft.clone(),
            history: session.history.clone(),
            sizes: session.sizes.clone(),
            dir: session.dir.clone(),
        };
        let unread = draft.as_ref().err().map(|error| {
            // Nothing is written over what nobody has seen.
            places.draft = None;
            let text = format!(
                "could not read the draft of the last time, so it stays and this one is not kept: {error}"
            );
            Message::Told(text, false)
        });
        let remark = session.remark.clone().map(|remark| Message::Told(remark, false));
        let kept = Kept { draft: draft.unwrap_or_default(), ..kept };
        let (sender, messages) = mpsc::channel(MESSAGES);
        let files = Files::start(places, sender.clone())?;
        let tail = TailView::start()?;
        let pages = tail.pages();
        let (link, others, keep) =
            (session.link.clone(), session.others.clone(), session.keep.take());
        let Around { theme, zone, now, size } = around;
        Ok(Self {
            model: Model::new(session, theme, zone, now, size, kept),
            link,
            is_linked: true,
            handle: None,
            tail,
            pages,
            files,
            sender,
            messages,
            asked: JoinSet::new(),
            later: remark.into_iter().chain(unread).collect(),
            others,
            _keep: keep,
        })
    }

    /// Returns how it stands with its host, which counts as seen.
    pub(super) fn newest_link(&mut self) -> Link {
        self.link.borrow_and_update().clone()
    }

    /// Asks for the earlier drafts. Nobody needs them for the first frame, and they are read before anything can be added.
    pub(super) fn read_history(&mut self) {
        if let Err(why) = self.files.ask(Job::ReadHistory) {
            self.later.push_back(Message::History(Err(why.to_owned())));
        }
    }

    /// Keeps the draft however the screen ends, if there is something new in it.
    pub(super) fn save_draft(&mut self) {
        if let Some(draft) = self.model.unkept_draft() {
            // The screen goes; there is nobody left to be told.
            let _ = self.files.ask(Job::SaveDraft(draft));
        }
    }

    /// Lets the reader of outputs rest while another fleet is shown, or go on.
    pub(super) fn rest(&self, is_over: bool) {
        let is_hidden = !is_over || self.model.world.panes.tail.is_empty();
        self.tail.ask(view::Request::Hide(is_hidden));
    }
}
