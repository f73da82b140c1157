//! File events of one folder, as a hint to look at one file in it sooner.
//!
//! What may go here: the watcher. What may not: what is done about a hint.
//!
//! The folder is watched and not the file, so that a file that is replaced is not lost. An event never says what
//! happened: it says "look", and one that is lost costs only the time to the next timer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Watches at most one folder.
#[derive(Debug)]
pub(in crate::tail) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    folder: Option<PathBuf>,
    heard: Arc<Heard>,
    refusal: Option<String>,
}

/// What the watcher's own thread shares with ours.
#[derive(Debug, Default)]
struct Heard {
    /// Name of the file whose events matter.
    name: Mutex<Option<OsString>>,
    /// Events of all files of the folder, but for those that reading causes.
    events: AtomicU64,
}

impl FolderWatch {
    /// `hint` is called on the watcher's thread and must not wait. Nothing is watched yet. Without a watcher the
    /// system's refusal is told by [`FolderWatch::refusal`].
    pub(in crate::tail) fn new(hint: impl Fn() + Send + 'static) -> Self {
        let heard = Arc::new(Heard::default());
        let shared = Arc::clone(&heard);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if shared.concerns(&event) {
                hint();
            }
        });
        let (watcher, refusal) = match watcher {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(refusal(&error))),
        };
        Self { watcher, folder: None, heard, refusal }
    }

    /// Watches the folder of a file, and no other any more.
    pub(in crate::tail) fn watch(&mut self, path: &Path) {
        let Some(folder) = path.parent() else { return };
        *self.heard.name.lock().unwrap_or_else(PoisonError::into_inner) =
            path.file_name().map(OsString::from);
        if self.folder.as_deref() == Some(folder) {
            return;
        }
        self.release();
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.folder = Some(folder.to_owned());
                self.refusal = None;
            }
            // An agent that has not started has no folder yet; it is tried again at the next look.
            Err(error) if is_missing(&error) => self.refusal = None,
            Err(error) => self.refusal = Some(refusal(&error)),
        }
    }

    /// Watches nothing any more.
    pub(in crate::tail) fn release(&mut self) {
        if let (Some(folder), Some(watcher)) = (self.folder.take(), &mut self.watcher) {
            // A folder that is gone is not watched either.
            let _ = watcher.unwatch(&folder);
        }
    }

    /// Returns how many events there were, those of other files included.
    pub(in crate::tail) fn events(&self) -> u64 {
        self.heard.events.load(Ordering::Relaxed)
    }

    /// Returns why nothing is watched although it should be, for a person.
    pub(in crate::tail) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Heard {
    fn concerns(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        if event.need_rescan() {
            return true;
        }
        // Opening and reading, ours among them, must not wake the reader.
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        self.events.fetch_add(1, Ordering::Relaxed);
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        // Paths may come resolved, so only names are compared.
        event.paths.is_empty() || event.paths.iter().any(|path| path.file_name() == name.as_deref())
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        notify::ErrorKind::Generic(_)
        | notify::ErrorKind::WatchNotFound
        | notify::ErrorKind::InvalidConfig(_)
        | notify::ErrorKind::MaxFilesWatch => false,
    }
}

fn refusal(error: &notify::Error) -> String {
    let reason = match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit of watched files is reached".to_owned()
        }
        notify::ErrorKind::Io(error) => error.to_string(),
        notify::ErrorKind::Generic(text) => text.clone(),
        notify::ErrorKind::PathNotFound => "its folder is gone".to_owned(),
        notify::ErrorKind::WatchNotFound | notify::ErrorKind::InvalidConfig(_) => error.to_string(),
    };
    format!("no file events here ({reason}); the file is looked at every second instead")
}
