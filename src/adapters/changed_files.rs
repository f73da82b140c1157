//! The files that an agent has changed, as its output tells them one by one.
//!
//! What may go here: keeping them within bounds. What may not: which call of a program changes which file.

use serde::{Deserialize, Serialize};

use super::closing_word::FILES;

/// Files that were changed, each once, the one that was changed first in front.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ChangedFiles(Vec<String>);

impl ChangedFiles {
    /// Takes note of a file; a blank name is none.
    pub(super) fn add(&mut self, file: String) {
        if self.0.len() < FILES && !file.trim().is_empty() && !self.0.contains(&file) {
            self.0.push(file);
        }
    }

    /// Takes a file out again.
    pub(super) fn remove(&mut self, file: &str) {
        self.0.retain(|changed| changed != file);
    }

    /// Returns all of them.
    pub(super) fn to_list(&self) -> Vec<String> {
        self.0.clone()
    }

    /// Returns the first of them, until one does not fit.
    pub(super) fn first(&self, mut fits: impl FnMut(&str) -> bool) -> Self {
        Self(self.0.iter().take_while(|file| fits(file)).cloned().collect())
    }
}

/// Returns what says of one text after the other whether there is still room for it, in this many bytes in all.
pub(super) fn room(bytes: usize) -> impl FnMut(&str) -> bool {
    let mut left = bytes;
    move |text| {
        left = left.saturating_sub(text.len());
        left > 0
    }
}
