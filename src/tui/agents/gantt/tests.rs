//! Bars: which cells they take, and how they look.

use std::fmt::Write as _;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::core::testing::{end, row, snapshot, task};
use crate::core::{Phase, Snapshot, Waits};
use crate::tui::layout::Focus;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model};

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

/// A row that ran between these moments.
fn ran(id: u32, from: u64, to: u64, outcome: Outcome) -> Row {
    let mut row = end(row(id), outcome, "it broke");
    row.started = Some(Moment(from));
    let end = row.end.as_mut().unwrap();
    end.at = Moment(to);
    end.run_time = Some(Duration::from_millis(to - from));
    row
}

fn waits(id: u32) -> Row {
    let mut row = row(id);
    (row.status, row.phase, row.started) = (Status::Queued, Phase::Waits(Waits::Slot), None);
    row
}

fn dropped(id: u32) -> Row {
    let mut row = end(waits(id), Outcome::Dropped, "the queue was dropped");
    row.end.as_mut().unwrap().run_time = None;
    row
}

fn all() -> Snapshot {
    let mut live = row(4);
    live.started = Some(Moment(9_000));
    live.task = task("日本語 in the \u{1b}[31mdocs\u{202e} 👩‍👩‍👧 and whatever is said of it");
    let rows = vec![
        ran(1, 1_000, 13_000, Outcome::Done),
        ran(2, 1_000, 1_001, Outcome::Failed),
        ran(3, 13_000, 20_900, Outcome::Timeout),
        live,
        waits(5),
        dropped(6),
    ];
    snapshot(1, rows)
}

fn press(model: &mut Model, code: KeyCode) {
    model.drawn();
    let _ = model.update(NOW, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

fn shown(snapshot: Snapshot, columns: u16, rows: u16) -> Model {
    let mut model = model(snapshot, columns, rows);
    model.world.focus = Focus::Agents;
    press(&mut model, KeyCode::Char('b'));
    press(&mut model, KeyCode::Char('z'));
    model.flash = None;
    model
}

#[test]
fn bars_are_drawn_at_every_size() {
    for (columns, rows) in SIZES {
        let mut text = frame(&shown(all(), columns, rows), columns, rows);
        write!(
            text,
            "\nempty\n{}",
            frame(&shown(snapshot(1, Vec::new()), columns, rows), columns, rows)
        )
        .unwrap();
        insta::assert_snapshot!(format!("gantt_{columns}x{rows}"), text);
    }
    for (columns, rows) in [(1, 1), (24, 6), (30, 8), (61, 19), (300, 80)] {
        let _ = frame(&shown(all(), columns, rows), columns, rows);
    }
}

/// C-142, with the next: all bars share one span, each has a cell at least wherever it is, and one without an end ends now.
#[test]
fn bars_share_one_span_have_a_cell_each_and_open_ones_end_now() {
    let now = Moment(21_000);
    let snapshot = all();
    let queued = Moment(500);
    let rows = || snapshot.rows.iter().map(|row| (row.as_ref(), queued));
    let span = Span::of(rows(), now).unwrap();
    assert_eq!(span, Span { from: queued, to: now });
    for width in 1..200 {
        for (row, queued) in rows() {
            let bar = span.bar(row, queued, now, width);
            let (from, to) = if row.started.is_some() { bar.ran } else { bar.queued };
            assert!(from < to && to <= width, "{}: {bar:?} of {width}", row.id);
            assert!(bar.queued.0 <= bar.queued.1 && bar.queued.1 <= bar.ran.1, "{bar:?}");
            if row.end.is_none() {
                assert_eq!(to, width, "{} ends now", row.id);
            }
        }
    }
    // A quarter of the way through, and half of it long.
    let span = Span { from: Moment(0), to: Moment(40_000) };
    let bar = span.bar(&ran(1, 10_000, 30_000, Outcome::Done), Moment(0), now, 40);
    assert_eq!(bar, Bar { queued: (0, 10), ran: (10, 30) });
    let none = span.bar(&ran(1, 10_000, 10_000, Outcome::Failed), Moment(0), now, 40);
    assert_eq!(none.ran, (10, 11), "it took no time");
    let later = span.bar(&ran(1, 40_000, 40_000, Outcome::Done), Moment(0), now, 40);
    assert_eq!(later.ran, (39, 40), "at the very end of the span");
}

#[test]
fn the_window_follows_the_cursor_to_the_last_bar() {
    let rows: Vec<Row> = (1..=100).map(|id| ran(id, 1_000, 2_000, Outcome::Done)).collect();
    for (columns, rows_of_screen) in SIZES {
        let mut model = shown(snapshot(1, rows.clone()), columns, rows_of_screen);
        let first = frame(&model, columns, rows_of_screen);
        assert!(first.contains(" #1 ") && !first.contains("#100"), "{first}");
        press(&mut model, KeyCode::Char('G'));
        let last = frame(&model, columns, rows_of_screen);
        assert!(last.contains("#100") && !last.contains(" #1 "), "{last}");
    }
}

#[test]
fn labels_of_the_axis_fit_and_stand_where_their_time_is() {
    for seconds in [0, 1, 7, 59, 600, 5_000, 200_000, 50_000_000] {
        let span = Span { from: Moment(1_000), to: Moment(1_000 + seconds * 1000) };
        for width in 0..120 {
            let labels = span.axis(width);
            assert_eq!(labels[0], (0, "0s".to_owned()));
            for pair in labels.windows(2) {
                assert!(pair[0].0 + cells(&pair[0].1) < pair[1].0, "{seconds} {width} {labels:?}");
            }
            assert!(labels.iter().skip(1).all(|(at, label)| at + cells(label) <= width));
        }
    }
    let minute = Span { from: Moment(0), to: Moment(60_000) };
    assert_eq!(
        minute.axis(60),
        [(0, "0s"), (10, "10s"), (20, "20s"), (30, "30s"), (40, "40s"), (50, "50s"), (58, "1m")]
            .map(|(at, label)| (at, label.to_owned()))
    );
}
