//! The kind `claude`: `claude -p` with its stream of JSON lines.
//!
//! What may go here: its arguments. What may not: how its lines are read.

mod ending;
mod reader;
mod totals;

use crate::core::{KindTraits, NanoUsd, Task};

use super::causes::Named;
use super::invocation::{self, Choice, Place, refuse_extra, refuse_unknown};
use super::messages::Editing;
use super::{Adapter, Input, Invocation, LineReader, ReaderStart, Refusal, command};

use reader::Reader;

/// What messages for people name.
const NAMED: Named =
    Named { program: "claude", login: "run claude and log in, or set ANTHROPIC_API_KEY" };

/// Its tools that change files.
const EDITING: Editing = Editing {
    tools: &["Edit", "Write", "MultiEdit", "NotebookEdit"],
    paths: &["file_path", "notebook_path"],
};

/// All that a task may use that may not write; its shell can write whatever its mode is, so it is not among them.
const READING_TOOLS: [&str; 3] = ["Read", "Glob", "Grep"];

/// Its tool that runs commands. Which of them it may run can be said after `--`, as in `--allowedTools=Bash(git *)`.
const SHELL: &str = "Bash";

/// Its options that say which tools it has and which of them it need not ask for.
const CHOOSING: [&str; 3] = ["--allowedTools", "--allowed-tools", "--tools"];

/// What the web needs.
const WEB_TOOLS: [&str; 2] = ["WebFetch", "WebSearch"];

/// Variables that keep it from updating itself and from talking to anybody but the model.
const QUIET: [&str; 3] =
    ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"];

/// The kind.
pub(super) struct Claude;

impl Adapter for Claude {
    fn kind(&self) -> &'static str {
        "claude"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    fn program(&self) -> Option<&'static str> {
        Some("claude")
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
        let ours = [
            "--output-format",
            "--input-format",
            "--include-partial-messages",
            "--replay-user-messages",
        ];
        refuse_extra(task, &ours)?;
        if task.read_only && task.allow_shell {
            return Err(Refusal::new(
                "claude's shell can write files: leave out --read-only or --allow-shell",
            ));
        }
        let mut argv: Vec<String> = ["claude", "-p", "--verbose"].map(str::to_owned).into();
        argv.extend(
            ["--input-format", "stream-json", "--output-format", "stream-json"].map(str::to_owned),
        );
        // So that it is known which messages it has taken up.
        argv.push("--replay-user-messages".to_owned());
        // Without these, nothing tells how much an answer costs before the whole run is over.
        argv.push("--include-partial-messages".to_owned());
        argv.extend(permissions(task));
        let turns = task.max_steps.map(|steps| steps.to_string());
        let budget = task.budget.filter(|budget| *budget > NanoUsd::ZERO).map(NanoUsd::to_exact);
        let valued =
            [("--model", task.model.clone()), ("--max-turns", turns), ("--max-budget-usd", budget)];
        for (flag, value) in valued {
            argv.extend(value.map(|value| [flag.to_owned(), value]).into_iter().flatten());
        }
        argv.extend(invocation::resumed(task, "--resume"));
        argv.extend(task.extra.iter().cloned());
        let text = invocation::prompt(task);
        let mut invocation = invocation::assemble(task, place, text, argv)?;
        invocation.env.extend(QUIET.map(|name| (name.to_owned(), "1".to_owned())));
        invocation.input = Input::Messages;
        // It ends with its totals then, and with nothing at any other signal.
        invocation.ask_signal = "SIGINT";
        Ok(invocation)
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(Reader::new(start))
    }

    fn message(&self, text: &str) -> Option<String> {
        let message = serde_json::json!({
            "type": "user",
            "message": { "role": "user", "content": text },
        });
        Some(message.to_string())
    }

    fn interrupt(&self) -> Option<String> {
        let request = serde_json::json!({
            "type": "control_request",
            // It is given back in an answer that tells nothing: what comes of it is the end of the turn.
            "request_id": "fleet",
            "request": { "subtype": "interrupt" },
        });
        Some(request.to_string())
    }

    fn resumes(&self) -> bool {
        true
    }
}

/// Returns the arguments for what the task may do. A list is one argument with an equals sign: the program would take
/// whatever follows for a part of it.
fn permissions(task: &Task) -> Vec<String> {
    let web = WEB_TOOLS.iter().filter(|_| task.allow_web);
    let mut allowed: Vec<&str> = Vec::new();
    let mut arguments = Vec::new();
    if task.read_only {
        let tools: Vec<&str> = READING_TOOLS.iter().chain(web.clone()).copied().collect();
        arguments.push(format!("--tools={}", tools.join(",")));
        // Tools of other servers could write as well.
        arguments.push("--strict-mcp-config".to_owned());
    } else {
        arguments.extend(["--permission-mode", "acceptEdits"].map(str::to_owned));
        if task.allow_shell {
            allowed.push(SHELL);
        } else if !chooses_shell(&task.extra) {
            // Not only left unallowed: this mode lets commands through that do nothing but edit, such as `mkdir`.
            arguments.push(format!("--disallowedTools={SHELL}"));
        }
    }
    allowed.extend(web);
    if !allowed.is_empty() {
        arguments.push(format!("--allowedTools={}", allowed.join(",")));
    }
    arguments
}

/// Says whether arguments passed on to the program choose which commands it may run: only what is given to the options
/// for that counts. What forbids some commands allows no others.
fn chooses_shell(extra: &[String]) -> bool {
    let mut takes_words = false;
    extra.iter().any(|argument| {
        let (option, joined) = match argument.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (argument.as_str(), None),
        };
        let value = if argument.starts_with('-') {
            let is_choice = CHOOSING.contains(&option);
            // Words after it belong to it as long as none of them is an option.
            takes_words = is_choice && joined.is_none();
            joined.filter(|_| is_choice)
        } else {
            takes_words.then_some(argument.as_str())
        };
        value.is_some_and(names_shell)
    })
}

/// Says whether a list of tools, with commas or blanks between them, has the one that runs commands. What stands in
/// parentheses after a tool is about that one, and no other tool.
fn names_shell(list: &str) -> bool {
    let mut depth = 0_usize;
    let is_between = |character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character == ',' || character.is_whitespace())
    };
    list.split(is_between).any(|tool| tool.split('(').next() == Some(SHELL))
}

#[cfg(test)]
mod tests;
