//! What the subcommands share: failures with their exit code, the state folder, which fleet is meant.

use std::path::Path;

use super::arguments::GlobalArguments;
use super::exit_code::{NO_FLEET, USAGE};
use super::run::current_folder;
use crate::core::{Command, FleetId, Snapshot, refuse_inside, short_mark};
use crate::journal::{
    FindError, FleetDir, FleetStanding, HostState, Listed, Purpose, StateDir, folder_of, host_of,
    pick, tell_state_dir,
};
use crate::runtime::{self, Inspection, inspect};
use crate::words::plain_text::one_line;

/// Why a command was not carried out: one sentence and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What, where, and what to do.
    pub sentence: String,
    /// Exit code of the process.
    pub code: u8,
}

impl Failure {
    /// Usage or input.
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: USAGE }
    }

    /// No such fleet, or no host.
    pub(crate) fn no_fleet(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: NO_FLEET }
    }
}

/// A fleet that cannot be reached or decided about.
pub(super) fn no_fleet(error: impl std::fmt::Display) -> Failure {
    Failure::no_fleet(error.to_string())
}

/// Refuses a named fleet where none can be meant, rather than leave it out of account.
pub(crate) fn without_fleet(global: &GlobalArguments, why: &str) -> Result<(), Failure> {
    match &global.fleet {
        None => Ok(()),
        Some(_) => Err(Failure::input(format!("--fleet: {why}"))),
    }
}

/// Opens the state folder; one that was given is named in the commands that are told from now on.
pub(crate) fn state_dir(global: &GlobalArguments) -> Result<StateDir, Failure> {
    let state = StateDir::open(global.state_dir.as_deref())
        .map_err(|error| Failure::input(error.to_string()))?;
    if global.state_dir.is_some() {
        tell_state_dir(state.path());
    }
    Ok(state)
}

/// The fleet that a command means.
pub(crate) struct Meant {
    /// Its folder.
    pub(crate) dir: FleetDir,
    /// What was seen of it, where it had to be looked at to be found.
    seen: Option<Inspection>,
}

impl Meant {
    /// A fleet that is known and was not looked at.
    pub(super) const fn new(dir: FleetDir) -> Self {
        Self { dir, seen: None }
    }

    /// Returns what is seen of it, looking at it unless that was done.
    pub(crate) fn inspection(self) -> Result<Inspection, Failure> {
        let look = || inspect(&self.dir).map_err(|error| Failure::no_fleet(error.to_string()));
        self.seen.map_or_else(look, Ok)
    }
}

/// Finds the fleet that a command means: the one that was named, else the one of this folder.
pub(crate) fn fleet_to(
    state: &StateDir,
    which: Option<&str>,
    purpose: Purpose,
) -> Result<Meant, Failure> {
    if let Some(text) = which {
        let dir = state.find(text).map_err(|error| match error {
            FindError::TooShort(_) => Failure::input(error.to_string()),
            _ => Failure::no_fleet(error.to_string()),
        })?;
        return Ok(Meant::new(dir));
    }
    let folder = folder_of(&current_folder()?);
    // Where one alone has a host it is the one, whatever became of others, and need not be looked at to be found.
    if let [hosted] = hosted_of_folder(state, &folder)?.as_slice() {
        return Ok(Meant::new(state.fleet(hosted)));
    }
    let mut seen = of_folder(state, &folder)?;
    let listed: Vec<Listed> = seen.iter().map(to_listed).collect();
    let picked =
        pick(&listed, &folder, purpose).map_err(|error| Failure::no_fleet(error.to_string()))?;
    let place = seen.iter().position(|seen| *seen.dir.id() == picked.id);
    Ok(Meant { dir: state.fleet(&picked.id), seen: place.map(|place| seen.swap_remove(place)) })
}

/// Finds the fleet that a command may mean without a look at any: the one that was named, else the only one of this folder
/// that has a host, else its newest.
pub(super) fn likely_fleet(state: &StateDir, which: Option<&str>) -> Result<FleetDir, Failure> {
    if let Some(text) = which {
        return state.find(text).map_err(no_fleet);
    }
    let folder = folder_of(&current_folder()?);
    if let [hosted] = hosted_of_folder(state, &folder)?.as_slice() {
        return Ok(state.fleet(hosted));
    }
    let files = ids(state)?.into_iter().filter_map(|id| {
        let dir = state.fleet(&id);
        let file = dir.read_file().ok().filter(|file| file.root == folder)?;
        Some((file.created, dir))
    });
    let newest = files.max_by_key(|(created, _)| *created);
    newest.map(|(_, dir)| dir).ok_or_else(|| Failure::no_fleet("this folder has no fleet"))
}

/// Returns the fleets of one folder that have a host, here or elsewhere.
fn hosted_of_folder(state: &StateDir, folder: &Path) -> Result<Vec<FleetId>, Failure> {
    let mut hosted = ids(state)?;
    hosted.retain(|id| {
        let dir = state.fleet(id);
        dir.read_file().is_ok_and(|file| file.root == folder)
            && matches!(host_of(&dir), Ok(HostState::Here(_) | HostState::Elsewhere(_)))
    });
    Ok(hosted)
}

/// Looks at the fleets that belong to one folder. One that cannot be read is left out: it is found by its id.
fn of_folder(state: &StateDir, folder: &Path) -> Result<Vec<Inspection>, Failure> {
    let mut seen = Vec::new();
    for id in ids(state)? {
        let dir = state.fleet(&id);
        if dir.read_file().is_ok_and(|file| file.root == folder) {
            seen.extend(inspect(&dir));
        }
    }
    Ok(seen)
}

pub(super) fn ids(state: &StateDir) -> Result<Vec<FleetId>, Failure> {
    state.list().map_err(|error| {
        Failure::input(format!("could not read {}: {error}", state.fleets().display()))
    })
}

fn to_listed(inspection: &Inspection) -> Listed {
    Listed {
        id: inspection.dir.id().clone(),
        folder: inspection.file.root.clone(),
        standing: match inspection.standing {
            // A fleet with a host is live for whoever looks for one, even if its queue is held.
            FleetStanding::Held if inspection.has_host => FleetStanding::Live,
            standing => standing,
        },
        created: inspection.file.created,
        is_open: !inspection.snapshot.header.closed,
        is_busy: !inspection.snapshot.header.all_done,
    }
}

/// Refuses to nest fleets deeper than allowed. A guard against accidents, no wall.
pub(crate) fn outside_of_agents(depth: u32, max_depth: u32) -> Result<(), Failure> {
    if depth == 0 || depth < max_depth {
        return Ok(());
    }
    Err(Failure::input(format!(
        "this runs inside agent {} of a fleet, {depth} deep, and may go {max_depth} deep: give a greater --max-depth to \
         allow it",
        own_mark()
    )))
}

/// Refuses what an agent of a fleet may not do to fleets at all, such as `stop`. A guard against accidents, no wall.
pub(crate) fn never_inside_of_agents(depth: u32, what: &str) -> Result<(), Failure> {
    if depth == 0 {
        return Ok(());
    }
    Err(Failure::input(format!(
        "this runs inside agent {} of a fleet, where fleet {what} is refused: run it outside of agents",
        own_mark()
    )))
}

/// Refuses what an agent of a fleet may not ask of this one; see [`refuse_inside`].
pub(super) fn own_of_agent(command: &Command, snapshot: &Snapshot) -> Result<(), Failure> {
    let refusal = runtime::own_mark().and_then(|mark| refuse_inside(&mark, command, snapshot));
    refusal.map_or(Ok(()), |refusal| Err(Failure::input(one_line(&refusal.0))))
}

/// Returns the fleet and the number of the agent that this runs inside, as people know them: `k3f/7`.
fn own_mark() -> String {
    short_mark(&runtime::own_mark().unwrap_or_default())
}
