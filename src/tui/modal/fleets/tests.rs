//! The list of fleets as a person meets it.

use std::fmt::Write as _;
use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::core::testing::{end, row, snapshot};
use crate::core::{Moment, NanoUsd, Outcome, Snapshot, Status};
use crate::journal::FleetStanding;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model};

/// Sizes at which the list is looked at.
const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

pub(in crate::tui) fn listed(id: &str, standing: FleetStanding, snapshot: Snapshot) -> ListedFleet {
    let mut header = snapshot.header;
    header.first_start = Some(Moment(1_000));
    header.last_end = Some(Moment(66_000));
    ListedFleet {
        id: FleetId(id.to_owned()),
        folder: PathBuf::from("/repo"),
        standing,
        elsewhere: None,
        created: Moment(0),
        header,
        at: NOW,
    }
}

fn some() -> FleetList {
    let mut queued = row(3);
    queued.status = Status::Queued;
    let live = listed("k3f", FleetStanding::Live, snapshot(1, vec![row(1), row(2), queued]));
    let failed = vec![
        end(row(1), Outcome::Done, ""),
        end(row(2), Outcome::Failed, "x"),
        end(row(3), Outcome::Timeout, "x"),
    ];
    let mut dear = listed("k2aaaaa1", FleetStanding::Ended, snapshot(1, failed));
    dear.header.name = Some("日本語 \u{1b}[31mnightly\u{202e} 👩‍👩‍👧 run of everything".to_owned());
    dear.header.spent = NanoUsd::from_nanos(420_000_000);
    dear.header.cost_unknown = 2;
    let mut held = listed("k1bbbbb2", FleetStanding::Held, snapshot(1, vec![row(1)]));
    held.elsewhere = Some("other".to_owned());
    let why = "could not read the journal".to_owned();
    FleetList {
        fleets: vec![live, dear, held],
        unreadable: vec![(FleetId("k0ccccc3".to_owned()), why)],
        left: 2,
        older: 7,
    }
}

pub(super) fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    model.drawn();
    model.update(NOW, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn open(columns: u16, rows: u16) -> Model {
    let mut model = model(snapshot(1, vec![row(1)]), columns, rows);
    let asked = press(&mut model, KeyCode::F(3));
    let is_list = |it: &Request| matches!(it, Request::ListFleets { everywhere: false });
    assert!(asked.iter().any(is_list), "{asked:?}");
    model
}

fn bring(model: &mut Model, list: FleetList) {
    let news = FleetNews::List { everywhere: false, list };
    let _ = model.update(NOW, Message::Fleets(news));
}

pub(super) fn with(columns: u16, rows: u16) -> Model {
    let mut model = open(columns, rows);
    bring(&mut model, some());
    model
}

fn opened(asked: &[Request]) -> Option<String> {
    asked.iter().find_map(|request| match request {
        Request::OpenFleet(id) => Some(id.0.clone()),
        _ => None,
    })
}

#[test]
fn the_list_is_drawn_at_every_size_while_it_is_read_and_when_it_has_come() {
    for (columns, rows) in SIZES {
        let mut all = format!("reading\n{}\n", frame(&open(columns, rows), columns, rows));
        let mut none = open(columns, rows);
        bring(&mut none, FleetList::default());
        write!(all, "none\n{}\n", frame(&none, columns, rows)).unwrap();
        let mut model = with(columns, rows);
        let _ = press(&mut model, KeyCode::Char('j'));
        let _ = press(&mut model, KeyCode::Char(' '));
        write!(all, "some\n{}\n", frame(&model, columns, rows)).unwrap();
        let failed = FleetNews::Failed("could not list the fleets: no disk".to_owned());
        let _ = model.update(NOW, Message::Fleets(failed));
        write!(all, "failed\n{}\n", frame(&model, columns, rows)).unwrap();
        insta::assert_snapshot!(format!("fleets_{columns}x{rows}"), all);
    }
}

#[test]
fn the_selected_fleet_is_opened_and_stays_selected_while_others_are_read() {
    let mut model = open(80, 24);
    let mut first = some();
    let last = first.fleets.split_off(2);
    bring(&mut model, first);
    let _ = press(&mut model, KeyCode::Char('j'));
    let mut all = some();
    let newer = ListedFleet { id: FleetId("k9zzzzz9".to_owned()), ..last[0].clone() };
    all.fleets.insert(0, newer);
    bring(&mut model, all);
    let asked = press(&mut model, KeyCode::Enter);
    assert_eq!(opened(&asked).as_deref(), Some("k2aaaaa1"));
    assert!(frame(&model, 80, 24).contains("opening k2aaaaa1"));
}

#[test]
fn a_search_leaves_what_has_it_and_a_third_mark_is_refused() {
    let mut model = with(120, 40);
    for code in [KeyCode::Char('/'), KeyCode::Char('N'), KeyCode::Char('i'), KeyCode::Char('g')] {
        let _ = press(&mut model, code);
    }
    assert!(frame(&model, 120, 40).contains("/Nig  1 fleet"));
    let _ = press(&mut model, KeyCode::Enter);
    let asked = press(&mut model, KeyCode::Enter);
    assert_eq!(opened(&asked).as_deref(), Some("k2aaaaa1"));
    let _ = press(&mut model, KeyCode::Esc);
    let _ = press(&mut model, KeyCode::Char('g'));
    for _ in 0..3 {
        let _ = press(&mut model, KeyCode::Char(' '));
    }
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("two are marked: Space on one of them"), "{shown}");
    assert_eq!(shown.matches('◆').count(), 2, "{shown}");
}

#[test]
fn the_list_of_all_folders_is_asked_for_and_a_late_one_of_this_folder_is_not_taken_for_it() {
    let mut model = with(80, 24);
    let asked = press(&mut model, KeyCode::Char('a'));
    assert!(asked.iter().any(|it| matches!(it, Request::ListFleets { everywhere: true })));
    bring(&mut model, some());
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("fleets of all folders") && shown.contains("reading…"), "{shown}");
    assert!(!shown.contains("k2aaaaa1"), "{shown}");
}

#[test]
fn fifty_fleets_are_scrolled_through_to_the_last_one() {
    for (columns, rows) in SIZES {
        let mut model = open(columns, rows);
        let one = some().fleets.remove(1);
        let fleets = (10..60)
            .map(|number| ListedFleet { id: FleetId(format!("k2aaaa{number}")), ..one.clone() })
            .collect();
        bring(&mut model, FleetList { fleets, ..FleetList::default() });
        assert!(frame(&model, columns, rows).contains("k2aaaa10"));
        let _ = press(&mut model, KeyCode::Char('G'));
        let shown = frame(&model, columns, rows);
        assert!(shown.contains("k2aaaa59") && !shown.contains("k2aaaa10"), "{shown}");
        let asked = press(&mut model, KeyCode::Enter);
        assert_eq!(opened(&asked).as_deref(), Some("k2aaaa59"));
    }
}
