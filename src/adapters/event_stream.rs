//! What the readers of event streams share: texts, tool calls, changed files and the closing word, each within a bound.
//!
//! What may go here: what is kept of a run until its end, and cutting. What may not: the events of one program.

mod errors;
mod reader;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::core::{AgentResult, ExitReason, Fact, StepState};

use super::causes::{self, Named};
use super::changed_files::{ChangedFiles, room};
use super::closing_word::cut_answer;
use super::text::{LINE_CHARS, NAME_CHARS, cut, one_line};
use super::{Ended, ReaderStart};

pub(super) use super::shown::{model, push_text, session, summary, text_of};
pub(super) use errors::{brief, cause_of, error_line, reason_of, unwrap_error};
pub(super) use reader::EventStream;

/// Most of the answer and of the list of files that goes into the notes for a recovery, in bytes each: they are written
/// down again whenever they have changed.
const NOTED_BYTES: usize = 16 * 1024;
/// Calls that are kept while they run and after they have ended, so that one that is told twice counts once.
const CALLS: usize = 128;

/// Calls that go into the notes: the newest of those that run.
const NOTED_CALLS: usize = 16;

/// What is known of a run before its end.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    /// The last text that the agent has said.
    answer: String,
    /// It was cut.
    is_cut: bool,
    /// Pieces of it may follow.
    is_open: bool,
    files: ChangedFiles,
    /// Those of them that are deleted.
    #[serde(default)]
    deleted: ChangedFiles,
    /// Why the last attempt has failed; gone when the work goes on.
    failure: Option<(ExitReason, String)>,
    /// Some event was understood.
    has_events: bool,
    /// The closing word is told, and nothing came after it that takes it back.
    is_over: bool,
    /// All that was said where nothing was an event.
    #[serde(skip)]
    plain: String,
    calls: VecDeque<Call>,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    id: String,
    tool: String,
    text: String,
    /// File that it changes if it ends well.
    file: Option<String>,
    has_ended: bool,
}

impl Told {
    /// Goes on where the reader before has stopped; what cannot be read of its notes is nothing.
    pub(super) fn resume(start: &ReaderStart) -> Self {
        let noted = start.notes.as_deref().and_then(|notes| serde_json::from_str(notes).ok());
        noted.unwrap_or_else(|| Self { is_over: start.seen.result, ..Self::default() })
    }

    /// Returns the notes for a recovery; `None` if there is nothing to note.
    pub(super) fn notes(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        let (answer, is_cut) = cut(self.answer.clone(), NOTED_BYTES);
        // What is known of a call is wanted again when it ends.
        let open = self.calls.iter().rev().filter(|call| !call.has_ended);
        let noted = Self {
            answer,
            is_cut: self.is_cut || is_cut,
            is_open: self.is_open,
            files: self.files.first(room(NOTED_BYTES)),
            deleted: self.deleted.first(room(NOTED_BYTES)),
            failure: self.failure.clone(),
            has_events: self.has_events,
            is_over: self.is_over,
            plain: String::new(),
            calls: open.take(NOTED_CALLS).cloned().collect(),
        };
        serde_json::to_string(&noted).ok()
    }

    /// Some event was understood.
    pub(super) const fn hear(&mut self) {
        self.has_events = true;
    }

    /// Says whether any event was understood.
    pub(super) const fn has_events(&self) -> bool {
        self.has_events
    }

    /// Takes the end of an output without any event: a program that was told to print text says its answer so.
    pub(super) fn take_plain(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        // The beginning of an event that was cut off is none of them.
        if !text.starts_with(['{', '[']) {
            text.clone_into(&mut self.plain);
        }
    }

    /// Takes a whole text of the agent, which may be its last.
    pub(super) fn say(&mut self, text: String, facts: &mut Vec<Fact>) {
        self.close(facts);
        push_text("assistant", &text, facts);
        if !text.trim().is_empty() {
            (self.answer, self.is_cut) = cut_answer(text);
        }
    }

    /// Takes a piece of a text.
    pub(super) fn add(&mut self, piece: &str) {
        if !self.is_open {
            if piece.trim().is_empty() {
                return;
            }
            (self.answer, self.is_cut, self.is_open) = (String::new(), false, true);
        }
        if !self.is_cut {
            let joined = std::mem::take(&mut self.answer) + piece;
            (self.answer, self.is_cut) = cut_answer(joined);
        }
    }

    /// Ends the text that pieces were added to.
    pub(super) fn close(&mut self, facts: &mut Vec<Fact>) {
        if std::mem::take(&mut self.is_open) {
            push_text("assistant", &self.answer, facts);
        }
    }

    /// A tool call begins.
    pub(super) fn begin(&mut self, id: &str, tool: &str, text: String, facts: &mut Vec<Fact>) {
        let id = one_line(id, NAME_CHARS);
        if self.calls.iter().any(|call| call.id == id) {
            return;
        }
        self.close(facts);
        let call =
            Call { id, tool: one_line(tool, NAME_CHARS), text, file: None, has_ended: false };
        facts.push(call.to_fact(StepState::Start));
        self.keep(call);
    }

    /// A tool call ends. Its name and what it does may be empty if its beginning was told. Returns whether it is new that
    /// it has ended.
    pub(super) fn end(
        &mut self,
        id: &str,
        tool: &str,
        text: String,
        has_failed: bool,
        facts: &mut Vec<Fact>,
    ) -> bool {
        let id = one_line(id, NAME_CHARS);
        let state = if has_failed { StepState::Error } else { StepState::End };
        self.close(facts);
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
            if std::mem::replace(&mut call.has_ended, true) {
                return false;
            }
            facts.push(call.to_fact(state));
            if let Some(file) = call.file.take().filter(|_| !has_failed) {
                self.change(file);
            }
        } else {
            let call =
                Call { id, tool: one_line(tool, NAME_CHARS), text, file: None, has_ended: true };
            facts.push(call.to_fact(state));
            self.keep(call);
        }
        self.failure = None;
        true
    }

    /// Returns the tool and the text of a call that has begun.
    pub(super) fn call(&self, id: &str) -> (String, String) {
        let call = self.calls.iter().find(|call| call.id == id);
        call.map_or_else(Default::default, |call| (call.tool.clone(), call.text.clone()))
    }

    /// Takes note of the file that a call changes if it ends well.
    pub(super) fn will_change(&mut self, id: &str, file: Option<String>) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
            call.file = file;
        }
    }

    fn keep(&mut self, call: Call) {
        if self.calls.len() >= CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    /// Takes note of a file that the agent has changed.
    pub(super) fn change(&mut self, file: String) {
        self.deleted.remove(&file);
        self.files.add(file);
    }

    /// Takes note of a file that the agent has deleted.
    pub(super) fn delete(&mut self, file: String) {
        self.files.add(file.clone());
        self.deleted.add(file);
    }

    /// Takes note of why an attempt has failed, which is not the end yet. Returns whether that is new.
    pub(super) fn fail(&mut self, reason: ExitReason, message: &str) -> bool {
        let failure = Some((reason, one_line(message, LINE_CHARS)));
        let is_new = self.failure != failure;
        self.failure = failure;
        is_new
    }

    /// Returns why the last attempt has failed, if the work has not gone on since.
    pub(super) fn failure(&self) -> Option<ExitReason> {
        self.failure.as_ref().map(|(reason, _)| *reason)
    }

    /// The work goes on after what has failed.
    pub(super) fn go_on(&mut self) {
        self.failure = None;
    }

    /// There is more after what looked like the closing word.
    pub(super) const fn reopen(&mut self) {
        self.is_over = false;
    }

    /// Says whether the closing word is told.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Makes the closing word of an agent that has done its work; `reason` may be a limit that cut it short.
    pub(super) fn done(&mut self, reason: ExitReason) -> Fact {
        self.is_over = true;
        self.failure = None;
        Fact::Result(AgentResult {
            completed: Some(true),
            answer: Some(self.answer.clone()),
            reason: Some(reason),
            files_changed: self.files.to_list(),
            files_deleted: self.deleted.to_list(),
            truncated: self.is_cut || reason != ExitReason::Completed,
            ..AgentResult::default()
        })
    }

    /// Makes the closing word of an agent that gave up for a reason.
    pub(super) fn given_up(&mut self, reason: ExitReason, named: Named, message: &str) -> Fact {
        self.is_over = true;
        let failure = causes::failure(reason, named, message);
        // What it said before is its answer only if a limit cut it short.
        let answer = failure.truncated.then(|| self.answer.clone());
        let (files_changed, files_deleted) = (self.files.to_list(), self.deleted.to_list());
        Fact::Result(AgentResult { answer, files_changed, files_deleted, ..failure })
    }

    /// Makes the closing word of an agent whose output has none: why the last attempt failed, else what its standard
    /// error says. `None` if there is one, or if a signal ended it and nothing is known.
    pub(super) fn unfinished(&mut self, named: Named, end: Ended<'_>) -> Option<Fact> {
        if self.is_over {
            return None;
        }
        if let Some((reason, message)) = self.failure.clone() {
            return Some(self.given_up(reason, named, &message));
        }
        if end.code == Some(0) && !self.plain.is_empty() {
            let (answer, truncated) = cut_answer(std::mem::take(&mut self.plain));
            return Some(Fact::Result(AgentResult {
                answer: Some(answer),
                truncated,
                ..AgentResult::default()
            }));
        }
        let message = match end.code? {
            0 => format!(
                "{} ended without its last word, as it does when it is told to end",
                named.program
            ),
            _ => error_line(end.err),
        };
        let reason = causes::by_words(&message).unwrap_or(ExitReason::Error);
        Some(self.given_up(reason, named, &message))
    }
}

impl Call {
    fn to_fact(&self, state: StepState) -> Fact {
        Fact::Step {
            id: Some(self.id.clone()),
            tool: self.tool.clone(),
            text: self.text.clone(),
            state,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
