//! The folder of one agent: names of its files, and how they are read and written.
//!
//! What may go here: paths and guarded file access. What may not: what the files mean.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::spec::Spec;

/// Most bytes read of a file in an agent's folder. The largest, `spec.json` and `env.json`, hold an argument list and
/// an environment, which the system limits to a few megabytes.
const READ_LIMIT: u64 = 16 << 20;

/// The folder of one agent, such as `agents/0007`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDir {
    path: PathBuf,
}

/// What was found where a file was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// Something that Fleet did not put there: a link, a folder, a pipe.
    Foreign,
    /// A file with this content.
    Bytes(Vec<u8>),
}

impl AgentDir {
    /// Names the folder; touches nothing.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of what the agent prints, raw.
    pub fn out(&self) -> PathBuf {
        self.path.join("out")
    }

    /// Returns the path of what the agent prints as errors, raw.
    pub fn err(&self) -> PathBuf {
        self.path.join("err")
    }

    /// Returns the path of the account for people.
    pub fn transcript(&self) -> PathBuf {
        self.path.join("transcript.log")
    }

    /// Returns the path of the report that some programs are told to write at their end.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// Returns the path of the lock that is held while the shim lives.
    pub fn alive(&self) -> PathBuf {
        self.path.join("alive")
    }

    /// Returns the path of what the shim has to start.
    pub fn spec(&self) -> PathBuf {
        self.path.join("spec.json")
    }

    /// Returns the path of the values given with `--env K=V`; gone once the agent has started.
    pub fn env(&self) -> PathBuf {
        self.path.join("env.json")
    }

    /// Returns the path of the record that the shim, then the agent began.
    pub fn started(&self) -> PathBuf {
        self.path.join("started.json")
    }

    /// Returns the path of the record of the end.
    pub fn exit(&self) -> PathBuf {
        self.path.join("exit.json")
    }

    /// Returns the path of what is known of an agent that ended badly without a word.
    pub fn diagnostic(&self) -> PathBuf {
        self.path.join("diagnostic.txt")
    }

    /// Returns the path of the owner's decision to stop it, made past the host.
    pub fn stop(&self) -> PathBuf {
        self.path.join("stop")
    }

    /// Returns the path of the FIFO that messages for a running agent go into, for kinds that take them.
    pub fn stdin(&self) -> PathBuf {
        self.path.join("stdin")
    }

    /// Returns the path of that FIFO while the first message is still being written into it.
    pub(super) fn inlet(&self) -> PathBuf {
        self.path.join(".stdin")
    }

    /// Returns the path of the first message of such a kind: its task, in the form that its program takes.
    pub fn first(&self) -> PathBuf {
        self.path.join("first")
    }

    /// Returns the path of the task's text, which `FLEET_TASK_FILE` names.
    pub fn task(&self) -> PathBuf {
        self.path.join("task")
    }

    /// Writes a file of this folder, mode 0600, whole or not at all.
    pub fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".write-").tempfile_in(&self.path)?;
        file.write_all(content)?;
        file.persist(path).map_err(|failed| failed.error)?;
        Ok(())
    }

    /// Stores the values that a task was given with `--env K=V` until its agent has started.
    pub fn write_env(&self, values: &BTreeMap<String, String>) -> io::Result<()> {
        self.write(&self.env(), &serde_json::to_vec(values)?)
    }

    /// Reads the values given with `--env K=V`; none are stored if there is no file. An error is a clause for people.
    pub(crate) fn stored_env(&self) -> Result<BTreeMap<String, String>, String> {
        let why = match read_guarded(&self.env()) {
            Ok(Found::Nothing) => return Ok(BTreeMap::new()),
            Ok(Found::Bytes(json)) => match serde_json::from_slice(&json) {
                Ok(values) => return Ok(values),
                // The error itself could quote a value.
                Err(_) => "it is torn".to_owned(),
            },
            Ok(Found::Foreign) => "it is no file".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(format!("the stored environment {} cannot be read: {why}", self.env().display()))
    }

    /// Deletes the stored values, for an agent that has started or never will.
    pub fn forget_env(&self) -> io::Result<()> {
        remove_if_there(&self.env())
    }

    /// Says whether the owner decided to stop this agent without its host.
    pub fn has_owner_stop(&self) -> bool {
        matches!(read_guarded(&self.stop()), Ok(Found::Bytes(_)))
    }
}

/// Makes the folder of an agent, mode 0700, and those above it that are missing.
pub fn prepare(dir: &AgentDir) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir.path())
}

/// Writes down that the owner wants this agent to end. Comes before the signal, so that the end is known as a decision.
pub fn write_stop(dir: &AgentDir) -> io::Result<()> {
    dir.write(&dir.stop(), b"owner\n")
}

/// Opens a file, never through a link, never waiting for the other end of a pipe, never handed on to another program.
pub(super) fn open_guarded(path: &Path, flags: OFlags) -> io::Result<File> {
    let guards = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags | guards, Mode::RUSR | Mode::WUSR)?;
    Ok(File::from(file))
}

/// Reads a file that an agent could have tampered with.
pub(super) fn read_guarded(path: &Path) -> io::Result<Found> {
    let file = match open_guarded(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) if is_link_error(&error) => return Ok(Found::Foreign),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(Found::Foreign);
    }
    let mut content = Vec::new();
    file.take(READ_LIMIT).read_to_end(&mut content)?;
    Ok(Found::Bytes(content))
}

/// Returns what an agent was started with; `None` if that cannot be read.
pub fn read_spec(dir: &AgentDir) -> Option<Spec> {
    let Ok(Found::Bytes(json)) = read_guarded(&dir.spec()) else { return None };
    serde_json::from_slice(&json).ok()
}

/// Deletes a file; one that is not there is fine.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn is_link_error(error: &io::Error) -> bool {
    let raw = error.raw_os_error();
    raw == Some(rustix::io::Errno::LOOP.raw_os_error())
        || raw == Some(rustix::io::Errno::NXIO.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_and_files_are_for_the_owner_alone() {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path().join("agents/0007"));
        prepare(&dir).unwrap();
        write_stop(&dir).unwrap();
        dir.write_env(&BTreeMap::from([("KEY".to_owned(), "value".to_owned())])).unwrap();
        assert_eq!((mode(dir.path()), mode(&dir.stop()), mode(&dir.env())), (0o700, 0o600, 0o600));
        assert!(dir.has_owner_stop());
        dir.forget_env().unwrap();
        dir.forget_env().unwrap();
        assert!(!dir.env().exists());
    }

    #[test]
    fn links_pipes_and_folders_are_foreign() {
        let temp = tempfile::tempdir().unwrap();
        let dir = AgentDir::new(temp.path());
        std::fs::write(temp.path().join("secret"), "secret").unwrap();
        symlink(temp.path().join("secret"), dir.exit()).unwrap();
        std::fs::create_dir(dir.stop()).unwrap();
        let pipe = dir.started();
        #[cfg(target_os = "linux")]
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(read_guarded(&dir.exit()).unwrap(), Found::Foreign);
        assert_eq!(read_guarded(&dir.stop()).unwrap(), Found::Foreign);
        #[cfg(target_os = "linux")]
        assert_eq!(read_guarded(&pipe).unwrap(), Found::Foreign);
        assert_eq!(read_guarded(&dir.out()).unwrap(), Found::Nothing);
        assert!(!dir.has_owner_stop());
    }
}
