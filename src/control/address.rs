//! Where a fleet's socket is, and how to reach one whose path is too long for a socket.
//!
//! What may go here: paths and the safety of the folder. What may not: listening, connecting.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::core::FleetId;
use crate::journal::{FleetDir, make_dir};

/// Longest path that a socket can have, in bytes: Linux takes 108 with the closing NUL, macOS 104.
const PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Name of the folder within `$XDG_RUNTIME_DIR`.
const FOLDER: &str = "loki-fleet";

/// A path that a socket can have, good for as long as this lives.
#[derive(Debug)]
pub(super) struct Reachable {
    path: PathBuf,
    /// The folder, if the path leads through its descriptor.
    _folder: Option<OwnedFd>,
}

/// Returns where the socket may be made, the best place first: the folder for such things if it is safe, else the
/// fleet's own.
pub(super) fn places(dir: &FleetDir) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        socket_folder().map(|folder| in_folder(&folder, dir.id())).into_iter().collect();
    places.push(dir.path().join("control.sock"));
    places
}

/// Returns the folder that sockets are made in, made if it is missing; `None` if there is no safe one below
/// `$XDG_RUNTIME_DIR`, so that they are made in the fleets' own folders.
pub fn socket_folder() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = runtime.filter(|folder| folder.is_absolute())?.join(FOLDER);
    let _ = make_dir(&folder);
    is_private(&folder).then_some(folder)
}

/// Tries whether a socket can be made in a folder; nothing of it stays.
pub fn try_socket(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!("try-{}.sock", std::process::id()));
    let reachable = Reachable::new(&path)?;
    let made = UnixListener::bind(reachable.path()).map(drop);
    if made.is_ok() {
        std::fs::remove_file(&path)?;
    }
    made
}

/// Returns where the socket may be, the likeliest place first.
pub(super) fn candidates(dir: &FleetDir) -> Vec<PathBuf> {
    let named = dir.read_file().ok().and_then(|file| file.socket);
    let mut candidates: Vec<PathBuf> = named.into_iter().collect();
    for place in places(dir) {
        if !candidates.contains(&place) {
            candidates.push(place);
        }
    }
    candidates
}

fn in_folder(folder: &Path, id: &FleetId) -> PathBuf {
    folder.join(format!("{id}.sock"))
}

/// Says whether a folder is ours and nobody else can enter it.
fn is_private(folder: &Path) -> bool {
    /// All that the group and others may do.
    const OTHERS: u32 = 0o077;
    std::fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir()
            && found.uid() == rustix::process::geteuid().as_raw()
            && found.mode() & OTHERS == 0
    })
}

impl Reachable {
    /// Makes a path short enough. Where the system has no way to do that, one that is too long stays so and is refused
    /// by whoever uses it.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let is_short = path.as_os_str().as_bytes().len() <= PATH_BYTES;
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if !is_short => through_folder(path, folder, name.as_ref()),
            _ => Ok(Self { path: path.to_owned(), _folder: None }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(target_os = "linux")]
fn through_folder(_path: &Path, folder: &Path, name: &Path) -> io::Result<Reachable> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok(Reachable { path, _folder: Some(folder) })
}

#[cfg(not(target_os = "linux"))]
fn through_folder(path: &Path, _folder: &Path, _name: &Path) -> io::Result<Reachable> {
    Ok(Reachable { path: path.to_owned(), _folder: None })
}
