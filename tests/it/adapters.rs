//! Command lines that are really run, and their output read back from files.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use loki_fleet::adapters::{Place, ReaderStart, adapter};
use loki_fleet::core::{AgentKind, ExitReason, Fact, StepState, Tails, Task};
use loki_fleet::tail::scan::Scanner;
use tempfile::TempDir;

fn task(kind: &str, text: &str, root: &Path, command: &[&str]) -> Task {
    let kind = AgentKind(kind.to_owned());
    let command: Vec<_> = command.iter().map(|argument| (*argument).to_owned()).collect();
    let traits = adapter(&kind).unwrap().traits();
    Task {
        command: (!command.is_empty()).then_some(command),
        ..Task::new(text, kind, traits, root.to_owned())
    }
}

/// Runs the task as it would be run for a fleet and reads its output.
fn run(task: &Task, folder: &Path, token: Option<&str>) -> (Vec<Fact>, Tails) {
    let adapter = adapter(&task.kind).unwrap();
    let token = token.map(str::to_owned);
    let place = Place {
        task_file: folder.join("task"),
        report: folder.join("report.json"),
        mesh: None,
        token: token.clone(),
    };
    let invocation = adapter.invocation(task, &place).unwrap();
    fs::write(&place.task_file, &invocation.task_text).unwrap();
    let (out, err) = (folder.join("out"), folder.join("err"));
    let status = Command::new(&invocation.argv[0])
        .args(&invocation.argv[1..])
        .envs(&invocation.env)
        .current_dir(&invocation.root)
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .status()
        .unwrap();
    assert!(status.success(), "{}", fs::read_to_string(&err).unwrap());
    let mut scanner =
        Scanner::new(out, err, 0, adapter.reader(ReaderStart { token, ..ReaderStart::default() }));
    let (mut facts, mut buffer) = (Vec::new(), vec![0; 4096]);
    let mut left = scanner.look().left;
    while left > 0 {
        left = scanner.turn(u64::MAX, &mut buffer, &mut facts);
    }
    let tails = scanner.finish(None, &mut facts);
    (facts, tails)
}

fn last_line(kind: &str, text: &str, command: &[&str]) -> String {
    let folder = TempDir::new().unwrap();
    let (_, tails) = run(&task(kind, text, folder.path(), command), folder.path(), None);
    tails.out_line.unwrap_or_default()
}

#[test]
fn the_example_agent_is_understood_with_and_without_a_token() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/line-protocol-agent.py");
    for token in [None, Some("s3")] {
        let folder = TempDir::new().unwrap();
        let task = task("command", "four words are here", folder.path(), &["python3", script]);
        let (facts, tails) = run(&task, folder.path(), token);
        assert_eq!(tails.out_line.as_deref(), Some("counting words"));
        assert!(!facts.contains(&Fact::Unknown), "{facts:?}");
        let steps = facts.iter().filter_map(|fact| match fact {
            Fact::Step { state, .. } => Some(*state),
            _ => None,
        });
        assert_eq!(steps.collect::<Vec<_>>(), [StepState::Start, StepState::End]);
        let cost = facts.iter().find_map(|fact| match fact {
            Fact::Usage { usage, .. } => usage.cost,
            _ => None,
        });
        assert_eq!(cost, Some("0.0001".parse().unwrap()));
        assert!(facts.iter().any(|fact| matches!(fact, Fact::Smoke { ok: Some(true), .. })));
        let Some(Fact::Result(result)) = facts.last() else { panic!("{facts:?}") };
        assert_eq!(result.answer.as_deref(), Some("4 words"));
        assert_eq!((result.completed, result.reason), (Some(true), Some(ExitReason::Completed)));
    }
}

#[test]
fn a_shell_gets_its_task_whatever_it_begins_with_and_however_long_it_is() {
    assert_eq!(last_line("sh", "echo $((6 * 7))", &[]), "42");
    assert_eq!(last_line("sh", "-x 2>/dev/null; echo came here", &[]), "came here");
    assert_eq!(last_line("sh", "+x 2>/dev/null; echo came here", &[]), "came here");
    assert_eq!(last_line("sh", "printenv FLEET_TASK", &[]), "printenv FLEET_TASK");
    let long = format!("# {}\necho ${{FLEET_TASK-unset}} $0", "x".repeat(300_000));
    let line = last_line("sh", &long, &[]);
    assert!(line.starts_with("unset /") && line.ends_with("/task"), "{line}");
}

#[test]
fn a_command_gets_its_task_as_one_argument_or_as_a_file() {
    assert_eq!(
        last_line("command", "a  'b' $HOME", &["printf", "<%s>", "{task}"]),
        "<a 'b' $HOME>"
    );
    assert_eq!(last_line("command", "-n", &["printf", "<%s>", "{task}"]), "<-n>");
    let count = ["sh", "-c", "wc -c <\"$FLEET_TASK_FILE\""];
    assert_eq!(last_line("command", &"x".repeat(300_000), &count), "300000");
}
