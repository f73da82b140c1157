//! Rules about the text of a task.
//!
//! What may go here: what makes a text no task at all. What may not: options, files.

/// Words that stand for a task that somebody meant to write.
const PLACEHOLDERS: [&str; 10] = [
    "todo",
    "tbd",
    "fixme",
    "xxx",
    "placeholder",
    "task",
    "goal",
    "prompt",
    "your task here",
    "lorem ipsum",
];
/// Words that, with a number behind them, are a placeholder too.
const NUMBERED: [&str; 5] = ["task", "goal", "todo", "item", "prompt"];
/// Words that begin code in braces or an element of a page in angle brackets, which are no markers.
const CODE_WORDS: [&str; 34] = [
    "return", "throw", "let", "const", "var", "print", "echo", "await", "new", "import", "export",
    "yield", "break", "type", "pub", "use", "static", "default", "as", "in", "of", "if", "else",
    "input", "button", "script", "video", "option", "details", "dialog", "select", "textarea",
    "unsigned", "struct",
];
/// Most words in a marker such as `<name of the file>`; longer ones are prose.
const MARKER_WORDS: usize = 5;

/// Says why a text is no task, as a clause, or that it is one. `prompt`: it is meant for a model, not for a shell.
pub fn check_text(text: &str, prompt: bool) -> Result<(), String> {
    if text.contains('\0') {
        return Err("has a NUL byte, which no task can have".to_owned());
    }
    if text.trim().is_empty() {
        return Err("is empty (say what is to be done)".to_owned());
    }
    if !prompt {
        return Ok(());
    }
    if is_placeholder(text) {
        return Err(format!("is only a placeholder, '{}' (say what is to be done)", text.trim()));
    }
    match marker(text) {
        Some(marker) => Err(format!("has {marker}, which nobody has filled in (replace it)")),
        None => Ok(()),
    }
}

fn is_placeholder(text: &str) -> bool {
    let text = text.to_lowercase();
    let text = text.trim_matches(|character: char| !character.is_alphanumeric());
    // Nothing but punctuation, such as "..." or "???".
    if text.is_empty() || PLACEHOLDERS.contains(&text) {
        return true;
    }
    NUMBERED.iter().any(|word| {
        text.strip_prefix(word).is_some_and(|rest| {
            let number = rest.trim_start_matches([' ', '#', '-', '_', ':']);
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Finds `<some name>` or `{some name}`: two to five plain words right between the brackets. Braces of JSON or code
/// (`{"k": 1}`, `{a,b}`, `{i}`), elements of a page and types (`Vec<unsigned int>`) are none.
fn marker(text: &str) -> Option<&str> {
    let mut rest = text;
    let mut before = None;
    loop {
        let start = rest.find(['<', '{'])?;
        before = rest.get(..start)?.chars().next_back().or(before);
        let found = rest.get(start..)?;
        let (open, close) = if found.starts_with('<') { ('<', '>') } else { ('{', '}') };
        let inner = found.get(1..)?;
        let end = inner.find(['<', '{', '>', '}']).unwrap_or(inner.len());
        let glued = open == '<'
            && before.is_some_and(|character| character.is_alphanumeric() || character == '_');
        let quoted = before == Some('`');
        if inner.get(end..)?.starts_with(close) && !glued && !quoted && is_marker(inner.get(..end)?)
        {
            return found.get(..=end + 1);
        }
        before = Some(open);
        rest = inner;
    }
}

fn is_marker(inner: &str) -> bool {
    let plain = |word: &str| {
        word.starts_with(char::is_alphabetic)
            && word.chars().all(|character| {
                character.is_alphanumeric() || matches!(character, '-' | '_' | '\'')
            })
    };
    let words: Vec<&str> = inner.split(' ').collect();
    (2..=MARKER_WORDS).contains(&words.len())
        && words.iter().all(|word| plain(word))
        && !words.iter().any(|word| CODE_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_no_task_for_any_kind() {
        for prompt in [true, false] {
            assert!(check_text(" \n\t", prompt).unwrap_err().starts_with("is empty"));
            assert!(check_text("a\0b", prompt).unwrap_err().contains("NUL"));
        }
    }

    #[test]
    fn placeholders_are_refused_for_prompts_only() {
        for text in [
            "todo", "TODO:", "Task 3", "task#12", "goal 1.", "...", "<todo>", "TBD", "???",
            "item-4",
        ] {
            assert!(check_text(text, true).unwrap_err().contains("placeholder"), "{text:?}");
            assert_eq!(check_text(text, false), Ok(()), "{text:?}");
        }
        for text in [
            "fix the todo list",
            "task 3 of the plan: write it",
            "t",
            "tasks",
            "修正",
            "item 4 and 5",
        ] {
            assert_eq!(check_text(text, true), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn markers_that_nobody_filled_in_are_refused_with_the_marker() {
        for (text, marker) in [
            ("fix <some name> now", "<some name>"),
            ("fix {some name}", "{some name}"),
            ("read {\"k\": 1} and <the file's name>", "<the file's name>"),
            ("use {a,b} in {file name here}", "{file name here}"),
            ("`x` <your project>", "<your project>"),
        ] {
            let clause = check_text(text, true).unwrap_err();
            assert!(clause.contains(marker), "{text:?}: {clause}");
            assert_eq!(check_text(text, false), Ok(()));
        }
    }

    #[test]
    fn braces_and_brackets_of_code_are_accepted() {
        for text in [
            r#"send {"k": 1}"#,
            "expand {a,b} and {i} and {}",
            "for (x) { do it now }",
            "use {return null} here",
            "fix Vec<unsigned int> and Map<some name>",
            "drop the <div> and <input disabled> and <a href=\"x\">",
            "import {foo as bar} from x",
            "if a < b and c > d",
            "rename `<some name>` in the docs",
            "what is {name}?",
            "a long remark <this one has far too many words to be a marker at all>",
            "open < and {",
        ] {
            assert_eq!(check_text(text, true), Ok(()), "{text:?}");
        }
    }
}
