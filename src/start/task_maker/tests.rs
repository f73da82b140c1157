//! Tests of drafts made into tasks.

use std::time::Duration;

use super::*;
use crate::adapters::known_kinds;
use crate::core::{AgentKind, KindTraits, NanoUsd, Task};

fn maker(folder: &tempfile::TempDir) -> PlanMaker {
    PlanMaker { folder: folder.path().to_owned(), ..PlanMaker::default() }
}

fn options(kind: &str) -> TaskOptions {
    TaskOptions { kind: kind.to_owned(), ..TaskOptions::default() }
}

fn texts(made: &Made) -> Vec<&str> {
    made.tasks.iter().map(|task| task.text.as_str()).collect()
}

/// C-13.
#[test]
fn a_line_of_prompts_is_split_and_a_command_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let maker = maker(&folder);
    let draft = " t1 ;; t2  ;; ;; t3 ;; ";
    let ygg = options("ygg");
    assert_eq!(maker.count(draft, &ygg), 3);
    assert_eq!(texts(&maker.make(draft, &ygg)), ["t1", "t2", "t3"]);
    for kind in ["sh", "command"] {
        let options =
            TaskOptions { command: Some(vec!["echo".into(), "{task}".into()]), ..options(kind) };
        assert_eq!(maker.count(draft, &options), 1);
        assert_eq!(texts(&maker.make(draft, &options)), [draft.trim()]);
    }
    // On the command line it is one task, whatever is in it.
    let words = ["fleet", "run", draft].map(std::ffi::OsString::from);
    let Some(crate::cli::arguments::Action::Run(run)) =
        crate::cli::arguments::parse(words).unwrap().action
    else {
        panic!("not run")
    };
    assert_eq!(run.tasks, [draft]);
}

#[test]
fn a_problem_names_its_line_and_the_other_tasks_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let draft = "fix it\n---\n\ntodo\n---\nwrite <some name>\n---\nfix it";
    let made = maker(&folder).make(draft, &options("ygg"));
    assert_eq!(texts(&made), ["fix it", "fix it"]);
    let problems: Vec<(Option<usize>, &str)> =
        made.problems.iter().map(|problem| (problem.line, problem.sentence.as_str())).collect();
    assert_eq!(
        problems,
        [
            (Some(4), "task 2: is only a placeholder, 'todo' (say what is to be done)"),
            (Some(6), "task 3: has <some name>, which nobody has filled in (replace it)"),
        ]
    );
}

#[test]
fn a_mistake_in_a_list_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let made = maker(&folder)
        .make("[\"fix it\",\n {\"goal\": \"a\", \"teir\": \"deep\"}]", &options("ygg"));
    assert_eq!(texts(&made), [""; 0]);
    let problem = &made.problems[0];
    assert_eq!(problem.line, Some(2));
    assert!(problem.sentence.contains("unknown key teir (did you mean tier?)"), "{problem:?}");
}

#[test]
fn every_option_of_the_screen_reaches_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let options = TaskOptions {
        kind: "ygg".into(),
        command: None,
        extra: vec!["--flag".into()],
        engine: Some("e".into()),
        tier: Some("t".into()),
        model: None,
        max_steps: Some(3),
        read_only: true,
        allow_shell: true,
        allow_web: true,
        root: folder.path().to_owned(),
        env: vec![("A".into(), Some("secret".into())), ("PATH".into(), None)],
        budget: Some(NanoUsd::from_dollars(1)),
        timeout: Some(Duration::from_secs(2)),
        idle_timeout: Some(Duration::from_secs(3)),
        keep_leftovers: true,
        context: Some("shared".into()),
    };
    let made = PlanMaker { folder: "/".into(), ..PlanMaker::default() }.make("fix it", &options);
    let expected = Task {
        continues: None,
        text: "fix it".into(),
        kind: AgentKind("ygg".into()),
        traits: KindTraits { prompt: true, pays: true, must_answer: true },
        own: None,
        command: None,
        extra: vec!["--flag".into()],
        engine: Some("e".into()),
        tier: Some("t".into()),
        model: None,
        max_steps: Some(3),
        read_only: true,
        allow_shell: true,
        allow_web: true,
        root: folder.path().to_owned(),
        env_names: vec!["PATH".into()],
        env_stored: vec!["A".into()],
        budget: options.budget,
        timeout: options.timeout,
        idle_timeout: options.idle_timeout,
        leftovers: Leftovers::Keep,
        context: Some("shared".into()),
    };
    assert_eq!((made.problems.as_slice(), made.tasks.as_slice()), (&[][..], &[expected][..]));
    assert_eq!(made.values, [BTreeMap::from([("A".to_owned(), "secret".to_owned())])]);
}

#[test]
fn only_kinds_that_can_be_chosen_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    let names = |has_command| {
        let maker =
            PlanMaker { folder: folder.path().to_owned(), has_command, ..PlanMaker::default() };
        maker.kinds().into_iter().map(|kind| kind.name).collect::<Vec<_>>()
    };
    let known: Vec<_> = known_kinds().map(str::to_owned).collect();
    assert_eq!(names(true), known);
    let without: Vec<_> = known.into_iter().filter(|kind| kind != COMMAND).collect();
    assert_eq!(names(false), without);
    let kinds = maker(&folder).kinds();
    let sh = kinds.iter().find(|kind| kind.name == "sh").unwrap();
    assert_eq!((sh.is_installed, sh.is_prompt, sh.pays), (true, false, false));
}

/// Tasks of a draft of JSON lines, with the values of their variables.
fn made(draft: &str, options: &TaskOptions) -> Made {
    let made = PlanMaker { folder: "/".into(), ..PlanMaker::default() }.make(draft, options);
    assert_eq!(made.problems, []);
    made
}

#[test]
fn a_program_that_is_not_installed_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        Some(folder.path().as_os_str())
    };
    let ygg = made("fix it", &options("ygg"));
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(
        missing(&ygg, &Config::default(), Some(nothing.path().as_os_str())).unwrap(),
        "\"ygg\" was not found on PATH: install it (pip install ygg)"
    );
    let with_sh = path("sh");
    assert_eq!(
        missing(&ygg, &Config::default(), with_sh).unwrap(),
        "\"ygg\" was not found on PATH: install it (pip install ygg), or take a kind that is there: sh"
    );
    assert_eq!(missing(&made("true", &options("sh")), &Config::default(), with_sh), None);
    // One task of many is enough, and a search path of its own counts.
    let mixed = r#"[{"goal": "true", "agent": "sh"}, {"goal": "fix it", "agent": "ygg"}]"#;
    assert!(missing(&made(mixed, &options("sh")), &Config::default(), with_sh).is_some());
    let all = path("ygg");
    assert_eq!(missing(&made(mixed, &options("sh")), &Config::default(), all), None);
    let elsewhere =
        TaskOptions { env: vec![("PATH".into(), Some("/nowhere".into()))], ..options("ygg") };
    assert!(missing(&made("fix it", &elsewhere), &Config::default(), all).is_some());
}

#[test]
fn the_program_of_a_command_is_looked_for_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let of = |word: &str| {
        let command = Some(vec![word.to_owned(), "{task}".to_owned()]);
        let root = folder.path().to_owned();
        let made = made("a", &TaskOptions { command, root, ..options("command") });
        missing(&made, &Config::default(), Some(OsStr::new("/bin")))
    };
    assert_eq!(of("cat"), None);
    assert_eq!(
        of("no-such-tool").unwrap(),
        "\"no-such-tool\" was not found on PATH: install it or correct the command"
    );
    let inside = folder.path().display();
    assert_eq!(
        of("./tool").unwrap(),
        format!("\"./tool\" was not found (in {inside}): make it or correct the command")
    );
    std::fs::write(folder.path().join("tool"), "").unwrap();
    assert_eq!(of("./tool"), None);
}

#[test]
fn variables_are_read_as_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let read = |word: &str| maker(&folder).read_variable(word);
    assert_eq!(read("PATH").unwrap(), ("PATH".to_owned(), None));
    assert_eq!(read("A=b=c").unwrap(), ("A".to_owned(), Some("b=c".to_owned())));
    assert_eq!(read("=a").unwrap_err(), "has no name (write NAME or NAME=VALUE)");
    let own = read("FLEET_AGENT=x").unwrap_err();
    assert_eq!(own, "is set by fleet itself (choose another name)");
    let absent = read("NO_SUCH_VARIABLE_HERE").unwrap_err();
    let expected = "is not set here (set it, or give NO_SUCH_VARIABLE_HERE=VALUE)";
    assert_eq!(absent, expected);
}
