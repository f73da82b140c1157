//! `fleet doctor`: looks which agent programs are here and whether Fleet's folders can be used.
//!
//! What may go here: looking, without a network call and without reading any secret aloud. What may not: what is said of
//! it (`cli::doctor`), what is known of programs (the table of kinds).

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::adapters::{KnownKind, Login, known_program};
use crate::cli::arguments::GlobalArguments;
use crate::cli::config::Config;
use crate::cli::config::project::trusted;
use crate::cli::doctor::{Access, KindReport, NoticeReport, Report, StateReport, version_in};
use crate::cli::{Failure, current_folder, state_dir, without_fleet};
use crate::control::{socket_folder, try_socket};
use crate::core::FleetId;
use crate::journal::{HostState, StateDir, folder_of, host_of, size_of};
use crate::supervise::{answer, find_on_path};

/// How long a program is given to say its version: those that start an interpreter take some seconds on a small machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest file in which a login is looked for, in bytes.
const LOGIN_BYTES: u64 = 1024 * 1024;

/// Looks and tells; returns the exit code.
pub(super) fn run(global: &GlobalArguments) -> Result<u8, Failure> {
    without_fleet(global, "fleet doctor looks at this computer (fleet results shows a fleet)")?;
    let config = Config::load()?;
    let state = state_dir(global).map_err(|failure| failure.sentence);
    let names = config.names();
    let agents: Vec<&str> = names.into_iter().filter(|name| is_agent(&config, name)).collect();
    let kinds = thread::scope(|scope| {
        // All at once: some take seconds. A config has no more kinds than somebody has written.
        let looking: Vec<_> =
            agents.iter().map(|name| scope.spawn(|| look(&config, name))).collect();
        looking.into_iter().filter_map(|thread| thread.join().ok()?).collect()
    });
    let report = Report {
        kinds,
        chosen: config.first_found(),
        config: Config::path().map(|path| {
            let is_there = path.exists();
            (path, is_there)
        }),
        project: project(),
        notices: notices(&config),
        sockets: sockets(state.as_ref().ok()),
        state: state.and_then(|state| look_at(&state)),
    };
    report.show(global.json, io::stdout().is_terminal())
}

/// Looks at the file of this folder's project.
fn project() -> Option<Result<PathBuf, String>> {
    let folder = folder_of(&current_folder().ok()?);
    trusted(&folder).map(|file| file.map(|file| file.path)).transpose()
}

/// Looks for the program that is told of notices.
fn notices(config: &Config) -> Option<NoticeReport> {
    let argv = config.notices.command.clone()?;
    let path = std::env::var_os("PATH");
    let found = argv.first().and_then(|program| find_on_path(program, path.as_deref()));
    Some(NoticeReport { argv, found })
}

/// Says whether a kind has a program of its own that is worth a look.
fn is_agent(config: &Config, name: &str) -> bool {
    known_program(name).is_some() || config.kinds.contains_key(name)
}

fn look(config: &Config, name: &str) -> Option<KindReport> {
    let program = config.program(name)?;
    let known = known_program(config.base(name));
    let path = std::env::var_os("PATH");
    let found = find_on_path(program, path.as_deref());
    let is_own = config.install(name).is_none();
    let version = found.as_ref().map_or_else(
        || Err("it was not found".to_owned()),
        |file| version(config, name, file, known),
    );
    Some(KindReport {
        name: name.to_owned(),
        program: program.to_owned(),
        found,
        version,
        tested: known.filter(|_| !is_own).map(|known| known.tested.clone()).unwrap_or_default(),
        access: access(config, name, known),
        install: config.install(name).map(str::to_owned),
    })
}

/// Asks a program for its version, with the first arguments that a kind of the owner's own gives it.
fn version(
    config: &Config,
    name: &str,
    program: &Path,
    known: Option<&KnownKind>,
) -> Result<Option<String>, String> {
    // A command line of the owner's own has no place for another option, and is not run without a task.
    let Some(known) = known else { return Ok(None) };
    let own = config.kinds.get(name).map(|configured| configured.own.program.as_slice());
    let mut arguments: Vec<&str> =
        own.unwrap_or_default().iter().skip(1).map(String::as_str).collect();
    arguments.push("--version");
    let told =
        answer(program, &arguments, &known.quiet, PATIENCE).map_err(|error| error.to_string())?;
    match (version_in(&told), &known.package) {
        (Some(version), _) => Ok(Some(version)),
        // It runs, and whoever installed it has written down which one it is.
        (None, Some(package)) => Ok(installed(program, package)),
        (None, None) => Err("it told none".to_owned()),
    }
}

/// Returns the version of a Python package that a program belongs to, from the folder that its installer leaves beside
/// the program's.
fn installed(program: &Path, package: &str) -> Option<String> {
    let program = program.canonicalize().ok()?;
    let libraries = program.parent()?.parent()?.join("lib");
    let named = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let version = name.strip_prefix(package)?.strip_prefix('-')?.strip_suffix(".dist-info")?;
        version_in(version)
    };
    let pythons = fs::read_dir(libraries).ok()?.flatten();
    let mut folders = pythons
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python3"))
        .flat_map(|entry| ["site-packages", "dist-packages"].map(|name| entry.path().join(name)));
    folders.find_map(|folder| fs::read_dir(folder).ok()?.flatten().find_map(named))
}

fn access(config: &Config, name: &str, known: Option<&KnownKind>) -> Access {
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let needed = config.kinds.get(name).map_or(&[][..], |configured| &configured.env);
    if let Some(missing) = needed.iter().find(|name| !is_set(name)) {
        return Access::Missing(missing.clone());
    }
    if let Some(first) = needed.first() {
        return Access::Variable(first.clone());
    }
    let Some(known) = known else { return Access::Free };
    if let Some(key) = known.keys.iter().find(is_set) {
        return Access::Variable(key.clone());
    }
    match known.logins.iter().find_map(login_file) {
        Some(file) => Access::File(file),
        None if known.local => Access::Free,
        None => Access::Unseen(known.log_in.clone()),
    }
}

/// Returns the file in which a login is seen.
fn login_file(login: &Login) -> Option<PathBuf> {
    let named = std::env::var_os(&login.variable).filter(|folder| !folder.is_empty());
    let home = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let folder = match named {
        Some(folder) => PathBuf::from(folder),
        None => home()?.join(&login.default),
    };
    let file = folder.join(&login.file);
    let found = fs::metadata(&file).ok().filter(|found| found.is_file() && found.len() > 0)?;
    let Some(wanted) = &login.contains else { return Some(file) };
    let text = (found.len() <= LOGIN_BYTES).then(|| fs::read_to_string(&file).ok()).flatten()?;
    let tells = |line: &str| {
        let behind = line.split_once(wanted.as_str()).map(|(_, behind)| behind.trim());
        !line.trim_start().starts_with('#') && behind.is_some_and(|behind| !behind.is_empty())
    };
    text.lines().any(tells).then_some(file)
}

/// Returns where sockets are made, after one has been made there.
fn sockets(state: Option<&StateDir>) -> Result<PathBuf, String> {
    // Without a safe folder for such things they are in the folders of the fleets.
    let Some(folder) = socket_folder().or_else(|| state.map(StateDir::fleets)) else {
        return Err(
            "there is no folder for sockets: set XDG_RUNTIME_DIR to one that only you can enter"
                .to_owned(),
        );
    };
    match try_socket(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => Err(format!(
            "no socket can be made in {}: {error}; set XDG_RUNTIME_DIR to a short folder of yours that only you can enter",
            folder.display()
        )),
    }
}

/// Looks at the state folder; says in one sentence why no fleet could be kept there.
fn look_at(state: &StateDir) -> Result<StateReport, String> {
    let path = state.path().to_owned();
    let refused = |what: &str, error: io::Error| format!("{what} {}: {error}", path.display());
    drop(
        tempfile::tempfile_in(&path)
            .map_err(|error| refused("nothing can be written to", error))?,
    );
    let ids = state.list().map_err(|error| refused("could not read", error))?;
    let has_host = |id: &&FleetId| matches!(host_of(&state.fleet(id)), Ok(HostState::Here(_)));
    let hosted = ids.iter().filter(has_host).count();
    Ok(StateReport { bytes: size_of(&path), fleets: ids.len(), hosted, path })
}
