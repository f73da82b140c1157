//! Commands that people are told to type, so that what they type reaches the fleet that is meant.
//!
//! What may go here: what such a command needs beside its own words. What may not: which command is worth telling.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// State folder that this process was given on its command line: one for a process, like the command line itself.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();

/// Lets every command that is told from now on name this state folder, absolute, since it was given to this one. Only the
/// first call counts.
pub fn tell_state_dir(path: &Path) {
    // A process has one command line.
    let _ = GIVEN.set(path.to_owned());
}

/// Returns a command as it is to be typed: `fleet resume k3f`, with the state folder that this process was given.
pub fn to_type(words: impl Display) -> String {
    typed(&words, GIVEN.get().map(PathBuf::as_path))
}

fn typed(words: &dyn Display, state_dir: Option<&Path>) -> String {
    let Some(path) = state_dir else { return format!("fleet {words}") };
    // What no terminal can be shown as it is cannot be typed as it is shown.
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    format!("fleet {words} --state-dir {}", text.map_or_else(|| "DIR".to_owned(), quoted))
}

/// Returns a word as it would be typed in a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |character: char| {
        character.is_alphanumeric()
            || matches!(character, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '@' | '+')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_state_folder_that_was_given() {
        let told = |path| typed(&"resume k3f", path);
        assert_eq!(told(None), "fleet resume k3f");
        assert_eq!(told(Some(Path::new("/s/one"))), "fleet resume k3f --state-dir /s/one");
        assert_eq!(
            told(Some(Path::new("/it's here"))),
            r"fleet resume k3f --state-dir '/it'\''s here'"
        );
        assert_eq!(told(Some(Path::new("/\u{1b}[31m"))), "fleet resume k3f --state-dir DIR");
    }
}
