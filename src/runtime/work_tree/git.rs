//! Runs git on the work tree of an agent, so that it changes nothing, waits for nobody and is not waited for long.
//!
//! What may go here: finding a work tree, the command line, the time it may take. What may not: what its output means.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::status::{Stamp, stamp};

/// Most bytes of an answer: a folder of which git says more is not listed.
const ANSWER_BYTES: u64 = 4 << 20;
/// How often it is looked whether an answer is still wanted.
const SLICE: Duration = Duration::from_millis(50);
/// Longest file that points to the place of a repository, in bytes.
const POINTER_BYTES: u64 = 64 * 1024;

/// What git is told on each call: it takes no lock, so that the index is not written, starts no program that the
/// repository names, and asks nobody on the network.
const QUIET: [&str; 9] = [
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "protocol.allow=never",
];

/// A work tree that git can be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkTree {
    /// The folder that has `.git` in it.
    pub(super) top: PathBuf,
    /// The folder that is asked about: the top or one below it.
    pub(super) root: PathBuf,
}

impl WorkTree {
    /// Finds the work tree of a folder; `None` if it is in none.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
        let top = root.ancestors().find(has_git)?.to_owned();
        Some(Self { top, root })
    }

    /// Asks git. `None` if there is no git, it fails, says too much, takes longer than the limit, or until nobody wants to
    /// know any more, after which it is ended.
    pub(super) fn ask(
        &self,
        arguments: &[&str],
        limit: Duration,
        is_given_up: &AtomicBool,
    ) -> Option<Vec<u8>> {
        let mut command = Command::new("git");
        command.args(QUIET).arg("--git-dir").arg(self.top.join(".git"));
        command.arg("--work-tree").arg(&self.top).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
        command.current_dir(&self.root).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        answer(command.spawn().ok()?, limit, is_given_up)
    }

    /// Looks at the files that could make git start other programs. An agent that has changed them is not asked about.
    pub(super) fn settings(&self) -> Vec<Stamp> {
        let place = pointed(&self.top.join(".git"), "gitdir: ");
        let common = pointed(&place.join("commondir"), "");
        let common = if common.is_dir() { common } else { place.clone() };
        let files = [
            self.top.join(".git"),
            place.join("config.worktree"),
            common.join("config"),
            common.join("info/attributes"),
        ];
        // Of a folder only whether it is one: it changes with each file in it.
        files.iter().map(|file| if file.is_dir() { None } else { stamp(file) }).collect()
    }
}

/// Returns the path that a file holds after a mark, from its own folder; the path itself if it is no such file.
fn pointed(path: &Path, mark: &str) -> PathBuf {
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(POINTER_BYTES).read_to_string(&mut text));
    let target = text.strip_prefix(mark).filter(|_| read.is_ok()).map(str::trim_end);
    match (target, path.parent()) {
        (Some(target), Some(folder)) if !target.is_empty() => folder.join(target),
        _ => path.to_owned(),
    }
}

/// Reads what a program says until it ends; one that takes too long is ended with all that it has started.
fn answer(mut child: Child, limit: Duration, is_given_up: &AtomicBool) -> Option<Vec<u8>> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, receiver) = sync_channel(1);
    let output = child.stdout.take()?;
    let reader = std::thread::Builder::new().name("git".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(ANSWER_BYTES).read_to_end(&mut bytes);
        // Nobody waits any more when it has taken too long.
        let _ = sender.send(read.map(|_| bytes));
    });
    let mut told = None;
    let mut waited = Duration::ZERO;
    while told.is_none() && waited < limit && !is_given_up.load(Ordering::Relaxed) {
        match receiver.recv_timeout(SLICE) {
            Err(RecvTimeoutError::Timeout) => waited += SLICE,
            Err(RecvTimeoutError::Disconnected) => break,
            Ok(read) => told = Some(read),
        }
    }
    drop(reader);
    let fits = |bytes: &Vec<u8>| u64::try_from(bytes.len()).is_ok_and(|size| size < ANSWER_BYTES);
    let bytes = told.and_then(Result::ok).filter(fits);
    if bytes.is_none()
        && let Some(group) = group
    {
        // It may have ended meanwhile, and is not yet reaped: the number is still its own.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let ended = child.wait().ok()?;
    bytes.filter(|_| ended.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        command.spawn().unwrap()
    }

    #[test]
    fn an_answer_that_takes_too_long_or_fails_is_none() {
        let long = Duration::from_mins(1);
        let wanted = AtomicBool::new(false);
        let told = |child| answer(child, long, &wanted);
        assert_eq!(told(shell("printf told")), Some(b"told".to_vec()));
        assert_eq!(told(shell("printf told; exit 3")), None);
        assert_eq!(told(shell("head -c 5000000 /dev/zero")), None);
        assert_eq!(answer(shell("sleep 1000"), long, &AtomicBool::new(true)), None);
        // The one that waits has another one in its group: neither is left, or this would never end.
        let mut child = Command::new("sh");
        child.args(["-c", "sleep 1000 & sleep 1000"]).process_group(0).stdout(Stdio::piped());
        let child = child.spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        assert_eq!(answer(child, Duration::from_millis(10), &wanted), None);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }

    #[test]
    fn a_folder_in_no_work_tree_has_none_and_one_below_the_top_knows_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(WorkTree::of(&below), None);
        assert_eq!(WorkTree::of(Path::new("/nonexistent")), None);
        std::fs::write(folder.path().join(".git"), "gitdir: elsewhere/.git\n").unwrap();
        let tree = WorkTree::of(&below).unwrap();
        assert_eq!(tree.top, folder.path().canonicalize().unwrap());
        assert_eq!(pointed(&tree.top.join(".git"), "gitdir: "), tree.top.join("elsewhere/.git"));
        let before = tree.settings();
        assert_eq!(tree.settings(), before);
        std::fs::create_dir_all(folder.path().join("elsewhere/.git")).unwrap();
        std::fs::write(folder.path().join("elsewhere/.git/config"), "[filter \"x\"]").unwrap();
        assert_ne!(tree.settings(), before, "it names programs now");
    }
}
