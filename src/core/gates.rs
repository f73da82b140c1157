//! Who may start next, and why the others wait.

use super::cap::Money;
use super::event::Effect;
use super::fleet::{Agent, Fleet};
use super::id::AgentId;
use super::record::Record;
use super::snapshot::{Hold, Waits};

/// What the gates look at, taken once for a whole queue.
#[derive(Debug)]
pub(super) struct Gates {
    shut: Option<Waits>,
    /// The first that money could stop is stopped by reservations, and nothing overtakes it.
    reserved: bool,
    money: Money,
    slots: usize,
    local: usize,
}

impl Fleet {
    /// Stops what is past a hard cap, opens or closes the cap question as it is due, then fills the slots.
    pub(super) fn settle(&mut self, effects: &mut Vec<Effect>) {
        self.enforce_hard_cap(effects);
        self.settle_question(effects);
        while let Some(id) = self.next_to_start() {
            self.record(Record::Dispatched(id), effects);
            effects.push(Effect::Spawn(id));
        }
    }

    fn next_to_start(&self) -> Option<AgentId> {
        if self.queue.is_empty() {
            return None;
        }
        let gates = self.gates();
        let (next, waits) = self.first_in_line(&gates)?;
        (waits == Waits::Next).then_some(next)
    }

    /// Returns the first that nothing but money or slots could stop, and what it waits for. It decides for all behind
    /// it: a dearer task is not overtaken by a cheaper one.
    fn first_in_line(&self, gates: &Gates) -> Option<(AgentId, Waits)> {
        self.queue.iter().find_map(|id| {
            let waits = self.waits(self.agent(*id)?, gates);
            let own = matches!(waits, Waits::Held | Waits::Kind(_) | Waits::Env(_) | Waits::Local);
            (!own).then_some((*id, waits))
        })
    }

    pub(super) fn gates(&self) -> Gates {
        let live = || self.agents.iter().filter(|agent| agent.has_slot());
        let mut gates = Gates {
            shut: self.shut(),
            reserved: false,
            money: self.money(),
            slots: live().count(),
            local: live().filter(|agent| agent.task.is_local()).count(),
        };
        gates.reserved =
            self.first_in_line(&gates).is_some_and(|(_, waits)| waits == Waits::Reserved);
        gates
    }

    /// Returns why nothing at all may leave the queue, money aside.
    fn shut(&self) -> Option<Waits> {
        match self.hold() {
            Some(Hold::NotSaved(_)) => Some(Waits::NotSaved),
            Some(Hold::Interrupted(_)) => Some(Waits::Ending),
            Some(Hold::Owner | Hold::Back(_)) => Some(Waits::Hold),
            Some(Hold::Cap) | None if self.past_deadline => Some(Waits::Ending),
            Some(Hold::Cap) => Some(Waits::Cap),
            None => None,
        }
    }

    /// Returns why the whole queue is held, if it is.
    pub fn hold(&self) -> Option<Hold> {
        if let Some(why) = &self.not_saved {
            Some(Hold::NotSaved(why.clone()))
        } else if let Some(signal) = &self.interrupted {
            Some(Hold::Interrupted(signal.clone()))
        } else if self.held {
            Some(Hold::Owner)
        } else if let Some(since) = self.held_back {
            Some(Hold::Back(since))
        } else if self.cap_question.holding {
            Some(Hold::Cap)
        } else {
            None
        }
    }

    /// Returns what a queued agent waits for.
    pub(super) fn waits(&self, agent: &Agent, gates: &Gates) -> Waits {
        if let Some(waits) = &gates.shut {
            return waits.clone();
        }
        if agent.held {
            return Waits::Held;
        }
        if let Some(cause) = self.kinds.get(&agent.task.kind).and_then(|kind| kind.held.as_ref()) {
            return Waits::Kind(cause.clone());
        }
        if let Some(names) =
            self.batches.get(agent.batch).and_then(|batch| self.env_missing.get(&batch.id))
        {
            return Waits::Env(names.clone());
        }
        let full =
            |limit: u32, taken: usize| taken >= usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        if agent.task.is_local() && full(self.options.max_local, gates.local) {
            return Waits::Local;
        }
        if let Some(waits) = gates.money.gate(self.reservation(agent)) {
            return waits;
        }
        if gates.reserved {
            return Waits::Reserved;
        }
        if self.options.max_parallel.is_some_and(|limit| full(limit, gates.slots)) {
            return Waits::Slot;
        }
        Waits::Next
    }

    /// Says whether some queued task would start if there were money for it.
    pub(super) fn wants_money(&self) -> bool {
        self.shut().is_none()
            && self.loose().any(|agent| {
                let kind_held =
                    self.kinds.get(&agent.task.kind).is_some_and(|kind| kind.held.is_some());
                let batch_held = self
                    .batches
                    .get(agent.batch)
                    .is_some_and(|batch| self.env_missing.contains_key(&batch.id));
                !kind_held && !batch_held
            })
    }
}
