//! Tests of the thread that writes the journal. A full disk and a killed writer are in `tests/it/journal.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::super::read;
use super::*;
use crate::core::{AgentId, Work};

fn dispatched(numbers: std::ops::Range<u32>) -> Vec<Record> {
    numbers.map(|number| Record::Dispatched(AgentId(number))).collect()
}

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    (folder, path)
}

fn records(path: &Path) -> Vec<Record> {
    read(path).unwrap().into_iter().map(|(_, record)| record).collect()
}

fn lines_in(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count() - 1
}

#[test]
fn an_append_that_is_settled_can_be_read_by_others() {
    let (_folder, path) = folder();
    let journal = Journal::create(&path).unwrap();
    let first = journal.append(Moment(1), dispatched(0..3));
    let second = journal.append(Moment(2), dispatched(3..5));
    assert!(first < second);
    journal.wait(second).unwrap();
    assert_eq!(records(&path), dispatched(0..5));
    assert_eq!(read(&path).unwrap()[4].0, Moment(2));
    assert_eq!(journal.saved().borrow().clone(), Saved { through: second, trouble: None });
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn the_loop_waits_for_an_append_without_blocking() {
    let (_folder, path) = folder();
    let journal = Journal::create(&path).unwrap();
    let mut saved = journal.saved();
    let sequence = journal.append(Moment(1), dispatched(0..1));
    journal.settled(sequence).await.unwrap();
    assert_eq!(records(&path), dispatched(0..1));
    assert_eq!(saved.wait_for(|saved| saved.through == sequence).await.unwrap().trouble, None);
    // An append of nothing is safe as well, so that effects without a record wait for nothing else.
    let nothing = journal.append(Moment(1), Vec::new());
    journal.settled(nothing).await.unwrap();
}

#[test]
fn dropping_a_journal_writes_what_waits() {
    let (_folder, path) = folder();
    let journal = Journal::create(&path).unwrap();
    for number in 0..2000 {
        journal.append(Moment(1), dispatched(number..number + 1));
    }
    drop(journal);
    assert_eq!(records(&path), dispatched(0..2000));
}

#[test]
fn a_journal_is_made_once_and_gone_on_with_later() {
    let (_folder, path) = folder();
    assert!(Journal::append_to(&path).is_err());
    Journal::create(&path).unwrap().close().unwrap();
    assert!(Journal::create(&path).is_err());
    let (journal, before) = Journal::append_to(&path).unwrap();
    assert_eq!(before, []);
    journal.append(Moment(1), dispatched(0..2));
    journal.close().unwrap();
    let (journal, before) = Journal::append_to(&path).unwrap();
    assert_eq!(before.len(), 2);
    journal.append(Moment(1), dispatched(2..3));
    journal.close().unwrap();
    assert_eq!(records(&path), dispatched(0..3));
}

#[test]
fn going_on_after_a_cut_at_any_byte_leaves_no_torn_line_in_the_middle() {
    let (_folder, path) = folder();
    let journal = Journal::create(&path).unwrap();
    journal.append(Moment(1), dispatched(0..3));
    journal.close().unwrap();
    let text = fs::read(&path).unwrap();
    for cut in 0..=text.len() {
        fs::write(&path, &text[..cut]).unwrap();
        let (journal, before) = Journal::append_to(&path).unwrap();
        let whole = lines_in(&text[..cut]);
        assert_eq!(before.len(), whole, "cut at {cut}");
        journal.append(Moment(2), dispatched(7..8));
        journal.close().unwrap();
        let expected = [dispatched(0..u32::try_from(whole).unwrap()), dispatched(7..8)].concat();
        assert_eq!(records(&path), expected, "cut at {cut}");
    }
}

/// `/dev/full` takes nothing, as a full disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn trouble_is_told_in_a_sentence_and_everything_waits() {
    let file = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    let journal = Journal::start(Ok(file), Path::new("/dev/full"), 0).unwrap();
    assert!(journal.has_room());
    let sequence = journal.append(Moment(1), dispatched(0..10));
    let error = journal.settled(sequence).await.unwrap_err();
    assert_eq!(
        &*error,
        "No space left on device (os error 28): could not write the journal /dev/full: mend that, and it goes on by itself"
    );
    assert_eq!(journal.saved().borrow().through, Sequence(0));
    journal.retry();
    // A device cannot be cut back, so the retry fails as well; nothing is lost or claimed.
    journal.wait(sequence).unwrap_err();
    let queue = journal.shared.lock();
    assert_eq!(queue.unsaved, 10);
    drop(queue);
    journal.append(Moment(2), dispatched(0..u32::try_from(QUEUE_RECORDS).unwrap()));
    assert!(!journal.has_room());
    assert!(journal.close().is_err());
}

#[test]
fn while_there_is_trouble_a_newer_checkpoint_replaces_one_that_waits() {
    let checkpoint = |agent, offset| {
        Record::Checkpoint(AgentId(agent), Box::new(Work { offset, ..Work::default() }))
    };
    let mut queue = Queue::default();
    queue.add(Moment(1), checkpoint(1, 1));
    queue.add(Moment(1), checkpoint(1, 2));
    assert_eq!(queue.unsaved, 2, "on a working disk each is written");
    queue.saved.trouble = Some(Arc::from("disk full"));
    queue.add(Moment(2), checkpoint(2, 5));
    queue.add(Moment(2), Record::Held);
    for offset in 3..100 {
        queue.add(Moment(3), checkpoint(1, offset));
    }
    let waiting: Vec<Record> = queue.waiting.into_iter().map(|waiting| waiting.record).collect();
    assert_eq!(waiting, [checkpoint(1, 1), checkpoint(2, 5), Record::Held, checkpoint(1, 99)]);
    assert_eq!(queue.unsaved, 4);
}
