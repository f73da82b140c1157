//! What the screen asks about other fleets, in threads beside it: reading many journals takes its time.
//!
//! What may go here: who does it and how it comes back. What may not: how fleets are read or opened (whoever composes the
//! program knows that).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use tokio::sync::mpsc;

use super::seat::{Read, read_kept};
use crate::core::{FleetId, Task};
use crate::tui::message::FleetNews;
use crate::tui::others::{FleetList, OtherFleets};
use crate::tui::session::Session;

/// Questions that wait for one thread; a person asks one at a time.
const JOBS: usize = 16;
/// News that wait for the loop: one comes with each fleet that is read, and who has one more waits until there is room.
const NEWS: usize = 16;

/// A question.
#[derive(Debug)]
pub(super) enum Job {
    /// Which fleets there are: of a folder, or of all.
    List(Option<PathBuf>),
    /// What the screen on a fleet begins with.
    Open(FleetId),
    /// All of two fleets.
    Compare(FleetId, FleetId),
    /// All of a fleet.
    Read(FleetId),
    /// What the screen begins with on the fleet that takes these tasks of another one.
    Again(FleetId, Vec<Task>),
}

/// What comes of it.
pub(super) enum Brought {
    /// Something for the model.
    News(FleetNews),
    /// Another fleet to be shown.
    Session(Box<Session>, Read),
}

/// The threads. They end with this.
pub(super) struct Fleets {
    /// For lists, of which only the newest counts.
    lists: SyncSender<Job>,
    /// For everything else: nobody waits for a list to be opened a fleet.
    others: SyncSender<Job>,
}

/// What threads bring.
pub(super) type News = mpsc::Receiver<Brought>;

/// Makes what news come through.
pub(super) fn news() -> (mpsc::Sender<Brought>, News) {
    mpsc::channel(NEWS)
}

impl Fleets {
    /// Starts the threads.
    pub(super) fn start(
        fleets: &Arc<dyn OtherFleets>,
        news: &mpsc::Sender<Brought>,
    ) -> io::Result<Self> {
        let start = || {
            let (jobs, receiver) = sync_channel(JOBS);
            let worker = Worker { fleets: Arc::clone(fleets), news: news.clone() };
            let thread = std::thread::Builder::new().name("fleets".to_owned());
            thread.spawn(move || worker.run(&receiver))?;
            Ok::<_, io::Error>(jobs)
        };
        Ok(Self { lists: start()?, others: start()? })
    }

    /// Asks, without waiting; says what is wrong if it cannot.
    pub(super) fn ask(&self, job: Job) -> Result<(), &'static str> {
        let jobs = match job {
            Job::List(_) => &self.lists,
            Job::Open(_) | Job::Compare(..) | Job::Read(_) | Job::Again(..) => &self.others,
        };
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => "the disk does not answer",
            TrySendError::Disconnected(_) => "the thread for fleets has failed",
        })
    }
}

struct Worker {
    fleets: Arc<dyn OtherFleets>,
    news: mpsc::Sender<Brought>,
}

impl Worker {
    fn run(&self, jobs: &Receiver<Job>) {
        let mut next = None;
        while let Some(job) = next.take().or_else(|| jobs.recv().ok()) {
            match job {
                Job::List(folder) => next = self.list(folder.as_deref(), jobs),
                Job::Open(id) => self.bring(self.fleets.open(&id).map(to_session)),
                Job::Again(of, tasks) => {
                    self.bring(self.fleets.again(&of, tasks).map(to_session));
                }
                Job::Read(id) => {
                    let read = self.fleets.read(&id);
                    self.bring(read.map(|past| Brought::News(FleetNews::Past(Box::new(past)))));
                }
                Job::Compare(one, other) => self.bring(self.pair(&one, &other)),
            }
        }
    }

    /// Reads the list until somebody wants another one, which is returned.
    fn list(&self, folder: Option<&Path>, jobs: &Receiver<Job>) -> Option<Job> {
        let everywhere = folder.is_none();
        let mut next = None;
        let mut say = |list: FleetList| {
            next = jobs.try_recv().ok();
            let news = Brought::News(FleetNews::List { everywhere, list });
            next.is_none() && self.news.blocking_send(news).is_ok()
        };
        if let Err(why) = self.fleets.list(folder, &mut say) {
            self.bring(Err(why));
        }
        next
    }

    fn pair(&self, one: &FleetId, other: &FleetId) -> Result<Brought, String> {
        let mut pair = Box::new((self.fleets.read(one)?, self.fleets.read(other)?));
        // How they came to what they are is not compared.
        (pair.0.records, pair.1.records) = (Vec::new(), Vec::new());
        Ok(Brought::News(FleetNews::Pair(pair)))
    }

    fn bring(&self, brought: Result<Brought, String>) {
        let brought = brought.unwrap_or_else(|why| Brought::News(FleetNews::Failed(why)));
        // The screen has ended: then nobody wants it.
        let _ = self.news.blocking_send(brought);
    }
}

fn to_session(session: Session) -> Brought {
    let read = read_kept(&session);
    Brought::Session(Box::new(session), read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Task;
    use crate::tui::others::PastFleet;

    /// Fleets of which the list never ends by itself, and none can be opened.
    struct Endless;

    impl OtherFleets for Endless {
        fn list(
            &self,
            folder: Option<&Path>,
            say: &mut dyn FnMut(FleetList) -> bool,
        ) -> Result<(), String> {
            // A list of a folder has an end.
            while say(FleetList { left: 1, ..FleetList::default() }) && folder.is_none() {}
            Ok(())
        }

        fn open(&self, id: &FleetId) -> Result<Session, String> {
            Err(format!("fleet {id} is gone"))
        }

        fn read(&self, id: &FleetId) -> Result<PastFleet, String> {
            Err(format!("fleet {id} is gone"))
        }

        fn again(&self, of: &FleetId, _: Vec<Task>) -> Result<Session, String> {
            Err(format!("fleet {of} is gone"))
        }
    }

    #[test]
    fn a_list_keeps_nobody_waiting_for_a_fleet_and_ends_with_the_next_one() {
        let (sender, mut news) = news();
        let fleets: Arc<dyn OtherFleets> = Arc::new(Endless);
        let fleets = Fleets::start(&fleets, &sender).unwrap();
        let mut until = |wanted: &dyn Fn(&FleetNews) -> bool| {
            while let Some(brought) = news.blocking_recv() {
                match brought {
                    Brought::News(it) if wanted(&it) => return,
                    Brought::News(_) => {}
                    Brought::Session(..) => panic!("there is no fleet"),
                }
            }
            panic!("the threads have ended");
        };
        fleets.ask(Job::List(None)).unwrap();
        until(&|it| matches!(it, FleetNews::List { everywhere: true, .. }));
        fleets.ask(Job::Open(FleetId("k3f".to_owned()))).unwrap();
        until(&|it| matches!(it, FleetNews::Failed(why) if why.contains("k3f is gone")));
        fleets.ask(Job::List(Some(PathBuf::from("/repo")))).unwrap();
        until(&|it| matches!(it, FleetNews::List { everywhere: false, .. }));
    }
}
