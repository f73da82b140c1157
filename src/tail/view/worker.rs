//! The view's thread: it alone touches the file, so that whoever draws never waits for a disk.
//!
//! What may go here: when something is looked at and told. What may not: how pages are made of bytes.

mod viewed;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio::sync::watch;

use super::mailbox::{Mailbox, Orders, Step};
use super::page::{Page, Request};
use super::search::Seeker;
use super::window::Layout;
use crate::tail::follow::rhythm::{FRAME, Rhythm, SILENT};
use crate::tail::follow::watch::FolderWatch;
use viewed::Viewed;

/// Until a screen says how large it is.
const FIRST_LAYOUT: Layout = Layout { width: 80, height: 24, wraps: true };

/// A view of one text at a time. Requests never wait; the newest page replaces older ones. The thread ends when this
/// is dropped.
#[derive(Debug)]
pub struct TailView {
    mailbox: Arc<Mailbox>,
    pages: watch::Receiver<Arc<Page>>,
}

impl TailView {
    /// Starts the thread, which views nothing yet.
    pub fn start() -> io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let (sender, pages) = watch::channel(Arc::new(Page::default()));
        let own = Arc::clone(&mailbox);
        thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || Worker::new(own, sender).run())?;
        Ok(Self { mailbox, pages })
    }

    /// Asks for something. Neighbouring moves become one, and only the newest text, layout and search count.
    pub fn ask(&self, request: Request) {
        self.mailbox.put(request);
    }

    /// Returns the newest page.
    pub fn page(&self) -> Arc<Page> {
        Arc::clone(&self.pages.borrow())
    }

    /// Returns a receiver of pages, to wait for the next one: at most 60 a second.
    pub fn pages(&self) -> watch::Receiver<Arc<Page>> {
        self.pages.clone()
    }
}

impl Drop for TailView {
    fn drop(&mut self) {
        self.mailbox.change(|orders| orders.stop = true);
    }
}

struct Worker {
    mailbox: Arc<Mailbox>,
    pages: watch::Sender<Arc<Page>>,
    viewed: Option<Viewed>,
    is_hidden: bool,
    layout: Layout,
    rhythm: Rhythm,
    /// Made when the first file is opened.
    folder: Option<FolderWatch>,
    /// Made when something is searched for first.
    seeker: Option<Seeker>,
    last_look: Instant,
    last_path_look: Instant,
    last_page: Option<Instant>,
    /// Why the folder is not watched, as the newest page tells it.
    refusal: Option<String>,
    /// Survives a change of the viewed text.
    needle: Option<String>,
    copies: u64,
}

impl Worker {
    fn new(mailbox: Arc<Mailbox>, pages: watch::Sender<Arc<Page>>) -> Self {
        let now = now();
        Self {
            mailbox,
            pages,
            viewed: None,
            is_hidden: false,
            layout: FIRST_LAYOUT,
            rhythm: Rhythm::new(now),
            folder: None,
            seeker: None,
            last_look: now,
            last_path_look: now,
            last_page: None,
            refusal: None,
            needle: None,
            copies: 0,
        }
    }

    fn run(mut self) {
        loop {
            let (orders, is_time) = self.wait();
            if orders.stop {
                return;
            }
            let turn = catch_unwind(AssertUnwindSafe(|| self.turn(orders, is_time)));
            if turn.is_err() {
                let page = Page {
                    number: self.viewed.take().map_or(0, |viewed| viewed.number()),
                    note: Some("the view has failed on this text; open it in a pager".to_owned()),
                    ..Page::default()
                };
                self.tell(page);
            }
        }
    }

    /// Waits for orders or the time of the next look, and never less than a frame after the last page.
    /// Says also whether the time of that look has come.
    fn wait(&self) -> (Orders, bool) {
        let mut orders = self.mailbox.lock();
        loop {
            let now = now();
            let frame = self.last_page.map(|page| page + FRAME).filter(|frame| *frame > now);
            let look = self.due();
            let due = if orders.is_empty() {
                look.map(|look| frame.map_or(look, |frame| frame.max(look)))
            } else if orders.stop {
                Some(now)
            } else {
                Some(frame.unwrap_or(now))
            };
            match due {
                Some(due) if due <= now => {
                    let is_time = look.is_some_and(|look| look <= now);
                    return (std::mem::take(&mut *orders), is_time);
                }
                Some(due) => orders = self.mailbox.wait(orders, Some(due - now)),
                None => orders = self.mailbox.wait(orders, None),
            }
        }
    }

    /// When the file is looked at again by itself; `None`: never.
    fn due(&self) -> Option<Instant> {
        let viewed = self.viewed.as_ref().filter(|_| !self.is_hidden)?;
        if viewed.counts() {
            return Some(self.last_look + FRAME);
        }
        viewed.may_change().then(|| self.last_look + self.rhythm.wait(self.last_look))
    }

    fn turn(&mut self, orders: Orders, is_time: bool) {
        let was_asked = orders.was_asked();
        let mut is_new = false;
        let mut has_opened = false;
        if orders.closes {
            self.viewed = None;
            self.folder.iter_mut().for_each(FolderWatch::release);
            self.seeker.iter().for_each(Seeker::clear);
        }
        if let Some(is_hidden) = orders.hides {
            is_new |= self.is_hidden && !is_hidden;
            self.is_hidden = is_hidden;
        }
        if let Some(layout) = orders.layout {
            self.layout = layout;
            self.viewed.iter_mut().for_each(|viewed| viewed.set_layout(layout));
        }
        if let Some(opening) = orders.open {
            self.rhythm = Rhythm::new(now());
            self.viewed = Some(Viewed::open(opening, self.layout));
            // Before the first look, so that nothing falls between the two.
            self.watch();
            (is_new, has_opened) = (true, true);
        }
        if let Some(viewed) = &mut self.viewed {
            if orders.ended == Some(viewed.number()) {
                viewed.end();
                is_new = true;
            }
            let wants_look = (orders.hint || is_time) && viewed.may_change() && !self.is_hidden;
            if is_new || wants_look {
                self.look(is_new || orders.hint);
            } else if is_time && !self.is_hidden {
                viewed.count_lines();
                self.last_look = now();
            }
        }
        if has_opened && let (Some(viewed), Some(needle)) = (&mut self.viewed, &self.needle) {
            viewed.search(needle.clone(), self.seeker.as_mut(), false);
        }
        for step in orders.steps {
            self.step(step);
        }
        if let (Some(viewed), Some(seeker)) = (&mut self.viewed, &self.seeker) {
            viewed.take_hits(seeker);
        }
        if self.is_hidden {
            // Whoever looks again begins with a look.
            self.watch();
            return;
        }
        let is_watched = self.viewed.as_ref().is_some_and(Viewed::may_change);
        let refusal = self.folder.as_ref().filter(|_| is_watched).and_then(FolderWatch::refusal);
        let has_news = self.viewed.as_ref().is_some_and(Viewed::has_news);
        if !was_asked && !has_news && refusal == self.refusal.as_deref() {
            return;
        }
        self.refusal = refusal.map(ToOwned::to_owned);
        let mut page = self.viewed.as_mut().map(Viewed::page).unwrap_or_default();
        page.note = page.note.or_else(|| self.refusal.clone());
        self.tell(page);
    }

    fn look(&mut self, has_reason: bool) {
        let Some(viewed) = &mut self.viewed else { return };
        let now = now();
        let at_path = has_reason || now.saturating_duration_since(self.last_path_look) >= SILENT;
        let has_grown = viewed.look(at_path, self.seeker.as_mut());
        self.last_look = now;
        if at_path {
            self.last_path_look = now;
        }
        let events = self.folder.as_ref().map_or(0, FolderWatch::events);
        self.rhythm.looked(now, has_grown, events);
        viewed.count_lines();
        self.watch();
    }

    /// Watches the folder of what is viewed, or does not, as the rhythm has it.
    fn watch(&mut self) {
        let viewed = self.viewed.as_ref().filter(|viewed| viewed.may_change() && !self.is_hidden);
        let path = viewed.and_then(Viewed::path);
        match path {
            Some(path) if self.rhythm.wants_watch() => {
                let mailbox = &self.mailbox;
                let folder = self.folder.get_or_insert_with(|| {
                    let mailbox = Arc::clone(mailbox);
                    FolderWatch::new(move || mailbox.change(|orders| orders.hint = true))
                });
                folder.watch(path);
            }
            Some(_) | None => self.folder.iter_mut().for_each(FolderWatch::release),
        }
    }

    fn step(&mut self, step: Step) {
        let Some(viewed) = &mut self.viewed else {
            match step {
                Step::Search(needle) => self.needle = Some(needle),
                Step::ClearSearch => self.needle = None,
                Step::Move(_) | Step::NextHit | Step::PreviousHit | Step::Copy => {}
            }
            return;
        };
        match step {
            Step::Move(way) => viewed.go(way),
            Step::Search(needle) => {
                self.needle = Some(needle.clone());
                if self.seeker.is_none() {
                    let mailbox = Arc::clone(&self.mailbox);
                    let news = move || mailbox.change(|orders| orders.found = true);
                    self.seeker = Seeker::start(news).ok();
                }
                viewed.search(needle, self.seeker.as_mut(), true);
            }
            Step::NextHit => viewed.next_hit(self.seeker.as_mut()),
            Step::PreviousHit => viewed.previous_hit(self.seeker.as_mut()),
            Step::ClearSearch => {
                self.needle = None;
                self.seeker.iter().for_each(Seeker::clear);
                viewed.clear_search();
            }
            Step::Copy => {
                self.copies += 1;
                viewed.copy(self.copies);
            }
        }
    }

    fn tell(&mut self, page: Page) {
        let is_other = self.pages.send_if_modified(|newest| {
            let is_other = **newest != page;
            if is_other {
                *newest = Arc::new(page);
            }
            is_other
        });
        if is_other {
            self.last_page = Some(now());
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "frames and looks are timed by the view's own thread"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
