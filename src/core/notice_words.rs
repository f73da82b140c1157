//! What notices say.
//!
//! What may go here: their words, from the fleet as it is. What may not: when there is one (`noticing`).

use std::time::Duration;

use super::fleet::{Agent, Fleet};
use super::id::AgentId;
use super::judge;
use super::ledger::CostStatus;
use super::money::NanoUsd;
use super::notice::{MOST_AGENTS, head, listed};
use super::outcome::Outcome;

/// Characters of an error and of a task in a notice.
const ERROR_CHARS: usize = 160;
const TASK_CHARS: usize = 60;

impl Fleet {
    pub(super) fn cap_notice(&self) -> String {
        let money = self.money();
        let spent = format!("${} spent", money.committed().to_exact());
        let cap = self.cap.unwrap_or_default().to_exact();
        let waiting = match self.loose().count() {
            1 => "1 task waits".to_owned(),
            count => format!("{count} tasks wait"),
        };
        if self.cap_question.open.is_some() {
            return format!(
                "the cap of ${cap} is reached ({spent}), {waiting}: raise it, drop them, or keep holding"
            );
        }
        let how = self.noticing.asked.and_then(|id| self.cap_question.answers.get(&id));
        match how {
            Some(_) if self.cap_question.holding => {
                format!("the cap of ${cap} is reached ({spent}), {waiting} for a higher one")
            }
            Some(how) => format!("the cap was reached ({spent}): {how}"),
            None => format!("the cap of ${cap} was reached ({spent})"),
        }
    }

    pub(super) fn near_cap_notice(&self) -> String {
        let (spent, cap) = (self.money().committed(), self.cap.unwrap_or_default());
        format!("${} of the cap of ${} are spent", spent.to_exact(), cap.to_exact())
    }

    pub(super) fn held_notice(&self) -> String {
        let held = self.noticing.held.iter();
        held.map(|(kind, cause, _)| format!("{kind} is held: {cause}"))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Returns the agents whose marks are told now, as many as one notice names, and the words.
    pub(super) fn marks_notice(&self) -> (Vec<AgentId>, String) {
        let marked: Vec<&Agent> = self.marked().take(MOST_AGENTS).collect();
        let ids: Vec<AgentId> = marked.iter().map(|agent| agent.id).collect();
        let text = match marked.as_slice() {
            [one] => {
                format!(
                    "{} {} · {}",
                    one.id,
                    self.mark_words(one),
                    head(&one.task.text, TASK_CHARS)
                )
            }
            several => {
                let first = several.first().map(|agent| self.mark_words(agent)).unwrap_or_default();
                let (count, named) = (several.len(), listed(&ids, 0));
                format!("{count} agents may not get on: {named}; the first {first}")
            }
        };
        (ids, text)
    }

    fn mark_words(&self, agent: &Agent) -> String {
        match &agent.signs.mark {
            _ if agent.stalled.is_some() => {
                let quiet = self.now.since(agent.progress.unwrap_or(self.now));
                let quiet = Duration::from_secs(quiet.as_secs());
                format!("may be stalled: no progress for {}", judge::words(quiet))
            }
            Some(doubt) => head(&doubt.to_words(), ERROR_CHARS),
            None => "is marked".to_owned(),
        }
    }

    pub(super) fn failed_notice(&self, failed: &[AgentId]) -> String {
        let first = failed.first().and_then(|id| self.agent(*id));
        let Some((agent, end)) = first.and_then(|agent| Some((agent, agent.end()?))) else {
            return format!("{} failed", listed(failed, 0));
        };
        let error = head(&end.error, ERROR_CHARS);
        let why = if error.is_empty() { end.outcome.as_str().to_owned() } else { error };
        if failed.len() == 1 {
            let (how, task) = (how_it_failed(end.outcome), head(&agent.task.text, TASK_CHARS));
            return format!("{} {how}: {why} · {task}", agent.id);
        }
        format!("{} failed: {}; {}: {why}", failed.len(), listed(failed, 0), agent.id)
    }

    /// Returns the agents that are not done and were not tried again, and the words about the end of all.
    pub(super) fn end_notice(&self) -> (Vec<AgentId>, String) {
        let ended = self.agents.iter().filter_map(|agent| Some((agent, agent.end()?.outcome)));
        let not_done = |(agent, outcome): (&Agent, Outcome)| {
            (outcome != Outcome::Done && agent.retried_by.is_none()).then_some(agent.id)
        };
        let not_done: Vec<AgentId> = ended.filter_map(not_done).collect();
        let all = self.agents.len();
        let spent = self.money().spent;
        let is_unknown = |agent: &&Agent| agent.work.ledger.status() == CostStatus::Unknown;
        let unknown = self.agents.iter().filter(|agent| agent.ran()).filter(is_unknown).count();
        let cost = match (spent == NanoUsd::ZERO, unknown) {
            (true, 0) => String::new(),
            (false, 0) => format!(" · ${}", spent.to_exact()),
            (_, _) => format!(" · ${} and {unknown} of unknown cost", spent.to_exact()),
        };
        let text = match (all, not_done.len()) {
            (1, 0) => "the agent is done".to_owned(),
            (1, _) => "the agent has ended, and is not done".to_owned(),
            (_, 0) => format!("all {all} agents are done"),
            (_, count) => {
                format!("all {all} agents have ended, {count} not done: {}", listed(&not_done, 0))
            }
        };
        (not_done, format!("{text}{cost}"))
    }
}

/// Returns the words about a journal that cannot be written.
pub(super) fn unsaved_notice(why: &str) -> String {
    format!("not saved, so nothing more starts: {}", head(why, ERROR_CHARS))
}

fn how_it_failed(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Timeout => "ran out of time",
        Outcome::Stalled => "stalled",
        Outcome::OverBudget => "went over budget",
        Outcome::Lost => "is lost",
        Outcome::Failed
        | Outcome::Done
        | Outcome::Cancelled
        | Outcome::Interrupted
        | Outcome::Dropped => "failed",
    }
}
