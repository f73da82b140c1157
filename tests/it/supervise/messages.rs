//! Agents that take messages while they run: the FIFO that their shim keeps open for them.

use loki_fleet::supervise::{Delivery, StdinFrom, StoppedBy, TellError, tell};
use rustix::process::{Pid, Signal};

use super::harness::{Agent, until};

/// Repeats each line that it reads, with a word before it, and ends with the end of its standard input.
const ECHO: &str = "echo ready; while read -r line; do echo \"got $line\"; done; echo end";

/// Makes an agent whose first message is this text.
fn taking(script: &str, first: &str) -> Agent {
    let mut agent = Agent::sh(script);
    agent.spec.stdin = StdinFrom::Messages;
    std::fs::write(agent.dir.first(), first).unwrap();
    agent
}

/// Waits until the agent has printed a text.
async fn until_said(agent: &Agent, text: &str) {
    until(|| agent.out().contains(text).then_some(())).await;
}

fn close(agent: &Agent) {
    let delivery = agent.launched.as_ref().unwrap().watch.close_input().unwrap();
    assert_eq!(delivery, Delivery::Sent);
}

#[tokio::test]
async fn an_agent_reads_its_task_then_what_it_is_told_and_the_end_only_when_that_is_asked_for() {
    let mut agent = taking(ECHO, "the task\n").ready().await;
    until_said(&agent, "got the task").await;
    for text in ["one", "two"] {
        tell(&agent.dir, text).unwrap();
    }
    until_said(&agent, "got two").await;
    assert!(!agent.out().contains("end"), "{}", agent.out());
    tell(&agent.dir, "three").unwrap();
    close(&agent);
    let record = agent.end().await;
    assert_eq!((record.code, record.stopped_by), (Some(0), StoppedBy::None));
    assert_eq!(agent.out(), "ready\ngot the task\ngot one\ngot two\ngot three\nend\n");
    assert!(matches!(tell(&agent.dir, "four"), Err(TellError::Closed)));
    assert!(!agent.dir.stdin().exists());
}

#[tokio::test]
async fn a_task_longer_than_the_pipe_is_read_whole_before_anything_else_can_come() {
    // A pipe takes 64 KiB as a rule; nothing is read before the file is there.
    let script = "echo ready; until [ -e go ]; do sleep 0.01; done; read -r task; echo ${#task}
        while read -r line; do echo \"got $line\"; done";
    let long = format!("{}\n", "x".repeat(300_000));
    let mut agent = taking(script, &long).ready().await;
    assert!(matches!(tell(&agent.dir, "too early"), Err(TellError::Closed)));
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    until_said(&agent, "300000").await;
    until(|| tell(&agent.dir, "later").is_ok().then_some(())).await;
    close(&agent);
    assert_eq!(agent.end().await.code, Some(0));
    assert_eq!(agent.out(), "ready\n300000\ngot later\n");
}

#[tokio::test]
async fn the_end_that_is_asked_for_early_comes_after_the_whole_task() {
    let script = "echo ready; until [ -e go ]; do sleep 0.01; done; wc -c";
    let long = "x".repeat(300_000);
    let mut agent = taking(script, &long).ready().await;
    close(&agent);
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    assert_eq!(agent.end().await.code, Some(0));
    assert!(agent.out().contains("300000"), "{}", agent.out());
}

#[tokio::test]
async fn what_does_not_fit_is_refused_whole_with_the_reason() {
    let script = "echo ready; until [ -e go ]; do sleep 0.01; done; wc -l";
    let mut agent = taking(script, "task\n").ready().await;
    let longest = "x".repeat(rustix::pipe::PIPE_BUF - 1);
    let too_long = tell(&agent.dir, &format!("{longest}x")).unwrap_err();
    assert!(matches!(too_long, TellError::TooLong { .. }), "{too_long:?}");
    assert!(too_long.to_string().contains("shorter"), "{too_long}");
    let mut lines = 1;
    let full = loop {
        match tell(&agent.dir, &longest) {
            Ok(()) => lines += 1,
            Err(full) => break full,
        }
    };
    assert!(matches!(full, TellError::Full), "{full:?}");
    assert!(lines > 2, "{lines}");
    close(&agent);
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    assert_eq!(agent.end().await.code, Some(0));
    assert_eq!(agent.out(), format!("ready\n{lines}\n"));
}

#[tokio::test]
async fn an_agent_that_closes_its_input_is_told_nothing_more_and_goes_on() {
    let script = "exec <&-; echo ready; until [ -e go ]; do sleep 0.01; done; echo still";
    let mut agent = taking(script, "task\n").ready().await;
    let error = tell(&agent.dir, "hello").unwrap_err();
    assert!(matches!(error, TellError::Closed), "{error:?}");
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    assert_eq!(agent.end().await.code, Some(0));
}

#[tokio::test]
async fn asking_for_the_end_of_the_input_does_nothing_to_other_agents() {
    let script = "echo ready; until [ -e go ]; do sleep 0.01; done; echo still";
    let mut agent = Agent::sh(script).ready().await;
    close(&agent);
    assert!(matches!(tell(&agent.dir, "hello"), Err(TellError::Closed)));
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    let record = agent.end().await;
    assert_eq!((record.code, record.stopped_by), (Some(0), StoppedBy::None));
}

#[tokio::test]
async fn with_the_shim_the_input_and_the_agent_go() {
    let agent = taking(ECHO, "the task\n").ready().await;
    until_said(&agent, "got the task").await;
    rustix::process::kill_process(Pid::from_raw(agent.shim_pid()).unwrap(), Signal::KILL).unwrap();
    until(|| agent.marked().is_empty().then_some(())).await;
    assert!(matches!(tell(&agent.dir, "hello"), Err(TellError::Closed)));
}
