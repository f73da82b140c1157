//! The programs that the terminal is handed to for a while: a pager, an editor.
//!
//! What may go here: which program, with which arguments, and what its end means. What may not: the terminal's modes.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use tempfile::NamedTempFile;

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    words: Vec<OsString>,
    /// The variable that names it, for messages.
    variable: &'static str,
}

/// A file that is ready for a program that gets the terminal.
#[derive(Debug)]
pub(super) struct Handed {
    pub(crate) program: Program,
    pub(crate) file: HandedFile,
}

/// Which file that is.
#[derive(Debug)]
pub(crate) enum HandedFile {
    /// One that stays.
    Kept(PathBuf),
    /// A copy of the draft, which is taken back, and the draft as it was.
    Draft(NamedTempFile, String),
}

impl HandedFile {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Draft(file, _) => file.path(),
        }
    }
}

/// What a pager or an editor did not do. It is told on the screen, which goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandoverError {
    /// It did not start.
    #[error("could not start {program}: {source}; set {variable} to one that is installed")]
    Start {
        /// The program.
        program: String,
        /// What names it.
        variable: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It says that it failed.
    #[error("{program} ended with {how}")]
    Failed {
        /// The program.
        program: String,
        /// Its code or signal.
        how: String,
    },
}

impl Program {
    /// The pager: `$PAGER`, else `less`, else `more`. `variable` reads the environment.
    pub(crate) fn pager(
        variable: &dyn Fn(&str) -> Option<String>,
        is_installed: &dyn Fn(&str) -> bool,
    ) -> Self {
        let usual = if is_installed("less") { "less -R" } else { "more" };
        Self::named(variable, &["PAGER"], usual, "PAGER")
    }

    /// The editor: `$VISUAL`, else `$EDITOR`, else `vi`.
    pub(crate) fn editor(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        Self::named(variable, &["VISUAL", "EDITOR"], "vi", "EDITOR")
    }

    fn named(
        variable: &dyn Fn(&str) -> Option<String>,
        names: &[&str],
        usual: &str,
        told: &'static str,
    ) -> Self {
        let chosen = names.iter().filter_map(|name| variable(name)).map(|text| split(&text));
        let words = chosen.into_iter().find(|words| !words.is_empty());
        let words = words.unwrap_or_else(|| split(usual));
        Self { words: words.into_iter().map(OsString::from).collect(), variable: told }
    }

    /// Its name, for messages.
    pub(crate) fn name(&self) -> String {
        self.words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Starts it on a file, on this terminal.
    pub(crate) fn start(&self, file: &Path) -> Result<Child, HandoverError> {
        let mut words = self.words.iter();
        let program = words.next().cloned().unwrap_or_default();
        Command::new(program).args(words).arg(file).spawn().map_err(|source| HandoverError::Start {
            program: self.name(),
            variable: self.variable,
            source,
        })
    }

    /// Says what its end means.
    pub(crate) fn judge(&self, status: io::Result<ExitStatus>) -> Result<(), HandoverError> {
        let how = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "an unknown status".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        Err(HandoverError::Failed { program: self.name(), how })
    }
}

/// Splits a command as a shell splits simple words: at spaces, with quotes and backslashes.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(one) = characters.next() {
        match (quote, one) {
            (Some(mark), one) if one == mark => quote = None,
            (None, '\'' | '"') => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                if let Some(next) = characters.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (None, one) if one.is_whitespace() => words.extend(word.take()),
            (_, one) => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would_split_simple_ones() {
        let table: &[(&str, &[&str])] = &[
            ("less -R", &["less", "-R"]),
            ("  vim  ", &["vim"]),
            ("'my editor' --wait", &["my editor", "--wait"]),
            (r#""C:\\e" a\ b"#, &["C:\\e", "a b"]),
            ("emacsclient -a ''", &["emacsclient", "-a", ""]),
            ("", &[]),
            ("'open", &["open"]),
            ("end\\", &["end"]),
        ];
        for (text, words) in table {
            assert_eq!(split(text), *words, "{text:?}");
        }
    }

    fn of(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn variables_choose_the_program_and_empty_ones_do_not() {
        let editor = |pairs| Program::editor(&of(pairs)).name();
        assert_eq!(editor(&[]), "vi");
        assert_eq!(editor(&[("EDITOR", "nano -w")]), "nano");
        assert_eq!(editor(&[("EDITOR", "nano"), ("VISUAL", "vim")]), "vim");
        assert_eq!(editor(&[("EDITOR", "nano"), ("VISUAL", " ")]), "nano");
        let pager = |pairs, less: bool| Program::pager(&of(pairs), &|_| less).words;
        assert_eq!(pager(&[], true), ["less", "-R"]);
        assert_eq!(pager(&[], false), ["more"]);
        assert_eq!(pager(&[("PAGER", "most")], true), ["most"]);
    }

    #[test]
    fn a_failure_names_the_program_and_what_to_do() {
        let program = Program::editor(&of(&[("EDITOR", "/nowhere/editor")]));
        let error = program.start(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(error.starts_with("could not start /nowhere/editor: "), "{error}");
        assert!(error.ends_with("; set EDITOR to one that is installed"), "{error}");
        let ended = |raw| program.judge(Ok(ExitStatus::from_raw(raw)));
        assert!(ended(0).is_ok());
        assert_eq!(
            ended(3 << 8).unwrap_err().to_string(),
            "/nowhere/editor ended with exit code 3"
        );
        assert_eq!(ended(9).unwrap_err().to_string(), "/nowhere/editor ended with signal 9");
    }
}
