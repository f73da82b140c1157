//! What can be said to subcommands that steer a fleet from outside: its cap, its queue, what is tried again.
//!
//! What may go here: their arguments and examples. What may not: what they do.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::{self, CapWord};

const CAP_EXAMPLES: &str = "\
Examples:
  fleet cap 20                    20 dollars in all; what waits for the cap goes on
  fleet cap none                  no cap any more
  fleet cap 20 --fleet k3f        of one fleet, by the beginning of its id

A cap that lets nothing start is refused: fleet hold holds the queue. Where the cap question is open, this answers it.

Exit codes: 0 it is the cap now; 2 usage, or refused; 4 no such fleet, or no host that answers.";

const HOLD_EXAMPLES: &str = "\
Examples:
  fleet hold                      what runs goes on, and nothing leaves the queue
  fleet hold k3f --json
  fleet hold 3 5-7                only these are passed over; the others go on

Agents that are held by themselves stay so until fleet release names them. They are no work that the cap asks about.

Exit codes: 0 it is held, or has ended; 2 usage, or none of those named is queued; 4 no such fleet, or no host that answers.";

const RELEASE_EXAMPLES: &str = "\
Examples:
  fleet release                   let the queue go on, kinds of agents that are held included
  fleet release k3f
  fleet release 3                 this one, which was held by itself; all: each of those

A fleet without a host gets one in the background, as with fleet resume -d. What the cap holds goes on with
fleet cap USD.

Exit codes: 0 what was named is not held any more; 2 usage, or refused; 4 no such fleet, or no host that answers.";

const RETRY_EXAMPLES: &str = "\
Examples:
  fleet retry failed              all that ended and are not done, unless that was done already
  fleet retry 7 9-12              these agents
  fleet retry set:2               all agents of the second batch that have ended
  fleet retry failed --json

Each task is given to a new agent. A fleet without a host gets one in the background.

Exit codes: 0 they are queued, or nothing has failed; 2 usage, or refused; 4 no such fleet, or no host.";

const PRUNE_EXAMPLES: &str = "\
Examples:
  fleet prune                     ended fleets: older than seven days, and beyond the newest fifty
  fleet prune --older-than 2d --dry-run
  fleet prune --older-than 0s     every fleet that has ended

Only ended fleets go, with their outputs. Old ones that have not ended are told.

Exit codes: 0 done; 1 something could not be deleted; 2 usage.";

const TRUST_EXAMPLES: &str = "\
Examples:
  fleet trust                     show what this folder's .fleet.toml sets, and ask
  fleet trust --yes               the same without asking, for scripts
  fleet trust --remove

A project's .fleet.toml lies in the folder with its .git, else in the current one. It has the keys of the
owner's config file but prices, and goes before that; FLEET_CAP and the like go before both, options before all.
It is not read before it was trusted, and not after a change.

Exit codes: 0 it is trusted; 1 it is not; 2 usage, or it cannot be.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(fleet completions bash)                            now, or from ~/.bashrc on
  source <(fleet completions zsh)                             the same in ~/.zshrc, after compinit
  fleet completions fish > ~/.config/fish/completions/fleet.fish
  eval (fleet completions elvish | slurp)                     in ~/.config/elvish/rc.elv

They complete fleet ids, agent numbers and kinds of agents as well.";

const MAN_EXAMPLES: &str = "\
Examples:
  fleet man | man -l -                                        read the page of fleet
  fleet man retry | man -l -
  fleet man --dir ~/.local/share/man/man1                     all pages, for man fleet and man fleet-retry";

/// Arguments of `fleet cap`.
#[derive(Debug, Clone, Args)]
#[command(after_help = CAP_EXAMPLES)]
pub struct CapArguments {
    /// Most that the fleet may spend, in dollars; none takes the cap away.
    #[arg(value_name = "USD|none", value_parser = values::cap_word, allow_hyphen_values = true)]
    pub cap: CapWord,
}

/// Arguments of `fleet hold`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HOLD_EXAMPLES)]
pub struct HoldArguments {
    /// Which fleet, as with --fleet, or which queued agents: 7, 3-9, set:2, all.
    #[arg(value_name = "FLEET|SEL")]
    pub words: Vec<String>,
}

/// Arguments of `fleet release`.
#[derive(Debug, Clone, Args)]
#[command(after_help = RELEASE_EXAMPLES)]
pub struct ReleaseArguments {
    /// Which fleet, as with --fleet, or which queued agents: 7, 3-9, set:2, all.
    #[arg(value_name = "FLEET|SEL")]
    pub words: Vec<String>,
}

/// Arguments of `fleet retry`.
#[derive(Debug, Clone, Args)]
#[command(after_help = RETRY_EXAMPLES)]
pub struct RetryArguments {
    /// Which agents: failed, 7, 3-9, set:2, all.
    #[arg(value_name = "SEL")]
    pub selectors: Vec<String>,
}

/// Arguments of `fleet prune`.
#[derive(Debug, Clone, Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub struct PruneArguments {
    /// Delete what ended longer ago than this, such as 36h or 7d, and nothing else.
    #[arg(long, value_name = "TIME", value_parser = values::age, allow_hyphen_values = true)]
    pub older_than: Option<Duration>,
    /// Say what would be deleted, and delete nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `fleet trust`.
#[derive(Debug, Clone, Args)]
#[command(after_help = TRUST_EXAMPLES)]
pub struct TrustArguments {
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Trust it no more.
    #[arg(long, conflicts_with = "yes")]
    pub remove: bool,
}

/// Arguments of `fleet completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArguments {
    /// Which shell.
    #[arg(value_name = "SHELL", value_parser = clap::builder::PossibleValuesParser::new(crate::cli::completions::shells()))]
    pub shell: String,
}

/// Arguments of `fleet man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArguments {
    /// Of which subcommand; without it of fleet as a whole.
    #[arg(value_name = "SUBCOMMAND")]
    pub subcommand: Option<String>,
    /// Write all pages into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
    pub dir: Option<PathBuf>,
}
