//! The loop of the screen: merges keys, the fleet, the tail, timers and signals into the model, draws it, and does what
//! it asks for.
//!
//! What may go here: order and time. What may not: deciding (the model does), and anything that blocks. Everything that
//! happened is taken before the next frame is drawn, a frame is drawn when something changed and sixty times a second
//! at most, and while nothing happens nothing wakes up.

mod files;
mod fleets;
mod handing;
mod history;
mod perform;
mod seat;
mod signals;
mod timer;
mod turning;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use self::fleets::{Brought, Fleets};
use self::seat::{Around, Seat, read_kept};
use self::signals::{Asks, Signals};
use self::timer::{Timer, due};
use super::draw::draw;
use super::input::{Input, News, Reader};
use super::message::{Message, Request};
use super::session::{Departure, Left, Link, Session};
use super::terminal::{Screen, TerminalError, has_paste_marks, input, panics, size};
use super::theme::Theme;
use crate::core::{Moment, Snapshot};
use crate::runtime::{Clock, FleetHandle, Gone};
use crate::tail::view::Page;

/// Time of one frame.
const FRAME: Duration = Duration::from_micros(16_667);
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
pub async fn run(session: Session) -> Result<Departure, ScreenError> {
    let left = panics::in_screen(Box::pin(run_inside(session))).await;
    for report in panics::take_reports() {
        // What failed beside the screen could not be printed over it. There is nobody else to tell.
        let _ = writeln!(io::stderr(), "{report}");
    }
    left
}

async fn run_inside(session: Session) -> Result<Departure, ScreenError> {
    let timer = Timer::begin();
    // What ends us is caught before there is something to restore.
    let mut signals = Signals::catch()?;
    signals.until_foreground().await;
    let mut running = Running::start(session, signals, timer)?;
    let first = running.seat.newest_link();
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
    Ok(running.end().await)
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
    Brought(Brought),
    /// The fleet that is not shown changed.
    Behind(Result<Arc<Snapshot>, Gone>),
    Panicked,
    Time,
}

/// A screen that runs.
struct Running {
    /// The fleet that is shown.
    seat: Box<Seat>,
    /// The fleet that the screen began with, while another one is shown.
    behind: Option<Box<Seat>>,
    clock: Clock,
    screen: Screen,
    /// `None` while the terminal is somebody else's.
    reader: Option<Reader>,
    signals: Signals,
    /// Reads about other fleets, once somebody has asked.
    fleets: Option<Fleets>,
    brings: mpsc::Sender<Brought>,
    brought: fleets::News,
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
        let clock = Clock::start(Moment::default());
        let read = read_kept(&session);
        let mouse = session.mouse;
        let around = Around {
            theme: Theme::detect(&variable),
            zone: jiff::tz::TimeZone::system(),
            now: clock.now(),
            size: pair(size()),
        };
        let measured = around.size;
        let seat = Box::new(Seat::take(session, read, around)?);
        let screen = Screen::enter(mouse, &variable)?;
        let reader = Some(Reader::start(input()?, has_paste_marks(&variable))?);
        let (brings, brought) = fleets::news();
        Ok(Self {
            seat,
            behind: None,
            clock,
            screen,
            reader,
            signals,
            fleets: None,
            brings,
            brought,
            drawn: None,
            timer,
            size: measured,
            left: None,
        })
    }

    /// Ends it; returns how it was left.
    async fn end(mut self) -> Departure {
        self.seat.save_draft();
        // The thread that reads ends before the terminal is given back, or it would take keys that are the shell's.
        drop(self.reader);
        drop(self.screen);
        let mut links = Vec::new();
        for seat in std::iter::once(self.seat).chain(self.behind) {
            let Seat { link, files, mut asked, messages, .. } = *seat;
            // What was sent last reaches the host, if there is one; what it answers interests nobody any more.
            drop(messages);
            let all = async { while asked.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(LAST_WORDS, all).await;
            files.finish();
            links.push(link);
        }
        Departure { left: self.left.unwrap_or(Left::Detached), links }
    }

    /// Says whether a frame is to be drawn now: something changed, the last one has been written and its time is over.
    #[expect(clippy::disallowed_methods, reason = "frames are counted by the real clock")]
    fn is_due(&self) -> bool {
        let now = Instant::now();
        let is_over = self.drawn.is_none_or(|drawn| now.duration_since(drawn) >= FRAME);
        self.seat.model.is_stale() && is_over && !self.screen.is_busy()
    }

    #[expect(clippy::disallowed_methods, reason = "frames are counted by the real clock")]
    fn draw_when_due(&mut self) -> io::Result<()> {
        self.screen.flush()?;
        if !self.is_due() {
            return Ok(());
        }
        let is_first = self.drawn.replace(Instant::now()).is_none();
        self.screen.draw(self.size.into(), |frame| draw(&self.seat.model, frame))?;
        self.seat.model.drawn();
        if is_first {
            self.seat.read_history();
        }
        Ok(())
    }

    /// Waits for the next thing to happen: for ever if nothing does.
    async fn wait(&mut self) -> Happened {
        let until_woken =
            self.seat.model.wake_at().map(|moment| self.clock.until(moment).max(SHORTEST));
        let until_frame = (self.seat.model.is_stale() && !self.screen.is_busy())
            .then(|| self.drawn.map(|drawn| FRAME.saturating_sub(drawn.elapsed())))
            .flatten();
        let is_waking =
            until_woken.is_some_and(|span| until_frame.is_none_or(|frame| span <= frame));
        let timer = [until_woken, until_frame].into_iter().flatten().min();
        let timer = timer.map(|span| self.timer.after(span));
        let Self { signals, reader, screen, seat, brought, behind, .. } = self;
        let Seat { link, is_linked, handle, messages, pages, .. } = &mut **seat;
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
            Some(brought) = brought.recv() => Happened::Brought(brought),
            snapshot = behind_changed(behind) => Happened::Behind(snapshot),
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
                let link = self.seat.newest_link();
                self.link(link).await;
            }
            Happened::LinkClosed => self.seat.is_linked = false,
            Happened::Snapshot(Ok(snapshot)) => self.update(Message::Snapshot(snapshot)).await,
            Happened::Snapshot(Err(Gone)) => {
                self.seat.handle = None;
                let waiting = Link::Waiting("the connection to the host has ended".to_owned());
                self.update(Message::Link(waiting)).await;
            }
            Happened::Message(message) => self.update(message).await,
            Happened::Page(page) => self.update(Message::Page(page)).await,
            Happened::Brought(brought) => self.take_brought(brought).await,
            Happened::Behind(snapshot) => self.take_behind(snapshot).await,
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
            } else if let Ok(message) = self.seat.messages.try_recv() {
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
        self.seat.handle = match &link {
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

    /// Lets the model know, and does what it asks for.
    async fn update(&mut self, message: Message) {
        self.seat.later.push_back(message);
        self.catch_up().await;
    }

    /// Lets the model know what came of what it asked for, until nothing comes of it any more.
    async fn catch_up(&mut self) {
        while let Some(message) = self.seat.later.pop_front() {
            for request in self.seat.model.update(self.clock.now(), message) {
                // What the model wants beside that is about a fleet that is not shown any more.
                let turns = matches!(request, Request::GoBack);
                let said = self.perform(request).await;
                self.seat.later.extend(said);
                if turns {
                    break;
                }
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

async fn behind_changed(behind: &mut Option<Box<Seat>>) -> Result<Arc<Snapshot>, Gone> {
    match behind {
        Some(seat) => changed(&mut seat.handle).await,
        None => std::future::pending().await,
    }
}

fn pair(size: ratatui::layout::Size) -> (u16, u16) {
    (size.width, size.height)
}
