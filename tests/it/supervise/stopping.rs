//! How trees end: asked, killed, by their own time, and what agents leave behind.

use std::time::Duration;

use loki_fleet::core::{Leftovers, ProcessEnd, Urgency};
use loki_fleet::supervise::{Life, StoppedBy, life, started, write_stop};

use super::harness::{Agent, until};

/// A grace that no test waits for.
const LONG: Duration = Duration::from_mins(10);

/// A grace that a test waits for.
const SHORT: Duration = Duration::from_millis(300);

/// A grace that a test waits for although something else must come first.
const MEDIUM: Duration = Duration::from_secs(2);

/// Ignores SIGTERM, with a child in its group, one in a session of its own and one that a dead parent left.
const STUBBORN: &str = "trap '' TERM
sleep 600 &
setsid sleep 601 &
(setsid sh -c 'sleep 602 & exit 0' &)
echo ready
while :; do sleep 603; done";

#[tokio::test]
async fn an_obedient_agent_ends_when_asked_and_its_output_stays() {
    let agent = Agent::sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    let mut agent = agent.ready().await;
    agent.stop(Urgency::Ask);
    let record = agent.end().await;
    assert_eq!((record.code, record.stopped_by), (Some(3), StoppedBy::Signal));
    assert!(!record.escalated);
    assert_eq!(agent.out(), "ready\nbye\n");
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}

/// C-49
#[tokio::test]
async fn a_stubborn_tree_is_gone_after_its_grace_wherever_its_processes_went() {
    let mut agent = Agent::sh(STUBBORN);
    agent.spec.grace = SHORT;
    let mut agent = agent.ready().await;
    let sleeps = || agent.marked().iter().filter(|line| line.starts_with("sleep\x00")).count();
    until(|| (sleeps() == 4 && agent.marked().len() == 5).then_some(())).await;
    agent.stop(Urgency::Ask);
    let end = agent.tree_end().await;
    assert_eq!(end.end, ProcessEnd::Signal("SIGKILL".to_owned()));
    assert!(end.escalated && end.signalled && !end.owner_stop, "{end:?}");
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
    // The two that had left the group, and what ignored the signal in it.
    assert!(end.swept.len() >= 3, "{:?}", end.swept);
    assert!(end.swept.iter().all(|name| name.contains("sleep[")), "{:?}", end.swept);
}

#[tokio::test]
async fn asking_twice_kills_at_once() {
    let mut agent = Agent::sh(STUBBORN);
    agent.spec.grace = LONG;
    let mut agent = agent.ready().await;
    agent.stop(Urgency::Ask);
    agent.stop(Urgency::Kill);
    let record = agent.end().await;
    assert_eq!(record.signal.as_deref(), Some("SIGKILL"));
    assert!(record.escalated);
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}

#[tokio::test]
async fn asking_patiently_waits_for_the_long_grace_and_asks_once() {
    let mut agent = Agent::sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    (agent.spec.grace, agent.spec.stale_grace) = (LONG, Some(MEDIUM));
    let mut agent = agent.ready().await;
    agent.stop(Urgency::AskPatiently);
    until(|| agent.out().contains("asked").then_some(())).await;
    agent.stop(Urgency::AskPatiently);
    let record = agent.end().await;
    assert_eq!((record.signal.as_deref(), record.escalated), (Some("SIGKILL"), true));
    assert_eq!(record.stopped_by, StoppedBy::Signal);
    assert_eq!(agent.out(), "ready\nasked\n");
}

/// Its signal would be the end of such a shim.
#[tokio::test]
async fn a_shim_that_knows_no_long_grace_is_asked_as_usual() {
    let mut agent =
        Agent::sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    agent.spec.grace = LONG;
    let mut agent = agent.ready().await;
    agent.stop(Urgency::AskPatiently);
    let record = agent.end().await;
    assert_eq!((record.code, record.stopped_by), (Some(3), StoppedBy::Signal));
}

/// C-131: all that descends from it, also what has left its group and its session.
#[tokio::test]
async fn killing_needs_no_asking_before_and_takes_the_whole_tree() {
    let mut agent = Agent::sh(STUBBORN);
    agent.spec.grace = LONG;
    let mut agent = agent.ready().await;
    let sleeps = || agent.marked().iter().filter(|line| line.starts_with("sleep\x00")).count();
    until(|| (sleeps() == 4 && agent.marked().len() == 5).then_some(())).await;
    agent.stop(Urgency::Kill);
    let record = agent.end().await;
    assert!(record.escalated && record.swept_count >= 3, "{:?}", record.swept);
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}

#[tokio::test]
async fn stubborn_agents_are_stopped_together_since_asking_waits_for_nothing() {
    let mut agents = Vec::new();
    for _ in 0..4 {
        let mut agent = Agent::sh("trap '' TERM; echo ready; while :; do sleep 600; done");
        agent.spec.grace = MEDIUM;
        agents.push(agent.ready().await);
    }
    for agent in &agents {
        agent.stop(Urgency::Ask);
    }
    for agent in &agents {
        assert!(matches!(life(&agent.dir).unwrap(), Life::Lives { .. }), "asking took the grace");
    }
    for agent in &mut agents {
        let record = agent.end().await;
        assert!(record.escalated);
        assert_eq!(record.signal.as_deref(), Some("SIGKILL"));
    }
}

#[tokio::test]
async fn the_kind_is_asked_with_its_own_signal_and_then_with_sigterm() {
    let script = "trap 'echo int' INT; trap 'echo term; exit 0' TERM; echo ready
        while :; do sleep 0.01; done";
    let mut agent = Agent::sh(script);
    agent.spec.ask = "SIGINT".to_owned();
    agent.spec.grace = 2 * MEDIUM;
    let mut agent = agent.ready().await;
    agent.stop(Urgency::Ask);
    let record = agent.end().await;
    assert_eq!((record.code, record.escalated), (Some(0), false));
    assert_eq!(agent.out(), "ready\nint\nterm\n");
}

#[tokio::test]
async fn a_suspended_agent_can_be_asked_to_end() {
    let mut agent = Agent::sh("trap 'exit 4' TERM; echo ready; kill -STOP $$; sleep 600");
    agent.spec.grace = LONG;
    let mut agent = agent.ready().await;
    let pid = started(&agent.dir).unwrap().unwrap().agent_pid.unwrap();
    until(|| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") T ").then_some(())
    })
    .await;
    agent.stop(Urgency::Ask);
    assert_eq!(agent.end().await.code, Some(4));
}

#[tokio::test]
async fn a_child_that_outlives_an_obedient_agent_has_the_rest_of_the_grace() {
    let script = "(trap '' TERM; exec setsid sleep 600) & trap 'exit 0' TERM; echo ready
        while :; do sleep 0.01; done";
    let mut agent = Agent::sh(script);
    agent.spec.grace = MEDIUM;
    let mut agent = agent.ready().await;
    until(|| agent.marked().iter().any(|line| line.starts_with("sleep\x00600")).then_some(()))
        .await;
    agent.stop(Urgency::Ask);
    let record = agent.end().await;
    assert_eq!((record.code, record.escalated), (Some(0), true));
    assert!(record.swept.iter().any(|name| name.starts_with("sleep[")), "{:?}", record.swept);
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}

#[tokio::test]
async fn an_agents_own_time_ends_it_with_no_host_alive() {
    let mut agent = Agent::sh("echo ready; exec sleep 600");
    agent.spec.timeout = Some(SHORT);
    let mut agent = agent.launch();
    let record = agent.end().await;
    assert_eq!(record.stopped_by, StoppedBy::Timeout);
    assert_eq!(record.signal.as_deref(), Some("SIGTERM"));
    assert!(record.run_ms >= 300, "{}", record.run_ms);
    assert!(record.to_tree_end(false).timed_out);
}

#[tokio::test]
async fn an_agent_without_a_host_for_too_long_is_stopped_and_not_before() {
    let mut agent = Agent::sh("echo ready; exec sleep 600");
    let path = agent.temp.path().join("host.lock");
    let host = std::fs::File::create(&path).unwrap();
    host.lock().unwrap();
    agent.spec.orphan = Some((SHORT, path));
    let mut agent = agent.ready().await;
    let watch = &agent.launched.as_ref().unwrap().watch;
    let early = tokio::time::timeout(4 * SHORT, watch.gone()).await;
    assert!(early.is_err(), "stopped while its host lived");
    drop(host);
    assert_eq!(agent.end().await.stopped_by, StoppedBy::Orphaned);
}

#[tokio::test]
async fn what_an_agent_leaves_behind_is_ended_counted_and_named() {
    let script = "sleep 600 & setsid sleep 600 & (trap '' TERM; exec setsid sleep 600) &
        echo ready; exit 3";
    let mut agent = Agent::sh(script).start().await;
    let record = agent.end().await;
    assert_eq!((record.code, record.stopped_by), (Some(3), StoppedBy::None));
    assert!(!record.escalated);
    assert_eq!(record.swept_count, 3, "{:?}", record.swept);
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}

#[tokio::test]
async fn what_an_agent_leaves_behind_may_stay() {
    let mut agent = Agent::sh("sleep 600 & exit 3");
    agent.spec.leftovers = Leftovers::Keep;
    let mut agent = agent.start().await;
    let record = agent.end().await;
    assert_eq!((record.code, record.swept_count), (Some(3), 0));
    until(|| (agent.marked() == ["sleep\x00600\0"]).then_some(())).await;
}

#[tokio::test]
async fn an_owners_stop_is_known_as_a_decision() {
    let mut agent = Agent::sh("echo ready; exec sleep 600").ready().await;
    write_stop(&agent.dir).unwrap();
    agent.stop(Urgency::Ask);
    let end = agent.tree_end().await;
    assert!(end.owner_stop && end.signalled, "{end:?}");
}

#[tokio::test]
async fn a_tree_that_forks_faster_than_it_dies_is_ended() {
    let script = "trap '' TERM; echo ready
        while :; do setsid sh -c 'sleep 0.05; :' & setsid sh -c 'sleep 0.05; :' & sleep 0.01; done";
    let mut agent = Agent::sh(script);
    agent.spec.grace = LONG;
    let mut agent = agent.ready().await;
    agent.stop(Urgency::Kill);
    assert!(agent.end().await.escalated);
    assert!(agent.marked().is_empty(), "{:?}", agent.marked());
}
