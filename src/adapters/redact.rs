//! Takes secrets out of text before Fleet writes it: bearer tokens, `KEY=value` secrets, tokens with a known beginning,
//! passwords in addresses, private keys. Names of keys and ordinary text stay.
//!
//! What may go here: what a secret looks like. What may not: files, and the agents' own `out` and `err`, which are
//! never rewritten. The rules lean towards hiding: a hidden word costs a look into `out`, a shown key costs the key.

mod names;

use std::borrow::Cow;
use std::ops::Range;

use names::{Secrecy, secrecy_of};

/// What stands in the place of a secret.
const HIDDEN: &str = "[redacted]";

/// Beginnings of tokens, and how many more characters make it one.
const BEGINNINGS: [(&str, usize); 27] = [
    ("sk-", 12),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("hf_", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("gsk_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("AGE-SECRET-KEY-", 20),
];

/// Bytes of the shortest token with such a beginning. Most words are shorter, and need not be looked at.
const SHORTEST: usize = 15;

/// Bytes from which on a value is no ordinary word, whatever it looks like. With what is hidden being skipped, this
/// also bounds how often a byte is looked at, so that a line of a megabyte
/// stays far below a second.
const LONG: usize = 4096;

/// Words that name a way to authorize in front of a token.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];

/// Returns the text with its secrets replaced by `[redacted]`; borrowed if there was none.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut secrets = Vec::new();
    find_private_keys(text, &mut secrets);
    find_known_tokens(text, &mut secrets);
    find_bearers(text, &mut secrets);
    find_passwords_in_addresses(text, &mut secrets);
    find_assignments(text, &mut secrets);
    find_flags(text, &mut secrets);
    secrets.retain(|secret| !secret.is_empty());
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    secrets.sort_by_key(|secret| secret.start);
    let (mut clean, mut done) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        if secret.start >= done {
            clean.push_str(part(text, done..secret.start));
            clean.push_str(HIDDEN);
        }
        done = done.max(secret.end);
    }
    clean.push_str(part(text, done..text.len()));
    Cow::Owned(clean)
}

/// Finds whole blocks of private keys, also those whose end was cut off.
fn find_private_keys(text: &str, secrets: &mut Vec<Range<usize>>) {
    /// Bytes within which the title of a block says what it is; the longest known one has 36.
    const TITLE: usize = 64;
    let mut done = 0;
    for (start, _) in text.match_indices("-----BEGIN ") {
        let block = part(text, start..text.len());
        let title = block.as_bytes().get(..TITLE).unwrap_or(block.as_bytes());
        if start >= done && title.windows(11).any(|words| words == b"PRIVATE KEY") {
            let end = block.find("-----END ").map(|end| {
                let last = part(block, end + 9..block.len());
                // The line of the end may be a piece of a longer one.
                end + 9 + last.find("-----").map_or(last.len(), |dashes| dashes + 5)
            });
            done = start + end.unwrap_or(block.len());
            secrets.push(start..done);
        }
    }
}

/// Finds tokens that their beginning gives away, and JSON web tokens.
fn find_known_tokens(text: &str, secrets: &mut Vec<Range<usize>>) {
    for word in runs(text, |byte| is_word(byte) || byte == b'-') {
        if word.len() < SHORTEST {
            continue;
        }
        for (beginning, more) in BEGINNINGS {
            let mut starts = part(text, word.clone())
                .match_indices(beginning)
                .map(|(place, _)| word.start + place)
                .filter(|start| is_boundary(text, *start));
            // What follows a later place has no more in it, so the first one decides.
            let Some(start) = starts.next() else { continue };
            let rest = part(text, start + beginning.len()..word.end);
            if rest.len() >= more && is_mixed(rest) {
                secrets.push(start..word.end);
            }
        }
    }
    for word in runs(text, |byte| is_word(byte) || matches!(byte, b'-' | b'.')) {
        let token = part(text, word.clone());
        if token.starts_with("eyJ") && token.len() > 30 && token.matches('.').count() >= 2 {
            secrets.push(word);
        }
    }
}

/// Finds tokens after the word `Bearer`.
fn find_bearers(text: &str, secrets: &mut Vec<Range<usize>>) {
    for word in runs(text, is_word) {
        if part(text, word.clone()).eq_ignore_ascii_case("bearer") {
            let start = skip(text, word.end, |byte| byte == b' ');
            let end = skip(text, start, is_token);
            let token = part(text, start..end);
            if start > word.end && (token.len() >= 20 || (token.len() >= 6 && !is_plain(token))) {
                secrets.push(start..end);
            }
        }
    }
}

/// Finds `PASSWORD` in `scheme://user:PASSWORD@host`, and `TOKEN` in `scheme://TOKEN@host`.
fn find_passwords_in_addresses(text: &str, secrets: &mut Vec<Range<usize>>) {
    for (place, separator) in text.match_indices("://") {
        let start = place + separator.len();
        let is_inside = |byte: u8| {
            !byte.is_ascii_whitespace()
                && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
        };
        let authority = part(text, start..skip(text, start, is_inside));
        let Some(user_info) = authority.rfind('@').map(|end| part(authority, 0..end)) else {
            continue;
        };
        match user_info.split_once(':') {
            Some((user, password)) if !is_placeholder(password) => {
                secrets.push(start + user.len() + 1..start + user_info.len());
            }
            None if looks_random(user_info) => secrets.push(start..start + user_info.len()),
            Some(_) | None => {}
        }
    }
}

/// Finds values of `NAME=value`, `name: value` and `"name": "value"`.
fn find_assignments(text: &str, secrets: &mut Vec<Range<usize>>) {
    let mut done = 0;
    for (place, sign) in text.match_indices(['=', ':']) {
        // A sign within a value that is hidden already joins nothing; this also keeps the search linear.
        if place < done {
            continue;
        }
        let before = part(text, 0..place).trim_end_matches(' ');
        let is_spaced = before.len() < place;
        let before = before.trim_end_matches(['"', '\'', '\\']);
        let name_start = before.len()
            - before.bytes().rev().take_while(|byte| is_word(*byte) || *byte == b'-').count();
        let name = part(before, name_start..before.len());
        let is_named =
            |names: [&str; 2]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let start = place + sign.len();
        let secret = if is_named(["authorization", "proxy-authorization"]) {
            find_authorization(text, start)
        } else if is_named(["cookie", "set-cookie"]) {
            find_cookies(text, start)
        } else {
            let sign = Sign { is_colon: sign == ":", is_spaced };
            let secrecy = secrecy_of(name);
            (secrecy != Secrecy::No)
                .then(|| Value::after(text, start))
                .filter(|value| value.is_secret(text, name, secrecy, sign))
                .map(|value| value.range)
        };
        if let Some(secret) = secret {
            done = secret.end;
            secrets.push(secret);
        }
    }
}

/// Finds values of `--api-key value`.
fn find_flags(text: &str, secrets: &mut Vec<Range<usize>>) {
    for (place, dashes) in text.match_indices("--") {
        let start = place + dashes.len();
        if part(text, 0..place).ends_with(|before: char| before == '-' || before.is_alphanumeric())
        {
            continue;
        }
        let end = skip(text, start, |byte| is_word(byte) || byte == b'-');
        let name = part(text, start..end);
        if !part(text, end..text.len()).starts_with(' ') || secrecy_of(name) != Secrecy::Certain {
            continue;
        }
        let value = Value::after(text, end);
        let word = part(text, value.range.clone());
        // What follows the name of a flag in a sentence about it is a plain word.
        let is_value = value.is_quoted || (!is_plain(word) && !word.starts_with('-'));
        if is_value && !is_placeholder(word) {
            secrets.push(value.range);
        }
    }
}

/// Finds what `Authorization:` says, without the scheme.
fn find_authorization(text: &str, place: usize) -> Option<Range<usize>> {
    let is_inside = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\');
    let start = skip(text, place, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    let end = skip(text, start, is_inside);
    let word = part(text, start..end);
    if SCHEMES.iter().any(|known| word.eq_ignore_ascii_case(known)) {
        let start = skip(text, end, |byte| byte == b' ');
        let token = start..skip(text, start, is_inside);
        return Some(token).filter(|token| !is_placeholder(part(text, token.clone())));
    }
    (word.len() > LONG || looks_random(word)).then_some(start..end)
}

/// Finds what `Cookie:` says: all of the line.
fn find_cookies(text: &str, place: usize) -> Option<Range<usize>> {
    let start = skip(text, place, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    let name = skip(text, start, |byte| is_word(byte) || matches!(byte, b'-' | b'.'));
    let is_inside = |byte: u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\');
    part(text, name..text.len()).starts_with('=').then(|| start..skip(text, name, is_inside))
}

/// How a name is joined to its value.
#[derive(Clone, Copy)]
struct Sign {
    is_colon: bool,
    is_spaced: bool,
}

/// What stands after a sign, without its quotes.
struct Value {
    range: Range<usize>,
    is_quoted: bool,
}

impl Value {
    fn after(text: &str, place: usize) -> Self {
        let start = skip(text, place, |byte| byte == b' ');
        let inner = skip(text, start, |byte| byte == b'\\');
        let opening = part(text, inner..text.len()).chars().next();
        if let Some(quote) = opening.filter(|letter| matches!(letter, '"' | '\'' | '`')) {
            let start_of_value = inner + 1;
            let end = closing(text, start_of_value, quote, inner > start);
            return Self { range: start_of_value..end, is_quoted: true };
        }
        let is_inside = |byte: u8| {
            let is_end = matches!(
                byte,
                b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|' | b'<' | b'>' | b')' | b'}' | b'\\'
            );
            !byte.is_ascii_whitespace() && !is_end
        };
        Self { range: start..skip(text, start, is_inside), is_quoted: false }
    }

    fn is_secret(&self, text: &str, name: &str, secrecy: Secrecy, sign: Sign) -> bool {
        let value = part(text, self.range.clone());
        match secrecy {
            Secrecy::No => false,
            Secrecy::Maybe | Secrecy::Certain if value.len() > LONG => true,
            Secrecy::Maybe => looks_random(value),
            Secrecy::Certain if is_placeholder(value) || value.eq_ignore_ascii_case(name) => false,
            Secrecy::Certain if self.is_quoted => true,
            Secrecy::Certain => {
                let is_count = value.len() < 6
                    && value.bytes().all(|byte| byte.is_ascii_digit())
                    && name.to_ascii_lowercase().contains("token");
                let is_code = value.contains(['(', '['])
                    || ["self.", "os.", "process.env", "env."]
                        .iter()
                        .any(|start| value.starts_with(start))
                    || value.starts_with('&');
                let is_last =
                    matches!(text.as_bytes().get(self.range.end), None | Some(b'\n' | b'\r'));
                let is_prose = (sign.is_colon && !is_last || !sign.is_colon && sign.is_spaced)
                    && is_plain(value);
                !is_count && !is_prose && (!is_code || looks_random(value))
            }
        }
    }
}

/// Returns where a quoted text ends: at its closing quote, else at the end of the line.
fn closing(text: &str, start: usize, quote: char, is_escaped: bool) -> usize {
    let rest = part(text, start..text.len());
    let mut is_after_backslash = false;
    for (place, letter) in rest.char_indices() {
        match letter {
            '\n' => return start + place,
            '\\' if is_escaped && part(rest, place + 1..rest.len()).starts_with(quote) => {
                return start + place;
            }
            _ if letter == quote && (is_escaped || !is_after_backslash) => return start + place,
            _ => {}
        }
        is_after_backslash = letter == '\\' && !is_after_backslash;
    }
    text.len()
}

/// Says whether a value only stands for one: nothing, a variable, a mark of redaction, a word for nothing.
fn is_placeholder(value: &str) -> bool {
    const NOTHING: [&str; 8] = ["none", "null", "nil", "true", "false", "undefined", "yes", "no"];
    value.is_empty()
        || value.starts_with(['<', '{', '%', '[', '…'])
        || value
            .strip_prefix('$')
            .is_some_and(|name| name.starts_with(['{', '(']) || name.bytes().all(is_word))
        || value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_'))
        || NOTHING.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Says whether a word could stand in a sentence: letters, maybe joined, maybe with a mark at its end.
fn is_plain(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', ';', '!', '?']);
    word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '\'' | '’'))
        && !word.chars().skip(1).any(char::is_uppercase)
}

/// Says whether a text has twelve letters and digits, both of them, without a break.
fn looks_random(value: &str) -> bool {
    runs(value, |byte| byte.is_ascii_alphanumeric()).any(|run| {
        let run = part(value, run).as_bytes();
        run.len() >= 12
            && run.iter().any(u8::is_ascii_digit)
            && run.iter().any(u8::is_ascii_alphabetic)
    })
}

/// Says whether the rest of a token is more than words joined by dashes.
fn is_mixed(rest: &str) -> bool {
    rest.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        || rest.split(['-', '_']).any(|piece| piece.len() >= 16)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// Says whether no letter or digit stands before a place.
fn is_boundary(text: &str, place: usize) -> bool {
    !part(text, 0..place).ends_with(|letter: char| letter.is_alphanumeric())
}

/// Returns the first place from `start` on whose byte is not of the wanted kind.
fn skip(text: &str, start: usize, is_wanted: impl Fn(u8) -> bool) -> usize {
    let rest = part(text, start..text.len()).as_bytes();
    start + rest.iter().position(|byte| !is_wanted(*byte)).unwrap_or(rest.len())
}

/// Returns the longest runs of bytes of a kind.
fn runs(text: &str, is_wanted: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = Range<usize>> {
    let mut place = 0;
    std::iter::from_fn(move || {
        let start = skip(text, place, |byte| !is_wanted(byte));
        place = skip(text, start, is_wanted);
        (start < place).then_some(start..place)
    })
}

/// Returns a part of a text. Places come from searches for ASCII, so they are never inside a character.
fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests;
