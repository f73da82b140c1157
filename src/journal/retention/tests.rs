//! Tests of what is kept.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use crate::core::FleetOptions;
use crate::journal::Draft;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const NOW: Moment = Moment(1_767_225_600_000 + 100 * DAY);

fn id(number: u64) -> FleetId {
    FleetId(format!("a{number:07}"))
}

fn ended(number: u64, ago: u64) -> Prunable {
    Prunable { id: id(number), ended: Moment(NOW.0 - ago) }
}

#[test]
fn a_fleet_goes_when_its_end_is_more_than_seven_days_ago() {
    let fleets = [ended(1, 0), ended(2, 7 * DAY), ended(3, 7 * DAY + 1), ended(4, 30 * DAY)];
    assert_eq!(select(&fleets, NOW, Keep::USUAL), [id(3), id(4)]);
    // An end in the future, after a clock was set back, is no reason.
    assert_eq!(select(&[Prunable { id: id(1), ended: Moment(NOW.0 + DAY) }], NOW, Keep::USUAL), []);
}

/// C-125
#[test]
fn fifty_ended_fleets_are_kept_and_those_that_ended_first_go() {
    // Their ids say nothing about their ends.
    let mut fleets: Vec<Prunable> =
        (0..53).map(|number| ended(number, (number * 7 % 53) * HOUR)).collect();
    let gone = select(&fleets, NOW, Keep::USUAL);
    fleets.sort_by_key(|fleet| fleet.ended);
    let mut expected: Vec<FleetId> = fleets[..3].iter().map(|fleet| fleet.id.clone()).collect();
    expected.reverse();
    assert_eq!(gone, expected);
    assert_eq!(select(&fleets[3..], NOW, Keep::USUAL), []);
}

struct State {
    _folder: TempDir,
    state_dir: StateDir,
}

fn state() -> State {
    let folder = TempDir::new().unwrap();
    let state_dir = StateDir::open(Some(folder.path())).unwrap();
    State { _folder: folder, state_dir }
}

impl State {
    /// Makes a fleet whose journal was written last so long ago.
    fn fleet(&self, ago: u64) -> FleetDir {
        let draft = Draft {
            root: PathBuf::from("/"),
            options: FleetOptions::default(),
            argv: Vec::new(),
            is_closed: false,
        };
        let fleet_dir = self.state_dir.new_fleet(Moment(NOW.0 - ago), draft).unwrap();
        fs::create_dir(fleet_dir.agents().join("0001")).unwrap();
        fs::write(fleet_dir.agents().join("0001/out"), "text").unwrap();
        let journal = private::open_to_append(&fleet_dir.journal()).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(NOW.0 - ago);
        journal.set_modified(time).unwrap();
        fleet_dir
    }
}

fn made(fleet_dir: &FleetDir) -> Option<Moment> {
    fleet_dir.read_file().ok().map(|file| file.created)
}

#[test]
fn old_ended_fleets_are_deleted_and_younger_hosted_and_unfinished_ones_are_kept() {
    let state = state();
    let (old, young, hosted, running) =
        (state.fleet(8 * DAY), state.fleet(6 * DAY), state.fleet(9 * DAY), state.fleet(10 * DAY));
    let _host = HostLock::take(&hosted).unwrap();
    let end_of = |fleet_dir: &FleetDir| {
        assert_ne!(fleet_dir, &young, "a fleet that cannot be old is not read");
        (fleet_dir != &running).then(|| made(fleet_dir)).flatten()
    };
    let pruned = prune(&state.state_dir, NOW, end_of).unwrap();
    assert_eq!(pruned.deleted, [old.id().clone()]);
    assert!(pruned.failed.is_empty());
    let mut kept = vec![young.id().clone(), hosted.id().clone(), running.id().clone()];
    kept.sort();
    assert_eq!(state.state_dir.list().unwrap(), kept);
    assert_eq!(fs::read_dir(state.state_dir.fleets()).unwrap().count(), 3);
}

#[test]
fn a_fleet_that_somebody_goes_on_with_meanwhile_is_kept() {
    let state = state();
    let fleet_dir = state.fleet(8 * DAY);
    let asked = std::cell::Cell::new(0);
    let end_of = |fleet_dir: &FleetDir| {
        asked.set(asked.get() + 1);
        if asked.get() == 1 { made(fleet_dir) } else { None }
    };
    assert_eq!(prune(&state.state_dir, NOW, end_of).unwrap().deleted, []);
    assert_eq!(state.state_dir.list().unwrap(), [fleet_dir.id().clone()]);
}

#[test]
fn many_young_fleets_are_read_and_the_first_to_end_goes() {
    let state = state();
    let fleets: Vec<FleetDir> = (1..=51).map(|number| state.fleet(number * HOUR)).collect();
    let pruned = prune(&state.state_dir, NOW, made).unwrap();
    assert_eq!(pruned.deleted, [fleets[50].id().clone()]);
    assert_eq!(state.state_dir.list().unwrap().len(), 50);
}

#[test]
fn the_socket_that_a_killed_host_left_goes_with_its_fleet_and_no_other_file_does() {
    let state = state();
    let place = TempDir::new().unwrap();
    for is_socket in [true, false] {
        let fleet_dir = state.fleet(0);
        let path = place.path().join("s");
        if is_socket {
            drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        } else {
            fs::write(&path, "kept").unwrap();
        }
        let file = fleet_dir.read_file().unwrap();
        let named = crate::journal::FleetFile { socket: Some(path.clone()), ..file };
        fleet_dir.write_file(&named).unwrap();
        delete(&state.state_dir, &fleet_dir).unwrap();
        assert_eq!(path.exists(), !is_socket);
    }
}

#[test]
fn what_an_earlier_deletion_left_is_removed_and_links_are_not_followed() {
    let state = state();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let old = state.fleet(8 * DAY);
    symlink(outside.path(), old.agents().join("link")).unwrap();
    let left = state.state_dir.fleets().join(".deleting-a0000000");
    fs::create_dir_all(left.join("agents/0001")).unwrap();
    fs::create_dir(state.state_dir.fleets().join(".deleting-other")).unwrap();
    let making =
        ["a0000001", "a0000002", "a0000003"].map(|name| state.state_dir.fleets().join(name));
    for (folder, ago) in making.iter().zip([8 * DAY, DAY, 8 * DAY]) {
        fs::create_dir(folder).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(NOW.0 - ago);
        if folder == &making[2] {
            fs::write(folder.join("journal.jsonl"), "{").unwrap();
        }
        fs::File::open(folder).unwrap().set_modified(time).unwrap();
    }
    let pruned = prune(&state.state_dir, NOW, made).unwrap();
    assert_eq!(pruned.deleted.len(), 1);
    assert!(!left.exists() && !old.path().exists());
    assert!(outside.path().join("precious").exists());
    let is_kept = making.map(|folder| folder.exists());
    assert_eq!(is_kept, [false, true, true], "old without a trace of work; young; with decisions");
    assert_eq!(fs::read_dir(state.state_dir.fleets()).unwrap().count(), 3, "other names stay");
}
