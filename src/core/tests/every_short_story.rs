//! Walks every sequence of five events from a small alphabet and checks the promises after each event.
//!
//! What may go here: alphabets and the walk. What may not: a promise of its own; those are in `promises`.

use std::sync::Arc;
use std::time::Duration;

use super::promises::Watch;
use super::support::*;
use crate::core::*;

/// Length of the stories.
const LENGTH: usize = 5;

/// One letter: an event, or two that come together, after some time.
type Letter = fn(&mut Story) -> Vec<Event>;

/// What an agent does from its start to its end, and the answers to the cap question.
const LIVES: [Letter; 12] = [
    |_| vec![Event::Started(A1)],
    |_| vec![Event::NeverBegan(A1)],
    |_| vec![costs(A1, cents(30))],
    |_| vec![gone(A1, 0)],
    |_| vec![scanned(A1)],
    |story| {
        story.wait(Duration::from_secs(6));
        vec![costs(A2, cents(120))]
    },
    |_| vec![gone(A2, 0), scanned(A2)],
    |_| vec![Event::Exited(A3, 2), gone(A3, 1), scanned(A3)],
    |_| vec![stop_all()],
    |_| vec![interrupt()],
    |_| vec![answer(Q1, Answer::Raise(cents(200)))],
    |_| vec![answer(Q1, Answer::Drop)],
];

/// What owners do to a queue, and what time and the disk do to a fleet.
const QUEUES: [Letter; 14] = [
    |_| vec![command(Command::Hold)],
    |_| vec![command(Command::Release)],
    |_| vec![command(Command::HoldAgents(vec![A2, A3]))],
    |_| vec![command(Command::ReleaseAgents(vec![A3]))],
    |_| vec![command(Command::Move(A3, Direction::First))],
    |_| vec![command(Command::Edit(A3, Box::new(paid("edited"))))],
    |_| vec![command(Command::Retry(batch(2), vec![A1]))],
    |_| vec![set_cap(None)],
    |_| vec![set_cap(Some(cents(10)))],
    |story| {
        story.wait(Duration::from_mins(10));
        vec![Event::Tick]
    },
    |_| vec![Event::EnvMissing(batch(1), vec!["OPENAI_API_KEY".to_owned()])],
    |_| vec![Event::SaveFailed("no space left".to_owned())],
    |_| vec![Event::Saved],
    |_| vec![costs(A1, cents(12)), gone(A1, 0), scanned(A1)],
];

/// Three agents, two slots: one with a budget, one that pays, one that does not.
fn three(options: FleetOptions) -> (Watch, Story) {
    let mut watch = Watch::default();
    let mut story = Story::new(options);
    let tasks = vec![budgeted("one", cents(25)), paid("two"), free("three")];
    watch.step(&mut story, submit(1, tasks));
    (watch, story)
}

/// Plays every sequence that begins with what has been played; returns how many events that took. A letter that
/// changes nothing is played and not followed: the story without it has the same moments and is shorter.
fn walk(letters: &[Letter], watch: &Watch, story: &mut Story, left: usize) -> u64 {
    if left == 0 {
        return 0;
    }
    let before = story.snapshot();
    let mut played = 0;
    for letter in letters {
        let (mut watch, mut story) = (watch.clone(), story.clone());
        let told = story.journal.len();
        let env_missing = story.fleet.env_missing.clone();
        for event in letter(&mut story) {
            watch.step(&mut story, event);
            played += 1;
        }
        let is_news = story.journal.len() > told
            || story.fleet.env_missing != env_missing
            || has_changed(&before, &story.snapshot());
        if is_news {
            played += walk(letters, &watch, &mut story, left - 1);
        }
    }
    played
}

/// Says whether anything that can be seen has changed, time included.
fn has_changed(before: &Snapshot, after: &Snapshot) -> bool {
    let rows = || before.rows.iter().zip(&after.rows);
    before.at != after.at
        || before.header != after.header
        || before.rows.len() != after.rows.len()
        || rows().any(|(before, after)| !Arc::ptr_eq(before, after))
        || (&before.queue, &before.question) != (&after.queue, &after.question)
}

#[test]
fn every_short_story_of_three_agents_keeps_the_promises() {
    let (watch, mut story) = three(options(2, Some(cents(100))));
    let played = walk(&LIVES, &watch, &mut story, LENGTH);
    assert!(played > 30_000, "{played}");
}

#[test]
fn every_short_story_of_a_queue_keeps_the_promises() {
    let deadline = Some(Duration::from_mins(15));
    let (watch, mut story) = three(FleetOptions { deadline, ..options(2, Some(cents(100))) });
    let played = walk(&QUEUES, &watch, &mut story, LENGTH);
    assert!(played > 80_000, "{played}");
}
