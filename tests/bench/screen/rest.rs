//! What starting takes, and what standing still costs.

use std::path::Path;
use std::time::{Duration, Instant};

use super::terminal::Terminal;
use super::{Asked, end, host, processes, tell};
use crate::{flood, folder};

/// From the start of the program to its first frame, with a host that has to be started and with one that lives, and
/// until a fleet of 1,000 agents is back after its host was killed.
pub(super) fn start(asked: &Asked) {
    let (mut first, mut connected, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..asked.rounds * 4 {
        let place = folder();
        let terminal = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
        let ((), seen) = terminal.wait("frame", |text| (!text.trim().is_empty()).then_some(()));
        first.push(seen.saturating_duration_since(terminal.started));
        let ((), seen) = terminal.wait("host", is_connected);
        connected.push(seen.saturating_duration_since(terminal.started));
        let second = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
        let ((), seen) = second.wait("host", is_connected);
        again.push(seen.saturating_duration_since(second.started));
        drop((terminal, second));
        end(place.path());
    }
    println!("screen:");
    tell("start to first frame", first);
    tell("start to connected, host started too", connected);
    tell("start to connected, host lives", again);
    recovery();
}

fn is_connected(text: &str) -> Option<()> {
    text.contains("0 done").then_some(())
}

fn recovery() {
    let place = folder();
    let path = place.path().join("tasks.txt");
    std::fs::write(&path, "true\n".repeat(1000)).expect("the list of tasks can be written");
    let list = path.to_string_lossy().into_owned();
    let words = ["--agent", "sh", "-j", "8", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(1000);
    terminal.wait_for("1,000 done");
    drop(terminal);
    if let Some(host) = host(place.path()) {
        let _ = std::process::Command::new("kill").arg("-KILL").arg(host.to_string()).output();
    }
    while host(place.path()).is_some() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let terminal = Terminal::start(place.path(), &["attach"], (120, 40));
    let seen = terminal.wait_for("1,000 done");
    tell(
        "attach to 1,000 ended agents without a host",
        vec![seen.saturating_duration_since(terminal.started)],
    );
    drop(terminal);
    end(place.path());
}

/// What the host and the screen use when nothing is said: 50 silent agents beside 950 that have ended, and none at all.
pub(super) fn idle(_asked: &Asked) {
    let place = folder();
    let path = place.path().join("tasks.txt");
    let text = "true\n".repeat(950) + &"exec sleep 1000\n".repeat(50);
    std::fs::write(&path, text).expect("the list of tasks can be written");
    let list = path.to_string_lossy().into_owned();
    let words = ["--agent", "sh", "-j", "50", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(1000);
    terminal.wait_for("950 done");
    terminal.send("\x1b");
    watch("idle, 1,000 rows, 50 silent agents", &terminal, place.path());
    drop(terminal);
    end(place.path());

    let place = folder();
    let terminal = Terminal::start(place.path(), &["--agent", "sh"], (120, 40));
    terminal.wait("host", is_connected);
    watch("idle, nothing runs", &terminal, place.path());
    drop(terminal);
    end(place.path());
}

fn watch(what: &str, terminal: &Terminal, place: &Path) {
    /// Flashes and last looks are over by then.
    const REST: Duration = Duration::from_secs(8);
    const WINDOW: Duration = Duration::from_secs(20);
    std::thread::sleep(REST);
    let screen = terminal.pid();
    let Some(host) = host(place) else { return println!("  {what}: no host") };
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

/// CPU time of a process in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = text.rsplit_once(')') else { return 0 };
    let number = |index: usize| -> u64 {
        rest.split_whitespace().nth(index).and_then(|word| word.parse().ok()).unwrap_or_default()
    };
    number(11) + number(12)
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
    let place = folder();
    let path = place.path().join("tasks.txt");
    let each = asked.megabytes * 10 / 100;
    let line = "0123456789".repeat(7);
    let task = format!("yes '{line}' | head -c {each}M; echo written; exec sleep 1000\n");
    std::fs::write(&path, task.repeat(100)).expect("the list of tasks can be written");
    let list = path.to_string_lossy().into_owned();
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
    let host = host(place.path()).unwrap_or_default();
    let status = |pid: u32, name: &str| flood::field(&format!("/proc/{pid}/status"), name);
    let shims: Vec<u64> = processes(&place.path().to_string_lossy())
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
    drop(terminal);
    end(place.path());
}
