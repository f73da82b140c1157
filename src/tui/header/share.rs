//! How much of the cap is gone, and from when on that is worth a warning.
//!
//! What may go here: percents and their words. What may not: where they stand in the header.

use crate::core::{Header, NanoUsd};
use crate::tui::theme::Tone;

/// Percent of the cap from which on there is a warning.
const NEAR: u128 = 80;

/// How much of the cap is gone, in percent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// What is spent.
    pub(super) spent: u128,
    /// With what is reserved.
    taken: u128,
}

impl Share {
    pub(super) fn of(header: &Header) -> Option<Self> {
        let whole = u128::from(header.cap?.as_nanos());
        let percent = |amount: NanoUsd| {
            (u128::from(amount.as_nanos()) * 100).checked_div(whole).unwrap_or(100)
        };
        let taken = percent(header.spent + header.reserved);
        Some(Self { spent: percent(header.spent), taken })
    }

    pub(super) fn is_near(self) -> bool {
        self.taken >= NEAR
    }

    /// Returns it in words, with what it means.
    pub(super) fn told(self) -> (Tone, String) {
        let Self { spent, taken } = self;
        match spent {
            100.. => (Tone::Bad, "cap reached".to_owned()),
            NEAR..100 => (Tone::Warning, format!("{spent}% of the cap")),
            _ if self.is_near() => {
                (Tone::Warning, format!("{spent}%, {taken}% with what is reserved"))
            }
            _ => (Tone::Money, format!("{spent}%")),
        }
    }

    /// Returns what warns where there is no room for words.
    pub(super) fn sign(self) -> String {
        if self.spent >= NEAR { format!("{}%!", self.spent) } else { format!("{}%!", self.taken) }
    }
}
