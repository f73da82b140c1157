//! Arguments of the commands that feed a fleet and look at it from outside.
//!
//! What may go here: their definition and examples. What may not: which fleet and which agents are meant (`selectors`).

use std::time::Duration;

use super::RunArguments;
use super::values::span;

const DISPATCH_EXAMPLES: &str = "\
Examples:
  fleet dispatch 'fix the tests' 'write the changelog' --cap 2
  fleet dispatch -f tasks.txt --origin nightly --json
  fleet dispatch --agent sh 'make lint' && fleet wait && fleet results
  batch=$(fleet dispatch -f tasks.txt --json | jq -r .delegation_id); fleet wait \"$batch\"

The tasks go to the fleet of this folder that takes more, or to a new one; options of a fleet that is
there already stay as they are. The handle is printed when the tasks are safe on disk.

Exit codes: 0 queued; 2 usage or input, or the fleet refuses; 4 no such fleet or no host.";

const SHOW_EXAMPLES: &str = "\
Examples:
  fleet show              how this folder's fleet stands, an agent a line
  fleet show 7            all that is known of agent 7
  fleet show failed       the same of those that failed
  fleet show k3f --json   for machines";

const LOGS_EXAMPLES: &str = "\
Examples:
  fleet logs 7            what agent 7 has written: its account, or its output where that tells more
  fleet logs 7 -f         and goes on until it has ended
  fleet logs 7 --err > errors.txt
  fleet logs 7 --json     each line as {\"agent\":7,\"file\":\"out\",\"line\":\"…\"}; \"more\":true if it goes on in the next";

const WAIT_EXAMPLES: &str = "\
Examples:
  fleet wait              until all tasks of this folder's fleet have ended
  fleet wait set:2        until those of the second batch have
  fleet wait k3f --timeout 10m
  fleet wait 7 && fleet results

Exit codes: as of fleet run: 0 all done; 1 some agent is not done, or cannot start; 3 work is left because of
            the cap; 124 the deadline, or the --timeout of this command; 4 no such fleet or no host.";

const RESULTS_EXAMPLES: &str = "\
Examples:
  fleet results                   what the agents of this folder's newest fleet answered
  fleet results set:2             the second batch alone
  fleet results --compact         a line a task
  fleet results k3f --json        the summary as JSON
  fleet results --compact --json  a block a batch, long answers cut, for a program with little room";

/// Arguments of `fleet dispatch`.
#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
#[command(after_help = DISPATCH_EXAMPLES)]
pub struct DispatchArguments {
    /// Tasks to queue, with their options and those of the fleet.
    #[command(flatten)]
    pub run: RunArguments,
    /// Begin another fleet, even if one of this folder lives.
    #[arg(long, help_heading = "The fleet")]
    pub new: bool,
}

/// Arguments of `fleet show`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct ShowArguments {
    /// Which fleet, as with --fleet, or which agents: 7, 3-9, failed, set:2, all.
    #[arg(value_name = "FLEET|SEL")]
    pub words: Vec<String>,
}

/// Arguments of `fleet logs`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = LOGS_EXAMPLES)]
pub struct LogsArguments {
    /// Which agent, such as 7.
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Go on with what it writes from now on, until it has ended.
    #[arg(short, long)]
    pub follow: bool,
    /// What it writes to stdout.
    #[arg(long, conflicts_with_all = ["err", "transcript"])]
    pub out: bool,
    /// What it writes to stderr.
    #[arg(long, conflicts_with = "transcript")]
    pub err: bool,
    /// The account of its work for people.
    #[arg(long)]
    pub transcript: bool,
}

/// Arguments of `fleet wait`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = WAIT_EXAMPLES)]
pub struct WaitArguments {
    /// Which fleet, as with --fleet, or which agents: 7, 3-9, set:2, or the `delegation_id` of a handle.
    #[arg(value_name = "FLEET|SEL")]
    pub words: Vec<String>,
    /// Wait no longer than this.
    #[arg(long, value_name = "TIME", value_parser = span, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
}

/// Arguments of `fleet results`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = RESULTS_EXAMPLES)]
pub struct ResultsArguments {
    /// Which fleet, as with --fleet, or which agents: set:2, failed, 7.
    #[arg(value_name = "FLEET|SEL")]
    pub words: Vec<String>,
    /// A line a task; with --json a block a batch with long answers cut.
    #[arg(long)]
    pub compact: bool,
}
