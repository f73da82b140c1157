//! Everything that crosses a door or the disk survives its JSON text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::support::*;
use crate::core::*;

/// Sends each value through JSON text; returns the distinct variants (the word before the first bracket).
#[track_caller]
fn survive<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    values: impl IntoIterator<Item = T>,
) -> usize {
    let mut variants = BTreeSet::new();
    for value in values {
        let text = serde_json::to_string(&value).unwrap();
        let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read, value, "{text}");
        assert!(!text.contains('\n'), "one value is one line: {text}");
        let word = format!("{value:?}");
        variants.insert(word.split(['(', ' ']).next().unwrap().to_owned());
    }
    variants.len()
}

fn full_task() -> Task {
    let word = || Some("wörd\n\"quoted\"".to_owned());
    let own = OwnKind {
        adapter: AgentKind("claude".to_owned()),
        program: vec!["npx".to_owned()],
        options: vec!["--flag".to_owned()],
    };
    Task {
        own: Some(Box::new(own)),
        command: Some(vec!["make".to_owned(), "{task}".to_owned()]),
        extra: vec!["--verbose".to_owned()],
        engine: word(),
        tier: word(),
        model: word(),
        max_steps: Some(u32::MAX),
        env_names: vec!["TOKEN".to_owned()],
        env_stored: vec!["KEY".to_owned()],
        timeout: Some(Duration::new(1, 500)),
        idle_timeout: Some(Duration::MAX),
        leftovers: Leftovers::Keep,
        context: word(),
        continues: Some(Continues { agent: A3, session: "s-1".to_owned() }),
        ..budgeted("line one\nline two", NanoUsd::from_nanos(u64::MAX))
    }
}

fn full_options() -> FleetOptions {
    FleetOptions {
        name: Some("nightly".to_owned()),
        max_parallel: None,
        mesh: Some("/mesh".into()),
        deadline: Some(Duration::from_secs(9)),
        orphan_limit: Some(Duration::from_secs(8)),
        on_cap: OnCap::Raise(cents(7)),
        cap: Some(NanoUsd::from_nanos(u64::MAX)),
        prices: BTreeMap::from([("m".to_owned(), Price { input: cents(300), ..Price::default() })]),
        ..FleetOptions::default()
    }
}

fn answers() -> [Answer; 4] {
    [Answer::Raise(cents(3)), Answer::Drop, Answer::Hold, Answer::Stop]
}

#[test]
fn every_command_survives_its_text() {
    let submission = Submission {
        id: batch(1),
        tasks: vec![full_task()],
        origin: Some("session".to_owned()),
        inside: Some("k3f.1/7".to_owned()),
    };
    let directions = [Direction::Up, Direction::Down, Direction::First, Direction::Last];
    let commands = [
        Command::Submit(submission),
        Command::Stop(None),
        Command::Stop(Some(vec![A1])),
        Command::Kill(Some(Vec::new())),
        Command::Remove(A1),
        Command::Edit(A2, Box::new(full_task())),
        Command::Retry(batch(2), vec![A1, A2]),
        Command::Steer(A1, "also\nthis".to_owned(), batch(3)),
        Command::InterruptTurn(A1, None),
        Command::InterruptTurn(A2, Some("go on".to_owned())),
        Command::Hold,
        Command::Release,
        Command::HoldAgents(vec![A1, A2]),
        Command::ReleaseAgents(vec![A2]),
        Command::SetCap(None),
        Command::SetCap(Some(cents(1))),
        Command::Interrupt("SIGTERM".to_owned()),
        Command::Close,
    ];
    let moves = directions.map(|direction| Command::Move(A1, direction));
    let answers = answers().map(|answer| Command::Answer(Q1, answer));
    assert_eq!(survive(commands.into_iter().chain(moves).chain(answers)), 17);
}

#[test]
fn every_reply_survives_its_text() {
    let replies = [
        Reply::Queued(batch(1), vec![A1, A2]),
        Reply::Done(u32::MAX),
        Reply::Told(A2),
        Reply::TurnInterrupted(A2),
        Reply::AlreadyEnded(vec![A3]),
        Reply::AlreadyAnswered("raised to $12.00".to_owned()),
        Reply::Refused(Refusal("no".to_owned())),
    ];
    assert_eq!(survive(replies), 7);
}

#[test]
fn every_row_and_hold_survives_in_a_snapshot() {
    let tasks = vec![full_task(), paid("two"), free("three"), free("four"), free("five")];
    let options = FleetOptions { on_cap: OnCap::Ask, ..full_options() };
    let mut story = Story::new(options);
    story.does(submit(1, tasks));
    let result = AgentResult {
        completed: Some(true),
        answer: Some("done".to_owned()),
        files_changed: vec!["a.py".to_owned()],
        ..AgentResult::default()
    };
    story.does(facts(A1, vec![Fact::Result(result), Fact::Session("s1".to_owned())]));
    story.ends_costing(A1, cents(5));
    story.does(tool(A2, StepState::Start));
    story.does(Event::Exited(A3, 2));
    story.does(gone(A4, 0));
    story.does(stop(AgentId(5)));
    let mut snapshots = vec![story.snapshot()];
    story.does(submit(2, vec![free("six")]));
    story.does(set_cap(Some(cents(1))));
    story.does(submit(3, vec![free("seven")]));
    assert!(story.snapshot().question.is_some());
    snapshots.push(story.snapshot());
    story.does(answer(Q1, Answer::Hold));
    snapshots.push(story.snapshot());
    for event in [
        Event::EnvMissing(batch(3), vec!["KEY".to_owned()]),
        set_cap(None),
        command(Command::Hold),
        interrupt(),
        Event::SaveFailed("no space left".to_owned()),
    ] {
        story.does(event);
        snapshots.push(story.snapshot());
    }
    assert_eq!(survive(snapshots), 1);
}

#[test]
fn every_state_word_survives_its_text() {
    let outcomes = [
        Outcome::Done,
        Outcome::Failed,
        Outcome::Timeout,
        Outcome::Cancelled,
        Outcome::Interrupted,
        Outcome::Stalled,
        Outcome::OverBudget,
        Outcome::Lost,
        Outcome::Dropped,
    ];
    let live =
        [Status::Queued, Status::Starting, Status::Running, Status::Stopping, Status::Ending];
    survive(live.into_iter().chain(outcomes.map(Status::Ended)));
    for outcome in outcomes {
        let text = serde_json::to_string(&outcome).unwrap();
        assert_eq!(text, format!("\"{outcome}\""), "one word everywhere");
    }
    for reason in ExitReason::ALL {
        let text = serde_json::to_string(&reason).unwrap();
        assert_eq!(text, format!("\"{}\"", reason.as_str()));
        assert_eq!(ExitReason::from_word(reason.as_str()), Some(reason));
    }
    let waits = [
        Waits::Next,
        Waits::Slot,
        Waits::Local,
        Waits::Hold,
        Waits::Held,
        Waits::Cap,
        Waits::Reserved,
        Waits::Kind("auth".to_owned()),
        Waits::Env(vec!["KEY".to_owned()]),
        Waits::NotSaved,
        Waits::Ending,
        Waits::Host,
    ];
    assert_eq!(survive(waits.clone()), 12);
    let in_tool =
        Phase::InTool { tool: "bash".to_owned(), text: "ls".to_owned(), since: Moment(5) };
    let phases = [
        Phase::Works,
        Phase::Interrupted(Moment(3)),
        in_tool,
        Phase::Stopping("stopped by the owner".to_owned(), Moment(1)),
        Phase::LeftBehind(2),
        Phase::Reading(u64::MAX),
        Phase::Over,
    ];
    assert_eq!(survive(phases.into_iter().chain(waits.map(Phase::Waits))), 8);
    let holds = [
        Hold::Owner,
        Hold::Back(Moment(5)),
        Hold::Cap,
        Hold::Interrupted("SIGINT".to_owned()),
        Hold::NotSaved("full".to_owned()),
    ];
    assert_eq!(survive(holds), 5);
}

/// One of each reason to stop an agent.
fn stop_reasons() -> [StopReason; 9] {
    [
        StopReason::Owner,
        StopReason::Interrupted("SIGHUP".to_owned()),
        StopReason::Idle(Duration::from_secs(1)),
        StopReason::Deadline,
        StopReason::Budget(cents(1)),
        StopReason::CapHard(cents(2)),
        StopReason::CapStop,
        StopReason::Stalled(Duration::from_secs(3)),
        StopReason::NoProgress(Box::new(Stall {
            quiet: Duration::from_secs(3),
            limit: Duration::from_secs(2),
            tool: Some("bash".to_owned()),
            grace: Duration::from_secs(1),
        })),
    ]
}

fn notice() -> Notice {
    Notice {
        number: 7,
        kind: NoticeKind::Failed,
        at: Moment(1),
        agents: vec![A1],
        more: 3,
        text: "4 failed".to_owned(),
    }
}

#[test]
fn every_record_survives_as_one_line_of_the_journal() {
    let processes = [
        Some(ProcessEnd::Code(-1)),
        Some(ProcessEnd::Signal("SIGSEGV".to_owned())),
        Some(ProcessEnd::NotStarted("no such program".to_owned())),
        Some(ProcessEnd::Lost),
        None,
    ];
    let mut ledger_story = play(options(1, None), vec![submit(1, vec![paid("task")])]).0;
    let usage = Usage { input: u64::MAX, cost: Some(cents(1)), ..Usage::default() };
    ledger_story.does(facts(A1, vec![Fact::Usage { id: Some("m1".to_owned()), usage }]));
    ledger_story.does(tool(A1, StepState::Start));
    let pending =
        PendingText { role: "user".to_owned(), text: "a\n".to_owned(), left_out: u64::MAX };
    let transcript = TranscriptState {
        bytes: u64::MAX,
        pending: Some(pending),
        is_in_key: true,
        is_full: true,
        trouble: Some("disk full".to_owned()),
    };
    ledger_story.does(facts(A1, vec![Fact::Transcript(Box::new(transcript))]));
    ledger_story.ends(A1, 0);
    let work = ledger_story.journal.iter().find_map(|(_, record)| match record.as_ref() {
        Record::Ended(_, _, work) => Some(work.clone()),
        _ => None,
    });
    let work = work.expect("the agent has ended");
    let end = |process| End {
        outcome: Outcome::Failed,
        reason: Some(ExitReason::Error),
        error: "bad \u{1b}[31m".to_owned(),
        truncated: true,
        at: Moment(u64::MAX),
        process,
        run_time: Some(Duration::from_millis(1500)),
        swept: vec!["sleep".to_owned()],
        escalated: true,
        tails: Tails { out_line: Some("x".to_owned()), out_bytes: 3, ..Tails::default() },
    };
    let task = std::sync::Arc::new(full_task());
    let origin = Some("session".to_owned());
    let mut records = vec![
        Record::Created(full_options()),
        Record::Options(FleetOptions::default()),
        Record::Queued {
            batch: batch(1),
            origin,
            inside: Some("k3f.1/7".to_owned()),
            first: A1,
            tasks: vec![task.clone()],
        },
        Record::Retried { of: A1, id: A2 },
        Record::Dispatched(A1),
        Record::Requeued(A1),
        Record::Told(A1, "more".to_owned()),
        Record::NotTold(A1, "more".to_owned()),
        Record::TurnInterrupted(A1, None),
        Record::TurnInterrupted(A1, Some("more".to_owned())),
        Record::TurnNotInterrupted(A1, None),
        Record::Checkpoint(A1, work.clone()),
        Record::Cap(None),
        Record::Cap(Some(cents(1))),
        Record::Asked(Q1),
        Record::Withdrawn(Q2),
        Record::Held,
        Record::HeldBack(Moment(5)),
        Record::Released,
        Record::AgentsHeld(vec![A1, A2]),
        Record::AgentsReleased(vec![A2]),
        Record::KindHeld("claude".to_owned(), "auth".to_owned()),
        Record::Order(vec![A3, A2]),
        Record::Edited(A1, task),
        Record::Interrupted("SIGINT".to_owned()),
        Record::Deadline,
        Record::Resumed,
        Record::Closed,
        Record::Noticed(notice()),
    ];
    records.extend(stop_reasons().map(|reason| Record::Stopped(A1, reason)));
    records.extend(processes.map(|end_| Record::Ended(A1, Box::new(end(end_)), work.clone())));
    records.extend(answers().map(|answer| Record::Answered(Q1, answer)));
    assert_eq!(survive(records), 30);
}
