//! `fleet show` and `fleet results`: what is to be seen of the fleet that a command means, as its host shows it, or else
//! as its files say.
//!
//! What may go here: asking the host first, since it knows at once what files tell only after long reading. What may not:
//! starting hosts (`connect`), words (`cli`).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::cli::arguments::{GlobalArguments, ResultsArguments, ShowArguments, which_fleet};
use crate::cli::{self, Failure, fleet_to, selectors, state_dir};
use crate::control::connect_in_passing;
use crate::core::{AgentId, FleetOptions, Row, Snapshot, Status};
use crate::journal::{FleetDir, FleetStanding, HostState, Purpose, StateDir, host_of};
use crate::runtime::{Clock, Inspection, new_loop};
use crate::supervise::{self, AgentDir};

/// How long a host may take to show its fleet before its files are read instead: it may be stopped, or hang.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how a fleet stands, or what is known of some agents.
pub(super) fn show(arguments: &ShowArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let (argument, selectors) = selectors::divide(&arguments.words).map_err(Failure::input)?;
    let seen = see(&state_dir(global)?, global, argument)?;
    cli::show_fleet(&selectors, global, &seen)
}

/// Shows what agents answered.
pub(super) fn results(
    arguments: &ResultsArguments,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let (argument, selectors) = selectors::divide(&arguments.words).map_err(Failure::input)?;
    let seen = see(&state_dir(global)?, global, argument)?;
    cli::show_results(arguments, &selectors, global, &seen)
}

/// Returns what is seen of the fleet that is named, else of this folder's live one, else of its newest.
pub(super) fn see(
    state: &StateDir,
    global: &GlobalArguments,
    argument: Option<&str>,
) -> Result<Inspection, Failure> {
    let which = which_fleet(global, argument).map_err(Failure::input)?;
    let meant = fleet_to(state, which, Purpose::Read)?;
    match shown_by_host(&meant.dir) {
        Some(inspection) => Ok(inspection),
        None => meant.inspection(),
    }
}

/// Returns what the host of a fleet shows; `None` without one on this machine that answers soon.
fn shown_by_host(dir: &FleetDir) -> Option<Inspection> {
    let Ok(HostState::Here(host_pid)) = host_of(dir) else { return None };
    let file = dir.read_file().ok()?;
    let shown = new_loop().ok()?.block_on(async {
        let connected = timeout(PATIENCE, connect_in_passing(dir)).await.ok()?.ok()?;
        Some(connected.handle.snapshot())
    })?;
    if is_behind(dir, &shown) {
        return None;
    }
    // A host that has nothing new to show does not say what time it is.
    let at = shown.at.max(Clock::wall());
    let snapshot = Snapshot { at, ..(*shown).clone() };
    let standing = match snapshot.header.hold {
        Some(_) => FleetStanding::Held,
        None => FleetStanding::Live,
    };
    let options = FleetOptions { cap: snapshot.header.cap, ..file.options.clone() };
    Some(Inspection {
        dir: dir.clone(),
        file,
        options,
        standing,
        has_host: true,
        host_pid,
        elsewhere: None,
        snapshot,
    })
}

/// Says whether the files know more than the host has shown: the owner has stopped a task in the queue past it, or an
/// agent runs of whose start it has not heard yet.
fn is_behind(dir: &FleetDir, shown: &Snapshot) -> bool {
    let agent = |id: AgentId| AgentDir::new(dir.agent(id));
    let is_stopped = |id: &AgentId| agent(*id).has_owner_stop();
    let runs = |row: &Arc<Row>| {
        let started = || supervise::started(&agent(row.id));
        row.status == Status::Starting
            && started().is_ok_and(|started| started.is_some_and(|it| it.agent_pid.is_some()))
    };
    (dir.nudge_stamp() > 0 && shown.queue.iter().any(is_stopped)) || shown.rows.iter().any(runs)
}
