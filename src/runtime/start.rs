//! Makes a host: for a new fleet, or for one whose host has gone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::clock::Clock;
use super::given::GivenTo;
use super::handle::{FleetHandle, channel};
use super::host::Host;
use super::launch::{Common, LaunchThread};
use super::news::{NEWS, News};
use super::notices::{NoticeSource, Teller};
use super::paper::Paper;
use super::silences::Silences;
use super::work_tree::WorkTrees;
use crate::adapters;
use crate::core::{AgentId, Effect, Fleet, FleetOptions, Hold, Moment};
use crate::journal::{
    self, FleetDir, FleetFile, FleetFileError, HostLock, Journal, JournalError, Sequence, Taken,
};
use crate::supervise::{self, AgentDir, Launcher, Life};
use crate::tail::scan::ScanWorker;

/// A queue that waited for longer than this without a host does not go on by itself: its owner may have forgotten it.
const FRESH: Duration = Duration::from_mins(10);

/// What a host needs beside its fleet's folder.
#[derive(Debug, Clone)]
pub struct Setup {
    /// How shims are started.
    pub launcher: Launcher,
    /// How deep this process is nested in fleets; its agents are one deeper.
    pub depth: u32,
    /// Looks, of which there is one every second or so, between two snapshots that doors get while agents run and
    /// nothing else changes: by them a door that counts time for itself can tell that the host lives. One for doors that
    /// do not; zero is read as one.
    pub looks_per_sign: u32,
    /// Which program of the owner's is told of notices.
    pub notices: Option<NoticeSource>,
}

/// Returns how deep this process is nested in fleets: what its agent was told, zero outside of agents.
pub fn depth() -> u32 {
    let told = std::env::var("FLEET_DEPTH").ok().and_then(|depth| depth.parse().ok());
    match std::env::var_os("FLEET_AGENT") {
        Some(_) => told.unwrap_or(1),
        None => 0,
    }
}

/// Why a fleet cannot be hosted.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Another process hosts it.
    #[error(transparent)]
    Taken(#[from] Taken),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its `fleet.json`.
    #[error(transparent)]
    File(#[from] FleetFileError),
    /// The options do not go together; a whole sentence.
    #[error("{0}")]
    Options(String),
    /// A thread or a file was refused.
    #[error("could not host the fleet in {}: {source}", path.display())]
    Refused {
        /// The fleet's folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Host {
    /// Hosts a new fleet. Must be called inside the runtime that will run it.
    pub fn create(
        dir: FleetDir,
        options: FleetOptions,
        setup: &Setup,
    ) -> Result<(Self, FleetHandle), HostError> {
        let lock = HostLock::take(&dir)?;
        let journal = Journal::create(&dir.journal())?;
        let clock = Clock::start(Moment::default());
        let (mut fleet, effects) = Fleet::new(dir.id().clone(), options, clock.now());
        fleet.open_notices();
        Self::assemble(dir, lock, journal, fleet, clock, setup, effects)
    }

    /// Hosts a fleet whose host has gone: agents that live are adopted, ends are read, what is queued goes on.
    /// `change` makes the options with which it goes on out of those in force, or says why it cannot.
    pub fn recover(
        dir: FleetDir,
        change: impl FnOnce(&FleetOptions) -> Result<FleetOptions, String>,
        setup: &Setup,
    ) -> Result<(Self, FleetHandle), HostError> {
        let (lock, journal, fleet, clock) = take_over(&dir)?;
        Self::go_on((dir, lock, journal, fleet, clock), change, setup, Going::On)
    }

    /// Hosts a fleet that nobody told to go on, only to be watched: a new one begins, one whose host has just gone goes
    /// on. But what the owner held or interrupted stays held, and so does a queue that has waited for more than ten
    /// minutes, or through a restart of the machine, as [`crate::core::Hold::Back`].
    pub fn open(dir: FleetDir, setup: &Setup) -> Result<(Self, FleetHandle), HostError> {
        let lock = HostLock::take(&dir)?;
        let path = dir.journal();
        let (journal, records) = if path.symlink_metadata().is_ok() {
            Journal::append_to(&path)?
        } else {
            (Journal::create(&path)?, Vec::new())
        };
        let Some((newest, _)) = records.last() else {
            let clock = Clock::start(Moment::default());
            let options = dir.read_file()?.options;
            let (mut fleet, effects) = Fleet::new(dir.id().clone(), options, clock.now());
            fleet.open_notices();
            return Self::assemble(dir, lock, journal, fleet, clock, setup, effects);
        };
        let clock = Clock::start(*newest);
        let fleet = Fleet::restore(dir.id().clone(), records);
        let unchanged = |before: &FleetOptions| Ok(before.clone());
        Self::go_on((dir, lock, journal, fleet, clock), unchanged, setup, Going::AsItWas)
    }

    fn go_on(
        taken: (FleetDir, HostLock, Journal, Fleet, Clock),
        change: impl FnOnce(&FleetOptions) -> Result<FleetOptions, String>,
        setup: &Setup,
        going: Going,
    ) -> Result<(Self, FleetHandle), HostError> {
        let (dir, lock, journal, mut fleet, clock) = taken;
        if let Some(host) = lives_elsewhere(&dir, &fleet) {
            return Err(Taken::Elsewhere { fleet: dir.id().clone(), host }.into());
        }
        let file = dir.read_file()?;
        let before = FleetOptions { cap: fleet.cap(), ..fleet.options().clone() };
        let options = change(&before).map_err(HostError::Options)?;
        if let Some(cap) = options.cap.filter(|cap| Some(*cap) != before.cap)
            && !fleet.queue().is_empty()
            && let Some(refusal) = fleet.refuse_cap(cap)
        {
            return Err(HostError::Options(format!("--cap: {}", refusal.0)));
        }
        let restarted = file.boot_id != journal::boot_id();
        let waits_since = match going {
            Going::On => None,
            Going::AsItWas => waits_since(&dir, &fleet, clock.now(), restarted),
        };
        let was_interrupted = matches!(fleet.hold(), Some(Hold::Interrupted(_)));
        let mut effects = Vec::new();
        if going == Going::On || (was_interrupted && waits_since.is_some()) {
            effects.extend(fleet.resume(clock.now(), options));
        } else {
            fleet.carry_on(clock.now());
        }
        if let Some(since) = waits_since {
            effects.extend(fleet.hold_back(clock.now(), since));
        }
        let (mut host, handle) = Self::assemble(dir, lock, journal, fleet, clock, setup, effects)?;
        host.recover_agents(restarted);
        host.show(true);
        let file = FleetFile {
            host_name: journal::host_name(),
            boot_id: journal::boot_id(),
            // Where an earlier host listened.
            socket: None,
            ..file
        };
        // It only tells a later host what this one knew; without it that one looks more closely than it must.
        let _ = host.dir.write_file(&file);
        Ok((host, handle))
    }

    fn assemble(
        dir: FleetDir,
        lock: HostLock,
        journal: Journal,
        mut fleet: Fleet,
        clock: Clock,
        setup: &Setup,
        effects: Vec<Effect>,
    ) -> Result<(Self, FleetHandle), HostError> {
        let refused = |source| HostError::Refused { path: dir.path().to_owned(), source };
        let (sender, inbox) = mpsc::channel(NEWS);
        fleet.set_talks(adapters::talks());
        let options = fleet.options();
        let common = Common {
            launcher: setup.launcher.clone(),
            fleet: dir.clone(),
            depth: setup.depth.saturating_add(1),
            mesh: options.mesh.clone(),
            grace: options.grace,
            stale_grace: options.stale_grace,
            orphan: options.orphan_limit.map(|limit| (limit, dir.host_lock())),
            nofile: supervise::raise_nofile(),
        };
        let launcher = LaunchThread::start(common, sender.clone()).map_err(refused)?;
        let output = sender.clone();
        let scan = ScanWorker::start(move |news| {
            // The loop has ended: nobody wants to hear more.
            let _ = output.blocking_send(News::Output(news));
        })
        .map_err(refused)?;
        let paper = Paper::new(dir.clone(), options.mesh.clone());
        // Without it the folder is not known, and a program that is told of something runs elsewhere.
        let root = dir.read_file().map(|file| file.root).unwrap_or_default();
        let (told_by, source) = (setup.launcher.clone(), setup.notices.clone());
        let teller = Teller::new(told_by, source, root, sender.clone());
        let (handle, end) = channel(fleet.snapshot(clock.now()));
        let mut host = Self {
            saved: journal.saved(),
            fleet,
            dir,
            clock,
            journal,
            last: Sequence::default(),
            waiting: VecDeque::new(),
            releasing: false,
            launcher,
            trees: WorkTrees::default(),
            scan,
            end,
            inbox,
            sender,
            shims: HashMap::new(),
            keeps: Arc::default(),
            given: GivenTo::default(),
            replies: HashMap::new(),
            tickets: 0,
            paper,
            teller,
            journal_is_gone: false,
            recovering: false,
            unread: HashSet::new(),
            silences: Silences::default(),
            stale: true,
            looks: 0,
            looks_per_sign: setup.looks_per_sign.max(1),
            shown: Instant::now(),
            begun: Instant::now(),
            _lock: lock,
        };
        host.perform(effects);
        Ok((host, handle))
    }
}

/// Whether the queue of a fleet that is taken over goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Going {
    /// The owner said so.
    On,
    /// Nobody said anything.
    AsItWas,
}

/// Returns since when the queue that a host finds has waited, if that is for its owner to know before it goes on: the
/// owner may have forgotten it, and has not held it.
pub(super) fn waits_since(
    dir: &FleetDir,
    fleet: &Fleet,
    now: Moment,
    restarted: bool,
) -> Option<Moment> {
    let since = fleet.newest();
    let is_due = match fleet.hold() {
        Some(Hold::Owner | Hold::Back(_)) => false,
        Some(Hold::Interrupted(_)) => true,
        Some(Hold::Cap | Hold::NotSaved(_)) | None => restarted || now.since(since) > FRESH,
    };
    let never_began = |id: &AgentId| {
        let life = supervise::life(&AgentDir::new(dir.agent(*id)));
        matches!(life, Ok(Life::NeverBegan))
    };
    let waits = || !fleet.queue().is_empty() || fleet.live().iter().any(never_began);
    (is_due && waits()).then_some(since)
}

/// Returns the other machine on which an agent lives, for fleets in a folder that machines share.
pub(super) fn lives_elsewhere(dir: &FleetDir, fleet: &Fleet) -> Option<String> {
    fleet.live().into_iter().find_map(|id| match supervise::life(&AgentDir::new(dir.agent(id))) {
        Ok(Life::Elsewhere { host }) => Some(host),
        Ok(Life::Lives { .. } | Life::NeverBegan | Life::Ended(_) | Life::Lost) | Err(_) => None,
    })
}

/// Takes the host lock of a fleet and rebuilds it from its journal.
pub(super) fn take_over(dir: &FleetDir) -> Result<(HostLock, Journal, Fleet, Clock), HostError> {
    let lock = HostLock::take(dir)?;
    let (journal, records) = Journal::append_to(&dir.journal())?;
    let newest = records.last().map(|(at, _)| *at).unwrap_or_default();
    let fleet = Fleet::restore(dir.id().clone(), records);
    Ok((lock, journal, fleet, Clock::start(newest)))
}
