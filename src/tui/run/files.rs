//! The screen's small files: the draft, the history, what an agent's folder tells, what a pager or an editor gets.
//!
//! What may go here: reading and writing them, in one thread, in order. What may not: reading what agents write.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::{history, variable};
use crate::core::AgentId;
use crate::journal::{FleetDir, read_text, replace};
use crate::supervise::{self, AgentDir, Spec, is_on_path};
use crate::tui::editor::MOST_DRAFT;
use crate::tui::handover::{Handed, HandedFile, Program};
use crate::tui::layout::Shares;
use crate::tui::message::{Facts, Message};
use crate::tui::session::Dispatched;

/// Jobs that wait. A person asks for one at a time; the draft comes once a second at most.
const JOBS: usize = 64;
/// How long the end of the screen waits for a disk that stalls.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something to do with a file.
#[derive(Debug)]
pub(super) enum Job {
    /// Keep the draft; empty means that there is none.
    SaveDraft(String),
    /// Keep the sizes of panes.
    SaveSizes(Shares),
    /// Add to the history.
    AddHistory(Dispatched),
    /// Read the history.
    ReadHistory,
    /// Read what is known of an agent.
    ReadFacts(AgentId),
    /// See that a file can be read, for a pager or for an editor.
    Look(PathBuf, Opened),
    /// Make a copy of the draft for an editor.
    CopyDraft(String),
    /// Keep what an editor has made of the draft so far, which it still has.
    SaveEdited(NamedTempFile, String),
}

/// What a file is opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    /// The pager.
    Pager,
    /// The editor.
    Editor,
}

/// Where the files are.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// The draft, if it is kept.
    pub(super) draft: Option<PathBuf>,
    /// The history, if it is kept.
    pub(super) history: Option<PathBuf>,
    /// Sizes of panes, if they are kept.
    pub(super) sizes: Option<PathBuf>,
    /// The fleet's folder.
    pub(super) dir: FleetDir,
}

/// The thread that does it.
#[derive(Debug)]
pub(super) struct Files {
    jobs: SyncSender<Job>,
    finished: Receiver<()>,
}

impl Files {
    /// Starts the thread; what it has to say comes as messages.
    pub(super) fn start(places: Places, messages: mpsc::Sender<Message>) -> io::Result<Self> {
        let (jobs, receiver) = sync_channel(JOBS);
        let (sender, finished) = sync_channel(1);
        std::thread::Builder::new().name("files".to_owned()).spawn(move || {
            for job in receiver {
                if let Some(message) = perform(job, &places) {
                    // The screen has ended; it is still of use to do what is left.
                    let _ = messages.blocking_send(message);
                }
            }
            // Nobody waits any more: then it took too long.
            let _ = sender.try_send(());
        })?;
        Ok(Self { jobs, finished })
    }

    /// Gives it something to do, without waiting; says what is wrong if it cannot.
    pub(super) fn ask(&self, job: Job) -> Result<(), &'static str> {
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => "the disk does not answer",
            TrySendError::Disconnected(_) => "the thread for files has failed",
        })
    }

    /// Waits until all is done, for a while.
    pub(super) fn finish(self) {
        drop(self.jobs);
        let _ = self.finished.recv_timeout(PATIENCE);
    }
}

fn perform(job: Job, places: &Places) -> Option<Message> {
    let failed = |what: &str, path: &Path, error: &io::Error| {
        Message::Told(format!("could not {what}: {error} ({})", path.display()), false)
    };
    let keep = |text: &str| {
        let path = places.draft.as_deref()?;
        let error = save_draft(path, text).err()?;
        Some(failed("keep the draft in", path, &error))
    };
    match job {
        Job::SaveDraft(text) => keep(&text),
        Job::SaveSizes(shares) => {
            let path = places.sizes.as_deref()?;
            let error = save_sizes(path, shares).err()?;
            Some(failed("keep the sizes in", path, &error))
        }
        Job::AddHistory(dispatched) => {
            let path = places.history.as_deref()?;
            match history::add(path, &dispatched) {
                Ok(()) => None,
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    let text =
                        "dispatched; too long for the history, so only this screen recalls it";
                    Some(Message::Told(text.to_owned(), true))
                }
                Err(error) => Some(failed("keep the history in", path, &error)),
            }
        }
        Job::ReadHistory => {
            let read = history::read(places.history.as_deref()?);
            Some(Message::History(read.map_err(|error| error.to_string())))
        }
        Job::ReadFacts(id) => Some(Message::Details(id, Box::new(facts(&places.dir.agent(id))))),
        Job::Look(path, opened) => Some(match look(&path) {
            // The program's own words would be gone with its screen.
            Err(error) => failed("open", &path, &error),
            Ok(()) => Message::Handed(Box::new(handed(opened, HandedFile::Kept(path)))),
        }),
        Job::CopyDraft(text) => Some(match copy_draft(&text) {
            Err(error) => Message::Told(format!("could not make a file to edit: {error}"), false),
            Ok(file) => {
                let file = HandedFile::Draft(file, text);
                Message::Handed(Box::new(handed(Opened::Editor, file)))
            }
        }),
        Job::SaveEdited(file, draft) => keep(&read_edited(file.path()).unwrap_or(draft)),
    }
}

fn handed(opened: Opened, file: HandedFile) -> Handed {
    let program = match opened {
        Opened::Editor => Program::editor(&variable),
        Opened::Pager => {
            let path = variable("PATH").map(OsString::from);
            Program::pager(&variable, &|name: &str| is_on_path(name, path.as_deref()))
        }
    };
    Handed { program, file }
}

/// Says what is wrong with a file that somebody wants to see. An agent may have put anything in its place.
fn look(path: &Path) -> io::Result<()> {
    if open(path)?.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::other("it is no regular file"))
}

fn copy_draft(text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("fleet-draft-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Reads what came out of an editor, which may have put another file in the place.
pub(super) fn read_edited(path: &Path) -> io::Result<String> {
    let mut text = read_lossy(File::open(path)?)?;
    // Editors end the last line, which a draft does not need.
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// Reads the draft of the last time; none is an empty one.
pub(super) fn read_draft(path: Option<&Path>) -> io::Result<String> {
    let read = path.map(|path| open(path).and_then(read_lossy));
    match read {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Some(Ok(text)) => Ok(text),
        _ => Ok(String::new()),
    }
}

/// Reads all of a draft; one that is longer than a draft can be is an error, so that no end of one is lost.
fn read_lossy(file: File) -> io::Result<String> {
    let mut text = Vec::new();
    let most = u64::try_from(MOST_DRAFT).unwrap_or(u64::MAX);
    file.take(most.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() > MOST_DRAFT {
        let why = format!("it has more than the {MOST_DRAFT} bytes that a draft can have");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn save_sizes(path: &Path, shares: Shares) -> io::Result<()> {
    replace(path, serde_json::to_string(&shares)?.as_bytes())
}

/// Reads the sizes of panes; none, or ones that make no sense, are the usual ones.
pub(super) fn read_sizes(path: Option<&Path>) -> Shares {
    let text = path.and_then(|path| read_text(path).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Opens a file without following a link or waiting on a pipe.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn save_draft(path: &Path, text: &str) -> io::Result<()> {
    if !text.is_empty() {
        return replace(path, text.as_bytes());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads what an agent's folder tells. What is not there (yet) is left out.
fn facts(folder: &Path) -> Facts {
    let dir = AgentDir::new(folder);
    let spec = read_text(&dir.spec()).ok();
    let spec = spec.and_then(|text| serde_json::from_str::<Spec>(&text).ok());
    let started = supervise::started(&dir).ok().flatten();
    let ended = supervise::exit_record(&dir).ok().flatten();
    let size = |path: PathBuf| path.metadata().map(|file| file.len()).unwrap_or_default();
    Facts {
        argv: spec.map(|spec| spec.argv).unwrap_or_default(),
        shim_pid: started.as_ref().map(|started| started.shim_pid),
        agent_pid: started.as_ref().and_then(|started| started.agent_pid),
        cpu_ms: ended.as_ref().map(|record| record.cpu_ms),
        max_rss_kb: ended.as_ref().map(|record| record.max_rss_kb),
        sizes: (size(dir.out()), size(dir.err())),
        has_account: dir.transcript().is_file(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_comes_back_and_an_empty_one_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("draft");
        assert_eq!(read_draft(Some(&path)).unwrap(), "");
        save_draft(&path, "one\n---\ntwo").unwrap();
        assert_eq!(read_draft(Some(&path)).unwrap(), "one\n---\ntwo");
        save_draft(&path, "").unwrap();
        save_draft(&path, "").unwrap();
        assert!(!path.exists());
        assert_eq!(read_draft(None).unwrap(), "");
    }

    #[test]
    fn a_draft_comes_back_whole_and_a_longer_file_than_a_draft_is_refused_and_not_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("draft");
        let longest = "x".repeat(MOST_DRAFT);
        save_draft(&path, &longest).unwrap();
        assert!(read_draft(Some(&path)).unwrap() == longest);
        assert!(read_edited(&path).unwrap() == longest);
        std::fs::write(&path, longest + "y").unwrap();
        for read in [read_draft(Some(&path)), read_edited(&path)] {
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        }
    }

    #[test]
    fn sizes_come_back_and_ones_without_sense_are_the_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sizes");
        assert_eq!(read_sizes(Some(&path)), Shares::default());
        let shares = Shares { agents_rows: 200, agents_columns: 700, editor_rows: 3 };
        save_sizes(&path, shares).unwrap();
        assert_eq!(read_sizes(Some(&path)), shares);
        std::fs::write(&path, "{\"agents_rows\": -1").unwrap();
        assert_eq!(read_sizes(Some(&path)), Shares::default());
    }

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("out"), "text").unwrap();
        std::os::unix::fs::symlink(path("out"), path("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
        assert!(look(&path("out")).is_ok());
        for name in ["link", "pipe", "nothing", "."] {
            assert!(look(&path(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn what_an_editor_has_written_so_far_is_kept_and_else_the_draft_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let dir = FleetDir::new(folder.path().to_owned(), serde_json::from_str("\"k3f\"").unwrap());
        let draft = folder.path().join("draft");
        let places = Places { draft: Some(draft.clone()), history: None, sizes: None, dir };
        let file = copy_draft("before").unwrap();
        std::fs::write(file.path(), "after\n").unwrap();
        assert!(perform(Job::SaveEdited(file, "before".to_owned()), &places).is_none());
        assert_eq!(read_draft(Some(&draft)).unwrap(), "after");
        let file = copy_draft("before").unwrap();
        std::fs::remove_file(file.path()).unwrap();
        assert!(perform(Job::SaveEdited(file, "before".to_owned()), &places).is_none());
        assert_eq!(read_draft(Some(&draft)).unwrap(), "before");
    }
}
