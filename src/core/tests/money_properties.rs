//! Properties of money over random fleets and random events, absurd numbers included.
//!
//! What may go here: generators and what holds for all of them. The promises of `promises` are checked on the way.

use std::time::Duration;

use proptest::prelude::*;

use super::promises::Watch;
use super::support::*;
use crate::core::*;

/// Most agents of a random fleet.
const AGENTS: u32 = 6;

fn money() -> impl Strategy<Value = NanoUsd> {
    prop_oneof![
        8 => (0_u64..300).prop_map(cents),
        1 => any::<u64>().prop_map(NanoUsd::from_nanos),
        1 => Just(NanoUsd::from_nanos(u64::MAX)),
        1 => Just(NanoUsd::ZERO),
    ]
}

fn task() -> impl Strategy<Value = Task> {
    let kind = prop_oneof![Just(free("free")), Just(paid("paid")), Just(engine("ollama"))];
    (kind, proptest::option::of(money()), proptest::option::of(1_u64..900)).prop_map(
        |(task, budget, idle)| Task { budget, idle_timeout: idle.map(Duration::from_secs), ..task },
    )
}

fn on_cap() -> impl Strategy<Value = OnCap> {
    prop_oneof![
        4 => Just(OnCap::Ask),
        1 => Just(OnCap::Drop),
        1 => Just(OnCap::Hold),
        1 => money().prop_map(OnCap::Raise),
    ]
}

fn fleet() -> impl Strategy<Value = (FleetOptions, Vec<Task>)> {
    let tasks = proptest::collection::vec(task(), 1..=AGENTS as usize);
    let options = (
        proptest::option::weighted(0.8, money()),
        proptest::option::of(0_u32..4),
        money(),
        on_cap(),
        any::<bool>(),
    );
    (options, tasks).prop_map(|((cap, max_parallel, assume_cost, on_cap, cap_hard), tasks)| {
        let options = FleetOptions {
            cap,
            max_parallel,
            assume_cost,
            on_cap,
            cap_hard,
            stale_stop: true,
            deadline: Some(Duration::from_hours(2)),
            ..FleetOptions::default()
        };
        (options, tasks)
    })
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        4 => money().prop_map(Answer::Raise),
        1 => Just(Answer::Drop),
        1 => Just(Answer::Hold),
        1 => Just(Answer::Stop),
    ]
}

fn usage() -> impl Strategy<Value = Fact> {
    let id = proptest::option::of((0_u8..3).prop_map(|id| format!("m{id}")));
    let tokens = prop_oneof![0_u64..1_000, Just(u64::MAX)];
    (id, tokens, proptest::option::of(money())).prop_map(|(id, output, cost)| Fact::Usage {
        id,
        usage: Usage { output, cost, ..Usage::default() },
    })
}

fn ended() -> impl Strategy<Value = ProcessEnd> {
    prop_oneof![
        4 => Just(ProcessEnd::Code(0)),
        2 => Just(ProcessEnd::Code(1)),
        1 => Just(ProcessEnd::Lost),
        1 => Just(ProcessEnd::NotStarted("no such program".to_owned())),
    ]
}

/// What can happen, most of it to one agent; with the seconds that pass before.
fn event() -> impl Strategy<Value = (u64, Event)> {
    let id = || (1_u32..=AGENTS).prop_map(AgentId);
    let question = (1_u32..4).prop_map(QuestionId);
    let auth = AgentResult { reason: Some(ExitReason::Auth), ..AgentResult::default() };
    let life = prop_oneof![
        3 => id().prop_map(Event::Started),
        1 => id().prop_map(Event::NeverBegan),
        1 => id().prop_map(|id| Event::Exited(id, 1)),
        6 => (id(), money()).prop_map(|(id, total)| costs(id, total)),
        4 => (id(), usage()).prop_map(|(id, usage)| facts(id, vec![usage])),
        1 => id().prop_map(move |id| facts(id, vec![Fact::Result(auth.clone())])),
        5 => (id(), ended()).prop_map(|(id, end)| Event::TreeGone(id, tree(end))),
        6 => id().prop_map(scanned),
    ];
    let owner = prop_oneof![
        4 => (question, answers()).prop_map(|(id, how)| answer(id, how)),
        3 => proptest::option::of(money()).prop_map(set_cap),
        1 => id().prop_map(stop),
        1 => Just(stop_all()),
        1 => Just(command(Command::Hold)),
        2 => Just(command(Command::HoldAgents(vec![A2, A4]))),
        2 => Just(command(Command::ReleaseAgents(vec![A2, A4]))),
        2 => Just(command(Command::Release)),
        1 => (10_u32..14, id()).prop_map(|(name, id)| command(Command::Retry(batch(name), vec![id]))),
        1 => (2_u32..5, task()).prop_map(|(name, task)| submit(name, vec![task])),
        1 => (id(), task()).prop_map(|(id, task)| command(Command::Edit(id, Box::new(task)))),
        1 => Just(Event::SaveFailed("no space left".to_owned())),
        1 => Just(Event::Saved),
        1 => Just(interrupt()),
        2 => Just(Event::Tick),
    ];
    (prop_oneof![4 => Just(0), 1 => 0_u64..1_000], prop_oneof![3 => life, 2 => owner])
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    proptest::collection::vec(event(), 0..60)
}

/// Plays a random life under the promises; returns it.
fn live(options: FleetOptions, tasks: Vec<Task>, events: Vec<(u64, Event)>) -> (Watch, Story) {
    let (mut watch, mut story) = (Watch::default(), Story::new(options));
    watch.step(&mut story, submit(1, tasks));
    for (seconds, event) in events {
        story.wait(Duration::from_secs(seconds));
        watch.step(&mut story, event);
    }
    (watch, story)
}

/// Fewer cases than usual, since each is a whole life; and nothing is written beside the sources.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_promise_holds_in_every_life((options, tasks) in fleet(), events in events()) {
        live(options, tasks, events);
    }

    #[test]
    fn a_refused_answer_or_cap_changes_nothing(
        (options, tasks) in fleet(),
        events in events(),
        (how, cap) in (answers(), money()),
    ) {
        let (_, mut story) = live(options, tasks, events);
        let before = story.snapshot();
        let id = before.question.as_ref().map_or(Q1, |question| question.id);
        for attempt in [answer(id, how), set_cap(Some(cap))] {
            let mut copy = story.clone();
            let reply = copy.asks(attempt);
            if matches!(reply, Reply::Refused(_) | Reply::AlreadyAnswered(_)) {
                let after = Snapshot { revision: before.revision, ..copy.snapshot() };
                prop_assert_eq!(&after, &before);
                prop_assert_eq!(copy.journal.len(), story.journal.len());
            } else if let (Answer::Raise(cap), Some(question)) = (how, &before.question) {
                prop_assert!(cap > question.committed || copy.snapshot().header.cap != Some(cap));
            }
        }
    }

    #[test]
    fn the_first_answer_wins_and_the_second_hears_of_it(
        (options, tasks) in fleet(),
        events in events(),
        (first, second) in (answers(), answers()),
    ) {
        let (mut watch, mut story) = live(options, tasks, events);
        let Some(question) = story.snapshot().question else { return Ok(()) };
        if matches!(story.clone().asks(answer(question.id, first)), Reply::Refused(_)) {
            return Ok(());
        }
        watch.step(&mut story, answer(question.id, first));
        let reply = story.asks(answer(question.id, second));
        let Reply::AlreadyAnswered(how) = reply else { panic!("{reply:?} to a second answer") };
        let word = match first {
            Answer::Raise(cap) => cap.to_exact(),
            Answer::Drop => "dropped".to_owned(),
            Answer::Hold => "held".to_owned(),
            Answer::Stop => "stopped".to_owned(),
        };
        prop_assert!(how.contains(&word), "{}", how);
    }

    #[test]
    fn dropping_leaves_what_is_held_alone_and_stopping_leaves_nothing(
        (options, tasks) in fleet(),
        events in events(),
        stop in any::<bool>(),
    ) {
        let (mut watch, mut story) = live(options, tasks, events);
        let Some(question) = story.snapshot().question else { return Ok(()) };
        let held = story.snapshot().held_agents();
        let how = if stop { Answer::Stop } else { Answer::Drop };
        let effects = watch.step(&mut story, answer(question.id, how));
        let snapshot = story.snapshot();
        prop_assert_eq!(snapshot.queue, if stop { Vec::new() } else { held });
        prop_assert_eq!(snapshot.question, None);
        prop_assert_eq!(spawned(&effects), []);
        let unstopped = snapshot.rows.iter().filter(|row| {
            matches!(row.status, Status::Starting | Status::Running)
        });
        prop_assert!(!stop || unstopped.count() == 0);
    }

    #[test]
    fn a_cap_of_zero_asks_before_the_first_agent_whatever_the_tasks(
        (options, tasks) in fleet(),
    ) {
        let options = FleetOptions { cap: Some(NanoUsd::ZERO), on_cap: OnCap::Ask, ..options };
        let (_, mut story) = live(options, tasks, Vec::new());
        let snapshot = story.snapshot();
        prop_assert_eq!(snapshot.question.map(|question| question.id), Some(Q1));
        prop_assert_eq!(snapshot.header.kpis.running, 0);
    }

    #[test]
    fn without_a_cap_nothing_is_asked_and_nothing_waits_for_money(
        (options, tasks) in fleet(),
        events in events(),
    ) {
        let options = FleetOptions { cap: None, ..options };
        let events = events.into_iter().filter(|(_, event)| {
            !matches!(event, Event::Command { command: Command::SetCap(_), .. })
        });
        let (_, mut story) = live(options, tasks, events.collect());
        let snapshot = story.snapshot();
        prop_assert!(snapshot.question.is_none());
        for row in &snapshot.rows {
            let money = matches!(row.phase, Phase::Waits(Waits::Cap | Waits::Reserved));
            prop_assert!(!money, "{:?}", row);
        }
    }

    #[test]
    fn a_mean_is_never_less_than_its_share_and_never_more_than_the_sum(
        sum in any::<u64>(),
        count in any::<u64>(),
    ) {
        let mean = NanoUsd::from_nanos(sum).div_ceil(count);
        let exact = u128::from(sum).div_ceil(u128::from(count.max(1)));
        prop_assert_eq!(u128::from(mean.as_nanos()), exact);
        let default = NanoUsd::from_nanos(sum).round_up_to_cent_plus(NanoUsd::from_nanos(count));
        prop_assert!(default.as_nanos() >= sum);
    }
}
