//! How long a command takes that steers a fleet, from its start to its end, while 100 agents run and write.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::place::{Place, wait_until_all_run};
use super::{Asked, fleet, median};

/// Agents that run, each of which writes this often.
const AGENTS: usize = 100;
const LINES_A_SECOND: u32 = 10;
/// Calls of each round.
const CALLS: usize = 100;

/// Commands in turn: all of them reach the host and change something.
const COMMANDS: [&[&str]; 4] = [&["hold"], &["cap", "20"], &["release"], &["cap", "30", "--json"]];

pub(crate) fn measure(asked: &Asked) {
    let place = Place::new();
    let pause = 1.0 / f64::from(LINES_A_SECOND);
    let writes = format!(
        r#"while :; do echo '{{"fleet":"step","tool":"bash","text":"make","state":"start"}}'; sleep {pause}; done"#
    );
    let mut tasks = vec![writes; AGENTS];
    tasks.push("echo queued".to_owned());
    let list = place.list(&tasks);
    let host = fleet(place.path())
        .args(["--agent", "sh", "-j", "100", "--cap", "10", "-f", &list])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut host = host.expect("a fleet can be started");
    wait_until_all_run(&place, AGENTS);
    let (mut times, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..asked.rounds.max(1) {
        for call in 0..CALLS {
            nothing.push(timed(&place, &["--version"]));
            let words = COMMANDS.get(call % COMMANDS.len()).copied().unwrap_or_default();
            times.push(timed(&place, words));
        }
    }
    times.sort_unstable();
    let p95 = times.get(times.len() * 95 / 100).copied().unwrap_or_default();
    let most = times.last().copied().unwrap_or_default();
    println!(
        "control: {} calls of hold, release and cap, {AGENTS} agents running with {LINES_A_SECOND} lines a second each",
        times.len()
    );
    println!(
        "  median {:.1} ms, p95 {:.1} ms (bar: 50 ms), most {:.1} ms; a call that asks nobody: median {:.1} ms",
        millis(median(&mut times)),
        millis(p95),
        millis(most),
        millis(median(&mut nothing))
    );
    drop(place);
    let _ = host.wait();
}

fn timed(place: &Place, words: &[&str]) -> Duration {
    let start = Instant::now();
    let status = place.command(words).stdout(Stdio::null()).status();
    let time = start.elapsed();
    assert!(status.is_ok_and(|status| status.success()), "fleet {words:?} failed");
    time
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
