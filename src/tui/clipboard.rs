//! Puts text on the clipboard of the person who sits at the terminal, wherever that is.
//!
//! What may go here: the ways there. What may not: choosing what is copied.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crossterm::clipboard::CopyToClipboard;
use crossterm::queue;

/// Most bytes that are copied. Terminals refuse longer sequences, each at another length and without a word.
pub(crate) const MOST_TEXT: usize = 100 * 1024;

/// How text gets to the clipboard from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through tmux, which has a clipboard of its own and passes it on.
    Tmux,
    /// Through the terminal, which may refuse silently.
    Terminal,
}

impl Way {
    /// Chooses the way; `variable` reads the environment.
    pub(crate) fn detect(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let is_tmux = variable("TMUX").is_some_and(|value| !value.is_empty());
        if is_tmux { Self::Tmux } else { Self::Terminal }
    }
}

/// Text was not copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// It is longer than terminals take.
    #[error("too long to copy: {0} KB, terminals take {most} KB", most = MOST_TEXT / 1024)]
    TooLong(usize),
    /// tmux could not be started.
    #[error("could not copy through tmux: {0}")]
    NoTmux(#[from] io::Error),
    /// tmux refused.
    #[error("could not copy through tmux: {0}")]
    Refused(String),
}

/// Refuses text that is too long.
pub(crate) fn check(text: &str) -> Result<(), CopyError> {
    if text.len() > MOST_TEXT { Err(CopyError::TooLong(text.len().div_ceil(1024))) } else { Ok(()) }
}

/// Returns what to write to the terminal to copy this text.
pub(crate) fn sequence(text: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    queue!(bytes, CopyToClipboard::to_clipboard_from(text))?;
    Ok(bytes)
}

/// Copies through tmux, which blocks until it has done so.
pub(crate) fn copy_through_tmux(text: &str) -> Result<(), CopyError> {
    let mut tmux = Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let written = match tmux.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Ok(()),
    };
    let output = tmux.wait_with_output()?;
    if output.status.success() {
        return Ok(written?);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(CopyError::Refused(said.lines().next().unwrap_or("it failed").to_owned()))
}
