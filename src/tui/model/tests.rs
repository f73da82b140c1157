//! The screen as a whole: where keys, pastes and clicks go, leaving, what happens when the host goes.

mod answers;
mod replay;
mod submissions;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::*;
use crate::core::Command;
use crate::core::testing::{end, row, snapshot};
use crate::core::{
    AgentId, Header, NanoUsd, Notice, NoticeKind, Outcome, Question, Refusal, Reply, Row, Status,
};
use crate::runtime::{Gone, channel};
use crate::tui::message::Asked;
use crate::tui::session::Left;
use crate::tui::testing::{NOW, frame, model};

/// Presses a key, as somebody does who has seen the last frame.
fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    model.drawn();
    model.update(model.world.now, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn control(model: &mut Model, character: char) -> Vec<Request> {
    model.drawn();
    let key = KeyEvent::new(KeyCode::Char(character), KeyModifiers::CONTROL);
    model.update(model.world.now, Message::Key(key))
}

fn type_text(model: &mut Model, text: &str) {
    for character in text.chars() {
        let requests = press(model, KeyCode::Char(character));
        assert!(requests.iter().all(|request| matches!(request, Request::Tail(_))), "{requests:?}");
    }
}

fn mouse(model: &mut Model, kind: MouseEventKind, column: u16, row: u16) -> Vec<Request> {
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    model.update(model.world.now, Message::Mouse(event))
}

fn running() -> Vec<Row> {
    vec![row(1), row(2)]
}

fn ended() -> Vec<Row> {
    vec![end(row(1), Outcome::Done, ""), end(row(2), Outcome::Failed, "exit code 1")]
}

fn left(requests: &[Request]) -> Option<Left> {
    requests.iter().find_map(|request| match request {
        Request::Leave(left) => Some(*left),
        _ => None,
    })
}

fn submitted(requests: &[Request]) -> Option<crate::core::BatchId> {
    requests.iter().find_map(|request| match request {
        Request::Submit(submission, ..) => Some(submission.id.clone()),
        _ => None,
    })
}

fn asking() -> Snapshot {
    let mut queued = row(3);
    queued.status = Status::Queued;
    let mut asking = snapshot(2, vec![row(1), row(2), queued]);
    asking.header.cap = Some(NanoUsd::from_dollars(2));
    asking.question = Some(Question {
        id: QuestionId(1),
        asked: NOW,
        cap: NanoUsd::from_dollars(2),
        committed: NanoUsd::from_dollars(2),
        default: NanoUsd::from_dollars(3),
        queued: 1,
        queue_estimate: None,
    });
    asking
}

#[test]
fn tab_goes_round_the_panes_and_zoom_gives_one_the_screen() {
    let mut model = model(snapshot(1, running()), 120, 40);
    assert_eq!(model.world.focus, Focus::Editor);
    for focus in [Focus::Agents, Focus::Tail, Focus::Editor, Focus::Agents] {
        press(&mut model, KeyCode::Tab);
        assert_eq!(model.world.focus, focus);
    }
    press(&mut model, KeyCode::Char('z'));
    assert_eq!(model.world.panes.tail.area(), 0);
    press(&mut model, KeyCode::Char('z'));
    assert_ne!(model.world.panes.tail.area(), 0);
}

#[test]
fn a_paste_over_the_table_is_typed_into_the_editor_and_presses_no_key() {
    let mut model = model(snapshot(1, running()), 120, 40);
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.world.focus, Focus::Agents);
    let requests = model.update(NOW, Message::Paste("xXq\nr".to_owned()));
    assert!(requests.iter().all(|request| matches!(request, Request::Tail(_))), "{requests:?}");
    assert_eq!(model.world.focus, Focus::Editor);
    assert_eq!(model.editor.draft(), "xXq\nr");
    assert!(model.modal.is_none());
}

#[test]
fn quitting_asks_only_if_something_lives_or_waits() {
    let mut over = model(snapshot(1, ended()), 80, 24);
    press(&mut over, KeyCode::Esc);
    assert_eq!(left(&press(&mut over, KeyCode::Char('q'))), Some(Left::Detached));
    let mut alive = model(snapshot(1, running()), 80, 24);
    assert_eq!(left(&control(&mut alive, 'c')), None);
    assert_eq!(alive.place(), Place::Quit);
    assert_eq!(left(&control(&mut alive, 'c')), Some(Left::Detached), "twice leaves them running");
}

#[test]
fn stopping_everything_leaves_only_when_nothing_is_seen_to_live() {
    let mut model = model(snapshot(1, running()), 80, 24);
    control(&mut model, 'c');
    let requests = press(&mut model, KeyCode::Char('s'));
    assert!(
        matches!(requests.as_slice(), [Request::Send(Command::Interrupt(_), Asked::StopAll)]),
        "{requests:?}"
    );
    let requests = model.update(NOW, Message::Replied(Asked::StopAll, Ok(Reply::Done(2))));
    assert_eq!(left(&requests), None, "it was told to stop, and has not");
    let half = snapshot(2, vec![end(row(1), Outcome::Interrupted, "x"), row(2)]);
    assert_eq!(left(&model.update(NOW, Message::Snapshot(Arc::new(half)))), None);
    let mut none = snapshot(3, ended());
    none.header.interrupted = Some("quit".to_owned());
    let requests = model.update(NOW, Message::Snapshot(Arc::new(none)));
    assert_eq!(left(&requests), Some(Left::StoppedAll));
}

/// The next host knows that everything was stopped, not that the screen waits for it.
#[test]
fn stopping_everything_leaves_also_if_the_host_goes_meanwhile() {
    let mut model = model(snapshot(1, running()), 80, 24);
    control(&mut model, 'c');
    press(&mut model, KeyCode::Char('s'));
    let _ = model.update(NOW, Message::Replied(Asked::StopAll, Ok(Reply::Done(2))));
    let _ = model.update(NOW, Message::Link(Link::Waiting("again".to_owned())));
    let mut queued = row(3);
    queued.status = Status::Queued;
    let rows = ended().into_iter().chain([queued]).collect();
    let mut held = snapshot(2, rows);
    held.header.hold = Some(crate::core::Hold::Back(NOW));
    (held.header.idle, held.header.all_done) = (true, false);
    let (handle, _end) = channel(held);
    let requests = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    assert_eq!(left(&requests), Some(Left::StoppedAll));
}

#[test]
fn tasks_that_a_host_took_along_unanswered_are_sent_again_under_the_same_name() {
    let mut model = model(snapshot(1, Vec::new()), 80, 24);
    type_text(&mut model, "fix the tests");
    let first = submitted(&press(&mut model, KeyCode::Enter)).expect("it is sent");
    let lost = Message::Replied(Asked::Dispatch(1), Err(Gone));
    assert_eq!(submitted(&model.update(NOW, lost)), None, "there is no host");
    assert!(frame(&model, 80, 24).contains("sent again"), "{}", frame(&model, 80, 24));
    let _ = model.update(NOW, Message::Link(Link::Waiting("starting another".to_owned())));
    let (handle, _end) = channel(snapshot(2, Vec::new()));
    let requests = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    assert_eq!(submitted(&requests), Some(first.clone()), "a host that knows it queues it once");
    let reply = Ok(Reply::Queued(first, vec![AgentId(1)]));
    let _ = model.update(NOW, Message::Replied(Asked::Dispatch(1), reply));
    assert_eq!(model.editor.draft(), "");
    let (handle, _end) = channel(snapshot(3, Vec::new()));
    let requests = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    assert_eq!(submitted(&requests), None, "it was answered");
}

#[test]
fn a_host_that_only_lost_this_screen_is_not_said_to_have_gone() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let link = |model: &mut Model, process| {
        let (handle, _end) = channel(snapshot(2, running()));
        let handle = handle.hosted_by(process);
        let _ = model.update(NOW, Message::Link(Link::Waiting("again".to_owned())));
        let _ = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
        frame(model, 120, 40)
    };
    link(&mut model, 7);
    let same = link(&mut model, 7);
    assert!(same.contains("the connection was lost and is back"), "{same}");
    let other = link(&mut model, 8);
    assert!(other.contains("the host had gone: another one watches now"), "{other}");
}

#[test]
fn a_draft_comes_back_when_no_other_host_comes() {
    let mut model = model(snapshot(1, Vec::new()), 80, 24);
    type_text(&mut model, "fix the tests");
    press(&mut model, KeyCode::Enter);
    let _ = model.update(NOW, Message::Replied(Asked::Dispatch(1), Err(Gone)));
    let _ = model.update(NOW, Message::Link(Link::Failed("no disk".to_owned())));
    assert_eq!(model.editor.draft(), "fix the tests");
    assert!(frame(&model, 80, 24).contains("may not be queued"));
}

#[test]
fn what_ended_while_nobody_was_there_is_told_once() {
    let mut model = model(snapshot(1, ended()), 80, 24);
    let (handle, _end) = channel(snapshot(2, ended()));
    let back = Link::Up { handle, away_since: Some(Moment(12_999)) };
    let _ = model.update(NOW, Message::Link(back));
    assert!(frame(&model, 80, 24).contains("2 ended while you were away"));
}

#[test]
fn what_the_host_hears_late_of_ended_in_the_absence_as_well() {
    let mut model = model(snapshot(2, running()), 80, 24);
    let (handle, _end) = channel(snapshot(2, running()));
    let back = Link::Up { handle, away_since: Some(Moment(12_999)) };
    let _ = model.update(NOW, Message::Link(back));
    assert!(!frame(&model, 80, 24).contains("while you were away"));
    let _ = model.update(NOW, Message::Snapshot(snapshot(2, ended()).into()));
    assert!(frame(&model, 80, 24).contains("2 ended while you were away"));
    // Told once.
    model.flash = None;
    let _ = model.update(NOW, Message::Snapshot(snapshot(2, ended()).into()));
    assert!(model.flash.is_none());
}

#[test]
fn what_ends_after_the_screen_has_come_did_not_end_while_nobody_was_there() {
    let mut model = model(snapshot(2, running()), 80, 24);
    let (handle, _end) = channel(snapshot(2, running()));
    model.world.now = Moment(12_999);
    let back = Link::Up { handle, away_since: Some(Moment(12_000)) };
    let _ = model.update(Moment(12_999), Message::Link(back));
    let _ = model.update(NOW, Message::Snapshot(snapshot(2, ended()).into()));
    assert!(!frame(&model, 80, 24).contains("while you were away"));
}

fn shown(model: &Model) -> &str {
    model.flash.as_ref().map(|flash| flash.text.as_str()).unwrap_or_default()
}

#[test]
fn the_end_of_one_agent_is_told_in_its_own_words() {
    let mut model = model(snapshot(1, vec![row(1)]), 80, 24);
    let over = snapshot(2, vec![end(row(1), Outcome::Done, "")]);
    let _ = model.update(NOW, Message::Snapshot(Arc::new(over)));
    assert_eq!(shown(&model), "the agent has ended: v shows results");
}

#[test]
fn a_stop_and_the_end_that_it_led_to_are_told_together_whichever_comes_first() {
    let both = "stopping 2 agents · all 2 agents ended: v shows results";
    for is_reply_first in [true, false] {
        let mut model = model(snapshot(1, running()), 80, 24);
        press(&mut model, KeyCode::Esc);
        press(&mut model, KeyCode::Char('X'));
        let requests = press(&mut model, KeyCode::Char('y'));
        assert!(requests.iter().any(|it| matches!(it, Request::Send(_, Asked::Stop(2)))));
        let reply = || Message::Replied(Asked::Stop(2), Ok(Reply::Done(2)));
        let over = || Message::Snapshot(Arc::new(snapshot(2, ended())));
        if is_reply_first {
            let _ = model.update(NOW, reply());
            assert_eq!(shown(&model), "stopping 2 agents: x again kills");
            let _ = model.update(NOW, over());
        } else {
            let _ = model.update(NOW, over());
            let _ = model.update(NOW, reply());
        }
        assert_eq!(shown(&model), both);
    }
    // What was stopped at another time is beside the point.
    let mut model = model(snapshot(1, running()), 80, 24);
    press(&mut model, KeyCode::Esc);
    press(&mut model, KeyCode::Char('x'));
    press(&mut model, KeyCode::Char('j'));
    let _ = model.update(NOW, Message::Snapshot(Arc::new(snapshot(2, ended()))));
    assert_eq!(shown(&model), "all 2 agents ended: v shows results");
}

#[test]
fn that_something_was_refused_is_still_read_when_the_last_agent_ends() {
    let mut model = model(snapshot(1, running()), 80, 24);
    let refused = Ok(Reply::Refused(Refusal("#9 is not here".to_owned())));
    let _ = model.update(NOW, Message::Replied(Asked::Retry(1), refused));
    assert_eq!(shown(&model), "#9 is not here");
    let _ = model.update(NOW, Message::Snapshot(Arc::new(snapshot(2, ended()))));
    assert_eq!(shown(&model), "#9 is not here · all 2 agents ended: v shows results");
    // Once it has been there for its time it is not said again.
    let mut model = self::model(snapshot(1, running()), 80, 24);
    let refused = Ok(Reply::Refused(Refusal("#9 is not here".to_owned())));
    let _ = model.update(NOW, Message::Replied(Asked::Retry(1), refused));
    let later = NOW.after(Duration::from_secs(5));
    let _ = model.update(later, Message::Snapshot(Arc::new(snapshot(2, ended()))));
    assert_eq!(shown(&model), "all 2 agents ended: v shows results");
}

/// While somebody types the question is a banner; it opens as soon as another pane has the focus.
#[test]
fn the_cap_question_takes_no_key_from_a_typist() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let _ = model.update(NOW, Message::Snapshot(Arc::new(asking())));
    assert!(model.modal.is_none());
    assert!(frame(&model, 120, 40).contains("F4 answers"), "{}", frame(&model, 120, 40));
    type_text(&mut model, "d");
    assert_eq!(model.editor.draft(), "d");
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.place(), Place::Cap);
    let requests = press(&mut model, KeyCode::Char('d'));
    assert!(requests.is_empty(), "it has only just opened: {requests:?}");
    let deaf = model.wake_at().expect("it says when it listens");
    let _ = model.update(deaf, Message::Wake);
    let requests = press(&mut model, KeyCode::Char('d'));
    assert!(
        matches!(requests.as_slice(), [Request::Send(Command::Answer(QuestionId(1), _), _)]),
        "{requests:?}"
    );
}

fn rings(requests: &[Request]) -> bool {
    requests.iter().any(|request| matches!(request, Request::Bell))
}

/// The same with notices of these kinds, the first of them number one.
fn with_notices(snapshot: Snapshot, kinds: &[NoticeKind]) -> Snapshot {
    let notices = (1..).zip(kinds).map(|(number, kind)| {
        let (agents, text) = (Vec::new(), format!("notice {number}"));
        Notice { number, kind: *kind, at: NOW, agents, more: 0, text }
    });
    let header = Header { notices: notices.collect(), ..snapshot.header };
    Snapshot { header, ..snapshot }
}

#[test]
fn the_terminal_tells_only_somebody_who_may_be_looking_elsewhere() {
    for (told, expected) in [(None, true), (Some(false), true), (Some(true), false)] {
        for (news, kind) in [(snapshot(2, ended()), NoticeKind::Done), (asking(), NoticeKind::Cap)]
        {
            let mut model = model(snapshot(1, running()), 80, 24);
            if let Some(told) = told {
                let _ = model.update(NOW, Message::Focus(!told));
                let _ = model.update(NOW, Message::Focus(told));
            }
            let news = Arc::new(with_notices(news, &[kind]));
            let requests = model.update(NOW, Message::Snapshot(Arc::clone(&news)));
            assert_eq!(rings(&requests), expected, "{told:?}: {requests:?}");
            let notified = requests.iter().any(
                |request| matches!(request, Request::Notify(_, notice) if notice.kind == kind),
            );
            assert_eq!(notified, expected, "{told:?}: {requests:?}");
            assert!(!rings(&model.update(NOW, Message::Snapshot(news))), "once");
        }
    }
}

#[test]
fn several_notices_ring_once_and_what_is_switched_off_does_nothing() {
    let kinds = [NoticeKind::Failed, NoticeKind::Stalled, NoticeKind::Done];
    let news = Arc::new(with_notices(snapshot(2, ended()), &kinds));
    let mut model = model(snapshot(1, running()), 80, 24);
    let requests = model.update(NOW, Message::Snapshot(Arc::clone(&news)));
    let bells = requests.iter().filter(|request| matches!(request, Request::Bell)).count();
    assert_eq!((bells, requests.len() >= 4), (1, true), "{requests:?}");
    let mut model = self::model(snapshot(1, running()), 80, 24);
    model.alerts.on = vec![NoticeKind::Cap];
    assert!(!rings(&model.update(NOW, Message::Snapshot(Arc::clone(&news)))));
    let mut model = self::model(snapshot(1, running()), 80, 24);
    model.alerts.bell = false;
    let requests = model.update(NOW, Message::Snapshot(news));
    assert!(!rings(&requests) && !requests.is_empty(), "{requests:?}");
}

/// Whoever has just opened the screen sees the question.
#[test]
fn the_terminal_tells_nothing_that_was_there_before_the_screen() {
    let (mut model, _) = crate::tui::testing::model_of(None, "sh", 80, 24);
    let (handle, _end) = channel(with_notices(asking(), &[NoticeKind::Cap]));
    let requests = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    assert!(!rings(&requests), "{requests:?}");
    let (handle, _end) = channel(with_notices(asking(), &[NoticeKind::Cap, NoticeKind::Failed]));
    let requests = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    assert!(rings(&requests), "told by the next host, while nobody was connected: {requests:?}");
}

#[test]
fn a_program_that_had_the_terminal_may_have_missed_where_the_focus_went() {
    let mut model = model(snapshot(1, running()), 80, 24);
    let _ = model.update(NOW, Message::Focus(true));
    press(&mut model, KeyCode::Esc);
    let requests = control(&mut model, 'z');
    assert!(matches!(requests.as_slice(), [Request::Suspend]), "{requests:?}");
    let news = with_notices(snapshot(2, ended()), &[NoticeKind::Done]);
    assert!(rings(&model.update(NOW, Message::Snapshot(Arc::new(news)))));
}

#[test]
fn the_focus_of_the_window_draws_nothing_and_asks_for_nothing() {
    let mut model = model(snapshot(1, running()), 80, 24);
    model.drawn();
    for has_focus in [false, true] {
        assert!(model.update(seconds(9), Message::Focus(has_focus)).is_empty());
        assert!(!model.is_stale(), "has focus: {has_focus}");
    }
    let _ = model.update(NOW, Message::Wake);
    assert!(model.is_stale());
}

#[test]
fn a_click_on_the_name_of_a_key_presses_it() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let footer = frame(&model, 120, 40).lines().last().unwrap_or_default().to_owned();
    let (before, _) = footer.split_once("F1").expect("help is always in the footer");
    let column = u16::try_from(before.chars().count()).unwrap();
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), column, 39);
    assert_eq!(model.place(), Place::Help);
}

#[test]
fn a_click_gives_a_pane_the_focus_and_a_drag_moves_the_border_between_two() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let tail = model.world.panes.tail;
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), 10, tail.y + 2);
    assert_eq!(model.world.focus, Focus::Tail);
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), 10, tail.y);
    mouse(&mut model, MouseEventKind::Drag(MouseButton::Left), 10, tail.y - 4);
    assert_eq!(model.world.panes.tail.y, tail.y - 4);
    let requests = mouse(&mut model, MouseEventKind::Up(MouseButton::Left), 10, tail.y - 4);
    assert!(
        requests
            .iter()
            .any(|it| matches!(it, Request::SaveSizes(shares) if *shares != Shares::default())),
        "the size is kept: {requests:?}"
    );
    mouse(&mut model, MouseEventKind::Drag(MouseButton::Left), 10, tail.y + 3);
    assert_eq!(model.world.panes.tail.y, tail.y - 4, "the button is up");
}

#[test]
fn nothing_wakes_the_screen_while_nothing_runs() {
    let mut over = model(snapshot(1, ended()), 80, 24);
    for _ in 0..3 {
        if let Some(at) = over.wake_at() {
            let _ = over.update(at, Message::Wake);
        }
    }
    assert_eq!(over.wake_at(), None);
    let alive = model(snapshot(1, running()), 80, 24);
    assert!(alive.wake_at().is_some_and(|at| at.since(NOW) <= Duration::from_secs(2)));
}

#[test]
fn a_draft_is_kept_once_the_keys_rest() {
    let mut model = model(snapshot(1, ended()), 80, 24);
    type_text(&mut model, "abc");
    let mut saved = None;
    for _ in 0..5 {
        let Some(at) = model.wake_at() else { break };
        for request in model.update(at, Message::Wake) {
            if let Request::SaveDraft(text) = request {
                saved = Some(text);
            }
        }
    }
    assert_eq!(saved.as_deref(), Some("abc"));
}

/// Another screen may have the same file by the time that this one leaves.
#[test]
fn a_draft_that_was_not_touched_is_not_kept_again() {
    let mut untouched = model(snapshot(1, ended()), 80, 24);
    let requests = control(&mut untouched, 'c');
    assert!(left(&requests).is_some());
    let saves = |requests: &[Request]| {
        requests.iter().any(|request| matches!(request, Request::SaveDraft(_)))
    };
    assert!(!saves(&requests), "{requests:?}");
    let mut touched = model(snapshot(1, ended()), 80, 24);
    type_text(&mut touched, "a");
    assert!(saves(&control(&mut touched, 'c')));
}

#[test]
fn a_host_that_is_not_there_is_said_to_be_so_and_is_asked_for_nothing() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let _ = model.update(NOW, Message::Link(Link::Waiting("the host has gone".to_owned())));
    press(&mut model, KeyCode::Esc);
    let requests = press(&mut model, KeyCode::Char('x'));
    assert!(!requests.iter().any(|request| matches!(request, Request::Send(..))), "{requests:?}");
    assert!(frame(&model, 120, 40).contains("the host has gone"), "{}", frame(&model, 120, 40));
}

/// Lets the screen wake as often as it wants to, until this moment.
fn wake_until(model: &mut Model, end: Moment) {
    while let Some(at) = model.wake_at().filter(|at| *at <= end) {
        let _ = model.update(at, Message::Wake);
    }
}

fn seconds(number: u64) -> Moment {
    NOW.after(Duration::from_secs(number))
}

#[test]
fn a_host_that_lives_and_says_nothing_is_said_to_be_silent_until_it_speaks_again() {
    let mut model = model(snapshot(1, running()), 120, 40);
    wake_until(&mut model, seconds(2));
    assert_eq!(model.world.connection, Connection::Up);
    let _ = model.update(seconds(2), Message::Snapshot(Arc::new(snapshot(2, running()))));
    wake_until(&mut model, seconds(4));
    assert_eq!(model.world.clock(), seconds(4), "it has spoken two seconds ago");
    wake_until(&mut model, seconds(8));
    assert_eq!(model.world.connection, Connection::Up, "it says something every three seconds");
    wake_until(&mut model, seconds(9));
    let silent = frame(&model, 120, 40);
    assert!(silent.contains("the host has not answered for 7s · as of 00:00"), "{silent}");
    assert_eq!(
        model.world.clock(),
        model.world.snapshot.at,
        "no time goes on for what is not seen"
    );
    press(&mut model, KeyCode::Esc);
    let requests = press(&mut model, KeyCode::Char('x'));
    assert!(!requests.iter().any(|request| matches!(request, Request::Send(..))), "{requests:?}");
    let _ = model.update(seconds(10), Message::Snapshot(Arc::new(snapshot(3, running()))));
    let again = frame(&model, 120, 40);
    assert!(!again.contains("as of"), "{again}");
    assert_eq!(model.world.clock(), seconds(10));
}

#[test]
fn an_idle_host_owes_an_answer_and_nothing_else() {
    let mut model = model(snapshot(1, ended()), 120, 40);
    wake_until(&mut model, seconds(60));
    assert_eq!((&model.world.connection, model.wake_at()), (&Connection::Up, None));
    type_text(&mut model, "fix the tests");
    assert!(submitted(&press(&mut model, KeyCode::Enter)).is_some());
    wake_until(&mut model, seconds(2));
    assert_eq!(model.world.connection, Connection::Up);
    wake_until(&mut model, seconds(4));
    assert!(frame(&model, 120, 40).contains("has not answered for"), "an answer is owed sooner");
    wake_until(&mut model, seconds(90));
    let silent = frame(&model, 120, 40);
    assert!(silent.contains("the host has not answered for"), "{silent}");
    let reply = Ok(Reply::Queued(crate::core::BatchId::from_bits(1), vec![AgentId(3)]));
    let _ = model.update(seconds(91), Message::Replied(Asked::Dispatch(1), reply));
    assert_eq!(model.world.connection, Connection::Up);
    wake_until(&mut model, seconds(200));
    assert_eq!((&model.world.connection, model.wake_at()), (&Connection::Up, None));
}

#[test]
fn a_screen_that_was_paused_does_not_blame_the_host() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let _ = model.update(seconds(600), Message::Wake);
    assert_eq!(model.world.connection, Connection::Up);
    wake_until(&mut model, seconds(608));
    assert_ne!(model.world.connection, Connection::Up, "it has been listened to again since");
}

#[test]
fn a_notice_that_could_not_be_told_is_remarked_once() {
    let mut model = model(snapshot(1, running()), 120, 40);
    let mut news = snapshot(2, running());
    news.header.notice_trouble = Some("say\u{1b}[2J: it ended with exit code 1".to_owned());
    let news = Arc::new(news);
    let _ = model.update(NOW, Message::Snapshot(Arc::clone(&news)));
    let said = |model: &Model| model.flash.as_ref().map(|flash| flash.text.clone());
    let text = "a notice was not told: say: it ended with exit code 1";
    assert_eq!(said(&model).as_deref(), Some(text));
    model.flash = None;
    let _ = model.update(NOW, Message::Snapshot(news));
    assert_eq!(said(&model), None);
}
