//! What the cap question tells, in words.
//!
//! What may go here: lines about money and the queue, and how a question came to its end. What may not: keys, geometry.

use super::super::amount::Amount;
use super::super::writer::Writer;
use crate::core::{AgentId, CostStatus, Header, Hold, NanoUsd, Question, Snapshot, Status};
use crate::tui::header::{in_cents, pace, until_cap};
use crate::tui::keymap::key_name;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::plain_text::{count, headline, one_line};
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
    writer.field("queued", &queued(question.queued, question.queue_estimate), Tone::Strong);
    let goes_on = match number(world.snapshot.header.kpis.running) {
        0 => "nothing".to_owned(),
        1 => "1 agent goes on meanwhile".to_owned(),
        more => format!("{} go on meanwhile", count(more, "agent")),
    };
    writer.field("running", &goes_on, Tone::Live);
}

/// Says how many tasks wait, and what they would cost.
fn queued(tasks: u32, estimate: Option<NanoUsd>) -> String {
    let queued = count(number(tasks), "task");
    match estimate {
        _ if tasks == 0 => "nothing".to_owned(),
        Some(estimate) => format!("{queued}, about {} at the average so far", in_cents(estimate)),
        None => format!("{queued}, at a cost that nobody knows yet"),
    }
}

/// Returns what the queue would cost at the average so far, as the question tells it when the cap is reached: no task
/// is counted with more than its budget.
fn queue_estimate(snapshot: &Snapshot) -> Option<NanoUsd> {
    let ended = snapshot.rows.iter().filter(|row| row.status.is_ended() && row.started.is_some());
    let known: Vec<NanoUsd> = ended.filter_map(|row| row.cost).collect();
    let number = u64::try_from(known.len()).ok().filter(|number| *number > 0)?;
    let mean = known.into_iter().sum::<NanoUsd>().div_ceil(number);
    let queued = snapshot.rows.iter().filter(|row| row.status == Status::Queued);
    Some(queued.map(|row| row.task.budget.map_or(mean, |most| most.min(mean))).sum())
}

/// Names the tasks that would start next.
pub(super) fn write_next(writer: &mut Writer, world: &World) {
    // What is held by itself starts with no cap.
    let is_loose = |id: &&AgentId| world.row(**id).is_some_and(|row| !row.held);
    let queue: Vec<AgentId> = world.snapshot.queue.iter().filter(is_loose).copied().collect();
    let mut name = "next";
    for row in queue.iter().take(NAMED).filter_map(|id| world.row(*id)) {
        let goal = headline(&row.task.text, GOAL);
        writer.field_line(name, &format!("{} {goal}", row.id), Tone::Dim);
        name = "";
    }
    if let Some(more) = queue.len().checked_sub(NAMED).filter(|more| *more > 0) {
        writer.field_line("", &format!("and {more} more"), Tone::Dim);
    }
}

/// Writes how fast money goes: what is not known is said to be so.
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
    } else {
        writer.field("reserved", "nothing", Tone::Plain);
    }
    let rate = match pace(&world.snapshot) {
        Some(pace) => format!("{} a minute", in_cents(pace)),
        None => "not known yet".to_owned(),
    };
    writer.field("rate", &rate, Tone::Plain);
}

/// Writes when a cap that is not reached will be.
pub(super) fn write_forecast(writer: &mut Writer, world: &World) {
    let header = &world.snapshot.header;
    if header.cap.is_none_or(|cap| cap <= header.spent) {
        return;
    }
    let time = pace(&world.snapshot).and_then(|pace| until_cap(&world.snapshot, pace));
    let forecast = match time {
        _ if header.kpis.running == 0 => "nothing runs that would reach the cap".to_owned(),
        Some(time) => format!("cap in {time}"),
        None => "not known yet".to_owned(),
    };
    writer.field("forecast", &forecast, Tone::Plain);
}

/// Says that a cap would let nothing start at once, if all of it is spent or reserved.
pub(super) fn reserved_by(header: &Header, cap: NanoUsd) -> Option<String> {
    let taken = header.spent + header.reserved;
    (cap > header.spent && cap <= taken && header.kpis.running > 0)
        .then(|| format!("what runs may use that up: more than {taken} starts the next one"))
}

/// Says what Enter will do with a cap by hand.
pub(super) fn hint(amount: &Amount, header: &Header) -> String {
    let enter = key_name!(CapByHand, Accept);
    match (amount.read_above(header.spent), header.cap) {
        (_, Some(cap)) if amount.read() == Ok(cap) => "this is the cap now".to_owned(),
        _ if amount.is_empty() && header.cap.is_some() => {
            format!("{enter} takes the cap away: nothing limits what is spent")
        }
        _ if amount.is_empty() => "there is no cap: nothing limits what is spent".to_owned(),
        (Ok(cap), _) => format!("{enter} sets the cap to {}", exact(cap)),
        (Err(why), _) => why,
    }
}

/// Writes what waits and runs while nothing is asked.
pub(super) fn write_agents(writer: &mut Writer, snapshot: &Snapshot) {
    let header = &snapshot.header;
    let running = number(header.kpis.running);
    let waits = queued(header.kpis.queued, queue_estimate(snapshot));
    writer.field("queued", &waits, Tone::Strong);
    let runs = if running == 0 { "nothing".to_owned() } else { count(running, "agent") };
    writer.field("running", &runs, Tone::Live);
}

/// Writes what a cap is for.
pub(super) fn write_by_hand(writer: &mut Writer, header: &Header) {
    let running = number(header.kpis.running);
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
