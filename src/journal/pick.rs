//! Which fleet a command means when it does not say so. Pure: what is on disk comes in as a list.
//!
//! What may go here: the rules and their sentences. What may not: looking at folders, ids that a user typed (those are
//! found by `StateDir::find`).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::typed::to_type;
use crate::core::{FleetId, Moment, Snapshot};

/// How a fleet stands, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FleetStanding {
    /// It has a host.
    Live,
    /// It has no host, nothing runs, and tasks are queued.
    Held,
    /// It has no host, and agents run.
    Hostless,
    /// Nothing runs and nothing is queued.
    Ended,
}

impl FleetStanding {
    /// Returns how a fleet stands that its own host shows, which may be about to go.
    pub fn of_hosted(snapshot: &Snapshot) -> Self {
        if snapshot.header.all_done {
            Self::Ended
        } else if snapshot.header.hold.is_some() {
            Self::Held
        } else {
            Self::Live
        }
    }

    /// Returns the word that tables and JSON use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Held => "held",
            Self::Hostless => "hostless",
            Self::Ended => "ended",
        }
    }
}

/// What has to be known of a fleet to pick it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Id.
    pub id: FleetId,
    /// Folder it belongs to; see [`super::folder_of`].
    pub folder: PathBuf,
    /// How it stands.
    pub standing: FleetStanding,
    /// When it was made.
    pub created: Moment,
    /// It takes more tasks.
    pub is_open: bool,
    /// Something runs or waits in it.
    pub is_busy: bool,
}

/// What a command wants a fleet for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To look at it.
    Read,
    /// To hold or pay for something in it.
    Act,
    /// To stop something in it, which may have ended by itself a moment ago.
    Stop,
    /// To host it and go on.
    Resume,
}

/// Why no fleet was picked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PickError {
    /// More than one is live.
    #[error("several live fleets belong to {}: {}: say which with --fleet ID", folder.display(), list(live))]
    Several {
        /// Which folder.
        folder: PathBuf,
        /// Those that are live, oldest first.
        live: Vec<FleetId>,
    },
    /// The folder has none.
    #[error(
        "no fleet belongs to {}: `{}` lists those of other folders, `{}` begins one",
        .0.display(), to_type("ls"), to_type("run")
    )]
    NoFleet(PathBuf),
    /// All of the folder's fleets have ended.
    #[error("every fleet of {} has ended: `{}` lists them, --fleet ID names one", .0.display(), to_type("ls"))]
    AllEnded(PathBuf),
}

/// Picks the folder's only live fleet; if none is live, its newest one to read, and its newest hostless or held one to
/// act on or resume; to stop something, its newest one if all have ended.
pub fn pick<'list>(
    fleets: &'list [Listed],
    folder: &Path,
    purpose: Purpose,
) -> Result<&'list Listed, PickError> {
    let of_folder = || fleets.iter().filter(|listed| listed.folder == folder);
    if let Some(live) = only_live(of_folder(), folder)? {
        return Ok(live);
    }
    let newest = |is_meant: &dyn Fn(&Listed) -> bool| {
        of_folder()
            .filter(|listed| is_meant(listed))
            .max_by_key(|listed| (listed.created, &listed.id))
    };
    let has_work = |listed: &Listed| match listed.standing {
        FleetStanding::Live | FleetStanding::Held | FleetStanding::Hostless => true,
        FleetStanding::Ended => false,
    };
    let picked = match purpose {
        Purpose::Read => newest(&|_| true),
        Purpose::Act | Purpose::Resume => newest(&has_work),
        Purpose::Stop => newest(&has_work).or_else(|| newest(&|_| true)),
    };
    picked.ok_or_else(|| match of_folder().next() {
        Some(_) => PickError::AllEnded(folder.to_owned()),
        None => PickError::NoFleet(folder.to_owned()),
    })
}

/// Picks the folder's only live fleet that takes more tasks; none means that one has to be made.
pub fn join<'list>(
    fleets: &'list [Listed],
    folder: &Path,
) -> Result<Option<&'list Listed>, PickError> {
    let open = fleets.iter().filter(|listed| listed.folder == folder && listed.is_open);
    only_live(open, folder)
}

fn only_live<'list>(
    fleets: impl Iterator<Item = &'list Listed>,
    folder: &Path,
) -> Result<Option<&'list Listed>, PickError> {
    let mut live: Vec<&Listed> =
        fleets.filter(|listed| listed.standing == FleetStanding::Live).collect();
    // One that has nothing to do is only still there because its host has not gone yet.
    if live.iter().any(|listed| listed.is_busy) {
        live.retain(|listed| listed.is_busy);
    }
    live.sort_by_key(|listed| (listed.created, &listed.id));
    match live.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => Err(PickError::Several {
            folder: folder.to_owned(),
            live: live.iter().map(|listed| listed.id.clone()).collect(),
        }),
    }
}

fn list(ids: &[FleetId]) -> String {
    ids.iter().map(|id| id.0.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use FleetStanding::{Ended, Held, Hostless, Live};

    use super::*;

    const HERE: &str = "/here";

    fn fleet(id: &str, folder: &str, standing: FleetStanding, created: u64) -> Listed {
        Listed {
            id: FleetId(id.to_owned()),
            folder: PathBuf::from(folder),
            standing,
            created: Moment(created),
            is_open: true,
            is_busy: true,
        }
    }

    #[track_caller]
    fn check(fleets: &[Listed], purpose: Purpose, expected: Result<&str, &str>) {
        let picked = pick(fleets, Path::new(HERE), purpose);
        let picked = picked.map(|listed| listed.id.0.clone()).map_err(|error| error.to_string());
        assert_eq!(
            picked.as_ref().map(String::as_str).map_err(String::as_str),
            expected,
            "{purpose:?}"
        );
    }

    const ALL: [Purpose; 4] = [Purpose::Read, Purpose::Act, Purpose::Stop, Purpose::Resume];

    #[test]
    fn the_only_live_fleet_of_the_folder_is_meant_however_new_others_are() {
        let fleets = [
            fleet("old", HERE, Hostless, 1),
            fleet("live", HERE, Live, 2),
            fleet("new", HERE, Ended, 3),
            fleet("far", "/there", Live, 4),
            fleet("below", "/here/below", Live, 5),
        ];
        for purpose in ALL {
            check(&fleets, purpose, Ok("live"));
        }
    }

    #[test]
    fn several_live_fleets_are_listed_instead_of_guessed() {
        let fleets =
            [fleet("b2", HERE, Live, 2), fleet("a1", HERE, Live, 1), fleet("c", HERE, Ended, 3)];
        for purpose in ALL {
            let sentence = "several live fleets belong to /here: a1, b2: say which with --fleet ID";
            check(&fleets, purpose, Err(sentence));
        }
    }

    #[test]
    fn a_fleet_that_has_ended_and_is_still_hosted_yields_to_one_with_work() {
        let idle = |id| Listed { is_busy: false, ..fleet(id, HERE, Live, 3) };
        for purpose in ALL {
            check(&[idle("a"), fleet("busy", HERE, Live, 1), idle("b")], purpose, Ok("busy"));
            check(&[idle("a")], purpose, Ok("a"));
        }
        let several = pick(&[idle("a"), idle("b")], Path::new(HERE), Purpose::Read).map(drop);
        assert!(matches!(several, Err(PickError::Several { .. })), "{several:?}");
    }

    #[test]
    fn with_no_live_fleet_the_newest_is_read_and_the_newest_unfinished_one_goes_on() {
        let fleets = [
            fleet("held", HERE, Held, 3),
            fleet("hostless", HERE, Hostless, 2),
            fleet("ended", HERE, Ended, 4),
            fleet("far", "/there", Held, 5),
        ];
        check(&fleets, Purpose::Read, Ok("ended"));
        check(&fleets, Purpose::Resume, Ok("held"));
        check(&fleets, Purpose::Act, Ok("held"));
        check(&fleets, Purpose::Stop, Ok("held"));
        check(&fleets[1..], Purpose::Resume, Ok("hostless"));
    }

    #[test]
    fn a_folder_without_a_fleet_to_go_on_with_is_told_so() {
        let fleets = [fleet("ended", HERE, Ended, 4), fleet("far", "/there", Live, 5)];
        let ended = "every fleet of /here has ended: `fleet ls` lists them, --fleet ID names one";
        check(&fleets, Purpose::Read, Ok("ended"));
        check(&fleets, Purpose::Resume, Err(ended));
        check(&fleets, Purpose::Act, Err(ended));
        check(&fleets, Purpose::Stop, Ok("ended"));
        for purpose in ALL {
            let none = "no fleet belongs to /here: `fleet ls` lists those of other folders, `fleet run` begins one";
            check(&fleets[1..], purpose, Err(none));
        }
    }

    #[test]
    fn tasks_join_the_only_open_live_fleet_or_begin_another() {
        let closed = Listed { is_open: false, ..fleet("run", HERE, Live, 2) };
        let fleets = [
            closed,
            fleet("held", HERE, Held, 3),
            fleet("far", "/there", Live, 3),
            fleet("open", HERE, Live, 1),
        ];
        let here = Path::new(HERE);
        assert_eq!(join(&fleets, here).unwrap().unwrap().id.0, "open");
        assert_eq!(join(&fleets[..3], here), Ok(None));
        assert!(matches!(
            join(&[fleet("a", HERE, Live, 1), fleet("b", HERE, Live, 1)], here),
            Err(PickError::Several { .. })
        ));
    }
}
