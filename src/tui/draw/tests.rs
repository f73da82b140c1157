//! Whole screens, at three sizes.

use std::fmt::Write;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::core::testing::{end, row, snapshot};
use crate::core::{BatchId, BatchStatus, Moment, NanoUsd, Outcome, Row, Snapshot, Status};
use crate::tail::view::text::Line;
use crate::tail::view::{self, Page};
use crate::tui::agents::tests::{every_state, grouped};
use crate::tui::layout::Focus;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model, model_of, update};

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// The whole screen at three sizes after the same has happened to each.
fn at_three_sizes(fleet: &dyn Fn() -> Snapshot, happen: &dyn Fn(&mut Model)) -> String {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let mut model = model(fleet(), columns, rows);
        happen(&mut model);
        let _ = write!(all, "{columns}x{rows}\n{}\n\n", frame(&model, columns, rows));
    }
    all
}

fn focus(model: &mut Model, focus: Focus) {
    model.world.focus = focus;
    let _ = update(model, Message::Wake);
}

fn press(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        let _ = update(model, Message::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)));
    }
}

/// Shows this page of the output of the selected agent.
fn turn_to(model: &mut Model, page: Page) {
    let _ = update(model, Message::Page(Arc::new(Page { number: 1, ..page })));
}

/// The end of an output with these lines.
fn output(lines: &[&str]) -> Page {
    let rows = lines.iter().zip(0..).map(|(raw, offset)| view::Row {
        spans: Line::from_raw(raw.as_bytes()).slice(0, 200),
        offset,
        is_first: true,
    });
    Page {
        rows: rows.collect(),
        wraps: true,
        size: Some(123_456),
        is_at_end: true,
        follows: true,
        percent: 100,
        ..Page::default()
    }
}

#[test]
fn before_there_is_a_host_the_screen_stands_and_says_what_it_waits_for() {
    let mut all = String::new();
    for (columns, rows) in SIZES {
        let (model, _) = model_of(None, "ygg", columns, rows);
        let _ = write!(all, "{columns}x{rows}\n{}\n\n", frame(&model, columns, rows));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn an_empty_fleet_says_what_each_pane_is_for() {
    insta::assert_snapshot!(at_three_sizes(&|| snapshot(0, Vec::new()), &|_| {}));
}

#[test]
fn the_table_of_an_empty_fleet_says_how_it_gets_an_agent() {
    insta::assert_snapshot!(at_three_sizes(&|| snapshot(0, Vec::new()), &|model| {
        focus(model, Focus::Agents);
    }));
}

/// A fleet with an agent in every state, and something to be said about all of it.
fn with_everything() -> Snapshot {
    let mut snapshot = snapshot(1, every_state());
    snapshot.header.name = Some("night\u{1b}[31m shift 日本".to_owned());
    snapshot.header.cap = Some(NanoUsd::from_dollars(15));
    snapshot.header.cost_unknown = 1;
    snapshot.header.reserved = NanoUsd::from_dollars(1);
    snapshot.header.kpis.tokens = 1_246_912;
    snapshot.header.kpis.steps = 116;
    snapshot.header.kinds_held = vec![("codex".to_owned(), "bad key".to_owned())];
    snapshot
}

#[test]
fn all_panes_stand_beside_each_other_with_agents_in_every_state() {
    let look = |model: &mut Model, pane| {
        turn_to(
            model,
            output(&[
                "running 214 tests",
                "\u{1b}[32mok\u{1b}[0m\tparser::reads_日本語 👩‍👩‍👧",
                "a line of an agent that is far longer than any pane of a screen of this size can hold beside its table",
                "\u{202e}written from the right",
            ]),
        );
        focus(model, pane);
    };
    for (name, pane) in
        [("editor", Focus::Editor), ("agents", Focus::Agents), ("tail", Focus::Tail)]
    {
        let all = at_three_sizes(&with_everything, &|model| look(model, pane));
        insta::assert_snapshot!(format!("every_state_{name}"), all);
    }
}

#[test]
fn sets_that_have_ended_are_one_line_each_when_they_are_folded() {
    insta::assert_snapshot!(at_three_sizes(&grouped, &|model| {
        focus(model, Focus::Agents);
        press(model, "j-");
    }));
}

#[test]
fn an_output_that_cannot_be_read_says_why_and_nothing_that_is_not_known() {
    let why = "could not be read: Permission denied (os error 13)";
    let unread = |page: Page| Page { note: Some(why.to_owned()), ..page };
    let one = || snapshot(1, vec![row(1)]);
    let before = unread(output(&["what was read before"]));
    insta::assert_snapshot!(at_three_sizes(&one, &|model| {
        focus(model, Focus::Tail);
        turn_to(model, before.clone());
    }));
    insta::assert_snapshot!(at_three_sizes(&one, &|model| {
        focus(model, Focus::Tail);
        turn_to(model, unread(Page::default()));
    }));
}

/// A thousand agents in sets of a hundred, of which seven have ended.
fn thousand() -> Snapshot {
    let rows = (1..=1000_u32).map(|id| {
        let set = id.div_ceil(100);
        let row = Row {
            batch: BatchId::from_bits(set),
            tag: format!("set {set}"),
            index: (id - 1) % 100 + 1,
            of: 100,
            ..row(id)
        };
        match id {
            1..=700 if id % 50 == 0 => end(row, Outcome::Failed, "exit code 1"),
            1..=700 => end(row, Outcome::Done, ""),
            701..=704 => row,
            _ => Row { status: Status::Queued, started: None, progress: None, ..row },
        }
    });
    let mut snapshot = snapshot(1, rows.collect());
    for (view, number) in snapshot.batches.iter_mut().zip(1..) {
        view.status = if number <= 7 { BatchStatus::Completed } else { BatchStatus::Running };
    }
    snapshot
}

#[test]
fn a_thousand_agents_are_counted_and_each_end_of_them_is_reached() {
    for (name, key) in [("top", 'g'), ("bottom", 'G')] {
        let all = at_three_sizes(&thousand, &|model| {
            focus(model, Focus::Agents);
            press(model, &key.to_string());
        });
        insta::assert_snapshot!(format!("thousand_{name}"), all);
    }
}

#[test]
fn numbers_whose_host_has_gone_are_marked_and_the_panes_stay() {
    insta::assert_snapshot!(at_three_sizes(&with_everything, &|model| {
        use crate::tui::Link;
        let _ = update(model, Message::Link(Link::Waiting("host gone: starting another".into())));
        let _ = model.update(Moment(NOW.0 + 60_000), Message::Wake);
    }));
}
