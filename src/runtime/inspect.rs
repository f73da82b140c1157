//! Looks at a fleet from outside: its journal and the facts in its folders, changing nothing but what is lost.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use super::clock::Clock;
use super::output;
use super::recover::{last_sign, lost};
use crate::adapters;
use crate::core::{
    AgentId, Command, Effect, Event, Fleet, FleetOptions, Phase, Refusal, Reply, Snapshot, Ticket,
    Waits,
};
use crate::journal::{
    self, FleetDir, FleetFile, FleetFileError, FleetStanding, HostState, JournalError,
};
use crate::supervise::{self, AgentDir, Life};

/// A fleet as seen from outside.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Its folder.
    pub dir: FleetDir,
    /// What was written down when it was made.
    pub file: FleetFile,
    /// Options in force, with the cap as it is now.
    pub options: FleetOptions,
    /// How it stands.
    pub standing: FleetStanding,
    /// A host lives, here or elsewhere.
    pub has_host: bool,
    /// Process id of its host, if one lives on this machine.
    pub host_pid: Option<u32>,
    /// Name of the machine that its host lives on, if that is another one.
    pub elsewhere: Option<String>,
    /// Its rows and numbers.
    pub snapshot: Snapshot,
}

/// Why a fleet cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// Its `fleet.json`.
    #[error(transparent)]
    File(#[from] FleetFileError),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its journal knows nothing of an agent that has run: a part of it is gone.
    #[error(
        "the journal {} is damaged: it knows nothing of agent {id}, which has run; restore it from a copy, or look at \
         what agents left in {}", path.display(), agents.display()
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The agent.
        id: AgentId,
        /// Where agents' files are.
        agents: PathBuf,
    },
    /// Its folder.
    #[error("could not read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Looks at a fleet. Agents that are found lost are swept: what carries their mark is ended.
pub fn inspect(dir: &FleetDir) -> Result<Inspection, InspectError> {
    let file = dir.read_file()?;
    let (mut fleet, clock, host) = look(dir, &file)?;
    let (host_pid, elsewhere) = match &host {
        HostState::Here(pid) => (*pid, None),
        HostState::Elsewhere(name) => (None, Some(name.clone())),
        HostState::None => (None, None),
    };
    let mut snapshot = fleet.snapshot(clock.now());
    let hosted = host != HostState::None;
    if !hosted {
        nothing_starts(&mut snapshot);
    }
    let standing = match (hosted, &snapshot.header) {
        (true, header) if header.hold.is_some() => FleetStanding::Held,
        (true, _) => FleetStanding::Live,
        (false, header) if header.kpis.running > 0 => FleetStanding::Hostless,
        (false, header) if header.kpis.queued > 0 => FleetStanding::Held,
        (false, _) => FleetStanding::Ended,
    };
    Ok(Inspection {
        dir: dir.clone(),
        file,
        options: FleetOptions { cap: fleet.cap(), ..fleet.options().clone() },
        standing,
        has_host: hosted,
        host_pid,
        elsewhere,
        snapshot,
    })
}

/// What would start without anybody's decision waits for a host above all.
fn nothing_starts(snapshot: &mut Snapshot) {
    for row in &mut snapshot.rows {
        let Phase::Waits(waits) = &row.phase else { continue };
        let starts_by_itself = match waits {
            Waits::Next | Waits::Slot | Waits::Local | Waits::Reserved => true,
            Waits::Hold
            | Waits::Cap
            | Waits::Held
            | Waits::Kind(_)
            | Waits::Env(_)
            | Waits::NotSaved
            | Waits::Ending
            | Waits::Host => false,
        };
        if starts_by_itself {
            Arc::make_mut(row).phase = Phase::Waits(Waits::Host);
        }
    }
}

/// Returns what a fleet without a host would answer to a command if it is refused: nobody has to be started to say no.
/// `None`: it is not refused, or only a host can tell.
pub fn foresee(dir: &FleetDir, command: Command) -> Result<Option<Refusal>, InspectError> {
    let (mut fleet, clock, host) = look(dir, &dir.read_file()?)?;
    if host != HostState::None {
        return Ok(None);
    }
    fleet.set_talks(adapters::talks());
    let asked = Event::Command { ticket: Ticket(0), command };
    let effects = fleet.observe(clock.now(), asked);
    Ok(effects.into_iter().find_map(|effect| match effect {
        Effect::Reply(_, Reply::Refused(refusal)) => Some(refusal),
        _ => None,
    }))
}

/// Looks at a fleet, and at the host first: one that goes after that has written everything that is read then.
fn look(dir: &FleetDir, file: &FleetFile) -> Result<(Fleet, Clock, HostState), InspectError> {
    let failed = |source| InspectError::Read { path: dir.path().to_owned(), source };
    let host = journal::host_of(dir).map_err(failed)?;
    let records = match journal::read(&dir.journal()) {
        // Whoever made it is about to start its host.
        Err(JournalError::Open { source, .. })
            if source.kind() == ErrorKind::NotFound && has_no_agents(dir) =>
        {
            Vec::new()
        }
        records => records?,
    };
    let newest = records.last().map(|(at, _)| *at).unwrap_or_default();
    let clock = Clock::start(newest);
    let mut fleet = if records.is_empty() {
        // Its host is about to begin it so.
        Fleet::new(dir.id().clone(), file.options.clone(), clock.now()).0
    } else {
        Fleet::restore(dir.id().clone(), records)
    };
    if host == HostState::None
        && let Some(id) = unknown_agent(&fleet, dir)
        // A host that has come meanwhile may have started it.
        && journal::host_of(dir).map_err(failed)? == HostState::None
    {
        return Err(InspectError::Damaged { path: dir.journal(), id, agents: dir.agents() });
    }
    for id in fleet.live() {
        look_at(&mut fleet, dir, id, &clock, host == HostState::None);
    }
    withdraw_stopped(&mut fleet, dir, &clock);
    Ok((fleet, clock, host))
}

/// Returns a fleet as its journal tells it. Nothing is looked at or changed, so this takes a moment however much agents
/// write; what is told as living may have ended since.
pub fn recorded(dir: &FleetDir) -> Result<Snapshot, InspectError> {
    let records = journal::read(&dir.journal())?;
    let newest = records.last().map(|(at, _)| *at).unwrap_or_default();
    Ok(Fleet::restore(dir.id().clone(), records).snapshot(newest))
}

/// Returns an agent that has run and of which the fleet knows nothing. Decisions are on the disk before their effects, so
/// that there is none as long as the journal is whole.
fn unknown_agent(fleet: &Fleet, dir: &FleetDir) -> Option<AgentId> {
    let names = std::fs::read_dir(dir.agents())
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse().ok()).map(AgentId);
    // What was given to a task before it was queued has a folder as well.
    let has_run = |id: &AgentId| AgentDir::new(dir.agent(*id)).started().is_file();
    ids.filter(|id| fleet.task(*id).is_none()).find(has_run)
}

/// Says whether no agent of the fleet has a folder: without a journal it is one that never began.
fn has_no_agents(dir: &FleetDir) -> bool {
    match std::fs::read_dir(dir.agents()) {
        Ok(mut agents) => agents.next().is_none(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Takes as cancelled what the owner has stopped in the queue, though its host may not have looked yet.
fn withdraw_stopped(fleet: &mut Fleet, dir: &FleetDir, clock: &Clock) {
    if dir.nudge_stamp() == 0 {
        return;
    }
    let is_stopped = |id: &AgentId| AgentDir::new(dir.agent(*id)).has_owner_stop();
    let ids: Vec<AgentId> = fleet.queue().iter().copied().filter(is_stopped).collect();
    if !ids.is_empty() {
        let command = Command::Stop(Some(ids));
        apply(fleet, clock, Event::Command { ticket: Ticket(0), command });
    }
}

/// Brings one agent up to what its folder says. Nothing starts because of it: only a host decides.
fn look_at(fleet: &mut Fleet, dir: &FleetDir, id: AgentId, clock: &Clock, hostless: bool) {
    let agent_dir = AgentDir::new(dir.agent(id));
    let Ok(life) = supervise::life(&agent_dir) else { return };
    let owner_stop = agent_dir.has_owner_stop();
    let tree = match life {
        Life::Lives { .. } | Life::Elsewhere { .. } => {
            apply(fleet, clock, Event::Adopted(id, last_sign(&agent_dir)));
            None
        }
        Life::Ended(record) => Some(record.to_tree_end(owner_stop)),
        Life::Lost if hostless => {
            let swept = supervise::sweep(&super::mark(dir, id));
            Some(lost(clock.now(), swept, owner_stop))
        }
        Life::NeverBegan if hostless => {
            apply(fleet, clock, Event::NeverBegan(id));
            None
        }
        // A host that lives is about to say so itself, or to start it.
        Life::Lost | Life::NeverBegan => None,
    };
    let ended = tree.is_some();
    if let Some(tree) = tree {
        apply(fleet, clock, Event::TreeGone(id, tree));
    }
    output::read_all(fleet, clock.now(), &agent_dir, id, ended);
}

fn apply(fleet: &mut Fleet, clock: &Clock, event: Event) {
    drop(fleet.observe(clock.now(), event));
}
