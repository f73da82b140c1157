//! `fleet ls`, `fleet show`, `fleet results` and `fleet stop`: what is seen and done from outside.
//!
//! What may go here: choosing agents and printing. What may not: how it looks (`show`, `fleet_list`, `words`), looking at
//! fleets that have a host (`start`).

use std::io::{self, IsTerminal, Write};

use super::act::{Failure, fleet_to, ids, own_of_agent, state_dir, without_fleet};
use super::arguments::{GlobalArguments, ResultsArguments, StopArguments, which_fleet};
use super::exit_code::DONE;
use super::fleet_list::{FleetEntry, list as entry_lines, list_json};
use super::progress::terminal_width;
use super::run::{style, write_whole};
use super::selectors::{self, Selector};
use super::show::{agent_lines, fleet_lines, show_json};
use crate::core::{AgentId, Command, Snapshot};
use crate::journal::Purpose;
use crate::runtime::summary::summary_json_of;
use crate::runtime::{Clock, Inspection, inspect, stop as stop_agents};
use crate::words::agent_numbers::agent_numbers;
use crate::words::plain_text::count;
use crate::words::results::{Around, compact, results};
use crate::words::results_block::blocks_json;

/// Lists all fleets, newest first.
pub(super) fn list(global: &GlobalArguments) -> Result<u8, Failure> {
    without_fleet(global, "fleet ls lists all of them (fleet results shows one)")?;
    let state = state_dir(global)?;
    let mut fleets = Vec::new();
    let mut unreadable = Vec::new();
    for id in ids(&state)? {
        match inspect(&state.fleet(&id)) {
            Ok(inspection) => fleets.push(to_entry(&inspection)),
            Err(error) => unreadable.push(format!("{id}: {error}")),
        }
    }
    fleets.sort_by_key(|fleet| std::cmp::Reverse(fleet.created));
    if global.json {
        print(&list_json(&fleets), true)?;
    } else if !fleets.is_empty() || unreadable.is_empty() {
        let stdout = io::stdout();
        let now = Clock::wall();
        let lines = entry_lines(&fleets, now, style(stdout.is_terminal()), terminal_width(&stdout));
        print(&lines.join("\n"), false)?;
    }
    say(&unreadable);
    Ok(DONE)
}

/// Shows what the agents of a fleet answered: all of them, or those that selectors mean.
pub(crate) fn show_results(
    arguments: &ResultsArguments,
    selectors: &[Selector],
    global: &GlobalArguments,
    seen: &Inspection,
) -> Result<u8, Failure> {
    let snapshot = &seen.snapshot;
    let only = chosen(selectors, snapshot)?;
    let around = Around {
        fleet_dir: seen.dir.path(),
        now: snapshot.at,
        zone: &jiff::tz::TimeZone::system(),
        only: only.as_deref(),
    };
    let style = style(io::stdout().is_terminal());
    match (global.json, arguments.compact) {
        (true, false) => {
            let (standing, dir) = (seen.standing, seen.dir.path());
            print(&summary_json_of(snapshot, standing, dir, only.as_deref()), true)?;
        }
        (true, true) => print(&blocks_json(snapshot, seen.standing.as_str(), &around), true)?,
        (false, true) => print(&compact(snapshot, &around, style).join("\n"), false)?,
        (false, false) => print(&results(snapshot, &around, style).join("\n"), false)?,
    }
    Ok(DONE)
}

/// Shows how a fleet stands, or what is known of the agents that selectors mean.
pub(crate) fn show_fleet(
    selectors: &[Selector],
    global: &GlobalArguments,
    seen: &Inspection,
) -> Result<u8, Failure> {
    let only = chosen(selectors, &seen.snapshot)?;
    if global.json {
        print(&show_json(seen, only.as_deref()), true)?;
        return Ok(DONE);
    }
    let style = style(io::stdout().is_terminal());
    let lines = match &only {
        None => fleet_lines(seen, to_entry(seen), style),
        Some(only) => agent_lines(seen, only, &jiff::tz::TimeZone::system(), style),
    };
    print(&lines.join("\n"), false)?;
    Ok(DONE)
}

/// Returns the agents that selectors mean; `None` without any.
fn chosen(selectors: &[Selector], snapshot: &Snapshot) -> Result<Option<Vec<AgentId>>, Failure> {
    if selectors.is_empty() {
        return Ok(None);
    }
    selectors::select(selectors, snapshot).map(Some).map_err(Failure::input)
}

/// Stops agents of a fleet, whoever hosts it.
pub(super) fn stop(arguments: &StopArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let selectors = selectors::parse(&arguments.selectors).map_err(Failure::input)?;
    let inspection = find(global, None, Purpose::Stop)?;
    let ids = selectors::select(&selectors, &inspection.snapshot).map_err(Failure::input)?;
    own_of_agent(&Command::Stop(Some(ids.clone())), &inspection.snapshot)?;
    let stopped =
        stop_agents(&inspection, &ids).map_err(|error| Failure::no_fleet(error.to_string()))?;
    let numbers = |ids: &[AgentId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    if global.json {
        let json = serde_json::json!({
            "fleet": inspection.dir.id(),
            "stopping": numbers(&stopped.asked),
            "cancelled": numbers(&stopped.cancelled),
            "already_ended": numbers(&stopped.ended),
        });
        print(&json.to_string(), true)?;
        return Ok(DONE);
    }
    let mut parts = Vec::new();
    for (ids, what) in [(&stopped.asked, "stopping"), (&stopped.cancelled, "cancelled")] {
        if !ids.is_empty() {
            parts.push(format!("{what} {}", count(ids.len(), "agent")));
        }
    }
    if !stopped.ended.is_empty() {
        parts.push(format!("already ended: {}", agent_numbers(&stopped.ended)));
    }
    if parts.is_empty() {
        parts.push("no agent to stop".to_owned());
    }
    print(&parts.join(", "), false)?;
    Ok(DONE)
}

fn find(
    global: &GlobalArguments,
    argument: Option<&str>,
    purpose: Purpose,
) -> Result<Inspection, Failure> {
    let state = state_dir(global)?;
    let which = which_fleet(global, argument).map_err(Failure::input)?;
    fleet_to(&state, which, purpose)?.inspection()
}

fn to_entry(inspection: &Inspection) -> FleetEntry {
    let header = &inspection.snapshot.header;
    FleetEntry {
        id: inspection.dir.id().clone(),
        name: header.name.clone(),
        root: inspection.file.root.clone(),
        state: inspection.standing,
        host_pid: inspection.host_pid,
        elsewhere: inspection.elsewhere.clone(),
        created: inspection.file.created,
        kpis: header.kpis,
        spent: header.spent,
        cost_unknown: header.cost_unknown,
        cap: header.cap,
    }
}

/// Prints to stdout. JSON must arrive whole; for other text nobody may be there to read it any more, but a full disk is
/// told.
pub(crate) fn print(text: &str, whole: bool) -> Result<(), Failure> {
    match write_whole(text) {
        Err(error) if whole || error.kind() == io::ErrorKind::StorageFull => {
            Err(Failure::input(format!("could not write to stdout: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn say(lines: &[String]) {
    for line in lines {
        // There is nobody else to tell.
        let _ = writeln!(io::stderr(), "fleet: {line}");
    }
}
