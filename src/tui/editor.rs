//! The task editor: a draft of one or many tasks, or a queued task that is changed.
//!
//! What may go here: keys, pastes and the mouse as edits of the draft. What may not: what makes a task good, how it is
//! queued; the task maker and the host know that.

mod attachments;
mod brought;
mod check;
mod dispatch;
mod draw;
mod hint;
mod history;
mod moves;
mod room;
mod text;
mod wrap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::attachments::Attachments;
use self::brought::Brought;
use self::check::Check;
use self::dispatch::Sent;
use self::history::{Here, History};
use self::text::Text;
use self::wrap::Wrapped;
use super::keymap::Action;
use super::message::Request;
use super::session::{Dispatched, KindInfo};
use super::theme::Tone;
use super::wish::Wish;
use super::world::World;
use crate::core::{AgentId, Moment};
use crate::words::plain_text;

/// What is said when nothing more can be typed.
const TOO_LONG: &str = "the draft is full: dispatch it, or put the text into a file and paste that";

/// Bytes of a draft at most: what is typed, and the long texts beside it. More is neither kept nor read back.
pub(super) const MOST_DRAFT: usize = attachments::MOST_BYTES + text::MOST_BYTES;

/// What Enter does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It queues the tasks of the draft.
    #[default]
    New,
    /// It changes a queued task.
    Change(AgentId),
}

/// Where the text is on the screen.
#[derive(Debug, Default)]
struct View {
    wrapped: Wrapped,
    /// The row of the text that is on top.
    top: usize,
    /// Rows of the text that are seen.
    height: usize,
    /// The caret is kept in sight; the wheel ends that until the next key.
    follows: bool,
    /// Cell that moves up and down try to keep.
    goal: Option<usize>,
    /// What stands in an empty draft.
    hint: Vec<String>,
    /// What is wrong, in rows.
    problem: Vec<String>,
}

/// The task editor.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    text: Text,
    attachments: Attachments,
    history: History,
    mode: Mode,
    /// The draft, while a queued task is changed.
    aside: Option<Text>,
    /// The draft that the host has not answered for.
    sent: Option<Sent>,
    check: Check,
    view: View,
    kinds: Vec<KindInfo>,
    revision: u64,
    /// Tasks of the command line, or of an earlier fleet, that no host has.
    brought: Option<Brought>,
    /// They are those of an earlier fleet.
    runs_again: bool,
    /// The question that was asked last before a dispatch, and what it was about.
    asked: Option<dispatch::Question>,
    source: dispatch::Source,
    /// The person has decided about a cap for this fleet.
    cap_decided: bool,
}

impl Editor {
    /// Makes the editor with the draft of the last time; drafts that were dispatched then may come.
    pub(crate) fn new(draft: &str, awaits_history: bool) -> Self {
        let mut editor = Self { history: History::new(awaits_history), ..Self::default() };
        if let Some(text) = load(draft, &mut editor.attachments) {
            editor.text = text;
        }
        editor.view.follows = true;
        editor.check.touch();
        editor
    }

    /// Takes drafts that earlier screens dispatched, the oldest first.
    pub(crate) fn take_history(&mut self, earlier: Vec<Dispatched>) {
        self.history.take_earlier(earlier);
    }

    /// Does what a key means.
    pub(crate) fn act(&mut self, action: Action, _key: KeyEvent, world: &World) -> Vec<Wish> {
        if world.is_read_only {
            return Vec::new();
        }
        match action {
            Action::Dispatch => return self.enter(world),
            Action::NewLine => return self.insert("\n"),
            Action::Undo => {
                let undone = self.text.undo();
                if !undone && self.mode == Mode::New && self.history.entry().is_some() {
                    // What was done last is that an earlier draft was looked at.
                    return self.recall(false, world);
                }
                return self.changed_or(undone, "nothing to undo");
            }
            Action::Redo => {
                let redone = self.text.redo();
                return self.changed_or(redone, "nothing to redo");
            }
            Action::HistoryBack => return self.recall(true, world),
            Action::HistoryForward => return self.recall(false, world),
            Action::ExternalEditor => return vec![Wish::Ask(Request::EditDraft(self.whole()))],
            Action::WordLeft => {
                let place = self.text.word_before();
                self.go(place, false);
            }
            Action::WordRight => {
                let place = self.text.word_after();
                self.go(place, false);
            }
            Action::LineHead => self.go((self.text.caret().0, 0), false),
            Action::LineEnd => self.go(self.text.line_end(), false),
            Action::DeleteWord if self.text.delete_word() => self.changed(),
            _ => {}
        }
        Vec::new()
    }

    /// Types a key that means nothing else.
    pub(crate) fn key(&mut self, key: KeyEvent, world: &World) -> Vec<Wish> {
        if world.is_read_only {
            return Vec::new();
        }
        let selects = key.modifiers.contains(KeyModifiers::SHIFT);
        let jumps = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = isize::try_from(self.view.height.max(1)).unwrap_or(1);
        match key.code {
            KeyCode::Char(character)
                if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                return self.type_character(character);
            }
            KeyCode::Backspace if self.text.delete_before() => self.changed(),
            KeyCode::Delete if self.text.delete_after() => self.changed(),
            KeyCode::Left => match self.text.selected() {
                Some((start, _)) if !selects => self.go(start, false),
                _ => self.go(self.text.before().unwrap_or_default(), selects),
            },
            KeyCode::Right => match self.text.selected() {
                Some((_, end)) if !selects => self.go(end, false),
                _ => self.go(self.text.after().unwrap_or(self.text.end()), selects),
            },
            KeyCode::Up => return self.up(selects, world),
            KeyCode::Down => return self.down(selects, world),
            KeyCode::PageUp => self.rows_down(-page, selects),
            KeyCode::PageDown => self.rows_down(page, selects),
            KeyCode::Home if jumps => self.go((0, 0), selects),
            KeyCode::End if jumps => self.go(self.text.end(), selects),
            KeyCode::Home => self.go((self.text.caret().0, 0), selects),
            KeyCode::End => self.go(self.text.line_end(), selects),
            _ => {}
        }
        Vec::new()
    }

    /// Inserts pasted text.
    pub(crate) fn paste(&mut self, text: &str, world: &World) -> Vec<Wish> {
        if world.is_read_only { Vec::new() } else { self.insert(text) }
    }

    fn type_character(&mut self, character: char) -> Vec<Wish> {
        let text = character.to_string();
        if Attachments::is_due(&text) || clean(&text) != text {
            return self.insert(&text);
        }
        if self.is_full(text.len()) || !self.text.type_character(character) {
            return vec![Wish::Flash(TOO_LONG.to_owned(), Tone::Warning)];
        }
        self.changed();
        Vec::new()
    }

    /// Inserts a text, or what stands for it if it is long.
    fn insert(&mut self, text: &str) -> Vec<Wish> {
        let text = clean(text);
        let is_long =
            Attachments::is_due(&text) || self.text.bytes() + text.len() > text::MOST_BYTES;
        let shown = match is_long.then(|| self.keep(text.clone())) {
            None => text,
            Some(Some(mark)) => mark.to_string(),
            Some(None) => {
                return vec![Wish::Flash(attachments::FULL.to_owned(), Tone::Warning)];
            }
        };
        let is_full = !is_long && self.is_full(shown.len());
        if is_full || !self.text.insert(&shown) {
            return vec![Wish::Flash(TOO_LONG.to_owned(), Tone::Warning)];
        }
        self.changed();
        Vec::new()
    }

    fn changed(&mut self) {
        self.revision += 1;
        self.check.touch();
        self.view.follows = true;
        self.view.goal = None;
    }

    fn changed_or(&mut self, has_changed: bool, otherwise: &str) -> Vec<Wish> {
        if !has_changed {
            return vec![Wish::Flash(otherwise.to_owned(), Tone::Plain)];
        }
        self.changed();
        Vec::new()
    }

    /// Shows an earlier or a later draft.
    fn recall(&mut self, is_back: bool, world: &World) -> Vec<Wish> {
        if self.mode != Mode::New {
            return Vec::new();
        }
        self.let_go();
        let attachments = &mut self.attachments;
        let folder = world.folder.to_string_lossy();
        let here = Here { folder: &folder, kind: &world.options.kind };
        if !self.history.go(is_back, here, &mut self.text, |draft| load(draft, attachments)) {
            let why = match is_back {
                true if self.history.is_awaited() => "earlier drafts are still being read",
                true => "no earlier draft",
                false => "no later draft",
            };
            return vec![Wish::Flash(why.to_owned(), Tone::Plain)];
        }
        self.changed();
        Vec::new()
    }

    /// Returns all that is typed and pasted.
    pub(crate) fn whole(&self) -> String {
        self.attachments.expand(self.text.lines())
    }

    /// The draft, for keeping: of one that was only recalled there is a copy already, the unsent one has none.
    pub(crate) fn draft(&self) -> String {
        if let (Some(sent), true) = (&self.sent, self.text.is_empty()) {
            return sent.draft.clone();
        }
        let whole = self.whole();
        let text = match (&self.aside, self.history.unsent()) {
            (Some(aside), _) => aside,
            (None, Some(unsent)) if self.history.entry() == Some(&whole) => unsent,
            (None, _) => return whole,
        };
        self.attachments.expand(text.lines())
    }

    /// Grows with each change of the draft.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns when something changes by itself: what was typed last is checked.
    pub(crate) fn wake_at(&self) -> Option<Moment> {
        self.check.due()
    }

    /// Rows that the draft needs at a width, without border.
    pub(crate) fn rows(&self, _width: u16) -> u16 {
        let text = self.view.wrapped.height().max(self.view.hint.len()).max(1);
        u16::try_from(text + self.view.problem.len()).unwrap_or(u16::MAX)
    }
}

/// Returns a text as a new draft, the caret at its end.
fn load(draft: &str, attachments: &mut Attachments) -> Option<Text> {
    let draft = clean(draft);
    if Attachments::is_due(&draft) || draft.len() > text::MOST_BYTES {
        return attachments.keep(draft, MOST_DRAFT).map(|mark| Text::new(&mark.to_string()));
    }
    Some(Text::new(&draft))
}

/// Returns the text without what steers terminals; tabs stay.
fn clean(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(plain_text::lines).collect();
    parts.join("\t")
}

#[cfg(test)]
mod tests;
