//! The screen: what a key, an output and an end take until they are seen, and what it costs when nothing happens.

mod latency;
mod rest;
mod terminal;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub(crate) use latency::{STAMP, TALK, stamp, talk};

use super::Asked;

/// Measures everything about the screen.
pub(crate) fn measure(asked: &Asked) {
    rest::start(asked);
    latency::keys(asked);
    latency::outputs(asked);
    latency::ends(asked);
    rest::idle(asked);
    rest::memory(asked);
}

/// Prints the middle, the 95th hundredth and the worst of some times.
fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| {
        let index = (times.len() * part / 100).min(times.len().saturating_sub(1));
        times.get(index).copied().unwrap_or_default().as_secs_f64() * 1000.0
    };
    println!(
        "  {what:<44} median {:>7.2} ms  p95 {:>7.2} ms  worst {:>7.2} ms  of {}",
        at(50),
        at(95),
        at(100),
        times.len()
    );
}

/// Ends a fleet and everything of it, whatever is left of it.
fn end(place: &Path) {
    let _ = Command::new(env!("CARGO_BIN_EXE_fleet"))
        .current_dir(place)
        .env("XDG_STATE_HOME", place)
        .env("HOME", place)
        .env_remove("FLEET_AGENT")
        .args(["stop", "all"])
        .output();
    // Hosts and shims name the state folder in their environment or arguments.
    let mark = place.to_string_lossy().into_owned();
    for _ in 0..100 {
        let left = processes(&mark);
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
        for pid in left {
            let _ = Command::new("kill").arg("-TERM").arg(pid.to_string()).output();
        }
    }
}

/// Processes that have this text in their environment.
fn processes(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != own)
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| {
                bytes.windows(mark.len()).any(|window| window == mark.as_bytes())
            })
        })
        .collect()
}

/// The host of the only fleet below a place.
fn host(place: &Path) -> Option<u32> {
    processes(&place.to_string_lossy()).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&b"host".as_slice())
    })
}
