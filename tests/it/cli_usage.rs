//! Wrong usage of the real binary: one sentence on stderr, nothing on stdout, exit code 2.

use std::process::{Command, Output, Stdio};

/// Runs `fleet` in an empty folder with a state folder of its own.
fn fleet(words: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_fleet"))
        .args(words)
        .current_dir(folder.path())
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .env("PATH", folder.path())
        .env_remove("FLEET_AGENT")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn wrong_usage_is_one_sentence_on_stderr_and_exit_code_two() {
    for words in [
        &["run"][..],
        &["run", "--json"],
        &["run", "fix it"],
        &["run", "--agnet", "sh", "true"],
        &["run", "--agent", "shh", "true"],
        &["run", "--agent", "sh", "-j", "0", "true"],
        &["run", "--agent", "sh", "true", "--cap", "x", "--json"],
        &["run", "--agent", "sh", "-f", "nowhere.txt", "--json"],
        &["run", "--agent", "sh", "-f", "."],
        &["run", "--agent", "sh", "--fleet", "k3f", "true"],
        &["ls", "--fleet", "k3f"],
        &["frobnicate"],
    ] {
        let output = fleet(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{words:?}: {stderr}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{words:?}");
    }
}

#[test]
fn help_goes_to_stdout_and_no_subcommand_is_wrong_usage() {
    let help = fleet(&["run", "--help"]);
    assert_eq!((help.status.code(), help.stderr.len()), (Some(0), 0));
    assert!(String::from_utf8(help.stdout).unwrap().contains("Examples:"));
    let nothing = fleet(&[]);
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(2), 0));
}
