//! Tests of the state folder.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn draft() -> Draft {
    Draft {
        root: PathBuf::from("/project"),
        options: FleetOptions::default(),
        argv: ["fleet", "run", "--env", "KEY=hunter2", "x"].map(str::to_owned).to_vec(),
        is_closed: true,
    }
}

#[test]
fn a_missing_state_folder_is_made_private_with_its_parents() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/b/state");
    let state_dir = StateDir::open(Some(&path)).unwrap();
    for made in ["a", "a/b", "a/b/state", "a/b/state/fleets"] {
        assert_eq!(mode(&folder.path().join(made)), 0o700, "{made}");
    }
    assert_eq!(state_dir.path(), path);
    assert_eq!(StateDir::open(Some(&path)).unwrap(), state_dir);
}

#[test]
fn an_unsafe_state_folder_is_refused_with_a_sentence() {
    let folder = TempDir::new().unwrap();
    let inside = |name: &str| folder.path().join(name);
    let error = |path: &Path| StateDir::open(Some(path)).unwrap_err().to_string();
    fs::create_dir(inside("real")).unwrap();
    symlink(inside("real"), inside("link")).unwrap();
    for path in ["link", "link/", "link/."] {
        assert!(error(&inside(path)).contains("link is a symbolic link: give"), "{path}");
    }
    symlink(inside("nowhere"), inside("dangling")).unwrap();
    assert!(error(&inside("dangling")).contains("is a symbolic link"));
    fs::write(inside("file"), "").unwrap();
    assert!(error(&inside("file")).contains("is not a folder"));
    for bits in [0o770, 0o702, 0o1777] {
        fs::set_permissions(inside("real"), fs::Permissions::from_mode(bits)).unwrap();
        assert!(error(&inside("real")).ends_with("run chmod go-w on it"), "{bits:o}");
    }
    fs::set_permissions(inside("real"), fs::Permissions::from_mode(0o755)).unwrap();
    StateDir::open(Some(&inside("real"))).unwrap();
    // A link in the place of the folder of fleets is no better.
    fs::remove_dir(inside("real/fleets")).unwrap();
    fs::create_dir(inside("other")).unwrap();
    symlink(inside("other"), inside("real/fleets")).unwrap();
    assert!(error(&inside("real")).contains("is a symbolic link"));
}

#[test]
fn a_state_folder_of_somebody_else_is_refused() {
    let path = Path::new("/proc");
    // Root owns it, so this says something for everybody else; root needs a folder given away.
    let folder = TempDir::new().unwrap();
    let given_away = folder.path().join("theirs");
    fs::create_dir(&given_away).unwrap();
    let path = match std::os::unix::fs::chown(&given_away, Some(12_345), None) {
        Ok(()) => given_away.as_path(),
        Err(_) => path,
    };
    assert!(matches!(StateDir::open(Some(path)), Err(StateDirError::NotOurs(_))));
}

#[test]
fn a_new_fleet_is_private_and_says_what_it_was_made_with() {
    let folder = TempDir::new().unwrap();
    let state_dir = StateDir::open(Some(folder.path())).unwrap();
    let now = Moment(EPOCH_MILLIS + 123_456_789);
    let fleet_dir = state_dir.new_fleet(now, draft()).unwrap();
    for made in [fleet_dir.path().to_owned(), fleet_dir.batches(), fleet_dir.agents()] {
        assert_eq!(mode(&made), 0o700, "{}", made.display());
    }
    assert_eq!(mode(&fleet_dir.fleet_file()), 0o600);
    let file = fleet_dir.read_file().unwrap();
    assert_eq!((&file.id, file.created, file.is_closed), (fleet_dir.id(), now, true));
    assert_eq!((file.root, file.options), (draft().root, draft().options));
    assert_eq!(file.host_name, machine::host_name());
    assert!(!fs::read_to_string(fleet_dir.fleet_file()).unwrap().contains("hunter2"));
}

#[test]
fn ids_begin_with_a_letter_sort_by_time_and_have_no_characters_that_look_alike() {
    let mut ids = Vec::new();
    for step in [0, 1, 31, 32, 1 << 20, (1 << 25) - 1, 1 << 25, (1 << 29) - 1, u64::MAX] {
        ids.push(new_id(step, fastrand::u32(..)));
    }
    assert!(ids.is_sorted(), "{ids:?}");
    for FleetId(id) in ids {
        assert!(is_id(&id), "{id}");
        assert!(id.starts_with(|letter: char| letter.is_ascii_lowercase()), "{id}");
        assert!(!id.contains(['i', 'l', 'o', 'u']), "{id}");
    }
}

#[test]
fn many_fleets_made_in_one_moment_have_ids_of_their_own() {
    let folder = TempDir::new().unwrap();
    let state_dir = StateDir::open(Some(folder.path())).unwrap();
    let now = Moment(EPOCH_MILLIS);
    let made: BTreeSet<FleetId> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let claim = |_| state_dir.claim(now).unwrap().0;
                    (0..50).map(claim).collect::<Vec<_>>()
                })
            })
            .collect();
        makers.into_iter().flat_map(|maker| maker.join().unwrap()).collect()
    });
    assert_eq!(made.len(), 200);
}

#[test]
fn a_fleet_is_found_by_three_characters_and_doubt_is_said() {
    let folder = TempDir::new().unwrap();
    let state_dir = StateDir::open(Some(folder.path())).unwrap();
    let ids = ["a0100000", "a0100001", "b2300000"].map(|id| FleetId(id.to_owned()));
    for name in ["a0100000", "a0100001", "b2300000", "notes", "b2300000.bak", "c4500000"] {
        fs::create_dir(state_dir.fleets().join(name)).unwrap();
        if name != "c4500000" {
            fs::write(state_dir.fleets().join(name).join("fleet.json"), "{}").unwrap();
        }
    }
    assert_eq!(state_dir.list().unwrap(), ids, "an unfinished fleet and other things are left out");
    // What was once finished and has lost a file is listed, for those who can say what is wrong.
    let lost = FleetId("c4500000".to_owned());
    let left = state_dir.fleet(&lost);
    fs::write(left.journal(), "").unwrap();
    assert!(state_dir.list().unwrap().contains(&lost));
    assert_eq!(state_dir.find("c45").unwrap().id(), &lost);
    fs::remove_file(left.journal()).unwrap();
    fs::create_dir(left.agents()).unwrap();
    assert!(!state_dir.list().unwrap().contains(&lost), "none has run");
    fs::create_dir(left.agents().join("0001")).unwrap();
    assert!(state_dir.list().unwrap().contains(&lost));
    fs::remove_dir_all(left.agents()).unwrap();
    for text in ["b23", "B23", "b2300000"] {
        assert_eq!(state_dir.find(text).unwrap().id(), &ids[2]);
    }
    assert_eq!(state_dir.find("a0100001").unwrap().id(), &ids[1]);
    let error = |text| state_dir.find(text).unwrap_err().to_string();
    assert_eq!(
        error("b2"),
        "\"b2\" is too short for a fleet: give at least 3 characters of its id"
    );
    assert_eq!(error("zzz"), "no fleet begins with \"zzz\": `fleet ls` lists them");
    assert_eq!(error("c45"), "no fleet begins with \"c45\": `fleet ls` lists them");
    assert_eq!(
        error("a01"),
        "\"a01\" is the beginning of several fleets: a0100000, a0100001: give more of it"
    );
    assert_eq!(error("../"), "no fleet begins with \"../\": `fleet ls` lists them");
}

#[test]
fn only_one_at_a_time_decides_whether_a_fleet_is_made() {
    let folder = TempDir::new().unwrap();
    let state_dir = StateDir::open(Some(folder.path())).unwrap();
    // Five who look and make one if there is none, as five dispatches at one instant do.
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let _lock = state_dir.lock_making().unwrap();
                if state_dir.list().unwrap().is_empty() {
                    state_dir.new_fleet(Moment(EPOCH_MILLIS), draft()).unwrap();
                }
            });
        }
    });
    assert_eq!(state_dir.list().unwrap().len(), 1);
    assert_eq!(mode(&folder.path().join("making.lock")), 0o600);
}
