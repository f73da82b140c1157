//! `fleet prune`: deletes fleets that have ended, and says what and how much.
//!
//! What may go here: which fleets are meant, the words about them. What may not: how one is deleted (`journal`).

use std::time::Duration;

use super::act::{Failure, ids, never_inside_of_agents, state_dir, without_fleet};
use super::arguments::{GlobalArguments, PruneArguments};
use super::exit_code::{DONE, NOT_DONE};
use super::look::print;
use crate::core::{FleetId, Moment};
use crate::journal::{
    self, FleetDir, FleetStanding, Keep, Prunable, StateDir, delete_ended, finish_earlier, size_of,
    to_type,
};
use crate::runtime::{Clock, Inspection, depth, inspect};
use crate::words::plain_text::{count, one_line};
use crate::words::time_text::{age, timestamp};
use crate::words::why::size;

/// Deletes ended fleets, or says which would be.
pub(super) fn prune(arguments: &PruneArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    never_inside_of_agents(depth(), "prune")?;
    without_fleet(global, "fleet prune looks at all of them (fleet prune --older-than 30d)")?;
    let state = state_dir(global)?;
    let keep = match arguments.older_than {
        Some(time) => Keep { time, newest: usize::MAX },
        None => Keep::USUAL,
    };
    let now = Clock::wall();
    let mut report = look(&state, now, keep)?;
    if !arguments.dry_run {
        delete_all(&state, now, &mut report)?;
    }
    if global.json {
        print(&json(&report, arguments.dry_run).to_string(), true)?;
    } else {
        print(&lines(&report, now, keep, arguments.dry_run).join("\n"), false)?;
    }
    Ok(if report.failed.is_empty() { DONE } else { NOT_DONE })
}

/// Returns when a fleet ended; `None` if it has not, or if that cannot be told.
pub(super) fn end_of(dir: &FleetDir) -> Option<Moment> {
    // Asked with and without the host lock held here, so that who holds it does not matter.
    ended_at(&inspect(dir).ok()?)
}

fn ended_at(seen: &Inspection) -> Option<Moment> {
    let header = &seen.snapshot.header;
    header.all_done.then(|| header.last_end.unwrap_or(seen.file.created))
}

/// What was found and done.
#[derive(Debug, Default)]
struct Report {
    /// Fleets that go.
    going: Vec<Going>,
    /// Old fleets that do not, each with how it stands and why it stays.
    kept: Vec<(FleetId, &'static str, String)>,
    /// What could not be deleted, with the reason.
    failed: Vec<(String, String)>,
    /// Ended fleets that are too new.
    newer: usize,
}

/// A fleet that goes.
#[derive(Debug)]
struct Going {
    fleet: Prunable,
    name: Option<String>,
    agents: u32,
    bytes: u64,
}

/// Looks which fleets have ended and are old, and which are old and have not ended.
fn look(state: &StateDir, now: Moment, keep: Keep) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut ended = Vec::new();
    for id in ids(state)? {
        let seen = match inspect(&state.fleet(&id)) {
            Ok(seen) => seen,
            Err(error) => {
                let why = format!("cannot be read: {}", one_line(&error.to_string()));
                report.kept.push((id, "unreadable", why));
                continue;
            }
        };
        match ended_at(&seen).filter(|_| !seen.has_host) {
            Some(at) => ended.push((Prunable { id, ended: at }, seen)),
            None if now.since(seen.file.created) >= keep.time => {
                let why = why_kept(&seen);
                report.kept.push((id, seen.standing.as_str(), why));
            }
            None => {}
        }
    }
    let fleets: Vec<Prunable> = ended.iter().map(|(fleet, _)| fleet.clone()).collect();
    let going = journal::select(&fleets, now, keep);
    report.newer = ended.len() - going.len();
    for (fleet, seen) in ended {
        if going.contains(&fleet.id) {
            let header = &seen.snapshot.header;
            let bytes = size_of(seen.dir.path());
            let (name, agents) = (header.name.clone(), header.kpis.total);
            report.going.push(Going { fleet, name, agents, bytes });
        }
    }
    Ok(report)
}

/// Says why a fleet stays, and what to type about it.
fn why_kept(seen: &Inspection) -> String {
    let id = seen.dir.id();
    let kpis = &seen.snapshot.header.kpis;
    let stop = to_type(format_args!("stop all --fleet {id}"));
    let resume = to_type(format_args!("resume {id} -d"));
    if let Some(host) = &seen.elsewhere {
        return format!("lives on host {}", one_line(host));
    }
    match seen.standing {
        FleetStanding::Live | FleetStanding::Held if seen.has_host => {
            format!("has a host: {} running, {} queued", kpis.running, kpis.queued)
        }
        FleetStanding::Hostless => {
            format!("{} running, not watched: `{resume}` or `{stop}`", kpis.running)
        }
        FleetStanding::Held | FleetStanding::Live | FleetStanding::Ended => {
            format!("{} queued: `{resume}` goes on, `{stop}` gives them up", kpis.queued)
        }
    }
}

fn delete_all(state: &StateDir, now: Moment, report: &mut Report) -> Result<(), Failure> {
    let unread =
        |error| Failure::input(format!("could not read {}: {error}", state.fleets().display()));
    let remains = finish_earlier(state, now).map_err(unread)?;
    let said = |(name, error): (String, std::io::Error)| (name, error.to_string());
    report.failed.extend(remains.into_iter().map(said));
    for going in std::mem::take(&mut report.going) {
        match delete_ended(state, &going.fleet, end_of) {
            Ok(true) => report.going.push(going),
            Ok(false) => {
                let resume = to_type(format_args!("resume {}", going.fleet.id));
                let why =
                    format!("goes on again, or lost agents of which `{resume}` records the end");
                report.kept.push((going.fleet.id, FleetStanding::Ended.as_str(), why));
            }
            Err(error) => report.failed.push((going.fleet.id.0, error.to_string())),
        }
    }
    Ok(())
}

/// Returns the report for people.
fn lines(report: &Report, now: Moment, keep: Keep, is_dry: bool) -> Vec<String> {
    let verb = if is_dry { "would delete" } else { "deleted" };
    let mut lines: Vec<String> = report
        .going
        .iter()
        .map(|going| {
            let name = going.name.as_deref().map(one_line);
            let name = name.map(|name| format!(", {name}")).unwrap_or_default();
            let agents = count(usize::try_from(going.agents).unwrap_or(usize::MAX), "agent");
            let ago = days(now.since(going.fleet.ended));
            let size = size(going.bytes);
            format!("{verb} {}: ended {ago} ago, {agents}, {size}{name}", going.fleet.id)
        })
        .collect();
    lines.extend(report.kept.iter().map(|(id, state, why)| format!("kept {id}: {state}, {why}")));
    lines.extend(
        report.failed.iter().map(|(name, why)| format!("not deleted: {name}: {}", one_line(why))),
    );
    if report.going.is_empty() {
        let rule = if keep == Keep::USUAL {
            format!("ended in the last {}, among the newest {}", days(keep.time), keep.newest)
        } else {
            format!("ended in the last {}", days(keep.time))
        };
        let newer = count(report.newer, "fleet");
        lines.push(match report.newer {
            0 => "nothing to delete: no fleet has ended".to_owned(),
            _ => format!("nothing to delete: {newer} {rule} (--older-than TIME says otherwise)"),
        });
    } else {
        let bytes = report.going.iter().map(|going| going.bytes).sum();
        let fleets = count(report.going.len(), "fleet");
        lines.push(format!("{verb} {fleets}, {}", size(bytes)));
    }
    lines
}

/// Returns how long ago something was: in days from the second one on.
fn days(span: Duration) -> String {
    let days = usize::try_from(span.as_secs() / (24 * 3600)).unwrap_or(usize::MAX);
    if days < 2 { age(span) } else { count(days, "day") }
}

/// Returns the report for machines.
fn json(report: &Report, is_dry: bool) -> serde_json::Value {
    let deleted: Vec<_> = report
        .going
        .iter()
        .map(|going| {
            serde_json::json!({
                "id": going.fleet.id, "name": going.name, "ended": timestamp(going.fleet.ended),
                "agents": going.agents, "bytes": going.bytes,
            })
        })
        .collect();
    let kept: Vec<_> = report
        .kept
        .iter()
        .map(|(id, state, why)| serde_json::json!({ "id": id, "state": state, "why": why }))
        .collect();
    let failed: Vec<_> = report
        .failed
        .iter()
        .map(|(name, why)| serde_json::json!({ "name": name, "why": why }))
        .collect();
    serde_json::json!({
        "dry_run": is_dry, "deleted": deleted, "kept": kept, "failed": failed, "newer": report.newer,
        "bytes": report.going.iter().map(|going| going.bytes).sum::<u64>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(1_767_225_600_000);

    fn report() -> Report {
        let fleet = Prunable { id: FleetId("k3f".into()), ended: Moment(NOW.0 - 3_600_000) };
        let going =
            Going { fleet, name: Some("night\u{1b}[2J".into()), agents: 1, bytes: 1_200_000 };
        let kept = (FleetId("m4d".into()), "held", "3 queued".to_owned());
        Report { going: vec![going], kept: vec![kept], failed: Vec::new(), newer: 2 }
    }

    #[test]
    fn what_goes_and_what_stays_is_said_with_its_size() {
        let text = lines(&report(), NOW, Keep::USUAL, true).join("\n");
        assert!(
            text.starts_with("would delete k3f: ended 1h ago, 1 agent, 1.2 MB, night"),
            "{text}"
        );
        assert!(text.contains("kept m4d: held, 3 queued"), "{text}");
        assert!(text.ends_with("would delete 1 fleet, 1.2 MB"), "{text}");
        assert!(!text.contains('\u{1b}'));
        let json = json(&report(), false);
        assert_eq!((&json["bytes"], &json["deleted"][0]["id"]), (&1_200_000.into(), &"k3f".into()));
    }

    #[test]
    fn that_there_is_nothing_to_delete_is_said_with_the_rule() {
        let report = Report { going: Vec::new(), kept: Vec::new(), ..report() };
        let said = |keep| lines(&report, NOW, keep, false).join("\n");
        assert!(
            said(Keep::USUAL).contains("2 fleets ended in the last 7 days"),
            "{}",
            said(Keep::USUAL)
        );
        let hour = Keep { time: Duration::from_hours(1), newest: usize::MAX };
        assert!(said(hour).contains("2 fleets ended in the last 1h ("), "{}", said(hour));
    }
}
