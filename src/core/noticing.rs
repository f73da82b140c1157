//! When people hear of something: what happens together is one notice, and what was told once is not told again.
//!
//! What may go here: what waits to be told, and when it is due. What may not: how it is told, and to whom.
//!
//! What was told is in the journal. So the next host knows it, and tells what happened while there was none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::agent::AgentState;
use super::event::Effect;
use super::fleet::{Agent, Fleet};
use super::id::{AgentId, QuestionId};
use super::moment::Moment;
use super::notice::{MOST_AGENTS, Notice, NoticeKind};
use super::notice_words::unsaved_notice;
use super::options::OnCap;
use super::outcome::{End, ExitReason, Outcome};
use super::record::Record;

/// What fails or is marked within this time of the first is told together with it: one cause as a rule.
const GATHER: Duration = Duration::from_secs(2);
/// Least time between two notices of one kind; what happens meanwhile is told with the second. Who has heard that
/// something is wrong does not need to hear it every other second.
const QUIET: Duration = Duration::from_secs(30);
/// Least time between two notices of marks of one agent, which may come and go.
const MARK_AGAIN: Duration = Duration::from_mins(5);
/// Notices that doors are shown. They come seconds apart, and a door that has missed older ones has missed no more than
/// a sound.
const KEPT: usize = 8;

/// What waits to be told, and what was.
#[derive(Debug, Default, Clone)]
pub(super) struct Noticing {
    /// Somebody passes notices on: otherwise they wait.
    pub(super) is_open: bool,
    pub(super) recent: VecDeque<Notice>,
    last_number: u64,
    last: BTreeMap<NoticeKind, Moment>,
    /// Agents that failed, in the order of their ends, and when the first of them did.
    failed: Vec<AgentId>,
    failed_since: Moment,
    /// Agents that are marked and of which that was not told. No decision, so the journal does not have it.
    marked: BTreeSet<AgentId>,
    /// Kinds that are held, why, and since when that waits to be told.
    pub(super) held: Vec<(String, String, Moment)>,
    pub(super) asked: Option<QuestionId>,
    is_near_cap: bool,
    has_told_near_cap: bool,
    /// The last end was not of the owner's own doing, and nobody has heard of it.
    is_end_untold: bool,
    unsaved: Option<Moment>,
}

/// What was told of the marks of one agent.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MarkNotice {
    /// When it was told last that it is marked.
    told: Option<Moment>,
    /// The mark that it has now was told.
    is_told: bool,
    /// Since when it has had a mark that was not told.
    since: Option<Moment>,
}

impl Fleet {
    /// Lets notices be told from now on, by whoever performs the effects. Without that they wait, and the journal does not
    /// say that they were told.
    pub fn open_notices(&mut self) {
        self.noticing.is_open = true;
    }

    /// Tells what waits to be told together with more of its kind, for a host that ends.
    #[must_use]
    pub fn last_notices(&mut self, now: Moment) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = Vec::new();
        for kind in NoticeKind::ALL {
            if self.noticing.is_open && self.notice_due(kind).is_some() {
                self.tell_notice(kind, &mut effects);
            }
        }
        effects
    }

    /// Returns when the next notice is due that waits for its time.
    pub(super) fn next_notice(&self) -> Option<Moment> {
        let due = NoticeKind::ALL.into_iter().filter_map(|kind| self.notice_due(kind));
        due.min().filter(|_| self.noticing.is_open)
    }

    /// Tells what is due.
    pub(super) fn settle_notices(&mut self, effects: &mut Vec<Effect>) {
        if !self.noticing.is_open {
            return;
        }
        for kind in NoticeKind::ALL {
            if self.notice_due(kind).is_some_and(|due| due <= self.now) {
                self.tell_notice(kind, effects);
            }
        }
    }

    /// Returns when a notice of this kind is due; `None` if there is nothing to tell.
    fn notice_due(&self, kind: NoticeKind) -> Option<Moment> {
        let noticing = &self.noticing;
        let not_before = noticing.last.get(&kind).map_or(Moment(0), |last| last.after(QUIET));
        match kind {
            NoticeKind::NotSaved => noticing.unsaved.map(|since| since.max(not_before)),
            NoticeKind::Cap => noticing.asked.map(|_| self.now),
            NoticeKind::NearCap => noticing.is_near_cap.then_some(self.now),
            NoticeKind::Held => noticing.held.first().map(|(.., since)| (*since).max(not_before)),
            NoticeKind::Stalled => {
                let due = self.marked().filter_map(|agent| agent.mark_notice.due()).min();
                due.map(|due| due.max(not_before))
            }
            NoticeKind::Failed if noticing.failed.is_empty() => None,
            // The end of all is not told without what went wrong.
            NoticeKind::Failed if self.is_end_due() => Some(self.now),
            NoticeKind::Failed => Some(noticing.failed_since.after(GATHER).max(not_before)),
            NoticeKind::Done => self.is_end_due().then_some(self.now),
        }
    }

    /// Returns the agents that run, are marked, and of which that was not told.
    pub(super) fn marked(&self) -> impl Iterator<Item = &Agent> {
        let runs = |agent: &&Agent| matches!(agent.state, AgentState::Running);
        self.noticing.marked.iter().filter_map(|id| self.agent(*id)).filter(runs)
    }

    fn is_end_due(&self) -> bool {
        self.noticing.is_end_untold
            && self.queue.is_empty()
            && !self.agents.iter().any(Agent::is_live)
    }

    /// Tells all of one kind that there is to tell.
    fn tell_notice(&mut self, kind: NoticeKind, effects: &mut Vec<Effect>) {
        let (agents, text) = match kind {
            NoticeKind::NotSaved => {
                let why = self.not_saved.clone().unwrap_or_default();
                (Vec::new(), unsaved_notice(&why))
            }
            NoticeKind::Cap => (Vec::new(), self.cap_notice()),
            NoticeKind::NearCap => (Vec::new(), self.near_cap_notice()),
            NoticeKind::Held => (Vec::new(), self.held_notice()),
            NoticeKind::Stalled => self.marks_notice(),
            NoticeKind::Failed => {
                let failed = self.noticing.failed.clone();
                let text = self.failed_notice(&failed);
                (failed, text)
            }
            NoticeKind::Done => self.end_notice(),
        };
        let more = u32::try_from(agents.len().saturating_sub(MOST_AGENTS)).unwrap_or(u32::MAX);
        let agents = agents.into_iter().take(MOST_AGENTS).collect();
        let number = self.noticing.last_number.saturating_add(1);
        let notice = Notice { number, kind, at: self.now, agents, more, text };
        if kind == NoticeKind::NotSaved {
            // There is nowhere to write it down.
            self.fold_noticed(&notice);
        } else {
            self.record(Record::Noticed(notice.clone()), effects);
        }
        effects.push(Effect::Notify(notice));
    }

    pub(super) fn fold_noticed(&mut self, notice: &Notice) {
        let noticing = &mut self.noticing;
        noticing.last_number = noticing.last_number.max(notice.number);
        noticing.last.insert(notice.kind, notice.at);
        match notice.kind {
            NoticeKind::NotSaved => noticing.unsaved = None,
            NoticeKind::Cap => noticing.asked = None,
            NoticeKind::NearCap => {
                (noticing.is_near_cap, noticing.has_told_near_cap) = (false, true);
            }
            NoticeKind::Held => noticing.held.clear(),
            NoticeKind::Failed => noticing.failed.clear(),
            NoticeKind::Done => noticing.is_end_untold = false,
            NoticeKind::Stalled => {
                for id in &notice.agents {
                    self.noticing.marked.remove(id);
                    if let Some(agent) = self.agent_mut(*id) {
                        let told = Some(notice.at);
                        agent.mark_notice = MarkNotice { told, is_told: true, since: None };
                    }
                }
            }
        }
        let recent = &mut self.noticing.recent;
        recent.push_back(notice.clone());
        if recent.len() > KEPT {
            recent.pop_front();
        }
    }

    /// Takes note of an end that the journal has.
    pub(super) fn notice_end(&mut self, id: AgentId, end: &End) {
        let (now, on_cap) = (self.now, self.options.on_cap);
        let noticing = &mut self.noticing;
        noticing.marked.remove(&id);
        noticing.is_end_untold = !is_owners_doing(end, on_cap);
        if is_failure(end.outcome) {
            if noticing.failed.is_empty() {
                noticing.failed_since = now;
            }
            noticing.failed.push(id);
        }
    }

    pub(super) fn notice_question(&mut self, id: QuestionId) {
        self.noticing.asked = Some(id);
    }

    pub(super) fn notice_held_kind(&mut self, kind: &str, cause: &str) {
        self.noticing.held.push((kind.to_owned(), cause.to_owned(), self.now));
    }

    /// What was held is not any more, whether anybody has heard of it or not.
    pub(super) fn notice_release(&mut self) {
        self.noticing.held.clear();
    }

    /// The journal cannot be written, and why; `None`: it is whole.
    pub(super) fn save_failed(&mut self, why: Option<String>) {
        let is_saved = why.is_none();
        let was_saved = std::mem::replace(&mut self.not_saved, why).is_none();
        if is_saved != was_saved {
            self.noticing.unsaved = (!is_saved).then_some(self.now);
        }
    }

    /// Takes note of whether most of the cap is spent, and not all of it.
    pub(super) fn notice_near_cap(&mut self, is_near: bool) {
        self.noticing.is_near_cap = is_near && !self.noticing.has_told_near_cap;
    }

    /// There is another cap.
    pub(super) fn notice_new_cap(&mut self) {
        (self.noticing.is_near_cap, self.noticing.has_told_near_cap) = (false, false);
    }

    /// Takes note of whether an agent is marked; has to come after each change of that.
    pub(super) fn notice_mark(&mut self, id: AgentId) {
        let now = self.now;
        let Some(agent) = self.agent_mut(id) else { return };
        let is_marked = agent.may_run() && (agent.stalled.is_some() || agent.signs.mark.is_some());
        let progress = agent.progress.unwrap_or(now);
        let notice = &mut agent.mark_notice;
        if !is_marked {
            (notice.is_told, notice.since) = (false, None);
        } else if notice.told.is_some_and(|told| progress < told) {
            // An earlier host has told it, and nothing was heard of the agent since.
            notice.is_told = true;
        } else if !notice.is_told {
            notice.since.get_or_insert(now);
        }
        let waits = notice.since.is_some();
        if waits {
            self.noticing.marked.insert(id);
        } else {
            self.noticing.marked.remove(&id);
        }
    }
}

impl MarkNotice {
    fn due(&self) -> Option<Moment> {
        let again = self.told.map_or(Moment(0), |told| told.after(MARK_AGAIN));
        self.since.map(|since| since.after(GATHER).max(again))
    }
}

/// Says whether nobody wanted an agent to end like this.
const fn is_failure(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failed
        | Outcome::Timeout
        | Outcome::Stalled
        | Outcome::OverBudget
        | Outcome::Lost => true,
        Outcome::Done | Outcome::Cancelled | Outcome::Interrupted | Outcome::Dropped => false,
    }
}

/// Says whether the owner, or a signal, ended an agent: who did that need not hear of it.
fn is_owners_doing(end: &End, on_cap: OnCap) -> bool {
    match end.outcome {
        Outcome::Cancelled | Outcome::Interrupted => true,
        Outcome::Dropped => on_cap == OnCap::Ask && end.reason == Some(ExitReason::Budget),
        Outcome::Done
        | Outcome::Failed
        | Outcome::Timeout
        | Outcome::Stalled
        | Outcome::OverBudget
        | Outcome::Lost => false,
    }
}
