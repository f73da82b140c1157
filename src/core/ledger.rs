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

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Response {
    tokens: Tokens,
    cost: Option<NanoUsd>,
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
    anomalies: u32,
}

impl Ledger {
    /// Makes an empty ledger; `pays`: runs of this kind may cost money even if nothing is reported.
    pub fn new(pays: bool) -> Self {
        Self { pays, ..Self::default() }
    }

    /// Returns what is known to be spent.
    pub fn spent(&self) -> NanoUsd {
        let summed = self.sum.cost.unwrap_or_default();
        self.total_cost.map_or(summed, |total| total.max(summed))
    }

    /// Returns the tokens.
    pub fn tokens(&self) -> Tokens {
        let summed = self.sum.tokens;
        self.total_tokens.map_or(summed, |total| total.zip(summed, u64::max))
    }

    /// Says where the cost comes from.
    pub fn status(&self) -> CostStatus {
        if self.total_cost.is_some() || self.sum.cost.is_some() {
            CostStatus::Reported
        } else if self.pays || self.tokens().total() > 0 {
            CostStatus::Unknown
        } else {
            CostStatus::None
        }
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
        let new = Response { tokens: usage.into(), cost: usage.cost };
        let Some(id) = id else {
            self.sum = self.sum.plus(new);
            return;
        };
        if let Some(old) = self.open.get_mut(id) {
            let kept = Response {
                tokens: old.tokens.zip(new.tokens, u64::max),
                cost: old.cost.max(new.cost),
            };
            self.anomalies += u32::from(kept != new);
            self.sum = self.sum.plus(kept.minus(*old));
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
}

impl Response {
    fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or_default() + two.unwrap_or_default()),
        };
        Self { tokens: self.tokens.zip(other.tokens, u64::saturating_add), cost }
    }

    /// Returns what has to be added to `earlier` to get this.
    fn minus(self, earlier: Self) -> Self {
        let cost = self.cost.map(|cost| cost.saturating_sub(earlier.cost.unwrap_or_default()));
        Self { tokens: self.tokens.zip(earlier.tokens, u64::saturating_sub), cost }
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

    #[derive(Debug, Clone)]
    enum Step {
        Add(Option<u16>, u64),
        Total(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (proptest::option::of(0_u16..600), 0_u64..1000)
                .prop_map(|(id, cost)| Step::Add(id, cost)),
            (0_u64..5000).prop_map(Step::Total),
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
                }
                let after = (ledger.spent(), ledger.tokens().total());
                prop_assert!(after.0 >= before.0 && after.1 >= before.1, "{before:?} {after:?}");
                before = after;
            }
        }
    }
}
