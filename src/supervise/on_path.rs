//! Where a program of a name is.
//!
//! What may go here: the search of the path as an exec does it, and asking whether it would find something. What may
//! not: running what is found.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{Access, access};

/// Says whether a program can be executed that has this name and is in one of the folders of `path`, or that is at this
/// path.
pub fn is_on_path(program: &str, path: Option<&OsStr>) -> bool {
    find_on_path(program, path).is_some()
}

/// Returns the file that would be executed by that name.
pub fn find_on_path(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let can_run = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    candidates(OsStr::new(program), path.map(OsStr::to_owned)).into_iter().find(can_run)
}

/// Returns where the program can be, in the order in which to try; `path` is the value of the variable.
pub(super) fn candidates(program: &OsStr, path: Option<OsString>) -> Vec<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(program)];
    }
    if program.is_empty() {
        return Vec::new();
    }
    let path = path.unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    // An empty entry is the current folder; a name without a slash is found there as well.
    std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_name_is_looked_for_in_the_path_and_a_path_is_taken_as_it_is() {
        let path = Some(OsString::from("/a::/b"));
        let found = candidates(OsStr::new("tool"), path.clone());
        assert_eq!(found, [Path::new("/a/tool"), Path::new("tool"), Path::new("/b/tool")]);
        assert_eq!(candidates(OsStr::new("./tool"), path), [Path::new("./tool")]);
        assert_eq!(candidates(OsStr::new("tool"), None).len(), 2);
        assert!(candidates(OsStr::new(""), None).is_empty());
    }

    #[test]
    fn a_program_is_found_only_where_it_can_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        let is_found = || is_on_path("tool", Some(folder.path().as_os_str()));
        assert!(!is_found());
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert!(is_found());
        assert!(is_on_path(&tool.to_string_lossy(), Some(OsStr::new(""))));
        assert!(!is_on_path("tool-of-no-package", None));
    }
}
