//! The loop of the screen: merges keys, the fleet, the tail, timers and signals into the model, draws it, and does what
//! it asks for.
//!
//! What may go here: order and time. What may not: deciding (the model does), and anything that blocks. Everything that
//! happened is taken before the next frame is drawn, a frame is drawn when something changed and sixty times a second
//! at most, and while nothing happens nothing wakes up.

mod files;
mod handing;
mod history;
mod perform;
mod signals;
mod timer;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::files::{Files, Job, Places, read_draft, read_sizes};
use self::signals::{Asks, Signals};
use self::timer::{Timer, due};
use super::draw::draw;
use super::input::{Input, News, Reader};
use super::message::Message;
use super::model::Model;
use super::session::{Kept, Left, Link, Session};
use super::terminal::{Screen, TerminalError, has_paste_marks, input, panics, size};
use super::theme::Theme;
use crate::core::{Moment, Snapshot};
use crate::runtime::{Clock, FleetHandle, Gone};
use crate::tail::view::{Page, TailView};

/// Time of one frame.
const FRAME: Duration = Duration::from_micros(16_667);
/// Messages of what was asked for that wait for the loop. Who has one more waits until there is room.
const MESSAGES: usize = 64;
/// How long the end waits for the host to take what was sent to it last.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Time after which the model is woken again where it asks for one that is past already.
const SHORTEST: Duration = Duration::from_millis(1);
/// Most messages that are taken before a frame may be drawn, so that a flood cannot keep the screen from being drawn.
const BATCH: usize = 256;

/// Why the screen did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// The terminal cannot be used.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The system refused something that the screen cannot do without.
    #[error("could not start the screen: {0}")]
    Refused(#[from] io::Error),
}

/// Runs the screen until it is left. The terminal is as it was before when this returns, also with an error or a
/// panic. Must run in a loop of one thread (see [`crate::runtime::new_loop`]).
pub async fn run(session: Session) -> Result<Left, ScreenError> {
    let left = panics::in_screen(run_inside(session)).await;
    for report in panics::take_reports() {
        // What failed beside the screen could not be printed over it. There is nobody else to tell.
        let _ = writeln!(io::stderr(), "{report}");
    }
    left
}

async fn run_inside(session: Session) -> Result<Left, ScreenError> {
    let timer = Timer::begin();
    // What ends us is caught before there is something to restore.
    let mut signals = Signals::catch()?;
    signals.until_foreground().await;
    let mut running = Running::start(session, signals, timer)?;
    let first = running.link.borrow_and_update().clone();
    running.link(first).await;
    while running.left.is_none() {
        // What is drawn has the size that the terminal has then, whether its signal has come or not.
        if running.is_due() {
            running.measure().await;
        }
        if running.draw_when_due().is_err() {
            running.left = Some(Left::TerminalGone);
            break;
        }
        let happened = running.wait().await;
        running.take(happened).await;
        running.take_what_is_there().await;
    }
    running.save_draft();
    let Running { screen, reader, files, left, mut asked, messages, .. } = running;
    // The thread that reads ends before the terminal is given back, or it would take keys that are the shell's.
    drop(reader);
    drop(screen);
    // What was sent last reaches the host, if there is one; what it answers interests nobody any more.
    drop(messages);
    let all = async { while asked.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_WORDS, all).await;
    files.finish();
    Ok(left.unwrap_or(Left::Detached))
}

/// Something that the loop waits for.
enum Happened {
    Signal(Asks),
    Read(News),
    Written(io::Result<()>),
    LinkChanged,
    LinkClosed,
    Snapshot(Result<Arc<Snapshot>, Gone>),
    Message(Message),
    Page(Arc<Page>),
    Panicked,
    Time,
}

/// A screen that runs.
struct Running {
    model: Model,
    clock: Clock,
    screen: Screen,
    /// `None` while the terminal is somebody else's.
    reader: Option<Reader>,
    signals: Signals,
    link: watch::Receiver<Link>,
    is_linked: bool,
    handle: Option<FleetHandle>,
    tail: TailView,
    pages: watch::Receiver<Arc<Page>>,
    files: Files,
    sender: mpsc::Sender<Message>,
    messages: mpsc::Receiver<Message>,
    /// Commands that were sent and not answered.
    asked: JoinSet<()>,
    /// What came of requests and the model does not know yet; a few at most.
    later: VecDeque<Message>,
    timer: Timer,
    drawn: Option<Instant>,
    size: (u16, u16),
    left: Option<Left>,
}

/// Reads a variable of this process.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Running {
    fn start(session: Session, signals: Signals, timer: Timer) -> Result<Self, ScreenError> {
        let mut places = Places {
            draft: session.draft.clone(),
            history: session.history.clone(),
            sizes: session.sizes.clone(),
            dir: session.dir.clone(),
        };
        let draft = read_draft(places.draft.as_deref());
        let unread = draft.as_ref().err().map(|error| {
            // Nothing is written over what nobody has seen.
            places.draft = None;
            let text = format!(
                "could not read the draft of the last time, so it stays and this one is not kept: {error}"
            );
            Message::Told(text, false)
        });
        let remark = session.remark.clone().map(|remark| Message::Told(remark, false));
        let kept =
            Kept { draft: draft.unwrap_or_default(), shares: read_sizes(places.sizes.as_deref()) };
        let (sender, messages) = mpsc::channel(MESSAGES);
        let files = Files::start(places, sender.clone())?;
        let tail = TailView::start()?;
        let pages = tail.pages();
        let link = session.link.clone();
        let clock = Clock::start(Moment::default());
        let screen = Screen::enter(session.mouse, &variable)?;
        let reader = Some(Reader::start(input()?, has_paste_marks(&variable))?);
        let size = pair(size());
        let zone = jiff::tz::TimeZone::system();
        let theme = Theme::detect(&variable);
        let model = Model::new(session, theme, zone, clock.now(), size, kept);
        Ok(Self {
            model,
            clock,
            screen,
            reader,
            signals,
            link,
            is_linked: true,
            handle: None,
            tail,
            pages,
            files,
            sender,
            messages,
            asked: JoinSet::new(),
            later: remark.into_iter().chain(unread).collect(),
            drawn: None,
            timer,
            size,
            left: None,
        })
    }

    /// Says whether a frame is to be drawn now: something changed, the last one has been written and its time is over.
    #[expect(clippy::disallowed_methods, reason = "frames are counted by the real clock")]
    fn is_due(&self) -> bool {
        let now = Instant::now();
        let is_over = self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= FRAME);
        self.model.is_stale() && is_over && !self.screen.is_busy()
    }

    #[expect(clippy::disallowed_methods, reason = "frames are counted by the real clock")]
    fn draw_when_due(&mut self) -> io::Result<()> {
        self.screen.flush()?;
        if !self.is_due() {
            return Ok(());
        }
        let is_first = self.drawn.replace(Instant::now()).is_none();
        self.screen.draw(self.size.into(), |frame| draw(&self.model, frame))?;
        self.model.drawn();
        if is_first && let Err(why) = self.files.ask(Job::ReadHistory) {
            // Nobody needs it for the first frame, and it is read before anything can be added to it.
            self.later.push_back(Message::History(Err(why.to_owned())));
        }
        Ok(())
    }

    /// Waits for the next thing to happen: for ever if nothing does.
    async fn wait(&mut self) -> Happened {
        let until_woken = self.model.wake_at().map(|moment| self.clock.until(moment).max(SHORTEST));
        let until_frame = (self.model.is_stale() && !self.screen.is_busy())
            .then(|| self.drawn.map(|drawn| FRAME.saturating_sub(drawn.elapsed())))
            .flatten();
        let is_waking =
            until_woken.is_some_and(|span| until_frame.is_none_or(|frame| span <= frame));
        let timer = [until_woken, until_frame].into_iter().flatten().min();
        let timer = timer.map(|span| self.timer.after(span));
        let Self { signals, reader, screen, link, is_linked, handle, messages, .. } = self;
        let pages = &mut self.pages;
        tokio::select! {
            biased;
            asks = signals.next() => Happened::Signal(asks),
            news = read(reader) => Happened::Read(news),
            written = screen.written() => Happened::Written(written),
            changed = link.changed(), if *is_linked => match changed {
                Ok(()) => Happened::LinkChanged,
                Err(_) => Happened::LinkClosed,
            },
            Some(message) = messages.recv() => Happened::Message(message),
            Ok(()) = pages.changed() => Happened::Page(Arc::clone(&pages.borrow_and_update())),
            snapshot = changed(handle) => Happened::Snapshot(snapshot),
            () = panics::reported() => Happened::Panicked,
            Some(()) = due(timer) => {
                if is_waking { Happened::Message(Message::Wake) } else { Happened::Time }
            }
        }
    }

    async fn take(&mut self, happened: Happened) {
        match happened {
            Happened::Signal(asks) => self.signal(asks).await,
            Happened::Read(News::Inputs(inputs)) => self.inputs(inputs).await,
            Happened::Read(News::Gone) | Happened::Written(Err(_)) => {
                self.left = Some(Left::TerminalGone);
            }
            Happened::Written(Ok(())) | Happened::Time => {}
            Happened::LinkChanged => {
                let link = self.link.borrow_and_update().clone();
                self.link(link).await;
            }
            Happened::LinkClosed => self.is_linked = false,
            Happened::Snapshot(Ok(snapshot)) => self.update(Message::Snapshot(snapshot)).await,
            Happened::Snapshot(Err(Gone)) => {
                self.handle = None;
                let waiting = Link::Waiting("the connection to the host has ended".to_owned());
                self.update(Message::Link(waiting)).await;
            }
            Happened::Message(message) => self.update(message).await,
            Happened::Page(page) => self.update(Message::Page(page)).await,
            Happened::Panicked => {
                let text = "a part of fleet has failed; leave the screen to read why".to_owned();
                self.update(Message::Told(text, false)).await;
            }
        }
    }

    /// Takes what can be had without waiting, so that one frame shows all of it.
    async fn take_what_is_there(&mut self) {
        for _ in 0..BATCH {
            if self.left.is_some() {
                return;
            }
            if let Some(news) = self.reader.as_mut().and_then(Reader::ready) {
                self.take(Happened::Read(news)).await;
            } else if let Ok(message) = self.messages.try_recv() {
                self.update(message).await;
            } else {
                return;
            }
        }
    }

    async fn inputs(&mut self, inputs: Vec<Input>) {
        for input in inputs {
            if self.left.is_some() {
                return;
            }
            let message = match input {
                Input::Key(key) => Message::Key(key),
                Input::Mouse(mouse) => Message::Mouse(mouse),
                Input::Focus(has_focus) => Message::Focus(has_focus),
                Input::Paste { text, dropped: 0 } => Message::Paste(text),
                Input::Paste { text, dropped } => {
                    self.update(Message::Paste(text)).await;
                    let megabytes = dropped.div_ceil(1024 * 1024);
                    Message::Told(format!("paste cut: {megabytes} MB too long for a task"), false)
                }
            };
            self.update(message).await;
        }
    }

    async fn link(&mut self, link: Link) {
        self.handle = match &link {
            Link::Up { handle, .. } => Some(handle.clone()),
            Link::Waiting(_) | Link::Failed(_) => None,
        };
        self.update(Message::Link(link)).await;
    }

    async fn signal(&mut self, asks: Asks) {
        match asks {
            Asks::End(number) => self.left = Some(Left::Signal(number)),
            Asks::Stop => {
                self.suspend().await;
                self.catch_up().await;
            }
            Asks::GoOn => {
                self.go_on().await;
                self.catch_up().await;
            }
            Asks::Measure => self.measure().await,
        }
    }

    /// Tells the model another size of the terminal.
    async fn measure(&mut self) {
        let now = pair(size());
        if now != self.size {
            self.size = now;
            self.update(Message::Resize(now.0, now.1)).await;
        }
    }

    /// Keeps the draft however the screen ends, if there is something new in it.
    fn save_draft(&mut self) {
        if let Some(draft) = self.model.unkept_draft() {
            // The screen ends; there is nobody left to be told.
            let _ = self.files.ask(Job::SaveDraft(draft));
        }
    }

    /// Lets the model know, and does what it asks for.
    async fn update(&mut self, message: Message) {
        self.later.push_back(message);
        self.catch_up().await;
    }

    /// Lets the model know what came of what it asked for, until nothing comes of it any more.
    async fn catch_up(&mut self) {
        while let Some(message) = self.later.pop_front() {
            for request in self.model.update(self.clock.now(), message) {
                let said = self.perform(request).await;
                self.later.extend(said);
            }
        }
    }
}

async fn read(reader: &mut Option<Reader>) -> News {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

async fn changed(handle: &mut Option<FleetHandle>) -> Result<Arc<Snapshot>, Gone> {
    match handle {
        Some(handle) => handle.changed().await,
        None => std::future::pending().await,
    }
}

fn pair(size: ratatui::layout::Size) -> (u16, u16) {
    (size.width, size.height)
}
