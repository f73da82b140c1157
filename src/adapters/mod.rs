//! Agent kinds, one file each: task and options to a command line, output to facts.
//!
//! What may go here: pure functions over text and options. What may not: files, clocks, processes, rules of money
//! (those are the core's). Unknown output is text and never an error.

mod causes;
mod changed_files;
mod claude;
mod closing_word;
mod codex;
mod command;
mod copilot;
mod demo;
mod event_stream;
mod gemini;
mod hermes;
mod invocation;
mod json;
mod kinds;
mod line_protocol;
mod messages;
mod object_search;
mod opencode;
mod prices;
mod qwen;
mod redact;
mod session_files;
mod sh;
mod shown;
mod text;
mod transcript_object;
mod ygg;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::core::{AgentKind, Fact, KindTraits, Talk, Task};

pub use invocation::{Input, Invocation, Place, Refusal, TASK_IN_ARGV_BYTES};
pub use kinds::{KnownKind, Login, Tells, known_program, known_programs};
#[cfg(feature = "tui")]
pub(crate) use line_protocol::MARK as PROTOCOL_MARK;
pub use line_protocol::{ProtocolReader, Words, in_words};
pub use prices::Prices;
pub use redact::redact;
pub use session_files::{Part, SessionFiles, SessionHome, Sessions};
pub use text::{last_error_line, one_line};
pub use ygg::{DoOptions, TranscriptReader, do_command};

pub(crate) use text::last_line;

/// Everything Fleet knows of one agent kind.
pub trait Adapter: Send + Sync {
    /// Returns the kind's name, as `--agent` takes it.
    fn kind(&self) -> &'static str;

    /// Returns what the core has to know of the kind.
    fn traits(&self) -> KindTraits;

    /// Returns the program that must be on the search path; `None` if the task itself names it.
    fn program(&self) -> Option<&'static str>;

    /// Says which text of an agent tells a person most while it runs. What programs with a model print is meant for
    /// programs, unless their adapter says otherwise.
    fn first_text(&self) -> FirstText {
        if self.traits().prompt { FirstText::Transcript } else { FirstText::Out }
    }

    /// Returns the command line, the environment and the text of the task file for one task. A task that the kind
    /// cannot do as it was asked is refused with a sentence.
    fn invocation(&self, task: &Task, place: &Place) -> Result<Invocation, Refusal>;

    /// Makes a reader for the output of one agent.
    fn reader(&self, start: ReaderStart) -> Box<dyn LineReader>;

    /// Returns where the program records its sessions, if it does and Fleet can read that; [`LineReader::session_files`]
    /// needs it.
    fn session_home(&self) -> Option<SessionHome> {
        None
    }

    /// Returns a message as the one line that the program takes while it runs, without its end; `None` if the program
    /// takes none. The first message of such a kind is its task ([`Input::Messages`]).
    fn message(&self, _text: &str) -> Option<String> {
        None
    }

    /// Returns the line that ends the program's turn while it runs and leaves it waiting for a message, without its end;
    /// `None` if there is none.
    fn interrupt(&self) -> Option<String> {
        None
    }

    /// Says whether an agent of a task may change files that its output does not tell of. Commands may.
    fn edits_unseen(&self, task: &Task) -> bool {
        self.traits().prompt && task.allow_shell && !task.read_only
    }

    /// Says whether a new agent can go on in the session of one that has ended, so that [`Adapter::invocation`] knows
    /// what [`Task::continues`] means.
    fn resumes(&self) -> bool {
        false
    }
}

/// The text of an agent that is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstText {
    /// What it prints, as it is.
    Out,
    /// The account that is made of it.
    Transcript,
}

/// What a reader has to know before it reads the first line.
#[derive(Debug, Default, Clone)]
pub struct ReaderStart {
    /// Structured lines count only with this token (`--strict-protocol`).
    pub token: Option<String>,
    /// What was learned from the output before, when reading goes on after a recovery.
    pub seen: Seen,
    /// The last [`Fact::Notes`] of the reader before; it goes on from there.
    pub notes: Option<String>,
    /// What tokens cost, for programs that do not say so.
    pub prices: Arc<Prices>,
    /// The command line that the agent was started with, for what its output does not say; empty if nobody knows.
    pub argv: Vec<String>,
    /// The session, when reading goes on after a recovery and the output before has named it.
    pub session: Option<String>,
    /// Where the program records its sessions, and since when this agent's counts; `None` if nobody knows.
    pub sessions: Option<Sessions>,
}

impl ReaderStart {
    /// Returns the value of the last option of one of these names, written `-m VALUE` or `--model=VALUE`.
    fn option(&self, names: &[&str]) -> Option<&str> {
        let mut values = self.argv.iter().enumerate().filter_map(|(place, argument)| {
            if names.contains(&argument.as_str()) {
                return self.argv.get(place + 1).map(String::as_str);
            }
            let (name, value) = argument.split_once('=')?;
            names.contains(&name).then_some(value)
        });
        values.next_back()
    }
}

/// What an output has told so far, so that its end does not tell it again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Steps.
    pub steps: bool,
    /// Checkpoints.
    pub smokes: bool,
    /// The closing word.
    pub result: bool,
}

/// The last bytes of the output of an agent that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Closing<'a> {
    /// The bytes; they begin with a line.
    pub bytes: &'a [u8],
    /// They are the whole output.
    pub is_whole: bool,
}

/// What is known of an agent's end beside its output.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ended<'a> {
    /// The last bytes of its standard error; they begin with a line.
    pub err: &'a [u8],
    /// The report that it was told to write; empty if there is none.
    pub report: &'a [u8],
    /// Its exit code; `None` if a signal ended it, or nobody knows.
    pub code: Option<i32>,
}

/// Turns the output of one agent into facts. Never fails: what it does not understand is text, or counted.
pub trait LineReader: Send {
    /// Says whether lines can tell anything. If not, only the end is read.
    fn reads_lines(&self) -> bool;

    /// Takes one line that begins with `{`, without its end, at most 1 MiB.
    fn line(&mut self, line: &[u8], facts: &mut Vec<Fact>);

    /// Says whether the program tells on its standard error, while it runs, what its lines do not: that it tries again.
    fn reads_errors(&self) -> bool {
        false
    }

    /// Takes one line of the standard error, without its end, if it reads them. Lines are passed over where the program
    /// writes more than anybody reads.
    fn error_line(&mut self, _line: &[u8], _facts: &mut Vec<Fact>) {}

    /// Says whether the end of the output has to be looked at when the agent has ended.
    fn reads_closing(&self) -> bool;

    /// Takes the end of the output, once. Returns where in it the closing object ends, if there is one.
    fn closing(&mut self, closing: Closing<'_>, facts: &mut Vec<Fact>) -> Option<usize>;

    /// Takes the end of the agent itself, once, after everything else: what the exit code and the standard error say of
    /// why it ended.
    fn ended(&mut self, _end: Ended<'_>, _facts: &mut Vec<Fact>) {}

    /// Returns what a reader needs that goes on where this one is, in words of its own and in few bytes; `None` if
    /// nothing. It is told as [`Fact::Notes`] when it has changed.
    fn notes(&self) -> Option<String> {
        None
    }

    /// Says whether the program's record of the session is read as well. It is looked at as long as the agent runs,
    /// whether there is output or not.
    fn reads_session(&self) -> bool {
        false
    }

    /// Returns where that record is, as soon as the session is known.
    fn session_files(&self) -> Option<SessionFiles> {
        None
    }

    /// Takes one line of the record that begins with `{`, without its end, at most 1 MiB. Lines come file by file from the
    /// beginning, those of earlier runs included, and may all come again.
    fn session_line(&mut self, _line: &[u8]) {}

    /// Tells what the lines come to. Called when all that are there were taken.
    fn session_read(&mut self, _facts: &mut Vec<Fact>) {}

    /// Says whether a line is for people and may be shown as the last thing that the agent said.
    fn is_text(&self, line: &[u8]) -> bool;
}

/// Every kind that is offered, in that order.
static ADAPTERS: [&dyn Adapter; 10] = [
    &claude::Claude,
    &codex::Codex,
    &opencode::Opencode,
    &gemini::Gemini,
    &qwen::Qwen,
    &copilot::Copilot,
    &hermes::Hermes,
    &ygg::Ygg,
    &sh::Sh,
    &command::Command,
];

/// Name of the kind whose tasks bring their own command line.
pub const COMMAND: &str = "command";

/// Says whether tasks of a kind are prompts; those of a kind that is not known are.
pub fn is_prompt(kind: &str) -> bool {
    adapter(&AgentKind(kind.to_owned())).is_none_or(|adapter| adapter.traits().prompt)
}

/// Returns what is known of a kind; `None` for a name that is no kind. Knows `demo` as well, which is not offered.
pub fn adapter(kind: &AgentKind) -> Option<&'static dyn Adapter> {
    /// Only the demo makes tasks of it.
    static DEMO: &dyn Adapter = &demo::Demo;
    ADAPTERS.into_iter().chain([DEMO]).find(|adapter| adapter.kind() == kind.0)
}

/// Returns the adapter that drives a task: that of its kind, or the one that a kind of the owner's own names.
pub fn adapter_of(task: &Task) -> Option<&'static dyn Adapter> {
    adapter(task.driven_as())
}

/// Returns how a task is started: what its adapter makes of it, with the program and the options of the kind where that is
/// one of the owner's own.
pub fn invocation(task: &Task, place: &Place) -> Result<Invocation, Refusal> {
    let unknown =
        || Refusal::new(format!("the agent kind {} is not known to this Fleet", task.kind));
    let adapter = adapter_of(task).ok_or_else(unknown)?;
    let Some(own) = &task.own else { return adapter.invocation(task, place) };
    let mut given = task.clone();
    if adapter.kind() == COMMAND {
        given.command = Some([&*own.program, &*own.options].concat());
        return adapter.invocation(&given, place);
    }
    given.extra = [&*own.options, &*task.extra].concat();
    let mut invocation = adapter.invocation(&given, place)?;
    if !own.program.is_empty() {
        drop(invocation.argv.splice(..1.min(invocation.argv.len()), own.program.iter().cloned()));
    }
    Ok(invocation)
}

/// Makes a task for a kind, with every option at its simplest; `root` is the folder that its agent works in, absolute.
/// An unknown kind is refused with the nearest known one.
pub fn task(kind: &str, text: &str, root: &Path) -> Result<Task, Refusal> {
    let name = AgentKind(kind.to_owned());
    match adapter(&name) {
        Some(adapter) => Ok(Task::new(text, name, adapter.traits(), root.to_owned())),
        None => Err(Refusal::new(match nearest(kind) {
            Some(known) => format!("there is no agent kind {kind} (did you mean {known}?)"),
            None => format!("there is no agent kind {kind}"),
        })),
    }
}

/// Returns what can be said to agents of each kind that is offered.
pub(crate) fn talks() -> BTreeMap<AgentKind, Talk> {
    let named = |adapter: &dyn Adapter| (AgentKind(adapter.kind().to_owned()), talk_of(adapter));
    ADAPTERS.into_iter().map(named).collect()
}

/// Returns what can be said to the agent of a task; nothing to a command line that was given word for word.
pub(crate) fn talk(task: &Task) -> Talk {
    let adapter = adapter_of(task).filter(|_| task.command.is_none());
    adapter.map(talk_of).unwrap_or_default()
}

fn talk_of(adapter: &dyn Adapter) -> Talk {
    Talk {
        messages: adapter.message("").is_some(),
        interrupts: adapter.interrupt().is_some(),
        resumes: adapter.resumes(),
    }
}

/// Says which text of the agent of a task is shown first.
pub fn first_text(task: &Task) -> FirstText {
    adapter_of(task).map_or(FirstText::Out, Adapter::first_text)
}

/// Returns the names of the kinds that are offered, in that order.
pub fn known_kinds() -> impl Iterator<Item = &'static str> {
    ADAPTERS.into_iter().map(Adapter::kind)
}

/// Returns the known kind whose name is nearest to a misspelt one, if one is near.
pub fn nearest(kind: &str) -> Option<&'static str> {
    /// Names less alike than this are no misspelling of each other.
    const ALIKE: f64 = 0.75;
    let likeness = |known: &str| strsim::jaro_winkler(known, &kind.to_lowercase());
    known_kinds()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests;
