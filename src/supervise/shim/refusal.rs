//! Says to people why an agent could not be started.
//!
//! What may go here: sentences, and looking at the file system to choose between them. What may not: starting anything.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::super::launch::advice;
use super::super::spec::{Spec, StdinFrom};
use super::exec::Step;

/// Returns one clause that says why, and what to do. `path` is the agent's `PATH`.
pub(super) fn sentence(step: Step, error: &io::Error, spec: &Spec, path: Option<&OsStr>) -> String {
    match step {
        Step::Folder => folder(error, &spec.root),
        Step::Stdin => stdin(error, &spec.stdin),
        Step::Program | Step::Other => program(error, spec, path),
    }
}

fn folder(error: &io::Error, root: &Path) -> String {
    let root = root.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("folder {root} does not exist: make it or give another root")
        }
        io::ErrorKind::NotADirectory => {
            format!("{root} is not a folder: give another root")
        }
        io::ErrorKind::PermissionDenied => {
            format!(
                "folder {root} may not be entered: correct its permissions or give another root"
            )
        }
        _ => format!("folder {root} could not be entered: {error}"),
    }
}

fn stdin(error: &io::Error, stdin: &StdinFrom) -> String {
    match stdin {
        StdinFrom::Null => format!("/dev/null could not be opened: {error}"),
        StdinFrom::File(path) => format!("{} could not be read: {error}", path.display()),
        StdinFrom::Messages => format!("the pipe for messages could not be opened: {error}"),
    }
}

fn program(error: &io::Error, spec: &Spec, path: Option<&OsStr>) -> String {
    let Some(name) = spec.argv.first().filter(|name| !name.is_empty()) else {
        return "there is no command to run: give one".to_owned();
    };
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) if is_there(name, spec, path) => format!(
            "\"{name}\" is there, but the interpreter that its first line names is not: install that"
        ),
        Some(Errno::NOENT | Errno::NOTDIR) => {
            format!(
                "\"{name}\" was not found (no such file or directory): install it or correct the command"
            )
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            format!(
                "\"{name}\" may not be run (permission denied): it is not executable for this user"
            )
        }
        Some(Errno::NOEXEC) => {
            format!("\"{name}\" is not in a format that this system can run: correct the command")
        }
        Some(Errno::TOOBIG) => format!(
            "the command line is too long for this system ({} bytes): read the task from the file that FLEET_TASK_FILE \
             names",
            spec.argv.iter().map(|argument| argument.len().saturating_add(1)).sum::<usize>()
        ),
        _ if error.kind() == io::ErrorKind::InvalidInput => {
            "the command or its environment has a NUL character in it: take it out".to_owned()
        }
        _ => format!("\"{name}\" could not be started: {error}{}", advice(error)),
    }
}

fn is_there(name: &str, spec: &Spec, path: Option<&OsStr>) -> bool {
    if name.contains('/') {
        return spec.root.join(name).exists();
    }
    path.is_some_and(|path| {
        std::env::split_paths(path).any(|folder| spec.root.join(folder).join(name).exists())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(argv: &[&str]) -> Spec {
        let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
        Spec::new("t/1", 1, argv, Path::new("/repo").to_owned())
    }

    #[track_caller]
    fn says(step: Step, errno: Errno, argv: &[&str], expected: &str) {
        let error = io::Error::from(errno);
        assert_eq!(sentence(step, &error, &spec(argv), None), expected);
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        use Step::{Folder, Program};

        let nosuch = "\"nosuch\" was not found (no such file or directory): install it or correct the command";
        says(Program, Errno::NOENT, &["nosuch"], nosuch);
        says(Program, Errno::NOENT, &[], "there is no command to run: give one");
        let denied =
            "\"./a\" may not be run (permission denied): it is not executable for this user";
        says(Program, Errno::ACCESS, &["./a"], denied);
        let format = "\"a\" is not in a format that this system can run: correct the command";
        says(Program, Errno::NOEXEC, &["a"], format);
        let missing = "folder /repo does not exist: make it or give another root";
        says(Folder, Errno::NOENT, &["a"], missing);
        says(Folder, Errno::NOTDIR, &["a"], "/repo is not a folder: give another root");
        let long = "the command line is too long for this system (8 bytes): read the task from the file that \
                    FLEET_TASK_FILE names";
        says(Program, Errno::TOOBIG, &["echo", "hi"], long);
    }

    #[test]
    fn a_script_without_its_interpreter_is_told_from_a_missing_one() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("tool"), "#!/nonexistent\n").unwrap();
        let error = io::Error::from(Errno::NOENT);
        let path = Some(temp.path().as_os_str());
        let text = sentence(Step::Program, &error, &spec(&["tool"]), path);
        assert!(text.contains("interpreter"), "{text}");
    }
}
