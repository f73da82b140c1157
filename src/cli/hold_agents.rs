//! `fleet hold SEL` and `fleet release SEL`: whether single agents leave the queue.
//!
//! What may go here: which of those that are meant can be held, and the words of the answer. What may not: the whole queue
//! (`queue`), what a held agent does to its fleet (`core`).

use super::act::Failure;
use super::arguments::LimitArguments;
use super::exit_code::DONE;
use super::hosts::{Answered, Decided, Reach, Start, decided, seen, what_waits};
use super::look::print;
use super::queue::{json, refused};
use super::selectors::{self, Selector};
use crate::core::{AgentId, Command, Row, Snapshot, Status};
use crate::journal::{FleetDir, StateDir, to_type};
use crate::words::agent_numbers::agent_numbers;

/// Agents that are named one by one in an answer; of more only the number is told.
const NAMED: usize = 12;

/// Which agents are held or released.
#[derive(Debug, Default, PartialEq, Eq)]
struct Meant {
    /// Those that are queued, all of them.
    queued: Vec<AgentId>,
    /// Those of them that were held before.
    held: Vec<AgentId>,
    /// Those that are not queued any more, each with the reason.
    left_out: Vec<(AgentId, &'static str)>,
}

impl Meant {
    /// Returns whom selectors mean; refused with a reason if none of them is queued.
    fn by(selectors: &[Selector], before: &Snapshot) -> Result<Self, Failure> {
        let mut meant = Self::default();
        let ids = selectors::select(selectors, before).map_err(Failure::input)?;
        for row in ids.iter().filter_map(|id| before.row(*id)) {
            if let Some(why) = why_not(row) {
                meant.left_out.push((row.id, why));
            } else {
                meant.queued.push(row.id);
                meant.held.extend(row.held.then_some(row.id));
            }
        }
        match meant.left_out.first() {
            Some((id, why)) if meant.queued.is_empty() => {
                Err(Failure::input(format!("{id} {why}: only what is queued can be held")))
            }
            Some(_) | None => Ok(meant),
        }
    }

    /// Returns what is said behind the rest of an answer of those that were left out.
    fn rest(&self) -> String {
        let mut rest: Vec<String> =
            self.left_out.iter().take(NAMED).map(|(id, why)| format!("; {id} {why}")).collect();
        if let Some(more) = self.left_out.len().checked_sub(NAMED).filter(|more| *more > 0) {
            rest.push(format!("; and {more} more left out"));
        }
        rest.concat()
    }
}

/// Says why an agent cannot be held or released, as a clause.
fn why_not(row: &Row) -> Option<&'static str> {
    match row.status {
        Status::Queued => None,
        Status::Starting | Status::Running | Status::Stopping | Status::Ending => {
            Some("has started")
        }
        Status::Ended(_) => Some("has ended"),
    }
}

/// Holds agents: they are passed over until they are released.
pub(super) fn hold(
    state: &StateDir,
    dir: &FleetDir,
    selectors: &[Selector],
    reach: Reach,
    is_json: bool,
) -> Result<u8, Failure> {
    let mut meant = Meant::default();
    let decided = decided(state, dir, reach, &mut |before| {
        meant = Meant::by(selectors, before)?;
        Ok(Some(Command::HoldAgents(meant.queued.clone())))
    })?;
    refused(&decided)?;
    let ids = &meant.queued;
    if is_json {
        return print_json("held", ids, &meant, &decided);
    }
    let release = release_command(ids, dir.id());
    let it = if ids.len() == 1 { "it" } else { "them" };
    let said = format!(
        "{} held in fleet {}: `{release}` lets {it} start{}",
        are(ids),
        dir.id(),
        meant.rest()
    );
    print(&said, false)?;
    Ok(DONE)
}

/// Releases agents; a fleet without a host gets one, if they could start then.
pub(super) fn release(
    state: &StateDir,
    dir: &FleetDir,
    selectors: &[Selector],
    reach: Reach,
    is_json: bool,
) -> Result<u8, Failure> {
    let mut meant = None;
    let mut choose = |before: &Snapshot| {
        let seen = Meant::by(selectors, before)?;
        let command = Command::ReleaseAgents(seen.queued.clone());
        // A host may have gone that had done it already: what it was asked at first is told.
        let held = meant.get_or_insert(seen).held.clone();
        Ok((!held.is_empty()).then_some(command))
    };
    let mut answered = reach(state, dir, Start::Never, &mut choose)?;
    let mut is_hosted = true;
    if answered.is_none() {
        let before = seen(dir)?.snapshot;
        let limits = LimitArguments::default();
        // What holds the whole queue still does.
        let is_held = before.header.hold.is_some();
        let start = if is_held { Start::AsItWas } else { Start::GoingOn(&limits) };
        // Nobody needs a host to hear that nothing is held.
        answered = if choose(&before)?.is_some() {
            reach(state, dir, start, &mut choose)?
        } else {
            is_hosted = false;
            Some(Answered { reply: None, after: before.into(), host: None })
        };
    }
    let gone = || Failure::no_fleet(format!("fleet {} has no host", dir.id()));
    let Answered { reply, after, host } = answered.ok_or_else(gone)?;
    let decided = Decided { reply, after, host, is_hosted };
    refused(&decided)?;
    let meant = meant.unwrap_or_default();
    let status = if meant.held.is_empty() { "nothing" } else { "released" };
    if is_json {
        return print_json(status, &meant.held, &meant, &decided);
    }
    let said = if meant.held.is_empty() {
        format!("{} not held in fleet {}", are(&meant.queued), dir.id())
    } else {
        format!("{} released in fleet {}", are(&meant.held), dir.id())
    };
    let waits = what_waits(&decided.after, decided.is_hosted).map(|waits| format!("; {waits}"));
    print(&format!("{said}{}{}", meant.rest(), waits.unwrap_or_default()), false)?;
    Ok(DONE)
}

/// Returns the command that releases agents.
pub(super) fn release_command(ids: &[AgentId], fleet: &crate::core::FleetId) -> String {
    to_type(format_args!("release {} --fleet {fleet}", selectors::written(ids)))
}

/// Returns agents as the subject of a sentence: `#3 is`, `#3, #5 to #7 are`.
fn are(ids: &[AgentId]) -> String {
    match ids {
        [one] => format!("{one} is"),
        several => format!("{} are", agent_numbers(several)),
    }
}

fn print_json(
    status: &str,
    ids: &[AgentId],
    meant: &Meant,
    decided: &Decided,
) -> Result<u8, Failure> {
    let mut told = json(status, decided);
    let left_out = meant.left_out.iter();
    let left_out = left_out.map(|(id, why)| serde_json::json!({ "agent": id, "why": why }));
    if let Some(keys) = told.as_object_mut() {
        keys.insert("agents".to_owned(), serde_json::json!(ids));
        keys.insert("left_out".to_owned(), left_out.collect());
    }
    print(&told.to_string(), true)?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Outcome;
    use crate::core::testing::{end, row, snapshot};

    fn queued(id: u32, held: bool) -> Row {
        Row { status: Status::Queued, held, ..row(id) }
    }

    #[test]
    fn what_is_queued_is_meant_and_the_rest_is_left_out_with_its_reason() {
        let rows = vec![end(row(1), Outcome::Done, ""), row(2), queued(3, false), queued(4, true)];
        let before = snapshot(1, rows);
        let by = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Meant::by(&selectors::parse(&words).unwrap(), &before)
        };
        let meant = by(&["all"]).unwrap();
        assert_eq!(meant.queued, [AgentId(3), AgentId(4)]);
        assert_eq!(meant.held, [AgentId(4)]);
        assert_eq!(meant.rest(), "; #1 has ended; #2 has started");
        let why = |words: &[&str]| by(words).unwrap_err().sentence;
        assert_eq!(why(&["2"]), "#2 has started: only what is queued can be held");
        assert_eq!(why(&["1-2"]), "#1 has ended: only what is queued can be held");
        assert!(why(&["9"]).contains("no agent #9"), "{}", why(&["9"]));
    }

    #[test]
    fn agents_are_named_as_long_as_they_are_few() {
        let ids = |step: usize| (1..=13).step_by(step).map(AgentId).collect::<Vec<_>>();
        assert_eq!(are(&[AgentId(1)]), "#1 is");
        assert_eq!(are(&ids(6)), "#1, #7, #13 are");
        assert_eq!(are(&ids(1)), "#1 to #13 are");
        assert_eq!(are(&ids(2)), "7 agents are");
    }
}
