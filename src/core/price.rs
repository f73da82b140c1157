//! What the tokens of a model cost.
//!
//! What may go here: a price and what follows from it. What may not: whose price it is, public lists (`adapters`).

use serde::{Deserialize, Serialize};

use super::fact::Usage;
use super::money::NanoUsd;

/// Tokens that a price is of.
const MILLION: u128 = 1_000_000;

/// Price of one model, for a million tokens of each sort.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input that was not cached.
    pub input: NanoUsd,
    /// Input read from a cache.
    pub cache_read: NanoUsd,
    /// Input written to a cache.
    pub cache_write: NanoUsd,
    /// Output, thinking included.
    pub output: NanoUsd,
}

impl Price {
    /// Returns what one response costs, rounded up once to the next nano-dollar.
    pub fn of(&self, usage: &Usage) -> NanoUsd {
        let parts = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        let sum: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(price.as_nanos()))
            .sum();
        NanoUsd::from_nanos(u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}
