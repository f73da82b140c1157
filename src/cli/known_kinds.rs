//! The agent kinds of this version, as plans ask about them.

use super::plan::{Kinds, RealKind};
use crate::adapters::{self, Place};
use crate::supervise::is_on_path;

/// Programs that are looked for when no kind is named, in this order. `sh` is never among them.
const REAL: [RealKind<'static>; 1] =
    [RealKind { name: "ygg", program: "ygg", install: "pip install ygg" }];

/// Calls `ask` with what the adapters know.
pub(crate) fn with_kinds<T>(ask: impl FnOnce(&Kinds<'_>) -> T) -> T {
    let names: Vec<&str> = adapters::known_kinds().collect();
    let path = std::env::var_os("PATH");
    ask(&Kinds {
        names: &names,
        real: &REAL,
        traits: &|kind| adapters::adapter(kind).map(adapters::Adapter::traits),
        check: &|task| {
            // Where it will run does not matter for what a kind can do; a path of the longest form finds all refusals.
            let place = Place {
                task_file: task.root.join("task"),
                report: task.root.join("report.json"),
                mesh: None,
                token: None,
            };
            match adapters::adapter(&task.kind) {
                Some(adapter) => adapter
                    .invocation(task, &place)
                    .map(drop)
                    .map_err(|refusal| refusal.to_string()),
                None => Ok(()),
            }
        },
        installed: &|program| is_on_path(program, path.as_deref()),
    })
}

/// Returns the first real kind whose program is found, if any is.
#[cfg(feature = "tui")]
pub(crate) fn first_found() -> Option<&'static str> {
    let path = std::env::var_os("PATH");
    let found = |real: &&RealKind<'static>| is_on_path(real.program, path.as_deref());
    REAL.iter().find(found).map(|real| real.name)
}
