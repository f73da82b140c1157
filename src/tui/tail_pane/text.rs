//! The texts of an agent that can be shown: where they come from, how they are called, what is said of an empty one.
//!
//! What may go here: choosing and naming. What may not: keys, drawing.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::adapters::{self, FirstText};
use crate::core::{Row, Status, Task};
use crate::tui::world::World;
use crate::words::changed_files::{also_changed, source};
use crate::words::plain_text::{count, one_line};
use crate::words::time_text::age;
use crate::words::why;

/// One of the texts of an agent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// Its standard output.
    #[default]
    Out,
    /// Its standard error.
    Err,
    /// The account of what it did.
    Transcript,
    /// Its final answer.
    Answer,
    /// The files that it says it changed.
    Files,
}

/// Where a text is.
#[derive(Debug)]
pub(super) enum Content {
    /// In a file.
    File(PathBuf),
    /// In the snapshot.
    Text(String),
}

impl Text {
    /// All of them, in the order in which a key goes through them.
    pub(super) const ALL: [Self; 5] =
        [Self::Out, Self::Err, Self::Transcript, Self::Answer, Self::Files];

    /// Returns the one that tells most of the agent of a task.
    pub(super) fn first(task: &Task) -> Self {
        match adapters::first_text(task) {
            FirstText::Out => Self::Out,
            FirstText::Transcript => Self::Transcript,
        }
    }

    /// Returns the one after this.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Out => Self::Err,
            Self::Err => Self::Transcript,
            Self::Transcript => Self::Answer,
            Self::Answer => Self::Files,
            Self::Files => Self::Out,
        }
    }

    /// Returns how it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::Err => "err",
            Self::Transcript => "transcript",
            Self::Answer => "answer",
            Self::Files => "files",
        }
    }

    /// Returns where it is.
    pub(super) fn content(self, row: &Row, world: &World) -> Content {
        let dir = world.agent_dir(row.id);
        match self {
            Self::Out => Content::File(dir.out()),
            Self::Err => Content::File(dir.err()),
            Self::Transcript => Content::File(dir.transcript()),
            Self::Answer => Content::Text(row.answer.clone()),
            Self::Files => Content::Text(files(row, world)),
        }
    }

    /// Says whether a text of the snapshot is still the one that is shown.
    pub(super) fn is_still(self, shown: &str, row: &Row, world: &World) -> bool {
        match self {
            Self::Out | Self::Err | Self::Transcript => true,
            Self::Answer => row.answer == shown,
            Self::Files => files(row, world) == shown,
        }
    }

    /// Returns what is said when there is nothing to show; `has_file` is whether the file is there.
    pub(super) fn empty(self, row: &Row, has_file: bool, world: &World) -> Cow<'static, str> {
        let id = row.id;
        let name = self.name();
        let quiet = match why::quiet(row, world.clock()) {
            Some(quiet) => format!("quiet for {}", age(quiet)),
            None => String::new(),
        };
        match (self, row.status) {
            (_, Status::Queued) => format!("{id} has not started: its {name} will be here").into(),
            (_, Status::Starting) => format!("{id} is being started").into(),
            (Self::Answer, Status::Ended(_)) => format!("{id} ended without an answer").into(),
            (Self::Answer, _) => format!("no answer yet: it comes at the end; {quiet}").into(),
            (Self::Files, Status::Ended(_)) => format!("{id} told of no changed files").into(),
            (Self::Files, _) => "no changed files yet".into(),
            (Self::Out | Self::Err | Self::Transcript, Status::Ended(_)) if row.started.is_none() => {
                format!("{id} never ran: there is no {name}").into()
            }
            (Self::Transcript, _) => match &row.transcript_trouble {
                Some(why) => format!("{id} has no transcript: {}", why::head(why)).into(),
                None if has_file => "nothing is told yet".into(),
                None => format!("{id} has no transcript: an earlier version of Fleet ran it, or somebody removed it").into(),
            },
            (Self::Out | Self::Err, Status::Ended(_)) if has_file => {
                format!("{id} wrote nothing to {name}").into()
            }
            (Self::Out | Self::Err, Status::Ended(_)) => {
                format!("the file of {name} is gone: somebody removed it").into()
            }
            (Self::Out | Self::Err, Status::Running | Status::Stopping | Status::Ending) => {
                format!("nothing written to {name} yet: {quiet}; some agents print only at the end")
                    .into()
            }
        }
    }
}

/// The changed files of an agent, one a line, each with the other agents that changed it.
fn files(row: &Row, world: &World) -> String {
    let mut text = source(row).map(|source| format!("{source}\n")).unwrap_or_default();
    for (file, agents) in also_changed(row, &world.snapshot) {
        text.push_str(&one_line(file));
        if !agents.is_empty() {
            text.push_str("   also changed by ");
            text.push_str(&agents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        }
        text.push('\n');
    }
    text
}

/// Returns how many files there are, as a name for the tab.
pub(super) fn tab(text: Text, row: Option<&Row>) -> Cow<'static, str> {
    match (text, row.map_or(0, |row| row.files_changed.len())) {
        (Text::Files, number) if number > 0 => count(number, "file").into(),
        (text, _) => text.name().into(),
    }
}
