//! Tests of the scanner and its worker.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::adapters::{LineReader, ReaderStart, adapter};
use crate::core::{AgentId, AgentKind, Fact, Tails};
use crate::tail::transcript;

const ID: AgentId = AgentId(1);
const COST: &str = "{\"fleet\":\"cost\",\"total_usd\":1}\n";
const YGG: &str = include_str!("../../../tests/fixtures/ygg/success.txt");

fn reader(kind: &str) -> Box<dyn LineReader> {
    adapter(&AgentKind(kind.to_owned())).unwrap().reader(ReaderStart::default())
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn err(&self) -> PathBuf {
        self.folder.path().join("err")
    }

    fn scanner(&self, kind: &str) -> Scanner {
        Scanner::new(self.out(), self.err(), 0, reader(kind))
    }

    fn follow(&self, id: AgentId, kind: &str) -> Follow {
        Follow {
            transcript: None,
            id,
            out: self.out(),
            err: self.err(),
            report: self.folder.path().join("report.json"),
            offset: 0,
            reader: reader(kind),
            is_adopted: false,
        }
    }
}

fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes.as_ref()).unwrap();
}

/// Reads what a look has shown, in turns of `budget` bytes with a buffer of `piece` bytes.
fn read(scanner: &mut Scanner, budget: u64, piece: usize) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut buffer = vec![0; piece];
    let mut left = scanner.look().left;
    while left > 0 {
        left = scanner.turn(budget, &mut buffer, &mut facts);
    }
    facts
}

fn whole(scanner: &mut Scanner) -> (Vec<Fact>, Tails) {
    let mut facts = read(scanner, u64::MAX, 64 * 1024);
    let tails = scanner.finish(None, &mut facts);
    (facts, tails)
}

fn costs(facts: &[Fact]) -> usize {
    facts.iter().filter(|fact| matches!(fact, Fact::TotalCost(_))).count()
}

fn skipped(facts: &[Fact]) -> usize {
    facts.iter().filter(|fact| **fact == Fact::Skipped).count()
}

#[test]
fn files_that_are_missing_or_empty_are_read_as_nothing() {
    let files = Files::new();
    assert_eq!(whole(&mut files.scanner("sh")), (vec![], Tails::default()));
    append(&files.out(), "");
    append(&files.err(), "");
    for kind in ["sh", "ygg", "command"] {
        assert_eq!(whole(&mut files.scanner(kind)), (vec![], Tails::default()));
    }
}

#[test]
fn each_line_is_read_once_wherever_reads_begin_and_end() {
    let files = Files::new();
    let text = format!("text\n{COST}\r\n{{\"x\":1}}\n\0\0{COST}{{torn\nlast {{");
    append(&files.out(), &text);
    for (budget, piece) in [(1, 1), (3, 2), (7, 64), (u64::MAX, 5), (u64::MAX, 1000)] {
        let mut scanner = files.scanner("sh");
        let facts = read(&mut scanner, budget, piece);
        assert_eq!((costs(&facts), facts.len()), (2, 2));
        assert_eq!(scanner.offset(), text.len() as u64 - 6);
        assert_eq!(scanner.look(), Look { has_changed: false, left: 0, is_due: false });
    }
}

#[test]
fn an_unfinished_line_counts_when_it_ends_or_when_the_agent_has() {
    let files = Files::new();
    let (head, tail) = COST.trim_end().split_at(10);
    let mut scanner = files.scanner("sh");
    append(&files.out(), head);
    assert_eq!(read(&mut scanner, u64::MAX, 64), []);
    assert_eq!(scanner.offset(), 0);
    append(&files.out(), tail);
    assert_eq!(read(&mut scanner, u64::MAX, 64), []);
    let mut at_end = Vec::new();
    scanner.finish(None, &mut at_end);
    assert_eq!((costs(&at_end), scanner.offset()), (1, COST.len() as u64 - 1));
    let mut scanner = files.scanner("sh");
    append(&files.out(), "\n");
    assert_eq!(costs(&read(&mut scanner, u64::MAX, 64)), 1);
}

#[test]
fn reading_goes_on_at_an_offset_that_was_told() {
    let files = Files::new();
    append(&files.out(), format!("{COST}{{\"fleet\""));
    let mut first = files.scanner("sh");
    assert_eq!(costs(&read(&mut first, u64::MAX, 64)), 1);
    append(&files.out(), ":\"cost\",\"total_usd\":2}\n");
    let mut second = Scanner::new(files.out(), files.err(), first.offset(), reader("sh"));
    let (facts, _) = whole(&mut second);
    assert_eq!(facts, [Fact::TotalCost("2".parse().unwrap())]);
}

#[test]
fn a_line_over_a_mebibyte_is_skipped_and_counted_once() {
    let files = Files::new();
    let long = format!("{{\"fleet\":\"text\",\"text\":\"{}\"}}\n", "x".repeat(1 << 20));
    append(&files.out(), format!("{long}{COST}{}\n{COST}{long}", "y".repeat(3 << 20)));
    for piece in [1000, 64 * 1024, 8 << 20] {
        let mut scanner = files.scanner("sh");
        let facts = read(&mut scanner, u64::MAX, piece);
        assert_eq!((costs(&facts), skipped(&facts), facts.len()), (2, 3, 5));
    }
    // Not counted before it has ended, so that a recovery does not count it again.
    append(&files.out(), long.trim_end());
    let mut scanner = files.scanner("sh");
    assert_eq!(skipped(&read(&mut scanner, u64::MAX, 4096)), 3);
    let mut at_end = Vec::new();
    scanner.finish(None, &mut at_end);
    assert_eq!(at_end, [Fact::Skipped]);
}

#[test]
fn a_file_that_became_shorter_is_read_again_from_its_start() {
    let files = Files::new();
    append(&files.out(), format!("{COST}{COST}{{\"fle"));
    let mut scanner = files.scanner("sh");
    assert_eq!(costs(&read(&mut scanner, u64::MAX, 64)), 2);
    fs::write(files.out(), COST).unwrap();
    assert_eq!(scanner.look(), Look { has_changed: true, left: COST.len() as u64, is_due: true });
    assert_eq!(costs(&read(&mut scanner, u64::MAX, 64)), 1);
    assert_eq!(scanner.offset(), COST.len() as u64);
}

#[test]
fn the_hole_before_a_line_is_passed_over() {
    let files = Files::new();
    append(&files.out(), [&[0; 5000][..], COST.as_bytes(), b"\0\n"].concat());
    assert_eq!(costs(&read(&mut files.scanner("sh"), u64::MAX, 64)), 1);
}

/// Nothing streams from the real program, so nothing is read until its end.
#[test]
fn only_the_end_of_a_program_that_does_not_stream_is_read() {
    let files = Files::new();
    append(&files.out(), format!("{COST}{YGG}"));
    append(&files.err(), "warning\n");
    let mut scanner = files.scanner("ygg");
    let size = fs::metadata(files.out()).unwrap().len();
    assert_eq!(scanner.look(), Look { has_changed: true, left: 0, is_due: false });
    assert_eq!(scanner.offset(), size);
    let (facts, tails) = whole(&mut scanner);
    assert_eq!((facts.len(), costs(&facts)), (7, 1));
    assert!(matches!(facts.last(), Some(Fact::Result(result)) if result.completed == Some(true)));
    assert_eq!(
        tails,
        Tails {
            out_line: None,
            err_line: Some("warning".to_owned()),
            out_bytes: size,
            err_bytes: 8,
            unreadable: None,
            diagnostic: None,
            unseen: None,
        }
    );
}

/// C-95: the object at the end is found behind an output of any size.
#[test]
fn the_closing_object_is_found_behind_a_large_output() {
    let files = Files::new();
    append(&files.out(), "{\"completed\": tr ".repeat(1 << 20));
    append(&files.out(), format!("\n{YGG}and a word\n"));
    for kind in ["ygg", "sh"] {
        let (facts, tails) = whole(&mut files.scanner(kind));
        assert!(
            matches!(facts.last(), Some(Fact::Result(result)) if result.completed == Some(true))
        );
        assert_eq!(skipped(&facts), usize::from(kind == "sh"));
        assert_eq!(tails.out_line.as_deref(), Some("and a word"));
    }
}

/// C-33, C-34: invalid UTF-8 is shown with replacement characters; the tail is the last line that is not blank.
#[test]
fn the_tails_are_the_last_lines_that_show_something() {
    let files = Files::new();
    append(&files.out(), b"one\n\xff two \x1b[31m\n \n");
    append(&files.err(), "Traceback:\n  x\nKeyError: 'a'\n\n\n");
    let (_, tails) = whole(&mut files.scanner("sh"));
    assert_eq!(tails.out_line.as_deref(), Some("\u{fffd} two"));
    assert_eq!(tails.err_line.as_deref(), Some("KeyError: 'a'"));
    append(&files.out(), COST);
    let (_, tails) = whole(&mut files.scanner("sh"));
    assert_eq!(tails.out_line.as_deref(), Some("\u{fffd} two"));
    append(&files.out(), "z".repeat(9 << 20));
    let (_, tails) = whole(&mut files.scanner("sh"));
    assert_eq!(tails.out_line.map(|line| line.chars().count()), Some(401));
}

#[test]
fn what_cannot_be_read_is_said_and_never_followed_elsewhere() {
    let files = Files::new();
    append(&files.err(), format!("secret\n{COST}"));
    symlink(files.err(), files.out()).unwrap();
    let (facts, tails) = whole(&mut files.scanner("sh"));
    assert_eq!((facts, tails.out_line), (vec![], None));
    assert!(tails.unreadable.unwrap().contains("no regular file"));
    fs::remove_file(files.out()).unwrap();
    fs::create_dir(files.out()).unwrap();
    assert!(whole(&mut files.scanner("ygg")).1.unreadable.is_some());
}

/// C-104: what is shown of it can be no sign of life, so the clock of a silent agent goes on.
#[test]
fn what_cannot_be_read_makes_no_progress() {
    let files = Files::new();
    let elsewhere = files.folder.path().join("elsewhere");
    append(&elsewhere, COST);
    symlink(&elsewhere, files.out()).unwrap();
    let (mut worker, news) = start(16);
    worker.follow(files.follow(ID, "sh"));
    for _ in 0..3 {
        append(&elsewhere, COST);
        worker.look(ID);
        worker.look_all();
    }
    // An agent that can be read tells of itself, and nothing was told before.
    let readable = Files::new();
    append(&readable.out(), COST);
    worker.follow(readable.follow(AgentId(2), "sh"));
    worker.look(AgentId(2));
    assert_eq!(next(&news), News::Progress(AgentId(2)));
    assert!(matches!(next(&news), News::Facts { id: AgentId(2), .. }));
    worker.finish(ID, None);
    assert!(matches!(next(&news), News::Scanned(ID, Tails { unreadable: Some(_), .. })));
}

/// No sequence of growth loses or doubles a line.
#[test]
fn a_file_that_grows_byte_by_byte_is_read_as_if_it_were_whole() {
    let files = Files::new();
    let text = format!("a\n{COST}{{\"fleet\":\"nosuch\"}}\n{YGG}{COST}");
    let mut scanner = files.scanner("sh");
    let mut facts = Vec::new();
    for piece in text.as_bytes().chunks(7) {
        append(&files.out(), piece);
        facts.extend(read(&mut scanner, u64::MAX, 5));
    }
    let tails = scanner.finish(None, &mut facts);
    let at_once = whole(&mut files.scanner("sh"));
    assert_eq!((facts, tails), at_once);
    assert_eq!(costs(&at_once.0), 3);
}

/// Long enough for any machine; only what never comes takes so long.
const DEADLINE: Duration = Duration::from_mins(1);

fn start(bound: usize) -> (ScanWorker, Receiver<News>) {
    let (sender, receiver) = mpsc::sync_channel(bound);
    let worker = ScanWorker::start(move |news| {
        // A test that has seen enough does not listen any more.
        let _ = sender.send(news);
    });
    (worker.unwrap(), receiver)
}

fn next(news: &Receiver<News>) -> News {
    news.recv_timeout(DEADLINE).unwrap()
}

#[test]
fn the_worker_tells_facts_growth_and_the_end_in_order() {
    let files = Files::new();
    let (mut worker, news) = start(16);
    worker.follow(files.follow(ID, "sh"));
    append(&files.out(), COST);
    worker.look(ID);
    assert_eq!(next(&news), News::Progress(ID));
    let offset = COST.len() as u64;
    let fact = Fact::TotalCost("1".parse().unwrap());
    assert_eq!(next(&news), News::Facts { id: ID, facts: vec![fact.clone()], offset });
    append(&files.err(), "e\n");
    worker.look_all();
    assert_eq!(next(&news), News::Progress(ID));
    append(&files.out(), COST);
    worker.finish(ID, None);
    assert_eq!(next(&news), News::Facts { id: ID, facts: vec![fact], offset: 2 * offset });
    let tails = Tails {
        err_line: Some("e".to_owned()),
        out_bytes: 2 * offset,
        err_bytes: 2,
        ..Tails::default()
    };
    assert_eq!(next(&news), News::Scanned(ID, tails));
    // The agent is let go: nothing is told of it any more.
    append(&files.out(), COST);
    worker.look(ID);
    worker.finish(AgentId(2), None);
    assert!(matches!(next(&news), News::Scanned(AgentId(2), Tails { unreadable: Some(_), .. })));
}

/// How long an account is comes with what it tells, and once more before the last word: its end is written after that.
#[test]
fn the_account_is_told_with_the_facts_that_are_in_it() {
    let files = Files::new();
    let path = files.folder.path().join("transcript.log");
    let transcript = transcript::Start {
        path: path.clone(),
        header: "header\n".to_owned(),
        ..transcript::Start::default()
    };
    let (mut worker, news) = start(16);
    worker.follow(Follow { transcript: Some(transcript), ..files.follow(ID, "sh") });
    let piece = "{\"fleet\":\"text\",\"text\":\"a\",\"piece\":true}\n";
    append(&files.out(), format!("plain\n{COST}{piece}"));
    worker.look(ID);
    assert_eq!(next(&news), News::Progress(ID));
    let state = |news| match news {
        News::Facts { mut facts, .. } => match facts.pop() {
            Some(Fact::Transcript(state)) => state,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let told = state(next(&news));
    assert_eq!((told.bytes, told.pending.unwrap().text.as_str()), (7, "a"));
    worker.finish(ID, None);
    let told = state(next(&news));
    let account = fs::read_to_string(&path).unwrap();
    assert!(account.starts_with("header\n") && account.ends_with(" assistant| a\n"), "{account}");
    assert_eq!((told.bytes, told.pending), (account.len() as u64, None));
    assert!(matches!(next(&news), News::Scanned(ID, _)));
}

#[test]
fn a_silent_agent_ends_with_one_word() {
    let files = Files::new();
    let (mut worker, news) = start(16);
    worker.follow(files.follow(ID, "sh"));
    worker.finish(ID, None);
    worker.finish(ID, None);
    assert_eq!(next(&news), News::Scanned(ID, Tails::default()));
}

#[test]
fn a_flooding_agent_does_not_hold_up_the_others() {
    let (flood, quiet) = (Files::new(), Files::new());
    append(&flood.out(), "text text text text text text text\n".repeat(1 << 20));
    append(&quiet.out(), COST);
    let (mut worker, news) = start(0);
    worker.follow(flood.follow(ID, "sh"));
    worker.follow(quiet.follow(AgentId(2), "sh"));
    worker.finish(ID, None);
    // The first word of the flood is taken only when the other agent's order is there.
    worker.finish(AgentId(2), None);
    let mut behind = Vec::new();
    loop {
        match next(&news) {
            News::Behind(id, left) => behind.push((id, left)),
            News::Scanned(AgentId(2), _) => break,
            News::Scanned(id, _) => panic!("{id} was read first"),
            News::Facts { .. } | News::Progress(_) | News::CaughtUp(_) => {}
        }
    }
    assert!(behind.len() <= 2 && behind.iter().all(|(id, _)| *id == ID), "{behind:?}");
    while !matches!(next(&news), News::Scanned(ID, _)) {}
}

#[test]
fn orders_never_wait_for_a_receiver_that_takes_nothing() {
    let files = Files::new();
    let (mut worker, news) = start(0);
    worker.follow(files.follow(ID, "sh"));
    for _ in 0..1000 {
        append(&files.out(), COST);
        worker.look(ID);
        worker.look_all();
    }
    worker.finish(ID, None);
    let mut count = 0;
    let tails = loop {
        match next(&news) {
            News::Facts { facts, .. } => count += costs(&facts),
            News::Scanned(_, tails) => break tails,
            News::Progress(_) | News::Behind(..) | News::CaughtUp(_) => {}
        }
    };
    assert_eq!((count, tails.out_bytes), (1000, 1000 * COST.len() as u64));
}

#[test]
fn an_agent_that_is_forgotten_is_not_heard_of_and_may_come_again() {
    let files = Files::new();
    append(&files.out(), COST);
    let (mut worker, news) = start(16);
    worker.follow(files.follow(ID, "sh"));
    worker.look(ID);
    assert_eq!(next(&news), News::Progress(ID));
    assert!(matches!(next(&news), News::Facts { .. }));
    worker.forget(ID);
    worker.finish(ID, None);
    assert!(matches!(next(&news), News::Scanned(_, Tails { unreadable: Some(_), .. })));
    worker.follow(files.follow(ID, "sh"));
    worker.finish(ID, None);
    assert!(matches!(next(&news), News::Facts { .. }));
    assert!(matches!(next(&news), News::Scanned(..)));
}

#[test]
fn an_agent_that_is_forgotten_before_the_worker_has_heard_of_it_is_not_followed() {
    let files = Files::new();
    append(&files.out(), COST);
    let (sender, news) = mpsc::sync_channel(16);
    let (go, wait) = mpsc::sync_channel(16);
    let mut worker = ScanWorker::start(move |told| {
        let _ = sender.send(told);
        let _ = wait.recv();
    })
    .unwrap();
    worker.follow(files.follow(ID, "sh"));
    worker.look(ID);
    assert_eq!(next(&news), News::Progress(ID));
    // The worker stands still now, so these two orders reach it together.
    worker.follow(files.follow(AgentId(2), "sh"));
    worker.forget(AgentId(2));
    go.send(()).unwrap();
    assert!(matches!(next(&news), News::Facts { id: ID, .. }));
    go.send(()).unwrap();
    worker.look_all();
    worker.finish(AgentId(2), None);
    assert!(matches!(next(&news), News::Scanned(AgentId(2), Tails { unreadable: Some(_), .. })));
    drop(go);
}

struct Faulty;

impl LineReader for Faulty {
    fn reads_lines(&self) -> bool {
        true
    }

    fn line(&mut self, _: &[u8], _: &mut Vec<Fact>) {
        panic!("a fault in a reader, on purpose");
    }

    fn reads_closing(&self) -> bool {
        false
    }

    fn closing(&mut self, _: crate::adapters::Closing<'_>, _: &mut Vec<Fact>) -> Option<usize> {
        None
    }

    fn is_text(&self, _: &[u8]) -> bool {
        true
    }
}

#[test]
fn a_fault_in_one_reader_ends_the_reading_of_that_agent_only() {
    let (faulty, sound) = (Files::new(), Files::new());
    let (mut worker, news) = start(64);
    append(&faulty.out(), COST);
    append(&sound.out(), COST);
    worker.follow(Follow { reader: Box::new(Faulty), ..faulty.follow(ID, "sh") });
    worker.follow(sound.follow(AgentId(2), "sh"));
    for looks_first in [true, false] {
        if looks_first {
            worker.look(ID);
        }
        worker.finish(ID, None);
        let told = next(&news);
        let told = if told == News::Progress(ID) { next(&news) } else { told };
        let News::Scanned(ID, tails) = told else { panic!("{told:?}") };
        assert!(tails.unreadable.is_some());
        worker.follow(Follow { reader: Box::new(Faulty), ..faulty.follow(ID, "sh") });
    }
    worker.finish(AgentId(2), None);
    assert!(matches!(next(&news), News::Facts { id: AgentId(2), .. }));
    assert!(matches!(next(&news), News::Scanned(AgentId(2), _)));
}

#[test]
fn the_thread_ends_when_its_worker_is_dropped() {
    let (worker, news) = start(1);
    drop(worker);
    assert_eq!(news.recv_timeout(DEADLINE), Err(mpsc::RecvTimeoutError::Disconnected));
}

/// Bytes of the kinds that matter to a scanner.
fn byte() -> impl Strategy<Value = Vec<u8>> {
    let tokens: Vec<&[u8]> = vec![
        b"{",
        b"}",
        b"\n",
        b"\0",
        b"\r",
        b" ",
        b"x",
        b"\xff",
        b"{\"fleet\":9}",
        COST.as_bytes(),
    ];
    proptest::sample::select(tokens).prop_map(<[u8]>::to_vec)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is written, in whatever pieces, each line is read once: as a plain split of the whole text says.
    #[test]
    fn reading_in_turns_is_the_same_as_splitting_the_whole_text(
        tokens in proptest::collection::vec(byte(), 0..60), cut in 0.0..1.0_f64, piece in 1_usize..40, budget in 1_u64..60,
    ) {
        let files = Files::new();
        let text = tokens.concat();
        let mut expected = Vec::new();
        let mut plain = reader("sh");
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.get(line.iter().take_while(|byte| **byte == 0).count()..).unwrap();
            if line.starts_with(b"{") {
                plain.line(line, &mut expected);
            }
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let cut = (cut * text.len() as f64) as usize;
        let mut scanner = files.scanner("sh");
        append(&files.out(), &text[..cut]);
        let mut facts = read(&mut scanner, budget, piece);
        append(&files.out(), &text[cut..]);
        facts.extend(read(&mut scanner, budget, piece));
        // As after a recovery.
        let mut scanner = Scanner::new(files.out(), files.err(), scanner.offset(), reader("sh"));
        facts.extend(read(&mut scanner, budget, piece));
        scanner.finish(None, &mut facts);
        prop_assert_eq!(facts, expected);
    }
}

/// Counts lines, and goes on counting where another one has stopped.
struct Counting(u32);

impl LineReader for Counting {
    fn reads_lines(&self) -> bool {
        true
    }

    fn line(&mut self, _: &[u8], _: &mut Vec<Fact>) {
        self.0 += 1;
    }

    fn reads_closing(&self) -> bool {
        false
    }

    fn closing(&mut self, _: crate::adapters::Closing<'_>, _: &mut Vec<Fact>) -> Option<usize> {
        None
    }

    fn ended(&mut self, end: crate::adapters::Ended<'_>, facts: &mut Vec<Fact>) {
        let text = format!("{:?} {:?}", end.code, str::from_utf8(end.err).unwrap());
        facts.push(Fact::Text { role: "end".to_owned(), text });
    }

    fn notes(&self) -> Option<String> {
        (self.0 > 0).then(|| self.0.to_string())
    }

    fn is_text(&self, _: &[u8]) -> bool {
        true
    }
}

#[test]
fn a_reader_tells_its_notes_when_they_change_and_hears_how_the_agent_ended() {
    let files = Files::new();
    let mut scanner = Scanner::new(files.out(), files.err(), 0, Box::new(Counting(0)));
    let mut buffer = [0; 64];
    let mut told = |scanner: &mut Scanner| {
        let mut facts = Vec::new();
        scanner.look();
        while scanner.turn(u64::MAX, &mut buffer, &mut facts) > 0 {}
        facts
    };
    append(&files.out(), "text\n");
    assert_eq!(told(&mut scanner), []);
    append(&files.out(), "{1}\n{2}\n");
    assert_eq!(told(&mut scanner), [Fact::Notes("2".to_owned())]);
    append(&files.out(), "text\n");
    assert_eq!(told(&mut scanner), []);
    append(&files.err(), "first\nlast\n");
    scanner.look();
    let mut facts = Vec::new();
    scanner.finish(Some(53), &mut facts);
    let text = "Some(53) \"first\\nlast\\n\"".to_owned();
    assert_eq!(facts, [Fact::Text { role: "end".to_owned(), text }]);
}

fn attempt(number: u32) -> String {
    format!("Attempt {number} failed with status 429. Retrying with backoff... _ApiError: {{}}\n")
}

fn attempts(facts: &[Fact]) -> Vec<u32> {
    let retry = |fact: &Fact| match fact {
        Fact::Retry(retry) => retry.attempt,
        _ => None,
    };
    facts.iter().filter_map(retry).collect()
}

/// Looks and reads as the worker does.
fn news(scanner: &mut Scanner) -> Vec<Fact> {
    let mut facts = Vec::new();
    if scanner.look().is_due {
        while scanner.turn(u64::MAX, &mut [0; 1024], &mut facts) > 0 {}
    }
    facts
}

#[test]
fn a_standard_error_is_read_line_by_line_as_it_grows() {
    let files = Files::new();
    let mut scanner = files.scanner("gemini");
    append(&files.err(), "Warning: x\n");
    append(&files.err(), attempt(1));
    assert_eq!(attempts(&news(&mut scanner)), [1]);
    assert!(!scanner.look().is_due, "nothing is new");
    let (begin, rest) = ("Attempt 2 fai", "led. Retrying with backoff... Error: fetch failed\n");
    append(&files.err(), begin);
    assert_eq!(news(&mut scanner), []);
    assert!(!scanner.look().is_due, "a line that has not ended is not read again and again");
    append(&files.err(), rest);
    append(&files.err(), attempt(3) + &attempt(4));
    assert_eq!(attempts(&news(&mut scanner)), [2, 3, 4]);
    fs::write(files.err(), "").unwrap();
    assert_eq!(news(&mut scanner), []);
    append(&files.err(), attempt(5));
    assert_eq!(attempts(&news(&mut scanner)), [5], "after it was cut");
}

#[test]
fn of_a_flood_on_the_standard_error_only_the_end_is_read() {
    let files = Files::new();
    let mut scanner = files.scanner("gemini");
    append(&files.err(), attempt(1));
    append(&files.err(), "x".repeat(30_000) + "\n" + &"y".repeat(60_000) + "\n" + &attempt(2));
    assert_eq!(attempts(&news(&mut scanner)), [2]);
    append(&files.err(), "z".repeat(200_000));
    assert_eq!(news(&mut scanner), []);
    append(&files.err(), "\n".to_owned() + &attempt(3));
    assert_eq!(
        attempts(&news(&mut scanner)),
        [3],
        "after a line that is longer than all that is read"
    );
}

#[test]
fn only_programs_that_tell_something_on_their_standard_error_are_read_there_and_never_what_was_there_before()
 {
    let files = Files::new();
    append(&files.err(), attempt(1));
    for kind in ["claude", "codex", "sh", "hermes"] {
        assert_eq!(news(&mut files.scanner(kind)), [], "{kind}");
    }
    let mut scanner = files.scanner("gemini");
    scanner.adopt();
    assert_eq!(news(&mut scanner), []);
    append(&files.err(), attempt(2));
    assert_eq!(attempts(&news(&mut scanner)), [2]);
}

/// What goes on after a try that failed must not stand before it.
#[test]
fn what_the_standard_error_tells_comes_before_what_the_output_tells() {
    let files = Files::new();
    let mut scanner = files.scanner("gemini");
    append(&files.out(), "{\"type\":\"init\",\"session_id\":\"s\"}\n");
    append(&files.err(), attempt(1));
    let told = news(&mut scanner);
    assert!(matches!(told[..], [Fact::Retry(_), Fact::Session(_), ..]), "{told:?}");
}

#[test]
fn a_link_in_place_of_a_standard_error_is_not_followed() {
    let files = Files::new();
    let elsewhere = files.folder.path().join("elsewhere");
    append(&elsewhere, attempt(1));
    symlink(&elsewhere, files.err()).unwrap();
    let mut scanner = files.scanner("gemini");
    assert_eq!(news(&mut scanner), []);
}
