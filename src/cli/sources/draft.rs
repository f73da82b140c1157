//! What somebody types into the task editor: one task, several between separators, or a list of JSON.
//!
//! What may go here: where a draft is cut. What may not: whether what comes out is a task (`validate`).

use super::{Entry, Format, InputError, Place, json, sniff};

/// Separates tasks: as a line of its own, or between two tasks of a draft of one line.
const BETWEEN: &str = ";;";
/// Separates tasks as a line of its own.
const RULE: &str = "---";

/// Returns the tasks of a draft. Prompts are cut at separators; commands never, since `;;` and `---` mean something in
/// them. A list of JSON is a list of tasks; one with a mistake in it is refused where tasks are prompts, and is a
/// command like any other where they are commands.
pub fn draft_entries(draft: &str, is_prompt: bool) -> Result<Vec<Entry>, InputError> {
    if is_list(draft) {
        match json::entries("draft", draft) {
            Ok(entries) => return Ok(entries.into_iter().zip(1..).map(numbered).collect()),
            Err(error) if is_prompt => return Err(error),
            Err(_) => {}
        }
    }
    let entry = |(number, (line, text)): (usize, (usize, &str))| {
        Entry::new(Place::Draft { number, line }, Some(text.to_owned()))
    };
    Ok((1..).zip(parts(draft, is_prompt)).map(entry).collect())
}

fn is_list(draft: &str) -> bool {
    draft.trim_start().starts_with('[') && sniff(draft) == Format::Json
}

fn numbered((mut entry, number): (Entry, usize)) -> Entry {
    let line = entry.place.line().unwrap_or(1);
    entry.place = Place::Draft { number, line };
    entry
}

/// Cuts a draft; each part is trimmed, comes with the line on which it begins, and says something.
fn parts(draft: &str, is_prompt: bool) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    if !is_prompt {
        push(draft, 1, &mut parts);
    } else if draft.trim().contains('\n') {
        cut_at_lines(draft, &mut parts);
    } else {
        cut_between_words(draft, &mut parts);
    }
    parts
}

fn cut_at_lines<'draft>(draft: &'draft str, parts: &mut Vec<(usize, &'draft str)>) {
    let (mut begin, mut first, mut at) = (0, 1, 0);
    for (number, line) in (1..).zip(draft.split_inclusive('\n')) {
        if [RULE, BETWEEN].contains(&line.trim()) {
            push(draft.get(begin..at).unwrap_or_default(), first, parts);
            (begin, first) = (at + line.len(), number + 1);
        }
        at += line.len();
    }
    push(draft.get(begin..).unwrap_or_default(), first, parts);
}

/// Cuts at each `;;` that has a blank or nothing on both sides.
fn cut_between_words<'draft>(draft: &'draft str, parts: &mut Vec<(usize, &'draft str)>) {
    let blank = |next: Option<char>| next.is_none_or(char::is_whitespace);
    let text = draft.trim_start();
    let first = lines_in(draft.len() - text.len(), draft) + 1;
    let mut begin = 0;
    for (at, found) in text.match_indices(BETWEEN) {
        let after = at + found.len();
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        if blank(before) && blank(text.get(after..).and_then(|text| text.chars().next())) {
            push(text.get(begin..at).unwrap_or_default(), first, parts);
            begin = after;
        }
    }
    push(text.get(begin..).unwrap_or_default(), first, parts);
}

fn push<'draft>(part: &'draft str, first: usize, parts: &mut Vec<(usize, &'draft str)>) {
    let text = part.trim();
    if !text.is_empty() {
        let skipped = part.len() - part.trim_start().len();
        parts.push((first + lines_in(skipped, part), text));
    }
}

/// Returns how many lines end in the first bytes of a text.
fn lines_in(bytes: usize, text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes().get(..bytes).unwrap_or_default()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(draft: &str, is_prompt: bool, expected: &[(usize, &str)]) {
        let entries = draft_entries(draft, is_prompt).unwrap();
        let found: Vec<(usize, &str)> = entries
            .iter()
            .map(|entry| (entry.place.line().unwrap(), entry.task.as_deref().unwrap()))
            .collect();
        assert_eq!(found, expected, "{draft:?}");
        for (number, entry) in (1..).zip(&entries) {
            assert!(matches!(entry.place, Place::Draft { number: its, .. } if its == number));
        }
    }

    #[test]
    fn a_draft_of_one_line_is_cut_between_words() {
        check("t1 ;; t2 ;; t3", true, &[(1, "t1"), (1, "t2"), (1, "t3")]);
        check("  a ;;  ;; b ;;", true, &[(1, "a"), (1, "b")]);
        check(";; a", true, &[(1, "a")]);
        check("a;;b and ;;c or d;; e", true, &[(1, "a;;b and ;;c or d;; e")]);
        check("\n\n a ;; b\n", true, &[(3, "a"), (3, "b")]);
        check(";;", true, &[]);
        check(" \n\t", true, &[]);
    }

    #[test]
    fn a_draft_of_many_lines_is_cut_at_lines_that_say_nothing_else() {
        check("a\n---\nb\nc\n;;\n\n\nd\n", true, &[(1, "a"), (3, "b\nc"), (8, "d")]);
        check("one ;; line\ntwo", true, &[(1, "one ;; line\ntwo")]);
        check("a\r\n --- \r\nb", true, &[(1, "a"), (3, "b")]);
        check("---\n---\na", true, &[(3, "a")]);
        check("- a\n----\n- b", true, &[(1, "- a\n----\n- b")]);
    }

    #[test]
    fn commands_are_never_cut() {
        check("a ;; b", false, &[(1, "a ;; b")]);
        check("\ncase x in\n x) a\n;;\nesac\n", false, &[(2, "case x in\n x) a\n;;\nesac")]);
        check("[ \"$a\" = b ] && c", false, &[(1, "[ \"$a\" = b ] && c")]);
        check("[\"a\", \"b\"]", false, &[(1, "a"), (1, "b")]);
    }

    /// C-12.
    #[test]
    fn a_list_of_json_is_a_list_of_tasks() {
        let draft = "[{\"goal\": \"fix it\", \"tier\": \"deep\"},\n \"write it ;; all\"]";
        check(draft, true, &[(1, "fix it"), (2, "write it ;; all")]);
        assert_eq!(draft_entries(draft, true).unwrap()[0].tier.as_deref(), Some("deep"));
        let error = draft_entries("[\"a\",\n \"b\"\n", true).unwrap_err();
        assert_eq!(error.line, Some(3));
        assert!(error.what.starts_with("is no JSON: "), "{error}");
        let error = draft_entries("[{\"goal\": 3}]", true).unwrap_err();
        assert_eq!(error.what, "goal: is a number where a text is expected");
        check("[urgent] fix it", true, &[(1, "[urgent] fix it")]);
        check("{\"k\": 1} is what it prints", true, &[(1, "{\"k\": 1} is what it prints")]);
    }
}
