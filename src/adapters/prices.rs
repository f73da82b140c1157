//! What tokens cost where the agent's program does not say so: the owner's table first, then public list prices.
//!
//! What may go here: prices per model and what follows from them. What may not: what was counted.

use std::collections::BTreeMap;

use genai_prices::{PriceRequest, UsageKey};

use crate::core::{NanoUsd, Price, Usage};

/// Prices of models.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// Makes a table in which the owner's prices, by the model's name, go before the public ones.
    pub const fn new(own: BTreeMap<String, Price>) -> Self {
        Self { own }
    }

    /// Returns what one response costs, rounded up to the next nano-dollar; `None` for a model whose price is not known:
    /// no figure is better than a wrong one. `provider` is one of `anthropic`, `openai`, `google`, where it is known.
    ///
    /// Public prices come with the crate `genai-prices`, which counts in floating point; a response's price has at most
    /// twelve digits, which it holds exactly enough.
    pub fn estimate(&self, provider: Option<&str>, model: &str, usage: &Usage) -> Option<NanoUsd> {
        if let Some(price) = self.own.get(model) {
            return Some(price.of(usage));
        }
        let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let counted = [
            (UsageKey::INPUT_TOKENS, input),
            (UsageKey::CACHE_READ_TOKENS, usage.cache_read),
            (UsageKey::CACHE_WRITE_TOKENS, usage.cache_write),
            (UsageKey::OUTPUT_TOKENS, usage.output),
        ];
        let counted = counted.map(|(key, tokens)| (key, as_float(tokens)));
        let counted = genai_prices::Usage::from(counted);
        let mut request = PriceRequest::new(model, &counted);
        if let Some(provider) = provider {
            request = request.with_provider_id(provider);
        }
        let price = genai_prices::calculate(&request).ok()?.total_price;
        to_nanos(price)
    }

    /// Returns what many responses cost together of which only the sum is known. Where long prompts cost more, every
    /// response counts as a short one.
    pub fn estimate_sum(
        &self,
        provider: Option<&str>,
        model: &str,
        sum: &Usage,
    ) -> Option<NanoUsd> {
        /// Input of one response that is surely short, in tokens.
        const SHORT: u64 = 100_000;
        let input = sum.input.saturating_add(sum.cache_read).saturating_add(sum.cache_write);
        let parts = input.max(sum.output).div_ceil(SHORT).max(1);
        let share = |each: fn(u64, u64) -> u64| Usage {
            input: each(sum.input, parts),
            cache_read: each(sum.cache_read, parts),
            cache_write: each(sum.cache_write, parts),
            output: each(sum.output, parts),
            ..Usage::default()
        };
        let equal = self.estimate(provider, model, &share(|all, parts| all / parts))?;
        let rest = self.estimate(provider, model, &share(|all, parts| all % parts))?;
        let equal = equal.as_nanos().saturating_mul(parts);
        Some(NanoUsd::from_nanos(equal.saturating_add(rest.as_nanos())))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^53")]
const fn as_float(tokens: u64) -> f64 {
    tokens as f64
}

/// Rounds an amount of dollars up to the next nano-dollar; what is nearer to one than the floats can tell is that one.
fn to_nanos(dollars: f64) -> Option<NanoUsd> {
    /// Part of a nano-dollar by which sums of floats are off.
    const OFF: f64 = 1e-3;
    if !dollars.is_finite() || dollars < 0.0 {
        return None;
    }
    let nanos = (dollars * 1e9 - OFF).ceil().max(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion of floats stops at the bounds of the type, and this is not negative"
    )]
    let nanos = nanos as u64;
    Some(NanoUsd::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage() -> Usage {
        Usage { input: 1200, cache_read: 800, cache_write: 100, output: 50, ..Usage::default() }
    }

    fn usd(text: &str) -> NanoUsd {
        text.parse().unwrap()
    }

    /// Worked out by hand from the rates per million: 3, 0.30, 3.75 and 15 dollars.
    #[test]
    fn public_prices_are_to_the_nano_dollar() {
        let prices = Prices::default();
        let cost = prices.estimate(Some("anthropic"), "claude-sonnet-4-5", &usage());
        assert_eq!(cost, Some(usd("0.004965")));
        let none = prices.estimate(Some("anthropic"), "claude-sonnet-4-5", &Usage::default());
        assert_eq!(none, Some(NanoUsd::ZERO));
    }

    /// A long prompt to this model costs twice as much, and many short ones do not: 5, 0.50 and 30 dollars per million.
    #[test]
    fn a_sum_of_short_responses_is_not_priced_as_one_long_one() {
        let sum = Usage { input: 900_001, cache_read: 500_000, output: 1001, ..Usage::default() };
        let prices = Prices::default();
        let cost = prices.estimate_sum(Some("openai"), "gpt-5.5", &sum).unwrap();
        let exact = usd("4.780035");
        assert!(cost >= exact && cost.as_nanos() - exact.as_nanos() <= 15, "{}", cost.to_exact());
        assert!(prices.estimate(Some("openai"), "gpt-5.5", &sum).unwrap() > usd("9"));
        assert_eq!(prices.estimate_sum(None, "mock-model", &sum), None);
    }

    #[test]
    fn a_model_that_nobody_knows_has_no_figure() {
        assert_eq!(Prices::default().estimate(Some("openai"), "mock-model", &usage()), None);
        assert_eq!(Prices::default().estimate(None, "", &usage()), None);
    }

    #[test]
    fn the_owners_price_goes_before_the_public_one_and_is_rounded_up_once() {
        let price = Price {
            input: usd("1"),
            cache_read: usd("0.0001"),
            cache_write: usd("2"),
            output: usd("10"),
        };
        let own = BTreeMap::from([("claude-sonnet-4-5".to_owned(), price)]);
        let cost = Prices::new(own).estimate(Some("anthropic"), "claude-sonnet-4-5", &usage());
        assert_eq!(cost, Some(usd("0.00190008")));
        let own = BTreeMap::from([("m".to_owned(), Price { output: usd("0.0001"), ..price })]);
        let one = Usage { output: 1, ..Usage::default() };
        assert_eq!(Prices::new(own).estimate(None, "m", &one), Some(NanoUsd::from_nanos(1)));
    }
}
