//! Sizes and parts of output files, by path. A file that is not there is an empty one.
//!
//! What may go here: system calls on output files. What may not: their meaning.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Returns the size in bytes. A link or anything else that is no regular file is an error: an agent could lead the
/// reader anywhere.
pub(super) fn size(path: &Path) -> io::Result<u64> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(io::Error::other("it is no regular file any more")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Opens a regular file for reading; never follows a link and never waits for a pipe's other end.
pub(in crate::tail) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file any more"))
    }
}

/// Reads into the buffer from `offset` on, until it is full or the file ends; returns how many bytes that were.
pub(in crate::tail) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0_usize;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns the last bytes before `size`, at most `most` of them.
pub(crate) fn read_end(path: &Path, size: u64, most: u64) -> io::Result<Vec<u8>> {
    let length = size.min(most);
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    if !bytes.is_empty() {
        let filled = read_at(&open(path)?, &mut bytes, size - length)?;
        bytes.truncate(filled);
    }
    Ok(bytes)
}
