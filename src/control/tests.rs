//! The socket without a fleet: a host that the test plays, real sockets, and a clock that runs on whenever all wait.

use std::collections::BTreeMap;
use std::future::pending;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use super::line::{LineReader, LineWriter, Next};
use super::protocol::{
    Answered, CLIENT_LINE_BYTES, Change, Greeting, Hello, PROTOCOL, SERVER_LINE_BYTES, ServerLine,
};
use super::rebuild::Rebuild;
use super::socket::Socket;
use super::*;
use crate::core::testing::{end, row, snapshot};
use crate::core::{
    AgentId, Command, FleetId, FleetOptions, Moment, NanoUsd, Outcome, Reply, Row, Snapshot, Status,
};
use crate::journal::{Draft, FleetDir, StateDir};
use crate::runtime::{Asked, FleetHandle, Given, HostEnd, channel};

const STAY: Stay = Stay { linger: Duration::from_secs(30), is_ephemeral: false };

/// A fleet's folder, its socket with the server behind it, and the host that the test plays.
struct Table {
    temp: tempfile::TempDir,
    dir: FleetDir,
    host: HostEnd,
    serving: JoinHandle<()>,
}

/// A connection that speaks whatever the test says.
struct Raw {
    socket: Socket,
    reader: LineReader,
}

fn fleet_in(parent: &std::path::Path) -> FleetDir {
    let state = StateDir::open(Some(&parent.join("state"))).unwrap();
    let draft = Draft {
        root: parent.to_owned(),
        options: FleetOptions::default(),
        argv: Vec::new(),
        is_closed: false,
    };
    state.new_fleet(Moment(1_800_000_000_000), draft).unwrap()
}

fn of(dir: &FleetDir, mut snapshot: Snapshot) -> Snapshot {
    snapshot.header.fleet = dir.id().clone();
    snapshot
}

impl Table {
    fn with(first: Snapshot, stay: Stay) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = fleet_in(temp.path());
        Self::at(temp, dir, first, stay)
    }

    fn at(temp: tempfile::TempDir, dir: FleetDir, first: Snapshot, stay: Stay) -> Self {
        let (handle, host) = channel(of(&dir, first));
        let listener = Listener::bind(&dir).unwrap();
        let serving = tokio::spawn(async move { serve(&listener, handle, stay).await });
        Self { temp, dir, host, serving }
    }

    fn new() -> Self {
        Self::with(snapshot(1, vec![row(1), row(2)]), STAY)
    }

    fn show(&self, snapshot: Snapshot) {
        self.host.snapshots.send_replace(Arc::new(of(&self.dir, snapshot)));
    }

    async fn raw(&self) -> Raw {
        let path = self.dir.read_file().unwrap().socket.expect("it is named in fleet.json");
        let socket = Socket::new(UnixStream::connect(path).await.unwrap()).unwrap();
        Raw { socket, reader: LineReader::new() }
    }

    /// A client that has greeted and reads nothing more.
    async fn greeted(&self) -> Raw {
        let mut raw = self.raw().await;
        raw.say(&Hello::own()).await;
        assert!(raw.greeting().await.welcome.is_some());
        raw
    }

    /// Takes the next command, and answers it.
    async fn answer(&mut self, with: Reply) -> (Command, Given) {
        let Asked { command, given, reply } = self.host.commands.recv().await.unwrap();
        reply.send(with).unwrap();
        (command, given)
    }
}

impl Raw {
    async fn say(&mut self, message: &impl serde::Serialize) {
        let mut writer = LineWriter::default();
        writer.push(message);
        writer.write_all(&self.socket).await.unwrap();
    }

    async fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.socket.write_some(bytes).await {
                Ok(count) => bytes = &bytes[count..],
                // Who is sent away is not listened to.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    async fn line(&mut self) -> Option<Vec<u8>> {
        match self.reader.next(&self.socket, SERVER_LINE_BYTES).await {
            Ok(Next::Line(line)) => Some(line),
            Ok(Next::Closed) | Err(_) => None,
            Ok(Next::TooLong) => panic!("too long"),
        }
    }

    async fn greeting(&mut self) -> Greeting {
        serde_json::from_slice(&self.line().await.unwrap()).unwrap()
    }

    /// Reads to the end of the connection; returns its last message.
    async fn last(&mut self) -> ServerLine {
        let mut last = ServerLine::default();
        while let Some(line) = self.line().await {
            last = serde_json::from_slice(&line).unwrap();
        }
        last
    }
}

async fn until(handle: &mut FleetHandle, is_so: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let wait = async {
        while !is_so(&handle.snapshot()) {
            handle.changed().await.unwrap();
        }
        handle.snapshot()
    };
    tokio::time::timeout(Duration::from_mins(1), wait).await.expect("it is shown")
}

/// A snapshot with this many rows, each with an answer of so many bytes.
fn large(revision: u64, rows: u32, bytes: usize) -> Snapshot {
    let rows = (1..=rows).map(|id| Row { answer: "é".repeat(bytes / 2), of: rows, ..row(id) });
    snapshot(revision, rows.collect())
}

#[tokio::test]
async fn only_its_owner_can_reach_the_socket() {
    let table = Table::new();
    let path = table.dir.read_file().unwrap().socket.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    table.serving.abort();
    let _ = table.serving.await;
    assert!(!path.exists(), "the socket goes with its server");
    assert_eq!(table.dir.read_file().unwrap().socket, None);
}

#[tokio::test]
async fn two_clients_see_the_same_and_rows_that_did_not_change_are_kept() {
    let table = Table::new();
    let mut one = connect(&table.dir).await.unwrap();
    let mut two = connect(&table.dir).await.unwrap();
    assert_eq!(one.handle.snapshot(), two.handle.snapshot());
    assert_eq!(*one.handle.snapshot(), of(&table.dir, snapshot(1, vec![row(1), row(2)])));
    assert_eq!(one.welcome.host_pid, std::process::id());
    let before = one.handle.snapshot();
    let rows = &table.host.snapshots.borrow().rows.clone();
    let mut next =
        of(&table.dir, snapshot(2, vec![row(1), end(row(2), Outcome::Done, ""), row(3)]));
    next.rows[0] = Arc::clone(&rows[0]);
    // An agent's task stays the same thing while its row changes.
    Arc::make_mut(&mut next.rows[1]).task = Arc::clone(&rows[1].task);
    table.show(next.clone());
    for client in [&mut one, &mut two] {
        let seen = until(&mut client.handle, |seen| seen.revision == 2).await;
        assert_eq!(*seen, next);
    }
    let after = one.handle.snapshot();
    assert!(Arc::ptr_eq(&before.rows[0], &after.rows[0]));
    assert!(!Arc::ptr_eq(&before.rows[1], &after.rows[1]));
    assert!(Arc::ptr_eq(&before.rows[1].task, &after.rows[1].task));
}

#[tokio::test]
async fn a_snapshot_of_any_size_comes_in_lines_of_bounded_size() {
    let first = large(1, 50, 40_000);
    let table = Table::with(first.clone(), STAY);
    let mut raw = table.greeted().await;
    let (mut rebuild, mut lines) = (Rebuild::default(), 0);
    loop {
        let line = raw.line().await.unwrap();
        assert!(line.len() < 400_000, "{}", line.len());
        lines += 1;
        let line: ServerLine = serde_json::from_slice(&line).unwrap();
        if let Some(whole) = rebuild.take(line.change.unwrap()).unwrap() {
            assert_eq!(whole, of(&table.dir, first));
            break;
        }
    }
    assert!(lines > 5, "{lines}");
}

#[tokio::test]
async fn what_is_asked_reaches_the_host_with_what_is_given_and_the_reply_comes_back() {
    let mut table = Table::new();
    let client = connect(&table.dir).await.unwrap();
    let one = BTreeMap::from([("KEY".to_owned(), "it's \"so\"\n".to_owned())]);
    let given = Given { environment: Some(one.clone()), values: vec![one] };
    let submission = crate::core::Submission {
        id: crate::core::BatchId::from_bits(1),
        tasks: vec![row(1).task.as_ref().clone()],
        origin: None,
        inside: None,
    };
    let queued = Reply::Queued(submission.id.clone(), vec![AgentId(1)]);
    let (told, asked) = tokio::join!(
        client.handle.submit(submission.clone(), given.clone()),
        table.answer(queued.clone())
    );
    assert_eq!((told, asked), (Ok(queued), (Command::Submit(submission), given)));
    let cap = Command::SetCap(Some(NanoUsd::from_dollars(3)));
    let (told, asked) = tokio::join!(client.handle.send(cap.clone()), table.answer(Reply::Done(0)));
    assert_eq!((told, asked), (Ok(Reply::Done(0)), (cap, Given::default())));
}

#[tokio::test]
async fn more_tasks_than_a_line_takes_are_refused_and_the_client_stays() {
    let mut table = Table::new();
    let client = connect(&table.dir).await.unwrap();
    let mut task = row(1).task.as_ref().clone();
    task.text = "x".repeat(CLIENT_LINE_BYTES);
    let edit = Command::Edit(AgentId(1), Box::new(task));
    let told = client.handle.send(edit).await;
    assert!(matches!(&told, Ok(Reply::Refused(why)) if why.0.contains("fewer tasks")), "{told:?}");
    let (told, _) = tokio::join!(client.handle.send(Command::Hold), table.answer(Reply::Done(0)));
    assert_eq!(told, Ok(Reply::Done(0)));
}

#[tokio::test]
async fn a_late_reply_keeps_no_other_waiting() {
    let mut table = Table::new();
    let client = connect(&table.dir).await.unwrap();
    let handle = client.handle.clone();
    let slow = tokio::spawn(async move { handle.send(Command::Hold).await });
    let late = table.host.commands.recv().await.unwrap();
    let (told, _) =
        tokio::join!(client.handle.send(Command::Release), table.answer(Reply::Done(2)));
    assert_eq!(told, Ok(Reply::Done(2)));
    late.reply.send(Reply::Done(1)).unwrap();
    assert_eq!(slow.await.unwrap(), Ok(Reply::Done(1)));
}

/// As with a fleet in the same process: whoever is told that something was done can look at it.
#[tokio::test]
async fn what_a_reply_tells_of_is_seen_before_it() {
    let mut table = Table::with(large(1, 40, 50_000), STAY);
    let client = connect(&table.dir).await.unwrap();
    for revision in 2..6 {
        let host = async {
            let asked = table.host.commands.recv().await.unwrap();
            table.show(large(revision, 40, 50_000));
            asked.reply.send(Reply::Done(0)).unwrap();
        };
        let (told, ()) = tokio::join!(client.handle.send(Command::Hold), host);
        assert_eq!((told, client.handle.snapshot().revision), (Ok(Reply::Done(0)), revision));
    }
}

/// A client takes no more of the host than its share, so the other's command is next as soon as there is room.
#[tokio::test]
async fn a_client_that_floods_the_host_cannot_starve_another() {
    let mut table = Table::new();
    let mut flood = table.greeted().await;
    for id in 0..400 {
        flood.write(format!("{{\"ask\":{{\"id\":{id},\"command\":\"hold\"}}}}\n").as_bytes()).await;
    }
    let client = connect(&table.dir).await.unwrap();
    let ask = client.handle.send(Command::Release);
    let host = async {
        for before in 0.. {
            if table.answer(Reply::Done(0)).await.0 == Command::Release {
                return before;
            }
        }
        0
    };
    let (told, before) = tokio::join!(ask, host);
    assert_eq!(told, Ok(Reply::Done(0)));
    assert!(before < 200, "{before} commands of the other came before it");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_dropped_and_told_while_another_is_served() {
    let table = Table::with(large(1, 40, 100_000), STAY);
    let mut slow = table.greeted().await;
    let mut other = connect(&table.dir).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    table.show(large(2, 3, 10));
    until(&mut other.handle, |seen| seen.revision == 2).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let last = slow.last().await;
    let why = last.dropped.expect("the last line says why");
    assert!(why.contains("nothing was read for 30 seconds"), "{why}");
    table.show(large(3, 3, 10));
    until(&mut other.handle, |seen| seen.revision == 3).await;
}

/// It reads too slowly for each of 300 snapshots and is sent few of them, the last one for certain.
#[tokio::test]
async fn a_slow_client_is_told_the_newest_and_not_all_in_between() {
    let table = Table::with(large(1, 20, 50_000), STAY);
    let mut slow = table.greeted().await;
    for revision in 2..=300 {
        table.show(large(revision, 20, 50_000));
        tokio::task::yield_now().await;
    }
    let (mut rebuild, mut whole) = (Rebuild::default(), 0);
    loop {
        let line: ServerLine = serde_json::from_slice(&slow.line().await.unwrap()).unwrap();
        if let Some(snapshot) = rebuild.take(line.change.unwrap()).unwrap() {
            whole += 1;
            if snapshot.revision == 300 {
                break;
            }
        }
    }
    assert!(whole < 100, "{whole} snapshots were sent");
}

#[tokio::test]
async fn garbage_and_lines_without_end_are_told_and_closed() {
    let table = Table::new();
    for (garbage, why) in [
        (b"{\"ask\":7}\n".to_vec(), "no message"),
        (b"GET / HTTP/1.1\r\n".to_vec(), "no message"),
        (b"\xff\xfe\n".to_vec(), "no message"),
        (vec![b'x'; CLIENT_LINE_BYTES + 200_000], "too much"),
    ] {
        let mut raw = table.greeted().await;
        raw.write(&garbage).await;
        let last = raw.last().await.dropped.expect("the last line says why");
        assert!(last.contains(why), "{last}");
    }
    let mut raw = table.raw().await;
    raw.write(b"hello?\n").await;
    let refused = raw.greeting().await.refused.unwrap();
    assert!(refused.contains("no greeting"), "{refused}");
    connect(&table.dir).await.expect("others are served as before");
}

/// What a later program of the same protocol adds is ignored.
#[tokio::test]
async fn messages_and_keys_that_are_not_known_are_ignored() {
    let mut table = Table::new();
    let mut raw = table.raw().await;
    raw.write(b"{\"fleet_control\":1,\"version\":\"0.1.9\",\"colour\":\"blue\"}\n").await;
    assert!(raw.greeting().await.welcome.is_some());
    raw.write(b"{\"wave\":{\"id\":1}}\n{\"ask\":{\"id\":9,\"command\":\"dance\"}}\n").await;
    raw.write(b"{\"ask\":{\"id\":3,\"command\":\"hold\",\"loud\":true},\"more\":1}\n").await;
    assert_eq!(table.answer(Reply::Done(0)).await.0, Command::Hold);
    let mut answers = BTreeMap::new();
    while answers.len() < 2 {
        let line: ServerLine = serde_json::from_slice(&raw.line().await.unwrap()).unwrap();
        answers.extend(line.reply.map(|Answered { id, reply }| (id, reply)));
    }
    assert_eq!(answers[&3], Reply::Done(0));
    assert!(matches!(&answers[&9], Reply::Refused(why) if why.0.contains("does not know")));

    let change = r#"{"change":{"sparkle":1,"rows":[],"rest":{"revision":7,"at":5,"mood":2,"header":HEADER}},"news":3}"#;
    let header = serde_json::to_string(&snapshot(7, Vec::new()).header).unwrap();
    let line: ServerLine = serde_json::from_str(&change.replace("HEADER", &header)).unwrap();
    let whole = Rebuild::default().take(line.change.unwrap()).unwrap().unwrap();
    assert_eq!(whole.revision, 7);
}

#[tokio::test]
async fn an_old_client_and_a_new_host_part_with_one_sentence_and_the_reverse() {
    let table = Table::new();
    let mut raw = table.raw().await;
    raw.write(b"{\"fleet_control\":2,\"version\":\"0.3.0\"}\n").await;
    let refused = raw.greeting().await.refused.unwrap();
    assert_eq!(
        refused,
        "this fleet's host speaks protocol 1 (Fleet 0.1.0), this is Fleet 0.3.0 with protocol 2: use that version, or \
         wait until its agents have ended"
    );
    assert_eq!(raw.line().await, None);

    let temp = tempfile::tempdir().unwrap();
    let dir = fleet_in(temp.path());
    let newer = tokio::net::UnixListener::bind(dir.path().join("control.sock")).unwrap();
    let host = async {
        let (stream, _) = newer.accept().await.unwrap();
        let mut raw = Raw { socket: Socket::new(stream).unwrap(), reader: LineReader::new() };
        raw.write(b"{\"fleet_control\":2,\"version\":\"0.3.0\",\"salve\":[]}\n").await;
        pending::<()>().await;
    };
    let error = tokio::select! {
        error = connect(&dir) => error.unwrap_err(),
        () = host => unreachable!(),
    };
    assert!(matches!(error, ConnectError::Version(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "this fleet's host speaks protocol 2 (Fleet 0.3.0), this is Fleet 0.1.0 with protocol 1: use that version, or \
         wait until its agents have ended"
    );
}

/// A client says inside of which agent it runs, and the host takes it at its word.
#[tokio::test]
async fn a_client_inside_of_an_agent_decides_nothing_about_the_fleet() {
    let table = Table::new();
    let mut raw = table.raw().await;
    raw.write(b"{\"fleet_control\":1,\"version\":\"0.1.9\",\"inside\":\"k3f.00/7\"}\n").await;
    assert!(raw.greeting().await.welcome.is_some());
    raw.write(b"{\"ask\":{\"id\":4,\"command\":\"hold\"}}\n").await;
    let answered = loop {
        let line: ServerLine = serde_json::from_slice(&raw.line().await.unwrap()).unwrap();
        if let Some(answered) = line.reply {
            break answered;
        }
    };
    assert_eq!(answered.id, 4);
    assert!(matches!(&answered.reply, Reply::Refused(why) if why.0.contains("inside agent k3f/7")));
}

#[tokio::test]
async fn one_client_too_many_is_told_so() {
    let table = Table::new();
    let mut clients = Vec::new();
    for _ in 0..64 {
        clients.push(connect(&table.dir).await.unwrap());
    }
    let error = connect(&table.dir).await.unwrap_err();
    assert!(error.to_string().contains("64 clients already"), "{error}");
    clients.pop();
    let deadline = tokio::time::timeout(Duration::from_mins(1), async {
        while connect(&table.dir).await.is_err() {
            tokio::task::yield_now().await;
        }
    });
    deadline.await.expect("there is room again");
}

#[tokio::test]
async fn a_client_killed_within_a_line_is_as_if_it_had_not_begun_it() {
    let mut table = Table::new();
    let mut raw = table.greeted().await;
    raw.write(b"{\"ask\":{\"id\":1,\"command\":{\"stop\":null}}}").await;
    drop(raw);
    let client = connect(&table.dir).await.unwrap();
    let (told, (command, _)) =
        tokio::join!(client.handle.send(Command::Hold), table.answer(Reply::Done(0)));
    assert_eq!((told, command), (Ok(Reply::Done(0)), Command::Hold));
}

#[tokio::test]
async fn a_client_is_told_when_the_host_has_gone() {
    let Table { temp: _temp, dir, host, serving } = Table::new();
    let mut client = connect(&dir).await.unwrap();
    drop(host);
    serving.await.unwrap();
    while client.handle.changed().await.is_ok() {}
    assert!(client.handle.send(Command::Hold).await.is_err());
    let error = connect(&dir).await.unwrap_err();
    assert!(error.is_passing(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_host_stays_for_clients_and_for_work_and_then_its_time() {
    let start = tokio::time::Instant::now();
    let table = Table::new();
    tokio::time::sleep(Duration::from_mins(10)).await;
    let client = connect(&table.dir).await.unwrap();
    assert_eq!(client.welcome.away_since, None);
    table.show(snapshot(2, vec![end(row(1), Outcome::Done, "")]));
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(!table.serving.is_finished(), "somebody is there");
    drop(client);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let client = connect(&table.dir).await.unwrap();
    assert!(client.welcome.away_since.is_some());
    let second = connect(&table.dir).await.unwrap();
    assert_eq!(second.welcome.away_since, None, "somebody is there");
    assert_eq!(table.dir.left_at(), None, "somebody is there");
    drop((client, second));
    let dir = table.dir.clone();
    table.serving.await.unwrap();
    assert!(
        dir.left_at().is_some(),
        "the next host's first screen hears since when nobody was there"
    );
    let lived = start.elapsed();
    let whole = Duration::from_mins(20) + Duration::from_secs(50);
    assert!(lived >= whole && lived < whole + Duration::from_secs(2), "{lived:?}");
}

/// What a program that was never let in knocks at is not what the owner has seen.
#[tokio::test]
async fn only_who_is_welcomed_hears_since_when_nobody_was_there() {
    let temp = tempfile::tempdir().unwrap();
    let dir = fleet_in(temp.path());
    dir.note_left(Moment(7)).unwrap();
    let table = Table::at(temp, dir, snapshot(1, vec![row(1)]), STAY);
    let mut later = table.raw().await;
    later
        .say(&Hello { fleet_control: PROTOCOL + 1, version: "9.9.9".to_owned(), ..Hello::own() })
        .await;
    assert!(later.greeting().await.refused.is_some());
    let mut probe = table.raw().await;
    probe.write(b"GET / HTTP/1.1\n").await;
    assert!(probe.greeting().await.refused.is_some());
    let _silent = table.raw().await;
    assert_eq!(table.dir.left_at(), Some(Moment(7)), "nobody was let in");
    let client = connect(&table.dir).await.unwrap();
    assert_eq!(client.welcome.away_since, Some(Moment(7)));
    assert_eq!(table.dir.left_at(), None, "somebody is there");
    let second = connect(&table.dir).await.unwrap();
    assert_eq!(second.welcome.away_since, None, "somebody is there");
}

/// `fleet show` and the like must not take from the next screen what ended while nobody was there.
#[tokio::test]
async fn a_command_in_passing_leaves_since_when_nobody_was_there_as_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let dir = fleet_in(temp.path());
    dir.note_left(Moment(7)).unwrap();
    let table = Table::at(temp, dir, snapshot(1, vec![row(1)]), STAY);
    let passing = connect_in_passing(&table.dir).await.unwrap();
    assert_eq!(passing.handle.snapshot().rows.len(), 1);
    assert_eq!(table.dir.left_at(), Some(Moment(7)));
    drop(passing);
    let client = connect(&table.dir).await.unwrap();
    assert_eq!(client.welcome.away_since, Some(Moment(7)));
    assert_eq!(table.dir.left_at(), None, "somebody is there");
}

#[tokio::test(start_paused = true)]
async fn a_held_queue_keeps_no_host_and_one_that_can_start_does() {
    let mut queued = row(1);
    queued.status = Status::Queued;
    let mut held = snapshot(1, vec![queued.clone()]);
    held.header.idle = true;
    let table = Table::with(snapshot(1, vec![queued]), STAY);
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(!table.serving.is_finished());
    table.show(held);
    tokio::time::sleep(Duration::from_secs(31)).await;
    table.serving.await.unwrap();
}

/// It takes no more tasks, and whoever comes next must not be led to it.
#[tokio::test(start_paused = true)]
async fn the_host_of_an_interrupted_fleet_goes_as_soon_as_nobody_is_there() {
    let mut over = snapshot(1, vec![end(row(1), Outcome::Interrupted, "")]);
    over.header.interrupted = Some("SIGINT".to_owned());
    let table = Table::with(over, STAY);
    let client = connect(&table.dir).await.unwrap();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(!table.serving.is_finished());
    let left = tokio::time::Instant::now();
    drop(client);
    table.serving.await.unwrap();
    assert!(left.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_is_only_there_to_be_watched_goes_with_its_watcher() {
    let stay = Stay { is_ephemeral: true, ..STAY };
    let table = Table::with(snapshot(1, vec![row(1)]), stay);
    tokio::time::sleep(Duration::from_secs(9)).await;
    let client = connect(&table.dir).await.unwrap();
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(!table.serving.is_finished());
    drop(client);
    table.serving.await.unwrap();
    let unseen = Table::with(snapshot(1, vec![row(1)]), stay);
    tokio::time::sleep(Duration::from_secs(11)).await;
    unseen.serving.await.unwrap();
}

#[tokio::test]
async fn a_path_that_is_too_long_for_a_socket_is_reached_all_the_same() {
    let temp = tempfile::tempdir().unwrap();
    let deep = temp.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let dir = fleet_in(&deep);
    let table = Table::at(temp, dir, snapshot(1, vec![row(1)]), STAY);
    connect(&table.dir).await.unwrap();
    assert!(table.temp.path().exists());
}

#[tokio::test]
async fn what_a_dead_host_left_is_no_hindrance_and_nor_is_a_fleet_file_that_cannot_be_written() {
    let temp = tempfile::tempdir().unwrap();
    let dir = fleet_in(temp.path());
    drop(std::os::unix::net::UnixListener::bind(dir.path().join("control.sock")).unwrap());
    let error = connect(&dir).await.unwrap_err();
    assert!(matches!(error, ConnectError::Nobody(_)), "{error:?}");
    let file = std::fs::read(dir.fleet_file()).unwrap();
    let table = Table::at(temp, dir, snapshot(1, vec![row(1)]), STAY);
    std::fs::write(table.dir.fleet_file(), file).unwrap();
    connect(&table.dir).await.unwrap();
}

/// The next host may listen before the last one has let go, if that one failed.
#[tokio::test]
async fn a_host_that_goes_late_leaves_the_socket_of_the_next_one_alone() {
    let temp = tempfile::tempdir().unwrap();
    let dir = fleet_in(temp.path());
    let last = Listener::bind(&dir).unwrap();
    let next = Listener::bind(&dir).unwrap();
    let named = || dir.read_file().unwrap().socket;
    let path = named().unwrap();
    drop(last);
    assert_eq!(named().as_deref(), Some(path.as_path()));
    assert!(path.exists());
    drop(next);
    assert_eq!((named(), path.exists()), (None, false));
}

#[tokio::test]
async fn a_place_that_cannot_be_used_does_not_hide_the_next_one() {
    let table = Table::new();
    let file = table.dir.read_file().unwrap();
    let real = file.socket.clone().unwrap();
    let looped = table.temp.path().join("loop");
    std::os::unix::fs::symlink(&looped, &looped).unwrap();
    let misled = crate::journal::FleetFile { socket: Some(looped), ..file };
    table.dir.write_file(&misled).unwrap();
    connect(&table.dir).await.expect("it listens in the usual place");
    std::fs::remove_file(real).unwrap();
    let error = connect(&table.dir).await.unwrap_err();
    assert!(matches!(error, ConnectError::System { .. }), "{error:?}");
}

#[tokio::test]
async fn tasks_with_one_long_context_are_as_many_as_one_likes() {
    let mut table = Table::new();
    let client = connect(&table.dir).await.unwrap();
    let mut task = row(1).task.as_ref().clone();
    task.context = Some("x".repeat(CLIENT_LINE_BYTES / 8));
    let tasks = vec![task; 20];
    let batch = crate::core::BatchId::from_bits(1);
    let submission = crate::core::Submission { id: batch, tasks, origin: None, inside: None };
    let submit = Command::Submit(submission);
    let done = Reply::Done(0);
    let (told, (asked, _)) =
        tokio::join!(client.handle.send(submit.clone()), table.answer(done.clone()));
    assert_eq!((told, asked == submit), (Ok(done), true));
}

#[tokio::test]
async fn the_host_of_another_fleet_is_not_taken_for_this_ones() {
    let table = Table::new();
    let other = FleetDir::new(table.dir.path().to_owned(), FleetId("zzz".to_owned()));
    let error = connect(&other).await.unwrap_err();
    assert!(matches!(error, ConnectError::Strange { .. }), "{error:?}");
}

#[test]
fn a_change_that_does_not_follow_is_refused() {
    let change = |rows: Vec<Row>, same_task: Vec<AgentId>| Change {
        more: true,
        rows: rows.into_iter().map(Arc::new).collect(),
        same_task,
        rest: None,
    };
    let mut rebuild = Rebuild::default();
    assert!(rebuild.take(change(vec![row(2)], Vec::new())).is_err(), "a row is missing");
    assert!(rebuild.take(change(vec![row(1)], vec![AgentId(1)])).is_err(), "there is no task");
    assert_eq!(rebuild.take(change(vec![row(1), row(2)], Vec::new())), Ok(None));
}

/// What is given is a secret.
#[test]
fn what_is_given_is_never_shown() {
    let one = BTreeMap::from([("KEY".to_owned(), "staple".to_owned())]);
    let given = Given { environment: Some(one.clone()), values: vec![one] };
    assert!(!format!("{given:?}").contains("staple"));
}
