//! The messages in a stream of claude's shape, which programs that descend from it print as well: blocks of text,
//! calls of tools, and their results.
//!
//! What may go here: what a block of a message means. What may not: usage and ends, which differ between the programs.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::core::{Fact, StepState};

use super::changed_files::{ChangedFiles, room};
use super::closing_word::cut_answer;
use super::json::{self, Fields};
use super::shown::{push_text, summary};
use super::text::{NAME_CHARS, TEXT_BYTES, TOOL_CHARS, one_line};

/// Most blocks of one message that are looked at, so that a hostile list cannot fill the memory.
const BLOCKS: usize = 1000;
/// Calls whose results are waited for; the oldest is given up when there are more.
const OPEN_CALLS: usize = 64;
/// Ids of refused calls that are remembered, so that the end does not tell them again.
const DENIED_IDS: usize = 64;
/// Bytes of paths that are noted for a recovery.
const NOTED_FILES_BYTES: usize = 8 * 1024;

/// Tools that change one file, and the fields of their input that name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Editing {
    /// Names of the tools.
    pub(super) tools: &'static [&'static str],
    /// Names of the fields.
    pub(super) paths: &'static [&'static str],
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The model.
    Model,
    /// Not the model, but its program, which reports an error in the model's name.
    Program,
    /// The person, or what a tool gave.
    User,
}

/// The calls of one agent.
#[derive(Debug)]
pub(super) struct Calls {
    editing: Editing,
    open: VecDeque<Call>,
    denied: VecDeque<String>,
    files: ChangedFiles,
    answer: String,
}

/// A call whose result is waited for.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Call {
    id: String,
    tool: String,
    text: String,
    /// The file that it changes.
    path: Option<String>,
}

/// What a reader notes of its calls.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CallNotes {
    /// Calls that change a file: id and path.
    edits: Vec<(String, String)>,
    denied: Vec<String>,
    files: ChangedFiles,
}

impl Calls {
    /// Goes on from what was noted.
    pub(super) fn new(editing: Editing, notes: CallNotes) -> Self {
        let open = notes.edits.into_iter().map(|(id, path)| Call {
            id,
            tool: String::new(),
            text: String::new(),
            path: Some(path),
        });
        Self {
            editing,
            open: open.collect(),
            denied: notes.denied.into(),
            files: notes.files,
            answer: String::new(),
        }
    }

    /// Returns what is needed to go on.
    pub(super) fn notes(&self) -> CallNotes {
        let mut fits = room(NOTED_FILES_BYTES);
        let edits = self.open.iter().rev().filter_map(|call| {
            let path = call.path.clone().filter(|path| fits(path))?;
            Some((call.id.clone(), path))
        });
        CallNotes {
            edits: edits.collect(),
            denied: self.denied.iter().cloned().collect(),
            files: self.files.first(fits),
        }
    }

    /// Returns the files that calls have changed.
    pub(super) fn files(&self) -> Vec<String> {
        self.files.to_list()
    }

    /// Returns the last text that the model has said.
    pub(super) fn answer(&self) -> Option<String> {
        (!self.answer.is_empty()).then(|| self.answer.clone())
    }

    /// Takes the content of a message.
    pub(super) fn message(&mut self, content: &RawValue, from: From, facts: &mut Vec<Fact>) {
        if let Some(text) = json::text(content) {
            self.say(text, from, facts);
            return;
        }
        json::for_each_item(content, BLOCKS, |block| self.block(block, from, facts));
    }

    fn block(&mut self, block: &RawValue, from: From, facts: &mut Vec<Fact>) {
        let wanted = [
            "type",
            "text",
            "thinking",
            "id",
            "name",
            "input",
            "tool_use_id",
            "content",
            "is_error",
        ];
        let Some(mut fields) = Fields::of(block, &wanted) else { return };
        match fields.text("type").as_deref() {
            Some("text") => {
                if let Some(text) = fields.text("text") {
                    self.say(text, from, facts);
                }
            }
            Some("thinking") => {
                push_text("thinking", &fields.text("thinking").unwrap_or_default(), facts);
            }
            Some("tool_use") if from == From::Model => self.begin(&mut fields, facts),
            Some("tool_result") => self.end(&mut fields, facts),
            _ => {}
        }
    }

    fn say(&mut self, text: String, from: From, facts: &mut Vec<Fact>) {
        if text.trim().is_empty() {
            return;
        }
        let role = match from {
            From::Model => "assistant",
            From::Program => "error",
            From::User => "user",
        };
        push_text(role, &text, facts);
        if from == From::Model {
            self.answer = cut_answer(text).0;
        }
    }

    /// Takes a call that begins.
    fn begin(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let id = fields.text("id").map(|id| one_line(&id, NAME_CHARS));
        let tool = one_line(&fields.text("name").unwrap_or_default(), TOOL_CHARS);
        let input = fields.raw("input");
        let text = summary(input.as_deref());
        if let Some(id) = &id {
            let path = input.as_deref().and_then(|input| self.edited(&tool, input));
            self.open.retain(|call| call.id != *id);
            if self.open.len() >= OPEN_CALLS {
                self.open.pop_front();
            }
            self.open.push_back(Call {
                id: id.clone(),
                tool: tool.clone(),
                text: text.clone(),
                path,
            });
        }
        facts.push(Fact::Step { id, tool, text, state: StepState::Start });
    }

    /// Takes the result of a call. Results come in the order in which the calls end.
    fn end(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let id = fields.text("tool_use_id").map(|id| one_line(&id, NAME_CHARS));
        let is_error = fields.flag("is_error") == Some(true);
        let place = self.open.iter().position(|call| Some(&call.id) == id.as_ref());
        let call = place.and_then(|place| self.open.remove(place));
        let (tool, text, path) =
            call.map(|call| (call.tool, call.text, call.path)).unwrap_or_default();
        let state = if is_error { StepState::Error } else { StepState::End };
        facts.push(Fact::Step { id, tool, text, state });
        if let Some(path) = path.filter(|_| !is_error) {
            self.files.add(path);
        }
        let output = fields.raw("content").map(|content| result_text(&content));
        push_text("result", &output.unwrap_or_default(), facts);
    }

    /// Returns the file that a call changes.
    fn edited(&self, tool: &str, input: &RawValue) -> Option<String> {
        if !self.editing.tools.contains(&tool) {
            return None;
        }
        let mut fields = Fields::of(input, self.editing.paths)?;
        self.editing.paths.iter().find_map(|path| fields.text(path))
    }

    /// Takes a call that was not permitted; each is told once, by its id.
    pub(super) fn deny(
        &mut self,
        id: Option<&str>,
        tool: &str,
        text: String,
        facts: &mut Vec<Fact>,
    ) {
        let id = id.map(|id| one_line(id, NAME_CHARS));
        let call = self.open.iter().find(|call| Some(&call.id) == id.as_ref());
        let text =
            call.map(|call| call.text.clone()).filter(|text| !text.is_empty()).unwrap_or(text);
        if let Some(id) = id {
            if self.denied.contains(&id) {
                return;
            }
            if self.denied.len() >= DENIED_IDS {
                self.denied.pop_front();
            }
            self.denied.push_back(id);
        }
        facts.push(Fact::Denied { tool: one_line(tool, TOOL_CHARS), text });
    }

    /// Takes the list of refused calls that the end of a run tells.
    pub(super) fn deny_all(&mut self, list: &RawValue, facts: &mut Vec<Fact>) {
        json::for_each_item(list, DENIED_IDS, |item| {
            let wanted = ["tool_name", "tool_use_id", "tool_input"];
            let Some(mut fields) = Fields::of(item, &wanted) else { return };
            let text = summary(fields.raw("tool_input").as_deref());
            let tool = fields.text("tool_name").unwrap_or_default();
            self.deny(fields.text("tool_use_id").as_deref(), &tool, text, facts);
        });
    }
}

/// Returns what a tool gave: a text, or the texts of a list.
fn result_text(content: &RawValue) -> String {
    if let Some(text) = json::text(content) {
        return text;
    }
    let mut joined = String::new();
    json::for_each_item(content, BLOCKS, |block| {
        let text = Fields::of(block, &["text"]).and_then(|mut fields| fields.text("text"));
        if let Some(text) = text.filter(|_| joined.len() < TEXT_BYTES) {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(&text);
        }
    });
    joined
}
