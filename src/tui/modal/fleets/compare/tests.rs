//! Two fleets side by side.

use crossterm::event::KeyCode;
use std::fmt::Write as _;

use super::*;
use crate::core::testing::{end, row, snapshot, task};
use crate::journal::FleetStanding;
use crate::tui::keymap::Place;
use crate::tui::message::{FleetNews, Message, Request};
use crate::tui::modal::fleets::tests::{listed, press, with};
use crate::tui::testing::{NOW, frame};

fn past(id: &str, rows: Vec<Row>) -> PastFleet {
    let snapshot = snapshot(1, rows);
    let listed = listed(id, FleetStanding::Ended, snapshot.clone());
    PastFleet { listed, snapshot, records: Vec::new() }
}

fn ran(id: u32, text: &str, outcome: Outcome, seconds: u64, cents: Option<u64>) -> Row {
    let mut row = end(row(id), outcome, "it broke");
    row.task = task(text);
    row.end.as_mut().unwrap().run_time = Some(Duration::from_secs(seconds));
    row.cost = cents.map(|cents| NanoUsd::from_nanos(cents * 10_000_000));
    row.cost_status = if cents.is_some() { CostStatus::Reported } else { CostStatus::Unknown };
    row
}

const WILD: &str = "日本語 in the \u{1b}[31mdocs\u{202e} 👩‍👩‍👧 and whatever else is said of it here";

fn pair() -> Pair {
    let mut first = past(
        "k2aaaaa1",
        vec![
            ran(1, WILD, Outcome::Done, 12, Some(42)),
            ran(2, "write tests", Outcome::Failed, 75, Some(8)),
            ran(3, "only there", Outcome::Done, 3, None),
        ],
    );
    let total = |fleet: &mut PastFleet, cents: u64, unknown| {
        for header in [&mut fleet.snapshot.header, &mut fleet.listed.header] {
            header.spent = NanoUsd::from_nanos(cents * 10_000_000);
            header.cost_unknown = unknown;
        }
    };
    total(&mut first, 50, 1);
    let mut second = past(
        "k3bbbbb2",
        vec![
            ran(1, "write tests", Outcome::Done, 70, Some(10)),
            ran(2, WILD, Outcome::Done, 12, None),
            ran(3, "only here", Outcome::Timeout, 3, Some(1)),
        ],
    );
    total(&mut second, 11, 1);
    second.listed.header.name = Some("nightly".to_owned());
    (first, second)
}

fn compared(columns: u16, rows: u16) -> crate::tui::model::Model {
    let mut model = with(columns, rows);
    let news = FleetNews::Pair(Box::new(pair()));
    let _ = model.update(NOW, Message::Fleets(news));
    model
}

#[test]
fn two_fleets_stand_side_by_side_at_every_size() {
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut model = compared(columns, rows);
        let mut text = frame(&model, columns, rows);
        let _ = press(&mut model, KeyCode::Char('G'));
        write!(text, "\nend\n{}", frame(&model, columns, rows)).unwrap();
        insta::assert_snapshot!(format!("compared_{columns}x{rows}"), text);
    }
}

#[test]
fn the_two_marked_ones_are_read_and_esc_goes_back_to_the_list() {
    let mut model = with(80, 24);
    let _ = press(&mut model, KeyCode::Char('='));
    assert!(frame(&model, 80, 24).contains("Space marks the two"));
    for key in ['j', ' ', '='] {
        let asked = press(&mut model, KeyCode::Char(key));
        let is_asked = |it: &Request| match it {
            Request::CompareFleets(one, other) => one.0 == "k2aaaaa1" && other.0 == "k1bbbbb2",
            _ => false,
        };
        assert_eq!(asked.iter().any(is_asked), key == '=', "{asked:?}");
    }
    let _ = model.update(NOW, Message::Fleets(FleetNews::Pair(Box::new(pair()))));
    assert_eq!(model.place(), Place::Text);
    let _ = press(&mut model, KeyCode::Esc);
    assert_eq!(model.place(), Place::Fleets);
    let shown = frame(&model, 80, 24);
    assert!(shown.contains('◆') && shown.contains("▌ k1bbbbb2"), "{shown}");
}

#[test]
fn tasks_are_paired_by_their_text_and_what_was_tried_again_yields() {
    let mut tried = ran(1, "a", Outcome::Failed, 1, None);
    tried.retried_by = Some(crate::core::AgentId(3));
    let first = snapshot(
        1,
        vec![tried, ran(2, "b", Outcome::Done, 1, None), ran(3, "a ", Outcome::Done, 2, None)],
    );
    let second = snapshot(
        1,
        vec![
            ran(1, "a", Outcome::Done, 5, None),
            ran(2, "a", Outcome::Done, 6, None),
            ran(3, "c", Outcome::Done, 6, None),
        ],
    );
    let paired = Paired::of(&first, &second);
    let both: Vec<_> = paired.both.iter().map(|(one, other)| (one.id.0, other.id.0)).collect();
    assert_eq!(both, [(3, 1)]);
    assert_eq!(paired.first.iter().map(|row| row.id.0).collect::<Vec<_>>(), [2]);
    assert_eq!(paired.second.iter().map(|row| row.id.0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_difference_is_told_only_where_both_are_known() {
    let cents = |cents: u64| Some(NanoUsd::from_nanos(cents * 10_000_000));
    assert_eq!(money_difference(cents(42), cents(10)), "-$0.3200");
    assert_eq!(money_difference(cents(1), cents(1)), "=");
    assert_eq!(money_difference(cents(1), None), "?");
    let seconds = |seconds: u64| Some(Duration::from_secs(seconds));
    assert_eq!(time_difference(seconds(5), seconds(70)), "+1m05.0s");
    assert_eq!(time_difference(None, seconds(70)), "?");
    assert_eq!(signed(7, 2, thousands), "-5");
}
