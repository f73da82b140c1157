//! What a plan asks about agent kinds.
//!
//! What may go here: questions and how the default kind is chosen. What may not: answers about single kinds.

use crate::core::{AgentKind, KindTraits, Task};

/// A kind that stands for a real agent program, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealKind<'a> {
    /// Name of the kind.
    pub name: &'a str,
    /// Program that must be on PATH.
    pub program: &'a str,
    /// How to install it, as a command line.
    pub install: &'a str,
}

/// Answers about agent kinds.
pub struct Kinds<'a> {
    /// Every kind that a person can name.
    pub names: &'a [&'a str],
    /// Real agents in the order in which they are tried when none is named.
    pub real: &'a [RealKind<'a>],
    /// What the core must know of a kind; `None` if there is no such kind.
    pub traits: &'a dyn Fn(&AgentKind) -> Option<KindTraits>,
    /// Refuses options that a kind cannot honour, with a clause that says which and what to do.
    pub check: &'a dyn Fn(&Task) -> Result<(), String>,
    /// Says whether a program is found on PATH.
    pub installed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Kinds<'a> {
    /// Returns the first real kind whose program is found, or a sentence that says what to install.
    pub(super) fn default_kind(&self) -> Result<RealKind<'a>, String> {
        if let Some(kind) = self.real.iter().find(|kind| (self.installed)(kind.program)) {
            return Ok(*kind);
        }
        let programs: Vec<&str> = self.real.iter().map(|kind| kind.program).collect();
        let install: Vec<&str> = self.real.iter().map(|kind| kind.install).collect();
        Err(format!(
            "no agent program found on PATH (looked for {}): install one ({}), or run tasks as shell commands with --agent sh",
            programs.join(", "),
            install.join(" or "),
        ))
    }
}
