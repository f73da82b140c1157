//! Many tiny tasks: what a task costs beyond its own process, beside others that start processes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::place::Place;
use super::{Asked, fleet, median};

/// Processes at once, for everyone.
const SLOTS: usize = 8;

struct Contestant {
    name: &'static str,
    run: fn(&Path, usize),
    times: Vec<Duration>,
}

pub(crate) fn measure(asked: &Asked) {
    let place = Place::new();
    let tasks: Vec<String> = (1..=asked.tasks).map(|number| format!("task-{number}")).collect();
    let list = PathBuf::from(place.list(&tasks));

    let mut contestants = vec![
        Contestant { name: "xargs -P8", run: xargs, times: Vec::new() },
        Contestant { name: "own spawner", run: spawner, times: Vec::new() },
        Contestant { name: "fleet run", run: fleet_run, times: Vec::new() },
    ];
    if Command::new("parallel")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
    {
        contestants.push(Contestant { name: "GNU parallel", run: parallel, times: Vec::new() });
    }
    for _ in 0..asked.rounds {
        for contestant in &mut contestants {
            let start = Instant::now();
            (contestant.run)(&list, asked.tasks);
            contestant.times.push(start.elapsed());
        }
    }
    println!(
        "throughput: {} x true, {SLOTS} at a time, medians of {} interleaved rounds",
        asked.tasks, asked.rounds
    );
    let mut base = None;
    for contestant in &mut contestants {
        let time = median(&mut contestant.times);
        let base = *base.get_or_insert(time);
        let each = time / u32::try_from(asked.tasks).unwrap_or(u32::MAX);
        println!(
            "  {:<13} {:>8.3} s  {:>8.3} ms each  {:>6.2} x xargs",
            contestant.name,
            time.as_secs_f64(),
            each.as_secs_f64() * 1000.0,
            time.as_secs_f64() / base.as_secs_f64()
        );
    }
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("a contestant can be started");
    assert!(status.success(), "{command:?} ended with {status}");
}

fn open(list: &Path) -> File {
    File::open(list).expect("the list of tasks can be read")
}

fn xargs(list: &Path, _tasks: usize) {
    run(Command::new("xargs").args(["-P", "8", "-n", "1", "true"]).stdin(open(list)));
}

fn parallel(list: &Path, _tasks: usize) {
    run(Command::new("parallel").args(["--will-cite", "-j", "8", "true"]).stdin(open(list)));
}

/// The least there can be: a thread for each slot, and nothing kept.
fn spawner(_list: &Path, tasks: usize) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..SLOTS {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < tasks {
                    run(Command::new("true").arg("task").stdin(Stdio::null()));
                }
            });
        }
    });
}

/// Fleet keeps what its agents wrote, so what a run leaves stays until all have been measured.
fn fleet_run(list: &Path, _tasks: usize) {
    let place = list.parent().expect("the list lies in a folder");
    let state = TempDir::new_in(place).expect("a folder can be made").keep();
    run(fleet(&state)
        .args(["-j", "8", "-f"])
        .arg(list)
        .args(["--", "true", "{task}"])
        .stderr(Stdio::null()));
}
