//! What holds for the records of all programs, and the shapes that none of them may be misled by.

use proptest::prelude::*;

use super::*;
use crate::adapters::event_stream::tests::{facts, start};
use crate::adapters::{LineReader, ReaderStart, adapter};
use crate::core::{AgentKind, NanoUsd};

/// When the runs of these tests begin; a second of its own for what comes later.
const SINCE: &str = "2026-11-29T12:00:00Z";
const LATER: &str = "2026-11-29T12:00:01.5Z";
const EARLIER: &str = "2026-11-29T11:59:59.999Z";
const THREAD: &str = "01a229a5-a1a4-7f60-aabc-f02dd092d9bf";

fn at(time: &str) -> Moment {
    let time: jiff::Timestamp = time.parse().unwrap();
    Moment(u64::try_from(time.as_millisecond()).unwrap())
}

fn reader(kind: &str, argv: &[&str]) -> Box<dyn LineReader> {
    let sessions = Some(Sessions { folder: PathBuf::from("/home"), since: at(SINCE) });
    let argv = argv.iter().map(|&word| word.to_owned()).collect();
    start(kind, ReaderStart { argv, sessions, ..ReaderStart::default() })
}

fn told(reader: &mut dyn LineReader, lines: &[String]) -> Vec<Fact> {
    for line in lines {
        reader.session_line(line.as_bytes());
    }
    let mut facts = Vec::new();
    reader.session_read(&mut facts);
    facts
}

/// Input, cache read, cache write and output of the totals that were told last.
fn total(facts: &[Fact]) -> Option<[u64; 4]> {
    facts.iter().rev().find_map(|fact| match fact {
        Fact::RunTotal(usage) => {
            Some([usage.input, usage.cache_read, usage.cache_write, usage.output])
        }
        _ => None,
    })
}

fn response(kind: &str, time: &str, id: &str, numbers: &str) -> String {
    match kind {
        "codex" => format!(
            r#"{{"timestamp":"{time}","type":"token_usage_record","payload":{{"response_id":"{id}","usage":{{{numbers}}}}}}}"#
        ),
        "gemini" => format!(
            r#"{{"id":"{id}","timestamp":"{time}","type":"gemini","tokens":{{{numbers}}},"model":"gemini-2.5-pro"}}"#
        ),
        _ => format!(
            r#"{{"type":"session.usage_record","data":{{"usage":{{"model":"gpt-5.5",{numbers}}}}},"id":"{id}","timestamp":"{time}"}}"#
        ),
    }
}

/// The names that a program gives to input, cached input and output.
fn names(kind: &str) -> [&'static str; 3] {
    match kind {
        "codex" => ["input_tokens", "cached_input_tokens", "output_tokens"],
        "gemini" => ["input", "cached", "output"],
        _ => ["inputTokens", "cacheReadTokens", "outputTokens"],
    }
}

fn numbers(kind: &str, values: [&str; 3]) -> String {
    let pairs = names(kind).into_iter().zip(values);
    pairs.map(|(name, value)| format!(r#""{name}":{value}"#)).collect::<Vec<_>>().join(",")
}

const KINDS: [&str; 3] = ["codex", "gemini", "copilot"];

#[test]
fn each_response_counts_once_and_none_of_earlier_runs() {
    for kind in KINDS {
        let line = |time, id, input| response(kind, time, id, &numbers(kind, [input, "30", "7"]));
        let mut reader = reader(kind, &[]);
        let lines = [
            line(EARLIER, "old", "900"),
            line(LATER, "one", "100"),
            line(LATER, "one", "100"),
            line(SINCE, "two", "50"),
            // Recorded again when the session was gone on with.
            line(LATER, "old", "900"),
        ];
        assert_eq!(total(&told(reader.as_mut(), &lines)), Some([90, 60, 0, 14]), "{kind}");
        assert_eq!(told(reader.as_mut(), &lines), [], "{kind}: nothing is new");
        let more = [line(LATER, "one", "120"), line(EARLIER, "one", "900")];
        assert_eq!(total(&told(reader.as_mut(), &more)), Some([110, 60, 0, 14]), "{kind}");
    }
}

#[test]
fn numbers_and_times_that_cannot_be_do_not_count() {
    for kind in KINDS {
        let mut reader = reader(kind, &[]);
        let good = ["100", "30", "7"];
        let mut lines = vec!["{}".to_owned(), "{".to_owned(), "nonsense".to_owned()];
        for bad in ["-1", "\"5\"", "1e300", "null", "[1]", "18446744073709551616"] {
            for place in [0, 2] {
                let mut values = good;
                values[place] = bad;
                lines.push(response(kind, LATER, "x", &numbers(kind, values)));
            }
        }
        // More from the cache than there is altogether.
        lines.push(response(kind, LATER, "x", &numbers(kind, ["10", "11", "1"])));
        lines.push(response(kind, LATER, "x", &numbers(kind, ["10", "\"1\"", "1"])));
        lines.push(response(kind, LATER, "", &numbers(kind, good)));
        lines.push(response(kind, LATER, &"x".repeat(101), &numbers(kind, good)));
        lines.push(response(kind, "yesterday", "x", &numbers(kind, good)));
        lines.push(response(kind, "", "x", &numbers(kind, good)));
        let whole = response(kind, LATER, "x", &numbers(kind, good));
        lines.push(whole.replace("timestamp", "time"));
        lines.push(whole.replace("\"id\"", "\"no\"").replace("response_id", "no"));
        for other in ["\"gemini\"", "token_usage_record", "session.usage_record"] {
            let changed = whole.replace(other, "\"other\"");
            lines.extend((changed != whole).then_some(changed));
        }
        lines.extend((0..whole.len()).map(|end| whole.chars().take(end).collect()));
        lines.push(format!("{whole} {whole}"));
        assert_eq!(told(reader.as_mut(), &lines), [], "{kind}");
        assert_eq!(total(&told(reader.as_mut(), &[whole])), Some([70, 30, 0, 7]), "{kind}");
    }
}

#[test]
fn without_a_place_nothing_is_read_and_other_kinds_have_none() {
    for kind in KINDS {
        let mut unplaced = start(kind, ReaderStart::default());
        let line = response(kind, LATER, "one", &numbers(kind, ["100", "30", "7"]));
        let is_read = unplaced.reads_session() || unplaced.session_files().is_some();
        assert!(!is_read && told(unplaced.as_mut(), &[line]).is_empty(), "{kind}");
        assert!(reader(kind, &[]).reads_session());
    }
    for kind in ["claude", "opencode", "qwen", "hermes", "ygg", "sh", "command"] {
        assert!(!reader(kind, &[]).reads_session(), "{kind}");
        assert_eq!(adapter(&AgentKind(kind.to_owned())).unwrap().session_home(), None);
    }
}

/// Prices are $5, $0.50 and $30 for a million tokens; twice that for long prompts.
#[test]
fn a_response_is_priced_by_its_own_model_and_its_own_length() {
    let mut reader = reader("codex", &["codex", "-m", "gpt-5.5"]);
    let count = |id, input| response("codex", LATER, id, &numbers("codex", [input, "0", "0"]));
    let model = |model| format!(r#"{{"type":"turn_context","payload":{{"model":"{model}"}}}}"#);
    let lines = [count("1", "1000"), model("gpt-5.5"), count("2", "300000")];
    let estimate = |facts: &[Fact]| match facts.last() {
        Some(Fact::RunTotal(usage)) => usage.estimate.map(NanoUsd::to_exact),
        other => panic!("{other:?}"),
    };
    let facts = told(reader.as_mut(), &lines);
    assert_eq!((facts.len(), estimate(&facts).as_deref()), (1, Some("3.005")));
    let facts = told(reader.as_mut(), &[model("gpt-9"), count("3", "1000")]);
    assert_eq!(facts.first(), Some(&Fact::Model("gpt-9".to_owned())));
    assert_eq!(estimate(&facts).as_deref(), Some("3.005"), "what has no price adds none");
}

/// As older versions recorded it: running totals, which come again without a response, and at the beginning of a new run.
#[test]
fn running_totals_of_codex_count_where_no_response_is_recorded() {
    let mut reader = reader("codex", &[]);
    let count = |time, total: u64, last| {
        format!(
            r#"{{"timestamp":"{time}","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total},"output_tokens":1}},"last_token_usage":{{"input_tokens":{last},"output_tokens":1}}}}}}}}"#
        )
    };
    let none = r#"{"timestamp":"2026-11-29T12:00:01Z","type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    let lines = [
        none.to_owned(),
        count(EARLIER, 100, 100),
        count(LATER, 100, 100),
        count(LATER, 300, 200),
        count(LATER, 300, 200),
    ];
    assert_eq!(total(&told(reader.as_mut(), &lines)), Some([200, 0, 0, 1]));
    let one = response("codex", LATER, "resp_1", &numbers("codex", ["50", "0", "5"]));
    let lines = [one, count(LATER, 350, 50)];
    assert_eq!(total(&told(reader.as_mut(), &lines)), Some([250, 0, 0, 6]));
}

fn names_of(way: &[Part]) -> String {
    let name = |part: &Part| match part {
        Part::Named(name) => name.clone(),
        Part::Any => "*".to_owned(),
        Part::Like(begin, end) => format!("{begin}*{end}"),
    };
    way.iter().map(name).collect::<Vec<_>>().join("/")
}

/// Its day depends on the clock of the place where it began.
#[test]
fn a_thread_of_codex_is_looked_for_on_the_days_that_its_id_tells() {
    let mut reader = reader("codex", &[]);
    assert_eq!(reader.session_files(), None, "no thread is known");
    facts(reader.as_mut(), &[&format!(r#"{{"type":"thread.started","thread_id":"{THREAD}"}}"#)]);
    let files = reader.session_files().unwrap();
    assert_eq!((files.folder, files.says), (PathBuf::from("/home"), None));
    let ways: Vec<_> = files.ways.iter().map(|way| names_of(way)).collect();
    let file = format!("rollout-*-{THREAD}.jsonl");
    let expected = ["28", "29", "30"].map(|day| format!("sessions/2026/11/{day}/{file}"));
    assert_eq!(ways, expected);
}

#[test]
fn a_session_of_gemini_or_copilot_is_looked_for_by_its_id() {
    let mut gemini = reader("gemini", &[]);
    let init = r#"{"type":"init","session_id":"cc1853a0-9479-4c5b","model":"m"}"#;
    facts(gemini.as_mut(), &[init]);
    let files = gemini.session_files().unwrap();
    assert_eq!(files.says.as_deref(), Some("cc1853a0-9479-4c5b"));
    assert_eq!(names_of(&files.ways[0]), ".gemini/tmp/*/chats/session-*-cc1853a0.jsonl");
    let chosen = reader("copilot", &["copilot", "--session-id", "0f0e0d0c-0b0a"]);
    let files = chosen.session_files().unwrap();
    assert_eq!(names_of(&files.ways[0]), "session-state/0f0e0d0c-0b0a/events.jsonl");
    let mut late = reader("copilot", &["copilot", "--continue"]);
    assert_eq!(late.session_files(), None);
    let last = r#"{"type":"result","sessionId":"0f0e0d0c-0b0a","exitCode":0}"#;
    facts(late.as_mut(), &[last]);
    assert!(late.session_files().is_some());
}

#[test]
fn after_a_recovery_the_session_need_not_be_named_again() {
    for kind in KINDS {
        let sessions = Some(Sessions { folder: PathBuf::from("/home"), since: at(SINCE) });
        let session = Some(THREAD.to_owned());
        let reader = start(kind, ReaderStart { session, sessions, ..ReaderStart::default() });
        assert!(reader.session_files().is_some(), "{kind}");
    }
}

#[test]
fn an_id_leads_nowhere_else() {
    for id in [
        "",
        "short",
        "../../etc/passwd",
        "01a229a5/a1a4-7f60-aabc",
        "0f0e0d0c\u{1b}-0b0a",
        "x\0y-------",
    ] {
        assert_eq!(safe_id(id), None, "{id:?}");
        let argv = ["copilot", "--session-id", id];
        assert_eq!(reader("copilot", &argv).session_files(), None);
        for kind in ["codex", "gemini"] {
            let sessions = Some(Sessions { folder: PathBuf::from("/home"), since: at(SINCE) });
            let session = Some(id.to_owned());
            let start = start(kind, ReaderStart { session, sessions, ..ReaderStart::default() });
            assert_eq!(start.session_files(), None, "{kind} {id:?}");
        }
    }
    // An id of another kind tells no day.
    let sessions = Some(Sessions { folder: PathBuf::from("/home"), since: at(SINCE) });
    let session = Some("01a229a5-a1a4-4f60-aabc-f02dd092d9bf".to_owned());
    let reader = start("codex", ReaderStart { session, sessions, ..ReaderStart::default() });
    assert_eq!(reader.session_files(), None);
}

#[test]
fn the_agents_own_variables_decide_where_its_sessions_are() {
    let home = SessionHome { variable: "CODEX_HOME", default: ".codex" };
    let folder = |given: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = given.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        };
        home.folder(Path::new("/project"), variable).map(|folder| folder.display().to_string())
    };
    assert_eq!(folder(&[]), None);
    assert_eq!(folder(&[("HOME", "")]), None);
    assert_eq!(folder(&[("HOME", "/me")]).as_deref(), Some("/me/.codex"));
    assert_eq!(folder(&[("HOME", "/me"), ("CODEX_HOME", "")]).as_deref(), Some("/me/.codex"));
    assert_eq!(folder(&[("HOME", "/me"), ("CODEX_HOME", "/c")]).as_deref(), Some("/c"));
    assert_eq!(folder(&[("CODEX_HOME", "c")]).as_deref(), Some("/project/c"));
}

#[derive(Debug, Clone)]
struct Told(u8, bool, u64, u64);

proptest! {
    /// Whatever comes how often, the sum is that of the largest numbers of each response, and no total is ever less.
    #[test]
    fn totals_are_the_sum_of_the_largest_numbers(
        all in proptest::collection::vec((0_u8..20, any::<bool>(), 0_u64..1000, 0_u64..1000), 0..100)
    ) {
        let all: Vec<Told> = all.into_iter().map(|(id, is_past, input, output)| Told(id, is_past, input, output)).collect();
        let mut spent = Spent::new(Moment(10));
        let mut expected: BTreeMap<u8, Option<(u64, u64)>> = BTreeMap::new();
        let mut before = 0;
        for Told(id, is_past, input, output) in all {
            let at = Moment(if is_past { 9 } else { 10 });
            let estimate = Some(NanoUsd::from_nanos(input * 2));
            spent.response(&id.to_string(), at, Usage { input, output, estimate, ..Usage::default() });
            let known = expected.entry(id).or_insert((!is_past).then_some((0, 0)));
            if let (Some(known), false) = (known.as_mut(), is_past) {
                *known = (known.0.max(input), known.1.max(output));
            }
            let mut facts = Vec::new();
            spent.tell(&mut facts);
            if let Some(Fact::RunTotal(usage)) = facts.first() {
                prop_assert!(usage.input + usage.output >= before);
                before = usage.input + usage.output;
                prop_assert_eq!(usage.estimate, Some(NanoUsd::from_nanos(usage.input * 2)));
            }
        }
        let input: u64 = expected.values().flatten().map(|one| one.0).sum();
        let output: u64 = expected.values().flatten().map(|one| one.1).sum();
        prop_assert_eq!((spent.sum.input, spent.sum.output), (input, output));
    }
}
