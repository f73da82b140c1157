//! Money: whole nano-dollars, read from text, never through a float.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Digits after the point that a nano-dollar amount can have.
const DECIMALS: usize = 9;
/// Nano-dollars in one dollar.
const PER_DOLLAR: u64 = 1_000_000_000;

/// A non-negative amount of money in nano-dollars (1 USD = 1,000,000,000).
#[derive(
    Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NanoUsd(u64);

/// Why a text is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// No number at all.
    #[error("is not an amount of dollars (write it like 2 or 1.50)")]
    NotANumber,
    /// Below zero.
    #[error("is below zero")]
    Negative,
    /// More than fits: over 18 billion dollars.
    #[error("is more than Fleet can count")]
    TooLarge,
}

impl NanoUsd {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Makes an amount from nano-dollars.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Makes an amount from whole dollars, at most what fits.
    pub const fn from_dollars(dollars: u64) -> Self {
        Self(dollars.saturating_mul(PER_DOLLAR))
    }

    /// Returns the amount in nano-dollars.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns what is left after `other` is taken away, zero if that is more.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the amount divided by `count`, rounded up; the amount itself for no count.
    #[must_use]
    pub const fn div_ceil(self, count: u64) -> Self {
        Self(self.0.div_ceil(if count == 0 { 1 } else { count }))
    }

    /// Returns the next full cent at or above, plus `more`: the default of the cap question.
    #[must_use]
    pub fn round_up_to_cent_plus(self, more: Self) -> Self {
        const CENT: u64 = PER_DOLLAR / 100;
        Self(self.0.div_ceil(CENT).saturating_mul(CENT)) + more
    }

    /// Returns the amount in dollars with all its digits, at least two: `0.0042`, `12.00`.
    pub fn to_exact(self) -> String {
        let fraction = format!("{:09}", self.0 % PER_DOLLAR);
        let digits = fraction.trim_end_matches('0');
        format!("{}.{digits:0<2}", self.0 / PER_DOLLAR)
    }
}

impl FromStr for NanoUsd {
    type Err = MoneyError;

    /// Reads a decimal number of dollars as JSON writes them (`2`, `1.50`, `4.5e-3`); a leading `$` and blanks around
    /// are allowed. Digits beyond the ninth round up, so that no cost is read as less than it was.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let text = text.trim();
        let text = text.strip_prefix('$').unwrap_or(text).trim_start();
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i64>().map_err(|_| MoneyError::NotANumber)?)
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
            return Err(MoneyError::NotANumber);
        }
        let digits = [whole, fraction].concat();
        let nanos = scale(digits.trim_start_matches('0'), exponent, whole.len(), digits.len())?;
        if negative && nanos > 0 { Err(MoneyError::Negative) } else { Ok(Self(nanos)) }
    }
}

/// Returns the digits as nano-dollars, where the point stands after `whole` of `all` digits and moves by `exponent`.
fn scale(digits: &str, exponent: i64, whole: usize, all: usize) -> Result<u64, MoneyError> {
    if digits.is_empty() {
        return Ok(0);
    }
    let as_i64 = |number: usize| i64::try_from(number).map_err(|_| MoneyError::TooLarge);
    // How many of `digits` stand before the last nano-dollar place.
    let kept = (as_i64(digits.len())? - as_i64(all)? + as_i64(whole)?)
        .saturating_add(exponent)
        .saturating_add(as_i64(DECIMALS)?);
    let Ok(kept) = usize::try_from(kept) else { return Ok(1) };
    // 2^64 has 20 digits.
    if kept > 20 {
        return Err(MoneyError::TooLarge);
    }
    let (head, rest) = digits.split_at_checked(kept).unwrap_or((digits, ""));
    let head = format!("{head:0<kept$}");
    let nanos =
        if head.is_empty() { 0 } else { head.parse::<u64>().map_err(|_| MoneyError::TooLarge)? };
    let up = u64::from(rest.bytes().any(|byte| byte != b'0'));
    nanos.checked_add(up).ok_or(MoneyError::TooLarge)
}

/// Shows four decimals, rounding up, so the screen never claims less than was spent.
impl fmt::Display for NanoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNIT: u64 = PER_DOLLAR / 10_000;
        let units = self.0.div_ceil(UNIT);
        write!(f, "${}.{:04}", units / 10_000, units % 10_000)
    }
}

impl Add for NanoUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for NanoUsd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for NanoUsd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nanos(text: &str) -> Result<u64, MoneyError> {
        text.parse::<NanoUsd>().map(NanoUsd::as_nanos)
    }

    #[test]
    fn amounts_are_read_from_their_decimal_text_and_round_up() {
        assert_eq!(nanos("2"), Ok(2_000_000_000));
        assert_eq!(nanos(" $1.50 "), Ok(1_500_000_000));
        assert_eq!(nanos("0.0042"), Ok(4_200_000));
        assert_eq!(nanos("4.2e-3"), Ok(4_200_000));
        assert_eq!(nanos("12E2"), Ok(1_200_000_000_000));
        assert_eq!(nanos("0.0000000001"), Ok(1));
        assert_eq!(nanos("1e-400"), Ok(1));
        assert_eq!(nanos("0e400"), Ok(0));
        assert_eq!(nanos("-0"), Ok(0));
        assert_eq!(nanos("000000000000000000000000000001"), Ok(1_000_000_000));
    }

    #[test]
    fn what_is_no_amount_is_told_apart() {
        for text in ["", "$", ".", "abc", "1.2.3", "1,5", "--1", "nan", "inf", "1e", "+1", "0x10"] {
            assert_eq!(nanos(text), Err(MoneyError::NotANumber), "{text:?}");
        }
        assert_eq!(nanos("-0.01"), Err(MoneyError::Negative));
        assert_eq!(nanos("1e300"), Err(MoneyError::TooLarge));
        assert_eq!(nanos("99999999999999999999"), Err(MoneyError::TooLarge));
    }

    #[test]
    fn the_screen_rounds_up_and_exact_text_has_all_digits() {
        assert_eq!(NanoUsd(1).to_string(), "$0.0001");
        assert_eq!(NanoUsd(4_128_000_000).to_string(), "$4.1280");
        assert_eq!(NanoUsd(1).to_exact(), "0.000000001");
        assert_eq!(NanoUsd::from_dollars(12).to_exact(), "12.00");
    }

    proptest! {
        #[test]
        fn every_amount_survives_its_exact_text(nanos in any::<u64>()) {
            prop_assert_eq!(NanoUsd(nanos).to_exact().parse(), Ok(NanoUsd(nanos)));
        }

        #[test]
        fn no_text_is_read_as_less_than_it_says(whole in 0_u64..1_000_000, digits in "[0-9]{0,14}") {
            let read = nanos(&format!("{whole}.{digits}0")).unwrap();
            let exact = u128::from(whole) * 10_u128.pow(23) + format!("{digits:0<23}").parse::<u128>().unwrap();
            prop_assert_eq!(u128::from(read), exact.div_ceil(10_u128.pow(14)));
        }
    }
}
