//! Money: what is spent, what is reserved, and the question when the cap is reached.

use super::agent::StopReason;
use super::command::{Answer, Refusal, Reply};
use super::event::Effect;
use super::fleet::{Agent, Fleet};
use super::id::{AgentId, QuestionId};
use super::ledger::CostStatus;
use super::money::NanoUsd;
use super::options::OnCap;
use super::record::Record;
use super::snapshot::{Question, Waits};

/// What the cap question proposes on top of what is committed (upstream A10: one dollar).
const RAISE: NanoUsd = NanoUsd::from_dollars(1);

/// The fleet's money at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Money {
    pub(super) cap: Option<NanoUsd>,
    /// Sum over all rows of what is known.
    pub(super) spent: NanoUsd,
    /// What ended agents of unknown cost are counted with.
    pub(super) unknown: NanoUsd,
    /// What live agents may still spend.
    pub(super) reserved: NanoUsd,
    pub(super) anyone_live: bool,
    /// An agent has ended and what it cost may still stand in its output, unread.
    pub(super) unread: bool,
}

impl Money {
    /// Returns what counts against the cap whatever happens next.
    pub(super) fn committed(&self) -> NanoUsd {
        self.spent + self.unknown
    }

    pub(super) fn cap_reached(&self) -> Option<NanoUsd> {
        self.cap.filter(|cap| self.committed() >= *cap)
    }

    /// Returns why an agent that reserves `next` may not start.
    pub(super) fn gate(&self, next: NanoUsd) -> Option<Waits> {
        let cap = self.cap?;
        if self.committed() >= cap {
            return Some(Waits::Cap);
        }
        let full = self.anyone_live && self.committed() + self.reserved + next > cap;
        (self.unread || full).then_some(Waits::Reserved)
    }
}

impl Fleet {
    pub(super) fn money(&self) -> Money {
        let mut money = Money {
            cap: self.cap,
            spent: NanoUsd::ZERO,
            unknown: NanoUsd::ZERO,
            reserved: NanoUsd::ZERO,
            anyone_live: false,
            unread: false,
        };
        for agent in &self.agents {
            money.spent += agent.work.ledger.spent();
            if agent.is_live() {
                money.anyone_live = true;
                money.unread |= !agent.has_slot();
                money.reserved += self.reservation(agent);
            } else if agent.end().is_some()
                && agent.ran()
                && agent.work.ledger.status() == CostStatus::Unknown
            {
                money.unknown += self.reservation(agent);
            }
        }
        money
    }

    /// Returns what is kept aside for an agent beyond what it has reported: what is left of its budget, else what agents
    /// of its kind cost on average, else what is assumed.
    pub(super) fn reservation(&self, agent: &Agent) -> NanoUsd {
        let spent = agent.work.ledger.spent();
        if let Some(budget) = agent.task.budget {
            return budget.saturating_sub(spent);
        }
        let kind = self.kinds.get(&agent.task.kind);
        if !agent.task.traits.pays
            && agent.work.ledger.status() == CostStatus::None
            && !kind.is_some_and(|kind| kind.reported)
        {
            return NanoUsd::ZERO;
        }
        let mean = kind.filter(|kind| kind.known > 0).map(|kind| kind.sum.div_ceil(kind.known));
        mean.unwrap_or(self.options.assume_cost).saturating_sub(spent)
    }

    /// Opens the question when the cap is reached with work queued, closes it when there is nothing to ask any more.
    pub(super) fn settle_question(&mut self, effects: &mut Vec<Effect>) {
        let money = self.money();
        self.look_near_cap(&money);
        let reached = money.cap_reached();
        if let Some((id, _)) = self.cap_question.open {
            if reached.is_none() || !self.has_loose() {
                self.record(Record::Withdrawn(id), effects);
            }
            return;
        }
        if reached.is_none() || !self.wants_money() {
            return;
        }
        let id = QuestionId(self.cap_question.asked.saturating_add(1));
        self.record(Record::Asked(id), effects);
        let answer = match self.options.on_cap {
            OnCap::Ask => return,
            OnCap::Hold => Answer::Hold,
            OnCap::Raise(cap) if !self.cap_question.raised && cap > money.committed() => {
                Answer::Raise(cap)
            }
            OnCap::Drop | OnCap::Raise(_) => Answer::Drop,
        };
        let _ = self.answer(id, answer, effects);
    }

    /// Sees whether four fifths of the cap are spent while somebody may still spend the rest.
    fn look_near_cap(&mut self, money: &Money) {
        let (committed, cap) = (money.committed(), money.cap.unwrap_or_default());
        let most = u128::from(committed.as_nanos()) * 5 >= u128::from(cap.as_nanos()) * 4;
        let goes_on = money.anyone_live || !self.queue.is_empty();
        self.notice_near_cap(most && committed < cap && goes_on);
    }

    /// Answers the cap question. The first answer wins.
    pub(super) fn answer(
        &mut self,
        id: QuestionId,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) -> Reply {
        if self.cap_question.open.is_none_or(|(open, _)| open != id) {
            return match self.cap_question.answers.get(&id) {
                Some(how) => Reply::AlreadyAnswered(how.clone()),
                None => Reply::Refused(Refusal("no such question is open".to_owned())),
            };
        }
        match answer {
            Answer::Raise(cap) => {
                if let Some(refusal) = self.refuse_cap(cap) {
                    return Reply::Refused(refusal);
                }
                self.record(Record::Answered(id, answer), effects);
                self.record(Record::Cap(Some(cap)), effects);
                Reply::Done(0)
            }
            Answer::Drop => {
                self.record(Record::Answered(id, answer), effects);
                // Whoever held one alone did not want it to run now, and is not asked about it.
                let ids: Vec<_> = self.loose().map(|agent| agent.id).collect();
                Reply::Done(self.drop_queued(&ids, effects))
            }
            Answer::Hold => {
                self.record(Record::Answered(id, answer), effects);
                Reply::Done(0)
            }
            Answer::Stop => {
                self.record(Record::Answered(id, answer), effects);
                let dropped = self.drop_queued(&self.queue.clone(), effects);
                let stopped = self.stop_live(&StopReason::CapStop, effects);
                Reply::Done(dropped + stopped)
            }
        }
    }

    /// Changes the cap outside of a question; an open one is answered by it.
    pub(super) fn set_cap(&mut self, cap: Option<NanoUsd>, effects: &mut Vec<Effect>) -> Reply {
        if let (Some((id, _)), Some(cap)) = (self.cap_question.open, cap) {
            return self.answer(id, Answer::Raise(cap), effects);
        }
        self.record(Record::Cap(cap), effects);
        Reply::Done(0)
    }

    /// Returns why a cap would not let anything start.
    pub fn refuse_cap(&self, cap: NanoUsd) -> Option<Refusal> {
        let money = self.money();
        let committed = money.committed();
        let how =
            if money.unknown > NanoUsd::ZERO { "is spent or may have been" } else { "is spent" };
        (cap <= committed).then(|| {
            Refusal(format!(
                "${} would let nothing start: ${} {how}; give more than that",
                cap.to_exact(),
                committed.to_exact()
            ))
        })
    }

    pub(super) fn cap_words(&self) -> String {
        let money = self.money();
        let cap = self.cap.unwrap_or_default().to_exact();
        if money.unknown == NanoUsd::ZERO {
            return format!("not started: the cap of ${cap} was reached");
        }
        format!(
            "not started: the cap of ${cap} was reached by ${} spent and ${} set aside for agents of unknown cost",
            money.spent.to_exact(),
            money.unknown.to_exact()
        )
    }

    /// Returns the open question as doors show it.
    pub(super) fn question(&self, money: &Money) -> Option<Question> {
        let (id, asked) = self.cap_question.open?;
        let queued = u32::try_from(self.loose().count()).unwrap_or(u32::MAX);
        Some(Question {
            id,
            asked,
            cap: self.cap.unwrap_or_default(),
            committed: money.committed(),
            default: self.proposal(money),
            queued,
            queue_estimate: self.queue_estimate(),
        })
    }

    /// Returns the cap that is proposed: a dollar more than what is committed, and never less than lets the next task
    /// start beside those that run.
    fn proposal(&self, money: &Money) -> NanoUsd {
        let more = money.committed().round_up_to_cent_plus(RAISE);
        let next = self.loose().next().map(|agent| self.reservation(agent)).unwrap_or_default();
        let enough = money.committed() + money.reserved + next;
        if money.anyone_live { more.max(enough.round_up_to_cent_plus(NanoUsd::ZERO)) } else { more }
    }

    /// Returns what the queue would cost at the average so far; no task is counted with more than its budget.
    fn queue_estimate(&self) -> Option<NanoUsd> {
        let mean = self.mean_cost()?;
        Some(self.loose().map(|agent| agent.task.budget.map_or(mean, |most| most.min(mean))).sum())
    }

    fn mean_cost(&self) -> Option<NanoUsd> {
        let known: u64 = self.kinds.values().map(|kind| kind.known).sum();
        let sum: NanoUsd = self.kinds.values().map(|kind| kind.sum).sum();
        (known > 0).then(|| sum.div_ceil(known))
    }

    /// Stops an agent that went past its budget.
    pub(super) fn enforce_budget(&mut self, id: AgentId, effects: &mut Vec<Effect>) {
        if let Some(agent) = self.agent(id)
            && let Some(budget) = agent.task.budget
            && agent.work.ledger.spent() > budget
            && agent.may_run()
        {
            self.stop_one(id, &StopReason::Budget(budget), effects);
        }
    }

    /// Stops all live agents past the cap with `--cap-hard`, whether spend has grown or the cap was set lower.
    pub(super) fn enforce_hard_cap(&mut self, effects: &mut Vec<Effect>) {
        if let Some(cap) = self.cap
            && self.options.cap_hard
            && self.money().spent > cap
        {
            self.stop_live(&StopReason::CapHard(cap), effects);
        }
    }
}
