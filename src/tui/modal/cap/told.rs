//! What the cap question tells, in words.
//!
//! What may go here: lines about money and the queue, and how a question came to its end. What may not: keys, geometry.

use super::super::writer::{Writer, clean};
use crate::core::{CostStatus, Header, Hold, NanoUsd, Question, Snapshot};
use crate::tui::header::{in_cents, pace};
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{count, cut_graphemes, one_line};
use crate::words::report_line::exact;
use crate::words::status_line::money;

/// Queued tasks that are named.
const NAMED: usize = 3;
/// Graphemes of a task that is named.
const GOAL: usize = 40;
/// Cells of the gauge.
const GAUGE: usize = 20;
/// Narrowest text that has the gauge.
const GAUGED: usize = 50;

/// Says why a question that was not answered here has gone.
pub(super) fn how_answered(snapshot: &Snapshot, question: &Question) -> String {
    let header = &snapshot.header;
    if let Some(signal) = &header.interrupted {
        return format!("the cap question is closed: {}", one_line(signal));
    }
    match header.cap {
        None => "answered elsewhere: the cap is gone".to_owned(),
        Some(cap) if cap != question.cap => {
            format!("answered elsewhere: raised to {}", exact(cap))
        }
        Some(_) if header.kpis.queued == 0 && header.left_by_cap => {
            "answered elsewhere: the queue is dropped".to_owned()
        }
        Some(_) if header.kpis.queued == 0 => {
            "the cap question is closed: nothing is queued any more".to_owned()
        }
        Some(_) if header.hold == Some(Hold::Cap) => {
            "answered elsewhere: the queue stays held".to_owned()
        }
        Some(_) => "the cap question was answered elsewhere".to_owned(),
    }
}

/// Writes what is spent.
pub(super) fn write_money(writer: &mut Writer, world: &World, question: Option<&Question>) {
    let header = &world.snapshot.header;
    let mut spent = money(header, world.theme.words);
    if let Some(cap) = header.cap.filter(|_| writer.width() >= GAUGED) {
        let gauge = world.theme.gauge(header.spent.as_nanos(), cap.as_nanos(), GAUGE);
        spent = format!("{spent}  {gauge}");
    }
    writer.field("spent", &spent, Tone::Money);
    if let Some(question) = question.filter(|it| it.committed > header.spent) {
        let text =
            format!("{} with what agents of unknown cost may have spent", question.committed);
        writer.field("counted", &text, Tone::Plain);
    }
}

/// Writes what waits for the answer, and what does not.
pub(super) fn write_queue(writer: &mut Writer, world: &World, question: &Question) {
    let queued = count(number(question.queued), "task");
    let cost = match question.queue_estimate {
        Some(estimate) => format!("{queued}, about {} at the average so far", in_cents(estimate)),
        None => format!("{queued}, at a cost that nobody knows yet"),
    };
    writer.field("queued", &cost, Tone::Strong);
    let goes_on = match number(world.snapshot.header.kpis.running) {
        0 => "nothing".to_owned(),
        1 => "1 agent goes on meanwhile".to_owned(),
        more => format!("{} go on meanwhile", count(more, "agent")),
    };
    writer.field("running", &goes_on, Tone::Live);
}

/// Names the tasks that would start next.
pub(super) fn write_next(writer: &mut Writer, world: &World) {
    let queue = &world.snapshot.queue;
    let mut name = "next";
    for row in queue.iter().take(NAMED).filter_map(|id| world.row(*id)) {
        let head: String = row.task.text.chars().take(GOAL * 16).collect();
        let goal = cut_graphemes(&clean(world, &head), GOAL);
        writer.field_line(name, &format!("{} {goal}", row.id), Tone::Dim);
        name = "";
    }
    if let Some(more) = queue.len().checked_sub(NAMED).filter(|more| *more > 0) {
        writer.field_line("", &format!("and {more} more"), Tone::Dim);
    }
}

/// Writes how fast money goes.
pub(super) fn write_rate(writer: &mut Writer, world: &World) {
    let header = &world.snapshot.header;
    if header.reserved > NanoUsd::ZERO {
        let ended_unknown = world
            .snapshot
            .rows
            .iter()
            .any(|row| row.status.is_ended() && row.cost_status == CostStatus::Unknown);
        let what = match (header.kpis.running, ended_unknown) {
            (0, _) => "agents of unknown cost",
            (_, true) => "what runs and agents of unknown cost",
            (_, false) => "what runs",
        };
        writer.field("reserved", &format!("{} for {what}", header.reserved), Tone::Plain);
    }
    if let Some(pace) = pace(&world.snapshot) {
        writer.field("rate", &format!("{} a minute", in_cents(pace)), Tone::Plain);
    }
}

/// Says that a cap would let nothing start at once, if all of it is spent or reserved.
pub(super) fn reserved_by(header: &Header, cap: NanoUsd) -> Option<String> {
    let taken = header.spent + header.reserved;
    (cap > header.spent && cap <= taken && header.kpis.running > 0)
        .then(|| format!("what runs may use that up: more than {taken} starts the next one"))
}

/// Writes what a cap is for.
pub(super) fn write_by_hand(writer: &mut Writer, header: &Header) {
    let queued = number(header.kpis.queued);
    let running = number(header.kpis.running);
    if queued + running > 0 {
        let text = format!("{running} running, {queued} queued");
        writer.field("agents", &text, Tone::Plain);
    }
    if header.cap.is_some() && header.without_budget > 0 && running > 0 {
        let open = count(number(header.without_budget), "agent");
        writer.field("note", &format!("may overshoot: {open} without a budget"), Tone::Warning);
    }
    writer.gap();
    let text = "When the cap is reached nothing more starts and you are asked. What runs goes on.";
    writer.text(text, Tone::Dim);
}

pub(super) fn number(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
