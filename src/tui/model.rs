//! The screen as a value: what happened goes in, what it wants done comes out.
//!
//! What may go here: which pane or modal hears of what, granting of their wishes. What may not: I/O, clocks, drawing;
//! what a single pane does with a key.

mod absence;
mod alert;
mod fleets;
mod grant;
mod hearing;
mod keys;
mod leaving;
mod mouse;
mod pending;
mod remarks;
mod replay;
mod replies;
mod telling;

use std::sync::Arc;

use self::absence::Absence;
pub(super) use self::grant::submission;
use self::remarks::{all_ended, ended_meanwhile, linked_again};
use super::agents::Agents;
use super::editor::Editor;
use super::flash::Flash;
use super::handover::HandedFile;
use super::keymap::{Action, Place};
use super::layout::{self, Divider, Focus, Shares, Wanted};
use super::message::{Message, Request};
use super::modal::Modal;
use super::session::{Kept, Link, Session};
use super::tail_pane::TailPane;
use super::theme::{Theme, Tone};
use super::wish::Wish;
use super::world::{Connection, World};
use crate::core::{Moment, QuestionId, Snapshot};
use crate::words::notice_line::{Alerts, HeardUpTo};

/// The screen.
pub(super) struct Model {
    pub(super) world: World,
    pub(super) editor: Editor,
    pub(super) agents: Agents,
    pub(super) tail: TailPane,
    pub(super) modal: Option<Modal>,
    pub(super) flash: Option<Flash>,
    size: (u16, u16),
    shares: Shares,
    is_zoomed: bool,
    dragging: Option<Divider>,
    mouse: bool,
    /// Whether the terminal's window has the focus; `None` as long as the terminal has not said so.
    has_focus: Option<bool>,
    /// Connections that there were, with the one that there is.
    connections: u64,
    /// Tasks that were sent and not answered.
    pending: Vec<pending::Pending>,
    /// Whether the host says anything.
    hearing: hearing::Hearing,
    /// The time in which no screen was there, before this one.
    absence: Option<Absence>,
    /// Process of the host of the last connection, if that is known.
    host: Option<u32>,
    /// Everything is being stopped, and the screen ends when that is seen to be so.
    is_leaving: bool,
    /// A cap question that the person has put off by going back to the editor.
    seen_question: Option<QuestionId>,
    was_all_done: bool,
    /// What the terminal does for notices, and which of them it has done that for.
    alerts: Alerts,
    heard: HeardUpTo,
    /// What was asked to end by the last key, and what was said when the last agent had: neither may hide the other.
    ending: Option<String>,
    end_remark: Option<String>,
    /// Change of the draft that was kept last, and when it has to be kept again.
    kept: u64,
    keep_at: Option<Moment>,
    /// The run once more, and the key that asked for it.
    replaying: Option<Box<replay::Replaying>>,
    wanted_replay: Option<Action>,
    is_stale: bool,
}

impl Model {
    /// Makes the screen of a session, with what was kept of the last time.
    pub(super) fn new(
        session: Session,
        theme: Theme,
        zone: jiff::tz::TimeZone,
        now: Moment,
        size: (u16, u16),
        kept: Kept,
    ) -> Self {
        let focus = if session.is_read_only { Focus::Agents } else { Focus::Editor };
        let Kept { draft, shares } = kept;
        let panes = layout::panes(Wanted { size, focus, is_zoomed: false, editor_rows: 1, shares });
        let world = World {
            snapshot: Arc::new(Snapshot::empty(session.dir.id().clone(), now)),
            connection: Connection::Waiting("connecting".to_owned()),
            now,
            theme,
            panes,
            focus,
            dir: session.dir,
            folder: session.folder,
            maker: session.maker,
            options: session.options,
            is_read_only: session.is_read_only,
            is_demo: session.is_demo,
            replay: None,
            has_others: session.others.is_some(),
            came_from: session.came_from,
            zone,
        };
        let mut model = Self {
            world,
            editor: Editor::new(&draft, session.history.is_some()),
            agents: Agents::default(),
            tail: TailPane::default(),
            modal: None,
            flash: None,
            size,
            shares,
            is_zoomed: false,
            dragging: None,
            mouse: session.mouse,
            has_focus: None,
            connections: 0,
            pending: Vec::new(),
            hearing: hearing::Hearing::default(),
            absence: None,
            host: None,
            is_leaving: false,
            seen_question: None,
            was_all_done: true,
            alerts: session.alerts,
            heard: HeardUpTo::default(),
            ending: None,
            end_remark: None,
            kept: 0,
            keep_at: None,
            replaying: None,
            wanted_replay: None,
            is_stale: true,
        };
        if let Some(first) = session.first {
            let runs_again = model.world.came_from.is_some();
            model.editor.bring(first, runs_again);
        }
        model.kept = model.editor.revision();
        model.tell_way_back();
        model.divide();
        model
    }

    /// Takes what happened; returns what is to be done, in order.
    pub(super) fn update(&mut self, now: Moment, message: Message) -> Vec<Request> {
        if let Message::Focus(has_focus) = message {
            // It decides about the bell alone: nothing on the screen changes.
            self.has_focus = Some(has_focus);
            return Vec::new();
        }
        self.listen(now, &message);
        self.world.now = self.world.now.max(now);
        self.play_on();
        self.is_stale = true;
        let mut requests = match message {
            Message::Key(key) => self.key(key),
            Message::Paste(text) => self.paste(&text),
            Message::Mouse(event) => self.mouse(event),
            Message::Resize(columns, rows) => {
                self.size = (columns, rows);
                Vec::new()
            }
            Message::Link(link) => self.link(link),
            Message::Snapshot(snapshot) => self.snapshot(snapshot),
            Message::Replied(asked, reply) => self.replied(&asked, reply),
            Message::Page(page) => {
                self.tail.page(page);
                Vec::new()
            }
            Message::Details(id, facts) => {
                if let Some(modal) = &mut self.modal {
                    modal.facts(id, &facts);
                }
                Vec::new()
            }
            Message::History(read) => self.history(read),
            Message::Fleets(news) => self.fleets(news),
            Message::Bring(made) => {
                self.editor.bring(*made, true);
                Vec::new()
            }
            Message::Told(text, went_well) => {
                self.tell(text, if went_well { Tone::Plain } else { Tone::Bad });
                Vec::new()
            }
            // What was typed while the copy was made belongs into it.
            Message::Handed(handed) => vec![match &handed.file {
                HandedFile::Draft(_, draft) if *draft != self.editor.whole() => {
                    Request::EditDraft(self.editor.whole())
                }
                _ => Request::HandOver(handed),
            }],
            Message::Draft(text) => {
                let wishes = self.editor.set_draft(&text, &self.world);
                self.focus(Focus::Editor);
                let mut requests = Vec::new();
                self.grant(wishes, &mut requests);
                requests
            }
            Message::Focus(_) | Message::Wake => Vec::new(),
        };
        self.notice_silence();
        self.settle(&mut requests);
        self.note_asks(&requests);
        if requests.iter().any(|it| matches!(it, Request::HandOver(_) | Request::Suspend)) {
            // What happens to the focus meanwhile is told to somebody else.
            self.has_focus = None;
        }
        requests
    }

    /// Says whether the screen has to be drawn again.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The screen has been drawn as it is now.
    pub(super) fn drawn(&mut self) {
        self.is_stale = false;
        if let Some(modal) = &mut self.modal {
            modal.drawn();
        }
    }

    /// Returns when something changes by itself, if anything does.
    pub(super) fn wake_at(&self) -> Option<Moment> {
        [
            self.flash.as_ref().map(|flash| flash.until),
            self.modal.as_ref().and_then(Modal::deaf_until),
            self.keep_at,
            self.editor.wake_at(),
            self.next_moment(),
            self.owes_a_sign().then(|| self.next_second()),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Where a key is looked up now.
    pub(super) fn place(&self) -> Place {
        match (&self.modal, self.world.focus) {
            (Some(modal), _) => modal.place(),
            (None, Focus::Editor) => Place::Editor,
            (None, Focus::Agents) => self.agents.place(),
            (None, Focus::Tail) => self.tail.place(),
        }
    }

    /// Brings everything in line after a change.
    fn settle(&mut self, requests: &mut Vec<Request>) {
        let now = self.world.now;
        if self.flash.as_ref().is_some_and(|flash| flash.until <= now) {
            self.flash = None;
        }
        self.divide();
        self.offer_brought(requests);
        self.editor.refresh(&self.world);
        self.agents.refresh(&self.world);
        self.tail.show(self.agents.selected());
        let wishes = self.tail.refresh(&self.world);
        let of_modal = self.modal.as_mut().map(|modal| modal.refresh(&self.world));
        self.grant(wishes, requests);
        self.grant(of_modal.unwrap_or_default(), requests);
        self.ask_about_cap();
        self.keep_draft(requests);
        self.leave_when_stopped(requests);
    }

    /// Divides the screen again.
    fn divide(&mut self) {
        let width = self.size.0.saturating_sub(2);
        self.editor.prepare(width, &self.world);
        self.world.panes = layout::panes(Wanted {
            size: self.size,
            focus: self.world.focus,
            is_zoomed: self.is_zoomed,
            editor_rows: self.editor.rows(width),
            shares: self.shares,
        });
    }

    fn link(&mut self, link: Link) -> Vec<Request> {
        self.world.connection = match link {
            Link::Waiting(what) => Connection::Waiting(what),
            Link::Failed(why) => {
                self.give_up_lost();
                Connection::Failed(why)
            }
            Link::Up { handle, away_since } => {
                let now = self.world.now;
                self.absence = away_since.map(|since| Absence::new(since, now));
                let before = std::mem::replace(&mut self.host, handle.host());
                if self.connections > 0 {
                    let is_same = before.is_some() && before == self.host;
                    let text = linked_again(is_same, &handle.snapshot());
                    self.flash(text.to_owned(), Tone::Warning);
                }
                let snapshot = handle.snapshot();
                self.join(&snapshot.header);
                let mut requests = self.snapshot(snapshot);
                self.world.connection = Connection::Up;
                self.connections += 1;
                requests.extend(self.send_lost());
                return requests;
            }
        };
        Vec::new()
    }

    fn snapshot(&mut self, snapshot: Arc<Snapshot>) -> Vec<Request> {
        let requests = self.alert(&snapshot.header);
        let Some(snapshot) = self.behind_replay(snapshot) else { return requests };
        let before = std::mem::replace(&mut self.world.snapshot, snapshot);
        self.say_trouble(&before);
        let snapshot = &self.world.snapshot;
        let all_done = snapshot.header.all_done;
        if let Some(ended) = self.absence.as_mut().and_then(|it| it.news(snapshot)) {
            self.flash(ended_meanwhile(ended), Tone::Strong);
        } else if all_done && !self.was_all_done && !snapshot.rows.is_empty() {
            let text = all_ended(snapshot.rows.len());
            // The remark about what led to it has not been read yet, nor that something went wrong.
            let shown = self.flash.as_ref().filter(|flash| flash.until > self.world.now);
            let refused = shown.filter(|flash| flash.tone == Tone::Bad).map(|it| it.text.clone());
            let asked = self.ending.take().filter(|_| shown.is_some());
            let tone = if refused.is_some() { Tone::Bad } else { Tone::Strong };
            let before = refused.or(asked);
            let text = before.map_or(text.clone(), |before| format!("{before} · {text}"));
            self.end_remark = Some(text.clone());
            self.flash(text, tone);
        }
        self.was_all_done = all_done;
        requests
    }

    /// Opens the cap question as soon as nobody is typing.
    fn ask_about_cap(&mut self) {
        let Some(question) = &self.world.snapshot.question else {
            self.seen_question = None;
            return;
        };
        if self.modal.as_ref().is_some_and(Modal::is_cap) {
            self.seen_question = Some(question.id);
        }
        let is_new = self.seen_question != Some(question.id);
        let is_typing = self.world.focus == Focus::Editor;
        if is_new && !is_typing && self.modal.is_none() && self.world.can_ask() && !self.is_leaving
        {
            self.seen_question = Some(question.id);
            self.modal = Some(Modal::cap(&self.world, Some(self.world.now)));
        }
    }

    fn wishes_of_modal(&mut self, ask: impl FnOnce(&mut Modal, &World) -> Vec<Wish>) -> Vec<Wish> {
        self.modal.as_mut().map(|modal| ask(modal, &self.world)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
