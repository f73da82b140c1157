//! Tests of plans.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use super::*;
use crate::cli::arguments::{self, Action};
use crate::core::testing::{row, snapshot};
use crate::core::{AgentKind, KindTraits, Leftovers, NanoUsd};
use crate::words::report_line::Reporter;
use crate::words::style::Style;

const PROMPT: KindTraits = KindTraits { prompt: true, pays: true, must_answer: true };
const SHELL: KindTraits = KindTraits { prompt: false, pays: false, must_answer: false };

fn traits(kind: &AgentKind) -> Option<KindTraits> {
    match kind.0.as_str() {
        "ygg" => Some(PROMPT),
        "sh" | "command" => Some(SHELL),
        _ => None,
    }
}

struct World {
    installed: bool,
    terminal: bool,
    stdin: &'static str,
    folder: PathBuf,
}

impl World {
    fn new() -> Self {
        Self { installed: true, terminal: false, stdin: "", folder: PathBuf::from("/") }
    }

    fn plan(&self, words: &[&str]) -> Result<Plan, String> {
        let words = ["fleet", "run"].iter().chain(words).map(OsString::from);
        let Some(Action::Run(run)) = arguments::parse(words).unwrap().action else {
            panic!("not run")
        };
        let check = |task: &Task| {
            if task.kind.0 == "sh" && task.budget.is_some() {
                Err("sh has no budget".to_owned())
            } else {
                Ok(())
            }
        };
        let installed = |_: &str| self.installed;
        let kinds = Kinds {
            names: &["ygg", "sh"],
            real: &[RealKind { name: "ygg", program: "ygg", install: "pip install ygg" }],
            preferred: None,
            own: &BTreeMap::new(),
            traits: &traits,
            keys: &|_| &[],
            untold: &|_| None,
            late: &|_| false,
            check: &check,
            installed: &installed,
        };
        let around = Surroundings {
            folder: self.folder.clone(),
            processors: 64,
            terminal: self.terminal,
            has_variable: &|name| name == "HOME",
        };
        plan(&run, &kinds, &around, &mut self.stdin.as_bytes())
    }
}

#[track_caller]
fn planned(words: &[&str]) -> Plan {
    World::new().plan(words).unwrap()
}

fn kinds(plan: &Plan) -> Vec<&str> {
    plan.tasks.iter().map(|planned| planned.task.kind.0.as_str()).collect()
}

#[test]
fn a_task_without_an_agent_goes_to_the_first_that_is_found_and_that_is_said() {
    let plan = planned(&["fix it", "write it"]);
    assert_eq!(kinds(&plan), ["ygg", "ygg"]);
    assert_eq!(plan.notes, ["agent ygg: the first found on PATH (--agent chooses another)"]);
}

#[test]
fn without_any_agent_program_one_sentence_says_what_to_install_and_sh_is_not_chosen() {
    let world = World { installed: false, ..World::new() };
    let sentence = world.plan(&["make test"]).unwrap_err();
    assert!(sentence.contains("pip install ygg") && sentence.contains("--agent sh"), "{sentence}");
    assert_eq!(world.plan(&["--agent", "sh", "make test"]).unwrap().tasks.len(), 1);
}

#[test]
fn options_become_the_task_and_the_root_is_absolute() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let world = World { folder: folder.path().to_owned(), ..World::new() };
    let words = [
        "fix it",
        "--agent",
        "ygg",
        "--engine",
        "e",
        "--tier",
        "t",
        "--model",
        "m",
        "--max-steps",
        "3",
        "--read-only",
        "--allow-shell",
        "--allow-web",
        "--root",
        "src",
        "--env",
        "A=1",
        "--env",
        "HOME",
        "--budget",
        "0.25",
        "--timeout",
        "2s",
        "--idle-timeout",
        "3s",
        "--leftovers",
        "keep",
        "--context",
        "shared",
        "--origin",
        "me",
        "--",
        "--flag",
    ];
    let plan = world.plan(&words).unwrap();
    let expected = Task {
        continues: None,
        text: "fix it".into(),
        kind: AgentKind("ygg".into()),
        traits: PROMPT,
        own: None,
        command: None,
        extra: vec!["--flag".into()],
        engine: Some("e".into()),
        tier: Some("t".into()),
        model: Some("m".into()),
        max_steps: Some(3),
        read_only: true,
        allow_shell: true,
        allow_web: true,
        root: folder.path().join("src"),
        env_names: vec!["HOME".into()],
        env_stored: vec!["A".into()],
        budget: Some(NanoUsd::from_nanos(250_000_000)),
        timeout: Some(Duration::from_secs(2)),
        idle_timeout: Some(Duration::from_secs(3)),
        leftovers: Leftovers::Keep,
        context: Some("shared".into()),
    };
    assert_eq!(plan.tasks[0].task, expected);
    assert_eq!(plan.tasks[0].env, [("A".into(), Some("1".into())), ("HOME".into(), None)]);
    assert_eq!((plan.origin.as_deref(), plan.context.as_deref()), (Some("me"), Some("shared")));
}

/// C-55: none of them is on by default. That it holds for each agent by itself is tested with agents that run.
#[test]
fn an_agent_has_no_limit_of_time_unless_one_is_given() {
    let plan = World::new().plan(&["--agent", "sh", "make test"]).unwrap();
    let task = &plan.tasks[0].task;
    assert_eq!((task.timeout, task.idle_timeout), (None, None));
    assert_eq!(plan.options.deadline, None);
}

#[test]
fn values_of_variables_are_not_in_the_task() {
    let plan = planned(&["x y", "--env", "KEY=secret-value"]);
    assert!(!format!("{:?}", plan.tasks[0].task).contains("secret-value"));
}

#[test]
fn a_command_after_two_dashes_takes_the_tasks_and_alone_is_one_task() {
    let plan = planned(&["a", "b", "--", "echo", "{task}"]);
    assert_eq!(kinds(&plan), ["command", "command"]);
    assert_eq!(
        plan.tasks[1].task.command.as_deref(),
        Some(&["echo".to_owned(), "{task}".to_owned()][..])
    );
    let alone = planned(&["--", "make", "test"]);
    assert_eq!((alone.tasks.len(), alone.tasks[0].task.text.as_str()), (1, "make test"));
    let sentence = World::new().plan(&["--", "echo", "{task}"]).unwrap_err();
    assert!(sentence.starts_with("no tasks: "), "{sentence}");
}

#[test]
fn a_file_says_more_than_the_command_line() {
    let json = r#"[{"task":"a","agent":"sh"},{"task":"b","tier":"deep","env":{"A":"2"}},{"cmd":["make"]}]"#;
    let world = World { stdin: json, ..World::new() };
    let plan = world.plan(&["-f", "-", "--tier", "fast", "--env", "A=1"]).unwrap();
    let kinds: Vec<&str> = plan.tasks.iter().map(|planned| planned.task.kind.0.as_str()).collect();
    let tiers: Vec<_> =
        plan.tasks.iter().map(|planned| planned.task.tier.as_deref().unwrap()).collect();
    assert_eq!((kinds, tiers), (vec!["sh", "ygg", "command"], vec!["fast", "deep", "fast"]));
    assert_eq!(plan.tasks[1].env, [("A".to_owned(), Some("2".to_owned()))]);
    assert_eq!(plan.tasks[2].task.text, "make");
}

/// C-16.
#[test]
fn the_number_of_agents_at_once_is_small_unless_it_is_given_and_it_is_shown() {
    let shown = |words: &[&str]| {
        let mut first = snapshot(1, vec![row(1)]);
        first.header.max_parallel = planned(words).options.max_parallel;
        Reporter::new(jiff::tz::TimeZone::UTC).lines(&first, Style::PLAIN).remove(0)
    };
    assert_eq!([1, 2, 5, 64].map(default_parallel), [2, 2, 5, 8]);
    assert!(shown(&["a b"]).contains(" - 8 at once"), "{}", shown(&["a b"]));
    assert!(shown(&["a b", "-j", "unlimited"]).contains(" - all at once"));
    assert!(shown(&["a b", "-j", "3"]).contains(" - 3 at once"));
    assert_eq!(planned(&["a b", "--max-local", "0"]).options.max_local, 1);
}

#[test]
fn a_fleet_goes_on_with_its_options_and_what_is_given_now() {
    let before = FleetOptions {
        cap: Some(NanoUsd::from_dollars(5)),
        on_cap: OnCap::Drop,
        ..FleetOptions::default()
    };
    let resumed = |words: &[&str], terminal| {
        let words = ["fleet", "resume"].iter().chain(words).map(OsString::from);
        let Some(Action::Resume(resume)) = arguments::parse(words).unwrap().action else {
            panic!("not resume")
        };
        resume_options(&resume.limits, &before, terminal)
    };
    let on_cap = |words: &[&str], terminal| resumed(words, terminal).unwrap().on_cap;
    assert_eq!((on_cap(&[], true), on_cap(&[], false)), (OnCap::Ask, OnCap::Hold));
    assert_eq!(on_cap(&["--on-cap", "drop"], true), OnCap::Drop);
    assert_eq!(
        resumed(&["--cap", "20", "-j", "2"], false).unwrap().cap,
        Some(NanoUsd::from_dollars(20))
    );
    assert!(resumed(&["--on-cap", "raise=4"], true).unwrap_err().contains("not above --cap 5.00"));
    assert!(resumed(&["--on-cap", "ask"], false).unwrap_err().contains("needs a terminal"));
}

#[test]
fn a_fleet_that_goes_on_behind_keeps_what_is_in_force_by_then_and_hears_what_was_given() {
    let heard = |words: &[&str], before: &FleetOptions| {
        let words = ["fleet", "resume", "-d"].iter().chain(words).map(OsString::from);
        let Some(Action::Resume(resume)) = arguments::parse(words).unwrap().action else {
            panic!("not resume")
        };
        let text = serde_json::to_string(&resume.limits).unwrap();
        let limits = serde_json::from_str(&text).unwrap();
        assert_eq!(resume.limits, limits, "{text}");
        options_behind(&limits, before)
    };
    // Somebody has set the cap after whoever starts the host had looked.
    let now = FleetOptions { cap: Some(NanoUsd::from_dollars(1)), ..FleetOptions::default() };
    assert_eq!(heard(&[], &now), Ok(now.clone()));
    let dropping = FleetOptions { on_cap: OnCap::Drop, ..now.clone() };
    assert_eq!(heard(&[], &dropping).unwrap().on_cap, OnCap::Hold);
    assert_eq!(heard(&["--on-cap", "drop"], &now), Ok(dropping));
    let wide = heard(&["-j", "unlimited", "--deadline", "2h"], &now).unwrap();
    assert_eq!((wide.max_parallel, wide.cap), (None, now.cap));
    assert_eq!(wide.deadline, Some(Duration::from_hours(2)));
    assert!(heard(&["--on-cap", "raise=1"], &now).unwrap_err().contains("not above --cap 1.00"));
    let uncapped = FleetOptions { cap: None, cap_hard: true, ..now };
    assert_eq!(heard(&[], &uncapped), Ok(uncapped.clone()));
}

#[test]
fn the_cap_is_asked_about_only_where_somebody_can_answer() {
    assert_eq!(planned(&["a b", "--cap", "1"]).options.on_cap, OnCap::Drop);
    let world = World { terminal: true, ..World::new() };
    assert_eq!(world.plan(&["a b", "--cap", "1"]).unwrap().options.on_cap, OnCap::Ask);
}

/// C-11.
#[test]
fn a_prompt_must_say_something_and_a_command_may_be_anything() {
    let world = World { stdin: "[\"fine\",\n\"\"]", ..World::new() };
    assert_eq!(world.plan(&["-f", "-"]).unwrap_err(), "stdin:2: is empty (say what is to be done)");
    for text in ["todo", "task 3", "fix <some name>", "fix {some name}"] {
        let sentence = World::new().plan(&["fine", text]).unwrap_err();
        assert!(
            sentence.starts_with("task 2: is only") || sentence.starts_with("task 2: has"),
            "{sentence}"
        );
        assert_eq!(planned(&["--agent", "sh", text]).tasks.len(), 1);
        assert_eq!(planned(&[text, "--", "echo", "{task}"]).tasks.len(), 1);
    }
    assert_eq!(planned(&["use {\"k\": 1}", "use {a,b}", "use {i}", "use {i}"]).tasks.len(), 4);
}

/// Each is one sentence that names what is wrong, where, and what to do.
#[test]
fn a_plan_that_cannot_be_made_is_one_sentence() {
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["no tasks", "fleet run 'fix the tests'"]),
        (&["-f", "-"], &["no tasks in -", "one a line"]),
        (&[""], &["task 1", "empty"]),
        (&["a b", "   "], &["task 2", "empty"]),
        (&["--agent", "sh", ""], &["task 1", "empty"]),
        (&["--agent", "yg", "a b"], &["task 1", "no agent kind yg", "ygg"]),
        (&["--agent", "klaude", "a b"], &["no agent kind klaude", "known: ygg, sh"]),
        (&["--agent", "command", "a b"], &["task 1", "after --"]),
        (&["--agent", "sh", "a b", "--budget", "1"], &["task 1", "sh has no budget"]),
        (&["a b", "--root", "/nowhere/at/all"], &["root /nowhere/at/all", "no such folder"]),
        (&["a b", "--root", "/dev/null"], &["root /dev/null", "is no folder"]),
        (&["a b", "--env", "NOT_SET_HERE"], &["NOT_SET_HERE", "not set here"]),
        (&["a b", "--context", "@/nowhere"], &["--context @/nowhere", "no such file"]),
        (&["a b", "--context", "@/"], &["--context @/", "folder"]),
        (&["-f", "/nowhere.txt"], &["/nowhere.txt", "no such file"]),
        (&["a b", "--cap", "5", "--on-cap", "raise=5"], &["raise=5.00", "not above --cap 5.00"]),
        (&["a b", "--on-cap", "raise=5"], &["needs a --cap"]),
        (&["a b", "--cap", "5", "--on-cap", "ask"], &["needs a terminal"]),
        (&["a b", "--cap-hard"], &["--cap-hard needs a --cap"]),
        (&["a b", "--mesh", "/dev/null"], &["--mesh /dev/null", "no folder"]),
    ];
    for (words, parts) in cases {
        let sentence = World::new().plan(words).unwrap_err();
        assert!(!sentence.contains('\n'), "{sentence}");
        for part in *parts {
            assert!(sentence.contains(part), "{words:?}: {sentence:?} lacks {part:?}");
        }
    }
}
