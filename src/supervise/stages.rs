//! Decides how an agent's tree is brought to its end: asked, given its grace, killed.
//!
//! What may go here: the stages as a pure state machine. What may not: a clock, a signal, a process. Every time is an
//! argument, counted from the shim's own start.

use std::time::Duration;

use super::record::StoppedBy;
use crate::core::Leftovers;

/// What processes that an agent leaves behind get to end by themselves before they are killed.
pub(super) const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// Kill rounds after which a tree is frozen before it is killed: something in it forks faster than it dies.
const ROUNDS_BEFORE_FREEZING: u32 = 3;

/// First pause between two kill rounds; each later one is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Longest pause between two kill rounds, for trees that hang in the kernel.
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// Something that matters to a tree's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageEvent {
    /// The shim was signalled.
    Asked,
    /// The shim was signalled to give its agent a long grace.
    AskedPatiently,
    /// The agent's own time is up.
    TimedOut,
    /// No host has lived for as long as the agent may do without one.
    Orphaned,
    /// The agent itself has ended, other processes of its tree have not.
    LeaderEnded,
    /// Nothing of the tree is left, the agent itself included.
    TreeEmpty,
    /// Time has passed.
    Timer,
}

/// What the shim has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageAction {
    /// Send the signal that the kind likes best to the agent's group.
    AskGroup,
    /// Send SIGTERM to the agent's group.
    TermGroup,
    /// Send SIGTERM to everything that is left; the agent itself has gone.
    TermRest,
    /// One round of SIGKILL to everything that descends from the agent or carries its mark.
    KillTree {
        /// Stop all of it first, so that nothing new can come while it is killed.
        freeze: bool,
    },
    /// End what carries the mark outside the tree.
    Sweep,
    /// Write the record and leave.
    Finish,
}

/// How one agent wants to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    /// The kind's own signal is SIGTERM, so that a second stage has nothing to add.
    pub(super) asks_with_term: bool,
    /// Time from the first signal to SIGKILL.
    pub(super) grace: Duration,
    /// The same, for an agent that is asked patiently.
    pub(super) long_grace: Duration,
    /// What happens to processes left behind by an agent that ended by itself.
    pub(super) leftovers: Leftovers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Asking { term_at: Option<Duration>, kill_at: Duration, is_patient: bool },
    Leftovers { kill_at: Duration },
    Killing { round: u32, again_at: Duration },
    Over,
}

/// Where one tree stands on its way to the end.
#[derive(Debug)]
pub(super) struct Stages {
    policy: Policy,
    stage: Stage,
    leader_gone: bool,
    signals: u32,
    stopped_by: StoppedBy,
    escalated: bool,
}

impl Stages {
    /// Begins with an agent that runs.
    pub(super) const fn new(policy: Policy) -> Self {
        Self {
            policy,
            stage: Stage::Running,
            leader_gone: false,
            signals: 0,
            stopped_by: StoppedBy::None,
            escalated: false,
        }
    }

    /// Says what made the agent end, if it did not end by itself.
    pub(super) const fn stopped_by(&self) -> StoppedBy {
        self.stopped_by
    }

    /// Says whether asking was not enough.
    pub(super) const fn escalated(&self) -> bool {
        self.escalated
    }

    /// Returns when [`StageEvent::Timer`] is due next.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.stage {
            Stage::Running | Stage::Over => None,
            Stage::Asking { term_at, kill_at, .. } => Some(term_at.unwrap_or(kill_at).min(kill_at)),
            Stage::Leftovers { kill_at } => Some(kill_at),
            Stage::Killing { again_at, .. } => Some(again_at),
        }
    }

    /// Takes an event; events that make no sense in a stage change nothing.
    pub(super) fn apply(&mut self, event: StageEvent, now: Duration) -> Vec<StageAction> {
        match event {
            StageEvent::Asked => self.asked(now),
            StageEvent::AskedPatiently if self.stage == Stage::Running => {
                self.stopped_by = StoppedBy::Signal;
                self.ask(self.policy.long_grace, true, now)
            }
            StageEvent::AskedPatiently => Vec::new(),
            StageEvent::TimedOut => self.stop(StoppedBy::Timeout, now),
            StageEvent::Orphaned => self.stop(StoppedBy::Orphaned, now),
            StageEvent::LeaderEnded => self.leader_ended(now),
            StageEvent::TreeEmpty => self.tree_empty(),
            StageEvent::Timer => self.timer(now),
        }
    }

    fn asked(&mut self, now: Duration) -> Vec<StageAction> {
        self.signals = self.signals.saturating_add(1);
        match self.stage {
            Stage::Running | Stage::Asking { is_patient: true, .. } => {
                self.stop(StoppedBy::Signal, now)
            }
            Stage::Asking { .. } if self.signals > 1 => {
                self.escalated = true;
                self.kill(1, now)
            }
            Stage::Leftovers { .. } => self.kill(1, now),
            Stage::Asking { .. } | Stage::Killing { .. } | Stage::Over => Vec::new(),
        }
    }

    fn stop(&mut self, stopped_by: StoppedBy, now: Duration) -> Vec<StageAction> {
        let left = match self.stage {
            Stage::Running => {
                self.stopped_by = stopped_by;
                self.policy.grace
            }
            // The long grace is over sooner, never later.
            Stage::Asking { kill_at, is_patient: true, .. } => {
                kill_at.saturating_sub(now).min(self.policy.grace)
            }
            Stage::Asking { .. }
            | Stage::Leftovers { .. }
            | Stage::Killing { .. }
            | Stage::Over => return Vec::new(),
        };
        self.ask(left, false, now)
    }

    /// Asks the agent to end within a grace. The second stage comes as long before its end as in the usual one.
    fn ask(&mut self, grace: Duration, is_patient: bool, now: Duration) -> Vec<StageAction> {
        let kill_at = now.saturating_add(grace);
        let has_two = !self.policy.asks_with_term && !self.leader_gone;
        let term_at = has_two.then(|| kill_at.saturating_sub(grace.min(self.policy.grace) / 2));
        self.stage = Stage::Asking { term_at, kill_at, is_patient };
        vec![StageAction::AskGroup]
    }

    fn leader_ended(&mut self, now: Duration) -> Vec<StageAction> {
        if self.leader_gone {
            return Vec::new();
        }
        self.leader_gone = true;
        match (self.stage, self.policy.leftovers) {
            (Stage::Running, Leftovers::End) => {
                self.stage = Stage::Leftovers { kill_at: now.saturating_add(LEFTOVER_GRACE) };
                vec![StageAction::TermRest]
            }
            (Stage::Running, Leftovers::Keep) => {
                self.stage = Stage::Over;
                vec![StageAction::Finish]
            }
            // The rest of the tree has the rest of the grace; there is no group leader to send the second signal to.
            (Stage::Asking { kill_at, .. }, _) => {
                // No longer than usual: a long grace was the agent's.
                let kill_at = kill_at.min(now.saturating_add(self.policy.grace));
                self.stage = Stage::Asking { term_at: None, kill_at, is_patient: false };
                vec![StageAction::TermRest]
            }
            (Stage::Leftovers { .. } | Stage::Killing { .. } | Stage::Over, _) => Vec::new(),
        }
    }

    fn tree_empty(&mut self) -> Vec<StageAction> {
        self.leader_gone = true;
        let actions = match self.stage {
            Stage::Running => vec![StageAction::Finish],
            Stage::Asking { .. } | Stage::Leftovers { .. } | Stage::Killing { .. } => {
                vec![StageAction::Sweep, StageAction::Finish]
            }
            Stage::Over => Vec::new(),
        };
        self.stage = Stage::Over;
        actions
    }

    fn timer(&mut self, now: Duration) -> Vec<StageAction> {
        match self.stage {
            Stage::Asking { kill_at, .. } if kill_at <= now => {
                self.escalated = true;
                self.kill(1, now)
            }
            Stage::Asking { term_at: Some(term_at), kill_at, is_patient } if term_at <= now => {
                self.stage = Stage::Asking { term_at: None, kill_at, is_patient };
                vec![StageAction::TermGroup]
            }
            Stage::Leftovers { kill_at } if kill_at <= now => self.kill(1, now),
            Stage::Killing { round, again_at } if again_at <= now => {
                self.kill(round.saturating_add(1), now)
            }
            Stage::Running
            | Stage::Asking { .. }
            | Stage::Leftovers { .. }
            | Stage::Killing { .. }
            | Stage::Over => Vec::new(),
        }
    }

    fn kill(&mut self, round: u32, now: Duration) -> Vec<StageAction> {
        let pause = FIRST_PAUSE
            .saturating_mul(1_u32.checked_shl(round.saturating_sub(1)).unwrap_or(u32::MAX))
            .min(LONGEST_PAUSE);
        self.stage = Stage::Killing { round, again_at: now.saturating_add(pause) };
        vec![StageAction::KillTree { freeze: round > ROUNDS_BEFORE_FREEZING }]
    }
}

#[cfg(test)]
mod tests;
