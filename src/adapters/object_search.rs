//! Finds JSON objects among other text, in one pass over a window of bytes.
//!
//! What may go here: the shape of JSON. What may not: what an object means, files.
//!
//! An object is *top-level* if it stands inside no other object. Inside one that never became whole (text that only
//! looked like an object, an output that was cut) it counts only if it begins a line: agents print their closing
//! object at the beginning of a line, and nothing nested in a printed object stands there.

use std::ops::Range;

use memchr::{memchr, memchr3};

/// Deepest nesting that is followed; what nests deeper is text. Bounds the memory of the search.
const DEEPEST: usize = 512;
/// Objects of fewer bytes cannot hold what any reader looks for (`{"completed":…,"answer":…}`) and are not kept.
const SHORTEST: usize = 12;

/// Where an object may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Anywhere, after other text on the line as well.
    Anywhere,
    /// Only at the beginning of a line.
    Line,
}

/// What may come next inside an object or a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    KeyOrEnd,
    Key,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// An object or list that has begun.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: usize,
    is_object: bool,
}

/// What one token did.
enum Token {
    /// Read up to this place.
    Upto(usize),
    /// No JSON: everything that is open is text.
    Broken,
    /// The window ends inside the token.
    Torn,
}

/// Returns the last complete top-level object for which `read` returns something, and that. Takes time that grows
/// with the window's length only, whatever is in it.
pub(crate) fn find_last<T>(
    window: &[u8],
    begin: Begin,
    mut read: impl FnMut(&[u8]) -> Option<T>,
) -> Option<(Range<usize>, T)> {
    complete_objects(window, begin).into_iter().rev().find_map(|range| {
        let found = read(window.get(range.clone())?)?;
        Some((range, found))
    })
}

/// Returns where complete top-level objects are, in order and apart from each other.
fn complete_objects(window: &[u8], begin: Begin) -> Vec<Range<usize>> {
    let mut search = Search { window, open: Vec::new(), expect: Expect::Value, found: Vec::new() };
    let mut at = 0;
    loop {
        if search.open.is_empty() {
            let Some(start) = search.next_start(at, begin) else { break };
            search.enter(start, true);
            at = start + 1;
            continue;
        }
        match search.token(at) {
            Token::Upto(next) => at = next,
            Token::Broken => search.open.clear(),
            Token::Torn => break,
        }
    }
    search.found
}

struct Search<'a> {
    window: &'a [u8],
    open: Vec<Open>,
    expect: Expect,
    found: Vec<Range<usize>>,
}

impl Search<'_> {
    fn next_start(&self, mut from: usize, begin: Begin) -> Option<usize> {
        loop {
            let start = from + memchr(b'{', self.window.get(from..)?)?;
            if begin == Begin::Anywhere || self.begins_line(start) {
                return Some(start);
            }
            from = start + 1;
        }
    }

    fn begins_line(&self, at: usize) -> bool {
        at.checked_sub(1).is_none_or(|before| self.window.get(before) == Some(&b'\n'))
    }

    fn enter(&mut self, start: usize, is_object: bool) {
        self.open.push(Open { start, is_object });
        self.expect = if is_object { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
    }

    /// Reads one token inside an object.
    fn token(&mut self, at: usize) -> Token {
        let Some(byte) = self.window.get(at) else { return Token::Torn };
        let is_in_object = self.open.last().is_some_and(|open| open.is_object);
        match (self.expect, *byte) {
            (_, b' ' | b'\n' | b'\r' | b'\t') => {}
            (Expect::KeyOrEnd | Expect::Key, b'"') => return self.string(at, Expect::Colon),
            (Expect::Value | Expect::ValueOrEnd, b'"') => {
                return self.string(at, Expect::CommaOrEnd);
            }
            (Expect::Value | Expect::ValueOrEnd, b'{' | b'[') if self.open.len() < DEEPEST => {
                self.enter(at, *byte == b'{');
            }
            (Expect::KeyOrEnd, b'}') | (Expect::ValueOrEnd, b']') => self.leave(at),
            (Expect::CommaOrEnd, b'}') if is_in_object => self.leave(at),
            (Expect::CommaOrEnd, b']') if !is_in_object => self.leave(at),
            (Expect::Colon, b':') => self.expect = Expect::Value,
            (Expect::CommaOrEnd, b',') => {
                self.expect = if is_in_object { Expect::Key } else { Expect::Value };
            }
            (Expect::Value | Expect::ValueOrEnd, byte) if is_scalar(byte) => {
                self.expect = Expect::CommaOrEnd;
                let rest = self.window.get(at..).unwrap_or_default();
                let length = rest.iter().position(|byte| !is_scalar(*byte));
                return length.map_or(Token::Torn, |length| Token::Upto(at + length));
            }
            _ => return Token::Broken,
        }
        Token::Upto(at + 1)
    }

    /// Reads a string whose first quote is at `at`. A line never ends inside one.
    fn string(&mut self, at: usize, then: Expect) -> Token {
        let mut from = at + 1;
        loop {
            let rest = self.window.get(from..).unwrap_or_default();
            let Some(place) = memchr3(b'"', b'\\', b'\n', rest) else { return Token::Torn };
            match rest.get(place) {
                Some(b'"') => {
                    self.expect = then;
                    return Token::Upto(from + place + 1);
                }
                Some(b'\\') if rest.get(place + 1) != Some(&b'\n') => from += place + 2,
                _ => return Token::Broken,
            }
        }
    }

    /// The innermost object or list ends at `at`.
    fn leave(&mut self, at: usize) {
        self.expect = Expect::CommaOrEnd;
        let Some(open) = self.open.pop() else { return };
        if !open.is_object || !(self.open.is_empty() || self.begins_line(open.start)) {
            return;
        }
        // What was found inside is nested after all.
        while self.found.pop_if(|inner| inner.start > open.start).is_some() {}
        if at - open.start >= SHORTEST {
            self.found.push(open.start..at + 1);
        }
    }
}

/// Says whether the byte may be part of a number or a word such as `true`.
const fn is_scalar(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<&str> {
        complete_objects(text.as_bytes(), Begin::Anywhere)
            .into_iter()
            .map(|range| text.get(range).unwrap())
            .collect()
    }

    const GOOD: &str = r#"{"completed": true, "answer": "a } b { \" c"}"#;

    #[test]
    fn objects_are_found_among_other_text() {
        assert_eq!(all(&format!("banner {{ stray\r\n{GOOD}\r\nafter }} {{\n")), [GOOD]);
        assert_eq!(all(&format!("result: {GOOD}{GOOD} x")), [GOOD, GOOD]);
        assert_eq!(all(&format!("{{\"a\": {GOOD}, \"b\": [1, -2.5e3, null]}}")).len(), 1);
        assert_eq!(all("{} {\"a\":1}"), [""; 0]);
    }

    #[test]
    fn what_is_nested_in_a_torn_object_is_not_taken_for_a_whole_one() {
        assert_eq!(all(&format!("{{\"steps\": [{GOOD}, ")), [""; 0]);
        assert_eq!(all(&format!("{{\"steps\": \n{GOOD}")), [GOOD]);
        assert_eq!(all(&format!("{{\"text\": \"no end\n{GOOD}")), [GOOD]);
        let outer = format!("{{\"a\":\n{GOOD}\n}}");
        assert_eq!(all(&outer), [outer.as_str()]);
    }

    #[test]
    fn only_the_beginning_of_a_line_counts_when_asked_for() {
        let text = format!("x {GOOD}\n{GOOD}\n {GOOD}");
        let found = complete_objects(text.as_bytes(), Begin::Line);
        assert_eq!(found.len(), 1);
        assert_eq!(text.get(found[0].clone()), Some(GOOD));
    }

    #[test]
    fn the_last_object_that_is_wanted_wins() {
        let text = format!("{GOOD}\n{{\"other\": 1234567}}\n");
        let found = find_last(text.as_bytes(), Begin::Anywhere, |object| {
            object.starts_with(b"{\"comp").then_some(())
        });
        assert_eq!(found, Some((0..GOOD.len(), ())));
    }

    /// A quadratic search would need an hour for one of these.
    #[test]
    fn hostile_windows_take_linear_time() {
        let size = 2 << 20;
        for pattern in [
            "{",
            "{\"",
            "{\"a\":",
            "{\"a\":[",
            "{\"\\",
            "[{",
            "{\n",
            "{\"a\":{}",
            "{\"completed\":1}\n",
            "\n{\"a\":",
        ] {
            let window = pattern.repeat(size / pattern.len());
            let mut calls = 0_usize;
            let found = find_last(window.as_bytes(), Begin::Anywhere, |_| {
                calls += 1;
                None::<()>
            });
            assert_eq!(found, None);
            assert!(calls <= size / SHORTEST);
        }
    }

    proptest! {
        #[test]
        fn a_whole_object_is_found_whatever_lines_stand_around_it(
            before in "[ -~\n]{0,80}", after in "[ -~\n]{0,80}",
        ) {
            // Only an object that is whole can hide another one.
            let text = format!("{before}\n{GOOD}\n{after}");
            let found = find_last(text.as_bytes(), Begin::Anywhere, |object| {
                (object == GOOD.as_bytes()).then_some(())
            });
            prop_assert!(found.is_some(), "{}", text);
        }

        #[test]
        fn any_bytes_are_searched_without_a_panic(bytes in proptest::collection::vec(
            proptest::sample::select(b"{}[]\":,\\\n a1".to_vec()), 0..200)) {
            let found = complete_objects(&bytes, Begin::Anywhere);
            for pair in found.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
        }

        #[test]
        fn a_cut_object_is_never_found(cut in 1_usize..GOOD.len()) {
            prop_assert_eq!(all(GOOD.get(..cut).unwrap()), [""; 0]);
        }
    }
}
