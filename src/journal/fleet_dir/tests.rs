//! Tests of a fleet's folder.

use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

fn fleet_dir() -> (TempDir, FleetDir) {
    let folder = TempDir::new().unwrap();
    let fleet_dir = FleetDir::new(folder.path().to_owned(), FleetId("a0000000".to_owned()));
    (folder, fleet_dir)
}

fn fleet_file() -> FleetFile {
    FleetFile {
        version: FleetFile::VERSION,
        fleet_version: "0.1.0".to_owned(),
        id: FleetId("a0000000".to_owned()),
        name: Some("night run".to_owned()),
        root: PathBuf::from("/project"),
        created: Moment(5),
        host_name: "laptop".to_owned(),
        boot_id: "b".to_owned(),
        options: FleetOptions::default(),
        argv: vec!["fleet".to_owned()],
        is_closed: false,
        socket: None,
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_file_is_replaced_as_a_whole_and_read_back() {
    let (folder, fleet_dir) = fleet_dir();
    fleet_dir.write_file(&fleet_file()).unwrap();
    let other = FleetFile { socket: Some(PathBuf::from("/run/x.sock")), ..fleet_file() };
    fleet_dir.write_file(&other).unwrap();
    assert_eq!(fleet_dir.read_file().unwrap(), other);
    assert_eq!(mode(&fleet_dir.fleet_file()), 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_newer_file_and_a_damaged_one_are_told_apart() {
    let (folder, fleet_dir) = fleet_dir();
    let error = |text: &str| {
        fs::write(fleet_dir.fleet_file(), text).unwrap();
        let error = fleet_dir.read_file().unwrap_err().to_string();
        error.replace(folder.path().to_str().unwrap(), "DIR")
    };
    assert_eq!(
        error("{\"version\":2,\"all\":\"new\"}"),
        "DIR/fleet.json was written by a newer Fleet (version 2): use that one"
    );
    for text in ["", "{\"version\":1", "{\"version\":1}", "[]", "\0\0\0"] {
        let error = error(text);
        assert!(error.starts_with("DIR/fleet.json is damaged ("), "{error}");
        assert!(error.ends_with("): restore it from a copy, or move its folder away"), "{error}");
    }
    fs::remove_file(fleet_dir.fleet_file()).unwrap();
    let error = fleet_dir.read_file().unwrap_err().to_string();
    assert!(
        error.ends_with("/fleet.json is missing: restore it from a copy, or move its folder away"),
        "{error}"
    );
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let (folder, fleet_dir) = fleet_dir();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, serde_json::to_vec(&fleet_file()).unwrap()).unwrap();
    symlink(&elsewhere, fleet_dir.fleet_file()).unwrap();
    assert!(matches!(fleet_dir.read_file(), Err(FleetFileError::Read { .. })));
    fleet_dir.write_file(&FleetFile { version: 1, name: None, ..fleet_file() }).unwrap();
    assert!(
        fs::read_to_string(&elsewhere).unwrap().contains("night run"),
        "it was replaced, not followed"
    );
    assert_eq!(fleet_dir.read_file().unwrap().name, None);
}

#[test]
fn values_of_variables_are_private_and_can_be_forgotten() {
    let (_folder, fleet_dir) = fleet_dir();
    let values = BTreeMap::from([("KEY".to_owned(), "a=b \"c\"".to_owned())]);
    let agent = AgentId(7);
    assert_eq!(fleet_dir.stored_env(agent).unwrap(), BTreeMap::new());
    fleet_dir.store_env(agent, &values).unwrap();
    let file = fleet_dir.path().join("agents/0007/env.json");
    assert_eq!(mode(&file), 0o600);
    assert_eq!((mode(&fleet_dir.agents()), mode(&fleet_dir.agent(agent))), (0o700, 0o700));
    assert_eq!(fleet_dir.stored_env(agent).unwrap(), values);
    fleet_dir.forget_env(agent).unwrap();
    fleet_dir.forget_env(agent).unwrap();
    assert!(!file.exists());
    assert_eq!(fleet_dir.stored_env(agent).unwrap(), BTreeMap::new());
}

#[test]
fn each_nudge_can_be_seen() {
    let (_folder, fleet_dir) = fleet_dir();
    let mut stamps = vec![fleet_dir.nudge_stamp()];
    for _ in 0..20 {
        fleet_dir.nudge().unwrap();
        stamps.push(fleet_dir.nudge_stamp());
    }
    assert!(stamps.is_sorted_by(|one, other| one < other), "{stamps:?}");
    assert_eq!(mode(&fleet_dir.path().join("nudge")), 0o600);
}

#[test]
fn a_fleet_belongs_to_the_nearest_repository_or_to_the_folder_itself() {
    let folder = TempDir::new().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(root.join("outer/inner/deep")).unwrap();
    fs::create_dir(root.join("outer/.git")).unwrap();
    assert_eq!(folder_of(&root.join("outer/inner")), root.join("outer/inner"), "it is empty");
    fs::write(root.join("outer/.git/HEAD"), "ref: refs/heads/main").unwrap();
    assert_eq!(folder_of(&root.join("outer/inner/deep")), root.join("outer"));
    // A worktree has a file there.
    fs::write(root.join("outer/inner/.git"), "gitdir: x").unwrap();
    assert_eq!(folder_of(&root.join("outer/inner/deep")), root.join("outer/inner"));
    assert_eq!(folder_of(&root.join("outer")), root.join("outer"));
    fs::create_dir(root.join("plain")).unwrap();
    symlink(root.join("plain"), root.join("link")).unwrap();
    assert_eq!(folder_of(&root.join("link")), root.join("plain"));
}

#[test]
fn a_command_line_is_stored_with_the_names_of_variables_and_without_their_values() {
    let hide = |line: &str| hide_env_values(line.split(' ').map(str::to_owned).collect()).join(" ");
    assert_eq!(
        hide("fleet run --env A=secret --env=B=x=y --env C a=b --env --environment=z"),
        "fleet run --env A --env=B --env C a=b --env --environment"
    );
    assert_eq!(hide("fleet run --env A=s -- env --env K=v"), "fleet run --env A -- env --env K=v");
    assert_eq!(hide("fleet run --env"), "fleet run --env");
}
