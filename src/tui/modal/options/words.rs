//! Words in a line of text, as a shell reads simple ones.
//!
//! What may go here: a line to words and back. What may not: what the words mean.

use crate::tui::handover::split;

/// Reads words; the error is a sentence, which does not repeat the text: there may be secrets in it.
pub(super) fn read(text: &str) -> Result<Vec<String>, String> {
    let words = split(text);
    // One more word is one more, unless it became a part of the last one.
    if split(&format!("{text} x")).len() != words.len() + 1 {
        return Err("this ends within a quotation: close it".to_owned());
    }
    Ok(words)
}

/// Writes words so that they are read as the same ones.
pub(super) fn write(words: impl IntoIterator<Item = String>) -> String {
    let quoted = |word: String| {
        let is_simple = |one: char| !one.is_whitespace() && !['\'', '"', '\\'].contains(&one);
        if !word.is_empty() && word.chars().all(is_simple) {
            return word;
        }
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        let words = ["--flag", "", "a b", "it's", "\"", r"C:\x", "日本", "A=b c", "two\nlines"];
        let text = write(words.map(str::to_owned));
        assert_eq!(read(&text).unwrap(), words);
        assert_eq!(write(["-v".to_owned(), "A=1".to_owned()]), "-v A=1");
    }

    #[test]
    fn an_open_quotation_is_refused() {
        for text in ["'a b", "a \"b", "a\\", "'"] {
            assert_eq!(read(text).unwrap_err(), "this ends within a quotation: close it", "{text}");
        }
        assert_eq!(read("  ").unwrap(), [""; 0]);
    }
}
