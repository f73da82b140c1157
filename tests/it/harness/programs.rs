//! Real agent programs: where they are, and what a test says that has to do without one.
//!
//! What may go here: finding them. What may not: their settings.

/// Folders that are looked into before those of the search path, separated like them.
const FOLDERS: &str = "FLEET_TEST_AGENT_PATH";

/// Variable that makes a missing program a failure.
const MUST: &str = "FLEET_REAL_AGENTS";

/// Returns the search path that has all these programs in it, or `None`, said aloud, where one of them is not installed.
/// With `FLEET_REAL_AGENTS=1` that is a failure.
#[track_caller]
#[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
pub(crate) fn path_with(programs: &[&str]) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = match std::env::var(FOLDERS) {
        Ok(folders) => format!("{folders}:{path}"),
        Err(_) => path,
    };
    let is_missing = |program: &&&str| {
        !std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let Some(missing) = programs.iter().find(is_missing) else { return Some(path) };
    let must = std::env::var(MUST).is_ok_and(|value| value == "1");
    assert!(!must, "{MUST}=1, but there is no {missing} in {path}");
    println!("skipped, because {missing} is not installed (.ci/run installs it)");
    None
}
