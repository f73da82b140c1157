//! What the key that holds and releases asks of the fleet: for the whole queue, or for the agents that are marked.
//!
//! What may go here: which of the two it is, and the words of refusals. What may not: state of the table.

use super::decide::Decision;
use crate::core::{AgentId, Command, Hold, Row, Status};
use crate::tui::keymap::key_name;
use crate::tui::message::Asked;
use crate::tui::world::World;
use crate::words::plain_text::count;

/// Holds those of the marked agents that are queued, or releases them if all of those are held; the queue, if none is
/// marked.
pub(super) fn hold(marked: &[AgentId], world: &World) -> Decision {
    if marked.is_empty() { hold_queue(world) } else { hold_marked(marked, world) }
}

fn hold_marked(marked: &[AgentId], world: &World) -> Decision {
    let rows = marked.iter().filter_map(|id| world.row(*id));
    let queued: Vec<&Row> =
        rows.map(AsRef::as_ref).filter(|row| row.status == Status::Queued).collect();
    let ids = |rows: &[&Row]| -> Vec<AgentId> { rows.iter().map(|row| row.id).collect() };
    let loose: Vec<&Row> = queued.iter().copied().filter(|row| !row.held).collect();
    match (queued.as_slice(), loose.as_slice()) {
        ([], _) => {
            Decision::no("none of those that are marked is queued: only what is queued can be held")
        }
        (held, []) => {
            let text = format!("releasing {}", count(held.len(), "marked agent"));
            Decision::send(
                Command::ReleaseAgents(ids(held)),
                Asked::ReleaseAgents(held.len()),
                text,
            )
        }
        (_, loose) => {
            let text = format!("holding {}", count(loose.len(), "marked agent"));
            Decision::send(Command::HoldAgents(ids(loose)), Asked::HoldAgents(loose.len()), text)
        }
    }
}

/// Holds the queue, or releases it with the kinds that are held.
fn hold_queue(world: &World) -> Decision {
    let header = &world.snapshot.header;
    // What a release would not set going is said, and not that it was released.
    let cap = key_name!(Everywhere, Cap);
    let refusal = match &header.hold {
        Some(Hold::Cap) => format!("held at the cap: {cap} raises it, or drops the queue"),
        Some(Hold::NotSaved(_)) => {
            "nothing can be saved: when the disk takes it, the queue goes on by itself".to_owned()
        }
        None | Some(Hold::Owner) if world.snapshot.question.is_some() => {
            format!("the cap is reached: {cap} raises it, drops the queue or keeps holding")
        }
        _ => String::new(),
    };
    if !refusal.is_empty() && header.kinds_held.is_empty() {
        return Decision::No(refusal);
    }
    if header.hold.is_some() || !header.kinds_held.is_empty() {
        Decision::send(Command::Release, Asked::Release, "releasing the queue".to_owned())
    } else {
        Decision::send(Command::Hold, Asked::Hold, "holding the queue".to_owned())
    }
}
