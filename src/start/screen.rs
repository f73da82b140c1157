//! `fleet` and `fleet attach`: which fleet the screen is opened on, with what, and what is said when it has gone.
//!
//! What may go here: the order of things from the command line to the screen and back. What may not: hosts, the wire,
//! drawing.

use std::any::Any;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tokio::sync::watch;

use super::connect::Connector;
use super::drafts::DraftPlace;
use super::farewell::{exit_code, last_line};
use super::join::{Joined, find_or_make};
use super::kept_options::refuse_other_options;
use super::link::keep_linked;
use super::other_fleets::FleetsHere;
use super::task_maker::{PlanMaker, missing, tasks};
use crate::adapters::COMMAND;
use crate::cli::arguments::{Action, Arguments, RunArguments, which_fleet};
use crate::cli::config::Config;
use crate::cli::plan::{self, Plan, Surroundings};
use crate::cli::{
    Failure, current_folder, fleet_to, never_inside_of_agents, outside_of_agents, prune, state_dir,
};
use crate::core::{FleetOptions, Leftovers, Moment, Snapshot, Task};
use crate::journal::{self, FleetDir, FleetStanding, Purpose, StateDir, folder_of};
use crate::runtime::{HostEnd, Inspection, channel, depth, inspect, new_loop};
use crate::supervise::Launcher;
use crate::tui::{self, Departure, Left, Link, Made, Session, TaskOptions};
use crate::words::plain_text::one_line;
use crate::words::style::Style;

/// Opens the screen that the command line asks for; returns the exit code once it has been left.
pub(super) fn open(arguments: &Arguments, argv: Vec<String>) -> Result<u8, Failure> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::input(
            "the screen needs a terminal for input and output: fleet run runs tasks without one",
        ));
    }
    tui::check_terminal(&|name| std::env::var(name).ok())
        .map_err(|error| Failure::input(error.to_string()))?;
    let global = &arguments.global;
    let given = &arguments.screen.run;
    let attach = match &arguments.action {
        Some(Action::Attach(attach)) => Some(attach.which.as_deref()),
        _ => global.fleet.as_deref().map(Some),
    };
    let folder = current_folder()?;
    let config = Config::load_quietly()?;
    // Where one is there is no news to somebody who sees the fleet of that folder.
    let here = format!("{}/", folder_of(&folder).display());
    let remark = config.remark.as_ref().map(|remark| remark.replace(&here, ""));
    let laid_over = config.under(given);
    let mut plan = make_plan(&laid_over, &config, folder.clone())?;
    plan.options.prices.clone_from(&config.prices);
    let first = tasks(std::mem::take(&mut plan.tasks));
    if let Some(sentence) = missing(&first, &config, std::env::var_os("PATH").as_deref()) {
        return Err(Failure::input(sentence));
    }
    let state = state_dir(global)?;
    let (fleet, is_new) = if let Some(argument) = attach {
        never_inside_of_agents(depth(), "attach")?;
        let which = which_fleet(global, argument).map_err(Failure::input)?;
        let fleet = Fleet::attach(&state, fleet_to(&state, which, Purpose::Read)?.inspection()?)?;
        fleet.refuse_tasks(&first)?;
        (fleet, false)
    } else {
        outside_of_agents(depth(), plan.options.max_depth)?;
        make_mesh(&plan.options)?;
        let options = plan.options.clone();
        let Joined { dir, is_new, seen } =
            find_or_make(&state, &folder, options, argv, arguments.screen.new)
                .map_err(|error| Failure::input(error.to_string()))?;
        // One that cannot be read has not begun, or its host says what is wrong.
        let seen = if is_new { None } else { seen.or_else(|| inspect(&dir).ok()) };
        (Fleet::hosted(&state, dir, seen.as_ref())?, is_new)
    };
    if !is_new {
        refuse_other_options(given, &plan.options, &fleet.options, fleet.dir.id())?;
    }
    drop(prune(state.clone()));
    let drafts = state.path().join("drafts");
    // Without it nothing is kept, and the screen says so when it tries.
    let _ = journal::make_dir(&drafts);
    let draft = DraftPlace::take(&drafts, &fleet.root);
    let opening = Opening { state, given: laid_over, config, context: plan.context, folder };
    let mut session = fleet.session(&Arc::new(opening), first)?;
    session.remark = remark;
    session.draft = draft.as_ref().map(|place| place.path().to_owned());
    show(session)
}

/// Shows the screen, and says what is left when it has gone: of the fleet that was shown last, and of the one behind it.
fn show(session: Session) -> Result<u8, Failure> {
    let looped = new_loop().map_err(|error| Failure::input(error.to_string()))?;
    let Departure { left, links } =
        looped.block_on(tui::run(session)).map_err(|error| Failure::input(error.to_string()))?;
    let style = Style::detect(true, &|name| std::env::var(name).ok());
    for (place, link) in links.into_iter().enumerate() {
        let link = link.borrow().clone();
        let snapshot = match link {
            Link::Up { handle, .. } => handle.snapshot(),
            Link::Failed(why) if place == 0 => return Err(Failure::no_fleet(why)),
            Link::Failed(_) | Link::Waiting(_) => continue,
        };
        let left = if place == 0 { left } else { Left::Detached };
        if let Some(line) = last_line(left, &snapshot, style) {
            // The terminal may have gone, and with it whoever would read this.
            let _ = writeln!(io::stdout(), "{line}");
        }
    }
    Ok(exit_code(left))
}

/// What every fleet is opened with that this screen shows.
pub(super) struct Opening {
    pub(super) state: StateDir,
    /// Options of tasks and fleets as given.
    pub(super) given: RunArguments,
    pub(super) config: Config,
    pub(super) context: Option<String>,
    /// The folder that the screen was started in.
    pub(super) folder: PathBuf,
}

impl Opening {
    /// Says which program of some tasks is not there; see [`missing`].
    pub(super) fn missing(&self, made: &Made) -> Option<String> {
        missing(made, &self.config, std::env::var_os("PATH").as_deref())
    }
}

/// The fleet that the screen is opened on.
pub(super) struct Fleet {
    dir: FleetDir,
    /// How the screen stands with its host.
    link: watch::Receiver<Link>,
    /// Its folder.
    root: PathBuf,
    /// Options that it was made with, and its cap as it is now.
    options: FleetOptions,
    /// Its newest task, whose kind counts where nobody names one.
    newest: Option<Arc<Task>>,
    /// The other ends of a fleet that has ended, which nobody hosts any more.
    ended: Option<(watch::Sender<Link>, HostEnd)>,
}

impl Fleet {
    /// A fleet with a host, or one that gets it now, with what was seen of it.
    pub(super) fn hosted(
        state: &StateDir,
        dir: FleetDir,
        seen: Option<&Inspection>,
    ) -> Result<Self, Failure> {
        let file = dir.read_file().map_err(|error| Failure::no_fleet(error.to_string()))?;
        let launcher =
            Launcher::this_executable().map_err(|error| Failure::input(error.to_string()))?;
        let connector = Connector::new(state, dir.clone(), launcher);
        let link = keep_linked(connector)
            .map_err(|error| Failure::input(format!("could not start the screen: {error}")))?;
        let options = seen.map_or(file.options, options_now);
        let newest = seen.and_then(|seen| newest_task(&seen.snapshot));
        Ok(Self { dir, link, root: file.root, options, newest, ended: None })
    }

    /// A fleet that is there already: one that has ended is looked at as it is, any other one has a host or gets one.
    pub(super) fn attach(state: &StateDir, seen: Inspection) -> Result<Self, Failure> {
        let dir = seen.dir.clone();
        if let Some(host) = &seen.elsewhere {
            let id = dir.id();
            let host = one_line(host);
            return Err(Failure::no_fleet(format!("fleet {id} lives on host {host}: go on there")));
        }
        if seen.standing != FleetStanding::Ended {
            return Self::hosted(state, dir, Some(&seen));
        }
        let (options, newest) = (options_now(&seen), newest_task(&seen.snapshot));
        let (link, ended) = looked_at(seen.snapshot, dir.left_at());
        dir.forget_left();
        Ok(Self { dir, link, root: seen.file.root, options, newest, ended: Some(ended) })
    }

    /// Refuses tasks for a fleet that has ended.
    fn refuse_tasks(&self, first: &Made) -> Result<(), Failure> {
        if self.ended.is_none() || first.tasks.is_empty() {
            return Ok(());
        }
        let id = self.dir.id();
        Err(Failure::input(format!(
            "fleet {id} has ended and takes no more tasks: leave --fleet out to begin another one"
        )))
    }

    /// Makes what the screen on it begins with, with tasks to be queued at once.
    pub(super) fn session(self, opening: &Arc<Opening>, first: Made) -> Result<Session, Failure> {
        let Opening { state, given, config, context, folder } = opening.as_ref();
        // Somebody who attaches from elsewhere means the fleet's folder, not the one they happen to be in.
        let folder = if folder_of(folder) == self.root { folder } else { &self.root };
        let mut options =
            task_options(given, config, context.clone(), folder).map_err(Failure::input)?;
        if given.task.agent.is_none() && given.after.is_empty() {
            adopt(&mut options, self.newest.as_deref(), config);
        }
        let alerts = config.notices.on_screen();
        let maker = PlanMaker {
            folder: folder.clone(),
            has_command: options.command.is_some(),
            assume_cost: self.options.assume_cost,
            config: config.clone(),
        };
        Ok(Session {
            link: self.link,
            dir: self.dir,
            folder: self.root,
            maker: Box::new(maker),
            options,
            first: Some(first).filter(|made: &Made| !made.tasks.is_empty()),
            is_read_only: self.ended.is_some(),
            is_demo: false,
            remark: None,
            draft: None,
            history: Some(state.path().join("history.jsonl")),
            sizes: Some(state.path().join("sizes.json")),
            mouse: true,
            alerts,
            others: Some(Arc::new(FleetsHere(Arc::clone(opening)))),
            came_from: None,
            keep: self.ended.map(|ended| Box::new(ended) as Box<dyn Any + Send>),
        })
    }
}

/// Returns a door to a fleet that does not change any more, and what has to be kept for as long as it is open.
fn looked_at(
    snapshot: Snapshot,
    away_since: Option<Moment>,
) -> (watch::Receiver<Link>, (watch::Sender<Link>, HostEnd)) {
    let (handle, end) = channel(snapshot);
    let (sender, receiver) = watch::channel(Link::Up { handle, away_since });
    (receiver, (sender, end))
}

fn make_plan(given: &RunArguments, config: &Config, folder: PathBuf) -> Result<Plan, Failure> {
    if given.task.origin.is_some() {
        return Err(Failure::input("--origin is for fleet run: who types is at the screen"));
    }
    let around = Surroundings {
        folder,
        processors: thread::available_parallelism().map_or(1, std::num::NonZero::get),
        terminal: true,
        has_variable: &|name| std::env::var_os(name).is_some(),
    };
    config.with_kinds(|kinds| {
        plan::plan_any(given, kinds, &around, &mut io::stdin().lock()).map_err(Failure::input)
    })
}

pub(super) fn make_mesh(options: &FleetOptions) -> Result<(), Failure> {
    match &options.mesh {
        Some(mesh) => std::fs::create_dir_all(mesh)
            .map_err(|error| Failure::input(format!("--mesh {}: {error}", mesh.display()))),
        None => Ok(()),
    }
}

/// Returns what the tasks that are typed begin with. What is wrong with an option is told now, and not with each task.
fn task_options(
    given: &RunArguments,
    config: &Config,
    context: Option<String>,
    folder: &Path,
) -> Result<TaskOptions, String> {
    let task = &given.task;
    let after = plan::words_after(given)?;
    let is_command = task.agent.is_none() && !after.is_empty();
    let named = || task.agent.clone().or_else(|| config.first_found());
    let kind = if is_command { Some(COMMAND.to_owned()) } else { named() };
    let (command, extra) = if is_command { (Some(after), Vec::new()) } else { (None, after) };
    let root = task.root.as_ref().map_or_else(|| folder.to_owned(), |root| folder.join(root));
    Ok(TaskOptions {
        kind: kind.unwrap_or_default(),
        command,
        extra,
        engine: task.engine.clone(),
        tier: task.tier.clone(),
        model: task.model.clone(),
        max_steps: task.max_steps,
        read_only: task.read_only,
        allow_shell: task.allow_shell,
        allow_web: task.allow_web,
        root,
        env: task.env.iter().map(|word| (word.name.clone(), word.value.clone())).collect(),
        budget: task.budget,
        timeout: task.timeout,
        idle_timeout: task.idle_timeout,
        keep_leftovers: task.leftovers == Some(Leftovers::Keep),
        context,
    })
}

fn options_now(seen: &Inspection) -> FleetOptions {
    FleetOptions { cap: seen.snapshot.header.cap, ..seen.file.options.clone() }
}

fn newest_task(snapshot: &Snapshot) -> Option<Arc<Task>> {
    snapshot.rows.last().map(|row| Arc::clone(&row.task))
}

/// Takes over the kind of a fleet's newest task, with its command line: whoever comes back to a fleet goes on with what
/// it was made for, and `sh` is no surprise where its owner chose it.
fn adopt(options: &mut TaskOptions, newest: Option<&Task>, config: &Config) {
    let names = config.names();
    let Some(task) = newest.filter(|task| names.contains(&task.kind.0.as_str())) else { return };
    options.kind.clone_from(&task.kind.0);
    options.command.clone_from(&task.command);
}
