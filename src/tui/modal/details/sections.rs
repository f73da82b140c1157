//! The parts of an agent's details, in words.
//!
//! What may go here: what is known of an agent, a line each. What may not: geometry, keys.

use std::path::Path;

use super::super::writer::{Writer, clean};
use crate::core::{CostStatus, End, Leftovers, Moment, Phase, ProcessEnd, Row, Status, Task};
use crate::journal::quoted;
use crate::supervise::AgentDir;
use crate::tui::message::Facts;
use crate::tui::theme::Tone;
use crate::tui::world::World;
use crate::words::changed_files::{Evidence, also_changed};
use crate::words::plain_text::{count, thousands};
use crate::words::report_line::exact;
use crate::words::{time_text, why};

/// Characters of a text that are shown; a longer one is named with its file.
const LONGEST: usize = 20_000;

/// Writes everything.
pub(super) fn write(writer: &mut Writer, row: &Row, facts: &Facts, world: &World) {
    let files = world.agent_dir(row.id);
    write_state(writer, row, world);
    write_task(writer, row, world);
    writer.gap();
    write_run(writer, row, facts, world);
    writer.gap();
    write_work(writer, row);
    writer.gap();
    write_outcome(writer, row, &files, world);
    writer.gap();
    write_files(writer, row, facts, &files);
}

fn write_state(writer: &mut Writer, row: &Row, world: &World) {
    let snapshot = &world.snapshot;
    let place = snapshot.queue.iter().position(|id| *id == row.id).map(|place| place + 1);
    let tone = match row.status {
        // What it waits for is what is looked for here.
        Status::Queued => Tone::Plain,
        status => Tone::of(status),
    };
    // Of an agent that is over, the lines below tell the rest of the sentence.
    let state = match row.status {
        Status::Ended(_) => why::state(row, world.clock(), None, false),
        _ => why::sentence(row, &snapshot.header, world.clock(), place, &world.zone),
    };
    writer.field("state", &state, tone);
    if let Phase::InTool { tool, text, .. } = &row.phase {
        // The sentence has only the beginning of it.
        writer.field(
            "open tool",
            &format!("{}: {}", why::head(tool), why::head(text)),
            Tone::Plain,
        );
    }
}

fn write_task(writer: &mut Writer, row: &Row, world: &World) {
    let task = &row.task;
    let spec = world.agent_dir(row.id).spec();
    writer.field("task", &shown(&task.text, &spec), Tone::Strong);
    let named = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!("{name} {}", why::head(value)))
    };
    let mut kind = vec![why::head(&task.kind.0)];
    kind.extend(named("model", &task.model));
    kind.extend(task.engine.as_deref().map(engine));
    kind.extend(named("tier", &task.tier));
    writer.field("kind", &kind.join(" · "), Tone::Plain);
    let place = if row.of > 1 { format!(" · {} of {}", row.index, row.of) } else { String::new() };
    writer.field("set", &format!("{}{place} · {}", clean(world, &row.tag), row.batch), Tone::Plain);
    writer.field("folder", &why::head(&task.root.to_string_lossy()), Tone::Plain);
    writer.field("may", &may(task), Tone::Plain);
    writer.field("limits", &limits(task), Tone::Plain);
    if let Some(context) = &task.context {
        writer.field("context", &why::head(context), Tone::Plain);
    }
    let names: Vec<&str> =
        task.env_names.iter().chain(&task.env_stored).map(String::as_str).collect();
    writer.field("variables", &why::head(&names.join(" ")), Tone::Plain);
}

/// Returns an engine by its name. With `auto` the program chooses, and nobody knows what before it has.
fn engine(name: &str) -> String {
    let note = if name == "auto" { " (not counted as local)" } else { "" };
    format!("engine {}{note}", why::head(name))
}

fn may(task: &Task) -> String {
    if !task.traits.prompt {
        return String::new();
    }
    let mut may = vec![if task.read_only { "read only" } else { "read and write" }];
    may.extend(task.allow_shell.then_some("shell"));
    may.extend(task.allow_web.then_some("web"));
    may.join(" · ")
}

fn limits(task: &Task) -> String {
    let mut limits = Vec::new();
    limits.extend(task.budget.map(|budget| format!("budget {}", exact(budget))));
    limits.extend(task.timeout.map(|span| format!("{} at most", time_text::duration(span))));
    limits.extend(
        task.idle_timeout.map(|span| format!("{} without progress", time_text::duration(span))),
    );
    limits.extend(task.max_steps.map(|steps| format!("{steps} steps")));
    if task.leftovers == Leftovers::Keep {
        limits.push("what it leaves behind stays".to_owned());
    }
    limits.join(" · ")
}

fn write_run(writer: &mut Writer, row: &Row, facts: &Facts, world: &World) {
    let queued = world.snapshot.batches.iter().find(|view| view.batch.id == row.batch);
    if let Some(view) = queued {
        writer.field("queued", &moment(view.batch.queued, world), Tone::Plain);
    }
    if let Some(started) = row.started {
        writer.field("started", &moment(started, world), Tone::Plain);
    }
    if let Some(end) = &row.end {
        writer.field("ended", &moment(end.at, world), Tone::Plain);
    }
    if row.started.is_some() {
        let ran = time_text::duration(row.elapsed(world.clock()));
        writer.field("run time", &ran, Tone::Plain);
    }
    let mut used = Vec::new();
    used.extend(facts.cpu_ms.map(|ms| format!("{}.{:02} s of CPU", ms / 1000, ms % 1000 / 10)));
    used.extend(
        facts.max_rss_kb.map(|kb| format!("{} of memory", why::size(kb.saturating_mul(1024)))),
    );
    writer.field("used", &used.join(" · "), Tone::Plain);
    let argv: Vec<String> = facts.argv.iter().map(|argument| quoted(argument)).collect();
    writer.field("command", &why::head(&argv.join(" ")), Tone::Plain);
    let mut processes = Vec::new();
    processes.extend(facts.agent_pid.map(|pid| format!("agent {pid}")));
    processes.extend(facts.shim_pid.map(|pid| format!("shim {pid}")));
    writer.field("processes", &processes.join(" · "), Tone::Plain);
    if let Some(end) = &row.end {
        writer.field("exit", &exit(end), Tone::Plain);
        let names: Vec<String> = end.swept.iter().map(|name| why::head(name)).collect();
        writer.field("swept", &names.join(" "), Tone::Warning);
    }
}

fn moment(moment: Moment, world: &World) -> String {
    let ago = time_text::age(world.clock().since(moment));
    format!("{} ({ago} ago)", time_text::local(moment, &world.zone))
}

fn exit(end: &End) -> String {
    let mut parts = Vec::new();
    match &end.process {
        Some(ProcessEnd::Code(code)) => parts.push(format!("code {code}")),
        Some(ProcessEnd::Signal(name)) => parts.push(format!("signal {}", why::head(name))),
        Some(ProcessEnd::NotStarted(why)) => parts.push(format!("not started: {}", why::head(why))),
        Some(ProcessEnd::Lost) => parts.push("lost: its end was not recorded".to_owned()),
        None => parts.push("it never ran".to_owned()),
    }
    parts.extend(end.reason.map(|reason| why::spoken(reason.as_str())));
    if end.escalated {
        parts.push("had to be killed".to_owned());
    }
    parts.join(" · ")
}

fn write_work(writer: &mut Writer, row: &Row) {
    if row.started.is_none() && row.status == Status::Queued {
        return write_again(writer, row);
    }
    writer.field("steps", &thousands(row.steps), Tone::Plain);
    let tokens = row.tokens;
    if tokens.total() > 0 {
        let parts = [
            (tokens.input, "input"),
            (tokens.cache_read, "cache read"),
            (tokens.cache_write, "cache write"),
            (tokens.output, "output"),
        ];
        let parts = parts.map(|(number, name)| format!("{} {name}", thousands(number)));
        let all = format!("{}: {}", thousands(tokens.total()), parts.join(" · "));
        writer.field("tokens", &all, Tone::Plain);
    }
    writer.field("cost", &cost(row), Tone::Money);
    match row.validated {
        Some(true) => writer.field("tests", "its own checks are all green", Tone::Good),
        Some(false) => writer.field("tests", "a check of its own is red", Tone::Bad),
        None if !row.status.is_ended() => {}
        None => writer.field("tests", "it ran no check of its own", Tone::Dim),
    }
    if let Some(session) = &row.session {
        writer.field("session", &why::head(session), Tone::Plain);
    }
    write_again(writer, row);
    write_messages(writer, row);
    if row.anomalies > 0 {
        let lines = count(usize::try_from(row.anomalies).unwrap_or(usize::MAX), "line");
        writer.field("odd", &format!("{lines} of output not understood"), Tone::Warning);
    }
    if row.unparsed {
        let what = "its result is not as it should be: what could not be read counts as nothing";
        writer.field("unparsed", what, Tone::Warning);
    }
}

/// Writes what it was told while it ran, and what of that it has not taken up.
fn write_messages(writer: &mut Writer, row: &Row) {
    if row.told == 0 {
        return;
    }
    let told = count(usize::try_from(row.told).unwrap_or(usize::MAX), "message");
    let unheard = why::unheard(row);
    let tone = if unheard.is_some() && row.status.is_ended() { Tone::Warning } else { Tone::Plain };
    let parts: Vec<String> = [format!("{told} while it ran")].into_iter().chain(unheard).collect();
    writer.field("told", &parts.join(" · "), tone);
}

fn write_again(writer: &mut Writer, row: &Row) {
    let mut again = Vec::new();
    again.extend(row.task.continues.as_ref().map(|from| format!("goes on from {}", from.agent)));
    again.extend(row.retry_of.map(|id| format!("tries {id} again")));
    again.extend(row.retried_by.map(|id| format!("tried again as {id}")));
    writer.field("again", &again.join(" · "), Tone::Plain);
}

fn cost(row: &Row) -> String {
    let of = row.task.budget.map(|budget| format!(" of {}", exact(budget))).unwrap_or_default();
    match (row.cost, row.cost_status) {
        (Some(cost), CostStatus::Reported) => format!("{cost}{of}, as it reports"),
        (Some(cost), CostStatus::Estimated) => {
            format!("about {cost}{of}, from its tokens and known prices")
        }
        (Some(_), CostStatus::None) => "none that is known".to_owned(),
        (None, _) | (Some(_), CostStatus::Unknown) => format!("unknown{of}"),
    }
}

fn write_outcome(writer: &mut Writer, row: &Row, files: &AgentDir, world: &World) {
    if let Some(end) = row.end.as_ref().filter(|end| !end.error.trim().is_empty()) {
        writer.field("error", &shown(&end.error, &files.err()), Tone::Bad);
    }
    let cut = row.end.as_ref().is_some_and(|end| end.truncated);
    let name = if cut { "answer cut" } else { "answer" };
    writer.field(name, &shown(&row.answer, &files.out()), Tone::Plain);
    for (number, (file, others)) in also_changed(row, &world.snapshot).into_iter().enumerate() {
        let name = if number == 0 { "changed" } else { "" };
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        let (text, tone) = if others.is_empty() {
            (why::head(file), Tone::Plain)
        } else {
            let mark = world.theme.words.warning();
            (format!("{}  {mark} also by {}", why::head(file), others.join(" ")), Tone::Warning)
        };
        writer.field(name, &text, tone);
    }
    match Evidence::of(row) {
        Some(Evidence::Seen) => writer.field("evidence", "seen on disk", Tone::Good),
        Some(Evidence::Unseen(which)) => writer.field("evidence", &which, Tone::Warning),
        None => {}
    }
}

fn write_files(writer: &mut Writer, row: &Row, facts: &Facts, files: &AgentDir) {
    if row.started.is_none() {
        return;
    }
    let (out, err) = match &row.end {
        Some(end) => {
            (end.tails.out_bytes.max(facts.sizes.0), end.tails.err_bytes.max(facts.sizes.1))
        }
        None => facts.sizes,
    };
    let path = |path: &Path| path.to_string_lossy().into_owned();
    for (name, file, size) in [("out", files.out(), out), ("err", files.err(), err)] {
        let (note, tone) =
            if why::is_large(size) { (", large", Tone::Warning) } else { ("", Tone::Plain) };
        writer.field(name, &format!("{} ({}{note})", path(&file), why::size(size)), tone);
    }
    if facts.has_account {
        writer.field("account", &path(&files.transcript()), Tone::Plain);
    }
    if let Some(why) = &row.transcript_trouble {
        writer.field("account", &format!("not complete: {}", why::head(why)), Tone::Warning);
    }
    if let Some(why) = row.end.as_ref().and_then(|end| end.tails.unreadable.as_ref()) {
        writer.field("unreadable", &why::head(why), Tone::Bad);
    }
    if let Some(path) = row.end.as_ref().and_then(|end| end.tails.diagnostic.as_ref()) {
        writer.field("diagnostic", &why::head(path), Tone::Plain);
    }
}

/// Returns a text, or its beginning with the place of the whole.
fn shown(text: &str, whole: &Path) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((at, _)) => {
            let (head, rest) = text.split_at_checked(at).unwrap_or((text, ""));
            let left_out = u64::try_from(rest.chars().count()).unwrap_or(u64::MAX);
            format!(
                "{head}\n[{} characters more; all of it: {}]",
                thousands(left_out),
                whole.display()
            )
        }
    }
}
