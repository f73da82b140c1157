//! The second exec: the last steps of the process that becomes the agent. Linux only in effect; elsewhere the shim
//! starts the agent directly.
//!
//! What may go here: what must happen in the agent's own process before its program runs. What may not: allocation that
//! grows with anything but the argument list, files that stay open.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::errno::Errno;
use nix::unistd::execv;
use signal_hook::consts::SIGPIPE;

use super::super::on_path::candidates;

/// Exit code that says "not started" to a person who looks; the shim reads the report instead.
const NOT_STARTED: u8 = 127;

/// What could not be done, as it is told to the shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Opening the standard input.
    Stdin,
    /// Entering the folder.
    Folder,
    /// Running the program.
    Program,
    /// Anything before.
    Other,
}

impl Step {
    const ALL: [Self; 4] = [Self::Stdin, Self::Folder, Self::Program, Self::Other];

    const fn word(self) -> &'static str {
        match self {
            Self::Stdin => "stdin",
            Self::Folder => "folder",
            Self::Program => "program",
            Self::Other => "other",
        }
    }
}

/// Builds the command that the shim starts for its agent. Standard output and error, environment and the pipe on
/// standard input are the shim's to set.
#[cfg(target_os = "linux")]
pub(super) fn command(
    dir: &super::super::AgentDir,
    spec: &super::super::spec::Spec,
) -> io::Result<Command> {
    use super::super::spec::StdinFrom;

    let mut command = Command::new(super::super::launch::own_executable()?);
    command.arg0(format!("fleet: agent {}", spec.id));
    command.arg(super::EXEC_WORD).arg(std::process::id().to_string()).arg(&spec.root);
    command.arg(match &spec.stdin {
        StdinFrom::Null => OsString::new(),
        StdinFrom::File(path) => path.into(),
        StdinFrom::Messages => dir.inlet().into(),
    });
    command.args(&spec.argv).process_group(0);
    Ok(command)
}

/// Reads a report of [`run`]: what failed, and why. `None` if it is none, so that the agent has started.
pub(super) fn parse_report(report: &[u8]) -> Option<(Step, io::Error)> {
    let (word, errno) = std::str::from_utf8(report).ok()?.trim().split_once(' ')?;
    let step = Step::ALL.into_iter().find(|step| step.word() == word)?;
    Some((step, io::Error::from_raw_os_error(errno.parse().ok()?)))
}

/// Becomes the agent. Arguments: the shim's process id, the folder, the file for standard input or nothing, then the
/// agent's own command line. Standard input is the pipe on which a failure is reported; success closes it.
pub(super) fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(shim), Some(root), Some(stdin)) = (args.next(), args.next(), args.next()) else {
        return ExitCode::from(NOT_STARTED);
    };
    let argv: Vec<OsString> = args.collect();
    // Not handed on to the program.
    let Ok(mut report) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map(File::from)
    else {
        return ExitCode::from(NOT_STARTED);
    };
    let (step, error) = become_agent(&shim, Path::new(&root), Path::new(&stdin), &argv);
    let errno = error.raw_os_error().unwrap_or(0);
    // If nobody listens any more, nobody needs to know.
    let _ = report.write_all(format!("{} {errno}\n", step.word()).as_bytes());
    ExitCode::from(NOT_STARTED)
}

/// Returns only if something failed.
fn become_agent(shim: &OsStr, root: &Path, stdin: &Path, argv: &[OsString]) -> (Step, io::Error) {
    if let Err(error) = die_with(shim) {
        return (Step::Other, error);
    }
    if let Err(error) = set_stdin(stdin) {
        return (Step::Stdin, error);
    }
    if let Err(error) = std::env::set_current_dir(root) {
        return (Step::Folder, error);
    }
    match argv {
        [] => (Step::Program, io::ErrorKind::NotFound.into()),
        [program, ..] => (Step::Program, run_program(program, argv)),
    }
}

/// Runs the program as `execvp` would, but a file that is neither a program of this system nor a text is an error
/// instead of a puzzle for the shell. Returns only if that failed.
fn run_program(program: &OsStr, argv: &[OsString]) -> io::Error {
    let arguments = argv.iter().map(|argument| CString::new(argument.as_bytes()));
    let Ok(arguments) = arguments.collect::<Result<Vec<_>, _>>() else {
        return io::ErrorKind::InvalidInput.into();
    };
    if let Err(error) = unignore_sigpipe() {
        return error;
    }
    let mut last = Errno::ENOENT;
    for candidate in candidates(program, std::env::var_os("PATH")) {
        let Ok(path) = CString::new(candidate.as_os_str().as_bytes()) else { continue };
        let Err(errno) = execv(&path, &arguments);
        match errno {
            Errno::ENOENT | Errno::ENOTDIR => {}
            Errno::EACCES => last = errno,
            Errno::ENOEXEC if is_text(&candidate) => {
                return Command::new("/bin/sh").arg(&candidate).args(argv.iter().skip(1)).exec();
            }
            _ => return errno.into(),
        }
    }
    last.into()
}

/// A program of another system has zero bytes in its first lines, a script without a first line of its own has none.
fn is_text(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
    read.is_ok() && !head.contains(&0)
}

/// The runtime ignores SIGPIPE and an ignored signal stays ignored; a handled one is at its default after the exec.
fn unignore_sigpipe() -> io::Result<()> {
    signal_hook::flag::register(SIGPIPE, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Asks to be killed when the shim dies, and looks whether it has died already.
#[cfg(target_os = "linux")]
fn die_with(shim: &OsStr) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map(|pid| pid.as_raw_pid().to_string());
    if parent.as_deref().map(OsStr::new) == Some(shim) {
        Ok(())
    } else {
        Err(rustix::io::Errno::SRCH.into())
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with(_shim: &OsStr) -> io::Result<()> {
    Ok(())
}

fn set_stdin(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new("/dev/null") } else { path };
    let file: OwnedFd = File::open(path)?.into();
    rustix::stdio::dup2_stdin(&file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_back_and_silence_is_success() {
        let (step, error) = parse_report(b"folder 2\n").unwrap();
        assert_eq!((step, error.raw_os_error()), (Step::Folder, Some(2)));
        for silence in [b"".as_slice(), b"weather 2\n", b"folder x\n", b"\xff"] {
            assert!(parse_report(silence).is_none(), "{silence:?}");
        }
    }
}
