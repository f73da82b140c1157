//! Integration tests, in one binary since each costs a link.

// For clippy `cfg(test)` is what makes it test code, in which a failed `unwrap` is a failed test.
#[cfg(test)]
mod adapters;
#[cfg(test)]
mod journal;
