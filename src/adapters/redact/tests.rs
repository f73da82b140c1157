//! Tests of what is hidden and what stays.

use proptest::prelude::*;

use super::*;

#[test]
fn secrets_go_and_the_names_of_their_keys_stay() {
    let cases = [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"),
        (
            "curl -H 'Authorization: Bearer short1' x",
            "curl -H 'Authorization: Bearer [redacted]' x",
        ),
        (
            "\"Authorization\": \"Basic dXNlcjpw\", \"a\": 1",
            "\"Authorization\": \"Basic [redacted]\", \"a\": 1",
        ),
        ("authorization: token s3cr3t then", "authorization: token [redacted] then"),
        ("use bearer eyJabcdefghijklmnopqrstu now", "use bearer [redacted] now"),
        ("OPENAI_API_KEY=value", "OPENAI_API_KEY=[redacted]"),
        (
            "export GH_TOKEN=abc; make PASSWORD='two words' all",
            "export GH_TOKEN=[redacted]; make PASSWORD='[redacted]' all",
        ),
        ("A=1 DB_PASSWORD=hunter2 B=2", "A=1 DB_PASSWORD=[redacted] B=2"),
        ("password: hunter2\nuser: bob", "password: [redacted]\nuser: bob"),
        ("secret: correct\n", "secret: [redacted]\n"),
        (
            "{\"api_key\": \"a b\\\"c\", \"model\": \"x\"}",
            "{\"api_key\": \"[redacted]\", \"model\": \"x\"}",
        ),
        (
            "{\\\"token\\\":\\\"abc\\\",\\\"n\\\":1}",
            "{\\\"token\\\":\\\"[redacted]\\\",\\\"n\\\":1}",
        ),
        ("apiKey = \"abc\"", "apiKey = \"[redacted]\""),
        ("--api-key abc123 --model x", "--api-key [redacted] --model x"),
        ("--token=abc --n 3", "--token=[redacted] --n 3"),
        (
            "https://x.test/?access_token=abc&page=2",
            "https://x.test/?access_token=[redacted]&page=2",
        ),
        ("git clone https://bob:pa55@x.test/r", "git clone https://bob:[redacted]@x.test/r"),
        ("https://a1b2c3d4e5f6g7@x.test/r", "https://[redacted]@x.test/r"),
        ("key is sk-ant-api03-AbCdEfGh.", "key is [redacted]."),
        ("sk-proj-aaaaaaaaaaaaaaaaaaaa,", "[redacted],"),
        ("(ghp_0123456789abcdefghij0123456789abcdef)", "([redacted])"),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
        ("id=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_ghi", "id=[redacted]"),
        ("Set-Cookie: a=b; token=c", "Set-Cookie: [redacted]"),
        ("\"cookie\": \"a=b; c=d\", \"x\": 1", "\"cookie\": \"[redacted]\", \"x\": 1"),
        ("Cookie: a=b; session=c\nnext", "Cookie: [redacted]\nnext"),
        ("KEY=9f8e7d6c5b4a39281706 x", "KEY=[redacted] x"),
        ("é TOKEN=ü€😀1 é", "é TOKEN=[redacted] é"),
        ("TOKEN=\"never closed", "TOKEN=\"[redacted]"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\nx\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted]\nb",
        ),
        ("-----BEGIN PRIVATE KEY----- MIIE", "[redacted]"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(text), expected, "of {text}");
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    let cases = [
        "",
        "fix the parser; sort by key=name, then by primary_key: id",
        "the bearer of bad news; bearer authentication is used",
        "max_tokens=800 tokens: 480 token_count: 5 token=12 n_tokens = 7",
        "a token: the smallest unit. Password: must have eight letters",
        "password=$PASSWORD api_key=${KEY} token=<your token> secret={secret} key=***",
        "token=None, password=null, api_key=\"\" secret=false",
        "connect(password=password, token=get_token(), api_key=os.environ[\"KEY\"])",
        "let token = lexer; let secret = other;",
        "PWD=/home/me PATH=/bin:/usr/bin HOME=/root author=Bob",
        "desk-lamps-are-nice risk-assessment-2026 task-list sk-learn-compatible-estimators",
        "https://x.test:8080/a?b=c#d and git@x.test:r.git and ssh://git@x.test/r",
        "https://user:$PASSWORD@x.test",
        "see --token in the manual; pass --password then press Enter; --api-key --model",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "commit 9f8e7d6c5b4a392817069f8e7d6c5b4a39281706",
        "AKIA eyJ sk- ghp_ Bearer",
        "set the OPENAI_API_KEY variable; key names stay: ANTHROPIC_API_KEY, GH_TOKEN",
        "12:30:05 done: 3 of 4 in 8:01",
        "Authorization: is required here",
        "cookie: jar is full",
    ];
    for text in cases {
        assert!(
            matches!(redact(text), Cow::Borrowed(same) if same == text),
            "{text} became {}",
            redact(text)
        );
    }
}

#[test]
fn no_known_token_is_shorter_than_what_is_looked_at() {
    let shortest = BEGINNINGS.iter().map(|(beginning, more)| beginning.len() + more).min();
    assert_eq!(shortest, Some(SHORTEST));
}

proptest! {
    #[test]
    fn any_text_can_be_redacted_and_twice_is_as_once(
        text in "([a-zé€ =:\"'\\\\\n@/.-]|TOKEN|key|Bearer |sk-|://|--|eyJ|Authorization: |a1B2c3D4e5F6g7H8){0,24}"
    ) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }

    #[test]
    fn no_value_of_a_secret_variable_is_left(value in "[A-Za-z0-9+/_.-]{8,40}") {
        let hidden = redact(&format!("run API_TOKEN={value} now")).into_owned();
        prop_assert!(hidden == "run API_TOKEN=[redacted] now" || is_placeholder(&value), "{}", hidden);
        let hidden = redact(&format!("{{\"password\":\"{value}\"}}")).into_owned();
        prop_assert!(hidden == "{\"password\":\"[redacted]\"}" || is_placeholder(&value), "{}", hidden);
    }
}
