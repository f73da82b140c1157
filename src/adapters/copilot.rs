//! The kind `copilot`: `copilot --output-format json`, which prints everything that happens but its tokens. Those are in its record of the
//! session.
//!
//! What may go here: its arguments and its events. What may not: what readers of event streams share.

mod session;

use std::path::Path;

use serde_json::value::RawValue;

use crate::core::{ExitReason, Fact, KindTraits, Retry, Task};

use super::causes::Named;
use super::event_stream::{
    EventStream, Told, brief, model as model_told, push_text, reason_of, session as session_told,
    summary, text_of, unwrap_error,
};
use super::invocation::{self, Input, Place};
use super::json::{self, Fields};
use super::session_files::Recording;
use super::{Adapter, Ended, Invocation, LineReader, ReaderStart, Refusal, SessionHome, command};
use session::Session;

/// What its sentences name.
const NAMED: Named = Named {
    program: "copilot",
    login: "run copilot login, or set COPILOT_GITHUB_TOKEN or COPILOT_PROVIDER_API_KEY",
};
/// Its option for the id of a new session, which its stream tells only at the end.
const SESSION: &str = "--session-id";
/// Files of one call that are looked at.
const EDITS: usize = 10_000;

/// The kind.
pub(super) struct Copilot;

impl Adapter for Copilot {
    fn kind(&self) -> &'static str {
        "copilot"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("copilot")
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        invocation::check_agent(
            task,
            "choose the model with --model, and set limits with --budget or --timeout, or with --max-ai-credits after --",
            &["--output-format", "-i", "--interactive", "--acp"],
        )?;
        invocation::refuse_shell_that_writes(task)?;
        let word = |allowed: bool| if allowed { "allow" } else { "deny" };
        let mut argv: Vec<String> =
            ["copilot", "--output-format", "json", "--no-ask-user", "--disable-client-telemetry"]
                .map(str::to_owned)
                .into();
        // What it is denied, no setting of its own allows.
        argv.push(format!("--{}-tool=write", word(!task.read_only)));
        argv.push(format!("--{}-tool=shell", word(task.allow_shell)));
        argv.extend(task.allow_web.then(|| "--allow-all-urls".to_owned()));
        argv.extend(invocation::chosen_model(task, "--model"));
        if task.continues.is_some() {
            argv.extend(invocation::resumed(task, SESSION));
        } else if !task.extra.iter().any(|argument| chooses_session(argument)) {
            argv.extend([SESSION.to_owned(), session_id(&place.task_file)]);
        }
        argv.extend(task.extra.iter().cloned());
        let text = invocation::prompt(task);
        let mut invocation = invocation::assemble(task, place, text, argv)?;
        invocation.input = Input::Task;
        invocation.env.insert("COPILOT_AUTO_UPDATE".to_owned(), "false".to_owned());
        invocation.env_remove.push("COPILOT_ALLOW_ALL".to_owned());
        Ok(invocation)
    }

    fn resumes(&self) -> bool {
        true
    }

    fn session_home(&self) -> Option<SessionHome> {
        Some(session::HOME)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        let told = Told::resume(&start);
        let chosen = start.option(&[SESSION]).map(str::to_owned);
        let session = chosen.clone().or_else(|| start.session.clone());
        let recording = Recording::new(session, Session::new(&start));
        Box::new(Reader { told, chosen, model: None, recording })
    }
}

/// Says whether an argument says which session is gone on with or begun.
fn chooses_session(argument: &str) -> bool {
    let name = argument.split_once('=').map_or(argument, |(name, _)| name);
    [SESSION, "--resume", "-r", "--continue"].contains(&name)
}

/// Returns the id of an agent's session: another one for every agent, since each has a task file of its own.
fn session_id(task_file: &Path) -> String {
    /// Numbers of the hash FNV-1a.
    const PRIME: u64 = 0x0100_0000_01b3;
    const SEEDS: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15];
    let path = task_file.as_os_str().as_encoded_bytes();
    let hash = |seed: u64| {
        path.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
    };
    let [high, low] = SEEDS.map(hash);
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

struct Reader {
    told: Told,
    /// The session's id as it was chosen, until it is told.
    chosen: Option<String>,
    /// The model that was told last.
    model: Option<String>,
    recording: Recording,
}

impl EventStream for Reader {
    const NAMED: Named = NAMED;

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
        let mut fields = Fields::parse(line, &["type", "data", "sessionId", "exitCode"])?;
        let kind = fields.text("type")?;
        facts.extend(session_told(self.chosen.take()));
        match kind.as_str() {
            "session.tools_updated" | "model.call_start" => {
                let mut data = fields.inner("data", &["model"])?;
                self.model(data.text("model"), facts);
            }
            "assistant.message" => self.message(&mut fields, facts)?,
            "assistant.reasoning" => {
                let mut data = fields.inner("data", &["content"])?;
                push_text("thinking", &data.text("content")?, facts);
            }
            "tool.execution_start" => {
                let wanted = ["toolCallId", "toolName", "arguments"];
                let mut data = fields.inner("data", &wanted)?;
                let text = summary(data.raw("arguments").as_deref());
                let (id, tool) = (data.text("toolCallId")?, data.text("toolName")?);
                self.told.begin(&id, &tool, text, facts);
            }
            "tool.execution_complete" => self.tool_end(&mut fields, facts)?,
            "model.call_failure" => self.failure(&mut fields, facts)?,
            "session.error" => self.error(&mut fields, facts)?,
            "result" => {
                let session = fields.text("sessionId");
                let known = &mut self.recording.session;
                *known = known.take().or_else(|| session.clone());
                facts.extend(session_told(session));
                let code = fields.count("exitCode")?;
                self.result(code, facts);
            }
            _ => {}
        }
        Some(())
    }
}

impl Reader {
    fn model(&mut self, model: Option<String>, facts: &mut Vec<Fact>) {
        let is_new = model.is_some() && self.model != model;
        if is_new {
            self.model = model;
            facts.extend(self.model.as_deref().and_then(model_told));
        }
    }

    fn message(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let mut data = fields.inner("data", &["content", "parentToolCallId"])?;
        let content = data.text("content")?;
        if data.has("parentToolCallId") {
            // A sub-agent says it to the agent.
            push_text("assistant", &content, facts);
        } else {
            self.told.go_on();
            self.told.say(content, facts);
        }
        Some(())
    }

    fn tool_end(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let wanted = ["toolCallId", "success", "error", "shellExecution", "result", "fileEdits"];
        let mut data = fields.inner("data", &wanted)?;
        let id = data.text("toolCallId")?;
        let exit = data.inner("shellExecution", &["exitCode"]);
        let exit = exit.and_then(|mut shell| shell.raw("exitCode"));
        let has_failed =
            data.flag("success") != Some(true) || exit.is_some_and(|exit| exit.get() != "0");
        let error = data.inner("error", &["message", "code"]);
        let (code, message) = error.map_or_else(Default::default, |mut error| {
            (error.text("code"), error.text("message").unwrap_or_default())
        });
        let (tool, text) = self.told.call(&id);
        if self.told.end(&id, "", String::new(), has_failed, facts) {
            let is_denied = code.as_deref() == Some("denied");
            facts.extend(is_denied.then_some(Fact::Denied { tool, text }));
            let output = data.inner("result", &["content"]);
            let output = output.and_then(|mut result| result.text("content"));
            push_text("result", &output.unwrap_or_default(), facts);
            push_text("error", &message, facts);
        }
        if let Some(edits) = data.raw("fileEdits").filter(|_| !has_failed) {
            json::for_each_item(&edits, EDITS, |edit| {
                let path = Fields::of(edit, &["path"]).and_then(|mut edit| edit.text("path"));
                if let Some(path) = path {
                    self.told.change(path);
                }
            });
        }
        Some(())
    }

    /// Reads a call of the model that failed; it is made again, or an error follows.
    fn failure(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let wanted = ["statusCode", "retryAttempt", "errorMessage"];
        let mut data = fields.inner("data", &wanted)?;
        let status = data.count("statusCode");
        let message = data.text("errorMessage").unwrap_or_default();
        // A text inside of the text.
        let bare = serde_json::from_str::<&RawValue>(&message).ok().map(text_of);
        let (coded, message) = unwrap_error(&bare.unwrap_or(message));
        let status = status.or(coded);
        self.told.fail(reason_of(status, &message), &message);
        let cause = message.rsplit(": ").next().unwrap_or_default();
        let attempt = data.count("retryAttempt").and_then(|count| u32::try_from(count).ok());
        let attempt = attempt.map(|count| count.saturating_add(1));
        facts.push(Fact::Retry(Retry { attempt, most: None, cause: brief(status, cause) }));
        Some(())
    }

    fn error(&mut self, fields: &mut Fields<'_>, facts: &mut Vec<Fact>) -> Option<()> {
        let mut data = fields.inner("data", &["errorType", "message", "statusCode"])?;
        let message = data.text("message").unwrap_or_default();
        let reason = match data.text("errorType").as_deref() {
            Some("authentication" | "authorization") => ExitReason::Auth,
            Some("quota") => ExitReason::Quota,
            Some("rate_limit") => ExitReason::RateLimit,
            Some("context_limit") => ExitReason::Context,
            _ => reason_of(data.count("statusCode"), &message),
        };
        if self.told.fail(reason, &message) {
            push_text("error", &message, facts);
        }
        Some(())
    }

    fn result(&mut self, code: u64, facts: &mut Vec<Fact>) {
        if code == 0 && self.told.failure().is_none() {
            facts.push(self.told.done(ExitReason::Completed));
        } else {
            facts.extend(self.told.unfinished(NAMED, Ended { err: b"", report: b"", code: None }));
        }
    }
}

#[cfg(test)]
mod tests;
