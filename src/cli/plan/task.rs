//! One task of a plan, from its entry and the options of the command line.
//!
//! What may go here: which of the two counts, and what is wrong with the result. What may not: reading files.

use std::path::PathBuf;

use super::{Kinds, PlannedTask, Surroundings};
use crate::adapters::COMMAND;
use crate::cli::arguments::TaskArguments;
use crate::cli::nearest::hint;
use crate::cli::sources::{Entry, Place};
use crate::cli::validate::check_text;
use crate::core::{AgentKind, OwnKind, Task};
use crate::words::plain_text::{cut_graphemes, one_line};

/// What stands for the task in a command line.
const TASK_WORD: &str = "{task}";

/// What counts for each task that says nothing else.
pub(super) struct Defaults<'a> {
    arguments: &'a TaskArguments,
    /// Words after `--`.
    after: Vec<String>,
    context: Option<String>,
    around: &'a Surroundings<'a>,
    kinds: &'a Kinds<'a>,
}

/// Program of a task: a kind, and a command line for the kind `command`.
struct Program {
    kind: String,
    own: Option<Box<OwnKind>>,
    command: Option<Vec<String>>,
    extra: Vec<String>,
}

impl<'a> Defaults<'a> {
    pub(super) fn new(
        arguments: &'a TaskArguments,
        after: Vec<String>,
        context: Option<String>,
        around: &'a Surroundings<'a>,
        kinds: &'a Kinds<'a>,
    ) -> Self {
        Self { arguments, after, context, around, kinds }
    }

    /// Makes the task of an entry.
    pub(super) fn task(
        &self,
        entry: Entry,
        notes: &mut Vec<String>,
    ) -> Result<PlannedTask, Refusal> {
        let place = entry.place.clone();
        let at = Refusal::Entry;
        let program = self.program(&entry, notes)?;
        let kind = AgentKind(program.kind);
        let traits = (self.kinds.traits)(&kind).ok_or_else(|| {
            at(format!("no agent kind {}{}", one_line(&kind.0), hint(&kind.0, self.kinds.names)))
        })?;
        let text = entry
            .task
            .or_else(|| program.command.as_ref().map(|words| words.join(" ")))
            .unwrap_or_default();
        check_text(&text, traits.prompt).map_err(at)?;
        let arguments = self.arguments;
        let mut env = self.env(&entry.env).map_err(at)?;
        self.add_keys(&kind.0, &mut env).map_err(at)?;
        let task = Task {
            text,
            traits,
            own: program.own,
            command: program.command,
            extra: program.extra,
            engine: entry.engine.or_else(|| arguments.engine.clone()),
            tier: entry.tier.or_else(|| arguments.tier.clone()),
            model: entry.model.or_else(|| arguments.model.clone()),
            max_steps: entry.max_steps.or(arguments.max_steps),
            read_only: entry.read_only.unwrap_or(arguments.read_only),
            allow_shell: entry.allow_shell.unwrap_or(arguments.allow_shell),
            allow_web: entry.allow_web.unwrap_or(arguments.allow_web),
            root: self.root(entry.root).map_err(at)?,
            env_names: names(&env, false),
            env_stored: names(&env, true),
            budget: entry.budget_usd.or(arguments.budget),
            timeout: entry.timeout.or(arguments.timeout),
            idle_timeout: entry.idle_timeout.or(arguments.idle_timeout),
            leftovers: arguments.leftovers.unwrap_or_default(),
            context: entry.context.or_else(|| self.context.clone()),
            continues: None,
            kind,
        };
        check_words(&task).map_err(at)?;
        (self.kinds.check)(&task).map_err(at)?;
        Ok(PlannedTask { task, env, place })
    }

    /// Decides which program runs the entry: what the entry says, then `--agent`, then the command after `--`, then
    /// the first real agent that is found.
    fn program(&self, entry: &Entry, notes: &mut Vec<String>) -> Result<Program, Refusal> {
        if let Some(words) = &entry.cmd {
            if let Some(agent) = entry.agent.as_deref().filter(|agent| *agent != COMMAND) {
                return Err(Refusal::Entry(format!(
                    "has both cmd and agent {}: keep one",
                    one_line(agent)
                )));
            }
            return Ok(Program {
                kind: COMMAND.to_owned(),
                own: None,
                command: Some(words.clone()),
                extra: Vec::new(),
            });
        }
        let command = || Program {
            kind: COMMAND.to_owned(),
            own: None,
            command: Some(self.after.clone()),
            extra: Vec::new(),
        };
        let named = entry.agent.as_ref().or(self.arguments.agent.as_ref());
        if let Some(kind) = named {
            if kind == COMMAND {
                return if self.after.is_empty() {
                    Err(Refusal::Entry(
                        "is for a command, and there is none (write it after --)".to_owned(),
                    ))
                } else {
                    Ok(command())
                };
            }
            // Words after -- are for the agent named on the command line, not for another one that a file names.
            let own = self.arguments.agent.as_ref() == Some(kind);
            let extra = if own { self.after.clone() } else { Vec::new() };
            return Ok(self.program_of(kind, extra));
        }
        if !self.after.is_empty() {
            let alone = entry.task.as_ref() == Some(&self.after.join(" "));
            if !alone && !self.after.iter().any(|word| word.contains(TASK_WORD)) {
                note(notes, "the command has no {task}; agents find their task in FLEET_TASK_FILE");
            }
            return Ok(command());
        }
        let (kind, remark) = self.kinds.default_kind().map_err(Refusal::Whole)?;
        note(notes, &remark);
        Ok(self.program_of(kind, Vec::new()))
    }

    /// Returns the program of a kind that was named, with arguments passed on to it.
    fn program_of(&self, kind: &str, extra: Vec<String>) -> Program {
        let own = self.kinds.own.get(kind).map(|configured| Box::new(configured.own.clone()));
        Program { kind: kind.to_owned(), own, command: None, extra }
    }

    /// Adds the variables that hold keys of a kind: those that a kind of the owner's own needs, else those that its program
    /// takes and that are set here. After a recovery the task waits for them.
    fn add_keys(&self, kind: &str, env: &mut Vec<(String, Option<String>)>) -> Result<(), String> {
        let needed = self.kinds.own.get(kind).map_or(&[][..], |configured| &configured.env);
        let is_set = |name: &&String| (self.around.has_variable)(name);
        let given = |env: &[(String, Option<String>)], name: &str| {
            env.iter().any(|(known, _)| known == name)
        };
        if let Some(missing) = needed.iter().find(|name| !is_set(name) && !given(env, name)) {
            let missing = one_line(missing);
            return Err(format!(
                "agents of kind {kind} need {missing}, which is not set here (set it)"
            ));
        }
        let keys = (self.kinds.keys)(kind);
        let wanted: Vec<&String> = if needed.is_empty() {
            keys.iter().filter(is_set).collect()
        } else {
            needed.iter().collect()
        };
        for name in wanted {
            if !given(env, name) {
                env.push((name.clone(), None));
            }
        }
        Ok(())
    }

    fn root(&self, entry: Option<PathBuf>) -> Result<PathBuf, String> {
        let Some(given) = entry.or_else(|| self.arguments.root.clone()) else {
            return Ok(self.around.folder.clone());
        };
        let root = self.around.folder.join(&given);
        let shown = one_line(&given.to_string_lossy());
        if !root.exists() {
            return Err(format!("root {shown}: there is no such folder (make it first)"));
        }
        if !root.is_dir() {
            return Err(format!("root {shown}: is no folder"));
        }
        std::path::absolute(&root).map_err(|error| format!("root {shown}: {error}"))
    }

    /// Joins the variables of the command line and of the entry; a later one of the same name counts.
    fn env(
        &self,
        own: &[(String, Option<String>)],
    ) -> Result<Vec<(String, Option<String>)>, String> {
        let given = self.arguments.env.iter().map(|word| (word.name.clone(), word.value.clone()));
        let mut joined: Vec<(String, Option<String>)> = Vec::new();
        for (name, value) in given.chain(own.iter().cloned()) {
            joined.retain(|(other, _)| *other != name);
            joined.push((name, value));
        }
        for (name, value) in &joined {
            if value.is_none() && !(self.around.has_variable)(name) {
                let name = one_line(name);
                return Err(format!(
                    "{name} is to be forwarded and is not set here (set it, or give {name}=VALUE)"
                ));
            }
        }
        Ok(joined)
    }
}

/// Why there is no task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Because of this entry; a clause about it.
    Entry(String),
    /// Because of the whole command; a sentence.
    Whole(String),
}

impl Refusal {
    /// Returns a sentence, which begins with the entry's place if it is about the entry.
    pub(super) fn sentence(self, place: &Place) -> String {
        match self {
            Self::Entry(clause) => format!("{}: {clause}", where_is(place)),
            Self::Whole(sentence) => sentence,
        }
    }
}

fn where_is(place: &Place) -> String {
    cut_graphemes(&place.to_string(), 200)
}

fn note(notes: &mut Vec<String>, text: &str) {
    if !notes.iter().any(|known| known == text) {
        notes.push(text.to_owned());
    }
}

fn names(env: &[(String, Option<String>)], stored: bool) -> Vec<String> {
    env.iter()
        .filter(|(_, value)| value.is_some() == stored)
        .map(|(name, _)| name.clone())
        .collect()
}

/// Refuses NUL bytes in whatever becomes part of a command line.
fn check_words(task: &Task) -> Result<(), String> {
    let options = [
        ("engine", &task.engine),
        ("tier", &task.tier),
        ("model", &task.model),
        ("context", &task.context),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let command = task.command.iter().flatten().chain(&task.extra).map(|word| ("cmd", word));
    for (name, value) in options.chain(command) {
        if value.contains('\0') {
            return Err(format!("{name} has a NUL byte, which no argument can have"));
        }
    }
    Ok(())
}
