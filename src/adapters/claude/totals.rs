//! What a run of claude has used in all, from its `result` lines.
//!
//! What may go here: the two tables of usage per model. What may not: usage of single messages, which leaves out
//! sub-agents.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::adapters::json::{self, Fields};
use crate::core::{Fact, NanoUsd, Usage};

/// Models of one table that are added up.
const MODELS: usize = 100;

/// A sum over all models.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    cost: NanoUsd,
    /// Some price is none that the program knows: it has put that of another model in its place.
    is_guessed: bool,
}

impl Totals {
    /// Adds up a table of usage per model; `None` if it is none, or some of it has no meaning.
    fn of(table: &RawValue) -> Option<Self> {
        let mut sum = Self::default();
        let mut is_flawed = false;
        json::for_each_field(table, MODELS, |_, model| {
            let wanted = [
                "inputTokens",
                "cacheReadInputTokens",
                "cacheCreationInputTokens",
                "outputTokens",
                "costUSD",
                "costBasis",
            ];
            let Some(mut fields) = Fields::of(model, &wanted) else {
                is_flawed = true;
                return;
            };
            let mut add = |sum: &mut u64, key| {
                *sum = sum.saturating_add(fields.count(key).unwrap_or_default());
            };
            add(&mut sum.input, "inputTokens");
            add(&mut sum.cache_read, "cacheReadInputTokens");
            add(&mut sum.cache_write, "cacheCreationInputTokens");
            add(&mut sum.output, "outputTokens");
            sum.cost += fields.float_money("costUSD").unwrap_or_default();
            sum.is_guessed |= fields.text("costBasis").as_deref() == Some("unknown");
            is_flawed |= fields.is_flawed();
        })?;
        (!is_flawed).then_some(sum)
    }

    /// Returns what is left without `other`.
    const fn without(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            output: self.output.saturating_sub(other.output),
            cost: self.cost.saturating_sub(other.cost),
            is_guessed: self.is_guessed,
        }
    }

    const fn tokens(self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }
}

/// Takes the totals of a `result` line. `base` is what the session had used before this run; newer versions go on
/// counting from there, and say beside it what is new.
pub(super) fn take(
    table: Option<&RawValue>,
    since_last: Option<&RawValue>,
    cost: Option<NanoUsd>,
    base: &mut Option<Totals>,
    facts: &mut Vec<Fact>,
) {
    let Some(session) = table.and_then(Totals::of) else {
        // Without the table it is not known whose cost this is, unless nothing was ever used.
        facts.extend(cost.filter(|_| base.is_none()).map(Fact::TotalCost));
        return;
    };
    let session = Totals { cost: cost.unwrap_or(session.cost), ..session };
    if let Some(new) = since_last.and_then(Totals::of) {
        let before = session.without(new);
        let is_first = base.is_none_or(|base| before.tokens() < base.tokens());
        if is_first {
            *base = Some(before);
        }
    }
    let run = session.without(base.unwrap_or_default());
    if run.tokens() > 0 {
        facts.push(Fact::TotalTokens(Usage {
            input: run.input,
            cache_read: run.cache_read,
            cache_write: run.cache_write,
            output: run.output,
            ..Usage::default()
        }));
    }
    if !run.is_guessed {
        facts.push(Fact::TotalCost(run.cost));
    }
}
