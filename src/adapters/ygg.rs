//! The kind `ygg`: `ygg loki do TASK --json`, which prints a banner, nothing for a long time, and one JSON object.
//!
//! What may go here: its arguments and how its output is read. What may not: the shape of that object, which other
//! programs print as well.

use crate::core::{AgentResult, Fact, KindTraits, NanoUsd, Task};

use super::causes::{self, Named};
use super::invocation::{self, Choice, Place, guarded, refuse_unknown, root, utf8};
use super::text::last_error_line;
use super::transcript_object::{self, Strictness};
use super::{
    Adapter, Closing, Ended, FirstText, Invocation, LineReader, ReaderStart, Refusal, command,
};

/// What messages for people name.
const NAMED: Named =
    Named { program: "ygg", login: "set the variable that holds the key of its engine" };

/// Turns that an agent may take if its task says nothing.
const MAX_STEPS: u32 = 8;

/// The kind.
pub(super) struct Ygg;

/// Options of one `do`, with the defaults of upstream's fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoOptions<'a> {
    /// Folder that the agent works in.
    pub root: &'a str,
    /// Most turns.
    pub max_steps: u32,
    /// Engine.
    pub engine: Option<&'a str>,
    /// Tier.
    pub tier: Option<&'a str>,
    /// Most it may cost.
    pub budget: Option<NanoUsd>,
    /// It may not write.
    pub read_only: bool,
    /// It may run commands.
    pub allow_shell: bool,
    /// It may use the web.
    pub allow_web: bool,
}

impl Default for DoOptions<'_> {
    fn default() -> Self {
        Self {
            root: ".",
            max_steps: MAX_STEPS,
            engine: None,
            tier: None,
            budget: None,
            read_only: false,
            allow_shell: false,
            allow_web: false,
        }
    }
}

/// Returns the command line by which upstream's fleet starts one agent, word for word: `python` is the interpreter,
/// and a task that begins with `-` is not guarded.
pub fn do_command(python: &str, task: &str, options: &DoOptions<'_>) -> Vec<String> {
    let program = [python, "-m", "yggdrasil.loki.cli", "do", task];
    program.into_iter().map(str::to_owned).chain(options.to_arguments()).collect()
}

impl DoOptions<'_> {
    /// Returns the arguments after the task.
    fn to_arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--root".to_owned(), self.root.to_owned(), "--json".to_owned()];
        arguments.extend(["--max-steps".to_owned(), self.max_steps.to_string()]);
        let budget = self.budget.map(to_decimal);
        let valued =
            [("--engine", self.engine), ("--tier", self.tier), ("--budget", budget.as_deref())];
        for (flag, value) in valued {
            if let Some(value) = value {
                arguments.extend([flag.to_owned(), value.to_owned()]);
            }
        }
        let flags = [
            ("--read-only", self.read_only),
            ("--allow-shell", self.allow_shell),
            ("--allow-web", self.allow_web),
        ];
        arguments.extend(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| (*flag).to_owned()));
        arguments
    }
}

/// Returns the amount as a plain decimal with at least one digit after the point: `0.25`, `2.0`.
fn to_decimal(amount: NanoUsd) -> String {
    let exact = amount.to_exact();
    let short = exact.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

impl Adapter for Ygg {
    fn kind(&self) -> &'static str {
        "ygg"
    }

    fn traits(&self) -> KindTraits {
        KindTraits { prompt: true, pays: true, must_answer: true }
    }

    /// It prints nothing but its end, and that is best read as it is.
    fn first_text(&self) -> FirstText {
        FirstText::Out
    }

    fn program(&self) -> Option<&'static str> {
        Some("ygg")
    }

    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal> {
        if let Some(given) = &task.command {
            return command::explicit(given, task, place);
        }
        let known = [
            Choice::Engine,
            Choice::Tier,
            Choice::MaxSteps,
            Choice::ReadOnly,
            Choice::AllowShell,
            Choice::AllowWeb,
            Choice::Context,
        ];
        refuse_unknown(task, &known, "choose with --engine and --tier which model it uses")?;
        let text = invocation::prompt(task);
        if !invocation::is_short(&text) {
            return Err(Refusal::new(format!(
                "the task has {} KB and ygg takes at most {}: put the text into a file in {} and name that file in the task",
                text.len() / 1000,
                invocation::TASK_IN_ARGV_BYTES / 1000,
                root(task, place).display()
            )));
        }
        let options = DoOptions {
            root: utf8(root(task, place))?,
            max_steps: task.max_steps.unwrap_or(MAX_STEPS),
            engine: task.engine.as_deref(),
            tier: task.tier.as_deref(),
            budget: task.budget,
            read_only: task.read_only,
            allow_shell: task.allow_shell,
            allow_web: task.allow_web,
        };
        let mut argv: Vec<String> = ["ygg", "loki", "do"].map(str::to_owned).into();
        argv.push(guarded(&text, &['-']));
        argv.extend(options.to_arguments());
        argv.extend(task.extra.iter().cloned());
        invocation::assemble(task, place, text, argv)
    }

    /// Only the end of a run that has one tells of files.
    fn edits_unseen(&self, task: &Task) -> bool {
        !task.read_only
    }

    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader> {
        Box::new(TranscriptReader::new(start.seen.result))
    }
}

/// Reads the output of `ygg loki do --json`: nothing but its closing object.
#[derive(Debug)]
pub struct TranscriptReader {
    /// The end of the output was looked at, or need not be.
    has_looked: bool,
    has_result: bool,
}

impl TranscriptReader {
    /// Makes a reader; `has_result`: the closing object was read before a recovery.
    pub const fn new(has_result: bool) -> Self {
        Self { has_looked: has_result, has_result }
    }
}

impl LineReader for TranscriptReader {
    fn reads_lines(&self) -> bool {
        false
    }

    fn line(&mut self, _line: &[u8], _facts: &mut Vec<Fact>) {}

    fn reads_closing(&self) -> bool {
        !self.has_looked
    }

    fn closing(&mut self, closing: Closing<'_>, facts: &mut Vec<Fact>) -> Option<usize> {
        self.has_looked = true;
        if closing.is_whole && transcript_object::is_other_json(closing.bytes) {
            // Something structured that is no transcript: nothing is known of it but that.
            facts.push(Fact::Result(AgentResult { unparsed: true, ..AgentResult::default() }));
            self.has_result = true;
            return None;
        }
        let found = transcript_object::find(closing, Strictness::Own)?;
        found.transcript.push_facts(ReaderStart::default().seen, facts);
        self.has_result = true;
        Some(found.end)
    }

    /// When its service turns it down it ends with a traceback and no object.
    fn ended(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        if self.has_result || end.code == Some(0) {
            return;
        }
        let message = last_error_line(&String::from_utf8_lossy(end.err));
        if let Some(reason) = causes::by_message(None, &message) {
            facts.push(Fact::Result(causes::failure(reason, NAMED, &message)));
        }
    }

    fn is_text(&self, _line: &[u8]) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ExitReason;

    const TRACEBACK: &[u8] =
        b"Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n\
        openai.AuthenticationError: Error code: 401 - invalid x-api-key\n";

    fn told(out: &[u8], err: &[u8], code: Option<i32>) -> Vec<AgentResult> {
        let mut reader = TranscriptReader::new(false);
        let mut facts = Vec::new();
        reader.closing(Closing { bytes: out, is_whole: true }, &mut facts);
        reader.ended(Ended { err, code, ..Ended::default() }, &mut facts);
        let results = facts.into_iter().filter_map(|fact| match fact {
            Fact::Result(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    #[test]
    fn a_traceback_of_a_service_that_refused_is_told_with_its_reason() {
        let told_of = told(b"banner\n", TRACEBACK, Some(1));
        assert_eq!(told_of.first().and_then(|result| result.reason), Some(ExitReason::Auth));
        let error = &told_of[0].error;
        assert!(error.starts_with("ygg was not let in: set ") && error.contains("401"), "{error}");
        let object = b"{\"completed\": true, \"answer\": \"a\", \"steps\": []}\n";
        let both = told(object, TRACEBACK, Some(1));
        assert_eq!(both.len(), 1, "its own last word counts: {both:?}");
        assert_eq!(told(b"banner\n", TRACEBACK, Some(0)), []);
        assert_eq!(told(b"banner\n", b"ValueError: odd\n", Some(1)), [], "an error like any other");
    }
}
