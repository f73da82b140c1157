//! Tests of the command line's definition.

use std::time::Duration;

use clap::CommandFactory;

use super::*;
use crate::core::{FleetOptions, NanoUsd, OnCap};

fn parse_words(words: &[&str]) -> Result<Arguments, Stop> {
    parse(std::iter::once("fleet").chain(words.iter().copied()).map(OsString::from))
}

#[track_caller]
fn run(words: &[&str]) -> RunArguments {
    match parse_words(words).unwrap().action {
        Some(Action::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refusal(words: &[&str]) -> String {
    match parse_words(words) {
        Err(Stop::Usage(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn global_options_stand_before_or_after_the_subcommand() {
    for words in [
        ["--json", "--fleet", "k3f", "--state-dir", "/s", "run", "a"],
        ["run", "a", "--json", "--fleet", "k3f", "--state-dir", "/s"],
    ] {
        let global = parse_words(&words).unwrap().global;
        let expected =
            GlobalArguments { json: true, fleet: Some("k3f".into()), state_dir: Some("/s".into()) };
        assert_eq!(global, expected, "{words:?}");
    }
}

#[test]
fn each_argument_is_one_task_and_what_follows_two_dashes_is_a_command() {
    let arguments =
        run(&["run", "a ;; b", "c", "-f", "t.txt", "-f", "-", "--", "sh", "-c", "{task}"]);
    assert_eq!(arguments.tasks, ["a ;; b", "c"]);
    assert_eq!(arguments.files, [PathBuf::from("t.txt"), PathBuf::from("-")]);
    assert_eq!(arguments.after, ["sh", "-c", "{task}"]);
}

#[test]
fn limits_are_laid_over_options_and_what_is_not_given_stays() {
    let arguments =
        run(&["run", "a", "-j", "3", "--cap", "$1.50", "--on-cap", "raise=2", "--grace", "1m30s"]);
    let mut options = FleetOptions { stale: Duration::from_secs(7), ..FleetOptions::default() };
    arguments.limits.apply(&mut options);
    let expected = FleetOptions {
        max_parallel: Some(3),
        cap: Some(NanoUsd::from_nanos(1_500_000_000)),
        on_cap: OnCap::Raise(NanoUsd::from_dollars(2)),
        grace: Duration::from_secs(90),
        stale: Duration::from_secs(7),
        ..FleetOptions::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn an_argument_that_is_no_text_is_refused_in_one_sentence() {
    use std::os::unix::ffi::OsStringExt;
    let words =
        ["fleet", "run"].map(OsString::from).into_iter().chain([OsString::from_vec(vec![0xFF])]);
    let Err(Stop::Usage(sentence)) = parse(words) else { panic!("accepted") };
    assert_eq!(sentence, "an argument is not UTF-8 text (put such a task into a file, -f FILE)");
}

/// C-17.
#[test]
fn no_or_fewer_agents_than_none_at_once_are_refused() {
    for value in ["0", "-1", "-0"] {
        let sentence = refusal(&["run", "a", "-j", value]);
        assert!(sentence.starts_with(&format!("-j/--max-parallel: '{value}'")), "{sentence}");
    }
}

#[test]
fn two_names_for_the_fleet_must_agree() {
    let global = GlobalArguments { fleet: Some("k3f".into()), ..GlobalArguments::default() };
    assert_eq!(which_fleet(&global, None), Ok(Some("k3f")));
    assert_eq!(which_fleet(&global, Some("k3f")), Ok(Some("k3f")));
    assert!(which_fleet(&global, Some("m2x")).is_err());
    assert_eq!(which_fleet(&GlobalArguments::default(), Some("m2x")), Ok(Some("m2x")));
}

#[track_caller]
fn screen(words: &[&str]) -> ScreenArguments {
    let arguments = parse_words(words).unwrap();
    assert!(arguments.action.is_none(), "{words:?}: {:?}", arguments.action);
    arguments.screen
}

#[test]
fn without_a_subcommand_the_words_are_tasks_of_the_screen() {
    assert_eq!(screen(&[]), ScreenArguments::default());
    let given =
        screen(&["fix the tests", "run", "--agent", "sh", "-j", "2", "--new", "--", "{task}"]);
    assert_eq!(given.run.tasks, ["fix the tests", "run"]);
    assert_eq!(given.run.task.agent.as_deref(), Some("sh"));
    assert_eq!((given.run.limits.max_parallel, given.new), (Some(Parallel(Some(2))), true));
    assert_eq!(given.run.after, ["{task}"]);
    for words in [
        &["--agent", "sh", "true"][..],
        &["README.md", "--", "echo", "{task}"],
        &["--state-dir", "/s", "fix it"],
        &["frobnicate", "--agent", "sh"],
    ] {
        assert_eq!(screen(words).run.tasks.len(), 1, "{words:?}");
    }
}

#[test]
fn attach_takes_the_beginning_of_an_id() {
    let attached = |words: &[&str]| match parse_words(words).unwrap().action {
        Some(Action::Attach(attach)) => attach.which,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (attached(&["attach"]), attached(&["attach", "k3f"])),
        (None, Some("k3f".to_owned()))
    );
}

#[test]
fn a_misspelt_subcommand_is_no_task() {
    for (words, parts) in [
        (
            &["rnu"][..],
            &["no subcommand rnu", "did you mean fleet run?", "fleet --agent KIND rnu"][..],
        ),
        (&["rnu", "a task"], &["did you mean fleet run?"]),
        (&["atach", "k3f", "--agent", "sh"], &["did you mean fleet attach?"]),
        (&["--state-dir", "/s", "reslts"], &["did you mean fleet results?"]),
        (&["--state-dir=/s", "log", "7"], &["no subcommand log (there are run, dispatch, "]),
        (&["frobnicate"], &["no subcommand frobnicate (there are run, "]),
        (&["rnu", "--json"], &["did you mean fleet run?"]),
    ] {
        let sentence = refusal(words);
        for part in parts {
            assert!(sentence.contains(part), "{words:?}: {sentence:?} lacks {part:?}");
        }
    }
}

#[test]
fn help_of_every_subcommand_has_examples() {
    for name in
        ["run", "dispatch", "attach", "resume", "ls", "show", "logs", "wait", "stop", "results"]
    {
        let Err(Stop::Asked(help)) = parse_words(&[name, "--help"]) else { panic!("{name}") };
        assert!(help.contains("Examples:\n  fleet "), "{help}");
    }
}

/// Each is one sentence that names what is wrong, where, and what to do.
#[test]
fn wrong_usage_is_one_clear_sentence() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "a", "--agnet", "sh"], &["--agnet", "--agent"]),
        (&["rnu", "a"], &["rnu", "run"]),
        (&["frobnicate"], &["frobnicate", "results"]),
        (&["--json"], &["--json", "fleet run --json"]),
        (&["fix it", "--json"], &["--json", "fleet run --json"]),
        (&["--new", "--fleet", "k3f"], &["--new", "--fleet"]),
        (&["--new", "run", "a b"], &["fleet run --agent sh"]),
        (&["--agent", "sh", "ls"], &["fleet run --agent sh"]),
        (&["run", "a", "--new"], &["--new"]),
        (&["run", "--fix the bug"], &["'--fix the bug'", "-f"]),
        (&["run", "-x"], &["-x", "-f"]),
        (&["run", "a", "-j", "0"], &["--max-parallel", "'0'", "at least 1"]),
        (&["run", "a", "-j", "many"], &["'many'", "unlimited"]),
        (&["run", "a", "-j", "1.5"], &["'1.5'", "unlimited"]),
        (&["run", "a", "-j", "99999999999"], &["'99999999999'"]),
        (&["run", "a", "-j"], &["--max-parallel", "value"]),
        (&["run", "a", "--cap", "abc"], &["--cap", "'abc'", "1.50"]),
        (&["run", "a", "--cap", "-1"], &["--cap", "'-1'", "below zero"]),
        (&["run", "a", "--cap", "1e30"], &["--cap", "more than"]),
        (&["run", "a", "--cap", "1", "--cap", "2"], &["--cap", "twice"]),
        (&["run", "a", "--budget", "1,5"], &["--budget", "'1,5'", "1.50"]),
        (&["run", "a", "--assume-cost", "x"], &["--assume-cost", "'x'"]),
        (&["run", "a", "--timeout", "30"], &["--timeout", "'30'", "no unit", "30s"]),
        (&["run", "a", "--timeout", "-2s"], &["--timeout", "'-2s'", "below zero"]),
        (&["run", "a", "--timeout", "0s"], &["--timeout", "no time at all"]),
        (&["run", "a", "--timeout", "9000h"], &["--timeout", "at most a year"]),
        (&["run", "a", "--timeout", "soon"], &["--timeout", "'soon'", "5m"]),
        (&["run", "a", "--deadline", "2d"], &["--deadline", "'2d'", "24h"]),
        (&["run", "a", "--idle-timeout", ""], &["--idle-timeout"]),
        (&["run", "a", "--grace", "x"], &["--grace", "'x'"]),
        (&["run", "a", "--stale", "1"], &["--stale", "no unit"]),
        (&["run", "a", "--on-cap", "maybe"], &["--on-cap", "'maybe'", "raise=USD"]),
        (&["run", "a", "--on-cap", "raise=x"], &["--on-cap", "raise=x", "dollars"]),
        (&["run", "a", "--leftovers", "eat"], &["--leftovers", "'eat'", "keep"]),
        (&["run", "a", "--max-steps", "0"], &["--max-steps", "'0'", "at least 1"]),
        (&["run", "a", "--max-steps", "x"], &["--max-steps", "'x'", "whole number"]),
        (&["run", "a", "--max-local", "-1"], &["--max-local", "'-1'"]),
        (&["run", "a", "--max-depth", "x"], &["--max-depth", "'x'"]),
        (&["run", "a", "--env", "=x"], &["--env", "NAME=VALUE"]),
        (&["run", "a", "--env", "FLEET_AGENT=x"], &["--env", "fleet itself"]),
        (&["run", "a", "--context", "@"], &["--context", "@FILE"]),
        (&["run", "a", "--context"], &["--context", "value"]),
        (&["run", "a", "--read-only=yes"], &["--read-only"]),
        (&["ls", "extra"], &["'extra'", "--help"]),
        (&["attach", "k3f", "m2x"], &["'m2x'"]),
        (&["logs"], &["AGENT"]),
        (&["logs", "7", "--out", "--err"], &["--out", "--err"]),
        (&["wait", "--timeout", "5"], &["--timeout", "no unit"]),
        (&["resume", "k3f", "--agent", "sh"], &["--agent"]),
        (&["--state-dir"], &["--state-dir", "value"]),
    ];
    for (words, parts) in cases {
        let sentence = refusal(words);
        assert!(!sentence.contains('\n') && !sentence.contains("Usage"), "{words:?}: {sentence}");
        for part in *parts {
            assert!(sentence.contains(part), "{words:?}: {sentence:?} lacks {part:?}");
        }
    }
}

#[test]
fn the_help_of_every_subcommand_has_examples_that_parse_as_subcommands() {
    use clap::CommandFactory as _;
    let command = Arguments::command();
    let names = first_word::subcommands();
    for subcommand in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        let name = subcommand.get_name();
        let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Examples:\n"), "{name}: {help}");
        let example = format!("fleet {name}");
        assert!(help.contains(&example), "{name}: {help}");
        for line in help.lines().filter_map(|line| line.strip_prefix("  fleet ")) {
            let word = line.split_whitespace().next().unwrap_or_default();
            assert!(names.iter().any(|known| known == word), "{name}: {line}");
        }
    }
}
