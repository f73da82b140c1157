//! One needle, ready to be looked for.
//!
//! What may go here: literals, regular expressions, the rule for case. What may not: files.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

/// Memory that one regular expression may take when it is made ready: ordinary ones need a hundredth of it.
const MOST_PATTERN_BYTES: usize = 2 << 20;

/// Why a needle cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::tail::view) enum NeedleError {
    /// There is nothing to look for.
    #[error("nothing to search for; type a text, or a regular expression between two slashes")]
    Empty,
    /// What stands between two slashes is no regular expression.
    #[error("no regular expression: {0}; without the slashes it is searched as it stands")]
    Pattern(String),
}

/// Finds one needle. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::tail::view) struct Matcher {
    kind: Arc<Kind>,
}

#[derive(Debug)]
enum Kind {
    Literal(Box<Finder<'static>>),
    Pattern(Regex),
}

impl Matcher {
    /// Reads what a person typed.
    pub(in crate::tail::view) fn new(needle: &str) -> Result<Self, NeedleError> {
        let pattern = needle.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let pattern = pattern.filter(|pattern| !pattern.is_empty());
        if needle.is_empty() {
            return Err(NeedleError::Empty);
        }
        let has_upper =
            pattern.map_or_else(|| needle.chars().any(char::is_uppercase), has_upper_literal);
        let kind = match pattern {
            Some(pattern) => Kind::Pattern(build(pattern, !has_upper, true)?),
            None if has_upper || !needle.chars().any(char::is_alphabetic) => {
                Kind::Literal(Box::new(Finder::new(needle).into_owned()))
            }
            // Plain letters are looked for as bytes, which is several times faster.
            None => Kind::Pattern(build(&regex::escape(needle), true, !needle.is_ascii())?),
        };
        Ok(Self { kind: Arc::new(kind) })
    }

    /// Returns the first match that begins at `from` or later: never empty, never with a newline in it.
    pub(in crate::tail::view) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        match &*self.kind {
            Kind::Literal(finder) => {
                let start = from + finder.find(text.get(from..)?)?;
                Some(start..start + finder.needle().len())
            }
            Kind::Pattern(pattern) => {
                let mut from = from;
                while from <= text.len() {
                    let found = pattern.find_at(text, from)?;
                    let newline = memchr::memchr(b'\n', found.as_bytes());
                    let length = newline.unwrap_or(found.len());
                    if length > 0 {
                        return Some(found.start()..found.start() + length);
                    }
                    from = found.start() + 1;
                }
                None
            }
        }
    }
}

/// Says whether a pattern names an upper case letter; the ones of classes such as `\W` do not count.
fn has_upper_literal(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character.is_uppercase() {
            return true;
        }
    }
    false
}

fn build(pattern: &str, ignores_case: bool, is_unicode: bool) -> Result<Regex, NeedleError> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .unicode(is_unicode)
        .multi_line(true)
        .size_limit(MOST_PATTERN_BYTES)
        .build()
        .map_err(|error| NeedleError::Pattern(reason(&error)))
}

/// The last line of the crate's message is the reason; the lines before it draw the pattern.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    last.trim_start_matches("error:").trim().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Matcher, NeedleError};

    fn found(needle: &str, text: &str) -> Vec<String> {
        let matcher = Matcher::new(needle).unwrap();
        let (mut from, mut found) = (0, Vec::new());
        while let Some(hit) = matcher.find(text.as_bytes(), from) {
            found.push(text.get(hit.clone()).unwrap().to_owned());
            from = hit.end;
        }
        found
    }

    #[test]
    fn a_needle_without_upper_case_ignores_case() {
        assert_eq!(found("error", "Error error ERROR"), ["Error", "error", "ERROR"]);
        assert_eq!(found("Error", "Error error ERROR"), ["Error"]);
        assert_eq!(found("\u{E4}rger", "\u{C4}rger"), ["\u{C4}rger"]);
    }

    #[test]
    fn operators_mean_something_only_between_slashes() {
        assert_eq!(found("[a]", "x [a] a"), ["[a]"]);
        assert_eq!(found("/[ab]+/", "x ab A"), ["ab", "A"]);
        assert_eq!(found("/[ab]\\W*A/", "ab A"), ["b A"]);
        assert_eq!(found("/", "a/b"), ["/"]);
        assert_eq!(found("$1.00", "$1.00 $1x00"), ["$1.00"]);
    }

    #[test]
    fn no_match_is_empty_or_spans_lines() {
        assert_eq!(found("/x*/", "a\nxx"), ["xx"]);
        assert_eq!(found("/[^q]+/", "a\nb"), ["a", "b"]);
        assert_eq!(found("/^b$/", "a\nb\nbc"), ["b"]);
    }

    #[test]
    fn a_wrong_pattern_is_refused_with_the_reason() {
        let error = Matcher::new("/a(/").unwrap_err();
        assert!(
            matches!(&error, NeedleError::Pattern(reason) if reason.contains("unclosed group")),
            "{error}"
        );
        assert_eq!(Matcher::new("").unwrap_err(), NeedleError::Empty);
    }
}
