//! What codex says in words that have something in them: a command line, the cause of a failure.
//!
//! What may go here: taking such texts apart. What may not: events.

use serde_json::value::RawValue;

use crate::adapters::causes;
use crate::adapters::event_stream::{reason_of, text_of, unwrap_error};
use crate::adapters::text::{LINE_CHARS, one_line};
use crate::core::ExitReason;

/// What the message of a stream that was cut begins with; why stands behind it.
pub(super) const DISCONNECTED: &str = "stream disconnected before completion: ";
/// How its commands begin where they are one text.
const SHELLS: [&str; 4] = ["/bin/bash -lc ", "bash -lc ", "/usr/bin/bash -lc ", "/bin/sh -c "];

/// Returns what a command line does, without the shell that it is given to.
pub(super) fn command_text(raw: &RawValue) -> String {
    let whole = text_of(raw);
    let inner = SHELLS.iter().find_map(|shell| whole.strip_prefix(shell));
    let unquoted = inner.and_then(|text| text.strip_prefix('\'')?.strip_suffix('\''));
    let shown = match unquoted {
        // A quote inside is written in a way that only a shell reads.
        Some(text) if !text.contains('\'') => text,
        Some(_) | None => inner.unwrap_or(&whole),
    };
    one_line(shown, LINE_CHARS)
}

/// Returns why something failed and the message without its wrapping.
pub(super) fn reason(message: &str) -> (ExitReason, String) {
    let (coded, message) = unwrap_error(message);
    let status = status(&message).or(coded);
    let reason = match message.strip_prefix(DISCONNECTED) {
        Some(why) => causes::by_words(why).unwrap_or(ExitReason::Network),
        None => reason_of(status, &message),
    };
    (reason, message)
}

/// Returns the status in a message: `unexpected status 401 …`, `last status: 429 …`.
pub(super) fn status(message: &str) -> Option<u64> {
    let (_, after) = message.split_once("status")?;
    let digits: String =
        after.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|status| (400..600).contains(status))
}
