//! Tests of the host's lock. Several processes at once are in `tests/it/journal.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

fn fleet_dir() -> (TempDir, FleetDir) {
    let folder = TempDir::new().unwrap();
    let fleet_dir = FleetDir::new(folder.path().to_owned(), FleetId("a0000000".to_owned()));
    (folder, fleet_dir)
}

#[test]
fn the_lock_is_held_until_it_is_dropped_and_names_its_holder() {
    let (_folder, fleet_dir) = fleet_dir();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::None);
    assert!(!fleet_dir.host_lock().exists(), "a probe makes nothing");
    let lock = HostLock::take(&fleet_dir).unwrap();
    let here = std::process::id();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::Here(Some(here)));
    let mode = fs::metadata(fleet_dir.host_lock()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        HostLock::take(&fleet_dir).unwrap_err().to_string(),
        format!(
            "fleet a0000000 has a host already (process {here}): `fleet attach a0000000` opens the screen on it"
        )
    );
    drop(lock);
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::None);
    drop(HostLock::take(&fleet_dir).unwrap());
}

#[test]
fn a_lock_that_is_held_for_a_moment_is_waited_for() {
    let (_folder, fleet_dir) = fleet_dir();
    drop(HostLock::take(&fleet_dir).unwrap());
    let probe = File::open(fleet_dir.host_lock()).unwrap();
    probe.lock_shared().unwrap();
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| HostLock::take(&fleet_dir).map(drop));
        pause().unwrap();
        probe.unlock().unwrap();
        taker.join().unwrap().unwrap();
    });
}

#[test]
fn a_fleet_that_lives_on_another_machine_is_left_alone() {
    let (_folder, fleet_dir) = fleet_dir();
    let _lock = HostLock::take(&fleet_dir).unwrap();
    let info = HostInfo { pid: 1, boot_id: String::new(), host_name: "elsewhere".to_owned() };
    fs::write(fleet_dir.host_lock(), serde_json::to_vec(&info).unwrap()).unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::Elsewhere("elsewhere".to_owned()));
    assert_eq!(
        HostLock::take(&fleet_dir).unwrap_err().to_string(),
        "fleet a0000000 lives on host elsewhere: go on there"
    );
}

#[test]
fn a_held_lock_without_a_readable_name_is_still_a_host() {
    let (_folder, fleet_dir) = fleet_dir();
    let _lock = HostLock::take(&fleet_dir).unwrap();
    fs::write(fleet_dir.host_lock(), "{\"pid\":").unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::Here(None));
    let error = HostLock::take(&fleet_dir).unwrap_err();
    assert!(matches!(error, Taken::Held { pid: None, .. }), "{error}");
}

#[test]
fn a_name_that_a_dead_host_left_behind_counts_for_nothing() {
    let (_folder, fleet_dir) = fleet_dir();
    let info = HostInfo { pid: 1, boot_id: String::new(), host_name: "elsewhere".to_owned() };
    fs::write(fleet_dir.host_lock(), serde_json::to_vec(&info).unwrap()).unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::None);
    let _lock = HostLock::take(&fleet_dir).unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::Here(Some(std::process::id())));
}

#[test]
fn a_deleted_fleet_has_no_host_and_gets_none() {
    let (folder, fleet_dir) = fleet_dir();
    fs::remove_dir(folder.path()).unwrap();
    assert_eq!(host_of(&fleet_dir).unwrap(), HostState::None);
    assert!(matches!(HostLock::take(&fleet_dir), Err(Taken::Gone(_))));
    // Deleted while somebody waited for its lock.
    fs::create_dir(folder.path()).unwrap();
    let held = HostLock::take(&fleet_dir).unwrap();
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| HostLock::take(&fleet_dir).map(drop));
        pause().unwrap();
        fs::remove_file(fleet_dir.host_lock()).unwrap();
        drop(held);
        // Either it had the file open and sees that it is gone, or it came later and made a new one.
        assert!(matches!(taker.join().unwrap(), Ok(()) | Err(Taken::Gone(_))));
    });
}
