//! What one agent has spent, in tokens and money. A ledger never falls.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::fact::Usage;
use super::money::NanoUsd;

/// Responses kept apart by their id; older ones stay in the sum. A replacement that comes later than that
/// many responses is counted as a new response, never as less.
const OPEN_RESPONSES: usize = 256;

/// Tokens in four numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Input that was not cached.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
}

impl Tokens {
    /// Returns the sum of all four.
    pub const fn total(self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            cache_read: join(self.cache_read, other.cache_read),
            cache_write: join(self.cache_write, other.cache_write),
            output: join(self.output, other.output),
        }
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            output: usage.output,
        }
    }
}

/// Where a cost comes from.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostStatus {
    /// The agent told it.
    Reported,
    /// Worked out from tokens and prices.
    Estimated,
    /// It costs, and nobody knows how much.
    Unknown,
    /// It is not known to cost anything.
    #[default]
    None,
}

/// Tokens and money of one response, or of several together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Response {
    tokens: Tokens,
    /// What the agent told, and nothing that was worked out.
    cost: Option<NanoUsd>,
    /// What was worked out for those of which the agent told nothing.
    #[serde(default)]
    estimate: Option<NanoUsd>,
    /// Responses with tokens of which neither is known.
    #[serde(default)]
    unpriced: u64,
}

/// Tokens and money of one agent; each response counts once by its id, and no number ever gets smaller.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    pays: bool,
    sum: Response,
    /// Responses that may still be replaced; all of them are in the sum.
    open: BTreeMap<String, Response>,
    order: VecDeque<String>,
    total_cost: Option<NanoUsd>,
    total_tokens: Option<Tokens>,
    /// The totals came with an estimate and not with a cost.
    #[serde(default)]
    total_estimate: Option<NanoUsd>,
    /// The newest totals of the session, earlier runs of it included.
    #[serde(default)]
    session: Option<Response>,
    /// What of them earlier runs have spent.
    #[serde(default)]
    base: Response,
    anomalies: u32,
}

impl Ledger {
    /// Makes an empty ledger; `pays`: runs of this kind may cost money even if nothing is reported.
    pub fn new(pays: bool) -> Self {
        Self { pays, ..Self::default() }
    }

    /// Makes the ledger of a run that goes on in this one's session: totals of that session begin with what is spent
    /// here.
    #[must_use]
    pub fn continued(&self) -> Self {
        let own = Response {
            tokens: self.base.tokens.zip(self.tokens(), u64::saturating_add),
            cost: Some(self.base.worth().unwrap_or_default() + self.spent()),
            ..Response::default()
        };
        let base = Response { unpriced: 0, ..self.session.unwrap_or(own) };
        Self { base, ..Self::new(self.pays) }
    }

    /// Returns what is known to be spent.
    pub fn spent(&self) -> NanoUsd {
        let summed = self.sum.worth().unwrap_or_default();
        let total = self.total_cost.max(self.total_estimate);
        total.map_or(summed, |total| total.max(summed))
    }

    /// Returns the tokens.
    pub fn tokens(&self) -> Tokens {
        let summed = self.sum.tokens;
        self.total_tokens.map_or(summed, |total| total.zip(summed, u64::max))
    }

    /// Says where the cost comes from.
    pub fn status(&self) -> CostStatus {
        let told = self.total_cost.filter(|total| *total >= self.spent());
        let is_covered = self.total_cost.is_some() || self.total_estimate.is_some();
        if told.is_some() {
            CostStatus::Reported
        } else if is_covered || self.sum.estimate.is_some() {
            CostStatus::Estimated
        } else if self.sum.cost.is_some() && self.sum.unpriced > 0 {
            // A part of it is known; it is at least that.
            CostStatus::Estimated
        } else if self.sum.cost.is_some() {
            CostStatus::Reported
        } else if self.pays || self.tokens().total() > 0 {
            CostStatus::Unknown
        } else {
            CostStatus::None
        }
    }

    /// Says whether a cost is known at all, be it told or worked out.
    pub fn is_told(&self) -> bool {
        matches!(self.status(), CostStatus::Reported | CostStatus::Estimated)
    }

    /// Returns the cost, or `None` while it is unknown; zero if there is none.
    pub fn cost(&self) -> Option<NanoUsd> {
        match self.status() {
            CostStatus::Unknown => None,
            CostStatus::Reported | CostStatus::Estimated | CostStatus::None => Some(self.spent()),
        }
    }

    /// Returns how often a number would have fallen and was kept.
    pub const fn anomalies(&self) -> u32 {
        self.anomalies
    }

    /// Counts one response; the same id replaces the earlier numbers of that response, but never downwards.
    pub fn add(&mut self, id: Option<&str>, usage: &Usage) {
        let new = Response::of(usage);
        let Some(id) = id else {
            self.sum = self.sum.plus(new);
            return;
        };
        if let Some(old) = self.open.get_mut(id) {
            let (kept, falls) = old.replaced(new);
            self.anomalies += u32::from(falls);
            self.sum = self.sum.minus(*old).plus(kept);
            *old = kept;
            return;
        }
        if self.order.len() >= OPEN_RESPONSES
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
        }
        self.sum = self.sum.plus(new);
        self.order.push_back(id.to_owned());
        self.open.insert(id.to_owned(), new);
    }

    /// Takes a running total of cost; one that is lower than what is known is kept as an anomaly.
    pub fn total_cost(&mut self, total: NanoUsd) {
        let falls = total < self.spent();
        self.anomalies += u32::from(falls);
        self.total_cost = Some(total.max(self.spent()));
    }

    /// Takes note of a cost that could not be read: unless another one is known, it is unknown and not zero.
    pub const fn unreadable_cost(&mut self) {
        self.pays = true;
        self.anomalies = self.anomalies.saturating_add(1);
    }

    /// Takes running totals of tokens, each never downwards.
    pub fn total_tokens(&mut self, total: Tokens) {
        let kept = total.zip(self.tokens(), u64::max);
        self.anomalies += u32::from(kept != total);
        self.total_tokens = Some(kept);
    }

    /// Takes totals of this run that are told beside those of its output, by whoever is behind or ahead of it: what is known
    /// already stays, and that is no anomaly.
    pub fn run_total(&mut self, total: &Usage) {
        let known = self.total_tokens.unwrap_or_default();
        self.total_tokens = Some(Tokens::from(total).zip(known, u64::max));
        self.total_estimate = self.total_estimate.max(total.estimate);
    }

    /// Takes totals of the session that the agent works in: what earlier runs of it have spent is not this one's. Totals
    /// that would fall, as when the program has counted from zero again, count from there.
    pub fn session_total(&mut self, usage: &Usage) {
        let total = Response::of(usage);
        let before = self.session.unwrap_or(self.base);
        let falls = total.worth().is_some_and(|worth| Some(worth) < before.worth());
        if falls || total.tokens.total() < before.tokens.total() {
            // The program does not go on from the runs before.
            self.anomalies += u32::from(self.session.is_some());
            self.base = Response::default();
        }
        self.session = Some(total);
        let own = total.less(self.base);
        if own.tokens.total() > 0 {
            self.total_tokens(own.tokens);
        }
        match (own.cost, own.estimate) {
            (Some(cost), _) => self.total_cost(cost),
            (None, Some(estimate)) => {
                self.total_estimate = Some(estimate.max(self.total_estimate.unwrap_or_default()));
            }
            (None, None) if own.tokens.total() > self.sum.tokens.total() => {
                // There is more than the priced responses, and its price is not known.
                self.sum.unpriced = self.sum.unpriced.max(1);
            }
            (None, None) => {}
        }
    }
}

impl Response {
    fn of(usage: &Usage) -> Self {
        let tokens = Tokens::from(usage);
        let estimate = usage.estimate.filter(|_| usage.cost.is_none());
        let is_unpriced = usage.cost.is_none() && estimate.is_none() && tokens.total() > 0;
        Self { tokens, cost: usage.cost, estimate, unpriced: u64::from(is_unpriced) }
    }

    fn worth(self) -> Option<NanoUsd> {
        join(self.cost, self.estimate, |one, two| one + two)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.zip(other.tokens, u64::saturating_add),
            cost: join(self.cost, other.cost, |one, two| one + two),
            estimate: join(self.estimate, other.estimate, |one, two| one + two),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// Takes one response out of the sum that it is in.
    fn minus(self, part: Self) -> Self {
        let rest = |sum: Option<NanoUsd>, part: Option<NanoUsd>| {
            let rest = sum?.saturating_sub(part.unwrap_or_default());
            // An estimate that was all there was leaves none behind, and not one of zero.
            (part.is_none() || rest > NanoUsd::ZERO).then_some(rest)
        };
        Self {
            tokens: self.tokens.zip(part.tokens, u64::saturating_sub),
            cost: rest(self.cost, part.cost),
            estimate: rest(self.estimate, part.estimate),
            unpriced: self.unpriced.saturating_sub(part.unpriced),
        }
    }

    /// Returns what is left when the earlier part of a total is taken away.
    fn less(self, earlier: Self) -> Self {
        let past = earlier.worth().unwrap_or_default();
        Self {
            tokens: self.tokens.zip(earlier.tokens, u64::saturating_sub),
            cost: self.cost.map(|cost| cost.saturating_sub(past)),
            estimate: self.estimate.map(|estimate| estimate.saturating_sub(past)),
            unpriced: self.unpriced,
        }
    }

    /// Returns a response that new numbers were told of, none of them less than before, and whether one would have been.
    fn replaced(self, new: Self) -> (Self, bool) {
        let tokens = self.tokens.zip(new.tokens, u64::max);
        let mut falls = tokens != new.tokens;
        let mut kept = Self { tokens, ..new };
        if new.cost.is_some() {
            let least = self.worth();
            falls |= new.cost < least;
            kept.cost = new.cost.max(least);
        } else if self.cost.is_some() {
            falls = true;
            (kept.cost, kept.estimate, kept.unpriced) = (self.cost, None, 0);
        } else if self.estimate.is_some() {
            falls |= new.estimate < self.estimate;
            (kept.estimate, kept.unpriced) = (new.estimate.max(self.estimate), 0);
        }
        (kept, falls)
    }
}

fn join(
    one: Option<NanoUsd>,
    two: Option<NanoUsd>,
    both: impl Fn(NanoUsd, NanoUsd) -> NanoUsd,
) -> Option<NanoUsd> {
    match (one, two) {
        (Some(one), Some(two)) => Some(both(one, two)),
        (one, two) => one.or(two),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cost_that_cannot_be_read_is_unknown_until_one_can() {
        let mut ledger = Ledger::new(false);
        assert_eq!(ledger.cost(), Some(NanoUsd::default()));
        ledger.unreadable_cost();
        assert_eq!((ledger.status(), ledger.cost()), (CostStatus::Unknown, None));
        ledger.total_cost(NanoUsd::from_nanos(7));
        ledger.unreadable_cost();
        assert_eq!(ledger.cost(), Some(NanoUsd::from_nanos(7)));
    }

    fn usage(cost: u64) -> Usage {
        Usage { input: 10, output: 5, cost: Some(NanoUsd::from_nanos(cost)), ..Usage::default() }
    }

    #[test]
    fn a_response_counts_once_by_its_id() {
        let mut ledger = Ledger::new(true);
        assert_eq!((ledger.status(), ledger.cost()), (CostStatus::Unknown, None));
        ledger.add(Some("m1"), &usage(3));
        ledger.add(Some("m1"), &usage(7));
        ledger.add(Some("m2"), &usage(1));
        assert_eq!(ledger.cost(), Some(NanoUsd::from_nanos(8)));
        assert_eq!((ledger.tokens().total(), ledger.anomalies()), (30, 0));
    }

    /// A lower number is an anomaly that is counted and changes nothing (C-72).
    #[test]
    fn a_lower_number_is_counted_and_not_taken() {
        let mut ledger = Ledger::new(false);
        ledger.add(Some("m1"), &usage(9));
        ledger.add(Some("m1"), &usage(2));
        ledger.total_cost(NanoUsd::from_nanos(4));
        assert_eq!((ledger.spent(), ledger.anomalies()), (NanoUsd::from_nanos(9), 2));
    }

    #[test]
    fn tokens_without_a_cost_make_it_unknown_and_not_zero() {
        let mut ledger = Ledger::new(false);
        assert_eq!(ledger.cost(), Some(NanoUsd::ZERO));
        ledger.add(None, &Usage { output: 5, ..Usage::default() });
        assert_eq!((ledger.status(), ledger.cost()), (CostStatus::Unknown, None));
    }

    /// Costs that were worked out are marked as such, give way to what is told, and never make anything fall.
    #[test]
    fn an_estimate_stands_until_a_cost_is_told() {
        let estimated = |tokens, nanos| Usage {
            input: tokens,
            estimate: Some(NanoUsd::from_nanos(nanos)),
            ..Usage::default()
        };
        let mut ledger = Ledger::new(true);
        ledger.add(Some("m1"), &estimated(100, 30));
        ledger.add(Some("m1"), &estimated(200, 60));
        ledger.add(Some("m2"), &estimated(50, 15));
        let seen = (ledger.status(), ledger.cost(), ledger.anomalies());
        assert_eq!(seen, (CostStatus::Estimated, Some(NanoUsd::from_nanos(75)), 0));
        ledger.total_cost(NanoUsd::from_nanos(80));
        assert_eq!(ledger.status(), CostStatus::Reported);
        // What comes after a total was told is not in it.
        ledger.add(Some("m3"), &estimated(100, 30));
        let seen = (ledger.status(), ledger.cost());
        assert_eq!(seen, (CostStatus::Estimated, Some(NanoUsd::from_nanos(105))));
        ledger.total_cost(NanoUsd::from_nanos(110));
        let seen = (ledger.status(), ledger.cost());
        assert_eq!(seen, (CostStatus::Reported, Some(NanoUsd::from_nanos(110))));
    }

    #[test]
    fn one_response_without_a_price_makes_a_reported_cost_less_than_sure() {
        let mut ledger = Ledger::new(true);
        ledger.add(Some("m1"), &usage(7));
        ledger.add(Some("m2"), &Usage { output: 5, ..Usage::default() });
        let seen = (ledger.status(), ledger.cost());
        assert_eq!(seen, (CostStatus::Estimated, Some(NanoUsd::from_nanos(7))));
        ledger.add(Some("m2"), &usage(3));
        let seen = (ledger.status(), ledger.cost());
        assert_eq!(seen, (CostStatus::Reported, Some(NanoUsd::from_nanos(10))));
    }

    /// Numbers as codex gave them over three runs of one session (C-72).
    #[test]
    fn totals_of_a_session_count_by_what_they_have_grown_in_this_run() {
        let total = |input| Usage { input, ..Usage::default() };
        let mut first = Ledger::new(true);
        first.session_total(&total(5400));
        assert_eq!(first.tokens().total(), 5400);
        let mut second = first.continued();
        assert_eq!(second.tokens().total(), 0);
        second.session_total(&total(8700));
        assert_eq!((second.tokens().total(), second.anomalies()), (3300, 0));
        let mut third = second.continued();
        third.session_total(&total(12_000));
        assert_eq!((third.tokens().total(), third.status()), (3300, CostStatus::Unknown));
    }

    #[test]
    fn a_session_that_counts_from_zero_again_has_no_past() {
        let total = |input, cost| Usage {
            input,
            cost: Some(NanoUsd::from_nanos(cost)),
            ..Usage::default()
        };
        let mut first = Ledger::new(true);
        first.session_total(&total(5400, 90));
        let mut second = first.continued();
        second.session_total(&total(3300, 40));
        let seen = (second.tokens().total(), second.cost(), second.anomalies());
        assert_eq!(seen, (3300, Some(NanoUsd::from_nanos(40)), 0));
    }

    /// One source may be behind the other, and tell more or less of what it costs.
    #[test]
    fn totals_of_a_run_from_two_sources_count_once_whichever_comes_first() {
        let total = |input, estimate: Option<u64>| Usage {
            input,
            estimate: estimate.map(NanoUsd::from_nanos),
            ..Usage::default()
        };
        let mut first = Ledger::new(true);
        first.run_total(&total(300, Some(30)));
        first.run_total(&total(200, Some(20)));
        first.session_total(&total(300, Some(29)));
        let seen = |ledger: &Ledger| {
            (ledger.tokens().total(), ledger.cost().map(NanoUsd::as_nanos), ledger.anomalies())
        };
        assert_eq!((seen(&first), first.status()), ((300, Some(30), 0), CostStatus::Estimated));
        // It was stopped before its output told anything; the next run goes on with the session.
        let mut stopped = Ledger::new(true);
        stopped.run_total(&total(300, None));
        assert_eq!((seen(&stopped), stopped.status()), ((300, None, 0), CostStatus::Unknown));
        stopped.run_total(&total(300, Some(30)));
        let mut second = stopped.continued();
        second.session_total(&total(500, Some(50)));
        second.run_total(&total(200, Some(20)));
        assert_eq!(seen(&second), (200, Some(20), 0));
        // A sum of responses that has more in it than the record, and less.
        let mut summed = Ledger::new(true);
        summed.add(Some("m"), &total(250, Some(25)));
        summed.run_total(&total(200, Some(20)));
        assert_eq!(seen(&summed), (250, Some(25), 0));
        summed.run_total(&total(400, Some(40)));
        summed.add(Some("m"), &total(300, Some(31)));
        assert_eq!(seen(&summed), (400, Some(40), 0));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Add(Option<u16>, u64),
        Total(u64),
        Run(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (proptest::option::of(0_u16..600), 0_u64..1000)
                .prop_map(|(id, cost)| Step::Add(id, cost)),
            (0_u64..5000).prop_map(Step::Total),
            (0_u64..5000).prop_map(Step::Run),
        ]
    }

    proptest! {
        #[test]
        fn a_ledger_never_falls(steps in proptest::collection::vec(step(), 0..700)) {
            let mut ledger = Ledger::new(false);
            let mut before = (NanoUsd::ZERO, 0);
            for step in steps {
                match step {
                    Step::Add(id, cost) => ledger.add(id.map(|id| id.to_string()).as_deref(), &usage(cost)),
                    Step::Total(total) => ledger.total_cost(NanoUsd::from_nanos(total)),
                    Step::Run(total) => ledger.run_total(&Usage {
                        input: total,
                        estimate: Some(NanoUsd::from_nanos(total)),
                        ..Usage::default()
                    }),
                }
                let after = (ledger.spent(), ledger.tokens().total());
                prop_assert!(after.0 >= before.0 && after.1 >= before.1, "{before:?} {after:?}");
                before = after;
            }
        }
    }
}
