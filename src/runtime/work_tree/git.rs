//! Runs git on the work tree of an agent, so that it changes nothing, waits for nobody and is not waited for long.
//!
//! What may go here: finding a work tree, the command line, the time it may take. What may not: what its output means.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Weak;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::supervise::find_on_path;

/// Most bytes of an answer: a folder of which git says more is not listed.
const ANSWER_BYTES: u64 = 4 << 20;
/// How often it is looked whether an answer is still wanted.
const SLICE: Duration = Duration::from_millis(50);
/// Most filters that are switched off: a repository that names more is not looked at.
const FILTERS: usize = 32;

/// What git is told on each call: it takes no lock, so that the index is not written, starts no program that the
/// repository names, and takes no folder of the work tree for a repository.
const QUIET: [&str; 11] = [
    "--no-optional-locks",
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "safe.bareRepository=explicit",
];

/// It asks nobody, neither a person nor the network. The repository could allow protocols one by one: the variable goes
/// before that.
const ALONE: [(&str, &str); 4] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("LC_ALL", "C"),
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
    /// know any more, after which it is ended; and if the repository is another user's, which git finds out itself.
    ///
    /// The contents of files are compared as they are: a filter is a program, which the repository names and the agent may
    /// have.
    pub(super) fn ask(
        &self,
        arguments: &[&str],
        limit: Duration,
        wanted: &Weak<()>,
    ) -> Option<Vec<u8>> {
        let list = self.command(&["config", "--includes", "--null", "--name-only", "--list"])?;
        let without = without_filters(&answer(list, limit, wanted)?)?;
        let mut command = self.command(&[])?;
        for setting in without {
            command.arg("-c").arg(setting);
        }
        command.args(arguments).arg("--").arg(self.below());
        answer(command, limit, wanted)
    }

    /// Returns the folder that is asked about, from the top on.
    fn below(&self) -> &Path {
        let below = self.root.strip_prefix(&self.top).unwrap_or(&self.root);
        if below.as_os_str().is_empty() { Path::new(".") } else { below }
    }

    /// Makes a command that runs at the top. Git is not told where the repository is: only one that it has found does it
    /// check for its owner.
    fn command(&self, arguments: &[&str]) -> Option<Command> {
        let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
        let mut command = Command::new(program(&path, &self.top)?);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        // A top that turns out to be none is not looked for above.
        let ceiling = self.top.parent().unwrap_or(&self.top);
        command.envs(ALONE).env("GIT_CEILING_DIRECTORIES", ceiling);
        command.args(QUIET).arg("--work-tree").arg(&self.top).args(arguments);
        command.current_dir(&self.top).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Some(command)
    }
}

/// Finds git in the folders of a path, those left out that the agent can fill: relative ones and ones in its work tree.
fn program(path: &OsStr, top: &Path) -> Option<PathBuf> {
    let is_below =
        |folder: &Path| folder.canonicalize().is_ok_and(|folder| folder.starts_with(top));
    let folders =
        std::env::split_paths(path).filter(|folder| folder.is_absolute() && !is_below(folder));
    find_on_path("git", Some(&std::env::join_paths(folders).ok()?))
}

/// Reads the names of all settings, and returns those that switch off all filters among them. `None` for too many of them
/// and for names that cannot be set in words.
fn without_filters(names: &[u8]) -> Option<Vec<String>> {
    let mut filters = BTreeSet::new();
    for name in names.split(|byte| *byte == 0) {
        let Some(name) = name.strip_prefix(b"filter.") else { continue };
        let name = std::str::from_utf8(name).ok()?;
        // A setting of all filters has no dot, and no meaning.
        let Some((filter, _)) = name.rsplit_once('.') else { continue };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+ ".contains(letter);
        if !filter.chars().all(is_plain) {
            return None;
        }
        filters.insert(filter);
    }
    let without = |filter: &&str| {
        let set = |end: &str| format!("filter.{filter}.{end}");
        [set("clean="), set("smudge="), set("process="), set("required=false")]
    };
    (filters.len() <= FILTERS).then(|| filters.iter().flat_map(without).collect())
}

/// Reads what a program says until it ends; one that takes too long, or whose answer is not wanted any more, is ended with
/// all that it has started.
fn answer(mut command: Command, limit: Duration, wanted: &Weak<()>) -> Option<Vec<u8>> {
    let is_wanted = || wanted.strong_count() > 0;
    let mut child = is_wanted().then(|| command.spawn())?.ok()?;
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
    while told.is_none() && waited < limit && is_wanted() {
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
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        command
    }

    #[test]
    fn an_answer_that_takes_too_long_fails_or_is_not_wanted_is_none() {
        let wanted = Arc::new(());
        let told = |command| answer(command, LONG, &Arc::downgrade(&wanted));
        assert_eq!(told(shell("printf told")), Some(b"told".to_vec()));
        assert_eq!(told(shell("printf told; exit 3")), None);
        assert_eq!(told(shell("head -c 5000000 /dev/zero")), None);
        assert_eq!(answer(shell("sleep 1000"), LONG, &Weak::new()), None);
        // The one that waits has another one in its group: neither is left.
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("echo $$ > {}; sleep 1000 & sleep 1000", pid.display());
        std::thread::scope(|scope| {
            let told = scope.spawn(|| {
                let wanted = Arc::new(());
                let asked = Arc::downgrade(&wanted);
                let told = scope.spawn(move || answer(shell(&script), LONG, &asked));
                let read = || std::fs::read_to_string(&pid).unwrap_or_default();
                while !read().ends_with('\n') {
                    std::thread::yield_now();
                }
                drop(wanted);
                told.join().unwrap()
            });
            assert_eq!(told.join().unwrap(), None);
        });
        let pid: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        assert!(rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_err());
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
        assert_eq!(tree.below(), Path::new("a/b"));
        assert_eq!(WorkTree::of(folder.path()).unwrap().below(), Path::new("."));
    }

    #[test]
    fn git_is_not_taken_from_where_an_agent_can_put_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for place in ["tree/bin", "outside"] {
            std::fs::create_dir_all(folder.join(place)).unwrap();
            let git = folder.join(place).join("git");
            std::fs::write(&git, "").unwrap();
            std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (inside, outside) = (folder.join("tree/bin"), folder.join("outside"));
        let path = std::env::join_paths([Path::new(""), Path::new("bin"), &inside, &outside]);
        let path = path.unwrap();
        assert_eq!(program(&path, &folder.join("tree")), Some(outside.join("git")));
        assert_eq!(program(&path, &folder), None);
    }

    #[test]
    fn every_filter_is_switched_off_and_one_that_cannot_be_is_told() {
        let names =
            b"core.bare\0filter.lfs.clean\0filter.lfs.required\0filter.a.b.process\0filter.x\0";
        let without = without_filters(names).unwrap();
        let of = |filter: &str| {
            ["clean=", "smudge=", "process=", "required=false"]
                .map(|end| format!("filter.{filter}.{end}"))
        };
        assert_eq!(without, [of("a.b"), of("lfs")].concat());
        assert_eq!(without_filters(b""), Some(Vec::new()));
        for odd in ["filter.a=b.clean\0", "filter.a\nb.clean\0", "filter.\u{e4}.clean\0"] {
            assert_eq!(without_filters(odd.as_bytes()), None, "{odd:?}");
        }
        assert_eq!(without_filters(b"filter.\xff.clean\0"), None);
        let many: Vec<String> =
            (0..=FILTERS).map(|number| format!("filter.{number}.clean\0")).collect();
        assert_eq!(without_filters(many.concat().as_bytes()), None);
    }
}
