//! A project's own settings: `.fleet.toml` in the folder that its fleets belong to, read only once its owner has trusted
//! the very text that is there.
//!
//! What may go here: reading that file safely, and what was trusted. What may not: its keys (`config`), the words of
//! `fleet trust`.
//!
//! What is trusted is kept whole and compared whole, so there is no digest that could be fooled; the text that is compared
//! is the one that is parsed, so there is no moment in between. It is the owner's own: no link, nobody else's file.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::journal::{StateDir, read_text, replace, to_type};
use crate::words::plain_text::one_line;

/// Name of the file.
pub(crate) const PROJECT_FILE: &str = ".fleet.toml";
/// Longest one that is read, in bytes: more than anybody reads before trusting it.
const MOST_BYTES: u64 = 64 * 1024;
/// Version of the list of what is trusted.
const VERSION: u32 = 1;

/// Why a project's file cannot be trusted, as a clause after its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// It is a link, which can lead elsewhere tomorrow.
    #[error("is a symbolic link: put the file itself there")]
    Link,
    /// It is a folder, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// Whoever owns it can change it.
    #[error("belongs to another user: copy it, so that it is yours")]
    NotOurs,
    /// Nobody reads so much before trusting it.
    #[error("is longer than 64 KiB")]
    TooLong,
    /// It is no text.
    #[error("is no UTF-8 text")]
    NoText,
    /// Its name cannot be written down.
    #[error("lies in a folder whose name is no UTF-8 text: rename that")]
    Nameless,
    /// The system refused.
    #[error("cannot be read: {0}")]
    Refused(String),
}

/// A project's file as it is at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectFile {
    /// Its path, absolute, without links.
    pub(crate) path: PathBuf,
    /// What is in it.
    pub(crate) text: String,
}

impl ProjectFile {
    /// Reads the file of a folder; `None` if it has none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, Unfit> {
        let path = folder.join(PROJECT_FILE);
        let refused = |error: io::Error| Unfit::Refused(error.to_string());
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(Unfit::Link);
            }
            opened => opened.map_err(refused)?,
        };
        let found = file.metadata().map_err(refused)?;
        if !found.is_file() {
            return Err(Unfit::NotAFile);
        }
        check_owner(found.uid(), rustix::process::geteuid().as_raw())?;
        if path.to_str().is_none() {
            return Err(Unfit::Nameless);
        }
        Ok(Some(Self { text: text_of(file).map_err(refused)??, path }))
    }

    /// Returns its path for people.
    pub(crate) fn name(&self) -> String {
        one_line(&self.path.to_string_lossy())
    }

    fn key(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

fn check_owner(owner: u32, own: u32) -> Result<(), Unfit> {
    if owner == own { Ok(()) } else { Err(Unfit::NotOurs) }
}

/// Reads no more than may be there, whatever the size is said to be.
fn text_of(file: File) -> io::Result<Result<String, Unfit>> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Ok(Err(Unfit::TooLong));
    }
    Ok(String::from_utf8(bytes).map_err(|_| Unfit::NoText))
}

/// How a project's file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// This text was trusted.
    Trusted,
    /// Another text of it was: that one.
    Changed(String),
    /// It never was.
    Never,
}

/// What was trusted, as it is on disk.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Trusted {
    version: u32,
    /// Texts by the paths of their files.
    files: BTreeMap<String, String>,
}

/// The list of what was trusted. It lies in the usual state folder, whichever one a command is given: trust is a person's.
#[derive(Debug)]
pub(crate) struct TrustList {
    state: StateDir,
}

impl TrustList {
    /// Opens the list; an error is a whole sentence.
    pub(crate) fn open() -> Result<Self, String> {
        let state = StateDir::open(None).map_err(|error| error.to_string())?;
        Ok(Self { state })
    }

    fn path(&self) -> PathBuf {
        self.state.path().join("trusted.json")
    }

    fn refused(&self, error: &dyn std::fmt::Display) -> String {
        let path = one_line(&self.path().to_string_lossy());
        format!(
            "the list of trusted files {path} cannot be used: {error} (move it away and trust files again: {})",
            to_type("trust")
        )
    }

    fn read(&self) -> Result<Trusted, String> {
        let text = match read_text(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Trusted { version: VERSION, ..Trusted::default() });
            }
            read => read.map_err(|error| self.refused(&error))?,
        };
        let trusted: Trusted = serde_json::from_str(&text).map_err(|error| self.refused(&error))?;
        if trusted.version != VERSION {
            return Err(self.refused(&format!("it is of version {}", trusted.version)));
        }
        Ok(trusted)
    }

    /// Says how a file stands.
    pub(crate) fn of(&self, file: &ProjectFile) -> Result<Trust, String> {
        Ok(match self.read()?.files.remove(&file.key()) {
            Some(text) if text == file.text => Trust::Trusted,
            Some(text) => Trust::Changed(text),
            None => Trust::Never,
        })
    }

    /// Trusts a file as it was read.
    pub(crate) fn trust(&self, file: &ProjectFile) -> Result<(), String> {
        self.change(|trusted| {
            trusted.files.insert(file.key(), file.text.clone());
        })
    }

    /// Trusts the file of a folder no more; says whether it was.
    pub(crate) fn forget(&self, folder: &Path) -> Result<bool, String> {
        let key = folder.join(PROJECT_FILE).to_string_lossy().into_owned();
        let mut was = false;
        self.change(|trusted| was = trusted.files.remove(&key).is_some())?;
        Ok(was)
    }

    /// Changes the list, one process at a time. Files that are gone are left out, so that it does not grow for ever.
    fn change(&self, change: impl FnOnce(&mut Trusted)) -> Result<(), String> {
        let _lock = self.state.lock_making().map_err(|error| self.refused(&error))?;
        let mut trusted = self.read()?;
        trusted.files.retain(|path, _| Path::new(path).symlink_metadata().is_ok());
        change(&mut trusted);
        let text = serde_json::to_vec_pretty(&trusted).map_err(|error| self.refused(&error))?;
        replace(&self.path(), &text).map_err(|error| self.refused(&error))
    }
}

/// Returns the file of a folder if it may be read, or a remark that says why it is not.
pub(crate) fn trusted(folder: &Path) -> Result<Option<ProjectFile>, String> {
    let name = || one_line(&folder.join(PROJECT_FILE).to_string_lossy());
    let file = match ProjectFile::read(folder) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(unfit) => return Err(format!("{} {unfit}; it is not read", name())),
    };
    let show = to_type("trust");
    match TrustList::open().and_then(|list| list.of(&file))? {
        Trust::Trusted => Ok(Some(file)),
        Trust::Changed(_) => Err(format!(
            "{} has changed since it was trusted, and is not read: `{show}` shows and trusts it",
            name()
        )),
        Trust::Never => Err(format!(
            "{} is not read before it is trusted: `{show}` shows what it sets, and does",
            name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_read_only_if_it_is_a_regular_one_and_not_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PROJECT_FILE);
        assert_eq!(ProjectFile::read(folder.path()), Ok(None));
        std::fs::write(&path, "cap = 1\n").unwrap();
        assert_eq!(ProjectFile::read(folder.path()).unwrap().unwrap().text, "cap = 1\n");
        std::fs::write(&path, "#".repeat(64 * 1024 + 1)).unwrap();
        assert_eq!(ProjectFile::read(folder.path()), Err(Unfit::TooLong));
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(ProjectFile::read(folder.path()), Err(Unfit::NoText));
        std::fs::rename(&path, folder.path().join("other")).unwrap();
        symlink("other", &path).unwrap();
        assert_eq!(ProjectFile::read(folder.path()), Err(Unfit::Link));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(ProjectFile::read(folder.path()), Err(Unfit::NotAFile));
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let made =
            std::process::Command::new("mkfifo").arg(folder.path().join(PROJECT_FILE)).status();
        assert!(made.unwrap().success());
        assert_eq!(ProjectFile::read(folder.path()), Err(Unfit::NotAFile));
    }

    #[test]
    fn only_the_owners_own_file_is_read() {
        assert_eq!(check_owner(1000, 1000), Ok(()));
        assert_eq!(check_owner(1001, 1000), Err(Unfit::NotOurs));
        assert_eq!(check_owner(0, 1000), Err(Unfit::NotOurs));
        assert_eq!(check_owner(1000, 0), Err(Unfit::NotOurs));
    }
}
