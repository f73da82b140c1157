//! What can be said on the command line, and what was said.
//!
//! What may go here: the definition of subcommands and options, parsing, `--help`. What may not: reading files, the
//! environment, the terminal: that makes a plan of it (`plan`).

mod controls;
mod first_word;
mod options;
mod outside;
mod usage_error;
pub(crate) mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use controls::{
    CapArguments, CompletionsArguments, HoldArguments, ManArguments, PruneArguments,
    ReleaseArguments, RetryArguments, TrustArguments,
};
pub use options::{FleetArguments, LimitArguments, TaskArguments};
pub use outside::{
    DispatchArguments, LogsArguments, ResultsArguments, ShowArguments, WaitArguments,
};
pub use usage_error::sentence;
pub use values::{CapWord, ContextText, EnvWord, Parallel};
pub(crate) use values::{check_env, env_word};

const SCREEN_EXAMPLES: &str = "\
Examples:
  fleet                                       the screen: type tasks, watch, decide
  fleet 'fix the tests' 'write the changelog' --cap 2
  fleet --agent sh -f checks.txt
  fleet run 'fix the tests' --json            without the screen, to completion
  fleet dispatch 'fix the tests'              behind the scenes; fleet wait joins
  fleet attach                                the screen on a fleet that is there already

'fleet run --help' and so on tell about a subcommand.

Exit codes: 0 the screen was left; 2 usage or input; 4 no such fleet; 129, 130 or 143 ended by a signal.";

const ATTACH_EXAMPLES: &str = "\
Examples:
  fleet attach                    this folder's live fleet, else its newest
  fleet attach k3f                one of any folder, by the beginning of its id";

const RUN_EXAMPLES: &str = "\
Examples:
  fleet run 'fix the tests' 'write the changelog' --cap 2
  fleet run -f tasks.txt -j 4 --timeout 20m
  fleet run -f tasks.toml --json > summary.json
  fleet run --agent sh 'make lint' 'make test'
  fleet run *.md -- claude -p 'check the spelling of {task}'
  git ls-files '*.py' | fleet run -f - -- python -m py_compile {task}

Exit codes: 0 all done; 1 some agent is not done; 2 usage or input; 3 work left because of the cap;
            124 deadline; 129, 130 or 143 ended by a signal.";

const RESUME_EXAMPLES: &str = "\
Examples:
  fleet resume                    the newest fleet of this folder that no host watches
  fleet resume k3f --cap 20       go on, and spend up to 20 dollars in all
  fleet resume k3f --on-cap drop
  fleet resume -d                 the same with a host in the background; returns at once";

const LS_EXAMPLES: &str = "\
Examples:
  fleet ls
  fleet ls --json";

const STOP_EXAMPLES: &str = "\
Examples:
  fleet stop 7          agent 7
  fleet stop 3-9 12     agents 3 to 9, and 12
  fleet stop set:2      all agents of the second batch
  fleet stop all        everything that runs or is queued";

const STEER_EXAMPLES: &str = "\
Examples:
  fleet steer 7 'also update the changelog'
  git diff | fleet steer 7 -
  fleet steer --interrupt 7 'no, leave the tests alone'

An agent that runs is told now, if its kind takes messages (claude does). One that has ended is gone on
with by a new agent in the same session, with the same options, if its kind can. An interrupt ends what
the agent does right now, a tool included, and keeps the agent.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  fleet doctor
  fleet doctor --json

Exit codes: 0 at least one agent program can be used; 1 none; 2 usage, or a mistake in the config file.";

const DEMO_EXAMPLES: &str = "\
Examples:
  fleet demo                      press Enter on what is asked, F1 for the keys, q to leave

Everything it makes lives in a temporary folder that goes with the screen.";

/// The whole command line.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "fleet",
    version,
    about = "Hands many independent tasks to background process agents and drives them to done.",
    disable_help_subcommand = true,
    max_term_width = 100,
    override_usage = "fleet [TASK]... [OPTIONS] [-- COMMAND...]\n       fleet SUBCOMMAND ...",
    after_help = SCREEN_EXAMPLES
)]
pub struct Arguments {
    /// What applies to every subcommand.
    #[command(flatten)]
    pub global: GlobalArguments,
    /// What to do; `None` is to open the screen.
    #[command(subcommand)]
    pub action: Option<Action>,
    /// What the screen begins with.
    #[command(flatten)]
    pub screen: ScreenArguments,
}

/// Arguments of the screen, which has no word of its own.
#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
pub struct ScreenArguments {
    /// Tasks to queue, with their options and those of the fleet.
    #[command(flatten)]
    pub run: RunArguments,
    /// Begin another fleet, even if one of this folder lives.
    #[arg(long, help_heading = "The fleet")]
    pub new: bool,
}

/// Options of every subcommand, before or after it.
#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
pub struct GlobalArguments {
    /// Folder in which fleets are kept.
    #[arg(long, value_name = "DIR", global = true)]
    pub state_dir: Option<PathBuf>,
    /// Which fleet, by its id or the first three or more characters of it.
    #[arg(long, value_name = "ID", global = true)]
    pub fleet: Option<String>,
    /// Print JSON for machines on stdout; progress goes to stderr.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Subcommands.
#[derive(Debug, Clone, Subcommand)]
pub enum Action {
    /// Run tasks to completion in a fleet of their own, without the screen.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArguments>),
    /// Queue tasks in this folder's fleet behind the scenes, and return at once.
    Dispatch(Box<DispatchArguments>),
    /// Open the screen on a fleet that is there already.
    #[command(after_help = ATTACH_EXAMPLES)]
    Attach(AttachArguments),
    /// Show the screen with recorded agents: no key, no network, no cost.
    Demo(DemoArguments),
    /// Go on with a fleet that was held or lost its host.
    Resume(Box<ResumeArguments>),
    /// List fleets.
    #[command(after_help = LS_EXAMPLES)]
    Ls,
    /// Show how a fleet stands, or tell all that is known of agents.
    Show(ShowArguments),
    /// Show what an agent writes.
    Logs(LogsArguments),
    /// Wait until a fleet, or some of its agents, have ended.
    Wait(WaitArguments),
    /// Stop agents and cancel queued ones.
    Stop(StopArguments),
    /// Tell one agent more, or go on in its session when it has ended.
    Steer(SteerArguments),
    /// Set or raise the cap; that answers the question when it is reached.
    Cap(CapArguments),
    /// Let nothing leave the queue; running agents go on.
    Hold(HoldArguments),
    /// Let the queue go on.
    Release(ReleaseArguments),
    /// Give the tasks of ended agents to new ones.
    Retry(RetryArguments),
    /// Show what the agents answered.
    Results(ResultsArguments),
    /// Delete fleets that have ended long ago.
    Prune(PruneArguments),
    /// Let this folder's .fleet.toml be read.
    Trust(TrustArguments),
    /// Look which agent programs are here, and whether everything is ready.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor,
    /// Print the script by which a shell completes what is typed.
    Completions(CompletionsArguments),
    /// Print a manual page.
    Man(ManArguments),
}

/// Arguments of `fleet run`.
#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
pub struct RunArguments {
    /// Tasks: each argument is one, and is never split.
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,
    /// File of tasks (.txt, .json, .jsonl, .toml); - is standard input; may be repeated.
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Options of tasks.
    #[command(flatten)]
    pub task: TaskArguments,
    /// Options of the fleet that can change later.
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Options of the fleet that are fixed when it is made.
    #[command(flatten)]
    pub fleet: FleetArguments,
    /// With --agent: more arguments for its program; else: a command line with {task} in it.
    #[arg(last = true, value_name = "COMMAND")]
    pub after: Vec<OsString>,
}

/// Arguments of `fleet attach`.
#[derive(Debug, Clone, clap::Args)]
pub struct AttachArguments {
    /// Which fleet, as with --fleet.
    #[arg(value_name = "FLEET")]
    pub which: Option<String>,
}

/// Arguments of `fleet demo`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub struct DemoArguments {
    /// Play everything this many times as fast.
    #[arg(long, value_name = "TIMES", default_value = "1", hide = true, value_parser = values::speed)]
    pub speed: f64,
}

/// Arguments of `fleet resume`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub struct ResumeArguments {
    /// Which fleet, as with --fleet.
    #[arg(value_name = "FLEET")]
    pub which: Option<String>,
    /// Go on behind, with a host in the background, and return at once.
    #[arg(short = 'd', long)]
    pub detach: bool,
    /// Options that replace those the fleet was made with.
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Arguments of `fleet stop`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = STOP_EXAMPLES)]
pub struct StopArguments {
    /// Which agents: 7, 3-9, failed, set:2, all.
    #[arg(value_name = "SEL")]
    pub selectors: Vec<String>,
}

/// Arguments of `fleet steer`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = STEER_EXAMPLES)]
pub struct SteerArguments {
    /// End its turn first; it goes on with the text, or waits until it is told something.
    #[arg(long)]
    pub interrupt: bool,
    /// Which agent, such as 7.
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// What it is to know; - is standard input.
    #[arg(value_name = "TEXT", required_unless_present = "interrupt")]
    pub text: Vec<String>,
}

/// Why there is nothing to do after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Help or version was asked for: print this on stdout, exit 0.
    Asked(String),
    /// The command line is wrong: print this sentence on stderr, exit 2.
    Usage(String),
}

/// Reads the command line; the first word is the program's name.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, Stop> {
    let words: Vec<OsString> = words.into_iter().collect();
    let arguments = Arguments::try_parse_from(&words).map_err(|error| {
        use clap::error::ErrorKind as Kind;
        match error.kind() {
            Kind::DisplayHelp | Kind::DisplayVersion => Stop::Asked(error.render().to_string()),
            _ => Stop::Usage(sentence(&error)),
        }
    })?;
    check_screen(&arguments, &words).map_err(Stop::Usage)?;
    Ok(arguments)
}

/// Refuses what the definition allows and nobody can mean.
fn check_screen(arguments: &Arguments, words: &[OsString]) -> Result<(), String> {
    match &arguments.action {
        None => {
            first_word::check(words, &arguments.screen)?;
            if arguments.global.json {
                return Err("--json is for subcommands (fleet run --json, fleet ls --json)".to_owned());
            }
            if arguments.screen.new && arguments.global.fleet.is_some() {
                return Err("--new begins another fleet, and --fleet names one: give one of them".to_owned());
            }
            Ok(())
        }
        Some(_) if arguments.screen != ScreenArguments::default() => Err(
            "options of tasks and of fleets go behind the subcommand, such as fleet run --agent sh (only --state-dir, \
             --fleet and --json may stand before it)"
                .to_owned(),
        ),
        Some(_) => Ok(()),
    }
}

/// Returns the fleet that was named, as an option or as an argument; an error if both name different ones.
pub fn which_fleet<'a>(
    global: &'a GlobalArguments,
    argument: Option<&'a str>,
) -> Result<Option<&'a str>, String> {
    match (global.fleet.as_deref(), argument) {
        (Some(option), Some(argument)) if option != argument => {
            Err(format!("--fleet {option} and {argument} name two fleets: give one of them"))
        }
        (option, argument) => Ok(argument.or(option)),
    }
}

#[cfg(test)]
mod tests;
