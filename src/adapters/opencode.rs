//! The kind `opencode`: `opencode run --format json`, which prints its steps and no last event.
//!
//! What may go here: its arguments and its events. What may not: what readers of event streams share.

use crate::core::{ExitReason, Fact, KindTraits, NanoUsd, Retry, Task, Usage};

use super::causes::Named;
use super::event_stream::{
    EventStream, Told, cause_of, model as model_told, push_text, reason_of, session, summary,
    unwrap_error,
};
use super::invocation::{self, Input, Place};
use super::json::Fields;
use super::text::{LINE_CHARS, one_line};
use super::{Adapter, Ended, Invocation, LineReader, ReaderStart, Refusal, command};

/// What its sentences name.
const NAMED: Named = Named {
    program: "opencode",
    login: "run opencode auth login, or set the variable that holds the key of its provider",
};
/// Its option for the model, which its stream does not name.
const MODEL: [&str; 2] = ["-m", "--model"];
/// Tools that change the file that their input names.
const EDITING: [&str; 4] = ["write", "edit", "multiedit", "patch"];
/// What its standard error says when it refuses by itself what nobody can be asked.
const REJECTING: &str = "auto-rejecting";
/// How a line of its log begins.
const LOG: &str = "timestamp=";
/// How the output of a call begins that was not permitted.
const REJECTED: [&str; 2] = ["The user rejected permission", "The user has specified a rule"];

/// The kind.
pub(super) struct Opencode;

impl Adapter for Opencode {
    fn kind(&self) -> &'static str {
        "opencode"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("opencode")
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        invocation::check_agent(
            task,
            "choose the model with --model PROVIDER/MODEL, and set limits with --budget or --timeout",
            &["--format", "-i", "--interactive"],
        )?;
        invocation::refuse_shell_that_writes(task)?;
        let mut argv: Vec<String> =
            ["opencode", "run", "--format", "json", "--thinking"].map(str::to_owned).into();
        if !task.extra.iter().any(|argument| chooses_log(argument)) {
            // No event tells that it tries again.
            argv.extend(["--print-logs", "--log-level=ERROR"].map(str::to_owned));
        }
        argv.extend(invocation::chosen_model(task, "-m"));
        argv.extend(invocation::resumed(task, "-s"));
        argv.extend(task.extra.iter().cloned());
        let text = invocation::prompt(task);
        let mut invocation = invocation::assemble(task, place, text, argv)?;
        invocation.input = Input::Task;
        // It takes them over what its own settings say, and leaves what they do not name.
        invocation.env.insert("OPENCODE_PERMISSION".to_owned(), permissions(task));
        invocation.env.insert("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned());
        invocation.env.insert("OPENCODE_DISABLE_SHARE".to_owned(), "1".to_owned());
        Ok(invocation)
    }

    fn resumes(&self) -> bool {
        true
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(Reader {
            told: Told::resume(&start),
            errors: 0,
            has_log: false,
            has_model: false,
            start,
        })
    }
}

/// Returns what the agent may do, as its settings write it.
fn permissions(task: &Task) -> String {
    let word = |allowed: bool| if allowed { "allow" } else { "deny" };
    let table = [
        ("edit", !task.read_only),
        ("bash", task.allow_shell),
        ("webfetch", task.allow_web),
        ("websearch", task.allow_web),
        ("codesearch", task.allow_web),
    ];
    let entries = table.map(|(name, allowed)| format!("\"{name}\":\"{}\"", word(allowed)));
    format!("{{{}}}", entries.join(","))
}

/// Says whether an argument says what of its log is printed.
fn chooses_log(argument: &str) -> bool {
    let name = argument.split_once('=').map_or(argument, |(name, _)| name);
    ["--print-logs", "--log-level"].contains(&name)
}

struct Reader {
    start: ReaderStart,
    told: Told,
    /// Errors since the last tool call: it can fail in a circle until it is stopped.
    errors: u32,
    /// Its log tells them, each before its event.
    has_log: bool,
    has_model: bool,
}

impl EventStream for Reader {
    const NAMED: Named = NAMED;
    /// Its log says why a request failed.
    const READS_ERRORS: bool = true;

    fn told(&self) -> &Told {
        &self.told
    }

    fn told_mut(&mut self) -> &mut Told {
        &mut self.told
    }

    fn event(&mut self, line: &[u8], facts: &mut Vec<Fact>) -> Option<()> {
        let mut fields = Fields::parse(line, &["type", "sessionID", "part", "error"])?;
        let kind = fields.text("type")?;
        let id = fields.text("sessionID");
        if !std::mem::replace(&mut self.has_model, true) {
            facts.extend(session(id));
            facts.extend(self.start.option(&MODEL).and_then(model_told));
        }
        match kind.as_str() {
            "text" => {
                let wanted = ["text", "synthetic"];
                let mut part = fields.inner("part", &wanted)?;
                let text = part.text("text")?;
                if part.flag("synthetic") == Some(true) {
                    // It goes on by itself, with words that nobody has said.
                    self.told.reopen();
                    push_text("system", &text, facts);
                } else {
                    self.told.say(text, facts);
                }
            }
            "reasoning" => {
                let mut part = fields.inner("part", &["text"])?;
                push_text("thinking", &part.text("text")?, facts);
            }
            "tool_use" => {
                let wanted = ["tool", "callID", "state"];
                self.tool(&mut fields.inner("part", &wanted)?, facts)?;
            }
            "step_finish" => {
                let wanted = ["id", "reason", "tokens", "cost"];
                self.finish(&mut fields.inner("part", &wanted)?, facts)?;
            }
            "error" => self.error(&mut fields.inner("error", &["name", "data"])?, facts),
            _ => {}
        }
        Some(())
    }

    fn close(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        let message = String::from_utf8_lossy(end.err);
        let rejected = message.lines().rev().find(|line| line.contains(REJECTING));
        let is_known = self.told.is_over() || self.told.failure().is_some();
        if let Some(line) = rejected.filter(|_| !is_known) {
            // It stops after the call that it was not permitted, as if all were well.
            self.told.fail(ExitReason::Permission, line);
            let (_, asked) = line.split_once("permission requested: ").unwrap_or(("", line));
            let (tool, text) = asked.split_once(" (").unwrap_or((asked, ""));
            let text = text.split_once(");").map_or(text, |(text, _)| text);
            let [tool, text] = [tool, text].map(|part| one_line(part, LINE_CHARS));
            facts.push(Fact::Denied { tool, text });
        }
        let err = without_log(end.err);
        facts.extend(self.told.unfinished(NAMED, Ended { err: &err, ..end }));
    }

    fn standard_error(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        if let Some(cause) = logged_failure(line) {
            self.has_log = true;
            self.fail_again(cause, facts);
        }
    }
}

impl Reader {
    /// Reads a tool call, which is told only when it ends.
    fn tool(&mut self, part: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let tool = part.text("tool")?;
        let id = part.text("callID")?;
        let wanted = ["status", "input", "output", "error", "metadata"];
        let mut state = part.inner("state", &wanted)?;
        let input = state.raw("input");
        let text = summary(input.as_deref());
        let error = state.text("error").unwrap_or_default();
        // A command that fails is a completed call with an exit code.
        let exit = state.inner("metadata", &["exit"]).and_then(|mut fields| fields.raw("exit"));
        let has_failed = state.text("status").as_deref() != Some("completed")
            || exit.is_some_and(|exit| !matches!(exit.get(), "0" | "null"))
            || tool == "invalid";
        let is_rejected = REJECTED.iter().any(|begin| error.starts_with(begin));
        let denied = Fact::Denied { tool: tool.clone(), text: text.clone() };
        if self.told.end(&id, &tool, text, has_failed, facts) {
            self.errors = 0;
            self.told.reopen();
            push_text("result", &state.text("output").unwrap_or_default(), facts);
            push_text("error", &error, facts);
            facts.extend(is_rejected.then_some(denied));
        }
        if is_rejected {
            self.told.fail(ExitReason::Permission, &error);
        } else if !has_failed && EDITING.contains(&tool.as_str()) {
            let file = input.and_then(|input| Fields::of(&input, &["filePath"])?.text("filePath"));
            if let Some(file) = file {
                self.told.change(file);
            }
        }
        Some(())
    }

    /// Reads the end of a step. Only one that does not end for the sake of its calls is an end of the work.
    fn finish(&mut self, part: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let word = match part.text("reason")?.as_str() {
            "tool-calls" => None,
            "length" => Some(self.told.done(ExitReason::MaxTokens)),
            "content-filter" => Some(self.told.given_up(ExitReason::Refused, NAMED, "")),
            "error" => Some(self.told.given_up(ExitReason::Error, NAMED, "")),
            _ => Some(self.told.done(ExitReason::Completed)),
        };
        if word.is_none() {
            self.told.reopen();
        }
        facts.extend(word);
        let usage = self.usage(part)?;
        let id = part.text("id");
        if usage != Usage::default() {
            facts.push(Fact::Usage { id, usage });
        }
        Some(())
    }

    /// Reads the tokens and the cost of a step. A step that costs nothing although it has tokens is one of a model without
    /// a price.
    fn usage(&self, part: &mut Fields<'_>) -> Option<Usage> {
        let wanted = ["input", "output", "reasoning", "cache"];
        let mut tokens = part.inner("tokens", &wanted)?;
        let mut cache = tokens.inner("cache", &["read", "write"])?;
        let mut usage = Usage {
            input: tokens.count("input")?,
            cache_read: cache.count("read").unwrap_or_default(),
            cache_write: cache.count("write").unwrap_or_default(),
            output: tokens.count("output")?,
            ..Usage::default()
        };
        usage.output = usage.output.checked_add(tokens.count("reasoning").unwrap_or_default())?;
        if tokens.is_flawed() || cache.is_flawed() {
            return None;
        }
        usage.cost = part.float_money("cost").filter(|cost| *cost > NanoUsd::ZERO);
        if usage.cost.is_none() && usage != Usage::default() {
            let model = self.start.option(&MODEL);
            usage.estimate =
                model.and_then(|model| model.split_once('/')).and_then(|(provider, model)| {
                    self.start.prices.estimate(Some(provider), model, &usage)
                });
        }
        Some(usage)
    }

    /// Reads an error: mostly the last event, and in a circle of failures not even that.
    fn error(&mut self, error: &mut Fields<'_>, facts: &mut Vec<Fact>) {
        let name = error.text("name").unwrap_or_default();
        let data = error.inner("data", &["message", "statusCode"]);
        let (status, message) = data.map_or_else(Default::default, |mut data| {
            let status = data.count("statusCode");
            let (coded, message) = unwrap_error(&data.text("message").unwrap_or_default());
            (status.or(coded), message)
        });
        let message = if message.is_empty() { name.clone() } else { message };
        let reason = match name.as_str() {
            "ContextOverflowError" => ExitReason::Context,
            "ContentFilterError" => ExitReason::Refused,
            "ProviderAuthError" => ExitReason::Auth,
            "MessageOutputLengthError" => ExitReason::MaxTokens,
            // Its own server, and not that of the model.
            "UnknownError" if message.contains("Check server logs") => ExitReason::Error,
            _ => reason_of(status, &message),
        };
        self.told.reopen();
        if self.told.fail(reason, &message) {
            push_text("error", &message, facts);
        }
        if !self.has_log {
            self.fail_again(cause_of(status, &message), facts);
        }
    }

    fn fail_again(&mut self, cause: String, facts: &mut Vec<Fact>) {
        self.errors = self.errors.saturating_add(1);
        facts.push(Fact::Retry(Retry { attempt: Some(self.errors), most: None, cause }));
    }
}

/// Returns why a request has failed, if the line is one of its log that tells so of the work itself and not of a helper
/// request, such as that for a title.
fn logged_failure(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let told = line.starts_with(LOG).then(|| line.split_once("message=\"stream error\""))??.1;
    let (about, error) = told.split_once(" error.error=\"")?;
    if about.contains("small=true") {
        return None;
    }
    let error = error.trim_end().trim_end_matches('"');
    let message = error.split_once("Error: ").map_or(error, |(_, message)| message);
    Some(cause_of(None, message))
}

/// Returns what a standard error says beside its log.
fn without_log(err: &[u8]) -> Vec<u8> {
    let is_log = |line: &[u8]| line.starts_with(LOG.as_bytes());
    let lines = err.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !is_log(line)).flatten().copied().collect()
}

#[cfg(test)]
mod tests;
