//! Makes tasks of what is typed on the screen, with the rules and sentences of the command line.
//!
//! What may go here: turning the screen's options into the command line's. What may not: rules about tasks
//! (`cli::plan`), how anything looks.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::adapters::{COMMAND, adapter_of};
use crate::cli::arguments::{EnvWord, TaskArguments, env_word};
use crate::cli::config::Config;
use crate::cli::plan::{DraftProblem, Drafted, PlannedTask, Surroundings, Template, drafted};
use crate::cli::sources::draft_entries;
use crate::core::{Leftovers, NanoUsd, Task};
use crate::supervise::is_on_path;
use crate::tui::{KindInfo, Made, Problem, TaskMaker, TaskOptions};
use crate::words::plain_text::one_line;

/// Makes tasks for agents that work in a folder unless they are told otherwise.
#[derive(Debug, Default)]
pub(super) struct PlanMaker {
    /// The folder, absolute.
    pub(super) folder: PathBuf,
    /// A command line was given after `--`, so that it can be chosen as a kind.
    pub(super) has_command: bool,
    /// What the fleet counts an agent with whose cost nobody knows.
    pub(super) assume_cost: NanoUsd,
    /// What the owner has set.
    pub(super) config: Config,
}

impl TaskMaker for PlanMaker {
    fn kinds(&self) -> Vec<KindInfo> {
        let path = std::env::var_os("PATH");
        let info = |name: &str| {
            let traits = self.config.traits(name)?;
            let program = self.config.program(name);
            let untold = !self.config.tells_cost(name);
            Some(KindInfo {
                name: name.to_owned(),
                is_installed: program.is_none_or(|program| is_on_path(program, path.as_deref())),
                is_prompt: traits.prompt,
                pays: traits.pays,
                counts_as: untold.then_some(self.assume_cost),
            })
        };
        let names = self.config.names().into_iter();
        names.filter(|name| self.has_command || *name != COMMAND).filter_map(info).collect()
    }

    fn count(&self, draft: &str, options: &TaskOptions) -> usize {
        // A list with a mistake in it is one thing to mend.
        draft_entries(draft, self.config.is_prompt(&options.kind))
            .map_or(1, |entries| entries.len())
    }

    fn make(&self, draft: &str, options: &TaskOptions) -> Made {
        let around = Surroundings {
            folder: self.folder.clone(),
            processors: 1,
            terminal: true,
            has_variable: &|name| std::env::var_os(name).is_some(),
        };
        let template = template(options);
        self.config.with_kinds(|kinds| to_made(drafted(draft, &template, kinds, &around)))
    }

    fn read_variable(&self, word: &str) -> Result<(String, Option<String>), String> {
        let EnvWord { name, value } = env_word(word)?;
        if value.is_none() && std::env::var_os(&name).is_none() {
            return Err(format!("is not set here (set it, or give {name}=VALUE)"));
        }
        Ok((name, value))
    }

    fn missing(&self, made: &Made) -> Option<String> {
        missing(made, &self.config, std::env::var_os("PATH").as_deref())
    }
}

/// Says which program of these tasks is not there, where it was looked for and what to do, in one sentence. `path` is
/// where programs are looked for, unless a task says otherwise.
pub(super) fn missing(made: &Made, config: &Config, path: Option<&OsStr>) -> Option<String> {
    let nothing = BTreeMap::new();
    let values = made.values.iter().chain(std::iter::repeat(&nothing));
    made.tasks.iter().zip(values).find_map(|(task, values)| {
        let own = values.get("PATH").map(OsStr::new);
        missing_for(task, config, own.or(path))
    })
}

fn missing_for(task: &Task, config: &Config, path: Option<&OsStr>) -> Option<String> {
    let own = task.own.as_ref().and_then(|own| own.program.first()).map(String::as_str);
    let known = own.or(adapter_of(task)?.program());
    let program = known.or_else(|| task.command.as_ref()?.first().map(String::as_str))?;
    let shown = one_line(program);
    if program.contains('/') {
        let is_there = task.root.join(program).exists() || program.contains("{task}");
        let folder = one_line(&task.root.to_string_lossy());
        let advice = "make it or correct the command";
        return (!is_there).then(|| format!("\"{shown}\" was not found (in {folder}): {advice}"));
    }
    if is_on_path(program, path) || program.contains("{task}") {
        return None;
    }
    let is_present =
        |name: &&str| config.program(name).is_some_and(|program| is_on_path(program, path));
    let present: Vec<&str> = config.names().into_iter().filter(is_present).collect();
    let advice = match (config.install(&task.kind.0), present.as_slice()) {
        (None, _) => "install it or correct the command".to_owned(),
        (Some(install), []) => format!("install it ({install})"),
        (Some(install), present) => {
            format!("install it ({install}), or take a kind that is there: {}", present.join(", "))
        }
    };
    Some(format!("\"{shown}\" was not found on PATH: {advice}"))
}

/// Returns the options of the screen as the command line has them.
fn template(options: &TaskOptions) -> Template {
    let is_command = options.kind == COMMAND;
    let after = if is_command {
        options.command.clone().unwrap_or_default()
    } else {
        options.extra.clone()
    };
    let word = |(name, value): &(String, Option<String>)| EnvWord {
        name: name.clone(),
        value: value.clone(),
    };
    let is_set = !options.root.as_os_str().is_empty();
    Template {
        options: TaskArguments {
            agent: Some(options.kind.clone()).filter(|kind| !kind.is_empty()),
            engine: options.engine.clone(),
            tier: options.tier.clone(),
            model: options.model.clone(),
            max_steps: options.max_steps,
            read_only: options.read_only,
            allow_shell: options.allow_shell,
            allow_web: options.allow_web,
            root: is_set.then(|| options.root.clone()),
            env: options.env.iter().map(word).collect(),
            budget: options.budget,
            timeout: options.timeout,
            idle_timeout: options.idle_timeout,
            leftovers: options.keep_leftovers.then_some(Leftovers::Keep),
            context: None,
            origin: None,
        },
        after,
        context: options.context.clone(),
    }
}

fn to_made(drafted: Drafted) -> Made {
    let problem = |DraftProblem { line, sentence }| Problem { line, sentence };
    let problems = drafted.problems.into_iter().map(problem).collect();
    Made { problems, ..tasks(drafted.tasks) }
}

/// Returns planned tasks with the values of their variables.
pub(super) fn tasks(planned: Vec<PlannedTask>) -> Made {
    let mut made = Made::default();
    for PlannedTask { task, env, .. } in planned {
        let values: BTreeMap<String, String> =
            env.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        made.tasks.push(task);
        made.values.push(values);
    }
    made
}

#[cfg(test)]
mod tests;
