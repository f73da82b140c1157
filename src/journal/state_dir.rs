//! The folder that holds all fleets of one person, and how a fleet gets its id.
//!
//! What may go here: safety of the folder, making, listing and finding fleets. What may not: what is in a fleet's
//! folder (`fleet_dir`), which fleet a command means (`pick`).

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::fleet_dir::{FleetDir, FleetFile};
use super::machine;
use super::private::{self, DIR_MODE};
use super::typed::to_type;
use crate::core::{FleetId, FleetOptions, Moment};

/// Digits of an id: no `i`, `l`, `o` or `u`, which look like others; in the order of their bytes, so that ids sort.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Bits in a digit.
const DIGIT_BITS: u32 = 5;
/// The letters among them come from here on. The first letter changes about every two years.
const FIRST_LETTER: usize = 10;
/// Ids count time from 2026-01-01 (UTC), in milliseconds since 1970.
const EPOCH_MILLIS: u64 = 1_767_225_600_000;
/// Ids count time in steps of two seconds: five digits of it and a letter last for 46 years.
const STEP_MILLIS: u64 = 2_000;
/// Digits of the step, after the letter.
const STEP_DIGITS: u32 = 5;
/// Random digits after those, for fleets of one step.
const RANDOM_DIGITS: u32 = 2;
/// Letters and digits of an id.
const ID_LENGTH: usize = 1 + (STEP_DIGITS + RANDOM_DIGITS) as usize;
/// How often a taken id is drawn anew before making a fleet is given up.
const TRIES: u32 = 256;
/// Fewest characters of an id that may stand for it.
const PREFIX: usize = 3;

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// No folder was given and there is no home folder.
    #[error("could not find your home folder: set HOME, or give --state-dir")]
    NoHome,
    /// It is a symbolic link.
    #[error("the state folder {} is a symbolic link: give --state-dir the folder itself", .0.display())]
    Link(PathBuf),
    /// Something else lies there.
    #[error("the state folder {} is not a folder: move that away, or give another --state-dir", .0.display())]
    NotAFolder(PathBuf),
    /// Somebody else owns it.
    #[error("the state folder {} belongs to another user: give --state-dir a folder of yours", .0.display())]
    NotOurs(PathBuf),
    /// Others may write to it.
    #[error("the state folder {} may be written to by others: run chmod go-w on it", .0.display())]
    Writable(PathBuf),
    /// The system refused.
    #[error("could not use the state folder {}: {source}", path.display())]
    Refused {
        /// Which folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why no fleet is meant by a text.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Too few characters.
    #[error("{0:?} is too short for a fleet: give at least {PREFIX} characters of its id")]
    TooShort(String),
    /// None has such an id.
    #[error("no fleet begins with {:?}: `{}` lists them", .0, to_type("ls"))]
    Unknown(String),
    /// More than one has.
    #[error("{text:?} is the beginning of several fleets: {}: give more of it", list(candidates))]
    Several {
        /// What was asked for.
        text: String,
        /// What it can mean.
        candidates: Vec<FleetId>,
    },
    /// The fleets could not be listed.
    #[error("could not list the fleets: {0}")]
    Refused(#[from] io::Error),
}

/// What a new fleet is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The folder it belongs to; see [`super::folder_of`].
    pub root: PathBuf,
    /// Options as given.
    pub options: FleetOptions,
    /// The command line; values of `--env K=V` are taken out before it is stored.
    pub argv: Vec<String>,
    /// No more tasks will be taken than it is made with.
    pub is_closed: bool,
}

/// Held while somebody looks whether a fleet is there and makes one if not; let go when dropped.
#[derive(Debug)]
#[must_use]
pub struct MakingLock {
    _file: File,
}

/// The folder that holds all fleets of one person. It was found safe when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// Opens the given folder, or `$XDG_STATE_HOME/loki-fleet`, and makes it if it is missing. It is refused if it is a
    /// link, not a folder, not ours, or writable by others.
    pub fn open(given: Option<&Path>) -> Result<Self, StateDirError> {
        let path = match given {
            Some(path) => std::path::absolute(path)
                .map_err(|source| StateDirError::Refused { path: path.to_owned(), source })?,
            None => default_path().ok_or(StateDirError::NoHome)?,
        };
        // Without a last slash or dot, which would make the system look through a link.
        let path: PathBuf = path.components().collect();
        let refused = |source| StateDirError::Refused { path: path.clone(), source };
        if is_missing(&path).map_err(refused)? {
            DirBuilder::new().recursive(true).mode(DIR_MODE).create(&path).map_err(refused)?;
        }
        check(&path)?;
        let state_dir = Self { path };
        let fleets = state_dir.fleets();
        private::make_dir(&fleets)
            .map_err(|source| StateDirError::Refused { path: fleets.clone(), source })?;
        check(&fleets)?;
        Ok(state_dir)
    }

    /// Returns the folder's path, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the fleets' folders.
    pub fn fleets(&self) -> PathBuf {
        self.path.join("fleets")
    }

    /// Waits until nobody else decides whether a fleet has to be made, and keeps others waiting until dropped.
    pub fn lock_making(&self) -> io::Result<MakingLock> {
        let file = private::open_to_append(&self.path.join("making.lock"))?;
        file.lock()?;
        Ok(MakingLock { _file: file })
    }

    /// Makes a fleet with a new id: its folder, the folders in it, and `fleet.json`.
    pub fn new_fleet(&self, now: Moment, draft: Draft) -> io::Result<FleetDir> {
        let (id, path) = self.claim(now)?;
        let fleet_dir = FleetDir::new(path, id.clone());
        private::make_dir(&fleet_dir.batches())?;
        private::make_dir(&fleet_dir.agents())?;
        fleet_dir.write_file(&FleetFile {
            version: FleetFile::VERSION,
            fleet_version: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            name: draft.options.name.clone(),
            root: draft.root,
            created: now,
            host_name: machine::host_name(),
            boot_id: machine::boot_id(),
            options: draft.options,
            argv: super::hide_env_values(draft.argv),
            is_closed: draft.is_closed,
            socket: None,
        })?;
        private::sync_dir(&self.fleets())?;
        Ok(fleet_dir)
    }

    /// Makes the folder of a new fleet; that it was not there is what makes the id unique.
    fn claim(&self, now: Moment) -> io::Result<(FleetId, PathBuf)> {
        let step = now.0.saturating_sub(EPOCH_MILLIS) / STEP_MILLIS;
        let mut result = Err(io::Error::from(io::ErrorKind::AlreadyExists));
        for _ in 0..TRIES {
            let id = new_id(step, fastrand::u32(..));
            let path = self.fleets().join(&id.0);
            result = DirBuilder::new().mode(DIR_MODE).create(&path);
            match &result {
                Ok(()) => return Ok((id, path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => break,
            }
        }
        Err(result.err().unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// Lists all fleets, oldest first. A folder with neither `fleet.json` nor a journal nor an agent is still being made and is
    /// left out; one that has lost its `fleet.json` is not.
    pub fn list(&self) -> io::Result<Vec<FleetId>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(self.fleets())? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let id = FleetId(name);
            if is_id(&id.0) && FleetDir::new(entry.path(), id.clone()).was_made() {
                ids.push(id);
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// Finds the fleet that a text of at least three characters is the beginning of; large letters are as small ones.
    pub fn find(&self, text: &str) -> Result<FleetDir, FindError> {
        let prefix = text.trim().to_ascii_lowercase();
        if prefix.chars().count() < PREFIX {
            return Err(FindError::TooShort(text.to_owned()));
        }
        let mut candidates = self.list()?;
        candidates.retain(|id| id.0.starts_with(&prefix));
        match candidates.as_slice() {
            [] => Err(FindError::Unknown(text.to_owned())),
            [id] => Ok(self.fleet(id)),
            _ => Err(FindError::Several { text: text.to_owned(), candidates }),
        }
    }

    /// Returns the folder of a fleet that is listed.
    pub fn fleet(&self, id: &FleetId) -> FleetDir {
        FleetDir::new(self.fleets().join(&id.0), id.clone())
    }
}

/// Says whether a name is an id as this program makes them.
pub(crate) fn is_id(name: &str) -> bool {
    name.len() == ID_LENGTH
        && name.bytes().all(|byte| DIGITS.contains(&byte))
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
}

fn new_id(step: u64, random: u32) -> FleetId {
    /// Letters that an id may begin with.
    const LETTERS: u64 = (DIGITS.len() - FIRST_LETTER) as u64;
    let letter = (step >> (DIGIT_BITS * STEP_DIGITS)).min(LETTERS - 1);
    let mut name = String::from(digit(FIRST_LETTER as u64 + letter));
    for (number, digits) in [(step, STEP_DIGITS), (u64::from(random), RANDOM_DIGITS)] {
        for place in (0..digits).rev() {
            name.push(digit((number >> (DIGIT_BITS * place)) % DIGITS.len() as u64));
        }
    }
    FleetId(name)
}

fn digit(value: u64) -> char {
    let place = usize::try_from(value).ok();
    place.and_then(|place| DIGITS.get(place)).copied().map_or('z', char::from)
}

fn default_path() -> Option<PathBuf> {
    let folders = etcetera::base_strategy::Xdg::new().ok()?;
    Some(folders.state_dir()?.join("loki-fleet"))
}

fn is_missing(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn check(path: &Path) -> Result<(), StateDirError> {
    /// Bits that let the group or others write.
    const OTHERS_WRITE: u32 = 0o022;
    let metadata = fs::symlink_metadata(path)
        .map_err(|source| StateDirError::Refused { path: path.to_owned(), source })?;
    let path = path.to_owned();
    if metadata.is_symlink() {
        Err(StateDirError::Link(path))
    } else if !metadata.is_dir() {
        Err(StateDirError::NotAFolder(path))
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        Err(StateDirError::NotOurs(path))
    } else if metadata.mode() & OTHERS_WRITE != 0 {
        Err(StateDirError::Writable(path))
    } else {
        Ok(())
    }
}

fn list(ids: &[FleetId]) -> String {
    ids.iter().map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
