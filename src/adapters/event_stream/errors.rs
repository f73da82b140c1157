//! What the errors of services say, wherever a program wraps them.
//!
//! What may go here: taking messages out of their wrapping. What may not: where a program puts them.

use crate::adapters::causes;
use crate::adapters::json::Fields;
use crate::adapters::text::{LINE_CHARS, one_line};
use crate::core::ExitReason;

use crate::adapters::shown::text_of;

/// Returns the status and the message of an error that a service has sent: a text, or JSON with the message in it.
pub(in crate::adapters) fn unwrap_error(message: &str) -> (Option<u64>, String) {
    /// Objects in which errors lie in each other.
    const DEPTH: usize = 3;
    let mut status = None;
    let mut message = message.trim().to_owned();
    for _ in 0..DEPTH {
        let wanted = ["error", "message", "code"];
        let Some(mut fields) = Fields::parse(message.as_bytes(), &wanted) else { break };
        status = fields.count("code").or(status);
        let inner = fields.text("message").or_else(|| fields.raw("error").map(|raw| text_of(&raw)));
        let Some(inner) = inner else { break };
        inner.trim().clone_into(&mut message);
    }
    (status, message)
}

/// Returns why something failed, by its status and its message.
pub(in crate::adapters) fn reason_of(status: Option<u64>, message: &str) -> ExitReason {
    let by_words = causes::by_words(message);
    match status.and_then(causes::by_status) {
        // A service tells with the same status that it is asked too often and that an account is empty.
        Some(ExitReason::RateLimit) if by_words == Some(ExitReason::Quota) => ExitReason::Quota,
        Some(reason) => reason,
        None => by_words.unwrap_or(ExitReason::Error),
    }
}

/// Returns a cause in a few words: the status, else the beginning of the message.
pub(in crate::adapters) fn brief(status: Option<u64>, message: &str) -> String {
    /// Characters of a cause that is shown in a row.
    const CHARS: usize = 80;
    status.map_or_else(|| one_line(message, CHARS), |status| status.to_string())
}

/// Returns why a try has failed in a few words: the status where there is one, else that nothing answered, else the
/// beginning of the message.
pub(in crate::adapters) fn cause_of(status: Option<u64>, message: &str) -> String {
    match causes::by_words(message) {
        Some(ExitReason::Network) if status.is_none() => "connection failed".to_owned(),
        _ => brief(status, message),
    }
}

/// Returns the line of a standard error that says what is wrong: the first that begins with the word, else the last.
pub(in crate::adapters) fn error_line(err: &[u8]) -> String {
    let text = String::from_utf8_lossy(err);
    let lines = text.lines().map(|line| one_line(line, LINE_CHARS));
    let mut last = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error")) {
            return line;
        }
        last = line;
    }
    last
}
