//! The list of fleets: `fleet ls`.
//!
//! What may go here: its lines and its JSON, from plain facts. What may not: finding fleets.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::{FleetId, Kpis, Moment, NanoUsd};
use crate::journal::{FleetStanding, to_type};
use crate::runtime::roster::{KpiSummary, number};
use crate::words::plain_text::{cut_cells, fit, one_line};
use crate::words::style::Style;
use crate::words::time_text;

/// What is known of one fleet without its agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetEntry {
    /// Name.
    pub id: FleetId,
    /// Name for people.
    pub name: Option<String>,
    /// Folder to which it belongs.
    pub root: PathBuf,
    /// How it stands.
    pub state: FleetStanding,
    /// Process of its host, if it has one.
    pub host_pid: Option<u32>,
    /// Machine on which its host lives, if that is another one.
    pub elsewhere: Option<String>,
    /// When it was made.
    pub created: Moment,
    /// Numbers.
    pub kpis: Kpis,
    /// What is known to be spent.
    pub spent: NanoUsd,
    /// How many agents have spent what nobody knows.
    pub cost_unknown: u32,
    /// Cap.
    pub cap: Option<NanoUsd>,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    name: Option<&'a str>,
    root: String,
    state: FleetStanding,
    host_pid: Option<u32>,
    created: String,
    kpis: KpiSummary,
    spent_usd: Box<RawValue>,
    cost_unknown: u32,
    cap_usd: Option<Box<RawValue>>,
}

/// Returns the fleets as one line of JSON.
#[expect(clippy::missing_panics_doc, reason = "it cannot fail, as the expect says")]
pub fn list_json(fleets: &[FleetEntry]) -> String {
    let listed: Vec<Listed<'_>> = fleets
        .iter()
        .map(|fleet| Listed {
            id: &fleet.id.0,
            name: fleet.name.as_deref(),
            root: fleet.root.to_string_lossy().into_owned(),
            state: fleet.state,
            host_pid: fleet.host_pid,
            created: time_text::timestamp(fleet.created),
            kpis: (&fleet.kpis).into(),
            spent_usd: number(fleet.spent),
            cost_unknown: fleet.cost_unknown,
            cap_usd: fleet.cap.map(number),
        })
        .collect();
    serde_json::to_string(&listed).expect("every key is a text, so that nothing can fail")
}

/// Returns the fleets as lines for people, in the order given; one remark if there is none. `width` is that of the
/// terminal.
pub fn list(fleets: &[FleetEntry], now: Moment, style: Style, width: usize) -> Vec<String> {
    let width = style.edge(width);
    if fleets.is_empty() {
        return vec![format!("no fleets yet (start one with {})", to_type("run 'a task'"))];
    }
    let id_width = fleets.iter().map(|fleet| fleet.id.0.len()).max().unwrap_or(0);
    fleets.iter().map(|fleet| line(fleet, now, style, width, id_width)).collect()
}

fn line(fleet: &FleetEntry, now: Moment, style: Style, width: usize, id_width: usize) -> String {
    let kpis = &fleet.kpis;
    let mut parts = vec![fleet.state.as_str().to_owned()];
    let counts = [
        (kpis.running, "running"),
        (kpis.queued, "queued"),
        (kpis.done, "done"),
        (kpis.failed, "not done"),
    ];
    parts.extend(
        counts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{number} {word}")),
    );
    if let Some(host) = &fleet.elsewhere {
        parts.push(format!("lives on host {}", one_line(host)));
    } else if fleet.state == FleetStanding::Hostless {
        parts.push("not watched".to_owned());
    }
    let cap = fleet.cap.map(|cap| format!(" / ${}", cap.to_exact())).unwrap_or_default();
    parts.push(match fleet.cost_unknown {
        0 => format!("{}{cap}", fleet.spent),
        unknown => format!("{}{}{cap} ({unknown} ?)", style.at_least(), fleet.spent),
    });
    parts.push(format!("{} old", time_text::age(now.since(fleet.created))));
    parts.extend(fleet.name.as_deref().map(one_line));
    parts.push(one_line(&fleet.root.to_string_lossy()));
    let text = format!("{}  {}", fit(&fleet.id.0, id_width), parts.join(style.dot()));
    cut_cells(&style.text(&text), width)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn entry() -> FleetEntry {
        FleetEntry {
            id: FleetId("k3f".into()),
            name: Some("night".into()),
            root: "/repo".into(),
            state: FleetStanding::Hostless,
            host_pid: None,
            elsewhere: None,
            created: Moment(1_700_000_000_000),
            kpis: Kpis { total: 3, running: 3, ..Kpis::default() },
            spent: NanoUsd::from_nanos(62_500_000),
            cost_unknown: 0,
            cap: Some(NanoUsd::from_dollars(1)),
        }
    }

    #[test]
    fn the_json_has_the_specified_keys_and_exact_money() {
        let text = list_json(&[entry()]);
        let expected = json!([{
            "id": "k3f", "name": "night", "root": "/repo", "state": "hostless", "host_pid": null,
            "created": "2023-11-14T22:13:20Z",
            "kpis": {"total": 3, "running": 3, "done": 0, "failed": 0, "queued": 0, "validated": 0, "mesh": 0,
                     "steps": 0, "tokens": 0, "cost": 0.0, "elapsed": 0.0},
            "spent_usd": 0.0625, "cost_unknown": 0, "cap_usd": 1.0
        }]);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{text}");
        assert_eq!(list_json(&[]), "[]");
    }

    #[test]
    fn a_line_says_how_a_fleet_stands_and_that_nobody_watches_it() {
        let now = Moment(1_700_000_000_000 + 18 * 60_000);
        let wide = Style { unicode: true, ..Style::PLAIN };
        assert_eq!(
            list(&[entry()], now, wide, 200),
            ["k3f  hostless · 3 running · not watched · $0.0625 / $1.00 · 18m old · night · /repo"]
        );
        let mut other = entry();
        other.elsewhere = Some("node7".into());
        assert!(list(&[other], now, wide, 200)[0].contains("lives on host node7"));
        assert!(list(&[], now, wide, 200)[0].contains("fleet run"));
        let unknown = FleetEntry { cost_unknown: 2, ..entry() };
        assert!(list(&[unknown], now, wide, 200)[0].contains("≥ $0.0625 / $1.00 (2 ?)"));
        let terminal = Style { terminal: true, ..wide };
        assert!(list(&[entry()], now, terminal, 20)[0].chars().count() <= 20);
        assert_eq!(list(&[entry()], now, wide, 20), list(&[entry()], now, wide, 200));
    }
}
