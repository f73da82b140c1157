//! What a plan asks about agent kinds.
//!
//! What may go here: questions and how the default kind is chosen. What may not: answers about single kinds.

use std::collections::BTreeMap;

use crate::core::{AgentKind, KindTraits, OwnKind, Task};

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

/// A kind of the owner's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredKind {
    /// What its tasks carry along.
    pub own: OwnKind,
    /// Variables that its agents need; empty: any of those that its adapter's program takes keys from.
    pub env: Vec<String>,
}

/// Answers about agent kinds.
pub struct Kinds<'a> {
    /// Every kind that a person can name.
    pub names: &'a [&'a str],
    /// Real agents in the order in which they are tried when none is named.
    pub real: &'a [RealKind<'a>],
    /// The kind that is taken when none is named, whatever is found.
    pub preferred: Option<&'a str>,
    /// Kinds of the owner's own.
    pub own: &'a BTreeMap<String, ConfiguredKind>,
    /// What the core must know of a kind; `None` if there is no such kind.
    pub traits: &'a dyn Fn(&AgentKind) -> Option<KindTraits>,
    /// Variables from which the program of a kind takes keys.
    pub keys: &'a dyn Fn(&str) -> &'static [String],
    /// Says why nobody will know what a task has cost, as a clause after its kind; `None` if that will be known.
    pub untold: &'a dyn Fn(&Task) -> Option<String>,
    /// Says whether what a task costs is told only when it has ended, so that nothing can stop it before.
    pub late: &'a dyn Fn(&Task) -> bool,
    /// Refuses options that a kind cannot honour, with a clause that says which and what to do.
    pub check: &'a dyn Fn(&Task) -> Result<(), String>,
    /// Says whether a program is found on PATH.
    pub installed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Kinds<'a> {
    /// Returns the kind that is taken when none is named, with a remark that says so; or a sentence that says what to
    /// install.
    pub(super) fn default_kind(&self) -> Result<(&'a str, String), String> {
        if let Some(name) = self.preferred {
            return Ok((
                name,
                format!("agent {name}: as the config file says (--agent chooses another)"),
            ));
        }
        if let Some(kind) = self.real.iter().find(|kind| (self.installed)(kind.program)) {
            let name = kind.name;
            let remark = format!("agent {name}: the first found on PATH (--agent chooses another)");
            return Ok((name, remark));
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
