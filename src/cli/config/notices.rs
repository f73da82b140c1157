//! Who is told of notices, and how: `[notices]`.
//!
//! What may go here: its keys, the variables of the same names, and what each must be. What may not: when there is a notice,
//! telling anybody.

use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::source::{Item, Source};
use super::{Config, SHOWN};
use crate::cli::arguments::values;
use crate::cli::nearest::hint;
use crate::core::NoticeKind;
use crate::runtime::{MOST_NOTICE_TIME, NoticeCommand};
use crate::words::notice_line::Alerts;
use crate::words::plain_text::{cut_graphemes, one_line};

/// Keys of the table.
const KEYS: [&str; 5] = ["command", "time_limit", "on", "bell", "osc9"];
/// Time of a program for which none is set: enough for a message over a slow network.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// What the owner has set about notices.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Notices {
    /// Program that is told of each notice, with its arguments.
    pub command: Option<Vec<String>>,
    /// Most time for it.
    pub time_limit: Option<Duration>,
    /// What is told; `None` is everything.
    pub on: Option<Vec<NoticeKind>>,
    /// The terminal's bell rings.
    pub bell: Option<bool>,
    /// The terminal is asked to show a notification.
    pub osc9: Option<bool>,
}

impl Notices {
    /// Returns the program that a host has to tell; `None` if there is none.
    pub(crate) fn to_command(&self) -> Option<NoticeCommand> {
        let limit = self.time_limit.unwrap_or(TIME_LIMIT);
        Some(NoticeCommand { argv: self.command.clone()?, limit, on: self.told() })
    }

    /// Returns what the screen does with the terminal: it rings unless that is switched off.
    #[cfg(feature = "tui")]
    pub(crate) fn on_screen(&self) -> Alerts {
        let is_told = self.osc9 == Some(true);
        Alerts { bell: self.bell != Some(false), notification: is_told, on: self.told() }
    }

    /// Returns what a command in the foreground does with its terminal: nothing unless that is switched on, since nobody
    /// knows whether its window has the focus.
    pub(crate) fn in_foreground(&self) -> Alerts {
        let (bell, notification) = (self.bell == Some(true), self.osc9 == Some(true));
        Alerts { bell, notification, on: self.told() }
    }

    fn told(&self) -> Vec<NoticeKind> {
        self.on.clone().unwrap_or_else(|| NoticeKind::ALL.to_vec())
    }

    /// Lays what a table sets over what is set here.
    pub(super) fn lay_over(&mut self, source: &Source<'_>, item: &Item<'_>) -> Result<(), String> {
        for (key, item) in source.table("notices", item)? {
            match key.get_ref().as_ref() {
                "command" => self.command = command(source, item)?,
                "on" => self.on = Some(kinds(source, item)?),
                name @ ("time_limit" | "bell" | "osc9") => {
                    let text = source.scalar(name, item)?;
                    self.set(name, &text)
                        .map_err(|clause| source.wrong_value(item, name, &text, &clause))?;
                }
                _ => return Err(source.unknown(key, &KEYS)),
            }
        }
        Ok(())
    }

    /// Lays over what is set here what variables say: `FLEET_NOTICES_COMMAND` and so on, a list in brackets as in the file
    /// or a single word.
    pub(super) fn under_environment(
        &mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        for key in KEYS {
            let name = format!("FLEET_NOTICES_{}", key.to_ascii_uppercase());
            let Some(text) = variable(&name).filter(|text| !text.is_empty()) else { continue };
            let shown = || cut_graphemes(&one_line(&text), SHOWN);
            if !matches!(key, "command" | "on") {
                self.set(key, &text).map_err(|clause| format!("{name} '{}' {clause}", shown()))?;
                continue;
            }
            let is_list = text.trim_start().starts_with('[');
            let value = if is_list { text.clone() } else { toml::Value::from(&*text).to_string() };
            let line = format!("{key} = {value}");
            let source = Source::new(&name, &line);
            let table = DeTable::parse(&line).map_err(|error| source.syntax(&error))?;
            for (_, item) in table.get_ref() {
                match key {
                    "command" => self.command = command(&source, item)?,
                    _ => self.on = Some(kinds(&source, item)?),
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let flag = || text.parse().map_err(|_| "is neither true nor false".to_owned());
        match key {
            "bell" => self.bell = Some(flag()?),
            "osc9" => self.osc9 = Some(flag()?),
            _ => {
                let limit = values::span(text)?;
                if limit > MOST_NOTICE_TIME {
                    return Err("is longer than 5m: a notice that takes longer is none".to_owned());
                }
                self.time_limit = Some(limit);
            }
        }
        Ok(())
    }
}

/// Returns a command line; `None` for an empty list, which takes back what was set before.
fn command(source: &Source<'_>, item: &Item<'_>) -> Result<Option<Vec<String>>, String> {
    let words = source.words("command", item)?;
    let Some(program) = words.first() else { return Ok(None) };
    if program.trim().is_empty() {
        return Err(source.at(item, "command names no program"));
    }
    if program.contains('/') && !program.starts_with('/') {
        return Err(source.at(
            item,
            "command is a path from nowhere: write it in full, or the name of a program on PATH",
        ));
    }
    let has_blank = program.contains(char::is_whitespace);
    if words.len() == 1 && has_blank && !std::path::Path::new(program).exists() {
        return Err(source.at(
            item,
            "command is a list such as [\"notify\", \"--loud\"], since no shell reads it; for a shell's line write \
             [\"sh\", \"-c\", \"…\"]",
        ));
    }
    Ok(Some(words))
}

fn kinds(source: &Source<'_>, item: &Item<'_>) -> Result<Vec<NoticeKind>, String> {
    let known = NoticeKind::ALL.map(NoticeKind::as_str);
    let kind = |item: &Item<'_>| {
        let word = source.text("on", item)?;
        NoticeKind::from_word(&word).ok_or_else(|| {
            let hint = hint(&word, &known);
            let shown = cut_graphemes(&one_line(&word), SHOWN);
            source.at(
                item,
                &format!("there is no notice {shown}{hint}: it is one of {}", known.join(", ")),
            )
        })
    };
    match item.get_ref() {
        DeValue::Array(items) => items.iter().map(kind).collect(),
        DeValue::String(_) => Ok(vec![kind(item)?]),
        _ => Err(source.unlike(item, "on", "a list of notices such as [\"cap\", \"done\"]")),
    }
}

impl Config {
    /// Reads who is to be told of notices: from the owner's file and the environment, and never from a project's file. An
    /// error is a clause.
    pub(crate) fn load_notices() -> Result<Notices, String> {
        let owners = Self::path().map_or_else(|| Ok(Self::default()), |path| Self::read(&path))?;
        let mut notices = owners.notices;
        notices.under_environment(&|name| std::env::var(name).ok())?;
        Ok(notices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Notices, String> {
        Config::parse("c", text).map(|config| config.notices)
    }

    #[test]
    fn a_command_is_a_program_with_its_arguments_and_has_a_time() {
        let notices =
            parsed("[notices]\ncommand = [\"say\", \"it\"]\ntime_limit = \"3s\"\n").unwrap();
        let command = notices.to_command().unwrap();
        assert_eq!(command.argv, ["say", "it"]);
        assert_eq!(command.limit, Duration::from_secs(3));
        assert_eq!(command.on, NoticeKind::ALL);
        let notices =
            parsed("[notices]\ncommand = \"/bin/say\"\non = [\"cap\", \"done\"]\n").unwrap();
        let command = notices.to_command().unwrap();
        assert_eq!((command.argv.len(), command.limit), (1, TIME_LIMIT));
        assert_eq!(command.on, [NoticeKind::Cap, NoticeKind::Done]);
        assert_eq!(parsed("").unwrap().to_command(), None);
        assert_eq!(parsed("[notices]\ncommand = []\n").unwrap().to_command(), None);
    }

    #[test]
    fn the_screen_rings_unless_it_is_told_not_to_and_the_foreground_only_when_told() {
        let of = |text: &str| {
            let notices = parsed(text).unwrap();
            (notices.on_screen(), notices.in_foreground())
        };
        let (screen, foreground) = of("");
        assert!(screen.bell && !screen.notification);
        assert!(!foreground.bell && !foreground.notification);
        let (screen, foreground) = of("[notices]\nbell = false\nosc9 = true\n");
        assert!(!screen.bell && screen.notification);
        assert!(!foreground.bell && foreground.notification);
        assert!(of("[notices]\nbell = true\n").1.bell);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_to_write() {
        for (text, told) in [
            ("comand = \"x\"", "unknown key comand (did you mean command?)"),
            ("on = [\"faild\"]", "there is no notice faild (did you mean failed?)"),
            ("on = 3", "on is a number where a list of notices"),
            ("command = \"notify-send -u low\"", "command is a list such as"),
            ("command = \"./tell\"", "write it in full"),
            ("command = [\" \"]", "command names no program"),
            ("time_limit = \"10m\"", "is longer than 5m"),
            ("time_limit = \"0s\"", "is no time at all"),
            ("bell = 1", "bell '1' is neither true nor false"),
        ] {
            let error = parsed(&format!("[notices]\n{text}\n")).unwrap_err();
            assert!(error.starts_with("c, line 2, column ") && error.contains(told), "{error}");
        }
    }

    #[test]
    fn variables_go_before_the_file() {
        let given = |name: &str| {
            Some(match name {
                "FLEET_NOTICES_COMMAND" => "[\"a\", \"b \\\"c\\\"\"]".to_owned(),
                "FLEET_NOTICES_ON" => "failed".to_owned(),
                "FLEET_NOTICES_BELL" => "false".to_owned(),
                _ => return None,
            })
        };
        let mut notices = parsed("[notices]\ncommand = \"x\"\nbell = true\nosc9 = true\n").unwrap();
        notices.under_environment(&given).unwrap();
        assert_eq!(notices.command.as_deref(), Some(&["a".to_owned(), "b \"c\"".to_owned()][..]));
        assert_eq!(notices.on, Some(vec![NoticeKind::Failed]));
        assert_eq!((notices.bell, notices.osc9), (Some(false), Some(true)));
        let single =
            |name: &str| (name == "FLEET_NOTICES_COMMAND").then(|| "/a \"path\"/\\say".to_owned());
        assert!(notices.under_environment(&single).unwrap_err().contains("command is a list"));
        let wrong = |name: &str| (name == "FLEET_NOTICES_TIME_LIMIT").then(|| "soon".to_owned());
        let error = notices.under_environment(&wrong).unwrap_err();
        assert!(error.starts_with("FLEET_NOTICES_TIME_LIMIT 'soon' "), "{error}");
    }

    #[test]
    fn a_projects_file_cannot_name_a_program_that_is_told() {
        let text = "[notices]\ncommand = [\"curl\", \"http://elsewhere\"]\n";
        let error = Config::default().laid_over(".fleet.toml", text, super::super::Whose::Project);
        let error = error.unwrap_err();
        assert!(
            error.starts_with(".fleet.toml, line 1, column 2: notices are the owner's"),
            "{error}"
        );
    }
}
