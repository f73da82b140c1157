//! A line of the list of fleets.
//!
//! What may go here: its columns at a width, and what stands in each. What may not: which fleets there are.

use ratatui::text::{Line, Span};

use crate::core::{Outcome, Status};
use crate::journal::FleetStanding;
use crate::tui::modal::writer::cut;
use crate::tui::others::ListedFleet;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{cells, fit};
use crate::words::status_line::money;
use crate::words::time_text::{age, duration};
use crate::words::why;

/// Cells of the sign before the selected line and of the mark.
const SIGNS: usize = 2;
/// Cells of the longest state.
const STATE: usize = 8;
/// Most cells of counts, of a cost and of a time; what is longer is cut.
const MOST: usize = 20;
/// Cells from which on a name is worth its column.
const NAME: usize = 6;

/// What stands in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    State,
    Age,
    Counts,
    Cost,
    Took,
    Name,
}

/// From left to right.
const ALL: [Column; 7] = [
    Column::Id,
    Column::State,
    Column::Age,
    Column::Counts,
    Column::Cost,
    Column::Took,
    Column::Name,
];

/// In this order columns yield on a narrow terminal.
const YIELDS: [Column; 3] = [Column::Name, Column::Took, Column::Cost];

/// The columns with their widths.
pub(super) struct Columns {
    shown: Vec<(Column, usize)>,
    width: usize,
    everywhere: bool,
}

impl Columns {
    /// Divides a width among the columns of these fleets.
    pub(super) fn of(
        width: usize,
        fleets: &[&ListedFleet],
        everywhere: bool,
        world: &World,
    ) -> Self {
        let widest = |column: Column| {
            let texts = fleets.iter().map(|fleet| cells(&cell(column, fleet, everywhere, world)));
            texts.max().unwrap_or_default().min(MOST)
        };
        let mut shown: Vec<(Column, usize)> = ALL
            .into_iter()
            .map(|column| (column, if column == Column::State { STATE } else { widest(column) }))
            .collect();
        let taken = |shown: &[(Column, usize)]| {
            SIGNS + shown.iter().map(|(_, wide)| wide + 1).sum::<usize>()
        };
        for column in YIELDS {
            if column == Column::Name {
                // It has what is left, and is not there for less than is worth reading.
                let others: Vec<_> =
                    shown.iter().copied().filter(|(it, _)| *it != column).collect();
                if width.saturating_sub(taken(&others)) >= NAME {
                    break;
                }
            } else if taken(&shown) <= width + 1 {
                break;
            }
            shown.retain(|(it, _)| *it != column);
        }
        let last = taken(&shown);
        if let Some((_, wide)) = shown.last_mut() {
            *wide += (width + 1).saturating_sub(last);
        }
        Self { shown, width, everywhere }
    }

    /// Writes the line of a fleet, as wide as there is room.
    pub(super) fn line(
        &self,
        fleet: &ListedFleet,
        (is_selected, is_marked): (bool, bool),
        world: &World,
    ) -> Line<'static> {
        let theme = world.theme;
        let cursor = if is_selected { theme.cursor() } else { " " };
        let mark = match (is_marked, theme.words.unicode) {
            (false, _) => " ",
            (true, true) => "◆",
            (true, false) => "=",
        };
        let mut spans = vec![Span::raw(cursor), Span::raw(mark)];
        let mut left = self.width.saturating_sub(SIGNS);
        for (column, wide) in &self.shown {
            let wide = (*wide).min(left);
            let text = cut(theme, &cell(*column, fleet, self.everywhere, world), wide);
            let text = if *column == Column::Age || *column == Column::Took {
                format!("{}{text}", " ".repeat(wide.saturating_sub(cells(&text))))
            } else {
                fit(&text, wide)
            };
            let tone = tone(*column, fleet);
            let style = if is_selected { theme.style(Tone::Plain) } else { theme.style(tone) };
            spans.push(Span::styled(text, style));
            left = left.saturating_sub(wide);
            if left > 0 {
                spans.push(Span::raw(" "));
                left -= 1;
            }
        }
        let line = Line::from(spans);
        if is_selected { line.style(theme.style(Tone::Selected)) } else { line }
    }
}

/// Returns what a fleet has in a column; clean text, not cut.
fn cell(column: Column, fleet: &ListedFleet, everywhere: bool, world: &World) -> String {
    match column {
        Column::Id => fleet.id.to_string(),
        Column::State if fleet.elsewhere.is_some() => "away".to_owned(),
        Column::State => fleet.standing.as_str().to_owned(),
        Column::Age => format!("{} ago", age(world.now.since(fleet.created))),
        Column::Counts => counts(fleet, world),
        Column::Cost => {
            let mut header = fleet.header.clone();
            header.cap = None;
            money(&header, world.theme.words)
        }
        Column::Took => fleet.took().map(duration).unwrap_or_default(),
        Column::Name => name(fleet, everywhere, world),
    }
}

fn tone(column: Column, fleet: &ListedFleet) -> Tone {
    match column {
        Column::Id => Tone::Strong,
        Column::State => match fleet.standing {
            FleetStanding::Live => Tone::Live,
            FleetStanding::Held | FleetStanding::Hostless => Tone::Warning,
            FleetStanding::Ended => Tone::Dim,
        },
        Column::Counts if fleet.header.kpis.failed > 0 => Tone::Warning,
        Column::Counts => Tone::Good,
        Column::Cost => Tone::Money,
        Column::Age | Column::Took | Column::Name => Tone::Dim,
    }
}

/// Returns how many agents stand how: `✓12 ✗1 ○3`; what is done is always told.
pub(in crate::tui::modal) fn counts(fleet: &ListedFleet, world: &World) -> String {
    let kpis = &fleet.header.kpis;
    let words = world.theme.words;
    let done = Status::Ended(Outcome::Done);
    let mut parts = vec![format!("{}{}", words.glyph(done), kpis.done)];
    for (outcome, number) in &fleet.header.outcomes {
        if *outcome != Outcome::Done {
            parts.push(format!("{}{number}", words.glyph(Status::Ended(*outcome))));
        }
    }
    for (number, status) in [(kpis.running, Status::Running), (kpis.queued, Status::Queued)] {
        if number > 0 {
            parts.push(format!("{}{number}", words.glyph(status)));
        }
    }
    parts.join(" ")
}

/// Returns what a person calls it: its name, with its folder where fleets of several are listed.
fn name(fleet: &ListedFleet, everywhere: bool, world: &World) -> String {
    let mut parts = Vec::new();
    parts.extend(fleet.header.name.as_deref().map(why::head));
    if fleet.id == *world.dir.id() {
        parts.push("(shown)".to_owned());
    }
    if everywhere {
        parts.push(why::head(&fleet.folder.to_string_lossy()));
    }
    parts.extend(fleet.elsewhere.as_deref().map(|host| format!("on host {}", why::head(host))));
    parts.join(" ")
}

/// Says whether a fleet has something in it; `wanted` has small letters.
pub(super) fn is_hit(fleet: &ListedFleet, wanted: &str) -> bool {
    let texts = [
        Some(fleet.id.0.clone()),
        fleet.header.name.clone(),
        Some(fleet.folder.to_string_lossy().into_owned()),
        Some(fleet.standing.as_str().to_owned()),
    ];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(wanted))
}
