//! Facts as lines: `HH:MM:SS role     | text`.
//!
//! What may go here: which fact is told how, cleaning and cutting. What may not: files, clocks.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::adapters::{one_line, redact};
use crate::core::{AgentResult, Fact, OpenTool, PendingText, Retry, StepState, TranscriptState};

/// Width of a role (upstream's number); a longer one is cut.
const ROLE: usize = 9;
/// Most characters of a text that are looked at and kept of one that comes in pieces: several times what any line shows,
/// so that a secret that is cut off here is not shown in part (4,000 is upstream's number for pieces).
const LOOKED_AT: usize = 4_000;
/// Most characters of what an agent says, and of its closing word (upstream's number).
const SPEECH: usize = 600;
/// Most characters of what it thinks (upstream's number).
const THOUGHT: usize = 300;
/// Most characters of what a tool is called with (upstream's number).
const CALL: usize = 220;
/// Most characters of what a tool gives back (upstream's number).
const OUTCOME: usize = 400;
/// Most characters of what the agent is told (upstream's number).
pub(super) const TOLD: usize = 500;
/// Tool calls that are known to be open; the end of an older one is told as a call of its own.
const OPEN: usize = 64;

/// Turns facts into lines. Knows what was told before, as far as what comes next depends on it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// A text that comes in pieces.
    pub(super) pending: Option<PendingText>,
    /// A private key was begun and has not ended: programs that tell line by line split one over many texts.
    pub(super) is_in_key: bool,
    /// Calls that have begun, oldest first.
    open: VecDeque<Call>,
    model: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Call {
    id: Option<String>,
    tool: String,
    text: String,
}

impl Lines {
    /// Goes on where another one was: with a text that was not complete, calls that were open and the model that was
    /// told.
    pub(super) fn go_on(
        state: &TranscriptState,
        open: Vec<OpenTool>,
        model: Option<String>,
    ) -> Self {
        let (pending, is_in_key) = (state.pending.clone(), state.is_in_key);
        let open =
            open.into_iter().map(|open| Call { id: open.id, tool: open.tool, text: open.text });
        Self { pending, is_in_key, open: open.collect(), model }
    }

    /// Adds the lines of one fact.
    pub(super) fn tell(&mut self, fact: &Fact, at: &str, lines: &mut String) {
        if !is_between_pieces(fact) {
            self.flush(at, lines);
        }
        match fact {
            Fact::Piece { role, text } => self.piece(role, text, at, lines),
            Fact::Text { role, text } => self.speak(at, role, text, 0, lines),
            Fact::Step { id, tool, text, state } => {
                let call = Call { id: id.clone(), tool: tool.clone(), text: text.clone() };
                if let Some(text) = self.step(call, *state) {
                    line(at, "tool", &text, 0, CALL, lines);
                }
            }
            Fact::Denied { tool, text } => {
                line(at, "denied", &call(tool, "", text), 0, CALL, lines);
            }
            Fact::Retry(again) => line(at, "retry", &retry(again), 0, OUTCOME, lines),
            Fact::Model(model) if self.model.as_ref() != Some(model) => {
                self.model = Some(model.clone());
                line(at, "model", model, 0, CALL, lines);
            }
            Fact::Smoke { ok, text } => {
                let verdict = match ok {
                    Some(true) => "green",
                    Some(false) => "red",
                    None => "nothing to check",
                };
                line(at, "check", &joined(verdict, text), 0, OUTCOME, lines);
            }
            Fact::Session(id) => line(at, "session", id, 0, CALL, lines),
            Fact::Result(result) => close(at, result, lines),
            // Numbers are in the row and in the summary; what was not understood is counted there and stands in `out`.
            Fact::Usage { .. }
            | Fact::TotalCost(_)
            | Fact::UnreadableCost
            | Fact::TotalTokens(_)
            | Fact::SessionTotal(_)
            | Fact::RunTotal(_)
            | Fact::Model(_)
            | Fact::Heard
            | Fact::Notes(_)
            | Fact::Transcript(_)
            | Fact::Unknown
            | Fact::Skipped => {}
        }
    }

    /// Ends a text that came in pieces: it becomes one line.
    pub(super) fn flush(&mut self, at: &str, lines: &mut String) {
        if let Some(PendingText { role, text, left_out }) = self.pending.take() {
            self.speak(at, &role, &text, left_out, lines);
        }
    }

    /// Adds what somebody says, without what goes on with a private key.
    fn speak(&mut self, at: &str, role: &str, text: &str, left_out: u64, lines: &mut String) {
        let mut text = text;
        if self.is_in_key {
            (text, self.is_in_key) = after_key(text);
        }
        self.is_in_key |= ends_in_key(text);
        speak(at, role, text, left_out, lines);
    }

    fn piece(&mut self, role: &str, text: &str, at: &str, lines: &mut String) {
        if self.pending.as_ref().is_some_and(|pending| pending.role != role) {
            self.flush(at, lines);
        }
        let pending = self
            .pending
            .get_or_insert_with(|| PendingText { role: role.to_owned(), ..PendingText::default() });
        let room = LOOKED_AT.saturating_sub(pending.text.chars().count());
        let (kept, left_out) = split(text, room);
        pending.text.push_str(kept);
        pending.left_out = pending.left_out.saturating_add(left_out);
    }

    /// Returns what is told of a call: that it begins, and its end only if that says something new.
    fn step(&mut self, new: Call, state: StepState) -> Option<String> {
        let known = match &new.id {
            Some(_) => self.open.iter().rposition(|open| open.id == new.id),
            None => self.open.iter().rposition(|open| open.tool == new.tool),
        };
        let told_again = known.filter(|_| state != StepState::Start || new.id.is_some());
        let before = told_again.and_then(|place| self.open.remove(place));
        let is_new = |text: &str| {
            let before = before.as_ref().map_or("", |before| before.text.as_str());
            !text.trim().is_empty() && text != before
        };
        match state {
            StepState::Start => {
                let told =
                    (before.is_none() || is_new(&new.text)).then(|| call(&new.tool, "", &new.text));
                if self.open.len() >= OPEN {
                    self.open.pop_front();
                }
                self.open.push_back(new);
                told
            }
            StepState::End if before.is_none() => Some(call(&new.tool, "", &new.text)),
            StepState::End => is_new(&new.text).then(|| call(&new.tool, " done", &new.text)),
            StepState::Error => {
                // The end may name its call by the id alone.
                let named = |new: &String, old: fn(&Call) -> &String| {
                    let old = before.as_ref().map(old).filter(|_| new.trim().is_empty());
                    old.unwrap_or(new).clone()
                };
                let tool = named(&new.tool, |call| &call.tool);
                let text = named(&new.text, |call| &call.text);
                Some(call(&tool, " failed", &text))
            }
        }
    }
}

/// Says whether a text in pieces goes on over a fact: over the next piece, and over what its program did not say.
const fn is_between_pieces(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Piece { .. } | Fact::Notes(_) | Fact::Transcript(_) | Fact::Unknown | Fact::Skipped
    )
}

/// Adds one line; none for a blank text. `left_out` characters follow the text that are not there any more.
pub(super) fn line(
    at: &str,
    role: &str,
    text: &str,
    left_out: u64,
    most: usize,
    lines: &mut String,
) {
    let text = clean(text, left_out, most);
    if !text.is_empty() {
        // Writing to a text cannot fail.
        let _ = writeln!(lines, "{at} {role:<ROLE$}| {text}");
    }
}

/// Returns the text on one line, without secrets, and with the number of characters that are missing.
///
/// Secrets are taken out before anything is cut, so that the cut leaves no half of one; and again from the line, since
/// what is no text may have stood within one.
pub(super) fn clean(text: &str, left_out: u64, most: usize) -> String {
    let (mut head, mut left_out) = match split(text, LOOKED_AT) {
        (head, 0) => (head, left_out),
        (head, more) => (head, left_out.saturating_add(more)),
    };
    if left_out > 0
        && let Some(last) = head.rfind(char::is_whitespace)
    {
        // The last word is not whole, and half a secret looks like none.
        let (whole, rest) = head.split_at_checked(last).unwrap_or((head, ""));
        left_out = left_out.saturating_add(count(rest));
        head = whole;
    }
    let clean = redact(head);
    let line = one_line(&clean, usize::MAX);
    let line = if line == clean { Cow::Borrowed(line.as_str()) } else { redact(&line) };
    let fits = line.char_indices().nth(most).is_none();
    if fits && left_out == 0 {
        return line.into_owned();
    }
    let shown = if fits { &line } else { up_to(&line, most) };
    let rest = line.get(shown.len()..).unwrap_or_default();
    format!("{shown} …(+{} chars)", left_out.saturating_add(count(rest)))
}

/// Returns the longest beginning of at most so many characters that cuts no grapheme.
fn up_to(text: &str, most: usize) -> &str {
    let (mut chars, mut end) = (0, 0);
    for grapheme in text.graphemes(true) {
        chars += grapheme.chars().count();
        if chars > most {
            break;
        }
        end += grapheme.len();
    }
    text.get(..end).unwrap_or_default()
}

/// Returns at most so many characters, and how many more there are.
fn split(text: &str, most: usize) -> (&str, u64) {
    match text.char_indices().nth(most) {
        None => (text, 0),
        Some((end, _)) => {
            let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            (head, count(rest))
        }
    }
}

fn count(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Says whether a private key begins in a text and does not end there.
fn ends_in_key(text: &str) -> bool {
    let (_, block) = text.rsplit_once("-----BEGIN ").unwrap_or_default();
    let (title, rest) = block.split_once("-----").unwrap_or_default();
    title.ends_with("PRIVATE KEY") && !rest.contains("-----END ")
}

/// Returns what follows the lines of a private key that began before, and whether it can still go on.
fn after_key(text: &str) -> (&str, bool) {
    let is_of_key = |line: &str| {
        let is_base_64 =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        ["Proc-Type:", "DEK-Info:"].iter().any(|name| line.starts_with(name))
            || line.bytes().all(is_base_64)
    };
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.trim().starts_with("-----END ") {
            return (after, false);
        }
        if !is_of_key(line.trim()) {
            return (rest, false);
        }
        rest = after;
    }
    (rest, true)
}

/// Adds what somebody says.
fn speak(at: &str, role: &str, text: &str, left_out: u64, lines: &mut String) {
    let role: String = clean_role(role);
    let (role, most) = match role.as_str() {
        "" | "assistant" => ("assistant", SPEECH),
        "think" | "thinking" | "reasoning" => ("thinking", THOUGHT),
        "result" => ("result", OUTCOME),
        "user" => ("user", TOLD),
        // Lines with these words are Fleet's own; an agent must not seem to write one.
        "end" | "fleet" => ("agent", SPEECH),
        other => (other, SPEECH),
    };
    line(at, role, text, left_out, most, lines);
}

/// Returns a role that moves no column.
fn clean_role(role: &str) -> String {
    let role = one_line(&redact(role), usize::MAX);
    role.chars().take(ROLE).map(|char| if char == '|' { '/' } else { char }).collect()
}

/// Adds the closing word.
fn close(at: &str, result: &AgentResult, lines: &mut String) {
    let answer = result.answer.as_deref().unwrap_or_default();
    if !result.error.trim().is_empty() {
        line(at, "final", &joined("failed", &result.error), 0, SPEECH, lines);
    } else if answer.trim().is_empty() {
        let word = match result.completed {
            Some(false) => "not completed",
            Some(true) => "completed, without an answer",
            None => "ended, without an answer",
        };
        line(at, "final", word, 0, SPEECH, lines);
    }
    line(at, "final", answer, 0, SPEECH, lines);
}

fn retry(retry: &Retry) -> String {
    let attempt = match (retry.attempt, retry.most) {
        (Some(attempt), Some(most)) => format!("attempt {attempt} of {most} failed"),
        (Some(attempt), None) => format!("attempt {attempt} failed"),
        (None, _) => "an attempt failed".to_owned(),
    };
    joined(&attempt, &retry.cause)
}

fn call(tool: &str, end: &str, text: &str) -> String {
    let tool = if tool.trim().is_empty() { "a tool" } else { tool };
    joined(&format!("{tool}{end}"), text)
}

fn joined(head: &str, text: &str) -> String {
    if text.trim().is_empty() { head.to_owned() } else { format!("{head}: {text}") }
}
