//! What starting takes, and what standing still costs.

use std::time::{Duration, Instant};

use super::terminal::Terminal;
use super::{Asked, tell};
use crate::flood;
use crate::place::{Place, signal, ticks};

/// From the start of the program to its first frame, with a host that has to be started and with one that lives, and
/// until a fleet of 1,000 agents is back after its host was killed.
pub(super) fn start(asked: &Asked) {
    let (mut first, mut connected, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..asked.rounds * 4 {
        let place = Place::new();
        let terminal = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
        let ((), seen) = terminal.wait("frame", |text| (!text.trim().is_empty()).then_some(()));
        first.push(seen.saturating_duration_since(terminal.started));
        let ((), seen) = terminal.wait("host", is_connected);
        connected.push(seen.saturating_duration_since(terminal.started));
        let second = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
        let ((), seen) = second.wait("host", is_connected);
        again.push(seen.saturating_duration_since(second.started));
    }
    println!("screen:");
    tell("start to first frame", first);
    tell("start to connected, host started too", connected);
    tell("start to connected, host lives", again);
    recovery(asked);
}

fn is_connected(text: &str) -> Option<()> {
    text.contains("0 done").then_some(())
}

/// From the start of the program until a fleet of 1,000 agents is back whose host was killed. The same fleet is
/// recovered again and again.
fn recovery(asked: &Asked) {
    let tasks = |ended: usize, others: usize| {
        let mut tasks = vec!["true".to_owned(); ended];
        tasks.resize(ended + others, "exec sleep 1000".to_owned());
        tasks
    };
    for (what, tasks, slots, words) in [
        ("attach to 1,000 ended agents, no host", tasks(1000, 0), "8", ["1,000 done"].as_slice()),
        (
            "attach to 800 ended, 100 live, 100 queued",
            tasks(800, 200),
            "100",
            ["800 done", "100 running", "100 queued"].as_slice(),
        ),
    ] {
        let place = Place::new();
        let list = place.list(&tasks);
        let start = ["--agent", "sh", "-j", slots, "-f", &list];
        let mut terminal = Terminal::start(place.path(), &start, (160, 40));
        terminal.agree(tasks.len());
        let is_whole = |text: &str| words.iter().all(|word| text.contains(word)).then_some(());
        terminal.wait(what, is_whole);
        drop(terminal);
        let mut times = Vec::new();
        for _ in 0..asked.rounds {
            while let Some(host) = place.host() {
                signal(host, "-KILL");
                std::thread::sleep(Duration::from_millis(10));
            }
            let terminal = Terminal::start(place.path(), &["attach"], (160, 40));
            let ((), seen) = terminal.wait(what, is_whole);
            times.push(seen.saturating_duration_since(terminal.started));
        }
        tell(what, times);
    }
}

/// What the host and the screen use when nothing is said: 50 silent agents beside 950 that have ended, and none at all.
pub(super) fn idle(_asked: &Asked) {
    let place = Place::new();
    let mut tasks = vec!["true".to_owned(); 950];
    tasks.resize(1000, "exec sleep 1000".to_owned());
    let list = place.list(&tasks);
    let words = ["--agent", "sh", "-j", "50", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(1000);
    terminal.wait_for("950 done");
    terminal.send("\x1b");
    watch("idle, 1,000 rows, 50 silent agents", &terminal, &place);

    let place = Place::new();
    let terminal = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
    terminal.wait("host", is_connected);
    watch("idle, nothing runs", &terminal, &place);
}

fn watch(what: &str, terminal: &Terminal, place: &Place) {
    /// Flashes and last looks are over by then.
    const REST: Duration = Duration::from_secs(8);
    const WINDOW: Duration = Duration::from_secs(20);
    std::thread::sleep(REST);
    let screen = terminal.pid();
    let Some(host) = place.host() else { return println!("  {what}: no host") };
    let sum = |count: fn(u32) -> u64| (count(screen), count(host));
    let (cpu, wakes, bytes) = (sum(ticks), sum(switches), terminal.bytes());
    let start = Instant::now();
    std::thread::sleep(WINDOW);
    let seconds = start.elapsed().as_secs_f64();
    let (cpu_after, wakes_after) = (sum(ticks), sum(switches));
    // A tick of the kernel's count is a hundredth of a second.
    let share = |from: u64, to: u64| {
        f64::from(u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX)) / seconds
    };
    println!(
        "  {what:<44} screen {:.2} % {:.1} wake-ups/s, host {:.2} % {:.1} wake-ups/s, {} bytes drawn",
        share(cpu.0, cpu_after.0),
        share(wakes.0, wakes_after.0),
        share(cpu.1, cpu_after.1),
        share(wakes.1, wakes_after.1),
        terminal.bytes() - bytes
    );
}

/// How often threads of a process were put to rest, which is how often they were woken.
fn switches(pid: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|thread| {
            let path = thread.path().join("status");
            flood::field(&path.to_string_lossy(), "voluntary_ctxt_switches:")
        })
        .sum()
}

/// Memory of the host and the screen with 100 agents and much output on disk.
pub(super) fn memory(asked: &Asked) {
    let place = Place::new();
    let each = asked.megabytes * 10 / 100;
    let line = "0123456789".repeat(7);
    let task = format!("yes '{line}' | head -c {each}M; echo written; exec sleep 1000");
    let list = place.list(&vec![task; 100]);
    let words = ["--agent", "sh", "-j", "100", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(100);
    terminal.send("\x1b");
    let written = || {
        let agents = std::fs::read_dir(place.path().join("loki-fleet/fleets"))
            .into_iter()
            .flatten()
            .flatten()
            .flat_map(|fleet| std::fs::read_dir(fleet.path().join("agents")).into_iter().flatten())
            .flatten();
        agents
            .filter(|agent| {
                let wanted = each * 1024 * 1024;
                agent.path().join("out").metadata().is_ok_and(|meta| meta.len() > wanted)
            })
            .count()
    };
    while written() < 100 {
        std::thread::sleep(Duration::from_millis(200));
    }
    std::thread::sleep(Duration::from_secs(5));
    let screen = terminal.pid();
    let host = place.host().unwrap_or_default();
    let status = |pid: u32, name: &str| flood::field(&format!("/proc/{pid}/status"), name);
    let shims: Vec<u64> = place
        .processes()
        .into_iter()
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"fleet: agent")
        })
        .map(|pid| flood::field(&format!("/proc/{pid}/smaps_rollup"), "Pss:"))
        .collect();
    let mean = shims.iter().sum::<u64>() / u64::try_from(shims.len().max(1)).unwrap_or(1);
    println!(
        "  memory, 100 agents, {} MB on disk: host {} KiB now {} KiB at most, screen {} KiB now {} KiB at most, shim {mean} KiB (PSS, mean of {})",
        each * 100,
        status(host, "VmRSS:"),
        status(host, "VmHWM:"),
        status(screen, "VmRSS:"),
        status(screen, "VmHWM:"),
        shims.len()
    );
}
