//! `fleet run` and `fleet resume`: a fleet in the foreground, from its first task to its last end.
//!
//! What may go here: the order of things. What may not: words about a running fleet (`progress`), plans (`plan`).

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::Serve;
use super::act::{
    Failure, fleet_to, never_inside_of_agents, outside_of_agents, state_dir, without_fleet,
};
use super::arguments::{GlobalArguments, ResumeArguments, RunArguments, which_fleet};
use super::config::Config;
use super::door::{Signals, beside_signals, submit};
use super::exit_code::{NOT_DONE, exit_code};
use super::hosts::{Reach, held_alone};
use super::plan::{self, Plan, Surroundings, resume_options};
use super::progress::{Display, terminal_width, watch_and_ask};
use super::prompt::{AnswerSource, TerminalInput};
use super::prune::end_of;
use super::queue::resume_behind;
use super::table::table;
use crate::core::{AgentId, BatchId, FleetOptions, Hold, OnCap, Snapshot, Submission};
use crate::journal::{self, Draft, FleetDir, FleetStanding, Purpose, StateDir, folder_of, to_type};
use crate::runtime::summary::summary_json;
use crate::runtime::{
    Clock, FleetHandle, Host, HostError, HostThread, NoticeSource, Setup, StartError, depth,
    new_loop, own_mark,
};
use crate::supervise::{self, Launcher};
use crate::words::plain_text::one_line;
use crate::words::style::Style;

/// Runs tasks to completion in a fleet of their own.
pub(super) fn run(
    arguments: &RunArguments,
    global: &GlobalArguments,
    argv: Vec<String>,
    serve: Serve,
) -> Result<u8, Failure> {
    without_fleet(global, "fleet run begins a fleet of its own (fleet resume goes on with one)")?;
    let depth = depth();
    let folder = current_folder()?;
    let config = Config::load()?;
    let mut plan = make_plan(&config.under(arguments), &config, folder.clone(), global.json)?;
    plan.options.prices = config.prices;
    outside_of_agents(depth, plan.options.max_depth)?;
    let state = state_dir(global)?;
    if let Some(mesh) = &plan.options.mesh {
        std::fs::create_dir_all(mesh)
            .map_err(|error| Failure::input(format!("--mesh {}: {error}", mesh.display())))?;
    }
    let draft =
        Draft { root: folder_of(&folder), options: plan.options.clone(), argv, is_closed: true };
    let now = Clock::wall();
    let dir = state.new_fleet(now, draft).map_err(|error| {
        Failure::input(format!("could not make a fleet in {}: {error}", state.path().display()))
    })?;
    store_env(&dir, &plan)?;
    let submission = Submission {
        id: BatchId::from_bits(fastrand::u32(..)),
        tasks: plan.tasks.into_iter().map(|planned| planned.task).collect(),
        origin: plan.origin,
        inside: own_mark(),
    };
    let setup = setup(depth)?;
    let hosted = dir.clone();
    let options = plan.options;
    let thread = HostThread::start(move || Host::create(hosted, options, &setup))
        .map_err(|error| Failure::input(error.to_string()))?;
    let pruning = prune(state);
    let serving = serve(&dir, thread.handle.clone());
    let code = attend(thread, serving, Some(submission), &dir, global.json, &plan.notes);
    if let Some(pruning) = pruning {
        // What it could not delete it tries again next time, and a panic there was reported by the panic hook.
        let _ = pruning.join();
    }
    code
}

/// Lets old ended fleets go, beside the new one: nothing waits for it but the end of this process.
pub(crate) fn prune(state: StateDir) -> Option<JoinHandle<()>> {
    let prune = move || {
        // A folder that cannot be read or cleaned is no reason not to run a fleet.
        let _ = journal::prune(&state, Clock::wall(), end_of);
    };
    thread::Builder::new().name("prune".to_owned()).spawn(prune).ok()
}

/// Goes on with a fleet whose host has gone.
pub(super) fn resume(
    arguments: &ResumeArguments,
    global: &GlobalArguments,
    serve: Serve,
    reach: Reach,
) -> Result<u8, Failure> {
    let depth = depth();
    never_inside_of_agents(depth, "resume")?;
    let state = state_dir(global)?;
    let which = which_fleet(global, arguments.which.as_deref()).map_err(Failure::input)?;
    let dir = fleet_to(&state, which, Purpose::Resume)?.dir;
    if arguments.detach {
        return resume_behind(&state, &dir, &arguments.limits, reach, global.json);
    }
    let limits = arguments.limits.clone();
    let terminal = is_answerable(global.json);
    let setup = setup(depth)?;
    let hosted = dir.clone();
    let change = move |before: &FleetOptions| resume_options(&limits, before, terminal);
    let thread =
        HostThread::start(move || Host::recover(hosted, change, &setup)).map_err(|error| {
            match error {
                StartError::Host(HostError::Options(sentence)) => Failure::input(sentence),
                error => Failure::no_fleet(error.to_string()),
            }
        })?;
    let serving = serve(&dir, thread.handle.clone());
    attend(thread, serving, None, &dir, global.json, &[])
}

/// Is the door of a fleet until it is over; returns the exit code.
fn attend(
    thread: HostThread,
    serving: Box<dyn Any>,
    submission: Option<Submission>,
    dir: &FleetDir,
    json: bool,
    notes: &[String],
) -> Result<u8, Failure> {
    let looped = new_loop().map_err(|error| Failure::input(error.to_string()))?;
    let handle = thread.handle.clone();
    let is_new = submission.is_some();
    let door = async move {
        let signals = Signals::listen().map_err(|error| error.to_string())?;
        let shown = show(handle.clone(), json, notes, is_new);
        beside_signals(&handle, signals, while_queueing(submit(&handle, submission), shown)).await
    };
    let last = looped.block_on(door);
    drop(serving);
    let finished = thread.end();
    let last = last.map_err(Failure::input)?;
    // What was seen of it has been said.
    let is_news = finished.notice_trouble != last.header.notice_trouble;
    if let Some(why) = finished.notice_trouble.filter(|_| is_news) {
        // There is nobody else to tell.
        let _ = writeln!(io::stderr(), "fleet: a notice was not told: {}", one_line(&why));
    }
    if !finished.is_whole {
        let sentence = format!(
            "the fleet's host failed; its agents go on: {} takes over",
            to_type(format_args!("resume {}", dir.id()))
        );
        return Err(Failure { sentence, code: NOT_DONE });
    }
    report(&last, dir, json)?;
    Ok(exit_code(&last))
}

/// Shows the fleet while its tasks are being queued: on a disk that takes nothing this lasts, and must be seen and be
/// open to signals.
async fn while_queueing<T>(
    queueing: impl Future<Output = Result<(), String>>,
    shown: impl Future<Output = T>,
) -> Result<T, String> {
    let mut shown = std::pin::pin!(shown);
    tokio::select! {
        biased;
        queued = queueing => queued?,
        last = &mut shown => return Ok(last),
    }
    Ok(shown.await)
}

/// Shows what happens until the fleet is over.
async fn show(handle: FleetHandle, json: bool, notes: &[String], is_new: bool) -> Arc<Snapshot> {
    let (mut stdout, mut stderr) = (io::stdout(), io::stderr());
    let is_terminal = if json { stderr.is_terminal() } else { stdout.is_terminal() };
    let out: &mut (dyn Write + Send) = if json { &mut stderr } else { &mut stdout };
    let width =
        move || if json { terminal_width(io::stderr()) } else { terminal_width(io::stdout()) };
    let mut display = Display::new(out, style(is_terminal), &width);
    // What is wrong with it is told with the first notice.
    let alerts = Config::load_notices().unwrap_or_default().in_foreground();
    display.set_alerts(alerts, in_tmux());
    display.say(notes);
    if !is_new {
        display.skip(&handle.snapshot());
    }
    let mut answers = is_answerable(json).then(TerminalInput::from_stdin).flatten();
    let answers = answers.as_mut().map(|input| -> &mut dyn AnswerSource { input });
    watch_and_ask(handle, &mut display, answers).await
}

/// Prints what is left to say when all is over: the summary, or the table and its footer.
fn report(last: &Snapshot, dir: &FleetDir, json: bool) -> Result<(), Failure> {
    let stdout = io::stdout();
    if json {
        let text = summary_json(last, FleetStanding::of_hosted(last), dir.path());
        return write_whole(&text).map_err(|error| {
            Failure::input(format!(
                "could not write the summary to stdout: {error} ({} prints it again)",
                to_type(format_args!("results {} --json", dir.id()))
            ))
        });
    }
    let style = style(stdout.is_terminal());
    let mut lines = table(last, style, terminal_width(io::stdout()));
    if last.header.kpis.queued > 0 {
        let queued = last.header.kpis.queued;
        lines.push(match last.header.hold {
            Some(Hold::NotSaved(_)) => format!("{queued} not started, and perhaps not saved"),
            Some(Hold::Cap) => format!(
                "{queued} not started: {}",
                to_type(format_args!("resume {} --cap USD", dir.id()))
            ),
            None if held_alone(last).is_some() => held_alone(last).unwrap_or_default(),
            _ => format!("{queued} not started: {}", to_type(format_args!("resume {}", dir.id()))),
        });
    }
    match write_whole(&lines.join("\n")) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(Failure::input(format!(
            "could not write the table to stdout: {error} ({} shows it again)",
            to_type(format_args!("results {}", dir.id()))
        ))),
        // Whoever read this may have gone, which is no fault of the fleet's.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes JSON to stdout, whole.
pub(super) fn write_whole(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

fn make_plan(
    arguments: &RunArguments,
    config: &Config,
    folder: PathBuf,
    json: bool,
) -> Result<Plan, Failure> {
    let around = Surroundings {
        folder,
        processors: thread::available_parallelism().map_or(1, std::num::NonZero::get),
        terminal: is_answerable(json),
        has_variable: &|name| std::env::var_os(name).is_some(),
    };
    config.with_kinds(|kinds| {
        plan::plan(arguments, kinds, &around, &mut io::stdin().lock()).map_err(Failure::input)
    })
}

/// Makes the plan of a submission that goes to a host in the background: at the cap that waits for a person, who may come
/// later, unless it was said otherwise.
pub(crate) fn background_plan(
    arguments: &RunArguments,
    config: &Config,
    folder: PathBuf,
) -> Result<Plan, Failure> {
    let around = Surroundings {
        folder,
        processors: thread::available_parallelism().map_or(1, std::num::NonZero::get),
        terminal: true,
        has_variable: &|name| std::env::var_os(name).is_some(),
    };
    let plan = config.with_kinds(|kinds| {
        plan::plan(arguments, kinds, &around, &mut io::stdin().lock()).map_err(Failure::input)
    })?;
    let on_cap = arguments.limits.on_cap.unwrap_or(OnCap::Hold);
    Ok(Plan { options: FleetOptions { on_cap, ..plan.options }, ..plan })
}

fn store_env(dir: &FleetDir, plan: &Plan) -> Result<(), Failure> {
    for (number, planned) in (1..).zip(&plan.tasks) {
        let values: BTreeMap<String, String> = planned
            .env
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
            .collect();
        if !values.is_empty() {
            dir.store_env(AgentId(number), &values)
                .map_err(|error| Failure::input(format!("could not store --env: {error}")))?;
        }
    }
    Ok(())
}

/// Says whether what is written to the terminal goes through tmux.
fn in_tmux() -> bool {
    std::env::var_os("TMUX").is_some_and(|value| !value.is_empty())
}

/// Returns where a host learns which program of the owner's is told of notices. Of a fleet inside of an agent the owner
/// may not even know.
pub(crate) fn notice_source(depth: u32) -> Option<NoticeSource> {
    let look = || Config::load_notices().map(|notices| notices.to_command());
    (depth == 0).then(|| NoticeSource::new(look))
}

fn setup(depth: u32) -> Result<Setup, Failure> {
    // This process starts nothing but shims.
    supervise::adopt_orphans();
    let launcher =
        Launcher::this_executable().map_err(|error| Failure::input(error.to_string()))?;
    Ok(Setup { launcher, depth, looks_per_sign: 1, notices: notice_source(depth) })
}

/// Says whether somebody can answer a question: the one who types sees what is written about it.
pub(crate) fn is_answerable(json: bool) -> bool {
    io::stdin().is_terminal()
        && if json { io::stderr().is_terminal() } else { io::stdout().is_terminal() }
}

pub(crate) fn style(is_terminal: bool) -> Style {
    Style::detect(is_terminal, &|name| std::env::var(name).ok())
}

pub(crate) fn current_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::input(format!("the current folder cannot be used: {error}")))
}
