//! Which names have secret values: `OPENAI_API_KEY` and `db-password` do, `max_tokens` and `sort_key` do not.
//!
//! What may go here: names. What may not: what values look like.

/// How sure it is that a name's value is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// It is not.
    No,
    /// Only if it looks like one.
    Maybe,
    /// It is.
    Certain,
}

/// Parts of a name whose value is secret.
const SECRET: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "apikey",
    "apitoken",
    "authtoken",
    "accesstoken",
    "accesskey",
    "secretkey",
    "privatekey",
    "passcode",
    "bearer",
];

/// Parts that make a `key` secret.
const KEY_OF: [&str; 16] = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "ssh",
    "service",
    "account",
    "master",
    "license",
    "session",
    "deploy",
    "webhook",
    "storage",
];

/// Last parts that say that the value is about a secret and not one.
const ABOUT: [&str; 22] = [
    "count", "counts", "len", "length", "limit", "max", "min", "size", "name", "names", "id",
    "type", "kind", "file", "path", "url", "uri", "ttl", "expiry", "expires", "usage", "budget",
];

/// Says how sure it is that the value of a name is secret.
pub(super) fn secrecy_of(name: &str) -> Secrecy {
    let parts = parts(name);
    let Some(last) = parts.last() else { return Secrecy::No };
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    if ABOUT.contains(&last.as_str()) {
        return Secrecy::No;
    }
    let is_large = name.len() > 3 && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if has(&SECRET) || (last == "pwd" && parts.len() > 1) {
        Secrecy::Certain
    } else if has(&["key"]) {
        let is_certain = has(&KEY_OF) || (is_large && parts.len() > 1);
        if is_certain { Secrecy::Certain } else { Secrecy::Maybe }
    } else if has(&["auth", "keys", "tokens"]) {
        Secrecy::Maybe
    } else {
        Secrecy::No
    }
}

/// Splits a name at `_`, `-`, digits at a part's end, and where a small letter meets a large one.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if matches!(letter, '_' | '-') || (was_small && letter.is_ascii_uppercase()) {
            parts.push(String::new());
        }
        if !matches!(letter, '_' | '-')
            && let Some(part) = parts.last_mut()
        {
            part.push(letter.to_ascii_lowercase());
        }
        was_small = letter.is_ascii_lowercase();
    }
    parts
        .into_iter()
        .map(|part| part.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        let certain = [
            "OPENAI_API_KEY",
            "api_key",
            "apiKey",
            "api-key",
            "APIKEY",
            "DB_PASSWORD",
            "password",
            "dbPwd",
            "GH_TOKEN",
            "accessToken",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "SECRET_KEY_BASE",
            "TOKEN2",
            "API_KEY_2",
            "STRIPE_KEY",
            "x-api-key",
            "ANTHROPIC_AUTH_TOKEN",
            "ssh_key",
        ];
        for name in certain {
            assert_eq!(secrecy_of(name), Secrecy::Certain, "{name}");
        }
        for name in ["KEY", "key", "sort_key", "primaryKey", "auth", "keys"] {
            assert_eq!(secrecy_of(name), Secrecy::Maybe, "{name}");
        }
        let no = [
            "",
            "max_tokens_limit",
            "token_count",
            "AWS_ACCESS_KEY_ID",
            "PWD",
            "keyboard",
            "monkey",
            "author",
            "TOKENIZERS_PARALLELISM",
            "secret_name",
            "passing",
            "API_KEY_FILE",
            "tokenizer",
            "https",
            "7",
        ];
        for name in no {
            assert_eq!(secrecy_of(name), Secrecy::No, "{name}");
        }
    }
}
