//! What a key asks of the fleet for some agents: done at once, asked back with counts, or refused with the reason.
//!
//! What may go here: which agents a key can be about, and the words of refusals. What may not: state of the table.

use crate::adapters::talk;
use crate::core::{AgentId, BatchId, Command, Direction, Phase, Row, Status};
use crate::tui::keymap::key_name;
use crate::tui::message::{Asked, Request};
use crate::tui::modal::Modal;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::count;
use crate::words::why;

/// What comes of a key.
#[derive(Debug)]
pub(super) enum Decision {
    /// It is done.
    Now(Vec<Wish>),
    /// It is done after a yes to this question.
    Ask(String, Vec<Wish>),
    /// It cannot be done; why, and what can be done instead, at some length.
    Explain(String),
    /// It cannot be done; why.
    No(String),
}

impl Decision {
    /// Refuses with a reason.
    pub(super) fn no(why: impl Into<String>) -> Self {
        Self::No(why.into())
    }

    /// Returns what the model is to grant.
    pub(super) fn wishes(self) -> Vec<Wish> {
        match self {
            Self::Now(wishes) => wishes,
            Self::Ask(question, yes) => {
                vec![Wish::Open(Box::new(Modal::confirm(question, yes, None)))]
            }
            Self::Explain(text) => {
                vec![Wish::Open(Box::new(Modal::message("message", text, None)))]
            }
            Self::No(why) => vec![Wish::Flash(why, Tone::Warning)],
        }
    }

    /// Sends a command, and says so until the answer comes.
    pub(super) fn send(command: Command, asked: Asked, flash: String) -> Self {
        Self::Now(sent(command, asked, flash))
    }

    /// Does the same after a yes.
    fn ask(question: String, command: Command, asked: Asked, flash: String) -> Self {
        Self::Ask(question, sent(command, asked, flash))
    }
}

fn sent(command: Command, asked: Asked, flash: String) -> Vec<Wish> {
    vec![Wish::Flash(flash, Tone::Plain), Wish::Ask(Request::Send(command, asked))]
}

/// Agents that can be stopped, by what happens to them.
#[derive(Debug, Default)]
struct Stoppable {
    /// Asked to end.
    live: Vec<AgentId>,
    /// Asked already: killed.
    stopping: Vec<AgentId>,
    /// Taken out of the queue.
    queued: Vec<AgentId>,
}

impl Stoppable {
    fn of(ids: &[AgentId], world: &World) -> Self {
        let mut stoppable = Self::default();
        for row in ids.iter().filter_map(|id| world.row(*id)) {
            match (row.status, &row.phase) {
                (Status::Queued, _) => stoppable.queued.push(row.id),
                (Status::Starting | Status::Running, _) => stoppable.live.push(row.id),
                (Status::Ending, Phase::Reading(_)) | (Status::Ended(_), _) => {}
                (Status::Stopping | Status::Ending, _) => stoppable.stopping.push(row.id),
            }
        }
        stoppable
    }

    fn len(&self) -> usize {
        self.live.len() + self.stopping.len() + self.queued.len()
    }

    /// Asks for all of it: `stop 3 running, kill 1 that is stopping and remove 2 queued?`.
    fn question(&self) -> String {
        let stopping =
            if self.stopping.len() == 1 { "that is stopping" } else { "that are stopping" };
        let mut parts: Vec<String> = [
            ("stop", self.live.len(), "running"),
            ("kill", self.stopping.len(), stopping),
            ("remove", self.queued.len(), "queued"),
        ]
        .into_iter()
        .filter(|(_, number, _)| *number > 0)
        .map(|(verb, number, state)| format!("{verb} {number} {state}"))
        .collect();
        let last = parts.pop().unwrap_or_default();
        if parts.is_empty() {
            format!("{last}?")
        } else {
            format!("{} and {last}?", parts.join(", "))
        }
    }
}

/// Stops or removes agents: one at once, several after a yes.
pub(super) fn stop(ids: &[AgentId], world: &World) -> Decision {
    let stoppable = Stoppable::of(ids, world);
    if stoppable.len() > 1 {
        return ask_stop(stoppable);
    }
    if let Some(id) = stoppable.queued.first() {
        let text = format!("removing {id} from the queue");
        return Decision::send(Command::Remove(*id), Asked::Remove(1), text);
    }
    if let Some(id) = stoppable.stopping.first() {
        let text = format!("killing {id}");
        return Decision::send(Command::Kill(Some(vec![*id])), Asked::Kill(1), text);
    }
    if let Some(id) = stoppable.live.first() {
        let text = format!("stopping {id} · {} again kills it", key_name!(Agents, Stop));
        return Decision::send(Command::Stop(Some(vec![*id])), Asked::Stop(1), text);
    }
    Decision::No(nothing_to_stop(ids, world))
}

/// Stops or removes agents, always after a yes.
pub(super) fn stop_many(ids: &[AgentId], world: &World) -> Decision {
    let stoppable = Stoppable::of(ids, world);
    if stoppable.len() == 0 {
        Decision::No(nothing_to_stop(ids, world))
    } else {
        ask_stop(stoppable)
    }
}

/// Stops or removes the one marked agent while another row is selected: after a yes that names it.
pub(super) fn stop_marked(id: AgentId, world: &World) -> Decision {
    match stop_many(&[id], world) {
        Decision::Ask(question, yes) => Decision::Ask(format!("{id} is marked: {question}"), yes),
        other => other,
    }
}

fn ask_stop(stoppable: Stoppable) -> Decision {
    let question = stoppable.question();
    let number = stoppable.len();
    let ids = [stoppable.queued, stoppable.live, stoppable.stopping].concat();
    let text = format!("stopping {}", count(number, "agent"));
    Decision::ask(question, Command::Stop(Some(ids)), Asked::Stop(number), text)
}

fn nothing_to_stop(ids: &[AgentId], world: &World) -> String {
    match ids {
        [] => "no agent is selected".to_owned(),
        [id] => match world.row(*id) {
            Some(row) if row.status.is_live() => {
                format!("{id} has ended already: its output is still being read")
            }
            _ => format!("{id} has already ended"),
        },
        _ => "nothing to stop: all of them have ended".to_owned(),
    }
}

/// Tries agents again: one at once, several after a yes.
pub(super) fn retry(ids: &[AgentId], world: &World) -> Decision {
    let rows = ids.iter().filter_map(|id| world.row(*id));
    let (can, cannot): (Vec<&Row>, Vec<&Row>) =
        rows.map(AsRef::as_ref).partition(|row| why_no_retry(row).is_none());
    let ids: Vec<AgentId> = can.iter().map(|row| row.id).collect();
    let wish = |ids: Vec<AgentId>| {
        let asked = Asked::Retry(ids.len());
        let command = Command::Retry(BatchId::from_bits(fastrand::u32(..)), ids);
        (command, asked)
    };
    match (ids.as_slice(), cannot.as_slice()) {
        ([], []) => Decision::no("no agent is selected"),
        ([], [one]) => Decision::No(why_no_retry(one).unwrap_or_default()),
        ([], [first, ..]) => {
            let why = why_no_retry(first).unwrap_or_default();
            Decision::No(format!("none of {} can be tried again: {why}", cannot.len()))
        }
        ([id], []) => {
            let text = format!("trying {id} again");
            let (command, asked) = wish(vec![*id]);
            Decision::send(command, asked, text)
        }
        (_, cannot) => {
            let agents = count(ids.len(), "agent");
            let rest = match cannot {
                [] => String::new(),
                [one] => format!(" ({})", why_no_retry(one).unwrap_or_default()),
                more => format!(" ({} more cannot be: live, or tried already)", more.len()),
            };
            let (command, asked) = wish(ids);
            let question = format!("try {agents} again?{rest}");
            Decision::ask(question, command, asked, format!("trying {agents} again"))
        }
    }
}

/// Returns why an agent cannot be tried again.
fn why_no_retry(row: &Row) -> Option<String> {
    let id = row.id;
    if !row.status.is_ended() {
        return Some(format!("{id} has not ended: there is nothing to try again"));
    }
    if let Some(by) = row.retried_by {
        return Some(format!("{id} is already tried again as {by}"));
    }
    if !row.task.env_stored.is_empty() {
        let names = why::head(&row.task.env_stored.join(", "));
        return Some(format!("the values of {names} for {id} are not kept: submit it again"));
    }
    None
}

/// Moves a queued task.
pub(super) fn moved(direction: Direction) -> impl FnOnce(&Row, &World) -> Decision {
    move |row, world| {
        if let Some(refusal) = why_not_queued(row, "moved") {
            return Decision::No(refusal);
        }
        let is_at_end = match direction {
            Direction::Up | Direction::First => world.snapshot.queue.first() == Some(&row.id),
            Direction::Down | Direction::Last => world.snapshot.queue.last() == Some(&row.id),
        };
        if is_at_end {
            let end = if direction == Direction::Up { "next" } else { "last" };
            return Decision::No(format!("{} is {end} already", row.id));
        }
        let queue = &world.snapshot.queue;
        let at = queue.iter().position(|id| *id == row.id).unwrap_or_default();
        let to = match direction {
            Direction::Up => at.saturating_sub(1),
            Direction::Down => at + 1,
            Direction::First => 0,
            Direction::Last => queue.len().saturating_sub(1),
        };
        let way = if to < at { "up" } else { "down" };
        let text =
            format!("{} moved {way}, now {} of {} queued", row.id, ordinal(to + 1), queue.len());
        Decision::send(Command::Move(row.id, direction), Asked::Move, text)
    }
}

/// Returns a place as a person says it: `1st`, `2nd`, `11th`.
pub(super) fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// Takes a queued task into the editor.
pub(super) fn edit(row: &Row, _: &World) -> Decision {
    match why_not_queued(row, "edited") {
        Some(refusal) => Decision::No(refusal),
        None => Decision::Now(vec![Wish::EditQueued(row.id)]),
    }
}

fn why_not_queued(row: &Row, what: &str) -> Option<String> {
    let has = if row.status.is_ended() { "ended" } else { "started" };
    let is_queued = row.status == Status::Queued;
    (!is_queued).then(|| format!("{} has {has}: only queued tasks can be {what}", row.id))
}

/// Asks for what an agent is to be told, or says what can be done instead.
pub(super) fn message(row: &Row, world: &World) -> Decision {
    let kind = why::head(&row.task.kind.0);
    let id = row.id;
    let talk = talk(&row.task);
    let tell = || Decision::Now(vec![Wish::Open(Box::new(Modal::tell(id, world)))]);
    match row.status {
        Status::Queued => Decision::No(format!(
            "{id} has not started: {} edits its task",
            key_name!(Agents, EditQueued)
        )),
        Status::Running if talk.messages => tell(),
        Status::Ended(_) if talk.resumes && row.session.is_some() => tell(),
        Status::Starting | Status::Stopping | Status::Ending if talk.messages => {
            let word = if row.status == Status::Starting { "just starting" } else { "ending" };
            Decision::No(format!("{id} is {word}: tell it in a moment"))
        }
        Status::Ended(_) => {
            Decision::No(format!("{id} has ended: {} tries it again", key_name!(Agents, Retry)))
        }
        Status::Starting | Status::Running | Status::Stopping | Status::Ending => {
            let later = if talk.resumes {
                format!("{} then goes on in its session", key_name!(Agents, Message))
            } else {
                "then submit a new task".to_owned()
            };
            Decision::Explain(format!(
                "{kind} takes no messages while it works. To tell {id} something, stop it with {} and submit its task \
                 again with what it should know; or wait for its end: {later}.",
                key_name!(Agents, Stop)
            ))
        }
    }
}

/// Opens the output in the pager.
pub(super) fn show_file(row: &Row, world: &World) -> Decision {
    if row.started.is_none() {
        return Decision::No(format!("{} has not run: there is no output", row.id));
    }
    Decision::Now(vec![Wish::Ask(Request::ShowFile(world.agent_dir(row.id).out()))])
}

/// Opens the output in the editor.
pub(super) fn edit_file(row: &Row, world: &World) -> Decision {
    match show_file(row, world) {
        Decision::Now(_) => {
            Decision::Now(vec![Wish::Ask(Request::EditFile(world.agent_dir(row.id).out()))])
        }
        refusal => refusal,
    }
}

/// Copies the path of the output.
pub(super) fn copy_path(row: &Row, world: &World) -> Decision {
    if row.started.is_none() {
        return Decision::No(format!("{} has not run: there is no output", row.id));
    }
    let path = world.agent_dir(row.id).out().to_string_lossy().into_owned();
    let what = format!("path of the output of {}", row.id);
    Decision::Now(vec![Wish::Ask(Request::Copy(path, what))])
}
