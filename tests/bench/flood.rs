//! One agent that writes as fast as it can: how much slower it is than with a plain redirect, and what Fleet and the
//! agent's shim need in memory meanwhile.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::place::Place;
#[cfg(feature = "tui")]
use super::screen::{Terminal, own};
use super::{Asked, fleet, folder, median};

/// Makes this program the writer; the file for its own time follows.
pub(crate) const WRITE: &str = "--write-flood";

/// Bytes of one write: what a program with a large buffer hands over at once.
const PIECE: usize = 64 * 1024;

/// Writes lines to stdout and tells how long that took, its own start not counted.
pub(crate) fn write(megabytes: u64, report: &Path) {
    let line = format!("{}\n", "x".repeat(76));
    let piece: Vec<u8> = line.bytes().cycle().take(PIECE).collect();
    let mut stdout = std::io::stdout().lock();
    let start = Instant::now();
    for _ in 0..megabytes * (1024 * 1024 / PIECE as u64) {
        stdout.write_all(&piece).expect("the flood can be written");
    }
    let nanoseconds = start.elapsed().as_nanos().to_string();
    std::fs::write(report, nanoseconds).expect("the time can be written");
}

/// Most memory that was seen, in KiB.
#[derive(Default)]
struct Memory {
    fleet: u64,
    shim: u64,
}

pub(crate) fn measure(asked: &Asked) {
    let (mut plain, mut agent, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    #[cfg(feature = "tui")]
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    let mut memory = Memory::default();
    for _ in 0..asked.rounds {
        plain.push(redirect(asked.megabytes));
        let start = Instant::now();
        agent.push(with_fleet(asked.megabytes, &mut memory));
        whole.push(start.elapsed());
        #[cfg(feature = "tui")]
        {
            seen.push(behind(asked.megabytes, true));
            unseen.push(behind(asked.megabytes, false));
        }
    }
    let (plain, agent, whole) = (median(&mut plain), median(&mut agent), median(&mut whole));
    println!(
        "flood: {} MB of lines, medians of {} interleaved rounds",
        asked.megabytes, asked.rounds
    );
    println!("  plain redirect {:>8.3} s", plain.as_secs_f64());
    println!(
        "  as an agent    {:>8.3} s  speed {:.3} of the redirect's; the whole run {:.3} s",
        agent.as_secs_f64(),
        plain.as_secs_f64() / agent.as_secs_f64(),
        whole.as_secs_f64()
    );
    #[cfg(feature = "tui")]
    {
        for (name, times) in [("viewed agent", &mut seen), ("behind a host", &mut unseen)] {
            let time = median(times).as_secs_f64();
            println!(
                "  {name:<14} {time:>8.3} s  speed {:.3} of the redirect's",
                plain.as_secs_f64() / time
            );
        }
    }
    println!(
        "  peak memory    fleet run {} KiB (RSS), shim {} KiB (PSS)",
        memory.fleet, memory.shim
    );
}

fn writer(megabytes: u64, report: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.arg("--megabytes").arg(megabytes.to_string()).arg(WRITE).arg(report);
    command
}

fn redirect(megabytes: u64) -> Duration {
    let place = folder();
    let report = place.path().join("report");
    let out = File::create(place.path().join("out")).expect("the output can be made");
    let status = writer(megabytes, &report)
        .stdin(Stdio::null())
        .stdout(out)
        .status()
        .expect("the writer starts");
    assert!(status.success(), "the writer ended with {status}");
    time(&report)
}

fn with_fleet(megabytes: u64, memory: &mut Memory) -> Duration {
    let state = Place::new();
    let report = state.path().join("report");
    let writer = writer(megabytes, Path::new("{task}"));
    let mut command = fleet(state.path());
    command.arg(&report).arg("--").arg(writer.get_program()).args(writer.get_args());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    while child.try_wait().expect("the binary can be waited for").is_none() {
        look(&child, memory);
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = child.wait().expect("the binary has ended");
    assert!(status.success(), "fleet run ended with {status}");
    time(&report)
}

/// The agent floods beside a host in the background, while the screen shows its output or no screen is there.
#[cfg(feature = "tui")]
fn behind(megabytes: u64, is_viewed: bool) -> Duration {
    let place = Place::new();
    let path = |name: &str| place.path().join(name);
    let (report, begun) = (path("report"), path("begun"));
    let flood = own(&format!("--megabytes {megabytes} {WRITE} '{}'", report.display()));
    // It waits to be seen first, and writes nothing before: behind a few bytes each write would end within a page, which
    // makes it a fifth slower wherever it goes.
    let wait = format!("until test -e '{}'; do sleep 0.01; done", begun.display());
    let list = place.list(&[format!("{wait}; {flood}")]);
    let mut terminal = Terminal::start(place.path(), &["--agent", "sh", "-f", &list], (120, 40));
    terminal.send("\x1b");
    terminal.wait_for("1 running");
    let floods = || {
        File::create(begun).expect("the agent can be told to begin");
        while std::fs::metadata(&report).map_or(0, |report| report.len()) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    if is_viewed {
        terminal.unseen(floods);
        terminal.wait_for("xxxxxxxx");
        terminal.wait_for("1 done");
    } else {
        drop(terminal);
        floods();
    }
    time(&report)
}

fn time(report: &Path) -> Duration {
    let text = std::fs::read_to_string(report).expect("the writer told its time");
    Duration::from_nanos(text.parse().expect("its time is a number"))
}

/// Samples the memory of the binary and of its children, which are shims.
fn look(child: &Child, memory: &mut Memory) {
    let number = child.id();
    memory.fleet = memory.fleet.max(field(&format!("/proc/{number}/status"), "VmHWM:"));
    let children =
        std::fs::read_dir(format!("/proc/{number}/task")).into_iter().flatten().flatten();
    for thread in children {
        let path = thread.path().join("children");
        for shim in std::fs::read_to_string(path).unwrap_or_default().split_whitespace() {
            memory.shim = memory.shim.max(field(&format!("/proc/{shim}/smaps_rollup"), "Pss:"));
        }
    }
}

/// Returns the number behind a name in a file of `/proc`, zero where there is none.
pub(crate) fn field(path: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
}
