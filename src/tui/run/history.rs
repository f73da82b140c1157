//! The file of dispatched drafts, one for all folders: each line is an entry, the newest last.
//!
//! What may go here: reading, adding, keeping it small. What may not: which entry is offered first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::files::open;
use crate::journal::{open_to_append, replace};
use crate::tui::session::Dispatched;

/// Bytes of the file at most: thousands of tasks as people type them, read and written within a few milliseconds.
/// Beyond it the file is written anew with the newest entries of half as many bytes, so that this happens seldom. Two
/// screens that add at once may be a line over it. An entry of more than the half is not kept: it would be all of the
/// history, and it is a file that was pasted, which its owner has.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the entries, the oldest first; of a file that is too long the newest. Lines that make no sense are left out.
pub(super) fn read(path: &Path) -> io::Result<Vec<Dispatched>> {
    let lines = match lines(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    Ok(lines.iter().filter_map(|line| parse(line)).collect())
}

/// Reads the lines that are in bounds.
fn lines(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut file = open(path)?;
    let is_cut = skip_old(&mut file)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n').skip(usize::from(is_cut));
    Ok(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Goes to where what is read begins; says whether that may be within a line.
fn skip_old(file: &mut File) -> io::Result<bool> {
    let before = file.metadata()?.len().saturating_sub(MOST_BYTES);
    file.seek(SeekFrom::Start(before))?;
    Ok(before > 0)
}

/// Reads an entry. The first version had the text alone, as a string.
fn parse(line: &[u8]) -> Option<Dispatched> {
    let entry = serde_json::from_slice(line);
    let bare =
        || serde_json::from_slice(line).map(|text| Dispatched { text, ..Dispatched::default() });
    entry.or_else(|_| bare()).ok()
}

/// Adds an entry. One that is too long is not kept, which is an error of the kind [`io::ErrorKind::FileTooLarge`].
pub(super) fn add(path: &Path, entry: &Dispatched) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    let bytes = length(&line);
    if bytes > MOST_BYTES / 2 {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    if path.metadata().is_ok_and(|file| file.len() + bytes > MOST_BYTES) {
        replace(path, &newest(path)?)?;
    }
    // One write, so that two screens cannot tear each other's lines.
    open_to_append(path)?.write_all(&line)
}

/// Returns the newest lines that are an entry, of half the bytes that the file may have.
fn newest(path: &Path) -> io::Result<Vec<u8>> {
    let lines = lines(path)?;
    let mut bytes = 0;
    let fits = |line: &&Vec<u8>| {
        bytes += length(line) + 1;
        bytes <= MOST_BYTES / 2
    };
    let entries = lines.iter().rev().filter(|line| parse(line).is_some());
    let kept: Vec<&Vec<u8>> = entries.take_while(fits).collect();
    let ended = kept.into_iter().rev().map(|line| [line.as_slice(), b"\n"].concat());
    Ok(ended.collect::<Vec<_>>().concat())
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Dispatched {
        Dispatched { text: text.to_owned(), kind: "sh".to_owned(), folder: "/repo".to_owned() }
    }

    #[test]
    fn history_comes_back_oldest_first_whatever_is_in_the_entries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        assert_eq!(read(&path).unwrap(), []);
        let texts = ["one\ntwo", "\"three\"", "\x1b[31m"];
        for text in texts {
            add(&path, &entry(text)).unwrap();
        }
        open_to_append(&path).unwrap().write_all(b"torn\n\xff\n").unwrap();
        add(&path, &entry("last")).unwrap();
        let read: Vec<Dispatched> = read(&path).unwrap();
        assert_eq!(read, ["one\ntwo", "\"three\"", "\x1b[31m", "last"].map(entry));
    }

    #[test]
    fn entries_of_the_first_version_and_of_later_ones_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        std::fs::write(&path, "\"old\"\n{\"text\":\"new\",\"kind\":\"sh\",\"more\":1}\n").unwrap();
        let of = |text: &str, kind: &str| Dispatched {
            text: text.to_owned(),
            kind: kind.to_owned(),
            folder: String::new(),
        };
        assert_eq!(read(&path).unwrap(), [of("old", ""), of("new", "sh")]);
    }

    #[test]
    fn the_file_stays_in_its_bound_and_keeps_the_newest_entries_of_half_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        // Entries of the first version are kept as well.
        std::fs::write(&path, format!("\"{}\"\n", "old ".repeat(250_000))).unwrap();
        let long = "x".repeat(100_000);
        for number in 0..100 {
            add(&path, &entry(&format!("{number} {long}"))).unwrap();
            assert!(path.metadata().unwrap().len() <= MOST_BYTES);
            let entries = read(&path).unwrap();
            let begins = |index: usize, text: &str| entries[index].text.starts_with(text);
            assert!(begins(entries.len() - 1, &format!("{number} ")), "{number}");
            assert!(number > 20 || begins(0, "old old"), "{number}");
            assert!(entries.len() > 20.min(number), "{number}: {}", entries.len());
        }
    }

    #[test]
    fn of_a_file_that_somebody_made_too_long_the_newest_entries_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let lines: Vec<String> = (0..60_000).map(|number| format!("\"{number:0100}\"\n")).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let entries = read(&path).unwrap();
        let bytes: usize = entries.iter().map(|entry| entry.text.len()).sum();
        assert!((3_000_000..4 * 1024 * 1024).contains(&bytes), "{bytes}");
        assert_eq!(entries.last().unwrap().text, format!("{:0100}", 59_999));
        assert!(entries.iter().all(|entry| entry.text.len() == 100), "no part of a line");
        add(&path, &entry("new")).unwrap();
        assert!(path.metadata().unwrap().len() <= MOST_BYTES / 2 + 1000);
    }

    #[test]
    fn an_entry_that_would_be_all_of_the_history_is_refused_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        add(&path, &entry("short")).unwrap();
        let error = add(&path, &entry(&"x".repeat(2 * 1024 * 1024))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&path).unwrap(), [entry("short")]);
    }
}
