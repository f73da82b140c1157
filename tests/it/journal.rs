//! The journal and the host's lock under what only real processes can do: a full disk, `kill -9`, many takers at once.
//!
//! A test that needs another process starts this test program again with one of the `child_…` tests, which do nothing
//! unless they were started that way.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use loki_fleet::core::{AgentId, FleetId, Moment, Record};
use loki_fleet::journal::{FleetDir, HostLock, HostState, Journal, host_of, read};
use tempfile::TempDir;

/// Tells a child which folder to work in.
const FOLDER: &str = "FLEET_TEST_FOLDER";

/// A child that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one of the `child_…` tests of this program; `before` is what a shell does first.
fn child(test: &str, folder: &Path, before: &str) -> Killed {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{before} exec \"$0\" \"$@\""))
        .arg(program)
        .args([&format!("journal::{test}"), "--exact", "--nocapture", "--include-ignored"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    Killed(command.spawn().unwrap())
}

fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Prints a line past the test program's capture, at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "said {line}").unwrap();
    out.flush().unwrap();
}

/// Returns the next line that the child said.
fn hear(child: &mut BufReader<std::process::ChildStdout>) -> Option<String> {
    let mut line = String::new();
    while child.read_line(&mut line).unwrap() > 0 {
        // The test program's own words may stand before it on the line.
        if let Some((_, said)) = line.trim_end().split_once("said ") {
            return Some(said.to_owned());
        }
        line.clear();
    }
    None
}

fn dispatched(number: u32) -> Record {
    Record::Dispatched(AgentId(number))
}

#[test]
#[ignore = "started by a_killed_writer_loses_nothing_that_was_acknowledged"]
fn child_that_appends_for_ever() {
    let Some(folder) = folder_of_child() else { return };
    let journal = Journal::create(&folder.join("journal.jsonl")).unwrap();
    for number in 0.. {
        // Several at a time, so that the kill often falls into a group of them.
        let sequences =
            [0, 1, 2].map(|part| journal.append(Moment(1), vec![dispatched(number * 3 + part)]));
        journal.wait(sequences[2]).unwrap();
        say(&(number * 3 + 2).to_string());
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut child = child("child_that_appends_for_ever", folder.path(), "");
    let mut said = BufReader::new(child.0.stdout.take().unwrap());
    let mut acknowledged = 0_usize;
    while acknowledged < 1000 {
        acknowledged = hear(&mut said).expect("the child goes on").parse().unwrap();
    }
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    while let Some(number) = hear(&mut said) {
        acknowledged = number.parse().unwrap();
    }
    let found = read(&path).unwrap();
    assert!(found.len() > acknowledged, "{} of {acknowledged}", found.len());
    for (number, (_, record)) in (0..).zip(&found) {
        assert_eq!(record, &dispatched(number));
    }
    let (journal, before) = Journal::append_to(&path).unwrap();
    assert_eq!(before, found);
    journal.append(Moment(2), vec![Record::Resumed]);
    journal.close().unwrap();
    assert_eq!(read(&path).unwrap().last().unwrap().1, Record::Resumed);
}

#[test]
#[ignore = "started by a_full_disk_loses_nothing_and_tears_no_line"]
fn child_whose_file_may_not_grow() {
    let Some(folder) = folder_of_child() else { return };
    let path = folder.join("journal.jsonl");
    let journal = Journal::create(&path).unwrap();
    let mut number = 0;
    let trouble = loop {
        let sequence = journal.append(Moment(1), vec![dispatched(number)]);
        number += 1;
        if let Err(trouble) = journal.wait(sequence) {
            break trouble;
        }
    };
    say(&trouble);
    let safe = number - 1;
    // More comes while nothing can be written; each append tries again.
    for _ in 0..50 {
        let sequence = journal.append(Moment(2), vec![dispatched(number)]);
        number += 1;
        journal.wait(sequence).unwrap_err();
    }
    assert_eq!(read(&path).unwrap().len(), safe as usize, "what was acknowledged can be read");
    let (soft, hard) =
        nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_FSIZE).unwrap();
    assert!(soft < hard);
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_FSIZE, hard, hard).unwrap();
    let mut saved = journal.saved();
    journal.retry();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(saved.wait_for(|saved| saved.trouble.is_none())).unwrap();
    journal.close().unwrap();
    say(&number.to_string());
}

#[test]
fn a_full_disk_loses_nothing_and_tears_no_line() {
    let folder = TempDir::new().unwrap();
    // The limit falls into a line, so that a write is cut short.
    let limit = "trap '' XFSZ; ulimit -S -f 8;";
    let mut child = child("child_whose_file_may_not_grow", folder.path(), limit);
    let mut said = BufReader::new(child.0.stdout.take().unwrap());
    let trouble = hear(&mut said).expect("the child runs into the limit");
    assert!(trouble.contains(": could not write the journal "), "{trouble}");
    assert!(trouble.contains("File too large"), "{trouble}");
    let written: u32 = hear(&mut said).expect("the child goes on after it").parse().unwrap();
    let found: Vec<Record> = read(&folder.path().join("journal.jsonl"))
        .unwrap()
        .into_iter()
        .map(|(_, record)| record)
        .collect();
    assert_eq!(found, (0..written).map(dispatched).collect::<Vec<_>>());
}

#[test]
#[ignore = "started by of_many_takers_exactly_one_hosts_the_fleet"]
fn child_that_wants_to_host() {
    let Some(folder) = folder_of_child() else { return };
    let fleet_dir = FleetDir::new(folder, FleetId("a0000000".to_owned()));
    match HostLock::take(&fleet_dir) {
        Ok(lock) => {
            say("taken");
            // Until the test lets go of the other end, or kills this process.
            let _ = std::io::stdin().read_line(&mut String::new());
            drop(lock);
        }
        Err(error) => say(&error.to_string()),
    }
}

#[test]
fn of_many_takers_exactly_one_hosts_the_fleet() {
    let folder = TempDir::new().unwrap();
    let fleet_dir = FleetDir::new(folder.path().to_owned(), FleetId("a0000000".to_owned()));
    let mut children: Vec<_> = (0..8)
        .map(|_| {
            let mut child = child("child_that_wants_to_host", folder.path(), "");
            let said = BufReader::new(child.0.stdout.take().unwrap());
            (child, said)
        })
        .collect();
    let heard: Vec<String> =
        children.iter_mut().map(|(_, said)| hear(said).expect("each says how it went")).collect();
    let host = heard.iter().position(|line| line == "taken").expect("one takes it");
    let pid = children[host].0.0.id();
    for (place, line) in heard.iter().enumerate().filter(|(place, _)| *place != host) {
        assert!(line.contains(&format!("(process {pid})")), "{place}: {line}");
    }
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::Here(Some(pid)));
    // Its death lets the lock go, whatever is still written in the file.
    children[host].0.0.kill().unwrap();
    children[host].0.0.wait().unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::None);
    let _lock = HostLock::take(&fleet_dir).unwrap();
}
