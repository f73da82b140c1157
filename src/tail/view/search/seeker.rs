//! The searching thread: one needle in one text, the newest order first.
//!
//! What may go here: orders, which hits are kept. What may not: reading and matching, what is on the screen.
//!
//! A hit to go to is looked for first, from where the reader stands outwards; then all hits are counted from the
//! beginning. Between two pieces the orders are looked at, so nothing is waited for longer than one piece takes.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::found::{Found, Target, Way};
use super::needle::Matcher;
use super::pass::Reader;
use crate::tail::follow::file::Source;

/// Pieces between two pieces of news while hits are counted: some milliseconds.
const QUIET_PIECES: u32 = 16;

struct Order {
    search: u64,
    source: Source,
    matcher: Matcher,
    size: u64,
}

#[derive(Clone, Copy)]
struct Question {
    number: u64,
    way: Way,
    from: u64,
}

#[derive(Default)]
struct Orders {
    search: Option<Order>,
    question: Option<Question>,
    size: Option<u64>,
    clear: bool,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    orders: Mutex<Orders>,
    came: Condvar,
    found: Mutex<Found>,
}

/// The searching thread. Ends when this is dropped, at the latest after the piece it is in.
pub(in crate::tail::view) struct Seeker {
    shared: Arc<Shared>,
    searches: u64,
    questions: u64,
}

impl fmt::Debug for Seeker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seeker").field("searches", &self.searches).finish_non_exhaustive()
    }
}

impl Seeker {
    /// Starts the thread. `news` is called on it when something was found, and must not wait.
    pub(in crate::tail::view) fn start(news: impl Fn() + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let mut run = Run {
            shared: Arc::clone(&shared),
            reader: Reader::default(),
            news,
            order: None,
            counted: 0,
            last_line: (0, 0),
        };
        thread::Builder::new().name("search".to_owned()).spawn(move || run.all())?;
        Ok(Self { shared, searches: 0, questions: 0 })
    }

    /// Searches for something else, or in another text. What was asked before is given up.
    pub(in crate::tail::view) fn search(
        &mut self,
        source: Source,
        size: u64,
        matcher: Matcher,
    ) -> u64 {
        self.searches += 1;
        let search = self.searches;
        // Nothing is to be counted in an empty text.
        let is_done = size == 0;
        *lock(&self.shared.found) = Found { search, is_done, ..Found::default() };
        self.order(|orders| {
            *orders = Orders {
                search: Some(Order { search, source, matcher, size }),
                stop: orders.stop,
                ..Orders::default()
            };
        });
        search
    }

    /// Asks for a hit; returns the number of the question. A newer question replaces an older one.
    pub(in crate::tail::view) fn ask(&mut self, way: Way, from: u64) -> u64 {
        self.questions += 1;
        let number = self.questions;
        self.order(|orders| orders.question = Some(Question { number, way, from }));
        number
    }

    /// Tells that the text has grown.
    pub(in crate::tail::view) fn grow(&self, size: u64) {
        self.order(|orders| orders.size = Some(size));
    }

    /// Gives up the search.
    pub(in crate::tail::view) fn clear(&self) {
        self.order(|orders| {
            *orders = Orders { clear: true, stop: orders.stop, ..Orders::default() }
        });
    }

    /// Returns what is known so far.
    pub(in crate::tail::view) fn found(&self) -> MutexGuard<'_, Found> {
        lock(&self.shared.found)
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut lock(&self.shared.orders));
        self.shared.came.notify_one();
    }
}

impl Drop for Seeker {
    fn drop(&mut self) {
        self.order(|orders| orders.stop = true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is changed in single steps, so it is whole even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's own state.
struct Run<N> {
    shared: Arc<Shared>,
    reader: Reader,
    news: N,
    order: Option<Order>,
    /// Offset up to which hits are counted.
    counted: u64,
    /// Where the last line without a newline begins, and how many hits were counted in it.
    last_line: (u64, u64),
}

impl<N: Fn()> Run<N> {
    fn all(&mut self) {
        let mut pieces = 0_u32;
        loop {
            let question = match self.wait() {
                Next::Stop => return,
                Next::Answer(question) => Some(question),
                Next::Count => None,
            };
            let turn = catch_unwind(AssertUnwindSafe(|| match question {
                Some(question) => self.answer(question),
                None => self.count(),
            }));
            let failure = match turn {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(format!("could not read the file: {error}")),
                Err(_) => Some("the search has failed; search again".to_owned()),
            };
            if let Some(failure) = failure {
                let mut found = lock(&self.shared.found);
                found.error = Some(failure);
                found.is_done = true;
                self.order = None;
            }
            pieces = pieces.wrapping_add(1);
            if question.is_some() || self.is_counted() || pieces.is_multiple_of(QUIET_PIECES) {
                (self.news)();
            }
        }
    }

    fn is_counted(&self) -> bool {
        self.order.as_ref().is_none_or(|order| self.counted >= order.size)
    }

    fn wait(&mut self) -> Next {
        let mut orders = lock(&self.shared.orders);
        loop {
            if orders.stop {
                return Next::Stop;
            }
            if std::mem::take(&mut orders.clear) {
                self.order = None;
            }
            if let Some(order) = orders.search.take() {
                self.order = Some(order);
                (self.counted, self.last_line) = (0, (0, 0));
            }
            if let (Some(size), Some(order)) = (orders.size.take(), self.order.as_mut())
                && size > order.size
            {
                order.size = size;
                if self.counted > self.last_line.0 {
                    let (start, count) = self.last_line;
                    lock(&self.shared.found).take_back(start, count);
                    self.counted = start;
                    self.last_line = (start, 0);
                }
                lock(&self.shared.found).is_done = false;
            }
            if self.order.is_some() {
                if let Some(question) = orders.question.take() {
                    return Next::Answer(question);
                }
                if !self.is_counted() {
                    return Next::Count;
                }
            }
            orders = self.shared.came.wait(orders).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts the hits of one more piece.
    fn count(&mut self) -> io::Result<()> {
        let Some(order) = &self.order else { return Ok(()) };
        let mut hits = Vec::new();
        let step = self.reader.forwards(
            &order.source,
            &order.matcher,
            self.counted,
            order.size,
            &mut |hit| hits.push(hit),
        )?;
        let mut found = lock(&self.shared.found);
        if found.search != order.search {
            return Ok(());
        }
        match step {
            Some(step) => {
                self.counted = step.end;
                let open = hits.iter().filter(|hit| **hit >= step.last_line).count() as u64;
                self.last_line = (step.last_line, open);
                for hit in hits {
                    found.keep(hit);
                }
            }
            // The file was cut; the next look begins anew.
            None => self.counted = order.size,
        }
        found.is_done = self.counted >= order.size;
        Ok(())
    }

    fn answer(&mut self, question: Question) -> io::Result<()> {
        let offset = match question.way {
            Way::Nearest => match self.after(question.from, u64::MAX)? {
                Some(hit) => Some(hit),
                None => self.before(question.from, 0)?,
            },
            Way::Forwards => match self.after(question.from, u64::MAX)? {
                Some(hit) => Some(hit),
                None => self.after(0, question.from)?,
            },
            Way::Backwards => match self.before(question.from, 0)? {
                Some(hit) => Some(hit),
                None => self.before(u64::MAX, question.from)?,
            },
        };
        let Some(order) = &self.order else { return Ok(()) };
        let mut found = lock(&self.shared.found);
        if found.search == order.search {
            found.target = Some(Target { number: question.number, offset });
        }
        Ok(())
    }

    /// Says whether a newer order makes the answer worthless.
    fn is_outdated(&self) -> bool {
        let orders = lock(&self.shared.orders);
        orders.stop || orders.clear || orders.search.is_some() || orders.question.is_some()
    }

    /// Returns the first hit from `from` on that begins before `until`.
    fn after(&mut self, from: u64, until: u64) -> io::Result<Option<u64>> {
        let Some(order) = &self.order else { return Ok(None) };
        {
            let found = lock(&self.shared.found);
            let at = found.hits.partition_point(|hit| *hit < from);
            let known = found.hits.get(at).copied();
            if found.search == order.search && (known.is_some() || found.is_whole()) {
                return Ok(known.filter(|hit| *hit < until));
            }
        }
        let mut at = self.reader.line_start(&order.source, from)?;
        let mut first = None;
        while at < until && first.is_none() && !self.is_outdated() {
            let step = self.reader.forwards(
                &order.source,
                &order.matcher,
                at,
                order.size,
                &mut |hit| {
                    if hit >= from && hit < until && first.is_none() {
                        first = Some(hit);
                    }
                },
            )?;
            match step {
                Some(step) => at = step.end,
                None => break,
            }
        }
        Ok(first)
    }

    /// Returns the last hit that begins before `before`, and at `until` or later.
    fn before(&mut self, before: u64, until: u64) -> io::Result<Option<u64>> {
        let Some(order) = &self.order else { return Ok(None) };
        let mut before = before.min(order.size);
        {
            let found = lock(&self.shared.found);
            let covered =
                if found.is_whole() { u64::MAX } else { found.hits.last().copied().unwrap_or(0) };
            if found.search == order.search && before <= covered {
                let at = found.hits.partition_point(|hit| *hit < before);
                let known = at.checked_sub(1).and_then(|at| found.hits.get(at)).copied();
                return Ok(known.filter(|hit| *hit >= until));
            }
        }
        while before > until && !self.is_outdated() {
            let (hit, start) =
                self.reader.backwards(&order.source, &order.matcher, before, order.size)?;
            if hit.is_some() {
                return Ok(hit.filter(|hit| *hit >= until));
            }
            if start >= before {
                break;
            }
            before = start;
        }
        Ok(None)
    }
}

enum Next {
    Stop,
    Answer(Question),
    Count,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::time::Duration;

    use super::{Matcher, Seeker, Source, Way};

    fn seeker() -> (Seeker, Receiver<()>) {
        let (sender, receiver) = sync_channel(1);
        let seeker = Seeker::start(move || {
            let _ = sender.try_send(());
        });
        (seeker.unwrap(), receiver)
    }

    fn until<T>(
        seeker: &Seeker,
        news: &Receiver<()>,
        mut what: impl FnMut(&super::Found) -> Option<T>,
    ) -> T {
        loop {
            if let Some(value) = what(&seeker.found()) {
                return value;
            }
            news.recv_timeout(Duration::from_secs(30)).expect("the search tells what it finds");
        }
    }

    fn answer(seeker: &mut Seeker, news: &Receiver<()>, way: Way, from: u64) -> Option<u64> {
        let number = seeker.ask(way, from);
        until(seeker, news, |found| found.target.filter(|target| target.number == number)).offset
    }

    #[test]
    fn hits_are_counted_ranked_and_gone_to_in_both_directions_around_the_ends() {
        let (mut seeker, news) = seeker();
        let text: Arc<str> = Arc::from("hit\n.\nhit\n.\nhit\n");
        seeker.search(
            Source::Text(Arc::clone(&text)),
            text.len() as u64,
            Matcher::new("hit").unwrap(),
        );
        let total = until(&seeker, &news, |found| found.is_done.then_some(found.total));
        assert_eq!(total, 3);
        assert_eq!(seeker.found().rank(6), Some(2));
        assert_eq!(answer(&mut seeker, &news, Way::Forwards, 1), Some(6));
        assert_eq!(answer(&mut seeker, &news, Way::Forwards, 13), Some(0), "around the end");
        assert_eq!(answer(&mut seeker, &news, Way::Backwards, 6), Some(0));
        assert_eq!(answer(&mut seeker, &news, Way::Backwards, 0), Some(12), "around the beginning");
        assert_eq!(answer(&mut seeker, &news, Way::Nearest, 13), Some(12), "nearest outwards");
    }

    #[test]
    fn more_hits_than_are_kept_are_counted_and_still_gone_to() {
        let (mut seeker, news) = seeker();
        let text: Arc<str> = Arc::from("hit\n".repeat(30_000).as_str());
        let size = text.len() as u64;
        seeker.search(Source::Text(text), size, Matcher::new("hit").unwrap());
        let total = until(&seeker, &news, |found| found.is_done.then_some(found.total));
        assert_eq!(total, 30_000);
        assert_eq!(seeker.found().rank(80_000), None);
        assert_eq!(answer(&mut seeker, &news, Way::Forwards, 80_001), Some(80_004));
        assert_eq!(answer(&mut seeker, &news, Way::Backwards, 80_000), Some(79_996));
        assert_eq!(answer(&mut seeker, &news, Way::Forwards, size), Some(0));
        assert_eq!(answer(&mut seeker, &news, Way::Backwards, 0), Some(size - 4));
    }

    #[test]
    fn growth_is_counted_too_and_no_line_twice() {
        let (mut seeker, news) = seeker();
        let text: Arc<str> = Arc::from("hit\nhit hi");
        let grown = "hit\nhit hit\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, &*text).unwrap();
        let mut source = Source::File(crate::tail::follow::file::FollowedFile::new(path.clone()));
        source.look(true).unwrap();
        seeker.search(source, text.len() as u64, Matcher::new("hit").unwrap());
        assert_eq!(until(&seeker, &news, |found| found.is_done.then_some(found.total)), 2);
        std::fs::write(&path, grown).unwrap();
        seeker.grow(grown.len() as u64);
        let total = until(&seeker, &news, |found| {
            (found.is_done && found.total > 2).then_some(found.total)
        });
        assert_eq!(total, 3);
    }

    #[test]
    fn an_empty_text_is_counted_at_once_and_has_nothing_to_go_to() {
        let (mut seeker, news) = seeker();
        seeker.search(Source::Text(Arc::from("")), 0, Matcher::new("hit").unwrap());
        assert!(seeker.found().is_done);
        assert_eq!(answer(&mut seeker, &news, Way::Nearest, 0), None);
    }

    #[test]
    fn the_newest_search_wins() {
        let (mut seeker, news) = seeker();
        let text: Arc<str> = Arc::from("one two\n".repeat(200_000).as_str());
        let size = text.len() as u64;
        for needle in ["one", "two", "nothing"] {
            seeker.search(Source::Text(Arc::clone(&text)), size, Matcher::new(needle).unwrap());
        }
        assert_eq!(until(&seeker, &news, |found| found.is_done.then_some(found.total)), 0);
    }
}
