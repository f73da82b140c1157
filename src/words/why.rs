//! State of an agent with its reason: a few words for a row, a sentence for whoever wants to know.
//!
//! What may go here: words from a row and a moment. What may not: names of keys, layout, colours.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::core::{Header, Hold, Moment, Outcome, Phase, Row, Status, Waits};
use crate::runtime::to_type;
use crate::words::changed_files::source;
use crate::words::doubt::{in_doubt, running_away, silence};
use crate::words::plain_text::{count, cut_graphemes, one_line};
use crate::words::time_text::{age, duration, local};

/// Characters of a text from outside that are looked at; no line shows more, and a task can be a megabyte.
const LOOKED_AT: usize = 1024;
/// Changed files that a row names (upstream A10).
const FILES: usize = 3;
/// Graphemes of what a tool does, so that how long it has been doing it stays in sight.
pub(crate) const TOOL_TEXT: usize = 48;

/// Returns a text from outside on one clean line, without looking at all of a huge one.
pub fn head(text: &str) -> String {
    let head: String = text.chars().take(LOOKED_AT).collect();
    one_line(&head)
}

/// Returns the word of a state as people read it: `over budget`.
pub fn word(status: Status) -> String {
    spoken(status.as_str())
}

/// Returns a name that machines read, of a state, an outcome or a reason, as people read it.
pub fn spoken(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns the state with its reason in a few words: `running · in bash: cargo test for 42s`, `queued · waits: slot`.
/// `place` is that of a queued agent in the queue, from 1. Changed files are named only if `names_files`.
pub fn state(row: &Row, now: Moment, place: Option<usize>, names_files: bool) -> String {
    let state = plain_state(row, now, place, names_files);
    match row.transcript_trouble {
        Some(_) => format!("{state} · transcript not complete"),
        None => state,
    }
}

fn plain_state(row: &Row, now: Moment, place: Option<usize>, names_files: bool) -> String {
    let word = word(row.status);
    if let Some(reason) = reason(row, now, place) {
        return format!("{word} · {reason}");
    }
    match &row.phase {
        Phase::Waits(_)
        | Phase::Works
        | Phase::InTool { .. }
        | Phase::Retries(..)
        | Phase::Interrupted(_) => word,
        Phase::Stopping(_, asked) => {
            let why = if row.stalled { " stalled," } else { "" };
            format!("{word}:{why} asked {} ago", age(now.since(*asked)))
        }
        Phase::LeftBehind(number) => format!("{word} · {number} left behind"),
        Phase::Reading(bytes) => format!("{word} · reading {}", size(*bytes)),
        Phase::Over => over(row, &word, names_files),
    }
}

/// Returns the reason of a state whose word can be left out, since the reason says as much: `waits: slot · 2nd`,
/// `in bash: cargo test for 42s`; `None` for any other state.
pub fn reason(row: &Row, now: Moment, place: Option<usize>) -> Option<String> {
    match &row.phase {
        Phase::Waits(waits) => Some(format!("{}{}", waits_for(waits, row), in_line(waits, place))),
        Phase::Works | Phase::InTool { .. } | Phase::Retries(..) => running_away(row)
            .or_else(|| Some(marked(row, &doing(row, now)?)))
            .or_else(|| Some(marked(row, &silence(row, now)?))),
        Phase::Interrupted(since) => {
            let since = age(now.since(*since));
            Some(marked(row, &format!("interrupted {since} ago, waits for a message")))
        }
        Phase::Stopping(..) | Phase::LeftBehind(_) | Phase::Reading(_) | Phase::Over => None,
    }
}

/// Returns what an agent is doing, with the mark of one that may not get on.
fn marked(row: &Row, doing: &str) -> String {
    let mark = if row.stalled {
        "stalled? "
    } else if row.is_marked() {
        "stuck? "
    } else {
        ""
    };
    format!("{mark}{doing}")
}

/// Returns what an agent is in the middle of, or tries again.
fn doing(row: &Row, now: Moment) -> Option<String> {
    retrying(row, now).or_else(|| in_tool(row, now))
}

/// Returns the place in the queue as it stands behind a reason; what is next needs none, and neither does the first.
fn in_line(waits: &Waits, place: Option<usize>) -> String {
    place
        .filter(|place| *place > 1 && *waits != Waits::Next)
        .map(|place| format!(" · {}", ordinal(place)))
        .unwrap_or_default()
}

fn over(row: &Row, word: &str, names_files: bool) -> String {
    let error = row.end.as_ref().map(|end| head(&end.error)).unwrap_or_default();
    let unparsed = if row.unparsed { ", unparsed" } else { "" };
    if !error.is_empty() {
        return format!("{word}{unparsed}: {error}");
    }
    let cut = if row.end.as_ref().is_some_and(|end| end.truncated) { ", cut off" } else { "" };
    if names_files && !row.files_changed.is_empty() {
        return format!("{word}{cut}{unparsed} · {}", files(row));
    }
    format!("{word}{cut}{unparsed}")
}

/// Returns the first changed files of an agent on one line, and how many more there are.
pub fn files(row: &Row) -> String {
    let mut names: Vec<String> =
        row.files_changed.iter().take(FILES).map(|name| head(name)).collect();
    let more = row.files_changed.len() - names.len();
    if more > 0 {
        names.push(format!("+{more} more"));
    }
    names.join(" ")
}

/// Returns what an agent is in the middle of: `in bash: cargo test for 42s`; `None` outside a tool.
pub fn in_tool(row: &Row, now: Moment) -> Option<String> {
    let Phase::InTool { tool, text, since } = &row.phase else { return None };
    let text = cut_graphemes(&head(text), TOOL_TEXT);
    let colon = if text.is_empty() { "" } else { ": " };
    Some(format!("in {}{colon}{text} for {}", head(tool), age(now.since(*since))))
}

/// Returns what an agent tries again: `retrying 2m: 401, 4 of 10`; `None` for one that does not.
pub fn retrying(row: &Row, now: Moment) -> Option<String> {
    let Phase::Retries(retry, since) = &row.phase else { return None };
    let count = match (retry.attempt, retry.most) {
        (Some(attempt), Some(most)) => format!(", {attempt} of {most}"),
        (Some(attempt), None) => format!(", attempt {attempt}"),
        (None, _) => String::new(),
    };
    let cause = cut_graphemes(&head(&retry.cause), TOOL_TEXT);
    Some(format!("retrying {}: {cause}{count}", age(now.since(*since))))
}

/// Returns how long a live agent has shown no sign of progress; `None` for one that does not live, even if what it wrote
/// is still being read.
pub fn quiet(row: &Row, now: Moment) -> Option<Duration> {
    let lives = row.status.is_live() && !matches!(row.phase, Phase::Reading(_));
    // Nobody knows it of an earlier moment of the run.
    let since = row.progress.filter(|_| lives)?;
    Some(now.since(since))
}

fn waits_for(waits: &Waits, row: &Row) -> String {
    match waits {
        Waits::Next => "next".to_owned(),
        Waits::Slot => "waits: slot".to_owned(),
        Waits::Local => "waits: local engine".to_owned(),
        Waits::Hold | Waits::Held => "waits: held".to_owned(),
        Waits::Cap => "waits: cap".to_owned(),
        Waits::Reserved => "waits: reserved".to_owned(),
        Waits::Kind(cause) => format!("waits: {} held, {}", head(&row.task.kind.0), head(cause)),
        Waits::Env(names) => format!("needs {}", head(&names.join(", "))),
        Waits::NotSaved => "waits: not saved".to_owned(),
        Waits::Ending => "waits: fleet is ending".to_owned(),
        Waits::Host => "waits: no host".to_owned(),
    }
}

/// Returns the whole reason in words that need no knowledge of Fleet, without number and task.
/// Moments are told as in `zone`.
pub fn sentence(
    row: &Row,
    header: &Header,
    now: Moment,
    place: Option<usize>,
    zone: &TimeZone,
) -> String {
    let mut parts = vec![told(row, header, now, zone)];
    if let (Some(place), Status::Queued) = (place, row.status) {
        parts.push(format!("{} of {} in the queue", ordinal(place), header.kpis.queued));
    }
    if row.stalled && row.status.is_live() {
        parts.push("stalled? no progress for longer than it should take".to_owned());
    }
    parts.extend(in_doubt(row, now));
    if let Some(quiet) = quiet(row, now) {
        parts.push(format!("last sign of life {} ago", age(quiet)));
    }
    if let Some(end) = &row.end {
        if end.truncated {
            parts.push("its answer was cut off by a limit".to_owned());
        }
        if !end.swept.is_empty() {
            let names: Vec<String> = end.swept.iter().take(FILES).map(|name| head(name)).collect();
            parts.push(format!("{} left behind, ended: {}", end.swept.len(), names.join(" ")));
        }
        if end.escalated {
            parts.push("had to be killed".to_owned());
        }
        if let Some(path) = &end.tails.diagnostic {
            parts.push(format!("it printed nothing: what is known is in {}", head(path)));
        }
    }
    if row.unparsed {
        parts.push("its result could not be read in full".to_owned());
    }
    if !row.files_changed.is_empty() {
        let source = source(row).map(|source| format!(" ({source})")).unwrap_or_default();
        parts.push(format!("changed {}{source}", files(row)));
    }
    if row.anomalies > 0 {
        let lines = count(usize::try_from(row.anomalies).unwrap_or(usize::MAX), "line");
        parts.push(format!("{lines} of output not understood"));
    }
    parts.extend(row.task.continues.as_ref().map(|from| format!("goes on from {}", from.agent)));
    parts.extend(unheard(row));
    if let Some(why) = &row.transcript_trouble {
        parts.push(format!("its transcript is not complete: {}", head(why)));
    }
    parts.extend(row.retry_of.map(|id| format!("tries {id} again")));
    parts.extend(row.retried_by.map(|id| format!("tried again as {id}")));
    parts.join(" · ")
}

/// Returns what of the messages to an agent it has not taken up, with their beginning; `None` if there is nothing.
pub fn unheard(row: &Row) -> Option<String> {
    let first = row.unheard.first()?;
    let messages = count(row.unheard.len(), "message");
    let (was, not) = match (row.status.is_ended(), row.unheard.len()) {
        (true, 1) => ("was", "delivered"),
        (true, _) => ("were", "delivered"),
        (false, 1) => ("is", "taken up yet"),
        (false, _) => ("are", "taken up yet"),
    };
    Some(format!("{messages} {was} not {not}: {}", head(first)))
}

fn told(row: &Row, header: &Header, now: Moment, zone: &TimeZone) -> String {
    let word = word(row.status);
    let ran = duration(row.elapsed(now));
    match &row.phase {
        Phase::Waits(waits) => format!("{word}: {}", waits_because(waits, row, header, zone)),
        Phase::Works => format!("{word} for {ran}"),
        Phase::InTool { .. } => {
            format!("{word} for {ran} · {}", in_tool(row, now).unwrap_or_default())
        }
        Phase::Retries(..) => {
            format!("{word} for {ran} · {}", retrying(row, now).unwrap_or_default())
        }
        Phase::Interrupted(since) => format!(
            "{word} for {ran} · its turn was interrupted {} ago, and it waits for a message",
            age(now.since(*since))
        ),
        Phase::Stopping(why, asked) => {
            format!("{word}: asked to end {} ago, {}", age(now.since(*asked)), head(why))
        }
        Phase::LeftBehind(0) => format!("{word}: its processes are being waited for"),
        Phase::LeftBehind(number) => {
            let processes = if *number == 1 { "process" } else { "processes" };
            format!("{word}: it has ended, {number} {processes} that it left behind must go")
        }
        Phase::Reading(bytes) => {
            format!("{word}: it has ended, {} of its output are still to be read", size(*bytes))
        }
        Phase::Over => match row.end.as_ref().map(|end| head(&end.error)) {
            Some(error) if !error.is_empty() => {
                let after = row.started.map(|_| format!(" after {ran}"));
                format!("{word}{}: {error}", after.unwrap_or_default())
            }
            _ if row.started.is_some() => format!("{word} after {ran}"),
            _ => word,
        },
    }
}

fn waits_because(waits: &Waits, row: &Row, header: &Header, zone: &TimeZone) -> String {
    match waits {
        Waits::Next => "it starts next".to_owned(),
        Waits::Slot => match header.max_parallel {
            Some(1) => "one agent runs at a time".to_owned(),
            Some(most) => format!("{most} agents run at once, and all slots are taken"),
            None => "all slots are taken".to_owned(),
        },
        Waits::Local => "the local engine is busy with another agent".to_owned(),
        Waits::Hold => header
            .hold
            .as_ref()
            .map_or_else(|| "the queue is held".to_owned(), |hold| held(hold, zone)),
        Waits::Cap => "the cap is reached".to_owned(),
        Waits::Reserved => "what runs may use up what is left under the cap".to_owned(),
        Waits::Held => "it is held by itself, until it is released".to_owned(),
        Waits::Kind(cause) => {
            format!("{} is held until it is released: {}", head(&row.task.kind.0), head(cause))
        }
        Waits::Env(names) => {
            format!("its set needs {}: set it and resume the fleet", head(&names.join(", ")))
        }
        Waits::NotSaved => "the journal cannot be written, so nothing starts".to_owned(),
        Waits::Ending => "the fleet is ending, so nothing starts".to_owned(),
        Waits::Host => {
            let command = to_type(format_args!("resume {}", header.fleet));
            format!("nobody hosts the fleet, so nothing starts: `{command}` goes on")
        }
    }
}

/// Returns why the queue is held; moments are told as in `zone`.
pub fn held(hold: &Hold, zone: &TimeZone) -> String {
    match hold {
        Hold::Owner => "held".to_owned(),
        Hold::Back(since) => format!("held: waiting since {}", local(*since, zone)),
        Hold::Cap => "held at the cap".to_owned(),
        Hold::Interrupted(signal) => format!("held ({})", head(signal)),
        Hold::NotSaved(why) => format!("not saved, nothing starts: {}", head(why)),
    }
}

/// Says whether an agent waits for a decision of its owner: it may not get on, was interrupted, lacks a variable, or ended in a way
/// that nobody asked for and has not been tried again.
pub fn needs_owner(row: &Row) -> bool {
    match row.status {
        Status::Queued => matches!(row.phase, Phase::Waits(Waits::Env(_))),
        Status::Starting | Status::Running | Status::Stopping | Status::Ending => {
            row.is_marked() || matches!(row.phase, Phase::Interrupted(_))
        }
        Status::Ended(outcome) => match outcome {
            Outcome::Failed
            | Outcome::Timeout
            | Outcome::Stalled
            | Outcome::OverBudget
            | Outcome::Lost => row.retried_by.is_none(),
            Outcome::Done | Outcome::Cancelled | Outcome::Interrupted | Outcome::Dropped => false,
        },
    }
}

/// From this size on an output is called large: a disk that agents share is full soon.
const LARGE: u64 = 1_000_000_000;

/// Says whether an output is so large that its owner should know.
pub fn is_large(bytes: u64) -> bool {
    bytes >= LARGE
}

/// Returns a size as people say it: `512 bytes`, `1.2 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return count(usize::try_from(bytes).unwrap_or_default(), "byte");
    }
    let mut tenths = bytes / 100;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if tenths < 10_000 {
            break;
        }
        tenths /= 1000;
        unit = larger;
    }
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::AgentId;
    use crate::core::testing::{end, row, snapshot};

    const NOW: Moment = Moment(43_000);

    fn queued(waits: Waits) -> Row {
        let mut queued = row(5);
        queued.status = Status::Queued;
        queued.phase = Phase::Waits(waits);
        queued.started = None;
        queued.progress = None;
        queued
    }

    fn header() -> Header {
        snapshot(1, vec![queued(Waits::Slot)]).header
    }

    fn live(status: Status, phase: Phase) -> Row {
        Row { status, phase, ..row(1) }
    }

    #[test]
    fn a_transcript_that_could_not_be_written_shows_in_the_row_and_in_the_sentence() {
        let mut works = live(Status::Running, Phase::Works);
        assert_eq!(state(&works, NOW, None, false), "running");
        works.transcript_trouble = Some("could not write /f/t: disk\u{1b}[2J full".into());
        assert_eq!(state(&works, NOW, None, false), "running · transcript not complete");
        let text = sentence(&works, &header(), NOW, None, &TimeZone::UTC);
        let expected = "its transcript is not complete: could not write /f/t: disk full";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn an_agent_that_has_ended_gives_no_sign_of_life_while_its_output_is_read() {
        let reading = live(Status::Ending, Phase::Reading(6_300_000_000));
        let text = sentence(&reading, &header(), NOW, None, &TimeZone::UTC);
        assert!(text.contains("6.3 GB of its output"), "{text}");
        assert!(!text.contains("sign of life"), "{text}");
    }

    #[test]
    fn every_state_of_a_live_agent_has_its_reason() {
        let tool = Phase::InTool {
            tool: "bash".into(),
            text: "cargo\u{1b}[31m test\n".into(),
            since: Moment(1_000),
        };
        let mut stalled = row(1);
        stalled.stalled = true;
        let cases = [
            (live(Status::Running, tool), "running · in bash: cargo test for 42s"),
            (row(1), "running"),
            (stalled, "running · stalled? quiet for 42s"),
            (
                live(Status::Running, Phase::Interrupted(Moment(40_000))),
                "running · interrupted 3s ago, waits for a message",
            ),
            (
                live(Status::Stopping, Phase::Stopping("x".into(), Moment(40_000))),
                "stopping: asked 3s ago",
            ),
            (
                Row {
                    stalled: true,
                    ..live(Status::Stopping, Phase::Stopping("x".into(), Moment(40_000)))
                },
                "stopping: stalled, asked 3s ago",
            ),
            (live(Status::Ending, Phase::LeftBehind(2)), "ending · 2 left behind"),
            (live(Status::Ending, Phase::Reading(1_234_567_890)), "ending · reading 1.2 GB"),
            (queued(Waits::Next), "queued · next"),
            (queued(Waits::Host), "queued · waits: no host · 3rd"),
            (queued(Waits::Reserved), "queued · waits: reserved · 3rd"),
            (queued(Waits::Kind("bad key".into())), "queued · waits: sh held, bad key · 3rd"),
            (queued(Waits::Env(vec!["A".into(), "B".into()])), "queued · needs A, B · 3rd"),
        ];
        for (row, words) in cases {
            assert_eq!(state(&row, NOW, Some(3), true), words);
        }
    }

    #[test]
    fn a_reason_stands_for_its_state_where_there_is_little_room() {
        assert_eq!(
            reason(&queued(Waits::Slot), NOW, Some(2)),
            Some("waits: slot · 2nd".to_owned())
        );
        assert_eq!(reason(&queued(Waits::Slot), NOW, Some(1)), Some("waits: slot".to_owned()));
        let stalled = Row { stalled: true, ..row(1) };
        assert_eq!(reason(&stalled, NOW, None), Some("stalled? quiet for 42s".to_owned()));
        let tool = Phase::InTool { tool: "bash".into(), text: String::new(), since: Moment(1_000) };
        let stalled = Row { stalled: true, ..live(Status::Running, tool) };
        assert_eq!(reason(&stalled, NOW, None), Some("stalled? in bash for 42s".to_owned()));
        // With several free slots the second is next as well.
        assert_eq!(reason(&queued(Waits::Next), NOW, Some(2)), Some("next".to_owned()));
        assert_eq!(reason(&row(1), NOW, None), None);
    }

    #[test]
    fn an_ended_agent_says_what_it_changed_or_what_went_wrong() {
        let mut done = end(row(1), Outcome::Done, "");
        done.files_changed = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(state(&done, NOW, None, true), "done · a b c +1 more");
        assert_eq!(state(&done, NOW, None, false), "done");
        let over = end(row(1), Outcome::OverBudget, "went past\nits budget");
        assert_eq!(state(&over, NOW, None, true), "over budget: went past its budget");
    }

    #[test]
    fn the_reason_of_one_that_ended_without_a_word_names_the_file_with_what_is_known() {
        let mut silent = end(row(1), Outcome::Failed, "exit code 3");
        let told = |row: &Row| sentence(row, &header(), NOW, None, &TimeZone::UTC);
        assert_eq!(told(&silent), "failed after 12s: exit code 3");
        silent.end.as_mut().unwrap().tails.diagnostic = Some("/f/diagnostic.txt".into());
        assert!(
            told(&silent).ends_with("it printed nothing: what is known is in /f/diagnostic.txt"),
            "{}",
            told(&silent)
        );
    }

    /// C-32, where a person sees it.
    #[test]
    fn a_result_that_could_not_be_read_is_flagged() {
        let flagged = |outcome, error: &str| Row { unparsed: true, ..end(row(1), outcome, error) };
        let done = flagged(Outcome::Done, "");
        assert_eq!(state(&done, NOW, None, true), "done, unparsed");
        assert_eq!(state(&flagged(Outcome::Failed, "no"), NOW, None, true), "failed, unparsed: no");
        let changed = Row { files_changed: vec!["a".into()], ..done };
        assert_eq!(state(&changed, NOW, None, true), "done, unparsed · a");
        let told = sentence(&changed, &header(), NOW, None, &TimeZone::UTC);
        assert!(told.contains("its result could not be read in full"), "{told}");
        assert_eq!(state(&end(row(1), Outcome::Done, ""), NOW, None, true), "done");
    }

    #[test]
    fn the_sentence_says_why_and_what_came_of_it() {
        let mut failed = end(row(2), Outcome::Failed, "exit code 1");
        failed.retried_by = Some(AgentId(9));
        if let Some(end) = &mut failed.end {
            end.swept = vec!["sleep".into()];
        }
        assert_eq!(
            sentence(&failed, &header(), NOW, None, &TimeZone::UTC),
            "failed after 12s: exit code 1 · 1 left behind, ended: sleep · tried again as #9"
        );
        assert_eq!(
            sentence(&queued(Waits::Host), &header(), NOW, Some(1), &TimeZone::UTC),
            "queued: nobody hosts the fleet, so nothing starts: `fleet resume k3f` goes on · 1st of 1 in the queue"
        );
        assert_eq!(
            sentence(&queued(Waits::Slot), &header(), NOW, Some(1), &TimeZone::UTC),
            "queued: 4 agents run at once, and all slots are taken · 1st of 1 in the queue"
        );
        assert_eq!(
            sentence(
                &live(Status::Ending, Phase::LeftBehind(1)),
                &header(),
                NOW,
                None,
                &TimeZone::UTC
            ),
            "ending: it has ended, 1 process that it left behind must go · last sign of life 42s ago"
        );
    }

    #[test]
    fn what_went_wrong_needs_its_owner_until_it_is_tried_again() {
        let mut failed = end(row(1), Outcome::Failed, "x");
        assert!(needs_owner(&failed));
        failed.retried_by = Some(AgentId(2));
        assert!(!needs_owner(&failed));
        assert!(!needs_owner(&end(row(1), Outcome::Cancelled, "x")));
        assert!(!needs_owner(&row(1)));
        assert!(needs_owner(&Row { stalled: true, ..row(1) }));
        assert!(needs_owner(&queued(Waits::Env(vec!["KEY".into()]))));
        assert!(!needs_owner(&queued(Waits::Slot)));
    }

    #[test]
    fn sizes_have_two_digits_that_matter() {
        let sizes = [0, 1, 999, 1_000, 9_949, 12_345, 999_999, 1_000_000, 1_234_567_890, u64::MAX];
        let words = [
            "0 bytes",
            "1 byte",
            "999 bytes",
            "1.0 kB",
            "9.9 kB",
            "12 kB",
            "999 kB",
            "1.0 MB",
            "1.2 GB",
            "18446 PB",
        ];
        assert_eq!(sizes.map(size), words);
    }

    #[test]
    fn places_in_line_are_spoken_as_people_do() {
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]
        );
    }
}
