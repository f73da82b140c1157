//! The loop: takes what happens, lets the core decide, and does what the core says.
//!
//! What may go here: merging, order, waiting. What may not: rules about agents or money.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::clock::Clock;
use super::given::{GivenTo, new_batch};
use super::halt::Shim;
use super::handle::{Asked, HostEnd};
use super::launch::LaunchThread;
use super::news::{Gone, News};
use super::notices::Teller;
use super::paper::Paper;
use super::recover::lost;
use super::silences::Silences;
use super::work_tree::WorkTrees;
use crate::core::{AgentId, Command, Effect, Event, Fleet, Reply, Ticket};
use crate::journal::{FleetDir, HostLock, Journal, Saved, Sequence, to_type};
use crate::supervise::{AgentDir, Life};
use crate::tail::scan::ScanWorker;

/// Most news taken before doors see a new snapshot.
const BATCH: usize = 256;
/// Least time between two snapshots: a frame at 60 a second.
const FRAME: Duration = Duration::from_millis(16);
/// How often what grows is looked at while something runs or waits: about a second, at multiples of this since the loop
/// began. Its timer sorts what is due later at multiples of 64 and of 4,096 milliseconds, and wakes for that: what is due
/// at such a moment itself takes one wake-up instead of two.
const POLL: Duration = Duration::from_millis(1024);

/// A fleet with everything that makes it run.
#[derive(Debug)]
pub struct Host {
    pub(super) fleet: Fleet,
    pub(super) dir: FleetDir,
    pub(super) clock: Clock,
    pub(super) journal: Journal,
    pub(super) saved: watch::Receiver<Saved>,
    pub(super) last: Sequence,
    /// Effects that wait until the records before them are safe.
    pub(super) waiting: VecDeque<(Sequence, Effect)>,
    /// They are being done: what one of them leads to is done after it and not within, however many there are.
    pub(super) releasing: bool,
    pub(super) launcher: LaunchThread,
    pub(super) trees: WorkTrees,
    pub(super) scan: ScanWorker,
    pub(super) end: HostEnd,
    pub(super) inbox: mpsc::Receiver<News>,
    pub(super) sender: mpsc::Sender<News>,
    pub(super) shims: HashMap<AgentId, Shim>,
    /// Some agent of this host may leave processes that are to be kept.
    pub(super) keeps: Arc<AtomicBool>,
    /// What agents get beside their tasks.
    pub(super) given: GivenTo,
    pub(super) replies: HashMap<Ticket, oneshot::Sender<Reply>>,
    pub(super) tickets: u64,
    pub(super) paper: Paper,
    /// Tells the owner's program of notices.
    pub(super) teller: Teller,
    /// The thread that writes the journal has failed: nothing can be decided any more.
    pub(super) journal_is_gone: bool,
    /// Agents of an earlier host are still being looked up: nothing starts before all of them are known.
    pub(super) recovering: bool,
    /// Adopted agents whose output so far is not yet read.
    pub(super) unread: HashSet<AgentId>,
    /// What silent agents may be waiting for.
    pub(super) silences: Silences,
    pub(super) stale: bool,
    pub(super) shown: Instant,
    /// Looks since the last sign of life, and how many there are from one to the next.
    pub(super) looks: u32,
    pub(super) looks_per_sign: u32,
    /// When the loop's timer began to count, or a little before.
    pub(super) begun: Instant,
    /// Held as long as the host lives.
    pub(super) _lock: HostLock,
}

/// What woke the loop.
enum Woke {
    Asked(Option<Asked>),
    News,
    Saved,
    JournalGone,
    Tick,
    Poll,
    Frame,
}

impl Host {
    /// Runs until no door is left. Doors leave when they have seen what they waited for. Returns why the owner's program
    /// was not told of the last notice, if it was not: doors may have left before that.
    pub async fn run(mut self) -> Option<String> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut poll = self.next_poll();
        let mut open = true;
        while open {
            match self.wait(&mut batch, poll).await {
                Woke::Asked(Some(asked)) => self.ask(asked),
                Woke::Asked(None) => open = false,
                Woke::News => {
                    for news in batch.drain(..) {
                        self.take(news);
                    }
                }
                Woke::Saved => self.saved(),
                Woke::JournalGone => {
                    self.journal_is_gone = true;
                    let command = to_type("resume");
                    let why =
                        format!("the thread that writes the journal failed: {command} goes on");
                    self.apply(Event::SaveFailed(why));
                }
                Woke::Tick => self.apply(Event::Tick),
                Woke::Poll => {
                    poll = self.next_poll();
                    self.look();
                    self.looks = (self.looks + 1) % self.looks_per_sign;
                    self.stale |= self.looks == 0 && self.has_running();
                }
                Woke::Frame => {}
            }
            self.show(false);
        }
        self.end_looks().await;
        self.pass_on_rest();
        self.stale = true;
        self.show(true);
        self.let_go().await
    }

    async fn wait(&mut self, batch: &mut Vec<News>, poll: Instant) -> Woke {
        let tick = self.fleet.next_tick().map(|moment| Instant::now() + self.clock.until(moment));
        let waits = !self.fleet.queue().is_empty() || self.paper.in_trouble;
        let busy = !self.shims.is_empty() || self.has_running() || waits;
        let has_room = self.journal.has_room();
        // What people want comes first. News are last but for the frame, which is looked at after each turn anyway: only
        // they can come faster than they are taken.
        tokio::select! {
            biased;
            asked = self.end.commands.recv(), if has_room => Woke::Asked(asked),
            saved = self.saved.changed(), if !self.journal_is_gone => {
                if saved.is_ok() { Woke::Saved } else { Woke::JournalGone }
            }
            () = sleep_until(tick.unwrap_or(poll)), if tick.is_some() => Woke::Tick,
            () = sleep_until(poll), if busy => Woke::Poll,
            _ = self.inbox.recv_many(batch, BATCH) => Woke::News,
            () = sleep_until(self.shown + FRAME), if self.stale => Woke::Frame,
        }
    }

    /// Returns the next moment for a look.
    fn next_poll(&self) -> Instant {
        let looks = self.begun.elapsed().as_millis() / POLL.as_millis() + 1;
        self.begun + POLL * u32::try_from(looks).unwrap_or(u32::MAX)
    }

    /// Says whether doors were last shown something that runs.
    fn has_running(&self) -> bool {
        self.end.snapshots.borrow().header.kpis.running > 0
    }

    fn ask(&mut self, asked: Asked) {
        let Asked { command, given, reply } = asked;
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.replies.insert(ticket, reply);
        let batches = self.fleet.batches();
        let batch = new_batch(&command, |id| batches.iter().any(|batch| batch.id == *id));
        let again = self.sent_again(&command);
        let lost = batch.as_ref().map(|_| self.names_lost(&command, &given)).unwrap_or_default();
        let lacking = batch.clone().filter(|_| !lost.is_empty());
        if let Some(batch) = lacking.clone() {
            // Before the agents are there: they would start at once without what their tasks demand.
            self.apply(Event::EnvMissing(batch, lost));
        }
        let event = Event::Command { ticket, command };
        let effects = self.decide(event);
        if let Some(batch) = batch {
            // Before anything is done about it: an agent that starts must find what it was given.
            self.keep_given(&batch, given, |_| true);
        } else if let Some(batch) = again {
            let queue = self.fleet.queue().to_vec();
            self.keep_given(&batch, given, |id| queue.contains(&id));
        }
        self.perform(effects);
        if let Some(batch) = lacking.filter(|batch| self.agents_of(batch).is_none()) {
            // There is no such batch: it was refused, or the agent that runs was told.
            self.apply(Event::EnvMissing(batch, Vec::new()));
        }
    }

    pub(super) fn apply(&mut self, event: Event) {
        let effects = self.decide(event);
        self.perform(effects);
    }

    fn decide(&mut self, event: Event) -> Vec<Effect> {
        let now = self.clock.now();
        self.stale = true;
        if self.recovering { self.fleet.observe(now, event) } else { self.fleet.apply(now, event) }
    }

    fn saved(&mut self) {
        let trouble = self.saved.borrow_and_update().trouble.clone();
        let was_in_trouble = self.paper.in_trouble;
        self.paper.in_trouble = trouble.is_some();
        match trouble {
            Some(why) => {
                self.apply(Event::SaveFailed(why.to_string()));
                self.withdraw_stopped();
            }
            None if was_in_trouble => self.apply(Event::Saved),
            None => self.release(),
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Launched(id, Ok(launched)) => self.launched(id, launched),
            News::Launched(id, Err(why)) => {
                self.shims.remove(&id);
                self.forget_before(id);
                // No shim will take what is stored, and no shim will delete it.
                let _ = self.agent_dir(id).forget_env();
                for event in Event::not_started(id, why, self.clock.now()) {
                    self.apply(event);
                }
            }
            News::Withdrawn(id) => {
                let ticket = Ticket(0);
                self.apply(Event::Command { ticket, command: Command::Stop(Some(vec![id])) });
                self.never_began(id);
            }
            News::Started(id) => {
                // No decision, so the journal has no record that the roster could follow.
                self.paper.outdate_roster();
                self.apply(Event::Started(id));
            }
            News::Exited(id, left_behind) => self.apply(Event::Exited(id, left_behind)),
            News::Gone(id, gone) => {
                // What the agent published last must be counted before its end is told.
                self.count_mesh_keys();
                self.gone(id, gone);
            }
            News::Changed(id, code, changed) => self.changed(id, code, changed),
            News::Glanced(looked_at, seen) => self.glanced(looked_at, seen),
            News::Scanned(id, tails) => self.apply(Event::Scanned(id, tails)),
            News::NoticeTold(told) => self.notice_told(told),
            News::Output(news) => self.output(news),
        }
    }

    fn count_mesh_keys(&mut self) {
        if let Some(keys) = self.paper.mesh_keys() {
            self.apply(Event::MeshKeys(keys));
        }
    }

    pub(super) fn gone(&mut self, id: AgentId, gone: Gone) {
        let Gone { life, swept, owner_stop } = gone;
        self.shims.remove(&id);
        match life {
            Ok(Life::NeverBegan) => {
                if owner_stop {
                    let command = Command::Stop(Some(vec![id]));
                    self.apply(Event::Command { ticket: Ticket(0), command });
                }
                self.scan.forget(id);
                self.forget_before(id);
                self.apply(Event::NeverBegan(id));
            }
            Ok(Life::Ended(record)) => self.tree_gone(id, record.to_tree_end(owner_stop)),
            Ok(Life::Lost | Life::Lives { .. } | Life::Elsewhere { .. }) | Err(_) => {
                // The shim deletes this when the agent has started, and may not have come to it.
                let _ = self.agent_dir(id).forget_env();
                self.tree_gone(id, lost(self.clock.now(), swept, owner_stop));
            }
        }
    }

    /// Looks at everything that changes without telling: outputs, the mesh store, stop files, a journal in trouble.
    fn look(&mut self) {
        self.scan.look_all();
        self.look_at_silent();
        for shim in self.shims.values_mut() {
            shim.send_stop();
            shim.send_close();
        }
        if self.paper.in_trouble {
            self.journal.retry();
        }
        self.count_mesh_keys();
        let snapshot = self.end.snapshots.borrow().clone();
        self.paper.write_manifests(&snapshot, true);
        if self.paper.was_nudged() {
            let stopped: Vec<_> = self
                .fleet
                .queue()
                .iter()
                .copied()
                .filter(|id| self.agent_dir(*id).has_owner_stop())
                .collect();
            if !stopped.is_empty() {
                let command = Command::Stop(Some(stopped));
                self.apply(Event::Command { ticket: Ticket(0), command });
            }
        }
    }

    /// Gives doors a new snapshot if something changed and the last one is a frame old, or in any case when `now`.
    pub(super) fn show(&mut self, now: bool) {
        if !self.stale || (!now && self.shown.elapsed() < FRAME) {
            return;
        }
        let snapshot = Arc::new(self.fleet.snapshot(self.clock.now()));
        self.paper.write(&snapshot);
        self.end.snapshots.send_replace(snapshot);
        self.stale = false;
        self.shown = Instant::now();
    }

    pub(super) fn agent_dir(&self, id: AgentId) -> AgentDir {
        AgentDir::new(self.dir.agent(id))
    }
}
