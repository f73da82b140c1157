//! What the recordings tell an adapter, and the whole demo on a clock of its own: when what is reached.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::adapters::LineReader as _;
use crate::adapters::{ProtocolReader, ReaderStart, adapter};
use crate::core::{
    AgentId, AgentResult, Answer, BatchId, Command, Effect, Event, Fact, Fleet, FleetId, Moment,
    NanoUsd, Notice, NoticeKind, Outcome, ProcessEnd, Snapshot, Status, StepState, Submission,
    Tails, Task, Ticket, TreeEnd, Waits,
};

/// Longest silence of a recording that shows no stall.
const QUIET: Duration = Duration::from_secs(4);

fn player() -> Player {
    Player::with_program("fleet", Path::new("/project"))
}

/// Facts of everything that is printed in one piece of a recording.
fn read(reader: &mut ProtocolReader, entry: &Entry) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let What::Out(text) = &entry.what
        && text.starts_with('{')
    {
        reader.line(text.trim_end().as_bytes(), &mut facts);
    }
    facts
}

/// What a recording comes to: seconds, steps, cost in cents, checkpoints, closing word, end.
fn sum_up(recording: Recording) -> (u64, usize, u64, Vec<bool>, AgentResult, What) {
    let entries = recording.entries().unwrap();
    let mut reader = ProtocolReader::new(ReaderStart::default());
    let facts: Vec<Fact> = entries.iter().flat_map(|entry| read(&mut reader, entry)).collect();
    assert!(!facts.contains(&Fact::Unknown), "{}: {facts:?}", recording.name);
    let time: Duration = entries.iter().map(|entry| entry.after).sum();
    let (mut steps, mut cost, mut smokes) = (0, NanoUsd::ZERO, Vec::new());
    let mut result = AgentResult::default();
    for fact in facts {
        match fact {
            Fact::Step { state, .. } => steps += usize::from(state != StepState::Start),
            Fact::Usage { usage, .. } => cost += usage.cost.unwrap(),
            Fact::Smoke { ok, .. } => smokes.push(ok.unwrap()),
            Fact::Result(last) => result = last,
            Fact::TotalCost(_)
            | Fact::UnreadableCost
            | Fact::TotalTokens(_)
            | Fact::SessionTotal(_)
            | Fact::RunTotal(_)
            | Fact::Model(_)
            | Fact::Retry(_)
            | Fact::Denied { .. }
            | Fact::Heard
            | Fact::Notes(_)
            | Fact::Text { .. }
            | Fact::Piece { .. }
            | Fact::Transcript(_)
            | Fact::Session(_)
            | Fact::Unknown
            | Fact::Skipped => {}
        }
    }
    let end = entries.last().unwrap().what.clone();
    (time.as_secs(), steps, cost.as_nanos() / 10_000_000, smokes, result, end)
}

#[test]
fn each_recording_tells_what_it_is_meant_to_show() {
    const GREEN: &[bool] = &[true];
    type Meant = (&'static str, u64, usize, u64, &'static [bool], bool, &'static [&'static str]);
    let table: [Meant; 11] = [
        ("flaky-test", 9, 6, 41, GREEN, true, &["src/session.rs", "tests/session.rs"]),
        ("changelog", 5, 2, 6, &[], true, &["CHANGELOG.md"]),
        ("slow-import", 51, 3, 18, &[], true, &[]),
        ("upgrade", 6, 4, 22, &[], false, &[]),
        (
            "rate-limit",
            9,
            7,
            62,
            GREEN,
            true,
            &["src/limits.rs", "src/session.rs", "tests/login.rs"],
        ),
        ("permissions", 11, 10, 93, &[], true, &[]),
        ("translate", 7, 4, 19, GREEN, true, &["locales/el.toml", "locales/ja.toml"]),
        ("metrics", 8, 4, 18, &[false], true, &["src/metrics.rs"]),
        ("typed-answer", 3, 1, 2, &[], true, &[]),
        ("typed-edit", 5, 2, 10, GREEN, true, &[]),
        ("typed-crash", 3, 0, 3, &[], false, &[]),
    ];
    for (name, seconds, steps, cents, smokes, completed, files) in table {
        let (time, made, cost, checked, result, end) = sum_up(Recording::find(name).unwrap());
        assert_eq!((time, made, cost), (seconds, steps, cents), "{name}");
        assert_eq!(checked, smokes, "{name}");
        assert_eq!(result.files_changed, files, "{name}");
        assert_eq!(result.completed == Some(true), completed, "{name}");
        assert_eq!(end == What::Exit(0), completed, "{name}: {end:?}");
    }
    let (.., result, end) = sum_up(Recording::find("upgrade").unwrap());
    assert!(result.error.starts_with("cannot upgrade: the crate"), "{result:?}");
    assert_eq!(end, What::Exit(1));
}

/// Every fact must stand on a line of its own, and nothing but the one stall may look like one.
#[test]
fn lines_begin_where_lines_end_and_only_one_recording_is_silent_for_long() {
    for recording in Recording::ALL {
        let mut at_start = true;
        for entry in recording.entries().unwrap() {
            if let What::Out(text) = &entry.what {
                assert!(at_start || !text.starts_with('{'), "{}: {text}", recording.name);
                at_start = text.ends_with('\n');
            }
            let silent = entry.after > QUIET;
            assert_eq!(silent, entry.after > Duration::from_secs(40), "{entry:?}");
            assert!(!silent || recording.name == "slow-import", "{}", recording.name);
        }
        assert!(at_start, "{}: the last line has no end", recording.name);
    }
}

#[test]
fn what_is_typed_plays_a_recording_that_says_so_and_always_the_same() {
    let played = |text: &str| player().typed(text).unwrap().command.unwrap()[2].clone();
    let mut seen: Vec<String> = (0..100).map(|number| played(&format!("task {number}"))).collect();
    assert_eq!(played("task 7"), seen[7]);
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["typed-answer", "typed-crash", "typed-edit"]);
    assert_eq!(player().typed("日本語").unwrap().text, "日本語");
}

#[test]
fn another_speed_is_handed_on_to_what_plays_and_to_what_is_patient() {
    let fast = player().at_speed(4.0);
    let task = fast.tasks().unwrap().remove(0);
    assert_eq!(task.command.unwrap(), ["fleet", "replay", "flaky-test", "--speed", "4"]);
    assert_eq!(fast.options().stale, player().options().stale / 4);
    let task = player().tasks().unwrap().remove(0);
    assert_eq!(task.command.unwrap(), ["fleet", "replay", "flaky-test"]);
}

/// A recorded agent that runs.
struct Live {
    reader: ProtocolReader,
    entries: std::vec::IntoIter<Entry>,
    /// When the next entry is due.
    due: Moment,
    /// Facts that nobody has read yet.
    unread: Vec<Fact>,
}

/// The demo's fleet on a clock of its own. Costs are read as late as the real reader may be.
struct Stage {
    fleet: Fleet,
    now: Moment,
    live: BTreeMap<AgentId, Live>,
    tasks: Vec<Task>,
    /// Time from one look at all outputs to the next; `None`: every line is read at once.
    look: Option<Duration>,
    next_look: Moment,
    notices: Vec<(Moment, Notice)>,
}

impl Stage {
    fn new(look: Option<Duration>) -> Self {
        let start = Moment::default();
        let (mut fleet, _) = Fleet::new(FleetId("k3f".to_owned()), player().options(), start);
        fleet.open_notices();
        let tasks = player().tasks().unwrap();
        let mut stage = Self {
            fleet,
            now: start,
            live: BTreeMap::new(),
            tasks: tasks.clone(),
            look,
            next_look: start,
            notices: Vec::new(),
        };
        let id = BatchId::from_bits(1);
        stage.command(Command::Submit(Submission { id, tasks, origin: None, inside: None }));
        stage
    }

    fn command(&mut self, command: Command) {
        self.apply(Event::Command { ticket: Ticket(0), command });
    }

    fn apply(&mut self, event: Event) {
        for effect in self.fleet.apply(self.now, event) {
            match effect {
                Effect::Spawn(id) => self.start(id),
                Effect::Notify(notice) => self.notices.push((self.now, notice)),
                Effect::Stop(id, _) => self.finish(id, ProcessEnd::Signal("SIGTERM".to_owned())),
                Effect::Record(_)
                | Effect::Tell(..)
                | Effect::CloseInput(_)
                | Effect::Reply(..)
                | Effect::Forget(_) => {}
            }
        }
    }

    fn start(&mut self, id: AgentId) {
        let command = self.tasks[id.0 as usize - 1].command.clone().unwrap();
        let entries = Recording::find(&command[2]).unwrap().entries().unwrap();
        let due = self.now.after(entries[0].after);
        let reader = ProtocolReader::new(ReaderStart::default());
        let live = Live { reader, entries: entries.into_iter(), due, unread: Vec::new() };
        self.live.insert(id, live);
        self.apply(Event::Started(id));
    }

    fn end(&mut self, id: AgentId, end: ProcessEnd) {
        self.apply(Event::Exited(id, 0));
        let tree = TreeEnd {
            end,
            timed_out: false,
            signalled: false,
            orphaned: false,
            owner_stop: false,
            at: self.now,
            run_time: None,
            swept: Vec::new(),
            escalated: false,
        };
        self.apply(Event::TreeGone(id, tree));
        self.apply(Event::Scanned(id, Tails::default()));
    }

    /// Plays the next entry of whoever is first.
    fn play_next(&mut self) {
        let (due, id) = self.live.iter().map(|(id, live)| (live.due, *id)).min().unwrap();
        while let Some(tick) = self.fleet.next_tick().filter(|tick| *tick <= due) {
            self.now = tick;
            self.apply(Event::Tick);
        }
        while let Some(look) = self.look.filter(|_| self.next_look <= due) {
            self.now = self.now.max(self.next_look);
            self.next_look = self.next_look.after(look);
            for id in self.live.keys().copied().collect::<Vec<_>>() {
                self.take_unread(id);
            }
        }
        self.now = due;
        let Some(live) = self.live.get_mut(&id) else { return };
        let entry = live.entries.next().unwrap();
        let found = read(&mut live.reader, &entry);
        live.unread.extend(found);
        if let Some(next) = live.entries.as_slice().first() {
            live.due = due.after(next.after);
        }
        match entry.what {
            What::Out(_) | What::Err(_) => {
                self.apply(Event::Progress(id));
                if self.look.is_none() {
                    self.take_unread(id);
                }
            }
            What::Exit(code) => self.finish(id, ProcessEnd::Code(code.into())),
            What::Killed(_) => self.finish(id, ProcessEnd::Signal("SIGKILL".to_owned())),
        }
    }

    fn take_unread(&mut self, id: AgentId) {
        let Some(live) = self.live.get_mut(&id) else { return };
        let facts = std::mem::take(&mut live.unread);
        if !facts.is_empty() {
            self.apply(Event::Facts { id, facts, offset: 0 });
        }
    }

    fn finish(&mut self, id: AgentId, end: ProcessEnd) {
        self.take_unread(id);
        self.live.remove(&id);
        self.end(id, end);
    }

    fn play_until(&mut self, is_reached: impl Fn(&Snapshot) -> bool) -> Snapshot {
        loop {
            let snapshot = self.fleet.snapshot(self.now);
            if is_reached(&snapshot) {
                return snapshot;
            }
            self.play_next();
        }
    }
}

/// Looks as far apart as the real reader's, closer, and without any between printing and reading.
const LOOKS: [Option<Duration>; 3] =
    [None, Some(Duration::from_millis(250)), Some(Duration::from_secs(1))];

fn status(snapshot: &Snapshot, id: usize) -> Status {
    snapshot.rows[id - 1].status
}

/// The newcomer has seen agents end and fail and one go silent, and still has something to decide about.
#[test]
fn the_cap_is_reached_after_a_while_with_work_queued_and_agents_running() {
    for look in LOOKS {
        let mut stage = Stage::new(look);
        let asked = stage.play_until(|snapshot| snapshot.question.is_some());
        let seconds = asked.at.0 / 1000;
        assert!((15..20).contains(&seconds), "{look:?}: {seconds} s");
        let question = asked.question.as_ref().unwrap();
        assert_eq!((question.queued, asked.header.kpis.running), (2, 3), "{look:?}");
        assert!(question.default < NanoUsd::from_dollars(4), "{question:?}");
        assert_eq!(status(&asked, 1), Status::Ended(Outcome::Done));
        assert_eq!(status(&asked, 4), Status::Ended(Outcome::Failed));
        assert!(asked.rows[2].stalled, "the silent one is marked before the question");
        assert!(asked.rows.iter().filter(|row| row.stalled).count() == 1);
        let near = stage.notices.iter().find(|(_, notice)| notice.kind == NoticeKind::NearCap);
        assert!(near.unwrap().0 < asked.at, "the warning comes before the question");
        assert_eq!(asked.header.hold, None);
    }
}

/// One dollar more is enough for the whole rest, and nobody waits for money once it is there.
#[test]
fn after_a_dollar_more_everything_runs_to_its_end_within_a_minute() {
    for look in LOOKS {
        let mut stage = Stage::new(look);
        let asked = stage.play_until(|snapshot| snapshot.question.is_some());
        let question = asked.question.unwrap();
        stage.now = stage.now.after(Duration::from_secs(2));
        stage.command(Command::Answer(question.id, Answer::Raise(question.default)));
        let last = stage.play_until(|snapshot| {
            assert!(
                snapshot.rows.iter().all(|row| {
                    !matches!(row.phase, crate::core::Phase::Waits(Waits::Reserved))
                }),
                "{look:?}: {:?}",
                snapshot.rows
            );
            snapshot.header.all_done
        });
        assert!(last.at.0 < 60_000, "{look:?}: {}", last.at.0);
        assert_eq!((last.header.kpis.done, last.header.kpis.failed), (7, 1), "{look:?}");
        assert_eq!(last.header.spent, NanoUsd::from_nanos(2_790_000_000), "{look:?}");
        assert_eq!(last.rows[7].validated, Some(false));
    }
}

#[test]
fn without_more_money_the_rest_is_dropped_and_what_runs_goes_on() {
    let mut stage = Stage::new(Some(Duration::from_secs(1)));
    let asked = stage.play_until(|snapshot| snapshot.question.is_some());
    stage.command(Command::Answer(asked.question.unwrap().id, Answer::Drop));
    let last = stage.play_until(|snapshot| snapshot.header.all_done);
    for id in [7, 8] {
        assert_eq!(status(&last, id), Status::Ended(Outcome::Dropped));
    }
    assert_eq!((last.header.kpis.done, last.header.kpis.failed), (5, 3));
    assert!(last.header.left_by_cap);
}

#[test]
fn every_task_has_a_recording_and_none_goes_past_its_budget() {
    for task in player().tasks().unwrap() {
        assert!(adapter(&task.kind).is_some());
        let recording = Recording::find(&task.command.unwrap()[2]).unwrap();
        let (_, _, cents, ..) = sum_up(recording);
        let budget = task.budget.map_or(u64::MAX, |budget| budget.as_nanos() / 10_000_000);
        assert!(cents <= budget, "{}: {cents} of {budget} cents", recording.name);
    }
}
