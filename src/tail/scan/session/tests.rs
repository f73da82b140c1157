//! Records of sessions as files: growing, missing, cut, exchanged, and things that are no files at all.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::adapters::{ReaderStart, Sessions, adapter};
use crate::core::{AgentId, AgentKind, Moment};
use crate::tail::scan::{Follow, News, ScanWorker, Scanner};

const THREAD: &str = "01a229a5-a1a4-7f60-aabc-f02dd092d9bf";
const DAY: &str = "sessions/2026/11/29";

/// An agent of codex with its output and its record.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join(DAY)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn record(&self) -> PathBuf {
        self.path(&format!("{DAY}/rollout-2026-11-29T23-30-50-{THREAD}.jsonl"))
    }

    fn reader(&self) -> Box<dyn LineReader> {
        let sessions = Some(Sessions { folder: self.folder.path().to_owned(), since: Moment(0) });
        let start = ReaderStart { sessions, ..ReaderStart::default() };
        adapter(&AgentKind("codex".to_owned())).unwrap().reader(start)
    }

    fn scanner(&self) -> Scanner {
        append(
            &self.path("out"),
            &format!("{{\"type\":\"thread.started\",\"thread_id\":\"{THREAD}\"}}\n"),
        );
        Scanner::new(self.path("out"), self.path("err"), 0, self.reader())
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A response of so many tokens.
fn response(id: &str, tokens: u64) -> String {
    format!(
        "{{\"timestamp\":\"2026-11-29T12:00:00Z\",\"type\":\"token_usage_record\",\"payload\":{{\"response_id\":\"{id}\",\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":0}}}}}}\n"
    )
}

/// Looks, reads what there is in small parts, and returns the totals that were told.
fn read(scanner: &mut Scanner) -> (bool, Vec<u64>) {
    let look = scanner.look();
    let (mut facts, mut buffer) = (Vec::new(), [0; 7]);
    while scanner.turn(50, &mut buffer, &mut facts) > 0 {}
    (look.has_changed, totals(&facts))
}

fn totals(facts: &[Fact]) -> Vec<u64> {
    let total = |fact: &Fact| match fact {
        Fact::RunTotal(usage) => Some(usage.input),
        _ => None,
    };
    facts.iter().filter_map(total).collect()
}

#[test]
fn a_record_is_read_as_it_grows_and_that_is_a_sign_of_life() {
    let place = Place::new();
    let mut scanner = place.scanner();
    assert_eq!(read(&mut scanner), (true, vec![]));
    assert_eq!(read(&mut scanner), (false, vec![]));
    append(&place.record(), &format!("{{\"type\":\"session_meta\"}}\n{}", response("a", 5)));
    assert_eq!(read(&mut scanner), (true, vec![5]));
    assert_eq!(read(&mut scanner), (false, vec![]));
    let two = response("b", 7);
    let (head, tail) = two.split_at(40);
    append(&place.record(), head);
    assert_eq!(read(&mut scanner), (true, vec![]));
    append(&place.record(), &format!("{tail}text\n"));
    append(&place.path("out"), "text\n");
    assert_eq!(read(&mut scanner), (true, vec![12]));
}

#[test]
fn a_record_that_is_there_before_anybody_looks_is_read_in_the_first_turns() {
    let place = Place::new();
    append(&place.record(), &response("a", 5));
    // Its last line has no end.
    append(&place.record(), response("b", 7).trim_end());
    let mut scanner = place.scanner();
    assert_eq!(read(&mut scanner).1, [5]);
    let mut facts = Vec::new();
    let tails = scanner.finish(Some(0), &mut facts);
    assert_eq!((totals(&facts), tails.unreadable), (vec![12], None));
}

#[test]
fn a_record_that_is_cut_or_exchanged_is_read_again_and_counts_once() {
    let place = Place::new();
    let mut scanner = place.scanner();
    append(&place.record(), &[response("a", 5), response("b", 7)].concat());
    assert_eq!(read(&mut scanner).1, [12]);
    fs::write(place.record(), response("c", 1)).unwrap();
    assert_eq!(read(&mut scanner).1, [13]);
    let (one, two) = (place.path("one"), [response("a", 5), response("d", 100)].concat());
    append(&one, &two);
    fs::rename(one, place.record()).unwrap();
    assert_eq!(read(&mut scanner), (true, vec![113]));
    fs::remove_file(place.record()).unwrap();
    assert_eq!(read(&mut scanner), (false, vec![]));
    append(&place.record(), &response("e", 1000));
    assert_eq!(read(&mut scanner), (true, vec![1113]));
}

/// Neither is what others have written read for it, nor does anything wait for it.
#[test]
fn what_is_no_file_of_this_session_is_no_trouble() {
    let whole = [response("a", 5), response("b", 7)].concat();
    let link = |place: &Place| {
        append(&place.path("elsewhere"), &whole);
        symlink(place.path("elsewhere"), place.record()).unwrap();
    };
    let pipe = |place: &Place| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, place.record(), mode).unwrap();
    };
    let folder = |place: &Place| fs::create_dir(place.record()).unwrap();
    let other = |place: &Place| {
        let name = place.record().display().to_string().replace("d9bf", "d9b0");
        append(Path::new(&name), &whole);
    };
    let binary = |place: &Place| fs::write(place.record(), [0, 255, 10, 123, 0, 10]).unwrap();
    let long = |place: &Place| {
        let padding = "x".repeat(1 << 20);
        let line = response("a", 5).replace("\"type\"", &format!("\"x\":\"{padding}\",\"type\""));
        append(&place.record(), &line);
    };
    let no_folder = |place: &Place| fs::remove_dir_all(place.path("sessions")).unwrap();
    let makers: [&dyn Fn(&Place); 7] = [&link, &pipe, &folder, &other, &binary, &long, &no_folder];
    for (number, make) in makers.into_iter().enumerate() {
        let place = Place::new();
        make(&place);
        let mut scanner = place.scanner();
        let mut buffer = [0; 4096];
        let mut facts = Vec::new();
        scanner.look();
        while scanner.turn(u64::MAX, &mut buffer, &mut facts) > 0 {}
        let tails = scanner.finish(Some(0), &mut facts);
        assert_eq!((totals(&facts), tails.unreadable), (vec![], None), "{number}");
        let odd = facts.iter().filter(|fact| matches!(fact, Fact::Skipped | Fact::Unknown));
        assert_eq!(odd.count(), 0, "{number}");
    }
}

#[test]
fn a_link_that_takes_the_place_of_a_record_is_not_followed() {
    let place = Place::new();
    let mut scanner = place.scanner();
    append(&place.record(), &response("a", 5));
    assert_eq!(read(&mut scanner).1, [5]);
    append(&place.path("elsewhere"), &response("b", 7));
    fs::remove_file(place.record()).unwrap();
    symlink(place.path("elsewhere"), place.record()).unwrap();
    assert_eq!(read(&mut scanner), (false, vec![]));
}

#[test]
fn of_a_huge_record_only_the_end_is_read() {
    let place = Place::new();
    append(&place.record(), &response("a", 5));
    let file = OpenOptions::new().write(true).open(place.record()).unwrap();
    // A hole takes no room on the disk.
    file.set_len(MOST_BYTES).unwrap();
    append(&place.record(), &format!("\n{}", response("b", 7)));
    let metadata = fs::metadata(place.record()).unwrap();
    let followed = Followed::new(place.record(), &metadata);
    assert_eq!(followed.lines.at(), metadata.len() - MOST_BYTES);
    let mut session = Session::new(place.files());
    session.look(true);
    let (mut reader, mut facts, mut buffer) = (place.reader(), Vec::new(), vec![0; 1 << 20]);
    let mut turns = 0;
    while session.left() > 0 {
        session.turn(32 << 20, &mut buffer, reader.as_mut(), &mut facts);
        turns += 1;
    }
    assert_eq!((totals(&facts), turns), (vec![7], 8));
}

impl Place {
    fn files(&self) -> SessionFiles {
        let mut reader = self.reader();
        let line = format!("{{\"type\":\"thread.started\",\"thread_id\":\"{THREAD}\"}}");
        reader.line(line.as_bytes(), &mut Vec::new());
        reader.session_files().unwrap()
    }
}

#[test]
fn files_are_found_by_parts_of_their_paths_and_by_what_they_say() {
    let folder = TempDir::new().unwrap();
    let make = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        append(&path, text);
        path
    };
    let wanted = make("a/chats/session-1-abc.jsonl", "{\"sessionId\":\"abc-def\"}\n");
    let larger = make("b/chats/session-2-abc.jsonl", "{\"sessionId\":\"abc-def\"}\n{}\n");
    make("b/chats/session-3-abc.jsonl", "{\"sessionId\":\"abc-xyz\"}\n");
    make("b/chats/session-4-abc.json", "{\"sessionId\":\"abc-def\"}\n");
    make("b/others/session-5-abc.jsonl", "{\"sessionId\":\"abc-def\"}\n");
    make("chats/session-6-abc.jsonl", "{\"sessionId\":\"abc-def\"}\n");
    let file = Part::Like("session-", "-abc.jsonl".to_owned());
    let ways = vec![vec![Part::Any, Part::Named("chats".to_owned()), file]];
    let says = Some("abc-def".to_owned());
    let files = SessionFiles { folder: folder.path().to_owned(), ways, says };
    let mut session = Session::new(files);
    session.look(true);
    let found: Vec<_> = session.found.iter().map(|followed| followed.path.clone()).collect();
    assert_eq!(found, [larger, wanted]);
    // However many there are, no more than so many are read.
    for number in 10..60 {
        make(&format!("c/chats/session-{number}-abc.jsonl"), "{\"sessionId\":\"abc-def\"}\n");
    }
    session.search();
    assert_eq!(session.found.len(), FILES);
}

#[test]
fn a_missing_record_is_searched_less_and_less() {
    let place = Place::new();
    let mut session = Session::new(place.files());
    for _ in 0..SOON {
        assert!(!session.look(false));
    }
    append(&place.record(), &response("a", 5));
    let looks = (1..100).find(|_| session.look(false)).unwrap();
    assert!((2..=SELDOM).contains(&looks), "{looks}");
    let mut session = Session::new(place.files());
    session.looks = SOON + 1;
    assert!(session.look(true), "the program has done something");
}

#[test]
fn however_busy_the_agent_is_searches_in_vain_become_rare_and_the_last_look_makes_one() {
    let place = Place::new();
    let mut session = Session::new(place.files());
    let searches = |session: &mut Session, looks: u32| {
        let mut searches = 0;
        for _ in 0..looks {
            let next = session.next;
            session.look(true);
            searches += u32::from(session.next != next);
        }
        searches
    };
    assert_eq!(searches(&mut session, SOON), SOON);
    let later = searches(&mut session, 10 * MOST_SELDOM);
    assert!((10..=20).contains(&later), "{later}");
    append(&place.record(), &response("a", 5));
    session.hurry();
    assert!(session.look(false), "nothing was searched at the end");
}

/// A record in a folder with so many others that a search takes long.
#[test]
fn a_search_through_thousands_of_files_is_paid_with_looks() {
    let place = Place::new();
    for number in 0..2_000 {
        append(&place.path(&format!("{DAY}/{number}.jsonl")), "");
    }
    let mut session = Session::new(place.files());
    session.look(true);
    assert!(session.next >= 10, "{}", session.next);
}

/// The worker reads it although nothing is printed.
#[test]
fn a_silent_agent_is_read_by_its_record() {
    let place = Place::new();
    let _ = place.scanner();
    let (sender, news) = mpsc::sync_channel(16);
    let mut worker = ScanWorker::start(move |news| drop(sender.send(news))).unwrap();
    let follow = Follow {
        id: AgentId(1),
        out: place.path("out"),
        err: place.path("err"),
        report: place.path("report"),
        offset: 0,
        reader: place.reader(),
        transcript: None,
        is_adopted: false,
    };
    worker.follow(follow);
    worker.look_all();
    let next = || news.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!(next(), News::Progress(AgentId(1)));
    assert!(matches!(next(), News::Facts { .. }));
    append(&place.record(), &response("a", 5));
    worker.look_all();
    assert_eq!(next(), News::Progress(AgentId(1)));
    let News::Facts { facts, .. } = next() else { panic!("no facts") };
    assert_eq!(totals(&facts), [5]);
    append(&place.record(), &response("b", 7));
    worker.finish(AgentId(1), Some(0));
    let News::Facts { facts, .. } = next() else { panic!("no facts") };
    assert_eq!(totals(&facts), [12]);
    loop {
        if let News::Scanned(_, tails) = next() {
            assert_eq!(tails.unreadable, None);
            return;
        }
    }
}
