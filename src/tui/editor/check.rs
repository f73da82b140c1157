//! What a draft comes to: how many tasks, and what is wrong with it.
//!
//! What may go here: when that is worked out, and for which line. What may not: the rules of tasks.
//! Counting is done at each key while the draft is small, checking when the typist rests: a task that is half typed is
//! not wrong yet, and a check may look at folders.

use std::time::Duration;

use super::attachments::Attachments;
use crate::core::{Moment, Task};
use crate::tui::session::{Problem, TaskMaker, TaskOptions};

/// How long nothing is typed before a draft is checked.
const REST: Duration = Duration::from_millis(500);
/// A draft of at most this many bytes is counted at every key.
const SMALL: usize = 64 * 1024;

/// What is known of a draft.
#[derive(Debug, Default)]
pub(super) struct Check {
    /// Tasks in it.
    pub(super) count: usize,
    /// What is wrong; empty also while that is not known.
    pub(super) problems: Vec<Problem>,
    /// When it is checked.
    due: Option<Moment>,
    is_stale: bool,
    options: TaskOptions,
}

impl Check {
    /// The draft has changed.
    pub(super) fn touch(&mut self) {
        self.is_stale = true;
    }

    /// Returns when the draft is to be checked.
    pub(super) fn due(&self) -> Option<Moment> {
        self.due
    }

    /// Works out what is due; `whole` gives the draft, if it is not blank.
    pub(super) fn run(
        &mut self,
        maker: &dyn TaskMaker,
        options: &TaskOptions,
        now: Moment,
        whole: impl FnOnce() -> Option<String>,
    ) {
        if self.options != *options {
            self.options.clone_from(options);
            self.is_stale = true;
        }
        let is_due = self.due.is_some_and(|due| due <= now);
        if !self.is_stale && !is_due {
            return;
        }
        let Some(draft) = whole() else {
            let options = std::mem::take(&mut self.options);
            *self = Self { options, ..Self::default() };
            return;
        };
        let is_small = draft.len() <= SMALL;
        if is_small || is_due || self.count == 0 {
            self.count = maker.count(&draft, options);
        }
        if is_due || (is_small && !self.problems.is_empty()) {
            self.problems = maker.make(&draft, options).problems;
        } else {
            self.problems.clear();
        }
        self.due = self.is_stale.then(|| now.after(REST));
        self.is_stale = false;
    }

    /// Says what is wrong at once.
    pub(super) fn set_problems(&mut self, problems: Vec<Problem>) {
        self.problems = problems;
        self.due = None;
    }
}

/// Returns the line of the text, from zero, in which a line of the whole draft, from one, is.
pub(super) fn shown_line(lines: &[String], attachments: &Attachments, wanted: usize) -> usize {
    let mut passed = 0;
    for (number, line) in lines.iter().enumerate() {
        passed += attachments.lines_in(line);
        if passed >= wanted {
            return number;
        }
    }
    lines.len().saturating_sub(1)
}

/// Returns the options with which a queued task was made.
pub(super) fn options_of(task: &Task) -> TaskOptions {
    TaskOptions {
        kind: task.kind.0.clone(),
        command: task.command.clone(),
        extra: task.extra.clone(),
        engine: task.engine.clone(),
        tier: task.tier.clone(),
        model: task.model.clone(),
        max_steps: task.max_steps,
        read_only: task.read_only,
        allow_shell: task.allow_shell,
        allow_web: task.allow_web,
        root: task.root.clone(),
        // The task keeps its variables; they were there when it was made.
        env: Vec::new(),
        budget: task.budget,
        timeout: task.timeout,
        idle_timeout: task.idle_timeout,
        keep_leftovers: task.leftovers == crate::core::Leftovers::Keep,
        context: task.context.clone(),
    }
}
