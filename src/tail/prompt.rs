//! Whether the last thing that an agent has written looks like a question to whoever sits before it.
//!
//! What may go here: the end of its output, and what such a line looks like. What may not: whether it really waits, which
//! its processes tell.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::scan::files;

/// Bytes of a file's end that are looked at. No question is longer, colours included.
const LOOKED_AT: usize = 4096;

/// Characters of a question that are kept: its end, which says what is asked for.
const KEPT: usize = 60;

/// Ends of a line that asks for something, with the blank before what is to be typed. Without that blank they are too
/// common: a line that is just being written, or a program that shows what it is doing, ends so as well.
const OPEN: [&str; 3] = [": ", "? ", "> "];

/// Choices of an answer, in lower case; behind them the blank is often left out, or there is one of the marks once more.
const CHOICES: [&str; 7] =
    ["[y/n]", "(y/n)", "(y)", "[yes/no]", "(yes/no)", "(yes/no/[fingerprint])", "--more--"];

/// What is asked for by a line that ends in a colon, in lower case, for which the blank is often left out.
const SECRETS: [&str; 3] = ["password", "passphrase", "username"];

/// Words of a line that waits for a key, in lower case.
const KEYS: [&str; 4] = ["press enter", "press return", "press any key", "hit enter"];

/// Returns the end of the last line of `out` or `err` if it looks like a question and nothing was written after it; that
/// of `out` if both do. A file that cannot be read has none.
pub(crate) fn prompt(out: &Path, err: &Path) -> Option<String> {
    [out, err].into_iter().find_map(|path| prompt_in(&end(path).ok()?))
}

fn end(path: &Path) -> io::Result<Vec<u8>> {
    let file = files::open(path)?;
    let length = file.metadata()?.len();
    let wanted = length.min(u64::try_from(LOOKED_AT).unwrap_or(u64::MAX));
    let mut bytes = vec![0; usize::try_from(wanted).unwrap_or(LOOKED_AT)];
    file.read_exact_at(&mut bytes, length - wanted)?;
    Ok(bytes)
}

fn prompt_in(bytes: &[u8]) -> Option<String> {
    let line = bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let line = visible(&String::from_utf8_lossy(line));
    if !asks(&line.to_lowercase()) {
        return None;
    }
    let skipped = line.chars().count().saturating_sub(KEPT);
    Some(line.chars().skip(skipped).collect())
}

/// Says whether a line, in lower case, asks for something.
fn asks(line: &str) -> bool {
    let bare = line.trim_end();
    let chosen = bare.trim_end_matches([':', '?', '>', ' ']);
    let has_any = |words: &[&str]| words.iter().any(|words| line.contains(words));
    !bare.is_empty()
        && (OPEN.iter().any(|end| line.ends_with(end))
            || CHOICES.iter().any(|end| chosen.ends_with(end))
            || (bare.ends_with(':') && has_any(&SECRETS))
            || has_any(&KEYS))
}

/// Returns what is seen of a line: colours and moves of the cursor are not.
fn visible(line: &str) -> String {
    let mut seen = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            // Parameters, then one final character from @ to ~.
            while characters.next().is_some_and(|character| !matches!(character, '@'..='~')) {}
        } else if !character.is_control() {
            seen.push(character);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_without_an_end_that_asks_is_a_prompt() {
        for (text, seen) in [
            ("Password: ", "Password: "),
            ("one\ntwo\nName? ", "Name? "),
            ("sudo: [sudo] password for me:", "sudo: [sudo] password for me:"),
            ("Enter PASSWORD:", "Enter PASSWORD:"),
            ("Overwrite a.txt? [y/N]", "Overwrite a.txt? [y/N]"),
            ("Go on? (Y/n): ", "Go on? (Y/n): "),
            ("Ok to proceed? (y) ", "Ok to proceed? (y) "),
            ("really (yes/no)? ", "really (yes/no)? "),
            ("connecting (yes/no/[fingerprint])?", "connecting (yes/no/[fingerprint])?"),
            (">>> ", ">>> "),
            ("Press any key to continue . . .", "Press any key to continue . . ."),
            ("50%\r100%\rContinue? ", "Continue? "),
            (
                "\u{1b}[32m?\u{1b}[39m \u{1b}[1mInstall?\u{1b}[22m \u{1b}[2m(Y/n)\u{1b}[22m \u{1b}[12G",
                "? Install? (Y/n) ",
            ),
        ] {
            assert_eq!(prompt_in(text.as_bytes()).as_deref(), Some(seen), "{text:?}");
        }
    }

    #[test]
    fn what_has_an_end_or_asks_for_nothing_is_none() {
        for text in [
            "",
            "   ",
            "Password: \n",
            "What is left?\n",
            "compiling",
            "100%",
            "Downloading:",
            "why?",
            "<a href=\"x\">",
            "Name? \r\n",
            "working...",
        ] {
            assert_eq!(prompt_in(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn of_a_long_line_the_end_is_kept_and_nothing_that_steers_a_terminal() {
        let long = format!("{}\u{1b}[2J\u{7}Name: ", "ä".repeat(9_000));
        let temp = tempfile::tempdir().unwrap();
        let (out, err) = (temp.path().join("out"), temp.path().join("err"));
        assert_eq!(prompt(&out, &err), None, "there are no files");
        std::fs::write(&err, long).unwrap();
        let seen = prompt(&out, &err).unwrap();
        assert_eq!(seen, format!("{}Name: ", "ä".repeat(KEPT - 6)));
        std::fs::write(&out, "done\n").unwrap();
        assert_eq!(prompt(&out, &err).as_ref(), Some(&seen));
        std::fs::write(&out, b"\xff\xfe? ").unwrap();
        assert_eq!(prompt(&out, &err).as_deref(), Some("\u{fffd}\u{fffd}? "));
    }
}
