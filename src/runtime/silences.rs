//! Finds out which silent agents wait for input that they cannot get: the last line looks like a question, and over some
//! seconds no processor is used.
//!
//! What may go here: who is looked at, and when. What may not: what a question looks like (`tail`), how processor time is
//! read (`supervise`), what is made of it (`core`).

use std::collections::HashMap;
use std::time::Duration;

use super::clock::Clock;
use super::host::Host;
use super::looks::Looks;
use super::news::News;
use crate::core::{AgentId, Event, Moment, Snapshot, Status};
use crate::supervise::{AgentDir, CpuUse, cpu_use};
use crate::tail::prompt;

/// An agent that has been silent for less is not looked at. Models think for longer, but their programs leave no
/// question behind then; a person who sees one takes about as long to be sure.
const SILENCE: Duration = Duration::from_secs(15);
/// Time between the first two looks at its processes: long enough that a hundredth of it can be measured.
const PAUSE: Duration = Duration::from_secs(5);
/// Most time between two looks at one that works although its last line looks like a question. Each reads all of `/proc`.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Looks at once.
const AT_ONCE: u32 = 2;

/// The agents that are silent now.
#[derive(Debug)]
pub(super) struct Silences {
    of: HashMap<AgentId, Silence>,
    looks: Looks,
}

impl Default for Silences {
    fn default() -> Self {
        Self { of: HashMap::new(), looks: Looks::new(AT_ONCE) }
    }
}

/// What is known of a silence.
#[derive(Debug)]
struct Silence {
    /// It has lasted since then.
    since: Moment,
    /// When to look; `None` while somebody does, and when nothing more is to be found out.
    due: Option<Moment>,
    /// From one look to the next.
    pause: Duration,
    /// What was seen last.
    seen: Option<Glance>,
    /// It was found to wait.
    waits: bool,
}

/// What a look at a silent agent has shown: its last line is a question.
#[derive(Debug, Clone)]
pub(super) struct Glance {
    prompt: String,
    cpu: CpuUse,
    at: Moment,
}

/// What has changed about a silent agent.
#[derive(Debug, PartialEq, Eq)]
enum Waiting {
    /// It does nothing, and its last line looks like this question.
    For(String),
    /// It works again, or its last line is another one.
    Over,
}

impl Silences {
    /// Takes note of who is silent, and returns those who are to be looked at now, with the beginning of their silence.
    fn due(&mut self, snapshot: &Snapshot, now: Moment) -> Vec<(AgentId, Moment)> {
        let silent: HashMap<AgentId, Moment> = snapshot
            .rows
            .iter()
            .filter(|row| row.status == Status::Running)
            .filter_map(|row| Some((row.id, row.progress?)))
            .filter(|(_, since)| now.since(*since) >= SILENCE)
            .collect();
        self.of.retain(|id, silence| silent.get(id) == Some(&silence.since));
        let mut due = Vec::new();
        for (id, since) in silent {
            let new = || Silence { since, due: Some(now), pause: PAUSE, seen: None, waits: false };
            let silence = self.of.entry(id).or_insert_with(new);
            if silence.due.take_if(|due| *due <= now).is_some() {
                due.push((id, since));
            }
        }
        due
    }

    /// Nobody could look: nothing is known that was not known before, and somebody looks later.
    fn put_off(&mut self, id: AgentId, since: Moment, now: Moment) {
        if let Some(silence) = self.of.get_mut(&id).filter(|silence| silence.since == since) {
            silence.due = Some(now.after(silence.pause));
        }
    }

    /// Takes what a look has shown, and returns what is new: the question if the agent has done nothing since the look
    /// before, or that it does not wait any more.
    fn take(&mut self, id: AgentId, since: Moment, glance: Option<Glance>) -> Option<Waiting> {
        let silence = self.of.get_mut(&id).filter(|silence| silence.since == since)?;
        let waited = std::mem::take(&mut silence.waits);
        let Some(glance) = glance else { return waited.then_some(Waiting::Over) };
        let is_idle = silence.seen.as_ref().is_some_and(|before| {
            let span = glance.at.since(before.at);
            before.prompt == glance.prompt && glance.cpu.is_idle_since(&before.cpu, span)
        });
        if is_idle {
            // It may have given up by itself, and work without a word.
            silence.waits = true;
            silence.due = Some(glance.at.after(LONGEST_PAUSE));
            let prompt = glance.prompt.clone();
            silence.seen = Some(glance);
            return (!waited).then_some(Waiting::For(prompt));
        }
        silence.due = Some(glance.at.after(silence.pause));
        silence.pause = silence.pause.saturating_mul(2).min(LONGEST_PAUSE);
        silence.seen = Some(glance);
        waited.then_some(Waiting::Over)
    }
}

impl Glance {
    /// Looks at an agent; `None` if its last line asks for nothing, or it cannot be told what its processes do.
    fn of(dir: &AgentDir, clock: Clock) -> Option<Self> {
        let prompt = prompt(&dir.out(), &dir.err())?;
        Some(Self { prompt, cpu: cpu_use(dir)?, at: clock.now() })
    }
}

impl Host {
    /// Begins to look at those silent agents whose turn it is. Their files can be on a slow disk, and all of `/proc` may be
    /// read: the loop does not look itself.
    pub(super) fn look_at_silent(&mut self) {
        let snapshot = self.end.snapshots.borrow().clone();
        let due = self.silences.due(&snapshot, self.clock.now());
        if due.is_empty() {
            return;
        }
        // All of them lie in one folder, and often fall silent together: one look wakes the loop once.
        let dirs: Vec<AgentDir> = due.iter().map(|(id, _)| self.agent_dir(*id)).collect();
        let (looks, clock, sender) = (self.silences.looks.clone(), self.clock, self.sender.clone());
        tokio::spawn(async move {
            let look = move || Some(dirs.iter().map(|dir| Glance::of(dir, clock)).collect());
            let seen = looks.look(look).await;
            // The loop has gone: nobody wants to hear more.
            let _ = sender.send(News::Glanced(due, seen)).await;
        });
    }

    /// Silent agents were looked at, or could not be: then it is tried again.
    pub(super) fn glanced(
        &mut self,
        looked_at: Vec<(AgentId, Moment)>,
        seen: Option<Vec<Option<Glance>>>,
    ) {
        let Some(seen) = seen else {
            let now = self.clock.now();
            return looked_at
                .into_iter()
                .for_each(|(id, since)| self.silences.put_off(id, since, now));
        };
        for ((id, since), glance) in looked_at.into_iter().zip(seen) {
            self.glanced_at(id, since, glance);
        }
    }

    fn glanced_at(&mut self, id: AgentId, since: Moment, glance: Option<Glance>) {
        // It may have written something that no snapshot shows yet.
        if self.fleet.progress(id) == Some(since)
            && let Some(news) = self.silences.take(id, since, glance)
        {
            let prompt = match news {
                Waiting::For(prompt) => Some(prompt),
                Waiting::Over => None,
            };
            self.apply(Event::SeemsToWait(id, prompt));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Phase;
    use crate::core::testing::{row, snapshot};

    /// Returns who is to be looked at if one agent runs.
    fn at(silences: &mut Silences, progress: u64, now: u64) -> Vec<(AgentId, Moment)> {
        let mut row = row(1);
        (row.status, row.phase, row.progress) =
            (Status::Running, Phase::Works, Some(Moment(progress)));
        silences.due(&snapshot(1, vec![row]), Moment(now))
    }

    fn glance(at: u64, ticks: u64) -> Glance {
        let cpu = CpuUse::of([((7, 1), ticks)]);
        Glance { prompt: "? ".to_owned(), cpu, at: Moment(at) }
    }

    const ID: AgentId = AgentId(1);
    const SINCE: Moment = Moment(1_000);

    #[test]
    fn a_silent_agent_is_looked_at_once_if_it_asks_nothing() {
        let mut silences = Silences::default();
        assert_eq!(at(&mut silences, 1_000, 15_999), []);
        assert_eq!(at(&mut silences, 1_000, 16_000), [(ID, SINCE)]);
        assert_eq!(at(&mut silences, 1_000, 17_000), [], "somebody looks");
        assert_eq!(silences.take(ID, SINCE, None), None);
        assert_eq!(at(&mut silences, 1_000, 900_000), []);
        // Another silence is another question.
        assert_eq!(at(&mut silences, 900_000, 915_000), [(ID, Moment(900_000))]);
        assert_eq!(silences.take(ID, SINCE, Some(glance(915_000, 0))), None, "of the one before");
        assert_eq!(at(&mut silences, 915_001, 916_000), []);
        assert!(silences.of.is_empty(), "it has written something");
    }

    #[test]
    fn one_that_asks_and_does_nothing_for_some_seconds_waits() {
        let mut silences = Silences::default();
        assert_eq!(at(&mut silences, 1_000, 16_000).len(), 1);
        assert_eq!(silences.take(ID, SINCE, Some(glance(16_000, 100))), None);
        assert_eq!(at(&mut silences, 1_000, 20_999), []);
        assert_eq!(at(&mut silences, 1_000, 21_000).len(), 1);
        let asks = || Some(Waiting::For("? ".to_owned()));
        assert_eq!(silences.take(ID, SINCE, Some(glance(21_000, 100))), asks());
        assert_eq!(at(&mut silences, 1_000, 80_999), []);
        assert_eq!(at(&mut silences, 1_000, 81_000).len(), 1);
        assert_eq!(silences.take(ID, SINCE, Some(glance(81_000, 100))), None, "it is said once");
        // It has given up, and works without a word.
        assert_eq!(at(&mut silences, 1_000, 141_000).len(), 1);
        assert_eq!(silences.take(ID, SINCE, Some(glance(141_000, 5_000))), Some(Waiting::Over));
        assert_eq!(at(&mut silences, 1_000, 151_000).len(), 1);
        assert_eq!(silences.take(ID, SINCE, Some(glance(151_000, 5_000))), asks(), "and once more");
        assert_eq!(at(&mut silences, 1_000, 211_000).len(), 1);
        let over = silences.take(ID, SINCE, None);
        assert_eq!(over, Some(Waiting::Over), "its last line is another one");
    }

    #[test]
    fn a_look_that_could_not_be_made_is_made_later_and_takes_nothing_back() {
        let mut silences = Silences::default();
        assert_eq!(at(&mut silences, 1_000, 16_000).len(), 1);
        silences.put_off(ID, SINCE, Moment(16_000));
        assert_eq!(at(&mut silences, 1_000, 20_999), []);
        assert_eq!(at(&mut silences, 1_000, 21_000).len(), 1);
        assert_eq!(silences.take(ID, SINCE, Some(glance(21_000, 100))), None);
        assert_eq!(at(&mut silences, 1_000, 31_000).len(), 1);
        assert!(silences.take(ID, SINCE, Some(glance(31_000, 100))).is_some(), "it waits");
        assert_eq!(at(&mut silences, 1_000, 91_000).len(), 1);
        silences.put_off(ID, SINCE, Moment(91_000));
        assert!(silences.of[&ID].waits, "nobody has seen it work");
        // One that is about another silence changes nothing.
        silences.put_off(ID, Moment(5), Moment(92_000));
        assert_eq!(at(&mut silences, 1_000, 101_000).len(), 1);
    }

    #[test]
    fn one_that_works_is_looked_at_more_and_more_rarely_until_it_does_nothing() {
        let mut silences = Silences::default();
        let mut now = 16_000;
        let mut pauses = Vec::new();
        for ticks in 0..6 {
            assert_eq!(at(&mut silences, 1_000, now).len(), 1);
            assert_eq!(silences.take(ID, SINCE, Some(glance(now, ticks * 1_000))), None);
            let due = silences.of[&ID].due.unwrap();
            pauses.push(due.since(Moment(now)).as_secs());
            now = due.0;
        }
        assert_eq!(pauses, [5, 10, 20, 40, 60, 60]);
        assert_eq!(at(&mut silences, 1_000, now).len(), 1);
        assert!(silences.take(ID, SINCE, Some(glance(now, 5_000))).is_some());
    }
}
