//! The way of a draft to the host: checks, questions, sending, and what becomes of it when the answer comes.
//!
//! What may go here: when a draft may go, and that it is never lost. What may not: the questions' words and answers.

use super::check::options_of;
use super::text::Text;
use super::{Editor, Mode, attachments, clean, load};
use crate::core::{AgentId, Command, Moment, Status, Task};
use crate::tui::keymap::key_name;
use crate::tui::message::{Asked, Request};
use crate::tui::modal::Modal;
use crate::tui::model::submission;
use crate::tui::session::{Dispatched, Made, Problem};
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{count, one_line};

/// More tasks than this are dispatched only when their count has been confirmed.
const MANY: usize = 20;

/// A draft on its way.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) text: Text,
    /// All of it.
    pub(super) draft: String,
    pub(super) mode: Mode,
    /// The kind that was chosen.
    kind: String,
    /// Tasks in it.
    pub(super) count: usize,
}

/// A question before a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// So many at once?
    Count,
    /// Without a cap?
    Cap,
}

/// What goes to the host once its questions have been answered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// What is typed.
    #[default]
    Draft,
    /// What the command line brought.
    CommandLine,
}

impl Editor {
    /// Says whether the draft that is seen is on its way.
    pub(super) fn is_waiting(&self) -> bool {
        self.sent.is_some() && self.text.is_empty()
    }

    /// Does what Enter does: a line break after `\`, a dispatch, or the change of a queued task.
    pub(super) fn enter(&mut self, world: &World) -> Vec<Wish> {
        if self.is_after_backslash() {
            self.text.delete_before();
            return self.insert("\n");
        }
        if self.is_about_brought() {
            self.asked = None;
            self.source = Source::CommandLine;
            return self.send_brought(None, world);
        }
        if self.sent.is_some() {
            return flash("the draft before is still on its way", Tone::Plain);
        }
        match self.mode {
            Mode::New => {
                self.asked = None;
                self.source = Source::Draft;
                self.go_on(world)
            }
            Mode::Change(id) => self.change(id, world),
        }
    }

    fn is_after_backslash(&self) -> bool {
        let (line, column) = self.text.caret();
        let before = column.checked_sub(1);
        let line = self.text.lines().get(line);
        before.and_then(|before| line?.chars().nth(before)) == Some('\\')
            && self.text.selected().is_none()
    }

    /// Dispatches the draft: the question that was asked last has been answered.
    pub(crate) fn dispatch(&mut self, world: &World) -> Vec<Wish> {
        if world.is_read_only {
            return Vec::new();
        }
        if self.asked == Some(Question::Cap) {
            self.cap_decided = true;
        }
        if self.source == Source::CommandLine {
            return self.send_brought(None, world);
        }
        if self.sent.is_some() || self.mode != Mode::New {
            return Vec::new();
        }
        self.go_on(world)
    }

    /// Dispatches the draft, or opens the next question about it.
    fn go_on(&mut self, world: &World) -> Vec<Wish> {
        if self.text.is_blank() {
            return flash("nothing is typed yet: type a task first", Tone::Plain);
        }
        let draft = self.whole();
        let made = world.maker.make(&draft, &world.options);
        if !made.problems.is_empty() {
            return self.refuse(made.problems);
        }
        if made.tasks.is_empty() {
            return flash("there is no task in this draft", Tone::Warning);
        }
        if let Some(sentence) = world.maker.missing(&made) {
            return self.refuse(vec![Problem { line: None, sentence }]);
        }
        if let Some(question) = self.needed(&made, self.asked, world) {
            return self.question(question, &made, None, world);
        }
        self.asked = None;
        let count = made.tasks.len();
        let request = submission(made, Asked::Dispatch(count));
        self.send(draft, count, world);
        vec![Wish::Ask(request)]
    }

    fn refuse(&mut self, problems: Vec<Problem>) -> Vec<Wish> {
        let sentence = problems.first().map(|problem| one_line(&problem.sentence));
        self.check.set_problems(problems);
        self.view.follows = true;
        flash(&sentence.unwrap_or_default(), Tone::Bad)
    }

    /// Returns the question that has to be answered first, if any, after the one that was.
    pub(super) fn needed(
        &self,
        made: &Made,
        asked: Option<Question>,
        world: &World,
    ) -> Option<Question> {
        // The model says why nothing can be dispatched now. The demonstration costs nothing, whatever it shows.
        if !world.can_ask() || world.is_demo {
            return None;
        }
        if made.tasks.len() > MANY && asked.is_none() {
            return Some(Question::Count);
        }
        let asks_cap = !self.cap_decided
            && made.tasks.iter().any(|task| task.traits.pays)
            && world.snapshot.header.cap.is_none()
            && !world.snapshot.rows.iter().any(|row| row.task.traits.pays);
        asks_cap.then_some(Question::Cap)
    }

    /// Opens a question; it comes by itself if `uninvited` says when.
    pub(super) fn question(
        &mut self,
        question: Question,
        made: &Made,
        uninvited: Option<Moment>,
        world: &World,
    ) -> Vec<Wish> {
        self.asked = Some(question);
        let kind = |is_wanted: fn(&Task) -> bool| {
            let task = made.tasks.iter().find(|task| is_wanted(task));
            task.map(|task| one_line(&task.kind.0)).unwrap_or_default()
        };
        open(match question {
            Question::Count => {
                let number = count(made.tasks.len(), "task");
                let text = format!("dispatch {number} to {}?", kind(|_| true));
                Modal::confirm(text, vec![Wish::Dispatch], uninvited)
            }
            Question::Cap => Modal::first_cap(&kind(|task| task.traits.pays), world, uninvited),
        })
    }

    /// The draft is on its way; what is typed meanwhile is another one.
    fn send(&mut self, draft: String, count: usize, world: &World) {
        let text = std::mem::take(&mut self.text);
        let (mode, kind) = (self.mode, world.options.kind.clone());
        self.sent = Some(Sent { text, draft, mode, kind, count });
        self.check.set_problems(Vec::new());
        self.changed();
    }

    /// Changes a queued task to what is typed.
    fn change(&mut self, id: AgentId, world: &World) -> Vec<Wish> {
        let Some(row) = world.row(id) else {
            return flash(&format!("{id} is not in this fleet"), Tone::Bad);
        };
        if self.text.is_blank() {
            let leave = key_name!(Editor, ToAgents);
            return flash(
                &format!("a task needs a text: type one, or {leave} gives up"),
                Tone::Warning,
            );
        }
        let whole = self.whole();
        match changed_task(&row.task, &whole, world) {
            Err(problems) => self.refuse(problems),
            Ok(task) => {
                self.send(whole, 1, world);
                vec![Wish::Ask(Request::Send(Command::Edit(id, Box::new(task)), Asked::Edit(id)))]
            }
        }
    }

    /// Takes a queued task to be edited, or says why not.
    pub(crate) fn edit_queued(&mut self, id: AgentId, world: &World) -> Result<(), String> {
        let Some(row) = world.row(id).filter(|row| row.status == Status::Queued) else {
            return Err(format!("{id} is not queued any more: only queued tasks can be edited"));
        };
        if world.is_read_only {
            return Err("this fleet has ended: none of its tasks waits any more".to_owned());
        }
        if self.sent.is_some() {
            return Err("what was sent last is still on its way: try again".to_owned());
        }
        if let Mode::Change(other) = self.mode {
            if other == id {
                return Ok(());
            }
            if world.row(other).is_some_and(|row| clean(&row.task.text) != self.whole()) {
                let (save, leave) = (key_name!(Editor, Dispatch), key_name!(Editor, ToAgents));
                return Err(format!(
                    "{other} is being changed in the editor: {save} there changes it, {leave} gives up"
                ));
            }
        }
        self.give_up();
        self.let_go();
        let Some(text) = load(&row.task.text, &mut self.attachments) else {
            return Err(attachments::FULL.to_owned());
        };
        self.aside = Some(std::mem::replace(&mut self.text, text));
        self.mode = Mode::Change(id);
        self.changed();
        Ok(())
    }

    /// Gives the change of a queued task up and takes the draft again.
    pub(crate) fn give_up(&mut self) {
        if let Some(aside) = self.aside.take() {
            self.mode = Mode::New;
            self.text = aside;
            self.changed();
        }
    }

    /// The host took the tasks (or the edit) that were sent last: the draft is history. Refused ones stay.
    pub(crate) fn accepted(&mut self, world: &World) -> Vec<Wish> {
        let Some(sent) = self.sent.take() else { return Vec::new() };
        let mut wishes = Vec::new();
        match sent.mode {
            Mode::New => {
                // Nobody wants the line breaks after a task again.
                let text = sent.draft.trim_end().to_owned();
                let folder = world.folder.to_string_lossy().into_owned();
                let dispatched = Dispatched { text, kind: sent.kind, folder };
                wishes.push(Wish::Ask(Request::AddHistory(dispatched.clone())));
                let unsent = self.history.push(dispatched);
                self.take_back(unsent);
            }
            Mode::Change(_) => {
                self.mode = Mode::New;
                let aside = self.aside.take();
                self.take_back(aside);
            }
        }
        let is_free = self.text.is_empty() && self.aside.is_none() && self.history.is_untouched();
        if is_free {
            self.text = Text::default();
            self.attachments.forget();
        }
        self.changed();
        wishes
    }

    /// Takes a draft that had to wait; what was typed meanwhile comes after it.
    fn take_back(&mut self, text: Option<Text>) {
        let Some(mut text) = text else { return };
        std::mem::swap(&mut self.text, &mut text);
        let meanwhile = self.attachments.expand(text.lines());
        if !meanwhile.trim().is_empty() {
            let separator = if self.text.is_blank() { "" } else { "\n---\n" };
            self.text.go(self.text.end(), false);
            let _ = self.insert(&format!("{separator}{meanwhile}"));
        }
    }

    /// The draft was not taken.
    pub(crate) fn refused(&mut self, _world: &World) {
        let Some(sent) = self.sent.take() else { return };
        match (sent.mode, self.aside.take()) {
            (Mode::Change(_), Some(aside)) => {
                // What was typed meanwhile was no part of that change, which waits where nothing of it is let go.
                let meanwhile = std::mem::replace(&mut self.text, aside);
                self.aside = Some(sent.text);
                self.take_back_after(meanwhile);
                if let Some(change) = &mut self.aside {
                    std::mem::swap(change, &mut self.text);
                }
            }
            (_, aside) => {
                self.aside = aside;
                self.take_back(Some(sent.text));
            }
        }
        self.changed();
    }

    fn take_back_after(&mut self, meanwhile: Text) {
        let draft = std::mem::replace(&mut self.text, meanwhile);
        self.take_back(Some(draft));
    }
}

/// Returns a queued task with another text, checked like a new one.
fn changed_task(task: &Task, text: &str, world: &World) -> Result<Task, Vec<Problem>> {
    let text = clean(text).trim().to_owned();
    let options = options_of(task);
    // A text with lines that separate tasks in a draft stays one task, since it is one row of the queue.
    if world.maker.count(&text, &options) <= 1 {
        let made = world.maker.make(&text, &options);
        if !made.problems.is_empty() {
            return Err(made.problems);
        }
    }
    Ok(Task { text, ..task.clone() })
}

fn flash(text: &str, tone: Tone) -> Vec<Wish> {
    vec![Wish::Flash(text.to_owned(), tone)]
}

fn open(modal: Modal) -> Vec<Wish> {
    vec![Wish::Open(Box::new(modal))]
}
