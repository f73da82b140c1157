//! What submitters gave their agents beside the tasks: environments and values, in memory only.
//!
//! What may go here: who gets what. What may not: the journal, `env.json` itself (`journal` has its format).

use std::collections::{BTreeMap, HashMap, HashSet};
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
/// environment for all agents of a submission; a retry takes its original's, so that goes only with the host.
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
        let environment = given.environment.map(|environment| self.shared(environment));
        let mut values = given.values.into_iter();
        for id in agents {
            let earlier = self.fleet.retry_of(id).or_else(|| self.fleet.goes_on_from(id));
            let own = match earlier {
                // The core refuses to go on with what was given values.
                Some(original) => {
                    let environment = self.given.environment_of(original);
                    Own { environment, values: BTreeMap::new() }
                }
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

    /// Returns the batch of a submission that an earlier host took and did not answer: its tasks are known, and what came
    /// with them is not.
    pub(super) fn sent_again(&self, command: &Command) -> Option<BatchId> {
        let Command::Submit(submission) = command else { return None };
        let agents = self.agents_of(&submission.id)?;
        let is_known = agents.iter().any(|id| self.given.agents.contains_key(id));
        (!is_known).then(|| submission.id.clone())
    }

    fn agents_of(&self, batch: &BatchId) -> Option<Vec<AgentId>> {
        let batches = self.fleet.batches().iter();
        batches.rev().find(|other| other.id == *batch).map(|batch| batch.agents.clone())
    }

    /// Returns the environment, the one that is there already if an equal one is. What no program can be given is
    /// left out.
    fn shared(&mut self, environment: BTreeMap<String, String>) -> Environment {
        let is_usable = |name: &str, value: &str| {
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            is_name && !value.contains('\0')
        };
        let usable: BTreeMap<OsString, OsString> = environment
            .into_iter()
            .filter(|(name, value)| is_usable(name, value))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        if let Some(known) = self.given.environments.get(&usable) {
            return Arc::clone(known);
        }
        let environment = Arc::new(usable);
        self.given.environments.insert(Arc::clone(&environment));
        environment
    }
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
        | Command::SetCap(_)
        | Command::Answer(..)
        | Command::Interrupt(_)
        | Command::Close => return None,
    };
    (!known(id)).then(|| id.clone())
}
