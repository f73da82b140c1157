//! Plain text: one task a line, or blocks between lines `---`.
//!
//! What may go here: that format. What may not: other formats.

use super::{Entry, Place};

/// A line that separates blocks.
const SEPARATOR: &str = "---";

/// Returns the tasks of a text; blank lines and blank blocks are none.
pub(super) fn entries(file: &str, text: &str) -> Vec<Entry> {
    let place = |line: usize| Place::Line { file: file.to_owned(), line };
    if !text.lines().any(is_separator) {
        return (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| Entry::new(place(number), Some(line.trim().to_owned())))
            .collect();
    }
    let numbered: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    numbered
        .split(|(_, line)| is_separator(line))
        .filter_map(|block| {
            let first = block.iter().position(|(_, line)| !line.trim().is_empty())?;
            let last = block.iter().rposition(|(_, line)| !line.trim().is_empty())?;
            let block = block.get(first..=last)?;
            let (number, _) = *block.first()?;
            let lines: Vec<&str> = block.iter().map(|(_, line)| line.trim_end()).collect();
            Some(Entry::new(place(number), Some(lines.join("\n"))))
        })
        .collect()
}

fn is_separator(line: &str) -> bool {
    line.trim_end() == SEPARATOR
}
