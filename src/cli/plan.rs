//! What `fleet run` is about to do: options and checked tasks, from arguments, files and the surroundings.
//!
//! What may go here: joining them, with one sentence for whatever is wrong. What may not: starting anything; knowledge
//! of single agent kinds, which is asked of [`Kinds`].

mod cost;
mod draft;
mod kinds;
mod task;

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::cli::arguments::{ContextText, LimitArguments, RunArguments};
use crate::cli::sources::{self, Entry, Place};
use crate::core::{FleetOptions, OnCap, Task};
use crate::words::plain_text::one_line;

pub use draft::{DraftProblem, Drafted, Template, drafted};
pub use kinds::{ConfiguredKind, Kinds, RealKind};

/// Fewest and most agents at once when nothing is said: one alone wastes the machine, and more than these are for
/// the owner to decide.
const PARALLEL: (usize, usize) = (2, 8);

/// What surrounds the command: everything that a plan needs and that is no argument.
pub struct Surroundings<'a> {
    /// Current folder, absolute.
    pub folder: PathBuf,
    /// Processors that this process may use.
    pub processors: usize,
    /// Somebody can answer a question: what is typed and what is shown are on a terminal.
    pub terminal: bool,
    /// Says whether a variable is set here.
    pub has_variable: &'a dyn Fn(&str) -> bool,
}

/// One task, ready to be queued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    /// The task; its root is absolute.
    pub task: Task,
    /// Variables: with a value they are stored until the agent starts, without one the submitter's is forwarded.
    pub env: Vec<(String, Option<String>)>,
    /// Where it was given.
    pub place: Place,
}

/// A fleet that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its options.
    pub options: FleetOptions,
    /// Its tasks in order.
    pub tasks: Vec<PlannedTask>,
    /// Who submits them.
    pub origin: Option<String>,
    /// Text that the whole batch shares.
    pub context: Option<String>,
    /// What was decided without being asked, for the person: one short remark each.
    pub notes: Vec<String>,
}

/// Makes a plan with at least one task, or says in one sentence why there is none. Reads the files that the arguments
/// name.
pub fn plan(
    arguments: &RunArguments,
    kinds: &Kinds<'_>,
    around: &Surroundings<'_>,
    stdin: &mut dyn Read,
) -> Result<Plan, String> {
    let plan = plan_any(arguments, kinds, around, stdin)?;
    if plan.tasks.is_empty() { Err(no_tasks(&arguments.files)) } else { Ok(plan) }
}

/// Makes a plan that may be without tasks, for a screen on which they are typed.
pub fn plan_any(
    arguments: &RunArguments,
    kinds: &Kinds<'_>,
    around: &Surroundings<'_>,
    stdin: &mut dyn Read,
) -> Result<Plan, String> {
    let mut notes = Vec::new();
    let options = fleet_options(arguments, around)?;
    let context = context(arguments.task.context.as_ref(), &around.folder)?;
    let after = words_after(arguments)?;
    let entries = entries(arguments, &after, stdin)?;
    if entries.is_empty() && !arguments.files.is_empty() {
        return Err(no_tasks(&arguments.files));
    }
    let defaults = task::Defaults::new(&arguments.task, after, context.clone(), around, kinds);
    let planned = |entry: Entry| {
        let place = entry.place.clone();
        defaults.task(entry, &mut notes).map_err(|refusal| refusal.sentence(&place))
    };
    let tasks = entries.into_iter().map(planned).collect::<Result<Vec<_>, _>>()?;
    notes.extend(cost::remarks(&tasks, &options, kinds));
    Ok(Plan { options, tasks, origin: arguments.task.origin.clone(), context, notes })
}

fn fleet_options(
    arguments: &RunArguments,
    around: &Surroundings<'_>,
) -> Result<FleetOptions, String> {
    let fleet = &arguments.fleet;
    let defaults = FleetOptions::default();
    let mut options = FleetOptions {
        name: fleet.name.as_deref().map(one_line).filter(|name| !name.is_empty()),
        max_parallel: Some(default_parallel(around.processors)),
        on_cap: if around.terminal { OnCap::Ask } else { OnCap::Drop },
        mesh: fleet.mesh.as_ref().map(|mesh| around.folder.join(mesh)),
        orphan_limit: fleet.orphan_limit,
        strict_protocol: fleet.strict_protocol,
        max_depth: fleet.max_depth.unwrap_or(defaults.max_depth),
        ..defaults
    };
    arguments.limits.apply(&mut options);
    LimitArguments::check(&options)?;
    check_on_cap(&options, around.terminal)?;
    if let Some(mesh) = options.mesh.as_ref().filter(|mesh| mesh.exists() && !mesh.is_dir()) {
        return Err(format!(
            "--mesh {}: is no folder (name another)",
            one_line(&mesh.to_string_lossy())
        ));
    }
    Ok(options)
}

/// Returns the options with which a fleet goes on: those it had, with what is given now laid over them. Without
/// `--on-cap` a terminal is asked, and without a terminal the queue is held, since a resumed fleet can be resumed again.
pub fn resume_options(
    given: &LimitArguments,
    before: &FleetOptions,
    terminal: bool,
) -> Result<FleetOptions, String> {
    let on_cap = if terminal { OnCap::Ask } else { OnCap::Hold };
    let mut options = FleetOptions { on_cap, ..before.clone() };
    given.apply(&mut options);
    LimitArguments::check(&options)?;
    check_on_cap(&options, terminal)?;
    Ok(options)
}

/// Returns the options with which a fleet goes on behind: those in force, with what is given now laid over them. The cap
/// drops nothing that was to go on: it holds the queue, or asks whoever comes if that is what the fleet did.
pub fn options_behind(
    given: &LimitArguments,
    before: &FleetOptions,
) -> Result<FleetOptions, String> {
    let on_cap = match before.on_cap {
        OnCap::Ask => OnCap::Ask,
        OnCap::Drop | OnCap::Hold | OnCap::Raise(_) => OnCap::Hold,
    };
    let mut options = FleetOptions { on_cap, ..before.clone() };
    given.apply(&mut options);
    // What was not given cannot be given wrongly: the cap that an option needs may have been taken away since.
    if *given != LimitArguments::default() {
        LimitArguments::check(&options)?;
    }
    Ok(options)
}

/// Returns how many agents run at once when nothing is said.
pub fn default_parallel(processors: usize) -> u32 {
    u32::try_from(processors.clamp(PARALLEL.0, PARALLEL.1)).unwrap_or(u32::MAX)
}

/// Refuses a question that nobody could answer.
pub fn check_on_cap(options: &FleetOptions, terminal: bool) -> Result<(), String> {
    if options.on_cap == OnCap::Ask && !terminal && options.cap.is_some() {
        return Err(
            "--on-cap ask needs a terminal to ask on (use drop, hold or raise=USD)".to_owned()
        );
    }
    Ok(())
}

fn context(given: Option<&ContextText>, folder: &Path) -> Result<Option<String>, String> {
    let text = match given {
        None => return Ok(None),
        Some(ContextText::Text(text)) => text.clone(),
        Some(ContextText::File(path)) => sources::read_context(&folder.join(path), path)
            .map_err(|error| format!("--context @{error}"))?,
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Returns the words after `--` as text.
pub fn words_after(arguments: &RunArguments) -> Result<Vec<String>, String> {
    arguments
        .after
        .iter()
        .map(|word| {
            word.clone().into_string().map_err(|word| {
                format!("after --: '{}' is not UTF-8 text", one_line(&word.to_string_lossy()))
            })
        })
        .collect()
}

/// Returns the tasks of the arguments, then those of the files.
fn entries(
    arguments: &RunArguments,
    after: &[String],
    stdin: &mut dyn Read,
) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = (1..)
        .zip(&arguments.tasks)
        .map(|(number, text)| Entry::new(Place::Argument(number), Some(text.clone())))
        .collect();
    entries.append(
        &mut sources::read_all(&arguments.files, stdin).map_err(|error| error.to_string())?,
    );
    let command = arguments.task.agent.is_none() && !after.is_empty();
    let is_whole = command && !after.iter().any(|word| word.contains("{task}"));
    if entries.is_empty() && arguments.files.is_empty() && is_whole {
        // The command itself is the one task.
        entries.push(Entry::new(Place::Argument(1), Some(after.join(" "))));
    }
    Ok(entries)
}

fn no_tasks(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return "no tasks: give each as one argument or as a line of a file, such as fleet run 'fix the tests' or fleet run -f tasks.txt"
            .to_owned();
    }
    let files: Vec<String> = files.iter().map(|path| one_line(&path.to_string_lossy())).collect();
    format!("no tasks in {}: write one a line (see --help)", files.join(", "))
}

#[cfg(test)]
mod tests;
