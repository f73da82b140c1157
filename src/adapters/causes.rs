//! Why a program of a model gave up, told in the same reasons and sentences for all of them.
//!
//! What may go here: which reason a status or a message means, and what a person can do about it. What may not: where a
//! program puts its messages.

use crate::core::{AgentResult, ExitReason};

use super::text::{LINE_CHARS, one_line};

/// What of a program the sentences name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// Its name.
    pub program: &'static str,
    /// How a person logs in, as a clause: `run claude and log in, or set ANTHROPIC_API_KEY`.
    pub login: &'static str,
}

/// Words of messages, in lower case, and what they mean; the first that occurs decides.
const WORDS: [(&str, ExitReason); 59] = [
    ("insufficient_quota", ExitReason::Quota),
    ("exceeded your current quota", ExitReason::Quota),
    ("credit balance", ExitReason::Quota),
    ("billing", ExitReason::Quota),
    ("usage limit", ExitReason::Quota),
    ("quota", ExitReason::Quota),
    ("rate limit", ExitReason::RateLimit),
    ("rate_limit", ExitReason::RateLimit),
    ("too many requests", ExitReason::RateLimit),
    ("status 429", ExitReason::RateLimit),
    ("429 ", ExitReason::RateLimit),
    ("prompt is too long", ExitReason::Context),
    ("prompt as too long", ExitReason::Context),
    ("context length", ExitReason::Context),
    ("context_length", ExitReason::Context),
    ("contextoverflow", ExitReason::Context),
    ("context window", ExitReason::Context),
    ("maximum context", ExitReason::Context),
    ("not logged in", ExitReason::Auth),
    ("unauthorized", ExitReason::Auth),
    ("api key", ExitReason::Auth),
    ("api_key", ExitReason::Auth),
    ("authentication", ExitReason::Auth),
    ("auth method", ExitReason::Auth),
    ("status 401", ExitReason::Auth),
    ("status 403", ExitReason::Auth),
    ("permission_error", ExitReason::Auth),
    ("missing environment variable", ExitReason::Auth),
    ("econnrefused", ExitReason::Network),
    ("enotfound", ExitReason::Network),
    ("etimedout", ExitReason::Network),
    ("econnreset", ExitReason::Network),
    ("eai_again", ExitReason::Network),
    ("connection refused", ExitReason::Network),
    ("connection error", ExitReason::Network),
    ("connection failed", ExitReason::Network),
    ("connectionrefused", ExitReason::Network),
    ("unable to connect", ExitReason::Network),
    ("cannot connect", ExitReason::Network),
    ("could not connect", ExitReason::Network),
    ("fetch failed", ExitReason::Network),
    ("socket hang up", ExitReason::Network),
    ("stream disconnected", ExitReason::Network),
    ("error sending request", ExitReason::Network),
    ("terminated", ExitReason::Network),
    ("waiting for network", ExitReason::Network),
    ("network error", ExitReason::Network),
    ("overloaded", ExitReason::Server),
    ("high demand", ExitReason::Server),
    ("without a finish reason", ExitReason::Server),
    ("internal server error", ExitReason::Server),
    ("service unavailable", ExitReason::Server),
    ("bad gateway", ExitReason::Server),
    ("server error", ExitReason::Server),
    ("content filter", ExitReason::Refused),
    ("content_filter", ExitReason::Refused),
    ("contentfilter", ExitReason::Refused),
    ("max_output_tokens", ExitReason::MaxTokens),
    ("permission denied", ExitReason::Permission),
];

/// Returns the reason that a status of a model service means; `None` for one that says nothing by itself.
pub(super) const fn by_status(status: u64) -> Option<ExitReason> {
    match status {
        401 | 403 => Some(ExitReason::Auth),
        402 => Some(ExitReason::Quota),
        413 => Some(ExitReason::Context),
        429 => Some(ExitReason::RateLimit),
        408 | 500..=599 => Some(ExitReason::Server),
        _ => None,
    }
}

/// Returns the reason that a message means; `None` if it is none that is known.
pub(super) fn by_words(message: &str) -> Option<ExitReason> {
    /// Characters of a message that are looked at.
    const LOOKED_AT: usize = 4000;
    let message: String = message.chars().take(LOOKED_AT).collect::<String>().to_lowercase();
    WORDS.iter().find(|(word, _)| message.contains(word)).map(|(_, reason)| *reason)
}

/// Returns the reason that a message means, together with the status that came with it or stands in it. A used-up
/// account comes with the status of a limit of rate.
pub(super) fn by_message(status: Option<u64>, message: &str) -> Option<ExitReason> {
    let by_words = by_words(message);
    if by_words == Some(ExitReason::Quota) {
        return by_words;
    }
    status.or_else(|| status_in(message)).and_then(by_status).or(by_words)
}

/// Returns the status that a message like `API Error: 401 …` has.
fn status_in(message: &str) -> Option<u64> {
    let (_, after) = message.split_once("Error: ")?;
    let digits = after.split(|char: char| !char.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|_| digits.len() == 3)
}

/// Returns the sentence of a reason: what happened and what to do, with the program's own message behind it.
pub(super) fn sentence(reason: ExitReason, named: Named, message: &str) -> String {
    let Named { program, login } = named;
    let told = match reason {
        ExitReason::Auth => format!("{program} was not let in: {login}"),
        ExitReason::RateLimit => {
            format!("{program} asks too often: run fewer at once (-j), or wait and retry")
        }
        ExitReason::Quota => {
            format!("the account of {program} has nothing left: add credit or wait, then retry")
        }
        ExitReason::Network => {
            format!("{program} could not reach its service: check the network, then retry")
        }
        ExitReason::Server => format!("the service of {program} failed: retry later"),
        ExitReason::Context => {
            "the task with what was read is too long for the model: split it".to_owned()
        }
        ExitReason::Refused => "the model refused: word the task differently".to_owned(),
        ExitReason::MaxTokens => {
            "the reply was cut off at the model's token limit: ask for less at once".to_owned()
        }
        ExitReason::MaxSteps => {
            "used up its turns: retry with a higher --max-steps, or split the task".to_owned()
        }
        ExitReason::Budget => "used up its own budget: retry with a higher --budget".to_owned(),
        ExitReason::Permission => {
            "was not permitted what it needed: allow it (--allow-shell, --allow-web) or do without"
                .to_owned()
        }
        ExitReason::Timeout => "ran out of its own time".to_owned(),
        ExitReason::Completed
        | ExitReason::NoOutput
        | ExitReason::Spawn
        | ExitReason::Signal
        | ExitReason::Error => String::new(),
    };
    let message = one_line(message.trim(), LINE_CHARS);
    match (told.is_empty(), message.is_empty()) {
        (true, _) => message,
        (false, true) => told,
        (false, false) => format!("{told} ({message})"),
    }
}

/// Makes the closing word of an agent that failed for a reason.
pub(super) fn failure(reason: ExitReason, named: Named, message: &str) -> AgentResult {
    AgentResult {
        completed: Some(false),
        error: sentence(reason, named, message),
        reason: Some(reason),
        truncated: matches!(
            reason,
            ExitReason::MaxSteps | ExitReason::MaxTokens | ExitReason::Budget | ExitReason::Timeout
        ),
        ..AgentResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: Named = Named { program: "tool", login: "set TOOL_KEY" };

    #[test]
    fn messages_of_services_have_their_reasons() {
        let table = [
            ("You exceeded your current quota, please check your plan", ExitReason::Quota),
            ("API Error: 429 rate limit of 5 requests", ExitReason::RateLimit),
            ("mock: prompt is too long", ExitReason::Context),
            ("Not logged in · Please run /login", ExitReason::Auth),
            ("connect ECONNREFUSED 127.0.0.1:9", ExitReason::Network),
            ("Overloaded", ExitReason::Server),
        ];
        for (message, reason) in table {
            assert_eq!(by_words(message), Some(reason), "{message}");
        }
        assert_eq!(by_words("it went wrong"), None);
        let statuses = [401, 402, 413, 429, 500, 529, 404].map(by_status);
        let known = [
            ExitReason::Auth,
            ExitReason::Quota,
            ExitReason::Context,
            ExitReason::RateLimit,
            ExitReason::Server,
            ExitReason::Server,
        ];
        assert_eq!(statuses[..6], known.map(Some));
        assert_eq!(statuses[6], None);
    }

    #[test]
    fn the_status_of_an_error_goes_before_its_words_and_a_used_up_account_before_both() {
        let table = [
            (None, "[API Error: 401 mock: invalid x-api-key]", Some(ExitReason::Auth)),
            (Some(529), "it went wrong", Some(ExitReason::Server)),
            (Some(429), "Your credit balance is too low", Some(ExitReason::Quota)),
            (Some(400), "prompt is too long", Some(ExitReason::Context)),
            (None, "Error: 40123 things", None),
            (None, "", None),
        ];
        for (status, message, reason) in table {
            assert_eq!(by_message(status, message), reason, "{message}");
        }
    }

    #[test]
    fn every_reason_of_a_failure_says_what_to_do() {
        for reason in ExitReason::ALL {
            let told = sentence(reason, NAMED, "the message\nof it");
            assert!(told.contains("the message"), "{reason:?}: {told}");
            let is_plain = matches!(
                reason,
                ExitReason::Completed
                    | ExitReason::NoOutput
                    | ExitReason::Spawn
                    | ExitReason::Signal
                    | ExitReason::Error
            );
            assert_eq!(told.contains('('), !is_plain, "{reason:?}: {told}");
        }
        let told = failure(ExitReason::Auth, NAMED, "401");
        assert_eq!(told.error, "tool was not let in: set TOOL_KEY (401)");
        assert_eq!((told.completed, told.truncated), (Some(false), false));
    }
}
