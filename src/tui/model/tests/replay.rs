//! The run of a fleet once more.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt::Write as _;

use super::*;
use crate::core::testing::{end, row, snapshot, task};
use crate::core::{AgentId, BatchId, End, FleetOptions, Outcome, Record, Work};
use crate::journal::FleetStanding;
use crate::tui::layout::Focus;
use crate::tui::message::{FleetNews, Message, Request};
use crate::tui::others::{FleetList, ListedFleet, PastFleet};
use crate::tui::testing::{NOW, frame, model};

/// Two agents that ran from 1 s and from 5 s on, until 13 s and 21 s.
fn past(id: &str) -> PastFleet {
    let ended = |id, at, outcome| {
        let end = End { at: Moment(at), ..*end(row(id), outcome, "it broke").end.unwrap() };
        Record::Ended(AgentId(id), Box::new(end), Box::new(Work { steps: 3, ..Work::default() }))
    };
    let queued = Record::Queued {
        batch: BatchId::from_bits(1),
        origin: None,
        inside: None,
        first: AgentId(1),
        tasks: vec![task("goal 1"), task("goal 2")],
    };
    let records = [
        (1, Record::Created(FleetOptions::default())),
        (1_000, queued),
        (1_000, Record::Dispatched(AgentId(1))),
        (5_000, Record::Dispatched(AgentId(2))),
        (13_000, ended(1, 13_000, Outcome::Done)),
        (21_000, ended(2, 21_000, Outcome::Failed)),
    ];
    let snapshot = now();
    PastFleet {
        listed: ListedFleet {
            id: crate::core::FleetId(id.to_owned()),
            folder: std::path::PathBuf::from("/repo"),
            standing: FleetStanding::Ended,
            elsewhere: None,
            created: Moment(1),
            header: snapshot.header.clone(),
            at: NOW,
        },
        snapshot,
        records: records.into_iter().map(|(at, record)| (Moment(at), record)).collect(),
    }
}

fn now() -> Snapshot {
    let rows = vec![end(row(1), Outcome::Done, ""), end(row(2), Outcome::Failed, "it broke")];
    snapshot(1, rows)
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    model.drawn();
    let at = model.world.now;
    model.update(at, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn ended(columns: u16, rows: u16) -> Model {
    let mut model = model(now(), columns, rows);
    model.world.is_read_only = true;
    model.world.focus = Focus::Agents;
    model
}

/// A replay that was begun with a key.
fn begun(key: KeyCode, columns: u16, rows: u16) -> Model {
    let mut model = ended(columns, rows);
    let asked = press(&mut model, key);
    assert!(asked.iter().any(|it| matches!(it, Request::ReadPast)), "{asked:?}");
    let news = FleetNews::Past(Box::new(past("k3f")));
    let _ = model.update(NOW, Message::Fleets(news));
    model
}

fn states(model: &Model) -> Vec<&'static str> {
    model.world.snapshot.rows.iter().map(|row| row.status.as_str()).collect()
}

#[test]
fn keys_move_through_the_time_of_the_run_and_esc_shows_the_fleet_as_it_is() {
    let mut model = begun(KeyCode::Char('['), 80, 24);
    assert_eq!(states(&model), ["done", "running"], "before the last change");
    let _ = press(&mut model, KeyCode::Char('['));
    assert_eq!(states(&model), ["running", "running"]);
    let _ = press(&mut model, KeyCode::Left);
    assert_eq!(states(&model), ["running", "queued"], "a second before the second start");
    let _ = press(&mut model, KeyCode::Right);
    let _ = press(&mut model, KeyCode::Char(']'));
    assert_eq!(states(&model), ["done", "running"]);
    for _ in 0..9 {
        let _ = press(&mut model, KeyCode::Char(']'));
    }
    assert_eq!(states(&model), ["done", "failed"]);
    let _ = press(&mut model, KeyCode::Char('['));
    let _ = press(&mut model, KeyCode::Esc);
    assert_eq!((states(&model), model.world.replay), (vec!["done", "failed"], None));
    assert_eq!(model.world.clock(), model.world.now);
}

#[test]
fn keys_pressed_while_the_journal_is_read_do_not_read_it_again_and_the_last_one_counts() {
    let is_read = |asked: &[Request]| asked.iter().any(|it| matches!(it, Request::ReadPast));
    let mut model = ended(80, 24);
    assert!(is_read(&press(&mut model, KeyCode::Char('t'))));
    assert!(!is_read(&press(&mut model, KeyCode::Char('['))));
    let _ = model.update(NOW, Message::Fleets(FleetNews::Past(Box::new(past("k3f")))));
    assert_eq!(states(&model), ["done", "running"], "before the last change");

    // News of other fleets change nothing about it.
    let mut model = ended(80, 24);
    assert!(is_read(&press(&mut model, KeyCode::Char('t'))));
    let list = FleetNews::List { everywhere: false, list: FleetList::default() };
    for news in [list, FleetNews::Past(Box::new(past("another")))] {
        let _ = model.update(NOW, Message::Fleets(news));
    }
    assert!(!is_read(&press(&mut model, KeyCode::Char('['))));
    let _ = model.update(NOW, Message::Fleets(FleetNews::Past(Box::new(past("k3f")))));
    assert!(model.world.replay.is_some());

    // One that could not be read, or came while another fleet was shown, is read once more.
    let mut model = ended(80, 24);
    assert!(is_read(&press(&mut model, KeyCode::Char('t'))));
    let _ = model.update(NOW, Message::Fleets(FleetNews::Failed("no".to_owned())));
    assert!(is_read(&press(&mut model, KeyCode::Char('t'))));
    let _ = model.turned_away();
    assert!(is_read(&press(&mut model, KeyCode::Char('t'))));
}

#[test]
fn it_plays_as_fast_as_it_is_told_to_and_ends_with_the_run() {
    let mut model = begun(KeyCode::Char('t'), 80, 24);
    assert_eq!(states(&model), ["running", "queued"]);
    let wake = model.wake_at().expect("it moves by itself");
    assert!(wake <= Moment(NOW.0 + 100));
    assert_eq!(model.world.replay.unwrap().speed, 1, "a short run plays as it was");
    let _ = press(&mut model, KeyCode::Char('T'));
    let _ = model.update(Moment(NOW.0 + 400), Message::Wake);
    assert_eq!(states(&model), ["running", "running"], "4 s of the run are over at ten times");
    let _ = press(&mut model, KeyCode::Char('t'));
    let _ = model.update(Moment(NOW.0 + 5_000), Message::Wake);
    assert_eq!(states(&model), ["running", "running"], "it stands");
    let _ = press(&mut model, KeyCode::Char('T'));
    let _ = press(&mut model, KeyCode::Char('t'));
    assert_eq!(model.world.replay.unwrap().speed, 60);
    let _ = model.update(Moment(NOW.0 + 6_000), Message::Wake);
    assert_eq!(states(&model), ["done", "failed"]);
    assert!(frame(&model, 80, 24).contains("the end of the replay: t plays it again"));
    let _ = press(&mut model, KeyCode::Char('t'));
    assert_eq!(states(&model), ["running", "queued"], "from the start again");
}

#[test]
fn what_happens_meanwhile_is_seen_at_its_end_and_nothing_can_be_asked_until_then() {
    let mut model = begun(KeyCode::Char('['), 80, 24);
    model.world.is_read_only = false;
    let mut later = now();
    later.revision = 9;
    let _ = model.update(NOW, Message::Snapshot(Arc::new(later)));
    assert_eq!(states(&model), ["done", "running"]);
    let asked = press(&mut model, KeyCode::Char('p'));
    assert!(!asked.iter().any(|it| matches!(it, Request::Send(..))), "{asked:?}");
    assert!(frame(&model, 80, 24).contains("this is a replay: Esc"));
    // Nobody has to say anything about agents that ran then.
    let _ = model.update(Moment(NOW.0 + 60_000), Message::Wake);
    assert_eq!((&model.world.connection, model.wake_at()), (&Connection::Up, None));
    let _ = press(&mut model, KeyCode::Esc);
    assert_eq!(model.world.snapshot.revision, 9);
}

/// What was done by the end would be paid for twice.
#[test]
fn tasks_are_run_again_as_the_fleet_has_ended_whatever_moment_is_shown() {
    let mut model = begun(KeyCode::Char('['), 120, 40);
    press(&mut model, KeyCode::Char('['));
    assert_ne!(states(&model), ["done", "failed"]);
    press(&mut model, KeyCode::Char('R'));
    assert_eq!(states(&model), ["done", "failed"]);
    let text = frame(&model, 120, 40);
    assert!(text.contains("not done   1 task"), "{text}");
}

#[test]
fn a_replay_of_nothing_or_of_another_fleet_is_none() {
    let mut model = ended(80, 24);
    let _ = press(&mut model, KeyCode::Left);
    let _ = model.update(NOW, Message::Fleets(FleetNews::Past(Box::new(past("k9x")))));
    assert_eq!(model.world.replay, None);
    let _ = press(&mut model, KeyCode::Left);
    let empty = PastFleet { records: Vec::new(), ..past("k3f") };
    let _ = model.update(NOW, Message::Fleets(FleetNews::Past(Box::new(empty))));
    assert_eq!(model.world.replay, None);
    assert!(frame(&model, 80, 24).contains("there is nothing to replay"));
    let _ = press(&mut model, KeyCode::Char('T'));
    assert!(frame(&model, 80, 24).contains("nothing is replayed: t begins"));
}

#[test]
fn a_moment_is_drawn_at_every_size_with_what_is_not_known_of_it() {
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut model = begun(KeyCode::Char('['), columns, rows);
        model.flash = None;
        let mut text = frame(&model, columns, rows);
        let _ = press(&mut model, KeyCode::Char('b'));
        model.flash = None;
        write!(text, "\nbars\n{}", frame(&model, columns, rows)).unwrap();
        insta::assert_snapshot!(format!("replay_{columns}x{rows}"), text);
    }
}
