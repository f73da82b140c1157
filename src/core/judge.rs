//! The verdict over an ended agent: Fleet's own stop first, then the shim's word, then the agent's, then exit code
//! and signal.

use std::time::Duration;

use super::agent::{AgentState, Stall, StopReason};
use super::event::{ProcessEnd, Tails, TreeEnd};
use super::fact::AgentResult;
use super::fleet::Fleet;
use super::id::AgentId;
use super::outcome::{End, ExitReason, Outcome};
use super::task::Task;

/// An error text in a row is one line of at most this many characters.
const ERROR_CHARS: usize = 400;
/// Characters of a tool's name in it.
const TOOL_CHARS: usize = 48;

/// Decides how an agent ended.
pub(super) fn judge(
    stop: Option<&StopReason>,
    tree: &TreeEnd,
    result: Option<&AgentResult>,
    tails: &Tails,
    task: &Task,
) -> End {
    let (outcome, reason, error) = match (stop, &tree.end) {
        (_, ProcessEnd::NotStarted(why)) => (Outcome::Failed, ExitReason::Spawn, why.clone()),
        (_, ProcessEnd::Lost) => {
            let why = "its shim died without a record, so how it ended is not known";
            (Outcome::Lost, ExitReason::Error, why.to_owned())
        }
        (Some(StopReason::NoProgress(stall)), _) if !tree.owner_stop => {
            by_stall(stall, tree, result, tails, task)
        }
        (Some(StopReason::NoProgress(_)), _) => by_stop(&StopReason::Owner),
        (Some(reason), _) => by_stop(reason),
        (None, _) if tree.timed_out => (Outcome::Timeout, ExitReason::Timeout, String::new()),
        (None, _) if tree.owner_stop => by_stop(&StopReason::Owner),
        (None, _) if tree.orphaned => {
            let why = "there was no host for longer than its --orphan-limit";
            (Outcome::Interrupted, ExitReason::Timeout, why.to_owned())
        }
        (None, _) if tree.signalled => {
            let why = "its shim was told to end by a signal that Fleet did not send";
            (Outcome::Interrupted, ExitReason::Signal, why.to_owned())
        }
        (None, ProcessEnd::Signal(name)) => {
            (Outcome::Failed, ExitReason::Signal, by_signal(name, tails))
        }
        (None, ProcessEnd::Code(code)) => by_word(*code, result, tails, task),
    };
    End {
        outcome,
        reason: Some(reason),
        error: one_line(&error),
        truncated: result.is_some_and(|result| result.truncated),
        at: tree.at,
        process: Some(tree.end.clone()),
        run_time: tree.run_time,
        swept: tree.swept.clone(),
        escalated: tree.escalated,
        tails: Tails::default(),
    }
}

impl Fleet {
    /// Says whether an agent, whose output has been read, ends badly and has printed nothing: nobody can tell why from
    /// that. One that its owner ended, or that never began, needs no explanation.
    pub fn ends_without_a_word(&self, id: AgentId, tails: &Tails) -> bool {
        let Some(agent) = self.agent(id) else { return false };
        let AgentState::Reading { tree, reason } = &agent.state else { return false };
        if tails.out_bytes > 0 || agent.work.result.is_some() {
            return false;
        }
        let end = judge(reason.as_ref(), tree, None, tails, &agent.task);
        match end.outcome {
            Outcome::Failed
            | Outcome::Timeout
            | Outcome::Stalled
            | Outcome::OverBudget
            | Outcome::Lost => end.reason != Some(ExitReason::Spawn),
            Outcome::Done | Outcome::Cancelled | Outcome::Interrupted | Outcome::Dropped => false,
        }
    }
}

/// Returns how an agent ends that Fleet told to stop.
pub(super) fn by_stop(reason: &StopReason) -> (Outcome, ExitReason, String) {
    match reason {
        StopReason::Owner => {
            (Outcome::Cancelled, ExitReason::Signal, "stopped by the owner".to_owned())
        }
        StopReason::CapStop => (
            Outcome::Cancelled,
            ExitReason::Budget,
            "stopped by the owner when the cap was reached".to_owned(),
        ),
        StopReason::Interrupted(signal) => {
            (Outcome::Interrupted, ExitReason::Signal, format!("fleet was ended by {signal}"))
        }
        StopReason::Idle(limit) => (
            Outcome::Timeout,
            ExitReason::Timeout,
            format!("no progress for {} (its idle timeout)", words(*limit)),
        ),
        StopReason::Deadline => {
            (Outcome::Timeout, ExitReason::Timeout, "the fleet's deadline has passed".to_owned())
        }
        StopReason::Budget(budget) => (
            Outcome::OverBudget,
            ExitReason::Budget,
            format!("went past its budget of ${}", budget.to_exact()),
        ),
        StopReason::CapHard(cap) => (
            Outcome::OverBudget,
            ExitReason::Budget,
            format!("the fleet went past its cap of ${} (--cap-hard)", cap.to_exact()),
        ),
        StopReason::Stalled(quiet) => {
            (Outcome::Stalled, ExitReason::Timeout, format!("no progress for {}", words(*quiet)))
        }
        StopReason::NoProgress(stall) => {
            (Outcome::Stalled, ExitReason::Timeout, without_progress(stall))
        }
    }
}

/// Judges an agent that was asked to end because it had stalled. If it did so by itself, within its grace, its own word
/// counts, which is what it told, or of a command its exit code. What it says of an end that the request made is none.
fn by_stall(
    stall: &Stall,
    tree: &TreeEnd,
    result: Option<&AgentResult>,
    tails: &Tails,
    task: &Task,
) -> (Outcome, ExitReason, String) {
    let is_quiet = is_of_request(&tree.end) || tree.end == ProcessEnd::Code(0);
    let is_cut = |result: &&AgentResult| match result.reason {
        Some(ExitReason::Signal) => true,
        // A program that left so and failed for no cause that has a name has no more to say than that it was asked to:
        // some of them leave with 0 then, and it is only said of them that their last word is missing.
        Some(ExitReason::Error) => is_quiet && task.traits.prompt,
        _ => false,
    };
    let told = result.filter(|result| result.completed != Some(false) || !is_cut(result));
    let own = match (&tree.end, told) {
        // It has left as the request wanted it to, and had told how its task went before that.
        (end, Some(told)) if is_of_request(end) => {
            told.completed.map(|_| by_word(0, Some(told), tails, task))
        }
        (ProcessEnd::Code(code), Some(told)) => Some(by_word(*code, Some(told), tails, task)),
        (end @ ProcessEnd::Code(code), None) if !task.traits.prompt && !is_of_request(end) => {
            Some(by_word(*code, None, tails, task))
        }
        (end @ ProcessEnd::Signal(name), _) if !is_of_request(end) && !tree.escalated => {
            Some((Outcome::Failed, ExitReason::Signal, by_signal(name, tails)))
        }
        _ => None,
    };
    own.unwrap_or_else(|| {
        // What it left behind may have been killed as well.
        let is_killed = tree.escalated && !matches!(tree.end, ProcessEnd::Code(_));
        let how = if is_killed && !is_of_request(&tree.end) {
            "it had to be killed"
        } else {
            "it ended when it was asked to, without a result"
        };
        let words = format!("{}; {how}", without_progress(stall));
        (Outcome::Stalled, ExitReason::Timeout, words)
    })
}

/// Says whether an agent ended as programs do that are asked to by a signal: SIGINT or SIGTERM, which are what kinds are
/// asked with.
fn is_of_request(end: &ProcessEnd) -> bool {
    match end {
        ProcessEnd::Code(code) => matches!(code, 130 | 143),
        ProcessEnd::Signal(name) => matches!(name.as_str(), "SIGINT" | "SIGTERM"),
        ProcessEnd::NotStarted(_) | ProcessEnd::Lost => false,
    }
}

/// Returns how long an agent made no progress, how long it could have, where it was, and its grace.
fn without_progress(stall: &Stall) -> String {
    let seconds = Duration::from_secs(stall.quiet.as_secs());
    let quiet = words(if seconds.is_zero() { stall.quiet } else { seconds });
    let (limit, grace) = (words(stall.limit), words(stall.grace));
    let place = stall.tool.as_ref().map_or_else(
        || "between tools".to_owned(),
        |tool| format!("in {}", tool.chars().take(TOOL_CHARS).collect::<String>()),
    );
    format!("no progress for {quiet} (limit {limit}, {place}, grace {grace})")
}

/// Returns the error text of an agent that its own timeout stopped.
pub(super) fn timeout_words(limit: Option<Duration>) -> String {
    limit.map_or_else(
        || "ran longer than its timeout".to_owned(),
        |limit| format!("ran longer than {} (its timeout)", words(limit)),
    )
}

/// Judges an agent that ended by itself with an exit code.
fn by_word(
    code: i32,
    result: Option<&AgentResult>,
    tails: &Tails,
    task: &Task,
) -> (Outcome, ExitReason, String) {
    let error = result.map_or("", |result| result.error.trim());
    let unfinished = result.is_some_and(|result| result.completed == Some(false));
    let reason = result.and_then(|result| result.reason);
    let told = |fallback: ExitReason| match reason {
        Some(ExitReason::Completed) | None => fallback,
        Some(reason) => reason,
    };
    if code != 0 || unfinished || !error.is_empty() {
        let answer = result.filter(|_| unfinished).and_then(|result| result.answer.as_deref());
        let out = tails.out_line.as_deref().filter(|_| result.is_none());
        let text = [Some(error), answer, tails.err_line.as_deref(), out]
            .into_iter()
            .flatten()
            .find(|text| !text.trim().is_empty())
            .map_or_else(|| format!("exit code {code}"), str::to_owned);
        let reason = told(ExitReason::Error);
        return (by_own_limit(reason, task).unwrap_or(Outcome::Failed), reason, text);
    }
    let answer = result.and_then(|result| result.answer.as_deref()).unwrap_or_default().trim();
    if task.traits.must_answer && (answer.is_empty() || answer == "(empty)") {
        let text = "it ended without an answer (no output)";
        return (Outcome::Failed, ExitReason::NoOutput, text.to_owned());
    }
    // Only a limit goes together with success: the agent has done what it could within it.
    let limit = reason.filter(|reason| {
        matches!(reason, ExitReason::MaxSteps | ExitReason::MaxTokens | ExitReason::Budget)
    });
    (Outcome::Done, limit.unwrap_or(ExitReason::Completed), String::new())
}

/// Returns the outcome of an agent that did not get to its end because of a limit that its task set and that its program
/// kept to by itself: the same as when Fleet stops it for that. No other limit has an outcome of its own.
fn by_own_limit(reason: ExitReason, task: &Task) -> Option<Outcome> {
    let is_over_budget = reason == ExitReason::Budget && task.budget.is_some();
    is_over_budget.then_some(Outcome::OverBudget)
}

fn by_signal(name: &str, tails: &Tails) -> String {
    match tails.err_line.as_deref() {
        Some(line) => format!("killed by signal {name}: {line}"),
        None => format!("killed by signal {name}"),
    }
}

/// Reduces an error text to one line (upstream B3): the last line of a traceback, else the first that is not blank.
fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = if text.contains("Traceback (most recent call last)") {
        lines.next_back()
    } else {
        lines.next()
    };
    let line = line.unwrap_or_default();
    if line.chars().count() <= ERROR_CHARS {
        return line.to_owned();
    }
    line.chars().take(ERROR_CHARS - 3).chain("...".chars()).collect()
}

/// Returns a duration in words: `45s`, `2m 5s`, `3h`, and what is not whole seconds as `1500ms`.
pub(super) fn words(span: Duration) -> String {
    if span.subsec_millis() > 0 && span < Duration::from_mins(1) {
        return format!("{}ms", span.as_millis());
    }
    let seconds = span.as_secs();
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let text: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    if text.is_empty() { "0s".to_owned() } else { text.join(" ") }
}
