//! What stands before and after the lines: whose account it is, and how it ended.
//!
//! What may go here: words about an agent. What may not: files.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::lines::{TOLD, clean, line};
use crate::core::{AgentId, Batch, End, FleetId, Moment, Task};

/// The time of day that each line begins with.
const TIME: &str = "%H:%M:%S";
/// Most characters of the shared context (as much as of a goal).
const CONTEXT: usize = TOLD;
/// Most characters of an error.
const ERROR: usize = 600;

/// What is told of an agent before it starts.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    /// Its fleet.
    pub fleet: &'a FleetId,
    /// The agent.
    pub id: AgentId,
    /// Its batch.
    pub batch: &'a Batch,
    /// Its place within the batch, from 1.
    pub index: u32,
    /// What it has to do.
    pub task: &'a Task,
    /// When it was dispatched.
    pub started: Moment,
    /// The file itself.
    pub path: &'a Path,
}

impl Header<'_> {
    /// Returns it as the first lines of the file, without secrets. Moments are told as in `zone`.
    pub fn to_text(&self, zone: &TimeZone) -> String {
        let Self { fleet, id, batch, index, task, started, path } = self;
        let started = moment(*started).to_zoned_datetime(zone.clone());
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            if !value.is_empty() {
                // Writing to a text cannot fail.
                let _ = writeln!(text, "{:<9}{value}", format!("{name}:"));
            }
        };
        row("agent", &format!("{fleet}/{}, {}", id.to_dir_name(), clean(&task.kind.0, 0, TOLD)));
        row(
            "task",
            &format!("{index} of {} in {} ({})", batch.agents.len(), batch.tag(), batch.id.0),
        );
        row("goal", &clean(&task.text, 0, TOLD));
        row("context", &clean(task.context.as_deref().unwrap_or_default(), 0, CONTEXT));
        row("started", &started.strftime("%Y-%m-%d %H:%M:%S %:z").to_string());
        row("follow", &format!("tail -f {}", clean(&path.to_string_lossy(), 0, usize::MAX)));
        text.push_str("========================================\n");
        text
    }
}

/// Returns the last line of the file, without secrets. The moment is told as in `zone`.
pub fn end_line(end: &End, zone: &TimeZone) -> String {
    let mut words = format!("status={}", end.outcome.as_str());
    if let Some(reason) = end.reason {
        words.push_str(" exit_reason=");
        words.push_str(reason.as_str());
    }
    if let Some(time) = end.run_time {
        let _ = write!(words, " duration={:.1}s", time.as_secs_f64());
    }
    if end.truncated {
        words.push_str(" (answer cut off by a limit)");
    }
    let error = clean(&end.error, 0, ERROR);
    if !error.is_empty() {
        words.push_str(" error: ");
        words.push_str(&error);
    }
    let mut text = String::new();
    line(&time_of(end.at, zone), "end", &words, 0, usize::MAX, &mut text);
    text
}

/// Returns the time of day that a line begins with now.
pub fn now() -> String {
    Timestamp::now().to_zoned_datetime(TimeZone::system()).strftime(TIME).to_string()
}

fn time_of(at: Moment, zone: &TimeZone) -> String {
    moment(at).to_zoned_datetime(zone.clone()).strftime(TIME).to_string()
}

fn moment(moment: Moment) -> Timestamp {
    // Only a broken clock gives a moment that is no time; the farthest one stands for it.
    i64::try_from(moment.0)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .unwrap_or(Timestamp::MAX)
}
