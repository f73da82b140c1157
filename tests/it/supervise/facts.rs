//! What can be known of an agent from its folder, whatever happened to its shim.

use std::process::{Child, Command, Stdio};

use loki_fleet::core::Urgency;
use loki_fleet::supervise::{
    Delivery, LaunchError, Life, adopt, agent_watch, left_behind, life, started, sweep,
};

use super::harness::{Agent, until, within};

/// A process that has nothing to do with any agent, and ends with its test.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        let null = Stdio::null;
        let mut command = Command::new("sleep");
        Self(command.arg("600").stdin(null()).stdout(null()).stderr(null()).spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_agent_whose_shim_was_killed_is_lost_and_what_it_started_is_swept() {
    let script = "setsid sleep 600 & echo ready; exec sleep 600";
    let mut agent = Agent::sh(script).ready().await;
    let sleeps = || agent.marked().iter().filter(|line| line.starts_with("sleep\0")).count();
    until(|| (sleeps() == 2).then_some(())).await;
    agent.launched.as_mut().unwrap().child.kill().unwrap();
    agent.shim_gone().await;
    assert_eq!(life(&agent.dir).unwrap(), Life::Lost);
    // The agent itself dies with its shim; what left its session does not.
    until(|| (agent.marked().len() == 1).then_some(())).await;
    let swept = sweep(&agent.spec.mark);
    assert!(swept.len() == 1 && swept[0].starts_with("sleep["), "{swept:?}");
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
    assert!(sweep(&agent.spec.mark).is_empty());
}

#[tokio::test]
async fn a_sweep_takes_only_what_carries_exactly_its_mark() {
    let agent = Agent::sh("echo ready; exec sleep 600").ready().await;
    let longer = format!("{}7", agent.spec.mark);
    let shorter = agent.spec.mark.trim_end_matches('7');
    assert!(sweep(&longer).is_empty());
    assert!(sweep(shorter).is_empty());
    until(|| (agent.marked().len() == 1).then_some(())).await;
}

#[tokio::test]
async fn an_adopted_shim_is_watched_and_stopped_like_an_own_one() {
    let mut agent = Agent::sh("echo ready; exec sleep 600").ready().await;
    let shim_pid = Some(agent.shim_pid());
    assert_eq!(life(&agent.dir).unwrap(), Life::Lives { shim_pid });
    let watch = adopt(&agent.dir).unwrap().unwrap();
    assert_eq!(watch.stop(Urgency::Ask).unwrap(), Delivery::Sent);
    within(watch.gone()).await.unwrap();
    assert!(matches!(life(&agent.dir).unwrap(), Life::Ended(_)));
    assert_eq!(watch.stop(Urgency::Ask).unwrap(), Delivery::Gone);
    agent.shim_gone().await;
    assert!(adopt(&agent.dir).unwrap().is_none());
}

#[tokio::test]
async fn a_number_that_now_belongs_to_another_process_fools_nobody() {
    let mut agent = Agent::sh("echo ready; exec sleep 600").ready().await;
    agent.launched.as_mut().unwrap().child.kill().unwrap();
    agent.shim_gone().await;
    let mut other = Bystander::new();
    let mut record = started(&agent.dir).unwrap().unwrap();
    record.shim_pid = i32::try_from(other.0.id()).unwrap();
    let json = serde_json::to_vec(&record).unwrap();
    agent.dir.write(&agent.dir.started(), &json).unwrap();
    assert!(adopt(&agent.dir).unwrap().is_none());
    assert_eq!(life(&agent.dir).unwrap(), Life::Lost);
    assert_eq!(left_behind(&agent.dir).unwrap(), 0);
    assert_eq!(other.0.try_wait().unwrap(), None, "the other process was signalled");
}

#[tokio::test]
async fn an_agents_end_is_seen_before_its_trees() {
    // The child ends on SIGTERM only when the file appears.
    let script = "(trap 'until [ -e go ]; do sleep 0.01; done; exit' TERM; echo child
        while :; do sleep 0.01; done) & until [ -e end ]; do sleep 0.01; done; exit 0";
    let mut agent = Agent::sh(script).start().await;
    until(|| agent.out().contains("child").then_some(())).await;
    let watch = agent_watch(&agent.dir).unwrap().unwrap();
    assert!(left_behind(&agent.dir).unwrap() >= 1);
    std::fs::write(agent.spec.root.join("end"), "").unwrap();
    within(watch.ended()).await.unwrap();
    until(|| agent_watch(&agent.dir).unwrap().is_none().then_some(())).await;
    std::fs::write(agent.spec.root.join("go"), "").unwrap();
    let record = agent.end().await;
    assert_eq!(record.code, Some(0));
    assert!(record.swept_count >= 1);
    assert_eq!(left_behind(&agent.dir).unwrap(), 0);
}

#[tokio::test]
async fn an_agent_that_has_begun_is_not_begun_again() {
    let mut agent = Agent::new(&["true"]).launch();
    agent.end().await;
    let error = agent.try_launch().unwrap_err();
    assert!(matches!(error, LaunchError::AlreadyBegan { .. }), "{error:?}");
}

#[tokio::test]
async fn a_shim_that_never_got_anywhere_never_began() {
    let mut agent = Agent::new(&["true"]).behind("exit 1").launch();
    agent.shim_gone().await;
    assert_eq!(life(&agent.dir).unwrap(), Life::NeverBegan);
}

#[tokio::test]
async fn the_word_of_the_shim_alone_is_left_to_the_command_line() {
    let output = Command::new(super::harness::fleet()).arg("shim").output().unwrap();
    // Nothing was written anywhere, and the process ended.
    assert!(output.status.code().is_some());
}
