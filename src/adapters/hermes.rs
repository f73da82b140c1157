//! The kind `hermes`: `hermes -z TASK`, which prints its answer and nothing else, and reports tokens in a file at its end.
//!
//! What may go here: its arguments and what its report says. What may not: reasons that all programs share.
//!
//! Measured with hermes-agent 0.19.0: the exit code is 0 whatever came of it but a missing login, an error is printed
//! where the answer should be, a failed run reports no tokens, and one-shot runs do not go on in earlier sessions.
//! While it tries again it says so on neither output, only in a log that all of its runs share.

use crate::core::{AgentResult, ExitReason, Fact, KindTraits, NanoUsd, Task, Usage};

use super::causes::{self, Named};
use super::invocation::{self, Choice, Place, refuse_unknown, utf8};
use super::json::Fields;
use super::text::{ANSWER_BYTES, LINE_CHARS, NAME_CHARS, cut, last_line, one_line};
use super::{
    Adapter, Closing, Ended, FirstText, Invocation, LineReader, ReaderStart, Refusal, command,
};

const NAMED: Named =
    Named { program: "hermes", login: "run hermes setup, or hermes auth add, and retry" };

/// Toolset that every agent has: it reads and writes files.
const FILES: &str = "file,todo";

/// What it prints in front of its own words when the model refuses.
const REFUSED: &str = "The model declined to respond";
/// How it begins when the text is too long for the model.
const TOO_LONG: &str = "Context length exceeded";

/// Fields of its report that tell something.
const REPORT: [&str; 12] = [
    "estimated_cost_usd",
    "cost_status",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "model",
    "provider",
    "session_id",
    "completed",
    "failed",
    "failure",
];

/// The kind.
pub(super) struct Hermes;

impl Adapter for Hermes {
    fn kind(&self) -> &'static str {
        "hermes"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("hermes")
    }

    /// It prints its answer for people, and nothing else is known of it.
    fn first_text(&self) -> FirstText {
        FirstText::Out
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        if task.read_only {
            return Err(Refusal::new(
                "agents of kind hermes have no --read-only: its file tools read and write alike; take another kind",
            ));
        }
        let known =
            [Choice::Engine, Choice::Model, Choice::AllowShell, Choice::AllowWeb, Choice::Context];
        refuse_unknown(task, &known, "set it in hermes' own config.yaml")?;
        let text = invocation::prompt(task);
        if !invocation::is_short(&text) {
            return Err(Refusal::new(format!(
                "the task has {} KB and hermes takes at most {}: put the text into a file and name that file in the task",
                text.len() / 1000,
                invocation::TASK_IN_ARGV_BYTES / 1000
            )));
        }
        let mut toolsets = FILES.to_owned();
        for (is_allowed, toolset) in [(task.allow_shell, ",terminal"), (task.allow_web, ",web")] {
            if is_allowed {
                toolsets.push_str(toolset);
            }
        }
        let mut argv = vec!["hermes".to_owned(), "--toolsets".to_owned(), toolsets];
        argv.extend(["--usage-file".to_owned(), utf8(&place.report)?.to_owned()]);
        let chosen = [("--provider", &task.engine), ("--model", &task.model)];
        for (flag, value) in chosen {
            argv.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        argv.extend(task.extra.iter().cloned());
        // In one argument, since a task may look like an option.
        argv.push(format!("--oneshot={text}"));
        invocation::assemble(task, place, text, argv)
    }

    /// It tells of no file at all.
    fn edits_unseen(&self, task: &Task) -> bool {
        !task.read_only
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(Reader { start, answer: String::new(), is_cut: false })
    }
}

struct Reader {
    start: ReaderStart,
    /// All that it has printed.
    answer: String,
    is_cut: bool,
}

impl LineReader for Reader {
    fn reads_lines(&self) -> bool {
        false
    }

    fn line(&mut self, _: &[u8], _: &mut Vec<Fact>) {}

    fn reads_closing(&self) -> bool {
        true
    }

    fn closing(&mut self, closing: Closing<'_>, _: &mut Vec<Fact>) -> Option<usize> {
        let text = String::from_utf8_lossy(closing.bytes).trim().to_owned();
        let (answer, is_cut) = cut(text, ANSWER_BYTES);
        (self.answer, self.is_cut) = (answer, is_cut || !closing.is_whole);
        None
    }

    fn ended(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        if self.start.seen.result {
            return;
        }
        let Some(mut report) = Fields::parse(end.report, &REPORT) else {
            // It came to no report: what it printed last is all there is.
            facts.extend(unreported(end).map(Fact::Result));
            return;
        };
        if let Some(model) = report.text("model") {
            self.push_usage(&model, &mut report, facts);
            facts.push(Fact::Model(one_line(&model, NAME_CHARS)));
        }
        let session = report.text("session_id");
        facts.extend(session.map(|id| Fact::Session(one_line(&id, NAME_CHARS))));
        let has_failed = report.flag("failed") == Some(true);
        let completed = report.flag("completed");
        let failure = report.text("failure").unwrap_or_default();
        if has_failed || completed == Some(false) {
            let message = if failure.is_empty() { &self.answer } else { &failure };
            facts.push(Fact::Result(failure_of(message, has_failed)));
        } else {
            facts.push(Fact::Text { role: "assistant".to_owned(), text: self.answer.clone() });
            facts.push(Fact::Result(AgentResult {
                completed: Some(true),
                answer: Some(std::mem::take(&mut self.answer)),
                truncated: self.is_cut,
                unparsed: report.is_flawed(),
                ..AgentResult::default()
            }));
        }
    }

    fn is_text(&self, _: &[u8]) -> bool {
        true
    }
}

impl Reader {
    fn push_usage(&self, model: &str, report: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let counts = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"];
        let counts = counts.map(|name| report.count(name));
        if counts.iter().all(Option::is_none) {
            return;
        }
        let [input, cache_read, cache_write, output] = counts.map(Option::unwrap_or_default);
        let mut usage = Usage { input, cache_read, cache_write, output, ..Usage::default() };
        let told = report.money("estimated_cost_usd");
        usage.estimate = match report.text("cost_status").as_deref() {
            // What it has no price for it calls 0.
            Some("unknown") | None => self.estimate(report, model, &usage),
            // A subscription: nothing is paid for this run.
            Some("included") => Some(NanoUsd::ZERO),
            Some(_) => told,
        };
        facts.push(Fact::Usage { id: None, usage });
    }

    fn estimate(&self, report: &mut Fields<'_>, model: &str, usage: &Usage) -> Option<NanoUsd> {
        let provider = report.text("provider");
        let of = |provider| self.start.prices.estimate(provider, model, usage);
        // A provider of the owner's own, such as a gateway, has no list; the model's maker has.
        of(provider.as_deref()).or_else(|| of(None))
    }
}

/// Makes the closing word of a run that ended with an error before it could report.
fn unreported(end: Ended<'_>) -> Option<AgentResult> {
    end.code.filter(|code| *code != 0)?;
    Some(failure_of(&last_line(end.err, |_| true)?, true))
}

/// Makes the closing word of a run that failed, or stopped before it was done.
fn failure_of(message: &str, has_failed: bool) -> AgentResult {
    let reason = if message.contains(REFUSED) {
        ExitReason::Refused
    } else if message.starts_with(TOO_LONG) {
        ExitReason::Context
    } else if message.contains("No LLM provider configured") {
        ExitReason::Auth
    } else {
        status_of(message)
            .and_then(causes::by_status)
            .or_else(|| causes::by_words(message))
            .filter(|_| has_failed)
            .unwrap_or(ExitReason::Error)
    };
    let mut result = causes::failure(reason, NAMED, message);
    if !has_failed && reason == ExitReason::Error {
        result.error = format!("it stopped before it was done ({})", one_line(message, LINE_CHARS));
        result.truncated = true;
    }
    result
}

/// Finds the status in `… HTTP 401: …`.
fn status_of(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("HTTP ")?;
    rest.split_once(':')?.0.trim().parse().ok()
}

#[cfg(test)]
mod tests;
