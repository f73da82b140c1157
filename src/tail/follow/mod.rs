//! Following a file that grows: what is at its path, when it is looked at again, and reading it from its beginning on.
//!
//! What may go here: what the view of a screen and `fleet logs -f` share, and a follower that reads all of a file in order.
//! What may not: lines, windows, what a file means.

#[cfg_attr(
    not(feature = "tui"),
    expect(dead_code, reason = "a view asks more of a file than a follower does")
)]
pub(in crate::tail) mod file;
#[cfg_attr(
    not(feature = "tui"),
    expect(dead_code, reason = "only a build with the screen is told of file events")
)]
pub(in crate::tail) mod rhythm;
#[cfg(feature = "tui")]
pub(in crate::tail) mod watch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};

use file::{Change, FollowedFile, Restart, Source};
use rhythm::{FRAME, Rhythm, SILENT};
#[cfg(feature = "tui")]
use watch::FolderWatch;

/// Reads a file from its beginning on, however it grows. Nothing of it is kept.
#[derive(Debug)]
pub struct Follower {
    source: Source,
    offset: u64,
    rhythm: Rhythm,
    last_look: Instant,
    last_path_look: Option<Instant>,
    /// Something has happened in the folder.
    hint: Arc<Notify>,
    #[cfg(feature = "tui")]
    folder: FolderWatch,
    #[cfg(feature = "tui")]
    path: PathBuf,
}

/// What a read has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// So many bytes are in the buffer.
    Bytes(usize),
    /// The file was cut, written over or replaced: what comes next is its beginning.
    Again,
    /// There is nothing new, or no file.
    Nothing,
}

impl Follower {
    /// Follows what is or will be at a path. A link or anything else that is no regular file is an error when it is read.
    pub fn new(path: PathBuf) -> Self {
        let hint = Arc::new(Notify::new());
        #[cfg(feature = "tui")]
        let folder = {
            let hint = Arc::clone(&hint);
            FolderWatch::new(move || hint.notify_one())
        };
        Self {
            #[cfg(feature = "tui")]
            path: path.clone(),
            source: Source::File(FollowedFile::new(path)),
            offset: 0,
            rhythm: Rhythm::new(now()),
            last_look: now(),
            last_path_look: None,
            hint,
            #[cfg(feature = "tui")]
            folder,
        }
    }

    /// Reads what comes next into the buffer.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Piece> {
        let count = self.source.read_at(buffer, self.offset)?;
        if count > 0 {
            self.offset += count as u64;
            return Ok(Piece::Bytes(count));
        }
        match self.look()? {
            Change::Restarted(Restart::Truncated | Restart::Replaced) => {
                self.offset = 0;
                return Ok(Piece::Again);
            }
            Change::None | Change::Grown | Change::Restarted(Restart::Appeared) => {}
        }
        let count = self.source.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(if count > 0 { Piece::Bytes(count) } else { Piece::Nothing })
    }

    fn look(&mut self) -> io::Result<Change> {
        let now = now();
        let at_path =
            self.last_path_look.is_none_or(|last| now.saturating_duration_since(last) >= SILENT);
        if at_path {
            self.last_path_look = Some(now);
        }
        let change = self.source.look(at_path)?;
        self.last_look = now;
        self.rhythm.looked(now, change != Change::None, self.events());
        Ok(change)
    }

    /// Waits until there may be more: for the time of the next look, or for a sign from the file's folder.
    pub async fn wait(&mut self) {
        self.watch();
        // A writer of many small pieces must not cost a look for each of them.
        sleep_until((self.last_look + FRAME).into()).await;
        let hint = Arc::clone(&self.hint);
        tokio::select! {
            () = hint.notified() => {}
            () = sleep(self.rhythm.wait(now())) => {}
        }
    }

    #[cfg(feature = "tui")]
    fn watch(&mut self) {
        if self.rhythm.wants_watch() {
            self.folder.watch(&self.path);
        } else {
            self.folder.release();
        }
    }

    #[cfg(not(feature = "tui"))]
    #[expect(clippy::unused_self, reason = "a build with the screen watches the folder here")]
    fn watch(&mut self) {}

    #[cfg(feature = "tui")]
    fn events(&self) -> u64 {
        self.folder.events()
    }

    #[cfg(not(feature = "tui"))]
    #[expect(clippy::unused_self, reason = "a build with the screen counts events here")]
    fn events(&self) -> u64 {
        0
    }
}

#[expect(clippy::disallowed_methods, reason = "looks at a file are timed by the real clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    async fn next(follower: &mut Follower) -> Result<String, Piece> {
        let mut buffer = [0; 8];
        let wait = async {
            loop {
                match follower.read(&mut buffer).unwrap() {
                    Piece::Nothing => follower.wait().await,
                    Piece::Bytes(count) => {
                        return Ok(String::from_utf8_lossy(&buffer[..count]).into_owned());
                    }
                    Piece::Again => return Err(Piece::Again),
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), wait).await.expect("it comes")
    }

    #[tokio::test]
    async fn all_of_a_file_comes_in_order_also_what_is_written_later_and_from_where_there_was_none()
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("later").join("out");
        let mut follower = Follower::new(path.clone());
        assert_eq!(follower.read(&mut [0; 8]).unwrap(), Piece::Nothing);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        append(&path, "one and two\n");
        assert_eq!(next(&mut follower).await.unwrap(), "one and ");
        assert_eq!(next(&mut follower).await.unwrap(), "two\n");
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || append(&path, "three"))
        };
        assert_eq!(next(&mut follower).await.unwrap(), "three");
        writer.join().unwrap();
        std::fs::write(&path, "new").unwrap();
        assert_eq!(next(&mut follower).await, Err(Piece::Again));
        assert_eq!(next(&mut follower).await.unwrap(), "new");
    }

    #[test]
    fn a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        Follower::new(path).read(&mut [0; 8]).unwrap_err();
    }
}
