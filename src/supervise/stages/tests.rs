//! Stories of how a tree ends: events in, actions out.

use std::time::Duration;

use super::StageAction::{AskGroup, Finish, KillTree, Sweep, TermGroup, TermRest};
use super::StageEvent::{Asked, AskedPatiently, LeaderEnded, Orphaned, TimedOut, Timer, TreeEmpty};
use super::{LEFTOVER_GRACE, Policy, StageAction, StageEvent, Stages};
use crate::core::{FleetOptions, Leftovers};
use crate::supervise::StoppedBy;

const KILL: StageAction = KillTree { freeze: false };
const POLICY: Policy = Policy {
    asks_with_term: true,
    grace: Duration::from_secs(5),
    long_grace: Duration::from_mins(2),
    leftovers: Leftovers::End,
};

const fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Plays events at times in milliseconds and compares what each asks for.
#[track_caller]
fn play(policy: Policy, story: &[(u64, StageEvent, &[StageAction])]) -> Stages {
    let mut stages = Stages::new(policy);
    for (index, (ms, event, expected)) in story.iter().enumerate() {
        let actions = stages.apply(*event, at(*ms));
        assert_eq!(actions, *expected, "line {index}: {event:?} at {ms} ms");
    }
    stages
}

#[test]
fn an_agent_that_ends_alone_costs_nothing() {
    let stages = play(POLICY, &[(0, Timer, &[]), (9, TreeEmpty, &[Finish])]);
    assert_eq!(stages.stopped_by(), StoppedBy::None);
    assert!(!stages.escalated());
    assert_eq!(stages.deadline(), None);
}

#[test]
fn an_agent_that_obeys_is_asked_once() {
    let stages = play(POLICY, &[(10, Asked, &[AskGroup]), (20, TreeEmpty, &[Sweep, Finish])]);
    assert_eq!(stages.stopped_by(), StoppedBy::Signal);
    assert!(!stages.escalated());
}

/// C-47: SIGTERM first, and the usual grace is five seconds.
#[test]
fn a_stubborn_agent_is_killed_when_its_grace_is_over_and_not_before() {
    assert_eq!(POLICY.grace, FleetOptions::default().grace);
    let stages = play(
        POLICY,
        &[
            (10, Asked, &[AskGroup]),
            (5_009, Timer, &[]),
            (5_010, Timer, &[KILL]),
            (5_011, LeaderEnded, &[]),
            (5_012, TreeEmpty, &[Sweep, Finish]),
        ],
    );
    assert!(stages.escalated());
}

#[test]
fn a_kind_with_its_own_signal_gets_sigterm_within_the_grace() {
    let policy = Policy { asks_with_term: false, ..POLICY };
    let mut stages = play(policy, &[(0, Asked, &[AskGroup])]);
    assert_eq!(stages.deadline(), Some(at(2_500)));
    assert_eq!(stages.apply(Timer, at(2_500)), [TermGroup]);
    assert_eq!(stages.deadline(), Some(at(5_000)));
    assert_eq!(stages.apply(Timer, at(2_501)), []);
    assert_eq!(stages.apply(Timer, at(5_000)), [KILL]);
}

#[test]
fn asking_twice_kills_at_once() {
    let stages = play(POLICY, &[(0, Asked, &[AskGroup]), (0, Asked, &[KILL]), (1, Asked, &[])]);
    assert!(stages.escalated());
}

#[test]
fn asking_patiently_gives_a_long_grace_and_is_done_once() {
    assert_eq!(POLICY.long_grace, FleetOptions::default().stale_grace);
    let story: &[(u64, StageEvent, &[StageAction])] = &[
        (10, AskedPatiently, &[AskGroup]),
        (20, AskedPatiently, &[]),
        (120_009, Timer, &[]),
        (120_010, Timer, &[KILL]),
    ];
    let stages = play(POLICY, story);
    assert!(stages.escalated());
    assert_eq!(stages.stopped_by(), StoppedBy::Signal);
    // The second signal of a kind with one of its own comes late, so that it is not asked twice at the beginning.
    let policy = Policy { asks_with_term: false, ..POLICY };
    let mut stages = play(policy, &[(0, AskedPatiently, &[AskGroup])]);
    assert_eq!(stages.deadline(), Some(at(117_500)));
    assert_eq!(stages.apply(Timer, at(117_500)), [TermGroup]);
    assert_eq!(stages.deadline(), Some(at(120_000)));
    // One that is stopping already is not given more time.
    play(POLICY, &[(0, Asked, &[AskGroup]), (1, AskedPatiently, &[]), (5_000, Timer, &[KILL])]);
}

#[test]
fn a_stop_cuts_a_long_grace_short_and_a_second_one_kills() {
    for sooner in [Asked, TimedOut, Orphaned] {
        let mut stages = play(POLICY, &[(0, AskedPatiently, &[AskGroup])]);
        assert_eq!(stages.apply(sooner, at(1_000)), [AskGroup], "{sooner:?}");
        assert_eq!(stages.deadline(), Some(at(6_000)));
        assert_eq!(stages.apply(AskedPatiently, at(1_001)), []);
        assert_eq!(stages.apply(Timer, at(6_000)), [KILL]);
    }
    let story: &[(u64, StageEvent, &[StageAction])] =
        &[(0, AskedPatiently, &[AskGroup]), (1_000, Asked, &[AskGroup]), (1_001, Asked, &[KILL])];
    assert!(play(POLICY, story).escalated());
    // It is over when it would have been.
    let mut stages = play(POLICY, &[(0, AskedPatiently, &[AskGroup])]);
    assert_eq!(stages.apply(Asked, at(119_000)), [AskGroup]);
    assert_eq!(stages.deadline(), Some(at(120_000)));
}

#[test]
fn what_is_left_of_an_agent_that_ended_in_its_long_grace_has_the_usual_one() {
    let mut stages =
        play(POLICY, &[(0, AskedPatiently, &[AskGroup]), (1_000, LeaderEnded, &[TermRest])]);
    assert_eq!(stages.deadline(), Some(at(6_000)));
    assert_eq!(stages.apply(Asked, at(1_001)), []);
    assert_eq!(stages.apply(Asked, at(1_002)), [KILL]);
}

#[test]
fn the_rest_of_a_stopped_tree_has_the_rest_of_the_grace() {
    let mut stages = play(POLICY, &[(0, Asked, &[AskGroup]), (3_000, LeaderEnded, &[TermRest])]);
    assert_eq!(stages.deadline(), Some(at(5_000)));
    assert_eq!(stages.apply(LeaderEnded, at(3_001)), []);
    assert_eq!(stages.apply(Timer, at(5_000)), [KILL]);
}

#[test]
fn the_rest_gets_its_sigterm_once_even_when_a_second_signal_was_due() {
    let policy = Policy { asks_with_term: false, ..POLICY };
    play(policy, &[(0, Asked, &[AskGroup]), (100, LeaderEnded, &[TermRest]), (2_500, Timer, &[])]);
}

#[test]
fn leftovers_get_a_second_and_are_then_killed_without_being_called_an_escalation() {
    let mut stages = play(POLICY, &[(100, LeaderEnded, &[TermRest])]);
    assert_eq!(stages.deadline(), Some(at(100) + LEFTOVER_GRACE));
    assert_eq!(stages.apply(Timer, at(1_099)), []);
    assert_eq!(stages.apply(Timer, at(1_100)), [KILL]);
    assert_eq!(stages.apply(TreeEmpty, at(1_101)), [Sweep, Finish]);
    assert!(!stages.escalated());
    assert_eq!(stages.stopped_by(), StoppedBy::None);
}

#[test]
fn asking_during_the_leftovers_kills_them_and_the_agent_still_ended_by_itself() {
    let stages = play(POLICY, &[(0, LeaderEnded, &[TermRest]), (1, Asked, &[KILL])]);
    assert_eq!(stages.stopped_by(), StoppedBy::None);
}

#[test]
fn leftovers_that_may_stay_are_not_waited_for_but_end_with_a_stopped_agent() {
    let policy = Policy { leftovers: Leftovers::Keep, ..POLICY };
    play(policy, &[(0, LeaderEnded, &[Finish]), (1, TreeEmpty, &[]), (2, Asked, &[])]);
    play(policy, &[(0, Asked, &[AskGroup]), (1, LeaderEnded, &[TermRest])]);
}

#[test]
fn a_timeout_stops_like_a_signal_and_is_told_apart() {
    let stages =
        play(POLICY, &[(0, TimedOut, &[AskGroup]), (1, Orphaned, &[]), (5_000, Timer, &[KILL])]);
    assert_eq!(stages.stopped_by(), StoppedBy::Timeout);
    assert!(stages.escalated());
}

#[test]
fn one_signal_does_not_cut_the_grace_that_a_timeout_gave_but_two_do() {
    let stages = play(
        POLICY,
        &[(0, TimedOut, &[AskGroup]), (1, Asked, &[]), (2, TimedOut, &[]), (3, Asked, &[KILL])],
    );
    assert_eq!(stages.stopped_by(), StoppedBy::Timeout);
}

#[test]
fn an_agent_without_a_host_is_stopped_and_a_later_signal_is_not_the_reason() {
    let stages = play(POLICY, &[(0, Orphaned, &[AskGroup]), (1, Asked, &[])]);
    assert_eq!(stages.stopped_by(), StoppedBy::Orphaned);
}

#[test]
fn killing_goes_on_in_rounds_that_freeze_and_slow_down() {
    let mut stages = play(POLICY, &[(0, Asked, &[AskGroup]), (0, Asked, &[KILL])]);
    let mut now = at(0);
    let mut pauses = Vec::new();
    for round in 2..12 {
        let next = stages.deadline().unwrap();
        assert_eq!(stages.apply(Timer, next.saturating_sub(at(1))), [], "round {round} came early");
        pauses.push(next.saturating_sub(now).as_millis());
        now = next;
        assert_eq!(stages.apply(Timer, now), [KillTree { freeze: round > 3 }], "round {round}");
    }
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 640, 640, 640]);
}

#[test]
fn nothing_that_comes_in_any_order_kills_before_it_asks_or_acts_after_the_end() {
    const ALL: [StageEvent; 6] = [Asked, TimedOut, Orphaned, LeaderEnded, TreeEmpty, Timer];
    for leftovers in [Leftovers::End, Leftovers::Keep] {
        for index in 0..6_usize.pow(5) {
            let mut stages = Stages::new(Policy { leftovers, ..POLICY });
            let mut seen = Vec::new();
            let story: Vec<_> =
                (0..5_u32).map(|place| ALL[index / 6_usize.pow(place) % 6]).collect();
            for (step, event) in (0_u64..).zip(&story) {
                let before = seen.len();
                seen.extend(stages.apply(*event, at(step * 3_000)));
                let finished = seen.iter().take(before).any(|action| *action == Finish);
                assert!(!finished || seen.len() == before, "acted after the end: {story:?}");
            }
            let first = seen.iter().find(|action| **action != Sweep);
            assert!(!matches!(first, Some(KillTree { .. })), "killed unasked: {story:?}");
            assert!(seen.iter().filter(|action| **action == AskGroup).count() <= 1, "{story:?}");
            assert!(!stages.escalated() || stages.stopped_by() != StoppedBy::None, "{story:?}");
            if story.contains(&TreeEmpty) {
                assert!(seen.contains(&Finish), "never finished: {story:?}");
            }
        }
    }
}
