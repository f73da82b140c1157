//! Recorded runs of real programs, read as Fleet reads a running one, against what a person should be told of them.
//!
//! What may go here: the reading of a recording and what is the same for the tables of all programs. What may not: what
//! one program prints.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod qwen;
mod sessions;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loki_fleet::adapters::{Ended, ReaderStart, Seen as SeenBefore, adapter};
use loki_fleet::core::{
    AgentId, AgentKind, BatchId, Command, CostStatus, Event, ExitReason, Fact, Fleet, FleetId,
    FleetOptions, Moment, NanoUsd, Outcome, ProcessEnd, Row, Submission, Tails, Task, Ticket,
    TreeEnd,
};
use loki_fleet::tail::scan::Scanner;
use tempfile::TempDir;

/// The one agent of a replayed fleet.
const AGENT: AgentId = AgentId(1);
/// Budget of a recorded run that had one: so much that only the program itself can have stopped for it.
const BUDGET: NanoUsd = NanoUsd::from_dollars(1_000);

/// One recorded run.
#[derive(Debug)]
pub(super) struct Recording {
    /// `happy`, `err401`, …
    pub(super) case: String,
    pub(super) out: PathBuf,
    /// Missing where the program wrote none.
    pub(super) err: PathBuf,
    pub(super) end: ProcessEnd,
    /// How it was started.
    pub(super) argv: Vec<String>,
}

/// What a person should be told of a recording.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) case: &'static str,
    pub(super) outcome: Outcome,
    pub(super) reason: ExitReason,
    /// Input, cache read, cache write, output.
    pub(super) tokens: [u64; 4],
    pub(super) cost: Cost,
}

/// Cost of a recording, in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// The program told it.
    Told(&'static str),
    /// It was worked out from list prices.
    Estimated(&'static str),
    /// It may have cost something, and nobody knows what.
    Unknown,
}

/// Makes a row of a table.
pub(super) const fn row(
    case: &'static str,
    outcome: Outcome,
    reason: ExitReason,
    tokens: [u64; 4],
    cost: Cost,
) -> Expected {
    Expected { case, outcome, reason, tokens, cost }
}

/// A recording as Fleet saw it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) facts: Vec<Fact>,
    pub(super) row: Row,
}

impl Seen {
    pub(super) fn outcome(&self) -> Outcome {
        self.row.end.as_ref().unwrap().outcome
    }

    pub(super) fn reason(&self) -> Option<ExitReason> {
        self.row.end.as_ref().unwrap().reason
    }

    pub(super) fn error(&self) -> &str {
        &self.row.end.as_ref().unwrap().error
    }

    pub(super) fn tokens(&self) -> [u64; 4] {
        let tokens = self.row.tokens;
        [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output]
    }

    /// Returns how many lines were not understood.
    pub(super) fn odd(&self) -> usize {
        self.facts.iter().filter(|fact| matches!(fact, Fact::Unknown | Fact::Skipped)).count()
    }

    /// Says what the cost is, in the words of a table's row.
    fn cost(&self) -> String {
        match (self.row.cost_status, self.row.cost) {
            (CostStatus::Reported, Some(cost)) => format!("Told({:?})", cost.to_exact()),
            (CostStatus::Estimated, Some(cost)) => format!("Estimated({:?})", cost.to_exact()),
            (CostStatus::Unknown | CostStatus::None, None) => "Unknown".to_owned(),
            other => format!("{other:?}"),
        }
    }
}

fn folder(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(program)
}

/// Returns all recordings of a program, in the order of their names.
pub(super) fn recordings(program: &str) -> Vec<Recording> {
    let folder = folder(program);
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let outputs = names.iter().filter_map(|name| {
        let (case, rest) = name.split_once(".stdout.")?;
        assert!(["jsonl", "json", "txt"].contains(&rest), "{name}");
        let meta = fs::read(folder.join(format!("{case}.meta.json"))).unwrap();
        let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
        Some(Recording {
            case: case.to_owned(),
            out: folder.join(name),
            err: folder.join(format!("{case}.stderr.txt")),
            end: end_of(&meta),
            argv: serde_json::from_value(meta["argv"].clone()).unwrap(),
        })
    });
    outputs.collect()
}

/// Returns one recording of a program.
pub(super) fn recording(program: &str, case: &str) -> Recording {
    let found = recordings(program).into_iter().find(|recording| recording.case == case);
    found.unwrap_or_else(|| panic!("{program} has no recording {case}"))
}

fn end_of(meta: &serde_json::Value) -> ProcessEnd {
    match meta["exit_code"].as_i64().map(|code| i32::try_from(code).unwrap()) {
        None => ProcessEnd::Code(0),
        Some(code) if code >= 0 => ProcessEnd::Code(code),
        Some(-2) => ProcessEnd::Signal("SIGINT".to_owned()),
        Some(-9) => ProcessEnd::Signal("SIGKILL".to_owned()),
        Some(-15) => ProcessEnd::Signal("SIGTERM".to_owned()),
        Some(other) => panic!("{} has an unknown end {other}", meta["argv"]),
    }
}

/// Reads a recording as the output of a running agent is read, and lets a fleet judge it.
pub(super) fn replay(kind: &str, recording: &Recording) -> Seen {
    let none = TempDir::new().unwrap();
    let err =
        if recording.err.exists() { recording.err.clone() } else { none.path().join("no-err") };
    if !recording.err.exists() {
        fs::write(&err, "").unwrap();
    }
    let start = ReaderStart { argv: recording.argv.clone(), ..ReaderStart::default() };
    let reader = adapter(&AgentKind(kind.to_owned())).unwrap().reader(start);
    let mut scanner = Scanner::new(recording.out.clone(), err, 0, reader);
    let (mut facts, mut buffer) = (Vec::new(), vec![0; 4096]);
    let mut left = scanner.look().left;
    while left > 0 {
        left = scanner.turn(u64::MAX, &mut buffer, &mut facts);
    }
    let tails = scanner.finish(code(&recording.end), &mut facts);
    let has_budget = recording.argv.iter().any(|argument| argument == "--max-budget-usd");
    judge(kind, facts, tails, &recording.end, has_budget.then_some(BUDGET))
}

/// Reads these lines as an agent's whole output. `err` is its standard error.
pub(super) fn replay_lines(kind: &str, lines: &[&[u8]], err: &[u8], end: &ProcessEnd) -> Seen {
    let mut reader = adapter(&AgentKind(kind.to_owned())).unwrap().reader(ReaderStart::default());
    let mut facts = Vec::new();
    for line in lines.iter().filter(|line| line.first() == Some(&b'{')) {
        reader.line(line, &mut facts);
    }
    reader.ended(Ended { err, report: b"", code: code(end) }, &mut facts);
    let err_line = String::from_utf8_lossy(err).lines().next_back().map(str::to_owned);
    judge(kind, facts, Tails { err_line, ..Tails::default() }, end, None)
}

const fn code(end: &ProcessEnd) -> Option<i32> {
    match end {
        ProcessEnd::Code(code) => Some(*code),
        ProcessEnd::Signal(_) | ProcessEnd::NotStarted(_) | ProcessEnd::Lost => None,
    }
}

/// Lets a fleet of one agent take the facts, and returns its row after the end.
fn judge(
    kind: &str,
    facts: Vec<Fact>,
    tails: Tails,
    end: &ProcessEnd,
    budget: Option<NanoUsd>,
) -> Seen {
    let kind = AgentKind(kind.to_owned());
    let traits = adapter(&kind).unwrap().traits();
    let mut task = Task::new("task", kind, traits, PathBuf::from("/home/user/project"));
    task.budget = budget;
    let at = Moment(1_000);
    let (mut fleet, _) = Fleet::new(FleetId("rec".to_owned()), FleetOptions::default(), at);
    let submission =
        Submission { id: BatchId::from_bits(1), tasks: vec![task], origin: None, inside: None };
    let tree = TreeEnd {
        end: end.clone(),
        timed_out: false,
        signalled: false,
        orphaned: false,
        owner_stop: false,
        at,
        run_time: Some(Duration::from_secs(1)),
        swept: Vec::new(),
        escalated: false,
    };
    let events = [
        Event::Command { ticket: Ticket(0), command: Command::Submit(submission) },
        Event::Started(AGENT),
        Event::Facts { id: AGENT, facts: facts.clone(), offset: 0 },
        Event::TreeGone(AGENT, tree),
        Event::Scanned(AGENT, tails),
    ];
    for event in events {
        let _ = fleet.apply(at, event);
    }
    let row = fleet.snapshot(at).rows.first().unwrap().as_ref().clone();
    Seen { facts, row }
}

/// Compares every recording of a program with its row; a recording without a row fails, and so does a row without a
/// recording.
pub(super) fn check(kind: &str, program: &str, table: &[Expected]) {
    let mut differences = String::new();
    let mut left: BTreeSet<_> = table.iter().map(|expected| expected.case).collect();
    assert_eq!(left.len(), table.len(), "a case has two rows");
    for recording in recordings(program) {
        let seen = replay(kind, &recording);
        let told = format!(
            "{:?}, {:?}, {:?}, {}",
            seen.outcome(),
            seen.reason().unwrap(),
            seen.tokens(),
            seen.cost()
        );
        let case = recording.case.as_str();
        let wanted = table.iter().find(|expected| expected.case == case).map(|expected| {
            let Expected { outcome, reason, tokens, cost, .. } = expected;
            format!("{outcome:?}, {reason:?}, {tokens:?}, {cost:?}")
        });
        left.remove(case);
        if wanted.as_ref() != Some(&told) {
            let wanted = wanted.unwrap_or_else(|| "no row".to_owned());
            let error = seen.error();
            writeln!(differences, "{case}\n  wanted {wanted}\n  seen   {told}\n  {error}").unwrap();
        }
        assert!(!told.contains('\u{1b}') && !seen.error().contains(char::is_control), "{case}");
    }
    for case in left {
        writeln!(differences, "{case}\n  has a row and no recording").unwrap();
    }
    assert!(differences.is_empty(), "\n{differences}");
}

/// Looks that no line of a program's streams is taken for one that is not understood.
pub(super) fn understand(kind: &str, program: &str) {
    for recording in recordings(program) {
        if recording.out.extension().is_some_and(|extension| extension == "jsonl") {
            assert_eq!(replay(kind, &recording).odd(), 0, "{}", recording.case);
        }
    }
}

/// Cuts every recording of a program at each line and at some bytes, repeats and shuffles its lines, flips some bits:
/// nothing may panic, what failed as a whole may not be done as a part, and no number of a cut or repeated run may come
/// out above that of the whole one.
pub(super) fn mangle(kind: &str, program: &str, table: &[Expected]) {
    for recording in recordings(program) {
        let wanted = table.iter().find(|expected| expected.case == recording.case).unwrap();
        let bytes = fs::read(&recording.out).unwrap();
        let err = fs::read(&recording.err).unwrap_or_default();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let check = |lines: &[&[u8]], how: &str| {
            let seen = replay_lines(kind, lines, &err, &recording.end);
            assert_bounded(&seen, wanted, how);
        };
        for count in 0..lines.len() {
            check(&lines[..count], &format!("its first {count} lines"));
        }
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20 {
            let at = random.usize(..=bytes.len());
            let cut: Vec<&[u8]> = bytes[..at].split(|byte| *byte == b'\n').collect();
            check(&cut, &format!("its first {at} bytes"));
        }
        for round in 0..5 {
            let mut shuffled = lines.clone();
            random.shuffle(&mut shuffled);
            // What one line tells of another it then tells of a wrong one: numbers may be off, and nothing else.
            let seen = replay_lines(kind, &shuffled, &err, &recording.end);
            assert_no_better(&seen, wanted, &format!("its lines in another order ({round})"));
        }
        for _ in 0..20 {
            // A digit may be among them, so no number is known; it must be read to its end.
            let mut flipped = bytes.clone();
            for _ in 0..5 {
                if let Some(byte) = random.choice(&mut flipped) {
                    *byte ^= 1 << random.u8(..8);
                }
            }
            let lines: Vec<&[u8]> = flipped.split(|byte| *byte == b'\n').collect();
            replay_lines(kind, &lines, &err, &recording.end);
        }
        let twice: Vec<&[u8]> = lines.iter().flat_map(|line| [*line, *line]).collect();
        check(&twice, "each line twice");
        let again: Vec<&[u8]> = lines.iter().chain(&lines).copied().collect();
        check(&again, "all of it twice");
    }
}

/// Reads every recording of a program with two readers, of which the second goes on from the notes of the first at each
/// line in turn: it must come to the same.
pub(super) fn recover(kind: &str, program: &str) {
    let adapter = adapter(&AgentKind(kind.to_owned())).unwrap();
    for recording in recordings(program) {
        let bytes = fs::read(&recording.out).unwrap();
        let err = fs::read(&recording.err).unwrap_or_default();
        let lines: Vec<&[u8]> =
            bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")).collect();
        let whole = replay_lines(kind, &lines, &err, &recording.end);
        for cut in 0..=lines.len() {
            let mut facts = Vec::new();
            let mut first = adapter.reader(ReaderStart::default());
            for line in &lines[..cut] {
                first.line(line, &mut facts);
            }
            let result = facts.iter().any(|fact| matches!(fact, Fact::Result(_)));
            let seen = SeenBefore { result, ..SeenBefore::default() };
            let start = ReaderStart { notes: first.notes(), seen, ..ReaderStart::default() };
            let mut second = adapter.reader(start);
            for line in &lines[cut..] {
                second.line(line, &mut facts);
            }
            second.ended(Ended { err: &err, report: b"", code: code(&recording.end) }, &mut facts);
            let tails = whole.row.end.as_ref().unwrap().tails.clone();
            let again = judge(kind, facts, tails, &recording.end, None);
            let told = |seen: &Seen| {
                let Row { steps, denied, files_changed, session, model, .. } = seen.row.clone();
                let money = (seen.tokens(), seen.cost());
                (seen.outcome(), seen.reason(), money, steps, denied, files_changed, session, model)
            };
            assert_eq!(told(&again), told(&whole), "{program} {}, from line {cut}", recording.case);
        }
    }
}

fn assert_bounded(seen: &Seen, wanted: &Expected, how: &str) {
    let case = wanted.case;
    for (seen, most) in seen.tokens().into_iter().zip(wanted.tokens) {
        assert!(seen <= most, "{case}, {how}: {seen} tokens where {most} are true");
    }
    if let (Some(cost), Cost::Told(most) | Cost::Estimated(most)) = (seen.row.cost, wanted.cost) {
        let most: NanoUsd = most.parse().unwrap();
        assert!(cost <= most, "{case}, {how}: {cost} where {most} is true");
    }
    assert_no_better(seen, wanted, how);
}

fn assert_no_better(seen: &Seen, wanted: &Expected, how: &str) {
    let case = wanted.case;
    let is_done = seen.outcome() == Outcome::Done;
    assert!(!is_done || wanted.outcome == Outcome::Done, "{case}, {how}: is done");
}
