//! A door's end of the socket: finds it, greets, and then drives an ordinary handle.
//!
//! What may go here: one connection from the client's side. What may not: starting a host, words for a terminal.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::address::{Reachable, candidates};
use super::line::{LineReader, LineWriter, Next};
use super::packing::pack;
use super::protocol::{
    CLIENT_LINE_BYTES, ClientLine, GREETING_BYTES, Greeting, Hello, SERVER_LINE_BYTES, ServerLine,
    VersionGap, Welcome, too_long,
};
use super::rebuild::{Gap, Rebuild};
use super::socket::Socket;
use crate::core::{FleetId, Refusal, Reply, Snapshot};
use crate::journal::FleetDir;
use crate::runtime::{Asked, FleetHandle, HostEnd, channel};

/// Time in which a host that lives answers, also on a machine under load.
const ANSWER: Duration = Duration::from_secs(10);

/// A connection to a host.
#[derive(Debug)]
pub struct Connected {
    /// The fleet. It says [`crate::runtime::Gone`] once the connection has ended.
    pub handle: FleetHandle,
    /// What the host said of itself.
    pub welcome: Welcome,
    /// Why the connection ended, a whole sentence, once the host has said so.
    pub farewell: watch::Receiver<Option<String>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens.
    #[error("nobody listens for fleet {0}: it has no host, or one that has only just begun")]
    Nobody(FleetId),
    /// The host went, or had no time, before it had answered.
    #[error("the host of fleet {0} went before it answered")]
    Closed(FleetId),
    /// The host did not answer.
    #[error("the host of fleet {0} does not answer")]
    Silent(FleetId),
    /// Another version.
    #[error(transparent)]
    Version(#[from] VersionGap),
    /// The host does not want this client; a whole sentence.
    #[error("{0}")]
    Refused(String),
    /// What came was not understood.
    #[error(
        "what listens on {} is not understood: {why}; it is no host of this fleet, or one of another version of Fleet: \
         use that one, or wait until its agents have ended",
        path.display()
    )]
    Strange {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The system refused.
    #[error("could not connect to {}: {source}", path.display())]
    System {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl ConnectError {
    /// Says whether another try may succeed soon: a host is about to come or to go.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Nobody(_) | Self::Closed(_) => true,
            Self::Silent(_)
            | Self::Version(_)
            | Self::Refused(_)
            | Self::Strange { .. }
            | Self::System { .. } => false,
        }
    }
}

/// Connects to the host of a fleet and waits for the whole first snapshot. Must be called inside a loop, which drives
/// the connection from then on.
pub async fn connect(dir: &FleetDir) -> Result<Connected, ConnectError> {
    connect_as(dir, Hello::own()).await
}

/// Does the same for a command that comes and goes: who watches the fleet, and since when nobody has, stays as it is.
pub async fn connect_in_passing(dir: &FleetDir) -> Result<Connected, ConnectError> {
    connect_as(dir, Hello { in_passing: true, ..Hello::own() }).await
}

async fn connect_as(dir: &FleetDir, hello: Hello) -> Result<Connected, ConnectError> {
    let (socket, path) = reach(dir).await?;
    let mut wire = Wire {
        socket,
        reader: LineReader::new(),
        writer: LineWriter::default(),
        fleet: dir.id().clone(),
        path,
    };
    let silent = |_| ConnectError::Silent(dir.id().clone());
    let welcome = timeout(ANSWER, wire.greet(&hello)).await.map_err(silent)??;
    let mut rebuild = Rebuild::default();
    let first = wire.first(&mut rebuild).await?;
    let (handle, end) = channel(first);
    let handle = handle.hosted_by(welcome.host_pid);
    let (teller, farewell) = watch::channel(None);
    tokio::spawn(wire.drive(end, rebuild, teller));
    Ok(Connected { handle, welcome, farewell })
}

/// Connects to the first socket behind which somebody of this user listens.
async fn reach(dir: &FleetDir) -> Result<(Socket, PathBuf), ConnectError> {
    let own = rustix::process::geteuid().as_raw();
    // What is wrong with one place says nothing of the next.
    let mut trouble = None;
    for path in candidates(dir) {
        let mut failed = |source| {
            trouble.get_or_insert(ConnectError::System { path: path.clone(), source });
        };
        let Ok(reachable) = Reachable::new(&path) else { continue };
        match UnixStream::connect(reachable.path()).await {
            Ok(stream) => match stream.peer_cred() {
                Ok(peer) if peer.uid() == own => match Socket::new(stream) {
                    Ok(socket) => return Ok((socket, path)),
                    Err(error) => failed(error),
                },
                Ok(_) => {}
                Err(error) => failed(error),
            },
            Err(error) if is_nobody(&error) => {}
            // More come at once than the host has taken yet.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(ConnectError::Closed(dir.id().clone()));
            }
            Err(error) => failed(error),
        }
    }
    Err(trouble.unwrap_or_else(|| ConnectError::Nobody(dir.id().clone())))
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotADirectory
            // Of a path that is too long where there is no way around that.
            | io::ErrorKind::InvalidInput
    )
}

/// A connection before and after the greeting.
struct Wire {
    socket: Socket,
    reader: LineReader,
    writer: LineWriter,
    fleet: FleetId,
    path: PathBuf,
}

/// Asks whose replies have not come, by number.
type Open = HashMap<u64, oneshot::Sender<Reply>>;

impl Wire {
    async fn greet(&mut self, hello: &Hello) -> Result<Welcome, ConnectError> {
        self.writer.push(hello);
        // A host that has no room says so without having listened, so what matters is what it answers.
        let _ = self.writer.write_all(&self.socket).await;
        let line = self.line(GREETING_BYTES).await?;
        let greeting: Greeting =
            serde_json::from_slice(&line).map_err(|error| self.strange(&error.to_string()))?;
        if let Some(gap) = greeting.gap() {
            return Err(gap.into());
        }
        if let Some(why) = greeting.refused {
            return Err(ConnectError::Refused(why));
        }
        match greeting.welcome {
            Some(hosting) if hosting.fleet == self.fleet => {
                Ok(Welcome { host_pid: hosting.host_pid, away_since: hosting.away_since })
            }
            Some(hosting) => Err(self.strange(&format!("it hosts fleet {}", hosting.fleet))),
            None => Err(self.strange("its greeting says nothing")),
        }
    }

    /// Reads until the first snapshot is whole. The time that this may take is counted anew with each line.
    async fn first(&mut self, rebuild: &mut Rebuild) -> Result<Snapshot, ConnectError> {
        loop {
            let line = timeout(ANSWER, self.line(SERVER_LINE_BYTES)).await;
            let line = line.map_err(|_| ConnectError::Silent(self.fleet.clone()))??;
            let line: ServerLine =
                serde_json::from_slice(&line).map_err(|error| self.strange(&error.to_string()))?;
            if let Some(why) = line.dropped {
                return Err(ConnectError::Refused(why));
            }
            let Some(change) = line.change else { continue };
            let gap = |gap: Gap| self.strange(&gap.to_string());
            if let Some(snapshot) = rebuild.take(change).map_err(gap)? {
                return Ok(snapshot);
            }
        }
    }

    async fn line(&mut self, most: usize) -> Result<Vec<u8>, ConnectError> {
        match self.reader.next(&self.socket, most).await {
            Ok(Next::Line(line)) => Ok(line),
            // A host that goes with something unread resets the connection.
            Ok(Next::Closed) | Err(_) => Err(ConnectError::Closed(self.fleet.clone())),
            Ok(Next::TooLong) => Err(self.strange("it sends a line without end")),
        }
    }

    fn strange(&self, why: &str) -> ConnectError {
        ConnectError::Strange { path: self.path.clone(), why: why.to_owned() }
    }

    /// Is the host of the handle's other end, until one of the two has gone.
    async fn drive(
        mut self,
        mut end: HostEnd,
        mut rebuild: Rebuild,
        farewell: watch::Sender<Option<String>>,
    ) {
        let (mut open, mut last) = (Open::new(), 0);
        loop {
            let is_free = self.writer.is_empty();
            tokio::select! {
                wrote = self.writer.write_some(&self.socket), if !is_free => {
                    // What the host still has to say comes before its end.
                    if wrote.is_err() {
                        self.writer = LineWriter::default();
                    }
                }
                asked = end.commands.recv(), if is_free => match asked {
                    Some(asked) => {
                        last += 1;
                        self.ask(last, asked, &mut open);
                    }
                    None => return,
                },
                next = self.reader.next(&self.socket, SERVER_LINE_BYTES) => {
                    let Ok(Next::Line(line)) = next else { return };
                    let Some(why) = take(&line, &mut rebuild, &mut open, &end) else { continue };
                    farewell.send_replace(Some(why));
                    return;
                }
            }
        }
    }

    fn ask(&mut self, id: u64, asked: Asked, open: &mut Open) {
        let Asked { command, given, reply } = asked;
        // Without it the reply is dropped, which says that there is no host.
        let Some(ask) = pack(id, command, given) else { return };
        let Ok(line) = serde_json::to_vec(&ClientLine { ask: Some(ask) }) else { return };
        if line.len() > CLIENT_LINE_BYTES {
            // Whoever asked may have left.
            let _ = reply.send(Reply::Refused(Refusal(too_long())));
            return;
        }
        open.insert(id, reply);
        self.writer.push_line(&line);
    }
}

/// Takes a line of the host; returns why nothing more comes.
fn take(line: &[u8], rebuild: &mut Rebuild, open: &mut Open, end: &HostEnd) -> Option<String> {
    let line: ServerLine = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(error) => {
            return Some(format!(
                "a line of the host was not understood ({error}): it is of another version of Fleet, so use that one, or \
                 wait until its agents have ended"
            ));
        }
    };
    if let Some(answered) = line.reply
        && let Some(reply) = open.remove(&answered.id)
    {
        // Whoever asked may have left.
        let _ = reply.send(answered.reply);
    }
    match line.change.map(|change| rebuild.take(change)) {
        Some(Ok(Some(snapshot))) => {
            end.snapshots.send_replace(Arc::new(snapshot));
        }
        Some(Err(gap)) => return Some(gap.to_string()),
        Some(Ok(None)) | None => {}
    }
    line.dropped
}
