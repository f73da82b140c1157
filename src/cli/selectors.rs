//! Selectors: which agents a command is about.
//!
//! What may go here: their syntax and which agents they mean in a snapshot. What may not: what is done with them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::core::{AgentId, BatchId, Outcome, Row, Snapshot, Status};
use crate::journal::to_type;
use crate::words::plain_text::{cut_graphemes, one_line};

/// What can be written, for every message.
const KINDS: &str = "7, 3-9, failed, set:2 or all";

/// One selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Agents by number, both ends included.
    Agents(RangeInclusive<u32>),
    /// Agents that ended and are not done, unless another one tries their task again.
    Failed,
    /// All agents of a batch, by its number.
    Batch(u32),
    /// All agents of a batch, by the name that `fleet dispatch` has told.
    Named(BatchId),
    /// All agents.
    All,
}

/// Reads selectors. None at all is an error that names `all`: nobody stops everything by leaving something out.
pub fn parse(words: &[String]) -> Result<Vec<Selector>, String> {
    if words.is_empty() {
        return Err(format!("which agents? give {KINDS}"));
    }
    parts(words).map(parse_one).collect()
}

/// Returns what stands in words, in which several selectors can be joined by commas.
fn parts(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().flat_map(|word| word.split(','))
}

/// Divides words that may name a fleet and agents of it: the fleet comes first, and everything else selects.
pub fn divide(words: &[String]) -> Result<(Option<&str>, Vec<Selector>), String> {
    let (fleet, rest) = match words.split_first() {
        Some((first, rest)) if !is_selector(first) => (Some(first.as_str()), rest),
        Some(_) | None => (None, words),
    };
    let selectors = parts(rest).map(parse_one).collect::<Result<Vec<_>, _>>()?;
    Ok((fleet, selectors))
}

/// Says whether a word is meant to select agents, rightly written or not. An id of a fleet begins with a letter.
fn is_selector(word: &str) -> bool {
    matches!(word, "all" | "failed")
        || ["set:", "deleg_", "#"].iter().any(|start| word.starts_with(start))
        || word.chars().next().is_none_or(|first| !first.is_ascii_alphabetic())
}

fn parse_one(word: &str) -> Result<Selector, String> {
    match word {
        "all" => return Ok(Selector::All),
        "failed" => return Ok(Selector::Failed),
        _ => {}
    }
    let shown = cut_graphemes(&one_line(word), 40);
    if let Some(number) = word.strip_prefix("set:") {
        return number
            .parse()
            .ok()
            .filter(|number| *number > 0)
            .map(Selector::Batch)
            .ok_or_else(|| format!("'{shown}' names no batch (write set:2 for the second one)"));
    }
    if word.starts_with("deleg_") {
        return Ok(Selector::Named(BatchId(word.to_owned())));
    }
    let unknown = || format!("'{shown}' selects nothing (write {KINDS})");
    let number = |text: &str| {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|_| plain).ok_or_else(unknown)
    };
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(word)?, number(word)?),
    };
    if first == 0 {
        return Err(format!("'{shown}': agents are numbered from 1"));
    }
    if last < first {
        return Err(format!("'{shown}' ends before it begins (write {last}-{first})"));
    }
    Ok(Selector::Agents(first..=last))
}

/// Writes a selector of these agents, which are in order: `3,5-7`; `all` of more than can be read.
pub fn written(ids: &[AgentId]) -> String {
    /// Runs of numbers.
    const MOST: usize = 8;
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(id.0) => *last = id.0,
            Some(_) | None => runs.push((id.0, id.0)),
        }
    }
    if runs.len() > MOST {
        return "all".to_owned();
    }
    let texts =
        runs.iter().map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        );
    texts.collect::<Vec<_>>().join(",")
}

/// Returns the agents that are meant, each once, in order. One that names nothing is an error.
pub fn select(selectors: &[Selector], snapshot: &Snapshot) -> Result<Vec<AgentId>, String> {
    let mut selected = BTreeSet::new();
    for selector in selectors {
        let meant: Vec<AgentId> =
            snapshot.rows.iter().filter(|row| is_meant(selector, row)).map(|row| row.id).collect();
        if meant.is_empty() {
            return Err(nothing(selector, snapshot));
        }
        selected.extend(meant);
    }
    Ok(selected.into_iter().collect())
}

fn is_meant(selector: &Selector, row: &Row) -> bool {
    match selector {
        Selector::Agents(range) => range.contains(&row.id.0),
        Selector::Failed => {
            row.status.is_ended()
                && row.status != Status::Ended(Outcome::Done)
                && row.retried_by.is_none()
        }
        Selector::Batch(number) => {
            row.tag.strip_prefix("set ").is_some_and(|tag| tag == number.to_string())
        }
        Selector::Named(batch) => row.batch == *batch,
        Selector::All => true,
    }
}

fn nothing(selector: &Selector, snapshot: &Snapshot) -> String {
    let fleet = &snapshot.header.fleet;
    let last = snapshot.rows.last().map_or(0, |row| row.id.0);
    match selector {
        Selector::Agents(range) if last == 0 => {
            format!("no agent #{}: fleet {fleet} has none yet", range.start())
        }
        Selector::Agents(range) => {
            format!("no agent #{}: fleet {fleet} has 1 to {last}", range.start())
        }
        Selector::Failed => format!("no agent of fleet {fleet} has failed"),
        Selector::Batch(number) => {
            format!(
                "no batch {number}: fleet {fleet} has {} ({} shows them)",
                snapshot.batches.len(),
                to_type(format_args!("results {fleet}"))
            )
        }
        Selector::Named(batch) => format!(
            "no batch {}: fleet {fleet} has {} ({} shows them)",
            cut_graphemes(&one_line(&batch.0), 40),
            snapshot.batches.len(),
            to_type(format_args!("results {fleet}"))
        ),
        Selector::All => format!("fleet {fleet} has no agents yet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::BatchId;
    use crate::core::testing::{end, row, snapshot};

    fn fleet() -> Snapshot {
        let mut retried = end(row(3), Outcome::Failed, "x");
        retried.retried_by = Some(AgentId(5));
        let mut later = row(5);
        later.tag = "set 2".into();
        later.batch = BatchId::from_bits(2);
        let rows = vec![
            end(row(1), Outcome::Done, ""),
            end(row(2), Outcome::Timeout, "x"),
            retried,
            row(4),
            later,
        ];
        snapshot(1, rows)
    }

    fn selected(words: &[&str]) -> Result<Vec<u32>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let ids = select(&parse(&words)?, &fleet())?;
        Ok(ids.into_iter().map(|id| id.0).collect())
    }

    #[test]
    fn a_selector_of_some_agents_is_written_as_short_as_it_can_be() {
        let written = |ids: &[u32]| written(&ids.iter().copied().map(AgentId).collect::<Vec<_>>());
        assert_eq!(written(&[3]), "3");
        assert_eq!(written(&[3, 5, 6, 7, 9, 10]), "3,5-7,9-10");
        assert_eq!(written(&(0..9).map(|id| id * 2 + 1).collect::<Vec<_>>()), "all");
        assert_eq!(written(&[]), "");
    }

    #[test]
    fn agents_are_selected_by_number_range_batch_and_end_each_once() {
        assert_eq!(selected(&["4"]), Ok(vec![4]));
        assert_eq!(selected(&["#4", "4", "1"]), Ok(vec![1, 4]));
        assert_eq!(selected(&["2-4"]), Ok(vec![2, 3, 4]));
        assert_eq!(selected(&["4-99"]), Ok(vec![4, 5]));
        assert_eq!(selected(&["failed"]), Ok(vec![2]));
        assert_eq!(selected(&["set:2", "1"]), Ok(vec![1, 5]));
        assert_eq!(selected(&["all"]), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(selected(&["1,3-4"]), Ok(vec![1, 3, 4]));
        assert_eq!(selected(&["set:2,failed", "1"]), Ok(vec![1, 2, 5]));
        for word in ["1,", ",1", "1,,3"] {
            assert!(selected(&[word]).unwrap_err().contains("'' selects nothing"), "{word}");
        }
    }

    #[test]
    fn a_batch_is_selected_by_the_name_that_its_handle_told() {
        assert_eq!(selected(&["deleg_00000002"]), Ok(vec![5]));
        let sentence = selected(&["deleg_0000000f"]).unwrap_err();
        assert!(sentence.starts_with("no batch deleg_0000000f: fleet k3f has 2 ("), "{sentence}");
    }

    #[test]
    fn the_first_word_names_a_fleet_unless_it_selects() {
        let divided = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            divide(&words).map(|(fleet, rest)| (fleet.map(ToOwned::to_owned), rest.len()))
        };
        let k3f = || Some("k3f".to_owned());
        assert_eq!(divided(&[]), Ok((None, 0)));
        assert_eq!(divided(&["k3f"]), Ok((k3f(), 0)));
        assert_eq!(divided(&["k3f", "7", "set:2"]), Ok((k3f(), 2)));
        for word in ["7", "3-9", "#7", "set:2", "failed", "all", "deleg_00000001"] {
            assert_eq!(divided(&[word]), Ok((None, 1)), "{word}");
        }
        for word in ["set:x", "4-2", "-1", ""] {
            assert!(divided(&[word]).is_err(), "{word}");
        }
        assert!(divided(&["7", "k3f"]).is_err(), "a fleet comes first");
    }

    #[test]
    fn what_selects_nothing_is_one_sentence() {
        for (words, part) in [
            (&[][..], "or all"),
            (&["9"], "fleet k3f has 1 to 5"),
            (&["9-12"], "no agent #9"),
            (&["0"], "numbered from 1"),
            (&["4-2"], "write 2-4"),
            (&["4-"], "'4-' selects nothing"),
            (&["-4"], "'-4' selects nothing"),
            (&["+4"], "'+4' selects nothing"),
            (&["x"], "'x' selects nothing (write 7, 3-9, failed, set:2 or all)"),
            (&["99999999999"], "selects nothing"),
            (&["set:"], "names no batch"),
            (&["set:0"], "names no batch"),
            (&["set:7"], "no batch 7: fleet k3f has 2 ("),
            (&[""], "'' selects nothing"),
        ] {
            let sentence = selected(words).unwrap_err();
            assert!(sentence.contains(part) && !sentence.contains('\n'), "{words:?}: {sentence}");
        }
    }
}
