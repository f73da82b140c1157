//! Turns what the parser says into one sentence.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns one sentence that says what is wrong, where, and what to do.
pub fn sentence(error: &clap::Error) -> String {
    let argument = || context(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = || context(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument(error, &argument()),
        ErrorKind::ValueValidation => {
            let clause = std::error::Error::source(error).map(ToString::to_string);
            match clause {
                Some(clause) => format!("{}: {} {clause}", option(&argument()), quote(&value())),
                None => first_line(error),
            }
        }
        ErrorKind::InvalidValue if value().is_empty() => {
            format!("{} needs a value", option(&argument()))
        }
        ErrorKind::ArgumentConflict => match context(error, ContextKind::PriorArg) {
            Some(prior) if prior == argument() => {
                format!("{} is given twice: give it once", option(&prior))
            }
            _ => first_line(error),
        },
        ErrorKind::InvalidUtf8 => {
            "an argument is not UTF-8 text (put such a task into a file, -f FILE)".to_owned()
        }
        _ => first_line(error),
    }
}

fn unknown_argument(error: &clap::Error, argument: &str) -> String {
    if argument.contains(char::is_whitespace) {
        return format!(
            "{} looks like an option; a task that begins with - comes from a file (-f FILE, or -f - for stdin)",
            quote(argument)
        );
    }
    match context(error, ContextKind::SuggestedArg) {
        Some(near) => format!("no option {argument} (did you mean {near}?)"),
        None if argument.starts_with('-') => {
            format!(
                "no option {argument} (see --help; a task that begins with - comes from a file, -f FILE)"
            )
        }
        None => format!("{} is one argument too many (see --help)", quote(argument)),
    }
}

/// Returns the option's name without its value: `--cap <USD>` is `--cap`.
fn option(argument: &str) -> &str {
    match argument.split([' ', '[', '=']).next().unwrap_or(argument) {
        // Most people write the short form.
        "--max-parallel" => "-j/--max-parallel",
        name => name,
    }
}

/// Returns the word in quotes, cut to a sane length and fit for a terminal.
fn quote(word: &str) -> String {
    let word = crate::words::plain_text::one_line(word);
    format!("'{}'", crate::words::plain_text::cut_graphemes(&word, 60))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::StyledStrs(texts) => texts.first().map(ToString::to_string),
        _ => None,
    }
}

/// Returns the parser's own words up to its usage, on one line.
fn first_line(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let text = rendered.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more").next().unwrap_or_default();
    crate::words::plain_text::one_line(text.strip_prefix("error: ").unwrap_or(text))
}
