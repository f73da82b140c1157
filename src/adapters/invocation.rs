//! What every kind's command line has in common: the task's text, the environment, what is refused.
//!
//! What may go here: rules that hold for all kinds. What may not: the arguments of one program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::core::Task;

/// Longest task that travels in an argument or a variable, in bytes. Linux takes 128 KiB for one of them, the name
/// of the variable included; the rest is a margin.
pub const TASK_IN_ARGV_BYTES: usize = 100_000;

/// Longest single argument that Linux takes, in bytes without the closing NUL.
const ARGUMENT_BYTES: usize = 131_071;

/// Where an agent is put: what is not in its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File that holds the task's text, absolute.
    pub task_file: PathBuf,
    /// File that a program which can writes a report to at its end, absolute.
    pub report: PathBuf,
    /// Workspace shared by the fleet's agents, absolute.
    pub mesh: Option<PathBuf>,
    /// Token that structured lines need (`--strict-protocol`).
    pub token: Option<String>,
}

/// How one agent is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables beside those that the agent inherits; nothing secret but the protocol's token.
    pub env: BTreeMap<String, String>,
    /// Folder that the agent works in.
    pub root: PathBuf,
    /// What the task file must hold.
    pub task_text: String,
    /// Names of variables that the agent must not inherit.
    pub env_remove: Vec<String>,
    /// What its standard input is.
    pub input: Input,
    /// Signal by which the program is asked to end.
    pub ask_signal: &'static str,
}

/// What an agent reads from its standard input.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Nothing: it reads the end at once.
    #[default]
    Null,
    /// The task file, and then the end.
    Task,
    /// The task as a first message, and then whatever it is told while it runs.
    Messages,
}

/// Why a kind cannot do a task as it was asked: one sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

/// Options that a kind may have no argument for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Engine,
    Tier,
    Model,
    MaxSteps,
    ReadOnly,
    AllowShell,
    AllowWeb,
    Context,
}

impl Choice {
    const ALL: [Self; 8] = [
        Self::Engine,
        Self::Tier,
        Self::Model,
        Self::MaxSteps,
        Self::ReadOnly,
        Self::AllowShell,
        Self::AllowWeb,
        Self::Context,
    ];

    const fn flag(self) -> &'static str {
        match self {
            Self::Engine => "--engine",
            Self::Tier => "--tier",
            Self::Model => "--model",
            Self::MaxSteps => "--max-steps",
            Self::ReadOnly => "--read-only",
            Self::AllowShell => "--allow-shell",
            Self::AllowWeb => "--allow-web",
            Self::Context => "--context",
        }
    }

    const fn is_made(self, task: &Task) -> bool {
        match self {
            Self::Engine => task.engine.is_some(),
            Self::Tier => task.tier.is_some(),
            Self::Model => task.model.is_some(),
            Self::MaxSteps => task.max_steps.is_some(),
            Self::ReadOnly => task.read_only,
            Self::AllowShell => task.allow_shell,
            Self::AllowWeb => task.allow_web,
            Self::Context => task.context.is_some(),
        }
    }
}

/// Refuses the first option that was chosen although the kind knows only those in `known`; `instead` says what to do.
pub(super) fn refuse_unknown(task: &Task, known: &[Choice], instead: &str) -> Result<(), Refusal> {
    let unknown = |choice: &Choice| choice.is_made(task) && !known.contains(choice);
    match Choice::ALL.into_iter().find(unknown) {
        Some(choice) => Err(Refusal::new(format!(
            "agents of kind {} have no {}: {instead}",
            task.kind,
            choice.flag()
        ))),
        None => Ok(()),
    }
}

/// Options that every program has a way for which works by itself with a model and has a cautious mode.
const OF_AGENTS: [Choice; 5] =
    [Choice::Model, Choice::ReadOnly, Choice::AllowShell, Choice::AllowWeb, Choice::Context];

/// Refuses what a program cannot do that works by itself with a model: options beside those that all of them have a way
/// for (`instead` says what to do), and arguments that would change what Fleet reads from it (`ours`).
pub(super) fn check_agent(task: &Task, instead: &str, ours: &[&str]) -> Result<(), Refusal> {
    refuse_unknown(task, &OF_AGENTS, instead)?;
    refuse_extra(task, ours)
}

/// Returns the option for the model, with its value, if one is chosen.
pub(super) fn chosen_model(task: &Task, option: &str) -> Vec<String> {
    let model = task.model.clone();
    model.map(|model| vec![option.to_owned(), model]).unwrap_or_default()
}

/// Refuses arguments passed on to the program that would change what Fleet reads from it.
pub(super) fn refuse_extra(task: &Task, ours: &[&str]) -> Result<(), Refusal> {
    let name = |argument: &str| argument.split('=').next().map(str::to_owned);
    let names = task.extra.iter().filter_map(|argument| name(argument));
    match names.into_iter().find(|name| ours.contains(&name.as_str())) {
        Some(name) => Err(Refusal::new(format!(
            "Fleet reads what {} prints and chooses {name} itself: leave it out",
            task.kind
        ))),
        None => Ok(()),
    }
}

/// Returns the option, with its value, by which a program goes on in the session of an earlier agent.
pub(super) fn resumed(task: &Task, option: &str) -> Vec<String> {
    let session = task.continues.as_ref().map(|continues| continues.session.clone());
    session.map(|session| vec![option.to_owned(), session]).unwrap_or_default()
}

/// Refuses commands together with `--read-only` for a program without a sandbox, whose commands write where they like.
pub(super) fn refuse_shell_that_writes(task: &Task) -> Result<(), Refusal> {
    if task.read_only && task.allow_shell {
        return Err(Refusal::new(format!(
            "{} cannot keep commands from writing: leave out --read-only or --allow-shell",
            task.kind
        )));
    }
    Ok(())
}

/// Returns the text of the task with the batch's context before it.
pub(super) fn prompt(task: &Task) -> String {
    match task.context.as_deref().map(str::trim_end) {
        Some(context) if !context.is_empty() => format!("{context}\n\n{}", task.text),
        Some(_) | None => task.text.clone(),
    }
}

/// Says whether the text is short enough for an argument or a variable.
pub(super) const fn is_short(text: &str) -> bool {
    text.len() <= TASK_IN_ARGV_BYTES
}

/// Returns the text with a leading blank if the program would take it for an option.
pub(super) fn guarded(text: &str, option_signs: &[char]) -> String {
    if text.starts_with(option_signs) { format!(" {text}") } else { text.to_owned() }
}

/// Puts an invocation together and checks what holds for every kind. `text` is the task as the agent gets it.
pub(super) fn assemble(
    task: &Task,
    place: &Place,
    text: String,
    argv: Vec<String>,
) -> Result<Invocation, Refusal> {
    if text.contains('\0') {
        return Err(Refusal::new(
            "the task has a NUL character, which no program can be given: take it out",
        ));
    }
    for argument in &argv {
        if argument.contains('\0') {
            return Err(Refusal::new(
                "an argument has a NUL character, which no program can be given: take it out",
            ));
        }
        if argument.len() > ARGUMENT_BYTES {
            return Err(Refusal::new(format!(
                "an argument would have {} KB and a program takes at most 128: let it read the task from the file that FLEET_TASK_FILE names",
                argument.len() / 1000
            )));
        }
    }
    let mut env = BTreeMap::new();
    env.insert("FLEET_TASK_FILE".to_owned(), utf8(&place.task_file)?.to_owned());
    // Programs believe it: the submitter's would lead them elsewhere.
    env.insert("PWD".to_owned(), utf8(root(task, place))?.to_owned());
    if is_short(&text) {
        env.insert("FLEET_TASK".to_owned(), text.clone());
    }
    if let Some(token) = &place.token {
        env.insert("FLEET_TOKEN".to_owned(), token.clone());
    }
    if let Some(mesh) = &place.mesh
        && !task.env_names.iter().chain(&task.env_stored).any(|name| name == "LOKI_MESH")
    {
        env.insert("LOKI_MESH".to_owned(), utf8(&mesh.join("mesh-kv.json"))?.to_owned());
    }
    Ok(Invocation {
        argv,
        env,
        root: root(task, place).to_owned(),
        task_text: text,
        env_remove: vec!["OLDPWD".to_owned()],
        input: Input::default(),
        ask_signal: "SIGTERM",
    })
}

/// Returns the folder that the agent works in: the mesh, if there is one.
pub(super) fn root<'a>(task: &'a Task, place: &'a Place) -> &'a Path {
    crate::core::folder(place.mesh.as_deref(), task)
}

/// Returns a path as text.
pub(super) fn utf8(path: &Path) -> Result<&str, Refusal> {
    path.to_str().ok_or_else(|| {
        Refusal::new(format!(
            "the path {} is not valid UTF-8 and cannot be passed on: rename it",
            path.display()
        ))
    })
}
