//! Tasks on their way: those of the command line, and those whose host went.

use super::*;
use crate::core::{BatchId, Refusal};
use crate::tui::session::Made;
use crate::tui::testing::{model_of, update};

fn connect(model: &mut Model, snapshot: Snapshot) -> Vec<Request> {
    let (handle, _end) = channel(snapshot);
    update(model, Message::Link(Link::Up { handle, away_since: None }))
}

/// As above, without what the reader of outputs is told.
fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    update(model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn brought(texts: &str, kind: &str) -> (Model, Made) {
    let (model, first) = model_of(Some(texts), kind, 100, 24);
    (model, first.unwrap())
}

fn many() -> String {
    (0..21).map(|number| format!("task {number}")).collect::<Vec<_>>().join("\n---\n")
}

/// Waits until a box that opened by itself takes keys.
fn listen(model: &mut Model) {
    let at = model.wake_at().expect("it says when it listens");
    let _ = model.update(at, Message::Wake);
}

fn count_sent(requests: &[Request]) -> usize {
    let submitted = requests.iter().map(|request| match request {
        Request::Submit(submission, ..) => submission.tasks.len(),
        _ => 0,
    });
    submitted.sum()
}

#[test]
fn tasks_of_the_command_line_that_cost_nothing_go_at_once() {
    let (mut model, _) = brought("one\n---\ntwo", "sh");
    assert_eq!(count_sent(&connect(&mut model, snapshot(1, Vec::new()))), 2);
    assert!(model.modal.is_none());
    assert_eq!(count_sent(&connect(&mut model, snapshot(2, Vec::new()))), 0, "they are sent once");
}

#[test]
fn tasks_of_the_command_line_that_cost_money_ask_for_a_cap_first() {
    let (mut model, _) = brought("one\n---\ntwo", "ygg");
    let requests = connect(&mut model, snapshot(1, Vec::new()));
    assert_eq!(count_sent(&requests), 0, "{requests:?}");
    assert_eq!(model.place(), Place::FirstCap);
    assert!(press(&mut model, KeyCode::Enter).is_empty(), "it has only just opened");
    listen(&mut model);
    let requests = press(&mut model, KeyCode::Enter);
    assert!(matches!(requests[..], [Request::Send(Command::SetCap(Some(_)), _)]), "{requests:?}");
    let requests = update(&mut model, Message::Replied(Asked::Cap, Ok(Reply::Done(0))));
    assert_eq!(count_sent(&requests), 2);
}

#[test]
fn many_tasks_of_the_command_line_are_confirmed_before_the_cap_is_asked_for() {
    let (mut model, _) = brought(&many(), "ygg");
    assert_eq!(count_sent(&connect(&mut model, snapshot(1, Vec::new()))), 0);
    assert_eq!(model.place(), Place::Confirm);
    assert!(frame(&model, 100, 24).contains("dispatch 21 tasks to ygg?"));
    listen(&mut model);
    assert_eq!(count_sent(&press(&mut model, KeyCode::Char('y'))), 0);
    assert_eq!(model.place(), Place::FirstCap);
    assert_eq!(count_sent(&press(&mut model, KeyCode::Char('n'))), 21);
}

#[test]
fn tasks_of_the_command_line_that_were_not_wanted_yet_wait_for_enter() {
    let (mut model, _) = brought("one\n---\ntwo", "ygg");
    connect(&mut model, snapshot(1, Vec::new()));
    listen(&mut model);
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(model.modal.is_none());
    let seen = frame(&model, 100, 24);
    assert!(seen.contains("2 tasks of the command line wait: Enter dispatches them"), "{seen}");
    assert_eq!(count_sent(&press(&mut model, KeyCode::Enter)), 0);
    assert_eq!(model.place(), Place::FirstCap, "it was invited, and hears at once");
    assert_eq!(count_sent(&press(&mut model, KeyCode::Char('n'))), 2);
}

#[test]
fn a_question_about_the_command_line_takes_no_key_from_a_typist() {
    let (mut model, _) = brought("one", "ygg");
    type_text(&mut model, "no");
    connect(&mut model, snapshot(1, Vec::new()));
    assert!(model.modal.is_none());
    type_text(&mut model, "n");
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.place(), Place::FirstCap);
    assert_eq!(model.editor.draft(), "non");
}

#[test]
fn refused_tasks_of_the_command_line_stay_to_be_tried_again() {
    let (mut model, _) = brought("one\n---\ntwo", "sh");
    connect(&mut model, snapshot(1, Vec::new()));
    let refusal = Reply::Refused(Refusal("the queue is full".to_owned()));
    update(&mut model, Message::Replied(Asked::First(2), Ok(refusal)));
    let seen = frame(&model, 100, 24);
    assert!(seen.contains("2 tasks of the command line not queued: the queue is full"), "{seen}");
    let requests = press(&mut model, KeyCode::Enter);
    assert_eq!(count_sent(&requests), 2);
    let reply = Reply::Queued(BatchId::from_bits(1), vec![AgentId(1), AgentId(2)]);
    update(&mut model, Message::Replied(Asked::First(2), Ok(reply)));
    assert!(!frame(&model, 100, 24).contains("of the command line"));
}

#[test]
fn tasks_of_the_command_line_stay_when_no_host_comes() {
    let (mut model, _) = brought("one", "sh");
    connect(&mut model, snapshot(1, Vec::new()));
    update(&mut model, Message::Replied(Asked::First(1), Err(Gone)));
    update(&mut model, Message::Link(Link::Failed("no disk".to_owned())));
    let seen = frame(&model, 100, 24);
    assert!(seen.contains("1 task of the command line not queued"), "{seen}");
}

/// The news of the new host may overtake the answer that the old one never gave.
#[test]
fn tasks_whose_host_is_known_to_be_replaced_before_they_are_lost_are_sent_again_at_once() {
    let mut model = model(snapshot(1, Vec::new()), 80, 24);
    type_text(&mut model, "fix the tests");
    let first = submitted(&press(&mut model, KeyCode::Enter)).expect("it is sent");
    assert_eq!(submitted(&connect(&mut model, snapshot(2, Vec::new()))), None);
    let lost = || Message::Replied(Asked::Dispatch(1), Err(Gone));
    assert_eq!(submitted(&update(&mut model, lost())), Some(first.clone()));
    // The newest connection has gone, which is only told next: no loop until then.
    assert_eq!(submitted(&update(&mut model, lost())), None);
    assert_eq!(submitted(&connect(&mut model, snapshot(3, Vec::new()))), Some(first));
}
