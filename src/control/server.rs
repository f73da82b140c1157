//! One client, from its greeting to its end: takes what it asks, tells it what changes.
//!
//! What may go here: one connection. What may not: how many there may be, and for how long the host stays (`serve`).
//! A client costs at most one long line, [`ASKS`] commands and two snapshots, however slow or fast it is.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::feed::Feed;
use super::line::{LineReader, LineWriter, Next};
use super::packing::unpack;
use super::presence::{Presence, Seat};
use super::protocol::{
    Answered, CLIENT_LINE_BYTES, ClientLine, GREETING_BYTES, Greeting, Hello, Hosting, Say,
    too_long,
};
use super::socket::Socket;
use crate::core::{Command, Refusal, Reply, Snapshot, refuse_inside};
use crate::runtime::{FleetHandle, Given, Gone};

/// Time for the first line. A client has it ready when it connects.
const GREETING: Duration = Duration::from_secs(10);
/// A client that has taken nothing for so long is dropped: it was suspended, or hangs.
const STALL: Duration = Duration::from_secs(30);
/// How long the reason stays to be read after that.
const PARTING: Duration = Duration::from_mins(10);
/// Commands of one client that wait for their replies. While there are so many no more are read.
const ASKS: usize = 16;

/// How a connection ended.
#[derive(Debug)]
pub(super) enum Visit {
    /// It never was a client.
    Stranger(Option<Parting>),
    /// The client left, or was sent away.
    Left(Option<Parting>),
}

/// Last words, and whom they are for.
#[derive(Debug)]
pub(super) struct Parting {
    socket: Socket,
    writer: LineWriter,
}

/// A client and what is on its way to and from it.
struct Connection {
    socket: Socket,
    reader: LineReader,
    writer: LineWriter,
    feed: Feed,
    /// Replies, each with the snapshot that must come before it: whoever is told that something was done must see it.
    replies: VecDeque<(Told, u64)>,
    /// Mark of the agent that the client runs inside of.
    inside: Option<String>,
}

/// What an ask came to, with its number.
type Told = (u64, Result<Reply, Gone>);

impl Parting {
    /// Refuses a connection with a sentence.
    pub(super) fn refusal(socket: Socket, why: &str) -> Self {
        let mut writer = LineWriter::default();
        writer.push(&Greeting::refused(why));
        Self { socket, writer }
    }

    /// Waits until the words were taken, or nobody can be expected to any more.
    pub(super) async fn say(mut self) {
        // Somebody who does not listen needs to hear nothing.
        let _ = timeout(PARTING, self.writer.write_all(&self.socket)).await;
    }
}

/// Serves one connection to its end.
pub(super) async fn attend(
    socket: Socket,
    handle: FleetHandle,
    hosting: Hosting,
    presence: Presence,
) -> Visit {
    let mut connection = Connection {
        socket,
        reader: LineReader::new(),
        writer: LineWriter::default(),
        feed: Feed::default(),
        replies: VecDeque::new(),
        inside: None,
    };
    match timeout(GREETING, connection.greet(hosting, &presence)).await {
        Ok(Ok(Ok(_seat))) => match connection.serve(handle).await {
            Ok(why) => Visit::Left(why.map(|why| connection.part(&why))),
            Err(_) => Visit::Left(None),
        },
        Ok(Ok(Err(why))) => Visit::Stranger(Some(Parting::refusal(connection.socket, &why))),
        Ok(Err(_)) | Err(_) => Visit::Stranger(None),
    }
}

impl Connection {
    /// Takes the first line, and welcomes a client; the inner error says why it cannot stay.
    async fn greet(
        &mut self,
        hosting: Hosting,
        presence: &Presence,
    ) -> io::Result<Result<Option<Seat>, String>> {
        let hello = match self.reader.next(&self.socket, GREETING_BYTES).await? {
            Next::Line(line) => serde_json::from_slice::<Hello>(&line).ok(),
            Next::TooLong => None,
            Next::Closed => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let Some(hello) = hello else {
            let why = "the first line was no greeting: this socket is for Fleet's own programs";
            return Ok(Err(why.to_owned()));
        };
        if let Some(gap) = hello.gap() {
            return Ok(Err(gap.to_string()));
        }
        let hosting = Hosting { away_since: presence.away_since(), ..hosting };
        self.writer.push(&Greeting::welcome(hosting));
        self.writer.write_all(&self.socket).await?;
        self.inside = hello.inside;
        Ok(Ok((!hello.in_passing).then(|| presence.enter())))
    }

    /// Talks to the client until it leaves; returns why it is sent away, if it is.
    async fn serve(&mut self, mut handle: FleetHandle) -> io::Result<Option<String>> {
        self.feed.begin(handle.snapshot());
        let mut asks: JoinSet<Told> = JoinSet::new();
        let mut stalled = Instant::now();
        loop {
            if self.writer.is_empty() {
                self.fill(&handle);
                stalled = Instant::now() + STALL;
            }
            let is_free = self.writer.is_empty();
            tokio::select! {
                wrote = self.writer.write_some(&self.socket), if !is_free => {
                    wrote?;
                    stalled = Instant::now() + STALL;
                }
                () = sleep_until(stalled), if !is_free => {
                    return Ok(Some(format!(
                        "dropped: nothing was read for {} seconds; connect again to go on",
                        STALL.as_secs()
                    )));
                }
                Some(Ok(told)) = asks.join_next() => {
                    self.replies.push_back((told, handle.snapshot().revision));
                }
                fresh = handle.changed(), if is_free => match fresh {
                    Ok(snapshot) if self.feed.has_told(snapshot.revision) => {}
                    Ok(snapshot) => self.feed.begin(snapshot),
                    Err(Gone) => return Ok(None),
                },
                next = self.reader.next(&self.socket, CLIENT_LINE_BYTES),
                    if asks.len() + self.replies.len() < ASKS =>
                {
                    match next? {
                        Next::Line(line) => {
                            if let Err(why) = take(&line, &handle, self.inside.as_deref(), &mut asks) {
                                return Ok(Some(why));
                            }
                        }
                        Next::Closed => return Ok(None),
                        Next::TooLong => return Ok(Some(format!("dropped: {}", too_long()))),
                    }
                }
            }
        }
    }

    /// Puts into the empty writer what is due: a reply whose time has come, else the next line of a snapshot.
    fn fill(&mut self, handle: &FleetHandle) {
        let is_due = |(_, revision): &mut (Told, u64)| self.feed.has_told(*revision);
        while let Some(((id, reply), _)) = self.replies.pop_front_if(is_due) {
            // A host that has gone gives none; the end of the connection says so.
            if let Ok(reply) = reply {
                self.writer.push(&Say::Reply(&Answered { id, reply }));
                return;
            }
        }
        let writer = &mut self.writer;
        if self.feed.next(|part| writer.push(&Say::Change(part))) || self.replies.is_empty() {
            return;
        }
        self.feed.begin(handle.snapshot());
        self.feed.next(|part| writer.push(&Say::Change(part)));
    }

    fn part(mut self, why: &str) -> Parting {
        self.writer.push(&Say::Dropped(why));
        Parting { socket: self.socket, writer: self.writer }
    }
}

/// Takes a line of a client; says why it cannot stay after it.
fn take(
    line: &[u8],
    handle: &FleetHandle,
    inside: Option<&str>,
    asks: &mut JoinSet<Told>,
) -> Result<(), String> {
    let line: ClientLine = serde_json::from_slice(line)
        .map_err(|_| "dropped: a line was no message of this socket's protocol".to_owned())?;
    // A message of a kind that is not known is ignored.
    let Some(ask) = line.ask else { return Ok(()) };
    let id = ask.id;
    let handle = handle.clone();
    let inside = inside.map(str::to_owned);
    asks.spawn(async move {
        match unpack(ask).and_then(|asked| within(inside, asked, &handle.snapshot())) {
            Ok((command, given)) => (id, handle.ask(command, given).await),
            Err(refusal) => (id, Ok(Reply::Refused(refusal))),
        }
    });
    Ok(())
}

/// Lets a command through that may come from inside of an agent with this mark, and has its tasks tell where they come
/// from.
fn within(
    inside: Option<String>,
    (mut command, given): (Command, Given),
    snapshot: &Snapshot,
) -> Result<(Command, Given), Refusal> {
    let Some(mark) = inside else { return Ok((command, given)) };
    if let Some(refusal) = refuse_inside(&mark, &command, snapshot) {
        return Err(refusal);
    }
    if let Command::Submit(submission) = &mut command {
        submission.inside = Some(mark);
    }
    Ok((command, given))
}
