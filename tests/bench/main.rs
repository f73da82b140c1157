//! Measurements of the release binary against peers and plain redirects, interleaved in one run, told as ratios.
//!
//! `cargo bench` runs all of them; `cargo bench -- throughput`, `-- control`, `-- flood`, `-- parsing`, `-- tail` and
//! `-- screen` one. `--rounds N` repeats more often, `--tasks N` and `--megabytes N` change the size. What may not go here: bars that a test would fail on.

#![expect(clippy::print_stdout, reason = "the result of a measurement is what it prints")]
#![expect(
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and a sampler waits between samples"
)]

mod control;
mod flood;
mod parsing;
mod place;
#[cfg(feature = "tui")]
mod screen;
#[cfg(feature = "tui")]
mod tail;
mod throughput;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

/// What was asked for on the command line.
struct Asked {
    rounds: usize,
    tasks: usize,
    megabytes: u64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(report) = value(&words, flood::WRITE) {
        let megabytes =
            value(&words, "--megabytes").map_or(0, |text| text.parse().expect("a number"));
        flood::write(megabytes, &PathBuf::from(report));
        return;
    }
    if let Some(number) = value(&words, parsing::EVENTS) {
        return parsing::events(number.parse().expect("a number"));
    }
    #[cfg(feature = "tui")]
    if let Some(number) = value(&words, screen::TALK) {
        return screen::talk(number.parse().expect("a number"));
    }
    #[cfg(feature = "tui")]
    if let Some(number) = value(&words, screen::STAMP) {
        return screen::stamp(number.parse().expect("a number"));
    }
    let number = |name: &str, default: usize| {
        value(&words, name)
            .map_or(default, |text| text.parse().expect("a number follows the option"))
    };
    let asked = Asked {
        rounds: number("--rounds", 5),
        tasks: number("--tasks", 1000),
        megabytes: number("--megabytes", 1024) as u64,
    };
    let names = ["throughput", "control", "flood", "parsing", "tail", "screen"];
    let named: Vec<&str> =
        names.into_iter().filter(|name| words.iter().any(|word| word == name)).collect();
    for name in if named.is_empty() { names.to_vec() } else { named } {
        match name {
            "throughput" => throughput::measure(&asked),
            "control" => control::measure(&asked),
            "flood" => flood::measure(&asked),
            "parsing" => parsing::measure(&asked),
            #[cfg(feature = "tui")]
            "tail" => tail::measure(&asked),
            #[cfg(feature = "tui")]
            "screen" => screen::measure(&asked),
            _ => {}
        }
    }
}

fn value<'w>(words: &'w [String], name: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1).map(String::as_str)
}

/// A folder on the disk that builds go to: what Fleet promises costs syncs, which a file system in memory hides.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made beside the build")
}

/// The binary under measurement, to run a fleet with its state below a folder.
fn fleet(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleet"));
    place::at_home(&mut command, state);
    command.args(["run", "--json"]);
    command
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
