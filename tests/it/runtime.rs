//! The host inside this process: what the order of commands, records and starts does to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use loki_fleet::adapters::task;
use loki_fleet::core::{
    AgentId, Answer, BatchId, Command, FleetOptions, Moment, NanoUsd, Outcome, Reply, Status,
    Submission, Task,
};
use loki_fleet::journal::{Draft, FleetDir, StateDir};
use loki_fleet::runtime::{FleetHandle, Host, LocalFleet, Setup};
use loki_fleet::supervise::Launcher;
use tempfile::TempDir;

struct Folder {
    _temp: TempDir,
    dir: FleetDir,
}

fn folder(options: &FleetOptions) -> Folder {
    let temp = TempDir::new().unwrap();
    let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
    let draft = Draft {
        root: temp.path().to_owned(),
        options: options.clone(),
        argv: Vec::new(),
        is_closed: false,
    };
    let dir = state.new_fleet(Moment(1_800_000_000_000), draft).unwrap();
    Folder { _temp: temp, dir }
}

fn setup(launcher: Launcher) -> Setup {
    Setup { launcher, depth: 0, looks_per_sign: 1, notices: None }
}

fn shell(text: &str) -> Task {
    task("sh", text, Path::new("/")).unwrap()
}

fn submit(tasks: Vec<Task>) -> Command {
    Command::Submit(Submission { id: BatchId::from_bits(1), tasks, origin: None, inside: None })
}

/// Runs a host beside a door, until the door has seen what it waits for.
async fn beside<T>(host: Host, door: impl Future<Output = T>) -> T {
    tokio::pin!(door);
    let host = host.run();
    tokio::pin!(host);
    let done = tokio::select! {
        done = &mut door => Some(done),
        _ = &mut host => None,
    };
    done.expect("the host stays as long as a door is there")
}

async fn until_done(handle: &mut FleetHandle) {
    let wait = async {
        while !handle.snapshot().header.all_done {
            handle.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_mins(1), wait).await.expect("the fleet ends");
}

/// All of them wait for the disk when the stop comes; none may start, and letting them go must not take a deeper stack
/// for each.
#[tokio::test]
async fn thousands_that_are_stopped_before_they_start_end_one_after_the_other() {
    const COUNT: usize = 2_000;
    let options = FleetOptions { max_parallel: None, ..FleetOptions::default() };
    let folder = folder(&options);
    let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
    let (host, mut handle) = Host::create(folder.dir.clone(), options, &setup(launcher)).unwrap();
    beside(host, async move {
        let tasks = vec![shell("true"); COUNT];
        let interrupt = handle.send(Command::Interrupt("SIGINT".to_owned()));
        let (queued, stopped) = tokio::join!(handle.send(submit(tasks)), interrupt);
        assert!(matches!(queued, Ok(Reply::Queued(..))), "{queued:?}");
        assert_eq!(stopped, Ok(Reply::Done(2_000)));
        until_done(&mut handle).await;
        let rows = &handle.snapshot().rows;
        let unstarted = rows.iter().all(|row| row.status == Status::Ended(Outcome::Interrupted));
        assert!(unstarted && rows.len() == COUNT, "{:?}", handle.snapshot().header.outcomes);
    })
    .await;
}

/// No shim ever takes what is stored for it.
#[tokio::test]
async fn a_given_value_does_not_outlive_an_agent_that_could_not_be_launched() {
    let options = FleetOptions::default();
    let folder = folder(&options);
    let agent = AgentId(1);
    let values = BTreeMap::from([("SECRET".to_owned(), "staple".to_owned())]);
    folder.dir.store_env(agent, &values).unwrap();
    let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
    let (host, mut handle) = Host::create(folder.dir.clone(), options, &setup(launcher)).unwrap();
    beside(host, async move {
        let task = Task { env_stored: vec!["SECRET".to_owned()], ..shell("true") };
        handle.send(submit(vec![task])).await.unwrap();
        until_done(&mut handle).await;
        assert_eq!(handle.snapshot().rows[0].status, Status::Ended(Outcome::Failed));
    })
    .await;
    assert_eq!(folder.dir.stored_env(agent).unwrap(), BTreeMap::new());
}

/// A raise that lets nothing start is refused with a sentence, and the question stays open for the next watch.
#[test]
fn a_program_that_answers_the_cap_question_badly_is_told_so() {
    let temp = TempDir::new().unwrap();
    let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
    let options = FleetOptions { cap: Some(NanoUsd::ZERO), ..FleetOptions::default() };
    let launcher = Launcher::new("/nonexistent/fleet", Vec::new());
    let mut fleet = LocalFleet::create(&state, options, launcher).unwrap();
    fleet.spawn(shell("true")).unwrap();
    let refused = fleet.monitor(|_| (), |_| Answer::Raise(NanoUsd::ZERO)).unwrap_err();
    assert!(refused.to_string().contains("would let nothing start"), "{refused}");
    let mut updates = 0;
    let last = fleet.monitor(|_| updates += 1, |_| Answer::Drop).unwrap();
    assert!(updates > 0 && last.header.all_done);
    assert_eq!(last.header.outcomes, [(Outcome::Dropped, 1)]);
    assert_eq!((fleet.kpis().failed, fleet.mesh_keys()), (1, 0));
    assert!(fleet.finish());
}

/// C-147: an update for each change, one for each second in which nothing changes, and one for the end.
#[test]
fn a_watch_hears_of_each_change_of_the_passing_time_and_of_the_end() {
    let temp = TempDir::new().unwrap();
    let state = StateDir::open(Some(&temp.path().join("state"))).unwrap();
    let options = FleetOptions { max_parallel: Some(1), ..FleetOptions::default() };
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_fleet"), Vec::new());
    let mut fleet = LocalFleet::create(&state, options, launcher).unwrap();
    // It ends with the folder, should this test fail.
    let (folder, go) = (temp.path().display(), temp.path().join("go"));
    let waits =
        format!("while [ -d '{folder}' ] && [ ! -e '{}' ]; do sleep 0.02; done", go.display());
    fleet.spawn_all(vec![shell(&waits), shell("true")]).unwrap();
    let mut statuses: Vec<[Status; 2]> = Vec::new();
    let mut silent: Vec<Moment> = Vec::new();
    let mut revisions = Vec::new();
    let last = fleet
        .monitor(
            |snapshot| {
                let seen = [snapshot.rows[0].status, snapshot.rows[1].status];
                if statuses.last() != Some(&seen) {
                    statuses.push(seen);
                    silent.clear();
                }
                if seen[0] == Status::Running {
                    silent.push(snapshot.at);
                }
                if silent.len() == 4 {
                    std::fs::write(&go, "").unwrap();
                }
                if silent.len() <= 4 && silent.len() > 1 {
                    let span = silent[silent.len() - 1].since(silent[0]);
                    let most = usize::try_from(span.as_secs()).unwrap() + 3;
                    assert!(silent.len() <= most, "{silent:?} is more than one a second");
                    let elapsed = snapshot.header.kpis.elapsed;
                    assert!(elapsed >= span, "the time of a running agent stands still");
                }
                revisions.push(snapshot.revision);
            },
            |_| Answer::Drop,
        )
        .unwrap();
    let ended = Status::Ended(Outcome::Done);
    let running = [Status::Running, Status::Queued];
    assert!(statuses.contains(&running), "{statuses:?}");
    assert_eq!(statuses.last(), Some(&[ended, ended]), "the end is heard of: {statuses:?}");
    assert_eq!(revisions.last(), Some(&last.revision));
    assert!(revisions.is_sorted(), "{revisions:?}");
    let header = &last.header;
    assert!(header.all_done && (header.kpis.running, header.kpis.queued) == (0, 0));
    assert!(fleet.finish());
}
