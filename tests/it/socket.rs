//! The host in the background and its clients: the real binary behind the library's own client.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loki_fleet::adapters::task;
use loki_fleet::control::Connected;
use loki_fleet::core::{
    AgentId, BatchId, Command, FleetOptions, Hold, NanoUsd, Outcome, Reply, Snapshot, Status,
    Submission, Task,
};
use loki_fleet::journal::{FleetDir, HostLock, StateDir};
use loki_fleet::runtime::{FleetHandle, Given};
use loki_fleet::start::{Connector, StartError, find_or_make};
use loki_fleet::supervise::Launcher;
use rustix::process::Signal;

use crate::harness::{GENEROUS, Pid, World, wait_until};

/// How long hosts stay that a test does not want to see go.
const LONG: Duration = Duration::from_mins(10);

/// A program that starts the binary in this world's environment, whatever the tester's own is.
fn launcher(world: &World) -> Launcher {
    let mut args = vec!["-i".into()];
    args.extend(world.variables().iter().map(|(name, value)| format!("{name}={value}").into()));
    args.push(env!("CARGO_BIN_EXE_fleet").into());
    Launcher::new("/usr/bin/env", args)
}

fn state(world: &World) -> StateDir {
    StateDir::open(Some(&world.state())).unwrap()
}

fn new_fleet(world: &World, options: FleetOptions) -> FleetDir {
    find_or_make(&state(world), &world.work(), options, Vec::new(), true).unwrap().dir
}

fn connector(world: &World, dir: &FleetDir, linger: Duration) -> Connector {
    Connector::new(&state(world), dir.clone(), launcher(world)).lingering(linger)
}

async fn join(world: &World, dir: &FleetDir) -> Connected {
    connector(world, dir, LONG).connect(|_| ()).await.unwrap()
}

fn shell(world: &World, text: &str) -> Task {
    task("sh", text, &world.work()).unwrap()
}

/// Says that it runs, waits for the word, ends with its own code.
fn waits(world: &World, number: u32) -> Task {
    let text = format!("echo {number} >> ran; until [ -e go ]; do sleep 0.05; done");
    shell(world, &text)
}

fn batch(number: u32, tasks: Vec<Task>) -> Submission {
    Submission { id: BatchId::from_bits(number), tasks, origin: None, inside: None }
}

async fn submit(handle: &FleetHandle, number: u32, tasks: Vec<Task>) {
    let reply = handle.submit(batch(number, tasks), Given::default()).await;
    assert!(matches!(reply, Ok(Reply::Queued(..))), "{reply:?}");
}

async fn until(handle: &mut FleetHandle, is_so: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let wait = async {
        while !is_so(&handle.snapshot()) {
            handle.changed().await.unwrap();
        }
    };
    let is_shown = tokio::time::timeout(GENEROUS, wait).await.is_ok();
    assert!(is_shown, "it is never shown: {:#?}", handle.snapshot());
    handle.snapshot()
}

async fn until_gone(handle: &mut FleetHandle) {
    let wait = async { while handle.changed().await.is_ok() {} };
    tokio::time::timeout(GENEROUS, wait).await.expect("the connection ends");
}

/// Lets go of a connection, and waits until it is closed.
async fn leave(client: Connected) {
    let Connected { handle, mut farewell, .. } = client;
    drop(handle);
    while farewell.changed().await.is_ok() {}
}

fn statuses(snapshot: &Snapshot) -> Vec<Status> {
    snapshot.rows.iter().map(|row| row.status).collect()
}

fn done(snapshot: &Snapshot) -> bool {
    snapshot.header.all_done && !snapshot.rows.is_empty()
}

const DONE: Status = Status::Ended(Outcome::Done);

#[tokio::test]
async fn a_fleet_is_driven_through_the_socket_as_if_it_were_here() {
    let world = World::new();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let dir = new_fleet(&world, options);
    let mut one = join(&world, &dir).await;
    let mut two = join(&world, &dir).await;
    assert_eq!(one.welcome.host_pid, two.welcome.host_pid);
    submit(&one.handle, 1, vec![waits(&world, 1), waits(&world, 2), waits(&world, 3)]).await;
    let held = one.handle.send(Command::Hold).await;
    assert_eq!(held, Ok(Reply::Done(0)));
    let cap = Some(NanoUsd::from_dollars(7));
    two.handle.send(Command::SetCap(cap)).await.unwrap();
    let seen = until(&mut two.handle, |seen| seen.rows[0].status == Status::Running).await;
    assert_eq!(seen.rows.len(), 3);
    let seen = until(&mut one.handle, |seen| seen.header.cap == cap).await;
    assert_eq!(seen.header.hold, Some(Hold::Owner));
    world.wait_lines("ran", 1);
    let stopped = two.handle.send(Command::Stop(Some(vec![AgentId(1), AgentId(2)]))).await;
    assert_eq!(stopped, Ok(Reply::Done(2)));
    one.handle.send(Command::Release).await.unwrap();
    world.wait_lines("ran", 2);
    std::fs::write(world.file("go"), "").unwrap();
    let cancelled = Status::Ended(Outcome::Cancelled);
    for client in [&mut one, &mut two] {
        let last = until(&mut client.handle, done).await;
        assert_eq!(statuses(&last), [cancelled, cancelled, DONE]);
    }
    assert_eq!(world.lines("ran"), ["1", "3"]);
    world.end_fleets();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_client_gives_reaches_its_agents_and_no_file() {
    let world = World::new();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let dir = new_fleet(&world, options);
    let mut client = join(&world, &dir).await;
    let mut environment: BTreeMap<String, String> = world.variables().into_iter().collect();
    environment.insert("OF_CLIENT".to_owned(), "orange-staple".to_owned());
    environment.insert("FLEET_AGENT".to_owned(), "outer/1".to_owned());
    environment.insert("FLEET_TOKEN".to_owned(), "outer".to_owned());
    let values = BTreeMap::from([("GIVEN".to_owned(), "purple-pencil".to_owned())]);
    let says = "until [ -e go ]; do sleep 0.05; done; echo $OF_CLIENT $GIVEN ${FLEET_AGENT%.*}/${FLEET_AGENT#*/} $FLEET_TOKEN >> said; exit $CODE";
    let mut tasks = vec![shell(&world, says); 2];
    tasks[1].env_stored = vec!["GIVEN".to_owned()];
    environment.insert("CODE".to_owned(), "3".to_owned());
    let given = Given { environment: Some(environment), values: vec![BTreeMap::new(), values] };
    client.handle.submit(batch(1, tasks), given).await.unwrap();
    until(&mut client.handle, |seen| seen.rows[0].status == Status::Running).await;
    let stored = world.agent_folder(2).join("env.json");
    assert_eq!(world.state_files_with("purple-pencil"), [stored], "while its agent waits");
    assert_eq!(world.state_files_with("orange-staple"), Vec::<PathBuf>::new());
    std::fs::write(world.file("go"), "").unwrap();
    until(&mut client.handle, done).await;
    // A retry gets the environment of its original.
    let retry = Command::Retry(BatchId::from_bits(2), vec![AgentId(1)]);
    let reply = client.handle.send(retry).await;
    assert!(matches!(reply, Ok(Reply::Queued(..))), "{reply:?}");
    let last = until(&mut client.handle, |seen| seen.rows.len() == 3 && done(seen)).await;
    assert_eq!(statuses(&last), [Status::Ended(Outcome::Failed); 3]);
    let id = dir.id();
    let said = [
        format!("orange-staple {id}/1"),
        format!("orange-staple purple-pencil {id}/2"),
        format!("orange-staple {id}/3"),
    ];
    assert_eq!(world.lines("said"), said);
    assert_eq!(world.state_files_with("purple-pencil"), Vec::<PathBuf>::new());
    assert_eq!(world.state_files_with("orange-staple"), Vec::<PathBuf>::new());
    world.end_fleets();
}

#[tokio::test]
async fn values_wait_for_a_later_host_and_an_agent_never_runs_without_them() {
    let world = World::new();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let dir = new_fleet(&world, options);
    let mut client = join(&world, &dir).await;
    let mut tasks = vec![waits(&world, 1), shell(&world, "echo $GIVEN >> said"), waits(&world, 3)];
    for task in &mut tasks[1..] {
        task.env_stored = vec!["GIVEN".to_owned()];
    }
    let value = BTreeMap::from([("GIVEN".to_owned(), "pencil".to_owned())]);
    let values = vec![BTreeMap::new(), value.clone(), value];
    client.handle.submit(batch(1, tasks), Given { environment: None, values }).await.unwrap();
    world.wait_lines("ran", 1);
    Pid(client.welcome.host_pid).signal(Signal::KILL);
    until_gone(&mut client.handle).await;
    std::fs::remove_file(world.agent_folder(3).join("env.json")).unwrap();
    std::fs::write(world.file("go"), "").unwrap();
    let mut client = join(&world, &dir).await;
    let last = until(&mut client.handle, done).await;
    assert_eq!(statuses(&last), [DONE, DONE, Status::Ended(Outcome::Failed)]);
    let error = &last.rows[2].end.as_ref().unwrap().error;
    assert!(error.contains("--env GIVEN is not known any more"), "{error}");
    assert_eq!((world.lines("said"), world.lines("ran").len()), (vec!["pencil".to_owned()], 1));
    world.end_fleets();
}

#[tokio::test]
async fn a_killed_host_is_gone_for_its_clients_and_the_next_adopts_its_agents() {
    let world = World::new();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let dir = new_fleet(&world, options);
    let mut client = join(&world, &dir).await;
    submit(&client.handle, 1, vec![waits(&world, 1), waits(&world, 2)]).await;
    world.wait_lines("ran", 1);
    Pid(client.welcome.host_pid).signal(Signal::KILL);
    until_gone(&mut client.handle).await;
    assert!(client.handle.send(Command::Hold).await.is_err());
    let mut again = join(&world, &dir).await;
    assert_ne!(again.welcome.host_pid, client.welcome.host_pid);
    let seen = until(&mut again.handle, |seen| seen.rows[0].status == Status::Running).await;
    assert_eq!((seen.header.kpis.queued, &seen.header.hold), (1, &None));
    std::fs::write(world.file("go"), "").unwrap();
    let last = until(&mut again.handle, done).await;
    assert_eq!(statuses(&last), [DONE, DONE]);
    assert_eq!(world.lines("ran"), ["1", "2"], "each ran once");
    world.end_fleets();
}

#[tokio::test]
async fn a_queue_that_went_through_a_restart_of_the_machine_waits_for_the_owner() {
    let world = World::new();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let dir = new_fleet(&world, options);
    let mut client = join(&world, &dir).await;
    submit(&client.handle, 1, vec![waits(&world, 1), waits(&world, 2)]).await;
    world.wait_lines("ran", 1);
    Pid(client.welcome.host_pid).signal(Signal::KILL);
    until_gone(&mut client.handle).await;
    let mut file = dir.read_file().unwrap();
    file.boot_id = "another".to_owned();
    dir.write_file(&file).unwrap();
    std::fs::write(world.file("go"), "").unwrap();
    let is_held = |seen: &Snapshot| {
        seen.rows[0].status == DONE && matches!(seen.header.hold, Some(Hold::Back(_)))
    };
    let mut client = join(&world, &dir).await;
    let seen = until(&mut client.handle, is_held).await;
    // It stays so for the next host, which finds nothing old any more.
    Pid(client.welcome.host_pid).signal(Signal::KILL);
    until_gone(&mut client.handle).await;
    let mut client = join(&world, &dir).await;
    let again = until(&mut client.handle, is_held).await;
    assert_eq!(again.header.hold, seen.header.hold);
    assert_eq!(world.lines("ran").len(), 1);
    client.handle.send(Command::Release).await.unwrap();
    let last = until(&mut client.handle, done).await;
    assert_eq!(statuses(&last), [DONE, DONE]);
    world.end_fleets();
}

#[tokio::test]
async fn what_the_owner_holds_stays_held_after_its_host_has_gone() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let short = connector(&world, &dir, Duration::ZERO);
    let client = short.connect(|_| ()).await.unwrap();
    client.handle.send(Command::Hold).await.unwrap();
    submit(&client.handle, 1, vec![shell(&world, "echo 1 >> ran")]).await;
    let host = Pid(client.welcome.host_pid);
    leave(client).await;
    host.wait_gone("the host of a held fleet");
    let mut client = join(&world, &dir).await;
    let seen = client.handle.snapshot();
    assert_eq!((&seen.header.hold, seen.header.kpis.queued), (&Some(Hold::Owner), 1));
    client.handle.send(Command::Release).await.unwrap();
    until(&mut client.handle, done).await;
    world.end_fleets();
}

#[tokio::test]
async fn a_host_goes_when_nobody_needs_it_and_takes_an_empty_fleet_with_it() {
    let world = World::new();
    let empty = new_fleet(&world, FleetOptions::default());
    let client = connector(&world, &empty, Duration::ZERO).connect(|_| ()).await.unwrap();
    let (host, socket) = (Pid(client.welcome.host_pid), empty.read_file().unwrap().socket.unwrap());
    assert!(host.lives() && socket.exists());
    assert!(socket.starts_with(world.state().parent().unwrap().parent().unwrap().join("run")));
    leave(client).await;
    host.wait_gone("the host of an empty fleet");
    wait_until("the empty fleet is gone", GENEROUS, || {
        if empty.path().exists() { Err("it is there".to_owned()) } else { Ok(()) }
    });
    assert!(!socket.exists());
    let error = connector(&world, &empty, LONG).connect(|_| ()).await.unwrap_err();
    assert!(matches!(error, StartError::Gone(_)), "{error:?}");

    let used = new_fleet(&world, FleetOptions::default());
    let client = connector(&world, &used, Duration::ZERO).connect(|_| ()).await.unwrap();
    submit(&client.handle, 1, vec![waits(&world, 1)]).await;
    let host = Pid(client.welcome.host_pid);
    leave(client).await;
    world.wait_lines("ran", 1);
    assert!(host.lives(), "an agent runs");
    std::fs::write(world.file("go"), "").unwrap();
    host.wait_gone("the host whose last agent ended");
    assert!(used.path().exists());
    assert_eq!(used.read_file().unwrap().socket, None);
    let mut client = join(&world, &used).await;
    let last = until(&mut client.handle, done).await;
    assert_eq!(statuses(&last), [DONE]);
    world.end_fleets();
}

#[tokio::test]
async fn a_host_gives_signs_of_life_while_agents_say_nothing() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let mut client = join(&world, &dir).await;
    submit(&client.handle, 1, vec![waits(&world, 1)]).await;
    world.wait_lines("ran", 1);
    let first = until(&mut client.handle, |seen| seen.rows[0].status == Status::Running).await;
    let later = first.at.after(Duration::from_secs(3));
    until(&mut client.handle, |seen| seen.at >= later).await;
    std::fs::write(world.file("go"), "").unwrap();
    until(&mut client.handle, done).await;
    world.end_fleets();
}

#[tokio::test]
async fn clients_that_come_at_one_moment_find_one_host() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let mut coming = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let connector = connector(&world, &dir, LONG);
        coming.spawn(async move { connector.connect(|_| ()).await });
    }
    let mut hosts = Vec::new();
    let mut clients = Vec::new();
    while let Some(client) = coming.join_next().await {
        let client = client.unwrap().unwrap();
        hosts.push(client.welcome.host_pid);
        clients.push(client);
    }
    hosts.dedup();
    assert_eq!(hosts.len(), 1, "{hosts:?}");
    let log = std::fs::read_to_string(dir.host_log()).unwrap();
    assert_eq!(log, "", "those that came too late say nothing");
    world.end_fleets();
}

#[tokio::test]
async fn a_host_that_cannot_start_says_why() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    std::fs::write(dir.journal(), "not a journal\n").unwrap();
    let error = connector(&world, &dir, LONG).connect(|_| ()).await.unwrap_err();
    assert!(matches!(error, StartError::Failed { .. }), "{error:?}");
    let sentence = error.to_string();
    assert!(sentence.contains("could not start: the journal"), "{sentence}");
}

#[tokio::test]
async fn a_host_that_takes_no_clients_is_said_to_be_one() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let _host = HostLock::take(&dir).unwrap();
    let said = std::sync::Mutex::new(Vec::new());
    let say = |text| said.lock().unwrap().push(text);
    let error = connector(&world, &dir, LONG).connect(say).await.unwrap_err();
    assert!(matches!(error, StartError::Closed { pid: Some(_), .. }), "{error:?}");
    let said = said.into_inner().unwrap();
    assert!(said.len() == 1 && said[0].starts_with("waiting for the fleet's host"), "{said:?}");
}

#[tokio::test]
async fn a_fleet_in_the_foreground_takes_clients_and_does_not_wait_for_them_at_its_end() {
    let world = World::new();
    let task = "echo 1 >> ran; until [ -e go ]; do sleep 0.05; done";
    let running = world.start(&["run", "--agent", "sh", "-j", "1", task, "echo 2 >> ran", "true"]);
    world.wait_lines("ran", 1);
    let dir = state(&world).find(&world.only_fleet()).unwrap();
    let mut client = connector(&world, &dir, LONG).connect(|_| ()).await.unwrap();
    assert_eq!(client.welcome.host_pid, running.pid().0);
    let reply = client.handle.send(Command::Remove(AgentId(2))).await;
    assert_eq!(reply, Ok(Reply::Done(1)));
    std::fs::write(world.file("go"), "").unwrap();
    until_gone(&mut client.handle).await;
    running.end().expect_code(1);
    assert_eq!(world.lines("ran"), ["1"], "the second one was taken out of the queue");
    world.assert_nothing_runs();
}

#[tokio::test]
async fn a_host_that_is_told_to_go_leaves_its_agents_running() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let mut client = join(&world, &dir).await;
    submit(&client.handle, 1, vec![waits(&world, 1)]).await;
    world.wait_lines("ran", 1);
    let host = Pid(client.welcome.host_pid);
    host.signal(Signal::HUP);
    client.handle.send(Command::Hold).await.expect("a hang-up is nothing to a host");
    host.signal(Signal::TERM);
    host.wait_gone("the host");
    until_gone(&mut client.handle).await;
    let log = std::fs::read_to_string(dir.host_log()).unwrap();
    assert!(log.contains("SIGTERM; agents go on"), "{log}");
    assert!(world.shim(1).lives());
    std::fs::write(world.file("go"), "").unwrap();
    let mut client = join(&world, &dir).await;
    let last = until(&mut client.handle, done).await;
    assert_eq!(statuses(&last), [DONE]);
    world.end_fleets();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_fleet_that_is_only_watched_leaves_nothing() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let client = connector(&world, &dir, LONG).ephemeral().connect(|_| ()).await.unwrap();
    submit(
        &client.handle,
        1,
        vec![waits(&world, 1), shell(&world, "trap '' TERM; echo 2 >> ran; sleep 1000")],
    )
    .await;
    world.wait_lines("ran", 2);
    let host = Pid(client.welcome.host_pid);
    leave(client).await;
    host.wait_gone("the host");
    world.assert_no_agent_runs_now();
    wait_until("the state folder is gone", GENEROUS, || {
        if world.state().exists() { Err(format!("{:?}", world.fleets())) } else { Ok(()) }
    });
    world.assert_nothing_runs();
}

/// A descriptor that a host kept would keep whoever waits for its end, such as the shell of `$(fleet …)`.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_keeps_nothing_of_whoever_started_it() {
    let world = World::new();
    let dir = new_fleet(&world, FleetOptions::default());
    let mut command = world.command("sh");
    let script = "exec 7> kept; exec \"$0\" host \"$1\" --state-dir \"$2\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_fleet"), &dir.id().0]).arg(world.state());
    let host = world.start_command(command);
    wait_until("the host listens", GENEROUS, || {
        let socket = dir.read_file().unwrap().socket;
        if socket.is_some() { Ok(()) } else { Err(host.stderr()) }
    });
    let client = join(&world, &dir).await;
    let pid = client.welcome.host_pid;
    assert_eq!(Pid(pid), host.pid());
    let kept: Vec<PathBuf> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter(|path| path.starts_with(world.work()) || path.ends_with("0.out"))
        .collect();
    assert_eq!(kept, Vec::<PathBuf>::new());
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), PathBuf::from("/"));
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap();
    assert_eq!(session, pid.to_string(), "it has a session of its own");
    assert_eq!(std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap(), "fleet-host\n");
}
