//! Finds the known name that somebody probably meant.

/// How alike two names must be (Jaro-Winkler, 0 to 1) for the one to be offered for the other.
const ALIKE: f64 = 0.75;

/// Returns the known name that is most like `name`, if any is like it at all.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map(|(_, candidate)| candidate)
}

/// Returns a clause for the end of a sentence: ` (did you mean budget_usd?)`, or all names if none is alike.
pub fn hint(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(candidate) => format!(" (did you mean {candidate}?)"),
        None => format!(" (known: {})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_else_all_of_them() {
        let known = ["task", "budget_usd", "timeout", "idle_timeout"];
        assert_eq!(hint("budget", &known), " (did you mean budget_usd?)");
        assert_eq!(hint("Timeuot", &known), " (did you mean timeout?)");
        assert_eq!(hint("qqq", &known), " (known: task, budget_usd, timeout, idle_timeout)");
    }
}
