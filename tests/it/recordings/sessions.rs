//! Recorded sessions of codex, gemini and copilot: what each program prints and what it records beside that, read together
//! in every order.
//!
//! What may go here: what both come to. What may not: what the output alone tells.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use loki_fleet::adapters::{LineReader, ReaderStart, Sessions, adapter};
use loki_fleet::core::{
    AgentKind, CostStatus, Fact, Ledger, Moment, NanoUsd, SessionTotal, Tokens,
};
use loki_fleet::tail::scan::Scanner;
use tempfile::TempDir;

use super::folder;

/// One run of a session: a first one, or one that goes on.
#[derive(Debug, Clone, Copy)]
struct Run {
    program: &'static str,
    case: &'static str,
    /// Input, cache read, cache write, output.
    tokens: [u64; 4],
    /// In dollars.
    cost: &'static str,
}

/// The scenario answers with 1,300 fresh tokens, 800 from a cache and 50 of output, then with 1,300, 2,000 and 12.
/// Prices are $5, $0.50 and $30 per million, and of gemini $1.25, $0.125 and $10.
const RUNS: [Run; 6] = [
    Run { program: "codex", case: "session", tokens: [2_600, 2_800, 0, 62], cost: "0.01626" },
    // All of it once more, and a summary before that since another model goes on, of which no price is known.
    Run {
        program: "codex",
        case: "session-resumed",
        tokens: [2_650, 2_800, 0, 65],
        cost: "0.00034",
    },
    Run { program: "gemini", case: "session", tokens: [2_600, 2_800, 0, 62], cost: "0.00422" },
    Run {
        program: "gemini",
        case: "session-resumed",
        tokens: [1_300, 2_000, 0, 12],
        cost: "0.001995",
    },
    Run { program: "copilot", case: "session", tokens: [2_600, 2_800, 0, 62], cost: "0.01626" },
    Run {
        program: "copilot",
        case: "session-resumed",
        tokens: [1_300, 2_000, 0, 12],
        cost: "0.00786",
    },
];

impl Run {
    fn text(&self) -> Vec<u8> {
        fs::read(folder(self.program).join(format!("{}.stdout.jsonl", self.case))).unwrap()
    }

    fn meta(&self) -> serde_json::Value {
        let meta = fs::read(folder(self.program).join(format!("{}.meta.json", self.case))).unwrap();
        serde_json::from_slice(&meta).unwrap()
    }

    fn started(&self) -> String {
        self.meta()["started"].as_str().unwrap().to_owned()
    }

    /// The run that goes on after this one, or the first one before it.
    fn other(&self) -> Self {
        let is_other = |run: &&Self| run.program == self.program && run.case != self.case;
        *RUNS.iter().find(is_other).unwrap()
    }

    fn is_resumed(&self) -> bool {
        self.case == "session-resumed"
    }

    /// What the program had recorded at the end of this run.
    fn home(&self) -> TempDir {
        let (temp, home) = (TempDir::new().unwrap(), folder(self.program).join("home"));
        let later = if self.is_resumed() { "9".to_owned() } else { self.other().started() };
        for path in files(&home) {
            let kept = lines(&fs::read(&path).unwrap()).into_iter().take_while(|line| {
                let line: serde_json::Value = serde_json::from_slice(line).unwrap();
                let times = [&line["timestamp"], &line["startTime"], &line["$set"]["lastUpdated"]];
                times.iter().find_map(|time| time.as_str()).is_none_or(|time| *time < *later)
            });
            let copy = temp.path().join(path.strip_prefix(&home).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::write(copy, kept.collect::<Vec<_>>().concat()).unwrap();
        }
        temp
    }

    fn start(&self, folder: PathBuf) -> ReaderStart {
        let meta = self.meta();
        let started: jiff::Timestamp = self.started().parse().unwrap();
        let since = Moment(u64::try_from(started.as_millisecond()).unwrap());
        ReaderStart {
            argv: serde_json::from_value(meta["argv"].clone()).unwrap(),
            sessions: Some(Sessions { folder, since }),
            ..ReaderStart::default()
        }
    }

    fn reader(&self, folder: PathBuf) -> Box<dyn LineReader> {
        adapter(&AgentKind(self.program.to_owned())).unwrap().reader(self.start(folder))
    }

    /// The ledger that this run begins with: that of the one before it, if it goes on.
    fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::new(true);
        if !self.is_resumed() {
            return ledger;
        }
        let first = self.other();
        take(&mut ledger, &first.read(first.home().path()));
        ledger.continued()
    }

    /// Reads output and record to their ends.
    fn read(&self, home: &Path) -> Vec<Fact> {
        let folder = folder(self.program);
        let out = folder.join(format!("{}.stdout.jsonl", self.case));
        let mut scanner = Scanner::new(out, folder.join("no-err"), 0, self.reader(home.to_owned()));
        let mut facts = Vec::new();
        scanner.look();
        read_on(&mut scanner, &mut facts);
        scanner.finish(Some(0), &mut facts);
        facts
    }

    /// The files of the record, in lines, the largest last.
    fn record(&self) -> Vec<Vec<Vec<u8>>> {
        let home = self.home();
        let mut files = files(home.path());
        files.sort_by_key(|file| fs::metadata(file).unwrap().len());
        files.iter().map(|file| lines(&fs::read(file).unwrap())).collect()
    }

    #[track_caller]
    fn check(&self, ledger: &Ledger, how: &str) {
        let Run { program, case, tokens, cost } = *self;
        let Tokens { input, cache_read, cache_write, output } = ledger.tokens();
        let told = ledger.cost().map(NanoUsd::to_exact).unwrap_or_default();
        let told = (program, case, [input, cache_read, cache_write, output], told.as_str());
        assert_eq!(told, (program, case, tokens, cost), "{how}");
        assert_eq!((ledger.status(), ledger.anomalies()), (CostStatus::Estimated, 0), "{how}");
    }
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn read_on(scanner: &mut Scanner, facts: &mut Vec<Fact>) {
    let mut buffer = [0; 4096];
    while scanner.turn(4096, &mut buffer, facts) > 0 {}
}

/// Takes the numbers as the core does.
fn take(ledger: &mut Ledger, facts: &[Fact]) {
    for fact in facts {
        match fact {
            Fact::Usage { id, usage } => ledger.add(id.as_deref(), usage),
            Fact::SessionTotal(SessionTotal { usage }) => ledger.session_total(usage),
            Fact::RunTotal(usage) => ledger.run_total(usage),
            _ => {}
        }
    }
}

#[test]
fn output_and_record_together_come_to_what_the_run_has_spent() {
    for run in RUNS {
        let mut ledger = run.ledger();
        let facts = run.read(run.home().path());
        take(&mut ledger, &facts);
        run.check(&ledger, "read at once");
        let odd = facts.iter().filter(|fact| matches!(fact, Fact::Unknown | Fact::Skipped));
        assert_eq!(odd.count(), 0);
    }
}

/// Both grow line by line, one ahead of the other by more or less; and whatever was told, was true by then.
#[test]
fn output_and_record_may_come_in_any_order() {
    for run in RUNS {
        let out = lines(&run.text());
        let record: Vec<Vec<u8>> = run.record().concat();
        for ahead in 0..=out.len() {
            let mut reader = run.reader(PathBuf::new());
            let (mut ledger, mut facts) = (run.ledger(), Vec::new());
            for line in &out[..ahead] {
                reader.line(line, &mut facts);
            }
            let rest = out.len() - ahead;
            for (place, line) in record.iter().enumerate() {
                reader.session_line(line.trim_ascii_end());
                reader.session_read(&mut facts);
                if place < rest && ahead % 2 == 1 {
                    reader.line(out[ahead + place].trim_ascii_end(), &mut facts);
                }
            }
            let read = if ahead % 2 == 1 { ahead + rest.min(record.len()) } else { ahead };
            for line in &out[read..] {
                reader.line(line.trim_ascii_end(), &mut facts);
            }
            let mut before = 0;
            for fact in &facts {
                take(&mut ledger, std::slice::from_ref(fact));
                let all = ledger.tokens().total();
                assert!(all >= before && all <= run.tokens.iter().sum(), "{run:?}: {all}");
                before = all;
            }
            run.check(&ledger, &format!("{ahead} lines ahead"));
        }
    }
}

#[test]
fn the_record_alone_is_enough_and_may_be_read_twice() {
    for run in RUNS {
        let record: Vec<Vec<u8>> = run.record().concat();
        let doubled: Vec<_> = record.iter().flat_map(|line| [line, line]).collect();
        let again: Vec<_> = record.iter().chain(&record).collect();
        for lines in [record.iter().collect(), doubled, again] {
            let mut reader = run.reader(PathBuf::new());
            let mut facts = Vec::new();
            for line in lines {
                reader.session_line(line.trim_ascii_end());
            }
            reader.session_read(&mut facts);
            let mut ledger = run.ledger();
            take(&mut ledger, &facts);
            run.check(&ledger, "the record alone");
        }
    }
}

/// Cut anywhere, most closely in lines with numbers, the record tells less or the same, and never anything else.
#[test]
fn a_part_of_the_record_tells_no_more_than_the_whole() {
    for run in RUNS {
        let (whole, begun) = (run.tokens, run.ledger());
        let mut seen = std::collections::BTreeSet::new();
        for file in run.record() {
            let ends = [b"".as_slice(), b"}"];
            for (place, last) in file.iter().enumerate() {
                let text = String::from_utf8_lossy(last);
                let is_told = ["token_usage_record", "usage_record\"", "\"tokens\""]
                    .iter()
                    .any(|mark| text.contains(mark));
                let step = if is_told { 1 + last.len() / 500 } else { 97 };
                let mut reader = run.reader(PathBuf::new());
                let mut before = Vec::new();
                for line in &file[..place] {
                    reader.session_line(line.trim_ascii_end());
                }
                reader.session_read(&mut before);
                for at in (0..last.len()).step_by(step) {
                    for end in ends {
                        reader.session_line(&[&last[..at], end].concat());
                    }
                }
                let mut facts = before;
                reader.session_read(&mut facts);
                let mut ledger = begun.clone();
                take(&mut ledger, &facts);
                let Tokens { input, cache_read, cache_write, output } = ledger.tokens();
                let told = [input, cache_read, cache_write, output];
                assert!(told.iter().zip(whole).all(|(told, whole)| *told <= whole), "{told:?}");
                seen.insert(told);
            }
        }
        assert!(seen.len() > 1 || run.case == "session-resumed", "{run:?} tells {seen:?}");
    }
}

/// As after a recovery: another reader goes on with the output where the first one was, and with the record from its start.
#[test]
fn a_recovery_in_the_middle_of_a_session_comes_to_the_same() {
    for run in RUNS {
        let out = lines(&run.text());
        for cut in 0..=out.len() {
            let temp = TempDir::new().unwrap();
            let (path, err, home) = (temp.path().join("out"), temp.path().join("err"), run.home());
            fs::write(&path, out[..cut].concat()).unwrap();
            let (mut ledger, mut facts) = (run.ledger(), Vec::new());
            let mut scanner =
                Scanner::new(path.clone(), err.clone(), 0, run.reader(home.path().to_owned()));
            scanner.look();
            read_on(&mut scanner, &mut facts);
            let offset = scanner.offset();
            drop(scanner);
            take(&mut ledger, &facts);
            let last =
                |wanted: fn(&Fact) -> Option<&String>| facts.iter().rev().find_map(wanted).cloned();
            let session = last(|fact| match fact {
                Fact::Session(session) => Some(session),
                _ => None,
            });
            let notes = last(|fact| match fact {
                Fact::Notes(notes) => Some(notes),
                _ => None,
            });
            let start = ReaderStart { session, notes, ..run.start(home.path().to_owned()) };
            let reader = adapter(&AgentKind(run.program.to_owned())).unwrap().reader(start);
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(&out[cut..].concat()).unwrap();
            let mut scanner = Scanner::new(path, err, offset, reader);
            let mut facts = Vec::new();
            scanner.look();
            read_on(&mut scanner, &mut facts);
            scanner.finish(Some(0), &mut facts);
            take(&mut ledger, &facts);
            run.check(&ledger, &format!("from line {cut}"));
        }
    }
}
