//! What a fleet that is there already keeps: the options it was made with, whatever is given with more tasks.
//!
//! What may go here: telling options that would not be heard. What may not: changing options.

use crate::cli::Failure;
use crate::cli::arguments::RunArguments;
use crate::core::{FleetId, FleetOptions};
use crate::journal::to_type;

/// Refuses options that a fleet which was there already does not have: it keeps those it was made with and the cap that
/// it has come to, and an option that is not heard must not look as if it were. `planned` is what a new fleet would get.
pub(super) fn refuse_other_options(
    given: &RunArguments,
    planned: &FleetOptions,
    has: &FleetOptions,
    id: &FleetId,
) -> Result<(), Failure> {
    if with_given(given, planned, has) == *has {
        return Ok(());
    }
    Err(Failure::input(format!(
        "fleet {id} is there already and keeps its options: leave those of the fleet out ({} changes the cap, as does c \
         on the screen), or begin another one with --new",
        to_type(format_args!("cap USD --fleet {id}"))
    )))
}

/// Lays what was given over the options of a fleet.
fn with_given(given: &RunArguments, planned: &FleetOptions, has: &FleetOptions) -> FleetOptions {
    let mut wanted = has.clone();
    given.limits.apply(&mut wanted);
    let fleet = &given.fleet;
    if fleet.name.is_some() {
        wanted.name.clone_from(&planned.name);
    }
    if fleet.mesh.is_some() {
        wanted.mesh.clone_from(&planned.mesh);
    }
    if fleet.orphan_limit.is_some() {
        wanted.orphan_limit = planned.orphan_limit;
    }
    if fleet.max_depth.is_some() {
        wanted.max_depth = planned.max_depth;
    }
    wanted.strict_protocol |= fleet.strict_protocol;
    wanted
}
