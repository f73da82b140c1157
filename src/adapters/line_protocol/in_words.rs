//! Lines of the line protocol for the eye: a person who watches an output reads words where the program wrote JSON.
//!
//! What may go here: one line in, one line out. What may not: what a line means to the fleet.

use crate::adapters::text::one_line;
use crate::adapters::{LineReader as _, ReaderStart};
use crate::core::{AgentResult, Fact, NanoUsd, StepState, Usage};

use super::{MARK, ProtocolReader};

/// Most characters of what is shown; nobody reads more of one line, and the file has it all.
const CHARS: usize = 4_000;

/// What is shown instead of a line of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// One line; it can hold whatever the program put into it.
    pub text: String,
    /// The agent says this to people; anything else is about what it does.
    pub is_speech: bool,
}

/// Returns a line of the protocol in words; `None` for any other line, and for one that is not understood. The line may
/// come with its end.
pub fn in_words(line: &[u8]) -> Option<Words> {
    if !line.starts_with(MARK) {
        return None;
    }
    let mut facts = Vec::new();
    ProtocolReader::new(ReaderStart::default()).line(line.trim_ascii_end(), &mut facts);
    let mut is_speech = false;
    let text = match facts.into_iter().next()? {
        Fact::Step { tool, text, state, .. } => step(&tool, &text, state),
        Fact::Usage { usage, .. } => usage_words(&usage),
        Fact::TotalCost(total) => format!("[cost] ${} in all", total.to_exact()),
        Fact::UnreadableCost => "[cost] cannot be read".to_owned(),
        Fact::Text { role, text } | Fact::Piece { role, text }
            if matches!(role.as_str(), "" | "assistant") =>
        {
            is_speech = true;
            text
        }
        Fact::Text { role, text } | Fact::Piece { role, text } => format!("{role}: {text}"),
        Fact::Smoke { ok, text } => format!("[check] {}: {text}", check(ok)),
        Fact::Session(id) => format!("[session] {id}"),
        Fact::Result(result) => result_words(&result),
        // No line of the protocol tells one of these; the last two stay as they were written.
        Fact::TotalTokens(_)
        | Fact::SessionTotal(_)
        | Fact::RunTotal(_)
        | Fact::Model(_)
        | Fact::Retry(_)
        | Fact::Denied { .. }
        | Fact::Heard
        | Fact::Notes(_)
        | Fact::Transcript(_)
        | Fact::Unknown
        | Fact::Skipped => return None,
    };
    Some(Words { text: one_line(&text, CHARS), is_speech })
}

fn step(tool: &str, text: &str, state: StepState) -> String {
    let end = match state {
        StepState::Start => "",
        StepState::End => ": done",
        StepState::Error => ": failed",
    };
    format!("[{tool}] {text}{end}")
}

fn usage_words(usage: &Usage) -> String {
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let cost = usage.cost.map(NanoUsd::to_exact);
    let cost = cost.map_or_else(String::new, |cost| format!(", ${cost}"));
    format!("[usage] {input} tokens in, {} out{cost}", usage.output)
}

const fn check(ok: Option<bool>) -> &'static str {
    match ok {
        Some(true) => "ok",
        Some(false) => "failed",
        None => "nothing to check",
    }
}

fn result_words(result: &AgentResult) -> String {
    let state = match result.completed {
        Some(true) => "done",
        Some(false) => "failed",
        None => "ended",
    };
    let text = if result.error.is_empty() {
        result.answer.as_deref().unwrap_or_default()
    } else {
        &result.error
    };
    format!("[result] {state}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_one_line_of_words() {
        let table = [
            (r#"{"fleet":"step","tool":"bash","text":"ls","state":"start"}"#, "[bash] ls"),
            (r#"{"fleet":"step","tool":"bash","text":"ls","state":"end"}"#, "[bash] ls: done"),
            (r#"{"fleet":"step","tool":"bash","text":"ls","state":"error"}"#, "[bash] ls: failed"),
            (
                r#"{"fleet":"usage","input_tokens":900,"cache_read_tokens":100,"output_tokens":80,"cost_usd":0.0042}"#,
                "[usage] 1000 tokens in, 80 out, $0.0042",
            ),
            (r#"{"fleet":"cost","total_usd":0.42}"#, "[cost] $0.42 in all"),
            (r#"{"fleet":"text","role":"assistant","text":"a\nb"}"#, "a b"),
            (r#"{"fleet":"text","role":"user","text":"a"}"#, "user: a"),
            (r#"{"fleet":"text","role":"user","text":"a","piece":true}"#, "user: a"),
            (r#"{"fleet":"smoke","ok":true,"text":"12 passed"}"#, "[check] ok: 12 passed"),
            (r#"{"fleet":"session","id":"s1"}"#, "[session] s1"),
            (r#"{"fleet":"result","completed":true,"answer":"42"}"#, "[result] done: 42"),
            (r#"{"fleet":"result","completed":false,"error":"no"}"#, "[result] failed: no"),
        ];
        for (line, words) in table {
            let shown = in_words(format!("{line}\n").as_bytes()).unwrap();
            assert_eq!(shown.text, words, "{line}");
            assert_eq!(shown.is_speech, words == "a b", "{line}");
        }
    }

    #[test]
    fn what_is_no_line_of_the_protocol_stays_as_it_is() {
        for line in
            ["", "text", r#"{"fleet":"nosuch"}"#, r#"{"fleet":"step""#, r#" {"fleet":"cost"}"#]
        {
            assert_eq!(in_words(line.as_bytes()), None, "{line}");
        }
    }
}
