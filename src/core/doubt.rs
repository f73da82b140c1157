//! Marks of an agent that runs and does not get on: tries that fail in quick succession, one call that fails again and
//! again, output without any event, a question that nobody can answer.
//!
//! What may go here: when an agent has such a mark and when it has none. What may not: stopping it, which is never done
//! for a mark; words.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, StepState};
use super::moment::Moment;
use super::record::{OpenTool, Work};
use super::snapshot::Row;

/// Failed tries in a row further apart than this are not one story. Programs that wait longer and longer between their
/// tries, as all should, come to six of them in this time.
const WINDOW: Duration = Duration::from_secs(20);
/// Least failed tries within the window that are a runaway.
const FAILURES: u32 = 8;
/// Least looks at the output that they must be spread over. What has piled up until one look says nothing of how quickly
/// it came.
const LOOKS: usize = 4;
/// What is learned within this time is one look.
const LOOK: Duration = Duration::from_secs(1);
/// Least calls in a row that fail in the same way.
const REPEATS: u32 = 10;
/// What an adopted agent is found to have written has piled up while no host lived; it is read within this time.
const SETTLING: Duration = Duration::from_secs(2);

/// Why an agent that runs may not get on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// It tries again and again, and all of it fails.
    Failing {
        /// Failed tries.
        times: u32,
        /// The time from the first to the last of them.
        over: Duration,
        /// Why the last one failed.
        cause: String,
    },
    /// One call fails again and again, with nothing else between.
    Repeating {
        /// How often in a row.
        times: u32,
        /// The tool.
        tool: String,
        /// What the call does.
        text: String,
    },
    /// It writes, and for longer than it should take nothing of that is an event.
    NoEvent,
    /// It does nothing, and its last line looks like a question. Nobody can answer it.
    WaitsForInput {
        /// The end of that line, as it was written.
        prompt: String,
    },
}

impl Doubt {
    /// Returns what is said of it to somebody who does not see the row.
    pub(super) fn to_words(&self) -> String {
        match self {
            Self::Failing { times, cause, .. } => {
                format!("may be running away: {times} retries, the last: {cause}")
            }
            Self::Repeating { times, tool, .. } => {
                format!("may be running away: {tool} failed {times} times in a row")
            }
            Self::NoEvent => "may be stuck: it writes, and no event comes".to_owned(),
            Self::WaitsForInput { prompt } => {
                format!("may wait for input that it cannot get: \"{}\"", prompt.trim())
            }
        }
    }
}

impl Row {
    /// Says whether an agent that runs is marked, so that somebody should look at it.
    pub fn is_marked(&self) -> bool {
        self.status.is_live() && (self.stalled || self.doubt.is_some())
    }
}

/// What an agent's output has shown lately; nothing of it outlives the host.
#[derive(Debug, Default, Clone)]
pub(super) struct Signs {
    /// The last event.
    pub(super) event: Option<Moment>,
    /// The mark by them, when they were last looked at.
    pub(super) mark: Option<Doubt>,
    /// It does nothing, and its last line looks like this question.
    pub(super) waits: Option<String>,
    failing: Option<Failing>,
    repeating: Option<Repeating>,
    /// What is learned before this has piled up.
    settles: Option<Moment>,
}

#[derive(Debug, Clone)]
struct Failing {
    first: Moment,
    last: Moment,
    times: u32,
    cause: String,
    /// Looks within the window: when, and how many failures each has shown. At most one per second of the window.
    looks: VecDeque<(Moment, u32)>,
    /// They were quick enough once, and have not paused since.
    is_runaway: bool,
}

#[derive(Debug, Clone)]
struct Repeating {
    tool: String,
    text: String,
    times: u32,
}

impl Signs {
    /// The agent was adopted: what it has written until now tells nothing of how quickly it was written.
    pub(super) fn adopt(&mut self, now: Moment) {
        *self = Self { settles: Some(now.after(SETTLING)), ..Self::default() };
    }

    /// Takes note of a fact, before it is a part of the work.
    pub(super) fn hear(&mut self, fact: &Fact, work: &Work, now: Moment) {
        if !matches!(fact, Fact::Notes(_) | Fact::Transcript(_)) {
            self.event = Some(now);
        }
        if self.settles.is_some_and(|until| now < until) {
            return;
        }
        match fact {
            Fact::Retry(retry) => self.fail(&retry.cause, now),
            Fact::Step { state: StepState::End, .. } => {
                (self.failing, self.repeating) = (None, None);
            }
            Fact::Step { state: StepState::Error, id, tool, text } => {
                let call = OpenTool::find(&work.open_tools, id.as_deref(), tool);
                let (tool, text) = call.map_or((tool, text), |call| (&call.tool, &call.text));
                self.repeat(tool, text);
            }
            _ => {}
        }
    }

    fn fail(&mut self, cause: &str, now: Moment) {
        let before = self.failing.take().filter(|failing| now.since(failing.last) < WINDOW);
        let failing = self.failing.insert(before.unwrap_or_else(|| Failing {
            first: now,
            last: now,
            times: 0,
            cause: String::new(),
            looks: VecDeque::new(),
            is_runaway: false,
        }));
        failing.last = now;
        failing.times = failing.times.saturating_add(1);
        cause.clone_into(&mut failing.cause);
        let looks = &mut failing.looks;
        match looks.back_mut().filter(|(at, _)| now.since(*at) < LOOK) {
            Some((_, failures)) => *failures = failures.saturating_add(1),
            None => looks.push_back((now, 1)),
        }
        while looks.pop_front_if(|(at, _)| now.since(*at) >= WINDOW).is_some() {}
        let failures = looks.iter().map(|(_, failures)| *failures).fold(0, u32::saturating_add);
        failing.is_runaway |= looks.len() >= LOOKS && failures >= FAILURES;
    }

    fn repeat(&mut self, tool: &str, text: &str) {
        let again = self.repeating.as_mut().filter(|call| call.tool == tool && call.text == text);
        if let Some(call) = again {
            call.times = call.times.saturating_add(1);
        } else {
            let (tool, text) = (tool.to_owned(), text.to_owned());
            self.repeating = Some(Repeating { tool, text, times: 1 });
        }
    }

    /// Returns the mark that is due; `limit` is how long there may be no event, if any must come.
    pub(super) fn doubt(&self, now: Moment, limit: Option<Duration>) -> Option<Doubt> {
        if let Some(prompt) = &self.waits {
            return Some(Doubt::WaitsForInput { prompt: prompt.clone() });
        }
        if let Some(failing) = self.runaway(now) {
            return Some(Doubt::Failing {
                times: failing.times,
                over: failing.last.since(failing.first),
                cause: failing.cause.clone(),
            });
        }
        if let Some(call) = self.repeating.as_ref().filter(|call| call.times >= REPEATS) {
            let (tool, text) = (call.tool.clone(), call.text.clone());
            return Some(Doubt::Repeating { times: call.times, tool, text });
        }
        let silence = self.event.map(|event| now.since(event));
        silence
            .zip(limit)
            .is_some_and(|(silence, limit)| silence >= limit)
            .then_some(Doubt::NoEvent)
    }

    /// Returns when the mark changes if nothing is heard until then.
    pub(super) fn changes(&self, now: Moment, limit: Option<Duration>) -> Option<Moment> {
        match self.doubt(now, limit) {
            Some(Doubt::Failing { .. }) => Some(self.runaway(now)?.last.after(WINDOW)),
            Some(Doubt::Repeating { .. } | Doubt::NoEvent | Doubt::WaitsForInput { .. }) => None,
            None => Some(self.event?.after(limit?)),
        }
    }

    fn runaway(&self, now: Moment) -> Option<&Failing> {
        let failing = self.failing.as_ref()?;
        (failing.is_runaway && now.since(failing.last) < WINDOW).then_some(failing)
    }
}
