//! The socket that a host listens on: made, named in `fleet.json`, and taken away again.
//!
//! What may go here: that. What may not: clients. Only the holder of the fleet's host lock may listen, so what is there
//! already was left by a host that has died.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::address::{Reachable, places};
use crate::core::FleetId;
use crate::journal::{FleetDir, FleetFile};

/// A host cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("could not listen on {}: {source}; set XDG_RUNTIME_DIR to a short folder of yours that only you can enter", path.display())]
pub struct ListenError {
    /// Where it was tried last.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// The socket of one fleet. Dropping it takes the socket away, which must come before the host lock is let go.
#[derive(Debug)]
pub struct Listener {
    dir: FleetDir,
    path: PathBuf,
    /// Which file the socket is, since another host may have put its own in the same place. No other file has its
    /// number for as long as the socket is open.
    file: Option<(u64, u64)>,
    socket: UnixListener,
}

impl Listener {
    /// Begins to listen for clients of a fleet, in `$XDG_RUNTIME_DIR/loki-fleet` or in the fleet's folder. The caller
    /// holds the fleet's host lock and is inside the loop that will serve.
    pub fn bind(dir: &FleetDir) -> Result<Self, ListenError> {
        let mut result = Err(ListenError {
            path: dir.path().to_owned(),
            source: io::ErrorKind::NotFound.into(),
        });
        for path in places(dir) {
            match bind(&path) {
                Ok(socket) => {
                    let listener = Self { dir: dir.clone(), file: file(&path), path, socket };
                    listener.write_down(Some(listener.path.clone()));
                    return Ok(listener);
                }
                Err(source) => result = Err(ListenError { path, source }),
            }
        }
        result
    }

    /// Returns the fleet's folder.
    pub(super) fn dir(&self) -> &FleetDir {
        &self.dir
    }

    /// Returns the fleet's id.
    pub(super) fn fleet(&self) -> &FleetId {
        self.dir.id()
    }

    /// Waits for the next connection.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.socket.accept().await?.0)
    }

    /// Names the socket in `fleet.json`. Clients look where it would be as well, so that a file that cannot be written
    /// keeps nobody out.
    fn write_down(&self, socket: Option<PathBuf>) {
        if let Ok(file) = self.dir.read_file() {
            let _ = self.dir.write_file(&FleetFile { socket, ..file });
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The lock is free already if the fleet's loop has failed.
        let is_own = self.file.is_some() && self.file == file(&self.path);
        if is_own {
            // What stays is taken away by the next host.
            let _ = fs::remove_file(&self.path);
            self.write_down(None);
        }
    }
}

/// Returns which file is at a path.
fn file(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    /// Read and write for the owner.
    const MODE: u32 = 0o600;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let reachable = Reachable::new(path)?;
    let listener = StdListener::bind(reachable.path())?;
    // Until then the folder keeps others out.
    fs::set_permissions(path, fs::Permissions::from_mode(MODE))?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}
