//! The agent kinds of this version and of the owner's config, as plans ask about them.
//!
//! What may go here: answers about kinds, from the adapters, the table of kinds and the config. What may not: plans.

use super::config::Config;
use super::plan::{Kinds, RealKind};
use crate::adapters::{self, Place, Prices, Tells, known_program, known_programs};
use crate::core::{AgentKind, KindTraits, Task, Usage};
use crate::supervise::is_on_path;

impl Config {
    /// Calls `ask` with what is known of kinds.
    pub(crate) fn with_kinds<T>(&self, ask: impl FnOnce(&Kinds<'_>) -> T) -> T {
        let path = std::env::var_os("PATH");
        ask(&Kinds {
            names: &self.names(),
            real: &self.tried(),
            preferred: self.agent.as_deref(),
            own: &self.kinds,
            traits: &|kind| self.traits(&kind.0),
            keys: &|kind| known_program(self.base(kind)).map_or(&[], |known| &known.keys),
            untold: &|task| self.untold(task),
            late: &|task| known_program(self.base(&task.kind.0)).is_some_and(|known| known.late),
            check: &check,
            installed: &|program| is_on_path(program, path.as_deref()),
        })
    }

    /// Returns what the core must know of a kind; `None` if there is no such kind.
    pub(crate) fn traits(&self, kind: &str) -> Option<KindTraits> {
        let base = AgentKind(self.base(kind).to_owned());
        adapters::adapter(&base).map(adapters::Adapter::traits)
    }

    /// Says whether tasks of a kind are prompts; those of a kind that is not known are.
    #[cfg(feature = "tui")]
    pub(crate) fn is_prompt(&self, kind: &str) -> bool {
        self.traits(kind).is_none_or(|traits| traits.prompt)
    }

    /// Returns the kind whose adapter drives a kind.
    pub(crate) fn base<'a>(&'a self, kind: &'a str) -> &'a str {
        self.kinds.get(kind).map_or(kind, |configured| &configured.own.adapter.0)
    }

    /// Returns the program of a kind, unless its tasks name it.
    pub(crate) fn program<'a>(&'a self, kind: &'a str) -> Option<&'a str> {
        let own = self.kinds.get(kind).and_then(|configured| configured.own.program.first());
        let base = || adapters::adapter(&AgentKind(self.base(kind).to_owned()))?.program();
        own.map(String::as_str).or_else(base)
    }

    /// Returns how to install the program of a kind, if anybody but its owner knows.
    pub(crate) fn install(&self, kind: &str) -> Option<&'static str> {
        let known = known_program(self.base(kind))?;
        // A program of the owner's own is not what the package has.
        (self.program(kind) == Some(&known.program)).then_some(known.install.as_str())
    }

    /// Returns the kinds that are tried when none is named, in order.
    pub(crate) fn tried(&self) -> Vec<RealKind<'_>> {
        let names: Vec<&str> = match &self.order {
            Some(order) => order.iter().map(String::as_str).collect(),
            None => known_programs().iter().map(|known| known.name.as_str()).collect(),
        };
        let real = |name| {
            let program = self.program(name)?;
            let install = self.install(name).unwrap_or("correct its command in the config file");
            Some(RealKind { name, program, install })
        };
        names.into_iter().filter_map(real).collect()
    }

    /// Returns the kind that is taken when none is named: the one that is set, else the first whose program is found.
    pub(crate) fn first_found(&self) -> Option<String> {
        let path = std::env::var_os("PATH");
        let found = |real: &&RealKind<'_>| is_on_path(real.program, path.as_deref());
        let first = || self.tried().iter().find(found).map(|real| real.name.to_owned());
        self.agent.clone().or_else(first)
    }

    /// Says why nobody will know what a task has cost, as a clause after its kind.
    fn untold(&self, task: &Task) -> Option<String> {
        let known = known_program(self.base(&task.kind.0))?;
        match (known.cost, &task.model) {
            (Tells::Nothing, _) => Some("does not say what it costs".to_owned()),
            (Tells::Tokens, Some(model)) => {
                let one = Usage { input: 1, output: 1, ..Usage::default() };
                let prices = Prices::new(self.prices.clone());
                let of = |provider| prices.estimate(provider, model, &one);
                let price = of(known.provider.as_deref()).or_else(|| of(None));
                price.is_none().then(|| {
                    "does not say what it costs, and the price of its model is not known ([prices] in the config file)"
                        .to_owned()
                })
            }
            (Tells::Dollars | Tells::Tokens, _) => None,
        }
    }

    /// Says the same of a kind whatever its model is.
    #[cfg(feature = "tui")]
    pub(crate) fn tells_cost(&self, kind: &str) -> bool {
        known_program(self.base(kind)).is_none_or(|known| known.cost != Tells::Nothing)
    }
}

/// Refuses options that the kind of a task cannot honour.
fn check(task: &Task) -> Result<(), String> {
    if adapters::adapter_of(task).is_none() {
        return Ok(());
    }
    // Where it will run does not matter for what a kind can do; a path of the longest form finds all refusals.
    let place = Place {
        task_file: task.root.join("task"),
        report: task.root.join("report.json"),
        mesh: None,
        token: None,
    };
    adapters::invocation(task, &place).map(drop).map_err(|refusal| refusal.to_string())
}
