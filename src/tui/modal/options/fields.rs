//! The options of what is typed, as fields: names, what an empty one means, reading them.
//!
//! What may go here: one field at a time. What may not: keys, drawing.

use std::path::Path;

use super::super::entry::Entry;
use super::words;
use crate::core::NanoUsd;
use crate::tui::session::{TaskMaker, TaskOptions};
use crate::words::plain_text::one_line;
use crate::words::time_text;

/// Bytes of a value at most: a text for all tasks of a batch may be pasted into one.
const MOST_BYTES: usize = 16 * 1024;

/// A field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Kind,
    Model,
    Engine,
    Tier,
    Folder,
    Budget,
    Timeout,
    IdleTimeout,
    MaxSteps,
    ReadOnly,
    Shell,
    Web,
    Leftovers,
    Variables,
    Arguments,
    Context,
}

impl Field {
    /// All of them, in the order in which they stand.
    pub(super) const ALL: [Self; 16] = [
        Self::Kind,
        Self::Model,
        Self::Engine,
        Self::Tier,
        Self::Folder,
        Self::Budget,
        Self::Timeout,
        Self::IdleTimeout,
        Self::MaxSteps,
        Self::ReadOnly,
        Self::Shell,
        Self::Web,
        Self::Leftovers,
        Self::Variables,
        Self::Arguments,
        Self::Context,
    ];

    /// Returns what it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Model => "model",
            Self::Engine => "engine",
            Self::Tier => "tier",
            Self::Folder => "folder",
            Self::Budget => "budget",
            Self::Timeout => "timeout",
            Self::IdleTimeout => "idle timeout",
            Self::MaxSteps => "max steps",
            Self::ReadOnly => "read only",
            Self::Shell => "shell",
            Self::Web => "web",
            Self::Leftovers => "leftovers",
            Self::Variables => "variables",
            Self::Arguments => "arguments",
            Self::Context => "context",
        }
    }

    /// Returns what an empty one means.
    pub(super) fn default(self) -> &'static str {
        match self {
            Self::Model | Self::Engine | Self::Tier | Self::MaxSteps => "the program's own",
            Self::Folder => "the fleet's folder",
            Self::Budget | Self::Timeout | Self::IdleTimeout => "no limit",
            _ => "none",
        }
    }

    /// Returns what it is for.
    pub(super) fn help(self) -> &'static str {
        match self {
            Self::Kind => "the program that works on the tasks",
            Self::Model => "the model, as the program calls it",
            Self::Engine => "the engine, as the program calls it",
            Self::Tier => "the tier, as the program calls it",
            Self::Folder => "where agents work",
            Self::Budget => "most that one agent may cost in dollars, like 2 or 1.50",
            Self::Timeout => "most time of one agent, like 30s, 5m or 1h30m",
            Self::IdleTimeout => "most time of one agent without progress, like 5m",
            Self::MaxSteps => "most steps of one agent",
            Self::ReadOnly => "agents may not write files",
            Self::Shell => "agents may run commands",
            Self::Web => "agents may use the web",
            Self::Leftovers => "what becomes of processes that an agent leaves behind",
            Self::Variables => "NAME hands yours on, NAME=VALUE gives another; blanks between",
            Self::Arguments => "more arguments for the program, with blanks between them",
            Self::Context => "a text that is put before every task",
        }
    }

    /// Says whether it is either on or off.
    pub(super) fn is_switch(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Shell | Self::Web | Self::Leftovers)
    }

    /// Says whether its value is typed.
    pub(super) fn is_typed(self) -> bool {
        self != Self::Kind && !self.is_switch()
    }

    /// Returns the value that options have, for typing.
    pub(super) fn entry(self, options: &TaskOptions) -> Entry {
        let span = |span: Option<std::time::Duration>| span.map(span_text);
        let text = match self {
            Self::Model => options.model.clone(),
            Self::Engine => options.engine.clone(),
            Self::Tier => options.tier.clone(),
            Self::Folder => Some(options.root.to_string_lossy().into_owned()),
            Self::Budget => options.budget.map(NanoUsd::to_exact),
            Self::Timeout => span(options.timeout),
            Self::IdleTimeout => span(options.idle_timeout),
            Self::MaxSteps => options.max_steps.map(|most| most.to_string()),
            Self::Context => options.context.clone(),
            Self::Variables => Some(variables(options, |value| value)),
            Self::Arguments => Some(words::write(options.extra.iter().cloned())),
            _ => None,
        };
        Entry::new(text.unwrap_or_default(), MOST_BYTES)
    }

    /// Returns the switch that options have.
    pub(super) fn switch(self, options: &mut TaskOptions) -> Option<&mut bool> {
        match self {
            Self::ReadOnly => Some(&mut options.read_only),
            Self::Shell => Some(&mut options.allow_shell),
            Self::Web => Some(&mut options.allow_web),
            Self::Leftovers => Some(&mut options.keep_leftovers),
            _ => None,
        }
    }

    /// Returns what a switch shows: on, off.
    pub(super) fn states(self) -> (&'static str, &'static str) {
        if self == Self::Leftovers { ("kept", "ended") } else { ("yes", "no") }
    }

    /// Reads what is typed into options; the error is a sentence. `folder` is the fleet's.
    pub(super) fn read(
        self,
        text: &str,
        folder: &Path,
        maker: &dyn TaskMaker,
        options: &mut TaskOptions,
    ) -> Result<(), String> {
        // What is unchanged is kept as it is, even if it cannot be told in text.
        if self.entry(options).text() == text && !text.is_empty() {
            return Ok(());
        }
        let trimmed = text.trim();
        let name = (!trimmed.is_empty()).then(|| trimmed.to_owned());
        let wrong = |clause: &dyn std::fmt::Display| format!("'{}' {clause}", one_line(trimmed));
        let span = || name.as_deref().map(time_text::parse).transpose().map_err(|it| wrong(&it));
        match self {
            Self::Model => options.model = name,
            Self::Engine => options.engine = name,
            Self::Tier => options.tier = name,
            Self::Context => options.context = name,
            Self::Folder => options.root = name.map_or(folder.to_owned(), |it| folder.join(it)),
            Self::Budget => {
                let parsed = name.as_deref().map(str::parse).transpose();
                options.budget = parsed.map_err(|it: crate::core::MoneyError| wrong(&it))?;
            }
            Self::Timeout => options.timeout = span()?,
            Self::IdleTimeout => options.idle_timeout = span()?,
            Self::MaxSteps => {
                let parsed = name.as_deref().map(str::parse::<u32>).transpose();
                let most = parsed.map_err(|_| wrong(&"is no whole number of steps"))?;
                if most == Some(0) {
                    return Err("no step at all does nothing: at least 1".to_owned());
                }
                options.max_steps = most;
            }
            Self::Variables => {
                let words = words::read(text)?;
                let read = |word: &String| {
                    let told = one_line(word.split_once('=').map_or(word, |(name, _)| name));
                    maker.read_variable(word).map_err(|it| format!("'{told}' {it}"))
                };
                options.env = words.iter().map(read).collect::<Result<_, _>>()?;
            }
            Self::Arguments => options.extra = words::read(text)?,
            Self::Kind | Self::ReadOnly | Self::Shell | Self::Web | Self::Leftovers => {}
        }
        Ok(())
    }
}

/// Returns the variables as words; `shown` says what stands for a value.
pub(super) fn variables(options: &TaskOptions, shown: impl Fn(&str) -> &str) -> String {
    words::write(options.env.iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={}", shown(value)),
        None => name.clone(),
    }))
}

/// Returns a span in the form in which it is read, with nothing rounded.
fn span_text(span: std::time::Duration) -> String {
    let (seconds, milliseconds) = (span.as_secs(), span.subsec_millis());
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
        (u64::from(milliseconds), "ms"),
    ];
    let told = parts.iter().filter(|(many, _)| *many > 0);
    told.map(|(many, unit)| format!("{many}{unit}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tui::testing::Lines;

    #[test]
    fn what_is_shown_is_read_as_the_same_options() {
        let options = TaskOptions {
            kind: "ygg".to_owned(),
            model: Some("m".to_owned()),
            max_steps: Some(8),
            root: "/repo".into(),
            budget: Some(NanoUsd::from_nanos(4_200_000)),
            timeout: Some(Duration::from_millis(5_461_500)),
            idle_timeout: Some(Duration::from_hours(2)),
            context: Some("two\nlines".to_owned()),
            env: vec![("A".to_owned(), Some("b 'c' \\".to_owned())), ("PATH".to_owned(), None)],
            extra: vec!["--flag".to_owned(), "two words".to_owned(), String::new()],
            ..TaskOptions::default()
        };
        let mut read = TaskOptions { root: "/repo".into(), ..TaskOptions::default() };
        for field in Field::ALL {
            let entry = field.entry(&options);
            assert_eq!(field.read(entry.text(), Path::new("/other"), &Lines, &mut read), Ok(()));
        }
        assert_eq!(read, TaskOptions { kind: String::new(), ..options });
    }

    #[test]
    fn wrong_values_are_refused_with_the_reason() {
        let mut options = TaskOptions::default();
        let mut refused = |field: Field, text: &str| {
            let before = options.clone();
            let reason = field.read(text, Path::new("/repo"), &Lines, &mut options).unwrap_err();
            assert_eq!(options, before);
            reason
        };
        assert!(refused(Field::Budget, "ten").starts_with("'ten' is not an amount of dollars"));
        assert!(refused(Field::Timeout, "30").starts_with("'30' has no unit"));
        assert!(refused(Field::IdleTimeout, "2d").starts_with("'2d' is in days"));
        assert_eq!(refused(Field::Variables, "A=1 =secret"), "'' has no name");
        let open = "this ends within a quotation: close it";
        assert_eq!(refused(Field::Variables, "a \"b"), open);
        assert_eq!(refused(Field::Arguments, "a \"b"), open);
        assert_eq!(refused(Field::MaxSteps, "-1"), "'-1' is no whole number of steps");
        assert_eq!(refused(Field::MaxSteps, "0"), "no step at all does nothing: at least 1");
    }

    #[test]
    fn an_empty_folder_is_that_of_the_fleet_and_a_relative_one_is_in_it() {
        let mut options = TaskOptions { root: "/old".into(), ..TaskOptions::default() };
        for (text, root) in [("", "/repo"), ("src", "/repo/src"), ("/tmp", "/tmp")] {
            Field::Folder.read(text, Path::new("/repo"), &Lines, &mut options).unwrap();
            assert_eq!(options.root, Path::new(root));
        }
    }
}
