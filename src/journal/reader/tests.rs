//! Tests of the journal's format.

use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::core::{AgentId, FleetOptions, NanoUsd, QuestionId, StopReason};

fn records() -> Vec<(Moment, Record)> {
    vec![
        (Moment(1), Record::Created(FleetOptions::default())),
        (Moment(2), Record::Dispatched(AgentId(1))),
        (
            Moment(3),
            Record::Stopped(AgentId(1), StopReason::Interrupted("SIGINT \"é\"\n".to_owned())),
        ),
        (Moment(3), Record::Cap(Some(NanoUsd::from_dollars(3)))),
        (Moment(4), Record::Asked(QuestionId(1))),
        (Moment(5), Record::Held),
    ]
}

fn text_of(records: &[(Moment, Record)]) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, record) in records {
        encode(*at, record, &mut text).unwrap();
    }
    text
}

/// Whoever lists fleets would wait for ever.
#[test]
fn a_pipe_in_the_place_of_a_journal_is_not_waited_for() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.ends_with("is not a regular file"), "{error}");
}

#[track_caller]
fn read_text(text: &[u8]) -> Result<Vec<(Moment, Record)>, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    fs::write(&path, text).unwrap();
    let result = read(&path);
    assert_eq!(fs::read(&path).unwrap(), text, "reading alone must not change the file");
    result.map_err(|error| error.to_string().replace(path.to_str().unwrap(), "FILE"))
}

fn sealed(body: &str) -> Vec<u8> {
    format!("{body},\"crc\":\"{:08x}\"}}\n", crc32(body.as_bytes())).into_bytes()
}

fn lines_in(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count() - 1
}

#[test]
fn what_was_written_is_read_back_one_line_for_each_record() {
    let text = text_of(&records());
    assert_eq!(lines_in(&text), records().len());
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!(value["v"], 1, "{value}");
        assert!(value["at"].is_u64() && value["crc"].is_string(), "{value}");
    }
    assert_eq!(read_text(&text).unwrap(), records());
    assert_eq!(read_text(b"").unwrap(), []);
}

#[test]
fn a_journal_cut_at_any_byte_gives_the_whole_lines_before_the_cut() {
    let text = text_of(&records());
    for cut in 0..=text.len() {
        let whole = lines_in(&text[..cut]);
        assert_eq!(read_text(&text[..cut]).unwrap(), records()[..whole], "cut at {cut}");
    }
}

#[test]
fn a_last_line_of_zeros_as_power_losses_leave_them_counts_as_not_written() {
    let mut text = text_of(&records());
    text.extend_from_slice(&[0; 5000]);
    assert_eq!(read_text(&text).unwrap(), records());
}

#[test]
fn damage_before_the_last_line_names_file_and_line_and_says_what_to_do() {
    let mut text = text_of(&records());
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    text.drain(second + 3..second + 5);
    assert_eq!(
        read_text(&text).unwrap_err(),
        "the journal FILE is damaged at line 2: restore the file from a copy, or cut it before that line to go on with \
         what was decided earlier"
    );
}

#[test]
fn a_newer_version_is_told_from_damage_however_its_lines_are_sealed() {
    let expected =
        Err("the journal FILE was written by a newer Fleet (version 2): use that one".to_owned());
    let old = text_of(&records());
    let plain = b"{\"v\":2,\"something\":\"else\"}\n".to_vec();
    for newer in
        [sealed("{\"v\":2,\"at\":7,\"record\":\"held\""), sealed("{\"v\":2,\"new\":1"), plain]
    {
        assert_eq!(read_text(&[old.as_slice(), &newer].concat()), expected);
        assert_eq!(read_text(&newer), expected);
    }
}

#[test]
fn an_unknown_kind_of_record_is_never_skipped() {
    let text =
        [text_of(&records()), sealed("{\"v\":1,\"at\":7,\"record\":{\"forked\":3}")].concat();
    let expected = "the journal FILE was written by a newer Fleet (line 7 holds a kind of record that this one does not \
                    know): use that one";
    assert_eq!(read_text(&text).unwrap_err(), expected);
}

#[test]
fn a_line_with_more_in_it_than_this_fleet_knows_is_read() {
    let text = sealed("{\"v\":1,\"at\":7,\"why\":\"later\",\"record\":\"held\"");
    assert_eq!(read_text(&text).unwrap(), [(Moment(7), Record::Held)]);
}

#[test]
fn a_missing_journal_and_a_link_are_refused_with_the_path() {
    let folder = TempDir::new().unwrap();
    let (path, link) = (folder.path().join("journal.jsonl"), folder.path().join("link"));
    assert!(read(&path).unwrap_err().to_string().contains("journal.jsonl: No such file"));
    fs::write(&path, text_of(&records())).unwrap();
    symlink(&path, &link).unwrap();
    assert!(matches!(read(&link), Err(JournalError::Open { .. })));
}

proptest! {
    /// Also where the changed line is still good JSON, such as one with another digit in an amount.
    #[test]
    fn no_changed_byte_of_an_acknowledged_line_goes_unseen(place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let mut text = text_of(&records());
        let place = place.index(text.len());
        text[place] ^= 1 << bit;
        // A changed last newline makes the last line one that was not finished.
        let result = read_text(&text);
        prop_assert!(result.is_err() || (place == text.len() - 1 && result.unwrap() == records()[..5]));
    }
}
