//! What submitters gave their agents beside the tasks: environments and values, in memory only.
//!
//! What may go here: who gets what. What may not: the journal, `env.json` itself (`journal` has its format).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::sync::Arc;

use super::handle::Given;
use super::host::Host;
use crate::core::{AgentId, BatchId, Command};

/// Environment of agents, shared by all that were given an equal one.
pub(super) type Environment = Arc<BTreeMap<OsString, OsString>>;

/// What one agent gets.
#[derive(Default)]
pub(super) struct Own {
    /// Instead of the host's environment.
    pub(super) environment: Option<Environment>,
    /// Values of `--env K=V`.
    pub(super) values: BTreeMap<String, String>,
}

/// Shows how much there is and never what: values are secrets.
impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let environment = self.environment.as_ref().map(|all| all.len());
        f.debug_struct("Own")
            .field("environment", &environment)
            .field("values", &self.values.len())
            .finish()
    }
}

/// What all agents of the fleet were given since this host began. It has at most one entry for each agent, and one
/// environment for all agents of a submission; a retry takes its original's, so that goes only with the host. Where an
/// earlier host took it along, a retry gets this host's with what it demands from whoever asked.
#[derive(Debug, Default)]
pub(super) struct GivenTo {
    agents: HashMap<AgentId, Own>,
    /// Those that differ. Whoever queues tasks again and again from one terminal adds one.
    environments: HashSet<Environment>,
}

impl GivenTo {
    /// Returns what an agent was given, for its start; nothing if an earlier host took its task. Values are not kept:
    /// should it have to start again, they lie in its `env.json`.
    pub(super) fn take(&mut self, id: AgentId) -> Own {
        let Some(own) = self.agents.get_mut(&id) else { return Own::default() };
        Own { environment: own.environment.clone(), values: std::mem::take(&mut own.values) }
    }

    /// Returns the environment that an agent was given instead of the host's.
    pub(super) fn environment_of(&self, id: AgentId) -> Option<Environment> {
        self.agents.get(&id).and_then(|own| own.environment.clone())
    }
}

impl Host {
    /// Remembers what came with a command that has just been decided, and stores values where the agents find them
    /// should this host die.
    /// Agents that `may` not have it any more get nothing.
    pub(super) fn keep_given(
        &mut self,
        batch: &BatchId,
        given: Given,
        may: impl Fn(AgentId) -> bool,
    ) {
        let Some(agents) = self.agents_of(batch) else { return };
        let earlier: Vec<_> = agents.iter().map(|id| self.original_of(*id)).collect();
        let (environment, brought) = if earlier.iter().any(Option::is_some) {
            (None, given.environment.unwrap_or_default())
        } else {
            (given.environment.map(|environment| self.shared(environment)), BTreeMap::new())
        };
        let mut values = given.values.into_iter();
        for (id, original) in agents.into_iter().zip(earlier) {
            let own = match original {
                // The core refuses to go on with what was given values.
                Some(original) => Own {
                    environment: self.environment_again(original, &brought),
                    values: BTreeMap::new(),
                },
                None => Own {
                    environment: environment.clone(),
                    values: values.next().unwrap_or_default(),
                },
            };
            if !may(id) {
                continue;
            }
            if !own.values.is_empty() {
                // The start writes them again, and says so if it cannot.
                let _ = self.dir.store_env_soon(id, &own.values);
            }
            if own.environment.is_some() || !own.values.is_empty() {
                self.given.agents.insert(id, own);
            }
        }
    }

    /// Returns the names that tasks which are tried again or gone on with demand and that can be had nowhere: what they
    /// had went with an earlier host, neither this one's environment has them nor what comes with the command.
    pub(super) fn names_lost(&self, command: &Command, given: &Given) -> Vec<String> {
        let originals = match command {
            Command::Retry(_, ids) => ids.as_slice(),
            Command::Steer(id, ..) => std::slice::from_ref(id),
            _ => &[],
        };
        let brings = |name: &String| {
            given.environment.as_ref().is_some_and(|brought| brought.contains_key(name))
        };
        let names: BTreeSet<String> = originals
            .iter()
            .flat_map(|id| self.names_not_here(*id))
            .filter(|name| !brings(name))
            .collect();
        names.into_iter().collect()
    }

    /// Returns the names that an agent's task demands and that a new agent with that task would not get.
    fn names_not_here(&self, original: AgentId) -> Vec<String> {
        if self.given.environment_of(original).is_some() {
            return Vec::new();
        }
        let demanded = self.fleet.task(original).map(|task| task.env_names.as_slice());
        let is_missing = |name: &&String| std::env::var_os(name).is_none();
        demanded.unwrap_or_default().iter().filter(is_missing).cloned().collect()
    }

    /// Returns the environment for a new agent with the task of an earlier one: that one's, or if it went with an earlier
    /// host this one's with what of the demanded names the command brought. `None`: this host's as it is.
    fn environment_again(
        &mut self,
        original: AgentId,
        brought: &BTreeMap<String, String>,
    ) -> Option<Environment> {
        let known = self.given.environment_of(original);
        let missing = self.names_not_here(original);
        let found: Vec<_> =
            missing.iter().filter_map(|name| brought.get_key_value(name)).filter(usable).collect();
        if known.is_some() || found.is_empty() {
            return known;
        }
        let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        all.extend(found.into_iter().map(|(name, value)| (name.into(), value.into())));
        Some(self.only_one(all))
    }

    /// Returns the agent whose task this one tries again, or in whose session it goes on.
    fn original_of(&self, id: AgentId) -> Option<AgentId> {
        self.fleet.retry_of(id).or_else(|| self.fleet.goes_on_from(id))
    }

    /// Returns the batch of a submission that an earlier host took and did not answer: its tasks are known, and what came
    /// with them is not.
    pub(super) fn sent_again(&self, command: &Command) -> Option<BatchId> {
        let Command::Submit(submission) = command else { return None };
        let agents = self.agents_of(&submission.id)?;
        let is_known = agents.iter().any(|id| self.given.agents.contains_key(id));
        (!is_known).then(|| submission.id.clone())
    }

    /// Returns the agents of a batch that the fleet has.
    pub(super) fn agents_of(&self, batch: &BatchId) -> Option<Vec<AgentId>> {
        let batches = self.fleet.batches().iter();
        batches.rev().find(|other| other.id == *batch).map(|batch| batch.agents.clone())
    }

    /// Returns the environment without what no program can be given.
    fn shared(&mut self, environment: BTreeMap<String, String>) -> Environment {
        let all = environment.into_iter().filter(|(name, value)| usable(&(name, value)));
        self.only_one(all.map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// Returns the environment, the one that is there already if an equal one is.
    fn only_one(&mut self, usable: BTreeMap<OsString, OsString>) -> Environment {
        if let Some(known) = self.given.environments.get(&usable) {
            return Arc::clone(known);
        }
        let environment = Arc::new(usable);
        self.given.environments.insert(Arc::clone(&environment));
        environment
    }
}

/// Says whether a program can be given a variable.
fn usable((name, value): &(&String, &String)) -> bool {
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    is_name && !value.contains('\0')
}

/// Returns the name of the batch that a command makes, unless the fleet has it already.
pub(super) fn new_batch(command: &Command, known: impl Fn(&BatchId) -> bool) -> Option<BatchId> {
    let id = match command {
        Command::Submit(submission) => &submission.id,
        Command::Retry(id, _) | Command::Steer(_, _, id) => id,
        Command::Stop(_)
        | Command::Kill(_)
        | Command::Remove(_)
        | Command::Move(..)
        | Command::Edit(..)
        | Command::InterruptTurn(..)
        | Command::Hold
        | Command::Release
        | Command::HoldAgents(_)
        | Command::ReleaseAgents(_)
        | Command::SetCap(_)
        | Command::Answer(..)
        | Command::Interrupt(_)
        | Command::Close => return None,
    };
    (!known(id)).then(|| id.clone())
}
