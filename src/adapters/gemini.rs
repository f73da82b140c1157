//! The kind `gemini`: `gemini -o stream-json`, which prints texts in pieces and its numbers at the end.
//!
//! What may go here: its arguments and its events. What may not: what readers of event streams share.

mod ending;
mod session;

use serde_json::value::RawValue;

use crate::core::{ExitReason, Fact, KindTraits, Retry, Task, Usage};

use super::causes::Named;
use super::event_stream::{
    EventStream, Told, cause_of, model as model_told, push_text, reason_of,
    session as session_told, summary, unwrap_error,
};
use super::invocation::{self, Input, Place};
use super::json::{self, Fields};
use super::session_files::Recording;
use super::{Adapter, Ended, Invocation, LineReader, ReaderStart, Refusal, SessionHome, command};
use ending::{by_code, last_words};
use session::Session;

/// What its sentences name.
const NAMED: Named =
    Named { program: "gemini", login: "run gemini and log in, or set GEMINI_API_KEY" };
/// Tools that change the file that their input names.
const EDITING: [&str; 2] = ["write_file", "replace"];
/// How the warning begins after which it stops and calls that a success.
const LOOP: &str = "Loop detected";
/// What the output of a call says that somebody would have to allow.
const UNCONFIRMED: &str = "requires user confirmation";
/// Fields of its numbers.
const NUMBERS: [&str; 4] = ["total_tokens", "input_tokens", "output_tokens", "cached"];
/// Models whose numbers are looked at; it uses two or three.
const MODELS: usize = 32;

/// The kind.
pub(super) struct Gemini;

impl Adapter for Gemini {
    fn kind(&self) -> &'static str {
        "gemini"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("gemini")
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        invocation::check_agent(
            task,
            "choose the model with --model, and set limits with --budget or --timeout (turns: model.maxSessionTurns in its settings)",
            &["-o", "--output-format", "-i", "--acp"],
        )?;
        invocation::refuse_shell_that_writes(task)?;
        let mode = if task.read_only { "plan" } else { "auto_edit" };
        let mut argv: Vec<String> =
            ["gemini", "-o", "stream-json", "--skip-trust", "--approval-mode", mode]
                .map(str::to_owned)
                .into();
        let tools = [
            ("run_shell_command", task.allow_shell),
            ("web_fetch", task.allow_web),
            ("google_web_search", task.allow_web),
        ];
        for (tool, _) in tools.into_iter().filter(|(_, allowed)| *allowed) {
            argv.extend(["--allowed-tools".to_owned(), tool.to_owned()]);
        }
        argv.extend(invocation::chosen_model(task, "-m"));
        argv.extend(invocation::resumed(task, "--resume"));
        argv.extend(task.extra.iter().cloned());
        let text = invocation::prompt(task);
        let mut invocation = invocation::assemble(task, place, text, argv)?;
        invocation.input = Input::Task;
        // With its second process a signal to the first does nothing.
        invocation.env.insert("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned());
        invocation.env.insert("GEMINI_TELEMETRY_ENABLED".to_owned(), "false".to_owned());
        Ok(invocation)
    }

    fn resumes(&self) -> bool {
        true
    }

    fn session_home(&self) -> Option<SessionHome> {
        Some(session::HOME)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        let recording = Recording::new(start.session.clone(), Session::new(&start));
        Box::new(Reader { told: Told::resume(&start), start, is_looping: false, recording })
    }
}

struct Reader {
    start: ReaderStart,
    told: Told,
    /// It has stopped itself since it went round in a circle.
    is_looping: bool,
    recording: Recording,
}

impl EventStream for Reader {
    const NAMED: Named = NAMED;
    /// No event tells that it tries again.
    const READS_ERRORS: bool = true;

    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn recording(&self) -> Option<&Recording> {
        Some(&self.recording)
    }

    fn recording_mut(&mut self) -> Option<&mut Recording> {
        Some(&mut self.recording)
    }

    fn event(&mut self, line: &[u8], facts: &mut Vec<Fact>) -> Option<()> {
        let wanted = [
            "type",
            "session_id",
            "model",
            "role",
            "content",
            "delta",
            "tool_name",
            "tool_id",
            "parameters",
            "status",
            "output",
            "error",
            "severity",
            "message",
            "stats",
        ];
        let mut fields = Fields::parse(line, &wanted)?;
        match fields.text("type")?.as_str() {
            "init" => {
                let session = fields.text("session_id");
                self.recording.session.clone_from(&session);
                facts.extend(session_told(session));
                facts.extend(fields.text("model").and_then(|name| model_told(&name)));
            }
            "message" => self.message(&mut fields, facts)?,
            "tool_use" => {
                let input = fields.raw("parameters");
                let (id, tool) = (fields.text("tool_id")?, fields.text("tool_name")?);
                self.told.begin(&id, &tool, summary(input.as_deref()), facts);
                if EDITING.contains(&tool.as_str()) {
                    self.told.will_change(&id, file_of(input.as_deref()));
                }
            }
            "tool_result" => self.tool_result(&mut fields, facts)?,
            "error" => {
                let message = fields.text("message")?;
                self.told.close(facts);
                if fields.text("severity").as_deref() == Some("warning") {
                    self.is_looping |= message.starts_with(LOOP);
                    push_text("system", &message, facts);
                } else {
                    self.fail(None, &message, facts);
                }
            }
            "result" => self.result(&mut fields, facts)?,
            _ => {}
        }
        Some(())
    }

    fn plain(&mut self, bytes: &[u8], facts: &mut Vec<Fact>) {
        // With `-o json` it prints one object.
        let whole = Fields::parse(bytes, &["response"]);
        match whole.and_then(|mut fields| fields.text("response")) {
            Some(answer) => {
                self.told.say(answer, facts);
                facts.push(self.told.done(ExitReason::Completed));
            }
            None => self.told.take_plain(bytes),
        }
    }

    fn close(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        self.told.close(facts);
        if let (None, Some(reason)) = (self.told.failure(), end.code.and_then(by_code)) {
            self.told.fail(reason, &last_words(end.err));
        }
        facts.extend(self.told.unfinished(NAMED, end));
    }

    fn standard_error(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        facts.extend(retry(line).map(Fact::Retry));
    }
}

impl Reader {
    fn message(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let content = fields.text("content")?;
        if fields.text("role").as_deref() != Some("assistant") {
            self.told.close(facts);
            push_text("user", &content, facts);
        } else if fields.flag("delta") == Some(true) {
            self.told.add(&content);
        } else {
            self.told.say(content, facts);
        }
        Some(())
    }

    fn tool_result(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let id = fields.text("tool_id")?;
        let has_failed = fields.text("status").as_deref() != Some("success");
        let output = fields.text("output").unwrap_or_default();
        let (tool, text) = self.told.call(&id);
        if self.told.end(&id, "", String::new(), has_failed, facts) {
            push_text("result", &output, facts);
            let is_denied = has_failed && output.contains(UNCONFIRMED);
            facts.extend(is_denied.then_some(Fact::Denied { tool, text }));
        }
        Some(())
    }

    /// Reads the last event. That it is there with `error` is a failure whatever the exit code, which may be 0.
    fn result(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        self.told.close(facts);
        if fields.text("status").as_deref() == Some("success") {
            let is_cut = self.is_looping;
            let reason = if is_cut { ExitReason::MaxSteps } else { ExitReason::Completed };
            facts.push(self.told.done(reason));
        } else {
            let error = fields.inner("error", &["type", "message"]);
            let (kind, message) = error.map_or_else(Default::default, |mut error| {
                (error.text("type"), error.text("message").unwrap_or_default())
            });
            if kind.is_some() || !message.is_empty() || self.told.failure().is_none() {
                self.fail(kind.as_deref(), &message, facts);
            }
            facts.extend(self.told.unfinished(NAMED, Ended { err: b"", report: b"", code: None }));
        }
        if let Some(stats) = fields.raw("stats") {
            facts.extend(self.numbers(&stats)?);
        }
        Some(())
    }

    fn fail(&mut self, kind: Option<&str>, message: &str, facts: &mut Vec<Fact>) {
        let bare = message.trim().strip_prefix("[API Error: ").and_then(|it| it.strip_suffix(']'));
        let (status, message) = unwrap_error(bare.unwrap_or(message));
        let reason = match kind {
            Some("FatalTurnLimitedError") => ExitReason::MaxSteps,
            Some("FatalAuthenticationError") => ExitReason::Auth,
            _ => reason_of(status, &message),
        };
        if self.told.fail(reason, &message) {
            push_text("error", &message, facts);
        }
    }

    /// Reads the numbers of the run, model by model where they are told so: prices differ.
    fn numbers(&self, stats: &RawValue) -> Option<Vec<Fact>> {
        let mut all = Fields::of(stats, &["models"])?;
        let whole = usage(stats)?;
        let mut models = Vec::new();
        if let Some(raw) = all.raw("models") {
            json::for_each_field(&raw, MODELS, |name, numbers| {
                models.push((name.to_owned(), usage(numbers)));
            });
        }
        let sum = models
            .iter()
            .try_fold(Usage::default(), |sum, (_, usage)| Some(plus(&sum, usage.as_ref()?)));
        if models.is_empty() || sum.as_ref() != Some(&whole) {
            let model = self.start.option(&["-m", "--model"]).unwrap_or_default();
            models = vec![(model.to_owned(), Some(whole))];
        }
        let facts = models.into_iter().filter_map(|(model, usage)| {
            let usage = usage.filter(|usage| *usage != Usage::default())?;
            let prices = &self.start.prices;
            let estimate = prices.estimate_sum(Some("google"), &model, &usage);
            let id = Some(format!("result {model}"));
            Some(Fact::Usage { id, usage: Usage { estimate, ..usage } })
        });
        Some(facts.collect())
    }
}

fn plus(one: &Usage, two: &Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(two.input),
        cache_read: one.cache_read.saturating_add(two.cache_read),
        output: one.output.saturating_add(two.output),
        ..Usage::default()
    }
}

/// Reads one set of numbers. Input includes what was cached; thinking is in the total alone.
fn usage(raw: &RawValue) -> Option<Usage> {
    let mut fields = Fields::of(raw, &NUMBERS)?;
    let prompt = fields.count("input_tokens")?;
    let output = fields.count("output_tokens")?;
    let cache_read = fields.count("cached").unwrap_or_default();
    let total = fields.count("total_tokens");
    if fields.is_flawed() {
        return None;
    }
    let with_thinking = total.unwrap_or_default().saturating_sub(prompt);
    let input = prompt.checked_sub(cache_read)?;
    Some(Usage { input, cache_read, output: output.max(with_thinking), ..Usage::default() })
}

fn file_of(input: Option<&RawValue>) -> Option<String> {
    Fields::of(input?, &["file_path"])?.text("file_path")
}

/// Reads a try that has failed: `Attempt 2 failed with status 429. Retrying with backoff... _ApiError: {…}`, with no status
/// where nothing answered.
fn retry(line: &[u8]) -> Option<Retry> {
    let line = std::str::from_utf8(line).ok()?;
    let (attempt, told) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
    let (before, after) = told.split_once("Retrying ")?;
    let cause = before.trim_matches(['.', ':', ' ']).trim_start_matches("with ");
    let cause = cause.trim_start_matches("status ");
    let status = cause.split(' ').next().and_then(|word| word.parse().ok());
    let message = if cause.is_empty() {
        let (_, message) = after.split_once("... ").unwrap_or_default();
        message.trim_start_matches("Error: ")
    } else {
        cause
    };
    let attempt = Some(attempt.parse().ok()?);
    Some(Retry { attempt, most: None, cause: cause_of(status, message) })
}

#[cfg(test)]
mod tests;
