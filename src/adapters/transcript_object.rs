//! The object that `ygg loki do --json` prints last, and that any command may print: found, and turned into facts.
//!
//! What may go here: upstream's shape (A9). What may not: files, rules about outcomes.

use serde_json::value::RawValue;

use crate::core::{AgentResult, Fact, NanoUsd, StepState, Usage};

use super::closing_word;
use super::json::{self, Fields};
use super::object_search::{Begin, find_last};
use super::text::{STEP_CHARS, TOOL_CHARS, one_line};
use super::{Closing, Seen};

/// Fields of the object beside those of the closing word; `token` is only looked at where one is demanded.
const OWN_FIELDS: [&str; 3] = ["steps", "usage", "token"];
/// Most steps that are counted, so that a hostile list cannot fill the memory.
const STEPS: usize = 100_000;

/// Which objects are taken for a transcript.
#[derive(Debug, Clone, Copy)]
pub(super) enum Strictness<'a> {
    /// The program prints nothing else: an object at the beginning of a line; if none has the whole shape, one with any
    /// part of it.
    Own,
    /// Any program: the whole shape only, and the token if one is demanded.
    Other(Option<&'a str>),
}

/// A transcript and the place behind it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) transcript: Transcript,
    pub(super) end: usize,
}

/// What a transcript tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Transcript {
    steps: Vec<Step>,
    tokens: Option<Usage>,
    cost: Option<NanoUsd>,
    result: AgentResult,
}

#[derive(Debug, PartialEq, Eq)]
struct Step {
    tool: String,
    text: String,
    smoke: Option<Smoke>,
}

#[derive(Debug, PartialEq, Eq)]
struct Smoke {
    ok: Option<bool>,
    text: String,
}

/// Finds the last transcript.
pub(super) fn find(closing: Closing<'_>, strictness: Strictness<'_>) -> Option<Found> {
    let (begin, token) = match strictness {
        Strictness::Own => (Begin::Line, None),
        // Without the beginning of the output, an object inside another one could pass for a whole one.
        Strictness::Other(token) if closing.is_whole => (Begin::Anywhere, token),
        Strictness::Other(token) => (Begin::Line, token),
    };
    let find = |shape: fn(&mut Fields<'_>) -> bool| {
        find_last(closing.bytes, begin, |object| Transcript::read(object, token, shape))
    };
    let found = find(has_whole_shape).or_else(|| match strictness {
        Strictness::Own => find(has_any_part),
        Strictness::Other(_) => None,
    });
    found.map(|(range, transcript)| Found { transcript, end: range.end })
}

/// Says whether the whole text is JSON but no object: an agent that should print a transcript printed something else.
pub(super) fn is_other_json(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii();
    !text.starts_with(b"{") && serde_json::from_slice::<&RawValue>(text).is_ok()
}

/// Says whether the object has `completed` as a yes or no, and one of `answer`, `steps`, `usage`.
fn has_whole_shape(fields: &mut Fields<'_>) -> bool {
    has_part(fields) && fields.is_flag("completed")
}

fn has_any_part(fields: &mut Fields<'_>) -> bool {
    has_part(fields) || fields.has("completed")
}

fn has_part(fields: &Fields<'_>) -> bool {
    ["answer", "steps", "usage"].iter().any(|part| fields.has(part))
}

impl Transcript {
    fn read(
        object: &[u8],
        token: Option<&str>,
        has_shape: impl Fn(&mut Fields<'_>) -> bool,
    ) -> Option<Self> {
        let wanted: Vec<_> = closing_word::FIELDS.into_iter().chain(OWN_FIELDS).collect();
        let mut fields = Fields::parse(object, &wanted)?;
        if !has_shape(&mut fields)
            || token.is_some_and(|token| fields.text("token").as_deref() != Some(token))
        {
            return None;
        }
        let steps = take_steps(&mut fields);
        let (tokens, cost) = take_usage(&mut fields);
        let result = closing_word::take(&mut fields);
        Some(Self { steps, tokens, cost, result })
    }

    /// Adds what the transcript tells and the lines before it have not told.
    pub(super) fn push_facts(self, seen: Seen, facts: &mut Vec<Fact>) {
        for step in self.steps {
            if !seen.steps {
                facts.push(Fact::Step {
                    id: None,
                    tool: step.tool,
                    text: step.text,
                    state: StepState::End,
                });
            }
            if let Some(smoke) = step.smoke
                && !seen.smokes
            {
                facts.push(Fact::Smoke { ok: smoke.ok, text: smoke.text });
            }
        }
        facts.extend(self.tokens.map(Fact::TotalTokens));
        facts.extend(self.cost.map(Fact::TotalCost));
        facts.push(Fact::Result(self.result));
    }
}

fn take_steps(fields: &mut Fields<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    if fields.is_null("steps") {
        fields.flaw();
    }
    let Some(raw) = fields.raw("steps") else { return steps };
    if json::for_each_item(&raw, STEPS, |item| steps.push(read_step(item))) != Some(true) {
        fields.flaw();
    }
    steps
}

/// Reads one item of the list. Each counts as a step, whatever it is.
fn read_step(item: &RawValue) -> Step {
    let wanted = ["tool", "thought", "observation"];
    let Some(mut fields) = Fields::of(item, &wanted) else {
        return Step { tool: String::new(), text: String::new(), smoke: None };
    };
    let tool = fields.text("tool").unwrap_or_default();
    let observation = fields.text("observation").unwrap_or_default();
    let smoke = (tool == "smoke").then(|| Smoke {
        ok: smoke_colour(&observation),
        text: one_line(&observation, STEP_CHARS),
    });
    Step {
        tool: one_line(&tool, TOOL_CHARS),
        text: one_line(&fields.text("thought").unwrap_or_default(), STEP_CHARS),
        smoke,
    }
}

/// Green only if the observation *starts* with `exit=0`; nothing to test is neither; all else is red.
fn smoke_colour(observation: &str) -> Option<bool> {
    if let Some(rest) = observation.strip_prefix("exit=0") {
        return Some(!rest.starts_with(|char: char| char.is_ascii_digit()));
    }
    let is_nothing = observation.trim_start_matches('(').starts_with("nothing to smoke-test");
    (!is_nothing).then_some(false)
}

/// Returns tokens and cost. The total, where it is told, is what the numbers add up to.
fn take_usage(fields: &mut Fields<'_>) -> (Option<Usage>, Option<NanoUsd>) {
    if fields.is_null("usage") {
        fields.flaw();
    }
    let Some(raw) = fields.raw("usage") else { return (None, None) };
    let wanted = ["input_tokens", "output_tokens", "total_tokens", "cost_usd"];
    let Some(mut usage) = Fields::of(&raw, &wanted) else {
        fields.flaw();
        return (None, None);
    };
    let input = usage.count("input_tokens");
    let output = usage.count("output_tokens");
    let total = usage.count("total_tokens");
    let cost = usage.money("cost_usd");
    if usage.is_flawed() {
        fields.flaw();
    }
    let tokens = (input.is_some() || output.is_some() || total.is_some()).then(|| {
        let output = output.unwrap_or_default();
        let (input, output) = match total {
            Some(total) => (total.saturating_sub(output), output.min(total)),
            None => (input.unwrap_or_default(), output),
        };
        Usage { input, output, cost: None, ..Usage::default() }
    });
    (tokens, cost)
}

#[cfg(test)]
mod tests;
