//! The kind `qwen`: `qwen -o stream-json`, whose lines look like claude's and count otherwise.
//!
//! What may go here: its arguments. What may not: how its lines are read.

mod reader;

use crate::core::{KindTraits, Task};

use super::causes::Named;
use super::invocation::{self, Choice, Place, refuse_extra, refuse_unknown};
use super::messages::Editing;
use super::{Adapter, Input, Invocation, LineReader, ReaderStart, Refusal, command};

use reader::Reader;

/// What messages for people name.
const NAMED: Named = Named {
    program: "qwen",
    login: "run qwen and log in, or set OPENAI_API_KEY and pass --auth-type openai on to it",
};

/// Its tools that change files.
const EDITING: Editing = Editing {
    tools: &["write_file", "edit", "replace", "notebook_edit"],
    paths: &["file_path", "absolute_path", "notebook_path"],
};

/// Tools that a task may not use that may not write. Its mode for plans already refuses them, unless the owner's
/// settings allow one.
const WRITING_TOOLS: &str = "run_shell_command,write_file,edit,replace,notebook_edit";

/// Variables that keep it from talking to anybody but the model, and from starting itself once more.
const QUIET: [(&str, &str); 3] = [
    ("QWEN_TELEMETRY_ENABLED", "false"),
    ("QWEN_USAGE_STATISTICS_ENABLED", "false"),
    ("QWEN_CODE_NO_RELAUNCH", "true"),
];

/// The kind.
pub(super) struct Qwen;

impl Adapter for Qwen {
    fn kind(&self) -> &'static str {
        "qwen"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("qwen")
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        let known = [
            Choice::Model,
            Choice::MaxSteps,
            Choice::ReadOnly,
            Choice::AllowShell,
            Choice::AllowWeb,
            Choice::Context,
        ];
        refuse_unknown(task, &known, "choose with --model what answers")?;
        refuse_extra(task, &["--output-format", "-o", "--input-format"])?;
        if task.read_only && task.allow_shell {
            return Err(Refusal::new(
                "qwen's shell can write files: leave out --read-only or --allow-shell",
            ));
        }
        let mut argv: Vec<String> = ["qwen", "-o", "stream-json"].map(str::to_owned).into();
        argv.extend(permissions(task));
        let turns = task.max_steps.map(|steps| steps.to_string());
        for (flag, value) in [("--model", task.model.clone()), ("--max-session-turns", turns)] {
            argv.extend(value.map(|value| [flag.to_owned(), value]).into_iter().flatten());
        }
        argv.extend(invocation::resumed(task, "--resume"));
        argv.extend(task.extra.iter().cloned());
        let text = invocation::prompt(task);
        let mut invocation = invocation::assemble(task, place, text, argv)?;
        invocation.env.extend(QUIET.map(|(name, value)| (name.to_owned(), value.to_owned())));
        invocation.input = Input::Task;
        Ok(invocation)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(Reader::new(start))
    }

    fn resumes(&self) -> bool {
        true
    }
}

/// Returns the arguments for what the task may do. A list is one argument with an equals sign: the program would take
/// whatever follows for a part of it.
fn permissions(task: &Task) -> Vec<String> {
    let mode = if task.read_only { "plan" } else { "auto-edit" };
    let mut arguments = vec!["--approval-mode".to_owned(), mode.to_owned()];
    if task.read_only {
        arguments.push(format!("--exclude-tools={WRITING_TOOLS}"));
    }
    let allowed = [(task.allow_shell, "run_shell_command"), (task.allow_web, "web_fetch")];
    let allowed: Vec<&str> =
        allowed.iter().filter(|(is_allowed, _)| *is_allowed).map(|(_, tool)| *tool).collect();
    if !allowed.is_empty() {
        arguments.push(format!("--allowed-tools={}", allowed.join(",")));
    }
    arguments
}

#[cfg(test)]
mod tests;
