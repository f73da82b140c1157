//! Tests of task files.

use std::fs;

use super::*;

#[track_caller]
fn read(name: &str, text: &str) -> Vec<Entry> {
    read_text(name, format_by_name(Path::new(name)).unwrap_or_else(|| sniff(text)), text).unwrap()
}

#[track_caller]
fn tasks(name: &str, text: &str) -> Vec<String> {
    read(name, text).into_iter().map(|entry| entry.task.unwrap()).collect()
}

fn lines(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.place.to_string()).collect()
}

#[test]
fn a_text_file_has_one_task_a_line_and_keeps_its_line_numbers() {
    let entries = read("t.txt", "first\r\n\r\n  second  \nthird");
    assert_eq!(lines(&entries), ["t.txt:1", "t.txt:3", "t.txt:4"]);
    assert_eq!(tasks("t.txt", "first\r\n\r\n  second  \nthird"), ["first", "second", "third"]);
}

#[test]
fn a_line_of_three_dashes_makes_blocks() {
    let text = "---\nfirst\n\n  more\n---\n\n---\nsecond\r\n---  \n";
    assert_eq!(tasks("t.txt", text), ["first\n\n  more", "second"]);
    assert_eq!(lines(&read("t.txt", text)), ["t.txt:2", "t.txt:8"]);
}

#[test]
fn a_line_that_only_contains_dashes_among_text_is_no_separator() {
    assert_eq!(tasks("t.txt", "a --- b\n----"), ["a --- b", "----"]);
}

#[test]
fn json_has_texts_and_objects_in_a_list_or_under_tasks() {
    let text = "[\"one\",\n {\"goal\": \"two\", \"agent\": \"sh\"},\n\n {\"task\": \"three\"}]";
    let entries = read("t.json", text);
    assert_eq!(lines(&entries), ["t.json:1", "t.json:2", "t.json:4"]);
    assert_eq!(entries[1].agent.as_deref(), Some("sh"));
    assert_eq!(tasks("t.json", "{\"tasks\": [\"a\"]}"), ["a"]);
    assert_eq!(tasks("t.json", "{\"task\": \"only one\"}"), ["only one"]);
    assert_eq!(tasks("t.json", "[]"), [""; 0]);
}

#[test]
fn every_key_is_read_in_json_and_in_toml_alike() {
    let json = r#"[{"task":"t","agent":"ygg","engine":"e","tier":"fast","model":"m","max_steps":3,"read_only":true,
        "allow_shell":false,"allow_web":true,"root":"src","env":{"A":"1","B":null},"budget_usd":0.25,
        "timeout":"1m30s","idle_timeout":"10s","cmd":["make","{task}"],"context":"c"}]"#;
    let toml = r#"
        [[task]]
        task = "t"
        agent = "ygg"
        engine = "e"
        tier = "fast"
        model = "m"
        max_steps = 3
        read_only = true
        allow_shell = false
        allow_web = true
        root = "src"
        env = ["A=1", "B"]
        budget_usd = 0.25
        timeout = "1m30s"
        idle_timeout = "10s"
        cmd = ["make", "{task}"]
        context = "c""#;
    let mut expected = Entry::new(Place::Line { file: "t".into(), line: 1 }, Some("t".into()));
    expected.agent = Some("ygg".into());
    expected.engine = Some("e".into());
    expected.tier = Some("fast".into());
    expected.model = Some("m".into());
    expected.max_steps = Some(3);
    expected.read_only = Some(true);
    expected.allow_shell = Some(false);
    expected.allow_web = Some(true);
    expected.root = Some("src".into());
    expected.env = vec![("A".into(), Some("1".into())), ("B".into(), None)];
    expected.budget_usd = Some(NanoUsd::from_nanos(250_000_000));
    expected.timeout = Some(Duration::from_secs(90));
    expected.idle_timeout = Some(Duration::from_secs(10));
    expected.cmd = Some(vec!["make".into(), "{task}".into()]);
    expected.context = Some("c".into());
    for (format, text) in [(Format::Json, json), (Format::Toml, toml)] {
        let mut entry = read_text("t", format, text).unwrap().remove(0);
        entry.place = expected.place.clone();
        assert_eq!(entry, expected, "{format:?}");
    }
}

#[test]
fn money_in_a_file_is_read_from_its_digits() {
    let text = r#"["x", {"task":"t","budget_usd":0.1000000000000000055}]"#;
    assert_eq!(read("t.json", text)[1].budget_usd, Some(NanoUsd::from_nanos(100_000_001)));
    let text = "[[task]]\ntask='t'\nbudget_usd=0.1000000000000000055";
    assert_eq!(read("t.toml", text)[0].budget_usd, Some(NanoUsd::from_nanos(100_000_001)));
}

#[test]
fn toml_has_tables_or_lists() {
    assert_eq!(tasks("t.toml", "tasks = ['a', {task = 'b'}]"), ["a", "b"]);
    assert_eq!(
        tasks("t.toml", "[[task]]\ngoal='a'\n[[task]]\ntask='b'\n[[tasks]]\ntask='c'"),
        ["a", "b", "c"]
    );
    let many: Vec<String> = (0..12).map(|number| format!("[[task]]\ntask='{number}'\n")).collect();
    let many = many.concat();
    assert_eq!(tasks("t.toml", &many).len(), 12);
    assert_eq!(tasks("t.toml", &many)[10], "10");
}

/// C-12.
#[test]
fn a_pasted_list_of_objects_with_goals_is_a_list_of_tasks() {
    assert_eq!(
        tasks("stdin", " [ {\"goal\": \"a\"}, {\"goal\": \"b\"}, \"c\"]\n"),
        ["a", "b", "c"]
    );
    let error = read_text("stdin", Format::Json, "[{\"goal\": \"a\"},\n {\"goal\": \"b\",}]")
        .unwrap_err()
        .to_string();
    assert_eq!(error, "stdin:2: is no JSON: key must be a string (column 15)");
}

#[test]
fn the_shape_of_standard_input_is_guessed_only_where_it_is_plain() {
    for (text, format) in [
        ("fix it\nand this", Format::Text),
        ("[urgent] fix it", Format::Text),
        ("{task} first", Format::Text),
        ("{ print x }", Format::Text),
        ("[]", Format::Json),
        ("[\n {\"goal\": \"a\"}\n]", Format::Json),
        ("[\"a\"]", Format::Json),
        ("{\"tasks\": []}", Format::Json),
        ("{\n \"tasks\": []\n}", Format::Json),
        ("{\"task\": \"a\"}\n{\"task\": \"b\"}\n", Format::JsonLines),
        ("", Format::Text),
    ] {
        assert_eq!(sniff(text), format, "{text:?}");
    }
}

#[test]
fn files_are_read_in_order_and_stdin_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "\u{FEFF}from file\n").unwrap();
    let entries =
        read_all(&[path.clone(), "-".into(), path.clone()], &mut "from stdin".as_bytes()).unwrap();
    let texts: Vec<_> = entries.into_iter().filter_map(|entry| entry.task).collect();
    assert_eq!(texts, ["from file", "from stdin", "from file"]);
    let twice = read_all(&["-".into(), "-".into()], &mut "x".as_bytes()).unwrap_err().to_string();
    assert_eq!(twice, "stdin: can be read only once (-f - is given twice)");
}

#[test]
fn what_cannot_be_read_is_told_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for (path, parts) in [
        (folder.path().join("none.txt"), &["none.txt", "no such file"][..]),
        (folder.path().to_owned(), &["is a folder"]),
        (write("nul.txt", b"a\nb\0c"), &["nul.txt:2", "NUL byte"]),
        (write("latin.txt", b"a\nb\n\xE4"), &["latin.txt:3", "not UTF-8"]),
        (write("wide.txt", b"\xFF\xFEa\0"), &["wide.txt", "UTF-16"]),
    ] {
        let error = read_all(&[path], &mut io::empty()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_source_over_the_limit_is_refused_and_not_read_to_its_end() {
    let error = read_all(&["-".into()], &mut io::repeat(b'a')).unwrap_err().to_string();
    assert!(error.contains("stdin: is larger than 64 MiB"), "{error}");
}

/// Each is one sentence that names the file, the line, and what to do.
#[test]
fn wrong_content_is_told_with_its_line() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("t.json", "", &["t.json:1", "no JSON"]),
        ("t.json", "[\"a\",\n\"b\"", &["t.json:2", "no JSON", "column"]),
        ("t.json", "7", &["t.json:1", "neither a list"]),
        ("t.json", "[7]", &["t.json:1", "a number where a task"]),
        ("t.json", "[\n\n[]]", &["t.json:3", "a list where a task"]),
        ("t.json", "[null]", &["t.json:1", "null where a task"]),
        ("t.json", "[{}]", &["t.json:1", "has no task"]),
        ("t.json", "[{\"task\":null}]", &["has no task"]),
        ("t.json", "{\"tasks\":{}}", &["tasks is no list"]),
        (
            "t.json",
            "{\"tasks\":[],\n\"defaults\":{}}",
            &["t.json:2", "unknown key defaults beside tasks"],
        ),
        (
            "t.json",
            "[{\"task\":\"a\",\n\"budget\":1}]",
            &["t.json:2", "unknown key budget", "budget_usd"],
        ),
        ("t.json", "[{\"task\":\"a\",\"goal\":\"b\"}]", &["both task and goal"]),
        ("t.json", "[{\"task\":\"a\",\"task\":\"b\"}]", &["task occurs twice"]),
        ("t.json", "[{\"task\":7}]", &["task: is a number where a text"]),
        ("t.json", "[{\"task\":\"\\ud800\"}]", &["t.json:1", "no JSON"]),
        ("t.json", "[{\"task\":\"a\",\"budget_usd\":-1}]", &["budget_usd: '-1' is below zero"]),
        (
            "t.json",
            "[{\"task\":\"a\",\"budget_usd\":\"x\"}]",
            &["budget_usd: 'x' is not an amount"],
        ),
        ("t.json", "[{\"task\":\"a\",\"budget_usd\":1e99}]", &["budget_usd", "more than"]),
        (
            "t.json",
            "[{\"task\":\"a\",\"budget_usd\":[]}]",
            &["budget_usd: is a list where an amount"],
        ),
        ("t.json", "[{\"task\":\"a\",\"timeout\":30}]", &["timeout: '30' has no unit"]),
        (
            "t.json",
            "[{\"task\":\"a\",\"timeout\":true}]",
            &["timeout: is true or false where a span"],
        ),
        ("t.json", "[{\"task\":\"a\",\"max_steps\":0}]", &["max_steps: 0 is too small"]),
        ("t.json", "[{\"task\":\"a\",\"max_steps\":1.5}]", &["max_steps: 1.5 is no whole number"]),
        (
            "t.json",
            "[{\"task\":\"a\",\"max_steps\":\"3\"}]",
            &["max_steps: is a text where a whole number"],
        ),
        (
            "t.json",
            "[{\"task\":\"a\",\"read_only\":\"yes\"}]",
            &["read_only: is a text where true or false"],
        ),
        (
            "t.json",
            "[{\"task\":\"a\",\"cmd\":\"make x\"}]",
            &["cmd: is a text where a list of words"],
        ),
        ("t.json", "[{\"task\":\"a\",\"cmd\":[]}]", &["cmd: names no program"]),
        ("t.json", "[{\"task\":\"a\",\"cmd\":[1]}]", &["cmd: has a number where a word"]),
        ("t.json", "[{\"task\":\"a\",\"env\":{\"A\":[]}}]", &["env: A is a list where a text"]),
        ("t.json", "[{\"task\":\"a\",\"env\":[\"=1\"]}]", &["env: '=1' has no name"]),
        (
            "t.json",
            "[{\"task\":\"a\",\"env\":{\"FLEET_DEPTH\":\"1\"}}]",
            &["FLEET_DEPTH", "fleet itself"],
        ),
        ("t.json", "[{\"task\":\"a\",\"env\":{\"A\":\"\\u0000\"}}]", &["'A' has a character"]),
        ("t.json", "[{\"task\":\"a\",\"env\":7}]", &["env: is a number where NAME"]),
        ("t.jsonl", "{\"task\":\"a\"}\n\n{\"task\":}", &["t.jsonl:3", "no JSON", "column 9"]),
        ("t.jsonl", "\"a\"\n{\"tsak\":\"b\"}", &["t.jsonl:2", "unknown key tsak", "task"]),
        ("t.jsonl", "[\"a\"]", &["t.jsonl:1", "a list where a task"]),
        ("t.toml", "[[task]]\ntask = \n", &["t.toml:2", "no TOML", "column"]),
        (
            "t.toml",
            "[[task]]\ntask='a'\nbudgt_usd=1",
            &["t.toml:3", "unknown key budgt_usd", "budget_usd"],
        ),
        ("t.toml", "[[tsk]]\ntask='a'", &["t.toml:1", "unknown key tsk", "did you mean task?"]),
        ("t.toml", "tasks = 'a'", &["t.toml:1", "tasks is no list"]),
        ("t.toml", "tasks = [1979-05-27]", &["t.toml:1", "a date where a task"]),
        ("t.toml", "[[task]]\ntask='a'\nmax_steps=0x10", &["t.toml:3", "not decimal"]),
        ("t.toml", "[[task]]\nagent='sh'", &["t.toml:1", "has no task"]),
    ];
    for (name, text, parts) in cases {
        let format = format_by_name(Path::new(name)).unwrap();
        let error = match read_text(name, format, text) {
            Err(error) => error.to_string(),
            Ok(entries) => panic!("{text:?} was read: {entries:?}"),
        };
        assert!(!error.contains('\n'), "{error}");
        for part in *parts {
            assert!(error.contains(part), "{text:?}: {error:?} lacks {part:?}");
        }
    }
}

#[test]
fn a_deeply_nested_value_is_refused_without_running_out_of_stack() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let text = format!("[{{\"task\":\"a\",\"env\":{deep}}}]");
    let error = read_text("t.json", Format::Json, &text).unwrap_err().to_string();
    assert!(error.starts_with("t.json:1: "), "{error}");
}

#[test]
fn control_characters_of_a_key_do_not_reach_the_message() {
    let error =
        read_text("t.json", Format::Json, "[{\"\\u001b[31mx\":1}]").unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
