//! What an agent wrote as JSON lines, for machines.
//!
//! What may go here: where a line ends, and the object that it becomes. What may not: reading and writing.

use serde::Serialize;

use crate::core::AgentId;

/// Longest text of one object, in bytes. What is longer comes in several, so that a reader needs no more than that.
const LINE_BYTES: usize = 1 << 20;

/// A line, or a part of one.
#[derive(Debug, Serialize)]
struct Object<'a> {
    agent: AgentId,
    /// `out`, `err` or `transcript`.
    file: &'a str,
    /// Without its line end; what is no UTF-8 is U+FFFD.
    line: &'a str,
    /// The same line goes on in the next object.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

/// Makes lines of bytes as they come.
#[derive(Debug)]
pub(super) struct Lines {
    agent: AgentId,
    file: &'static str,
    /// Bytes whose line has not ended yet.
    held: Vec<u8>,
}

impl Lines {
    pub(super) fn new(agent: AgentId, file: &'static str) -> Self {
        Self { agent, file, held: Vec::new() }
    }

    /// Takes what comes next; returns the lines that it completes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut json = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.held.extend_from_slice(piece);
            while self.held.len() > LINE_BYTES {
                let rest = self.held.split_off(boundary(&self.held, LINE_BYTES));
                let part = std::mem::replace(&mut self.held, rest);
                self.write(&mut json, &part, true);
            }
            if self.held.last() == Some(&b'\n') {
                let line = std::mem::take(&mut self.held);
                self.write(&mut json, &line, false);
            }
        }
        json
    }

    /// Returns the last line, if it never ended.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut json = Vec::new();
        let line = std::mem::take(&mut self.held);
        if !line.is_empty() {
            self.write(&mut json, &line, false);
        }
        json
    }

    fn write(&self, json: &mut Vec<u8>, bytes: &[u8], more: bool) {
        let text = String::from_utf8_lossy(bytes);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let object = Object { agent: self.agent, file: self.file, line, more };
        serde_json::to_writer(&mut *json, &object).expect("text and numbers are always JSON");
        json.push(b'\n');
    }
}

/// Returns the last place up to `most` at which no character is cut.
fn boundary(bytes: &[u8], most: usize) -> usize {
    let begins = |place: &usize| bytes.get(*place).is_none_or(|byte| byte & 0xc0 != 0x80);
    // A character has four bytes at most; what has more is none.
    (most.saturating_sub(3)..=most).rev().find(begins).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn objects(bytes: &[u8]) -> Vec<Value> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn line(text: &str) -> Value {
        json!({ "agent": 7, "file": "out", "line": text })
    }

    #[test]
    fn each_line_is_one_object_wherever_the_pieces_are_cut() {
        let text = "a\n\"b\"\r\n\n日本語\u{1b}[31m\nrest".as_bytes();
        for cut in 0..text.len() {
            let mut lines = Lines::new(AgentId(7), "out");
            let (first, second) = text.split_at(cut);
            let json = [lines.take(first), lines.take(second), lines.finish()].concat();
            let expected = ["a", "\"b\"", "", "日本語\u{1b}[31m", "rest"].map(line);
            assert_eq!(objects(&json), expected, "{cut}");
        }
    }

    #[test]
    fn a_line_without_end_comes_in_parts_that_cut_no_character() {
        let mut lines = Lines::new(AgentId(7), "out");
        let text = format!("x{}\n", "é".repeat(LINE_BYTES));
        let json = [lines.take(text.as_bytes()), lines.finish()].concat();
        let parts = objects(&json);
        assert!(parts.len() == 3 && parts.iter().rev().skip(1).all(|part| part["more"] == true));
        assert!(parts.last().unwrap().get("more").is_none());
        let whole: String = parts.iter().map(|part| part["line"].as_str().unwrap()).collect();
        assert_eq!(format!("{whole}\n"), text);
    }

    #[test]
    fn what_is_no_text_is_marked() {
        let mut lines = Lines::new(AgentId(7), "out");
        assert_eq!(objects(&lines.take(b"a\xff\n")), [line("a\u{fffd}")]);
        let long = [vec![0x80; LINE_BYTES + 9], b"\n".to_vec()].concat();
        assert_eq!(objects(&lines.take(&long)).len(), 2);
    }
}
