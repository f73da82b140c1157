//! Tests of the line protocol.

use proptest::prelude::*;

use super::*;
use crate::core::{AgentResult, ExitReason, NanoUsd};

fn read_with(start: ReaderStart, lines: &[&str]) -> Vec<Fact> {
    let mut reader = ProtocolReader::new(start);
    let mut facts = Vec::new();
    for line in lines {
        reader.line(line.as_bytes(), &mut facts);
    }
    facts
}

fn read(line: &str) -> Vec<Fact> {
    read_with(ReaderStart::default(), &[line])
}

fn usd(text: &str) -> NanoUsd {
    text.parse().unwrap()
}

#[test]
fn every_kind_of_line_becomes_its_fact() {
    let step = |state| Fact::Step {
        id: None,
        tool: "bash".to_owned(),
        text: "cargo test".to_owned(),
        state,
    };
    for (word, state) in
        [("start", StepState::Start), ("end", StepState::End), ("error", StepState::Error)]
    {
        let line =
            format!(r#"{{"fleet":"step","tool":"bash","text":"cargo test","state":"{word}"}}"#);
        assert_eq!(read(&line), [step(state)]);
    }
    assert_eq!(
        read(r#"{"fleet": "step", "tool": "bash", "text": "cargo test"}"#),
        [step(StepState::End)]
    );
    let usage = Usage { input: 900, output: 80, cost: Some(usd("0.0042")), ..Usage::default() };
    assert_eq!(
        read(
            r#"{"fleet":"usage","id":"m1","model":"x","input_tokens":900,"output_tokens":80,"cost_usd":0.0042}"#
        ),
        [Fact::Usage { id: Some("m1".to_owned()), usage }]
    );
    assert_eq!(read(r#"{"fleet":"cost","total_usd":0.42}"#), [Fact::TotalCost(usd("0.42"))]);
    assert_eq!(
        read("{\"fleet\":\"text\",\"role\":\"assistant\",\"text\":\"a\\nb\"}\r"),
        [Fact::Text { role: "assistant".to_owned(), text: "a\nb".to_owned() }]
    );
    assert_eq!(
        read(r#"{"fleet":"text","role":"assistant","text":"a","piece":true}"#),
        [Fact::Piece { role: "assistant".to_owned(), text: "a".to_owned() }]
    );
    assert_eq!(
        read(r#"{"fleet":"smoke","ok":true,"text":"pytest: 12 passed"}"#),
        [Fact::Smoke { ok: Some(true), text: "pytest: 12 passed".to_owned() }]
    );
    assert_eq!(read(r#"{"fleet":"session","id":"s-1"}"#), [Fact::Session("s-1".to_owned())]);
    assert_eq!(
        read(
            r#"{"fleet":"result","completed":true,"answer":"ok","files_changed":["a.py"],"error":"","reason":"completed"}"#
        ),
        [Fact::Result(AgentResult {
            completed: Some(true),
            answer: Some("ok".to_owned()),
            reason: Some(ExitReason::Completed),
            files_changed: vec!["a.py".to_owned()],
            ..AgentResult::default()
        })]
    );
}

#[test]
fn a_cost_is_read_from_its_text_and_never_through_a_float() {
    let line = r#"{"fleet":"usage","cost_usd":0.000000075}"#;
    let usage = Usage { cost: Some(NanoUsd::from_nanos(75)), ..Usage::default() };
    assert_eq!(read(line), [Fact::Usage { id: None, usage }]);
    assert_eq!(
        read(r#"{"fleet":"cost","total_usd":9007199.254740993}"#),
        [Fact::TotalCost(usd("9007199.254740993"))]
    );
}

#[test]
fn a_cost_that_is_no_amount_is_unknown_and_not_zero() {
    for line in [
        r#"{"fleet":"cost","total_usd":"0.5"}"#,
        r#"{"fleet":"cost","total_usd":-1}"#,
        r#"{"fleet":"cost","total_usd":1e300}"#,
        r#"{"fleet":"cost","total_usd":NaN}"#,
        r#"{"fleet":"usage","id":"m1","cost_usd":-1}"#,
    ] {
        assert_eq!(read(line), [Fact::UnreadableCost, Fact::Unknown], "{line}");
    }
}

#[test]
fn what_is_not_understood_is_counted_and_tells_nothing() {
    for line in [
        r#"{"fleet":"nosuch","a":1}"#,
        r#"{"fleet":5}"#,
        r#"{"fleet":"cost"}"#,
        r#"{"fleet":"usage"}"#,
        r#"{"fleet":"usage","input_tokens":-5,"cost_usd":null}"#,
        r#"{"fleet":"session","id":7}"#,
        r#"{"fleet":"text","text":["a"]}"#,
        r#"{"fleet":"cost","total_usd":0.42"#,
        r#"{"fleet":"cost","total_usd":0.42} x"#,
        "{\"fleet\":",
        r#"{"fleet":"cost","total_usd":1,"fleet":"text"}"#,
    ] {
        assert_eq!(read(line), [Fact::Unknown], "{line}");
    }
    for line in
        ["{}", "{ \"fleet\":\"cost\",\"total_usd\":1}", r#"{"x":1,"fleet":"cost","total_usd":1}"#]
    {
        assert_eq!(read(line), [], "{line}");
    }
}

#[test]
fn an_unknown_key_or_a_flaw_is_counted_beside_what_is_good() {
    let usage = Usage { output: 3, ..Usage::default() };
    let fact = Fact::Usage { id: Some("7".to_owned()), usage };
    let flawed = r#"{"fleet":"usage","id":7,"input_tokens":1e300,"output_tokens":3}"#;
    assert_eq!(read(flawed), [fact.clone(), Fact::Unknown]);
    assert_eq!(
        read(r#"{"fleet":"usage","id":7,"output_tokens":3,"new":1}"#),
        [fact, Fact::Unknown]
    );
}

/// C-42: an unknown status text is an error and not something that runs.
#[test]
fn an_unknown_status_is_an_error() {
    let facts = read(r#"{"fleet":"step","tool":"t","state":"pondering"}"#);
    assert!(matches!(&facts[..], [Fact::Step { state: StepState::Error, .. }, Fact::Unknown]));
    let facts = read(r#"{"fleet":"result","reason":"pondering"}"#);
    assert!(matches!(
        &facts[..],
        [Fact::Result(AgentResult { reason: Some(ExitReason::Error), .. })]
    ));
}

#[test]
fn a_strict_reader_wants_the_token_on_each_line() {
    let start = ReaderStart { token: Some("s3".to_owned()), ..ReaderStart::default() };
    let good = r#"{"fleet":"cost","total_usd":1,"token":"s3"}"#;
    let lines = [
        r#"{"fleet":"cost","total_usd":9}"#,
        r#"{"fleet":"cost","total_usd":9,"token":"s4"}"#,
        r#"{"fleet":"cost","total_usd":9,"token":3}"#,
        good,
    ];
    let counted = [Fact::Unknown, Fact::Unknown, Fact::Unknown];
    let expected = [&counted[..], &[Fact::TotalCost(usd("1"))]].concat();
    assert_eq!(read_with(start.clone(), &lines), expected);
    assert_eq!(read(good), [Fact::TotalCost(usd("1"))]);
    let transcript = br#"{"completed":true,"usage":{"cost_usd":1}}"#;
    let closing = Closing { bytes: transcript, is_whole: true };
    let mut facts = Vec::new();
    assert_eq!(ProtocolReader::new(start).closing(closing, &mut facts), None);
    assert_eq!(facts, []);
}

#[test]
fn a_transcript_counts_only_if_no_line_has_told_the_same() {
    let transcript =
        br#"{"completed":true,"answer":"b","steps":[{"tool":"smoke","observation":"exit=0"}]}"#;
    let closing = Closing { bytes: transcript, is_whole: true };
    let count = |lines: &[&str]| {
        let mut reader = ProtocolReader::new(ReaderStart::default());
        let mut facts = Vec::new();
        for line in lines {
            reader.line(line.as_bytes(), &mut facts);
        }
        facts.clear();
        let end = reader.closing(closing, &mut facts);
        assert_eq!(end.is_some(), !facts.is_empty());
        assert!(!reader.reads_closing() && reader.closing(closing, &mut Vec::new()).is_none());
        facts.len()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&[r#"{"fleet":"step","tool":"smoke"}"#]), 2);
    assert_eq!(count(&[r#"{"fleet":"smoke","ok":true}"#]), 2);
    assert_eq!(count(&[r#"{"fleet":"result","answer":"a"}"#]), 0);
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(tail in any::<Vec<u8>>(), text in "[{}\\[\\]\":,a-z0-9_.\\\\-]{0,80}") {
        for end in [&tail[..], text.as_bytes()] {
            let mut reader = ProtocolReader::new(ReaderStart::default());
            let line = [MARK, end].concat();
            let mut facts = Vec::new();
            reader.line(&line, &mut facts);
            prop_assert!(!facts.is_empty());
        }
    }

    #[test]
    fn a_cut_line_tells_nothing(cut in 0_usize..94) {
        let line = r#"{"fleet":"usage","id":"m1","model":"x","input_tokens":900,"output_tokens":80,"cost_usd":0.0042}"#;
        let facts = read(line.get(..cut).unwrap());
        prop_assert!(facts.iter().all(|fact| *fact == Fact::Unknown));
    }

    #[test]
    fn any_value_in_any_field_is_survived(kind in proptest::sample::select(vec![
        "step", "usage", "cost", "text", "smoke", "session", "result"]), values in proptest::collection::vec(
        proptest::sample::select(vec!["null", "1", "-1", "1e300", "NaN", "\"x\"", "[1]", "{\"a\":1}", "true", "\"\\ud800\""]), 8)) {
        let names = fields_of(kind).unwrap();
        let fields: Vec<_> = names.iter().zip(&values).map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        let fields = fields.concat();
        let facts = read(&format!("{{\"fleet\":\"{kind}\"{fields}}}"));
        prop_assert!((1..=2).contains(&facts.len()), "{facts:?}");
        for fact in facts {
            if let Fact::Usage { usage, .. } = fact {
                prop_assert!(usage.input <= 1 && usage.output <= 1);
            }
        }
    }
}
