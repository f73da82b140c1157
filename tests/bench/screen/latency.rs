//! Times from a key, a write and an end until they are seen.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::terminal::Terminal;
use super::{Asked, tell};
use crate::place::Place;

/// Makes this program a talkative agent; so many events a second.
pub(crate) const TALK: &str = "--talk";
/// Makes this program write the time again and again.
pub(crate) const STAMP: &str = "--stamp";

/// Says what it does, so often a second, for ever.
pub(crate) fn talk(per_second: u64) {
    let mut stdout = std::io::stdout().lock();
    for number in 0u64.. {
        let line = format!(
            "{{\"fleet\":\"step\",\"tool\":\"bash\",\"text\":\"command {number}\",\"state\":\"end\"}}\n"
        );
        if stdout.write_all(line.as_bytes()).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_micros(1_000_000 / per_second.max(1)));
    }
}

/// Writes `stamp <nanoseconds> .` every 70 to 110 milliseconds, so many times.
pub(crate) fn stamp(times: u64) {
    for number in 0..times {
        println!("stamp {} .", now());
        std::thread::sleep(Duration::from_millis(70 + number * 7 % 40));
    }
    println!("last stamp");
    std::thread::sleep(Duration::from_mins(10));
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|span| span.as_nanos()).unwrap_or_default()
}

/// This program as a task of a shell.
pub(crate) fn own(words: &str) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    format!("exec '{}' {words}", program.display())
}

/// The number of the selected agent.
fn selected(text: &str) -> Option<u32> {
    let line = text.lines().find(|line| line.contains('▌'))?;
    let (_, rest) = line.split_once('#')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// From a key to its effect on the screen: 1,000 agents in the table, 100 of them with 10 events a second.
pub(super) fn keys(asked: &Asked) {
    let place = Place::new();
    let mut tasks = vec!["true".to_owned(); 900];
    tasks.extend(vec![own(&format!("{TALK} 10")); 100]);
    let list = place.list(&tasks);
    let words = ["--agent", "sh", "-j", "100", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(tasks.len());
    terminal.wait_for("900 done");
    terminal.send("\x1b");
    // A key right behind an Escape would be one with Alt.
    std::thread::sleep(Duration::from_millis(200));
    terminal.wait("selected agent", selected);
    let mut times = Vec::new();
    for round in 0..asked.rounds * 40 {
        let key = if round / 20 % 2 == 0 { "j" } else { "k" };
        let before = terminal.wait("selected agent", selected).0;
        let start = Instant::now();
        terminal.send(key);
        let (_, seen) = terminal
            .wait("other selected agent", |text| selected(text).filter(|now| *now != before));
        times.push(seen.saturating_duration_since(start));
        std::thread::sleep(Duration::from_millis(20 + (round as u64 * 13) % 30));
    }
    tell("key to paint, 1,000 rows, 100 talk", times);
}

/// From an agent's write to the screen, alone and beside a neighbour that floods.
pub(super) fn outputs(asked: &Asked) {
    for (what, neighbour) in [
        ("write to screen", None),
        (
            "write to screen, beside a flood",
            Some("yes 0123456789012345678901234567890123456789 | head -c 20G >&1"),
        ),
    ] {
        let place = Place::new();
        let mut tasks = vec![own(&format!("{STAMP} {}", asked.rounds * 40))];
        tasks.extend(neighbour.map(str::to_owned));
        let list = place.list(&tasks);
        let words = ["--agent", "sh", "-j", "4", "-f", &list];
        let mut terminal = Terminal::start(place.path(), &words, (120, 40));
        terminal.send("\x1b");
        terminal.wait("first stamp", newest_stamp);
        let mut times = Vec::new();
        let mut known = 0;
        loop {
            let look = |text: &str| {
                newest_stamp(text)
                    .filter(|stamp| *stamp != known)
                    .map(Some)
                    .or_else(|| text.contains("last stamp").then_some(None))
            };
            let (found, _) = terminal.wait("next stamp", look);
            let seen = now();
            let Some(stamp) = found else { break };
            if known != 0 {
                let span = u64::try_from(seen.saturating_sub(stamp)).unwrap_or(u64::MAX);
                times.push(Duration::from_nanos(span));
            }
            known = stamp;
        }
        tell(what, times);
    }
}

fn newest_stamp(text: &str) -> Option<u128> {
    let line = text.lines().rev().find(|line| line.contains("stamp ") && line.contains(" ."))?;
    let (_, rest) = line.split_once("stamp ")?;
    rest.split(' ').next()?.parse().ok()
}

/// From an agent's end to `done` on the screen, and to the start of the next one in its slot.
pub(super) fn ends(asked: &Asked) {
    let place = Place::new();
    let count = asked.rounds * 10;
    let task = |number: usize| {
        format!("date +%s%N > begun{number}; sleep 0.1; date +%s%N > ended{number}")
    };
    let tasks: Vec<String> = (1..=count).map(task).collect();
    let list = place.list(&tasks);
    let words = ["--agent", "sh", "-j", "1", "-f", &list];
    let mut terminal = Terminal::start(place.path(), &words, (120, 40));
    terminal.agree(count);
    let mut seen = Vec::new();
    for number in 1..=count {
        let word = format!("{number} done");
        terminal.wait(&word, |text| done(text).filter(|done| *done >= number));
        seen.push(now());
    }
    let read = |name: String| -> u128 {
        let text = std::fs::read_to_string(place.path().join(name)).unwrap_or_default();
        text.trim().parse().unwrap_or_default()
    };
    let span = |from: u128, to: u128| {
        Duration::from_nanos(u64::try_from(to.saturating_sub(from)).unwrap_or(u64::MAX))
    };
    let shown = (1..=count)
        .zip(&seen)
        .map(|(number, seen)| span(read(format!("ended{number}")), *seen))
        .collect();
    let refilled = (1..count)
        .map(|number| span(read(format!("ended{number}")), read(format!("begun{}", number + 1))))
        .collect();
    tell("end to done on the screen", shown);
    tell("end to the next one's start", refilled);
}

fn done(text: &str) -> Option<usize> {
    let at = text.find(" done")?;
    let (before, _) = text.split_at(at);
    before.rsplit(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}
