//! Options of tasks and of fleets.
//!
//! What may go here: their definition and how they are laid over [`FleetOptions`]. What may not: defaults that depend
//! on the machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::values::{
    self, ContextText, EnvWord, Parallel, at_least_one, at_least_zero, money, span,
};
use crate::core::{FleetOptions, Leftovers, NanoUsd, OnCap};

/// Options of each task; a task file may say otherwise for one task.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "Options of each task")]
pub struct TaskArguments {
    /// Program that runs the tasks, such as ygg or sh.
    #[arg(long, value_name = "KIND")]
    pub agent: Option<String>,
    /// Engine, as the program knows it.
    #[arg(long)]
    pub engine: Option<String>,
    /// Tier, as the program knows it.
    #[arg(long)]
    pub tier: Option<String>,
    /// Model, as the program knows it.
    #[arg(long)]
    pub model: Option<String>,
    /// Most steps of an agent (unset: the program's own limit; ygg: 8).
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_steps: Option<u32>,
    /// Agents may not write.
    #[arg(long)]
    pub read_only: bool,
    /// Agents may run commands.
    #[arg(long)]
    pub allow_shell: bool,
    /// Agents may use the web.
    #[arg(long)]
    pub allow_web: bool,
    /// Folder the agents work in (default: this one).
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Variable for the agents: NAME forwards yours, NAME=VALUE sets one; may be repeated.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = values::env_word)]
    pub env: Vec<EnvWord>,
    /// Most that one agent may cost.
    #[arg(long, value_name = "USD", value_parser = money, allow_hyphen_values = true)]
    pub budget: Option<NanoUsd>,
    /// Most time that one agent may run.
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Most time that one agent may go without any output.
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub idle_timeout: Option<Duration>,
    /// What happens to processes that an agent leaves behind: end or keep (default: end).
    #[arg(long, value_name = "WHAT", value_parser = values::leftovers)]
    pub leftovers: Option<Leftovers>,
    /// Text put before every task, or @FILE.
    #[arg(long, value_name = "TEXT|@FILE", value_parser = values::context)]
    pub context: Option<ContextText>,
    /// Who or what submits the tasks, for the records.
    #[arg(long, value_name = "ID")]
    pub origin: Option<String>,
}

/// Options of a fleet that can be given again when it goes on. They travel to its host as JSON, which holds only what was
/// given.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Limits of the fleet")]
pub struct LimitArguments {
    /// Most agents at once, or unlimited (default: a small number from the machine).
    #[arg(short = 'j', long, value_name = "N", value_parser = values::parallel, allow_hyphen_values = true)]
    pub max_parallel: Option<Parallel>,
    /// Most agents at once on a local engine (default: 1; the engine auto is not counted as local).
    #[arg(long, value_name = "N", value_parser = at_least_zero, allow_hyphen_values = true)]
    pub max_local: Option<u32>,
    /// Most that the fleet may spend; reaching it holds the queue.
    #[arg(long, value_name = "USD", value_parser = money, allow_hyphen_values = true)]
    pub cap: Option<NanoUsd>,
    /// Stop running agents as well when the cap is passed.
    #[arg(long)]
    pub cap_hard: bool,
    /// At the cap: ask, drop, hold or raise=USD (default: ask on a terminal, else drop; of dispatch: hold).
    #[arg(long, value_name = "WHAT", value_parser = values::on_cap)]
    pub on_cap: Option<OnCap>,
    /// What an agent of unknown cost is taken to cost (default: 0.50).
    #[arg(long, value_name = "USD", value_parser = money, allow_hyphen_values = true)]
    pub assume_cost: Option<NanoUsd>,
    /// Most time from the first start to the end of all.
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub deadline: Option<Duration>,
    /// Time between asking an agent to end and killing it (default: 5s).
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub grace: Option<Duration>,
    /// Time without progress after which an agent is marked (default: 450s).
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub stale: Option<Duration>,
    /// The same while an agent is inside a tool (default: 1200s).
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub stale_tool: Option<Duration>,
    /// Stop agents that are marked: ask them to end, and kill them after --stale-grace.
    #[arg(long)]
    pub stale_stop: bool,
    /// Time between asking a marked agent to end and killing it (default: 120s).
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub stale_grace: Option<Duration>,
}

/// Options of a fleet that are fixed when it is made.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "The fleet")]
pub struct FleetArguments {
    /// Name of the fleet, for people.
    #[arg(long)]
    pub name: Option<String>,
    /// Folder that the agents share.
    #[arg(long, value_name = "DIR")]
    pub mesh: Option<PathBuf>,
    /// Stop an agent that has had no host for so long (default: never).
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub orphan_limit: Option<Duration>,
    /// Lines of the line protocol need the token in `FLEET_TOKEN`.
    #[arg(long)]
    pub strict_protocol: bool,
    /// How many fleets may be nested (default: 1).
    #[arg(long, value_name = "N", value_parser = at_least_zero, allow_hyphen_values = true)]
    pub max_depth: Option<u32>,
}

impl LimitArguments {
    /// Lays what was given over the options; what was not given stays.
    pub fn apply(&self, options: &mut FleetOptions) {
        fn set<T>(slot: &mut T, given: Option<T>) {
            if let Some(given) = given {
                *slot = given;
            }
        }
        set(&mut options.max_parallel, self.max_parallel.map(|parallel| parallel.0));
        set(&mut options.max_local, self.max_local.map(|number| number.max(1)));
        set(&mut options.cap, self.cap.map(Some));
        set(&mut options.on_cap, self.on_cap);
        set(&mut options.assume_cost, self.assume_cost);
        set(&mut options.deadline, self.deadline.map(Some));
        set(&mut options.grace, self.grace);
        set(&mut options.stale, self.stale);
        set(&mut options.stale_tool, self.stale_tool);
        set(&mut options.stale_grace, self.stale_grace);
        options.cap_hard |= self.cap_hard;
        options.stale_stop |= self.stale_stop;
    }

    /// Returns these with `others` in place of what was not given.
    pub(crate) fn over(&self, others: &Self) -> Self {
        Self {
            max_parallel: self.max_parallel.or(others.max_parallel),
            max_local: self.max_local.or(others.max_local),
            cap: self.cap.or(others.cap),
            cap_hard: self.cap_hard || others.cap_hard,
            on_cap: self.on_cap.or(others.on_cap),
            assume_cost: self.assume_cost.or(others.assume_cost),
            deadline: self.deadline.or(others.deadline),
            grace: self.grace.or(others.grace),
            stale: self.stale.or(others.stale),
            stale_tool: self.stale_tool.or(others.stale_tool),
            stale_stop: self.stale_stop || others.stale_stop,
            stale_grace: self.stale_grace.or(others.stale_grace),
        }
    }

    /// Says what does not go together, as a sentence. `on_cap` and `cap` as they would be after [`Self::apply`].
    pub fn check(options: &FleetOptions) -> Result<(), String> {
        match (options.cap, options.on_cap) {
            (None, OnCap::Raise(_)) => {
                Err("--on-cap raise=USD needs a --cap that it could raise".to_owned())
            }
            (Some(cap), OnCap::Raise(to)) if to <= cap => Err(format!(
                "--on-cap raise={} is not above --cap {}: give a higher amount",
                to.to_exact(),
                cap.to_exact()
            )),
            (None, _) if options.cap_hard => Err("--cap-hard needs a --cap".to_owned()),
            _ => Ok(()),
        }
    }
}
