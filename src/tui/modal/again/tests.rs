//! What is asked before tasks are run again.

use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::core::testing::{end, row, snapshot};
use crate::core::{AgentId, Continues, Snapshot};
use crate::tui::layout::Focus;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model};

fn with_task(mut row: Row, change: impl FnOnce(&mut Task)) -> Row {
    let mut task = Task::clone(&row.task);
    change(&mut task);
    row.task = Arc::new(task);
    row
}

/// One that is done and cost something, one that failed and was tried again, one that failed, one with a value that was
/// not kept, and one that goes on in a session.
fn ended() -> Snapshot {
    let mut done = end(row(1), Outcome::Done, "");
    (done.cost, done.cost_status) = (Some(NanoUsd::from_nanos(420_000_000)), CostStatus::Reported);
    let mut tried = end(row(2), Outcome::Failed, "x");
    tried.retried_by = Some(AgentId(3));
    let mut unknown = end(row(3), Outcome::Timeout, "x");
    (unknown.cost, unknown.cost_status) = (None, CostStatus::Unknown);
    let unknown = with_task(unknown, |task| task.env_names = vec!["TOKEN_\u{1b}[31mX".to_owned()]);
    let secret = with_task(end(row(4), Outcome::Failed, "x"), |task| {
        task.env_stored = vec!["SECRET".to_owned()];
    });
    let goes_on = with_task(end(row(5), Outcome::Done, ""), |task| {
        task.continues = Some(Continues { agent: AgentId(1), session: "s".to_owned() });
    });
    let mut snapshot = snapshot(1, vec![done, tried, unknown, secret, goes_on]);
    snapshot.header.cap = Some(NanoUsd::from_dollars(5));
    snapshot
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    model.drawn();
    model.update(NOW, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn open(snapshot: Snapshot, columns: u16, rows: u16) -> Model {
    let mut model = model(snapshot, columns, rows);
    model.world.is_read_only = true;
    model.world.focus = Focus::Agents;
    let _ = press(&mut model, KeyCode::Char('R'));
    model
}

fn asked(requests: &[Request]) -> Option<Vec<String>> {
    requests.iter().find_map(|request| match request {
        Request::RunAgain(tasks) => Some(tasks.iter().map(|task| task.text.clone()).collect()),
        _ => None,
    })
}

#[test]
fn the_question_is_drawn_at_every_size_with_what_is_left_out_and_why() {
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut text = frame(&open(ended(), columns, rows), columns, rows);
        let none = open(snapshot(1, Vec::new()), columns, rows);
        write!(text, "\nnone\n{}", frame(&none, columns, rows)).unwrap();
        insta::assert_snapshot!(format!("again_{columns}x{rows}"), text);
    }
}

#[test]
fn the_last_try_of_each_task_is_run_again_and_only_once() {
    let mut model = open(ended(), 80, 24);
    assert_eq!(asked(&press(&mut model, KeyCode::Char('f'))), Some(vec!["goal 3".to_owned()]));
    assert_eq!(asked(&press(&mut model, KeyCode::Char('a'))), None, "they are on their way");
    let failed = FleetNews::Failed("the disk is full".to_owned());
    let _ = model.update(NOW, Message::Fleets(failed));
    assert!(frame(&model, 80, 24).contains("the disk is full"));
    let all = asked(&press(&mut model, KeyCode::Char('a')));
    assert_eq!(all, Some(vec!["goal 1".to_owned(), "goal 3".to_owned()]));
}

#[test]
fn a_fleet_of_which_all_is_done_says_so_and_a_live_one_names_the_other_key() {
    let done = snapshot(1, vec![end(row(1), Outcome::Done, "")]);
    let mut model = open(done.clone(), 80, 24);
    assert_eq!(asked(&press(&mut model, KeyCode::Char('f'))), None);
    assert!(frame(&model, 80, 24).contains("nothing to be run again"));
    let mut model = crate::tui::testing::model(done, 80, 24);
    model.world.focus = Focus::Agents;
    let _ = press(&mut model, KeyCode::Char('R'));
    assert!(model.modal.is_none());
    assert!(frame(&model, 80, 24).contains("r tries an agent again"));
}
