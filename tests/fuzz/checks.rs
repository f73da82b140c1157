//! What must hold of every parser, whatever it is given: no panic, no number beyond what stands in its input, nothing
//! unbounded, nothing that moves a line or tells a secret.
//!
//! What may go here: one function for each parser, from bytes to a panic or none. What may not: what a parser makes of
//! good input, which the tests beside it say. The fuzz targets call these with what a fuzzer comes up with, and the tests
//! with the recordings and with what was found before.

use std::io::Write as _;
use std::path::PathBuf;

use loki_fleet::adapters::{
    Adapter, Closing, Ended, LineReader, ReaderStart, adapter, in_words, last_error_line, one_line,
    redact,
};
use loki_fleet::core::{
    AgentId, AgentKind, BatchId, Command, Event, Fact, Fleet, FleetId, FleetOptions, Moment,
    NanoUsd, Submission, Task, Ticket, Usage,
};
use loki_fleet::tail::view::text::Line;
use loki_fleet::{cli, control, journal, words};

/// Separates what a program writes to its standard output from what it writes to its standard error.
const ERRORS: &[u8] = b"\n--errors--\n";
/// Separates both from what it writes to the file of its session.
const SESSION: &[u8] = b"\n--session--\n";
/// Longest line that a reader is given.
const LINE_BYTES: usize = 1 << 20;
/// Most bytes of a text that a fact may have: an answer, cut.
const ANSWER_BYTES: usize = 256 * 1024 + 4;
/// Most bytes of a reader's notes: they are written down again and again.
const NOTES_BYTES: usize = 192 * 1024;
/// A secret that is hidden wherever it stands.
const SECRET: &str = "sk-ant-api03-Zq7Kx2Lw9Tn4Vb6Rm1Ps8Yd3";

/// What a program of this kind writes, from its beginning to its end.
pub fn stream(kind: &str, data: &[u8]) {
    let (rest, session) = split(data, SESSION);
    let (out, err) = split(rest, ERRORS);
    let written =
        Written { out, err, session, code: [None, Some(0), Some(1), Some(53)][data.len() % 4] };
    let adapter = adapter(&AgentKind(kind.to_owned())).expect("the kind is known");
    let facts = written.read(adapter.reader(start(None)).as_mut());
    written.check(adapter, &facts);

    // A reader that goes on where another has stopped.
    let middle = out.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut first = adapter.reader(start(None));
    let mut facts = Vec::new();
    lines(first.as_mut(), &out[..middle], &mut facts);
    let notes = first.notes();
    assert!(notes.as_ref().is_none_or(|notes| notes.len() <= NOTES_BYTES), "great notes");
    let rest = Written { out: &out[middle..], ..written };
    facts.extend(rest.read(adapter.reader(start(notes)).as_mut()));
    written.check(adapter, &facts);

    // Notes of another version, or of another program.
    let notes = Some(String::from_utf8_lossy(out).into_owned());
    written.read(adapter.reader(start(notes)).as_mut());
}

/// All that a program has written, and its exit code.
#[derive(Clone, Copy)]
struct Written<'a> {
    out: &'a [u8],
    err: &'a [u8],
    session: &'a [u8],
    code: Option<i32>,
}

impl Written<'_> {
    fn read(self, reader: &mut dyn LineReader) -> Vec<Fact> {
        let Self { out, err, session, code } = self;
        let mut facts = Vec::new();
        if reader.reads_errors() {
            err.split(|byte| *byte == b'\n').for_each(|line| reader.error_line(line, &mut facts));
        }
        if reader.reads_lines() {
            lines(reader, out, &mut facts);
        }
        if reader.reads_session() {
            session.split(|byte| *byte == b'\n').for_each(|line| reader.session_line(line));
            reader.session_read(&mut facts);
        }
        if reader.reads_closing() {
            let is_whole = out.len() % 2 == 0;
            let end = reader.closing(Closing { bytes: out, is_whole }, &mut facts);
            assert!(end.is_none_or(|end| end <= out.len()));
        }
        reader.ended(Ended { err, report: err, code }, &mut facts);
        let _ = (reader.notes(), reader.is_text(out), reader.session_files());
        facts
    }

    /// Returns the most tokens that can have been told.
    fn most(self) -> u128 {
        // hermes tells its own in a report, which stands where the errors do.
        [self.out, self.err, self.session].map(digits).into_iter().fold(0, u128::saturating_add)
    }

    fn check(self, adapter: &'static dyn Adapter, facts: &[Fact]) {
        check_facts(facts, self.most());
        check_row(adapter, facts, self.most());
    }
}

fn split<'a>(data: &'a [u8], separator: &[u8]) -> (&'a [u8], &'a [u8]) {
    let place = data.windows(separator.len()).position(|window| window == separator);
    place.map_or((data, &[][..]), |place| (&data[..place], &data[place + separator.len()..]))
}

fn start(notes: Option<String>) -> ReaderStart {
    let argv = ["program", "-m", "anthropic/claude-sonnet-4-5", "--session-id", "s"]
        .map(str::to_owned)
        .into();
    ReaderStart { notes, argv, ..ReaderStart::default() }
}

fn lines(reader: &mut dyn LineReader, out: &[u8], facts: &mut Vec<Fact>) {
    for line in out.split(|byte| *byte == b'\n') {
        if line.first() == Some(&b'{') && line.len() <= LINE_BYTES {
            reader.line(line, facts);
        }
    }
}

/// Returns what all numbers in a text come to. No count can be more, however often a line is told.
fn digits(bytes: &[u8]) -> u128 {
    let mut sum = 0_u128;
    let mut number = 0_u128;
    for byte in bytes.iter().chain(b" ") {
        if byte.is_ascii_digit() {
            number = number.saturating_mul(10).saturating_add(u128::from(byte - b'0'));
        } else {
            sum = sum.saturating_add(std::mem::take(&mut number));
        }
    }
    sum
}

fn tokens(usage: &Usage) -> u128 {
    [usage.input, usage.cache_read, usage.cache_write, usage.output]
        .into_iter()
        .map(u128::from)
        .sum()
}

fn check_facts(facts: &[Fact], most: u128) {
    for fact in facts {
        match fact {
            Fact::Step { id, tool, text, .. } => {
                is_line(tool);
                is_line(text);
                if let Some(id) = id {
                    is_line(id);
                }
            }
            Fact::Usage { usage, .. } | Fact::TotalTokens(usage) => {
                assert!(tokens(usage) <= most, "{usage:?}");
            }
            Fact::RunTotal(usage) => assert!(tokens(usage) <= most, "{usage:?}"),
            Fact::SessionTotal(total) => assert!(tokens(&total.usage) <= most, "{total:?}"),
            Fact::Retry(retry) => is_line(&retry.cause),
            Fact::Denied { tool, text } => {
                is_line(tool);
                is_line(text);
            }
            Fact::Model(text) | Fact::Session(text) | Fact::Smoke { text, .. } => is_line(text),
            Fact::Text { role, text } | Fact::Piece { role, text } => {
                is_line(role);
                assert!(text.len() <= ANSWER_BYTES, "a great text");
            }
            Fact::Result(result) => {
                assert!(result.answer.as_ref().is_none_or(|answer| answer.len() <= ANSWER_BYTES));
                assert!(!result.error.contains(['\n', '\u{1b}']), "{:?}", result.error);
                assert!(result.files_changed.len() <= 10_000);
            }
            Fact::Notes(notes) => assert!(notes.len() <= NOTES_BYTES),
            Fact::TotalCost(_)
            | Fact::UnreadableCost
            | Fact::Transcript(_)
            | Fact::Heard
            | Fact::Unknown
            | Fact::Skipped => {}
        }
    }
}

/// A text that stands in a row is short, on one line, and moves nothing.
#[track_caller]
fn is_line(text: &str) {
    assert!(text.chars().count() <= 2_000, "{} characters", text.chars().count());
    assert!(!text.contains(|char: char| char.is_control()), "{text:?}");
}

/// What the fleet makes of it: the row's tokens are no more than what stands there, and nothing of it panics.
fn check_row(adapter: &'static dyn Adapter, facts: &[Fact], most: u128) {
    let (mut fleet, _) = Fleet::new(FleetId("f".to_owned()), FleetOptions::default(), Moment(1));
    let kind = AgentKind(adapter.kind().to_owned());
    let task = Task::new("task", kind, adapter.traits(), PathBuf::from("/"));
    let submission =
        Submission { id: BatchId::from_bits(1), tasks: vec![task], origin: None, inside: None };
    let command = Command::Submit(submission);
    let id = AgentId(1);
    drop(fleet.apply(Moment(1), Event::Command { ticket: Ticket(1), command }));
    drop(fleet.apply(Moment(2), Event::Started(id)));
    for (at, fact) in (3..).zip(facts) {
        let event = Event::Facts { id, facts: vec![fact.clone()], offset: at };
        drop(fleet.apply(Moment(at * 100), event));
    }
    let snapshot = fleet.snapshot(Moment(1_000_000));
    let row = &snapshot.rows[0];
    let told = u128::from(row.tokens.total());
    assert!(told <= most, "{told} tokens of {most}");
    words::why::state(row, snapshot.at, None, true)
        .chars()
        .for_each(|char| assert!(!char.is_control()));
}

/// Output of any command.
pub fn line_protocol(data: &[u8]) {
    stream("sh", data);
    for line in data.split(|byte| *byte == b'\n') {
        if let Some(words) = in_words(line) {
            is_line(&words.text);
        }
    }
    let text = String::from_utf8_lossy(data);
    is_line(&one_line(&text, 400));
    is_line(&last_error_line(&text));
}

/// A file of tasks, in the shape that its first byte says.
pub fn task_files(data: &[u8]) {
    use cli::sources::{Format, read_text, sniff};
    let Some((first, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let formats = [Format::Text, Format::Json, Format::JsonLines, Format::Toml];
    let format = formats.get(usize::from(*first)).copied().unwrap_or_else(|| sniff(&text));
    match read_text("file", format, &text) {
        // Each task takes two bytes at least.
        Ok(entries) => assert!(entries.len() <= text.len() + 1, "{} tasks", entries.len()),
        Err(error) => {
            let last = text.split('\n').count();
            assert!(error.line.is_none_or(|line| (1..=last).contains(&line)), "{error:?}");
            is_line(&error.what);
        }
    }
    let _ = cli::sources::draft_entries(&text, first % 2 == 0);
}

/// A journal: as it is, and with every line sealed as one that was written well.
pub fn journal(data: &[u8]) {
    let mut sealed = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        sealed.extend_from_slice(line);
        let crc = !line.iter().fold(!0_u32, |crc, byte| {
            let mut value = (crc ^ u32::from(*byte)) & 0xff;
            for _ in 0..8 {
                value = if value & 1 == 1 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 };
            }
            value ^ (crc >> 8)
        });
        sealed.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
    }
    for bytes in [data, &sealed] {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(bytes).expect("there is room");
        let Ok(records) = journal::read(file.path()) else { continue };
        assert!(records.len() <= bytes.split(|byte| *byte == b'\n').count());
        let mut fleet = Fleet::restore(FleetId("f".to_owned()), records);
        let now = fleet.newest();
        drop(fleet.snapshot(now));
        let _ = fleet.next_tick();
    }
}

/// What a client and a host say to each other.
pub fn control(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(control::understand(data) <= lines);
}

/// A line of any output, as the screen shows it.
pub fn tail_text(data: &[u8]) {
    for raw in data.split_inclusive(|byte| *byte == b'\n') {
        let mut line = Line::from_raw(raw);
        assert!(!line.plain().contains(|char: char| char.is_control()), "{:?}", line.plain());
        let width = line.width();
        for wanted in [1, 2, 7, 80] {
            for part in line.wrap(wanted) {
                let spans = line.spans(part, wanted);
                let cells: usize =
                    spans.iter().map(|span| words::plain_text::cells(&span.text)).sum();
                assert!(cells <= wanted.max(2), "{cells} cells of {wanted}");
            }
            let spans = line.slice(width / 2, wanted);
            let cells: usize = spans.iter().map(|span| words::plain_text::cells(&span.text)).sum();
            assert!(cells <= wanted, "{cells} cells of {wanted}");
        }
        line.put_mark_first("> ");
        line.keep_within(raw.len());
        let _ = line.find_raw(raw.len() as u64 / 2);
    }
}

/// A config file: kinds of the owner's own, defaults, prices.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = cli::config::Config::parse("config.toml", &text) {
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}

/// An amount, a span of time, a selection of agents.
pub fn money(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(amount) = text.parse::<NanoUsd>() {
        let exact = amount.to_exact();
        assert_eq!(exact.parse(), Ok(amount), "{exact}");
        let shown = amount.to_string();
        let shown =
            shown.trim_start_matches('$').parse::<NanoUsd>().expect("what is shown can be read");
        assert!(shown >= amount, "{shown} for {exact}");
    }
    if let Ok(span) = words::time_text::parse(&text) {
        let _ = (words::time_text::age(span), words::time_text::duration(span));
    }
    let selection: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let _ = cli::selectors::parse(&selection);
}

/// A text with a secret that stands on a line of its own, and one that is alone with what the fuzzer makes of it.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let clean = redact(&text).into_owned();
    let _ = redact(&clean);
    // Within a longer word, where an input may have learned to put it, nobody can tell a key.
    if text.contains(SECRET) {
        return;
    }
    let middle = text.floor_char_boundary(text.len() / 2);
    let (before, after) = text.split_at(middle);
    for (open, close) in [("\n", "\n"), (" ", " "), ("\"", "\""), ("key: ", ",")] {
        let told = format!("{before}{open}{SECRET}{close}{after}");
        assert!(!redact(&told).contains(SECRET), "{open:?}");
    }
}
