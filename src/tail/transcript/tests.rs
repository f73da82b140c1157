//! Tests of what is told, how it is cut, what is hidden, and of what is in the file after whatever happens to it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::lines::Lines;
use super::*;
use crate::core::testing::{end as ended, row};
use crate::core::{
    AgentId, AgentResult, Batch, BatchId, ExitReason, Fact, FleetId, Moment, OpenTool, Outcome,
    Retry, StepState, Task, TranscriptState, Usage,
};

const AT: &str = "12:34:56";
const HEADER: &str = "agent:   k3f/0007, sh\n====\n";

fn text(role: &str, text: &str) -> Fact {
    Fact::Text { role: role.to_owned(), text: text.to_owned() }
}

fn piece(role: &str, text: &str) -> Fact {
    Fact::Piece { role: role.to_owned(), text: text.to_owned() }
}

fn step(id: Option<&str>, tool: &str, text: &str, state: StepState) -> Fact {
    Fact::Step { id: id.map(str::to_owned), tool: tool.to_owned(), text: text.to_owned(), state }
}

fn told(facts: &[Fact]) -> String {
    let (mut lines, mut told) = (Lines::default(), String::new());
    for fact in facts {
        lines.tell(fact, AT, &mut told);
    }
    lines.flush(AT, &mut told);
    told
}

/// The lines without the time of day, which each has.
fn words(facts: &[Fact]) -> Vec<String> {
    let told = told(facts);
    told.lines().map(|line| line.strip_prefix("12:34:56 ").unwrap().to_owned()).collect()
}

/// C-90: the shape of a line; newlines are collapsed; caps with the number of what is missing.
#[test]
fn a_line_has_a_time_a_role_and_one_line_of_text_up_to_its_cap() {
    assert_eq!(told(&[text("user", "a\n\tb\r\n c")]), "12:34:56 user     | a b c\n");
    assert_eq!(told(&[text("assistant", "x")]), "12:34:56 assistant| x\n");
    let caps = [("assistant", 600), ("", 600), ("thinking", 300), ("result", 400), ("user", 500)];
    for (role, cap) in caps {
        let fits = told(&[text(role, &"ä".repeat(cap))]);
        assert!(fits.ends_with("ä\n") && !fits.contains('…'), "{fits}");
        let long = told(&[text(role, &"ä".repeat(cap + 7))]);
        assert!(long.ends_with("ä …(+7 chars)\n"), "{long}");
        assert_eq!(long.matches('ä').count(), cap);
    }
    let long = told(&[step(None, "bash", &"y".repeat(300), StepState::Start)]);
    assert!(long.ends_with("y …(+86 chars)\n"), "{long}");
    // What nobody looks at is counted all the same.
    let huge = told(&[text("result", &"word ".repeat(10_000))]);
    assert!(huge.ends_with(" …(+49600 chars)\n"), "{huge}");
}

#[test]
fn a_cut_never_splits_a_grapheme() {
    let long = told(&[text("assistant", &format!("{}e\u{301}\u{302} and more", "x".repeat(598)))]);
    assert!(long.ends_with("x …(+12 chars)\n"), "{long}");
}

#[test]
fn everything_that_happens_is_told_in_words() {
    let answer = |answer: &str, error: &str| {
        Fact::Result(AgentResult {
            completed: Some(error.is_empty()),
            answer: Some(answer.to_owned()),
            error: error.to_owned(),
            ..AgentResult::default()
        })
    };
    let retry = Retry { attempt: Some(2), most: Some(10), cause: "401".to_owned() };
    let facts = [
        Fact::Session("s1".to_owned()),
        Fact::Model("m-1".to_owned()),
        Fact::Model("m-1".to_owned()),
        text("reasoning", "let me see"),
        step(Some("c1"), "bash", "ls", StepState::Start),
        step(Some("c2"), "read", "a.rs", StepState::Start),
        step(Some("c1"), "bash", "ls", StepState::End),
        text("result", "a.rs b.rs"),
        step(Some("c2"), "", "", StepState::Error),
        step(None, "grep", "x", StepState::End),
        Fact::Denied { tool: "bash".to_owned(), text: "rm -rf /".to_owned() },
        Fact::Retry(retry),
        Fact::Usage { id: None, usage: Usage::default() },
        Fact::Smoke { ok: Some(false), text: "1 of 3 failed".to_owned() },
        Fact::Unknown,
        answer("", "no key"),
        answer("forty-two", ""),
    ];
    let expected = [
        "session  | s1",
        "model    | m-1",
        "thinking | let me see",
        "tool     | bash: ls",
        "tool     | read: a.rs",
        "result   | a.rs b.rs",
        "tool     | read failed: a.rs",
        "tool     | grep: x",
        "denied   | bash: rm -rf /",
        "retry    | attempt 2 of 10 failed: 401",
        "check    | red: 1 of 3 failed",
        "final    | failed: no key",
        "final    | forty-two",
    ];
    assert_eq!(words(&facts), expected);
}

#[test]
fn an_agent_can_neither_start_a_line_nor_seem_to_write_one_of_fleets() {
    let facts = [
        text("end", "status=done"),
        text("a|b", "x"),
        text("\u{1b}[2J\nend      ", "\u{1b}[31mred\u{7}\n12:00:00 end      | status=done"),
        text("assistant", " \n\u{1b}[0m"),
    ];
    // A blank text is no line.
    let expected =
        ["agent    | status=done", "a/b      | x", "agent    | red 12:00:00 end | status=done"];
    assert_eq!(words(&facts), expected);
}

/// C-92: the pieces of a text that streams are one line, which stands before what comes next.
#[test]
fn pieces_become_one_line_before_the_next_event() {
    let facts = [
        piece("assistant", "It is "),
        Fact::Notes("n".to_owned()),
        piece("assistant", "done"),
        piece("assistant", ".\n"),
        piece("thinking", "hm"),
        step(None, "bash", "ls", StepState::Start),
        piece("assistant", "Bye"),
    ];
    let expected =
        ["assistant| It is done.", "thinking | hm", "tool     | bash: ls", "assistant| Bye"];
    assert_eq!(words(&facts), expected);
    let flood = vec![piece("", "0123456789"); 1_000];
    let line = told(&flood);
    assert!(line.ends_with("9 …(+9400 chars)\n") && line.lines().count() == 1, "{line}");
}

/// C-93: a program that tells the lines of a key one by one does not get them past the rules.
#[test]
fn a_private_key_that_comes_in_many_texts_is_hidden_to_its_end() {
    let say = |words: &str| text("result", words);
    let facts = [
        say("the key:\n-----BEGIN RSA PRIVATE KEY-----"),
        say("Proc-Type: 4,ENCRYPTED"),
        say("MIIEpAIBAAKCAQEA7bq9"),
        step(None, "bash", "ls", StepState::Start),
        say("q9+W8e7/R6t5==\n"),
        say("Y4u3\n-----END RSA PRIVATE KEY-----\nand ordinary text"),
        say("afterwards"),
    ];
    let expected = [
        "result   | the key: [redacted]",
        "tool     | bash: ls",
        "result   | and ordinary text",
        "result   | afterwards",
    ];
    assert_eq!(words(&facts), expected);
    // A word about keys hides nothing but what could be one.
    let facts = [say("it begins with -----BEGIN PRIVATE KEY-----"), say("is that so?"), say("yes")];
    assert_eq!(words(&facts)[1..], ["result   | is that so?", "result   | yes"]);
    assert_eq!(words(&facts).len(), 3);
}

fn header_of(task: &Task, path: &Path) -> String {
    let batch = Batch {
        id: BatchId::from_bits(0x1a2b),
        number: 2,
        agents: (5..10).map(AgentId).collect(),
        origin: None,
        inside: None,
        queued: Moment(0),
    };
    let fleet = FleetId("k3f".to_owned());
    let started = Moment(1_700_000_000_000);
    let header =
        Header { fleet: &fleet, id: AgentId(7), batch: &batch, index: 3, task, started, path };
    header.to_text(&TimeZone::UTC)
}

fn task(text: &str) -> Task {
    let mut task = (*crate::core::testing::task(text)).clone();
    task.context = Some("be kind".to_owned());
    task
}

/// C-91: the header has the id, the task's number, the goal and the start; the end marker status, reason and error.
#[test]
fn a_header_and_an_end_marker_frame_the_lines() {
    let path = Path::new("/state/agents/0007/transcript.log");
    let header = header_of(&task("write\na README"), path);
    let expected = "agent:   k3f/0007, sh\n\
        task:    3 of 5 in set 2 (deleg_00001a2b)\n\
        goal:    write a README\n\
        context: be kind\n\
        started: 2023-11-14 22:13:20 +00:00\n\
        follow:  tail -f /state/agents/0007/transcript.log\n\
        ========================================\n";
    assert_eq!(header, expected);
    let long = header_of(&task(&"x".repeat(700)), path);
    assert!(long.contains("x …(+200 chars)\n"), "{long}");

    let mut failed = *ended(row(7), Outcome::Failed, "no\nkey").end.unwrap();
    failed.reason = Some(ExitReason::MaxSteps);
    failed.at = Moment(1_700_000_000_000);
    let line = end_line(&failed, &TimeZone::UTC);
    let expected =
        "22:13:20 end      | status=failed exit_reason=max_steps duration=12.0s error: no key\n";
    assert_eq!(line, expected);
    failed.truncated = true;
    failed.error.clear();
    let line = end_line(&failed, &TimeZone::UTC);
    assert!(line.ends_with("duration=12.0s (answer cut off by a limit)\n"), "{line}");
}

/// A secret with what stands before it and after it, and what of it must not be found anywhere.
fn secret() -> impl Strategy<Value = (String, String)> {
    let token = "[A-Za-z0-9]{10}[0-9][A-Z][A-Za-z0-9]{20}";
    let name = "(API_KEY|DB_PASSWORD|GITHUB_TOKEN|client_secret|AWS_SECRET_ACCESS_KEY)";
    prop_oneof![
        token.prop_map(|token| (format!("Authorization: Bearer {token}"), token)),
        token.prop_map(|token| (format!("use bearer {token} here"), token)),
        (name, token).prop_map(|(name, token)| (format!("{name}={token}"), token)),
        (name, token)
            .prop_map(|(name, token)| (format!("\"{name}\": \"{token}\", \"a\": 1"), token)),
        token.prop_map(|token| (format!("sk-{token}"), token)),
        token.prop_map(|token| (format!("ghp_{token}"), token)),
        "[0-9A-Z]{16}".prop_map(|id| (format!("AKIA{id}"), id)),
        token.prop_map(|token| (format!("git clone https://bob:{token}@x.test/r"), token)),
        ("(RSA |EC |OPENSSH |)", token).prop_map(|(sort, token)| {
            let key = format!(
                "-----BEGIN {sort}PRIVATE KEY-----\n{token}\n-----END {sort}PRIVATE KEY-----"
            );
            (key, token)
        }),
    ]
}

/// Ordinary text before and after a secret, of any length around the caps.
fn filler() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-zäé]{1,9}", 0..160).prop_map(|words| words.join(" "))
}

/// All facts that have text, and the header and the end marker, with this one in them.
fn everywhere(text_with_it: &str, cut: usize) -> String {
    let owned = || text_with_it.to_owned();
    let cut = text_with_it.floor_char_boundary(cut % (text_with_it.len() + 1));
    let result = AgentResult { answer: Some(owned()), error: owned(), ..AgentResult::default() };
    let retry = Retry { attempt: None, most: None, cause: owned() };
    let mut all = told(&[
        text("assistant", text_with_it),
        text("thinking", text_with_it),
        text("result", text_with_it),
        text(text_with_it, "x"),
        piece("assistant", text_with_it.get(..cut).unwrap()),
        piece("assistant", text_with_it.get(cut..).unwrap()),
        step(None, text_with_it, text_with_it, StepState::Start),
        step(None, "bash", text_with_it, StepState::Error),
        Fact::Denied { tool: "bash".to_owned(), text: owned() },
        Fact::Retry(retry),
        Fact::Smoke { ok: None, text: owned() },
        Fact::Session(owned()),
        Fact::Model(owned()),
        Fact::Result(result),
    ]);
    let mut task = task(text_with_it);
    task.context = Some(owned());
    all.push_str(&header_of(&task, Path::new("/t")));
    all.push_str(&end_line(
        &ended(row(7), Outcome::Failed, text_with_it).end.unwrap(),
        &TimeZone::UTC,
    ));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// C-93: secrets of the known shapes never reach the file, wherever they stand and however they come; the names of
    /// their keys stay. The manifest has a test of its own for the same row.
    #[test]
    fn no_secret_is_in_a_transcript((secret, token) in secret(), before in filler(), after in filler(), cut in 0_usize..4000) {
        let all = everywhere(&format!("{before} {secret} {after}"), cut);
        prop_assert!(!all.contains(&token), "{}", all);
        // Nor half of it, where a cap cuts.
        prop_assert!(!all.contains(token.get(..12).unwrap()), "{}", all);
        if let Some((name, _)) = secret.split_once('=') && before.chars().count() < 150 {
            let tag = format!("{name}=[redacted]");
            prop_assert!(all.contains(&tag), "{}", all);
        }
    }

    /// C-93: ordinary text is told as it is.
    #[test]
    fn ordinary_text_is_told_unchanged(words in proptest::collection::vec("[a-zA-Zäé0-9.,;!?()'/-]{1,12}", 1..30)) {
        let said = words.join(" ");
        prop_assert_eq!(told(&[text("assistant", &said)]), format!("{AT} assistant| {said}\n"));
    }
}

fn start(path: &Path, state: TranscriptState) -> Start {
    Start { path: path.to_owned(), header: HEADER.to_owned(), state, ..Start::default() }
}

fn at() -> String {
    AT.to_owned()
}

/// A folder with a transcript that has begun.
fn begun() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.log");
    begin(&path, HEADER).unwrap();
    (folder, path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn state_of(transcript: &mut Transcript) -> TranscriptState {
    let Some(Fact::Transcript(state)) = transcript.news() else { panic!("nothing is new") };
    *state
}

#[test]
fn a_transcript_is_private_and_grows_by_what_is_told() {
    let (_folder, path) = begun();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut transcript = Transcript::open(start(&path, TranscriptState::default()));
    transcript.take(&[text("", "one")], at);
    assert_eq!(read(&path), format!("{HEADER}{AT} assistant| one\n"));
    let state = state_of(&mut transcript);
    assert_eq!(state.bytes, fs::metadata(&path).unwrap().len());
    assert_eq!(transcript.news(), None, "told once");
    transcript.take(&[Fact::Unknown], at);
    transcript.take(&[], || panic!("nobody needs the time"));
    assert_eq!(transcript.news(), None, "nothing is new");
    conclude(&path, state.bytes, "the end\n").unwrap();
    assert!(read(&path).ends_with("one\nthe end\n"));
}

#[test]
fn nothing_is_made_for_an_agent_that_never_was_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.log");
    conclude(&path, 0, "the end\n").unwrap();
    assert!(!path.exists());
    begin(&path, HEADER).unwrap();
    conclude(&path, 0, "the end\n").unwrap();
    assert_eq!(read(&path), format!("{HEADER}the end\n"));
}

#[test]
fn a_transcript_of_another_time_gives_way_to_a_new_one() {
    let (_folder, path) = begun();
    fs::write(&path, "something longer than the header, which nobody knows any more\n").unwrap();
    begin(&path, HEADER).unwrap();
    assert_eq!(read(&path), HEADER);
    for there in ["", "agent:", "another header, longer than this one is\nand a line\n"] {
        fs::write(&path, there).unwrap();
        drop(Transcript::open(start(&path, TranscriptState::default())));
        assert_eq!(read(&path), HEADER);
    }
}

/// A host that took over has not told anything yet, and whoever looks must not see lines that will come again.
#[test]
fn what_will_be_told_again_is_cut_off_at_once() {
    let (_folder, path) = begun();
    let mut transcript = Transcript::open(start(&path, TranscriptState::default()));
    transcript.take(&[text("", "one")], at);
    let known = state_of(&mut transcript);
    let one = read(&path);
    transcript.take(&[text("", "two")], at);
    let state = state_of(&mut transcript);
    conclude(&path, state.bytes, "the end\n").unwrap();
    let _ = Transcript::open(start(&path, known.clone()));
    assert_eq!(read(&path), one);
    // Of a file that somebody cut what is left stays, and one that is gone begins again.
    fs::write(&path, format!("{HEADER}12:3")).unwrap();
    let mut cut = Transcript::open(start(&path, known.clone()));
    cut.take(&[text("", "two")], at);
    assert_eq!(read(&path), format!("{HEADER}12:3{AT} assistant| two\n"));
    fs::remove_file(&path).unwrap();
    let mut gone = Transcript::open(start(&path, known));
    gone.take(&[text("", "two")], at);
    assert_eq!(read(&path), format!("{HEADER}{AT} assistant| two\n"));
}

#[test]
fn calls_that_were_open_and_the_model_are_known_after_a_recovery() {
    let (_folder, path) = begun();
    let open = OpenTool {
        id: None,
        tool: "bash".to_owned(),
        text: "ls".to_owned(),
        since: Moment::default(),
    };
    let start = start(&path, TranscriptState::default());
    let start = Start { open_tools: vec![open], model: Some("m-1".to_owned()), ..start };
    let mut transcript = Transcript::open(start);
    transcript.take(&[Fact::Model("m-1".to_owned()), step(None, "bash", "ls", StepState::End)], at);
    assert_eq!(read(&path), HEADER);
}

#[test]
fn a_full_transcript_says_so_once_and_still_tells_the_end() {
    let (_folder, path) = begun();
    let mut transcript = Transcript::with_most(start(&path, TranscriptState::default()), 200);
    let line = text("", &"x".repeat(40));
    transcript.take(&vec![line.clone(); 100], at);
    transcript.take(&[line.clone(), piece("", "more")], at);
    transcript.end(at);
    let full = read(&path);
    assert_eq!(full.matches("this account is full").count(), 1, "{full}");
    assert!(full.ends_with("below\n") && full.len() < 320, "{full}");
    assert_eq!(full.matches("xxx\n").count(), 2, "{full}");
    let state = state_of(&mut transcript);
    let mut again = Transcript::with_most(start(&path, state.clone()), 200);
    again.take(&[line], at);
    assert_eq!(read(&path), full, "a recovery makes no room");
    conclude(&path, state.bytes, "the end\n").unwrap();
    assert_eq!(read(&path), format!("{full}the end\n"));
}

/// Whatever stands in the place of the file is not touched, and its agent is read on.
#[test]
fn what_is_no_file_of_its_own_is_not_written() {
    let (folder, path) = begun();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(begin(&path, HEADER).is_err());
    assert!(conclude(&path, 0, "the end\n").is_err());
    let mut transcript = Transcript::open(start(&path, TranscriptState::default()));
    assert!(transcript.has_new_trouble());
    transcript.take(&[text("", "one")], || panic!("it is off"));
    let trouble = state_of(&mut transcript).trouble.unwrap();
    assert!(trouble.contains("could not write") && trouble.contains("transcript.log"), "{trouble}");
    assert!(!transcript.has_new_trouble());
    assert_eq!(read(&elsewhere), "mine");

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(begin(&path, HEADER).is_err());
    assert!(Transcript::open(start(&path, TranscriptState::default())).has_new_trouble());
}

/// A place beyond the largest file stands for a disk that takes nothing more.
#[test]
fn a_write_that_fails_ends_the_transcript_and_leaves_whole_lines() {
    let (_folder, path) = begun();
    let mut transcript = Transcript::open(start(&path, TranscriptState::default()));
    transcript.take(&[text("", "one"), piece("", "two")], at);
    let before = read(&path);
    transcript.state.bytes = i64::MAX as u64;
    transcript.most = u64::MAX;
    transcript.take(&[text("", "three")], at);
    let state = state_of(&mut transcript);
    assert!(state.trouble.is_some() && state.pending.is_none(), "{state:?}");
    assert_eq!(read(&path), before);
    let mut again = Transcript::open(start(&path, state));
    again.take(&[text("", "four")], || panic!("it stays off"));
    again.end(|| panic!("it stays off"));
    assert_eq!(read(&path), before);
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let role = prop_oneof![Just("assistant"), Just("thinking"), Just("user")];
    prop_oneof![
        (role.clone(), "[a-z \n]{0,900}").prop_map(|(role, words)| text(role, &words)),
        (role, "[a-z ]{0,900}").prop_map(|(role, words)| piece(role, &words)),
        "[a-z]{0,9}".prop_map(|tool| step(None, &tool, "", StepState::Start)),
        Just(Fact::Unknown),
        Just(Fact::Smoke { ok: Some(true), text: "fine".to_owned() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A host that dies at any moment and is followed by another one leaves the file of one that never died: no line is
    /// there twice, and none is lost.
    #[test]
    fn a_recovery_tells_each_fact_once(
        turns in proptest::collection::vec(proptest::collection::vec(any_fact(), 0..6), 1..8),
        known in 0_usize..8,
        most in 300_u64..9000,
    ) {
        let (_folder, path) = begun();
        let mut alone = Transcript::with_most(start(&path, TranscriptState::default()), most);
        let mut states = vec![TranscriptState::default()];
        for turn in &turns {
            alone.take(turn, at);
            states.push(alone.state.clone());
        }
        alone.end(at);
        let expected = read(&path);
        // The second host knows what the first one has told after some turn.
        let known = known % states.len();
        let mut second = Transcript::with_most(start(&path, states[known].clone()), most);
        for turn in &turns[known..] {
            second.take(turn, at);
        }
        second.end(at);
        prop_assert_eq!(read(&path), expected);
    }
}
