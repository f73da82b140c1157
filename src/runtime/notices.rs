//! Tells the owner's own program of notices: one after the other, beside the loop.
//!
//! What may go here: what waits to be told, and what becomes of it. What may not: when there is a notice (`core`), how the
//! program is run (`supervise`).

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::host::Host;
use super::news::News;
use super::notice_json::notice_json;
use crate::core::{Effect, Event, Notice, NoticeKind, Snapshot};
use crate::supervise::{Launcher, NoticeRun, run_notice};

/// Notices that wait while one is told. They come seconds apart; where more wait than this, the program has been at its
/// limit of time again and again, and the oldest are left out and counted.
const WAITING: usize = 16;
/// Longest time that a program may be given.
pub const MOST_NOTICE_TIME: Duration = Duration::from_mins(5);
/// Time beyond that in which what runs a program must have ended it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program that is told of notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeCommand {
    /// Program and arguments; no shell reads them.
    pub argv: Vec<String>,
    /// Most time for it and all that it starts; [`MOST_NOTICE_TIME`] at most.
    pub limit: Duration,
    /// What it is told of.
    pub on: Vec<NoticeKind>,
}

/// Where a host learns which program is told: asked anew for each notice, so that a change counts at once.
#[derive(Clone)]
pub struct NoticeSource(Arc<Look>);

type Look = dyn Fn() -> Result<Option<NoticeCommand>, String> + Send + Sync;

impl NoticeSource {
    /// Makes one of a function that says which program is to be told, `None` for none, or why that cannot be known, a
    /// clause. It is called in a thread of its own.
    pub fn new(
        look: impl Fn() -> Result<Option<NoticeCommand>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(look))
    }
}

impl fmt::Debug for NoticeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoticeSource")
    }
}

/// What became of a notice; `None` if nobody wants to be told.
pub(super) type Told = Option<Result<(), String>>;

/// What tells, and what waits to be told.
#[derive(Debug)]
pub(super) struct Teller {
    launcher: Launcher,
    source: Option<NoticeSource>,
    root: PathBuf,
    sender: mpsc::Sender<News>,
    waiting: VecDeque<(Notice, Arc<Snapshot>)>,
    /// Notices that nobody was told of because too many waited; the next one that is told says so.
    left_out: u64,
    /// How many of them the one that is being told says.
    said: u64,
    is_busy: bool,
}

impl Teller {
    pub(super) fn new(
        launcher: Launcher,
        source: Option<NoticeSource>,
        root: PathBuf,
        sender: mpsc::Sender<News>,
    ) -> Self {
        let waiting = VecDeque::new();
        Self { launcher, source, root, sender, waiting, left_out: 0, said: 0, is_busy: false }
    }

    /// Returns this with all that waits, and leaves one that has nothing to tell.
    fn take(&mut self) -> Self {
        let rest = Self::new(self.launcher.clone(), None, PathBuf::new(), self.sender.clone());
        std::mem::replace(self, rest)
    }

    /// Lets a notice be told when those before it have been.
    fn add(&mut self, notice: Notice, snapshot: Arc<Snapshot>) -> Told {
        self.source.as_ref()?;
        self.waiting.push_back((notice, snapshot));
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
            self.left_out = self.left_out.saturating_add(1);
        }
        self.next()
    }

    /// Tells the next one, if none is being told; its end comes as news. What is returned is known already.
    fn next(&mut self) -> Told {
        if self.is_busy {
            return None;
        }
        let source = self.source.clone()?;
        let (notice, snapshot) = self.waiting.pop_front()?;
        self.said = std::mem::take(&mut self.left_out);
        let (launcher, root, sender, said) =
            (self.launcher.clone(), self.root.clone(), self.sender.clone(), self.said);
        let run = move || {
            let told = match (source.0)() {
                Err(why) => Some(Err(why)),
                Ok(command) => command.filter(|command| command.on.contains(&notice.kind)).map(
                    |NoticeCommand { argv, limit, .. }| {
                        let text = notice_json(&notice, &snapshot, &root, said);
                        let limit = limit.min(MOST_NOTICE_TIME);
                        let run = NoticeRun { argv: &argv, limit, folder: &root, text: &text };
                        run_notice(&launcher, run).map_err(|why| of_program(&argv, &why))
                    },
                ),
            };
            // The loop waits for it, or has given it up.
            let _ = sender.blocking_send(News::NoticeTold(told));
        };
        match thread::Builder::new().name("notice".to_owned()).spawn(run) {
            Ok(_) => {
                self.is_busy = true;
                None
            }
            Err(error) => {
                let told = Some(Err(format!("no thread could be started for it: {error}")));
                self.has_told(&told);
                told
            }
        }
    }

    /// One was told, or not: then the next one says what this one would have said.
    fn has_told(&mut self, told: &Told) {
        self.is_busy = false;
        let said = std::mem::take(&mut self.said);
        if !matches!(told, Some(Ok(()))) {
            self.left_out = self.left_out.saturating_add(said);
        }
    }

    /// Tells what still waits, once the host has let go of its fleet. Returns why something was not told.
    pub(super) async fn finish(mut self, mut inbox: mpsc::Receiver<News>) -> Told {
        // Whoever waits for the end of this process waits no longer than for one of them.
        let end = Instant::now() + MOST_NOTICE_TIME + PATIENCE;
        let mut last = None;
        loop {
            if let Some(Err(why)) = self.next() {
                return Some(Err(self.with_rest(why)));
            }
            if !self.is_busy {
                return last;
            }
            let told = timeout_at(end, heard(&mut inbox)).await;
            self.has_told(told.as_ref().unwrap_or(&None));
            match told {
                Ok(Some(Err(why))) => return Some(Err(self.with_rest(why))),
                Ok(Some(Ok(())) | None) => last = Some(Ok(())),
                Err(_) => return Some(Err(self.with_rest("it takes too long".to_owned()))),
            }
        }
    }

    /// A program that has failed is not tried again while somebody waits for the end of this process.
    fn with_rest(&self, why: String) -> String {
        match self.left_out.saturating_add(self.waiting.len() as u64) {
            0 => why,
            1 => format!("{why}; 1 more notice was not told"),
            count => format!("{why}; {count} more notices were not told"),
        }
    }
}

/// Waits until a notice was told.
async fn heard(inbox: &mut mpsc::Receiver<News>) -> Told {
    while let Some(news) = inbox.recv().await {
        if let News::NoticeTold(told) = news {
            return told;
        }
    }
    None
}

fn of_program(argv: &[String], why: &str) -> String {
    format!("{}: {why}", argv.first().map_or("", String::as_str))
}

impl Host {
    /// Shows a notice to doors, and lets the owner's program be told of it.
    pub(super) fn pass_on(&mut self, notice: Notice) {
        self.show(true);
        let snapshot = Arc::clone(&self.end.snapshots.borrow());
        let told = self.teller.add(notice, snapshot);
        self.note_told(told);
    }

    /// A notice was told, or not: the next one.
    pub(super) fn notice_told(&mut self, told: Told) {
        self.teller.has_told(&told);
        // Of one that nobody wants to be told there is no trouble either.
        self.note_told(told.or(Some(Ok(()))));
        let next = self.teller.next();
        self.note_told(next);
    }

    fn note_told(&mut self, told: Told) {
        let Some(told) = told else { return };
        let trouble = told.err();
        if self.end.snapshots.borrow().header.notice_trouble != trouble {
            self.apply(Event::NoticeTrouble(trouble));
        }
    }

    /// Passes on what waits for more of its kind, or for the disk: this host ends. Nothing is told of a fleet that it has
    /// not yet looked at as a whole.
    pub(super) fn pass_on_rest(&mut self) {
        if !self.recovering {
            let effects = self.fleet.last_notices(self.clock.now());
            self.stale |= !effects.is_empty();
            self.perform(effects);
        }
        for (_, effect) in std::mem::take(&mut self.waiting) {
            if let Effect::Notify(notice) = effect {
                self.pass_on(notice);
            }
        }
    }

    /// Lets go of the fleet, then tells what still waits to be told. Returns why the last one was not told, if that is so:
    /// doors may have left before they saw it.
    pub(super) async fn let_go(mut self) -> Option<String> {
        let nobody = mpsc::channel(1);
        let inbox = std::mem::replace(&mut self.inbox, nobody.1);
        let teller = self.teller.take();
        let known = self.end.snapshots.borrow().header.notice_trouble.clone();
        drop(self);
        match teller.finish(inbox).await {
            None => known,
            Some(told) => told.err(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::core::testing::{row, snapshot};
    use crate::core::{AgentId, Moment};

    fn notice(kind: NoticeKind) -> Notice {
        let (at, agents) = (Moment(1), vec![AgentId(1)]);
        Notice { number: 1, kind, at, agents, more: 0, text: "1 failed".to_owned() }
    }

    /// What was left out is said until a program has really been told of it, and nothing of that is forgotten at the end.
    #[test]
    fn left_out_notices_count_until_one_is_told() {
        let (sender, mut inbox) = mpsc::channel(1);
        let on = Arc::new(Mutex::new(vec![NoticeKind::Failed]));
        let known = Arc::clone(&on);
        let source = NoticeSource::new(move || {
            let (argv, on) = (vec!["told".to_owned()], known.lock().unwrap().clone());
            Ok(Some(NoticeCommand { argv, limit: Duration::from_secs(1), on }))
        });
        let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
        let mut teller = Teller::new(launcher, Some(source), PathBuf::from("/"), sender);
        let seen = Arc::new(snapshot(1, vec![row(1)]));
        // The first one is told at once; of the others three find no place.
        for _ in 0..WAITING + 4 {
            assert!(teller.add(notice(NoticeKind::Failed), Arc::clone(&seen)).is_none());
        }
        let mut hear = |teller: &mut Teller| {
            let Some(News::NoticeTold(told)) = inbox.blocking_recv() else { panic!("no news") };
            teller.has_told(&told);
            told
        };
        let first = hear(&mut teller).unwrap().unwrap_err();
        assert_eq!(teller.left_out, 3);
        assert!(teller.with_rest(first).ends_with("; 19 more notices were not told"));
        assert!(teller.next().is_none());
        assert_eq!((teller.left_out, teller.said), (0, 3), "it says so");
        assert!(hear(&mut teller).is_some_and(|told| told.is_err()), "and fails");
        assert_eq!((teller.left_out, teller.said), (3, 0));
        on.lock().unwrap().clear();
        assert!(teller.next().is_none());
        assert_eq!(hear(&mut teller), None, "nobody wants to be told of such a one");
        assert_eq!(teller.left_out, 3);
        assert!(teller.next().is_none());
        teller.has_told(&Some(Ok(())));
        assert_eq!((teller.left_out, teller.said), (0, 0));
    }
}
