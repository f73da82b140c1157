//! The kind `codex`: `codex exec --json`, which prints one event a line and the totals of its thread at the end.
//!
//! What may go here: its arguments and its events. What may not: what readers of event streams share.

mod session;
mod words;

use serde_json::value::RawValue;

use crate::core::{ExitReason, Fact, KindTraits, Retry, SessionTotal, Task, Usage};

use super::causes::Named;
use super::event_stream::{
    EventStream, Told, brief, model as model_told, push_text, session as session_told, summary,
};
use super::invocation::{self, Input, Place};
use super::json::{self, Fields};
use super::session_files::Recording;
use super::text::{LINE_CHARS, one_line};
use super::{Adapter, Invocation, LineReader, ReaderStart, Refusal, SessionHome, command};
use session::Session;
use words::{DISCONNECTED, command_text, reason, status};

/// What its sentences name.
const NAMED: Named = Named {
    program: "codex",
    login: "run codex login, or set the variable that holds the key of its model provider",
};
/// What an attempt that is made again begins with.
const RECONNECTING: &str = "Reconnecting... ";
/// Texts since the last tool call by which one that is told again is known.
const TEXTS: usize = 64;
/// Files of one change that are looked at; a change of more is a generated one.
const CHANGES: usize = 10_000;

/// The kind.
pub(super) struct Codex;

impl Adapter for Codex {
    fn kind(&self) -> &'static str {
        "codex"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("codex")
    }

    /// Its commands always run inside its sandbox: without `--read-only` they may write in the folder, and
    /// `--allow-shell` adds nothing to that.
    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        invocation::check_agent(
            task,
            "choose the model with --model, and set limits with --budget or --timeout",
            &["--json", "-s", "--sandbox"],
        )?;
        let sandbox = if task.read_only { "read-only" } else { "workspace-write" };
        let search = if task.allow_web { "live" } else { "disabled" };
        let mut argv = ["codex", "exec"].map(str::to_owned).to_vec();
        argv.extend(task.continues.as_ref().map(|_| "resume".to_owned()));
        argv.extend(["--json", "--skip-git-repo-check"].map(str::to_owned));
        if task.continues.is_none() {
            argv.extend(["-s", sandbox].map(str::to_owned));
        }
        let mut set = |setting: String| argv.extend(["-c".to_owned(), setting]);
        if task.continues.is_some() {
            // Going on in a session has no option for it, and what the session had is not kept.
            set(format!("sandbox_mode=\"{sandbox}\""));
        }
        set(format!("web_search=\"{search}\""));
        set(format!("sandbox_workspace_write.network_access={}", task.allow_web));
        set("analytics.enabled=false".to_owned());
        set("check_for_update_on_startup=false".to_owned());
        argv.extend(invocation::chosen_model(task, "-m"));
        argv.extend(task.extra.iter().cloned());
        argv.extend(task.continues.as_ref().map(|continues| continues.session.clone()));
        argv.push("-".to_owned());
        let text = invocation::prompt(task);
        let invocation = invocation::assemble(task, place, text, argv)?;
        Ok(Invocation { input: Input::Task, ..invocation })
    }

    fn resumes(&self) -> bool {
        true
    }

    fn session_home(&self) -> Option<SessionHome> {
        Some(session::HOME)
    }

    /// Its commands always run, and write where its sandbox lets them.
    fn edits_unseen(&self, task: &Task) -> bool {
        !task.read_only
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        let model = start.option(&["-m", "--model"]).map(str::to_owned);
        Box::new(Reader {
            told: Told::resume(&start),
            recording: Recording::new(start.session.clone(), Session::new(&start, model.clone())),
            model,
            shown: Vec::new(),
            may_repeat: false,
            start,
        })
    }
}

struct Reader {
    start: ReaderStart,
    told: Told,
    /// The model that was asked for; the stream names none.
    model: Option<String>,
    recording: Recording,
    /// Texts since the last tool call.
    shown: Vec<String>,
    /// An attempt is made again, and what was shown may come once more.
    may_repeat: bool,
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
        let wanted = ["type", "thread_id", "item", "usage", "message", "error"];
        let mut fields = Fields::parse(line, &wanted)?;
        match fields.text("type")?.as_str() {
            "thread.started" => {
                let thread = fields.text("thread_id");
                self.recording.session.clone_from(&thread);
                facts.extend(session_told(thread));
                facts.extend(self.model.as_deref().and_then(model_told));
            }
            "item.started" => self.item(&fields.raw("item")?, false, facts)?,
            "item.completed" => self.item(&fields.raw("item")?, true, facts)?,
            "error" => self.error(&fields.text("message")?, facts),
            "turn.completed" => {
                let done = self.told.done(ExitReason::Completed);
                facts.push(done);
                facts.push(self.total(&fields.raw("usage")?)?);
            }
            "turn.failed" => {
                let mut error = fields.inner("error", &["message"])?;
                let message = error.text("message").unwrap_or_default();
                let (reason, message) = reason(&message);
                if self.told.fail(reason, &message) {
                    push_text("error", &message, facts);
                }
                facts.push(self.told.given_up(reason, NAMED, &message));
            }
            _ => {}
        }
        Some(())
    }
}

impl Reader {
    /// Reads the tokens of the thread, earlier runs of it included. Cached input is a part of its input, thinking a part
    /// of its output.
    fn total(&self, raw: &RawValue) -> Option<Fact> {
        let usage = session::usage(raw)?;
        let prices = &self.start.prices;
        let estimate = self
            .model
            .as_deref()
            .and_then(|model| prices.estimate_sum(Some("openai"), model, &usage));
        Some(Fact::SessionTotal(SessionTotal { usage: Usage { estimate, ..usage } }))
    }

    /// Reads an error, which mostly is not the end.
    fn error(&mut self, message: &str, facts: &mut Vec<Fact>) {
        let Some(attempt) = message.strip_prefix(RECONNECTING) else {
            let (reason, message) = reason(message);
            self.told.fail(reason, &message);
            push_text("error", &message, facts);
            return;
        };
        let (count, cause) = attempt.split_once(" (").unwrap_or((attempt, ""));
        let cause = cause.strip_suffix(')').unwrap_or(cause);
        let (attempt, most) = count.split_once('/').unwrap_or_default();
        let (why, cause) = reason(cause);
        self.told.fail(why, &cause);
        self.may_repeat = true;
        facts.push(Fact::Retry(Retry {
            attempt: attempt.trim().parse().ok(),
            most: most.trim().parse().ok(),
            cause: brief(status(&cause), cause.trim_start_matches(DISCONNECTED)),
        }));
    }

    fn item(&mut self, raw: &RawValue, is_over: bool, facts: &mut Vec<Fact>) -> Option<()> {
        let wanted = [
            "id",
            "type",
            "text",
            "message",
            "command",
            "aggregated_output",
            "exit_code",
            "status",
            "changes",
            "server",
            "tool",
            "arguments",
            "query",
            "error",
        ];
        let mut fields = Fields::of(raw, &wanted)?;
        let kind = fields.text("type")?;
        match kind.as_str() {
            "agent_message" | "reasoning" if is_over => {
                self.text(&kind, fields.text("text")?, facts);
            }
            // A warning or an error that the work goes on after.
            "error" if is_over => push_text("system", &fields.text("message")?, facts),
            "command_execution" => {
                let text = command_text(&fields.raw("command")?);
                self.step(&kind, text, &mut fields, is_over, facts)?;
            }
            "file_change" => self.file_change(&mut fields, is_over, facts)?,
            "mcp_tool_call" => {
                let server = fields.text("server").unwrap_or_default();
                let tool = format!("{server}.{}", fields.text("tool").unwrap_or_default());
                let text = summary(fields.raw("arguments").as_deref());
                self.step(tool.trim_matches('.'), text, &mut fields, is_over, facts)?;
            }
            "web_search" => {
                let text = one_line(&fields.text("query").unwrap_or_default(), LINE_CHARS);
                self.step(&kind, text, &mut fields, is_over, facts)?;
            }
            _ => {}
        }
        Some(())
    }

    fn text(&mut self, kind: &str, text: String, facts: &mut Vec<Fact>) {
        let is_repeated = self.may_repeat && self.shown.contains(&text);
        if self.shown.len() < TEXTS && !is_repeated {
            self.shown.push(text.clone());
        }
        let mut told = Vec::new();
        if kind == "reasoning" {
            push_text("thinking", &text, &mut told);
        } else {
            self.told.say(text, &mut told);
        }
        if !is_repeated {
            self.told.go_on();
            facts.append(&mut told);
        }
    }

    fn step(
        &mut self,
        tool: &str,
        text: String,
        fields: &mut Fields<'_>,
        is_over: bool,
        facts: &mut Vec<Fact>,
    ) -> Option<()> {
        let id = fields.text("id")?;
        self.shown.clear();
        self.may_repeat = false;
        if !is_over {
            self.told.begin(&id, tool, text, facts);
            return Some(());
        }
        let status = fields.text("status").unwrap_or_default();
        let has_failed = matches!(status.as_str(), "failed" | "declined")
            || fields.raw("exit_code").is_some_and(|code| code.get() != "0")
            || fields.raw("error").is_some();
        let denied = Fact::Denied { tool: tool.to_owned(), text: text.clone() };
        if self.told.end(&id, tool, text, has_failed, facts) {
            facts.extend((status == "declined").then_some(denied));
            push_text("result", &fields.text("aggregated_output").unwrap_or_default(), facts);
        }
        Some(())
    }

    fn file_change(
        &mut self,
        fields: &mut Fields<'_>,
        is_over: bool,
        facts: &mut Vec<Fact>,
    ) -> Option<()> {
        let (mut paths, mut deleted) = (Vec::new(), Vec::new());
        json::for_each_item(&fields.raw("changes")?, CHANGES, |change| {
            let change = Fields::of(change, &["path", "kind"]);
            let Some(mut change) = change else { return };
            let is_deleted = change.text("kind").as_deref() == Some("delete");
            paths.extend(change.text("path"));
            deleted.extend(paths.last().filter(|_| is_deleted).cloned());
        })?;
        let text = one_line(&paths.join(" "), LINE_CHARS);
        let status = fields.text("status");
        let is_done = is_over && status.as_deref() == Some("completed");
        let has_failed = is_over && !is_done;
        let id = fields.text("id")?;
        if is_done {
            for path in paths {
                if deleted.contains(&path) {
                    self.told.delete(path);
                } else {
                    self.told.change(path);
                }
            }
        }
        if is_over {
            self.told.end(&id, "file_change", text, has_failed, facts);
        } else {
            self.told.begin(&id, "file_change", text, facts);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
