//! Tests of what `fleet doctor` says.

use super::*;

fn kind(name: &str, version: &str, access: Access) -> KindReport {
    KindReport {
        name: name.to_owned(),
        program: name.to_owned(),
        found: Some(PathBuf::from("/bin").join(name)),
        version: Ok(Some(version.to_owned())),
        tested: vec!["2.1.332".to_owned(), "2.1.197".to_owned()],
        access,
        install: Some(format!("npm install -g {name}")),
    }
}

fn report(kinds: Vec<KindReport>) -> Report {
    Report {
        kinds,
        chosen: Some("claude".to_owned()),
        config: Some(("/home/config.toml".into(), false)),
        project: Some(Ok("/repo/.fleet.toml".into())),
        notices: Some(NoticeReport {
            argv: vec!["say".to_owned()],
            found: Some("/bin/say".into()),
        }),
        state: Ok(StateReport { path: "/state".into(), fleets: 3, hosted: 1, bytes: 12_345_678 }),
        sockets: Ok("/run/loki-fleet".into()),
    }
}

fn all() -> Report {
    let unseen = || Access::Unseen("run codex login".to_owned());
    report(vec![
        kind("claude", "2.1.332", Access::Variable("ANTHROPIC_API_KEY".to_owned())),
        kind("codex", "0.1.0", unseen()),
        KindReport { found: None, ..kind("gemini", "", unseen()) },
        KindReport {
            version: Err("it did not answer within 9 s".to_owned()),
            ..kind("qwen", "", unseen())
        },
        KindReport {
            tested: Vec::new(),
            install: None,
            ..kind("mine\u{1b}[2J", "1.0", Access::Free)
        },
    ])
}

#[test]
fn each_program_is_one_aligned_line_with_what_is_missing() {
    let wide = Style { unicode: true, ..Style::PLAIN };
    assert_eq!(
        all().lines(wide),
        [
            "agent programs",
            "✓ claude  2.1.332 (tested)                    ANTHROPIC_API_KEY is set · /bin/claude",
            "! codex   0.1.0 (tested is 2.1.332, 2.1.197)  no key or login seen: run codex login · /bin/codex",
            "– gemini  not found                           npm install -g gemini",
            "! qwen    no version                          asked for its version, it did not answer within 9 s · /bin/qwen",
            "✓ mine    1.0                                 /bin/mine",
            "  without --agent: claude",
            "fleet",
            "– config   none (/home/config.toml)",
            "✓ project  /repo/.fleet.toml, trusted",
            "✓ notices  told to /bin/say",
            "✓ state    /state · 3 fleets · 1 with a host · 12 MB",
            "✓ sockets  /run/loki-fleet",
        ]
    );
    let ascii = all().lines(Style::PLAIN).join("\n");
    assert!(ascii.is_ascii() && !ascii.contains('\u{1b}'), "{ascii}");
    let coloured = all().lines(Style { colour: true, ..wide }).join("\n");
    assert!(coloured.contains("\u{1b}[32m✓\u{1b}[0m claude"), "{coloured}");
}

#[test]
fn trouble_with_folders_is_told_with_its_reason() {
    let mut report = all();
    report.state = Err("nothing can be written to /state: Read-only file system".to_owned());
    report.sockets = Err("no socket can be made in /run: denied".to_owned());
    report.project = Some(Err("/repo/.fleet.toml has changed".to_owned()));
    let lines = report.lines(Style::PLAIN);
    report.notices =
        Some(NoticeReport { argv: vec!["say".to_owned(), "it".to_owned()], found: None });
    let of_notices = report.lines(Style::PLAIN);
    let told = "! notices  say is not found: correct command in [notices] of the config file";
    assert_eq!(of_notices[10], told);
    assert_eq!(lines[9], "! project  /repo/.fleet.toml has changed");
    assert_eq!(lines[11], "x state    nothing can be written to /state: Read-only file system");
    assert_eq!(report.exit_code(), NOT_DONE, "no fleet can be kept");
    assert_eq!(lines[12], "x sockets  no socket can be made in /run: denied");
}

#[test]
fn one_usable_program_is_enough() {
    let all = all();
    assert_eq!(all.exit_code(), DONE);
    let others = all.kinds.iter().filter(|kind| !kind.is_usable()).cloned().collect();
    assert_eq!(report(others).exit_code(), NOT_DONE);
    let missing = kind("claude", "2.1.332", Access::Missing("KEY".to_owned()));
    assert_eq!(missing.missing().unwrap(), "KEY is not set: set it");
    assert_eq!(report(vec![missing]).exit_code(), NOT_DONE);
}

#[test]
fn the_json_has_every_fact_and_no_value_of_a_variable() {
    let report: Value = serde_json::from_str(&all().json()).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!((&report["usable"], &report["agent"]), (&json!(true), &json!("claude")));
    assert_eq!(
        report["kinds"][0],
        json!({
            "kind": "claude", "program": "claude", "path": "/bin/claude", "version": "2.1.332", "tested": true,
            "tested_versions": ["2.1.332", "2.1.197"], "access": {"variable": "ANTHROPIC_API_KEY"}, "usable": true,
            "missing": null, "install": "npm install -g claude"
        })
    );
    assert_eq!(report["kinds"][2]["path"], Value::Null);
    assert_eq!(report["kinds"][2]["missing"], "npm install -g gemini");
    assert_eq!(report["kinds"][4]["tested"], Value::Null);
    assert_eq!(report["config"], json!({"path": "/home/config.toml", "found": false}));
    assert_eq!(report["notices"], json!({"command": ["say"], "path": "/bin/say"}));
    assert_eq!(report["state"]["bytes"], 12_345_678);
    assert_eq!(report["sockets"], json!({"path": "/run/loki-fleet", "problem": null}));
}

#[test]
fn a_version_is_found_in_what_real_programs_print() {
    let table = [
        ("2.1.332 (Claude Code)\n", Some("2.1.332")),
        ("codex-cli 0.171.0\n", Some("0.171.0")),
        (
            "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n",
            Some("1.0.102"),
        ),
        ("Hermes Agent v0.19.0 (2026.7.20)\nPython: 3.11.7\n", Some("0.19.0")),
        ("tool 1.0-rc.1+build\n", Some("1.0-rc.1+build")),
        ("no version here. 3 of 4\n", None),
        ("", None),
    ];
    for (answer, version) in table {
        assert_eq!(version_in(answer).as_deref(), version, "{answer}");
    }
}
