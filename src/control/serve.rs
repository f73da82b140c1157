//! The server: takes clients, and decides for how long the host stays.
//!
//! What may go here: who may connect, how many, and when the host may go. What may not: one client (`server`).

use std::time::Duration;

use tokio::net::UnixStream;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::listener::Listener;
use super::presence::Presence;
use super::protocol::Hosting;
use super::server::{Parting, Visit, attend};
use super::socket::Socket;
use crate::core::{Moment, Snapshot};
use crate::runtime::{Clock, FleetHandle};

/// Most clients at once. Each costs a copy of what it has not read yet.
const CLIENTS: usize = 64;
/// Most connections that are only told why they end.
const PARTINGS: usize = 64;
/// Time until a connection is accepted again after the system refused one, for want of descriptors as a rule.
const PAUSE: Duration = Duration::from_millis(100);
/// Time for the first client. A host is started for one that connects at once.
const FIRST_CLIENT: Duration = Duration::from_secs(10);

/// How long a host stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// Time from when there was last something to do, or somebody there.
    pub linger: Duration,
    /// The fleet lives only as long as somebody watches it, whatever runs.
    pub is_ephemeral: bool,
}

/// Serves the clients of a fleet, until the host may go or its loop has ended. Dropping the future closes all
/// connections. Must run inside a loop.
pub async fn serve(listener: &Listener, handle: FleetHandle, stay: Stay) {
    let mut server = Server::new(listener, handle.clone(), stay);
    let mut watched = handle;
    let mut paused_until = None;
    loop {
        server.look(&watched.snapshot());
        let leave = server.leave;
        let is_accepting = paused_until.is_none();
        tokio::select! {
            accepted = listener.accept(), if is_accepting => match accepted {
                Ok(stream) => server.take(stream),
                Err(_) => paused_until = Some(Instant::now() + PAUSE),
            },
            () = sleep_until(paused_until.unwrap_or_else(Instant::now)), if !is_accepting => {
                paused_until = None;
            }
            Some(ended) = server.clients.join_next() => server.ended(ended),
            Some(_) = server.partings.join_next() => {}
            changed = watched.changed() => if changed.is_err() {
                return;
            },
            () = sleep_until(leave.unwrap_or_else(Instant::now)), if leave.is_some() => return,
        }
    }
}

struct Server {
    handle: FleetHandle,
    stay: Stay,
    hosting: Hosting,
    presence: Presence,
    clients: JoinSet<Visit>,
    partings: JoinSet<()>,
    /// Somebody was there.
    was_watched: bool,
    /// When to go, if nothing happens until then.
    leave: Option<Instant>,
}

impl Server {
    fn new(listener: &Listener, handle: FleetHandle, stay: Stay) -> Self {
        Self {
            handle,
            stay,
            hosting: Hosting {
                fleet: listener.fleet().clone(),
                host_pid: std::process::id(),
                away_since: None,
            },
            presence: Presence::new(listener.dir().clone(), Clock::start(Moment::default())),
            clients: JoinSet::new(),
            partings: JoinSet::new(),
            was_watched: false,
            leave: None,
        }
    }

    /// Sees to it that the host goes when it may, and stays when it must.
    fn look(&mut self, snapshot: &Snapshot) {
        let is_busy = !self.stay.is_ephemeral && !snapshot.header.idle;
        if is_busy || !self.clients.is_empty() {
            self.leave = None;
            return;
        }
        let wait = match (self.stay.is_ephemeral, self.was_watched) {
            (true, true) => Duration::ZERO,
            (true, false) => FIRST_CLIENT,
            // It takes no more tasks, so nobody has a use for it.
            (false, true) if snapshot.header.interrupted.is_some() => Duration::ZERO,
            (false, true) => self.stay.linger,
            // Whoever started this host is on the way.
            (false, false) => self.stay.linger.max(FIRST_CLIENT),
        };
        self.leave.get_or_insert_with(|| Instant::now() + wait);
    }

    /// Takes a connection, unless it is somebody else's or there are too many.
    fn take(&mut self, stream: UnixStream) {
        let own = rustix::process::geteuid().as_raw();
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            return;
        }
        // A system without room for it has none for a client.
        let Ok(socket) = Socket::new(stream) else { return };
        if self.clients.len() >= CLIENTS {
            let why = format!("this fleet's host has {CLIENTS} clients already: close one of them");
            self.part(Some(Parting::refusal(socket, &why)));
            return;
        }
        let (handle, presence) = (self.handle.clone(), self.presence.clone());
        self.clients.spawn(attend(socket, handle, self.hosting.clone(), presence));
    }

    /// Takes note of the end of a connection.
    fn ended(&mut self, ended: Result<Visit, JoinError>) {
        match ended {
            Ok(Visit::Stranger(parting)) => self.part(parting),
            Ok(Visit::Left(parting)) => {
                self.part(parting);
                self.note_leave();
            }
            // It panicked, which the panic hook has reported.
            Err(_) => self.note_leave(),
        }
    }

    fn note_leave(&mut self) {
        self.was_watched = true;
        self.presence.note_left();
    }

    fn part(&mut self, parting: Option<Parting>) {
        if let Some(parting) = parting.filter(|_| self.partings.len() < PARTINGS) {
            self.partings.spawn(parting.say());
        }
    }
}
