//! Numbers of agents in a sentence.
//!
//! What may go here: how several are named. What may not: what is said of them.

use crate::core::AgentId;
use crate::words::plain_text::count;

/// Most pieces that a person reads one by one.
const PIECES: usize = 6;

/// Returns agents as a person names them, in the order given: `#4`, `#4, #7`, `#4 to #9, #12`, and how many they are
/// where they are too scattered for that.
pub fn agent_numbers(ids: &[AgentId]) -> String {
    let pieces: Vec<String> = ids
        .chunk_by(|before, after| before.0.checked_add(1) == Some(after.0))
        .flat_map(|run| match run {
            [first, _, .., last] => vec![format!("{first} to {last}")],
            few => few.iter().map(ToString::to_string).collect(),
        })
        .collect();
    match pieces.len() {
        0 => "no agent".to_owned(),
        some if some <= PIECES => pieces.join(", "),
        _ => count(ids.len(), "agent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_by_runs_and_counted_when_they_are_scattered() {
        let named =
            |ids: &[u32]| agent_numbers(&ids.iter().map(|id| AgentId(*id)).collect::<Vec<_>>());
        assert_eq!(named(&[]), "no agent");
        assert_eq!(named(&[4]), "#4");
        assert_eq!(named(&[4, 7]), "#4, #7");
        assert_eq!(named(&[4, 5, 6, 9, 11, 12]), "#4 to #6, #9, #11, #12");
        assert_eq!(named(&(1..=950).collect::<Vec<_>>()), "#1 to #950");
        assert_eq!(named(&[1, 3, 5, 7, 9, 11]), "#1, #3, #5, #7, #9, #11");
        assert_eq!(named(&[1, 3, 5, 7, 9, 11, 13]), "7 agents");
        assert_eq!(named(&[u32::MAX, 1]), format!("#{}, #1", u32::MAX));
    }
}
