//! One thread that reads the outputs of all agents, a bounded part of one at a time.
//!
//! What may go here: who is read next, what is told to whom. What may not: how a file is read, a clock.
//!
//! Orders never wait: they are kept in a mailbox that holds at most one order of each sort per agent, so it is bounded
//! by the number of live agents. News may wait: the thread stands still until the receiver has taken them, so nothing
//! grows, and no order can be blocked by it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::scanner::Scanner;
use super::sizes::Sizes;
use crate::adapters::LineReader;
use crate::core::{AgentId, Fact, Tails};
use crate::tail::transcript::{self, Transcript};

/// Bytes read of one agent before the next one has its turn: a few milliseconds.
const TURN_BYTES: u64 = 4 << 20;
/// Bytes read by one system call: fits into the cache of a core, and no larger piece is faster.
const READ_BYTES: usize = 256 * 1024;
/// The offset is told after so many bytes even if they told nothing, so that a recovery need not read them again.
const SILENT_BYTES: u64 = 64 << 20;

/// An agent whose output is to be read.
pub struct Follow {
    /// The agent.
    pub id: AgentId,
    /// Its standard output.
    pub out: PathBuf,
    /// Its standard error.
    pub err: PathBuf,
    /// Where its program may leave a report at its end.
    pub report: PathBuf,
    /// Bytes of `out` that are accounted for already.
    pub offset: u64,
    /// Reads its lines.
    pub reader: Box<dyn LineReader>,
    /// The account for people that is to be written; `None` for none.
    pub transcript: Option<transcript::Start>,
    /// What it has written until now was there before anybody looked, and is no sign of life.
    pub is_adopted: bool,
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow")
            .field("id", &self.id)
            .field("out", &self.out)
            .finish_non_exhaustive()
    }
}

/// What the worker tells. All facts of an agent come before its `Scanned`, which is the last word about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The output was read up to `offset` and this was learned.
    Facts {
        /// Whose.
        id: AgentId,
        /// What, in order.
        facts: Vec<Fact>,
        /// Bytes of `out` that are accounted for.
        offset: u64,
    },
    /// A look has shown that `out` or `err` has changed its size.
    Progress(AgentId),
    /// The agent has ended and so many bytes of its `out` are still unread.
    Behind(AgentId, u64),
    /// What an adopted agent had written before anybody looked is read, or cannot be.
    CaughtUp(AgentId),
    /// Everything is read.
    Scanned(AgentId, Tails),
}

/// The reading thread. Ends when this is dropped, at the latest after the turn it is in.
#[derive(Debug)]
pub struct ScanWorker {
    mailbox: Arc<Mailbox>,
    sizes: Sizes,
}

impl ScanWorker {
    /// Starts the thread. `news` is called on it and may wait; while it does, nothing is read.
    pub fn start(news: impl FnMut(News) + Send + 'static) -> io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let worker = Worker {
            mailbox: Arc::clone(&mailbox),
            news,
            agents: BTreeMap::new(),
            ready: VecDeque::new(),
            buffer: vec![0; READ_BYTES],
        };
        thread::Builder::new().name("scan".to_owned()).spawn(move || worker.run())?;
        Ok(Self { mailbox, sizes: Sizes::default() })
    }

    /// Begins to read an agent's output; nothing is read before the first look.
    pub fn follow(&mut self, follow: Follow) {
        let has_more = follow.reader.reads_session();
        self.sizes.follow(follow.id, &follow.out, &follow.err, has_more);
        self.mailbox.put(|orders| orders.follow.push(follow));
    }

    /// Says whether an agent is followed.
    pub fn follows(&self, id: AgentId) -> bool {
        self.sizes.follows(id)
    }

    /// Looks whether the agent's files have grown, and reads what is new.
    pub fn look(&self, id: AgentId) {
        self.mailbox.put(|orders| {
            orders.look.insert(id);
        });
    }

    /// Looks at the sizes of the files of all agents, here and now, and has those read that have changed: when all are
    /// silent the thread is not woken.
    pub fn look_all(&mut self) {
        let changed = self.sizes.changed();
        if !changed.is_empty() {
            self.mailbox.put(|orders| orders.look.extend(changed));
        }
    }

    /// Reads the output of an agent that has ended to its end; `Scanned` follows, also for an agent that is not
    /// followed. `code` is its exit code, if it has one.
    pub fn finish(&mut self, id: AgentId, code: Option<i32>) {
        self.sizes.forget(id);
        self.mailbox.put(|orders| {
            orders.finish.insert(id, code);
        });
    }

    /// Reads nothing of the agent any more and says nothing about it, but for news that are under way.
    pub fn forget(&mut self, id: AgentId) {
        self.sizes.forget(id);
        self.mailbox.put(|orders| {
            orders.follow.retain(|follow| follow.id != id);
            orders.look.remove(&id);
            orders.finish.remove(&id);
            orders.forget.insert(id);
        });
    }
}

impl Drop for ScanWorker {
    fn drop(&mut self) {
        // Not joined: the thread may wait for a receiver that only goes after this.
        self.mailbox.put(|orders| orders.is_over = true);
    }
}

/// What the worker is told to do.
#[derive(Debug, Default)]
struct Orders {
    forget: BTreeSet<AgentId>,
    follow: Vec<Follow>,
    look: BTreeSet<AgentId>,
    finish: BTreeMap<AgentId, Option<i32>>,
    is_over: bool,
}

impl Orders {
    fn is_empty(&self) -> bool {
        self.forget.is_empty()
            && self.follow.is_empty()
            && self.look.is_empty()
            && self.finish.is_empty()
            && !self.is_over
    }
}

#[derive(Debug, Default)]
struct Mailbox {
    orders: Mutex<Orders>,
    changed: Condvar,
}

impl Mailbox {
    fn put(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.lock());
        self.changed.notify_one();
    }

    /// Takes what there is; waits for something if `waits`.
    fn take(&self, waits: bool) -> Orders {
        let mut orders = self.lock();
        while waits && orders.is_empty() {
            orders = self.changed.wait(orders).unwrap_or_else(PoisonError::into_inner);
        }
        mem::take(&mut *orders)
    }

    /// No order is half done when a thread panics, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One agent under the worker's eyes.
struct Followed {
    scanner: Scanner,
    transcript: Option<Transcript>,
    /// It stands in the queue of those that have something to read.
    is_ready: bool,
    /// It has ended.
    is_finishing: bool,
    /// Its exit code, once it has one.
    code: Option<i32>,
    /// The offset that was told last.
    told: u64,
    /// It was adopted, and not yet read as far as it had written then.
    is_behind: bool,
}

impl Followed {
    /// Tells facts in the account, then how far that is: whoever keeps the one keeps the other.
    fn account(&mut self, facts: &mut Vec<Fact>) {
        let Some(transcript) = &mut self.transcript else { return };
        transcript.take(facts, transcript::now);
        if !facts.is_empty() || transcript.has_new_trouble() {
            facts.extend(transcript.news());
        }
    }

    /// Tells the last facts. How long the account is, is said in any case: its last line comes after that.
    fn end_account(&mut self, facts: &mut Vec<Fact>) {
        let Some(transcript) = &mut self.transcript else { return };
        transcript.take(facts, transcript::now);
        transcript.end(transcript::now);
        facts.extend(transcript.news());
    }
}

struct Worker<N> {
    mailbox: Arc<Mailbox>,
    news: N,
    agents: BTreeMap<AgentId, Followed>,
    /// Agents with something to read, in the order of their turns; each stands here once.
    ready: VecDeque<AgentId>,
    buffer: Vec<u8>,
}

impl<N: FnMut(News)> Worker<N> {
    fn run(mut self) {
        loop {
            let orders = self.mailbox.take(self.ready.is_empty());
            if orders.is_over {
                return;
            }
            self.obey(orders);
            if let Some(id) = self.ready.pop_front() {
                self.guarded(id, Self::turn);
            }
        }
    }

    fn obey(&mut self, orders: Orders) {
        for id in orders.forget {
            self.agents.remove(&id);
        }
        for follow in orders.follow {
            let Follow { id, out, err, report, offset, reader, transcript, is_adopted } = follow;
            let transcript = transcript.map(Transcript::open);
            let mut scanner = Scanner::new(out, err, offset, reader).with_report(report);
            // What it has spent must be known before others start.
            let is_due = is_adopted && scanner.adopt().is_due;
            let is_ready = self.ready.contains(&id) || is_due;
            if is_due && !self.ready.contains(&id) {
                self.ready.push_back(id);
            }
            let followed = Followed {
                scanner,
                transcript,
                is_ready,
                is_finishing: false,
                code: None,
                told: offset,
                is_behind: is_due,
            };
            self.agents.insert(id, followed);
            if is_adopted && !is_due {
                (self.news)(News::CaughtUp(id));
            }
        }
        for id in orders.look {
            self.look(id);
        }
        for (id, code) in orders.finish {
            if let Some(followed) = self.agents.get_mut(&id) {
                followed.code = code;
            }
            self.guarded(id, Self::finish);
        }
    }

    /// Does something for one agent. Should its reader panic, which the panic hook reports, then that agent is not read
    /// any more, and all others are.
    fn guarded(&mut self, id: AgentId, work: impl FnOnce(&mut Self, AgentId)) {
        if catch_unwind(AssertUnwindSafe(|| work(self, id))).is_ok() {
            return;
        }
        let followed = self.agents.remove(&id);
        if followed.as_ref().is_some_and(|followed| followed.is_behind) {
            (self.news)(News::CaughtUp(id));
        }
        let goes_on = followed.is_some_and(|followed| !followed.is_finishing);
        if !goes_on {
            self.unread(id, "its reader failed, which is a fault of Fleet's");
        }
    }

    fn unread(&mut self, id: AgentId, why: &str) {
        let unreadable = Some(why.to_owned());
        (self.news)(News::Scanned(id, Tails { unreadable, ..Tails::default() }));
    }

    fn look(&mut self, id: AgentId) {
        let Some(followed) = self.agents.get_mut(&id) else { return };
        if followed.is_finishing {
            return;
        }
        let look = followed.scanner.look();
        let is_new = look.is_due && !followed.is_ready;
        followed.is_ready |= is_new;
        if is_new {
            self.ready.push_back(id);
        }
        if look.has_changed {
            (self.news)(News::Progress(id));
        }
    }

    fn finish(&mut self, id: AgentId) {
        let Some(followed) = self.agents.get_mut(&id) else {
            self.unread(id, "nobody read it while it was written");
            return;
        };
        followed.is_finishing = true;
        let look = followed.scanner.look_last();
        if look.left == 0 {
            self.close(id);
        } else if !mem::replace(&mut followed.is_ready, true) {
            self.ready.push_back(id);
        }
    }

    /// Reads a bounded part of one agent's output.
    fn turn(&mut self, id: AgentId) {
        let Some(followed) = self.agents.get_mut(&id) else { return };
        let mut facts = Vec::new();
        let left = followed.scanner.turn(TURN_BYTES, &mut self.buffer, &mut facts);
        let offset = followed.scanner.offset();
        followed.is_ready = left > 0;
        let is_finishing = followed.is_finishing;
        let was_behind = followed.is_behind;
        followed.is_behind &= left > 0;
        followed.account(&mut facts);
        if left > 0 {
            self.ready.push_back(id);
        }
        if !facts.is_empty() || offset.abs_diff(followed.told) >= SILENT_BYTES {
            followed.told = offset;
            (self.news)(News::Facts { id, facts, offset });
        }
        if left == 0 && was_behind {
            (self.news)(News::CaughtUp(id));
        }
        if is_finishing && left > 0 {
            (self.news)(News::Behind(id, left));
        } else if is_finishing {
            self.close(id);
        }
    }

    /// Everything is read: looks at the end and lets the agent go.
    fn close(&mut self, id: AgentId) {
        let Some(mut followed) = self.agents.remove(&id) else { return };
        let mut facts = Vec::new();
        let tails = followed.scanner.finish(followed.code, &mut facts);
        followed.end_account(&mut facts);
        let offset = followed.scanner.offset();
        if !facts.is_empty() || offset != followed.told {
            (self.news)(News::Facts { id, facts, offset });
        }
        (self.news)(News::Scanned(id, tails));
    }
}
