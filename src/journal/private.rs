//! Files and folders that only their owner can read: folders 0700, files 0600, links never followed.
//!
//! What may go here: making, replacing and reading such files. What may not: what is in them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

/// Mode of every folder.
pub(crate) const DIR_MODE: u32 = 0o700;
/// Mode of every file.
pub(crate) const FILE_MODE: u32 = 0o600;
/// Most that is read of a small file of ours; the largest, a manifest of 1,000 tasks, stays far below it.
const SMALL_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Makes a folder 0700; one that is there already is left as it is.
pub fn make_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(DIR_MODE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

/// Returns options that open a file 0600 and refuse to follow a link.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE).custom_flags(no_follow());
    options
}

/// Opens a file for appending, makes it 0600 if it is missing, and refuses to follow a link.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    options().append(true).create(true).open(path)
}

/// Opens a file for reading, without following a link or waiting on a pipe.
pub(super) fn open_to_read(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(no_follow() | flag(OFlags::NONBLOCK))
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file"))
    }
}

/// Reads a small text file as it is at one moment, without following a link or waiting on a pipe.
pub fn read_text(path: &Path) -> io::Result<String> {
    let file = open_to_read(path)?;
    let mut text = String::new();
    file.take(SMALL_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Replaces a file as a whole: a reader sees the old text or the new one, also after a power loss. The file is 0600.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let file = beside(path, text)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_dir(folder_of_file(path)?)
}

/// Replaces a file as a whole without waiting for the disk: after a power loss it may have the old text, or none. For what
/// is written again and again on a loop that must not wait. The file is 0600.
pub(crate) fn replace_soon(path: &Path, text: &[u8]) -> io::Result<()> {
    beside(path, text)?.persist(path).map(drop).map_err(|error| error.error)
}

fn beside(path: &Path, text: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder_of_file(path)?)?;
    file.write_all(text)?;
    Ok(file)
}

/// Makes what was created, renamed or removed in a folder survive a power loss.
pub(crate) fn sync_dir(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the folder that a file lies in.
pub(crate) fn folder_of_file(path: &Path) -> io::Result<&Path> {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "names no folder"))
}

fn no_follow() -> i32 {
    flag(OFlags::NOFOLLOW)
}

fn flag(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).expect("open flags of all systems fit in 31 bits")
}
