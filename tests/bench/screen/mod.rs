//! The screen: what a key, an output and an end take until they are seen, and what it costs when nothing happens.

mod latency;
mod rest;
mod terminal;

use std::time::Duration;

pub(crate) use latency::{STAMP, TALK, own, stamp, talk};
pub(crate) use terminal::Terminal;

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
