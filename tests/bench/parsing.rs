//! What it costs to understand what programs with a model print: each kind's recordings at full speed, and many agents
//! that tell of what they do as it happens.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use loki_fleet::adapters::{ReaderStart, adapter};
use loki_fleet::core::AgentKind;
use loki_fleet::tail::scan::Scanner;
use serde::de::IgnoredAny;

use super::place::{Place, at_home, ticks, wait_until_all_run};
use super::{Asked, fleet, folder, median};

/// Makes this program print events as claude does, so many a second.
pub(crate) const EVENTS: &str = "--events";

/// What each kind is given to read: recordings in a folder of the tests, and the end of their names.
const STREAMS: [(&str, &str, &str); 10] = [
    ("claude", "recordings/claude", ".stdout.jsonl"),
    ("claude", "recordings/claude", "-partial.stdout.jsonl"),
    ("codex", "recordings/codex", ".stdout.jsonl"),
    ("opencode", "recordings/opencode", ".stdout.jsonl"),
    ("gemini", "recordings/gemini", ".stdout.jsonl"),
    ("qwen", "recordings/qwen", ".stdout.jsonl"),
    ("copilot", "recordings/copilot", ".stdout.jsonl"),
    ("hermes", "recordings/hermes", ".stdout.txt"),
    ("ygg", "fixtures/ygg", ".txt"),
    ("sh", "recordings/claude", ".stdout.jsonl"),
];
/// Bytes of each stream: its recordings again and again.
const STREAM_BYTES: usize = 64 << 20;
/// As the host reads: bytes of one turn and of its buffer.
const TURN_BYTES: u64 = 4 << 20;
const BUFFER_BYTES: usize = 64 * 1024;

/// Agents that live, and what each tells.
const AGENTS: usize = 100;
const EVENTS_A_SECOND: u64 = 20;
/// How long the host is watched, after the first moments of the agents are over.
const REST: Duration = Duration::from_secs(5);
const WINDOW: Duration = Duration::from_secs(20);

pub(crate) fn measure(asked: &Asked) {
    println!(
        "parsing: {} MB of recordings, medians of {} rounds",
        STREAM_BYTES >> 20,
        asked.rounds
    );
    for (kind, recordings, end) in STREAMS {
        let place = folder();
        let stream = stream(&tests().join(recordings), end);
        let path = place.path().join("out");
        fs::write(&path, &stream).expect("the stream can be written");
        // The first time is no measurement: it makes the machine ready.
        let facts = read(kind, &path);
        let (mut times, mut checks) = (Vec::new(), Vec::new());
        for _ in 0..asked.rounds {
            times.push(timed(|| read(kind, &path)));
            checks.push(timed(|| check(&stream)));
        }
        let rate = |times: &mut [Duration]| {
            #[expect(clippy::cast_precision_loss, reason = "some digits are enough")]
            let bytes = stream.len() as f64;
            bytes / 1e6 / median(times).as_secs_f64()
        };
        let (read, checked) = (rate(&mut times), rate(&mut checks));
        println!(
            "  {kind:<9} *{end:<22} {read:>6.0} MB/s, {facts:>7} facts  (each line checked to be JSON: {checked:>5.0} MB/s)"
        );
    }
    live();
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns the recordings whose names end so, one after the other, until there is enough.
fn stream(folder: &Path, end: &str) -> Vec<u8> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the recordings are there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        all.extend(fs::read(path).expect("a recording can be read"));
        // Some were cut off within a line.
        if all.last() != Some(&b'\n') {
            all.push(b'\n');
        }
    }
    assert!(!all.is_empty(), "{} holds no recording *{end}", folder.display());
    all.repeat(STREAM_BYTES.div_ceil(all.len()))
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed()
}

/// The least that can be done with a stream of objects in memory: to find out where they end. Returns how many there are.
fn check(stream: &[u8]) -> usize {
    let lines = stream.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&b'{'));
    lines.filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok()).count()
}

/// Reads a file to its end as the host does; returns how many facts came out.
fn read(kind: &str, path: &Path) -> usize {
    let adapter = adapter(&AgentKind(kind.to_owned())).expect("the kind is known");
    let reader = adapter.reader(ReaderStart::default());
    let mut scanner = Scanner::new(path.to_owned(), path.with_extension("err"), 0, reader);
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut facts, mut count) = (Vec::new(), 0);
    scanner.look();
    loop {
        let left = scanner.turn(TURN_BYTES, &mut buffer, &mut facts);
        count += facts.len();
        facts.clear();
        if left == 0 {
            break;
        }
    }
    scanner.finish(Some(0), &mut facts);
    count + facts.len()
}

/// What the host costs while 100 agents tell of themselves.
fn live() {
    let place = Place::new();
    let config = place.path().join("loki-fleet");
    fs::create_dir_all(&config).expect("the folder of the config can be made");
    let program = std::env::current_exe().expect("this program has a path");
    let kind = format!(
        "[kinds.told]\nadapter = \"claude\"\ncommand = [{:?}, \"{EVENTS}\", \"{EVENTS_A_SECOND}\"]\n",
        program.to_string_lossy()
    );
    fs::write(config.join("config.toml"), kind).expect("the config can be written");
    let list = place.list(&vec!["tell".to_owned(); AGENTS]);
    let mut command = fleet(place.path());
    at_home(&mut command, place.path());
    command.args(["--agent", "told", "-j", "100", "--cap", "1000", "-f", &list]);
    let host = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut host = host.expect("a fleet can be started");
    wait_until_all_run(&place, AGENTS);
    std::thread::sleep(REST);
    let (before, told, start) = (ticks(host.id()), told(&place), Instant::now());
    std::thread::sleep(WINDOW);
    let used = ticks(host.id()).saturating_sub(before);
    let told = self::told(&place).saturating_sub(told) / 1024;
    // A tick of the kernel's count is a hundredth of a second.
    let share = f64::from(u32::try_from(used).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64();
    println!(
        "  {AGENTS} agents with {EVENTS_A_SECOND} events a second each, {told} KiB in all: {share:.1} % of a core (bar: 10 %)"
    );
    drop(place);
    let _ = host.wait();
}

/// Bytes that the agents of the only fleet have written.
fn told(place: &Place) -> u64 {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    entries(place.path().join("loki-fleet/fleets"))
        .flat_map(|fleet| entries(fleet.path().join("agents")))
        .filter_map(|agent| agent.path().join("out").metadata().ok())
        .map(|meta| meta.len())
        .sum()
}

/// Prints what claude does while it works, line by line, for ever.
pub(crate) fn events(per_second: u64) {
    let path = tests().join("recordings/claude/happy-partial.stdout.jsonl");
    let text = fs::read_to_string(path).expect("the recording can be read");
    // With its last word a program has nothing more to tell.
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"type\":\"result\"")).collect();
    let mut stdout = std::io::stdout().lock();
    for line in lines.into_iter().cycle() {
        if writeln!(stdout, "{line}").is_err() {
            return;
        }
        std::thread::sleep(Duration::from_micros(1_000_000 / per_second.max(1)));
    }
}
