//! What is said of an agent that does not get on, or of which nothing is heard.
//!
//! What may go here: words from the marks of a row. What may not: when there is a mark.

use std::time::Duration;

use crate::core::{Doubt, Moment, Row};
use crate::words::plain_text::cut_graphemes;
use crate::words::time_text::age;
use crate::words::why::{TOOL_TEXT, head, quiet};

/// An agent that has been silent for less thinks, and nobody need know.
const SILENCE: Duration = Duration::from_mins(1);

/// Returns what an agent does without getting on: `runaway? 40 retries in 20s: 401`, `waits for input? "Password:"`; `None` for one that does not.
pub fn running_away(row: &Row) -> Option<String> {
    match row.doubt.as_ref().filter(|_| row.is_marked())? {
        Doubt::Failing { times, over, cause } => {
            let cause = cut_graphemes(&head(cause), TOOL_TEXT);
            Some(format!("runaway? {times} retries in {}: {cause}", age(*over)))
        }
        Doubt::Repeating { times, tool, text } => {
            let text = cut_graphemes(&head(text), TOOL_TEXT);
            let colon = if text.is_empty() { "" } else { ": " };
            Some(format!("runaway? {} failed {times} times in a row{colon}{text}", head(tool)))
        }
        Doubt::NoEvent => None,
        Doubt::WaitsForInput { prompt } => {
            Some(format!("waits for input? \"{}\"", cut_graphemes(&head(prompt), TOOL_TEXT)))
        }
    }
}

/// Returns that nothing is heard of an agent: `no event for 4m` of one that writes events, else `quiet for 4m`; `None`
/// for one that has been heard of lately, unless it is marked.
pub fn silence(row: &Row, now: Moment) -> Option<String> {
    let quiet = quiet(row, now)?;
    let is_told = |silence: &Duration| *silence >= SILENCE || row.is_marked();
    // What has no events of its own may tell one all the same, with the line protocol, and none for hours.
    let event = row.event.filter(|_| row.task.traits.prompt && !row.stalled);
    match event {
        Some(event) => {
            let silence = Some(now.since(event)).filter(is_told)?;
            Some(format!("no event for {}", age(silence)))
        }
        None => Some(quiet).filter(is_told).map(|quiet| format!("quiet for {}", age(quiet))),
    }
}

/// Returns why an agent is marked that makes progress, as far as can be seen.
pub fn in_doubt(row: &Row, now: Moment) -> Option<String> {
    if row.doubt == Some(Doubt::NoEvent) && row.is_marked() && !row.stalled {
        let silence = silence(row, now)?;
        return Some(format!("stuck? it writes, but {silence}"));
    }
    running_away(row)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::core::testing::{end, row, snapshot};
    use crate::core::{Header, Outcome, Phase, Retry, Status};
    use crate::words::why::{needs_owner, reason, sentence, state};

    const NOW: Moment = Moment(43_000);

    fn header() -> Header {
        snapshot(1, vec![row(1)]).header
    }

    fn live(status: Status, phase: Phase) -> Row {
        Row { status, phase, ..row(1) }
    }

    #[test]
    fn an_agent_that_does_not_get_on_says_so_instead_of_what_it_does() {
        let failing = |cause: &str| Doubt::Failing {
            times: 40,
            over: Duration::from_secs(20),
            cause: cause.to_owned(),
        };
        let doubtful = |doubt: Doubt, phase: Phase| {
            let row = Row { doubt: Some(doubt), ..live(Status::Running, phase) };
            assert!(needs_owner(&row));
            reason(&row, NOW, None).unwrap()
        };
        assert_eq!(doubtful(failing("401"), Phase::Works), "runaway? 40 retries in 20s: 401");
        let retry = Retry { cause: "401".to_owned(), ..Default::default() };
        let retries = Phase::Retries(retry, Moment(42_000));
        let hostile = failing("a\u{1b}[2J\u{202e}b\nc");
        assert_eq!(doubtful(hostile, retries), "runaway? 40 retries in 20s: ab c");
        let (tool, text) = ("bash".to_owned(), "make".to_owned());
        let repeating = Doubt::Repeating { times: 12, tool, text };
        let words = "runaway? bash failed 12 times in a row: make";
        assert_eq!(doubtful(repeating.clone(), Phase::Works), words);
        let asks = |prompt: &str| Doubt::WaitsForInput { prompt: prompt.to_owned() };
        let words_of_asking = "waits for input? \"Name?\"";
        assert_eq!(doubtful(asks("Name? "), Phase::Works), words_of_asking);
        let hostile = asks("\u{1b}[2J\u{202e}a\u{7}b: ");
        assert_eq!(doubtful(hostile, Phase::Works), "waits for input? \"ab:\"");
        let row = Row { doubt: Some(repeating), ..row(1) };
        let told = sentence(&row, &header(), NOW, None, &TimeZone::UTC);
        assert!(told.contains(words), "{told}");
        // A mark of one that has ended is none.
        let over = Row { doubt: Some(failing("401")), ..end(row, Outcome::Done, "") };
        assert!(!needs_owner(&over));
        assert_eq!(state(&over, NOW, None, false), "done");
    }

    #[test]
    fn an_agent_that_is_silent_says_for_how_long() {
        let at = |seconds: u64| Moment(seconds * 1_000);
        let mut silent = live(Status::Running, Phase::Works);
        assert_eq!(reason(&silent, at(60), None), None);
        assert_eq!(reason(&silent, at(241), None).as_deref(), Some("quiet for 4m"));
        // It writes, but that tells nothing.
        let mut task = silent.task.as_ref().clone();
        task.traits.prompt = true;
        silent.task = std::sync::Arc::new(task);
        (silent.event, silent.progress) = (Some(at(2)), Some(at(240)));
        assert_eq!(reason(&silent, at(242), None).as_deref(), Some("no event for 4m"));
        silent.doubt = Some(Doubt::NoEvent);
        assert_eq!(reason(&silent, at(242), None).as_deref(), Some("stuck? no event for 4m"));
        let told = sentence(&silent, &header(), at(242), None, &TimeZone::UTC);
        assert!(told.contains("stuck? it writes, but no event for 4m"), "{told}");
        // With no sign at all, that is what counts.
        (silent.progress, silent.stalled) = (Some(at(2)), true);
        assert_eq!(reason(&silent, at(242), None).as_deref(), Some("stalled? quiet for 4m"));
    }
}
