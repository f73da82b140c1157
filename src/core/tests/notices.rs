//! Stories about notices: what people hear of, once, and how much of it together.

use std::time::Duration;

use super::support::*;
use crate::core::*;

const SECOND: Duration = Duration::from_secs(1);

/// A story in which notices are told.
fn noticed(options: FleetOptions, events: Vec<Event>) -> Story {
    let mut story = Story::new(options);
    story.fleet.open_notices();
    for event in events {
        story.apply(event);
    }
    story
}

fn told(effects: &[Effect]) -> Vec<Notice> {
    let notice = |effect: &Effect| match effect {
        Effect::Notify(notice) => Some(notice.clone()),
        Effect::Record(_)
        | Effect::Spawn(_)
        | Effect::Stop(..)
        | Effect::Tell(..)
        | Effect::CloseInput(_)
        | Effect::Reply(..)
        | Effect::Forget(_) => None,
    };
    effects.iter().filter_map(notice).collect()
}

fn kinds(effects: &[Effect]) -> Vec<NoticeKind> {
    told(effects).iter().map(|notice| notice.kind).collect()
}

/// Goes to the moment at which the fleet wants to be woken.
#[track_caller]
fn wake(story: &mut Story) -> Vec<Effect> {
    let next = story.fleet.next_tick().expect("it wants to be woken");
    story.now = story.now.max(next);
    story.does(Event::Tick)
}

/// Lets time pass until something is told.
#[track_caller]
fn hear(story: &mut Story) -> Vec<Notice> {
    for _ in 0..100 {
        let notices = told(&wake(story));
        if !notices.is_empty() {
            return notices;
        }
    }
    panic!("nothing is told");
}

fn tasks(count: usize) -> Vec<Task> {
    (1..=count).map(|number| free(&format!("task {number}"))).collect()
}

#[test]
fn forty_failures_at_once_are_one_notice_and_the_first_says_why() {
    let mut story = noticed(options(50, None), vec![submit(1, tasks(41))]);
    for id in 2..=41 {
        assert_eq!(kinds(&story.ends(AgentId(id), 3)), []);
    }
    let notices = hear(&mut story);
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!((notice.kind, notice.number), (NoticeKind::Failed, 1));
    assert_eq!(notice.text, "40 failed: #2, #3, #4, #5, #6 and 35 more; #2: exit code 3");
    assert_eq!((notice.agents.len(), notice.more), (32, 8));
    assert_eq!(story.fleet.next_tick(), None);
    assert_eq!(story.snapshot().header.notices, notices, "doors see it as well");
}

#[test]
fn what_fails_soon_after_a_notice_is_told_with_the_next_one_and_what_fails_later_at_once() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(9))]);
    story.ends(A1, 1);
    let first = wake(&mut story);
    assert_eq!(told(&first)[0].text, "#1 failed: exit code 1 · task 1");
    let begun = story.now;
    for id in [2, 3] {
        story.wait(SECOND * 3);
        assert_eq!(kinds(&story.ends(AgentId(id), 1)), []);
    }
    let second = wake(&mut story);
    assert_eq!(told(&second)[0].agents, [A2, A3]);
    assert_eq!(story.now.since(begun), SECOND * 30);
    story.wait(SECOND * 100).ends(A4, 1);
    let before = story.now;
    assert_eq!(hear(&mut story)[0].agents, [A4]);
    assert_eq!(story.now.since(before), SECOND * 2);
}

#[test]
fn every_bad_end_is_told_and_no_end_that_the_owner_wanted() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(6))]);
    story.ends(A1, 0);
    story.does(stop(A2));
    story.ends(A2, 143);
    let timed_out = TreeEnd { timed_out: true, ..tree(ProcessEnd::Code(143)) };
    for (id, end) in [(A3, timed_out), (A4, tree(ProcessEnd::Lost))] {
        story.does(Event::TreeGone(id, end));
        story.does(scanned(id));
    }
    let notices = hear(&mut story);
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].agents, [A3, A4]);
    for (outcome, words) in [
        (
            Event::TreeGone(AgentId(5), TreeEnd { timed_out: true, ..tree(ProcessEnd::Code(1)) }),
            "#5 ran out of time: ",
        ),
        (Event::TreeGone(AgentId(6), tree(ProcessEnd::Lost)), "#6 is lost: "),
    ] {
        let mut story = story.clone();
        story.does(outcome);
        story.does(scanned(AgentId(5)));
        story.does(scanned(AgentId(6)));
        let notices = hear(&mut story);
        assert!(notices[0].text.starts_with(words), "{notices:?}");
    }
}

#[test]
fn the_end_of_all_is_told_once_together_with_what_went_wrong_before_it() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(3))]);
    assert_eq!(kinds(&story.ends_costing(A1, cents(150))), []);
    assert_eq!(kinds(&story.ends(A2, 7)), []);
    let notices = told(&story.ends(A3, 0));
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert_eq!(notices[0].kind, NoticeKind::Failed);
    let end = &notices[1];
    assert_eq!((end.kind, end.number), (NoticeKind::Done, 2));
    assert_eq!(end.text, "all 3 agents have ended, 1 not done: #2 · $1.50");
    assert_eq!(end.agents, [A2]);
    assert_eq!(story.fleet.next_tick(), None);
    assert_eq!(story.tick_after(SECOND * 600), []);
    story.does(submit(2, tasks(1)));
    let again = told(&story.ends(A4, 0));
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0].text, "all 4 agents have ended, 1 not done: #2 · $1.50");
    let mut one = noticed(options(1, None), vec![submit(1, tasks(1))]);
    assert_eq!(told(&one.ends(A1, 0))[0].text, "the agent is done");
    let mut unknown = noticed(options(2, None), vec![submit(1, vec![paid("a"), paid("b")])]);
    unknown.ends_costing(A1, cents(5));
    let text = &told(&unknown.ends(A2, 0))[0].text;
    assert_eq!(text, "all 2 agents are done · $0.05 and 1 of unknown cost");
}

#[test]
fn who_stops_the_last_agent_need_not_hear_that_all_have_ended() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(2))]);
    story.ends(A1, 0);
    story.does(stop(A2));
    assert_eq!(kinds(&story.ends(A2, 143)), []);
    let mut story = noticed(options(1, None), vec![submit(1, tasks(2)), interrupt()]);
    assert_eq!(kinds(&story.ends(A1, 130)), []);
    let mut story = noticed(options(1, Some(cents(100))), vec![submit(1, tasks(2))]);
    story.ends_costing(A1, cents(120));
    assert_eq!(kinds(&story.does(answer(Q1, Answer::Drop))), []);
    let drop = FleetOptions { on_cap: OnCap::Drop, ..options(1, Some(cents(100))) };
    let mut story = noticed(drop, vec![submit(1, tasks(2))]);
    let effects = story.ends_costing(A1, cents(120));
    assert_eq!(kinds(&effects), [NoticeKind::Cap, NoticeKind::Done], "nobody said so");
}

#[test]
fn the_cap_is_told_when_it_is_reached_with_work_queued_whoever_decides_then() {
    let with = |on_cap| {
        let options = FleetOptions { on_cap, ..options(1, Some(cents(100))) };
        let mut story = noticed(options, vec![submit(1, tasks(3))]);
        let effects = story.ends_costing(A1, cents(120));
        (story, told(&effects).first().cloned().expect("a notice"))
    };
    let (mut story, notice) = with(OnCap::Ask);
    assert_eq!(notice.kind, NoticeKind::Cap);
    let question = "the cap of $1.00 is reached ($1.20 spent), 2 tasks wait: raise it, drop them, or keep holding";
    assert_eq!(notice.text, question);
    assert_eq!(kinds(&story.tick_after(SECOND * 600)), []);
    assert_eq!(kinds(&story.does(answer(Q1, Answer::Raise(cents(150))))), [NoticeKind::NearCap]);
    assert_eq!(kinds(&story.ends_costing(A2, cents(50))), [NoticeKind::Cap], "the next question");
    let (_, notice) = with(OnCap::Hold);
    let waits = "the cap of $1.00 is reached ($1.20 spent), 2 tasks wait for a higher one";
    assert_eq!(notice.text, waits);
    let (_, notice) = with(OnCap::Drop);
    assert_eq!(notice.text, "the cap was reached ($1.20 spent): the queue was dropped");
    let (_, notice) = with(OnCap::Raise(cents(500)));
    assert_eq!(notice.text, "the cap was reached ($1.20 spent): raised to $5.00");
    let mut nothing_queued = noticed(options(1, Some(cents(100))), vec![submit(1, tasks(1))]);
    assert_eq!(kinds(&nothing_queued.ends_costing(A1, cents(120))), [NoticeKind::Done]);
}

#[test]
fn an_agent_that_is_marked_is_told_once_and_again_only_after_it_has_got_on() {
    let stale = FleetOptions { stale: SECOND * 60, ..options(9, None) };
    let mut story = noticed(stale, vec![submit(1, tasks(1)), Event::Started(A1)]);
    assert_eq!(kinds(&wake(&mut story)), []);
    assert!(story.row(A1).stalled);
    let notices = hear(&mut story);
    assert_eq!(notices[0].kind, NoticeKind::Stalled);
    assert_eq!(notices[0].text, "#1 may be stalled: no progress for 1m 2s · task 1");
    assert_eq!(story.tick_after(SECOND * 3600), []);
    story.does(Event::Progress(A1));
    assert_eq!(kinds(&story.tick_after(SECOND * 60)), []);
    assert_eq!(hear(&mut story)[0].kind, NoticeKind::Stalled);
    story.does(Event::Progress(A1));
    let before = story.now;
    story.tick_after(SECOND * 60);
    assert_eq!(hear(&mut story)[0].kind, NoticeKind::Stalled);
    assert_eq!(story.now.since(before), SECOND * 300, "marks may come and go");
}

#[test]
fn a_mark_that_is_gone_before_anybody_heard_of_it_is_not_told() {
    let stale = FleetOptions { stale: SECOND * 60, ..options(9, None) };
    let mut story = noticed(stale, vec![submit(1, tasks(2)), Event::Started(A1)]);
    story.does(Event::Started(A2));
    story.tick_after(SECOND * 60);
    story.wait(SECOND).does(Event::Progress(A1));
    let notices = hear(&mut story);
    assert_eq!(notices[0].agents, [A2]);
    let retry = |times: u32| {
        let retry = Retry { cause: format!("401, {times}"), ..Retry::default() };
        facts(A1, vec![Fact::Retry(retry)])
    };
    for times in 1..=12 {
        story.wait(SECOND).does(retry(times));
    }
    assert!(story.row(A1).doubt.is_some());
    let text = hear(&mut story)[0].text.clone();
    assert!(text.starts_with("#1 may be running away: "), "{text}");
    assert!(text.contains("retries, the last: 401, "), "{text}");
}

#[test]
fn a_held_kind_and_a_journal_that_cannot_be_written_are_told_at_once() {
    let mut story = noticed(options(9, None), vec![submit(1, vec![paid("task"); 4])]);
    for id in [A1, A2] {
        assert_eq!(kinds(&story.fails_with(id, ExitReason::Auth)), []);
    }
    let held = told(&story.fails_with(A3, ExitReason::Auth));
    assert_eq!(held[0].kind, NoticeKind::Held);
    assert_eq!(held[0].text, "claude is held: 3 agents in a row ended with auth");
    let unsaved = || Event::SaveFailed("no space left\non the disk".to_owned());
    let effects = story.apply(unsaved());
    assert_eq!(told(&effects)[0].text, "not saved, so nothing more starts: no space left");
    let records = effects.iter().filter(|effect| matches!(effect, Effect::Record(_)));
    assert_eq!(records.count(), 0, "there is nowhere to write it");
    assert_eq!(kinds(&story.does(unsaved())), []);
    story.does(Event::Saved);
    assert_eq!(kinds(&story.does(unsaved())), [], "that is soon after the first");
    story.wait(SECOND * 30);
    assert!(kinds(&story.does(Event::Tick)).contains(&NoticeKind::NotSaved));
}

/// What the next host makes of it.
fn next_host(story: &Story, span: Duration) -> Story {
    let mut next = story.restored();
    next.wait(span);
    next.fleet.carry_on(next.now);
    next
}

#[test]
fn the_next_host_tells_nothing_again_and_what_happened_without_one_once() {
    let asks = options(9, Some(cents(100)));
    let stale = FleetOptions { stale: SECOND * 60, ..asks };
    let mut story = noticed(stale, vec![submit(1, tasks(3)), Event::Started(A1)]);
    story.ends(A2, 1);
    story.tick_after(SECOND * 60);
    assert_eq!(kinds(&story.tick_after(SECOND * 2)), [NoticeKind::Stalled]);
    assert_eq!(story.snapshot().header.notices.len(), 2);
    let sign = story.row(A1).progress;
    let mut next = next_host(&story, SECOND * 1000);
    drop(next.fleet.observe(next.now, Event::Adopted(A1, sign)));
    for event in [gone(A3, 9), scanned(A3)] {
        let effects = next.fleet.observe(next.now, event);
        assert_eq!(kinds(&effects), [], "not before all is known");
    }
    next.fleet.open_notices();
    let mut effects = next.fleet.settle_resumed(next.now);
    while let Some(due) = next.fleet.next_tick().filter(|_| effects.len() < 100) {
        next.now = next.now.max(due);
        effects.extend(next.fleet.apply(next.now, Event::Tick));
    }
    let notices = told(&effects);
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!((notices[0].number, notices[0].agents.as_slice()), (3, &[A3][..]));
    assert!(next.row(A1).stalled, "it is marked again, of which everybody has heard");
}

#[test]
fn the_next_host_does_not_tell_the_end_of_all_or_the_cap_again() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(2))]);
    story.ends(A1, 0);
    story.ends(A2, 1);
    let mut next = next_host(&story, SECOND * 1000);
    next.fleet.open_notices();
    assert_eq!(kinds(&next.fleet.settle_resumed(next.now)), []);
    let mut story = noticed(options(1, Some(cents(100))), vec![submit(1, tasks(2))]);
    assert_eq!(kinds(&story.ends_costing(A1, cents(120))), [NoticeKind::Cap]);
    let mut next = next_host(&story, SECOND * 1000);
    next.fleet.open_notices();
    assert_eq!(kinds(&next.fleet.settle_resumed(next.now)), []);
    assert!(next.snapshot().question.is_some());
}

#[test]
fn without_somebody_who_passes_them_on_notices_wait() {
    let (mut story, effects) = play(options(9, None), vec![submit(1, tasks(1))]);
    assert_eq!(kinds(&effects), []);
    assert_eq!(kinds(&story.ends(A1, 1)), []);
    assert_eq!(story.fleet.next_tick(), None);
    story.fleet.open_notices();
    let effects = story.does(Event::Tick);
    assert_eq!(kinds(&effects), [NoticeKind::Failed, NoticeKind::Done]);
}

#[test]
fn a_host_that_ends_tells_what_waits_for_more_of_its_kind() {
    let mut story = noticed(options(9, None), vec![submit(1, tasks(2))]);
    story.ends(A1, 1);
    let effects = story.fleet.last_notices(story.now);
    assert_eq!(kinds(&effects), [NoticeKind::Failed]);
    assert_eq!(kinds(&story.fleet.last_notices(story.now)), []);
}

#[test]
fn only_the_newest_notices_are_shown() {
    let mut story = noticed(options(1, None), Vec::new());
    for number in 1..=20 {
        story.does(submit(number, tasks(1)));
        story.ends(AgentId(number), 0);
    }
    let shown = story.snapshot().header.notices;
    assert_eq!(shown.len(), 8);
    assert_eq!(shown.last().map(|notice| notice.number), Some(20));
    let replayed = story.restored().snapshot().header.notices;
    assert_eq!(replayed, shown, "all of it is in the journal");
}
