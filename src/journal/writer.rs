//! Appends decisions to the journal in a thread of its own, many with one sync.
//!
//! The thread takes everything that waits, writes it with one call, syncs once, and tells how far the journal is safe.
//! After a failed write or sync the file is cut back to where it was safe, since a failed sync may have dropped what it
//! was to save, and everything since then is written again.
//!
//! What may go here: the thread, its queue, its file. What may not: the format of a line, what records mean.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use super::private;
use super::reader::{self, JournalError};
use crate::core::{AgentId, Moment, Record};

/// Records that may wait before [`Journal::has_room`] says no. On a working disk a few hundred wait at most; on a full
/// one this is enough for the ends of 1,000 agents and a patient owner, in a few megabytes.
const QUEUE_RECORDS: usize = 16_384;

/// Number of an append; those with a smaller one are safe before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

/// How far the journal is safe.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Saved {
    /// This append and all before it are on disk.
    pub through: Sequence,
    /// Why what comes after is not; it is kept and tried again with the next append or [`Journal::retry`].
    pub trouble: Option<Arc<str>>,
}

/// A journal open for appending. Only the holder of the fleet's host lock may have one.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    saved: watch::Receiver<Saved>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Something was appended, a retry is wanted, or the journal closes.
    wanted: Condvar,
    /// What is saved, or the trouble, has changed.
    settled: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// The newest append.
    last: Sequence,
    /// Records that are not yet safe.
    unsaved: usize,
    /// The thread has something to do.
    wanted: bool,
    /// The thread is writing.
    busy: bool,
    closing: bool,
    saved: Saved,
}

#[derive(Debug)]
struct Waiting {
    at: Moment,
    record: Record,
}

impl Journal {
    /// Makes a new journal; one that is there already is an error.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let open = || -> io::Result<File> {
            let file = private::options().append(true).create_new(true).open(path)?;
            private::sync_dir(private::folder_of_file(path)?)?;
            Ok(file)
        };
        Self::start(open(), path, 0)
    }

    /// Opens a journal to go on with it: reads what was decided, and cuts off an unfinished last line. The caller must
    /// hold the fleet's host lock.
    pub fn append_to(path: &Path) -> Result<(Self, Vec<(Moment, Record)>), JournalError> {
        let failed = |source| JournalError::Open { path: path.to_owned(), source };
        let file = private::options().read(true).append(true).open(path).map_err(failed)?;
        let (records, good) = reader::read_from(&file, path)?;
        if file.metadata().map_err(failed)?.len() != good {
            file.set_len(good).map_err(failed)?;
        }
        Ok((Self::start(Ok(file), path, good)?, records))
    }

    fn start(file: io::Result<File>, path: &Path, good: u64) -> Result<Self, JournalError> {
        let failed = |source| JournalError::Open { path: path.to_owned(), source };
        let (sender, saved) = watch::channel(Saved::default());
        let shared = Arc::new(Shared::default());
        let mut writer = Writer {
            file: file.map_err(failed)?,
            path: path.to_owned(),
            good,
            is_clean: true,
            shared: Arc::clone(&shared),
            saved: sender,
        };
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(failed)?;
        Ok(Self { shared, saved, thread: Some(thread) })
    }

    /// Takes records to be written, in this order and after all earlier ones, and returns at once. They are safe when
    /// [`Saved::through`] has reached the returned number; no records count as well.
    ///
    /// A decision that was taken is never refused. The queue's bound is kept by the caller: while
    /// [`Journal::has_room`] says no it takes no commands, and what agents do by themselves is bounded, since a
    /// checkpoint replaces an earlier one that waits.
    pub fn append(&self, at: Moment, records: Vec<Record>) -> Sequence {
        let mut queue = self.shared.lock();
        queue.last.0 += 1;
        for record in records {
            queue.add(at, record);
        }
        queue.wanted = true;
        self.shared.wanted.notify_one();
        queue.last
    }

    /// Tries again to write what could not be written.
    pub fn retry(&self) {
        self.shared.lock().wanted = true;
        self.shared.wanted.notify_one();
    }

    /// Says whether fewer records wait than the queue is meant to hold.
    pub fn has_room(&self) -> bool {
        self.shared.lock().unsaved < QUEUE_RECORDS
    }

    /// Returns a view of how far the journal is safe, for a loop that waits for changes. It ends only with the thread.
    pub fn saved(&self) -> watch::Receiver<Saved> {
        self.saved.clone()
    }

    /// Waits, in the way of the async loop, until an append is safe or there is trouble; then says which. Trouble that
    /// was there before is told at once, while the append is tried.
    pub async fn settled(&self, sequence: Sequence) -> Result<(), Arc<str>> {
        let mut saved = self.saved.clone();
        let seen = saved
            .wait_for(|saved| saved.through >= sequence || saved.trouble.is_some())
            .await
            .map_err(|_| Arc::from("the thread that writes the journal has gone"))?;
        seen.verdict(sequence)
    }

    /// Blocks until an append is safe or there is trouble; then says which. For a client without a loop.
    pub fn wait(&self, sequence: Sequence) -> Result<(), Arc<str>> {
        let is_open = |queue: &mut Queue| {
            queue.saved.through < sequence
                && (queue.wanted || queue.busy || queue.saved.trouble.is_none())
        };
        let queue = self
            .shared
            .settled
            .wait_while(self.shared.lock(), is_open)
            .unwrap_or_else(PoisonError::into_inner);
        queue.saved.verdict(sequence)
    }

    /// Writes what waits, ends the thread, and says whether everything is safe.
    pub fn close(mut self) -> Result<(), Arc<str>> {
        self.finish();
        let queue = self.shared.lock();
        queue.saved.verdict(queue.last)
    }

    fn finish(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wanted.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by the panic hook, and what is not saved is not claimed to be.
            let _ = thread.join();
        }
    }
}

/// Writes what waits and ends the thread; [`Journal::close`] also tells how that went.
impl Drop for Journal {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Saved {
    fn verdict(&self, sequence: Sequence) -> Result<(), Arc<str>> {
        if self.through >= sequence {
            return Ok(());
        }
        Err(self.trouble.clone().unwrap_or_else(|| Arc::from("the journal was closed too early")))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that is done under the lock leaves the queue half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn add(&mut self, at: Moment, record: Record) {
        if let Record::Checkpoint(id, _) = &record
            && self.saved.trouble.is_some()
        {
            self.forget_checkpoint(*id);
        }
        self.waiting.push(Waiting { at, record });
        self.unsaved += 1;
    }

    /// Drops a waiting checkpoint that a newer one makes useless.
    fn forget_checkpoint(&mut self, agent: AgentId) {
        let is_older = |waiting: &Waiting| matches!(&waiting.record, Record::Checkpoint(id, _) if *id == agent);
        if let Some(place) = self.waiting.iter().rposition(is_older) {
            self.waiting.remove(place);
            self.unsaved -= 1;
        }
    }
}

/// The thread's own part.
struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes of the file that are safe.
    good: u64,
    /// Nothing lies in the file after those.
    is_clean: bool,
    shared: Arc<Shared>,
    saved: watch::Sender<Saved>,
}

impl Writer {
    fn run(&mut self) {
        loop {
            let (batch, sequence, is_last) = self.take();
            let result = self.write(&batch);
            let mut queue = self.shared.lock();
            queue.busy = false;
            match result {
                Ok(()) => {
                    queue.unsaved -= batch.len();
                    queue.saved = Saved { through: sequence, trouble: None };
                }
                Err(error) => {
                    // The reason comes first: doors cut what is too long for their line at its end.
                    let sentence = format!(
                        "{error}: could not write the journal {}: mend that, and it goes on by itself",
                        self.path.display()
                    );
                    queue.saved.trouble = Some(Arc::from(sentence));
                    let newer = std::mem::replace(&mut queue.waiting, batch);
                    queue.waiting.extend(newer);
                }
            }
            self.saved.send_if_modified(|saved| {
                let is_new = *saved != queue.saved;
                saved.clone_from(&queue.saved);
                is_new
            });
            self.shared.settled.notify_all();
            if is_last {
                return;
            }
        }
    }

    /// Waits for something to do; returns what waits, the newest append in it, and whether the journal closes.
    fn take(&self) -> (Vec<Waiting>, Sequence, bool) {
        let mut queue = self
            .shared
            .wanted
            .wait_while(self.shared.lock(), |queue| !queue.wanted && !queue.closing)
            .unwrap_or_else(PoisonError::into_inner);
        queue.wanted = false;
        queue.busy = true;
        (std::mem::take(&mut queue.waiting), queue.last, queue.closing)
    }

    fn write(&mut self, batch: &[Waiting]) -> io::Result<()> {
        let mut text = Vec::new();
        for Waiting { at, record } in batch {
            reader::encode(*at, record, &mut text)?;
        }
        if !self.is_clean {
            self.file.set_len(self.good)?;
            self.is_clean = true;
        }
        if text.is_empty() {
            return Ok(());
        }
        self.is_clean = false;
        self.file.write_all(&text)?;
        self.file.sync_data()?;
        self.is_clean = true;
        self.good += text.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
