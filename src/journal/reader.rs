//! Reads a journal: one JSON line per decision, each with its version and checksum.
//!
//! A line is `{"v":1,"at":MILLISECONDS,"record":{…},"crc":"xxxxxxxx"}`; the checksum is over all bytes before `,"crc"`.
//! It is worth its 18 bytes: it tells a damaged line from one that a newer Fleet wrote, and a changed digit in an
//! amount is still good JSON. A last line without its newline was never acknowledged and counts as not written.
//!
//! What may go here: the format of a line, both ways. What may not: what the records mean.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::crc::crc32;
use super::private;
use crate::core::{Moment, Record};

/// Version of the format that this Fleet writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// What stands before the eight digits of the checksum.
const CRC_KEY: &[u8] = b",\"crc\":\"";
/// What stands after them.
const CRC_END: &[u8] = b"\"}";
/// Bytes of `,"crc":"xxxxxxxx"}`.
const CRC_BYTES: usize = 18;
/// Bytes read at once; a journal of 1,000 agents is a few of these.
const BUFFER_BYTES: usize = 256 * 1024;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file could not be opened, made or read.
    #[error("could not open or read the journal {}: {source}", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A whole line has a version that this Fleet does not know.
    #[error("the journal {} was written by a newer Fleet (version {version}): use that one", path.display())]
    NewerVersion {
        /// Which file.
        path: PathBuf,
        /// Version of the line.
        version: u32,
    },
    /// A whole line holds a kind of record that this Fleet does not know.
    #[error(
        "the journal {} was written by a newer Fleet (line {line} holds a kind of record that this one does not know): \
         use that one", path.display()
    )]
    NewerRecord {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
    },
    /// A line that was acknowledged is not what was written.
    #[error(
        "the journal {} is damaged at line {line}: restore the file from a copy, or cut it before that line to go on \
         with what was decided earlier", path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
    },
}

/// A line as it is read, its checksum taken off.
#[derive(Deserialize)]
struct Line<R> {
    v: u32,
    at: Moment,
    record: R,
}

/// A line as it is written, its checksum not yet put on.
#[derive(Serialize)]
struct NewLine<'record> {
    v: u32,
    at: Moment,
    record: &'record Record,
}

/// What a line of any version has.
#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// What is wrong with one line.
enum Bad {
    Version(u32),
    Record,
    Damaged,
}

/// Reads a journal while its host may be writing; an unfinished last line is left out and left alone.
pub fn read(path: &Path) -> Result<Vec<(Moment, Record)>, JournalError> {
    let file = private::open_to_read(path)
        .map_err(|source| JournalError::Open { path: path.to_owned(), source })?;
    read_from(&file, path).map(|(records, _)| records)
}

/// Reads all whole lines from the start of an open file; returns also how many bytes they take.
pub(crate) fn read_from(
    file: &File,
    path: &Path,
) -> Result<(Vec<(Moment, Record)>, u64), JournalError> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut records, mut good, mut number) = (Vec::new(), 0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let taken = reader
            .read_until(b'\n', &mut line)
            .map_err(|source| JournalError::Open { path: path.to_owned(), source })?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            return Ok((records, good));
        }
        number += 1;
        records.push(decode(&mut line).map_err(|bad| {
            let path = path.to_owned();
            match bad {
                Bad::Version(version) => JournalError::NewerVersion { path, version },
                Bad::Record => JournalError::NewerRecord { path, line: number },
                Bad::Damaged => JournalError::Damaged { path, line: number },
            }
        })?);
        good += taken as u64;
    }
}

/// Appends the line of one record, newline last. Fails only for a path in it that is not UTF-8.
pub(crate) fn encode(at: Moment, record: &Record, text: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut line = serde_json::to_vec(&NewLine { v: VERSION, at, record })?;
    line.pop_if(|byte| *byte == b'}');
    let crc = crc32(&line);
    text.append(&mut line);
    text.extend_from_slice(CRC_KEY);
    text.extend_from_slice(format!("{crc:08x}").as_bytes());
    text.extend_from_slice(CRC_END);
    text.push(b'\n');
    Ok(())
}

/// Reads a line, without its newline, whose checksum is taken off on the way.
fn decode(line: &mut Vec<u8>) -> Result<(Moment, Record), Bad> {
    let Some(body) = checked(line).map(<[u8]>::len) else {
        // A newer version may be sealed in another way, so its number alone decides.
        return Err(newer(line).unwrap_or(Bad::Damaged));
    };
    line.truncate(body);
    line.push(b'}');
    match serde_json::from_slice::<Line<Record>>(line) {
        Ok(Line { v: VERSION, at, record }) => Ok((at, record)),
        _ => Err(newer(line).unwrap_or_else(|| {
            match serde_json::from_slice::<Line<IgnoredAny>>(line) {
                Ok(Line { v: VERSION, .. }) => Bad::Record,
                _ => Bad::Damaged,
            }
        })),
    }
}

fn newer(line: &[u8]) -> Option<Bad> {
    let Version { v } = serde_json::from_slice(line).ok()?;
    (v > VERSION).then_some(Bad::Version(v))
}

/// Returns what stands before the checksum if that is right.
fn checked(line: &[u8]) -> Option<&[u8]> {
    let (body, seal) = line.split_at_checked(line.len().checked_sub(CRC_BYTES)?)?;
    let digits = seal.strip_prefix(CRC_KEY)?.strip_suffix(CRC_END)?;
    (digits == format!("{:08x}", crc32(body)).as_bytes()).then_some(body)
}

#[cfg(test)]
mod tests;
