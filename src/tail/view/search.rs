//! What is searched for, and the thread that searches a whole file behind the screen.
//!
//! What may go here: needles, hits, the pass over a file. What may not: what is visible.
//!
//! A needle is a literal text. One without upper case letters ignores case. Written between two slashes, as `/pat+/`,
//! it is a regular expression instead, with the same rule for case. Literals are the default since logs are full of
//! brackets, dots and dollar signs that nobody means as operators.

mod found;
mod needle;
mod pass;
mod seeker;

pub(super) use found::Way;
pub(super) use needle::Matcher;
pub(super) use seeker::Seeker;
