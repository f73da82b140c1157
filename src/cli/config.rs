//! The owner's config file and a project's: which agent is taken, kinds of the owner's own, prices, and what options begin
//! with.
//!
//! What may go here: its keys and what each must be. What may not: what the settings lead to, which is the same as if they
//! had been given on the command line.

mod kind;
mod notices;
pub(crate) mod project;
mod source;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy as _;
use toml::de::{DeTable, DeValue};

use super::act::Failure;
use super::arguments::{LimitArguments, RunArguments, values};
use super::nearest::hint;
use super::plan::ConfiguredKind;
use super::run::current_folder;
use crate::adapters::{COMMAND, known_kinds};
use crate::core::{NanoUsd, Price};
use crate::journal::folder_of;
use crate::words::plain_text::{cut_graphemes, one_line};
pub use notices::Notices;
use source::{Item, Source};

/// Longest value that an error repeats, in graphemes.
const SHOWN: usize = 40;
/// Largest file that is read, in bytes: more is no config that anybody wrote.
const MOST_BYTES: u64 = 1024 * 1024;

/// What the owner has set once and for all. What a command line says goes before it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Config {
    /// The kind that is taken when none is named.
    pub agent: Option<String>,
    /// Kinds in the order in which they are tried when none is named; `None` is the order of the table of kinds.
    pub order: Option<Vec<String>>,
    /// Kinds of the owner's own, by name.
    pub kinds: BTreeMap<String, ConfiguredKind>,
    /// Prices of models, by name.
    pub prices: BTreeMap<String, Price>,
    /// Who is told of notices, and how.
    pub notices: Notices,
    /// What options begin with.
    pub settings: Settings,
    /// Why the project's file is not read, if it is there and is not.
    pub(crate) remark: Option<String>,
}

/// Options that can be set in the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Limits of the fleet.
    pub limits: LimitArguments,
    /// How long an agent may live without a host.
    pub orphan_limit: Option<Duration>,
    /// Most that one agent may cost.
    pub budget: Option<NanoUsd>,
    /// Most time of one agent.
    pub timeout: Option<Duration>,
    /// Most time of one agent without output.
    pub idle_timeout: Option<Duration>,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The owner's own, for all folders.
    Owner,
    /// A project's, which its owner has trusted.
    Project,
}

type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Keys of options, named like them, each with how it is set.
const SETTINGS: [(&str, Set); 14] = [
    ("cap", |to, text| set(&mut to.limits.cap, values::money(text))),
    ("assume_cost", |to, text| set(&mut to.limits.assume_cost, values::money(text))),
    ("max_parallel", |to, text| set(&mut to.limits.max_parallel, values::parallel(text))),
    ("max_local", |to, text| set(&mut to.limits.max_local, values::at_least_zero(text))),
    ("deadline", |to, text| set(&mut to.limits.deadline, values::span(text))),
    ("grace", |to, text| set(&mut to.limits.grace, values::span(text))),
    ("stale", |to, text| set(&mut to.limits.stale, values::span(text))),
    ("stale_tool", |to, text| set(&mut to.limits.stale_tool, values::span(text))),
    ("stale_grace", |to, text| set(&mut to.limits.stale_grace, values::span(text))),
    ("stale_stop", |to, text| {
        to.limits.stale_stop = text.parse().map_err(|_| "is neither true nor false".to_owned())?;
        Ok(())
    }),
    ("orphan_limit", |to, text| set(&mut to.orphan_limit, values::span(text))),
    ("budget", |to, text| set(&mut to.budget, values::money(text))),
    ("timeout", |to, text| set(&mut to.timeout, values::span(text))),
    ("idle_timeout", |to, text| set(&mut to.idle_timeout, values::span(text))),
];

/// Kind that takes the text of a task as a shell command.
const SHELL: &str = "sh";
/// Keys that are no options.
const OTHERS: [&str; 5] = ["agent", "order", "kinds", "notices", "prices"];

fn set<T>(slot: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *slot = Some(value?);
    Ok(())
}

impl Config {
    /// Returns where the file is looked for; `None` where there is no home folder.
    pub fn path() -> Option<PathBuf> {
        let folders = etcetera::base_strategy::Xdg::new().ok()?;
        Some(folders.config_dir().join("loki-fleet").join("config.toml"))
    }

    /// Reads the owner's file, lays over it that of the project if it is trusted, and over both what the environment says.
    /// Without any nothing is set; one that cannot be read or has a mistake is never left out of account, but told in one
    /// sentence. A project's file that is not trusted is said to be left out, on stderr.
    pub(crate) fn load() -> Result<Self, Failure> {
        let config = Self::load_quietly()?;
        if let Some(remark) = &config.remark {
            // There is nobody else to tell.
            let _ = writeln!(io::stderr(), "fleet: {remark}");
        }
        Ok(config)
    }

    /// The same for whoever tells by himself that a project's file is not read.
    pub(crate) fn load_quietly() -> Result<Self, Failure> {
        let mut config = Self::path()
            .map_or_else(|| Ok(Self::default()), |path| Self::read(&path))
            .map_err(Failure::input)?;
        match project::trusted(&folder_of(&current_folder()?)) {
            Ok(Some(file)) => {
                config = config
                    .laid_over(&file.name(), &file.text, Whose::Project)
                    .map_err(Failure::input)?;
            }
            Ok(None) => {}
            Err(remark) => config.remark = Some(remark),
        }
        config.under_environment(&|name| std::env::var(name).ok()).map_err(Failure::input)
    }

    /// Reads a file; see [`Config::load`].
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = one_line(&path.to_string_lossy());
        let unread = |why: &dyn std::fmt::Display| {
            format!("the config file {name} cannot be read: {why} (correct it or move it away)")
        };
        let mut bytes = Vec::new();
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            opened => opened
                .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
                .map_err(|error| unread(&error))?,
        };
        if bytes.len() as u64 > MOST_BYTES {
            return Err(unread(&"it is longer than 1 MiB"));
        }
        let text = String::from_utf8(bytes).map_err(|_| unread(&"it is no UTF-8 text"))?;
        Self::parse(&name, &text)
    }

    /// Reads a text; `name` is what errors call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        Self::default().laid_over(name, text, Whose::Owner)
    }

    /// Lays what a text sets over what is set already.
    pub(crate) fn laid_over(self, name: &str, text: &str, whose: Whose) -> Result<Self, String> {
        let source = Source::new(name, text);
        let document = DeTable::parse(text).map_err(|error| source.syntax(&error))?;
        let mut config = self;
        let document = document.get_ref();
        if let Some(kinds) = document.get("kinds") {
            config.kinds.extend(kind::kinds(&source, kinds)?);
        }
        if document.contains_key("order") {
            // What was to be taken in any case is not taken before an order that goes before it.
            config.agent = None;
        }
        for (key, item) in document {
            let name: &str = key.get_ref();
            let setting = SETTINGS.iter().find(|(known, _)| *known == name);
            match name {
                "kinds" => {}
                "agent" => {
                    let kind = source.text(name, item)?;
                    config.agent = Some(config.known(&source, kind, item, whose)?);
                }
                "order" => config.order = Some(config.order(&source, item, whose)?),
                "notices" if whose == Whose::Project => {
                    return Err(source.at_key(
                        key,
                        "notices are the owner's to say, since a program of theirs is run for them: move them to the \
                         owner's config file",
                    ));
                }
                "notices" => config.notices.lay_over(&source, item)?,
                "prices" if whose == Whose::Project => {
                    return Err(source.at_key(
                        key,
                        "prices are the owner's to say, since the cap is counted by them: move them to the owner's \
                         config file",
                    ));
                }
                "prices" => config.prices = prices(&source, item)?,
                _ => {
                    let (_, set) = setting.ok_or_else(|| {
                        let mut known = OTHERS.to_vec();
                        known.extend(SETTINGS.map(|(known, _)| known));
                        source.unknown(key, &known)
                    })?;
                    let text = source.scalar(name, item)?;
                    set(&mut config.settings, &text)
                        .map_err(|clause| source.wrong_value(item, name, &text, &clause))?;
                }
            }
        }
        Ok(config)
    }

    fn order(
        &self,
        source: &Source<'_>,
        item: &Item<'_>,
        whose: Whose,
    ) -> Result<Vec<String>, String> {
        let DeValue::Array(items) = item.get_ref() else {
            return Err(source.unlike(
                item,
                "order",
                "a list of kinds such as [\"codex\", \"claude\"]",
            ));
        };
        let kind = |item| self.known(source, source.text("order", item)?, item, whose);
        let order = items.iter().map(kind).collect::<Result<Vec<_>, String>>()?;
        if order.is_empty() {
            return Err(
                source.at(item, "order has no kind in it: name at least one, or leave it out")
            );
        }
        Ok(order)
    }

    /// Returns a name if it is one of a kind that can be chosen without a command line, by whom it is.
    fn known(
        &self,
        source: &Source<'_>,
        kind: String,
        item: &Item<'_>,
        whose: Whose,
    ) -> Result<String, String> {
        let names = self.names();
        let adapter = self.kinds.get(&kind).map_or(&*kind, |kind| &kind.own.adapter.0);
        if whose == Whose::Project && adapter == SHELL {
            return Err(source.at(
                item,
                &format!(
                    "{} runs the texts of tasks as shell commands, which is the owner's to choose: say --agent, or set it \
                     in the owner's config file",
                    one_line(&kind)
                ),
            ));
        }
        if kind != COMMAND && names.contains(&kind.as_str()) {
            return Ok(kind);
        }
        let hint = hint(&kind, &names);
        Err(source.at(item, &format!("there is no agent kind {}{hint}", one_line(&kind))))
    }

    /// Returns the names of all kinds, those of the owner's own before `sh` and `command`.
    pub(crate) fn names(&self) -> Vec<&str> {
        let known: Vec<&str> = known_kinds().collect();
        let last = known.iter().position(|kind| *kind == "sh").unwrap_or(known.len());
        let own = self.kinds.keys().map(String::as_str).filter(|name| !known.contains(name));
        let (agents, others) = known.split_at(last);
        agents.iter().copied().chain(own).chain(others.iter().copied()).collect()
    }

    /// Lays over what is set here what variables say that are named like the options: `FLEET_CAP`, `FLEET_MAX_PARALLEL`.
    fn under_environment(
        mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        for (key, set) in SETTINGS {
            let name = format!("FLEET_{}", key.to_ascii_uppercase());
            let Some(text) = variable(&name).filter(|text| !text.is_empty()) else { continue };
            set(&mut self.settings, &text).map_err(|clause| {
                format!("{name} '{}' {clause}", cut_graphemes(&one_line(&text), SHOWN))
            })?;
        }
        self.notices.under_environment(variable)?;
        Ok(self)
    }

    /// Lays what a command line says over what is set here.
    pub(crate) fn under(&self, given: &RunArguments) -> RunArguments {
        let mut all = given.clone();
        let Settings { limits, orphan_limit, budget, timeout, idle_timeout } = &self.settings;
        all.limits = given.limits.over(limits);
        all.fleet.orphan_limit = given.fleet.orphan_limit.or(*orphan_limit);
        all.task.budget = given.task.budget.or(*budget);
        all.task.timeout = given.task.timeout.or(*timeout);
        all.task.idle_timeout = given.task.idle_timeout.or(*idle_timeout);
        all
    }
}

/// Reads `[prices."MODEL"]`, in dollars for a million tokens. What a cache costs is the price of the input where it is not
/// said: no cost is told lower than it is.
fn prices(source: &Source<'_>, item: &Item<'_>) -> Result<BTreeMap<String, Price>, String> {
    const KEYS: [&str; 4] = ["input", "cache_read", "cache_write", "output"];
    let mut prices = BTreeMap::new();
    for (model, item) in source.table("prices", item)? {
        let name = one_line(model.get_ref());
        let mut amounts: BTreeMap<&str, NanoUsd> = BTreeMap::new();
        for (key, item) in source.table(&name, item)? {
            let Some(known) = KEYS.iter().find(|known| **known == key.get_ref().as_ref()) else {
                return Err(source.unknown(key, &KEYS));
            };
            let text = source.scalar(known, item)?;
            let amount = values::money(&text)
                .map_err(|clause| source.wrong_value(item, known, &text, &clause))?;
            amounts.insert(known, amount);
        }
        let needed = |key: &str| {
            let missing =
                || format!("the price of {name} has no {key} (dollars for a million tokens)");
            amounts.get(key).copied().ok_or_else(|| source.at_key(model, &missing()))
        };
        let (input, output) = (needed("input")?, needed("output")?);
        let cache = |key: &str| amounts.get(key).copied().unwrap_or(input);
        let (cache_read, cache_write) = (cache("cache_read"), cache("cache_write"));
        prices
            .insert(model.get_ref().to_string(), Price { input, cache_read, cache_write, output });
    }
    Ok(prices)
}

#[cfg(test)]
mod tests;
